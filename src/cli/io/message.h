/* What the command says when something is wrong, and the exit codes that go with it. */
#ifndef GD_CLI_MESSAGE_H
#define GD_CLI_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "griddep.h"

/* Stable: scripts rely on them. */
enum {
    GD_EXIT_OK = 0,
    GD_EXIT_DIFFERS = 1,  /* results differ from what was expected */
    GD_EXIT_FINDINGS = 1, /* a check found something */
    GD_EXIT_USAGE =
        2, /* wrong usage, or input that cannot be read, is not valid or does not compile */
    GD_EXIT_NO_DRIVER = 3, /* no driver, too old a driver, or no device */
    GD_EXIT_REFUSED =
        4, /* the driver refused, an output cannot be written, and any other failure */
    GD_EXIT_UNCHECKED = 65, /* a program ended well without having used the emulated driver */
    GD_EXIT_SANITIZE = 66   /* the emulated driver's checks found something */
};

/* A position in an input file; line 0: only the file is known. */
typedef struct gd_place {
    const char *file;
    uint32_t line, column; /* from 1 */
} gd_place;

/* From here on each error is also written to stdout as a JSON document {"error": {...}}. */
void gd_message_want_json(void);

/* From here on each error's object is appended to the array, which is borrowed, instead: for
 * subcommands that go on after an error and print one document. */
void gd_message_collect(json_t *errors);

/* Ends that; what was collected is written to stdout after all. */
void gd_message_hand_out(json_t *errors);

/* "griddep: text" on stderr. Returns `code`. */
int gd_message_error(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "griddep: file:line:column: text" on stderr. Returns GD_EXIT_USAGE. */
/* A usage error; how the command is called stands on lines of its own. */
int gd_message_usage(const char *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

int gd_message_error_at(gd_place place, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The library's error, with the position that it has. `doing` says what was tried ("loading module
 * 'm'"), or is NULL. Returns the exit code that belongs to the status. */
int gd_message_library(const griddep_error *error, const char *doing);

/* The same with an exit code that the caller knows better. Returns it. */
int gd_message_library_as(int code, const griddep_error *error, const char *doing);

/* The same at a place that the library cannot know, for an error that has none of its own. Returns
 * as gd_message_library does. */
int gd_message_library_at(gd_place place, const griddep_error *error, const char *doing);

/* The same of a fault in a launch of a chain, whose number a JSON document has too. */
int gd_message_fault(gd_place place, uint32_t launch, const griddep_error *error,
                     const char *doing);

/* "griddep: warning: text" on stderr. */
void gd_message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "griddep: note: text" on stderr. */
void gd_message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether the stream is a terminal that takes colour: a terminal, not TERM=dumb, and NO_COLOR unset
 * or empty. */
bool gd_message_takes_color(int descriptor);

#endif

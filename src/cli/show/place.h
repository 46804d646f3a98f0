/* Places in a program: addresses become names of functions. */
#ifndef GD_CLI_PLACE_H
#define GD_CLI_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Symbols of the files that were asked for; to be freed by gd_place_end. All zero is a good one. */
typedef struct gd_place_files {
    struct gd_place_file *list;
    size_t count;
} gd_place_files;

/* A function of a program that was running. */
typedef struct gd_frame {
    bool is_script; /* else it is machine code */
    char *function; /* NULL: the file has no symbol for it */
    char *file;
    uint64_t offset; /* of machine code: bytes behind the function's begin, or the file's */
    int64_t line;    /* of a script */
} gd_frame;

/* The innermost first. */
typedef struct gd_frames {
    gd_frame *list;
    size_t count;
} gd_frames;

void gd_frames_free(gd_frames *frames);

/* The function of a file that an address in it lies in, as the file counts, which is that behind a
 * call. */
gd_frame gd_place_find(gd_place_files *files, const char *path, uint64_t address);
void gd_place_end(gd_place_files *files);

#endif

/* Environment variables. */
#ifndef GD_BASE_ENVIRONMENT_H
#define GD_BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

/* The value; NULL where the variable is not set or empty, and always in a program that runs with
 * more rights than who started it (set-uid, capabilities of its file): there a variable could name
 * a driver to be loaded. */
const char *gd_environment(const char *name);

/* Whether a variable is set, to nothing. */
bool gd_environment_is_empty(const char *name);

/* What a variable of environment.def may be; NULL for another one. */
const char *gd_environment_values(const char *name);

/* False, and a sentence in `text`, where a variable is set that nobody reads and that was meant for
 * one of environment.def: its name is one slip away, or begins with GRIDDEP_EMULATOR_ or
 * GRIDDEP_ATTACH_. */
bool gd_environment_check(char *text, size_t bytes);

/* Words that variables take for no and yes, in any case of letters: off, 0, no, false; on, 1, yes,
 * true. */
bool gd_word_is_off(const char *word);
bool gd_word_is_on(const char *word);

#endif

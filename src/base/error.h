/* Filling a caller's griddep_error. Every function returns the status that it was given, so that a
 * failure reads `return gd_error_set(error, GRIDDEP_ERROR_LIMIT, "grid of %u blocks ...", n);`.
 * error may be NULL in all of them. They are cold: what leads to them the compiler moves out of the
 * way of a launch, of which the driver has left little in the processor's cache. */
#ifndef GD_BASE_ERROR_H
#define GD_BASE_ERROR_H

#include <stdint.h>
#include <string.h>

#include "griddep.h"

/* Checks the caller's error before anything else is done: GRIDDEP_ERROR_STRUCT when its size is
 * wrong. */
enum { GD_LARGEST_STRUCT = 65536 }; /* a size beyond it was never set */

static inline int32_t gd_error_check(const griddep_error *error)
{
    return !error || (error->size >= sizeof *error && error->size <= GD_LARGEST_STRUCT)
               ? GRIDDEP_OK
               : GRIDDEP_ERROR_STRUCT;
}

int32_t gd_error_set(griddep_error *error, int32_t status, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* The same with a position: line and column from 1, 0 for none; file may be NULL. */
int32_t gd_error_set_at(griddep_error *error, int32_t status, const char *file, int32_t line,
                        int32_t column, const char *format, ...)
    __attribute__((cold, format(printf, 6, 7)));

/* One error as another, whose size stays; `from` is one of the library's own. */
void gd_error_copy(griddep_error *error, const griddep_error *from);

/* Names the file of an error that was set; NULL: none. */
void gd_error_set_file(griddep_error *error, const char *file);

/* Appends to the text of an error that was set: a log, a hint, a quoted line. */
void gd_error_append(griddep_error *error, const char *format, ...)
    __attribute__((cold, format(printf, 2, 3)));

/* GRIDDEP_ERROR_MEMORY, in the same words everywhere. */
int32_t gd_error_memory(griddep_error *error) __attribute__((cold));

/* GRIDDEP_ERROR_NOT_FOUND for an index beyond what there is: "kernel k has 1 parameter; there is no
 * parameter 3", of "kernel ", "k", 1, "parameter", "parameters", 3. */
int32_t gd_error_no_number(griddep_error *error, const char *what, const char *name, uint32_t count,
                           const char *one, const char *several, uint32_t index)
    __attribute__((cold));

/* A caller's struct of `size` bytes read into a library struct of `known` bytes, of which the first
 * `minimum` existed in the struct's first version: checks the size and the tail, fills what the
 * caller's version lacks with zeros. `name` is the struct's name for the message. `source` begins
 * with its uint32_t size. */
int32_t gd_struct_read_other(void *target, uint32_t known, uint32_t minimum, const void *source,
                             const char *name, griddep_error *error);

static inline int32_t gd_struct_read(void *target, uint32_t known, uint32_t minimum,
                                     const void *source, const char *name, griddep_error *error)
{
    uint32_t size = 0;

    if (source)
        memcpy(&size, source, sizeof size);
    if (size != known)
        return gd_struct_read_other(target, known, minimum, source, name, error);
    memcpy(target, source, known);
    return GRIDDEP_OK;
}

/* The other way, for info structs: copies the library's struct out, as far as the caller's size
 * goes; keeps the caller's size. */
int32_t gd_struct_write(void *target, const void *source, uint32_t known, uint32_t minimum,
                        const char *name, griddep_error *error);

/* A sentence that tells what a status means. */
const char *gd_error_text(int32_t status);

#endif

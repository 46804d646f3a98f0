/* Whole files in, whole files out. */
#ifndef GD_BASE_FILE_H
#define GD_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"

/* Reads a file whole, with a zero byte behind its end. *data is the caller's to free(). FILE with
 * the path and the system's words. */
int32_t gd_file_read(const char *path, char **data, size_t *bytes, griddep_error *error);

/* Writes a file by way of a temporary neighbour and rename, so that a reader sees the old or the
 * new, never a part. */
int32_t gd_file_write(const char *path, const void *data, size_t bytes, griddep_error *error);

/* The same for a name in an open folder. No fsync: after a crash of the machine the file may be
 * short. */
int32_t gd_file_write_at(int folder, const char *name, const void *data, size_t bytes,
                         griddep_error *error);

/* What the names of temporary neighbours end with: NAME.PROCESS.NUMBER.new */
#define GD_FILE_NEW ".new"

/* FILE: "cannot open PATH: the system's words" for a number of errno.h. */
int32_t gd_file_fail(griddep_error *error, const char *what, const char *path, int number);

/* Path, size and time of the file that a function was loaded from, as one string, to free: another
 * build of the library has another. NULL: no memory. Versions that a library tells itself are the
 * same for many builds. */
char *gd_library_build(const void *function);

/* Whether a path with a slash is that of a pipe, for whose writer the loader would wait. */
bool gd_file_is_pipe(const char *path);

#endif

/* Whole files in, whole files out. */
#ifndef GD_BASE_FILE_H
#define GD_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "griddep.h"

/* Reads a file whole, with a zero byte behind its end. *data is the caller's to free(). FILE with the path and the
 * system's words. */
int32_t gd_file_read(const char *path, char **data, size_t *bytes, griddep_error *error);

/* Writes a file by way of a temporary neighbour and rename, so that a reader sees the old or the new, never a part. */
int32_t gd_file_write(const char *path, const void *data, size_t bytes, griddep_error *error);

/* Makes a directory and its parents, mode 0700 for what is new. */
int32_t gd_file_make_directory(const char *path, griddep_error *error);

#endif

/* Which build of a shared library is loaded. */
#ifndef GD_BASE_LIBRARY_H
#define GD_BASE_LIBRARY_H

#include <stdbool.h>

/* Path, size and time of the file that a function was loaded from, as one string, to free: another
 * build of the library has another. NULL: no memory. Versions that a library tells itself are the
 * same for many builds. */
char *gd_library_build(const void *function);

/* Whether a path with a slash is that of a pipe, for whose writer the loader would wait. */
bool gd_library_is_pipe(const char *path);

#endif

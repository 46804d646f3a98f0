/* Folders and files whose content nobody but this process's user, or root, can have written. What
 * is checked is what was opened, so that nothing can be exchanged between the check and the use. */
#ifndef GD_BASE_TRUST_H
#define GD_BASE_TRUST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"

/* The absolute path behind `path`, without symbolic links where it exists; to free. What of it does
 * not exist yet stays as it is. */
int32_t gd_trust_resolve(const char *path, char **resolved, griddep_error *error);

/* Opens a folder by a path of gd_trust_resolve. It must belong to the effective user, and no other
 * may write to it; each folder above it must belong to that user or to root, and others may write
 * to it only where it is sticky, as /tmp is. A symbolic link on the way is refused. `make`: what is
 * missing is made, mode 0700. NOT_FOUND where something is missing, FILE with what is wrong. */
int32_t gd_trust_open_folder(const char *path, bool make, int *folder, griddep_error *error);

/* Reads a file of an open folder whole: a regular one of the effective user, to which no other may
 * write, of at most `most` bytes, which is seen before anything is read. The file counts as used
 * now. `path` is the folder's, for messages. *data is the caller's to free(). NOT_FOUND where there
 * is none, FILE with what is wrong. */
int32_t gd_trust_read(int folder, const char *path, const char *name, uint64_t most, char **data,
                      size_t *bytes, griddep_error *error);

#endif

/* The files that the command writes: none over an input or another output, and each whole or not at
 * all. */
#ifndef GD_CLI_OUTPUTFILE_H
#define GD_CLI_OUTPUTFILE_H

#include <stddef.h>

/* The file is read: nothing is written over it from here on. */
void gd_outputfile_note_input(const char *path);
void gd_outputfile_note_stdin(void);

/* An output that is asked for by an option; "-" is stdout. Returns 0, or an exit code after a
 * message. */
int gd_outputfile_claim(const char *option, const char *path);

/* Likewise a folder in which files will be written. */
int gd_outputfile_claim_folder(const char *option, const char *path);

/* Before anything that takes long, and once the inputs are known: whether each output can be
 * written, and is neither an input, nor another output, nor the file that stdout or stderr goes to.
 * Returns 0, or an exit code after a message.
 */
int gd_outputfile_check(void);

/* Writes a file so that at each moment it is there whole, either as before or as after, with the
 * mode that it had. Through a symbolic link its target is replaced. What is no regular file (a
 * pipe, a device, and what /dev/fd and /proc name) is written to directly. Returns 0, or an exit
 * code after a message. */
int gd_outputfile_write(const char *path, const void *data, size_t bytes);

/* The same for a file that may be an input: one that is rewritten in place. */
int gd_outputfile_replace(const char *path, const void *data, size_t bytes);

/* Several files: each is written beside its place first; when that went well for all, they are put
 * there in this order. */
int gd_outputfile_stage(const char *path, const void *data, size_t bytes);
int gd_outputfile_commit(void);

#endif

/* Files on the host that are read: whole, or measured. Messages name the path and the system's
 * reason; no output of the command is written over any of them (cli/io/outputfile.h). */
#ifndef GD_CLI_HOSTFILE_H
#define GD_CLI_HOSTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads a regular file of at most `most` bytes whole, with a zero byte behind its end; *data is the
 * caller's to free. Returns 0, or GD_EXIT_USAGE after a message. */
int gd_hostfile_read(const char *path, uint64_t most, char **data, size_t *bytes);

/* The same for input that may come from anywhere: "-" is stdin, and the path may name a pipe
 * too. */
int gd_hostfile_read_input(const char *path, uint64_t most, char **data, size_t *bytes);

/* Reads exactly `bytes` bytes into `target`. */
int gd_hostfile_read_into(const char *path, void *target, size_t bytes);

/* Size of a regular file; NULL, or why there is none: "is a directory", "No such file or
 * directory". Static text. */
const char *gd_hostfile_measure(const char *path, uint64_t *bytes);

/* Whether a path ends so, behind a name: ".cu". */
bool gd_hostfile_has_ending(const char *path, const char *ending);

/* `path` as seen from the folder of `beside`; an absolute path as it is. To free. */
char *gd_hostfile_join(const char *beside, const char *path);

#endif

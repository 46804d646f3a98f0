/* Waiting until files are written anew. */
#ifndef GD_CLI_WATCH_H
#define GD_CLI_WATCH_H

#include <stddef.h>

typedef struct gd_watch gd_watch;

/* Begins to watch files, which need not be there. Their folders are what is watched: an editor may
 * rename a new file over the old one. Returns 0, or an exit code after a message. */
int gd_watch_create(gd_watch **watch, const char *const *paths, size_t count);

/* Waits until one of the files has been written or put in its place, and then until nothing more
 * has happened for a moment. Returns 0, or an exit code after a message. */
int gd_watch_wait(gd_watch *watch);
void gd_watch_destroy(gd_watch *watch);

#endif

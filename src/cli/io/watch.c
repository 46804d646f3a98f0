/* inotify, on the folders of the files. An event names a file of its folder; those of others are
 * skipped. */
#include "cli/io/watch.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"

enum {
    QUIET_MILLISECONDS = 40, /* some editors write a file several times to save it once */
    MOST_PAUSES = 25,        /* others in the folder may never be quiet */
    EVENTS = IN_CLOSE_WRITE | IN_MOVED_TO
};

typedef struct watched_file {
    int folder;       /* descriptor of the watch */
    const char *name; /* in it */
} watched_file;

struct gd_watch {
    int descriptor;
    watched_file *files;
    size_t count;
};

static int watch_folder(gd_watch *watch, const char *path, watched_file *file)
{
    const char *slash = strrchr(path, '/');
    char *folder =
        slash == NULL ? gd_heap_string(".") : gd_heap_format("%.*s", (int)(slash - path + 1), path);
    file->name = slash == NULL ? path : slash + 1;
    file->folder = inotify_add_watch(watch->descriptor, folder, EVENTS);
    int code = file->folder >= 0 ? 0
                                 : gd_message_error(GD_EXIT_USAGE, "%s cannot be watched: %s",
                                                    folder, strerror(errno));
    free(folder);
    return code;
}

int gd_watch_create(gd_watch **watch, const char *const *paths, size_t count)
{
    gd_watch *made = gd_heap_take(1, sizeof(*made));
    int code = 0;
    made->files = gd_heap_take(count, sizeof(*made->files));
    made->count = count;
    made->descriptor = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (made->descriptor < 0)
        code = gd_message_error(GD_EXIT_REFUSED, "files cannot be watched: %s", strerror(errno));
    for (size_t i = 0; i < count && code == 0; i++)
        code = watch_folder(made, paths[i], &made->files[i]);
    if (code == 0)
        *watch = made;
    else
        gd_watch_destroy(made);
    return code;
}

static bool is_ours(const gd_watch *watch, const struct inotify_event *event)
{
    bool ours = (event->mask & IN_Q_OVERFLOW) != 0; /* some were lost: one of ours perhaps */
    for (size_t i = 0; i < watch->count && event->len > 0; i++)
        ours |=
            watch->files[i].folder == event->wd && strcmp(watch->files[i].name, event->name) == 0;
    return ours;
}

/* Takes the events that are there. */
static bool take_events(const gd_watch *watch)
{
    _Alignas(struct inotify_event) char buffer[16384];
    bool ours = false;
    ssize_t bytes;
    while ((bytes = read(watch->descriptor, buffer, sizeof(buffer))) > 0)
        for (ssize_t at = 0; at < bytes;) {
            const struct inotify_event *event = (const struct inotify_event *)(void *)(buffer + at);
            ours |= is_ours(watch, event);
            at += (ssize_t)(sizeof(*event) + event->len);
        }
    return ours;
}

int gd_watch_wait(gd_watch *watch)
{
    struct pollfd poll_for = {.fd = watch->descriptor, .events = POLLIN};
    bool ours = false;
    for (int pauses = 0; pauses < MOST_PAUSES; pauses += ours) {
        int ready = poll(&poll_for, 1, ours ? QUIET_MILLISECONDS : -1);
        if (ready < 0 && errno != EINTR)
            return gd_message_error(GD_EXIT_REFUSED, "files cannot be watched: %s",
                                    strerror(errno));
        if (ready == 0)
            return 0;
        ours |= ready > 0 && take_events(watch);
    }
    return 0;
}

void gd_watch_destroy(gd_watch *watch)
{
    if (watch == NULL)
        return;
    if (watch->descriptor >= 0)
        close(watch->descriptor);
    free(watch->files);
    free(watch);
}

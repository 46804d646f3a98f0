/* Temporary files. The handler reads the list, so signals are blocked while that changes. */
#include "cli/io/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/progress.h"

static const int ending[] = {SIGHUP, SIGINT, SIGPIPE, SIGTERM};

enum { ENDING_COUNT = sizeof(ending) / sizeof(ending[0]) };

static char **paths;
static size_t path_count;
static struct sigaction size_before;

/* As getdents64 of Linux fills it: opendir takes memory, which the handler must not. */
typedef struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[];
} entry;

/* Files in the folder go, folders in it stay. */
static void remove_folder(const char *path)
{
    _Alignas(entry) char entries[4096];
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    long bytes = 0;
    if (folder < 0)
        return;
    while ((bytes = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0) {
        for (long at = 0; at < bytes;) {
            const entry *each = (const entry *)(const void *)(entries + at);
            unlinkat(folder, each->name, 0);
            at += each->bytes;
        }
    }
    close(folder);
    rmdir(path);
}

static void remove_path(const char *path)
{
    if (unlink(path) != 0 && errno != ENOENT)
        remove_folder(path);
}

static void remove_all(void)
{
    for (size_t i = 0; i < path_count; i++)
        remove_path(paths[i]);
}

static void end_command(int signal_number)
{
    gd_progress_wipe();
    remove_all();
    /* SA_RESETHAND has put the default action back: the process ends as if it had never caught the
     * signal. */
    raise(signal_number);
}

static void block(int how)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < ENDING_COUNT; i++)
        sigaddset(&set, ending[i]);
    sigprocmask(how, &set, NULL);
}

static void keep(char *path)
{
    block(SIG_BLOCK);
    paths = gd_heap_grow(paths, path_count, path_count + 1, sizeof(*paths));
    paths[path_count++] = path;
    block(SIG_UNBLOCK);
}

static void drop(char *path, bool removes)
{
    if (path == NULL)
        return;
    block(SIG_BLOCK);
    if (removes)
        remove_path(path);
    for (size_t i = 0; i < path_count; i++)
        if (paths[i] == path)
            paths[i--] = paths[--path_count];
    block(SIG_UNBLOCK);
    free(path);
}

void gd_temporary_begin(void)
{
    struct sigaction action = {.sa_handler = end_command,
                               .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < ENDING_COUNT; i++)
        if (sigaction(ending[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    sigaction(SIGXFSZ, &ignore, &size_before);
    atexit(remove_all);
}

int gd_temporary_make(const char *folder, char **path)
{
    *path = gd_heap_format("%s/.griddep-XXXXXX", folder);
    int descriptor = mkostemp(*path, O_CLOEXEC);
    if (descriptor >= 0) {
        keep(*path);
        return descriptor;
    }
    int reason = errno;
    free(*path);
    *path = NULL;
    errno = reason;
    return -1;
}

char *gd_temporary_make_folder(void)
{
    char *path = gd_heap_format("%s/.griddep-XXXXXX", gd_temporary_place());
    if (mkdtemp(path) != NULL) {
        keep(path);
        return path;
    }
    gd_message_error(GD_EXIT_REFUSED, "no folder can be made in %s: %s", gd_temporary_place(),
                     strerror(errno));
    free(path);
    return NULL;
}

const char *gd_temporary_place(void)
{
    static char *place;
    const char *given = getenv("TMPDIR");
    if (given == NULL || given[0] == '\0')
        return "/tmp";
    /* A program that is run may go to another folder before it uses what is there. */
    if (place == NULL)
        place = realpath(given, NULL);
    return place != NULL ? place : given;
}

void gd_temporary_remove(char *path)
{
    drop(path, true);
}

void gd_temporary_release(char *path)
{
    drop(path, false);
}

void gd_temporary_forget(void)
{
    path_count = 0;
}

void gd_temporary_restore_signals(void)
{
    sigaction(SIGXFSZ, &size_before, NULL);
}

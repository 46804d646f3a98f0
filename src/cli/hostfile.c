/* Files on the host. */
#include "cli/hostfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/heap.h"
#include "cli/message.h"

static int refuse(const char *path, const char *reason)
{
    return gd_message_error_at((gd_place){path, 0, 0}, "%s", reason);
}

static int refuse_size(const char *path, uint64_t most)
{
    return gd_message_error_at((gd_place){path, 0, 0}, "more than the %llu bytes that are read here",
                               (unsigned long long)most);
}

const char *gd_hostfile_measure(const char *path, uint64_t *bytes)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return strerror(errno);
    if (S_ISDIR(status.st_mode))
        return "is a directory";
    if (!S_ISREG(status.st_mode))
        return "is not a regular file";
    *bytes = (uint64_t)status.st_size;
    return NULL;
}

int gd_hostfile_read_into(const char *path, void *target, size_t bytes)
{
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return refuse(path, strerror(errno));
    size_t got = fread(target, 1, bytes, file);
    bool failed = ferror(file) != 0;
    int reason = errno;
    fclose(file);
    if (failed)
        return refuse(path, strerror(reason));
    return got == bytes ? 0 : refuse(path, "the file became shorter while it was read");
}

int gd_hostfile_read(const char *path, uint64_t most, char **data, size_t *bytes)
{
    uint64_t size = 0;
    const char *reason = gd_hostfile_measure(path, &size);
    if (reason != NULL)
        return refuse(path, reason);
    if (size > most)
        return refuse_size(path, most);
    char *text = gd_heap_take(size + 1, 1);
    int code = gd_hostfile_read_into(path, text, size);
    if (code != 0) {
        free(text);
        return code;
    }
    *data = text;
    *bytes = size;
    return 0;
}

/* Reads a stream whose length is not known before. */
static int read_stream(FILE *file, const char *path, uint64_t most, char **data, size_t *bytes)
{
    size_t capacity = 1U << 16, used = 0, got = 0;
    char *text = gd_heap_take(capacity, 1);
    while ((got = fread(text + used, 1, capacity - used - 1, file)) > 0) {
        used += got;
        if (used > most) {
            free(text);
            return refuse_size(path, most);
        }
        if (used + 1 == capacity) {
            text = gd_heap_grow(text, capacity, capacity * 2, 1);
            capacity *= 2;
        }
    }
    if (ferror(file)) {
        free(text);
        return refuse(path, strerror(errno));
    }
    text[used] = '\0';
    *data = text;
    *bytes = used;
    return 0;
}

int gd_hostfile_read_input(const char *path, uint64_t most, char **data, size_t *bytes)
{
    struct stat status;
    if (strcmp(path, "-") == 0)
        return read_stream(stdin, "<stdin>", most, data, bytes);
    if (stat(path, &status) != 0 || !S_ISFIFO(status.st_mode))
        return gd_hostfile_read(path, most, data, bytes);
    FILE *file = fopen(path, "rbe");
    if (file == NULL)
        return refuse(path, strerror(errno));
    int code = read_stream(file, path, most, data, bytes);
    fclose(file);
    return code;
}

int gd_hostfile_write(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wbe");
    if (file == NULL)
        return refuse(path, strerror(errno));
    bool written = fwrite(data, 1, bytes, file) == bytes;
    int reason = errno;
    if (fclose(file) != 0 && written) {
        reason = errno;
        written = false;
    }
    return written ? 0 : refuse(path, strerror(reason));
}

/* Gives the descriptor the mode that the file had, or that a new file would get. */
static bool take_mode(int descriptor, const struct stat *old)
{
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(descriptor, old != NULL ? old->st_mode & 07777 : 0666 & ~mask) == 0;
}

static int write_beside(const char *path, const struct stat *old, const void *data, size_t bytes)
{
    char *beside = gd_heap_format("%s.XXXXXX", path);
    int descriptor = mkstemp(beside);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    bool written = file != NULL && take_mode(descriptor, old) && fwrite(data, 1, bytes, file) == bytes;
    int reason = errno;
    if (file != NULL && fclose(file) != 0 && written) {
        reason = errno;
        written = false;
    }
    if (written && rename(beside, path) != 0) {
        reason = errno;
        written = false;
    }
    if (!written && descriptor >= 0)
        unlink(beside);
    free(beside);
    return written ? 0 : refuse(path, strerror(reason));
}

int gd_hostfile_replace(const char *path, const void *data, size_t bytes)
{
    struct stat status;
    bool exists = stat(path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode))
        return refuse(path, "is a directory");
    if (exists && !S_ISREG(status.st_mode))
        return gd_hostfile_write(path, data, bytes);
    char *target = exists ? realpath(path, NULL) : gd_heap_string(path);
    int code =
        target != NULL ? write_beside(target, exists ? &status : NULL, data, bytes) : refuse(path, strerror(errno));
    free(target);
    return code;
}

bool gd_hostfile_is_same(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

char *gd_hostfile_join(const char *beside, const char *path)
{
    const char *slash = strrchr(beside, '/');
    if (path[0] == '/' || slash == NULL)
        return gd_heap_string(path);
    return gd_heap_format("%.*s/%s", (int)(slash - beside), beside, path);
}

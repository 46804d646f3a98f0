/* Folders and files that only this process's user can have written. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/trust.h"

/* ---- paths ---- */

/* The end of the longest part of `path` that exists: cuts at the last slash until realpath takes
 * what is left. */
static char *resolve_existing(char *path, size_t *kept)
{
    char *found = realpath(path, NULL);

    *kept = strlen(path);
    while (!found && errno == ENOENT && *kept) {
        char *slash = memrchr(path, '/', *kept);
        if (!slash) {
            *kept = 0;
            return realpath(".", NULL);
        }
        *kept = (size_t)(slash - path);
        *slash = 0;
        found = realpath(*path ? path : "/", NULL);
    }
    return found;
}

int32_t gd_trust_resolve(const char *path, char **resolved, griddep_error *error)
{
    gd_text text = {0};
    size_t kept = 0;
    char *copy = strdup(path);

    if (!copy)
        return gd_error_memory(error);
    char *found = resolve_existing(copy, &kept);
    free(copy);
    if (!found)
        return errno == ENOMEM ? gd_error_memory(error) : gd_file_fail(error, "open", path, errno);
    gd_text_string(&text, strcmp(found, "/") != 0 ? found : "");
    if (path[kept] && path[kept] != '/')
        gd_text_string(&text, "/");
    gd_text_string(&text, path + kept);
    if (!text.bytes)
        gd_text_string(&text, "/");
    free(found);
    if (text.failed) {
        gd_text_free(&text);
        return gd_error_memory(error);
    }
    *resolved = text.data;
    return GRIDDEP_OK;
}

/* ---- folders ---- */

/* NULL, or what is wrong with an opened folder: the one asked for, or one above it. */
static const char *blame(const struct stat *status, bool last)
{
    const bool writable = status->st_mode & (S_IWGRP | S_IWOTH);

    if (status->st_uid != geteuid() && (last || status->st_uid != 0))
        return "belongs to another user";
    if (writable && (last || !(status->st_mode & S_ISVTX)))
        return "can be written by other users";
    return NULL;
}

/* `step` inside `parent`, which is closed. Those above the last are opened for nothing but going
 * on. */
static int32_t descend(int parent, const char *path, const char *step, bool last, bool make,
                       int *folder, griddep_error *error)
{
    const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | (last ? O_RDONLY : O_PATH);
    struct stat status = {0};
    const char *wrong = NULL;
    int number = 0;
    int opened = openat(parent, step, flags);

    if (opened < 0 && errno == ENOENT && make && (!mkdirat(parent, step, 0700) || errno == EEXIST))
        opened = openat(parent, step, flags);
    if (opened < 0 || fstat(opened, &status))
        number = errno;
    close(parent);
    if (!number && !(wrong = blame(&status, last))) {
        *folder = opened;
        return GRIDDEP_OK;
    }
    if (opened >= 0)
        close(opened);
    if (wrong)
        return gd_error_set_at(error, GRIDDEP_ERROR_FILE, path, 0, 0,
                               "%s is not trusted: \"%s\" %s", path, step, wrong);
    gd_file_fail(error, "open", path, number);
    if (error && number == ENOENT && !make)
        error->status = GRIDDEP_ERROR_NOT_FOUND;
    return number == ENOENT && !make ? GRIDDEP_ERROR_NOT_FOUND : GRIDDEP_ERROR_FILE;
}

int32_t gd_trust_open_folder(const char *path, bool make, int *folder, griddep_error *error)
{
    char *copy = strdup(path), *rest = copy, *step, *next;
    int32_t status = GRIDDEP_OK;

    if (!copy)
        return gd_error_memory(error);
    int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (at < 0)
        status = gd_file_fail(error, "open", "/", errno);
    step = strtok_r(copy, "/", &rest);
    if (!status && !step)
        status = descend(at, path, ".", true, make, &at, error);
    for (; step && !status; step = next) {
        next = strtok_r(NULL, "/", &rest);
        status = descend(at, path, step, !next, make, &at, error);
    }
    free(copy);
    if (!status)
        *folder = at;
    return status;
}

/* ---- files ---- */

/* Fills data[bytes]; fewer where the file became shorter. */
static int32_t read_exactly(int file, const char *name, char *data, size_t *bytes,
                            griddep_error *error)
{
    size_t done = 0;

    while (done < *bytes) {
        ssize_t got = read(file, data + done, *bytes - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return gd_file_fail(error, "read", name, errno);
        if (got == 0)
            break;
        done += (size_t)got;
    }
    data[done] = 0;
    *bytes = done;
    return GRIDDEP_OK;
}

static int32_t read_trusted(int file, const char *name, uint64_t most, char **data, size_t *bytes,
                            griddep_error *error)
{
    struct stat status;
    const char *wrong = NULL;

    if (fstat(file, &status))
        return gd_file_fail(error, "read", name, errno);
    if (!S_ISREG(status.st_mode))
        wrong = "it is no regular file";
    else if (status.st_uid != geteuid())
        wrong = "it belongs to another user";
    else if (status.st_mode & (S_IWGRP | S_IWOTH))
        wrong = "it can be written by other users";
    if (wrong)
        return gd_error_set_at(error, GRIDDEP_ERROR_FILE, name, 0, 0, "%s is not trusted: %s", name,
                               wrong);
    if ((uint64_t)status.st_size > most)
        return gd_error_set_at(error, GRIDDEP_ERROR_FILE, name, 0, 0,
                               "%s has %jd bytes; at most %" PRIu64 " are read", name,
                               (intmax_t)status.st_size, most);
    size_t size = (size_t)status.st_size;
    char *taken = malloc(size + 1);
    if (!taken)
        return gd_error_memory(error);
    int32_t result = read_exactly(file, name, taken, &size, error);
    if (result) {
        free(taken);
        return result;
    }
    futimens(file, NULL); /* when that fails the file only looks older */
    *data = taken;
    *bytes = size;
    return GRIDDEP_OK;
}

int32_t gd_trust_read(int folder, const char *path, const char *name, uint64_t most, char **data,
                      size_t *bytes, griddep_error *error)
{
    gd_text whole = {0};
    int32_t status;

    gd_text_format(&whole, "%s/%s", path, name);
    if (whole.failed) {
        gd_text_free(&whole);
        return gd_error_memory(error);
    }
    int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0) {
        status = read_trusted(file, whole.data, most, data, bytes, error);
        close(file);
    } else if (errno == ENOENT) {
        status = gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "there is no %s", whole.data);
    } else {
        status = gd_file_fail(error, "open", whole.data, errno);
    }
    gd_text_free(&whole);
    return status;
}

/* Whole files in, whole files out. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

int32_t gd_file_fail(griddep_error *error, const char *what, const char *path, int number)
{
    char words[128];

#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    return gd_error_set_at(error, GRIDDEP_ERROR_FILE, path, 0, 0, "cannot %s %s: %s", what, path,
                           strerror_r(number, words, sizeof words));
#else
    if (strerror_r(number, words, sizeof words))
        snprintf(words, sizeof words, "error %d", number);
    return gd_error_set_at(error, GRIDDEP_ERROR_FILE, path, 0, 0, "cannot %s %s: %s", what, path,
                           words);
#endif
}

/* Reads until the end of the file, whatever its size says: files of /proc say 0. */
static int32_t read_all(int file, const char *path, char **data, size_t *bytes,
                        griddep_error *error)
{
    struct stat status;
    gd_text text = {0};
    char part[65536];

    if (fstat(file, &status))
        return gd_file_fail(error, "read", path, errno);
    if (S_ISDIR(status.st_mode))
        return gd_file_fail(error, "read", path, EISDIR);
    if (!S_ISREG(
            status.st_mode)) /* a pipe could make the caller wait for ever, a device never end */
        return gd_error_set_at(error, GRIDDEP_ERROR_FILE, path, 0, 0,
                               "cannot read %s: it is no regular file", path);
    for (;;) {
        ssize_t got = read(file, part, sizeof part);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            int number = errno;
            gd_text_free(&text);
            return gd_file_fail(error, "read", path, number);
        }
        gd_text_append(&text, part, (size_t)got);
        if (text.failed) {
            gd_text_free(&text);
            return gd_error_memory(error);
        }
        if (got == 0)
            break;
    }
    *data = text.data;
    *bytes = text.bytes;
    return GRIDDEP_OK;
}

int32_t gd_file_read(const char *path, char **data, size_t *bytes, griddep_error *error)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (file < 0)
        return gd_file_fail(error, "open", path, errno);
    int32_t status = read_all(file, path, data, bytes, error);
    close(file);
    return status;
}

static int write_all(int file, const char *data, size_t bytes)
{
    while (bytes) {
        ssize_t done = write(file, data, bytes);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return errno;
        data += done;
        bytes -= (size_t)done;
    }
    return 0;
}

/* A new file beside `name`, under a name that nobody else uses: two threads of a process must not
 * share one, nor must a process meet what another of its number left behind. */
static int create_neighbour(int folder, const char *name, gd_text *made)
{
    static atomic_uint serial;
    enum { ATTEMPTS = 100 };
    int file = -1;

    for (int i = 0; i < ATTEMPTS && file < 0; i++) {
        made->bytes = 0;
        gd_text_format(made, "%s.%ld.%u" GD_FILE_NEW, name, (long)getpid(),
                       atomic_fetch_add(&serial, 1u));
        if (made->failed)
            return -1;
        file = openat(folder, made->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (file < 0 && errno != EEXIST)
            return -1;
    }
    return file;
}

int32_t gd_file_write_at(int folder, const char *name, const void *data, size_t bytes,
                         griddep_error *error)
{
    gd_text made = {0};
    int32_t status = GRIDDEP_OK;
    int file = create_neighbour(folder, name, &made);

    if (made.failed) {
        status = gd_error_memory(error);
    } else if (file < 0) {
        status = gd_file_fail(error, "create", made.data, errno);
    } else {
        int number = write_all(file, data, bytes);
        if (close(file) && !number)
            number = errno;
        if (!number && renameat(folder, made.data, folder, name))
            number = errno;
        if (number) {
            unlinkat(folder, made.data, 0);
            status = gd_file_fail(error, "write", name, number);
        }
    }
    gd_text_free(&made);
    return status;
}

int32_t gd_file_write(const char *path, const void *data, size_t bytes, griddep_error *error)
{
    return gd_file_write_at(AT_FDCWD, path, data, bytes, error);
}

char *gd_library_build(const void *function)
{
    gd_text text = {0};
    struct stat status;
    Dl_info library;

    if (dladdr(function, &library) && library.dli_fname) {
        char *path = realpath(library.dli_fname, NULL);
        gd_text_string(&text, path ? path : library.dli_fname);
        if (path && !stat(path, &status))
            gd_text_format(&text, " %jd %jd.%09ld", (intmax_t)status.st_size,
                           (intmax_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
        free(path);
    }
    gd_text_append(&text, "", 0);
    if (text.failed)
        gd_text_free(&text);
    return text.data;
}

bool gd_file_is_pipe(const char *path)
{
    struct stat status;

    return strchr(path, '/') && !stat(path, &status) && S_ISFIFO(status.st_mode);
}

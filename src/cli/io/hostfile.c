/* Files on the host. */
#include "cli/io/hostfile.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/outputfile.h"

static int report_file_error(const char *path, const char *reason)
{
    return gd_message_error_at((gd_place){path, 0, 0}, "%s", reason);
}

static int report_too_large(const char *path, uint64_t most)
{
    return gd_message_error_at((gd_place){path, 0, 0},
                               "more than the %llu bytes that are read here",
                               (unsigned long long)most);
}

const char *gd_hostfile_measure(const char *path, uint64_t *bytes)
{
    struct stat status;
    if (path[0] == '\0')
        return "the path of a file is empty: give the file's name";
    if (stat(path, &status) != 0)
        return strerror(errno);
    if (S_ISDIR(status.st_mode))
        return "is a directory";
    if (!S_ISREG(status.st_mode))
        return "is not a regular file";
    gd_outputfile_note_input(path);
    *bytes = (uint64_t)status.st_size;
    return NULL;
}

/* A pipe into which nobody has written, and that nobody has open for writing: a writer is given a
 * moment to start. *first: the byte that asking took out of it, or -1. */
static bool has_no_writer(int descriptor, int *first)
{
    enum { MOMENT_MS = 2000 };
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
    unsigned char byte = 0;
    ssize_t got = -1;
    if (poll(&wanted, 1, MOMENT_MS) == 0)
        got = read(descriptor, &byte, 1);
    *first = got > 0 ? byte : -1;
    return got == 0;
}

/* As fopen does, which waits for a pipe's writer for ever. NULL after a message. */
static FILE *open_to_read(const char *path)
{
    struct stat status;
    int first = -1, descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const char *reason = NULL;
    FILE *file = NULL;
    if (descriptor < 0)
        reason = strerror(errno);
    else if (fstat(descriptor, &status) == 0 && S_ISFIFO(status.st_mode) &&
             has_no_writer(descriptor, &first))
        reason = "this is a pipe into which no program writes";
    else if (fcntl(descriptor, F_SETFL, 0) != 0 || (file = fdopen(descriptor, "rb")) == NULL)
        reason = strerror(errno);
    if (file != NULL && first >= 0)
        ungetc(first, file);
    if (file != NULL)
        return file;
    if (descriptor >= 0)
        close(descriptor);
    report_file_error(path, reason);
    return NULL;
}

int gd_hostfile_read_into(const char *path, void *target, size_t bytes)
{
    FILE *file = open_to_read(path);
    if (file == NULL)
        return GD_EXIT_USAGE;
    gd_outputfile_note_input(path);
    size_t got = fread(target, 1, bytes, file);
    bool failed = ferror(file) != 0;
    int reason = errno;
    fclose(file);
    if (failed)
        return report_file_error(path, strerror(reason));
    return got == bytes ? 0 : report_file_error(path, "the file became shorter while it was read");
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
            return report_too_large(path, most);
        }
        if (used + 1 == capacity) {
            text = gd_heap_grow(text, capacity, capacity * 2, 1);
            capacity *= 2;
        }
    }
    if (ferror(file)) {
        free(text);
        return report_file_error(path, strerror(errno));
    }
    text[used] = '\0';
    *data = text;
    *bytes = used;
    return 0;
}

static int read_path(const char *path, uint64_t most, char **data, size_t *bytes)
{
    FILE *file = open_to_read(path);
    if (file == NULL)
        return GD_EXIT_USAGE;
    int code = read_stream(file, path, most, data, bytes);
    fclose(file);
    return code;
}

/* To its end, not to the size that it has before: files of /proc have none. */
int gd_hostfile_read(const char *path, uint64_t most, char **data, size_t *bytes)
{
    uint64_t size = 0;
    const char *reason = gd_hostfile_measure(path, &size);
    if (reason != NULL)
        return report_file_error(path, reason);
    return size > most ? report_too_large(path, most) : read_path(path, most, data, bytes);
}

int gd_hostfile_read_input(const char *path, uint64_t most, char **data, size_t *bytes)
{
    struct stat status;
    if (strcmp(path, "-") == 0) {
        gd_outputfile_note_stdin();
        return read_stream(stdin, "<stdin>", most, data, bytes);
    }
    if (stat(path, &status) != 0 || !S_ISFIFO(status.st_mode))
        return gd_hostfile_read(path, most, data, bytes);
    return read_path(path, most, data, bytes);
}

bool gd_hostfile_has_ending(const char *path, const char *ending)
{
    size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

char *gd_hostfile_join(const char *beside, const char *path)
{
    const char *slash = strrchr(beside, '/');
    if (path[0] == '/' || slash == NULL)
        return gd_heap_string(path);
    return gd_heap_format("%.*s/%s", (int)(slash - beside), beside, path);
}

/* Files on the host. */
#include "cli/hostfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/heap.h"
#include "cli/message.h"

static int refuse(const char *path, const char *reason)
{
    return gd_message_error_at((gd_place){path, 0, 0}, "%s", reason);
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
        return gd_message_error_at((gd_place){path, 0, 0}, "%llu bytes, more than the %llu that are read here",
                                   (unsigned long long)size, (unsigned long long)most);
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

char *gd_hostfile_join(const char *beside, const char *path)
{
    const char *slash = strrchr(beside, '/');
    if (path[0] == '/' || slash == NULL)
        return gd_heap_string(path);
    return gd_heap_format("%.*s/%s", (int)(slash - beside), beside, path);
}

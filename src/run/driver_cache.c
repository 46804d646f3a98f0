/* Where the driver keeps the code that it compiles. The driver itself does not tell: these are its
 * documented variables (CUDA programming guide, environment variables), and whether it can write
 * there. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/error.h"
#include "base/text.h"
#include "run/driver_cache.h"

static const uint64_t default_bytes = (uint64_t)1 << 30, most_bytes = (uint64_t)4 << 30;

/* Whether files can be made in a folder, or in the nearest one above it where it does not exist
 * yet. Changes `path`. */
static bool can_write(char *path)
{
    struct stat status;
    char *slash;

    while (stat(path, &status)) {
        slash = strrchr(path, '/');
        if (errno != ENOENT || !slash || slash == path)
            return errno == ENOENT && slash == path &&
                   !faccessat(AT_FDCWD, "/", W_OK | X_OK, AT_EACCESS);
        *slash = 0;
    }
    return S_ISDIR(status.st_mode) && !faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS);
}

/* CUDA_CACHE_MAXSIZE, which is bytes. The driver reads what is no number as 0 (measured, driver
 * 580). */
static uint64_t read_most(void)
{
    const char *value = gd_environment("CUDA_CACHE_MAXSIZE");
    char *end;

    if (!value)
        return default_bytes;
    errno = 0;
    unsigned long long most = strtoull(value, &end, 10);
    if (*value < '0' || *value > '9' || *end)
        return 0;
    return errno || most > most_bytes ? most_bytes : most;
}

static void find(const griddep_runtime_info *info, uint64_t *most, gd_text *directory,
                 gd_text *reason)
{
    const char *disabled = gd_environment("CUDA_CACHE_DISABLE");
    const char *path = gd_environment("CUDA_CACHE_PATH"), *home = gd_environment("HOME");
    gd_text tried = {0};

    *most = read_most();
    if (info->emulated)
        gd_text_string(reason, "the emulated driver keeps no code");
    else if (disabled && strtol(disabled, NULL, 10))
        gd_text_format(reason, "CUDA_CACHE_DISABLE is %s", disabled);
    else if (!*most)
        gd_text_format(reason, "CUDA_CACHE_MAXSIZE is %s", gd_environment("CUDA_CACHE_MAXSIZE"));
    else if (gd_environment_is_empty("CUDA_CACHE_PATH"))
        gd_text_string(reason, "CUDA_CACHE_PATH is empty");
    else if (path)
        gd_text_string(directory, path);
    else if (home)
        gd_text_format(directory, "%s/.nv/ComputeCache", home);
    else
        gd_text_string(reason, "neither CUDA_CACHE_PATH nor HOME is set");
    if (!directory->bytes || directory->failed)
        return;
    gd_text_string(&tried, directory->data);
    if (!tried.failed && !can_write(tried.data))
        gd_text_format(reason, "%s cannot be written%s", directory->data,
                       path ? "" : "; CUDA_CACHE_PATH can name another folder");
    directory->failed |= tried.failed;
    gd_text_free(&tried);
}

int32_t gd_driver_cache_find(gd_driver_cache *cache, griddep_runtime_info *info,
                             griddep_error *error)
{
    gd_text directory = {0}, reason = {0};
    uint64_t most;

    find(info, &most, &directory, &reason);
    if (directory.failed || reason.failed) {
        gd_text_free(&directory);
        gd_text_free(&reason);
        return gd_error_memory(error);
    }
    *cache = (gd_driver_cache){directory.data, reason.data};
    info->driver_cache = cache->reason ? "" : cache->directory;
    info->driver_cache_reason = cache->reason ? cache->reason : "";
    info->driver_cache_bytes = cache->reason ? 0 : most;
    return GRIDDEP_OK;
}

void gd_driver_cache_free(gd_driver_cache *cache)
{
    free(cache->directory);
    free(cache->reason);
}

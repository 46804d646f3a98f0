/* The code cache on disk. File format: struct header below, in the machine's byte order, then the content. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/word.h"
#include "base/text.h"
#include "run/cache.h"

#define ENTRY_SUFFIX ".gdcode"

enum { FORMAT = 1, NAME_LENGTH = 64 + sizeof ENTRY_SUFFIX - 1, STALE_SECONDS = 3600 };

static const uint64_t default_bytes = 256u * 1024 * 1024;

struct gd_cache {
    char *directory;
    uint64_t limit;
    const gd_log *log;
};

typedef struct entry_header {
    char magic[8]; /* "griddep" and a zero */
    uint32_t format;
    uint32_t reserved;
    uint64_t bytes;
    uint8_t key[32];
    uint8_t content[32]; /* digest of the content */
} entry_header;

typedef struct entry_file {
    char name[NAME_LENGTH + 1];
    uint64_t bytes;
    struct timespec used;
} entry_file;

/* ---- where ---- */

/* Services have a home that is not there, and must not get one. */
static bool is_directory(const char *path)
{
    struct stat status;

    return *path == '/' && !stat(path, &status) && S_ISDIR(status.st_mode);
}

/* The directory to use as a new string; NULL text with GRIDDEP_OK: no cache. */
static int32_t choose_directory(const char *given, char **directory, griddep_error *error)
{
    const char *variable = gd_environment("GRIDDEP_CACHE");
    const char *base = gd_environment("XDG_CACHE_HOME"), *home = gd_environment("HOME");
    gd_text text = {0};

    *directory = NULL;
    if (!given && variable)
        given = gd_word_is_off(variable) ? "" : variable;
    if (given && !*given)
        return GRIDDEP_OK;
    if (given)
        gd_text_string(&text, given);
    else if (base && *base == '/')
        gd_text_format(&text, "%s/griddep", base);
    else if (home && is_directory(home))
        gd_text_format(&text, "%s/.cache/griddep", home);
    else
        return GRIDDEP_OK;
    if (text.failed) {
        gd_text_free(&text);
        return gd_error_memory(error);
    }
    *directory = text.data;
    return GRIDDEP_OK;
}

static bool usable(const char *directory, const gd_log *log)
{
    griddep_error error;

    griddep_error_init(&error);
    if (gd_file_make_directory(directory, &error)) {
        gd_log_write(log, GRIDDEP_LOG_WARNING, "no code cache: %s", error.text);
        return false;
    }
    if (access(directory, R_OK | W_OK | X_OK)) {
        gd_log_write(log, GRIDDEP_LOG_WARNING, "no code cache: %s cannot be written", directory);
        return false;
    }
    return true;
}

static char *entry_path(const gd_cache *cache, const gd_cache_key *key)
{
    gd_text text = {0};
    char hex[65];

    gd_digest_hex(key->digest, hex);
    gd_text_format(&text, "%s/%s" ENTRY_SUFFIX, cache->directory, hex);
    if (text.failed)
        gd_text_free(&text);
    return text.data;
}

/* ---- one entry ---- */

static void digest_of(const void *data, size_t bytes, uint8_t result[32])
{
    gd_digest digest;

    gd_digest_begin(&digest);
    gd_digest_add(&digest, data, bytes);
    gd_digest_end(&digest, result);
}

static bool whole(const char *data, size_t bytes, const gd_cache_key *key)
{
    entry_header header;
    uint8_t content[32];

    if (bytes < sizeof header)
        return false;
    memcpy(&header, data, sizeof header);
    if (memcmp(header.magic, "griddep", 8) || header.format != FORMAT || header.bytes != bytes - sizeof header ||
        memcmp(header.key, key->digest, sizeof header.key))
        return false;
    digest_of(data + sizeof header, bytes - sizeof header, content);
    return !memcmp(header.content, content, sizeof content);
}

bool gd_cache_load(gd_cache *cache, const gd_cache_key *key, char **data, size_t *bytes)
{
    char *path = entry_path(cache, key), *file = NULL;
    size_t file_bytes = 0;
    bool found = false;

    if (path && !gd_file_read(path, &file, &file_bytes, NULL)) {
        found = whole(file, file_bytes, key);
        if (found) {
            *bytes = file_bytes - sizeof(entry_header);
            memmove(file, file + sizeof(entry_header), *bytes);
            *data = file;
            utimensat(AT_FDCWD, path, NULL, 0); /* used now; when that fails the entry only looks older */
        } else {
            gd_log_write(cache->log, GRIDDEP_LOG_WARNING, "damaged code cache entry removed: %s", path);
            unlink(path);
            free(file);
        }
    }
    free(path);
    return found;
}

/* ---- the limit ---- */

static int by_age(const void *a, const void *b)
{
    const struct timespec *x = &((const entry_file *)a)->used, *y = &((const entry_file *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static bool has_entry_suffix(const char *name)
{
    return strlen(name) == NAME_LENGTH && !strcmp(name + 64, ENTRY_SUFFIX);
}

/* A temporary file of a writer that died: our suffix inside the name, ".new" at its end, and old. */
static bool is_stale(const char *name, const struct stat *status)
{
    size_t length = strlen(name);

    return length > NAME_LENGTH && !strncmp(name + 64, ENTRY_SUFFIX ".", sizeof ENTRY_SUFFIX) &&
           !strcmp(name + length - 4, ".new") && time(NULL) - status->st_mtime > STALE_SECONDS;
}

/* Lists the entries of the directory; gives their number, and in *total their bytes. */
static size_t list_entries(DIR *directory, entry_file **files, uint64_t *total)
{
    size_t count = 0, capacity = 0;

    *total = 0;
    for (struct dirent *item; (item = readdir(directory));) {
        struct stat status;
        if (fstatat(dirfd(directory), item->d_name, &status, AT_SYMLINK_NOFOLLOW) || !S_ISREG(status.st_mode))
            continue;
        if (is_stale(item->d_name, &status))
            unlinkat(dirfd(directory), item->d_name, 0);
        if (!has_entry_suffix(item->d_name))
            continue;
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            entry_file *more = realloc(*files, capacity * sizeof *more);
            if (!more)
                break;
            *files = more;
        }
        entry_file *file = &(*files)[count++];
        memcpy(file->name, item->d_name, sizeof file->name);
        file->bytes = (uint64_t)status.st_size;
        file->used = status.st_mtim;
        *total += file->bytes;
    }
    return count;
}

static void keep_limit(gd_cache *cache)
{
    DIR *directory = opendir(cache->directory);
    entry_file *files = NULL;
    uint64_t total;

    if (!directory)
        return;
    size_t count = list_entries(directory, &files, &total);
    if (total > cache->limit)
        qsort(files, count, sizeof *files, by_age);
    for (size_t i = 0; i < count && total > cache->limit; i++) {
        unlinkat(dirfd(directory), files[i].name, 0);
        total -= files[i].bytes;
    }
    free(files);
    closedir(directory);
}

void gd_cache_store(gd_cache *cache, const gd_cache_key *key, const void *data, size_t bytes)
{
    entry_header header = {.magic = "griddep", .format = FORMAT, .bytes = bytes};
    griddep_error error;
    gd_text file = {0};
    char *path = entry_path(cache, key);

    if (bytes > cache->limit || sizeof header > cache->limit - bytes) {
        gd_log_write(cache->log, GRIDDEP_LOG_DEBUG, "code of %zu bytes is larger than the code cache and is not kept",
                     bytes);
        free(path);
        return;
    }
    griddep_error_init(&error);
    memcpy(header.key, key->digest, sizeof header.key);
    digest_of(data, bytes, header.content);
    gd_text_append(&file, (const char *)&header, sizeof header);
    gd_text_append(&file, data, bytes);
    if (!path || file.failed)
        gd_error_memory(&error);
    else if (!gd_file_write(path, file.data, file.bytes, &error))
        keep_limit(cache);
    if (error.status)
        gd_log_write(cache->log, GRIDDEP_LOG_WARNING, "code cache: %s", error.text);
    gd_text_free(&file);
    free(path);
}

/* ---- open and close ---- */

int32_t gd_cache_open(const char *given, uint64_t bytes, const gd_log *log, gd_cache **cache, griddep_error *error)
{
    char *directory;
    int32_t status = choose_directory(given, &directory, error);

    *cache = NULL;
    if (status || !directory)
        return status;
    if (!usable(directory, log)) {
        free(directory);
        return GRIDDEP_OK;
    }
    gd_cache *opened = malloc(sizeof *opened);
    if (!opened) {
        free(directory);
        return gd_error_memory(error);
    }
    *opened = (gd_cache){directory, bytes ? bytes : default_bytes, log};
    *cache = opened;
    return GRIDDEP_OK;
}

void gd_cache_close(gd_cache *cache)
{
    if (cache)
        free(cache->directory);
    free(cache);
}

const char *gd_cache_directory(const gd_cache *cache)
{
    return cache->directory;
}

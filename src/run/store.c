/* The store on disk. File format: struct header below, in the machine's byte order, then the
 * content. */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/trust.h"
#include "run/store.h"

#define ENTRY_SUFFIX ".gdstore"

enum { FORMAT = 1, NAME_LENGTH = 64 + sizeof ENTRY_SUFFIX - 1, STALE_SECONDS = 600 };

struct gd_store {
    char *directory; /* absolute, without symbolic links */
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

/* The folder to use as a new string; NULL text with GRIDDEP_OK: no store. */
static int32_t choose_directory(const char *given, char **directory, griddep_error *error)
{
    const char *variable = gd_environment("GRIDDEP_STORE");
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

static void entry_name(const gd_store_key *key, char name[NAME_LENGTH + 1])
{
    char hex[65];

    gd_digest_hex(key->digest, hex);
    memcpy(name, hex, 64);
    memcpy(name + 64, ENTRY_SUFFIX, sizeof ENTRY_SUFFIX);
}

/* ---- one entry ---- */

static void digest_of(const void *data, size_t bytes, uint8_t result[32])
{
    gd_digest digest;

    gd_digest_begin(&digest);
    gd_digest_add(&digest, data, bytes);
    gd_digest_end(&digest, result);
}

static bool whole(const char *data, size_t bytes, const gd_store_key *key)
{
    entry_header header;
    uint8_t content[32];

    if (bytes < sizeof header)
        return false;
    memcpy(&header, data, sizeof header);
    if (memcmp(header.magic, "griddep", 8) || header.format != FORMAT ||
        header.bytes != bytes - sizeof header || memcmp(header.key, key->digest, sizeof header.key))
        return false;
    digest_of(data + sizeof header, bytes - sizeof header, content);
    return !memcmp(header.content, content, sizeof content);
}

static void warn(const gd_store *store, const griddep_error *error)
{
    gd_log_write(store->log, GRIDDEP_LOG_WARNING, "the store is not used: %s", error->text);
}

bool gd_store_load(gd_store *store, const gd_store_key *key, char **data, size_t *bytes)
{
    char name[NAME_LENGTH + 1], *read = NULL;
    size_t read_bytes = 0;
    griddep_error error;
    int folder = -1;

    griddep_error_init(&error);
    if (!store)
        return false;
    entry_name(key, name);
    int32_t status = gd_trust_open_folder(store->directory, false, &folder, &error);
    if (!status)
        status =
            gd_trust_read(folder, store->directory, name,
                          sizeof(entry_header) + GD_STORE_MOST_ENTRY, &read, &read_bytes, &error);
    bool found = !status && whole(read, read_bytes, key);
    if (found) {
        *bytes = read_bytes - sizeof(entry_header);
        memmove(read, read + sizeof(entry_header), *bytes + 1);
        *data = read;
    } else if (!status) {
        gd_log_write(store->log, GRIDDEP_LOG_WARNING, "damaged entry of the store removed: %s/%s",
                     store->directory, name);
        unlinkat(folder, name, 0);
        free(read);
    } else if (status != GRIDDEP_ERROR_NOT_FOUND) {
        warn(store, &error);
    }
    if (folder >= 0)
        close(folder);
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

/* A temporary file of a writer that died: our suffix inside the name, GD_FILE_NEW at its end, and
 * old. */
static bool is_stale(const char *name, const struct stat *status)
{
    size_t length = strlen(name);

    return length > NAME_LENGTH && !strncmp(name + 64, ENTRY_SUFFIX ".", sizeof ENTRY_SUFFIX) &&
           !strcmp(name + length - (sizeof GD_FILE_NEW - 1), GD_FILE_NEW) &&
           time(NULL) - status->st_mtime > STALE_SECONDS;
}

/* Lists the entries of the folder, and removes what dead writers left; gives their number, and in
 *total their bytes.
 */
static size_t list_entries(DIR *folder, entry_file **files, uint64_t *total)
{
    size_t count = 0, capacity = 0;

    *total = 0;
    for (struct dirent *item; (item = readdir(folder));) {
        struct stat status;
        if (fstatat(dirfd(folder), item->d_name, &status, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(status.st_mode))
            continue;
        if (is_stale(item->d_name, &status))
            unlinkat(dirfd(folder), item->d_name, 0);
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

/* Takes the folder's descriptor. */
static void keep_limit(int folder)
{
    DIR *opened = fdopendir(folder);
    entry_file *files = NULL;
    uint64_t total;

    if (!opened) {
        close(folder);
        return;
    }
    size_t count = list_entries(opened, &files, &total);
    if (total > GD_STORE_MOST)
        qsort(files, count, sizeof *files, by_age);
    for (size_t i = 0; i < count && total > GD_STORE_MOST; i++) {
        unlinkat(folder, files[i].name, 0);
        total -= files[i].bytes;
    }
    free(files);
    closedir(opened);
}

bool gd_store_save(gd_store *store, const gd_store_key *key, const void *data, size_t bytes)
{
    entry_header header = {.magic = "griddep", .format = FORMAT, .bytes = bytes};
    char name[NAME_LENGTH + 1];
    griddep_error error;
    gd_text file = {0};
    int folder = -1;

    if (!store)
        return false;
    if (bytes > GD_STORE_MOST_ENTRY) {
        gd_log_write(store->log, GRIDDEP_LOG_DEBUG,
                     "%zu bytes are too many for the store, which takes %d", bytes,
                     GD_STORE_MOST_ENTRY);
        return false;
    }
    griddep_error_init(&error);
    entry_name(key, name);
    memcpy(header.key, key->digest, sizeof header.key);
    digest_of(data, bytes, header.content);
    gd_text_append(&file, (const char *)&header, sizeof header);
    gd_text_append(&file, data, bytes);
    int32_t status = file.failed ? gd_error_memory(&error) : GRIDDEP_OK;
    if (!status)
        status = gd_trust_open_folder(store->directory, true, &folder, &error);
    if (!status)
        status = gd_file_write_at(folder, name, file.data, file.bytes, &error);
    gd_text_free(&file);
    if (!status)
        keep_limit(folder);
    else if (folder >= 0)
        close(folder);
    if (status)
        warn(store, &error);
    return !status;
}

/* ---- open and close ---- */

int32_t gd_store_open(const char *given, const gd_log *log, gd_store **store, griddep_error *error)
{
    gd_store opened = {NULL, log};
    griddep_error wrong;
    char *directory;
    int folder;
    int32_t status = choose_directory(given, &directory, error);

    *store = NULL;
    if (status || !directory)
        return status;
    griddep_error_init(&wrong);
    status = gd_trust_resolve(directory, &opened.directory, &wrong);
    free(directory);
    if (!status)
        status = gd_trust_open_folder(opened.directory, false, &folder, &wrong);
    if (!status)
        close(folder);
    if (status == GRIDDEP_OK || status == GRIDDEP_ERROR_NOT_FOUND) {
        *store = malloc(sizeof **store);
        if (*store) {
            **store = opened;
            return GRIDDEP_OK;
        }
        status = GRIDDEP_ERROR_MEMORY;
    } else if (status != GRIDDEP_ERROR_MEMORY) {
        warn(&opened, &wrong);
        status = GRIDDEP_OK;
    }
    free(opened.directory);
    return status ? gd_error_memory(error) : GRIDDEP_OK;
}

void gd_store_close(gd_store *store)
{
    if (store)
        free(store->directory);
    free(store);
}

const char *gd_store_directory(const gd_store *store)
{
    return store->directory;
}

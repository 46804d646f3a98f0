/* Messages, memory, files and members of JSON objects. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common.h"

void fail(const char *format, ...)
{
    va_list list;

    fflush(stdout);
    fputs("llama: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(1);
}

void flush_output(void)
{
    if (fflush(stdout) || ferror(stdout))
        fail("standard output: %s", strerror(errno));
}

griddep_error error = {.size = sizeof error};

void check(int32_t status, const char *what)
{
    if (status != GRIDDEP_OK)
        fail("%s: %s", what, error.text);
}

void *allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);

    if (!memory)
        fail("%zu elements of %zu bytes: no memory is left on the host", count, bytes);
    return memory;
}

void *reallocate(void *old, size_t count, size_t bytes)
{
    void *memory = count > SIZE_MAX / bytes ? NULL : realloc(old, count * bytes);

    if (!memory)
        fail("%zu elements of %zu bytes: no memory is left on the host", count, bytes);
    return memory;
}

char *format_text(const char *format, ...)
{
    va_list list;
    char *text = NULL;

    va_start(list, format);
    int length = vasprintf(&text, format, list);
    va_end(list);
    if (length < 0)
        fail("no memory is left on the host");
    return text;
}

/* FNV-1a. */
uint64_t digest_add(uint64_t digest, const void *data, size_t bytes)
{
    const unsigned char *from = data;

    for (size_t i = 0; i < bytes; i++)
        digest = (digest ^ from[i]) * UINT64_C(0x100000001b3);
    return digest;
}

void token_append(token_list *tokens, uint32_t token)
{
    if (tokens->count == tokens->capacity) {
        tokens->capacity = tokens->capacity ? 2 * tokens->capacity : 64;
        tokens->list = reallocate(tokens->list, tokens->capacity, sizeof *tokens->list);
    }
    tokens->list[tokens->count++] = token;
}

void bytes_append(byte_list *bytes, const void *data, size_t count)
{
    if (bytes->capacity - bytes->count <= count) {
        bytes->capacity = 2 * bytes->capacity + count + 64;
        bytes->data = reallocate(bytes->data, bytes->capacity, 1);
    }
    if (count)
        memcpy(bytes->data + bytes->count, data, count);
    bytes->count += count;
    bytes->data[bytes->count] = '\0';
}

/* ---- files ---- */

bool file_exists(const char *folder, const char *name)
{
    char *path = format_text("%s/%s", folder, name);
    bool there = access(path, F_OK) == 0;

    free(path);
    return there;
}

void file_map(const char *folder, const char *name, mapped_file *file)
{
    struct stat status;

    *file = (mapped_file){.path = folder ? format_text("%s/%s", folder, name)
                                         : format_text("%s", name)};
    int descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0 || fstat(descriptor, &status))
        fail("%s: %s", file->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        fail("%s is no regular file", file->path);
    file->bytes = (size_t)status.st_size;
    if (file->bytes) {
        void *data = mmap(NULL, file->bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
        if (data == MAP_FAILED)
            fail("%s cannot be mapped: %s", file->path, strerror(errno));
        file->data = data;
    }
    close(descriptor);
}

void file_unmap(mapped_file *file)
{
    if (file->data)
        munmap((void *)(uintptr_t)file->data, file->bytes);
    free(file->path);
    *file = (mapped_file){0};
}

/* ---- JSON ---- */

json_t *json_read(const char *folder, const char *name, bool optional)
{
    json_error_t problem;
    mapped_file file;

    if (optional && !file_exists(folder, name))
        return NULL;
    file_map(folder, name, &file);
    if (!file.bytes)
        fail("%s is empty", file.path);
    json_t *object =
        json_loadb((const char *)file.data, file.bytes, JSON_REJECT_DUPLICATES, &problem);
    if (!object)
        fail("%s, line %d: %s", file.path, problem.line, problem.text);
    if (!json_is_object(object))
        fail("%s holds no JSON object", file.path);
    file_unmap(&file);
    return object;
}

/* A member that is there and not null. */
static const json_t *member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_null(value) ? NULL : value;
}

uint64_t json_whole(const char *file, const json_t *object, const char *key, uint64_t least,
                    uint64_t most)
{
    const json_t *value = member(object, key);

    if (!value)
        fail("%s has no \"%s\"", file, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number < least ||
        (uint64_t)number > most)
        fail("%s: \"%s\" is no whole number from %llu to %llu", file, key,
             (unsigned long long)least, (unsigned long long)most);
    return (uint64_t)number;
}

uint64_t json_whole_or(const char *file, const json_t *object, const char *key, uint64_t least,
                       uint64_t most, uint64_t otherwise)
{
    return member(object, key) ? json_whole(file, object, key, least, most) : otherwise;
}

double json_real_or(const char *file, const json_t *object, const char *key, double least,
                    double most, double otherwise)
{
    const json_t *value = member(object, key);

    if (!value)
        return otherwise;
    const double number = json_number_value(value);
    if (!json_is_number(value) || number < least || number > most) {
        if (least == most)
            fail("%s: \"%s\" is not %g, which alone is read", file, key, most);
        fail("%s: \"%s\" is no number from %g to %g", file, key, least, most);
    }
    return number;
}

const char *json_text_or(const char *file, const json_t *object, const char *key,
                         const char *otherwise)
{
    const json_t *value = member(object, key);

    if (value && !json_is_string(value))
        fail("%s: \"%s\" is no text", file, key);
    return value ? json_string_value(value) : otherwise;
}

bool json_truth_or(const char *file, const json_t *object, const char *key, bool otherwise)
{
    const json_t *value = member(object, key);

    if (value && !json_is_boolean(value))
        fail("%s: \"%s\" is neither true nor false", file, key);
    return value ? json_is_true(value) : otherwise;
}

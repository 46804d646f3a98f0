/* What all files of the program share: messages that end it, and memory that is there. */
#ifndef LLAMA_COMMON_H
#define LLAMA_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#include "griddep.h"

/* Prints "llama: ..." and ends the program with status 1. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Ends the program when what it wrote to standard output did not arrive. */
void flush_output(void);

/* Of the main thread's calls of the library. check ends the program with it when one failed. */
extern griddep_error error;
void check(int32_t status, const char *what);

/* Memory, zeroed; or the end of the program. */
void *allocate(size_t count, size_t bytes);
void *reallocate(void *old, size_t count, size_t bytes);
char *format_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A number that follows from bytes, in turns: not for what somebody wants to forge. */
#define DIGEST_BEGIN UINT64_C(0xcbf29ce484222325)
uint64_t digest_add(uint64_t digest, const void *data, size_t bytes);

/* A growing array of tokens. */
typedef struct token_list {
    uint32_t *list;
    size_t count, capacity;
} token_list;

void token_append(token_list *tokens, uint32_t token);

/* A growing array of bytes; data is followed by a zero byte, which does not count. */
typedef struct byte_list {
    char *data;
    size_t count, capacity;
} byte_list;

void bytes_append(byte_list *bytes, const void *data, size_t count);

/* ---- files */

/* A file that is mapped for reading, in a folder, or where `folder` is NULL by its path alone; data
 * is NULL for one that is empty. */
typedef struct mapped_file {
    char *path;
    const unsigned char *data;
    size_t bytes;
} mapped_file;

void file_map(const char *folder, const char *name, mapped_file *file);
void file_unmap(mapped_file *file);
bool file_exists(const char *folder, const char *name);

/* ---- JSON. Messages name the file and the member. */

/* An object in a file of the folder; NULL where it is optional and not there. */
json_t *json_read(const char *folder, const char *name, bool optional);

/* Members of an object. */
uint64_t json_whole(const char *file, const json_t *object, const char *key, uint64_t least,
                    uint64_t most);
uint64_t json_whole_or(const char *file, const json_t *object, const char *key, uint64_t least,
                       uint64_t most, uint64_t otherwise);
double json_real_or(const char *file, const json_t *object, const char *key, double least,
                    double most, double otherwise);
const char *json_text_or(const char *file, const json_t *object, const char *key,
                         const char *otherwise);
bool json_truth_or(const char *file, const json_t *object, const char *key, bool otherwise);

#endif

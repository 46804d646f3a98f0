/* Memory for the command: every request is met or the command ends with a message and exit code
 * 4. */
#ifndef GD_CLI_HEAP_H
#define GD_CLI_HEAP_H

#include <stdarg.h>
#include <stddef.h>

/* Ends the command like a request that cannot be met. */
_Noreturn void gd_heap_end(void);

/* Zeroed; count * bytes may be 0. */
void *gd_heap_take(size_t count, size_t bytes);

/* An array made longer; what is new is zeroed. */
void *gd_heap_grow(void *array, size_t old_count, size_t new_count, size_t bytes);

char *gd_heap_string(const char *text);
char *gd_heap_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *gd_heap_vformat(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

#endif

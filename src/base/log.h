/* Where messages go: a caller's function, or stderr, or nowhere. A value, handed down. */
#ifndef GD_BASE_LOG_H
#define GD_BASE_LOG_H

#include <stdint.h>

#include "griddep.h"

typedef struct gd_log {
    griddep_log_function function; /* NULL: nowhere */
    void *user;
    int32_t level;
} gd_log;

/* One message of at most 4 KiB; log may be NULL. */
void gd_log_write(const gd_log *log, int32_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A griddep_log_function that writes "griddep: warning: ..." to stderr. */
void gd_log_stderr(void *user, int32_t level, const char *message);

/* The level that a word names: "error", "warning", "info", "debug", "off"; -1 for another. */
int32_t gd_log_level_find(const char *word);

#endif

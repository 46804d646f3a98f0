/* Formatting a message and handing it to whoever listens. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/log.h"
#include "base/text.h"

static const char *const level_names[] = {"off", "error", "warning", "info", "debug"};

void gd_log_write(const gd_log *log, int32_t level, const char *format, ...)
{
    char message[4096];
    va_list list;

    if (!log || !log->function || level > log->level)
        return;
    va_start(list, format);
    int length = gd_format_list(message, sizeof message, format, list);
    va_end(list);
    if (length >= (int)sizeof message)
        gd_text_trim(message);
    gd_text_clean(message);
    if (length >= 0)
        log->function(log->user, level, message);
}

void gd_log_stderr(void *user, int32_t level, const char *message)
{
    (void)user;
    fprintf(stderr, "griddep: %s: %s\n",
            level >= 0 && level <= GRIDDEP_LOG_DEBUG ? level_names[level] : "message", message);
}

int32_t gd_log_level_find(const char *word)
{
    for (int32_t i = 0; i <= GRIDDEP_LOG_DEBUG; i++) {
        if (!strcmp(word, level_names[i]))
            return i;
    }
    return -1;
}

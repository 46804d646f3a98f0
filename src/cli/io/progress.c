/* The progress line. */
#include "cli/io/progress.h"

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/io/output.h"

static bool enabled;
static volatile sig_atomic_t visible;

static const char wipe[] = "\r\033[K";

static size_t terminal_width(void)
{
    const uint32_t width = gd_output_width(STDERR_FILENO);
    return width > 1 ? width : 80;
}

void gd_progress_begin(void)
{
    const char *terminal = getenv("TERM");
    if (isatty(STDERR_FILENO) != 1 || terminal == NULL || strcmp(terminal, "dumb") == 0)
        return;
    enabled = true;
}

void gd_progress_show(const char *format, ...)
{
    if (!enabled)
        return;
    char line[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    size_t width = terminal_width() - 1;
    char *clean = gd_output_clean(line);
    visible = 1;
    fprintf(stderr, "%s%.*s", wipe, (int)(width < sizeof(line) ? width : sizeof(line)), clean);
    fflush(stderr);
    free(clean);
}

void gd_progress_end(void)
{
    if (!enabled)
        return;
    enabled = false;
    visible = 0;
}

void gd_progress_clear(void)
{
    if (!visible)
        return;
    fputs(wipe, stderr);
    fflush(stderr);
    visible = 0;
}

void gd_progress_wipe(void)
{
    if (!visible)
        return;
    ssize_t written = write(STDERR_FILENO, wipe, sizeof(wipe) - 1);
    (void)written;
}

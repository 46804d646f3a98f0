/* The fake driver in the place of the emulated one: FAKE_DRIVER_REPORT in the environment names a
 * text that is appended to the file of GRIDDEP_EMULATOR_REPORT at the end of the process, with @N@
 * replaced by the address of the Nth allocation (from 0) and @SCHEDULE@ by what
 * GRIDDEP_EMULATOR_SCHEDULE says. A text of that name with "." and the schedule behind it is taken
 * instead, where there is one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_report.h"

enum { KEPT = 64, LONGEST_NAME = 4096 };

static uint64_t addresses[KEPT];
static size_t count;

static char report_path[LONGEST_NAME];

/* The emulated driver below checks nothing and writes no report of its own. */
void fake_report_begin(void)
{
    const char *path = getenv("GRIDDEP_EMULATOR_REPORT");

    if (!fake_report_is_emulated())
        return;
    if (path)
        snprintf(report_path, sizeof report_path, "%s", path);
    unsetenv("GRIDDEP_EMULATOR_REPORT");
    unsetenv("GRIDDEP_EMULATOR_CHECK");
}

bool fake_report_is_emulated(void)
{
    return getenv("FAKE_DRIVER_REPORT") != NULL;
}

void fake_report_allocation(uint64_t address)
{
    if (count < KEPT)
        addresses[count++] = address;
}

static FILE *open_text(const char *schedule)
{
    const char *path = getenv("FAKE_DRIVER_REPORT");
    char special[LONGEST_NAME];

    if (!path)
        return NULL;
    snprintf(special, sizeof special, "%s.%s", path, schedule);
    FILE *text = fopen(special, "r");
    return text ? text : fopen(path, "r");
}

/* What stands behind an @ up to the next one. */
static void write_word(FILE *text, FILE *report, const char *schedule)
{
    char word[32] = "";
    size_t used = 0;
    int c;

    while ((c = getc(text)) != EOF && c != '@' && used + 1 < sizeof word)
        word[used++] = (char)c;
    size_t index = (size_t)strtoul(word, NULL, 10);
    if (!strcmp(word, "SCHEDULE"))
        fputs(schedule, report);
    else
        fprintf(report, "0x%" PRIx64, index < count ? addresses[index] : 0);
}

__attribute__((destructor)) static void write_report(void)
{
    const char *schedule = getenv("GRIDDEP_EMULATOR_SCHEDULE");

    schedule = schedule ? schedule : "eager";
    FILE *text = *report_path ? open_text(schedule) : NULL;
    FILE *report = text ? fopen(report_path, "a") : NULL;
    for (int c; report && (c = getc(text)) != EOF;) {
        if (c == '@')
            write_word(text, report, schedule);
        else
            putc(c, report);
    }
    if (report)
        fclose(report);
    if (text)
        fclose(text);
}

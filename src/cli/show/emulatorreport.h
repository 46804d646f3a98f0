/* The file in which the emulated driver reports what its checks found: JSON lines, as
 * doc/emulator.md describes them. */
#ifndef GD_CLI_EMULATORREPORT_H
#define GD_CLI_EMULATORREPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

typedef struct gd_emulator_report {
    json_t *findings; /* array of the findings' objects, each with "times": how often it was seen */
    uint32_t processes;  /* that ended in order and summed up; 0: the report may lack something */
    uint64_t launches;   /* that ran, and were checked */
    uint32_t unreadable; /* lines */
    char *schedule, *model; /* of the first process; NULL where none summed up */
    char *refused;          /* the first call that the driver refused, with the reason; NULL */
} gd_emulator_report;

/* An empty file for the report in the folder for temporary files, for gd_temporary_remove. NULL
 * after a message. */
char *gd_emulator_report_begin(void);

/* Reads what was written; a file that is gone counts as empty. Returns 0, or an exit code after a
 * message. */
int gd_emulator_report_read(const char *path, gd_emulator_report *report);

/* A warning where lines of it could not be read. */
void gd_emulator_report_warn(const gd_emulator_report *report);

/* Takes a zeroed one too. */
void gd_emulator_report_free(gd_emulator_report *report);

#endif

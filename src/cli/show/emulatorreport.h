/* The file in which the emulated driver reports what its checks found: JSON lines, as
 * doc/emulator.md describes them. */
#ifndef GD_CLI_EMULATORREPORT_H
#define GD_CLI_EMULATORREPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Texts are NULL where nothing is known, and so are all that are the chain's. */
typedef struct gd_emulator_access {
    bool is_there;
    uint64_t launch, device, cta[3], thread[3], module, line, column, bytes;
    char *kernel, *instruction, *action;
    bool writes;
    int64_t chain_launch; /* -1: not known */
    char *name, *file, *quote;
} gd_emulator_access;

typedef struct gd_emulator_memory {
    bool is_there;
    uint64_t bytes, offset;
    char *space, *start, *name;
    char *buffer; /* of the chain */
    int64_t element;
} gd_emulator_memory;

/* Words of the texts that name a launch, or memory. */
typedef struct gd_emulator_name {
    char *text, *kernel, *start;
    uint64_t launch;
} gd_emulator_name;

typedef struct gd_emulator_run {
    char *schedule, *mode;
    uint64_t times;
} gd_emulator_run;

typedef struct gd_emulator_finding {
    uint64_t number, times; /* in its process; how often it was seen */
    char *kind, *text, *missing;
    gd_emulator_name *names;
    gd_emulator_access first, second, culprit;
    gd_emulator_memory memory;
    gd_emulator_run *runs; /* that saw it; for whoever reads several reports */
    size_t name_count, run_count;
} gd_emulator_finding;

typedef struct gd_emulator_report {
    gd_emulator_finding *findings;
    size_t finding_count;
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

json_t *gd_emulator_finding_json(const gd_emulator_finding *finding);
void gd_emulator_finding_free(gd_emulator_finding *finding);

/* A warning where lines of it could not be read. */
void gd_emulator_report_warn(const gd_emulator_report *report);

/* Takes a zeroed one too. */
void gd_emulator_report_free(gd_emulator_report *report);

#endif

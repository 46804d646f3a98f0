/* Findings: races, faults, leaks, as text on stderr or as JSON lines in a file.
 *
 * A finding is written when it is first seen; more of the same kind by the same two instructions of
 * the same kernels are counted, and the counts are written when the process ends. Each line of the
 * file is an object:
 *   {"finding":N,"kind":...,"text":...,"missing":...,"names":[...],"first":ACCESS,
 *    "second":ACCESS,"culprit":{...},"memory":{...}}
 *   {"count":N,"times":T}           at the end, where a finding came more than once
 *   {"summary":true,"findings":...,"reports":...,"launches":...,"schedule":...,"model":...}
 * doc/emulator.md describes the fields. */
#ifndef GD_EMULATOR_MACHINE_REPORT_H
#define GD_EMULATOR_MACHINE_REPORT_H

#include <stdint.h>

#include "emulator/machine/memory.h"
#include "emulator/race/race.h"

/* What is looked for. */
enum {
    GD_CHECK_RACE = 1,
    GD_CHECK_SHARED = 2,
    GD_CHECK_INITIALIZED = 4,
    GD_CHECK_LEAK = 8,
    GD_CHECK_ALL = 15
};

/* From now on findings are written, to a file (NULL: to stderr), where anything is looked for; with
 * the device of an access where there are several. */
void gd_report_begin(uint32_t checks, const char *path, bool several_devices);

/* The sink of the race detector. */
gd_race_sink gd_report_race;
gd_race_fold gd_report_fold;

/* Something that ended a kernel: the detector's kinds are told by the name ("out-of-bounds");
 * memory is NULL where none is concerned, missing where nothing is known to be. name: the words of
 * text for the access's launch; NULL. */
void gd_report_fault(const char *kind, const gd_race_access *access, const gd_allocation *memory,
                     uint64_t address, const char *name, const char *text, const char *missing);

/* Memory that a context that ends has left allocated. */
void gd_report_leak(uint64_t start, uint64_t bytes);

/* What was run, for the summary. */
typedef struct gd_report_run {
    uint64_t launches, left;      /* of kernels: begun, and handed in without a begin */
    const char *refused;          /* the first call that was refused, and why; NULL */
    const char *schedule, *model; /* as settings name them */
    uint64_t seed;
} gd_report_run;

/* Writes the counts, and nothing from then on. The main program's streams may be closed:
 * descriptors alone are used. */
void gd_report_end(const gd_report_run *run);

#endif

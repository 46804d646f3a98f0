/* Findings: races, faults, leaks, as text on stderr or as JSON lines in a file.
 *
 * A finding is written when it is first seen; more of the same kind by the same two instructions of
 * the same kernels are counted, and the counts are written when the process ends. Each line of the
 * file is an object:
 *   {"finding":N,"kind":...,"text":...,"missing":...,"first":ACCESS,"second":ACCESS,
 *    "culprit":{...},"memory":{...}}
 *   {"count":N,"times":T}           at the end, where a finding came more than once
 *   {"summary":true,"findings":...,"reports":...,"launches":...,"schedule":...,"model":...}
 * doc/emulator.md describes the fields. */
#ifndef GD_EMULATOR_EXECUTE_REPORT_H
#define GD_EMULATOR_EXECUTE_REPORT_H

#include <stdint.h>

#include "emulator/machine/memory.h"
#include "emulator/race/race.h"

/* The sink of the race detector. */
gd_race_sink gd_report_race;
gd_race_fold gd_report_fold;

/* Something that ended a kernel: the detector's kinds are told by the name ("out-of-bounds");
 * memory is NULL where none is concerned, missing where nothing is known to be. */
void gd_report_fault(const char *kind, const gd_race_access *access, const gd_allocation *memory,
                     uint64_t address, const char *text, const char *missing);

/* Memory that a context that ends has left allocated. */
void gd_report_leak(uint64_t start, uint64_t bytes);

/* Writes the counts, and nothing from then on. The main program's streams may be closed:
 * descriptors alone are used. */
void gd_report_end(void);

#endif

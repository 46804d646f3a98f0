/* What a finished job says: a table for people, a document for programs. */
#ifndef GD_CLI_REPORT_H
#define GD_CLI_REPORT_H

#include "griddep.h"

#include "cli/job/job.h"

/* Device, chain, which launches do not overlap and why, what differs, table of modes. ceiling:
 * bytes per second that the device's memory can be read at; 0: not measured. */
void gd_report_print(const gd_job *job, const griddep_runtime_info *info, double ceiling);

/* The same as one JSON document. */
void gd_report_print_json(const gd_job *job, const griddep_runtime_info *info, double ceiling);

#endif

/* An audit as text: the table of kernels and the findings. */
#ifndef GD_CLI_AUDITREPORT_H
#define GD_CLI_AUDITREPORT_H

#include <stdio.h>

#include "cli/program/audit.h"

void gd_auditreport_print_kernels(FILE *stream, const gd_audit *audit);
/* Of pairs of kernels, the ten that lose most. */
void gd_auditreport_print_gaps(FILE *stream, const gd_audit *audit);

void gd_auditreport_print_findings(FILE *to, const gd_audit *audit);

/* The innermost frame of a script's author; NULL: there is none. */
const gd_frame *gd_auditreport_find_script(const gd_frames *frames);

#endif

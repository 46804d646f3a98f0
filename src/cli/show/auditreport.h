/* An audit as text: the table of kernels and the findings. */
#ifndef GD_CLI_AUDITREPORT_H
#define GD_CLI_AUDITREPORT_H

#include <stdio.h>

#include <jansson.h>

/* The lists are gd_audit's. */
void gd_auditreport_print_kernels(FILE *stream, const json_t *kernels);
/* Of pairs of kernels, the ten that lose most. */
void gd_auditreport_print_gaps(FILE *stream, const json_t *gaps);

void gd_auditreport_print_findings(FILE *to, const json_t *findings);

/* Of the frames of a finding's place, the innermost of a script's author; NULL: there is none. */
const json_t *gd_auditreport_find_script(const json_t *frames);

#endif

/* What griddep tune tells: the noise, the trials, what was chosen. */
#ifndef GD_CLI_TUNEREPORT_H
#define GD_CLI_TUNEREPORT_H

#include "griddep.h"

#include "cli/plan/plan.h"

/* folder: that a better chain is written to; NULL: nobody named one. */
typedef struct gd_tunereport {
    const gd_plan *plan;
    const griddep_tune *tune;
    const griddep_runtime_info *device;
    const char *folder;
} gd_tunereport;

void gd_tunereport_print(const gd_tunereport *report);
void gd_tunereport_print_json(const gd_tunereport *report);

#endif

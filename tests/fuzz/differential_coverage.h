/* Which instructions of ops.def random programs have. */
#ifndef GD_DIFFERENTIAL_COVERAGE_H
#define GD_DIFFERENTIAL_COVERAGE_H

#include "differential_run.h"

/* Tells on stdout which instructions neither come up in programs nor are known not to; returns how
 * many, -1 without memory. */
int diff_coverage(void);

#endif

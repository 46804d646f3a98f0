/* Whether kernels of these traits may start early, whoever launches them: GRIDDEP_REASON_*. Chains,
 * graphs, the audit, the command and the library beside a program ask here; switches, device and
 * driver are asked for apart (run/launch/early.h), and so is memory that is touched before the wait
 * (ptx/check/launches.h). */
#ifndef GD_PTX_FLOW_EARLY_H
#define GD_PTX_FLOW_EARLY_H

#include <stdint.h>

#include "griddep.h"

/* Whether a kernel waits wherever it may start early: GRIDDEP_REASON_SET, or what it lacks. */
static inline int32_t gd_early_kernel(uint32_t traits)
{
    if (!(traits & GRIDDEP_TRAIT_KNOWN))
        return GRIDDEP_REASON_UNKNOWN_CODE;
    if (traits & GRIDDEP_TRAIT_OPEN)
        return GRIDDEP_REASON_NOT_PROVEN;
    if (!(traits & GRIDDEP_TRAIT_WAITS))
        return GRIDDEP_REASON_NO_WAIT;
    return traits & GRIDDEP_TRAIT_WAITS_ALWAYS ? GRIDDEP_REASON_SET
                                               : GRIDDEP_REASON_WAIT_NOT_ALWAYS;
}

/* The same of the second of two kernels: GRIDDEP_REASON_WRONG_END where the first has the wait and
 * it has the trigger. */
int32_t gd_early_pair(uint32_t first, uint32_t second);

#endif

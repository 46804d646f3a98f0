/* The one decision about early starts by what kernels do. */
#include "ptx/flow/early.h"

#include <stdbool.h>

#include "griddep.h"

int32_t gd_early_kernel(uint32_t traits)
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

int32_t gd_early_pair(uint32_t first, uint32_t second)
{
    bool swapped = second & GRIDDEP_TRAIT_TRIGGERS && first & GRIDDEP_TRAIT_WAITS &&
                   !(first & GRIDDEP_TRAIT_TRIGGERS);
    int32_t reason = gd_early_kernel(second);

    return reason == GRIDDEP_REASON_NO_WAIT && swapped ? GRIDDEP_REASON_WRONG_END : reason;
}

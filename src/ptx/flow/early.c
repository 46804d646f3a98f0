/* The one decision about early starts by what kernels do. */
#include "ptx/flow/early.h"

#include <stdbool.h>

int32_t gd_early_pair(uint32_t first, uint32_t second)
{
    bool swapped = second & GRIDDEP_TRAIT_TRIGGERS && first & GRIDDEP_TRAIT_WAITS &&
                   !(first & GRIDDEP_TRAIT_TRIGGERS);
    int32_t reason = gd_early_kernel(second);

    return reason == GRIDDEP_REASON_NO_WAIT && swapped ? GRIDDEP_REASON_WRONG_END : reason;
}

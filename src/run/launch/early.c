/* The one decision about early starts, and the words for it. */
#include "run/launch/early.h"

#include "ptx/check/launches.h"

int32_t gd_ptx_early(uint32_t traits, const griddep_ptx *ptx, const char *entry, bool *touches,
                     bool *ordered)
{
    const gd_early_code code = gd_early_look(NULL, traits, ptx, entry);

    *touches = code.touch == GD_EARLY_TOUCH_MEMORY;
    *ordered = code.ordered;
    return code.reason;
}

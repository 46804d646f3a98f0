/* The one decision about early starts, and the words for it. */
#include "run/launch/early.h"

#include "ptx/check/launches.h"

int32_t gd_early_switch(const griddep_runtime *runtime, int32_t pdl)
{
    if (runtime->kill_switch)
        return GRIDDEP_REASON_KILL_SWITCH;
    return runtime->pdl == GRIDDEP_PDL_OFF || pdl == GRIDDEP_PDL_OFF ? GRIDDEP_REASON_OFF
                                                                     : GRIDDEP_REASON_FORCED;
}

static bool driver_can(const griddep_runtime *runtime, gd_early how)
{
    switch (how) {
    case GD_EARLY_LAUNCH:
        return runtime->info.features & GRIDDEP_FEATURE_PDL;
    case GD_EARLY_TRIGGER_EVENT:
        return runtime->info.features & GRIDDEP_FEATURE_PROGRAMMATIC_EVENT;
    case GD_EARLY_BEGIN_EVENT:
        return runtime->info.features & GRIDDEP_FEATURE_LAUNCH_COMPLETION_EVENT;
    default:
        return runtime->driver->cuGraphAddDependencies != NULL;
    }
}

int32_t gd_early_obstacle(const griddep_runtime *runtime, int32_t pdl, gd_early how)
{
    int32_t off = gd_early_switch(runtime, pdl);

    if (off != GRIDDEP_REASON_FORCED)
        return off;
    if (runtime->info.capability < 90 && how != GD_EARLY_BEGIN_EVENT)
        return GRIDDEP_REASON_DEVICE;
    return driver_can(runtime, how) ? GRIDDEP_REASON_FORCED : GRIDDEP_REASON_DRIVER;
}

int32_t gd_ptx_early(uint32_t traits, const griddep_ptx *ptx, const char *entry, bool *touches,
                     bool *ordered)
{
    const gd_early_code code = gd_early_look(NULL, traits, ptx, entry);

    *touches = code.touch == GD_EARLY_TOUCH_MEMORY;
    *ordered = code.ordered;
    return code.reason;
}

int32_t gd_early_decide(const griddep_runtime *runtime, uint32_t traits, int32_t pdl, gd_early how)
{
    int32_t obstacle = gd_early_obstacle(runtime, pdl, how);

    return obstacle != GRIDDEP_REASON_FORCED || pdl == GRIDDEP_PDL_FORCE ? obstacle
                                                                         : gd_early_kernel(traits);
}

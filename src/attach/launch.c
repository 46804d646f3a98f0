/* Launches, and the attributes that are taken away from them or given to them. */
#include <string.h>

#include "attach/next.h"
#include "attach/process.h"
#include "attach/recording.h"
#include "attach/streams.h"
#include "attach/times.h"
#include "griddep.h"

enum { MOST_ATTRIBUTES = 64 }; /* a driver refuses more */

typedef gd_CUresult launch_function(const gd_CUlaunchConfig *, gd_CUfunction, void **, void **);

/* What stands around a launch. */
typedef struct around {
    gd_time_pair times;
    gd_attached_launch *record;
} around;

static bool is_off(void)
{
    return gd_process_settings()->early == GD_ATTACHED_EARLY_OFF;
}

static bool is_on(void)
{
    return gd_process_settings()->early >= GD_ATTACHED_EARLY_ON;
}

/* A launch is noted in front of the driver's call: a lock behind it would wait until what the
 * driver wrote to the device has left the processor. */
static around begin_launch(gd_seen_launch *seen, void **parameters, void **extra)
{
    gd_streams_launch(seen);
    return (around){.record = gd_recording_begin(seen, parameters, extra),
                    .times = gd_times_begin(seen)};
}

static void end_launch(const around *begun, const gd_seen_launch *seen, gd_CUresult result)
{
    if (result != GD_CUDA_SUCCESS)
        gd_streams_take_back(seen);
    gd_times_end(begun->times, seen, result);
    gd_recording_end(begun->record, result);
}

/* A cooperative launch waits for the kernel before it whatever it says. */
static void read_attributes(const gd_CUlaunchConfig *config, gd_seen_launch *launch)
{
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        const gd_CUlaunchAttribute *each = &config->attrs[i];
        if (each->id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            launch->early = each->value.programmaticStreamSerializationAllowed != 0;
        launch->trigger_event |= each->id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT;
        launch->begin_event |= each->id == GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT;
        if (each->id == GD_CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            launch->cooperative = each->value.cooperative != 0;
    }
    launch->changed = is_off() && config->numAttrs <= MOST_ATTRIBUTES &&
                      (launch->early || launch->trigger_event || launch->begin_event);
    launch->is_on = is_on() && config->numAttrs <= MOST_ATTRIBUTES;
    launch->may_become_early = launch->is_on && !launch->early && !launch->cooperative &&
                               config->numAttrs < MOST_ATTRIBUTES &&
                               (!config->numAttrs || config->attrs);
}

/* ---- off ---- */

static gd_CUresult record_event(gd_CUevent event, int flags, const gd_seen_launch *launch)
{
    const gd_CUstream stream = launch->config->hStream;

    return launch->per_thread ? GD_NEXT(cuEventRecordWithFlags_ptsz, event, stream, (unsigned)flags)
                              : GD_NEXT(cuEventRecordWithFlags, event, stream, (unsigned)flags);
}

/* Events that the launch would have recorded are recorded behind it: somebody waits for them. */
static gd_CUresult record_events(const gd_seen_launch *launch)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    for (unsigned i = 0; i < launch->config->numAttrs && result == GD_CUDA_SUCCESS; i++) {
        const gd_CUlaunchAttribute *each = &launch->config->attrs[i];
        const gd_CUlaunchAttributeValue *value = &each->value;
        if (each->id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
            result = record_event(value->programmaticEvent.event, value->programmaticEvent.flags,
                                  launch);
        else if (each->id == GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            result = record_event(value->launchCompletionEvent.event,
                                  value->launchCompletionEvent.flags, launch);
    }
    return result;
}

/* Without what lets kernels start early. This function and the next one keep their room on the
 * stack away from launches that stay as they are. */
__attribute__((noinline)) static gd_CUresult launch_plain(launch_function *next,
                                                          const gd_seen_launch *seen, void **extra)
{
    gd_CUlaunchAttribute attributes[MOST_ATTRIBUTES];
    gd_CUlaunchConfig plain = *seen->config;
    unsigned kept = 0;

    for (unsigned i = 0; i < plain.numAttrs; i++) {
        const gd_CUlaunchAttribute *each = &seen->config->attrs[i];
        if (each->id != GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
            each->id != GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT &&
            each->id != GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            attributes[kept++] = *each;
    }
    plain.attrs = attributes;
    plain.numAttrs = kept;
    const gd_CUresult result = next(&plain, seen->function, seen->parameters, extra);
    return result == GD_CUDA_SUCCESS ? record_events(seen) : result;
}

/* ---- on ---- */

/* The launch as it is where the driver does not take it with the attribute. */
__attribute__((noinline)) static gd_CUresult launch_early(launch_function *next,
                                                          gd_seen_launch *seen, void **extra)
{
    gd_CUlaunchAttribute attributes[MOST_ATTRIBUTES + 1];
    gd_CUlaunchConfig changed = *seen->config;

    if (changed.numAttrs)
        memcpy(attributes, changed.attrs, changed.numAttrs * sizeof *attributes);
    attributes[changed.numAttrs++] =
        (gd_CUlaunchAttribute){.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                               .value.programmaticStreamSerializationAllowed = 1};
    changed.attrs = attributes;
    if (next(&changed, seen->function, seen->parameters, extra) == GD_CUDA_SUCCESS)
        return GD_CUDA_SUCCESS;
    gd_streams_take_back(seen);
    seen->early = seen->changed = false;
    gd_streams_launch(seen);
    return next(seen->config, seen->function, seen->parameters, extra);
}

static gd_CUresult launch_configured(launch_function *next, const gd_CUlaunchConfig *config,
                                     gd_CUfunction function, void **parameters, void **extra,
                                     bool per_thread)
{
    if (!next)
        return GD_CUDA_ERROR_NOT_SUPPORTED;
    if (!config || !gd_process_enter())
        return next(config, function, parameters, extra);
    gd_seen_launch seen = {.function = function,
                           .config = config,
                           .parameters = parameters,
                           .extra = extra,
                           .per_thread = per_thread};
    read_attributes(config, &seen);
    const around begun = begin_launch(&seen, parameters, extra);
    const gd_CUresult result = !seen.changed           ? next(config, function, parameters, extra)
                               : is_off() || seen.held ? launch_plain(next, &seen, extra)
                                                       : launch_early(next, &seen, extra);
    end_launch(&begun, &seen, result);
    gd_process_leave();
    return result;
}

#define GD_LAUNCH_CONFIGURED(symbol, per_thread)                                                   \
    gd_CUresult symbol(const gd_CUlaunchConfig *config, gd_CUfunction function, void **parameters, \
                       void **extra)                                                               \
    {                                                                                              \
        return launch_configured(gd_next_driver.symbol, config, function, parameters, extra,       \
                                 per_thread);                                                      \
    }

GD_LAUNCH_CONFIGURED(cuLaunchKernelEx, false)
GD_LAUNCH_CONFIGURED(cuLaunchKernelEx_ptsz, true)

/* A launch by a function that takes no attributes: `call`, or by the one that does, `configured`
 * (NULL: there is none), where it may start early. */
#define GD_SEE_LAUNCH(is_per_thread, is_cooperative, configured, packed, call)                     \
    do {                                                                                           \
        launch_function *const configured_ = configured;                                           \
        gd_seen_launch launch_ = {.function = function,                                            \
                                  .config = &config,                                               \
                                  .parameters = parameters,                                        \
                                  .extra = packed,                                                 \
                                  .per_thread = is_per_thread,                                     \
                                  .cooperative = is_cooperative,                                   \
                                  .is_on = is_on(),                                                \
                                  .may_become_early = configured_ && is_on()};                     \
        if (!gd_process_enter())                                                                   \
            return call;                                                                           \
        const around begun_ = begin_launch(&launch_, parameters, packed);                          \
        const gd_CUresult result_ =                                                                \
            launch_.changed ? launch_early(configured_, &launch_, packed) : call;                  \
        end_launch(&begun_, &launch_, result_);                                                    \
        gd_process_leave();                                                                        \
        return result_;                                                                            \
    } while (0)

#define GD_LAUNCH(symbol, configured, is_per_thread)                                               \
    gd_CUresult symbol(gd_CUfunction function, unsigned int grid_x, unsigned int grid_y,           \
                       unsigned int grid_z, unsigned int block_x, unsigned int block_y,            \
                       unsigned int block_z, unsigned int shared, gd_CUstream stream,              \
                       void **parameters, void **extra)                                            \
    {                                                                                              \
        const gd_CUlaunchConfig config = {grid_x,  grid_y, grid_z, block_x, block_y,               \
                                          block_z, shared, stream, NULL,    0};                    \
        GD_SEE_LAUNCH(is_per_thread, false, gd_next_driver.configured, extra,                      \
                      GD_NEXT(symbol, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, \
                              shared, stream, parameters, extra));                                 \
    }

GD_LAUNCH(cuLaunchKernel, cuLaunchKernelEx, false)
GD_LAUNCH(cuLaunchKernel_ptsz, cuLaunchKernelEx_ptsz, true)

#define GD_LAUNCH_COOPERATIVE(symbol, is_per_thread)                                               \
    gd_CUresult symbol(gd_CUfunction function, unsigned int grid_x, unsigned int grid_y,           \
                       unsigned int grid_z, unsigned int block_x, unsigned int block_y,            \
                       unsigned int block_z, unsigned int shared, gd_CUstream stream,              \
                       void **parameters)                                                          \
    {                                                                                              \
        const gd_CUlaunchConfig config = {grid_x,  grid_y, grid_z, block_x, block_y,               \
                                          block_z, shared, stream, NULL,    0};                    \
        GD_SEE_LAUNCH(is_per_thread, true, NULL, NULL,                                             \
                      GD_NEXT(symbol, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, \
                              shared, stream, parameters));                                        \
    }

GD_LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, false)
GD_LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

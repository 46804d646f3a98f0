/* Launches, and the attributes of theirs that are taken away. */
#include <string.h>

#include "attach/kernels.h"
#include "attach/next.h"
#include "attach/process.h"
#include "attach/recording.h"
#include "attach/streams.h"
#include "attach/times.h"
#include "griddep.h"

enum { MOST_ATTRIBUTES = 64 }; /* a driver refuses more */

typedef gd_CUresult launch_function(const gd_CUlaunchConfig *, gd_CUfunction, void **, void **);

/* A configuration without what lets kernels start early. Events that the launch would have recorded
 * are recorded behind it: somebody waits for them. */
typedef struct plain_launch {
    gd_CUlaunchConfig config;
    gd_CUlaunchAttribute attributes[MOST_ATTRIBUTES];
    struct {
        gd_CUevent event;
        unsigned int flags;
    } events[MOST_ATTRIBUTES];
    uint32_t event_count;
    bool changed;
} plain_launch;

static void make_plain(const gd_CUlaunchConfig *config, plain_launch *plain)
{
    unsigned kept = 0;

    plain->config = *config;
    plain->event_count = 0;
    plain->changed = false;
    if (config->numAttrs > MOST_ATTRIBUTES || !config->attrs)
        return;
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const gd_CUlaunchAttribute *each = &config->attrs[i];
        const gd_CUlaunchAttributeValue *value = &each->value;
        if (each->id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION) {
            plain->changed |= value->programmaticStreamSerializationAllowed != 0;
        } else if (each->id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
            plain->events[plain->event_count].event = value->programmaticEvent.event;
            plain->events[plain->event_count++].flags = (unsigned)value->programmaticEvent.flags;
        } else if (each->id == GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT) {
            plain->events[plain->event_count].event = value->launchCompletionEvent.event;
            plain->events[plain->event_count++].flags =
                (unsigned)value->launchCompletionEvent.flags;
        } else {
            plain->attributes[kept++] = *each;
        }
    }
    plain->changed |= plain->event_count != 0;
    plain->config.attrs = plain->attributes;
    plain->config.numAttrs = kept;
}

static gd_CUresult record_events(const plain_launch *plain, bool per_thread)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    for (uint32_t i = 0; i < plain->event_count && result == GD_CUDA_SUCCESS; i++) {
        const gd_CUevent event = plain->events[i].event;
        const gd_CUstream stream = plain->config.hStream;
        const unsigned flags = plain->events[i].flags;
        result = per_thread ? GD_NEXT(cuEventRecordWithFlags_ptsz, event, stream, flags)
                            : GD_NEXT(cuEventRecordWithFlags, event, stream, flags);
    }
    return result;
}

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
}

/* Its room on the stack is not to be touched by launches that stay as they are. */
__attribute__((noinline)) static gd_CUresult launch_plain(launch_function *next,
                                                          const gd_CUlaunchConfig *config,
                                                          gd_CUfunction function, void **parameters,
                                                          void **extra, gd_seen_launch *seen)
{
    plain_launch plain;

    make_plain(config, &plain);
    seen->changed = plain.changed;
    gd_CUresult result = next(&plain.config, function, parameters, extra);
    return result == GD_CUDA_SUCCESS ? record_events(&plain, seen->per_thread) : result;
}

/* A kernel that waits wherever it may start early, and touches nothing before that which others can
 * reach; a cooperative launch waits for the kernel before it whatever it says. */
static bool may_be_early(gd_seen_launch *seen)
{
    int kept;

    if (seen->early || seen->cooperative || !gd_process_lock(&kept))
        return false;
    const int32_t reason = gd_kernels_reason(seen->function);
    gd_process_unlock(kept);
    seen->left = reason == GRIDDEP_REASON_RACE;
    return reason == GRIDDEP_REASON_SET;
}

/* The launch as it is where the driver does not take it with the attribute. */
__attribute__((noinline)) static gd_CUresult launch_early(launch_function *next,
                                                          const gd_CUlaunchConfig *config,
                                                          gd_CUfunction function, void **parameters,
                                                          void **extra, gd_seen_launch *seen)
{
    gd_CUlaunchAttribute attributes[MOST_ATTRIBUTES + 1];
    gd_CUlaunchConfig changed = *config;

    if (config->numAttrs >= MOST_ATTRIBUTES || (config->numAttrs && !config->attrs) ||
        !may_be_early(seen))
        return next(config, function, parameters, extra);
    if (config->numAttrs)
        memcpy(attributes, config->attrs, config->numAttrs * sizeof *attributes);
    attributes[config->numAttrs] =
        (gd_CUlaunchAttribute){.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                               .value.programmaticStreamSerializationAllowed = 1};
    changed.attrs = attributes;
    changed.numAttrs++;
    if (next(&changed, function, parameters, extra) != GD_CUDA_SUCCESS)
        return next(config, function, parameters, extra);
    seen->changed = seen->early = true;
    return GD_CUDA_SUCCESS;
}

/* What stands around a launch. */
typedef struct around {
    gd_time_pair times;
    gd_attached_launch *record;
} around;

/* Whether a launch is known as it will be made. It is then noted in front of the driver's call: a
 * lock behind it would wait until what the driver wrote to the device has left the processor. */
static bool is_made_as_seen(void)
{
    return gd_process_settings()->early == GD_ATTACHED_EARLY_AS_IS;
}

static around begin_launch(const gd_seen_launch *seen, void **parameters, void **extra)
{
    if (is_made_as_seen())
        gd_streams_launch(seen);
    return (around){.record = gd_recording_begin(seen, parameters, extra),
                    .times = gd_times_begin(seen)};
}

static void end_launch(const around *begun, const gd_seen_launch *seen, gd_CUresult result)
{
    if (is_made_as_seen() && result != GD_CUDA_SUCCESS)
        gd_streams_take_back(seen);
    else if (!is_made_as_seen() && result == GD_CUDA_SUCCESS)
        gd_streams_launch(seen);
    gd_times_end(begun->times, seen, result);
    gd_recording_end(begun->record, result);
}

static gd_CUresult launch_configured(launch_function *next, const gd_CUlaunchConfig *config,
                                     gd_CUfunction function, void **parameters, void **extra,
                                     bool per_thread)
{
    if (!next)
        return GD_CUDA_ERROR_NOT_SUPPORTED;
    if (!config || !gd_process_enter())
        return next(config, function, parameters, extra);
    gd_seen_launch seen = {
        .function = function, .config = config, .parameters = parameters, .per_thread = per_thread};
    read_attributes(config, &seen);
    const around begun = begin_launch(&seen, parameters, extra);
    gd_CUresult result;
    switch (gd_process_settings()->early) {
    case GD_ATTACHED_EARLY_AS_IS:
        result = next(config, function, parameters, extra);
        break;
    case GD_ATTACHED_EARLY_OFF:
        result = launch_plain(next, config, function, parameters, extra, &seen);
        break;
    default:
        result = launch_early(next, config, function, parameters, extra, &seen);
    }
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

/* A launch without attributes is one with a configuration where it may get one. */
static bool adds_attributes(void)
{
    return gd_process_settings()->early >= GD_ATTACHED_EARLY_ON;
}

/* A launch that is made as it is, for the process that is attached. */
#define GD_SEE_LAUNCH(is_per_thread, is_cooperative, extra, call)                                  \
    do {                                                                                           \
        const gd_seen_launch launch_ = {.function = function,                                      \
                                        .config = &config,                                         \
                                        .parameters = parameters,                                  \
                                        .per_thread = is_per_thread,                               \
                                        .cooperative = is_cooperative};                            \
        if (!gd_process_enter())                                                                   \
            return call;                                                                           \
        const around begun_ = begin_launch(&launch_, parameters, extra);                           \
        const gd_CUresult result_ = call;                                                          \
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
        if (adds_attributes() && gd_next_driver.configured)                                        \
            return configured(&config, function, parameters, extra);                               \
        GD_SEE_LAUNCH(is_per_thread, false, extra,                                                 \
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
        GD_SEE_LAUNCH(is_per_thread, true, NULL,                                                   \
                      GD_NEXT(symbol, function, grid_x, grid_y, grid_z, block_x, block_y, block_z, \
                              shared, stream, parameters));                                        \
    }

GD_LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel, false)
GD_LAUNCH_COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

/* Measuring overlap: the chain run a few times with stamped kernels, whose stamps are read after each run. */
#include "cli/overlap.h"

#include <stdlib.h>

#include "cli/heap.h"
#include "cli/progress.h"
#include "cli/session.h"

typedef struct gd_stamp {
    uint64_t begin, end;
} gd_stamp;

enum { HOLD_NS = 100000, HOLD_NS_EACH = 20000 };

/* A kernel that runs while the host puts the chain's launches into the stream: otherwise kernels of a few microseconds
 * would have ended before the next one was launched. Not there where the device is too old for it. */
typedef struct gd_hold {
    griddep_module *module;
    griddep_kernel *kernel;
    uint64_t word;
    uint32_t nanoseconds;
} gd_hold;

static void close_hold(const gd_session *session, gd_hold *hold)
{
    griddep_module_unload(hold->module);
    if (hold->word != 0)
        griddep_memory_free(session->runtime, hold->word, NULL);
    *hold = (gd_hold){0};
}

static void open_hold(const gd_session *session, int32_t mode, gd_hold *hold)
{
    hold->nanoseconds = HOLD_NS + HOLD_NS_EACH * session->plan->launch_count;
    if (mode != GRIDDEP_MODE_SERIAL && mode != GRIDDEP_MODE_PDL)
        return;
    if (griddep_module_load_shelf(session->runtime, "spin", NULL, &hold->module, NULL) != GRIDDEP_OK ||
        griddep_kernel_get(hold->module, "spin", &hold->kernel, NULL) != GRIDDEP_OK ||
        griddep_memory_allocate(session->runtime, sizeof(uint32_t), &hold->word, NULL) != GRIDDEP_OK ||
        griddep_memory_fill(session->runtime, hold->word, 0, sizeof(uint32_t), session->stream, NULL) != GRIDDEP_OK)
        close_hold(session, hold);
}

static int launch_hold(const gd_session *session, const gd_hold *hold)
{
    const griddep_argument arguments[] = {
        {.bytes = 8, .value = hold->word}, {.bytes = 8, .value = hold->word}, {.bytes = 4, .value = hold->nanoseconds}};
    const griddep_launch_config config = {
        .size = sizeof(config), .grid = {1}, .block = {1}, .pdl = GRIDDEP_PDL_OFF, .stream = session->stream};
    griddep_error error;
    griddep_error_init(&error);
    if (hold->kernel == NULL || griddep_launch(hold->kernel, &config, arguments, 3, NULL, &error) == GRIDDEP_OK)
        return 0;
    return gd_message_library(&error, "launching the kernel that holds the stream");
}

static int find_stamp(const gd_session *session, uint32_t launch, uint64_t *address)
{
    uint64_t bytes = 0;
    griddep_error error;
    griddep_error_init(&error);
    if (session->stamped[launch] == NULL)
        return 0;
    if (griddep_module_get_global(session->stamped[launch], "griddep_stamp", address, &bytes, &error) == GRIDDEP_OK)
        return 0;
    return gd_message_library(&error, "finding the stamps");
}

static int write_stamp(const gd_session *session, uint64_t address)
{
    const gd_stamp none = {.begin = UINT64_MAX};
    griddep_error error;
    griddep_error_init(&error);
    if (address == 0 ||
        griddep_memory_write(session->runtime, address, &none, sizeof(none), session->stream, &error) == GRIDDEP_OK)
        return 0;
    return gd_message_library(&error, "writing the stamps");
}

static int read_stamp(const gd_session *session, uint64_t address, gd_stamp *stamp)
{
    griddep_error error;
    griddep_error_init(&error);
    if (address == 0 ||
        griddep_memory_read(session->runtime, stamp, address, sizeof(*stamp), session->stream, &error) == GRIDDEP_OK)
        return 0;
    return gd_message_library(&error, "reading the stamps");
}

static int run_once(gd_session *session, int32_t mode, const gd_hold *hold, const uint64_t *addresses, gd_stamp *stamps)
{
    uint32_t count = session->plan->launch_count;
    int code = gd_session_reset(session);
    for (uint32_t i = 0; i < count && code == 0; i++)
        code = write_stamp(session, addresses[i]);
    if (code == 0)
        code = launch_hold(session, hold);
    if (code == 0)
        code = gd_session_run(session, mode);
    for (uint32_t i = 0; i < count && code == 0; i++)
        code = read_stamp(session, addresses[i], &stamps[i]);
    return code;
}

/* The launch before one in its lane; the number of launches where it is the first. */
static uint32_t previous_of(const gd_plan *plan, uint32_t launch)
{
    for (uint32_t i = launch; i > 0; i--)
        if (plan->launches[i - 1].lane == plan->launches[launch].lane)
            return i - 1;
    return plan->launch_count;
}

static int compare(const void *a, const void *b)
{
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return first < second ? -1 : first > second;
}

/* leads: GD_OVERLAP_RUNS for each launch. */
static void summarize(gd_overlap *overlap, int64_t *leads)
{
    qsort(leads, GD_OVERLAP_RUNS, sizeof(*leads), compare);
    *overlap = (gd_overlap){
        .known = true, .lead = leads[GD_OVERLAP_RUNS / 2], .shortest = leads[0], .longest = leads[GD_OVERLAP_RUNS - 1]};
}

/* The first run loads code and is not counted. */
static int measure(gd_session *session, int32_t mode, const uint64_t *addresses, gd_overlap *overlaps)
{
    uint32_t count = session->plan->launch_count;
    gd_stamp *stamps = gd_heap_take(count, sizeof(*stamps));
    int64_t *leads = gd_heap_take((size_t)count * GD_OVERLAP_RUNS, sizeof(*leads));
    bool *missing = gd_heap_take(count, sizeof(*missing)); /* a stamp of the launch or of the one before */
    gd_hold hold = {0};
    int code = 0;
    open_hold(session, mode, &hold);
    for (uint32_t run = 0; run <= GD_OVERLAP_RUNS && code == 0; run++) {
        code = run_once(session, mode, &hold, addresses, stamps);
        for (uint32_t i = 0; i < count && run > 0; i++) {
            uint32_t before = previous_of(session->plan, i);
            if (before == count)
                continue;
            missing[i] |= stamps[before].end == 0 || stamps[i].begin == UINT64_MAX;
            leads[i * GD_OVERLAP_RUNS + run - 1] = (int64_t)(stamps[before].end - stamps[i].begin);
        }
    }
    for (uint32_t i = 0; i < count && code == 0; i++)
        if (previous_of(session->plan, i) != count && !missing[i])
            summarize(&overlaps[i], &leads[i * GD_OVERLAP_RUNS]);
    free(missing);
    close_hold(session, &hold);
    free(leads);
    free(stamps);
    return code;
}

int gd_overlap_measure(const gd_plan *plan, griddep_runtime *runtime, int32_t mode, gd_overlap *overlaps)
{
    gd_session session = {0};
    uint64_t *addresses = gd_heap_take(plan->launch_count, sizeof(*addresses));
    int code = gd_session_open_stamped(&session, plan, runtime, GRIDDEP_PDL_DEFAULT);
    for (uint32_t i = 0; i < plan->launch_count && code == 0; i++)
        code = find_stamp(&session, i, &addresses[i]);
    gd_progress_show("measuring in mode %s", griddep_mode_name(mode));
    if (code == 0)
        code = measure(&session, mode, addresses, overlaps);
    gd_session_close(&session);
    free(addresses);
    return code;
}

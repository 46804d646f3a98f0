/* The timeline: a chain's launches again with kernels that are instrumented, each from a copy of
 * its module, so that each launch has a stamp variable of its own. Whatever mode the chain runs in,
 * so, nothing has to tell a kernel which launch it is.
 *
 * The variables are all 0xff between runs: they are filled when they were read. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "measure/figures.h"
#include "measure/instrument.h"
#include "ptx/handle/ptx.h"
#include "run/chain/chain.h"
#include "run/host.h"
#include "run/module/module.h"

enum {
    OPTIONS_MINIMUM = sizeof(griddep_timeline_options),
    INFO_MINIMUM = sizeof(griddep_timeline_info),
    LAUNCH_MINIMUM = sizeof(griddep_timeline_launch),
    HOP_MINIMUM = sizeof(griddep_timeline_hop),
    DEFAULT_BLOCKS = 16384
};

#define UNTOUCHED UINT64_MAX

typedef struct timeline_launch {
    gd_call *original;      /* held, since its module holds memory of hops; NULL: no kernel */
    griddep_module *module; /* NULL: the kernel is the plain one, and leaves no stamps */
    griddep_kernel *kernel; /* NULL: a copy, a fill or a host function */
    uint64_t address;       /* of the stamps */
    uint64_t blocks;
    uint32_t kept;
    uint32_t plain_registers;
    gd_instrumented instrumented; /* its text is freed once it has been loaded */
} timeline_launch;

struct griddep_timeline {
    griddep_runtime *runtime;
    griddep_chain *chain; /* the instrumented one */
    timeline_launch *launches;
    uint32_t count;
    gd_trace trace;
    int32_t mode;     /* of the last run; -1: none */
    bool clean;       /* the variables are as a run needs them */
    uint64_t *record; /* room to read any launch's stamps into */
    uint64_t origin;
    uint64_t clock_step;
};

/* ---- a launch's copy ---- */

/* What the host put into a variable of the original. */
static int32_t copy_variable(const griddep_kernel *kernel, griddep_module *copy, const char *name,
                             griddep_error *error)
{
    uint64_t from = 0, to = 0, from_bytes = 0, to_bytes = 0;

    if (gd_module_find_variable(kernel->module, name, &from, &from_bytes, NULL) ||
        gd_module_find_variable(copy, name, &to, &to_bytes, NULL) || from_bytes != to_bytes ||
        !from_bytes)
        return GRIDDEP_OK; /* the compiler dropped it, or the host cannot reach it */
    void *bytes = malloc((size_t)from_bytes);
    if (!bytes)
        return gd_error_memory(error);
    int32_t status = griddep_memory_read(kernel->runtime, bytes, from, from_bytes, NULL, error);
    if (!status)
        status = griddep_memory_write(kernel->runtime, to, bytes, from_bytes, NULL, error);
    free(bytes);
    return status;
}

static int32_t copy_variables(const griddep_kernel *kernel, griddep_module *copy,
                              griddep_error *error)
{
    const gd_ptx_module *module = &kernel->module->ptx->module;
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < module->symbol_count && !status; i++) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        uint32_t length;
        if (symbol->scope != 0 || symbol->kind != GD_SYMBOL_VARIABLE ||
            (symbol->space != GD_SPACE_GLOBAL && symbol->space != GD_SPACE_CONST))
            continue;
        const char *name = gd_ptx_name_text(module, symbol->name, &length);
        char *copied = strndup(name, length);
        status = copied ? copy_variable(kernel, copy, copied, error) : gd_error_memory(error);
        free(copied);
    }
    return status;
}

/* With `registers` the compiler may take no more of them. */
static int32_t load_copy(timeline_launch *launch, const griddep_kernel *kernel, uint32_t registers,
                         griddep_error *error)
{
    const griddep_module_options options = {
        .size = sizeof options, .name = kernel->module->name, .maximum_registers = registers};

    griddep_module_unload(launch->module);
    launch->module = NULL;
    int32_t status =
        griddep_module_load(kernel->runtime, gd_text_get(&launch->instrumented.text),
                            launch->instrumented.text.bytes, &options, &launch->module, error);
    return status
               ? status
               : griddep_module_find_kernel(launch->module, kernel->name, &launch->kernel, error);
}

enum { REGISTER_UNIT = 8, WARP = 32 }; /* registers of a thread are given out in eights */

static uint32_t round_registers(uint32_t registers)
{
    return (registers + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;
}

/* Blocks that a multiprocessor's registers suffice for. */
static uint64_t blocks_of(const griddep_kernel *kernel, uint32_t registers, uint64_t threads)
{
    uint64_t warps = (threads + WARP - 1) / WARP, taken = warps * WARP * round_registers(registers);

    return taken ? (uint64_t)kernel->runtime->info.registers_per_multiprocessor / taken
                 : UINT64_MAX;
}

/* Stamps take registers. Where that would leave room for fewer blocks, or for none, the compiler
 * has to do with as many as the plain kernel has: the chain would not be the same one. */
static int32_t load_fitting(timeline_launch *launch, const gd_call *call, griddep_error *error)
{
    const gd_CUlaunchConfig *config = &call->launch.config;
    const griddep_kernel *plain = call->kernel;
    uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
    int32_t status = load_copy(launch, plain, 0, error);

    if (!status && (launch->kernel->info.maximum_threads < threads ||
                    blocks_of(plain, launch->kernel->info.registers, threads) <
                        blocks_of(plain, plain->info.registers, threads)))
        status = load_copy(launch, plain, round_registers(plain->info.registers), error);
    return status;
}

static int32_t find_stamps(timeline_launch *launch, griddep_error *error)
{
    uint64_t bytes = 0, wanted = (uint64_t)launch->kept * launch->instrumented.words * 8;
    int32_t status = gd_module_find_variable(launch->module, GD_INSTRUMENT_VARIABLE,
                                             &launch->address, &bytes, error);

    if (!status && bytes < wanted)
        status =
            gd_error_set(error, GRIDDEP_ERROR_DRIVER,
                         "the driver gave the stamps of kernel %s %" PRIu64 " bytes, not %" PRIu64,
                         launch->kernel->name, bytes, wanted);
    return status;
}

static int32_t make_copy(timeline_launch *launch, const griddep_chain *chain, uint32_t index,
                         uint32_t limit, griddep_error *error)
{
    const gd_call *call = chain->now->calls[index];
    const gd_CUlaunchConfig *config = &call->launch.config;

    launch->blocks = (uint64_t)config->gridDimX * config->gridDimY * config->gridDimZ;
    launch->kept = launch->blocks < limit ? (uint32_t)launch->blocks : limit;
    launch->plain_registers = call->kernel->info.registers;
    launch->original = gd_call_hold(chain->now->calls[index]);
    if (!call->kernel->module
             ->ptx) { /* a cubin, a fatbin, or PTX that the library cannot read: it runs as it is */
        launch->kernel = call->kernel;
        launch->kept = 0;
        return GRIDDEP_OK;
    }
    const gd_instrument_grid grid = {{config->gridDimX, config->gridDimY, config->gridDimZ},
                                     launch->kept};
    int32_t status = gd_instrument(call->kernel->module->ptx, call->kernel->name, grid,
                                   &launch->instrumented, error);
    if (!status)
        status = load_fitting(launch, call, error);
    gd_text_free(&launch->instrumented.text);
    if (!status)
        status = copy_variables(call->kernel, launch->module, error);
    return status ? status : find_stamps(launch, error);
}

/* ---- the instrumented chain ---- */

/* A variable would be several where it was one. */
static int32_t check_variables(const griddep_chain *chain, griddep_error *error)
{
    uint32_t first, second;
    int32_t status = gd_chain_find_sharing(chain, &first, &second, error);

    if (status || second == chain->count)
        return status;
    return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                        "launches %" PRIu32 " (%s) and %" PRIu32
                        " (%s) share variables of their module that one "
                        "of them may write, and a traced launch has a copy of its module to itself",
                        first, gd_chain_kernel_name(&chain->launches[first]), second,
                        gd_chain_kernel_name(&chain->launches[second]));
}

static int32_t add_launch(griddep_timeline *timeline, const griddep_chain *chain, uint32_t index,
                          uint32_t limit, griddep_error *error)
{
    const gd_chain_launch *original = &chain->launches[index];
    timeline_launch *launch = &timeline->launches[index];
    gd_call *call = NULL;
    int32_t status = GRIDDEP_OK;

    if (gd_chain_call(original))
        status = make_copy(launch, chain, index, limit, error);
    if (!status && gd_chain_call(original))
        status = gd_call_with_kernel(gd_chain_call(original), launch->kernel, NULL, &call, error);
    if (!status)
        status = gd_chain_append_like(timeline->chain, original, call, gd_chain_move_of(original),
                                      error);
    if (status)
        gd_call_release(call);
    for (uint32_t i = 0; i < original->given.after_count && !status; i++)
        status = griddep_chain_depend(timeline->chain, index, original->given.after[i], error);
    if (status && status != GRIDDEP_ERROR_MEMORY)
        gd_error_append(error, " (launch %" PRIu32 " of the chain)", index);
    return status;
}

static bool has_stamps(const griddep_timeline *timeline)
{
    for (uint32_t i = 0; i < timeline->count; i++) {
        if (timeline->launches[i].module)
            return true;
    }
    return timeline->count == 0;
}

static bool has_kernels(const griddep_chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++) {
        if (gd_chain_call(&chain->launches[i]))
            return true;
    }
    return false;
}

/* ---- the trace's memory ---- */

static int32_t make_room(griddep_timeline *timeline, griddep_error *error)
{
    uint64_t most = 0;

    for (uint32_t i = 0; i < timeline->count; i++) {
        const timeline_launch *launch = &timeline->launches[i];
        gd_trace_launch *trace = &timeline->trace.launches[i];
        uint32_t points = GD_POINT_MARK + launch->instrumented.mark_count;
        uint64_t words = (uint64_t)launch->kept * launch->instrumented.words;
        *trace = (gd_trace_launch){
            .kept = launch->kept,
            .points = points,
            .from = GD_TRACE_NONE,
            .sm = calloc((size_t)launch->kept + 1, sizeof *trace->sm),
            .times = calloc((size_t)launch->kept * points + 1, sizeof *trace->times),
            .counts = calloc((size_t)launch->kept + 1, sizeof *trace->counts)};
        if (!trace->sm || !trace->times || !trace->counts)
            return gd_error_memory(error);
        most = words > most ? words : most;
    }
    timeline->record = calloc((size_t)most + 1, sizeof *timeline->record);
    return timeline->record ? GRIDDEP_OK : gd_error_memory(error);
}

/* ---- a run ---- */

static int32_t clear(griddep_timeline *timeline, void *stream, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < timeline->count && !status; i++) {
        const timeline_launch *launch = &timeline->launches[i];
        uint64_t bytes = (uint64_t)launch->kept * launch->instrumented.words * 8;
        if (launch->module)
            status =
                griddep_memory_fill(timeline->runtime, launch->address, 0xff, bytes, stream, error);
    }
    timeline->clean = !status;
    return status;
}

/* Times stay as the device has them, the exits' complement taken, until the origin is known. */
static void take_record(griddep_timeline *timeline, uint32_t index)
{
    const timeline_launch *launch = &timeline->launches[index];
    gd_trace_launch *trace = &timeline->trace.launches[index];

    for (uint32_t block = 0; block < launch->kept; block++) {
        const uint64_t *record = timeline->record + (uint64_t)block * launch->instrumented.words;
        trace->sm[block] = record[0] == UNTOUCHED ? GRIDDEP_STAMP_NONE : (int32_t)record[0];
        for (uint32_t point = 0; point < trace->points; point++) {
            uint64_t at = (uint64_t)point * launch->kept + block;
            uint64_t time = record[1 + point];
            bool touched = time != UNTOUCHED;
            if (point == GD_POINT_EXIT)
                time = ~time;
            trace->times[at] = touched ? (int64_t)time : GRIDDEP_STAMP_NONE;
            if (touched && time < timeline->origin)
                timeline->origin = time;
        }
    }
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void shift_times(griddep_timeline *timeline)
{
    timeline->clock_step = 0;
    for (uint32_t i = 0; i < timeline->count; i++) {
        gd_trace_launch *trace = &timeline->trace.launches[i];
        for (uint64_t at = 0; at < (uint64_t)trace->points * trace->kept; at++) {
            if (trace->times[at] == GRIDDEP_STAMP_NONE)
                continue;
            trace->times[at] -= (int64_t)timeline->origin;
            timeline->clock_step = common_divisor(timeline->clock_step, (uint64_t)trace->times[at]);
        }
    }
}

/* The prerequisite that ended last: at a join the launch before in the lane, or one of another. */
static void find_from(griddep_timeline *timeline, uint32_t index)
{
    const gd_chain_launch *launch = &timeline->chain->launches[index];
    uint32_t from = gd_chain_previous(launch);

    for (uint32_t i = 0; i < launch->given.after_count; i++) {
        if (gd_trace_ends_later(&timeline->trace, launch->given.after[i], from))
            from = launch->given.after[i];
    }
    timeline->trace.launches[index].from = from == GD_CHAIN_NONE ? GD_TRACE_NONE : from;
}

static int32_t read_stamps(griddep_timeline *timeline, void *stream, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    timeline->origin = UINT64_MAX;
    for (uint32_t i = 0; i < timeline->count && !status; i++) {
        const timeline_launch *launch = &timeline->launches[i];
        uint64_t bytes = (uint64_t)launch->kept * launch->instrumented.words * 8;
        if (launch->module)
            status = griddep_memory_read(timeline->runtime, timeline->record, launch->address,
                                         bytes, stream, error);
        if (!status)
            take_record(timeline, i);
    }
    if (status)
        return status;
    shift_times(timeline);
    status = gd_trace_judge(&timeline->trace, error);
    for (uint32_t i = 0; i < timeline->count && !status; i++)
        find_from(timeline, i);
    return status;
}

/* ---- public ---- */

static int32_t check(const griddep_timeline *timeline, const void *output, const char *name,
                     griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!timeline || !output)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            timeline ? name : "timeline");
    return GRIDDEP_OK;
}

static int32_t read_options(griddep_timeline_options *options,
                            const griddep_timeline_options *given, griddep_error *error)
{
    static const griddep_timeline_options defaults = {.size = sizeof defaults};
    int32_t status = gd_struct_read(options, sizeof *options, OPTIONS_MINIMUM,
                                    given ? given : &defaults, "griddep_timeline_options", error);

    if (status)
        return status;
    if (options->flags || options->reserved)
        return gd_error_set(error, GRIDDEP_ERROR_STRUCT, "griddep_timeline_options.%s is not zero",
                            options->flags ? "flags" : "reserved");
    if (!options->blocks)
        options->blocks = DEFAULT_BLOCKS;
    return GRIDDEP_OK;
}

static int32_t fill_timeline(griddep_timeline *timeline, griddep_chain *chain, uint32_t limit,
                             griddep_error *error)
{
    int32_t status = griddep_chain_create(timeline->runtime, &timeline->chain, error);

    if (!status)
        status = gd_chain_prove_hops(chain, GRIDDEP_MODE_PDL, error);
    if (!status)
        status = check_variables(chain, error);
    if (!status)
        timeline->chain->held_given = true; /* what stamps add is not looked at */

    timeline->launches = calloc((size_t)chain->count + 1, sizeof *timeline->launches);
    timeline->trace.launches = calloc((size_t)chain->count + 1, sizeof *timeline->trace.launches);
    if (!status && (!timeline->launches || !timeline->trace.launches))
        status = gd_error_memory(error);
    if (!status) {
        timeline->count = timeline->trace.count = chain->count;
        timeline->trace.multiprocessors = (uint32_t)timeline->runtime->info.multiprocessors;
    }
    for (uint32_t i = 0; i < timeline->count && !status; i++)
        status = add_launch(timeline, chain, i, limit, error);
    if (!status && !has_stamps(timeline))
        status = gd_error_set(
            error, GRIDDEP_ERROR_UNSUPPORTED,
            has_kernels(chain)
                ? "no kernel of the chain has PTX that could be instrumented: the modules are "
                  "cubins, fatbins, or PTX that this library cannot read"
                : "the chain has no kernel, and nothing else tells when it runs");
    return status ? status : make_room(timeline, error);
}

int32_t griddep_timeline_create(griddep_chain *chain, const griddep_timeline_options *given,
                                griddep_timeline **timeline, griddep_error *error)
{
    griddep_timeline_options options;
    int32_t status = gd_chain_can_run(chain, GRIDDEP_MODE_SERIAL, error);

    if (status)
        return status;
    if (!timeline)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "timeline is NULL");
    status = read_options(&options, given, error);
    if (status)
        return status;
    griddep_timeline *made = calloc(1, sizeof *made);
    if (!made)
        return gd_error_memory(error);
    made->mode = -1;
    made->runtime = gd_runtime_hold(chain->runtime);
    status = fill_timeline(made, chain, options.blocks, error);
    if (status)
        griddep_timeline_destroy(made);
    else
        *timeline = made;
    return status;
}

static void end_later(griddep_runtime *runtime, void *timeline)
{
    (void)runtime;
    griddep_timeline_destroy(timeline);
}

void griddep_timeline_destroy(griddep_timeline *timeline)
{
    if (!timeline || gd_host_put_off(timeline->runtime, end_later, timeline, NULL))
        return;
    griddep_chain_destroy(timeline->chain);
    for (uint32_t i = 0; i < timeline->count; i++) {
        gd_instrumented_free(&timeline->launches[i].instrumented);
        griddep_module_unload(timeline->launches[i].module);
        gd_call_release(timeline->launches[i].original);
        free(timeline->trace.launches[i].sm);
        free(timeline->trace.launches[i].times);
        free(timeline->trace.launches[i].counts);
    }
    gd_trace_drop(&timeline->trace);
    free(timeline->trace.launches);
    free(timeline->launches);
    free(timeline->record);
    gd_runtime_release(timeline->runtime);
    free(timeline);
}

int32_t griddep_timeline_run(griddep_timeline *timeline, int32_t mode, void *stream,
                             griddep_error *error)
{
    int32_t status = check(timeline, timeline, "timeline", error);

    if (!status)
        status = gd_chain_can_run(timeline->chain, mode, error);
    if (status)
        return status;
    timeline->mode = -1;
    if (!timeline->clean)
        status = clear(timeline, stream, error);
    timeline->clean = false;
    if (!status)
        status = griddep_chain_run(timeline->chain, mode, stream, error);
    if (!status)
        status = griddep_stream_synchronize(timeline->runtime, stream, error);
    if (!status)
        status = read_stamps(timeline, stream, error);
    if (!status)
        timeline->mode = mode;
    if (!status)
        clear(timeline, stream, NULL); /* where that fails the next run clears */
    return status;
}

griddep_chain *griddep_timeline_get_chain(griddep_timeline *timeline)
{
    if (!timeline)
        return NULL;
    timeline->clean = false; /* the caller will run it */
    return timeline->chain;
}

int32_t griddep_timeline_get_info(griddep_timeline *timeline, griddep_timeline_info *info,
                                  griddep_error *error)
{
    int32_t status = check(timeline, info, "info", error);

    if (status)
        return status;
    griddep_timeline_info known = {.size = sizeof known,
                                   .mode = timeline->mode,
                                   .launch_count = timeline->count,
                                   .multiprocessors = timeline->trace.multiprocessors,
                                   .emulated = timeline->runtime->info.emulated,
                                   .span = NAN,
                                   .idle = NAN,
                                   .idle_share = NAN,
                                   .clock_step = NAN};
    for (uint32_t i = 0; i < timeline->count; i++) {
        known.blocks += timeline->launches[i].blocks;
        known.blocks_kept += timeline->launches[i].kept;
    }
    if (timeline->mode >= 0) {
        gd_trace_figure(&timeline->trace, &known);
        known.origin = timeline->origin;
        known.clock_step = timeline->clock_step ? (double)timeline->clock_step : NAN;
    }
    return gd_struct_write(info, &known, sizeof known, INFO_MINIMUM, "griddep_timeline_info",
                           error);
}

/* A launch of the last run. */
static int32_t check_index(const griddep_timeline *timeline, const void *output, const char *name,
                           uint32_t index, griddep_error *error)
{
    int32_t status = check(timeline, output, name, error);

    if (status)
        return status;
    if (timeline->mode < 0)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "the timeline has no run that could be told of");
    if (index >= timeline->count)
        return gd_error_no_number(error, "the chain", "", timeline->count, "launch", "launches",
                                  index);
    return GRIDDEP_OK;
}

int32_t griddep_timeline_get_launch(griddep_timeline *timeline, uint32_t index,
                                    griddep_timeline_launch *launch, griddep_error *error)
{
    int32_t status = check_index(timeline, launch, "launch", index, error);

    if (status)
        return status;
    const timeline_launch *from = &timeline->launches[index];
    griddep_timeline_launch known = {.size = sizeof known,
                                     .lane = timeline->chain->launches[index].given.lane,
                                     .kernel =
                                         gd_chain_kernel_name(&timeline->chain->launches[index]),
                                     .blocks = from->blocks,
                                     .blocks_kept = from->kept,
                                     .backward = timeline->trace.launches[index].backward,
                                     .mark_count = from->instrumented.mark_count,
                                     .registers = from->kernel ? from->kernel->info.registers : 0,
                                     .plain_registers = from->plain_registers};
    status = gd_trace_figure_launch(&timeline->trace, index, &known, error);
    return status ? status
                  : gd_struct_write(launch, &known, sizeof known, LAUNCH_MINIMUM,
                                    "griddep_timeline_launch", error);
}

int32_t griddep_timeline_get_hop(griddep_timeline *timeline, uint32_t index,
                                 griddep_timeline_hop *hop, griddep_error *error)
{
    int32_t status = check_index(timeline, hop, "hop", index, error);

    if (status)
        return status;
    griddep_timeline_hop known = {.size = sizeof known,
                                  .from = timeline->trace.launches[index].from};
    if (known.from == GD_TRACE_NONE)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "nothing in the chain stands before launch %" PRIu32, index);
    gd_trace_figure_hop(&timeline->trace, index, &known);
    return gd_struct_write(hop, &known, sizeof known, HOP_MINIMUM, "griddep_timeline_hop", error);
}

const char *griddep_timeline_get_mark(griddep_timeline *timeline, uint32_t index, uint32_t mark)
{
    if (!timeline || index >= timeline->count ||
        mark >= timeline->launches[index].instrumented.mark_count)
        return NULL;
    return timeline->launches[index].instrumented.marks[mark];
}

int32_t griddep_timeline_read(griddep_timeline *timeline, uint32_t index, int32_t column,
                              int64_t *values, uint64_t capacity, uint64_t *count,
                              griddep_error *error)
{
    int32_t status = check_index(timeline, count, "count", index, error);

    if (status)
        return status;
    if (!values && capacity)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "values is NULL and capacity is %" PRIu64, capacity);
    const gd_trace_launch *launch = &timeline->trace.launches[index];
    int32_t point = column - GRIDDEP_STAMP_ENTRY;
    if (column != GRIDDEP_STAMP_SM && (point < 0 || point >= (int32_t)launch->points))
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "launch %" PRIu32 " has no column %" PRId32, index, column);
    for (uint64_t block = 0; block < launch->kept && block < capacity; block++)
        values[block] = column == GRIDDEP_STAMP_SM
                            ? launch->sm[block]
                            : launch->times[(uint64_t)point * launch->kept + block];
    *count = launch->kept;
    return GRIDDEP_OK;
}

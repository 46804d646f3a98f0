/* griddep_tune: the chain as it was given, the search over it, and what was chosen. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "measure/tune.h"
#include "run/host.h"
#include "run/module/module.h"
#include "run/runtime.h"

enum {
    BUFFER_MINIMUM = sizeof(griddep_tune_buffer),
    OPTIONS_MINIMUM = sizeof(griddep_tune_options),
    INFO_MINIMUM = offsetof(griddep_tune_info, last_ratio),
    TRIAL_MINIMUM = offsetof(griddep_tune_trial, again),
    CHOICE_MINIMUM = offsetof(griddep_tune_choice, carveout),
    USUAL_PAIRS = 31,
    MOST_PAIRS = 10000
};

static const double usual_gain = 0.005;

/* A sample lasts at least this long. */
static const double sample_microseconds = 1000.0;

/* ---- before the search ---- */

static int32_t read_options(griddep_tune *tune, const griddep_tune_options *options,
                            griddep_error *error)
{
    griddep_tune_options *own = &tune->options;
    int32_t status = options ? gd_struct_read(own, sizeof *own, OPTIONS_MINIMUM, options,
                                              "griddep_tune_options", error)
                             : GRIDDEP_OK;

    if (status)
        return status;
    if (own->flags & ~(uint32_t)(GRIDDEP_TUNE_FLAG_FORGET | GRIDDEP_TUNE_FLAG_SHAPES))
        return gd_error_set(error, GRIDDEP_ERROR_STRUCT, "griddep_tune_options: unknown flags");
    own->mode = own->mode ? own->mode : GRIDDEP_MODE_GRAPH_PDL;
    if (own->mode != GRIDDEP_MODE_PDL && own->mode != GRIDDEP_MODE_GRAPH_PDL)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "tuning is for the modes pdl and graph-pdl");
    if (own->pairs > MOST_PAIRS || !(own->least_gain >= 0 && own->least_gain < 1))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "pairs is at most %d, and least_gain at least 0 and below 1",
                            MOST_PAIRS);
    own->pairs = tune->info.model ? 1 : own->pairs ? own->pairs : USUAL_PAIRS;
    own->least_gain = own->least_gain > 0 ? own->least_gain : usual_gain;
    tune->info.mode = own->mode;
    return GRIDDEP_OK;
}

static int32_t read_buffers(griddep_tune *tune, const griddep_tune_buffer *buffers, uint32_t count,
                            griddep_error *error)
{
    tune->buffers = calloc(count, sizeof *tune->buffers);
    if (!tune->buffers)
        return gd_error_memory(error);
    tune->experiment =
        (gd_experiment){.runtime = tune->runtime, .buffers = tune->buffers, .buffer_count = count};
    for (uint32_t i = 0; i < count; i++) {
        griddep_tune_buffer own;
        const char *at = (const char *)buffers + (size_t)i * buffers->size;
        int32_t status =
            gd_struct_read(&own, sizeof own, BUFFER_MINIMUM, at, "griddep_tune_buffer", error);
        if (status)
            return status;
        if (!own.address || !own.bytes || own.compared > 2 || (own.compared == 2 && !own.initial))
            return gd_error_set(
                error, GRIDDEP_ERROR_ARGUMENT,
                "buffers[%u] has no address or no bytes, or `compared` is beyond 2, or 2 without "
                "`initial`",
                (unsigned)i);
        tune->buffers[i] = (gd_experiment_buffer){.address = own.address,
                                                  .bytes = own.bytes,
                                                  .initial = own.initial,
                                                  .compared = own.compared > 0,
                                                  .read = own.compared > 0,
                                                  .state = own.compared == 2};
    }
    return GRIDDEP_OK;
}

static int32_t read_offer(griddep_tune *tune, const void *at, griddep_error *error)
{
    griddep_tune_offer own;
    int32_t status = gd_struct_read(&own, sizeof own, sizeof own, at, "griddep_tune_offer", error);

    if (status)
        return status;
    if (own.launch >= tune->launch_count)
        return gd_error_no_number(error, "an offer's launch: the chain", "", tune->launch_count,
                                  "launch", "launches", own.launch);
    if (!gd_chain_call(tune->launches[own.launch].chained) &&
        (own.grid_count || own.carveout_count))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "an offer for launch %u, which is a %s: kernels have a choice alone",
                            (unsigned)own.launch,
                            gd_chain_kernel_name(tune->launches[own.launch].chained));
    if ((own.grid_count && !own.grids) || (own.carveout_count && !own.carveouts))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "the offer for launch %u has a count without a list",
                            (unsigned)own.launch);
    for (uint32_t i = 0; i < own.carveout_count; i++)
        if (own.carveouts[i] < GRIDDEP_CARVEOUT_DEFAULT || own.carveouts[i] > 100)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "launch %u is offered a carve-out of %d percent",
                                (unsigned)own.launch, (int)own.carveouts[i]);
    tune->launches[own.launch].offer = own;
    return GRIDDEP_OK;
}

static int32_t read_offers(griddep_tune *tune, griddep_error *error)
{
    const griddep_tune_options *options = &tune->options;
    const char *at = (const char *)options->offers;
    int32_t status = GRIDDEP_OK;

    if (options->offer_count && !at)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "offers is NULL");
    for (uint32_t i = 0; i < options->offer_count && !status; i++)
        status = read_offer(tune, at + (size_t)i * options->offers->size, error);
    return status;
}

static int32_t create(const griddep_chain *chain, griddep_tune **tune, griddep_error *error)
{
    griddep_runtime *runtime = chain->runtime;

    *tune = calloc(1, sizeof **tune);
    if (!*tune)
        return gd_error_memory(error);
    (*tune)->runtime = gd_runtime_hold(runtime);
    (*tune)->chain = chain;
    (*tune)->info =
        (griddep_tune_info){.size = sizeof(griddep_tune_info), .model = runtime->info.emulated};
    return GRIDDEP_OK;
}

static int32_t check_given(griddep_tune *tune, griddep_error *error)
{
    uint32_t errors = 0;
    gd_text first = {0};
    int32_t status = gd_tune_check(tune, &tune->given, &errors, &tune->warnings, &first, error);

    if (!status && errors)
        status =
            gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                         "the chain is not right, so it is not tuned: %s", gd_text_get(&first));
    gd_text_free(&first);
    return status;
}

/* The serial run's results are kept; the mode that is tuned must leave the same. */
static int32_t run_given(griddep_tune *tune, griddep_error *error)
{
    gd_experiment *experiment = &tune->experiment;
    uint32_t different = 0;

    if (!gd_experiment_allocate(experiment))
        return gd_error_memory(error);
    int32_t status = gd_experiment_run(experiment, tune->given.chain, GRIDDEP_MODE_SERIAL,
                                       experiment->serial, error);
    if (!status)
        status = gd_tune_run_compared(tune, tune->given.chain, &different, error);
    if (!status && different)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "as it is, the chain in mode %s does not leave buffers[%u] as its "
                              "serial run does: it is not tuned",
                              griddep_text(GRIDDEP_TEXT_MODE, tune->options.mode),
                              (unsigned)different - 1);
    return status;
}

static int32_t prepare(griddep_tune *tune, griddep_error *error)
{
    int32_t status = gd_tune_setup_copy(tune, NULL, &tune->given, error);

    if (!status)
        status = check_given(tune, error);
    if (!status)
        status = gd_tune_realize(tune, &tune->given, false, error);
    if (!status)
        status = griddep_stream_create(tune->runtime, NULL, &tune->experiment.stream, error);
    if (!status)
        status = gd_clock_open(&tune->experiment, &tune->clock, error);
    if (!status)
        status = run_given(tune, error);
    return status ? status
                  : gd_clock_choose_batch(&tune->clock, tune->given.chain, tune->options.mode,
                                          sample_microseconds, &tune->batch, error);
}

/* ---- behind it ---- */

static int32_t make_choice(griddep_tune *tune, uint32_t index, griddep_error *error)
{
    const gd_tune_launch *launch = &tune->launches[index];
    const uint32_t source = tune->units[launch->unit].source;
    const gd_tune_shape shape = tune->best.shapes[index];
    griddep_tune_choice *choice = &tune->choices[index].info;
    gd_text text = {0};

    *choice = (griddep_tune_choice){
        .size = sizeof *choice,
        .ptx = tune->best.texts[source],
        .grid = {shape.grid, launch->config.grid[1], launch->config.grid[2]},
        .block = {shape.block, launch->config.block[1], launch->config.block[2]},
        .shared_bytes = shape.shared_bytes,
        .pdl = tune->best.pdl[index],
        .carveout = tune->best.carveouts[index]};
    choice->changed = choice->ptx || choice->pdl != launch->config.pdl ||
                      !gd_tune_same_shape(shape, launch->shape) ||
                      choice->carveout != launch->carveout;
    if (!tune->choices[index].text) { /* what was recalled has its words */
        gd_tune_describe(tune, &tune->best, index, &text);
        tune->choices[index].text = strdup(gd_text_get(&text));
        gd_text_free(&text);
    }
    choice->text = tune->choices[index].text;
    return choice->text ? gd_tune_kernel_of(tune, &tune->best, index, &choice->kernel, error)
                        : gd_error_memory(error);
}

static int32_t make_choices(griddep_tune *tune, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    tune->info.launch_count = tune->launch_count;
    for (uint32_t i = 0; i < tune->launch_count && !status; i++)
        status = make_choice(tune, i, error);
    return status;
}

/* What only the search needs. The caller's arrays are not touched from here on. */
static void end_search(griddep_tune *tune)
{
    gd_tune_setup_free(tune, &tune->given);
    griddep_chain_destroy(tune->best.chain);
    tune->best.chain = NULL;
    gd_tune_shown_free(&tune->best_shown);
    free(tune->tried);
    free(tune->launches);
    free(tune->uses);
    gd_clock_close(&tune->clock);
    if (tune->experiment.stream)
        griddep_stream_destroy(tune->runtime, tune->experiment.stream, NULL);
    gd_experiment_free(&tune->experiment);
    free(tune->buffers);
    tune->tried = NULL;
    tune->launches = NULL;
    tune->uses = NULL;
    tune->chain = NULL;
    tune->buffers = NULL;
}

static int32_t finish(griddep_tune *made, int32_t status, griddep_tune **tune)
{
    end_search(made);
    if (status)
        griddep_tune_destroy(made);
    else
        *tune = made;
    return status;
}

/* ---- public ---- */

int32_t griddep_tune_run(griddep_chain *chain, const griddep_tune_buffer *buffers,
                         uint32_t buffer_count, const griddep_tune_options *options,
                         griddep_tune **tune, griddep_error *error)
{
    griddep_tune *made;
    int32_t status = gd_chain_can_run(chain, GRIDDEP_MODE_SERIAL, error);

    if (status)
        return status;
    if (!tune || !buffers || !buffer_count)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "buffers or tune is NULL, or buffer_count is 0");
    status = create(chain, &made, error);
    if (status)
        return status;
    status = read_options(made, options, error);
    if (!status)
        status = read_buffers(made, buffers, buffer_count, error);
    if (!status)
        status = gd_tune_read_chain(made, error);
    if (!status)
        status = gd_tune_check_cover(made, error);
    if (!status)
        status = read_offers(made, error);
    if (!status)
        status = prepare(made, error);
    if (!status)
        status = gd_tune_search(made, error);
    if (!status)
        status = make_choices(made, error);
    if (!status && !(made->options.flags & GRIDDEP_TUNE_FLAG_FORGET))
        made->info.remembered = gd_tune_store(made);
    return finish(made, status, tune);
}

int32_t griddep_tune_load(griddep_chain *chain, int32_t mode, griddep_tune **tune,
                          griddep_error *error)
{
    const griddep_tune_options options = {.size = sizeof options, .mode = mode};
    griddep_tune *made;
    int32_t status = gd_chain_can_run(chain, GRIDDEP_MODE_SERIAL, error);

    if (status)
        return status;
    if (!tune)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "tune is NULL");
    status = create(chain, &made, error);
    if (status)
        return status;
    status = read_options(made, &options, error);
    if (!status)
        status = gd_tune_read_chain(made, error);
    if (!status)
        status = gd_tune_recall(made, error);
    if (!status)
        status = gd_tune_realize(made, &made->best, false, error);
    if (!status)
        status = make_choices(made, error);
    for (uint32_t i = 0; i < made->launch_count && !status; i++)
        made->info.changed |= made->choices[i].info.changed;
    made->info.remembered = 1;
    return finish(made, status, tune);
}

int32_t griddep_tune_get_info(const griddep_tune *tune, griddep_tune_info *info,
                              griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!tune || !info)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", tune ? "info" : "tune");
    return gd_struct_write(info, &tune->info, sizeof *info, INFO_MINIMUM, "griddep_tune_info",
                           error);
}

int32_t griddep_tune_get_trial(const griddep_tune *tune, uint32_t index, griddep_tune_trial *trial,
                               griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!tune || !trial)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", tune ? "trial" : "tune");
    if (index >= tune->info.trial_count)
        return gd_error_no_number(error, "the result", "", tune->info.trial_count, "trial",
                                  "trials", index);
    griddep_tune_trial known = tune->trials[index].info;
    known.kernel = tune->trials[index].kernel;
    known.text = tune->trials[index].text;
    known.detail = tune->trials[index].detail;
    return gd_struct_write(trial, &known, sizeof known, TRIAL_MINIMUM, "griddep_tune_trial", error);
}

int32_t griddep_tune_get_choice(const griddep_tune *tune, uint32_t launch,
                                griddep_tune_choice *choice, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!tune || !choice)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", tune ? "choice" : "tune");
    if (launch >= tune->info.launch_count)
        return gd_error_no_number(error, "the chain", "", tune->info.launch_count, "launch",
                                  "launches", launch);
    return gd_struct_write(choice, &tune->choices[launch].info, sizeof *choice, CHOICE_MINIMUM,
                           "griddep_tune_choice", error);
}

static void end_later(griddep_runtime *runtime, void *tune)
{
    (void)runtime;
    griddep_tune_destroy(tune);
}

void griddep_tune_destroy(griddep_tune *tune)
{
    if (!tune || gd_host_put_off(tune->runtime, end_later, tune, NULL))
        return;
    end_search(tune);
    gd_tune_setup_free(tune, &tune->best);
    for (uint32_t i = 0; i < tune->info.trial_count; i++) {
        free(tune->trials[i].kernel);
        free(tune->trials[i].text);
        free(tune->trials[i].detail);
    }
    for (uint32_t i = 0; i < tune->launch_count && tune->choices; i++)
        free(tune->choices[i].text);
    for (uint32_t i = 0; i < tune->unit_count; i++) {
        free(tune->units[i].constants);
        free(tune->units[i].constant_names);
    }
    for (uint32_t i = 0; i < tune->source_count; i++)
        if (tune->sources[i].module)
            gd_module_release(tune->sources[i].module);
    free(tune->untraced);
    free(tune->trials);
    free(tune->choices);
    free(tune->units);
    free(tune->sources);
    gd_runtime_release(tune->runtime);
    free(tune);
}

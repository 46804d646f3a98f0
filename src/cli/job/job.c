/* The order of a job: realise the plan, compute what is expected, run and check every mode, then
 * time them all. */
#include "cli/job/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/outputfile.h"
#include "cli/io/progress.h"
#include "cli/job/session.h"
#include "cli/plan/fill.h"
#include "cli/plan/planlaunch.h"

/* What is expected, by buffer or expectation; NULL where it is not needed. */
typedef struct gd_job_state {
    gd_job *job;
    gd_session session;
    void **reference; /* what the references computed */
    void **files;     /* per expectation */
} gd_job_state;

static bool needs_reference(const gd_plan *plan)
{
    for (uint32_t i = 0; i < plan->expectation_count; i++)
        if (plan->expectations[i].from == GD_EXPECTED_REFERENCE)
            return true;
    return false;
}

static int load_expected(gd_job_state *state)
{
    const gd_plan *plan = state->job->plan;
    for (uint32_t i = 0; i < plan->expectation_count; i++) {
        const gd_plan_expectation *expectation = &plan->expectations[i];
        if (expectation->from != GD_EXPECTED_FILE)
            continue;
        const gd_plan_buffer *buffer = &plan->buffers[expectation->buffer];
        state->files[i] = gd_heap_take(gd_plan_buffer_bytes(buffer), 1);
        int code = gd_fill_write(&expectation->file, buffer->type, state->files[i], buffer->count);
        if (code != 0)
            return code;
    }
    if (!needs_reference(plan))
        return 0;
    gd_progress_show("computing the reference");
    return gd_verify_compute(plan, state->session.multiprocessors, state->session.images,
                             state->reference);
}

/* One checked run in a mode, from freshly written buffers. */
static int run_fresh(gd_job_state *state, int32_t mode, void **results)
{
    gd_progress_show("running %s", griddep_text(GRIDDEP_TEXT_MODE, mode));
    return gd_session_run(&state->session, mode, results);
}

static void copy_kept(unsigned char *kept, void *buffer, uint64_t bytes, bool keep)
{
    if (keep)
        memcpy(kept, buffer, bytes);
    else
        memcpy(buffer, kept, bytes);
}

/* Puts what the serial run left into the memory for it, or takes it from there. */
static void exchange_serial(gd_job_state *state, bool keep)
{
    const gd_plan *plan = state->job->plan;
    unsigned char *at = state->job->serial->data;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        uint64_t bytes = gd_plan_buffer_bytes(&plan->buffers[i]);
        if (!state->session.buffers[i].read)
            continue;
        copy_kept(at, state->session.experiment.serial[i], bytes, keep);
        at += bytes;
    }
    state->job->serial->is_there = true;
}

static int run_serial(gd_job_state *state)
{
    const gd_job *job = state->job;
    bool is_known = job->serial != NULL && job->serial->is_there;
    int code =
        is_known ? 0 : run_fresh(state, GRIDDEP_MODE_SERIAL, state->session.experiment.serial);
    if (code == 0 && job->serial != NULL)
        exchange_serial(state, !is_known);
    return code == 0 && is_known ? gd_session_find_state(&state->session) : code;
}

static void compare_with_serial(gd_job_state *state, gd_job_mode *result)
{
    const gd_experiment *experiment = &state->session.experiment;
    uint32_t at = gd_experiment_find_difference(experiment, 0);
    result->equal = at == experiment->buffer_count;
    if (result->equal)
        return;
    const gd_plan_buffer *buffer = &state->job->plan->buffers[at];
    result->unequal_buffer = at;
    gd_verify_compare(buffer->type, experiment->got[at], experiment->serial[at], buffer->count,
                      &result->unequal);
}

static const void *expected_data(const gd_job_state *state, uint32_t index)
{
    const gd_plan_expectation *expectation = &state->job->plan->expectations[index];
    switch (expectation->from) {
    case GD_EXPECTED_FILE:
        return state->files[index];
    case GD_EXPECTED_REFERENCE:
        return state->reference[expectation->buffer] != NULL
                   ? state->reference[expectation->buffer]
                   : state->session.images[expectation->buffer];
    case GD_EXPECTED_SERIAL:
        break;
    }
    return state->session.experiment.serial[expectation->buffer];
}

static void compare_with_expected(gd_job_state *state, gd_job_mode *result)
{
    const gd_plan *plan = state->job->plan;
    for (uint32_t i = 0; i < plan->expectation_count; i++) {
        const gd_plan_expectation *expectation = &plan->expectations[i];
        const gd_plan_buffer *buffer = &plan->buffers[expectation->buffer];
        gd_verify_compare(buffer->type, state->session.experiment.got[expectation->buffer],
                          expected_data(state, i), buffer->count, &result->differences[i]);
        result->met[i] = gd_verify_allows(expectation, &result->differences[i]);
        state->job->as_expected &= result->met[i];
    }
    state->job->as_expected &= result->equal;
}

static int read_hops(gd_job_state *state, int32_t mode, gd_job_mode *result)
{
    for (uint32_t i = 0; i < state->job->plan->launch_count; i++) {
        griddep_error error;
        griddep_error_init(&error);
        result->hops[i].size = sizeof(*result->hops);
        if (griddep_chain_get_hop(state->session.chain, mode, i, &result->hops[i], &error) !=
            GRIDDEP_OK)
            return gd_message_library(&error, griddep_text(GRIDDEP_TEXT_MODE, mode));
    }
    return 0;
}

static int check_mode(gd_job_state *state, int32_t mode)
{
    const gd_plan *plan = state->job->plan;
    gd_job_mode *result = &state->job->results[mode];
    result->wanted = true;
    result->differences = gd_heap_take(plan->expectation_count, sizeof(*result->differences));
    result->met = gd_heap_take(plan->expectation_count, sizeof(*result->met));
    result->hops = gd_heap_take(plan->launch_count, sizeof(*result->hops));
    int code = run_fresh(state, mode, state->session.experiment.got);
    if (code != 0)
        return code;
    compare_with_serial(state, result);
    compare_with_expected(state, result);
    return read_hops(state, mode, result);
}

static int write_dumps(const gd_job_state *state)
{
    for (uint32_t i = 0; i < state->job->dump_count; i++) {
        const gd_job_dump *dump = &state->job->dumps[i];
        const void *got = state->session.experiment.got[dump->buffer];
        const void *data = got != NULL ? got : state->session.images[dump->buffer];
        int code = gd_outputfile_write(
            dump->path, data, gd_plan_buffer_bytes(&state->job->plan->buffers[dump->buffer]));
        if (code != 0)
            return code;
    }
    return 0;
}

uint32_t gd_job_samples(const gd_job *job, bool emulated)
{
    uint32_t usual = emulated ? 1 : 30; /* model time is the same each time */

    return job->samples == GD_JOB_DEFAULT_SAMPLES ? usual : job->samples;
}

static int time_modes(gd_job_state *state)
{
    gd_job *job = state->job;
    gd_timing timings[GRIDDEP_MODE_COUNT] = {{0}};
    if (job->samples == 0)
        return 0;
    int code = gd_session_reset(&state->session);
    if (code == 0)
        code = gd_measure_modes(state->session.chain, &state->session.experiment, job->modes,
                                gd_job_samples(job, state->session.emulated), timings);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT && code == 0; mode++)
        job->results[mode].timing = timings[mode];
    return code;
}

/* Whether every byte is still the 0xff that the session fills a buffer with that is written
 * first. */
static bool is_untouched(const void *data, uint64_t bytes)
{
    const unsigned char *at = data;
    return at[0] == 0xff && memcmp(at, at + 1, bytes - 1) == 0;
}

/* One or a few integers may well have all bits set; a larger buffer, or a NaN of that form, is
 * nothing that a kernel computes. */
static void find_unwritten(const gd_job_state *state)
{
    gd_job *job = state->job;
    job->unwritten = gd_heap_take(job->plan->buffer_count, sizeof(bool));
    for (uint32_t i = 0; i < job->plan->buffer_count; i++) {
        const gd_plan_buffer *buffer = &job->plan->buffers[i];
        uint64_t bytes = gd_plan_buffer_bytes(buffer);
        if (!buffer->written_first || !is_untouched(state->session.experiment.serial[i], bytes))
            continue;
        job->unwritten[i] = bytes > 8 || !gd_type_is_integer(buffer->type);
        if (job->unwritten[i])
            job->as_expected = false;
        else
            gd_message_warning(
                "buffer %s may not have been written: it holds the 0xff bytes it was filled with",
                buffer->name);
    }
}

static int expose(gd_job_state *state)
{
    griddep_error error;
    griddep_error_init(&error);
    return gd_planlaunch_expose(state->job->plan, state->session.multiprocessors, NULL,
                                state->session.chain, &error) == GRIDDEP_OK
               ? 0
               : gd_message_library(&error, NULL);
}

static int run_job(gd_job_state *state, griddep_runtime *runtime)
{
    gd_job *job = state->job;
    int code = gd_session_open(&state->session, job->plan, runtime, job->pdl);
    if (code == 0 && job->addresses != NULL)
        memcpy(job->addresses, state->session.addresses,
               job->plan->buffer_count * sizeof(uint64_t));
    if (code == 0 && job->exposes)
        code = expose(state);
    if (code == 0)
        code = load_expected(state);
    if (code == 0)
        code = run_serial(state);
    job->as_expected = true;
    if (code == 0)
        find_unwritten(state);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT && code == 0; mode++)
        if (job->modes >> mode & 1U)
            code = check_mode(state, mode);
    if (code == 0)
        code = write_dumps(state);
    if (code == 0)
        code = time_modes(state);
    if (code == 0 && !job->as_expected)
        code = GD_EXIT_DIFFERS;
    return code;
}

static void free_all(void **buffers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(buffers[i]);
    free(buffers);
}

uint64_t gd_job_serial_bytes(const gd_plan *plan)
{
    uint64_t bytes = sizeof(gd_job_serial);
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        bytes += plan->buffers[i].written || gd_plan_is_expected(plan, i)
                     ? gd_plan_buffer_bytes(&plan->buffers[i])
                     : 0;
    return bytes;
}

int gd_job_run(gd_job *job, griddep_runtime *runtime)
{
    const gd_plan *plan = job->plan;
    gd_job_state state = {.job = job,
                          .reference = gd_heap_take(plan->buffer_count, sizeof(void *)),
                          .files = gd_heap_take(plan->expectation_count, sizeof(void *))};
    int code = run_job(&state, runtime);
    gd_session_close(&state.session);
    free_all(state.reference, plan->buffer_count);
    free_all(state.files, plan->expectation_count);
    gd_progress_clear();
    return code;
}

void gd_job_free(gd_job *job)
{
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        free(job->results[mode].differences);
        free(job->results[mode].met);
        free(job->results[mode].hops);
    }
    free(job->unwritten);
    *job = (gd_job){0};
}

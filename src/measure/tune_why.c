/* Why a variant is faster or slower: what the timeline shows of it, beside what it shows of the
 * chain that it was timed against. A figure is the median of several runs, hop by hop, and then the
 * mean of the hops whose launches differ. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/statistics.h"
#include "measure/tune.h"

enum { TRACED_RUNS = 11 };

/* ---- a run ---- */

/* The figures of a launch's hop; NaN where nothing stands before it. */
static int32_t read_hop(griddep_timeline *timeline, uint32_t launch,
                        double figures[GD_TUNE_FIGURE_COUNT], griddep_error *error)
{
    griddep_timeline_hop hop = {.size = sizeof hop};
    griddep_timeline_launch own = {.size = sizeof own}, from = {.size = sizeof from};

    for (uint32_t i = 0; i < GD_TUNE_FIGURE_COUNT; i++)
        figures[i] = NAN;
    int32_t status = griddep_timeline_get_hop(timeline, launch, &hop, NULL);
    if (status)
        return status == GRIDDEP_ERROR_NOT_FOUND
                   ? GRIDDEP_OK
                   : gd_error_set(error, status, "no figures of a hop");
    status = griddep_timeline_get_launch(timeline, launch, &own, error);
    if (!status)
        status = griddep_timeline_get_launch(timeline, hop.from, &from, error);
    if (status)
        return status;
    figures[GD_TUNE_FIGURE_GAP] = hop.handoff_gap;
    figures[GD_TUNE_FIGURE_WORK] = own.last_exit - from.last_exit - hop.handoff_gap;
    figures[GD_TUNE_FIGURE_LEAD] = hop.launch_lead;
    figures[GD_TUNE_FIGURE_HIDDEN] = hop.preamble_hidden;
    figures[GD_TUNE_FIGURE_WAIT] = own.wait_median;
    figures[GD_TUNE_FIGURE_OVERLAP] = hop.overlap_ratio;
    return GRIDDEP_OK;
}

/* A row of `values` is one figure of one hop, and has one column for each run; the chain's own
 * figures are taken with every hop. */
static int32_t run_once(griddep_tune *tune, griddep_chain *plain, griddep_timeline *timeline,
                        double *values, uint32_t runs, uint32_t run, griddep_error *error)
{
    griddep_timeline_info info = {.size = sizeof info};
    double figures[GD_TUNE_FIGURE_COUNT];
    int32_t status =
        gd_experiment_trace(&tune->experiment, plain, timeline, tune->options.mode, error);

    if (!status)
        status = griddep_timeline_get_info(timeline, &info, error);
    for (uint32_t i = 0; i < tune->launch_count && !status; i++) {
        status = read_hop(timeline, i, figures, error);
        figures[GD_TUNE_FIGURE_SPAN] = info.span;
        figures[GD_TUNE_FIGURE_IDLE] = info.idle_share;
        for (size_t k = 0; k < GD_TUNE_FIGURE_COUNT; k++)
            values[(i * (size_t)GD_TUNE_FIGURE_COUNT + k) * runs + run] = figures[k];
    }
    return status;
}

static int32_t run_all(griddep_tune *tune, griddep_chain *plain, griddep_timeline *timeline,
                       gd_tune_shown *shown, griddep_error *error)
{
    uint32_t runs = tune->info.model ? 1 : TRACED_RUNS;
    size_t rows = (size_t)tune->launch_count * GD_TUNE_FIGURE_COUNT;
    double *values = calloc(rows * runs, sizeof *values);
    int32_t status = GRIDDEP_OK;

    shown->hops = calloc(rows, sizeof *shown->hops);
    if (!values || !shown->hops)
        status = gd_error_memory(error);
    for (uint32_t i = 0; i < runs && !status; i++)
        status = run_once(tune, plain, timeline, values, runs, i, error);
    for (size_t i = 0; i < rows && !status; i++)
        shown->hops[i] = gd_statistics_median(values + i * runs, runs);
    shown->runs = status ? 0 : runs;
    free(values);
    return status;
}

/* ---- for the search ---- */

/* What only means that there is no timeline of this chain. */
static bool is_untraceable(int32_t status)
{
    return status == GRIDDEP_ERROR_UNSUPPORTED || status == GRIDDEP_ERROR_ARGUMENT ||
           status == GRIDDEP_ERROR_COMPILE || status == GRIDDEP_ERROR_SYNTAX ||
           status == GRIDDEP_ERROR_IMAGE || status == GRIDDEP_ERROR_LIMIT ||
           status == GRIDDEP_ERROR_REQUIREMENT;
}

int32_t gd_tune_look(griddep_tune *tune, const gd_tune_setup *setup, gd_tune_shown *shown,
                     griddep_error *error)
{
    griddep_timeline *timeline = NULL;
    griddep_error own;

    *shown = (gd_tune_shown){0};
    if (tune->untraced)
        return GRIDDEP_OK;
    griddep_error_init(&own);
    int32_t status = griddep_timeline_create(setup->chain, NULL, &timeline, &own);
    if (is_untraceable(status)) {
        tune->untraced = strdup(own.text);
        return tune->untraced ? GRIDDEP_OK : gd_error_memory(error);
    }
    if (status)
        return gd_error_set(error, status, "%s", own.text);
    status = gd_experiment_run(&tune->experiment, setup->chain, tune->options.mode, NULL, error);
    if (!status)
        status = run_all(tune, setup->chain, timeline, shown, error);
    griddep_timeline_destroy(timeline);
    if (status)
        gd_tune_shown_free(shown);
    return status;
}

void gd_tune_shown_free(gd_tune_shown *shown)
{
    free(shown->hops);
    *shown = (gd_tune_shown){0};
}

static bool is_launch_changed(const griddep_tune *tune, const gd_tune_setup *a,
                              const gd_tune_setup *b, uint32_t launch)
{
    const gd_tune_edit *one = &a->edits[tune->launches[launch].unit],
                       *other = &b->edits[tune->launches[launch].unit];

    return a->pdl[launch] != b->pdl[launch] ||
           !gd_tune_same_shape(a->shapes[launch], b->shapes[launch]) ||
           a->carveouts[launch] != b->carveouts[launch] || one->wait != other->wait ||
           one->trigger != other->trigger || one->round != other->round ||
           one->prefetch != other->prefetch || one->prefetch_bytes != other->prefetch_bytes;
}

/* The mean of a figure over the hops that are touched. */
static double mean(const griddep_tune *tune, const gd_tune_shown *shown, const bool *touched,
                   size_t figure, uint32_t *count)
{
    double sum = 0;

    *count = 0;
    for (uint32_t i = 0; i < tune->launch_count; i++) {
        double value = shown->hops[i * (size_t)GD_TUNE_FIGURE_COUNT + figure];
        if (!touched[i] || isnan(value))
            continue;
        sum += value;
        ++*count;
    }
    return *count ? sum / *count : NAN;
}

int32_t gd_tune_compare_shown(const griddep_tune *tune, const gd_tune_compared *before,
                              const gd_tune_compared *after, gd_tune_reason *reason,
                              griddep_error *error)
{
    if (!before->shown->runs || !after->shown->runs)
        return GRIDDEP_OK;
    bool *touched = calloc(tune->launch_count, sizeof *touched);
    if (!touched)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < tune->launch_count; i++) {
        uint32_t from = gd_chain_previous(tune->launches[i].chained);
        touched[i] =
            is_launch_changed(tune, before->setup, after->setup, i) ||
            (from != GD_CHAIN_NONE && is_launch_changed(tune, before->setup, after->setup, from));
    }
    *reason = (gd_tune_reason){.runs = after->shown->runs};
    for (size_t k = 0; k < GD_TUNE_FIGURE_COUNT; k++) {
        uint32_t count;
        reason->before[k] = mean(tune, before->shown, touched, k, &count);
        reason->after[k] = mean(tune, after->shown, touched, k, &count);
        if (k == GD_TUNE_FIGURE_LEAD) /* which every hop has */
            reason->hops = count;
    }
    free(touched);
    return GRIDDEP_OK;
}

/* ---- public ---- */

int32_t gd_tune_get_reason(const griddep_tune *tune, int32_t trial, gd_tune_reason *reason,
                           griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!tune || !reason)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", tune ? "reason" : "tune");
    if (trial != GD_TUNE_WHOLE && (trial < 0 || (uint32_t)trial >= tune->info.trial_count))
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "there is no trial %d", (int)trial);
    const gd_tune_reason *known =
        trial == GD_TUNE_WHOLE ? &tune->reason : &tune->trials[trial].reason;
    if (!known->runs && tune->untraced)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED, "%s", tune->untraced);
    if (!known->runs)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "trial %d was not traced", (int)trial);
    *reason = *known;
    return GRIDDEP_OK;
}

/* The search: the noise first, then shapes of the shelf's kernels, then kernel by kernel what its
 * text allows, then launches without PDL, other grids and carve-outs, and at the end the whole
 * against the chain as it was given. What a stage finds best is what the next one starts from.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "base/format.h"
#include "measure/tune.h"
#include "ptx/handle/ptx.h"
#include "run/module/shape.h"
#include "run/runtime.h"

enum { MOST_LAUNCHES_ALONE = 32, MOST_LAUNCHES_TRACED = 64, LAST_RUNS = 3, PROMISING = 3 };

/* A trial that is slower by at least this is not timed to its end. */
static const double hopeless_least = 0.02;

static const uint64_t budgets[] = {1 << 16, 1 << 18, 1 << 20, 1 << 22, 1 << 24};

/* Of a loop, counted from 0. One that the loop does not come to is as if there were no trigger. */
static const uint32_t rounds[] = {1, 3, 7, 15, 31};

enum { BUDGETS = sizeof budgets / sizeof *budgets, ROUNDS = sizeof rounds / sizeof *rounds };

/* A candidate that was timed, kept for the end of its stage. */
typedef struct candidate {
    gd_tune_setup setup;
    uint32_t trial;
    double ratio; /* 0: there is none */
} candidate;

/* What a stage has found: the fastest of its candidates, in their order, and the slowest, which is
 * only kept to be traced. */
typedef struct stage {
    griddep_tune *tune;
    uint32_t launch; /* the first that its candidates change */
    candidate fastest[PROMISING], slowest;
} stage;

/* The library does without libm. */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- the list of trials ---- */

static gd_tune_trial *add_trial(griddep_tune *tune, uint32_t launch, const char *text,
                                griddep_error *error)
{
    if (tune->info.trial_count == tune->trial_capacity) {
        uint32_t capacity = tune->trial_capacity ? 2 * tune->trial_capacity : 64;
        gd_tune_trial *more = realloc(tune->trials, capacity * sizeof *more);
        if (!more) {
            gd_error_memory(error);
            return NULL;
        }
        tune->trials = more;
        tune->trial_capacity = capacity;
    }
    gd_tune_trial *trial = &tune->trials[tune->info.trial_count++];
    *trial = (gd_tune_trial){.info = {.size = sizeof trial->info, .launch = launch},
                             .kernel = strdup(tune->units[tune->launches[launch].unit].name),
                             .text = strdup(text),
                             .detail = strdup("")};
    if (trial->kernel && trial->text && trial->detail)
        return trial;
    gd_error_memory(error);
    return NULL;
}

static int32_t set_detail(gd_tune_trial *trial, int32_t outcome, const char *detail,
                          griddep_error *error)
{
    char *copy = strdup(detail);

    trial->info.outcome = outcome;
    if (!copy)
        return gd_error_memory(error);
    free(trial->detail);
    trial->detail = copy;
    return GRIDDEP_OK;
}

/* ---- what was tried already ---- */

static void digest_of(const griddep_tune *tune, const gd_tune_setup *setup, uint8_t digest[32])
{
    gd_digest state;

    gd_digest_begin(&state);
    for (uint32_t i = 0; i < tune->source_count; i++) {
        const griddep_ptx *ptx = gd_tune_text_of(tune, setup, i);
        gd_digest_add_string(&state, ptx ? ptx->module.text : "");
    }
    gd_digest_add(&state, setup->pdl, tune->launch_count * sizeof *setup->pdl);
    gd_digest_add(&state, setup->shapes, tune->launch_count * sizeof *setup->shapes);
    gd_digest_add(&state, setup->carveouts, tune->launch_count * sizeof *setup->carveouts);
    gd_digest_end(&state, digest);
}

/* Whether a setup comes to what was tried before; it is from now on. */
static int32_t is_known(griddep_tune *tune, const gd_tune_setup *setup, bool *known,
                        griddep_error *error)
{
    uint8_t digest[32];

    digest_of(tune, setup, digest);
    *known = false;
    for (uint32_t i = 0; i < tune->tried_count && !*known; i++)
        *known = !memcmp(tune->tried[i], digest, sizeof digest);
    if (*known)
        return GRIDDEP_OK;
    if (tune->tried_count == tune->tried_capacity) {
        uint32_t capacity = tune->tried_capacity ? 2 * tune->tried_capacity : 64;
        void *more = realloc(tune->tried, capacity * sizeof *tune->tried);
        if (!more)
            return gd_error_memory(error);
        tune->tried = more;
        tune->tried_capacity = capacity;
    }
    memcpy(tune->tried[tune->tried_count++], digest, sizeof digest);
    return GRIDDEP_OK;
}

/* ---- one trial ---- */

static bool is_refusal(int32_t status)
{
    return status == GRIDDEP_ERROR_COMPILE || status == GRIDDEP_ERROR_SYNTAX ||
           status == GRIDDEP_ERROR_IMAGE || status == GRIDDEP_ERROR_LIMIT ||
           status == GRIDDEP_ERROR_REQUIREMENT || status == GRIDDEP_ERROR_UNSUPPORTED ||
           status == GRIDDEP_ERROR_DRIVER;
}

/* Rewrites and checks; the trial's outcome is set where it ends there, and *goes_on is false. */
static int32_t judge(griddep_tune *tune, gd_tune_setup *setup, gd_tune_trial *trial, bool *goes_on,
                     griddep_error *error)
{
    griddep_error own;
    uint32_t errors, warnings;
    gd_text first = {0};
    bool known;

    griddep_error_init(&own);
    *goes_on = false;
    int32_t status = gd_tune_rewrite(tune, setup, &own);
    if (status == GRIDDEP_ERROR_UNSUPPORTED || status == GRIDDEP_ERROR_ARGUMENT)
        return set_detail(trial, GRIDDEP_TUNE_OUTCOME_NO_PLACE, own.text, error);
    if (status)
        return gd_error_set(error, status, "%s", own.text);
    status = is_known(tune, setup, &known, error);
    if (status || known)
        return status ? status
                      : set_detail(trial, GRIDDEP_TUNE_OUTCOME_SAME,
                                   "the same text was tried before", error);
    status = gd_tune_check(tune, setup, &errors, &warnings, &first, error);
    if (!status && (errors || warnings > tune->warnings))
        status = set_detail(trial, GRIDDEP_TUNE_OUTCOME_ILLEGAL, gd_text_get(&first), error);
    else
        *goes_on = !status;
    gd_text_free(&first);
    return status;
}

/* Loads, and runs once; likewise. */
static int32_t prove(griddep_tune *tune, gd_tune_setup *setup, gd_tune_trial *trial, bool *goes_on,
                     griddep_error *error)
{
    griddep_error own;
    uint32_t different = 0;
    char detail[96];

    griddep_error_init(&own);
    *goes_on = false;
    int32_t status = gd_tune_realize(tune, setup, false, &own);
    if (!status)
        status = griddep_chain_prepare(setup->chain, tune->options.mode, &own);
    if (is_refusal(status))
        return set_detail(trial, GRIDDEP_TUNE_OUTCOME_REFUSED, own.text, error);
    if (status)
        return gd_error_set(error, status, "%s", own.text);
    status = gd_tune_run_compared(tune, setup->chain, &different, error);
    if (status)
        return status;
    tune->info.ran_count++;
    *goes_on = !different;
    snprintf(detail, sizeof detail, "buffers[%" PRIu32 "] is not as the serial run leaves it",
             different - 1);
    return different ? set_detail(trial, GRIDDEP_TUNE_OUTCOME_DIFFERENT, detail, error)
                     : GRIDDEP_OK;
}

static int32_t time_trial(griddep_tune *tune, gd_tune_setup *setup, gd_tune_trial *trial,
                          griddep_error *error)
{
    gd_tune_ratio ratio;
    double hopeless = larger(2 * tune->info.noise, hopeless_least);
    int32_t status = gd_tune_pairs(tune, tune->best.chain, setup->chain, tune->options.pairs,
                                   hopeless, &ratio, error);

    if (status)
        return status;
    trial->info.ratio = ratio.median;
    trial->info.lowest = ratio.lowest;
    trial->info.highest = ratio.highest;
    trial->info.pairs = ratio.pairs;
    trial->info.outcome = ratio.pairs < tune->options.pairs ? GRIDDEP_TUNE_OUTCOME_SLOWER
                          : ratio.median < 1 - tune->info.threshold
                              ? GRIDDEP_TUNE_OUTCOME_BETTER
                              : GRIDDEP_TUNE_OUTCOME_NOT_BETTER;
    return GRIDDEP_OK;
}

static void replace(stage *of, candidate *kept, gd_tune_setup *setup, double ratio)
{
    gd_tune_setup_free(of->tune, &kept->setup);
    *kept = (candidate){.setup = *setup, .trial = of->tune->info.trial_count - 1, .ratio = ratio};
    *setup = (gd_tune_setup){0};
}

static bool is_ahead(const candidate *kept, double ratio)
{
    return kept->ratio > 0 && kept->ratio <= ratio;
}

/* Puts a setup where it belongs in the order; the last one gives way. */
static void keep_promising(stage *of, gd_tune_setup *setup, double ratio)
{
    size_t place = 0;

    while (place < PROMISING && is_ahead(&of->fastest[place], ratio))
        place++;
    if (place == PROMISING) {
        gd_tune_setup_free(of->tune, setup);
        return;
    }
    gd_tune_setup_free(of->tune, &of->fastest[PROMISING - 1].setup);
    memmove(&of->fastest[place + 1], &of->fastest[place],
            (PROMISING - 1 - place) * sizeof *of->fastest);
    of->fastest[place] = (candidate){0};
    replace(of, &of->fastest[place], setup, ratio);
}

/* Of the last trial: kept where it is among the fastest, or the slowest, of its stage, else
 * freed. */
static void keep_extremes(stage *of, gd_tune_setup *setup, const gd_tune_trial *trial)
{
    double ratio = trial ? trial->info.ratio : 0;

    if (trial && trial->info.outcome == GRIDDEP_TUNE_OUTCOME_BETTER)
        keep_promising(of, setup, ratio);
    else if (ratio > 1 + of->tune->info.threshold && ratio > of->slowest.ratio)
        replace(of, &of->slowest, setup, ratio);
    else
        gd_tune_setup_free(of->tune, setup);
}

/* Tries a setup, which is used up. Nothing happens once the search was stopped. */
static int32_t try_setup(stage *of, gd_tune_setup *setup, const char *text, griddep_error *error)
{
    griddep_tune *tune = of->tune;
    gd_tune_trial *trial = NULL;
    bool goes_on = false;
    int32_t status = GRIDDEP_OK;

    if (!tune->info.stopped && tune->options.progress)
        tune->info.stopped = tune->options.progress(tune->options.progress_user,
                                                    tune->info.trial_count, tune->most, text) != 0;
    if (!tune->info.stopped) {
        trial = add_trial(tune, of->launch, text, error);
        status = trial ? judge(tune, setup, trial, &goes_on, error) : GRIDDEP_ERROR_MEMORY;
        if (!status && goes_on)
            status = prove(tune, setup, trial, &goes_on, error);
        if (!status && goes_on)
            status = time_trial(tune, setup, trial, error);
    }
    keep_extremes(of, setup, status ? NULL : trial);
    return status;
}

static int32_t look_at_best(griddep_tune *tune, griddep_error *error)
{
    return tune->best_shown.runs ? GRIDDEP_OK
                                 : gd_tune_look(tune, &tune->best, &tune->best_shown, error);
}

/* Why a candidate is faster or slower than the best before it; what was seen of it goes to *shown,
 * to be freed. */
static int32_t explain(griddep_tune *tune, const candidate *one, gd_tune_shown *shown,
                       griddep_error *error)
{
    const gd_tune_compared before = {&tune->best, &tune->best_shown}, after = {&one->setup, shown};
    bool is_traced =
        one->ratio > 0 && !tune->info.stopped && tune->launch_count <= MOST_LAUNCHES_TRACED;
    int32_t status = is_traced ? look_at_best(tune, error) : GRIDDEP_OK;

    *shown = (gd_tune_shown){0};
    if (status || !is_traced)
        return status;
    status = gd_tune_look(tune, &one->setup, shown, error);
    return status ? status
                  : gd_tune_compare_shown(tune, &before, &after, &tune->trials[one->trial].reason,
                                          error);
}

/* Measures a candidate anew, and notes what came of it. */
static int32_t confirm(griddep_tune *tune, const candidate *one, bool *holds, griddep_error *error)
{
    gd_tune_trial *trial = &tune->trials[one->trial];
    gd_tune_proof proof;
    char detail[96];
    int32_t status = gd_tune_confirm(tune, &tune->best, &one->setup, &proof, error);

    *holds = !status && proof.holds;
    if (status)
        return status;
    trial->info.again = proof.ratio;
    trial->info.needed = proof.needed;
    if (proof.holds)
        return GRIDDEP_OK;
    gd_format(detail, sizeof detail, "measured anew: %+.2f %%; it counts from -%.2f %% on",
              (proof.ratio - 1) * 100, proof.needed * 100);
    return set_detail(trial, GRIDDEP_TUNE_OUTCOME_UNCONFIRMED, detail, error);
}

/* The fastest that holds when it is measured anew is what goes on from here. */
static int32_t choose(stage *of, griddep_error *error)
{
    griddep_tune *tune = of->tune;
    gd_tune_shown shown = {0};
    bool holds = false;
    int32_t status = GRIDDEP_OK;

    for (size_t i = 0; i < PROMISING && of->fastest[i].ratio > 0 && !holds && !status; i++) {
        candidate *one = &of->fastest[i];
        status = confirm(tune, one, &holds, error);
        if (!status && holds)
            status = explain(tune, one, &shown, error);
        if (status)
            gd_tune_shown_free(&shown);
        if (status || !holds)
            continue;
        gd_tune_setup_free(tune, &tune->best);
        gd_tune_shown_free(&tune->best_shown);
        tune->best = one->setup;
        tune->best_shown = shown;
        one->setup = (gd_tune_setup){0};
    }
    return status;
}

static int32_t end_stage(stage *of, int32_t status, griddep_error *error)
{
    griddep_tune *tune = of->tune;
    gd_tune_shown shown = {0};

    if (!status)
        status = explain(tune, &of->slowest, &shown, error);
    gd_tune_shown_free(&shown);
    if (!status)
        status = choose(of, error);
    gd_tune_setup_free(tune, &of->slowest.setup);
    for (size_t i = 0; i < PROMISING; i++)
        gd_tune_setup_free(tune, &of->fastest[i].setup);
    *of = (stage){.tune = tune, .launch = of->launch};
    return status;
}

/* ---- stages: one kernel's text ---- */

/* Tries a setup under a name that was put together, unless making them failed (`status`); takes
 * both. */
static int32_t try_described(stage *of, gd_tune_setup *setup, gd_text *text, int32_t status,
                             griddep_error *error)
{
    if (!status && text->failed)
        status = gd_error_memory(error);
    if (status)
        gd_tune_setup_free(of->tune, setup);
    else
        status = try_setup(of, setup, gd_text_get(text), error);
    gd_text_free(text);
    return status;
}

static int32_t try_edit(stage *of, uint32_t unit, const gd_tune_edit *edit, griddep_error *error)
{
    gd_tune_setup setup;
    gd_text text = {0};
    int32_t status = gd_tune_setup_copy(of->tune, &of->tune->best, &setup, error);

    gd_tune_describe_edit(edit, &text);
    if (!status)
        setup.edits[unit] = *edit;
    return try_described(of, &setup, &text, status, error);
}

/* A kernel that does not wait gets a wait with each trigger where it has something to wait for. */
static int32_t try_triggers(stage *of, uint32_t unit, griddep_error *error)
{
    static const int32_t triggers[] = {GRIDDEP_TRIGGER_REMOVE,        GRIDDEP_TRIGGER_START,
                                       GRIDDEP_TRIGGER_AFTER_WAIT,    GRIDDEP_TRIGGER_AFTER_LOADS,
                                       GRIDDEP_TRIGGER_BEFORE_STORES, GRIDDEP_TRIGGER_END};
    const gd_tune_unit *kernel = &of->tune->units[unit];
    bool inserts = kernel->has_before && !(kernel->traits & GRIDDEP_TRAIT_WAITS);
    gd_tune_edit edit = {.wait = inserts ? GRIDDEP_WAIT_INSERT : GRIDDEP_WAIT_KEEP};
    int32_t status = inserts ? try_edit(of, unit, &edit, error) : GRIDDEP_OK;

    for (size_t i = 0; i < sizeof triggers / sizeof *triggers && kernel->has_behind && !status;
         i++) {
        edit.trigger = triggers[i];
        status = try_edit(of, unit, &edit, error);
    }
    edit.trigger = GRIDDEP_TRIGGER_LOOP;
    for (size_t i = 0; i < ROUNDS && kernel->has_behind && !status; i++) {
        edit.round = rounds[i];
        status = try_edit(of, unit, &edit, error);
    }
    return status;
}

/* The wait at the latest place that is safe, with the trigger as it is now and as early as can
 * be. */
static int32_t try_waits(stage *of, uint32_t unit, griddep_error *error)
{
    const gd_tune_unit *kernel = &of->tune->units[unit];
    gd_tune_edit edit = of->tune->best.edits[unit];

    if (!kernel->has_before || !(kernel->traits & GRIDDEP_TRAIT_WAITS))
        return GRIDDEP_OK;
    edit.wait = GRIDDEP_WAIT_MOVE;
    int32_t status = try_edit(of, unit, &edit, error);
    edit.trigger = GRIDDEP_TRIGGER_START;
    edit.round = 0;
    return status || !kernel->has_behind ? status : try_edit(of, unit, &edit, error);
}

static int32_t try_prefetches(stage *of, uint32_t unit, griddep_error *error)
{
    const gd_tune_unit *kernel = &of->tune->units[unit];
    gd_tune_edit edit = of->tune->best.edits[unit];
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < kernel->constant_count && kernel->has_before; i++) {
        uint64_t most = kernel->constants[i].bytes & ~(uint64_t)15;
        edit.prefetch = kernel->constants[i].name;
        for (size_t k = 0; k < BUDGETS && most && !status; k++) {
            bool is_all = most <= budgets[k];
            edit.prefetch_bytes = is_all ? most : budgets[k];
            status = try_edit(of, unit, &edit, error);
            if (is_all)
                break;
        }
    }
    return status;
}

static int32_t tune_unit(griddep_tune *tune, uint32_t unit, griddep_error *error)
{
    static int32_t (*const stages[])(stage *, uint32_t, griddep_error *) = {try_triggers, try_waits,
                                                                            try_prefetches};
    int32_t status = GRIDDEP_OK;

    if (!tune->sources[tune->units[unit].source].ptx)
        return GRIDDEP_OK;
    for (size_t i = 0; i < sizeof stages / sizeof *stages && !status; i++) {
        stage now = {.tune = tune, .launch = tune->units[unit].first};
        status = end_stage(&now, stages[i](&now, unit, error), error);
    }
    return status;
}

/* ---- stages: launches ---- */

/* PDL off for the launches of a kernel, or of all (GD_TUNE_NONE), or for a single launch. */
static int32_t try_off(stage *of, uint32_t unit, uint32_t launch, const char *text,
                       griddep_error *error)
{
    gd_tune_setup setup;
    int32_t status = gd_tune_setup_copy(of->tune, &of->tune->best, &setup, error);

    for (uint32_t i = 0; i < of->tune->launch_count && !status; i++)
        if ((unit == GD_TUNE_NONE || unit == of->tune->launches[i].unit) &&
            (launch == GD_TUNE_NONE || launch == i) && gd_chain_call(of->tune->launches[i].chained))
            setup.pdl[i] = GRIDDEP_PDL_OFF;
    if (!status)
        return try_setup(of, &setup, text, error);
    gd_tune_setup_free(of->tune, &setup);
    return status;
}

static int32_t tune_off(griddep_tune *tune, griddep_error *error)
{
    stage now = {.tune = tune};
    int32_t status = try_off(&now, GD_TUNE_NONE, GD_TUNE_NONE, "pdl off for all launches", error);

    for (uint32_t i = 0; i < tune->unit_count && !status; i++) {
        now.launch = tune->units[i].first;
        if (!gd_chain_call(tune->launches[now.launch].chained))
            continue;
        status = try_off(&now, i, GD_TUNE_NONE, "pdl off for the kernel's launches", error);
    }
    for (uint32_t i = 1;
         i < tune->launch_count && tune->launch_count <= MOST_LAUNCHES_ALONE && !status; i++) {
        now.launch = i;
        if (!gd_chain_call(tune->launches[i].chained))
            continue;
        status = try_off(&now, GD_TUNE_NONE, i, "pdl off for this launch", error);
    }
    return end_stage(&now, status, error);
}

/* Whether a launch has the shapes of another one: it is like it, and offers no grids of its own. */
static bool goes_with(const griddep_tune *tune, uint32_t launch, uint32_t other)
{
    return !tune->launches[launch].offer.grid_count && gd_tune_alike(tune, launch, other);
}

/* A shape for a launch, or for all that go with it. */
static int32_t try_shape(stage *of, uint32_t launch, gd_tune_shape shape, bool all,
                         griddep_error *error)
{
    gd_tune_setup setup;
    gd_text text = {0};
    int32_t status = gd_tune_setup_copy(of->tune, &of->tune->best, &setup, error);

    gd_tune_describe_shape(shape, of->tune->best.shapes[launch], &text);
    for (uint32_t i = launch; i < of->tune->launch_count && !status; i++)
        if (i == launch || (all && goes_with(of->tune, i, launch)))
            setup.shapes[i] = shape;
    return try_described(of, &setup, &text, status, error);
}

/* The grids that are offered. */
static int32_t tune_grids(griddep_tune *tune, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < tune->launch_count && !status; i++) {
        stage now = {.tune = tune, .launch = i};
        for (uint32_t k = 0; k < tune->launches[i].offer.grid_count && !status; k++) {
            gd_tune_shape shape = tune->best.shapes[i];
            shape.grid = tune->launches[i].offer.grids[k];
            status = try_shape(&now, i, shape, false, error);
        }
        status = end_stage(&now, status, error);
    }
    return status;
}

/* ---- stages: shapes of the shelf ---- */

/* Whether no launch before it is alike. */
static bool is_first_alike(const griddep_tune *tune, uint32_t launch)
{
    for (uint32_t i = 0; i < launch; i++)
        if (goes_with(tune, i, launch))
            return false;
    return true;
}

/* The kernel's name, where its text is the shelf's. */
static const char *shelf_name(const griddep_tune *tune, uint32_t launch)
{
    const gd_tune_unit *unit = &tune->units[tune->launches[launch].unit];
    const griddep_ptx *ptx = tune->sources[unit->source].ptx;
    griddep_shelf_info entry = {.size = sizeof entry};

    if (!ptx || griddep_shelf_find(unit->name, tune->runtime->info.capability, &entry, NULL) ||
        strcmp(entry.text, ptx->module.text) != 0)
        return NULL;
    return unit->name;
}

/* Shapes of the kernel's family that its head comment allows, but for the one that it has now. A
 * launch that goes with one before it has none of its own. */
static uint32_t list_shapes(const griddep_tune *tune, uint32_t launch,
                            gd_tune_shape shapes[GD_SHAPE_MOST])
{
    const bool asks = !tune->launches[launch].offer.grid_count && is_first_alike(tune, launch);
    const char *name = asks ? shelf_name(tune, launch) : NULL;
    griddep_launch_config config;
    uint32_t count = 0;

    for (uint32_t i = 0; name && gd_shape_get(name, &tune->runtime->info, i, &config); i++) {
        const gd_tune_shape shape = {config.grid[0], config.block[0], config.shared_bytes};
        if (!gd_tune_same_shape(shape, tune->best.shapes[launch]) &&
            gd_tune_takes(tune, launch, shape))
            shapes[count++] = shape;
    }
    return count;
}

/* Launches that are alike have one shape: they stand in layers that are. */
static int32_t tune_shape(griddep_tune *tune, uint32_t launch, griddep_error *error)
{
    stage now = {.tune = tune, .launch = launch};
    gd_tune_shape shapes[GD_SHAPE_MOST];
    uint32_t count = list_shapes(tune, launch, shapes);
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < count && !status; i++)
        status = try_shape(&now, launch, shapes[i], true, error);
    return end_stage(&now, status, error);
}

enum { SHAPE_TURNS = 2 };

/* Once more where something changed: what is best for a launch depends on its neighbours. */
static int32_t tune_shapes(griddep_tune *tune, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;
    bool changed = true;

    for (int turn = 0; turn < SHAPE_TURNS && changed && !status; turn++) {
        changed = false;
        for (uint32_t i = 0; i < tune->launch_count && !status; i++) {
            const gd_tune_shape before = tune->best.shapes[i];
            status = tune_shape(tune, i, error);
            changed |= !gd_tune_same_shape(before, tune->best.shapes[i]);
        }
    }
    return status;
}

/* ---- stages: carve-outs ---- */

static bool offers(const griddep_tune_offer *offer, int32_t carveout)
{
    for (uint32_t i = 0; i < offer->carveout_count; i++)
        if (offer->carveouts[i] == carveout)
            return true;
    return false;
}

/* A carve-out for a launch, or (GD_TUNE_NONE) for all that offer it. */
static int32_t try_carveout(stage *of, uint32_t launch, int32_t carveout, griddep_error *error)
{
    gd_tune_setup setup;
    gd_text text = {0};
    int32_t status = gd_tune_setup_copy(of->tune, &of->tune->best, &setup, error);

    gd_tune_describe_carveout(carveout, &text);
    gd_text_string(&text, launch == GD_TUNE_NONE ? " for all that offer it" : "");
    for (uint32_t i = 0; i < of->tune->launch_count && !status; i++)
        if (launch == GD_TUNE_NONE ? offers(&of->tune->launches[i].offer, carveout) : launch == i)
            setup.carveouts[i] = carveout;
    return try_described(of, &setup, &text, status, error);
}

/* A multiprocessor keeps its carve-out until it is empty, so a kernel beside others of the same one
 * does best: first all launches together, each value once, then one by one. */
static int32_t tune_carveouts(griddep_tune *tune, griddep_error *error)
{
    stage all = {.tune = tune};
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < tune->launch_count && !status; i++) {
        all.launch = i;
        for (uint32_t k = 0; k < tune->launches[i].offer.carveout_count && !status; k++)
            status = try_carveout(&all, GD_TUNE_NONE, tune->launches[i].offer.carveouts[k], error);
    }
    status = end_stage(&all, status, error);
    for (uint32_t i = 0; i < tune->launch_count && !status; i++) {
        stage now = {.tune = tune, .launch = i};
        for (uint32_t k = 0; k < tune->launches[i].offer.carveout_count && !status; k++)
            status = try_carveout(&now, i, tune->launches[i].offer.carveouts[k], error);
        status = end_stage(&now, status, error);
    }
    return status;
}

/* ---- the end ---- */

static bool is_changed(const griddep_tune *tune)
{
    for (uint32_t i = 0; i < tune->launch_count; i++)
        if (tune->best.pdl[i] != tune->given.pdl[i] ||
            !gd_tune_same_shape(tune->best.shapes[i], tune->given.shapes[i]) ||
            tune->best.carveouts[i] != tune->given.carveouts[i])
            return true;
    for (uint32_t i = 0; i < tune->source_count; i++)
        if (tune->best.texts[i])
            return true;
    return false;
}

static int32_t drop_all(griddep_tune *tune, griddep_error *error)
{
    gd_tune_setup_free(tune, &tune->best);
    return gd_tune_setup_copy(tune, NULL, &tune->best, error);
}

/* Why the whole is faster. */
static int32_t explain_whole(griddep_tune *tune, griddep_error *error)
{
    gd_tune_shown given;
    const gd_tune_compared before = {&tune->given, &given},
                           after = {&tune->best, &tune->best_shown};
    int32_t status = gd_tune_look(tune, &tune->given, &given, error);

    if (!status)
        status = look_at_best(tune, error);
    if (!status)
        status = gd_tune_compare_shown(tune, &before, &after, &tune->reason, error);
    gd_tune_shown_free(&given);
    return status;
}

/* All that was chosen runs together; each stage saw its own part alone. */
static int32_t confirm_whole(griddep_tune *tune, griddep_error *error)
{
    gd_tune_proof proof = {0};
    uint32_t different = 0;
    int32_t status = GRIDDEP_OK;

    tune->info.ratio = tune->info.lowest = tune->info.highest = 1;
    if (!is_changed(tune))
        return GRIDDEP_OK;
    for (uint32_t i = 0; i < LAST_RUNS && !different && !status; i++)
        status = gd_tune_run_compared(tune, tune->best.chain, &different, error);
    if (!status)
        status = gd_tune_confirm(tune, &tune->given, &tune->best, &proof, error);
    if (status)
        return status;
    tune->info.baseline_ns = tune->info.chosen_ns = 1e3 * proof.before_us;
    tune->info.last_ratio = different ? (double)NAN : proof.ratio;
    tune->info.last_needed = proof.needed;
    if (different || !proof.holds)
        return drop_all(tune, error);
    tune->info.changed = 1;
    tune->info.chosen_ns = 1e3 * proof.after_us;
    tune->info.ratio = proof.ratio;
    tune->info.lowest = proof.lowest;
    tune->info.highest = proof.highest;
    return explain_whole(tune, error);
}

static uint32_t count_trials(const griddep_tune *tune)
{
    gd_tune_shape shapes[GD_SHAPE_MOST];
    uint32_t count = 0;

    for (uint32_t i = 0; i < tune->launch_count; i++)
        count += SHAPE_TURNS * list_shapes(tune, i, shapes);
    if (tune->options.flags & GRIDDEP_TUNE_FLAG_SHAPES)
        return count;
    count += 1 + tune->unit_count;
    for (uint32_t i = 0; i < tune->unit_count; i++)
        count += tune->sources[tune->units[i].source].ptx
                     ? 9 + ROUNDS + tune->units[i].constant_count * BUDGETS
                     : 0;
    for (uint32_t i = 0; i < tune->launch_count; i++)
        count += tune->launches[i].offer.grid_count + 2 * tune->launches[i].offer.carveout_count +
                 (i && tune->launch_count <= MOST_LAUNCHES_ALONE);
    return count;
}

static int32_t tune_others(griddep_tune *tune, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < tune->unit_count && !status; i++)
        status = tune_unit(tune, i, error);
    if (!status)
        status = tune_off(tune, error);
    if (!status)
        status = tune_grids(tune, error);
    return status ? status : tune_carveouts(tune, error);
}

int32_t gd_tune_search(griddep_tune *tune, griddep_error *error)
{
    bool known;
    int32_t status = gd_tune_setup_copy(tune, NULL, &tune->best, error);

    if (!status)
        status = is_known(tune, &tune->given, &known, error);
    if (!status)
        status = gd_tune_realize(tune, &tune->best, false, error);
    if (!status)
        status = gd_tune_measure_noise(tune, error);
    tune->most = count_trials(tune);
    if (!status)
        status = tune_shapes(tune, error);
    if (!(tune->options.flags & GRIDDEP_TUNE_FLAG_SHAPES) && !status)
        status = tune_others(tune, error);
    return status ? status : confirm_whole(tune, error);
}

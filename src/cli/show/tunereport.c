/* The report of a tuning, as text and as JSON. */
#include "cli/show/tunereport.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

#include "cli/io/device.h"
#include "cli/io/output.h"
#include "run/private.h"

static griddep_tune_info info_of(const gd_tunereport *report)
{
    griddep_tune_info info = {.size = sizeof(info)};
    griddep_tune_get_info(report->tune, &info, NULL);
    return info;
}

/* How much faster, in percent of the time before: 3 for a ratio of 0.97. */
static double gain(double ratio)
{
    double percent = (1.0 - ratio) * 100.0;
    return fabs(percent) < 0.005 ? -0.0 : percent; /* printed with its sign turned */
}

/* ---- text ---- */

static void add_trial(gd_columns *columns, const griddep_tune_trial *trial)
{
    gd_columns_add(columns, "%u", (unsigned)trial->launch);
    gd_columns_add(columns, "%s", trial->kernel);
    gd_columns_add(columns, "%s", trial->text);
    gd_columns_add(columns, "%s", griddep_text(GRIDDEP_TEXT_TUNE_OUTCOME, trial->outcome));
    if (trial->ratio > 0.0) {
        gd_columns_add(columns, "%+.2f %%", -gain(trial->ratio));
        gd_columns_add(columns, "%+.2f to %+.2f", -gain(trial->lowest), -gain(trial->highest));
        gd_columns_add(columns, "%u", (unsigned)trial->pairs);
    } else {
        for (int i = 0; i < 3; i++)
            gd_columns_add(columns, "-");
    }
    if (trial->again > 0.0 && trial->detail[0] == '\0')
        gd_columns_add(columns, "measured anew: %+.2f %%", -gain(trial->again));
    else
        gd_columns_add(columns, "%.*s", 100, trial->detail[0] != '\0' ? trial->detail : "-");
}

/* What came to a text that was tried before is not worth a line. */
static void print_trials(const gd_tunereport *report)
{
    gd_columns columns = {
        .column_count = 8, .left = 1U << 1 | 1U << 2 | 1U << 3 | 1U << 7, .titled = true};
    static const char *const titles[] = {"launch", "kernel",      "tried", "outcome",
                                         "time",   "middle 80 %", "pairs", "why"};
    griddep_tune_trial trial = {.size = sizeof(trial)};
    for (size_t i = 0; i < 8; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (uint32_t i = 0; griddep_tune_get_trial(report->tune, i, &trial, NULL) == GRIDDEP_OK; i++)
        if (trial.outcome != GRIDDEP_TUNE_OUTCOME_SAME)
            add_trial(&columns, &trial);
    if (columns.cell_count > 8)
        gd_columns_print(&columns);
    gd_columns_free(&columns);
}

/* ---- why ---- */

static bool reason_of(const gd_tunereport *report, int32_t trial, gd_tune_reason *reason)
{
    *reason = (gd_tune_reason){0};
    return gd_tune_get_reason(report->tune, trial, reason, NULL) == GRIDDEP_OK;
}

/* "1.20 -> 0.85"; factor is what a figure is multiplied with to be shown. */
static void add_change(gd_columns *columns, const gd_tune_reason *reason, int figure, double factor)
{
    double before = reason->before[figure] * factor, after = reason->after[figure] * factor;
    if (isnan(before) && isnan(after))
        gd_columns_add(columns, "-");
    else if (isnan(before))
        gd_columns_add(columns, "none -> %.2f", after);
    else if (isnan(after))
        gd_columns_add(columns, "%.2f -> none", before);
    else
        gd_columns_add(columns, "%.2f -> %.2f", before, after);
}

static void add_changes(gd_columns *columns, const gd_tune_reason *reason)
{
    static const int times[] = {GD_TUNE_FIGURE_GAP, GD_TUNE_FIGURE_WORK, GD_TUNE_FIGURE_LEAD,
                                GD_TUNE_FIGURE_HIDDEN, GD_TUNE_FIGURE_WAIT};
    gd_columns_add(columns, "%u", (unsigned)reason->hops);
    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
        add_change(columns, reason, times[i], 1e-3);
    add_change(columns, reason, GD_TUNE_FIGURE_OVERLAP, 100.0);
}

/* A table with a row for each trial that was traced, and one for the whole. */
static void print_reasons(const gd_tunereport *report)
{
    static const char *const titles[] = {"launch",  "tried",       "time",   "hops", "hand-off gap",
                                         "at work", "launch lead", "hidden", "wait", "overlap %"};
    enum { TITLES = sizeof(titles) / sizeof(*titles) };
    gd_columns columns = {.column_count = TITLES, .left = 1U << 1, .titled = true};
    griddep_tune_info info = info_of(report);
    griddep_tune_trial trial = {.size = sizeof(trial)};
    gd_tune_reason reason;
    uint32_t runs = 0;
    for (size_t i = 0; i < TITLES; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (uint32_t i = 0; griddep_tune_get_trial(report->tune, i, &trial, NULL) == GRIDDEP_OK; i++) {
        if (!reason_of(report, (int32_t)i, &reason))
            continue;
        gd_columns_add(&columns, "%u", (unsigned)trial.launch);
        gd_columns_add(&columns, "%s", trial.text);
        gd_columns_add(&columns, "%+.2f %%", -gain(trial.ratio));
        add_changes(&columns, &reason);
        runs = reason.runs;
    }
    if (reason_of(report, GD_TUNE_WHOLE, &reason)) {
        gd_columns_add(&columns, "all");
        gd_columns_add(&columns, "what was chosen");
        gd_columns_add(&columns, "%+.2f %%", -gain(info.ratio));
        add_changes(&columns, &reason);
        runs = reason.runs;
    }
    if (runs > 0) {
        puts("");
        gd_output_print(
            "why: microseconds of a hop, before -> after, from a timeline (traced runs: %u)\n",
            (unsigned)runs);
        gd_columns_print(&columns);
    }
    gd_columns_free(&columns);
}

/* A hop's share of the chain's time is its hand-off gap and the time at work behind that. */
static void print_cause(const gd_tunereport *report)
{
    gd_tune_reason reason;
    if (!reason_of(report, GD_TUNE_WHOLE, &reason))
        return;
    double gap = (reason.after[GD_TUNE_FIGURE_GAP] - reason.before[GD_TUNE_FIGURE_GAP]) * 1e-3;
    double work = (reason.after[GD_TUNE_FIGURE_WORK] - reason.before[GD_TUNE_FIGURE_WORK]) * 1e-3;
    if (isnan(gap + work))
        return;
    gd_output_print(
        "a hop takes %.2f us %s: %+.2f us of it hand-off gap, %+.2f us at work after the "
        "release\n",
        fabs(gap + work), gap + work < 0.0 ? "less" : "more", gap, work);
    if (gap + work >= 0.0)
        gd_output_print("the traced kernels, which have stamps, do not show the gain\n");
}

/* Why there is no reason. */
static void print_untraced(const gd_tunereport *report)
{
    griddep_error error;
    gd_tune_reason reason;
    griddep_error_init(&error);
    if (gd_tune_get_reason(report->tune, GD_TUNE_WHOLE, &reason, &error) ==
        GRIDDEP_ERROR_UNSUPPORTED)
        gd_output_print("no timeline tells why: %s\n", error.text);
}

static void print_choices(const gd_tunereport *report)
{
    griddep_tune_choice choice = {.size = sizeof(choice)};
    puts("chosen:");
    for (uint32_t i = 0; griddep_tune_get_choice(report->tune, i, &choice, NULL) == GRIDDEP_OK; i++)
        if (choice.text[0] != '\0') {
            char *launch = gd_plan_launch_text(report->plan, i);
            gd_output_print("  %s: %s\n", launch, choice.text);
            free(launch);
        }
}

static void print_verdict(const gd_tunereport *report, const griddep_tune_info *info)
{
    if (info->ran_count == 0) {
        puts(info->stopped != 0
                 ? "stopped before anything was tried; nothing is changed"
                 : "no variant of this chain passes the check and can be run: nothing is changed");
    } else if (info->changed == 0 && isnan(info->last_ratio)) {
        gd_output_print(
            "what was faster by itself left other results when all of it ran together: nothing is "
            "changed\n");
    } else if (info->changed == 0 && info->last_ratio > 0.0) {
        gd_output_print(
            "what was faster by itself was measured again, all of it together: %+.2f %%, where "
            "-%.2f %% would "
            "count: nothing "
            "is changed\n",
            -gain(info->last_ratio), info->last_needed * 100.0);
    } else if (info->changed == 0) {
        gd_output_print("nothing better was found in %u %s run: nothing is changed\n",
                        (unsigned)info->ran_count,
                        gd_plural(info->ran_count, "variant that was", "variants that were"));
    } else {
        gd_output_print(
            "%.2f us instead of %.2f us: %.2f %% faster (groups with code of their own: %.2f to "
            "%.2f %%)\n",
            info->chosen_ns / 1e3, info->baseline_ns / 1e3, gain(info->ratio), gain(info->highest),
            gain(info->lowest));
        print_cause(report);
        print_choices(report);
    }
    print_untraced(report);
}

void gd_tunereport_print(const gd_tunereport *report)
{
    griddep_tune_info info = info_of(report);
    gd_device_print(report->device);
    gd_output_print("%s: %u %s, mode %s, %.2f us%s\n", report->plan->name,
                    (unsigned)info.launch_count, gd_plural(info.launch_count, "launch", "launches"),
                    griddep_text(GRIDDEP_TEXT_MODE, info.mode), info.baseline_ns / 1e3,
                    info.model != 0 ? " of model time" : "");
    gd_output_print("two equal chains differ by up to %.2f %% (pairs: %u); what gains more than "
                    "%.2f %% is measured anew\n",
                    info.noise * 100.0, (unsigned)info.noise_pairs, info.threshold * 100.0);
    puts("");
    print_trials(report);
    print_reasons(report);
    puts("");
    print_verdict(report, &info);
    if (info.model != 0 && info.changed != 0)
        gd_output_print(
            "these are the emulated driver's model times: a GPU may choose otherwise\n");
    if (report->folder != NULL)
        gd_output_print(info.changed != 0
                            ? "written to %s: chain.yaml, and each module that is changed\n"
                            : "nothing is written to %s: the chain stays as it was given\n",
                        report->folder);
    if (info.remembered != 0)
        puts("remembered for this device and driver");
    else if (info.changed != 0)
        gd_output_print("not remembered%s\n",
                        report->device->store_directory[0] != '\0' ? "" : ": there is no store");
}

/* ---- JSON ---- */

static json_t *figures_json(const double *figures)
{
    static const char *const names[GD_TUNE_FIGURE_COUNT] = {
        [GD_TUNE_FIGURE_SPAN] = "span_ns",        [GD_TUNE_FIGURE_IDLE] = "idle_share",
        [GD_TUNE_FIGURE_GAP] = "handoff_gap_ns",  [GD_TUNE_FIGURE_WORK] = "work_ns",
        [GD_TUNE_FIGURE_LEAD] = "launch_lead_ns", [GD_TUNE_FIGURE_HIDDEN] = "preamble_hidden_ns",
        [GD_TUNE_FIGURE_WAIT] = "wait_median_ns", [GD_TUNE_FIGURE_OVERLAP] = "overlap_ratio"};
    json_t *object = json_object();
    for (size_t i = 0; i < GD_TUNE_FIGURE_COUNT; i++)
        gd_output_set(object, names[i], gd_output_real(figures[i]));
    return object;
}

static json_t *reason_json(const gd_tunereport *report, int32_t trial)
{
    gd_tune_reason reason;
    if (!reason_of(report, trial, &reason))
        return json_null();
    return GD_OBJECT({"runs", json_integer(reason.runs)}, {"hops", json_integer(reason.hops)},
                     {"before", figures_json(reason.before)},
                     {"after", figures_json(reason.after)});
}

static json_t *trial_json(const gd_tunereport *report, uint32_t index,
                          const griddep_tune_trial *trial)
{
    return GD_OBJECT(
        {"launch", json_integer(trial->launch)}, {"kernel", gd_output_string(trial->kernel)},
        {"tried", gd_output_string(trial->text)},
        {"outcome", gd_output_string(griddep_text(GRIDDEP_TEXT_TUNE_OUTCOME, trial->outcome))},
        {"detail", gd_output_string(trial->detail)}, {"pairs", json_integer(trial->pairs)},
        {"ratio", trial->ratio > 0.0 ? gd_output_real(trial->ratio) : json_null()},
        {"percentile_10", trial->ratio > 0.0 ? gd_output_real(trial->lowest) : json_null()},
        {"percentile_90", trial->ratio > 0.0 ? gd_output_real(trial->highest) : json_null()},
        {"ratio_anew", trial->again > 0.0 ? gd_output_real(trial->again) : json_null()},
        {"gain_needed", trial->again > 0.0 ? gd_output_real(trial->needed) : json_null()},
        {"why", reason_json(report, (int32_t)index)});
}

static json_t *choice_json(const gd_tunereport *report, uint32_t index,
                           const griddep_tune_choice *choice)
{
    return GD_OBJECT(
        {"launch", json_integer(index)},
        {"kernel", gd_output_string(report->plan->launches[index].kernel)},
        {"changed", json_boolean(choice->text[0] != '\0')},
        {"choice", gd_output_string(choice->text)}, {"grid", json_integer(choice->grid[0])},
        {"block", json_integer(choice->block[0])},
        {"shared_bytes", json_integer(choice->shared_bytes)},
        {"pdl",
         gd_output_string(choice->pdl == GRIDDEP_PDL_DEFAULT ? "default"
                                                             : gd_plan_pdl_names[choice->pdl - 1])},
        {"carveout", choice->carveout != GRIDDEP_CARVEOUT_DEFAULT ? json_integer(choice->carveout)
                                                                  : json_null()});
}

static void add_figures(json_t *document, const griddep_tune_info *info)
{
    GD_SET(document, {"mode", gd_output_string(griddep_text(GRIDDEP_TEXT_MODE, info->mode))},
           {"clock", gd_output_string(info->model != 0 ? "model" : "device")},
           {"changed", json_boolean(info->changed != 0)},
           {"stopped", json_boolean(info->stopped != 0)},
           {"remembered", json_boolean(info->remembered != 0)},
           {"noise", gd_output_real(info->noise)}, {"noise_pairs", json_integer(info->noise_pairs)},
           {"threshold", gd_output_real(info->threshold)},
           {"given_us", gd_output_real(info->baseline_ns / 1e3)},
           {"chosen_us", gd_output_real(info->chosen_ns / 1e3)},
           {"ratio", gd_output_real(info->ratio)}, {"percentile_10", gd_output_real(info->lowest)},
           {"percentile_90", gd_output_real(info->highest)},
           {"last_ratio", info->last_ratio > 0.0 ? gd_output_real(info->last_ratio) : json_null()},
           {"last_gain_needed",
            info->last_ratio > 0.0 ? gd_output_real(info->last_needed) : json_null()},
           {"confirmations", json_integer(info->confirmations)},
           {"variants_run", json_integer(info->ran_count)});
}

void gd_tunereport_print_json(const gd_tunereport *report)
{
    griddep_tune_info info = info_of(report);
    json_t *document = json_object(), *trials = json_array(), *choices = json_array();
    griddep_tune_trial trial = {.size = sizeof(trial)};
    griddep_tune_choice choice = {.size = sizeof(choice)};
    for (uint32_t i = 0; griddep_tune_get_trial(report->tune, i, &trial, NULL) == GRIDDEP_OK; i++)
        gd_output_append(trials, trial_json(report, i, &trial));
    for (uint32_t i = 0; griddep_tune_get_choice(report->tune, i, &choice, NULL) == GRIDDEP_OK; i++)
        gd_output_append(choices, choice_json(report, i, &choice));
    GD_SET(document, {"griddep", gd_output_string(griddep_version_text())},
           {"driver", gd_device_driver_json(report->device)},
           {"device", gd_device_json(report->device)},
           {"chain", gd_output_string(report->plan->name)});
    add_figures(document, &info);
    GD_SET(document, {"why", reason_json(report, GD_TUNE_WHOLE)}, {"trials", trials},
           {"choices", choices},
           {"folder", info.changed != 0 ? gd_output_string(report->folder) : json_null()});
    gd_output_write(document);
}

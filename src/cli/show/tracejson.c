/* The figures as JSON; what is not there is null. */
#include "cli/show/tracejson.h"

#include "cli/io/output.h"

static json_t *columns_json(const gd_traceview_launch *launch)
{
    static const char *const names[] = {"sm", "entry", "wait", "release", "trigger", "exit"};
    json_t *object = json_object();
    for (uint32_t column = 0; column < GRIDDEP_STAMP_MARK + launch->figures.mark_count; column++) {
        json_t *list = json_array();
        for (uint32_t block = 0; block < launch->blocks; block++) {
            int64_t value = launch->columns[column][block];
            gd_output_append(list, value == GRIDDEP_STAMP_NONE ? json_null()
                                                               : json_integer((json_int_t)value));
        }
        if (column < GRIDDEP_STAMP_MARK)
            gd_output_set(object, names[column], list);
        else {
            json_t *marks = json_object_get(object, "marks");
            if (marks == NULL)
                gd_output_set(object, "marks", marks = json_object());
            gd_output_set(marks, launch->marks[column - GRIDDEP_STAMP_MARK], list);
        }
    }
    return object;
}

static json_t *hop_json(const gd_traceview_launch *launch)
{
    const griddep_timeline_hop *hop = &launch->hop;
    if (!launch->has_hop)
        return json_null();
    return GD_OBJECT(
        {"from", json_integer(hop->from)}, {"handoff_gap_ns", gd_output_real(hop->handoff_gap)},
        {"launch_lead_ns", gd_output_real(hop->launch_lead)},
        {"preamble_hidden_ns", gd_output_real(hop->preamble_hidden)},
        {"overlap_ns", gd_output_real(hop->overlap)},
        {"overlap_ratio", gd_output_real(hop->overlap_ratio)},
        {"idle_window_ns", gd_output_real(hop->idle_window)},
        {"idle_sm_ns", gd_output_real(hop->idle)}, {"idle_share", gd_output_real(hop->idle_share)});
}

static json_t *launch_json(const gd_traceview *view, uint32_t index, bool blocks)
{
    const gd_traceview_launch *launch = &view->launches[index];
    const griddep_timeline_launch *figures = &launch->figures;
    const struct {
        const char *name;
        double value;
    } times[] = {
        {"first_entry_ns", figures->first_entry},     {"last_entry_ns", figures->last_entry},
        {"first_trigger_ns", figures->first_trigger}, {"last_trigger_ns", figures->last_trigger},
        {"first_release_ns", figures->first_release}, {"last_release_ns", figures->last_release},
        {"first_exit_ns", figures->first_exit},       {"last_exit_ns", figures->last_exit},
        {"preamble_ns", figures->preamble},           {"wait_least_ns", figures->wait_least},
        {"wait_median_ns", figures->wait_median},     {"wait_most_ns", figures->wait_most}};
    json_t *object = GD_OBJECT(
        {"kernel", gd_output_string(figures->kernel)},
        {"name", gd_output_string(view->plan != NULL ? view->plan->launches[index].name : NULL)},
        {"lane", json_integer(figures->lane)},
        {"blocks", json_integer((json_int_t)figures->blocks)},
        {"blocks_kept", json_integer(figures->blocks_kept)},
        {"blocks_backward", json_integer(figures->backward)},
        {"registers", json_integer(figures->registers)},
        {"registers_without_stamps", json_integer(figures->plain_registers)},
        {"pdl", json_boolean(launch->reason == GRIDDEP_REASON_SET ||
                             launch->reason == GRIDDEP_REASON_FORCED)},
        {"reason_text", gd_output_string(griddep_text(GRIDDEP_TEXT_REASON, launch->reason))});
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        gd_output_set(object, times[i].name, gd_output_real(times[i].value));
    gd_output_set(object, "hop", hop_json(launch));
    if (blocks)
        gd_output_set(object, "points", columns_json(launch));
    return object;
}

static json_t *cost_json(const gd_traceview *view)
{
    json_t *object = json_object();
    const gd_traceview_cost *cost = &view->cost;
    bool known = cost->plain > 0;
    GD_SET(object, {"plain_step_us", known ? gd_output_real(cost->plain) : json_null()},
           {"traced_step_us", known ? gd_output_real(cost->traced) : json_null()},
           {"overhead", known ? gd_output_real(cost->traced / cost->plain - 1.0) : json_null()});
    return object;
}

json_t *gd_tracejson_make(const gd_traceview *view, bool blocks)
{
    const griddep_timeline_info *info = &view->info;
    json_t *object = json_object(), *launches = json_array();
    bool has_bandwidth = view->step_bytes > 0 && !info->emulated && info->span > 0;
    GD_SET(object, {"mode", gd_output_string(griddep_text(GRIDDEP_TEXT_MODE, info->mode))},
           {"clock", gd_output_string(info->emulated ? "model" : "device")},
           {"clock_step_ns", gd_output_real(info->clock_step)},
           {"span_ns", gd_output_real(info->span)}, {"runs", json_integer(view->runs)},
           {"span_least_ns", gd_output_real(view->span_least)},
           {"span_most_ns", gd_output_real(view->span_most)},
           {"bytes_per_second", has_bandwidth
                                    ? gd_output_real((double)view->step_bytes / info->span * 1e9)
                                    : json_null()},
           {"idle_sm_ns", gd_output_real(info->idle)},
           {"idle_share", gd_output_real(info->idle_share)},
           {"blocks", json_integer((json_int_t)info->blocks)},
           {"blocks_kept", json_integer((json_int_t)info->blocks_kept)},
           {"blocks_backward", json_integer(info->backward)}, {"cost", cost_json(view)},
           {"equal_to_serial", json_boolean(view->equal)});
    for (uint32_t i = 0; i < view->count; i++)
        gd_output_append(launches, launch_json(view, i, blocks));
    gd_output_set(object, "launches", launches);
    return object;
}

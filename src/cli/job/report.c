/* Reporting a job. */
#include "cli/job/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "cli/io/device.h"
#include "cli/io/heap.h"
#include "cli/io/output.h"

static bool timed(const gd_job_mode *result)
{
    return result->timing.samples > 0 && result->timing.us.median > 0.0;
}

static double bytes_per_second(const gd_job *job, const gd_job_mode *result)
{
    return (double)job->plan->step_bytes / (result->timing.us.median * 1e-6);
}

/* Of model time no bandwidth is told: it would look like a measurement. */
static bool knows_bandwidth(const gd_job *job, const griddep_runtime_info *info)
{
    return !info->emulated && job->plan->step_bytes > 0;
}

/* A buffer that the serial run did not write is not right in any mode. */
static bool mode_passed(const gd_job *job, const gd_job_mode *result)
{
    bool passed = result->equal;
    for (uint32_t i = 0; i < job->plan->buffer_count; i++)
        passed &= !job->unwritten[i];
    for (uint32_t i = 0; i < job->plan->expectation_count; i++)
        passed &= result->met[i];
    return passed;
}

/* How many times faster than another mode; 0 where either was not timed, or computes what it should
 * not: there is nothing to compare then. */
static double speed_up(const gd_job *job, int32_t mode, int32_t over)
{
    const gd_job_mode *result = &job->results[mode], *base = &job->results[over];
    bool comparable =
        timed(result) && timed(base) && mode_passed(job, result) && mode_passed(job, base);
    return comparable ? base->timing.us.median / result->timing.us.median : 0.0;
}

static bool is_set(int32_t reason)
{
    return reason == GRIDDEP_REASON_SET || reason == GRIDDEP_REASON_FORCED;
}

static bool uses_pdl(int32_t mode)
{
    return mode == GRIDDEP_MODE_PDL || mode == GRIDDEP_MODE_GRAPH_PDL;
}

/* Whether a launch lacks the overlap with the one before it that the mode is for. The first has
 * none before it. */
static bool lacks_overlap(const griddep_hop_info *hop)
{
    return hop->reason != GRIDDEP_REASON_FIRST && (!is_set(hop->reason) || hop->edge == 0);
}

/* Why it lacks it. */
static int32_t lack_of(const griddep_hop_info *hop)
{
    return is_set(hop->reason) ? GRIDDEP_REASON_PLAIN : hop->reason;
}

static const char *expected_name(gd_expected from)
{
    return from == GD_EXPECTED_FILE        ? "file"
           : from == GD_EXPECTED_REFERENCE ? "reference"
                                           : "serial";
}

/* The largest of all modes decides the unit, so that the column reads in one. */
static void choose_unit(const gd_job *job, const char **unit, double *scale)
{
    double fastest = 0.0;
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        if (job->results[mode].wanted && timed(&job->results[mode]))
            fastest = fmax(fastest, bytes_per_second(job, &job->results[mode]));
    *unit = fastest >= 0.1e12 ? "TB/s" : "GB/s";
    *scale = fastest >= 0.1e12 ? 1e-12 : 1e-9;
}

static void add_factor(gd_columns *columns, double factor)
{
    if (factor > 0.0)
        gd_columns_add(columns, "%.2fx", factor);
    else
        gd_columns_add(columns, "-");
}

static void add_timing(gd_columns *columns, const gd_job *job, const gd_job_mode *result,
                       double scale)
{
    const gd_timing *timing = &result->timing;
    if (!timed(result)) {
        for (int i = 0; i < 3; i++)
            gd_columns_add(columns, "-");
        return;
    }
    gd_columns_add(columns, "%.2f us", timing->us.median);
    if (timing->samples > 1)
        gd_columns_add(columns, "%.2f to %.2f", timing->us.low, timing->us.high);
    else
        gd_columns_add(columns, "-");
    if (scale > 0.0)
        gd_columns_add(columns, "%.*f", scale < 1e-9 ? 2 : 1,
                       bytes_per_second(job, result) * scale);
    else
        gd_columns_add(columns, "-");
}

static void print_table(const gd_job *job, const griddep_runtime_info *info, double ceiling)
{
    gd_columns columns = {.column_count = 8, .left = 1U | 1U << 7, .titled = true};
    const char *unit;
    double scale;
    choose_unit(job, &unit, &scale);
    if (!knows_bandwidth(job, info))
        scale = 0.0;
    const char *const titles[] = {"mode",
                                  info->emulated ? "model time of a step" : "median of a step",
                                  "80 % within, us",
                                  unit,
                                  "over serial",
                                  "over graph",
                                  "of ceiling",
                                  "results"};
    for (size_t i = 0; i < columns.column_count; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        const gd_job_mode *result = &job->results[mode];
        if (!result->wanted)
            continue;
        gd_columns_add(&columns, "%s", griddep_text(GRIDDEP_TEXT_MODE, mode));
        add_timing(&columns, job, result, scale);
        add_factor(&columns, speed_up(job, mode, GRIDDEP_MODE_SERIAL));
        add_factor(&columns,
                   mode == GRIDDEP_MODE_GRAPH_PDL ? speed_up(job, mode, GRIDDEP_MODE_GRAPH) : 0.0);
        if (scale > 0.0 && ceiling > 0.0 && timed(result) && mode_passed(job, result))
            gd_columns_add(&columns, "%.1f %%", bytes_per_second(job, result) / ceiling * 100.0);
        else
            gd_columns_add(&columns, "-");
        gd_columns_add(&columns, "%s",
                       !result->equal             ? "differ from serial"
                       : mode_passed(job, result) ? "equal"
                                                  : "not as expected");
    }
    gd_columns_print(&columns);
    gd_columns_free(&columns);
}

static void print_first(const gd_difference *difference, const char *wanted)
{
    char got_text[GD_OUTPUT_VALUE], wanted_text[GD_OUTPUT_VALUE];
    gd_output_print("%llu %s in some bit, first element %llu: %s, %s %s\n",
                    (unsigned long long)difference->unequal,
                    gd_plural(difference->unequal, "element differs", "elements differ"),
                    (unsigned long long)difference->first,
                    gd_output_value(difference->got, got_text), wanted,
                    gd_output_value(difference->wanted, wanted_text));
}

static void print_unequal(const gd_job *job, int32_t mode)
{
    const gd_job_mode *result = &job->results[mode];
    if (result->equal)
        return;
    gd_output_print(
        "%s: buffer %s is not as the serial run left it: ", griddep_text(GRIDDEP_TEXT_MODE, mode),
        job->plan->buffers[result->unequal_buffer].name);
    print_first(&result->unequal, "serial");
}

static void print_expectation(const gd_job *job, int32_t mode, uint32_t index)
{
    const gd_plan_expectation *expectation = &job->plan->expectations[index];
    const gd_difference *difference = &job->results[mode].differences[index];
    bool met = job->results[mode].met[index];
    gd_output_print("%s: buffer %s %s (%s): ", griddep_text(GRIDDEP_TEXT_MODE, mode),
                    job->plan->buffers[expectation->buffer].name,
                    met ? "is as expected" : "is not as expected",
                    expected_name(expectation->from));
    if (expectation->tolerance >= 0)
        gd_output_print("relative error %.3g, allowed %.3g; ", difference->relative,
                        expectation->tolerance);
    if (expectation->absolute >= 0)
        gd_output_print("largest difference %.3g, allowed %.3g; ", difference->largest,
                        expectation->absolute);
    if (difference->unequal == 0)
        gd_output_print("every bit equal\n");
    else
        print_first(difference, "expected");
}

static void print_unwritten(const gd_job *job)
{
    for (uint32_t i = 0; i < job->plan->buffer_count; i++)
        if (job->unwritten[i])
            gd_output_print(
                "buffer %s was not written: it still holds the 0xff bytes it was filled with\n",
                job->plan->buffers[i].name);
}

/* Expectations that fail, of every mode; ones that hold, of the last mode only: all modes have the
 * same bits then. */
static void print_results(const gd_job *job)
{
    int32_t last = -1;
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        if (!job->results[mode].wanted)
            continue;
        print_unequal(job, mode);
        for (uint32_t i = 0; i < job->plan->expectation_count; i++)
            if (!job->results[mode].met[i])
                print_expectation(job, mode, i);
        last = mode;
    }
    for (uint32_t i = 0; i < job->plan->expectation_count && last >= 0; i++)
        if (job->results[last].met[i])
            print_expectation(job, last, i);
}

/* Whether two launches without overlap are of one kernel and say the same about it. */
static bool same_hop(const gd_job *job, const gd_job_mode *result, uint32_t a, uint32_t b)
{
    return lacks_overlap(&result->hops[b]) &&
           lack_of(&result->hops[a]) == lack_of(&result->hops[b]) &&
           strcmp(job->plan->launches[a].kernel, job->plan->launches[b].kernel) == 0;
}

static bool seen_before(const gd_job *job, const gd_job_mode *result, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (lacks_overlap(&result->hops[i]) && same_hop(job, result, i, index))
            return true;
    return false;
}

/* One line for all launches of a kernel that miss the overlap for the same reason. */
static void print_hop_group(const gd_job *job, int32_t mode, uint32_t first)
{
    const gd_job_mode *result = &job->results[mode];
    uint32_t count = 0;
    for (uint32_t i = first; i < job->plan->launch_count; i++)
        count += same_hop(job, result, first, i);
    char *name =
        count > 1 ? gd_heap_format("%s, %u launches from %u on", job->plan->launches[first].kernel,
                                   (unsigned)count, (unsigned)first)
                  : gd_plan_launch_text(job->plan, first);
    gd_output_print("  %-10s %s: %s: %s\n", griddep_text(GRIDDEP_TEXT_MODE, mode), name,
                    griddep_text(GRIDDEP_TEXT_OVERLAP, GRIDDEP_OVERLAP_NONE),
                    griddep_text(GRIDDEP_TEXT_REASON, lack_of(&result->hops[first])));
    free(name);
}

static void print_hops(const gd_job *job)
{
    bool titled = false;
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        const gd_job_mode *result = &job->results[mode];
        if (!result->wanted || !uses_pdl(mode))
            continue;
        for (uint32_t i = 0; i < job->plan->launch_count; i++) {
            if (!lacks_overlap(&result->hops[i]) || seen_before(job, result, i))
                continue;
            if (!titled)
                gd_output_print("launches without programmatic dependent launch:\n");
            titled = true;
            print_hop_group(job, mode, i);
        }
    }
}

void gd_report_print(const gd_job *job, const griddep_runtime_info *info, double ceiling)
{
    gd_output_print("chain %s: %u %s", job->plan->name, (unsigned)job->plan->launch_count,
                    gd_plural(job->plan->launch_count, "launch", "launches"));
    if (job->plan->step_bytes > 0)
        gd_output_print(", %.3f MB read and written per step", (double)job->plan->step_bytes / 1e6);
    putchar('\n');
    print_hops(job);
    print_unwritten(job);
    print_results(job);
    putchar('\n');
    print_table(job, info, ceiling);
    if (ceiling > 0.0)
        gd_output_print("read ceiling: %.2f TB/s, by a kernel that only reads\n", ceiling * 1e-12);
}

static json_t *difference_json(const gd_difference *difference)
{
    json_t *object = GD_OBJECT({"unequal_elements", json_integer((json_int_t)difference->unequal)},
                               {"relative", gd_output_real(difference->relative)},
                               {"largest", gd_output_real(difference->largest)});
    if (difference->unequal > 0) {
        GD_SET(object, {"first_element", json_integer((json_int_t)difference->first)},
               {"got", gd_output_real(difference->got)},
               {"wanted", gd_output_real(difference->wanted)});
    }
    return object;
}

static json_t *timing_json(const gd_job *job, const griddep_runtime_info *info, int32_t mode)
{
    const gd_job_mode *result = &job->results[mode];
    if (!timed(result))
        return json_null();
    json_t *object = json_object();
    double over_serial = speed_up(job, mode, GRIDDEP_MODE_SERIAL),
           over_graph = speed_up(job, mode, GRIDDEP_MODE_GRAPH);
    GD_SET(object, {"clock", gd_output_string(info->emulated ? "model" : "device")},
           {"samples", json_integer(result->timing.samples)},
           {"steps_per_sample", json_integer(result->timing.batch)},
           {"median_us", gd_output_real(result->timing.us.median)},
           {"percentile_10_us", gd_output_real(result->timing.us.low)},
           {"percentile_90_us", gd_output_real(result->timing.us.high)},
           {"bytes_per_second", knows_bandwidth(job, info)
                                    ? gd_output_real(bytes_per_second(job, result))
                                    : json_null()},
           {"speed_up_over_serial", over_serial > 0.0 ? gd_output_real(over_serial) : json_null()},
           {"speed_up_over_graph", over_graph > 0.0 ? gd_output_real(over_graph) : json_null()});
    return object;
}

static json_t *expectations_json(const gd_job *job, const gd_job_mode *result)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < job->plan->expectation_count; i++) {
        const gd_plan_expectation *expectation = &job->plan->expectations[i];
        gd_output_append(
            list,
            GD_OBJECT(
                {"buffer", gd_output_string(job->plan->buffers[expectation->buffer].name)},
                {"from", gd_output_string(expected_name(expectation->from))},
                {"tolerance", expectation->tolerance >= 0 ? gd_output_real(expectation->tolerance)
                                                          : json_null()},
                {"absolute",
                 expectation->absolute >= 0 ? gd_output_real(expectation->absolute) : json_null()},
                {"met", json_boolean(result->met[i])},
                {"difference", difference_json(&result->differences[i])}));
    }
    return list;
}

static json_t *hops_json(const gd_job *job, const gd_job_mode *result)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < job->plan->launch_count; i++) {
        const griddep_hop_info *hop = &result->hops[i];
        gd_output_append(
            list,
            GD_OBJECT(
                {"name", gd_output_string(job->plan->launches[i].name)},
                {"kernel", gd_output_string(job->plan->launches[i].kernel)},
                {"pdl", json_boolean(is_set(hop->reason))}, {"reason", json_integer(hop->reason)},
                {"reason_text", gd_output_string(griddep_text(GRIDDEP_TEXT_REASON, hop->reason))},
                {"programmatic_edge", hop->edge < 0 ? json_null() : json_boolean(hop->edge)}));
    }
    return list;
}

static json_t *unwritten_json(const gd_job *job)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < job->plan->buffer_count; i++)
        if (job->unwritten[i])
            gd_output_append(list, gd_output_string(job->plan->buffers[i].name));
    return list;
}

static json_t *mode_json(const gd_job *job, const griddep_runtime_info *info, int32_t mode)
{
    const gd_job_mode *result = &job->results[mode];
    json_t *object = GD_OBJECT({"mode", gd_output_string(griddep_text(GRIDDEP_TEXT_MODE, mode))},
                               {"equal_to_serial", json_boolean(result->equal)});
    if (!result->equal) {
        json_t *difference = difference_json(&result->unequal);
        gd_output_set(difference, "buffer",
                      gd_output_string(job->plan->buffers[result->unequal_buffer].name));
        gd_output_set(object, "difference_from_serial", difference);
    }
    GD_SET(object, {"as_expected", json_boolean(mode_passed(job, result))},
           {"timing", timing_json(job, info, mode)},
           {"expectations", expectations_json(job, result)}, {"launches", hops_json(job, result)});
    return object;
}

void gd_report_print_json(const gd_job *job, const griddep_runtime_info *info, double ceiling)
{
    json_t *document = json_object(), *modes = json_array();
    GD_SET(document, {"griddep", gd_output_string(griddep_version_text())},
           {"driver", gd_device_driver_json(info)}, {"device", gd_device_json(info)},
           {"chain", gd_output_string(job->plan->name)},
           {"launch_count", json_integer(job->plan->launch_count)},
           {"bytes_per_step", gd_output_bytes(job->plan->step_bytes)});
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        if (job->results[mode].wanted)
            gd_output_append(modes, mode_json(job, info, mode));
    GD_SET(document,
           {"read_ceiling_bytes_per_second", ceiling > 0.0 ? gd_output_real(ceiling) : json_null()},
           {"unwritten_buffers", unwritten_json(job)}, {"modes", modes},
           {"as_expected", json_boolean(job->as_expected)});
    gd_output_write(document);
}

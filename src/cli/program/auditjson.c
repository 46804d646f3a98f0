/* An audit as JSON. */
#include "cli/program/auditjson.h"

#include <math.h>

#include "base/statistics.h"
#include "griddep.h"

#include "cli/io/output.h"
#include "cli/show/finding.h"

static json_t *place_json(const gd_frames *place)
{
    json_t *frames = json_array();
    for (size_t i = 0; i < place->count; i++) {
        const gd_frame *frame = &place->list[i];
        gd_output_append(
            frames,
            GD_OBJECT({"function", gd_output_string(frame->function)},
                      {"offset",
                       frame->is_script ? json_null() : json_integer((json_int_t)frame->offset)},
                      {"line", frame->is_script ? json_integer(frame->line) : json_null()},
                      {"file", gd_output_string(frame->file)}));
    }
    return frames;
}

static json_t *told(bool known, bool value)
{
    return known ? json_boolean(value) : json_null();
}

/* Sorts its times. */
static json_t *kernel_json(const gd_audit_kernel *kernel, const gd_frames *place)
{
    uint32_t traits = kernel->code.traits;
    bool known = (traits & GRIDDEP_TRAIT_KNOWN) != 0,
         followed = known && (traits & GRIDDEP_TRAIT_OPEN) == 0;
    const gd_attached_counts *sum = &kernel->sum;
    return GD_OBJECT(
        {"kernel", gd_output_string(kernel->plain)}, {"symbol", gd_output_string(kernel->name)},
        {"module", gd_output_string(kernel->module)},
        {"target", gd_output_string(kernel->target[0] != '\0' ? kernel->target : NULL)},
        {"code", gd_output_string(kernel->code.source)},
        {"waits", told(known, (traits & GRIDDEP_TRAIT_WAITS) != 0)},
        {"waits_always", told(followed, (traits & GRIDDEP_TRAIT_WAITS_ALWAYS) != 0)},
        {"triggers", told(known, (traits & GRIDDEP_TRAIT_TRIGGERS) != 0)},
        {"launches", json_integer((json_int_t)(kernel->launches + kernel->graph_launches))},
        {"in_graphs", json_integer((json_int_t)kernel->graph_launches)},
        {"captured", json_integer((json_int_t)sum->captured)},
        {"early", json_integer((json_int_t)(kernel->early + kernel->graph_early))},
        {"trigger_events", json_integer((json_int_t)sum->trigger_events)},
        {"begin_events", json_integer((json_int_t)sum->begin_events)},
        {"cooperative", json_integer((json_int_t)sum->cooperative)},
        {"changed", json_integer((json_int_t)sum->changed)},
        {"left", json_integer((json_int_t)sum->left)},
        {"timed", json_integer((json_int_t)kernel->timed)},
        {"total_us", gd_output_real(kernel->timed > 0 ? kernel->total_us : (double)NAN)},
        {"median_us", gd_output_real(gd_statistics_median(kernel->us, kernel->us_count))},
        {"place", place_json(place)});
}

json_t *gd_auditjson_kernels(const gd_audit *audit)
{
    json_t *kernels = json_array();
    for (uint32_t i = 0; i < audit->seen.kernel_count; i++)
        gd_output_append(kernels, kernel_json(&audit->seen.kernels[i], &audit->places[i]));
    return kernels;
}

json_t *gd_auditjson_gaps(const gd_audit *audit)
{
    json_t *gaps = json_array();
    for (size_t i = 0; i < audit->gap_count; i++) {
        const gd_audit_gap *gap = &audit->gaps[i];
        gd_output_append(gaps, GD_OBJECT({"before", gd_output_string(gap->before)},
                                         {"kernel", gd_output_string(gap->kernel)},
                                         {"count", json_integer((json_int_t)gap->timed)},
                                         {"total_us", gd_output_real(gap->us)},
                                         {"launches", json_integer((json_int_t)gap->launches)}));
    }
    return gaps;
}

static json_t *alike_json(const gd_audit *audit, size_t first)
{
    json_t *texts = json_array();
    for (size_t i = 0; (i = gd_audit_next_alike(audit, first, i)) < audit->finding_count; i++)
        gd_output_append(texts, gd_output_string(audit->findings[i].text));
    return texts;
}

json_t *gd_auditjson_findings(const gd_audit *audit)
{
    json_t *findings = json_array();
    for (size_t i = 0; i < audit->finding_count; i++) {
        const gd_audit_finding *finding = &audit->findings[i];
        if (finding->first != i)
            continue;
        gd_output_append(
            findings,
            GD_OBJECT(
                {"code", gd_output_string(finding->code)},
                {"severity", gd_output_string(gd_finding_severity_name(finding->severity))},
                {"text", gd_output_string(finding->text)},
                {"kernel", gd_output_string(finding->kernel)},
                {"before", gd_output_string(finding->before)},
                {"reason", gd_output_string(griddep_text(GRIDDEP_TEXT_REASON, finding->reason))},
                {"count", json_integer((json_int_t)finding->count)},
                {"place", place_json(&finding->place)}, {"alike", alike_json(audit, i)}));
    }
    return findings;
}

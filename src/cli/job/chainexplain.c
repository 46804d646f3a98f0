/* Why the hops of a chain overlap or do not: the library's conditions and prediction for each, and
 * what was measured. */
#include "cli/job/chainexplain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "base/text.h"

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/job/overlap.h"
#include "cli/plan/plancheck.h"
#include "cli/io/progress.h"
#include "cli/job/session.h"

enum { MOST_HOPS = 40 };

/* One hop as it is printed. */
typedef struct gd_hop_report {
    uint32_t launch;
    bool next_round; /* the first launch behind the last one of the round before */
    bool is_kernel;
    const char *kernel; /* or what it is: "copy" */
    griddep_explanation *explanation;
    griddep_explanation_info info;
    const gd_overlap *measured;           /* NULL: nothing was asked for */
    const char *unmeasured;               /* why nothing could be measured, or NULL */
    const griddep_graph_edge_info *edges; /* that lead to it; NULL: the mode has no graph */
    uint32_t edge_count;
} gd_hop_report;

static const char *met_text(const griddep_condition *condition)
{
    if (condition->met != 0)
        return condition->met > 0 ? "met" : "not known";
    return condition->decisive ? "not met" : "limits it";
}

/* Whether prediction and measurement say the same; a prediction that is not known agrees with
 * both. */
static bool agrees(const gd_hop_report *hop)
{
    if (hop->info.overlap == GRIDDEP_OVERLAP_UNKNOWN)
        return true;
    return (hop->info.overlap != GRIDDEP_OVERLAP_NONE) == (hop->measured->lead > 0);
}

/* ---- text ---- */

/* A prediction says what may overlap; a kernel that ends soon leaves no time for it. */
static void print_difference(const gd_hop_report *hop)
{
    const gd_overlap *measured = hop->measured;
    const char *first = hop->info.producer, *second = hop->info.consumer;
    if (agrees(hop))
        return;
    if (hop->info.overlap == GRIDDEP_OVERLAP_TAIL)
        gd_output_print("  it could have overlapped: blocks of %s start when blocks of %s end, but "
                        "these all ended within %.0f ns\n",
                        second, first, measured->spread);
    else if (hop->info.overlap == GRIDDEP_OVERLAP_FULL && !isnan(measured->start))
        gd_output_print("  it could have overlapped: %s started %.0f ns after the last trigger of "
                        "%s, which ended %.0f ns after it\n",
                        second, measured->start, first, measured->left);
    else
        gd_output_print("  prediction and measurement differ\n");
}

static void print_measured(const gd_hop_report *hop)
{
    const gd_overlap *measured = hop->measured;
    if (measured == NULL || hop->info.producer == NULL)
        return;
    if (!measured->known) {
        gd_output_print(
            "  measured: nothing: %s\n",
            hop->unmeasured != NULL
                ? hop->unmeasured
                : "copies, fills and code without PTX cannot be timed, or no block left a time");
        return;
    }
    gd_output_print("  measured: %s: the first block of %s began %.0f ns %s the last block of %s "
                    "ended (%.0f to %.0f "
                    "in %d runs)\n",
                    measured->lead > 0 ? "it overlaps" : "no overlap", hop->info.consumer,
                    measured->lead > 0 ? measured->lead : -measured->lead,
                    measured->lead > 0 ? "before" : "after", hop->info.producer, measured->shortest,
                    measured->longest, GD_OVERLAP_RUNS);
    print_difference(hop);
}

static const char *edge_kind(const griddep_graph_edge_info *edge)
{
    return edge->type == GRIDDEP_EDGE_PROGRAMMATIC ? "programmatic"
           : edge->type < 0                        ? "unknown"
                                                   : "plain";
}

/* Those that are met say what is as it should be: they are counted, unless all are asked for. */
static void print_conditions(const gd_hop_report *hop, bool all)
{
    gd_columns columns = {.column_count = 3, .left = ~0U};
    griddep_condition condition = {.size = sizeof(condition)};
    uint32_t left_out = 0;
    for (uint32_t i = 0;
         griddep_explanation_get(hop->explanation, i, &condition, NULL) == GRIDDEP_OK; i++) {
        if (condition.met > 0 && !all) {
            left_out++;
            continue;
        }
        gd_columns_add(&columns, "  %s", met_text(&condition));
        gd_columns_add(&columns, "%s", condition.name);
        gd_columns_add(&columns, "%s", condition.text);
    }
    gd_columns_print(&columns);
    gd_columns_free(&columns);
    if (left_out > 0)
        gd_output_print("  %u %s met\n", (unsigned)left_out,
                        gd_plural(left_out, "condition is", "conditions are"));
}

/* Where several edges lead to a launch: the conditions are of one of them. */
static void print_edges(const gd_hop_report *hop, const gd_plan *plan)
{
    for (uint32_t i = 0; i < hop->edge_count && hop->edge_count > 1; i++) {
        const griddep_graph_edge_info *edge = &hop->edges[i];
        gd_output_print("  %s edge from %s: %s: %s\n", edge_kind(edge),
                        gd_plan_launch_name(plan, edge->from),
                        edge->races ? "races" : griddep_text(GRIDDEP_TEXT_OVERLAP, edge->overlap),
                        griddep_text(GRIDDEP_TEXT_REASON, edge->reason));
    }
}

static void print_hop(const gd_hop_report *hop, const gd_plan *plan, bool all)
{
    puts("");
    if (hop->next_round)
        gd_output_print("next round: %s", hop->info.consumer);
    else
        gd_output_print("launch %" PRIu32 ": %s", hop->launch, hop->info.consumer);
    if (strcmp(hop->info.consumer, hop->kernel) != 0)
        gd_output_print(" (%s%s)", hop->is_kernel ? "kernel " : "", hop->kernel);
    if (hop->info.producer != NULL)
        gd_output_print(" after %s", hop->info.producer);
    gd_output_print("\n");
    gd_output_print("  prediction: %s\n", hop->info.text);
    print_measured(hop);
    print_edges(hop, plan);
    print_conditions(hop, all);
}

/* ---- JSON ---- */

static json_t *condition_json(const griddep_condition *condition)
{
    return GD_OBJECT({"reason", json_integer(condition->reason)},
                     {"name", gd_output_string(condition->name)},
                     {"met", condition->met < 0 ? json_null() : json_boolean(condition->met)},
                     {"decisive", json_boolean(condition->decisive)},
                     {"text", gd_output_string(condition->text)});
}

static json_t *measured_json(const gd_hop_report *hop)
{
    json_t *object = json_object();
    if (hop->measured == NULL || !hop->measured->known) {
        json_decref(object);
        return json_null();
    }
    GD_SET(object, {"overlaps", json_boolean(hop->measured->lead > 0)},
           {"lead_ns", json_integer((json_int_t)hop->measured->lead)},
           {"lead_ns_least", json_integer((json_int_t)hop->measured->shortest)},
           {"lead_ns_most", json_integer((json_int_t)hop->measured->longest)},
           {"producer_ns_after_trigger", gd_output_real(hop->measured->left)},
           {"start_ns_after_trigger", gd_output_real(hop->measured->start)},
           {"runs", json_integer(GD_OVERLAP_RUNS)}, {"agrees", json_boolean(agrees(hop))});
    return object;
}

/* For programs; "overlap" of graphs has the same words. */
static const char *overlap_name(int32_t overlap)
{
    static const char *const names[] = {"unknown", "none", "tail", "full"};
    return names[overlap - GRIDDEP_OVERLAP_UNKNOWN];
}

static json_t *edges_json(const gd_hop_report *hop)
{
    json_t *list = hop->edges != NULL ? json_array() : json_null();
    for (uint32_t i = 0; i < hop->edge_count; i++) {
        const griddep_graph_edge_info *edge = &hop->edges[i];
        gd_output_append(
            list,
            GD_OBJECT({"from", json_integer(edge->from)},
                      {"type", gd_output_string(edge_kind(edge))},
                      {"overlap", gd_output_string(overlap_name(edge->overlap))},
                      {"races", json_boolean(edge->races)}, {"reason", json_integer(edge->reason)},
                      {"text", gd_output_string(griddep_text(GRIDDEP_TEXT_REASON, edge->reason))}));
    }
    return list;
}

static json_t *hop_json(const gd_hop_report *hop)
{
    json_t *object = json_object(), *list = json_array();
    griddep_condition condition = {.size = sizeof(condition)};
    for (uint32_t i = 0;
         griddep_explanation_get(hop->explanation, i, &condition, NULL) == GRIDDEP_OK; i++)
        gd_output_append(list, condition_json(&condition));
    GD_SET(object, {"launch", json_integer(hop->launch)}, {"kernel", gd_output_string(hop->kernel)},
           {"producer", gd_output_string(hop->info.producer)},
           {"consumer", gd_output_string(hop->info.consumer)},
           {"overlap", gd_output_string(overlap_name(hop->info.overlap))},
           {"reason", json_integer(hop->info.reason)},
           {"unmet", hop->info.unmet < 0 ? json_null() : json_integer(hop->info.unmet)},
           {"text", gd_output_string(hop->info.text)}, {"edges", edges_json(hop)},
           {"conditions", list}, {"measured", measured_json(hop)});
    return object;
}

/* ---- a chain ---- */

typedef struct gd_chain_report {
    const gd_plan *plan;
    griddep_runtime_info device;
    int32_t mode;
    gd_hop_report *hops;
    uint32_t hop_count; /* one more than launches where the next round is asked for */
    gd_overlap *overlaps;
    griddep_graph_edge_info *edges; /* in the order of the launches that they lead to */
} gd_chain_report;

static int explain_hops(gd_chain_report *report, const gd_session *session)
{
    griddep_error error;
    griddep_error_init(&error);
    int code = 0;
    for (uint32_t i = 0; i < report->hop_count && code == 0; i++) {
        gd_hop_report *hop = &report->hops[i];
        const gd_plan_launch *launch =
            &report->plan->launches[i == report->plan->launch_count ? 0 : i];
        *hop = (gd_hop_report){.launch = i,
                               .next_round = i == report->plan->launch_count,
                               .is_kernel = gd_plan_is_kernel(launch),
                               .kernel = launch->kernel,
                               .info = {.size = sizeof(hop->info)}};
        int32_t status =
            griddep_chain_explain(session->chain, report->mode, i, &hop->explanation, &error);
        if (status == GRIDDEP_OK)
            status = griddep_explanation_get_info(hop->explanation, &hop->info, &error);
        if (status != GRIDDEP_OK)
            code = gd_message_library_at(launch->place, &error, "explaining");
    }
    return code;
}

static int by_target(const void *left, const void *right)
{
    const griddep_graph_edge_info *a = left, *b = right;
    return a->to != b->to ? (a->to > b->to) - (a->to < b->to)
                          : (a->from > b->from) - (a->from < b->from);
}

static int read_edges(gd_chain_report *report, const griddep_graph *graph, griddep_error *error)
{
    const uint32_t count = griddep_graph_edge_count(graph);
    report->edges = gd_heap_take(count, sizeof(*report->edges));
    for (uint32_t i = 0; i < count; i++) {
        report->edges[i].size = sizeof(*report->edges);
        if (griddep_graph_get_edge(graph, i, &report->edges[i], error) != GRIDDEP_OK)
            return gd_message_library(error, "the graph of the chain");
    }
    qsort(report->edges, count, sizeof(*report->edges), by_target);
    for (uint32_t i = 0, at = 0; i < report->plan->launch_count; i++) {
        gd_hop_report *hop = &report->hops[i];
        hop->edges = &report->edges[at];
        while (at < count && report->edges[at].to == i)
            at++;
        hop->edge_count = (uint32_t)(&report->edges[at] - hop->edges);
    }
    return 0;
}

static int print_dot(const griddep_graph *graph, griddep_error *error)
{
    uint64_t bytes = 0;
    if (griddep_graph_print(graph, GRIDDEP_FORMAT_DOT, NULL, 0, &bytes, error) != GRIDDEP_OK)
        return gd_message_library(error, "the graph of the chain");
    char *text = gd_heap_take(bytes + 1, 1);
    int32_t status = griddep_graph_print(graph, GRIDDEP_FORMAT_DOT, text, bytes + 1, &bytes, error);
    fputs(text, stdout);
    free(text);
    return status == GRIDDEP_OK ? 0 : gd_message_library(error, "the graph of the chain");
}

/* The graph has a node for each launch, in their order. */
static int explain_edges(gd_chain_report *report, const gd_session *session, bool dot)
{
    griddep_graph *graph = NULL;
    griddep_error error;
    griddep_error_init(&error);
    if (!dot && report->mode != GRIDDEP_MODE_GRAPH && report->mode != GRIDDEP_MODE_GRAPH_PDL)
        return 0;
    if (griddep_graph_from_chain(session->chain, report->mode, &graph, &error) != GRIDDEP_OK)
        return gd_message_library(&error, "the graph of the chain");
    int code = dot ? print_dot(graph, &error) : read_edges(report, graph, &error);
    griddep_graph_destroy(graph);
    return code;
}

static void print_report(const gd_chain_report *report, bool all)
{
    gd_device_print(&report->device);
    gd_output_print("chain %s, mode %s\n", report->plan->name,
                    griddep_text(GRIDDEP_TEXT_MODE, report->mode));
    const uint32_t shown = all || report->hop_count <= MOST_HOPS ? report->hop_count : MOST_HOPS;
    for (uint32_t i = 0; i < shown; i++)
        print_hop(&report->hops[i], report->plan, all);
    if (all)
        return;
    puts("");
    if (shown < report->hop_count)
        gd_output_print("and %u more; --all shows them, and the conditions that are met\n",
                        (unsigned)(report->hop_count - shown));
    else
        gd_output_print("--all also lists the conditions that are met\n");
}

static void print_report_json(const gd_chain_report *report)
{
    json_t *document = json_object(), *hops = json_array();
    for (uint32_t i = 0; i < report->hop_count; i++)
        gd_output_append(hops, hop_json(&report->hops[i]));
    GD_SET(document, {"chain", gd_output_string(report->plan->name)},
           {"mode", gd_output_string(griddep_text(GRIDDEP_TEXT_MODE, report->mode))},
           {"driver", gd_device_driver_json(&report->device)},
           {"device", gd_device_json(&report->device)}, {"hops", hops});
    gd_output_write(document);
}

static int report_on(const gd_chainexplain_request *request, gd_chain_report *report)
{
    griddep_runtime *runtime = NULL;
    int code = gd_device_open(&request->device, &runtime, &report->device);
    if (code != 0)
        return code;
    gd_session session = {0};
    char *unmeasured = NULL;
    code = gd_session_open(&session, report->plan, runtime, GRIDDEP_PDL_DEFAULT);
    if (code == 0 && !request->dot)
        code = explain_hops(report, &session);
    if (code == 0)
        code = explain_edges(report, &session, request->dot);
    if (code == 0 && !request->no_measure && !request->dot)
        code = gd_overlap_measure(&session, report->mode, report->overlaps, &unmeasured);
    for (uint32_t i = 1; i < report->plan->launch_count && !request->no_measure; i++) {
        report->hops[i].measured = &report->overlaps[i];
        report->hops[i].unmeasured = unmeasured;
    }
    if (code == 0 && request->json)
        print_report_json(report);
    else if (code == 0 && !request->dot)
        print_report(report, request->all);
    free(unmeasured);
    gd_session_close(&session);
    griddep_runtime_close(runtime);
    return code;
}

int gd_chainexplain_run(const gd_chainexplain_request *request, const gd_plan *plan)
{
    gd_chain_report report = {.plan = plan, .device = {.size = sizeof(report.device)}};
    gd_progress_begin();
    int code =
        gd_options_choose_mode(request->mode != NULL ? request->mode : "graph-pdl", &report.mode);
    if (code == 0)
        code = gd_plan_check_whole(plan);
    report.hop_count = plan->launch_count + request->rounds;
    report.hops = gd_heap_take(report.hop_count, sizeof(*report.hops));
    report.overlaps = gd_heap_take(plan->launch_count, sizeof(*report.overlaps));
    if (code == 0)
        code = report_on(request, &report);
    for (uint32_t i = 0; i < report.hop_count; i++)
        griddep_explanation_destroy(report.hops[i].explanation);
    free(report.hops);
    free(report.overlaps);
    free(report.edges);
    return code;
}

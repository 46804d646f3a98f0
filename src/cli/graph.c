/* griddep graph: the graph of a chain, with the audit of its edges. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "base/plural.h"

#include "cli/command.h"
#include "cli/io/device.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/job/attachedprogram.h"
#include "cli/job/recordedprogram.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/io/outputfile.h"
#include "cli/plan/plancheck.h"
#include "cli/plan/planfile.h"
#include "cli/io/progress.h"
#include "cli/job/session.h"
#include "cli/show/graphsvg.h"
#include "cli/show/traceview.h"

enum { LABEL = 24 };

typedef struct gd_graph_request {
    const char *path;
    const char *mode;
    const char *svg;
    bool dot, json;
    gd_device_choice device;
} gd_graph_request;

static const char details[] =
    "The command builds the graph of the chain and runs nothing. For each edge it shows the kind, "
    "whether the two kernels overlap, and if not, why.\n\n" GD_RECORDEDPROGRAM_DETAILS "\n\n"
    "The JSON document has 'nodes' and 'edges'; 'reason' is GRIDDEP_REASON_* of griddep.h.\n";

static int report_graph_error(const griddep_error *error)
{
    return gd_message_library(error, "the graph of the chain");
}

/* ---- for people ---- */

static const char *edge_kind(const griddep_graph_edge_info *edge)
{
    return edge->type == GRIDDEP_EDGE_PROGRAMMATIC ? "programmatic"
           : edge->type < 0                        ? "not told"
                                                   : "plain";
}

/* A long name loses its middle, as in tables of traces. */
static void add_launch(gd_columns *table, const gd_plan *plan, uint32_t launch)
{
    const gd_traceview view = {.plan = plan};
    char *label = gd_traceview_label(&view, launch, LABEL, "~");
    gd_columns_add(table, "%s", label);
    free(label);
}

static int add_edge(gd_columns *table, const griddep_graph *graph, const gd_plan *plan,
                    uint32_t index)
{
    griddep_graph_edge_info edge = {.size = sizeof(edge)};
    griddep_error error;
    griddep_error_init(&error);
    if (griddep_graph_get_edge(graph, index, &edge, &error) != GRIDDEP_OK)
        return report_graph_error(&error);
    add_launch(table, plan, edge.from);
    add_launch(table, plan, edge.to);
    gd_columns_add(table, "%s", edge_kind(&edge));
    const char *verdict = edge.races ? "races" : griddep_overlap_text(edge.overlap);
    if (edge.reason == GRIDDEP_REASON_OTHER_ORDER)
        gd_columns_add(table, "%s: %s (%u)", verdict, griddep_reason_text(edge.reason),
                       (unsigned)edge.node);
    else
        gd_columns_add(table, "%s: %s", verdict, griddep_reason_text(edge.reason));
    return 0;
}

static int print_table(const griddep_graph *graph, const gd_plan *plan, const char *mode)
{
    gd_columns table = {.column_count = 4, .left = 15, .titled = true};
    uint32_t count = griddep_graph_edge_count(graph);
    int code = 0;
    gd_output_print("chain %s, mode %s: %u %s, %u %s\n", plan->name, mode,
                    (unsigned)plan->launch_count,
                    gd_plural(plan->launch_count, "launch", "launches"), (unsigned)count,
                    gd_plural(count, "edge", "edges"));
    if (count == 0)
        return 0;
    gd_columns_add(&table, "from");
    gd_columns_add(&table, "to");
    gd_columns_add(&table, "edge");
    gd_columns_add(&table, "overlap");
    for (uint32_t i = 0; i < count && code == 0; i++)
        code = add_edge(&table, graph, plan, i);
    if (code == 0) {
        puts("");
        gd_columns_print(&table);
    }
    gd_columns_free(&table);
    return code;
}

/* ---- for programs ---- */

static int print_text(const griddep_graph *graph, int32_t format)
{
    uint64_t bytes = 0;
    griddep_error error;
    griddep_error_init(&error);
    if (griddep_graph_print(graph, format, NULL, 0, &bytes, &error) != GRIDDEP_OK)
        return report_graph_error(&error);
    char *text = gd_heap_take(bytes + 1, 1);
    int code = 0;
    if (griddep_graph_print(graph, format, text, bytes + 1, &bytes, &error) != GRIDDEP_OK)
        code = report_graph_error(&error);
    else
        fputs(text, stdout);
    free(text);
    return code;
}

/* ---- the graph ---- */

static int show_graph(const gd_graph_request *request, const gd_plan *plan, griddep_chain *chain,
                      int32_t mode)
{
    griddep_graph *graph = NULL;
    griddep_error error;
    griddep_error_init(&error);
    if (griddep_graph_from_chain(chain, mode, &graph, &error) != GRIDDEP_OK)
        return report_graph_error(&error);
    /* A driver may refuse what the audit describes. */
    int code =
        griddep_graph_instantiate(graph, &error) == GRIDDEP_OK ? 0 : report_graph_error(&error);
    if (code == 0 && request->svg != NULL)
        code = gd_graphsvg_write(graph, plan, request->mode, request->svg);
    if (code == 0 && (request->dot || request->json))
        code = print_text(graph, request->dot ? GRIDDEP_FORMAT_DOT : GRIDDEP_FORMAT_JSON);
    else if (code == 0)
        code = print_table(graph, plan, request->mode);
    griddep_graph_destroy(graph);
    return code;
}

static int open_and_show(const gd_graph_request *request, const gd_plan *plan, int32_t mode)
{
    griddep_runtime *runtime = NULL;
    griddep_runtime_info info;
    gd_session session = {0};
    int code = gd_device_open(&request->device, &runtime, &info);
    if (code == 0)
        code = gd_session_open(&session, plan, runtime, GRIDDEP_PDL_DEFAULT);
    gd_progress_clear();
    if (code == 0 && !request->dot && !request->json)
        gd_device_print(&info);
    if (code == 0)
        code = show_graph(request, plan, session.chain, mode);
    gd_session_close(&session);
    griddep_runtime_close(runtime);
    return code;
}

static int show_file(const gd_graph_request *request, int32_t mode)
{
    gd_plan plan = {0};
    int code = gd_planfile_load(request->path, &plan);
    if (code == 0)
        code = gd_plan_check_whole(&plan);
    if (code == 0)
        code = gd_outputfile_check();
    if (code == 0)
        code = open_and_show(request, &plan, mode);
    gd_plan_free(&plan);
    return code;
}

static const char examples[] = "The edges as text and as a picture:\n"
                               "    griddep graph examples/fork_join.yaml\n"
                               "    griddep graph examples/fork_join.yaml --svg graph.svg\n"
                               "The launches of a program:\n"
                               "    griddep graph -- ./application\n";

int gd_command_graph(int argc, char **argv)
{
    gd_graph_request request = {.mode = "graph-pdl"};
    gd_recordedprogram recorded = {.launches = GD_RECORDED_LAUNCHES};
    const gd_option options[] = {
        {GD_OPTION_TEXT, "mode", "MODE", "serial, pdl, graph or graph-pdl (the default)",
         (void *)&request.mode, 0, 0},
        {GD_OPTION_FILE, "svg", "FILE", "write a picture: lanes are columns", (void *)&request.svg,
         0, 0},
        {GD_OPTION_FLAG, "dot", NULL, "print the graph for Graphviz", &request.dot, 0, 0},
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &request.json, 0, 0},
        GD_RECORDEDPROGRAM_OPTIONS(&recorded),
        GD_DEVICE_OPTIONS(&request.device),
        {0}};
    const gd_usage usage = {
        .name = "graph",
        .summary = "Shows for each edge of a chain's graph whether its two kernels overlap.",
        .synopsis = "CHAIN.yaml [--mode MODE] [--svg FILE] [--dot | --json]\n"
                    "[--first N] [--launches N] [--mode MODE] [--svg FILE] [--dot | --json] "
                    "-- PROGRAM [ARGUMENT]...",
        .details = details,
        .examples = examples,
        .options = options,
        .words_most = 1};
    size_t count = 0;
    int32_t mode = 0;
    int marker = gd_attachedprogram_find(argc, argv);
    int code = gd_options_read(&usage, marker, argv, &request.path, &count);
    if (code < 0 && (marker < argc) == (request.path != NULL))
        code = marker < argc
                   ? gd_message_error(GD_EXIT_USAGE,
                                      "'%s' is one word too many: a chain, or a program after '--'",
                                      request.path)
                   : gd_options_refuse(&usage);
    if (code < 0 && marker < argc && gd_attachedprogram_check(usage.name, argc, argv, marker) != 0)
        code = GD_EXIT_USAGE;
    if (code >= 0)
        return code;
    if (request.dot && request.json)
        return gd_message_error(GD_EXIT_USAGE,
                                "--dot and --json are two forms of the same; give one");
    code = gd_options_choose_mode(request.mode, &mode);
    if (code == 0 && marker < argc)
        code = gd_recordedprogram_make(&recorded, &request.device, argv + marker + 1);
    if (recorded.path != NULL)
        request.path = recorded.path;
    if (code == 0)
        code = show_file(&request, mode);
    gd_recordedprogram_end(&recorded);
    return code;
}

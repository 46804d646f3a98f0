/* The audit of a graph as text: for Graphviz, and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "run/graph/graph.h"
#include "run/launch/words.h"

/* Both formats know these escapes. */
static void put_escaped(gd_text *text, const char *string)
{
    for (const char *at = string; *at; at++) {
        if (*at == '"' || *at == '\\')
            gd_text_format(text, "\\%c", *at);
        else if ((unsigned char)*at < ' ')
            gd_text_string(text, " ");
        else
            gd_text_append(text, at, 1);
    }
}

/* A string of either format, quoted. */
static void put_string(gd_text *text, const char *string)
{
    gd_text_string(text, "\"");
    put_escaped(text, string);
    gd_text_string(text, "\"");
}

static const char *const port_names[] = {"default", "programmatic", "launch-order"};

static const char *port_name(const griddep_graph_edge_info *edge)
{
    return edge->from_port >= GRIDDEP_PORT_DEFAULT && edge->from_port <= GRIDDEP_PORT_LAUNCH_ORDER
               ? port_names[edge->from_port]
               : "unknown";
}

/* ---- DOT ---- */

static const char *shape_of(int32_t type)
{
    return type == GRIDDEP_GRAPH_NODE_KERNEL        ? "box"
           : type == GRIDDEP_GRAPH_NODE_CHILD       ? "folder"
           : type == GRIDDEP_GRAPH_NODE_CONDITIONAL ? "diamond"
                                                    : "ellipse";
}

/* A launch that its chain names, with what it is below. */
static void put_dot_node(gd_text *text, uint32_t index, const gd_graph_node *of,
                         const griddep_graph_node_info *node)
{
    const char *name = gd_graph_label(of);

    gd_text_format(text, "    n%" PRIu32 " [shape=%s, label=\"", index, shape_of(node->type));
    put_escaped(text, name);
    if (node->name && strcmp(node->name, name) != 0) {
        gd_text_string(text, "\\n");
        put_escaped(text, node->name);
    }
    gd_text_string(text, "\"];\n");
}

static const char *color_of(const griddep_graph_edge_info *edge)
{
    if (edge->races)
        return "red";
    return edge->overlap > 0                            ? "darkgreen"
           : edge->reason == GRIDDEP_REASON_NOT_KERNELS ? "black"
                                                        : "gray40";
}

static void put_dot_edge(gd_text *text, const griddep_graph_edge_info *edge)
{
    gd_text_format(text, "    n%" PRIu32 " -> n%" PRIu32 " [color=%s%s", edge->from, edge->to,
                   color_of(edge), edge->type == GRIDDEP_EDGE_PROGRAMMATIC ? ", style=bold" : "");
    bool kernels = edge->reason != GRIDDEP_REASON_NOT_KERNELS;
    bool port = edge->from_port > GRIDDEP_PORT_DEFAULT;
    if (port || kernels)
        gd_text_format(text, ", label=\"%s%s%s\"", port ? port_name(edge) : "",
                       port && kernels ? "\\n" : "",
                       !kernels      ? ""
                       : edge->races ? "races"
                                     : griddep_text(GRIDDEP_TEXT_OVERLAP, edge->overlap));
    if (kernels)
        gd_text_format(text, ", tooltip=\"%s\"", griddep_text(GRIDDEP_TEXT_REASON, edge->reason));
    gd_text_string(text, "];\n");
}

/* ---- JSON ---- */

static void put_json_flag(gd_text *text, const char *name, bool value)
{
    gd_text_format(text, ", \"%s\": %s", name, value ? "true" : "false");
}

static void put_json_node(gd_text *text, uint32_t index, const gd_graph_node *of,
                          const griddep_graph_node_info *node)
{
    gd_text_format(text, "%s\n    {\"node\": %" PRIu32 ", \"type\": ", index ? "," : "", index);
    put_string(text, gd_graph_type_name(node->type));
    gd_text_string(text, ", \"kernel\": ");
    if (node->type == GRIDDEP_GRAPH_NODE_KERNEL && node->name)
        put_string(text, node->name);
    else
        gd_text_string(text, "null");
    gd_text_string(text, ", \"name\": ");
    if (of->launch_name)
        put_string(text, of->launch_name);
    else
        gd_text_string(text, "null");
    put_json_flag(text, "known", node->traits & GRIDDEP_TRAIT_KNOWN);
    put_json_flag(text, "waits", node->traits & GRIDDEP_TRAIT_WAITS);
    put_json_flag(text, "waits_always", node->traits & GRIDDEP_TRAIT_WAITS_ALWAYS);
    put_json_flag(text, "triggers", node->traits & GRIDDEP_TRAIT_TRIGGERS);
    gd_text_string(text, "}");
}

static void put_json_edge(gd_text *text, uint32_t index, const griddep_graph_edge_info *edge)
{
    bool has_node = edge->reason == GRIDDEP_REASON_OTHER_ORDER ||
                    edge->reason == GRIDDEP_REASON_NODE_BETWEEN ||
                    edge->reason == GRIDDEP_REASON_CONDITIONAL;

    gd_text_format(text,
                   "%s\n    {\"from\": %" PRIu32 ", \"to\": %" PRIu32
                   ", \"port\": \"%s\", \"programmatic\": %s, \"overlap\": \"%s\", \"races\": %s, "
                   "\"reason\": %" PRId32 ", \"text\": ",
                   index ? "," : "", edge->from, edge->to, port_name(edge),
                   edge->type < 0                            ? "null"
                   : edge->type == GRIDDEP_EDGE_PROGRAMMATIC ? "true"
                                                             : "false",
                   gd_overlap_name(edge->overlap), edge->races ? "true" : "false", edge->reason);
    put_string(text, griddep_text(GRIDDEP_TEXT_REASON, edge->reason));
    if (has_node)
        gd_text_format(text, ", \"node\": %" PRIu32, edge->node);
    gd_text_string(text, "}");
}

/* ---- both ---- */

static int32_t put_node(gd_text *text, const griddep_graph *graph, bool json, uint32_t index,
                        griddep_error *error)
{
    griddep_graph_node_info node = {.size = sizeof node};
    int32_t status = griddep_graph_get_node(graph, index, &node, error);

    if (!status && json)
        put_json_node(text, index, &graph->nodes[index], &node);
    else if (!status)
        put_dot_node(text, index, &graph->nodes[index], &node);
    return status;
}

static int32_t put_parts(gd_text *text, const griddep_graph *graph, bool json, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    gd_text_string(text, json ? "\"nodes\": [" : "");
    for (uint32_t i = 0; i < graph->node_count && !status; i++)
        status = put_node(text, graph, json, i, error);
    gd_text_string(text, json ? "\n  ],\n  \"edges\": [" : "");
    for (uint32_t i = 0; i < graph->edge_count && !status; i++) {
        griddep_graph_edge_info edge = {.size = sizeof edge};
        status = griddep_graph_get_edge(graph, i, &edge, error);
        if (!status && json)
            put_json_edge(text, i, &edge);
        else if (!status)
            put_dot_edge(text, &edge);
    }
    gd_text_string(text, json ? "\n  ]" : "");
    return status;
}

static int32_t put_graph(const griddep_graph *graph, bool json, gd_text *text, griddep_error *error)
{
    gd_text_string(text, json ? "{\n  "
                              : "digraph {\n    node [fontname=monospace];\n    edge "
                                "[fontname=monospace, fontsize=10];\n");
    int32_t status = put_parts(text, graph, json, error);
    gd_text_string(text, json ? "\n}\n" : "}\n");
    return status ? status : text->failed ? gd_error_memory(error) : GRIDDEP_OK;
}

/* ---- public ---- */

int32_t griddep_graph_print(const griddep_graph *graph, int32_t format, char *buffer,
                            uint64_t capacity, uint64_t *bytes, griddep_error *error)
{
    gd_text text = {0};
    int32_t status = gd_graph_check(graph, error);

    if (status)
        return status;
    if (format != GRIDDEP_FORMAT_DOT && format != GRIDDEP_FORMAT_JSON)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "format is %" PRId32 ", which is no GRIDDEP_FORMAT_*", format);
    status = put_graph(graph, format == GRIDDEP_FORMAT_JSON, &text, error);
    if (!status)
        status = gd_text_export(text.data, text.bytes, buffer, capacity, bytes, error);
    gd_text_free(&text);
    return status;
}

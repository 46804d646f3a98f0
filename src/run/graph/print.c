/* The audit of a graph as text: for Graphviz, and as JSON. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "run/graph/graph.h"

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
static void put_dot_node(gd_text *text, const char *prefix, uint32_t index, const gd_graph_node *of,
                         const griddep_graph_node_info *node)
{
    const char *name = gd_graph_label(of);

    gd_text_format(text, "    %sn%" PRIu32 " [shape=%s%s, label=\"", prefix, index,
                   shape_of(node->type), node->enabled ? "" : ", style=dashed");
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

static void put_dot_edge(gd_text *text, const char *prefix, const griddep_graph_edge_info *edge)
{
    gd_text_format(text, "    %sn%" PRIu32 " -> %sn%" PRIu32 " [color=%s%s", prefix, edge->from,
                   prefix, edge->to, color_of(edge),
                   edge->type == GRIDDEP_EDGE_PROGRAMMATIC ? ", style=bold" : "");
    bool kernels = edge->reason != GRIDDEP_REASON_NOT_KERNELS;
    bool port = edge->from_port > GRIDDEP_PORT_DEFAULT;
    if (port || kernels)
        gd_text_format(text, ", label=\"%s%s%s\"", port ? port_name(edge) : "",
                       port && kernels ? "\\n" : "",
                       !kernels      ? ""
                       : edge->races ? "races"
                                     : griddep_overlap_text(edge->overlap));
    if (kernels)
        gd_text_format(text, ", tooltip=\"%s\"", griddep_reason_text(edge->reason));
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
    put_string(text, node->type == GRIDDEP_GRAPH_NODE_CONDITIONAL ? node->name
                                                                  : gd_graph_type_name(node->type));
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
    put_json_flag(text, "enabled", node->enabled);
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
                   griddep_overlap_name(edge->overlap), edge->races ? "true" : "false",
                   edge->reason);
    put_string(text, griddep_reason_text(edge->reason));
    if (has_node)
        gd_text_format(text, ", \"node\": %" PRIu32, edge->node);
    gd_text_string(text, "}");
}

/* ---- both ---- */

/* What is written of a graph: the form, and in DOT what its nodes' names begin with. */
typedef struct printing {
    gd_text *text;
    bool json;
} printing;

static int32_t put_parts(const printing *out, const griddep_graph *graph, const char *prefix,
                         griddep_error *error);

/* A graph inside of a body's cluster, in which a point stands for it, so that the node's edge ends
 * somewhere. */
static int32_t put_dot_body(const printing *out, const griddep_graph *body, const char *prefix,
                            uint32_t node, uint32_t number, const char *name, griddep_error *error)
{
    gd_text inner = {0};
    int32_t status = GRIDDEP_OK;

    gd_text_format(&inner, "%sn%" PRIu32 "b%" PRIu32, prefix, node, number);
    const char *words = gd_text_get(&inner);
    gd_text_format(out->text, "    subgraph cluster_%s {\n    label=", words);
    put_string(out->text, name);
    gd_text_format(out->text, ";\n    %s [shape=point];\n", words);
    if (body)
        status = put_parts(out, body, words, error);
    gd_text_format(out->text, "    }\n    %sn%" PRIu32 " -> %s [style=dotted];\n", prefix, node,
                   words);
    out->text->failed |= inner.failed;
    gd_text_free(&inner);
    return status;
}

static int32_t put_body(const printing *out, const gd_graph_node *of, const char *prefix,
                        uint32_t node, uint32_t number, griddep_error *error)
{
    const griddep_graph *body = of->bodies->list[number];
    gd_text name = {0};
    int32_t status = GRIDDEP_OK;

    gd_text_string(&name, gd_graph_body_name(of, number));
    if (of->kind == GRIDDEP_CONDITIONAL_SWITCH)
        gd_text_format(&name, " %" PRIu32, number);
    if (out->json) {
        gd_text_string(out->text, number ? ",\n    {\"body\": " : "\n    {\"body\": ");
        put_string(out->text, gd_text_get(&name));
        gd_text_string(out->text, ", ");
        status = put_parts(out, body, "", error);
        gd_text_string(out->text, "}");
    } else {
        status = put_dot_body(out, body, prefix, node, number, gd_text_get(&name), error);
    }
    out->text->failed |= name.failed;
    gd_text_free(&name);
    return status;
}

static int32_t put_node(const printing *out, const griddep_graph *graph, const char *prefix,
                        uint32_t index, griddep_error *error)
{
    const gd_graph_bodies *bodies = graph->nodes[index].bodies;
    griddep_graph_node_info node = {.size = sizeof node};
    int32_t status = griddep_graph_get_node(graph, index, &node, error);

    if (status)
        return status;
    if (out->json)
        put_json_node(out->text, index, &graph->nodes[index], &node);
    else
        put_dot_node(out->text, prefix, index, &graph->nodes[index], &node);
    if (bodies && out->json)
        gd_text_string(out->text, ", \"bodies\": [");
    for (uint32_t i = 0; bodies && i < bodies->count && !status; i++)
        status = put_body(out, &graph->nodes[index], prefix, index, i, error);
    gd_text_string(out->text, !out->json ? "" : bodies ? "]}" : "}");
    return status;
}

/* Nodes and edges; of a body that is NULL there are none. */
static int32_t put_parts(const printing *out, const griddep_graph *graph, const char *prefix,
                         griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    gd_text_string(out->text, out->json ? "\"nodes\": [" : "");
    for (uint32_t i = 0; graph && i < graph->node_count && !status; i++)
        status = put_node(out, graph, prefix, i, error);
    gd_text_string(out->text, out->json ? "\n  ],\n  \"edges\": [" : "");
    for (uint32_t i = 0; graph && i < graph->edge_count && !status; i++) {
        griddep_graph_edge_info edge = {.size = sizeof edge};
        status = griddep_graph_get_edge(graph, i, &edge, error);
        if (!status && out->json)
            put_json_edge(out->text, i, &edge);
        else if (!status)
            put_dot_edge(out->text, prefix, &edge);
    }
    gd_text_string(out->text, out->json ? "\n  ]" : "");
    return status;
}

static int32_t put_graph(const griddep_graph *graph, bool json, gd_text *text, griddep_error *error)
{
    const printing out = {.text = text, .json = json};

    gd_text_string(text, json ? "{\n  "
                              : "digraph {\n    node [fontname=monospace];\n    edge "
                                "[fontname=monospace, fontsize=10];\n");
    int32_t status = put_parts(&out, graph, "", error);
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

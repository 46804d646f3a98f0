/* A graph as a picture: a column for each lane, and a row for each step of the longest way to a
 * launch. Edges lie below the boxes. Colours and the viewer's ground are as in pictures of traces
 * (tracesvg.c). */
#include "cli/show/graphsvg.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/outputfile.h"
#include "cli/io/xml.h"
#include "cli/show/traceview.h"

enum {
    MARGIN = 24,
    TOP = 96,
    LETTER = 7,
    MOST_LETTERS = 34,
    LEAST_BOX = 120,
    BOX = 38,
    GAP = 46, /* below a box and beside it */
    LEAST_WIDTH = 660
};

typedef struct gd_graphsvg {
    const griddep_graph *graph;
    const gd_plan *plan;
    FILE *stream;
    uint32_t *rows; /* by launch */
    uint32_t row_count;
    double *lefts, *widths; /* by lane */
    double width, height;
} gd_graphsvg;

static const char style[] =
    "<style>\n"
    "svg{font:12px system-ui,'DejaVu Sans',sans-serif}\n"
    ".b{fill:#fff}text{fill:#222}.s{fill:#666;font-size:11px}.t{font-size:15px;font-weight:600}\n"
    ".n{fill:#f4f6f8;stroke:#5b6670}.k{stroke-dasharray:4 3}\n"
    ".e{fill:none;stroke:#6b7680;stroke-width:1.2}.e.p{stroke-width:2.6}.e.o{stroke:#00795c}\n"
    ".e.r{stroke:#c43c00}.m{fill:#6b7680}.m.o{fill:#00795c}.m.r{fill:#c43c00}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".b{fill:#14171a}text{fill:#e6e6e6}.s{fill:#a0a6ac}.n{fill:#22272c;stroke:#8a949e}\n"
    ".e{stroke:#98a2ac}.e.o{stroke:#1fbf91}.e.r{stroke:#f07b2e}\n"
    ".m{fill:#98a2ac}.m.o{fill:#1fbf91}.m.r{fill:#f07b2e}\n"
    "}\n"
    "</style>\n";

static griddep_graph_edge_info get_edge(const gd_graphsvg *svg, uint32_t index)
{
    griddep_graph_edge_info edge = {.size = sizeof(edge)};
    griddep_graph_get_edge(svg->graph, index, &edge, NULL);
    return edge;
}

/* ---- layout ---- */

/* Each launch stands below those before it in its lane, and below all that it waits for: edges lead
 * to later launches. */
static void find_rows(gd_graphsvg *svg)
{
    const uint32_t edges = griddep_graph_edge_count(svg->graph);
    uint32_t *free_rows = gd_heap_take(svg->plan->lane_count, sizeof(uint32_t));
    for (uint32_t i = 0; i < svg->plan->launch_count; i++) {
        uint32_t lane = svg->plan->launches[i].lane, row = free_rows[lane];
        for (uint32_t k = 0; k < edges; k++) {
            griddep_graph_edge_info edge = get_edge(svg, k);
            if (edge.to == i && edge.from < i && row <= svg->rows[edge.from])
                row = svg->rows[edge.from] + 1;
        }
        svg->rows[i] = row;
        free_rows[lane] = row + 1;
        svg->row_count = row >= svg->row_count ? row + 1 : svg->row_count;
    }
    free(free_rows);
}

/* What is written in a box: the launch behind its number, and its kernel where it has a name. */
static char *label_of(const gd_graphsvg *svg, uint32_t index)
{
    const gd_traceview view = {.plan = svg->plan};
    return gd_traceview_label(&view, index, MOST_LETTERS, "\u2026");
}

static bool is_named(const gd_graphsvg *svg, uint32_t index)
{
    const gd_plan_launch *launch = &svg->plan->launches[index];
    return launch->name != NULL && strcmp(launch->name, launch->kernel) != 0;
}

static char *kernel_of(const gd_graphsvg *svg, uint32_t index)
{
    const char *kernel = svg->plan->launches[index].kernel;
    return gd_heap_format("%.*s%s", MOST_LETTERS, kernel,
                          strlen(kernel) > MOST_LETTERS ? "\u2026" : "");
}

static void find_columns(gd_graphsvg *svg)
{
    double left = MARGIN;
    for (uint32_t i = 0; i < svg->plan->launch_count; i++) {
        double *width = &svg->widths[svg->plan->launches[i].lane];
        char *label = label_of(svg, i), *kernel = kernel_of(svg, i);
        size_t letters = gd_traceview_columns(label);
        size_t below = is_named(svg, i) ? gd_traceview_columns(kernel) : 0;
        double own = (double)(LETTER * (letters > below ? letters : below) + 24);
        *width = own > *width ? own : *width;
        free(kernel);
        free(label);
    }
    for (uint32_t lane = 0; lane < svg->plan->lane_count; lane++) {
        svg->widths[lane] = svg->widths[lane] < LEAST_BOX ? LEAST_BOX : svg->widths[lane];
        svg->lefts[lane] = left;
        left += svg->widths[lane] + 2 * GAP;
    }
    svg->width = left - GAP < LEAST_WIDTH ? LEAST_WIDTH : left - GAP;
    svg->height = TOP + (double)svg->row_count * (BOX + GAP) - GAP + MARGIN;
}

static double top_of(const gd_graphsvg *svg, uint32_t launch)
{
    return TOP + (double)svg->rows[launch] * (BOX + GAP);
}

static double middle_of(const gd_graphsvg *svg, uint32_t launch)
{
    uint32_t lane = svg->plan->launches[launch].lane;
    return svg->lefts[lane] + svg->widths[lane] / 2;
}

/* ---- the picture ---- */

static void put_words(const gd_graphsvg *svg, double x, double y, const char *kind,
                      const char *anchor, const char *words)
{
    fprintf(svg->stream, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", kind, x, y,
            anchor);
    gd_xml_put(svg->stream, words);
    fputs("</text>\n", svg->stream);
}

static const char *color_of(const griddep_graph_edge_info *edge)
{
    return edge->races ? " r" : edge->overlap > 0 ? " o" : "";
}

static void put_edge(const gd_graphsvg *svg, uint32_t index)
{
    const griddep_graph_edge_info edge = get_edge(svg, index);
    uint32_t lane = svg->plan->launches[edge.from].lane;
    double x = middle_of(svg, edge.from), y = top_of(svg, edge.from) + BOX;
    double to_x = middle_of(svg, edge.to), to_y = top_of(svg, edge.to);
    const char *color = color_of(&edge);
    bool beside =
        lane == svg->plan->launches[edge.to].lane && svg->rows[edge.to] > svg->rows[edge.from] + 1;
    char *from = gd_plan_launch_text(svg->plan, edge.from),
         *to = gd_plan_launch_text(svg->plan, edge.to);
    char *title = gd_heap_format("%s to %s: %s: %s", from, to,
                                 edge.races ? "races" : griddep_overlap_text(edge.overlap),
                                 griddep_reason_text(edge.reason));
    fputs("<g><title>", svg->stream);
    gd_xml_put(svg->stream, title);
    fprintf(svg->stream, "</title><path class=\"e%s%s\" marker-end=\"url(#e%s)\" d=\"", color,
            edge.type == GRIDDEP_EDGE_PROGRAMMATIC ? " p" : "", *color ? color + 1 : "");
    if (beside) { /* around the boxes between them */
        double side = svg->lefts[lane] + svg->widths[lane];
        y -= BOX / 2.0;
        to_y += BOX / 2.0;
        fprintf(svg->stream, "M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", side, y, side + GAP, y,
                side + GAP, to_y, side + 1, to_y);
    } else if (to_x < x + 1 && to_x > x - 1) {
        fprintf(svg->stream, "M%.1f %.1fV%.1f", x, y, to_y - 1);
    } else {
        fprintf(svg->stream, "M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x, y, x, y + GAP, to_x,
                to_y - GAP, to_x, to_y - 1);
    }
    fputs("\"/></g>\n", svg->stream);
    free(title);
    free(to);
    free(from);
}

static void put_box(const gd_graphsvg *svg, uint32_t index)
{
    const gd_plan_launch *launch = &svg->plan->launches[index];
    double x = svg->lefts[launch->lane], y = top_of(svg, index), width = svg->widths[launch->lane];
    char *label = label_of(svg, index), *kernel = kernel_of(svg, index);
    bool named = is_named(svg, index);
    fputs("<g><title>", svg->stream);
    gd_xml_put(svg->stream, gd_plan_launch_name(svg->plan, index));
    if (named) {
        fputs(": ", svg->stream);
        gd_xml_put(svg->stream, launch->kernel);
    }
    fprintf(svg->stream,
            "</title><rect class=\"n%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" "
            "rx=\"%d\"/>\n",
            launch->node == GRIDDEP_GRAPH_NODE_KERNEL ? "" : " k", x, y, width, BOX,
            launch->node == GRIDDEP_GRAPH_NODE_KERNEL ? 3 : BOX / 2);
    put_words(svg, x + width / 2, y + (named ? 16 : 23), "", "middle", label);
    if (named)
        put_words(svg, x + width / 2, y + 30, "s", "middle", kernel);
    fputs("</g>\n", svg->stream);
    free(kernel);
    free(label);
}

static void put_legend(const gd_graphsvg *svg)
{
    static const struct {
        const char *kind, *words;
    } entries[] = {{"e p o", "programmatic, overlaps"},
                   {"e p", "programmatic, no overlap"},
                   {"e", "plain"},
                   {"e r", "races"}};
    double x = MARGIN;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        fprintf(svg->stream, "<path class=\"%s\" d=\"M%.1f 62h24\"/>\n", entries[i].kind, x);
        put_words(svg, x + 30, 66, "s", "start", entries[i].words);
        x += 58 + 6.2 * (double)strlen(entries[i].words);
    }
}

static void put_lane_names(const gd_graphsvg *svg)
{
    for (uint32_t lane = 0; lane < svg->plan->lane_count && svg->plan->lane_count > 1; lane++) {
        const char *name = svg->plan->lanes[lane];
        char *words = name != NULL ? gd_heap_format("lane %s", name) : gd_heap_string("lane 0");
        put_words(svg, svg->lefts[lane] + svg->widths[lane] / 2, TOP - 8, "s", "middle", words);
        free(words);
    }
}

static void put_picture(const gd_graphsvg *svg, const char *mode)
{
    static const char *const ends[] = {"", "o", "r"};
    const uint32_t edges = griddep_graph_edge_count(svg->graph);
    char *about =
        gd_heap_format("graph of mode %s, %u %s, %u %s", mode, (unsigned)svg->plan->launch_count,
                       gd_plural(svg->plan->launch_count, "launch", "launches"), (unsigned)edges,
                       gd_plural(edges, "edge", "edges"));
    fprintf(svg->stream,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" "
            "height=\"%g\" role=\"img\">\n<title>",
            svg->width, svg->height, svg->width, svg->height);
    gd_xml_put(svg->stream, svg->plan->name);
    fprintf(svg->stream, "</title>\n%s<defs>\n", style);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        fprintf(svg->stream,
                "<marker id=\"e%s\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"9\" "
                "markerHeight=\"9\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">"
                "<path class=\"m %s\" d=\"M0 0L6 3L0 6z\"/></marker>\n",
                ends[i], ends[i]);
    fprintf(svg->stream, "</defs>\n<rect class=\"b\" width=\"%g\" height=\"%g\"/>\n", svg->width,
            svg->height);
    put_words(svg, MARGIN, 24, "t", "start", svg->plan->name);
    put_words(svg, MARGIN, 43, "s", "start", about);
    put_legend(svg);
    put_lane_names(svg);
    for (uint32_t i = 0; i < edges; i++)
        put_edge(svg, i);
    for (uint32_t i = 0; i < svg->plan->launch_count; i++)
        put_box(svg, i);
    fputs("</svg>\n", svg->stream);
    free(about);
}

int gd_graphsvg_write(const griddep_graph *graph, const gd_plan *plan, const char *mode,
                      const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    gd_graphsvg svg = {.graph = graph, .plan = plan, .stream = open_memstream(&text, &bytes)};
    if (svg.stream == NULL)
        return gd_message_error(GD_EXIT_REFUSED, "there is no memory for the picture");
    svg.rows = gd_heap_take(plan->launch_count, sizeof(*svg.rows));
    svg.lefts = gd_heap_take(plan->lane_count, sizeof(*svg.lefts));
    svg.widths = gd_heap_take(plan->lane_count, sizeof(*svg.widths));
    find_rows(&svg);
    find_columns(&svg);
    put_picture(&svg, mode);
    bool failed = ferror(svg.stream) != 0;
    failed |= fclose(svg.stream) != 0;
    int code = failed ? gd_message_error(GD_EXIT_REFUSED, "there is no memory for the picture")
                      : gd_outputfile_write(path, text, bytes);
    free(text);
    free(svg.rows);
    free(svg.lefts);
    free(svg.widths);
    return code;
}

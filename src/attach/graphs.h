/* Graphs as the driver tells of them. */
#ifndef GD_ATTACH_GRAPHS_H
#define GD_ATTACH_GRAPHS_H

#include <stdbool.h>
#include <stddef.h>

#include "attach/map.h"
#include "emulator/abi.h"

/* Graphs in graphs in graphs; deeper ones are not looked at. */
enum { GD_GRAPH_MOST_NESTED = 16 };

/* What the driver tells about one graph. */
typedef struct gd_graph_view {
    gd_CUgraphNode *nodes, *from, *to;
    gd_CUgraphEdgeData *data;
    size_t node_count, edge_count;
    gd_map index; /* node -> address of its place in nodes */
} gd_graph_view;

bool gd_graph_view_read(gd_CUgraph graph, gd_graph_view *into);
void gd_graph_view_free(gd_graph_view *graph);
size_t gd_graph_view_index(const gd_graph_view *graph, gd_CUgraphNode node);

gd_CUgraphNodeType gd_graph_node_type(gd_CUgraphNode node);

/* What a kernel's node launches, by whichever handle it has, and how, in no stream. */
gd_CUfunction gd_graph_function(const gd_CUDA_KERNEL_NODE_PARAMS *params);
gd_CUlaunchConfig gd_graph_config(const gd_CUDA_KERNEL_NODE_PARAMS *params);

/* The graph in a node; NULL. */
gd_CUgraph gd_graph_child(gd_CUgraphNode node);

bool gd_graph_is_programmatic(const gd_CUgraphEdgeData *edge);

/* Edges that were made plain, to be put back. All zero: none. */
typedef struct gd_plain_edges {
    struct gd_plain_edge *list;
    uint32_t count;
} gd_plain_edges;

/* Makes all edges of a graph and of the graphs in it plain. What a driver does not let be changed
 * stays. */
void gd_graphs_make_plain(gd_CUgraph graph, gd_plain_edges *edges);
void gd_graphs_restore(gd_plain_edges *edges);

#endif

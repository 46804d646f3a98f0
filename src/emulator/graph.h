/* Graphs: nodes and edges as the program made them, and executable graphs, which are flat copies in an order in which
 * they can run. */
#ifndef GD_EMULATOR_GRAPH_H
#define GD_EMULATOR_GRAPH_H

#include "emulator/object.h"
#include "emulator/work.h"

typedef struct gd_graph gd_graph;
typedef struct gd_stream gd_stream;

typedef struct gd_node {
    gd_object object;
    gd_graph *graph;
    gd_work work;
    uint32_t index;
    bool marked;
    void *origin; /* handle of the node that this one is a clone of; NULL */
} gd_node;

typedef struct gd_graph_edge {
    uint32_t from, to; /* indices of nodes */
    gd_CUgraphEdgeData data;
} gd_graph_edge;

struct gd_graph {
    gd_object object;
    gd_node **nodes;
    uint32_t node_count, node_capacity;
    gd_graph_edge *edges;
    uint32_t edge_count, edge_capacity;
    bool child; /* owned by a node */
};

/* NULL when memory runs out. */
gd_graph *gd_graph_create(void);
gd_graph *gd_graph_clone(const gd_graph *graph);
void gd_graph_destroy(gd_graph *graph);

/* Adds a node of work that is taken over in any case; NULL when memory runs out. */
gd_node *gd_graph_add_node(gd_graph *graph, gd_work *work);
bool gd_graph_add_edge(gd_graph *graph, uint32_t from, uint32_t to, const gd_CUgraphEdgeData *data);
void gd_graph_remove_node(gd_node *node);

/* Whether an edge between these nodes may be of that kind. */
bool gd_graph_allows(const gd_node *from, const gd_node *to, const gd_CUgraphEdgeData *data);

/* Marks the nodes from which an edge path leads to a marked node. */
void gd_graph_mark_ancestors(gd_graph *graph);

typedef struct gd_executable_node {
    void *handle; /* of the graph's node */
    gd_work work;
    bool enabled;
} gd_executable_node;

typedef struct gd_executable {
    gd_object object;
    gd_executable_node *nodes; /* no edge leads to an earlier one */
    uint32_t node_count, node_capacity;
    gd_graph_edge *edges;
    uint32_t edge_count, edge_capacity;
    uint64_t flags;
    struct gd_task *last; /* of its last launch */
} gd_executable;

/* Makes *executable of a graph; INVALID_VALUE when the graph has a cycle. */
gd_CUresult gd_executable_create(const gd_graph *graph, struct gd_context *context, uint64_t flags,
                                 gd_executable **executable);
void gd_executable_destroy(gd_executable *executable);
gd_CUresult gd_executable_launch(gd_executable *executable, gd_stream *stream);

/* The node that was made of a graph's node; NULL. */
gd_executable_node *gd_executable_find(gd_executable *executable, const void *handle);

#endif

/* Graphs: nodes and edges as the program made them. */
#ifndef GD_EMULATOR_SCHEDULE_GRAPH_H
#define GD_EMULATOR_SCHEDULE_GRAPH_H

#include "emulator/schedule/condition.h"
#include "emulator/schedule/object.h"
#include "emulator/schedule/user_object.h"
#include "emulator/schedule/work.h"

typedef struct gd_graph gd_graph;

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
    gd_condition **conditions; /* of an outermost graph: for its nodes and those of their bodies */
    uint32_t condition_count, condition_capacity;
    gd_user_list user_objects;
    gd_graph *parent; /* of a conditional node's body */
    bool child;       /* owned by a node */
};

/* NULL when memory runs out. */
gd_graph *gd_graph_create(void);
gd_graph *gd_graph_clone(const gd_graph *graph);
void gd_graph_destroy(gd_graph *graph);

/* The graph that the conditional nodes around a body belong to; the graph itself. */
gd_graph *gd_graph_outermost(gd_graph *graph);

/* Adds a condition, which is held from then on; its handle is how many there are then. */
bool gd_graph_add_condition(gd_graph *graph, gd_condition *condition);

/* Whether some node of it is conditional. */
bool gd_graph_is_conditional(const gd_graph *graph);

/* Adds a node of work that is taken over in any case; NULL when memory runs out. */
gd_node *gd_graph_add_node(gd_graph *graph, gd_work *work);
bool gd_graph_add_edge(gd_graph *graph, uint32_t from, uint32_t to, const gd_CUgraphEdgeData *data);
void gd_graph_remove_node(gd_node *node);

/* Whether two nodes run on one device, or on any: kernels of two devices know nothing of each
 * other's triggers. */
bool gd_graph_is_on_one_device(const gd_node *from, const gd_node *to);

/* Whether an edge between these nodes may be of that kind. */
bool gd_graph_allows(const gd_node *from, const gd_node *to, const gd_CUgraphEdgeData *data);

/* Marks the nodes from which an edge path leads to a marked node. */
void gd_graph_mark_ancestors(gd_graph *graph);

#endif

/* Executable graphs: flat copies of graphs, in an order in which they can run. */
#ifndef GD_EMULATOR_SCHEDULE_EXECUTABLE_H
#define GD_EMULATOR_SCHEDULE_EXECUTABLE_H

#include "emulator/schedule/graph.h"
#include "emulator/schedule/schedule.h"

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
    gd_condition_set *conditions; /* held; NULL: there are none, or it is a branch */
    gd_user_list user_objects;    /* of the graph, and of those in it */
    gd_task *last;                /* of its last launch */
} gd_executable;

/* Both add behind those that are there, and are false when memory runs out. The work is taken over
 * in any case. */
bool gd_executable_add_node(gd_executable *executable, void *handle, gd_work *work);
bool gd_executable_add_edge(gd_executable *executable, uint32_t from, uint32_t to,
                            gd_CUgraphEdgeData data);

/* One that is part of a conditional node; NULL when memory runs out. */
gd_executable *gd_executable_copy(const gd_executable *executable);
void gd_executable_destroy(gd_executable *executable);

/* A launch, which hands in a task for each node. */
typedef struct gd_launching {
    const gd_executable *executable;
    gd_context *context;
    uint64_t stream;              /* number of the stream */
    gd_condition_set *conditions; /* of the whole graph */
    gd_task **tasks;              /* by node; held */
    gd_work *works;               /* by node, until its task has it */
    gd_dependency *list;          /* room for the dependencies of one node */
} gd_launching;

/* Copies the work of the nodes that are enabled; false when memory runs out. It is ended in any
 * case. */
bool gd_launching_begin(gd_launching *launch);
void gd_launching_end(gd_launching *launch);

/* Where the work of a node runs: a kernel in the context that it is of, which may be another
 * device's, all else in the context of the launch. */
gd_context *gd_launching_context(const gd_launching *launch, const gd_work *work);

/* Hands in a node, but not the first, behind those before it and behind the event's task, which may
 * be NULL; false when memory runs out. */
bool gd_launching_add(gd_launching *launch, uint32_t index, gd_task *event);

/* Takes the node's condition as it is, and hands in what it says; the node's task is over by
 * that. */
gd_CUresult gd_executable_branch(gd_task *task);

#endif

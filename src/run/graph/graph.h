/* A graph: nodes and edges as the library keeps them, and what the driver was given of them.
 *
 * A graph that was made here is given to the driver whole, when it is instantiated, so that nothing
 * half-built is ever there; a structural change drops what the driver has. An adopted graph is the
 * other way round: the driver's graph is what counts, and nodes and edges were read from it. */
#ifndef GD_RUN_GRAPH_H
#define GD_RUN_GRAPH_H

#include <stdatomic.h>

#include "griddep.h"
#include "base/text.h"
#include "ptx/check/launches.h"
#include "run/launch/call.h"

typedef struct gd_node_list {
    uint32_t *edges;
    uint32_t count, capacity;
} gd_node_list;

typedef struct gd_graph_node {
    int32_t type;          /* GRIDDEP_GRAPH_NODE_* */
    gd_CUgraphNode handle; /* in the driver's graph; NULL: not there yet */
    griddep_kernel
        *kernel;   /* whose traits are known; its module is held. NULL: not one of the runtime's */
    gd_call *call; /* NULL: no kernel, or an adopted one whose arguments are not known */
    char *name;    /* of a kernel without `kernel`; NULL */
    char *launch_name; /* that the chain gives it; NULL */
    uint32_t traits;   /* of a kernel */
    int32_t
        pdl; /* GRIDDEP_PDL_* of a kernel without a call: AUTO, or OFF where its launch was captured
              * so */
    uint64_t target, source, bytes; /* copy and fill */
    uint8_t value;                  /* fill */
    griddep_host_function function;
    void *user;
    gd_early_touch described_touch; /* of a kernel that griddep_graph_describe tells of */
    gd_CUevent event;
    gd_CUDA_KERNEL_NODE_PARAMS params; /* shape of an adopted kernel */
    gd_node_list before, after;        /* edges to it and from it */
} gd_graph_node;

typedef struct gd_graph_edge {
    uint32_t from, to;
    int32_t port, type; /* as asked for; in an adopted graph, as the driver has it */
    int32_t reason;     /* GRIDDEP_REASON_* that a plain edge was asked for with; -1: none */
    bool
        upgraded; /* made programmatic by griddep_graph_upgrade; in an adopted graph, about to be */
    bool chosen;  /* by an upgrade: programmatic, unless it is held back now */
    bool held;    /* an upgrade would have it programmatic if its node did not race */
    bool checked, races; /* by the chain that the graph was made from */
} gd_graph_edge;

/* What an upgrade holds back, and who found it out. */
typedef struct gd_graph_held {
    const struct gd_graph_held_kind *kind;
    uint32_t count; /* of the graph's nodes, when this was made */
    bool *held;     /* by node: it would race if it started early */
} gd_graph_held;

/* Edges that an upgrade has chosen follow what is found. */
typedef struct gd_graph_held_kind {
    int32_t (*look_again)(griddep_graph *graph,
                          griddep_error *error);                  /* arguments are other ones */
    int32_t (*renew)(griddep_graph *graph, griddep_error *error); /* nodes are */
    void (*end)(gd_graph_held *held);
} gd_graph_held_kind;

/* Who decided about early starts with what the nodes' arguments are. */
typedef struct gd_graph_proof_kind {
    /* Decides again: nodes have changed. On failure edges are as before. */
    int32_t (*look_again)(void *proof, griddep_graph *graph, griddep_error *error);
    void (*end)(void *proof);
} gd_graph_proof_kind;

struct griddep_graph {
    atomic_uint references;
    griddep_runtime *runtime;
    gd_graph_node *nodes;
    uint32_t node_count, node_capacity;
    gd_graph_edge *edges;
    uint32_t edge_count, edge_capacity;
    gd_CUgraph handle;   /* NULL: not made yet */
    gd_CUgraphExec exec; /* NULL: not instantiated */
    bool adopted;
    griddep_module *
        *held; /* by an adopted graph: modules whose kernels may stand in graphs within it */
    uint32_t held_count;
    bool borrowed; /* the handle is somebody else's */
    bool lossy;    /* adopted from a driver that does not tell ports and types */
    void *proof;   /* owned; NULL: the arguments decided nothing */
    const gd_graph_proof_kind *proof_kind;
    gd_graph_held *held_back; /* NULL: nobody has upgraded the graph */
};

/* ---- graph.c */

extern const gd_call_owner gd_graph_owner;

int32_t gd_graph_make(griddep_runtime *runtime, griddep_graph **graph, griddep_error *error);
griddep_graph *gd_graph_hold(griddep_graph *graph);

/* Checks what public calls share: the error, and that the graph is not NULL. */
int32_t gd_graph_check(const griddep_graph *graph, griddep_error *error);
int32_t gd_graph_check_node(const griddep_graph *graph, uint32_t node, griddep_error *error);
int32_t gd_graph_check_edge(const griddep_graph *graph, uint32_t edge, griddep_error *error);

/* Room for one more node, zeroed, whose number is node_count - 1. */
gd_graph_node *gd_graph_append(griddep_graph *graph, int32_t type);

/* What all ways to add a node begin with: *added is the new node; and what they end with. */
int32_t gd_graph_add(griddep_graph *graph, int32_t type, const uint32_t *node,
                     gd_graph_node **added, griddep_error *error);
int32_t gd_graph_finish(griddep_graph *graph, uint32_t *node, griddep_error *error);

/* Takes back the last node that was appended, and what it holds. */
void gd_graph_drop_last(griddep_graph *graph);

int32_t gd_graph_add_event(griddep_graph *graph, gd_CUevent event, uint32_t *node,
                           griddep_error *error);
int32_t gd_graph_add_call(griddep_graph *graph, gd_call *call, uint32_t *node,
                          griddep_error *error);

/* Adds an edge without any check, or takes one away. */
int32_t gd_graph_append_edge(griddep_graph *graph, const gd_graph_edge *edge, griddep_error *error);
void gd_graph_drop_edge(griddep_graph *graph, uint32_t index);

/* Gives back what was instantiated, and the driver's graph where it was made here. */
void gd_graph_drop(griddep_graph *graph);

/* Whether a path of edges leads from a node to another one. On failure of memory *leads is not
 * written. */
int32_t gd_graph_leads(const griddep_graph *graph, uint32_t from, uint32_t to, bool *leads,
                       griddep_error *error);

/* Appends "node 3 (kernel step)". */
void gd_graph_name(const griddep_graph *graph, uint32_t node, gd_text *text);

/* What a chain calls the launch; else its kernel's name; else what it is. */
const char *gd_graph_label(const gd_graph_node *node);

/* The same as a string for messages; "a node" when memory runs out. `text` keeps it. */
const char *gd_graph_node_words(const griddep_graph *graph, uint32_t node, gd_text *text);

/* "kernel", "fill", ... */
const char *gd_graph_type_name(int32_t type);

/* ---- audit.c */

/* Port and type as the edge has them. */
gd_CUgraphEdgeData gd_graph_edge_data(const gd_graph_edge *edge);

/* GRIDDEP_PDL_* of a node. */
int32_t gd_graph_pdl(const gd_graph_node *node);

/* What an edge is, or becomes, in the driver's graph; returns the GRIDDEP_REASON_* for it. In an
 * adopted graph a switch that is off makes an edge plain that is not: gd_graph_make_plain. */
int32_t gd_graph_resolve(const griddep_graph *graph, const gd_graph_edge *edge,
                         gd_CUgraphEdgeData *data);

/* The same of an edge that is to be added, also to an adopted graph. */
int32_t gd_graph_decide(const griddep_graph *graph, const gd_graph_edge *edge,
                        gd_CUgraphEdgeData *data);

int32_t gd_graph_judge(const griddep_graph *graph, uint32_t index, griddep_graph_edge_info *info,
                       griddep_error *error);

/* ---- change.c */

/* The call of an adopted kernel, with the arguments that the driver has for it now. NULL: they
 * cannot be read. */
int32_t gd_graph_read_call(const griddep_graph *graph, uint32_t index, gd_call **call,
                           griddep_error *error);

/* Gives a kernel node another call, which is held, with the attributes and `pdl` that it has. */
int32_t gd_graph_set_call(griddep_graph *graph, uint32_t node, gd_call *call, griddep_error *error);

/* Gives a copy or fill other addresses, and a fill another value. */
int32_t gd_graph_set_move(griddep_graph *graph, uint32_t node, const gd_graph_node *as,
                          griddep_error *error);

/* ---- inner.c: graphs by their handles. The context is current. */

typedef struct gd_edge_arrays {
    gd_CUgraphNode *from, *to;
    gd_CUgraphEdgeData *data;
    size_t count;
} gd_edge_arrays;

/* The nodes, to free; the edges of a driver that has cuGraphGetEdges. Nothing is to be freed after
 * a failure. */
int32_t gd_graph_list_nodes(const gd_driver *driver, gd_CUgraph handle, gd_CUgraphNode **nodes,
                            size_t *count, griddep_error *error);
int32_t gd_graph_list_edges(const gd_driver *driver, gd_CUgraph handle, gd_edge_arrays *edges,
                            griddep_error *error);
void gd_edge_arrays_free(gd_edge_arrays *edges);

/* Whether the driver changes edges; and exchanges one. On failure it is as before, unless the
 * driver refuses that too. */
int32_t gd_graph_check_exchange(const gd_driver *driver, griddep_error *error);
gd_CUresult gd_graph_exchange(const gd_driver *driver, gd_CUgraph graph, const gd_CUgraphNode *from,
                              const gd_CUgraphNode *to, gd_CUgraphEdgeData old,
                              gd_CUgraphEdgeData new);

/* Gives plain edges to the graphs in nodes of an adopted one, where a switch that is off wants it.
 * UNSUPPORTED where the driver does not tell what is in a node: nobody knows then. */
int32_t gd_graph_make_inner_plain(const griddep_graph *graph, griddep_error *error);

/* ---- upgrade.c. The context is current. */

/* Gives plain edges to the driver's graph of an adopted one, and to those in its nodes, where a
 * switch that is off wants it. */
int32_t gd_graph_make_plain(griddep_graph *graph, griddep_error *error);

/* griddep_graph_upgrade, given what is held back. */
int32_t gd_graph_upgrade(griddep_graph *graph, uint32_t *count, griddep_error *error);

/* Makes an edge that an upgrade has chosen programmatic, or plain because its node would race. */
int32_t gd_graph_hold_edge(griddep_graph *graph, gd_graph_edge *edge, bool hold,
                           griddep_error *error);

/* ---- build.c. The context is current. */

/* The nodes in an order in which no edge leads back. */
int32_t gd_graph_sort(const griddep_graph *graph, uint32_t *order, griddep_error *error);

/* What the driver has of a graph. */
typedef struct gd_graph_made {
    gd_CUgraph handle;
    gd_CUgraphExec exec;   /* NULL: not instantiated */
    gd_CUgraphNode *nodes; /* by node; NULL for an adopted graph, whose nodes have their handles */
} gd_graph_made;

/* Gives the last node, or an edge that is checked, to the driver's graph of an adopted one, whose
 * context need not be current. The edge is then in the graph too, as the driver has it. */
int32_t gd_graph_insert(griddep_graph *graph, uint32_t index, griddep_error *error);
int32_t gd_graph_insert_edge(griddep_graph *graph, gd_graph_edge *edge, griddep_error *error);

/* Takes an edge from the driver's graph of an adopted one, and drops what was instantiated. The
 * list is left alone. */
int32_t gd_graph_withdraw_edge(griddep_graph *graph, uint32_t index, griddep_error *error);

/* Builds and instantiates, beside what the graph has already. */
int32_t gd_graph_prepare(griddep_graph *graph, gd_graph_made *made, griddep_error *error);

/* Puts what was made in place of what the graph has. */
void gd_graph_install(griddep_graph *graph, gd_graph_made *made);

/* Gives back what was made; not the driver's graph of an adopted one. */
void gd_graph_discard(const griddep_graph *graph, gd_graph_made *made);

/* Makes what a launch needs, if it is not there. */
int32_t gd_graph_make_ready(griddep_graph *graph, griddep_error *error);

/* A copy or a fill as the driver takes it. */
gd_CUDA_MEMCPY3D gd_graph_copy_params(const gd_graph_node *node);
gd_CUDA_MEMSET_NODE_PARAMS_v1 gd_graph_fill_params(const gd_graph_node *node);

/* Reports that the driver refused a node. */
int32_t gd_graph_fail_node(const griddep_graph *graph, uint32_t index, gd_CUresult result,
                           griddep_error *error);

#endif

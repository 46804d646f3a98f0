/* Graphs that are instantiated. The caller holds the lock. */
#ifndef GD_ATTACH_GRAPHS_H
#define GD_ATTACH_GRAPHS_H

#include "emulator/abi.h"

/* Records the kernels of a graph and what stands between them; `changed` edges were made plain. */
void gd_graphs_add(gd_CUgraphExec executable, gd_CUgraph graph, uint32_t changed);
void gd_graphs_launch(gd_CUgraphExec executable);
void gd_graphs_end(gd_CUgraphExec executable);

/* Edges that were made plain, to be put back. All zero: none. */
typedef struct gd_plain_edges {
    struct gd_plain_edge *list;
    uint32_t count;
} gd_plain_edges;

/* Makes all edges of a graph and of the graphs in it plain. What a driver does not let be changed
 * stays. */
void gd_graphs_make_plain(gd_CUgraph graph, gd_plain_edges *edges);
void gd_graphs_restore(gd_plain_edges *edges);

/* In a child process. */
void gd_graphs_forget(void);

#endif

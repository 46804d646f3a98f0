/* Executable graphs: which kernels they launch, and behind what. Those that are alike share a
 * record. The caller holds the lock. */
#ifndef GD_ATTACH_EXECUTABLES_H
#define GD_ATTACH_EXECUTABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/abi.h"

/* An executable graph was made of a graph, of which `changed` edges were made plain for that. */
void gd_executables_add(gd_CUgraphExec executable, gd_CUgraph graph, uint32_t changed);

/* It was updated to a graph with the same nodes and edges. Of a program's first 4,096 updates each
 * one is read, of later ones each 64th. */
void gd_executables_update(gd_CUgraphExec executable, gd_CUgraph graph);

/* A node of its graph launches another kernel, or is (not) left out, or is another graph. */
void gd_executables_set_kernel(gd_CUgraphExec executable, gd_CUgraphNode node,
                               const gd_CUDA_KERNEL_NODE_PARAMS *params);
void gd_executables_enable(gd_CUgraphExec executable, gd_CUgraphNode node, bool enabled);
void gd_executables_set_child(gd_CUgraphExec executable, gd_CUgraphNode node, gd_CUgraph child);

/* Whether a programmatic edge leads to a node which launches another kernel up to now. */
bool gd_executables_is_early(gd_CUgraphExec executable, gd_CUgraphNode node,
                             const gd_CUDA_KERNEL_NODE_PARAMS *params);

void gd_executables_launch(gd_CUgraphExec executable);
void gd_executables_end(gd_CUgraphExec executable);

/* In a child process. */
void gd_executables_forget(void);

#endif

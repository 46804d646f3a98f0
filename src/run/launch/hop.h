/* What a chain tells of one of its launches in a mode. ready.c fills it, explain.c reads it. */
#ifndef GD_RUN_HOP_H
#define GD_RUN_HOP_H

#include "griddep.h"
#include "run/launch/launch.h"

#define GD_HOP_NONE UINT32_MAX /* as GD_CHAIN_NONE */

typedef struct gd_hop {
    const griddep_runtime *runtime;
    const char *name;             /* of the launch; else of its kernel; else what it is, */
    const char *what;             /* "copy" */
    const griddep_kernel *kernel; /* NULL: it is none */
    const gd_launch *launch;      /* likewise */
    uint32_t index;
    uint32_t previous; /* index of the launch before it in its lane; of a lane's first, the last
                        * that it waits for; GD_HOP_NONE: it is the first */
    uint32_t others;   /* more launches, of other lanes, that it waits for */
    bool by_event;     /* in a stream mode, of another lane */
    const griddep_graph
        *graph;     /* of a chain with several lanes: a node for each launch; else NULL */
    int32_t reason; /* GRIDDEP_REASON_*: whether it begins early beside that one */
    int32_t edge;   /* as griddep_hop_info.edge */
} gd_hop;

/* The mode must be prepared, the index within the chain. */
int32_t gd_chain_read_hop(griddep_chain *chain, int32_t mode, uint32_t index, gd_hop *hop,
                          griddep_error *error);

#endif

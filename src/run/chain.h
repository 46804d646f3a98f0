/* A chain: its launches in lanes, what they depend on across lanes, and what each mode made
 * ready. */
#ifndef GD_RUN_CHAIN_H
#define GD_RUN_CHAIN_H

#include "griddep.h"
#include "run/call.h"

#define GD_CHAIN_NONE UINT32_MAX

/* An argument as an address: 0 where it is none, and how far it reaches; 0: not known. */
typedef struct gd_chain_address {
    uint64_t at, bytes;
} gd_chain_address;

/* A launch of a chain without a runtime. */
typedef struct gd_chain_entry {
    const griddep_ptx *ptx; /* held; NULL: the code is not known */
    char *name;             /* NULL: likewise */
    int32_t pdl;
    gd_chain_address *addresses; /* by argument; NULL: arguments are not known */
} gd_chain_entry;

typedef struct gd_chain_launch {
    gd_call *call;         /* NULL in a chain without a runtime */
    gd_chain_entry *entry; /* NULL in a chain with one */
    griddep_use *uses;     /* by argument, elements owned; NULL, or size 0: nothing was said */
    uint32_t argument_count;
    uint32_t lane;
    uint32_t previous; /* in its lane; GD_CHAIN_NONE: the first */
    uint32_t *on;      /* launches of other lanes that it waits for */
    uint32_t on_count;
    bool watched; /* a launch of another lane waits for it */
    bool early;   /* in mode pdl those may begin at its trigger: each of them waits on every path,
                   * and the launch can record it */
} gd_chain_launch;

/* A lane besides the first: a stream of its own. */
typedef struct gd_chain_lane {
    gd_CUstream stream;
    gd_CUevent end; /* of the lane's last launch */
} gd_chain_lane;

/* What stream modes need for several lanes. While a capture has it, it cannot serve outside of
 * that, nor be ended unless the capture is spoilt. */
typedef struct gd_chain_lanes {
    struct gd_chain_lanes *next; /* in the runtime's list of those set aside */
    gd_chain_lane *list;         /* [0] is not used */
    uint32_t count;
    gd_CUevent start;   /* of the chain, for the other lanes */
    gd_CUevent *events; /* recorded behind launches, by launch; NULL where nothing waits for one */
    uint32_t event_count;
    bool captured; /* the last run was into a capture, which may have them still */
} gd_chain_lanes;

/* What a graph mode made ready. */
typedef struct gd_chain_graph {
    gd_CUgraphExec exec;  /* of a chain with one lane; NULL: not made yet */
    griddep_graph *graph; /* of one with several, or with launches that record events */
    int8_t *edges;        /* for each launch, as griddep_hop_info.edge */
} gd_chain_graph;

struct griddep_chain {
    griddep_runtime *runtime; /* NULL: its launches are entries of PTX, to be checked */
    gd_chain_launch *launches;
    uint32_t count, capacity;
    uint32_t *last; /* launch of each lane */
    uint32_t lane_count;
    gd_chain_lanes *lanes;                     /* made by the first run in a stream mode */
    bool lanes_ready;                          /* nothing was added since */
    gd_chain_graph graphs[GRIDDEP_MODE_COUNT]; /* of stream modes: the order of lanes, which nobody
                                                * instantiates */
};

/* ---- chain.c */

/* The launch before one: in its lane or, for a lane's first, the last that it waits for.
 * GD_CHAIN_NONE. */
uint32_t gd_chain_previous(const gd_chain_launch *launch);

/* What a launch says in a mode: GRIDDEP_PDL_*. */
int32_t gd_chain_pdl(const griddep_chain *chain, int32_t mode, uint32_t index);

/* Whether a launch sets attribute 6 in a mode, or has a programmatic edge from the launch before:
 * GRIDDEP_REASON_*. */
int32_t gd_chain_decide(const griddep_chain *chain, int32_t mode, uint32_t index);

/* Whether the launch `to` begins early beside `from`, which comes before it in its lane or which it
 * waits for: GRIDDEP_REASON_*. A forced launch is forced in its lane; beside launches of others its
 * wait decides. */
int32_t gd_chain_decide_after(const griddep_chain *chain, int32_t mode, uint32_t from, uint32_t to);

/* Appends a call to its lane, which is there or comes next; it is taken over on success. */
int32_t gd_chain_append(griddep_chain *chain, gd_call *call, griddep_error *error);

/* Whether the chain can be run in a mode: it has a runtime. */
int32_t gd_chain_can_run(const griddep_chain *chain, int32_t mode, griddep_error *error);

/* ---- chain_check.c */

/* What stands behind each argument, said or inferred, by launch and argument one after the other; to
 * free. The context need not be current. */
int32_t gd_chain_read_uses(const griddep_chain *chain, griddep_use **uses, griddep_error *error);

/* Checks the chain, its launches' texts in place of their modules' where `texts` (may be NULL) has
 * one, and their `pdl` where that is not NULL. */
int32_t gd_chain_check_as(const griddep_chain *chain, const griddep_ptx *const *texts,
                          const int32_t *pdl, griddep_findings **findings, griddep_error *error);

/* Launches one in a stream, which records an event at its trigger unless it is NULL; the context is
 * current. */
int32_t gd_chain_launch_one(const griddep_chain *chain, int32_t mode, uint32_t index,
                            gd_CUstream stream, gd_CUevent event, griddep_error *error);

/* ---- chain_lane.c. The context is current. */

struct gd_capture_state;

/* Launches all of a chain that has several lanes. */
int32_t gd_chain_launch_lanes(griddep_chain *chain, int32_t mode, gd_CUstream stream,
                              griddep_error *error);

/* Makes the streams and events of the lanes that are not there yet, or that another capture than
 * the stream's has. */
int32_t gd_chain_make_lanes(griddep_chain *chain, const struct gd_capture_state *capture,
                            griddep_error *error);

/* Gives streams and events back, or sets those that a capture has aside. Takes NULL, and the
 * runtime's whole list. The context need not be current. */
void gd_chain_end_lanes(griddep_runtime *runtime, gd_chain_lanes *lanes);

/* Forgets them; nothing is asked of the driver. */
void gd_chain_free_lanes(gd_chain_lanes *lanes);

/* A graph of the launches in a mode. */
int32_t gd_chain_make_graph(const griddep_chain *chain, int32_t mode, griddep_graph **graph,
                            griddep_error *error);

#endif

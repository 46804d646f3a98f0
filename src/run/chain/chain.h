/* A chain: its entries in lanes, what they depend on across lanes, their sets of arguments, and
 * what each mode made ready. An entry is a launch of a kernel, a copy, a fill or a host
 * function; where nothing else is said, "launch" means any of them. */
#ifndef GD_RUN_CHAIN_H
#define GD_RUN_CHAIN_H

#include "griddep.h"
#include "base/text.h"
#include "ptx/check/launches.h"
#include "run/group/group.h"
#include "run/launch/call.h"

#define GD_CHAIN_NONE UINT32_MAX

/* An argument as an address: 0 where it is none, and how far it reaches; 0: not known. */
typedef struct gd_chain_address {
    uint64_t at, bytes;
} gd_chain_address;

/* What a copy, a fill or a host function does. */
typedef struct gd_chain_move {
    uint64_t target, source, bytes; /* a fill has no source, a host function none of them */
    uint8_t value;
    griddep_host_function function;
    void *user;
} gd_chain_move;

/* A hop of a group that NCCL carries out; its addresses are those of the move. */
typedef struct gd_chain_large {
    griddep_module *module; /* held: it holds the group, also for captures */
    const griddep_group *group;
    uint32_t member;
    gd_group_step step;
    uint64_t bytes, source_bytes, target_bytes; /* of one part, and of all */
} gd_chain_large;

typedef struct gd_chain_launch {
    /* Owned, with the elements of uses; ptx is held. Uses are NULL, or of size 0, where nothing was
     * said. Of a kernel with a call, that tells ptx, entry, pdl and traits. */
    gd_check_launch given;
    const struct griddep_chain *of; /* the chain */
    gd_chain_address *addresses;    /* by argument, in a chain without a runtime; NULL: not known */
    gd_chain_large *large;          /* NULL: it is none */
    uint32_t previous;              /* in its lane; GD_CHAIN_NONE: the first */
    bool behind_kernel, before_kernel; /* of what is no kernel: it stands beside one */
    bool watched;                      /* a launch of another lane waits for it */
    bool held;  /* the check finds a race if it began early (gd_chain_prove_hops): it does not,
                   * unless forced */
    bool hop;   /* of a group: its addresses alone may change */
    bool early; /* in mode pdl those may begin at its trigger: each of them waits on every path,
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
    gd_later later;      /* first; set aside in the runtime's list */
    gd_chain_lane *list; /* [0] is not used */
    uint32_t count;
    gd_CUevent start;   /* of the chain, for the other lanes */
    gd_CUevent *events; /* recorded behind launches, by launch; NULL where nothing waits for one */
    uint32_t event_count;
    bool captured; /* the last run was into a capture, which may have them still */
} gd_chain_lanes;

/* What a graph mode made ready: so many rounds of the chain as one graph. Node r * count + i is
 * launch i in round r. */
typedef struct gd_chain_graph {
    griddep_graph *graph; /* NULL: not made yet, or captured */
    gd_CUgraphExec exec;  /* captured, where the driver takes programmatic edges in no other way */
    int8_t *edges;        /* of one round, for each launch, as griddep_hop_info.edge */
    uint32_t rounds;
} gd_chain_graph;

/* Graphs are of 1, 2, 4, ... rounds. */
enum {
    GD_CHAIN_POWERS = 11,
    GD_CHAIN_GRAPHS = GRIDDEP_MODE_COUNT * GD_CHAIN_POWERS,
    GD_CHAIN_MOST_NODES = 1024
};

/* What a set of arguments has to itself. */
typedef struct gd_chain_set {
    gd_call **calls; /* by launch; NULL in a chain without a runtime, and of what is no kernel */
    gd_chain_move *moves;                   /* by launch, of what is no kernel */
    gd_chain_graph graphs[GD_CHAIN_GRAPHS]; /* at mode * GD_CHAIN_POWERS + power; of stream modes:
                                             * the order of lanes, which nobody instantiates */
    uint64_t made;                          /* a bit for each of them that there is */
    uint32_t nodes;                         /* of each launch, in all of them */
    int32_t proof;     /* whether round may follow round early: 1, 0; -1: not looked at */
    griddep_use *uses; /* that the proof was made with */
    bool *held;        /* by launch, as in the launches; NULL: not looked at */
    bool held_known, proof_known; /* nothing has changed since */
    griddep_use *hop_uses;        /* that `held` was found with; NULL: it is so whatever they are */
} gd_chain_set;

struct griddep_chain {
    griddep_runtime *runtime; /* NULL: its launches are entries of PTX, to be checked */
    gd_chain_launch *launches;
    uint32_t count, capacity;
    uint32_t *last; /* launch of each lane */
    uint32_t lane_count;
    gd_chain_lanes *lanes;     /* made by the first run in a stream mode */
    bool lanes_ready;          /* nothing was added since */
    gd_chain_set **sets, *now; /* the selected one */
    uint32_t set_count;
    bool hops_known;                /* what is held was found with the selected set as it is */
    bool always_safe, always_known; /* whatever the arguments are, no launch is held */
    uint32_t exposures;             /* gd_runtime_exposures when it was looked at last */
    gd_check_facts *facts;          /* NULL: nobody has asked yet */
    griddep_findings *found;        /* by the check, when it was asked last; NULL: not known */
    griddep_use *found_uses;        /* with these arguments */
    gd_chain_address *buffers;      /* that the caller told of */
    uint32_t buffer_count, buffer_capacity;
    gd_group_program *programs; /* what it does in groups; NULL: nothing */
    bool held_given;            /* the launches are copies of others, which say what is held */
};

/* What a launch has in the selected set. */
static inline gd_call *gd_chain_call(const gd_chain_launch *launch)
{
    return launch->of->now->calls[launch - launch->of->launches];
}

static inline griddep_kernel *gd_chain_kernel(const gd_chain_launch *launch)
{
    const gd_call *call = gd_chain_call(launch);

    return call ? call->kernel : NULL;
}

static inline gd_chain_move *gd_chain_move_of(const gd_chain_launch *launch)
{
    return &launch->of->now->moves[launch - launch->of->launches];
}

/* ---- decide.c */

bool gd_chain_is_graph(int32_t mode);
bool gd_chain_overlaps(int32_t mode);
bool gd_chain_is_kernel(const griddep_chain *chain, uint32_t index);

/* The launch before one: in its lane or, for a lane's first, the last that it waits for.
 * GD_CHAIN_NONE. */
uint32_t gd_chain_previous(const gd_chain_launch *launch);

/* What a launch says in a mode: GRIDDEP_PDL_*. */
int32_t gd_chain_pdl(const griddep_chain *chain, int32_t mode, uint32_t index);

/* Whether a launch begins early in a mode, as griddep_hop_info.reason tells: GRIDDEP_REASON_*. */
int32_t gd_chain_decide(const griddep_chain *chain, int32_t mode, uint32_t index);

/* Whether the launch `to` begins early beside `from`, which comes before it in its lane or which it
 * waits for: GRIDDEP_REASON_*. A forced launch is forced in its lane; beside launches of others its
 * wait decides. */
int32_t gd_chain_decide_after(const griddep_chain *chain, int32_t mode, uint32_t from, uint32_t to);

/* The same of the first launch beside the last one of the round before. What the check says of that
 * is known: gd_chain_prove_round. */
int32_t gd_chain_decide_round(const griddep_chain *chain, int32_t mode);

/* Whether a launch can record its trigger for other lanes; and what one that waits for others takes
 * from that. */
void gd_chain_decide_trigger(const griddep_chain *chain, gd_chain_launch *launch);
void gd_chain_follow_trigger(griddep_chain *chain, const gd_chain_launch *launch);
void gd_chain_decide_triggers(griddep_chain *chain);

/* ---- chain.c */

extern const gd_call_owner gd_chain_owner;

/* Appends a hop of NCCL; what it has is copied. */
int32_t gd_chain_append_large(griddep_chain *chain, const griddep_launch_config *config,
                              const gd_chain_large *large, uint64_t source, uint64_t target,
                              griddep_error *error);

/* Appends a launch like one of another chain, with another call where it is a kernel's, which is
 * taken over on success, else with a move, and with what was said of its arguments, without what it
 * depends on. */
int32_t gd_chain_append_like(griddep_chain *chain, const gd_chain_launch *launch, gd_call *call,
                             const gd_chain_move *move, griddep_error *error);

/* Tells a chain of the buffers that another one was told of. */
int32_t gd_chain_add_buffers_of(griddep_chain *chain, const griddep_chain *other,
                                griddep_error *error);

/* Nothing is said any more of a launch's arguments. */
void gd_chain_forget_uses(gd_chain_launch *launch);

bool gd_chain_has_large(const griddep_chain *chain);

/* The name of a launch's kernel; else what it is, "copy". And the name that the caller gave it;
 * else that. */
const char *gd_chain_kernel_name(const gd_chain_launch *launch);
const char *gd_chain_name(const gd_chain_launch *launch);

/* Whether a copy, fill or host function can be so. */
int32_t gd_chain_check_move(int32_t node, const gd_chain_move *move, griddep_error *error);

int32_t gd_chain_no_launch(const griddep_chain *chain, uint32_t index, griddep_error *error);

/* Whether the chain can be run in a mode: it has a runtime. */
int32_t gd_chain_can_run(const griddep_chain *chain, int32_t mode, griddep_error *error);

/* Launches one in a stream, with the decision about attribute 6; it records an event at its trigger
 * unless that is NULL. The context is current. */
int32_t gd_chain_launch_one(const griddep_chain *chain, int32_t mode, uint32_t index,
                            int32_t reason, gd_CUstream stream, gd_CUevent event,
                            griddep_error *error);

/* ---- ready.c */

/* What the selected set has of a mode, of 2 to the power rounds. What is put there is noted. */
void gd_chain_note_graph(const griddep_chain *chain, int32_t mode, uint32_t power);
gd_chain_graph *gd_chain_graph_of(const griddep_chain *chain, int32_t mode, uint32_t power);

/* Gives back what the graph modes made of all sets, or of one. */
void gd_chain_drop_graphs(griddep_chain *chain);
void gd_chain_drop_set_graphs(const griddep_chain *chain, gd_chain_set *set);

/* ---- change.c */

/* A set like the selected one. NULL: no memory. */
gd_chain_set *gd_chain_make_set(const griddep_chain *chain);
void gd_chain_free_set(const griddep_chain *chain, gd_chain_set *set);

/* Room for a launch in all sets; and what the last one has there. The call is taken over. */
bool gd_chain_grow_sets(griddep_chain *chain, uint32_t capacity);
void gd_chain_fill_sets(griddep_chain *chain, gd_call *call, const gd_chain_move *move);

/* Gives a launch another call, which is taken over, in the selected set. */
void gd_chain_set_call(griddep_chain *chain, uint32_t index, gd_call *call);

/* ---- check.c */

/* By launch one after the other: what stands behind each argument, said or inferred, and what the
 * launch is said to reach; to free. The context need not be current. */
int32_t gd_chain_read_uses(const griddep_chain *chain, griddep_use **uses, griddep_error *error);

/* How many bytes a launch may write from where each of its arguments points to, by launch and
 * argument: 0 where it writes nothing there, 1 where nobody tells how many. */
int32_t gd_chain_read_writes(const griddep_chain *chain, griddep_use *uses, uint64_t *bytes,
                             griddep_error *error);

/* As gd_check_sharing (ptx/check/launches.h), of the chain's launches. */
int32_t gd_chain_find_sharing(const griddep_chain *chain, uint32_t *first, uint32_t *second,
                              griddep_error *error);

/* Checks the chain, its launches' texts in place of their modules' where `texts` (may be NULL) has
 * one, and their `pdl` where that is not NULL. */
int32_t gd_chain_check_as(const griddep_chain *chain, const griddep_ptx *const *texts,
                          const int32_t *pdl, griddep_findings **findings, griddep_error *error);

/* Finds out which launches the check finds a race of if they begin early, and holds them back. All
 * that decides about a mode that overlaps asks this first; once for all arguments where they do not
 * matter. */
int32_t gd_chain_prove_hops(griddep_chain *chain, int32_t mode, griddep_error *error);

/* Appends why a launch is held, or what race it is forced into: one that is sure, if there is one.
 */
int32_t gd_chain_tell_hazard(griddep_chain *chain, uint32_t index, gd_text *text, bool *sure,
                             griddep_error *error);

/* By launch: whether the check finds such a race. */
int32_t gd_chain_find_races(griddep_chain *chain, bool *races, griddep_error *error);

/* Arguments of the selected set are different; or launches, order, configurations or uses. */
void gd_chain_forget_held(griddep_chain *chain);
void gd_chain_forget_all_held(griddep_chain *chain);

/* What the check found, when the chain or its facts end. */
void gd_chain_forget_found(griddep_chain *chain);

/* Finds out whether the first launch of a round may begin beside the last one of the round before:
 * whether the check of two rounds finds no hazard that it would not find if it began behind it. The
 * first that it finds is appended to `text`, which may be NULL. */
int32_t gd_chain_prove_round(griddep_chain *chain, gd_text *text, griddep_error *error);

/* ---- lane.c. The context is current. */

struct gd_capture_state;

/* Launches all of a chain that has several lanes. */
int32_t gd_chain_launch_lanes(griddep_chain *chain, int32_t mode, gd_CUstream stream,
                              griddep_error *error);

/* Makes the streams and events of the lanes that are not there yet, or that another capture than
 * the stream's has. */
int32_t gd_chain_make_lanes(griddep_chain *chain, const struct gd_capture_state *capture,
                            griddep_error *error);

/* Gives streams and events back, or sets them aside where a capture has them. Takes NULL. The
 * context need not be current. */
void gd_chain_end_lanes(griddep_runtime *runtime, gd_chain_lanes *lanes);

/* ---- graph.c */

/* A graph of so many rounds of the launches in a mode. */
int32_t gd_chain_make_graph(const griddep_chain *chain, int32_t mode, uint32_t rounds,
                            griddep_graph **graph, griddep_error *error);

/* Gives a launch of a kernel the call that a node has now. Whether it is one of another kernel or
 * with another `pdl`: then all that is held is to be found anew. */
bool gd_chain_follow_call(griddep_chain *chain, uint32_t index, gd_call *call);

#endif

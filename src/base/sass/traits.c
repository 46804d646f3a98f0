/* The paths from the first instruction to the waits, as a graph. An instruction is two nodes, the
 * second one for paths that have met a barrier. Behind those of all instructions come pairs of
 * hubs, so that there are few edges: for each of 16 barriers, where threads meet that were parted,
 * and where functions return; then the one node where threads end. tests/cli/cubins.sh holds what
 * is found against the PTX's own traits where ptxas is installed. */
#include "base/sass/traits.h"

#include <stdlib.h>

#include "base/sass/registers.h"
#include "griddep.h"

/* Of those from FIRST_OTHER on, these reach no memory but the block's own, and constants; of the
 * rest nothing is known here. */
enum { FIRST_OTHER = 0x120, RETURNING = 16 };

static const uint16_t private_kinds[] = {
    0x182, /* LDC: constants */
    0x183, /* LDL: local memory */
    0x184, /* LDS: shared memory */
    0x187, /* STL */
    0x188, /* STS */
    0x189, /* SHFL */
    0x18c, /* ATOMS, atomic operations in shared memory */
    0x18d, /* the same, with a comparison */
    0x192, /* MEMBAR */
    0x1a1, /* MATCH */
    0x1a7, /* SYNCS: mbarriers */
    0x1ab, /* ERRBAR */
    0x1ac, /* LDCU: constants */
    0x1af, /* LDGDEPBAR: what was begun before is counted */
    0x1b0, /* ARRIVES */
    0x1b2, /* SYNCS, uniform */
    0x1c2, /* R2UR */
    0x1c3, /* S2UR */
    0x1c4, /* REDUX */
    0x1c6, /* FENCE */
    0x1c7, /* UCGABAR: barriers of a cluster */
    0x1c8, /* USETMAXREG */
};

/* Behind these a thread may stand behind another one's wait. */
enum { BAR = 0x11d, SYNCS = 0x1a7, UCGABAR = 0x1c7 };

typedef struct edge {
    uint64_t from, to;
} edge;

typedef struct graph {
    gd_view code;
    uint64_t count, node_count;     /* of instructions, and nodes */
    uint8_t *reached, *dry, *alone; /* by node; see below */
    uint64_t *waiting;              /* nodes from which to go on */
    uint64_t waiting_count;
    edge *edges;
    uint64_t edge_count, edge_room;
    bool failed; /* no memory */
    bool waits, triggers, calls;
    bool touches[2]; /* what may reach other memory than the block's own, likewise by barrier */
    bool open;       /* a path leads where it cannot be followed */
} graph;

static uint64_t node_of(uint64_t index, bool behind)
{
    return 2 * index + behind;
}

/* Where paths come together that lead on from elsewhere: RETURNING, or a barrier's number. */
static uint64_t hub_of(const graph *in, uint32_t which, bool behind)
{
    return node_of(in->count + which, behind);
}

static uint64_t end_of(const graph *in)
{
    return in->node_count - 1;
}

static void reach(graph *in, uint64_t node)
{
    if (in->reached[node])
        return;
    in->reached[node] = 1;
    in->waiting[in->waiting_count++] = node;
}

static void add_edge(graph *in, uint64_t from, uint64_t to)
{
    if (in->edge_count == in->edge_room) {
        const uint64_t room = in->edge_room ? 2 * in->edge_room : 4 * in->count + 64;
        edge *grown = realloc(in->edges, (size_t)room * sizeof *grown);
        in->failed |= !grown;
        if (!grown)
            return;
        in->edges = grown;
        in->edge_room = room;
    }
    in->edges[in->edge_count++] = (edge){from, to};
    if (in->reached[from])
        reach(in, to);
}

static void go_to(graph *in, uint64_t from, int64_t index, bool behind)
{
    if (index < 0 || (uint64_t)index >= in->count)
        in->open = true;
    else
        add_edge(in, from, node_of((uint64_t)index, behind));
}

/* By the distance in bytes, from the next instruction on. */
static void go_by(graph *in, uint64_t from, int64_t distance)
{
    if (distance % GD_SASS_BYTES)
        in->open = true;
    else
        go_to(in, from, (int64_t)(from / 2) + 1 + distance / GD_SASS_BYTES, from % 2);
}

/* A distance in words of 4 bytes: its low byte in bits 16 to 23, the rest from bit 34 on. */
static int64_t distance_of(gd_sass of)
{
    const uint64_t words = (of.low >> 16 & 0xff) | of.low >> 34 << 8 | (of.high & 0x3ffff) << 38;

    return (int64_t)(words << 8) / 64; /* of 56 bits */
}

/* A wait that no predicate guards; the bits from 105 on are for scheduling. */
static bool is_plain(gd_sass of)
{
    return of.low == (GD_SASS_ACQBULK | GD_SASS_ALWAYS << 12) &&
           !(of.high & ((UINT64_C(1) << 41) - 1));
}

/* The paths that come to a hub lead on there, if they have met what is met at a node. */
static void lead_on(graph *in, uint32_t which, uint64_t node, int64_t index)
{
    for (uint32_t behind = node % 2; behind < 2; behind++)
        go_to(in, hub_of(in, which, behind), index, behind);
}

/* Threads that were parted meet again where a BSSY of the same barrier says; instructions that move
 * barriers cannot be followed. */
static uint32_t barrier_of(gd_sass at)
{
    return gd_sass_bits(at, 16, 4);
}

static void step_barrier(graph *in, uint64_t node, gd_sass at)
{
    const int64_t distance = (int32_t)(at.low >> 32);

    in->open |= distance % GD_SASS_BYTES != 0;
    lead_on(in, barrier_of(at), node, (int64_t)(node / 2) + 1 + distance / GD_SASS_BYTES);
}

static void step_control(graph *in, uint64_t node, gd_sass at)
{
    const uint32_t opcode = gd_sass_opcode(at);
    const bool behind = node % 2;
    /* The second predicate of branches and exits, which is always true in these bits. */
    const bool always = (at.low >> 12 & 15) == GD_SASS_ALWAYS && !(at.low >> 24 & 0x3ff) &&
                        (at.high & ((UINT64_C(1) << 41) - 1)) >> 18 == 0x3800000 >> 18;

    switch (opcode) {
    case GD_SASS_EXIT:
    case GD_SASS_KILL:
        add_edge(in, node, end_of(in));
        if (always && !(at.low >> 16))
            return;
        break;
    case GD_SASS_BRA:
    case GD_SASS_BRA_UNIFORM:
        go_by(in, node, distance_of(at));
        if (always && opcode == GD_SASS_BRA)
            return;
        break;
    case GD_SASS_CALL:
        go_by(in, node, distance_of(at));
        lead_on(in, RETURNING, node, (int64_t)(node / 2) + 1);
        if ((at.low >> 12 & 15) == GD_SASS_ALWAYS)
            return;
        break;
    case GD_SASS_RET:
        add_edge(in, node, hub_of(in, RETURNING, behind));
        if ((at.low >> 12 & 15) == GD_SASS_ALWAYS)
            return;
        break;
    case GD_SASS_WARPSYNC:
    case GD_SASS_WARPSYNC_REGISTER:
        if (distance_of(at))
            go_by(in, node, distance_of(at));
        break;
    case GD_SASS_BSYNC:
        add_edge(in, node, hub_of(in, barrier_of(at), behind));
        break;
    case GD_SASS_BSSY:
        step_barrier(in, node, at);
        break;
    case GD_SASS_BREAK:
    case GD_SASS_YIELD:
    case GD_SASS_TRAP:
    case GD_SASS_LEPC:
    case GD_SASS_LEPC_UNIFORM:
    case GD_SASS_NANOSLEEP:
    case GD_SASS_NANOSLEEP_REGISTER:
        break;
    default:
        in->open = true;
        return;
    }
    go_to(in, node, (int64_t)(node / 2) + 1, behind);
}

/* Arithmetic, conversions and special registers come first. */
static bool is_private(uint32_t kind)
{
    bool found = kind < FIRST_OTHER;

    for (size_t i = 0; i < sizeof private_kinds / sizeof *private_kinds && !found; i++)
        found = kind == private_kinds[i];
    return found;
}

static void step(graph *in, uint64_t node)
{
    const gd_sass at = gd_sass_at(in->code, node / 2);
    const uint32_t opcode = gd_sass_opcode(at), kind = opcode & GD_SASS_KIND;
    const bool behind = node % 2 || kind == BAR || kind == SYNCS || kind == UCGABAR;

    if ((opcode & 0x1e0) == GD_SASS_CONTROL) {
        step_control(in, node, at);
        return;
    }
    if (opcode == GD_SASS_ACQBULK && is_plain(at))
        return;
    in->touches[behind] |= !is_private(kind);
    go_to(in, node, (int64_t)(node / 2) + 1, behind);
}

/* There are 34. */
static void enter_hub(graph *in, uint64_t node)
{
    for (uint64_t i = 0; i < in->edge_count; i++) {
        if (in->edges[i].from == node)
            reach(in, in->edges[i].to);
    }
}

static void follow_paths(graph *in)
{
    reach(in, 0);
    in->open |= !in->count;
    while (in->waiting_count && !in->failed) {
        const uint64_t node = in->waiting[--in->waiting_count];
        if (node < 2 * in->count)
            step(in, node);
        else if (node != end_of(in))
            enter_hub(in, node);
    }
}

/* What there is anywhere: behind the wait, where no path is followed, a kernel may still trigger.
 */
static void look_through(graph *in)
{
    for (uint64_t i = 0; i < in->count; i++) {
        const gd_sass at = gd_sass_at(in->code, i);
        const uint32_t opcode = gd_sass_opcode(at);
        const int64_t target = (int64_t)i + 1 + distance_of(at) / GD_SASS_BYTES;
        in->triggers |= opcode == GD_SASS_PREEXIT;
        in->waits |= opcode == GD_SASS_ACQBULK;
        in->calls |= opcode == GD_SASS_CALL_ABSOLUTE || opcode == GD_SASS_CALL_FAR ||
                     (opcode == GD_SASS_CALL && (target < 0 || (uint64_t)target >= in->count));
    }
}

/* ---- which threads do not wait ---- */

/* The edges that leave each node, or that lead to it, by number. */
typedef struct lists {
    uint64_t *first; /* of each node in `edges`, and behind the last one their count */
    uint64_t *edges;
} lists;

static bool make_lists(graph *in, bool by_target, lists *made)
{
    made->first = calloc((size_t)in->node_count + 2, sizeof *made->first);
    made->edges = calloc((size_t)in->edge_count + 1, sizeof *made->edges);
    in->failed |= !made->first || !made->edges;
    for (uint64_t i = 0; !in->failed && i < in->edge_count; i++)
        made->first[(by_target ? in->edges[i].to : in->edges[i].from) + 2]++;
    for (uint64_t i = 2; !in->failed && i <= in->node_count; i++)
        made->first[i + 1] += made->first[i];
    for (uint64_t i = 0; !in->failed && i < in->edge_count; i++)
        made->edges[made->first[(by_target ? in->edges[i].to : in->edges[i].from) + 1]++] = i;
    return !in->failed;
}

static void free_lists(lists *made)
{
    free(made->first);
    free(made->edges);
}

/* Dry: from there a path leads to the end without a wait. */
static void find_dry(graph *in)
{
    lists before;

    if (make_lists(in, true, &before)) {
        in->dry[end_of(in)] = 1;
        in->waiting[in->waiting_count++] = end_of(in);
    }
    while (in->waiting_count) {
        const uint64_t node = in->waiting[--in->waiting_count];
        for (uint64_t i = before.first[node]; i < before.first[node + 1]; i++) {
            const uint64_t from = in->edges[before.edges[i]].from;
            if (!in->dry[from])
                in->waiting[in->waiting_count++] = from;
            in->dry[from] = 1;
        }
    }
    free_lists(&before);
}

/* Adds what is in one set to another; whether that was more than was there. */
static bool join(gd_sass_registers *to, const gd_sass_registers *more)
{
    bool grown = false;

    for (size_t i = 0; i < sizeof to->words / sizeof *to->words; i++) {
        grown |= (more->words[i] & ~to->words[i]) != 0;
        to->words[i] |= more->words[i];
    }
    return grown;
}

/* What is in the registers in front of each node. */
static void find_registers(graph *in, const lists *behind, gd_sass_registers *sets)
{
    uint8_t *queued = in->alone; /* not yet used otherwise */

    in->waiting[in->waiting_count++] = 0;
    queued[0] = 1;
    while (in->waiting_count) {
        const uint64_t node = in->waiting[--in->waiting_count];
        gd_sass_registers set = sets[node];
        queued[node] = 0;
        if (node < 2 * in->count)
            gd_sass_compute(gd_sass_at(in->code, node / 2), &set);
        for (uint64_t i = behind->first[node]; i < behind->first[node + 1]; i++) {
            const uint64_t to = in->edges[behind->edges[i]].to;
            const bool is_new = !(in->reached[to] & 2);
            in->reached[to] |= 2;
            if ((join(&sets[to], &set) | is_new) && !queued[to]) {
                in->waiting[in->waiting_count++] = to;
                queued[to] = 1;
            }
        }
    }
}

/* Whether threads part at a node that are of one grid, some of them to where all wait. */
static bool parts(const graph *in, const lists *behind, const gd_sass_registers *sets,
                  uint64_t node)
{
    bool wet = false;

    for (uint64_t i = behind->first[node]; i < behind->first[node + 1] && !wet; i++)
        wet = !in->dry[in->edges[behind->edges[i]].to];
    return wet && node < 2 * in->count &&
           gd_sass_divides(gd_sass_at(in->code, node / 2), &sets[node]);
}

/* Alone: a path leads there on which no threads have parted from others that wait. */
static void follow_alone(graph *in, const lists *behind, const gd_sass_registers *sets)
{
    in->alone[0] = 1;
    in->waiting[in->waiting_count++] = 0;
    while (in->waiting_count) {
        const uint64_t node = in->waiting[--in->waiting_count];
        const bool parted = parts(in, behind, sets, node);
        for (uint64_t i = behind->first[node]; i < behind->first[node + 1]; i++) {
            const uint64_t to = in->edges[behind->edges[i]].to;
            if (in->alone[to] || (parted && in->dry[to]))
                continue;
            in->alone[to] = 1;
            in->waiting[in->waiting_count++] = to;
        }
    }
}

static void find_alone(graph *in)
{
    gd_sass_registers *sets = calloc((size_t)in->node_count, sizeof *sets);
    lists behind;

    in->failed |= !sets;
    if (make_lists(in, false, &behind)) {
        find_registers(in, &behind, sets);
        follow_alone(in, &behind, sets);
    }
    free_lists(&behind);
    free(sets);
}

/* ---- the result ---- */

/* Where some threads do not wait, and touch memory behind a barrier, which threads it orders behind
 * a wait is not followed. */
static uint32_t conclude(const graph *in)
{
    const bool dry = in->dry[0];
    const bool open = (in->open && (in->waits || in->calls)) ||
                      (dry && in->waits && in->touches[1] && !in->touches[0]);
    uint32_t traits = GRIDDEP_TRAIT_KNOWN | GRIDDEP_TRAIT_MACHINE_CODE;

    traits |= in->waits ? GRIDDEP_TRAIT_WAITS : 0;
    traits |= in->waits && !dry && !open ? GRIDDEP_TRAIT_WAITS_ALWAYS : 0;
    traits |= in->waits && dry && !open && !in->alone[end_of(in)] ? GRIDDEP_TRAIT_OTHERS_WAIT : 0;
    traits |= in->triggers ? GRIDDEP_TRAIT_TRIGGERS : 0;
    traits |= in->calls ? GRIDDEP_TRAIT_CALLS : 0;
    traits |= in->waits && (in->touches[0] || in->touches[1]) ? GRIDDEP_TRAIT_TOUCHES_EARLY : 0;
    return traits | (open ? GRIDDEP_TRAIT_OPEN : 0);
}

int32_t gd_sass_traits(gd_view code, uint32_t *traits)
{
    graph in = {.code = code, .count = code.size / GD_SASS_BYTES};

    in.node_count = 2 * (in.count + RETURNING + 1) + 1;
    in.reached = calloc(3 * (size_t)in.node_count, 1);
    in.waiting = calloc((size_t)in.node_count, sizeof *in.waiting);
    in.failed = !in.reached || !in.waiting;
    if (!in.failed) {
        in.dry = in.reached + in.node_count;
        in.alone = in.dry + in.node_count;
        look_through(&in);
        if (in.waits || in.calls) /* of most kernels nothing else is asked */
            follow_paths(&in);
    }
    if (!in.failed && in.waits)
        find_dry(&in);
    if (!in.failed && in.waits && in.dry[0] && !in.open)
        find_alone(&in);
    if (!in.failed)
        *traits = conclude(&in);
    free(in.reached);
    free(in.waiting);
    free(in.edges);
    return in.failed ? GRIDDEP_ERROR_MEMORY : GRIDDEP_OK;
}

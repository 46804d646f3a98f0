/* Depth-first walks and dominator trees: Lengauer and Tarjan, "A fast algorithm for finding
 * dominators in a flowgraph" (1979), with simple path compression, O(edges * log blocks) for any
 * graph. */
#include <stdlib.h>

#include "ptx/flow/tree.h"

static uint32_t *take(uint32_t count, uint32_t value)
{
    uint32_t *list = malloc(((size_t)count + 1) * sizeof *list);

    for (uint32_t i = 0; list && i < count; i++)
        list[i] = value;
    return list;
}

static uint32_t first_edge(const gd_flow *flow, uint32_t block, bool against)
{
    return against ? flow->blocks[block].predecessor : flow->blocks[block].successor;
}

static uint32_t last_edge(const gd_flow *flow, uint32_t block, bool against)
{
    return against ? flow->blocks[block].predecessor_end : flow->blocks[block].successor_end;
}

/* The deepest block above a finished one that is not yet finished itself. */
static uint32_t find_open(uint32_t *above, uint32_t block)
{
    while (above[block] != block) {
        above[block] = above[above[block]];
        block = above[block];
    }
    return block;
}

/* A walk's own state: the next edge of each block, and who is open above it. */
typedef struct walk_state {
    uint32_t *cursor;
    uint32_t *above;
} walk_state;

static uint32_t enter_block(gd_flow_walk *walk, uint32_t block, uint32_t parent)
{
    walk->number[block] = walk->count;
    walk->block[walk->count] = block;
    walk->parent[walk->count] = parent;
    return walk->count++;
}

static void run_walk(gd_flow_walk *walk, const walk_state *state, const gd_flow *flow,
                     uint32_t root, bool against)
{
    uint32_t at = enter_block(walk, root, GD_PTX_NONE), left = 0;

    while (at != GD_PTX_NONE) {
        uint32_t block = walk->block[at];
        if (state->cursor[block] == last_edge(flow, block, against)) {
            walk->finished[left++] = block;
            at = walk->parent[at];
            if (at != GD_PTX_NONE)
                state->above[block] = walk->block[at];
            continue;
        }
        uint32_t edge = state->cursor[block]++;
        uint32_t target = flow->edges[edge];
        if (walk->number[target] == GD_PTX_NONE)
            at = enter_block(walk, target, at);
        else
            walk->common[edge] = find_open(state->above, target);
    }
}

bool gd_flow_walk_create(gd_flow_walk *walk, const gd_flow *flow, uint32_t root, bool against)
{
    uint32_t nodes = flow->count + 1;
    walk_state state = {.cursor = take(nodes, 0), .above = take(nodes, 0)};

    *walk = (gd_flow_walk){
        .number = take(nodes, GD_PTX_NONE),
        .block = take(nodes, 0),
        .parent = take(nodes, 0),
        .finished = take(nodes, 0),
        .common = take(flow->edge_count, GD_PTX_NONE),
    };
    bool done = state.cursor && state.above && walk->number && walk->block && walk->parent &&
                walk->finished && walk->common;
    if (done) {
        for (uint32_t i = 0; i < nodes; i++) {
            state.cursor[i] = first_edge(flow, i, against);
            state.above[i] = i;
        }
        run_walk(walk, &state, flow, root, against);
    }
    free(state.cursor);
    free(state.above);
    return done;
}

void gd_flow_walk_free(gd_flow_walk *walk)
{
    free(walk->number);
    free(walk->block);
    free(walk->parent);
    free(walk->finished);
    free(walk->common);
    *walk = (gd_flow_walk){0};
}

/* All by number in the walk. */
typedef struct dominator_search {
    uint32_t *semi;
    uint32_t *label;
    uint32_t *ancestor;
    uint32_t *bucket; /* the first block that has this one as its semidominator */
    uint32_t *next;   /* in that bucket */
    uint32_t *immediate;
    uint32_t *path;
} dominator_search;

/* The block of least semidominator on the path from v up to its tree's root, which does not
 * count. */
static uint32_t evaluate(dominator_search *search, uint32_t v)
{
    uint32_t *ancestor = search->ancestor, *label = search->label;
    uint32_t length = 0, u = v;

    if (ancestor[v] == GD_PTX_NONE)
        return v;
    for (; ancestor[ancestor[u]] != GD_PTX_NONE; u = ancestor[u])
        search->path[length++] = u;
    while (length) {
        u = search->path[--length];
        if (search->semi[label[ancestor[u]]] < search->semi[label[u]])
            label[u] = label[ancestor[u]];
        ancestor[u] = ancestor[ancestor[u]];
    }
    return label[v];
}

static void find_semidominator(dominator_search *search, const gd_flow *flow,
                               const gd_flow_walk *walk, bool against, uint32_t w)
{
    uint32_t block = walk->block[w];

    for (uint32_t i = first_edge(flow, block, !against); i < last_edge(flow, block, !against);
         i++) {
        uint32_t v = walk->number[flow->edges[i]];
        if (v == GD_PTX_NONE)
            continue;
        uint32_t semi = search->semi[evaluate(search, v)];
        if (semi < search->semi[w])
            search->semi[w] = semi;
    }
}

static void search_dominators(dominator_search *search, const gd_flow *flow,
                              const gd_flow_walk *walk, bool against)
{
    for (uint32_t w = walk->count - 1; w > 0; w--) {
        find_semidominator(search, flow, walk, against, w);
        search->next[w] = search->bucket[search->semi[w]];
        search->bucket[search->semi[w]] = w;
        uint32_t parent = walk->parent[w];
        search->ancestor[w] = parent;
        for (uint32_t v = search->bucket[parent]; v != GD_PTX_NONE; v = search->next[v]) {
            uint32_t u = evaluate(search, v);
            search->immediate[v] = search->semi[u] < search->semi[v] ? u : parent;
        }
        search->bucket[parent] = GD_PTX_NONE;
    }
    for (uint32_t w = 1; w < walk->count; w++) {
        if (search->immediate[w] != search->semi[w])
            search->immediate[w] = search->immediate[search->immediate[w]];
    }
}

/* Places in the tree, with `semi` for sizes of subtrees and `label` for the next free place below a
 * block. A block's dominator has the smaller number. */
static void place(dominator_search *search, gd_flow *flow, const gd_flow_walk *walk, bool against)
{
    for (uint32_t i = 0; i < walk->count; i++)
        search->semi[i] = 1;
    for (uint32_t i = walk->count - 1; i > 0; i--)
        search->semi[search->immediate[i]] += search->semi[i];
    for (uint32_t i = 0; i < walk->count; i++) {
        gd_flow_block *block = &flow->blocks[walk->block[i]];
        uint32_t above = i ? search->immediate[i] : 0;
        uint32_t enter = i ? search->label[above] : 0;
        search->label[i] = enter + 1;
        if (i)
            search->label[above] += search->semi[i];
        *(against ? &block->postdominator : &block->dominator) =
            i ? walk->block[above] : GD_PTX_NONE;
        *(against ? &block->post_enter : &block->enter) = enter;
        *(against ? &block->post_leave : &block->leave) = enter + search->semi[i];
    }
}

bool gd_flow_dominators(gd_flow *flow, const gd_flow_walk *walk, bool against)
{
    uint32_t count = walk->count;
    dominator_search search = {
        .semi = take(count, 0),
        .label = take(count, 0),
        .ancestor = take(count, GD_PTX_NONE),
        .bucket = take(count, GD_PTX_NONE),
        .next = take(count, GD_PTX_NONE),
        .immediate = take(count, 0),
        .path = take(count, 0),
    };
    bool done = search.semi && search.label && search.ancestor && search.bucket && search.next &&
                search.immediate && search.path;

    if (done) {
        for (uint32_t i = 0; i < count; i++)
            search.semi[i] = search.label[i] = i;
        search_dominators(&search, flow, walk, against);
        place(&search, flow, walk, against);
    }
    free(search.semi);
    free(search.label);
    free(search.ancestor);
    free(search.bucket);
    free(search.next);
    free(search.immediate);
    free(search.path);
    return done;
}

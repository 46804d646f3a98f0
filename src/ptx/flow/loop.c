/* The nesting of loops, irreducible ones included: Ramalingam, "Identifying loops in almost linear
 * time" (1999), his version of Havlak's algorithm. Each loop is collapsed into its header,
 * innermost first; an edge that is no tree edge takes part from the deepest block above both of its
 * ends on. */
#include <stdlib.h>

#include "ptx/flow/tree.h"

/* By block, but for what is named edge_, which is by successor edge. */
typedef struct loop_search {
    gd_flow *flow;
    const gd_flow_walk *walk;
    uint32_t *into;      /* the header that a block was collapsed into; itself: none */
    uint32_t *around;    /* the header of the loop around it */
    uint32_t *mark;      /* the last header whose loop it was found to be in */
    uint32_t *returning; /* first edge from below it back to it */
    uint32_t *pending;   /* first edge that takes part from this block on */
    uint32_t *edge_next; /* in `returning`, or in `pending` and then in `entering` */
    uint32_t *edge_from; /* where an edge of `entering` comes from */
    uint32_t *entering;  /* first edge into a collapsed block */
    uint32_t *work;
    uint32_t *body;
    uint32_t work_count, body_count;
} loop_search;

static uint32_t find(loop_search *search, uint32_t block)
{
    uint32_t *into = search->into;

    while (into[block] != block) {
        into[block] = into[into[block]];
        block = into[block];
    }
    return block;
}

static void add_edge(loop_search *search, uint32_t *list, uint32_t from, uint32_t edge)
{
    search->edge_from[edge] = from;
    search->edge_next[edge] = *list;
    *list = edge;
}

/* Sorts the edges that are not the walk's tree by the block from which on they count. */
static void sort_edges(loop_search *search)
{
    const gd_flow *flow = search->flow;

    for (uint32_t i = 0; i < search->walk->count; i++) {
        uint32_t block = search->walk->block[i];
        for (uint32_t edge = flow->blocks[block].successor;
             edge < flow->blocks[block].successor_end; edge++) {
            uint32_t common = search->walk->common[edge];
            if (common != GD_PTX_NONE)
                add_edge(search,
                         common == flow->edges[edge] ? &search->returning[common]
                                                     : &search->pending[common],
                         block, edge);
        }
    }
}

static void admit_edges(loop_search *search, uint32_t block)
{
    uint32_t next;

    for (uint32_t edge = search->pending[block]; edge != GD_PTX_NONE; edge = next) {
        uint32_t target = find(search, search->flow->edges[edge]);
        next = search->edge_next[edge];
        add_edge(search, &search->entering[target], find(search, search->edge_from[edge]), edge);
    }
}

static void visit(loop_search *search, uint32_t header, uint32_t block)
{
    block = find(search, block);
    if (block == header || search->mark[block] == header)
        return;
    search->mark[block] = header;
    search->work[search->work_count++] = block;
}

/* The blocks that reach the header again. */
static void collect_body(loop_search *search, uint32_t header)
{
    const gd_flow_walk *walk = search->walk;

    search->body_count = 0;
    for (uint32_t edge = search->returning[header]; edge != GD_PTX_NONE;
         edge = search->edge_next[edge])
        visit(search, header, search->edge_from[edge]);
    while (search->work_count) {
        uint32_t member = search->work[--search->work_count];
        search->body[search->body_count++] = member;
        visit(search, header, walk->block[walk->parent[walk->number[member]]]);
        for (uint32_t edge = search->entering[member]; edge != GD_PTX_NONE;
             edge = search->edge_next[edge])
            visit(search, header, search->edge_from[edge]);
    }
}

static void collapse_body(loop_search *search, uint32_t header)
{
    for (uint32_t i = 0; i < search->body_count; i++) {
        search->around[search->body[i]] = header;
        search->into[search->body[i]] = header;
    }
}

/* A loop is natural when its header dominates every block that goes back to it. */
static void note_kind(const loop_search *search, uint32_t header)
{
    const gd_flow_block *blocks = search->flow->blocks;

    for (uint32_t edge = search->returning[header]; edge != GD_PTX_NONE;
         edge = search->edge_next[edge]) {
        uint32_t place = blocks[search->edge_from[edge]].enter;
        if (place < blocks[header].enter || place >= blocks[header].leave)
            search->flow->irreducible = true;
    }
}

static void search_loops(loop_search *search)
{
    const gd_flow_walk *walk = search->walk;

    sort_edges(search);
    for (uint32_t i = walk->count; i-- > 0;) {
        uint32_t block = walk->block[i];
        note_kind(search, block);
        admit_edges(search, block);
        collect_body(search, block);
        collapse_body(search, block);
    }
    for (uint32_t i = 0; i < walk->count; i++) {
        gd_flow_block *block = &search->flow->blocks[walk->block[i]];
        uint32_t around = search->around[walk->block[i]];
        bool is_header = search->returning[walk->block[i]] != GD_PTX_NONE;
        block->loop = is_header ? walk->block[i] : around;
        block->depth = (around == GD_PTX_NONE ? 0 : search->flow->blocks[around].depth) + is_header;
    }
}

static uint32_t *take(uint32_t count)
{
    uint32_t *list = malloc(((size_t)count + 1) * sizeof *list);

    for (uint32_t i = 0; list && i < count; i++)
        list[i] = GD_PTX_NONE;
    return list;
}

bool gd_flow_loops(gd_flow *flow, const gd_flow_walk *walk)
{
    uint32_t nodes = flow->count + 1;
    loop_search search = {
        .flow = flow,
        .walk = walk,
        .into = take(nodes),
        .around = take(nodes),
        .mark = take(nodes),
        .returning = take(nodes),
        .pending = take(nodes),
        .edge_next = take(flow->edge_count),
        .edge_from = take(flow->edge_count),
        .entering = take(nodes),
        .work = take(nodes),
        .body = take(nodes),
    };
    bool done = search.into && search.around && search.mark && search.returning && search.pending &&
                search.edge_next && search.edge_from && search.entering && search.work &&
                search.body;

    if (done) {
        for (uint32_t i = 0; i < nodes; i++)
            search.into[i] = i;
        search_loops(&search);
    }
    free(search.into);
    free(search.around);
    free(search.mark);
    free(search.returning);
    free(search.pending);
    free(search.edge_next);
    free(search.edge_from);
    free(search.entering);
    free(search.work);
    free(search.body);
    return done;
}

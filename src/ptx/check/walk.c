/* States through instructions, blocks and calls. A call is summed up by what it does to each single
 * state, which is enough since every rule looks at one path. */
#include <stdlib.h>

#include "base/error.h"
#include "ptx/check/access.h"
#include "ptx/check/limit.h"
#include "ptx/check/walk.h"

static int32_t walk_blocks(gd_walk *walk, uint32_t function, uint32_t state, uint32_t depth,
                           uint16_t **states);

static void note_limit(gd_walk *walk, const char *limit, uint32_t instruction)
{
    if (walk->limit)
        return;
    walk->limit = limit;
    walk->limit_instruction = instruction;
}

/* ---- barriers ---- */

static gd_scope scope_of_state(uint32_t bit)
{
    gd_scope scope = GD_SCOPE_NONE;

    while (bit >> scope > 1)
        scope++;
    return scope;
}

/* What becomes of a thread on a dry path with company of some scope, behind a barrier that such
 * company has reached. */
static uint32_t order_one(const gd_walk *walk, gd_sync_kind kind, uint32_t bit)
{
    gd_scope scope = scope_of_state(bit);

    switch (kind) {
    case GD_SYNC_WARP:
        return scope == GD_SCOPE_WARP ? GD_STATE_ORDERED : bit;
    case GD_SYNC_CTA:
        if (scope == GD_SCOPE_MIXED)
            return GD_STATE_HOPED;
        return scope >= GD_SCOPE_CTA ? GD_STATE_ORDERED : bit;
    case GD_SYNC_CLUSTER:
    case GD_SYNC_MBARRIER:
        if (scope >= GD_SCOPE_CTA || (scope != GD_SCOPE_NONE && walk->functions->cluster_ranks))
            return GD_STATE_ORDERED;
        return scope == GD_SCOPE_MIXED ? GD_STATE_HOPED : bit;
    case GD_SYNC_FLAG:
        return scope >= GD_SCOPE_MIXED ? GD_STATE_HOPED : bit;
    default:
        return bit;
    }
}

static uint32_t order(const gd_walk *walk, gd_sync_kind kind, uint32_t state)
{
    uint32_t result = state & ~(uint32_t)GD_STATE_ALL_DRY;

    for (uint32_t bit = 1; bit & GD_STATE_ALL_DRY; bit <<= 1) {
        if (state & bit)
            result |= order_one(walk, kind, bit);
    }
    return result;
}

/* ---- calls ---- */

static gd_call_summary *summary_of(gd_walk *walk, uint32_t function)
{
    gd_call_summary *summary = &walk->functions->summaries[function];

    if (summary->generation != walk->functions->generation)
        *summary = (gd_call_summary){.generation = walk->functions->generation};
    return summary;
}

bool gd_walk_ends_thread(const gd_flow *flow, const gd_ptx_instruction *last)
{
    const gd_ptx_function *function = &flow->module->functions[flow->function];
    bool falls_through =
        last->flags & GD_INSTRUCTION_GUARDED && last->token_end >= function->token_end - 1;

    return gd_ops[last->op].control == GD_CONTROL_EXIT && !falls_through;
}

/* What a function returns, from the states in front of its blocks. */
static int32_t returned_state(gd_walk *walk, uint32_t function, const uint16_t *states,
                              uint32_t depth, uint32_t *out)
{
    const gd_check_function *called = &walk->functions->list[function];
    const gd_flow *flow = called->flow;
    const gd_flow_block *leave = &flow->blocks[flow->count];

    *out = flow->count ? 0 : states[0];
    for (uint32_t i = leave->predecessor; i < leave->predecessor_end; i++) {
        uint32_t from = flow->edges[i], state = states[from];
        const gd_flow_block *block = &flow->blocks[from];
        if (!state ||
            gd_walk_ends_thread(flow, &flow->module->instructions[block->instruction_end - 1]))
            continue;
        for (uint32_t k = block->instruction; k < block->instruction_end; k++) {
            int32_t status = gd_walk_instruction(walk, called, k, &state, depth);
            if (status)
                return status;
        }
        *out |= gd_walk_edge(called, from, flow->count, state);
    }
    return GRIDDEP_OK;
}

/* What comes back from a function into which `bit` goes. A recursive call is taken to change
 * nothing, so what is dry stays dry. */
static int32_t sum_up(gd_walk *walk, uint32_t function, uint32_t instruction, uint32_t bit,
                      uint32_t depth, uint32_t *out)
{
    gd_call_summary *summary = summary_of(walk, function);
    uint16_t *states = NULL;

    *out = bit;
    if (summary->visiting)
        return GRIDDEP_OK;
    if (depth >= GD_CHECK_LIMIT_CALL_DEPTH) {
        note_limit(walk, "GD_CHECK_LIMIT_CALL_DEPTH", instruction);
        return GRIDDEP_OK;
    }
    summary->visiting = true;
    int32_t status = walk_blocks(walk, function, bit, depth + 1, &states);
    if (!status && states)
        status = returned_state(walk, function, states, depth + 1, out);
    summary->visiting = false;
    free(states);
    return status;
}

static int32_t call(gd_walk *walk, uint32_t callee, uint32_t instruction, uint32_t *state,
                    uint32_t depth)
{
    gd_call_summary *summary = summary_of(walk, callee);
    uint32_t result = 0;

    for (uint32_t n = 0; n < GD_STATE_BITS; n++) {
        uint32_t bit = 1u << n, out;
        if (!(*state & bit))
            continue;
        if (!(summary->known & bit)) {
            int32_t status = sum_up(walk, callee, instruction, bit, depth, &out);
            if (status)
                return status;
            if (!summary->visiting) {
                summary->out[n] = (uint16_t)out;
                summary->known = (uint16_t)(summary->known | bit);
            }
        } else {
            out = summary->out[n];
        }
        result |= out;
    }
    *state = result;
    return GRIDDEP_OK;
}

/* ---- instructions ---- */

/* A guarded wait, or a guarded call of what waits: those that pass it by have company. */
static uint32_t pass_by(const gd_walk *walk, const gd_check_function *function,
                        uint32_t instruction, uint32_t state)
{
    return gd_state_leave_company(state,
                                  gd_check_guard_scope(walk->functions, function, instruction));
}

/* Code that cannot be looked into changes nothing. */
static int32_t walk_callee(gd_walk *walk, uint32_t callee, uint32_t instruction, uint32_t *state,
                           uint32_t depth, bool *waits)
{
    *waits = false;
    if (callee == GD_PTX_NONE)
        return GRIDDEP_OK;
    const gd_check_function *called = &walk->functions->list[callee];
    *waits = called->made && !called->refused && called->flow->count && called->waits[0];
    return call(walk, callee, instruction, state, depth);
}

static int32_t walk_call(gd_walk *walk, const gd_check_function *function, uint32_t instruction,
                         uint32_t *state, uint32_t depth)
{
    const gd_ptx_instruction *item = &walk->functions->module->instructions[instruction];
    gd_call_targets targets = gd_ptx_call_targets(walk->functions->module, item);
    uint32_t callee, result = 0;
    bool all_wait = true;
    int32_t status = GRIDDEP_OK;

    while (!status && gd_call_targets_next(&targets, &callee)) {
        uint32_t behind = *state;
        bool waits;
        status = walk_callee(walk, callee, instruction, &behind, depth, &waits);
        all_wait &= waits;
        result |= behind;
    }
    if (item->flags & GD_INSTRUCTION_GUARDED)
        result |= all_wait ? pass_by(walk, function, instruction, *state) : *state;
    *state = result;
    return status;
}

int32_t gd_walk_instruction(gd_walk *walk, const gd_check_function *function, uint32_t instruction,
                            uint32_t *state, uint32_t depth)
{
    const gd_ptx_module *module = walk->functions->module;
    const gd_ptx_instruction *item = &module->instructions[instruction];
    bool guarded = item->flags & GD_INSTRUCTION_GUARDED;

    switch (item->op) {
    case GD_OP_GRIDDEPCONTROL_WAIT:
        *state =
            gd_state_wait(*state) | (guarded ? pass_by(walk, function, instruction, *state) : 0);
        return GRIDDEP_OK;
    case GD_OP_GRIDDEPCONTROL_LAUNCH_DEPENDENTS:
        *state |= *state ? GD_STATE_TRIGGERED : 0;
        return GRIDDEP_OK;
    case GD_OP_CALL:
        return walk_call(walk, function, instruction, state, depth);
    default:
        if (walk->functions->orders[instruction])
            *state = order(walk, (gd_sync_kind)walk->functions->orders[instruction], *state);
        return GRIDDEP_OK;
    }
}

/* ---- blocks ---- */

uint32_t gd_walk_edge(const gd_check_function *function, uint32_t block, uint32_t successor,
                      uint32_t state)
{
    if (function->waits[successor] || !function->waiting_ways[block])
        return state;
    return gd_state_leave_company(state, (gd_scope)function->scopes[block]);
}

/* Blocks whose state has grown, in the order of growing; a ring with room for all. */
typedef struct block_queue {
    uint32_t *ring;
    bool *queued;
    uint32_t head, count, size;
} block_queue;

static void queue(block_queue *blocks, uint32_t block)
{
    if (blocks->queued[block])
        return;
    uint32_t place = blocks->head + blocks->count++;
    blocks->queued[block] = true;
    blocks->ring[place < blocks->size ? place : place - blocks->size] = block;
}

static uint32_t next(block_queue *blocks)
{
    uint32_t block = blocks->ring[blocks->head];

    blocks->head = blocks->head + 1 == blocks->size ? 0 : blocks->head + 1;
    blocks->count--;
    blocks->queued[block] = false;
    return block;
}

static int32_t walk_block(gd_walk *walk, const gd_check_function *function, uint32_t block,
                          uint16_t *states, block_queue *blocks, uint32_t depth)
{
    const gd_flow *flow = function->flow;
    const gd_flow_block *item = &flow->blocks[block];
    uint32_t state = states[block];
    uint64_t cost = item->instruction_end - item->instruction;

    walk->functions->visits_left -=
        cost < walk->functions->visits_left ? cost : walk->functions->visits_left;
    for (uint32_t i = item->instruction; i < item->instruction_end; i++) {
        int32_t status = gd_walk_instruction(walk, function, i, &state, depth);
        if (status)
            return status;
    }
    for (uint32_t i = item->successor; i < item->successor_end; i++) {
        uint32_t to = flow->edges[i];
        uint32_t joined = states[to] | gd_walk_edge(function, block, to, state);
        if (joined != states[to]) {
            states[to] = (uint16_t)joined;
            queue(blocks, to);
        }
    }
    return GRIDDEP_OK;
}

static int32_t spread(gd_walk *walk, const gd_check_function *function, uint16_t *states,
                      uint32_t depth)
{
    uint32_t size = function->flow->count + 1;
    block_queue blocks = {.size = size};
    int32_t status = GRIDDEP_OK;

    blocks.ring = malloc(size * sizeof *blocks.ring);
    blocks.queued = calloc(size, sizeof *blocks.queued);
    if (!blocks.ring || !blocks.queued)
        status = gd_error_memory(walk->error);
    else
        queue(&blocks, 0);
    while (blocks.count && !status) {
        uint32_t block = next(&blocks);
        if (block < function->flow->count)
            status = walk_block(walk, function, block, states, &blocks, depth);
    }
    free(blocks.ring);
    free(blocks.queued);
    return status;
}

static int32_t walk_blocks(gd_walk *walk, uint32_t function, uint32_t state, uint32_t depth,
                           uint16_t **states)
{
    const gd_check_function *body;
    int32_t status = gd_check_function_get(walk->functions, function, &body, walk->error);

    *states = NULL;
    if (status)
        return status;
    uint32_t first = walk->functions->module->functions[function].instruction;
    if (body->refused || !walk->functions->visits_left) {
        note_limit(walk, body->refused ? "GD_PTX_LIMIT_EDGES" : "GD_CHECK_LIMIT_VISITS", first);
        return GRIDDEP_OK;
    }
    uint16_t *made = calloc(body->flow->count + (size_t)1, sizeof *made);
    if (!made)
        return gd_error_memory(walk->error);
    made[0] = (uint16_t)state;
    status = spread(walk, body, made, depth);
    if (status)
        free(made);
    else
        *states = made;
    return status;
}

int32_t gd_walk_function(gd_walk *walk, uint32_t function, uint32_t state, uint16_t **states)
{
    return walk_blocks(walk, function, state, 0, states);
}

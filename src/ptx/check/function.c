/* Flow, provenance, branch scopes and anticipated waits of a module's functions. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/access.h"
#include "ptx/check/function.h"
#include "ptx/flow/lane.h"
#include "ptx/check/limit.h"

static bool uses_name(const gd_ptx_module *module, const char *name)
{
    return gd_ptx_name_find(&module->names, module->text, name, (uint32_t)strlen(name)) !=
           GD_PTX_NONE;
}

int32_t gd_check_functions_create(gd_check_functions *functions, const gd_ptx_module *module,
                                  griddep_error *error)
{
    gd_check_functions made = {.module = module};

    made.list = calloc(module->function_count + (size_t)1, sizeof *made.list);
    made.summaries = calloc(module->function_count + (size_t)1, sizeof *made.summaries);
    made.orders = calloc(module->instruction_count + (size_t)1, sizeof *made.orders);
    made.visits_left = (uint64_t)module->instruction_count * GD_CHECK_LIMIT_VISITS_PER_INSTRUCTION +
                       GD_CHECK_LIMIT_VISITS;
    if (!made.list || !made.summaries || !made.orders) {
        gd_check_functions_free(&made);
        return gd_error_memory(error);
    }
    for (uint32_t i = 0; i < module->instruction_count && !made.warp_barriers; i++)
        made.warp_barriers = gd_ops[module->instructions[i].op].sync == GD_OP_SYNC_WARP;
    made.cluster_ranks = uses_name(module, "%cluster_ctarank") ||
                         uses_name(module, "%cluster_ctaid") ||
                         uses_name(module, "%cluster_ctaid.x");
    *functions = made;
    return GRIDDEP_OK;
}

void gd_check_functions_free(gd_check_functions *functions)
{
    for (uint32_t i = 0; functions->list && i < functions->module->function_count; i++) {
        gd_flow_destroy(functions->list[i].flow);
        gd_origins_destroy(functions->list[i].origins);
        free(functions->list[i].scopes);
        free(functions->list[i].waits);
        free(functions->list[i].waiting_ways);
    }
    gd_dry_search_destroy(functions->dry);
    free(functions->list);
    free(functions->summaries);
    free(functions->orders);
    *functions = (gd_check_functions){0};
}

const gd_dry_search *gd_check_dry_search(gd_check_functions *functions)
{
    if (!functions->dry)
        functions->dry = gd_dry_search_create(functions->module);
    return functions->dry;
}

/* ---- scopes ---- */

static gd_scope scope_of(const gd_check_function *function, uint32_t operand)
{
    uint32_t flags = gd_origins_of(function->origins, operand).flags;

    if (flags & GD_ORIGIN_THREAD)
        return flags & GD_ORIGIN_BLOCK ? GD_SCOPE_MIXED : GD_SCOPE_CTA;
    return flags & GD_ORIGIN_BLOCK ? GD_SCOPE_GRID : GD_SCOPE_NONE;
}

gd_scope gd_check_guard_scope(const gd_check_functions *functions,
                              const gd_check_function *function, uint32_t instruction)
{
    const gd_ptx_instruction *item = &functions->module->instructions[instruction];

    if (!(item->flags & GD_INSTRUCTION_GUARDED))
        return GD_SCOPE_NONE;
    return scope_of(function, item->operand - 1);
}

static gd_scope block_scope(const gd_check_functions *functions, const gd_check_function *function,
                            const gd_flow_block *block)
{
    uint32_t last = block->instruction_end - 1;
    const gd_ptx_instruction *item = &functions->module->instructions[last];

    if (block->successor_end - block->successor < 2)
        return GD_SCOPE_NONE;
    if (item->flags & GD_INSTRUCTION_GUARDED)
        return scope_of(function, item->operand - 1);
    if (gd_ops[item->op].control == GD_CONTROL_BRANCH_INDIRECT && item->operand < item->operand_end)
        return scope_of(function, item->operand);
    return GD_SCOPE_NONE;
}

/* Where warps are divided in themselves matters to bar.warp.sync only. */
static int32_t find_scopes(const gd_check_functions *functions, gd_check_function *function,
                           uint32_t index, griddep_error *error)
{
    const gd_flow *flow = function->flow;
    gd_lanes lanes = {0};

    if (functions->warp_barriers && !gd_lanes_find(&lanes, functions->module, index))
        return gd_error_memory(error);
    for (uint32_t i = 0; i < flow->count; i++) {
        gd_scope scope = block_scope(functions, function, &flow->blocks[i]);
        const gd_ptx_instruction *last =
            &functions->module->instructions[flow->blocks[i].instruction_end - 1];
        if (scope == GD_SCOPE_CTA && last->flags & GD_INSTRUCTION_GUARDED &&
            gd_lanes_has(&lanes, functions->module, last->operand - 1))
            scope = GD_SCOPE_WARP;
        function->scopes[i] = (uint8_t)scope;
    }
    gd_lanes_free(&lanes);
    return GRIDDEP_OK;
}

/* ---- anticipated waits ---- */

static int32_t make_function(gd_check_functions *functions, uint32_t index, uint32_t depth,
                             griddep_error *error);

static int32_t callee_waits(gd_check_functions *functions, uint32_t callee, uint32_t depth,
                            bool *waits, griddep_error *error)
{
    *waits = false;
    if (callee == GD_PTX_NONE ||
        !(functions->module->functions[callee].traits & GRIDDEP_TRAIT_WAITS) ||
        depth >= GD_CHECK_LIMIT_CALL_DEPTH)
        return GRIDDEP_OK;
    int32_t status = make_function(functions, callee, depth + 1, error);
    if (status)
        return status;
    const gd_check_function *called = &functions->list[callee];
    *waits = called->made && !called->refused && called->flow->count && called->waits[0];
    return GRIDDEP_OK;
}

/* Each function that the call may reach waits. */
static int32_t call_waits(gd_check_functions *functions, const gd_ptx_instruction *call,
                          uint32_t depth, bool *waits, griddep_error *error)
{
    gd_call_targets targets = gd_ptx_call_targets(functions->module, call);
    int32_t status = GRIDDEP_OK;
    uint32_t callee;

    *waits = true;
    while (*waits && !status && gd_call_targets_next(&targets, &callee))
        status = callee_waits(functions, callee, depth, waits, error);
    return status;
}

/* Whether an instruction is a wait for all threads that get to it, or for some of them whom the
 * others have for company. */
static int32_t instruction_waits(gd_check_functions *functions, const gd_check_function *function,
                                 uint32_t instruction, uint32_t depth, bool *waits,
                                 griddep_error *error)
{
    const gd_ptx_module *module = functions->module;
    const gd_ptx_instruction *item = &module->instructions[instruction];

    *waits = false;
    if (item->flags & GD_INSTRUCTION_GUARDED &&
        gd_check_guard_scope(functions, function, instruction) < GD_SCOPE_MIXED)
        return GRIDDEP_OK;
    if (item->op == GD_OP_GRIDDEPCONTROL_WAIT) {
        *waits = true;
        return GRIDDEP_OK;
    }
    return item->op == GD_OP_CALL ? call_waits(functions, item, depth, waits, error) : GRIDDEP_OK;
}

static int32_t block_waits(gd_check_functions *functions, const gd_check_function *function,
                           uint32_t block, uint32_t depth, bool *waits, griddep_error *error)
{
    const gd_flow_block *item = &function->flow->blocks[block];
    int32_t status = GRIDDEP_OK;

    *waits = false;
    for (uint32_t i = item->instruction; i < item->instruction_end && !*waits && !status; i++)
        status = instruction_waits(functions, function, i, depth, waits, error);
    return status;
}

/* What is known of all paths from a block. LOOPS: they come back to a block before it, or end in a
 * trap, and say nothing. */
enum { MISSES, WAITS, LOOPS };

static bool goes_back(const gd_flow *flow, uint32_t from, uint32_t to)
{
    return flow->blocks[to].order <= flow->blocks[from].order;
}

/* Threads that part do not all have to wait, it is enough when one side does; threads that stay
 * together do. A loop ends at some time, so its way back does not count. */
static uint8_t join_ways(const gd_check_function *function, const uint8_t *ways, uint32_t block)
{
    const gd_flow *flow = function->flow;
    const gd_flow_block *item = &flow->blocks[block];
    bool divides = function->scopes[block] >= GD_SCOPE_MIXED;
    uint8_t result = LOOPS;

    for (uint32_t i = item->successor; i < item->successor_end; i++) {
        uint32_t to = flow->edges[i];
        if (goes_back(flow, block, to) || ways[to] == LOOPS)
            continue;
        if (result == LOOPS || (divides ? ways[to] == WAITS : ways[to] == MISSES))
            result = ways[to];
    }
    return result;
}

/* A block from which all ways lead back misses or waits as those that they lead to do. */
static bool settle_loop(const gd_flow *flow, const uint8_t *ways, uint32_t block)
{
    const gd_flow_block *item = &flow->blocks[block];

    for (uint32_t i = item->successor; i < item->successor_end; i++) {
        if (ways[flow->edges[i]] != WAITS)
            return false;
    }
    return item->successor < item->successor_end;
}

/* From the exit upward; then loops, whose heads are known by now. */
static void follow_ways(gd_check_function *function, uint8_t *ways)
{
    const gd_flow *flow = function->flow;

    for (uint32_t i = flow->order_count; i-- > 0;) {
        uint32_t block = flow->order[i];
        if (block < flow->count && ways[block] != WAITS)
            ways[block] = join_ways(function, ways, block);
    }
    for (uint32_t i = flow->order_count; i-- > 0;) {
        uint32_t block = flow->order[i];
        if (ways[block] == LOOPS)
            ways[block] = settle_loop(flow, ways, block) ? WAITS : MISSES;
        function->waits[block] = ways[block] == WAITS;
    }
    for (uint32_t i = 0; i < flow->count; i++) {
        for (uint32_t k = flow->blocks[i].successor; k < flow->blocks[i].successor_end; k++)
            function->waiting_ways[i] += function->waits[flow->edges[k]];
    }
}

static int32_t anticipate_waits(gd_check_functions *functions, gd_check_function *function,
                                uint32_t depth, griddep_error *error)
{
    const gd_flow *flow = function->flow;
    uint8_t *ways = calloc(flow->count + (size_t)1, sizeof *ways);
    int32_t status = ways ? GRIDDEP_OK : gd_error_memory(error);

    for (uint32_t i = 0; i < flow->count && !status; i++) {
        bool waits;
        status = block_waits(functions, function, i, depth, &waits, error);
        ways[i] = waits ? WAITS : MISSES;
    }
    if (!status)
        follow_ways(function, ways);
    free(ways);
    return status;
}

/* ---- making ---- */

static int32_t fill_function(gd_check_functions *functions, uint32_t index, uint32_t depth,
                             griddep_error *error)
{
    gd_check_function *function = &functions->list[index];
    int32_t status = gd_flow_create(functions->module, index, &function->flow, error);

    if (!status)
        status = gd_origins_create(functions->module, index, &function->origins, error);
    if (status)
        return status;
    size_t blocks = function->flow->count + (size_t)1;
    function->scopes = calloc(blocks, sizeof *function->scopes);
    function->waits = calloc(blocks, sizeof *function->waits);
    function->waiting_ways = calloc(blocks, sizeof *function->waiting_ways);
    if (!function->scopes || !function->waits || !function->waiting_ways)
        return gd_error_memory(error);
    status = find_scopes(functions, function, index, error);
    return status ? status : anticipate_waits(functions, function, depth, error);
}

static int32_t make_function(gd_check_functions *functions, uint32_t index, uint32_t depth,
                             griddep_error *error)
{
    gd_check_function *function = &functions->list[index];

    if (function->made || function->visiting)
        return GRIDDEP_OK;
    function->visiting = true;
    int32_t status = fill_function(functions, index, depth, error);
    function->visiting = false;
    if (status == GRIDDEP_ERROR_LIMIT)
        function->refused = true;
    else if (status)
        return status;
    function->made = true;
    return GRIDDEP_OK;
}

int32_t gd_check_function_get(gd_check_functions *functions, uint32_t index,
                              const gd_check_function **function, griddep_error *error)
{
    int32_t status = make_function(functions, index, 0, error);

    if (!status)
        *function = &functions->list[index];
    return status;
}

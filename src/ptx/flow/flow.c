/* The flow of a function: where its blocks begin, which edges there are, and then what flow/tree.c
 * and flow/loop.c say of them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/text/array.h"
#include "ptx/flow/tree.h"

enum { STARTS = 1, LABELLED = 2 };

typedef struct flow_builder {
    gd_flow *flow;
    const gd_ptx_module *module;
    const gd_ptx_function *function;
    uint8_t *marks;     /* by instruction of the function, and one behind: STARTS, LABELLED */
    uint32_t *labelled; /* blocks whose first instruction has a label */
    uint32_t labelled_count;
    uint32_t *seen; /* by block: the last block that was given an edge to it */
    uint32_t edge_capacity;
    bool beyond_limit;
} flow_builder;

static bool is_guarded(const gd_ptx_instruction *instruction)
{
    return instruction->flags & GD_INSTRUCTION_GUARDED;
}

/* Whether a block ends behind an instruction. */
static bool ends_block(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    switch (gd_ops[instruction->op].control) {
    case GD_CONTROL_BRANCH:
    case GD_CONTROL_BRANCH_INDIRECT:
    case GD_CONTROL_RETURN:
    case GD_CONTROL_EXIT:
    case GD_CONTROL_TRAP:
    case GD_CONTROL_UNKNOWN:
        return true;
    case GD_CONTROL_CALL:
        return gd_ptx_call_never_returns(module, instruction);
    default:
        return false;
    }
}

static uint32_t first_symbol(const gd_ptx_module *module, uint32_t function)
{
    if (function >= module->function_count)
        return module->symbol_count;
    const gd_ptx_function *item = &module->functions[function];
    return item->parameter < item->result ? item->parameter : item->result;
}

static void mark_label(const flow_builder *builder, uint32_t symbol)
{
    const gd_ptx_module *module = builder->module;
    const gd_ptx_function *function = builder->function;

    if (symbol == GD_PTX_NONE || module->symbols[symbol].kind != GD_SYMBOL_LABEL ||
        module->scopes[module->symbols[symbol].scope].function != builder->flow->function)
        return;
    uint32_t target = module->symbols[symbol].target;
    if (target >= function->instruction && target < function->instruction_end)
        builder->marks[target - function->instruction] |= STARTS | LABELLED;
}

/* Labels, but for those that name a list or a prototype, unless a branch goes there. */
static void mark_labels(const flow_builder *builder)
{
    const gd_ptx_module *module = builder->module;
    const gd_ptx_function *function = builder->function;
    uint32_t end = first_symbol(module, builder->flow->function + 1);

    for (uint32_t i = first_symbol(module, builder->flow->function); i < end; i++) {
        if (module->symbols[i].directive == GD_PTX_NONE)
            mark_label(builder, i);
    }
    for (uint32_t i = function->directive; i < function->directive_end; i++) {
        const gd_ptx_directive *list = &module->directives[i];
        if (list->kind != GD_DIRECTIVE_BRANCHTARGETS)
            continue;
        for (uint32_t operand = list->operand; operand < list->operand_end; operand++)
            mark_label(builder, module->operands[operand].symbol);
    }
    for (uint32_t i = function->instruction; i < function->instruction_end; i++) {
        const gd_ptx_instruction *branch = &module->instructions[i];
        if (gd_ops[branch->op].control == GD_CONTROL_BRANCH &&
            branch->operand < branch->operand_end)
            mark_label(builder, module->operands[branch->operand].symbol);
    }
}

static uint32_t mark_starts(const flow_builder *builder)
{
    const gd_ptx_function *function = builder->function;
    uint32_t count = 0;

    mark_labels(builder);
    if (function->instruction < function->instruction_end)
        builder->marks[0] |= STARTS;
    for (uint32_t i = function->instruction; i < function->instruction_end; i++) {
        if (ends_block(builder->module, &builder->module->instructions[i]))
            builder->marks[i + 1 - function->instruction] |= STARTS;
    }
    for (uint32_t i = function->instruction; i < function->instruction_end; i++)
        count += builder->marks[i - function->instruction] & STARTS;
    return count;
}

static void number_blocks(flow_builder *builder)
{
    gd_flow *flow = builder->flow;
    uint32_t first = builder->function->instruction, end = builder->function->instruction_end;
    uint32_t next = 0;

    for (uint32_t i = first; i < end; i++) {
        if (builder->marks[i - first] & STARTS) {
            if (next)
                flow->blocks[next - 1].instruction_end = i;
            if (builder->marks[i - first] & LABELLED)
                builder->labelled[builder->labelled_count++] = next;
            flow->blocks[next++].instruction = i;
        }
        flow->block_of[i - first] = next - 1;
    }
    if (next)
        flow->blocks[next - 1].instruction_end = end;
    flow->blocks[flow->count].instruction = flow->blocks[flow->count].instruction_end = end;
    for (uint32_t i = 0; i <= flow->count; i++) {
        gd_flow_block *block = &flow->blocks[i];
        block->dominator = block->postdominator = block->order = block->loop = GD_PTX_NONE;
        builder->seen[i] = GD_PTX_NONE;
    }
}

/* false: no memory, or beyond the limit. */
static bool add_edge(flow_builder *builder, uint32_t from, uint32_t to)
{
    gd_flow *flow = builder->flow;

    if (builder->seen[to] == from)
        return true;
    builder->seen[to] = from;
    if (flow->edge_count == GD_PTX_LIMIT_EDGES) {
        builder->beyond_limit = true;
        return false;
    }
    if (flow->edge_count == builder->edge_capacity &&
        !gd_array_grow((void **)&flow->edges, &builder->edge_capacity, sizeof *flow->edges))
        return false;
    flow->edges[flow->edge_count++] = to;
    return true;
}

static bool add_edge_to_instruction(flow_builder *builder, uint32_t from, uint32_t instruction)
{
    const gd_flow *flow = builder->flow;
    bool inside = instruction < builder->function->instruction_end;

    return add_edge(builder, from, inside ? gd_flow_block_of(flow, instruction) : flow->count);
}

static bool add_edges_anywhere(flow_builder *builder, uint32_t from)
{
    builder->flow->blocks[from].anywhere = true;
    for (uint32_t i = 0; i < builder->labelled_count; i++) {
        if (!add_edge(builder, from, builder->labelled[i]))
            return false;
    }
    return add_edge(builder, from, from + 1) && add_edge(builder, from, builder->flow->count);
}

/* The label that an operand names, in this function. */
static bool add_edge_to_label(flow_builder *builder, uint32_t from, uint32_t operand,
                              uint32_t operand_end)
{
    const gd_ptx_module *module = builder->module;
    uint32_t symbol = operand < operand_end ? module->operands[operand].symbol : GD_PTX_NONE;

    if (symbol == GD_PTX_NONE || module->symbols[symbol].kind != GD_SYMBOL_LABEL ||
        module->scopes[module->symbols[symbol].scope].function != builder->flow->function ||
        module->symbols[symbol].target > builder->function->instruction_end)
        return add_edges_anywhere(builder, from);
    return add_edge_to_instruction(builder, from, module->symbols[symbol].target);
}

/* brx.idx index, list */
static bool add_edges_to_list(flow_builder *builder, uint32_t from,
                              const gd_ptx_instruction *branch)
{
    const gd_ptx_module *module = builder->module;
    uint32_t list = branch->operand < branch->operand_end ? module->operands[branch->operand].end
                                                          : branch->operand_end;
    const gd_ptx_directive *targets =
        list < branch->operand_end ? gd_ptx_operand_directive(module, list) : NULL;

    if (!targets || targets->kind != GD_DIRECTIVE_BRANCHTARGETS)
        return add_edges_anywhere(builder, from);
    for (uint32_t i = targets->operand; i < targets->operand_end; i++) {
        if (!add_edge_to_label(builder, from, i, targets->operand_end))
            return false;
    }
    return true;
}

static bool add_successors(flow_builder *builder, uint32_t from)
{
    const gd_flow_block *block = &builder->flow->blocks[from];
    const gd_ptx_instruction *last = &builder->module->instructions[block->instruction_end - 1];

    if ((is_guarded(last) || !ends_block(builder->module, last)) &&
        !add_edge_to_instruction(builder, from, block->instruction_end))
        return false;
    switch (gd_ops[last->op].control) {
    case GD_CONTROL_BRANCH:
        return add_edge_to_label(builder, from, last->operand, last->operand_end);
    case GD_CONTROL_BRANCH_INDIRECT:
        return add_edges_to_list(builder, from, last);
    case GD_CONTROL_RETURN:
    case GD_CONTROL_EXIT:
        return add_edge(builder, from, builder->flow->count);
    case GD_CONTROL_UNKNOWN:
        return add_edges_anywhere(builder, from);
    default:
        return true;
    }
}

static bool build_edges(flow_builder *builder)
{
    gd_flow *flow = builder->flow;

    for (uint32_t i = 0; i < flow->count; i++) {
        flow->blocks[i].successor = flow->edge_count;
        if (!add_successors(builder, i))
            return false;
        flow->blocks[i].successor_end = flow->edge_count;
    }
    flow->blocks[flow->count].successor = flow->blocks[flow->count].successor_end =
        flow->edge_count;
    return true;
}

/* The same edges the other way, behind those. */
static bool mirror_edges(flow_builder *builder)
{
    gd_flow *flow = builder->flow;
    uint32_t count = flow->edge_count, place = count;

    if (!gd_array_reserve((void **)&flow->edges, &builder->edge_capacity, 2 * count + 1,
                          sizeof *flow->edges))
        return false;
    for (uint32_t i = 0; i < count; i++)
        flow->blocks[flow->edges[i]].predecessor_end++;
    for (uint32_t i = 0; i <= flow->count; i++) {
        uint32_t room = flow->blocks[i].predecessor_end;
        flow->blocks[i].predecessor = flow->blocks[i].predecessor_end = place;
        place += room;
    }
    for (uint32_t i = 0; i < flow->count; i++) {
        for (uint32_t edge = flow->blocks[i].successor; edge < flow->blocks[i].successor_end;
             edge++)
            flow->edges[flow->blocks[flow->edges[edge]].predecessor_end++] = i;
    }
    flow->edge_count = 2 * count;
    return true;
}

/* The exit has no successors, so it may stand behind all others. */
static void note_order(gd_flow *flow, const gd_flow_walk *walk)
{
    for (uint32_t i = walk->count; i-- > 0;) {
        if (walk->finished[i] != flow->count)
            flow->order[flow->order_count++] = walk->finished[i];
    }
    if (walk->number[flow->count] != GD_PTX_NONE)
        flow->order[flow->order_count++] = flow->count;
    for (uint32_t i = 0; i < flow->order_count; i++)
        flow->blocks[flow->order[i]].order = i;
}

static bool analyse(gd_flow *flow)
{
    gd_flow_walk walk;
    bool done = gd_flow_walk_create(&walk, flow, 0, false) &&
                gd_flow_dominators(flow, &walk, false) && gd_flow_loops(flow, &walk);

    if (done)
        note_order(flow, &walk);
    gd_flow_walk_free(&walk);
    if (!done)
        return false;
    done = gd_flow_walk_create(&walk, flow, flow->count, true) &&
           gd_flow_dominators(flow, &walk, true);
    gd_flow_walk_free(&walk);
    return done;
}

static bool build(flow_builder *builder)
{
    gd_flow *flow = builder->flow;
    size_t instructions = builder->function->instruction_end - builder->function->instruction;

    builder->marks = calloc(instructions + 1, sizeof *builder->marks);
    if (!builder->marks)
        return false;
    flow->count = mark_starts(builder);
    flow->blocks = calloc((size_t)flow->count + 1, sizeof *flow->blocks);
    flow->order = malloc(((size_t)flow->count + 1) * sizeof *flow->order);
    flow->block_of = malloc((instructions + 1) * sizeof *flow->block_of);
    builder->labelled = malloc(((size_t)flow->count + 1) * sizeof *builder->labelled);
    builder->seen = malloc(((size_t)flow->count + 1) * sizeof *builder->seen);
    if (!flow->blocks || !flow->order || !flow->block_of || !builder->labelled || !builder->seen)
        return false;
    number_blocks(builder);
    return build_edges(builder) && mirror_edges(builder) && analyse(flow);
}

static uint32_t block_place(const gd_flow *flow, uint32_t instruction, const gd_flow_block **block)
{
    uint32_t index = gd_flow_block_of(flow, instruction);

    *block = &flow->blocks[index];
    return index;
}

uint32_t gd_flow_block_of(const gd_flow *flow, uint32_t instruction)
{
    return flow->block_of[instruction - flow->module->functions[flow->function].instruction];
}

bool gd_flow_dominates(const gd_flow *flow, uint32_t a, uint32_t b)
{
    const gd_flow_block *first, *second;

    if (block_place(flow, a, &first) == block_place(flow, b, &second))
        return a <= b;
    return first->enter < first->leave && second->enter < second->leave &&
           first->enter <= second->enter && second->enter < first->leave;
}

bool gd_flow_postdominates(const gd_flow *flow, uint32_t b, uint32_t a)
{
    const gd_flow_block *first, *second;

    if (block_place(flow, b, &first) == block_place(flow, a, &second))
        return b >= a;
    return first->post_enter < first->post_leave && second->post_enter < second->post_leave &&
           first->post_enter <= second->post_enter && second->post_enter < first->post_leave;
}

bool gd_flow_repeats(const gd_flow *flow, uint32_t block)
{
    return flow->blocks[block].loop != GD_PTX_NONE;
}

void gd_flow_destroy(gd_flow *flow)
{
    if (!flow)
        return;
    free(flow->blocks);
    free(flow->edges);
    free(flow->order);
    free(flow->block_of);
    free(flow);
}

int32_t gd_flow_create(const gd_ptx_module *module, uint32_t function, gd_flow **flow,
                       griddep_error *error)
{
    gd_flow *made = calloc(1, sizeof *made);

    if (!made)
        return gd_error_memory(error);
    made->module = module;
    made->function = function;
    flow_builder builder = {
        .flow = made, .module = module, .function = &module->functions[function]};
    bool done = build(&builder);
    free(builder.marks);
    free(builder.labelled);
    free(builder.seen);
    if (done) {
        *flow = made;
        return GRIDDEP_OK;
    }
    gd_flow_destroy(made);
    if (!builder.beyond_limit)
        return gd_error_memory(error);
    return gd_error_set(error, GRIDDEP_ERROR_LIMIT,
                        "the control flow of %s has more than %d edges (GD_PTX_LIMIT_EDGES)",
                        builder.function->name, GD_PTX_LIMIT_EDGES);
}

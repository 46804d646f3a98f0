/* Places by dominance: the nearest block that dominates all effects, moved up until every path from
 * the entry's start to its end passes it and no loop repeats it; and the same downwards, by
 * post-dominance. */
#include <stdlib.h>

#include "base/error.h"
#include "ptx/check/access.h"
#include "ptx/rewrite/place.h"

enum { ANY_EFFECT = GD_EFFECT_READ | GD_EFFECT_WRITE };

/* ---- effects ---- */

static bool has_body(const gd_ptx_module *module, uint32_t function)
{
    return function != GD_PTX_NONE && module->functions[function].flags & GD_FUNCTION_BODY;
}

static bool is_call(const gd_ptx_instruction *instruction)
{
    return gd_ops[instruction->op].control == GD_CONTROL_CALL;
}

static bool only_constants(const gd_origins *origins, gd_origin origin,
                           const gd_parameter_set *constants)
{
    uint32_t count = gd_origins_set_count(origins, origin.parameters);

    for (uint32_t i = 0; i < count; i++) {
        if (!constants ||
            !gd_parameter_set_has(constants, gd_origins_set_at(origins, origin.parameters, i)))
            return false;
    }
    return count > 0 && !(origin.flags & (GD_ORIGIN_UNKNOWN | GD_ORIGIN_GLOBAL));
}

/* Of an instruction that is no call. */
static uint8_t access_effect(const gd_ptx_module *module, const gd_origins *origins,
                             const gd_parameter_set *constants,
                             const gd_ptx_instruction *instruction)
{
    gd_access access = gd_access_of(module, instruction);

    if (!access.flags)
        return 0;
    if (access.flags & GD_ACCESS_ANYTHING || access.operand == GD_PTX_NONE)
        return ANY_EFFECT;
    gd_origin origin = gd_origins_of(origins, access.operand);
    uint32_t elsewhere = origin.flags & (GD_ORIGIN_SHARED | GD_ORIGIN_LOCAL);
    if (access.flags & GD_ACCESS_GENERIC && elsewhere && !origin.parameters &&
        !(origin.flags & (GD_ORIGIN_UNKNOWN | GD_ORIGIN_GLOBAL)))
        return 0;
    if (access.flags & GD_ACCESS_WRITE)
        return access.flags & GD_ACCESS_READ ? ANY_EFFECT : GD_EFFECT_WRITE;
    return only_constants(origins, origin, constants) ? GD_EFFECT_CONSTANT : GD_EFFECT_READ;
}

typedef struct effect_search {
    const gd_ptx_module *module;
    uint8_t *effects;  /* by function */
    uint32_t *callers; /* by function: first call */
    struct {
        uint32_t caller, next;
    } * calls;
    uint32_t *work;
    uint32_t call_count, work_count;
} effect_search;

/* A call of something without a body, or of what is not known. */
static uint8_t foreign_effect(const gd_ptx_module *module, const gd_ptx_instruction *call)
{
    return gd_ptx_is_system_call(module, call) ? 0 : ANY_EFFECT;
}

/* A function's own effects; its calls are listed. One that ends its thread, as a .noreturn one does
 * at its end, counts as if it did everything: what has to come before all exits has to come before
 * it. */
static int32_t find_own_effects(effect_search *search, uint32_t function, griddep_error *error)
{
    const gd_ptx_module *module = search->module;
    gd_origins *origins = NULL;
    int32_t status = gd_origins_create(module, function, &origins, error);

    if (status)
        return status;
    if (module->functions[function].flags & GD_FUNCTION_NORETURN)
        search->effects[function] |= ANY_EFFECT;
    for (uint32_t i = module->functions[function].instruction;
         i < module->functions[function].instruction_end; i++) {
        const gd_ptx_instruction *instruction = &module->instructions[i];
        uint32_t callee =
            is_call(instruction) ? gd_ptx_call_function(module, instruction) : GD_PTX_NONE;
        if (has_body(module, callee)) {
            search->calls[search->call_count].caller = function;
            search->calls[search->call_count].next = search->callers[callee];
            search->callers[callee] = search->call_count++;
        } else if (is_call(instruction)) {
            search->effects[function] |= foreign_effect(module, instruction);
        } else if (instruction->op == GD_OP_EXIT) {
            search->effects[function] |= ANY_EFFECT;
        } else {
            search->effects[function] |= access_effect(module, origins, NULL, instruction);
        }
    }
    gd_origins_destroy(origins);
    return GRIDDEP_OK;
}

static void spread_effects(effect_search *search)
{
    for (uint32_t i = 0; i < search->module->function_count; i++)
        search->work[search->work_count++] = i;
    while (search->work_count) {
        uint32_t callee = search->work[--search->work_count];
        for (uint32_t i = search->callers[callee]; i != GD_PTX_NONE; i = search->calls[i].next) {
            uint32_t caller = search->calls[i].caller;
            uint8_t grown = search->effects[caller] | search->effects[callee];
            if (grown == search->effects[caller])
                continue;
            search->effects[caller] = grown;
            search->work[search->work_count++] = caller;
        }
    }
}

static int32_t find_effects(effect_search *search, griddep_error *error)
{
    const gd_ptx_module *module = search->module;

    for (uint32_t i = 0; i < module->function_count; i++)
        search->callers[i] = GD_PTX_NONE;
    for (uint32_t i = 0; i < module->function_count; i++) {
        bool called = has_body(module, i) && !(module->functions[i].flags & GD_FUNCTION_ENTRY);
        int32_t status = called ? find_own_effects(search, i, error) : GRIDDEP_OK;
        if (status)
            return status;
    }
    spread_effects(search);
    return GRIDDEP_OK;
}

uint8_t *gd_place_call_effects(const gd_ptx_module *module, griddep_error *error)
{
    size_t calls = 1, functions = (size_t)module->function_count + 1;

    for (uint32_t i = 0; i < module->instruction_count; i++)
        calls += is_call(&module->instructions[i]);
    effect_search search = {.module = module};
    search.effects = calloc(functions, sizeof *search.effects);
    search.callers = malloc(functions * sizeof *search.callers);
    search.calls = malloc(calls * sizeof *search.calls);
    search.work = malloc(functions * 3 * sizeof *search.work); /* effects grow at most twice */
    bool failed = true;
    if (!search.effects || !search.callers || !search.calls || !search.work)
        gd_error_memory(error);
    else
        failed = find_effects(&search, error);
    free(search.callers);
    free(search.calls);
    free(search.work);
    if (failed) {
        free(search.effects);
        return NULL;
    }
    return search.effects;
}

static const gd_ptx_function *function_of(const gd_placer *placer)
{
    return &placer->module->functions[placer->function];
}

static uint8_t effect_of(const gd_placer *placer, uint32_t instruction)
{
    return placer->effects[instruction - function_of(placer)->instruction];
}

static int32_t note_effects(gd_placer *placer, griddep_error *error)
{
    const gd_ptx_module *module = placer->module;
    const gd_ptx_function *function = function_of(placer);
    gd_origins *origins = NULL;
    int32_t status = gd_origins_create(module, placer->function, &origins, error);

    if (status)
        return status;
    for (uint32_t i = function->instruction; i < function->instruction_end; i++) {
        const gd_ptx_instruction *instruction = &module->instructions[i];
        uint32_t callee =
            is_call(instruction) ? gd_ptx_call_function(module, instruction) : GD_PTX_NONE;
        placer->effects[i - function->instruction] =
            has_body(module, callee) ? placer->call_effects[callee]
            : is_call(instruction)   ? foreign_effect(module, instruction)
                                   : access_effect(module, origins, placer->constants, instruction);
    }
    gd_origins_destroy(origins);
    return GRIDDEP_OK;
}

int32_t gd_placer_create(gd_placer *placer, griddep_error *error)
{
    const gd_ptx_function *function = function_of(placer);
    int32_t status = gd_flow_create(placer->module, placer->function, &placer->flow, error);

    if (status)
        return status;
    placer->effects = calloc((size_t)(function->instruction_end - function->instruction) + 1,
                             sizeof *placer->effects);
    return placer->effects ? note_effects(placer, error) : gd_error_memory(error);
}

void gd_placer_free(gd_placer *placer)
{
    gd_flow_destroy(placer->flow);
    free(placer->effects);
    *placer = (gd_placer){0};
}

/* ---- text ---- */

/* Whether tokens [from, to) hold a label. */
static bool has_label(const gd_ptx_module *module, uint32_t from, uint32_t to)
{
    for (uint32_t token = from; token < to; token++) {
        if (gd_token_kind(module->tokens.list[token]) == ':')
            return true;
    }
    return false;
}

/* Out of the scopes that begin with this instruction, so that a call's own scope stays in one
 * piece. */
gd_place gd_place_before(const gd_placer *placer, uint32_t instruction)
{
    const gd_ptx_module *module = placer->module;
    const gd_ptx_function *function = function_of(placer);
    uint32_t token = module->instructions[instruction].token,
             scope = module->instructions[instruction].scope;

    while (scope != function->scope) {
        uint32_t open = module->scopes[scope].token;
        bool is_first = instruction == function->instruction ||
                        module->instructions[instruction - 1].token < open;
        if (!is_first || has_label(module, open, token))
            break;
        token = open;
        scope = module->scopes[scope].parent;
    }
    return (gd_place){.token = token};
}

/* The first token of the outermost scope that begins before the first instruction, or of the first
 * label there. */
gd_place gd_place_start(const gd_placer *placer)
{
    const gd_ptx_module *module = placer->module;
    const gd_ptx_function *function = function_of(placer);

    if (function->instruction == function->instruction_end)
        return (gd_place){.token = function->token_end - 1};
    uint32_t token = module->instructions[function->instruction].token;
    uint32_t scope = module->instructions[function->instruction].scope;
    for (; scope != function->scope; scope = module->scopes[scope].parent)
        token = module->scopes[scope].token;
    for (uint32_t i = function->parameter_end; i < module->symbol_count; i++) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        if (symbol->token >= module->instructions[function->instruction].token)
            break;
        if (symbol->kind == GD_SYMBOL_LABEL && symbol->token > function->token_body &&
            symbol->token < token)
            token = symbol->token;
    }
    return (gd_place){.token = token};
}

static bool is_parameter_store(const gd_placer *placer, uint32_t instruction)
{
    const gd_ptx_instruction *item = &placer->module->instructions[instruction];

    return item->op == GD_OP_ST && gd_ptx_instruction_space(placer->module, item) == GD_SPACE_PARAM;
}

static bool is_parameter_load(const gd_placer *placer, uint32_t instruction)
{
    const gd_ptx_instruction *item = &placer->module->instructions[instruction];

    return item->op == GD_OP_LD && gd_ptx_instruction_space(placer->module, item) == GD_SPACE_PARAM;
}

/* Before an instruction of a block, and before what belongs to it when it is a call. */
static gd_place before_in_block(const gd_placer *placer, const gd_flow_block *block,
                                uint32_t instruction)
{
    if (is_call(&placer->module->instructions[instruction])) {
        while (instruction > block->instruction && is_parameter_store(placer, instruction - 1))
            instruction--;
    }
    return gd_place_before(placer, instruction);
}

static gd_place behind(const gd_placer *placer, const gd_flow_block *block, uint32_t instruction)
{
    const gd_ptx_module *module = placer->module;

    if (is_call(&module->instructions[instruction])) {
        while (instruction + 1 < block->instruction_end &&
               is_parameter_load(placer, instruction + 1) &&
               module->instructions[instruction + 1].scope ==
                   module->instructions[instruction].scope)
            instruction++;
    }
    return (gd_place){.token = module->instructions[instruction].token_end - 1, .behind = true};
}

/* ---- blocks ---- */

static const gd_flow_block *block_at(const gd_placer *placer, uint32_t block)
{
    return &placer->flow->blocks[block];
}

static bool is_common(const gd_placer *placer, uint32_t block)
{
    return !gd_flow_repeats(placer->flow, block) &&
           (block == 0 || gd_flow_postdominates(placer->flow, block_at(placer, block)->instruction,
                                                block_at(placer, 0)->instruction));
}

bool gd_place_is_common(const gd_placer *placer, uint32_t instruction)
{
    uint32_t block = gd_flow_block_of(placer->flow, instruction);

    return block_at(placer, block)->order != GD_PTX_NONE && is_common(placer, block);
}

static bool stands_above(const gd_flow_block *above, const gd_flow_block *below, bool post)
{
    return post ? above->post_enter <= below->post_enter && below->post_enter < above->post_leave
                : above->enter <= below->enter && below->enter < above->leave;
}

static uint32_t step_up(const gd_placer *placer, uint32_t block, bool post)
{
    return post ? block_at(placer, block)->postdominator : block_at(placer, block)->dominator;
}

/* The nearest block above both, in one of the trees that both are in. */
static uint32_t common_above(const gd_placer *placer, uint32_t a, uint32_t b, bool post)
{
    if (a == GD_PTX_NONE)
        return b;
    while (!stands_above(block_at(placer, a), block_at(placer, b), post))
        a = step_up(placer, a, post);
    return a;
}

static bool block_has(const gd_placer *placer, uint32_t block, uint32_t effects)
{
    for (uint32_t i = block_at(placer, block)->instruction;
         i < block_at(placer, block)->instruction_end; i++) {
        if (effect_of(placer, i) & effects)
            return true;
    }
    return false;
}

static bool is_reached(const gd_placer *placer, uint32_t block)
{
    return block_at(placer, block)->order != GD_PTX_NONE;
}

/* Whether nothing can stand behind an instruction in its block. */
static bool ends_flow(const gd_placer *placer, uint32_t instruction)
{
    switch (gd_ops[placer->module->instructions[instruction].op].control) {
    case GD_CONTROL_NONE:
    case GD_CONTROL_BARRIER:
    case GD_CONTROL_GRIDDEP:
        return false;
    default:
        return true;
    }
}

/* The latest place in a block that comes before all of those effects. */
static gd_place latest_in_block(const gd_placer *placer, uint32_t index, uint32_t effects)
{
    const gd_flow_block *block = block_at(placer, index);
    uint32_t last = block->instruction_end - 1;

    for (uint32_t i = block->instruction; i < block->instruction_end; i++) {
        if (effect_of(placer, i) & effects)
            return i == function_of(placer)->instruction ? gd_place_start(placer)
                                                         : before_in_block(placer, block, i);
    }
    if (!ends_flow(placer, last))
        return behind(placer, block, last);
    return last == function_of(placer)->instruction ? gd_place_start(placer)
                                                    : before_in_block(placer, block, last);
}

gd_place gd_place_before_effects(const gd_placer *placer, uint32_t effects)
{
    const gd_flow *flow = placer->flow;
    uint32_t block = GD_PTX_NONE;

    for (uint32_t i = 0; i < flow->count; i++) {
        if (is_reached(placer, i) && block_has(placer, i, effects))
            block = common_above(placer, block, i, false);
    }
    if (block == GD_PTX_NONE && flow->count && is_reached(placer, flow->count))
        block = flow->blocks[flow->count].dominator;
    while (block != GD_PTX_NONE && block != 0 && !is_common(placer, block))
        block = flow->blocks[block].dominator;
    if (block == GD_PTX_NONE || gd_flow_repeats(flow, block))
        return gd_place_start(placer);
    return latest_in_block(placer, block, effects);
}

/* The earliest place in a block that comes behind all reads; false: its last instruction reads and
 * ends it. */
static bool earliest_in_block(const gd_placer *placer, uint32_t index, uint32_t effects,
                              gd_place *place)
{
    const gd_flow_block *block = block_at(placer, index);

    for (uint32_t i = block->instruction_end; i-- > block->instruction;) {
        if (!(effect_of(placer, i) & effects))
            continue;
        bool goes_on = !ends_flow(placer, i) || (is_call(&placer->module->instructions[i]) &&
                                                 i + 1 < block->instruction_end);
        if (goes_on)
            *place = behind(placer, block, i);
        return goes_on;
    }
    *place = gd_place_before(placer, block->instruction);
    return true;
}

bool gd_place_after_reads(const gd_placer *placer, gd_place *place)
{
    const gd_flow *flow = placer->flow;
    uint32_t effects = GD_EFFECT_READ | GD_EFFECT_CONSTANT, block = GD_PTX_NONE;

    for (uint32_t i = 0; i < flow->count; i++) {
        if (is_reached(placer, i) && flow->blocks[i].post_leave && block_has(placer, i, effects))
            block = common_above(placer, block, i, true);
    }
    if (block == GD_PTX_NONE) {
        *place = gd_place_start(placer);
        return true;
    }
    if (!flow->blocks[0].post_leave)
        return false;
    block = common_above(placer, block, 0, true);
    for (; block != flow->count; block = flow->blocks[block].postdominator) {
        if (!gd_flow_repeats(flow, block) && earliest_in_block(placer, block, effects, place))
            return true;
    }
    return false;
}

bool gd_place_falls_off(const gd_placer *placer)
{
    const gd_flow_block *exit = block_at(placer, placer->flow->count);

    if (!placer->flow->count)
        return true;
    for (uint32_t i = exit->predecessor; i < exit->predecessor_end; i++) {
        const gd_flow_block *block = block_at(placer, placer->flow->edges[i]);
        uint8_t control =
            gd_ops[placer->module->instructions[block->instruction_end - 1].op].control;
        if (block->order != GD_PTX_NONE && control != GD_CONTROL_RETURN &&
            control != GD_CONTROL_EXIT)
            return true;
        bool is_guarded =
            placer->module->instructions[block->instruction_end - 1].flags & GD_INSTRUCTION_GUARDED;
        if (block->order != GD_PTX_NONE && is_guarded &&
            block->instruction_end == function_of(placer)->instruction_end)
            return true;
    }
    return false;
}

/* The header of the outermost loop around a block that stands in one. */
static uint32_t outermost_loop(const gd_placer *placer, uint32_t block)
{
    while (block_at(placer, block)->loop != block || block_at(placer, block)->depth != 1)
        block = block_at(placer, block)->dominator;
    return block;
}

bool gd_place_find_loop(const gd_placer *placer, uint32_t *instruction)
{
    const gd_flow *flow = placer->flow;
    uint32_t found = GD_PTX_NONE;

    for (uint32_t i = 0; i < flow->count && !flow->irreducible; i++) {
        if (!is_reached(placer, i) || !block_at(placer, i)->depth ||
            !block_has(placer, i, GD_EFFECT_READ | GD_EFFECT_CONSTANT))
            continue;
        uint32_t header = outermost_loop(placer, i);
        if (found == GD_PTX_NONE ||
            block_at(placer, header)->order < block_at(placer, found)->order)
            found = header;
    }
    if (found != GD_PTX_NONE)
        *instruction = block_at(placer, found)->instruction;
    return found != GD_PTX_NONE;
}

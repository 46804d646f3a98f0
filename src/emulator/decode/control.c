/* Branches, calls, barriers, and the grid's dependencies. */
#include <stdlib.h>

#include "emulator/decode/decode.h"
#include "emulator/execute/control.h"
#include "emulator/execute/cluster.h"
#include "emulator/execute/system.h"
#include "emulator/execute/lanes.h"

/* ---- branches ---- */

/* The instruction that a label of this function stands before; GD_PTX_NONE when an operand is no
 * such label. */
static uint32_t label_target(const gd_decoder *decoder, uint32_t operand)
{
    const gd_ptx_operand *item = gd_operand_at(decoder, operand);

    if (item->kind != GD_OPERAND_SYMBOL || item->symbol == GD_PTX_NONE)
        return GD_PTX_NONE;
    const gd_ptx_symbol *symbol = &decoder->module->symbols[item->symbol];
    bool inside = symbol->kind == GD_SYMBOL_LABEL &&
                  symbol->target >= decoder->function->instruction &&
                  symbol->target <= decoder->function->instruction_end;
    return inside ? symbol->target : GD_PTX_NONE;
}

bool gd_decode_bra(gd_decoder *decoder)
{
    uint32_t target = label_target(decoder, decoder->operands[0]);

    gd_has(decoder, GD_MODIFIER_UNI);
    if (target == GD_PTX_NONE)
        return gd_decode_refuse_form(decoder);
    return gd_emit(decoder, gd_run_bra) &&
           gd_fixup_add(decoder, decoder->image->code_count - 1, GD_PTX_NONE, target);
}

bool gd_decode_brx(gd_decoder *decoder)
{
    const gd_ptx_directive *targets;
    gd_slot index;
    uint32_t count = 0, first = decoder->image->list_count;

    gd_has(decoder, GD_MODIFIER_UNI);
    if (!(targets = gd_ptx_operand_directive(decoder->module, decoder->operands[1])) ||
        targets->kind != GD_DIRECTIVE_BRANCHTARGETS)
        return gd_decode_refuse_form(decoder);
    if (!gd_source(decoder, decoder->operands[0], GD_TYPE_U32, &index))
        return false;
    for (uint32_t operand = targets->operand; operand < targets->operand_end; operand++, count++) {
        uint32_t target = label_target(decoder, operand), nowhere = 0;
        if (target == GD_PTX_NONE)
            return gd_decode_refuse_form(decoder);
        if (gd_list_add(decoder, &nowhere, 1) == GD_PTX_NONE ||
            !gd_fixup_add(decoder, GD_PTX_NONE, first + count, target))
            return false;
    }
    gd_code *code = gd_emit(decoder, gd_run_brx);
    if (!code)
        return false;
    code->a = index;
    code->list = first;
    code->value = count;
    return true;
}

/* Parameters and results that are registers travel through the local memory of the function, where
 * a call puts and finds them. */
bool gd_emit_register_parameters(gd_decoder *decoder, bool results)
{
    const gd_ptx_function *function = decoder->function;
    uint32_t end = results ? function->result_end : function->parameter_end;

    if (function->flags & GD_FUNCTION_ENTRY)
        return true;
    for (uint32_t i = results ? function->result : function->parameter; i < end; i++) {
        const gd_ptx_symbol *symbol = &decoder->module->symbols[i];
        if (symbol->space != GD_SPACE_REG || symbol->target == GD_PTX_NONE)
            continue;
        for (uint32_t element = 0; element < symbol->vector; element++) {
            const gd_register *place = &decoder->registers[symbol->target + element];
            gd_code *code = gd_emit(decoder, gd_run_register_parameter);
            if (!code)
                return false;
            code->d = place->offset;
            code->value = decoder->offsets[i] + (uint64_t)element * place->bytes;
            code->bytes = place->bytes;
            code->x = results;
        }
    }
    return true;
}

bool gd_decode_ret(gd_decoder *decoder)
{
    gd_has(decoder, GD_MODIFIER_UNI);
    if (!gd_emit_register_parameters(decoder, true))
        return false;
    return gd_emit(decoder, gd_run_ret);
}

/* ---- calls ---- */

enum { MOST_ARGUMENTS = 255 };

/* A value of an argument or result in a register, at an offset in the callee's local memory. */
static bool add_register(gd_decoder *decoder, gd_ptx_type type, uint32_t offset, uint32_t operand,
                         bool back)
{
    uint32_t copy[4] = {offset, 0, gd_bytes_of(type), 0}, bytes = 0;

    if (back ? !gd_target_wide(decoder, operand, type, &copy[1], &bytes)
             : !gd_source_wide(decoder, operand, type, &copy[1], &bytes))
        return false;
    if (bytes < gd_bytes_of(type))
        return gd_decode_refuse(decoder, "an argument of another size than the parameter");
    copy[3] = (bytes < 4 ? 4 : bytes) << 8 | 1;
    return gd_list_add(decoder, copy, 4) != GD_PTX_NONE;
}

/* One argument or result: where it is in the callee's local memory, and where here. */
static bool add_copy(gd_decoder *decoder, uint32_t formal, uint32_t operand, bool back)
{
    const gd_ptx_symbol *symbol = &decoder->module->symbols[formal];
    const gd_ptx_operand *item = gd_operand_at(decoder, operand);
    const gd_ptx_type type = (gd_ptx_type)symbol->type;
    uint32_t copy[4] = {decoder->offsets[formal], 0, (uint32_t)symbol->bytes, 0};
    uint32_t elements[4];

    /* ptxas takes 128 bits, and what arrives on an H200 is something else. */
    if (symbol->space == GD_SPACE_REG && (gd_bytes_of(type) > 8 || !gd_bytes_of(type)))
        return gd_decode_refuse(decoder, "a function with a parameter in a register of this type");
    bool here = item->kind == GD_OPERAND_SYMBOL && item->symbol != GD_PTX_NONE &&
                decoder->module->symbols[item->symbol].space == GD_SPACE_PARAM &&
                decoder->offsets[item->symbol] != UINT32_MAX;
    if (here) {
        copy[1] = decoder->offsets[item->symbol] + (uint32_t)gd_variable_member(decoder, item);
        if (decoder->module->symbols[item->symbol].bytes != symbol->bytes)
            return gd_decode_refuse(decoder, "an argument of another size than the parameter");
        return gd_list_add(decoder, copy, 4) != GD_PTX_NONE;
    }
    if (symbol->flags & GD_SYMBOL_ARRAY || (symbol->vector != 1 && symbol->space != GD_SPACE_REG))
        return gd_decode_refuse(decoder, "a register as an argument for an array");
    if (gd_elements(decoder, operand, elements, 4) != symbol->vector)
        return gd_decode_refuse(decoder, "an argument of another size than the parameter");
    for (uint32_t i = 0; i < symbol->vector; i++) {
        if (!add_register(decoder, type, copy[0] + i * gd_bytes_of(type), elements[i], back))
            return false;
    }
    return true;
}

/* The list of an operand's elements for formal parameters [formal, formal_end). */
static bool add_copies(gd_decoder *decoder, uint32_t formal, uint32_t formal_end, uint32_t operand,
                       bool back, uint32_t *list, uint32_t *count)
{
    uint32_t child = operand == GD_PTX_NONE ? 0 : operand + 1;
    uint32_t end = operand == GD_PTX_NONE ? 0 : gd_operand_at(decoder, operand)->end;

    *list = decoder->image->list_count;
    for (; formal < formal_end && child < end;
         formal++, child = gd_operand_at(decoder, child)->end) {
        if (!add_copy(decoder, formal, child, back))
            return false;
    }
    *count = (decoder->image->list_count - *list) / 4;
    if (formal < formal_end || child < end || *count > MOST_ARGUMENTS)
        return gd_decode_refuse(decoder, "a call whose arguments are not those of the function");
    return true;
}

/* Puts what ret has to undo into a call, and results behind it. */
static bool emit_call(gd_decoder *decoder, gd_run *run, const gd_ptx_function *callee,
                      uint32_t result_operand, uint32_t argument_operand, uint32_t target,
                      gd_slot through, const uint32_t *pairs, uint32_t pair_count)
{
    const gd_routine *caller = &decoder->image->routines[decoder->routine];
    uint32_t list, count, results, result_count;

    if (!add_copies(decoder, callee->result, callee->result_end, result_operand, true, &results,
                    &result_count) ||
        !add_copies(decoder, callee->parameter, callee->parameter_end, argument_operand, false,
                    &list, &count))
        return false;
    if (pair_count) {
        uint32_t at = gd_list_add(decoder, pairs, 2 * pair_count);
        if (at == GD_PTX_NONE)
            return false;
        list = count ? list : at;
    }
    gd_code *code = gd_emit(decoder, run);
    if (!code)
        return false;
    code->a = through;
    code->value = caller->frame;
    code->e = caller->local;
    code->list = list;
    code->count = (uint8_t)count;
    code->target = run == gd_run_call ? target : pair_count;
    if (!result_count)
        return true;
    code = gd_emit(decoder, gd_run_results);
    if (!code)
        return false;
    code->e = caller->local;
    code->list = results;
    code->count = (uint8_t)result_count;
    return true;
}

/* Functions that the system gives to each module, with the bytes of their results and parameters
 * (CUDA C++ Programming Guide: formatted output, assertions, conditional graph nodes). */
typedef struct system_call {
    const char *name;
    gd_run *run;
    uint32_t result;
    uint32_t parameters[5];
} system_call;

static const system_call system_calls[] = {
    {"vprintf", gd_run_printf, 4, {8, 8}},
    {"malloc", gd_run_malloc, 8, {8}},
    {"free", gd_run_free, 0, {8}},
    {"__assertfail", gd_run_assert, 0, {8, 8, 4, 8, 8}},
    {"cudaGraphSetConditional", gd_run_set_condition, 0, {8, 4}},
};

/* Whether a declaration is that of the system's function. */
static bool has_prototype(const gd_decoder *decoder, const gd_ptx_function *declared,
                          const system_call *call)
{
    const gd_ptx_symbol *symbols = decoder->module->symbols;
    uint32_t count = 0;

    while (count < 5 && call->parameters[count])
        count++;
    if (declared->parameter_end - declared->parameter != count ||
        declared->result_end - declared->result != (call->result ? 1u : 0u))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (symbols[declared->parameter + i].bytes != call->parameters[i])
            return false;
    }
    return !call->result || symbols[declared->result].bytes == call->result;
}

static bool emit_system_call(gd_decoder *decoder, const gd_ptx_function *declared,
                             const system_call *call, uint32_t results, uint32_t arguments)
{
    uint32_t list, count, result_list, result_count;

    if (!has_prototype(decoder, declared, call))
        return gd_decode_refuse(decoder, "a call of %s with other parameters than the system's",
                                call->name);
    if (!add_copies(decoder, declared->result, declared->result_end, results, true, &result_list,
                    &result_count) ||
        !add_copies(decoder, declared->parameter, declared->parameter_end, arguments, false, &list,
                    &count))
        return false;
    gd_code *code = gd_emit(decoder, call->run);
    if (!code)
        return false;
    code->list = list;
    code->count = (uint8_t)count;
    code->target = result_list;
    code->x = (uint8_t)result_count;
    return true;
}

/* A function that has no body here. */
static bool call_outside(gd_decoder *decoder, uint32_t operand, uint32_t function, uint32_t results,
                         uint32_t arguments)
{
    uint32_t length = 0;
    const gd_ptx_operand *item = gd_operand_at(decoder, operand);
    const char *name =
        item->index == GD_PTX_NONE ? "" : gd_ptx_name_text(decoder->module, item->index, &length);

    for (size_t i = 0; function != GD_PTX_NONE && i < sizeof system_calls / sizeof *system_calls;
         i++) {
        if (strlen(system_calls[i].name) == length && !memcmp(name, system_calls[i].name, length))
            return emit_system_call(decoder, &decoder->module->functions[function],
                                    &system_calls[i], results, arguments);
    }
    return gd_decode_refuse(decoder, "a call of %.*s, which the module does not define,",
                            (int)length, name);
}

static bool same_parameters(const gd_ptx_module *module, uint32_t a, uint32_t a_end, uint32_t b,
                            uint32_t b_end)
{
    if (a_end - a != b_end - b)
        return false;
    for (uint32_t i = 0; i < a_end - a; i++) {
        const gd_ptx_symbol *x = &module->symbols[a + i], *y = &module->symbols[b + i];
        if (x->bytes != y->bytes || x->alignment != y->alignment || x->space != y->space)
            return false;
    }
    return true;
}

/* Whether the elements of a call's operand can stand for formal parameters: as many, and variables
 * of the same size. */
static bool suits(const gd_decoder *decoder, uint32_t operand, uint32_t formal, uint32_t formal_end)
{
    uint32_t child = operand == GD_PTX_NONE ? 0 : operand + 1;
    uint32_t end = operand == GD_PTX_NONE ? 0 : gd_operand_at(decoder, operand)->end;

    for (; formal < formal_end && child < end;
         formal++, child = gd_operand_at(decoder, child)->end) {
        const gd_ptx_operand *item = gd_operand_at(decoder, child);
        if (item->kind == GD_OPERAND_SYMBOL && item->symbol != GD_PTX_NONE &&
            decoder->module->symbols[item->symbol].bytes != decoder->module->symbols[formal].bytes)
            return false;
    }
    return formal == formal_end && child == end;
}

/* A call through a register: to the functions of the image that its arguments suit, which must be
 * alike. */
static bool call_through(gd_decoder *decoder, uint32_t callee, uint32_t results, uint32_t arguments)
{
    const gd_ptx_module *module = decoder->module;
    const gd_ptx_function *model = NULL;
    uint32_t pairs[2 * 64], count = 0;
    gd_slot through;

    if (!gd_source(decoder, callee, GD_TYPE_U64, &through))
        return false;
    for (uint32_t i = 1; i < decoder->image->routine_count; i++) {
        const gd_ptx_function *function = &module->functions[decoder->image->routines[i].function];
        if (!suits(decoder, arguments, function->parameter, function->parameter_end) ||
            !suits(decoder, results, function->result, function->result_end))
            continue;
        if (model && (!same_parameters(module, model->parameter, model->parameter_end,
                                       function->parameter, function->parameter_end) ||
                      !same_parameters(module, model->result, model->result_end, function->result,
                                       function->result_end)))
            return gd_decode_refuse(
                decoder, "a call through a register that functions of several prototypes fit");
        if (count == 64)
            return gd_decode_refuse(
                decoder, "a call through a register with more than 64 functions to choose from");
        model = function;
        pairs[2 * count] = decoder->image->routines[i].function;
        pairs[2 * count++ + 1] = i;
        if (!gd_call_add(decoder, i))
            return false;
    }
    if (!model)
        return gd_decode_refuse(decoder, "a call through a register that no function fits");
    return emit_call(decoder, gd_run_call_through, model, results, arguments, 0, through, pairs,
                     count);
}

bool gd_decode_call(gd_decoder *decoder)
{
    uint32_t callee = gd_ptx_call_operand(decoder->module, decoder->instruction);
    uint32_t function = gd_ptx_call_function(decoder->module, decoder->instruction);
    uint32_t results = GD_PTX_NONE, arguments = GD_PTX_NONE;

    gd_has(decoder, GD_MODIFIER_UNI);
    if (callee == GD_PTX_NONE)
        return gd_decode_refuse_form(decoder);
    if (callee != decoder->operands[0])
        results = decoder->operands[0];
    uint32_t next = gd_operand_at(decoder, callee)->end;
    if (next < decoder->instruction->operand_end &&
        gd_operand_at(decoder, next)->kind == GD_OPERAND_LIST)
        arguments = next;
    if (gd_operand_at(decoder, callee)->kind == GD_OPERAND_REGISTER)
        return call_through(decoder, callee, results, arguments);
    if (function == GD_PTX_NONE || !(decoder->module->functions[function].flags & GD_FUNCTION_BODY))
        return call_outside(decoder, callee, function, results, arguments);
    uint32_t routine = gd_routine_find(decoder, function);
    if (routine == GD_PTX_NONE || !gd_call_add(decoder, routine))
        return false;
    return emit_call(decoder, gd_run_call, &decoder->module->functions[function], results,
                     arguments, routine, GD_AREA_SINK, NULL, 0);
}

/* ---- barriers ---- */

static uint32_t red_flags(gd_decoder *decoder)
{
    gd_type_at(decoder, 0);
    return gd_has(decoder, GD_MODIFIER_POPC)  ? GD_BARRIER_POPC
           : gd_has(decoder, GD_MODIFIER_AND) ? GD_BARRIER_AND
           : gd_has(decoder, GD_MODIFIER_OR)  ? GD_BARRIER_OR
                                              : 0;
}

/* bar.red d, a, {b,} {!}c */
static bool red_operands(gd_decoder *decoder, gd_code *into, uint32_t *first, uint32_t *count)
{
    bool negated;

    into->flags |= (uint16_t)red_flags(decoder);
    *first = 1;
    *count = decoder->operand_count - 2;
    if (!gd_predicate_source(decoder, decoder->operands[decoder->operand_count - 1], &into->c,
                             &negated))
        return false;
    into->y = negated;
    return into->flags & GD_BARRIER_POPC
               ? gd_target(decoder, decoder->operands[0], GD_TYPE_U32, &into->d)
               : gd_predicate_target(decoder, decoder->operands[0], &into->d);
}

bool gd_decode_barrier(gd_decoder *decoder)
{
    const uint8_t sync = gd_ops[decoder->instruction->op].sync;
    gd_code from = gd_no_operands;
    uint32_t first = 0, count = decoder->operand_count;

    if (sync == GD_OP_SYNC_CTA_RED && !red_operands(decoder, &from, &first, &count))
        return gd_decode_refuse_form(decoder);
    from.flags |= sync == GD_OP_SYNC_CTA_ARRIVE ? GD_BARRIER_ARRIVE : 0;
    from.flags |= count == 2 ? GD_BARRIER_COUNTED : 0;
    return gd_source(decoder, decoder->operands[first], GD_TYPE_U32, &from.a) &&
           (count == 2 ? gd_source(decoder, decoder->operands[first + 1], GD_TYPE_U32, &from.b)
                       : gd_constant(decoder, 4, 0, &from.b)) &&
           gd_emit_made(decoder, gd_run_barrier, &from);
}

bool gd_decode_cluster_barrier(gd_decoder *decoder)
{
    bool wait = decoder->instruction->op == GD_OP_BARRIER_CLUSTER_WAIT;

    bool relaxed =
        gd_has(decoder,
               GD_MODIFIER_RELAXED); /* release, acquire where nothing is said (PTX ISA 9.7.13.4) */
    gd_ignore_order(decoder);
    gd_code *code = gd_emit(decoder, wait ? gd_run_cluster_wait : gd_run_cluster_arrive);
    if (code)
        code->order = relaxed ? 0 : GD_ORDER_ACQUIRE | GD_ORDER_RELEASE;
    return code;
}

/* Calls against what they call: a function's declaration, or the prototype or list that a call
 * through a register names (PTX ISA 7.1, 9.7.12.5). */
#include <stdio.h>

#include "ptx/check/validity.h"

/* What is called: results and parameters are symbols. */
typedef struct signature {
    uint32_t result, result_end, parameter, parameter_end;
} signature;

typedef struct call_check {
    gd_validity *text;
    const gd_ptx_module *module;
    const gd_ptx_instruction *call;
} call_check;

#define refuse(check, code, token, ...)                                                            \
    gd_validity_add((check)->text, GD_CODE_##code, token, NULL, "call: " __VA_ARGS__)

/* ---- one argument ---- */

typedef enum kind { KIND_BITS, KIND_INTEGER, KIND_FLOAT, KIND_OTHER } kind;

static kind kind_of(uint8_t type)
{
    static const uint8_t kinds[] = {
        [GD_TYPE_NONE] = KIND_OTHER,
#define UNSIGNED INTEGER
#define SIGNED INTEGER
#define PREDICATE OTHER
#define OPAQUE OTHER
#define GD_KIND_OF(class) KIND_##class
#define GD_TYPE(identifier, name, bytes, class) [GD_TYPE_##identifier] = GD_KIND_OF(class),
#include "ptx/text/types.def"
#undef GD_TYPE
    };

    return type == GD_TYPE_F16X2 ? KIND_BITS : (kind)kinds[type];
}

static bool is_array(const gd_ptx_symbol *symbol)
{
    return symbol->flags & GD_SYMBOL_ARRAY;
}

/* Types of one size whose values are taken for one another. Arrays of bytes go for arrays of
 * anything, and no array for a scalar. */
static bool types_agree(const gd_ptx_symbol *actual, const gd_ptx_symbol *formal)
{
    kind one = kind_of(actual->type), other = kind_of(formal->type);

    if (is_array(actual) != is_array(formal) || actual->bytes != formal->bytes)
        return false;
    return one == KIND_BITS || other == KIND_BITS ||
           (one == other && (one == KIND_INTEGER || actual->type == formal->type)) ||
           (is_array(formal) &&
            (gd_ptx_types[formal->type].bytes == 1 || gd_ptx_types[actual->type].bytes == 1));
}

static uint32_t alignment_of(const gd_ptx_symbol *symbol)
{
    return symbol->space == GD_SPACE_REG ? gd_ptx_types[symbol->type].bytes : symbol->alignment;
}

static bool tell_mismatch(call_check *check, const gd_ptx_operand *argument,
                          const gd_ptx_symbol *formal, const char *what)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, argument->token, &length);

    refuse(check, GD012, argument->token, "%.*s has another %s than the parameter of .%s%s",
           (int)(length < 60 ? length : 60), text, what, gd_ptx_types[formal->type].name,
           is_array(formal) ? "[]" : "");
    return false;
}

/* A constant is converted to the parameter's size, not to its kind. */
static bool check_constant(call_check *check, const gd_ptx_operand *argument,
                           const gd_ptx_symbol *formal)
{
    bool fraction = argument->kind == GD_OPERAND_SINGLE || argument->kind == GD_OPERAND_DOUBLE;
    kind wanted = kind_of(formal->type);

    if (!is_array(formal) && (wanted == KIND_BITS || argument->kind == GD_OPERAND_EXPRESSION ||
                              fraction == (wanted == KIND_FLOAT)))
        return true;
    return tell_mismatch(check, argument, formal, "type");
}

static bool check_symbol(call_check *check, const gd_ptx_operand *argument,
                         const gd_ptx_symbol *formal)
{
    const gd_ptx_symbol *actual = &check->module->symbols[argument->symbol];
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, argument->token, &length);

    if (argument->flags || argument->component) {
        refuse(check, GD012, argument->token, "an argument is a name alone or a constant");
        return false;
    }
    if (actual->space != GD_SPACE_REG && actual->space != GD_SPACE_PARAM) {
        refuse(check, GD012, argument->token, "%.*s lies neither in .param nor in a register",
               (int)(length < 60 ? length : 60), text);
        return false;
    }
    if (actual->space == GD_SPACE_PARAM && actual->kind == GD_SYMBOL_PARAMETER) {
        refuse(check, GD012, argument->token,
               "%.*s is a parameter of this function, which cannot be handed on",
               (int)(length < 60 ? length : 60), text);
        return false;
    }
    if (formal->flags & GD_SYMBOL_UNSIZED)
        return true;
    if (!types_agree(actual, formal))
        return tell_mismatch(check, argument, formal, "type");
    return alignment_of(actual) == alignment_of(formal) ||
           tell_mismatch(check, argument, formal, "alignment");
}

static bool check_argument(call_check *check, const gd_ptx_operand *argument,
                           const gd_ptx_symbol *formal, bool result)
{
    switch (argument->kind) {
    case GD_OPERAND_SINK:
        if (result)
            return true;
        break;
    case GD_OPERAND_INTEGER:
    case GD_OPERAND_SINGLE:
    case GD_OPERAND_DOUBLE:
    case GD_OPERAND_EXPRESSION:
        if (!result)
            return check_constant(check, argument, formal);
        break;
    case GD_OPERAND_SYMBOL:
        if (argument->symbol == GD_PTX_NONE)
            return true; /* told by name, or WARP_SZ */
        return check_symbol(check, argument, formal);
    case GD_OPERAND_REGISTER:
        return check_symbol(check, argument, formal);
    default:
        break;
    }
    refuse(check, GD012, argument->token, "%s",
           result ? "a result goes to a register, a variable in .param or '_'"
                  : "an argument is a register, a variable in .param or a constant");
    return false;
}

/* A list of the call, GD_PTX_NONE where it has none, against parameters or results. An array
 * without size at their end may be left out. */
static bool check_list(call_check *check, uint32_t list, uint32_t from, uint32_t end, bool result)
{
    const gd_ptx_module *module = check->module;
    uint32_t given = 0, most = end - from, token = check->call->opcode;

    if (list != GD_PTX_NONE) {
        token = module->operands[list].token;
        for (uint32_t i = list + 1; i < module->operands[list].end; i = module->operands[i].end)
            given++;
    }
    uint32_t least = most && module->symbols[end - 1].flags & GD_SYMBOL_UNSIZED ? most - 1 : most;
    if (given < least || given > most) {
        refuse(check, GD012, token, "%u %s%s given; the function has %u", (unsigned)given,
               result ? "result" : "argument", given == 1 ? " is" : "s are", (unsigned)most);
        return false;
    }
    for (uint32_t i = list + 1; given; i = module->operands[i].end, from++, given--) {
        if (!check_argument(check, &module->operands[i], &module->symbols[from], result))
            return false;
    }
    return true;
}

/* ---- one call ---- */

/* The operands of a call, each GD_PTX_NONE where it has none. */
typedef struct parts {
    uint32_t results, callee, arguments, last;
    bool odd; /* they do not stand as those of a call do */
} parts;

static parts split(const gd_ptx_module *module, const gd_ptx_instruction *call)
{
    parts of = {GD_PTX_NONE, GD_PTX_NONE, GD_PTX_NONE, GD_PTX_NONE, false};

    for (uint32_t i = call->operand; i < call->operand_end; i = module->operands[i].end) {
        bool list = module->operands[i].kind == GD_OPERAND_LIST;
        if (of.callee == GD_PTX_NONE && list && of.results == GD_PTX_NONE)
            of.results = i;
        else if (of.callee == GD_PTX_NONE && !list)
            of.callee = i;
        else if (of.callee != GD_PTX_NONE && list && of.arguments == GD_PTX_NONE &&
                 of.last == GD_PTX_NONE)
            of.arguments = i;
        else if (of.callee != GD_PTX_NONE && !list && of.last == GD_PTX_NONE)
            of.last = i;
        else
            of.odd = true;
    }
    of.odd |= of.callee == GD_PTX_NONE;
    return of;
}

static bool check_signature(call_check *check, const parts *of, const signature *wanted)
{
    return check_list(check, of->results, wanted->result, wanted->result_end, true) &&
           check_list(check, of->arguments, wanted->parameter, wanted->parameter_end, false);
}

static signature signature_of(const gd_ptx_module *module, uint32_t function)
{
    const gd_ptx_function *called = &module->functions[function];

    return (signature){called->result, called->result_end, called->parameter,
                       called->parameter_end};
}

static bool is_small(int32_t type)
{
    return type == GD_TYPE_PRED || type == GD_TYPE_U8 || type == GD_TYPE_S8 ||
           type == GD_TYPE_U16 || type == GD_TYPE_S16;
}

/* The ABI hands on integers of 32 bits and more (a prototype of nvcc says .b32 for a char), and no
 * predicates; 16 untyped bits are taken. */
static void check_sizes(call_check *check, const gd_ptx_operand *callee, const signature *of)
{
    const gd_ptx_module *module = check->module;
    uint32_t first = of->result < of->result_end ? of->result : of->parameter, length;
    const char *name = gd_ptx_token_text(module, callee->token, &length);

    if (of->result_end - of->result > 1)
        return; /* no ABI then */
    for (uint32_t i = first; i < of->parameter_end; i++) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        if (symbol->kind != GD_SYMBOL_PARAMETER || is_array(symbol) || symbol->vector > 1 ||
            !is_small(symbol->type))
            continue;
        refuse(check, GD012, callee->token,
               "%.*s has a parameter or result of .%s; at least 32 bits are handed on",
               (int)(length < 60 ? length : 60), name, gd_ptx_types[symbol->type].name);
        return;
    }
}

/* Through a register: by a prototype, or by a list of functions. */
static void check_indirect(call_check *check, const parts *of)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_operand *callee = &module->operands[of->callee];
    const gd_ptx_symbol *held = &module->symbols[callee->symbol];
    const gd_ptx_directive *by =
        of->last == GD_PTX_NONE ? NULL : gd_ptx_operand_directive(module, of->last);

    if (of->last != GD_PTX_NONE && module->operands[of->last].kind == GD_OPERAND_SYMBOL &&
        module->operands[of->last].symbol == GD_PTX_NONE)
        return; /* told by name */
    if (callee->flags || callee->component || kind_of(held->type) == KIND_FLOAT ||
        kind_of(held->type) == KIND_OTHER || gd_ptx_types[held->type].bytes < 4) {
        refuse(check, GD012, callee->token, "a .%s register holds no function's address",
               gd_ptx_types[held->type].name);
    } else if (by && by->token > check->call->token) {
        refuse(check, GD013, module->operands[of->last].token,
               "the prototype or list stands behind the call, and must stand in front of it");
    } else if (by && by->kind == GD_DIRECTIVE_CALLPROTOTYPE) {
        const signature wanted = {by->symbol, by->symbol + by->results, by->symbol + by->results,
                                  by->symbol_end};
        if (check_signature(check, of, &wanted))
            check_sizes(check, &module->operands[of->last], &wanted);
    } else if (by && by->kind == GD_DIRECTIVE_CALLTARGETS) {
        bool right = true;
        for (uint32_t i = by->operand; i < by->operand_end && right; i = module->operands[i].end) {
            uint32_t symbol = module->operands[i].symbol;
            if (symbol == GD_PTX_NONE || module->symbols[symbol].kind != GD_SYMBOL_FUNCTION)
                continue; /* told at the list */
            const signature wanted = signature_of(module, module->symbols[symbol].target);
            right = check_signature(check, of, &wanted);
        }
    } else {
        refuse(check, GD012,
               of->last == GD_PTX_NONE ? callee->token : module->operands[of->last].token,
               "a call through a register names a .callprototype or .calltargets at its end");
    }
}

static void check_direct(call_check *check, const parts *of)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_operand *callee = &module->operands[of->callee];
    uint32_t function = gd_ptx_call_function(module, check->call);

    if (callee->kind != GD_OPERAND_SYMBOL || callee->flags || callee->component)
        refuse(check, GD012, callee->token, "a function's name or a register is expected");
    else if (callee->symbol == GD_PTX_NONE)
        return; /* told by name */
    else if (module->symbols[callee->symbol].kind != GD_SYMBOL_FUNCTION)
        refuse(check, GD012, callee->token, "this is no function");
    else if (of->last != GD_PTX_NONE)
        refuse(check, GD012, callee->token,
               "a prototype or list stands where a register holds the address");
    else if (function != GD_PTX_NONE && module->functions[function].flags & GD_FUNCTION_ENTRY)
        refuse(check, GD012, callee->token, "an .entry cannot be called, a .func can");
    else if (function != GD_PTX_NONE) {
        const signature wanted = signature_of(module, function);
        if (check_signature(check, of, &wanted) &&
            module->functions[function].flags & GD_FUNCTION_BODY)
            check_sizes(check, callee, &wanted);
    }
}

static void check_call(call_check *check)
{
    const gd_ptx_module *module = check->module;
    const parts of = split(module, check->call);

    for (uint32_t i = 0; i < check->call->modifiers; i++) {
        uint32_t token = check->call->opcode + 1 + i, length;
        const char *text = gd_ptx_token_text(module, token, &length);
        if (gd_ptx_token_is(module, token, ".uni"))
            continue;
        refuse(check, GD011, token, "there is no modifier %.*s", (int)(length < 60 ? length : 60),
               text);
        return;
    }
    if (of.odd)
        refuse(check, GD012, check->call->opcode,
               "the form is call (result), function, (arguments)");
    else if (of.last != GD_PTX_NONE && module->operands[of.last].flags)
        refuse(check, GD012, module->operands[of.last].token,
               "the name of a prototype or list is expected alone");
    else if (module->operands[of.callee].kind == GD_OPERAND_REGISTER)
        check_indirect(check, &of);
    else
        check_direct(check, &of);
}

void gd_check_calls(gd_validity *text)
{
    call_check check = {.text = text, .module = text->module};

    for (uint32_t i = 0; i < text->module->instruction_count; i++) {
        check.call = &text->module->instructions[i];
        if (gd_ops[check.call->op].control == GD_CONTROL_CALL)
            check_call(&check);
    }
}

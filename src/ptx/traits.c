/* Two searches. The first walks over the calls, from the functions that wait or trigger to those that call them. The
 * second follows, in all functions at once, the paths on which nothing has waited yet ("dry" paths). Its nodes are the
 * instructions, then for each function its end, which a dry path reaches by returning, and its exit, which ends the
 * thread; each is visited once. Lists of branch targets are marked too, so that many branches through one long list
 * cost no more than one. */
#include <stdlib.h>

#include "griddep.h"
#include "ptx/traits.h"

/* A call by name of a function that has a body. */
typedef struct call_site {
    uint32_t caller; /* function */
    uint32_t instruction;
    uint32_t next; /* call of the same callee */
} call_site;

typedef struct dry_search {
    gd_ptx_module *module;
    call_site *calls;
    uint32_t call_count;
    uint32_t *callers; /* by function: the first call of it */
    bool *seen;        /* by node */
    uint32_t *work;    /* nodes that were seen and not yet visited; in the first search, functions */
    uint32_t work_count;
} dry_search;

static bool has_body(const gd_ptx_module *module, uint32_t function)
{
    return function != GD_PTX_NONE && module->functions[function].flags & GD_FUNCTION_BODY;
}

static bool is_call(const gd_ptx_module *module, uint32_t instruction)
{
    return gd_ops[module->instructions[instruction].op].control == GD_CONTROL_CALL;
}

static uint32_t count_calls(const gd_ptx_module *module)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < module->instruction_count; i++)
        count += is_call(module, i);
    return count;
}

static void note_own_traits(gd_ptx_module *module, gd_ptx_function *function)
{
    function->traits = GRIDDEP_TRAIT_KNOWN;
    for (uint32_t i = function->control; i < function->control_end; i++)
        function->traits |=
            module->controls[i].kind == GRIDDEP_CONTROL_WAIT ? GRIDDEP_TRAIT_WAITS : GRIDDEP_TRAIT_TRIGGERS;
}

static void list_calls(dry_search *search, uint32_t caller)
{
    gd_ptx_module *module = search->module;
    gd_ptx_function *function = &module->functions[caller];

    for (uint32_t i = function->instruction; i < function->instruction_end; i++) {
        if (!is_call(module, i))
            continue;
        function->traits |= GRIDDEP_TRAIT_CALLS;
        uint32_t callee = gd_ptx_call_function(module, &module->instructions[i]);
        if (!has_body(module, callee))
            continue;
        search->calls[search->call_count] =
            (call_site){.caller = caller, .instruction = i, .next = search->callers[callee]};
        search->callers[callee] = search->call_count++;
    }
}

/* Hands a trait on from the called to the calling. */
static void spread(dry_search *search, uint32_t trait)
{
    gd_ptx_function *functions = search->module->functions;

    for (uint32_t i = 0; i < search->module->function_count; i++) {
        if (functions[i].traits & trait)
            search->work[search->work_count++] = i;
    }
    while (search->work_count) {
        uint32_t callee = search->work[--search->work_count];
        for (uint32_t i = search->callers[callee]; i != GD_PTX_NONE; i = search->calls[i].next) {
            uint32_t caller = search->calls[i].caller;
            if (functions[caller].traits & trait)
                continue;
            functions[caller].traits |= trait;
            search->work[search->work_count++] = caller;
        }
    }
}

static uint32_t end_of(const dry_search *search, uint32_t function)
{
    return search->module->instruction_count + 2 * function;
}

static uint32_t exit_of(const dry_search *search, uint32_t function)
{
    return end_of(search, function) + 1;
}

static size_t list_of(const dry_search *search, const gd_ptx_directive *targets)
{
    const gd_ptx_module *module = search->module;

    return (size_t)module->instruction_count + 2 * (size_t)module->function_count +
           (size_t)(targets - module->directives);
}

static void reach(dry_search *search, uint32_t node)
{
    if (search->seen[node])
        return;
    search->seen[node] = true;
    search->work[search->work_count++] = node;
}

static void reach_instruction(dry_search *search, uint32_t function, uint32_t instruction)
{
    bool inside = instruction < search->module->functions[function].instruction_end;

    reach(search, inside ? instruction : end_of(search, function));
}

/* The label that an operand names; where it names none, anything may follow. */
static void reach_label(dry_search *search, uint32_t function, uint32_t operand, uint32_t operand_end)
{
    const gd_ptx_module *module = search->module;
    uint32_t symbol = operand < operand_end ? module->operands[operand].symbol : GD_PTX_NONE;

    if (symbol == GD_PTX_NONE || module->symbols[symbol].kind != GD_SYMBOL_LABEL)
        reach(search, exit_of(search, function));
    else
        reach_instruction(search, function, module->symbols[symbol].target);
}

/* brx.idx index, list */
static void reach_list(dry_search *search, uint32_t function, const gd_ptx_instruction *branch)
{
    const gd_ptx_module *module = search->module;
    uint32_t list = branch->operand < branch->operand_end ? module->operands[branch->operand].end : branch->operand_end;
    const gd_ptx_directive *targets = list < branch->operand_end ? gd_ptx_operand_directive(module, list) : NULL;

    if (!targets || targets->kind != GD_DIRECTIVE_BRANCHTARGETS) {
        reach(search, exit_of(search, function));
        return;
    }
    bool *seen = &search->seen[list_of(search, targets)];
    if (*seen)
        return;
    *seen = true;
    for (uint32_t i = targets->operand; i < targets->operand_end; i++)
        reach_label(search, function, i, targets->operand_end);
}

/* Whether an indirect call's prototype, its last operand, says .noreturn. */
static bool prototype_never_returns(const gd_ptx_module *module, const gd_ptx_instruction *call)
{
    uint32_t last = GD_PTX_NONE;

    for (uint32_t i = call->operand; i < call->operand_end; i = module->operands[i].end)
        last = i;
    const gd_ptx_directive *prototype = last == GD_PTX_NONE ? NULL : gd_ptx_operand_directive(module, last);
    return prototype && prototype->flags & GD_DIRECTIVE_NORETURN;
}

/* Whether a dry path goes on behind a call. */
static bool call_returns_dry(dry_search *search, uint32_t function, const gd_ptx_instruction *call)
{
    const gd_ptx_module *module = search->module;
    uint32_t callee = gd_ptx_call_function(module, call);

    if (callee == GD_PTX_NONE)
        return !prototype_never_returns(module, call);
    if (has_body(module, callee) && search->seen[exit_of(search, callee)])
        reach(search, exit_of(search, function));
    if (module->functions[callee].flags & GD_FUNCTION_NORETURN)
        return false;
    return !has_body(module, callee) || search->seen[end_of(search, callee)];
}

static void visit_instruction(dry_search *search, uint32_t index)
{
    const gd_ptx_module *module = search->module;
    const gd_ptx_instruction *instruction = &module->instructions[index];
    uint32_t function = module->scopes[instruction->scope].function;
    bool goes_on = instruction->flags & GD_INSTRUCTION_GUARDED;

    switch (gd_ops[instruction->op].control) {
    case GD_CONTROL_BRANCH:
        reach_label(search, function, instruction->operand, instruction->operand_end);
        break;
    case GD_CONTROL_BRANCH_INDIRECT:
        reach_list(search, function, instruction);
        break;
    case GD_CONTROL_CALL:
        goes_on |= call_returns_dry(search, function, instruction);
        break;
    case GD_CONTROL_RETURN:
        reach(search, end_of(search, function));
        break;
    case GD_CONTROL_EXIT:
        reach(search, exit_of(search, function));
        break;
    case GD_CONTROL_TRAP:
        break;
    case GD_CONTROL_GRIDDEP:
        goes_on |= instruction->op != GD_OP_GRIDDEPCONTROL_WAIT;
        break;
    case GD_CONTROL_UNKNOWN:
        reach(search, exit_of(search, function));
        goes_on = true;
        break;
    default:
        goes_on = true;
    }
    if (goes_on)
        reach_instruction(search, function, index + 1);
}

/* A function's end or exit: those of its calls that a dry path has reached go on, or exit. */
static void visit_boundary(dry_search *search, uint32_t node)
{
    const gd_ptx_module *module = search->module;
    uint32_t function = (node - module->instruction_count) / 2;
    bool exits = node == exit_of(search, function);

    for (uint32_t i = search->callers[function]; i != GD_PTX_NONE; i = search->calls[i].next) {
        const call_site *from = &search->calls[i];
        if (!search->seen[from->instruction])
            continue;
        if (exits)
            reach(search, exit_of(search, from->caller));
        else if (!(module->functions[function].flags & GD_FUNCTION_NORETURN))
            reach_instruction(search, from->caller, from->instruction + 1);
    }
}

static void search_dry_paths(dry_search *search)
{
    gd_ptx_module *module = search->module;

    for (uint32_t i = 0; i < module->function_count; i++) {
        if (has_body(module, i))
            reach_instruction(search, i, module->functions[i].instruction);
    }
    while (search->work_count) {
        uint32_t node = search->work[--search->work_count];
        if (node < module->instruction_count)
            visit_instruction(search, node);
        else
            visit_boundary(search, node);
    }
}

static void compute(dry_search *search)
{
    gd_ptx_module *module = search->module;

    for (uint32_t i = 0; i < module->function_count; i++)
        search->callers[i] = GD_PTX_NONE;
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (!has_body(module, i))
            continue;
        note_own_traits(module, &module->functions[i]);
        list_calls(search, i);
    }
    spread(search, GRIDDEP_TRAIT_WAITS);
    spread(search, GRIDDEP_TRAIT_TRIGGERS);
    search_dry_paths(search);
    for (uint32_t i = 0; i < module->function_count; i++) {
        uint32_t *traits = &module->functions[i].traits;
        if (*traits & GRIDDEP_TRAIT_WAITS && !search->seen[end_of(search, i)] && !search->seen[exit_of(search, i)])
            *traits |= GRIDDEP_TRAIT_WAITS_ALWAYS;
    }
}

bool gd_ptx_traits_compute(gd_ptx_module *module)
{
    size_t nodes = (size_t)module->instruction_count + 2 * (size_t)module->function_count + 1;
    dry_search search = {.module = module};

    search.calls = malloc((count_calls(module) + 1) * sizeof *search.calls);
    search.callers = malloc((module->function_count + (size_t)1) * sizeof *search.callers);
    search.seen = calloc(nodes + module->directive_count, sizeof *search.seen);
    search.work = malloc(nodes * sizeof *search.work);
    bool done = search.calls && search.callers && search.seen && search.work;
    if (done)
        compute(&search);
    free(search.calls);
    free(search.callers);
    free(search.seen);
    free(search.work);
    return done;
}

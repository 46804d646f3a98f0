/* Two searches. The first walks over the calls, from the functions that wait or trigger to those
 * that call them. The second follows, in all functions at once, the paths on which nothing has
 * waited yet ("dry" paths). Its nodes are the instructions, then for each callee its end, which a
 * dry path reaches by returning, and its exit, which ends the thread; each is visited once, nearest
 * first, and remembers from where. A callee is a function, a .calltargets list, or one of a few
 * kinds of code that cannot be looked into. Lists of branch targets are marked too, so that many
 * branches through one long list cost no more than one. */
#include <inttypes.h>
#include <stdlib.h>

#include "griddep.h"
#include "ptx/flow/traits.h"

/* Callees behind the functions and the directives. */
enum {
    CALLEE_UNKNOWN, /* returns or exits */
    CALLEE_NEVER,   /* exits */
    CALLEE_SYSTEM,  /* returns */
    CALLEE_FAILS,   /* ends the grid */
    OTHER_CALLEES
};

/* Who uses a callee: a call, or a list of which it is a member. */
typedef struct use {
    uint32_t user; /* instruction, or instruction_count + directive */
    uint32_t next; /* of the same callee */
} use;

#define NOT_SEEN UINT32_MAX
#define START (UINT32_MAX - 1)

struct gd_dry_search {
    const gd_ptx_module *module;
    use *uses;
    uint32_t use_count;
    uint32_t *users; /* by callee: the first use of it */
    uint32_t *from;  /* by node: the one it was reached from; START; NOT_SEEN */
    uint32_t *work;  /* nodes in the order in which they were seen; in the first search, callees */
    uint32_t work_count;
    bool *marked; /* by callee, first search */
};

/* ---- callees ---- */

static bool has_body(const gd_ptx_module *module, uint32_t function)
{
    return module->functions[function].flags & GD_FUNCTION_BODY;
}

static bool is_call(const gd_ptx_module *module, uint32_t instruction)
{
    return gd_ops[module->instructions[instruction].op].control == GD_CONTROL_CALL;
}

static uint32_t function_of(const gd_ptx_module *module, uint32_t instruction)
{
    return module->scopes[module->instructions[instruction].scope].function;
}

static uint32_t callee_of_list(const gd_ptx_module *module, const gd_ptx_directive *list)
{
    return module->function_count + (uint32_t)(list - module->directives);
}

static uint32_t other_callee(const gd_ptx_module *module, uint32_t kind)
{
    return module->function_count + module->directive_count + kind;
}

static uint32_t count_callees(const gd_ptx_module *module)
{
    return other_callee(module, OTHER_CALLEES);
}

static uint32_t callee_of(const gd_ptx_module *module, uint32_t instruction)
{
    const gd_ptx_instruction *call = &module->instructions[instruction];
    const gd_ptx_directive *list = gd_ptx_call_list(module, call);
    gd_call_targets targets = gd_ptx_call_targets(module, call);
    bool returns = !gd_ptx_call_never_returns(module, call);
    uint32_t function;

    if (list)
        return callee_of_list(module, list);
    gd_call_targets_next(&targets, &function);
    if (function != GD_PTX_NONE)
        return function;
    if (gd_ptx_is_system_call(module, call))
        return other_callee(module, returns ? CALLEE_SYSTEM : CALLEE_FAILS);
    return other_callee(module, returns ? CALLEE_UNKNOWN : CALLEE_NEVER);
}

static void add_use(gd_dry_search *search, uint32_t callee, uint32_t user)
{
    search->uses[search->use_count] = (use){.user = user, .next = search->users[callee]};
    search->users[callee] = search->use_count++;
}

static void list_members(gd_dry_search *search, uint32_t directive)
{
    const gd_ptx_module *module = search->module;
    const gd_ptx_directive *list = &module->directives[directive];
    gd_call_targets targets = {.module = module,
                               .operand = list->operand,
                               .operand_end = list->operand_end,
                               .listed = true,
                               .over = list->operand >= list->operand_end};
    uint32_t function;

    while (gd_call_targets_next(&targets, &function))
        add_use(search, function == GD_PTX_NONE ? other_callee(module, CALLEE_UNKNOWN) : function,
                module->instruction_count + directive);
}

static void list_uses(gd_dry_search *search)
{
    const gd_ptx_module *module = search->module;

    for (uint32_t i = count_callees(module); i-- > 0;)
        search->users[i] = GD_PTX_NONE;
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        if (is_call(module, i))
            add_use(search, callee_of(module, i), i);
    }
    for (uint32_t i = 0; i < module->directive_count; i++) {
        if (module->directives[i].kind == GD_DIRECTIVE_CALLTARGETS)
            list_members(search, i);
    }
}

static uint32_t count_uses(const gd_ptx_module *module)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < module->instruction_count; i++)
        count += is_call(module, i);
    for (uint32_t i = 0; i < module->directive_count; i++) {
        if (module->directives[i].kind == GD_DIRECTIVE_CALLTARGETS)
            count += module->directives[i].operand_end - module->directives[i].operand;
    }
    return count;
}

/* ---- what is somewhere in a function, or in what it calls ---- */

static void mark(gd_dry_search *search, uint32_t callee)
{
    if (search->marked[callee])
        return;
    search->marked[callee] = true;
    search->work[search->work_count++] = callee;
}

/* Hands a trait on from the called to the calling. */
static void spread(gd_dry_search *search, gd_ptx_function *functions, uint32_t trait)
{
    const gd_ptx_module *module = search->module;

    search->work_count = 0;
    for (uint32_t i = count_callees(module); i-- > 0;)
        search->marked[i] = false;
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (functions[i].traits & trait)
            mark(search, i);
    }
    while (search->work_count) {
        uint32_t callee = search->work[--search->work_count];
        if (callee < module->function_count)
            functions[callee].traits |= trait;
        for (uint32_t i = search->users[callee]; i != GD_PTX_NONE; i = search->uses[i].next) {
            uint32_t user = search->uses[i].user;
            bool member = user >= module->instruction_count;
            mark(search, member ? module->function_count + user - module->instruction_count
                                : function_of(module, user));
        }
    }
}

static void note_own_traits(const gd_ptx_module *module, gd_ptx_function *function)
{
    function->traits = GRIDDEP_TRAIT_KNOWN;
    for (uint32_t i = function->control; i < function->control_end; i++)
        function->traits |= module->controls[i].kind == GD_PTX_CONTROL_WAIT
                                ? GRIDDEP_TRAIT_WAITS
                                : GRIDDEP_TRAIT_TRIGGERS;
    for (uint32_t i = function->instruction; i < function->instruction_end; i++)
        function->traits |= is_call(module, i) ? GRIDDEP_TRAIT_CALLS : 0;
}

/* ---- nodes ---- */

static uint32_t end_of(const gd_dry_search *search, uint32_t callee)
{
    return search->module->instruction_count + 2 * callee;
}

static uint32_t exit_of(const gd_dry_search *search, uint32_t callee)
{
    return end_of(search, callee) + 1;
}

static uint32_t branches_of(const gd_dry_search *search, const gd_ptx_directive *targets)
{
    return end_of(search, count_callees(search->module)) +
           (uint32_t)(targets - search->module->directives);
}

static uint32_t count_nodes(const gd_dry_search *search)
{
    return end_of(search, count_callees(search->module)) + search->module->directive_count;
}

static bool is_seen(const gd_dry_search *search, uint32_t node)
{
    return search->from[node] != NOT_SEEN;
}

static void reach(gd_dry_search *search, uint32_t node, uint32_t from)
{
    if (is_seen(search, node))
        return;
    search->from[node] = from;
    search->work[search->work_count++] = node;
}

static void reach_instruction(gd_dry_search *search, uint32_t function, uint32_t instruction,
                              uint32_t from)
{
    bool inside = instruction < search->module->functions[function].instruction_end;

    reach(search, inside ? instruction : end_of(search, function), from);
}

/* ---- dry paths ---- */

/* The label that an operand names; where it names none, anything may follow. */
static void reach_label(gd_dry_search *search, uint32_t branch, uint32_t operand,
                        uint32_t operand_end)
{
    const gd_ptx_module *module = search->module;
    uint32_t symbol = operand < operand_end ? module->operands[operand].symbol : GD_PTX_NONE;
    uint32_t function = function_of(module, branch);

    if (symbol == GD_PTX_NONE || module->symbols[symbol].kind != GD_SYMBOL_LABEL)
        reach(search, exit_of(search, function), branch);
    else
        reach_instruction(search, function, module->symbols[symbol].target, branch);
}

/* brx.idx index, list */
static void reach_list(gd_dry_search *search, uint32_t index)
{
    const gd_ptx_module *module = search->module;
    const gd_ptx_instruction *branch = &module->instructions[index];
    uint32_t list = branch->operand < branch->operand_end ? module->operands[branch->operand].end
                                                          : branch->operand_end;
    const gd_ptx_directive *targets =
        list < branch->operand_end ? gd_ptx_operand_directive(module, list) : NULL;

    if (!targets || targets->kind != GD_DIRECTIVE_BRANCHTARGETS) {
        reach(search, exit_of(search, function_of(module, index)), index);
        return;
    }
    if (is_seen(search, branches_of(search, targets)))
        return;
    search->from[branches_of(search, targets)] = index;
    for (uint32_t i = targets->operand; i < targets->operand_end; i++)
        reach_label(search, index, i, targets->operand_end);
}

static bool returns(const gd_ptx_module *module, uint32_t callee)
{
    return callee >= module->function_count ||
           !(module->functions[callee].flags & GD_FUNCTION_NORETURN);
}

/* Whether a dry path goes on behind a call. */
static bool visit_call(gd_dry_search *search, uint32_t call)
{
    uint32_t callee = callee_of(search->module, call);

    if (is_seen(search, exit_of(search, callee)))
        reach(search, exit_of(search, function_of(search->module, call)), call);
    return is_seen(search, end_of(search, callee)) && returns(search->module, callee);
}

static void visit_instruction(gd_dry_search *search, uint32_t index)
{
    const gd_ptx_module *module = search->module;
    const gd_ptx_instruction *instruction = &module->instructions[index];
    uint32_t function = function_of(module, index);
    bool goes_on = instruction->flags & GD_INSTRUCTION_GUARDED;

    switch (gd_ops[instruction->op].control) {
    case GD_CONTROL_BRANCH:
        reach_label(search, index, instruction->operand, instruction->operand_end);
        break;
    case GD_CONTROL_BRANCH_INDIRECT:
        reach_list(search, index);
        break;
    case GD_CONTROL_CALL:
        goes_on |= visit_call(search, index);
        break;
    case GD_CONTROL_RETURN:
        reach(search, end_of(search, function), index);
        break;
    case GD_CONTROL_EXIT:
        reach(search, exit_of(search, function), index);
        break;
    case GD_CONTROL_TRAP:
        break;
    case GD_CONTROL_GRIDDEP:
        goes_on |= instruction->op != GD_OP_GRIDDEPCONTROL_WAIT;
        break;
    case GD_CONTROL_UNKNOWN:
        reach(search, exit_of(search, function), index);
        goes_on = true;
        break;
    default:
        goes_on = true;
    }
    if (goes_on)
        reach_instruction(search, function, index + 1, index);
}

/* A callee's end or exit: those of its calls that a dry path has reached go on, or exit. */
static void visit_boundary(gd_dry_search *search, uint32_t node)
{
    const gd_ptx_module *module = search->module;
    uint32_t callee = (node - module->instruction_count) / 2;
    bool exits = node == exit_of(search, callee);

    if (!exits && !returns(module, callee)) {
        reach(search, exit_of(search, callee), node);
        return;
    }
    for (uint32_t i = search->users[callee]; i != GD_PTX_NONE; i = search->uses[i].next) {
        uint32_t user = search->uses[i].user;
        if (user >= module->instruction_count) {
            uint32_t list = module->function_count + user - module->instruction_count;
            reach(search, exits ? exit_of(search, list) : end_of(search, list), node);
        } else if (is_seen(search, user)) {
            if (exits)
                reach(search, exit_of(search, function_of(module, user)), user);
            else
                reach_instruction(search, function_of(module, user), user + 1, user);
        }
    }
}

static void find_dry_paths(gd_dry_search *search)
{
    const gd_ptx_module *module = search->module;

    search->work_count = 0;
    for (uint32_t i = count_nodes(search); i-- > 0;)
        search->from[i] = NOT_SEEN;
    reach(search, end_of(search, other_callee(module, CALLEE_UNKNOWN)), START);
    reach(search, exit_of(search, other_callee(module, CALLEE_UNKNOWN)), START);
    reach(search, exit_of(search, other_callee(module, CALLEE_NEVER)), START);
    reach(search, end_of(search, other_callee(module, CALLEE_SYSTEM)), START);
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (has_body(module, i))
            reach_instruction(search, i, module->functions[i].instruction, START);
    }
    for (uint32_t i = 0; i < search->work_count; i++) {
        if (search->work[i] < module->instruction_count)
            visit_instruction(search, search->work[i]);
        else
            visit_boundary(search, search->work[i]);
    }
}

/* ---- the search ---- */

static gd_dry_search *create(const gd_ptx_module *module)
{
    gd_dry_search *search = calloc(1, sizeof *search);

    if (!search)
        return NULL;
    search->module = module;
    size_t nodes = count_nodes(search), callees = count_callees(module);
    search->uses = malloc((count_uses(module) + (size_t)1) * sizeof *search->uses);
    search->users = malloc(callees * sizeof *search->users);
    search->from = malloc(nodes * sizeof *search->from);
    search->work = malloc(nodes * sizeof *search->work);
    search->marked = malloc(callees * sizeof *search->marked);
    if (search->uses && search->users && search->from && search->work && search->marked) {
        list_uses(search);
        return search;
    }
    gd_dry_search_destroy(search);
    return NULL;
}

gd_dry_search *gd_dry_search_create(const gd_ptx_module *module)
{
    gd_dry_search *search = create(module);

    if (search)
        find_dry_paths(search);
    return search;
}

void gd_dry_search_destroy(gd_dry_search *search)
{
    if (!search)
        return;
    free(search->uses);
    free(search->users);
    free(search->from);
    free(search->work);
    free(search->marked);
    free(search);
}

bool gd_ptx_traits_compute(gd_ptx_module *module)
{
    gd_dry_search *search = create(module);

    if (!search)
        return false;
    for (uint32_t i = 0; i < module->function_count; i++) {
        if (has_body(module, i))
            note_own_traits(module, &module->functions[i]);
    }
    spread(search, module->functions, GRIDDEP_TRAIT_WAITS);
    spread(search, module->functions, GRIDDEP_TRAIT_TRIGGERS);
    find_dry_paths(search);
    for (uint32_t i = 0; i < module->function_count; i++) {
        uint32_t *traits = &module->functions[i].traits;
        if (*traits & GRIDDEP_TRAIT_WAITS && !is_seen(search, end_of(search, i)) &&
            !is_seen(search, exit_of(search, i)))
            *traits |= GRIDDEP_TRAIT_WAITS_ALWAYS;
    }
    gd_dry_search_destroy(search);
    return true;
}

/* ---- paths ---- */

/* The instructions of a function on the way to a node, in their order; each goes to the next. */
static bool append_way(const gd_dry_search *search, uint32_t node, gd_dry_path *path)
{
    const gd_ptx_module *module = search->module;
    uint32_t count = 0;

    for (uint32_t at = search->from[node]; at != START; at = search->from[at])
        count += at < module->instruction_count;
    gd_dry_step *steps = realloc(path->steps, (path->count + count + (size_t)1) * sizeof *steps);
    if (!steps)
        return false;
    path->steps = steps;
    path->count += count;
    uint32_t place = path->count, next = GD_PTX_NONE;
    for (uint32_t at = search->from[node]; at != START; at = search->from[at]) {
        if (at >= module->instruction_count)
            continue;
        steps[--place] =
            (gd_dry_step){.instruction = at, .turn = next == at + 1 ? GD_DRY_NEXT : GD_DRY_BRANCH};
        next = at;
    }
    return true;
}

/* The function out of which a call, reached on a dry path, leaves; GD_PTX_NONE: code that cannot be
 * looked into. */
static uint32_t leaving_callee(const gd_dry_search *search, uint32_t call)
{
    const gd_ptx_module *module = search->module;
    uint32_t callee = callee_of(module, call);

    if (callee >= module->function_count && callee < other_callee(module, 0))
        callee = (search->from[exit_of(search, callee)] - module->instruction_count) / 2;
    return callee < module->function_count ? callee : GD_PTX_NONE;
}

/* How the last instruction of a way leaves its function; ENTER and the function, where a call
 * does. */
static void end_way(const gd_dry_search *search, bool exits, gd_dry_step *last)
{
    const gd_ptx_module *module = search->module;

    last->turn = exits ? GD_DRY_EXIT : GD_DRY_RETURN;
    if (!exits || !is_call(module, last->instruction))
        return;
    last->function = leaving_callee(search, last->instruction);
    last->turn = last->function == GD_PTX_NONE ? GD_DRY_UNKNOWN : GD_DRY_ENTER;
}

bool gd_dry_search_path(const gd_dry_search *search, uint32_t function, bool may_return,
                        gd_dry_path *path)
{
    bool entered = true;

    *path = (gd_dry_path){0};
    may_return |= (search->module->functions[function].flags & GD_FUNCTION_ENTRY) != 0;
    while (entered) {
        uint32_t node = may_return && is_seen(search, end_of(search, function))
                            ? end_of(search, function)
                            : exit_of(search, function);
        if (!is_seen(search, node))
            return true; /* of the first function only */
        bool exits = node == exit_of(search, function);
        if (exits && search->from[node] == end_of(search, function)) {
            node = end_of(search, function); /* .noreturn */
            exits = false;
        }
        if (!append_way(search, node, path)) {
            gd_dry_path_free(path);
            return false;
        }
        if (search->from[node] == START)
            path->steps[path->count++] =
                (gd_dry_step){.instruction = GD_PTX_NONE, .turn = GD_DRY_RETURN};
        else
            end_way(search, exits, &path->steps[path->count - 1]);
        entered = path->steps[path->count - 1].turn == GD_DRY_ENTER;
        function = path->steps[path->count - 1].function;
        may_return = false;
    }
    return true;
}

bool gd_dry_search_path_to(const gd_dry_search *search, uint32_t instruction, gd_dry_path *path)
{
    const gd_ptx_module *module = search->module;

    *path = (gd_dry_path){0};
    if (!is_seen(search, instruction))
        return true;
    if (!append_way(search, instruction, path))
        return false;
    if (path->count && path->steps[path->count - 1].instruction + 1 == instruction)
        path->steps[path->count - 1].turn = GD_DRY_NEXT;
    path->steps[path->count++] = (gd_dry_step){.instruction = instruction};
    bool leaves = is_call(module, instruction) ||
                  gd_ops[module->instructions[instruction].op].control == GD_CONTROL_EXIT;
    end_way(search, leaves, &path->steps[path->count - 1]);
    return true;
}

void gd_dry_path_free(gd_dry_path *path)
{
    free(path->steps);
    *path = (gd_dry_path){0};
}

/* ---- words ---- */

enum { MOST_WORDS = 6 }; /* steps of a path that are told */

static int32_t line_of(const gd_ptx_module *module, uint32_t instruction)
{
    int32_t line, column;

    gd_ptx_token_position(module, module->instructions[instruction].opcode, &line, &column);
    return line;
}

/* The first unpredicated wait between two instructions of a function; GD_PTX_NONE. */
static uint32_t wait_between(const gd_ptx_module *module, uint32_t from, uint32_t to)
{
    for (uint32_t i = from + 1; i < to; i++) {
        if (module->instructions[i].op == GD_OP_GRIDDEPCONTROL_WAIT &&
            !(module->instructions[i].flags & GD_INSTRUCTION_GUARDED))
            return i;
    }
    return GD_PTX_NONE;
}

/* The name of what a call calls, as it is written. */
static void describe_callee(const gd_ptx_module *module, uint32_t call, gd_text *text)
{
    uint32_t operand = gd_ptx_call_operand(module, &module->instructions[call]), length = 0;
    const char *name = operand == GD_PTX_NONE
                           ? ""
                           : gd_ptx_token_text(module, module->operands[operand].token, &length);

    gd_text_format(text, "%.*s", length > 60 ? 60 : (int)length, name);
}

/* Whether a call may lead to a function that waits. */
static bool calls_waiting(const gd_ptx_module *module, const gd_ptx_instruction *call)
{
    gd_call_targets targets = gd_ptx_call_targets(module, call);
    bool waits = false;
    uint32_t function;

    while (!waits && gd_call_targets_next(&targets, &function))
        waits = function != GD_PTX_NONE && module->functions[function].traits & GRIDDEP_TRAIT_WAITS;
    return waits;
}

/* Whether a step is worth words: it does not just go on to the next instruction, or passes a wait
 * by. */
static bool is_told(const gd_ptx_module *module, const gd_dry_step *step)
{
    if (step->turn != GD_DRY_NEXT)
        return true;
    const gd_ptx_instruction *instruction = &module->instructions[step->instruction];
    return instruction->op == GD_OP_GRIDDEPCONTROL_WAIT ||
           (is_call(module, step->instruction) && calls_waiting(module, instruction));
}

/* A wait, or a call of what waits, that does not wait for all threads. */
static void describe_passed(const gd_ptx_module *module, uint32_t instruction, gd_text *text)
{
    bool guarded = module->instructions[instruction].flags & GD_INSTRUCTION_GUARDED;

    if (!is_call(module, instruction)) {
        gd_text_string(text, "waits under a predicate only");
        return;
    }
    gd_text_string(text, "calls ");
    describe_callee(module, instruction, text);
    gd_text_string(text, guarded ? " under a predicate only" : ", which may return without a wait");
}

static void describe_step(const gd_ptx_module *module, const gd_dry_step *step, gd_text *text)
{
    if (step->instruction == GD_PTX_NONE) {
        gd_text_string(text, "it has no instructions");
        return;
    }
    gd_op_control control = gd_ops[module->instructions[step->instruction].op].control;
    gd_text_format(text, "line %" PRId32 " ", line_of(module, step->instruction));
    switch (step->turn) {
    case GD_DRY_NEXT:
        describe_passed(module, step->instruction, text);
        return;
    case GD_DRY_BRANCH: {
        uint32_t wait = wait_between(module, step->instruction, step[1].instruction);
        gd_text_string(text, "branches ");
        if (wait != GD_PTX_NONE)
            gd_text_format(text, "past the wait of line %" PRId32 " ", line_of(module, wait));
        gd_text_format(text, "to line %" PRId32, line_of(module, step[1].instruction));
        return;
    }
    case GD_DRY_ENTER:
        gd_text_string(text, "calls ");
        describe_callee(module, step->instruction, text);
        if (gd_ptx_call_list(module, &module->instructions[step->instruction]))
            gd_text_format(text, ", which may be %s", module->functions[step->function].name);
        return;
    case GD_DRY_RETURN:
        gd_text_string(text, control == GD_CONTROL_RETURN ? "leaves by ret"
                             : control == GD_CONTROL_BRANCH
                                 ? "branches to the end and leaves"
                                 : "is the last one, and the end leaves");
        return;
    case GD_DRY_EXIT:
        gd_text_string(text, control == GD_CONTROL_EXIT ? "leaves by exit"
                                                        : "is not known and may leave");
        return;
    case GD_DRY_UNKNOWN:
        gd_text_string(text, "calls ");
        describe_callee(module, step->instruction, text);
        gd_text_string(text, ", which cannot be looked into and may leave");
        return;
    }
}

void gd_dry_path_describe(const gd_dry_path *path, const gd_ptx_module *module, gd_text *text)
{
    uint32_t told = 0, all = 0;

    for (uint32_t i = 0; i < path->count; i++)
        all += is_told(module, &path->steps[i]);
    for (uint32_t i = 0; i < path->count; i++) {
        if (!is_told(module, &path->steps[i]))
            continue;
        told++;
        if (told > MOST_WORDS / 2 && told + MOST_WORDS / 2 <= all && all > MOST_WORDS) {
            if (told == MOST_WORDS / 2 + 1)
                gd_text_string(text, ", ...");
            continue;
        }
        gd_text_string(text, told > 1 ? ", " : "");
        describe_step(module, &path->steps[i], text);
    }
}

bool gd_dry_search_describe(const gd_dry_search *search, uint32_t function, gd_text *text)
{
    uint32_t traits = search->module->functions[function].traits;
    gd_dry_path path;

    if (!(traits & GRIDDEP_TRAIT_WAITS) || traits & GRIDDEP_TRAIT_WAITS_ALWAYS)
        return true;
    if (!gd_dry_search_path(search, function, true, &path))
        return false;
    gd_dry_path_describe(&path, search->module, text);
    gd_dry_path_free(&path);
    return !text->failed;
}

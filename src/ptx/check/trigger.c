/* The rules about where griddepcontrol.launch_dependents stands. */
#include <stdlib.h>

#include "base/error.h"
#include "ptx/check/rules.h"

/* Steps up dominator trees that one entry's check takes to find what a trigger depends on; GD143, a
 * note, is given up behind that. */
enum { DOMINATOR_STEPS = 1 << 16 };

/* ---- by block, from the exit upward ---- */

/* Whether each path from a block's start to the exit triggers. */
static void find_sure_triggers(const gd_flow *flow, const gd_ptx_module *module, bool *sure,
                               uint32_t *work)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < flow->count; i++)
        sure[i] = true;
    sure[flow->count] = false;
    work[count++] = flow->count;
    while (count) {
        const gd_flow_block *gone = &flow->blocks[work[--count]];
        for (uint32_t i = gone->predecessor; i < gone->predecessor_end; i++) {
            uint32_t from = flow->edges[i];
            bool triggers = false;
            if (!sure[from])
                continue;
            for (uint32_t k = flow->blocks[from].instruction;
                 k < flow->blocks[from].instruction_end; k++)
                triggers |= module->instructions[k].op == GD_OP_GRIDDEPCONTROL_LAUNCH_DEPENDENTS;
            if (triggers)
                continue;
            sure[from] = false;
            work[count++] = from;
        }
    }
}

/* Global accesses, and calls of what may have some. */
static bool is_work(const gd_ptx_module *module, const gd_ptx_instruction *item)
{
    if (item->op == GD_OP_CALL)
        return !gd_ptx_is_system_call(module, item);
    return gd_access_of(module, item).flags;
}

/* Whether some path from a block's start comes to work. */
static void find_work(const gd_flow *flow, const gd_ptx_module *module, bool *works, uint32_t *work)
{
    uint32_t count = 0;

    works[flow->count] = false;
    for (uint32_t i = 0; i < flow->count; i++) {
        works[i] = false;
        for (uint32_t k = flow->blocks[i].instruction;
             k < flow->blocks[i].instruction_end && !works[i]; k++)
            works[i] = is_work(module, &module->instructions[k]);
        if (works[i])
            work[count++] = i;
    }
    while (count) {
        const gd_flow_block *block = &flow->blocks[work[--count]];
        for (uint32_t i = block->predecessor; i < block->predecessor_end; i++) {
            if (works[flow->edges[i]])
                continue;
            works[flow->edges[i]] = true;
            work[count++] = flow->edges[i];
        }
    }
}

static bool work_follows(const gd_flow *flow, const gd_ptx_module *module, const bool *works,
                         uint32_t instruction)
{
    const gd_flow_block *block = &flow->blocks[gd_flow_block_of(flow, instruction)];

    for (uint32_t i = instruction + 1; i < block->instruction_end; i++) {
        if (is_work(module, &module->instructions[i]))
            return true;
    }
    for (uint32_t i = block->successor; i < block->successor_end; i++) {
        if (works[flow->edges[i]])
            return true;
    }
    return false;
}

/* ---- what a trigger depends on ---- */

/* Whether a way out of a branch does nothing but leave: a CTA that exits counts as having
 * triggered. */
static bool only_leaves(const gd_flow *flow, const gd_ptx_module *module, uint32_t block)
{
    if (block == flow->count)
        return true;
    gd_op_control control =
        gd_ops[module->instructions[flow->blocks[block].instruction].op].control;

    return control == GD_CONTROL_RETURN || control == GD_CONTROL_EXIT || control == GD_CONTROL_TRAP;
}

/* Whether a branch has a way on which threads go on and need not trigger. */
static bool may_miss(const gd_flow *flow, const gd_ptx_module *module, const bool *sure,
                     uint32_t block)
{
    for (uint32_t i = flow->blocks[block].successor; i < flow->blocks[block].successor_end; i++) {
        uint32_t to = flow->edges[i];
        if (!sure[to] && !only_leaves(flow, module, to))
            return true;
    }
    return false;
}

/* The scope of the nearest branch, or of the guard, that decides whether a trigger is executed. */
static gd_scope deciding_scope(const gd_rules *rules, const gd_check_function *function,
                               const bool *sure, uint32_t trigger, uint32_t *steps)
{
    const gd_flow *flow = function->flow;
    uint32_t own = gd_flow_block_of(flow, trigger);
    gd_scope scope = gd_check_guard_scope(rules->functions, function, trigger);

    for (uint32_t at = flow->blocks[own].dominator;
         scope == GD_SCOPE_NONE && at != GD_PTX_NONE && *steps;
         at = flow->blocks[at].dominator, --*steps) {
        if (function->scopes[at] == GD_SCOPE_NONE || !may_miss(flow, rules->module, sure, at) ||
            gd_flow_postdominates(flow, trigger, flow->blocks[at].instruction_end - 1))
            continue;
        scope = (gd_scope)function->scopes[at];
    }
    return scope;
}

static void report_scope(gd_rules *rules, const gd_entry_report *report, uint32_t trigger,
                         gd_scope scope)
{
    if (scope == GD_SCOPE_NONE)
        return;
    if (scope <= GD_SCOPE_MIXED)
        gd_rules_add(rules, report, 0, GD143, trigger, "let every CTA trigger",
                     "whether this trigger is executed depends on the CTA: dependents start when "
                     "the CTAs that do not "
                     "trigger have exited");
    else
        gd_rules_add(rules, report, 0, GD143, trigger,
                     "make sure that each CTA has a thread that comes here",
                     "this trigger is executed by some threads only; it counts for the CTA when "
                     "the first of them is "
                     "here");
}

/* ---- the rules ---- */

typedef struct trigger_facts {
    bool *sure;
    bool *works;
    uint32_t *work;
} trigger_facts;

static void free_facts(trigger_facts *facts)
{
    free(facts->sure);
    free(facts->works);
    free(facts->work);
}

static bool make_facts(trigger_facts *facts, const gd_flow *flow, const gd_ptx_module *module)
{
    size_t blocks = flow->count + (size_t)1;

    facts->sure = malloc(blocks * sizeof *facts->sure);
    facts->works = malloc(blocks * sizeof *facts->works);
    facts->work = malloc(blocks * sizeof *facts->work);
    if (!facts->sure || !facts->works || !facts->work)
        return false;
    find_sure_triggers(flow, module, facts->sure, facts->work);
    find_work(flow, module, facts->works, facts->work);
    return true;
}

static bool is_in(const gd_ptx_module *module, uint32_t function, uint32_t instruction)
{
    return instruction >= module->functions[function].instruction &&
           instruction < module->functions[function].instruction_end;
}

/* Triggers in the entry's own body: what they depend on, and whether any of them has work behind
 * it. */
static void check_own(gd_rules *rules, const gd_entry_report *report,
                      const gd_check_function *function, const trigger_facts *facts)
{
    const gd_flow *flow = function->flow;
    uint32_t steps = DOMINATOR_STEPS;
    bool useful = !report->access_count;

    for (uint32_t i = 0; i < report->triggers.count; i++) {
        uint32_t at = report->triggers.list[i].instruction;
        if (is_in(rules->module, report->function, at)) {
            report_scope(rules, report, at,
                         deciding_scope(rules, function, facts->sure, at, &steps));
            useful |= work_follows(flow, rules->module, facts->works, at);
        } else {
            useful = true;
        }
    }
    for (uint32_t i = 0; i < report->triggers.count && !useful; i++)
        gd_rules_add(rules, report, 0, GD141, report->triggers.list[i].instruction,
                     "trigger earlier",
                     "no access to global memory follows this trigger: it comes hardly before the "
                     "exit, which triggers "
                     "by itself");
}

static int32_t check_loops(gd_rules *rules, const gd_entry_report *report)
{
    for (uint32_t i = 0; i < report->triggers.count; i++) {
        uint32_t at = report->triggers.list[i].instruction;
        const gd_check_function *function;
        int32_t status = gd_check_function_get(
            rules->functions, rules->module->scopes[rules->module->instructions[at].scope].function,
            &function, rules->error);
        if (status)
            return status;
        if (!function->refused &&
            gd_flow_repeats(function->flow, gd_flow_block_of(function->flow, at)))
            gd_rules_add(rules, report, 0, GD142, at, "put it in front of the loop",
                         "this trigger is repeated by a loop; only the first one counts");
    }
    return GRIDDEP_OK;
}

int32_t gd_rules_check_triggers(gd_rules *rules, const gd_entry_report *report)
{
    const gd_check_function *function;
    trigger_facts facts = {0};

    if (!report->triggers.count)
        return GRIDDEP_OK;
    int32_t status = check_loops(rules, report);
    if (!status)
        status = gd_check_function_get(rules->functions, report->function, &function, rules->error);
    if (status || function->refused)
        return status;
    if (make_facts(&facts, function->flow, rules->module))
        check_own(rules, report, function, &facts);
    else
        status = gd_error_memory(rules->error);
    free_facts(&facts);
    return status;
}

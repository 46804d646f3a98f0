/* The rules about flags that another device sees: strong accesses of scope sys that neither release
 * nor acquire by themselves, and what a fence of that scope between them and the data has to do.
 *
 * A volatile flag may be meant for the own device too, so that a fence of that scope is enough.
 *
 * A flag and data belong together where their addresses point into one parameter and nothing else:
 * a message whose words carry their own flags has no other data, and is right without a fence. */
#include <stdlib.h>

#include "base/error.h"
#include "ptx/check/rules.h"

typedef struct walk {
    const gd_ptx_module *module;
    const gd_check_function *function;
    uint32_t parameters; /* set of the flag's address */
    bool backward;
    bool near;  /* the flag may be for the own device: it is volatile, and no scope was written */
    bool *seen; /* blocks */
    uint32_t *work;
    uint32_t narrow; /* a fence of one device that was passed; GD_PTX_NONE */
} walk;

/* ---- instructions ---- */

/* A volatile access is a relaxed one of scope sys (PTX ISA 8.4). */
static bool is_sys(const gd_ptx_module *module, const gd_ptx_instruction *item)
{
    return gd_instruction_has(module, item, ".sys") ||
           gd_instruction_has(module, item, ".volatile");
}

static bool is_strong(const gd_ptx_module *module, const gd_ptx_instruction *item)
{
    static const char *const strong[] = {".relaxed", ".acquire",  ".release",
                                         ".acq_rel", ".volatile", ".mmio"};

    for (size_t i = 0; i < sizeof strong / sizeof *strong; i++) {
        if (gd_instruction_has(module, item, strong[i]))
            return true;
    }
    return item->op == GD_OP_ATOM || item->op == GD_OP_RED;
}

/* Whether a strong access orders in one direction by itself. */
static bool orders(const gd_ptx_module *module, const gd_ptx_instruction *item, bool releases)
{
    return gd_instruction_has(module, item, ".acq_rel") ||
           gd_instruction_has(module, item, releases ? ".release" : ".acquire");
}

static bool is_fence(const gd_ptx_instruction *item)
{
    return item->op == GD_OP_FENCE || item->op == GD_OP_MEMBAR;
}

/* The set of the one parameter that an access's address points into; false where it may be anything
 * else. */
static bool find_parameter(const gd_ptx_module *module, const gd_check_function *function,
                           const gd_ptx_instruction *item, uint32_t flags, uint32_t *parameters)
{
    const uint32_t elsewhere =
        GD_ORIGIN_UNKNOWN | GD_ORIGIN_SHARED | GD_ORIGIN_LOCAL | GD_ORIGIN_GLOBAL;
    const gd_access access = gd_access_of(module, item);

    if (!(access.flags & flags) || access.operand == GD_PTX_NONE)
        return false;
    const gd_origin origin = gd_origins_of(function->origins, access.operand);
    *parameters = origin.parameters;
    return !(origin.flags & elsewhere) &&
           gd_origins_set_count(function->origins, origin.parameters) == 1;
}

/* A store, or an atomic operation, of scope sys that does not release; a load of a loop that does
 * not acquire. */
static bool is_flag(const gd_ptx_module *module, const gd_check_function *function,
                    const gd_ptx_instruction *item, bool releases, uint32_t *parameters)
{
    const bool store = item->op == GD_OP_ST || item->op == GD_OP_RED || item->op == GD_OP_ATOM;

    return (releases ? store : item->op == GD_OP_LD) && is_sys(module, item) &&
           is_strong(module, item) && !orders(module, item, releases) &&
           find_parameter(module, function, item, releases ? GD_ACCESS_WRITE : GD_ACCESS_READ,
                          parameters);
}

static bool is_data(const walk *at, const gd_ptx_instruction *item)
{
    uint32_t parameters;

    return (at->backward ? item->op == GD_OP_ST : item->op == GD_OP_LD) &&
           !is_strong(at->module, item) &&
           find_parameter(at->module, at->function, item,
                          at->backward ? GD_ACCESS_WRITE : GD_ACCESS_READ, &parameters) &&
           parameters == at->parameters;
}

/* What makes an order of the kind that is missing, or may: then the walk ends. */
static bool is_order(walk *at, uint32_t instruction)
{
    const gd_ptx_module *module = at->module;
    const gd_ptx_instruction *item = &module->instructions[instruction];

    if (item->op == GD_OP_CALL)
        return !gd_ptx_is_system_call(module, item);
    const bool reaches = is_sys(module, item) ||
                         (at->near && (gd_instruction_has(module, item, ".gpu") ||
                                       gd_instruction_has(module, item, ".gl")));
    if (is_fence(item) && reaches)
        return !gd_instruction_has(module, item, at->backward ? ".acquire" : ".release");
    if (is_fence(item))
        at->narrow = instruction;
    return !at->backward && is_sys(module, item) && orders(module, item, false);
}

/* ---- paths ---- */

/* The first data within instructions [from, end) of a block, in the walk's direction; GD_PTX_NONE,
 * *over: the walk does not go on there. */
static uint32_t search(walk *at, uint32_t from, uint32_t end, bool *over)
{
    for (uint32_t i = from; i < end; i++) {
        const uint32_t instruction = at->backward ? end - 1 - (i - from) : i;
        *over = is_order(at, instruction);
        if (*over)
            return GD_PTX_NONE;
        *over = is_data(at, &at->module->instructions[instruction]);
        if (*over)
            return instruction;
    }
    *over = false;
    return GD_PTX_NONE;
}

static void go_on(walk *at, const gd_flow_block *block, uint32_t *count)
{
    const gd_flow *flow = at->function->flow;
    const uint32_t first = at->backward ? block->predecessor : block->successor,
                   end = at->backward ? block->predecessor_end : block->successor_end;

    for (uint32_t i = first; i < end; i++) {
        const uint32_t next = flow->edges[i];
        if (next == flow->count || at->seen[next])
            continue;
        at->seen[next] = true;
        at->work[(*count)++] = next;
    }
}

/* Data on some path from the flag, or to it, that nothing orders; GD_PTX_NONE. */
static uint32_t find_data(walk *at, uint32_t flag)
{
    const gd_flow *flow = at->function->flow;
    const gd_flow_block *block = &flow->blocks[gd_flow_block_of(flow, flag)];
    uint32_t count = 0;
    bool over;

    for (uint32_t i = 0; i < flow->count; i++)
        at->seen[i] = false;
    at->narrow = GD_PTX_NONE;
    uint32_t found = at->backward ? search(at, block->instruction, flag, &over)
                                  : search(at, flag + 1, block->instruction_end, &over);
    if (!over)
        go_on(at, block, &count);
    while (found == GD_PTX_NONE && count) {
        block = &flow->blocks[at->work[--count]];
        found = search(at, block->instruction, block->instruction_end, &over);
        if (!over)
            go_on(at, block, &count);
    }
    return found;
}

/* ---- findings ---- */

static void report(gd_rules *rules, const walk *at, uint32_t flag, uint32_t data)
{
    const gd_ptx_module *module = rules->module;
    const gd_finding_relation relations[] = {
        {module->instructions[data].opcode,
         at->backward ? "the data that the flag is for" : "the data that is read behind the flag"},
        {at->narrow == GD_PTX_NONE ? 0 : module->instructions[at->narrow].opcode,
         "this fence orders for its own device alone"}};
    const uint32_t parameter = gd_origins_set_at(at->function->origins, at->parameters, 0);
    const gd_ptx_function *entry = &module->functions[at->function->flow->function];
    const gd_finding_draft draft = {
        .code = at->backward ? GD_CODE_GD131 : GD_CODE_GD132,
        .launch = rules->launch,
        .module = module,
        .token = module->instructions[flag].opcode,
        .entry = entry->name,
        .hint = at->backward ? "make it .release.sys, or put fence.acq_rel.sys in front of it"
                             : "make it .acquire.sys, or put fence.acq_rel.sys behind the loop",
        .relations = relations,
        .relation_count = at->narrow == GD_PTX_NONE ? 1 : 2};
    const char *name = entry->parameter_names[parameter],
               *narrow =
                   at->narrow == GD_PTX_NONE ? "" : "; the fence between them is not of scope sys";

    if (at->backward)
        gd_findings_add(rules->findings, &draft,
                        "a flag of scope sys is set in what parameter %s points to, and nothing of "
                        "that scope releases what was stored there before: another device may see "
                        "the flag and not the data%s",
                        name, narrow);
    else
        gd_findings_add(rules->findings, &draft,
                        "a flag of scope sys is waited for in what parameter %s points to, and "
                        "nothing of that scope acquires what is loaded from there behind it: the "
                        "data may be older than the flag%s",
                        name, narrow);
}

static void check_instruction(gd_rules *rules, walk *at, uint32_t instruction)
{
    const gd_ptx_instruction *item = &rules->module->instructions[instruction];
    const gd_flow *flow = at->function->flow;

    for (int i = 0; i < 2; i++) {
        at->backward = i == 0;
        if (!is_flag(rules->module, at->function, item, at->backward, &at->parameters) ||
            (!at->backward && !gd_flow_repeats(flow, gd_flow_block_of(flow, instruction))))
            continue;
        at->near = gd_instruction_has(rules->module, item, ".volatile");
        const uint32_t data = find_data(at, instruction);
        if (data != GD_PTX_NONE)
            report(rules, at, instruction, data);
    }
}

int32_t gd_rules_check_hops(gd_rules *rules, uint32_t index)
{
    const gd_ptx_function *entry = &rules->module->functions[index];
    const gd_check_function *function;
    bool some = false;

    for (uint32_t i = entry->instruction; i < entry->instruction_end && !some; i++)
        some = is_sys(rules->module, &rules->module->instructions[i]) &&
               !is_fence(&rules->module->instructions[i]);
    if (!some)
        return GRIDDEP_OK;
    int32_t status = gd_check_function_get(rules->functions, index, &function, rules->error);
    if (status || function->refused)
        return status;
    walk at = {.module = rules->module,
               .function = function,
               .seen = malloc(function->flow->count + (size_t)1),
               .work = malloc((function->flow->count + (size_t)1) * sizeof(uint32_t))};
    if (at.seen && at.work) {
        for (uint32_t i = entry->instruction; i < entry->instruction_end; i++)
            check_instruction(rules, &at, i);
    } else {
        status = gd_error_memory(rules->error);
    }
    free(at.seen);
    free(at.work);
    return status;
}

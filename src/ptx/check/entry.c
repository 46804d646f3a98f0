/* Building an entry's report. A context is a function with the state in which it is entered and
 * with what its arguments point to; each is looked at once. That is repeated as long as it shows
 * more barriers that order: one does when threads that have company come to it, and a thread that
 * has waited arrives at the same barrier. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/text/array.h"
#include "ptx/check/entry.h"
#include "ptx/check/walk.h"

/* Where an address or an argument comes from, in terms of the entry. Compared as bytes. */
typedef struct value {
    const gd_parameter_set *parameters, *scaled; /* interned: equal sets are one */
    uint64_t flags;                              /* GD_ORIGIN_* */
} value;

typedef struct context {
    struct context *next; /* that is still to be looked at */
    uint64_t function;
    uint64_t state;
    uint64_t value_count;
    value values[]; /* of the function's parameters; none for the entry itself */
} context;

typedef struct site {
    gd_sync sync;
    uint32_t instruction;
    uint32_t state;
} site;

/* A barrier that a thread which may have waited arrives at. */
typedef struct arrival {
    uint64_t kind;
    uint64_t id;
} arrival;

typedef struct builder {
    gd_entry_report *report;
    gd_walk walk;
    gd_table sets;
    gd_arena arena; /* of one round */
    gd_table contexts;
    context *first;
    uint32_t context_count;
    site *sites;
    uint32_t site_count, site_capacity;
    griddep_error *error;
} builder;

/* ---- values ---- */

static const gd_parameter_set *intern(builder *build, const gd_parameter_set *set)
{
    gd_parameter_set *found = gd_table_find(&build->sets, (const char *)set, sizeof *set);

    if (found)
        return found;
    found = gd_arena_take(&build->report->arena, sizeof *found);
    if (!found)
        return NULL;
    *found = *set;
    return gd_table_set(&build->sets, (const char *)found, sizeof *found, found) ? found : NULL;
}

static void add_parameter(gd_parameter_set *set, uint64_t *flags, uint32_t parameter)
{
    if (parameter < GD_CHECK_LIMIT_PARAMETERS)
        set->words[parameter / 64] |= (uint64_t)1 << (parameter % 64);
    else
        *flags |= GD_ORIGIN_UNKNOWN;
}

static void add_set(gd_parameter_set *set, const gd_parameter_set *more)
{
    for (size_t i = 0; i < sizeof set->words / sizeof set->words[0]; i++)
        set->words[i] |= more->words[i];
}

/* What the arguments of the context tell of a set of the function's parameters. A number that is
 * scaled is an index. */
static void add_origins(builder *build, const context *at, const gd_origins *origins, uint32_t from,
                        bool scaled, gd_parameter_set sets[2], uint64_t *flags)
{
    for (uint32_t i = 0; i < gd_origins_set_count(origins, from); i++) {
        const uint32_t parameter = gd_origins_set_at(origins, from, i);
        if (at->function == build->report->function) {
            add_parameter(&sets[scaled], flags, parameter);
        } else if (parameter < at->value_count) {
            const value *argument = &at->values[parameter];
            add_set(&sets[scaled], argument->parameters);
            add_set(&sets[1], argument->scaled);
            *flags |= argument->flags & ~(scaled ? (uint64_t)GD_ORIGIN_NUMBER : 0);
        } else {
            *flags |= GD_ORIGIN_UNKNOWN;
        }
    }
}

/* An operand's origin, with the arguments of the context in the parameters' places. */
static bool resolve(builder *build, const context *at, const gd_check_function *function,
                    gd_origin origin, value *result)
{
    gd_parameter_set sets[2] = {{{0}}, {{0}}};
    uint64_t flags = origin.flags;

    add_origins(build, at, function->origins, origin.parameters, false, sets, &flags);
    add_origins(build, at, function->origins, origin.scaled, true, sets, &flags);
    *result = (value){
        .parameters = intern(build, &sets[0]), .scaled = intern(build, &sets[1]), .flags = flags};
    return result->parameters && result->scaled;
}

/* ---- contexts ---- */

static size_t context_bytes(uint32_t values)
{
    return sizeof(context) + values * sizeof(value);
}

/* Puts a context on the list unless it has been there. Its key begins behind `next`. */
static bool push(builder *build, context *made)
{
    size_t skip = offsetof(context, function);
    size_t bytes = context_bytes((uint32_t)made->value_count) - skip;
    const char *key = (const char *)made + skip;

    if (gd_table_find(&build->contexts, key, bytes))
        return true;
    made->next = build->first;
    build->first = made;
    build->context_count++;
    return gd_table_set(&build->contexts, key, bytes, made);
}

static void note_limit(builder *build, const char *limit, uint32_t instruction)
{
    if (build->walk.limit)
        return;
    build->walk.limit = limit;
    build->walk.limit_instruction = instruction;
}

static bool fill_arguments(builder *build, const context *at, const gd_check_function *function,
                           uint32_t call, context *made)
{
    const gd_ptx_module *module = build->report->module;
    const gd_ptx_instruction *item = &module->instructions[call];
    uint32_t list = module->operands[gd_ptx_call_operand(module, item)].end, n = 0;
    gd_parameter_set none = {{0}};
    const gd_parameter_set *empty = intern(build, &none);

    if (!empty)
        return false;
    if (list < item->operand_end && module->operands[list].kind == GD_OPERAND_LIST) {
        for (uint32_t i = list + 1; i < module->operands[list].end && n < made->value_count;
             i = module->operands[i].end, n++) {
            if (!resolve(build, at, function, gd_origins_of(function->origins, i),
                         &made->values[n]))
                return false;
        }
    }
    for (; n < made->value_count; n++)
        made->values[n] = (value){.parameters = empty, .scaled = empty, .flags = GD_ORIGIN_UNKNOWN};
    return true;
}

static bool add_access(builder *build, const gd_entry_access *access)
{
    gd_entry_report *report = build->report;
    void *list = report->accesses;

    if (report->access_count == report->access_capacity) {
        bool grown = gd_array_grow(&list, &report->access_capacity, sizeof *report->accesses);
        report->accesses = list;
        if (!grown)
            return false;
    }
    report->accesses[report->access_count++] = *access;
    return true;
}

/* What an instruction does that nobody looked into. */
static bool add_anything(builder *build, uint32_t instruction, uint32_t state)
{
    gd_parameter_set none = {{0}};
    gd_entry_access access = {.instruction = instruction,
                              .flags = GD_ACCESS_ANYTHING,
                              .origins = GD_ORIGIN_UNKNOWN,
                              .state = state,
                              .cause = GD_PTX_NONE,
                              .parameters = intern(build, &none)};

    access.scaled = access.parameters;
    return access.parameters && add_access(build, &access);
}

/* Whether a tensor map may lie in memory. It is the launch's own where the address is that of a
 * parameter, which is larger than an address. */
static bool is_map_in_memory(const builder *build, const value *from)
{
    const gd_ptx_module *module = build->report->module;
    const gd_ptx_function *entry = &module->functions[build->report->function];
    bool found = from->flags & (GD_ORIGIN_UNKNOWN | GD_ORIGIN_GLOBAL);

    for (uint32_t i = 0; i < entry->parameter_end - entry->parameter && !found; i++)
        found = gd_parameter_set_has(from->parameters, i) &&
                module->symbols[entry->parameter + i].bytes <= sizeof(uint64_t);
    return found;
}

/* Whether what an instruction touches has other addresses than the one that it names: memory of a
 * multicast object, and of a texture or surface that is a variable of the module. */
static bool is_alias(const gd_ptx_module *module, uint32_t instruction, uint64_t flags)
{
    switch (module->instructions[instruction].op) {
    case GD_OP_MULTIMEM_LD_REDUCE:
    case GD_OP_MULTIMEM_RED:
    case GD_OP_MULTIMEM_ST:
        return true;
    case GD_OP_TEX:
    case GD_OP_TLD4:
    case GD_OP_SULD:
    case GD_OP_SUST:
    case GD_OP_SURED:
        return flags & GD_ORIGIN_GLOBAL;
    default:
        return false;
    }
}

/* An access. By a tensor map in memory it reads the map, and goes nobody knows where. */
static bool note_access(builder *build, uint32_t instruction, gd_access access, uint32_t cause,
                        const value *from, uint32_t state)
{
    const bool unknown = from->flags & (GD_ORIGIN_UNKNOWN | GD_ORIGIN_NUMBER) ||
                         is_alias(build->report->module, instruction, from->flags);
    gd_entry_access noted = {.instruction = instruction,
                             .flags = access.flags,
                             .origins = (uint32_t)from->flags |
                                        (unknown ? (uint32_t)GD_ORIGIN_UNKNOWN : 0),
                             .state = state,
                             .cause = unknown ? cause : GD_PTX_NONE,
                             .parameters = from->parameters,
                             .scaled = from->scaled};

    if (!(access.flags & GD_ACCESS_MAPPED) || !is_map_in_memory(build, from))
        return add_access(build, &noted);
    noted.flags = GD_ACCESS_READ | GD_ACCESS_MAPPED;
    if (!add_access(build, &noted))
        return false;
    noted.flags = access.flags;
    noted.origins |= GD_ORIGIN_UNKNOWN;
    noted.cause = GD_PTX_NONE;
    noted.parameters = noted.scaled = intern(build, &(gd_parameter_set){{0}});
    return noted.parameters && add_access(build, &noted);
}

static bool add_place(gd_entry_places *places, uint32_t instruction, uint32_t state)
{
    void *list = places->list;

    if (places->count == places->capacity) {
        bool grown = gd_array_grow(&list, &places->capacity, sizeof *places->list);
        places->list = list;
        if (!grown)
            return false;
    }
    places->list[places->count++] = (gd_entry_place){.instruction = instruction, .state = state};
    return true;
}

/* Code that cannot be looked into: it may do anything, and leave. */
static bool enter_unknown(builder *build, uint32_t call, uint32_t state)
{
    const gd_ptx_module *module = build->report->module;

    if (gd_ptx_is_system_call(module, &module->instructions[call]))
        return true;
    return add_place(&build->report->exits, call, state) && add_anything(build, call, state);
}

static bool enter_function(builder *build, const context *at, const gd_check_function *function,
                           uint32_t call, uint32_t callee, uint32_t state)
{
    const gd_ptx_module *module = build->report->module;

    if (build->context_count >= GD_CHECK_LIMIT_CONTEXTS) {
        note_limit(build, "GD_CHECK_LIMIT_CONTEXTS", call);
        return add_anything(build, call, state);
    }
    uint32_t parameters =
        module->functions[callee].parameter_end - module->functions[callee].parameter;
    context *made = gd_arena_take(&build->arena, context_bytes(parameters));
    if (!made)
        return false;
    made->function = callee;
    made->state = state;
    made->value_count = parameters;
    return fill_arguments(build, at, function, call, made) && push(build, made);
}

static bool enter_call(builder *build, const context *at, const gd_check_function *function,
                       uint32_t call, uint32_t state)
{
    gd_call_targets targets =
        gd_ptx_call_targets(build->report->module, &build->report->module->instructions[call]);
    bool entered = true;
    uint32_t callee;

    while (entered && gd_call_targets_next(&targets, &callee))
        entered = callee == GD_PTX_NONE ? enter_unknown(build, call, state)
                                        : enter_function(build, at, function, call, callee, state);
    return entered;
}

/* ---- one context ---- */

static bool add_site(builder *build, gd_sync sync, uint32_t instruction, uint32_t state)
{
    void *sites = build->sites;

    if (build->site_count == build->site_capacity) {
        bool grown = gd_array_grow(&sites, &build->site_capacity, sizeof *build->sites);
        build->sites = sites;
        if (!grown)
            return false;
    }
    build->sites[build->site_count++] =
        (site){.sync = sync, .instruction = instruction, .state = state};
    return true;
}

/* Notes what an instruction does in this state. */
static bool note_instruction(builder *build, const context *at, const gd_check_function *function,
                             uint32_t instruction, uint32_t state)
{
    gd_entry_report *report = build->report;
    const gd_ptx_instruction *item = &report->module->instructions[instruction];
    gd_access access = gd_access_of(report->module, item);
    gd_sync sync = gd_sync_of(report->module, item);
    value from;

    if (item->op == GD_OP_CALL)
        return enter_call(build, at, function, instruction, state);
    if (item->op == GD_OP_GRIDDEPCONTROL_LAUNCH_DEPENDENTS)
        return add_place(&report->triggers, instruction, state);
    if (item->op == GD_OP_GRIDDEPCONTROL_WAIT)
        return add_place(&report->waits, instruction, state);
    if (sync.kind != GD_SYNC_NONE && !add_site(build, sync, instruction, state))
        return false;
    if (access.flags & GD_ACCESS_ANYTHING)
        return add_anything(build, instruction, state);
    if (!access.flags)
        return true;
    const gd_origin origin = gd_origins_of(function->origins, access.operand);
    return resolve(build, at, function, origin, &from) &&
           note_access(build, instruction, access, origin.cause, &from, state);
}

static bool note_exit(builder *build, const context *at, const gd_check_function *function,
                      uint32_t block, uint32_t state)
{
    const gd_flow *flow = function->flow;
    const gd_flow_block *item = &flow->blocks[block];
    gd_entry_report *report = build->report;
    bool returns = at->function != report->function &&
                   !(report->module->functions[at->function].flags & GD_FUNCTION_NORETURN);

    for (uint32_t i = item->successor; i < item->successor_end; i++) {
        if (flow->edges[i] != flow->count)
            continue;
        uint32_t last = item->instruction_end - 1;
        if (returns && gd_ops[report->module->instructions[last].op].control != GD_CONTROL_EXIT)
            continue;
        if (!add_place(&report->exits, last, gd_walk_edge(function, block, flow->count, state)))
            return false;
    }
    return true;
}

static int32_t look_at(builder *build, const context *at)
{
    uint16_t *states = NULL;
    int32_t status =
        gd_walk_function(&build->walk, (uint32_t)at->function, (uint32_t)at->state, &states);
    const gd_check_function *function = &build->walk.functions->list[at->function];
    bool noted = true;

    if (status)
        return status;
    if (!states) {
        uint32_t first = build->report->module->functions[at->function].instruction;
        return add_anything(build, first, (uint32_t)at->state) ? GRIDDEP_OK
                                                               : gd_error_memory(build->error);
    }
    for (uint32_t b = 0; b < function->flow->count && noted && !status; b++) {
        const gd_flow_block *block = &function->flow->blocks[b];
        uint32_t state = states[b];
        for (uint32_t i = block->instruction;
             i < block->instruction_end && state && noted && !status; i++) {
            noted = note_instruction(build, at, function, i, state);
            status = gd_walk_instruction(&build->walk, function, i, &state, 0);
        }
        noted = noted && (!state || note_exit(build, at, function, b, state));
    }
    free(states);
    return noted ? status : gd_error_memory(build->error);
}

/* ---- barriers that order ---- */

static bool find_arrivals(const builder *build, gd_table *arrivals, gd_arena *arena)
{
    for (uint32_t i = 0; i < build->site_count; i++) {
        const site *at = &build->sites[i];
        if (!at->sync.arrives || !(at->state & GD_STATE_SAFE))
            continue;
        /* One under its own number and one under "any": what a wait of unknown number looks for. */
        arrival *keys = gd_arena_array(arena, 2, sizeof *keys);
        if (!keys)
            return false;
        keys[0] = (arrival){.kind = at->sync.kind, .id = at->sync.id};
        keys[1] = (arrival){.kind = (uint64_t)at->sync.kind | 256, .id = 0};
        if (!gd_table_set(arrivals, (const char *)&keys[0], sizeof keys[0], keys) ||
            !gd_table_set(arrivals, (const char *)&keys[1], sizeof keys[1], keys))
            return false;
    }
    return true;
}

static bool arrives_at(const gd_table *arrivals, gd_sync sync)
{
    const arrival own = {.kind = sync.kind, .id = sync.id},
                  unknown = {.kind = sync.kind, .id = GD_SYNC_ANY},
                  some = {.kind = (uint64_t)sync.kind | 256, .id = 0};

    if (sync.kind == GD_SYNC_FLAG)
        return true;
    if (sync.id == GD_SYNC_ANY)
        return gd_table_find(arrivals, (const char *)&some, sizeof some);
    return gd_table_find(arrivals, (const char *)&own, sizeof own) ||
           gd_table_find(arrivals, (const char *)&unknown, sizeof unknown);
}

static int32_t find_orders(builder *build, bool *more)
{
    gd_table arrivals = {0};
    gd_arena arena = {0};
    bool done = find_arrivals(build, &arrivals, &arena);

    *more = false;
    for (uint32_t i = 0; i < build->site_count && done; i++) {
        const site *at = &build->sites[i];
        if (!at->sync.waits || !(at->state & GD_STATE_ACCOMPANIED) ||
            build->walk.functions->orders[at->instruction] || !arrives_at(&arrivals, at->sync))
            continue;
        build->walk.functions->orders[at->instruction] = (uint8_t)at->sync.kind;
        *more = true;
    }
    gd_table_free(&arrivals);
    gd_arena_free(&arena);
    return done ? GRIDDEP_OK : gd_error_memory(build->error);
}

/* ---- rounds ---- */

static void start_round(builder *build)
{
    build->walk.functions->generation++;
    gd_table_free(&build->contexts);
    gd_arena_free(&build->arena);
    build->context_count = 0;
    build->site_count = 0;
    build->report->access_count = 0;
    build->report->exits.count = 0;
    build->report->waits.count = 0;
    build->report->triggers.count = 0;
}

static int32_t run_round(builder *build)
{
    context *entry = gd_arena_take(&build->arena, sizeof *entry);
    int32_t status = GRIDDEP_OK;

    if (entry) {
        entry->function = build->report->function;
        entry->state = GD_STATE_DRY;
    }
    if (!entry || !push(build, entry))
        return gd_error_memory(build->error);
    while (build->first && !status) {
        const context *at = build->first;
        build->first = at->next;
        status = look_at(build, at);
    }
    return status;
}

static int32_t run_rounds(builder *build)
{
    bool more = true;

    for (uint32_t round = 0; more; round++) {
        start_round(build);
        int32_t status = run_round(build);
        if (!status)
            status = find_orders(build, &more);
        if (status)
            return status;
        if (more && round == GD_CHECK_LIMIT_ROUNDS) {
            note_limit(build, "GD_CHECK_LIMIT_ROUNDS",
                       build->report->module->functions[build->report->function].instruction);
            return GRIDDEP_OK;
        }
    }
    return GRIDDEP_OK;
}

/* ---- the report ---- */

/* Whether a release fence stands in front of a trigger with no write and no wait between, within
 * straight-line text. */
static bool is_fenced(const gd_entry_report *report, uint32_t trigger)
{
    const gd_ptx_module *module = report->module;
    uint32_t function = module->scopes[module->instructions[trigger].scope].function;

    for (uint32_t i = trigger; i-- > module->functions[function].instruction;) {
        const gd_ptx_instruction *item = &module->instructions[i];
        if (gd_sync_is_release_fence(module, item))
            return !(item->flags & GD_INSTRUCTION_GUARDED);
        if (gd_ops[item->op].control != GD_CONTROL_NONE || item->op == GD_OP_GRIDDEPCONTROL_WAIT ||
            gd_access_of(module, item).flags & ~(uint32_t)GD_ACCESS_READ)
            return false;
    }
    return false;
}

static void finish_report(builder *build)
{
    gd_entry_report *report = build->report;
    uint32_t traits = report->module->functions[report->function].traits;

    report->has_wait = traits & GRIDDEP_TRAIT_WAITS;
    report->has_trigger = traits & GRIDDEP_TRAIT_TRIGGERS;
    report->fenced = report->triggers.count > 0;
    for (uint32_t i = 0; i < report->triggers.count && report->fenced; i++)
        report->fenced = is_fenced(report, report->triggers.list[i].instruction);
    report->limit = build->walk.limit;
    report->limit_instruction = build->walk.limit_instruction;
    for (uint32_t i = 0; i < build->site_count; i++)
        build->walk.functions->orders[build->sites[i].instruction] = 0;
}

int32_t gd_entry_report_create(gd_entry_report *report, gd_check_functions *functions,
                               uint32_t function, griddep_error *error)
{
    gd_entry_report made = {.module = functions->module, .function = function};
    builder build = {
        .report = &made, .walk = {.functions = functions, .error = error}, .error = error};
    int32_t status = run_rounds(&build);

    finish_report(&build);
    free(build.sites);
    gd_table_free(&build.sets);
    gd_table_free(&build.contexts);
    gd_arena_free(&build.arena);
    if (status)
        gd_entry_report_free(&made);
    else
        *report = made;
    return status;
}

void gd_entry_report_free(gd_entry_report *report)
{
    free(report->accesses);
    free(report->exits.list);
    free(report->waits.list);
    free(report->triggers.list);
    gd_arena_free(&report->arena);
    *report = (gd_entry_report){0};
}

uint32_t gd_entry_places_state(const gd_entry_places *places)
{
    uint32_t state = 0;

    for (uint32_t i = 0; i < places->count; i++)
        state |= places->list[i].state;
    return state;
}

/* Checking a chain: reads the launches, makes each module's and each entry's facts once, lays out
 * what may run beside what, and has the hazards and the hops looked at. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/chain.h"
#include "ptx/check/check.h"
#include "ptx/check/validity.h"
#include "ptx/check/verdict.h"
#include "ptx/flow/early.h"
#include "ptx/text/open.h"

struct gd_check_facts {
    gd_arena arena;
    gd_table modules; /* by address of the handle */
    gd_table kernels; /* by address of the function */
    gd_order_module *first_module;
    gd_order_kernel *first_kernel;
};

typedef struct builder {
    gd_checked_chain chain;
    gd_arena arena;
    gd_check_facts *facts;
    griddep_error *error;
} builder;

gd_finding_draft gd_order_draft(const gd_checked_chain *chain, uint32_t index, gd_code code,
                                int32_t severity, uint32_t at, const char *hint)
{
    const gd_checked_launch *launch = &chain->launches[index];
    gd_finding_draft draft = {.code = code,
                              .severity = severity,
                              .launch = (int32_t)index,
                              .token = GD_PTX_NONE,
                              .entry = launch->given.entry,
                              .hint = hint};

    if (!launch->kernel)
        return draft;
    draft.module = launch->kernel->module->functions.module;
    if (at != GD_PTX_NONE)
        draft.token = draft.module->instructions[at].opcode;
    return draft;
}

/* ---- kernels ---- */

static int32_t get_module(builder *build, const griddep_ptx *ptx, gd_order_module **module)
{
    gd_check_facts *facts = build->facts;
    gd_order_module *made = gd_table_find(&facts->modules, (const char *)&ptx, sizeof ptx);

    if (made) {
        *module = made;
        return GRIDDEP_OK;
    }
    const griddep_ptx **key = gd_arena_take(&facts->arena, sizeof *key);
    made = gd_arena_take(&facts->arena, sizeof *made);
    if (!key || !made)
        return gd_error_memory(build->error);
    *key = ptx;
    int32_t status = gd_check_functions_create(&made->functions, &ptx->module, build->error);
    if (status)
        return status;
    made->next = facts->first_module;
    facts->first_module = made;
    made->rules = (gd_rules){.functions = &made->functions,
                             .module = &ptx->module,
                             .findings = build->chain.findings,
                             .variables_written = -1,
                             .variables_exposed = -1,
                             .error = build->error};
    if (!gd_table_set(&facts->modules, (const char *)key, sizeof ptx, made))
        return gd_error_memory(build->error);
    *module = made;
    return gd_check_comment(build->chain.findings, ptx, build->error);
}

static void keep_first(uint32_t *place, uint32_t instruction)
{
    if (*place == GD_PTX_NONE || instruction < *place)
        *place = instruction;
}

static void note_use(gd_parameter_use *use, const gd_entry_access *access)
{
    bool dry = access->state & GD_STATE_UNSAFE;
    bool hoped = dry && !(access->state & GD_STATE_ALL_DRY);

    use->plain |= !(access->flags & GD_ACCESS_ATOMIC);
    if (access->flags & GD_ACCESS_READ) {
        keep_first(&use->read, access->instruction);
        if (dry) {
            use->hoped_read = hoped && (use->dry_read == GD_PTX_NONE || use->hoped_read);
            keep_first(&use->dry_read, access->instruction);
        }
    }
    if (access->flags & GD_ACCESS_WRITE) {
        keep_first(&use->write, access->instruction);
        if (access->state & GD_STATE_TRIGGERED)
            keep_first(&use->late_write, access->instruction);
        if (dry) {
            use->hoped_write = hoped && (use->dry_write == GD_PTX_NONE || use->hoped_write);
            keep_first(&use->dry_write, access->instruction);
        }
    }
    if (access->flags & GD_ACCESS_NONCOHERENT && !dry)
        keep_first(&use->noncoherent, access->instruction);
}

static void keep_all(gd_parameter_use *into, const gd_parameter_use *more)
{
    const bool read = more->dry_read < into->dry_read, write = more->dry_write < into->dry_write;

    into->hoped_read = read ? more->hoped_read : into->hoped_read;
    into->hoped_write = write ? more->hoped_write : into->hoped_write;
    keep_first(&into->read, more->read);
    keep_first(&into->write, more->write);
    keep_first(&into->dry_read, more->dry_read);
    keep_first(&into->dry_write, more->dry_write);
    keep_first(&into->late_write, more->late_write);
    keep_first(&into->noncoherent, more->noncoherent);
    into->plain |= more->plain;
}

static const gd_parameter_use no_use = {.read = GD_PTX_NONE,
                                        .write = GD_PTX_NONE,
                                        .dry_read = GD_PTX_NONE,
                                        .dry_write = GD_PTX_NONE,
                                        .late_write = GD_PTX_NONE,
                                        .noncoherent = GD_PTX_NONE};

/* By a handle of a texture or surface, and not by an address. */
static bool is_by_handle(const gd_order_kernel *kernel, const gd_entry_access *access)
{
    switch (kernel->module->functions.module->instructions[access->instruction].op) {
    case GD_OP_TEX:
    case GD_OP_TLD4:
    case GD_OP_SULD:
    case GD_OP_SUST:
    case GD_OP_SURED:
        return true;
    default:
        return false;
    }
}

/* Every access that can be traced belongs to the group of its parameters. */
static gd_address_group *get_group(builder *build, gd_order_kernel *kernel,
                                   const gd_entry_access *access)
{
    const gd_address_group wanted = {
        .parameters = access->parameters,
        .handle = is_by_handle(kernel, access),
        .based = access->origins & (GD_ORIGIN_GLOBAL | GD_ORIGIN_SHARED | GD_ORIGIN_LOCAL),
        .wide = access->origins & GD_ORIGIN_WIDE,
        .loose = access->origins & GD_ORIGIN_WIDE && access->origins & GD_ORIGIN_DISTANCE};
    gd_address_group *at = kernel->groups;

    while (at &&
           (at->parameters != wanted.parameters || at->handle != wanted.handle ||
            at->based != wanted.based || at->wide != wanted.wide || at->loose != wanted.loose))
        at = at->next;
    if (!at && (at = gd_arena_take(&build->facts->arena, sizeof *at))) {
        *at = wanted;
        at->use = no_use;
        at->next = kernel->groups;
        kernel->groups = at;
    }
    return at;
}

/* A struct's fields are numbers where they are scaled. */
static bool is_scaled_address(const gd_order_kernel *kernel, const gd_entry_access *access,
                              uint32_t parameter)
{
    const gd_ptx_module *module = kernel->module->functions.module;

    return gd_parameter_set_has(access->scaled, parameter) &&
           module->symbols[kernel->function->parameter + parameter].bytes <= sizeof(uint64_t);
}

static void note_unknown(gd_order_kernel *kernel, const gd_entry_access *access)
{
    gd_entry_access either = *access;

    if (either.flags & GD_ACCESS_ANYTHING)
        either.flags |= GD_ACCESS_READ | GD_ACCESS_WRITE;
    if (either.flags & GD_ACCESS_WRITE ? kernel->anywhere.write == GD_PTX_NONE
                                       : kernel->anywhere.write == kernel->anywhere.read)
        kernel->cause = access->cause;
    note_use(&kernel->anywhere, &either);
    if (access->state & GD_STATE_UNSAFE && kernel->dry_unknown == GD_PTX_NONE) {
        kernel->dry_unknown = access->instruction;
        kernel->dry_unknown_words =
            gd_access_describe(&kernel->report, access, GD_ACCESS_CLASS_UNKNOWN);
    }
}

static int32_t note_access(builder *build, gd_order_kernel *kernel, const gd_entry_access *access)
{
    gd_access_class class;
    int32_t status = gd_access_classify(&kernel->module->rules, access, &class);

    if (status)
        return status;
    if (access->origins & GD_ORIGIN_GLOBAL)
        note_use(class == GD_ACCESS_CLASS_VARIABLE || class == GD_ACCESS_CLASS_UNKNOWN
                     ? &kernel->variables
                     : &kernel->tables,
                 access);
    if (class == GD_ACCESS_CLASS_HARMLESS)
        return GRIDDEP_OK;
    if (class == GD_ACCESS_CLASS_UNKNOWN)
        note_unknown(kernel, access);
    gd_address_group *group = get_group(build, kernel, access);
    if (!group)
        return gd_error_memory(build->error);
    note_use(&group->use, access);
    for (uint32_t i = 0; i < kernel->use_count; i++) {
        if (gd_parameter_set_has(access->parameters, i) || is_scaled_address(kernel, access, i))
            note_use(&kernel->uses[i], access);
    }
    return GRIDDEP_OK;
}

/* A report's accesses, summed up by parameter. */
static int32_t sum_up(builder *build, gd_order_kernel *kernel)
{
    uint32_t parameters = kernel->function->parameter_end - kernel->function->parameter;
    int32_t status = GRIDDEP_OK;

    kernel->use_count =
        parameters < GD_CHECK_LIMIT_PARAMETERS ? parameters : GD_CHECK_LIMIT_PARAMETERS;
    kernel->uses = gd_arena_array(&build->facts->arena, kernel->use_count, sizeof *kernel->uses);
    if (!kernel->uses)
        return gd_error_memory(build->error);
    for (uint32_t i = 0; i < kernel->use_count; i++)
        kernel->uses[i] = no_use;
    kernel->anywhere = kernel->variables = kernel->tables = no_use;
    kernel->cause = kernel->dry_unknown = GD_PTX_NONE;
    for (uint32_t i = 0; i < kernel->report.access_count && !status; i++)
        status = note_access(build, kernel, &kernel->report.accesses[i]);
    if (!status)
        status = gd_rules_expose_variables(&kernel->module->rules, &kernel->exposes);
    kernel->covers = kernel->function->traits & GRIDDEP_TRAIT_WAITS_ALWAYS ||
                     (kernel->report.has_wait &&
                      !(gd_entry_places_state(&kernel->report.exits) & GD_STATE_ALONE));
    kernel->covers_trigger = kernel->covers && kernel->report.fenced &&
                             !(gd_entry_places_state(&kernel->report.triggers) & GD_STATE_UNSAFE);
    const gd_dry_search *search = gd_check_dry_search(&kernel->module->functions);
    if (!search || !gd_dry_search_describe(search, kernel->report.function, &kernel->dry_path))
        return gd_error_memory(build->error);
    return status;
}

/* The findings about an entry that do not depend on its arguments, at the first launch that uses
 * it. */
static int32_t check_entry(gd_order_kernel *kernel, uint32_t launch)
{
    gd_rules *rules = &kernel->module->rules;

    rules->launch = (int32_t)launch;
    gd_rules_check_target(rules);
    gd_rules_check_limit(rules, &kernel->report);
    int32_t status = gd_rules_check_hops(rules, kernel->report.function);
    return status ? status : gd_rules_check_triggers(rules, &kernel->report);
}

static int32_t get_kernel(builder *build, uint32_t launch, const griddep_ptx *ptx,
                          const gd_ptx_function *function, const gd_order_kernel **kernel)
{
    gd_check_facts *facts = build->facts;
    gd_order_kernel *made =
        gd_table_find(&facts->kernels, (const char *)&function, sizeof function);

    if (made) {
        *kernel = made;
        return GRIDDEP_OK;
    }
    made = gd_arena_take(&facts->arena, sizeof *made);
    if (!made)
        return gd_error_memory(build->error);
    made->function = function;
    int32_t status = get_module(build, ptx, &made->module);
    if (!status)
        status = gd_entry_report_create(&made->report, &made->module->functions,
                                        (uint32_t)(function - ptx->module.functions), build->error);
    if (status)
        return status;
    made->next = facts->first_kernel;
    facts->first_kernel = made;
    status = sum_up(build, made);
    if (!status &&
        !gd_table_set(&facts->kernels, (const char *)&made->function, sizeof made->function, made))
        status = gd_error_memory(build->error);
    *kernel = made;
    return status ? status : check_entry(made, launch);
}

/* ---- launches ---- */

typedef enum argument_kind {
    ARGUMENT_NULL,   /* nothing is there */
    ARGUMENT_NUMBER, /* points nowhere that is known: a count, or an address in disguise */
    ARGUMENT_LEADS,  /* a struct, with addresses in it perhaps */
    ARGUMENT_BUFFER
} argument_kind;

static argument_kind kind_of(const gd_checked_launch *launch, uint32_t argument)
{
    const gd_ptx_module *module = launch->kernel->module->functions.module;
    const gd_ptx_symbol *symbol = &module->symbols[launch->kernel->function->parameter + argument];

    if (argument < launch->given.use_count && launch->given.uses[argument].buffer)
        return ARGUMENT_BUFFER;
    if (argument < launch->given.use_count && launch->given.uses[argument].reserved == GD_USE_NULL)
        return ARGUMENT_NULL;
    return symbol->bytes > sizeof(uint64_t) ? ARGUMENT_LEADS : ARGUMENT_NUMBER;
}

/* The parameter by which a group of accesses goes anywhere, given a launch's arguments; use_count:
 * none does. A number is an index beside what points somewhere, and is not a distance alone. */
static uint32_t leads_anywhere(const gd_checked_launch *launch, const gd_address_group *group)
{
    const uint32_t count = launch->kernel->use_count;
    uint32_t number = count, first = count;
    bool based = group->based && !launch->given.any_arguments;

    for (uint32_t i = 0; i < count; i++) {
        if (!gd_parameter_set_has(group->parameters, i))
            continue;
        const argument_kind kind = kind_of(launch, i);
        if (kind == ARGUMENT_LEADS || (group->handle && kind != ARGUMENT_NULL))
            return i;
        based |= kind == ARGUMENT_BUFFER && !launch->given.any_arguments;
        number = kind == ARGUMENT_NUMBER && number == count ? i : number;
        first = first == count ? i : first;
    }
    if (based)
        return group->loose && number == count ? first : count;
    if (launch->given.any_arguments)
        return first;
    return number < count || !group->wide ? number : first;
}

/* What is meant by a launch's stated reach: the accesses that may go anywhere, or, where none is
 * seen to do so, all. */
static void find_stated(gd_checked_launch *launch)
{
    const bool some = launch->anywhere.read != GD_PTX_NONE || launch->anywhere.write != GD_PTX_NONE;

    launch->stated = launch->anywhere;
    launch->anywhere = no_use;
    launch->leads = GD_PTX_NONE;
    for (const gd_address_group *at = launch->kernel->groups; at && !some; at = at->next)
        keep_all(&launch->stated, &at->use);
    if (!some)
        launch->stated.write = GD_PTX_NONE; /* it contradicts no statement */
}

/* What a launch reaches beyond the buffers of its arguments. */
static void find_anywhere(gd_checked_launch *launch)
{
    const gd_order_kernel *kernel = launch->kernel;

    launch->anywhere = launch->variables = launch->stated = no_use;
    launch->leads = GD_PTX_NONE;
    if (!kernel)
        return;
    launch->variables = kernel->variables;
    if (launch->given.variables_exposed)
        keep_all(&launch->variables, &kernel->tables);
    launch->anywhere = kernel->anywhere;
    for (const gd_address_group *at = kernel->groups; at; at = at->next) {
        const uint32_t parameter = leads_anywhere(launch, at);
        if (parameter == kernel->use_count)
            continue;
        keep_all(&launch->anywhere, &at->use);
        launch->leads = parameter;
    }
    if (launch->given.variables_exposed)
        keep_all(&launch->anywhere, &launch->variables);
    if (launch->given.reach_stated)
        find_stated(launch);
}

static int32_t read_launch(builder *build, uint32_t index, const gd_check_launch *given)
{
    gd_checked_launch *launch = &build->chain.launches[index];
    uint32_t entry;

    launch->given = *given;
    launch->kernel_name = given->entry ? given->entry : "the kernel";
    launch->name = given->name ? given->name : launch->kernel_name;
    find_anywhere(launch);
    if (!given->ptx)
        return GRIDDEP_OK;
    if (!gd_ptx_find_entry(given->ptx, given->entry, &entry))
        return gd_error_set(build->error, GRIDDEP_ERROR_NOT_FOUND,
                            "launch %" PRIu32 ": %s has no entry \"%s\"", index,
                            given->ptx->module.name, given->entry);
    int32_t status = get_kernel(build, index, given->ptx, gd_ptx_get_function(given->ptx, entry),
                                &launch->kernel);
    if (!status)
        find_anywhere(launch);
    return status;
}

/* ---- what runs beside what ---- */

static bool sets_attribute(const gd_checked_launch *launch)
{
    bool first = launch->previous == GD_PTX_NONE && !launch->given.after_count;

    if (launch->given.node != GRIDDEP_GRAPH_NODE_KERNEL)
        return false;
    if (launch->given.pdl == GRIDDEP_PDL_FORCE)
        return true;
    return !first && launch->given.pdl != GRIDDEP_PDL_OFF &&
           gd_early_kernel(gd_order_traits(launch)) == GRIDDEP_REASON_SET;
}

uint32_t gd_order_traits(const gd_checked_launch *launch)
{
    return launch->kernel ? launch->kernel->function->traits : launch->given.traits;
}

bool gd_order_covers(const gd_checked_launch *launch)
{
    return launch->kernel ? launch->kernel->covers
                          : launch->given.traits & GRIDDEP_TRAIT_WAITS_ALWAYS;
}

/* Where code is not known, nor is a fence in front of its triggers. */
bool gd_order_covers_trigger(const gd_checked_launch *launch)
{
    return launch->kernel && launch->kernel->covers_trigger;
}

static void lay_out(gd_checked_chain *chain, uint32_t index)
{
    gd_checked_launch *launch = &chain->launches[index];
    const gd_checked_launch *last =
        launch->previous == GD_PTX_NONE ? NULL : &chain->launches[launch->previous];

    launch->attribute = sets_attribute(launch);
    launch->overlaps = launch->attribute && last && last->given.node == GRIDDEP_GRAPH_NODE_KERNEL;
    launch->before = launch->after = launch->after_end = index;
    if (!launch->overlaps)
        return;
    launch->before = launch->previous;
    if (!last->overlaps)
        return;
    launch->after = gd_order_covers(last) ? last->after : last->before;
    launch->after_end = gd_order_covers(last) ? last->after_end : launch->previous;
    if (!gd_order_covers_trigger(last))
        launch->before = last->before;
    else if (last->after < last->after_end)
        launch->before = last->after;
}

/* ---- elements ---- */

/* "b16" stands for any type of 16 bits. */
static bool is_element(const char *wanted, const char *given)
{
    const size_t name = strlen(given);
    const char *bits = given + strcspn(given, "0123456789");

    if (!strcmp(wanted, given))
        return true;
    if (*wanted != 'b' || wanted[1] == 'f')
        return false;
    return name && given[0] == 'e' ? !strcmp(wanted + 1, "8") : !strcmp(wanted + 1, bits);
}

static void check_elements(gd_checked_chain *chain, uint32_t index)
{
    const gd_checked_launch *launch = &chain->launches[index];
    const gd_check_launch *given = &launch->given;
    const gd_requires *all = given->ptx ? given->ptx->terms : NULL;
    uint32_t entry;

    if (!all || !gd_ptx_find_entry(given->ptx, given->entry, &entry))
        return;
    for (uint32_t i = 0; i < given->use_count && i < launch->kernel->use_count; i++) {
        const char *wanted = gd_requires_element(&all[entry], i), *element = given->uses[i].element;
        const gd_finding_draft draft =
            gd_order_draft(chain, index, GD_CODE_GD213, 0, GD_PTX_NONE, NULL);
        if (wanted && element && !is_element(wanted, element))
            gd_findings_add(chain->findings, &draft,
                            "argument %" PRIu32 " (%s) points to %s; the kernel expects %s", i,
                            launch->kernel->function->parameter_names[i], element, wanted);
    }
}

/* ---- buffers ---- */

static gd_buffer_use make_use(const gd_checked_launch *launch, uint32_t index, uint32_t argument)
{
    const griddep_use *given = argument & GD_REACH ? &launch->given.reaches[argument & ~GD_REACH]
                                                   : &launch->given.uses[argument];
    const gd_parameter_use *use = launch->kernel && argument < launch->kernel->use_count
                                      ? &launch->kernel->uses[argument]
                                      : NULL;
    bool declared = !use || launch->kernel->anywhere.read != GD_PTX_NONE ||
                    launch->kernel->anywhere.write != GD_PTX_NONE;
    uint64_t end = given->bytes && given->bytes <= UINT64_MAX - given->offset
                       ? given->offset + given->bytes
                       : UINT64_MAX;

    return (gd_buffer_use){.part = given->buffer,
                           .launch = index,
                           .argument = argument,
                           .reads = (use && use->read != GD_PTX_NONE) ||
                                    (declared && given->access != GRIDDEP_ACCESS_UNKNOWN &&
                                     given->access != GRIDDEP_ACCESS_WRITE),
                           .writes = (use && use->write != GD_PTX_NONE) ||
                                     (declared && (given->access == GRIDDEP_ACCESS_WRITE ||
                                                   given->access == GRIDDEP_ACCESS_UPDATE)),
                           .constant = given->access == GRIDDEP_ACCESS_CONSTANT,
                           .atomic = use && !use->plain && !declared,
                           .start = given->offset,
                           .end = end};
}

static int compare_starts(const void *left, const void *right)
{
    const gd_buffer_use *a = left, *b = right;

    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Parts of buffers from here on: an allocation may hold everything that a program has. */
static void part_buffers(gd_checked_chain *chain)
{
    uint32_t part = 0, buffer = 0;
    uint64_t end = 0;

    if (chain->use_count)
        qsort(chain->uses, chain->use_count, sizeof *chain->uses, compare_starts);
    for (uint32_t i = 0; i < chain->use_count; i++) {
        gd_buffer_use *use = &chain->uses[i];
        const bool apart = use->part != buffer || use->start >= end;
        end = apart || use->end > end ? use->end : end;
        buffer = use->part;
        use->part = part += apart;
    }
}

static int compare_uses(const void *left, const void *right)
{
    const gd_buffer_use *a = left, *b = right;

    if (a->part != b->part)
        return a->part < b->part ? -1 : 1;
    if (a->launch != b->launch)
        return a->launch < b->launch ? -1 : 1;
    return a->argument < b->argument ? -1 : a->argument > b->argument;
}

static int32_t collect_uses(builder *build)
{
    gd_checked_chain *chain = &build->chain;
    size_t count = 0;

    for (uint32_t i = 0; i < chain->count; i++)
        count += chain->launches[i].given.use_count + (size_t)chain->launches[i].given.reach_count;
    if (count > UINT32_MAX)
        return gd_error_set(build->error, GRIDDEP_ERROR_ARGUMENT, "the launches have %zu arguments",
                            count);
    chain->uses = gd_arena_array(&build->arena, count, sizeof *chain->uses);
    if (!chain->uses)
        return gd_error_memory(build->error);
    for (uint32_t i = 0; i < chain->count; i++) {
        for (uint32_t k = 0; k < chain->launches[i].given.use_count; k++) {
            if (chain->launches[i].given.uses[k].buffer)
                chain->uses[chain->use_count++] = make_use(&chain->launches[i], i, k);
        }
        for (uint32_t k = 0; k < chain->launches[i].given.reach_count; k++) {
            if (chain->launches[i].given.reaches[k].buffer)
                chain->uses[chain->use_count++] = make_use(&chain->launches[i], i, GD_REACH | k);
        }
    }
    part_buffers(chain);
    if (chain->use_count)
        qsort(chain->uses, chain->use_count, sizeof *chain->uses, compare_uses);
    return GRIDDEP_OK;
}

/* ---- the whole ---- */

/* A launch needs all of its module: each name that nothing defines is told once. */
static int32_t check_open(builder *build, const gd_ptx_module *module)
{
    gd_table seen = {0};
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < module->operand_count && !status; i++) {
        const gd_ptx_operand *operand = &module->operands[i];
        const bool open = gd_ptx_find_open(module, operand, false);
        const char *key = (const char *)&operand->symbol;
        if (!open || gd_table_find(&seen, key, sizeof operand->symbol))
            continue;
        uint32_t length;
        const char *name = gd_ptx_name_text(module, module->symbols[operand->symbol].name, &length);
        const gd_finding_draft draft = {.code = GD_CODE_GD013,
                                        .module = module,
                                        .token = operand->token,
                                        .launch = -1,
                                        .hint = "link the module with what defines it"};
        gd_findings_add(build->chain.findings, &draft,
                        "nothing in this module defines the function %.*s: it cannot be loaded",
                        (int)length, name);
        if (!gd_table_set(&seen, key, sizeof operand->symbol, (void *)(uintptr_t)module))
            status = gd_error_memory(build->error);
    }
    gd_table_free(&seen);
    return status;
}

/* Mistakes come first: what a text does that is no valid PTX is not known. */
static int32_t check_texts(builder *build, const gd_check_launch *launches, bool *wrong)
{
    gd_table seen = {0};
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < build->chain.count && !status; i++) {
        const char *key = (const char *)&launches[i].ptx;
        bool invalid = false;
        if (!launches[i].ptx || gd_table_find(&seen, key, sizeof launches[i].ptx))
            continue;
        const gd_ptx_module *module = &launches[i].ptx->module;
        status = gd_check_validity(build->chain.findings, module, &invalid, build->error);
        if (!status && invalid)
            status =
                gd_verdict_add_invalid(build->chain.findings, module, module->name, build->error);
        if (!status && !invalid)
            status = check_open(build, module);
        if (!status && !gd_table_set(&seen, key, sizeof launches[i].ptx, (void *)(uintptr_t)module))
            status = gd_error_memory(build->error);
        *wrong |= invalid;
    }
    gd_table_free(&seen);
    return status;
}

static int32_t read_launches(builder *build, const gd_check_launch *launches)
{
    gd_checked_chain *chain = &build->chain;

    chain->launches = gd_arena_array(&build->arena, chain->count, sizeof *chain->launches);
    if (!chain->launches)
        return gd_error_memory(build->error);
    for (gd_order_module *at = build->facts->first_module; at; at = at->next) {
        at->rules.findings = chain->findings;
        at->rules.error = build->error;
    }
    int32_t status = GRIDDEP_OK;
    for (uint32_t i = 0; i < chain->count && !status; i++)
        status = read_launch(build, i, &launches[i]);
    return status;
}

/* What runs beside what, and what races. */
static int32_t find_hazards(builder *build, const gd_check_launch *launches)
{
    gd_checked_chain *chain = &build->chain;
    int32_t status = read_launches(build, launches);

    if (!status)
        status = gd_order_place(chain, &build->arena, build->error);
    for (uint32_t i = 0; i < chain->count && !status; i++)
        lay_out(chain, i);
    if (!status)
        status = collect_uses(build);
    if (status)
        return status;
    gd_order_check_hazards(chain);
    return gd_order_check_lanes(chain, &build->arena, build->error);
}

static int32_t check_chain(builder *build, const gd_check_launch *launches)
{
    gd_checked_chain *chain = &build->chain;
    bool wrong = false;
    int32_t status = check_texts(build, launches, &wrong);

    if (!status && !wrong)
        status = find_hazards(build, launches);
    for (uint32_t i = 0; i < chain->count && !status && !wrong; i++)
        check_elements(chain, i);
    if (!status && !wrong)
        gd_order_check_hops(chain);
    return status ? status : gd_findings_check(chain->findings, build->error);
}

/* ---- facts ---- */

gd_check_facts *gd_check_facts_create(void)
{
    return calloc(1, sizeof(gd_check_facts));
}

static void forget(gd_check_facts *facts)
{
    for (gd_order_kernel *at = facts->first_kernel; at; at = at->next) {
        gd_entry_report_free(&at->report);
        gd_text_free(&at->dry_path);
    }
    for (gd_order_module *at = facts->first_module; at; at = at->next)
        gd_check_functions_free(&at->functions);
    gd_table_free(&facts->modules);
    gd_table_free(&facts->kernels);
    gd_arena_free(&facts->arena);
    *facts = (gd_check_facts){0};
}

void gd_check_facts_destroy(gd_check_facts *facts)
{
    if (facts)
        forget(facts);
    free(facts);
}

/* Without facts of the caller's there are some for the time of a look. After a failure they are
 * forgotten: some may be half made. */
static int32_t begin(builder *build, gd_check_facts *facts, uint32_t count, griddep_error *error)
{
    *build = (builder){.chain = {.count = count, .findings = gd_findings_create()},
                       .facts = facts ? facts : gd_check_facts_create(),
                       .error = error};
    return build->facts && build->chain.findings ? GRIDDEP_OK : gd_error_memory(error);
}

static void end(builder *build, const gd_check_facts *facts, int32_t status)
{
    griddep_findings_destroy(build->chain.findings);
    gd_arena_free(&build->arena);
    if (!facts)
        gd_check_facts_destroy(build->facts);
    else if (status)
        forget(build->facts);
}

static int32_t look(gd_check_facts *facts, const gd_check_launch *launches, uint32_t count,
                    int32_t (*at)(builder *, const gd_check_launch *), griddep_findings **findings,
                    griddep_error *error)
{
    builder build;
    int32_t status = begin(&build, facts, count, error);

    if (!status)
        status = at(&build, launches);
    if (!status) {
        *findings = build.chain.findings;
        build.chain.findings = NULL;
    }
    end(&build, facts, status);
    return status;
}

/* ---- for others ---- */

int32_t gd_check_writes(const gd_check_launch *launches, uint32_t count, bool *writes,
                        bool *anywhere, griddep_error *error)
{
    builder build;
    int32_t status = begin(&build, NULL, count, error);

    if (!status)
        status = read_launches(&build, launches);
    if (anywhere)
        *anywhere = false;
    for (uint32_t i = 0; i < count && !status; i++) {
        const gd_check_launch *given = &build.chain.launches[i].given;
        if (anywhere)
            *anywhere |= gd_order_writes_anywhere(&build.chain.launches[i]);
        for (uint32_t k = 0; k < given->use_count; k++) {
            const int32_t access = given->uses[k].access;
            *writes++ = access == GRIDDEP_ACCESS_UNKNOWN
                            ? make_use(&build.chain.launches[i], i, k).writes
                            : access == GRIDDEP_ACCESS_WRITE || access == GRIDDEP_ACCESS_UPDATE;
        }
    }
    end(&build, NULL, status);
    return status;
}

int32_t gd_check_sharing(const gd_check_launch *launches, uint32_t count, uint32_t *first,
                         uint32_t *second, griddep_error *error)
{
    builder build;
    int32_t status = begin(&build, NULL, count, error);

    if (!status)
        status = read_launches(&build, launches);
    *first = *second = count;
    for (uint32_t i = 0; i < count && !status && *second == count; i++) {
        for (uint32_t k = 0; k < i && *second == count; k++) {
            if (!gd_order_share_variables(&build.chain.launches[i], &build.chain.launches[k]))
                continue;
            *first = k;
            *second = i;
        }
    }
    end(&build, NULL, status);
    return status;
}

static bool is_dry(const gd_parameter_use *use)
{
    return use->dry_read != GD_PTX_NONE || use->dry_write != GD_PTX_NONE;
}

/* Every access that others can see is in a group. Where the analysis has passed a limit, the rest
 * is not known. */
static gd_early_touch early_touch(const gd_order_kernel *kernel)
{
    bool memory = kernel->report.limit != NULL;

    for (const gd_address_group *at = kernel->groups; at && !memory; at = at->next)
        memory = is_dry(&at->use);
    return memory                    ? GD_EARLY_TOUCH_MEMORY
           : is_dry(&kernel->tables) ? GD_EARLY_TOUCH_TABLES
                                     : GD_EARLY_TOUCH_NOTHING;
}

/* What a text does that is no valid PTX is not known. Facts tell that it has been looked at. */
static int32_t check_text(builder *build, const griddep_ptx *ptx, bool *invalid)
{
    *invalid = false;
    return gd_table_find(&build->facts->modules, (const char *)&ptx, sizeof ptx)
               ? GRIDDEP_OK
               : gd_check_validity(build->chain.findings, &ptx->module, invalid, build->error);
}

int32_t gd_check_touches_early(gd_check_facts *facts, const griddep_ptx *ptx, const char *entry,
                               gd_early_touch *touch, bool *ordered, griddep_error *error)
{
    const gd_check_launch launch = {.ptx = ptx, .entry = entry};
    builder build;
    bool invalid = false;
    int32_t status = begin(&build, facts, 1, error);

    if (!status)
        status = check_text(&build, ptx, &invalid);
    if (!status && !invalid)
        status = read_launches(&build, &launch);
    if (!status)
        *touch = invalid ? GD_EARLY_TOUCH_MEMORY : early_touch(build.chain.launches[0].kernel);
    if (!status && ordered)
        *ordered = !invalid && gd_order_covers(&build.chain.launches[0]);
    end(&build, facts, status);
    return status;
}

bool gd_early_is_decided(uint32_t traits)
{
    const uint32_t waits = GRIDDEP_TRAIT_WAITS_ALWAYS | GRIDDEP_TRAIT_OTHERS_WAIT;

    if (!(traits & GRIDDEP_TRAIT_MACHINE_CODE) || traits & GRIDDEP_TRAIT_OPEN)
        return false;
    return !(traits & GRIDDEP_TRAIT_WAITS) ||
           (traits & waits && !(traits & GRIDDEP_TRAIT_TOUCHES_EARLY));
}

static uint32_t traits_of_entry(const griddep_ptx *ptx, const char *entry)
{
    griddep_ptx_entry_info info = {.size = sizeof info};
    uint32_t index;

    if (!gd_ptx_find_entry(ptx, entry, &index) ||
        griddep_ptx_get_entry(ptx, index, &info, NULL) != GRIDDEP_OK)
        return 0;
    return info.traits;
}

gd_early_code gd_early_look(gd_check_facts *facts, uint32_t traits, const griddep_ptx *ptx,
                            const char *entry)
{
    const uint32_t of_text = ptx ? traits_of_entry(ptx, entry) : 0;
    gd_early_code code;

    traits = traits & GRIDDEP_TRAIT_KNOWN ? traits : of_text;
    code = (gd_early_code){.reason = gd_early_kernel(traits),
                           .touch = traits & GRIDDEP_TRAIT_TOUCHES_EARLY ? GD_EARLY_TOUCH_MEMORY
                                                                         : GD_EARLY_TOUCH_NOTHING,
                           .ordered =
                               traits & (GRIDDEP_TRAIT_WAITS_ALWAYS | GRIDDEP_TRAIT_OTHERS_WAIT)};

    if (!gd_early_is_decided(traits) && of_text & GRIDDEP_TRAIT_WAITS) { /* not for an older chip */
        if (traits & GRIDDEP_TRAIT_OPEN) /* the PTX can be followed */
            code.reason = gd_early_kernel(of_text);
        if (gd_check_touches_early(facts, ptx, entry, &code.touch, &code.ordered, NULL)) {
            code.touch = GD_EARLY_TOUCH_MEMORY;
            code.ordered = false;
        }
    }
    if (code.reason == GRIDDEP_REASON_WAIT_NOT_ALWAYS && code.ordered)
        code.reason = GRIDDEP_REASON_SET;
    if (code.reason == GRIDDEP_REASON_SET && code.touch != GD_EARLY_TOUCH_NOTHING)
        code.reason = GRIDDEP_REASON_RACE;
    return code;
}

int32_t gd_check_launches(const gd_check_launch *launches, uint32_t count,
                          griddep_findings **findings, griddep_error *error)
{
    return look(NULL, launches, count, check_chain, findings, error);
}

static int32_t check_hazards(builder *build, const gd_check_launch *launches)
{
    int32_t status = find_hazards(build, launches);

    return status ? status : gd_findings_check(build->chain.findings, build->error);
}

int32_t gd_check_hazards(gd_check_facts *facts, const gd_check_launch *launches, uint32_t count,
                         griddep_findings **findings, griddep_error *error)
{
    return look(facts, launches, count, check_hazards, findings, error);
}

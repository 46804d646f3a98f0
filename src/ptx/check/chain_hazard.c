/* Hazards between the launches of a chain, and arguments that are not what they were declared to
 * be. */
#include <inttypes.h>

#include "ptx/check/chain.h"

#define WAIT_HINT "move the wait in front of it"
#define BETWEEN_HINT "let the launches between wait on every path"

static const gd_parameter_use *use_of(const gd_chain_launch *launch, uint32_t argument)
{
    return launch->kernel && argument < launch->kernel->use_count ? &launch->kernel->uses[argument]
                                                                  : NULL;
}

bool gd_chain_meet(const gd_buffer_use *a, const gd_buffer_use *b)
{
    return a->start < b->end && b->start < a->end;
}

/* The name of the parameter behind an argument, or "an argument" without a text. A copy has a
 * target and a source, a fill a target. */
const char *gd_chain_parameter_name(const gd_chain_launch *launch, uint32_t argument)
{
    const gd_ptx_function *function = launch->kernel ? launch->kernel->function : NULL;

    if (launch->given.node != GD_CHECK_KERNEL)
        return argument ? "its source" : "its target";
    return function && argument < function->parameter_end - function->parameter
               ? function->parameter_names[argument]
               : "an argument";
}

/* ---- pairs ---- */

typedef struct pair {
    gd_chain *chain;
    const gd_buffer_use *own, *other; /* `other` belongs to the launch that may still run */
    uint32_t between;
    int32_t weight;    /* of a finding, as gd_chain_weigh tells */
    const char *words; /* that end it */
} pair;

static const gd_chain_launch *own_launch(const pair *at)
{
    return &at->chain->launches[at->own->launch];
}

static const gd_chain_launch *other_launch(const pair *at)
{
    return &at->chain->launches[at->other->launch];
}

int32_t gd_chain_weigh(const gd_buffer_use *a, const gd_buffer_use *b, const char **words)
{
    const gd_buffer_use *low = a->start < b->start ? a : b;
    const bool assumed = a->start != b->start && low->end == UINT64_MAX;

    *words = assumed
                 ? "; both lie in one allocation, and nothing tells how far the one that begins "
                   "first reaches"
                 : "";
    return assumed ? GRIDDEP_SEVERITY_WARNING : 0;
}

const char *gd_chain_touch_verb(const gd_buffer_use *use)
{
    return use->writes ? use->reads ? "updates" : "writes" : "reads";
}

/* A kernel without a wait: everything it does is dry. Where the producer's stores are all in front
 * of a release fence and a trigger, the fence may order them with the dependent's start. */
static void report_no_wait(const pair *at, uint32_t instruction, bool writes)
{
    const gd_chain_launch *own = own_launch(at), *other = other_launch(at);
    const gd_parameter_use *produced = use_of(other, at->other->argument);
    bool fenced = !writes && other->kernel && other->kernel->report.fenced && produced &&
                  produced->late_write == GD_PTX_NONE;

    gd_chain_add(
        at->chain, at->own->launch, fenced ? GRIDDEP_SEVERITY_WARNING : at->weight, GD205,
        instruction, "insert a wait (griddep rewrite), or do not force the launch",
        "%s is launched dependently without a wait and %s %s, which launch %" PRIu32 " (%s) %s%s%s",
        own->kernel_name, writes ? "writes" : "reads",
        gd_chain_parameter_name(own, at->own->argument), at->other->launch, other->name,
        gd_chain_touch_verb(at->other),
        fenced ? "; whether the release fence in front of its trigger orders them cannot be shown"
               : "",
        at->words);
    if (!writes && produced && produced->late_write != GD_PTX_NONE &&
        at->other->launch == at->between)
        gd_chain_add(at->chain, at->other->launch, at->weight, GD207, produced->late_write,
                     "let the dependent wait",
                     "%s writes %s behind its trigger, and launch %" PRIu32
                     " (%s) reads it without a wait%s",
                     other->kernel_name, gd_chain_parameter_name(other, at->other->argument),
                     at->own->launch, own->name, at->words);
}

static void report_dry_read(const pair *at, const gd_parameter_use *use)
{
    const gd_chain_launch *own = own_launch(at), *other = other_launch(at);

    if (!own->kernel->report.has_wait) {
        report_no_wait(at, use->dry_read, false);
        return;
    }
    gd_chain_add(at->chain, at->own->launch,
                 use->hoped_read ? GRIDDEP_SEVERITY_WARNING : at->weight, GD206, use->dry_read,
                 WAIT_HINT,
                 "%s reads %s before its wait, and nothing orders it behind launch %" PRIu32
                 " (%s), which writes it%s",
                 own->kernel_name, gd_chain_parameter_name(own, at->own->argument),
                 at->other->launch, other->name, at->words);
}

static void report_dry_write(const pair *at, const gd_parameter_use *use)
{
    const gd_chain_launch *own = own_launch(at), *other = other_launch(at);

    if (!own->kernel->report.has_wait) {
        report_no_wait(at, use->dry_write, true);
        return;
    }
    gd_chain_add(at->chain, at->own->launch,
                 use->hoped_write ? GRIDDEP_SEVERITY_WARNING : at->weight, GD202, use->dry_write,
                 WAIT_HINT,
                 "%s writes %s before its wait, and nothing orders it behind launch %" PRIu32
                 " (%s), which %s it%s",
                 own->kernel_name, gd_chain_parameter_name(own, at->own->argument),
                 at->other->launch, other->name, gd_chain_touch_verb(at->other), at->words);
}

/* Before the wait. Returns whether there is a hazard. */
static bool check_before(const pair *at)
{
    const gd_parameter_use *use = use_of(own_launch(at), at->own->argument);
    bool found = false;

    if (!use)
        return false;
    if (use->dry_read != GD_PTX_NONE && at->other->writes) {
        report_dry_read(at, use);
        found = true;
    }
    if (use->dry_write != GD_PTX_NONE) {
        report_dry_write(at, use);
        found = true;
    }
    if (use->noncoherent != GD_PTX_NONE && at->other->writes)
        gd_chain_add(at->chain, at->own->launch, at->weight, GD130, use->noncoherent,
                     "use a coherent load (ld.global)",
                     "%s reads %s through the non-coherent path, while launch %" PRIu32
                     " (%s) may still write it%s",
                     own_launch(at)->kernel_name,
                     gd_chain_parameter_name(own_launch(at), at->own->argument), at->other->launch,
                     other_launch(at)->name, at->words);
    return found;
}

/* Behind the wait: a launch that nobody between has waited for. */
static bool check_after(const pair *at)
{
    const gd_chain_launch *own = own_launch(at), *other = other_launch(at);
    const gd_parameter_use *use = use_of(own, at->own->argument);
    uint32_t between = at->between;

    if (at->own->reads && at->other->writes)
        gd_chain_add(at->chain, at->own->launch, at->weight, GD201, use ? use->read : GD_PTX_NONE,
                     BETWEEN_HINT,
                     "%s reads %s, which launch %" PRIu32 " (%s) writes, and launch %" PRIu32
                     " (%s) between them does not wait on every path%s",
                     own->kernel_name, gd_chain_parameter_name(own, at->own->argument),
                     at->other->launch, other->name, between, at->chain->launches[between].name,
                     at->words);
    if (at->own->writes)
        gd_chain_add(at->chain, at->own->launch, at->weight, GD202, use ? use->write : GD_PTX_NONE,
                     BETWEEN_HINT,
                     "%s writes %s, which launch %" PRIu32 " (%s) %s, and launch %" PRIu32
                     " (%s) between them does not wait on every path%s",
                     own->kernel_name, gd_chain_parameter_name(own, at->own->argument),
                     at->other->launch, other->name, gd_chain_touch_verb(at->other), between,
                     at->chain->launches[between].name, at->words);
    return true;
}

static bool is_in(const gd_launch_stretch *stretch, const gd_chain *chain, uint32_t launch)
{
    return launch >= stretch->from && launch < stretch->end &&
           chain->launches[launch].given.lane == stretch->lane &&
           (!stretch->set || stretch->set[launch / 64] >> launch % 64 & 1);
}

bool gd_chain_look_back(gd_chain *chain, uint32_t use, const gd_launch_stretch *stretch,
                        uint32_t between, bool behind_wait)
{
    const gd_buffer_use *own = &chain->uses[use];
    bool found = false;

    for (uint32_t i = use; i-- > 0 && chain->uses[i].buffer == own->buffer &&
                           chain->uses[i].launch >= stretch->from;) {
        const gd_buffer_use *other = &chain->uses[i];
        if (!is_in(stretch, chain, other->launch) || !gd_chain_meet(own, other) ||
            !(own->writes || other->writes))
            continue;
        if (found && other->launch < between)
            break;
        pair at = {.chain = chain, .own = own, .other = other, .between = between};
        at.weight = gd_chain_weigh(own, other, &at.words);
        found |= behind_wait ? check_after(&at) : check_before(&at);
    }
    return found;
}

/* ---- what cannot be shown ---- */

/* Whether each parameter that the kernel uses as an address has an argument that names its
 * buffer. */
static bool has_buffers(const gd_chain_launch *launch)
{
    const gd_chain_kernel *kernel = launch->kernel;

    for (uint32_t i = 0; i < kernel->use_count; i++) {
        bool used = kernel->uses[i].read != GD_PTX_NONE || kernel->uses[i].write != GD_PTX_NONE;
        if (used && (i >= launch->given.use_count || !launch->given.uses[i].buffer))
            return false;
    }
    return true;
}

/* Whether all that a launch does to buffers is known. */
static bool is_known(const gd_chain_launch *launch)
{
    if (launch->kernel)
        return launch->kernel->unknown == GD_PTX_NONE && has_buffers(launch);
    for (uint32_t i = 0; i < launch->given.use_count; i++) {
        if (launch->given.uses[i].buffer && launch->given.uses[i].access == GRIDDEP_ACCESS_UNKNOWN)
            return false;
    }
    return launch->given.use_count > 0;
}

/* Whether an argument leads to memory and no buffer says to which: a struct with addresses in it, a
 * texture or surface. A single address without a buffer is NULL, or a number. */
static bool is_untold(const gd_chain_launch *launch, uint32_t argument)
{
    const gd_ptx_function *function = launch->kernel->function;
    const gd_ptx_module *module = launch->kernel->module->functions.module;
    const bool named =
        argument < launch->given.use_count && launch->given.uses[argument].buffer != 0;

    if (launch->kernel->uses[argument].handle)
        return named;
    return !named && module->symbols[function->parameter + argument].bytes > sizeof(uint64_t);
}

/* An access through a parameter before the wait; GD_PTX_NONE: there is none. */
static uint32_t dry_access(const gd_parameter_use *use)
{
    return use->dry_read != GD_PTX_NONE ? use->dry_read : use->dry_write;
}

/* The parameter through which a launch reaches such memory before its wait, or writes it.
 * use_count: there is none. */
static uint32_t find_untold(const gd_chain_launch *launch, bool dry)
{
    const gd_chain_kernel *kernel = launch->kernel;
    uint32_t i = 0;

    for (; i < kernel->use_count; i++) {
        const gd_parameter_use *use = &kernel->uses[i];
        if ((dry ? dry_access(use) : use->write) != GD_PTX_NONE && is_untold(launch, i))
            break;
    }
    return i;
}

static bool writes_any(const gd_chain_launch *launch)
{
    if (!launch->kernel)
        return launch->given.node != GD_CHECK_EVENT;
    for (uint32_t i = 0; i < launch->kernel->use_count; i++) {
        if (launch->kernel->uses[i].write != GD_PTX_NONE)
            return true;
    }
    return launch->kernel->unknown_write;
}

/* An access before the wait that may meet what a launch that may still run writes, where one of the
 * two has no buffer. */
void gd_chain_check_untold(gd_chain *chain, uint32_t index, uint32_t other)
{
    const gd_chain_launch *launch = &chain->launches[index], *writer = &chain->launches[other];
    const gd_chain_kernel *kernel = launch->kernel;
    if (!kernel || !kernel->report.has_wait)
        return;
    const uint32_t own = find_untold(launch, true);
    if (own < kernel->use_count && writes_any(writer)) {
        gd_chain_add(chain, index, 0, GD112, dry_access(&kernel->uses[own]), WAIT_HINT,
                     "%s touches memory before its wait that %s leads to, and launch %" PRIu32
                     " (%s) may still write it: no argument says what memory that is",
                     launch->kernel_name, gd_chain_parameter_name(launch, own), other,
                     writer->name);
        return;
    }
    if (!writer->kernel)
        return;
    const uint32_t untold = find_untold(writer, false);
    if (untold == writer->kernel->use_count)
        return;
    for (uint32_t i = 0; i < kernel->use_count; i++) {
        const uint32_t at = dry_access(&kernel->uses[i]);
        if (at == GD_PTX_NONE)
            continue;
        gd_chain_add(chain, index, 0, GD112, at, WAIT_HINT,
                     "%s touches %s before its wait, and launch %" PRIu32
                     " (%s) may still write it: no argument says to what memory its %s leads",
                     launch->kernel_name, gd_chain_parameter_name(launch, i), other, writer->name,
                     gd_chain_parameter_name(writer, untold));
        return;
    }
}

static void check_unknown(gd_chain *chain, uint32_t index, bool hazard)
{
    const gd_chain_launch *launch = &chain->launches[index];
    const gd_chain_kernel *kernel = launch->kernel;

    if (!launch->overlaps)
        return;
    if (kernel && kernel->report.has_wait) {
        if (kernel->dry_unknown != GD_PTX_NONE)
            gd_chain_add(chain, index, 0, GD112, kernel->dry_unknown, WAIT_HINT,
                         "%s, on a path that has not executed griddepcontrol.wait",
                         kernel->dry_unknown_words.text);
        for (uint32_t i = index; i-- > launch->before;) {
            if (chain->launches[i].given.lane == launch->given.lane)
                gd_chain_check_untold(chain, index, i);
        }
        return;
    }
    /* Of code without PTX whoever states that it waits, or its machine code, vouches. */
    if (!kernel && launch->given.traits & GRIDDEP_TRAIT_WAITS_ALWAYS)
        return;
    uint32_t previous = launch->previous;
    if (hazard || (kernel && is_known(launch) && is_known(&chain->launches[previous])))
        return;
    gd_chain_add(chain, index, GRIDDEP_SEVERITY_WARNING, GD205, GD_PTX_NONE,
                 "insert a wait (griddep rewrite), or do not force the launch",
                 kernel ? "%s is launched dependently without a wait; that it shares nothing with "
                          "launch %" PRIu32 " (%s) cannot be shown"
                        : "%s is launched dependently and its code is not known; that it waits "
                          "before it touches what "
                          "launch %" PRIu32 " (%s) touches cannot be shown",
                 launch->kernel_name, previous, chain->launches[previous].name);
}

/* ---- declarations ---- */

static void check_declaration(gd_chain *chain, const gd_buffer_use *use)
{
    const gd_chain_launch *launch = &chain->launches[use->launch];
    const gd_parameter_use *found = use_of(launch, use->argument);
    int32_t access = launch->given.uses[use->argument].access;

    if (access == GRIDDEP_ACCESS_READ && found && found->write != GD_PTX_NONE)
        gd_chain_add(chain, use->launch, 0, GD210, found->write,
                     "declare the argument write or update",
                     "%s writes %s, which the chain declares read", launch->kernel_name,
                     gd_chain_parameter_name(launch, use->argument));
}

/* Writers of what another use of the buffer [first, end) declares constant. */
static void check_constants(gd_chain *chain, uint32_t first, uint32_t end)
{
    bool some = false;

    for (uint32_t i = first; i < end; i++)
        some |= chain->uses[i].constant;
    for (uint32_t w = first; w < end && some; w++) {
        const gd_buffer_use *writer = &chain->uses[w];
        const gd_chain_launch *launch = &chain->launches[writer->launch];
        const gd_parameter_use *use = use_of(launch, writer->argument);
        for (uint32_t c = first; c < end && writer->writes; c++) {
            const gd_buffer_use *constant = &chain->uses[c];
            if (!constant->constant || !gd_chain_meet(writer, constant))
                continue;
            const char *words;
            const int32_t weight = gd_chain_weigh(writer, constant, &words);
            gd_chain_add(chain, writer->launch, weight, GD209, use ? use->write : GD_PTX_NONE,
                         "declare the argument read, or write elsewhere",
                         "%s writes %s, which launch %" PRIu32 " (%s) declares constant%s",
                         launch->kernel_name, gd_chain_parameter_name(launch, writer->argument),
                         constant->launch, chain->launches[constant->launch].name, words);
            break;
        }
    }
}

static void check_buffers(gd_chain *chain)
{
    for (uint32_t first = 0, end; first < chain->use_count; first = end) {
        for (end = first;
             end < chain->use_count && chain->uses[end].buffer == chain->uses[first].buffer; end++)
            check_declaration(chain, &chain->uses[end]);
        check_constants(chain, first, end);
    }
}

/* ---- all ---- */

void gd_chain_check_hazards(gd_chain *chain)
{
    for (uint32_t i = 0; i < chain->use_count; i++) {
        gd_chain_launch *launch = &chain->launches[chain->uses[i].launch];
        if (!launch->overlaps)
            continue;
        const uint32_t lane = launch->given.lane;
        const gd_launch_stretch before = {lane, launch->before, chain->uses[i].launch, NULL},
                                behind = {lane, launch->after, launch->after_end, NULL};
        launch->hazard |= gd_chain_look_back(chain, i, &before, launch->previous, false);
        if (launch->after < launch->after_end)
            gd_chain_look_back(chain, i, &behind, launch->previous, true);
    }
    for (uint32_t i = 0; i < chain->count; i++)
        check_unknown(chain, i, chain->launches[i].hazard);
    check_buffers(chain);
}

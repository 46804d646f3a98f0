/* Hazards between the launches of a chain, and arguments that are not what they were declared to
 * be. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "ptx/check/chain.h"

#define WAIT_HINT "move the wait in front of it"
#define BETWEEN_HINT "let the launches between wait on every path"

/* What was said of an argument, or of what a launch reaches beside its arguments. */
static const griddep_use *given_of(const gd_checked_launch *launch, uint32_t argument)
{
    return argument & GD_REACH ? &launch->given.reaches[argument & ~GD_REACH]
                               : &launch->given.uses[argument];
}

static const gd_parameter_use *use_of(const gd_checked_launch *launch, uint32_t argument)
{
    if (launch->kernel && argument & GD_REACH)
        return &launch->stated;
    return launch->kernel && argument < launch->kernel->use_count ? &launch->kernel->uses[argument]
                                                                  : NULL;
}

bool gd_order_meet(const gd_buffer_use *a, const gd_buffer_use *b)
{
    return a->start < b->end && b->start < a->end;
}

bool gd_order_conflict(const gd_buffer_use *a, const gd_buffer_use *b)
{
    return gd_order_meet(a, b) &&
           ((a->writes && (b->reads || b->writes)) || (a->reads && b->writes));
}

/* What NVVM names after the kernel: "param_7". */
static const char *brief_name(const gd_ptx_function *function, const char *name)
{
    const size_t length = strlen(function->name);

    return !strncmp(name, function->name, length) && !strncmp(name + length, "_param_", 7)
               ? name + length + 1
               : name;
}

/* The name of the parameter behind an argument, or "an argument" without a text. A copy has a
 * target and a source, a fill a target. */
const char *gd_order_parameter_name(const gd_checked_launch *launch, uint32_t argument)
{
    const gd_ptx_function *function = launch->kernel ? launch->kernel->function : NULL;

    if (launch->given.node != GRIDDEP_GRAPH_NODE_KERNEL)
        return argument ? "its source" : "its target";
    if (argument & GD_REACH)
        return "what it is said to reach";
    return function && argument < function->parameter_end - function->parameter
               ? brief_name(function, function->parameter_names[argument])
               : "an argument";
}

/* ---- pairs ---- */

typedef struct pair {
    gd_checked_chain *chain;
    const gd_buffer_use *own, *other; /* `other` belongs to the launch that may still run */
    uint32_t between;
    int32_t weight;    /* of a finding, as gd_order_weigh tells */
    const char *words; /* that end it */
} pair;

static const gd_checked_launch *own_launch(const pair *at)
{
    return &at->chain->launches[at->own->launch];
}

static const gd_checked_launch *other_launch(const pair *at)
{
    return &at->chain->launches[at->other->launch];
}

/* As gd_order_weigh, of what holds in whatever order the two are. */
static int32_t weigh_meeting(const gd_buffer_use *a, const gd_buffer_use *b, const char **words)
{
    const gd_buffer_use *low = a->start < b->start ? a : b;
    const bool assumed = a->start != b->start && low->end == UINT64_MAX;

    *words = assumed
                 ? "; both lie in one allocation, and nothing tells how far the one that begins "
                   "first reaches"
                 : "";
    return assumed ? GRIDDEP_SEVERITY_WARNING : 0;
}

int32_t gd_order_weigh(const gd_buffer_use *a, const gd_buffer_use *b, const char **words)
{
    if (!a->atomic || !b->atomic)
        return weigh_meeting(a, b, words);
    *words = "; both by atomic operations alone, so that only their order is open";
    return GRIDDEP_SEVERITY_WARNING;
}

const char *gd_order_touch_verb(const gd_buffer_use *use)
{
    return use->writes ? use->reads ? "updates" : "writes" : "reads";
}

/* A kernel without a wait: everything it does is dry. Where the producer's stores are all in front
 * of a release fence and a trigger, the fence may order them with the dependent's start. */
static void report_no_wait(const pair *at, uint32_t instruction, bool writes)
{
    const gd_checked_launch *own = own_launch(at), *other = other_launch(at);
    const gd_parameter_use *produced = use_of(other, at->other->argument);
    bool fenced = !writes && other->kernel && other->kernel->report.fenced && produced &&
                  produced->late_write == GD_PTX_NONE;

    gd_order_add(
        at->chain, at->own->launch, fenced ? GRIDDEP_SEVERITY_WARNING : at->weight, GD205,
        instruction, "insert a wait (griddep rewrite), or do not force the launch",
        "%s is launched dependently without a wait and %s %s, which launch %" PRIu32 " (%s) %s%s%s",
        own->kernel_name, writes ? "writes" : "reads",
        gd_order_parameter_name(own, at->own->argument), at->other->launch, other->name,
        gd_order_touch_verb(at->other),
        fenced ? "; whether the release fence in front of its trigger orders them cannot be shown"
               : "",
        at->words);
    if (!writes && produced && produced->late_write != GD_PTX_NONE &&
        at->other->launch == at->between)
        gd_order_add(at->chain, at->other->launch, at->weight, GD207, produced->late_write,
                     "put a wait into the dependent kernel (griddep rewrite)",
                     "%s writes %s after its trigger, and launch %" PRIu32
                     " (%s) reads it without a wait%s",
                     other->kernel_name, gd_order_parameter_name(other, at->other->argument),
                     at->own->launch, own->name, at->words);
}

static void report_dry_read(const pair *at, const gd_parameter_use *use)
{
    const gd_checked_launch *own = own_launch(at), *other = other_launch(at);

    if (!own->kernel->report.has_wait) {
        report_no_wait(at, use->dry_read, false);
        return;
    }
    gd_order_add(at->chain, at->own->launch,
                 use->hoped_read ? GRIDDEP_SEVERITY_WARNING : at->weight, GD206, use->dry_read,
                 WAIT_HINT,
                 "%s reads %s before its wait, and nothing orders it after launch %" PRIu32
                 " (%s), which writes it%s",
                 own->kernel_name, gd_order_parameter_name(own, at->own->argument),
                 at->other->launch, other->name, at->words);
}

static void report_dry_write(const pair *at, const gd_parameter_use *use)
{
    const gd_checked_launch *own = own_launch(at), *other = other_launch(at);

    if (!own->kernel->report.has_wait) {
        report_no_wait(at, use->dry_write, true);
        return;
    }
    gd_order_add(at->chain, at->own->launch,
                 use->hoped_write ? GRIDDEP_SEVERITY_WARNING : at->weight, GD202, use->dry_write,
                 WAIT_HINT,
                 "%s writes %s before its wait, and nothing orders it after launch %" PRIu32
                 " (%s), which %s it%s",
                 own->kernel_name, gd_order_parameter_name(own, at->own->argument),
                 at->other->launch, other->name, gd_order_touch_verb(at->other), at->words);
}

/* Before the wait. Returns whether there is a hazard. */
static bool check_before(const pair *at)
{
    const gd_parameter_use *use = use_of(own_launch(at), at->own->argument);
    bool found = false;

    if (!use)
        return false;
    if (use->dry_read != GD_PTX_NONE && at->own->reads && at->other->writes) {
        report_dry_read(at, use);
        found = true;
    }
    if (use->dry_write != GD_PTX_NONE && at->own->writes) {
        report_dry_write(at, use);
        found = true;
    }
    if (use->noncoherent != GD_PTX_NONE && at->other->writes)
        gd_order_add(at->chain, at->own->launch, at->weight, GD130, use->noncoherent,
                     "use a coherent load (ld.global)",
                     "%s reads %s through the non-coherent path, while launch %" PRIu32
                     " (%s) may still write it%s",
                     own_launch(at)->kernel_name,
                     gd_order_parameter_name(own_launch(at), at->own->argument), at->other->launch,
                     other_launch(at)->name, at->words);
    return found;
}

/* Behind the wait: a launch that nobody between has waited for. */
static bool check_after(const pair *at)
{
    const gd_checked_launch *own = own_launch(at), *other = other_launch(at);
    const gd_parameter_use *use = use_of(own, at->own->argument);
    uint32_t between = at->between;

    if (at->own->reads && at->other->writes)
        gd_order_add(at->chain, at->own->launch, at->weight, GD201, use ? use->read : GD_PTX_NONE,
                     BETWEEN_HINT,
                     "%s reads %s, which launch %" PRIu32 " (%s) writes, and launch %" PRIu32
                     " (%s) between them does not wait on every path%s",
                     own->kernel_name, gd_order_parameter_name(own, at->own->argument),
                     at->other->launch, other->name, between, at->chain->launches[between].name,
                     at->words);
    if (at->own->writes)
        gd_order_add(at->chain, at->own->launch, at->weight, GD202, use ? use->write : GD_PTX_NONE,
                     BETWEEN_HINT,
                     "%s writes %s, which launch %" PRIu32 " (%s) %s, and launch %" PRIu32
                     " (%s) between them does not wait on every path%s",
                     own->kernel_name, gd_order_parameter_name(own, at->own->argument),
                     at->other->launch, other->name, gd_order_touch_verb(at->other), between,
                     at->chain->launches[between].name, at->words);
    return true;
}

static bool is_in(const gd_launch_stretch *stretch, const gd_checked_chain *chain, uint32_t launch)
{
    return launch >= stretch->from && launch < stretch->end &&
           chain->launches[launch].given.lane == stretch->lane &&
           (!stretch->set || stretch->set[launch / 64] >> launch % 64 & 1);
}

/* The first of the uses of one's part up to it that is of no launch before `end`. */
static uint32_t find_end(const gd_checked_chain *chain, uint32_t use, uint32_t end)
{
    const uint32_t part = chain->uses[use].part;
    uint32_t from = 0, to = use;

    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        const gd_buffer_use *at = &chain->uses[middle];
        if (at->part < part || (at->part == part && at->launch < end))
            from = middle + 1;
        else
            to = middle;
    }
    return to;
}

bool gd_order_look_back(gd_checked_chain *chain, uint32_t use, const gd_launch_stretch *stretch,
                        uint32_t between, bool behind_wait)
{
    const gd_buffer_use *own = &chain->uses[use];
    bool found = false, sure = false; /* sure: by more than a doubt, which hides nothing */

    for (uint32_t i = find_end(chain, use, stretch->end);
         i-- > 0 && chain->uses[i].part == own->part && chain->uses[i].launch >= stretch->from;) {
        const gd_buffer_use *other = &chain->uses[i];
        if (!is_in(stretch, chain, other->launch) || !gd_order_conflict(own, other))
            continue;
        if (sure && other->launch < between)
            break;
        pair at = {.chain = chain, .own = own, .other = other, .between = between};
        at.weight = gd_order_weigh(own, other, &at.words);
        if (found && at.weight && other->launch < between)
            continue;
        const bool told = behind_wait ? check_after(&at) : check_before(&at);
        found |= told;
        sure |= told && !at.weight;
    }
    return found;
}

/* ---- what no argument names ---- */

static bool reads(const gd_parameter_use *use)
{
    return use->read != GD_PTX_NONE;
}

static bool writes(const gd_parameter_use *use)
{
    return use->write != GD_PTX_NONE;
}

/* The first access before the wait; GD_PTX_NONE: there is none. */
static uint32_t dry_access(const gd_parameter_use *use)
{
    return use->dry_read != GD_PTX_NONE ? use->dry_read : use->dry_write;
}

/* Of code that is not known as PTX: whether somebody has said how it uses each buffer. */
static bool is_declared(const gd_checked_launch *launch)
{
    for (uint32_t i = 0; i < launch->given.use_count; i++) {
        if (launch->given.uses[i].buffer && launch->given.uses[i].access == GRIDDEP_ACCESS_UNKNOWN)
            return false;
    }
    return launch->given.use_count > 0 || launch->given.reach_stated;
}

static bool is_opaque(const gd_checked_launch *launch)
{
    return launch->given.node == GRIDDEP_GRAPH_NODE_KERNEL && !launch->kernel &&
           !is_declared(launch);
}

static bool reads_anywhere(const gd_checked_launch *launch)
{
    return is_opaque(launch) || reads(&launch->anywhere);
}

bool gd_order_writes_anywhere(const gd_checked_launch *launch)
{
    return is_opaque(launch) || writes(&launch->anywhere);
}

/* Whether a use is of a buffer that others may write: not declared constant. */
static bool is_exposed(const gd_checked_launch *launch, uint32_t argument)
{
    return (argument & GD_REACH || argument < launch->given.use_count) &&
           given_of(launch, argument)->buffer &&
           given_of(launch, argument)->access != GRIDDEP_ACCESS_CONSTANT;
}

/* Whether a launch touches, or writes, any memory that is not its own alone. */
static bool touches_any(const gd_checked_launch *launch, bool only_writes)
{
    const gd_order_kernel *kernel = launch->kernel;

    if (!kernel)
        return true;
    bool found = gd_order_writes_anywhere(launch) || writes(&launch->variables) ||
                 (!only_writes && (reads_anywhere(launch) || reads(&launch->variables)));
    for (uint32_t i = 0; i < launch->given.reach_count && !found; i++) {
        const int32_t access = launch->given.reaches[i].access;
        found =
            access != GRIDDEP_ACCESS_CONSTANT && (!only_writes || access != GRIDDEP_ACCESS_READ);
    }
    for (uint32_t i = 0; i < kernel->use_count && !found; i++)
        found = is_exposed(launch, i) &&
                (writes(&kernel->uses[i]) || (!only_writes && reads(&kernel->uses[i])));
    return found;
}

typedef struct reach_words {
    char text[200];
} reach_words;

/* Why a launch may reach anything. */
static reach_words describe_reach(const gd_checked_launch *launch)
{
    reach_words words = {{0}};
    int32_t line, column;

    if (!launch->kernel) {
        snprintf(words.text, sizeof words.text, "its code is not known");
        return words;
    }
    if (launch->leads != GD_PTX_NONE) {
        snprintf(words.text, sizeof words.text, "no argument says to what memory its %.80s leads",
                 gd_order_parameter_name(launch, launch->leads));
        return words;
    }
    const gd_ptx_module *module = launch->kernel->module->functions.module;
    const uint32_t at = writes(&launch->anywhere) ? launch->anywhere.write : launch->anywhere.read;
    gd_ptx_token_position(module, module->instructions[at].opcode, &line, &column);
    const int used = snprintf(words.text, sizeof words.text,
                              "the address in its line %" PRId32 " cannot be traced", line);
    if (launch->kernel->cause == GD_PTX_NONE)
        return words;
    gd_ptx_token_position(module, module->instructions[launch->kernel->cause].opcode, &line,
                          &column);
    snprintf(words.text + used, sizeof words.text - (size_t)used,
             ", for it comes from line %" PRId32, line);
    return words;
}

/* Whether one of two launches may write a variable of its module that the other one uses: by its
 * name, or where the address of one is known outside, by any address that cannot be traced. */
static bool share_variables(const gd_checked_launch *own, const gd_checked_launch *other,
                            bool only_dry)
{
    const gd_parameter_use *a = &own->variables, *b = &other->variables;
    const bool same = own->kernel && other->kernel && own->kernel->module == other->kernel->module;
    const bool read = only_dry ? a->dry_read != GD_PTX_NONE : reads(a);
    const bool write = only_dry ? a->dry_write != GD_PTX_NONE : writes(a);
    bool shared = same && ((writes(b) && (read || write)) || (reads(b) && write));

    if (own->kernel && own->kernel->exposes)
        shared |= (gd_order_writes_anywhere(other) && (read || write)) ||
                  (reads_anywhere(other) && write);
    if (!only_dry && other->kernel && other->kernel->exposes)
        shared |= (writes(b) && (reads_anywhere(own) || gd_order_writes_anywhere(own))) ||
                  (reads(b) && gd_order_writes_anywhere(own));
    return shared;
}

bool gd_order_share_variables(const gd_checked_launch *own, const gd_checked_launch *other)
{
    return own->kernel && other->kernel && own->kernel->module == other->kernel->module &&
           share_variables(own, other, false);
}

#define REACH_HINT "move the wait in front of it, or state what that launch reaches"

/* An access by name before the wait, or by a stated reach, and what an earlier launch does nobody
 * knows where. */
static bool check_early_use(gd_checked_chain *chain, uint32_t index, uint32_t other,
                            uint32_t argument)
{
    const gd_checked_launch *launch = &chain->launches[index], *earlier = &chain->launches[other];
    const gd_parameter_use *use = use_of(launch, argument);
    const bool written = gd_order_writes_anywhere(earlier);
    const uint32_t at = written                   ? dry_access(use)
                        : reads_anywhere(earlier) ? use->dry_write
                                                  : GD_PTX_NONE;

    if (at == GD_PTX_NONE || !is_exposed(launch, argument))
        return false;
    gd_order_add(chain, index, 0, GD112, at, REACH_HINT,
                 "%s touches %s before its wait, and launch %" PRIu32 " (%s) may still %s it: %s",
                 launch->kernel_name, gd_order_parameter_name(launch, argument), other,
                 earlier->name, written ? "write" : "read", describe_reach(earlier).text);
    return true;
}

static bool check_early(gd_checked_chain *chain, uint32_t index, uint32_t other)
{
    const gd_checked_launch *launch = &chain->launches[index];
    bool found = false;

    for (uint32_t i = 0; i < launch->kernel->use_count && !found; i++)
        found = check_early_use(chain, index, other, i);
    for (uint32_t i = 0; i < launch->given.reach_count && !found; i++)
        found = check_early_use(chain, index, other, GD_REACH | i);
    return found;
}

static void check_early_variable(gd_checked_chain *chain, uint32_t index, uint32_t other)
{
    const gd_checked_launch *launch = &chain->launches[index], *earlier = &chain->launches[other];

    if (share_variables(launch, earlier, true))
        gd_order_add(chain, index, 0, GD112, dry_access(&launch->variables), WAIT_HINT,
                     "%s touches a variable of its module before its wait, and launch %" PRIu32
                     " (%s) may still use it%s%s",
                     launch->kernel_name, other, earlier->name,
                     reads_anywhere(earlier) || gd_order_writes_anywhere(earlier) ? ": " : "",
                     reads_anywhere(earlier) || gd_order_writes_anywhere(earlier)
                         ? describe_reach(earlier).text
                         : "");
}

/* The same of what a launch reaches before its wait nobody knows where. That an argument leads
 * there is said here; of addresses that cannot be traced check_unknown tells once. */
static bool check_early_anywhere(gd_checked_chain *chain, uint32_t index, uint32_t other)
{
    const gd_checked_launch *launch = &chain->launches[index], *earlier = &chain->launches[other];
    const uint32_t at = dry_access(&launch->anywhere);

    if (at == GD_PTX_NONE || !touches_any(earlier, launch->anywhere.dry_write == GD_PTX_NONE))
        return false;
    if (launch->leads == GD_PTX_NONE && launch->given.variables_exposed &&
        dry_access(&launch->variables) != GD_PTX_NONE) {
        gd_order_add(chain, index, 0, GD112, dry_access(&launch->variables), WAIT_HINT,
                     "%s touches a variable of its module before its wait, whose address the "
                     "program has asked for, and launch %" PRIu32 " (%s) may still use it",
                     launch->kernel_name, other, earlier->name);
        return true;
    }
    if (launch->leads == GD_PTX_NONE)
        return false;
    gd_order_add(chain, index, 0, GD112, at, WAIT_HINT,
                 "%s touches memory before its wait that %s leads to, and launch %" PRIu32
                 " (%s) may still %s it: no argument says what memory that is",
                 launch->kernel_name, gd_order_parameter_name(launch, launch->leads), other,
                 earlier->name, touches_any(earlier, true) ? "write" : "read");
    return true;
}

static void check_behind(gd_checked_chain *chain, uint32_t index, uint32_t other, uint32_t between)
{
    const gd_checked_launch *launch = &chain->launches[index], *earlier = &chain->launches[other];
    const bool variables = share_variables(launch, earlier, false);
    const bool reader = variables ||
                        (gd_order_writes_anywhere(earlier) && touches_any(launch, false)) ||
                        (reads_anywhere(launch) && touches_any(earlier, true));
    const bool writer = (reads_anywhere(earlier) && touches_any(launch, true)) ||
                        (gd_order_writes_anywhere(launch) && touches_any(earlier, false));

    /* Of unknown code that is forced GD205 is told. */
    if ((!reader && !writer) ||
        (!launch->kernel && !(launch->given.traits & GRIDDEP_TRAIT_WAITS_ALWAYS)))
        return;
    const bool theirs = gd_order_writes_anywhere(earlier) || reads_anywhere(earlier);
    const reach_words reach = variables ? (reach_words){"it is a variable of their module"}
                                        : describe_reach(theirs ? earlier : launch);
    if (reader)
        gd_order_add(chain, index, GRIDDEP_SEVERITY_WARNING, GD201, GD_PTX_NONE, BETWEEN_HINT,
                     "%s may touch what launch %" PRIu32 " (%s) writes, and launch %" PRIu32
                     " (%s) between them does not wait on every path: %s",
                     launch->kernel_name, other, earlier->name, between,
                     chain->launches[between].name, reach.text);
    else
        gd_order_add(chain, index, GRIDDEP_SEVERITY_WARNING, GD202, GD_PTX_NONE, BETWEEN_HINT,
                     "%s may write what launch %" PRIu32 " (%s) reads, and launch %" PRIu32
                     " (%s) between them does not wait on every path: %s",
                     launch->kernel_name, other, earlier->name, between,
                     chain->launches[between].name, reach.text);
}

/* An access before the wait whose address cannot be traced, where some launch may still run: told
 * once, whatever that launch does. */
static void check_untraced(gd_checked_chain *chain, uint32_t index)
{
    gd_checked_launch *launch = &chain->launches[index];
    const gd_order_kernel *kernel = launch->kernel;

    if (launch->told || !kernel || !kernel->report.has_wait || launch->given.reach_stated ||
        kernel->dry_unknown == GD_PTX_NONE)
        return;
    launch->told = true;
    gd_order_add(chain, index, 0, GD112, kernel->dry_unknown, WAIT_HINT,
                 "%s, on a path that has not executed griddepcontrol.wait",
                 kernel->dry_unknown_words.text);
}

void gd_order_check_anywhere(gd_checked_chain *chain, uint32_t index, uint32_t other,
                             uint32_t between, bool behind_wait)
{
    const gd_checked_launch *launch = &chain->launches[index];

    if (!behind_wait)
        check_untraced(chain, index);
    if (behind_wait)
        check_behind(chain, index, other, between);
    else if (launch->kernel && launch->kernel->report.has_wait &&
             !check_early_anywhere(chain, index, other) && !check_early(chain, index, other))
        check_early_variable(chain, index, other);
}

/* Without a wait all that a launch does is early. */
static void check_without_wait(gd_checked_chain *chain, uint32_t index)
{
    const gd_checked_launch *launch = &chain->launches[index];

    for (uint32_t i = index; i-- > launch->before;) {
        const gd_checked_launch *other = &chain->launches[i];
        if (other->given.lane != launch->given.lane)
            continue;
        if (launch->kernel && !share_variables(launch, other, false) &&
            !(gd_order_writes_anywhere(other) && touches_any(launch, false)) &&
            !(reads_anywhere(other) && touches_any(launch, true)) &&
            !(reads_anywhere(launch) && touches_any(other, true)) &&
            !(gd_order_writes_anywhere(launch) && touches_any(other, false)))
            continue;
        gd_order_add(chain, index, GRIDDEP_SEVERITY_WARNING, GD205, GD_PTX_NONE,
                     "insert a wait (griddep rewrite), or do not force the launch",
                     launch->kernel
                         ? "%s is launched dependently without a wait; that it shares nothing with "
                           "launch %" PRIu32 " (%s) cannot be shown"
                         : "%s is launched dependently and its code is not known; that it waits "
                           "before it touches what launch %" PRIu32 " (%s) touches cannot be shown",
                     launch->kernel_name, i, other->name);
        return;
    }
}

static void check_unknown(gd_checked_chain *chain, uint32_t index, bool hazard)
{
    const gd_checked_launch *launch = &chain->launches[index];
    const gd_order_kernel *kernel = launch->kernel;

    if (!launch->overlaps || (kernel && !chain->loose))
        return;
    for (uint32_t i = launch->after_end; i-- > launch->after;) {
        if (chain->launches[i].given.lane == launch->given.lane)
            gd_order_check_anywhere(chain, index, i, launch->previous, true);
    }
    if (kernel && kernel->report.has_wait) {
        for (uint32_t i = index; i-- > launch->before;) {
            if (chain->launches[i].given.lane == launch->given.lane)
                gd_order_check_anywhere(chain, index, i, launch->previous, false);
        }
        return;
    }
    /* Of code without PTX whoever states that it waits, or its machine code, vouches. */
    if (!hazard && (kernel || !(launch->given.traits & GRIDDEP_TRAIT_WAITS_ALWAYS)))
        check_without_wait(chain, index);
}

/* ---- declarations ---- */

/* Whether a launch is said to write something beside its arguments. */
static bool reach_writes(const gd_checked_launch *launch)
{
    bool found = false;

    for (uint32_t i = 0; i < launch->given.reach_count; i++)
        found |= launch->given.reaches[i].access == GRIDDEP_ACCESS_WRITE ||
                 launch->given.reaches[i].access == GRIDDEP_ACCESS_UPDATE;
    return found;
}

static void check_declaration(gd_checked_chain *chain, const gd_buffer_use *use)
{
    const gd_checked_launch *launch = &chain->launches[use->launch];
    const gd_parameter_use *found = use_of(launch, use->argument);
    int32_t access = given_of(launch, use->argument)->access;

    if (access == GRIDDEP_ACCESS_READ && found && found->write != GD_PTX_NONE &&
        !(use->argument & GD_REACH && reach_writes(launch)))
        gd_order_add(chain, use->launch, 0, GD210, found->write,
                     "declare the argument write or update",
                     "%s writes %s, which the chain declares read", launch->kernel_name,
                     gd_order_parameter_name(launch, use->argument));
}

/* Writers of what another use of the part [first, end) declares constant. */
static void check_constants(gd_checked_chain *chain, uint32_t first, uint32_t end)
{
    bool some = false;

    for (uint32_t i = first; i < end; i++)
        some |= chain->uses[i].constant;
    for (uint32_t w = first; w < end && some; w++) {
        const gd_buffer_use *writer = &chain->uses[w];
        const gd_checked_launch *launch = &chain->launches[writer->launch];
        const gd_parameter_use *use = use_of(launch, writer->argument);
        for (uint32_t c = first; c < end && writer->writes; c++) {
            const gd_buffer_use *constant = &chain->uses[c];
            if (!constant->constant || !gd_order_meet(writer, constant))
                continue;
            const char *words;
            const int32_t weight = weigh_meeting(writer, constant, &words);
            gd_order_add(chain, writer->launch, weight, GD209, use ? use->write : GD_PTX_NONE,
                         "declare the argument read, or write elsewhere",
                         "%s writes %s, which launch %" PRIu32 " (%s) declares constant%s",
                         launch->kernel_name, gd_order_parameter_name(launch, writer->argument),
                         constant->launch, chain->launches[constant->launch].name, words);
            break;
        }
    }
}

static void check_buffers(gd_checked_chain *chain)
{
    for (uint32_t first = 0, end; first < chain->use_count; first = end) {
        for (end = first;
             end < chain->use_count && chain->uses[end].part == chain->uses[first].part; end++)
            check_declaration(chain, &chain->uses[end]);
        check_constants(chain, first, end);
    }
}

/* ---- all ---- */

/* Whether a launch reaches memory that no argument names. */
static bool is_loose(const gd_checked_launch *launch)
{
    const gd_order_kernel *kernel = launch->kernel;

    return reads_anywhere(launch) || gd_order_writes_anywhere(launch) ||
           reads(&launch->variables) || writes(&launch->variables) ||
           (kernel && (kernel->exposes || kernel->dry_unknown != GD_PTX_NONE));
}

void gd_order_check_hazards(gd_checked_chain *chain)
{
    for (uint32_t i = 0; i < chain->count; i++)
        chain->loose |= is_loose(&chain->launches[i]);
    for (uint32_t i = 0; i < chain->use_count; i++) {
        gd_checked_launch *launch = &chain->launches[chain->uses[i].launch];
        if (!launch->overlaps)
            continue;
        const uint32_t lane = launch->given.lane;
        const gd_launch_stretch before = {lane, launch->before, chain->uses[i].launch, NULL},
                                behind = {lane, launch->after, launch->after_end, NULL};
        launch->hazard |= gd_order_look_back(chain, i, &before, launch->previous, false);
        if (launch->after < launch->after_end)
            gd_order_look_back(chain, i, &behind, launch->previous, true);
    }
    for (uint32_t i = 0; i < chain->count; i++)
        check_unknown(chain, i, chain->launches[i].hazard);
    check_buffers(chain);
}

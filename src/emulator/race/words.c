/* What is said about a race: both accesses, and the order that is missing between them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emulator/race/core.h"

enum { TEXT_BYTES = 1280, PART_BYTES = 160 };

/* One side of a race. */
typedef struct party {
    const gd_race *race;
    const gd_entry_record *entry;
    uint32_t lane;
    const gd_desc *desc; /* NULL: it has been forgotten */
    char who[PART_BYTES];
    const char *verb; /* "reads" */
} party;

/* What is said, with room for memory, both sides and two more kernels. */
typedef struct words {
    const gd_race *race;
    gd_race_finding finding;
    gd_race_named names[5];
    char named[5][PART_BYTES], memory[PART_BYTES], text[TEXT_BYTES], missing[TEXT_BYTES];
} words;

#define TELL(...) snprintf(to->text, TEXT_BYTES, __VA_ARGS__)
#define LACK(...) snprintf(to->missing, TEXT_BYTES, __VA_ARGS__)

/* ---- parts of sentences ---- */

static void add_name(words *to, gd_race_named name, const char *text)
{
    char *kept = to->named[to->finding.name_count];

    snprintf(kept, PART_BYTES, "%s", text);
    name.text = kept;
    to->names[to->finding.name_count++] = name;
}

/* Where there are several devices, with the one that it ran on. */
static void name_task(words *to, char *text, gd_action action, const char *kernel, uint64_t launch,
                      uint32_t device)
{
    static const char *const names[] = {[GD_ACTION_COPY] = "a copy",
                                        [GD_ACTION_FILL] = "a fill",
                                        [GD_ACTION_HOST] = "a host function",
                                        [GD_ACTION_FREE] = "the free",
                                        [GD_ACTION_CONDITIONAL] = "a conditional node",
                                        [GD_ACTION_ALLOCATE] = "the allocation"};

    if (action < GD_ACTION_COPY)
        snprintf(text, PART_BYTES, "kernel %.80s (launch %" PRIu64 ")", kernel ? kernel : "?",
                 launch);
    else
        snprintf(text, PART_BYTES, "%s", names[action]);
    if (action < GD_ACTION_COPY && kernel)
        add_name(to, (gd_race_named){.kernel = kernel, .launch = launch}, text);
    const size_t used = strlen(text);
    if (to->race->options.several)
        snprintf(text + used, PART_BYTES - used, " on device %" PRIu32, device);
}

static void name_memory(words *to, const gd_shadow *shadow)
{
    if (shadow->shared)
        snprintf(to->memory, PART_BYTES, "shared memory");
    else if (shadow->name)
        snprintf(to->memory, PART_BYTES, "variable %.120s", shadow->name);
    else
        snprintf(to->memory, PART_BYTES, "allocation 0x%" PRIx64, shadow->start);
    if (!shadow->shared && !shadow->name)
        add_name(to, (gd_race_named){.start = shadow->start}, to->memory);
}

static const char *verb_of(const gd_entry_record *entry)
{
    if (entry->action == GD_ACTION_ATOMIC)
        return "updates";
    if (entry->action == GD_ACTION_FREE)
        return "frees";
    return entry->writes ? "writes" : "reads";
}

static void find_party(words *to, uint32_t ref, party *out)
{
    out->race = to->race;
    out->entry = &to->race->entries[ref >> 5];
    out->lane = ref & 31;
    out->desc = gd_desc_find(to->race, out->entry->task);
    out->verb = verb_of(out->entry);
    name_task(to, out->who, out->desc ? out->desc->info.action : GD_ACTION_READ,
              out->desc ? out->desc->info.kernel : NULL, out->desc ? out->desc->info.launch : 0,
              out->entry->device);
}

static void describe_access(const gd_race *race, uint32_t ref, gd_race_access *out)
{
    const gd_entry_record *entry = &race->entries[ref >> 5];
    const gd_desc *desc = gd_desc_find(race, entry->task);
    const gd_race_site *site =
        entry->site && entry->site < race->site_count ? &race->sites[entry->site].site : NULL;

    *out = (gd_race_access){.action = (gd_action)entry->action,
                            .device = entry->device,
                            .writes = entry->writes,
                            .bytes = entry->bytes};
    if (site) {
        out->kernel = site->kernel;
        out->module = site->module;
        out->line = site->line;
        out->column = site->column;
        out->instruction = site->instruction;
    }
    if (!desc)
        return;
    out->kernel = desc->info.kernel ? desc->info.kernel : out->kernel;
    out->launch = desc->info.launch;
    if (!entry->uid)
        return;
    const uint32_t *grid = desc->info.grid, *block = desc->info.block;
    const uint32_t thread = entry->warp * (uint32_t)GD_RACE_LANES + (ref & 31);
    for (int i = 0; i < 3; i++) {
        uint64_t above = i == 0 ? 1 : i == 1 ? grid[0] : (uint64_t)grid[0] * grid[1];
        uint64_t above_thread = i == 0 ? 1 : i == 1 ? block[0] : (uint64_t)block[0] * block[1];
        out->cta[i] = above && grid[i] ? (uint32_t)(entry->cta / above % grid[i]) : 0;
        out->thread[i] =
            above_thread && block[i] ? (uint32_t)(thread / above_thread % block[i]) : 0;
    }
}

/* ---- threads of one CTA ---- */

/* Whether the thread that issued a copy has waited for it. */
static bool was_waited_for(const party *copy)
{
    const gd_entry_record *entry = copy->entry;
    const gd_race_cta *cta = copy->race->ctas;

    while (cta && cta->uid != entry->uid)
        cta = cta->next;
    if (!cta || entry->agent == GD_AGENT_NONE)
        return false;
    const gd_thread *thread = gd_thread_of(cta, entry->warp, copy->lane);
    return entry->agent == GD_AGENT_GROUP
               ? entry->stamp <= thread->done
               : entry->stamp <=
                     gd_stamps_agent(thread->clock ? thread->clock->stamps : NULL, entry->agent);
}

/* Whether the instruction is of a kind that some word of it tells. */
static bool is_by(const party *copy, const char *word)
{
    const gd_race *race = copy->race;
    const uint32_t site = copy->entry->site;
    const char *text = site < race->site_count ? race->sites[site].site.instruction : NULL;

    return text && strstr(text, word);
}

/* What wgmma reads goes on until its group has been waited for. */
static void say_product(const party *product, const party *other, words *to)
{
    const bool waited = was_waited_for(product);

    TELL("%s %s %s that its wgmma reads, %s", other->who, other->verb, to->memory,
         waited ? "in a thread that nothing orders behind the wait for the group"
                : "before the group's completion was waited for");
    LACK("%s", waited ? "a barrier between wgmma.wait_group and the other thread's access"
                      : "wgmma.wait_group for the group, before what tells the other thread that "
                        "the memory is free");
}

static bool say_async(const party *first, const party *second, words *to)
{
    const party *copy = first->entry->async ? first : second,
                *other = copy == first ? second : first;

    if (!copy->entry->async)
        return false;
    if (first->entry->async && is_by(first, "wgmma")) {
        say_product(first, second, to);
        return true;
    }
    const bool waited = was_waited_for(copy);
    TELL("%s %s %s that its asynchronous copy %s, %s", other->who, other->verb, to->memory,
         copy->verb,
         waited ? "in a thread that nothing orders behind the wait for the copy"
                : "before the copy's completion was waited for");
    if (waited)
        LACK("a barrier between the wait for the copy and the other thread's access");
    else if (copy->entry->agent == GD_AGENT_GROUP)
        LACK("a wait for the copy's group (%s), and a barrier where another thread had copied",
             is_by(copy, "async.bulk") ? "cp.async.bulk.wait_group" : "cp.async.wait_group");
    else
        LACK("a wait for the mbarrier, or the group, on which the copy completes");
    return true;
}

static void say_cta(const party *first, const party *second, words *to)
{
    if (say_async(first, second, to))
        return;
    const bool warp = first->entry->warp == second->entry->warp;
    const bool strong = first->entry->strong && second->entry->strong;

    TELL("%s: %s of a %s %s and %s %s with nothing between that orders them%s", second->who,
         warp ? "lanes" : "threads", warp ? "warp" : "CTA", first->entry->writes ? "write" : "read",
         second->entry->writes ? "write" : "read", to->memory,
         strong ? "; their scopes do not include each other" : "");
    LACK("%s",
         warp ? "bar.warp.sync between the two accesses" : "a barrier between the two accesses");
}

static bool includes(const gd_race *race, const gd_outside *outside, const party *access);

/* Whether a thread of the CTA that acts now has read what an access was released to, and has not
 * acquired it since with a scope that reaches so far. */
static bool was_read(const party *access, const party *actor)
{
    const gd_race *race = access->race;
    const gd_race_cta *cta = race->ctas;

    while (cta && cta->uid != actor->entry->uid)
        cta = cta->next;
    for (uint32_t warp = 0; cta && warp < cta->warp_count; warp++) {
        const gd_thread_sync *sync = cta->warps[warp].sync;
        for (uint32_t lane = 0; sync && lane < GD_RACE_LANES; lane++) {
            if (includes(race, sync[lane].pending[GD_LEVEL_GPU], access))
                return true;
        }
    }
    return false;
}

/* Whether both are CTAs of one cluster. */
static bool share_cluster(const party *first, const party *second)
{
    const gd_desc *desc = second->desc;
    uint64_t clusters[2];

    if (!desc || first->entry->task != second->entry->task)
        return false;
    for (int i = 0; i < 2; i++) {
        const uint32_t number = (i ? second : first)->entry->cta, *grid = desc->info.grid,
                       x = grid[0] ? grid[0] : 1, y = grid[1] ? grid[1] : 1;
        const uint32_t cta[3] = {number % x, number / x % y, number / x / y};
        clusters[i] = gd_desc_cluster(desc, cta);
    }
    return clusters[0] == clusters[1];
}

static void say_grid(const party *first, const party *second, words *to)
{
    const bool strong = first->entry->strong && second->entry->strong;
    const bool cluster = share_cluster(first, second);

    if (say_async(first, second, to))
        return;
    const bool narrow = !strong && was_read(first, second);
    TELL("%s: CTAs of one %s run in no order: one %s %s and another %s it%s", second->who,
         cluster ? "cluster" : "grid", first->verb, to->memory, second->verb,
         strong   ? " with a scope that does not include it"
         : narrow ? ", behind an acquire whose scope is too small"
                  : "");
    if (narrow)
        LACK("scope %s on the acquire, or the fence, behind the read of what the other CTA has "
             "released",
             cluster ? "cluster" : "gpu");
    else if (cluster && !strong)
        LACK("a barrier of the cluster (barrier.cluster.arrive, barrier.cluster.wait) between the "
             "two accesses");
    else if (strong)
        LACK("scope gpu on both accesses");
    else if (first->entry->strong || second->entry->strong)
        LACK("one access is strong and the other is not: make both so, or order them by release "
             "and acquire");
    else
        LACK("a release by the one and an acquire by the other of scope gpu (a fence before and "
             "behind a flag), or another kernel");
}

/* ---- tasks ---- */

static const gd_desc_dependency *find_dependency(const gd_desc *desc, uint32_t number)
{
    for (uint32_t i = 0; i < desc->dependency_count; i++) {
        if (desc->dependencies[i].number == number)
            return &desc->dependencies[i];
    }
    return NULL;
}

static const gd_desc_dependency *first_waited(const gd_desc *desc)
{
    for (uint32_t i = 0; i < desc->dependency_count; i++) {
        if (desc->dependencies[i].waited)
            return &desc->dependencies[i];
    }
    return NULL;
}

/* How the later task's access stands to its wait. */
static const char *describe_wait(const party *later)
{
    if (!later->desc->info.has_wait)
        return "and has no griddepcontrol.wait";
    if (later->desc->some_waited && !later->entry->waited)
        return "in a thread that has not executed griddepcontrol.wait";
    return "before its griddepcontrol.wait";
}

static void say_unwaited(const party *later, const party *earlier, words *to)
{
    TELL("%s %s %s %s; %s %s it", later->who, later->verb, to->memory, describe_wait(later),
         earlier->who, earlier->verb);
    LACK("griddepcontrol.wait in %s before this access, in each thread that makes it or before a "
         "barrier that it passes",
         later->who);
}

/* Of the grids that one waits for, and those wait for in turn, the first that has not waited: it is
 * the one that lacks the wait. */
static const gd_desc_dependency *find_culprit(const gd_race *race, const gd_desc_dependency *from)
{
    const gd_desc *desc = gd_desc_find(race, from->number);

    while (desc && desc->some_waited && first_waited(desc)) {
        from = first_waited(desc);
        desc = gd_desc_find(race, from->number);
    }
    return from;
}

/* Whether a task was to begin behind an earlier one, at any remove; so it is also where that is not
 * known any more, and beyond so many steps. */
static bool follows(const gd_race *race, uint32_t number, const gd_desc *earlier, uint32_t *steps)
{
    const gd_desc *desc = gd_desc_find(race, number);
    bool found = desc == earlier || !desc || !*steps;

    *steps -= !found;
    for (uint32_t i = 0; !found && desc->order > earlier->order && i < desc->dependency_count; i++)
        found = follows(race, desc->dependencies[i].number, earlier, steps);
    return found;
}

/* The wait was for another grid, which ended without having waited for this one. */
static void say_transitive(const party *later, const party *earlier,
                           const gd_desc_dependency *between, words *to)
{
    const gd_desc_dependency *culprit = find_culprit(later->race, between);
    const gd_desc *desc = gd_desc_find(later->race, culprit->number);
    char name[PART_BYTES], who[PART_BYTES];

    to->finding.culprit = culprit->kernel;
    to->finding.culprit_launch = culprit->launch;
    name_task(to, name, between->action, between->kernel, between->launch, later->entry->device);
    name_task(to, who, culprit->action, culprit->kernel, culprit->launch, later->entry->device);
    TELL("%s %s, and ended without waiting for %s; %s waits for %s only, and %s %s that %s %s", who,
         desc && desc->info.has_wait ? "has not executed its griddepcontrol.wait"
                                     : "has no griddepcontrol.wait",
         earlier->who, later->who, name, later->verb, to->memory, earlier->who, earlier->verb);
    LACK("griddepcontrol.wait in %s, or a launch of %s without programmatic serialization", who,
         later->who);
}

static void say_port(const party *later, const party *earlier, const gd_desc_dependency *edge,
                     words *to)
{
    TELL("%s %s %s; %s %s it, and the edge between them is for %s, which orders no memory",
         later->who, later->verb, to->memory, earlier->who, earlier->verb,
         edge->port == GD_RACE_LAUNCH ? "the beginning of its CTAs (launch order)" : "its trigger");
    LACK("an edge for the completion of %s%s", earlier->who,
         edge->port == GD_RACE_LAUNCH
             ? ""
             : ", or a release fence of scope gpu before its launch_dependents");
}

/* Nodes of one graph have the stream of its launch. */
static void say_streams(const party *later, const party *earlier, words *to)
{
    const uint64_t first = earlier->desc->info.stream, second = later->desc->info.stream;
    char where[PART_BYTES] = "nodes of one graph";

    if (first != second)
        snprintf(where, sizeof where, "stream %" PRIu64 " and stream %" PRIu64, first, second);
    TELL("%s %s %s and %s %s it; nothing orders the two (%s)", earlier->who, earlier->verb,
         to->memory, later->who, later->verb, where);
    LACK("%s between %s and %s",
         first == second ? "an edge of the graph" : "an event, or a synchronization of the host,",
         earlier->who, later->who);
}

/* The parties in the order in which their tasks were handed in. */
static void say_tasks(const party *later, const party *earlier, words *to)
{
    const gd_desc_dependency *edge = find_dependency(later->desc, earlier->desc->number);
    const gd_desc_dependency *waited = first_waited(later->desc);
    uint32_t steps = 1000;

    if (edge && edge->waited)
        say_unwaited(later, earlier, to);
    else if (edge && edge->port != GD_RACE_COMPLETE)
        say_port(later, earlier, edge, to);
    else if (!waited || !follows(later->race, waited->number, earlier->desc, &steps))
        say_streams(later, earlier, to);
    else if (later->entry->waited)
        say_transitive(later, earlier, waited, to);
    else
        say_unwaited(later, earlier, to);
}

/* ---- devices ---- */

/* Whether what is known here includes an access of a kernel. */
static bool includes(const gd_race *race, const gd_outside *outside, const party *access)
{
    const gd_entry_record *entry = access->entry;
    const gd_parts *part = outside ? gd_outside_find(outside, entry->uid) : NULL;

    return outside &&
           (gd_known_has(race, outside->known, entry->task) ||
            (part && entry->stamp <=
                         gd_stamps_of(part->stamps, entry->warp * GD_RACE_LANES + access->lane)));
}

/* Whether an access has been released with scope sys to a variable, which who acts now may have
 * read. */
static bool was_released(const party *access, const party *actor)
{
    const gd_race *race = access->race;
    const gd_race_cta *cta = race->ctas;

    while (cta && cta->uid != actor->entry->uid)
        cta = cta->next;
    const gd_thread_sync *sync = cta ? cta->warps[actor->entry->warp].sync : NULL;
    if (sync && includes(race, sync[actor->lane].pending[GD_LEVEL_SYS], access))
        return true;
    for (uint32_t i = 0; i < race->sync_buckets; i++) {
        for (const gd_sync *at = race->syncs[i]; at; at = at->next) {
            for (const gd_sync_item *item = at->items; item; item = item->next) {
                if (item->level == GD_LEVEL_SYS && includes(race, item->outside, access))
                    return true;
            }
        }
    }
    return false;
}

/* Two kernels, in the order in which they accessed, of two devices. */
static void say_devices(const party *first, const party *second, words *to)
{
    const bool strong = first->entry->strong && second->entry->strong;
    const bool near = first->entry->scope != GD_SCOPE_SYS,
               far = second->entry->scope != GD_SCOPE_SYS;

    TELL("%s %s %s and %s %s it; %s", first->who, first->verb, to->memory, second->who,
         second->verb,
         strong ? "the scope of a strong access must be sys where two devices meet"
                : "nothing of scope sys orders the two");
    if (strong)
        LACK("scope sys on the access of %s%s%s", near ? first->who : second->who,
             near && far ? ", and on that of " : "", near && far ? second->who : "");
    else if (was_released(first, second))
        LACK("an acquire of scope sys in %s before its access: ld.acquire.sys of the flag, or "
             "fence.acq_rel.sys behind the read of it",
             second->who);
    else
        LACK("a release of scope sys in %s behind its access (st.release.sys of a flag, or "
             "fence.acq_rel.sys before it), and an acquire of scope sys in %s; or an event between "
             "the two",
             first->who, second->who);
}

static void say_proxy(const party *store, const party *copy, words *to)
{
    TELL("%s: a bulk copy reads %s that %s has stored without a fence.proxy.async behind it: the "
         "copy, which the async proxy carries out, may read what was there before",
         copy->who, to->memory,
         store->entry->warp == copy->entry->warp && store->lane == copy->lane
             ? "its thread"
             : "another thread of the CTA");
    LACK("fence.proxy.async in each thread that stores, behind the store and before the barrier "
         "that the copy is behind");
}

static void say_initialization(const party *init, const party *copy, words *to)
{
    TELL("%s: a bulk copy completes on an mbarrier that %s has initialized without a fence behind "
         "it: the copy, which the async proxy carries out, may meet what was there before",
         copy->who,
         init->entry->warp == copy->entry->warp && init->lane == copy->lane
             ? "its thread"
             : "another thread of the CTA");
    LACK("fence.mbarrier_init.release.cluster, or fence.proxy.async, in the thread that "
         "initializes, behind mbarrier.init and before the barrier that the copy is behind");
}

/* Memory is used where nothing orders that behind its allocation. */
static void say_allocation(const party *allocation, const party *user, words *to)
{
    char where[PART_BYTES] = "";

    if (allocation->desc && user->desc)
        snprintf(where, sizeof where, " (stream %" PRIu64 " and stream %" PRIu64 ")",
                 allocation->desc->info.stream, user->desc->info.stream);
    TELL("%s %s %s, and nothing orders it behind the allocation%s", user->who, user->verb,
         to->memory, where);
    LACK("an event, or a synchronization of the host, between the allocation (cuMemAllocAsync) and "
         "%s",
         user->who);
}

/* ---- the finding ---- */

static void say(const gd_conflict *conflict, words *to)
{
    party first, second;

    find_party(to, conflict->second, &second);
    if (conflict->kind == GD_RACE_UNINITIALIZED) {
        TELL("%s reads %s where nothing has been written", second.who, to->memory);
        LACK("a write of these bytes before the read");
        return;
    }
    find_party(to, conflict->first, &first);
    if (conflict->initialization)
        say_initialization(&first, &second, to);
    else if (conflict->proxy)
        say_proxy(&first, &second, to);
    else if (first.entry->action == GD_ACTION_ALLOCATE)
        say_allocation(&first, &second, to);
    else if (first.entry->uid && first.entry->uid == second.entry->uid)
        say_cta(&first, &second, to);
    else if (first.entry->task == second.entry->task)
        say_grid(&first, &second, to);
    else if (first.entry->device != second.entry->device && first.entry->uid && second.entry->uid)
        say_devices(&first, &second, to);
    else if (!first.desc || !second.desc)
        TELL("%s %s %s, which another task %s", second.who, second.verb, to->memory, first.verb);
    else if (first.desc->order < second.desc->order)
        say_tasks(&second, &first, to);
    else
        say_tasks(&first, &second, to);
}

void gd_race_tell(gd_race *race, const gd_conflict *conflict)
{
    const gd_shadow *shadow = conflict->shadow;
    const uint32_t first = conflict->first ? race->entries[conflict->first >> 5].site : 0,
                   second = race->entries[conflict->second >> 5].site;

    if (!race->options.sink ||
        (race->options.fold &&
         race->options.fold(race->options.context, conflict->kind, first, second)))
        return;
    words to = {.race = race,
                .finding = {.kind = conflict->kind,
                            .first_site = first,
                            .second_site = second,
                            .start = shadow->shared ? 0 : shadow->start,
                            .bytes = shadow->bytes,
                            .offset = conflict->offset,
                            .name = shadow->name,
                            .text = to.text,
                            .missing = to.missing,
                            .names = to.names}};
    name_memory(&to, shadow);
    say(conflict, &to);
    if (conflict->first)
        describe_access(race, conflict->first, &to.finding.first);
    describe_access(race, conflict->second, &to.finding.second);
    race->options.sink(race->options.context, &to.finding);
}

/* What is said about a race: both accesses, and the order that is missing between them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "emulator/race/core.h"

enum { TEXT_BYTES = 1024, PART_BYTES = 160 };

/* One side of a race. */
typedef struct party {
    const gd_race *race;
    const gd_entry_record *entry;
    uint32_t lane;
    const gd_desc *desc; /* NULL: it has been forgotten */
    char who[PART_BYTES];
    const char *verb; /* "reads" */
} party;

/* ---- parts of sentences ---- */

static void name_task(char *text, gd_action action, const char *kernel, uint64_t launch)
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
}

static void name_memory(char *text, const gd_shadow *shadow)
{
    if (shadow->shared)
        snprintf(text, PART_BYTES, "shared memory");
    else if (shadow->name)
        snprintf(text, PART_BYTES, "variable %.120s", shadow->name);
    else
        snprintf(text, PART_BYTES, "allocation 0x%" PRIx64, shadow->start);
}

static const char *verb_of(const gd_entry_record *entry)
{
    if (entry->action == GD_ACTION_ATOMIC)
        return "updates";
    if (entry->action == GD_ACTION_FREE)
        return "frees";
    return entry->writes ? "writes" : "reads";
}

/* Where there are several devices, which one it ran on. */
static void name_device(const gd_race *race, char *text, uint32_t device)
{
    const size_t used = strlen(text);

    if (race->options.several)
        snprintf(text + used, PART_BYTES - used, " on device %" PRIu32, device);
}

static void find_party(const gd_race *race, uint32_t ref, party *out)
{
    out->race = race;
    out->entry = &race->entries[ref >> 5];
    out->lane = ref & 31;
    out->desc = gd_desc_find(race, out->entry->task);
    out->verb = verb_of(out->entry);
    name_task(out->who, out->desc ? out->desc->info.action : GD_ACTION_READ,
              out->desc ? out->desc->info.kernel : NULL, out->desc ? out->desc->info.launch : 0);
    name_device(race, out->who, out->entry->device);
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
static void say_product(const party *product, const party *other, const char *memory, char *text,
                        char *missing)
{
    const bool waited = was_waited_for(product);

    snprintf(text, TEXT_BYTES, "%s %s %s that its wgmma reads, %s", other->who, other->verb, memory,
             waited ? "in a thread that nothing orders behind the wait for the group"
                    : "before the group's completion was waited for");
    snprintf(missing, TEXT_BYTES, "%s",
             waited ? "a barrier between wgmma.wait_group and the other thread's access"
                    : "wgmma.wait_group for the group, before what tells the other thread that the "
                      "memory is free");
}

static bool say_async(const party *first, const party *second, const char *memory, char *text,
                      char *missing)
{
    const party *copy = first->entry->async ? first : second,
                *other = copy == first ? second : first;

    if (!copy->entry->async)
        return false;
    if (first->entry->async && is_by(first, "wgmma")) {
        say_product(first, second, memory, text, missing);
        return true;
    }
    const bool waited = was_waited_for(copy);
    snprintf(text, TEXT_BYTES, "%s %s %s that its asynchronous copy %s, %s", other->who,
             other->verb, memory, copy->verb,
             waited ? "in a thread that nothing orders behind the wait for the copy"
                    : "before the copy's completion was waited for");
    if (waited)
        snprintf(missing, TEXT_BYTES,
                 "a barrier between the wait for the copy and the other thread's access");
    else if (copy->entry->agent == GD_AGENT_GROUP)
        snprintf(missing, TEXT_BYTES,
                 "a wait for the copy's group (%s), and a barrier where another thread had copied",
                 is_by(copy, "async.bulk") ? "cp.async.bulk.wait_group" : "cp.async.wait_group");
    else
        snprintf(missing, TEXT_BYTES,
                 "a wait for the mbarrier, or the group, on which the copy completes");
    return true;
}

static void say_cta(const party *first, const party *second, const char *memory, char *text,
                    char *missing)
{
    if (say_async(first, second, memory, text, missing))
        return;
    const bool warp = first->entry->warp == second->entry->warp;
    const bool strong = first->entry->strong && second->entry->strong;

    snprintf(text, TEXT_BYTES,
             "%s: %s of a %s %s and %s %s with nothing between that orders them%s", second->who,
             warp ? "lanes" : "threads", warp ? "warp" : "CTA",
             first->entry->writes ? "write" : "read", second->entry->writes ? "write" : "read",
             memory, strong ? "; their scopes do not include each other" : "");
    snprintf(missing, TEXT_BYTES, "%s",
             warp ? "bar.warp.sync between the two accesses"
                  : "a barrier between the two accesses");
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

static void say_grid(const party *first, const party *second, const char *memory, char *text,
                     char *missing)
{
    const bool strong = first->entry->strong && second->entry->strong;
    const bool cluster = share_cluster(first, second);

    if (say_async(first, second, memory, text, missing))
        return;
    const bool narrow = !strong && was_read(first, second);
    snprintf(text, TEXT_BYTES, "%s: CTAs of one %s run in no order: one %s %s and another %s it%s",
             second->who, cluster ? "cluster" : "grid", first->verb, memory, second->verb,
             strong   ? " with a scope that does not include it"
             : narrow ? ", behind an acquire whose scope is too small"
                      : "");
    if (narrow)
        snprintf(missing, TEXT_BYTES,
                 "scope %s on the acquire, or the fence, behind the read of what the other CTA has "
                 "released",
                 cluster ? "cluster" : "gpu");
    else if (cluster && !strong)
        snprintf(missing, TEXT_BYTES,
                 "a barrier of the cluster (barrier.cluster.arrive, barrier.cluster.wait) between "
                 "the two accesses");
    else if (strong)
        snprintf(missing, TEXT_BYTES, "scope gpu on both accesses");
    else if (first->entry->strong || second->entry->strong)
        snprintf(missing, TEXT_BYTES,
                 "one access is strong and the other is not: make both so, or order them by "
                 "release and acquire");
    else
        snprintf(missing, TEXT_BYTES,
                 "a release by the one and an acquire by the other of scope gpu (a fence before "
                 "and behind a flag), or "
                 "another kernel");
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

static void say_unwaited(const party *later, const party *earlier, const char *memory, char *text,
                         char *missing)
{
    snprintf(text, TEXT_BYTES, "%s %s %s %s; %s %s it", later->who, later->verb, memory,
             describe_wait(later), earlier->who, earlier->verb);
    snprintf(
        missing, TEXT_BYTES,
        "griddepcontrol.wait in %s before this access, in each thread that makes it or before a "
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

/* The wait was for another grid, which ended without having waited for this one. */
static void say_transitive(const party *later, const party *earlier,
                           const gd_desc_dependency *between, const char *memory,
                           gd_race_finding *finding, char *text, char *missing)
{
    const gd_desc_dependency *culprit = find_culprit(later->race, between);
    const gd_desc *desc = gd_desc_find(later->race, culprit->number);
    char name[PART_BYTES], who[PART_BYTES];

    finding->culprit = culprit->kernel;
    finding->culprit_launch = culprit->launch;
    name_task(name, between->action, between->kernel, between->launch);
    name_device(later->race, name, later->entry->device);
    name_task(who, culprit->action, culprit->kernel, culprit->launch);
    name_device(later->race, who, later->entry->device);
    snprintf(text, TEXT_BYTES,
             "%s %s, and ended without waiting for %s; %s waits for %s only, and %s %s that %s %s",
             who,
             desc && desc->info.has_wait ? "has not executed its griddepcontrol.wait"
                                         : "has no griddepcontrol.wait",
             earlier->who, later->who, name, later->verb, memory, earlier->who, earlier->verb);
    snprintf(missing, TEXT_BYTES,
             "griddepcontrol.wait in %s, or a launch of %s without programmatic serialization", who,
             later->who);
}

static void say_port(const party *later, const party *earlier, const gd_desc_dependency *edge,
                     const char *memory, char *text, char *missing)
{
    snprintf(text, TEXT_BYTES,
             "%s %s %s; %s %s it, and the edge between them is for %s, which orders no memory",
             later->who, later->verb, memory, earlier->who, earlier->verb,
             edge->port == GD_RACE_LAUNCH ? "the beginning of its CTAs (launch order)"
                                          : "its trigger");
    snprintf(missing, TEXT_BYTES, "an edge for the completion of %s%s", earlier->who,
             edge->port == GD_RACE_LAUNCH
                 ? ""
                 : ", or a release fence of scope gpu before its launch_dependents");
}

/* Nodes of one graph have the stream of its launch. */
static void say_streams(const party *later, const party *earlier, const char *memory, char *text,
                        char *missing)
{
    const uint64_t first = earlier->desc->info.stream, second = later->desc->info.stream;
    char where[PART_BYTES] = "nodes of one graph";

    if (first != second)
        snprintf(where, sizeof where, "stream %" PRIu64 " and stream %" PRIu64, first, second);
    snprintf(text, TEXT_BYTES, "%s %s %s and %s %s it; nothing orders the two (%s)", earlier->who,
             earlier->verb, memory, later->who, later->verb, where);
    snprintf(missing, TEXT_BYTES, "%s between %s and %s",
             first == second ? "an edge of the graph"
                             : "an event, or a synchronization of the host,",
             earlier->who, later->who);
}

/* The parties in the order in which their tasks were handed in. */
static void say_tasks(const party *later, const party *earlier, const char *memory,
                      gd_race_finding *finding, char *text, char *missing)
{
    const gd_desc_dependency *edge = find_dependency(later->desc, earlier->desc->number);
    const gd_desc_dependency *waited = first_waited(later->desc);

    if (edge && edge->waited)
        say_unwaited(later, earlier, memory, text, missing);
    else if (edge && edge->port != GD_RACE_COMPLETE)
        say_port(later, earlier, edge, memory, text, missing);
    else if (waited && later->entry->waited)
        say_transitive(later, earlier, waited, memory, finding, text, missing);
    else if (waited && later->desc->info.stream == earlier->desc->info.stream)
        say_unwaited(later, earlier, memory, text, missing);
    else
        say_streams(later, earlier, memory, text, missing);
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
static void say_devices(const party *first, const party *second, const char *memory, char *text,
                        char *missing)
{
    const bool strong = first->entry->strong && second->entry->strong;
    const bool near = first->entry->scope != GD_SCOPE_SYS,
               far = second->entry->scope != GD_SCOPE_SYS;

    snprintf(text, TEXT_BYTES, "%s %s %s and %s %s it; %s", first->who, first->verb, memory,
             second->who, second->verb,
             strong ? "the scope of a strong access must be sys where two devices meet"
                    : "nothing of scope sys orders the two");
    if (strong)
        snprintf(missing, TEXT_BYTES, "scope sys on the access of %s%s%s",
                 near ? first->who : second->who, near && far ? ", and on that of " : "",
                 near && far ? second->who : "");
    else if (was_released(first, second))
        snprintf(missing, TEXT_BYTES,
                 "an acquire of scope sys in %s before its access: ld.acquire.sys of the flag, or "
                 "fence.acq_rel.sys behind the read of it",
                 second->who);
    else
        snprintf(missing, TEXT_BYTES,
                 "a release of scope sys in %s behind its access (st.release.sys of a flag, or "
                 "fence.acq_rel.sys before it), and an acquire of scope sys in %s; or an event "
                 "between the two",
                 first->who, second->who);
}

static void say_proxy(const party *store, const party *copy, const char *memory, char *text,
                      char *missing)
{
    snprintf(
        text, TEXT_BYTES,
        "%s: a bulk copy reads %s that %s has stored without a fence.proxy.async behind it: the "
        "copy, which the async proxy carries out, may read what was there before",
        copy->who, memory,
        store->entry->warp == copy->entry->warp && store->lane == copy->lane
            ? "its thread"
            : "another thread of the CTA");
    snprintf(
        missing, TEXT_BYTES,
        "fence.proxy.async in each thread that stores, behind the store and before the barrier "
        "that the copy is behind");
}

static void say_initialization(const party *init, const party *copy, char *text, char *missing)
{
    snprintf(text, TEXT_BYTES,
             "%s: a bulk copy completes on an mbarrier that %s has initialized without a fence "
             "behind it: the copy, which the async proxy carries out, may meet what was there "
             "before",
             copy->who,
             init->entry->warp == copy->entry->warp && init->lane == copy->lane
                 ? "its thread"
                 : "another thread of the CTA");
    snprintf(missing, TEXT_BYTES,
             "fence.mbarrier_init.release.cluster, or fence.proxy.async, in the thread that "
             "initializes, behind mbarrier.init and before the barrier that the copy is behind");
}

/* Memory is used where nothing orders that behind its allocation. */
static void say_allocation(const party *allocation, const party *user, const char *memory,
                           char *text, char *missing)
{
    char where[PART_BYTES] = "";

    if (allocation->desc && user->desc)
        snprintf(where, sizeof where, " (stream %" PRIu64 " and stream %" PRIu64 ")",
                 allocation->desc->info.stream, user->desc->info.stream);
    snprintf(text, TEXT_BYTES, "%s %s %s, and nothing orders it behind the allocation%s", user->who,
             user->verb, memory, where);
    snprintf(missing, TEXT_BYTES,
             "an event, or a synchronization of the host, between the allocation (cuMemAllocAsync) "
             "and %s",
             user->who);
}

/* ---- the finding ---- */

static void say(const gd_race *race, const gd_conflict *conflict, const char *memory,
                gd_race_finding *finding, char *text, char *missing)
{
    party first, second;

    find_party(race, conflict->second, &second);
    if (conflict->kind == GD_RACE_UNINITIALIZED) {
        snprintf(text, TEXT_BYTES, "%s reads %s where nothing has been written", second.who,
                 memory);
        snprintf(missing, TEXT_BYTES, "a write of these bytes before the read");
        return;
    }
    find_party(race, conflict->first, &first);
    if (conflict->initialization)
        say_initialization(&first, &second, text, missing);
    else if (conflict->proxy)
        say_proxy(&first, &second, memory, text, missing);
    else if (first.entry->action == GD_ACTION_ALLOCATE)
        say_allocation(&first, &second, memory, text, missing);
    else if (first.entry->uid && first.entry->uid == second.entry->uid)
        say_cta(&first, &second, memory, text, missing);
    else if (first.entry->task == second.entry->task)
        say_grid(&first, &second, memory, text, missing);
    else if (first.entry->device != second.entry->device && first.entry->uid && second.entry->uid)
        say_devices(&first, &second, memory, text, missing);
    else if (!first.desc || !second.desc)
        snprintf(text, TEXT_BYTES, "%s %s %s, which another task %s", second.who, second.verb,
                 memory, first.verb);
    else if (first.desc->order < second.desc->order)
        say_tasks(&second, &first, memory, finding, text, missing);
    else
        say_tasks(&first, &second, memory, finding, text, missing);
}

void gd_race_tell(gd_race *race, const gd_conflict *conflict)
{
    char memory[PART_BYTES], text[TEXT_BYTES], missing[TEXT_BYTES] = "";
    gd_race_finding finding = {.kind = conflict->kind, .text = text, .missing = missing};

    finding.first_site = conflict->first ? race->entries[conflict->first >> 5].site : 0;
    finding.second_site = race->entries[conflict->second >> 5].site;
    if (!race->options.sink ||
        (race->options.fold && race->options.fold(race->options.context, finding.kind,
                                                  finding.first_site, finding.second_site)))
        return;
    name_memory(memory, conflict->shadow);
    say(race, conflict, memory, &finding, text, missing);
    if (conflict->first)
        describe_access(race, conflict->first, &finding.first);
    describe_access(race, conflict->second, &finding.second);
    finding.start = conflict->shadow->shared ? 0 : conflict->shadow->start;
    finding.bytes = conflict->shadow->bytes;
    finding.offset = conflict->offset;
    finding.name = conflict->shadow->name;
    race->options.sink(race->options.context, &finding);
}

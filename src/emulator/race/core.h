/* What the files of the race detector share. race.h says what it does.
 *
 * Knowledge. gd_known: which tasks happened before, an interval set over their numbers. gd_stamps:
 * up to which stamp each thread of one CTA did, and each of its asynchronous copies. gd_parts: the
 * stamps of other CTAs, a tree by their numbers whose unchanged branches are shared. gd_outside is
 * known tasks and parts together, gd_clock an outside and the stamps of the own CTA: what a thread
 * has. All are immutable while more than one holds them, and counted; NULL is the empty one. A join
 * that runs out of memory stops the detector.
 *
 * An outside also carries what fence.sc needs, to wherever knowledge goes: see race/sync.c. */
#ifndef GD_EMULATOR_RACE_CORE_H
#define GD_EMULATOR_RACE_CORE_H

#include "emulator/race/race.h"

enum { GD_RACE_LANES = 32, GD_RACE_WARPS = 32, GD_RACE_BARRIERS = 16, GD_RACE_SITES_CACHED = 16 };

/* ---- knowledge ---- */

typedef struct gd_range {
    uint32_t first, last;
} gd_range;

typedef struct gd_known {
    uint32_t refs, base, count; /* all numbers up to base, and those of the ranges above it */
    gd_range ranges[];
} gd_known;

typedef struct gd_stamps {
    uint32_t refs, base, count, agents;
    uint32_t values[]; /* of threads, which have base at least; then of asynchronous agents */
} gd_stamps;

typedef struct gd_parts gd_parts;
struct gd_parts {
    uint32_t refs, key,
        bit; /* bit 0: a leaf, key is the CTA's number; otherwise the bit that parts the children */
    uint32_t task;
    gd_parts *child[2];
    gd_stamps *stamps;
};

typedef struct gd_outside gd_outside;
struct gd_outside {
    uint32_t refs;
    gd_known *known;
    gd_parts *parts;
    /* What was before a fence.sc of those that are known; has no such fields itself, but where
     * there are several devices `fenced`, for those of scope sys. */
    gd_outside *fenced;
    /* Likewise, of those whose strong writes were read: had at the next fence.sc; in its own
     * `fenced`, what other devices wrote: had at the next one of scope sys. */
    gd_outside *pending;
};

typedef struct gd_clock {
    uint32_t refs;
    gd_outside *outside;
    gd_stamps *stamps;
} gd_clock;

/* ---- entries ---- */

enum { GD_ENTRY_BITS = 26 };

#define GD_REF_NONE UINT32_C(0)    /* nobody yet */
#define GD_REF_INITIAL UINT32_C(1) /* before everything */
#define GD_REF_SET UINT32_C(0x80000000)
#define GD_AGENT_NONE UINT32_C(0xffffffff) /* not to be waited for yet */
#define GD_AGENT_GROUP                                                                             \
    UINT32_C(0xfffffffe) /* the agent of the thread's groups, whose number is the thread's */

/* Who accessed, but for the lane, which is in the reference: entry << 5 | lane. */
typedef struct gd_entry_record {
    uint32_t task, uid, cta, stamp, site, bytes, agent;
    unsigned warp : 5, action : 4, scope : 2, strong : 1, async : 1, writes : 1, waited : 1,
        live : 1, marked : 1, device : 6;
} gd_entry_record;

typedef struct gd_reader_set {
    uint32_t refs[GD_RACE_READERS];
    uint32_t next;                              /* in its bucket, or free */
    uint32_t count : 8, marked : 1, writes : 1; /* writers are among them */
} gd_reader_set;

/* ---- tasks ---- */

typedef struct gd_desc_dependency {
    uint32_t number;
    uint64_t launch;
    const char *kernel;
    gd_action action;
    gd_race_port port;
    bool waited;
} gd_desc_dependency;

/* A task's description, for the words of reports. */
typedef struct gd_desc gd_desc;
struct gd_desc {
    gd_desc *next; /* in its bucket */
    gd_race_task_info info;
    uint64_t order; /* of submission */
    uint32_t number, dependency_count;
    gd_desc_dependency *dependencies;
    bool alive, used, marked;
    bool some_waited;
};

struct gd_race_task {
    uint32_t refs, number;
    gd_race *race;
    gd_desc *desc;
    bool settled;
    uint32_t entries[2],
        collection; /* of what it does by itself, reads and writes, as of a collection */
    gd_outside *before, *start, *wait, *completion, *all,
        *trigger; /* all: known once it has settled */
};

/* ---- shadows ---- */

typedef struct gd_cell {
    uint32_t writer, reader;
} gd_cell;

enum { GD_PAGE_SHIFT = 10, GD_PAGE_BYTES = 1 << GD_PAGE_SHIFT, GD_GRANULES = 5 };

typedef struct gd_page {
    uint32_t shift, count; /* a cell is of 1 << shift bytes */
    gd_cell cells[];
} gd_page;

/* An item of the table: 0, untouched; odd, one cell for the whole page: writer at bit 1, reader at
 * bit 32; else a gd_page. */
struct gd_shadow {
    gd_shadow *next, *previous;
    uint64_t start, bytes, pages;
    uint64_t sync_first, sync_last,
        syncs; /* offsets between which synchronization variables lie, and their number */
    char *name;
    bool written, shared;
    uint32_t allocated; /* number of the task that allocates it; 0 */
    uint32_t checked;   /* a task that has been found to be ordered behind that */
    uint64_t *table;
};

/* ---- synchronization ---- */

/* Of one device alone, what is of scope sys is of scope gpu. */
enum { GD_LEVEL_CTA, GD_LEVEL_CLUSTER, GD_LEVEL_GPU, GD_LEVEL_SYS, GD_LEVELS };

/* What was released to a variable by CTAs of one device, for acquirers within a level; uid 0: by
 * several. Then each of them has a part of its own, for acquirers of its CTA or cluster. */
typedef struct gd_sync_item {
    struct gd_sync_item *next;
    uint32_t level, uid, device;
    bool part;
    uint64_t cluster;
    gd_outside *outside, *fenced; /* released; before a fence.sc */
} gd_sync_item;

typedef struct gd_sync {
    struct gd_sync *next;
    gd_shadow *shadow;
    uint64_t offset;
    gd_sync_item *items;
} gd_sync;

typedef struct gd_race_mbarrier {
    struct gd_race_mbarrier *next;
    uint64_t address;
    gd_outside *pending, *ready;
    uint32_t site, warp, lane, stamp; /* of its mbarrier.init */
} gd_race_mbarrier;

/* ---- CTAs ---- */

typedef struct gd_site_cache {
    uint32_t site, stamp, flags, bytes, entry;
} gd_site_cache;

/* What a thread had at its last fence. */
typedef struct gd_release {
    gd_clock *clock;
    uint32_t stamp, synced, done;
    bool system; /* its scope was sys, where that is more than gpu */
} gd_release;

typedef struct gd_thread_sync {
    gd_release release[GD_LEVELS];
    gd_release fence_sc; /* at its last fence.sc of scope gpu or sys, until a barrier has told it */
    gd_release told;     /* and then, for what the fence itself released */
    gd_outside *pending[GD_LEVELS]; /* read, to be had at the next fence */
} gd_thread_sync;

typedef struct gd_thread {
    gd_clock *clock;
    uint32_t done;    /* its groups of asynchronous copies up to this stamp */
    uint32_t proxied; /* what it wrote up to this stamp is before its fence.proxy.async */
    uint32_t shown;   /* mbarriers that it initialized up to this stamp are before such a fence, or
                       * its fence.mbarrier_init */
} gd_thread;

typedef struct gd_commit {
    uint32_t stamp, mask;
} gd_commit;

typedef struct gd_warp_record {
    uint32_t stamp, synced, live, waited;
    gd_commit *commits;
    uint32_t commit_count, commit_capacity;
    uint32_t *groups; /* stamps at which groups of wgmma were committed; those before them have been
                 * forgotten */
    uint64_t groups_forgotten;
    uint32_t group_count, group_capacity;
    gd_thread_sync *sync; /* of its lanes; NULL until there is something */
    gd_site_cache cache[GD_RACE_SITES_CACHED];
} gd_warp_record;

typedef struct gd_barrier_record {
    gd_outside *outside; /* of those that arrived and did not wait */
    gd_stamps *stamps;
    bool any;
    uint32_t waiting[GD_RACE_WARPS];
} gd_barrier_record;

/* Copies of one thread that complete on one mbarrier. */
typedef struct gd_channel {
    uint32_t thread;
    uint32_t owner; /* uid */
    uint64_t address;
} gd_channel;

typedef struct gd_issued {
    uint32_t entry, thread;
} gd_issued;

struct gd_race_cta {
    gd_race_cta *next, *previous;
    gd_race *race;
    gd_race_task *task;
    uint32_t uid, device, number, threads, warp_count;
    uint64_t cluster;
    uint32_t sequence; /* of stamps */
    bool triggered;
    gd_shadow *shared;
    gd_warp_record *warps;
    gd_thread *thread;
    gd_barrier_record *barriers[GD_RACE_BARRIERS];
    gd_race_mbarrier *mbarriers;
    gd_outside *cluster_pending, *cluster_ready;
    gd_channel *channels;
    uint32_t channel_count, channel_capacity;
    gd_issued *issued; /* bulk copies, until it is known on what they complete */
    uint32_t issued_count, issued_capacity;
};

/* ---- the detector ---- */

typedef struct gd_site_record {
    gd_race_site site;
    bool uninitialized; /* has been reported */
} gd_site_record;

typedef struct gd_stream_numbers {
    uint64_t stream;
    uint32_t next, last, length; /* numbers left, and how many the block had */
} gd_stream_numbers;

typedef struct gd_name {
    struct gd_name *next;
    char text[];
} gd_name;

enum { GD_NAME_BUCKETS = 256 };

struct gd_race {
    gd_race_options options;
    bool stopped;
    uint64_t bytes, cell_bytes;
    gd_name *names[GD_NAME_BUCKETS];
    gd_site_record *sites;
    uint32_t site_count, site_capacity;
    gd_entry_record *entries;
    uint32_t entry_count, entry_capacity, entry_free, entries_live, entries_limit;
    gd_reader_set *sets;
    uint32_t set_count, set_capacity, set_free, sets_live, sets_limit;
    uint32_t *set_buckets, set_bucket_count;
    gd_desc **descs;
    uint32_t desc_buckets, desc_count, descs_limit;
    gd_sync **syncs;
    uint32_t sync_buckets, sync_count;
    gd_stream_numbers *streams;
    uint32_t stream_count, stream_capacity;
    uint32_t number_last, number_highest, floor; /* of blocks; of tasks; known to all */
    uint32_t uid_last;
    uint64_t pending, order;
    uint32_t collections;
    gd_outside *host, *ended; /* what the host has waited for; all that has settled */
    gd_shadow *shadows;
    gd_race_cta *ctas;
    gd_page *free_pages[GD_GRANULES];
    uint32_t free_page_count[GD_GRANULES];
};

/* ---- memory (race.c) ---- */

/* Zeroed; NULL stops the detector. */
void *gd_race_take(gd_race *race, size_t bytes);
void gd_race_give(gd_race *race, void *memory, size_t bytes);

/* An array with room for one more than count; false stops the detector. */
bool gd_race_grow(gd_race *race, void **array, uint32_t count, uint32_t *capacity, size_t item);

const char *gd_race_name(gd_race *race, const char *text); /* one copy for all equal ones */

/* A new entry; 0 when there is no memory. */
uint32_t gd_entry_add(gd_race *race, const gd_entry_record *record);

/* Collects entries, sets and descriptions that nothing needs, when there are many; not in the
 * middle of an access. */
void gd_race_collect(gd_race *race);

/* The reader word of 1 to GD_RACE_READERS references, which it sorts. */
uint32_t gd_set_add(gd_race *race, uint32_t *refs, uint32_t count);

/* ---- known tasks (race/known.c) ---- */

bool gd_known_has(const gd_race *race, const gd_known *known, uint32_t number);
gd_known *gd_known_hold(gd_known *known);
void gd_known_drop(gd_race *race, gd_known *known);
gd_known *gd_known_join(gd_race *race, gd_known *a, gd_known *b);
gd_known *gd_known_with(gd_race *race, gd_known *known, uint32_t number);

/* ---- clocks (race/clock.c) ---- */

gd_stamps *gd_stamps_create(gd_race *race, uint32_t base, uint32_t count, uint32_t agents);
gd_stamps *gd_stamps_hold(gd_stamps *stamps);
void gd_stamps_drop(gd_race *race, gd_stamps *stamps);
gd_stamps *gd_stamps_join(gd_race *race, gd_stamps *a, gd_stamps *b);

static inline uint32_t gd_stamps_of(const gd_stamps *stamps, uint32_t thread)
{
    if (!stamps)
        return 0;
    return thread < stamps->count && stamps->values[thread] > stamps->base ? stamps->values[thread]
                                                                           : stamps->base;
}

static inline uint32_t gd_stamps_agent(const gd_stamps *stamps, uint32_t agent)
{
    return stamps && agent < stamps->agents ? stamps->values[stamps->count + agent] : 0;
}

gd_outside *gd_outside_create(gd_race *race, gd_known *known,
                              gd_parts *parts); /* takes both over */
gd_outside *gd_outside_hold(gd_outside *outside);
void gd_outside_drop(gd_race *race, gd_outside *outside);
gd_outside *gd_outside_join(gd_race *race, gd_outside *a, gd_outside *b);
void gd_outside_add(gd_race *race, gd_outside **target,
                    gd_outside *more); /* more stays the caller's */
gd_outside *gd_outside_with(gd_race *race, gd_outside *outside, uint32_t task); /* and that task */
/* Without parts of known tasks, and without what is for fence.sc; takes it over. */
gd_outside *gd_outside_prune(gd_race *race, gd_outside *outside);
gd_outside *gd_outside_plain(gd_race *race, gd_outside *outside); /* without what is for fence.sc */
/* One that says nothing but what was fenced, or is pending; both stay the caller's. */
gd_outside *gd_outside_of_fences(gd_race *race, gd_outside *fenced, gd_outside *pending);
gd_outside *gd_outside_part(gd_race *race, uint32_t uid, uint32_t task,
                            gd_stamps *stamps); /* takes stamps over */
const gd_parts *gd_outside_find(const gd_outside *outside, uint32_t uid);

gd_clock *gd_clock_create(gd_race *race, gd_outside *outside,
                          gd_stamps *stamps); /* takes both over */
gd_clock *gd_clock_hold(gd_clock *clock);
void gd_clock_drop(gd_race *race, gd_clock *clock);
/* The clock with what lies in an outside, own CTA's part included; the same when it had it. */
gd_clock *gd_clock_acquire(gd_race *race, gd_clock *clock, gd_outside *more, uint32_t uid);

/* ---- tasks (race/task.c) ---- */

gd_desc *gd_desc_find(const gd_race *race, uint32_t number);
void gd_descs_sweep(gd_race *race, bool all);
uint64_t gd_desc_cluster(const gd_desc *desc,
                         const uint32_t cta[3]); /* a number for a CTA's cluster */
void gd_task_drop(gd_race_task *task);

/* ---- shadows (shadow.c) ---- */

gd_shadow *gd_shadow_make(gd_race *race, uint64_t start, uint64_t bytes, bool written, bool shared);
void gd_shadow_free(gd_race *race, gd_shadow *shadow);
gd_cell gd_shadow_uniform(const gd_shadow *shadow, uint64_t page); /* of a page without cells */
static inline gd_page *gd_shadow_page(const gd_shadow *shadow, uint64_t page)
{
    uint64_t item = shadow->table[page];

    return item & 1 ? NULL : (gd_page *)(uintptr_t)item;
}
/* A page with cells of at most 1 << shift bytes; NULL: no memory. */
gd_page *gd_shadow_refine(gd_race *race, gd_shadow *shadow, uint64_t page, uint32_t shift);
void gd_shadow_put(gd_race *race, gd_shadow *shadow, uint64_t page, gd_cell cell);
void gd_pages_free(gd_race *race);

/* ---- synchronization (race/sync.c) ---- */

/* A strong access in the release and acquire patterns, a weak write which ends them. */
void gd_sync_access(gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation);
void gd_sync_forget(gd_race *race, gd_shadow *shadow, uint64_t offset, uint64_t bytes);
void gd_sync_clear(gd_race *race);

static inline uint32_t gd_level(const gd_race *race, gd_scope scope)
{
    return scope == GD_SCOPE_CTA                            ? GD_LEVEL_CTA
           : scope == GD_SCOPE_CLUSTER                      ? GD_LEVEL_CLUSTER
           : scope == GD_SCOPE_SYS && race->options.several ? GD_LEVEL_SYS
                                                            : GD_LEVEL_GPU;
}

/* What lanes had at their last fence.sc, where no barrier has told it yet, is added to `fenced`. */
void gd_gather_fences(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_outside **fenced);
void gd_add_fences(gd_race_cta *cta, uint32_t warp, uint32_t mask,
                   gd_outside **outside); /* to its field */
/* What a thread had at its last fence of a level, as others see it. */
gd_outside *gd_release_outside(gd_race_cta *cta, uint32_t warp, uint32_t lane, uint32_t level);
bool gd_has_fences(const gd_race_cta *cta, uint32_t warp, uint32_t mask);
void gd_forget_fences(gd_race_cta *cta, uint32_t warp, uint32_t mask);

/* ---- threads (race/cta.c) ---- */

static inline gd_thread *gd_thread_of(const gd_race_cta *cta, uint32_t warp, uint32_t lane)
{
    return &cta->thread[warp * GD_RACE_LANES + lane];
}

/* Lanes of a mask that have the clock of the lowest of them. */
uint32_t gd_lanes_alike(const gd_race_cta *cta, uint32_t warp, uint32_t mask);
void gd_lanes_set(gd_race_cta *cta, uint32_t warp, uint32_t mask,
                  gd_clock *clock); /* the clock stays the caller's */
void gd_lanes_acquire(gd_race_cta *cta, uint32_t warp, uint32_t mask,
                      gd_outside *more); /* likewise */

/* What threads of a warp with these stamps had done, on top of a clock; a new reference. `done`:
 * their groups of copies, by lane. */
gd_stamps *gd_publish(gd_race_cta *cta, uint32_t warp, uint32_t mask, const gd_clock *clock,
                      uint32_t stamp, uint32_t synced, const uint32_t *done);

/* The same as others see it, with what the clock has of others. */
gd_outside *gd_publish_outside(gd_race_cta *cta, uint32_t warp, uint32_t mask,
                               const gd_clock *clock, uint32_t stamp, uint32_t synced,
                               const uint32_t *done);

/* What lanes of a mask know and have done now is added; their warp's stamp is to be raised then. */
void gd_gather(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_outside **outside,
               gd_stamps **stamps);
void gd_gather_outside(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_outside **outside);

static inline void gd_raise(gd_race_cta *cta, uint32_t warp)
{
    cta->warps[warp].stamp = ++cta->sequence;
}

/* The agent of what a warp's wgmma reads (race/barrier.c); GD_AGENT_NONE: no memory. */
uint32_t gd_warpgroup_agent(gd_race_cta *cta, uint32_t warp);

/* ---- words (race/words.c) ---- */

typedef struct gd_conflict {
    gd_race_kind kind;
    const gd_shadow *shadow;
    uint64_t offset;
    uint32_t first, second; /* references */
    bool proxy;             /* they are ordered, but a fence between the proxies is missing */
    bool initialization;    /* the first is an mbarrier.init */
} gd_conflict;

/* barrier.c: NULL where there is none at the address. */
gd_race_mbarrier *gd_mbarrier_find(gd_race_cta *owner, uint64_t address);

void gd_race_tell(gd_race *race, const gd_conflict *conflict);

#endif

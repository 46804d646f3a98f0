/* The race detector: who has accessed each byte of global and shared memory, and what orders one
 * access behind another.
 *
 * Two accesses of overlapping bytes, at least one of them a write, race when neither happens before
 * the other and they are not both strong with scopes that include each other (PTX ISA 8, memory
 * consistency model: causality order, morally strong). What makes an order, and is told to the
 * detector as it happens:
 *
 *   tasks    the end of a task that another depended on (port COMPLETE); griddepcontrol.wait, for
 *   the threads that execute it, behind the
 *            prerequisites alone (model contract) or behind all that they depended on (model
 *            observed); a host that has waited for a task before it hands in another; a release
 *            fence before griddepcontrol.launch_dependents
 *   CTA      barriers, bar.warp.sync, mbarriers, completion of asynchronous copies
 *   cluster  barrier.cluster
 *   others   release and acquire patterns over strong accesses and fences, between devices of
 *   scope sys alone
 *
 * Clocks. Each warp has a stamp, which grows whenever one of its threads lets others know what it
 * did. An access carries the stamp of its warp. A thread's clock says of each other thread up to
 * which stamp its accesses happened before. Threads that know the same share one clock; a barrier
 * of the whole CTA leaves all threads with one clock of a single number, since stamps are numbers
 * of one sequence for each CTA.
 *
 * Shadow. For each byte, who wrote it last and who has read it since: 4 bytes each, in pages of
 * cells which begin as coarse as the accesses are and are made finer when smaller ones come, so at
 * most 8 bytes for a byte. A page of which all has been written by one task alone takes no cells.
 * Readers that nothing orders are kept up to GD_RACE_READERS of them, of different tasks, CTAs and
 * warps first; one that is ordered before a new reader is replaced by it.
 *
 * All calls come from the thread that runs the scheduler. A detector that runs out of memory stops
 * recording and says so once (GD_FINDING_FAULT); it never fails a program. */
#ifndef GD_EMULATOR_RACE_RACE_H
#define GD_EMULATOR_RACE_RACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GD_RACE_READERS = 4 };

typedef struct gd_race gd_race;
typedef struct gd_race_task gd_race_task;
typedef struct gd_race_cta gd_race_cta;
typedef struct gd_shadow gd_shadow;

/* ---- findings ---- */

typedef enum gd_action {
    GD_ACTION_READ,
    GD_ACTION_WRITE,
    GD_ACTION_ATOMIC,
    GD_ACTION_COPY, /* by a copy: reads or writes */
    GD_ACTION_FILL,
    GD_ACTION_HOST,
    GD_ACTION_FREE,
    GD_ACTION_CONDITIONAL, /* of a conditional node, or of the launch that gives it its initial
                            * value */
    GD_ACTION_ALLOCATE
} gd_action;

typedef struct gd_race_access {
    const char *kernel; /* NULL: no kernel */
    uint64_t launch;
    uint32_t device;
    uint32_t cta[3], thread[3];
    uint32_t module; /* number of the module; 0 */
    int32_t line, column;
    const char *instruction; /* its text, on one line; NULL */
    gd_action action;
    bool writes;
    uint32_t bytes;
} gd_race_access;

typedef enum gd_race_kind {
    GD_RACE_GLOBAL,
    GD_RACE_SHARED,
    GD_RACE_UNINITIALIZED,
    GD_RACE_EXHAUSTED /* no finding: the detector has no memory left and records no more; text alone
                       * is set */
} gd_race_kind;

/* Words of a finding's texts that name a kernel's launch or an allocation. */
typedef struct gd_race_named {
    const char *text;   /* "kernel late (launch 2)" */
    const char *kernel; /* NULL: an allocation */
    uint64_t launch, start;
} gd_race_named;

typedef struct gd_race_finding {
    gd_race_kind kind;
    gd_race_access first,
        second; /* the earlier and the later in this execution; first is empty for an uninitialized
                 * read */
    uint32_t first_site, second_site;
    uint64_t start, bytes,
        offset;          /* of the memory: its allocation (0 for shared memory), and where in it */
    const char *name;    /* of a module variable; NULL */
    const char *text;    /* a sentence with both accesses and the order that is missing */
    const char *missing; /* what would make the order */
    const char *culprit; /* the kernel that lacks a wait, where it is a third one; NULL */
    uint64_t culprit_launch;
    const gd_race_named *names; /* that are in text and missing; maybe twice */
    uint32_t name_count;
} gd_race_finding;

/* Strings are good until the call returns. */
typedef void gd_race_sink(void *context, const gd_race_finding *finding);

/* Asked before a finding is put into words: true when one of this kind by the same sites has been
 * told, and is now counted. */
typedef bool gd_race_fold(void *context, gd_race_kind kind, uint32_t first_site,
                          uint32_t second_site);

typedef struct gd_race_options {
    bool global, shared, initialized; /* what is checked */
    bool observed;                    /* the model of griddepcontrol.wait */
    gd_race_sink *sink;
    void *context;
    gd_race_fold *fold; /* NULL: every finding is told */
    bool several; /* there are several devices: scope gpu means one of them, and is less than sys */
} gd_race_options;

/* NULL: no memory. */
gd_race *gd_race_create(const gd_race_options *options);
void gd_race_destroy(gd_race *race);

/* Whether a thread knows that a CTA of its cluster has started: it knows of something that the CTA
 * did. True where shared memory is not checked. */
bool gd_race_knows_start(const gd_race_cta *cta, uint32_t warp, uint32_t lane,
                         const gd_race_cta *other);

/* Whether uninitialized reads are to be found, now; the number of a task's launch. */
bool gd_race_seeks_uninitialized(const gd_race *race);
uint64_t gd_race_task_launch(const gd_race_task *task);

/* Records no more, for want of memory, and says so; for callers that cannot tell it all. */
void gd_race_stop(gd_race *race);

/* Bytes that shadows, clocks and tables take now, and bytes of shadow cells alone. */
uint64_t gd_race_bytes(const gd_race *race, uint64_t *cells);

/* ---- sites: instructions, for reports ---- */

typedef struct gd_race_site {
    const char *kernel;
    uint32_t module;
    int32_t line, column;
    const char *instruction;
} gd_race_site;

/* Takes a copy; the number, from 1; 0: no memory. */
uint32_t gd_race_site_add(gd_race *race, const gd_race_site *site);

/* ---- tasks ---- */

typedef struct gd_race_task_info {
    gd_action action; /* of what it does by itself: COPY, FILL, HOST, FREE, CONDITIONAL; READ for a
                 * kernel */
    const char *kernel; /* copied; NULL */
    uint64_t launch;    /* of a kernel, from 1 */
    uint32_t device;    /* on which it runs, below 64 */
    uint64_t stream;    /* a number for it, for reports */
    uint32_t grid[3], block[3], cluster[3];
    bool programmatic; /* launched with attribute 6, or with a programmatic edge */
    bool has_wait;     /* the kernel contains griddepcontrol.wait */
} gd_race_task_info;

typedef enum gd_race_port { GD_RACE_COMPLETE, GD_RACE_PROGRAMMATIC, GD_RACE_LAUNCH } gd_race_port;

typedef struct gd_race_dependency {
    gd_race_task *task;
    gd_race_port port;
    bool waited; /* griddepcontrol.wait waits for it */
} gd_race_dependency;

/* A task that the host hands in now: what the host has waited for happens before it. NULL: no
 * memory. */
gd_race_task *gd_race_task_create(gd_race *race, const gd_race_task_info *info);
void gd_race_task_release(
    gd_race *race,
    gd_race_task *task); /* by who handed it in; records in shadows keep what they need */

/* It starts: dependencies of port COMPLETE have settled, those of port PROGRAMMATIC have triggered.
 * The list is the caller's, but the detector keeps who they are for the words of reports. */
void gd_race_task_begin(gd_race *race, gd_race_task *task, const gd_race_dependency *list,
                        uint32_t count);

/* griddepcontrol.wait returns from now on: dependencies with `waited` have completed (settled in
 * the model observed). */
void gd_race_task_wait(gd_race *race, gd_race_task *task, const gd_race_dependency *list,
                       uint32_t count);

/* It has ended itself; it and all that it depended on have ended. */
void gd_race_task_complete(gd_race *race, gd_race_task *task);
void gd_race_task_settle(gd_race *race, gd_race_task *task, const gd_race_dependency *list,
                         uint32_t count);

/* The host has waited for this task to settle; for all there is. */
void gd_race_host_wait(gd_race *race, gd_race_task *task);
void gd_race_host_wait_all(gd_race *race);

/* ---- global memory ---- */

/* `written`: its bytes count as initialized (module variables, host memory). NULL: no memory. */
gd_shadow *gd_shadow_create(gd_race *race, uint64_t start, uint64_t bytes, const char *name,
                            bool written);
void gd_shadow_destroy(gd_race *race, gd_shadow *shadow);

/* The memory is allocated by this task, in the order of its stream: who uses it has to be ordered
 * behind. */
void gd_shadow_allocate(gd_race *race, gd_shadow *shadow, gd_race_task *task);

/* A task that is no kernel reads or writes [offset, offset + bytes). */
void gd_race_range(gd_race *race, gd_race_task *task, gd_shadow *shadow, uint64_t offset,
                   uint64_t bytes, bool write);

/* ---- CTAs ---- */

/* A CTA of a kernel's task, at its first instruction. shared_start is the address of its first byte
 * of shared memory. NULL: no memory. */
gd_race_cta *gd_race_cta_create(gd_race *race, gd_race_task *task, const uint32_t cta[3],
                                uint32_t threads, uint32_t shared_start, uint32_t shared_bytes);
void gd_race_cta_destroy(gd_race *race, gd_race_cta *cta);

/* From now on griddepcontrol.wait has an effect for the CTA's threads: gd_race_task_wait was called
 * for its task. */
void gd_race_grid_wait(gd_race_cta *cta, uint32_t warp,
                       uint32_t mask); /* it has returned for these threads */
void gd_race_trigger(gd_race_cta *cta, uint32_t warp, uint32_t mask); /* launch_dependents */
void gd_race_exit(gd_race_cta *cta, uint32_t warp, uint32_t mask);

/* ---- accesses ---- */

typedef enum gd_scope { GD_SCOPE_CTA, GD_SCOPE_CLUSTER, GD_SCOPE_GPU, GD_SCOPE_SYS } gd_scope;

typedef struct gd_race_operation {
    uint32_t warp, mask;
    uint32_t site;
    uint32_t bytes;   /* of each lane */
    gd_action action; /* READ, WRITE or ATOMIC */
    bool strong;      /* relaxed, acquire, release, volatile, atomic; with its scope */
    bool acquire, release;
    bool async; /* carried out by the thread's asynchronous copies: ordered when their completion is
                * waited for */
    bool warpgroup; /* async, by wgmma: ordered by gd_race_warpgroup_wait */
    gd_scope scope;
    const uint64_t
        *addresses; /* by lane: device addresses, or addresses in the owner's shared memory */
    /* Whether what the lane is about to write is there already; NULL: cannot tell. Writes of the
     * same value within a grid are let pass. */
    bool (*same)(const void *context, uint32_t lane);
    /* Whether two lanes, whose bytes overlap, write the same there; NULL: they do when both write
     * what is there already. */
    bool (*equal)(const void *context, uint32_t lane, uint32_t other);
    const void *context;
} gd_race_operation;

/* The operation's lanes access global memory, all within the shadow's allocation; shared memory of
 * `owner` (the CTA itself or another of its cluster), within its bounds. Called before the memory
 * changes. Strong accesses take part in release and acquire patterns here. */
void gd_race_global(gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation);
void gd_race_shared(gd_race_cta *cta, gd_race_cta *owner, const gd_race_operation *operation);

/* One access of one thread (the lane of `mask`), of any length and in any number of pieces: bulk
 * copies, wgmma. */
typedef struct gd_race_piece {
    uint64_t address, bytes;
} gd_race_piece;

void gd_race_global_pieces(gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation,
                           const gd_race_piece *pieces, uint32_t count);
void gd_race_shared_pieces(gd_race_cta *cta, gd_race_cta *owner, const gd_race_operation *operation,
                           const gd_race_piece *pieces, uint32_t count);

/* fence, membar of a scope, with acquire and release semantics both; `sc` for fence.sc and
 * membar. */
void gd_race_fence(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_scope scope, bool sc);

/* fence.proxy.async: bulk copies that are ordered behind it see what these threads have written to
 * shared memory (PTX ISA, async proxy). */
void gd_race_proxy_fence(gd_race_cta *cta, uint32_t warp, uint32_t mask);

/* fence.mbarrier_init: the same of mbarriers that they have initialized. */
void gd_race_init_fence(gd_race_cta *cta, uint32_t warp, uint32_t mask);

/* ---- barriers ---- */

/* Threads arrive at barrier 0..15 of the CTA; `waits` is false for barrier.arrive. Then, when the
 * barrier has completed, the threads that wait have what all that arrived had. */
void gd_race_barrier_arrive(gd_race_cta *cta, uint32_t barrier, uint32_t warp, uint32_t mask,
                            bool waits);
void gd_race_barrier_complete(gd_race_cta *cta, uint32_t barrier);

/* Threads of a warp have met in bar.warp.sync (or another operation that orders memory among
 * them). */
void gd_race_warp_sync(gd_race_cta *cta, uint32_t warp, uint32_t mask);

/* barrier.cluster: arrive; the phase has completed, told for each CTA of the cluster at once; wait
 * has returned. `ordered` is false for arrive.relaxed. */
void gd_race_cluster_arrive(gd_race_cta *cta, uint32_t warp, uint32_t mask, bool ordered);
void gd_race_cluster_complete(gd_race_cta *const *ctas, uint32_t count);
void gd_race_cluster_wait(gd_race_cta *cta, uint32_t warp, uint32_t mask);

/* An mbarrier object at an address in the owner's shared memory: initialized or invalidated
 * (forget); threads, or their asynchronous copies up to now (`async`), have arrived or completed
 * bytes; its current phase has completed; a test or wait of threads has returned true for the phase
 * that completed last. */
void gd_race_mbarrier_forget(gd_race_cta *owner, uint64_t address);
void gd_race_mbarrier_init(gd_race_cta *owner, uint32_t warp, uint32_t lane, uint32_t site,
                           uint64_t address);
/* Threads arrive at, or look at, an mbarrier: both need that it was initialized before, and races
 * with nothing else (an operation that is strong). Called before what it lets them know. */
void gd_race_mbarrier_access(gd_race_cta *cta, gd_race_cta *owner,
                             const gd_race_operation *operation);
void gd_race_mbarrier_arrive(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_race_cta *owner,
                             uint64_t address, bool async);
void gd_race_mbarrier_complete(gd_race_cta *owner, uint64_t address);
void gd_race_mbarrier_wait(gd_race_cta *cta, uint32_t warp, uint32_t mask, gd_race_cta *owner,
                           uint64_t address);

/* ---- asynchronous copies of a thread (cp.async, cp.async.bulk) ---- */

/* Groups: the copies of these threads since the last commit become a group; the wait for all but
 * the newest `left` groups has returned. */
void gd_race_async_commit(gd_race_cta *cta, uint32_t warp, uint32_t mask);
void gd_race_async_wait(gd_race_cta *cta, uint32_t warp, uint32_t mask, uint32_t left);
/* cp.async.bulk.wait_group.read: what bulk copies read, not what they write. */
void gd_race_async_wait_read(gd_race_cta *cta, uint32_t warp, uint32_t mask, uint32_t left);
/* cp.async.wait_all: also what is in no group. */
void gd_race_async_wait_all(gd_race_cta *cta, uint32_t warp, uint32_t mask);

/* ---- wgmma ---- */

/* What a warp's wgmma has read since the last commit becomes a group, numbered from 1. The wait for
 * a group has returned for threads: what it and those before it read is done in the four warps of
 * the warpgroup, all of which have committed it. */
void gd_race_warpgroup_commit(gd_race_cta *cta, uint32_t warp);
void gd_race_warpgroup_wait(gd_race_cta *cta, uint32_t warp, uint32_t mask, uint64_t group);

#endif

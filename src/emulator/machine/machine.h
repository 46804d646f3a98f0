/* Between the grid scheduler and the interpreter: a program made of a PTX module, and the CTAs of a
 * launch, each run in steps.
 *
 * The interpreter knows a CTA, its threads, shared memory and barriers, and the cluster that it
 * belongs to: while one CTA runs, it reads and writes the shared memory of the others and completes
 * their barriers. What else concerns several CTAs (grids, dependent launch, residency, time)
 * belongs to the scheduler, which runs CTAs one after the other on one host thread. */
#ifndef GD_EMULATOR_MACHINE_MACHINE_H
#define GD_EMULATOR_MACHINE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/machine/memory.h"
#include "emulator/race/race.h"
#include "ptx/text/module.h"

enum { GD_MACHINE_CAPABILITY = 90 }; /* the compute capability that is emulated */

/* ---- program: a module decoded for execution ---- */

typedef struct gd_program gd_program;

typedef struct gd_program_error {
    int32_t line, column; /* in the PTX; 0 */
    uint32_t instruction; /* of the module, where there is a line */
    bool out_of_memory;   /* nothing is wrong with the PTX */
    char text[512]; /* "wgmma.mma_async is not emulated", "sm_100 is newer than the emulated sm_90",
                * ... */
} gd_program_error;

/* Decodes all functions and places module variables, which are the owner's, in `memory` (.global,
 * .const with their initializers). module must outlive the program. An instruction that is not
 * emulated does not fail here: its entry is marked, and a launch of it is refused by
 * gd_program_entry. NULL with *error filled on failure. */
gd_program *gd_program_create(const gd_ptx_module *module, gd_memory *memory, const gd_owner *owner,
                              gd_program_error *error);
void gd_program_destroy(gd_program *program); /* gives the variables back */

/* A number for the module, which reports name. */
void gd_program_set_number(gd_program *program, uint32_t number);

typedef struct gd_entry {
    const gd_program *program;
    uint32_t function; /* of the module */
    const char *name;
    uint32_t
        registers; /* estimate of 32-bit registers a thread would use, for residency: at least 16,
                    * at most 255 */
    uint32_t static_shared_bytes;
    uint32_t padding_bytes; /* beyond that, since each shared variable lies as badly as it may */
    uint32_t local_bytes;   /* per thread */
    uint32_t parameter_count;
    uint32_t parameter_bytes;
    uint32_t maximum_threads; /* from .maxntid or .reqntid, else 1024 */
    uint32_t required_block[3];
    bool reserved_shared; /* reads where the system's part of shared memory lies, and may use it */
    bool refused;         /* contains what is not emulated; gd_entry_refusal tells */
} gd_entry;

/* The entry of that name, NULL. Lives as long as the program. */
const gd_entry *gd_program_entry(gd_program *program, const char *name);
const gd_entry *gd_program_entry_at(gd_program *program, uint32_t index);

/* Why an entry is refused: the first instruction that is not emulated, with its line. */
void gd_entry_refusal(const gd_entry *entry, gd_program_error *error);

/* Offset and size of a parameter in the packed parameters; false past the last. */
bool gd_entry_parameter(const gd_entry *entry, uint32_t index, uint32_t *offset, uint32_t *bytes);

/* The text of an instruction on one line, cut to the buffer; the number of its module. */
void gd_entry_instruction(const gd_entry *entry, uint32_t instruction, char *text, size_t bytes,
                          uint32_t *module);

/* Whether the entry, or what it calls, contains griddepcontrol.wait. */
bool gd_entry_waits(const gd_entry *entry);

/* A module variable's allocation; NULL. */
const gd_allocation *gd_program_variable(gd_program *program, const char *name);

/* ---- CTA ---- */

/* A launch as its CTAs see it. Owned by the scheduler; outlives its CTAs. */
typedef struct gd_grid_view {
    const gd_entry *entry;
    uint32_t grid[3], block[3], cluster[3]; /* cluster: 1 1 1 when there is none */
    bool explicit_cluster; /* %is_explicit_cluster: the launch or the kernel asked for clusters */
    uint32_t multiprocessors; /* %nsmid */
    uint32_t dynamic_shared_bytes;
    const unsigned char *parameters; /* entry->parameter_bytes of them */
    uint64_t grid_number;            /* %gridid */
    gd_memory *memory;
    const gd_owner *owner; /* whose memory it reaches; NULL: all */
    gd_heap *heap;         /* of malloc and free */
    uint64_t
        workspace; /* of a cooperative launch, for barriers of the grid: %envreg1 and %envreg2; 0 */
    const uint64_t *conditions; /* words that cudaGraphSetConditional sets, by handle - 1 */
    uint32_t condition_count;
    uint64_t step_limit; /* thread-instructions a CTA may execute; 0: none */
    gd_race *race;       /* what checks accesses, and the grid's task in it; NULL */
    gd_race_task *race_task;
    struct gd_reach *reaches; /* how far accesses may go, by parameter; NULL: nobody tells */
} gd_grid_view;

/* The view's reaches, to free: what the head comment of the entry's text tells of this launch
 * (execute/extent.h). */
struct gd_reach *gd_extents_of(const gd_grid_view *view);

typedef enum gd_cta_state {
    GD_CTA_READY,   /* can go on; the step budget was used up */
    GD_CTA_WAITING, /* every thread that has not exited stands at griddepcontrol.wait, or at a
                     * barrier behind ones that do */
    GD_CTA_POLLING, /* can go on, but all it did was to poll (nanosleep, mbarrier try_wait, a loop
                     * that only loads): let others run */
    GD_CTA_BLOCKED, /* waits for other CTAs of its cluster, which can go on: not before
                     * gd_cta_can_go_on */
    GD_CTA_DONE,    /* all threads have exited */
    GD_CTA_FAULT    /* gd_cta_get_fault tells; the CTA is over */
} gd_cta_state;

typedef enum gd_fault_kind {
    GD_FAULT_NONE,
    GD_FAULT_ADDRESS, /* outside every allocation, or inside a freed one */
    GD_FAULT_ALIGNMENT,
    GD_FAULT_READ_ONLY, /* write to a parameter */
    GD_FAULT_TRAP,
    GD_FAULT_ASSERT,      /* __assertfail */
    GD_FAULT_DEADLOCK,    /* no thread can go on and none waits for anything outside the CTA */
    GD_FAULT_STEPS,       /* step limit */
    GD_FAULT_UNSUPPORTED, /* met while running: a value or form that is not emulated */
    GD_FAULT_MEMORY,      /* the host has no memory left */
    GD_FAULT_PEER,  /* shared memory of a CTA that has exited, or that the cluster does not have */
    GD_FAULT_WINDOW /* .shared::cta with an address of another CTA of the cluster */
} gd_fault_kind;

typedef struct gd_fault {
    gd_fault_kind kind;
    uint32_t thread[3];   /* %tid */
    uint32_t cta[3];      /* %ctaid */
    int32_t line, column; /* of the instruction in the PTX */
    uint32_t instruction; /* of the module */
    uint64_t address;     /* of the access; 0 */
    uint32_t bytes;
    bool write;
    char text[256];    /* a sentence: what, and for an address what lies there or nearby */
    char missing[256]; /* what the program lacks; "" */
} gd_fault;

typedef struct gd_cta gd_cta;

/* A CTA at its first instruction; NULL when there is no memory. multiprocessor is %smid, slot its
 * place there. */
gd_cta *gd_cta_create(const gd_grid_view *view, const uint32_t cta[3], uint32_t multiprocessor,
                      uint32_t slot);
void gd_cta_destroy(gd_cta *cta);

/* Memory of CTAs is kept for others; this frees it. */
void gd_cta_free_spares(void);

/* Makes all CTAs of one cluster (view->cluster), none of which has run, know one another; a CTA
 * that was not joined is alone. They are destroyed one by one, and count as exited from then on.
 * False when there is no memory. */
bool gd_cluster_join(gd_cta *const *ctas, uint32_t count);

/* Runs until `steps` warp-instructions have been executed or nothing more can be done. `now` is the
 * model's time in nanoseconds for %globaltimer; the CTA adds what it executes (gd_cta_cycles). */
gd_cta_state gd_cta_run(gd_cta *cta, uint64_t steps, uint64_t now);

/* The same, but returns READY right behind the operation at which gd_cta_triggered becomes true. */
gd_cta_state gd_cta_run_to_trigger(gd_cta *cta, uint64_t steps, uint64_t now);

/* Whether a CTA that was blocked has threads that can go on; whether the last run of a CTA woke
 * threads of others in its cluster (asked once). */
bool gd_cta_can_go_on(const gd_cta *cta);
bool gd_cta_woke_others(gd_cta *cta);

/* Every prerequisite grid has completed: griddepcontrol.wait returns, at this time or later.
 * Without prerequisites the scheduler says so before the first run. */
void gd_cta_release(gd_cta *cta, uint64_t time);

/* Whether some thread has executed griddepcontrol.launch_dependents (the exit of the CTA counts for
 * the scheduler by itself). */
bool gd_cta_triggered(const gd_cta *cta);

/* Cycles that the CTA has used so far, %clock64's origin at 0: one for each warp-instruction, more
 * for memory; deterministic. */
uint64_t gd_cta_cycles(const gd_cta *cta);

/* The time that the last run has come to. */
uint64_t gd_cta_time(const gd_cta *cta);

/* Thread-instructions executed so far. */
uint64_t gd_cta_instructions(const gd_cta *cta);

const gd_fault *gd_cta_get_fault(const gd_cta *cta);

/* What the CTA has done so far that another could see: stores, arrivals, exits. */
uint64_t gd_cta_work(const gd_cta *cta);

/* A look at a CTA that does nothing but poll, between two runs: whether each of its warps has come
 * back to a state of an earlier look of the same epoch. If nothing was done in the epoch by any CTA
 * that it could see, it will go on like this for ever. */
bool gd_cta_recurs(gd_cta *cta, uint32_t epoch);

/* Ends a CTA that will poll for ever: a deadlock. `cause` goes on with the sentence, `missing` is
 * what the program lacks; both may be "". */
void gd_cta_fail_polling(gd_cta *cta, const char *cause, const char *missing);

/* Whether it polls an mbarrier. */
bool gd_cta_polls_mbarrier(const gd_cta *cta);

#endif

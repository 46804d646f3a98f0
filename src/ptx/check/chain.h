/* What the parts of the check of launches (ptx/check/launches.h) share.
 *
 * What may still run beside a launch is a stretch of the launches before it: one stretch for the
 * time before its wait, a smaller one for the time behind it (empty where each launch before has
 * waited). A hazard is a pair of accesses to one buffer, at least one of them a write, between a
 * launch and one of its stretch.
 *
 * Stretches are of one lane: launches of others between their ends do not count. Where lanes wait
 * for each other, chain_lane.c has for each launch the set of all that may still run. */
#ifndef GD_PTX_CHECK_CHAIN_H
#define GD_PTX_CHECK_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "ptx/check/launches.h"
#include "ptx/check/rules.h"
#include "ptx/handle/ptx.h"

/* What an entry does through one parameter, or in one other way: for each kind, the instruction of
 * one such access, GD_PTX_NONE: there is none. */
typedef struct gd_parameter_use {
    uint32_t read, write;
    uint32_t dry_read, dry_write; /* before the wait */
    uint32_t late_write;          /* behind a trigger */
    uint32_t noncoherent;         /* non-coherent read behind the wait */
    bool hoped_read, hoped_write; /* the dry one is perhaps ordered */
    bool plain;                   /* not all are atomic */
} gd_parameter_use;

/* Accesses whose addresses come from the same parameters. Which of these points somewhere, the
 * arguments of a launch tell. */
typedef struct gd_address_group {
    struct gd_address_group *next;
    const gd_parameter_set *parameters;
    bool handle; /* of a texture or surface: what memory it is of nobody tells */
    bool based;  /* the address may be that of a variable, too */
    bool wide;   /* a number that may be an address is part of it */
    bool loose;  /* and so is a distance, beside which it may be none but the address */
    gd_parameter_use use;
} gd_address_group;

/* A parsed module that launches use. */
typedef struct gd_order_module {
    struct gd_order_module *next;
    gd_check_functions functions;
    gd_rules rules;
} gd_order_module;

/* An entry that launches use. */
typedef struct gd_order_kernel {
    struct gd_order_kernel *next;
    gd_order_module *module;
    const gd_ptx_function *function;
    gd_entry_report report;
    gd_parameter_use *uses; /* by parameter, at most GD_CHECK_LIMIT_PARAMETERS */
    uint32_t use_count;
    gd_address_group *groups;
    gd_parameter_use anywhere;  /* at addresses that cannot be traced */
    gd_parameter_use variables; /* of variables of the module, other than tables */
    gd_parameter_use tables;    /* of variables that have a value from the start, and that nothing
                                 * in the module writes or lets others reach */
    uint32_t cause;             /* what made an address of `anywhere` so, of a write's where one
                                 * writes; GD_PTX_NONE: not known */
    bool exposes;               /* the address of a variable may be where others find it */
    uint32_t dry_unknown;       /* the access of `anywhere` before the wait that is told */
    gd_access_words dry_unknown_words;
    bool covers; /* all its threads' ends are behind its prerequisites' ends: some thread waits on
                 * every way out */
    bool covers_trigger; /* it triggers behind those ends and a release fence: without the fence, or
                          * where the trigger is the end, the PTX ISA does not order what the
                          * prerequisites wrote before what a dependent does before its own wait */
    gd_text
        dry_path; /* in words, a path that leaves without a wait; empty: there is none, or no wait
                   * at all */
} gd_order_kernel;

typedef struct gd_checked_launch {
    gd_check_launch given;
    const gd_order_kernel *kernel; /* NULL: not known, or no kernel */
    const char *kernel_name;
    const char *name;  /* behind its number in messages: the chain's for it, else its kernel's */
    uint32_t previous; /* in its lane; GD_PTX_NONE: the first */
    uint32_t
        *seen; /* by lane: how many of the chain's launches, counted from the first of all, a path
                          orders those of that lane before this one; in a chain with several
                          lanes */
    bool attribute;            /* attribute 6 is set */
    bool overlaps;             /* it is and can have an effect */
    uint32_t before;           /* [before, own index) may run before the wait; own index: nothing */
    uint32_t after, after_end; /* [after, after_end) may run behind the wait */
    bool hazard;               /* one was found before its wait */
    bool told;                 /* that an address before its wait cannot be traced */

    /* What it reaches beyond the buffers of its arguments, given these arguments. */
    gd_parameter_use anywhere;
    gd_parameter_use variables; /* of its module */
    gd_parameter_use stated;    /* in place of `anywhere`, where its reach is stated */
    uint32_t leads;             /* the argument that leads anywhere; GD_PTX_NONE: an address does */
} gd_checked_launch;

/* In the place of an argument: the number of a buffer that the launch is said to reach beside its
 * arguments. */
#define GD_REACH UINT32_C(0x80000000)

/* One argument that points into a buffer. */
typedef struct gd_buffer_use {
    uint32_t part; /* of a buffer: no use of another part meets it */
    uint32_t launch;
    uint32_t argument;
    bool reads, writes, constant;
    bool atomic; /* all accesses are */
    uint64_t start, end;
} gd_buffer_use;

typedef struct gd_checked_chain {
    gd_checked_launch *launches;
    uint32_t count;
    gd_buffer_use *uses; /* ordered by part, then launch, then argument */
    uint32_t use_count;
    bool loose; /* some launch reaches memory that no argument names */
    uint32_t lane_count;
    griddep_findings *findings;
} gd_checked_chain;

/* Adds a finding about a launch, at an instruction of its kernel or, with GD_PTX_NONE or an unknown
 * kernel, without a position. */
#define gd_order_add(chain, index, weight, number, at, advice, ...)                                \
    do {                                                                                           \
        const gd_finding_draft chain_draft =                                                       \
            gd_order_draft(chain, index, GD_CODE_##number, weight, at, advice);                    \
        gd_findings_add((chain)->findings, &chain_draft, __VA_ARGS__);                             \
    } while (0)

gd_finding_draft gd_order_draft(const gd_checked_chain *chain, uint32_t index, gd_code code,
                                int32_t severity, uint32_t at, const char *hint);

/* The launches [from, end) of a lane, or those of them that are in a set. */
typedef struct gd_launch_stretch {
    uint32_t lane, from, end;
    const uint64_t *set; /* a bit for each of the chain's launches; NULL: all */
} gd_launch_stretch;

/* Looks back from a use over a stretch for the nearest hazard; `between` is the launch that did not
 * order them. Behind the wait, or before it. Returns whether there is one. */
bool gd_order_look_back(gd_checked_chain *chain, uint32_t use, const gd_launch_stretch *stretch,
                        uint32_t between, bool behind_wait);

/* Whether a launch may write to addresses that nothing tells. */
bool gd_order_writes_anywhere(const gd_checked_launch *launch);

/* Whether two launches are of one module, and one may write a variable of it that the other one
 * touches. */
bool gd_order_share_variables(const gd_checked_launch *own, const gd_checked_launch *other);

/* GD112, or behind the wait GD201 and GD202, of a launch and an earlier one that may still run,
 * where one of the two reaches memory that no argument names: it meets all that is not private to
 * the other one, or declared constant. `between` is the launch that did not order them. */
void gd_order_check_anywhere(gd_checked_chain *chain, uint32_t index, uint32_t other,
                             uint32_t between, bool behind_wait);

/* Whether one of two uses that meet writes and the other one touches. */
bool gd_order_conflict(const gd_buffer_use *a, const gd_buffer_use *b);

/* Of a launch, also where its code is not known as PTX: whether all its threads' ends are behind
 * its prerequisites' ends; whether its triggers are, and order what those ends have ordered. */
uint32_t gd_order_traits(const gd_checked_launch *launch);
bool gd_order_covers(const gd_checked_launch *launch);
bool gd_order_covers_trigger(const gd_checked_launch *launch);

bool gd_order_meet(const gd_buffer_use *a, const gd_buffer_use *b);

/* The severity of a finding about two uses that conflict and that nothing orders, and words to end
 * its text: a warning where both are atomic, and where they meet only because nobody tells how far
 * the one reaches that begins before the other. */
int32_t gd_order_weigh(const gd_buffer_use *a, const gd_buffer_use *b, const char **words);
const char *gd_order_parameter_name(const gd_checked_launch *launch, uint32_t argument);
const char *gd_order_touch_verb(const gd_buffer_use *use);

/* Where each launch stands: its place in its lane, and with several lanes what is ordered before
 * it. */
int32_t gd_order_place(gd_checked_chain *chain, gd_arena *arena, griddep_error *error);

/* Hazards between lanes: GD212, and GD112, GD130, GD201, GD202, GD205 and GD206 where one lane
 * waits for another, or goes on behind a launch that did. */
int32_t gd_order_check_lanes(gd_checked_chain *chain, gd_arena *arena, griddep_error *error);

/* Hazards between the launches: GD130, GD201, GD202, GD205 to GD207, GD209, GD210, GD112. */
void gd_order_check_hazards(gd_checked_chain *chain);

/* Overlap that is lost: GD203, GD204, GD208, GD211. */
void gd_order_check_hops(gd_checked_chain *chain);

#endif

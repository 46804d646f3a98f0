/* The tuner: griddep_tune_run in griddep.h. It holds the chain as it was given, makes variants of
 * it (tune_variant.c), times them against each other (tune_time.c), decides (tune_trial.c,
 * tune_confirm.c), looks for the reason (tune_why.c), and remembers (tune_store.c). This header is
 * for these files. */
#ifndef GD_MEASURE_TUNE_H
#define GD_MEASURE_TUNE_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"
#include "base/text.h"
#include "measure/clock.h"
#include "measure/experiment.h"
#include "run/chain/chain.h"
#include "run/private.h" /* gd_tune_reason */

#define GD_TUNE_NONE UINT32_MAX

/* What is done to one kernel's text. All zero is nothing. */
typedef struct gd_tune_edit {
    int32_t wait, trigger;   /* GRIDDEP_WAIT_*, GRIDDEP_TRIGGER_* */
    const char *prefetch;    /* NULL, or the name of a parameter */
    uint64_t prefetch_bytes; /* a multiple of 16 */
    uint32_t round;          /* for GRIDDEP_TRIGGER_LOOP */
} gd_tune_edit;

/* A module that launches have kernels of. */
typedef struct gd_tune_source {
    griddep_module *module; /* held; NULL: of what is no kernel */
    const griddep_ptx *ptx; /* the module's; NULL: it cannot be rewritten */
} gd_tune_source;

/* A constant pointer parameter, which may be prefetched. */
typedef struct gd_tune_constant {
    const char *name;
    uint64_t bytes; /* behind it, the least of all launches */
} gd_tune_constant;

/* A kernel: what is rewritten as one. */
typedef struct gd_tune_unit {
    uint32_t source;
    uint32_t first; /* launch */
    const char *name;
    uint32_t traits;
    gd_tune_constant *constants;
    const char **constant_names; /* of them, as the rewriter wants them */
    uint32_t constant_count;
    bool has_before, has_behind; /* one of its launches stands behind, or before, another one */
} gd_tune_unit;

/* What is tried of a launch's shape. */
typedef struct gd_tune_shape {
    uint32_t grid, block; /* the first dimensions */
    uint32_t shared_bytes;
} gd_tune_shape;

/* The chain with some choices made, and what was loaded for it. */
typedef struct gd_tune_setup {
    gd_tune_edit *edits;   /* by unit */
    int32_t *pdl;          /* by launch */
    gd_tune_shape *shapes; /* likewise */
    int32_t *carveouts;    /* by launch: percent, or GRIDDEP_CARVEOUT_DEFAULT */
    /* made by gd_tune_realize */
    griddep_ptx **texts;      /* by source; NULL: as given */
    griddep_module **modules; /* likewise */
    griddep_chain *chain;
} gd_tune_setup;

/* What the timeline shows of a setup. runs 0: it was not looked at. */
typedef struct gd_tune_shown {
    uint32_t runs;
    double *hops; /* [launch * GD_TUNE_FIGURE_COUNT + figure]: medians over the runs; NaN:
                   * there is no such hop */
} gd_tune_shown;

typedef struct gd_tune_trial {
    griddep_tune_trial info;
    char *kernel, *text, *detail;
    gd_tune_reason reason; /* runs 0: not traced */
} gd_tune_trial;

/* What is chosen for a launch; strings and holds are the griddep_tune's. */
typedef struct gd_tune_choice {
    griddep_tune_choice info;
    char *text;
} gd_tune_choice;

/* What the tuner knows of a launch. */
typedef struct gd_tune_launch {
    const gd_chain_launch *chained;
    griddep_launch_config config; /* as given; its attributes are the call's */
    const griddep_use *uses;      /* by argument */
    int32_t carveout;             /* as given: percent, or GRIDDEP_CARVEOUT_DEFAULT */
    gd_tune_shape shape;          /* as given */
    uint32_t unit;
    griddep_tune_offer offer; /* of the caller; all zero: none */
} gd_tune_launch;

struct griddep_tune {
    griddep_runtime *runtime; /* held */
    griddep_tune_info info;
    gd_tune_trial *trials;
    uint32_t trial_capacity;
    gd_tune_choice *choices; /* by launch */
    /* while it runs, or is loaded */
    const griddep_chain *chain; /* the caller's */
    gd_tune_launch *launches;
    griddep_use *uses;
    uint32_t launch_count;
    gd_experiment_buffer *buffers;
    griddep_tune_options options;
    gd_tune_source *sources;
    uint32_t source_count;
    gd_tune_unit *units;
    uint32_t unit_count;
    gd_experiment experiment;
    gd_clock clock;
    uint32_t warnings; /* of the chain as it was given */
    uint32_t batch;    /* runs of the chain in one timed sample */
    double scatter;    /* sum of the squares by which groups of equal chains are apart */
    uint32_t most;     /* trials at most */
    gd_tune_setup given, best;
    gd_tune_shown best_shown; /* looked at when something is compared with it */
    gd_tune_reason reason;    /* of the whole */
    char
        *untraced; /* why there is no timeline of this chain; NULL: there is one, or nobody asked */
    uint8_t (*tried)[32]; /* digests of the texts that were tried for the unit at hand */
    uint32_t tried_count, tried_capacity;
};

/* ---- tune_variant.c ---- */

/* Reads the caller's chain, and finds sources and units. */
int32_t gd_tune_read_chain(griddep_tune *tune, griddep_error *error);

/* ARGUMENT, with names, where a launch writes outside of the caller's buffers, or in one that he
 * said nothing writes. */
int32_t gd_tune_check_cover(const griddep_tune *tune, griddep_error *error);

/* A setup with the choices of another one (NULL: as given), not realized. What is half made can be
 * freed. */
int32_t gd_tune_setup_copy(const griddep_tune *tune, const gd_tune_setup *from, gd_tune_setup *to,
                           griddep_error *error);
void gd_tune_setup_free(const griddep_tune *tune, gd_tune_setup *setup);

/* Rewrites the texts of a setup. UNSUPPORTED and ARGUMENT: a kernel has no such place. */
int32_t gd_tune_rewrite(const griddep_tune *tune, gd_tune_setup *setup, griddep_error *error);

/* The PTX that a source has in a setup. */
const griddep_ptx *gd_tune_text_of(const griddep_tune *tune, const gd_tune_setup *setup,
                                   uint32_t source);

/* Checks the chain with its texts: *errors and *warnings are how many findings there are, `first`
 * (may be NULL) gets the text of the first error, or warning. */
int32_t gd_tune_check(const griddep_tune *tune, const gd_tune_setup *setup, uint32_t *errors,
                      uint32_t *warnings, gd_text *first, griddep_error *error);

/* Loads the texts and makes the chain. anew: modules as given are loaded once more, where they have
 * a text. */
int32_t gd_tune_realize(const griddep_tune *tune, gd_tune_setup *setup, bool anew,
                        griddep_error *error);

/* The kernel of a launch in a realized setup; NULL: it is none. */
int32_t gd_tune_kernel_of(const griddep_tune *tune, const gd_tune_setup *setup, uint32_t launch,
                          griddep_kernel **kernel, griddep_error *error);

/* Whether a launch may have a shape: the head comment's conditions and the driver's limits. */
bool gd_tune_takes(const griddep_tune *tune, uint32_t launch, gd_tune_shape shape);

/* Whether two launches have the same kernel, shape and arguments, but for addresses that are not
 * 0. */
bool gd_tune_alike(const griddep_tune *tune, uint32_t a, uint32_t b);

bool gd_tune_same_shape(gd_tune_shape a, gd_tune_shape b);

/* Says what a setup does to a launch, "wait move, trigger start"; nothing where it does nothing. */
void gd_tune_describe(const griddep_tune *tune, const gd_tune_setup *setup, uint32_t launch,
                      gd_text *text);
void gd_tune_describe_edit(const gd_tune_edit *edit, gd_text *text);
void gd_tune_describe_carveout(int32_t percent, gd_text *text);
void gd_tune_describe_shape(gd_tune_shape shape, gd_tune_shape given, gd_text *text);

/* ---- tune_time.c ---- */

typedef struct gd_tune_ratio {
    uint32_t pairs;
    double median, lowest, highest;
    double first_us, second_us; /* medians of a run */
} gd_tune_ratio;

/* Runs a chain once in the mode that is tuned. *different is the first buffer, counted from 1, that
 * is not left as by the serial run; 0: all are. */
int32_t gd_tune_run_compared(griddep_tune *tune, griddep_chain *chain, uint32_t *different,
                             griddep_error *error);

/* Times two chains in pairs, in turns; ratio is second / first. Stops early when the second is
 * slower by more than `hopeless` (0: never). */
int32_t gd_tune_pairs(griddep_tune *tune, griddep_chain *first, griddep_chain *second,
                      uint32_t pairs, double hopeless, gd_tune_ratio *ratio, griddep_error *error);

/* ---- tune_confirm.c ---- */

/* What a setup is worth when it is measured anew. */
typedef struct gd_tune_proof {
    bool holds;
    double ratio;           /* after / before: mean over the groups */
    double lowest, highest; /* of the groups */
    double needed;          /* gain that it had to exceed */
    double before_us, after_us;
} gd_tune_proof;

/* How far apart are equal chains? Sets noise and threshold. */
int32_t gd_tune_measure_noise(griddep_tune *tune, griddep_error *error);

/* Measures `after` against `before`, both realized, with code of their own in each group. */
int32_t gd_tune_confirm(griddep_tune *tune, const gd_tune_setup *before, const gd_tune_setup *after,
                        gd_tune_proof *proof, griddep_error *error);

/* Whether these gains (1: all of the time) of GD_TUNE_GROUPS groups are more than chance, as the
 * next of the search's confirmations; not `before_us` and `after_us`. */
enum { GD_TUNE_GROUPS = 13 };
void gd_tune_judge(griddep_tune *tune, const double gains[GD_TUNE_GROUPS], gd_tune_proof *proof);

/* What Student's t, of the degrees of freedom that a confirmation has (28), exceeds with a
 * probability below a half. */
double gd_tune_student(double probability);

/* ---- tune_why.c ---- */

typedef struct gd_tune_compared {
    const gd_tune_setup *setup;
    const gd_tune_shown *shown;
} gd_tune_compared;

/* Traces a realized setup; *shown is to be freed either way. Where there is no timeline of it, that
 * is no error: tune->untraced tells why, and nothing is traced from then on. */
int32_t gd_tune_look(griddep_tune *tune, const gd_tune_setup *setup, gd_tune_shown *shown,
                     griddep_error *error);
void gd_tune_shown_free(gd_tune_shown *shown);

/* Compares two, in the hops whose launches differ. *reason is left alone where one of them was not
 * traced. */
int32_t gd_tune_compare_shown(const griddep_tune *tune, const gd_tune_compared *before,
                              const gd_tune_compared *after, gd_tune_reason *reason,
                              griddep_error *error);

/* ---- tune_trial.c ---- */

/* Measures the noise, tries everything, and leaves in tune->best what holds against the chain as
 * given. */
int32_t gd_tune_search(griddep_tune *tune, griddep_error *error);

/* ---- tune_store.c ---- */

/* Writes the choices to the runtime's store. False where there is none. */
bool gd_tune_store(griddep_tune *tune);

/* Reads them into tune->best, not realized: edits are unknown, texts are there. NOT_FOUND. */
int32_t gd_tune_recall(griddep_tune *tune, griddep_error *error);

#endif

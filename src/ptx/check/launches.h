/* The check of launches in stream order. griddep_chain_check gives it a chain's. */
#ifndef GD_PTX_CHECK_LAUNCHES_H
#define GD_PTX_CHECK_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

/* In griddep_use.reserved: the argument is NULL, or no pointer by what the caller says of it. */
enum { GD_USE_NULL = 1 };

/* What is said of a launch: a chain keeps this, and the check is given it. `reaches` are buffers as
 * in uses, without an argument. */
typedef struct gd_check_launch {
    int32_t node; /* GRIDDEP_GRAPH_NODE_KERNEL, _COPY, _FILL or _HOST; _CHILD: a hop of NCCL. All
                   * but kernels end the overlap between their neighbours */
    const griddep_ptx
        *ptx;          /* NULL where the code is not known, and for nodes that are no kernels */
    const char *entry; /* name in ptx, or of the kernel for messages; NULL: "the kernel" */
    const char *name;  /* that the chain gives it; NULL: messages say the entry's */
    griddep_use *uses; /* in the order of the parameters */
    uint32_t use_count;
    griddep_use *reaches; /* all that it reaches at addresses that no argument gives it */
    uint32_t reach_count;
    bool reach_stated;      /* somebody said so; else such an address may be anything */
    bool any_arguments;     /* each argument may be any address */
    bool variables_exposed; /* the host knows an address of its module's variables */
    int32_t pdl;            /* GRIDDEP_PDL_* */
    uint32_t traits;        /* GRIDDEP_TRAIT_*, of code that is not known as PTX */
    uint32_t lane;
    uint32_t after_count;
    uint32_t *after; /* earlier launches of other lanes that it waits for */
} gd_check_launch;

/* Sets, for each use of all launches in turn, whether the launch writes what stands behind it: what
 * a caller says of it counts, else what the PTX shows. *anywhere (may be NULL): whether a launch
 * may write to addresses that nothing tells. NOT_FOUND as below. */
int32_t gd_check_writes(const gd_check_launch *launches, uint32_t count, bool *writes,
                        bool *anywhere, griddep_error *error);

/* Finds two launches of one module, of which one may write variables of it that the other one
 * touches: *second is behind *first, or `count` where there are none. NOT_FOUND as below. */
int32_t gd_check_sharing(const gd_check_launch *launches, uint32_t count, uint32_t *first,
                         uint32_t *second, griddep_error *error);

/* What is known of the entries that launches use, for one look after another. The PTX must live as
 * long. destroy takes NULL. */
typedef struct gd_check_facts gd_check_facts;

gd_check_facts *gd_check_facts_create(void);
void gd_check_facts_destroy(gd_check_facts *facts);

/* What an entry touches in front of its wait that other grids can reach. */
typedef enum gd_early_touch {
    GD_EARLY_TOUCH_NOTHING,
    GD_EARLY_TOUCH_TABLES, /* only variables that others reach by an address of the host's alone */
    GD_EARLY_TOUCH_MEMORY
} gd_early_touch;

/* Tells that of an entry, and whether its grid ends behind its prerequisites (NULL: not asked);
 * facts may be NULL. NOT_FOUND as below. */
int32_t gd_check_touches_early(gd_check_facts *facts, const griddep_ptx *ptx, const char *entry,
                               gd_early_touch *touch, bool *ordered, griddep_error *error);

/* What the code of a kernel shows about starting early, whoever launches it. */
typedef struct gd_early_code {
    int32_t reason; /* GRIDDEP_REASON_SET: it may, whatever its arguments mean; _RACE: it touches
                     * something before its wait; else as gd_early_kernel */
    gd_early_touch touch;
    bool ordered; /* its grid ends behind its prerequisites: some thread waits on every way out */
} gd_early_code;

/* Whether PTX beside machine code of these traits could add nothing to them. */
bool gd_early_is_decided(uint32_t traits);

/* By the traits of the code that runs, and its PTX: that code itself, or what it may have been made
 * of (NULL: there is none). Facts may be NULL. */
gd_early_code gd_early_look(gd_check_facts *facts, uint32_t traits, const griddep_ptx *ptx,
                            const char *entry);

/* Of gd_check_launches what is about pairs of launches, in texts that are valid. */
int32_t gd_check_hazards(gd_check_facts *facts, const gd_check_launch *launches, uint32_t count,
                         griddep_findings **findings, griddep_error *error);

/* Checks launches in stream order. NOT_FOUND where PTX has no entry of a launch's name. */
int32_t gd_check_launches(const gd_check_launch *launches, uint32_t count,
                          griddep_findings **findings, griddep_error *error);

#endif

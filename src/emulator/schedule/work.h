/* One piece of work: what a stream carries out and what a node of a graph is. */
#ifndef GD_EMULATOR_SCHEDULE_WORK_H
#define GD_EMULATOR_SCHEDULE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "emulator/api.h"
#include "emulator/machine/machine.h"

typedef enum gd_work_kind {
    GD_WORK_EMPTY,
    GD_WORK_KERNEL,
    GD_WORK_COPY,
    GD_WORK_FILL,
    GD_WORK_HOST,
    GD_WORK_EVENT_RECORD, /* of a graph: the event notes when it was reached */
    GD_WORK_EVENT_WAIT,   /* of a graph */
    GD_WORK_RELEASE,      /* cuMemFreeAsync */
    GD_WORK_GRAPH,        /* a node that is a graph */
    GD_WORK_CONDITIONAL,  /* a conditional node; in an executable and as a task: what looks at the
                          * condition */
    GD_WORK_JOIN,         /* behind all that a conditional node has run */
    GD_WORK_ASSIGN        /* the begin of a launch: conditions get their initial values */
} gd_work_kind;

enum { GD_PARAMETER_ROOM = 16 }; /* for a wide load of the last parameter */

/* Multiprocessors of the device, from a number on. */
typedef struct gd_part {
    uint32_t first, count;
} gd_part;

typedef struct gd_kernel_work {
    gd_CUfunction handle;  /* of the function, or kernel, that was given */
    const gd_entry *entry; /* valid while the handle is */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t dynamic_shared_bytes;
    gd_part part;              /* where it runs */
    unsigned char *parameters; /* as many bytes as its entry takes, and GD_PARAMETER_ROOM */
    uint32_t parameter_bytes;
    void **pointers;   /* to each parameter in there, for cuGraphKernelNodeGetParams */
    bool programmatic; /* attribute 6 */
    bool cooperative;
    bool counts_clusters;  /* the grid was given in clusters (.blocksareclusters) */
    bool explicit_cluster; /* `cluster` was asked for */
    int32_t priority;
    gd_CUlaunchAttribute *attributes; /* as given, for cuGraphKernelNodeGetAttribute */
    uint32_t attribute_count;
} gd_kernel_work;

/* One side of a copy. A host address is used as it is; a device address belongs to an
 * allocation. */
typedef struct gd_copy_side {
    uint64_t address;
    bool device;
    size_t pitch, slice; /* bytes from row to row, from plane to plane */
} gd_copy_side;

typedef struct gd_copy_work {
    gd_copy_side target, source;
    size_t width, height, depth; /* bytes, rows, planes */
    unsigned char *staged;       /* the source's bytes, taken when the work was handed in; NULL */
} gd_copy_work;

typedef struct gd_fill_work {
    uint64_t address;
    size_t pitch, width, height; /* width in elements */
    uint32_t value;
    uint32_t element_bytes; /* 1, 2, 4 */
} gd_fill_work;

typedef struct gd_host_work {
    gd_CUresult status; /* of the context that ended before it was called */
    gd_CUhostFn *function;
    gd_CUstreamCallback *callback; /* cuStreamAddCallback, in place of function */
    gd_CUstream stream;
    void *user;
} gd_host_work;

/* What a node has as graphs, its executables have as executables: copies of these are whole. */
typedef struct gd_conditional_work {
    struct gd_condition *condition; /* held */
    gd_CUgraphConditionalNodeType type;
    uint32_t count;
    uint64_t rounds;                 /* of a loop, so far */
    struct gd_graph **bodies;        /* owned; NULL in executables and tasks */
    gd_CUgraph *handles;             /* of the bodies, as the program was told them */
    struct gd_executable **branches; /* owned; NULL in nodes */
} gd_conditional_work;

typedef struct gd_work gd_work;
struct gd_work {
    gd_work_kind kind;
    gd_CUcontext
        context; /* handle; of a node the context that it runs in; NULL: that of the launch */
    union {
        gd_kernel_work kernel;
        gd_copy_work copy;
        gd_fill_work fill;
        gd_host_work host;
        gd_CUevent event;
        uint64_t address;       /* of GD_WORK_RELEASE */
        struct gd_graph *graph; /* owned */
        gd_conditional_work conditional;
        struct gd_condition_set *conditions; /* of GD_WORK_ASSIGN; held */
    } is;
};

/* A copy that owns what it points to; false when memory runs out. Conditional nodes, whose bodies
 * are graphs, have none. */
bool gd_work_copy(gd_work *target, const gd_work *source);
void gd_work_free(gd_work *work);

/* The work carried out at once: everything but kernels, host functions, graphs, conditional nodes
 * and events.
 * `race`, which may be NULL, is told what it accesses. CUDA_ERROR_ILLEGAL_ADDRESS when memory that
 * it names is no longer there. */
gd_CUresult gd_work_execute(gd_work *work, gd_race_task *race);

/* Nanoseconds of model time that it takes. */
uint64_t gd_work_time(const gd_work *work);

gd_CUgraphNodeType gd_work_node_type(gd_work_kind kind);

/* Whether [address, address + bytes) lies in one allocation that has not been freed; *host, which
 * may be NULL, is where its bytes are. */
bool gd_work_resolve(uint64_t address, uint64_t bytes, unsigned char **host);

/* Bytes from the first to behind the last that a side of a copy touches; false when that
 * overflows. */
bool gd_copy_extent(const gd_copy_work *copy, const gd_copy_side *side, uint64_t *bytes);

#endif

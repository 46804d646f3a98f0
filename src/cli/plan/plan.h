/* A plan: modules, buffers, launches and expectations, all checked, every name resolved to an
 * index. Made from a chain file, of a program's launches or in memory; realised on a device by a
 * session. */
#ifndef GD_CLI_PLAN_H
#define GD_CLI_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

#include "cli/io/message.h"
#include "cli/plan/reference.h"
#include "cli/io/type.h"

typedef enum gd_fill_kind {
    GD_FILL_CONSTANT, /* a: the value */
    GD_FILL_UNIFORM,  /* a to b; integers: b included */
    GD_FILL_NORMAL,   /* mean a, standard deviation b */
    GD_FILL_SEQUENCE, /* a, a + b, a + 2 b, ... */
    GD_FILL_FILE      /* raw little-endian elements: those of a file, or `data` */
} gd_fill_kind;

/* What a buffer holds before each run. long double keeps every 64-bit integer. */
typedef struct gd_fill {
    gd_fill_kind kind;
    uint64_t seed;
    long double a, b;
    char *path, *data;
} gd_fill;

typedef struct gd_plan_buffer {
    char *name;
    gd_type type;
    uint64_t count; /* elements */
    gd_fill fill;
    bool written;       /* by any launch, as far as the plan says: else the PTX does */
    bool written_first; /* its first use is a whole write: it is poisoned before each run */
    gd_place place;
} gd_plan_buffer;

typedef struct gd_plan_module {
    char *name;
    char *path;  /* or NULL */
    char *shelf; /* or NULL */
    char *code;  /* what stands in a file of that name, where there is none; NULL */
    uint64_t code_bytes;
    const char **options;
    uint32_t option_count;
    const char **expressions; /* of CUDA C++: kernels with a C++ name, "scale<2>"; borrowed */
    uint32_t expression_count;
    gd_place place;
} gd_plan_module;

/* An address that stands in a struct. */
typedef struct gd_plan_address {
    uint32_t at; /* byte of the struct */
    uint32_t buffer;
    uint64_t offset; /* elements */
} gd_plan_address;

typedef struct gd_plan_argument {
    bool is_buffer;
    uint32_t buffer;
    uint64_t offset; /* elements */
    uint64_t count;  /* elements from there; 0: to the buffer's end */
    int32_t
        access;  /* GRIDDEP_ACCESS_*; _UNKNOWN is as _UPDATE, but left to the library to find out.
                     * _WRITE: whole, before anything of it is read */
    bool viewed; /* the kernel takes the buffer's bytes for elements of `type` */
    griddep_tensor_options *
        tensor; /* NULL, or a map of the buffer is passed, not its address (which is not in here) */
    gd_type type;        /* of a value, or of what a buffer is taken for */
    uint64_t value;      /* its bytes, little-endian */
    unsigned char *data; /* of a struct, in place of all above; NULL: it is none */
    uint32_t data_bytes;
    gd_plan_address *addresses; /* that are written into a copy of it */
    uint32_t address_count;
    gd_place place;
} gd_plan_argument;

/* What stands in gd_plan_launch.grids beside numbers. */
enum { GD_GRID_ANY = 0, GD_GRID_MULTIPROCESSORS = -1 };

/* What stands in gd_plan_launch.carveouts beside percents and GRIDDEP_CARVEOUT_DEFAULT. */
enum { GD_CARVEOUT_ANY = -2 };

enum { GD_PLAN_SHAPES = 4 };

/* A launch of a kernel, a copy or a fill. A copy's arguments are its target and its source, a
 * fill's its target. */
typedef struct gd_plan_launch {
    int32_t node;    /* GRIDDEP_GRAPH_NODE_KERNEL, _COPY or _FILL */
    uint8_t value;   /* of a fill */
    char *kernel;    /* its name, or "copy", "fill" */
    char *name;      /* or NULL */
    uint32_t *after; /* earlier launches that it waits for */
    uint32_t after_count;
    uint32_t module; /* of a kernel */
    griddep_launch_config
        config; /* without its attributes' address; of others the lane alone. Lanes
                                   * are those of the plan */
    bool grid_is_multiprocessors; /* grid[0] is the device's number of multiprocessors */
    uint32_t *grids; /* other first dimensions that give the same result, or GD_GRID_* */
    uint32_t grid_count;
    griddep_attribute attributes[2]; /* carve-out, cluster scheduling */
    bool has_carveout;
    int32_t carveout_percent;
    int32_t *carveouts; /* others that may be tried: percents, _DEFAULT or GD_CARVEOUT_ANY */
    uint32_t carveout_count;
    uint32_t states;               /* traits that the file vouches for; 0: none */
    const gd_reference *reference; /* or NULL */
    gd_plan_argument *arguments;
    uint32_t argument_count;
    gd_plan_argument *reaches; /* all that it reaches beside its arguments; NULL: not said */
    uint32_t reach_count;
    gd_place place, shape_places[GD_PLAN_SHAPES]; /* grid, block, cluster, shared */
} gd_plan_launch;

typedef enum gd_expected {
    GD_EXPECTED_FILE,
    GD_EXPECTED_REFERENCE,
    GD_EXPECTED_SERIAL
} gd_expected;

typedef struct gd_plan_expectation {
    uint32_t buffer;
    gd_expected from;
    gd_fill file;     /* GD_EXPECTED_FILE */
    double tolerance; /* relative, of the norm of the difference; below 0: not asked for */
    double absolute;  /* largest difference of one element; below 0: not asked for */
    gd_place place;
} gd_plan_expectation;

typedef struct gd_plan {
    char *name;
    gd_plan_module *modules;
    uint32_t module_count;
    gd_plan_buffer *buffers;
    uint32_t buffer_count;
    gd_plan_launch *launches;
    uint32_t launch_count;
    char **lanes; /* their names, in the order in which launches name them */
    uint32_t lane_count;
    gd_plan_expectation *expectations;
    uint32_t expectation_count;
    uint64_t step_bytes; /* that a step moves; 0: not known, until gd_plan_finish or for good */
} gd_plan;

/* Each appends a zeroed item, which is valid until the next one is added. */
gd_plan_module *gd_plan_add_module(gd_plan *plan);
gd_plan_buffer *gd_plan_add_buffer(gd_plan *plan);
gd_plan_launch *gd_plan_add_launch(gd_plan *plan);
gd_plan_argument *gd_plan_add_argument(gd_plan_launch *launch);

/* What GRIDDEP_PDL_* are called, from AUTO on: "auto", "off", "force". */
extern const char *const gd_plan_pdl_names[3];

/* What the chain file calls a launch, else its kernel. */
const char *gd_plan_launch_name(const gd_plan *plan, uint32_t launch);

/* The same behind its number, as the library says it in messages: "launch 2 (scale)". To free. */
char *gd_plan_launch_text(const gd_plan *plan, uint32_t launch);
gd_plan_expectation *gd_plan_add_expectation(gd_plan *plan);

/* The index of a lane, which is added when the plan lacks it; NULL: the lane of launches that name
 * none. */
uint32_t gd_plan_lane(gd_plan *plan, const char *name);

/* The index of a shelf kernel's module, which is added when the plan lacks it. */
uint32_t gd_plan_shelf_module(gd_plan *plan, const char *kernel, gd_place place);

/* The grids that a launch offers on a device with so many multiprocessors, each once, without the
 * one that it has: 'any' is half of them, all of them and twice as many. What does not go with the
 * launch's cluster is left out. To free. */
uint32_t *gd_plan_grids(const gd_plan_launch *launch, uint32_t multiprocessors, uint32_t *count);

/* The carve-outs that a launch offers, each once, without the one that it has: 'any' is quarters of
 * the memory from 0 to all of it. To free. */
int32_t *gd_plan_carveouts(const gd_plan_launch *launch, uint32_t *count);

/* Of what is passed: 8 of an address, 128 of a tensor map. */
uint32_t gd_plan_argument_bytes(const gd_plan_argument *argument);

uint64_t gd_plan_buffer_bytes(const gd_plan_buffer *buffer);

bool gd_plan_writes(const gd_plan_argument *argument);

/* Of the buffer that an argument points into, from there on. */
uint64_t gd_plan_reach(const gd_plan *plan, const gd_plan_argument *argument);

bool gd_plan_is_kernel(const gd_plan_launch *launch);

uint32_t gd_plan_kernel_count(const gd_plan *plan);

/* Fills what follows from the rest: which buffers are written, and the bytes of a step where none
 * are given. */
void gd_plan_finish(gd_plan *plan);

/* A buffer for which the plan says how far it may be from the serial run need not have the same
 * bits. */
bool gd_plan_may_deviate(const gd_plan *plan, uint32_t buffer);

/* Sets for each buffer that the launches write 1 + the last one that does; the others stay as they
 * are. writes: whether each argument whose access is not said is written through, those of the
 * first launch first; NULL: all are. */
void gd_plan_find_writers(const gd_plan *plan, const bool *writes, uint32_t *writers);

/* Whether the chain file says what a buffer is to hold behind a run. */
bool gd_plan_is_expected(const gd_plan *plan, uint32_t buffer);

void gd_plan_free(gd_plan *plan);

#endif

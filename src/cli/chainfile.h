/* A chain file as it is written: the structure is checked, the values are still text. doc/griddep-chain.md describes
 * it. */
#ifndef GD_CLI_CHAINFILE_H
#define GD_CLI_CHAINFILE_H

#include <stdint.h>

#include "cli/type.h"
#include "cli/yaml.h"

typedef struct gd_chainfile_module {
    char *name;
    char *file;
    char *shelf;
    char **options;
    uint32_t options_count;
} gd_chainfile_module;

typedef struct gd_chainfile_random {
    char *seed, *distribution, *low, *high, *mean, *deviation;
} gd_chainfile_random;

typedef struct gd_chainfile_sequence {
    char *start, *step;
} gd_chainfile_sequence;

typedef struct gd_chainfile_buffer {
    char *name;
    char *type;
    char *count;
    char *constant;
    gd_chainfile_random *random;
    gd_chainfile_sequence *sequence;
    char *file;
} gd_chainfile_buffer;

typedef struct gd_chainfile_tensor {
    char **dimensions;
    uint32_t dimensions_count;
    char **strides;
    uint32_t strides_count;
    char **box;
    uint32_t box_count;
    char **steps;
    uint32_t steps_count;
    char *interleave, *swizzle, *promotion, *fill;
} gd_chainfile_tensor;

typedef struct gd_chainfile_argument {
    char *buffer;
    char *offset;
    char *access;
    char *as;
    gd_chainfile_tensor *tensor_map;
#define MEMBER(type) char *type;
    GD_TYPES(MEMBER)
#undef MEMBER
} gd_chainfile_argument;

typedef struct gd_chainfile_launch {
    char *kernel;
    char *module;
    char **grid;
    uint32_t grid_count;
    char **block;
    uint32_t block_count;
    char **cluster;
    uint32_t cluster_count;
    char *cluster_scheduling;
    char *shared;
    char *pdl;
    char *reference;
    char *name;
    char *lane;
    char **after;
    uint32_t after_count;
    char **grids;
    uint32_t grids_count;
    char *carveout;
    char **carveouts;
    uint32_t carveouts_count;
    gd_chainfile_argument *arguments;
    uint32_t arguments_count;
} gd_chainfile_launch;

typedef struct gd_chainfile_expectation {
    char *buffer;
    char *file;
    char *from;
    char *tolerance;
    char *absolute;
} gd_chainfile_expectation;

typedef struct gd_chainfile {
    char *name;
    char *bytes;
    gd_chainfile_module *modules;
    uint32_t modules_count;
    gd_chainfile_buffer *buffers;
    uint32_t buffers_count;
    gd_chainfile_launch *launches;
    uint32_t launches_count;
    gd_chainfile_expectation *expect;
    uint32_t expect_count;
} gd_chainfile;

/* Reads a chain file. `yaml` keeps the positions; both are the caller's to free. Returns 0, or an exit code after a
 * message. */
int gd_chainfile_load(const char *path, gd_yaml *yaml, gd_chainfile **chainfile);

/* The file's text, with `head` in front (comment lines). To free; NULL after a message. */
char *gd_chainfile_print(const gd_chainfile *chainfile, const char *head);

/* Takes NULL. */
void gd_chainfile_free(gd_chainfile *chainfile);

#endif

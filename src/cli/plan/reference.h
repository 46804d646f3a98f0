/* What the shelf's kernels compute, on the CPU in double arithmetic: for the command's --check and
 * for the kernels' tests. */
#ifndef GD_CLI_REFERENCE_H
#define GD_CLI_REFERENCE_H

#include <stdint.h>

/* One argument of a launch, in the order of the kernel's parameters. A device address becomes a
 * host array. */
typedef struct gd_reference_argument {
    const char *type; /* of an element, or of the scalar: a name that gd_element_bytes knows */
    void *data;       /* the array; NULL for a scalar */
    uint64_t count;   /* elements of the array */
    double scalar;
} gd_reference_argument;

typedef struct gd_reference gd_reference;

/* Runs one launch of self's kernel: reads the arrays, writes the output arrays rounded to their
 * type once, at the store. An output may be an input where the kernel allows that. Returns 0, or -1
 * when number, types or sizes of the arguments do not fit or memory runs out; then nothing was
 * written. grid is the launch's, in blocks: it gives the rows of kernels that take a block for
 * each. */
typedef int (*gd_reference_function)(const gd_reference *self,
                                     const gd_reference_argument *arguments, uint32_t count,
                                     const uint32_t grid[3]);

struct gd_reference {
    const char *kernel;
    gd_reference_function run;
    uint32_t
        outputs; /* bit i: argument i is an array that the kernel writes, in part or in whole */
    const char *type;       /* of the elements, where kernels that share `run` differ by it */
    const char *input_type; /* of what a cast reads, of a linear layer's weights */
};

/* The reference of a kernel of the shelf; NULL when there is none. Static. */
const gd_reference *gd_reference_find(const char *kernel);

#endif

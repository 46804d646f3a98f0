/* What the tests of the shelf's kernels share: loading, random arrays, arrays between guard bands,
 * a launch against its float64 reference, and chains whose four modes must agree to the bit. The
 * cases stand in a file for each family. */
#ifndef TESTS_KERNELS_SHELF_H
#define TESTS_KERNELS_SHELF_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

#include "cli/plan/reference.h"

extern griddep_runtime *shelf_runtime;
extern griddep_error shelf_error;
extern bool shelf_on_gpu; /* false: the emulated driver, where a case should take the smaller of its
                   * shapes */

#define MUST(call) ck_assert_msg((call) == GRIDDEP_OK, "%s: %s", #call, shelf_error.text)

enum { SHELF_MOST_ARGUMENTS = 24 };

/* ---- kernels ---- */

typedef struct shelf_kernel {
    griddep_module *module;
    griddep_kernel *kernel;
    griddep_kernel_info info;
} shelf_kernel;

/* capability 0: the text that the library chooses for the device; else for that capability. */
shelf_kernel shelf_load(const char *name, int32_t capability);

/* Whether a device of that capability gets another text of the kernel than one of 9.0. */
bool shelf_has_variant(const char *name, int32_t capability);
uint32_t shelf_most_shared(const shelf_kernel *kernel);

/* ---- random numbers, and arrays made of them; the caller frees them ---- */

extern uint64_t shelf_random_state;
uint32_t shelf_random_bits(void);
double shelf_random_unit(void); /* uniform in (-1, 1) */
void *shelf_array(const char *type, uint64_t count);
void *shelf_random_array(const char *type, uint64_t count, double scale);
void *shelf_copy(const char *type, const void *array, uint64_t count);

/* ---- device arrays between guard bands ---- */

enum { SHELF_POISON = 0xa5 };

typedef struct shelf_guarded {
    uint64_t base;
    uint64_t address;
    uint64_t bytes;
    uint64_t total;
} shelf_guarded;

shelf_guarded shelf_guarded_create(uint64_t bytes, uint64_t misalignment);
void shelf_guarded_write(const shelf_guarded *array, const void *data);

/* Reads the array and fails where a byte outside it is not the poison any more. The caller frees
 * the copy. */
unsigned char *shelf_guarded_read(const shelf_guarded *array, const char *what);
void shelf_guarded_destroy(shelf_guarded *array);

/* ---- one launch against its reference ---- */

/* The reference of any kernel of the shelf. */
const gd_reference *shelf_reference(const char *kernel);

/* Shared memory UINT32_MAX stands for all there is, where shelf_fit_shared is asked. */
typedef struct shelf_shape {
    uint32_t grid;
    uint32_t block;
    uint32_t shared;
} shelf_shape;

typedef struct shelf_argument {
    const char *type;
    void *data; /* NULL: a scalar */
    uint64_t count;
    double scalar;
    uint64_t misalignment;
    const griddep_tensor_options
        *map;  /* NULL, or the array is passed as a tensor map of this kind, at its address */
    bool kept; /* an output that begins with `data` and not with poison: the kernel reads it, or
               * writes a part */
} shelf_argument;

/* The argument of a launch: the array's address, or the scalar. */
griddep_argument shelf_launch_argument(const shelf_argument *argument, const shelf_guarded *array);

/* Whether element `index` of argument `output` will do though it is neither equal to the expected
 * one nor NaN like it. */
typedef bool (*shelf_element_check)(const shelf_argument *arguments, uint32_t output, double got,
                                    double expected, uint64_t index);

bool shelf_equal(const shelf_argument *arguments, uint32_t output, double got, double expected,
                 uint64_t index);

/* Whether two finite values are a step of bf16 (or f16) apart at most. */
bool shelf_within_bf16_step(double got, double expected);
bool shelf_within_f16_step(double got, double expected);

shelf_shape shelf_fit_shared(const shelf_kernel *kernel, shelf_shape wanted);

/* Launches the kernel on copies of the arguments' arrays, those that it only writes poisoned, and
 * compares all outputs with the reference; inputs and surroundings must be as they were. Returns
 * the first output, which the caller frees.
 */
void *shelf_run_config(const shelf_kernel *kernel, const shelf_argument *arguments, uint32_t count,
                       const griddep_launch_config *config, shelf_element_check check);
void *shelf_run(const shelf_kernel *kernel, const shelf_argument *arguments, uint32_t count,
                shelf_shape shape, shelf_element_check check);
void shelf_check(const shelf_kernel *kernel, const shelf_argument *arguments, uint32_t count,
                 shelf_shape shape, shelf_element_check check);

/* ---- chains ---- */

/* A kernel whose output, of as many bytes as its input, is the next hop's input. */
typedef struct shelf_link {
    const char *kernel;
    uint64_t bytes; /* of what a hop hands on, a multiple of 4 * 128 */
    griddep_launch_config config;
    uint32_t
        count; /* of the arguments; INPUT and OUTPUT are replaced by the hop's arrays, CONSTANT by
                * the constant, ZEROS by 64 bytes of zeros */
    griddep_argument arguments[SHELF_MOST_ARGUMENTS];
    const griddep_tensor_options
        *maps[SHELF_MOST_ARGUMENTS]; /* NULL, or an array is passed as such a tensor map */
    const char *type;                /* of the constant's elements and of the first input's */
    uint64_t constant_count;
    double constant_scale;
} shelf_link;

enum { SHELF_INPUT = 1, SHELF_OUTPUT = 2, SHELF_CONSTANT = 3, SHELF_ZEROS = 4 };

/* Stands for an address of a chain: 8 bytes, whose value 1 to 4 says of which array. */
#define SHELF_PLACE(what)                                                                          \
    {                                                                                              \
        .bytes = 8, .value = (what)                                                                \
    }

/* A chain of hops: a spin that triggers at once and takes its time on few threads, then the kernel
 * under test on the spin's output. A kernel that reads before it waits reads poison. The bits of
 * every array must be those of the serial run. */
void shelf_check_chain(const shelf_link *link, int32_t capability);

/* ---- the families' cases; the last has no kernel ---- */

typedef struct shelf_case {
    const char *kernel;
    int32_t capability; /* 0: the variant that the library chooses */
    void (*run)(const shelf_kernel *kernel);
} shelf_case;

extern const shelf_case attention_cases[];
extern const shelf_case elementwise_cases[];
extern const shelf_case embedding_cases[];
extern const shelf_case gemm_cases[];
extern const shelf_case linear_cases[];
extern const shelf_case norm_cases[];
extern const shelf_case sampling_cases[];
extern const shelf_case softmax_cases[];
extern const shelf_case test_cases[];
extern const shelf_link attention_links[];
extern const shelf_link elementwise_links[];
extern const shelf_link embedding_links[];
extern const shelf_link gemm_links[];
extern const shelf_link linear_links[];
extern const shelf_link norm_links[];
extern const shelf_link sampling_links[];
extern const shelf_link softmax_links[];
extern const shelf_link test_links[];

#endif

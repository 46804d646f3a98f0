/* The shelf on a GPU, through the public API alone: every kernel against its reference with random and extreme inputs,
 * with guard bands around every array, and in chains whose four modes must agree to the bit. Exits 77 where there is no
 * GPU, unless GRIDDEP_REQUIRE_GPU=1. */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "cli/reference.h"
#include "griddep.h"

enum { GUARD_BYTES = 512, POISON = 0xa5, MOST_ARGUMENTS = 5, HOPS = 6, SPIN_NANOSECONDS = 20000, REPEATS = 10 };

static griddep_runtime *runtime;
static griddep_error error;

#define MUST(call) ck_assert_msg((call) == GRIDDEP_OK, "%s: %s", #call, error.text)

/* ------------------------------------------------------------------------------------------------------------------------
 * Kernels
 */

typedef struct loaded {
    griddep_module *module;
    griddep_kernel *kernel;
    griddep_kernel_info info;
} loaded;

static bool find_variant(const char *name, int32_t capability, griddep_shelf_info *info)
{
    for (uint32_t i = 0;; i++) {
        info->size = sizeof *info;
        if (griddep_shelf_at(i, info, NULL) != GRIDDEP_OK)
            return false;
        if (strcmp(info->name, name) == 0 && info->capability == capability)
            return true;
    }
}

/* capability 0: the variant that the library chooses; else the text of that variant. */
static loaded load(const char *name, int32_t capability)
{
    loaded result = {0};
    griddep_shelf_info info = {0};
    if (capability == 0) {
        MUST(griddep_module_load_shelf(runtime, name, NULL, &result.module, &error));
    } else {
        ck_assert_msg(find_variant(name, capability, &info), "the shelf has no %s for sm_%d", name, (int)capability);
        MUST(griddep_module_load(runtime, info.text, info.bytes, NULL, &result.module, &error));
    }
    MUST(griddep_kernel_get(result.module, name, &result.kernel, &error));
    result.info.size = sizeof result.info;
    MUST(griddep_kernel_get_info(result.kernel, &result.info, &error));
    return result;
}

static uint32_t most_shared(const loaded *kernel)
{
    return kernel->info.maximum_dynamic_shared_bytes;
}

/* ------------------------------------------------------------------------------------------------------------------------
 * Random numbers and the arrays made of them
 */

static uint64_t random_state;

static uint32_t random_bits(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

/* Uniform in (-1, 1). */
static double random_unit(void)
{
    return ((double)random_bits() + 0.5) / 0x1p31 - 1;
}

static void *make_array(const char *type, uint64_t count)
{
    void *array = calloc(count > 0 ? count : 1, gd_element_bytes(type));
    ck_assert_ptr_nonnull(array);
    return array;
}

static void *make_random(const char *type, uint64_t count, double scale)
{
    void *array = make_array(type, count);
    for (uint64_t i = 0; i < count; i++)
        gd_element_store(type, array, i, random_unit() * scale);
    return array;
}

static void *copy_array(const char *type, const void *array, uint64_t count)
{
    void *copy = make_array(type, count);
    memcpy(copy, array, count * gd_element_bytes(type));
    return copy;
}

/* ------------------------------------------------------------------------------------------------------------------------
 * Device arrays between guard bands
 */

typedef struct guarded {
    uint64_t base;
    uint64_t address;
    uint64_t bytes;
    uint64_t total;
} guarded;

static guarded guarded_create(uint64_t bytes, uint64_t misalignment)
{
    guarded array = {.bytes = bytes, .total = bytes + misalignment + 2 * GUARD_BYTES};
    MUST(griddep_memory_allocate(runtime, array.total, &array.base, &error));
    MUST(griddep_memory_fill(runtime, array.base, POISON, array.total, NULL, &error));
    array.address = array.base + GUARD_BYTES + misalignment;
    return array;
}

static void guarded_write(const guarded *array, const void *data)
{
    if (array->bytes > 0)
        MUST(griddep_memory_write(runtime, array->address, data, array->bytes, NULL, &error));
}

/* Reads the array and fails where a byte outside it is not the poison any more. The caller frees the copy. */
static unsigned char *guarded_read(const guarded *array, const char *what)
{
    unsigned char *all = malloc(array->total);
    unsigned char *data = malloc(array->bytes > 0 ? array->bytes : 1);
    uint64_t start = array->address - array->base;
    ck_assert_ptr_nonnull(all);
    ck_assert_ptr_nonnull(data);
    MUST(griddep_memory_read(runtime, all, array->base, array->total, NULL, &error));
    for (uint64_t i = 0; i < array->total; i++) {
        if (i == start)
            i += array->bytes;
        ck_assert_msg(i >= array->total || all[i] == POISON, "%s: byte %lld of the array's surroundings was written",
                      what, (long long)i - (long long)start);
    }
    memcpy(data, all + start, array->bytes);
    free(all);
    return data;
}

static void guarded_destroy(guarded *array)
{
    MUST(griddep_memory_free(runtime, array->base, &error));
}

/* ------------------------------------------------------------------------------------------------------------------------
 * One launch against its reference
 */

typedef struct launch_shape {
    uint32_t grid;
    uint32_t block;
    uint32_t shared;
} launch_shape;

typedef struct array_or_scalar {
    const char *type;
    void *data; /* NULL: a scalar */
    uint64_t count;
    double scalar;
    uint64_t misalignment;
} array_or_scalar;

/* Looks at element `index` of a result that is neither equal to the expected element nor NaN like it. */
typedef bool (*element_check)(const array_or_scalar *arguments, double got, double expected, uint64_t index);

static bool element_equal(const array_or_scalar *arguments, double got, double expected, uint64_t index)
{
    (void)arguments;
    (void)index;
    return got == expected;
}

static uint64_t argument_bytes(const array_or_scalar *argument)
{
    return argument->count * gd_element_bytes(argument->type);
}

static griddep_argument launch_argument(const array_or_scalar *argument, const guarded *array)
{
    griddep_argument result = {.bytes = gd_element_bytes(argument->type)};
    if (argument->data != NULL) {
        result.bytes = 8;
        result.value = array->address;
    } else {
        gd_element_store(argument->type, &result.value, 0, argument->scalar);
    }
    return result;
}

static void launch(const loaded *kernel, const griddep_argument *arguments, uint32_t count, launch_shape shape)
{
    griddep_launch_config config = {
        .size = sizeof config, .grid = {shape.grid}, .block = {shape.block}, .shared_bytes = shape.shared};
    MUST(griddep_launch(kernel->kernel, &config, arguments, count, NULL, &error));
    MUST(griddep_stream_synchronize(runtime, NULL, &error));
}

static void compare(const char *what, const array_or_scalar *arguments, uint32_t output, const void *got,
                    const void *expected, element_check check)
{
    const char *type = arguments[output].type;
    for (uint64_t i = 0; i < arguments[output].count; i++) {
        double value = gd_element_load(type, got, i);
        double wanted = gd_element_load(type, expected, i);
        if (value == wanted || (isnan(value) && isnan(wanted)))
            continue;
        ck_assert_msg(check(arguments, value, wanted, i), "%s: element %llu is %.9g, expected %.9g", what,
                      (unsigned long long)i, value, wanted);
    }
}

/* Launches the kernel on copies of the arguments' arrays, the output's poisoned, and compares with the reference;
 * inputs and surroundings must be as they were. Returns the output, which the caller frees. */
static void *run_launch(const loaded *kernel, const array_or_scalar *arguments, uint32_t count, launch_shape shape,
                        element_check check)
{
    const gd_reference *reference = gd_reference_find(kernel->info.name);
    guarded arrays[MOST_ARGUMENTS] = {0};
    griddep_argument launched[MOST_ARGUMENTS] = {0};
    gd_reference_argument referred[MOST_ARGUMENTS] = {0};
    const uint32_t grid[3] = {shape.grid, 1, 1};
    char what[200];
    ck_assert_ptr_nonnull(reference);
    snprintf(what, sizeof what, "%s<<<%u, %u, %u>>> of %llu elements", kernel->info.name, shape.grid, shape.block,
             shape.shared, (unsigned long long)arguments[reference->output].count);
    void *expected = make_array(arguments[reference->output].type, arguments[reference->output].count);
    for (uint32_t i = 0; i < count; i++) {
        if (arguments[i].data != NULL) {
            arrays[i] = guarded_create(argument_bytes(&arguments[i]), arguments[i].misalignment);
            if (i != reference->output)
                guarded_write(&arrays[i], arguments[i].data);
        }
        launched[i] = launch_argument(&arguments[i], &arrays[i]);
        referred[i] = (gd_reference_argument){arguments[i].type, i == reference->output ? expected : arguments[i].data,
                                              arguments[i].count, arguments[i].scalar};
    }
    launch(kernel, launched, count, shape);
    ck_assert_int_eq(reference->run(referred, count, grid), 0);
    void *result = NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (arguments[i].data == NULL)
            continue;
        void *read = guarded_read(&arrays[i], what);
        if (i == reference->output) {
            result = read;
        } else {
            ck_assert_msg(memcmp(read, arguments[i].data, argument_bytes(&arguments[i])) == 0,
                          "%s: input %u was written", what, i);
            free(read);
        }
        guarded_destroy(&arrays[i]);
    }
    compare(what, arguments, reference->output, result, expected, check);
    free(expected);
    return result;
}

static void check_launch(const loaded *kernel, const array_or_scalar *arguments, uint32_t count, launch_shape shape,
                         element_check check)
{
    free(run_launch(kernel, arguments, count, shape, check));
}

/* ------------------------------------------------------------------------------------------------------------------------
 * vector_add
 */

static void check_vector_add(const loaded *kernel, void *x, void *y, uint64_t count, const uint64_t misalignment[3],
                             launch_shape shape)
{
    void *out = make_array("f32", count);
    array_or_scalar arguments[] = {
        {.type = "f32", .data = x, .count = count, .misalignment = misalignment[0]},
        {.type = "f32", .data = y, .count = count, .misalignment = misalignment[1]},
        {.type = "f32", .data = out, .count = count, .misalignment = misalignment[2]},
        {.type = "u32", .scalar = (double)count},
    };
    check_launch(kernel, arguments, 4, shape, element_equal);
    free(out);
}

static void vector_add_random(const loaded *kernel)
{
    static const uint64_t counts[] = {0, 1, 2, 3, 4, 5, 7, 8, 31, 1023, 1024, 1025, 100003, 1 << 20};
    static const launch_shape shapes[] = {{1, 1, 0}, {1, 32, 0}, {3, 33, 0}, {132, 256, 0}, {1056, 1024, 0}};
    static const uint64_t misalignments[][3] = {{0, 0, 0}, {4, 4, 4}, {12, 12, 12}, {0, 4, 0}, {8, 8, 12}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        void *x = make_random("f32", counts[i], 1e3);
        void *y = make_random("f32", counts[i], 1);
        for (size_t j = 0; j < 25; j++) {
            if (shapes[j % 5].grid > 1 || counts[i] < 10000)
                check_vector_add(kernel, x, y, counts[i], misalignments[j / 5], shapes[j % 5]);
        }
        free(x);
        free(y);
    }
}

static void vector_add_extreme(const loaded *kernel)
{
    static const double values[] = {0,  -0.0,    0x1p-149, -0x1p-149, 0x1p-126,  1,
                                    -1, FLT_MAX, -FLT_MAX, INFINITY,  -INFINITY, NAN};
    enum { VALUES = sizeof values / sizeof values[0] };
    static const uint64_t aligned[3] = {0, 0, 0};
    void *x = make_array("f32", VALUES * VALUES);
    void *y = make_array("f32", VALUES * VALUES);
    for (uint64_t i = 0; i < VALUES * VALUES; i++) {
        gd_element_store("f32", x, i, values[i / VALUES]);
        gd_element_store("f32", y, i, values[i % VALUES]);
    }
    check_vector_add(kernel, x, y, VALUES * VALUES, aligned, (launch_shape){2, 64, 0});
    free(x);
    free(y);
}

/* ------------------------------------------------------------------------------------------------------------------------
 * rms_norm
 */

/* Steps of bf16 from one finite value to another. */
static bool within_bf16_step(double got, double expected)
{
    double magnitude = fmax(fabs(got), fabs(expected));
    int exponent = 0;
    (void)frexp(magnitude, &exponent);
    return fabs(got - expected) <= fmax(ldexp(1, exponent - 8), 0x1p-133);
}

static bool rms_norm_element(const array_or_scalar *arguments, double got, double expected, uint64_t index)
{
    (void)arguments;
    (void)index;
    return isfinite(got) && isfinite(expected) && within_bf16_step(got, expected);
}

static void check_rms_norm(const loaded *kernel, void *x, void *weight, uint32_t columns, double epsilon,
                           uint64_t misalignment, launch_shape shape)
{
    uint64_t count = (uint64_t)columns * shape.grid;
    void *out = make_array("bf16", count);
    array_or_scalar arguments[] = {
        {.type = "bf16", .data = x, .count = count, .misalignment = misalignment},
        {.type = "bf16", .data = weight, .count = columns},
        {.type = "bf16", .data = out, .count = count, .misalignment = misalignment},
        {.type = "u32", .scalar = columns},
        {.type = "f32", .scalar = epsilon},
    };
    check_launch(kernel, arguments, 5, shape, rms_norm_element);
    free(out);
}

static void rms_norm_random(const loaded *kernel)
{
    static const uint32_t columns[] = {1, 2, 7, 8, 9, 64, 255, 256, 2048, 4096, 4100, 8192, 16384, 28671, 28672};
    static const launch_shape shapes[] = {{1, 32, 0}, {5, 96, 0}, {3, 512, 0}, {2, 1024, 0}};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        for (size_t j = 0; j < sizeof shapes / sizeof shapes[0]; j++) {
            void *x = make_random("bf16", (uint64_t)columns[i] * shapes[j].grid, pow(10, random_unit() * 3));
            void *weight = make_random("bf16", columns[i], 2);
            check_rms_norm(kernel, x, weight, columns[i], 1e-5, 0, shapes[j]);
            check_rms_norm(kernel, x, weight, columns[i], 0, 2 * (i % 9), shapes[j]);
            free(x);
            free(weight);
        }
    }
}

/* One row of each sort; `special` stands at one place of an ordinary row. */
static void rms_norm_extreme(const loaded *kernel)
{
    static const double fills[] = {0, 0x1p-133, 1e-30, 1e15, 3e38};
    static const double specials[] = {0, -0.0, 0x1p-133, 1e18, 3.38e38, INFINITY, -INFINITY, NAN};
    enum {
        COLUMNS = 1000,
        FILLS = sizeof fills / sizeof fills[0],
        ROWS = FILLS + sizeof specials / sizeof specials[0]
    };
    void *x = make_random("bf16", ROWS * COLUMNS, 1);
    void *weight = make_random("bf16", COLUMNS, 1);
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++) {
        if (i / COLUMNS < FILLS)
            gd_element_store("bf16", x, i, fills[i / COLUMNS]);
        else if (i % COLUMNS == 777)
            gd_element_store("bf16", x, i, specials[i / COLUMNS - FILLS]);
    }
    check_rms_norm(kernel, x, weight, COLUMNS, 1e-6, 0, (launch_shape){ROWS, 128, 0});
    check_rms_norm(kernel, x, weight, COLUMNS, 1e-6, 2, (launch_shape){ROWS, 128, 0});
    free(x);
    free(weight);
}

/* ------------------------------------------------------------------------------------------------------------------------
 * softmax
 */

/* The bound that the kernel's head comment states, with room for the smallest subnormals. The sum is at least 1, so
 * max - x is at most -log(expected). */
static bool softmax_element(const array_or_scalar *arguments, double got, double expected, uint64_t index)
{
    (void)arguments;
    (void)index;
    double below = -log(fmax(expected, 0x1p-149));
    return fabs(got - expected) <= expected * (0x1p-19 + 0x1p-22 * below) + 0x1p-147;
}

static void check_softmax(const loaded *kernel, void *x, uint32_t columns, uint64_t misalignment, launch_shape shape)
{
    uint64_t count = (uint64_t)columns * shape.grid;
    void *out = make_array("f32", count);
    array_or_scalar arguments[] = {
        {.type = "f32", .data = x, .count = count, .misalignment = misalignment},
        {.type = "f32", .data = out, .count = count},
        {.type = "u32", .scalar = columns},
    };
    check_launch(kernel, arguments, 3, shape, softmax_element);
    free(out);
}

static void softmax_random(const loaded *kernel)
{
    static const uint32_t columns[] = {1, 2, 3, 4, 5, 31, 127, 128, 512, 1000, 1023, 4096, 8192, 8193, 28672};
    static const launch_shape shapes[] = {{1, 32, 0}, {4, 96, 0}, {3, 256, 0}, {2, 1024, 0}};
    static const double scales[] = {1, 50, 1e30};
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        for (size_t j = 0; j < sizeof shapes / sizeof shapes[0]; j++) {
            void *x = make_random("f32", (uint64_t)columns[i] * shapes[j].grid, scales[(i + j) % 3]);
            check_softmax(kernel, x, columns[i], 0, shapes[j]);
            check_softmax(kernel, x, columns[i], 4, shapes[j]);
            free(x);
        }
    }
}

static void softmax_extreme(const loaded *kernel)
{
    static const double fills[] = {0, -0.0, 0x1p-149, FLT_MAX, -FLT_MAX, -INFINITY, INFINITY, NAN};
    static const double specials[] = {0x1p-149, FLT_MAX, -FLT_MAX, -INFINITY, INFINITY, NAN};
    enum {
        COLUMNS = 1000,
        FILLS = sizeof fills / sizeof fills[0],
        ROWS = FILLS + sizeof specials / sizeof specials[0]
    };
    void *x = make_random("f32", ROWS * COLUMNS, 10);
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++) {
        if (i / COLUMNS < FILLS)
            gd_element_store("f32", x, i, fills[i / COLUMNS]);
        else if (i % COLUMNS == 333)
            gd_element_store("f32", x, i, specials[i / COLUMNS - FILLS]);
    }
    check_softmax(kernel, x, COLUMNS, 0, (launch_shape){ROWS, 128, 0});
    check_softmax(kernel, x, COLUMNS, 4, (launch_shape){ROWS, 256, 0});
    free(x);
}

/* ------------------------------------------------------------------------------------------------------------------------
 * matvec_bf16
 */

/* One step of bf16, and f32's rounding of the sum, which is relative to the terms and not to a sum that they may cancel
 * in. */
static bool matvec_element(const array_or_scalar *arguments, double got, double expected, uint64_t index)
{
    uint64_t columns = (uint64_t)arguments[4].scalar;
    double terms = 0;
    if (!isfinite(got) || !isfinite(expected))
        return false;
    if (within_bf16_step(got, expected))
        return true;
    for (uint64_t i = 0; i < columns; i++)
        terms += fabs(gd_element_load("bf16", arguments[0].data, index * columns + i) *
                      gd_element_load("bf16", arguments[1].data, i));
    return fabs(got - expected) <= fabs(expected) * 0x1p-8 + terms * 0x1p-18;
}

static void *run_matvec(const loaded *kernel, void *weight, void *x, uint32_t rows, uint32_t columns,
                        launch_shape shape)
{
    void *y = make_array("bf16", rows);
    array_or_scalar arguments[] = {
        {.type = "bf16", .data = weight, .count = (uint64_t)rows * columns, .misalignment = 16},
        {.type = "bf16", .data = x, .count = columns, .misalignment = 48},
        {.type = "bf16", .data = y, .count = rows, .misalignment = 2},
        {.type = "u32", .scalar = rows},
        {.type = "u32", .scalar = columns},
    };
    void *result = run_launch(kernel, arguments, 5, shape, matvec_element);
    free(y);
    return result;
}

/* Shared memory UINT32_MAX stands for all there is. */
static launch_shape fit_shared(const loaded *kernel, launch_shape wanted)
{
    if (wanted.shared == UINT32_MAX)
        wanted.shared = most_shared(kernel);
    return wanted;
}

static void matvec_random(const loaded *kernel)
{
    static const struct {
        uint32_t rows, columns;
        launch_shape shape;
    } cases[] = {
        {1, 8, {1, 32, 0}},
        {1, 8, {1, 32, 64}},
        {1, 8, {132, 512, UINT32_MAX}},
        {3000, 8, {132, 512, UINT32_MAX}},
        {7, 16, {3, 64, 4096}},
        {33, 248, {5, 96, 5000}},
        {300, 1024, {7, 1024, 49152}},
        {5000, 512, {13, 256, 100000}},
        {131, 2056, {132, 512, UINT32_MAX}},
        {257, 4104, {132, 512, UINT32_MAX}},
        {1000, 4088, {40, 384, 65536}},
        {1056, 2048, {132, 512, UINT32_MAX}},
        {1057, 2048, {132, 1024, UINT32_MAX}},
        {1200, 4096, {132, 512, UINT32_MAX}},
        {264, 14336, {132, 512, UINT32_MAX}},
        {132, 28672, {132, 512, UINT32_MAX}},
        {150, 28672, {132, 1024, UINT32_MAX}},
        {5, 28672, {200, 64, UINT32_MAX}},
        {40, 28672, {16, 256, 49152}},                         /* x does not fit: from global memory */
        {64, 4096, {2, 128, 8192 + 4 * 64 + 2 * 4 * 512}},     /* the smallest ring */
        {64, 4096, {2, 128, 8192 + 4 * 64 + 2 * 4 * 512 - 1}}, /* one byte less than that: from global memory */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t count = (uint64_t)cases[i].rows * cases[i].columns;
        void *weight = make_random("bf16", count, 1 / sqrt(cases[i].columns));
        void *x = make_random("bf16", cases[i].columns, 1);
        free(run_matvec(kernel, weight, x, cases[i].rows, cases[i].columns, fit_shared(kernel, cases[i].shape)));
        free(weight);
        free(x);
    }
}

/* The head comment promises the same bits for every launch shape. */
static void matvec_shapes(const loaded *kernel)
{
    static const launch_shape shapes[] = {{132, 512, UINT32_MAX}, {1, 32, 0},        {1, 32, 20000},
                                          {7, 1024, 60000},       {132, 512, 0},     {600, 128, 49152},
                                          {64, 256, UINT32_MAX},  {132, 992, 190000}};
    enum { ROWS = 500, COLUMNS = 6152 };
    void *weight = make_random("bf16", (uint64_t)ROWS * COLUMNS, 1);
    void *x = make_random("bf16", COLUMNS, 1);
    void *first = run_matvec(kernel, weight, x, ROWS, COLUMNS, fit_shared(kernel, shapes[0]));
    for (size_t i = 1; i < sizeof shapes / sizeof shapes[0]; i++) {
        void *other = run_matvec(kernel, weight, x, ROWS, COLUMNS, fit_shared(kernel, shapes[i]));
        ck_assert_msg(memcmp(first, other, ROWS * 2) == 0, "grid %u, block %u, shared %u: other bits", shapes[i].grid,
                      shapes[i].block, shapes[i].shared);
        free(other);
    }
    free(first);
    free(weight);
    free(x);
}

/* Rows of one value, rows with one special element, then a vector with a special element. */
static void matvec_extreme(const loaded *kernel)
{
    static const double fills[] = {0, -0.0, 0x1p-133, 1e-20, 3.38e38, -3.38e38};
    static const double specials[] = {0, 0x1p-133, 3.38e38, INFINITY, -INFINITY, NAN};
    enum {
        COLUMNS = 2072,
        FILLS = sizeof fills / sizeof fills[0],
        ROWS = FILLS + sizeof specials / sizeof specials[0]
    };
    void *weight = make_random("bf16", ROWS * COLUMNS, 1);
    void *x = make_random("bf16", COLUMNS, 1);
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++) {
        if (i / COLUMNS < FILLS)
            gd_element_store("bf16", weight, i, fills[i / COLUMNS]);
        else if (i % COLUMNS == 2071)
            gd_element_store("bf16", weight, i, specials[i / COLUMNS - FILLS]);
    }
    for (uint64_t i = 0; i < COLUMNS; i++)
        gd_element_store("bf16", x, i, fabs(gd_element_load("bf16", x, i)) + 0.25);
    for (uint64_t i = 0; i < 2; i++) {
        launch_shape shape = {5, 128, i == 0 ? 60000 : 0};
        free(run_matvec(kernel, weight, x, ROWS, COLUMNS, shape));
        void *special = copy_array("bf16", x, COLUMNS);
        gd_element_store("bf16", special, 100, NAN);
        free(run_matvec(kernel, weight, special, ROWS, COLUMNS, shape));
        gd_element_store("bf16", special, 100, INFINITY);
        free(run_matvec(kernel, weight, special, ROWS, COLUMNS, shape));
        free(special);
    }
    free(weight);
    free(x);
}

/* ------------------------------------------------------------------------------------------------------------------------
 * spin
 */

static void spin_launch(const loaded *kernel)
{
    static const launch_shape shapes[] = {{1, 1, 0}, {1, 33, 0}, {132, 256, 0}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        uint64_t count = (uint64_t)shapes[i].grid * shapes[i].block;
        uint32_t *in = make_array("u32", count);
        void *out = make_array("u32", count);
        for (uint64_t j = 0; j < count; j++)
            in[j] = random_bits();
        in[0] = UINT32_MAX;
        array_or_scalar arguments[] = {
            {.type = "u32", .data = in, .count = count},
            {.type = "u32", .data = out, .count = count},
            {.type = "u32", .scalar = 1000},
        };
        check_launch(kernel, arguments, 3, shapes[i], element_equal);
        free(in);
        free(out);
    }
}

static void spin_lasts(const loaded *kernel)
{
    enum { MICROSECONDS = 300 };
    void *start = NULL;
    void *end = NULL;
    double elapsed = 0;
    guarded array = guarded_create(4, 0);
    griddep_argument arguments[] = {{.bytes = 8, .value = array.address},
                                    {.bytes = 8, .value = array.address},
                                    {.bytes = 4, .value = MICROSECONDS * 1000}};
    griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};
    MUST(griddep_event_create(runtime, &start, &error));
    MUST(griddep_event_create(runtime, &end, &error));
    MUST(griddep_event_record(runtime, start, NULL, &error));
    MUST(griddep_launch(kernel->kernel, &config, arguments, 3, NULL, &error));
    MUST(griddep_event_record(runtime, end, NULL, &error));
    MUST(griddep_event_elapsed(runtime, start, end, &elapsed, &error));
    ck_assert_msg(elapsed > MICROSECONDS - 1 && elapsed < 50 * MICROSECONDS, "spun %g us, asked for %d", elapsed,
                  MICROSECONDS);
    MUST(griddep_event_destroy(runtime, start, &error));
    MUST(griddep_event_destroy(runtime, end, &error));
    guarded_destroy(&array);
}

/* ------------------------------------------------------------------------------------------------------------------------
 * Chains. Each hop is a spin that triggers at once and takes its time on few threads, then the kernel under test on the
 * spin's output: a kernel that reads before it waits reads poison. The bits of every array must be those of the serial
 * run.
 */

typedef struct link_plan {
    const char *kernel;
    uint64_t bytes; /* of what a hop hands on, a multiple of 4 * 128 */
    launch_shape shape;
    uint32_t
        count; /* of the arguments below; INPUT and OUTPUT are replaced by the hop's arrays, CONSTANT by the constant */
    griddep_argument arguments[MOST_ARGUMENTS];
    const char *type; /* of the constant's elements and of the first input's */
    uint64_t constant_count;
    double constant_scale;
} link_plan;

enum { INPUT = 1, OUTPUT = 2, CONSTANT = 3 };

/* An address to be filled in stands as a placeholder of 8 bytes whose value is below 4. */
#define PLACE(what)                                                                                                    \
    {                                                                                                                  \
        .bytes = 8, .value = (what)                                                                                    \
    }

static const link_plan link_plans[] = {
    {"vector_add",
     16384,
     {4, 256, 0},
     4,
     {PLACE(INPUT), PLACE(CONSTANT), PLACE(OUTPUT), {.bytes = 4, .value = 4096}},
     "f32",
     4096,
     1},
    {"rms_norm",
     8192,
     {4, 128, 0},
     5,
     {PLACE(INPUT), PLACE(CONSTANT), PLACE(OUTPUT), {.bytes = 4, .value = 1024}, {.bytes = 4, .value = 0x3727c5ac}},
     "bf16",
     1024,
     1},
    {"matvec_bf16",
     4096,
     {132, 512, UINT32_MAX},
     5,
     {PLACE(CONSTANT), PLACE(INPUT), PLACE(OUTPUT), {.bytes = 4, .value = 2048}, {.bytes = 4, .value = 2048}},
     "bf16",
     2048 * 2048,
     0.04},
    {"matvec_bf16",
     4096,
     {33, 128, 0},
     5,
     {PLACE(CONSTANT), PLACE(INPUT), PLACE(OUTPUT), {.bytes = 4, .value = 2048}, {.bytes = 4, .value = 2048}},
     "bf16",
     2048 * 2048,
     0.04},
    {"softmax", 16384, {4, 256, 0}, 3, {PLACE(INPUT), PLACE(OUTPUT), {.bytes = 4, .value = 1024}}, "f32", 0, 0},
    {"spin", 4096, {8, 128, 0}, 3, {PLACE(INPUT), PLACE(OUTPUT), {.bytes = 4, .value = 5000}}, "f32", 0, 0},
};

typedef struct chain_case {
    loaded spin;
    loaded kernel;
    griddep_chain *chain;
    guarded arrays[2 * HOPS + 1];
    guarded constant;
    bool has_constant;
} chain_case;

static void add_spin(chain_case *it, uint32_t hop)
{
    uint32_t threads = (uint32_t)(it->arrays[0].bytes / 4);
    griddep_launch_config config = {.size = sizeof config, .grid = {threads / 128}, .block = {128}};
    griddep_argument arguments[] = {PLACE(it->arrays[2 * hop].address),
                                    PLACE(it->arrays[2 * hop + 1].address),
                                    {.bytes = 4, .value = SPIN_NANOSECONDS}};
    MUST(griddep_chain_add(it->chain, it->spin.kernel, &config, arguments, 3, &error));
}

static void add_kernel(chain_case *it, const link_plan *plan, uint32_t hop)
{
    griddep_argument arguments[MOST_ARGUMENTS];
    launch_shape shape = fit_shared(&it->kernel, plan->shape);
    griddep_launch_config config = {
        .size = sizeof config, .grid = {shape.grid}, .block = {shape.block}, .shared_bytes = shape.shared};
    memcpy(arguments, plan->arguments, sizeof arguments);
    for (uint32_t i = 0; i < plan->count; i++) {
        if (arguments[i].bytes != 8)
            continue;
        arguments[i].value = arguments[i].value == CONSTANT ? it->constant.address
                             : arguments[i].value == INPUT  ? it->arrays[2 * hop + 1].address
                                                            : it->arrays[2 * hop + 2].address;
    }
    MUST(griddep_chain_add(it->chain, it->kernel.kernel, &config, arguments, plan->count, &error));
}

static void *build_chain(chain_case *it, const link_plan *plan, int32_t capability)
{
    it->spin = load("spin", 0);
    it->kernel = load(plan->kernel, capability);
    it->has_constant = plan->constant_count > 0;
    if (it->has_constant) {
        void *constant = make_random(plan->type, plan->constant_count, plan->constant_scale);
        it->constant = guarded_create(plan->constant_count * gd_element_bytes(plan->type), 0);
        guarded_write(&it->constant, constant);
        free(constant);
    }
    for (uint32_t i = 0; i <= 2 * HOPS; i++)
        it->arrays[i] = guarded_create(plan->bytes, 0);
    void *input = make_random(plan->type, plan->bytes / gd_element_bytes(plan->type), 1);
    MUST(griddep_chain_create(runtime, &it->chain, &error));
    for (uint32_t hop = 0; hop < HOPS; hop++) {
        add_spin(it, hop);
        add_kernel(it, plan, hop);
    }
    return input;
}

/* Every array of the chain, one behind the other. */
static unsigned char *run_chain(chain_case *it, const void *input, int32_t mode, void *stream)
{
    uint64_t bytes = it->arrays[0].bytes;
    unsigned char *all = malloc((2 * HOPS + 1) * bytes);
    ck_assert_ptr_nonnull(all);
    for (uint32_t i = 1; i <= 2 * HOPS; i++)
        MUST(griddep_memory_fill(runtime, it->arrays[i].address, POISON, bytes, stream, &error));
    MUST(griddep_memory_write(runtime, it->arrays[0].address, input, bytes, stream, &error));
    MUST(griddep_chain_run(it->chain, mode, stream, &error));
    MUST(griddep_stream_synchronize(runtime, stream, &error));
    for (uint32_t i = 0; i <= 2 * HOPS; i++) {
        unsigned char *data = guarded_read(&it->arrays[i], griddep_mode_name(mode));
        memcpy(all + i * bytes, data, bytes);
        free(data);
    }
    return all;
}

static bool is_poison(const unsigned char *data, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i++) {
        if (data[i] != POISON)
            return false;
    }
    return true;
}

static void compare_runs(const link_plan *plan, int32_t mode, const unsigned char *serial, const unsigned char *other)
{
    for (uint64_t i = 0; i <= 2 * HOPS; i++) {
        ck_assert_msg(!is_poison(other + i * plan->bytes, plan->bytes), "%s, %s: array %llu was not written",
                      plan->kernel, griddep_mode_name(mode), (unsigned long long)i);
        ck_assert_msg(memcmp(serial + i * plan->bytes, other + i * plan->bytes, plan->bytes) == 0,
                      "%s, %s: array %llu differs from the serial run's", plan->kernel, griddep_mode_name(mode),
                      (unsigned long long)i);
    }
}

static void check_hops(chain_case *it, int32_t mode, int32_t reason)
{
    for (uint32_t i = 1; i < griddep_chain_length(it->chain); i++) {
        griddep_hop_info hop = {.size = sizeof hop};
        MUST(griddep_chain_get_hop(it->chain, mode, i, &hop, &error));
        ck_assert_msg(hop.reason == (i % 2 == 1 ? reason : GRIDDEP_REASON_SET), "%s in %s: %s", hop.kernel,
                      griddep_mode_name(mode), griddep_reason_text(hop.reason));
    }
}

static void check_chain(const link_plan *plan, int32_t capability)
{
    chain_case it = {0};
    void *stream = NULL;
    void *input = build_chain(&it, plan, capability);
    MUST(griddep_stream_create(runtime, &stream, &error));
    unsigned char *serial = run_chain(&it, input, GRIDDEP_MODE_SERIAL, stream);
    compare_runs(plan, GRIDDEP_MODE_SERIAL, serial, serial);
    for (int32_t mode = GRIDDEP_MODE_SERIAL; mode < GRIDDEP_MODE_COUNT; mode++) {
        if (mode == GRIDDEP_MODE_PDL || mode == GRIDDEP_MODE_GRAPH_PDL)
            check_hops(&it, mode, capability == 80 ? GRIDDEP_REASON_NO_WAIT : GRIDDEP_REASON_SET);
        for (int repeat = 0; repeat < REPEATS; repeat++) {
            unsigned char *other = run_chain(&it, input, mode, stream);
            compare_runs(plan, mode, serial, other);
            free(other);
        }
    }
    free(serial);
    free(input);
    griddep_chain_destroy(it.chain);
    for (uint32_t i = 0; i <= 2 * HOPS; i++)
        guarded_destroy(&it.arrays[i]);
    if (it.has_constant)
        guarded_destroy(&it.constant);
    MUST(griddep_stream_destroy(runtime, stream, &error));
    griddep_module_unload(it.kernel.module);
    griddep_module_unload(it.spin.module);
}

/* ------------------------------------------------------------------------------------------------------------------------
 * The tests: launches of each variant, chains of each variant
 */

typedef struct launch_test {
    const char *kernel;
    int32_t capability; /* 0: the variant that the library chooses */
    void (*run)(const loaded *kernel);
} launch_test;

static const launch_test launch_tests[] = {
    {"vector_add", 0, vector_add_random},
    {"vector_add", 0, vector_add_extreme},
    {"vector_add", 80, vector_add_random},
    {"vector_add", 80, vector_add_extreme},
    {"rms_norm", 0, rms_norm_random},
    {"rms_norm", 0, rms_norm_extreme},
    {"rms_norm", 80, rms_norm_random},
    {"rms_norm", 80, rms_norm_extreme},
    {"softmax", 0, softmax_random},
    {"softmax", 0, softmax_extreme},
    {"softmax", 80, softmax_random},
    {"softmax", 80, softmax_extreme},
    {"matvec_bf16", 0, matvec_random},
    {"matvec_bf16", 0, matvec_shapes},
    {"matvec_bf16", 0, matvec_extreme},
    {"spin", 0, spin_launch},
    {"spin", 0, spin_lasts},
};

START_TEST(test_launch)
{
    const launch_test *test = &launch_tests[_i];
    random_state = 1 + (uint64_t)_i;
    loaded kernel = load(test->kernel, test->capability);
    test->run(&kernel);
    griddep_module_unload(kernel.module);
}
END_TEST

START_TEST(test_chain)
{
    random_state = 100 + (uint64_t)_i;
    check_chain(&link_plans[_i], 0);
}
END_TEST

START_TEST(test_chain_sm_80)
{
    griddep_shelf_info info;
    random_state = 200 + (uint64_t)_i;
    if (find_variant(link_plans[_i].kernel, 80, &info))
        check_chain(&link_plans[_i], 80);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("kernels");
    TCase *launches = tcase_create("launch");
    TCase *chains = tcase_create("chain");
    int plans = (int)(sizeof link_plans / sizeof link_plans[0]);
    tcase_set_timeout(launches, 0);
    tcase_set_timeout(chains, 0);
    tcase_add_loop_test(launches, test_launch, 0, (int)(sizeof launch_tests / sizeof launch_tests[0]));
    tcase_add_loop_test(chains, test_chain, 0, plans);
    tcase_add_loop_test(chains, test_chain_sm_80, 0, plans);
    suite_add_tcase(suite, launches);
    suite_add_tcase(suite, chains);
    return suite;
}

/* Opens a GPU that has every kernel of the shelf, or says why not. */
static bool open_gpu(void)
{
    griddep_runtime_info info = {.size = sizeof info};
    griddep_error_init(&error);
    if (griddep_runtime_open(NULL, &runtime, &error) != GRIDDEP_OK ||
        griddep_runtime_get_info(runtime, &info, &error) != GRIDDEP_OK) {
        printf("test_kernels: no GPU: %s\n", error.text);
        return false;
    }
    if ((info.features & GRIDDEP_FEATURE_PDL) == 0 || info.pdl_disabled != 0) {
        printf("test_kernels: %s has no programmatic dependent launch, or GRIDDEP_PDL switched it off\n",
               info.device_name);
        griddep_runtime_close(runtime);
        return false;
    }
    printf("test_kernels: on %s\n", info.device_name);
    return true;
}

int main(void)
{
    const char *required = getenv("GRIDDEP_REQUIRE_GPU");
    setenv("GRIDDEP_DRIVER", "nvidia", 0); /* the emulated driver is not to take a GPU's place */
    if (!open_gpu())
        return required != NULL && strcmp(required, "1") == 0 ? EXIT_FAILURE : 77;
    SRunner *runner = srunner_create(make_suite());
    srunner_set_fork_status(runner, CK_NOFORK); /* a CUDA context does not survive fork */
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    griddep_runtime_close(runtime);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Normalizations: launches against their references, and chains. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "shelf.h"

/* What a kernel's name tells: layer_norm or rms_norm, with _residual, with _f16. */
typedef struct norm_kind {
    const char *type;
    bool layer;
    bool residual;
} norm_kind;

static norm_kind kind_of(const shelf_kernel *kernel)
{
    const char *name = kernel->info.name;
    return (norm_kind){strstr(name, "_f16") != NULL ? "f16" : "bf16",
                       strncmp(name, "layer", 5) == 0, strstr(name, "_residual") != NULL};
}

static bool within_step(const char *type, double got, double expected)
{
    return strcmp(type, "bf16") == 0 ? shelf_within_bf16_step(got, expected)
                                     : shelf_within_f16_step(got, expected);
}

/* Of the launch that is being checked, for norm_element. */
static bool checked_layer;
static const shelf_argument *checked_bias; /* NULL: it has none */

/* The sums of a residual are exact. A result may be a step off; where mean or bias cancel it, by
 * what the mean (a few deviations at most) or the bias lost in f32. */
static bool norm_element(const shelf_argument *arguments, uint32_t output, double got,
                         double expected, uint64_t index)
{
    const char *type = arguments[output].type;
    bool is_sum = strcmp(arguments[output + 1].type, "u32") != 0;
    double slack = checked_layer ? 0x1p-17 : 0;
    if (is_sum || !isfinite(got) || !isfinite(expected))
        return false;
    if (checked_bias != NULL)
        slack +=
            0x1p-18 * fabs(gd_element_load(type, checked_bias->data, index % checked_bias->count));
    double left = fmax(fabs(got - expected) - slack, 0);
    return within_step(type, expected + copysign(left, got - expected), expected);
}

typedef struct norm_operands {
    void *x, *residual, *weight, *bias;
} norm_operands;

static uint32_t norm_arguments(norm_kind kind, const norm_operands *operands, void *sum, void *out,
                               uint32_t columns, uint64_t count, double epsilon,
                               shelf_argument arguments[8])
{
    uint32_t n = 0;
    arguments[n++] = (shelf_argument){.type = kind.type, .data = operands->x, .count = count};
    if (kind.residual)
        arguments[n++] =
            (shelf_argument){.type = kind.type, .data = operands->residual, .count = count};
    arguments[n++] =
        (shelf_argument){.type = kind.type, .data = operands->weight, .count = columns};
    if (kind.layer && operands->bias != NULL)
        arguments[n++] =
            (shelf_argument){.type = kind.type, .data = operands->bias, .count = columns};
    else if (kind.layer)
        arguments[n++] = (shelf_argument){.type = "u64", .scalar = 0};
    if (kind.residual)
        arguments[n++] = (shelf_argument){.type = kind.type, .data = sum, .count = count};
    arguments[n++] = (shelf_argument){.type = kind.type, .data = out, .count = count};
    arguments[n++] = (shelf_argument){.type = "u32", .scalar = columns};
    arguments[n++] = (shelf_argument){.type = "f32", .scalar = epsilon};
    return n;
}

static void check_norm(const shelf_kernel *kernel, const norm_operands *operands, uint32_t columns,
                       double epsilon, uint64_t misalignment, shelf_shape shape)
{
    norm_kind kind = kind_of(kernel);
    shelf_argument arguments[8];
    uint64_t count = (uint64_t)columns * shape.grid;
    void *sum = shelf_array(kind.type, count);
    void *out = shelf_array(kind.type, count);
    uint32_t n = norm_arguments(kind, operands, sum, out, columns, count, epsilon, arguments);
    for (uint32_t i = 0; i + 2 < n; i++)
        arguments[i].misalignment = arguments[i].count == count ? misalignment : 0;
    checked_layer = kind.layer;
    checked_bias = operands->bias != NULL && kind.layer ? &arguments[kind.residual ? 3 : 2] : NULL;
    shelf_check(kernel, arguments, n, shape, norm_element);
    free(sum);
    free(out);
}

static norm_operands make_operands(norm_kind kind, uint64_t count, uint32_t columns, double scale,
                                   bool with_bias)
{
    norm_operands operands = {.x = shelf_random_array(kind.type, count, scale),
                              .residual = shelf_random_array(kind.type, count, scale),
                              .weight = shelf_random_array(kind.type, columns, 2)};
    if (with_bias)
        operands.bias = shelf_random_array(kind.type, columns, 1);
    return operands;
}

static void free_operands(norm_operands *operands)
{
    free(operands->x);
    free(operands->residual);
    free(operands->weight);
    free(operands->bias);
}

static void norm_random(const shelf_kernel *kernel)
{
    static const uint32_t columns[] = {1,    2,    7,    8,    9,     64,    255,  256,
                                       2048, 4096, 4100, 8192, 16384, 28671, 28672};
    static const shelf_shape shapes[] = {{1, 32, 0}, {5, 96, 0}, {3, 512, 0}, {2, 1024, 0}};
    const size_t stride = shelf_on_gpu ? 1 : 3;
    norm_kind kind = kind_of(kernel);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        for (size_t j = i % stride; j < 4 && (shelf_on_gpu || columns[i] <= 4100); j += stride) {
            uint64_t count = (uint64_t)columns[i] * shapes[j].grid;
            norm_operands operands = make_operands(
                kind, count, columns[i], pow(10, shelf_random_unit() * 3), (i + j) % 2 == 0);
            check_norm(kernel, &operands, columns[i], 1e-5, 0, shapes[j]);
            /* Without epsilon a layer of one column would be 0 / 0. */
            check_norm(kernel, &operands, columns[i], kind.layer ? 1e-3 : 0, 2 * (i % 9),
                       shapes[j]);
            free_operands(&operands);
        }
    }
}

/* A row far from 0 loses nothing: the deviations are summed around the mean. */
static void norm_offset(const shelf_kernel *kernel)
{
    enum { COLUMNS = 2048, ROWS = 3 };
    norm_kind kind = kind_of(kernel);
    norm_operands operands = make_operands(kind, ROWS * COLUMNS, COLUMNS, 1, true);
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++)
        gd_element_store(kind.type, operands.x, i, 1000 + 40 * shelf_random_unit());
    check_norm(kernel, &operands, COLUMNS, 1e-5, 0, (shelf_shape){ROWS, 128, 0});
    free_operands(&operands);
}

/* One row of each sort; `special` stands at one place of an ordinary row. */
static void norm_extreme(const shelf_kernel *kernel)
{
    static const double fills[] = {0, 0x1p-133, 1e-30, 1e15, 3e38};
    static const double specials[] = {0, -0.0, 0x1p-133, 1e18, 3.38e38, INFINITY, -INFINITY, NAN};
    enum {
        COLUMNS = 1000,
        FILLS = sizeof fills / sizeof fills[0],
        ROWS = FILLS + sizeof specials / sizeof specials[0]
    };
    norm_kind kind = kind_of(kernel);
    norm_operands operands = make_operands(kind, ROWS * COLUMNS, COLUMNS, 1, true);
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++) {
        if (i / COLUMNS < FILLS)
            gd_element_store(kind.type, operands.x, i, fills[i / COLUMNS]);
        else if (i % COLUMNS == 777)
            gd_element_store(kind.type, operands.x, i, specials[i / COLUMNS - FILLS]);
        if (i / COLUMNS < FILLS)
            gd_element_store(kind.type, operands.residual, i, 0);
    }
    check_norm(kernel, &operands, COLUMNS, 1e-6, 0, (shelf_shape){ROWS, 128, 0});
    check_norm(kernel, &operands, COLUMNS, 1e-6, 2, (shelf_shape){ROWS, 128, 0});
    free_operands(&operands);
}

/* ---- a residual against two kernels, to the bit; in place too ---- */

static void must_launch(const shelf_kernel *kernel, const griddep_argument *arguments,
                        uint32_t count, shelf_shape shape)
{
    griddep_launch_config config = {
        .size = sizeof config, .grid = {shape.grid}, .block = {shape.block}};
    MUST(griddep_launch(kernel->kernel, &config, arguments, count, NULL, &shelf_error));
    MUST(griddep_stream_synchronize(shelf_runtime, NULL, &shelf_error));
}

enum { PLACE_X, PLACE_RESIDUAL, PLACE_WEIGHT, PLACE_BIAS, PLACE_SUM, PLACE_OUT, PLACES };

#define ADDRESS(place)                                                                             \
    {                                                                                              \
        .bytes = 8, .value = arrays[place].address                                                 \
    }

static void run_fused(const shelf_kernel *kernel, norm_kind kind,
                      const shelf_guarded arrays[PLACES], uint32_t sum, uint32_t out,
                      uint32_t columns, shelf_shape shape)
{
    griddep_argument arguments[8];
    uint32_t n = 0;
    arguments[n++] = (griddep_argument)ADDRESS(PLACE_X);
    arguments[n++] = (griddep_argument)ADDRESS(PLACE_RESIDUAL);
    arguments[n++] = (griddep_argument)ADDRESS(PLACE_WEIGHT);
    if (kind.layer)
        arguments[n++] = (griddep_argument)ADDRESS(PLACE_BIAS);
    arguments[n++] = (griddep_argument)ADDRESS(sum);
    arguments[n++] = (griddep_argument)ADDRESS(out);
    arguments[n++] = (griddep_argument){.bytes = 4, .value = columns};
    arguments[n++] = (griddep_argument){.bytes = 4, .value = 0x3727c5ac};
    must_launch(kernel, arguments, n, shape);
}

static void run_apart(norm_kind kind, const shelf_guarded arrays[PLACES], uint32_t columns,
                      shelf_shape shape)
{
    char name[40];
    snprintf(name, sizeof name, "add_%s", kind.type);
    shelf_kernel add = shelf_load(name, 0);
    snprintf(name, sizeof name, "%s_norm%s%s", kind.layer ? "layer" : "rms",
             kind.layer || strcmp(kind.type, "f16") == 0 ? "_" : "",
             kind.layer || strcmp(kind.type, "f16") == 0 ? kind.type : "");
    shelf_kernel norm = shelf_load(name, 0);
    griddep_argument sum[] = {ADDRESS(PLACE_X),
                              ADDRESS(PLACE_RESIDUAL),
                              ADDRESS(PLACE_SUM),
                              {.bytes = 4, .value = columns * shape.grid}};
    must_launch(&add, sum, 4, shape);
    griddep_argument arguments[8];
    uint32_t n = 0;
    arguments[n++] = (griddep_argument)ADDRESS(PLACE_SUM);
    arguments[n++] = (griddep_argument)ADDRESS(PLACE_WEIGHT);
    if (kind.layer)
        arguments[n++] = (griddep_argument)ADDRESS(PLACE_BIAS);
    arguments[n++] = (griddep_argument)ADDRESS(PLACE_OUT);
    arguments[n++] = (griddep_argument){.bytes = 4, .value = columns};
    arguments[n++] = (griddep_argument){.bytes = 4, .value = 0x3727c5ac};
    must_launch(&norm, arguments, n, shape);
    griddep_module_unload(add.module);
    griddep_module_unload(norm.module);
}

static void same_bits(const shelf_kernel *kernel, const shelf_guarded *array, const void *expected,
                      const char *what)
{
    void *got = shelf_guarded_read(array, kernel->info.name);
    ck_assert_msg(memcmp(got, expected, array->bytes) == 0, "%s: %s has other bits",
                  kernel->info.name, what);
    free(got);
}

static void check_fused(const shelf_kernel *kernel, uint32_t columns, uint64_t misalignment,
                        shelf_shape shape)
{
    norm_kind kind = kind_of(kernel);
    uint64_t count = (uint64_t)columns * shape.grid;
    norm_operands operands = make_operands(kind, count, columns, 3, true);
    const void *contents[] = {operands.x, operands.residual, operands.weight, operands.bias};
    shelf_guarded arrays[PLACES];
    for (uint32_t i = 0; i < PLACES; i++) {
        bool constant = i == PLACE_WEIGHT || i == PLACE_BIAS;
        arrays[i] = shelf_guarded_create(2 * (constant ? columns : count), misalignment);
        if (i <= PLACE_BIAS)
            shelf_guarded_write(&arrays[i], contents[i]);
    }
    run_apart(kind, arrays, columns, shape);
    void *sum = shelf_guarded_read(&arrays[PLACE_SUM], "sum");
    void *out = shelf_guarded_read(&arrays[PLACE_OUT], "out");
    run_fused(kernel, kind, arrays, PLACE_SUM, PLACE_OUT, columns, shape);
    same_bits(kernel, &arrays[PLACE_SUM], sum, "sum");
    same_bits(kernel, &arrays[PLACE_OUT], out, "out");
    run_fused(kernel, kind, arrays, PLACE_X, PLACE_RESIDUAL, columns, shape);
    same_bits(kernel, &arrays[PLACE_X], sum, "sum in place of x");
    same_bits(kernel, &arrays[PLACE_RESIDUAL], out, "out in place of residual");
    for (uint32_t i = 0; i < PLACES; i++)
        shelf_guarded_destroy(&arrays[i]);
    free(sum);
    free(out);
    free_operands(&operands);
}

static void norm_fused(const shelf_kernel *kernel)
{
    check_fused(kernel, 2048, 0, (shelf_shape){3, 256, 0});
    check_fused(kernel, 2048, 0, (shelf_shape){3, 32, 0});
    check_fused(kernel, 777, 2, (shelf_shape){2, 64, 0});
}

#define NORM_CASES(name)                                                                           \
    {name, 0, norm_random},                                                                        \
    {                                                                                              \
        name, 0, norm_extreme                                                                      \
    }

const shelf_case norm_cases[] = {
    NORM_CASES("layer_norm_bf16"),
    NORM_CASES("layer_norm_f16"),
    NORM_CASES("layer_norm_residual_bf16"),
    NORM_CASES("layer_norm_residual_f16"),
    NORM_CASES("rms_norm"),
    NORM_CASES("rms_norm_f16"),
    NORM_CASES("rms_norm_residual_bf16"),
    NORM_CASES("rms_norm_residual_f16"),
    {"layer_norm_bf16", 0, norm_offset},
    {"layer_norm_f16", 0, norm_offset},
    {"layer_norm_residual_bf16", 0, norm_fused},
    {"layer_norm_residual_f16", 0, norm_fused},
    {"rms_norm_residual_bf16", 0, norm_fused},
    {"rms_norm_residual_f16", 0, norm_fused},
    {"rms_norm", 80, norm_random},
    {"rms_norm", 80, norm_extreme},
    {NULL, 0, NULL},
};

/* Four rows of 1024; the constant, as long as the matrix, is weight, bias and residual. */
#define LINK(name, element, number, ...)                                                           \
    {                                                                                              \
        .kernel = name, .bytes = 8192, .config = {.grid = {4}, .block = {128}}, .count = number,   \
        .arguments = {SHELF_PLACE(SHELF_INPUT),                                                    \
                      __VA_ARGS__,                                                                 \
                      SHELF_PLACE(SHELF_OUTPUT),                                                   \
                      {.bytes = 4, .value = 1024},                                                 \
                      {.bytes = 4, .value = 0x3727c5ac}},                                          \
        .type = element, .constant_count = 4096, .constant_scale = 1                               \
    }
#define CONSTANT SHELF_PLACE(SHELF_CONSTANT)

const shelf_link norm_links[] = {
    LINK("layer_norm_bf16", "bf16", 6, CONSTANT, CONSTANT),
    LINK("layer_norm_residual_f16", "f16", 8, CONSTANT, CONSTANT, CONSTANT,
         SHELF_PLACE(SHELF_INPUT)),
    LINK("rms_norm", "bf16", 5, CONSTANT),
    LINK("rms_norm_f16", "f16", 5, CONSTANT),
    LINK("rms_norm_residual_bf16", "bf16", 7, CONSTANT, CONSTANT, SHELF_PLACE(SHELF_INPUT)),
    {.kernel = NULL},
};

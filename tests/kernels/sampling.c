/* Kernels that choose an element of each row: launches against their references, and chains. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "shelf.h"

typedef struct row_shape {
    uint32_t splits, rows, block;
} row_shape;

static const char *type_of(const shelf_kernel *kernel)
{
    return strstr(kernel->info.name, "_f32") != NULL ? "f32" : "bf16";
}

static griddep_launch_config row_config(row_shape shape)
{
    return (griddep_launch_config){.size = sizeof(griddep_launch_config),
                                   .grid = {shape.splits, shape.rows},
                                   .block = {shape.block},
                                   .cluster = {shape.splits, 1, 1}};
}

/* ---- argmax ---- */

static void check_argmax(const shelf_kernel *kernel, void *x, uint32_t columns,
                         uint64_t misalignment, row_shape shape)
{
    void *out = shelf_array("u32", shape.rows);
    shelf_argument arguments[] = {
        {.type = type_of(kernel),
         .data = x,
         .count = (uint64_t)columns * shape.rows,
         .misalignment = misalignment},
        {.type = "u32", .data = out, .count = shape.rows},
        {.type = "u32", .scalar = columns},
    };
    griddep_launch_config config = row_config(shape);
    free(shelf_run_config(kernel, arguments, 3, &config, shelf_equal));
    free(out);
}

static const row_shape row_shapes[] = {{1, 3, 32},
                                       {2, 2, 96},
                                       {8, 1, 256},
                                       {16, 2, 128},
                                       {3, 1, 1024}};

/* Few different values, so that there are ties. */
static void argmax_random(const shelf_kernel *kernel)
{
    static const uint32_t columns[] = {1, 2, 7, 8, 9, 63, 256, 1000, 4096, 32001, 128256};
    const char *type = type_of(kernel);
    uint64_t element = gd_element_bytes(type);
    for (size_t i = 0;
         i < sizeof columns / sizeof columns[0] && (shelf_on_gpu || columns[i] < 5000); i++) {
        for (size_t j = 0; j < sizeof row_shapes / sizeof row_shapes[0]; j++) {
            uint64_t count = (uint64_t)columns[i] * row_shapes[j].rows;
            void *x = shelf_random_array(type, count, 3);
            check_argmax(kernel, x, columns[i], 0, row_shapes[j]);
            for (uint64_t k = 0; k < count; k++)
                gd_element_store(type, x, k, -1.0 - shelf_random_bits() % 50);
            check_argmax(kernel, x, columns[i], element, row_shapes[j]);
            check_argmax(kernel, x, columns[i], 16, row_shapes[j]);
            free(x);
        }
    }
}

/* A value at two places of a row of others: the first one wins, wherever the two are. */
static void argmax_extreme(const shelf_kernel *kernel)
{
    static const double values[][2] = {{-INFINITY, -INFINITY},
                                       {-INFINITY, -3e38},
                                       {-0.0, 0.0},
                                       {0.0, -0.0},
                                       {-1, NAN},
                                       {1, INFINITY},
                                       {NAN, NAN},
                                       {INFINITY, NAN},
                                       {-0x1p-133, -0.0},
                                       {0, 0x1p-133},
                                       {3, 3}};
    static const uint32_t places[][2] = {{0, 1},   {7, 8},     {499, 500},
                                         {0, 999}, {998, 999}, {250, 750}};
    enum { COLUMNS = 1000 };
    const char *type = type_of(kernel);
    void *x = shelf_array(type, COLUMNS);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        for (size_t j = 0; j < sizeof places / sizeof places[0]; j++) {
            for (uint64_t k = 0; k < COLUMNS; k++)
                gd_element_store(type, x, k, values[i][k == places[j][0] || k == places[j][1]]);
            check_argmax(kernel, x, COLUMNS, 0, (row_shape){4, 1, 64});
            check_argmax(kernel, x, COLUMNS, gd_element_bytes(type), (row_shape){1, 1, 32});
        }
    }
    free(x);
}

/* ---- sample ---- */

typedef struct sample_settings {
    double temperature;
    uint32_t top_k;
    double top_p;
} sample_settings;

static const sample_settings settings[] = {
    {1, 0, 1},     {0, 0, 1},     {0.7, 40, 1},   {1, 0, 0.9},    {0.8, 50, 0.95},
    {1.5, 1, 1},   {1, 0, 0},     {0.01, 0, 1},   {2, 1000, 0.5}, {1, 3, 0.999},
    {100, 0, 0.2}, {1e-30, 7, 1}, {1e30, 0, 0.75}};

/* What the reference draws with another uniform and another top_p. */
static double drawn_with(const shelf_argument *arguments, uint64_t row, double uniform,
                         double top_p)
{
    uint64_t columns = (uint64_t)arguments[3].scalar;
    uint64_t bytes = columns * gd_element_bytes(arguments[0].type);
    float random = (float)fmax(uniform, 0);
    uint32_t out = 0;
    const uint32_t grid[3] = {1, 1, 1};
    gd_reference_argument referred[] = {
        {arguments[0].type, (unsigned char *)arguments[0].data + row * bytes, columns, 0},
        {"f32", &random, 1, 0},
        {"u32", &out, 1, 0},
        {"u32", NULL, 0, arguments[3].scalar},
        {"f32", NULL, 0, arguments[4].scalar},
        {"u32", NULL, 0, arguments[5].scalar},
        {"f32", NULL, 0, top_p},
    };
    char name[20] = "sample_";
    const gd_reference *reference = gd_reference_find(strcat(name, arguments[0].type));
    ck_assert_int_eq(reference->run(reference, referred, 7, grid), 0);
    return out;
}

/* The kernel's weights are rounded: an index is right, too, if it lies between those that the
 * reference draws with a uniform a little less and a little more, for a top_p as near. */
static bool sample_element(const shelf_argument *arguments, uint32_t output, double got,
                           double expected, uint64_t index)
{
    static const double nudges[] = {0, -2e-5, 2e-5};
    double uniform = gd_element_load("f32", arguments[1].data, index);
    (void)output;
    (void)expected;
    for (int i = 0; i < 3; i++) {
        double top_p = arguments[6].scalar * (1 + nudges[i]);
        if (drawn_with(arguments, index, uniform - 2e-5, top_p) <= got &&
            got <= drawn_with(arguments, index, uniform + 2e-5, top_p))
            return true;
    }
    return false;
}

static uint32_t *run_sample(const shelf_kernel *kernel, void *logits, void *uniform,
                            uint32_t columns, sample_settings with, uint64_t misalignment,
                            row_shape shape)
{
    void *out = shelf_array("u32", shape.rows);
    shelf_argument arguments[] = {
        {.type = type_of(kernel),
         .data = logits,
         .count = (uint64_t)columns * shape.rows,
         .misalignment = misalignment},
        {.type = "f32", .data = uniform, .count = shape.rows, .misalignment = 4},
        {.type = "u32", .data = out, .count = shape.rows, .misalignment = 4},
        {.type = "u32", .scalar = columns},
        {.type = "f32", .scalar = with.temperature},
        {.type = "u32", .scalar = with.top_k},
        {.type = "f32", .scalar = with.top_p},
    };
    griddep_launch_config config = row_config(shape);
    uint32_t *result = shelf_run_config(kernel, arguments, 7, &config, sample_element);
    free(out);
    return result;
}

static void *random_logits(const char *type, uint64_t count, double scale)
{
    void *logits = shelf_array(type, count);
    for (uint64_t i = 0; i < count; i++) {
        double sum =
            shelf_random_unit() + shelf_random_unit() + shelf_random_unit() + shelf_random_unit();
        gd_element_store(type, logits, i, sum * scale);
    }
    return logits;
}

static float *random_uniforms(uint32_t rows)
{
    float *uniform = shelf_array("f32", rows);
    for (uint32_t i = 0; i < rows; i++)
        uniform[i] = (float)(shelf_random_bits() >> 8) * 0x1p-24F;
    return uniform;
}

static void sample_random(const shelf_kernel *kernel)
{
    static const uint32_t columns[] = {1, 2, 8, 9, 100, 1000, 4096, 32001, 128256};
    enum { SETTINGS = sizeof settings / sizeof settings[0] };
    const char *type = type_of(kernel);
    for (size_t i = 0;
         i < sizeof columns / sizeof columns[0] && (shelf_on_gpu || columns[i] < 1001); i++) {
        for (size_t j = 0; j < SETTINGS; j++) {
            row_shape shape = row_shapes[columns[i] > 100000 ? 3 : (i + j) % 5];
            void *logits =
                random_logits(type, (uint64_t)columns[i] * shape.rows, j % 3 == 0 ? 0.5 : 4);
            float *uniform = random_uniforms(shape.rows);
            uniform[0] = j % 4 == 0 ? 0 : j % 4 == 1 ? 1 - 0x1p-24F : uniform[0];
            uint64_t misalignment = j % 3 * gd_element_bytes(type);
            free(run_sample(kernel, logits, uniform, columns[i], settings[j], misalignment, shape));
            free(uniform);
            free(logits);
        }
    }
}

/* The head comment promises the same result for every launch shape. */
static void sample_shapes(const shelf_kernel *kernel)
{
    enum { COLUMNS = 5003, ROWS = 2 };
    const char *type = type_of(kernel);
    void *logits = random_logits(type, COLUMNS * ROWS, 1);
    float *uniform = random_uniforms(ROWS);
    uint32_t *first = NULL;
    for (uint32_t splits = 1; splits <= 16; splits += splits < 3 ? 1 : 4) {
        row_shape shape = {splits, ROWS, splits % 2 == 0 ? 256 : 96};
        uint32_t *drawn =
            run_sample(kernel, logits, uniform, COLUMNS, (sample_settings){1, 2000, 0.8}, 0, shape);
        if (first == NULL)
            first = shelf_copy("u32", drawn, ROWS);
        ck_assert_msg(memcmp(first, drawn, ROWS * sizeof *first) == 0,
                      "%u splits draw another index", splits);
        free(drawn);
    }
    free(first);
    free(uniform);
    free(logits);
}

/* Ties at the limits, infinities, NaN, equal logits throughout. */
static void sample_extreme(const shelf_kernel *kernel)
{
    static const double values[][2] = {
        {-INFINITY, -INFINITY}, {-INFINITY, 1}, {-0.0, 0.0}, {-1, NAN},          {1, INFINITY},
        {INFINITY, NAN},        {2, 2},         {0, 3},      {-FLT_MAX, FLT_MAX}};
    enum { COLUMNS = 1000, SETTINGS = sizeof settings / sizeof settings[0] };
    const char *type = type_of(kernel);
    void *logits = shelf_array(type, COLUMNS);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        for (size_t j = 0; j < SETTINGS; j++) {
            float *uniform = random_uniforms(1);
            for (uint64_t k = 0; k < COLUMNS; k++)
                gd_element_store(type, logits, k, values[i][k % 111 == 5]);
            free(run_sample(kernel, logits, uniform, COLUMNS, settings[j], 0,
                            (row_shape){4, 1, 64}));
            free(uniform);
        }
    }
    free(logits);
}

/* Drawn often, each index comes as often as its probability says. */
static void sample_frequencies(const shelf_kernel *kernel)
{
    enum { COLUMNS = 16, ROWS = 4096 };
    const char *type = type_of(kernel);
    double probabilities[COLUMNS], sum = 0;
    uint32_t drawn_times[COLUMNS] = {0};
    void *logits = shelf_array(type, COLUMNS * ROWS);
    float *uniform = shelf_array("f32", ROWS);
    for (uint64_t i = 0; i < COLUMNS * ROWS; i++)
        gd_element_store(type, logits, i, (double)(i % COLUMNS * 5 % COLUMNS) / 4);
    for (uint32_t i = 0; i < COLUMNS; i++)
        sum += probabilities[i] = exp(gd_element_load(type, logits, i) / 2);
    for (uint32_t i = 0; i < ROWS; i++)
        uniform[i] = ((float)i + 0.5F) / ROWS;
    uint32_t *drawn = run_sample(kernel, logits, uniform, COLUMNS, (sample_settings){2, 0, 1}, 0,
                                 (row_shape){1, ROWS, 32});
    for (uint32_t i = 0; i < ROWS; i++)
        drawn_times[drawn[i] % COLUMNS] += 1;
    for (uint32_t i = 0; i < COLUMNS; i++)
        ck_assert_msg(fabs(drawn_times[i] - ROWS * probabilities[i] / sum) < 1.5,
                      "%u was drawn %u times, expected %g", i, drawn_times[i],
                      ROWS * probabilities[i] / sum);
    free(drawn);
    free(uniform);
    free(logits);
}

const shelf_case sampling_cases[] = {
    {"argmax_bf16", 0, argmax_random},     {"argmax_bf16", 0, argmax_extreme},
    {"argmax_f32", 0, argmax_random},      {"argmax_f32", 0, argmax_extreme},
    {"sample_bf16", 0, sample_random},     {"sample_bf16", 0, sample_shapes},
    {"sample_bf16", 0, sample_extreme},    {"sample_f32", 0, sample_random},
    {"sample_f32", 0, sample_shapes},      {"sample_f32", 0, sample_extreme},
    {"sample_f32", 0, sample_frequencies}, {NULL, 0, NULL},
};

/* Rows of four bytes: the indices, all below 4, are the next rows. */
const shelf_link sampling_links[] = {
    {.kernel = "argmax_bf16",
     .bytes = 512,
     .config = {.grid = {2, 128}, .block = {32}, .cluster = {2, 1, 1}},
     .count = 3,
     .arguments = {SHELF_PLACE(SHELF_INPUT), SHELF_PLACE(SHELF_OUTPUT), {.bytes = 4, .value = 2}},
     .type = "bf16"},
    {.kernel = "sample_f32",
     .bytes = 512,
     .config = {.grid = {2, 128}, .block = {32}, .cluster = {2, 1, 1}},
     .count = 7,
     .arguments = {SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 16},
                   {.bytes = 4, .value = 0x3f800000},
                   {.bytes = 4, .value = 12},
                   {.bytes = 4, .value = 0x3f666666}},
     .type = "f32",
     .constant_count = 16 * 128,
     .constant_scale = 3},
    {.kernel = NULL},
};

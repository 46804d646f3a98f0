/* The shelf's attention kernels. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "shelf.h"

/* ---- a launch of a decode attention ---- */

enum { MOST_BATCH = 8 };

typedef struct decode_shape {
    uint32_t heads, kv_heads, head_dim, batch, capacity;
    uint32_t splits, block, shared;
    uint32_t positions[MOST_BATCH];
    bool rotates;
} decode_shape;

/* Arrays of a launch in the order of the parameters; the caller may change them before it runs. */
typedef struct decode_case {
    const char *type;
    decode_shape shape;
    shelf_argument arguments[SHELF_MOST_ARGUMENTS];
    uint32_t count;
} decode_case;

enum { QKV, K_CACHE, V_CACHE, ROTARY, POSITIONS, Y };

static shelf_argument scalar_argument(const char *type, double value)
{
    return (shelf_argument){.type = type, .scalar = value};
}

static float *make_rotary(uint32_t positions, uint32_t head_dim)
{
    uint32_t half = head_dim / 2;
    float *table = shelf_array("f32", (uint64_t)positions * head_dim);
    for (uint32_t position = 0; position < positions; position++) {
        for (uint32_t i = 0; i < half; i++) {
            double angle = position * pow(500000, -(double)i / half);
            table[2 * (position * half + i)] = (float)cos(angle);
            table[2 * (position * half + i) + 1] = (float)sin(angle);
        }
    }
    return table;
}

static decode_case decode_create(const char *type, decode_shape shape)
{
    decode_case it = {.type = type, .shape = shape};
    uint64_t rows = (uint64_t)shape.batch * (shape.heads + 2 * shape.kv_heads);
    uint64_t cache = (uint64_t)shape.batch * shape.kv_heads * shape.capacity * shape.head_dim;
    uint64_t out = (uint64_t)shape.batch * shape.heads * shape.head_dim;
    const shelf_argument arguments[] = {
        {.type = type, .data = shelf_random_array(type, rows * shape.head_dim, 3), .count = rows * shape.head_dim},
        {.type = type, .data = shelf_random_array(type, cache, 2), .count = cache, .kept = true},
        {.type = type, .data = shelf_random_array(type, cache, 2), .count = cache, .kept = true},
        {.type = "f32",
         .data = make_rotary(shape.capacity, shape.head_dim),
         .count = (uint64_t)shape.capacity * shape.head_dim},
        {.type = "u32", .data = shelf_copy("u32", shape.positions, shape.batch), .count = shape.batch},
        {.type = type, .data = shelf_array(type, out), .count = out},
        scalar_argument("u32", shape.heads),
        scalar_argument("u32", shape.head_dim),
        scalar_argument("u32", shape.capacity),
        scalar_argument("f32", 1 / sqrt(shape.head_dim)),
    };
    memcpy(it.arguments, arguments, sizeof arguments);
    it.count = sizeof arguments / sizeof arguments[0];
    if (!shape.rotates) {
        free(it.arguments[ROTARY].data);
        it.arguments[ROTARY] = scalar_argument("u64", 0);
    }
    return it;
}

static void decode_destroy(decode_case *it)
{
    for (uint32_t i = 0; i < it->count; i++)
        free(it->arguments[i].data);
}

/* A row that is not the new one must be as it was; keys are turned in f32 and rounded, so a step may lie between. */
static bool key_will_do(const shelf_argument *arguments, double got, double expected, uint64_t index)
{
    uint64_t head_dim = (uint64_t)arguments[7].scalar, capacity = (uint64_t)arguments[8].scalar;
    uint64_t batch = arguments[POSITIONS].count, position = index / head_dim % capacity;
    uint64_t row = index / (arguments[K_CACHE].count / batch);
    bool is_bf16 = strcmp(arguments[K_CACHE].type, "bf16") == 0;
    return position == ((const uint32_t *)arguments[POSITIONS].data)[row] &&
           (is_bf16 ? shelf_within_bf16_step(got, expected) : shelf_within_f16_step(got, expected));
}

/* Outputs are means of values up to 2 in magnitude; the probabilities are rounded to the type before they are used. */
static bool decode_will_do(const shelf_argument *arguments, uint32_t output, double got, double expected,
                           uint64_t index)
{
    double step = strcmp(arguments[QKV].type, "bf16") == 0 ? 0x1p-8 : 0x1p-11;
    if (output == K_CACHE)
        return key_will_do(arguments, got, expected, index);
    return output == Y && fabs(got - expected) <= step * (2 * fabs(expected) + 1);
}

static griddep_launch_config decode_config(const decode_shape *shape)
{
    return (griddep_launch_config){.size = sizeof(griddep_launch_config),
                                   .grid = {shape->splits, shape->kv_heads, shape->batch},
                                   .block = {shape->block},
                                   .cluster = {shape->splits, 1, 1},
                                   .shared_bytes = shape->shared};
}

/* Runs twice: the same bits come out. */
static void decode_check(const shelf_kernel *kernel, const decode_case *it)
{
    griddep_launch_config config = decode_config(&it->shape);
    uint64_t bytes = it->arguments[K_CACHE].count * gd_element_bytes(it->type);
    void *first = shelf_run_config(kernel, it->arguments, it->count, &config, decode_will_do);
    void *second = shelf_run_config(kernel, it->arguments, it->count, &config, decode_will_do);
    ck_assert_msg(memcmp(first, second, bytes) == 0, "%s: two runs differ", kernel->info.name);
    free(first);
    free(second);
}

static const char *type_of(const shelf_kernel *kernel)
{
    return strstr(kernel->info.name, "bf16") != NULL ? "bf16" : "f16";
}

static void run_shapes(const shelf_kernel *kernel, const decode_shape *shapes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        decode_case it = decode_create(type_of(kernel), shapes[i]);
        decode_check(kernel, &it);
        decode_destroy(&it);
    }
}

/* ---- cases ---- */

/* Groups of queries, positions at the ends of tiles and of the cache, splits without a tile, rings of one slot. */
static void decode_shapes(const shelf_kernel *kernel)
{
    static const decode_shape shapes[] = {
        {8, 2, 64, 1, 256, 4, 128, 70000, {200}, true},
        {8, 2, 64, 1, 256, 4, 128, 70000, {0}, true},
        {8, 2, 64, 1, 256, 4, 128, 70000, {255}, true},
        {4, 1, 64, 1, 64, 8, 64, 40000, {1}, true},
        {4, 1, 64, 1, 64, 3, 32, 40000, {15}, true},
        {4, 1, 64, 1, 64, 1, 128, 40000, {16}, true},
        {4, 1, 64, 1, 64, 2, 64, 40000, {17}, false},
        {1, 1, 64, 1, 100, 7, 32, 30000, {99}, true},
        {2, 1, 128, 1, 100, 2, 96, 60000, {80}, true},
        {6, 2, 128, 1, 96, 4, 64, 60000, {95}, true},
        {7, 1, 64, 1, 48, 5, 32, 30000, {40}, true},
        {8, 1, 128, 1, 200, 4, 128, 113000, {180}, true},
        {8, 1, 64, 1, 200, 3, 256, 60000, {181}, false},
        {16, 2, 128, 2, 128, 4, 64, 60000, {127, 3}, true},
        {4, 1, 64, 3, 300, 2, 32, 13500, {299, 0, 64}, true},
        {4, 1, 128, 1, 600, 1, 32, 113000, {599}, true},
        {8, 2, 64, 8, 64, 2, 32, 20000, {0, 5, 15, 16, 31, 32, 63, 20}, true},
        {4, 1, 64, 1, 1000, 16, 32, 20000, {999}, true},
    };
    run_shapes(kernel, shapes, sizeof shapes / sizeof shapes[0]);
}

/* What a model has. */
static void decode_models(const shelf_kernel *kernel)
{
    static const decode_shape small[] = {{32, 8, 64, 1, 128, 4, 128, 100000, {127}, true}};
    static const decode_shape shapes[] = {
        {32, 8, 64, 1, 512, 8, 128, 113000, {511}, true},
        {32, 8, 64, 1, 4096, 16, 128, 113000, {4095}, true},
        {32, 8, 128, 1, 512, 8, 128, 113000, {511}, true},
        {32, 8, 128, 1, 4096, 16, 128, 113000, {4095}, true},
        {32, 8, 128, 1, 4096, 16, 256, 113000, {4001}, true},
        {32, 8, 64, 1, 32768, 16, 128, 113000, {32767}, true},
        {32, 8, 64, 3, 2048, 4, 128, 113000, {2047, 77, 1500}, true},
    };
    if (shelf_on_gpu)
        run_shapes(kernel, shapes, sizeof shapes / sizeof shapes[0]);
    else
        run_shapes(kernel, small, 1);
}

/* Special values in a query, a key, a value of the cache, and the new row. */
static void decode_extreme(const shelf_kernel *kernel)
{
    static const double specials[] = {0, -0.0, 0x1p-24, 300, -300, INFINITY, -INFINITY, NAN};
    static const decode_shape shape = {4, 1, 64, 1, 64, 2, 64, 40000, {50}, true};
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        for (uint32_t place = 0; place < 5; place++) {
            decode_case it = decode_create(type_of(kernel), shape);
            uint32_t array = place < 3 ? place : QKV;
            uint64_t index = place == 0 ? 70 : place == 3 ? 4 * 64 + 9 : place == 4 ? 5 * 64 + 9 : 33 * 64 + 9;
            gd_element_store(it.type, it.arguments[array].data, index, specials[i]);
            decode_check(kernel, &it);
            decode_destroy(&it);
        }
    }
}

const shelf_case attention_cases[] = {
    {"attention_decode_bf16", 0, decode_shapes},
    {"attention_decode_bf16", 0, decode_models},
    {"attention_decode_bf16", 0, decode_extreme},
    {NULL, 0, NULL},
};

/* A decode's output is not what its input is: its chains are among the cases. */
const shelf_link attention_links[] = {{.kernel = NULL}};

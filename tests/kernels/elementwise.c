/* Elementwise kernels: launches against their references, and chains. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "shelf.h"

static void check_vector_add(const shelf_kernel *kernel, void *x, void *y, uint64_t count,
                             const uint64_t misalignment[3], shelf_shape shape)
{
    void *out = shelf_array("f32", count);
    shelf_argument arguments[] = {
        {.type = "f32", .data = x, .count = count, .misalignment = misalignment[0]},
        {.type = "f32", .data = y, .count = count, .misalignment = misalignment[1]},
        {.type = "f32", .data = out, .count = count, .misalignment = misalignment[2]},
        {.type = "u32", .scalar = (double)count},
    };
    shelf_check(kernel, arguments, 4, shape, shelf_equal);
    free(out);
}

static void vector_add_random(const shelf_kernel *kernel)
{
    static const uint64_t counts[] = {0, 1,  2,    3,    4,    5,      7,
                                      8, 31, 1023, 1024, 1025, 100003, 1 << 20};
    const shelf_shape shapes[] = {
        {1, 1, 0}, {1, 32, 0}, {3, 33, 0}, {132, 256, 0}, {shelf_on_gpu ? 1056 : 7, 1024, 0}};
    static const uint64_t misalignments[][3] = {
        {0, 0, 0}, {4, 4, 4}, {12, 12, 12}, {0, 4, 0}, {8, 8, 12}};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        if (counts[i] > 1000000 && !shelf_on_gpu)
            continue;
        void *x = shelf_random_array("f32", counts[i], 1e3);
        void *y = shelf_random_array("f32", counts[i], 1);
        for (size_t j = 0; j < 25; j++) {
            if (shapes[j % 5].grid > 1 || counts[i] < 10000)
                check_vector_add(kernel, x, y, counts[i], misalignments[j / 5], shapes[j % 5]);
        }
        free(x);
        free(y);
    }
}

static void vector_add_extreme(const shelf_kernel *kernel)
{
    static const double values[] = {0,  -0.0,    0x1p-149, -0x1p-149, 0x1p-126,  1,
                                    -1, FLT_MAX, -FLT_MAX, INFINITY,  -INFINITY, NAN};
    enum { VALUES = sizeof values / sizeof values[0] };
    static const uint64_t aligned[3] = {0, 0, 0};
    void *x = shelf_array("f32", VALUES * VALUES);
    void *y = shelf_array("f32", VALUES * VALUES);
    for (uint64_t i = 0; i < VALUES * VALUES; i++) {
        gd_element_store("f32", x, i, values[i / VALUES]);
        gd_element_store("f32", y, i, values[i % VALUES]);
    }
    check_vector_add(kernel, x, y, VALUES * VALUES, aligned, (shelf_shape){2, 64, 0});
    free(x);
    free(y);
}

/* ---- kernels made of one body ---- */

typedef struct map_kernel {
    const char *name;
    const char *from;
    const char *to;
    bool second;
    bool factor;
    shelf_element_check check;
} map_kernel;

static bool within_bf16_step(const shelf_argument *arguments, uint32_t output, double got,
                             double expected, uint64_t index)
{
    (void)arguments;
    (void)output;
    (void)index;
    return isfinite(got) && isfinite(expected) && shelf_within_bf16_step(got, expected);
}

static bool within_f16_step(const shelf_argument *arguments, uint32_t output, double got,
                            double expected, uint64_t index)
{
    (void)arguments;
    (void)output;
    (void)index;
    return isfinite(got) && isfinite(expected) && shelf_within_f16_step(got, expected);
}

/* What the head comment promises, before rounding: the relative error, and 0 where the gate is
 * below -88. */
static bool silu_element(const shelf_argument *arguments, uint32_t output, double got,
                         double expected, uint64_t index)
{
    const char *type = arguments[output].type;
    double up = fabs(gd_element_load(type, arguments[1].data, index));
    double gate = gd_element_load(type, arguments[0].data, index);
    if (isinf(up) && (gate < -87 || fabs(gate) < 0x1p-147))
        return isnan(got);
    if (!isfinite(got) || !isfinite(expected))
        return false;
    double relative = 0x1p-20 + fmax(-gate, 0) * 0x1p-22;
    if (fabs(got - expected) <= fabs(expected) * relative + up * 0x1p-120 + 0x1p-147)
        return true;
    return strcmp(type, "bf16") == 0  ? shelf_within_bf16_step(got, expected)
           : strcmp(type, "f16") == 0 ? shelf_within_f16_step(got, expected)
                                      : false;
}

static const map_kernel maps[] = {
    {"add_bf16", "bf16", "bf16", true, false, shelf_equal},
    {"add_f16", "f16", "f16", true, false, shelf_equal},
    {"cast_bf16_e4m3", "bf16", "e4m3", false, false, shelf_equal},
    {"cast_bf16_f16", "bf16", "f16", false, false, shelf_equal},
    {"cast_bf16_f32", "bf16", "f32", false, false, shelf_equal},
    {"cast_e4m3_bf16", "e4m3", "bf16", false, false, shelf_equal},
    {"cast_e4m3_f16", "e4m3", "f16", false, false, shelf_equal},
    {"cast_e4m3_f32", "e4m3", "f32", false, false, shelf_equal},
    {"cast_f16_bf16", "f16", "bf16", false, false, shelf_equal},
    {"cast_f16_e4m3", "f16", "e4m3", false, false, shelf_equal},
    {"cast_f16_f32", "f16", "f32", false, false, shelf_equal},
    {"cast_f32_bf16", "f32", "bf16", false, false, shelf_equal},
    {"cast_f32_e4m3", "f32", "e4m3", false, false, shelf_equal},
    {"cast_f32_f16", "f32", "f16", false, false, shelf_equal},
    {"scale_bf16", "bf16", "bf16", false, true, within_bf16_step},
    {"scale_f16", "f16", "f16", false, true, within_f16_step},
    {"scale_f32", "f32", "f32", false, true, shelf_equal},
    {"silu_multiply_bf16", "bf16", "bf16", true, false, silu_element},
    {"silu_multiply_f16", "f16", "f16", true, false, silu_element},
    {"silu_multiply_f32", "f32", "f32", true, false, silu_element},
};

static const map_kernel *find_map(const shelf_kernel *kernel)
{
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        if (strcmp(maps[i].name, kernel->info.name) == 0)
            return &maps[i];
    }
    ck_abort_msg("%s is not in the table", kernel->info.name);
    return NULL;
}

/* The arguments of a launch; out has its own memory. Returns their number, and where the output
 * is. */
static uint32_t map_arguments(const map_kernel *map, void *x, void *y, void *out, uint64_t count,
                              shelf_argument arguments[4], uint32_t *output)
{
    uint32_t n = 0;
    arguments[n++] = (shelf_argument){.type = map->from, .data = x, .count = count};
    if (map->second)
        arguments[n++] = (shelf_argument){.type = map->from, .data = y, .count = count};
    *output = n;
    arguments[n++] = (shelf_argument){.type = map->to, .data = out, .count = count};
    arguments[n++] = (shelf_argument){.type = "u32", .scalar = (double)count};
    if (map->factor)
        arguments[n++] = (shelf_argument){.type = "f32", .scalar = -1.7};
    return n;
}

/* Misalignments in elements of each array. */
static void check_map(const shelf_kernel *kernel, void *x, void *y, uint64_t count,
                      const uint64_t misalignment[3], shelf_shape shape)
{
    const map_kernel *map = find_map(kernel);
    shelf_argument arguments[4];
    uint32_t output = 0;
    void *out = shelf_array(map->to, count);
    uint32_t n = map_arguments(map, x, y, out, count, arguments, &output);
    for (uint32_t i = 0; i <= output; i++)
        arguments[i].misalignment =
            misalignment[i < output ? i : 2] * gd_element_bytes(arguments[i].type);
    shelf_check(kernel, arguments, n, shape, map->check);
    free(out);
}

/* Magnitudes that all types hold, and some that the small ones do not. */
static void *wide_random(const char *type, uint64_t count)
{
    void *array = shelf_array(type, count);
    for (uint64_t i = 0; i < count; i++)
        gd_element_store(type, array, i, shelf_random_unit() * pow(2, shelf_random_unit() * 12));
    return array;
}

static void map_random(const shelf_kernel *kernel)
{
    static const uint64_t counts[] = {0, 1, 7, 8, 9, 15, 16, 17, 255, 2048, 2055, 300007};
    static const shelf_shape shapes[] = {{1, 1, 0}, {3, 33, 0}, {7, 256, 0}, {512, 256, 0}};
    static const uint64_t misalignments[][3] = {{0, 0, 0}, {1, 1, 1}, {7, 7, 7},
                                                {8, 8, 8}, {0, 1, 0}, {3, 3, 5}};
    const map_kernel *map = find_map(kernel);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0] && (shelf_on_gpu || counts[i] < 10000);
         i++) {
        void *x = wide_random(map->from, counts[i]);
        void *y = wide_random(map->from, counts[i]);
        const size_t stride = !shelf_on_gpu ? 5 : counts[i] > 10000 ? 7 : 1;
        for (size_t j = i % stride; j < 24; j += stride) {
            if (shapes[j % 4].grid > 1 || counts[i] < 1000)
                check_map(kernel, x, y, counts[i], misalignments[j / 4], shapes[j % 4]);
        }
        free(x);
        free(y);
    }
}

/* Every pair of values at the types' ends and between them; for one input, the pairs' first
 * ones. */
static void map_extreme(const shelf_kernel *kernel)
{
    static const double values[] = {
        0,       -0.0,       0x1p-149,   -0x1p-149, 0x1p-133, 0x1p-126, 0x1p-24, 0x1p-25,
        0x3p-26, 0x1p-14,    0x1p-9,     -0x1p-10,  0x3p-11,  0x1p-6,   1,       -1,
        1.0625,  1.1875,     17,         19,        447,      448,      463.9,   464,
        -480,    65504,      65519,      65520,     1e5,      88,       -88,     -89,
        -200,    0x1.ffp127, 0x1.fep127, FLT_MAX,   -FLT_MAX, INFINITY, NAN,     -INFINITY};
    enum { VALUES = sizeof values / sizeof values[0] };
    static const uint64_t aligned[3] = {0, 0, 0}, shifted[3] = {1, 1, 2};
    const map_kernel *map = find_map(kernel);
    void *x = shelf_array(map->from, VALUES * VALUES);
    void *y = shelf_array(map->from, VALUES * VALUES);
    for (uint64_t i = 0; i < VALUES * VALUES; i++) {
        gd_element_store(map->from, x, i, values[i / VALUES]);
        gd_element_store(map->from, y, i, values[i % VALUES]);
    }
    check_map(kernel, x, y, VALUES * VALUES, aligned, (shelf_shape){3, 64, 0});
    check_map(kernel, x, y, VALUES * VALUES, shifted, (shelf_shape){3, 64, 0});
    free(x);
    free(y);
}

/* Every bit pattern of a type of one or two bytes. */
static void map_every(const shelf_kernel *kernel)
{
    static const uint64_t aligned[3] = {0, 0, 0};
    const map_kernel *map = find_map(kernel);
    uint32_t bytes = gd_element_bytes(map->from);
    uint64_t count = (uint64_t)1 << 8 * bytes;
    unsigned char *x = shelf_array(map->from, count);
    for (uint64_t i = 0; i < count; i++) {
        x[i * bytes] = (unsigned char)i;
        if (bytes == 2)
            x[i * bytes + 1] = (unsigned char)(i >> 8);
    }
    check_map(kernel, x, NULL, count, aligned, (shelf_shape){32, 256, 0});
    free(x);
}

static void check_array(const map_kernel *map, const shelf_argument *arguments, uint32_t output,
                        const shelf_guarded *array, const void *expected, uint64_t count)
{
    void *got = shelf_guarded_read(array, map->name);
    for (uint64_t i = 0; i < count; i++) {
        double value = gd_element_load(map->to, got, i);
        double wanted = gd_element_load(map->to, expected, i);
        if (value != wanted && !map->check(arguments, output, value, wanted, i))
            ck_abort_msg("%s in place: element %llu is %.9g, expected %.9g", map->name,
                         (unsigned long long)i, value, wanted);
    }
    free(got);
}

/* out is the input of that number, as the head comment allows; the other input must stay as it
 * is. */
static void check_in_place(const shelf_kernel *kernel, uint32_t place)
{
    enum { COUNT = 5003 };
    const map_kernel *map = find_map(kernel);
    const gd_reference *reference = gd_reference_find(map->name);
    uint64_t bytes = gd_element_bytes(map->to);
    void *inputs[2] = {wide_random(map->from, COUNT), wide_random(map->from, COUNT)};
    void *before = shelf_copy(map->from, inputs[place], COUNT);
    shelf_guarded arrays[2] = {shelf_guarded_create(bytes * COUNT, bytes * place),
                               shelf_guarded_create(bytes * COUNT, bytes * place)};
    shelf_argument arguments[4];
    gd_reference_argument referred[4];
    griddep_argument launched[4] = {0};
    griddep_launch_config config = {.size = sizeof config, .grid = {3}, .block = {96}};
    const uint32_t grid[3] = {3, 1, 1};
    uint32_t output = 0;
    uint32_t n = map_arguments(map, inputs[0], inputs[1], inputs[place], COUNT, arguments, &output);
    for (uint32_t i = 0; i < 2; i++)
        shelf_guarded_write(&arrays[i], inputs[i]);
    for (uint32_t i = 0; i < n; i++) {
        referred[i] = (gd_reference_argument){arguments[i].type, arguments[i].data, COUNT,
                                              arguments[i].scalar};
        launched[i] = shelf_launch_argument(&arguments[i], &arrays[i < output ? i : place]);
    }
    MUST(griddep_launch(kernel->kernel, &config, launched, n, NULL, &shelf_error));
    MUST(griddep_stream_synchronize(shelf_runtime, NULL, &shelf_error));
    ck_assert_int_eq(reference->run(reference, referred, n, grid), 0);
    arguments[place].data = before;
    for (uint32_t i = 0; i < 2; i++)
        check_array(map, arguments, output, &arrays[i], inputs[i], COUNT);
    for (uint32_t i = 0; i < 2; i++) {
        free(inputs[i]);
        shelf_guarded_destroy(&arrays[i]);
    }
    free(before);
}

static void map_in_place(const shelf_kernel *kernel)
{
    check_in_place(kernel, 0);
    if (find_map(kernel)->second)
        check_in_place(kernel, 1);
}

/* ---- bytes ---- */

static const uint64_t byte_counts[] = {0, 1, 3, 15, 16, 17, 31, 33, 255, 4096, 5001, 1000003};
static const shelf_shape byte_shapes[] = {{1, 1, 0}, {3, 33, 0}, {61, 256, 0}};

static void fill_random(const shelf_kernel *kernel)
{
    const uint64_t stride = shelf_on_gpu ? 1 : 3;
    for (size_t i = 0; i < sizeof byte_counts / sizeof byte_counts[0]; i++) {
        void *out = shelf_array("u8", byte_counts[i]);
        for (uint64_t misalignment = i % stride; misalignment < 17; misalignment += stride) {
            shelf_argument arguments[] = {
                {.type = "u8", .data = out, .count = byte_counts[i], .misalignment = misalignment},
                {.type = "u64", .scalar = (double)byte_counts[i]},
                {.type = "u32", .scalar = misalignment == 0 ? 0 : (double)shelf_random_bits()},
            };
            if (byte_counts[i] < 10000 || shelf_on_gpu)
                shelf_check(kernel, arguments, 3,
                            byte_shapes[byte_counts[i] < 10000 ? misalignment % 3 : 2],
                            shelf_equal);
        }
        free(out);
    }
}

static void copy_random(const shelf_kernel *kernel)
{
    static const uint64_t misalignments[][2] = {{0, 0}, {1, 1}, {15, 15}, {16, 0},  {4, 0},
                                                {3, 7}, {9, 1}, {0, 1},   {13, 10}, {2, 0}};
    for (size_t i = 0; i < sizeof byte_counts / sizeof byte_counts[0]; i++) {
        unsigned char *x = shelf_array("u8", byte_counts[i]);
        void *out = shelf_array("u8", byte_counts[i]);
        for (uint64_t j = 0; j < byte_counts[i]; j++)
            x[j] = (unsigned char)(shelf_random_bits() >> 24);
        for (size_t j = 0; j < sizeof misalignments / sizeof misalignments[0]; j++) {
            shelf_argument arguments[] = {
                {.type = "u8",
                 .data = x,
                 .count = byte_counts[i],
                 .misalignment = misalignments[j][0]},
                {.type = "u8",
                 .data = out,
                 .count = byte_counts[i],
                 .misalignment = misalignments[j][1]},
                {.type = "u64", .scalar = (double)byte_counts[i]},
            };
            if (byte_counts[i] < 10000 || shelf_on_gpu)
                shelf_check(kernel, arguments, 3, byte_shapes[byte_counts[i] < 10000 ? j % 3 : 2],
                            shelf_equal);
        }
        free(x);
        free(out);
    }
}

#define MAP_CASES(name)                                                                            \
    {name, 0, map_random},                                                                         \
    {                                                                                              \
        name, 0, map_extreme                                                                       \
    }

const shelf_case elementwise_cases[] = {
    {"vector_add", 0, vector_add_random},
    {"vector_add", 0, vector_add_extreme},
    {"vector_add", 80, vector_add_random},
    {"vector_add", 80, vector_add_extreme},
    MAP_CASES("add_bf16"),
    MAP_CASES("add_f16"),
    MAP_CASES("cast_bf16_e4m3"),
    MAP_CASES("cast_bf16_f16"),
    MAP_CASES("cast_bf16_f32"),
    MAP_CASES("cast_e4m3_bf16"),
    MAP_CASES("cast_e4m3_f16"),
    MAP_CASES("cast_e4m3_f32"),
    MAP_CASES("cast_f16_bf16"),
    MAP_CASES("cast_f16_e4m3"),
    MAP_CASES("cast_f16_f32"),
    MAP_CASES("cast_f32_bf16"),
    MAP_CASES("cast_f32_e4m3"),
    MAP_CASES("cast_f32_f16"),
    MAP_CASES("scale_bf16"),
    MAP_CASES("scale_f16"),
    MAP_CASES("scale_f32"),
    MAP_CASES("silu_multiply_bf16"),
    MAP_CASES("silu_multiply_f16"),
    MAP_CASES("silu_multiply_f32"),
    {"cast_bf16_e4m3", 0, map_every},
    {"cast_bf16_f16", 0, map_every},
    {"cast_bf16_f32", 0, map_every},
    {"cast_e4m3_bf16", 0, map_every},
    {"cast_e4m3_f16", 0, map_every},
    {"cast_e4m3_f32", 0, map_every},
    {"cast_f16_bf16", 0, map_every},
    {"cast_f16_e4m3", 0, map_every},
    {"cast_f16_f32", 0, map_every},
    {"add_bf16", 0, map_in_place},
    {"add_f16", 0, map_in_place},
    {"cast_bf16_f16", 0, map_in_place},
    {"cast_f16_bf16", 0, map_in_place},
    {"scale_bf16", 0, map_in_place},
    {"scale_f16", 0, map_in_place},
    {"scale_f32", 0, map_in_place},
    {"silu_multiply_bf16", 0, map_in_place},
    {"silu_multiply_f16", 0, map_in_place},
    {"silu_multiply_f32", 0, map_in_place},
    {"copy_bytes", 0, copy_random},
    {"fill_bytes", 0, fill_random},
    {NULL, 0, NULL},
};

/* Of 8192 bytes each: 4096 elements of two bytes. */
#define PAIR_LINK(name, element)                                                                   \
    {                                                                                              \
        .kernel = name, .bytes = 8192, .config = {.grid = {4}, .block = {128}}, .count = 4,        \
        .arguments = {SHELF_PLACE(SHELF_INPUT),                                                    \
                      SHELF_PLACE(SHELF_CONSTANT),                                                 \
                      SHELF_PLACE(SHELF_OUTPUT),                                                   \
                      {.bytes = 4, .value = 4096}},                                                \
        .type = element, .constant_count = 4096, .constant_scale = 1                               \
    }
#define CAST_LINK(name, element)                                                                   \
    {                                                                                              \
        .kernel = name, .bytes = 8192, .config = {.grid = {4}, .block = {128}}, .count = 3,        \
        .arguments = {SHELF_PLACE(SHELF_INPUT),                                                    \
                      SHELF_PLACE(SHELF_OUTPUT),                                                   \
                      {.bytes = 4, .value = 4096}},                                                \
        .type = element                                                                            \
    }

const shelf_link elementwise_links[] = {
    {.kernel = "vector_add",
     .bytes = 16384,
     .config = {.grid = {4}, .block = {256}},
     .count = 4,
     .arguments = {SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 4096}},
     .type = "f32",
     .constant_count = 4096,
     .constant_scale = 1},
    PAIR_LINK("add_bf16", "bf16"),
    PAIR_LINK("silu_multiply_f16", "f16"),
    CAST_LINK("cast_bf16_f16", "bf16"),
    CAST_LINK("cast_f16_bf16", "f16"),
    {.kernel = "scale_bf16",
     .bytes = 8192,
     .config = {.grid = {4}, .block = {128}},
     .count = 4,
     .arguments = {SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 4096},
                   {.bytes = 4, .value = 0x40490fdb}},
     .type = "bf16"},
    {.kernel = "copy_bytes",
     .bytes = 8192,
     .config = {.grid = {4}, .block = {128}},
     .count = 3,
     .arguments = {SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 8, .value = 8192}},
     .type = "u32"},
    {.kernel = "fill_bytes",
     .bytes = 8192,
     .config = {.grid = {4}, .block = {128}},
     .count = 3,
     .arguments = {SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 8, .value = 8192},
                   {.bytes = 4, .value = 0x01020304}},
     .type = "u32"},
    {.kernel = NULL},
};

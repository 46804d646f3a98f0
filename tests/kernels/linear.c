/* Linear layers: launches against their references, and chains. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "cli/plan/reference_family.h"
#include "shelf.h"

/* One step of bf16, and f32's rounding of the sum, which is relative to the terms and not to a sum
 * that they may cancel in. */
static bool matvec_element(const shelf_argument *arguments, uint32_t output, double got,
                           double expected, uint64_t index)
{
    (void)output;
    uint64_t columns = (uint64_t)arguments[4].scalar;
    double terms = 0;
    if (!isfinite(got) || !isfinite(expected))
        return false;
    if (shelf_within_bf16_step(got, expected))
        return true;
    for (uint64_t i = 0; i < columns; i++)
        terms += fabs(gd_element_load("bf16", arguments[0].data, index * columns + i) *
                      gd_element_load("bf16", arguments[1].data, i));
    return fabs(got - expected) <= fabs(expected) * 0x1p-8 + terms * 0x1p-18;
}

static void *run_matvec(const shelf_kernel *kernel, void *weight, void *x, uint32_t rows,
                        uint32_t columns, shelf_shape shape)
{
    void *y = shelf_array("bf16", rows);
    shelf_argument arguments[] = {
        {.type = "bf16", .data = weight, .count = (uint64_t)rows * columns, .misalignment = 16},
        {.type = "bf16", .data = x, .count = columns, .misalignment = 48},
        {.type = "bf16", .data = y, .count = rows, .misalignment = 2},
        {.type = "u32", .scalar = rows},
        {.type = "u32", .scalar = columns},
    };
    void *result = shelf_run(kernel, arguments, 5, shape, matvec_element);
    free(y);
    return result;
}

static void matvec_random(const shelf_kernel *kernel)
{
    static const struct {
        uint32_t rows, columns;
        shelf_shape shape;
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
        {40, 28672, {16, 256, 49152}}, /* x does not fit: from global memory */
        {1, 8, {1, 288, UINT32_MAX}},  /* columns split over the warps: 9 or 17 of them */
        {300, 8, {7, 544, 60000}},
        {1500, 248, {13, 288, 40000}},
        {263, 2048, {33, 544, 114688}},
        {131, 2056, {132, 288, UINT32_MAX}},
        {257, 3080, {3, 544, 114688}},
        {133, 4104, {5, 288, 114688}},
        {37, 14336, {3, 544, UINT32_MAX}},
        {64, 2048, {2, 288, 2816 + 4096 + 2 * 32768}}, /* the smallest ring of such a block */
        {64,
         2048,
         {2, 288, 2816 + 4096 + 2 * 32768 - 1}}, /* one byte less than that: rows for the warps */
        {64, 4096, {2, 128, 8192 + 4 * 64 + 2 * 4 * 512}}, /* the smallest ring */
        {64,
         4096,
         {2, 128,
          8192 + 4 * 64 + 2 * 4 * 512 - 1}}, /* one byte less than that: from global memory */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t count = (uint64_t)cases[i].rows * cases[i].columns;
        void *weight = shelf_random_array("bf16", count, 1 / sqrt(cases[i].columns));
        void *x = shelf_random_array("bf16", cases[i].columns, 1);
        free(run_matvec(kernel, weight, x, cases[i].rows, cases[i].columns,
                        shelf_fit_shared(kernel, cases[i].shape)));
        free(weight);
        free(x);
    }
}

/* A layer of 6152 columns gives the same bits in each of the shapes. */
static void matvec_same_bits(const shelf_kernel *kernel, uint32_t rows, const shelf_shape *shapes,
                             size_t count)
{
    enum { COLUMNS = 6152 };
    void *weight = shelf_random_array("bf16", (uint64_t)rows * COLUMNS, 1);
    void *x = shelf_random_array("bf16", COLUMNS, 1);
    void *first = run_matvec(kernel, weight, x, rows, COLUMNS, shelf_fit_shared(kernel, shapes[0]));
    for (size_t i = 1; i < count; i++) {
        void *other =
            run_matvec(kernel, weight, x, rows, COLUMNS, shelf_fit_shared(kernel, shapes[i]));
        ck_assert_msg(memcmp(first, other, (size_t)rows * 2) == 0,
                      "grid %u, block %u, shared %u: other bits", shapes[i].grid, shapes[i].block,
                      shapes[i].shared);
        free(other);
    }
    free(first);
    free(weight);
    free(x);
}

/* The head comment promises the same bits for every launch shape. */
static void matvec_shapes(const shelf_kernel *kernel)
{
    static const shelf_shape shapes[] = {
        {132, 512, UINT32_MAX}, {1, 32, 0},        {1, 32, 20000},        {7, 1024, 60000},
        {132, 512, 0},          {600, 128, 49152}, {64, 256, UINT32_MAX}, {132, 992, 190000}};
    matvec_same_bits(kernel, 500, shapes, sizeof shapes / sizeof shapes[0]);
}

/* And those that split the columns another result, the same for every shape. */
static void matvec_split_shapes(const shelf_kernel *kernel)
{
    static const shelf_shape shapes[] = {{132, 544, UINT32_MAX},
                                         {1, 288, 100000},
                                         {7, 544, 160000},
                                         {64, 288, UINT32_MAX},
                                         {13, 288, 120000}};
    matvec_same_bits(kernel, 300, shapes, sizeof shapes / sizeof shapes[0]);
}

/* Rows of one value, rows with one special element, then a vector with a special element. */
static void matvec_extreme(const shelf_kernel *kernel)
{
    static const double fills[] = {0, -0.0, 0x1p-133, 1e-20, 3.38e38, -3.38e38};
    static const double specials[] = {0, 0x1p-133, 3.38e38, INFINITY, -INFINITY, NAN};
    enum {
        COLUMNS = 2072,
        FILLS = sizeof fills / sizeof fills[0],
        ROWS = FILLS + sizeof specials / sizeof specials[0]
    };
    void *weight = shelf_random_array("bf16", ROWS * COLUMNS, 1);
    void *x = shelf_random_array("bf16", COLUMNS, 1);
    for (uint64_t i = 0; i < ROWS * COLUMNS; i++) {
        if (i / COLUMNS < FILLS)
            gd_element_store("bf16", weight, i, fills[i / COLUMNS]);
        else if (i % COLUMNS == 2071)
            gd_element_store("bf16", weight, i, specials[i / COLUMNS - FILLS]);
    }
    for (uint64_t i = 0; i < COLUMNS; i++)
        gd_element_store("bf16", x, i, fabs(gd_element_load("bf16", x, i)) + 0.25);
    gd_element_store("bf16", x, COLUMNS - 1,
                     0.75); /* no product overflows f32 by itself, beside an infinity */
    static const shelf_shape shapes[] = {{5, 128, 60000}, {5, 128, 0}, {3, 288, 80000}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        shelf_shape shape = shapes[i];
        free(run_matvec(kernel, weight, x, ROWS, COLUMNS, shape));
        void *special = shelf_copy("bf16", x, COLUMNS);
        gd_element_store("bf16", special, 100, NAN);
        free(run_matvec(kernel, weight, special, ROWS, COLUMNS, shape));
        gd_element_store("bf16", special, 100, INFINITY);
        free(run_matvec(kernel, weight, special, ROWS, COLUMNS, shape));
        free(special);
    }
    free(weight);
    free(x);
}

/* ------------------------------------------------------------------------------------------
 * linear_* and skinny_*
 */

enum {
    UP = 1,
    NORM = 2,
    BIAS = 4,
    RESIDUAL = 8,
    IN_PLACE = 16,
    EVERYTHING = UP | NORM | BIAS | RESIDUAL
};

typedef struct layer_form {
    const char *kernel, *weight, *type;
    bool scaled, batched;
    uint32_t scale_rows; /* 0: a scale serves a row */
} layer_form;

static const layer_form layer_forms[] = {
    {"linear_bf16", "bf16", "bf16", false, false, 0},
    {"linear_f16", "f16", "f16", false, false, 0},
    {"linear_fp8", "e4m3", "bf16", true, false, 0},
    {"linear_fp8_block", "e4m3", "bf16", true, false, 24},
    {"skinny_bf16", "bf16", "bf16", false, true, 0},
    {"skinny_f16", "f16", "f16", false, true, 0},
    {"skinny_fp8", "e4m3", "bf16", true, true, 0},
    {"skinny_fp8_block", "e4m3", "bf16", true, true, 24},
    {"linear_int4", "u8", "bf16", false, false, 0},
    {"skinny_int4", "u8", "bf16", false, true, 0},
};

typedef struct layer_size {
    uint32_t rows, columns, batch;
    int operands;
    shelf_shape shape;
} layer_size;

/* The arrays of a layer; those that the launch leaves out are NULL. */
typedef struct layer {
    const layer_form *form;
    layer_size size;
    void *weight, *up, *scale, *up_scale, *x, *norm, *bias, *residual, *y;
    double epsilon;
    bool infinite; /* x is, and of an element that is infinite NaN may come */
} layer;

static const layer_form *form_of(const shelf_kernel *kernel)
{
    for (size_t i = 0; i < sizeof layer_forms / sizeof layer_forms[0]; i++) {
        if (strcmp(layer_forms[i].kernel, kernel->info.name) == 0)
            return &layer_forms[i];
    }
    ck_abort_msg("no form for %s", kernel->info.name);
    return NULL;
}

static uint64_t layer_batch(const layer *it)
{
    return it->form->batched ? it->size.batch : 1;
}

static void *random_scales(uint64_t count)
{
    void *scales = shelf_array("f32", count);
    for (uint64_t i = 0; i < count; i++)
        gd_element_store("f32", scales, i, 1 + 0.5 * shelf_random_unit());
    return scales;
}

static uint64_t int4_bytes(uint64_t rows, uint64_t columns)
{
    return rows * columns / 2048 * GD_INT4_RECORD;
}

static void random_bytes(unsigned char *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)((shelf_random_unit() + 1) * 127.9);
}

/* The values are about as large as the others' of that deviation. */
static void *random_int4(uint64_t rows, uint64_t columns, double deviation)
{
    enum { SCALES = 1024, ZEROS = 1056 };
    const uint64_t bytes = int4_bytes(rows, columns);
    unsigned char *tiles = shelf_array("u8", bytes);
    for (unsigned char *record = tiles; record < tiles + bytes; record += GD_INT4_RECORD) {
        random_bytes(record, SCALES);
        for (uint64_t i = 0; i < 16; i++) {
            double scale = deviation / 4 * (1 + 0.5 * shelf_random_unit());
            gd_element_store("f16", record + SCALES, i, scale);
            record[ZEROS + i] = (unsigned char)((shelf_random_unit() + 1) * 8.49);
        }
    }
    return tiles;
}

static bool is_int4(const layer_form *form)
{
    return form->weight[0] == 'u';
}

static void *random_weights(const layer_form *form, uint64_t rows, uint64_t columns, double scale)
{
    return is_int4(form) ? random_int4(rows, columns, scale)
                         : shelf_random_array(form->weight, rows * columns, scale);
}

/* How many scales a matrix has. */
static uint64_t scale_count(const layer *it)
{
    const uint64_t rows = it->size.rows, block = it->form->scale_rows;
    return block ? (rows + block - 1) / block * ((it->size.columns + 127) / 128) : rows;
}

/* An element of W, with the scale of its block where that has one. */
static double weight_value(const layer *it, const void *weight, const void *scale, uint64_t row,
                           uint64_t column)
{
    const uint64_t columns = it->size.columns;
    if (is_int4(it->form))
        return gd_int4_value(weight, columns, row, column);
    double value = gd_element_load(it->form->weight, weight, row * columns + column);
    if (!it->form->scale_rows)
        return value;
    const uint64_t block = row / it->form->scale_rows * ((columns + 127) / 128) + column / 128;
    return value * gd_element_load("f32", scale, block);
}

static layer layer_create(const shelf_kernel *kernel, layer_size size)
{
    layer it = {.form = form_of(kernel), .size = size, .epsilon = 1e-5};
    uint64_t rows = size.rows, columns = size.columns, batch = layer_batch(&it);
    double deviation = 1 / sqrt((double)columns);
    double scale = it.form->scaled ? 4 : deviation;
    it.weight = random_weights(it.form, rows, columns, scale);
    if (size.operands & UP)
        it.up = random_weights(it.form, rows, columns, scale);
    if (it.form->scaled) {
        const uint64_t scales = scale_count(&it);
        it.scale = random_scales(scales);
        for (uint64_t i = 0; i < scales; i++)
            gd_element_store("f32", it.scale, i, gd_element_load("f32", it.scale, i) * deviation);
        if (size.operands & UP)
            it.up_scale = random_scales(scales);
    }
    it.x = shelf_random_array(it.form->type, columns * batch, 3);
    if (size.operands & NORM)
        it.norm = shelf_random_array(it.form->type, columns, 2);
    if (size.operands & BIAS)
        it.bias = shelf_random_array(it.form->type, rows, 1);
    if (size.operands & (RESIDUAL | IN_PLACE))
        it.residual = shelf_random_array(it.form->type, rows * batch, 1);
    it.y = shelf_array(it.form->type, rows * batch);
    return it;
}

static void layer_destroy(layer *it)
{
    void *arrays[] = {it->weight, it->up,   it->scale,    it->up_scale, it->x,
                      it->norm,   it->bias, it->residual, it->y};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
}

/* One product of a row with what the arithmetic may cost: f32's rounding is relative to the terms
 * and not to a sum that they may cancel in; with a norm each term is rounded once more. */
static double row_value(const layer *it, const void *weight, const void *scale, uint64_t batch,
                        uint64_t row, double *error)
{
    uint64_t columns = it->size.columns;
    double sum = 0, terms = 0, squares = 0, term_squares = 0;
    for (uint64_t i = 0; i < columns; i++) {
        double x = gd_element_load(it->form->type, it->x, batch * columns + i);
        double normed = it->norm != NULL ? x * gd_element_load(it->form->type, it->norm, i) : x;
        double term = weight_value(it, weight, scale, row, i) * normed;
        sum += term;
        terms += fabs(term);
        squares += x * x;
        term_squares += term * term;
    }
    double factor =
        scale != NULL && !it->form->scale_rows ? fabs(gd_element_load("f32", scale, row)) : 1;
    if (it->norm != NULL)
        factor /= sqrt(squares / (double)columns + it->epsilon);
    double element = it->form->type[0] == 'b' ? 0x1p-9 : 0x1p-12;
    double rounded = it->norm != NULL ? 4 * element : 0;
    /* linear_fp8* and linear_int4 on chips of 9.0: each sum of 32 products has some 13 bits below
     * the largest, which in the latter are products of up to 15 in place of up to 8. */
    if (!it->form->batched && (it->form->scaled || is_int4(it->form)))
        rounded += is_int4(it->form) ? 0x1p-9 : 0x1p-11;
    *error = factor * (terms * 0x1p-18 + rounded * sqrt(term_squares));
    return sum * factor;
}

static bool layer_close(const layer *it, double got, double expected, uint64_t batch, uint64_t row)
{
    double step = it->form->type[0] == 'b' ? 0x1p-7 : 0x1p-10;
    double error = 0, up_error = 0;
    if (!isfinite(got) || !isfinite(expected))
        return it->infinite && isnan(got) && isinf(expected);
    if (it->form->type[0] == 'b' ? shelf_within_bf16_step(got, expected)
                                 : shelf_within_f16_step(got, expected))
        return true;
    double value = row_value(it, it->weight, it->scale, batch, row, &error);
    if (it->up != NULL) {
        double up = row_value(it, it->up, it->up_scale, batch, row, &up_error);
        if (it->bias != NULL)
            value += gd_element_load(it->form->type, it->bias, row);
        error = 1.1 * error * (fabs(up) + up_error) + (fabs(value) + error) * up_error +
                fabs(value * up) * 0x1p-20;
    }
    if (it->residual != NULL)
        error += fabs(gd_element_load(it->form->type, it->residual, batch * it->size.rows + row)) *
                 0x1p-22;
    return fabs(got - expected) <= fmax(fabs(expected), fabs(got)) * step + error + 0x1p-24;
}

static const layer *running_layer;

static bool layer_element(const shelf_argument *arguments, uint32_t output, double got,
                          double expected, uint64_t index)
{
    (void)arguments;
    (void)output;
    uint64_t rows = running_layer->size.rows;
    return layer_close(running_layer, got, expected, index / rows, index % rows);
}

static void *run_layer(const shelf_kernel *kernel, const layer *it)
{
    const char *type = it->form->type, *weight = it->form->weight;
    uint64_t rows = it->size.rows, columns = it->size.columns, batch = layer_batch(it);
    uint64_t elements = is_int4(it->form) ? int4_bytes(rows, columns) : rows * columns;
    shelf_argument arguments[16];
    uint32_t count = 0;
#define ARRAY(type_, data_, count_, misalignment_)                                                 \
    (data_) != NULL ? (shelf_argument){.type = (type_),                                            \
                                       .data = (data_),                                            \
                                       .count = (count_),                                          \
                                       .misalignment = (misalignment_)}                            \
                    : (shelf_argument){.type = "u64", .scalar = 0}
    arguments[count++] = ARRAY(weight, it->weight, elements, 16);
    arguments[count++] = ARRAY(weight, it->up, elements, 48);
    if (it->form->scaled) {
        arguments[count++] = ARRAY("f32", it->scale, scale_count(it), 4);
        arguments[count++] = ARRAY("f32", it->up_scale, scale_count(it), 12);
    }
    arguments[count++] = ARRAY(type, it->x, columns * batch, 48);
    arguments[count++] = ARRAY(type, it->norm, columns, 16);
    arguments[count++] = ARRAY(type, it->bias, rows, 6);
    arguments[count++] = ARRAY(type, it->residual, rows * batch, 10);
    arguments[count++] = ARRAY(type, it->y, rows * batch, 2);
#undef ARRAY
    arguments[count++] = (shelf_argument){.type = "u32", .scalar = (double)rows};
    arguments[count++] = (shelf_argument){.type = "u32", .scalar = (double)columns};
    if (it->form->batched)
        arguments[count++] = (shelf_argument){.type = "u32", .scalar = (double)batch};
    if (it->form->scale_rows)
        arguments[count++] = (shelf_argument){.type = "u32", .scalar = it->form->scale_rows};
    arguments[count++] = (shelf_argument){.type = "f32", .scalar = it->epsilon};
    running_layer = it;
    return shelf_run(kernel, arguments, count, shelf_fit_shared(kernel, it->size.shape),
                     layer_element);
}

static void check_layer(const shelf_kernel *kernel, layer_size size)
{
    layer it = layer_create(kernel, size);
    free(run_layer(kernel, &it));
    layer_destroy(&it);
}

/* The tensor-core kernels have one block size. */
static uint32_t block_of(const shelf_kernel *kernel, uint32_t block)
{
    const layer_form *form = form_of(kernel);
    return form->scaled || form->batched ? 384 : block;
}

/* The smallest ring that linear_bf16 and linear_f16 take. */
static uint32_t least_shared(uint32_t columns, uint32_t block)
{
    return 2 * columns + 38 * block + 512;
}

/* The smallest ring of their blocks of 288 threads. */
static uint32_t least_split(uint32_t columns)
{
    return 2 * columns + 38 * 288 + 32 * 1783 + 512;
}

static void linear_random(const shelf_kernel *kernel)
{
    const layer_size sizes[] = {
        {1, 8, 1, 0, {1, 128, least_shared(8, 128)}},
        {1, 8, 1, EVERYTHING, {1, 128, least_shared(8, 128)}},
        {37, 16, 1, NORM | BIAS, {5, 256, 50000}},
        {300, 8, 1, EVERYTHING, {132, 512, UINT32_MAX}},
        {33, 248, 1, RESIDUAL, {5, 128, 30000}},
        {65, 512, 1, NORM, {7, 256, 60000}},
        {70, 1032, 1, UP, {3, 384, least_shared(1032, 384)}},
        {131, 2056, 1, EVERYTHING, {132, 512, UINT32_MAX}},
        {260, 2048, 1, NORM | UP, {33, 256, 114688}},
        {129, 4104, 1, BIAS | RESIDUAL, {44, 1024, UINT32_MAX}},
        {40, 6152, 1, EVERYTHING, {3, 128, least_shared(6152, 128)}},
        {33, 28672, 1, EVERYTHING, {16, 512, UINT32_MAX}},
        {5, 28672, 1, NORM, {8, 128, least_shared(28672, 128)}},
        {700,
         8,
         1,
         EVERYTHING,
         {2, 128, least_shared(8, 128)}}, /* more than 32 rows for each warp */
        {259,
         64,
         1,
         BIAS | RESIDUAL,
         {2, 128, 40000}}, /* the last rows are not a full round, and each warp's 33rd */
        {773, 16, 1, EVERYTHING, {3, 256, 20000}},
        {1, 8, 1, NORM | BIAS | RESIDUAL, {1, 288, least_split(8)}},
        {300, 248, 1, NORM | BIAS | RESIDUAL, {3, 544, 114688}},
        {263, 2048, 1, NORM | BIAS, {4, 288, 114688}},
        {131, 2056, 1, NORM | RESIDUAL, {132, 544, 114688}},
        {75, 6152, 1, NORM | BIAS | RESIDUAL, {2, 288, least_split(6152)}},
        {33, 14336, 1, BIAS | RESIDUAL, {3, 544, UINT32_MAX}},
    };
    static const layer_size large[] = {
        {768, 2048, 1, NORM, {132, 512, 114688}},
        {1024, 2048, 1, RESIDUAL, {132, 512, 114688}},
        {2048, 2048, 1, NORM | UP, {264, 256, 114688}},
        {512, 8192, 1, RESIDUAL, {132, 512, UINT32_MAX}},
        {1056, 4096, 1, EVERYTHING, {264, 256, 114688}},
        {528, 14336, 1, RESIDUAL, {132, 512, UINT32_MAX}},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_layer(kernel, sizes[i]);
    for (size_t i = 0; shelf_on_gpu && i < sizeof large / sizeof large[0]; i++)
        check_layer(kernel, large[i]);
}

/* The smallest ring that the tensor-core kernels take. */
static uint32_t least_skinny(const shelf_kernel *kernel, uint32_t columns, uint32_t batch)
{
    const layer_form *form = form_of(kernel);
    return !form->batched ? (65 * columns + 2400031) / 32
           : form->scaled ? 39456 + 6432 * batch
                          : 37504 + 4480 * batch;
}

/* Some of the warps that fetch have nothing to bring to most slots, and the others go on without
 * them. */
static void skinny_idle_fetchers(const shelf_kernel *kernel)
{
    uint32_t chunk = form_of(kernel)->scaled ? 1024 : 512;
    check_layer(kernel, (layer_size){40,
                                     chunk + chunk / 4,
                                     1,
                                     NORM | UP,
                                     {4, 384, least_skinny(kernel, chunk + chunk / 4, 1)}});
    check_layer(kernel, (layer_size){70, 10 * chunk - 112, 1, NORM, {5, 384, 114688}});
}

static void skinny_random(const shelf_kernel *kernel)
{
    uint32_t most = form_of(kernel)->batched ? 8 : 1;
    const layer_size sizes[] = {
        {1, 16, 1, 0, {1, 384, least_skinny(kernel, 16, 1)}},
        {1, 16, most, EVERYTHING, {1, 384, least_skinny(kernel, 16, most)}},
        {37, 32, 3, NORM | BIAS, {5, 384, 100000}},
        {300, 16, 2, EVERYTHING, {132, 384, UINT32_MAX}},
        {33, 240, 8, RESIDUAL, {5, 384, 100000}},
        {65, 512, 5, NORM, {7, 384, 114688}},
        {70, 1040, most, UP, {3, 384, least_skinny(kernel, 1040, most)}},
        {131, 2064, 8, EVERYTHING, {2, 384, UINT32_MAX}},
        {260, 2048, 7, NORM | UP, {33, 384, 114688}},
        {129, 4112, 6, BIAS | RESIDUAL, {2, 384, 114688}},
        {33, 28672, 1, EVERYTHING, {1, 384, UINT32_MAX}},
        {1100,
         64,
         1,
         NORM | UP,
         {2, 384, 100000}}, /* more rows of a CTA than a ring of scales has */
        {40, 14336, most, NORM, {8, 384, least_skinny(kernel, 14336, most)}},
    };
    static const layer_size large[] = {
        {768, 2048, 1, NORM, {132, 384, 114688}},
        {1024, 2048, 8, RESIDUAL, {132, 384, 114688}},
        {2048, 2048, 4, NORM | UP, {264, 384, 114688}},
        {512, 8192, 2, RESIDUAL, {132, 384, UINT32_MAX}},
        {1056, 4096, 8, EVERYTHING, {264, 384, 114688}},
        {528, 14336, 3, RESIDUAL, {132, 384, UINT32_MAX}},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_layer(kernel, sizes[i]);
    for (size_t i = 0; shelf_on_gpu && i < sizeof large / sizeof large[0]; i++)
        check_layer(kernel, large[i]);
    skinny_idle_fetchers(kernel);
}

/* Runs a layer in each of the shapes, which must give the same bits, and returns these. */
static void *run_shapes(const shelf_kernel *kernel, layer *it, const shelf_shape *shapes,
                        size_t count)
{
    it->size.shape = shapes[0];
    void *first = run_layer(kernel, it);
    for (size_t i = 1; i < count; i++) {
        it->size.shape = shapes[i];
        void *other = run_layer(kernel, it);
        ck_assert_msg(memcmp(first, other, it->size.rows * layer_batch(it) * 2) == 0,
                      "grid %u, block %u, shared %u: other bits", shapes[i].grid, shapes[i].block,
                      shapes[i].shared);
        free(other);
    }
    return first;
}

/* The least shared memory of kernels that take tiles. */
static uint32_t least_tiles(const shelf_kernel *kernel, uint32_t columns, uint32_t batch)
{
    return 304 + 32 * GD_INT4_RECORD +
           (form_of(kernel)->batched ? 2560 * batch + columns / 4 + 2 * columns * batch
                                     : 2560 + (columns + 2047) / 2048 * 4608);
}

/* In the shape, with the least shared memory where it has less. */
static void check_tiles(const shelf_kernel *kernel, layer_size size)
{
    const uint32_t least = least_tiles(kernel, size.columns, size.batch);
    if (size.shape.shared < least)
        size.shape.shared = least;
    check_layer(kernel, size);
}

static void tiles_random(const shelf_kernel *kernel)
{
    static const layer_size sizes[] = {
        {16, 128, 1, 0, {1, 384, 0}},
        {16, 128, 8, EVERYTHING, {1, 384, 0}},
        {48, 896, 3, NORM | BIAS, {2, 384, 100000}},
        {304, 128, 2, EVERYTHING, {132, 384, UINT32_MAX}},
        {32, 2048, 8, RESIDUAL, {2, 384, 114688}},
        {80, 2176, 5, NORM, {3, 384, 114688}},
        {64, 1152, 6, UP, {3, 384, 0}},
        {128, 2048, 1, EVERYTHING, {3, 384, 114688}},
        {96, 2048, 7, NORM | UP, {2, 384, 114688}},
        {48, 4864, 4, BIAS | RESIDUAL, {2, 384, 114688}},
        {32, 14336, 1, EVERYTHING, {1, 384, UINT32_MAX}},
        {400, 256, 1, NORM | UP, {2, 384, 0}},
        {32, 8192, 8, NORM, {2, 384, 0}},
    };
    static const layer_size large[] = {
        {3072, 2048, 1, NORM, {132, 384, 114688}},
        {2048, 2048, 8, RESIDUAL, {132, 384, 114688}},
        {8192, 2048, 4, NORM | UP, {132, 384, 114688}},
        {2048, 8192, 8, RESIDUAL, {132, 384, UINT32_MAX}},
        {1056, 4096, 8, EVERYTHING, {264, 384, UINT32_MAX}},
        {528, 14336, 3, RESIDUAL, {132, 384, UINT32_MAX}},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        check_tiles(kernel, sizes[i]);
    for (size_t i = 0; shelf_on_gpu && i < sizeof large / sizeof large[0]; i++)
        check_tiles(kernel, large[i]);
}

static void tiles_operands(const shelf_kernel *kernel)
{
    for (int operands = 0; operands <= EVERYTHING; operands++)
        check_tiles(kernel, (layer_size){32, 1152, 3, operands, {2, 384, 100000}});
}

/* One result for every grid and amount of shared memory, and a row of x gives alone what it gives
 * beside others. */
static void tiles_shapes(const shelf_kernel *kernel)
{
    const uint32_t least = least_tiles(kernel, 4224, 5);
    const shelf_shape shapes[] = {
        {132, 384, UINT32_MAX}, {1, 384, least}, {3, 384, least + 24000}, {600, 384, least + 5000}};
    layer it = layer_create(kernel, (layer_size){112, 4224, 5, EVERYTHING, shapes[0]});
    void *first = run_shapes(kernel, &it, shapes, sizeof shapes / sizeof shapes[0]);
    it.size.batch = 1;
    void *alone = run_layer(kernel, &it);
    ck_assert_mem_eq(first, alone, it.size.rows * 2);
    free(alone);
    free(first);
    layer_destroy(&it);
}

/* A special element in x, in the norm's weights, in what is added. */
static void tiles_extreme(const shelf_kernel *kernel)
{
    static const double specials[] = {-0.0, 0x1p-130, 0x1p109, INFINITY, -INFINITY, NAN};
    const layer_size size = {16, 1152, 3, EVERYTHING & ~UP, {1, 384, 100000}};
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        for (int place = 0; place < 4; place++) {
            layer it = layer_create(kernel, size);
            void *arrays[] = {it.x, it.bias, it.residual, it.norm};
            bool multiplied = place == 0 || place == 3;
            /* An infinity gives an infinity or NaN; in pieces of 8 bits, the largest element takes
             * the bits of those far below it. */
            if (multiplied &&
                (isinf(specials[i]) || (specials[i] > 60000 && !form_of(kernel)->batched))) {
                layer_destroy(&it);
                continue;
            }
            gd_element_store("bf16", arrays[place], place == 3 ? 1030 : 7, specials[i]);
            free(run_layer(kernel, &it));
            layer_destroy(&it);
        }
    }
}

/* Each combination of the operands. */
static void layer_operands(const shelf_kernel *kernel)
{
    for (int operands = 0; operands <= EVERYTHING; operands++)
        check_layer(kernel,
                    (layer_size){29, 1040, 3, operands, {4, block_of(kernel, 256), 100000}});
}

/* The head comment promises the same bits for every grid and amount of shared memory. */
static void layer_shapes(const shelf_kernel *kernel)
{
    const uint32_t block = block_of(kernel, 512);
    const shelf_shape shapes[] = {{132, block, UINT32_MAX},
                                  {1, block, 84000},
                                  {7, block, 114688},
                                  {600, block, 95000},
                                  {64, block, 180000}};
    layer it = layer_create(kernel, (layer_size){100, 4112, 5, EVERYTHING, shapes[0]});
    free(run_shapes(kernel, &it, shapes, sizeof shapes / sizeof shapes[0]));
    layer_destroy(&it);
}

/* Blocks that split the columns over the warps: each combination of the operands that they take;
 * without a norm the same bits for both and for every grid and amount of shared memory. */
static void linear_split(const shelf_kernel *kernel)
{
    static const shelf_shape shapes[] = {
        {132, 544, UINT32_MAX}, {1, 288, 80000}, {7, 544, 114688}, {13, 288, 180000}};
    for (int operands = 0; operands <= EVERYTHING; operands++) {
        if ((operands & UP) == 0)
            check_layer(
                kernel,
                (layer_size){77, 1048, 1, operands, {4, operands % 4 < 2 ? 288 : 544, 100000}});
    }
    layer it = layer_create(kernel, (layer_size){100, 4112, 1, BIAS | RESIDUAL, shapes[0]});
    free(run_shapes(kernel, &it, shapes, sizeof shapes / sizeof shapes[0]));
    layer_destroy(&it);
}

static void put(const layer *it, void *array, uint64_t index, double value)
{
    gd_element_store(array == it->weight ? it->form->weight : it->form->type, array, index, value);
}

/* A special element in x, in the norm's weights, in a row of W, in what is added: NaN and
 * infinities go where IEEE arithmetic takes them, and nowhere else; linear_fp8* may make NaN of
 * an infinite x. */
static void layer_extreme(const shelf_kernel *kernel)
{
    static const double specials[] = {0, -0.0, 0x1p-24, 60000, -60000, INFINITY, -INFINITY, NAN};
    const layer_size size = {19, 1040, 3, EVERYTHING & ~UP, {4, block_of(kernel, 512), 100000}};
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        for (int place = 0; place < 6; place++) {
            layer it = layer_create(kernel, size);
            if (!it.form->scaled && !it.form->batched && i % 2 == 1)
                it.size.shape.block = 288;
            void *arrays[] = {it.x, it.weight, it.bias, it.residual, it.norm, it.x};
            uint64_t index[] = {100, 5 * size.columns + 1039, 7, 9, 1030, 0};
            if (it.form->scaled && place == 1 &&
                !isfinite(specials[i])) { /* e4m3 has no infinity; NaN is excluded */
                layer_destroy(&it);
                continue;
            }
            it.infinite = it.form->scaled && !it.form->batched && isinf(specials[i]) &&
                          (arrays[place] == it.x || arrays[place] == it.norm);
            put(&it, arrays[place], index[place], specials[i]);
            free(run_layer(kernel, &it));
            layer_destroy(&it);
        }
    }
}

const shelf_case linear_cases[] = {
    {"linear_bf16", 0, linear_random},
    {"linear_bf16", 0, layer_operands},
    {"linear_bf16", 0, layer_shapes},
    {"linear_bf16", 0, layer_extreme},
    {"linear_bf16", 0, linear_split},
    {"linear_f16", 0, linear_split},
    {"linear_f16", 0, linear_random},
    {"linear_f16", 0, layer_operands},
    {"linear_f16", 0, layer_shapes},
    {"linear_f16", 0, layer_extreme},
    {"linear_fp8", 0, skinny_random},
    {"linear_fp8", 0, layer_operands},
    {"linear_fp8", 0, layer_shapes},
    {"linear_fp8", 0, layer_extreme},
    {"linear_fp8_block", 0, skinny_random},
    {"linear_fp8_block", 0, layer_operands},
    {"linear_fp8_block", 0, layer_shapes},
    {"linear_fp8_block", 0, layer_extreme},
    {"skinny_bf16", 0, skinny_random},
    {"skinny_bf16", 0, layer_operands},
    {"skinny_bf16", 0, layer_shapes},
    {"skinny_bf16", 0, layer_extreme},
    {"skinny_f16", 0, skinny_random},
    {"skinny_f16", 0, layer_operands},
    {"skinny_f16", 0, layer_shapes},
    {"skinny_f16", 0, layer_extreme},
    {"skinny_fp8", 0, skinny_random},
    {"skinny_fp8", 0, layer_operands},
    {"skinny_fp8", 0, layer_shapes},
    {"skinny_fp8", 0, layer_extreme},
    {"skinny_fp8_block", 0, skinny_random},
    {"skinny_fp8_block", 0, layer_operands},
    {"skinny_fp8_block", 0, layer_shapes},
    {"skinny_fp8_block", 0, layer_extreme},
    {"linear_int4", 0, tiles_random},
    {"linear_int4", 0, tiles_operands},
    {"linear_int4", 0, tiles_shapes},
    {"linear_int4", 0, tiles_extreme},
    {"skinny_int4", 0, tiles_random},
    {"skinny_int4", 0, tiles_operands},
    {"skinny_int4", 0, tiles_shapes},
    {"skinny_int4", 0, tiles_extreme},
    {"matvec_bf16", 0, matvec_random},
    {"matvec_bf16", 0, matvec_shapes},
    {"matvec_bf16", 0, matvec_extreme},
    {"matvec_bf16", 0, matvec_split_shapes},
    {NULL, 0, NULL},
};

/* Of kernels that take W, U, x, norm, bias, residual, y, rows, columns, a batch and epsilon. */
#define TWO_ROWS_ARGUMENTS                                                                         \
    {                                                                                              \
        SHELF_PLACE(SHELF_CONSTANT), SHELF_PLACE(SHELF_CONSTANT), SHELF_PLACE(SHELF_INPUT),        \
            SHELF_PLACE(SHELF_CONSTANT), SHELF_PLACE(0), SHELF_PLACE(SHELF_INPUT),                 \
            SHELF_PLACE(SHELF_OUTPUT), {.bytes = 4, .value = 1024}, {.bytes = 4, .value = 1024},   \
            {.bytes = 4, .value = 2},                                                              \
        {                                                                                          \
            .bytes = 4, .value = 0x3727c5ac                                                        \
        }                                                                                          \
    }

const shelf_link linear_links[] = {
    {.kernel = "skinny_bf16",
     .bytes = 4096,
     .config = {.grid = {132}, .block = {384}, .shared_bytes = 114688},
     .count = 11,
     .arguments = TWO_ROWS_ARGUMENTS,
     .type = "bf16",
     .constant_count = 1024 * 1024,
     .constant_scale = 0.04},
    {.kernel = "skinny_int4",
     .bytes = 4096,
     .config = {.grid = {132}, .block = {384}, .shared_bytes = 114688},
     .count = 11,
     .arguments = TWO_ROWS_ARGUMENTS,
     .type = "bf16",
     .constant_count = 1024 * 1024 / 2,
     .constant_scale = 0.04},
    {.kernel = "linear_bf16",
     .bytes = 4096,
     .config = {.grid = {132}, .block = {512}, .shared_bytes = 114688},
     .count = 10,
     .arguments = {SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(0),
                   SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(0),
                   SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 2048},
                   {.bytes = 4, .value = 2048},
                   {.bytes = 4, .value = 0x3727c5ac}},
     .type = "bf16",
     .constant_count = 2048 * 2048,
     .constant_scale = 0.04},
    {.kernel = "linear_f16",
     .bytes = 4096,
     .config = {.grid = {264}, .block = {256}, .shared_bytes = 114688},
     .count = 10,
     .arguments = {SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(0),
                   SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 2048},
                   {.bytes = 4, .value = 2048},
                   {.bytes = 4, .value = 0x3727c5ac}},
     .type = "f16",
     .constant_count = 2048 * 2048,
     .constant_scale = 0.04},
    {.kernel = "matvec_bf16",
     .bytes = 4096,
     .config = {.grid = {132}, .block = {512}, .shared_bytes = UINT32_MAX},
     .count = 5,
     .arguments = {SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 2048},
                   {.bytes = 4, .value = 2048}},
     .type = "bf16",
     .constant_count = 2048 * 2048,
     .constant_scale = 0.04},
    {.kernel = "matvec_bf16",
     .bytes = 4096,
     .config = {.grid = {33}, .block = {128}},
     .count = 5,
     .arguments = {SHELF_PLACE(SHELF_CONSTANT),
                   SHELF_PLACE(SHELF_INPUT),
                   SHELF_PLACE(SHELF_OUTPUT),
                   {.bytes = 4, .value = 2048},
                   {.bytes = 4, .value = 2048}},
     .type = "bf16",
     .constant_count = 2048 * 2048,
     .constant_scale = 0.04},
    {.kernel = NULL},
};

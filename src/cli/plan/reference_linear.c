/* References of linear layers. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/number.h"
#include "cli/plan/reference_family.h"

/* What a launch computes: y = silu(W x) * (U x) or W x, each with scales of the rows and of the
 * norm, plus what is added. Elements that a kernel does not have, or a launch leaves out, are
 * NULL. */
typedef struct layer {
    const char *weight_type; /* bf16, f16, e4m3, u8: tiles of 4 bits */
    const char *type;        /* of every other array but the scales, which are f32 */
    const unsigned char *weight, *up;
    const void *scale, *up_scale, *x, *norm, *bias, *residual;
    void *y;
    uint64_t rows, columns, batch;
    uint64_t scale_rows; /* 0: a scale serves a row, else these rows of 128 columns */
    double epsilon;
    double *products; /* x times the norm's weights, of one row of the batch */
    double norm_scale;
    double bytes[256]; /* the values of e4m3 */
} layer;

static double round_to_f32_range(double value)
{
    return fabs(value) > FLT_MAX ? copysign((double)INFINITY, value) : value;
}

static double element_value(const char *type, const unsigned char *array, uint64_t index)
{
    uint16_t bits = (uint16_t)(array[2 * index] | array[2 * index + 1] << 8);
    return type[0] == 'b' ? gd_bf16_to_double(bits) : gd_f16_to_double(bits);
}

double gd_int4_value(const unsigned char *tiles, uint64_t columns, uint64_t row, uint64_t column)
{
    const unsigned char *record =
        tiles + (row / 16 * (columns / 128) + column / 128) * GD_INT4_RECORD;
    const uint64_t r = row % 8, high = row % 16 / 8, pair = 2 * r + high, c = column % 128;
    const uint64_t place = c % 8 / 2 + c % 2 * 4;
    const unsigned char byte =
        record[512 * high + 64 * r + c % 32 / 8 * 16 + c / 32 * 4 + place / 2];
    double scale = gd_element_load("f16", record + 1024, pair);
    return scale * ((place % 2 ? byte >> 4 : byte & 15) - (double)record[1056 + pair]);
}

/* One row of W times x, in the range of f32. A scale serves the row, or scale_rows rows of 128
 * columns. */
static double dot(const layer *it, const unsigned char *weight, const void *scale, uint64_t row)
{
    double sum = 0;
    if (it->scale_rows != 0) {
        const uint64_t blocks = row / it->scale_rows * ((it->columns + 127) / 128);
        for (uint64_t i = 0; i < it->columns; i++)
            sum += gd_element_load("f32", scale, blocks + i / 128) *
                   it->bytes[weight[row * it->columns + i]] * it->products[i];
    } else if (strcmp(it->weight_type, "e4m3") == 0) {
        for (uint64_t i = 0; i < it->columns; i++)
            sum += it->bytes[weight[row * it->columns + i]] * it->products[i];
    } else if (strcmp(it->weight_type, "u8") == 0) {
        for (uint64_t i = 0; i < it->columns; i++)
            sum += gd_int4_value(weight, it->columns, row, i) * it->products[i];
    } else {
        for (uint64_t i = 0; i < it->columns; i++)
            sum += element_value(it->weight_type, weight, row * it->columns + i) * it->products[i];
    }
    return round_to_f32_range(sum);
}

static double scaled_dot(const layer *it, const unsigned char *weight, const void *scale,
                         uint64_t row)
{
    double sum = dot(it, weight, scale, row) * it->norm_scale;
    return round_to_f32_range(
        scale != NULL && it->scale_rows == 0 ? sum * gd_element_load("f32", scale, row) : sum);
}

/* The kernels keep x times the norm's weights in x's type, whose range is f16's or about f32's. */
static void prepare_products(layer *it, uint64_t batch)
{
    double limit = it->type[0] == 'b' ? 0x1.ffp127 : 65520;
    double squares = 0;
    for (uint64_t i = 0; i < it->columns; i++) {
        double x = gd_element_load(it->type, it->x, batch * it->columns + i);
        double product = it->norm != NULL ? x * gd_element_load(it->type, it->norm, i) : x;
        it->products[i] = fabs(product) >= limit ? copysign((double)INFINITY, product) : product;
        squares += (double)(float)(x * x);
    }
    it->norm_scale =
        it->norm != NULL ? 1 / sqrt((double)(float)squares / (double)it->columns + it->epsilon) : 1;
}

static double layer_element(const layer *it, uint64_t batch, uint64_t row)
{
    double value = scaled_dot(it, it->weight, it->scale, row);
    if (it->bias != NULL)
        value += gd_element_load(it->type, it->bias, row);
    if (it->up != NULL)
        value = round_to_f32_range(value / (1 + exp(-value)) *
                                   scaled_dot(it, it->up, it->up_scale, row));
    if (it->residual != NULL)
        value += gd_element_load(it->type, it->residual, batch * it->rows + row);
    return value;
}

static int run_layer(layer *it)
{
    it->products = malloc(it->columns * sizeof *it->products);
    if (it->products == NULL)
        return -1;
    for (uint32_t i = 0; i < 256; i++)
        it->bytes[i] = gd_element_load("e4m3", &(const unsigned char){(unsigned char)i}, 0);
    for (uint64_t batch = 0; batch < it->batch; batch++) {
        prepare_products(it, batch);
        for (uint64_t row = 0; row < it->rows; row++)
            gd_element_store(it->type, it->y, batch * it->rows + row,
                             layer_element(it, batch, row));
    }
    free(it->products);
    return 0;
}

static int matvec(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                  const uint32_t grid[3])
{
    (void)grid;
    if (count != 5 || !gd_reference_is_u32(&arguments[3]) || !gd_reference_is_u32(&arguments[4]))
        return -1;
    layer it = {.weight_type = self->input_type,
                .type = self->type,
                .rows = (uint64_t)arguments[3].scalar,
                .columns = (uint64_t)arguments[4].scalar,
                .batch = 1};
    if (it.rows < 1 || it.columns < 8 || it.columns % 8 != 0 ||
        !gd_reference_is_array(&arguments[0], it.weight_type, it.rows * it.columns) ||
        !gd_reference_is_array(&arguments[1], it.type, it.columns) ||
        !gd_reference_is_array(&arguments[2], it.type, it.rows))
        return -1;
    it.weight = arguments[0].data;
    it.x = arguments[1].data;
    it.y = arguments[2].data;
    return run_layer(&it);
}

/* Takes an optional array: false where the argument is neither a fitting array nor an address that
 * is 0. */
static bool take_optional(const gd_reference_argument *argument, const char *type, uint64_t count,
                          const void **array)
{
    *array = NULL;
    if (gd_reference_is_none(argument))
        return true;
    *array = argument->data;
    return gd_reference_is_array(argument, type, count);
}

/* The parameters of linear_* and skinny_* in their order; `batched` kernels have a batch,
 * `blocked` ones the rows that a scale serves. */
static int take_layer(layer *it, const gd_reference_argument *arguments, uint32_t count,
                      bool batched, bool blocked)
{
    bool scaled = strcmp(it->weight_type, "e4m3") == 0;
    const gd_reference_argument *scales = arguments + 2;
    const gd_reference_argument *rest = arguments + (scaled ? 4 : 2);
    const gd_reference_argument *sizes = rest + 5;
    const gd_reference_argument *block = sizes + (batched ? 3 : 2), *last = block + blocked;
    const void *up = NULL;
    if (count != last + 1 - arguments || !gd_reference_is_u32(&sizes[0]) ||
        !gd_reference_is_u32(&sizes[1]) || (batched && !gd_reference_is_u32(&sizes[2])) ||
        (blocked && !gd_reference_is_u32(block)) || !gd_reference_is_f32(last))
        return -1;
    it->rows = (uint64_t)sizes[0].scalar;
    it->columns = (uint64_t)sizes[1].scalar;
    it->batch = batched ? (uint64_t)sizes[2].scalar : 1;
    it->scale_rows = blocked ? (uint64_t)block->scalar : 0;
    it->epsilon = (double)(float)last->scalar;
    uint64_t elements = it->rows * it->columns, outputs = it->rows * it->batch;
    uint64_t scale_count = it->rows;
    if (strcmp(it->weight_type, "u8") == 0)
        elements = it->rows % 16 || it->columns % 128 ? 0 : elements / 2048 * GD_INT4_RECORD;
    if (blocked && it->scale_rows < 8)
        return -1;
    if (blocked)
        scale_count =
            (it->rows + it->scale_rows - 1) / it->scale_rows * ((it->columns + 127) / 128);
    if (elements == 0 || it->batch < 1 || it->batch > 8 ||
        !gd_reference_is_array(&arguments[0], it->weight_type, elements) ||
        !take_optional(&arguments[1], it->weight_type, elements, &up) ||
        !gd_reference_is_array(&rest[0], it->type, it->columns * it->batch) ||
        !take_optional(&rest[1], it->type, it->columns, &it->norm) ||
        !take_optional(&rest[2], it->type, it->rows, &it->bias) ||
        !take_optional(&rest[3], it->type, outputs, &it->residual) ||
        !gd_reference_is_array(&rest[4], it->type, outputs))
        return -1;
    if (scaled && (!gd_reference_is_array(&scales[0], "f32", scale_count) ||
                   !take_optional(&scales[1], "f32", scale_count, &it->up_scale) ||
                   (up != NULL && it->up_scale == NULL)))
        return -1;
    it->weight = arguments[0].data;
    it->up = up;
    it->scale = scaled ? scales[0].data : NULL;
    it->x = rest[0].data;
    it->y = rest[4].data;
    return 0;
}

static int run_form(const gd_reference *self, const gd_reference_argument *arguments,
                    uint32_t count, bool batched)
{
    layer it = {.weight_type = self->input_type, .type = self->type};
    if (take_layer(&it, arguments, count, batched, strstr(self->kernel, "_block") != NULL) != 0)
        return -1;
    return run_layer(&it);
}

static int linear(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                  const uint32_t grid[3])
{
    (void)grid;
    return run_form(self, arguments, count, false);
}

static int skinny(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                  const uint32_t grid[3])
{
    (void)grid;
    return run_form(self, arguments, count, true);
}

const gd_reference gd_reference_linear[] = {
    {"linear_bf16", linear, 1U << 6, "bf16", "bf16"},
    {"linear_f16", linear, 1U << 6, "f16", "f16"},
    {"linear_fp8", linear, 1U << 8, "bf16", "e4m3"},
    {"linear_fp8_block", linear, 1U << 8, "bf16", "e4m3"},
    {"linear_int4", linear, 1U << 6, "bf16", "u8"},
    {"matvec_bf16", matvec, 1U << 2, "bf16", "bf16"},
    {"skinny_bf16", skinny, 1U << 6, "bf16", "bf16"},
    {"skinny_f16", skinny, 1U << 6, "f16", "f16"},
    {"skinny_fp8", skinny, 1U << 8, "bf16", "e4m3"},
    {"skinny_fp8_block", skinny, 1U << 8, "bf16", "e4m3"},
    {"skinny_int4", skinny, 1U << 6, "bf16", "u8"},
    {.kernel = NULL},
};

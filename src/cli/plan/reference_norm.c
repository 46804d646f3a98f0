/* References of normalizations. The kernels sum in f32, so the range of the sums is f32's; their
 * precision alone is better here. */
#include <math.h>
#include <stddef.h>

#include "cli/io/number.h"
#include "cli/plan/reference_family.h"

/* The arguments of a launch by their names; those that a kernel has not are NULL. */
typedef struct norm_launch {
    const char *type;
    const gd_reference_argument *x, *residual, *weight, *bias, *sum, *out;
    uint64_t rows;
    uint64_t columns;
    double epsilon;
} norm_launch;

/* Sum of (x - middle) to the power, over a row. */
static double row_sum(const norm_launch *it, uint64_t start, double middle, int power)
{
    const gd_reference_argument *x = it->sum != NULL ? it->sum : it->x;
    double sum = 0;
    for (uint64_t i = 0; i < it->columns; i++) {
        double value = gd_element_load(it->type, x->data, start + i) - middle;
        sum += power == 1 ? value : (double)(float)(value * value);
    }
    return (double)(float)sum;
}

static void add_row(const norm_launch *it, uint64_t start)
{
    for (uint64_t i = start; i < start + it->columns; i++) {
        double sum = gd_element_load(it->type, it->x->data, i) +
                     gd_element_load(it->type, it->residual->data, i);
        gd_element_store(it->type, it->sum->data, i, sum);
    }
}

static void normalize_row(const norm_launch *it, uint64_t start)
{
    const gd_reference_argument *x = it->sum != NULL ? it->sum : it->x;
    double count = (double)it->columns;
    double mean = it->bias != NULL ? row_sum(it, start, 0, 1) / count : 0;
    double scale = 1 / sqrt(row_sum(it, start, mean, 2) / count + it->epsilon);
    for (uint64_t i = 0; i < it->columns; i++) {
        double value = (gd_element_load(it->type, x->data, start + i) - mean) * scale;
        value *= gd_element_load(it->type, it->weight->data, i);
        if (it->bias != NULL && it->bias->data != NULL)
            value += gd_element_load(it->type, it->bias->data, i);
        gd_element_store(it->type, it->out->data, start + i, value);
    }
}

static bool is_matrix(const norm_launch *it, const gd_reference_argument *argument)
{
    return argument == NULL || gd_reference_is_array(argument, it->type, it->rows * it->columns);
}

static int normalize(const norm_launch *it)
{
    if (it->columns < 1 || !is_matrix(it, it->x) || !is_matrix(it, it->residual) ||
        !is_matrix(it, it->sum) || !is_matrix(it, it->out) ||
        !gd_reference_is_array(it->weight, it->type, it->columns))
        return -1;
    if (it->bias != NULL && !gd_reference_is_none(it->bias) &&
        !gd_reference_is_array(it->bias, it->type, it->columns))
        return -1;
    for (uint64_t start = 0; start < it->rows * it->columns; start += it->columns) {
        if (it->residual != NULL)
            add_row(it, start);
        normalize_row(it, start);
    }
    return 0;
}

/* The last two arguments of every kernel. */
static bool take_shape(norm_launch *it, const gd_reference_argument *last, const uint32_t grid[3])
{
    if (!gd_reference_is_u32(&last[0]) || !gd_reference_is_f32(&last[1]))
        return false;
    it->rows = grid[0];
    it->columns = (uint64_t)last[0].scalar;
    it->epsilon = (double)(float)last[1].scalar;
    return true;
}

/* x, residual, weight, bias, sum, out, columns, epsilon. A kernel that adds a residual stores the
 * sum too, and has two outputs; RMS norms have no bias. */
static int norm(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                const uint32_t grid[3])
{
    const bool adds = self->outputs & (self->outputs - 1);
    const bool has_bias = self->outputs == (adds ? 1U << 4 | 1U << 5 : 1U << 3);
    const gd_reference_argument *next = arguments;
    norm_launch it = {.type = self->type};
    if (count != 5U + 2U * adds + has_bias)
        return -1;
    it.x = next++;
    it.residual = adds ? next++ : NULL;
    it.weight = next++;
    it.bias = has_bias ? next++ : NULL;
    it.sum = adds ? next++ : NULL;
    it.out = next++;
    return take_shape(&it, next, grid) ? normalize(&it) : -1;
}

const gd_reference gd_reference_norm[] = {
    {"layer_norm_bf16", norm, 1U << 3, "bf16", NULL},
    {"layer_norm_f16", norm, 1U << 3, "f16", NULL},
    {"layer_norm_residual_bf16", norm, 1U << 4 | 1U << 5, "bf16", NULL},
    {"layer_norm_residual_f16", norm, 1U << 4 | 1U << 5, "f16", NULL},
    {"rms_norm", norm, 1U << 2, "bf16", NULL},
    {"rms_norm_f16", norm, 1U << 2, "f16", NULL},
    {"rms_norm_residual_bf16", norm, 1U << 3 | 1U << 4, "bf16", NULL},
    {"rms_norm_residual_f16", norm, 1U << 3 | 1U << 4, "f16", NULL},
    {.kernel = NULL},
};

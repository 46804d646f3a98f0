/* References of kernels that choose an element of each row. A launch has a cluster for each row:
 * the rows are the grid's y. */
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "cli/io/number.h"
#include "cli/plan/reference_family.h"

/* The first of the largest; NaN is above everything. */
static uint64_t find_largest(const char *type, const void *x, uint64_t start, uint64_t columns)
{
    uint64_t best = 0;
    double largest = gd_element_load(type, x, start);
    for (uint64_t i = 1; i < columns && !isnan(largest); i++) {
        double value = gd_element_load(type, x, start + i);
        if (value > largest || isnan(value)) {
            largest = value;
            best = i;
        }
    }
    return best;
}

static int argmax(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                  const uint32_t grid[3])
{
    const char *type = self->type;
    if (count != 3 || !gd_reference_is_u32(&arguments[2]) || arguments[2].scalar < 1)
        return -1;
    uint64_t columns = (uint64_t)arguments[2].scalar;
    if (!gd_reference_is_array(&arguments[0], type, columns * grid[1]) ||
        !gd_reference_is_array(&arguments[1], "u32", grid[1]))
        return -1;
    for (uint64_t row = 0; row < grid[1]; row++)
        gd_element_store("u32", arguments[1].data, row,
                         (double)find_largest(type, arguments[0].data, row * columns, columns));
    return 0;
}

typedef struct sample_row {
    double *logits; /* columns of them */
    double *sorted; /* room for as many */
    uint64_t columns;
    double temperature, top_p, uniform;
    uint64_t top_k;
    double largest;
} sample_row;

static double weight_of(const sample_row *it, double logit)
{
    return logit == it->largest ? 1 : exp((logit - it->largest) / it->temperature);
}

static int descending(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? 1 : a > b ? -1 : 0;
}

/* The smallest logit that top_k and top_p keep. */
static double find_threshold(sample_row *it)
{
    double threshold = -(double)INFINITY, kept = 0, sum = 0;
    for (uint64_t i = 0; i < it->columns; i++)
        it->sorted[i] = it->logits[i];
    qsort(it->sorted, it->columns, sizeof *it->sorted, descending);
    if (it->top_k > 0 && it->top_k < it->columns)
        threshold = it->sorted[it->top_k - 1];
    if (it->top_p >= 1)
        return threshold;
    for (uint64_t i = 0; i < it->columns && it->sorted[i] >= threshold; i++)
        kept += weight_of(it, it->sorted[i]);
    for (uint64_t i = 0; i < it->columns && it->sorted[i] >= threshold; i++) {
        sum += weight_of(it, it->sorted[i]);
        if (sum >= it->top_p * kept)
            return it->sorted[i];
    }
    return threshold;
}

static uint64_t draw(sample_row *it)
{
    double threshold = find_threshold(it), kept = 0, sum = 0;
    uint64_t last = 0;
    for (uint64_t i = 0; i < it->columns; i++)
        kept += it->logits[i] >= threshold ? weight_of(it, it->logits[i]) : 0;
    for (uint64_t i = 0; i < it->columns; i++) {
        double weight = it->logits[i] >= threshold ? weight_of(it, it->logits[i]) : 0;
        sum += weight;
        if (weight > 0 && sum > it->uniform * kept)
            return i;
        last = weight > 0 ? i : last;
    }
    return last;
}

static int sample(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                  const uint32_t grid[3])
{
    const char *type = self->type;
    if (count != 7 || !gd_reference_is_u32(&arguments[3]) || arguments[3].scalar < 1 ||
        !gd_reference_is_f32(&arguments[4]) || !gd_reference_is_u32(&arguments[5]) ||
        !gd_reference_is_f32(&arguments[6]))
        return -1;
    sample_row it = {.columns = (uint64_t)arguments[3].scalar,
                     .temperature = (double)(float)arguments[4].scalar,
                     .top_k = (uint64_t)arguments[5].scalar,
                     .top_p = (double)(float)arguments[6].scalar};
    if (!gd_reference_is_array(&arguments[0], type, it.columns * grid[1]) ||
        !gd_reference_is_array(&arguments[1], "f32", grid[1]) ||
        !gd_reference_is_array(&arguments[2], "u32", grid[1]))
        return -1;
    it.logits = malloc(2 * it.columns * sizeof *it.logits);
    if (it.logits == NULL)
        return -1;
    it.sorted = it.logits + it.columns;
    for (uint64_t row = 0; row < grid[1]; row++) {
        uint64_t best = find_largest(type, arguments[0].data, row * it.columns, it.columns);
        for (uint64_t i = 0; i < it.columns; i++)
            it.logits[i] = gd_element_load(type, arguments[0].data, row * it.columns + i);
        it.largest = it.logits[best];
        it.uniform = gd_element_load("f32", arguments[1].data, row);
        if (!(it.temperature > 0) || isnan(it.largest))
            gd_element_store("u32", arguments[2].data, row, (double)best);
        else
            gd_element_store("u32", arguments[2].data, row, (double)draw(&it));
    }
    free(it.logits);
    return 0;
}

const gd_reference gd_reference_sampling[] = {
    {"argmax_bf16", argmax, 1U << 1, "bf16", NULL},
    {"argmax_f32", argmax, 1U << 1, "f32", NULL},
    {"sample_bf16", sample, 1U << 2, "bf16", NULL},
    {"sample_f32", sample, 1U << 2, "f32", NULL},
    {.kernel = NULL},
};

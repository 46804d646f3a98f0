/* The shelf's kernels on the CPU, in double arithmetic. Each function checks its arguments against the kernel's
 * parameters, then works element by element, so that an output may be an input where the kernel allows that. */
#include "cli/reference.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"

static bool is_array(const gd_reference_argument *argument, const char *type, uint64_t count)
{
    return argument->type != NULL && strcmp(argument->type, type) == 0 && argument->count >= count &&
           (argument->data != NULL || count == 0);
}

static bool is_u32(const gd_reference_argument *argument)
{
    return argument->data == NULL && argument->type != NULL && strcmp(argument->type, "u32") == 0 &&
           argument->scalar >= 0 && argument->scalar <= UINT32_MAX && argument->scalar == floor(argument->scalar);
}

static bool is_f32(const gd_reference_argument *argument)
{
    return argument->data == NULL && argument->type != NULL && strcmp(argument->type, "f32") == 0;
}

static int vector_add(const gd_reference_argument *arguments, uint32_t count, const uint32_t grid[3])
{
    (void)grid;
    if (count != 4 || !is_u32(&arguments[3]))
        return -1;
    uint64_t elements = (uint64_t)arguments[3].scalar;
    if (!is_array(&arguments[0], "f32", elements) || !is_array(&arguments[1], "f32", elements) ||
        !is_array(&arguments[2], "f32", elements))
        return -1;
    for (uint64_t i = 0; i < elements; i++) {
        double sum = gd_element_load("f32", arguments[0].data, i) + gd_element_load("f32", arguments[1].data, i);
        gd_element_store("f32", arguments[2].data, i, sum);
    }
    return 0;
}

/* The kernel squares and sums in f32, so the range is f32's, and the precision alone is better here. */
static double root_mean_square(const void *x, uint64_t start, uint64_t columns, double epsilon)
{
    double sum = 0;
    for (uint64_t i = 0; i < columns; i++) {
        double value = gd_element_load("bf16", x, start + i);
        sum += (double)(float)(value * value);
    }
    return sqrt((double)(float)sum / (double)columns + epsilon);
}

static int rms_norm(const gd_reference_argument *arguments, uint32_t count, const uint32_t grid[3])
{
    if (count != 5 || !is_u32(&arguments[3]) || arguments[3].scalar < 1 || !is_f32(&arguments[4]))
        return -1;
    uint64_t columns = (uint64_t)arguments[3].scalar;
    uint64_t elements = columns * grid[0];
    if (!is_array(&arguments[0], "bf16", elements) || !is_array(&arguments[1], "bf16", columns) ||
        !is_array(&arguments[2], "bf16", elements))
        return -1;
    for (uint64_t start = 0; start < elements; start += columns) {
        double scale = 1 / root_mean_square(arguments[0].data, start, columns, (double)(float)arguments[4].scalar);
        for (uint64_t i = 0; i < columns; i++) {
            double x = gd_element_load("bf16", arguments[0].data, start + i);
            double weight = gd_element_load("bf16", arguments[1].data, i);
            gd_element_store("bf16", arguments[2].data, start + i, x * scale * weight);
        }
    }
    return 0;
}

/* Bits of f32 and bf16 elements to doubles once, for the loop that runs rows * columns times. */
static double *bf16_to_doubles(const void *array, uint64_t count)
{
    double *values = malloc((count > 0 ? count : 1) * sizeof *values);
    for (uint64_t i = 0; values != NULL && i < count; i++)
        values[i] = gd_element_load("bf16", array, i);
    return values;
}

static int matvec_bf16(const gd_reference_argument *arguments, uint32_t count, const uint32_t grid[3])
{
    (void)grid;
    if (count != 5 || !is_u32(&arguments[3]) || !is_u32(&arguments[4]))
        return -1;
    uint64_t rows = (uint64_t)arguments[3].scalar;
    uint64_t columns = (uint64_t)arguments[4].scalar;
    if (rows < 1 || columns < 8 || columns % 8 != 0 || !is_array(&arguments[0], "bf16", rows * columns) ||
        !is_array(&arguments[1], "bf16", columns) || !is_array(&arguments[2], "bf16", rows))
        return -1;
    double *x = bf16_to_doubles(arguments[1].data, columns);
    if (x == NULL)
        return -1;
    const unsigned char *weight = arguments[0].data;
    for (uint64_t row = 0; row < rows; row++) {
        double sum = 0;
        for (uint64_t i = 0; i < columns; i++, weight += 2) {
            /* A bf16 is the upper half of an f32. */
            uint32_t bits = (uint32_t)weight[0] << 16 | (uint32_t)weight[1] << 24;
            float value = 0;
            memcpy(&value, &bits, sizeof value);
            sum += (double)value * x[i];
        }
        gd_element_store("bf16", arguments[2].data, row, fabs(sum) > FLT_MAX ? copysign((double)INFINITY, sum) : sum);
    }
    free(x);
    return 0;
}

/* A row with NaN or +inf is NaN throughout, one that is all -inf is 0 throughout: the kernel's contract. */
static void softmax_row(const void *x, void *out, uint64_t start, uint64_t columns)
{
    double maximum = -(double)FLT_MAX;
    double sum = 0;
    for (uint64_t i = 0; i < columns; i++) {
        double value = gd_element_load("f32", x, start + i);
        maximum = isnan(value) || value > maximum ? value : maximum;
        if (isnan(maximum))
            break;
    }
    for (uint64_t i = 0; i < columns; i++)
        sum += exp(gd_element_load("f32", x, start + i) - maximum);
    for (uint64_t i = 0; i < columns; i++) {
        double share = sum == 0 ? 0 : exp(gd_element_load("f32", x, start + i) - maximum) / sum;
        gd_element_store("f32", out, start + i, share);
    }
}

static int softmax(const gd_reference_argument *arguments, uint32_t count, const uint32_t grid[3])
{
    if (count != 3 || !is_u32(&arguments[2]) || arguments[2].scalar < 1)
        return -1;
    uint64_t columns = (uint64_t)arguments[2].scalar;
    uint64_t elements = columns * grid[0];
    if (!is_array(&arguments[0], "f32", elements) || !is_array(&arguments[1], "f32", elements))
        return -1;
    for (uint64_t start = 0; start < elements; start += columns)
        softmax_row(arguments[0].data, arguments[1].data, start, columns);
    return 0;
}

/* The launch has one thread for each element of out. */
static int spin(const gd_reference_argument *arguments, uint32_t count, const uint32_t grid[3])
{
    (void)grid;
    if (count != 3 || !is_u32(&arguments[2]))
        return -1;
    uint64_t elements = arguments[1].count;
    if (!is_array(&arguments[0], "u32", elements) || !is_array(&arguments[1], "u32", elements))
        return -1;
    for (uint64_t i = 0; i < elements; i++) {
        uint32_t value = 0;
        memcpy(&value, (const unsigned char *)arguments[0].data + 4 * i, sizeof value);
        value += 1;
        memcpy((unsigned char *)arguments[1].data + 4 * i, &value, sizeof value);
    }
    return 0;
}

static const gd_reference references[] = {
    {"vector_add", vector_add, 2, 0},
    {"rms_norm", rms_norm, 2, 0x1p-7},
    {"matvec_bf16", matvec_bf16, 2, 0x1p-7},
    {"softmax", softmax, 1, 0x1p-18},
    {"spin", spin, 1, 0},
};

const gd_reference *gd_reference_find(const char *kernel)
{
    for (size_t i = 0; kernel != NULL && i < sizeof references / sizeof references[0]; i++) {
        if (strcmp(references[i].kernel, kernel) == 0)
            return &references[i];
    }
    return NULL;
}

static double finite_root_mean_square(const char *type, const void *array, uint64_t count)
{
    double sum = 0;
    uint64_t finite = 0;
    for (uint64_t i = 0; i < count; i++) {
        double value = gd_element_load(type, array, i);
        if (isfinite(value)) {
            sum += value * value;
            finite += 1;
        }
    }
    return finite > 0 ? sqrt(sum / (double)finite) : 0;
}

uint64_t gd_reference_compare(const gd_reference *reference, const char *type, const void *result, const void *expected,
                              uint64_t count, uint64_t *first, double *worst)
{
    double scale = finite_root_mean_square(type, expected, count);
    uint64_t disagreeing = 0;
    double largest = 0;
    for (uint64_t i = 0; i < count; i++) {
        double got = gd_element_load(type, result, i);
        double want = gd_element_load(type, expected, i);
        if (got == want || (isnan(got) && isnan(want)))
            continue;
        double over = fabs(got - want) / (reference->tolerance * (fabs(want) + scale));
        if (isfinite(got) && isfinite(want) && over > largest)
            largest = over;
        if (isfinite(got) && isfinite(want) && over <= 1)
            continue;
        if (disagreeing == 0 && first != NULL)
            *first = i;
        disagreeing += 1;
    }
    if (worst != NULL)
        *worst = largest;
    return disagreeing;
}

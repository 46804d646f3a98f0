/* References of linear layers. */
#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "cli/reference_family.h"

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
    if (count != 5 || !gd_reference_is_u32(&arguments[3]) || !gd_reference_is_u32(&arguments[4]))
        return -1;
    uint64_t rows = (uint64_t)arguments[3].scalar;
    uint64_t columns = (uint64_t)arguments[4].scalar;
    if (rows < 1 || columns < 8 || columns % 8 != 0 || !gd_reference_is_array(&arguments[0], "bf16", rows * columns) ||
        !gd_reference_is_array(&arguments[1], "bf16", columns) || !gd_reference_is_array(&arguments[2], "bf16", rows))
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

const gd_reference gd_reference_linear[] = {
    {"matvec_bf16", matvec_bf16, 1U << 2, 0x1p-7},
    {NULL, NULL, 0, 0},
};

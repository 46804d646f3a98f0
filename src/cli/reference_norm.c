/* References of normalizations. */
#include <math.h>
#include <stddef.h>

#include "cli/number.h"
#include "cli/reference_family.h"

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
    if (count != 5 || !gd_reference_is_u32(&arguments[3]) || arguments[3].scalar < 1 ||
        !gd_reference_is_f32(&arguments[4]))
        return -1;
    uint64_t columns = (uint64_t)arguments[3].scalar;
    uint64_t elements = columns * grid[0];
    if (!gd_reference_is_array(&arguments[0], "bf16", elements) ||
        !gd_reference_is_array(&arguments[1], "bf16", columns) ||
        !gd_reference_is_array(&arguments[2], "bf16", elements))
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

const gd_reference gd_reference_norm[] = {
    {"rms_norm", rms_norm, 1U << 2, 0x1p-7},
    {NULL, NULL, 0, 0},
};

/* References of softmax. */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "cli/io/number.h"
#include "cli/plan/reference_family.h"

/* A row with NaN or +inf is NaN throughout, one that is all -inf is 0 throughout: the kernel's
 * contract. */
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

static int softmax(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                   const uint32_t grid[3])
{
    (void)self;
    if (count != 3 || !gd_reference_is_u32(&arguments[2]) || arguments[2].scalar < 1)
        return -1;
    uint64_t columns = (uint64_t)arguments[2].scalar;
    uint64_t elements = columns * grid[0];
    if (!gd_reference_is_array(&arguments[0], "f32", elements) ||
        !gd_reference_is_array(&arguments[1], "f32", elements))
        return -1;
    for (uint64_t start = 0; start < elements; start += columns)
        softmax_row(arguments[0].data, arguments[1].data, start, columns);
    return 0;
}

const gd_reference gd_reference_softmax[] = {
    {"softmax", softmax, 1U << 1, NULL, NULL},
    {.kernel = NULL},
};

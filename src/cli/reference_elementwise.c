/* References of elementwise kernels. */
#include <stddef.h>

#include "cli/number.h"
#include "cli/reference_family.h"

static int vector_add(const gd_reference_argument *arguments, uint32_t count, const uint32_t grid[3])
{
    (void)grid;
    if (count != 4 || !gd_reference_is_u32(&arguments[3]))
        return -1;
    uint64_t elements = (uint64_t)arguments[3].scalar;
    if (!gd_reference_is_array(&arguments[0], "f32", elements) ||
        !gd_reference_is_array(&arguments[1], "f32", elements) ||
        !gd_reference_is_array(&arguments[2], "f32", elements))
        return -1;
    for (uint64_t i = 0; i < elements; i++) {
        double sum = gd_element_load("f32", arguments[0].data, i) + gd_element_load("f32", arguments[1].data, i);
        gd_element_store("f32", arguments[2].data, i, sum);
    }
    return 0;
}

const gd_reference gd_reference_elementwise[] = {
    {"vector_add", vector_add, 1U << 2, 0},
    {NULL, NULL, 0, 0},
};

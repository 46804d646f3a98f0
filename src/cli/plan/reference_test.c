/* References of the kernels that serve tests. */
#include <stddef.h>
#include <string.h>

#include "cli/io/number.h"
#include "cli/plan/reference_family.h"

/* The launch has one thread for each element of out. */
static int spin(const gd_reference *self, const gd_reference_argument *arguments, uint32_t count,
                const uint32_t grid[3])
{
    (void)self;
    (void)grid;
    if (count != 3 || !gd_reference_is_u32(&arguments[2]))
        return -1;
    uint64_t elements = arguments[1].count;
    if (!gd_reference_is_array(&arguments[0], "u32", elements) ||
        !gd_reference_is_array(&arguments[1], "u32", elements))
        return -1;
    for (uint64_t i = 0; i < elements; i++) {
        uint32_t value = 0;
        memcpy(&value, (const unsigned char *)arguments[0].data + 4 * i, sizeof value);
        value += 1;
        memcpy((unsigned char *)arguments[1].data + 4 * i, &value, sizeof value);
    }
    return 0;
}

const gd_reference gd_reference_test[] = {
    {"spin", spin, 1U << 1, NULL, NULL},
    {.kernel = NULL},
};

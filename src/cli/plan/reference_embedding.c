/* References of table look-ups. */
#include <stddef.h>
#include <string.h>

#include "cli/io/number.h"
#include "cli/plan/reference_family.h"

static int embedding_gather(const gd_reference *self, const gd_reference_argument *arguments,
                            uint32_t count, const uint32_t grid[3])
{
    (void)self;
    if (count != 5 || !gd_reference_is_u32(&arguments[3]) || !gd_reference_is_u32(&arguments[4]))
        return -1;
    uint64_t rows = (uint64_t)arguments[3].scalar;
    uint64_t row_bytes = (uint64_t)arguments[4].scalar;
    if (row_bytes % 2 != 0 || !gd_reference_is_memory(&arguments[0], rows * row_bytes) ||
        !gd_reference_is_array(&arguments[1], "u32", grid[0]) ||
        !gd_reference_is_memory(&arguments[2], grid[0] * row_bytes))
        return -1;
    for (uint64_t i = 0; i < grid[0] && row_bytes > 0; i++) {
        uint64_t id = (uint64_t)gd_element_load("u32", arguments[1].data, i);
        unsigned char *out = (unsigned char *)arguments[2].data + i * row_bytes;
        if (id < rows)
            memcpy(out, (const unsigned char *)arguments[0].data + id * row_bytes, row_bytes);
        else
            memset(out, 0, row_bytes);
    }
    return 0;
}

const gd_reference gd_reference_embedding[] = {
    {"embedding_gather", embedding_gather, 1U << 2, NULL, NULL},
    {.kernel = NULL},
};

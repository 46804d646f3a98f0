/* Growing arrays. */
#include <stdlib.h>

#include "ptx/text/array.h"

bool gd_array_reserve(void **data, uint32_t *capacity, uint32_t wanted, size_t item)
{
    if (wanted <= *capacity)
        return true;
    if (wanted > SIZE_MAX / item)
        return false;
    void *grown = realloc(*data, wanted * item);
    if (!grown)
        return false;
    *data = grown;
    *capacity = wanted;
    return true;
}

bool gd_array_grow(void **data, uint32_t *capacity, size_t item)
{
    if (*capacity > UINT32_MAX / 2)
        return false;
    return gd_array_reserve(data, capacity, *capacity < 16 ? 16 : *capacity * 2, item);
}

/* Arrays that grow by doubling, indexed with 32 bits. */
#ifndef GD_PTX_TEXT_ARRAY_H
#define GD_PTX_TEXT_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for at least `wanted` items; false, and the array as it was, when there is no memory. */
bool gd_array_reserve(void **data, uint32_t *capacity, uint32_t wanted, size_t item);

/* Room for at least one more item than `capacity`. */
bool gd_array_grow(void **data, uint32_t *capacity, size_t item);

#endif

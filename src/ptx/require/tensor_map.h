/* Tensor maps: what cuTensorMapEncode* writes into the 128 bytes that a kernel hands to
 * cp.async.bulk.tensor. The encoding is that of NVIDIA's drivers for sm_90, as 6,000 maps of random
 * arguments showed it on an H200 (driver 580): each of its bits is accounted for, and some of them
 * follow from others. */
#ifndef GD_PTX_REQUIRE_TENSOR_MAP_H
#define GD_PTX_REQUIRE_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum {
    GD_TENSOR_RANK = 5,
    GD_TENSOR_MAP_BYTES = 128,
    GD_TENSOR_MAP_ALIGNMENT = 64,
    GD_TENSOR_TYPES = 13
};

typedef struct gd_tensor_map {
    uint64_t address;
    uint64_t sizes[GD_TENSOR_RANK];
    uint64_t strides[GD_TENSOR_RANK]; /* bytes; the first is an element's */
    uint32_t box[GD_TENSOR_RANK];     /* tiled: elements that a copy spans; 0 for im2col */
    uint32_t steps[GD_TENSOR_RANK];   /* every so many elements of the box is copied */
    uint32_t channels, pixels;        /* im2col */
    int32_t lower[3], upper[3];
    uint8_t rank, type, interleave, swizzle, promotion, fill; /* CU_TENSOR_MAP_* */
    bool im2col;
} gd_tensor_map;

/* Writes a map of values that the driver would take (type below GD_TENSOR_TYPES, a swizzle of
 * 16-byte chunks). */
void gd_tensor_map_write(void *bytes, const gd_tensor_map *map);

/* False: these bytes are not what gd_tensor_map_write makes of any map; nothing is known of
 * them. */
bool gd_tensor_map_read(const void *bytes, gd_tensor_map *map);

/* Bytes from the address to the end of the tensor's last element; UINT64_MAX for more than that. */
uint64_t gd_tensor_map_extent(const gd_tensor_map *map);

/* Bytes of an element. */
uint32_t gd_tensor_element(uint8_t type);

/* The swizzle's span in bytes: what the rows of a box lie apart in shared memory; 0: as long as
 * they are. */
uint32_t gd_tensor_span(uint8_t swizzle);

#endif

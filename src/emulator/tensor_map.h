/* Tensor maps: what cuTensorMapEncode* writes into the 128 bytes that a kernel hands to cp.async.bulk.tensor. The
 * encoding is the emulator's own, with a mark and a checksum, so that bytes that are no map are noticed when a copy
 * uses them. */
#ifndef GD_EMULATOR_TENSOR_MAP_H
#define GD_EMULATOR_TENSOR_MAP_H

#include <stdbool.h>
#include <stdint.h>

enum { GD_TENSOR_RANK = 5, GD_TENSOR_MAP_BYTES = 128, GD_TENSOR_MAP_ALIGNMENT = 64 };

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

/* False: these bytes are no map of this driver. */
bool gd_tensor_map_read(const void *bytes, gd_tensor_map *map);

/* Bytes of an element. */
uint32_t gd_tensor_element(uint8_t type);

/* The swizzle's span in bytes: what the rows of a box lie apart in shared memory; 0: as long as they are. */
uint32_t gd_tensor_span(uint8_t swizzle);

#endif

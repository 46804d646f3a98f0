/* Arrays and texture objects as they lie in the device's memory. The handle of either is the
 * address of its allocation, whose bytes begin with the struct; an array's texels follow at
 * GD_ARRAY_TEXELS, row by row without gaps. */
#ifndef GD_EMULATOR_MACHINE_TEXTURE_H
#define GD_EMULATOR_MACHINE_TEXTURE_H

#include "emulator/abi.h"
#include "emulator/machine/memory.h"

enum { GD_ARRAY_TEXELS = 256, GD_MOST_CHANNELS = 4 };

/* Texels in rows. */
typedef struct gd_texels {
    uint64_t address, pitch;
    uint64_t width, height; /* height 0: one row of one dimension */
    int32_t format;         /* CUarray_format */
    uint32_t channels;
} gd_texels;

typedef struct gd_array {
    gd_texels texels;
} gd_array;

typedef struct gd_texture {
    gd_texels texels;
    gd_CUDA_RESOURCE_DESC resource; /* as given */
    gd_CUDA_TEXTURE_DESC sampling;
} gd_texture;

_Static_assert(sizeof(gd_array) <= GD_ARRAY_TEXELS, "texels behind the array's own struct");

/* Bytes of one channel; 0: the format is not emulated. */
static inline uint32_t gd_format_bytes(int32_t format)
{
    switch (format) {
    case GD_CU_AD_FORMAT_UNSIGNED_INT8:
    case GD_CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case GD_CU_AD_FORMAT_UNSIGNED_INT16:
    case GD_CU_AD_FORMAT_SIGNED_INT16:
    case GD_CU_AD_FORMAT_HALF:
        return 2;
    case GD_CU_AD_FORMAT_UNSIGNED_INT32:
    case GD_CU_AD_FORMAT_SIGNED_INT32:
    case GD_CU_AD_FORMAT_FLOAT:
        return 4;
    default:
        return 0;
    }
}

static inline uint32_t gd_texel_bytes(const gd_texels *texels)
{
    return gd_format_bytes(texels->format) * texels->channels;
}

/* Whether texels are read as floating-point numbers: integers of 32 bits never are
 * (cuTexObjectCreate). */
static inline bool gd_texels_are_float(const gd_texels *texels, uint32_t flags)
{
    return texels->format == GD_CU_AD_FORMAT_HALF || texels->format == GD_CU_AD_FORMAT_FLOAT ||
           (gd_format_bytes(texels->format) < 4 && !(flags & GD_CU_TRSF_READ_AS_INTEGER));
}

/* What is behind a handle; NULL for one that is of another kind or was destroyed. */
static inline void *gd_memory_behind(gd_memory *memory, uint64_t handle, gd_memory_kind kind)
{
    const gd_allocation *item = gd_memory_find(memory, handle);

    return item && !item->freed && item->kind == kind && item->start == handle ? item->host : NULL;
}

#endif

/* The types of abi_opaque.def as cuda/abi.h declares its own: enough to hand a value on. */
#ifndef GD_CUDA_ABI_OPAQUE_H
#define GD_CUDA_ABI_OPAQUE_H

#include <stdint.h>

#define GD_ENUM(name) typedef int32_t gd_##name;
#define GD_HANDLE(name) typedef void *gd_##name;
#define GD_STRUCT(name) typedef struct gd_##name gd_##name;
#define GD_BYTES(name)                                                                             \
    typedef struct gd_##name {                                                                     \
        uint64_t opaque[8];                                                                        \
    } gd_##name;
#define GD_NUMBER(name, type) typedef type gd_##name;
#define GD_FUNCTION(name) typedef void (*gd_##name)(void);
#include "cuda/abi_opaque.def"
#undef GD_ENUM
#undef GD_HANDLE
#undef GD_STRUCT
#undef GD_BYTES
#undef GD_NUMBER
#undef GD_FUNCTION

#endif

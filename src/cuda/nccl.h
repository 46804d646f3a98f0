/* NCCL, which moves large messages between devices, opened when it is needed. */
#ifndef GD_CUDA_NCCL_H
#define GD_CUDA_NCCL_H

#include <stddef.h>
#include <stdint.h>

#include "griddep.h"
#include "cuda/abi.h"

typedef int32_t gd_ncclResult, gd_ncclDataType, gd_ncclRedOp;
typedef void *gd_ncclComm;

typedef struct gd_ncclUniqueId {
    char bytes[128];
} gd_ncclUniqueId;

/* ncclResult_t, ncclRedOp_t and ncclDataType_t, as far as they are needed. */
enum { GD_NCCL_SUCCESS = 0, GD_NCCL_REMOTE_ERROR = 6, GD_NCCL_IN_PROGRESS = 7 };
enum { GD_NCCL_SUM = 0 };
enum { GD_NCCL_UINT8 = 1, GD_NCCL_FLOAT16 = 6, GD_NCCL_FLOAT32 = 7, GD_NCCL_BFLOAT16 = 9 };

/* Versions, as NCCL counts: captures mix with calls on streams from 2.11 on. */
enum { GD_NCCL_OLDEST = 21100, GD_NCCL_NEWEST = 29999 };

typedef struct gd_nccl {
    int version;

#define GD_NCCL(name, type, arguments) type(*name) arguments;
#include "cuda/nccl_symbols.def"
#undef GD_NCCL
} gd_nccl;

/* Opens libnccl.so.2, or what GRIDDEP_NCCL names. It stays loaded: NCCL has threads. UNSUPPORTED
 * where it cannot be opened, lacks a function or is of another version. */
int32_t gd_nccl_open(gd_nccl *nccl, griddep_error *error);

/* PEER for what another process did, DRIVER for the rest; "NCCL: <what>: <NCCL's words>". */
int32_t gd_nccl_fail(const gd_nccl *nccl, gd_ncclResult result, const char *what,
                     griddep_error *error);

#endif

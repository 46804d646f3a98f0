/* The lanes' operations for any processor, and the choice between this code and the one for AVX2. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define GD_LANES_TABLE gd_lanes_base
#define GD_FMA(x, y, z) ((float)gd_add_odd((double)(x) * (double)(y), (double)(z)))

#include "emulator/exec_lanes_body.h"

gd_run *gd_exec_lanes_find(gd_lanes_op op)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return gd_lanes_avx2[op];
#endif
    return gd_lanes_base[op];
}

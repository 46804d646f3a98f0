/* The lanes' operations for any processor, and the choice between this code and the one for
 * AVX2. */
#if defined(__OPTIMIZE__) && !defined(__clang__)
#pragma GCC optimize("O3")
#endif

#define GD_LANES_TABLE gd_lanes_base
#define GD_SWEEPS gd_sweeps_base
#define GD_FMA(x, y, z) ((float)gd_add_odd((double)(x) * (double)(y), (double)(z)))

#include "emulator/execute/lanes_body.h"
#include "emulator/execute/sweep_body.h"

static bool has_avx2(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

gd_run *gd_exec_lanes_find(gd_lanes_op op)
{
    return has_avx2() ? gd_lanes_avx2[op] : gd_lanes_base[op];
}

const gd_sweeps *gd_sweeps_find(void)
{
    return has_avx2() ? &gd_sweeps_avx2 : &gd_sweeps_base;
}

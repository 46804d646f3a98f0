/* The lanes' operations for x86-64 processors with AVX2 and FMA. Products and sums are never
 * contracted: PTX says which are fused. */
#include "emulator/execute/lanes.h"
#include "emulator/execute/memory.h"
#include "emulator/execute/sweep.h"
#include "emulator/execute/warp.h"

#if defined(__x86_64__)

#include <math.h>
#include <string.h>

#if defined(__clang__)
#pragma clang fp contract(off)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC optimize("fp-contract=off")
#if defined(__OPTIMIZE__)
#pragma GCC optimize("O3")
#endif
#pragma GCC target("avx2,fma")
#endif

#define GD_LANES_TABLE gd_lanes_avx2
#define GD_SWEEPS gd_sweeps_avx2
#define GD_FMA(x, y, z) __builtin_fmaf(x, y, z)

/* The lanes go without sanitizers, with which they take most of the time: they reach the frame
 * alone, as do those of lanes_base.c, which have sanitizers. tests/emulator/test_sweep holds that
 * both do the same. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("address", "undefined"))),                 \
                             apply_to = function)
#endif
#include "emulator/execute/lanes_body.h"
#if defined(__clang__)
#pragma clang attribute pop
#endif
#include "emulator/execute/sweep_body.h"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#else

gd_run *const gd_lanes_avx2[GD_LANES_COUNT] = {0};
const gd_sweeps gd_sweeps_avx2 = {0};

#endif

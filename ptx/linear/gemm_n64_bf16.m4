m4_define(<!NAME!>, <!gemm_n64_bf16!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_define(<!TILE_COLUMNS!>, <!64!>)m4_dnl
m4_define(<!TARGET!>, <!sm_90a!>)m4_dnl
m4_define(<!ENGINE!>, <!gemm_wgmma.inc!>)m4_dnl
// kernel: gemm_n64_bf16
// purpose: c = activation(a W^T + bias) + residual on the tensor cores: a linear layer of many rows (prefill), bf16, f32 accumulation, in
//   tiles of 128 x 64. The kernel is gemm_bf16 with a quarter of its tile, for products of too few tiles to keep all multiprocessors busy.
// parameters:
//   a_map       tensor map of a, m rows of k bf16: two dimensions {k, m}, box {64, 128}, swizzle 128B; fetched after the wait
//   weight_map  tensor map of W, n rows of k bf16: two dimensions {k, n}, box {64, 32}, swizzle 128B; constant, fetched before the
//               wait
//   up_map      tensor map of U, as W, for activation 4; otherwise not used: give W's
//   bias        u64 address of n bf16, read after the wait; 0: none, else added to a W^T before the activation
//   residual    u64 address of m * n bf16, row-major, read after the wait; 0: none, else added last; may be c
//   c           u64 address of m * n bf16, row-major, written after the wait
//   m           u32 rows of a and c, at least 1
//   n           u32 rows of W, columns of c, a multiple of 8
//   k           u32 columns of a and W, a multiple of 8
//   activation  u32 0: none; 1: silu; 2: gelu (the tanh formula); 3: relu; 4: silu, then times a U^T, with half the columns to a tile
// launch: grid any (a multiple of the cluster), block 288: two warpgroups that multiply and a warp that fetches; cluster of one or
//   of two blocks, which then share their tiles' part of W by multicast; shared dynamic, 1024 bytes and 24592 a slot of the
//   ring, at least two slots. One block a multiprocessor. Best on an H200, with grid multiprocessors and no cluster:
//   shared 222352 (nine slots), for products of at most 132 tiles.
// requires:
//   m >= 1 && m <= 2^30
//   n >= 8 && n <= 2^30 && n % 8 == 0
//   k >= 8 && k <= 2^30 && k % 8 == 0
//   m * n < 2^42
//   c % 16 == 0
//   bias % 4 == 0
//   residual % 16 == 0
//   activation <= 4
//   block.x == 288 && block.y == 1 && block.z == 1
//   grid.x <= 2^30 && grid.y == 1 && grid.z == 1
//   cluster.x <= 2 && cluster.y == 1 && cluster.z == 1
//   shared >= 50208 -- the ring has two slots at least
//   apart(c, bias)
//   residual == c || apart(c, residual)
m4_include(<!gemm_requires.inc!>)m4_dnl
// extent:
//   bias: bf16[n]
//   residual: bf16[m * n]
//   c: bf16[m * n]
// constraints: .target sm_90a: it loads on compute capability 9.0 alone; newer chips get the text for sm_90, which multiplies by
//   mma.sync. A map whose bytes the library does not understand is
//   not checked; the kernel cannot do it. No kernel that may still run writes W or U. An element's sum is taken in one fixed
//   order: the result's bits do not depend on grid, cluster or shared memory, nor on the width of the tile. The tensor cores
//   add products up with less than f32's rounding (cut off, relative to the largest term). What is beyond f32 or bf16 is
//   infinite, NaN gives NaN; the activations do with infinities what their formulas do (silu of minus infinity is NaN).
// constant: weight_map, up_map
// pdl: triggers at its start; before the wait it makes its barriers and fetches W into all slots of its first tile; waits before it
//   fetches a; every thread waits.
// measured: gemm_bf16 has the figures.

m4_include(<!gemm.inc!>)m4_dnl

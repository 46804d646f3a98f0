m4_define(<!NAME!>, <!gemm_bf16!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_define(<!TILE_COLUMNS!>, <!256!>)m4_dnl
m4_define(<!TARGET!>, <!sm_90a!>)m4_dnl
m4_define(<!ENGINE!>, <!gemm_wgmma.inc!>)m4_dnl
// kernel: gemm_bf16
// purpose: c = activation(a W^T + bias) + residual on the tensor cores: a linear layer of many rows (prefill), bf16, f32 accumulation, in
//   tiles of 128 x 256. gemm_n128_bf16 and gemm_n64_bf16 are the same with narrower tiles, for smaller products.
// parameters:
//   a_map       tensor map of a, m rows of k bf16: two dimensions {k, m}, box {64, 128}, swizzle 128B; fetched after the wait
//   weight_map  tensor map of W, n rows of k bf16: two dimensions {k, n}, box {64, 128}, swizzle 128B; constant, fetched before the
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
//   of two blocks, which then share their tiles' part of W by multicast; shared dynamic, 1024 bytes and 49168 a slot of the
//   ring, at least two slots. One block a multiprocessor. Best on an H200, with grid multiprocessors and no cluster:
//   shared 197696 (four slots), for products of more than about 130 tiles.
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
//   shared >= 99360 -- the ring has two slots at least
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
// measured: H200, random data, medians, TFLOP/s of this kernel / of cuBLAS (torch.matmul, PyTorch 2.11) in the same run; "cool" in
//   bursts of 1 ms after 40 ms of rest, "sustained" without rest, where both run into the chip's power limit. m x n x k, no
//   cluster, grid 132, four slots:
//                            cool         sustained                        cool         sustained
//     2048 x 4096 x 4096     765 / 756    695 / 693   4096 x 14336 x 4096  790 / 797    778 / 762
//     4096 x 4096 x 14336    813 / 823    694 / 674   8192 x 8192 x 8192   802 / 796    684 / 651
//     1024 x 4096 x 4096     742 / 728 (128 tiles)
//   gemm_n128_bf16, six slots: 512 x 4096 x 4096 669 / 671, 2048 x 4096 x 4096 732 / 756, 8192 x 8192 x 8192 733 / 796, sustained
//   679 / 651. gemm_n64_bf16, nine slots: 512 x 2048 x 2048 9.4 us, cuBLAS in a stream 15.9 (the host's time), in a graph 8.8.
//   Pairs of blocks that share W: within 2 % either way, better by 1 % at 8192 and cool, worse by 1 to 10 % for narrow tiles.
//   Chains of square layers in a graph, us a layer, cool, cuBLAS in a graph / no PDL / PDL:
//     512 rows of 2048, n64    8.83 /  9.13 /  8.79     1024 rows of 2048, n128  13.25 / 13.92 / 13.28
//     512 rows of 4096, n128  23.73 / 24.58 / 24.54     1024 rows of 4096        44.50 / 44.88 / 44.29
//     2048 rows of 4096       86.50 / 88.34 / 87.45
//   W fetched behind the wait: 0.04 to 0.3 more. The trigger behind the last fetch: as at the start, within 0.1. None: 0.1 to 0.6
//   more, but 0.2 less at 512 rows of 4096.
//   Predicted: 85 to 97 % of cuBLAS; with the right width of tiles it is 97 to 105. 2 to 4 us a layer from PDL, of which 0 to 0.9
//   came: no dependent's block fits beside one of these, so that barriers and first fetches overlap with the
//   slowest blocks only; a gain from pairs, which did not come: L2 is fast enough.
//   The epilogue's cost at 2048 x 4096 x 4096, cool: bias 1 %, relu 0, silu 7, gelu 6, residual 8, gelu with both 20, silu-multiply 0;
//   two special functions an element, and a residual that all blocks read at once; it does not overlap with multiplications.
// history: 8192 x 8192 x 8192: empty barriers arrived at with .release.cluster (a MEMBAR.GPU a slot) 554 while cool, 527 sustained;
//   with the plain arrive 650 sustained. Cluster barriers .relaxed at start and end (another two MEMBAR.GPU): 0.3 us less a layer.
//   .maxntid in place of .reqntid: 10.2 in place of 9.1 us for gemm_n64_bf16 at 512 x 2048 x 2048, others alike. With .reqntid ptxas
//   knows that tid.x / 32 is the same in a warp, and keeps the ring's addresses and the descriptors in uniform registers.
//   The residual by 4 bytes in place of vectors: the same time, and in place read by one lane and written by another, as the
//   race detector found.
//   Rejected: tiles of 128 x 192 (89 % at 2048 x 4096 x 4096, for 352 tiles in three rounds); two blocks of 128 x 128 side by side,
//   three slots each (2 to 7 % slower: too few bytes under way); panels of 8 or 32 tiles in place of 16 (0 to 1 %).

m4_include(<!gemm.inc!>)m4_dnl

// kernel: matvec_bf16
// purpose: y = W x for a bf16 matrix and vector with f32 accumulation: one linear layer at batch 1, bound by reading W once.
// parameters:
//   weight   u64 address of rows * columns bf16, row-major, constant, read before the wait
//   x        u64 address of columns bf16, read after the wait
//   y        u64 address of rows bf16, written after the wait
//   rows     u32 rows of W, at least 1
//   columns  u32 columns of W, a multiple of 8, at least 8
// launch: grid any, block any multiple of 32 up to 1024, both one-dimensional; shared dynamic, any. It holds x
//   (2 * columns bytes), 64 bytes of barriers a worker (a warp that has a row) and a ring of two to eight slots a worker, of
//   4096 bytes or, where two of those do not fit, of 2048, 1024 or 512. With too little for two slots of 512 bytes the kernel
//   reads W and x straight from global memory, after the wait: correct, and slow. Best on an H200: for columns up to 4096 two
//   blocks a multiprocessor (grid 264) of 256 threads with 114688 bytes each; for longer rows one block of 512 threads with
//   all the shared memory there is; for a layer below 14 MB one block of as many warps, at most 16, as share its rows
//   evenly, with 114688 bytes, so that its dependent fits beside it.
// requires:
//   weight != 0 && x != 0 && y != 0
//   rows >= 1
//   rows < 2^30
//   columns >= 8
//   columns < 2^29
//   columns % 8 == 0
//   weight % 16 == 0
//   x % 16 == 0
//   y % 2 == 0
//   block.x % 32 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   apart(y, weight, x)
// extent:
//   weight: bf16[rows * columns]
//   x: bf16[columns]
//   y: bf16[rows]
// constraints: no kernel that may still run writes weight. A row's sum is taken in one fixed order: the result's bits do not
//   depend on grid, block or shared memory. A sum beyond f32 or bf16 is infinite, NaN gives NaN.
// constant: weight
// pdl: triggers at its start; before the wait it fills its ring with W by bulk copies, all slots but one where there are three or
//   more; waits before it reads x; every thread waits.
// measured: H200, chain of layers with different weights in a graph, median of 31 replays, us a layer [TB/s]; plain 16-byte loads
//   read 4 GiB at 4.64 TB/s in the same run. Without PDL / with it:
//     grid 264, block 256, shared 114688:  2048 x 2048 4.53 / 3.18 [2.64]   8192 x 2048 10.07 / 7.85 [4.27]
//       16384 x 2048 18.2 / 15.6 [4.31]   4096 x 4096 10.07 / 7.81 [4.30]   14336 x 4096 29.4 / 26.8 [4.39]
//     grid 132, block 512, all shared memory:  4096 x 4096 10.07 / 8.08 [4.15]   14336 x 4096 29.0 / 26.7 [4.40]
//       4096 x 14336 28.8 / 27.2 [4.32]   2048 x 8192 10.4 / 8.35 [4.02]   128256 x 4096 238 / 235 [4.47]
//     grid 132, block 512, shared 114688:  2048 x 2048 5.0 / 2.97 [2.82]   1024 x 4096 5.0 / 3.25 [2.58]
//     4096 x 4096 with no shared memory, from global memory: 16.3 with PDL
//     3072 x 2048, 23 rows a multiprocessor, shared 114688, at 4.55 TB/s: block 512 4.30, 384 3.98, 768 4.70; grid 264, block 192,
//       shared 57000 4.02
//   The trigger at 4096 x 4096, 512 threads, all shared memory, in the first version (other layers alike): at the start, after
//   the ring was filled, after the wait 8.70; after x was read 8.76; none 10.34. At 2048 x 2048: 3.18 each; 3.57; 4.45.
//   History, 4096 x 4096, 512 threads, all shared memory, on an H200 that read 4.54 TB/s, before / after:
//     exact divisions, barriers made one by one before the first copy 8.82; quick division, a lane a barrier 8.52
//     all three slots filled before the wait 8.77; all but one 8.17: W that is asked for too early stands in the way
//     a CTA's rows scattered over the matrix 8.38; neighbours 8.30 (two slots a warp)
//     the first vectors of W in registers before x is read: they do not fit into 64 registers, 2.96 became 4.08 at 2048 x 2048
//     the first vectors of x in registers before the poll: 8.18 without, 8.08 with, at 4.64 TB/s
//     L2 evict_first for W: 0.5 to 1 % less time than without
//     ranges of rows for each CTA became rounds of one row a worker, the grid reading one window after another, at 4.50 TB/s: 128256 x 4096
//       241.2 us, 233.1 (the ceiling); 14336 x 4096 27.43, 26.77; 16384 x 2048 16.04, 15.76; without evict_first half of that gain
//   Rejected: x read from global memory by each warp in place of shared memory, 9.45 against 8.76 and 29.6 against 27.1 at
//   4096 x 14336; slots of 2048 bytes, up to 2 us more with six of them; mma.sync in place of f32 FMA, 0.2 us more (shared
//   memory's bandwidth bounds both). With the arithmetic left out altogether a layer takes 7.7: what remains is the hand-off.

m4_define(<!KERNEL!>, <!matvec_bf16!>)m4_dnl
m4_define(<!ELEMENT!>, <!bf16!>)m4_dnl
m4_define(<!FUSED!>, <!!>)m4_dnl
m4_define(<!PLAIN!>, <!$1!>)m4_dnl
m4_include(<!matvec.inc!>)m4_dnl

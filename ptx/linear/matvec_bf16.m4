// kernel: matvec_bf16
// purpose: y = W x for a bf16 matrix and vector with f32 accumulation: one linear layer at batch 1, bound by reading W once.
// parameters:
//   weight   u64 address of rows * columns bf16, row-major, constant, read before the wait
//   x        u64 address of columns bf16, read after the wait
//   y        u64 address of rows bf16, written after the wait
//   rows     u32 rows of W, at least 1
//   columns  u32 columns of W, a multiple of 8, at least 8
// launch: grid any, block any multiple of 32 up to 1024, both one-dimensional; shared dynamic, any. Blocks of 288 and 544 threads
//   split the columns over 8 or 16 warps, multiply on tensor cores, and fetch with one warp more; shared memory holds 2816
//   bytes, x (2 * columns bytes, to a multiple of 128), and two to eight slots of eight rows of up to 4096 bytes. Other blocks
//   deal the rows out to their warps; it holds x, 64 bytes of barriers a worker (a warp that has a row) and a ring of two to
//   eight slots a worker, of 4096 bytes or, where two of those do not fit, of 2048, 1024 or 512. With too little for that the
//   kernel reads W and x straight from global memory, after the wait: correct, and slow. Best on an H200: where a
//   multiprocessor's share is two or three slots of eight rows of 2048 columns, and 8 MB in all at least, one block of 288 with
//   114688 bytes a multiprocessor; another layer below 14 MB one block of as many warps, at most 16, as share its rows evenly,
//   with as much, so that its dependent fits beside it; for columns up to 4096 two blocks a multiprocessor (grid 264) of 256
//   threads with 114688 bytes each; for longer rows one block of 512 threads with all the shared memory there is.
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
//   depend on grid, block or shared memory, but for blocks of 288 and 544, which split the columns where two slots fit and agree
//   with one another. A sum beyond f32 or bf16 is infinite, NaN gives NaN.
// constant: weight
// pdl: triggers at its start; before the wait it fills its ring with W by bulk copies, all slots but one where there are three or
//   more, and has 1024 bytes of each worker's next piece brought to L2; with split columns two slots are under way at a time.
//   Waits before it reads x; every thread waits.
// measured: H200, chain of layers with different weights in a graph with PDL, shapes as under launch, us a layer [TB/s], at 4.548 TB/s
//   of plain 16-byte loads in the same run; in brackets behind it the kernel of a version before, 2 % either way by the GPU:
//     2048 x 2048 2.64 [3.18] (3.01)   3072 x 2048 3.37 [3.73] (3.98)   8192 x 2048 7.96 [4.22] (8.12)   16384 x 2048 15.35 [4.37] (15.95)
//     2048 x 8192 8.32 [4.03] (8.48)   4096 x 4096 7.83 [4.29] (8.07)   14336 x 4096 26.85 [4.37] (27.32)   4096 x 14336 27.08 [4.34] (27.72)
//     128256 x 4096, at 4.50: 232.1 [4.53] (240.8)
//   Without PDL 5.00, 5.81, 9.70, 17.80, 10.37, 9.78, 28.97 and 28.76. 4096 x 4096 with no shared memory, from global memory: 16.3.
//   Split columns (block 288) beside rows for the warps (512), at 4.52: 1024 x 2048 1.92, 1.79; 1536 x 2048 2.44, 2.33; 2048 x 2048 2.63, 2.96;
//     2560 x 2048 3.12, 3.73; 3072 x 2048 3.29, 4.08; 3328 x 2048 4.21, 4.29; 1024 x 4096 2.70, 3.17; 1536 x 4096 4.58, 4.09; 512 x 8192 4.63, 3.16.
//     544 threads need 56 registers for two blocks a multiprocessor: 2.66 and 3.71 at 2048 and 3072 x 2048.
//   The trigger at 4096 x 4096, 512 threads, all shared memory, in the first version (other layers alike): at the start, after
//   the ring was filled, after the wait 8.70; after x was read 8.76; none 10.34. At 2048 x 2048: 3.18 each; 3.57; 4.45.
// history: 4096 x 4096, 512 threads, all shared memory, on an H200 that read 4.54 TB/s, before / after:
//     exact divisions, barriers made one by one before the first copy 8.82; quick division, a lane a barrier 8.52
//     all three slots filled before the wait 8.77; all but one 8.17: W that is asked for too early stands in the way
//     a CTA's rows scattered over the matrix 8.38; neighbours 8.30 (two slots a warp)
//     the first vectors of W in registers before x is read: they do not fit into 64 registers, 2.96 became 4.08 at 2048 x 2048
//     the first vectors of x in registers before the poll: 8.18 without, 8.08 with, at 4.64 TB/s
//     L2 evict_first for W: 0.5 to 1 % less time than without
//     ranges of rows for each CTA became rounds of one row a worker, the grid reading one window after another: 128256 x 4096 241.2, 233.1 (the
//       ceiling, 4.50); 4096 x 14336 27.25, 26.96 at 4.60; without evict_first half of that. 4096 x 4096 lost 0.13 by the longer way to the first
//       copy, and got it back when that was issued before the rest is computed: 8.19, 8.08
//     1024 bytes of each worker's next piece to L2 before the wait, 2 MB in all: 4096 x 4096 8.08, 7.80; 16384 x 2048 15.80, 15.36. 512 bytes
//       7.92 and 15.51; 1536 the same; 4096 bytes 8.44 and 15.77: x waits behind them
//   History of split columns, 2048 x 2048 / 3072 x 2048, rows for the warps 2.99 / 4.08; 2.5 and 3.4 were predicted:
//     W as the tensor core's B, x in one of 16 rows of A, zeros beside it: registers spilled, 4.06 / 5.4; no zeros 2.79 / 3.92
//     W as A, half of a row's words in rows g + 8: half as many mma, W of two tiles in registers while x comes 2.64 / 3.94
//     a warp that fetches and does nothing else, two slots under way at a time 2.57 / 3.48; one 2.63 / 3.50; without a bound 2.86 / 3.92
//     for large layers it is no better: 16384 x 2048 15.34 to 16.2, 4096 x 4096 8.7, 4096 x 14336 26.3 at 4.62 (rows for the warps 26.7)
//   Rejected: x read from global memory by each warp in place of shared memory, 9.45 against 8.76 and 29.6 against 27.1 at
//   4096 x 14336; slots of 2048 bytes, up to 2 us more with six of them; mma.sync in place of f32 FMA in a warp's row, 0.2 us more (shared
//   memory's bandwidth bounds both); the trigger when a CTA has issued its last copy, 18.6 against 16.6 at 16384 x 2048; CTAs of unequal
//   shares, so that some end early; copies of 8192 bytes; a slot of eight rows in one copy of 32 KB, 3.05 against 2.79.
//   With the arithmetic of the first version left out altogether 4096 x 4096 took 7.7.

m4_define(<!KERNEL!>, <!matvec_bf16!>)m4_dnl
m4_define(<!ELEMENT!>, <!bf16!>)m4_dnl
m4_define(<!FUSED!>, <!!>)m4_dnl
m4_define(<!PLAIN!>, <!$1!>)m4_dnl
m4_include(<!matvec.inc!>)m4_dnl

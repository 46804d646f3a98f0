// kernel: skinny_bf16
// purpose: a linear layer for up to eight rows of x with what stands around it in a decoder: RMS norm before it, bias, silu and product with a
//   second layer, residual after it; bf16, tensor cores, f32 accumulation; reads W once.
// parameters:
//   weight    u64 address of W, rows * columns bf16, row-major, constant, read before the wait
//   up        u64 address of U, as W, constant, read before the wait; 0: none, else y = silu(W x) * (U x)
//   x         u64 address of batch * columns bf16, read after the wait
//   norm      u64 address of columns bf16, constant, read before the wait; 0: none, else each row of x is RMS-normalized with these
//             weights first: x * norm / sqrt(mean of x squared + epsilon)
//   bias      u64 address of rows bf16, constant, read before the wait; 0: none, else added to W x, before silu
//   residual  u64 address of batch * rows bf16, read after the wait; 0: none, else added last
//   y         u64 address of batch * rows bf16, written after the wait
//   rows      u32 rows of W, at least 1
//   columns   u32 columns of W, a multiple of 8
//   batch     u32 rows of x, of residual and of y, 1 to 8
//   epsilon   f32, of the norm; not used without it
// launch: grid any, one-dimensional, block 384: eight warps multiply, four fetch. Shared dynamic: 512 bytes, 2304 for each row of x, and a
//   ring of two to sixteen slots. A slot holds 1024 bytes of each of up to 32 rows of W, and the same elements of x and norm.
//   Best on an H200: grid 132 with 114688 bytes for small layers (rows * columns below 8 million, of 8 bits below 30 million); grid 264 with
//   114688 for large ones; grid 132 with all the shared memory there is for columns above 4096, and for batches above 2 of layers below 30 million.
// requires:
//   weight != 0 && x != 0 && y != 0
//   rows >= 1
//   rows < 2^30
//   columns >= 8
//   columns < 2^29
//   columns % 8 == 0
//   batch >= 1
//   batch <= 8
//   weight % 16 == 0
//   up % 16 == 0
//   x % 16 == 0
//   norm % 16 == 0
//   bias % 2 == 0
//   residual % 2 == 0
//   y % 2 == 0
//   block.x == 384
//   grid.y == 1 && grid.z == 1
//   shared >= 37504 + 4480 * batch
//   apart(y, weight, up, x, norm, bias)
//   y == residual || apart(y, residual)
// extent:
//   weight: bf16[rows * columns]
//   up: bf16[rows * columns]
//   x: bf16[batch * columns]
//   norm: bf16[columns]
//   bias: bf16[rows]
//   residual: bf16[batch * rows]
//   y: bf16[batch * rows]
// constraints: no kernel that may still run writes weight, up, norm or bias. x times norm is rounded to bf16 and must be in its
//   range; the squares of x are summed in f32. A row's sum is taken in one fixed order: the result's bits do not depend on grid, batch
//   or shared memory. NaN gives NaN, a sum beyond f32 or bf16 is infinite.
// constant: weight, up, norm, bias
// pdl: triggers at its start; before the wait it fills its ring with W (and U, and norm) by bulk copies, all slots but one where there
//   are three or more, brings up to 512 bytes more of each of the next rows to the L2 cache, and reads the first bias; waits before it reads x;
//   every thread waits.
// measured: H200, chains of layers with different weights in graph-pdl, median of 25 replays, us a layer [TB/s]; plain 16-byte loads read at
//   4.55 TB/s in the same run. Batch 1 / 8, the best of the shapes under launch:
//     2048 x 2048 3.01 / 4.13   3072 x 2048 4.07 / 5.59   8192 x 2048 8.79 [3.82] / 9.27   16384 x 2048 16.6 [4.04] / 17.1
//     2048 x 8192 10.9 [3.09] / 11.3   4096 x 4096 9.16 [3.66] / 9.70   14336 x 4096 28.7 [4.10] / 29.4   4096 x 14336 28.7 [4.09] / 29.0
//     norm and U, batch 8: 14336 x 4096 57.2 [4.11]
//   At batch 1 linear_bf16 is faster but for 3072 x 2048. Predicted was 8.3 at 4096 x 4096: the ring's few large slots, and x that comes by bulk copies
//   behind W's, cost a microsecond at a hand-off.
//   512 bytes of each row to the L2 cache before the wait, at 4.53 to 4.63 TB/s, batch 8, without / with: 4096 x 4096 9.93 / 9.45
//     14336 x 4096 31.6 / 31.2   4096 x 14336 32.2 / 32.1; 256 bytes 9.54, 31.3, 32.1; 1024 bytes 9.48, 31.2, 32.1; 2048 bytes 9.89, 32.0, 31.9.
//   Rejected: one warp that issues all bulk copies (it takes some 80 clocks for each, 2.5 TB/s with one block an SM); plain
//   asynchronous copies of 16 bytes, each lane its own and without barriers, 3.2 to 3.8 TB/s and half of that with 8-bit weights: 64 bytes
//   of a row at a time are too little.
//   Rejected later, H200, 4.53 TB/s of plain loads, batch 8 unless said otherwise, best shapes of each:
//     the trigger when a block has asked for its last slot, not at the start: 12.5 for 11.2 at 4096 x 4096, 39.5 for 37.8 at 14336 x 4096
//     (both grid 132, 114688)
//     tiles dealt out in turns, so that all blocks read one part of W at a time (which gains 2 to 3 % in matvec_bf16): 32.6 for 31.7 at
//     14336 x 4096, 10.0 as before at 4096 x 4096
//     slots of 2048 bytes of 16 rows, of 4096 bytes of 8 rows: without hand-offs (65536 x 4096, batch 1) 3.94 and 4.17 TB/s in place of 3.66;
//     with x brought by each warp for itself, sums of four tiles in registers, no block-wide barrier before the end of four tiles: 30.3 for
//     31.5 at 14336 x 4096, but 10.4 for 10.0 at 4096 x 4096, 4.6 for 4.3 at 2048 x 2048.

m4_define(<!KERNEL!>, <!skinny_bf16!>)m4_dnl
m4_define(<!TARGET!>, <!sm_90!>)m4_dnl
m4_define(<!WEIGHT!>, <!bf16!>)m4_dnl
m4_define(<!BATCHED!>, <!$1!>)m4_dnl
m4_define(<!CHUNK!>, <!512!>)m4_dnl
m4_define(<!AHEAD!>, <!512!>)m4_dnl
m4_include(<!skinny.inc!>)m4_dnl

// kernel: linear_bf16
// purpose: a linear layer at batch 1 with what stands around it in a decoder: RMS norm before it, bias, silu and product with a
//   second layer, residual after it; bf16, f32 accumulation; bound by reading W once.
// parameters:
//   weight    u64 address of W, rows * columns bf16, row-major, constant, read before the wait
//   up        u64 address of U, as W, constant, read before the wait; 0: none, else y = silu(W x) * (U x)
//   x         u64 address of columns bf16, read after the wait
//   norm      u64 address of columns bf16, constant, read before the wait; 0: none, else x is RMS-normalized with these weights
//             first: x * norm / sqrt(mean of x squared + epsilon)
//   bias      u64 address of rows bf16, constant, read before the wait; 0: none, else added to W x, before silu
//   residual  u64 address of rows bf16, read after the wait; 0: none, else added last
//   y         u64 address of rows bf16, written after the wait
//   rows      u32 rows of W, at least 1
//   columns   u32 columns of W, a multiple of 8, at least 8
//   epsilon   f32, of the norm; not used without it
// launch: grid any, both one-dimensional; shared dynamic. Block 288 or 544, without up: the columns are split over 8 or 16 warps, tensor cores
//   multiply, one warp fetches; shared memory holds 2816 bytes, x, and two to eight slots of eight rows of up to 4096 bytes. Block a multiple of
//   128 up to 1024: the rows are dealt out to the warps; it holds x (2 * columns bytes),
//   4 bytes a thread and 512 for the sum of squares, 64 bytes of barriers a worker (a warp that has a row) and a ring of two to
//   eight slots a worker, of 4096 bytes or, where two of those do not fit, of 2048, 1024 or 512.
//   Best on an H200: without up, where a multiprocessor's share is two or three slots of eight rows of 2048 columns, and 8 MB in all at least,
//   grid 132, block 288, shared 114688; another layer below 14 MB: grid 132, block 512, shared 114688, so that the dependent fits beside it;
//   with up and columns up to 2048: grid 132, block 512, shared 180224; columns up to 4096: grid 264, block 256, shared 114688; longer rows:
//   grid 132, block 288 without up where they fit, else 512, all the shared memory there is.
// requires:
//   weight != 0 && x != 0 && y != 0
//   rows >= 1
//   rows < 2^30
//   columns >= 8
//   columns % 8 == 0
//   weight % 16 == 0
//   up % 16 == 0
//   x % 16 == 0
//   norm % 16 == 0
//   bias % 2 == 0
//   residual % 2 == 0
//   y % 2 == 0
//   block.x % 128 == 0 || block.x == 288 || block.x == 544
//   block.x % 128 == 0 || up == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   shared >= 2 * columns + 38 * block.x + block.x % 128 * 1783 + 512
//   apart(y, weight, up, x, norm, bias)
//   y == residual || apart(y, residual)
// extent:
//   weight: bf16[rows * columns]
//   up: bf16[rows * columns]
//   x: bf16[columns]
//   norm: bf16[columns]
//   bias: bf16[rows]
//   residual: bf16[rows]
//   y: bf16[rows]
// constraints: no kernel that may still run writes weight, up, norm or bias. x times norm is rounded to bf16 and must be in its
//   range; the squares of x are summed in f32. A row's sum is taken in one fixed order: the result's bits depend neither on
//   grid nor on shared memory, nor, without norm, on the block, but for blocks of 288 and 544, which have bits of their own. NaN gives NaN, a sum beyond f32 or bf16 is infinite.
// constant: weight, up, norm, bias
// pdl: triggers at its start; before the wait it fills its ring with W (and U) by bulk copies, all slots but one where there are
//   three or more (with split columns two at a time), and reads its part of norm and bias; waits before it reads x; every thread waits.
// measured: H200, chains of layers with different weights in graph-pdl, median of 11 replays, us a layer [TB/s]; plain 16-byte loads read at
//   4.51 TB/s in the same run. Shapes as under launch; no operand / norm / residual / norm and residual; in brackets the version before:
//     2048 x 2048 2.72 / 2.83 / 2.71 / 2.83 (2.99 / 2.97 / 3.24 / 3.30)   3072 x 2048 3.37 / 3.50 / 3.50 / 3.55 (4.44 / 4.51 / 4.56 / 4.66)
//     8192 x 2048 8.15 [4.12] / 8.30 / 8.32 / 8.49 (8.26 / 8.32 / 9.01 / 9.09)   4096 x 4096 7.99 [4.20] / 8.24 / 8.23 / 8.37 (8.18 / 8.33 / 8.58 / 8.63)
//     2048 x 8192 8.51 [3.94] / 8.77 / 8.60 / 8.91 (8.55 / 8.75 / 8.78 / 9.04)   14336 x 4096 27.1 [4.33] / 27.2 / 27.2 / 27.3 (27.6 / 27.6 / 27.4 / 27.5)
//     4096 x 14336 27.3 [4.30] / 27.4 / 27.6 / 27.6 (27.8 / 28.0 / 27.9 / 28.0)
//   Predicted was the time of matvec_bf16, whose head comment has the history, and 0.1 us for the norm.
//   Bias and residual: a load at the end of each row for the one after, as in the version before, 9.32 at 8192 x 2048 where those of 32 rows, read
//   at once by the lanes, take 8.32. 56 registers, so that two blocks of 544 fit a multiprocessor: 60 bytes are spilled, 8192 x 2048 9.60.

m4_define(<!KERNEL!>, <!linear_bf16!>)m4_dnl
m4_define(<!ELEMENT!>, <!bf16!>)m4_dnl
m4_define(<!FUSED!>, <!$1!>)m4_dnl
m4_define(<!PLAIN!>, <!!>)m4_dnl
m4_include(<!matvec.inc!>)m4_dnl

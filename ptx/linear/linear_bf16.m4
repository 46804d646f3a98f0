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
//   Best on an H200: rows * columns below 6.5 million: grid 132, block 512, shared 114688, so that the dependent fits beside it; columns up
//   to 4096: grid 264, block 256, shared 114688; longer rows: grid 132, block 512, all the shared memory there is.
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
//   block.x % 128 == 0 || shared >= 2 * columns + 68480
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   shared >= 2 * columns + 38 * block.x + 512
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
//   grid nor on shared memory, nor, without norm, on the block. NaN gives NaN, a sum beyond f32 or bf16 is infinite.
// constant: weight, up, norm, bias
// pdl: triggers at its start; before the wait it fills its ring with W (and U) by bulk copies, all slots but one where there are
//   three or more, and reads its part of norm and the first bias; waits before it reads x; every thread waits.
// measured: H200, chains of layers with different weights in graph-pdl, median of 25 replays, us a layer [TB/s]; plain 16-byte loads read at
//   4.55 TB/s in the same run, matvec_bf16 in brackets beside. Shapes as under launch.
//     no operand:  2048 x 2048 2.95 (2.92)   3072 x 2048 4.40 (4.28)   8192 x 2048 8.19 [4.10] (8.02)   16384 x 2048 16.1 [4.17] (16.0)
//       2048 x 8192 8.52 [3.94] (8.48)   4096 x 4096 8.13 [4.13] (8.00)   14336 x 4096 27.8 [4.23] (27.6)   4096 x 14336 28.1 [4.18] (28.0)
//     norm:  2048 x 2048 2.91   3072 x 2048 4.45   8192 x 2048 8.19   4096 x 4096 8.31   14336 x 4096 27.9
//     norm and U:  8192 x 2048 15.7 [4.27]   14336 x 4096 54.0 [4.35], at 4.65 TB/s of plain loads
//   Predicted was the time of matvec_bf16 and 0.1 us for the norm: the sum of squares rides on the first row's shuffles.
//     residual:  2048 x 2048 3.25   3072 x 2048 4.47   8192 x 2048 8.89   4096 x 4096 8.35   4096 x 14336 28.4. That costs up to 0.7 us
//   where a warp has few rows; why is not known. A register of 32 bits in place of 16 for what was loaded changed nothing.

m4_define(<!KERNEL!>, <!linear_bf16!>)m4_dnl
m4_define(<!ELEMENT!>, <!bf16!>)m4_dnl
m4_define(<!FUSED!>, <!$1!>)m4_dnl
m4_define(<!PLAIN!>, <!!>)m4_dnl
m4_include(<!matvec.inc!>)m4_dnl

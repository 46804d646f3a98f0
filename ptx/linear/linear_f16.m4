// kernel: linear_f16
// purpose: a linear layer at batch 1 with what stands around it in a decoder: RMS norm before it, bias, silu and product with a
//   second layer, residual after it; f16, f32 accumulation; bound by reading W once.
// parameters:
//   weight    u64 address of W, rows * columns f16, row-major, constant, read before the wait
//   up        u64 address of U, as W, constant, read before the wait; 0: none, else y = silu(W x) * (U x)
//   x         u64 address of columns f16, read after the wait
//   norm      u64 address of columns f16, constant, read before the wait; 0: none, else x is RMS-normalized with these weights
//             first: x * norm / sqrt(mean of x squared + epsilon)
//   bias      u64 address of rows f16, constant, read before the wait; 0: none, else added to W x, before silu
//   residual  u64 address of rows f16, read after the wait; 0: none, else added last
//   y         u64 address of rows f16, written after the wait
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
//   weight: f16[rows * columns]
//   up: f16[rows * columns]
//   x: f16[columns]
//   norm: f16[columns]
//   bias: f16[rows]
//   residual: f16[rows]
//   y: f16[rows]
// constraints: no kernel that may still run writes weight, up, norm or bias. x times norm is rounded to f16 and must be in its
//   range; the squares of x are summed in f32. A row's sum is taken in one fixed order: the result's bits depend neither on
//   grid nor on shared memory, nor, without norm, on the block, but for blocks of 288 and 544, which have bits of their own. NaN gives NaN, a sum beyond f32 or f16 is infinite.
// constant: weight, up, norm, bias
// pdl: triggers at its start; before the wait it fills its ring with W (and U) by bulk copies, all slots but one where there are
//   three or more (with split columns two at a time), and reads its part of norm and bias; waits before it reads x; every thread waits.
// measured: the version before took the time of linear_bf16 within 1 %; this one was not measured by itself.

m4_define(<!KERNEL!>, <!linear_f16!>)m4_dnl
m4_define(<!ELEMENT!>, <!f16!>)m4_dnl
m4_define(<!FUSED!>, <!$1!>)m4_dnl
m4_define(<!PLAIN!>, <!!>)m4_dnl
m4_include(<!matvec.inc!>)m4_dnl

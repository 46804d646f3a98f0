// kernel: skinny_fp8
// purpose: a linear layer for up to eight rows of x with what stands around it in a decoder: RMS norm before it, bias, silu and product with a
//   second layer, residual after it; weights of 8-bit floats with a scale a row, x and y of bf16, tensor cores, f32 accumulation; reads W once.
// parameters:
//   weight    u64 address of W, rows * columns e4m3, row-major, constant, read before the wait
//   up        u64 address of U, as W, constant, read before the wait; 0: none, else y = silu(W x) * (U x)
//   scale     u64 address of rows f32: row i of W is multiplied by scale[i]; constant, read before the wait
//   up_scale  u64 likewise of U; 0 where there is no U
//   x         u64 address of batch * columns bf16, read after the wait
//   norm      u64 address of columns bf16, constant, read before the wait; 0: none, else each row of x is RMS-normalized with these
//             weights first: x * norm / sqrt(mean of x squared + epsilon)
//   bias      u64 address of rows bf16, constant, read before the wait; 0: none, else added to W x, before silu
//   residual  u64 address of batch * rows bf16, read after the wait; 0: none, else added last
//   y         u64 address of batch * rows bf16, written after the wait
//   rows      u32 rows of W, at least 1
//   columns   u32 columns of W, a multiple of 16
//   batch     u32 rows of x, of residual and of y, 1 to 8
//   epsilon   f32, of the norm; not used without it
// launch: grid any, one-dimensional, block 384: eight warps multiply, four fetch. Shared dynamic: 512 bytes, 2304 for each row of x, and a
//   ring of two to sixteen slots. A slot holds 1024 bytes of each of up to 32 rows of W, and the same elements of x and norm.
//   Best on an H200: grid 132 with 114688 bytes for small layers (rows * columns below 8 million, of 8 bits below 30 million); grid 264 with
//   114688 for large ones; grid 132 with all the shared memory there is for columns above 4096 and for batches above 2.
// requires:
//   weight != 0 && x != 0 && y != 0
//   rows >= 1
//   rows < 2^30
//   columns >= 16
//   columns < 2^29
//   columns % 16 == 0
//   batch >= 1
//   batch <= 8
//   weight % 16 == 0
//   up % 16 == 0
//   scale != 0
//   scale % 4 == 0
//   up_scale % 4 == 0
//   up == 0 || up_scale != 0
//   x % 16 == 0
//   norm % 16 == 0
//   bias % 2 == 0
//   residual % 2 == 0
//   y % 2 == 0
//   block.x == 384
//   grid.y == 1 && grid.z == 1
//   shared >= 39456 + 6432 * batch
//   apart(y, weight, up, scale, up_scale, x, norm, bias)
//   y == residual || apart(y, residual)
// extent:
//   weight: e4m3[rows * columns]
//   up: e4m3[rows * columns]
//   scale: f32[rows]
//   up_scale: f32[rows]
//   x: bf16[batch * columns]
//   norm: bf16[columns]
//   bias: bf16[rows]
//   residual: bf16[batch * rows]
//   y: bf16[batch * rows]
// constraints: no kernel that may still run writes weight, up, scale, up_scale, norm or bias. x times norm is rounded to bf16 and must be in its
//   range; the squares of x are summed in f32. A row's sum is taken in one fixed order: the result's bits do not depend on grid, batch
//   or shared memory. W and U hold no NaN, |x| (and |x * norm|) is below 2^67: e4m3 becomes bf16 by its bits, times 2^-120, and x is
//   multiplied by 2^60. NaN gives NaN, a sum beyond f32 or bf16 is infinite.
// constant: weight, up, scale, up_scale, norm, bias
// pdl: triggers at its start; before the wait it fills its ring with W (and U, and norm) by bulk copies, all slots but one where there
//   are three or more, brings up to 512 bytes more of each of the next rows to the L2 cache, and reads the first bias and scales; waits before
//   it reads x; every thread waits.
// measured: H200, as skinny_bf16, at 4.55 TB/s of plain loads. Batch 8:
//     2048 x 2048 3.78   3072 x 2048 4.55   8192 x 2048 8.57 [1.96]   16384 x 2048 13.5 [2.48]   2048 x 8192 9.34 [1.80]
//     4096 x 4096 7.87 [2.13]   14336 x 4096 19.7 [2.98]   4096 x 14336 18.4 [3.20]
//   0.65 of the time of skinny_bf16 at the large ones. What bounds it at batch 8 is x: 2 bytes an element for each row of the batch
//   against 1 of W, so that a slot is half x.

m4_define(<!KERNEL!>, <!skinny_fp8!>)m4_dnl
m4_define(<!TARGET!>, <!sm_90!>)m4_dnl
m4_define(<!WEIGHT!>, <!e4m3!>)m4_dnl
m4_define(<!BATCHED!>, <!$1!>)m4_dnl
m4_define(<!CHUNK!>, <!1024!>)m4_dnl
m4_define(<!AHEAD!>, <!512!>)m4_dnl
m4_include(<!skinny.inc!>)m4_dnl

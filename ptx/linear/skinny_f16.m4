// kernel: skinny_f16
// purpose: a linear layer for up to eight rows of x with what stands around it in a decoder: RMS norm before it, bias, silu and product with a
//   second layer, residual after it; f16, tensor cores, f32 accumulation; reads W once.
// parameters:
//   weight    u64 address of W, rows * columns f16, row-major, constant, read before the wait
//   up        u64 address of U, as W, constant, read before the wait; 0: none, else y = silu(W x) * (U x)
//   x         u64 address of batch * columns f16, read after the wait
//   norm      u64 address of columns f16, constant, read before the wait; 0: none, else each row of x is RMS-normalized with these
//             weights first: x * norm / sqrt(mean of x squared + epsilon)
//   bias      u64 address of rows f16, constant, read before the wait; 0: none, else added to W x, before silu
//   residual  u64 address of batch * rows f16, read after the wait; 0: none, else added last
//   y         u64 address of batch * rows f16, written after the wait
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
//   weight: f16[rows * columns]
//   up: f16[rows * columns]
//   x: f16[batch * columns]
//   norm: f16[columns]
//   bias: f16[rows]
//   residual: f16[batch * rows]
//   y: f16[batch * rows]
// constraints: no kernel that may still run writes weight, up, norm or bias. x times norm is rounded to f16 and must be in its
//   range; the squares of x are summed in f32. A row's sum is taken in one fixed order: the result's bits do not depend on grid, batch
//   or shared memory. NaN gives NaN, a sum beyond f32 or f16 is infinite.
// constant: weight, up, norm, bias
// pdl: triggers at its start; before the wait it fills its ring with W (and U, and norm) by bulk copies, all slots but one where there
//   are three or more, brings up to 512 bytes more of each of the next rows to the L2 cache, and reads the first bias; waits before it reads x;
//   every thread waits.
// measured: as skinny_bf16: batch 4, 4096 x 4096 10.0 us with grid 264 (skinny_bf16's head comment says how).

m4_define(<!KERNEL!>, <!skinny_f16!>)m4_dnl
m4_define(<!TARGET!>, <!sm_90!>)m4_dnl
m4_define(<!WEIGHT!>, <!f16!>)m4_dnl
m4_define(<!BATCHED!>, <!$1!>)m4_dnl
m4_define(<!CHUNK!>, <!512!>)m4_dnl
m4_define(<!AHEAD!>, <!512!>)m4_dnl
m4_include(<!skinny.inc!>)m4_dnl

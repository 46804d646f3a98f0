// kernel: rms_norm_residual_bf16
// purpose: sum = x + residual, out = sum / sqrt(mean(sum * sum) + epsilon) * weight, for each row of bf16 matrices.
// parameters:
//   x         u64 address of grid.x * columns bf16, read after the wait
//   residual  u64 address of grid.x * columns bf16, read after the wait
//   weight    u64 address of columns bf16, constant, read before the wait too
//   sum       u64 address of grid.x * columns bf16, written after the wait: x + residual, rounded to bf16
//   out       u64 address of grid.x * columns bf16, written after the wait
//   columns   u32 elements of a row, at least 1
//   epsilon   f32 added to the mean square
// launch: grid one block a row, block any multiple of 32 up to 1024, both one-dimensional (columns / 8 threads for few rows,
//   columns / 32 for many, columns / 16 with a residual); shared 128 bytes, static
// requires:
//   columns >= 1
//   x % 2 == 0
//   residual % 2 == 0
//   weight % 2 == 0
//   sum % 2 == 0
//   out % 2 == 0
//   block.x % 32 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   sum == x || apart(sum, x) -- sum may be x itself, but not overlap it otherwise
//   sum == residual || apart(sum, residual) -- sum may be residual itself, but not overlap it otherwise
//   apart(sum, weight)
//   out == x || apart(out, x) -- out may be x itself, but not overlap it otherwise
//   out == residual || apart(out, residual) -- out may be residual itself, but not overlap it otherwise
//   apart(out, sum, weight)
// extent:
//   x: bf16[grid.x * columns]
//   residual: bf16[grid.x * columns]
//   weight: bf16[columns]
//   sum: bf16[grid.x * columns]
//   out: bf16[grid.x * columns]
// constraints: rows move in 16-byte accesses where columns is a multiple of 8 and the addresses are multiples of 16, else
//   element by element. Arithmetic is f32 with subnormals: a row whose sum of squares leaves f32 gives zeros, and NaN where
//   it is infinite; a row with a NaN gives NaN. The result has the bits of add_bf16 followed by rms_norm with the same block.
//   The order of the sums depends on the block's size.
// constant: weight
// pdl: triggers at its start; before the wait it reads the first of its weights, so no kernel of the chain may write weight;
//   waits before it reads x or residual.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. One row of
//   2048 by 256 threads 1.57 / 1.13, of 4096 by 512 1.79 / 1.32, of 8192 by 1024 2.55 / 1.93: 0.1 to 0.25 more than rms_norm
//   alone, where add_bf16 by itself takes 0.77. 8 rows of 4096 by 512 1.85 / 1.42; 8192 rows of 4096 by 256 67.1 / 66.3, 4.05
//   TB/s read and written, by 128 70.1 / 69.7, by 512 76.2 / 75.9.
m4_define(<!NAME!>, <!rms_norm_residual_bf16!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_define(<!RESIDUAL!>)m4_dnl
m4_include(<!norm.inc!>)m4_dnl

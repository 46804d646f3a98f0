// kernel: layer_norm_residual_bf16
// purpose: sum = x + residual, out = (sum - mean(sum)) / sqrt(variance(sum) + epsilon) * weight + bias, for each row of bf16
//   matrices.
// parameters:
//   x         u64 address of grid.x * columns bf16, read after the wait
//   residual  u64 address of grid.x * columns bf16, read after the wait
//   weight    u64 address of columns bf16, constant, read before the wait too
//   bias      u64 address of columns bf16, constant, read before the wait too; 0: none
//   sum       u64 address of grid.x * columns bf16, written after the wait: x + residual, rounded to bf16
//   out       u64 address of grid.x * columns bf16, written after the wait
//   columns   u32 elements of a row, at least 1
//   epsilon   f32 added to the variance
// launch: grid one block a row, block any multiple of 32 up to 1024, both one-dimensional (columns / 8 threads for few rows,
//   columns / 32 for many, columns / 16 with a residual); shared 256 bytes, static
// requires:
//   columns >= 1
//   x % 2 == 0
//   residual % 2 == 0
//   weight % 2 == 0
//   bias % 2 == 0
//   sum % 2 == 0
//   out % 2 == 0
//   block.x % 32 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   sum == x || apart(sum, x) -- sum may be x itself, but not overlap it otherwise
//   sum == residual || apart(sum, residual) -- sum may be residual itself, but not overlap it otherwise
//   apart(sum, weight, bias)
//   out == x || apart(out, x) -- out may be x itself, but not overlap it otherwise
//   out == residual || apart(out, residual) -- out may be residual itself, but not overlap it otherwise
//   apart(out, sum, weight, bias)
// extent:
//   x: bf16[grid.x * columns]
//   residual: bf16[grid.x * columns]
//   weight: bf16[columns]
//   bias: bf16[columns]
//   sum: bf16[grid.x * columns]
//   out: bf16[grid.x * columns]
// constraints: rows move in 16-byte accesses where columns is a multiple of 8 and the addresses are multiples of 16, else
//   element by element. Arithmetic is f32 with subnormals, the variance is that of the row (divided by columns) and is summed
//   around the mean. A row whose sum or sum of squared deviations leaves f32 gives NaN or its bias, one with a NaN or an
//   infinity gives NaN. The result has the bits of add_bf16 followed by layer_norm_bf16 with the same block. The order of the
//   sums depends on the block's size.
// constant: weight, bias
// pdl: triggers at its start; before the wait it reads the first of its weights and biases, so no kernel of the chain may
//   write them; waits before it reads x or residual.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. One row of
//   2048 by 256 threads 1.92 / 1.45, of 4096 by 512 2.22 / 1.68, of 8192 by 1024 3.30 / 2.60; 8 rows of 4096 by 512 2.30 /
//   1.77; 8192 rows of 4096 by 256 71.6 / 70.9, 3.79 TB/s read and written, by 128 72.0 / 71.2, by 512 87.4 / 87.3.
m4_define(<!NAME!>, <!layer_norm_residual_bf16!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_define(<!LAYER!>)m4_dnl
m4_define(<!RESIDUAL!>)m4_dnl
m4_include(<!norm.inc!>)m4_dnl

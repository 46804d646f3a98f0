// kernel: rms_norm_residual_f16
// purpose: sum = x + residual, out = sum / sqrt(mean(sum * sum) + epsilon) * weight, for each row of f16 matrices.
// parameters:
//   x         u64 address of grid.x * columns f16, read after the wait
//   residual  u64 address of grid.x * columns f16, read after the wait
//   weight    u64 address of columns f16, constant, read before the wait too
//   sum       u64 address of grid.x * columns f16, written after the wait: x + residual, rounded to f16
//   out       u64 address of grid.x * columns f16, written after the wait
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
//   x: f16[grid.x * columns]
//   residual: f16[grid.x * columns]
//   weight: f16[columns]
//   sum: f16[grid.x * columns]
//   out: f16[grid.x * columns]
// constraints: rows move in 16-byte accesses where columns is a multiple of 8 and the addresses are multiples of 16, else
//   element by element. Arithmetic is f32 with subnormals: a row whose sum of squares leaves f32 gives zeros, and NaN where
//   it is infinite; a row with a NaN gives NaN. The result has the bits of add_f16 followed by rms_norm_f16 with the same
//   block. The order of the sums depends on the block's size.
// constant: weight
// pdl: triggers at its start; before the wait it reads the first of its weights, so no kernel of the chain may write weight;
//   waits before it reads x or residual.
// measured: not by itself; bytes and body are those of rms_norm_residual_bf16
m4_define(<!NAME!>, <!rms_norm_residual_f16!>)m4_dnl
m4_define(<!TYPE!>, <!f16!>)m4_dnl
m4_define(<!RESIDUAL!>)m4_dnl
m4_include(<!norm.inc!>)m4_dnl

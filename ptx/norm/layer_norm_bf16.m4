// kernel: layer_norm_bf16
// purpose: out = (x - mean(x)) / sqrt(variance(x) + epsilon) * weight + bias, for each row of a bf16 matrix.
// parameters:
//   x        u64 address of grid.x * columns bf16, read after the wait
//   weight   u64 address of columns bf16, constant, read before the wait too
//   bias     u64 address of columns bf16, constant, read before the wait too; 0: none
//   out      u64 address of grid.x * columns bf16, written after the wait
//   columns  u32 elements of a row, at least 1
//   epsilon  f32 added to the variance
// launch: grid one block a row, block any multiple of 32 up to 1024, both one-dimensional (columns / 8 threads for few rows,
//   columns / 32 for many); shared 256 bytes, static
// requires:
//   columns >= 1
//   x % 2 == 0
//   weight % 2 == 0
//   bias % 2 == 0
//   out % 2 == 0
//   block.x % 32 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   out == x || apart(out, x) -- out may be x itself, but not overlap it otherwise
//   apart(out, weight, bias)
// extent:
//   x: bf16[grid.x * columns]
//   weight: bf16[columns]
//   bias: bf16[columns]
//   out: bf16[grid.x * columns]
// constraints: rows move in 16-byte accesses where columns is a multiple of 8 and the addresses are multiples of 16, else
//   element by element. Arithmetic is f32 with subnormals, the variance is that of the row (divided by columns) and is summed
//   around the mean. A row whose sum or sum of squared deviations leaves f32 gives NaN or its bias, one with a NaN or an
//   infinity gives NaN. The order of the sums depends on the block's size.
// constant: weight, bias
// pdl: triggers at its start; before the wait it reads the first of its weights and biases, so no kernel of the chain may
//   write them; waits before it reads x.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. One row of
//   2048 by 256 threads 1.78 / 1.33, of 4096 by 512 2.02 / 1.53, of 8192 by 1024 2.96 / 2.33: the second sum over the block
//   costs 0.3 to 0.6 over rms_norm (predicted 0.15 to 0.2). 8 rows of 4096 by 512 2.08 / 1.62; 8192 rows of 4096 by 128 39.3
//   / 38.4, 3.49 TB/s read and written, by 256 51.1 / 50.5, by 512 72.8 / 72.4. Without asking for later chunks ahead 43.9 /
//   43.1 by 128. Rejected unmeasured: one walk with sums of x and x * x, which cancel where the mean is far from 0.
m4_define(<!NAME!>, <!layer_norm_bf16!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_define(<!LAYER!>)m4_dnl
m4_include(<!norm.inc!>)m4_dnl

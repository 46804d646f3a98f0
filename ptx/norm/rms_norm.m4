// kernel: rms_norm
// purpose: out = x / sqrt(mean(x * x) + epsilon) * weight, for each row of a bf16 matrix.
// parameters:
//   x        u64 address of grid.x * columns bf16, read after the wait
//   weight   u64 address of columns bf16, constant, read before the wait too
//   out      u64 address of grid.x * columns bf16, written after the wait
//   columns  u32 elements of a row, at least 1
//   epsilon  f32 added to the mean square
// launch: grid one block a row, block any multiple of 32 up to 1024, both one-dimensional (columns / 8 threads for few rows,
//   columns / 32 for many); shared 128 bytes, static
// requires:
//   columns >= 1
//   x % 2 == 0
//   weight % 2 == 0
//   out % 2 == 0
//   block.x % 32 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   out == x || apart(out, x) -- out may be x itself, but not overlap it otherwise
//   apart(out, weight)
// extent:
//   x: bf16[grid.x * columns]
//   weight: bf16[columns]
//   out: bf16[grid.x * columns]
// constraints: rows move in 16-byte accesses where columns is a multiple of 8 and the addresses are multiples of 16, else
//   element by element. Arithmetic is f32 with subnormals: a row whose sum of squares leaves f32 gives zeros, and NaN where
//   it is infinite; a row with a NaN gives NaN. The order of the sums depends on the block's size.
// constant: weight
// pdl: triggers at its start; before the wait it reads the first of its weights, so no kernel of the chain may write weight;
//   waits before it reads x.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. One row of
//   2048 by 256 threads 1.47 / 1.02, of 4096 by 512 1.64 / 1.17 (by 256 2.09 / 1.67), of 8192 by 1024 2.25 / 1.68; 8 rows of
//   4096 by 512 1.68 / 1.27. 8192 rows of 4096 by 128 threads 35.6 / 34.2, 3.92 TB/s read and written, by 256 38.5 / 37.9, by
//   512 60.3 / 59.8: what each thread does once seems to bound it. 4096 rows of 8192 by 256 36.8 / 35.5, 8192 of 2048 by 64
//   18.7 / 18.1 (by 256 24.4 / 24.1). Without asking for later chunks ahead, 8192 rows of 4096 by 128 37.8 / 37.0. The body
//   before this one, for bf16 alone, took 36.8 by 128 and 38.7 by 256, and the same for single rows.
m4_define(<!NAME!>, <!rms_norm!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_include(<!norm.inc!>)m4_dnl

// kernel: argmax_bf16
// purpose: out = the index of the largest element, for each row of a bf16 matrix.
// parameters:
//   x        u64 address of grid.y * columns bf16, read after the wait
//   out      u64 address of grid.y u32, written after the wait: the index of the largest element of each row
//   columns  u32 elements of a row, at least 1
// launch: grid (splits, rows) in clusters of (splits, 1, 1), with 1 to 16 splits: so many blocks share a row; block any
//   multiple of 32 up to 1024; shared 384 bytes, static. 16 splits of 512 threads suit a few rows of 128256, fewer splits
//   many rows
// requires:
//   x % 2 == 0
//   out % 4 == 0
//   columns >= 1
//   columns <= 2^31
//   cluster.x == grid.x
//   cluster.y == 1 && cluster.z == 1
//   grid.z == 1
//   block.y == 1 && block.z == 1
//   block.x % 32 == 0
//   apart(out, x)
// extent:
//   x: bf16[grid.y * columns]
//   out: u32[grid.y]
// constraints: rows move in 16-byte accesses where columns is a multiple of 8 and x of 16, else element by element. Of equal
//   elements the lowest index wins; -0 and +0 are equal; NaN is above everything. The result does not depend on the launch.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. One row of
//   128256 by 16 blocks of 512 threads 2.50 / 2.10, of 1024 2.56 / 2.15; by 8 of 1024 2.97 / 2.49, by 4 3.83 / 3.39, by 2
//   5.58 / 5.12. 8 rows by 16 of 1024 3.56 / 3.10, by 8 3.56 / 3.56; 64 rows by 2 of 1024 8.35 / 8.86, by 8 of 512 9.55 /
//   9.11, 1.8 TB/s, from L2. Predicted: 2 for one row.
m4_define(<!NAME!>, <!argmax_bf16!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_include(<!argmax.inc!>)m4_dnl

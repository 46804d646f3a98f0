// kernel: argmax_f32
// purpose: out = the index of the largest element, for each row of a f32 matrix.
// parameters:
//   x        u64 address of grid.y * columns f32, read after the wait
//   out      u64 address of grid.y u32, written after the wait: the index of the largest element of each row
//   columns  u32 elements of a row, at least 1
// launch: grid (splits, rows) in clusters of (splits, 1, 1), with 1 to 16 splits: so many blocks share a row; block any
//   multiple of 32 up to 1024; shared 384 bytes, static. 16 splits of 512 threads suit a few rows of 128256, fewer splits
//   many rows
// requires:
//   x % 4 == 0
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
//   x: f32[grid.y * columns]
//   out: u32[grid.y]
// constraints: rows move in 16-byte accesses where columns is a multiple of 8 and x of 16, else element by element. Of equal
//   elements the lowest index wins; -0 and +0 are equal; NaN is above everything. The result does not depend on the launch.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. One row of
//   128256 by 16 blocks of 512 threads 2.64 / 2.18, of 1024 2.75 / 2.31; by 8 of 1024 2.92 / 2.49, by 4 3.75 / 3.35, by 2
//   5.45 / 4.94. 8 rows by 16 of 1024 4.22 / 3.59, by 8 3.89 / 3.83; 64 rows by 2 of 1024 10.9 / 10.6, 3.1 TB/s.
m4_define(<!NAME!>, <!argmax_f32!>)m4_dnl
m4_define(<!TYPE!>, <!f32!>)m4_dnl
m4_include(<!argmax.inc!>)m4_dnl

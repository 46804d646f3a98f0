// kernel: argmax_f32
// purpose: out = the index of the largest element, for each row of a f32 matrix.
// parameters:
//   x        u64 address of grid.y * columns f32, read after the wait
//   out      u64 address of grid.y u32, written after the wait: the index of the largest element of each row
//   columns  u32 elements of a row, at least 1
// launch: grid (splits, rows) in clusters of (splits, 1, 1), with 1 to 16 splits: so many blocks share a row; block any
//   multiple of 32 up to 1024; shared 384 bytes, static. A row of 128256 suits 16 splits of 1024 threads; many rows, fewer
//   splits
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
//   x: grid.y * columns * 4
//   out: grid.y * 4
// constraints: rows move in 16-byte accesses where columns is a multiple of 8 and x of 16, else element by element. Of equal
//   elements the lowest index wins; -0 and +0 are equal; NaN is above everything. The result does not depend on the launch.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: not yet
m4_define(<!NAME!>, <!argmax_f32!>)m4_dnl
m4_define(<!TYPE!>, <!f32!>)m4_dnl
m4_include(<!argmax.inc!>)m4_dnl

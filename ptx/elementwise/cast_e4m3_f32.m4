// kernel: cast_e4m3_f32
// purpose: out = x for count elements, from e4m3 to f32.
// parameters:
//   x      u64 address of count e4m3, read after the wait
//   out    u64 address of count f32, written after the wait
//   count  u32 number of elements; 0 is allowed
// launch: grid any, block any, both one-dimensional; shared none. Each thread takes four elements at a time and strides by
//   the whole grid; 256 threads a block and one vector a thread (count / 1024 blocks) suit most sizes.
// requires:
//   out % 4 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   apart(out, x)
// extent:
//   x: e4m3[count]
//   out: f32[count]
// constraints: where all arrays reach a boundary of a vector (4 bytes in x, 16 bytes in out) at the same element, the bulk
//   moves four elements at a time, else one by one. Every value of e4m3 is one of f32.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. In blocks of
//   256, 4 elements a thread: 4096 elements 0.99 / 0.64; 2^20 2.41 / 1.86, from L2; 2^25 43.3 / 42.8, 3.92 TB/s read and
//   written.
m4_define(<!NAME!>, <!cast_e4m3_f32!>)m4_dnl
m4_define(<!FIRST!>, <!x!>)m4_dnl
m4_define(<!FIRST_TYPE!>, <!e4m3!>)m4_dnl
m4_define(<!OUT_TYPE!>, <!f32!>)m4_dnl
m4_define(<!NARROW!>, <!first!>)m4_dnl
m4_define(<!NARROW_TYPE!>, <!e4m3!>)m4_dnl
m4_define(<!WIDTH!>, 4)m4_dnl
m4_define(<!ELEMENT!>, <!mov.f32 %o$1, %a$1;!>)m4_dnl
m4_include(<!map.inc!>)m4_dnl

// kernel: scale_f32
// purpose: out = x * factor for count f32 elements.
// parameters:
//   x       u64 address of count f32, read after the wait
//   out     u64 address of count f32, written after the wait
//   count   u32 number of elements; 0 is allowed
//   factor  f32
// launch: grid any, block any, both one-dimensional; shared none. Each thread takes four elements at a time and strides by
//   the whole grid; 256 threads a block and one vector a thread (count / 1024 blocks) suit most sizes.
// requires:
//   x % 4 == 0
//   out % 4 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   out == x || apart(out, x) -- out may be x itself, but not overlap it otherwise
// extent:
//   x: f32[count]
//   out: f32[count]
// constraints: where all arrays reach a boundary of 16 bytes at the same element, the bulk moves four elements at a time,
//   else one by one. The product is rounded to f32; beyond the type it is infinite.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. In blocks of
//   256, 4 elements a thread: 4096 elements 1.01 / 0.66; 2^20 2.38 / 2.20, from L2; 2^25 64.6 / 64.1, 4.19 TB/s read and
//   written. Rejected: eight elements a thread, whose two stores lie side by side, 70.3 / 70.0 (3.83 TB/s).
m4_define(<!NAME!>, <!scale_f32!>)m4_dnl
m4_define(<!FIRST!>, <!x!>)m4_dnl
m4_define(<!FIRST_TYPE!>, <!f32!>)m4_dnl
m4_define(<!OUT_TYPE!>, <!f32!>)m4_dnl
m4_define(<!NARROW!>, <!first!>)m4_dnl
m4_define(<!NARROW_TYPE!>, <!f32!>)m4_dnl
m4_define(<!WIDTH!>, 4)m4_dnl
m4_define(<!FACTOR!>, <!factor!>)m4_dnl
m4_define(<!ELEMENT!>, <!mul.rn.f32 %o$1, %a$1, %factor;!>)m4_dnl
m4_include(<!map.inc!>)m4_dnl

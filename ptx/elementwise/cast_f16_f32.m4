// kernel: cast_f16_f32
// purpose: out = x for count elements, from f16 to f32.
// parameters:
//   x      u64 address of count f16, read after the wait
//   out    u64 address of count f32, written after the wait
//   count  u32 number of elements; 0 is allowed
// launch: grid any, block any, both one-dimensional; shared none. Each thread takes four elements at a time and strides by
//   the whole grid; 256 threads a block and one vector a thread (count / 1024 blocks) suit most sizes.
// requires:
//   x % 2 == 0
//   out % 4 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   apart(out, x)
// extent:
//   x: f16[count]
//   out: f32[count]
// constraints: where all arrays reach a boundary of a vector (8 bytes in x, 16 bytes in out) at the same element, the bulk
//   moves four elements at a time, else one by one. Every value of f16 is one of f32.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. In blocks of
//   256, 4 elements a thread: 4096 elements 1.00 / 0.65; 2^20 2.49 / 1.99, from L2; 2^25 50.6 / 50.1, 4.02 TB/s read and
//   written.
m4_define(<!NAME!>, <!cast_f16_f32!>)m4_dnl
m4_define(<!FIRST!>, <!x!>)m4_dnl
m4_define(<!FIRST_TYPE!>, <!f16!>)m4_dnl
m4_define(<!OUT_TYPE!>, <!f32!>)m4_dnl
m4_define(<!NARROW!>, <!first!>)m4_dnl
m4_define(<!NARROW_TYPE!>, <!f16!>)m4_dnl
m4_define(<!WIDTH!>, 4)m4_dnl
m4_define(<!ELEMENT!>, <!mov.f32 %o$1, %a$1;!>)m4_dnl
m4_include(<!map.inc!>)m4_dnl

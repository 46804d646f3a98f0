// kernel: cast_f32_bf16
// purpose: out = x for count elements, from f32 to bf16.
// parameters:
//   x      u64 address of count f32, read after the wait
//   out    u64 address of count bf16, written after the wait
//   count  u32 number of elements; 0 is allowed
// launch: grid any, block any, both one-dimensional; shared none. Each thread takes eight elements at a time and strides by
//   the whole grid; 256 threads a block and one vector a thread (count / 2048 blocks) suit most sizes.
// requires:
//   x % 4 == 0
//   out % 2 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   apart(out, x)
// extent:
//   x: f32[count]
//   out: bf16[count]
// constraints: where all arrays reach a boundary of 16 bytes at the same element, the bulk moves eight elements at a time,
//   else one by one. Rounds to nearest even; NaN stays NaN.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. In blocks of
//   256, 8 elements a thread: 4096 elements 1.09 / 0.76; 2^20 2.74 / 2.31, from L2; 2^25 47.9 / 47.4, 4.25 TB/s read and
//   written.
m4_define(<!NAME!>, <!cast_f32_bf16!>)m4_dnl
m4_define(<!FIRST!>, <!x!>)m4_dnl
m4_define(<!FIRST_TYPE!>, <!f32!>)m4_dnl
m4_define(<!OUT_TYPE!>, <!bf16!>)m4_dnl
m4_define(<!NARROW!>, <!out!>)m4_dnl
m4_define(<!NARROW_TYPE!>, <!bf16!>)m4_dnl
m4_define(<!WIDTH!>, 8)m4_dnl
m4_define(<!ELEMENT!>, <!mov.f32 %o$1, %a$1;!>)m4_dnl
m4_include(<!map.inc!>)m4_dnl

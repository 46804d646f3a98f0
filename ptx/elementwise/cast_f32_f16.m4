// kernel: cast_f32_f16
// purpose: out = x for count elements, from f32 to f16.
// parameters:
//   x      u64 address of count f32, read after the wait
//   out    u64 address of count f16, written after the wait
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
//   out: f16[count]
// constraints: where all arrays reach a boundary of 16 bytes at the same element, the bulk moves eight elements at a time,
//   else one by one. Rounds to nearest even; beyond 65504 the result is infinite. NaN stays NaN.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: not by itself; bytes and body are those of cast_f32_bf16
m4_define(<!NAME!>, <!cast_f32_f16!>)m4_dnl
m4_define(<!FIRST!>, <!x!>)m4_dnl
m4_define(<!FIRST_TYPE!>, <!f32!>)m4_dnl
m4_define(<!OUT_TYPE!>, <!f16!>)m4_dnl
m4_define(<!NARROW!>, <!out!>)m4_dnl
m4_define(<!NARROW_TYPE!>, <!f16!>)m4_dnl
m4_define(<!WIDTH!>, 8)m4_dnl
m4_define(<!ELEMENT!>, <!mov.f32 %o$1, %a$1;!>)m4_dnl
m4_include(<!map.inc!>)m4_dnl

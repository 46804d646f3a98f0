// kernel: scale_f16
// purpose: out = x * factor for count f16 elements.
// parameters:
//   x       u64 address of count f16, read after the wait
//   out     u64 address of count f16, written after the wait
//   count   u32 number of elements; 0 is allowed
//   factor  f32
// launch: grid any, block any, both one-dimensional; shared none. Each thread takes eight elements at a time and strides by
//   the whole grid; 256 threads a block and one vector a thread (count / 2048 blocks) suit most sizes.
// requires:
//   x % 2 == 0
//   out % 2 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   out == x || apart(out, x) -- out may be x itself, but not overlap it otherwise
// extent:
//   x: f16[count]
//   out: f16[count]
// constraints: where all arrays reach a boundary of 16 bytes at the same element, the bulk moves eight elements at a time,
//   else one by one. The product is rounded to f32, and then to f16; beyond the type it is infinite.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: not by itself; bytes and body are those of scale_bf16
m4_define(<!NAME!>, <!scale_f16!>)m4_dnl
m4_define(<!FIRST!>, <!x!>)m4_dnl
m4_define(<!FIRST_TYPE!>, <!f16!>)m4_dnl
m4_define(<!OUT_TYPE!>, <!f16!>)m4_dnl
m4_define(<!NARROW!>, <!first!>)m4_dnl
m4_define(<!NARROW_TYPE!>, <!f16!>)m4_dnl
m4_define(<!WIDTH!>, 8)m4_dnl
m4_define(<!FACTOR!>, <!factor!>)m4_dnl
m4_define(<!ELEMENT!>, <!mul.rn.f32 %o$1, %a$1, %factor;!>)m4_dnl
m4_include(<!map.inc!>)m4_dnl

// kernel: cast_f16_e4m3
// purpose: out = x for count elements, from f16 to e4m3.
// parameters:
//   x      u64 address of count f16, read after the wait
//   out    u64 address of count e4m3, written after the wait
//   count  u32 number of elements; 0 is allowed
// launch: grid any, block any, both one-dimensional; shared none. Each thread takes eight elements at a time and strides by
//   the whole grid; 256 threads a block and one vector a thread (count / 2048 blocks) suit most sizes.
// requires:
//   x % 2 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   apart(out, x)
// extent:
//   x: f16[count]
//   out: e4m3[count]
// constraints: where all arrays reach a boundary of a vector (16 bytes in x, 8 bytes in out) at the same element, the bulk
//   moves eight elements at a time, else one by one. Rounds to nearest even; what is beyond 448, infinities included, becomes
//   448 of its sign; NaN stays NaN.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: not by itself; bytes and body are those of cast_bf16_e4m3
m4_define(<!NAME!>, <!cast_f16_e4m3!>)m4_dnl
m4_define(<!FIRST!>, <!x!>)m4_dnl
m4_define(<!FIRST_TYPE!>, <!f16!>)m4_dnl
m4_define(<!OUT_TYPE!>, <!e4m3!>)m4_dnl
m4_define(<!NARROW!>, <!out!>)m4_dnl
m4_define(<!NARROW_TYPE!>, <!e4m3!>)m4_dnl
m4_define(<!WIDTH!>, 8)m4_dnl
m4_define(<!ELEMENT!>, <!mov.f32 %o$1, %a$1;!>)m4_dnl
m4_include(<!map.inc!>)m4_dnl

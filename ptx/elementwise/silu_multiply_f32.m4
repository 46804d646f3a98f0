// kernel: silu_multiply_f32
// purpose: out = gate / (1 + exp(-gate)) * up for count f32 elements: the activation of a gated feed-forward layer.
// parameters:
//   gate   u64 address of count f32, read after the wait
//   up     u64 address of count f32, read after the wait
//   out    u64 address of count f32, written after the wait
//   count  u32 number of elements; 0 is allowed
// launch: grid any, block any, both one-dimensional; shared none. Each thread takes four elements at a time and strides by
//   the whole grid; 256 threads a block and one vector a thread (count / 1024 blocks) suit most sizes.
// requires:
//   gate % 4 == 0
//   up % 4 == 0
//   out % 4 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   out == gate || apart(out, gate) -- out may be gate itself, but not overlap it otherwise
//   out == up || apart(out, up) -- out may be up itself, but not overlap it otherwise
// extent:
//   gate: f32[count]
//   up: f32[count]
//   out: f32[count]
// constraints: where all arrays reach a boundary of 16 bytes at the same element, the bulk moves four elements at a time,
//   else one by one. Arithmetic is f32: the relative error is below 2^-20 + 2^-22 * max(-gate, 0), and the silu of a gate
//   below -88 is 0. A gate of -inf gives NaN, as the formula does, and so does a silu of 0 with an infinite up.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. In blocks of
//   256, 4 elements a thread: 4096 elements 1.11 / 0.82; 2^20 2.52 / 2.49, from L2; 2^25 93.0 / 92.5, 4.35 TB/s read and
//   written.
m4_define(<!NAME!>, <!silu_multiply_f32!>)m4_dnl
m4_define(<!FIRST!>, <!gate!>)m4_dnl
m4_define(<!SECOND!>, <!up!>)m4_dnl
m4_define(<!FIRST_TYPE!>, <!f32!>)m4_dnl
m4_define(<!OUT_TYPE!>, <!f32!>)m4_dnl
m4_define(<!NARROW!>, <!first!>)m4_dnl
m4_define(<!NARROW_TYPE!>, <!f32!>)m4_dnl
m4_define(<!WIDTH!>, 4)m4_dnl
m4_define(<!ELEMENT_REGISTERS!>, <!.reg .f32 %power;!>)m4_dnl
m4_define(<!ELEMENT!>, <!SILU(%o$1, %a$1)
    mul.rn.f32 %o$1, %o$1, %b$1;!>)m4_dnl
m4_include(<!map.inc!>)m4_dnl

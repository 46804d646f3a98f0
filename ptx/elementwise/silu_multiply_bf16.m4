// kernel: silu_multiply_bf16
// purpose: out = gate / (1 + exp(-gate)) * up for count bf16 elements: the activation of a gated feed-forward layer.
// parameters:
//   gate   u64 address of count bf16, read after the wait
//   up     u64 address of count bf16, read after the wait
//   out    u64 address of count bf16, written after the wait
//   count  u32 number of elements; 0 is allowed
// launch: grid any, block any, both one-dimensional; shared none. Each thread takes eight elements at a time and strides by
//   the whole grid; 256 threads a block and one vector a thread (count / 2048 blocks) suit most sizes.
// requires:
//   gate % 2 == 0
//   up % 2 == 0
//   out % 2 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   out == gate || apart(out, gate) -- out may be gate itself, but not overlap it otherwise
//   out == up || apart(out, up) -- out may be up itself, but not overlap it otherwise
// extent:
//   gate: bf16[count]
//   up: bf16[count]
//   out: bf16[count]
// constraints: where all arrays reach a boundary of 16 bytes at the same element, the bulk moves eight elements at a time,
//   else one by one. Arithmetic is f32: the relative error is below 2^-20 + 2^-22 * max(-gate, 0) before the result is
//   rounded, and the silu of a gate below -88 is 0. A gate of -inf gives NaN, as the formula does, and so does a silu of 0
//   with an infinite up.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. In blocks of
//   256, 8 elements a thread: 4096 elements 1.23 / 0.93; 2^20 2.20 / 1.98, from L2; 2^25 47.7 / 47.3, 4.26 TB/s read and
//   written; copy_bytes reached 4.21 in the same run.
m4_define(<!NAME!>, <!silu_multiply_bf16!>)m4_dnl
m4_define(<!FIRST!>, <!gate!>)m4_dnl
m4_define(<!SECOND!>, <!up!>)m4_dnl
m4_define(<!FIRST_TYPE!>, <!bf16!>)m4_dnl
m4_define(<!OUT_TYPE!>, <!bf16!>)m4_dnl
m4_define(<!NARROW!>, <!first!>)m4_dnl
m4_define(<!NARROW_TYPE!>, <!bf16!>)m4_dnl
m4_define(<!WIDTH!>, 8)m4_dnl
m4_define(<!ELEMENT_REGISTERS!>, <!.reg .f32 %power;!>)m4_dnl
m4_define(<!ELEMENT!>, <!SILU(%o$1, %a$1)
    mul.rn.f32 %o$1, %o$1, %b$1;!>)m4_dnl
m4_include(<!map.inc!>)m4_dnl

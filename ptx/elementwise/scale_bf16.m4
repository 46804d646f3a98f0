// kernel: scale_bf16
// purpose: out = x * factor for count bf16 elements.
// parameters:
//   x       u64 address of count bf16, read after the wait
//   out     u64 address of count bf16, written after the wait
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
//   x: bf16[count]
//   out: bf16[count]
// constraints: where all arrays reach a boundary of 16 bytes at the same element, the bulk moves eight elements at a time,
//   else one by one. The product is rounded to f32, and then to bf16; beyond the type it is infinite.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. In blocks of
//   256, 8 elements a thread: 4096 elements 1.04 / 0.69; 2^20 1.74 / 1.44, from L2; 2^25 33.2 / 32.7, 4.10 TB/s read and
//   written; copy_bytes reached 4.21 in the same run.
m4_define(<!NAME!>, <!scale_bf16!>)m4_dnl
m4_define(<!FIRST!>, <!x!>)m4_dnl
m4_define(<!FIRST_TYPE!>, <!bf16!>)m4_dnl
m4_define(<!OUT_TYPE!>, <!bf16!>)m4_dnl
m4_define(<!NARROW!>, <!first!>)m4_dnl
m4_define(<!NARROW_TYPE!>, <!bf16!>)m4_dnl
m4_define(<!WIDTH!>, 8)m4_dnl
m4_define(<!FACTOR!>, <!factor!>)m4_dnl
m4_define(<!ELEMENT!>, <!mul.rn.f32 %o$1, %a$1, %factor;!>)m4_dnl
m4_include(<!map.inc!>)m4_dnl

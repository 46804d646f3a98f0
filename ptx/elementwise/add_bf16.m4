// kernel: add_bf16
// purpose: out = x + y for count bf16 elements: a residual connection.
// parameters:
//   x      u64 address of count bf16, read after the wait
//   y      u64 address of count bf16, read after the wait
//   out    u64 address of count bf16, written after the wait
//   count  u32 number of elements; 0 is allowed
// launch: grid any, block any, both one-dimensional; shared none. Each thread takes eight elements at a time and strides by
//   the whole grid; 256 threads a block and one vector a thread (count / 2048 blocks) suit most sizes.
// requires:
//   x % 2 == 0
//   y % 2 == 0
//   out % 2 == 0
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   out == x || apart(out, x) -- out may be x itself, but not overlap it otherwise
//   out == y || apart(out, y) -- out may be y itself, but not overlap it otherwise
// extent:
//   x: bf16[count]
//   y: bf16[count]
//   out: bf16[count]
// constraints: where all arrays reach a boundary of 16 bytes at the same element, the bulk moves eight elements at a time,
//   else one by one. Each sum is the exact one, rounded once; beyond the type it is infinite. vector_add is the kernel for
//   f32.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. In blocks of
//   256, 8 elements a thread: 4096 elements 1.07 / 0.77; 2^20 1.83 / 1.65, from L2; 2^25 47.9 / 47.4, 4.25 TB/s read and
//   written; copy_bytes reached 4.21 in the same run. With 512 threads a block 47.2, with 128 47.3, with half the blocks
//   47.7. Predicted: 0.75 for the hand-off and one load, 47.5 at the copy's 4.24.
m4_define(<!NAME!>, <!add_bf16!>)m4_dnl
m4_define(<!FIRST!>, <!x!>)m4_dnl
m4_define(<!SECOND!>, <!y!>)m4_dnl
m4_define(<!FIRST_TYPE!>, <!bf16!>)m4_dnl
m4_define(<!OUT_TYPE!>, <!bf16!>)m4_dnl
m4_define(<!NARROW!>, <!first!>)m4_dnl
m4_define(<!NARROW_TYPE!>, <!bf16!>)m4_dnl
m4_define(<!WIDTH!>, 8)m4_dnl
m4_define(<!ELEMENT!>, <!add.rn.f32 %o$1, %a$1, %b$1;!>)m4_dnl
m4_include(<!map.inc!>)m4_dnl

m4_define(<!KERNEL!>, <!linear_fp8_block!>)m4_dnl
m4_define(<!BLOCKED!>, <!$1!>)m4_dnl
m4_define(<!MEASURED!>, <!// measured: H200, steps of examples/llama in graph-pdl at context 576, matrices of layers with scales of blocks and the head in 16 bits, us
//   (linear_fp8 and a head in 8 bits in the same run): Llama-3.2-1B's shape 526 and 529 (475 to 481, and 58 for the bytes of the wider
//   head), six layers of Llama-3.1-8B's shape 441 and 445 (410 to 414, and 29).
// history: weights in tiles of 16 x 128 by mma.sync, as linear_int4 has them: 575 to 578, and 518 to 521.!>)m4_dnl
m4_include(<!fp8_wgmma.inc!>)m4_dnl

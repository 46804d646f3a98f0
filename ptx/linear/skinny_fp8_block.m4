m4_define(<!KERNEL!>, <!skinny_fp8_block!>)m4_dnl
m4_define(<!BATCHED!>, <!$1!>)m4_dnl
m4_define(<!BLOCKED!>, <!$1!>)m4_dnl
m4_define(<!HOW!>, <!tensor cores, f32 accumulation!>)m4_dnl
m4_define(<!MEASURED!>, <!// measured: H200, steps of examples/llama for eight sequences as above all at linear_fp8_block, us (skinny_fp8): 808 and 810 (754 and
//   757), six layers of Llama-3.1-8B's shape 658 and 655 (625 and 623).
// history: weights in tiles of 16 x 128, as linear_int4 has them: 803 to 808, and 762 to 764.!>)m4_dnl
m4_include(<!fp8_mma.inc!>)m4_dnl

m4_define(<!KERNEL!>, <!linear_fp8_block!>)m4_dnl
m4_define(<!BATCHED!>, <!!>)m4_dnl
m4_define(<!BLOCKED!>, <!$1!>)m4_dnl
m4_define(<!HOW!>, <!tensor cores by mma.sync, f32 accumulation: for chips that do not have wgmma!>)m4_dnl
m4_define(<!MEASURED!>, <!// measured: not on a chip without wgmma!>)m4_dnl
m4_include(<!fp8_mma.inc!>)m4_dnl

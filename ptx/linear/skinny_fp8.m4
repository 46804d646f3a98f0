// kernel: skinny_fp8
m4_define(<!KERNEL!>, <!skinny_fp8!>)m4_dnl
m4_define(<!WEIGHT!>, <!e4m3!>)m4_dnl
m4_define(<!BATCHED!>, <!$1!>)m4_dnl
m4_include(<!skinny.inc!>)m4_dnl

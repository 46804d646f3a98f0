// kernel: skinny_f16
m4_define(<!KERNEL!>, <!skinny_f16!>)m4_dnl
m4_define(<!WEIGHT!>, <!f16!>)m4_dnl
m4_define(<!BATCHED!>, <!$1!>)m4_dnl
m4_include(<!skinny.inc!>)m4_dnl

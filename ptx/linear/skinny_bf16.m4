// kernel: skinny_bf16
m4_define(<!KERNEL!>, <!skinny_bf16!>)m4_dnl
m4_define(<!WEIGHT!>, <!bf16!>)m4_dnl
m4_define(<!BATCHED!>, <!$1!>)m4_dnl
m4_include(<!skinny.inc!>)m4_dnl

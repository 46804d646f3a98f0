m4_define(<!KERNEL!>, <!skinny_int4!>)m4_dnl
m4_define(<!BATCHED!>, <!$1!>)m4_dnl
m4_define(<!TARGET!>, <!sm_90!>)m4_dnl
m4_define(<!MEASURED!>, <!// measured: H200, eight sequences, as at linear_int4, us (all in 8 bits; all in bf16): Llama-3.2-1B's shape 699 (738; 870), six layers of
//   Llama-3.1-8B's shape 563 (637; 875).!>)m4_dnl
m4_include(<!int4.inc!>)m4_dnl

m4_define(<!KERNEL!>, <!linear_int4!>)m4_dnl
m4_define(<!BATCHED!>, <!!>)m4_dnl
m4_define(<!TARGET!>, <!sm_90a!>)m4_dnl
m4_define(<!MEASURED!>, <!// measured: H200, steps of examples/llama in graph-pdl at context 576, weights of layers in 4 bits and the head in 8, us, three runs in turns
//   with linear_int4.sm_90: Llama-3.2-1B's shape 406 (443 to 450; predicted 390 to 400), with the tuner's shapes 395; six layers of
//   Llama-3.1-8B's shape 301 (334 to 336; predicted 270). All in 8 bits 463 and 399 in that run. The bytes of the first need 174.
//   doc/history/speed.md has what was tried.!>)m4_dnl
m4_include(<!int4.inc!>)m4_dnl

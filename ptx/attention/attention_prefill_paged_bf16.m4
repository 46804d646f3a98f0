m4_define(<!KERNEL!>, <!attention_prefill_paged_bf16!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_define(<!PAGED!>, 1)m4_dnl
m4_include(<!attention_prefill.inc!>)m4_dnl

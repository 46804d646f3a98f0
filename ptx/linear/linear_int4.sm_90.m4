m4_define(<!KERNEL!>, <!linear_int4!>)m4_dnl
m4_define(<!BATCHED!>, <!!>)m4_dnl
m4_define(<!TARGET!>, <!sm_90!>)m4_dnl
m4_define(<!MEASURED!>, <!// measured: on an H200, which gets linear_int4 by wgmma: there.!>)m4_dnl
m4_include(<!int4.inc!>)m4_dnl

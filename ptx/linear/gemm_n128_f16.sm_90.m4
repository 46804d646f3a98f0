m4_define(<!NAME!>, <!gemm_n128_f16!>)m4_dnl
m4_define(<!TYPE!>, <!f16!>)m4_dnl
m4_define(<!TILE_COLUMNS!>, <!128!>)m4_dnl
m4_define(<!TARGET!>, <!sm_90!>)m4_dnl
m4_define(<!ENGINE!>, <!gemm_mma.inc!>)m4_dnl
m4_include(<!gemm_mma_head.inc!>)m4_dnl
m4_include(<!gemm.inc!>)m4_dnl

m4_define(<!KERNEL!>, <!skinny_fp8!>)m4_dnl
m4_define(<!BATCHED!>, <!$1!>)m4_dnl
m4_define(<!HOW!>, <!tensor cores, f32 accumulation!>)m4_dnl
m4_define(<!MEASURED!>, <!// measured: H200, as skinny_bf16, at 4.55 TB/s of plain loads. Batch 8:
//     2048 x 2048 3.78   3072 x 2048 4.55   8192 x 2048 8.57 [1.96]   16384 x 2048 13.5 [2.48]   2048 x 8192 9.34 [1.80]
//     4096 x 4096 7.87 [2.13]   14336 x 4096 19.7 [2.98]   4096 x 14336 18.4 [3.20]
//   0.65 of the time of skinny_bf16 at the large ones. What bounds it at batch 8 is x: 2 bytes an element for each row of the batch
//   against 1 of W, so that a slot is half x.!>)m4_dnl
m4_include(<!fp8_mma.inc!>)m4_dnl

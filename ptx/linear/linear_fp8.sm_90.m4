m4_define(<!KERNEL!>, <!linear_fp8!>)m4_dnl
m4_define(<!BATCHED!>, <!!>)m4_dnl
m4_define(<!HOW!>, <!tensor cores by mma.sync, f32 accumulation: for chips that do not have wgmma!>)m4_dnl
m4_define(<!MEASURED!>, <!// measured: H200, as skinny_bf16, at 4.55 TB/s of plain loads:
//     2048 x 2048 2.77   3072 x 2048 3.32   8192 x 2048 6.40 [2.62]   16384 x 2048 11.0 [3.06]   2048 x 8192 6.79 [2.47]
//     4096 x 4096 6.41 [2.62]   14336 x 4096 16.9 [3.47]   4096 x 14336 17.1 [3.44]   14336 x 4096 with norm and U 33.7 [3.49]
//   0.61 of the time of linear_bf16 at the large ones, 0.79 at 4096 x 4096. The ceiling is not reached: the ring holds less of a layer's time
//   than with 16 bits, and pieces of 1024 bytes stream at 3.2 TB/s (65536 x 4096, grid 132). The widening, 7 instructions for 4 weights, would allow
//   36 bytes a clock and multiprocessor, twice what the memory gives: an SM's quarter takes two clocks for each of its instructions.
//   512 bytes of each row to the L2 cache before the wait, without / with: 4096 x 4096 6.56 / 6.43   14336 x 4096 16.9 / 16.7   4096 x 14336
//     18.0 / 17.9; 1024 bytes 6.41, but 17.3 at 14336 x 4096; 2048 bytes 6.50 and 18.4.
//   Slots of 2048 bytes of a row in place of 1024: 2.59 at 2048 x 2048 and 3.19 at 3072 x 2048, but 7.2 at 4096 x 4096 and 17.9 at
//   14336 x 4096.
// history: rejected: e4m3 to f16 by cvt.rn.f16x2.e4m3x2 (two clocks for 2 weights in place of 7), x as f16 times a power of two for each row's part
//   of a warp: 3.9 TB/s at 65536 x 4096, but 3.8 at 2048 x 2048, 7.9 at 4096 x 4096, 18.5 at 14336 x 4096, 17.9 at 4096 x 14336: finding the
//   power and rewriting x takes half a microsecond behind the wait. Slots of 2048 bytes of 16 rows: 2.63 at 2048 x 2048, 17.4 at
//   4096 x 14336 (grid 264), but 7.4 at 4096 x 4096 and 19.7 at 14336 x 4096. Tiles dealt out in turns: no difference beyond 2 %. The
//   trigger behind the last request: 3.46 at 2048 x 2048, 22.0 at 14336 x 4096 (both grid 132, 114688); only 4096 x 4096 gains, 6.0 for 6.56.!>)m4_dnl
m4_include(<!fp8_mma.inc!>)m4_dnl

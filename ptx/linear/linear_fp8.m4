m4_define(<!KERNEL!>, <!linear_fp8!>)m4_dnl
m4_define(<!MEASURED!>, <!// measured: H200, chains of layers with different weights in graph-pdl, us a layer [TB/s], 4.55 TB/s of plain loads; best shape, before
//   (by mma.sync, as linear_fp8.sm_90 is) / now:
//     2048 x 2048 2.75 / 2.38   3072 x 2048 3.29 / 3.18   8192 x 2048 6.49 / 6.37   16384 x 2048 11.1 / 9.84 [3.41]   2048 x 8192 9.37 / 6.50
//     4096 x 4096 6.47 / 5.61 [2.99]   14336 x 4096 16.9 / 14.7 [3.99]   4096 x 14336 18.0 / 15.8 [3.72]
//   Predicted was 5.0 at 4096 x 4096 and 14.2 at 14336 x 4096. Without the products (wrong results) 14336 x 4096 takes 14.0, without
//   the loads from shared memory too 13.6: what a block does with a slot, 0.55 us, counts where x finds the ring full.
//   Slots of 1024 bytes of 32 rows, two products one after the other: 2.83 at 3072 x 2048, 9.03 at 16384 x 2048, but 6.14 at 4096 x 4096,
//   15.4 at 14336 x 4096 and 17.2 at 4096 x 14336; of 1024 bytes of 16 rows 2.42, 3.31, 10.4, 6.24, 15.3.
//   Since then a slot's halves take turns, one read while the other's products run, with 104 registers a thread in place of 80: a step of a
//   model of Llama-3.2-1B's shape, context 512, 478.6 / 473.2 (four runs each in turns: 475.2 to 483.0, 472.0 to 473.7). Predicted was 445.
//   Each half has sums of its own now, which costs nothing: 475.4 to 480.6 in a run where it was 477.3 to 479.3; six layers of Llama-3.1-8B's shape 410.3 to 414.1 (408.4 to 413.7).
//   A head of 128256 x 2048 on a grid of 1056 in place of 264: a step 458 in place of 461, in 4 bits 400 in place of 404 (528: 460, 401);
//   of 32000 x 4096 405 in place of 398.
// history: rejected: sums of their own for each 64 elements, no difference; the scales brought to shared memory before the wait, 2.60 at
//   2048 x 2048 and 5.98 at 4096 x 4096.!>)m4_dnl
m4_include(<!fp8_wgmma.inc!>)m4_dnl

m4_define(<!HOW!>, <!on the tensor cores by wgmma!>)m4_dnl
m4_define(<!LAUNCH!>, <!// launch: grid any, one-dimensional, block 384: eight warps multiply, four fetch. Shared dynamic: 3072 bytes, some
//   two for each column, and a ring of two to sixteen slots. A slot holds 2048 bytes of each of up to 16 rows of W (with U: 8 of both).
//   Best on an H200: grid 132 with 114688 bytes where W and U have below 20 million elements; grid 264 with 100352 for larger layers,
//   so that the next kernel finds room; grid 132 with all the shared memory there is for columns above 8192.!>)m4_dnl
m4_define(<!SHARED_CONDITION!>, <!//   32 * shared >= 65 * columns + 2400000 -- x in pieces, and two slots of the ring!>)m4_dnl
m4_include(<!linear_fp8_head.inc!>)m4_dnl
// constraints: no kernel that may still run writes weight, up, scale, up_scale, norm or bias. x times norm is rounded to bf16 and must be in its
//   range; the squares of x are summed in f32. Of each 256 elements x (or x * norm) is the sum of two e4m3, which have its eight bits,
//   times a power of two; an element below 2^-13 of the largest has less of them, 2^-21 of the largest being the step. wgmma adds 32
//   products at a time with some 13 bits below the largest (measured; the ISA does not say), 256 of them before f32 takes over. A row's
//   sum is taken in one fixed order: the result's bits do not depend on grid or shared memory. W and U hold no NaN. NaN in x gives NaN,
//   an infinity gives an infinity or NaN, a sum beyond f32 or bf16 is infinite.
// constant: weight, up, scale, up_scale, norm, bias
// pdl: triggers at its start; before the wait it fills its ring with W (and U) by bulk copies, all slots but one where there are three or
//   more, brings up to 512 bytes more of each of the next rows and the norm to the L2 cache, and reads the first bias and scales; waits
//   before it reads x; every thread waits.
// measured: H200, chains of layers with different weights in graph-pdl, us a layer [TB/s], 4.55 TB/s of plain loads; best shape, before
//   (by mma.sync, as linear_fp8.sm_90 is) / now:
//     2048 x 2048 2.75 / 2.38   3072 x 2048 3.29 / 3.18   8192 x 2048 6.49 / 6.37   16384 x 2048 11.1 / 9.84 [3.41]   2048 x 8192 9.37 / 6.50
//     4096 x 4096 6.47 / 5.61 [2.99]   14336 x 4096 16.9 / 14.7 [3.99]   4096 x 14336 18.0 / 15.8 [3.72]
//   Predicted was 5.0 at 4096 x 4096 and 14.2 at 14336 x 4096. Without the products (wrong results) 14336 x 4096 takes 14.0, without
//   the loads from shared memory too 13.6: what a block does with a slot, 0.55 us, counts where x finds the ring full.
//   Slots of 1024 bytes of 32 rows, two products one after the other: 2.83 at 3072 x 2048, 9.03 at 16384 x 2048, but 6.14 at 4096 x 4096,
//   15.4 at 14336 x 4096 and 17.2 at 4096 x 14336; of 1024 bytes of 16 rows 2.42, 3.31, 10.4, 6.24, 15.3.
//   Since then a slot's halves take turns, one read while the other's products run, with 104 registers a thread in place of 80: a step of a
//   model of Llama-3.2-1B's shape, context 512, 478.6 / 473.2 (four runs each in turns: 475.2 to 483.0, 472.0 to 473.7). Predicted was 445.
// history: rejected: sums of their own for each 64 elements, no difference; the scales brought to shared memory before the wait, 2.60 at
//   2048 x 2048 and 5.98 at 4096 x 4096.

m4_define(<!KERNEL!>, <!linear_fp8!>)m4_dnl
m4_define(<!TARGET!>, <!sm_90a!>)m4_dnl
m4_define(<!WEIGHT!>, <!e4m3!>)m4_dnl
m4_define(<!BATCHED!>, <!!>)m4_dnl
m4_define(<!CHUNK!>, <!2048!>)m4_dnl
m4_define(<!AHEAD!>, <!512!>)m4_dnl
m4_include(<!skinny.inc!>)m4_dnl

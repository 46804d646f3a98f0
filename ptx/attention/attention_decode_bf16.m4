// kernel: attention_decode_bf16
// purpose: one token's attention over a cache, for each row of a batch: turns q and k by their rotary angles, appends k and v to the cache,
//   and attends with groups of queries that share a key head; the context is split over the CTAs of a cluster.
// parameters:
//   qkv            u64 address of batch * (heads + 2 * kv_heads) * head_dim bf16: heads of q, then of k, then of v; read after the wait
//   k_cache        u64 address of batch * kv_heads * capacity * head_dim bf16; rows below the position are read before the wait, the
//                  row of the position is written after it
//   v_cache        u64 likewise
//   rotary         u64 address of capacity * head_dim / 2 pairs of f32, cosine and sine of position and i for the pair of elements
//                  (i, i + head_dim / 2), constant, read before the wait; 0: nothing is turned
//   positions      u64 address of batch u32: the index of each row's new token, constant, read before the wait
//   y              u64 address of batch * heads * head_dim bf16, written after the wait
//   heads          u32 query heads; kv_heads is grid.y
//   head_dim       u32 64 or 128
//   capacity       u32 rows of a head's cache
//   softmax_scale  f32 what scores are multiplied by, ordinarily 1 / sqrt(head_dim)
// launch: grid (splits, kv_heads, batch), cluster (splits, 1, 1), splits 1 to 16; block any multiple of 32 up to 256; shared dynamic. It holds
//   a ring of at most 16 slots a warp, each for 16 rows of k and of v (64 * head_dim bytes): what fits is fetched before the wait. Best
//   on an H200: 8 splits, block 128, shared 113000 to 115712, so that two launches are side by side; from a context of some 3000 on 12
//   splits, with wide heads 16, and cluster scheduling by load (balance); from some 6000 on 8 splits, block 256 and all the shared
//   memory there is. Up to such contexts 4 splits where 8 are more than two blocks a multiprocessor. One split needs no cluster.
// requires:
//   cluster.x == grid.x -- the splits of a context meet in one cluster
//   cluster.y == 1 && cluster.z == 1
//   block.x % 32 == 0
//   block.y == 1 && block.z == 1
//   heads >= 1
//   heads % grid.y == 0
//   heads <= 8 * grid.y -- a key head serves eight query heads at most
//   head_dim == 64 || head_dim == 128
//   capacity >= 1
//   qkv % 16 == 0
//   k_cache % 16 == 0
//   v_cache % 16 == 0
//   rotary % 16 == 0
//   positions % 4 == 0
//   y % 8 == 0
//   grid.z * (heads + 2 * grid.y) * head_dim < 2^32
//   shared >= (22 + 6 * (heads / grid.y) + 2 * block.x) * head_dim + 24 * grid.x + 4 * block.x + 272
//   apart(y, qkv, k_cache, v_cache, rotary, positions)
//   apart(k_cache, qkv, v_cache, rotary, positions)
//   apart(v_cache, qkv, rotary, positions)
// extent:
//   qkv: bf16[grid.z * (heads + 2 * grid.y) * head_dim]
//   k_cache: bf16[grid.z * grid.y * capacity * head_dim]
//   v_cache: bf16[grid.z * grid.y * capacity * head_dim]
//   rotary: f32[capacity * head_dim]
//   positions: u32[grid.z]
//   y: bf16[grid.z * heads * head_dim]
// constraints: each position is below capacity; one that is not traps. No kernel that may still run writes k_cache or v_cache; a chain has one launch a
//   cache. q and k are rounded to bf16 once they are turned, the probabilities before v is multiplied with them; sums are f32. The
//   result's bits depend on splits, block, and whether a warp has more than one slot, not on batch or other shared memory, and are
//   the same in each run. A score that is NaN or +inf gives NaN.
// constant: k_cache v_cache rotary positions
// pdl: triggers at its start; before the wait it fills its ring with k and v; every thread waits.
// measured: H200 that read 4.55 TB/s and handed empty kernels off in 0.52 us; chains in which each attention's output is the next one's
//   queries, with different caches (100 MB in all, or more), 32 heads at 8 key heads, batch 1, graph-pdl, median of 15, us a hop [TB/s]:
//     context 512, splits 8, block 128, shared 113000:  head_dim 64 2.42 [0.43]   128 2.75 [0.76]
//     context 4096, splits 8, block 128, shared 113000:  head_dim 64 4.79 [1.75]   128 8.0 to 9.0 [2.1 to 1.9]; with splits 12
//       4.43 and 7.86, with splits 16 4.86 and 7.51
//     context 32768, splits 8, block 256, shared 226000:  head_dim 64 18.8 [3.57]   128 34.8 [3.86]
//   Between two linear layers it adds 2.2 to 2.9 us at hidden size 2048 and context 512, and 5.6 at context 4096; at hidden size
//   4096, context 512, it adds 10 us to linear layers of 132 blocks of 512 threads, which is not explained yet.
//   Predicted: 2.3 and 2.5 at context 512, which came out within a tenth; 3.6 and 5.5 at 4096, which did not: with 8 splits 64
//   multiprocessors read, and each seems to hold too little of its share in flight. Of 128 CTAs in clusters of 16 many share a
//   multiprocessor (82 to 98 were used; with clusters of 8 all 64 were different), so that 16 splits gain little.
//   Where a hop's time goes (clock of each CTA, head_dim 64, context 512, cycles): queries read, turned, staged 540; one tile 650 to 700; its part
//   stored 230; parts merged and sent 320; until all splits have sent 900 to 1000; finished 290. The rest, 0.9 us, is the hand-off.
// history: context 512, head_dim 64 / 128: items of 16 elements, addresses computed behind the wait, sums by shuffles 2.75 / 3.19; items of
//   8, addresses before the wait, a thread an output 2.36 / 2.69; two tiles at a time where there are two 2.44 / 2.76 (and 4.82 in place of
//   5.07 at 4096). First version, splits 4, 8, 16 with block 128: 2.83, 2.75, 3.04 / 3.30, 3.19, 3.56; block 64 at 8 splits 2.92 / 3.74.
//   Rejected: .minnctapersm 2 (128 registers), which spills; block 256 at context 512, 2.62 / 3.03.
//   This version, in a later run (4.65 TB/s; in brackets the one before, to which the figures above and the parts of a hop belong), shared 113000
//     to 115712 but as above at 32768; load: cluster scheduling by load:
//     context 512, splits 8, block 128: 2.14 (2.43) / 2.43 (2.71)      1024: 2.34 (2.59) / 2.77 (3.03)      2048: 2.86 (3.10) / 4.81 (5.14)
//     4096, splits 12, block 192, load: 3.54 (3.62) / 7.02 (7.04); splits 16, block 128, load: 3.89 (4.74) / 6.88 (7.19)
//     8192, splits 8, block 256, shared 226000: 6.43 (7.09) / 10.9 (11.5)      32768: 18.1 (19.0) / 34.5 (35.1)
//   The new row was a tile by itself, for whose step all other warps waited; now it goes into the cache's last tile. Addresses of a next item are
//   computed only where there is one, up to 16 parts are combined at once. 2.25 and 2.5 were expected at context 512, 3.8 and 6.1 wanted at 4096.
//   Why context 4096 costs so much (traced): of the H200 only 7 clusters of 16 blocks have multiprocessors of their own (15 of 8, at two
//   blocks a multiprocessor 14 and 30; cuOccupancyMaxActiveClusters), so 128 blocks are on 82 to 112 of them, and with a block a
//   multiprocessor (shared 115800) the eighth cluster waits for the others: 8.1 and 11.7 us. Where clusters go by load instead, 12 splits
//   take 3.79 and 7.52 (without 4.13 and 7.64), 16 splits 4.72 and 7.15 (4.70 and 7.29). What is left: a step of two tiles takes a
//   warp 800 cycles however little there is to wait for; and what does not fit the rings, 10 of 17 MB with 8 splits at head_dim
//   128, is read behind the wait, the memory idle before.
//   Tried for that, one run each, head_dim 64 / 128, context 512 and 4096 with the best splits: scores as keys by queries, movmatrix between both
//   multiplications, a maximum agreed on only when it grows by 2^8: a step of two takes 950 cycles. Each warp's part sent to the CTAs
//   that finish it: 2.45 / 2.95 and 4.00 / 7.0. Slots shared by warps: unsafe, a warp may be a round ahead of another. Rows padded in
//   place of the xor, steps of four, one tile a step where the ring is too small: 2.27 / 2.49 and 3.59 / 6.9, but 22 and 39 at 32768,
//   and 38.3 us in place of 37.7 for a layer of Llama-3.2-1B. The rest of the context prefetched into the L2 cache at once 9.1 at
//   head_dim 128, or once the ring is full 8.6, where 7.4 were without. block 256 with 128 registers 3.97 / 7.7; .reqntid 256 gains 2 %.

m4_define(<!KERNEL!>, <!attention_decode_bf16!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_define(<!PAGED!>, 0)m4_dnl
m4_include(<!attention_decode.inc!>)m4_dnl

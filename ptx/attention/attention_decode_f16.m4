// kernel: attention_decode_f16
// purpose: one token's attention over a cache, for each row of a batch: turns q and k by their rotary angles, appends k and v to the cache,
//   and attends with groups of queries that share a key head; the context is split over the CTAs of a cluster.
// parameters:
//   qkv            u64 address of batch * (heads + 2 * kv_heads) * head_dim f16: heads of q, then of k, then of v; read after the wait
//   k_cache        u64 address of batch * kv_heads * capacity * head_dim f16; rows below the position are read before the wait, the
//                  row of the position is written after it
//   v_cache        u64 likewise
//   rotary         u64 address of capacity * head_dim / 2 pairs of f32, cosine and sine of position and i for the pair of elements
//                  (i, i + head_dim / 2), constant, read before the wait; 0: nothing is turned
//   positions      u64 address of batch u32: the index of each row's new token, constant, read before the wait
//   y              u64 address of batch * heads * head_dim f16, written after the wait
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
//   qkv: f16[grid.z * (heads + 2 * grid.y) * head_dim]
//   k_cache: f16[grid.z * grid.y * capacity * head_dim]
//   v_cache: f16[grid.z * grid.y * capacity * head_dim]
//   rotary: f32[capacity * head_dim]
//   positions: u32[grid.z]
//   y: f16[grid.z * heads * head_dim]
// constraints: each position is below capacity; one that is not traps. No kernel that may still run writes k_cache or v_cache; a chain has one launch a
//   cache. q and k are rounded to f16 once they are turned, the probabilities before v is multiplied with them; sums are f32. The
//   result's bits depend on splits, block, and whether a warp has more than one slot, not on batch or other shared memory, and are
//   the same in each run. A score that is NaN or +inf gives NaN.
// constant: k_cache v_cache rotary positions
// pdl: triggers at its start; before the wait it fills its ring with k and v; every thread waits.
// measured: as attention_decode_bf16, whose body this is; not timed by itself.

m4_define(<!KERNEL!>, <!attention_decode_f16!>)m4_dnl
m4_define(<!TYPE!>, <!f16!>)m4_dnl
m4_define(<!PAGED!>, 0)m4_dnl
m4_include(<!attention_decode.inc!>)m4_dnl

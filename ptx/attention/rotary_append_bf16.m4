// kernel: rotary_append_bf16
// purpose: what goes before an attention: turns q and k of any number of tokens by their rotary angles, and appends k and v to a cache, dense
//   or paged. For those who bring an attention of their own; attention_decode_bf16 does this itself.
// parameters:
//   qkv          u64 address of tokens * (heads + 2 * kv_heads) * head_dim bf16: heads of q, then of k, then of v; read after the wait
//   y            u64 address of tokens * heads * head_dim bf16: the queries, turned, written after the wait; 0: they are left out
//   k_cache      u64 address of pages * kv_heads * page_size * head_dim bf16; the tokens' rows are written after the wait
//   v_cache      u64 likewise
//   page_table   u64 address of u32: entry sequence * table_pitch + i is the page of positions i * page_size and on, constant, read before the
//                wait; 0: page_size is the capacity of a sequence, and page s is of sequence s
//   rotary       u64 address of positions * head_dim / 2 pairs of f32, cosine and sine for the pair of elements (i, i + head_dim / 2),
//                constant, read before the wait; 0: nothing is turned
//   positions    u64 address of tokens u32, constant, read before the wait
//   sequences    u64 address of tokens u32: whose cache a token goes to, constant, read before the wait; 0: token t is of sequence t
//   tokens       u32
//   heads        u32 query heads, any number
//   kv_heads     u32 key heads, any number
//   head_dim     u32 a multiple of 16
//   page_size    u32 positions of a page; where there is no table, of a sequence
//   table_pitch  u32 entries of a sequence in page_table
// launch: grid any, block any up to 1024, both one-dimensional; no shared memory. A thread takes 16 elements at a time: with
//   tokens * (heads + 2 * kv_heads) * head_dim / 16 threads each has one.
// requires:
//   grid.y == 1 && grid.z == 1
//   block.y == 1 && block.z == 1
//   head_dim % 16 == 0 && head_dim >= 16
//   page_size >= 1
//   page_table == 0 || table_pitch >= 1
//   qkv % 16 == 0
//   y % 16 == 0
//   k_cache % 16 == 0
//   v_cache % 16 == 0
//   rotary % 16 == 0
//   page_table % 4 == 0
//   positions % 4 == 0
//   sequences % 4 == 0
//   tokens * (heads + 2 * kv_heads) * head_dim < 2^32
//   apart(y, qkv, positions, sequences)
// extent:
//   qkv: bf16[tokens * (heads + 2 * kv_heads) * head_dim]
//   y: bf16[tokens * heads * head_dim]
//   rotary: f32[(page_table / (page_table / 2 + 1) * table_pitch + 1 / (page_table + 1)) * page_size * head_dim]
//   positions: u32[tokens]
//   sequences: u32[tokens]
// constraints: Each position is below page_size or, with a table, table_pitch * page_size; one that is not traps, queries left out or not. In
//   the extent of rotary the first quotient is 1 with a table and 0 without, the last one the other way round. No two
//   tokens have the same sequence and position. The caches overlap nothing. Elements are turned in f32 and rounded once; what is not turned is copied bit for bit.
// constant: page_table rotary positions sequences
// pdl: triggers at its start; reads angles and places of a thread's first item before the wait; every thread waits.
// measured: not timed.

m4_define(<!KERNEL!>, <!rotary_append_bf16!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_include(<!rotary_append.inc!>)m4_dnl

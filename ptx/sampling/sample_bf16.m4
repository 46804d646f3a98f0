// kernel: sample_bf16
// purpose: out = an index drawn at random from the distribution that a row of bf16 logits defines, with temperature, top-k
//   and top-p.
// parameters:
//   logits       u64 address of grid.y * columns bf16, read after the wait
//   uniform      u64 address of grid.y f32 in [0, 1), one for each row, read after the wait
//   out          u64 address of grid.y u32, written after the wait: the index drawn from each row
//   columns      u32 elements of a row, at least 1
//   temperature  f32; 0: the largest logit, as argmax
//   top_k        u32; 0, or columns and more: no such limit
//   top_p        f32; 1 and more: no such limit
// launch: grid (splits, rows) in clusters of (splits, 1, 1), with 1 to 16 splits: so many blocks share a row; block any
//   multiple of 32 up to 1024; shared 33808 bytes, static. 16 splits of 512 threads suit a few rows of 128256, fewer splits
//   many rows
// requires:
//   logits % 2 == 0
//   uniform % 4 == 0
//   out % 4 == 0
//   temperature >= 0
//   columns >= 1
//   columns <= 65536 * grid.x
//   cluster.x == grid.x
//   cluster.y == 1 && cluster.z == 1
//   grid.z == 1
//   block.y == 1 && block.z == 1
//   block.x % 32 == 0
//   apart(out, logits, uniform)
// extent:
//   logits: bf16[grid.y * columns]
//   uniform: f32[grid.y]
//   out: u32[grid.y]
// constraints: the definition, in this order. (1) weight = exp((logit - largest logit of the row) / temperature), in f32 with
//   ex2.approx, rounded to a multiple of 2^-31. (2) top_k: the logits not below the top_k-th largest are kept, equal ones
//   all. (3) top_p: of these, those not below the largest logit down to which the kept weights sum up to at least top_p times
//   their sum, equal ones all. (4) With S the sum of the weights kept now, out is the first index, in the order of the row,
//   up to which they sum up to more than floor(uniform * S). Sums are exact, in integers, so the result does not depend on
//   the launch. -0 and +0 are equal. A row with a NaN gives the index of the first NaN, whatever the temperature; where the
//   largest is an infinity, its equals share the weight. A uniform beyond [0, 1) counts as the nearest end, NaN as 0. Rows
//   move in 16-byte accesses where columns is a multiple of 8 and logits of 16, else element by element.
// pdl: triggers at its start, waits before its first load; before the wait it touches no memory but its parameters.
// measured: H200, chains of 24 launches on different data in a graph, median, us a launch without PDL / with it. One row of
//   128256 by 16 blocks of 512 threads: no limits 6.26 / 5.81, top_k 50 15.0 / 14.7, top_p 0.9 17.1 / 16.7, both 24.0 / 23.6;
//   by 16 of 1024 7.21 / 6.74, 15.2 / 14.7, 17.6 / 17.1, 24.1 / 23.6; by 8 of 1024 8.33 / 7.90 to 29.5 / 29.1. 8 rows by 16
//   of 512: 8.36 / 8.27, 19.4 / 19.4, 23.0 / 23.2, 30.8 / 30.8. A round of 11 bits takes 4.4 (predicted 2): three barriers of
//   the cluster, and what lies between them.
m4_define(<!NAME!>, <!sample_bf16!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_define(<!LOWEST!>, 16)m4_dnl
m4_include(<!sample.inc!>)m4_dnl

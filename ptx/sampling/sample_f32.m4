// kernel: sample_f32
// purpose: out = an index drawn at random from the distribution that a row of f32 logits defines, with temperature, top-k and
//   top-p.
// parameters:
//   logits       u64 address of grid.y * columns f32, read after the wait
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
//   logits % 4 == 0
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
//   logits: f32[grid.y * columns]
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
//   128256 by 16 blocks of 1024 threads: no limits 7.37 / 6.90, top_k 50 19.4 / 18.9, top_p 0.9 21.9 / 21.4, both 32.1 /
//   31.6, in three rounds where sample_bf16 has two; by 16 of 512 7.50 / 7.02 to 31.9 / 31.8; by 8 of 1024 8.31 / 7.85 to
//   37.7 / 37.4. 8 rows by 16 of 512: 8.76 / 8.74, 24.6 / 24.6, 27.8 / 28.3, 40.5 / 40.7.
m4_define(<!NAME!>, <!sample_f32!>)m4_dnl
m4_define(<!TYPE!>, <!f32!>)m4_dnl
m4_define(<!LOWEST!>, 0)m4_dnl
m4_include(<!sample.inc!>)m4_dnl

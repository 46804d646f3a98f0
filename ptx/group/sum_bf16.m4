// kernel: sum_bf16
// purpose: adds what each member of a group has, bf16 elements, in the order of ranks: all_reduce and reduce_scatter.
// parameters:
//   source        u64 address of what this member sends, read after the wait
//   target        u64 address of what it gets, written after the wait; may be where the source is, or its own part there
//   state         u64 address of 576 bytes: a failure, from byte 64 on a counter for each of 128 blocks; read and written after the wait
//   record        u64 address of 8 bytes that the host reads: a failure; written after the wait
//   bytes         u32 bytes of one part
//   source_bytes  u32 bytes of the source: bytes, or members * bytes with a part for each member
//   target_bytes  u32 bytes of the target: bytes; or, with parts in both, the source's: members add a part each and hand the sum on,
//                 bytes is a multiple of 12, and the last parts may be shorter
//   rank          u32 this member
//   members       u32 how many there are, at most 32
//   to            u32 set of members that the source is for
//   from          u32 set of members: all members
//   timeout       u32 microseconds after which a member that did not come is given up
//   hop           u32 number of the hop, for the record
//   inboxes       u64[32] address of each member's inbox, 4 MiB for each member; written and read after the wait
// launch: one-dimensional, with the same grid on all members, at most 128 blocks and 32768 threads in all; shared none.
// requires:
//   block.y == 1 && block.z == 1
//   grid.y == 1 && grid.z == 1
//   grid.x <= 128
//   block.x % 32 == 0
//   bytes >= 1
// extent:
//   source: source_bytes
//   target: target_bytes
// pdl: triggers at its start where each thread has one packet, else at its end; waits before its first load; before the wait it touches no
//   memory but its parameters.
m4_define(<!NAME!>, <!sum_bf16!>)m4_dnl
m4_define(<!TYPE!>, <!bf16!>)m4_dnl
m4_include(<!hop.inc!>)m4_dnl

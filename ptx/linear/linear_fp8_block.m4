m4_define(<!KERNEL!>, <!linear_fp8_block!>)m4_dnl
m4_define(<!WEIGHTS!>, <!weights of 8-bit floats with a scale for each block of 128 x 128, as DeepSeek and Qwen publish them!>)m4_dnl
m4_define(<!TILES!>, <!// tiles: 16 rows of W are columns / 128 records of 2064 bytes, and the next 16 rows follow. A record has 128 columns of the rows:
//   bytes 0 to 2047: byte 512 * i + 64 * r + 16 * q four 32-bit words, i and q 0 to 3, r 0 to 7: row r's columns 32 * i + 8 * q to + 3, its
//     next four, and the same of row r + 8. A word has four e4m3, a to d by their columns, each a sign and seven bits: those of a are bits 15
//     and 10 to 4, of b 31 and 26 to 20; of c the sign is bit 11, the upper three are bits 14 to 12, the lower four bits 3 to 0; of d 27, 30
//     to 28, and 19 to 16
//   bytes 2048 to 2051: the scale, f32; bytes 2052 to 2063: not read
//   An element is scale * e4m3.!>)m4_dnl
m4_define(<!LAUNCH!>, <!// launch: grid any, one-dimensional, block 384: eight warps multiply, one fetches, three add up. Shared dynamic: 304 bytes, 2560 for each row
//   of x, x, a quarter of a byte for each column, and a ring of two to sixteen slots of 33024 bytes, 16 rows of up to 2048 columns.
//   Suggested: from 20 million elements of W and U on a grid of twice the multiprocessors with half of their shared memory, where two
//   slots fit into it; below a grid of the multiprocessors with half of it, with more where a row has more than 4096 columns.!>)m4_dnl
m4_define(<!LIMITS!>, <!|x| (and |x * norm|) is below 2^110. W and U hold no NaN.!>)m4_dnl
m4_define(<!MEASURED!>, <!// history: a word's bits make two pairs of bf16 with five instructions and two products by 2^120; e4m3 as whole bytes would need seven.!>)m4_dnl
m4_dnl
m4_define(<!RECORD!>, <!2064!>)m4_dnl
m4_define(<!RECORD_REGISTERS!>, <!m4_dnl
    .reg .b32 %w0, %w1, %w2, %w3, %record0, %record1, %enlarge;
    .reg .f32 %scale_0, %scale_1;
!>)m4_dnl
m4_define(<!RECORDS_BEGIN!>, <!m4_dnl
    mov.b32 %enlarge, 0x7b807b80;
!>)m4_dnl
m4_define(<!OPEN_RECORD!>, <!m4_dnl
    add.u32 %record$1, %one, %words_at;
    ld.shared.f32 %scale_$1, [%one+2048];
!>)m4_dnl
m4_dnl A word as two pairs of bf16, times 2^-120 by its bits; subnormal numbers are such too.
m4_define(<!UNPACK!>, <!m4_dnl
    and.b32 $1, $3, 0x87f087f0;
    shl.b32 $2, $3, 4;
    shr.u32 %one, $3, 4;
    and.b32 %one, %one, 0x07000700;
    lop3.b32 $2, $2, 0x80f080f0, %one, 0xea;
    mul.rn.bf16x2 $1, $1, %enlarge;
    mul.rn.bf16x2 $2, $2, %enlarge;
!>)m4_dnl
m4_define(<!UNPACK_LOW!>, <!m4_dnl
    ld.shared.v4.b32 {%w0, %w1, %w2, %w3}, [%record$1+m4_eval(512 * $2)];
UNPACK(%a0, %a2, %w0)UNPACK(%a1, %a3, %w2)m4_dnl
!>)m4_dnl
m4_define(<!UNPACK_HIGH!>, <!m4_dnl
UNPACK(%a0, %a2, %w1)UNPACK(%a1, %a3, %w3)m4_dnl
!>)m4_dnl
m4_define(<!ADD_RECORD!>, <!m4_dnl
ADD_SCALED(0, $1, $1)ADD_SCALED(1, $1, $1)ADD_SCALED(2, $1, $1)ADD_SCALED(3, $1, $1)m4_dnl
!>)m4_dnl
m4_include(<!tiles.inc!>)m4_dnl

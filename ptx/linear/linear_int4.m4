m4_define(<!KERNEL!>, <!linear_int4!>)m4_dnl
m4_define(<!WEIGHTS!>, <!weights of 4 bits with a scale and a zero for each 128 of a row, as GPTQ and AWQ make them!>)m4_dnl
m4_define(<!TILES!>, <!// tiles: 16 rows of W are columns / 128 records of 1072 bytes, and the next 16 rows follow. A record has 128 columns of the rows:
//   bytes 0 to 511: rows 0 to 7, byte 64 * r + 16 * q + 4 * i the 32-bit word of the eight columns from 32 * i + 8 * q on, i and q 0 to 3;
//     bits 0 to 3 of a word are its column 0, then 2, 4, 6, 1, 3, 5, 7
//   bytes 512 to 1023: rows 8 to 15 likewise
//   bytes 1024 to 1055: scales, f16, of rows 0, 8, 1, 9, ... 7, 15; bytes 1056 to 1071: zeros, a byte each, 0 to 16, of the same rows
//   An element is scale * (bits - zero).!>)m4_dnl
m4_define(<!LAUNCH!>, <!// launch: grid any, one-dimensional, block 384: eight warps multiply, one fetches, three add up. Shared dynamic: 304 bytes, 2560 for each row
//   of x, x, a quarter of a byte for each column, and a ring of two to sixteen slots of 17152 bytes, 16 rows of up to 2048 columns.
//   Best on an H200: from 30 million elements of W and U on a grid of 264 with 114688 bytes, where two slots fit into these; below a grid
//   of 132 with 114688 bytes, with 180224 where a row has more than 4096 columns.!>)m4_dnl
m4_define(<!LIMITS!>, <!|x| (and |x * norm|) is below 2^112.!>)m4_dnl
m4_define(<!MEASURED!>, <!// measured: H200, steps of examples/llama in graph-pdl at context 576, weights of layers in 4 bits and the head in 8, us (all in 8 bits;
//   all in bf16): Llama-3.2-1B's shape 440 (474; 675), eight sequences 699 (738; 870); six layers of Llama-3.1-8B's shape 331 (407; 697),
//   eight sequences 563 (637; 875). The bytes of the first need 174. doc/history/speed.md has what was tried.!>)m4_dnl
m4_dnl
m4_define(<!RECORD!>, <!1072!>)m4_dnl
m4_define(<!RECORD_REGISTERS!>, <!m4_dnl
    .reg .b32 %w00, %w01, %w02, %w03, %v00, %v01, %v02, %v03, %w10, %w11, %w12, %w13, %v10, %v11, %v12, %v13;
    .reg .b32 %zeros0, %zeros1, %record, %scales_at, %zeros_at, %low_zeros0, %high_zeros0, %low_zeros1, %high_zeros1;
    .reg .b16 %scale_low0, %scale_high0, %scale_low1, %scale_high1;
    .reg .f32 %scale_a, %scale_b;
!>)m4_dnl
m4_define(<!RECORDS_BEGIN!>, <!m4_dnl
    shl.b32 %scales_at, %group, 2;
    add.u32 %scales_at, %scales_at, 1024;
    shl.b32 %zeros_at, %group, 1;
    add.u32 %zeros_at, %zeros_at, 1056;
!>)m4_dnl
m4_dnl Words of rows g and g + 8, scales and zeros.
m4_define(<!OPEN_RECORD!>, <!m4_dnl
    add.u32 %record, %one, %words_at;
    ld.shared.v4.b32 {%w$1<!!>0, %w$1<!!>1, %w$1<!!>2, %w$1<!!>3}, [%record];
    ld.shared.v4.b32 {%v$1<!!>0, %v$1<!!>1, %v$1<!!>2, %v$1<!!>3}, [%record+512];
    add.u32 %record, %one, %scales_at;
    ld.shared.v2.b16 {%scale_low$1, %scale_high$1}, [%record];
    add.u32 %record, %one, %zeros_at;
    ld.shared.u16 %zeros$1, [%record];
    and.b32 %one, %zeros$1, 0xff;
    mad.lo.u32 %low_zeros$1, %one, 0x00010001, 0x43004300;
    shr.u32 %one, %zeros$1, 8;
    mad.lo.u32 %high_zeros$1, %one, 0x00010001, 0x43004300;
!>)m4_dnl
m4_dnl Four bits of each half of a word, from bit $3 on, less the zero, as bf16: as 128 and the bits less 128 and the zero, both exact.
m4_define(<!UNPACK!>, <!m4_dnl
m4_ifelse($3, 0, <!!>, <!m4_dnl
    shr.u32 $1, $2, $3;
!>)m4_dnl
    lop3.b32 $1, m4_ifelse($3, 0, $2, $1), 0x000f000f, 0x43004300, 0xea;
    sub.rn.bf16x2 $1, $1, $4;
!>)m4_dnl
m4_define(<!UNPACK_LOW!>, <!m4_dnl
UNPACK(%a0, %w$1<!!>$2, 0, %low_zeros$1)m4_dnl
UNPACK(%a1, %v$1<!!>$2, 0, %high_zeros$1)m4_dnl
UNPACK(%a2, %w$1<!!>$2, 4, %low_zeros$1)m4_dnl
UNPACK(%a3, %v$1<!!>$2, 4, %high_zeros$1)m4_dnl
!>)m4_dnl
m4_define(<!UNPACK_HIGH!>, <!m4_dnl
UNPACK(%a0, %w$1<!!>$2, 8, %low_zeros$1)m4_dnl
UNPACK(%a1, %v$1<!!>$2, 8, %high_zeros$1)m4_dnl
UNPACK(%a2, %w$1<!!>$2, 12, %low_zeros$1)m4_dnl
UNPACK(%a3, %v$1<!!>$2, 12, %high_zeros$1)m4_dnl
!>)m4_dnl
m4_define(<!ADD_RECORD!>, <!m4_dnl
    cvt.f32.f16 %scale_a, %scale_low$1;
    cvt.f32.f16 %scale_b, %scale_high$1;
ADD_SCALED(0, a, $1)ADD_SCALED(1, a, $1)ADD_SCALED(2, b, $1)ADD_SCALED(3, b, $1)m4_dnl
!>)m4_dnl
m4_include(<!tiles.inc!>)m4_dnl

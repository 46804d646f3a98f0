// kernel: linear_int4
// purpose: a linear layer for up to eight rows of x with what stands around it in a decoder: RMS norm before it, bias, silu and product with a
//   second layer, residual after it; weights of 4 bits with a scale and a zero for each 128 of a row, as GPTQ and AWQ make them, x and y of
//   bf16, tensor cores, f32 accumulation; reads W once.
// parameters:
//   weight    u64 address of W in tiles (below), constant, read before the wait
//   up        u64 address of U, as W, constant, read before the wait; 0: none, else y = silu(W x) * (U x)
//   x         u64 address of batch * columns bf16, read after the wait
//   norm      u64 address of columns bf16, constant, read before the wait; 0: none, else each row of x is RMS-normalized with these
//             weights first: x * norm / sqrt(mean of x squared + epsilon)
//   bias      u64 address of rows bf16, constant, read before the wait; 0: none, else added to W x, before silu
//   residual  u64 address of batch * rows bf16, read after the wait; 0: none, else added last
//   y         u64 address of batch * rows bf16, written after the wait
//   rows      u32 rows of W, a multiple of 16
//   columns   u32 columns of W, a multiple of 128
//   batch     u32 rows of x, of residual and of y, 1 to 8
//   epsilon   f32, of the norm; not used without it
// tiles: 16 rows of W are columns / 128 records of 1072 bytes, and the next 16 rows follow. A record has 128 columns of the rows:
//   bytes 0 to 511: rows 0 to 7, byte 64 * r + 16 * q + 4 * i the 32-bit word of the eight columns from 32 * i + 8 * q on, i and q 0 to 3;
//     bits 0 to 3 of a word are its column 0, then 2, 4, 6, 1, 3, 5, 7
//   bytes 512 to 1023: rows 8 to 15 likewise
//   bytes 1024 to 1055: scales, f16, of rows 0, 8, 1, 9, ... 7, 15; bytes 1056 to 1071: zeros, a byte each, 0 to 16, of the same rows
//   An element is scale * (bits - zero).
// launch: grid any, one-dimensional, block 384: eight warps multiply, one fetches, three add up. Shared dynamic: 304 bytes, 2560 for each row
//   of x, x, a quarter of a byte for each column, and a ring of two to sixteen slots of 17152 bytes, 16 rows of up to 2048 columns.
//   Best on an H200: from 30 million elements of W and U on a grid of 264 with 114688 bytes, where two slots fit into these; below a grid
//   of 132 with 114688 bytes, with 180224 where a row has more than 4096 columns.
// requires:
//   weight != 0 && x != 0 && y != 0
//   rows >= 16
//   rows < 2^30
//   rows % 16 == 0
//   columns >= 128
//   columns < 2^24
//   columns % 128 == 0
//   batch >= 1
//   batch <= 8
//   weight % 16 == 0
//   up % 16 == 0
//   x % 16 == 0
//   norm % 16 == 0
//   bias % 2 == 0
//   residual % 2 == 0
//   y % 2 == 0
//   block.x == 384
//   grid.y == 1 && grid.z == 1
//   shared >= 34608 + 2560 * batch + columns / 4 + 2 * columns * batch -- x, and two slots of the ring
//   apart(y, weight, up, x, norm, bias)
//   y == residual || apart(y, residual)
// extent:
//   weight: b8[rows * columns / 128 * 67]
//   up: b8[rows * columns / 128 * 67]
//   x: bf16[batch * columns]
//   norm: bf16[columns]
//   bias: bf16[rows]
//   residual: bf16[batch * rows]
//   y: bf16[batch * rows]
// constraints: no kernel that may still run writes weight, up, norm or bias. x times norm is rounded to bf16 and must be in its range; the
//   squares of x are summed in f32. |x| (and |x * norm|) is below 2^112. A row's sum is taken in one fixed order:
//   the result's bits do not depend on grid, batch or shared memory. NaN in x gives NaN, an infinity gives an infinity or NaN, a
//   sum beyond f32 or bf16 is infinite.
// constant: weight, up, norm, bias
// pdl: triggers at its start; before the wait one thread fills the ring with W (and U) by bulk copies, a slot each, and the first bias and
//   the norm (as far as the L2 cache, of the first 18432 columns) are read; waits before it reads x; every thread waits.
// measured: H200, steps of examples/llama in graph-pdl at context 576, weights of layers in 4 bits and the head in 8, us (all in 8 bits;
//   all in bf16): Llama-3.2-1B's shape 440 (474; 675), eight sequences 699 (738; 870); six layers of Llama-3.1-8B's shape 331 (407; 697),
//   eight sequences 563 (637; 875). The bytes of the first need 174. doc/history/speed.md has what was tried.
m4_dnl
m4_dnl Shared memory: barriers of slots, full ones and behind 128 bytes empty ones; one of x, and one that is not used; barriers of sets of
m4_dnl partial sums, two full and two empty ones; partial sums: two sets, of W and U, of eight warps, of each row of x, 16 rows in 80 bytes; for
m4_dnl each 128 columns of eight rows of x the sum of their squares; x; the slots.
m4_define(<!RECORD!>, 1072)m4_dnl
m4_define(<!SLOT_GROUPS!>, 16)m4_dnl
m4_define(<!FOR4!>, <!m4_pushdef(<!I_!>, 0)$1<!!>m4_define(<!I_!>, 1)$1<!!>m4_define(<!I_!>, 2)$1<!!>m4_define(<!I_!>, 3)$1<!!>m4_popdef(<!I_!>)!>)m4_dnl
m4_dnl
m4_dnl One slot is asked for, and the next one aimed at.
m4_define(<!FETCH!>, <!m4_dnl
    min.u32 %bytes, %fetch_left, SLOT_GROUPS;
    sub.u32 %fetch_left, %fetch_left, %bytes;
    mul.lo.u32 %bytes, %bytes, RECORD;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%barrier_at], %bytes;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint
        [%slot_at], [%fetch_at], %bytes, [%barrier_at], %policy;
    cvt.u64.u32 %offset, %bytes;
    add.u64 %fetch_at, %fetch_at, %offset;
    setp.ne.u32 %has0, %fetch_left, 0;
    @%has0 bra aimed_$1;
    mov.u32 %fetch_left, %groups;
    not.pred %second, %second;
    and.pred %second, %second, %paired;
    @%second bra same_unit_$1;
    add.u32 %unit, %unit, %ctas;
    setp.ge.u32 %done, %unit, %units;
same_unit_$1:
    selp.b64 %fetch_at, %up, %weight, %second;
    mad.wide.u32 %fetch_at, %unit, %tile_bytes, %fetch_at;
aimed_$1:
NEXT_SLOT()m4_dnl
!>)m4_dnl
m4_define(<!NEXT_SLOT!>, <!m4_dnl
    add.u32 %barrier_at, %barrier_at, 8;
    add.u32 %slot_at, %slot_at, %slot_bytes;
    setp.eq.u32 %has0, %barrier_at, %barriers_end;
    @%has0 mov.u32 %barrier_at, %ring;
    @%has0 mov.u32 %slot_at, %ring_start;
    @%has0 xor.b32 %phase, %phase, 1;
!>)m4_dnl
m4_dnl
m4_dnl Turn $1 of those that bring x to shared memory: 16 lanes have 128 columns of a row of x, eight each. The row and the warp's group that come
m4_dnl next are two further on, since a warp has two such halves.
m4_define(<!STAGE_AIM!>, <!m4_dnl
    mov.u32 %row$1, %stage_row;
    mov.u32 %j$1, %stage_group;
    add.u32 %stage_row, %stage_row, 2;
STAGE_WRAP()STAGE_WRAP()m4_dnl
!>)m4_dnl
m4_define(<!STAGE_WRAP!>, <!m4_dnl
    setp.ge.u32 %has0, %stage_row, %batch;
    @%has0 sub.u32 %stage_row, %stage_row, %batch;
    @%has0 add.u32 %stage_group, %stage_group, 8;
!>)m4_dnl
m4_define(<!STAGE_LOAD!>, <!m4_dnl
    setp.lt.u32 %has$1, %j$1, %groups;
    mad.wide.u32 %offset, %j$1, 256, %x_at;
    mul.wide.u32 %output, %row$1, %columns;
    shl.b64 %output, %output, 1;
    add.u64 %offset, %offset, %output;
    mov.b32 %x$1<!!>a, 0;
    mov.b32 %x$1<!!>b, 0;
    mov.b32 %x$1<!!>c, 0;
    mov.b32 %x$1<!!>d, 0;
    @%has$1 ld.global.v4.b32 {%x$1<!!>a, %x$1<!!>b, %x$1<!!>c, %x$1<!!>d}, [%offset];
    and.pred %loads, %normed, %has$1;
    mad.wide.u32 %offset, %j$1, 256, %norm_at;
    @%loads ld.global.v4.b32 {%n$1<!!>a, %n$1<!!>b, %n$1<!!>c, %n$1<!!>d}, [%offset];
!>)m4_dnl
m4_define(<!SQUARE!>, <!m4_dnl
    shl.b32 %one, %$1, 16;
    mov.b32 %value, %one;
    fma.rn.f32 %square, %value, %value, %square;
    and.b32 %one, %$1, 0xffff0000;
    mov.b32 %value, %one;
    fma.rn.f32 %square, %value, %value, %square;
!>)m4_dnl
m4_define(<!STAGE_STORE!>, <!m4_dnl
    @!%normed bra stage_plain_$1;
    mov.f32 %square, 0f00000000;
SQUARE(x$1<!!>a)SQUARE(x$1<!!>b)SQUARE(x$1<!!>c)SQUARE(x$1<!!>d)m4_dnl
    mul.rn.bf16x2 %x$1<!!>a, %x$1<!!>a, %n$1<!!>a;
    mul.rn.bf16x2 %x$1<!!>b, %x$1<!!>b, %n$1<!!>b;
    mul.rn.bf16x2 %x$1<!!>c, %x$1<!!>c, %n$1<!!>c;
    mul.rn.bf16x2 %x$1<!!>d, %x$1<!!>d, %n$1<!!>d;
ADD_LANES(8)ADD_LANES(4)ADD_LANES(2)ADD_LANES(1)m4_dnl
    mad.lo.u32 %one, %j$1, 32, %squares_at;
    mad.lo.u32 %one, %row$1, 4, %one;
    and.pred %tells, %tells_any, %has$1;
    @%tells st.shared.f32 [%one], %square;
stage_plain_$1:
    mad.lo.u32 %one, %j$1, %x_group, %stage_at;
    mad.lo.u32 %one, %row$1, 64, %one;
    @%has$1 st.shared.v4.b32 [%one], {%x$1<!!>a, %x$1<!!>b, %x$1<!!>c, %x$1<!!>d};
!>)m4_dnl
m4_dnl
m4_dnl One of the warp's two records of a slot, the one of number %one: words of rows g and g + 8, scales, zeros, and the numbers of two rows of x.
m4_define(<!LOAD_RECORD!>, <!m4_dnl
    mad.lo.u32 %x_run$1, %one, %x_group, %x_run;
    mad.lo.u32 %one, %one, RECORD, %slot_at;
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
m4_define(<!MMA!>, <!m4_dnl
    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%$1<!!>0, %$1<!!>1, %$1<!!>2, %$1<!!>3},
        {%a0, %a1, %a2, %a3}, {%$2, %$3}, {%$4<!!>0, %$4<!!>1, %$4<!!>2, %$4<!!>3};
!>)m4_dnl
m4_dnl 32 columns of record $1: d and e get the products of every other 16. Lanes without a row of x keep their zeros.
m4_define(<!MULTIPLY_QUARTER!>, <!m4_dnl
    @%reads ld.shared.v4.b32 {%x$1<!!>m4_eval($2 % 2)<!!>a, %x$1<!!>m4_eval($2 % 2)<!!>b, %x$1<!!>m4_eval($2 % 2)<!!>c, %x$1<!!>m4_eval($2 % 2)<!!>d}, [%x_run$1];
    add.u32 %x_run$1, %x_run$1, %x_quarter;
UNPACK(%a0, %w$1<!!>$2, 0, %low_zeros$1)m4_dnl
UNPACK(%a1, %v$1<!!>$2, 0, %high_zeros$1)m4_dnl
UNPACK(%a2, %w$1<!!>$2, 4, %low_zeros$1)m4_dnl
UNPACK(%a3, %v$1<!!>$2, 4, %high_zeros$1)m4_dnl
MMA(d$1, x$1<!!>m4_eval($2 % 2)<!!>a, x$1<!!>m4_eval($2 % 2)<!!>b, m4_ifelse($2, 0, none, d$1))m4_dnl
UNPACK(%a0, %w$1<!!>$2, 8, %low_zeros$1)m4_dnl
UNPACK(%a1, %v$1<!!>$2, 8, %high_zeros$1)m4_dnl
UNPACK(%a2, %w$1<!!>$2, 12, %low_zeros$1)m4_dnl
UNPACK(%a3, %v$1<!!>$2, 12, %high_zeros$1)m4_dnl
MMA(e$1, x$1<!!>m4_eval($2 % 2)<!!>c, x$1<!!>m4_eval($2 % 2)<!!>d, m4_ifelse($2, 0, none, e$1))m4_dnl
!>)m4_dnl
m4_define(<!ADD_RECORD!>, <!m4_dnl
    cvt.f32.f16 %scale_a, %scale_low$1;
    cvt.f32.f16 %scale_b, %scale_high$1;
ADD_SCALED(0, a, $1)ADD_SCALED(1, a, $1)ADD_SCALED(2, b, $1)ADD_SCALED(3, b, $1)m4_dnl
!>)m4_dnl
m4_define(<!ADD_SCALED!>, <!m4_dnl
    add.rn.f32 %value, %d$3<!!>$1, %e$3<!!>$1;
    m4_ifelse($3, 1, <!@%has1 !>)fma.rn.f32 %sum$1, %value, %scale_$2, %sum$1;
!>)m4_dnl
m4_dnl
m4_dnl What is added in the adder's lane: of its row of W, of that in its row of x, which is element %output of y.
m4_define(<!LOAD_BIAS!>, <!m4_dnl
    mad.lo.u32 %one, %unit, 16, %row;
    ld.param.u64 %optional, [bias];
    setp.ne.u64 %has0, %optional, 0;
    mad.wide.u32 %optional, %one, 2, %optional;
    mov.b16 %bias_bits, 0;
    @%has0 ld.global.b16 %bias_bits, [%optional];
!>)m4_dnl
m4_define(<!LOAD_RESIDUAL!>, <!m4_dnl
    mad.lo.u32 %one, %unit, 16, %row;
    cvt.u64.u32 %output, %one;
    mad.wide.u32 %output, %finished_row, %rows, %output;
    setp.ne.u64 %has0, %residual_at, 0;
    setp.lt.and.u32 %has0, %finished_row, %batch, %has0;
    shl.b64 %offset, %output, 1;
    add.u64 %offset, %residual_at, %offset;
    mov.b16 %residual_bits, 0;
    and.pred %has0, %has0, %finishes;
    @%has0 ld.global.b16 %residual_bits, [%offset];
!>)m4_dnl
m4_define(<!ADD_OPTIONAL!>, <!m4_dnl
    cvt.u32.u16 %one, %$1_bits;
    shl.b32 %one, %one, 16;
    mov.b32 %value, %one;
    add.rn.f32 %product, %product, %value;
!>)m4_dnl
m4_define(<!ADD_LANES!>, <!m4_dnl
    shfl.sync.bfly.b32 %value, %square, $1, 31, 0xffffffff;
    add.rn.f32 %square, %square, %value;
!>)m4_dnl
m4_define(<!WAIT_BARRIER!>, <!m4_dnl
$1:
    mbarrier.try_wait.parity.shared::cta.b64 %arrived, [$2], %phase;
    @!%arrived bra $1;
!>)m4_dnl
m4_define(<!WAIT_SET!>, <!m4_dnl
$1:
    mbarrier.try_wait.parity.shared::cta.b64 %arrived, [$2], %set_phase;
    @!%arrived bra $1;
!>)m4_dnl
.version 8.0
.target sm_90
.address_size 64

.extern .shared .align 128 .b8 ring[];

.visible .entry linear_int4(
    .param .u64 weight,
    .param .u64 up,
    .param .u64 x,
    .param .u64 norm,
    .param .u64 bias,
    .param .u64 residual,
    .param .u64 y,
    .param .u32 rows,
    .param .u32 columns,
    .param .u32 batch,
    .param .f32 epsilon
)
.maxntid 384
.minnctapersm 2
{
    .reg .pred %has0, %has1, %has2, %has3, %reads, %loads, %paired, %second, %normed, %done, %arrived, %leader, %finishes, %sums, %tells, %tells_any;
    .reg .b32 %rows, %columns, %batch, %groups, %units, %unit, %cta, %ctas, %warp, %lane, %group, %quad, %one;
    .reg .b32 %ring, %ring_start, %barriers_end, %squares_at, %x_area, %x_group, %x_quarter, %slot_bytes, %tile_bytes, %slots;
    .reg .b32 %barrier_at, %slot_at, %slot, %phase, %set_phase, %bytes, %fetch_left, %left;
    .reg .b32 %j0, %j1, %j2, %j3, %row0, %row1, %row2, %row3, %stage_at, %stage_row, %stage_group, %stage_left;
    .reg .b32 %x0a, %x0b, %x0c, %x0d, %n0a, %n0b, %n0c, %n0d, %x1a, %x1b, %x1c, %x1d, %n1a, %n1b, %n1c, %n1d;
    .reg .b32 %x2a, %x2b, %x2c, %x2d, %n2a, %n2b, %n2c, %n2d, %x3a, %x3b, %x3c, %x3d, %n3a, %n3b, %n3c, %n3d;
    .reg .b32 %w00, %w01, %w02, %w03, %v00, %v01, %v02, %v03, %w10, %w11, %w12, %w13, %v10, %v11, %v12, %v13, %a0, %a1, %a2, %a3;
    .reg .b32 %x00a, %x00b, %x00c, %x00d, %x01a, %x01b, %x01c, %x01d, %x10a, %x10b, %x10c, %x10d, %x11a, %x11b, %x11c, %x11d, %zeros0, %zeros1, %record, %words_at, %scales_at, %zeros_at;
    .reg .b32 %x_run, %x_start, %x_run0, %x_run1, %low_zeros0, %high_zeros0, %low_zeros1, %high_zeros1, %slot_step;
    .reg .b32 %part_at, %part_step, %part_put, %set, %row, %finished_row, %rows_at_once, %first_row;
    .reg .b64 %weight, %up, %x_at, %norm_at, %fetch_at, %offset, %policy, %optional, %output, %residual_at, %y_at;
    .reg .b16 %scale_low0, %scale_high0, %scale_low1, %scale_high1, %bias_bits, %residual_bits, %half;
    .reg .f32 %square, %value, %scale_a, %scale_b, %norm_scale, %epsilon, %product, %gate;
    .reg .f32 %d00, %d01, %d02, %d03, %e00, %e01, %e02, %e03, %d10, %d11, %d12, %d13, %e10, %e11, %e12, %e13;
    .reg .f32 %none0, %none1, %none2, %none3, %sum0, %sum1, %sum2, %sum3;
FOR4(<!    .reg .f32 %t<!!>I_<!!>0, %t<!!>I_<!!>1;
!>)m4_dnl

    griddepcontrol.launch_dependents;

    ld.param.u64 %weight, [weight];
    ld.param.u64 %up, [up];
    setp.ne.u64 %paired, %up, 0;
    ld.param.u64 %norm_at, [norm];
    setp.ne.u64 %normed, %norm_at, 0;
    ld.param.u32 %rows, [rows];
    ld.param.u32 %columns, [columns];
    ld.param.u32 %batch, [batch];
    mov.u32 %cta, %ctaid.x;
    mov.u32 %ctas, %nctaid.x;
    mov.u32 %one, %tid.x;
    and.b32 %lane, %one, 31;
    shr.u32 %warp, %one, 5;
    shr.u32 %group, %lane, 2;
    and.b32 %quad, %lane, 3;
    setp.eq.u32 %leader, %lane, 0;
    shr.u32 %units, %rows, 4;
    shr.u32 %groups, %columns, 7;
    mul.lo.u32 %tile_bytes, %groups, RECORD;
    min.u32 %one, %groups, SLOT_GROUPS;
    mul.lo.u32 %slot_bytes, %one, RECORD;
    shl.b32 %x_quarter, %batch, 6;
    shl.b32 %x_group, %batch, 8;

    mov.u32 %ring, ring;
    mad.lo.u32 %squares_at, %batch, 2560, %ring;
    add.u32 %squares_at, %squares_at, 304;
    mad.lo.u32 %x_area, %groups, 32, %squares_at;
    mad.lo.u32 %ring_start, %groups, %x_group, %x_area;
    mov.u32 %slots, %dynamic_smem_size;
    add.u32 %slots, %slots, %ring;
    sub.u32 %slots, %slots, %ring_start;
    div.u32 %slots, %slots, %slot_bytes;
    min.u32 %slots, %slots, 16;

    mov.u32 %one, %tid.x;
    setp.lt.u32 %has0, %one, 16;
    mad.lo.u32 %one, %one, 8, %ring;
    @%has0 mbarrier.init.shared::cta.b64 [%one], 1;
    @%has0 mbarrier.init.shared::cta.b64 [%one+128], 8;
    @%has0 fence.proxy.async.shared::cta;
    mov.u32 %one, %tid.x;
    setp.lt.u32 %has0, %one, 2;
    mad.lo.u32 %one, %one, 8, %ring;
    @%has0 mbarrier.init.shared::cta.b64 [%one+256], 8;
    @%has0 mbarrier.init.shared::cta.b64 [%one+272], 8;
    selp.u32 %left, 0, 1, %paired;
    add.u32 %bytes, %batch, %left;
    shr.u32 %bytes, %bytes, %left;
    min.u32 %bytes, %bytes, 3;
    @%has0 mbarrier.init.shared::cta.b64 [%one+288], %bytes;
    mov.u32 %unit, %cta;
    setp.ge.u32 %done, %unit, %units;
    bar.sync 0;
    setp.eq.u32 %has0, %warp, 8;
    @%has0 bra fetcher;
    and.b32 %row, %lane, 15;
    setp.ge.u32 %has0, %warp, 9;
    @%has0 bra adder;

    mov.u32 %one, %tid.x;
    shl.b32 %one, %one, 6;
    setp.lt.and.u32 %has0, %one, %columns, %normed;
    mad.wide.u32 %offset, %one, 2, %norm_at;
    @%has0 prefetch.global.L2 [%offset];
    // x goes to shared memory, each warp's own groups, every eighth: row b of x as it stands in the tensor cores' second matrix. The half
    // warps take turns at rows and groups.
    mov.u32 %stage_group, %warp;
    shr.u32 %stage_row, %lane, 4;
STAGE_WRAP()m4_dnl
    and.b32 %one, %lane, 15;
    setp.eq.u32 %tells_any, %one, 0;
    shr.u32 %left, %one, 2;
    mad.lo.u32 %stage_at, %left, %x_quarter, %x_area;
    mad.lo.u32 %stage_at, %quad, 16, %stage_at;
    ld.param.u64 %x_at, [x];
    mad.wide.u32 %x_at, %one, 16, %x_at;
    mad.wide.u32 %norm_at, %one, 16, %norm_at;
    // How many rows of all its groups the warp has.
    sub.u32 %stage_left, %groups, %warp;
    add.u32 %stage_left, %stage_left, 7;
    shr.u32 %stage_left, %stage_left, 3;
    setp.lt.u32 %has0, %warp, %groups;
    selp.b32 %stage_left, %stage_left, 0, %has0;
    mul.lo.u32 %stage_left, %stage_left, %batch;
FOR4(<!STAGE_AIM(I_)!>)m4_dnl
    griddepcontrol.wait;
    @%done bra finished;
stage:
FOR4(<!STAGE_LOAD(I_)!>)m4_dnl
FOR4(<!m4_dnl
STAGE_STORE(I_)m4_dnl
    setp.le.u32 %loads, %stage_left, m4_eval(2 * I_ + 2);
    @%loads bra staged;
!>)m4_dnl
    sub.u32 %stage_left, %stage_left, 8;
FOR4(<!STAGE_AIM(I_)!>)m4_dnl
    bra stage;
staged:
    bar.warp.sync 0xffffffff;
    @%leader mbarrier.arrive.shared::cta.b64 _, [%ring+256];

    mov.u32 %phase, 0;
    mov.u32 %set_phase, 1;
    mov.u32 %slot, 0;
    setp.lt.u32 %reads, %group, %batch;
    mul.lo.u32 %slot_step, %x_group, SLOT_GROUPS;
    mad.lo.u32 %x_start, %lane, 16, %x_area;
    mov.b32 %x00a, 0;
    mov.b32 %x00b, 0;
    mov.b32 %x00c, 0;
    mov.b32 %x00d, 0;
    mov.b32 %x01a, 0;
    mov.b32 %x01b, 0;
    mov.b32 %x01c, 0;
    mov.b32 %x01d, 0;
    mov.b32 %x10a, 0;
    mov.b32 %x10b, 0;
    mov.b32 %x10c, 0;
    mov.b32 %x10d, 0;
    mov.b32 %x11a, 0;
    mov.b32 %x11b, 0;
    mov.b32 %x11c, 0;
    mov.b32 %x11d, 0;
    shl.b32 %words_at, %lane, 4;
    shl.b32 %scales_at, %group, 2;
    add.u32 %scales_at, %scales_at, 1024;
    shl.b32 %zeros_at, %group, 1;
    add.u32 %zeros_at, %zeros_at, 1056;
FOR4(<!m4_dnl
    mov.f32 %none<!!>I_, 0f00000000;
!>)m4_dnl
    // The lane's place among the partial sums: column 2 * quad of row g.
    mul.lo.u32 %part_put, %warp, %batch;
    mad.lo.u32 %part_put, %part_put, 80, %ring;
    mad.lo.u32 %part_put, %quad, 160, %part_put;
    mad.lo.u32 %part_put, %group, 4, %part_put;
    mov.u32 %set, 0;
unit_loop:
    setp.ne.u32 %second, %phase, %phase;
part_loop:
    mov.f32 %sum0, 0f00000000;
    mov.f32 %sum1, 0f00000000;
    mov.f32 %sum2, 0f00000000;
    mov.f32 %sum3, 0f00000000;
    mov.u32 %left, %groups;
    mov.u32 %x_run, %x_start;
slot_loop:
    mad.lo.u32 %barrier_at, %slot, 8, %ring;
    mad.lo.u32 %slot_at, %slot, %slot_bytes, %ring_start;
WAIT_BARRIER(wait_full, %barrier_at)m4_dnl
    setp.ge.u32 %has0, %warp, %left;
    @%has0 bra slot_read;
    mov.u32 %one, %warp;
LOAD_RECORD(0)m4_dnl
    // A second record that is not there stands for the first, and nothing comes of it.
    add.u32 %one, %warp, 8;
    setp.lt.u32 %has1, %one, %left;
    selp.b32 %one, %one, %warp, %has1;
LOAD_RECORD(1)m4_dnl
FOR4(<!MULTIPLY_QUARTER(0, I_)MULTIPLY_QUARTER(1, I_)!>)m4_dnl
ADD_RECORD(0)ADD_RECORD(1)m4_dnl
slot_read:
    bar.warp.sync 0xffffffff;
    @%leader mbarrier.arrive.shared::cta.b64 _, [%barrier_at+128];
    add.u32 %slot, %slot, 1;
    setp.eq.u32 %has0, %slot, %slots;
    @%has0 mov.u32 %slot, 0;
    @%has0 xor.b32 %phase, %phase, 1;
    add.u32 %x_run, %x_run, %slot_step;
    setp.gt.u32 %has0, %left, SLOT_GROUPS;
    sub.u32 %left, %left, SLOT_GROUPS;
    @%has0 bra slot_loop;

    mad.lo.u32 %barrier_at, %set, 8, %ring;
    mul.lo.u32 %one, %batch, 1280;
    mad.lo.u32 %one, %one, %set, %part_put;
    @!%second bra put_first;
    mad.lo.u32 %one, %batch, 640, %one;
    bra put;
put_first:
    // Who adds up has left this set.
WAIT_SET(wait_put, %barrier_at+288)m4_dnl
put:
    shl.b32 %left, %quad, 1;
    setp.lt.u32 %has0, %left, %batch;
    @%has0 st.shared.f32 [%one+304], %sum0;
    @%has0 st.shared.f32 [%one+336], %sum2;
    add.u32 %left, %left, 1;
    setp.lt.u32 %has0, %left, %batch;
    @%has0 st.shared.f32 [%one+384], %sum1;
    @%has0 st.shared.f32 [%one+416], %sum3;
    not.pred %second, %second;
    and.pred %second, %second, %paired;
    @%second bra part_loop;
    bar.warp.sync 0xffffffff;
    @%leader mbarrier.arrive.shared::cta.b64 _, [%barrier_at+272];
    xor.b32 %set, %set, 1;
    setp.eq.u32 %has0, %set, 0;
    @%has0 xor.b32 %set_phase, %set_phase, 1;
    add.u32 %unit, %unit, %ctas;
    setp.lt.u32 %has0, %unit, %units;
    @%has0 bra unit_loop;
    bra finished;

    // A lane adds up a row of W for one row of x, those behind the 16th another row of x, or U. The warps take turns at rows of x.
adder:
    shr.u32 %first_row, %lane, 4;
    selp.u32 %first_row, 0, %first_row, %paired;
    selp.u32 %rows_at_once, 1, 2, %paired;
    sub.u32 %left, %warp, 9;
    mul.lo.u32 %left, %left, %rows_at_once;
    setp.ge.or.u32 %done, %left, %batch, %done;
    add.u32 %first_row, %first_row, %left;
    mul.lo.u32 %rows_at_once, %rows_at_once, 3;
    mul.lo.u32 %part_step, %batch, 80;
    shr.u32 %one, %lane, 4;
    mul.lo.u32 %one, %one, %batch;
    selp.u32 %one, %one, 0, %paired;
    mad.lo.u32 %part_put, %one, 640, %ring;
    mad.lo.u32 %part_put, %row, 4, %part_put;
    setp.lt.u32 %has0, %lane, 16;
    not.pred %has1, %paired;
    or.pred %finishes, %has0, %has1;
    ld.param.u64 %residual_at, [residual];
    ld.param.u64 %y_at, [y];
    mov.f32 %norm_scale, 0f3f800000;
    mov.u32 %set_phase, 0;
    mov.u32 %set, 0;
    @%done bra adder_waits;
LOAD_BIAS()m4_dnl
adder_waits:
    griddepcontrol.wait;
    @%done bra finished;
    @!%normed bra add_unit;
WAIT_SET(wait_squares, %ring+256)m4_dnl
    // Lane b learns the scale of row b of x; for each row a lane adds every 32nd sum of squares.
    mov.u32 %left, 0;
rows_loop:
    mov.f32 %square, 0f00000000;
    mov.u32 %one, %lane;
    mad.lo.u32 %bytes, %left, 4, %squares_at;
    mad.lo.u32 %bytes, %lane, 32, %bytes;
squares_loop:
    setp.ge.u32 %has0, %one, %groups;
    @%has0 bra squares_read;
    ld.shared.f32 %value, [%bytes];
    add.rn.f32 %square, %square, %value;
    add.u32 %bytes, %bytes, 1024;
    add.u32 %one, %one, 32;
    bra squares_loop;
squares_read:
    bar.warp.sync 0xffffffff;
ADD_LANES(16)ADD_LANES(8)ADD_LANES(4)ADD_LANES(2)ADD_LANES(1)m4_dnl
    setp.eq.u32 %has0, %lane, %left;
    @%has0 mov.f32 %norm_scale, %square;
    add.u32 %left, %left, 1;
    setp.lt.u32 %has0, %left, %batch;
    @%has0 bra rows_loop;
    cvt.rn.f32.u32 %value, %columns;
    div.full.f32 %norm_scale, %norm_scale, %value;
    ld.param.f32 %epsilon, [epsilon];
    add.rn.f32 %norm_scale, %norm_scale, %epsilon;
    rsqrt.approx.f32 %norm_scale, %norm_scale;
add_unit:
    mov.u32 %finished_row, %first_row;
LOAD_RESIDUAL()m4_dnl
    mad.lo.u32 %barrier_at, %set, 8, %ring;
WAIT_SET(wait_sums, %barrier_at+272)m4_dnl
    mul.lo.u32 %one, %batch, 1280;
    mad.lo.u32 %part_at, %one, %set, %part_put;
add_row:
    mad.lo.u32 %one, %finished_row, 80, %part_at;
    setp.lt.u32 %sums, %finished_row, %batch;
FOR4(<!m4_dnl
    mov.f32 %t<!!>I_<!!>0, 0f00000000;
    mov.f32 %t<!!>I_<!!>1, 0f00000000;
    @%sums ld.shared.f32 %t<!!>I_<!!>0, [%one+304];
    add.u32 %one, %one, %part_step;
    @%sums ld.shared.f32 %t<!!>I_<!!>1, [%one+304];
    add.u32 %one, %one, %part_step;
!>)m4_dnl
FOR4(<!m4_dnl
    add.rn.f32 %t<!!>I_<!!>0, %t<!!>I_<!!>0, %t<!!>I_<!!>1;
!>)m4_dnl
    add.rn.f32 %t00, %t00, %t10;
    add.rn.f32 %t20, %t20, %t30;
    add.rn.f32 %product, %t00, %t20;
    shfl.sync.idx.b32 %value, %norm_scale, %finished_row, 31, 0xffffffff;
    selp.f32 %value, %value, 0f3f800000, %normed;
    mul.rn.f32 %product, %product, %value;
    shfl.sync.down.b32 %gate, %product, 16, 31, 0xffffffff;
ADD_OPTIONAL(bias)m4_dnl
    @!%paired bra complete;
    // silu(product) = product / (1 + exp(-product)), the exponential as a power of two.
    mul.rn.f32 %value, %product, 0fbfb8aa3b;
    ex2.approx.f32 %value, %value;
    add.rn.f32 %value, %value, 0f3f800000;
    div.full.f32 %value, %product, %value;
    mul.rn.f32 %product, %gate, %value;
complete:
ADD_OPTIONAL(residual)m4_dnl
    cvt.rn.bf16.f32 %half, %product;
    and.pred %sums, %sums, %finishes;
    shl.b64 %offset, %output, 1;
    add.u64 %offset, %y_at, %offset;
    @%sums st.global.b16 [%offset], %half;
    add.u32 %finished_row, %finished_row, %rows_at_once;
    sub.u32 %left, %finished_row, %first_row;
    setp.ge.u32 %has0, %left, %batch;
    @%has0 bra added;
LOAD_RESIDUAL()m4_dnl
    bra add_row;
added:
    bar.warp.sync 0xffffffff;
    @%leader mbarrier.arrive.shared::cta.b64 _, [%barrier_at+288];
    xor.b32 %set, %set, 1;
    setp.eq.u32 %has0, %set, 0;
    @%has0 xor.b32 %set_phase, %set_phase, 1;
    add.u32 %unit, %unit, %ctas;
    setp.ge.u32 %has0, %unit, %units;
    @%has0 bra finished;
LOAD_BIAS()m4_dnl
    bra add_unit;

fetcher:
    // One thread fetches; the first lap finds all slots empty.
    @!%leader bra idle;
    createpolicy.fractional.L2::evict_first.b64 %policy, 1.0;
    mov.u32 %barrier_at, %ring;
    mov.u32 %slot_at, %ring_start;
    mad.lo.u32 %barriers_end, %slots, 8, %ring;
    mov.u32 %fetch_left, %groups;
    setp.ne.u32 %second, %lane, 0;
    mad.wide.u32 %fetch_at, %unit, %tile_bytes, %weight;
    mov.u32 %phase, 0;
fill:
    setp.ne.or.u32 %has0, %phase, 0, %done;
    @%has0 bra filled;
FETCH(fill)m4_dnl
    bra fill;
filled:
idle:
    griddepcontrol.wait;
    @!%leader bra finished;
fetch:
    @%done bra finished;
    // A barrier that has completed no phase answers for the one before.
    xor.b32 %phase, %phase, 1;
WAIT_BARRIER(wait_empty, %barrier_at+128)m4_dnl
    xor.b32 %phase, %phase, 1;
    fence.proxy.async.shared::cta;
FETCH(fetch)m4_dnl
    bra fetch;

finished:
    ret;
}

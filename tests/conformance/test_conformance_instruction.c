/* Control flow, calls, special registers, memory spaces, atomics, warps and barriers: small kernels
 * whose results the host works out for each thread. */
#include <math.h>

#include "conformance.h"

enum { MOST_THREADS = 256 };

/* What thread `i` stores as its word. */
typedef uint32_t expectation(uint32_t i);

/* A kernel: %i is the thread's number in the grid, in and out are the two buffers, %at is where its
 * word goes. */
#define BEGIN                                                                                      \
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n    .reg .b64 %in, %out, %at, "        \
    "%d<12>;\n"                                                                                    \
    "    .reg .b32 %i, %r<20>;\n    .reg .b16 %h<4>;\n    .reg .f32 %f<4>;\n    .reg .pred "       \
    "%p<8>;\n"                                                                                     \
    "    ld.param.u64 %in, [in];\n    ld.param.u64 %out, [out];\n    mov.u32 %r0, %ctaid.x;\n"     \
    "    mov.u32 %r1, %ntid.x;\n    mov.u32 %i, %tid.x;\n    mad.lo.u32 %i, %r0, %r1, %i;\n"       \
    "    mul.wide.u32 %at, %i, 4;\n    add.u64 %at, %out, %at;\n"
#define END "    st.global.u32 [%at], %r9;\n    ret;\n}\n"

typedef struct sample {
    const char *name, *before, *body; /* before: what stands ahead of the kernel; NULL */
    unsigned grid, block;
    expectation *expected;
} sample;

/* ---- what the host expects ---- */

static uint32_t input_of(uint32_t i)
{
    return i * 2654435761u + 12345;
}

static uint32_t loop_sum(uint32_t i)
{
    uint32_t sum = 0;

    for (uint32_t step = 0; step <= i % 7; step++)
        sum += step * step + i;
    return sum;
}

static uint32_t table_jump(uint32_t i)
{
    return (i & 3) == 0 ? 100 : (i & 3) == 1 ? 200 + i : (i & 3) == 2 ? 300 : 400;
}

static uint32_t twice_plus(uint32_t i)
{
    return 2 * (i + 5) + 2 * i;
}

static uint32_t early(uint32_t i)
{
    return i % 3 ? 7 : 1;
}

static uint32_t places(uint32_t i)
{
    return i % 32 + 32 * (i / 64) + 256 * 64 + (UINT32_C(1) << 20);
}

static uint32_t same(uint32_t i)
{
    return i;
}

static uint32_t one(uint32_t i)
{
    (void)i;
    return 1;
}

static uint32_t shared_neighbour(uint32_t i)
{
    return (i ^ 1) * 3;
}

static uint32_t local_sum(uint32_t i)
{
    return i + (i + 1) + (i + 2) + (i + 3);
}

static uint32_t constant_entry(uint32_t i)
{
    static const uint32_t table[] = {11, 22, 33, 44};

    return table[i & 3];
}

static uint32_t input_mixed(uint32_t i)
{
    return input_of(i) ^ input_of(i & ~3u) ^ (input_of(i) & 0xff);
}

static uint32_t register_sums(uint32_t i)
{
    return (((i + 3) + (i - 1)) ^ (i + 30 + 32)) + 5;
}

static uint32_t typed_sums(uint32_t i)
{
    (void)i;
    /* 65535 + 2 in 16 bits; -4, of which four bits plus 1; 768; 4096 with no carry; 200 + 57 in 8
     * bits */
    return 1 + 0x100 + 0x300 + 0x1000 + 0x10000;
}

static uint32_t address_sums(uint32_t i)
{
    (void)i;
    return 4 + 8 + 33 + 64;
}

static uint32_t vector_parts(uint32_t i)
{
    /* (7, i) becomes (i - 7, i); 32 threads; 1 * i + 0.5 */
    uint32_t product = (uint32_t)lrint(1.0 * i + 0.5);

    return i + 100 * i + 320000 + 0x1000000 * product;
}

static uint32_t swapped(uint32_t i)
{
    return 1000 - i;
}

static uint32_t results(uint32_t i)
{
    return i + 1 + 3 * i + 1000 * 16 + i + 100000 * 32 + 9 * 0x1000000u;
}

static uint32_t masks(uint32_t i)
{
    return i % 32 < 16 ? 0x0000ffff : 0xffff0000;
}

static uint32_t ballots(uint32_t i)
{
    (void)i;
    return 0x49249249;
}

static uint32_t vote_bits(uint32_t i)
{
    (void)i;
    return 1; /* any, not all, not uniform */
}

static uint32_t shuffled(uint32_t i)
{
    uint32_t lane = i % 32, base = i - lane;
    uint32_t up = lane >= 3 ? i - 3 : i, down = lane < 27 ? i + 5 : i;

    return up * 7 + down * 11 + (i ^ 9) * 13 + (base + 17) * 17;
}

static uint32_t matched(uint32_t i)
{
    return 0x11111111u << (i & 3);
}

static uint32_t reduced(uint32_t i)
{
    (void)i;
    return 496 + 31 + 0 + 31 + 0; /* sum, greatest, least, or, and of the lanes' numbers */
}

static uint32_t elected(uint32_t i)
{
    return i % 32 == 0;
}

static uint32_t counted(uint32_t i)
{
    return i < 64 ? 64 : 0;
}

static uint32_t reversed_in_cta(uint32_t i)
{
    return (i & ~127u) + 127 - (i & 127);
}

static uint32_t rank_of(uint32_t i)
{
    return i / 32 % 2 + 10;
}

/* ---- the kernels ---- */

static const sample control[] = {
    {"loops", NULL,
     "    rem.u32 %r2, %i, 7;\n    mov.u32 %r3, 0;\n    mov.u32 %r9, 0;\nagain:\n    mad.lo.u32 "
     "%r4, %r3, %r3, %i;\n"
     "    add.u32 %r9, %r9, %r4;\n    add.u32 %r3, %r3, 1;\n    setp.le.u32 %p0, %r3, %r2;\n    "
     "@%p0 bra again;\n",
     2, 96, loop_sum},
    {"branch tables", NULL,
     "    and.b32 %r2, %i, 3;\nlist: .branchtargets L0, L1, L2, L3;\n    brx.idx %r2, list;\nL0:\n "
     "   mov.u32 %r9, "
     "100;\n"
     "    bra.uni done;\nL1:\n    add.u32 %r9, %i, 200;\n    bra done;\nL2:\n    mov.u32 %r9, "
     "300;\n    bra "
     "done;\nL3:\n"
     "    mov.u32 %r9, 400;\ndone:\n",
     1, 64, table_jump},
    {"calls",
     ".func (.param .b32 result) twice(.param .b32 value)\n{\n    .reg .b32 %v;\n    ld.param.b32 "
     "%v, [value];\n"
     "    shl.b32 %v, %v, 1;\n    st.param.b32 [result], %v;\n    ret;\n}\n",
     "    .param .b32 argument;\n    .param .b32 answer;\n    add.u32 %r2, %i, 5;\n    "
     "st.param.b32 [argument], %r2;\n"
     "    call.uni (answer), twice, (argument);\n    ld.param.b32 %r3, [answer];\n    mov.u64 %d0, "
     "twice;\n"
     "    st.param.b32 [argument], %i;\nshape: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
     "    call (answer), %d0, (argument), shape;\n    ld.param.b32 %r4, [answer];\n    add.u32 "
     "%r9, %r3, %r4;\n",
     1, 64, twice_plus},
    {"exit", NULL,
     "    mov.u32 %r9, 1;\n    st.global.u32 [%at], %r9;\n    rem.u32 %r2, %i, 3;\n    setp.eq.u32 "
     "%p0, %r2, 0;\n"
     "    @%p0 exit;\n    mov.u32 %r9, 7;\n",
     1, 96, early},
    {"special registers", NULL,
     "    mov.u32 %r2, %laneid;\n    mov.u32 %r3, %ctaid.x;\n    mov.u32 %r4, %ntid.x;\n    "
     "mov.u32 %r5, %nctaid.x;\n"
     "    shl.b32 %r3, %r3, 5;\n    shl.b32 %r4, %r4, 8;\n    shr.u32 %r5, %r5, 1;\n    shl.b32 "
     "%r5, %r5, 20;\n"
     "    add.u32 %r9, %r2, %r3;\n    add.u32 %r9, %r9, %r4;\n    add.u32 %r9, %r9, %r5;\n",
     2, 64, places},
    {"clocks", NULL,
     "    mov.u64 %d0, %globaltimer;\n    mov.u64 %d1, %clock64;\n    nanosleep.u32 2000;\n    "
     "mov.u64 %d2, "
     "%globaltimer;\n"
     "    mov.u64 %d3, %clock64;\n    setp.ge.u64 %p0, %d2, %d0;\n    setp.gt.and.u64 %p1, %d3, "
     "%d1, %p0;\n"
     "    selp.u32 %r9, 1, 0, %p1;\n    pmevent 3;\n",
     1, 32, one},
    {"dependent launch without a partner", NULL,
     "    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n    mov.u32 %r9, %i;\n", 2,
     64, same},
    {"register limits", NULL, "    setmaxnreg.inc.sync.aligned.u32 64;\n    mov.u32 %r9, %i;\n", 1,
     128, same},
};

static const sample memory[] = {
    {"shared", NULL,
     "    .shared .align 16 .b8 room[1024];\n    mov.u32 %r2, room;\n    mad.lo.u32 %r3, %i, 4, "
     "%r2;\n    mul.lo.u32 "
     "%r4, %i, 3;\n"
     "    st.shared.u32 [%r3], %r4;\n    bar.sync 0;\n    xor.b32 %r3, %r3, 4;\n    ld.shared.u32 "
     "%r9, [%r3];\n",
     1, 256, shared_neighbour},
    {"local", NULL,
     "    .local .align 16 .b8 room[64];\n    mov.u64 %d0, room;\n    add.u32 %r2, %i, 1;\n    "
     "add.u32 %r3, %i, 2;\n"
     "    add.u32 %r4, %i, 3;\n    st.local.v4.u32 [%d0+16], {%i, %r2, %r3, %r4};\n    "
     "ld.local.v2.u32 {%r5, %r6}, "
     "[%d0+16];\n"
     "    ld.local.v2.u32 {%r7, %r8}, [%d0+24];\n    add.u32 %r9, %r5, %r6;\n    add.u32 %r9, %r9, "
     "%r7;\n    add.u32 "
     "%r9, %r9, %r8;\n",
     1, 64, local_sum},
    {"constants", ".const .align 4 .u32 table[4] = {11, 22, 33, 44};\n",
     "    and.b32 %r2, %i, 3;\n    mul.wide.u32 %d0, %r2, 4;\n    mov.u64 %d1, table;\n    add.u64 "
     "%d0, %d0, %d1;\n"
     "    ld.const.u32 %r9, [%d0];\n",
     1, 64, constant_entry},
    {"global widths", NULL,
     "    mul.wide.u32 %d0, %i, 4;\n    add.u64 %d0, %in, %d0;\n    ld.global.nc.u32 %r2, [%d0];\n "
     "   and.b64 %d1, "
     "%d0, -16;\n"
     "    ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%d1];\n    ld.global.u8 %h0, [%d0];\n    "
     "cvt.u32.u16 %r7, %h0;\n"
     "    xor.b32 %r9, %r2, %r3;\n    xor.b32 %r9, %r9, %r7;\n",
     1, 64, input_mixed},
    {"generic addresses", NULL,
     "    .shared .align 4 .b8 room[4];\n    mov.u32 %r2, room;\n    cvt.u64.u32 %d0, %r2;\n    "
     "cvta.shared.u64 %d0, "
     "%d0;\n"
     "    isspacep.shared %p0, %d0;\n    isspacep.global %p1, %d0;\n    not.pred %p1, %p1;\n    "
     "and.pred %p0, %p0, "
     "%p1;\n"
     "    cvta.to.shared.u64 %d1, %d0;\n    cvt.u32.u64 %r3, %d1;\n    setp.eq.and.u32 %p0, %r3, "
     "%r2, %p0;\n"
     "    isspacep.global %p2, %at;\n    and.pred %p0, %p0, %p2;\n    selp.u32 %r9, 1, 0, %p0;\n",
     1, 32, one},
    {"hints and fences", NULL,
     "    prefetch.global.L2 [%in];\n    prefetchu.L1 [%in];\n    "
     "createpolicy.fractional.L2::evict_first.b64 %d0, "
     "1.0;\n"
     "    applypriority.global.L2::evict_normal [%in], 128;\n    membar.cta;\n    membar.gl;\n    "
     "fence.acq_rel.gpu;\n"
     "    fence.sc.cta;\n    fence.proxy.async;\n    mul.wide.u32 %d1, %i, 4;\n    add.u64 %d1, "
     "%in, %d1;\n"
     "    ld.global.L2::cache_hint.u32 %r2, [%d1], %d0;\n    ld.relaxed.gpu.global.u32 %r3, "
     "[%d1];\n"
     "    ld.acquire.gpu.global.u32 %r4, [%d1];\n    ld.volatile.global.u32 %r5, [%d1];\n    "
     "ldu.global.u32 %r6, "
     "[%in];\n"
     "    xor.b32 %r2, %r2, %r3;\n    xor.b32 %r4, %r4, %r5;\n    or.b32 %r2, %r2, %r4;\n    "
     "ld.global.u32 %r7, "
     "[%in];\n"
     "    xor.b32 %r6, %r6, %r7;\n    or.b32 %r2, %r2, %r6;\n    add.u32 %r9, %r2, %i;\n",
     1, 64, same},
    {"release and acquire", NULL,
     "    .shared .align 4 .b8 flag[8];\n    mov.u32 %r2, flag;\n    setp.eq.u32 %p0, %i, 0;\n"
     "    @%p0 st.shared.u32 [%r2], 0;\n    bar.sync 0;\n    setp.ne.u32 %p1, %i, 32;\n    @%p1 "
     "bra reader;\n"
     "    st.shared.u32 [%r2+4], 1;\n    st.release.cta.shared.u32 [%r2], 1;\nreader:\n"
     "    ld.acquire.cta.shared.u32 %r3, [%r2];\n    setp.eq.u32 %p2, %r3, 0;\n    @%p2 bra "
     "reader;\n"
     "    ld.shared.u32 %r9, [%r2+4];\n",
     1, 64, one},
    {"discarded lines", NULL,
     "    setp.ne.u32 %p0, %i, 0;\n    @%p0 bra past;\n    discard.global.L2 [%in+896], "
     "128;\npast:\n    mov.u32 %r9, "
     "%i;\n",
     1, 32, same},
};

static const sample warps[] = {
    {"active lanes", NULL,
     "    mov.u32 %r2, %laneid;\n    setp.lt.u32 %p0, %r2, 16;\n    @%p0 bra low;\n    "
     "activemask.b32 %r9;\n    bra "
     "done;\nlow:\n"
     "    activemask.b32 %r9;\ndone:\n",
     1, 64, masks},
    {"ballots", NULL,
     "    rem.u32 %r2, %i, 3;\n    mov.u32 %r3, %laneid;\n    rem.u32 %r2, %r3, 3;\n    "
     "setp.eq.u32 %p0, %r2, 0;\n"
     "    vote.sync.ballot.b32 %r9, %p0, 0xffffffff;\n",
     1, 64, ballots},
    {"votes", NULL,
     "    mov.u32 %r2, %laneid;\n    setp.eq.u32 %p0, %r2, 31;\n    vote.sync.any.pred %p1, %p0, "
     "0xffffffff;\n"
     "    vote.sync.all.pred %p2, %p0, 0xffffffff;\n    vote.sync.uni.pred %p3, %p0, 0xffffffff;\n "
     "   selp.u32 %r9, 1, "
     "0, %p1;\n"
     "    selp.u32 %r3, 2, 0, %p2;\n    selp.u32 %r4, 4, 0, %p3;\n    or.b32 %r9, %r9, %r3;\n    "
     "or.b32 %r9, %r9, "
     "%r4;\n",
     1, 64, vote_bits},
    {"shuffles", NULL,
     "    shfl.sync.up.b32 %r2|%p0, %i, 3, 0, 0xffffffff;\n    shfl.sync.down.b32 %r3|%p1, %i, 5, "
     "31, 0xffffffff;\n"
     "    shfl.sync.bfly.b32 %r4, %i, 9, 31, 0xffffffff;\n    shfl.sync.idx.b32 %r5, %i, 17, 31, "
     "0xffffffff;\n"
     "    mul.lo.u32 %r9, %r2, 7;\n    mad.lo.u32 %r9, %r3, 11, %r9;\n    mad.lo.u32 %r9, %r4, 13, "
     "%r9;\n"
     "    mad.lo.u32 %r9, %r5, 17, %r9;\n",
     1, 128, shuffled},
    {"matches", NULL,
     "    and.b32 %r2, %i, 3;\n    match.any.sync.b32 %r9, %r2, 0xffffffff;\n    "
     "match.all.sync.b32 %r3|%p0, %r2, "
     "0xffffffff;\n"
     "    @%p0 mov.u32 %r9, 99;\n    bar.warp.sync 0xffffffff;\n",
     1, 64, matched},
    {"reductions", NULL,
     "    mov.u32 %r2, %laneid;\n    redux.sync.add.u32 %r3, %r2, 0xffffffff;\n    "
     "redux.sync.max.s32 %r4, %r2, "
     "0xffffffff;\n"
     "    redux.sync.min.u32 %r5, %r2, 0xffffffff;\n    redux.sync.or.b32 %r6, %r2, 0xffffffff;\n"
     "    redux.sync.and.b32 %r7, %r2, 0xffffffff;\n    add.u32 %r9, %r3, %r4;\n    add.u32 %r9, "
     "%r9, %r5;\n"
     "    add.u32 %r9, %r9, %r6;\n    add.u32 %r9, %r9, %r7;\n",
     1, 64, reduced},
    {"elections", NULL, "    elect.sync %r2|%p0, 0xffffffff;\n    selp.u32 %r9, 1, 0, %p0;\n", 1,
     64, elected},
};

static const sample barriers[] = {
    {"reversal", NULL,
     "    .shared .align 4 .b8 room[512];\n    mov.u32 %r2, room;\n    mov.u32 %r3, %tid.x;\n    "
     "mad.lo.u32 %r4, %r3, "
     "4, %r2;\n"
     "    st.shared.u32 [%r4], %i;\n    barrier.sync 1;\n    sub.u32 %r5, 127, %r3;\n    "
     "mad.lo.u32 %r4, %r5, 4, %r2;\n"
     "    ld.shared.u32 %r9, [%r4];\n    barrier.cta.sync 2, 128;\n    bar.cta.sync 3;\n",
     2, 128, reversed_in_cta},
    {"reductions", NULL,
     "    setp.lt.u32 %p0, %i, 64;\n    bar.red.popc.u32 %r2, 0, %p0;\n    barrier.red.and.pred "
     "%p1, 1, %p0;\n"
     "    barrier.cta.red.or.pred %p2, 2, %p0;\n    bar.cta.red.popc.u32 %r3, 3, %p0;\n    "
     "selp.u32 %r9, %r2, 0, %p0;\n"
     "    @%p1 mov.u32 %r9, 1000;\n    not.pred %p2, %p2;\n    @%p2 mov.u32 %r9, 2000;\n    "
     "sub.u32 %r3, %r3, %r2;\n"
     "    add.u32 %r9, %r9, %r3;\n",
     1, 128, counted},
    {"producers arrive", NULL,
     "    .shared .align 4 .b8 room[512];\n    mov.u32 %r2, room;\n    mad.lo.u32 %r3, %i, 4, "
     "%r2;\n    setp.ge.u32 "
     "%p0, %i, 64;\n"
     "    mov.u32 %r9, %i;\n    @%p0 bra produce;\n    bar.sync 1, 128;\n    barrier.sync 2, "
     "128;\n    bar.sync 3, "
     "128;\n"
     "    barrier.sync 4, 128;\n    ld.shared.u32 %r9, [%r3+256];\n    sub.u32 %r9, %r9, 64;\n    "
     "bra done;\nproduce:\n"
     "    st.shared.u32 [%r3], %i;\n    bar.arrive 1, 128;\n    barrier.arrive 2, 128;\n    "
     "bar.cta.arrive 3, 128;\n"
     "    barrier.cta.arrive 4, 128;\ndone:\n",
     1, 128, same},
    {"cluster barriers", NULL,
     "    barrier.cluster.arrive.aligned;\n    barrier.cluster.wait.aligned;\n    mov.u32 %r9, "
     "%i;\n",
     2, 64, same},
};

/* CTAs of a cluster of two: each reads the other's shared memory. */
static const sample clusters[] = {
    {"remote shared memory", NULL,
     "    .shared .align 4 .b8 room[4];\n    mov.u32 %r2, room;\n    mov.u32 %r3, "
     "%cluster_ctarank;\n    add.u32 %r4, "
     "%r3, 10;\n"
     "    xor.b32 %r5, %r3, 1;\n    mapa.shared::cluster.u32 %r6, %r2, %r5;\n    "
     "getctarank.shared::cluster.u32 %r7, "
     "%r6;\n"
     "    mov.u32 %r8, %tid.x;\n    setp.eq.u32 %p0, %r8, 0;\n    @%p0 st.shared::cluster.u32 "
     "[%r6], %r4;\n"
     "    barrier.cluster.arrive.release.aligned;\n    barrier.cluster.wait.acquire.aligned;\n    "
     "ld.shared.u32 %r9, "
     "[%r2];\n"
     "    sub.u32 %r9, 21, %r9;\n    setp.ne.u32 %p1, %r7, %r5;\n    @%p1 mov.u32 %r9, 99;\n",
     2, 32, rank_of},
    {"asynchronous stores", NULL,
     "    .shared .align 8 .b8 room[8];\n    .shared .align 8 .b8 bar[8];\n    mov.u32 %r2, "
     "room;\n    mov.u32 %r10, "
     "bar;\n"
     "    mov.u32 %r3, %cluster_ctarank;\n    add.u32 %r4, %r3, 10;\n    xor.b32 %r5, %r3, 1;\n"
     "    mapa.shared::cluster.u32 %r6, %r2, %r5;\n    mapa.shared::cluster.u32 %r11, %r10, %r5;\n "
     "   mov.u32 %r8, "
     "%tid.x;\n"
     "    setp.eq.u32 %p0, %r8, 0;\n    @%p0 st.shared.v2.u32 [%r2], {0, 0};\n    @%p0 "
     "mbarrier.init.shared.b64 "
     "[%r10], 1;\n"
     "    @%p0 mbarrier.arrive.expect_tx.shared.b64 _, [%r10], 8;\n    "
     "fence.mbarrier_init.release.cluster;\n"
     "    barrier.cluster.arrive.release.aligned;\n    barrier.cluster.wait.acquire.aligned;\n    "
     "mov.u32 %r12, 5;\n"
     "    @%p0 st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r6], %r4, [%r11];\n"
     "    @%p0 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
     "[%r6+4], %r12, "
     "[%r11];\nwait:\n"
     "    mbarrier.try_wait.parity.shared.b64 %p1, [%r10], 0;\n    @!%p1 bra wait;\n    "
     "ld.shared.v2.u32 {%r13, %r14}, "
     "[%r2];\n"
     "    sub.u32 %r9, 16, %r13;\n    add.u32 %r9, %r9, %r14;\n",
     2, 32, rank_of},
};

/* Operands that are more than a register or a number. Functions with several results, which ptxas
 * calls without an ABI, have registers for parameters. */
static const sample operands[] = {
    {"a register plus a constant", NULL,
     "    .shared .align 4 .b8 room[128];\n    mov.u32 %r2, room;\n    mad.lo.u32 %r2, %i, 4, "
     "%r2;\n"
     "    add.u32 %r3, %i+3, %i+-1;\n    mov.u32 %r4, %i+(4*8-2);\n"
     "    xor.b32 %r3, %r3, %r4+WARP_SZ;\n    st.shared.u32 [%r2], %r3+5;\n"
     "    ld.shared.u32 %r9, [%r2+4-4];\n",
     1, 32, register_sums},
    {"sums in the register's type", NULL,
     "    .reg .s32 %s;\n    .reg .b8 %c;\n    mov.b16 %h0, 65535;\n    cvt.u32.u16 %r9, %h0+2;\n"
     "    mov.s32 %s, -5;\n    mov.u64 %d1, %s+1;\n    shr.u64 %d1, %d1, 60;\n"
     "    cvt.u32.u64 %r2, %d1+1;\n    shl.b32 %r2, %r2, 4;\n    add.u32 %r9, %r9, %r2;\n"
     "    mov.u64 %d2, 0x100000000;\n    mov.u32 %r3, %d2+768;\n    add.u32 %r9, %r9, %r3;\n"
     "    mov.b32 %r4, -1;\n    mov.u64 %d3, %r4+4097;\n    cvt.u32.u64 %r4, %d3;\n"
     "    add.u32 %r9, %r9, %r4;\n    cvt.u8.u32 %c, 200;\n    cvt.u32.u8 %r5, %c+57;\n"
     "    shl.b32 %r5, %r5, 16;\n    add.u32 %r9, %r9, %r5;\n",
     1, 32, typed_sums},
    {"two addresses in an instruction", NULL,
     "    .shared .align 4 .b8 room[64], more[64];\n    add.u32 %r9, room+4, more+8;\n"
     "    mov.u32 %r2, room;\n    mov.u32 %r3, more;\n    sub.u32 %r9, %r9, %r2;\n"
     "    sub.u32 %r9, %r9, %r3;\n    mov.u32 %r4, WARP_SZ+1;\n    add.u32 %r9, %r9, %r4;\n"
     "    add.u32 %r9, %r9, WARP_SZ*2;\n",
     1, 32, address_sums},
    {"vector registers", NULL,
     "    .reg .v2 .u32 %v, %w;\n    .reg .v4 .f32 %x;\n    .reg .v4 .b16 %y;\n"
     "    .reg .v4 .u32 %t;\n    .shared .align 16 .b8 room[512];\n    mov.u32 %r2, room;\n"
     "    mad.lo.u32 %r2, %i, 16, %r2;\n    mov.v2.u32 %v, {%i, 7};\n    mov.v2.u32 %v, {%v.y, "
     "%v.x};\n"
     "    mov.b64 %d1, %v;\n    mov.b64 %w, %d1;\n    sub.u32 %w.r, %w.g, %w.x;\n"
     "    st.shared.v2.u32 [%r2], %w;\n    ld.shared.v4.b16 %y, [%r2];\n    mov.b64 %d2, %y;\n"
     "    mov.b64 {%r3, %r4}, %d2;\n    mov.v4.u32 %t, %ntid;\n    add.u32 %r9, %r3, 7;\n"
     "    mad.lo.u32 %r9, %r4, 100, %r9;\n    mad.lo.u32 %r9, %t.x, 10000, %r9;\n"
     "    add.u32 %r9, %r9, %t.w;\n    cvt.rn.f32.u32 %f0, %i;\n"
     "    mov.v4.f32 %x, {%f0, 0f3F000000, 0f3F800000, 0f40000000};\n"
     "    st.shared.v4.f32 [%r2], %x;\n    ld.shared.v4.f32 {%x.a, %x.b, %x.g, %x.r}, [%r2];\n"
     "    fma.rn.f32 %f1, %x.y, %x.w, %x.z;\n    cvt.rni.u32.f32 %r5, %f1;\n"
     "    setp.ne.f32 %p0, %x.x, 0f40000000;\n    @%p0 mov.u32 %r5, 0;\n"
     "    mad.lo.u32 %r9, %r5, 0x1000000, %r9;\n",
     1, 32, vector_parts},
    {"a swap", NULL,
     "    mov.u32 %r2, 1000;\n    mov.u32 %r3, %i;\n    mov.v2.u32 {%r2, %r3}, {%r3, %r2};\n"
     "    sub.u32 %r9, %r3, %r2;\n",
     1, 32, swapped},
    {"several results",
     ".func (.reg .u32 %a, .reg .u32 %b) two(.reg .u32 %c)\n{\n    add.u32 %a, %c, 1;\n"
     "    mul.lo.u32 %b, %c, 3;\n    ret;\n}\n"
     ".func (.reg .u32 %a, .reg .f64 %b, .reg .u16 %c) mixed(.reg .f32 %d, .reg .u64 %e)\n{\n"
     "    cvt.u32.u64 %a, %e;\n    cvt.f64.f32 %b, %d;\n    mov.u16 %c, 9;\n    ret;\n}\n",
     "    .reg .f64 %g;\n    call (%r2, %r3), two, (%i);\n    call (_, %r4), two, (5);\n"
     "    call (%r5, _), two, (%r4);\n    mov.f32 %f0, 0f42000000;\n    cvt.u64.u32 %d1, %i;\n"
     "    call (%r6, %g, %h1), mixed, (%f0, %d1);\n    cvt.rni.u32.f64 %r7, %g;\n"
     "    cvt.u32.u16 %r8, %h1;\n    add.u32 %r9, %r2, %r3;\n    mad.lo.u32 %r9, %r5, 1000, %r9;\n"
     "    add.u32 %r9, %r9, %r6;\n    mad.lo.u32 %r9, %r7, 100000, %r9;\n"
     "    mad.lo.u32 %r9, %r8, 0x1000000, %r9;\n",
     1, 32, results},
};

/* ---- running them ---- */

static void run_sample(const sample *item, const gd_CUlaunchAttribute *attribute)
{
    uint32_t input[MOST_THREADS], output[MOST_THREADS], threads = item->grid * item->block;
    gd_CUlaunchAttribute attributes[1] = {0};
    char text[8192];

    for (uint32_t i = 0; i < MOST_THREADS; i++)
        input[i] = input_of(i);
    snprintf(text, sizeof text, ".version 8.3\n.target sm_90a\n.address_size 64\n%s%s%s%s",
             item->before ? item->before : "", BEGIN, item->body, END);
    gd_CUmodule module = load(text);
    gd_CUdeviceptr in = allocate_with(input, sizeof input), out = allocate(sizeof output);
    void *parameters[] = {&in, &out};
    gd_CUlaunchConfig config = {.gridDimX = item->grid,
                                .gridDimY = 1,
                                .gridDimZ = 1,
                                .blockDimX = item->block,
                                .blockDimY = 1,
                                .blockDimZ = 1,
                                .hStream = stream,
                                .attrs = attributes,
                                .numAttrs = attribute ? 1 : 0};
    if (attribute)
        attributes[0] = *attribute;
    good(cuCtxSynchronize, ());
    good(cuLaunchKernelEx, (&config, function_of(module, "k"), parameters, NULL));
    good(cuStreamSynchronize, (stream));
    read_back(output, out, sizeof output);
    for (uint32_t i = 0; i < threads; i++)
        ck_assert_msg(output[i] == item->expected(i), "%s: thread %u has 0x%x, expected 0x%x",
                      item->name, i, output[i], item->expected(i));
    for (uint32_t i = threads; i < MOST_THREADS; i++)
        ck_assert_msg(output[i] == 0, "%s: word %u is 0x%x, and no thread writes it", item->name, i,
                      output[i]);
    release(in);
    release(out);
    good(cuModuleUnload, (module));
}

TEST_GROUP(instruction, setup_context, teardown_context);
TEST_GROUP(ends, setup_context, NULL);

LOOP_TEST(instruction, control_flow, COUNT_OF(control))
{
    run_sample(&control[_i], NULL);
}

LOOP_TEST(instruction, memory_spaces, COUNT_OF(memory))
{
    run_sample(&memory[_i], NULL);
}

LOOP_TEST(instruction, warp_instructions, COUNT_OF(warps))
{
    run_sample(&warps[_i], NULL);
}

LOOP_TEST(instruction, barrier_instructions, COUNT_OF(barriers))
{
    run_sample(&barriers[_i], NULL);
}

LOOP_TEST(instruction, operand_forms, COUNT_OF(operands))
{
    run_sample(&operands[_i], NULL);
}

LOOP_TEST(instruction, cluster_instructions, COUNT_OF(clusters))
{
    const gd_CUlaunchAttribute attribute = {.id = GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                            .value.clusterDim = {2, 1, 1}};

    run_sample(&clusters[_i], &attribute);
}

/* ---- atomics: what is left in memory when all threads have added their part ---- */

typedef struct atomic_form {
    const char *before, *operation, *rest; /* the space stands between the last two */
    uint32_t start;
    uint32_t (*fold)(uint32_t memory, uint32_t i);
} atomic_form;

static uint32_t fold_add(uint32_t memory_word, uint32_t i)
{
    return memory_word + input_of(i);
}

static uint32_t fold_min(uint32_t memory_word, uint32_t i)
{
    return (int32_t)input_of(i) < (int32_t)memory_word ? input_of(i) : memory_word;
}

static uint32_t fold_max(uint32_t memory_word, uint32_t i)
{
    return input_of(i) > memory_word ? input_of(i) : memory_word;
}

static uint32_t fold_and(uint32_t memory_word, uint32_t i)
{
    return memory_word & (input_of(i) | 0xff0000ff);
}

static uint32_t fold_or(uint32_t memory_word, uint32_t i)
{
    return memory_word | (input_of(i) & 0x00f0f000);
}

static uint32_t fold_xor(uint32_t memory_word, uint32_t i)
{
    return memory_word ^ input_of(i);
}

static uint32_t fold_inc(uint32_t memory_word, uint32_t i)
{
    (void)i;
    return memory_word >= 100 ? 0 : memory_word + 1;
}

static uint32_t fold_dec(uint32_t memory_word, uint32_t i)
{
    (void)i;
    return memory_word == 0 || memory_word > 100 ? 100 : memory_word - 1;
}

static uint32_t fold_exchange(uint32_t memory_word, uint32_t i)
{
    (void)memory_word;
    (void)i;
    return 77;
}

static uint32_t fold_swap(uint32_t memory_word, uint32_t i)
{
    (void)i;
    return memory_word == 5 ? 6 : memory_word;
}

static uint32_t fold_float(uint32_t memory_word, uint32_t i)
{
    float sum;

    (void)i;
    memcpy(&sum, &memory_word, sizeof sum);
    sum += 0.5f;
    memcpy(&memory_word, &sum, sizeof sum);
    return memory_word;
}

static const atomic_form atomic_forms[] = {
    {"", "atom", ".add.u32 %r3, [%d1], %r2;", 7, fold_add},
    {"", "red", ".add.s32 [%d1], %r2;", 7, fold_add},
    {"", "atom", ".min.s32 %r3, [%d1], %r2;", 0x7fffffff, fold_min},
    {"", "red.relaxed.gpu", ".max.u32 [%d1], %r2;", 7, fold_max},
    {"or.b32 %r2, %r2, 0xff0000ff; ", "atom", ".and.b32 %r3, [%d1], %r2;", 0xfffffff1, fold_and},
    {"and.b32 %r2, %r2, 0x00f0f000; ", "red", ".or.b32 [%d1], %r2;", 9, fold_or},
    {"", "atom.acq_rel.gpu", ".xor.b32 %r3, [%d1], %r2;", 9, fold_xor},
    {"", "atom", ".inc.u32 %r3, [%d1], 100;", 3, fold_inc},
    {"", "atom", ".dec.u32 %r3, [%d1], 100;", 3, fold_dec},
    {"", "atom", ".exch.b32 %r3, [%d1], 77;", 3, fold_exchange},
    {"", "atom", ".cas.b32 %r3, [%d1], 5, 6;", 5, fold_swap},
    {"mov.f32 %f0, 0f3f000000; ", "atom", ".add.f32 %f1, [%d1], %f0;", 0x3f800000, fold_float},
    {"mov.f32 %f0, 0f3f000000; ", "red", ".add.f32 [%d1], %f0;", 0x3f800000, fold_float},
};

static uint32_t run_atomic(const atomic_form *form, bool is_shared)
{
    uint32_t input[MOST_THREADS], word = form->start;
    const char *space = is_shared ? "shared" : "global";
    char text[8192];

    for (uint32_t i = 0; i < MOST_THREADS; i++)
        input[i] = input_of(i);
    snprintf(
        text, sizeof text,
        "%s%s    .shared .align 16 .b8 room[16];\n    mul.wide.u32 %%d0, %%i, 4;\n"
        "    add.u64 %%d0, %%in, %%d0;\n    ld.global.u32 %%r2, [%%d0];\n    mov.u64 %%d1, %s;\n"
        "    setp.eq.u32 %%p0, %%i, 0;\n    @%%p0 st.%s.u32 [%%d1], 0x%x;\n    bar.sync 0;\n"
        "    %s%s.%s%s\n    bar.sync 0;\n    @!%%p0 bra done;\n    ld.%s.u32 %%r9, [%%d1];\n"
        "    st.global.u32 [%%out], %%r9;\ndone:\n    ret;\n}\n",
        PTX_HEAD, BEGIN, is_shared ? "room" : "%out", space, form->start, form->before,
        form->operation, space, form->rest, space);
    gd_CUmodule module = load(text);
    gd_CUdeviceptr in = allocate_with(input, sizeof input), out = allocate(sizeof input);
    run_two(function_of(module, "k"), 1, MOST_THREADS, in, out);
    read_back(&word, out, sizeof word);
    release(in);
    release(out);
    good(cuModuleUnload, (module));
    return word;
}

LOOP_TEST(instruction, atomic_instructions, COUNT_OF(atomic_forms))
{
    const atomic_form *form = &atomic_forms[_i];
    uint32_t expected = form->start;

    for (uint32_t i = 0; i < MOST_THREADS; i++)
        expected = form->fold(expected, i);
    for (int is_shared = 0; is_shared < 2; is_shared++) {
        uint32_t word = run_atomic(form, is_shared);
        ck_assert_msg(word == expected, "%s%s in %s memory leaves 0x%x, expected 0x%x",
                      form->operation, form->rest, is_shared ? "shared" : "global", word, expected);
    }
}

/* 64 bits, and what an atomic gives back: each old value is seen once. */
TEST(instruction, atomics_give_old_values)
{
    static const char text[] = PTX_HEAD BEGIN "    mul.wide.u32 %d0, %i, 8;\n    add.u64 %d0, "
                                              "%out, %d0;\n    atom.global.add.u64 %d1, [%in], 3;\n"
                                              "    st.global.u64 [%d0], %d1;\n    ret;\n}\n";
    uint64_t words[MOST_THREADS], start = UINT64_C(0xfffffff0), seen = 0;
    gd_CUmodule module = load(text);
    gd_CUdeviceptr in = allocate_with(&start, sizeof start), out = allocate(sizeof words);

    run_two(function_of(module, "k"), 4, MOST_THREADS / 4, in, out);
    read_back(words, out, sizeof words);
    for (size_t i = 0; i < MOST_THREADS; i++) {
        ck_assert((words[i] - start) % 3 == 0 && words[i] - start < 3 * MOST_THREADS);
        seen += words[i] - start;
    }
    ck_assert_uint_eq(seen, 3 * MOST_THREADS * (MOST_THREADS - 1) / 2);
    read_back(&start, in, sizeof start);
    ck_assert_uint_eq(start, UINT64_C(0xfffffff0) + 3 * MOST_THREADS);
    release(in);
    release(out);
    good(cuModuleUnload, (module));
}

/* ---- ends ---- */

/* A trap, and a breakpoint without a debugger, end the context. */
LOOP_TEST(ends, traps_end_the_context, 2)
{
    static const char *const words[] = {"trap", "brkpt"};
    char text[256];

    snprintf(text, sizeof text, PTX_HEAD ".visible .entry k()\n{\n    %s;\n    ret;\n}\n",
             words[_i]);
    gd_CUmodule module = load(text);
    good(cuLaunchKernel, (function_of(module, "k"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    gd_CUresult result = raw(cuStreamSynchronize, (stream));
    ck_assert_msg(result != GD_CUDA_SUCCESS && raw(cuCtxSynchronize, ()) == result, "result %d",
                  result);
    teardown_driver();
}

SUITE(instruction, "instruction")

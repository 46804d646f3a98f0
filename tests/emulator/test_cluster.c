/* Clusters: places, shared memory of other CTAs, their barrier, transactions from CTA to CTA,
 * faults and deadlocks. Each kernel runs with long and short turns, from the first rank and from
 * the last, and must give the same. */
#include <stdio.h>

#include "machine_test.h"
#include "suite.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* `s` is 64 bytes of shared memory, `m` an mbarrier; %rank, %next and %peer: a CTA's rank, the next
 * one's, s there; %out: 16 bytes a thread. */
#define KERNEL(body)                                                                               \
    HEAD ".visible .entry k(.param .u64 out, .param .u64 in) {\n"                                  \
         ".reg .pred %p<4>; .reg .b32 %r<24>, %rank, %next, %count, %s, %m, %peer, %there; .reg "  \
         ".b64 %out, %in, %d<12>; .reg .b16 %h<4>;\n"                                              \
         ".shared .align 16 .b8 s[64]; .shared .align 16 .b8 big[256]; .shared .align 8 .b64 m;\n" \
         "ld.param.u64 %out, [out]; ld.param.u64 %in, [in]; mov.u32 %rank, %cluster_ctarank;\n"    \
         "mov.u32 %count, %cluster_nctarank; add.u32 %next, %rank, 1; rem.u32 %next, %next, "      \
         "%count;\n"                                                                               \
         "mov.u32 %s, s; mov.u32 %m, m; mapa.shared::cluster.u32 %peer, %s, %next;\n"              \
         "mapa.shared::cluster.u32 %there, %m, %next; mov.u32 %r0, %tid.x; mov.u32 %r1, "          \
         "%ctaid.x;\n"                                                                             \
         "mov.u32 %r2, %ntid.x; mad.lo.u32 %r2, %r1, %r2, %r0; mad.wide.u32 %out, %r2, 16, "       \
         "%out;\n" body "\nret;\n}\n"

#define SYNC "barrier.cluster.arrive; barrier.cluster.wait;\n"
#define INIT(count) "setp.eq.u32 %p0, %r0, 0; @%p0 mbarrier.init.shared.b64 [m], " #count ";\n" SYNC
#define AWAIT(phase)                                                                               \
    "w" #phase ": mbarrier.try_wait.parity.shared.b64 %p1, [m], " #phase "; @!%p1 bra w" #phase    \
    ";\n"

/* Results of CTAs in a row: four words of the first thread of each. */
static void check_words(const char *text, uint32_t ctas, uint32_t cluster, uint32_t block,
                        const uint32_t (*expected)[4])
{
    static const uint32_t turns[] = {1, 7, 1000};
    uint32_t source[64];

    for (uint32_t i = 0; i < 64; i++)
        source[i] = 1000 + i;
    for (uint32_t i = 0; i < 2 * COUNT(turns); i++) {
        shape form = {.grid = {ctas},
                      .block = block,
                      .cluster = {cluster},
                      .turn = turns[i / 2],
                      .backwards = i % 2};
        device dev;
        device_open(&dev, text);
        uint64_t parameters[] = {device_take(&dev, NULL, (size_t)ctas * block * 16),
                                 device_take(&dev, source, sizeof source)};
        gd_cta_state state = run_grid(&dev, "k", form, parameters);
        ck_assert_msg(state == GD_CTA_DONE, "turn %u: line %d: %s", form.turn, dev.fault.line,
                      dev.fault.text);
        const uint32_t *words = device_bytes(&dev, parameters[0]);
        for (uint32_t n = 0; n < 4 * ctas; n++) {
            uint32_t got = words[n / 4 * block * 4 + n % 4];
            ck_assert_msg(got == expected[n / 4][n % 4],
                          "turn %u: CTA %u, word %u is %u, expected %u", form.turn, n / 4, n % 4,
                          got, expected[n / 4][n % 4]);
        }
        device_close(&dev);
    }
}

START_TEST(places)
{
    static const char names[][28] = {
        "%clusterid.x",     "%clusterid.y",      "%clusterid.z",      "%nclusterid.x",
        "%nclusterid.y",    "%nclusterid.z",     "%cluster_ctaid.x",  "%cluster_ctaid.y",
        "%cluster_ctaid.z", "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z",
        "%cluster_ctarank", "%cluster_nctarank", "%clusterid.w",      "%nsmid"};
    char text[4096] = HEAD ".visible .entry k(.param .u64 out) { .reg .b64 %out; .reg .pred %p; "
                           ".reg .b32 %r<6>; ld.param.u64 %out, [out];\n"
                           "mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ctaid.y; mov.u32 %r2, %ctaid.z; "
                           "mad.lo.u32 %r1, %r2, 4, %r1;\n"
                           "mad.lo.u32 %r0, %r1, 6, %r0; mad.wide.u32 %out, %r0, 68, %out; "
                           "mov.pred %p, %is_explicit_cluster;\n"
                           "selp.u32 %r4, 1, 0, %p; st.global.u32 [%out+64], %r4;\n";
    shape form = {.grid = {6, 4, 2}, .block = 1, .cluster = {3, 2, 1}};
    device dev;

    for (uint32_t i = 0; i < COUNT(names); i++) {
        char line[640];
        snprintf(line, sizeof line, "mov.u32 %%r3, %s; st.global.u32 [%%out+%u], %%r3;\n", names[i],
                 4 * i);
        strcat(text, line);
    }
    strcat(text, "ret;\n}\n");
    device_open(&dev, text);
    uint64_t out = device_take(&dev, NULL, 48 * 68);
    ck_assert_int_eq(run_grid(&dev, "k", form, &out), GD_CTA_DONE);
    for (uint32_t n = 0; n < 48; n++) {
        uint32_t x = n % 6, y = n / 6 % 4, z = n / 24;
        const uint32_t expected[17] = {
            x / 3, y / 2, z, 2, 2, 2, x % 3, y % 2, 0, 3, 2, 1, x % 3 + 3 * (y % 2), 6, 0, 4, 1};
        const uint32_t *words = (const uint32_t *)device_bytes(&dev, out) + n * (size_t)17;
        for (uint32_t i = 0; i < 17; i++)
            ck_assert_msg(words[i] == expected[i], "CTA %u: %s is %u", n,
                          i < 16 ? names[i] : "explicit", words[i]);
    }
    device_close(&dev);
}
END_TEST

/* Measured on an H200: the rank stands in bits 24 to 31 of shared and generic addresses, the CTA's
 * own included. */
START_TEST(addresses)
{
    const char *text = KERNEL(
        "cvt.u64.u32 %d1, %s; cvta.shared.u64 %d2, %d1; mapa.u64 %d3, %d2, %next; cvt.u64.u32 %d4, "
        "%peer;\n"
        "cvta.shared::cluster.u64 %d5, %d4; setp.eq.u64 %p1, %d3, %d5; selp.u32 %r4, 1, 0, %p1;\n"
        "isspacep.shared %p1, %d2; selp.u32 %r5, 2, 0, %p1; isspacep.shared::cta %p1, %d3; "
        "selp.u32 %r6, 4, 0, %p1;\n"
        "isspacep.shared::cluster %p1, %d2; selp.u32 %r7, 8, 0, %p1; isspacep.shared::cluster %p1, "
        "%d3;\n"
        "selp.u32 %r8, 16, 0, %p1; isspacep.global %p1, %d3; selp.u32 %r9, 32, 0, %p1;\n"
        "or.b32 %r4, %r4, %r5; or.b32 %r4, %r4, %r6; or.b32 %r4, %r4, %r7; or.b32 %r4, %r4, %r8; "
        "or.b32 %r4, %r4, %r9;\n"
        "st.global.u32 [%out], %r4; shr.u32 %r5, %s, 24; st.global.u32 [%out+4], %r5;\n"
        "getctarank.u64 %r6, %d3; st.global.u32 [%out+8], %r6;\n"
        "getctarank.shared::cluster.u32 %r7, %peer; st.global.u32 [%out+12], %r7;\n");
    const uint32_t expected[4][4] = {{27, 0, 1, 1}, {27, 1, 0, 0}, {27, 0, 1, 1}, {27, 1, 0, 0}};

    check_words(text, 4, 2, 1, expected);
}
END_TEST

START_TEST(ring)
{
    const char *text = KERNEL("add.u32 %r4, %rank, 10; st.shared::cluster.u32 [%peer], %r4; "
                              "st.shared::cluster.v2.u32 [%peer+8], {%r1, %r4};\n" SYNC
                              "ld.shared.u32 %r5, [s]; ld.shared::cluster.u32 %r6, [%peer]; "
                              "ld.shared.v2.u32 {%r7, %r8}, [s+8];\n"
                              "st.global.v4.u32 [%out], {%r5, %r6, %r7, %r8};\n" SYNC);
    const uint32_t expected[8][4] = {{13, 10, 3, 13}, {10, 11, 0, 10}, {11, 12, 1, 11},
                                     {12, 13, 2, 12}, {13, 10, 7, 13}, {10, 11, 4, 10},
                                     {11, 12, 5, 11}, {12, 13, 6, 12}};

    check_words(text, 8, 4, 33, expected);
}
END_TEST

/* Generic addresses reach peers too; every thread adds to one word of rank 0. */
START_TEST(sums)
{
    const char *text =
        KERNEL("st.shared.u32 [s], 0; st.shared.f32 [s+4], 0f00000000;\n" SYNC
               "mapa.shared::cluster.u32 %r4, %s, 0; cvt.u64.u32 %d1, %r4; "
               "cvta.shared::cluster.u64 %d1, %d1;\n"
               "atom.add.u32 %r5, [%d1], 1; red.shared::cluster.add.u32 [%r4], 1; "
               "atom.shared::cluster.add.f32 %r6, [%r4+4], 0f3f800000;\n"
               "atom.shared::cluster.cas.b32 %r7, [%r4+8], 0, 77; fence.acq_rel.cluster;\n" SYNC
               "ld.u32 %r8, [%d1]; ld.u32 %r9, [%d1+4]; ld.u32 %r10, [%d1+8]; st.global.v4.u32 "
               "[%out], {%r8, %r9, %r10, 0};\n" SYNC);
    const uint32_t expected[3][4] = {
        {192, 0x42c00000, 77, 0}, {192, 0x42c00000, 77, 0}, {192, 0x42c00000, 77, 0}};

    check_words(text, 3, 3, 32, expected);
}
END_TEST

/* Each CTA's mbarrier hears of what its predecessor stores. */
START_TEST(asynchronous_stores)
{
    const char *text = KERNEL(INIT(
        1) "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [m], 28; st.shared.u32 [big], 5; add.u32 "
           "%r4, %rank, 50; mov.b64 %d1, {%r4, %r4};\n" SYNC
           "mapa.shared::cluster.u32 %r9, %s, %next;\n"
           "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r9], {%r4, %rank, "
           "%r4, %rank}, [%there];\n"
           "st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 [%r9+16], %d1, [%there];\n"
           "mov.u32 %r10, big; mapa.shared::cluster.u32 %r10, %r10, %next;\n"
           "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r10], "
           "7, [%there];\n" AWAIT(0) "ld.shared.u32 %r5, [s+8]; ld.shared.u32 %r6, [s+12]; "
                                     "ld.shared.u32 %r7, [s+20]; ld.shared.u32 %r8, [big];\n"
                                     "st.global.v4.u32 [%out], {%r5, %r6, %r7, %r8};\n" SYNC);
    const uint32_t expected[4][4] = {
        {53, 3, 53, 12}, {50, 0, 50, 12}, {51, 1, 51, 12}, {52, 2, 52, 12}};

    check_words(text, 4, 4, 1, expected);
}
END_TEST

/* Rank 0 waits, phase after phase, for an arrival of each CTA. */
START_TEST(remote_arrivals)
{
    const char *text =
        KERNEL("setp.eq.u32 %p0, %rank, 0; @%p0 mbarrier.init.shared.b64 [m], %count;\n" SYNC
               "mapa.shared::cluster.u32 %r4, %m, 0; mapa.shared::cluster.u32 %r5, %s, 0; mov.u32 "
               "%r6, 0; mov.u32 %r8, 0;\n"
               "again: mad.lo.u32 %r7, %rank, 4, %r5; add.u32 %r9, %rank, %r6; "
               "st.shared::cluster.u32 [%r7], %r9;\n"
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4]; and.b32 %r10, %r6, "
               "1; @!%p0 bra sum;\n"
               "wait: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [m], %r10; "
               "@!%p1 bra wait;\n"
               "ld.shared.v4.u32 {%r11, %r12, %r13, %r14}, [s]; add.u32 %r11, %r11, %r12; add.u32 "
               "%r11, %r11, %r13; add.u32 %r11, %r11, %r14; add.u32 %r8, %r8, %r11;\n"
               "sum: " SYNC "add.u32 %r6, %r6, 1; setp.lt.u32 %p2, %r6, 5; @%p2 bra again;\n"
               "st.global.v4.u32 [%out], {%r8, 0, 0, 0};\n");
    const uint32_t expected[4][4] = {{70}};

    check_words(text, 4, 4, 1, expected);
}
END_TEST

START_TEST(bulk_copies)
{
    const char *text = KERNEL(
        INIT(1) "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [m], 64; st.shared.u32 [big+16], "
                "%rank; st.shared.u32 [big+20], 99; st.shared.u32 [big+160], 40;\n" SYNC
                "mov.u32 %r4, big; mov.u16 %h1, 13; setp.eq.u32 %p2, %rank, 1; "
                "mapa.shared::cluster.u32 %r5, %r4, %next;\n"
                "@%p2 "
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::"
                "cluster [%r4], [%in], 16, [%m], %h1;\n"
                "@%p2 mapa.shared::cluster.u32 %r15, %r4, 1;\n"
                "@%p2 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r15], "
                "[%in], 16, [%m];\n"
                "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r5+64], "
                "[%r4+16], 32, [%there];\n"
                "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add."
                "u32 [%r5+160], [%r4+16], 16, [%there];\n" AWAIT(
                    0) "ld.shared.u32 %r6, [big+4]; ld.shared.u32 %r7, [big+64]; ld.shared.u32 "
                       "%r8, [big+68]; ld.shared.u32 %r9, [big+160];\n"
                       "st.global.v4.u32 [%out], {%r6, %r7, %r8, %r9};\n" SYNC);
    const uint32_t expected[4][4] = {
        {1001, 3, 99, 43}, {1001, 0, 99, 40}, {1001, 1, 99, 41}, {1001, 2, 99, 42}};

    check_words(text, 4, 4, 1, expected);
}
END_TEST

/* Threads that have exited, arrived before or not, hold up nobody; work between arrive and wait. */
START_TEST(exits)
{
    const char *text =
        KERNEL("setp.gt.u32 %p0, %r0, 40; @%p0 exit; setp.eq.u32 %p1, %rank, 2; @%p1 exit;\n"
               "setp.eq.u32 %p2, %r0, 3; barrier.cluster.arrive.release; @%p2 exit; st.shared.u32 "
               "[s], %rank;\n"
               "barrier.cluster.wait.acquire; barrier.cluster.arrive.relaxed.aligned; "
               "barrier.cluster.wait.aligned;\n"
               "setp.eq.u32 %p3, %rank, 0; @!%p3 bra end; mapa.shared::cluster.u32 %r4, %s, 1; "
               "ld.shared::cluster.u32 %r5, [%r4];\n"
               "end: " SYNC "st.global.v4.u32 [%out], {%r5, 7, 0, 0};\n");
    const uint32_t expected[3][4] = {{1, 7}, {0, 7}, {0}};

    check_words(text, 3, 3, 64, expected);
}
END_TEST

/* One warp of rank 0 stands at griddepcontrol.wait while another meets the cluster. */
START_TEST(grid_wait)
{
    const char *text = KERNEL(
        "setp.ge.u32 %p0, %r0, 32; @%p0 griddepcontrol.wait; st.shared.u32 [s], 5;\n" SYNC
        "ld.shared::cluster.u32 %r4, [%peer]; st.global.v4.u32 [%out], {%r4, 0, 0, 0};\n" SYNC);
    const uint32_t expected[2][4] = {{5}, {5}};

    check_words(text, 2, 2, 64, expected);
}
END_TEST

static const struct {
    const char *body;
    gd_fault_kind kind;
    const char *text;
} fault_cases[] = {
    {"setp.eq.u32 %p0, %rank, 1; @%p0 exit; barrier.cluster.arrive; barrier.cluster.wait; "
     "ld.shared::cluster.u32 %r4, [%peer];",
     GD_FAULT_PEER, "CTA rank 1 of the cluster, which has exited"},
    {"mapa.shared::cluster.u32 %r4, %s, 5; st.shared::cluster.u32 [%r4], 1;", GD_FAULT_PEER,
     "CTA rank 5; the cluster has 2"},
    {"ld.shared::cta.u32 %r4, [%peer];", GD_FAULT_WINDOW, "an address of CTA rank"},
    {"ld.shared::cluster.u32 %r4, [%peer+4096];", GD_FAULT_ADDRESS, "bytes from 0x"},
    {"ld.shared::cluster.u32 %r4, [%peer+2];", GD_FAULT_ALIGNMENT, "multiple of 4"},
    {"mbarrier.arrive.shared::cluster.b64 _, [%there];", GD_FAULT_UNSUPPORTED, "no mbarrier"},
    {"barrier.cluster.arrive; barrier.cluster.arrive;", GD_FAULT_UNSUPPORTED,
     "without barrier.cluster.wait between"},
    {"barrier.cluster.wait;", GD_FAULT_UNSUPPORTED, "without barrier.cluster.arrive before"},
    {"setp.eq.u32 %p0, %rank, 1; @%p0 bar.sync 1, 64; " SYNC, GD_FAULT_DEADLOCK, "deadlock: "},
    {"setp.eq.u32 %p0, %r0, 0; setp.eq.and.u32 %p0, %rank, 0, %p0; @%p0 bar.sync 1, 64; " SYNC,
     GD_FAULT_DEADLOCK,
     "(63 of 64 have); rank 0: 31 at it, 1 at barriers of the CTA; rank 1: 32 at it"},
};

START_TEST(faults)
{
    char text[4096];

    for (uint32_t i = 0; i < 4; i++) {
        shape form = {
            .grid = {2}, .block = 32, .cluster = {2}, .turn = i / 2 ? 1000 : 3, .backwards = i % 2};
        device dev;
        snprintf(text, sizeof text, "%s", KERNEL(""));
        char *end = strstr(text, "\nret;");
        snprintf(end, sizeof text - (size_t)(end - text), "\n%s\nret;\n}\n", fault_cases[_i].body);
        device_open(&dev, text);
        uint64_t parameters[] = {device_take(&dev, NULL, 1024), 0};
        ck_assert_int_eq(run_grid(&dev, "k", form, parameters), GD_CTA_FAULT);
        ck_assert_msg(dev.fault.kind == fault_cases[_i].kind &&
                          strstr(dev.fault.text, fault_cases[_i].text),
                      "%d: %s", dev.fault.kind, dev.fault.text);
        device_close(&dev);
    }
}
END_TEST

/* Measured on an H200: these need a launch with a cluster, which may be one CTA. */
static const char *const async_stores[] = {
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32",
};

START_TEST(asynchronous_stores_need_a_cluster)
{
    char text[4096];

    snprintf(text, sizeof text, "%s",
             KERNEL(INIT(1) "@%p0 mbarrier.arrive.expect_tx.shared.b64 _, [m], 4;\n"
                            "@%p0 st.shared.u32 [s], 0;\n" SYNC
                            "@%p0 @ [%peer], 5, [%there];\n" AWAIT(
                                0) "ld.shared.u32 %r4, [s]; st.global.u32 [%out], %r4;\n"));
    char *place = strstr(text, "@ [%peer]"), rest[1024];
    snprintf(rest, sizeof rest, "%s", place + 1);
    snprintf(place, sizeof text - (size_t)(place - text), "%s%s", async_stores[_i], rest);
    for (uint32_t cluster = 0; cluster < 2; cluster++) {
        shape form = {.block = 32, .cluster = {cluster}};
        device dev;
        device_open(&dev, text);
        uint64_t parameters[] = {device_take(&dev, NULL, 512), 0};
        gd_cta_state state = run_grid(&dev, "k", form, parameters);
        ck_assert_int_eq(state, cluster ? GD_CTA_DONE : GD_CTA_FAULT);
        if (cluster)
            ck_assert_uint_eq(*(const uint32_t *)device_bytes(&dev, parameters[0]), 5);
        else
            ck_assert_msg(dev.fault.kind == GD_FAULT_UNSUPPORTED &&
                              strstr(dev.fault.text, "async in a launch without a cluster"),
                          "%s", dev.fault.text);
        device_close(&dev);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cluster");
    TCase *item = tcase_create("cluster");

    tcase_add_test(item, places);
    tcase_add_test(item, addresses);
    tcase_add_test(item, ring);
    tcase_add_test(item, sums);
    tcase_add_test(item, asynchronous_stores);
    tcase_add_loop_test(item, asynchronous_stores_need_a_cluster, 0, (int)COUNT(async_stores));
    tcase_add_test(item, remote_arrivals);
    tcase_add_test(item, bulk_copies);
    tcase_add_test(item, exits);
    tcase_add_test(item, grid_wait);
    tcase_add_loop_test(item, faults, 0, (int)COUNT(fault_cases));
    suite_add_tcase(suite, item);
    return run_suite(suite);
}

/* Clusters: CTAs that end or wait for their grid, faults and deadlocks. The conformance suite has
 * what instructions do with the shared memory of other CTAs. Each kernel runs with long and short
 * turns, from the first rank and from the last, and must give the same. */
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

TEST_GROUP(cluster, NULL, NULL);

/* Threads that have exited, arrived before or not, hold up nobody; work between arrive and wait. */
TEST(cluster, exits)
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

/* One warp of rank 0 stands at griddepcontrol.wait while another meets the cluster. */
TEST(cluster, grid_wait)
{
    const char *text = KERNEL(
        "setp.ge.u32 %p0, %r0, 32; @%p0 griddepcontrol.wait; st.shared.u32 [s], 5;\n" SYNC
        "ld.shared::cluster.u32 %r4, [%peer]; st.global.v4.u32 [%out], {%r4, 0, 0, 0};\n" SYNC);
    const uint32_t expected[2][4] = {{5}, {5}};

    check_words(text, 2, 2, 64, expected);
}

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

LOOP_TEST(cluster, faults, COUNT(fault_cases))
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

/* Measured on an H200: these need a launch with a cluster, which may be one CTA. */
static const char *const async_stores[] = {
    "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32",
    "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32",
};

LOOP_TEST(cluster, asynchronous_stores_need_a_cluster, COUNT(async_stores))
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

MAIN_OF_SUITE("cluster")

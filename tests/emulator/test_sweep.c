/* The interpreter's vector code for any processor and the one for AVX2 do the same: what runs on a
 * processor with AVX2, which all other tests hold to account, answers for both. */
#include <check.h>
#include <string.h>

#include "emulator/execute/lanes.h"
#include "emulator/execute/memory.h"
#include "emulator/execute/sweep.h"
#include "emulator/execute/warp.h"
#include "suite.h"

enum { PLACE = 4 * GD_LANE_BYTES, ROUNDS = 40, SIDE = 8 };

typedef struct state {
    _Alignas(64) unsigned char frame[8 * PLACE];
    unsigned char memory[GD_LANES * 16 + 8];
    uint32_t values[GD_LANES], told[4];
    double sums[SIDE * SIDE];
    gd_places places;
} state;

static state start, after[2];
static uint64_t seed = 1;

/* xorshift64* (Vigna 2016) */
static uint64_t draw(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * UINT64_C(0x2545f4914f6cdd1d);
}

/* Bits of all kinds: zeros, infinities, NaNs and subnormals of either size too. */
static uint32_t draw_word(void)
{
    static const uint32_t special[] = {
        0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 1,  0x3f800000,
        0xffffffff, 0x7ff00000, 0x00000100, 0x4f000000, 31,         32,         33, 0x7c007c00};
    const uint64_t choice = draw();

    return choice % 4 ? (uint32_t)(choice >> 32) : special[choice / 4 % 16];
}

static void fill(void *to, size_t bytes)
{
    for (size_t i = 0; i + 4 <= bytes; i += 4) {
        const uint32_t word = draw_word();
        memcpy((unsigned char *)to + i, &word, 4);
    }
}

static bool has_avx2(void)
{
    return gd_sweeps_avx2.survey && gd_sweeps_find() == &gd_sweeps_avx2;
}

static void begin(void)
{
    memset(&start, 0, sizeof start);
    fill(start.frame, sizeof start.frame);
    fill(start.memory, sizeof start.memory);
    fill(start.values, sizeof start.values);
    after[0] = after[1] = start;
}

TEST_GROUP(sweep, NULL, NULL);

LOOP_TEST(sweep, operations, GD_LANES_COUNT - 1)
{
    const gd_lanes_op op = (gd_lanes_op)(_i + 1);

    for (int round = 0; round < ROUNDS && has_avx2(); round++) {
        const uint32_t mask = round % 2 ? UINT32_MAX : (uint32_t)(draw() >> 32) | 1;
        const gd_code code = {.run = gd_lanes_base[op],
                              .d = (gd_slot)(PLACE * (draw() % 5)),
                              .a = PLACE,
                              .b = 2 * PLACE,
                              .c = 3 * PLACE,
                              .e = 4 * PLACE,
                              .flags = (uint16_t)(draw() % 7)};
        begin();
        for (int i = 0; i < 2; i++) {
            unsigned char *frame = after[i].frame;
            gd_warp warp = {.areas = {frame, frame, frame, frame}};
            (i ? gd_lanes_avx2 : gd_lanes_base)[op](&warp, &code, mask);
        }
        ck_assert_msg(!memcmp(after[0].frame, after[1].frame, sizeof start.frame),
                      "operation %d, flags %u, mask %08x", op, code.flags, mask);
    }
}

/* Everything that a table of sweeps can do, one after the other. */
static void sweep(const gd_sweeps *with, state *of, int round, uint32_t mask, uint32_t bytes)
{
    static const struct {
        uint8_t bytes, lane_bytes, count;
    } forms[] = {{2, 4, 1}, {4, 4, 1}, {4, 4, 2}, {4, 4, 4}, {8, 8, 1}, {8, 8, 2}, {16, 16, 1}};
    static const uint32_t modes[] = {GD_SHFL_UP, GD_SHFL_DOWN, GD_SHFL_BFLY, GD_SHFL_IDX};
    static const gd_slot slots[] = {0, PLACE, 2 * PLACE, 3 * PLACE};
    static double a[SIDE * SIDE], b[SIDE * SIDE];
    gd_warp warp = {.areas = {of->frame, of->frame, of->frame, of->frame}};
    gd_u64 *addresses = (gd_u64 *)(void *)(of->frame + 4 * PLACE);
    const gd_u32 *words = (const gd_u32 *)(const void *)of->frame;
    const gd_code access = {.kind = GD_ADDRESS_WIDE, .address = 4 * PLACE, .value = 8};
    const gd_code copy = {.bytes = forms[round % 7].bytes,
                          .x = forms[round % 7].lane_bytes,
                          .count = forms[round % 7].count};

    of->told[0] = with->lowest(of->values, mask, &of->told[1]);
    of->told[2] = with->alike(of->values, mask);
    of->told[3] = with->shuffle(modes[round % 4], words, words + 32, words + 64, of->values);
    with->step(of->values, mask);
    with->put(of->values, mask & (mask >> 1), 77);
    for (uint32_t lane = 0; lane < GD_LANES; lane++) /* together, the same, or anyhow */
        addresses[lane] = 4096 + (round % 3 ? round % 3 == 1 ? addresses[lane] % 4096 : 0
                                            : (uint64_t)lane * bytes);
    with->survey(&warp, &access, mask, bytes, &of->places);
    ck_assert(with->load(&warp, &copy, slots, of->memory + 2));
    ck_assert(with->store(&warp, &copy, slots, of->memory + 3));
    for (int i = 0; i < SIDE * SIDE; i++) {
        a[i] = (double)(i * (round + 1) % 17);
        b[i] = (double)(i * (round + 3) % 23) - 11;
    }
    with->multiply(of->sums, a, b, SIDE, SIDE, SIDE, SIDE, SIDE);
}

TEST(sweep, sweeps)
{
    for (int round = 0; round < 10 * ROUNDS && has_avx2(); round++) {
        const uint32_t mask = (uint32_t)(draw() >> 32) | 1, bytes = 1u << (draw() % 6);
        begin();
        for (uint32_t lane = 0; lane < GD_LANES; lane++)
            start.values[lane] %= 1 + (uint32_t)round % 6;
        after[0] = after[1] = start;
        sweep(&gd_sweeps_base, &after[0], round, mask, bytes);
        sweep(&gd_sweeps_avx2, &after[1], round, mask, bytes);
        ck_assert_mem_eq(after[0].told, after[1].told, sizeof start.told);
        ck_assert_mem_eq(after[0].values, after[1].values, sizeof start.values);
        ck_assert_mem_eq(after[0].frame, after[1].frame, sizeof start.frame);
        ck_assert_mem_eq(after[0].memory, after[1].memory, sizeof start.memory);
        ck_assert_mem_eq(after[0].sums, after[1].sums, sizeof start.sums);
        ck_assert_int_eq(after[0].places.layout, after[1].places.layout);
        ck_assert_uint_eq(after[0].places.low, after[1].places.low);
        ck_assert_uint_eq(after[0].places.high, after[1].places.high);
        for (uint32_t lane = 0; lane < GD_LANES; lane++)
            if (mask >> lane & 1)
                ck_assert_uint_eq(after[0].places.addresses[lane], after[1].places.addresses[lane]);
    }
}

MAIN_OF_SUITE("sweep")

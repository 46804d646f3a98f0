/* The interpreter's vector code: what is compiled for any processor and what is compiled for AVX2
 * must agree with each other, with themselves under partial masks and with results written over
 * operands, and sweeps with plain loops. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/execute/lanes.h"
#include "emulator/execute/memory.h"
#include "emulator/execute/sweep.h"
#include "emulator/execute/warp.h"

enum { PLACE = 4 * GD_LANE_BYTES, ROUNDS = 40 };

static _Alignas(64) unsigned char frame[8 * PLACE];
static uint64_t seed = 1;

/* xorshift64* (Vigna 2016) */
static uint64_t draw(void)
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * UINT64_C(0x2545f4914f6cdd1d);
}

/* Bits of all kinds: small and large numbers, zeros, infinities, NaNs, subnormals of either
 * size. */
static uint32_t draw_word(void)
{
    static const uint32_t special[] = {
        0,          0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 1,  0x3f800000,
        0xffffffff, 0x7ff00000, 0x00000100, 0x4f000000, 31,         32,         33, 0x7c007c00};
    uint64_t choice = draw();

    if (choice % 4 == 0)
        return special[choice / 4 % (sizeof special / sizeof special[0])];
    return choice % 4 == 1 ? (uint32_t)(choice >> 40) : (uint32_t)(choice >> 32);
}

static uint32_t draw_mask(void)
{
    uint32_t mask = (uint32_t)(draw() >> 32) & (draw() % 2 ? UINT32_MAX : (uint32_t)(draw() >> 32));

    return draw() % 4 == 0 ? UINT32_MAX : mask ? mask : 1;
}

static bool has_avx2(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/* ---- operations ---- */

static void fill_frame(unsigned char *to)
{
    for (uint32_t i = 0; i < sizeof frame; i += 4) {
        uint32_t word = draw_word();
        memcpy(to + i, &word, 4);
    }
}

/* Runs an operation from a frame; the frame afterwards is in `result`. */
static void run(gd_run *operation, const unsigned char *start, gd_slot d, uint32_t flags,
                uint32_t mask, unsigned char *result)
{
    gd_warp warp = {.areas = {frame, frame, frame, frame}};
    const gd_code code = {.run = operation,
                          .d = d,
                          .a = PLACE,
                          .b = 2 * PLACE,
                          .c = 3 * PLACE,
                          .e = 4 * PLACE,
                          .flags = (uint16_t)flags};

    memcpy(frame, start, sizeof frame);
    operation(&warp, &code, mask);
    memcpy(result, frame, sizeof frame);
}

static uint32_t changed_bytes(const unsigned char *before, const unsigned char *after)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < PLACE; i++)
        last = before[i] != after[i] ? i + 1 : last;
    return last;
}

/* Comparisons write predicates, whose lanes are bits. */
static bool is_comparison(gd_lanes_op op)
{
    return op >= GD_LANES_EQ_16 && op <= GD_LANES_TESTP_F64;
}

static void check_masked(const unsigned char *start, const unsigned char *whole,
                         const unsigned char *part, uint32_t mask, uint32_t bytes, gd_lanes_op op)
{
    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        const unsigned char *wanted = mask >> lane & 1 ? whole : start;
        ck_assert_msg(!memcmp(part + lane * bytes, wanted + lane * bytes, bytes),
                      "operation %d, lane %u, mask %08x", op, lane, mask);
    }
}

START_TEST(operations_agree)
{
    static _Alignas(64) unsigned char start[sizeof frame], base[sizeof frame], fast[sizeof frame],
        part[sizeof frame], over[sizeof frame];
    gd_lanes_op op = (gd_lanes_op)(_i + 1);

    for (int round = 0; round < ROUNDS; round++) {
        uint32_t mask = draw_mask(), flags = (uint32_t)(draw() % 7);
        fill_frame(start);
        run(gd_lanes_base[op], start, 0, flags, UINT32_MAX, base);
        if (has_avx2()) {
            run(gd_lanes_avx2[op], start, 0, flags, UINT32_MAX, fast);
            ck_assert_msg(!memcmp(base, fast, sizeof base),
                          "operation %d, flags %u: base and AVX2 differ", op, flags);
        }
        if (is_comparison(op))
            continue;
        uint32_t bytes = changed_bytes(start, base) > GD_LANE_BYTES ? 8 : 4;
        for (int variant = 0; variant <= has_avx2(); variant++) {
            gd_run *operation = variant ? gd_lanes_avx2[op] : gd_lanes_base[op];
            run(operation, start, 0, flags, mask, part);
            check_masked(start, base, part, mask, bytes, op);
            for (gd_slot slot = PLACE; slot <= 4 * PLACE; slot += PLACE) {
                run(operation, start, slot, flags, UINT32_MAX, over);
                ck_assert_msg(!memcmp(over + slot, base, bytes * GD_LANES),
                              "operation %d over the operand at %u", op, slot);
            }
        }
    }
}
END_TEST

/* ---- sweeps ---- */

static const gd_sweeps *variant(int index)
{
    return index ? &gd_sweeps_avx2 : &gd_sweeps_base;
}

START_TEST(lowest_lanes)
{
    if (_i && !has_avx2())
        return;
    for (int round = 0; round < ROUNDS * 10; round++) {
        uint32_t pcs[GD_LANES], mask = draw_mask(), range = 1 + (uint32_t)(draw() % 6),
                                least = UINT32_MAX, limit = UINT32_MAX;
        uint32_t lanes = 0, found;
        for (uint32_t lane = 0; lane < GD_LANES; lane++)
            pcs[lane] = (uint32_t)(draw() >> 32) % range;
        GD_EACH_LANE(lane, mask)
        {
            least = pcs[lane] < least ? pcs[lane] : least;
        }
        GD_EACH_LANE(lane, mask)
        {
            lanes |= pcs[lane] == least ? UINT32_C(1) << lane : 0;
            limit = pcs[lane] != least && pcs[lane] < limit ? pcs[lane] : limit;
        }
        ck_assert_uint_eq(variant(_i)->lowest(pcs, mask, &found), lanes);
        ck_assert_uint_eq(found, limit);
        ck_assert_int_eq(variant(_i)->alike(pcs, mask), lanes == mask);
    }
}
END_TEST

START_TEST(values_of_a_mask)
{
    if (_i && !has_avx2())
        return;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t values[GD_LANES], before[GD_LANES], mask = draw_mask();
        for (uint32_t lane = 0; lane < GD_LANES; lane++)
            before[lane] = values[lane] = draw_word();
        variant(_i)->step(values, mask);
        for (uint32_t lane = 0; lane < GD_LANES; lane++)
            ck_assert_uint_eq(values[lane], before[lane] + (mask >> lane & 1));
        variant(_i)->put(values, mask, 77);
        for (uint32_t lane = 0; lane < GD_LANES; lane++)
            ck_assert_uint_eq(values[lane], mask >> lane & 1 ? 77 : before[lane]);
    }
}
END_TEST

/* PTX ISA 9.7.9.6, as its pseudocode has it. */
static uint32_t shuffle_one(uint32_t mode, uint32_t lane, uint32_t b, uint32_t c, bool *inside)
{
    int32_t by = (int32_t)(b & 31), clamp = (int32_t)(c & 31), segment = (int32_t)(c >> 8 & 31),
            self = (int32_t)lane;
    int32_t most = (self & segment) | (clamp & ~segment), least = self & segment, from;

    switch (mode) {
    case GD_SHFL_UP:
        from = self - by;
        *inside = from >= most;
        break;
    case GD_SHFL_DOWN:
        from = self + by;
        *inside = from <= most;
        break;
    case GD_SHFL_BFLY:
        from = self ^ by;
        *inside = from <= most;
        break;
    default:
        from = least | (by & ~segment);
        *inside = from <= most;
        break;
    }
    return *inside ? (uint32_t)from : lane;
}

START_TEST(shuffles)
{
    static const uint32_t modes[] = {GD_SHFL_UP, GD_SHFL_DOWN, GD_SHFL_BFLY, GD_SHFL_IDX};

    if (_i && !has_avx2())
        return;
    for (int round = 0; round < ROUNDS * 4; round++) {
        uint32_t a[GD_LANES], b[GD_LANES], c[GD_LANES], got[GD_LANES], mode = modes[round % 4];
        uint32_t width = 32u >> (draw() % 6),
                 uniform = (32 - width) << 8 | (mode == GD_SHFL_UP ? 0 : 31);
        for (uint32_t lane = 0; lane < GD_LANES; lane++) {
            a[lane] = draw_word();
            b[lane] = (uint32_t)(draw() >> 32);
            c[lane] = round % 8 < 4 ? uniform : (uint32_t)(draw() >> 32);
        }
        uint32_t inside = variant(_i)->shuffle(mode, a, b, c, got);
        for (uint32_t lane = 0; lane < GD_LANES; lane++) {
            bool valid;
            uint32_t from = shuffle_one(mode, lane, b[lane], c[lane], &valid);
            ck_assert_uint_eq(got[lane], a[from]);
            ck_assert_int_eq(inside >> lane & 1, valid);
        }
    }
}
END_TEST

/* Addresses of the lanes: together, the same, or anyhow. */
START_TEST(surveys)
{
    gd_warp warp = {.areas = {frame, frame, frame, frame}};
    gd_u64 *base = (gd_u64 *)(void *)(frame + PLACE);

    if (_i && !has_avx2())
        return;
    for (int round = 0; round < ROUNDS * 3; round++) {
        const gd_code code = {
            .kind = GD_ADDRESS_WIDE, .address = PLACE, .value = (uint64_t)round * 8};
        uint32_t mask = draw_mask(), bytes = 1u << (draw() % 6), lowest = gd_lowest(mask);
        uint64_t start = draw() & ~UINT64_C(31), low = UINT64_MAX, high = 0;
        gd_places places;
        for (uint32_t lane = 0; lane < GD_LANES; lane++) {
            bool away = !(mask >> lane & 1) || round % 3 == 2;
            base[lane] = away        ? start + draw() % 4096
                         : round % 3 ? start
                                     : start + (uint64_t)lane * bytes;
        }
        variant(_i)->survey(&warp, &code, mask, bytes, &places);
        GD_EACH_LANE(lane, mask)
        {
            uint64_t address = base[lane] + code.value;
            ck_assert_uint_eq(places.addresses[lane], address);
            low = address < low ? address : low;
            high = address > high ? address : high;
        }
        ck_assert_uint_eq(places.low, low);
        ck_assert_uint_eq(places.high, high);
        if (mask == 1u << lowest || round % 3 == 1)
            ck_assert_int_eq(places.layout, GD_LAYOUT_SAME);
        else if (round % 3 == 0)
            ck_assert_int_eq(places.layout, GD_LAYOUT_TOGETHER);
        if (places.layout == GD_LAYOUT_TOGETHER)
            ck_assert_uint_eq(places.first + (uint64_t)lowest * bytes, low);
    }
}
END_TEST

typedef struct form {
    uint8_t bytes, lane_bytes, count;
} form;

static const form forms[] = {{2, 4, 1}, {4, 4, 1}, {4, 4, 2},  {4, 4, 4},
                             {8, 8, 1}, {8, 8, 2}, {16, 16, 1}};

/* What is loaded is where it was, and what is stored comes back, at a place that no vector is
 * aligned to. */
START_TEST(copies)
{
    static unsigned char memory[GD_LANES * 16 + 8], back[sizeof memory];
    static const gd_slot slots[] = {0, PLACE, 2 * PLACE, 3 * PLACE};
    gd_warp warp = {.areas = {frame, frame, frame, frame}};

    if (_i && !has_avx2())
        return;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        const form *item = &forms[i];
        const gd_code code = {.bytes = item->bytes, .x = item->lane_bytes, .count = item->count};
        uint32_t step = (uint32_t)item->bytes * item->count;
        for (size_t byte = 0; byte < sizeof memory; byte++)
            memory[byte] = (unsigned char)draw_word();
        memset(frame, 0xaa, sizeof frame);
        ck_assert(variant(_i)->load(&warp, &code, slots, memory + 2));
        for (uint32_t lane = 0; lane < GD_LANES; lane++) {
            for (uint32_t element = 0; element < item->count; element++) {
                unsigned char wanted[16] = {0};
                memcpy(wanted, memory + 2 + lane * step + element * item->bytes, item->bytes);
                ck_assert_mem_eq(frame + slots[element] + lane * item->lane_bytes, wanted,
                                 item->lane_bytes);
            }
        }
        memset(back, 0x55, sizeof back);
        ck_assert(variant(_i)->store(&warp, &code, slots, back + 2));
        ck_assert_mem_eq(back + 2, memory + 2, step * GD_LANES);
        ck_assert_int_eq(back[1], 0x55);
        ck_assert_int_eq(back[2 + step * GD_LANES], 0x55);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sweep");
    TCase *operations = tcase_create("operations"), *sweeps = tcase_create("sweeps");
    SRunner *runner;

    tcase_add_loop_test(operations, operations_agree, 0, GD_LANES_COUNT - 1);
    tcase_add_loop_test(sweeps, lowest_lanes, 0, 2);
    tcase_add_loop_test(sweeps, values_of_a_mask, 0, 2);
    tcase_add_loop_test(sweeps, shuffles, 0, 2);
    tcase_add_loop_test(sweeps, surveys, 0, 2);
    tcase_add_loop_test(sweeps, copies, 0, 2);
    suite_add_tcase(suite, operations);
    suite_add_tcase(suite, sweeps);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

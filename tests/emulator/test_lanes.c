/* The two forms of the lanes' operations, for any processor and for one with AVX2 and FMA, give the
 * same bits: each operation with random values and with those that find mistakes, all flags, whole
 * warps and parts of one. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/execute/lanes.h"
#include "emulator/execute/math.h"
#include "suite.h"

enum { PLACES = 6, PLACE_BYTES = 16 * GD_LANES, ROUNDS = 60 };

static const char *const names[GD_LANES_COUNT] = {
#define GD_LANES1(identifier, d, a, expression) [GD_LANES_##identifier] = #identifier,
#define GD_LANES2(identifier, d, a, b, expression) [GD_LANES_##identifier] = #identifier,
#define GD_LANES3(identifier, d, a, b, c, expression) [GD_LANES_##identifier] = #identifier,
#define GD_LANES4(identifier, d, a, b, c, e, expression) [GD_LANES_##identifier] = #identifier,
#define GD_COMPARE(identifier, type, condition) [GD_LANES_##identifier] = #identifier,
#define GD_SELECT(identifier, type) [GD_LANES_##identifier] = #identifier,
#include "emulator/execute/lanes.def"
};

static uint64_t random_state = 1;

static uint64_t random_bits(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* A word that is read as an integer, a float, two halves or a part of a double. */
static uint32_t random_word(void)
{
    static const uint32_t special[] = {
        0,          1,          0x80000000, 0x80000001, 0x7f800000, 0xff800000, 0x7fc00000,
        0x7f800001, 0x007fffff, 0x00800000, 0x00800001, 0x3f800000, 0x3f7fffff, 0x3f7ffffe,
        0x7f7fffff, 0xffffffff, 0x7fffffff, 0x7ff00000, 0xfff00000, 0x3ff00000, 0x7ff80000,
        0x00100000, 0x3c003c00, 0x7c00fc00, 0x7e00fe00, 0x04000400, 0x03ff8001, 0x7bff3bff,
        0x4f000000, 0xcf000000, 0x000000ff, 0x0000ffff, 31,         32,         33};
    uint64_t r = random_bits();

    if ((r & 7) < 3)
        return special[(r >> 8) % (sizeof special / sizeof special[0])];
    if ((r & 7) == 3)
        return (uint32_t)(r >> 40) % 70;
    if ((r & 7) < 6)
        return ((uint32_t)(r >> 8) & 0x807fffff) | (uint32_t)(117 + (r >> 40) % 20) << 23;
    return (uint32_t)(r >> 32);
}

/* Flags that an operation could have: modes of prmt and testp are few, a rounding is one of
 * four. */
static uint16_t random_flags(const char *name)
{
    uint32_t r = (uint32_t)(random_bits() >> 20);

    if (strcmp(name, "LOP3") == 0)
        return r & 0xff;
    if (strcmp(name, "PRMT") == 0 || strncmp(name, "TESTP", 5) == 0)
        return (uint16_t)(r % 6);
    return r & (GD_ROUND_UP | GD_FTZ | GD_SAT | GD_RELU | GD_NAN | GD_XORSIGN | GD_ABS);
}

static void run(gd_run *operation, unsigned char *block, gd_code code, uint32_t mask)
{
    gd_warp warp = {.areas = {block, block, block, block}};

    operation(&warp, &code, mask);
}

TEST_GROUP(lanes, NULL, NULL);

LOOP_TEST(lanes, both_forms_agree, GD_LANES_COUNT)
{
    static _Alignas(64) unsigned char before[PLACES * PLACE_BYTES], base[PLACES * PLACE_BYTES],
        other[PLACES * PLACE_BYTES];
    gd_lanes_op op = (gd_lanes_op)_i;

    if (op == GD_LANES_NONE)
        return;
    ck_assert(gd_lanes_base[op] != NULL);
    ck_assert(gd_lanes_avx2[op] != NULL);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        gd_code code = {.d = 0,
                        .a = PLACE_BYTES,
                        .b = 2 * PLACE_BYTES,
                        .c = 3 * PLACE_BYTES,
                        .e = 4 * PLACE_BYTES};
        uint32_t mask = round & 1 ? (uint32_t)random_bits() : UINT32_MAX;
        for (size_t i = 0; i < sizeof before; i += 4) {
            uint32_t word = random_word();
            memcpy(before + i, &word, 4);
        }
        code.flags = random_flags(names[op]);
        code.x = round % 4; /* of comparisons: how they are combined */
        code.y = round >> 2 & 1;
        memcpy(base, before, sizeof before);
        memcpy(other, before, sizeof before);
        run(gd_lanes_base[op], base, code, mask);
        run(gd_lanes_avx2[op], other, code, mask);
        size_t at = 0;
        while (at < sizeof before && base[at] == other[at])
            at++;
        if (at < sizeof before)
            ck_abort_msg("%s, flags %u, round %u: byte %zu differs", names[op], code.flags, round,
                         at);
    }
}

/* Whether the processor can execute both. */
static bool has_both(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

int main(void)
{
    if (!has_both()) {
        puts("skipped: the processor has no AVX2 and FMA, so there is only one form");
        return 77;
    }
    return run_suite(make_suite("lanes"));
}

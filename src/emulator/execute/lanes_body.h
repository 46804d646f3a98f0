/* The code of exec_lanes.def, once for each file that includes this one: it defines GD_LANES_TABLE,
 * the name of the table, and GD_FMA, the fused multiply-add of floats. */
#include "emulator/execute/lanes.h"
#include "emulator/execute/math.h"

/* Of each type: what a register's lane is stored as, what it is read as, and what a result is cut
 * to. */
#define STORE_u8 gd_u32
#define STORE_s8 gd_u32
#define STORE_u16 gd_u32
#define STORE_s16 gd_u32
#define STORE_u32 gd_u32
#define STORE_s32 gd_u32
#define STORE_u64 gd_u64
#define STORE_s64 gd_u64
#define STORE_f32 gd_f32
#define STORE_f64 gd_f64
#define VALUE_u8 uint8_t
#define VALUE_s8 int8_t
#define VALUE_u16 uint16_t
#define VALUE_s16 int16_t
#define VALUE_u32 uint32_t
#define VALUE_s32 int32_t
#define VALUE_u64 uint64_t
#define VALUE_s64 int64_t
#define VALUE_f32 float
#define VALUE_f64 double
#define CUT_u16 uint16_t
#define CUT_s16 uint16_t
#define CUT_u32 uint32_t
#define CUT_s32 uint32_t
#define CUT_u64 uint64_t
#define CUT_s64 uint64_t
#define CUT_f32 float
#define CUT_f64 double
#define BYTES_u16 4
#define BYTES_s16 4
#define BYTES_u32 4
#define BYTES_s32 4
#define BYTES_u64 8
#define BYTES_s64 8
#define BYTES_f32 4
#define BYTES_f64 8

/* Lanes have no dependencies on one another. Not every operation has vector instructions. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define EACH _Pragma("clang loop vectorize(assume_safety)")
#else
#define EACH _Pragma("GCC ivdep")
#endif

static const uint32_t lane_bits[GD_LANES] = {
    1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5, 1u << 6, 1u << 7,
    1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

__attribute__((always_inline)) static inline void put4(void *place, const void *values,
                                                       uint32_t mask)
{
    gd_u32 *to = place;
    const gd_u32 *from = values;

    if (mask == UINT32_MAX) {
        memcpy(place, values, 4 * GD_LANES);
        return;
    }
    EACH
    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        uint32_t keep = (mask & lane_bits[lane]) == 0 ? UINT32_MAX : 0;
        to[lane] = (to[lane] & keep) | (from[lane] & ~keep);
    }
}

__attribute__((always_inline)) static inline void put8(void *place, const void *values,
                                                       uint32_t mask)
{
    gd_u64 *to = place;
    const gd_u64 *from = values;

    if (mask == UINT32_MAX) {
        memcpy(place, values, 8 * GD_LANES);
        return;
    }
    EACH
    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        uint64_t keep = (mask & lane_bits[lane]) == 0 ? UINT64_MAX : 0;
        to[lane] = (to[lane] & keep) | (from[lane] & ~keep);
    }
}

#define PUT4(place, values, mask) put4(place, values, mask)
#define PUT8(place, values, mask) put8(place, values, mask)
#define PUT_OF(bytes) PUT##bytes
#define PUT(bytes) PUT_OF(bytes)

/* A result goes straight to its register where all lanes take part and no operand's lanes of
 * another size lie there; then each lane is read before it is written. Otherwise it goes to an
 * array of its own first. */
#define APART(td, name, type) (sizeof(STORE_##td) == sizeof(STORE_##type) || code->d != code->name)
#define BEGIN(identifier, td, apart)                                                              \
    static void run_##identifier(gd_warp *warp, const gd_code *code, uint32_t mask)               \
    {                                                                                             \
        _Alignas(64) STORE_##td result[GD_LANES];                                                 \
        const bool straight = mask == UINT32_MAX && (apart);                                      \
        STORE_##td *const to =                                                                    \
            __builtin_assume_aligned(straight ? gd_lanes(warp, code->d) : result, 64);            \
        const uint32_t f = code->flags;                                                           \
        (void)f;
#define TAKE(name, type) const STORE_##type *from_##name = gd_lanes(warp, code->name);
#define READ(name, type) const VALUE_##type name = (VALUE_##type)from_##name[lane];
#define END(td, expression)                                                                       \
    to[lane] = (STORE_##td)(CUT_##td)(expression);                                                \
    }                                                                                             \
    if (!straight)                                                                                \
        PUT(BYTES_##td)(gd_lanes(warp, code->d), result, mask);                                   \
    }
#define LOOP                                                                                      \
    EACH                                                                                          \
    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
#define GD_LANES1(identifier, td, ta, expression)                                                 \
    BEGIN(identifier, td, APART(td, a, ta)) TAKE(a, ta) LOOP READ(a, ta) END(td, expression)
#define GD_LANES2(identifier, td, ta, tb, expression)                                             \
    BEGIN(identifier, td, APART(td, a, ta) && APART(td, b, tb))                                   \
    TAKE(a, ta) TAKE(b, tb) LOOP READ(a, ta) READ(b, tb) END(td, expression)
#define GD_LANES3(identifier, td, ta, tb, tc, expression)                                         \
    BEGIN(identifier, td, APART(td, a, ta) && APART(td, b, tb) && APART(td, c, tc))               \
    TAKE(a, ta) TAKE(b, tb) TAKE(c, tc) LOOP READ(a, ta) READ(b, tb) READ(c, tc) END(td, expression)
#define GD_LANES4(identifier, td, ta, tb, tc, te, expression)                                     \
    BEGIN(identifier, td,                                                                         \
          APART(td, a, ta) && APART(td, b, tb) && APART(td, c, tc) && APART(td, e, te))           \
    TAKE(a, ta)                                                                                   \
    TAKE(b, tb) TAKE(c, tc) TAKE(e, te)                                                           \
    LOOP READ(a, ta) READ(b, tb) READ(c, tc) READ(e, te) END(td, expression)

static inline void finish_compare(gd_warp *warp, const gd_code *code, uint32_t mask,
                                  uint32_t result)
{
    uint32_t other = ~result;

    if (code->x != GD_COMBINE_NONE) {
        uint32_t c = gd_predicate(warp, code->c) ^ (code->y ? UINT32_MAX : 0);
        result = code->x == GD_COMBINE_AND  ? result & c
                 : code->x == GD_COMBINE_OR ? result | c
                                            : result ^ c;
        other = code->x == GD_COMBINE_AND  ? other & c
                : code->x == GD_COMBINE_OR ? other | c
                                           : other ^ c;
    }
    gd_predicate_put(warp, code->d, result, mask);
    gd_predicate_put(warp, code->e, other, mask);
}

#define GD_COMPARE(identifier, type, condition)                                                   \
    static void run_##identifier(gd_warp *warp, const gd_code *code, uint32_t mask)               \
    {                                                                                             \
        const uint32_t f = code->flags;                                                           \
        uint32_t result = 0;                                                                      \
        (void)f;                                                                                  \
        TAKE(a, type)                                                                             \
        TAKE(b, type) LOOP READ(a, type) READ(b, type)(void) b;                                   \
        result |= (condition) ? lane_bits[lane] : 0;                                              \
        }                                                                                         \
        finish_compare(warp, code, mask, result);                                                 \
    }

#define GD_SELECT(identifier, type)                                                               \
    BEGIN(identifier, type, true)                                                                 \
    const uint32_t chosen = gd_predicate(warp, code->c) ^ (code->y ? UINT32_MAX : 0);             \
    TAKE(a, type)                                                                                 \
    TAKE(b, type)                                                                                 \
    LOOP READ(a, type) READ(b, type) END(type, (chosen & lane_bits[lane]) != 0 ? a : b)

#include "emulator/execute/lanes.def"

gd_run *const GD_LANES_TABLE[GD_LANES_COUNT] = {
#define GD_LANES1(identifier, d, a, expression) [GD_LANES_##identifier] = run_##identifier,
#define GD_LANES2(identifier, d, a, b, expression) [GD_LANES_##identifier] = run_##identifier,
#define GD_LANES3(identifier, d, a, b, c, expression) [GD_LANES_##identifier] = run_##identifier,
#define GD_LANES4(identifier, d, a, b, c, e, expression) [GD_LANES_##identifier] = run_##identifier,
#define GD_COMPARE(identifier, type, condition) [GD_LANES_##identifier] = run_##identifier,
#define GD_SELECT(identifier, type) [GD_LANES_##identifier] = run_##identifier,
#include "emulator/execute/lanes.def"
};

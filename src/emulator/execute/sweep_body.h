/* The code of execute/sweep.h, once for each file that includes this one behind
 * execute/lanes_body.h: it defines GD_SWEEPS, the name of the table. */
#include "emulator/execute/memory.h"
#include "emulator/execute/sweep.h"
#include "emulator/execute/warp.h"

/* Memory is aligned as the access asks, but not for vectors. */
typedef uint16_t any_u16 __attribute__((may_alias, aligned(1)));
typedef uint32_t any_u32 __attribute__((may_alias, aligned(1)));
typedef uint64_t any_u64 __attribute__((may_alias, aligned(1)));

static void sweep_addresses(const gd_warp *warp, const gd_code *code, uint64_t *restrict addresses)
{
    const uint64_t offset = code->value;

    if (code->kind == GD_ADDRESS_WIDE) {
        const gd_u64 *base = gd_lanes(warp, code->address);
        EACH for (uint32_t lane = 0; lane < GD_LANES; lane++) addresses[lane] = base[lane] + offset;
    } else if (code->kind == GD_ADDRESS_NARROW) {
        const gd_u32 *base = gd_lanes(warp, code->address);
        EACH for (uint32_t lane = 0; lane < GD_LANES; lane++) addresses[lane] =
            (uint32_t)(base[lane] + (uint32_t)offset);
    } else {
        EACH for (uint32_t lane = 0; lane < GD_LANES; lane++) addresses[lane] =
            warp->local[lane] + offset;
    }
}

static void sweep_survey(const gd_warp *warp, const gd_code *code, uint32_t mask, uint32_t bytes,
                         gd_places *into)
{
    uint64_t *addresses = into->addresses, apart = 0, differ = 0;
    const uint32_t lowest = gd_lowest(mask), highest = 31 - (uint32_t)__builtin_clz(mask);

    sweep_addresses(warp, code, addresses);
    const uint64_t one = addresses[lowest], first = one - (uint64_t)lowest * bytes;
    if (mask == UINT32_MAX) {
        EACH for (uint32_t lane = 0; lane < GD_LANES; lane++)
        {
            apart |= addresses[lane] ^ (first + (uint64_t)lane * bytes);
            differ |= addresses[lane] ^ one;
        }
    } else {
        EACH for (uint32_t lane = 0; lane < GD_LANES; lane++)
        {
            uint64_t keep = (mask & lane_bits[lane]) != 0 ? UINT64_MAX : 0;
            apart |= (addresses[lane] ^ (first + (uint64_t)lane * bytes)) & keep;
            differ |= (addresses[lane] ^ one) & keep;
        }
    }
    into->layout = !differ ? GD_LAYOUT_SAME : !apart ? GD_LAYOUT_TOGETHER : GD_LAYOUT_APART;
    into->first = into->layout == GD_LAYOUT_SAME ? one : first;
    into->low = one;
    into->high = addresses[highest];
    into->bits = one;
    if (into->layout != GD_LAYOUT_APART)
        return;
    GD_EACH_LANE(lane, mask)
    {
        uint64_t address = addresses[lane];
        into->low = address < into->low ? address : into->low;
        into->high = address > into->high ? address : into->high;
        into->bits |= address;
    }
}

static void sweep_shift(gd_places *places, uint64_t distance)
{
    for (uint32_t lane = 0; lane < GD_LANES; lane++)
        places->hosts[lane] = places->addresses[lane] + distance;
}

/* Elements of `type` of a vector of `count`, to or from registers of the same size. */
#define GATHER(type, count)                                                                        \
    for (uint32_t i = 0; i < (count); i++) {                                                       \
        gd_##type *to = gd_lanes(warp, slots[i]);                                                  \
        const any_##type *at = (const any_##type *)(const void *)from + i;                         \
        EACH for (uint32_t lane = 0; lane < GD_LANES; lane++) to[lane] =                           \
            at[(size_t)lane * (count)];                                                            \
    }                                                                                              \
    return true;
#define SCATTER(type, count)                                                                       \
    for (uint32_t i = 0; i < (count); i++) {                                                       \
        const gd_##type *at = gd_lanes(warp, slots[i]);                                            \
        any_##type *into = (any_##type *)(void *)to + i;                                           \
        EACH for (uint32_t lane = 0; lane < GD_LANES; lane++) into[(size_t)lane * (count)] =       \
            at[lane];                                                                              \
    }                                                                                              \
    return true;

static bool sweep_load(const gd_warp *warp, const gd_code *code, const gd_slot *slots,
                       const unsigned char *from)
{
    const uint32_t count = code->count;

    if (code->bytes == 2 && code->x == 4 && count == 1 && !(code->flags & GD_ACCESS_SIGNED)) {
        gd_u32 *to = gd_lanes(warp, slots[0]);
        EACH for (uint32_t lane = 0; lane < GD_LANES; lane++) to[lane] =
            ((const any_u16 *)(const void *)from)[lane];
        return true;
    }
    if (code->bytes != code->x)
        return false;
    if (count == 1) {
        memcpy(gd_lanes(warp, slots[0]), from, (size_t)GD_LANES * code->bytes);
        return true;
    }
    if (code->bytes == 4 && count == 4) {
        GATHER(u32, 4)
    }
    if (code->bytes == 4 && count == 2) {
        GATHER(u32, 2)
    }
    if (code->bytes == 8 && count == 2) {
        GATHER(u64, 2)
    }
    return false;
}

static bool sweep_store(const gd_warp *warp, const gd_code *code, const gd_slot *slots,
                        unsigned char *to)
{
    const uint32_t count = code->count;

    if (code->bytes == 2 && code->x == 4 && count == 1) {
        const gd_u32 *from = gd_lanes(warp, slots[0]);
        EACH for (uint32_t lane = 0; lane < GD_LANES; lane++)((any_u16 *)(void *)to)[lane] =
            (uint16_t)from[lane];
        return true;
    }
    if (code->bytes != code->x)
        return false;
    if (count == 1) {
        memcpy(to, gd_lanes(warp, slots[0]), (size_t)GD_LANES * code->bytes);
        return true;
    }
    if (code->bytes == 4 && count == 4) {
        SCATTER(u32, 4)
    }
    if (code->bytes == 4 && count == 2) {
        SCATTER(u32, 2)
    }
    if (code->bytes == 8 && count == 2) {
        SCATTER(u64, 2)
    }
    return false;
}

static uint32_t sweep_lowest(const uint32_t *pcs, uint32_t mask, uint32_t *limit)
{
    uint32_t keys[GD_LANES], least = UINT32_MAX, next = UINT32_MAX, result = 0;

    EACH for (uint32_t lane = 0; lane < GD_LANES; lane++)
    {
        uint32_t out = (mask & lane_bits[lane]) == 0 ? UINT32_MAX : 0;
        keys[lane] = pcs[lane] | out;
        least = keys[lane] < least ? keys[lane] : least;
    }
    EACH for (uint32_t lane = 0; lane < GD_LANES; lane++)
    {
        uint32_t same = keys[lane] == least ? UINT32_MAX : 0, other = keys[lane] | same;
        next = other < next ? other : next;
        result |= same & lane_bits[lane];
    }
    *limit = next;
    return result & mask;
}

static bool sweep_alike(const gd_u32 *values, uint32_t mask)
{
    uint32_t first = values[gd_lowest(mask)], differ = 0;

    EACH for (uint32_t lane = 0; lane < GD_LANES; lane++) differ |=
        (mask & lane_bits[lane]) != 0 ? values[lane] ^ first : 0;
    return !differ;
}

static void sweep_put(gd_u32 *values, uint32_t mask, uint32_t value)
{
    EACH for (uint32_t lane = 0; lane < GD_LANES; lane++) values[lane] =
        (mask & lane_bits[lane]) != 0 ? value : values[lane];
}

static void sweep_step(gd_u32 *values, uint32_t mask)
{
    EACH for (uint32_t lane = 0; lane < GD_LANES; lane++) values[lane] +=
        (mask & lane_bits[lane]) != 0 ? 1 : 0;
}

/* PTX ISA 9.7.9.6: the lane to read from, which may lie outside of the segment, and whether it lies
 * inside. */
#define SHUFFLE(from, valid)                                                                       \
    EACH for (uint32_t lane = 0; lane < GD_LANES; lane++)                                          \
    {                                                                                              \
        const uint32_t clamp = c[lane] & 31, segment = c[lane] >> 8 & 31, by = b[lane] & 31;       \
        const int32_t most = (int32_t)((lane & segment) | (clamp & ~segment));                     \
        const int32_t wanted = (int32_t)(from);                                                    \
        const uint32_t inside = (valid) ? UINT32_MAX : 0;                                          \
        sources[lane] = ((uint32_t)wanted & inside & 31) | (lane & ~inside);                       \
        result |= inside & lane_bits[lane];                                                        \
    }

static uint32_t sweep_shuffle(uint32_t mode, const gd_u32 *a, const gd_u32 *b, const gd_u32 *c,
                              uint32_t *values)
{
    uint32_t sources[GD_LANES], result = 0;

    if (mode == GD_SHFL_UP) {
        SHUFFLE(lane - by, wanted >= most)
    } else if (mode == GD_SHFL_DOWN) {
        SHUFFLE(lane + by, wanted <= most)
    } else if (mode == GD_SHFL_BFLY) {
        SHUFFLE(lane ^ by, wanted <= most)
    } else {
        SHUFFLE((lane & segment) | (by & ~segment), wanted <= most)
    }
    EACH for (uint32_t lane = 0; lane < GD_LANES; lane++) values[lane] = a[sources[lane]];
    return result;
}

/* Columns of one row; compilers make of them what the processor has. */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
enum { TILE_ROWS = 4, TILE_COLUMNS = 8 };

/* A tile stays in registers while it is summed up. */
static void multiply_tile(double *sums, const double *a, const double *b, size_t step,
                          uint32_t depth, size_t a_step)
{
    four tile[TILE_ROWS][2];

    for (uint32_t row = 0; row < TILE_ROWS; row++)
        memcpy(tile[row], sums + row * step, sizeof tile[row]);
    for (uint32_t k = 0; k < depth; k++) {
        const four *factors = (const four *)(const void *)(b + k * step), left = factors[0],
                   right = factors[1];
        for (uint32_t row = 0; row < TILE_ROWS; row++) {
            tile[row][0] += a[row * a_step + k] * left;
            tile[row][1] += a[row * a_step + k] * right;
        }
    }
    for (uint32_t row = 0; row < TILE_ROWS; row++)
        memcpy(sums + row * step, tile[row], sizeof tile[row]);
}

static void sweep_multiply(double *sums, const double *a, const double *b, size_t step,
                           uint32_t rows, uint32_t columns, uint32_t depth, size_t a_step)
{
    for (uint32_t row = 0; row < rows; row += TILE_ROWS) {
        for (uint32_t column = 0; column < columns; column += TILE_COLUMNS)
            multiply_tile(sums + row * step + column, a + row * a_step, b + column, step, depth,
                          a_step);
    }
}

const gd_sweeps GD_SWEEPS = {sweep_survey, sweep_shift, sweep_load, sweep_store,   sweep_lowest,
                             sweep_alike,  sweep_put,   sweep_step, sweep_shuffle, sweep_multiply};

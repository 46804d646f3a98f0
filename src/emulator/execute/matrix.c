/* ldmatrix, stmatrix, movmatrix, mma.sync (PTX ISA 9.7.14). */
#include "emulator/execute/check.h"
#include "emulator/execute/matrix.h"
#include "emulator/execute/control.h"
#include "emulator/execute/convert.h"
#include "emulator/execute/math.h"
#include "emulator/execute/program.h"
#include "emulator/execute/sweep.h"

enum { ROWS = 16, COLUMNS = 8, DEEPEST = 256 };

bool gd_matrix_gather(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint32_t here = gd_warp_gather(warp, code, code->e, mask);

    if (here && here != UINT32_MAX)
        gd_cta_fail(warp, code, gd_lowest(here), GD_FAULT_UNSUPPORTED, 0, 0, false,
                    "only %u lanes of the warp execute this; all 32 have to", gd_count(here));
    return here == UINT32_MAX;
}

/* ---- 8 by 8 matrices of 16-bit elements ---- */

/* The rows of matrix number `number` are where lanes 8 * number and the seven behind it say. */
static bool find_rows(gd_warp *warp, const gd_code *code, uint32_t number, bool write,
                      unsigned char **rows)
{
    uint64_t addresses[GD_LANES];

    gd_address_lanes(warp, code, addresses);
    for (uint32_t row = 0; row < 8; row++) {
        uint32_t lane = number * 8 + row;
        rows[row] =
            gd_access(warp, code, lane, (gd_space)code->space, addresses[lane], 16, 16, write);
        if (!rows[row])
            return false;
        if (warp->cta->race)
            gd_check_range(warp, code, lane, (gd_space)code->space, addresses[lane], 16,
                           write ? GD_ACTION_WRITE : GD_ACTION_READ, false);
    }
    return true;
}

static unsigned char *element(unsigned char *const *rows, uint32_t lane, uint32_t i,
                              bool transposed)
{
    uint32_t row = lane / 4, column = lane % 4 * 2 + i;

    return transposed ? rows[column] + 2 * row : rows[row] + 2 * column;
}

static void load_matrix(const gd_warp *warp, const gd_code *code, gd_slot slot,
                        unsigned char *const *rows)
{
    gd_u32 *lanes = gd_lanes(warp, slot);

    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        uint16_t low, high;
        memcpy(&low, element(rows, lane, 0, code->x), 2);
        memcpy(&high, element(rows, lane, 1, code->x), 2);
        lanes[lane] = low | (uint32_t)high << 16;
    }
}

static void store_matrix(const gd_warp *warp, const gd_code *code, gd_slot slot,
                         unsigned char *const *rows)
{
    const gd_u32 *lanes = gd_lanes(warp, slot);

    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        uint16_t low = (uint16_t)lanes[lane], high = (uint16_t)(lanes[lane] >> 16);
        memcpy(element(rows, lane, 0, code->x), &low, 2);
        memcpy(element(rows, lane, 1, code->x), &high, 2);
    }
}

void gd_run_ldmatrix(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t *slots = warp->cta->image->list + code->list;
    unsigned char *rows[4][8];

    if (!gd_matrix_gather(warp, code, mask))
        return;
    for (uint32_t i = 0; i < code->count; i++) { /* a target may hold the addresses */
        if (!find_rows(warp, code, i, false, rows[i]))
            return;
    }
    for (uint32_t i = 0; i < code->count; i++)
        load_matrix(warp, code, slots[i], rows[i]);
}

void gd_run_stmatrix(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t *slots = warp->cta->image->list + code->list;
    unsigned char *rows[8];

    if (!gd_matrix_gather(warp, code, mask))
        return;
    for (uint32_t i = 0; i < code->count; i++) {
        if (!find_rows(warp, code, i, true, rows))
            return;
        store_matrix(warp, code, slots[i], rows);
    }
    warp->cta->work++;
}

void gd_run_movmatrix(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint16_t from[8][8];
    const gd_u32 *a = gd_lanes(warp, code->a);
    gd_u32 *d = gd_lanes(warp, code->d);

    if (!gd_matrix_gather(warp, code, mask))
        return;
    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        from[lane / 4][lane % 4 * 2] = (uint16_t)a[lane];
        from[lane / 4][lane % 4 * 2 + 1] = (uint16_t)(a[lane] >> 16);
    }
    for (uint32_t lane = 0; lane < GD_LANES; lane++)
        d[lane] = from[lane % 4 * 2][lane / 4] | (uint32_t)from[lane % 4 * 2 + 1][lane / 4] << 16;
}

/* ---- mma ---- */

/* Rows of a and b have as many elements as k says. */
typedef struct tile {
    double a[ROWS * DEEPEST], b[DEEPEST * COLUMNS], c[ROWS][COLUMNS];
} tile;

uint32_t gd_matrix_packed(gd_matrix_element kind)
{
    static const uint8_t counts[] = {
        [GD_MATRIX_F16] = 2,  [GD_MATRIX_BF16] = 2, [GD_MATRIX_TF32] = 1, [GD_MATRIX_E4M3] = 4,
        [GD_MATRIX_E5M2] = 4, [GD_MATRIX_F64] = 1,  [GD_MATRIX_S8] = 4,   [GD_MATRIX_U8] = 4,
        [GD_MATRIX_S4] = 8,   [GD_MATRIX_U4] = 8,   [GD_MATRIX_B1] = 32};

    return counts[kind];
}

/* Element i of those in a register that are none of 16 or 8 bits. */
static double get_value(uint64_t word, uint32_t i, gd_matrix_element kind)
{
    uint32_t nibble = (uint32_t)(word >> (4 * (i & 7))) & 15;

    switch (kind) {
    case GD_MATRIX_TF32:
        return (double)gd_single((uint32_t)word & 0xffffe000);
    case GD_MATRIX_F64:
        return gd_double(word);
    case GD_MATRIX_S4:
        return (double)((int32_t)(nibble ^ 8) - 8);
    case GD_MATRIX_U4:
        return (double)nibble;
    case GD_MATRIX_B1:
        return (double)(word >> i & 1);
    default:
        return gd_byte((uint32_t)word, i, kind == GD_MATRIX_S8);
    }
}

void gd_matrix_unpack(uint64_t word, gd_matrix_element kind, double *to, size_t step)
{
    switch (kind) {
    case GD_MATRIX_F16:
        to[0] = (double)gd_from_half((uint16_t)word);
        to[step] = (double)gd_from_half((uint16_t)(word >> 16));
        return;
    case GD_MATRIX_BF16:
        to[0] = (double)gd_from_bfloat((uint16_t)word);
        to[step] = (double)gd_from_bfloat((uint16_t)(word >> 16));
        return;
    case GD_MATRIX_E4M3:
    case GD_MATRIX_E5M2:
        for (uint32_t i = 0; i < 4; i++)
            to[i * step] =
                (double)gd_from_fp8((uint32_t)(word >> (8 * i)) & 0xff, kind == GD_MATRIX_E5M2);
        return;
    default:
        for (uint32_t i = 0; i < gd_matrix_packed(kind); i++)
            to[i * step] = get_value(word, i, kind);
    }
}

/* PTX ISA 9.7.14.5: lane = 4 * group + member; a register of a holds neighbours in a row, one of b
 * in a column. Where there are 16 rows, every other register of a is of the lower ones. */
static void read_factors(const gd_warp *warp, const gd_code *code, const uint32_t *slots,
                         tile *into)
{
    uint32_t per = gd_matrix_packed((gd_matrix_element)code->x), depth = (uint32_t)code->value;
    uint32_t halves = code->count / 8u, b_count = depth / per / 4, a_count = b_count * halves;
    uint32_t bytes = code->x == GD_MATRIX_F64 ? 8 : 4;

    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        uint32_t group = lane / 4, member = lane % 4;
        for (uint32_t r = 0; r < a_count; r++) {
            uint64_t word = gd_lane_get(warp, slots[r], lane, bytes);
            double *row = into->a + (size_t)(group + 8 * (r % halves)) * depth;
            gd_matrix_unpack(word, (gd_matrix_element)code->x,
                             row + (member + r / halves * 4) * per, 1);
        }
        for (uint32_t r = 0; r < b_count; r++) {
            uint64_t word = gd_lane_get(warp, slots[a_count + r], lane, bytes);
            gd_matrix_unpack(word, (gd_matrix_element)code->y,
                             into->b + (member + r * 4) * per * COLUMNS + group, COLUMNS);
        }
    }
}

static double read_sum(uint64_t word, uint32_t i, const gd_code *code)
{
    if (code->flags & GD_MATRIX_HALF_C)
        return (double)gd_from_half((uint16_t)(word >> (16 * (i & 1))));
    if (code->x == GD_MATRIX_F64)
        return gd_double(word);
    return code->x >= GD_MATRIX_S8 ? (double)(int32_t)(uint32_t)word
                                   : (double)gd_single((uint32_t)word);
}

static void read_sums(const gd_warp *warp, const gd_code *code, const uint32_t *slots, tile *into)
{
    bool half = code->flags & GD_MATRIX_HALF_C;

    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        for (uint32_t i = 0; i < code->count / 4u; i++) {
            uint64_t word =
                gd_lane_get(warp, slots[half ? i / 2 : i], lane, code->x == GD_MATRIX_F64 ? 8 : 4);
            into->c[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + (i & 1)] = read_sum(word, i, code);
        }
    }
}

static uint64_t finish(double sum, const gd_code *code)
{
    if (code->x == GD_MATRIX_F64)
        return gd_bits64(sum);
    if (code->x >= GD_MATRIX_S8) {
        if (code->flags & GD_MATRIX_SATURATE)
            sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        return (uint32_t)(uint64_t)(int64_t)sum;
    }
    if (code->flags & GD_MATRIX_HALF_D)
        return gd_to_half(sum, 0);
    return gd_bits(gd_nan32((float)sum));
}

static void write_sums(const gd_warp *warp, const gd_code *code, const uint32_t *slots,
                       const tile *from)
{
    bool half = code->flags & GD_MATRIX_HALF_D;
    uint32_t count = code->count / 4u;

    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        uint64_t values[4] = {0};
        for (uint32_t i = 0; i < count; i++)
            values[i] = finish(from->c[lane / 4 + 8 * (i / 2)][lane % 4 * 2 + (i & 1)], code);
        for (uint32_t i = 0; i < (half ? count / 2 : count); i++)
            gd_lane_put(warp, slots[i], lane, code->x == GD_MATRIX_F64 ? 8 : 4,
                        half ? values[2 * i] | values[2 * i + 1] << 16 : values[i]);
    }
}

/* Bits that differ are counted. */
static void count_differences(const gd_code *code, tile *work)
{
    uint32_t depth = (uint32_t)code->value;

    for (uint32_t row = 0; row < code->count; row++) {
        for (uint32_t k = 0; k < depth; k++) {
            for (uint32_t column = 0; column < COLUMNS; column++)
                work->c[row][column] += work->a[row * depth + k] != work->b[k * COLUMNS + column];
        }
    }
}

/* f64: fused steps, each rounded as the instruction says. */
static void multiply_double(const gd_code *code, tile *work)
{
    uint32_t depth = (uint32_t)code->value, round = (uint32_t)code->flags >> GD_MATRIX_ROUND_SHIFT;

    for (uint32_t row = 0; row < code->count; row++) {
        for (uint32_t k = 0; k < depth; k++) {
            for (uint32_t column = 0; column < COLUMNS; column++) {
                double a = work->a[row * depth + k], b = work->b[k * COLUMNS + column];
                double *c = &work->c[row][column];
                *c =
                    round == GD_ROUND_NEAREST ? fma(a, b, *c) : gd_directed64('f', a, b, *c, round);
            }
        }
    }
}

void gd_run_mma(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t *slots = warp->cta->image->list + code->list;
    uint32_t columns = (uint32_t)code->value / gd_matrix_packed((gd_matrix_element)code->x) / 4;
    uint32_t factors = columns * (code->count / 8u) + columns, sums = code->count / 4u;
    uint32_t targets = code->flags & GD_MATRIX_HALF_D ? sums / 2 : sums;
    tile work;

    if (!gd_matrix_gather(warp, code, mask))
        return;
    read_factors(warp, code, slots + targets, &work);
    read_sums(warp, code, slots + targets + factors, &work);
    if (code->x == GD_MATRIX_F64)
        multiply_double(code, &work);
    else if (code->flags & GD_MATRIX_XOR)
        count_differences(code, &work);
    else
        warp->cta->sweeps->multiply(work.c[0], work.a, work.b, COLUMNS, code->count, COLUMNS,
                                    (uint32_t)code->value, (uint32_t)code->value);
    write_sums(warp, code, slots, &work);
}

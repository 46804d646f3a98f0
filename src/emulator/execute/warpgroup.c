/* wgmma.mma_async, wgmma.commit_group, wgmma.wait_group (PTX ISA 9.7.15). */
#include <inttypes.h>

#include "emulator/execute/check.h"
#include "emulator/execute/cluster.h"
#include "emulator/execute/control.h"
#include "emulator/execute/convert.h"
#include "emulator/execute/math.h"
#include "emulator/execute/matrix.h"
#include "emulator/execute/warpgroup.h"
#include "emulator/execute/program.h"
#include "emulator/execute/sweep.h"

enum { ROWS = 16, COLUMNS = 8, CHUNK = 16, MOST_DEPTH = GD_WARPGROUP_BYTES, PIECES = 64 };

/* ---- descriptors ---- */

/* Where the chunks of 16 bytes of a matrix in shared memory lie (PTX ISA 9.7.15.5.1). */
typedef struct layout {
    uint32_t start, leading, stride; /* bytes */
    uint32_t base, swizzle;          /* of the address' bits from 7 on, so many are exchanged */
    bool transposed;
} layout;

static layout read_descriptor(uint64_t bits, bool transposed)
{
    static const uint8_t swizzles[] = {0, 3, 2, 1};

    return (layout){.start = (uint32_t)(bits & 0x3fff) << 4,
                    .leading = (uint32_t)(bits >> 16 & 0x3fff) << 4,
                    .stride = (uint32_t)(bits >> 32 & 0x3fff) << 4,
                    .base = (uint32_t)(bits >> 49 & 7),
                    .swizzle = swizzles[bits >> 62],
                    .transposed = transposed};
}

/* Chunk `part` of a row along k, or, transposed, chunk `part` of a row along m or n. Without a
 * swizzle the two strides are between chunks of a row and between groups of 8 rows; with one, a row
 * of 32, 64 or 128 bytes is contiguous. */
static uint32_t chunk_offset(const layout *l, uint32_t row, uint32_t part)
{
    uint32_t width = 1u << l->swizzle; /* chunks of a swizzled row */
    uint32_t groups = row / 8, in = row % 8 * CHUNK * width;

    if (!l->swizzle)
        return l->transposed ? in + groups * l->leading + part * l->stride
                             : in + groups * l->stride + part * l->leading;
    return in + groups * l->stride + part % width * CHUNK + part / width * l->leading;
}

static uint32_t chunk_address(const layout *l, uint32_t row, uint32_t part)
{
    uint32_t address = l->start + chunk_offset(l, row, part);

    return address ^ (((address >> 7) - l->base) & ((1u << l->swizzle) - 1)) << 4;
}

/* ---- what is read, for the race detector ---- */

typedef struct pieces {
    gd_warp *warp;
    const gd_code *code;
    gd_race_piece list[PIECES];
    uint32_t count;
} pieces;

static void flush(pieces *to)
{
    static const gd_check_kind kind = {
        .space = GD_AT_SHARED, .action = GD_ACTION_READ, .async = true, .warpgroup = true};

    if (to->count)
        gd_check_pieces(to->warp, to->code, 0, &kind, to->list, to->count);
    to->count = 0;
}

static void add_piece(pieces *to, uint64_t address)
{
    gd_race_piece *last = to->count ? &to->list[to->count - 1] : NULL;

    if (last && last->address + last->bytes == address) {
        last->bytes += CHUNK;
        return;
    }
    if (last && last->address == address + CHUNK) {
        last->address = address;
        last->bytes += CHUNK;
        return;
    }
    if (to->count == PIECES)
        flush(to);
    to->list[to->count++] = (gd_race_piece){address, CHUNK};
}

/* ---- factors ---- */

typedef struct product {
    double a[ROWS][MOST_DEPTH], b[MOST_DEPTH][GD_WARPGROUP_N], c[ROWS][GD_WARPGROUP_N];
} product;

static const unsigned char *read_chunk(gd_warp *warp, const gd_code *code, const layout *l,
                                       uint32_t row, uint32_t part, pieces *read)
{
    uint64_t address = chunk_address(l, row, part) | (uint64_t)warp->cta->rank << GD_RANK_SHIFT;
    const unsigned char *place =
        gd_access(warp, code, 0, GD_AT_SHARED, address, CHUNK, CHUNK, false);

    if (place && warp->cta->race)
        add_piece(read, address);
    return place;
}

/* The elements of a register, `step` doubles apart. */
static void unpack(uint32_t word, gd_matrix_element kind, bool negate, double *to, size_t step)
{
    gd_matrix_unpack(word, kind, to, step);
    for (uint32_t i = 0; negate && i < gd_matrix_packed(kind); i++)
        to[i * step] = -to[i * step];
}

/* A matrix of `count` rows (of a) or columns (of b) from `first` on: element (i, k) goes to to[i *
 * row_step + k * depth_step]. */
static bool read_matrix(gd_warp *warp, const gd_code *code, const layout *l, uint32_t first,
                        uint32_t count, gd_matrix_element kind, bool negate, double *to,
                        size_t row_step, size_t depth_step, pieces *read)
{
    const uint32_t per = CHUNK / 4 * gd_matrix_packed(kind);
    const uint32_t rows = l->transposed ? 2 * per : count, parts = l->transposed ? count / per : 2;

    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t part = 0; part < parts; part++) {
            const uint32_t at = l->transposed ? row : first + row;
            const unsigned char *chunk =
                read_chunk(warp, code, l, at, l->transposed ? first / per + part : part, read);
            if (!chunk)
                return false;
            double *target = l->transposed ? to + part * per * row_step + row * depth_step
                                           : to + row * row_step + part * per * depth_step;
            const size_t step = l->transposed ? row_step : depth_step;
            for (uint32_t w = 0; w < CHUNK / 4; w++) {
                uint32_t word;
                memcpy(&word, chunk + 4 * w, 4);
                unpack(word, kind, negate, target + w * (per / (CHUNK / 4)) * step, step);
            }
        }
    }
    return true;
}

/* PTX ISA 9.7.15.5.1: lane = 4 * group + member, as for mma. */
static void read_fragments(const gd_warp *warp, const gd_code *code, const uint32_t *slots,
                           product *into)
{
    const uint32_t per = gd_matrix_packed((gd_matrix_element)code->x);
    const bool negate = code->flags & GD_WARPGROUP_NEGATE_A;

    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        for (uint32_t r = 0; r < 4; r++) {
            double *row = into->a[lane / 4 + 8 * (r % 2)] + (lane % 4 + r / 2 * 4) * per;
            unpack((uint32_t)gd_lane_get(warp, slots[r], lane, 4), (gd_matrix_element)code->x,
                   negate, row, 1);
        }
    }
}

static bool read_factors(gd_warp *warp, const gd_code *code, const uint32_t *slots, product *into)
{
    pieces read = {.warp = warp, .code = code};
    const bool fragments = code->flags & GD_WARPGROUP_REGISTERS;
    const uint64_t b = gd_lane_get(warp, slots[fragments ? 4 : 1], 0, 8);
    layout from = read_descriptor(b, code->flags & GD_WARPGROUP_TRANSPOSE_B);

    if (!read_matrix(warp, code, &from, 0, code->target, (gd_matrix_element)code->y,
                     code->flags & GD_WARPGROUP_NEGATE_B, into->b[0], 1, GD_WARPGROUP_N, &read))
        return false;
    if (fragments) {
        read_fragments(warp, code, slots, into);
    } else {
        from = read_descriptor(gd_lane_get(warp, slots[0], 0, 8),
                               code->flags & GD_WARPGROUP_TRANSPOSE_A);
        if (!read_matrix(warp, code, &from, warp->index % GD_WARPGROUP_WARPS * ROWS, ROWS,
                         (gd_matrix_element)code->x, code->flags & GD_WARPGROUP_NEGATE_A,
                         into->a[0], MOST_DEPTH, 1, &read))
            return false;
    }
    flush(&read);
    return true;
}

/* ---- sums ---- */

/* Register r of a lane holds neighbours in a row, every other one (or pair of f32) of the lower
 * rows. */
static double *sum_at(product *work, uint32_t lane, uint32_t i)
{
    return &work->c[lane / 4 + 8 * (i / 2 % 2)][i / 4 * 8 + lane % 4 * 2 + i % 2];
}

static void read_sums(const gd_warp *warp, const gd_code *code, const uint32_t *slots,
                      product *into)
{
    const bool half = code->flags & GD_MATRIX_HALF_D;
    const bool keep =
        (gd_predicate(warp, code->c) & 1) != (code->flags & GD_WARPGROUP_KEEP_NOT ? 1u : 0u);

    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        for (uint32_t i = 0; i < code->target / 2; i++) {
            uint32_t word = (uint32_t)gd_lane_get(warp, slots[half ? i / 2 : i], lane, 4);
            double value =
                code->x >= GD_MATRIX_S8 ? (double)(int32_t)word : (double)gd_single(word);
            if (half)
                value = (double)gd_from_half((uint16_t)(word >> (16 * (i & 1))));
            *sum_at(into, lane, i) = keep ? value : 0;
        }
    }
}

static uint32_t finish(double sum, const gd_code *code)
{
    if (code->x < GD_MATRIX_S8)
        return code->flags & GD_MATRIX_HALF_D ? (uint32_t)gd_to_half(sum, 0)
                                              : gd_bits(gd_nan32((float)sum));
    if (code->flags & GD_MATRIX_SATURATE)
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    return (uint32_t)(uint64_t)(int64_t)sum;
}

static void write_sums(const gd_warp *warp, const gd_code *code, const uint32_t *slots,
                       product *from)
{
    const bool half = code->flags & GD_MATRIX_HALF_D;

    for (uint32_t lane = 0; lane < GD_LANES; lane++) {
        for (uint32_t i = 0; i < code->target / 2; i++) {
            uint32_t value = finish(*sum_at(from, lane, i), code);
            if (half)
                value |= finish(*sum_at(from, lane, ++i), code) << 16;
            gd_lane_put(warp, slots[half ? i / 2 : i], lane, 4, value);
        }
    }
}

void gd_run_wgmma(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t *slots = warp->cta->image->list + code->list;
    product work;

    if (!gd_matrix_gather(warp, code, mask))
        return;
    if ((warp->index | (GD_WARPGROUP_WARPS - 1)) >= warp->cta->warp_count) {
        gd_cta_fail(warp, code, 0, GD_FAULT_UNSUPPORTED, 0, 0, false,
                    "warp %u is of no warpgroup: the CTA has %u warps, and it takes four in a row",
                    warp->index, warp->cta->warp_count);
        return;
    }
    if (!read_factors(warp, code, slots + code->value, &work))
        return;
    read_sums(warp, code, slots, &work);
    warp->cta->sweeps->multiply(
        work.c[0], work.a[0], work.b[0], GD_WARPGROUP_N, ROWS, code->target,
        GD_WARPGROUP_BYTES / 4 * gd_matrix_packed((gd_matrix_element)code->x), MOST_DEPTH);
    write_sums(warp, code, slots, &work);
    warp->cta->work++;
}

/* ---- groups ---- */

/* Others of the warpgroup may wait for this one. */
static void wake_warpgroup(gd_warp *warp)
{
    const uint32_t first = warp->index - warp->index % GD_WARPGROUP_WARPS;

    for (uint32_t i = first; i < first + GD_WARPGROUP_WARPS && i < warp->cta->warp_count; i++) {
        gd_warp *other = &warp->cta->warps[i];
        if (other->at_warpgroup)
            gd_warp_wake(other, other->at_warpgroup, &other->at_warpgroup, false);
    }
}

void gd_run_wgmma_commit(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    if (!gd_matrix_gather(warp, code, mask))
        return;
    warp->groups++;
    if (warp->cta->race)
        gd_race_warpgroup_commit(warp->cta->race, warp->index);
    wake_warpgroup(warp);
    warp->cta->work++;
}

void gd_run_wgmma_wait(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t first = warp->index - warp->index % GD_WARPGROUP_WARPS;
    const uint64_t group = warp->groups > code->value ? warp->groups - code->value : 0;

    if (!gd_matrix_gather(warp, code, mask))
        return;
    for (uint32_t i = first; i < first + GD_WARPGROUP_WARPS && i < warp->cta->warp_count; i++) {
        if (warp->cta->warps[i].groups < group) {
            gd_warp_hold(warp, code, mask, &warp->at_warpgroup);
            return;
        }
    }
    if (warp->cta->race && group)
        gd_race_warpgroup_wait(warp->cta->race, warp->index, mask, group);
}

/* cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, cp.async.bulk.prefetch.tensor (PTX ISA
 * 9.7.9.27, and 5.5 for what a box is). */
#include <inttypes.h>

#include "cuda/abi.h"
#include "emulator/execute/check.h"
#include "emulator/execute/async.h"
#include "emulator/execute/atomic.h"
#include "emulator/execute/cluster.h"
#include "emulator/execute/math.h"
#include "emulator/execute/memory.h"
#include "emulator/execute/tensor.h"
#include "emulator/execute/program.h"
#include "emulator/machine/tensor_map.h"

enum { CHUNK = 16, ALIGNMENT = 128, MOST_ROW = 256 * 8, PIECES = 64 };

/* One copy between a tensor and a box in shared memory. */
typedef struct transfer {
    gd_warp *warp;
    const gd_code *code;
    uint32_t lane;
    gd_tensor_map map;
    int64_t at[GD_TENSOR_RANK];      /* where the box begins */
    uint32_t extent[GD_TENSOR_RANK]; /* elements that are copied */
    uint32_t element, row_bytes, pitch, rows;
    gd_space space; /* of the box */
    uint64_t shared;
    unsigned char *box;
} transfer;

/* Where a row of the box lies in the tensor: only the bytes from first to last are within it. */
typedef struct row {
    uint64_t address; /* of `first` */
    uint32_t first, last;
} row;

/* ---- what is copied ---- */

static bool fail(const transfer *t, const char *what)
{
    gd_cta_fail(t->warp, t->code, t->lane, GD_FAULT_UNSUPPORTED, 0, 0, false, "%s", what);
    return false;
}

static const char *unsupported(const gd_tensor_map *map)
{
    return map->im2col       ? "a tensor map for im2col is not emulated"
           : map->interleave ? "a tensor map with interleave is not emulated"
                             : NULL;
}

static bool read_map(transfer *t)
{
    const uint32_t *list = t->warp->cta->image->list + t->code->list;
    gd_space space;
    uint64_t address = gd_other_address(t->warp, list, t->lane, &space);
    const unsigned char *bytes = gd_access(t->warp, t->code, t->lane, space, address,
                                           GD_TENSOR_MAP_BYTES, GD_TENSOR_MAP_ALIGNMENT, false);

    if (!bytes)
        return false;
    if (!gd_tensor_map_take(bytes, &t->map)) {
        gd_cta_fail(
            t->warp, t->code, t->lane, GD_FAULT_UNSUPPORTED, address, GD_TENSOR_MAP_BYTES, false,
            "what lies at 0x%" PRIx64 " is no tensor map that this driver has encoded", address);
        return false;
    }
    if (t->warp->cta->race)
        gd_check_range(t->warp, t->code, t->lane, space, address, GD_TENSOR_MAP_BYTES,
                       GD_ACTION_READ, false);
    if (t->map.rank != t->code->count) {
        gd_cta_fail(t->warp, t->code, t->lane, GD_FAULT_UNSUPPORTED, address, 0, false,
                    "a tensor map of rank %u for a copy of %u dimensions", t->map.rank,
                    t->code->count);
        return false;
    }
    return !unsupported(&t->map) || fail(t, unsupported(&t->map));
}

/* Of the innermost dimension every element is copied, whatever its step says
 * (cuTensorMapEncodeTiled). */
static void read_box(transfer *t)
{
    const uint32_t *slots = t->warp->cta->image->list + t->code->list + 2 * GD_ADDRESS_WORDS;
    const gd_tensor_map *map = &t->map;

    t->rows = 1;
    for (uint32_t i = 0; i < GD_TENSOR_RANK; i++) {
        uint32_t step = i && i < map->rank ? map->steps[i] : 1;
        t->at[i] = i < map->rank ? (int32_t)gd_lane_get(t->warp, slots[i], t->lane, 4) : 0;
        t->extent[i] = i < map->rank ? (map->box[i] + step - 1) / step : 1;
        t->rows *= i ? t->extent[i] : 1;
    }
    t->element = gd_tensor_element(map->type);
    t->row_bytes = t->extent[0] * t->element;
    t->pitch = gd_tensor_span(map->swizzle) ? gd_tensor_span(map->swizzle) : t->row_bytes;
}

static bool refuse_coordinate(const transfer *t, uint32_t number, const char *why)
{
    gd_cta_fail(t->warp, t->code, t->lane, GD_FAULT_UNSUPPORTED, 0, 0, false,
                "%s (coordinate %u is %" PRId64 ")", why, number, t->at[number]);
    return false;
}

/* Measured: what an H200 ends with CUDA_ERROR_ILLEGAL_INSTRUCTION. */
static bool is_legal(const transfer *t)
{
    const bool writes = t->code->x == GD_TENSOR_STORE || t->code->x == GD_TENSOR_REDUCE;

    if (t->code->x == GD_TENSOR_PREFETCH)
        return true;
    for (uint32_t i = 0; i < t->map.rank; i++) {
        if (writes && t->at[i] < 0)
            return refuse_coordinate(
                t, i,
                "a store to a tensor begins in front of it: its coordinates may not be "
                "negative");
    }
    return t->at[0] * t->element % CHUNK == 0 ||
           refuse_coordinate(
               t, 0,
               "a copy of a tensor begins at a place of its rows that is no multiple of 16 bytes");
}

static row find_row(const transfer *t, uint32_t number)
{
    const gd_tensor_map *map = &t->map;
    uint64_t address = map->address;
    int64_t first = t->at[0] < 0 ? -t->at[0] : 0, last = (int64_t)map->sizes[0] - t->at[0];
    row found = {0};

    for (uint32_t i = 1; i < map->rank; i++) {
        int64_t index = t->at[i] + (int64_t)(number % t->extent[i]) * map->steps[i];
        number /= t->extent[i];
        if (index < 0 || index >= (int64_t)map->sizes[i])
            return found;
        address += (uint64_t)index * map->strides[i];
    }
    last = last < t->extent[0] ? last : t->extent[0];
    if (first >= last)
        return found;
    found.first = (uint32_t)first * t->element;
    found.last = (uint32_t)last * t->element;
    if (t->code->x !=
        GD_TENSOR_LOAD) /* measured: chunks are written whole, into what lies behind a row if need
                         * be */
        found.last = (found.last + CHUNK - 1) / CHUNK * CHUNK;
    found.address = address + (uint64_t)(t->at[0] + first) * t->element;
    return found;
}

/* ---- the box in shared memory ---- */

/* The swizzle exchanges chunks of 16 bytes by bits of the address itself, whatever the box begins
 * at. */
static uint64_t swizzle(const transfer *t, uint64_t address)
{
    static const uint8_t masks[] = {0, 1, 3, 7};

    return address ^ (address >> 7 & masks[t->map.swizzle]) << 4;
}

static unsigned char *chunk(const transfer *t, uint32_t number, uint32_t offset)
{
    uint64_t address = t->shared + (uint64_t)number * t->pitch + offset;

    return t->box + (int64_t)(swizzle(t, address) - t->shared);
}

static bool find_box(transfer *t, uint64_t address, bool write)
{
    t->shared = address;
    t->box = gd_access(t->warp, t->code, t->lane, t->space, address, t->rows * t->pitch, ALIGNMENT,
                       write);
    return t->box;
}

static void read_row(const transfer *t, uint32_t number, unsigned char *bytes)
{
    for (uint32_t at = 0; at < t->row_bytes; at += CHUNK)
        memcpy(bytes + at, chunk(t, number, at), CHUNK);
}

static void write_row(const transfer *t, uint32_t number, const unsigned char *bytes)
{
    for (uint32_t at = 0; at < t->row_bytes; at += CHUNK)
        memcpy(chunk(t, number, at), bytes + at, CHUNK);
}

/* ---- for the race detector ---- */

typedef struct pieces {
    const transfer *transfer;
    gd_check_kind kind;
    gd_race_piece list[PIECES];
    uint32_t count;
} pieces;

static void flush(pieces *to)
{
    const transfer *t = to->transfer;

    if (to->count)
        gd_check_pieces(t->warp, t->code, t->lane, &to->kind, to->list, to->count);
    to->count = 0;
}

static void add_piece(pieces *to, uint64_t address, uint64_t bytes)
{
    gd_race_piece *last = to->count ? &to->list[to->count - 1] : NULL;

    if (last && last->address + last->bytes == address) {
        last->bytes += bytes;
        return;
    }
    if (to->count == PIECES)
        flush(to);
    to->list[to->count++] = (gd_race_piece){address, bytes};
}

/* What lies in rows that are as long as they are apart is one piece, in whatever order. */
static void check_box(const transfer *t, gd_action action)
{
    uint64_t start = t->shared;
    pieces found = {.transfer = t, .kind = {.action = action, .async = true}};

    if (!t->warp->cta->race)
        return;
    found.kind.space = gd_resolve(t->space, &start);
    if (t->pitch == t->row_bytes)
        add_piece(&found, start, (uint64_t)t->rows * t->pitch);
    for (uint32_t i = 0; t->pitch != t->row_bytes && i < t->rows; i++) {
        for (uint32_t at = 0; at < t->row_bytes; at += CHUNK)
            add_piece(&found, start + (uint64_t)(chunk(t, i, at) - t->box), CHUNK);
    }
    flush(&found);
}

static void check_tensor(const transfer *t, gd_action action)
{
    pieces found = {.transfer = t,
                    .kind = {.space = GD_AT_GLOBAL, .action = action, .async = true}};

    for (uint32_t i = 0; t->warp->cta->race && i < t->rows; i++) {
        row item = find_row(t, i);
        if (item.last)
            add_piece(&found, item.address, item.last - item.first);
    }
    flush(&found);
}

/* ---- copies ---- */

/* Elements outside of the tensor: zeros, or NaNs (measured). */
static void fill(const transfer *t, unsigned char *bytes)
{
    memset(bytes, 0, t->row_bytes);
    for (uint32_t at = 0; t->map.fill && at < t->row_bytes; at += 2) {
        bytes[at] = 0xf7;
        bytes[at + 1] = 0x7f;
    }
}

/* What a load makes of the tf32 types: rounded to nearest even, and one NaN for all. Nothing is
 * flushed: the types that say so do it in reductions (measured). */
static void convert(const transfer *t, unsigned char *bytes, uint32_t count)
{
    for (uint32_t at = 0; t->map.type >= GD_CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 && at < count;
         at += 4) {
        uint32_t bits;
        memcpy(&bits, bytes + at, 4);
        if ((bits & 0x7fffffff) > 0x7f800000)
            bits = 0x7fffe000;
        else
            bits = (bits + 0xfff + (bits >> 13 & 1)) & 0xffffe000;
        memcpy(bytes + at, &bits, 4);
    }
}

/* Where a row's bytes within the tensor are on the host; NULL after a fault. */
static unsigned char *find_bytes(const transfer *t, const row *item, bool write)
{
    return gd_access(t->warp, t->code, t->lane, GD_AT_GLOBAL, item->address,
                     item->last - item->first, 1, write);
}

static bool load_rows(const transfer *t)
{
    unsigned char bytes[MOST_ROW];

    for (uint32_t i = 0; i < t->rows; i++) {
        row item = find_row(t, i);
        const unsigned char *from = item.last ? find_bytes(t, &item, false) : NULL;
        if (item.last && !from)
            return false;
        if (item.last - item.first < t->row_bytes)
            fill(t, bytes);
        if (from) {
            memcpy(bytes + item.first, from, item.last - item.first);
            convert(t, bytes + item.first, item.last - item.first);
        }
        write_row(t, i, bytes);
    }
    return true;
}

/* The type of a reduction's elements; GD_TYPE_NONE: there is no such reduction. */
static gd_ptx_type type_of(const transfer *t, gd_atomic operation)
{
    static const uint8_t types[] = {GD_TYPE_NONE, GD_TYPE_NONE, GD_TYPE_U32, GD_TYPE_S32,
                                    GD_TYPE_U64,  GD_TYPE_S64,  GD_TYPE_F16, GD_TYPE_F32,
                                    GD_TYPE_F64,  GD_TYPE_BF16, GD_TYPE_F32, GD_TYPE_F32,
                                    GD_TYPE_F32};
    gd_ptx_type type = (gd_ptx_type)types[t->map.type];
    bool bits = operation >= GD_ATOMIC_AND && operation <= GD_ATOMIC_XOR;

    if (type == GD_TYPE_S64 && operation != GD_ATOMIC_MIN &&
        operation != GD_ATOMIC_MAX) /* measured */
        return GD_TYPE_NONE;
    if (bits && (t->element == 4 || t->element == 8))
        type = t->element == 4 ? GD_TYPE_B32 : GD_TYPE_B64;
    return gd_atomic_has_type(operation, type) ? type : GD_TYPE_NONE;
}

static void reduce(const transfer *t, gd_ptx_type type, unsigned char *target,
                   const unsigned char *source, uint32_t bytes)
{
    const bool flushes = t->map.type == GD_CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ ||
                         t->map.type == GD_CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ;

    for (uint32_t at = 0; at < bytes; at += t->element) {
        uint64_t old = 0, operand = 0;
        memcpy(&old, target + at, t->element);
        memcpy(&operand, source + at, t->element);
        old =
            gd_atomic_apply((gd_atomic)t->code->bytes, type, old, operand, 0, flushes ? GD_FTZ : 0);
        memcpy(target + at, &old, t->element);
    }
}

static bool store_rows(const transfer *t, gd_ptx_type type)
{
    unsigned char bytes[MOST_ROW];

    for (uint32_t i = 0; i < t->rows; i++) {
        row item = find_row(t, i);
        unsigned char *to = item.last ? find_bytes(t, &item, true) : NULL;
        if (item.last && !to)
            return false;
        if (!to)
            continue;
        read_row(t, i, bytes);
        if (type == GD_TYPE_NONE)
            memcpy(to, bytes + item.first, item.last - item.first);
        else
            reduce(t, type, to, bytes + item.first, item.last - item.first);
    }
    return true;
}

/* ---- the instructions ---- */

/* Into the shared memory of one CTA, whose mbarrier hears of the whole box. */
static bool load_into(transfer *t, uint64_t address, uint64_t barrier, gd_space barrier_space)
{
    if (!find_box(t, address, true))
        return false;
    check_tensor(t, GD_ACTION_READ);
    check_box(t, GD_ACTION_WRITE);
    return load_rows(t) && gd_tell_mbarrier(t->warp, t->code, t->lane, barrier, barrier_space,
                                            (uint64_t)t->rows * t->row_bytes);
}

static bool load(transfer *t, uint64_t address)
{
    const uint32_t *list = t->warp->cta->image->list + t->code->list + GD_ADDRESS_WORDS;
    gd_space space;
    uint64_t barrier = gd_other_address(t->warp, list, t->lane, &space);
    uint32_t ranks =
        t->code->y ? (uint32_t)gd_lane_get(t->warp, t->code->b, t->lane, 4) & 0xffff : 0;

    if (!t->code->y)
        return load_into(t, address, barrier, space);
    GD_EACH_LANE(rank, ranks)
    {
        if (!load_into(t, gd_cluster_map(address, rank), gd_cluster_map(barrier, rank), space))
            return false;
    }
    return true;
}

static bool store(transfer *t, uint64_t address)
{
    const bool reduces = t->code->x == GD_TENSOR_REDUCE;
    const gd_ptx_type type = reduces ? type_of(t, (gd_atomic)t->code->bytes) : GD_TYPE_NONE;

    if (reduces && type == GD_TYPE_NONE)
        return fail(t, "a reduction that elements of the tensor map's type do not have");
    if (!find_box(t, address, false))
        return false;
    check_box(t, GD_ACTION_READ);
    check_tensor(t, reduces ? GD_ACTION_ATOMIC : GD_ACTION_WRITE);
    return store_rows(t, type);
}

void gd_run_tensor(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint64_t addresses[GD_LANES];

    gd_address_lanes(warp, code, addresses);
    GD_EACH_LANE(lane, mask)
    {
        transfer t = {.warp = warp, .code = code, .lane = lane, .space = (gd_space)code->space};
        if (!read_map(&t))
            return;
        read_box(&t);
        if (!is_legal(&t))
            return;
        if (code->x != GD_TENSOR_PREFETCH &&
            !(code->x == GD_TENSOR_LOAD ? load(&t, addresses[lane]) : store(&t, addresses[lane])))
            return;
    }
    warp->cta->work++;
}

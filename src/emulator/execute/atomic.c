/* Atomic operations on global, shared and generic memory. */
#include "emulator/execute/check.h"
#include "emulator/execute/atomic.h"
#include "emulator/execute/math.h"
#include "emulator/execute/program.h"
#include "emulator/execute/memory.h"

static uint64_t sign_extended(uint64_t value, uint32_t bytes)
{
    return bytes == 4 ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* Units beside global memory hand on a NaN as it is; elsewhere it comes from an addition, as
 * measured on an H200. */
static uint64_t add_wide(uint64_t old, uint64_t a, bool global)
{
    double x = gd_double(old), y = gd_double(a);

    if (global && (x != x || y != y))
        return y != y ? a : old;
    /* Infinities of both signs: CPUs differ in the sign of the NaN that comes of it. */
    if (x == x && y == y && x + y != x + y)
        return UINT64_C(0xfff8000000000000);
    return gd_bits64(gd_nan64(x + y, y, x, 0));
}

static uint64_t apply_float(uint32_t operation, gd_ptx_type type, uint64_t old, uint64_t a,
                            uint32_t flags)
{
    bool bfloat = type == GD_TYPE_BF16 || type == GD_TYPE_BF16X2;
    gd_half_op half = operation == GD_ATOMIC_ADD   ? GD_HALF_ADD
                      : operation == GD_ATOMIC_MIN ? GD_HALF_MIN
                                                   : GD_HALF_MAX;

    switch (type) {
    case GD_TYPE_F32:
        return gd_bits(gd_add32(gd_single((uint32_t)old), gd_single((uint32_t)a), flags));
    case GD_TYPE_F64:
        return add_wide(old, a, flags & GD_FTZ);
    case GD_TYPE_F16:
    case GD_TYPE_BF16:
        return gd_half(half, (uint16_t)old, (uint16_t)a, 0, bfloat, 0);
    default:
        return gd_halves(half, (uint32_t)old, (uint32_t)a, 0, bfloat, 0);
    }
}

static bool is_float(gd_ptx_type type)
{
    return type == GD_TYPE_F16 || type == GD_TYPE_BF16 || type == GD_TYPE_F16X2 ||
           type == GD_TYPE_BF16X2 || type == GD_TYPE_F32 || type == GD_TYPE_F64;
}

static uint64_t apply_extreme(bool least, gd_ptx_type type, uint64_t old, uint64_t a)
{
    bool is_signed = type == GD_TYPE_S32 || type == GD_TYPE_S64;
    uint32_t bytes = gd_ptx_types[type].bytes;
    bool less =
        is_signed ? (int64_t)sign_extended(a, bytes) < (int64_t)sign_extended(old, bytes) : a < old;

    return less == least ? a : old;
}

uint64_t gd_atomic_apply(gd_atomic operation, gd_ptx_type type, uint64_t old, uint64_t a,
                         uint64_t b, uint32_t flags)
{
    if (is_float(type) && operation != GD_ATOMIC_EXCH)
        return apply_float(operation, type, old, a, flags);
    switch (operation) {
    case GD_ATOMIC_ADD:
        return old + a;
    case GD_ATOMIC_INC:
        return old >= a ? 0 : old + 1;
    case GD_ATOMIC_DEC:
        return old == 0 || old > a ? a : old - 1;
    case GD_ATOMIC_MIN:
    case GD_ATOMIC_MAX:
        return apply_extreme(operation == GD_ATOMIC_MIN, type, old, a);
    case GD_ATOMIC_AND:
        return old & a;
    case GD_ATOMIC_OR:
        return old | a;
    case GD_ATOMIC_XOR:
        return old ^ a;
    case GD_ATOMIC_EXCH:
        return a;
    default:
        return old == a ? b : old;
    }
}

/* cas and exch of 128 bits. */
static bool apply_wide(const gd_warp *warp, const gd_code *code, uint32_t lane,
                       unsigned char *place)
{
    const unsigned char *a = (const unsigned char *)gd_lanes(warp, code->a) + (size_t)lane * 16;
    const unsigned char *b = (const unsigned char *)gd_lanes(warp, code->b) + (size_t)lane * 16;
    unsigned char *d = (unsigned char *)gd_lanes(warp, code->d) + (size_t)lane * 16;
    unsigned char old[16], next[16];

    memcpy(old, place, sizeof old);
    memcpy(next,
           code->x == GD_ATOMIC_EXCH         ? a
           : memcmp(old, a, sizeof old) == 0 ? b
                                             : old,
           sizeof next);
    memcpy(d, old, sizeof old);
    bool changed = memcmp(place, next, sizeof next) != 0;
    memcpy(place, next, sizeof next);
    return changed;
}

/* Puts the next value in the old one's place; false where another process was faster. */
static bool exchange(unsigned char *place, uint32_t bytes, uint64_t old, uint64_t next, bool shared)
{
    if (shared && bytes == 4) {
        uint32_t expected = (uint32_t)old;
        return __atomic_compare_exchange_n((uint32_t *)(void *)place, &expected, (uint32_t)next,
                                           false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    }
    if (shared && bytes == 8)
        return __atomic_compare_exchange_n((uint64_t *)(void *)place, &old, next, false,
                                           __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    memcpy(place, &next, bytes);
    return true;
}

static bool apply_element(const gd_warp *warp, const gd_code *code, uint32_t lane,
                          unsigned char *place, gd_slot d, gd_slot a, bool shared)
{
    uint32_t bytes = code->bytes, stored = bytes < 4 ? 4 : bytes;
    uint64_t old = 0, next, operand = gd_lane_get(warp, a, lane, stored),
             other = gd_lane_get(warp, code->b, lane, stored);

    do {
        memcpy(&old, place, bytes);
        next = gd_atomic_apply((gd_atomic)code->x, (gd_ptx_type)code->y, old, operand, other,
                               code->flags);
    } while (!exchange(place, bytes, old, next, shared));
    gd_lane_put(warp, d, lane, stored, old);
    return memcmp(&old, &next, bytes) != 0;
}

bool gd_atomic_has_type(gd_atomic operation, gd_ptx_type type)
{
    bool bits = type == GD_TYPE_B32 || type == GD_TYPE_B64;
    bool integer =
        type == GD_TYPE_U32 || type == GD_TYPE_S32 || type == GD_TYPE_U64 || type == GD_TYPE_S64;
    bool half = type == GD_TYPE_F16 || type == GD_TYPE_BF16 || type == GD_TYPE_F16X2 ||
                type == GD_TYPE_BF16X2;

    switch (operation) {
    case GD_ATOMIC_ADD:
        return integer || half || type == GD_TYPE_F32 || type == GD_TYPE_F64;
    case GD_ATOMIC_INC:
    case GD_ATOMIC_DEC:
        return type == GD_TYPE_U32;
    case GD_ATOMIC_MIN:
    case GD_ATOMIC_MAX:
        return integer || half;
    case GD_ATOMIC_EXCH:
        return bits || type == GD_TYPE_B128;
    case GD_ATOMIC_CAS:
        return bits || type == GD_TYPE_B16 || type == GD_TYPE_B128;
    default:
        return bits;
    }
}

void gd_run_atomic(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    const uint32_t *slots = warp->cta->image->list + code->list;
    uint64_t addresses[GD_LANES];
    unsigned char *places[GD_LANES];
    uint32_t bytes = (uint32_t)code->bytes * code->count;
    const bool shared = gd_memory_is_shared(warp->cta->view->memory);
    bool changed = false;

    gd_address_lanes(warp, code, addresses);
    GD_EACH_LANE(lane, mask)
    {
        places[lane] =
            gd_access(warp, code, lane, (gd_space)code->space, addresses[lane], bytes, bytes, true);
        if (!places[lane])
            return;
    }
    if (warp->cta->race) {
        const gd_check check = {.space = (gd_space)code->space,
                                .bytes = bytes,
                                .action = GD_ACTION_ATOMIC,
                                .order = code->order,
                                .addresses = addresses};
        gd_check_access(warp, code, mask, &check);
    }
    GD_EACH_LANE(lane, mask)
    {
        if (code->bytes == 16) {
            changed |= apply_wide(warp, code, lane, places[lane]);
            continue;
        }
        for (uint32_t i = 0; i < code->count; i++)
            changed |= apply_element(warp, code, lane, places[lane] + (size_t)i * code->bytes,
                                     slots[2 * i], slots[2 * i + 1], shared);
    }
    if (changed) {
        warp->cta->work++;
    } else {
        warp->cta->polls++;
        gd_note_poll(warp, code, gd_lowest(mask), addresses[gd_lowest(mask)]);
    }
}

/* Loads, stores, atomics, fences, and hints about memory. */
#include "emulator/decode/decode.h"
#include "emulator/execute/atomic.h"
#include "emulator/execute/cluster.h"
#include "emulator/execute/control.h"
#include "emulator/execute/memory.h"

static uint32_t vector_count(gd_decoder *decoder)
{
    return gd_has(decoder, GD_MODIFIER_V2)   ? 2
           : gd_has(decoder, GD_MODIFIER_V4) ? 4
           : gd_has(decoder, GD_MODIFIER_V8) ? 8
                                             : 1;
}

/* An access of a wider or a narrower register: at least the type's size; lanes of every element are
 * alike. */
static bool access_slot(gd_decoder *decoder, uint32_t operand, gd_ptx_type type, bool store,
                        gd_slot *slot, uint32_t *bytes)
{
    bool done = store ? gd_source_wide(decoder, operand, type, slot, bytes)
                      : gd_target_wide(decoder, operand, type, slot, bytes);

    if (!done)
        return false;
    return *bytes >= gd_bytes_of(type) ||
           gd_decode_refuse(decoder, "a register that is smaller than the access");
}

static bool access_slots(gd_decoder *decoder, uint32_t operand, gd_ptx_type type, uint32_t count,
                         bool store, gd_code *into)
{
    uint32_t elements[8], slots[8], bytes = 0, first = 0;

    if (gd_elements(decoder, operand, elements, 8) != count)
        return gd_decode_refuse_form(decoder);
    for (uint32_t i = 0; i < count; i++) {
        if (!access_slot(decoder, elements[i], type, store, &slots[i], &bytes))
            return false;
        bool sink = (slots[i] & 3) == GD_AREA_SINK;
        uint32_t lanes = bytes < 4 ? 4 : bytes;
        if (!sink && first && lanes != first)
            return gd_decode_refuse(decoder, "a vector of registers of several sizes");
        first = !sink || i + 1 == count ? (first ? first : lanes) : first;
        into->y = (uint8_t)(bytes < 8 ? bytes : 8);
    }
    into->x = (uint8_t)first;
    into->list = gd_list_add(decoder, slots, count);
    return into->list != GD_PTX_NONE;
}

/* st.async, red.async: a write to shared memory of the cluster that an mbarrier there hears of. It
 * is done at once, as copies are. */
static bool is_async(gd_decoder *decoder, gd_op op)
{
    return decoder->instruction->op == op &&
           gd_has(decoder, GD_MODIFIER_MBARRIER_COMPLETE_TX_BYTES);
}

/* Both need a launch with a cluster. */
static bool emit_need(gd_decoder *decoder)
{
    gd_code *code = gd_emit(decoder, gd_run_need_cluster);

    if (code)
        code->x = decoder->instruction->op == GD_OP_RED_ASYNC;
    return code;
}

static bool access(gd_decoder *decoder, bool store)
{
    gd_ptx_space space = gd_space_at(decoder, 0);
    uint32_t count = vector_count(decoder);
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t bytes = gd_bytes_of(type);
    bool async = is_async(decoder, GD_OP_ST_ASYNC);
    gd_code code = gd_no_operands;

    if (decoder->instruction->op == GD_OP_ST_ASYNC && !async)
        return gd_decode_refuse_form(decoder);
    code.order = gd_order(decoder, false, GD_SCOPE_SYS);
    code.flags = (code.order ? GD_ACCESS_STRONG : 0) | (gd_is_signed(type) ? GD_ACCESS_SIGNED : 0);
    code.count = (uint8_t)count;
    code.bytes = (uint8_t)bytes;
    if (!gd_memory_operand(decoder, decoder->operands[store ? 0 : 1], space, &code) ||
        !access_slots(decoder, decoder->operands[store ? 1 : 0], type, count, store, &code))
        return false;
    gd_widen_space(decoder, 0, &code);
    if (async && !emit_need(decoder))
        return false;
    return gd_emit_made(decoder, store ? gd_run_store : gd_run_load, &code) &&
           (!async || gd_emit_complete(decoder, decoder->operands[2], space, bytes * count));
}

bool gd_decode_ld(gd_decoder *decoder)
{
    return access(decoder, false);
}

bool gd_decode_st(gd_decoder *decoder)
{
    return access(decoder, true);
}

/* prefetch asks for nothing that a result could show; its operand must make sense all the same. */
bool gd_decode_prefetch(gd_decoder *decoder)
{
    gd_code code = {0};

    return gd_memory_operand(decoder, decoder->operands[0], gd_space_at(decoder, 0), &code) &&
           gd_emit(decoder, gd_run_nothing);
}

/* discard, applypriority [a], 128: the range must be there. */
bool gd_decode_discard(gd_decoder *decoder)
{
    gd_code code = gd_no_operands;

    code.bytes = 128;
    return gd_memory_operand(decoder, decoder->operands[0], gd_space_at(decoder, 0), &code) &&
           gd_emit_made(decoder, gd_run_touch, &code);
}

/* A policy only says what stays in a cache: any value will do. */
bool gd_decode_createpolicy(gd_decoder *decoder)
{
    gd_slot d, zero;

    gd_space_at(decoder, 0);
    gd_type_at(decoder, 0);
    return gd_target(decoder, decoder->operands[0], GD_TYPE_B64, &d) &&
           gd_constant(decoder, 8, 0, &zero) &&
           gd_emit_lanes(decoder, GD_LANES_MOV_64, 0, d, zero, GD_AREA_SINK, GD_AREA_SINK);
}

/* fence.proxy.tensormap::generic.acquire [map], 128 */
static bool acquires_map(gd_decoder *decoder)
{
    gd_code code = {0};

    return gd_memory_operand(decoder, decoder->operands[0], GD_SPACE_NONE, &code) &&
           gd_emit(decoder, gd_run_nothing);
}

/* fence.proxy.async, of shared memory among others. */
static bool is_of_async(gd_decoder *decoder)
{
    if (gd_space_at(decoder, 0) == GD_SPACE_GLOBAL)
        return false;
    for (uint32_t i = 1; i <= decoder->instruction->modifiers; i++) {
        if (gd_ptx_token_is(decoder->module, decoder->instruction->opcode + i, ".async"))
            return true;
    }
    return false;
}

/* CTAs run one after the other, and each access is done at once: fences order what is in order
 * already. The race detector has to know of those between generic accesses (membar.cta, .gl, .sys
 * are fence.sc of scope cta, gpu, sys: PTX ISA 9.7.13.4). */
bool gd_decode_fence(gd_decoder *decoder)
{
    const gd_op op = (gd_op)decoder->instruction->op;
    bool gl = gd_has(decoder, GD_MODIFIER_GL);
    bool map =
        gd_has(decoder, GD_MODIFIER_TENSORMAP_GENERIC) && gd_has(decoder, GD_MODIFIER_ACQUIRE);

    gd_has(decoder, GD_MODIFIER_ALIAS);
    gd_has(decoder, GD_MODIFIER_ASYNC_GENERIC);
    gd_has(decoder, GD_MODIFIER_ACQUIRE_CLUSTER);
    gd_has(decoder, GD_MODIFIER_RELEASE_CTA);
    gd_space_at(decoder, 0);
    gd_space_at(decoder, 1);
    bool sc = gd_has(decoder, GD_MODIFIER_SC) || op == GD_OP_MEMBAR;
    uint8_t order = gd_order(decoder, true, gl ? GD_SCOPE_GPU : GD_SCOPE_SYS);
    if (map)
        return acquires_map(decoder);
    const bool proxy = op == GD_OP_FENCE_PROXY || op == GD_OP_MEMBAR_PROXY;
    gd_code *code = gd_emit(decoder, op == GD_OP_FENCE_MBARRIER_INIT ? gd_run_init_fence
                                     : !proxy                        ? gd_run_fence
                                     : is_of_async(decoder)          ? gd_run_proxy_fence
                                                                     : gd_run_nothing);
    if (!code)
        return false;
    code->order = sc ? order | GD_ORDER_SC : order;
    return true;
}

/* ---- atomics ---- */

/* d and a of each element. */
static bool atomic_slots(gd_decoder *decoder, bool red, gd_ptx_type type, uint32_t count,
                         gd_code *into)
{
    uint32_t d[8], a[8], slots[16], source = decoder->operands[red ? 1 : 2];

    if (gd_elements(decoder, source, a, 8) != count ||
        (!red && gd_elements(decoder, decoder->operands[0], d, 8) != count))
        return gd_decode_refuse_form(decoder);
    for (uint32_t i = 0; i < count; i++) {
        slots[2 * i] = GD_AREA_SINK;
        if (!gd_source(decoder, a[i], type, &slots[2 * i + 1]) ||
            (!red && !gd_target(decoder, d[i], type, &slots[2 * i])))
            return false;
    }
    into->d = slots[0];
    into->a = slots[1];
    into->list = gd_list_add(decoder, slots, 2 * count);
    return into->list != GD_PTX_NONE;
}

static bool atomic(gd_decoder *decoder, bool red)
{
    gd_ptx_space space = gd_space_at(decoder, 0);
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t count = vector_count(decoder);
    bool async = is_async(decoder, GD_OP_RED_ASYNC);
    gd_atomic operation = GD_ATOMIC_ADD;
    gd_code from = gd_no_operands;

    if (!gd_find_atomic(decoder, &operation) || !gd_atomic_has_type(operation, type))
        return gd_decode_refuse_form(decoder);
    gd_has(decoder, GD_MODIFIER_NOFTZ);
    from.order = gd_order(decoder, true, GD_SCOPE_GPU);
    if (operation == GD_ATOMIC_CAS && !gd_source(decoder, decoder->operands[3], type, &from.b))
        return false;
    from.count = (uint8_t)count;
    from.bytes = (uint8_t)gd_bytes_of(type);
    if (!gd_memory_operand(decoder, decoder->operands[red ? 0 : 1], space, &from) ||
        !atomic_slots(decoder, red, type, count, &from))
        return false;
    gd_widen_space(decoder, 0, &from);
    from.x = (uint8_t)operation;
    from.y = (uint8_t)type;
    /* f32 addition in global memory flushes subnormal numbers, in shared memory it does not (PTX
     * ISA 9.7.13.5). */
    from.flags = gd_is_float(type) && space == GD_SPACE_GLOBAL ? GD_FTZ : 0;
    return (!async || emit_need(decoder)) && gd_emit_made(decoder, gd_run_atomic, &from) &&
           (!async || gd_emit_complete(decoder, decoder->operands[2], space, from.bytes));
}

bool gd_decode_atom(gd_decoder *decoder)
{
    return atomic(decoder, false);
}

bool gd_decode_red(gd_decoder *decoder)
{
    return atomic(decoder, true);
}

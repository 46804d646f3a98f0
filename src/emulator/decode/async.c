/* mbarriers and asynchronous copies. */
#include "emulator/decode/decode.h"
#include "emulator/execute/async.h"
#include "emulator/execute/atomic.h"
#include "emulator/execute/control.h"

#define NONE GD_TYPE_NONE

bool gd_list_address(gd_decoder *decoder, uint32_t operand, gd_ptx_space space, uint32_t modifier,
                     uint32_t *list)
{
    gd_code from = {0};

    if (!gd_memory_operand(decoder, operand, space, &from))
        return false;
    gd_widen_space(decoder, modifier, &from);
    const uint32_t words[GD_ADDRESS_WORDS] = {from.address, from.kind, from.space,
                                              (uint32_t)from.value, (uint32_t)(from.value >> 32)};
    *list = gd_list_add(decoder, words, GD_ADDRESS_WORDS);
    return *list != GD_PTX_NONE;
}

static gd_ptx_space barrier_space(gd_decoder *decoder)
{
    gd_type_at(decoder, 0);
    return gd_space_at(decoder, 0);
}

static bool emit_mbarrier(gd_decoder *decoder, gd_code *made, gd_mbarrier_op operation)
{
    gd_widen_space(decoder, 0, made);
    made->x = (uint8_t)operation;
    return gd_emit_made(decoder, gd_run_mbarrier, made);
}

bool gd_emit_complete(gd_decoder *decoder, uint32_t operand, gd_ptx_space space, uint32_t bytes)
{
    gd_code from = gd_no_operands;

    from.order = GD_ORDER_RELEASE;
    return gd_constant(decoder, 4, bytes, &from.a) &&
           gd_memory_operand(decoder, operand, space, &from) &&
           emit_mbarrier(decoder, &from, GD_MBARRIER_COMPLETE);
}

/* init [a], count; inval [a]; expect_tx [a], bytes; complete_tx [a], bytes. */
static bool simple(gd_decoder *decoder, gd_mbarrier_op operation, gd_ptx_space space)
{
    gd_code from = gd_no_operands;

    if (operation != GD_MBARRIER_INVAL &&
        !gd_source(decoder, decoder->operands[1], GD_TYPE_U32, &from.a))
        return false;
    return gd_memory_operand(decoder, decoder->operands[0], space, &from) &&
           emit_mbarrier(decoder, &from, operation);
}

/* Release for an arrival, acquire for a wait, unless .relaxed says otherwise (PTX ISA
 * 9.7.13.15). */
static uint8_t release_order(gd_decoder *decoder)
{
    return gd_has(decoder, GD_MODIFIER_RELAXED) ? 0 : GD_ORDER_ACQUIRE | GD_ORDER_RELEASE;
}

/* arrive{.expect_tx} {state,} [a]{, count or bytes} */
static bool arrive(gd_decoder *decoder, gd_mbarrier_op operation, gd_ptx_space space)
{
    bool expects = gd_has(decoder, GD_MODIFIER_EXPECT_TX);
    bool state = gd_operand_at(decoder, decoder->operands[0])->kind != GD_OPERAND_MEMORY;
    uint32_t first = state ? 1 : 0;
    gd_code from = gd_no_operands;

    from.order = release_order(decoder);
    if (!gd_constant(decoder, 4, 0, &from.b) || !gd_constant(decoder, 4, 1, &from.a))
        return false;
    if (decoder->operand_count == first + 2 &&
        !gd_source(decoder, decoder->operands[first + 1], GD_TYPE_U32, expects ? &from.b : &from.a))
        return false;
    if (state && !gd_target(decoder, decoder->operands[0], GD_TYPE_B64, &from.d))
        return false;
    return gd_memory_operand(decoder, decoder->operands[first], space, &from) &&
           emit_mbarrier(decoder, &from, operation);
}

/* test_wait, try_wait p, [a], state or parity{, time} */
static bool wait(gd_decoder *decoder, gd_ptx_space space)
{
    gd_code from = gd_no_operands;
    gd_slot time;

    from.order = release_order(decoder);
    from.y = gd_has(decoder, GD_MODIFIER_PARITY);
    if (!gd_source(decoder, decoder->operands[2], from.y ? GD_TYPE_U32 : GD_TYPE_B64, &from.a) ||
        !gd_predicate_target(decoder, decoder->operands[0], &from.d) ||
        (decoder->operand_count == 4 &&
         !gd_source(decoder, decoder->operands[3], GD_TYPE_U32, &time)))
        return false;
    return gd_memory_operand(decoder, decoder->operands[1], space, &from) &&
           emit_mbarrier(decoder, &from, GD_MBARRIER_WAIT);
}

static bool pending(gd_decoder *decoder)
{
    gd_code made = gd_no_operands;

    gd_type_at(decoder, 0);
    return gd_source(decoder, decoder->operands[1], GD_TYPE_B64, &made.a) &&
           gd_target(decoder, decoder->operands[0], GD_TYPE_U32, &made.d) &&
           gd_emit_made(decoder, gd_run_pending, &made);
}

bool gd_decode_mbarrier(gd_decoder *decoder)
{
    gd_ptx_space space = barrier_space(decoder);

    gd_ignore_order(decoder);
    switch (decoder->instruction->op) {
    case GD_OP_MBARRIER_INIT:
        return simple(decoder, GD_MBARRIER_INIT, space);
    case GD_OP_MBARRIER_INVAL:
        return simple(decoder, GD_MBARRIER_INVAL, space);
    case GD_OP_MBARRIER_PENDING_COUNT:
        return pending(decoder);
    case GD_OP_MBARRIER_EXPECT_TX:
        return simple(decoder, GD_MBARRIER_EXPECT, space);
    case GD_OP_MBARRIER_COMPLETE_TX:
        return simple(decoder, GD_MBARRIER_COMPLETE, space);
    case GD_OP_MBARRIER_ARRIVE:
        return arrive(decoder, GD_MBARRIER_ARRIVE, space);
    case GD_OP_MBARRIER_ARRIVE_DROP:
        return arrive(decoder, GD_MBARRIER_DROP, space);
    default:
        return wait(decoder, space);
    }
}

/* ---- cp.async ---- */

/* The operand behind the size: how many bytes are read, or a predicate to read none. */
static bool read_limit(gd_decoder *decoder, uint32_t operand, gd_code *into)
{
    const gd_ptx_operand *item = gd_operand_at(decoder, decoder->operands[operand]);
    bool negated = false;

    into->y = item->kind == GD_OPERAND_REGISTER &&
              decoder->module->symbols[item->symbol].type == GD_TYPE_PRED;
    if (!into->y)
        return gd_source(decoder, decoder->operands[operand], GD_TYPE_U32, &into->a);
    if (!gd_predicate_source(decoder, decoder->operands[operand], &into->a, &negated))
        return false;
    into->flags = negated;
    return true;
}

bool gd_decode_cp_async(gd_decoder *decoder)
{
    gd_ptx_space to = gd_space_at(decoder, 0), from = gd_space_at(decoder, 1);
    gd_code into = gd_no_operands;
    uint64_t bytes;

    if (!gd_known(decoder, decoder->operands[2], &bytes))
        return false;
    if (gd_own_operands(decoder) == 4 ? !read_limit(decoder, 3, &into)
                                      : !gd_constant(decoder, 4, bytes, &into.a))
        return false;
    into.bytes = (uint8_t)bytes;
    return gd_list_address(decoder, decoder->operands[1], from, 1, &into.list) &&
           gd_memory_operand(decoder, decoder->operands[0], to, &into) &&
           gd_emit_made(decoder, gd_run_cp_async, &into);
}

/* The arrival that a thread's copies trigger comes at once. Without .noinc it adds the arrival that
 * it takes. */
bool gd_decode_cp_async_mbarrier(gd_decoder *decoder)
{
    bool noinc = gd_has(decoder, GD_MODIFIER_NOINC);
    gd_ptx_space space = barrier_space(decoder);
    gd_code from = gd_no_operands;

    from.order = GD_ORDER_RELEASE;
    from.flags = GD_MBARRIER_OF_COPIES;
    if (!gd_constant(decoder, 4, 1, &from.a) || !gd_constant(decoder, 4, 0, &from.b) ||
        !gd_memory_operand(decoder, decoder->operands[0], space, &from))
        return false;
    if (!noinc)
        from.a = from.b; /* complete_tx of 0 bytes checks the object and changes nothing */
    return emit_mbarrier(decoder, &from, noinc ? GD_MBARRIER_ARRIVE : GD_MBARRIER_COMPLETE);
}

/* ---- cp.async.bulk ---- */

static bool prefetch(gd_decoder *decoder)
{
    gd_code from = {0};
    gd_slot bytes;

    return gd_memory_operand(decoder, decoder->operands[0], GD_SPACE_GLOBAL, &from) &&
           gd_source(decoder, decoder->operands[1], GD_TYPE_U32, &bytes) &&
           gd_emit(decoder, gd_run_nothing);
}

/* What cp.reduce.async.bulk does to its elements (PTX ISA 9.7.9.25). */
static bool reduction(gd_decoder *decoder, gd_code *into)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    gd_atomic operation = GD_ATOMIC_ADD;

    gd_has(decoder, GD_MODIFIER_NOFTZ);
    if (!gd_find_atomic(decoder, &operation))
        return false;
    into->count = (uint8_t)(operation + 1);
    into->bytes = (uint8_t)type;
    return true;
}

/* Behind the mbarrier: which CTAs of the cluster get a copy. */
static bool receivers(gd_decoder *decoder, gd_code *into)
{
    into->x = gd_has(decoder, GD_MODIFIER_MULTICAST_CLUSTER);
    return !into->x || gd_source(decoder, decoder->operands[4], GD_TYPE_B16, &into->b);
}

bool gd_decode_bulk(gd_decoder *decoder)
{
    gd_ptx_space to = gd_space_at(decoder, 0), from = gd_space_at(decoder, 1);
    bool loads = gd_has(decoder, GD_MODIFIER_MBARRIER_COMPLETE_TX_BYTES);
    gd_code into = gd_no_operands;
    uint32_t second;

    gd_has(decoder, GD_MODIFIER_BULK_GROUP);
    if (decoder->instruction->op == GD_OP_CP_ASYNC_BULK_PREFETCH)
        return prefetch(decoder);
    if ((decoder->instruction->op == GD_OP_CP_REDUCE_ASYNC_BULK && !reduction(decoder, &into)) ||
        (loads && !receivers(decoder, &into)))
        return false;
    if (!gd_source(decoder, decoder->operands[2], GD_TYPE_U32, &into.a) ||
        !gd_list_address(decoder, decoder->operands[1], from, 1, &into.list) ||
        (loads && !gd_list_address(decoder, decoder->operands[3], GD_SPACE_SHARED, 0, &second)) ||
        !gd_memory_operand(decoder, decoder->operands[0], to, &into))
        return false;
    gd_widen_space(decoder, 0, &into);
    into.y = loads;
    return gd_emit_made(decoder, gd_run_bulk, &into);
}

/* cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, cp.async.bulk.prefetch.tensor. */
#include "emulator/decode/decode.h"
#include "emulator/execute/async.h"
#include "emulator/execute/atomic.h"
#include "emulator/execute/tensor.h"

static bool add_address(gd_decoder *decoder, const gd_code *from, uint32_t *list)
{
    const uint32_t words[GD_ADDRESS_WORDS] = {from->address, from->kind, from->space,
                                              (uint32_t)from->value, (uint32_t)(from->value >> 32)};
    uint32_t at = gd_list_add(decoder, words, GD_ADDRESS_WORDS);

    *list = *list == GD_PTX_NONE ? at : *list;
    return at != GD_PTX_NONE;
}

/* [map, {coordinates}], and the mbarrier or an operand that stands for none: the whole of an
 * operation's list. */
static bool read_place(gd_decoder *decoder, uint32_t operand, uint32_t dimensions,
                       const gd_code *barrier, uint32_t *list)
{
    const uint32_t map = operand + 1, coordinates = gd_operand_at(decoder, map)->end;
    uint32_t elements[5], slots[5];
    gd_code from = {0};

    *list = GD_PTX_NONE;
    if (gd_operand_at(decoder, operand)->kind != GD_OPERAND_MEMORY ||
        coordinates >= gd_operand_at(decoder, operand)->end ||
        gd_operand_at(decoder, coordinates)->end != gd_operand_at(decoder, operand)->end ||
        gd_elements(decoder, coordinates, elements, 5) != dimensions)
        return gd_decode_refuse_form(decoder);
    for (uint32_t i = 0; i < dimensions; i++) {
        if (!gd_source(decoder, elements[i], GD_TYPE_B32, &slots[i]))
            return false;
    }
    return gd_memory_address(decoder, map, GD_SPACE_NONE, &from) &&
           add_address(decoder, &from, list) && add_address(decoder, barrier, list) &&
           gd_list_add(decoder, slots, dimensions) != GD_PTX_NONE;
}

/* [shared], [map, {coordinates}], [mbarrier]{, ranks} */
static bool load(gd_decoder *decoder, gd_code *into)
{
    gd_code barrier = {0};

    into->x = GD_TENSOR_LOAD;
    into->y = gd_has(decoder, GD_MODIFIER_MULTICAST_CLUSTER);
    gd_has(decoder, GD_MODIFIER_MBARRIER_COMPLETE_TX_BYTES);
    if (into->y && !gd_source(decoder, decoder->operands[3], GD_TYPE_B16, &into->b))
        return false;
    if (!gd_memory_operand(decoder, decoder->operands[0], GD_SPACE_SHARED, into) ||
        !gd_memory_operand(decoder, decoder->operands[2], GD_SPACE_SHARED, &barrier))
        return false;
    gd_widen_space(decoder, 0, into);
    gd_widen_space(decoder, 0, &barrier);
    return read_place(decoder, decoder->operands[1], into->count, &barrier, &into->list) &&
           gd_emit_made(decoder, gd_run_tensor, into);
}

/* [map, {coordinates}], [shared] */
static bool store(gd_decoder *decoder, gd_code *into)
{
    const bool reduces = decoder->instruction->op == GD_OP_CP_REDUCE_ASYNC_BULK_TENSOR;
    const gd_code none = {0};
    gd_atomic operation = GD_ATOMIC_ADD;

    into->x = reduces ? GD_TENSOR_REDUCE : GD_TENSOR_STORE;
    gd_has(decoder, GD_MODIFIER_BULK_GROUP);
    if (reduces && !gd_find_atomic(decoder, &operation))
        return false;
    into->bytes = (uint8_t)operation;
    return gd_memory_operand(decoder, decoder->operands[1], GD_SPACE_SHARED, into) &&
           read_place(decoder, decoder->operands[0], into->count, &none, &into->list) &&
           gd_emit_made(decoder, gd_run_tensor, into);
}

bool gd_decode_tensor(gd_decoder *decoder)
{
    gd_code into = gd_no_operands;
    const bool loads = gd_space_at(decoder, 0) == GD_SPACE_SHARED;

    into.count = decoder->form->dimensions;
    gd_space_at(decoder, 1);
    return loads ? load(decoder, &into) : store(decoder, &into);
}

/* [map, {coordinates}] */
bool gd_decode_tensor_prefetch(gd_decoder *decoder)
{
    gd_code into = gd_no_operands;
    const gd_code none = {0};

    into.x = GD_TENSOR_PREFETCH;
    into.count = decoder->form->dimensions;
    gd_space_at(decoder, 0);
    return gd_constant(decoder, 8, 0, &into.address) &&
           read_place(decoder, decoder->operands[0], into.count, &none, &into.list) &&
           gd_emit_made(decoder, gd_run_tensor, &into);
}

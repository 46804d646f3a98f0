/* cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, cp.async.bulk.prefetch.tensor. */
#include "emulator/decode/decode.h"
#include "emulator/execute/async.h"
#include "emulator/execute/atomic.h"
#include "emulator/execute/tensor.h"

static uint32_t read_dimensions(gd_decoder *decoder)
{
    static const gd_modifier names[] = {GD_MODIFIER_D1, GD_MODIFIER_D2, GD_MODIFIER_D3,
                                        GD_MODIFIER_D4, GD_MODIFIER_D5};
    uint32_t found = 0;

    for (uint32_t i = 0; i < 5; i++) {
        if (gd_has(decoder, names[i]))
            found = i + 1;
    }
    return found;
}

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

static bool emit(gd_decoder *decoder, const gd_code *from)
{
    gd_code *code = gd_emit(decoder, gd_run_tensor);

    if (!code)
        return false;
    code->address = from->address;
    code->value = from->value;
    code->space = from->space;
    code->kind = from->kind;
    code->list = from->list;
    code->b = from->b;
    code->x = from->x;
    code->y = from->y;
    code->count = from->count;
    code->bytes = from->bytes;
    return true;
}

/* [shared], [map, {coordinates}], [mbarrier]{, ranks} */
static bool load(gd_decoder *decoder, gd_code *into, uint32_t operands)
{
    gd_code barrier = {0};

    into->x = GD_TENSOR_LOAD;
    into->y = gd_has(decoder, GD_MODIFIER_MULTICAST_CLUSTER);
    if (!gd_has(decoder, GD_MODIFIER_MBARRIER_COMPLETE_TX_BYTES) || operands != 3u + into->y)
        return gd_decode_refuse_form(decoder);
    if (into->y && !gd_source(decoder, decoder->operands[3], GD_TYPE_B16, &into->b))
        return false;
    if (!gd_memory_operand(decoder, decoder->operands[0], GD_SPACE_SHARED, into) ||
        !gd_memory_operand(decoder, decoder->operands[2], GD_SPACE_SHARED, &barrier))
        return false;
    gd_widen_space(decoder, 0, into);
    gd_widen_space(decoder, 0, &barrier);
    return read_place(decoder, decoder->operands[1], into->count, &barrier, &into->list) &&
           emit(decoder, into);
}

/* [map, {coordinates}], [shared] */
static bool store(gd_decoder *decoder, gd_code *into, uint32_t operands)
{
    const bool reduces = decoder->instruction->op == GD_OP_CP_REDUCE_ASYNC_BULK_TENSOR;
    const gd_code none = {0};
    gd_atomic operation = GD_ATOMIC_ADD;

    into->x = reduces ? GD_TENSOR_REDUCE : GD_TENSOR_STORE;
    if (!gd_has(decoder, GD_MODIFIER_BULK_GROUP) || operands != 2 ||
        (reduces && (!gd_find_atomic(decoder, &operation) || operation > GD_ATOMIC_XOR)))
        return gd_decode_refuse_form(decoder);
    into->bytes = (uint8_t)operation;
    return gd_memory_operand(decoder, decoder->operands[1], GD_SPACE_SHARED, into) &&
           read_place(decoder, decoder->operands[0], into->count, &none, &into->list) &&
           emit(decoder, into);
}

/* What all of them have. */
static bool read_form(gd_decoder *decoder, gd_code *into, uint32_t *operands)
{
    bool hint = gd_has(decoder, GD_MODIFIER_L2_CACHE_HINT);

    gd_has(decoder, GD_MODIFIER_ASYNC);
    gd_has(decoder, GD_MODIFIER_BULK);
    gd_has(decoder, GD_MODIFIER_TENSOR);
    gd_has(decoder, GD_MODIFIER_TILE);
    into->count = (uint8_t)read_dimensions(decoder);
    *operands = decoder->operand_count - (hint ? 1u : 0u);
    return into->count;
}

bool gd_decode_tensor(gd_decoder *decoder)
{
    gd_code into = {.b = GD_AREA_SINK};
    gd_ptx_space to = gd_space_at(decoder, 0), from = gd_space_at(decoder, 1);
    uint32_t operands;

    gd_has(decoder, GD_MODIFIER_REDUCE);
    if (!read_form(decoder, &into, &operands))
        return gd_decode_refuse_form(decoder);
    if (to == GD_SPACE_SHARED && from == GD_SPACE_GLOBAL &&
        decoder->instruction->op == GD_OP_CP_ASYNC_BULK_TENSOR)
        return load(decoder, &into, operands);
    if (to == GD_SPACE_GLOBAL && from == GD_SPACE_SHARED)
        return store(decoder, &into, operands);
    return gd_decode_refuse_form(decoder);
}

/* [map, {coordinates}] */
bool gd_decode_tensor_prefetch(gd_decoder *decoder)
{
    gd_code into = {.b = GD_AREA_SINK, .x = GD_TENSOR_PREFETCH};
    const gd_code none = {0};
    uint32_t operands;

    gd_has(decoder, GD_MODIFIER_PREFETCH);
    gd_has(decoder, GD_MODIFIER_L2);
    if (!read_form(decoder, &into, &operands) || operands != 1 ||
        gd_space_at(decoder, 0) != GD_SPACE_GLOBAL)
        return gd_decode_refuse_form(decoder);
    return gd_constant(decoder, 8, 0, &into.address) &&
           read_place(decoder, decoder->operands[0], into.count, &none, &into.list) &&
           emit(decoder, &into);
}

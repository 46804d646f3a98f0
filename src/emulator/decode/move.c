/* Moves, packing and unpacking of vectors, and addresses of one space in another. */
#include "emulator/decode/decode.h"
#include "emulator/execute/move.h"

#define NONE GD_TYPE_NONE

static bool emit_move(gd_decoder *decoder, uint32_t bytes, gd_slot d, gd_slot a)
{
    if (bytes != 16)
        return gd_emit_lanes(decoder, bytes == 8 ? GD_LANES_MOV_64 : GD_LANES_MOV_32, 0, d, a,
                             GD_AREA_SINK, GD_AREA_SINK);
    gd_code *code = gd_emit(decoder, gd_run_move_wide);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    return true;
}

static bool move_predicate(gd_decoder *decoder)
{
    gd_slot d, a;
    bool negated;

    if (!gd_predicate_source(decoder, decoder->operands[1], &a, &negated) ||
        !gd_predicate_target(decoder, decoder->operands[0], &d))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_predicates);
    if (!code)
        return false;
    code->d = d;
    code->a = code->b = a;
    code->x = GD_COMBINE_AND;
    code->flags = negated ? 3 : 0;
    return true;
}

static gd_ptx_type bits_of(uint32_t bytes)
{
    return bytes == 1   ? GD_TYPE_B8
           : bytes == 2 ? GD_TYPE_B16
           : bytes == 4 ? GD_TYPE_B32
           : bytes == 8 ? GD_TYPE_B64
                        : GD_TYPE_B128;
}

/* ---- packing ---- */

static bool join(gd_decoder *decoder, uint32_t bytes, gd_slot d, gd_slot low, gd_slot high)
{
    if (bytes != 16)
        return gd_emit_lanes(decoder, bytes == 4 ? GD_LANES_JOIN_HALVES : GD_LANES_JOIN_WORDS, 0, d,
                             low, high, GD_AREA_SINK);
    const uint32_t parts[] = {low, high};
    uint32_t list = gd_list_add(decoder, parts, 2);
    gd_code *code = list == GD_PTX_NONE ? NULL : gd_emit(decoder, gd_run_pack);
    if (!code)
        return false;
    code->d = d;
    code->list = list;
    return true;
}

static bool pack(gd_decoder *decoder, uint32_t bytes, const uint32_t *elements, uint32_t count)
{
    gd_slot d, parts[4];

    for (uint32_t i = 0; i < count; i++) {
        if (!gd_source(decoder, elements[i], bits_of(bytes / count), &parts[i]))
            return false;
    }
    if (!gd_target(decoder, decoder->operands[0], bits_of(bytes), &d))
        return false;
    if (bytes == 2) {
        gd_slot zero;
        if (!gd_constant(decoder, 4, 0, &zero))
            return false;
        gd_code *code = gd_emit_lanes(decoder, GD_LANES_JOIN_BYTES, 0, d, parts[0], parts[1], zero);
        if (code)
            code->e = zero;
        return code;
    }
    if (count == 2)
        return join(decoder, bytes, d, parts[0], parts[1]);
    if (bytes == 4) { /* four bytes */
        gd_code *code =
            gd_emit_lanes(decoder, GD_LANES_JOIN_BYTES, 0, d, parts[0], parts[1], parts[2]);
        if (code)
            code->e = parts[3];
        return code;
    }
    gd_slot low = gd_scratch(decoder, 0), high = gd_scratch(decoder, 1);
    return join(decoder, bytes / 2, low, parts[0], parts[1]) &&
           join(decoder, bytes / 2, high, parts[2], parts[3]) && join(decoder, bytes, d, low, high);
}

static bool split(gd_decoder *decoder, uint32_t bytes, gd_slot low, gd_slot high, gd_slot a)
{
    if (bytes == 4)
        return gd_emit_lanes(decoder, GD_LANES_CVT_U16_U32, 0, low, a, GD_AREA_SINK,
                             GD_AREA_SINK) &&
               gd_emit_lanes(decoder, GD_LANES_HIGH_HALF, 0, high, a, GD_AREA_SINK, GD_AREA_SINK);
    if (bytes == 8)
        return gd_emit_lanes(decoder, GD_LANES_CVT_U32_U64, 0, low, a, GD_AREA_SINK,
                             GD_AREA_SINK) &&
               gd_emit_lanes(decoder, GD_LANES_HIGH_WORD, 0, high, a, GD_AREA_SINK, GD_AREA_SINK);
    const uint32_t parts[] = {low, high};
    uint32_t list = gd_list_add(decoder, parts, 2);
    gd_code *code = list == GD_PTX_NONE ? NULL : gd_emit(decoder, gd_run_pack);
    if (!code)
        return false;
    code->d = a;
    code->list = list;
    code->x = 1;
    return true;
}

/* Byte by byte, from the lowest. */
static bool split_bytes(gd_decoder *decoder, const gd_slot *parts, uint32_t count, gd_slot a)
{
    gd_slot whole = gd_scratch(decoder, 0), amount;

    if (!gd_constant(decoder, 4, 8, &amount) || !emit_move(decoder, 4, whole, a))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (i && !gd_emit_lanes(decoder, GD_LANES_SHR_U32, 0, whole, whole, amount, GD_AREA_SINK))
            return false;
        if (!gd_emit_lanes(decoder, GD_LANES_CVT_U32_U8, 0, parts[i], whole, GD_AREA_SINK,
                           GD_AREA_SINK))
            return false;
    }
    return true;
}

static bool unpack(gd_decoder *decoder, uint32_t bytes, const uint32_t *elements, uint32_t count)
{
    gd_slot a, parts[4];

    for (uint32_t i = 0; i < count; i++) {
        if (!gd_target(decoder, elements[i], bits_of(bytes / count), &parts[i]))
            return false;
    }
    if (!gd_source(decoder, decoder->operands[1], bits_of(bytes), &a))
        return false;
    if (bytes / count == 1)
        return split_bytes(decoder, parts, count, a);
    if (count == 2)
        return split(decoder, bytes, parts[0], parts[1], a);
    gd_slot low = gd_scratch(decoder, 0), high = gd_scratch(decoder, 1);
    return split(decoder, bytes, low, high, a) &&
           split(decoder, bytes / 2, parts[0], parts[1], low) &&
           split(decoder, bytes / 2, parts[2], parts[3], high);
}

static bool fits(uint32_t bytes, uint32_t count)
{
    return (count == 2 && bytes >= 2 && bytes <= 16) || (count == 4 && bytes >= 4 && bytes <= 16);
}

/* mov.v4.u32 {a, b, c, d}, %tid and mov.v2.f32 a, {b, c}: all are read before one is written. */
static bool move_vector(gd_decoder *decoder, gd_ptx_type type, uint32_t count)
{
    bool special = gd_operand_at(decoder, decoder->operands[1])->kind == GD_OPERAND_SPECIAL;
    uint32_t to[4], from[4], bytes = gd_bytes_of(type);
    gd_slot d, a;

    if (bytes < 2 || bytes > 8 || gd_elements(decoder, decoder->operands[0], to, 4) != count ||
        (special ? count != 4 || bytes != 4
                 : gd_elements(decoder, decoder->operands[1], from, 4) != count))
        return gd_decode_refuse_form(decoder);
    for (uint32_t i = 0; i < count; i++) {
        if (!(special ? gd_special_part(decoder, decoder->operands[1], i, &a)
                      : gd_source(decoder, from[i], type, &a)) ||
            !emit_move(decoder, bytes, gd_scratch(decoder, i), a))
            return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!gd_target(decoder, to[i], type, &d) ||
            !emit_move(decoder, bytes, d, gd_scratch(decoder, i)))
            return false;
    }
    return true;
}

bool gd_decode_mov(gd_decoder *decoder)
{
    gd_ptx_type type = gd_type_at(decoder, 0);
    uint32_t bytes = gd_bytes_of(type), elements[4], count;
    bool two = gd_has(decoder, GD_MODIFIER_V2), four = gd_has(decoder, GD_MODIFIER_V4);
    gd_slot d, a;

    if (two || four)
        return move_vector(decoder, type, two ? 2 : 4);
    if (type == GD_TYPE_PRED)
        return move_predicate(decoder);
    if (bytes < 2)
        return gd_decode_refuse_form(decoder);
    if (gd_is_vector(decoder, decoder->operands[1])) {
        count = gd_elements(decoder, decoder->operands[1], elements, 4);
        return fits(bytes, count) ? pack(decoder, bytes, elements, count)
                                  : gd_decode_refuse_form(decoder);
    }
    if (gd_is_vector(decoder, decoder->operands[0])) {
        count = gd_elements(decoder, decoder->operands[0], elements, 4);
        return fits(bytes, count) ? unpack(decoder, bytes, elements, count)
                                  : gd_decode_refuse_form(decoder);
    }
    return gd_source(decoder, decoder->operands[1], type, &a) &&
           gd_target(decoder, decoder->operands[0], type, &d) && emit_move(decoder, bytes, d, a);
}

/* ---- addresses ---- */

static uint64_t window_of(gd_ptx_space space)
{
    return space == GD_SPACE_SHARED  ? GD_SHARED_WINDOW
           : space == GD_SPACE_LOCAL ? GD_LOCAL_WINDOW
                                     : 0;
}

bool gd_decode_cvta(gd_decoder *decoder)
{
    bool to = gd_has(decoder, GD_MODIFIER_TO);
    gd_ptx_space space = gd_space_at(decoder, 0);
    gd_slot d, a, window;

    if (gd_type_at(decoder, 0) != GD_TYPE_U64 || space == GD_SPACE_NONE)
        return gd_decode_refuse_form(decoder);
    if (!gd_source(decoder, decoder->operands[1], GD_TYPE_U64, &a) ||
        !gd_target(decoder, decoder->operands[0], GD_TYPE_U64, &d) ||
        !gd_constant(decoder, 8, window_of(space), &window))
        return false;
    return gd_emit_lanes(decoder, to ? GD_LANES_SUB_64 : GD_LANES_ADD_64, 0, d, a, window,
                         GD_AREA_SINK);
}

bool gd_decode_isspacep(gd_decoder *decoder)
{
    gd_ptx_space space = gd_space_at(decoder, 0);
    uint32_t bytes = 0;
    gd_slot d, a;

    if (space == GD_SPACE_NONE)
        return gd_decode_refuse_form(decoder);
    if (!gd_source_wide(decoder, decoder->operands[1], GD_TYPE_U64, &a, &bytes) ||
        !gd_predicate_target(decoder, decoder->operands[0], &d))
        return false;
    if (bytes != 4 && bytes != 8)
        return gd_decode_refuse(decoder, "an address of %u bits", bytes * 8);
    gd_code *code = gd_emit(decoder, gd_run_space);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->bytes = (uint8_t)bytes;
    code->space = (uint8_t)gd_code_space(space);
    gd_widen_space(decoder, 0, code);
    code->x = code->space;
    return true;
}

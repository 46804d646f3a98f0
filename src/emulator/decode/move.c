/* Moves of vectors, packing and unpacking. Other moves are regular. */
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

static gd_ptx_type bits_of(uint32_t bytes)
{
    return bytes == 1   ? GD_TYPE_B8
           : bytes == 2 ? GD_TYPE_B16
           : bytes == 4 ? GD_TYPE_B32
           : bytes == 8 ? GD_TYPE_B64
                        : GD_TYPE_B128;
}

/* ---- packing ---- */

/* d = parts of so many bytes, from the lowest on, or they = d. */
static bool emit_pack(gd_decoder *decoder, uint32_t bytes, gd_slot d, const gd_slot *parts,
                      uint32_t count, bool unpacks)
{
    uint32_t list = gd_list_add(decoder, parts, count);
    gd_code *code = list == GD_PTX_NONE ? NULL : gd_emit(decoder, gd_run_pack);

    if (!code)
        return false;
    code->d = d;
    code->list = list;
    code->count = (uint8_t)count;
    code->bytes = (uint8_t)bytes;
    code->x = unpacks;
    return true;
}

/* Halves and words have operations of the lanes. */
static bool join(gd_decoder *decoder, uint32_t bytes, gd_slot d, const gd_slot *parts)
{
    if (bytes != 4 && bytes != 8)
        return emit_pack(decoder, bytes / 2, d, parts, 2, false);
    return gd_emit_lanes(decoder, bytes == 4 ? GD_LANES_JOIN_HALVES : GD_LANES_JOIN_WORDS, 0, d,
                         parts[0], parts[1], GD_AREA_SINK);
}

static bool pack(gd_decoder *decoder, uint32_t bytes, gd_slot d, const gd_slot *parts,
                 uint32_t count)
{
    const gd_slot halves[2] = {gd_scratch(decoder, 0), gd_scratch(decoder, 1)};

    if (count == 2)
        return join(decoder, bytes, d, parts);
    if (bytes == 4)
        return emit_pack(decoder, 1, d, parts, count, false);
    return join(decoder, bytes / 2, halves[0], parts) &&
           join(decoder, bytes / 2, halves[1], parts + 2) && join(decoder, bytes, d, halves);
}

static bool split(gd_decoder *decoder, uint32_t bytes, const gd_slot *parts, gd_slot a)
{
    if (bytes != 4 && bytes != 8)
        return emit_pack(decoder, bytes / 2, a, parts, 2, true);
    return gd_emit_lanes(decoder, bytes == 4 ? GD_LANES_CVT_U16_U32 : GD_LANES_CVT_U32_U64, 0,
                         parts[0], a, GD_AREA_SINK, GD_AREA_SINK) &&
           gd_emit_lanes(decoder, bytes == 4 ? GD_LANES_HIGH_HALF : GD_LANES_HIGH_WORD, 0, parts[1],
                         a, GD_AREA_SINK, GD_AREA_SINK);
}

static bool unpack(gd_decoder *decoder, uint32_t bytes, const gd_slot *parts, uint32_t count,
                   gd_slot a)
{
    const gd_slot halves[2] = {gd_scratch(decoder, 0), gd_scratch(decoder, 1)};

    if (count == 2)
        return split(decoder, bytes, parts, a);
    if (bytes == 4)
        return emit_pack(decoder, 1, a, parts, count, true);
    return split(decoder, bytes, halves, a) && split(decoder, bytes / 2, parts, halves[0]) &&
           split(decoder, bytes / 2, parts + 2, halves[1]);
}

/* One register and the elements of another operand. */
static bool move_parts(gd_decoder *decoder, uint32_t bytes, bool packs)
{
    uint32_t elements[4], count = gd_elements(decoder, decoder->operands[packs], elements, 4);
    gd_slot whole, parts[4];

    if (!(count == 2 && bytes >= 2 && bytes <= 16) && !(count == 4 && bytes >= 4 && bytes <= 16))
        return gd_decode_refuse_form(decoder);
    for (uint32_t i = 0; i < count; i++) {
        if (!(packs ? gd_source : gd_target)(decoder, elements[i], bits_of(bytes / count),
                                             &parts[i]))
            return false;
    }
    return (packs ? gd_target : gd_source)(decoder, decoder->operands[!packs], bits_of(bytes),
                                           &whole) &&
           (packs ? pack(decoder, bytes, whole, parts, count)
                  : unpack(decoder, bytes, parts, count, whole));
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
    bool two = gd_has(decoder, GD_MODIFIER_V2), four = gd_has(decoder, GD_MODIFIER_V4);

    if (two || four)
        return move_vector(decoder, type, two ? 2 : 4);
    return move_parts(decoder, gd_bytes_of(type), gd_is_vector(decoder, decoder->operands[1]));
}

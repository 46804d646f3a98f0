/* tex, of texture objects. */
#include "emulator/decode/decode.h"
#include "emulator/execute/texture.h"

/* [handle, {coordinates}], or [handle, coordinate] of one dimension. */
static bool read_place(gd_decoder *decoder, uint32_t operand, uint32_t dimensions, gd_ptx_type type,
                       gd_slot *handle)
{
    const uint32_t texture = operand + 1, coordinates = gd_operand_at(decoder, texture)->end;
    const uint32_t end = gd_operand_at(decoder, operand)->end;
    uint32_t elements[GD_MOST_OPERANDS], slots[2];

    if (gd_operand_at(decoder, operand)->kind != GD_OPERAND_MEMORY || coordinates >= end ||
        gd_operand_at(decoder, coordinates)->end != end ||
        gd_elements(decoder, coordinates, elements, GD_MOST_OPERANDS) != dimensions)
        return gd_decode_refuse_form(decoder);
    if (gd_operand_at(decoder, texture)->kind !=
        GD_OPERAND_REGISTER) /* a .texref: cuModuleGetTexRef is refused */
        return gd_decode_refuse_form(decoder);
    for (uint32_t i = 0; i < dimensions; i++) {
        if (!gd_source(decoder, elements[i], type, &slots[i]))
            return false;
    }
    return gd_source(decoder, texture, GD_TYPE_U64, handle) &&
           gd_list_add(decoder, slots, dimensions) != GD_PTX_NONE;
}

bool gd_decode_tex(gd_decoder *decoder)
{
    const uint32_t dimensions = decoder->form->dimensions;
    const bool whole = gd_has(decoder, GD_MODIFIER_V4);
    const gd_ptx_type result = gd_type_at(decoder, 0), coordinate = gd_type_at(decoder, 1);
    uint32_t elements[4], slots[4];
    gd_slot handle;

    gd_has(decoder, GD_MODIFIER_UNI);
    if (dimensions > 2 || !whole || decoder->operand_count != 2 || /* nor an offset or a depth */
        (result != GD_TYPE_U32 && result != GD_TYPE_S32 && result != GD_TYPE_F32) ||
        gd_elements(decoder, decoder->operands[0], elements, 4) != 4)
        return gd_decode_refuse_form(decoder);
    for (uint32_t i = 0; i < 4; i++) {
        if (!gd_target(decoder, elements[i], result, &slots[i]))
            return false;
    }
    const uint32_t list = gd_list_add(decoder, slots, 4);
    if (list == GD_PTX_NONE ||
        !read_place(decoder, decoder->operands[1], dimensions, coordinate, &handle))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_texture);
    if (!code)
        return false;
    code->a = handle;
    code->list = list;
    code->count = (uint8_t)dimensions;
    code->x = coordinate == GD_TYPE_F32;
    return true;
}

/* Matrices in registers. */
#include "emulator/decode.h"
#include "emulator/exec_matrix.h"

#define NONE GD_TYPE_NONE

/* Slots of the elements of an operand, 32 bits each. */
static bool read_slots(gd_decoder *decoder, uint32_t operand, uint32_t count, bool target, uint32_t *slots)
{
    uint32_t elements[8];

    if (gd_elements(decoder, operand, elements, 8) != count)
        return gd_decode_refuse_form(decoder);
    for (uint32_t i = 0; i < count; i++) {
        if (target ? !gd_target(decoder, elements[i], GD_TYPE_B32, &slots[i])
                   : !gd_source(decoder, elements[i], GD_TYPE_B32, &slots[i]))
            return false;
    }
    return true;
}

static bool matrix_access(gd_decoder *decoder, bool store)
{
    uint32_t count = gd_has(decoder, GD_MODIFIER_X4)   ? 4
                     : gd_has(decoder, GD_MODIFIER_X2) ? 2
                     : gd_has(decoder, GD_MODIFIER_X1) ? 1
                                                       : 0;
    gd_ptx_space space = gd_space_at(decoder, 0);
    bool transposed = gd_has(decoder, GD_MODIFIER_TRANS), sync = gd_has(decoder, GD_MODIFIER_SYNC);
    gd_code from = {0};
    uint32_t slots[4];
    gd_slot all;

    gd_has(decoder, GD_MODIFIER_ALIGNED);
    if (!count || !sync || !gd_has(decoder, GD_MODIFIER_M8N8) || gd_type_at(decoder, 0) != GD_TYPE_B16 ||
        decoder->operand_count != 2 || (space != GD_SPACE_SHARED && space != GD_SPACE_NONE))
        return gd_decode_refuse_form(decoder);
    if (!read_slots(decoder, decoder->operands[store ? 1 : 0], count, !store, slots) ||
        !gd_memory_operand(decoder, decoder->operands[store ? 0 : 1], space, &from) ||
        !gd_constant(decoder, 4, UINT32_MAX, &all))
        return false;
    from.list = gd_list_add(decoder, slots, count);
    gd_code *code = from.list == GD_PTX_NONE ? NULL : gd_emit(decoder, store ? gd_run_stmatrix : gd_run_ldmatrix);
    if (!code)
        return false;
    code->address = from.address;
    code->value = from.value;
    code->space = from.space;
    code->kind = from.kind;
    code->list = from.list;
    code->count = (uint8_t)count;
    code->x = transposed;
    code->e = all;
    return true;
}

bool gd_decode_ldmatrix(gd_decoder *decoder)
{
    return matrix_access(decoder, false);
}

bool gd_decode_stmatrix(gd_decoder *decoder)
{
    return matrix_access(decoder, true);
}

bool gd_decode_movmatrix(gd_decoder *decoder)
{
    gd_slot d, a, all;

    gd_has(decoder, GD_MODIFIER_ALIGNED);
    if (!gd_has(decoder, GD_MODIFIER_SYNC) || !gd_has(decoder, GD_MODIFIER_M8N8) ||
        !gd_has(decoder, GD_MODIFIER_TRANS) || gd_type_at(decoder, 0) != GD_TYPE_B16 || decoder->operand_count != 2)
        return gd_decode_refuse_form(decoder);
    if (!gd_source(decoder, decoder->operands[1], GD_TYPE_B32, &a) ||
        !gd_target(decoder, decoder->operands[0], GD_TYPE_B32, &d) || !gd_constant(decoder, 4, UINT32_MAX, &all))
        return false;
    gd_code *code = gd_emit(decoder, gd_run_movmatrix);
    if (!code)
        return false;
    code->d = d;
    code->a = a;
    code->e = all;
    return true;
}

/* ---- mma ---- */

typedef struct shape {
    uint32_t k;
    gd_matrix_element a, b;
    uint32_t flags;
} shape;

static bool find_element(gd_decoder *decoder, gd_ptx_type type, gd_matrix_element *element)
{
    switch (type) {
    case GD_TYPE_F16:
        *element = GD_MATRIX_F16;
        return true;
    case GD_TYPE_BF16:
        *element = GD_MATRIX_BF16;
        return true;
    case GD_TYPE_S8:
        *element = GD_MATRIX_S8;
        return true;
    case GD_TYPE_U8:
        *element = GD_MATRIX_U8;
        return true;
    default:
        return gd_decode_refuse_form(decoder);
    }
}

/* Types stand in the order d, a, b, c; tf32 is a modifier and leaves two. */
static bool read_shape(gd_decoder *decoder, shape *into)
{
    bool tf32 = gd_has(decoder, GD_MODIFIER_TF32);
    gd_ptx_type d = gd_type_at(decoder, 0), c = gd_type_at(decoder, tf32 ? 1 : 3);

    into->k = gd_has(decoder, GD_MODIFIER_M16N8K4)    ? 4
              : gd_has(decoder, GD_MODIFIER_M16N8K8)  ? 8
              : gd_has(decoder, GD_MODIFIER_M16N8K16) ? 16
              : gd_has(decoder, GD_MODIFIER_M16N8K32) ? 32
                                                      : 0;
    into->a = into->b = GD_MATRIX_TF32;
    if (decoder->type_count != (tf32 ? 2u : 4u))
        return gd_decode_refuse_form(decoder);
    if (!tf32 && (!find_element(decoder, gd_type_at(decoder, 1), &into->a) ||
                  !find_element(decoder, gd_type_at(decoder, 2), &into->b)))
        return false;
    bool integer = into->a >= GD_MATRIX_S8, half = into->a <= GD_MATRIX_BF16;
    into->flags = (c == GD_TYPE_F16 ? GD_MATRIX_HALF_C : 0) | (d == GD_TYPE_F16 ? GD_MATRIX_HALF_D : 0);
    into->flags |= integer && gd_has(decoder, GD_MODIFIER_SATFINITE) ? GD_MATRIX_SATURATE : 0;
    bool sums = integer ? d == GD_TYPE_S32 && c == GD_TYPE_S32
                        : (d == GD_TYPE_F32 || (d == GD_TYPE_F16 && into->a == GD_MATRIX_F16)) &&
                              (c == GD_TYPE_F32 || (c == GD_TYPE_F16 && into->a == GD_MATRIX_F16));
    bool depth = integer ? into->k == 16 || into->k == 32
                 : half  ? into->k == 8 || into->k == 16
                         : into->k == 4 || into->k == 8;
    bool alike = integer ? into->b >= GD_MATRIX_S8 : into->a == into->b;
    return (sums && depth && alike) || gd_decode_refuse_form(decoder);
}

bool gd_decode_mma(gd_decoder *decoder)
{
    shape form = {0};
    uint32_t slots[24], used = 0, counts[4];
    gd_slot all;

    gd_has(decoder, GD_MODIFIER_ALIGNED);
    if (!gd_has(decoder, GD_MODIFIER_SYNC) || !gd_has(decoder, GD_MODIFIER_ROW) || !gd_has(decoder, GD_MODIFIER_COL) ||
        decoder->operand_count != 4 || !read_shape(decoder, &form))
        return gd_decode_refuse_form(decoder);
    uint32_t per = form.a == GD_MATRIX_TF32 ? 1 : form.a <= GD_MATRIX_BF16 ? 2 : 4;
    counts[0] = form.flags & GD_MATRIX_HALF_D ? 2 : 4;
    counts[1] = form.k / per / 2;
    counts[2] = form.k / per / 4;
    counts[3] = form.flags & GD_MATRIX_HALF_C ? 2 : 4;
    for (uint32_t i = 0; i < 4; i++) {
        if (!read_slots(decoder, decoder->operands[i], counts[i], i == 0, slots + used))
            return false;
        used += counts[i];
    }
    if (!gd_constant(decoder, 4, UINT32_MAX, &all))
        return false;
    uint32_t list = gd_list_add(decoder, slots, used);
    gd_code *code = list == GD_PTX_NONE ? NULL : gd_emit(decoder, gd_run_mma);
    if (!code)
        return false;
    code->list = list;
    code->bytes = (uint8_t)form.k;
    code->x = (uint8_t)form.a;
    code->y = (uint8_t)form.b;
    code->flags = (uint16_t)form.flags;
    code->e = all;
    return true;
}

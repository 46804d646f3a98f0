/* Matrices in registers. */
#include "emulator/decode/decode.h"
#include "emulator/execute/matrix.h"

/* Slots of the elements of an operand. */
static bool read_slots(gd_decoder *decoder, uint32_t operand, uint32_t count, gd_ptx_type type,
                       bool target, uint32_t *slots)
{
    uint32_t elements[8];

    if (gd_elements(decoder, operand, elements, 8) != count)
        return gd_decode_refuse_form(decoder);
    for (uint32_t i = 0; i < count; i++) {
        if (target ? !gd_target(decoder, elements[i], type, &slots[i])
                   : !gd_source(decoder, elements[i], type, &slots[i]))
            return false;
    }
    return true;
}

static bool matrix_access(gd_decoder *decoder, bool store)
{
    uint32_t count = gd_has(decoder, GD_MODIFIER_X4) ? 4 : gd_has(decoder, GD_MODIFIER_X2) ? 2 : 1;
    gd_ptx_space space = gd_space_at(decoder, 0);
    bool transposed = gd_has(decoder, GD_MODIFIER_TRANS);
    gd_code from = gd_no_operands;
    uint32_t slots[4];

    gd_has(decoder, GD_MODIFIER_X1);
    gd_type_at(decoder, 0);
    if (!read_slots(decoder, decoder->operands[store ? 1 : 0], count, GD_TYPE_B32, !store, slots) ||
        !gd_memory_operand(decoder, decoder->operands[store ? 0 : 1], space, &from) ||
        !gd_constant(decoder, 4, UINT32_MAX, &from.e))
        return false;
    from.list = gd_list_add(decoder, slots, count);
    from.count = (uint8_t)count;
    from.x = transposed;
    return from.list != GD_PTX_NONE &&
           gd_emit_made(decoder, store ? gd_run_stmatrix : gd_run_ldmatrix, &from);
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
    gd_code made = gd_no_operands;

    gd_has(decoder, GD_MODIFIER_TRANS);
    gd_type_at(decoder, 0);
    return gd_source(decoder, decoder->operands[1], GD_TYPE_B32, &made.a) &&
           gd_target(decoder, decoder->operands[0], GD_TYPE_B32, &made.d) &&
           gd_constant(decoder, 4, UINT32_MAX, &made.e) &&
           gd_emit_made(decoder, gd_run_movmatrix, &made);
}

/* ---- mma ---- */

/* The types d, a, b, c as they are written: some are no types elsewhere, and they are told apart by
 * their order. */
enum { MMA_F32 = GD_MATRIX_B1 + 1, MMA_S32, MMA_TYPES };

static const char *const type_names[MMA_TYPES] = {
    [GD_MATRIX_F16] = ".f16",   [GD_MATRIX_BF16] = ".bf16", [GD_MATRIX_TF32] = ".tf32",
    [GD_MATRIX_E4M3] = ".e4m3", [GD_MATRIX_E5M2] = ".e5m2", [GD_MATRIX_F64] = ".f64",
    [GD_MATRIX_S8] = ".s8",     [GD_MATRIX_U8] = ".u8",     [GD_MATRIX_S4] = ".s4",
    [GD_MATRIX_U4] = ".u4",     [GD_MATRIX_B1] = ".b1",     [MMA_F32] = ".f32",
    [MMA_S32] = ".s32",
};

/* Shapes: n is 8. */

static const struct {
    gd_modifier_id modifier;
    uint8_t m;
    uint16_t k;
} shapes[] = {
    {GD_MODIFIER_M8N8K4, 8, 4},       {GD_MODIFIER_M8N8K16, 8, 16},
    {GD_MODIFIER_M8N8K32, 8, 32},     {GD_MODIFIER_M8N8K128, 8, 128},
    {GD_MODIFIER_M16N8K4, 16, 4},     {GD_MODIFIER_M16N8K8, 16, 8},
    {GD_MODIFIER_M16N8K16, 16, 16},   {GD_MODIFIER_M16N8K32, 16, 32},
    {GD_MODIFIER_M16N8K64, 16, 64},   {GD_MODIFIER_M16N8K128, 16, 128},
    {GD_MODIFIER_M16N8K256, 16, 256},
};

typedef struct form {
    uint32_t m, k;
    uint32_t types[4];
    uint32_t flags;
} form;

static uint32_t find_type(const char *text, uint32_t length)
{
    for (uint32_t i = 0; i < MMA_TYPES; i++) {
        if (strlen(type_names[i]) == length && !memcmp(type_names[i], text, length))
            return i;
    }
    return MMA_TYPES;
}

static bool read_types(gd_decoder *decoder, form *into)
{
    static const gd_modifier_id names[] = {GD_MODIFIER_TF32, GD_MODIFIER_E4M3, GD_MODIFIER_E5M2,
                                           GD_MODIFIER_S4,   GD_MODIFIER_U4,   GD_MODIFIER_B1};
    uint32_t count = 0;

    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        gd_has(decoder, names[i]);
    for (uint32_t i = 0; i < decoder->reading->type_count; i++)
        gd_type_at(decoder, i);
    for (uint32_t i = 1; i <= decoder->instruction->modifiers; i++) {
        uint32_t length, type;
        const char *text =
            gd_ptx_token_text(decoder->module, decoder->instruction->opcode + i, &length);
        if ((type = find_type(text, length)) == MMA_TYPES)
            continue;
        if (count == 4)
            return gd_decode_refuse_form(decoder);
        into->types[count++] = type;
    }
    return count == 4 || gd_decode_refuse_form(decoder);
}

static void read_flags(gd_decoder *decoder, form *into)
{
    uint32_t a = into->types[1];

    into->flags = (into->types[3] == GD_MATRIX_F16 ? GD_MATRIX_HALF_C : 0) |
                  (into->types[0] == GD_MATRIX_F16 ? GD_MATRIX_HALF_D : 0);
    if (a == GD_MATRIX_B1) {
        into->flags |= gd_has(decoder, GD_MODIFIER_XOR) ? GD_MATRIX_XOR : 0;
        gd_has(decoder, GD_MODIFIER_AND);
        gd_has(decoder, GD_MODIFIER_POPC);
    }
    if (a >= GD_MATRIX_S8 && gd_has(decoder, GD_MODIFIER_SATFINITE))
        into->flags |= GD_MATRIX_SATURATE;
    if (a == GD_MATRIX_F64)
        into->flags |= (gd_float_flags(decoder) & GD_ROUND_MASK) << GD_MATRIX_ROUND_SHIFT;
}

static bool read_form(gd_decoder *decoder, form *into)
{
    *into = (form){0};
    for (uint32_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (gd_has(decoder, shapes[i].modifier))
            *into = (form){.m = shapes[i].m, .k = shapes[i].k};
    }
    if (!into->m || !read_types(decoder, into) || (into->m == 8 && into->types[1] < GD_MATRIX_F64))
        return gd_decode_refuse_form(decoder); /* m8n8k4 of halves among them */
    read_flags(decoder, into);
    return true;
}

bool gd_decode_mma(gd_decoder *decoder)
{
    form item;
    uint32_t slots[24], used = 0;
    gd_slot all;

    if (!read_form(decoder, &item))
        return false;
    gd_ptx_type type = item.types[1] == GD_MATRIX_F64 ? GD_TYPE_B64 : GD_TYPE_B32;
    uint32_t columns = item.k / gd_matrix_packed((gd_matrix_element)item.types[1]) / 4,
             sums = item.m / 4;
    const uint32_t counts[4] = {item.flags & GD_MATRIX_HALF_D ? sums / 2 : sums,
                                columns * (item.m / 8), columns,
                                item.flags & GD_MATRIX_HALF_C ? sums / 2 : sums};
    for (uint32_t i = 0; i < 4; i++) {
        if (!read_slots(decoder, decoder->operands[i], counts[i], type, i == 0, slots + used))
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
    code->value = item.k;
    code->count = (uint8_t)item.m;
    code->x = (uint8_t)item.types[1];
    code->y = (uint8_t)item.types[2];
    code->flags = (uint16_t)item.flags;
    code->e = all;
    return true;
}

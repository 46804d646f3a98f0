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
    if (!count || !sync || !gd_has(decoder, GD_MODIFIER_M8N8) ||
        gd_type_at(decoder, 0) != GD_TYPE_B16 ||
        (space != GD_SPACE_SHARED && space != GD_SPACE_NONE))
        return gd_decode_refuse_form(decoder);
    if (!read_slots(decoder, decoder->operands[store ? 1 : 0], count, GD_TYPE_B32, !store, slots) ||
        !gd_memory_operand(decoder, decoder->operands[store ? 0 : 1], space, &from) ||
        !gd_constant(decoder, 4, UINT32_MAX, &all))
        return false;
    from.list = gd_list_add(decoder, slots, count);
    gd_code *code = from.list == GD_PTX_NONE
                        ? NULL
                        : gd_emit(decoder, store ? gd_run_stmatrix : gd_run_ldmatrix);
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
        !gd_has(decoder, GD_MODIFIER_TRANS) || gd_type_at(decoder, 0) != GD_TYPE_B16)
        return gd_decode_refuse_form(decoder);
    if (!gd_source(decoder, decoder->operands[1], GD_TYPE_B32, &a) ||
        !gd_target(decoder, decoder->operands[0], GD_TYPE_B32, &d) ||
        !gd_constant(decoder, 4, UINT32_MAX, &all))
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

/* Shapes with what a and b may be made of: bits of gd_matrix_element. */
#define OF(element) (1u << GD_MATRIX_##element)
#define BYTES_OF (OF(S8) | OF(U8))
#define NIBBLES_OF (OF(S4) | OF(U4))
#define EIGHTHS_OF (OF(E4M3) | OF(E5M2))

static const struct {
    gd_modifier modifier;
    uint8_t m;
    uint16_t k;
    uint32_t elements;
} shapes[] = {
    {GD_MODIFIER_M8N8K4, 8, 4, OF(F64)},
    {GD_MODIFIER_M8N8K16, 8, 16, BYTES_OF},
    {GD_MODIFIER_M8N8K32, 8, 32, NIBBLES_OF},
    {GD_MODIFIER_M8N8K128, 8, 128, OF(B1)},
    {GD_MODIFIER_M16N8K4, 16, 4, OF(TF32) | OF(F64)},
    {GD_MODIFIER_M16N8K8, 16, 8, OF(F16) | OF(BF16) | OF(TF32) | OF(F64)},
    {GD_MODIFIER_M16N8K16, 16, 16, OF(F16) | OF(BF16) | OF(F64) | BYTES_OF | EIGHTHS_OF},
    {GD_MODIFIER_M16N8K32, 16, 32, BYTES_OF | NIBBLES_OF | EIGHTHS_OF},
    {GD_MODIFIER_M16N8K64, 16, 64, NIBBLES_OF},
    {GD_MODIFIER_M16N8K128, 16, 128, OF(B1)},
    {GD_MODIFIER_M16N8K256, 16, 256, OF(B1)},
};

typedef struct form {
    uint32_t m, k, elements;
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
    static const gd_modifier names[] = {GD_MODIFIER_TF32, GD_MODIFIER_E4M3, GD_MODIFIER_E5M2,
                                        GD_MODIFIER_S4,   GD_MODIFIER_U4,   GD_MODIFIER_B1};
    uint32_t count = 0;

    for (uint32_t i = 0; i < sizeof names / sizeof names[0]; i++)
        gd_has(decoder, names[i]);
    for (uint32_t i = 0; i < decoder->type_count; i++)
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

/* Whether sums of type d and c go with factors of type a. */
static bool sums_fit(uint32_t a, uint32_t sum)
{
    if (a >= GD_MATRIX_S8)
        return sum == MMA_S32;
    if (a == GD_MATRIX_F64)
        return sum == GD_MATRIX_F64;
    bool half = a == GD_MATRIX_F16 || a == GD_MATRIX_E4M3 || a == GD_MATRIX_E5M2;
    return sum == MMA_F32 || (half && sum == GD_MATRIX_F16);
}

/* b is like a, but for the sign of integers and the format of bytes. */
static bool factors_fit(const form *item)
{
    uint32_t a = item->types[1], b = item->types[2];

    if (a > GD_MATRIX_B1 || b > GD_MATRIX_B1 || !(item->elements >> a & 1) ||
        !(item->elements >> b & 1))
        return false;
    bool mixes =
        (a == GD_MATRIX_E4M3 || a == GD_MATRIX_E5M2 || (a >= GD_MATRIX_S8 && a != GD_MATRIX_B1)) &&
        gd_matrix_packed((gd_matrix_element)a) == gd_matrix_packed((gd_matrix_element)b) &&
        (a >= GD_MATRIX_S8) == (b >= GD_MATRIX_S8);
    return a == b || mixes;
}

static bool read_flags(gd_decoder *decoder, form *into)
{
    uint32_t a = into->types[1];

    into->flags = (into->types[3] == GD_MATRIX_F16 ? GD_MATRIX_HALF_C : 0) |
                  (into->types[0] == GD_MATRIX_F16 ? GD_MATRIX_HALF_D : 0);
    if (a == GD_MATRIX_B1) {
        bool exclusive = gd_has(decoder, GD_MODIFIER_XOR), both = gd_has(decoder, GD_MODIFIER_AND);
        into->flags |= exclusive ? GD_MATRIX_XOR : 0;
        return gd_has(decoder, GD_MODIFIER_POPC) && exclusive != both;
    }
    if (a >= GD_MATRIX_S8 && gd_has(decoder, GD_MODIFIER_SATFINITE))
        into->flags |= GD_MATRIX_SATURATE;
    if (a == GD_MATRIX_F64)
        into->flags |= (gd_float_flags(decoder) & GD_ROUND_MASK) << GD_MATRIX_ROUND_SHIFT;
    return true;
}

static bool read_form(gd_decoder *decoder, form *into)
{
    *into = (form){0};
    for (uint32_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (gd_has(decoder, shapes[i].modifier))
            *into = (form){.m = shapes[i].m, .k = shapes[i].k, .elements = shapes[i].elements};
    }
    if (!into->m || !read_types(decoder, into) || !factors_fit(into) ||
        !sums_fit(into->types[1], into->types[0]) || !sums_fit(into->types[1], into->types[3]) ||
        !read_flags(decoder, into))
        return gd_decode_refuse_form(decoder);
    return true;
}

bool gd_decode_mma(gd_decoder *decoder)
{
    form item;
    uint32_t slots[24], used = 0;
    gd_slot all;

    gd_has(decoder, GD_MODIFIER_ALIGNED);
    if (!gd_has(decoder, GD_MODIFIER_SYNC) || !gd_has(decoder, GD_MODIFIER_ROW) ||
        !gd_has(decoder, GD_MODIFIER_COL) || !read_form(decoder, &item))
        return gd_decode_refuse_form(decoder);
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

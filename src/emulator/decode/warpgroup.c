/* wgmma. */
#include "emulator/decode/decode.h"
#include "emulator/execute/control.h"
#include "emulator/execute/matrix.h"
#include "emulator/execute/warpgroup.h"

enum { MOST_SUMS = GD_WARPGROUP_N / 2, MOST_SLOTS = MOST_SUMS + 5 };

/* What the modifiers say. */
typedef struct form {
    uint32_t n, flags;
    gd_matrix_element a, b;
    bool transposes; /* the operands tell which matrix is transposed */
} form;

/* .f32 and .s32, which no factor is. */
enum { SUM_F32 = GD_MATRIX_B1 + 1, SUM_S32, TYPES };

static const char *const type_names[TYPES] = {
    [GD_MATRIX_F16] = ".f16",   [GD_MATRIX_BF16] = ".bf16", [GD_MATRIX_TF32] = ".tf32",
    [GD_MATRIX_E4M3] = ".e4m3", [GD_MATRIX_E5M2] = ".e5m2", [GD_MATRIX_F64] = "",
    [GD_MATRIX_S8] = ".s8",     [GD_MATRIX_U8] = ".u8",     [GD_MATRIX_S4] = "",
    [GD_MATRIX_U4] = "",        [GD_MATRIX_B1] = "",        [SUM_F32] = ".f32",
    [SUM_S32] = ".s32",
};

/* The types of d, a and b, told apart by their order. */
static bool read_types(gd_decoder *decoder, uint32_t types[3])
{
    uint32_t count = 0;

    gd_has(decoder, GD_MODIFIER_TF32);
    gd_has(decoder, GD_MODIFIER_E4M3);
    gd_has(decoder, GD_MODIFIER_E5M2);
    for (uint32_t i = 0; i < decoder->reading->type_count; i++)
        gd_type_at(decoder, i);
    for (uint32_t i = 1; i <= decoder->instruction->modifiers; i++) {
        uint32_t length, type = 0;
        const char *text =
            gd_ptx_token_text(decoder->module, decoder->instruction->opcode + i, &length);
        while (type < TYPES &&
               (strlen(type_names[type]) != length || memcmp(text, type_names[type], length) != 0))
            type++;
        if (type == TYPES)
            continue;
        if (count == 3)
            return false;
        types[count++] = type;
    }
    return count == 3;
}

static bool is_integer(uint32_t type)
{
    return type == GD_MATRIX_S8 || type == GD_MATRIX_U8;
}

static bool read_form(gd_decoder *decoder, form *into)
{
    uint32_t types[3];

    gd_has(decoder, GD_MODIFIER_M64);
    if (!read_types(decoder, types))
        return gd_decode_refuse_form(decoder);
    *into = (form){.n = decoder->form->columns,
                   .a = (gd_matrix_element)types[1],
                   .b = (gd_matrix_element)types[2]};
    into->transposes = into->a == GD_MATRIX_F16 || into->a == GD_MATRIX_BF16;
    if (types[0] == GD_MATRIX_F16)
        into->flags |= GD_MATRIX_HALF_C | GD_MATRIX_HALF_D;
    if (is_integer(into->a) && gd_has(decoder, GD_MODIFIER_SATFINITE))
        into->flags |= GD_MATRIX_SATURATE;
    return true;
}

/* imm-scale-a, imm-scale-b; imm-trans-a where a is no register, imm-trans-b. */
static bool read_immediates(gd_decoder *decoder, form *into)
{
    const bool fragments = into->flags & GD_WARPGROUP_REGISTERS;
    const uint32_t scales[] = {GD_WARPGROUP_NEGATE_A, GD_WARPGROUP_NEGATE_B};
    const uint32_t transposes[] = {GD_WARPGROUP_TRANSPOSE_A, GD_WARPGROUP_TRANSPOSE_B};
    uint32_t next = 4;

    for (uint32_t i = 0; !is_integer(into->a) && i < 2; i++) {
        uint64_t value;
        if (next >= decoder->operand_count || !gd_known(decoder, decoder->operands[next++], &value))
            return gd_decode_refuse_form(decoder);
        into->flags |= value == 1 ? 0 : scales[i];
    }
    for (uint32_t i = fragments; into->transposes && i < 2; i++) {
        uint64_t value;
        if (next >= decoder->operand_count || !gd_known(decoder, decoder->operands[next++], &value))
            return gd_decode_refuse_form(decoder);
        into->flags |= value ? transposes[i] : 0;
    }
    return next == decoder->operand_count || gd_decode_refuse_form(decoder);
}

/* The registers of d, those of a or its descriptor, the descriptor of b. */
static bool read_slots(gd_decoder *decoder, form *item, uint32_t sums, uint32_t *slots,
                       uint32_t *count)
{
    uint32_t elements[MOST_SUMS], fragments[4];

    if (gd_elements(decoder, decoder->operands[0], elements, MOST_SUMS) != sums)
        return gd_decode_refuse_form(decoder);
    for (*count = 0; *count < sums; ++*count) {
        if (!gd_target(decoder, elements[*count], GD_TYPE_B32, &slots[*count]))
            return false;
    }
    if (gd_is_vector(decoder, decoder->operands[1])) {
        item->flags |= GD_WARPGROUP_REGISTERS;
        if (gd_elements(decoder, decoder->operands[1], fragments, 4) != 4)
            return gd_decode_refuse_form(decoder);
        for (uint32_t i = 0; i < 4; i++) {
            if (!gd_source(decoder, fragments[i], GD_TYPE_B32, &slots[(*count)++]))
                return false;
        }
    } else if (!gd_source(decoder, decoder->operands[1], GD_TYPE_B64, &slots[(*count)++])) {
        return false;
    }
    return gd_source(decoder, decoder->operands[2], GD_TYPE_B64, &slots[(*count)++]);
}

/* d, a, b, scale-d{, scale-a, scale-b{, {trans-a,} trans-b}} */
bool gd_decode_wgmma(gd_decoder *decoder)
{
    uint32_t slots[MOST_SLOTS], used = 0;
    gd_slot all, keep;
    bool negated;
    form item = {0};

    if (!read_form(decoder, &item))
        return false;
    const uint32_t sums = item.flags & GD_MATRIX_HALF_D ? item.n / 4 : item.n / 2;
    if (!read_slots(decoder, &item, sums, slots, &used) ||
        !gd_predicate_source(decoder, decoder->operands[3], &keep, &negated) ||
        !read_immediates(decoder, &item) || !gd_constant(decoder, 4, UINT32_MAX, &all))
        return gd_decode_refuse_form(decoder);
    uint32_t list = gd_list_add(decoder, slots, used);
    gd_code *code = list == GD_PTX_NONE ? NULL : gd_emit(decoder, gd_run_wgmma);
    if (!code)
        return false;
    code->list = list;
    code->value = sums;
    code->target = item.n;
    code->x = (uint8_t)item.a;
    code->y = (uint8_t)item.b;
    code->flags = (uint16_t)(item.flags | (negated ? GD_WARPGROUP_KEEP_NOT : 0));
    code->c = keep;
    code->e = all;
    return true;
}

/* wgmma.fence orders accesses of registers, which the emulator never delays. */
bool gd_decode_wgmma_group(gd_decoder *decoder)
{
    const bool wait = decoder->instruction->op == GD_OP_WGMMA_WAIT_GROUP;
    uint64_t left = 0;
    gd_slot all;

    if ((wait && !gd_known(decoder, decoder->operands[0], &left)) ||
        !gd_constant(decoder, 4, UINT32_MAX, &all))
        return false;
    gd_code *code = gd_emit(decoder, wait ? gd_run_wgmma_wait : gd_run_wgmma_commit);
    if (!code)
        return false;
    code->value = left;
    code->e = all;
    return true;
}

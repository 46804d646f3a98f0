/* Operands: registers, literals, special registers, addresses of variables, memory operands. */
#include "emulator/decode/decode.h"
#include "emulator/execute/control.h"
#include "emulator/execute/move.h"
#include "ptx/isa/special.h"

uint32_t gd_bytes_of(gd_ptx_type type)
{
    return gd_ptx_types[type].bytes;
}

bool gd_is_signed(gd_ptx_type type)
{
    return type == GD_TYPE_S8 || type == GD_TYPE_S16 || type == GD_TYPE_S32 || type == GD_TYPE_S64;
}

bool gd_is_float(gd_ptx_type type)
{
    return type == GD_TYPE_F16 || type == GD_TYPE_BF16 || type == GD_TYPE_F32 ||
           type == GD_TYPE_F64;
}

const gd_ptx_operand *gd_operand_at(const gd_decoder *decoder, uint32_t index)
{
    uint32_t count = decoder->module->operand_count;

    return index < count ? &decoder->module->operands[index] : &decoder->parts[index - count];
}

gd_slot gd_scratch(const gd_decoder *decoder, uint32_t index)
{
    return decoder->scratch + index * 4 * GD_LANE_BYTES;
}

/* A scratch register for a source of up to 8 bytes, its own until the next instruction. */
static bool take_scratch(gd_decoder *decoder, gd_slot *slot)
{
    if (decoder->sources == GD_SOURCE_SCRATCH)
        return gd_decode_refuse(decoder, "this number of operands that are computed");
    *slot = decoder->scratch + (4 * GD_SCRATCH + 2 * decoder->sources++) * GD_LANE_BYTES;
    return true;
}

/* A register's lanes are at least words. */
static uint32_t stored(uint32_t bytes)
{
    return bytes < 4 ? 4 : bytes;
}

/* ---- registers ---- */

static bool find_register(gd_decoder *decoder, const gd_ptx_operand *operand,
                          const gd_register **found)
{
    const gd_ptx_symbol *symbol = &decoder->module->symbols[operand->symbol];
    uint32_t component = operand->component ? operand->component - 1u : 0;

    if (symbol->target == GD_PTX_NONE)
        return gd_decode_refuse(decoder, "a register that is declared outside of a function");
    if (operand->flags & (GD_OPERAND_MINUS | GD_OPERAND_OFFSET) || component >= symbol->vector ||
        (operand->component == 0 && symbol->vector != 1))
        return gd_decode_refuse(decoder, "this form of a register operand");
    *found = &decoder->registers[symbol->target + operand->index * symbol->vector + component];
    return true;
}

static bool register_slot(gd_decoder *decoder, const gd_ptx_operand *operand, uint32_t *bytes,
                          gd_slot *slot)
{
    const gd_register *found;

    if (!find_register(decoder, operand, &found))
        return false;
    if (found->bytes == 0)
        return gd_decode_refuse(decoder, "a predicate where a value is expected");
    *bytes = found->bytes;
    *slot = found->offset;
    return true;
}

/* ---- special registers ---- */

/* What is executed; of those with parts the place of .x. */
static const struct {
    const char *name;
    uint8_t special;
} specials[] = {
    {"%tid", GD_SPECIAL_TID_X},
    {"%ntid", GD_SPECIAL_NTID_X},
    {"%ctaid", GD_SPECIAL_CTAID_X},
    {"%nctaid", GD_SPECIAL_NCTAID_X},
    {"%clusterid", GD_SPECIAL_CLUSTERID_X},
    {"%nclusterid", GD_SPECIAL_NCLUSTERID_X},
    {"%cluster_ctaid", GD_SPECIAL_CLUSTER_CTAID_X},
    {"%cluster_nctaid", GD_SPECIAL_CLUSTER_NCTAID_X},
    {"%cluster_ctarank", GD_SPECIAL_CLUSTER_CTARANK},
    {"%cluster_nctarank", GD_SPECIAL_CLUSTER_NCTARANK},
    {"%laneid", GD_SPECIAL_LANEID},
    {"%warpid", GD_SPECIAL_WARPID},
    {"%nwarpid", GD_SPECIAL_NWARPID},
    {"%smid", GD_SPECIAL_SMID},
    {"%nsmid", GD_SPECIAL_NSMID},
    {"%lanemask_eq", GD_SPECIAL_LANEMASK_EQ},
    {"%lanemask_le", GD_SPECIAL_LANEMASK_LE},
    {"%lanemask_lt", GD_SPECIAL_LANEMASK_LT},
    {"%lanemask_ge", GD_SPECIAL_LANEMASK_GE},
    {"%lanemask_gt", GD_SPECIAL_LANEMASK_GT},
    {"%dynamic_smem_size", GD_SPECIAL_DYNAMIC_SMEM_SIZE},
    {"%total_smem_size", GD_SPECIAL_TOTAL_SMEM_SIZE},
    {"%aggr_smem_size", GD_SPECIAL_TOTAL_SMEM_SIZE},
    {"%reserved_smem_offset_begin", GD_SPECIAL_ZERO},
    {"%reserved_smem_offset_end", GD_SPECIAL_RESERVED_SMEM},
    {"%reserved_smem_offset_cap", GD_SPECIAL_RESERVED_SMEM},
    {"%reserved_smem_offset_0", GD_SPECIAL_ZERO},
    {"%reserved_smem_offset_1", GD_SPECIAL_RESERVED_PART},
    {"%envreg1", GD_SPECIAL_WORKSPACE_HIGH},
    {"%envreg2", GD_SPECIAL_WORKSPACE_LOW},
    {"%clock", GD_SPECIAL_CLOCK},
    {"%clock_hi", GD_SPECIAL_CLOCK_HI},
    {"%globaltimer_lo", GD_SPECIAL_GLOBALTIMER_LO},
    {"%globaltimer_hi", GD_SPECIAL_GLOBALTIMER_HI},
    {"%gridid", GD_SPECIAL_GRIDID},
    {"%clock64", GD_SPECIAL_CLOCK64},
    {"%globaltimer", GD_SPECIAL_GLOBALTIMER},
};

/* A fourth component is 0 (PTX ISA 10.1). */
static bool special_slot(gd_decoder *decoder, const gd_ptx_operand *operand, uint32_t *bytes,
                         gd_slot *slot)
{
    uint32_t length, component = operand->component ? operand->component - 1u : 0;
    const char *text = gd_ptx_name_text(decoder->module, operand->index, &length);

    if (operand->flags & GD_OPERAND_OFFSET)
        return gd_decode_refuse(decoder, "%.*s plus a constant", (int)length, text);
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        if (strlen(specials[i].name) != length || memcmp(specials[i].name, text, length) != 0)
            continue;
        const gd_special_register *known = gd_special_find(text, length);
        const uint8_t first = specials[i].special;
        if ((known->parts > 1) != (operand->component != 0) || component > 3)
            break;
        uint32_t special = component == 3 ? GD_SPECIAL_ZERO : first + component;
        if (known->varies == GD_VARIES_TIME) {
            gd_code *code = gd_emit(decoder, gd_run_clock);
            if (!code)
                return false;
            code->x = first;
        }
        if (first == GD_SPECIAL_RESERVED_PART || first == GD_SPECIAL_ZERO)
            decoder->image->entry.reserved_shared = true;
        *bytes = gd_ptx_types[known->type].bytes;
        *slot = special * GD_LANE_BYTES | GD_AREA_SPECIAL;
        return true;
    }
    return gd_decode_refuse(decoder, "special register %.*s", (int)length, text);
}

/* ---- addresses of variables and functions ---- */

static bool is_body_of(const gd_decoder *decoder, uint32_t scope)
{
    return decoder->module->scopes[scope].function ==
           (uint32_t)(decoder->function - decoder->module->functions);
}

uint64_t gd_variable_stride(const gd_ptx_symbol *symbol)
{
    const uint64_t alignment = symbol->alignment ? symbol->alignment : 1;

    return symbol->count > 1 ? (symbol->bytes + alignment - 1) / alignment * alignment
                             : symbol->bytes;
}

uint64_t gd_variable_member(const gd_decoder *decoder, const gd_ptx_operand *operand)
{
    const gd_ptx_symbol *symbol = &decoder->module->symbols[operand->symbol];
    uint32_t length, stem;
    uint64_t number = 0;
    const char *text = gd_ptx_name_text(decoder->module, operand->index, &length);

    if (symbol->count == 1)
        return 0;
    gd_ptx_name_text(decoder->module, symbol->name, &stem);
    for (; stem < length; stem++)
        number = 10 * number + (uint64_t)(text[stem] - '0');
    return number * gd_variable_stride(symbol);
}

typedef enum place_kind { PLACE_FIXED, PLACE_FRAME } place_kind;

static bool variable_place(gd_decoder *decoder, uint32_t index, place_kind *kind, uint64_t *value)
{
    const gd_ptx_symbol *symbol = &decoder->module->symbols[index];
    const gd_allocation *allocation = decoder->program->variables[index];

    *kind = PLACE_FIXED;
    if (symbol->kind == GD_SYMBOL_PARAMETER && decoder->function->flags & GD_FUNCTION_ENTRY) {
        *value = symbol->offset;
        return true;
    }
    if (symbol->kind == GD_SYMBOL_PARAMETER || symbol->space == GD_SPACE_LOCAL ||
        symbol->space == GD_SPACE_PARAM) {
        if (!is_body_of(decoder, symbol->scope))
            return gd_decode_refuse(decoder,
                                    "a local variable that is declared outside of the function");
        *kind = PLACE_FRAME;
        *value = decoder->offsets[index];
        return true;
    }
    if (symbol->space == GD_SPACE_SHARED) {
        *value = decoder->offsets[index];
        return true;
    }
    if (!allocation)
        return gd_decode_refuse(decoder, "a variable that this module does not define");
    *value = allocation->start;
    return true;
}

/* An address in shared memory has the CTA's rank in the cluster in its upper bits. */
static bool shared_address(gd_decoder *decoder, uint32_t bytes, uint64_t value, gd_slot *slot)
{
    gd_slot base = GD_SPECIAL_SHARED_BASE * GD_LANE_BYTES | GD_AREA_SPECIAL, low, offset;

    if (bytes != 4 && bytes != 8)
        return gd_decode_refuse(decoder, "a shared address in %u bits", bytes * 8);
    if (!take_scratch(decoder, slot))
        return false;
    low = *slot;
    if (bytes == 4 &&
        !gd_emit_lanes(decoder, GD_LANES_CVT_U32_U64, 0, low, base, GD_AREA_SINK, GD_AREA_SINK))
        return false;
    return gd_constant(decoder, bytes, value, &offset) &&
           gd_emit_lanes(decoder, bytes == 8 ? GD_LANES_ADD_64 : GD_LANES_ADD_32, 0, low,
                         bytes == 8 ? base : low, offset, GD_AREA_SINK);
}

/* WARP_SZ and addresses, as mov gives them. */
static bool symbol_slot(gd_decoder *decoder, const gd_ptx_operand *operand, uint32_t bytes,
                        gd_slot *slot)
{
    uint32_t length;
    const char *text = gd_ptx_name_text(decoder->module, operand->index, &length);
    place_kind kind;
    uint64_t value;

    if (operand->symbol == GD_PTX_NONE) {
        if (length == 7 && !memcmp(text, "WARP_SZ", 7))
            return gd_constant(decoder, bytes, GD_LANES + operand->value, slot);
        return gd_decode_refuse(decoder, "%.*s, which is not declared,", (int)length, text);
    }
    const gd_ptx_symbol *symbol = &decoder->module->symbols[operand->symbol];
    if (symbol->kind == GD_SYMBOL_FUNCTION && symbol->target != GD_PTX_NONE)
        return gd_constant(decoder, bytes, GD_FUNCTION_WINDOW + UINT64_C(16) * symbol->target,
                           slot);
    if (symbol->kind != GD_SYMBOL_VARIABLE && symbol->kind != GD_SYMBOL_PARAMETER)
        return gd_decode_refuse(decoder, "the address of a label");
    if (!variable_place(decoder, operand->symbol, &kind, &value))
        return false;
    value += operand->value + gd_variable_member(decoder, operand);
    if (symbol->space == GD_SPACE_SHARED)
        return shared_address(decoder, bytes, value, slot);
    bool parameter = symbol->kind == GD_SYMBOL_PARAMETER || symbol->space == GD_SPACE_PARAM;
    if (kind == PLACE_FIXED)
        return gd_constant(decoder, bytes, value + (parameter ? GD_PARAMETER_WINDOW : 0), slot);
    gd_code *code = take_scratch(decoder, slot) ? gd_emit(decoder, gd_run_local_address) : NULL;
    if (!code)
        return false;
    code->d = *slot;
    code->value = value + (parameter ? GD_LOCAL_WINDOW : 0);
    code->bytes = (uint8_t)bytes;
    return true;
}

/* ---- values ---- */

static bool literal_bits(gd_decoder *decoder, const gd_ptx_operand *operand, gd_ptx_type type,
                         uint64_t *value)
{
    uint32_t bytes = gd_bytes_of(type);

    *value = operand->value;
    if (operand->kind == GD_OPERAND_INTEGER)
        return !gd_is_float(type) || bytes == 2 || *value == 0 ||
               gd_decode_refuse(decoder, "an integer where a floating-point literal is expected");
    if (operand->kind == GD_OPERAND_SINGLE)
        return bytes == 4 || gd_decode_refuse(decoder, "a literal of another size");
    if (type == GD_TYPE_F32)
        *value = gd_bits((float)gd_double(operand->value));
    else if (bytes != 8)
        return gd_decode_refuse(decoder, "a literal of another size");
    return true;
}

bool gd_known(gd_decoder *decoder, uint32_t index, uint64_t *value)
{
    const gd_ptx_operand *operand = gd_operand_at(decoder, index);
    uint32_t length;

    if (operand->kind == GD_OPERAND_INTEGER) {
        *value = operand->value;
        return true;
    }
    if (operand->kind == GD_OPERAND_SYMBOL && operand->symbol == GD_PTX_NONE &&
        !memcmp(gd_ptx_name_text(decoder->module, operand->index, &length), "WARP_SZ", 7) &&
        length == 7) {
        *value = GD_LANES + operand->value;
        return true;
    }
    if (operand->kind == GD_OPERAND_EXPRESSION &&
        gd_constant_evaluate(decoder->module, operand->token, operand->token_end, value))
        return true;
    return gd_decode_refuse(decoder, "an operand that is no integer constant");
}

/* What is no register; `bytes` are those of a lane. */
static bool other_slot(gd_decoder *decoder, uint32_t index, gd_ptx_type type, uint32_t bytes,
                       gd_slot *slot)
{
    const gd_ptx_operand *operand = gd_operand_at(decoder, index);
    uint64_t value;

    switch (operand->kind) {
    case GD_OPERAND_INTEGER:
    case GD_OPERAND_SINGLE:
    case GD_OPERAND_DOUBLE:
        if (!literal_bits(decoder, operand, type, &value))
            return false;
        break;
    case GD_OPERAND_EXPRESSION:
        if (!gd_known(decoder, index, &value))
            return false;
        break;
    case GD_OPERAND_SYMBOL:
        return symbol_slot(decoder, operand, bytes, slot);
    default:
        return gd_decode_refuse_form(decoder);
    }
    if (gd_bytes_of(type) == 1)
        value &= 0xff;
    if (gd_bytes_of(type) == 2)
        value &= 0xffff;
    return gd_constant(decoder, bytes, value, slot);
}

static bool convert(gd_decoder *decoder, gd_lanes_op op, gd_slot d, gd_slot a)
{
    return gd_emit_lanes(decoder, op, 0, d, a, GD_AREA_SINK, GD_AREA_SINK);
}

/* An integer of type `own` as one of more bytes. */
static bool widen(gd_decoder *decoder, gd_ptx_type own, uint32_t wanted, gd_slot *slot)
{
    uint32_t bytes = gd_bytes_of(own);
    bool sign = gd_is_signed(own);
    gd_slot narrow = *slot;

    if (sign && bytes < 4 &&
        !convert(decoder, bytes == 1 ? GD_LANES_CVT_S32_S8 : GD_LANES_CVT_S32_S16, narrow, narrow))
        return false;
    if (wanted == 2)
        return convert(decoder, GD_LANES_CVT_U16_U32, narrow, narrow);
    if (wanted == 4)
        return true;
    return take_scratch(decoder, slot) &&
           convert(decoder, sign ? GD_LANES_CVT_S64_S32 : GD_LANES_CVT_U64_U32, *slot, narrow);
}

/* A register plus a constant: the sum has the register's type; where more bytes are read it is
 * extended, and with its sign if it has one (as ptxas does). */
static bool sum_slot(gd_decoder *decoder, const gd_ptx_operand *operand, gd_ptx_type type,
                     gd_slot *slot, uint32_t *bytes)
{
    gd_ptx_type own = (gd_ptx_type)decoder->module->symbols[operand->symbol].type;
    uint32_t wanted = gd_bytes_of(type);
    gd_ptx_operand plain = *operand;
    gd_slot whole = GD_AREA_SINK, constant;

    plain.flags = (uint8_t)(plain.flags & ~GD_OPERAND_OFFSET);
    if (!register_slot(decoder, &plain, bytes, &whole))
        return false;
    if (gd_is_float(own) || own == GD_TYPE_F16X2 || own == GD_TYPE_BF16X2 || *bytes > 8)
        return gd_decode_refuse(decoder, "a .%s register plus a constant", gd_ptx_types[own].name);
    gd_lanes_op add = *bytes == 8   ? GD_LANES_ADD_64
                      : *bytes == 2 ? GD_LANES_ADD_16
                                    : GD_LANES_ADD_32;
    if (!take_scratch(decoder, slot) ||
        !gd_constant(decoder, stored(*bytes), operand->value, &constant) ||
        !gd_emit_lanes(decoder, add, 0, *slot, whole, constant, GD_AREA_SINK) ||
        (*bytes == 1 && !convert(decoder, GD_LANES_CVT_U32_U8, *slot, *slot)))
        return false;
    if (*bytes >= wanted || wanted > 8 || gd_is_float(type))
        return true;
    *bytes = wanted;
    return widen(decoder, own, wanted, slot);
}

bool gd_source_wide(gd_decoder *decoder, uint32_t index, gd_ptx_type type, gd_slot *slot,
                    uint32_t *bytes)
{
    const gd_ptx_operand *operand = gd_operand_at(decoder, index);

    if (operand->kind == GD_OPERAND_REGISTER && operand->flags & GD_OPERAND_OFFSET)
        return sum_slot(decoder, operand, type, slot, bytes);
    if (operand->kind == GD_OPERAND_REGISTER)
        return register_slot(decoder, operand, bytes, slot);
    if (operand->kind == GD_OPERAND_SPECIAL)
        return special_slot(decoder, operand, bytes, slot);
    *bytes = gd_bytes_of(type);
    return other_slot(decoder, index, type, stored(*bytes), slot);
}

/* A 64-bit special register read as 32 bits gives its low half, a narrow one is extended (PTX ISA
 * 10); so it is with sums. */
static bool fit_size(gd_decoder *decoder, uint32_t bytes, uint32_t wanted, gd_slot *slot)
{
    gd_slot from = *slot;

    if (stored(bytes) == wanted)
        return true;
    if (!take_scratch(decoder, slot))
        return false;
    if (wanted == 8)
        return convert(decoder, GD_LANES_CVT_U64_U32, *slot, from);
    if (bytes == 8 && !convert(decoder, GD_LANES_CVT_U32_U64, *slot, from))
        return false;
    return wanted == 4 || convert(decoder, GD_LANES_CVT_U16_U32, *slot, bytes == 8 ? *slot : from);
}

bool gd_source(gd_decoder *decoder, uint32_t index, gd_ptx_type type, gd_slot *slot)
{
    uint32_t bytes = 0, wanted = gd_bytes_of(type);

    if (!gd_source_wide(decoder, index, type, slot, &bytes))
        return false;
    if (bytes == wanted)
        return true;
    const gd_ptx_operand *operand = gd_operand_at(decoder, index);
    bool sum = operand->kind == GD_OPERAND_REGISTER && operand->flags & GD_OPERAND_OFFSET;
    if ((sum || operand->kind == GD_OPERAND_SPECIAL) && wanted >= 2 && wanted <= 8)
        return fit_size(decoder, bytes, wanted, slot);
    return gd_decode_refuse(decoder, "a register of %u bits where %u are expected", bytes * 8,
                            wanted * 8);
}

bool gd_special_part(gd_decoder *decoder, uint32_t index, uint32_t part, gd_slot *slot)
{
    gd_ptx_operand operand = *gd_operand_at(decoder, index);
    uint32_t bytes;

    if (operand.kind != GD_OPERAND_SPECIAL || operand.component)
        return gd_decode_refuse_form(decoder);
    operand.component = (uint8_t)(part + 1);
    return special_slot(decoder, &operand, &bytes, slot);
}

bool gd_target_wide(gd_decoder *decoder, uint32_t index, gd_ptx_type type, gd_slot *slot,
                    uint32_t *bytes)
{
    const gd_ptx_operand *operand = gd_operand_at(decoder, index);

    if (operand->kind == GD_OPERAND_SINK) {
        *slot = GD_AREA_SINK;
        *bytes = gd_bytes_of(type);
        return true;
    }
    if (operand->kind != GD_OPERAND_REGISTER)
        return gd_decode_refuse_form(decoder);
    return register_slot(decoder, operand, bytes, slot);
}

bool gd_target(gd_decoder *decoder, uint32_t index, gd_ptx_type type, gd_slot *slot)
{
    uint32_t bytes = 0;

    if (!gd_target_wide(decoder, index, type, slot, &bytes))
        return false;
    return bytes == gd_bytes_of(type) ||
           gd_decode_refuse(decoder, "a register of %u bits where %u are expected", bytes * 8,
                            gd_bytes_of(type) * 8);
}

bool gd_predicate_source(gd_decoder *decoder, uint32_t index, gd_slot *slot, bool *negated)
{
    const gd_ptx_operand *operand = gd_operand_at(decoder, index);
    const gd_register *found;

    *negated = operand->flags & GD_OPERAND_NOT;
    if (operand->kind == GD_OPERAND_SPECIAL) {
        uint32_t length;
        const char *text = gd_ptx_name_text(decoder->module, operand->index, &length);
        *slot = GD_SPECIAL_EXPLICIT_CLUSTER * GD_LANE_BYTES | GD_AREA_SPECIAL;
        return (length == 20 && !memcmp(text, "%is_explicit_cluster", 20)) ||
               gd_decode_refuse(decoder, "special register %.*s as a predicate", (int)length, text);
    }
    if (operand->kind == GD_OPERAND_INTEGER || operand->kind == GD_OPERAND_EXPRESSION) {
        uint64_t value;
        return gd_known(decoder, index, &value) &&
               gd_constant(decoder, 4, value ? UINT32_MAX : 0, slot);
    }
    if (operand->kind != GD_OPERAND_REGISTER)
        return gd_decode_refuse_form(decoder);
    if (!find_register(decoder, operand, &found))
        return false;
    if (found->bytes)
        return gd_decode_refuse(decoder, "a value where a predicate is expected");
    *slot = found->offset;
    return true;
}

bool gd_predicate_target(gd_decoder *decoder, uint32_t index, gd_slot *slot)
{
    const gd_ptx_operand *operand = gd_operand_at(decoder, index);
    bool negated;

    if (operand->kind == GD_OPERAND_SINK) {
        *slot = GD_AREA_SINK;
        return true;
    }
    return operand->kind == GD_OPERAND_REGISTER
               ? gd_predicate_source(decoder, index, slot, &negated)
               : gd_decode_refuse_form(decoder);
}

/* ---- memory ---- */

gd_space gd_code_space(gd_ptx_space space)
{
    switch (space) {
    case GD_SPACE_GLOBAL:
        return GD_AT_GLOBAL;
    case GD_SPACE_CONST:
        return GD_AT_CONSTANT;
    case GD_SPACE_SHARED:
        return GD_AT_SHARED;
    case GD_SPACE_LOCAL:
        return GD_AT_LOCAL;
    case GD_SPACE_PARAM:
        return GD_AT_PARAMETER;
    default:
        return GD_AT_GENERIC;
    }
}

/* [register+offset] */
static bool register_address(gd_decoder *decoder, const gd_ptx_operand *operand, gd_code *into)
{
    gd_ptx_operand plain = *operand;
    uint32_t bytes = 0;

    plain.flags = (uint8_t)(plain.flags & ~GD_OPERAND_OFFSET);
    if (!register_slot(decoder, &plain, &bytes, &into->address))
        return false;
    if (bytes != 4 && bytes != 8)
        return gd_decode_refuse(decoder, "an address in a register of %u bits", bytes * 8);
    into->kind = bytes == 8 ? GD_ADDRESS_WIDE : GD_ADDRESS_NARROW;
    into->value = operand->value;
    return true;
}

/* [variable+offset]; in the generic space, shared and local variables stand for their generic
 * addresses. */
static bool variable_address(gd_decoder *decoder, const gd_ptx_operand *operand, gd_code *into)
{
    place_kind kind;

    if (operand->symbol == GD_PTX_NONE)
        return gd_decode_refuse(decoder, "an address that is not declared");
    const gd_ptx_symbol *symbol = &decoder->module->symbols[operand->symbol];
    if ((symbol->kind != GD_SYMBOL_VARIABLE && symbol->kind != GD_SYMBOL_PARAMETER) ||
        operand->component)
        return gd_decode_refuse_form(decoder);
    if (!variable_place(decoder, operand->symbol, &kind, &into->value) ||
        !gd_constant(decoder, 8, 0, &into->address))
        return false;
    if (symbol->space == GD_SPACE_SHARED)
        into->address = GD_SPECIAL_SHARED_BASE * GD_LANE_BYTES | GD_AREA_SPECIAL;
    into->value += operand->value + gd_variable_member(decoder, operand);
    into->kind = GD_ADDRESS_WIDE;
    if (kind == PLACE_FRAME) {
        into->kind = GD_ADDRESS_FRAME;
        into->space = GD_AT_LOCAL;
    } else if (into->space == GD_AT_GENERIC) {
        into->space = symbol->kind == GD_SYMBOL_PARAMETER
                          ? GD_AT_PARAMETER
                          : (uint8_t)gd_code_space((gd_ptx_space)symbol->space);
    }
    return true;
}

bool gd_memory_address(gd_decoder *decoder, uint32_t index, gd_ptx_space space, gd_code *into)
{
    const gd_ptx_operand *operand = gd_operand_at(decoder, index);

    into->space = (uint8_t)gd_code_space(space);
    into->kind = GD_ADDRESS_WIDE;
    if (operand->kind == GD_OPERAND_REGISTER)
        return register_address(decoder, operand, into);
    if (operand->kind == GD_OPERAND_SYMBOL)
        return variable_address(decoder, operand, into);
    into->value = 0;
    return gd_known(decoder, index, &into->value) && gd_constant(decoder, 8, 0, &into->address);
}

bool gd_memory_operand(gd_decoder *decoder, uint32_t index, gd_ptx_space space, gd_code *into)
{
    const gd_ptx_operand *operand = gd_operand_at(decoder, index);

    if (operand->kind != GD_OPERAND_MEMORY ||
        gd_operand_at(decoder, index + 1)->end != operand->end)
        return gd_decode_refuse_form(decoder);
    return gd_memory_address(decoder, index + 1, space, into);
}

/* Of a register: the elements that its declaration says, where all of them are meant. */
static uint32_t vector_of(const gd_decoder *decoder, const gd_ptx_operand *operand)
{
    return operand->kind == GD_OPERAND_REGISTER && !operand->component
               ? decoder->module->symbols[operand->symbol].vector
               : 1;
}

bool gd_is_vector(const gd_decoder *decoder, uint32_t index)
{
    const gd_ptx_operand *operand = gd_operand_at(decoder, index);

    return operand->kind == GD_OPERAND_VECTOR || vector_of(decoder, operand) > 1;
}

/* A component of a register operand; GD_PTX_NONE when there are too many of them. */
static uint32_t make_part(gd_decoder *decoder, uint32_t operand, uint32_t component)
{
    if (decoder->part_count == GD_MOST_PARTS)
        return GD_PTX_NONE;
    gd_ptx_operand *part = &decoder->parts[decoder->part_count];
    *part = *gd_operand_at(decoder, operand);
    part->component = (uint8_t)component;
    return decoder->module->operand_count + decoder->part_count++;
}

uint32_t gd_elements(gd_decoder *decoder, uint32_t index, uint32_t *elements, uint32_t capacity)
{
    const gd_ptx_operand *operand = gd_operand_at(decoder, index);
    uint32_t count = 0;

    if (!gd_is_vector(decoder, index)) {
        elements[0] = index;
        return 1;
    }
    if (operand->kind == GD_OPERAND_REGISTER) {
        uint32_t parts = operand->flags ? 0 : vector_of(decoder, operand);
        for (; count < parts && count < capacity; count++) {
            elements[count] = make_part(decoder, index, count + 1);
            if (elements[count] == GD_PTX_NONE)
                return 0;
        }
        return count == parts ? count : 0;
    }
    for (uint32_t child = index + 1; child < operand->end;
         child = gd_operand_at(decoder, child)->end) {
        if (count == capacity)
            return 0;
        elements[count++] = child;
    }
    return count;
}

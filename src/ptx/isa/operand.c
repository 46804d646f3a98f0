/* Operands against the roles and types of a form. The rules are those that ptxas keeps, which are
 * wider than the ISA's in places: an integer register serves .f16x2, a function's name most
 * sources. */
#include <string.h>

#include "ptx/isa/fault.h"
#include "ptx/isa/special.h"
#include "ptx/isa/video.h"
#include "ptx/text/constant.h"
#include "ptx/text/word.h"

enum { COORDINATE_BYTES = 4, CAPABILITY_GENERIC = 20, CAPABILITY_SUM = 90 };

enum { SIGNS = GD_OPERAND_NOT | GD_OPERAND_MINUS };

/* ---- what an operand is ---- */

/* Elements of a vector: for (one = vector + 1; one < next(fit, vector); one = next(fit, one)). */
static const gd_ptx_operand *next(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    return &fit->module->operands[operand->end];
}

static uint32_t count_elements(const gd_fitting *fit, const gd_ptx_operand *vector)
{
    uint32_t count = 0;

    for (const gd_ptx_operand *one = vector + 1; one < next(fit, vector); one = next(fit, one))
        count++;
    return count;
}

static const gd_ptx_symbol *symbol_of(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    return &fit->module->symbols[operand->symbol];
}

static bool is_declared_as(const gd_fitting *fit, const gd_ptx_operand *operand, uint8_t kind)
{
    return operand->kind == GD_OPERAND_SYMBOL && operand->symbol != GD_PTX_NONE &&
           symbol_of(fit, operand)->kind == kind;
}

static bool is_float(const gd_ptx_operand *operand)
{
    return operand->kind == GD_OPERAND_SINGLE || operand->kind == GD_OPERAND_DOUBLE;
}

static bool is_constant(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    uint32_t length;

    if (operand->kind == GD_OPERAND_SYMBOL && operand->symbol == GD_PTX_NONE) {
        const char *name = gd_ptx_token_text(fit->module, operand->token, &length);
        return length == 7 && memcmp(name, "WARP_SZ", 7) == 0;
    }
    return operand->kind == GD_OPERAND_INTEGER || operand->kind == GD_OPERAND_EXPRESSION ||
           is_float(operand);
}

/* Constants have no size, and are integers or fractions. */
static bool is_fraction(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    return is_float(operand) || (operand->kind == GD_OPERAND_EXPRESSION &&
                                 gd_constant_classify(fit->module, operand->token,
                                                      operand->token_end) == GD_CONSTANT_FRACTION);
}

/* What a name with %, behind its sign, is; NULL: no special register. */
static const gd_special_register *special_of(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    uint32_t length;
    const char *name =
        gd_ptx_token_text(fit->module, operand->token + (operand->flags & SIGNS ? 1 : 0), &length);

    return gd_special_find(name, length);
}

/* A name that nothing declares is told of by another finding. */
static bool is_undeclared(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    if (operand->kind == GD_OPERAND_SPECIAL)
        return !special_of(fit, operand);
    return operand->kind == GD_OPERAND_SYMBOL && operand->symbol == GD_PTX_NONE &&
           !is_constant(fit, operand);
}

/* A register of several elements without .x to .w. */
static bool is_whole_vector(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    return operand->kind == GD_OPERAND_REGISTER && !operand->component &&
           symbol_of(fit, operand)->vector > 1;
}

static bool is_several(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    return operand->kind == GD_OPERAND_VECTOR || is_whole_vector(fit, operand);
}

/* A register of one element, or one element of several: no register has a selector but those of
 * video instructions. */
static bool is_scalar_register(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    return symbol_of(fit, operand)->vector > 1 ? operand->component >= 1 && operand->component <= 4
                                               : !operand->component;
}

/* table[2], an address without brackets around it. */
static bool is_element(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    const gd_token *tokens = fit->module->tokens.list;

    return operand->kind == GD_OPERAND_EXPRESSION &&
           gd_token_kind(tokens[operand->token]) == GD_TOKEN_NAME &&
           gd_token_kind(tokens[operand->token + 1]) == '[' &&
           gd_token_kind(tokens[operand->token_end - 1]) == ']';
}

/* Whether a special register has the part that is named, or is one number. */
static bool has_part(const gd_special_register *special, const gd_ptx_operand *operand)
{
    return (special->parts > 1) == (operand->component != 0) &&
           operand->component <= special->parts;
}

/* The type that ptxas sees in an element: special registers are of bits. */
static uint8_t type_of(const gd_fitting *fit, const gd_ptx_operand *element)
{
    if (element->kind == GD_OPERAND_REGISTER)
        return symbol_of(fit, element)->type;
    const gd_special_register *special =
        element->kind == GD_OPERAND_SPECIAL ? special_of(fit, element) : NULL;
    return !special                        ? GD_TYPE_NONE
           : special->type == GD_TYPE_PRED ? GD_TYPE_PRED
           : special->type == GD_TYPE_U64  ? GD_TYPE_B64
                                           : GD_TYPE_B32;
}

static uint8_t bytes_of(const gd_fitting *fit, const gd_ptx_operand *element)
{
    return gd_ptx_types[type_of(fit, element)].bytes;
}

static gd_value_class class_of(const gd_fitting *fit, const gd_ptx_operand *element)
{
    return gd_value_classes[type_of(fit, element)];
}

static bool is_space(const gd_modifier *space, const char *name)
{
    return space->length == strlen(name) && memcmp(space->text, name, space->length) == 0;
}

/* tcgen05 reads no special register where others do, but for the address of an mbarrier. */
static bool is_tensor_core(const gd_fitting *fit)
{
    return fit->instruction->op != GD_OP_TCGEN05_COMMIT &&
           strncmp(gd_ops[fit->instruction->op].name, "tcgen05", 7) == 0;
}

/* ---- one value ---- */

static bool fits_register(const gd_fitting *fit, const gd_ptx_operand *operand,
                          const gd_form_role *role)
{
    const uint8_t type = symbol_of(fit, operand)->type;
    const bool serves = gd_role_serves(role, type), destination = gd_role_is_destination(role);

    if (!is_scalar_register(fit, operand))
        return false;
    if (operand->flags & GD_OPERAND_OFFSET)
        return !destination && !operand->component && !role->vector && !(operand->flags & SIGNS) &&
               (serves ||
                (type != GD_TYPE_PRED && !role->exact &&
                 (role->type.class == GD_CLASS_INTEGER || role->type.class == GD_CLASS_BITS)));
    if (operand->flags & SIGNS && (role->type.class != GD_CLASS_PREDICATE || destination ||
                                   operand->flags & GD_OPERAND_MINUS))
        return false;
    return serves;
}

/* Special registers of four parts have one named, others none; those of 64 bits are moved as such,
 * and others are not. %tid, %ntid, %ctaid and %nctaid were 16 bits wide once (PTX ISA 10). */
static bool fits_special(const gd_fitting *fit, const gd_ptx_operand *operand,
                         const gd_form_role *role)
{
    const gd_special_register *special = special_of(fit, operand);
    const bool vector = special->parts > 1, wide = special->type == GD_TYPE_U64;
    const bool grid = strcmp(special->name, "%gridid") == 0, moved = role->kind == 'z';
    const uint8_t bytes = role->type.bytes;

    if (operand->flags & ~GD_OPERAND_OFFSET || (vector && operand->flags))
        return false;
    if (special->type == GD_TYPE_PRED || role->type.class == GD_CLASS_PREDICATE)
        return special->type == GD_TYPE_PRED && role->type.class == GD_CLASS_PREDICATE && moved &&
               !operand->component;
    if (vector && !operand->component)
        return fit->match->vector == 4 || (moved && bytes == 16);
    if (!has_part(special, operand))
        return false;
    if (!moved)
        return grid || wide || bytes < 8;
    return bytes == 2    ? grid || (vector && strlen(special->name) <= strlen("%nctaid"))
           : bytes == 16 ? false
                         : grid || wide == (bytes == 8);
}

/* Whether the variable that a symbol is has an address of the role's size. */
static bool has_address(const gd_fitting *fit, const gd_ptx_operand *operand,
                        const gd_form_role *role)
{
    const gd_ptx_symbol *symbol = symbol_of(fit, operand);

    if (symbol->kind != GD_SYMBOL_VARIABLE)
        return true;
    if (symbol->space == GD_SPACE_PARAM)
        return gd_fault_of(fit, operand, "is a parameter of calls, which has no address");
    if (role->kind != 'z')
        return true;
    if (gd_value_classes[symbol->type] == GD_CLASS_OPAQUE && role->type.bytes != 8)
        return gd_fault_of(fit, operand, "is given as .u64");
    return role->type.bytes != 4 || fit->module->address_bits != 64 ||
           symbol->space != GD_SPACE_GLOBAL || operand->flags & GD_OPERAND_OFFSET ||
           gd_fault_of(fit, operand, "is an address of 64 bits; take it as .u64");
}

static bool lies_in(const gd_fitting *fit, const gd_ptx_operand *operand, bool space)
{
    return space || gd_fault_of(fit, operand, "does not lie in the instruction's state space");
}

/* Whether a variable lies in the state space that the instruction names, or else in .shared. */
static bool is_of_space(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    const gd_modifier *space = &fit->match->spaces[0];
    const gd_ptx_symbol *symbol = symbol_of(fit, operand);

    return symbol->kind != GD_SYMBOL_FUNCTION &&
           symbol->space ==
               (space->length ? gd_space_of_modifier(space->text, space->length) : GD_SPACE_SHARED);
}

/* The name of a variable or function for a source. */
static bool fits_symbol(const gd_fitting *fit, const gd_ptx_operand *operand,
                        const gd_form_role *role)
{
    if (role->kind == 'x' && !lies_in(fit, operand, is_of_space(fit, operand)))
        return false;
    if (is_declared_as(fit, operand, GD_SYMBOL_FUNCTION))
        return !operand->flags && !role->exact && role->type.type != GD_TYPE_BF16 &&
               role->type.type != GD_TYPE_BF16X2;
    if (role->type.class == GD_CLASS_FLOAT || role->type.class == GD_CLASS_PREDICATE ||
        is_declared_as(fit, operand, GD_SYMBOL_LABEL) || operand->flags & SIGNS ||
        !has_address(fit, operand, role))
        return false;
    return role->kind == 'x' || role->kind == 'z' ||
           (operand->flags & GD_OPERAND_OFFSET && !role->vector);
}

/* Whether a constant is above 0 and at most 1. */
static bool is_part(const gd_ptx_operand *operand)
{
    float single;
    double value;

    memcpy(&value, &operand->value, sizeof value);
    if (operand->kind == GD_OPERAND_SINGLE) {
        memcpy(&single, &operand->value, sizeof single);
        value = (double)single;
    }
    return operand->kind == GD_OPERAND_EXPRESSION || (value > 0 && (float)value <= 1);
}

/* A scalar: a register, or where the role has them, a constant or a symbol. */
static bool fits_scalar(const gd_fitting *fit, const gd_ptx_operand *operand,
                        const gd_form_role *role)
{
    if (is_undeclared(fit, operand))
        return true;
    if (operand->kind == GD_OPERAND_REGISTER)
        return fits_register(fit, operand, role);
    if (operand->kind == GD_OPERAND_SINK)
        return role->sink && !operand->flags;
    if (gd_role_is_destination(role) || role->kind == 'r')
        return false;
    if (is_element(fit, operand))
        return role->kind == 'x' || role->kind == 'z';
    if (is_constant(fit, operand))
        return gd_role_takes_constant(role, fit->module, operand) &&
               (role->kind != 'f' || is_part(operand) ||
                gd_fault_of(fit, operand, "is not above 0, or is above 1"));
    if (operand->kind == GD_OPERAND_SPECIAL)
        return (role->kind == 'C' || role->kind == 'z' || operand->flags & GD_OPERAND_OFFSET) &&
               role->type.class != GD_CLASS_FLOAT && fits_special(fit, operand, role);
    return operand->kind == GD_OPERAND_SYMBOL && fits_symbol(fit, operand, role);
}

/* ---- elements of vectors ---- */

/* A special register as an element: one of parts names one, and no constant stands beside it. */
static bool fits_element(const gd_fitting *fit, const gd_ptx_operand *vector,
                         const gd_ptx_operand *element)
{
    const gd_special_register *special = special_of(fit, element);

    if (!special)
        return true;
    if (is_tensor_core(fit) || fit->instruction->op == GD_OP_WMMA_LOAD ||
        fit->instruction->op == GD_OP_WMMA_STORE || element->flags || !has_part(special, element))
        return gd_fault_of(fit, element, "has no such part of a special register");
    for (const gd_ptx_operand *one = vector + 1; one < next(fit, vector); one = next(fit, one)) {
        if (is_constant(fit, one) && (special->parts > 1 || special->type == GD_TYPE_PRED))
            return gd_fault_of(fit, one, "has a constant beside a special register");
    }
    return true;
}

/* Whether elements of two types go together: those of one size, and of one type, or of integers, or
 * of bits and any. */
static bool types_agree(uint8_t a, uint8_t b)
{
    const uint8_t class = gd_value_classes[a], other = gd_value_classes[b];

    return gd_ptx_types[a].bytes == gd_ptx_types[b].bytes &&
           (a == b || class == GD_CLASS_BITS || other == GD_CLASS_BITS ||
            (class == GD_CLASS_INTEGER && other == GD_CLASS_INTEGER));
}

static bool goes_with_constant(uint8_t type, bool fraction)
{
    return gd_value_classes[type] == GD_CLASS_FLOAT     ? fraction && type != GD_TYPE_F16X2
           : gd_value_classes[type] == GD_CLASS_INTEGER ? !fraction
                                                        : true;
}

/* The registers among a vector's elements have one size and type; those of bits go with any. A
 * vector of nothing but '_' has none. */
static bool elements_agree(const gd_fitting *fit, const gd_ptx_operand *vector)
{
    uint8_t type = GD_TYPE_NONE;
    bool sinks = true;

    for (const gd_ptx_operand *one = vector + 1; one < next(fit, vector); one = next(fit, one)) {
        const uint8_t other = type_of(fit, one);
        sinks = sinks && one->kind == GD_OPERAND_SINK;
        if (other == GD_TYPE_NONE)
            continue;
        if (type != GD_TYPE_NONE && !types_agree(type, other))
            return gd_fault_of(fit, one, "mixes .%s and .%s registers", gd_ptx_types[type].name,
                               gd_ptx_types[other].name);
        if (type == GD_TYPE_NONE || gd_value_classes[type] == GD_CLASS_BITS)
            type = other;
    }
    for (const gd_ptx_operand *one = vector + 1; one < next(fit, vector) && type != GD_TYPE_NONE;
         one = next(fit, one)) {
        const bool fraction = is_fraction(fit, one);
        if (is_constant(fit, one) && !goes_with_constant(type, fraction))
            return gd_fault_of(fit, one, "has %s beside .%s registers",
                               fraction ? "a fraction" : "an integer", gd_ptx_types[type].name);
    }
    return !sinks || gd_fault_of(fit, vector, "has no element but '_'");
}

/* Whether an element of a vector is a register of bits. */
static bool has_bits(const gd_fitting *fit, const gd_ptx_operand *vector)
{
    bool bits = false;

    for (const gd_ptx_operand *one = vector + 1; one < next(fit, vector); one = next(fit, one))
        bits |= class_of(fit, one) == GD_CLASS_BITS;
    return bits;
}

/* Whether constants stand beside registers of another type: 0f and 0d have types, and other
 * constants none that a register has. */
static bool is_mixed(const gd_fitting *fit, const gd_ptx_operand *vector)
{
    uint8_t type = GD_TYPE_NONE;
    bool single = false, other = false, twice = false;

    for (const gd_ptx_operand *one = vector + 1; one < next(fit, vector); one = next(fit, one)) {
        if (one->kind == GD_OPERAND_REGISTER)
            type = type_of(fit, one);
        single |= one->kind == GD_OPERAND_SINGLE;
        twice |= one->kind == GD_OPERAND_DOUBLE;
        other |= is_constant(fit, one) && !is_float(one);
    }
    return type != GD_TYPE_NONE &&
           (other || (single && type != GD_TYPE_F32) || (twice && type != GD_TYPE_F64));
}

/* Whether mov reads '_' as an element. */
static bool takes_sink(const gd_form_role *role)
{
    return role->kind == 'z' && role->type.class == GD_CLASS_BITS && role->type.bytes == 4;
}

/* mov packs and unpacks (PTX ISA 9.7.9.10): the elements make up the whole. */
static bool fits_pack(const gd_fitting *fit, const gd_ptx_operand *vector, const gd_form_role *role)
{
    const uint32_t count = count_elements(fit, vector);

    if (count == 0 || role->type.class != GD_CLASS_BITS)
        return false;
    if (role->type.bytes % count)
        return gd_fault_of(fit, vector, "has %u elements, which make up no .%s", (unsigned)count,
                           role->type.name);
    for (const gd_ptx_operand *one = vector + 1; one < next(fit, vector); one = next(fit, one)) {
        const bool fills = bytes_of(fit, one) == role->type.bytes / count;
        if (is_undeclared(fit, one) || (one->kind == GD_OPERAND_SINK && !one->flags &&
                                        (role->kind == 'y' || takes_sink(role))))
            continue;
        if (one->kind == GD_OPERAND_SPECIAL) {
            if (!fits_element(fit, vector, one))
                return false;
            if (type_of(fit, one) != GD_TYPE_PRED && !fills)
                return gd_fault_of(fit, one, "has an element of another size");
        } else if (one->kind == GD_OPERAND_REGISTER
                       ? one->flags || !is_scalar_register(fit, one) || !fills
                       : role->kind == 'y' || !is_constant(fit, one)) {
            return false;
        }
    }
    return elements_agree(fit, vector);
}

/* A register as a vector. */
static bool fits_whole(const gd_fitting *fit, const gd_ptx_operand *operand,
                       const gd_form_role *role)
{
    const gd_ptx_symbol *symbol = symbol_of(fit, operand);
    const uint8_t flags = gd_role_is_destination(role) ? 0 : GD_OPERAND_OFFSET;

    if (fit->instruction->op == GD_OP_SUST && symbol->vector == 1)
        return true; /* ptxas takes some, by rules of its own */
    if (role->alone && symbol->vector == 1)
        return fits_scalar(fit, operand, role);
    return symbol->vector == role->vector && role->vector > 1 && !operand->component &&
           !(operand->flags & ~flags) && !role->braces && gd_role_serves(role, symbol->type);
}

static bool fits_vector(const gd_fitting *fit, const gd_ptx_operand *operand, gd_form_role role)
{
    const bool destination = gd_role_is_destination(&role);
    gd_form_role any = role;

    if (operand->kind == GD_OPERAND_REGISTER)
        return fits_whole(fit, operand, &role);
    if (operand->kind == GD_OPERAND_SINK)
        return role.sink;
    if (role.alone && is_constant(fit, operand))
        return fits_scalar(fit, operand, &role);
    if (operand->kind != GD_OPERAND_VECTOR)
        return is_undeclared(fit, operand) ||
               (fit->instruction->op == GD_OP_SUST && is_constant(fit, operand));
    role.sink = (destination && !role.whole) || takes_sink(&role);
    const bool mixed = !destination && is_mixed(fit, operand);
    if (mixed || has_bits(fit, operand)) { /* elements are held against one another only */
        any.type.class = GD_CLASS_BITS;
        any.exact = any.bits = false;
    }
    for (const gd_ptx_operand *one = operand + 1; one < next(fit, operand); one = next(fit, one)) {
        if (one->kind == GD_OPERAND_SPECIAL) {
            const uint8_t bytes = bytes_of(fit, one);
            if (!fits_element(fit, operand, one))
                return false;
            if (bytes &&
                (gd_role_is_wider(&role) ? bytes < role.type.bytes : bytes != role.type.bytes))
                return gd_fault_expected(fit, one, &role);
            continue;
        }
        if (!(mixed && is_constant(fit, one) && !(is_tensor_core(fit) && is_fraction(fit, one))) &&
            !fits_scalar(fit, one, one->kind == GD_OPERAND_REGISTER ? &any : &role))
            return gd_fault_expected(fit, one, &role);
        role.high = role.high_rest;
        role.multiple = 0;
    }
    const uint32_t count = count_elements(fit, operand);
    if (count == role.vector)
        return elements_agree(fit, operand);
    return gd_fault_of(fit, operand, "has %u elements; %u are expected", (unsigned)count,
                       (unsigned)role.vector);
}

/* mov.b64 of a .v2 .u32 register. */
static bool is_packed_register(const gd_fitting *fit, const gd_ptx_operand *operand,
                               const gd_form_role *role)
{
    const uint8_t flags = role->kind == 'z' ? GD_OPERAND_OFFSET : 0;

    return is_whole_vector(fit, operand) && !(operand->flags & ~flags) &&
           role->type.class == GD_CLASS_BITS &&
           bytes_of(fit, operand) * symbol_of(fit, operand)->vector == role->type.bytes;
}

/* ---- addresses ---- */

/* Parameters are read only, results are written only. */
static bool is_wrong_way(const gd_fitting *fit, uint32_t symbol)
{
    const gd_ptx_function *function = &fit->module->functions[fit->function];
    const bool result = symbol >= function->result && symbol < function->result_end;

    return fit->instruction->op == (result ? GD_OP_LD : GD_OP_ST);
}

/* Whether a query asks about a symbol: samplers have modes, as textures do without them. */
static bool is_queried(const gd_fitting *fit, const gd_ptx_symbol *symbol, const gd_form_role *role)
{
    if (fit->instruction->op == GD_OP_SUQ)
        return symbol->type == GD_TYPE_SURFREF;
    if (role->single && (role->alone || fit->module->independent))
        return symbol->type == GD_TYPE_SAMPLERREF;
    return symbol->type == GD_TYPE_TEXREF || symbol->space == GD_SPACE_TEX;
}

static bool is_query(const gd_fitting *fit)
{
    return fit->instruction->op == GD_OP_TXQ || fit->instruction->op == GD_OP_SUQ;
}

/* Whether a variable lies in the state space that the instruction names; without one, the address
 * is generic. */
static bool is_in_space(const gd_fitting *fit, const gd_ptx_operand *address,
                        const gd_form_role *role)
{
    const gd_modifier *space = &fit->match->spaces[fit->addresses > 1];
    const gd_ptx_symbol *symbol = symbol_of(fit, address);
    const bool opaque = gd_value_classes[symbol->type] == GD_CLASS_OPAQUE;

    if (symbol->kind == GD_SYMBOL_FUNCTION || symbol->kind == GD_SYMBOL_LABEL ||
        (opaque && fit->instruction->op == GD_OP_LD) || role->kind == 'A')
        return false;
    if (is_query(fit))
        return is_queried(fit, symbol, role);
    if (fit->addresses > 2) /* the mbarrier of a copy */
        return symbol->space == GD_SPACE_SHARED;
    if (symbol->space == GD_SPACE_TEX || symbol->space == GD_SPACE_REG ||
        symbol->space == GD_SPACE_SREG || symbol->space == GD_SPACE_NONE || !space->length) {
        if (gd_op_is_member((gd_op)fit->instruction->op, GD_OP_MBARRIER))
            return symbol->space == GD_SPACE_SHARED;
        return fit->addresses > 1 ||
               (symbol->space != GD_SPACE_PARAM && symbol->space != GD_SPACE_CONST &&
                (!opaque || symbol->space != GD_SPACE_GLOBAL));
    }
    return !(symbol->kind == GD_SYMBOL_PARAMETER && is_wrong_way(fit, address->symbol)) &&
           gd_space_of_modifier(space->text, space->length) == symbol->space;
}

/* In brackets stands a register of one element: parts of others have no place there. */
static bool is_lone_register(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    return symbol_of(fit, operand)->vector == 1 && !operand->component;
}

/* A register whose value is an address. `whole`: the instruction takes a generic or global address
 * of .address_size bits only. */
static bool fits_address_register(const gd_fitting *fit, const gd_ptx_operand *address,
                                  const gd_form_role *role, bool whole)
{
    const uint8_t type = type_of(fit, address), class = gd_value_classes[type];
    const uint8_t bytes = gd_ptx_types[type].bytes;
    const char *name = gd_ptx_types[type].name;

    if (role->kind == 'A' && (bytes != 4 || (role->bits && class != GD_CLASS_BITS)))
        return gd_fault_at(fit, address->token, "an address of tensor memory is held by %s",
                           role->bits ? "a .b32 register here" : "32 bits");
    if (bytes == 4 && fit->module->address_bits == 64 && whole) {
        if (fit->fault)
            fit->fault->lacks = GD_LACKS_WIDTH;
        return gd_fault_at(fit, address->token,
                           "a .%s register holds 32 bits of an address that has 64 here", name);
    }
    if (is_query(fit) && bytes != 8)
        return gd_fault_at(fit, address->token, "a handle of a texture or surface has 64 bits");
    return ((class == GD_CLASS_INTEGER || class == GD_CLASS_BITS) && bytes <= 8) ||
           (role->kind == 'A' && type == GD_TYPE_F16X2) ||
           /* ptxas does not look */
           (fit->instruction->op == GD_OP_FENCE_PROXY && type == GD_TYPE_F64) ||
           gd_fault_at(fit, address->token,
                       "a .%s register holds no address; one of integers or bits does", name);
}

static bool fits_address(const gd_fitting *fit, const gd_ptx_operand *operand,
                         const gd_form_role *role)
{
    const gd_ptx_operand *address = operand + 1;
    const gd_modifier *space = &fit->match->spaces[0];
    const bool whole =
        role->kind == 'a' && role->exact && (!space->length || is_space(space, "global"));

    if (operand->kind != GD_OPERAND_MEMORY)
        return is_element(fit, operand);
    if (address->kind == GD_OPERAND_REGISTER && !is_lone_register(fit, address))
        return gd_fault_no_address(fit, address);
    if (address->kind == GD_OPERAND_REGISTER && whole && !space->length &&
        fit->module->capability && fit->module->capability < CAPABILITY_GENERIC)
        return gd_fault_at(fit, fit->instruction->opcode,
                           "%s has no generic addresses; name the state space",
                           fit->module->target);
    if (address->flags & SIGNS)
        return gd_fault_of(fit, address, "has a sign in front of its address");
    if (is_query(fit) && address->flags & GD_OPERAND_OFFSET)
        return gd_fault_of(fit, address, "is a texture or surface plus a constant");
    if (operand->end != address->end)
        return gd_fault_of(fit, next(fit, address), "is an address in brackets with a comma");
    if (address->kind == GD_OPERAND_REGISTER)
        return fits_address_register(fit, address, role, whole);
    if (address->kind == GD_OPERAND_SYMBOL && address->symbol != GD_PTX_NONE)
        return lies_in(fit, address, is_in_space(fit, address, role));
    if (is_undeclared(fit, address))
        return true;
    if (address->kind == GD_OPERAND_SPECIAL) {
        const gd_special_register *special = special_of(fit, address);
        const bool loads = fit->instruction->op == GD_OP_LD || fit->instruction->op == GD_OP_LDU;
        return (special->parts == 1 && special->type != GD_TYPE_PRED && !address->component &&
                (loads || !role->exact) && !is_tensor_core(fit)) ||
               gd_fault_of(fit, address, "is a special register as an address");
    }
    return (is_space(space, "local") && !is_float(address)) ||
           gd_fault_of(fit, address, "is neither a register nor a variable, and is not in .local");
}

/* ---- textures and surfaces ---- */

static bool is_texture(const gd_fitting *fit)
{
    return fit->instruction->op == GD_OP_TEX || fit->instruction->op == GD_OP_TLD4;
}

/* What a texture or surface is given by: a handle, or a name of its kind. */
static bool fits_handle(const gd_fitting *fit, const gd_ptx_operand *handle, gd_ptx_type type)
{
    if (is_undeclared(fit, handle))
        return true;
    const gd_ptx_symbol *symbol = handle->symbol == GD_PTX_NONE ? NULL : symbol_of(fit, handle);
    const gd_value_class class = symbol ? gd_value_classes[symbol->type] : GD_CLASS_OPAQUE;
    const bool number = class == GD_CLASS_INTEGER || class == GD_CLASS_BITS;
    if (symbol && !handle->flags && !handle->component &&
        (symbol->type == type || symbol->space == GD_SPACE_TEX ||
         (handle->kind == GD_OPERAND_REGISTER && number && symbol->vector == 1 &&
          gd_ptx_types[symbol->type].bytes == 8)))
        return true;
    return gd_fault_of(fit, handle, "is neither a .%s nor in a register of 64 bits",
                       gd_ptx_types[type].name);
}

/* Coordinates have 32 bits each. Those that are integers, and the index of an array of textures,
 * are held by no register of floats; `pairs`: but by one of .f16x2. */
static bool fits_coordinate(const gd_fitting *fit, const gd_ptx_operand *one, bool integer,
                            bool pairs)
{
    const uint8_t type = type_of(fit, one);

    if (is_undeclared(fit, one))
        return true;
    if (one->kind == GD_OPERAND_SPECIAL)
        return gd_ptx_types[type].bytes == COORDINATE_BYTES;
    if (is_constant(fit, one))
        return one->kind == GD_OPERAND_EXPRESSION || integer != is_float(one) ||
               gd_fault_of(fit, one, "has %s among its coordinates",
                           integer ? "a fraction" : "an integer");
    if (one->kind != GD_OPERAND_REGISTER)
        return gd_fault_of(fit, one, "has a coordinate that is no register");
    if (is_whole_vector(fit, one))
        return gd_fault_of(fit, one, "has a whole vector among its coordinates");
    return (!(one->flags & SIGNS) && gd_ptx_types[type].bytes == COORDINATE_BYTES &&
            (type == GD_TYPE_F16X2 ? integer && pairs
                                   : !integer || gd_value_classes[type] != GD_CLASS_FLOAT)) ||
           gd_fault_of(fit, one, "has a .%s register among its %scoordinates",
                       gd_ptx_types[type].name, integer ? "integer " : "");
}

/* Whether coordinates are integers, by the last type that is named. */
static bool has_integers(const gd_fitting *fit)
{
    return fit->match->types[1].text[0] == 's';
}

/* Coordinates are 1, 2 or 4, and as many as the geometry has; ptxas takes any one register for
 * those of no array. */
static bool fits_coordinates(const gd_fitting *fit, const gd_ptx_operand *all)
{
    const bool texture = is_texture(fit), integers = !texture || has_integers(fit);
    const uint32_t wanted = fit->match->coordinates;
    uint32_t count = is_whole_vector(fit, all) ? symbol_of(fit, all)->vector : 0;

    if (all->kind != GD_OPERAND_VECTOR && all->kind != GD_OPERAND_REGISTER)
        return is_undeclared(fit, all);
    if (all->kind == GD_OPERAND_REGISTER && !count)
        return fits_coordinate(fit, all, integers, texture);
    const bool bits = all->kind == GD_OPERAND_VECTOR && has_bits(fit, all);
    for (const gd_ptx_operand *one = all + 1; one < next(fit, all); one = next(fit, one), count++) {
        const bool layer = fit->match->array && !count;
        const uint8_t held = type_of(fit, one);
        if (one->kind == GD_OPERAND_SPECIAL && !fits_element(fit, all, one))
            return false;
        if (bits && !layer && (held == GD_TYPE_F16X2 || held == GD_TYPE_PRED))
            continue; /* ptxas holds them against the others only */
        if (!fits_coordinate(fit, one, (integers && !bits) || layer, texture && !layer))
            return false;
    }
    if (texture && !integers && !fit->match->array && all->kind == GD_OPERAND_VECTOR &&
        !elements_agree(fit, all))
        return false;
    return (count != 3 && count <= 4 && count >= wanted) ||
           gd_fault_of(fit, all, "has %u coordinates; %s are expected", (unsigned)count,
                       wanted == 4   ? "4"
                       : wanted == 2 ? "2 or 4"
                                     : "1, 2 or 4");
}

/* A level of detail, a derivative or a depth: a register of the very type, or a constant. */
static bool fits_fraction(const gd_fitting *fit, const gd_ptx_operand *one)
{
    return fits_coordinate(fit, one, false, false) &&
           (one->kind != GD_OPERAND_REGISTER || class_of(fit, one) != GD_CLASS_INTEGER ||
            gd_fault_of(fit, one, "is a .%s register; a .f32 register is expected",
                        gd_ptx_types[type_of(fit, one)].name));
}

/* A level of detail is of the coordinates' type. */
static bool fits_level(const gd_fitting *fit, const gd_ptx_operand *level)
{
    if (level->kind == GD_OPERAND_VECTOR && count_elements(fit, level) == 1)
        level++;
    if (level->kind == GD_OPERAND_SPECIAL)
        return false;
    return has_integers(fit) ? fits_coordinate(fit, level, true, true) : fits_fraction(fit, level);
}

/* A gradient has a derivative for each coordinate but an array's index. */
static bool fits_gradient(const gd_fitting *fit, const gd_ptx_operand *gradient)
{
    uint32_t count = 0, wanted = fit->match->coordinates;

    if (is_undeclared(fit, gradient))
        return true;
    if (gradient->kind == GD_OPERAND_REGISTER)
        return symbol_of(fit, gradient)->vector > 1;
    if (gradient->kind != GD_OPERAND_VECTOR)
        return false;
    for (const gd_ptx_operand *one = gradient + 1; one < next(fit, gradient);
         one = next(fit, one), count++) {
        if (!fits_fraction(fit, one))
            return false;
    }
    if (fit->match->array)
        wanted = wanted == 2 ? 1 : 2;
    return (count != 3 && count <= 4 && (fit->match->cube || count == wanted)) ||
           gd_fault_of(fit, gradient, "has %u derivatives; %u are expected", (unsigned)count,
                       (unsigned)wanted);
}

/* Whether one value is an offset: an integer, or 32 bits that are nothing else. */
static bool is_offset(const gd_fitting *fit, const gd_ptx_operand *one, bool followed)
{
    const gd_value_class class = class_of(fit, one);

    if (is_constant(fit, one))
        return !is_fraction(fit, one);
    return one->kind == GD_OPERAND_REGISTER && !one->flags && is_scalar_register(fit, one) &&
           bytes_of(fit, one) == COORDINATE_BYTES &&
           (class == GD_CLASS_INTEGER ||
            (class == GD_CLASS_BITS && (followed || has_integers(fit))));
}

/* Offsets, which are a vector of integers, and the value that depths are compared with. */
static bool fits_beside_texture(const gd_fitting *fit, const gd_ptx_operand *operand,
                                const gd_form_role *role)
{
    const uint32_t wanted = fit->match->array || fit->match->coordinates == 1 ? 1 : 2;
    const bool several = is_several(fit, operand), solid = fit->match->dimensions == 3;
    const bool followed = operand->end < fit->instruction->operand_end;

    if (is_undeclared(fit, operand) || (role->kind == 'q' && is_offset(fit, operand, followed)))
        return true;
    if (role->kind == 'e' && several)
        return gd_fault_of(fit, operand, "is a vector; a depth to compare with is expected");
    if (role->kind == 'q' && !several && followed)
        return gd_fault_of(fit, operand, "is one value; offsets are a vector");
    if (several && fit->match->cube)
        return gd_fault_of(fit, operand, "is offsets, which a cube has none of");
    if (!several && (solid || has_integers(fit)))
        return gd_fault_of(fit, operand, "is compared with a depth, and there is none %s",
                           solid ? "in three dimensions" : "at integer coordinates");
    if (!several)
        return (is_constant(fit, operand) || operand->kind == GD_OPERAND_REGISTER) &&
               fits_fraction(fit, operand);
    if (operand->kind != GD_OPERAND_VECTOR)
        return bytes_of(fit, operand) == COORDINATE_BYTES;
    for (const gd_ptx_operand *one = operand + 1; one < next(fit, operand); one = next(fit, one)) {
        if (!fits_coordinate(fit, one, true, false))
            return false;
    }
    const uint32_t count = count_elements(fit, operand);
    return count >= wanted || gd_fault_of(fit, operand, "has %u offsets; %u are expected",
                                          (unsigned)count, (unsigned)wanted);
}

/* [map, {coordinates}], [texture, {coordinates}] or [texture, sampler, {coordinates}] */
static bool fits_tensor(const gd_fitting *fit, const gd_ptx_operand *operand,
                        const gd_form_role *role)
{
    const gd_ptx_operand *object = operand + 1, *sampler = next(fit, object), *last = object;

    if (operand->kind != GD_OPERAND_MEMORY)
        return false;
    const uint32_t count = count_elements(fit, operand);
    for (; last->end < operand->end; last = next(fit, last)) {
        if (last->kind == GD_OPERAND_REGISTER && !is_lone_register(fit, last))
            return gd_fault_no_address(fit, last);
    }
    if (role->kind == 'T')
        return (count == 2 || count == 3) &&
               fits_handle(fit, object, is_texture(fit) ? GD_TYPE_TEXREF : GD_TYPE_SURFREF) &&
               (count == 2 || fits_handle(fit, sampler, GD_TYPE_SAMPLERREF)) &&
               fits_coordinates(fit, last);
    if (object->flags || is_constant(fit, object) || object->kind == GD_OPERAND_PAIR ||
        (object->kind == GD_OPERAND_SPECIAL && !is_undeclared(fit, object)))
        return gd_fault_of(fit, object, "has no register or variable with a tensor map's address");
    return count == 2 && last->kind == GD_OPERAND_VECTOR && fits_vector(fit, last, *role);
}

/* ---- predicates, labels, signs ---- */

static bool is_integer(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    return is_constant(fit, operand) && !is_float(operand);
}

static bool fits_predicate(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    if (operand->kind == GD_OPERAND_REGISTER)
        return type_of(fit, operand) == GD_TYPE_PRED && !operand->component &&
               !(operand->flags & GD_OPERAND_MINUS);
    return is_undeclared(fit, operand) || is_integer(fit, operand);
}

/* brx.idx goes by a list of labels, bra to one. */
static bool fits_label(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    if (is_undeclared(fit, operand))
        return true;
    if (!is_declared_as(fit, operand, GD_SYMBOL_LABEL) || operand->flags)
        return false;
    const uint32_t named = symbol_of(fit, operand)->directive;
    if (fit->instruction->op != GD_OP_BRX_IDX)
        return named == GD_PTX_NONE ||
               gd_fault_of(fit, operand, "is the name of a directive, and no place in the code");
    const gd_ptx_directive *list = named == GD_PTX_NONE ? NULL : &fit->module->directives[named];
    if (!list || list->kind != GD_DIRECTIVE_BRANCHTARGETS)
        return gd_fault_of(fit, operand, "is the label of no .branchtargets");
    return list->token < fit->instruction->opcode ||
           gd_fault_of(fit, operand, "is a list that stands behind this; move it to the front");
}

static bool fits_pair(const gd_fitting *fit, const gd_ptx_operand *pair, gd_form_role role)
{
    static const gd_value_type predicate = {
        .name = "pred", .class = GD_CLASS_PREDICATE, .type = GD_TYPE_PRED};
    const gd_ptx_operand *first = pair + 1, *second = next(fit, first);
    const bool sink = role.pair == '|' && first->kind != GD_OPERAND_SINK && !role.vector;

    role.pair = 0;
    if (role.vector ? !fits_vector(fit, first, role) : !fits_scalar(fit, first, &role))
        return gd_fault_expected(fit, first, &role);
    role.sink = sink;
    role.vector = 0;
    role.type = predicate;
    return fits_scalar(fit, second, &role) || gd_fault_expected(fit, second, &role);
}

/* 1 or -1 */
static bool is_sign(const gd_fitting *fit, const gd_ptx_operand *operand)
{
    uint64_t value = operand->value;

    if (operand->kind == GD_OPERAND_EXPRESSION
            ? !gd_constant_evaluate(fit->module, operand->token, operand->token_end, &value)
            : operand->kind != GD_OPERAND_INTEGER)
        return false;
    return value + 1 == 0 || value == 1;
}

/* createpolicy.range: the first of two sizes is not above the second. */
static bool fits_sizes(const gd_fitting *fit)
{
    const gd_ptx_operand *last[2] = {NULL, NULL};

    for (uint32_t i = fit->instruction->operand; i < fit->instruction->operand_end;
         i = last[1]->end) {
        last[0] = last[1];
        last[1] = &fit->module->operands[i];
    }
    return !last[0] || last[0]->kind != GD_OPERAND_INTEGER || last[1]->kind != GD_OPERAND_INTEGER ||
           (uint32_t)last[0]->value <= (uint32_t)last[1]->value ||
           gd_fault_at(fit, last[0]->token, "operand 3 is above operand 4, of which it is a part");
}

/* ---- what ptxas does with some instructions ---- */

/* ptxas takes {%r1} for %r1: of .bf16 and .bf16x2, and of any type (mma: a scale). */
static const uint16_t of_one_bf16[] = {GD_OP_ABS, GD_OP_ADD,  GD_OP_CVT, GD_OP_FMA,
                                       GD_OP_MAX, GD_OP_MIN,  GD_OP_MUL, GD_OP_NEG,
                                       GD_OP_SET, GD_OP_SETP, GD_OP_SUB};
static const uint16_t of_one[] = {GD_OP_LD,       GD_OP_LDU,  GD_OP_MMA, GD_OP_ST,
                                  GD_OP_ST_ASYNC, GD_OP_SULD, GD_OP_SUST};

/* It writes these as several instructions, which take no sum for an operand: divisions of 64 bits,
 * and before sm_90 what synchronizes warps and CTAs. */
static const uint16_t divisions[] = {GD_OP_DIV, GD_OP_RCP, GD_OP_REM, GD_OP_SQRT};
static const uint16_t synchronizing[] = {GD_OP_BAR_WARP_SYNC,
                                         GD_OP_BARRIER,
                                         GD_OP_BARRIER_ARRIVE,
                                         GD_OP_BARRIER_CTA_ARRIVE,
                                         GD_OP_BARRIER_CTA_RED,
                                         GD_OP_BARRIER_CTA_SYNC,
                                         GD_OP_BARRIER_RED,
                                         GD_OP_BARRIER_SYNC,
                                         GD_OP_MATCH,
                                         GD_OP_REDUX,
                                         GD_OP_SHFL,
                                         GD_OP_VOTE};

#define IS_ONE_OF(fit, ops) is_one_of((fit)->instruction->op, ops, sizeof(ops) / sizeof(ops)[0])

static bool is_one_of(uint16_t op, const uint16_t *ops, size_t count)
{
    size_t i = 0;

    while (i < count && ops[i] != op)
        i++;
    return i < count;
}

static uint8_t bytes_of_type(const gd_fitting *fit)
{
    const gd_modifier *type = &fit->match->types[0];

    return gd_value_type_read(type->text, type->length).bytes;
}

static bool takes_no_sum(const gd_fitting *fit)
{
    const bool old = fit->module->capability && fit->module->capability < CAPABILITY_SUM;
    const gd_op op = (gd_op)fit->instruction->op;
    const gd_modifier sync = {"sync", 4};

    return IS_ONE_OF(fit, divisions) ? bytes_of_type(fit) == 8
                                     : old && IS_ONE_OF(fit, synchronizing) &&
                                           ((op != GD_OP_SHFL && op != GD_OP_VOTE) ||
                                            gd_form_has(fit->match->form, &sync));
}

/* A vector where one element belongs. ptxas does not count the elements. */
static bool fits_uncounted(const gd_fitting *fit, const gd_ptx_operand *vector,
                           const gd_form_role *role)
{
    const gd_op op = (gd_op)fit->instruction->op;
    const gd_ptx_operand *first = vector + 1;
    const uint32_t count = count_elements(fit, vector);

    if (count == 1 && first->kind == GD_OPERAND_SPECIAL) {
        const gd_special_register *special = special_of(fit, first);
        const uint8_t bytes = bytes_of(fit, first);
        return !special ||
               (has_part(special, first) && special->type != GD_TYPE_PRED &&
                (gd_role_is_wider(role) ? bytes >= role->type.bytes : bytes == role->type.bytes));
    }
    if (count == 1)
        return fits_scalar(fit, first, role);
    if (op == GD_OP_CVT || op == GD_OP_LD || op == GD_OP_LDU || op == GD_OP_ST ||
        (count != 2 && count != 4) || !elements_agree(fit, vector))
        return false;
    if (op == GD_OP_SULD || op == GD_OP_SUST)
        return !gd_role_is_destination(role) || !is_constant(fit, first);
    return fits_scalar(fit, first, role);
}

/* ---- operands and roles ---- */

static bool fits(const gd_fitting *fit, const gd_ptx_operand *operand, gd_form_role role)
{
    const bool bf16 = role.type.type == GD_TYPE_BF16 || role.type.type == GD_TYPE_BF16X2;

    if (operand->flags & GD_OPERAND_OFFSET && takes_no_sum(fit))
        return gd_fault_of(fit, operand, "is a sum, which this instruction does not take");
    if (role.pair && operand->kind == GD_OPERAND_PAIR)
        return fits_pair(fit, operand, role);
    if (role.pair == '&')
        return gd_fault_of(fit, operand, "has a predicate behind a '|' here");
    if (role.kind == 'B') {
        role.bits = operand->kind == GD_OPERAND_MEMORY || is_element(fit, operand);
        role.kind = role.bits ? 'A' : 's';
    }
    switch (role.kind) {
    case 'a':
    case 'A':
        return fits_address(fit, operand, &role);
    case 't':
    case 'T':
        return fits_tensor(fit, operand, &role);
    case 'Q':
    case 'U':
    case 'V':
    case 'W':
        if (is_undeclared(fit, operand) ||
            ((role.kind == 'U' || role.kind == 'V') && is_constant(fit, operand)))
            return !is_float(operand);
        return operand->kind == GD_OPERAND_REGISTER && gd_video_fits(fit, operand, &role);
    case 'q':
    case 'e':
        return fits_beside_texture(fit, operand, &role);
    case 'p':
        return fits_predicate(fit, operand) && gd_role_has(&role, fit->module, operand);
    case 'c':
        return fits_gradient(fit, operand);
    case 'o':
        return fits_level(fit, operand);
    case 'l':
        return fits_label(fit, operand);
    case 'i':
    case 'I':
        return is_undeclared(fit, operand) ||
               (is_integer(fit, operand) && gd_role_has(&role, fit->module, operand));
    case 'k':
        return is_sign(fit, operand);
    case 'n':
        return operand->kind == GD_OPERAND_SINK && !operand->flags;
    case 'y':
    case 'z':
        if (fit->match->vector > 1 && is_several(fit, operand)) {
            role.vector = fit->match->vector;
            role.loose = role.type.class == GD_CLASS_FLOAT;
            return fits_vector(fit, operand, role);
        }
        if (role.kind == 'z' && is_several(fit, operand) &&
            is_several(fit, &fit->module->operands[fit->instruction->operand]))
            return gd_fault_at(fit, operand->token,
                               "both operands are vectors; one has to be a scalar");
        if (operand->kind == GD_OPERAND_VECTOR)
            return fits_pack(fit, operand, &role);
        if (is_packed_register(fit, operand, &role))
            return true;
        break;
    default:
        break;
    }
    if (role.vector)
        return fits_vector(fit, operand, role);
    if (operand->kind == GD_OPERAND_VECTOR &&
        (IS_ONE_OF(fit, of_one) || (bf16 && IS_ONE_OF(fit, of_one_bf16))))
        return fits_uncounted(fit, operand, &role);
    return fits_scalar(fit, operand, &role);
}

/* Vectors have up to 128 bits, but in global memory since PTX ISA 8.8. */
static bool fits_bits(const gd_fitting *fit)
{
    const gd_form_match *match = fit->match;
    const gd_op op = (gd_op)fit->instruction->op;

    return (op != GD_OP_LD && op != GD_OP_ST && op != GD_OP_LDU && op != GD_OP_MOV) ||
           match->vector == 1 || match->vector * bytes_of_type(fit) <= 16 ||
           (match->need.version >= 88 &&
            (!match->spaces[0].length || match->spaces[0].text[0] == 'g')) ||
           gd_fault_at(fit, fit->instruction->opcode, "the vector has more than 128 bits");
}

bool gd_operands_fit(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                     const gd_form_match *match, gd_operand_fault *fault)
{
    gd_fitting fit = {.module = module,
                      .instruction = instruction,
                      .match = match,
                      .fault = fault,
                      .position = 1,
                      .function = module->scopes[instruction->scope].function};
    const gd_ptx_operand *operand = &module->operands[instruction->operand];
    uint32_t left = 0;

    if (fault)
        *fault = (gd_operand_fault){.token = instruction->opcode};
    for (uint32_t i = instruction->operand; i < instruction->operand_end;
         i = module->operands[i].end)
        left++;
    if (!fits_bits(&fit))
        return false;
    for (uint32_t i = 0; i < match->role_count; i++) {
        const gd_form_role *role = &match->roles[i];
        fit.addresses += role->kind == 'a' || role->kind == 't' || role->kind == 'T';
        if (role->optional && left <= role->needed)
            continue;
        if (left == 0)
            return gd_fault_at(&fit, instruction->token_end - 1, "operand %u is missing",
                               (unsigned)fit.position);
        if (!fits(&fit, operand, *role))
            return fault && fault->text[0] ? false : gd_fault_expected(&fit, operand, role);
        operand = next(&fit, operand);
        left--;
        fit.position++;
    }
    if (left)
        return gd_fault_of(&fit, operand, "is one too many");
    return (instruction->op != GD_OP_VMAD || gd_video_signs_fit(&fit)) &&
           (instruction->op != GD_OP_CREATEPOLICY || fits_sizes(&fit));
}

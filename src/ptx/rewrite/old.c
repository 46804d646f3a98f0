/* Texts for sm_1x to sm_6x and PTX ISA 1.0 to 6.3. The judge of what is refused here is ptxas
 (tests/rewrite_old.sh).
 */
#include "ptx/rewrite/old.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum { BITS = 32 };

static int32_t refuse(const gd_ptx_module *module, uint32_t token, const char *what,
                      griddep_error *error)
{
    int32_t line, column;

    gd_ptx_token_position(module, token, &line, &column);
    return gd_error_set_at(error, GRIDDEP_ERROR_UNSUPPORTED, module->name, line, column,
                           "%s: dependent launch needs PTX ISA 7.8 and sm_90, which do not take "
                           "it; compile the text anew for "
                           "them, or rewrite this by hand",
                           what);
}

/* ---- instructions ---- */

static bool has_modifier(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                         const char *const *list)
{
    for (uint32_t i = 1; i <= instruction->modifiers; i++) {
        for (const char *const *each = list; *each; each++) {
            if (gd_ptx_token_is(module, instruction->opcode + i, *each))
                return true;
        }
    }
    return false;
}

static bool has_one(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                    const char *modifier)
{
    const char *const list[] = {modifier, NULL};

    return has_modifier(module, instruction, list);
}

/* The types of a conversion, as ".f32", from the last modifiers: of the result and of the
 * source. */
static bool converts_roughly(const gd_ptx_module *module, const gd_ptx_instruction *cvt)
{
    uint32_t length;
    bool is_float[2] = {false, false};
    const bool narrows = cvt->modifiers > 1 &&
                         gd_ptx_token_is(module, cvt->opcode + cvt->modifiers - 1, ".f32") &&
                         gd_ptx_token_is(module, cvt->opcode + cvt->modifiers, ".f64");

    for (uint32_t i = 0; i < 2 && i < cvt->modifiers; i++) {
        const char *text = gd_ptx_token_text(module, cvt->opcode + cvt->modifiers - i, &length);
        is_float[i] = length > 1 && text[1] == 'f';
    }
    return is_float[0] != is_float[1] || narrows;
}

/* PTX ISA 1.x had a rounding of its own where none is named. */
static const char *lacks(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    static const char *const rounding[] = {".rn",  ".rz",  ".rm",  ".rp",     ".rni",  ".rzi",
                                           ".rmi", ".rpi", ".rna", ".approx", ".full", NULL};
    static const char *const floats[] = {".f32", ".f64", NULL};

    switch (instruction->op) {
    case GD_OP_VOTE:
    case GD_OP_SHFL:
        return has_one(module, instruction, ".sync") ? NULL : "without .sync";
    case GD_OP_DIV:
    case GD_OP_RCP:
    case GD_OP_SQRT:
    case GD_OP_MAD:
    case GD_OP_FMA:
        return !has_modifier(module, instruction, floats) ||
                       has_modifier(module, instruction, rounding)
                   ? NULL
                   : "without a rounding modifier";
    case GD_OP_SIN:
    case GD_OP_COS:
    case GD_OP_LG2:
    case GD_OP_EX2:
    case GD_OP_RSQRT:
        return has_one(module, instruction, ".approx") ? NULL : "without .approx";
    case GD_OP_CVT:
        return !converts_roughly(module, instruction) || has_modifier(module, instruction, rounding)
                   ? NULL
                   : "without a rounding modifier";
    default:
        return NULL;
    }
}

static int32_t check_instructions(const gd_ptx_module *module, griddep_error *error)
{
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        const gd_ptx_instruction *instruction = &module->instructions[i];
        const char *missing = lacks(module, instruction);
        uint32_t length;
        if (!missing)
            continue;
        const char *name = gd_ptx_token_text(module, instruction->opcode, &length);
        char what[96];
        snprintf(what, sizeof what, "%.*s %s", length < 32 ? (int)length : 32, name, missing);
        return refuse(module, instruction->token, what, error);
    }
    return GRIDDEP_OK;
}

/* ---- declarations ---- */

static int32_t check_variables(const gd_ptx_module *module, griddep_error *error)
{
    for (uint32_t i = 0; i < module->symbol_count; i++) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        if (symbol->kind != GD_SYMBOL_VARIABLE || symbol->scope != 0)
            continue;
        if (symbol->space == GD_SPACE_LOCAL)
            return refuse(module, symbol->token, "a .local variable outside of functions", error);
        if (symbol->space == GD_SPACE_REG)
            return refuse(module, symbol->token, "a register outside of functions", error);
    }
    return GRIDDEP_OK;
}

/* Words that are no names elsewhere: of an instruction's space, of a declaration, of an entry. */
static int32_t check_words(const gd_ptx_module *module, griddep_error *error)
{
    for (uint32_t token = 0; gd_token_kind(module->tokens.list[token]) != GD_TOKEN_END; token++) {
        if (gd_token_kind(module->tokens.list[token]) != GD_TOKEN_DOTTED)
            continue;
        if (gd_ptx_token_is(module, token, ".tex"))
            return refuse(module, token, ".tex", error);
        if (gd_ptx_token_is(module, token, ".maxnctapersm"))
            return refuse(module, token, ".maxnctapersm", error);
        if (gd_ptx_token_is(module, token, ".const") &&
            gd_token_kind(module->tokens.list[token + 1]) == '[')
            return refuse(module, token, "a bank of constants", error);
    }
    return GRIDDEP_OK;
}

static bool has_word(const gd_ptx_module *module, const char *word)
{
    for (uint32_t token = 0; gd_token_kind(module->tokens.list[token]) != GD_TOKEN_END; token++) {
        if (gd_ptx_token_is(module, token, word))
            return true;
    }
    return false;
}

/* Without .address_size, which PTX has since 2.3, the registers tell; ptxas sees it likewise. */
static bool has_narrow_addresses(const gd_ptx_module *module)
{
    if (module->address_bits != BITS)
        return false;
    return has_word(module, ".address_size") ||
           !(has_word(module, ".u64") || has_word(module, ".b64") || has_word(module, ".s64"));
}

bool gd_rewrite_may_drop(const gd_ptx_module *module, uint32_t token)
{
    return gd_ptx_token_is(module, token, "map_f64_to_f32") && !has_word(module, ".f64");
}

static int32_t check_target(const gd_ptx_module *module, griddep_error *error)
{
    for (uint32_t i = 0; i < module->directive_count; i++) {
        const gd_ptx_directive *directive = &module->directives[i];
        for (uint32_t token = directive->token;
             directive->kind == GD_DIRECTIVE_TARGET && token < directive->token_end; token++) {
            if (gd_ptx_token_is(module, token, "map_f64_to_f32") &&
                !gd_rewrite_may_drop(module, token))
                return refuse(module, token, "map_f64_to_f32, in a text that uses .f64", error);
        }
    }
    return GRIDDEP_OK;
}

int32_t gd_rewrite_check_old(const gd_ptx_module *module, griddep_error *error)
{
    int32_t status = check_target(module, error);

    if (!status && has_narrow_addresses(module))
        status = refuse(module, 0, "a text with addresses of 32 bits", error);
    if (!status)
        status = check_variables(module, error);
    if (!status)
        status = check_words(module, error);
    return status ? status : check_instructions(module, error);
}

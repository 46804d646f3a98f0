/* Each instruction against the forms of its name (isa/forms.def). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/validity.h"
#include "ptx/isa/need.h"
#include "ptx/isa/operand.h"
#include "ptx/isa/special.h"
#include "ptx/isa/spelling.h"

typedef struct instruction_check {
    gd_validity *text;
    const gd_ptx_module *module;
    gd_spellings spellings;
    gd_arena arena;
    uint32_t *declared; /* by symbol: first_declaration's */
} instruction_check;

#define add(check, ...) gd_validity_add((check)->text, __VA_ARGS__)

/* ---- names ---- */

static void check_name(instruction_check *check, const gd_ptx_instruction *instruction)
{
    uint32_t length;
    const char *name = gd_ptx_token_text(check->module, instruction->opcode, &length);
    gd_guess meant = {.nearest = {.word = name, .bytes = length}};
    char hint[GD_GUESS_BYTES + 20] = "";

    for (int op = 1; op < GD_OP_COUNT; op++)
        gd_guess_look(&meant, gd_ops[op].name, strcspn(gd_ops[op].name, "."));
    const char *cuda = gd_validity_of_cuda(name, length);
    if (cuda)
        snprintf(hint, sizeof hint, "write %s", cuda);
    else if (meant.name[0])
        snprintf(hint, sizeof hint, "did you mean %s?", meant.name);
    if (!cuda)
        gd_validity_mend_name(check->text, instruction->opcode, "", &meant);
    add(check, GD_CODE_GD010, instruction->opcode, hint, "PTX has no instruction %.*s",
        (int)(length < 60 ? length : 60), name);
}

/* ---- modifiers ---- */

static void guess_modifier(const gd_form *form, gd_guess *meant)
{
    for (const char *group = *form->modifiers ? form->modifiers : NULL; group;
         group = gd_form_next_group(group)) {
        gd_alternatives from = {group, NULL};
        gd_modifier alternative;
        while (gd_alternatives_next(&from, &alternative))
            gd_guess_look(meant, alternative.text, alternative.length);
    }
}

static void list_alternatives(const char *group, char *text, size_t capacity)
{
    gd_alternatives from = {group, NULL};
    gd_modifier alternative;
    size_t used = 0;

    while (gd_alternatives_next(&from, &alternative) && used + alternative.length + 8 < capacity)
        used += (size_t)snprintf(text + used, capacity - used, "%s.%.*s", used ? ", " : "",
                                 (int)alternative.length, alternative.text);
}

/* The form that was most likely meant: it takes most of the modifiers; of several, it lacks
 * none. */
static gd_form_match find_nearest_form(const gd_form *forms, uint32_t count,
                                       const gd_modifier *modifiers, uint32_t modifier_count)
{
    gd_form_match best, next;

    gd_form_fit(&forms[0], modifiers, modifier_count, &best);
    for (uint32_t i = 1; i < count; i++) {
        gd_form_fit(&forms[i], modifiers, modifier_count, &next);
        if (next.matched > best.matched ||
            (next.matched == best.matched && best.missing && !next.missing))
            best = next;
    }
    return best;
}

/* Whether a modifier belongs to the name in some form. */
static bool is_bound(const gd_form *forms, uint32_t count, const gd_modifier *modifier)
{
    for (uint32_t i = 0; i < count; i++) {
        gd_alternatives from = {forms[i].modifiers, NULL};
        gd_modifier alternative;
        while (gd_form_is_bound(&forms[i]) && gd_alternatives_next(&from, &alternative)) {
            if (alternative.length == modifier->length &&
                memcmp(alternative.text, modifier->text, modifier->length) == 0)
                return true;
        }
    }
    return false;
}

static void tell_modifiers(instruction_check *check, const gd_ptx_instruction *instruction,
                           const gd_modifier *modifiers, uint32_t modifier_count, uint32_t first)
{
    uint32_t count;
    const gd_form *forms = gd_forms_of(instruction->op, &count);
    const char *name = gd_ops[instruction->op].name;
    char text[200] = "";

    for (uint32_t i = 0; i < modifier_count; i++) {
        bool known = false;
        gd_guess meant = {.nearest = {.word = modifiers[i].text, .bytes = modifiers[i].length}};
        for (uint32_t k = 0; k < count && !known; k++) {
            known = gd_form_has(&forms[k], &modifiers[i]);
            guess_modifier(&forms[k], &meant);
        }
        if (known)
            continue;
        if (meant.name[0])
            snprintf(text, sizeof text, "did you mean .%s?", meant.name);
        gd_validity_mend_name(check->text, first + i, ".", &meant);
        add(check, GD_CODE_GD011, first + i, text, "%s has no modifier .%.*s", name,
            (int)(modifiers[i].length < 60 ? modifiers[i].length : 60), modifiers[i].text);
        return;
    }
    const gd_form_match best = find_nearest_form(forms, count, modifiers, modifier_count);
    if (best.unmatched != UINT32_MAX) {
        const gd_modifier *odd = &modifiers[best.unmatched];
        if (best.unmatched && is_bound(forms, count, odd))
            add(check, GD_CODE_GD011, first + best.unmatched, NULL,
                ".%.*s stands right behind the name %s", (int)odd->length, odd->text, name);
        else
            add(check, GD_CODE_GD011, first + best.unmatched, NULL,
                "%s has no form in which .%.*s goes with the other modifiers", name,
                (int)odd->length, odd->text);
        return;
    }
    list_alternatives(best.missing, text, sizeof text);
    add(check, GD_CODE_GD011, instruction->opcode, NULL, "%s lacks a modifier: %s%s", name,
        strchr(text, ',') ? "one of " : "", text);
}

/* Words at a name's end that ptxas reads as modifiers, so that they may stand apart. */
static bool may_stand_apart(const char *word)
{
    static const char *const words[] = {".sync", ".sp", ".wait", ".launch_dependents",
                                        ".mbarrier_init"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i], word) == 0)
            return true;
    }
    return false;
}

/* ptxas reads an instruction's name, and a modifier that belongs to it, as one word. Tells where
 * something stands within. */
static bool is_split(instruction_check *check, const gd_ptx_instruction *instruction,
                     const gd_form_match *match)
{
    const gd_token *tokens = &check->module->tokens.list[instruction->opcode];
    const char *name = gd_ops[instruction->op].name;
    const bool bound = gd_form_is_bound(match->form);
    uint32_t count = bound;

    for (const char *dot = strchr(name, '.'); dot; dot = strchr(dot + 1, '.')) {
        if (bound || !may_stand_apart(dot))
            count++;
    }
    for (uint32_t i = 1; i <= count && i <= instruction->modifiers; i++) {
        if (tokens[i].offset == tokens[i - 1].offset + gd_token_length(tokens[i - 1]))
            continue;
        uint32_t length;
        const char *text = gd_ptx_token_text(check->module, instruction->opcode + i, &length);
        add(check, GD_CODE_GD011, instruction->opcode + i, "remove what stands in front of it",
            "%.*s stands apart from the name that it is a part of", (int)length, text);
        return true;
    }
    return false;
}

/* ---- an instruction ---- */

/* Where a form is gone, the modifier with which there is one. */
static void guess_newer(instruction_check *check, const gd_ptx_instruction *instruction, char *hint,
                        size_t capacity)
{
    gd_modifier modifiers[GD_SPELLING_MODIFIERS];
    uint32_t first, count;
    const gd_form *forms = gd_forms_of(instruction->op, &count);
    const uint32_t given = gd_spelling_list(check->module, instruction, modifiers, &first);
    gd_form_match match;
    char list[100];

    for (uint32_t i = 0; i < count; i++) {
        gd_form_fit(&forms[i], modifiers, given, &match);
        if (match.unmatched != UINT32_MAX || !match.missing ||
            !gd_need_is_met(match.need, check->module))
            continue;
        list_alternatives(match.missing, list, sizeof list);
        snprintf(hint, capacity, "write it with %s%s", strchr(list, ',') ? "one of " : "", list);
        return;
    }
}

/* The form that the text's version and target lack. */
static void tell_requirement(instruction_check *check, const gd_ptx_instruction *instruction,
                             gd_need need)
{
    char what[GD_NEED_TEXT], hint[2 * GD_GUESS_BYTES] = "";

    if (gd_ops[instruction->op].control == GD_CONTROL_GRIDDEP)
        return; /* GD101, GD102 */
    gd_need_describe(need, check->module, what);
    gd_validity_mend_need(check->text, need.version, need.target);
    if (strncmp(what, "is gone", 7) == 0)
        guess_newer(check, instruction, hint, sizeof hint);
    gd_validity_collect(check->text, GD_CODE_GD014, instruction->opcode,
                        (gd_mistake_key){.kind = need.version > check->module->version
                                                     ? GD_MISTAKE_VERSION
                                                     : GD_MISTAKE_TARGET},
                        hint, "this form of %s %s", gd_ops[instruction->op].name, what);
}

/* The register or variable that a fault is about; GD_PTX_NONE: another thing. */
static uint32_t blamed_symbol(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                              uint32_t token)
{
    for (uint32_t i = instruction->operand; i < instruction->operand_end; i++) {
        const gd_ptx_operand *operand = &module->operands[i];
        if (operand->token == token && operand->symbol != GD_PTX_NONE &&
            (operand->kind == GD_OPERAND_REGISTER || operand->kind == GD_OPERAND_SYMBOL))
            return operand->symbol;
    }
    return GD_PTX_NONE;
}

/* What mends an operand: 2.0 for 2, 0f3F800000 for 0x3f800000, [%rd1] for %rd1. */
static void mend_operand(instruction_check *check, const gd_ptx_instruction *instruction,
                         const gd_operand_fault *fault, char *hint, size_t capacity)
{
    const gd_ptx_module *module = check->module;
    bool brackets = false;
    const gd_ptx_operand *wrong = NULL;
    char text[GD_GUESS_BYTES] = "";
    uint32_t length;

    for (uint32_t i = instruction->operand; i < instruction->operand_end; i++) {
        brackets |= module->operands[i].kind == GD_OPERAND_MEMORY;
        if (module->operands[i].token == fault->token && !wrong)
            wrong = &module->operands[i];
    }
    if (!wrong)
        return;
    const char *found = gd_ptx_token_text(module, wrong->token, &length);
    if (fault->lacks == GD_LACKS_FRACTION) {
        bool hexadecimal = length > 2 && (found[1] | 32) == 'x';
        if (hexadecimal && fault->bytes == 4)
            snprintf(text, sizeof text, "0f%08" PRIX32, (uint32_t)wrong->value);
        else if (hexadecimal)
            snprintf(text, sizeof text, "0d%016" PRIX64, wrong->value);
        else if (wrong->token_end == wrong->token + 1 || *found == '-')
            snprintf(text, sizeof text, "%" PRId64 ".0", (int64_t)wrong->value);
    } else if (fault->lacks == GD_LACKS_BRACKETS && brackets) {
        snprintf(hint, capacity, "the operand in brackets stands elsewhere");
    } else if (fault->lacks == GD_LACKS_BRACKETS && length + 3 < sizeof text) {
        snprintf(text, sizeof text, "[%.*s]", (int)length, found);
    } else if (instruction->op == GD_OP_ATOM && wrong->kind == GD_OPERAND_MEMORY) {
        snprintf(hint, capacity, "red is the same without a result");
        gd_validity_mend(check->text, instruction->opcode, instruction->opcode + 1, false, "red");
    }
    if (*text) {
        snprintf(hint, capacity, "write %s", text);
        gd_validity_mend(check->text, wrong->token, wrong->token_end, true, text);
    }
}

/* Whether the text says how many bits its addresses have. */
static bool has_address_size(const gd_ptx_module *module)
{
    for (uint32_t i = 0; i < module->directive_count; i++) {
        if (module->directives[i].kind == GD_DIRECTIVE_ADDRESS_SIZE)
            return true;
    }
    return false;
}

static void tell_operand(instruction_check *check, const gd_ptx_instruction *instruction,
                         const gd_operand_fault *fault)
{
    const char *name = gd_ops[instruction->op].name;
    uint32_t symbol = blamed_symbol(check->module, instruction, fault->token);
    char hint[2 * GD_GUESS_BYTES] = "";

    if (fault->lacks == GD_LACKS_WIDTH && !has_address_size(check->module)) {
        gd_validity_collect(check->text, GD_CODE_GD012, fault->token,
                            (gd_mistake_key){.kind = GD_MISTAKE_ADDRESS},
                            "CUDA 12 and later compile no text with addresses of 32 bits", "%s: %s",
                            name, fault->text);
        return;
    }

    mend_operand(check, instruction, fault, hint, sizeof hint);
    if (symbol == GD_PTX_NONE || *hint)
        add(check, GD_CODE_GD012, fault->token, hint, "%s: %s", name, fault->text);
    else
        gd_validity_collect(check->text, GD_CODE_GD012, fault->token,
                            (gd_mistake_key){.kind = GD_MISTAKE_SYMBOL,
                                             .id = gd_validity_declared(check->module, symbol)},
                            NULL, "%s: %s", name, fault->text);
}

/* A parameter of a call belongs to the call, so that no guard parts it from it. */
static void check_guard_of_parameter(instruction_check *check,
                                     const gd_ptx_instruction *instruction)
{
    const gd_ptx_module *module = check->module;

    if (instruction->op != GD_OP_LD && instruction->op != GD_OP_ST)
        return;
    for (uint32_t i = instruction->operand; i + 1 < instruction->operand_end; i++) {
        const gd_ptx_operand *address = &module->operands[i + 1];
        if (module->operands[i].kind != GD_OPERAND_MEMORY || address->kind != GD_OPERAND_SYMBOL ||
            address->symbol == GD_PTX_NONE ||
            module->symbols[address->symbol].space != GD_SPACE_PARAM ||
            module->symbols[address->symbol].kind != GD_SYMBOL_VARIABLE)
            continue;
        uint32_t length;
        const char *name = gd_ptx_token_text(module, address->token, &length);
        add(check, GD_CODE_GD012, instruction->opcode,
            "branch around the call with all that it has",
            "%s.param has a guard, and %.*s is a parameter of a call", gd_ops[instruction->op].name,
            (int)length, name);
        return;
    }
}

/* Whether an operand's declaration is wrong, which was told. */
static bool has_spoilt(const instruction_check *check, const gd_ptx_instruction *instruction)
{
    const gd_ptx_module *module = check->module;
    bool spoilt = false;

    for (uint32_t i = instruction->operand; check->text->spoilt && i < instruction->operand_end;
         i++) {
        uint32_t symbol = module->operands[i].symbol;
        spoilt |=
            symbol < module->symbol_count && check->text->spoilt[module->symbols[symbol].name];
    }
    return spoilt;
}

static const gd_form_match *next_form(instruction_check *check, gd_spelling *found,
                                      const gd_form_match *before)
{
    return gd_spelling_next(&check->spellings, check->module, found, before);
}

/* The operands against the forms that the modifiers fit, from the first one on. What is wrong is
 * put into words only where none fits. */
static void check_operands(instruction_check *check, const gd_ptx_instruction *instruction,
                           gd_spelling *found, const gd_form_match *first)
{
    gd_operand_fault worst = {.position = 0}, fault;
    const gd_need *lowest = NULL;

    for (const gd_form_match *form = first; form; form = next_form(check, found, form)) {
        const gd_need *need = &form->need;
        if (!gd_operands_fit(check->module, instruction, form, NULL))
            continue;
        if (gd_need_is_met(*need, check->module))
            return;
        if (!lowest || need->version < lowest->version)
            lowest = need;
    }
    if (lowest) {
        tell_requirement(check, instruction, *lowest);
        return;
    }
    if (has_spoilt(check, instruction))
        return;
    for (const gd_form_match *form = first; form; form = next_form(check, found, form)) {
        gd_operands_fit(check->module, instruction, form, &fault);
        if (fault.position > worst.position)
            worst = fault;
    }
    gd_validity_relate_register(check->text, instruction, worst.token);
    tell_operand(check, instruction, &worst);
}

/* Whether the name alone is no instruction, and the rest of it is not one that the table has. */
static bool is_bare_family(gd_op op)
{
    return gd_op_is_family(op) &&
           (gd_ops[op].control == GD_CONTROL_UNKNOWN || op == GD_OP_BAR || op == GD_OP_BARRIER);
}

/* The members of a family are told by the modifiers behind its name. */
static void tell_family(instruction_check *check, const gd_ptx_instruction *instruction)
{
    uint32_t length = 0;
    const char *base = gd_ops[instruction->op].name;
    const char *next = "";
    gd_guess meant = {.nearest = {.word = "", .bytes = 0}};
    char hint[2 * GD_GUESS_BYTES] = "";

    if (instruction->modifiers) {
        next = gd_ptx_token_text(check->module, instruction->opcode + 1, &length);
        meant.nearest.word = ++next;
        meant.nearest.bytes = --length;
    }
    for (unsigned op = instruction->op + 1u;
         op < GD_OP_COUNT && gd_op_is_member((gd_op)op, instruction->op); op++)
        gd_guess_look(&meant, gd_ops[op].name + strlen(base) + 1,
                      strcspn(gd_ops[op].name + strlen(base) + 1, "."));
    if (meant.name[0])
        snprintf(hint, sizeof hint, "did you mean %s.%s?", base, meant.name);
    if (length)
        gd_validity_mend_name(check->text, instruction->opcode + 1, ".", &meant);
    add(check, GD_CODE_GD010, instruction->opcode, hint, "PTX has no instruction %s%s%.*s", base,
        length ? "." : "", (int)(length < 60 ? length : 60), next);
}

static bool is_name(const gd_ptx_module *module, uint32_t token)
{
    return gd_token_kind(module->tokens.list[token]) == GD_TOKEN_NAME &&
           !gd_ptx_token_is(module, token, "WARP_SZ");
}

/* Whether a name is that of an array, as seen from a scope. */
static bool is_array(const gd_ptx_module *module, uint32_t name, uint32_t scope)
{
    for (uint32_t i = module->symbol_count; i-- > 0;) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        uint32_t around = scope;
        while (symbol->name == name && around != symbol->scope && around != GD_PTX_NONE)
            around = module->scopes[around].parent;
        if (symbol->name == name && around == symbol->scope)
            return symbol->flags & GD_SYMBOL_ARRAY;
    }
    return false;
}

/* Expressions are of constants (PTX ISA 4.5): a register or variable has + and a constant behind
 * it, and a variable an index. */
static bool check_expression(instruction_check *check, const gd_ptx_operand *operand,
                             uint32_t scope)
{
    const gd_ptx_module *module = check->module;
    uint32_t name = operand->token, next, length;

    while (name < operand->token_end && !is_name(module, name))
        name++;
    next = name + 1;
    if (name == operand->token_end)
        return true;
    uint32_t kind = gd_token_kind(module->tokens.list[next]);
    const char *text = gd_ptx_token_text(module, name, &length);
    if (name == operand->token && kind == '[') {
        uint32_t array = gd_ptx_name_find(&module->names, module->text, text, length);
        if (array != GD_PTX_NONE && is_array(module, array, scope))
            return true;
        add(check, GD_CODE_GD012, name, NULL, "%.*s is no array, and has no elements",
            (int)(length < 60 ? length : 60), text);
        return false;
    }
    if (kind == '-' && name == operand->token && next + 2 == operand->token_end &&
        gd_token_kind(module->tokens.list[next + 1]) == GD_TOKEN_INTEGER) {
        gd_validity_mend(check->text, next, next + 1, true, "+-");
        add(check, GD_CODE_GD012, next, "write +- in place of -", "only + adds a constant to %.*s",
            (int)(length < 60 ? length : 60), text);
    } else {
        add(check, GD_CODE_GD012, name, "compute it by an instruction",
            "%.*s stands in an expression, which is of constants alone",
            (int)(length < 60 ? length : 60), text);
    }
    return false;
}

/* Of all operands. */
static bool check_expressions(instruction_check *check, const gd_ptx_instruction *instruction)
{
    bool right = true;

    for (uint32_t i = instruction->operand; i < instruction->operand_end && right; i++)
        right = check->module->operands[i].kind != GD_OPERAND_EXPRESSION ||
                check_expression(check, &check->module->operands[i], instruction->scope);
    return right;
}

/* A special register that is no predicate. */
static bool is_special(const gd_ptx_module *module, const gd_ptx_operand *operand)
{
    bool sign = operand->flags & GD_OPERAND_NOT;
    uint32_t length;
    const char *name = gd_ptx_token_text(module, operand->token + sign, &length);
    const gd_special_register *special = gd_special_find(name, length);

    return special && special->type != GD_TYPE_PRED;
}

/* An instruction that begins the next line, and is read as the first operand: a ';' is lost. */
static bool tell_lost_end(instruction_check *check, const gd_ptx_instruction *instruction)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_operand *operand = &module->operands[instruction->operand];
    uint32_t length;

    if (instruction->operand == instruction->operand_end || operand->kind != GD_OPERAND_SYMBOL ||
        operand->symbol != GD_PTX_NONE ||
        !gd_token_starts_line(module->tokens.list[operand->token]))
        return false;
    const char *name = gd_ptx_token_text(module, operand->token, &length);
    if (gd_op_find(name, length) == GD_OP_UNKNOWN)
        return false;
    const gd_token last = module->tokens.list[operand->token - 1];
    char text[GD_GUESS_BYTES];
    uint32_t bytes;
    const char *before = gd_ptx_token_text(module, operand->token - 1, &bytes);
    if (gd_token_length(last) + 2 < sizeof text) {
        snprintf(text, sizeof text, "%.*s;", (int)bytes, before);
        gd_validity_mend(check->text, operand->token - 1, operand->token, true, text);
    }
    add(check, GD_CODE_GD002, operand->token, "the statement before this has no ';' at its end",
        "found '%.*s', expected an operand or ';'", (int)(length < 60 ? length : 60), name);
    gd_validity_spoil(check->text, operand->token, operand->token + 1);
    return true;
}

static bool check_instruction(instruction_check *check, const gd_ptx_instruction *instruction)
{
    gd_modifier modifiers[GD_SPELLING_MODIFIERS];
    uint32_t first;

    if (tell_lost_end(check, instruction))
        return true;

    if (instruction->flags & GD_INSTRUCTION_GUARDED) {
        const gd_ptx_operand *guard = &check->module->operands[instruction->operand - 1];
        if (guard->kind == GD_OPERAND_SINK)
            add(check, GD_CODE_GD012, guard->token, NULL,
                "the guard is '_'; a predicate is expected");
        else if (guard->kind != GD_OPERAND_REGISTER && guard->symbol != GD_PTX_NONE)
            gd_validity_collect(
                check->text, GD_CODE_GD012, guard->token,
                (gd_mistake_key){.kind = GD_MISTAKE_SYMBOL,
                                 .id = gd_validity_declared(check->module, guard->symbol)},
                NULL, "the guard is no register; a predicate is expected");
        else if (guard->kind == GD_OPERAND_SPECIAL && is_special(check->module, guard))
            add(check, GD_CODE_GD012, guard->token, NULL,
                "the guard is a special register; a predicate is expected");
        else if (guard->kind == GD_OPERAND_REGISTER &&
                 check->module->symbols[guard->symbol].type != GD_TYPE_PRED) {
            gd_validity_relate_register(check->text, instruction, guard->token);
            gd_validity_collect(
                check->text, GD_CODE_GD012, guard->token,
                (gd_mistake_key){.kind = GD_MISTAKE_SYMBOL,
                                 .id = gd_validity_declared(check->module, guard->symbol)},
                NULL, "the guard is a .%s register; a predicate is expected",
                gd_ptx_types[check->module->symbols[guard->symbol].type].name);
        } else
            check_guard_of_parameter(check, instruction);
    }
    if (instruction->op == GD_OP_UNKNOWN) {
        check_name(check, instruction);
        return true;
    }
    if (is_bare_family(instruction->op)) {
        tell_family(check, instruction);
        return true;
    }
    gd_spelling *found = gd_spelling_find(&check->spellings, check->module, instruction);
    if (!found)
        return false;
    if (!found->form_count) {
        check_expressions(check, instruction);
        return true;
    }
    const gd_form_match *form = next_form(check, found, NULL);
    if (form && is_split(check, instruction, form))
        return true;
    if (form) {
        if (check_expressions(check, instruction))
            check_operands(check, instruction, found, form);
    } else if (!check->spellings.out_of_memory) {
        uint32_t count = gd_spelling_list(check->module, instruction, modifiers, &first);
        tell_modifiers(check, instruction, modifiers, count, first);
    }
    return !check->spellings.out_of_memory;
}

/* ---- names ---- */

static void tell_needed(instruction_check *check, uint32_t token,
                        const gd_special_register *special)
{
    char what[GD_NEED_TEXT];

    gd_need_describe(special->need, check->module, what);
    gd_validity_mend_need(check->text, special->need.version, special->need.target);
    gd_validity_collect(check->text, GD_CODE_GD014, token,
                        (gd_mistake_key){.kind = special->need.version > check->module->version
                                                     ? GD_MISTAKE_VERSION
                                                     : GD_MISTAKE_TARGET},
                        NULL, "%s %s", special->name, what);
}

static void check_declared(instruction_check *check, const gd_ptx_instruction *instruction,
                           const gd_ptx_operand *operand, uint32_t function)
{
    bool marked = operand->flags & (GD_OPERAND_NOT | GD_OPERAND_MINUS);
    uint32_t length, token = operand->token + marked;
    const char *name = gd_ptx_token_text(check->module, token, &length);
    char hint[2 * GD_GUESS_BYTES];

    if (length == 7 && memcmp(name, "WARP_SZ", 7) == 0)
        return;
    if (operand->kind == GD_OPERAND_SPECIAL) {
        const gd_special_register *special = gd_special_find(name, length);
        if (special && !gd_need_is_met(special->need, check->module))
            tell_needed(check, token, special);
        if (special)
            return;
    }
    /* %r1 and %r2 lack one declaration; labels lack one each. */
    uint32_t prefix = check->module->names.list[operand->index].prefix;
    bool ranged = *name == '%' && prefix != GD_PTX_NONE;
    if (check->text->spoilt && (check->text->spoilt[operand->index] ||
                                (prefix != GD_PTX_NONE && check->text->spoilt[prefix])))
        return;
    gd_validity_mean_name(check->text, token, instruction->scope, hint, sizeof hint);
    gd_validity_collect(check->text, GD_CODE_GD013, operand->token,
                        (gd_mistake_key){.kind = GD_MISTAKE_NAME,
                                         .id = ranged ? prefix : operand->index,
                                         .function = function},
                        hint, "%.*s is not declared here", (int)(length < 60 ? length : 60), name);
}

/* The token at which a function is declared first. */
static uint32_t first_declaration(instruction_check *check, uint32_t symbol)
{
    const gd_ptx_module *module = check->module;

    if (!check->declared) {
        check->declared =
            gd_arena_array(&check->arena, module->symbol_count, sizeof *check->declared);
        check->text->failed |= !check->declared;
        for (uint32_t i = module->function_count; check->declared && i-- > 0;) {
            if (module->functions[i].symbol < module->symbol_count)
                check->declared[module->functions[i].symbol] = module->functions[i].token_name;
        }
    }
    return check->declared ? check->declared[symbol] : 0;
}

/* Labels alone may be used in front of what they name. */
static void check_order(instruction_check *check, const gd_ptx_operand *operand, uint32_t function)
{
    const gd_ptx_symbol *symbol = &check->module->symbols[operand->symbol];
    uint32_t length;
    const char *name = gd_ptx_token_text(check->module, operand->token, &length);

    if (symbol->kind == GD_SYMBOL_LABEL || symbol->token < operand->token ||
        (symbol->kind == GD_SYMBOL_FUNCTION &&
         first_declaration(check, operand->symbol) < operand->token))
        return;
    gd_validity_collect(
        check->text, GD_CODE_GD013, operand->token,
        (gd_mistake_key){.kind = GD_MISTAKE_NAME, .id = operand->index, .function = function}, NULL,
        "%.*s is declared behind this, and must be in front of it",
        (int)(length < 60 ? length : 60), name);
}

static void check_names(instruction_check *check)
{
    const gd_ptx_module *module = check->module;

    for (uint32_t i = 0; i < module->instruction_count; i++) {
        const gd_ptx_instruction *instruction = &module->instructions[i];
        uint32_t from =
            instruction->operand - (instruction->flags & GD_INSTRUCTION_GUARDED ? 1 : 0);
        uint32_t function = module->scopes[instruction->scope].function;
        for (uint32_t k = from; k < instruction->operand_end; k++) {
            const gd_ptx_operand *operand = &module->operands[k];
            if (operand->kind == GD_OPERAND_SPECIAL ||
                (operand->kind == GD_OPERAND_SYMBOL && operand->symbol == GD_PTX_NONE))
                check_declared(check, instruction, operand, function);
            else if (operand->kind == GD_OPERAND_SYMBOL)
                check_order(check, operand, function);
        }
    }
}

int32_t gd_check_instructions(gd_validity *text, griddep_error *error)
{
    const gd_ptx_module *module = text->module;
    instruction_check check = {.text = text, .module = module};
    bool enough = true;

    for (uint32_t i = 0; i < module->instruction_count && enough; i++)
        enough = check_instruction(&check, &module->instructions[i]);
    if (enough)
        check_names(&check);
    gd_spellings_free(&check.spellings);
    gd_arena_free(&check.arena);
    return enough ? GRIDDEP_OK : gd_error_memory(error);
}

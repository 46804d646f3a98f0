/* Each instruction against the forms of its name (isa/forms.def). An instruction's name and
 * modifiers, as they are written, are looked up once: modules have few different ones. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/table.h"
#include "ptx/check/validity.h"
#include "ptx/isa/form.h"
#include "ptx/isa/operand.h"

enum { MODIFIERS = 24 };

/* The forms that an instruction's modifiers fit. */
typedef struct spelling {
    gd_form_match *fits;
    uint32_t count;
    bool described; /* the instruction has forms */
} spelling;

typedef struct instruction_check {
    gd_validity *text;
    const gd_ptx_module *module;
    gd_table spellings;
    gd_arena arena;
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
    if (meant.name[0])
        snprintf(hint, sizeof hint, "did you mean %s?", meant.name);
    add(check, GD_CODE_GD010, instruction->opcode, hint, "PTX has no instruction %.*s",
        (int)(length < 60 ? length : 60), name);
}

/* ---- modifiers ---- */

/* Those that the instruction's name in ops.def does not hold already. */
static uint32_t list_modifiers(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                               gd_modifier *list, uint32_t *first)
{
    uint32_t in_name = 0, count = 0;

    for (const char *dot = strchr(gd_ops[instruction->op].name, '.'); dot;
         dot = strchr(dot + 1, '.'))
        in_name++;
    *first = instruction->opcode + 1 + in_name;
    for (uint32_t i = in_name; i < instruction->modifiers && count < MODIFIERS; i++, count++) {
        list[count].text =
            gd_ptx_token_text(module, instruction->opcode + 1 + i, &list[count].length);
        list[count].text++;
        list[count].length--;
    }
    return count;
}

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
        add(check, GD_CODE_GD011, first + i, text, "%s has no modifier .%.*s", name,
            (int)(modifiers[i].length < 60 ? modifiers[i].length : 60), modifiers[i].text);
        return;
    }
    const gd_form_match best = find_nearest_form(forms, count, modifiers, modifier_count);
    if (best.unmatched != UINT32_MAX) {
        const gd_modifier *odd = &modifiers[best.unmatched];
        add(check, GD_CODE_GD011, first + best.unmatched, NULL,
            "%s has no form in which .%.*s goes with the other modifiers", name, (int)odd->length,
            odd->text);
        return;
    }
    list_alternatives(best.missing, text, sizeof text);
    add(check, GD_CODE_GD011, instruction->opcode, NULL, "%s lacks a modifier: %s%s", name,
        strchr(text, ',') ? "one of " : "", text);
}

/* ---- an instruction ---- */

static spelling *look_up(instruction_check *check, const gd_ptx_instruction *instruction,
                         const gd_modifier *modifiers, uint32_t modifier_count)
{
    const gd_ptx_tokens *tokens = &check->module->tokens;
    const gd_token begin = tokens->list[instruction->opcode];
    const gd_token end = tokens->list[instruction->opcode + instruction->modifiers];
    const char *key = check->module->text + begin.offset;
    size_t bytes = end.offset + gd_token_length(end) - begin.offset;
    spelling *known = gd_table_find(&check->spellings, key, bytes);
    uint32_t count;
    const gd_form *forms = gd_forms_of(instruction->op, &count);

    if (known)
        return known;
    spelling *made = gd_arena_take(&check->arena, sizeof *made);
    if (!made || !(made->fits = gd_arena_array(&check->arena, count, sizeof *made->fits)))
        return NULL;
    made->described = count > 0;
    for (uint32_t i = 0; i < count; i++) {
        if (gd_form_fit(&forms[i], modifiers, modifier_count, &made->fits[made->count]))
            gd_operands_read(&made->fits[made->count++]);
    }
    return gd_table_set(&check->spellings, key, bytes, made) ? made : NULL;
}

/* The form that the text's version and target lack. */
static void tell_requirement(instruction_check *check, const gd_ptx_instruction *instruction,
                             const gd_form *form)
{
    const gd_ptx_module *module = check->module;
    const char *name = gd_ops[instruction->op].name;

    if (gd_ops[instruction->op].control == GD_CONTROL_GRIDDEP)
        return; /* GD101, GD102 */
    if (form->version > module->version)
        add(check, GD_CODE_GD014, instruction->opcode, NULL,
            "this form of %s needs .version %d.%d; the text says %d.%d", name, form->version / 10,
            form->version % 10, (int)(module->version / 10), (int)(module->version % 10));
    else if (form->target % 10 >= 8)
        add(check, GD_CODE_GD014, instruction->opcode, NULL,
            "this form of %s is gone since .version 6.%d%s", name, form->target % 10 == 8 ? 5 : 4,
            form->target % 10 == 8 ? "" : " on sm_70 and later");
    else
        add(check, GD_CODE_GD014, instruction->opcode, NULL,
            "this form of %s needs .target sm_%d%s; the text says %s", name, form->target / 10,
            form->target % 10 ? "a" : "", module->target);
}

/* The operands against the forms that the modifiers fit. What is wrong is put into words only where
 * none fits. */
static void check_operands(instruction_check *check, const gd_ptx_instruction *instruction,
                           const spelling *found)
{
    gd_operand_fault worst = {.position = 0}, fault;
    const gd_form *lowest = NULL;

    for (uint32_t i = 0; i < found->count; i++) {
        const gd_form *form = found->fits[i].form;
        if (!gd_operands_fit(check->module, instruction, &found->fits[i], NULL))
            continue;
        if (gd_form_is_of(form, check->module))
            return;
        if (!lowest || form->version < lowest->version)
            lowest = form;
    }
    if (lowest) {
        tell_requirement(check, instruction, lowest);
        return;
    }
    for (uint32_t i = 0; i < found->count; i++) {
        gd_operands_fit(check->module, instruction, &found->fits[i], &fault);
        if (fault.position > worst.position)
            worst = fault;
    }
    add(check, GD_CODE_GD012, worst.token, NULL, "%s: %s", gd_ops[instruction->op].name,
        worst.text);
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
    add(check, GD_CODE_GD010, instruction->opcode, hint, "PTX has no instruction %s%s%.*s", base,
        length ? "." : "", (int)(length < 60 ? length : 60), next);
}

static bool check_instruction(instruction_check *check, const gd_ptx_instruction *instruction)
{
    gd_modifier modifiers[MODIFIERS];
    uint32_t first;

    if (instruction->flags & GD_INSTRUCTION_GUARDED) {
        const gd_ptx_operand *guard = &check->module->operands[instruction->operand - 1];
        if (guard->kind != GD_OPERAND_REGISTER && guard->symbol != GD_PTX_NONE)
            add(check, GD_CODE_GD012, guard->token, NULL,
                "the guard is no register; a predicate is expected");
        else if (guard->kind == GD_OPERAND_REGISTER &&
                 check->module->symbols[guard->symbol].type != GD_TYPE_PRED)
            add(check, GD_CODE_GD012, guard->token, NULL,
                "the guard is a .%s register; a predicate is expected",
                gd_ptx_types[check->module->symbols[guard->symbol].type].name);
    }
    if (instruction->op == GD_OP_UNKNOWN) {
        check_name(check, instruction);
        return true;
    }
    if (is_bare_family(instruction->op)) {
        tell_family(check, instruction);
        return true;
    }
    uint32_t count = list_modifiers(check->module, instruction, modifiers, &first);
    const spelling *found = look_up(check, instruction, modifiers, count);
    if (!found)
        return false;
    if (!found->described)
        return true;
    if (found->count == 0)
        tell_modifiers(check, instruction, modifiers, count, first);
    else
        check_operands(check, instruction, found);
    return true;
}

/* ---- names ---- */

static void check_declared(instruction_check *check, const gd_ptx_operand *operand)
{
    uint32_t length;
    const char *name = gd_ptx_token_text(check->module, operand->token, &length);

    if (operand->flags & (GD_OPERAND_NOT | GD_OPERAND_MINUS))
        name = gd_ptx_token_text(check->module, operand->token + 1, &length);
    if (length == 7 && memcmp(name, "WARP_SZ", 7) == 0)
        return;
    if (operand->kind == GD_OPERAND_SPECIAL && gd_is_special_register(name, length))
        return;
    add(check, GD_CODE_GD013, operand->token, NULL, "%.*s is not declared here",
        (int)(length < 60 ? length : 60), name);
}

static void check_names(instruction_check *check)
{
    const gd_ptx_module *module = check->module;

    for (uint32_t i = 0; i < module->instruction_count; i++) {
        const gd_ptx_instruction *instruction = &module->instructions[i];
        uint32_t from =
            instruction->operand - (instruction->flags & GD_INSTRUCTION_GUARDED ? 1 : 0);
        for (uint32_t k = from; k < instruction->operand_end; k++) {
            const gd_ptx_operand *operand = &module->operands[k];
            if (operand->kind == GD_OPERAND_SPECIAL ||
                (operand->kind == GD_OPERAND_SYMBOL && operand->symbol == GD_PTX_NONE))
                check_declared(check, operand);
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
    gd_table_free(&check.spellings);
    gd_arena_free(&check.arena);
    return enough ? GRIDDEP_OK : gd_error_memory(error);
}

#include "ptx/isa/spelling.h"

#include <string.h>

#include "ptx/isa/role.h"

uint32_t gd_spelling_list(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                          gd_modifier list[GD_SPELLING_MODIFIERS], uint32_t *first)
{
    uint32_t in_name = 0, count = 0;

    for (const char *dot = strchr(gd_ops[instruction->op].name, '.'); dot;
         dot = strchr(dot + 1, '.'))
        in_name++;
    *first = instruction->opcode + 1 + in_name;
    for (uint32_t i = in_name; i < instruction->modifiers && count < GD_SPELLING_MODIFIERS;
         i++, count++) {
        list[count].text =
            gd_ptx_token_text(module, instruction->opcode + 1 + i, &list[count].length);
        list[count].text++;
        list[count].length--;
    }
    return count;
}

typedef struct gd_spelling_fit {
    gd_form_match match;
    struct gd_spelling_fit *next;
} gd_spelling_fit;

/* Most instructions have the operands of the first form that their modifiers fit, so the others are
 * not looked at before somebody asks. */
const gd_form_match *gd_spelling_next(gd_spellings *spellings, const gd_ptx_module *module,
                                      gd_spelling *spelling, const gd_form_match *before)
{
    gd_spelling_fit *known =
        before ? ((const gd_spelling_fit *)(const void *)before)->next : spelling->first;
    gd_modifier modifiers[GD_SPELLING_MODIFIERS];
    gd_form_match match;
    uint32_t first, count = 0;

    if (known)
        return &known->match;
    if (spelling->looked_at < spelling->form_count)
        count = gd_spelling_list(module, spelling->instruction, modifiers, &first);
    while (spelling->looked_at < spelling->form_count) {
        if (!gd_form_takes(&spelling->forms[spelling->looked_at++], modifiers, count, &match))
            continue;
        known = gd_arena_take(&spellings->arena, sizeof *known);
        if (!known) {
            spellings->out_of_memory = true;
            return NULL;
        }
        gd_roles_read(&match);
        known->match = match;
        *(spelling->last ? &spelling->last->next : &spelling->first) = known;
        spelling->last = known;
        return &known->match;
    }
    return NULL;
}

gd_spelling *gd_spelling_find(gd_spellings *spellings, const gd_ptx_module *module,
                              const gd_ptx_instruction *instruction)
{
    const gd_ptx_tokens *tokens = &module->tokens;
    const gd_token begin = tokens->list[instruction->opcode];
    const gd_token end = tokens->list[instruction->opcode + instruction->modifiers];
    const char *key = module->text + begin.offset;
    const size_t bytes = end.offset + gd_token_length(end) - begin.offset;
    gd_spelling *known = gd_table_find(&spellings->table, key, bytes);

    if (known)
        return known;
    known = gd_arena_take(&spellings->arena, sizeof *known);
    if (!known || !gd_table_set(&spellings->table, key, bytes, known)) {
        spellings->out_of_memory = true;
        return NULL;
    }
    known->instruction = instruction;
    known->forms = gd_forms_of(instruction->op, &known->form_count);
    return known;
}

void gd_spellings_free(gd_spellings *spellings)
{
    gd_table_free(&spellings->table);
    gd_arena_free(&spellings->arena);
}

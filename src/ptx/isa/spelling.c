#include "ptx/isa/spelling.h"

#include <string.h>

#include "ptx/isa/operand.h"

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

enum { MOST_KEPT = 4 }; /* forms that fit and are not looked for twice */

static gd_spelling *make(gd_spellings *spellings, const gd_ptx_module *module,
                         const gd_ptx_instruction *instruction)
{
    gd_modifier modifiers[GD_SPELLING_MODIFIERS];
    uint32_t first, count;
    const uint32_t modifier_count = gd_spelling_list(module, instruction, modifiers, &first);
    const gd_form *forms = gd_forms_of(instruction->op, &count);
    gd_spelling *made = gd_arena_take(&spellings->arena, sizeof *made);
    gd_form_match fits[MOST_KEPT];

    if (!made)
        return NULL;
    made->described = count > 0;
    for (uint32_t i = 0; i < count; i++)
        made->count +=
            gd_form_takes(&forms[i], modifiers, modifier_count,
                          &fits[made->count < MOST_KEPT - 1 ? made->count : MOST_KEPT - 1]);
    made->fits = gd_arena_array(&spellings->arena, made->count, sizeof *made->fits);
    if (!made->fits)
        return NULL;
    for (uint32_t i = 0, k = 0; k < made->count; i++) {
        if (made->count < MOST_KEPT)
            made->fits[k] = fits[k];
        else if (!gd_form_takes(&forms[i], modifiers, modifier_count, &made->fits[k]))
            continue;
        gd_operands_read(&made->fits[k++]);
    }
    return made;
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
    known = make(spellings, module, instruction);
    return known && gd_table_set(&spellings->table, key, bytes, known) ? known : NULL;
}

void gd_spellings_free(gd_spellings *spellings)
{
    gd_table_free(&spellings->table);
    gd_arena_free(&spellings->arena);
}

#include "measure/stamper.h"

#include <string.h>

#include "base/error.h"
#include "base/text.h"

/* Writes lines with the prefix in the place of each ~. */
static void expand(gd_text *text, const char *lines)
{
    for (const char *at = lines; *at;) {
        size_t plain = strcspn(at, "~");
        gd_text_append(text, at, plain);
        at += plain;
        if (*at == '~')
            gd_text_string(text, GD_STAMP_PREFIX);
        at += *at != 0;
    }
}

int32_t gd_stamper_put(gd_edits *edits, uint32_t token, bool behind, const char *lines, griddep_error *error)
{
    gd_text text = {0};
    int32_t line, column;

    if (!behind && !gd_edits_has_room(edits, token)) {
        gd_ptx_token_position(edits->module, token, &line, &column);
        return gd_error_set_at(error, GRIDDEP_ERROR_UNSUPPORTED, edits->module->name, line, column,
                               "there is no room for a stamp here: what stands before it is not known to end");
    }
    expand(&text, lines);
    uint32_t edit = text.failed ? GD_PTX_NONE
                    : behind    ? gd_edits_insert_behind(edits, token, gd_text_get(&text), 0)
                                : gd_edits_insert_before(edits, token, gd_text_get(&text), 0);
    gd_text_free(&text);
    return edit == GD_PTX_NONE ? gd_error_memory(error) : GRIDDEP_OK;
}

int32_t gd_stamper_declare(gd_edits *edits, const char *lines, griddep_error *error)
{
    uint32_t token = edits->module->functions[0].token;

    if (!gd_edits_has_room(edits, token))
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "%s: there is no room for the stamps' variable before the first function",
                            edits->module->name);
    return gd_edits_insert_before(edits, token, lines, 0) == GD_PTX_NONE ? gd_error_memory(error) : GRIDDEP_OK;
}

bool gd_stamper_is_end(const gd_ptx_function *function, const gd_ptx_instruction *instruction)
{
    return instruction->op == GD_OP_EXIT || (instruction->op == GD_OP_RET && function->flags & GD_FUNCTION_ENTRY);
}

bool gd_stamper_falls_off(const gd_ptx_module *module, const gd_ptx_function *entry)
{
    if (entry->instruction == entry->instruction_end)
        return true;
    const gd_ptx_instruction *last = &module->instructions[entry->instruction_end - 1];
    return !gd_stamper_is_end(entry, last) || last->flags & GD_INSTRUCTION_GUARDED;
}

/* Sites: made when an instruction is first checked, kept in the image by operation. */
#include <ctype.h>
#include <stdlib.h>

#include "emulator/execute/site.h"

void gd_site_text(const gd_ptx_module *module, uint32_t instruction, char *text, size_t bytes)
{
    const gd_ptx_instruction *item = &module->instructions[instruction];
    uint32_t length;
    const char *at = gd_ptx_token_text(module, item->token, &length);
    const char *last = gd_ptx_token_text(module, item->token_end - 1, &length);
    const char *end = last + length;
    size_t used = 0;
    bool blank = false;

    for (; at < end && used + 2 < bytes; at++) {
        if (isspace((unsigned char)*at)) {
            blank = used > 0;
            continue;
        }
        if (blank)
            text[used++] = ' ';
        text[used++] = *at;
        blank = false;
    }
    text[used] = 0;
}

static uint32_t make(gd_race *race, const gd_image *image, const gd_code *code)
{
    const gd_program *program = image->entry.program;
    gd_race_site site = {.kernel = image->entry.name, .module = program->number};
    char text[160];

    gd_site_text(program->module, code->instruction, text, sizeof text);
    gd_ptx_token_position(program->module, program->module->instructions[code->instruction].opcode,
                          &site.line, &site.column);
    site.instruction = text;
    return gd_race_site_add(race, &site);
}

uint32_t gd_site_find(gd_race *race, const gd_image *image, const gd_code *code)
{
    uint32_t index = (uint32_t)(code - image->code);

    /* The table is a cache of what the image says; filling it changes nothing that its readers
     * see. */
    uint32_t **sites = (uint32_t **)(uintptr_t)&image->sites;
    if (!*sites && !(*sites = calloc(image->code_count, sizeof **sites)))
        return 0;
    if (!(*sites)[index])
        (*sites)[index] = make(race, image, code);
    return (*sites)[index];
}

void gd_entry_instruction(const gd_entry *entry, uint32_t instruction, char *text, size_t bytes,
                          uint32_t *module)
{
    gd_site_text(entry->program->module, instruction, text, bytes);
    *module = entry->program->number;
}

/* The counter is set where the entry begins, once for each thread, and the loop is entered once at
 * most. Below zero it goes on counting; a trigger that repeats after 2^32 rounds has no effect (PTX
 * ISA, griddepcontrol). */
#include "ptx/rewrite/round.h"

#include <inttypes.h>

#define COUNTER "%griddep_round_left"
#define NOW "%griddep_round_now"

void gd_round_write_start(gd_text *text, uint32_t round)
{
    gd_text_string(text, ".reg .b32 " COUNTER ";\n"
                         ".reg .pred " NOW ";\n");
    gd_text_format(text, "mov.u32 %s, %" PRIu32 ";\n", COUNTER, round);
}

const char *gd_round_lines(void)
{
    return "setp.eq.u32 " NOW ", " COUNTER ", 0;\n"
           "sub.u32 " COUNTER ", " COUNTER ", 1;\n"
           "@" NOW " griddepcontrol.launch_dependents;\n";
}

static bool is_name(const gd_ptx_module *module, uint32_t token)
{
    return gd_ptx_token_is(module, token, COUNTER) || gd_ptx_token_is(module, token, NOW);
}

bool gd_round_is_own(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    if (instruction->op == GD_OP_GRIDDEPCONTROL_LAUNCH_DEPENDENTS)
        return false;
    for (uint32_t token = instruction->token; token < instruction->token_end; token++)
        if (is_name(module, token))
            return true;
    return false;
}

/* ".reg .b32 NAME;" */
static bool remove_declaration(gd_edits *edits, uint32_t name)
{
    uint32_t token = name;

    while (!gd_ptx_token_is(edits->module, token, ".reg"))
        token--;
    return gd_edits_remove(edits, token, name + 2) != GD_PTX_NONE;
}

bool gd_round_remove(gd_edits *edits, const gd_ptx_function *entry)
{
    const gd_ptx_module *module = edits->module;

    for (uint32_t i = entry->parameter_end;
         i < module->symbol_count && module->symbols[i].token < entry->token_end; i++)
        if (is_name(module, module->symbols[i].token) &&
            !remove_declaration(edits, module->symbols[i].token))
            return false;
    for (uint32_t i = entry->instruction; i < entry->instruction_end; i++) {
        const gd_ptx_instruction *instruction = &module->instructions[i];
        if (gd_round_is_own(module, instruction) &&
            gd_edits_remove(edits, instruction->token, instruction->token_end) == GD_PTX_NONE)
            return false;
    }
    return true;
}

/* Stamps: PTX rewritten so that each CTA notes when it begins and when it ends. The first begin and the last end of all
 * launches are kept in a module-scope variable, by atomic minimum and maximum, so that it has two words whatever the
 * grid. Text edits, as in src/ptx/rewrite.c; all that is not inserted stays to the letter. */
#include <string.h>

#include "base/error.h"
#include "ptx/edit.h"
#include "ptx/ptx.h"

#define VARIABLE "griddep_stamp"

static const char declaration[] = ".visible .global .align 8 .u64 " VARIABLE "[2];\n";

/* By the first thread of the CTA. */
static const char begin_lines[] = "{\n"
                                  ".reg .pred %griddep_stamp_off;\n"
                                  ".reg .b32 %griddep_stamp_word, %griddep_stamp_other;\n"
                                  ".reg .b64 %griddep_stamp_time;\n"
                                  "mov.u64 %griddep_stamp_time, %globaltimer;\n"
                                  "mov.u32 %griddep_stamp_word, %tid.x;\n"
                                  "mov.u32 %griddep_stamp_other, %tid.y;\n"
                                  "or.b32 %griddep_stamp_word, %griddep_stamp_word, %griddep_stamp_other;\n"
                                  "mov.u32 %griddep_stamp_other, %tid.z;\n"
                                  "or.b32 %griddep_stamp_word, %griddep_stamp_word, %griddep_stamp_other;\n"
                                  "setp.ne.u32 %griddep_stamp_off, %griddep_stamp_word, 0;\n"
                                  "@!%griddep_stamp_off red.global.min.u64 [" VARIABLE "], %griddep_stamp_time;\n"
                                  "}\n";

/* By the lowest of a warp's threads that come here, before each exit: one whose guard turns out false adds a stamp that
 * a later one exceeds. */
static const char end_lines[] = "{\n"
                                ".reg .pred %griddep_stamp_off;\n"
                                ".reg .b32 %griddep_stamp_word, %griddep_stamp_other;\n"
                                ".reg .b64 %griddep_stamp_time;\n"
                                "activemask.b32 %griddep_stamp_word;\n"
                                "mov.u32 %griddep_stamp_other, %lanemask_lt;\n"
                                "and.b32 %griddep_stamp_word, %griddep_stamp_word, %griddep_stamp_other;\n"
                                "setp.ne.u32 %griddep_stamp_off, %griddep_stamp_word, 0;\n"
                                "mov.u64 %griddep_stamp_time, %globaltimer;\n"
                                "@!%griddep_stamp_off red.global.max.u64 [" VARIABLE "+8], %griddep_stamp_time;\n"
                                "}\n";

static bool is_end(const gd_ptx_instruction *instruction)
{
    return instruction->op == GD_OP_RET || instruction->op == GD_OP_EXIT;
}

static int32_t put(gd_edits *edits, uint32_t token, const char *lines, griddep_error *error)
{
    if (!gd_edits_has_room(edits, token))
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "%s: nothing can be inserted behind a directive that has no end of its own",
                            edits->module->name);
    return gd_edits_insert_before(edits, token, lines, 0) == GD_PTX_NONE ? gd_error_memory(error) : GRIDDEP_OK;
}

static int32_t stamp_entry(gd_edits *edits, const gd_ptx_function *entry, griddep_error *error)
{
    const gd_ptx_module *module = edits->module;
    bool falls_off = true;
    int32_t status = GRIDDEP_OK;

    if (gd_edits_insert_behind(edits, entry->token_body, begin_lines, 0) == GD_PTX_NONE)
        return gd_error_memory(error);
    for (uint32_t i = entry->instruction; i < entry->instruction_end && !status; i++) {
        const gd_ptx_instruction *instruction = &module->instructions[i];
        if (is_end(instruction))
            status = put(edits, instruction->token, end_lines, error);
        falls_off = !is_end(instruction) || instruction->flags & GD_INSTRUCTION_GUARDED;
    }
    return status || !falls_off ? status : put(edits, entry->token_end - 1, end_lines, error);
}

/* The variable goes before the first function. */
static int32_t stamp_module(gd_edits *edits, const griddep_ptx *ptx, griddep_error *error)
{
    const gd_ptx_module *module = &ptx->module;
    int32_t status = put(edits, module->functions[0].token, declaration, error);

    for (uint32_t i = 0; i < module->entry_count && !status; i++)
        status = stamp_entry(edits, gd_ptx_get_function(ptx, i), error);
    return status;
}

static int32_t check(const griddep_ptx *ptx, griddep_ptx **stamped, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!ptx || !stamped)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", ptx ? "stamped" : "ptx");
    if (!ptx->module.entry_count)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "%s has no entry to be stamped", ptx->module.name);
    if (memmem(ptx->module.text, ptx->module.bytes, VARIABLE, sizeof VARIABLE - 1))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s speaks of %s already", ptx->module.name, VARIABLE);
    return GRIDDEP_OK;
}

int32_t griddep_ptx_stamp(const griddep_ptx *ptx, griddep_ptx **stamped, griddep_error *error)
{
    gd_edits edits = {0};
    gd_text text = {0};
    int32_t status = check(ptx, stamped, error);

    if (status)
        return status;
    edits.module = &ptx->module;
    status = stamp_module(&edits, ptx, error);
    if (!status) {
        gd_edits_apply(&edits, &text);
        status = text.failed ? gd_error_memory(error)
                             : griddep_ptx_parse(gd_text_get(&text), text.bytes, ptx->module.name, stamped, error);
    }
    gd_text_free(&text);
    gd_edits_free(&edits);
    return status;
}

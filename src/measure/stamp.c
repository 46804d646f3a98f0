/* Stamps: PTX rewritten so that each CTA notes when it begins and when it ends. The first begin and the last end of all
 * launches are kept in a module-scope variable, by atomic minimum and maximum, so that it has two words whatever the
 * grid. Text edits, as in src/ptx/rewrite.c; all that is not inserted stays to the letter. */
#include <string.h>

#include "base/error.h"
#include "measure/stamper.h"
#include "ptx/edit.h"
#include "ptx/ptx.h"

#define VARIABLE "griddep_stamp"

static const char declaration[] = ".visible .global .align 8 .u64 " VARIABLE "[2];\n";

/* By the first thread of the CTA. */
static const char begin_lines[] = "{\n"
                                  ".reg .pred ~off;\n"
                                  ".reg .b32 ~word, ~other;\n"
                                  ".reg .b64 ~time;\n"
                                  "mov.u64 ~time, %globaltimer;\n"
                                  "mov.u32 ~word, %tid.x;\n"
                                  "mov.u32 ~other, %tid.y;\n"
                                  "or.b32 ~word, ~word, ~other;\n"
                                  "mov.u32 ~other, %tid.z;\n"
                                  "or.b32 ~word, ~word, ~other;\n"
                                  "setp.ne.u32 ~off, ~word, 0;\n"
                                  "@!~off red.global.min.u64 [" VARIABLE "], ~time;\n"
                                  "}\n";

/* By the lowest of a warp's threads that come here, before each exit: one whose guard turns out false adds a stamp that
 * a later one exceeds. */
static const char end_lines[] = "{\n"
                                ".reg .pred ~off;\n"
                                ".reg .b32 ~word, ~other;\n"
                                ".reg .b64 ~time;\n"
                                "activemask.b32 ~word;\n"
                                "mov.u32 ~other, %lanemask_lt;\n"
                                "and.b32 ~word, ~word, ~other;\n"
                                "setp.ne.u32 ~off, ~word, 0;\n"
                                "mov.u64 ~time, %globaltimer;\n"
                                "@!~off red.global.max.u64 [" VARIABLE "+8], ~time;\n"
                                "}\n";

static int32_t stamp_entry(gd_edits *edits, const gd_ptx_function *entry, griddep_error *error)
{
    const gd_ptx_module *module = edits->module;
    int32_t status = gd_stamper_put(edits, entry->token_body, true, begin_lines, error);

    for (uint32_t i = entry->instruction; i < entry->instruction_end && !status; i++) {
        if (gd_stamper_is_end(entry, &module->instructions[i]))
            status = gd_stamper_put(edits, module->instructions[i].token, false, end_lines, error);
    }
    bool falls_off = gd_stamper_falls_off(module, entry);
    return !status && falls_off ? gd_stamper_put(edits, entry->token_end - 1, false, end_lines, error) : status;
}

static int32_t stamp_module(gd_edits *edits, const griddep_ptx *ptx, griddep_error *error)
{
    int32_t status = gd_stamper_declare(edits, declaration, error);

    for (uint32_t i = 0; i < ptx->module.entry_count && !status; i++)
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

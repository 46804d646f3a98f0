/* The public function griddep_ptx_rewrite: options, the two steps, the notes. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/rewrite/rewrite.h"
#include "ptx/rewrite/prefetch.h"
#include "ptx/rewrite/round.h"

enum { OPTIONS_MINIMUM = offsetof(griddep_rewrite_options, trigger_round) };

/* ---- options ---- */

static int32_t check_values(const griddep_rewrite_options *options, griddep_error *error)
{
    if (options->flags)
        return gd_error_set(error, GRIDDEP_ERROR_STRUCT,
                            "griddep_rewrite_options.flags is 0x%" PRIx32 ", expected 0",
                            options->flags);
    if (options->wait < GRIDDEP_WAIT_KEEP || options->wait > GRIDDEP_WAIT_START)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "wait is %" PRId32 ", which is no GRIDDEP_WAIT_*", options->wait);
    if (options->trigger < GRIDDEP_TRIGGER_KEEP || options->trigger > GRIDDEP_TRIGGER_LOOP)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "trigger is %" PRId32 ", which is no GRIDDEP_TRIGGER_*",
                            options->trigger);
    if (options->trigger == GRIDDEP_TRIGGER_LINE ? options->trigger_line < 1
                                                 : options->trigger_line != 0)
        return gd_error_set(
            error, GRIDDEP_ERROR_ARGUMENT,
            "trigger_line is %" PRId32
            "; a line, from 1, goes with GRIDDEP_TRIGGER_LINE and with nothing else",
            options->trigger_line);
    if ((options->trigger_round && options->trigger != GRIDDEP_TRIGGER_LOOP) || options->reserved)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "trigger_round goes with GRIDDEP_TRIGGER_LOOP and with nothing else, "
                            "and reserved is zero");
    if (options->constant_count && !options->constants)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "constants is NULL and constant_count is %" PRIu32,
                            options->constant_count);
    if (!options->prefetch && options->prefetch_bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "prefetch_bytes is given and prefetch is NULL");
    if (options->prefetch && (!options->prefetch_bytes || options->prefetch_bytes % 16 ||
                              options->prefetch_bytes > GD_PREFETCH_LIMIT_BYTES))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "prefetch_bytes is %" PRIu64
                            ", expected a multiple of 16 from 16 to %" PRIu64
                            " (GD_PREFETCH_LIMIT_BYTES)",
                            options->prefetch_bytes, GD_PREFETCH_LIMIT_BYTES);
    return GRIDDEP_OK;
}

static int32_t choose_entries(gd_rewrite *rewrite, const griddep_ptx *ptx, griddep_error *error)
{
    rewrite->entry = 0;
    rewrite->entry_end = ptx->module.entry_count;
    if (!rewrite->options.entry)
        return GRIDDEP_OK;
    if (!gd_ptx_find_entry(ptx, rewrite->options.entry, &rewrite->entry))
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "%s has no entry '%s'",
                            ptx->module.name, rewrite->options.entry);
    rewrite->entry_end = rewrite->entry + 1;
    return GRIDDEP_OK;
}

static int32_t check_prefetch(const gd_rewrite *rewrite, const griddep_ptx *ptx,
                              griddep_error *error)
{
    const char *name = rewrite->options.prefetch;

    if (!name)
        return GRIDDEP_OK;
    if (ptx->module.address_bits != 64)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "%s has 32-bit addresses; a prefetch needs .address_size 64",
                            ptx->module.name);
    for (uint32_t entry = rewrite->entry; entry < rewrite->entry_end; entry++) {
        uint32_t parameter = gd_rewrite_prefetch_of(rewrite, ptx, entry);
        const char *entry_name = gd_ptx_get_function(ptx, entry)->name;
        if (parameter == GD_PTX_NONE)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "%s has no parameter '%s' to prefetch", entry_name, name);
        if (ptx->module.symbols[parameter].bytes != 8 ||
            ptx->module.symbols[parameter].space != GD_SPACE_PARAM)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "the parameter '%s' of %s has %" PRIu64
                                " bytes and is no address in .param space",
                                name, entry_name, ptx->module.symbols[parameter].bytes);
        if (!strncmp(name, "%griddep_prefetch_", strlen("%griddep_prefetch_")))
            return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                                "the parameter '%s' of %s has a name that a prefetch uses", name,
                                entry_name);
    }
    return GRIDDEP_OK;
}

/* Every name that the caller gives must be some entry's parameter. */
static int32_t check_constants(gd_rewrite *rewrite, const griddep_ptx *ptx, griddep_error *error)
{
    gd_parameter_set set = {{0}};

    for (uint32_t entry = rewrite->entry; entry < rewrite->entry_end; entry++) {
        if (!gd_constants_of(&rewrite->constants, gd_ptx_get_function(ptx, entry), &set))
            return gd_error_memory(error);
    }
    for (uint32_t i = 0; i < rewrite->constants.count; i++) {
        const gd_constant *constant = &rewrite->constants.list[i];
        if (constant->offset == SIZE_MAX && !constant->used)
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "no entry that is rewritten has a parameter '%.*s'",
                                constant->bytes < 200 ? (int)constant->bytes : 200, constant->name);
    }
    return GRIDDEP_OK;
}

/* ---- the trigger's line ---- */

static uint32_t find_line_entry(const gd_rewrite *rewrite, const griddep_ptx *ptx)
{
    for (uint32_t entry = rewrite->entry; entry < rewrite->entry_end; entry++) {
        const gd_ptx_function *function = gd_ptx_get_function(ptx, entry);
        int32_t first, last, column;
        gd_ptx_token_position(&ptx->module, function->token_body, &first, &column);
        gd_ptx_token_position(&ptx->module, function->token_end - 1, &last, &column);
        if (rewrite->options.trigger_line >= first && rewrite->options.trigger_line <= last)
            return entry;
    }
    return GD_PTX_NONE;
}

/* Marks what is this library's own work in an entry: controls, and the prefetch that goes. */
static void mark_own_work(const gd_rewrite *rewrite, const gd_ptx_module *module,
                          const gd_ptx_function *function, bool *own)
{
    uint32_t next = function->instruction, scope = GD_PTX_NONE;

    for (uint32_t i = function->control; i < function->control_end; i++)
        own[module->controls[i].instruction - function->instruction] = true;
    for (uint32_t i = function->instruction; i < function->instruction_end; i++)
        own[i - function->instruction] |= gd_round_is_own(module, &module->instructions[i]);
    while (rewrite->options.prefetch &&
           (scope = gd_prefetch_find(module, function, rewrite->options.prefetch, &next)) !=
               GD_PTX_NONE) {
        uint32_t first = next - 1;
        if (own[first - function->instruction])
            continue;
        while (first > function->instruction && module->instructions[first - 1].scope == scope &&
               !own[first - 1 - function->instruction])
            first--;
        for (; first < function->instruction_end && module->instructions[first].scope == scope;
             first++)
            own[first - function->instruction] = true;
    }
}

/* The first instruction on or behind the line that is not of this library's making, counted as it
 * will be when what goes has gone: of what stays, only waits are this library's. */
static int32_t count_to_line(gd_rewrite *rewrite, const gd_ptx_module *module,
                             const gd_ptx_function *function, const bool *own, griddep_error *error)
{
    int32_t line = rewrite->options.trigger_line, at, column;
    bool waits_stay =
        rewrite->options.wait == GRIDDEP_WAIT_KEEP || rewrite->options.wait == GRIDDEP_WAIT_INSERT;

    rewrite->line_instruction = 0;
    for (uint32_t i = function->instruction; i < function->instruction_end; i++) {
        bool is_own = own[i - function->instruction];
        gd_ptx_token_position(module, module->instructions[i].token, &at, &column);
        if (at >= line && !is_own)
            return GRIDDEP_OK;
        rewrite->line_instruction +=
            !is_own || (waits_stay && module->instructions[i].op == GD_OP_GRIDDEPCONTROL_WAIT);
    }
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "%s has no instruction on or behind line %" PRId32, function->name, line);
}

static int32_t find_line(gd_rewrite *rewrite, const griddep_ptx *ptx, griddep_error *error)
{
    if (rewrite->options.trigger != GRIDDEP_TRIGGER_LINE)
        return GRIDDEP_OK;
    rewrite->line_entry = find_line_entry(rewrite, ptx);
    if (rewrite->line_entry == GD_PTX_NONE)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "line %" PRId32 " of %s is outside of the entries that are rewritten",
                            rewrite->options.trigger_line, ptx->module.name);
    const gd_ptx_function *function = gd_ptx_get_function(ptx, rewrite->line_entry);
    bool *own =
        calloc((size_t)(function->instruction_end - function->instruction) + 1, sizeof *own);
    if (!own)
        return gd_error_memory(error);
    mark_own_work(rewrite, &ptx->module, function, own);
    int32_t status = count_to_line(rewrite, &ptx->module, function, own, error);
    free(own);
    return status;
}

/* ---- steps ---- */

static int32_t read_options(gd_rewrite *rewrite, const griddep_ptx *ptx,
                            const griddep_rewrite_options *options, griddep_error *error)
{
    const gd_ptx_module *module = &ptx->module;
    int32_t status = gd_struct_read(&rewrite->options, sizeof rewrite->options, OPTIONS_MINIMUM,
                                    options, "griddep_rewrite_options", error);

    if (!status)
        status = check_values(&rewrite->options, error);
    if (!status)
        status = choose_entries(rewrite, ptx, error);
    if (!status)
        status = gd_constants_create(&rewrite->constants, rewrite->options.constants,
                                     rewrite->options.constant_count, module->text, module->bytes,
                                     error);
    if (!status)
        status = check_constants(rewrite, ptx, error);
    if (!status)
        status = check_prefetch(rewrite, ptx, error);
    if (!status)
        status = find_line(rewrite, ptx, error);
    return status;
}

static int32_t run_steps(gd_rewrite *rewrite, const griddep_ptx *ptx, griddep_ptx **made,
                         griddep_error *error)
{
    griddep_ptx *taken = NULL, *retaken = NULL;

    gd_rewrite_begin_step(&rewrite->taking, ptx);
    int32_t status = gd_rewrite_take(rewrite, error);
    if (!status && rewrite->taking.edits.count)
        status = gd_rewrite_finish_step(&rewrite->taking, &taken, error);
    if (!status)
        status = gd_rewrite_retake(rewrite, taken ? taken : ptx, &retaken, error);
    if (!status) {
        gd_rewrite_begin_step(&rewrite->putting, retaken ? retaken : taken ? taken : ptx);
        status = gd_rewrite_put(rewrite, error);
    }
    if (!status)
        status = gd_rewrite_finish_step(&rewrite->putting, made, error);
    griddep_ptx_destroy(taken);
    griddep_ptx_destroy(retaken);
    return status;
}

/* ---- notes ---- */

static const char *words_of(gd_code code)
{
    switch (code) {
    case GD_CODE_GD301:
        return "griddepcontrol.wait was inserted";
    case GD_CODE_GD302:
        return "a griddepcontrol.wait before this was removed";
    case GD_CODE_GD303:
        return "griddepcontrol.launch_dependents was inserted";
    case GD_CODE_GD304:
        return "a griddepcontrol.launch_dependents before this was removed";
    case GD_CODE_GD305:
        return "a prefetch into L2 was inserted";
    case GD_CODE_GD306:
        return ".version was raised";
    default:
        return ".target was raised";
    }
}

static void add_note(griddep_findings *findings, const griddep_ptx *made,
                     const gd_rewrite_note *item, uint32_t offset)
{
    gd_finding_draft draft = {
        .code = item->code,
        .launch = -1,
        .module = &made->module,
        .token = gd_ptx_tokens_from(&made->module.tokens, offset),
        .entry = item->entry == GD_PTX_NONE ? NULL : gd_ptx_get_function(made, item->entry)->name,
    };
    gd_findings_add(findings, &draft, "%s", words_of(item->code));
}

/* Where something that was taken out would stand at the end. */
static uint32_t final_place(const gd_rewrite *rewrite, uint32_t offset)
{
    if (rewrite->retaking.edits.sorted)
        offset = gd_edits_map(&rewrite->retaking.edits, offset);
    return gd_edits_map(&rewrite->putting.edits, offset);
}

/* A text that came out as it went in has no notes. */
static int32_t make_notes(const gd_rewrite *rewrite, const griddep_ptx *ptx,
                          const griddep_ptx *made, griddep_findings **notes, griddep_error *error)
{
    griddep_findings *findings = gd_findings_create();
    bool same = ptx->module.bytes == made->module.bytes &&
                !memcmp(ptx->module.text, made->module.text, ptx->module.bytes);

    if (!findings)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < rewrite->taking.note_count && !same; i++)
        add_note(findings, made, &rewrite->taking.notes[i],
                 final_place(rewrite, rewrite->taking.notes[i].offset));
    for (uint32_t i = 0; i < rewrite->putting.note_count && !same; i++)
        add_note(findings, made, &rewrite->putting.notes[i], rewrite->putting.notes[i].offset);
    int32_t status = gd_findings_check(findings, error);
    if (status) {
        griddep_findings_destroy(findings);
        return status;
    }
    *notes = findings;
    return GRIDDEP_OK;
}

static int32_t check_arguments(const griddep_ptx *ptx, const griddep_rewrite_options *options,
                               griddep_ptx **rewritten, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!ptx)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "ptx is NULL");
    if (!options)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "options is NULL");
    return rewritten ? GRIDDEP_OK
                     : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "rewritten is NULL");
}

int32_t griddep_ptx_rewrite(const griddep_ptx *ptx, const griddep_rewrite_options *options,
                            griddep_ptx **rewritten, griddep_findings **notes, griddep_error *error)
{
    gd_rewrite rewrite = {.line_entry = GD_PTX_NONE};
    griddep_ptx *made = NULL;
    griddep_findings *findings = NULL;
    int32_t status = check_arguments(ptx, options, rewritten, error);

    if (status)
        return status;
    status = read_options(&rewrite, ptx, options, error);
    if (!status)
        status = run_steps(&rewrite, ptx, &made, error);
    if (!status && notes)
        status = make_notes(&rewrite, ptx, made, &findings, error);
    if (!status) {
        *rewritten = made;
        made = NULL;
        if (notes)
            *notes = findings;
    }
    gd_rewrite_free_step(&rewrite.taking);
    gd_rewrite_free_step(&rewrite.retaking);
    gd_rewrite_free_step(&rewrite.putting);
    free(rewrite.again);
    gd_constants_free(&rewrite.constants);
    griddep_ptx_destroy(made);
    return status;
}

/* Waits that stand where the rewriter would insert them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/rewrite/rewrite.h"
#include "ptx/rewrite/place.h"

/* The entry's only wait, without a guard; GD_PTX_NONE where it has none, several, or one that must
 * be kept. */
static uint32_t only_wait(const griddep_ptx *ptx, uint32_t entry)
{
    const gd_ptx_function *function = gd_ptx_get_function(ptx, entry);
    uint32_t found = GD_PTX_NONE;

    for (uint32_t i = function->control; i < function->control_end; i++) {
        const gd_ptx_control *control = &ptx->module.controls[i];
        if (control->kind != GD_PTX_CONTROL_WAIT)
            continue;
        if (found != GD_PTX_NONE || control->predicated)
            return GD_PTX_NONE;
        found = control->instruction;
    }
    return found;
}

/* Takes out the waits of all entries that `again` names; *taken is NULL where it names none. */
static int32_t take_waits(gd_rewrite *rewrite, const griddep_ptx *ptx, griddep_ptx **taken,
                          griddep_error *error)
{
    gd_rewrite_free_step(&rewrite->retaking);
    gd_rewrite_begin_step(&rewrite->retaking, ptx);
    for (uint32_t entry = rewrite->entry; entry < rewrite->entry_end; entry++) {
        if (!rewrite->again[entry])
            continue;
        const gd_ptx_instruction *wait = &ptx->module.instructions[only_wait(ptx, entry)];
        if (gd_edits_remove(&rewrite->retaking.edits, wait->token, wait->token_end) == GD_PTX_NONE)
            return gd_error_memory(error);
    }
    return rewrite->retaking.edits.count ? gd_rewrite_finish_step(&rewrite->retaking, taken, error)
                                         : GRIDDEP_OK;
}

/* Whether putting `there` into a text at one place gives the same as putting `here` in at
 * another. */
static bool is_same_insertion(const char *text, uint32_t place, const char *here, uint32_t other,
                              const char *there, uint32_t bytes)
{
    if (place > other)
        return is_same_insertion(text, other, there, place, here, bytes);
    uint32_t between = other - place;
    if (between > bytes)
        return false;
    return !memcmp(here, text + place, between) &&
           !memcmp(here + between, there, bytes - between) &&
           !memcmp(text + place, there + bytes - between, between);
}

/* Whether inserting a wait into the text without it gives back the text with it. */
static int32_t check_entry(const gd_rewrite *rewrite, const griddep_ptx *taken,
                           const gd_edit *removal, gd_placer *placer, bool *same,
                           griddep_error *error)
{
    gd_edits edits = {.module = &taken->module};
    int32_t status = gd_placer_create(placer, error);

    *same = false;
    if (!status) {
        gd_place place = gd_place_before_effects(placer, GD_EFFECT_READ | GD_EFFECT_WRITE);
        uint32_t edit = place.behind
                            ? gd_edits_insert_behind(&edits, place.token, GD_REWRITE_WAIT, 0)
                            : gd_edits_insert_before(&edits, place.token, GD_REWRITE_WAIT, 0);
        if (edit == GD_PTX_NONE)
            status = gd_error_memory(error);
        else
            *same = edits.list[edit].bytes == removal->removed &&
                    is_same_insertion(taken->module.text, edits.list[edit].offset,
                                      edits.list[edit].text, removal->placed,
                                      rewrite->retaking.edits.module->text + removal->offset,
                                      removal->removed);
    }
    gd_placer_free(placer);
    gd_edits_free(&edits);
    return status;
}

/* Keeps in `again` the entries whose wait would come back to where it was; *all: that is all of
 * them. */
static int32_t check_entries(gd_rewrite *rewrite, const griddep_ptx *taken, bool *all,
                             griddep_error *error)
{
    uint8_t *call_effects = gd_place_call_effects(&taken->module, error);
    uint32_t removal = 0;
    int32_t status = call_effects ? GRIDDEP_OK : GRIDDEP_ERROR_MEMORY;

    *all = true;
    for (uint32_t entry = rewrite->entry; entry < rewrite->entry_end && !status; entry++) {
        gd_parameter_set constants = {{0}};
        if (!rewrite->again[entry])
            continue;
        if (!gd_constants_of(&rewrite->constants, gd_ptx_get_function(taken, entry), &constants)) {
            status = gd_error_memory(error);
            break;
        }
        gd_placer placer = {
            .module = &taken->module,
            .function = taken->module.entries[entry],
            .call_effects = call_effects,
            .constants = &constants,
        };
        status = check_entry(rewrite, taken, &rewrite->retaking.edits.list[removal++], &placer,
                             &rewrite->again[entry], error);
        *all &= rewrite->again[entry];
    }
    free(call_effects);
    return status;
}

/* A wait with a comment inside is removed in pieces; it is none of this library's. */
static bool is_plain(const griddep_ptx *ptx, uint32_t wait)
{
    const gd_ptx_module *module = &ptx->module;
    const gd_ptx_instruction *item = &module->instructions[wait];
    uint32_t first = module->tokens.list[item->token].offset,
             last = module->tokens.list[item->token_end - 1].offset;

    return last + 1 - first == strlen("griddepcontrol.wait;");
}

/* Takes a wait in front of the trigger's line out of the count. */
static void settle_line(gd_rewrite *rewrite, const griddep_ptx *ptx)
{
    uint32_t entry = rewrite->line_entry;

    if (entry == GD_PTX_NONE || !rewrite->again[entry])
        return;
    uint32_t place = only_wait(ptx, entry) - gd_ptx_get_function(ptx, entry)->instruction;
    rewrite->line_instruction -= place < rewrite->line_instruction;
}

int32_t gd_rewrite_retake(gd_rewrite *rewrite, const griddep_ptx *ptx, griddep_ptx **made,
                          griddep_error *error)
{
    griddep_ptx *taken = NULL;
    bool all = true;

    rewrite->again = calloc((size_t)ptx->module.entry_count + 1, sizeof *rewrite->again);
    if (!rewrite->again)
        return gd_error_memory(error);
    for (uint32_t entry = rewrite->entry; entry < rewrite->entry_end; entry++) {
        uint32_t wait =
            rewrite->options.wait == GRIDDEP_WAIT_INSERT ? only_wait(ptx, entry) : GD_PTX_NONE;
        rewrite->again[entry] = wait != GD_PTX_NONE && is_plain(ptx, wait);
    }
    int32_t status = take_waits(rewrite, ptx, &taken, error);
    if (!status && taken)
        status = check_entries(rewrite, taken, &all, error);
    if (!status && !all) { /* what stays must be back in */
        griddep_ptx_destroy(taken);
        taken = NULL;
        status = take_waits(rewrite, ptx, &taken, error);
    }
    if (status) {
        griddep_ptx_destroy(taken);
        return status;
    }
    settle_line(rewrite, ptx);
    *made = taken;
    return GRIDDEP_OK;
}

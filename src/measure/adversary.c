/* The adversary's texts: delays put before stores or loads, and waits that are taken away or given
 * to some threads only. Edits of the text, as the rewriter makes them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/private.h"
#include "ptx/text/edit.h"
#include "ptx/handle/ptx.h"
#include "ptx/rewrite/place.h"

#define REGISTERS                                                                                  \
    ".reg .pred %gd_early;\n.reg .b32 %gd_slept;\n.reg .b64 %gd_from, %gd_now;\nmov.u32 "          \
    "%gd_slept, 0;\n"
#define WAIT_REGISTERS ".reg .pred %gd_narrow;\n.reg .b32 %gd_some;\n"
#define WAIT "griddepcontrol.wait;\n"

/* ---- what both do ---- */

static int32_t find_entry(const griddep_ptx *ptx, const char *name, uint32_t *entry,
                          griddep_error *error)
{
    if (!gd_ptx_find_entry(ptx, name, entry) ||
        gd_ptx_get_function(ptx, *entry)->token_body == GD_PTX_NONE)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "there is no entry '%s' with a body",
                            name);
    return GRIDDEP_OK;
}

static int32_t finish(gd_edits *edits, const griddep_ptx *ptx, griddep_ptx **made,
                      griddep_error *error)
{
    gd_text text = {0};

    gd_edits_apply(edits, &text);
    int32_t status = text.failed
                         ? gd_error_memory(error)
                         : griddep_ptx_parse(text.data, text.bytes, ptx->module.name, made, error);
    gd_text_free(&text);
    return status;
}

static bool insert_before(gd_edits *edits, const gd_ptx_module *module, uint32_t instruction,
                          const char *lines)
{
    return gd_edits_insert_before(edits, module->instructions[instruction].token, lines, 0) !=
           GD_PTX_NONE;
}

static bool insert_head(gd_edits *edits, const gd_ptx_function *function, const char *lines)
{
    return gd_edits_insert_behind(edits, function->token_body, lines, 0) != GD_PTX_NONE;
}

/* ---- delays ---- */

static bool insert_delay(gd_edits *edits, const gd_ptx_module *module, uint32_t instruction,
                         uint32_t nanoseconds)
{
    gd_text text = {0};
    unsigned number = instruction;

    gd_text_format(
        &text,
        "setp.ne.u32 %%gd_early, %%gd_slept, 0;\n@%%gd_early bra $gd_go_%u;\nmov.u32 %%gd_slept, "
        "1;\n"
        "mov.u64 %%gd_from, %%globaltimer;\n$gd_sleep_%u:\nmov.u64 %%gd_now, %%globaltimer;\n"
        "sub.u64 %%gd_now, %%gd_now, %%gd_from;\nsetp.lt.u64 %%gd_early, %%gd_now, %u;\n"
        "@%%gd_early bra $gd_sleep_%u;\n$gd_go_%u:\n",
        number, number, (unsigned)nanoseconds, number, number);
    bool done = !text.failed && insert_before(edits, module, instruction, gd_text_get(&text));
    gd_text_free(&text);
    return done;
}

static int32_t insert_delays(gd_edits *edits, const gd_placer *placer, uint32_t effect,
                             uint32_t nanoseconds, griddep_error *error)
{
    const gd_ptx_function *function = &placer->module->functions[placer->function];
    uint32_t count = 0;
    bool done = true;

    for (uint32_t i = function->instruction; i < function->instruction_end && done; i++) {
        if (!(placer->effects[i - function->instruction] & effect))
            continue;
        done = insert_delay(edits, placer->module, i, nanoseconds);
        count++;
    }
    if (!done || (count && !insert_head(edits, function, REGISTERS)))
        return gd_error_memory(error);
    return count ? GRIDDEP_OK
                 : gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                                "'%s' has no %s that could be delayed", function->name,
                                effect == GD_EFFECT_WRITE ? "store" : "load");
}

static int32_t delay(const griddep_ptx *ptx, const gd_ptx_function *function, uint32_t effect,
                     uint32_t nanoseconds, griddep_ptx **delayed, griddep_error *error)
{
    const gd_parameter_set none = {{0}};
    uint8_t *call_effects = gd_place_call_effects(&ptx->module, error);
    gd_edits edits = {.module = &ptx->module};

    if (!call_effects)
        return GRIDDEP_ERROR_MEMORY;
    gd_placer placer = {.module = &ptx->module,
                        .function = (uint32_t)(function - ptx->module.functions),
                        .call_effects = call_effects,
                        .constants = &none};
    int32_t status = gd_placer_create(&placer, error);
    if (!status)
        status = insert_delays(&edits, &placer, effect, nanoseconds, error);
    if (!status)
        status = finish(&edits, ptx, delayed, error);
    gd_placer_free(&placer);
    gd_edits_free(&edits);
    free(call_effects);
    return status;
}

int32_t gd_ptx_delay(const griddep_ptx *ptx, const char *entry, int32_t place, uint32_t nanoseconds,
                     griddep_ptx **delayed, griddep_error *error)
{
    uint32_t index;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!ptx || !entry || !delayed || place < GD_DELAY_STORES || place > GD_DELAY_LOADS ||
        !nanoseconds)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "no PTX, entry, time or result, or a place that is none");
    status = find_entry(ptx, entry, &index, error);
    if (status)
        return status;
    return delay(ptx, gd_ptx_get_function(ptx, index),
                 place == GD_DELAY_STORES ? GD_EFFECT_WRITE : GD_EFFECT_READ, nanoseconds, delayed,
                 error);
}

/* ---- broken waits ---- */

static bool is_exit(const gd_ptx_instruction *instruction)
{
    uint8_t control = gd_ops[instruction->op].control;

    return control == GD_CONTROL_RETURN || control == GD_CONTROL_EXIT;
}

static bool is_global_load(const gd_ptx_module *module, const gd_ptx_instruction *instruction)
{
    const char *text = module->text + module->tokens.list[instruction->opcode].offset;

    return !strncmp(text, "ld.", 3) && strstr(text, "global") &&
           strstr(text, "global") < strchr(text, ';');
}

/* Behind the first load that stands behind the wait. */
static bool put_behind_load(gd_edits *edits, const gd_ptx_function *function, uint32_t wait,
                            bool *found)
{
    const gd_ptx_module *module = edits->module;

    for (uint32_t i = wait + 1; i < function->instruction_end; i++) {
        const gd_ptx_instruction *instruction = &module->instructions[i];
        if (!is_global_load(module, instruction))
            continue;
        *found = true;
        return gd_edits_insert_behind(edits, instruction->token_end - 1, WAIT, 0) != GD_PTX_NONE;
    }
    *found = false;
    return true;
}

static bool put_at_exits(gd_edits *edits, const gd_ptx_function *function)
{
    for (uint32_t i = function->instruction; i < function->instruction_end; i++)
        if (is_exit(&edits->module->instructions[i]) &&
            !insert_before(edits, edits->module, i, WAIT))
            return false;
    return true;
}

static bool put_narrow(gd_edits *edits, const gd_ptx_function *function, uint32_t wait, int32_t how)
{
    static const char *const conditions[] = {
        [GD_BREAK_ONE_WARP] = "mov.u32 %gd_some, %tid.x;\nsetp.lt.u32 %gd_narrow, %gd_some, 32;\n",
        [GD_BREAK_ONE_LESS] = "mov.u32 %gd_some, %tid.x;\nsetp.ge.u32 %gd_narrow, %gd_some, 32;\n",
        [GD_BREAK_HALF_WARP] =
            "mov.u32 %gd_some, %laneid;\nsetp.lt.u32 %gd_narrow, %gd_some, 16;\n"};

    return insert_head(edits, function, WAIT_REGISTERS) &&
           insert_before(edits, edits->module, wait, conditions[how]) &&
           gd_edits_insert_before(edits, edits->module->instructions[wait].token,
                                  "@%gd_narrow " WAIT, 1) != GD_PTX_NONE;
}

static int32_t break_one(gd_edits *edits, const gd_ptx_function *function, uint32_t wait,
                         int32_t how, griddep_error *error)
{
    const gd_ptx_instruction *instruction = &edits->module->instructions[wait];
    bool found = true, done = true;

    if (how == GD_BREAK_DELAY)
        done = put_behind_load(edits, function, wait, &found);
    else if (how == GD_BREAK_END)
        done = put_at_exits(edits, function);
    else if (how > GD_BREAK_END)
        done = put_narrow(edits, function, wait, how);
    if (!found)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "'%s' has no load behind its wait",
                            function->name);
    if (done)
        done = gd_edits_remove(edits, instruction->token, instruction->token_end) != GD_PTX_NONE;
    return done ? GRIDDEP_OK : gd_error_memory(error);
}

/* The first wait is broken as is said, all others are taken away. */
static int32_t break_all(gd_edits *edits, const gd_ptx_function *function, int32_t how,
                         griddep_error *error)
{
    const gd_ptx_module *module = edits->module;
    int32_t status = GRIDDEP_OK;
    uint32_t count = 0;

    for (uint32_t i = function->control; i < function->control_end && !status; i++) {
        const gd_ptx_control *control = &module->controls[i];
        if (control->kind == GRIDDEP_CONTROL_WAIT && !control->predicated)
            status = break_one(edits, function, control->instruction,
                               count++ ? GD_BREAK_DELETE : how, error);
    }
    if (!status && !count)
        status = gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "'%s' has no wait to break",
                              function->name);
    return status;
}

const char *gd_break_text(int32_t how)
{
    static const char *const texts[GD_BREAK_COUNT] = {
        "deleted",        "behind the first load",      "before the end",
        "in warp 0 only", "in all warps but the first", "in half of each warp"};

    return how >= 0 && how < GD_BREAK_COUNT ? texts[how] : NULL;
}

int32_t gd_ptx_break_wait(const griddep_ptx *ptx, const char *entry, int32_t how,
                          griddep_ptx **broken, griddep_error *error)
{
    uint32_t index;
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!ptx || !entry || !broken || how < 0 || how >= GD_BREAK_COUNT)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "no PTX, entry or result, or a way that is none");
    gd_edits edits = {.module = &ptx->module};
    status = find_entry(ptx, entry, &index, error);
    if (!status)
        status = break_all(&edits, gd_ptx_get_function(ptx, index), how, error);
    if (!status)
        status = finish(&edits, ptx, broken, error);
    gd_edits_free(&edits);
    return status;
}

/* The adversary's texts: delays put before stores or loads. Edits of the text, as the rewriter
 * makes them. */
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

/* The two steps of a rewrite: what goes, and what comes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/isa/need.h"
#include "ptx/text/array.h"
#include "ptx/rewrite/rewrite.h"
#include "ptx/rewrite/old.h"
#include "ptx/rewrite/place.h"
#include "ptx/rewrite/prefetch.h"
#include "ptx/rewrite/round.h"

#define TRIGGER "griddepcontrol.launch_dependents;\n"

/* The order of what is inserted at one place. A trigger that was asked for at the start comes
 * before what takes time; one that has to do with stores comes behind the wait. */
enum {
    RANK_TRIGGER_BEHIND,
    RANK_WAIT_BEHIND,
    RANK_COUNTER,
    RANK_TRIGGER_START,
    RANK_PREFETCH,
    RANK_WAIT,
    RANK_TRIGGER
};

/* Notes an edit that was made; its number is GD_PTX_NONE where memory has run out. */
static int32_t note(gd_rewrite_step *step, gd_code code, uint32_t entry, uint32_t edit,
                    griddep_error *error)
{
    if (edit == GD_PTX_NONE)
        return gd_error_memory(error);
    if (step->note_count == step->note_capacity &&
        !gd_array_grow((void **)&step->notes, &step->note_capacity, sizeof *step->notes))
        return gd_error_memory(error);
    step->notes[step->note_count++] = (gd_rewrite_note){.code = code, .entry = entry, .edit = edit};
    return GRIDDEP_OK;
}

int32_t gd_rewrite_trigger_of(const gd_rewrite *rewrite, uint32_t entry)
{
    if (rewrite->options.trigger == GRIDDEP_TRIGGER_LINE && entry != rewrite->line_entry)
        return GRIDDEP_TRIGGER_KEEP;
    return rewrite->options.trigger;
}

uint32_t gd_rewrite_prefetch_of(const gd_rewrite *rewrite, const griddep_ptx *ptx, uint32_t entry)
{
    const gd_ptx_function *function = gd_ptx_get_function(ptx, entry);

    for (uint32_t i = function->parameter; rewrite->options.prefetch && i < function->parameter_end;
         i++) {
        if (!strcmp(function->parameter_names[i - function->parameter], rewrite->options.prefetch))
            return i;
    }
    return GD_PTX_NONE;
}

/* ---- steps ---- */

void gd_rewrite_begin_step(gd_rewrite_step *step, const griddep_ptx *ptx)
{
    step->ptx = ptx;
    step->edits.module = &ptx->module;
}

void gd_rewrite_free_step(gd_rewrite_step *step)
{
    gd_edits_free(&step->edits);
    free(step->notes);
    *step = (gd_rewrite_step){0};
}

int32_t gd_rewrite_finish_step(gd_rewrite_step *step, griddep_ptx **ptx, griddep_error *error)
{
    gd_text text = {0};

    gd_edits_apply(&step->edits, &text);
    int32_t status = text.failed ? gd_error_memory(error)
                                 : griddep_ptx_parse(gd_text_get(&text), text.bytes,
                                                     step->ptx->module.name, ptx, error);
    for (uint32_t i = 0; i < step->note_count && !status; i++)
        step->notes[i].offset = step->edits.list[step->notes[i].edit].placed;
    gd_text_free(&text);
    return status;
}

/* ---- what goes ---- */

static bool wait_goes(const gd_rewrite *rewrite)
{
    return rewrite->options.wait != GRIDDEP_WAIT_KEEP &&
           rewrite->options.wait != GRIDDEP_WAIT_INSERT;
}

static int32_t take_controls(gd_rewrite *rewrite, uint32_t entry, griddep_error *error)
{
    gd_rewrite_step *step = &rewrite->taking;
    const gd_ptx_module *module = &step->ptx->module;
    const gd_ptx_function *function = gd_ptx_get_function(step->ptx, entry);
    bool trigger_goes = gd_rewrite_trigger_of(rewrite, entry) != GRIDDEP_TRIGGER_KEEP;
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = function->control; i < function->control_end && !status; i++) {
        const gd_ptx_instruction *instruction =
            &module->instructions[module->controls[i].instruction];
        bool is_wait = module->controls[i].kind == GD_PTX_CONTROL_WAIT;
        if (is_wait ? wait_goes(rewrite) : trigger_goes)
            status = note(step, is_wait ? GD_CODE_GD302 : GD_CODE_GD304, entry,
                          gd_edits_remove(&step->edits, instruction->token, instruction->token_end),
                          error);
    }
    if (!status && trigger_goes && !gd_round_remove(&step->edits, function))
        status = gd_error_memory(error);
    return status;
}

static int32_t take_prefetches(gd_rewrite *rewrite, uint32_t entry, griddep_error *error)
{
    gd_rewrite_step *step = &rewrite->taking;
    const gd_ptx_module *module = &step->ptx->module;
    const gd_ptx_function *function = gd_ptx_get_function(step->ptx, entry);
    uint32_t instruction = function->instruction, scope;

    if (!rewrite->options.prefetch)
        return GRIDDEP_OK;
    while ((scope = gd_prefetch_find(module, function, rewrite->options.prefetch, &instruction)) !=
           GD_PTX_NONE) {
        if (gd_edits_remove(&step->edits, module->scopes[scope].token,
                            module->scopes[scope].token_end + 1) == GD_PTX_NONE)
            return gd_error_memory(error);
    }
    return GRIDDEP_OK;
}

int32_t gd_rewrite_take(gd_rewrite *rewrite, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t entry = rewrite->entry; entry < rewrite->entry_end && !status; entry++) {
        status = take_controls(rewrite, entry, error);
        if (!status)
            status = take_prefetches(rewrite, entry, error);
    }
    return status;
}

/* ---- what comes ---- */

/* One entry, while it is put together. */
typedef struct putting {
    gd_rewrite *rewrite;
    gd_rewrite_step *step;
    uint32_t entry;
    const gd_ptx_function *function;
    gd_placer placer;
    griddep_error *error;
} putting;

/* Inserts lines and notes that for a code. */
static int32_t insert(putting *at, gd_place place, const char *lines, uint32_t rank, gd_code code)
{
    gd_edits *edits = &at->step->edits;
    int32_t line, column;

    if (!place.behind && !gd_edits_has_room(edits, place.token)) {
        gd_ptx_token_position(edits->module, place.token, &line, &column);
        return gd_error_set_at(
            at->error, GRIDDEP_ERROR_UNSUPPORTED, edits->module->name, line, column,
            "%s:%" PRId32 ":%" PRId32
            ": nothing can be inserted here, behind a directive that has no end of its own",
            edits->module->name, line, column);
    }
    uint32_t edit = place.behind ? gd_edits_insert_behind(edits, place.token, lines, rank)
                                 : gd_edits_insert_before(edits, place.token, lines, rank);
    return note(at->step, code, at->entry, edit, at->error);
}

static int32_t put_trigger(putting *at, gd_place place, uint32_t rank)
{
    return insert(at, place, TRIGGER, rank, GD_CODE_GD303);
}

static bool has_wait(const putting *at)
{
    const gd_ptx_module *module = &at->step->ptx->module;

    for (uint32_t i = at->function->control; i < at->function->control_end; i++) {
        if (module->controls[i].kind == GD_PTX_CONTROL_WAIT)
            return true;
    }
    return at->function->traits & GRIDDEP_TRAIT_WAITS_ALWAYS;
}

/* A wait, and the trigger that comes right behind it, if that was asked for. */
static int32_t put_wait(putting *at)
{
    int32_t wait = at->rewrite->options.wait;
    bool triggers = gd_rewrite_trigger_of(at->rewrite, at->entry) == GRIDDEP_TRIGGER_AFTER_WAIT;
    gd_place place = wait == GRIDDEP_WAIT_START
                         ? gd_place_start(&at->placer)
                         : gd_place_before_effects(&at->placer, GD_EFFECT_READ | GD_EFFECT_WRITE);
    uint32_t rank = place.behind ? RANK_WAIT_BEHIND : RANK_WAIT;
    int32_t status = insert(at, place, GD_REWRITE_WAIT, rank, GD_CODE_GD301);
    if (!status && at->rewrite->again[at->entry])
        at->step->note_count--; /* it was there */

    return status || !triggers ? status : put_trigger(at, place, rank);
}

static int32_t put_trigger_after_wait(putting *at)
{
    const gd_ptx_module *module = &at->step->ptx->module;

    if (!has_wait(at))
        return gd_error_set(at->error, GRIDDEP_ERROR_ARGUMENT,
                            "%s has no griddepcontrol.wait that a trigger could follow",
                            at->function->name);
    for (uint32_t i = at->function->control; i < at->function->control_end; i++) {
        const gd_ptx_control *control = &module->controls[i];
        if (control->kind == GD_PTX_CONTROL_WAIT && !control->predicated &&
            gd_place_is_common(&at->placer, control->instruction))
            return put_trigger(
                at,
                (gd_place){.token = module->instructions[control->instruction].token_end - 1,
                           .behind = true},
                RANK_TRIGGER_BEHIND);
    }
    return gd_error_set(at->error, GRIDDEP_ERROR_UNSUPPORTED,
                        "%s has no griddepcontrol.wait that every thread executes once in the "
                        "entry itself, so a trigger "
                        "cannot follow it",
                        at->function->name);
}

/* @!%p griddepcontrol.launch_dependents; */
static int32_t put_trigger_before_exit(putting *at, uint32_t instruction)
{
    const gd_ptx_module *module = &at->step->ptx->module;
    const gd_ptx_instruction *exit = &module->instructions[instruction];
    gd_place place = gd_place_before(&at->placer, instruction);
    gd_text line = {0};

    for (uint32_t token = exit->token; token < exit->opcode; token++) {
        uint32_t length;
        const char *text = gd_ptx_token_text(module, token, &length);
        gd_text_append(&line, text, length);
    }
    gd_text_string(&line, exit->token < exit->opcode ? " " TRIGGER : TRIGGER);
    if (exit->token < exit->opcode)
        place.token = exit->token; /* where the predicate is declared */
    else if (instruction == at->function->instruction)
        place = gd_place_start(&at->placer);
    int32_t status = line.failed
                         ? gd_error_memory(at->error)
                         : insert(at, place, gd_text_get(&line), RANK_TRIGGER, GD_CODE_GD303);
    gd_text_free(&line);
    return status;
}

static int32_t put_triggers_at_end(putting *at)
{
    const gd_ptx_module *module = &at->step->ptx->module;
    bool found = false;
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = at->function->instruction; i < at->function->instruction_end && !status;
         i++) {
        uint8_t control = gd_ops[module->instructions[i].op].control;
        uint32_t block = gd_flow_block_of(at->placer.flow, i);
        if ((control != GD_CONTROL_RETURN && control != GD_CONTROL_EXIT) ||
            at->placer.flow->blocks[block].order == GD_PTX_NONE)
            continue;
        found = true;
        status = put_trigger_before_exit(at, i);
    }
    if (!status && gd_place_falls_off(&at->placer)) {
        found = true;
        status = put_trigger(at, (gd_place){.token = at->function->token_end - 1}, RANK_TRIGGER);
    }
    if (!status && !found)
        return gd_error_set(at->error, GRIDDEP_ERROR_UNSUPPORTED,
                            "%s has no exit that a trigger could stand before", at->function->name);
    return status;
}

static int32_t put_trigger_after_loads(putting *at)
{
    gd_place place;

    if (!gd_place_after_reads(&at->placer, &place))
        return put_triggers_at_end(at);
    return put_trigger(at, place, place.behind ? RANK_TRIGGER_BEHIND : RANK_TRIGGER_START);
}

static int32_t put_trigger_at_line(putting *at)
{
    uint32_t instruction = at->function->instruction + at->rewrite->line_instruction;

    if (!gd_place_is_common(&at->placer, instruction))
        return gd_error_set(
            at->error, GRIDDEP_ERROR_UNSUPPORTED,
            "%s: what stands on or behind line %" PRId32
            " is not executed exactly once by every thread, so no trigger can stand there",
            at->function->name, at->rewrite->options.trigger_line);
    gd_place place = instruction == at->function->instruction
                         ? gd_place_start(&at->placer)
                         : gd_place_before(&at->placer, instruction);
    return put_trigger(at, place, RANK_TRIGGER);
}

/* The counter goes in front of all else at the entry's start. */
static int32_t put_trigger_in_loop(putting *at)
{
    gd_edits *edits = &at->step->edits;
    gd_place start = gd_place_start(&at->placer);
    gd_text lines = {0};
    uint32_t instruction;

    if (!gd_place_find_loop(&at->placer, &instruction))
        return gd_error_set(
            at->error, GRIDDEP_ERROR_UNSUPPORTED,
            "%s has no loop that reads global memory, and a trigger in a round needs one",
            at->function->name);
    gd_round_write_start(&lines, at->rewrite->options.trigger_round);
    int32_t status = lines.failed ? gd_error_memory(at->error) : GRIDDEP_OK;
    if (!status && !gd_edits_has_room(edits, start.token))
        status = gd_error_set(at->error, GRIDDEP_ERROR_UNSUPPORTED,
                              "%s: nothing can be inserted at the start, behind a directive that "
                              "has no end of its own",
                              at->function->name);
    if (!status && gd_edits_insert_before(edits, start.token, gd_text_get(&lines), RANK_COUNTER) ==
                       GD_PTX_NONE)
        status = gd_error_memory(at->error);
    gd_text_free(&lines);
    return status ? status
                  : insert(at, gd_place_before(&at->placer, instruction), gd_round_lines(),
                           RANK_TRIGGER, GD_CODE_GD303);
}

static int32_t put_trigger_as_asked(putting *at, bool with_wait)
{
    switch (gd_rewrite_trigger_of(at->rewrite, at->entry)) {
    case GRIDDEP_TRIGGER_START:
        return put_trigger(at, gd_place_start(&at->placer), RANK_TRIGGER_START);
    case GRIDDEP_TRIGGER_AFTER_WAIT:
        return with_wait ? GRIDDEP_OK : put_trigger_after_wait(at);
    case GRIDDEP_TRIGGER_AFTER_LOADS:
        return put_trigger_after_loads(at);
    case GRIDDEP_TRIGGER_BEFORE_STORES: {
        gd_place place = gd_place_before_effects(&at->placer, GD_EFFECT_WRITE);
        return put_trigger(at, place, place.behind ? RANK_TRIGGER_BEHIND : RANK_TRIGGER);
    }
    case GRIDDEP_TRIGGER_END:
        return put_triggers_at_end(at);
    case GRIDDEP_TRIGGER_LINE:
        return put_trigger_at_line(at);
    case GRIDDEP_TRIGGER_LOOP:
        return put_trigger_in_loop(at);
    default:
        return GRIDDEP_OK;
    }
}

/* Whether something that the entry declares has taken a parameter's name. */
static bool is_hidden(const putting *at, uint32_t parameter)
{
    const gd_ptx_module *module = &at->step->ptx->module;

    for (uint32_t i = at->function->parameter_end; i < module->symbol_count; i++) {
        if (module->symbols[i].token >= at->function->token_end)
            break;
        if (module->symbols[i].scope == at->function->scope &&
            module->symbols[i].name == module->symbols[parameter].name)
            return true;
    }
    return false;
}

static int32_t put_prefetch(putting *at)
{
    gd_text lines = {0};

    if (!at->rewrite->options.prefetch)
        return GRIDDEP_OK;
    uint32_t parameter = gd_rewrite_prefetch_of(at->rewrite, at->step->ptx, at->entry);
    if (is_hidden(at, parameter))
        return gd_error_set(
            at->error, GRIDDEP_ERROR_UNSUPPORTED,
            "%s declares another '%s', which hides the parameter that is to be prefetched",
            at->function->name, at->rewrite->options.prefetch);
    gd_prefetch_write(&lines, at->rewrite->options.prefetch, at->rewrite->options.prefetch_bytes);
    int32_t status = lines.failed ? gd_error_memory(at->error)
                                  : insert(at, gd_place_start(&at->placer), gd_text_get(&lines),
                                           RANK_PREFETCH, GD_CODE_GD305);
    gd_text_free(&lines);
    return status;
}

static int32_t put_in_entry(putting *at, const uint8_t *call_effects)
{
    gd_parameter_set constants = {{0}};
    int32_t wait = at->rewrite->options.wait;

    if (!gd_constants_of(&at->rewrite->constants, at->function, &constants))
        return gd_error_memory(at->error);
    at->placer = (gd_placer){
        .module = &at->step->ptx->module,
        .function = at->step->ptx->module.entries[at->entry],
        .call_effects = call_effects,
        .constants = &constants,
    };
    int32_t status = gd_placer_create(&at->placer, at->error);
    bool with_wait =
        wait == GRIDDEP_WAIT_MOVE || wait == GRIDDEP_WAIT_START ||
        (wait == GRIDDEP_WAIT_INSERT && (at->rewrite->again[at->entry] || !has_wait(at)));
    if (!status && with_wait)
        status = put_wait(at);
    if (!status)
        status = put_trigger_as_asked(at, with_wait);
    if (!status)
        status = put_prefetch(at);
    gd_placer_free(&at->placer);
    return status;
}

/* ---- .version and .target ---- */

static int32_t raise_version(gd_rewrite_step *step, const gd_ptx_directive *directive,
                             int32_t least, griddep_error *error)
{
    char text[16];

    if (step->ptx->module.version >= least)
        return GRIDDEP_OK;
    snprintf(text, sizeof text, "%d.%d", (int)(least / 10), (int)(least % 10));
    return note(step, GD_CODE_GD306, GD_PTX_NONE,
                gd_edits_replace(&step->edits, directive->token + 1, text), error);
}

/* The number of sm_NN; 0 for another word. */
static uint32_t chip_of(const gd_ptx_module *module, uint32_t token)
{
    uint32_t length, number = 0;
    const char *text = gd_ptx_token_text(module, token, &length);

    if (length < 4 || length > 8 || memcmp(text, "sm_", 3) != 0)
        return 0;
    for (uint32_t i = 3; i < length && (unsigned)(text[i] - '0') <= 9; i++)
        number = number * 10 + (uint32_t)(text[i] - '0');
    return number;
}

static int32_t raise_target(gd_rewrite_step *step, const gd_ptx_directive *directive,
                            uint32_t least, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;
    char text[16];

    snprintf(text, sizeof text, "sm_%" PRIu32, least);

    for (uint32_t token = directive->token + 1; token < directive->token_end && !status; token++) {
        uint32_t chip = chip_of(&step->ptx->module, token);
        if (gd_rewrite_may_drop(&step->ptx->module, token) &&
            gd_edits_remove(&step->edits, token - 1, token + 1) == GD_PTX_NONE)
            return gd_error_memory(error);
        if (chip > 0 && chip < least)
            status = note(step, GD_CODE_GD307, GD_PTX_NONE,
                          gd_edits_replace(&step->edits, token, text), error);
    }
    return status;
}

static int32_t raise_head(gd_rewrite *rewrite, griddep_error *error)
{
    gd_rewrite_step *step = &rewrite->putting;
    const gd_ptx_module *module = &step->ptx->module;
    const gd_need need = rewrite->options.prefetch
                             ? gd_need_of(GD_OP_CP_ASYNC_BULK_PREFETCH, "L2.global")
                             : gd_need_of(GD_OP_GRIDDEPCONTROL_WAIT, "");
    int32_t status = GRIDDEP_OK;

    if (!module->capability)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "%s: .target %s is no sm_NN, so it cannot be raised to sm_%d",
                            module->name, module->target, need.target / 10);
    if (!gd_need_is_met(need, module))
        status = gd_rewrite_check_old(module, need, error);
    for (uint32_t i = 0; i < module->directive_count && !status; i++) {
        if (module->directives[i].kind == GD_DIRECTIVE_VERSION)
            status = raise_version(step, &module->directives[i], need.version, error);
        else if (module->directives[i].kind == GD_DIRECTIVE_TARGET)
            status = raise_target(step, &module->directives[i], need.target / 10u, error);
    }
    return status;
}

int32_t gd_rewrite_put(gd_rewrite *rewrite, griddep_error *error)
{
    gd_rewrite_step *step = &rewrite->putting;
    uint8_t *call_effects = gd_place_call_effects(&step->ptx->module, error);
    int32_t status = GRIDDEP_OK;

    if (!call_effects)
        return GRIDDEP_ERROR_MEMORY;
    for (uint32_t entry = rewrite->entry; entry < rewrite->entry_end && !status; entry++) {
        putting at = {
            .rewrite = rewrite,
            .step = step,
            .entry = entry,
            .function = gd_ptx_get_function(step->ptx, entry),
            .error = error,
        };
        status = put_in_entry(&at, call_effects);
    }
    free(call_effects);
    const bool keeps = rewrite->options.wait == GRIDDEP_WAIT_KEEP &&
                       rewrite->options.trigger == GRIDDEP_TRIGGER_KEEP;
    const bool lacks =
        !keeps && step->ptx->module.control_count &&
        !gd_need_is_met(gd_need_of(GD_OP_GRIDDEPCONTROL_WAIT, ""), &step->ptx->module);
    return status || (!step->edits.count && !lacks) ? status : raise_head(rewrite, error);
}

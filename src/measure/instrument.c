/* Text edits, as in src/ptx/rewrite/rewrite.c: what is not inserted stays to the letter. */
#include "measure/instrument.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/isa/need.h"
#include "ptx/text/edit.h"
#include "ptx/handle/ptx.h"

#define MARK "//@ mark"
#define PREFIX "%griddep_stamp_"

typedef struct stamper {
    const gd_ptx_module *module;
    const gd_ptx_function *entry;
    gd_instrumented *made;
    gd_edits edits;
    gd_instrument_grid grid;
} stamper;

/* In them ~ stands for the prefix of names. The time is read before anything else. `rank` takes
 * the lanes that come here; with a guard, those whose guard holds, since activemask tells the
 * lanes that are not predicated off (PTX ISA, activemask). The lowest of them writes. */
static const char head_lines[] = "{\n"
                                 ".reg .pred ~go;\n"
                                 ".reg .b32 ~rank, ~word, ~other;\n"
                                 ".reg .b64 ~time, ~at, ~add;\n"
                                 "mov.u64 ~time, %globaltimer;\n";

/* ---- marks ---- */

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
}

static int32_t bad_mark(const stamper *job, uint32_t offset, const char *why, griddep_error *error)
{
    int32_t line, column;

    gd_ptx_tokens_position(&job->module->tokens, offset, &line, &column);
    gd_error_set_at(error, GRIDDEP_ERROR_ARGUMENT, job->module->name, line, column, "%s", why);
    return GRIDDEP_ERROR_ARGUMENT;
}

/* The number of a name, which is added when it is new; GD_INSTRUMENT_MARKS: there is no room. */
static uint32_t number_of(gd_instrumented *made, const char *name, size_t length)
{
    for (uint32_t i = 0; i < made->mark_count; i++) {
        if (strlen(made->marks[i]) == length && !memcmp(made->marks[i], name, length))
            return i;
    }
    if (made->mark_count < GD_INSTRUMENT_MARKS)
        memcpy(made->marks[made->mark_count++], name, length);
    else
        return GD_INSTRUMENT_MARKS;
    return made->mark_count - 1;
}

static int32_t read_mark(const stamper *job, uint32_t offset, uint32_t *number,
                         griddep_error *error)
{
    const char *name = job->module->text + offset + strlen(MARK);
    size_t length = 0;

    while (*name == ' ' || *name == '\t')
        name++;
    while (is_name(name[length]))
        length++;
    for (const char *rest = name + length; *rest && *rest != '\n'; rest++) {
        if (*rest != ' ' && *rest != '\t' && *rest != '\r')
            return bad_mark(job, offset, "a mark's name has letters, digits, '_', '-' and '.' only",
                            error);
    }
    if (!length)
        return bad_mark(job, offset, "a mark has a name: //@ mark NAME", error);
    if (length >= GD_INSTRUMENT_NAME)
        return bad_mark(job, offset, "a mark's name has at most 63 characters", error);
    *number = number_of(job->made, name, length);
    return *number < GD_INSTRUMENT_MARKS
               ? GRIDDEP_OK
               : bad_mark(job, offset, "a kernel and its functions have at most 16 different marks",
                          error);
}

static uint32_t next_line(const gd_ptx_module *module, uint32_t offset, uint32_t end)
{
    const char *found = memchr(module->text + offset, '\n', end - offset);

    return found ? (uint32_t)(found - module->text) + 1 : end;
}

/* The next mark in what stands between two tokens, which is white space and comments; GD_PTX_NONE:
 * none. */
static uint32_t find_mark(const gd_ptx_module *module, uint32_t at, uint32_t end)
{
    const char *text = module->text;

    while (at < end) {
        if (text[at] != '/') {
            at++;
        } else if (text[at + 1] == '/') {
            char behind = text[at + strlen(MARK)];
            if (!strncmp(text + at, MARK, strlen(MARK)) && !is_name(behind))
                return at;
            at = next_line(module, at, end);
        } else {
            const char *close = strstr(text + at + 2, "*/");
            at = close ? (uint32_t)(close - text) + 2 : end;
        }
    }
    return GD_PTX_NONE;
}

/* ---- places ---- */

/* Writes lines with the prefix in the place of each ~. */
static void expand(gd_text *text, const char *lines)
{
    for (const char *at = lines; *at;) {
        size_t plain = strcspn(at, "~");
        gd_text_append(text, at, plain);
        at += plain;
        if (*at == '~')
            gd_text_string(text, PREFIX);
        at += *at != 0;
    }
}

/* Inserts lines, in which ~ stands for the prefix of names, before a token or behind it.
 * UNSUPPORTED with the place where there is no room. */
static int32_t insert(gd_edits *edits, uint32_t token, bool behind, const char *lines,
                      griddep_error *error)
{
    gd_text text = {0};
    int32_t line, column;

    if (!behind && !gd_edits_has_room(edits, token)) {
        gd_ptx_token_position(edits->module, token, &line, &column);
        return gd_error_set_at(
            error, GRIDDEP_ERROR_UNSUPPORTED, edits->module->name, line, column,
            "there is no room for a stamp here: what stands before it is not known to end");
    }
    expand(&text, lines);
    uint32_t edit = text.failed ? GD_PTX_NONE
                    : behind    ? gd_edits_insert_behind(edits, token, gd_text_get(&text), 0)
                                : gd_edits_insert_before(edits, token, gd_text_get(&text), 0);
    gd_text_free(&text);
    return edit == GD_PTX_NONE ? gd_error_memory(error) : GRIDDEP_OK;
}

/* Inserts the declaration of the variable before the first function. */
static int32_t insert_variable(gd_edits *edits, const char *lines, griddep_error *error)
{
    uint32_t token = edits->module->functions[0].token;

    if (!gd_edits_has_room(edits, token))
        return gd_error_set(
            error, GRIDDEP_ERROR_UNSUPPORTED,
            "%s: there is no room for the stamps' variable before the first function",
            edits->module->name);
    return gd_edits_insert_before(edits, token, lines, 0) == GD_PTX_NONE ? gd_error_memory(error)
                                                                         : GRIDDEP_OK;
}

/* Whether a thread that executes an instruction may end there: an exit, or a ret of an entry
 * itself. */
static bool is_end(const gd_ptx_function *function, const gd_ptx_instruction *instruction)
{
    return instruction->op == GD_OP_EXIT ||
           (instruction->op == GD_OP_RET && function->flags & GD_FUNCTION_ENTRY);
}

/* Whether a thread may leave an entry at its '}'. */
static bool falls_off_at_end(const gd_ptx_module *module, const gd_ptx_function *entry)
{
    if (entry->instruction == entry->instruction_end)
        return true;
    const gd_ptx_instruction *last = &module->instructions[entry->instruction_end - 1];
    return !is_end(entry, last) || last->flags & GD_INSTRUCTION_GUARDED;
}

/* ---- stamps ---- */

/* Writes "@p " or "@!p " for a guarded instruction. */
static void write_guard(const stamper *job, gd_text *text, const gd_ptx_instruction *guarded)
{
    if (!guarded || !(guarded->flags & GD_INSTRUCTION_GUARDED))
        return;
    uint32_t length;
    const gd_ptx_operand *guard = &job->module->operands[guarded->operand - 1];
    const char *name = gd_ptx_token_text(job->module, guard->token_end - 1, &length);
    gd_text_format(text, "@%s%.*s ", guarded->flags & GD_INSTRUCTION_GUARD_NOT ? "!" : "",
                   (int)length, name);
}

/* The lane that writes: the lowest of those that come here or, with a guard, of those for which it
 * holds; the others keep a mask that no lane is the lowest of. */
static void write_choice(const stamper *job, gd_text *text, const gd_ptx_instruction *guarded)
{
    bool is_guarded = guarded && guarded->flags & GD_INSTRUCTION_GUARDED;

    if (is_guarded)
        gd_text_string(text, "mov.b32 ~rank, 0;\n");
    write_guard(job, text, guarded);
    gd_text_string(text, "activemask.b32 ~rank;\n"
                         "mov.u32 ~word, %lanemask_le;\n"
                         "and.b32 ~rank, ~rank, ~word;\n"
                         "mov.u32 ~word, %lanemask_eq;\n"
                         "setp.eq.u32 ~go, ~rank, ~word;\n");
}

/* The record of this CTA, from the grid that is known: most have one dimension. */
static void write_place(const stamper *job, gd_text *text)
{
    const gd_instrument_grid *grid = &job->grid;
    uint32_t bytes = job->made->words * 8;

    gd_text_string(text, "mov.u32 ~word, %ctaid.x;\n");
    if (grid->size[2] > 1)
        gd_text_format(text,
                       "mov.u32 ~rank, %%ctaid.z;\n"
                       "mov.u32 ~other, %%ctaid.y;\n"
                       "mad.lo.u32 ~other, ~rank, %" PRIu32 ", ~other;\n",
                       grid->size[1]);
    else if (grid->size[1] > 1)
        gd_text_string(text, "mov.u32 ~other, %ctaid.y;\n");
    if (grid->size[2] > 1 || grid->size[1] > 1)
        gd_text_format(text,
                       "cvt.u64.u32 ~at, ~word;\n"
                       "mad.wide.u32 ~at, ~other, %" PRIu32 ", ~at;\n",
                       grid->size[0]);
    else
        gd_text_string(text, "cvt.u64.u32 ~at, ~word;\n");
    if ((uint64_t)grid->size[0] * grid->size[1] * grid->size[2] > grid->kept)
        gd_text_format(text, "setp.lt.and.u64 ~go, ~at, %" PRIu32 ", ~go;\n", grid->kept);
    gd_text_format(text,
                   "mov.u64 ~add, " GD_INSTRUMENT_VARIABLE ";\n"
                   "mad.lo.u64 ~at, ~at, %" PRIu32 ", ~add;\n",
                   bytes);
}

static void write_stamp(const stamper *job, gd_text *text, uint32_t point,
                        const gd_ptx_instruction *guarded)
{
    gd_text_string(text, head_lines);
    write_choice(job, text, guarded);
    write_place(job, text);
    if (point == GD_POINT_EXIT)
        gd_text_string(text, "not.b64 ~time, ~time;\n");
    if (point == GD_POINT_ENTRY)
        gd_text_string(text, "mov.u32 ~word, %smid;\n"
                             "cvt.u64.u32 ~add, ~word;\n"
                             "@~go st.global.u64 [~at], ~add;\n");
    gd_text_format(text,
                   "@~go red.global.min.u64 [~at+%" PRIu32 "], ~time;\n"
                   "}\n",
                   8 * (1 + point));
}

static int32_t put(stamper *job, uint32_t token, bool behind, uint32_t point,
                   const gd_ptx_instruction *guarded, griddep_error *error)
{
    gd_text lines = {0};

    write_stamp(job, &lines, point, guarded);
    int32_t status = lines.failed ? gd_error_memory(error)
                                  : insert(&job->edits, token, behind, gd_text_get(&lines), error);
    gd_text_free(&lines);
    return status;
}

/* ---- functions ---- */

static int32_t stamp_instruction(stamper *job, const gd_ptx_function *function,
                                 const gd_ptx_instruction *instruction, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    if (is_end(function, instruction))
        return put(job, instruction->token, false, GD_POINT_EXIT, instruction, error);
    if (instruction->op == GD_OP_GRIDDEPCONTROL_LAUNCH_DEPENDENTS)
        return put(job, instruction->token_end - 1, true, GD_POINT_TRIGGER, instruction, error);
    if (instruction->op == GD_OP_GRIDDEPCONTROL_WAIT) {
        status = put(job, instruction->token, false, GD_POINT_WAIT, instruction, error);
        if (!status)
            status =
                put(job, instruction->token_end - 1, true, GD_POINT_RELEASE, instruction, error);
    }
    return status;
}

/* Calls `put` for each mark between the tokens of a function, at the instruction that follows it or
 * at the end of the body; with `only_count` they are only numbered. */
static int32_t stamp_marks(stamper *job, const gd_ptx_function *function, bool only_count,
                           griddep_error *error)
{
    const gd_ptx_module *module = job->module;
    uint32_t next = function->instruction, number = 0;
    int32_t status = GRIDDEP_OK;

    for (uint32_t token = function->token_body + 1; token < function->token_end && !status;
         token++) {
        uint32_t at =
            module->tokens.list[token - 1].offset + gd_token_length(module->tokens.list[token - 1]);
        uint32_t end = module->tokens.list[token].offset;
        while (next < function->instruction_end && module->instructions[next].token < token)
            next++;
        while (!status && (at = find_mark(module, at, end)) != GD_PTX_NONE) {
            uint32_t place = next < function->instruction_end ? module->instructions[next].token
                                                              : function->token_end - 1;
            status = read_mark(job, at, &number, error);
            if (!status && !only_count)
                status = put(job, place, false, GD_POINT_MARK + number, NULL, error);
            at = next_line(module, at, end);
        }
    }
    return status;
}

static int32_t stamp_function(stamper *job, const gd_ptx_function *function, griddep_error *error)
{
    const gd_ptx_module *module = job->module;
    bool is_entry = function == job->entry;
    int32_t status =
        is_entry ? put(job, function->token_body, true, GD_POINT_ENTRY, NULL, error) : GRIDDEP_OK;

    if (!status)
        status = stamp_marks(job, function, false, error);
    for (uint32_t i = function->instruction; i < function->instruction_end && !status; i++)
        status = stamp_instruction(job, function, &module->instructions[i], error);
    bool falls_off = is_entry && falls_off_at_end(module, function);
    return !status && falls_off
               ? put(job, function->token_end - 1, false, GD_POINT_EXIT, NULL, error)
               : status;
}

static bool is_stamped(const stamper *job, const gd_ptx_function *function)
{
    return function->flags & GD_FUNCTION_BODY &&
           (function == job->entry || !(function->flags & GD_FUNCTION_ENTRY));
}

static int32_t for_functions(stamper *job, griddep_error *error)
{
    const gd_ptx_module *module = job->module;
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < module->function_count && !status; i++) {
        if (is_stamped(job, &module->functions[i]))
            status = stamp_marks(job, &module->functions[i], true, error);
    }
    job->made->words = 1 + GD_POINT_MARK + job->made->mark_count;
    for (uint32_t i = 0; i < module->function_count && !status; i++) {
        if (is_stamped(job, &module->functions[i]))
            status = stamp_function(job, &module->functions[i], error);
    }
    return status;
}

static int32_t declare(stamper *job, griddep_error *error)
{
    gd_text text = {0};

    gd_text_format(&text,
                   ".visible .global .align 16 .u64 " GD_INSTRUMENT_VARIABLE "[%" PRIu64 "];\n",
                   (uint64_t)job->grid.kept * job->made->words);
    int32_t status = text.failed ? gd_error_memory(error)
                                 : insert_variable(&job->edits, gd_text_get(&text), error);
    gd_text_free(&text);
    return status;
}

static int32_t check(const gd_ptx_module *module, const char *entry, griddep_error *error)
{
    const gd_need need = gd_need_of_both(gd_need_of(GD_OP_ACTIVEMASK, "b32"),
                                         gd_need_of(GD_OP_RED, "global.min.u64"));

    if (module->address_bits != 64)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "%s has 32-bit addresses; stamps in kernel %s need .address_size 64",
                            module->name, entry);
    if (!gd_need_is_met(need, module))
        return gd_error_set(
            error, GRIDDEP_ERROR_UNSUPPORTED,
            "stamps in kernel %s need .version %d.%d and .target sm_%d or higher; %s has .version "
            "%" PRId32 ".%" PRId32 ", .target %s",
            entry, need.version / 10, need.version % 10, need.target / 10, module->name,
            module->version / 10, module->version % 10, module->target);
    if (memmem(module->text, module->bytes, GD_INSTRUMENT_VARIABLE,
               strlen(GD_INSTRUMENT_VARIABLE)) ||
        memmem(module->text, module->bytes, PREFIX, strlen(PREFIX)))
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "%s has names that stamps use: " GD_INSTRUMENT_VARIABLE " or %s...",
                            module->name, PREFIX);
    return GRIDDEP_OK;
}

int32_t gd_instrument(const griddep_ptx *ptx, const char *entry, gd_instrument_grid grid,
                      gd_instrumented *made, griddep_error *error)
{
    stamper job = {
        .module = &ptx->module, .made = made, .grid = grid, .edits = {.module = &ptx->module}};
    uint32_t index;
    int32_t status = check(job.module, entry, error);

    if (!status && !gd_ptx_find_entry(ptx, entry, &index))
        status = gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "%s has no entry '%s'",
                              job.module->name, entry);
    if (!status) {
        job.entry = gd_ptx_get_function(ptx, index);
        status = for_functions(&job, error);
    }
    if (!status)
        status = declare(&job, error);
    if (!status) {
        gd_edits_apply(&job.edits, &made->text);
        status = made->text.failed ? gd_error_memory(error) : GRIDDEP_OK;
    }
    gd_edits_free(&job.edits);
    return status;
}

void gd_instrumented_free(gd_instrumented *made)
{
    gd_text_free(&made->text);
    *made = (gd_instrumented){0};
}

#include "ptx/rewrite/keep.h"

#include <string.h>

#include "base/error.h"
#include "base/table.h"
#include "ptx/handle/ptx.h"
#include "ptx/require/head.h"
#include "ptx/text/edit.h"

/* A search for entries that may go. */
typedef struct keeping {
    const gd_ptx_module *module;
    const char *const *names; /* that stay */
    uint32_t count;
    gd_table leaving; /* names */
    gd_edits edits;
} keeping;

static bool leaves(const keeping *state, const gd_ptx_function *function)
{
    bool stays = !(function->flags & GD_FUNCTION_ENTRY);

    for (uint32_t i = 0; i < state->count && !stays; i++)
        stays = !strcmp(function->name, state->names[i]);
    return !stays;
}

static bool remove_others(keeping *state)
{
    bool done = true;

    for (uint32_t i = 0; i < state->module->function_count && done; i++) {
        const gd_ptx_function *each = &state->module->functions[i];
        if (leaves(state, each))
            done = gd_edits_remove(&state->edits, each->token, each->token_end) != GD_PTX_NONE &&
                   gd_table_set(&state->leaving, each->name, strlen(each->name), state);
    }
    return done;
}

/* Whether what stays names an entry that does not. Functions stand in the order of the text. */
static bool is_referred(const keeping *state)
{
    const gd_ptx_module *module = state->module;
    bool found = false;

    for (uint32_t i = 0, function = 0; i < module->tokens.count && !found; i++) {
        uint32_t length;
        while (function < module->function_count && module->functions[function].token_end <= i)
            function++;
        if (function < module->function_count && module->functions[function].token <= i &&
            leaves(state, &module->functions[function])) {
            i = module->functions[function].token_end - 1;
            continue;
        }
        const char *text = gd_ptx_token_text(module, i, &length);
        found = gd_table_find(&state->leaving, text, length) != NULL;
    }
    return found;
}

/* Whether a line of the head comment begins conditions or extents of an entry that goes. */
static bool is_of_leaving(const keeping *state, const gd_head_line *line)
{
    gd_head_line of, value;

    return (gd_head_begins(line, "requires", &of, &value) ||
            gd_head_begins(line, "extent", &of, &value)) &&
           gd_table_find(&state->leaving, of.text, of.bytes);
}

/* The text without these. */
static void write_without_fields(const keeping *state, const gd_text *text, gd_text *to)
{
    const char *from = gd_text_get(text);
    gd_head head = {from, from + text->bytes};
    gd_head_line line;
    bool goes = false;

    while (gd_head_next(&head, &line)) {
        goes = gd_head_continues(&line) ? goes : is_of_leaving(state, &line);
        if (!goes)
            gd_text_append(to, from, (size_t)(head.at - from));
        from = head.at;
    }
    gd_text_append(to, from, (size_t)(head.end - from));
}

int32_t gd_ptx_keep(const griddep_ptx *ptx, const char *const *names, uint32_t count,
                    griddep_ptx **kept, griddep_error *error)
{
    keeping state = {.module = &ptx->module, .names = names, .count = count};
    gd_text text = {0}, kept_text = {0};
    int32_t status;

    state.edits.module = &ptx->module;
    const bool done = remove_others(&state);
    if (done && is_referred(&state)) {
        gd_edits_free(&state.edits);
        state.edits = (gd_edits){.module = &ptx->module};
        gd_table_free(&state.leaving);
    }
    gd_edits_apply(&state.edits, &text);
    if (done && !text.failed)
        write_without_fields(&state, &text, &kept_text);
    if (!done || text.failed || kept_text.failed)
        status = gd_error_memory(error);
    else
        status = griddep_ptx_parse(kept_text.data, kept_text.bytes, ptx->module.name, kept, error);
    gd_text_free(&kept_text);
    gd_text_free(&text);
    gd_table_free(&state.leaving);
    gd_edits_free(&state.edits);
    return status;
}

/* Joins PTX texts. What becomes of a name is decided over all texts; then each text is edited: a
 * definition that another one replaces becomes a declaration, or goes where what it declares stands
 * in an earlier text. */
#include "emulator/driver/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/text/edit.h"

/* In the order in which definitions of one name are preferred. */
typedef enum binding { STRONG, COMMON, WEAK, LOCAL, DECLARED } binding;

/* A name at the module's level of one text. */
typedef struct item {
    const char *text; /* of the name */
    uint32_t length;
    uint32_t input, symbol;
    binding binding;
    bool kept;     /* as it is */
    bool repeated; /* declared or defined in an earlier text: nothing has to stand for it */
    bool renamed;
    bool first; /* it stands in front of all texts */
} item;

typedef struct merge {
    const gd_merge_input *inputs;
    uint32_t count;
    gd_jit *jit;
    item *items;
    uint32_t item_count;
} merge;

static const gd_ptx_module *module_of(const merge *in, uint32_t input)
{
    return &in->inputs[input].ptx->module;
}

/* ---- names ---- */

static binding binding_of(const gd_ptx_module *module, const gd_ptx_symbol *symbol)
{
    const bool function = symbol->kind == GD_SYMBOL_FUNCTION;
    uint32_t link = symbol->link;

    if (function) {
        const gd_ptx_function *target = &module->functions[symbol->target];
        if (!(target->flags & GD_FUNCTION_BODY))
            return DECLARED;
        link |= target->link;
        if (target->flags & GD_FUNCTION_ENTRY)
            return link & GD_LINK_WEAK ? WEAK : STRONG;
    } else if (link & GD_LINK_EXTERN) {
        return DECLARED;
    }
    return link & GD_LINK_WEAK      ? WEAK
           : link & GD_LINK_COMMON  ? COMMON
           : link & GD_LINK_VISIBLE ? STRONG
                                    : LOCAL;
}

static bool is_item(const gd_ptx_symbol *symbol)
{
    return symbol->scope == 0 &&
           (symbol->kind == GD_SYMBOL_FUNCTION ||
            (symbol->kind == GD_SYMBOL_VARIABLE && symbol->space != GD_SPACE_REG));
}

/* Declared and defined nowhere it is the memory whose size the launch gives, and belongs to no
 * text. */
static bool is_shared(const merge *in, const item *of)
{
    const gd_ptx_symbol *symbol = &module_of(in, of->input)->symbols[of->symbol];

    return symbol->kind == GD_SYMBOL_VARIABLE && symbol->space == GD_SPACE_SHARED;
}

static bool list_items(merge *in)
{
    uint32_t most = 0;

    for (uint32_t i = 0; i < in->count; i++)
        most += module_of(in, i)->symbol_count;
    in->items = calloc((size_t)most + 1, sizeof *in->items);
    if (!in->items)
        return false;
    for (uint32_t i = 0; i < in->count; i++) {
        const gd_ptx_module *module = module_of(in, i);
        for (uint32_t k = 0; k < module->symbol_count; k++) {
            const gd_ptx_symbol *symbol = &module->symbols[k];
            if (!is_item(symbol))
                continue;
            item *added = &in->items[in->item_count++];
            *added = (item){.input = i, .symbol = k, .binding = binding_of(module, symbol)};
            added->text = gd_ptx_name_text(module, symbol->name, &added->length);
        }
    }
    return true;
}

static int compare_names(const item *a, const item *b)
{
    const int order = memcmp(a->text, b->text, a->length < b->length ? a->length : b->length);

    return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* By name; then as they stand in the merged text. */
static int compare_items(const void *left, const void *right)
{
    const item *a = left, *b = right;
    const int order = compare_names(a, b);

    if (order)
        return order;
    return a->input != b->input ? (a->input > b->input) - (a->input < b->input)
                                : (a->symbol > b->symbol) - (a->symbol < b->symbol);
}

static uint64_t bytes_of(const merge *in, const item *of)
{
    return module_of(in, of->input)->symbols[of->symbol].bytes;
}

/* The definition that all texts use; NULL: there is none. */
static item *choose(const merge *in, item *group, uint32_t count)
{
    item *best = NULL;

    for (uint32_t i = 0; i < count; i++) {
        if (group[i].binding >= LOCAL)
            continue;
        if (!best || group[i].binding < best->binding ||
            (group[i].binding == COMMON && best->binding == COMMON &&
             bytes_of(in, &group[i]) > bytes_of(in, best)))
            best = &group[i];
    }
    return best;
}

/* A declaration in front of it would be taken for memory whose size the launch gives: it stands in
 * front of all texts. */
static void settle_shared(item *group, uint32_t count, item *chosen)
{
    for (uint32_t i = 0; i < count; i++) {
        if (group[i].binding == LOCAL)
            continue;
        group[i].kept = !chosen;
        group[i].repeated = chosen != NULL;
    }
    if (chosen)
        chosen->first = true;
}

static gd_CUresult settle_group(const merge *in, item *group, uint32_t count)
{
    item *chosen = choose(in, group, count);
    bool shared = false, several = false;

    for (uint32_t i = 0; i < count; i++) {
        several |= group[i].input != group[0].input;
        if (group[i].binding == STRONG && &group[i] != chosen) {
            gd_jit_write(&in->jit->errors,
                         "error   : Multiple definition of '%.*s' in '%s', first defined in '%s'",
                         (int)group[i].length, group[i].text, in->inputs[group[i].input].name,
                         in->inputs[chosen->input].name);
            return GD_CUDA_ERROR_INVALID_SOURCE;
        }
        if (group[i].binding == LOCAL)
            continue;
        group[i].repeated = shared;
        group[i].kept = (!chosen || &group[i] == chosen || group[i].binding == DECLARED) &&
                        (!shared || &group[i] == chosen);
        shared |= &group[i] == chosen;
    }
    if (is_shared(in, &group[0]))
        settle_shared(group, count, chosen);
    for (uint32_t i = 0; i < count && several; i++)
        group[i].renamed = group[i].binding == LOCAL;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult settle(merge *in)
{
    gd_CUresult result = GD_CUDA_SUCCESS;
    uint32_t end;

    qsort(in->items, in->item_count, sizeof *in->items, compare_items);
    for (uint32_t i = 0; i < in->item_count && result == GD_CUDA_SUCCESS; i = end) {
        end = i + 1;
        while (end < in->item_count && compare_names(&in->items[i], &in->items[end]) == 0)
            end++;
        result = settle_group(in, &in->items[i], end - i);
    }
    return result;
}

/* ---- edits; each gives false when memory runs out ---- */

typedef struct editor {
    const gd_ptx_module *module;
    gd_edits edits;
    bool *fixed; /* by token: an opcode, or edited already */
} editor;

static bool remove_tokens(editor *at, uint32_t token, uint32_t end)
{
    for (uint32_t i = token; i < end; i++)
        at->fixed[i] = true;
    return token >= end || gd_edits_remove(&at->edits, token, end) != GD_PTX_NONE;
}

static bool replace(editor *at, uint32_t token, const char *text)
{
    at->fixed[token] = true;
    return gd_edits_replace(&at->edits, token, text) != GD_PTX_NONE;
}

/* .visible, .weak or .common in front of a declaration become .extern. */
static bool make_extern(editor *at, uint32_t token, uint32_t end)
{
    static const char *const words[] = {".weak", ".common", ".visible"};

    for (; token < end; token++) {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
            if (gd_ptx_token_is(at->module, token, words[i]))
                return replace(at, token, ".extern");
        }
    }
    return true;
}

static bool drop_function(editor *at, const gd_ptx_function *function, bool declare)
{
    if (!declare || function->flags & GD_FUNCTION_ENTRY)
        return remove_tokens(at, function->token, function->token_end);
    return make_extern(at, function->token, function->token_name) &&
           remove_tokens(at, function->token_body + 1, function->token_end) &&
           replace(at, function->token_body, ";");
}

static bool drop_variable(editor *at, const gd_ptx_symbol *symbol, bool declare)
{
    const gd_ptx_directive *directive = &at->module->directives[symbol->directive];
    uint32_t value = directive->token;

    if (!declare)
        return remove_tokens(at, directive->token, directive->token_end);
    while (value < directive->token_end && gd_token_kind(at->module->tokens.list[value]) != '=')
        value++;
    return make_extern(at, directive->token, symbol->token) &&
           (value == directive->token_end || remove_tokens(at, value, directive->token_end - 1));
}

/* Declarations of functions are many for one symbol. */
static bool drop_declarations(editor *at, uint32_t symbol)
{
    const gd_ptx_module *module = at->module;

    for (uint32_t i = 0; i < module->function_count; i++) {
        const gd_ptx_function *function = &module->functions[i];
        if (function->symbol == symbol && !(function->flags & GD_FUNCTION_BODY) &&
            !remove_tokens(at, function->token, function->token_end))
            return false;
    }
    return true;
}

static bool drop(editor *at, const item *of)
{
    const gd_ptx_module *module = at->module;
    const gd_ptx_symbol *symbol = &module->symbols[of->symbol];

    if (symbol->kind != GD_SYMBOL_FUNCTION)
        return drop_variable(at, symbol, !of->repeated && of->binding != DECLARED);
    if (of->repeated && !drop_declarations(at, of->symbol))
        return false;
    return of->binding == DECLARED ||
           drop_function(at, &module->functions[symbol->target], !of->repeated);
}

/* All tokens of a text that are this name: an opcode of that name is none, and what hides the name
 * is renamed alike. */
static bool rename_all(editor *at, const item *of)
{
    const gd_ptx_module *module = at->module;
    gd_text name = {0};
    bool done = true;

    gd_text_format(&name, "%.*s$in$%" PRIu32, (int)of->length, of->text, of->input);
    for (uint32_t i = 0; done && gd_token_kind(module->tokens.list[i]) != GD_TOKEN_END; i++) {
        uint32_t length;
        if (gd_token_kind(module->tokens.list[i]) != GD_TOKEN_NAME || at->fixed[i])
            continue;
        const char *text = gd_ptx_token_text(module, i, &length);
        if (length == of->length && !memcmp(text, of->text, length))
            done = !name.failed && replace(at, i, gd_text_get(&name));
    }
    gd_text_free(&name);
    return done;
}

/* ---- texts ---- */

static bool *fix_opcodes(const gd_ptx_module *module)
{
    uint32_t count = 0;

    while (gd_token_kind(module->tokens.list[count]) != GD_TOKEN_END)
        count++;
    bool *list = calloc((size_t)count + 1, sizeof *list);
    for (uint32_t i = 0; list && i < module->instruction_count; i++)
        list[module->instructions[i].opcode] = true;
    return list;
}

/* The text has one head, which the newest of each asks for. */
static bool drop_head(editor *at)
{
    const gd_ptx_module *module = at->module;

    for (uint32_t i = 0; i < module->directive_count; i++) {
        const gd_ptx_directive *directive = &module->directives[i];
        const bool head = directive->kind == GD_DIRECTIVE_VERSION ||
                          directive->kind == GD_DIRECTIVE_TARGET ||
                          directive->kind == GD_DIRECTIVE_ADDRESS_SIZE;
        if (head && !remove_tokens(at, directive->token, directive->token_end))
            return false;
    }
    return true;
}

/* A directive's token is the number of a file: the token, or GD_PTX_NONE behind the last one. */
static uint32_t next_file(const gd_ptx_module *module, const gd_ptx_directive *directive,
                          uint32_t token)
{
    if (directive->kind != GD_DIRECTIVE_FILE && directive->kind != GD_DIRECTIVE_LOC)
        return GD_PTX_NONE;
    if (token == directive->token)
        return token + 1;
    while (++token < directive->token_end) {
        if (gd_ptx_token_is(module, token - 1, "inlined_at"))
            return token;
    }
    return GD_PTX_NONE;
}

static uint64_t number_at(const gd_ptx_module *module, uint32_t token)
{
    uint32_t length;
    uint64_t number = 0;
    const char *text = gd_ptx_token_text(module, token, &length);

    gd_ptx_integer_read(text, length, &number);
    return number;
}

/* Each text numbers its source files for itself: the numbers follow those of the texts before. */
static bool move_files(editor *at, uint64_t *base)
{
    const gd_ptx_module *module = at->module;
    const uint64_t before = *base;
    bool done = true;

    for (uint32_t i = 0; i < module->directive_count && done; i++) {
        const gd_ptx_directive *directive = &module->directives[i];
        uint32_t token = directive->token;
        while (done && (token = next_file(module, directive, token)) != GD_PTX_NONE) {
            const uint64_t number = before + number_at(module, token);
            char text[24];
            *base = number > *base ? number : *base;
            snprintf(text, sizeof text, "%" PRIu64, number);
            done = at->fixed[token] || replace(at, token, text);
        }
    }
    return done;
}

static bool append_text(const merge *in, uint32_t input, uint64_t *files, gd_text *merged)
{
    const gd_ptx_module *module = module_of(in, input);
    editor at = {.module = module, .edits = {.module = module}, .fixed = fix_opcodes(module)};
    bool done = at.fixed && drop_head(&at);

    for (uint32_t i = 0; i < in->item_count && done; i++) {
        const item *each = &in->items[i];
        if (each->input == input && !each->kept && each->binding != LOCAL)
            done = drop(&at, each);
    }
    for (uint32_t i = 0; i < in->item_count && done; i++) {
        if (in->items[i].input == input && in->items[i].renamed)
            done = rename_all(&at, &in->items[i]);
    }
    done = done && move_files(&at, files);
    if (done)
        gd_edits_apply(&at.edits, merged);
    gd_text_string(merged, "\n");
    gd_edits_free(&at.edits);
    free(at.fixed);
    return done && !merged->failed;
}

static void append_variable(const merge *in, const item *of, gd_text *merged)
{
    const gd_ptx_module *module = module_of(in, of->input);
    const gd_ptx_directive *directive = &module->directives[module->symbols[of->symbol].directive];
    const uint32_t begin = module->tokens.list[directive->token].offset;
    const uint32_t end = module->tokens.list[directive->token_end].offset;

    gd_text_append(merged, module->text + begin, end - begin);
    gd_text_string(merged, "\n");
}

static void append_head(const merge *in, gd_text *merged)
{
    const gd_ptx_module *newest = module_of(in, 0);
    int32_t version = newest->version;

    for (uint32_t i = 1; i < in->count; i++) {
        const gd_ptx_module *each = module_of(in, i);
        version = each->version > version ? each->version : version;
        newest = each->capability > newest->capability ? each : newest;
    }
    gd_text_format(merged, ".version %" PRId32 ".%" PRId32 "\n.target %s\n.address_size 64\n",
                   version / 10, version % 10, newest->target);
    for (uint32_t i = 0; i < in->item_count; i++) {
        if (in->items[i].first)
            append_variable(in, &in->items[i], merged);
    }
}

gd_CUresult gd_merge(const gd_merge_input *inputs, uint32_t count, gd_jit *jit, gd_text *merged)
{
    merge in = {.inputs = inputs, .count = count, .jit = jit};
    uint64_t files = 0;
    gd_CUresult result = list_items(&in) ? settle(&in) : GD_CUDA_ERROR_OUT_OF_MEMORY;

    if (result == GD_CUDA_SUCCESS)
        append_head(&in, merged);
    for (uint32_t i = 0; i < count && result == GD_CUDA_SUCCESS; i++)
        result =
            append_text(&in, i, &files, merged) ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_OUT_OF_MEMORY;
    free(in.items);
    return result;
}

/* The parser's cursor, its diagnostics, and the scopes of names. */
#include <stdio.h>
#include <string.h>

#include "ptx/text/array.h"
#include "ptx/text/parse.h"

enum { SHOWN_BYTES = 40 };

/* Room for one more item of an array of the module. */
#define ROOM(module, items, item)                                                                  \
    ((module)->item##_count < (module)->item##_capacity ||                                         \
     gd_array_grow((void **)&(module)->items, &(module)->item##_capacity,                          \
                   sizeof *(module)->items))

static void describe(const gd_parser *parser, char *text, size_t capacity)
{
    uint32_t length;
    const char *found = gd_ptx_token_text(parser->module, parser->at, &length);

    if (gd_parse_kind(parser) == GD_TOKEN_END)
        snprintf(text, capacity, "the end of the text");
    else
        snprintf(text, capacity, "'%.*s%s'", (int)(length < SHOWN_BYTES ? length : SHOWN_BYTES),
                 found, length > SHOWN_BYTES ? "..." : "");
}

bool gd_parse_fail(gd_parser *parser, const char *expected)
{
    char found[SHOWN_BYTES + 16];

    parser->errors++;
    if (gd_parse_kind(parser) == GD_TOKEN_BAD) /* the lexer has reported it */
        return false;
    describe(parser, found, sizeof found);
    gd_ptx_diagnostics_add(parser->module->diagnostics, parser->tokens[parser->at].offset,
                           "found %s, expected %s", found, expected);
    return false;
}

bool gd_parse_fail_again(gd_parser *parser)
{
    parser->errors++;
    return false;
}

bool gd_parse_fail_limit(gd_parser *parser, const char *name, int limit, const char *things)
{
    char expected[120];

    snprintf(expected, sizeof expected, "at most %d %s (%s)", limit, things, name);
    return gd_parse_fail(parser, expected);
}

bool gd_parse_memory(gd_parser *parser)
{
    parser->out_of_memory = true;
    return false;
}

bool gd_parse_expect(gd_parser *parser, uint32_t kind, const char *expected)
{
    return gd_parse_skip(parser, kind) || gd_parse_fail(parser, expected);
}

bool gd_parse_begins(gd_parser *parser)
{
    gd_token token = parser->tokens[parser->at];
    uint32_t kind = gd_token_kind(token), next = gd_parse_next_kind(parser);

    if (kind == '}' || !gd_token_starts_line(token))
        return kind == '}';
    if (kind == GD_TOKEN_DOTTED) {
        const gd_word *word = gd_parse_word(parser);
        return word && word->class != GD_WORD_NONE && word->class != GD_WORD_TYPE;
    }
    return kind == '@' || (kind == GD_TOKEN_NAME &&
                           (next == ':' || ((next == GD_TOKEN_DOTTED || next == ';') &&
                                            gd_op_find(parser->module->text + token.offset,
                                                       gd_token_length(token)) != GD_OP_UNKNOWN)));
}

bool gd_parse_finish(gd_parser *parser, const char *expected)
{
    gd_ptx_diagnostics *told = parser->module->diagnostics;
    const uint32_t before = told->count;

    if (gd_parse_skip(parser, ';'))
        return true;
    gd_parse_fail(parser, expected);
    if (!gd_parse_begins(parser))
        return false;
    parser->module->mended += told->count - before;
    return true;
}

bool gd_parse_u64(gd_parser *parser, const char *expected, uint64_t *value)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(parser->module, parser->at, &length);

    if (gd_parse_kind(parser) != GD_TOKEN_INTEGER)
        return gd_parse_fail(parser, expected);
    if (!gd_ptx_integer_read(text, length, value))
        return gd_parse_fail(parser, "an integer of at most 64 bits");
    parser->at++;
    return true;
}

bool gd_parse_u32(gd_parser *parser, const char *expected, uint32_t *value)
{
    uint64_t wide = 0;

    if (!gd_parse_u64(parser, expected, &wide))
        return false;
    if (wide > UINT32_MAX) {
        parser->at--;
        return gd_parse_fail(parser, "an integer of at most 32 bits");
    }
    *value = (uint32_t)wide;
    return true;
}

static char closing(uint32_t kind)
{
    return kind == '(' ? ')' : kind == '[' ? ']' : kind == '{' ? '}' : 0;
}

bool gd_parse_bracket(gd_parser *parser)
{
    char open[GD_PTX_LIMIT_DEPTH];
    uint32_t depth = 0;

    do {
        uint32_t kind = gd_parse_kind(parser);
        if (closing(kind)) {
            if (depth == GD_PTX_LIMIT_DEPTH)
                return GD_PARSE_FAIL_LIMIT(parser, GD_PTX_LIMIT_DEPTH,
                                           "brackets inside one another");
            open[depth++] = closing(kind);
        } else if (kind == ')' || kind == ']' || kind == '}' || kind == GD_TOKEN_END ||
                   kind == GD_TOKEN_BAD) {
            char expected[] = {'\'', open[depth - 1], '\'', 0};
            if (kind != (unsigned char)open[depth - 1])
                return gd_parse_fail(parser, expected);
            depth--;
        }
        parser->at++;
    } while (depth);
    return true;
}

bool gd_parse_until(gd_parser *parser, uint32_t stop, uint32_t other, const char *expected)
{
    for (;;) {
        uint32_t kind = gd_parse_kind(parser);
        if (kind == stop || kind == other)
            return true;
        if (kind == GD_TOKEN_END || kind == GD_TOKEN_BAD || kind == ';' || kind == ')' ||
            kind == ']' || kind == '}')
            return gd_parse_fail(parser, expected);
        if (!closing(kind))
            parser->at++;
        else if (!gd_parse_bracket(parser))
            return false;
    }
}

/* Whether the bracket that is looked at is one of operands: more of a statement stands behind it in
 * its line. */
static bool is_in_line(const gd_parser *parser)
{
    uint32_t next = gd_parse_next_kind(parser);

    return next == ',' || next == ';' || next == ']' || next == '|' || next == '}' ||
           (gd_parse_kind(parser) == '{' && next == GD_TOKEN_NAME &&
            !gd_token_starts_line(parser->tokens[parser->at + 1]));
}

void gd_parse_resume(gd_parser *parser, uint32_t from)
{
    if (parser->at == from && gd_parse_kind(parser) != GD_TOKEN_END)
        parser->at++;
    for (;; parser->at++) {
        uint32_t kind = gd_parse_kind(parser);
        bool scope = kind == '{' || kind == '}';
        if (kind == GD_TOKEN_END || (scope && gd_token_starts_line(parser->tokens[parser->at])))
            return;
        if (scope && !is_in_line(parser))
            return;
        if (kind == ';') {
            parser->at++;
            return;
        }
    }
}

uint32_t gd_parse_name(gd_parser *parser)
{
    gd_token token = parser->tokens[parser->at];
    uint32_t name = gd_ptx_name_intern(&parser->module->names, parser->module->text, token.offset,
                                       gd_token_length(token));

    if (name == GD_PTX_NONE)
        gd_parse_memory(parser);
    return name;
}

const gd_word *gd_parse_word(gd_parser *parser)
{
    if (gd_parse_kind(parser) != GD_TOKEN_DOTTED)
        return gd_word_at(0);
    uint32_t index = gd_parse_name(parser);
    if (index == GD_PTX_NONE)
        return NULL;
    gd_ptx_name *name = &parser->module->names.list[index];
    if (name->word == GD_PTX_NOT_LOOKED_UP)
        name->word = gd_word_index(parser->module->text + name->offset + 1, name->length - 1);
    return gd_word_at(name->word);
}

uint32_t gd_parse_add_symbol(gd_parser *parser, gd_ptx_symbol_kind kind, uint32_t name,
                             uint32_t token)
{
    gd_ptx_module *module = parser->module;

    if (!ROOM(module, symbols, symbol)) {
        gd_parse_memory(parser);
        return GD_PTX_NONE;
    }
    module->symbols[module->symbol_count] = (gd_ptx_symbol){
        .name = name,
        .scope = parser->scope,
        .token = token,
        .kind = (uint8_t)kind,
        .vector = 1,
        .count = 1,
        .target = GD_PTX_NONE,
        .directive = GD_PTX_NONE,
        .hidden = GD_PTX_NONE,
    };
    return module->symbol_count++;
}

uint32_t gd_parse_add_directive(gd_parser *parser, gd_ptx_directive_kind kind, uint32_t token)
{
    gd_ptx_module *module = parser->module;

    if (!ROOM(module, directives, directive)) {
        gd_parse_memory(parser);
        return GD_PTX_NONE;
    }
    module->directives[module->directive_count] = (gd_ptx_directive){
        .token = token,
        .token_end = token,
        .scope = parser->scope,
        .instruction = module->instruction_count,
        .symbol = module->symbol_count,
        .symbol_end = module->symbol_count,
        .operand = module->operand_count,
        .operand_end = module->operand_count,
        .kind = (uint8_t)kind,
    };
    return module->directive_count++;
}

uint32_t gd_parse_add_operand(gd_parser *parser, gd_ptx_operand_kind kind, uint32_t token)
{
    gd_ptx_module *module = parser->module;

    if (!ROOM(module, operands, operand)) {
        gd_parse_memory(parser);
        return GD_PTX_NONE;
    }
    uint32_t operand = module->operand_count++;
    module->operands[operand] = (gd_ptx_operand){
        .kind = (uint8_t)kind,
        .token = token,
        .token_end = token + 1,
        .end = operand + 1,
        .symbol = GD_PTX_NONE,
        .index = GD_PTX_NONE,
    };
    return operand;
}

static bool is_in_scope(const gd_parser *parser, uint32_t symbol, uint32_t scope)
{
    return symbol != GD_PTX_NONE && parser->module->symbols[symbol].scope == scope;
}

/* Whether a name that a range declares stands in its scope already; ptxas overlooks number 0. */
static bool is_taken(const gd_parser *parser, const gd_ptx_symbol *range)
{
    const gd_ptx_module *module = parser->module;
    const gd_ptx_name *prefix = &module->names.list[range->name];

    for (uint32_t i = prefix->single; i != GD_PTX_NONE; i = module->symbols[i].hidden) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        const gd_ptx_name *name = &module->names.list[symbol->name];
        if (symbol->scope < range->scope)
            return false;
        if (symbol->scope == range->scope && module->text[name->offset + prefix->length] != '0' &&
            name->number < range->count)
            return true;
    }
    return false;
}

/* Whether the scope has the name of a new symbol already. */
static bool is_declared_again(const gd_parser *parser, const gd_ptx_symbol *item)
{
    const gd_ptx_name *name = &parser->module->names.list[item->name];

    if (item->flags & GD_SYMBOL_RANGE)
        return is_in_scope(parser, name->range, item->scope) || is_taken(parser, item);
    if (is_in_scope(parser, name->symbol, item->scope))
        return true;
    if (name->prefix == GD_PTX_NONE || item->kind == GD_SYMBOL_LABEL)
        return false; /* a label may have the name of a range's register */
    uint32_t range = parser->module->names.list[name->prefix].range;
    return is_in_scope(parser, range, item->scope) &&
           name->number < parser->module->symbols[range].count;
}

bool gd_parse_bind(gd_parser *parser, uint32_t symbol)
{
    gd_ptx_symbol *item = &parser->module->symbols[symbol];
    gd_ptx_name *name = &parser->module->names.list[item->name];

    if (is_declared_again(parser, item))
        item->flags |= GD_SYMBOL_AGAIN;
    if (parser->depth) {
        if (parser->undo_count == parser->undo_capacity &&
            !gd_array_grow((void **)&parser->undo, &parser->undo_capacity, sizeof *parser->undo))
            return gd_parse_memory(parser);
        parser->undo[parser->undo_count++] =
            (gd_parse_undo){.name = item->name, .symbol = name->symbol, .range = name->range};
    }
    if (item->flags & GD_SYMBOL_RANGE) {
        item->hidden = name->range;
        if (name->range != GD_PTX_NONE && parser->module->symbols[name->range].scope == item->scope)
            item->hidden = parser->module->symbols[name->range].hidden;
        name->range = symbol;
        parser->split_anywhere |= name->prefix != GD_PTX_NONE;
    } else {
        name->symbol = symbol;
        if (name->prefix != GD_PTX_NONE && item->kind != GD_SYMBOL_LABEL) {
            item->hidden = parser->module->names.list[name->prefix].single;
            parser->module->names.list[name->prefix].single = symbol;
        }
    }
    return true;
}

/* Scopes are numbered in the order in which they open, so of two that are open the larger number is
 * the inner one. In one scope a register of a range goes before a label of its name. */
static bool is_inner(const gd_parser *parser, uint32_t symbol, uint32_t other)
{
    const gd_ptx_symbol *symbols = parser->module->symbols;

    return other == GD_PTX_NONE || symbols[symbol].scope > symbols[other].scope ||
           (symbols[symbol].scope == symbols[other].scope &&
            symbols[other].kind == GD_SYMBOL_LABEL);
}

/* The innermost declaration name<N> that has this number. PTX ISA 5.4.6: it is short for N
 * declarations, so an inner one with a smaller N leaves the rest of an outer one in sight. There is
 * at most one for each open scope. */
static uint32_t find_range(const gd_ptx_module *module, uint32_t range, uint32_t number)
{
    while (range != GD_PTX_NONE && number >= module->symbols[range].count)
        range = module->symbols[range].hidden;
    return range;
}

/* Every way to split a name that ends in digits, where declarations make more than one possible. */
static uint32_t resolve_split(const gd_parser *parser, const gd_ptx_name *name, uint32_t best,
                              uint32_t *index)
{
    const gd_ptx_module *module = parser->module;
    const char *text = module->text + name->offset;
    uint32_t number = 0, scale = 1;

    for (uint32_t stem = name->length - 1; stem > 0 && name->length - stem <= 9; stem--) {
        if ((unsigned)(text[stem] - '0') > 9)
            break;
        number += (uint32_t)(text[stem] - '0') * scale;
        scale *= 10;
        uint32_t prefix = gd_ptx_name_find(&module->names, module->text, text, stem);
        uint32_t range = prefix == GD_PTX_NONE
                             ? GD_PTX_NONE
                             : find_range(module, module->names.list[prefix].range, number);
        if (range != GD_PTX_NONE && is_inner(parser, range, best)) {
            best = range;
            *index = number;
        }
    }
    return best;
}

uint32_t gd_parse_resolve(const gd_parser *parser, uint32_t name, uint32_t *index)
{
    const gd_ptx_module *module = parser->module;
    const gd_ptx_name *item = &module->names.list[name];
    uint32_t best = item->symbol;

    *index = 0;
    if (item->prefix == GD_PTX_NONE)
        return best;
    if (parser->split_anywhere)
        return resolve_split(parser, item, best, index);
    uint32_t range = find_range(module, module->names.list[item->prefix].range, item->number);
    if (range != GD_PTX_NONE && is_inner(parser, range, best)) {
        best = range;
        *index = item->number;
    }
    return best;
}

bool gd_parse_open_scope(gd_parser *parser, uint32_t token)
{
    gd_ptx_module *module = parser->module;

    if (parser->depth == GD_PTX_LIMIT_DEPTH)
        return GD_PARSE_FAIL_LIMIT(parser, GD_PTX_LIMIT_DEPTH, "scopes inside one another");
    if (!ROOM(module, scopes, scope))
        return gd_parse_memory(parser);
    module->scopes[module->scope_count] = (gd_ptx_scope){
        .parent = parser->scope,
        .function = parser->function,
        .token = token,
        .token_end = token,
    };
    parser->scope = module->scope_count++;
    parser->depth++;
    parser->marks[parser->depth].undo = parser->undo_count;
    parser->marks[parser->depth].pending = parser->pending_count;
    return true;
}

/* The name that an operand waits with: its own, or one that is numbered. */
static uint32_t pending_name(const gd_ptx_module *module, const gd_ptx_operand *operand)
{
    const gd_ptx_name *base = &module->names.list[operand->index];
    char name[256];

    if (!(operand->flags & GD_OPERAND_NUMBERED))
        return operand->index;
    if (base->length > sizeof name - 12)
        return GD_PTX_NONE;
    int bytes = snprintf(name, sizeof name, "%.*s%u", (int)base->length,
                         module->text + base->offset, (unsigned)operand->value);
    return gd_ptx_name_find(&module->names, module->text, name, (uint32_t)bytes);
}

void gd_parse_settle(gd_parser *parser, uint32_t first_pending)
{
    gd_ptx_module *module = parser->module;
    uint32_t kept = first_pending;

    for (uint32_t i = first_pending; i < parser->pending_count; i++) {
        gd_ptx_operand *operand = &module->operands[parser->pending[i]];
        uint32_t name = pending_name(module, operand);
        uint32_t symbol = name == GD_PTX_NONE ? name : module->names.list[name].symbol;
        if (symbol != GD_PTX_NONE && module->symbols[symbol].scope == parser->scope)
            operand->symbol = symbol;
        else
            parser->pending[kept++] = parser->pending[i];
    }
    parser->pending_count = kept;
}

void gd_parse_close_scope(gd_parser *parser, uint32_t token_end)
{
    gd_ptx_module *module = parser->module;

    gd_parse_settle(parser, parser->marks[parser->depth].pending);
    while (parser->undo_count > parser->marks[parser->depth].undo) {
        const gd_parse_undo *undo = &parser->undo[--parser->undo_count];
        module->names.list[undo->name].symbol = undo->symbol;
        module->names.list[undo->name].range = undo->range;
    }
    module->scopes[parser->scope].token_end = token_end;
    parser->scope = module->scopes[parser->scope].parent;
    parser->depth--;
}

/* Declarations of variables and parameters, and the directives that stand for themselves. */
#include <string.h>

#include "ptx/text/parse.h"

/* What stands before a declared name. */
typedef struct declaration {
    uint32_t link;
    uint32_t alignment; /* 0: not given */
    uint32_t pointer_alignment;
    uint8_t space;
    uint8_t pointer_space;
    uint8_t type;
    uint8_t vector;
    bool pointer, managed;
} declaration;

static bool parse_alignment(gd_parser *parser, uint32_t *alignment)
{
    uint32_t value = 0;

    if (!gd_parse_u32(parser, "an alignment", &value))
        return false;
    if (value == 0 || (value & (value - 1)) != 0) {
        parser->at--;
        return gd_parse_fail(parser, "a power of two");
    }
    *alignment = value;
    return true;
}

bool gd_parse_attribute(gd_parser *parser)
{
    parser->at++;
    if (gd_parse_kind(parser) != '(')
        return gd_parse_fail(parser, "'('");
    return gd_parse_bracket(parser);
}

static bool take_word(gd_parser *parser, const gd_word *word, declaration *into)
{
    if (word->class == GD_WORD_ATTRIBUTE) {
        into->managed = gd_ptx_token_is(parser->module, parser->at + 2, ".managed");
        return gd_parse_attribute(parser);
    }
    parser->at++;
    switch (word->class) {
    case GD_WORD_SPACE:
        *(into->pointer ? &into->pointer_space : &into->space) = word->value;
        return true;
    case GD_WORD_ALIGN:
        return parse_alignment(parser, into->pointer ? &into->pointer_alignment : &into->alignment);
    case GD_WORD_PTR:
        into->pointer = true;
        return true;
    case GD_WORD_TYPE:
        into->type = word->value;
        return true;
    case GD_WORD_VECTOR:
        into->vector = word->value;
        return true;
    case GD_WORD_NONE: /* one that this library does not know: the type stays NONE and the text
                        * stays as it is */
        return true;
    default:
        parser->at--;
        return gd_parse_fail(parser, "a type and a name");
    }
}

/* .param .u64 .ptr .global .align 16 */
static bool parse_words(gd_parser *parser, declaration *into)
{
    while (gd_parse_kind(parser) == GD_TOKEN_DOTTED) {
        const gd_word *word = gd_parse_word(parser);
        if (!word || !take_word(parser, word, into))
            return false;
    }
    return true;
}

static uint32_t natural_bytes(const declaration *from)
{
    return (uint32_t)gd_ptx_types[from->type].bytes * from->vector;
}

/* [3][], each dimension multiplies the size. */
static bool parse_dimensions(gd_parser *parser, uint32_t symbol)
{
    gd_ptx_symbol *item = &parser->module->symbols[symbol];

    while (gd_parse_skip(parser, '[')) {
        uint64_t count = 1;
        item->flags |= GD_SYMBOL_ARRAY;
        if (gd_parse_kind(parser) == ']')
            item->flags |= GD_SYMBOL_UNSIZED;
        else if (!gd_parse_u64(parser, "a number of elements or ']'", &count))
            return false;
        if (count > (UINT64_C(1) << 62) / (item->bytes ? item->bytes : 1)) {
            parser->at--;
            return gd_parse_fail(parser, "an array whose size can be counted in 62 bits");
        }
        item->bytes *= count;
        if (!gd_parse_expect(parser, ']', "']'"))
            return false;
    }
    return true;
}

/* name<100> */
static bool parse_range(gd_parser *parser, uint32_t symbol)
{
    gd_ptx_symbol *item = &parser->module->symbols[symbol];

    if (!gd_parse_skip(parser, '<'))
        return true;
    item->flags |= GD_SYMBOL_RANGE;
    return gd_parse_u32(parser, "a number of registers", &item->count) &&
           gd_parse_expect(parser, '>', "'>'");
}

/* Gives a register its place among those of its function. */
static bool number_registers(gd_parser *parser, uint32_t symbol)
{
    gd_ptx_symbol *item = &parser->module->symbols[symbol];

    if (item->space != GD_SPACE_REG || parser->function == GD_PTX_NONE)
        return true;
    gd_ptx_function *function = &parser->module->functions[parser->function];
    uint64_t count = (uint64_t)item->count * item->vector;
    if (function->register_count + count > GD_PTX_LIMIT_REGISTERS) {
        parser->at--;
        return GD_PARSE_FAIL_LIMIT(parser, GD_PTX_LIMIT_REGISTERS, "registers in a function");
    }
    item->target = function->register_count;
    function->register_count += (uint32_t)count;
    return true;
}

/* A declared name with its range or dimensions; the symbol is not yet in force. */
static bool parse_declarator(gd_parser *parser, const declaration *from, gd_ptx_symbol_kind kind,
                             uint32_t *symbol)
{
    if (gd_parse_kind(parser) != GD_TOKEN_NAME)
        return gd_parse_fail(parser, from->type == GD_TYPE_NONE ? "a type and a name" : "a name");
    uint32_t name = gd_parse_name(parser);
    *symbol = name == GD_PTX_NONE ? name : gd_parse_add_symbol(parser, kind, name, parser->at);
    if (*symbol == GD_PTX_NONE)
        return false;
    parser->at++;
    gd_ptx_symbol *item = &parser->module->symbols[*symbol];
    item->space = from->space;
    item->type = from->type;
    item->vector = from->vector;
    item->link = (uint8_t)from->link;
    item->bytes = natural_bytes(from);
    item->alignment = from->alignment       ? from->alignment
                      : natural_bytes(from) ? natural_bytes(from)
                                            : 1;
    if (from->managed)
        item->flags |= GD_SYMBOL_MANAGED;
    if (from->pointer) {
        item->flags |= GD_SYMBOL_POINTER;
        item->pointer_space = from->pointer_space;
        item->pointer_alignment = from->pointer_alignment;
    }
    return parse_range(parser, *symbol) && parse_dimensions(parser, *symbol) &&
           number_registers(parser, *symbol);
}

static bool parse_initialiser(gd_parser *parser, uint32_t symbol)
{
    if (!gd_parse_skip(parser, '='))
        return true;
    parser->module->symbols[symbol].flags |= GD_SYMBOL_INITIALISED;
    if (gd_parse_kind(parser) == ',' || gd_parse_kind(parser) == ';')
        return gd_parse_fail(parser, "an initial value");
    return gd_parse_until(parser, ';', ',', "',' or ';'");
}

bool gd_parse_variables(gd_parser *parser, uint32_t token, uint32_t link)
{
    declaration from = {.link = link, .vector = 1};
    uint32_t directive = gd_parse_add_directive(parser, GD_DIRECTIVE_VARIABLE, token);
    uint32_t symbol;

    if (directive == GD_PTX_NONE || !parse_words(parser, &from))
        return false;
    const bool nameless = gd_parse_kind(parser) == ';' && from.type != GD_TYPE_NONE;
    if (nameless) { /* it declares nothing */
        parser->at++;
        parser->module->directives[directive].token_end = parser->at;
        return true;
    }
    do {
        if (!parse_declarator(parser, &from, GD_SYMBOL_VARIABLE, &symbol) ||
            !parse_initialiser(parser, symbol) || !gd_parse_bind(parser, symbol))
            return false;
        parser->module->symbols[symbol].directive = directive;
    } while (gd_parse_skip(parser, ','));
    if (!gd_parse_finish(parser, "',' or ';'"))
        return false;
    parser->module->directives[directive].symbol_end = parser->module->symbol_count;
    parser->module->directives[directive].token_end = parser->at;
    return true;
}

/* Puts a parameter behind those before it: each is aligned, nothing else lies between them. */
static bool place_parameter(gd_parser *parser, uint32_t symbol, uint64_t *used)
{
    gd_ptx_symbol *item = &parser->module->symbols[symbol];
    uint64_t mask = (uint64_t)item->alignment - 1;
    uint64_t offset = (*used + mask) & ~mask;
    uint64_t bytes = item->flags & GD_SYMBOL_UNSIZED ? 0 : item->bytes;

    if (offset > GD_PTX_LIMIT_PARAMETER_BYTES || bytes > GD_PTX_LIMIT_PARAMETER_BYTES - offset) {
        parser->at--;
        return GD_PARSE_FAIL_LIMIT(parser, GD_PTX_LIMIT_PARAMETER_BYTES, "bytes of parameters");
    }
    item->offset = (uint32_t)offset;
    item->bytes = bytes;
    *used = offset + bytes;
    return true;
}

static bool parse_parameter(gd_parser *parser, uint64_t *used)
{
    declaration from = {.vector = 1};
    uint32_t symbol;

    if (gd_parse_kind(parser) != GD_TOKEN_DOTTED)
        return gd_parse_fail(parser, "a parameter");
    return parse_words(parser, &from) &&
           parse_declarator(parser, &from, GD_SYMBOL_PARAMETER, &symbol) &&
           place_parameter(parser, symbol, used) && gd_parse_bind(parser, symbol);
}

bool gd_parse_parameters(gd_parser *parser, uint32_t *symbol, uint32_t *symbol_end)
{
    uint64_t used = 0;

    parser->at++;
    *symbol = parser->module->symbol_count;
    *symbol_end = *symbol;
    if (gd_parse_skip(parser, ')'))
        return true;
    do {
        if (!parse_parameter(parser, &used))
            return false;
    } while (gd_parse_skip(parser, ','));
    *symbol_end = parser->module->symbol_count;
    return gd_parse_expect(parser, ')', "',' or ')'");
}

/* .file 1 "name", 123, 456 */
static bool parse_file(gd_parser *parser)
{
    uint64_t value = 0;

    if (!gd_parse_u64(parser, "a file number", &value) ||
        !gd_parse_expect(parser, GD_TOKEN_STRING, "a file name"))
        return false;
    while (gd_parse_skip(parser, ',')) {
        if (!gd_parse_u64(parser, "an integer", &value))
            return false;
    }
    return true;
}

static bool parse_position(gd_parser *parser)
{
    uint64_t value = 0;

    return gd_parse_u64(parser, "a file number", &value) &&
           gd_parse_u64(parser, "a line number", &value) &&
           gd_parse_u64(parser, "a column number", &value);
}

/* .loc 1 12 3, function_name $L__info_string0+4, inlined_at 1 15 3 */
static bool parse_loc(gd_parser *parser)
{
    uint64_t value = 0;

    if (!parse_position(parser))
        return false;
    while (gd_parse_skip(parser, ',')) {
        bool inlined = gd_ptx_token_is(parser->module, parser->at, "inlined_at");
        if (!inlined && !gd_ptx_token_is(parser->module, parser->at, "function_name"))
            return gd_parse_fail(parser, "function_name or inlined_at");
        parser->at++;
        if (inlined ? !parse_position(parser) : !gd_parse_expect(parser, GD_TOKEN_NAME, "a label"))
            return false;
        if (!inlined && gd_parse_skip(parser, '+') && !gd_parse_u64(parser, "an offset", &value))
            return false;
    }
    return true;
}

/* 5, -5 */
static bool parse_section_integers(gd_parser *parser)
{
    uint64_t value = 0;

    do {
        gd_parse_skip(parser, '-');
        if (!gd_parse_u64(parser, "an integer", &value))
            return false;
    } while (gd_parse_skip(parser, ','));
    return true;
}

/* .debug_info: begins with a letter, and is no word that PTX has. */
static bool parse_section_name(gd_parser *parser)
{
    const gd_word *word = gd_parse_word(parser);
    uint32_t length;

    if (!word)
        return false;
    const char *text = gd_ptx_token_text(parser->module, parser->at, &length);
    if (gd_parse_kind(parser) != GD_TOKEN_DOTTED || word->class != GD_WORD_NONE ||
        !((text[1] | 0x20) >= 'a' && (text[1] | 0x20) <= 'z'))
        return gd_parse_fail(parser, "a section name");
    parser->at++;
    return true;
}

/* label, label+5, label-label, .section or .section+5 */
static bool parse_section_address(gd_parser *parser)
{
    uint64_t value = 0;
    const bool label = gd_parse_kind(parser) == GD_TOKEN_NAME &&
                       !gd_ptx_token_is(parser->module, parser->at, "WARP_SZ");
    if (!label && gd_parse_kind(parser) != GD_TOKEN_DOTTED)
        return gd_parse_fail(parser, "an integer, a label or a section");
    if (label)
        parser->at++;
    else if (!parse_section_name(parser))
        return false;
    if (label && gd_parse_skip(parser, '-'))
        return gd_parse_expect(parser, GD_TOKEN_NAME, "a label");
    return !gd_parse_skip(parser, '+') || gd_parse_u64(parser, "an integer", &value);
}

/* Labels, and behind a type integers or one address. */
static bool parse_section_data(gd_parser *parser)
{
    while (gd_parse_kind(parser) != '}') {
        if (gd_parse_kind(parser) == GD_TOKEN_NAME && gd_parse_next_kind(parser) == ':') {
            parser->at += 2;
            continue;
        }
        const gd_word *word = gd_parse_word(parser);
        if (!word)
            return false;
        if (word->class != GD_WORD_TYPE)
            return gd_parse_fail(parser, "a label, a type such as .b8, or '}'");
        parser->at++;
        const bool integers =
            gd_parse_kind(parser) == '-' || gd_parse_kind(parser) == GD_TOKEN_INTEGER;
        if (integers ? !parse_section_integers(parser) : !parse_section_address(parser))
            return false;
    }
    parser->at++;
    return true;
}

static bool parse_section(gd_parser *parser)
{
    return parse_section_name(parser) && gd_parse_expect(parser, '{', "'{'") &&
           parse_section_data(parser);
}

static bool parse_pragma(gd_parser *parser)
{
    do {
        if (!gd_parse_expect(parser, GD_TOKEN_STRING, "a string"))
            return false;
    } while (gd_parse_skip(parser, ','));
    return gd_parse_expect(parser, ';', "',' or ';'");
}

/* The label right before a list or a prototype is its name. */
static void name_directive(gd_parser *parser, uint32_t directive)
{
    const uint32_t count = parser->module->symbol_count;

    if (count > parser->first_label && parser->module->symbols[count - 1].kind == GD_SYMBOL_LABEL)
        parser->module->symbols[count - 1].directive = directive;
}

static bool parse_targets(gd_parser *parser, uint32_t directive, uint8_t kind)
{
    parser->module->directives[directive].kind = kind;
    name_directive(parser, directive);
    return gd_parse_name_list(parser) && gd_parse_expect(parser, ';', "',' or ';'");
}

/* The results and parameters of a prototype, whose names mean nothing behind it. */
static bool parse_signature(gd_parser *parser, gd_ptx_directive *directive)
{
    uint32_t from, end, first = parser->module->symbol_count;

    directive->symbol = directive->symbol_end = first;
    if (gd_parse_kind(parser) == '(' && !gd_parse_parameters(parser, &from, &end))
        return false;
    directive->results = (uint16_t)(parser->module->symbol_count - first);
    if (!gd_ptx_token_is(parser->module, parser->at, "_"))
        return gd_parse_fail(parser, "'_'");
    parser->at++;
    if ((gd_parse_kind(parser) == '(' && !gd_parse_parameters(parser, &from, &end)))
        return false;
    directive->symbol_end = parser->module->symbol_count;
    for (uint32_t i = first; i < directive->symbol_end; i++)
        parser->module->symbols[i].flags &= (uint8_t)~GD_SYMBOL_AGAIN;
    if (gd_ptx_token_is(parser->module, parser->at, ".noreturn")) {
        directive->flags |= GD_DIRECTIVE_NORETURN;
        parser->at++;
    }
    while (gd_ptx_token_is(parser->module, parser->at, ".abi_preserve") ||
           gd_ptx_token_is(parser->module, parser->at, ".abi_preserve_control")) {
        parser->at++;
        if (!gd_parse_u32(parser, "a number of registers", &from))
            return false;
    }
    return gd_parse_kind(parser) == ';' || gd_parse_fail(parser, "';'");
}

static bool parse_prototype(gd_parser *parser, uint32_t directive)
{
    name_directive(parser, directive);
    if (!gd_parse_open_scope(parser, parser->at))
        return false;
    bool done = parse_signature(parser, &parser->module->directives[directive]);
    gd_parse_close_scope(parser, parser->at);
    parser->at += done;
    return done;
}

static bool parse_alias(gd_parser *parser, uint32_t directive)
{
    gd_ptx_module *module = parser->module;
    uint32_t first = module->operand_count;

    if (!gd_parse_name_list(parser) || !gd_parse_expect(parser, ';', "',' or ';'"))
        return false;
    if (module->operand_count - first != 2) {
        parser->at--;
        return gd_parse_fail(parser, "two names");
    }
    uint32_t symbol = module->names.list[module->operands[first].index].symbol;
    if (symbol != GD_PTX_NONE && module->symbols[symbol].kind == GD_SYMBOL_FUNCTION)
        module->symbols[symbol].directive = directive;
    return true;
}

/* Keeps what it does not know: up to its ';', behind its { }, or to its line's end unless that ends
 * in a comma. A directive that is known begins a new statement. */
static bool skip_unknown(gd_parser *parser)
{
    for (;;) {
        gd_token token = parser->tokens[parser->at];
        uint32_t kind = gd_token_kind(token);
        bool continued = gd_token_kind(parser->tokens[parser->at - 1]) == ',';
        if (kind == ';') {
            parser->at++;
            return true;
        }
        if (kind == '}' || kind == GD_TOKEN_END || (gd_token_starts_line(token) && !continued))
            return true;
        if (kind == '{')
            return gd_parse_bracket(parser);
        if (kind == '(' || kind == '[') {
            if (!gd_parse_bracket(parser))
                return false;
            continue;
        }
        const gd_word *word = gd_parse_word(parser);
        if (!word || kind == GD_TOKEN_BAD || kind == ')' || kind == ']')
            return word ? gd_parse_fail(parser, "';' or the line's end") : false;
        if (word->class != GD_WORD_NONE && word->class != GD_WORD_TYPE)
            return true;
        parser->at++;
    }
}

static gd_ptx_directive_kind kind_of(const gd_word *word)
{
    switch (word->class) {
    case GD_WORD_FILE:
        return GD_DIRECTIVE_FILE;
    case GD_WORD_LOC:
        return GD_DIRECTIVE_LOC;
    case GD_WORD_SECTION:
        return GD_DIRECTIVE_SECTION;
    case GD_WORD_PRAGMA:
        return GD_DIRECTIVE_PRAGMA;
    case GD_WORD_ALIAS:
        return GD_DIRECTIVE_ALIAS;
    case GD_WORD_PROTOTYPE:
        return GD_DIRECTIVE_CALLPROTOTYPE;
    default:
        return GD_DIRECTIVE_UNKNOWN;
    }
}

static bool parse_rest(gd_parser *parser, const gd_word *word, uint32_t directive)
{
    switch (word->class) {
    case GD_WORD_FILE:
        return parse_file(parser);
    case GD_WORD_LOC:
        return parse_loc(parser);
    case GD_WORD_SECTION:
        return parse_section(parser);
    case GD_WORD_PRAGMA:
        return parse_pragma(parser);
    case GD_WORD_ALIAS:
        return parse_alias(parser, directive);
    case GD_WORD_TARGETS:
        return parse_targets(parser, directive, word->value);
    case GD_WORD_PROTOTYPE:
        return parse_prototype(parser, directive);
    default:
        return skip_unknown(parser);
    }
}

bool gd_parse_directive(gd_parser *parser, const gd_word *word)
{
    uint32_t directive = gd_parse_add_directive(parser, kind_of(word), parser->at);

    if (directive == GD_PTX_NONE)
        return false;
    parser->at++;
    if (!parse_rest(parser, word, directive))
        return false;
    parser->module->directives[directive].token_end = parser->at;
    parser->module->directives[directive].operand_end = parser->module->operand_count;
    return true;
}

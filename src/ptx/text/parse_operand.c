/* Operands: trees of registers, literals, symbols, addresses, vectors (PTX ISA 6), and constant
 * expressions (PTX ISA 4.5.5), which are recognised and kept as text. */
#include <string.h>

#include "ptx/text/array.h"
#include "ptx/text/constant.h"
#include "ptx/text/parse.h"

enum { COMPONENT_OTHER = 255 };

static const char *const EXPECTED_OPERAND = "an operand";

static bool ends_operand(uint32_t kind)
{
    return kind == ',' || kind == ';' || kind == ']' || kind == '}' || kind == ')';
}

static uint32_t kind_at(const gd_parser *parser, uint32_t token)
{
    return token <= parser->module->tokens.count ? gd_token_kind(parser->tokens[token])
                                                 : GD_TOKEN_END;
}

/* The end of the operand that holds `token`, outside of brackets that open behind it. */
static uint32_t find_end(const gd_parser *parser, uint32_t token)
{
    uint32_t depth = 0, kind;

    while ((kind = kind_at(parser, token)) != GD_TOKEN_END && kind != ';') {
        if (depth == 0 && ends_operand(kind))
            break;
        depth += kind == '(' || kind == '[';
        depth -= kind == ')' || kind == ']';
        token++;
    }
    return token;
}

static bool is_literal(uint32_t kind)
{
    return kind == GD_TOKEN_INTEGER || kind == GD_TOKEN_FLOAT;
}

static bool finish_operand(gd_parser *parser, uint32_t operand)
{
    gd_ptx_operand *item = &parser->module->operands[operand];

    item->token_end = parser->at;
    item->end = parser->module->operand_count;
    return true;
}

static bool add_pending(gd_parser *parser, uint32_t operand)
{
    if (parser->pending_count == parser->pending_capacity &&
        !gd_array_grow((void **)&parser->pending, &parser->pending_capacity,
                       sizeof *parser->pending))
        return gd_parse_memory(parser);
    parser->pending[parser->pending_count++] = operand;
    return true;
}

/* Decides what a name is. A label may be used before it stands, and an inner one hides an outer one
 * in all of its scope, so labels are settled when the scope closes. */
static bool classify(gd_parser *parser, uint32_t operand, uint32_t name)
{
    gd_ptx_module *module = parser->module;
    gd_ptx_operand *item = &module->operands[operand];
    const char *text = module->text + module->names.list[name].offset;
    uint32_t index;
    uint32_t symbol = gd_parse_resolve(parser, name, &index);

    if (*text == '_' && module->names.list[name].length == 1) {
        item->index = name;
        item->kind = GD_OPERAND_SINK;
        return true;
    }
    if (symbol != GD_PTX_NONE && module->symbols[symbol].space == GD_SPACE_REG) {
        item->kind = GD_OPERAND_REGISTER;
        item->symbol = symbol;
        item->index = index;
        return true;
    }
    item->index = name;
    if (symbol == GD_PTX_NONE && *text == '%') {
        item->kind = GD_OPERAND_SPECIAL;
        return true;
    }
    if (symbol == GD_PTX_NONE || module->symbols[symbol].kind == GD_SYMBOL_LABEL)
        return add_pending(parser, operand);
    item->symbol = symbol;
    return true;
}

/* Vector elements (PTX ISA 5.4.2), and the byte and half-word selectors of video instructions (PTX
 * ISA 9.7.20). */
static uint8_t component_of(const char *text, uint32_t length)
{
    static const char elements[] = "xyzwrgba";
    const char *found = length == 2 && text[1] ? strchr(elements, text[1]) : NULL;

    if (found)
        return (uint8_t)((found - elements) % 4 + 1);
    if (length == 3 && text[1] == 'b' && text[2] >= '0' && text[2] <= '3')
        return (uint8_t)(5 + text[2] - '0');
    if (length == 3 && text[1] == 'h' && (text[2] == '0' || text[2] == '1'))
        return (uint8_t)(9 + text[2] - '0');
    return COMPONENT_OTHER;
}

/* name, name.x, name+4, name+-4, name+constant expression */
static bool parse_named(gd_parser *parser, uint32_t token, uint8_t flags)
{
    gd_ptx_module *module = parser->module;
    uint32_t name = gd_parse_name(parser);
    uint32_t operand =
        name == GD_PTX_NONE ? name : gd_parse_add_operand(parser, GD_OPERAND_SYMBOL, token);

    if (operand == GD_PTX_NONE || !classify(parser, operand, name))
        return false;
    parser->at++;
    if (gd_parse_kind(parser) == GD_TOKEN_DOTTED) {
        uint32_t length;
        const char *text = gd_ptx_token_text(module, parser->at++, &length);
        module->operands[operand].component = component_of(text, length);
    }
    if (gd_parse_skip(parser, '+')) {
        uint32_t end = find_end(parser, parser->at);
        if (!gd_constant_evaluate(module, parser->at, end, &module->operands[operand].value))
            return gd_parse_fail(parser, "an integer constant");
        parser->at = end;
        flags |= GD_OPERAND_OFFSET;
    }
    module->operands[operand].flags = flags;
    return finish_operand(parser, operand);
}

static bool parse_literal(gd_parser *parser, uint32_t token, bool minus)
{
    gd_ptx_module *module = parser->module;
    bool integer = gd_parse_kind(parser) == GD_TOKEN_INTEGER;
    uint32_t length;
    const char *text = gd_ptx_token_text(module, parser->at, &length);
    uint32_t operand = gd_parse_add_operand(parser, GD_OPERAND_INTEGER, token);
    uint64_t value = 0;

    if (operand == GD_PTX_NONE)
        return false;
    if (integer) {
        if (!gd_parse_u64(parser, "an integer", &value))
            return false;
        module->operands[operand].value = minus ? 0 - value : value;
    } else {
        bool single;
        value = gd_ptx_float_read(text, length, &single);
        module->operands[operand].kind = single ? GD_OPERAND_SINGLE : GD_OPERAND_DOUBLE;
        module->operands[operand].value =
            minus ? value ^ (single ? UINT64_C(1) << 31 : UINT64_C(1) << 63) : value;
        parser->at++;
    }
    return finish_operand(parser, operand);
}

/* Steps over a binary operator, or a part of ?: . */
static bool skip_operator(gd_parser *parser)
{
    uint32_t kind = gd_parse_kind(parser), next = gd_parse_next_kind(parser);
    bool twice =
        kind == next && (kind == '<' || kind == '>' || kind == '&' || kind == '|' || kind == '=');
    bool compares = next == '=' && (kind == '<' || kind == '>' || kind == '!');

    if (!twice && !compares && (kind == 0 || kind >= 128 || !strchr("+-*/%&|^<>?:", (int)kind)))
        return false;
    parser->at += twice || compares ? 2 : 1;
    return true;
}

static bool skip_expression(gd_parser *parser, uint32_t depth);

/* An operand of an expression with what stands before it: signs and casts such as (.s64). */
static bool skip_primary(gd_parser *parser, uint32_t depth)
{
    for (;;) {
        uint32_t kind = gd_parse_kind(parser);
        if (kind == '+' || kind == '-' || kind == '!' || kind == '~') {
            parser->at++;
        } else if (kind == '(' && gd_parse_next_kind(parser) == GD_TOKEN_DOTTED) {
            parser->at++;
            if (!gd_ptx_token_is(parser->module, parser->at, ".s64") &&
                !gd_ptx_token_is(parser->module, parser->at, ".u64"))
                return gd_parse_fail(parser, ".s64 or .u64, to which alone constants are cast");
            parser->at++;
            if (!gd_parse_expect(parser, ')', "')'"))
                return false;
        } else {
            break;
        }
    }
    if (gd_parse_skip(parser, '('))
        return skip_expression(parser, depth + 1) && gd_parse_expect(parser, ')', "')'");
    if (is_literal(gd_parse_kind(parser))) {
        parser->at++;
        return true;
    }
    if (!gd_parse_expect(parser, GD_TOKEN_NAME, EXPECTED_OPERAND))
        return false;
    if (parser->is_call || !gd_parse_skip(parser, '['))
        return true;
    return skip_expression(parser, depth + 1) && gd_parse_expect(parser, ']', "']'");
}

static bool skip_expression(gd_parser *parser, uint32_t depth)
{
    if (depth >= GD_PTX_LIMIT_DEPTH)
        return GD_PARSE_FAIL_LIMIT(parser, GD_PTX_LIMIT_DEPTH, "brackets inside one another");
    do {
        if (!skip_primary(parser, depth))
            return false;
    } while (skip_operator(parser));
    return true;
}

static bool parse_expression(gd_parser *parser, uint32_t depth)
{
    uint32_t operand = gd_parse_add_operand(parser, GD_OPERAND_EXPRESSION, parser->at);

    return operand != GD_PTX_NONE && skip_expression(parser, depth) &&
           finish_operand(parser, operand);
}

/* Whether a name at `token` is an operand by itself, rather than the beginning of an expression. */
static bool stands_alone(const gd_parser *parser, uint32_t token)
{
    bool component = kind_at(parser, ++token) == GD_TOKEN_DOTTED;

    token += component;
    if (kind_at(parser, token) == '+') {
        uint32_t end = find_end(parser, ++token);
        uint64_t value;
        if (!gd_constant_evaluate(parser->module, token, end, &value))
            return false;
        token = end;
    }
    return component || ends_operand(kind_at(parser, token));
}

static bool parse_pair(gd_parser *parser, uint32_t token, uint8_t flags)
{
    uint32_t pair = gd_parse_add_operand(parser, GD_OPERAND_PAIR, token);

    if (pair == GD_PTX_NONE || !parse_named(parser, token, flags) ||
        !gd_parse_expect(parser, '|', "'|'"))
        return false;
    uint32_t second = parser->at;
    bool negated = gd_parse_skip(parser, '!');
    if (gd_parse_kind(parser) != GD_TOKEN_NAME)
        return gd_parse_fail(parser, "a register");
    return parse_named(parser, second, negated ? GD_OPERAND_NOT : 0) &&
           finish_operand(parser, pair);
}

/* A name, with a sign perhaps, a pair of names, or an expression. */
static bool parse_simple(gd_parser *parser, uint32_t depth)
{
    uint32_t token = parser->at;
    uint32_t sign = gd_parse_kind(parser);
    bool is_signed = sign == '-' || sign == '!';
    uint32_t first = token + (is_signed ? 1 : 0);
    uint32_t kind = kind_at(parser, first);
    uint8_t flags = sign == '-' ? GD_OPERAND_MINUS : sign == '!' ? GD_OPERAND_NOT : 0;

    if (kind == GD_TOKEN_NAME && kind_at(parser, first + 1) == '|' &&
        kind_at(parser, first + 2) != '|' && sign != '-') {
        parser->at = first;
        return parse_pair(parser, token, flags);
    }
    if (kind == GD_TOKEN_NAME && stands_alone(parser, first)) {
        parser->at = first;
        return parse_named(parser, token, flags);
    }
    if (is_literal(kind) && sign != '!' && ends_operand(kind_at(parser, first + 1))) {
        parser->at = first;
        return parse_literal(parser, token, is_signed);
    }
    return parse_expression(parser, depth);
}

/* Whether the bracket at the current '(' is a list of arguments: then the operand ends behind it.
 * In an instruction other than call one constant in brackets is an expression. */
static bool is_list(const gd_parser *parser)
{
    uint32_t depth = 0, token = parser->at;
    bool constant = !parser->is_call && kind_at(parser, token + 1) != ')';

    for (;; token++) {
        uint32_t kind = kind_at(parser, token);
        constant &= kind != GD_TOKEN_NAME && kind != ',';
        depth += kind == '(';
        if (kind == GD_TOKEN_END || kind == ';')
            return true;
        if (kind == ')' && --depth == 0)
            return ends_operand(kind_at(parser, token + 1)) && !constant;
    }
}

/* [a, b], {a, b}, (a, b); a list may be empty. */
static bool parse_group(gd_parser *parser, gd_ptx_operand_kind kind, uint32_t close,
                        const char *expected, uint32_t depth)
{
    uint32_t group = gd_parse_add_operand(parser, kind, parser->at);

    if (group == GD_PTX_NONE)
        return false;
    if (depth >= GD_PTX_LIMIT_DEPTH)
        return GD_PARSE_FAIL_LIMIT(parser, GD_PTX_LIMIT_DEPTH, "brackets inside one another");
    parser->at++;
    if (kind == GD_OPERAND_LIST && gd_parse_skip(parser, close))
        return finish_operand(parser, group);
    do {
        if (!gd_parse_operand(parser, depth + 1))
            return false;
    } while (gd_parse_skip(parser, ','));
    return gd_parse_expect(parser, close, expected) && finish_operand(parser, group);
}

/* Whether a predicate follows the vector at the current '{': tex {a, b, c, d}|p, [...]. */
static bool is_vector_pair(const gd_parser *parser)
{
    uint32_t token = parser->at;

    while (kind_at(parser, token) != '}' && kind_at(parser, token) != ';' &&
           kind_at(parser, token) != GD_TOKEN_END)
        token++;
    return kind_at(parser, token) == '}' && kind_at(parser, token + 1) == '|';
}

static bool parse_vector_pair(gd_parser *parser, uint32_t depth)
{
    uint32_t pair = gd_parse_add_operand(parser, GD_OPERAND_PAIR, parser->at);

    if (pair == GD_PTX_NONE || !parse_group(parser, GD_OPERAND_VECTOR, '}', "',' or '}'", depth) ||
        !gd_parse_expect(parser, '|', "'|'"))
        return false;
    if (gd_parse_kind(parser) != GD_TOKEN_NAME)
        return gd_parse_fail(parser, "a register");
    return parse_named(parser, parser->at, 0) && finish_operand(parser, pair);
}

bool gd_parse_operand(gd_parser *parser, uint32_t depth)
{
    switch (gd_parse_kind(parser)) {
    case '[':
        return parse_group(parser, GD_OPERAND_MEMORY, ']', "',' or ']'", depth);
    case '{':
        if (depth == 0 && is_vector_pair(parser))
            return parse_vector_pair(parser, depth);
        return parse_group(parser, GD_OPERAND_VECTOR, '}', "',' or '}'", depth);
    case '(':
        if (depth == 0 && is_list(parser))
            return parse_group(parser, GD_OPERAND_LIST, ')', "',' or ')'", depth);
        return parse_expression(parser, depth);
    case GD_TOKEN_NAME:
    case GD_TOKEN_INTEGER:
    case GD_TOKEN_FLOAT:
    case '-':
    case '!':
    case '+':
    case '~':
        return parse_simple(parser, depth);
    default:
        return gd_parse_fail(parser, EXPECTED_OPERAND);
    }
}

bool gd_parse_guard(gd_parser *parser)
{
    uint32_t token = parser->at;
    uint8_t flags = gd_parse_skip(parser, '!') ? GD_OPERAND_NOT : 0;
    uint32_t name = gd_parse_kind(parser) == GD_TOKEN_NAME ? gd_parse_name(parser) : GD_PTX_NONE;

    if (name == GD_PTX_NONE)
        return parser->out_of_memory ? false : gd_parse_fail(parser, "a predicate");
    uint32_t operand = gd_parse_add_operand(parser, GD_OPERAND_SYMBOL, token);
    if (operand == GD_PTX_NONE || !classify(parser, operand, name))
        return false;
    parser->at++;
    parser->module->operands[operand].flags = flags;
    return finish_operand(parser, operand);
}

static bool add_listed(gd_parser *parser, uint32_t name, uint32_t token, uint8_t flags,
                       uint64_t number)
{
    uint32_t operand = gd_parse_add_operand(parser, GD_OPERAND_SYMBOL, token);

    if (operand == GD_PTX_NONE)
        return false;
    parser->module->operands[operand].index = name;
    parser->module->operands[operand].flags = flags;
    parser->module->operands[operand].value = number;
    parser->module->operands[operand].token_end = parser->at;
    return add_pending(parser, operand);
}

/* A name, or B<2> for B0 and B1. */
static bool parse_listed(gd_parser *parser)
{
    uint32_t token = parser->at, count = 0;
    uint32_t name = gd_parse_name(parser);

    if (name == GD_PTX_NONE)
        return false;
    parser->at++;
    if (!gd_parse_skip(parser, '<'))
        return add_listed(parser, name, token, 0, 0);
    if (!gd_parse_u32(parser, "a number of names", &count))
        return false;
    if (count > GD_PTX_LIMIT_LISTED) {
        parser->at--;
        return GD_PARSE_FAIL_LIMIT(parser, GD_PTX_LIMIT_LISTED, "names by one");
    }
    if (!gd_parse_expect(parser, '>', "'>'"))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!add_listed(parser, name, token, GD_OPERAND_NUMBERED, i))
            return false;
    }
    return true;
}

bool gd_parse_name_list(gd_parser *parser)
{
    do {
        if (gd_parse_kind(parser) != GD_TOKEN_NAME)
            return gd_parse_fail(parser, "a name");
        if (!parse_listed(parser))
            return false;
    } while (gd_parse_skip(parser, ','));
    return true;
}

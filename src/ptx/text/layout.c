/* One pass over the tokens, a unit at a time: what the parser says begins at a token (a function's
 * head, a directive, an instruction), a label, or a brace. What lies between two tokens is read
 * again for comments. What ends with its line (.file, .loc, what is not known) keeps its lines. */
#include <string.h>

#include "ptx/text/layout.h"

enum {
    LINE = 100,       /* bytes, where there is a comma to break at */
    INDENT = 4,       /* for each brace that is open */
    OPCODE_MOST = 22, /* longer ones do not move a function's column */
    HANG_MOST = 40    /* column from which on continued operands are indented less */
};

typedef enum unit_kind { UNIT_STATEMENT, UNIT_INSTRUCTION, UNIT_LINES, UNIT_VARIABLE } unit_kind;

typedef struct layout_state {
    const gd_ptx_module *module;
    const gd_token *tokens;
    gd_text *text;
    const char *line_end;
    uint32_t at; /* the next token */
    uint32_t depth;
    uint32_t instruction, directive, function; /* those that begin at `at` or behind it */
    uint32_t opcode_width;                     /* of the function that was met last */
    uint32_t indent, hang;                     /* of a line, and of those that continue it */
    uint32_t column;
    bool empty; /* the line that is written has nothing yet */
    bool space; /* a comment was written: a blank goes before what follows */
} layout_state;

static uint32_t kind_at(const layout_state *layout, uint32_t token)
{
    return gd_token_kind(layout->tokens[token]);
}

static uint32_t end_of(const layout_state *layout, uint32_t token)
{
    return layout->tokens[token].offset + gd_token_length(layout->tokens[token]);
}

/* ---- writing ---- */

static void put_blanks(layout_state *layout, uint32_t count)
{
    static const char blanks[] = "                                                            ";

    for (uint32_t part; count; count -= part) {
        part = count < sizeof blanks - 1 ? count : (uint32_t)sizeof blanks - 1;
        gd_text_append(layout->text, blanks, part);
        layout->column += part;
    }
}

static void put(layout_state *layout, uint32_t indent, const char *text, size_t bytes)
{
    if (layout->empty)
        put_blanks(layout, indent);
    layout->empty = false;
    gd_text_append(layout->text, text, bytes);
    layout->column += (uint32_t)bytes;
}

static void end_line(layout_state *layout)
{
    if (!layout->empty)
        gd_text_string(layout->text, layout->line_end);
    layout->empty = true;
    layout->space = false;
    layout->column = 0;
}

static void put_blank_line(layout_state *layout)
{
    end_line(layout);
    if (layout->text->bytes)
        gd_text_string(layout->text, layout->line_end);
}

static void put_token(layout_state *layout, uint32_t indent, uint32_t token)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(layout->module, token, &length);

    put(layout, indent, text, length);
}

/* ---- comments ---- */

typedef struct comment_text {
    uint32_t start, end;
    uint32_t lines; /* line ends between it and what stands before it */
    bool rest;      /* it is the rest of its line: //, or a preprocessor's line */
} comment_text;

/* The next comment from *at on, before `stop`. false: none, then *lines are the line ends that are
 * left. */
static bool next_comment(const layout_state *layout, uint32_t *at, uint32_t stop,
                         comment_text *found, uint32_t *lines)
{
    const char *text = layout->module->text;

    *lines = 0;
    for (; *at < stop && text[*at] != '/' && text[*at] != '#'; ++*at)
        *lines += text[*at] == '\n';
    if (*at >= stop)
        return false;
    *found = (comment_text){.start = *at, .lines = *lines};
    found->rest = text[*at] == '#' || text[*at + 1] == '/';
    bool quoted = false;
    if (found->rest) {
        for (; *at < stop && (text[*at] != '\n' || quoted); ++*at)
            quoted ^= text[found->start] == '#' && text[*at] == '"';
    } else {
        *at += 2;
        while (*at + 1 < stop && (text[*at] != '*' || text[*at + 1] != '/'))
            ++*at;
        *at = *at + 2 < stop ? *at + 2 : stop;
    }
    found->end = *at;
    while (found->rest && strchr(" \t\r\f\v", text[found->end - 1]))
        found->end--;
    return true;
}

static void put_comment(layout_state *layout, const comment_text *comment, uint32_t indent)
{
    bool marker = layout->module->text[comment->start] == '#';
    bool own = comment->lines || marker || !layout->text->bytes;

    if (own)
        end_line(layout);
    if (own && comment->lines > 1 && layout->text->bytes)
        put_blank_line(layout);
    if (!layout->empty)
        put(layout, 0, "  ", comment->rest ? 2 : 1);
    put(layout, marker ? 0 : indent, layout->module->text + comment->start,
        comment->end - comment->start);
    layout->space = true;
    if (comment->rest || own)
        end_line(layout);
}

/* What stands in front of a token. Gives the line ends between it and what was before. */
static uint32_t put_gap(layout_state *layout, uint32_t token, uint32_t indent)
{
    uint32_t at = token ? end_of(layout, token - 1) : 0, lines;
    comment_text found;

    while (next_comment(layout, &at, layout->tokens[token].offset, &found, &lines))
        put_comment(layout, &found, indent);
    return lines;
}

/* A new line for a unit, behind what belongs to the line before. */
static void begin(layout_state *layout, uint32_t indent)
{
    uint32_t lines = put_gap(layout, layout->at, layout->depth * INDENT);

    end_line(layout);
    if (lines > 1)
        put_blank_line(layout);
    layout->indent = indent;
    layout->hang = indent + INDENT;
}

/* ---- within a unit ---- */

static bool opens(uint32_t kind)
{
    return kind == '(' || kind == '[' || kind == '{';
}

static bool closes(uint32_t kind)
{
    return kind == ')' || kind == ']' || kind == '}';
}

/* Whether a blank stands before a token. Where no rule says, what was parted stays parted. */
static bool is_parted(const layout_state *layout, uint32_t token, bool operands)
{
    uint32_t before = kind_at(layout, token - 1), kind = kind_at(layout, token);

    if (kind == ',' || kind == ';' || closes(kind) || opens(before) || before == '@' ||
        before == '!')
        return false;
    if (before == ',' || before == '=' || kind == '=')
        return true;
    if (operands && kind == GD_TOKEN_DOTTED && before == GD_TOKEN_NAME)
        return false;
    return end_of(layout, token - 1) != layout->tokens[token].offset;
}

/* Bytes from a token that stands behind a comma to the next comma of its bracket or of one around
 * it, or to the unit's end. */
static uint32_t measure(const layout_state *layout, uint32_t token, uint32_t end, bool operands)
{
    uint32_t bytes = 0, depth = 0;

    for (uint32_t i = token; i < end && bytes <= LINE; i++) {
        uint32_t kind = kind_at(layout, i);
        bytes += gd_token_length(layout->tokens[i]) + (i > token && is_parted(layout, i, operands));
        if (depth == 0 && (kind == ',' || closes(kind)))
            return bytes;
        depth += opens(kind);
        depth -= closes(kind);
    }
    return bytes;
}

static bool breaks_before(const layout_state *layout, uint32_t token, uint32_t end, unit_kind kind)
{
    bool kept = (kind == UNIT_LINES || kind == UNIT_VARIABLE) &&
                gd_token_starts_line(layout->tokens[token]);

    if (kept || kind == UNIT_LINES || kind_at(layout, token - 1) != ',')
        return kept;
    return layout->column + 1 + measure(layout, token, end, kind == UNIT_INSTRUCTION) > LINE;
}

/* Writes tokens up to `end`; the first is the next one, and its gap is written. */
static void put_tokens(layout_state *layout, uint32_t end, unit_kind kind)
{
    for (uint32_t first = layout->at; layout->at < end; layout->at++) {
        uint32_t token = layout->at;
        if (token > first) {
            put_gap(layout, token, layout->hang);
            if (breaks_before(layout, token, end, kind))
                end_line(layout);
            if (!layout->empty &&
                (layout->space || is_parted(layout, token, kind == UNIT_INSTRUCTION)))
                put(layout, 0, " ", 1);
        }
        layout->space = false;
        put_token(layout,
                  token == first                  ? layout->indent
                  : kind_at(layout, token) == '}' ? layout->indent
                                                  : layout->hang,
                  token);
    }
}

/* ---- units ---- */

/* Bytes of the guard and the opcode. */
static uint32_t measure_opcode(const layout_state *layout, const gd_ptx_instruction *instruction)
{
    uint32_t bytes = instruction->opcode > instruction->token; /* the blank behind the guard */

    for (uint32_t i = instruction->token; i <= instruction->opcode + instruction->modifiers; i++)
        bytes += gd_token_length(layout->tokens[i]);
    return bytes;
}

/* The column that the operands of a function's instructions begin in. */
static uint32_t find_width(const layout_state *layout, const gd_ptx_function *function)
{
    uint32_t width = 0;

    for (uint32_t i = function->instruction; i < function->instruction_end; i++) {
        const gd_ptx_instruction *instruction = &layout->module->instructions[i];
        uint32_t bytes = measure_opcode(layout, instruction);
        bool bare = instruction->opcode + instruction->modifiers + 2 == instruction->token_end;
        if (!bare && bytes <= OPCODE_MOST && bytes > width)
            width = bytes;
    }
    return width;
}

static void put_instruction(layout_state *layout, const gd_ptx_instruction *instruction)
{
    uint32_t operands = instruction->opcode + instruction->modifiers + 1;
    uint32_t column = layout->indent + layout->opcode_width + 1;

    put_tokens(layout, operands, UNIT_INSTRUCTION);
    put_gap(layout, layout->at, layout->hang);
    if (kind_at(layout, operands) != ';' && !layout->empty) {
        put(layout, 0, " ", 1);
        if (layout->column < column)
            put_blanks(layout, column - layout->column);
        layout->hang = layout->column <= HANG_MOST ? layout->column : layout->hang + INDENT;
    }
    layout->indent = layout->hang;
    put_tokens(layout, instruction->token_end, UNIT_INSTRUCTION);
}

/* The ')' of the bracket that a token opens. */
static uint32_t find_close(const layout_state *layout, uint32_t token)
{
    uint32_t depth = 0;

    do {
        depth += opens(kind_at(layout, token));
        depth -= closes(kind_at(layout, token));
    } while (depth && kind_at(layout, token++) != GD_TOKEN_END);
    return token;
}

/* Whether parameters stand one a line: they do already, have comments, or are too long for one. */
static bool are_tall(const layout_state *layout, uint32_t open, uint32_t close)
{
    uint32_t bytes = layout->column + 1;
    const char *text = layout->module->text;

    for (uint32_t i = open + 1; i <= close; i++) {
        bytes += gd_token_length(layout->tokens[i]) + is_parted(layout, i, false);
        if (gd_token_starts_line(layout->tokens[i]) || bytes > LINE)
            return true;
        for (uint32_t at = end_of(layout, i - 1); at < layout->tokens[i].offset; at++) {
            if (text[at] == '/' || text[at] == '#')
                return true;
        }
    }
    return false;
}

static void put_tall(layout_state *layout, uint32_t close)
{
    uint32_t depth = 0;

    while (layout->at < close) {
        uint32_t kind = kind_at(layout, layout->at);
        bool first = depth == 0 && (kind_at(layout, layout->at - 1) == '(' ||
                                    kind_at(layout, layout->at - 1) == ',');
        put_gap(layout, layout->at, INDENT);
        if (first)
            end_line(layout);
        if (!layout->empty && (layout->space || is_parted(layout, layout->at, false)))
            put(layout, 0, " ", 1);
        layout->space = false;
        put_token(layout, first ? INDENT : 2 * INDENT, layout->at);
        depth += opens(kind);
        depth -= closes(kind);
        layout->at++;
    }
    put_gap(layout, layout->at, INDENT);
    end_line(layout);
    put_token(layout, 0, layout->at++);
}

/* Up to the parameters' ')'. The directives behind it are units of their own. */
static void put_head(layout_state *layout, const gd_ptx_function *function)
{
    uint32_t open = function->token_name + 1;

    layout->opcode_width = find_width(layout, function);
    put_tokens(layout, open, UNIT_STATEMENT);
    if (kind_at(layout, open) != '(')
        return;
    uint32_t close = find_close(layout, open);
    put_gap(layout, open, layout->hang);
    put_token(layout, layout->hang, layout->at++);
    if (are_tall(layout, open, close))
        put_tall(layout, close);
    else
        while (layout->at <= close) {
            if (is_parted(layout, layout->at, false))
                put(layout, 0, " ", 1);
            put_token(layout, 0, layout->at++);
        }
}

static unit_kind kind_of(const gd_ptx_directive *directive)
{
    switch (directive->kind) {
    case GD_DIRECTIVE_VARIABLE:
        return UNIT_VARIABLE;
    case GD_DIRECTIVE_UNKNOWN:
    case GD_DIRECTIVE_FILE:
    case GD_DIRECTIVE_LOC:
    case GD_DIRECTIVE_SECTION:
    case GD_DIRECTIVE_PRAGMA:
    case GD_DIRECTIVE_PERFORMANCE:
        return UNIT_LINES;
    default:
        return UNIT_STATEMENT;
    }
}

static void put_directive(layout_state *layout, const gd_ptx_directive *directive)
{
    begin(layout, layout->depth * INDENT);
    put_tokens(layout, directive->token_end, kind_of(directive));
}

/* Directives that a label names stand behind it. */
static void put_label(layout_state *layout)
{
    const gd_ptx_module *module = layout->module;

    begin(layout, 0);
    put_token(layout, 0, layout->at++);
    put_gap(layout, layout->at, INDENT);
    put_token(layout, INDENT, layout->at++);
    while (layout->directive < module->directive_count &&
           module->directives[layout->directive].token < layout->at)
        layout->directive++;
    if (layout->directive == module->directive_count ||
        module->directives[layout->directive].token != layout->at ||
        kind_of(&module->directives[layout->directive]) != UNIT_STATEMENT)
        return;
    put_gap(layout, layout->at, INDENT);
    if (!layout->empty)
        put(layout, 0, " ", 1);
    layout->space = false;
    layout->indent = layout->empty ? INDENT : 0;
    layout->hang = 2 * INDENT;
    put_tokens(layout, module->directives[layout->directive].token_end, UNIT_STATEMENT);
}

static void put_brace(layout_state *layout)
{
    bool open = kind_at(layout, layout->at) == '{';

    layout->depth += open;
    begin(layout, (layout->depth - (layout->depth > 0)) * INDENT);
    layout->depth -= !open && layout->depth > 0;
    put_token(layout, layout->indent, layout->at++);
}

/* What no statement covers: a ';' behind a function's head, for one. */
static void put_other(layout_state *layout)
{
    if (kind_at(layout, layout->at) == ';' && layout->at)
        put_gap(layout, layout->at, layout->hang);
    else
        begin(layout, layout->depth * INDENT);
    put_token(layout, layout->indent, layout->at++);
}

static void put_unit(layout_state *layout)
{
    const gd_ptx_module *module = layout->module;
    uint32_t at = layout->at, kind = kind_at(layout, at);

    while (layout->instruction < module->instruction_count &&
           module->instructions[layout->instruction].token < at)
        layout->instruction++;
    while (layout->directive < module->directive_count &&
           module->directives[layout->directive].token < at)
        layout->directive++;
    while (layout->function < module->function_count &&
           module->functions[layout->function].token < at)
        layout->function++;
    if (layout->function < module->function_count &&
        module->functions[layout->function].token == at) {
        begin(layout, layout->depth * INDENT);
        put_head(layout, &module->functions[layout->function]);
    } else if (layout->directive < module->directive_count &&
               module->directives[layout->directive].token == at) {
        put_directive(layout, &module->directives[layout->directive]);
    } else if (layout->instruction < module->instruction_count &&
               module->instructions[layout->instruction].token == at) {
        begin(layout, layout->depth * INDENT);
        put_instruction(layout, &module->instructions[layout->instruction]);
    } else if (kind == '{' || kind == '}') {
        put_brace(layout);
    } else if (kind == GD_TOKEN_NAME && kind_at(layout, at + 1) == ':') {
        put_label(layout);
    } else {
        put_other(layout);
    }
}

/* That of the first line. */
static const char *find_line_end(const gd_ptx_module *module)
{
    const char *end = memchr(module->text, '\n', module->bytes);

    return end && end > module->text && end[-1] == '\r' ? "\r\n" : "\n";
}

void gd_ptx_layout(const gd_ptx_module *module, gd_text *text)
{
    layout_state layout = {.module = module,
                           .tokens = module->tokens.list,
                           .text = text,
                           .line_end = find_line_end(module),
                           .empty = true};

    while (layout.at < module->tokens.count)
        put_unit(&layout);
    put_gap(&layout, layout.at, 0);
    end_line(&layout);
}

bool gd_ptx_layout_is_same(const gd_ptx_module *module, const gd_ptx_module *other)
{
    if (module->tokens.count != other->tokens.count ||
        module->instruction_count != other->instruction_count ||
        module->directive_count != other->directive_count ||
        module->function_count != other->function_count ||
        module->symbol_count != other->symbol_count || other->diagnostics->count)
        return false;
    for (uint32_t i = 0; i < module->tokens.count; i++) {
        uint32_t length, other_length;
        const char *text = gd_ptx_token_text(module, i, &length);
        const char *other_text = gd_ptx_token_text(other, i, &other_length);
        if (gd_token_kind(module->tokens.list[i]) != gd_token_kind(other->tokens.list[i]) ||
            length != other_length || memcmp(text, other_text, length) != 0)
            return false;
    }
    return true;
}

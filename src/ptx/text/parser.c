/* The module's own grammar (PTX ISA 4 and 11): its head, functions, and what stands between
 * them. */
#include <stdlib.h>
#include <string.h>

#include "ptx/text/array.h"
#include "ptx/text/parse.h"
#include "ptx/text/parser.h"

/* .version 9.0 */
static bool parse_version(gd_parser *parser)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(parser->module, parser->at, &length);
    int32_t parts[2] = {0, 0};
    uint32_t part = 0, digits = 0;

    if (gd_parse_kind(parser) != GD_TOKEN_FLOAT)
        return gd_parse_fail(parser, "a version such as 8.0");
    for (uint32_t i = 0; i < length; i++) {
        if (text[i] == '.' && part == 0 && digits > 0) {
            part = 1;
            digits = 0;
        } else if ((unsigned)(text[i] - '0') > 9 || ++digits > 3) {
            return gd_parse_fail(parser, "a version such as 8.0");
        } else {
            parts[part] = parts[part] * 10 + (text[i] - '0');
        }
    }
    if (part == 0 || digits == 0)
        return gd_parse_fail(parser, "a version such as 8.0");
    /* A second one is told by the check. 8.10 is 9.0 for ptxas. */
    if (parser->module->version == 0)
        parser->module->version = parts[0] * 10 + (parts[1] < 20 ? parts[1] : 9);
    parser->at++;
    return true;
}

/* 90 for sm_90, sm_90a, sm_90f and compute_90; 0 for another word. */
static int32_t capability_of(const char *text, uint32_t length)
{
    const uint32_t prefix = length > 8 && memcmp(text, "compute_", 8) == 0 ? 8 : 3;
    int32_t number = 0;

    if (length < prefix + 1 || length > prefix + 5 || (prefix == 3 && memcmp(text, "sm_", 3) != 0))
        return 0;
    for (uint32_t i = prefix; i < length && (unsigned)(text[i] - '0') <= 9; i++)
        number = number * 10 + (text[i] - '0');
    return number;
}

/* The target is the list's last sm_NN, or its first word where it has none. */
static bool take_target(gd_parser *parser)
{
    gd_ptx_module *module = parser->module;
    uint32_t length;
    const char *text = gd_ptx_token_text(module, parser->at, &length);
    int32_t capability = capability_of(text, length);

    if (module->target && !capability)
        return true;
    module->capability = capability;
    module->target = gd_arena_string(&module->arena, text, length);
    return module->target || gd_parse_memory(parser);
}

/* .target sm_90a, debug: of several the last one holds. */
static bool parse_target(gd_parser *parser)
{
    parser->module->target = NULL;
    parser->module->capability = 0;
    do {
        if (gd_parse_kind(parser) != GD_TOKEN_NAME)
            return gd_parse_fail(parser, "a target such as sm_90");
        if (!take_target(parser))
            return false;
        parser->module->independent |=
            gd_ptx_token_is(parser->module, parser->at, "texmode_independent");
        parser->at++;
    } while (gd_parse_skip(parser, ','));
    return true;
}

static bool parse_address_size(gd_parser *parser)
{
    uint32_t bits = 0;

    if (!gd_parse_u32(parser, "32 or 64", &bits))
        return false;
    if (bits != 32 && bits != 64) {
        parser->at--;
        return gd_parse_fail(parser, "32 or 64");
    }
    parser->module->address_bits = bits;
    return true;
}

static bool parse_head_directive(gd_parser *parser, gd_ptx_directive_kind kind)
{
    uint32_t directive = gd_parse_add_directive(parser, kind, parser->at);

    if (directive == GD_PTX_NONE)
        return false;
    parser->at++;
    bool done = kind == GD_DIRECTIVE_VERSION  ? parse_version(parser)
                : kind == GD_DIRECTIVE_TARGET ? parse_target(parser)
                                              : parse_address_size(parser);
    parser->module->directives[directive].token_end = parser->at;
    return done;
}

/* PTX ISA 4: a module begins with .version, and .target follows. */
static bool parse_head(gd_parser *parser)
{
    const gd_word *word = gd_parse_word(parser);

    if (!word || word->class != GD_WORD_VERSION)
        return word ? gd_parse_fail(parser, ".version") : false;
    if (!parse_head_directive(parser, GD_DIRECTIVE_VERSION))
        return false;
    word = gd_parse_word(parser);
    if (!word || word->class != GD_WORD_TARGET)
        return word ? gd_parse_fail(parser, ".target") : false;
    return parse_head_directive(parser, GD_DIRECTIVE_TARGET);
}

/* .reqntid 32, 4: what is not given is 1. */
static bool parse_limit(gd_parser *parser, gd_ptx_function *function, uint8_t which)
{
    uint32_t values[3] = {1, 1, 1};
    uint32_t count = 0;
    uint32_t most = which <= GD_PERFORMANCE_REQNCTAPERCLUSTER ? 3 : 1;

    do {
        if (count == most)
            return gd_parse_fail(parser, "no more numbers");
        if (!gd_parse_u32(parser, "a number", &values[count++]))
            return false;
    } while (gd_parse_skip(parser, ','));
    for (uint32_t i = 0; i < most; i++)
        function->limits[which][i] = values[i];
    return true;
}

/* One that is not known reaches to the next directive, to the body, or to the ';'. */
static bool skip_performance(gd_parser *parser)
{
    for (;;) {
        uint32_t kind = gd_parse_kind(parser);
        if (kind == GD_TOKEN_DOTTED || kind == '{' || kind == ';' || kind == GD_TOKEN_END ||
            kind == GD_TOKEN_BAD)
            return true;
        if (kind != '(')
            parser->at++;
        else if (!gd_parse_bracket(parser))
            return false;
    }
}

/* The directives between a function's parameters and its body (PTX ISA 11.4). */
static bool parse_performance(gd_parser *parser, const gd_word *word)
{
    if (word->class == GD_WORD_PRAGMA)
        return gd_parse_directive(parser, word);
    if (word->class == GD_WORD_SPACE && word->value != GD_SPACE_PARAM)
        return gd_parse_fail(parser, "'{' or ';'");
    uint32_t directive = gd_parse_add_directive(parser, GD_DIRECTIVE_PERFORMANCE, parser->at);
    if (directive == GD_PTX_NONE)
        return false;
    gd_ptx_function *function = &parser->module->functions[parser->function];
    parser->at++;
    if (word->class == GD_WORD_FLAG)
        function->flags |= word->value;
    if (word->class == GD_WORD_PERFORMANCE ? !parse_limit(parser, function, word->value)
                                           : !skip_performance(parser))
        return false;
    parser->module->directives[directive].token_end = parser->at;
    return true;
}

/* The symbol of a function's name: one for all its declarations and its definition. */
static bool name_function(gd_parser *parser, gd_ptx_function *function, uint32_t index)
{
    gd_ptx_module *module = parser->module;
    uint32_t name = gd_parse_name(parser);

    if (name == GD_PTX_NONE)
        return false;
    uint32_t length;
    const char *text = gd_ptx_token_text(module, parser->at, &length);
    function->name = gd_arena_string(&module->arena, text, length);
    if (!function->name)
        return gd_parse_memory(parser);
    function->symbol = module->names.list[name].symbol;
    if (function->symbol != GD_PTX_NONE &&
        module->symbols[function->symbol].kind == GD_SYMBOL_FUNCTION)
        return true;
    function->symbol = gd_parse_add_symbol(parser, GD_SYMBOL_FUNCTION, name, parser->at);
    if (function->symbol == GD_PTX_NONE)
        return false;
    module->symbols[function->symbol].target = index;
    return gd_parse_bind(parser, function->symbol);
}

/* Copies of the parameters' names, to be handed out. */
static bool name_parameters(gd_parser *parser, gd_ptx_function *function)
{
    gd_ptx_module *module = parser->module;
    uint32_t count = function->parameter_end - function->parameter;

    function->parameter_names =
        gd_arena_array(&module->arena, count, sizeof *function->parameter_names);
    for (uint32_t i = 0; function->parameter_names && i < count; i++) {
        uint32_t length;
        const char *text =
            gd_ptx_name_text(module, module->symbols[function->parameter + i].name, &length);
        function->parameter_names[i] = gd_arena_string(&module->arena, text, length);
        if (!function->parameter_names[i])
            return gd_parse_memory(parser);
    }
    return function->parameter_names || gd_parse_memory(parser);
}

static bool add_entry(gd_parser *parser, uint32_t function)
{
    gd_ptx_module *module = parser->module;

    if (!name_parameters(parser, &module->functions[function]))
        return false;
    if (module->entry_count == module->entry_capacity &&
        !gd_array_grow((void **)&module->entries, &module->entry_capacity, sizeof *module->entries))
        return gd_parse_memory(parser);
    module->entries[module->entry_count++] = function;
    return true;
}

/* The definition stands for the function, whatever is declared before or behind it. */
static bool parse_definition(gd_parser *parser)
{
    gd_ptx_module *module = parser->module;
    uint32_t index = parser->function;
    gd_ptx_function *function = &module->functions[index];
    gd_ptx_symbol *symbol = &module->symbols[function->symbol];

    function->flags |= GD_FUNCTION_BODY;
    function->token_body = parser->at;
    symbol->target = index;
    symbol->token = function->token_name;
    symbol->link |= (uint8_t)function->link;
    bool done = gd_parse_body(parser);
    return done && (!(function->flags & GD_FUNCTION_ENTRY) || add_entry(parser, index));
}

/* Whether another statement of the module begins here: a .func that is only declared needs no
 * ';'. */
static bool ends_declaration(gd_parser *parser)
{
    const gd_word *word = gd_parse_word(parser);

    return word && (word->class == GD_WORD_ENTRY || word->class == GD_WORD_FUNC ||
                    word->class == GD_WORD_LINK || word->class == GD_WORD_FILE ||
                    word->class == GD_WORD_SECTION || word->class == GD_WORD_PRAGMA ||
                    (word->class == GD_WORD_SPACE &&
                     (word->value == GD_SPACE_GLOBAL || word->value == GD_SPACE_CONST)));
}

/* From the parameters on. The function's scope is open. */
static bool parse_rest(gd_parser *parser)
{
    gd_ptx_function *function = &parser->module->functions[parser->function];

    if (gd_parse_kind(parser) == '(' &&
        !gd_parse_parameters(parser, &function->parameter, &function->parameter_end))
        return false;
    if (function->parameter_end > function->parameter) {
        const gd_ptx_symbol *last = &parser->module->symbols[function->parameter_end - 1];
        function->parameter_bytes = last->offset + (uint32_t)last->bytes;
    }
    while (gd_parse_kind(parser) == GD_TOKEN_DOTTED &&
           (function->flags & GD_FUNCTION_ENTRY || !ends_declaration(parser))) {
        const gd_word *word = gd_parse_word(parser);
        if (!word || !parse_performance(parser, word))
            return false;
    }
    if (gd_parse_skip(parser, ';') ||
        (!(function->flags & GD_FUNCTION_ENTRY) &&
         (gd_parse_kind(parser) == GD_TOKEN_END || ends_declaration(parser))))
        return true;
    return gd_parse_kind(parser) == '{' ? parse_definition(parser)
                                        : gd_parse_fail(parser, "'{' or ';'");
}

/* From the function's name on; a .func's results have been seen. */
static bool parse_named(gd_parser *parser, uint32_t index)
{
    gd_ptx_function *function = &parser->module->functions[index];
    uint32_t results = parser->at;

    if (gd_parse_kind(parser) == '(' && !(function->flags & GD_FUNCTION_ENTRY) &&
        !gd_parse_bracket(parser))
        return false;
    if (gd_parse_kind(parser) != GD_TOKEN_NAME)
        return gd_parse_fail(parser, "a function's name");
    function->token_name = parser->at;
    if (!name_function(parser, function, index))
        return false;
    uint32_t name = parser->at;
    parser->function = index;
    if (!gd_parse_open_scope(parser, results))
        return false;
    function->scope = parser->scope;
    parser->at = results;
    if (results < name && !gd_parse_parameters(parser, &function->result, &function->result_end))
        return false;
    parser->at = name + 1;
    return parse_rest(parser);
}

static uint32_t add_function(gd_parser *parser, uint32_t token, uint32_t link, uint32_t flags)
{
    gd_ptx_module *module = parser->module;

    if (module->function_count == module->function_capacity &&
        !gd_array_grow((void **)&module->functions, &module->function_capacity,
                       sizeof *module->functions)) {
        gd_parse_memory(parser);
        return GD_PTX_NONE;
    }
    module->functions[module->function_count] = (gd_ptx_function){
        .symbol = GD_PTX_NONE,
        .token = token,
        .token_name = token,
        .token_body = GD_PTX_NONE,
        .scope = parser->scope,
        .flags = flags,
        .link = link,
        .parameter = module->symbol_count,
        .parameter_end = module->symbol_count,
        .result = module->symbol_count,
        .result_end = module->symbol_count,
        .instruction = module->instruction_count,
        .directive = module->directive_count,
        .control = module->control_count,
    };
    return module->function_count++;
}

static bool parse_function(gd_parser *parser, uint32_t token, uint32_t link, uint32_t flags)
{
    gd_ptx_module *module = parser->module;
    uint32_t index = add_function(parser, token, link, flags);

    if (index == GD_PTX_NONE)
        return false;
    parser->at++;
    const gd_word *word = gd_parse_word(parser);
    if (!word || (word->class == GD_WORD_ATTRIBUTE && !gd_parse_attribute(parser)))
        return false;
    bool done = parse_named(parser, index);
    while (parser->depth)
        gd_parse_close_scope(parser, done ? parser->at - 1 : parser->at);
    parser->function = GD_PTX_NONE;
    gd_ptx_function *function = &module->functions[index];
    function->token_end = parser->at;
    function->instruction_end = module->instruction_count;
    function->directive_end = module->directive_count;
    function->control_end = module->control_count;
    return done;
}

/* What linking directives may stand before. */
static bool parse_linked(gd_parser *parser)
{
    uint32_t token = parser->at, link = 0;
    const gd_word *word;

    while ((word = gd_parse_word(parser)) != NULL && word->class == GD_WORD_LINK) {
        link |= word->value;
        parser->at++;
    }
    if (!word)
        return false;
    switch (word->class) {
    case GD_WORD_ENTRY:
        return parse_function(parser, token, link, GD_FUNCTION_ENTRY);
    case GD_WORD_FUNC:
        return parse_function(parser, token, link, 0);
    case GD_WORD_SPACE:
    case GD_WORD_ALIGN:
    case GD_WORD_ATTRIBUTE:
        return gd_parse_variables(parser, token, link);
    default:
        return gd_parse_fail(parser, ".entry, .func or a variable");
    }
}

static bool parse_top(gd_parser *parser)
{
    const gd_word *word = gd_parse_word(parser);

    if (!word)
        return false;
    if (gd_parse_kind(parser) != GD_TOKEN_DOTTED)
        return parser->lost ? gd_parse_fail_again(parser) : gd_parse_fail(parser, "a directive");
    switch (word->class) {
    case GD_WORD_LINK:
    case GD_WORD_ENTRY:
    case GD_WORD_FUNC:
    case GD_WORD_SPACE:
    case GD_WORD_ALIGN:
    case GD_WORD_ATTRIBUTE:
        return parse_linked(parser);
    case GD_WORD_VERSION:
        return parse_head_directive(parser, GD_DIRECTIVE_VERSION);
    case GD_WORD_TARGET:
        return parse_head_directive(parser, GD_DIRECTIVE_TARGET);
    case GD_WORD_ADDRESS_SIZE:
        return parse_head_directive(parser, GD_DIRECTIVE_ADDRESS_SIZE);
    default:
        return gd_parse_directive(parser, word);
    }
}

/* Goes on behind the next ';' or behind a whole { }, unless a function begins earlier. */
static void resume(gd_parser *parser, uint32_t from)
{
    const gd_word *word = gd_parse_word(parser);

    if (parser->at > from && word && (word->class == GD_WORD_ENTRY || word->class == GD_WORD_FUNC))
        return;
    gd_parse_resume(parser, from);
    if (gd_parse_kind(parser) == '{' && !gd_parse_bracket(parser))
        return;
    gd_parse_skip(parser, '}');
}

static void parse_all(gd_parser *parser)
{
    if (!parse_head(parser))
        return;
    while (gd_parse_kind(parser) != GD_TOKEN_END) {
        uint32_t from = parser->at, functions = parser->module->function_count;
        if (parse_top(parser)) {
            parser->lost &= parser->module->function_count == functions;
            continue;
        }
        parser->lost = true;
        if (parser->out_of_memory || parser->errors >= GD_PTX_LIMIT_DIAGNOSTICS)
            return;
        resume(parser, from);
    }
    gd_parse_settle(parser, 0);
}

static bool reserve(gd_ptx_module *module)
{
    uint32_t tokens = module->tokens.count;

    return gd_array_reserve((void **)&module->instructions, &module->instruction_capacity,
                            tokens / 8 + 16, sizeof *module->instructions) &&
           gd_array_reserve((void **)&module->operands, &module->operand_capacity, tokens / 3 + 16,
                            sizeof *module->operands) &&
           gd_array_reserve((void **)&module->scopes, &module->scope_capacity, 16,
                            sizeof *module->scopes);
}

static bool take_text(gd_ptx_module *module, const char *text, uint32_t bytes, const char *name)
{
    module->text = malloc((size_t)bytes + GD_PTX_TEXT_PADDING);
    module->diagnostics = calloc(1, sizeof *module->diagnostics);
    module->name = gd_arena_string(&module->arena, name, strlen(name));
    if (!module->text || !module->diagnostics || !module->name)
        return false;
    if (bytes)
        memcpy(module->text, text, bytes);
    memset(module->text + bytes, 0, GD_PTX_TEXT_PADDING);
    module->bytes = bytes;
    module->address_bits =
        64; /* PTX ISA 11.1.3 says 32; ptxas goes by the registers, and has no 32 */
    return true;
}

int32_t gd_ptx_module_parse(gd_ptx_module *module, const char *text, uint32_t bytes,
                            const char *name)
{
    gd_parser *parser = calloc(1, sizeof *parser);
    bool done = parser && take_text(module, text, bytes, name) &&
                gd_ptx_tokens_read(&module->tokens, module->text, bytes, module->diagnostics) &&
                reserve(module);

    if (done) {
        module->scopes[module->scope_count++] = (gd_ptx_scope){
            .parent = GD_PTX_NONE, .function = GD_PTX_NONE, .token_end = module->tokens.count};
        *parser =
            (gd_parser){.module = module, .tokens = module->tokens.list, .function = GD_PTX_NONE};
        parse_all(parser);
        done = !parser->out_of_memory;
    }
    if (parser) {
        free(parser->undo);
        free(parser->pending);
    }
    free(parser);
    return done ? GRIDDEP_OK : GRIDDEP_ERROR_MEMORY;
}

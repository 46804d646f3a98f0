/* Directives and functions stand in the order of the text, so both are searched by halves; a .file
 * may stand anywhere. */
#include "ptx/text/source.h"

#include <string.h>

#include "base/search.h"

/* Directives that are looked at backward from a token: no compiler writes as many between two
 * .loc. */
enum { FARTHEST = 1 << 14 };

/* The function that a token is in; NULL: none. */
static const gd_ptx_function *function_around(const gd_ptx_module *module, uint32_t token)
{
    uint32_t before;

    GD_COUNT_FIRST(before, module->function_count, i, module->functions[i].token <= token);
    const gd_ptx_function *found = before ? &module->functions[before - 1] : NULL;
    return found && token < found->token_end ? found : NULL;
}

static bool read_integer(const gd_ptx_module *module, uint32_t token, uint64_t *value)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(module, token, &length);

    return gd_token_kind(module->tokens.list[token]) == GD_TOKEN_INTEGER &&
           gd_ptx_integer_read(text, length, value);
}

/* Puts the name of the file of that number, without its quotes. */
static bool find_file(const gd_ptx_module *module, uint64_t number, gd_ptx_source *source)
{
    for (uint32_t i = 0; i < module->directive_count; i++) {
        const gd_ptx_directive *file = &module->directives[i];
        uint64_t own;
        if (file->kind != GD_DIRECTIVE_FILE || file->token + 2 >= file->token_end ||
            gd_token_kind(module->tokens.list[file->token + 2]) != GD_TOKEN_STRING ||
            !read_integer(module, file->token + 1, &own) || own != number)
            continue;
        source->file = gd_ptx_token_text(module, file->token + 2, &source->file_bytes) + 1;
        source->file_bytes -= 2;
        return true;
    }
    return false;
}

/* Whether the file is what this library puts before CUDA C++ (compile.c). */
static bool is_prelude(const gd_ptx_source *source)
{
    static const char name[] = "griddep prelude";
    const uint32_t bytes = sizeof name - 1;

    return source->file_bytes >= bytes &&
           !memcmp(source->file + source->file_bytes - bytes, name, bytes);
}

/* Of a .loc, from the token in front of its numbers on. Code of the prelude is where it is called:
 * "inlined_at 1 9 5". */
static bool read_place(const gd_ptx_module *module, const gd_ptx_directive *loc, uint32_t before,
                       gd_ptx_source *source)
{
    uint64_t number, line;

    if (before + 2 >= loc->token_end || !read_integer(module, before + 1, &number) ||
        !read_integer(module, before + 2, &line) || line > INT32_MAX)
        return false;
    source->line = (int32_t)line;
    if (!find_file(module, number, source))
        return false;
    for (uint32_t at = before + 3; at < loc->token_end && is_prelude(source); at++) {
        if (gd_ptx_token_is(module, at, "inlined_at"))
            return read_place(module, loc, at, source);
    }
    return true;
}

gd_ptx_source gd_ptx_find_source(const gd_ptx_module *module, uint32_t token)
{
    const gd_ptx_function *function = function_around(module, token);
    gd_ptx_source source = {0}, none = {0};
    uint32_t behind;

    if (!function)
        return none;
    GD_COUNT_FIRST(behind, module->directive_count, i, module->directives[i].token <= token);
    uint32_t least = behind > FARTHEST ? behind - FARTHEST : 0;
    while (behind-- > least && module->directives[behind].token >= function->token) {
        const gd_ptx_directive *loc = &module->directives[behind];
        if (loc->kind != GD_DIRECTIVE_LOC)
            continue;
        return read_place(module, loc, loc->token, &source) ? source : none;
    }
    return none;
}

gd_ptx_source gd_ptx_find_line_source(const gd_ptx_module *module, uint32_t line)
{
    const gd_ptx_tokens *tokens = &module->tokens;
    uint32_t token;

    if (!line || line > tokens->line_count)
        return (gd_ptx_source){0};
    const uint32_t start = tokens->lines[line - 1];
    GD_COUNT_FIRST(token, tokens->count, i, tokens->list[i].offset < start);
    return gd_ptx_find_source(module, token);
}

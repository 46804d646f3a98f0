/* Directives and functions stand in the order of the text, so both are searched by halves; a .file
 * may stand anywhere. */
#include "ptx/text/source.h"
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

gd_ptx_source gd_ptx_find_source(const gd_ptx_module *module, uint32_t token)
{
    const gd_ptx_function *function = function_around(module, token);
    gd_ptx_source source = {0}, none = {0};
    uint64_t number, line;
    uint32_t behind;

    if (!function)
        return none;
    GD_COUNT_FIRST(behind, module->directive_count, i, module->directives[i].token <= token);
    uint32_t least = behind > FARTHEST ? behind - FARTHEST : 0;
    while (behind-- > least && module->directives[behind].token >= function->token) {
        const gd_ptx_directive *loc = &module->directives[behind];
        if (loc->kind != GD_DIRECTIVE_LOC)
            continue;
        if (loc->token + 2 >= loc->token_end || !read_integer(module, loc->token + 1, &number) ||
            !read_integer(module, loc->token + 2, &line) || line > INT32_MAX)
            return none;
        source.line = (int32_t)line;
        return find_file(module, number, &source) ? source : none;
    }
    return none;
}

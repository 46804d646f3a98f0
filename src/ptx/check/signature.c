/* Functions' heads as ptxas takes them (PTX ISA 5.4 and 11.4): parameters and results, prototypes
 * against definitions, and performance directives. */
#include <inttypes.h>
#include <string.h>

#include "ptx/check/declaration.h"

enum {
    PARAMETER_BYTES = 4352,       /* of an entry, before PTX ISA 8.1 or sm_70 */
    PARAMETER_BYTES_LARGE = 32764 /* since then */
};

static void check_parameter_bytes(gd_validity *check, const gd_ptx_function *function)
{
    const gd_ptx_module *module = check->module;
    uint32_t most = module->version >= 81 ? PARAMETER_BYTES_LARGE : PARAMETER_BYTES;

    if (function->parameter_bytes > most)
        gd_validity_add(check, GD_CODE_GD016, function->token_name, NULL,
                        "%s has %" PRIu32 " bytes of parameters; %" PRIu32 " is the most",
                        function->name, function->parameter_bytes, most);
    else if (function->parameter_bytes > PARAMETER_BYTES && module->capability &&
             module->capability < 70)
        gd_validity_add(check, GD_CODE_GD014, function->token_name, NULL,
                        "more than %d bytes of parameters need .target sm_70; the text says %s",
                        PARAMETER_BYTES, module->target);
}

/* Whether two lists of parameters are the same; otherwise, how they differ. */
static const char *compare_lists(const gd_ptx_module *module, uint32_t a, uint32_t a_end,
                                 uint32_t b, uint32_t b_end)
{
    if (a_end - a != b_end - b)
        return "another number of parameters or results";
    for (; a < a_end; a++, b++) {
        const gd_ptx_symbol *one = &module->symbols[a], *other = &module->symbols[b];
        if (one->space != other->space)
            return "a parameter in another state space";
        if (one->type != other->type || one->bytes != other->bytes)
            return "a parameter of another type";
        if (one->alignment != other->alignment)
            return "a parameter of another alignment";
    }
    return NULL;
}

const char *gd_compare_functions(const gd_ptx_module *module, const gd_ptx_function *one,
                                 const gd_ptx_function *other)
{
    const char *differs = compare_lists(module, one->parameter, one->parameter_end,
                                        other->parameter, other->parameter_end);

    return differs ? differs
                   : compare_lists(module, one->result, one->result_end, other->result,
                                   other->result_end);
}

/* A function against its definition, or against its first declaration. */
static void check_prototype(gd_validity *check, uint32_t index)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_function *function = &module->functions[index];
    uint32_t other_index = module->symbols[function->symbol].target;
    const gd_ptx_function *other = &module->functions[other_index];

    if (index == other_index || module->symbols[function->symbol].kind != GD_SYMBOL_FUNCTION)
        return;
    const gd_ptx_function *later = index > other_index ? function : other;
    const gd_ptx_function *earlier = index > other_index ? other : function;
    const char *differs = gd_compare_functions(module, later, earlier);
    if ((later->flags ^ earlier->flags) & GD_FUNCTION_ENTRY)
        differs = "an .entry for a .func, or the reverse";
    else if ((later->flags ^ earlier->flags) & GD_FUNCTION_NORETURN)
        differs = "another .noreturn";
    if (earlier->flags & GD_FUNCTION_BODY || differs)
        gd_validity_relate(check, earlier->token_name, "it is declared first here");
    if (earlier->flags & GD_FUNCTION_BODY)
        gd_validity_add(check, GD_CODE_GD015, later->token_name, NULL, "%s is defined already",
                        later->name);
    else if (differs)
        gd_validity_add(check, GD_CODE_GD016, later->token_name, NULL,
                        "%s differs from its earlier declaration: %s", later->name, differs);
}

static bool is_alias(const gd_ptx_module *module, uint32_t symbol)
{
    for (uint32_t i = 0; i < module->directive_count; i++) {
        const gd_ptx_directive *alias = &module->directives[i];
        if (alias->kind == GD_DIRECTIVE_ALIAS && alias->operand < alias->operand_end &&
            module->operands[alias->operand].symbol == symbol)
            return true;
    }
    return false;
}

/* A function that is declared only is one of another module, and .extern. */
static void check_defined(gd_validity *check, uint32_t index)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_function *function = &module->functions[index];
    const gd_ptx_symbol *symbol = &module->symbols[function->symbol];

    if (symbol->kind != GD_SYMBOL_FUNCTION || symbol->target != index ||
        function->flags & GD_FUNCTION_BODY || symbol->link & GD_LINK_EXTERN ||
        function->link & GD_LINK_EXTERN || is_alias(module, function->symbol))
        return;
    gd_validity_add(check, GD_CODE_GD016, function->token_name,
                    "one of another module is declared with .extern",
                    "%s is declared, and defined nowhere", function->name);
}

/* ---- performance directives ---- */

static bool is_performance_of(const gd_word *word, bool entry)
{
    if (word->class == GD_WORD_PERFORMANCE)
        return entry;
    return word->class == GD_WORD_FLAG && (word->value == GD_FUNCTION_NORETURN) != entry;
}

static void check_performance(gd_validity *check, const gd_ptx_directive *directive, bool entry)
{
    uint32_t length;
    const char *text;
    const gd_word *word = gd_declared_word(check, directive->token, &text, &length);
    bool preserves = length >= 12 && memcmp(text, "abi_preserve", 12) == 0;

    gd_declared_need(check, directive->token, text, length);
    if (preserves && !entry)
        return;
    if (word->class == GD_WORD_NONE && !preserves)
        gd_declared_tell(check, GD_CODE_GD017, directive->token, true);
    else if (!is_performance_of(word, entry))
        gd_validity_add(check, GD_CODE_GD017, directive->token, NULL, ".%.*s does not stand here%s",
                        gd_declared_bytes(length), text,
                        word->class != GD_WORD_PERFORMANCE && word->class != GD_WORD_FLAG ? ""
                        : entry ? "; it is for .func"
                                : "; it is for .entry");
    else if (word->class == GD_WORD_PERFORMANCE && check->module->version > 20 &&
             word->value == GD_PERFORMANCE_MAXNCTAPERSM) {
        gd_validity_mend(check, directive->token, directive->token + 1, true, ".minnctapersm");
        gd_validity_add(check, GD_CODE_GD017, directive->token, "write .minnctapersm",
                        ".maxnctapersm is gone since PTX ISA 2.1");
    }
}

/* Whether a directive of a function stands in front of this one already. */
static bool is_again(const gd_validity *check, const gd_ptx_function *function, uint32_t index)
{
    const gd_ptx_directive *directives = check->module->directives;
    uint32_t length, other;
    const char *text = gd_ptx_token_text(check->module, directives[index].token, &length);

    for (uint32_t i = function->directive; i < index; i++) {
        if (directives[i].kind == GD_DIRECTIVE_PERFORMANCE &&
            !memcmp(gd_ptx_token_text(check->module, directives[i].token, &other), text, length) &&
            other == length)
            return true;
    }
    return false;
}

/* Numbers and combinations of what tells a function's limits. */
static void check_limits(gd_validity *check, const gd_ptx_function *function)
{
    static const char *const names[] = {
        [GD_PERFORMANCE_MAXNTID] = "maxntid",
        [GD_PERFORMANCE_REQNTID] = "reqntid",
        [GD_PERFORMANCE_MAXNREG] = "maxnreg",
        [GD_PERFORMANCE_MINNCTAPERSM] = "minnctapersm",
    };
    static const uint8_t exclusive[][2] = {
        {GD_PERFORMANCE_MAXNTID, GD_PERFORMANCE_REQNTID},
        {GD_PERFORMANCE_REQNCTAPERCLUSTER, GD_PERFORMANCE_MAXCLUSTERRANK}};
    const gd_ptx_module *module = check->module;
    bool given[GD_PERFORMANCE_COUNT] = {false};

    for (uint32_t i = function->directive; i < function->directive_end; i++) {
        const gd_ptx_directive *directive = &module->directives[i];
        uint32_t length;
        const char *text;
        if (directive->kind != GD_DIRECTIVE_PERFORMANCE)
            continue;
        const gd_word *word = gd_declared_word(check, directive->token, &text, &length);
        uint32_t told = check->told;
        check_performance(check, directive, function->flags & GD_FUNCTION_ENTRY);
        if (told != check->told && gd_is_declared_with(word))
            break; /* a parameter behind a lost comma or bracket; the others are too */
        if (!(function->flags & GD_FUNCTION_ENTRY) && is_again(check, function, i))
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL, ".%.*s stands here twice",
                            gd_declared_bytes(length), text);
        if (word->class != GD_WORD_PERFORMANCE)
            continue;
        given[word->value] = true;
        const uint32_t *limits = function->limits[word->value];
        if (word->value < sizeof names / sizeof names[0] && names[word->value] &&
            (!limits[0] || (word->value <= GD_PERFORMANCE_REQNTID && (!limits[1] || !limits[2]))))
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL, ".%s must not be 0",
                            names[word->value]);
    }
    for (size_t i = 0; i < sizeof exclusive / sizeof exclusive[0]; i++) {
        if (given[exclusive[i][0]] && given[exclusive[i][1]])
            gd_validity_add(check, GD_CODE_GD017, function->token_name, NULL,
                            "%s has both %s, of which one may be given", function->name,
                            i ? ".reqnctapercluster and .maxclusterrank" : ".maxntid and .reqntid");
    }
    if (function->flags & GD_FUNCTION_BLOCKSARECLUSTERS &&
        (!given[GD_PERFORMANCE_REQNTID] || !given[GD_PERFORMANCE_REQNCTAPERCLUSTER]))
        gd_validity_add(check, GD_CODE_GD017, function->token_name, NULL,
                        "%s has .blocksareclusters without .reqntid and .reqnctapercluster",
                        function->name);
}

void gd_check_function(gd_validity *check, uint32_t index)
{
    const gd_ptx_function *function = &check->module->functions[index];
    bool entry = function->flags & GD_FUNCTION_ENTRY;

    if (function->symbol == GD_PTX_NONE)
        return;
    for (uint32_t token = function->token; token < function->token_name; token++) {
        uint32_t length;
        const char *text;
        const gd_word *word = gd_declared_kind(check, token) == GD_TOKEN_DOTTED
                                  ? gd_declared_word(check, token, &text, &length)
                                  : NULL;
        if (word && word->class == GD_WORD_ATTRIBUTE)
            gd_check_attribute(check, &token, true);
        if (!word || word->class != GD_WORD_LINK)
            continue;
        gd_declared_need(check, token, text, length);
        if (token > function->token)
            gd_declared_refuse(check, token, "is a second linking directive");
        else if (word->value == GD_LINK_COMMON)
            gd_declared_refuse(check, token, "is for variables in .global");
    }
    gd_check_results(check, function->token_name, function->result, function->result_end, false);
    gd_check_parameters(check, function->parameter, function->parameter_end,
                        entry ? PLACE_ENTRY : PLACE_FUNC, false);
    if (entry)
        check_parameter_bytes(check, function);
    if (function->link & GD_LINK_EXTERN && function->flags & GD_FUNCTION_BODY)
        gd_validity_add(check, GD_CODE_GD016, function->token_name, NULL,
                        "%s is .extern and has a body", function->name);
    if (function->flags & GD_FUNCTION_NORETURN && function->result_end > function->result)
        gd_validity_add(check, GD_CODE_GD016, function->token_name, NULL,
                        "%s never returns and has a result", function->name);
    check_limits(check, function);
    check_prototype(check, index);
    check_defined(check, index);
}

/* Checking one PTX text: its errors, then each entry by its report. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/check.h"
#include "ptx/check/constant.h"
#include "ptx/require/lost_field.h"
#include "ptx/check/rules.h"
#include "ptx/check/validity.h"
#include "ptx/check/verdict.h"

enum { OPTIONS_MINIMUM = sizeof(griddep_check_options) };

/* ---- errors of the text ---- */

/* Whether a diagnostic is about a token that is none. */
static bool is_lexical(const gd_ptx_module *module, uint32_t offset)
{
    const gd_token *list = module->tokens.list;
    uint32_t low = gd_ptx_tokens_from(&module->tokens, offset);

    if (low < module->tokens.count && list[low].offset == offset)
        return gd_token_kind(list[low]) == GD_TOKEN_BAD;
    return low > 0 && gd_token_kind(list[low - 1]) == GD_TOKEN_BAD &&
           offset < list[low - 1].offset + gd_token_length(list[low - 1]);
}

/* Whether a statement lacks its ';', as the line's end shows; the edit puts it there. */
static bool misses_end(const gd_ptx_module *module, const gd_ptx_diagnostic *diagnostic,
                       gd_finding_edit *edit)
{
    static const char wanted[] = "';'";
    const gd_token *list = module->tokens.list;
    uint32_t token = gd_ptx_tokens_from(&module->tokens, diagnostic->offset);
    size_t bytes = strlen(diagnostic->text), tail = sizeof wanted - 1;

    if (token == 0 || list[token].offset != diagnostic->offset || bytes < tail ||
        memcmp(diagnostic->text + bytes - tail, wanted, tail) != 0 ||
        !gd_token_starts_line(list[token]) || gd_token_kind(list[token - 1]) == ',')
        return false;
    *edit = (gd_finding_edit){.offset = list[token - 1].offset + gd_token_length(list[token - 1]),
                              .text = ";"};
    return true;
}

/* Whether a register or name follows an operand on the same line. */
static bool misses_comma(const gd_ptx_module *module, const gd_ptx_diagnostic *diagnostic,
                         gd_finding_edit *edit)
{
    static const char wanted[] = "expected ',' or ';'";
    const gd_token *list = module->tokens.list;
    uint32_t token = gd_ptx_tokens_from(&module->tokens, diagnostic->offset);
    size_t bytes = strlen(diagnostic->text), tail = sizeof wanted - 1;

    if (token == 0 || list[token].offset != diagnostic->offset || bytes < tail ||
        memcmp(diagnostic->text + bytes - tail, wanted, tail) != 0 ||
        (gd_token_kind(list[token]) != GD_TOKEN_NAME && gd_token_kind(list[token]) != '[') ||
        (gd_token_kind(list[token - 1]) != GD_TOKEN_NAME && gd_token_kind(list[token - 1]) != ']'))
        return false;
    *edit = (gd_finding_edit){.offset = list[token - 1].offset + gd_token_length(list[token - 1]),
                              .text = ","};
    return true;
}

/* The '{' of the text's last bracket that is open at its end. */
static bool misses_brace(const gd_ptx_module *module, const gd_ptx_diagnostic *diagnostic,
                         gd_finding_relation *open)
{
    uint32_t token = gd_ptx_tokens_from(&module->tokens, diagnostic->offset), depth = 0;

    if (token < module->tokens.count || !strstr(diagnostic->text, "'}'"))
        return false;
    while (token-- > 0) {
        uint32_t kind = gd_token_kind(module->tokens.list[token]);
        depth += kind == '}';
        if (kind == '{' && depth-- == 0) {
            *open = (gd_finding_relation){.token = token, .text = "this '{' has no '}'"};
            return true;
        }
    }
    return false;
}

void gd_check_diagnostics(griddep_findings *findings, const griddep_ptx *ptx, int32_t launch)
{
    const gd_ptx_module *module = &ptx->module;

    for (uint32_t i = 0; i < module->diagnostics->count; i++) {
        const gd_ptx_diagnostic *diagnostic = &module->diagnostics->list[i];
        gd_finding_draft draft = {
            .code = GD_CODE_GD002, .launch = launch, .module = module, .token = GD_PTX_NONE};
        gd_finding_edit end;
        gd_finding_relation open;
        gd_ptx_tokens_position(&module->tokens, diagnostic->offset, &draft.line, &draft.column);
        if (strstr(diagnostic->text, "GD_PTX_LIMIT_"))
            draft.code = GD_CODE_GD003;
        else if (is_lexical(module, diagnostic->offset))
            draft.code = GD_CODE_GD001;
        else if (misses_end(module, diagnostic, &end)) {
            draft.edits = &end;
            draft.edit_count = 1;
            draft.certain = true;
            draft.hint = "the statement before this has no ';' at its end";
        } else if (misses_comma(module, diagnostic, &end)) {
            draft.edits = &end;
            draft.edit_count = 1;
            draft.hint = "is a ',' lost in front of this?";
        } else if (misses_brace(module, diagnostic, &open)) {
            draft.relations = &open;
            draft.relation_count = 1;
        }
        gd_findings_add(findings, &draft, "%s", diagnostic->text);
    }
}

/* ---- entries ---- */

static bool takes_part(const gd_ptx_function *entry)
{
    return entry->traits & (GRIDDEP_TRAIT_WAITS | GRIDDEP_TRAIT_TRIGGERS);
}

static void check_entry_place(gd_rules *rules, const gd_ptx_function *entry, gd_code code,
                              const char *hint, const char *text)
{
    const gd_finding_draft draft = {.code = code,
                                    .launch = rules->launch,
                                    .module = rules->module,
                                    .token = entry->token_name,
                                    .entry = entry->name,
                                    .hint = hint};

    gd_findings_add(rules->findings, &draft, "%s", text);
}

static int32_t check_report(gd_rules *rules, const gd_entry_report *report,
                            const gd_parameter_set *constants)
{
    const gd_ptx_function *entry = &rules->module->functions[report->function];
    int32_t status = gd_rules_check_triggers(rules, report);

    gd_rules_check_limit(rules, report);
    if (status)
        return status;
    if (!report->has_wait) {
        check_entry_place(
            rules, entry, GD_CODE_GD140, "wait in front of the first access, on every path",
            "the entry triggers its dependents and never waits for its own prerequisites");
        return GRIDDEP_OK;
    }
    if (!report->has_trigger)
        check_entry_place(
            rules, entry, GD_CODE_GD145,
            "griddepcontrol.launch_dependents lets the next grid start early",
            "the entry never triggers: the next grid starts when this one's CTAs have exited");
    status = gd_rules_check_waits(rules, report);
    return status ? status : gd_rules_check_accesses(rules, report, constants);
}

static int32_t check_entry(gd_rules *rules, uint32_t function, gd_constants *constants)
{
    const gd_ptx_function *entry = &rules->module->functions[function];
    gd_parameter_set constant;
    gd_entry_report report = {0};

    if (!gd_constants_of(constants, entry, &constant))
        return gd_error_memory(rules->error);
    int32_t status = gd_rules_check_hops(rules, function);
    if (status)
        return status;
    if (!takes_part(entry))
        return gd_verdict_add(rules, function, NULL);
    status = gd_entry_report_create(&report, rules->functions, function, rules->error);
    if (!status)
        status = check_report(rules, &report, &constant);
    if (!status)
        status = gd_verdict_add(rules, function, &report);
    gd_entry_report_free(&report);
    return status;
}

static void check_bystanders(gd_rules *rules)
{
    const gd_ptx_module *module = rules->module;
    bool some = false;

    for (uint32_t i = 0; i < module->entry_count && !some; i++)
        some = takes_part(&module->functions[module->entries[i]]);
    for (uint32_t i = 0; i < module->entry_count && some; i++) {
        const gd_ptx_function *entry = &module->functions[module->entries[i]];
        if (!takes_part(entry))
            check_entry_place(
                rules, entry, GD_CODE_GD150, "it must not be launched dependently",
                "the entry neither waits nor triggers, while others of this module do");
    }
}

/* Names in the head comment that are no parameter's. Those of the options may be meant for another
 * text. */
static void check_names(griddep_findings *findings, const gd_ptx_module *module,
                        const gd_constants *constants)
{
    for (uint32_t i = 0; i < constants->count; i++) {
        const gd_constant *item = &constants->list[i];
        const gd_constant *first = gd_table_find(&constants->table, item->name, item->bytes);
        gd_finding_draft draft = {
            .code = GD_CODE_GD151, .launch = -1, .module = module, .token = GD_PTX_NONE};
        if (item->offset == SIZE_MAX || item->used || first->used)
            continue;
        gd_ptx_tokens_position(&module->tokens, (uint32_t)item->offset, &draft.line, &draft.column);
        gd_findings_add(findings, &draft,
                        "no entry has a parameter \"%.*s\", which is declared constant",
                        item->bytes > 200 ? 200 : (int)item->bytes, item->name);
    }
}

/* Conditions in the head comment that cannot be read. */
static void check_requires(griddep_findings *findings, const griddep_ptx *ptx)
{
    for (uint32_t i = 0; i < ptx->requires_wrong.count; i++) {
        const gd_ptx_diagnostic *wrong = &ptx->requires_wrong.list[i];
        gd_finding_draft draft = {
            .code = GD_CODE_GD152, .launch = -1, .module = &ptx->module, .token = GD_PTX_NONE};
        gd_ptx_tokens_position(&ptx->module.tokens, wrong->offset, &draft.line, &draft.column);
        gd_findings_add(findings, &draft, "%s", wrong->text);
    }
}

static int32_t check_module(gd_rules *rules, gd_constants *constants)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < rules->module->entry_count && !status; i++)
        status = check_entry(rules, rules->module->entries[i], constants);
    if (status)
        return status;
    check_bystanders(rules);
    check_names(rules->findings, rules->module, constants);
    return gd_findings_check(rules->findings, rules->error);
}

/* ---- public ---- */

int32_t gd_check_comment(griddep_findings *findings, const griddep_ptx *ptx, griddep_error *error)
{
    const gd_ptx_module *module = &ptx->module;
    gd_constants constants = {0};
    gd_parameter_set set;
    int32_t status = gd_constants_create(&constants, NULL, 0, module->text, module->bytes, error);

    for (uint32_t i = 0; i < module->entry_count && !status; i++) {
        if (!gd_constants_of(&constants, &module->functions[module->entries[i]], &set))
            status = gd_error_memory(error);
    }
    if (!status) {
        check_requires(findings, ptx);
        gd_check_head(findings, module);
        check_names(findings, module, &constants);
    }
    gd_constants_free(&constants);
    return status;
}

/* ptxas reads ASCII alone, in comments and strings too. */
static bool check_characters(griddep_findings *findings, const gd_ptx_module *module)
{
    gd_finding_draft draft = {
        .code = GD_CODE_GD001, .launch = -1, .module = module, .token = GD_PTX_NONE};
    uint32_t at = 0;

    while (at < module->bytes && (unsigned char)module->text[at] < 0x80)
        at++;
    if (at == module->bytes || is_lexical(module, at))
        return false;
    gd_ptx_tokens_position(&module->tokens, at, &draft.line, &draft.column);
    gd_findings_add(findings, &draft,
                    "found byte 0x%02X, expected ASCII, also in comments and strings",
                    (unsigned char)module->text[at]);
    return true;
}

/* A function is declared and defined with one linkage. A linker makes a text of several, in which
 * it is another one: so this is no rule of gd_check_validity. */
static int32_t check_linkage(griddep_findings *findings, const gd_ptx_module *module, bool *wrong,
                             griddep_error *error)
{
    uint32_t *first = calloc((size_t)module->symbol_count + 1, sizeof *first); /* plus 1; 0: none */

    if (!first)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < module->function_count; i++) {
        const gd_ptx_function *later = &module->functions[i];
        if (later->symbol == GD_PTX_NONE)
            continue;
        if (!first[later->symbol])
            first[later->symbol] = i + 1;
        const gd_ptx_function *earlier = &module->functions[first[later->symbol] - 1];
        if (later->link == earlier->link || !(later->link || earlier->link & GD_LINK_EXTERN))
            continue;
        const gd_finding_relation declared = {.token = earlier->token_name,
                                              .text = "it is declared first here"};
        const gd_finding_draft draft = {.code = GD_CODE_GD016,
                                        .launch = -1,
                                        .module = module,
                                        .token = later->token_name,
                                        .relations = &declared,
                                        .relation_count = 1};
        gd_findings_add(findings, &draft,
                        "%s differs from its earlier declaration: another linking directive",
                        later->name);
        *wrong = true;
    }
    free(first);
    return GRIDDEP_OK;
}

static int32_t check_parsed(const griddep_ptx *ptx, const griddep_check_options *options,
                            griddep_findings *findings, griddep_error *error)
{
    const gd_ptx_module *module = &ptx->module;
    gd_check_functions functions = {0};
    gd_constants constants = {0};
    gd_rules rules = {.functions = &functions,
                      .module = module,
                      .findings = findings,
                      .launch = -1,
                      .variables_written = -1,
                      .error = error};
    int32_t status = gd_constants_create(&constants, options->constants, options->constant_count,
                                         module->text, module->bytes, error);

    if (status)
        return status;
    gd_check_diagnostics(findings, ptx, -1);
    check_requires(findings, ptx);
    gd_check_head(findings, module);
    bool wrong = module->diagnostics->count > 0, invalid = false;
    if (module->diagnostics->count == module->mended)
        status = gd_check_validity(findings, module, &invalid, error);
    wrong |= invalid;
    if (!status && !wrong)
        status = check_linkage(findings, module, &wrong, error);
    wrong |= check_characters(findings, module);
    if (!status && !wrong)
        wrong = gd_rules_check_target(&rules);
    if (!status && !wrong)
        status = gd_check_functions_create(&functions, module, error);
    if (!status && functions.module)
        status = check_module(&rules, &constants);
    if (!status && wrong)
        status = gd_verdict_add_invalid(findings, module, module->name, error);
    free(rules.exposed);
    gd_check_functions_free(&functions);
    gd_constants_free(&constants);
    return status ? status : gd_findings_check(findings, error);
}

/* A text that is too long to be parsed at all is an error of the text too. */
static int32_t parse(const char *text, uint64_t bytes, const char *name, griddep_ptx **ptx,
                     griddep_findings *findings, griddep_error *error)
{
    const gd_finding_draft draft = {
        .code = GD_CODE_GD003, .launch = -1, .token = GD_PTX_NONE, .file = name ? name : "ptx"};
    griddep_error local;

    griddep_error_init(&local);
    int32_t status = gd_ptx_parse_tolerant(text, bytes, name, ptx, &local);
    if (status != GRIDDEP_ERROR_SYNTAX)
        return status ? gd_error_set(error, status, "%s", local.text) : GRIDDEP_OK;
    gd_findings_add(findings, &draft, "%s", local.text);
    status = gd_verdict_add_invalid(findings, NULL, draft.file, error);
    return status ? status : gd_findings_check(findings, error);
}

static int32_t read_options(const griddep_check_options *options, griddep_check_options *known,
                            griddep_error *error)
{
    *known = (griddep_check_options){.size = sizeof *known};
    if (!options)
        return GRIDDEP_OK;
    int32_t status = gd_struct_read(known, sizeof *known, OPTIONS_MINIMUM, options,
                                    "griddep_check_options", error);
    if (status)
        return status;
    if (known->flags || known->reserved)
        return gd_error_set(error, GRIDDEP_ERROR_STRUCT,
                            "griddep_check_options: flags and reserved must be 0");
    return GRIDDEP_OK;
}

int32_t griddep_ptx_check(const char *text, uint64_t bytes, const char *name,
                          const griddep_check_options *options, griddep_findings **findings,
                          griddep_error *error)
{
    griddep_check_options known;
    griddep_ptx *ptx = NULL;
    int32_t status = gd_error_check(error);

    if (status || (status = read_options(options, &known, error)))
        return status;
    if (!findings)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "findings is NULL");
    griddep_findings *made = gd_findings_create();
    if (!made)
        return gd_error_memory(error);
    status = parse(text, bytes, name, &ptx, made, error);
    if (!status && ptx)
        status = check_parsed(ptx, &known, made, error);
    griddep_ptx_destroy(ptx);
    if (status)
        griddep_findings_destroy(made);
    else
        *findings = made;
    return status;
}

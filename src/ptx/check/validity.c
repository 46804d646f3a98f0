/* Findings about texts that ptxas refuses. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/format.h"
#include "ptx/check/limit.h"
#include "ptx/check/validity.h"
#include "ptx/isa/need.h"

enum {
    FAULTS_OF_DECLARATION = 3, /* of most of a symbol's uses: then the declaration is wrong */
    NAMES_SHOWN = 6            /* of those that lack one declaration */
};

/* One finding of a group. */
typedef struct mistake {
    struct mistake *next;
    gd_code code;
    uint32_t token;
    const char *text, *hint;
    gd_finding_edit edit;         /* text NULL: none */
    gd_finding_relation relation; /* likewise */
    bool certain;
} mistake;

typedef struct gd_mistake_group {
    struct gd_mistake_group *next;
    gd_mistake_key key;
    mistake *list; /* from the last to the first that was found */
    const mistake *top;
    uint32_t count;
    bool told; /* with an earlier group */
} group;

/* Beyond the limit nothing is told. */
static bool may_tell(gd_validity *check, uint32_t token)
{
    const gd_finding_draft draft = {
        .code = GD_CODE_GD003, .launch = -1, .module = check->module, .token = token};

    if (check->told++ < GD_CHECK_LIMIT_MISTAKES)
        return true;
    if (check->told == GD_CHECK_LIMIT_MISTAKES + 1)
        gd_findings_add(check->findings, &draft,
                        "the text has more mistakes than are told, GD_CHECK_LIMIT_MISTAKES (%d)",
                        GD_CHECK_LIMIT_MISTAKES);
    return false;
}

static void tell(gd_validity *check, const mistake *what)
{
    const gd_finding_draft draft = {.code = what->code,
                                    .severity = check->newer ? GRIDDEP_SEVERITY_WARNING : 0,
                                    .launch = check->launch,
                                    .module = check->module,
                                    .token = what->token,
                                    .hint = what->hint && *what->hint ? what->hint : NULL,
                                    .edits = &what->edit,
                                    .edit_count = what->edit.text ? 1 : 0,
                                    .certain = what->certain,
                                    .relations = &what->relation,
                                    .relation_count = what->relation.text ? 1 : 0};

    check->wrong |= !check->newer;
    if (may_tell(check, what->token))
        gd_findings_add(check->findings, &draft, "%s", what->text);
}

/* A finding with what gd_validity_mend and gd_validity_relate have said of it. */
static mistake make_mistake(gd_validity *check, gd_code code, uint32_t token, const char *hint,
                            const char *text)
{
    const mistake made = {.code = code,
                          .token = token,
                          .text = text,
                          .hint = hint,
                          .edit = check->edit,
                          .certain = check->certain || code == GD_CODE_GD101,
                          .relation = check->relation};

    check->edit.text = NULL;
    check->relation.text = NULL;
    return made;
}

void gd_validity_add(gd_validity *check, gd_code code, uint32_t token, const char *hint,
                     const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    gd_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    const mistake made = make_mistake(check, code, token, hint, text);
    tell(check, &made);
}

/* ---- what a finding has beside its words ---- */

void gd_validity_mend(gd_validity *check, uint32_t token, uint32_t token_end, bool certain,
                      const char *text)
{
    const gd_token first = check->module->tokens.list[token],
                   last = check->module->tokens.list[token_end - 1];

    snprintf(check->edit_text, sizeof check->edit_text, "%s", text);
    check->certain = certain;
    check->edit = (gd_finding_edit){.offset = first.offset,
                                    .removed = last.offset + gd_token_length(last) - first.offset,
                                    .text = check->edit_text};
}

void gd_validity_mend_name(gd_validity *check, uint32_t token, const char *before,
                           const gd_guess *meant)
{
    char text[2 * GD_GUESS_BYTES];

    if (!meant->name[0])
        return;
    snprintf(text, sizeof text, "%s%s", before, meant->name);
    gd_validity_mend(check, token, token + 1, meant->distance == 1 && !meant->tied, text);
}

/* The token behind the first directive of a kind; GD_PTX_NONE. */
static uint32_t find_value(const gd_ptx_module *module, gd_ptx_directive_kind kind)
{
    enum { HEAD = 8 }; /* directives in which a text's head is */

    for (uint32_t i = 0; i < module->directive_count && i < HEAD; i++) {
        if (module->directives[i].kind == kind)
            return module->directives[i].token + 1;
    }
    return GD_PTX_NONE;
}

void gd_validity_mend_version(gd_validity *check, int32_t version)
{
    uint32_t token = find_value(check->module, GD_DIRECTIVE_VERSION);
    char text[16];

    snprintf(text, sizeof text, "%d.%d", (int)(version / 10), (int)(version % 10));
    if (token != GD_PTX_NONE)
        gd_validity_mend(check, token, token + 1, true, text);
}

void gd_validity_mend_need(gd_validity *check, uint16_t version, uint16_t needed)
{
    const gd_need need = {.version = version, .target = needed};
    uint32_t token = find_value(check->module, GD_DIRECTIVE_TARGET);
    char target[GD_NEED_TEXT];

    if (need.version > check->module->version)
        gd_validity_mend_version(check, need.version);
    else if (token != GD_PTX_NONE && gd_need_name_target(need, check->module, target))
        gd_validity_mend(check, token, token + 1, false, target);
}

void gd_validity_relate(gd_validity *check, uint32_t token, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    gd_format_list(check->relation_text, sizeof check->relation_text, format, arguments);
    va_end(arguments);
    check->relation = (gd_finding_relation){.token = token, .text = check->relation_text};
}

/* Letters at its beginning that a name shares with the wrong one: of two as near, one slips later
 * rather than earlier. */
static size_t count_common(const gd_guess *best, const char *name)
{
    size_t count = 0;

    while (count < best->nearest.bytes && name[count] == best->nearest.word[count])
        count++;
    return count;
}

void gd_validity_spoil(gd_validity *check, uint32_t token, uint32_t token_end)
{
    const gd_ptx_module *module = check->module;

    if (!check->spoilt)
        check->spoilt = gd_arena_array(&check->arena, module->names.count, sizeof *check->spoilt);
    check->failed |= !check->spoilt;
    for (; token < token_end && check->spoilt; token++) {
        uint32_t length;
        const char *text = gd_ptx_token_text(module, token, &length);
        uint32_t name = gd_ptx_name_find(&module->names, module->text, text, length);
        if (name != GD_PTX_NONE && gd_token_kind(module->tokens.list[token]) == GD_TOKEN_NAME)
            check->spoilt[name] = true;
    }
}

/* ---- mistakes that go together ---- */

static group *find_group(gd_validity *check, gd_mistake_key key)
{
    group *found;

    found = gd_table_find(&check->groups, (const char *)&key, sizeof key);
    if (found)
        return found;
    found = gd_arena_take(&check->arena, sizeof *found);
    if (!found)
        return NULL;
    *found = (group){.key = key};
    if (!gd_table_set(&check->groups, (const char *)&found->key, sizeof found->key, found))
        return NULL;
    if (check->last)
        check->last->next = found;
    else
        check->first = found;
    check->last = found;
    return found;
}

/* Copies into the arena. */
static bool keep(gd_validity *check, const char **text)
{
    *text = gd_arena_string(&check->arena, *text, strlen(*text));
    return *text != NULL;
}

void gd_validity_collect(gd_validity *check, gd_code code, uint32_t token, gd_mistake_key key,
                         const char *hint, const char *format, ...)
{
    group *into = find_group(check, key);
    char text[400];
    va_list arguments;
    mistake kept = make_mistake(check, code, token, hint, text);

    check->wrong |= !check->newer;
    if (into && into->count++ >= GD_CHECK_LIMIT_MISTAKES && into->top->token < token)
        return;
    mistake *made = into ? gd_arena_take(&check->arena, sizeof *made) : NULL;
    va_start(arguments, format);
    gd_format_list(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!made || !keep(check, &kept.text) || (hint && !keep(check, &kept.hint)) ||
        (kept.edit.text && !keep(check, &kept.edit.text)) ||
        (kept.relation.text && !keep(check, &kept.relation.text))) {
        check->failed = true;
        return;
    }
    kept.next = into->list;
    *made = kept;
    into->list = made;
    if (!into->top || token < into->top->token)
        into->top = made;
}

uint32_t gd_validity_declared(const gd_ptx_module *module, uint32_t symbol)
{
    uint32_t directive = module->symbols[symbol].directive;

    return module->symbols[symbol].kind == GD_SYMBOL_VARIABLE && directive < module->directive_count
               ? module->directives[directive].symbol
               : symbol;
}

/* In how many instructions the symbols of each declaration are operands, by the first of them;
 * NULL: no memory. */
static uint32_t *count_uses(const gd_ptx_module *module)
{
    uint32_t *uses = calloc((size_t)module->symbol_count + 1, 2 * sizeof *uses);
    /* The instruction behind the last one with a use. */
    uint32_t *last = uses ? uses + module->symbol_count + 1 : NULL;

    for (uint32_t i = 0; uses && i < module->instruction_count; i++) {
        const gd_ptx_instruction *instruction = &module->instructions[i];
        uint32_t guard = instruction->flags & GD_INSTRUCTION_GUARDED ? 1 : 0;
        for (uint32_t k = instruction->operand - guard; k < instruction->operand_end; k++) {
            uint32_t symbol = module->operands[k].symbol;
            if (symbol >= module->symbol_count)
                continue;
            symbol = gd_validity_declared(module, symbol);
            uses[symbol] += last[symbol] != i + 1;
            last[symbol] = i + 1;
        }
    }
    return uses;
}

/* The operands of one symbol: each by itself, or its declaration. */
static void tell_symbol(gd_validity *check, const group *found, const uint32_t *uses)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_symbol *symbol = &module->symbols[found->key.id];
    char text[500];
    int32_t line, column;

    if (check->spoilt && check->spoilt[symbol->name])
        return;
    bool ranged = symbol->flags & GD_SYMBOL_RANGE && symbol->space != GD_SPACE_REG;
    if (found->count < (ranged ? 2 : FAULTS_OF_DECLARATION) ||
        (!ranged && found->count * 2 <= uses[found->key.id])) {
        for (const mistake *each = found->list; each; each = each->next)
            tell(check, each);
        return;
    }
    gd_ptx_token_position(module, symbol->token, &line, &column);
    snprintf(text, sizeof text, "%s, and %u more of its %u uses are wrong", found->top->text,
             (unsigned)(found->count - 1), (unsigned)uses[found->key.id]);
    char hint[80];
    snprintf(hint, sizeof hint, "look at its declaration in line %d", (int)line);
    mistake all = *found->top;
    all.text = text;
    all.hint = hint;
    tell(check, &all);
}

static void tell_group(gd_validity *check, const group *found)
{
    const mistake *top = found->top;
    char more[80] = "";

    if (found->count > 1)
        snprintf(more, sizeof more,
                 found->key.kind == GD_MISTAKE_NAME      ? "; %u more like it follow"
                 : found->key.kind == GD_MISTAKE_AGAIN   ? ", as are %u more of its names"
                 : found->key.kind == GD_MISTAKE_ADDRESS ? "; %u more addresses are as short"
                                                         : "; %u more lines need more too",
                 (unsigned)(found->count - 1));
    char text[500];
    snprintf(text, sizeof text, "%s%s", top->text, more);
    mistake all = *top;
    all.text = text;
    tell(check, &all);
}

/* Whether names lack a declaration rather than a letter: nothing resembles them or, `perhaps`, what
 * does is not certain. */
static bool is_lost(const gd_validity *check, const group *each, bool perhaps)
{
    const mistake *top = each->top;

    return each->key.kind == GD_MISTAKE_NAME && *top->text == '%' && !each->told &&
           (!top->hint || !*top->hint || (perhaps && !top->certain)) &&
           !(check->spoilt && check->spoilt[each->key.id]);
}

/* The next group of names of the same function; NULL: there is none. */
static group *next_of_function(const group *each)
{
    return each->next && each->next->key.kind == GD_MISTAKE_NAME &&
                   each->next->key.function == each->key.function
               ? each->next
               : NULL;
}

/* Several names of one function that nothing resembles are told together: the line is lost that
 * declares them. `first` is the first group of the function. */
static void tell_lost(gd_validity *check, group *first)
{
    char text[500];
    const mistake *top = NULL;
    size_t used = 0;
    uint32_t names = 0, uses = 0;

    for (const group *each = first; each; each = next_of_function(each))
        names += is_lost(check, each, false);
    if (names < 2)
        return;
    names = 0;
    for (group *each = first; each; each = next_of_function(each)) {
        if (!is_lost(check, each, true))
            continue;
        each->told = true;
        top = !top || each->top->token < top->token ? each->top : top;
        uses += each->count;
        if (names++ < NAMES_SHOWN && used < sizeof text / 2)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%.*s", names > 1 ? ", " : "",
                                 (int)strcspn(each->top->text, " "), each->top->text);
    }
    if (names > NAMES_SHOWN)
        used += (size_t)snprintf(text + used, sizeof text - used, " and %u more names",
                                 (unsigned)(names - NAMES_SHOWN));
    snprintf(text + used, sizeof text - used, " are not declared here, in %u places",
             (unsigned)uses);
    const mistake all = {.code = top->code,
                         .token = top->token,
                         .text = text,
                         .hint = "is the line lost that declares them?"};
    tell(check, &all);
}

void gd_validity_tell_groups(gd_validity *check)
{
    uint32_t *uses = check->first ? count_uses(check->module) : NULL;
    uint32_t function = GD_PTX_NONE;

    check->failed |= check->first && !uses;
    for (group *each = check->first; each && uses; each = each->next) {
        if (each->key.kind == GD_MISTAKE_NAME && each->key.function != function) {
            function = each->key.function;
            tell_lost(check, each);
        }
        if (each->key.kind == GD_MISTAKE_SYMBOL)
            tell_symbol(check, each, uses);
        else if (!each->told)
            tell_group(check, each);
    }
    free(uses);
}

/* ---- suggestions ---- */

void gd_guess_look(gd_guess *best, const char *name, size_t length)
{
    char text[GD_GUESS_BYTES];
    gd_nearest nearest = {.word = best->nearest.word, .bytes = best->nearest.bytes};

    const size_t bytes = best->nearest.bytes, most = 1 + bytes / 5;

    /* Names of such lengths are not near. */
    if (length >= sizeof text || length > bytes + most || bytes > length + most)
        return;
    memcpy(text, name, length);
    text[length] = 0;
    gd_nearest_look(&nearest, text);
    if (!nearest.name || nearest.distance > most ||
        (best->name[0] && nearest.distance > best->distance))
        return;
    best->tied = best->name[0] && nearest.distance == best->distance &&
                 (best->tied || strcmp(best->name, text) != 0);
    if (best->tied && count_common(best, text) <= count_common(best, best->name))
        return;
    best->distance = nearest.distance;
    memcpy(best->name, text, sizeof text);
}

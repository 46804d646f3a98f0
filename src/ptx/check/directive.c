/* Directives as ptxas takes them (PTX ISA 11). The parser keeps those that it does not know; here
 * they are an error. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/check/declaration.h"
#include "ptx/isa/need.h"

enum { CAPABILITY_F64 = 13 };

#define NO_NUMBER INT64_MIN

/* ---- the head ---- */

static void check_version(gd_validity *check, const gd_ptx_directive *directive)
{
    int32_t version = check->module->version;
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, directive->token + 1, &length);

    if (!check->newer && !gd_is_version(version))
        gd_validity_add(check, GD_CODE_GD017, directive->token + 1, NULL,
                        "there is no PTX ISA %.*s", gd_declared_bytes(length), text);
}

static void check_chip(gd_validity *check, uint32_t token)
{
    uint32_t length;
    const char *name = gd_ptx_token_text(check->module, token, &length);
    int32_t least = gd_need_of_chip(name, length), version = check->module->version;
    gd_guess meant = {.nearest = {.word = name, .bytes = length}};
    char hint[GD_GUESS_BYTES + 20] = "";

    if (length > 8 && memcmp(name, "compute_", 8) == 0) {
        char chip[24];
        snprintf(chip, sizeof chip, "sm_%.*s", (int)(length - 8 < 16 ? length - 8 : 16), name + 8);
        least = gd_need_of_chip(chip, (uint32_t)strlen(chip));
    }
    if (least == 0) {
        for (uint32_t i = 0; gd_need_chip_at(i); i++)
            gd_guess_look(&meant, gd_need_chip_at(i), strlen(gd_need_chip_at(i)));
        if (meant.name[0])
            snprintf(hint, sizeof hint, "did you mean %s?", meant.name);
        gd_validity_mend_name(check, token, "", &meant);
        gd_validity_add(check, GD_CODE_GD017, token, hint, "there is no target %.*s",
                        gd_declared_bytes(length), name);
    } else if (least > version) {
        gd_validity_mend_version(check, least);
        gd_validity_collect(check, GD_CODE_GD014, token,
                            (gd_mistake_key){.kind = GD_MISTAKE_VERSION, .id = 1}, NULL,
                            ".target %.*s needs .version %d.%d; the text says %d.%d",
                            gd_declared_bytes(length), name, (int)(least / 10), (int)(least % 10),
                            (int)(version / 10), (int)(version % 10));
    }
}

enum { TEXMODE_UNIFIED, TEXMODE_INDEPENDENT, TARGET_DEBUG, MAP_F64_TO_F32, MODE_COUNT };

/* Finds, once, what sections there are. */
static void find_sections(gd_validity *check)
{
    const gd_ptx_module *module = check->module;

    for (uint32_t i = 0; i < module->directive_count && !check->abbreviations; i++) {
        if (module->directives[i].kind != GD_DIRECTIVE_SECTION)
            continue;
        check->sections = true;
        check->abbreviations =
            gd_ptx_token_is(module, module->directives[i].token + 1, ".debug_abbrev");
    }
}

/* What stands beside a chip; `given` are the modes of this .target. */
static void check_mode(gd_validity *check, uint32_t token, uint32_t mode, const bool *given)
{
    const gd_ptx_module *module = check->module;

    if (given[TEXMODE_UNIFIED] && given[TEXMODE_INDEPENDENT])
        gd_validity_add(check, GD_CODE_GD017, token, NULL,
                        "textures are either texmode_unified or texmode_independent");
    else if (mode == MAP_F64_TO_F32 && module->capability >= CAPABILITY_F64)
        gd_validity_add(check, GD_CODE_GD017, token, NULL,
                        "map_f64_to_f32 is for chips without .f64; %s has it", module->target);
    else if (mode == TARGET_DEBUG && module->version >= 30 && !check->sections)
        gd_validity_add(check, GD_CODE_GD017, token, NULL,
                        ".target debug needs debug information, and there is no .section");
}

static void check_target(gd_validity *check, const gd_ptx_directive *directive, bool first_one)
{
    static const char *const modes[MODE_COUNT] = {"texmode_unified", "texmode_independent", "debug",
                                                  "map_f64_to_f32"};
    const uint32_t first = directive->token + 1;
    bool given[MODE_COUNT] = {false};

    for (uint32_t token = first; token < directive->token_end; token += 2) {
        uint32_t mode = 0, length;
        const char *text = gd_ptx_token_text(check->module, token, &length);
        while (mode < MODE_COUNT && !gd_ptx_token_is(check->module, token, modes[mode]))
            mode++;
        if (mode == MODE_COUNT) {
            check_chip(check, token);
            continue;
        }
        given[mode] = true;
        if (mode == TARGET_DEBUG && !check->debug)
            find_sections(check);
        check->debug |= mode == TARGET_DEBUG;
        gd_declared_need(check, token, text, length);
        if (token == first && first_one)
            gd_validity_add(check, GD_CODE_GD017, token, NULL, "a chip stands first in .target");
        else
            check_mode(check, token, mode, given);
    }
}

/* .address_size stands behind the head only, once. */
static void check_address_size(gd_validity *check, uint32_t index)
{
    const gd_ptx_directive *directives = check->module->directives;
    bool behind = index > 0 && (directives[index - 1].kind == GD_DIRECTIVE_TARGET ||
                                directives[index - 1].kind == GD_DIRECTIVE_VERSION);

    if (!behind || directives[index - 1].token_end != directives[index].token)
        gd_validity_add(check, GD_CODE_GD017, directives[index].token, NULL,
                        ".address_size stands behind .target, once");
    else if (check->module->address_bits == 32)
        gd_validity_add(check, GD_CODE_GD017, directives[index].token, "write .address_size 64",
                        "CUDA 12 and later compile no text with addresses of 32 bits");
}

/* Numbers of files, lines and columns have 32 bits; ptxas overlooks those beyond 63. */
static bool check_number(gd_validity *check, uint32_t token, uint64_t number)
{
    return number <= UINT32_MAX || number > INT64_MAX ||
           gd_declared_refuse(check, token, "has more than 32 bits");
}

/* .file numbers a name, once. */
static void check_file(gd_validity *check, const gd_ptx_directive *directive)
{
    const gd_ptx_module *module = check->module;
    uint64_t number = 0;
    uint32_t length;
    const char *text = gd_ptx_token_text(module, directive->token + 1, &length);

    if (directive->scope) {
        gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                        "this directive stands outside of functions only");
        return;
    }
    gd_ptx_integer_read(text, length, &number);
    if (!check_number(check, directive->token + 1, number))
        return;
    uint64_t *key = gd_arena_take(&check->arena, sizeof *key);
    check->failed |= !key;
    if (!key)
        return;
    *key = number;
    if (gd_table_find(&check->files, (const char *)key, sizeof *key))
        gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                        "file %" PRIu64 " is declared already", number);
    else
        check->failed |= !gd_table_set(&check->files, (const char *)key, sizeof *key, key);
}

/* A position of a source file. */
typedef struct position {
    uint64_t file, line, column;
} position;

static position read_position(const gd_validity *check, uint32_t token)
{
    position at = {0};
    uint64_t *const parts[] = {&at.file, &at.line, &at.column};

    for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        uint32_t length;
        const char *text = gd_ptx_token_text(check->module, token + i, &length);
        gd_ptx_integer_read(text, length, parts[i]);
    }
    return at;
}

/* The positions of .loc so far; only in a text that has inlined_at. */
static void note_positions(gd_validity *check, uint32_t end)
{
    const gd_ptx_module *module = check->module;

    for (; check->noted < end; check->noted++) {
        const gd_ptx_directive *directive = &module->directives[check->noted];
        if (directive->kind != GD_DIRECTIVE_LOC)
            continue;
        position at = read_position(check, directive->token + 1), *key;
        if (gd_table_find(&check->positions, (const char *)&at, sizeof at))
            continue;
        key = gd_arena_take(&check->arena, sizeof *key);
        if (key)
            *key = at;
        check->failed |=
            !key || !gd_table_set(&check->positions, (const char *)key, sizeof *key, key);
    }
}

/* The labels of all sections; these are no symbols. */
static void note_labels(gd_validity *check)
{
    const gd_ptx_module *module = check->module;

    for (; check->labelled < module->directive_count; check->labelled++) {
        const gd_ptx_directive *section = &module->directives[check->labelled];
        if (section->kind != GD_DIRECTIVE_SECTION)
            continue;
        for (uint32_t at = section->token; at + 1 < section->token_end; at++) {
            uint32_t length;
            const char *text = gd_ptx_token_text(module, at, &length);
            if (gd_declared_kind(check, at) != GD_TOKEN_NAME ||
                gd_declared_kind(check, at + 1) != ':')
                continue;
            if (gd_table_find(&check->labels, text, length))
                gd_validity_add(check, GD_CODE_GD015, at, NULL, "%.*s is declared already",
                                gd_declared_bytes(length), text);
            check->failed |= !gd_table_set(&check->labels, text, length, check);
        }
    }
}

/* Whether a name is a label of a section. */
static bool is_label(gd_validity *check, uint32_t token)
{
    const gd_ptx_module *module = check->module;
    uint32_t length;
    const char *text;

    note_labels(check);
    text = gd_ptx_token_text(module, token, &length);
    return gd_table_find(&check->labels, text, length) != NULL;
}

/* .loc 1 12 3, function_name $L__info_string0, inlined_at 1 15 3 */
static void check_loc(gd_validity *check, uint32_t index)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_directive *directive = &module->directives[index];
    uint32_t length;

    if (!directive->scope)
        gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                        ".loc stands in functions only");
    const position at_line = read_position(check, directive->token + 1);
    if (!check_number(check, directive->token + 1, at_line.file) ||
        !check_number(check, directive->token + 2, at_line.line) ||
        !check_number(check, directive->token + 3, at_line.column))
        return;
    for (uint32_t at = directive->token + 4; at + 1 < directive->token_end; at++) {
        if (gd_ptx_token_is(module, at, "function_name") && !is_label(check, at + 1)) {
            const char *text = gd_ptx_token_text(module, at + 1, &length);
            gd_validity_add(check, GD_CODE_GD013, at + 1, NULL, "%.*s is no label of a section",
                            gd_declared_bytes(length), text);
        } else if (gd_ptx_token_is(module, at, "inlined_at")) {
            position from = read_position(check, at + 1);
            note_positions(check, index);
            if (!gd_table_find(&check->positions, (const char *)&from, sizeof from))
                gd_validity_add(check, GD_CODE_GD017, at + 1, NULL,
                                "no .loc in front of this has the position of inlined_at");
        }
    }
}

/* What .pragma may say in functions; all else is kept there, and refused elsewhere. */
static const struct pragma {
    const char *name;
    int64_t least; /* of the number behind it; NO_NUMBER: there is none */
} pragmas[] = {{"used_bytes_mask", INT64_MIN + 1},
               {"frequency", 1},
               {"enable_smem_spilling", NO_NUMBER}};

/* One string of a .pragma. */
static void check_told(gd_validity *check, uint32_t token, bool inside)
{
    uint32_t length;
    const char *text = gd_ptx_token_text(check->module, token, &length) + 1;
    const struct pragma *known = NULL;
    char number[32] = "", *end;

    length -= 2;
    for (size_t i = 0; i < sizeof pragmas / sizeof pragmas[0] && !known; i++) {
        size_t bytes = strlen(pragmas[i].name);
        if (length >= bytes && memcmp(text, pragmas[i].name, bytes) == 0)
            known = &pragmas[i];
    }
    if (!known) {
        if (!inside && (length != 8 || memcmp(text, "nounroll", 8) != 0))
            gd_validity_add(check, GD_CODE_GD017, token, NULL,
                            "outside of functions there is no pragma %.*s",
                            gd_declared_bytes(length), text);
        return;
    }
    uint32_t told = check->told, bytes = (uint32_t)strlen(known->name);
    gd_declared_need(check, token, known->name, bytes);
    if (check->told == told && !inside)
        gd_validity_add(check, GD_CODE_GD017, token, NULL, "%s stands in functions only",
                        known->name);
    if (check->told != told || known->least == NO_NUMBER)
        return;
    if (length > bytes + 1)
        snprintf(number, sizeof number, "%.*s", (int)(length - bytes - 1), text + bytes + 1);
    if (strtoll(number, &end, 0) < known->least || end == number || *end)
        gd_validity_add(check, GD_CODE_GD017, token, NULL, "behind %s stands a%s integer",
                        known->name, known->least > 0 ? " positive" : "n");
}

static void check_pragma(gd_validity *check, const gd_ptx_directive *directive)
{
    const gd_ptx_function *function = NULL;

    if (directive->scope)
        function = &check->module->functions[check->module->scopes[directive->scope].function];
    for (uint32_t token = directive->token; token < directive->token_end; token++) {
        if (gd_declared_kind(check, token) == GD_TOKEN_STRING)
            check_told(check, token, function && token > function->token_body);
    }
}

/* One value of a section: integers fit their type, of .b64 all do, and of .b32 ptxas looks at
 * negative ones alone; labels and sections have 32 or 64 bits. Returns the token behind it. */
static uint32_t check_section_value(gd_validity *check, uint32_t token, uint8_t bytes)
{
    const bool minus = gd_declared_kind(check, token) == '-';
    uint32_t length, next;
    const char *text = gd_ptx_token_text(check->module, token + minus, &length);
    uint64_t value = 0;

    if (gd_declared_kind(check, token + minus) != GD_TOKEN_INTEGER) {
        next = gd_declared_kind(check, token + 1);
        if (bytes < 4)
            gd_declared_refuse(check, token, "is an address, which .b32 and .b64 hold");
        return token + (next == '+' || next == '-' ? 3 : 1);
    }
    gd_ptx_integer_read(text, length, &value);
    if (bytes < 8 && value <= INT64_MAX &&
        (minus ? value > UINT64_C(1) << (8 * bytes - 1) : bytes < 4 && value >> (8 * bytes)))
        gd_declared_refuse(check, token + minus, "is out of its type's range");
    return token + minus + 1;
}

static void check_section(gd_validity *check, const gd_ptx_directive *directive)
{
    uint32_t at = directive->token + 3, unit = directive->token;
    uint64_t size = 0, end = 0; /* of the section so far, and of its unit */
    bool sized = check->debug && check->abbreviations &&
                 gd_ptx_token_is(check->module, directive->token + 1, ".debug_info");

    if (directive->scope)
        gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                        "this directive stands outside of functions only");
    note_labels(check);
    while (gd_declared_kind(check, at) != '}') {
        uint32_t length;
        const char *text;
        if (gd_declared_kind(check, at) == GD_TOKEN_NAME) {
            at += 2;
            continue;
        }
        const uint8_t type = gd_declared_word(check, at, &text, &length)->value;
        if (type < GD_TYPE_B8 || type > GD_TYPE_B64)
            gd_declared_refuse(check, at, "is no type of a section's data");
        if (size == end) { /* a unit begins with the number of bytes behind that number */
            const bool begins =
                type == GD_TYPE_B32 && gd_declared_kind(check, at + 1) == GD_TOKEN_INTEGER;
            uint64_t bytes = 0;
            sized &= begins || size;
            if (begins) {
                unit = at + 1;
                text = gd_ptx_token_text(check->module, unit, &length);
                gd_ptx_integer_read(text, length, &bytes);
                end += sizeof(uint32_t) + (uint32_t)bytes;
            }
        }
        do {
            at = check_section_value(check, at + 1, gd_ptx_types[type].bytes);
            size += gd_ptx_types[type].bytes;
        } while (gd_declared_kind(check, at) == ',');
    }
    if (sized && size != end)
        gd_validity_add(check, GD_CODE_GD016, unit, NULL,
                        "the section has %s bytes than its units say, of which the last is here",
                        size < end ? "fewer" : "more");
}

static bool is_named(const gd_validity *check, uint32_t directive)
{
    return gd_declared_kind(check, check->module->directives[directive].token - 1) == ':';
}

/* What an alias or a list names. */
static void check_listed(gd_validity *check, const gd_ptx_directive *directive)
{
    const gd_ptx_module *module = check->module;

    for (uint32_t i = directive->operand; i < directive->operand_end; i++) {
        const gd_ptx_operand *operand = &module->operands[i];
        uint32_t length;
        const char *text = gd_ptx_token_text(module, operand->token, &length);
        if (operand->symbol == GD_PTX_NONE ||
            (directive->kind == GD_DIRECTIVE_CALLTARGETS &&
             !gd_declared_before(check, operand->symbol, operand->token)))
            gd_validity_add(check, GD_CODE_GD013, operand->token, NULL, "%.*s is not declared here",
                            gd_declared_bytes(length), text);
        else if (directive->kind != GD_DIRECTIVE_BRANCHTARGETS &&
                 module->symbols[operand->symbol].kind != GD_SYMBOL_FUNCTION)
            gd_declared_refuse(check, operand->token, "is no function");
    }
}

/* Why another name cannot stand for a function; NULL: it can. */
static const char *name_no_alias(const gd_ptx_function *function)
{
    if (function->flags & GD_FUNCTION_ENTRY)
        return "a kernel has no alias";
    return function->link & GD_LINK_WEAK ? "a .weak function has no alias" : NULL;
}

/* An alias has the parameters of what it names. */
static void check_alias(gd_validity *check, const gd_ptx_directive *directive)
{
    const gd_ptx_module *module = check->module;
    const gd_ptx_function *pair[2];

    for (uint32_t i = 0; i < 2; i++) {
        uint32_t operand = directive->operand + i;
        uint32_t symbol =
            operand < directive->operand_end ? module->operands[operand].symbol : GD_PTX_NONE;
        if (symbol == GD_PTX_NONE || module->symbols[symbol].kind != GD_SYMBOL_FUNCTION)
            return; /* told */
        pair[i] = &module->functions[module->symbols[symbol].target];
    }
    for (const gd_ptx_directive *other = module->directives; other < directive; other++) {
        if (other->kind == GD_DIRECTIVE_ALIAS && other->operand < other->operand_end &&
            module->operands[other->operand].symbol == module->operands[directive->operand].symbol)
            gd_validity_add(check, GD_CODE_GD015, directive->token + 1, NULL,
                            "%s is an alias already", pair[0]->name);
    }
    const char *differs =
        pair[0] == pair[1] ? "a function is no alias of itself" : name_no_alias(pair[1]);
    if (differs)
        gd_validity_add(check, GD_CODE_GD016, directive->token + 1, NULL, "%s", differs);
    differs = gd_compare_functions(module, pair[0], pair[1]);
    if (!differs)
        return;
    gd_validity_relate(check, pair[1]->token_name, "it is declared here");
    gd_validity_add(check, GD_CODE_GD016, directive->token + 1, NULL,
                    "%s differs from the function that it is an alias of: %s", pair[0]->name,
                    differs);
}

void gd_check_directive(gd_validity *check, uint32_t index)
{
    const gd_ptx_directive *directive = &check->module->directives[index];
    const char *text;
    uint32_t length;

    gd_declared_word(check, directive->token, &text, &length);
    if (directive->kind != GD_DIRECTIVE_VARIABLE && directive->kind != GD_DIRECTIVE_PERFORMANCE)
        gd_declared_need(check, directive->token, text, length);
    switch (directive->kind) {
    case GD_DIRECTIVE_VARIABLE:
        gd_check_variables(check, directive);
        break;
    case GD_DIRECTIVE_VERSION:
        if (index)
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                            ".version stands at the start of the text, once");
        else
            check_version(check, directive);
        break;
    case GD_DIRECTIVE_TARGET:
        if (index == 0 || (check->module->directives[index - 1].kind != GD_DIRECTIVE_TARGET &&
                           check->module->directives[index - 1].kind != GD_DIRECTIVE_VERSION))
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                            ".target stands behind .version");
        else
            check_target(check, directive,
                         check->module->directives[index - 1].kind == GD_DIRECTIVE_VERSION);
        break;
    case GD_DIRECTIVE_ADDRESS_SIZE:
        check_address_size(check, index);
        break;
    case GD_DIRECTIVE_ALIAS:
        check_listed(check, directive);
        check_alias(check, directive);
        break;
    case GD_DIRECTIVE_FILE:
        check_file(check, directive);
        break;
    case GD_DIRECTIVE_SECTION:
        check_section(check, directive);
        break;
    case GD_DIRECTIVE_LOC:
        check_loc(check, index);
        break;
    case GD_DIRECTIVE_PRAGMA:
        check_pragma(check, directive);
        break;
    case GD_DIRECTIVE_CALLPROTOTYPE:
        for (uint32_t token = directive->token + 1; token < directive->token_end; token++) {
            if (gd_declared_kind(check, token) == GD_TOKEN_DOTTED) {
                gd_declared_word(check, token, &text, &length);
                gd_declared_need(check, token, text, length);
            }
        }
        if (directive->results && directive->flags & GD_DIRECTIVE_NORETURN)
            gd_validity_add(check, GD_CODE_GD016, directive->token, NULL,
                            "a prototype with .noreturn has no results");
        gd_check_results(check, directive->token, directive->symbol,
                         directive->symbol + directive->results, true);
        gd_check_parameters(check, directive->symbol + directive->results, directive->symbol_end,
                            PLACE_FUNC, true);
        /* fall through */
    case GD_DIRECTIVE_BRANCHTARGETS:
    case GD_DIRECTIVE_CALLTARGETS:
        if (!directive->scope || !is_named(check, index))
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                            "a list of targets or a prototype stands behind a label, in a "
                            "function");
        check_listed(check, directive);
        break;
    case GD_DIRECTIVE_UNKNOWN:
        if (gd_declared_word(check, directive->token, &text, &length)->class == GD_WORD_NONE)
            gd_declared_tell(check, GD_CODE_GD017, directive->token, true);
        else
            gd_validity_add(check, GD_CODE_GD017, directive->token, NULL,
                            "this directive does not stand here");
        gd_validity_spoil(check, directive->token, directive->token_end);
        break;
    default:
        break;
    }
}

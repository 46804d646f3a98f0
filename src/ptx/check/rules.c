/* The rules about accesses, waits and exits. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "ptx/text/array.h"
#include "ptx/check/rules.h"
#include "ptx/check/validity.h"
#include "ptx/isa/need.h"

/* ---- variables of the module ---- */

static bool is_variable(const gd_ptx_symbol *symbol)
{
    return symbol->kind == GD_SYMBOL_VARIABLE && symbol->space == GD_SPACE_GLOBAL;
}

/* Whether an instruction may write a variable of the module. */
static bool may_write_variable(const gd_check_functions *functions,
                               const gd_check_function *function, uint32_t instruction)
{
    const gd_ptx_instruction *item = &functions->module->instructions[instruction];
    gd_access access = gd_access_of(functions->module, item);

    if (access.flags & GD_ACCESS_ANYTHING)
        return true;
    if (!(access.flags & GD_ACCESS_WRITE))
        return false;
    return gd_origins_of(function->origins, access.operand).flags &
           (GD_ORIGIN_GLOBAL | GD_ORIGIN_UNKNOWN);
}

/* Whether an initial value names something: then its address is in memory. */
static bool holds_name(const gd_ptx_module *module, const gd_ptx_symbol *symbol)
{
    bool found = false, value = false;

    for (uint32_t i = symbol->token; !found && !gd_ptx_token_is(module, i, ";"); i++) {
        uint32_t length;
        const char *text = gd_ptx_token_text(module, i, &length);
        if (!length)
            break;
        value |= *text == '=';
        found = value && (isalpha((unsigned char)*text) || *text == '_' || *text == '$');
    }
    return found;
}

static bool look_for_names(const gd_ptx_module *module)
{
    bool found = false;

    for (uint32_t i = 0; i < module->symbol_count && !found; i++) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        found = symbol->kind == GD_SYMBOL_VARIABLE &&
                ((symbol->flags & GD_SYMBOL_INITIALISED && holds_name(module, symbol)) ||
                 (is_variable(symbol) && symbol->link & GD_LINK_EXTERN));
    }
    return found;
}

static int32_t look_for_writes(gd_rules *rules)
{
    const gd_ptx_module *module = rules->module;

    rules->variables_written = 0;
    rules->variables_exposed = look_for_names(module);
    for (uint32_t f = 0; f < module->function_count; f++) {
        const gd_check_function *function;
        if (!(module->functions[f].flags & GD_FUNCTION_BODY))
            continue;
        int32_t status = gd_check_function_get(rules->functions, f, &function, rules->error);
        if (status)
            return status;
        rules->variables_written |= function->refused;
        rules->variables_exposed |=
            function->refused || gd_origins_expose_variables(function->origins);
        for (uint32_t i = module->functions[f].instruction;
             i < module->functions[f].instruction_end && !rules->variables_written; i++)
            rules->variables_written = may_write_variable(rules->functions, function, i);
    }
    return GRIDDEP_OK;
}

/* Whether each variable of the module is a table: has an initial value, is not visible outside, and
 * nothing in the module writes. */
static int32_t variables_are_tables(gd_rules *rules, bool *tables)
{
    const gd_ptx_module *module = rules->module;

    *tables = true;
    for (uint32_t i = 0; i < module->symbol_count && *tables; i++) {
        const gd_ptx_symbol *symbol = &module->symbols[i];
        *tables = !is_variable(symbol) || (symbol->flags & GD_SYMBOL_INITIALISED && !symbol->link);
    }
    if (!*tables)
        return GRIDDEP_OK;
    int32_t status = rules->variables_written < 0 ? look_for_writes(rules) : GRIDDEP_OK;
    *tables = !rules->variables_written && !rules->variables_exposed;
    return status;
}

int32_t gd_rules_expose_variables(gd_rules *rules, bool *exposed)
{
    int32_t status = rules->variables_written < 0 ? look_for_writes(rules) : GRIDDEP_OK;

    *exposed = rules->variables_exposed;
    return status;
}

static bool is_empty(const gd_parameter_set *set)
{
    for (size_t i = 0; i < sizeof set->words / sizeof set->words[0]; i++) {
        if (set->words[i])
            return false;
    }
    return true;
}

int32_t gd_access_classify(gd_rules *rules, const gd_entry_access *access, gd_access_class *class)
{
    bool tables = false;
    int32_t status = GRIDDEP_OK;

    *class = GD_ACCESS_CLASS_UNKNOWN;
    if (access->flags & GD_ACCESS_ANYTHING || access->origins & GD_ORIGIN_UNKNOWN)
        return GRIDDEP_OK;
    if (access->origins & GD_ORIGIN_GLOBAL && !(access->flags & GD_ACCESS_WRITE))
        status = variables_are_tables(rules, &tables);
    if (access->origins & GD_ORIGIN_GLOBAL && !tables)
        *class = GD_ACCESS_CLASS_VARIABLE;
    else if (!is_empty(access->parameters))
        *class = GD_ACCESS_CLASS_PARAMETER;
    else if (access->origins & (GD_ORIGIN_SHARED | GD_ORIGIN_LOCAL | GD_ORIGIN_GLOBAL))
        *class = GD_ACCESS_CLASS_HARMLESS;
    return status;
}

/* ---- words ---- */

enum { OPCODE_WIDTH = 60, NAMES = 3 };

/* The opcode with its modifiers as they stand in the text. */
static int opcode_text(const gd_ptx_module *module, uint32_t instruction, char *buffer,
                       size_t capacity)
{
    const gd_ptx_instruction *item = &module->instructions[instruction];
    uint32_t length;
    const char *start = gd_ptx_token_text(module, item->opcode, &length);
    const char *last = gd_ptx_token_text(module, item->opcode + item->modifiers, &length);
    size_t bytes = (size_t)(last - start) + length;

    return snprintf(buffer, capacity, "%.*s%s", bytes > OPCODE_WIDTH ? OPCODE_WIDTH : (int)bytes,
                    start, bytes > OPCODE_WIDTH ? "..." : "");
}

static const char *access_verb(uint32_t flags)
{
    if ((flags & GD_ACCESS_READ) && (flags & GD_ACCESS_WRITE))
        return "updates";
    return flags & GD_ACCESS_WRITE ? "writes" : "reads";
}

static void append(gd_access_words *words, const char *text)
{
    size_t used = strlen(words->text);

    snprintf(words->text + used, sizeof words->text - used, "%s", text);
}

/* "parameter x", "parameters x and y", "parameters x, y, z and others" */
static void append_parameters(gd_access_words *words, const gd_entry_report *report,
                              const gd_parameter_set *set)
{
    const gd_ptx_function *entry = &report->module->functions[report->function];
    uint32_t found[NAMES], count = 0;

    for (uint32_t i = 0; i < entry->parameter_end - entry->parameter; i++) {
        if (!gd_parameter_set_has(set, i))
            continue;
        if (count < NAMES)
            found[count] = i;
        count++;
    }
    append(words, count == 1 ? "parameter " : "parameters ");
    for (uint32_t i = 0; i < count && i < NAMES; i++) {
        if (i)
            append(words, i + 1 == count ? " and " : ", ");
        append(words, entry->parameter_names[found[i]]);
    }
    append(words, count > NAMES ? " and others" : "");
}

/* A call that was not followed. */
static void append_callee(gd_access_words *words, const gd_ptx_module *module,
                          const gd_ptx_instruction *call)
{
    uint32_t operand = gd_ptx_call_operand(module, call), length = 0;
    const char *name = operand == GD_PTX_NONE
                           ? ""
                           : gd_ptx_token_text(module, module->operands[operand].token, &length);

    snprintf(words->text, sizeof words->text,
             "call of %.*s, which is not looked into and may touch any memory",
             length > OPCODE_WIDTH ? OPCODE_WIDTH : (int)length, name);
}

/* The instruction at which the trace of an address ends. */
static void append_cause(gd_access_words *words, const gd_ptx_module *module, uint32_t cause)
{
    char opcode[OPCODE_WIDTH + 4], text[OPCODE_WIDTH + 40];
    int32_t line, column;

    if (cause == GD_PTX_NONE)
        return;
    gd_ptx_token_position(module, module->instructions[cause].opcode, &line, &column);
    opcode_text(module, cause, opcode, sizeof opcode);
    snprintf(text, sizeof text, " (it comes from %s in line %" PRId32 ")", opcode, line);
    append(words, text);
}

gd_access_words gd_access_describe(const gd_entry_report *report, const gd_entry_access *access,
                                   gd_access_class class)
{
    const gd_ptx_instruction *item = &report->module->instructions[access->instruction];
    gd_access_words words = {{0}};
    char opcode[OPCODE_WIDTH + 4];

    if (item->op == GD_OP_CALL) {
        append_callee(&words, report->module, item);
        return words;
    }
    opcode_text(report->module, access->instruction, opcode, sizeof opcode);
    append(&words, opcode);
    append(&words, " ");
    if (access->flags & GD_ACCESS_ANYTHING) {
        append(&words, "is not looked into, or not known, and may touch any memory");
        return words;
    }
    append(&words, access_verb(access->flags));
    if (class == GD_ACCESS_CLASS_UNKNOWN) {
        append(&words, " at an address whose origin cannot be shown");
        append_cause(&words, report->module, access->cause);
    } else if (class == GD_ACCESS_CLASS_VARIABLE) {
        append(&words, " a variable of the module");
    } else {
        append(&words, " what ");
        append_parameters(&words, report, access->parameters);
        append(&words, " points to");
    }
    return words;
}

/* ---- accesses before the wait ---- */

static bool is_subset(const gd_parameter_set *set, const gd_parameter_set *of)
{
    for (size_t i = 0; i < sizeof set->words / sizeof set->words[0]; i++) {
        if (set->words[i] & ~of->words[i])
            return false;
    }
    return true;
}

static bool is_exempt(const gd_entry_access *access, gd_access_class class,
                      const gd_parameter_set *constants)
{
    if (class == GD_ACCESS_CLASS_HARMLESS)
        return true;
    return class == GD_ACCESS_CLASS_PARAMETER && !(access->flags & GD_ACCESS_WRITE) &&
           is_subset(access->parameters, constants);
}

#define DECLARE_HINT                                                                               \
    "move the wait in front of it; where no prerequisite writes the data, declare the parameter "  \
    "constant "                                                                                    \
    "(\"// constant: name\" at the top of the text)"
#define WAIT_HINT "move the wait in front of it"
#define ORDER_HINT "let every thread wait, or put a barrier between the wait and this access"

/* No wait at all on some path. */
static void report_alone(gd_rules *rules, const gd_entry_report *report,
                         const gd_entry_access *access, gd_access_class class)
{
    gd_access_words words = gd_access_describe(report, access, class);
    bool writes = access->flags & GD_ACCESS_WRITE;
    int32_t severity = class == GD_ACCESS_CLASS_VARIABLE ? GRIDDEP_SEVERITY_WARNING : 0;

    if (class == GD_ACCESS_CLASS_UNKNOWN)
        gd_rules_add(rules, report, 0, GD112, access->instruction, WAIT_HINT,
                     "%s, on a path that has not executed griddepcontrol.wait", words.text);
    else if (writes)
        gd_rules_add(rules, report, severity, GD111, access->instruction, WAIT_HINT,
                     "%s, on a path that has not executed griddepcontrol.wait%s", words.text,
                     severity ? "; whether another grid uses it then cannot be shown" : "");
    else
        gd_rules_add(rules, report, severity, GD110, access->instruction,
                     severity ? WAIT_HINT : DECLARE_HINT,
                     "%s, on a path that has not executed griddepcontrol.wait%s", words.text,
                     severity ? "; whether another grid writes it cannot be shown" : "");
}

/* Other threads wait. */
static void report_accompanied(gd_rules *rules, const gd_entry_report *report,
                               const gd_entry_access *access, gd_access_class class)
{
    gd_access_words words = gd_access_describe(report, access, class);
    bool hoped = !(access->state & GD_STATE_ACCOMPANIED);
    bool certain = class == GD_ACCESS_CLASS_PARAMETER && !hoped;

    gd_rules_add(
        rules, report, certain ? 0 : GRIDDEP_SEVERITY_WARNING, GD120, access->instruction,
        ORDER_HINT,
        hoped ? "%s, in threads that do not wait; whether what they passed orders them behind "
                "threads that do "
                "cannot be shown"
              : "%s, in threads that do not wait, and no barrier orders them behind those that do",
        words.text);
}

static void report_noncoherent(gd_rules *rules, const gd_entry_report *report,
                               const gd_entry_access *access, gd_access_class class)
{
    gd_access_words words = gd_access_describe(report, access, class);

    gd_rules_add(rules, report, 0, GD130, access->instruction,
                 "use a coherent load (ld.global); if no prerequisite kernel writes the data, "
                 "declare the parameter constant",
                 "%s through the non-coherent path: a prerequisite kernel may still write the data,"
                 " and the load may return old values",
                 words.text);
}

/* Constants that are read before the wait, or in a way that it does not order. */
static void rely_on(gd_rules *rules, const gd_entry_access *access, gd_access_class class)
{
    for (size_t i = 0; i < sizeof rules->relied.words / sizeof rules->relied.words[0] &&
                       class == GD_ACCESS_CLASS_PARAMETER;
         i++)
        rules->relied.words[i] |= access->parameters->words[i];
}

static bool expose(gd_rules *rules, uint32_t instruction)
{
    if (rules->exposed_count == rules->exposed_capacity &&
        !gd_array_grow((void **)&rules->exposed, &rules->exposed_capacity, sizeof *rules->exposed))
        return false;
    rules->exposed[rules->exposed_count++] = instruction;
    return true;
}

int32_t gd_rules_check_accesses(gd_rules *rules, const gd_entry_report *report,
                                const gd_parameter_set *constants)
{
    rules->relied = (gd_parameter_set){{0}};
    rules->exposed_count = 0;
    for (uint32_t i = 0; i < report->access_count; i++) {
        const gd_entry_access *access = &report->accesses[i];
        gd_access_class class;
        if (!(access->state & GD_STATE_UNSAFE) && !(access->flags & GD_ACCESS_NONCOHERENT))
            continue;
        int32_t status = gd_access_classify(rules, access, &class);
        if (status)
            return status;
        if (is_exempt(access, class, constants)) {
            rely_on(rules, access, class);
            continue;
        }
        if (!expose(rules, access->instruction))
            return gd_error_memory(rules->error);
        if (access->state & GD_STATE_ALONE)
            report_alone(rules, report, access, class);
        else if (access->state & GD_STATE_UNSAFE)
            report_accompanied(rules, report, access, class);
        else
            report_noncoherent(rules, report, access, class);
    }
    return GRIDDEP_OK;
}

/* ---- waits, exits, targets ---- */

static int32_t repeats(gd_rules *rules, uint32_t instruction, bool *again)
{
    const gd_check_function *function;
    uint32_t index = rules->module->scopes[rules->module->instructions[instruction].scope].function;
    int32_t status = gd_check_function_get(rules->functions, index, &function, rules->error);

    *again = !status && !function->refused &&
             gd_flow_repeats(function->flow, gd_flow_block_of(function->flow, instruction));
    return status;
}

/* ---- exits ---- */

enum { PATHS_TOLD = 16 }; /* of one entry: each takes time that grows with the path */

#define EXIT_HINT "put griddepcontrol.wait in front of the branch that leads here"
#define LEAVES_ALONE                                                                               \
    "a path ends here without griddepcontrol.wait: the grid may complete before its prerequisites"
#define LEAVES_OTHERS                                                                              \
    "some threads end here without griddepcontrol.wait while others wait: the order holds, but "   \
    "GRIDDEP_PDL_AUTO does not start this kernel early"

/* The exits of an entry of which the search for dry paths says that it does not always wait. */
typedef struct exit_check {
    gd_rules *rules;
    const gd_entry_report *report;
    const gd_dry_search *search;
    gd_dry_path whole; /* from the entry's start to some exit */
    uint32_t told;
} exit_check;

static bool is_own(const exit_check *check, uint32_t instruction)
{
    const gd_ptx_function *entry = &check->rules->module->functions[check->report->function];

    return instruction >= entry->instruction && instruction < entry->instruction_end;
}

/* Where a whole path ends; the entry's first instruction where it is not known. */
static uint32_t end_of_path(const exit_check *check)
{
    const gd_dry_path *path = &check->whole;
    uint32_t last = path->count ? path->steps[path->count - 1].instruction : GD_PTX_NONE;

    return last != GD_PTX_NONE
               ? last
               : check->rules->module->functions[check->report->function].instruction;
}

/* The path on which a thread leaves at an instruction, in words. In a function that is called, only
 * the whole path is known. *dry is false where the search knows no such path. */
static bool describe_exit(exit_check *check, uint32_t instruction, gd_text *text, bool *dry)
{
    gd_dry_path path = {0};
    bool own = is_own(check, instruction), done = true;

    *dry = true;
    if (own && (done = gd_dry_search_path_to(check->search, instruction, &path)))
        *dry = path.count;
    if (done && check->told < PATHS_TOLD &&
        (own ? path.count > 1 : end_of_path(check) == instruction)) {
        gd_text_string(text, "; ");
        gd_dry_path_describe(own ? &path : &check->whole, check->rules->module, text);
        check->told++;
    }
    gd_dry_path_free(&path);
    return done && !text->failed;
}

static bool check_exit(exit_check *check, const gd_entry_place *leave, bool *found)
{
    bool alone = leave->state & GD_STATE_ALONE, dry;
    gd_text path = {0};
    bool done = describe_exit(check, leave->instruction, &path, &dry);

    if (done && dry)
        gd_rules_add(check->rules, check->report, alone ? 0 : GRIDDEP_SEVERITY_NOTE, GD121,
                     leave->instruction, EXIT_HINT, "%s%s", alone ? LEAVES_ALONE : LEAVES_OTHERS,
                     gd_text_get(&path));
    *found |= dry;
    gd_text_free(&path);
    return done;
}

/* Barriers may order all threads that do not wait behind those that do, and what may leave may be
 * unknown: then no exit was found, and the path is told all the same, since GRIDDEP_PDL_AUTO goes
 * by it. */
static bool check_path(exit_check *check)
{
    bool alone = gd_entry_places_state(&check->report->exits) & GD_STATE_ALONE;
    gd_text path = {0};

    gd_dry_path_describe(&check->whole, check->rules->module, &path);
    gd_rules_add(check->rules, check->report, alone ? 0 : GRIDDEP_SEVERITY_NOTE, GD121,
                 end_of_path(check), EXIT_HINT, "%s; %s", alone ? LEAVES_ALONE : LEAVES_OTHERS,
                 gd_text_get(&path));
    bool done = !path.failed;
    gd_text_free(&path);
    return done;
}

static bool is_unknown(const gd_ptx_module *module, uint32_t instruction)
{
    gd_op_control control = gd_ops[module->instructions[instruction].op].control;

    return control == GD_CONTROL_UNKNOWN || control == GD_CONTROL_CALL;
}

static bool check_exits(exit_check *check)
{
    const gd_entry_places *exits = &check->report->exits;
    bool found = false, done = true;

    for (uint32_t i = 0; i < exits->count && done; i++) {
        if (exits->list[i].state & GD_STATE_ALL_DRY &&
            !is_unknown(check->rules->module, exits->list[i].instruction))
            done = check_exit(check, &exits->list[i], &found);
    }
    return done && (found || check_path(check));
}

/* Whether each path waits is for the traits to say, which AUTO goes by; how bad a path without is,
 * for the states. */
static int32_t check_paths(gd_rules *rules, const gd_entry_report *report)
{
    exit_check check = {.rules = rules, .report = report};
    uint32_t traits = rules->module->functions[report->function].traits;

    if (!(traits & GRIDDEP_TRAIT_WAITS) || traits & GRIDDEP_TRAIT_WAITS_ALWAYS)
        return GRIDDEP_OK;
    check.search = gd_check_dry_search(rules->functions);
    bool done = check.search &&
                gd_dry_search_path(check.search, report->function, true, &check.whole) &&
                (!check.whole.count || check_exits(&check));
    gd_dry_path_free(&check.whole);
    return done ? GRIDDEP_OK : gd_error_memory(rules->error);
}

int32_t gd_rules_check_waits(gd_rules *rules, const gd_entry_report *report)
{
    int32_t status = check_paths(rules, report);
    bool again;

    for (uint32_t i = 0; i < report->waits.count && !status; i++) {
        uint32_t at = report->waits.list[i].instruction;
        status = repeats(rules, at, &again);
        if (!status && again)
            gd_rules_add(
                rules, report, 0, GD122, at, "put it in front of the loop",
                "griddepcontrol.wait is repeated by a loop; only the first one does anything");
    }
    return status;
}

bool gd_rules_check_target(gd_rules *rules)
{
    const gd_ptx_module *module = rules->module;

    if (!module->control_count)
        return false;
    const gd_need need = gd_need_of(GD_OP_GRIDDEPCONTROL_WAIT, "");
    const unsigned chip = need.target / 10u, major = need.version / 10u, minor = need.version % 10u;
    const uint32_t token = module->instructions[module->controls[0].instruction].opcode;
    gd_validity check = {.findings = rules->findings, .module = module, .launch = rules->launch};
    char hint[40];
    if (!gd_need_is_met((gd_need){.target = need.target}, module)) {
        snprintf(hint, sizeof hint, "raise .target to sm_%u", chip);
        gd_validity_mend_need(&check, 0, need.target);
        gd_validity_add(&check, GD_CODE_GD101, token, hint,
                        "griddepcontrol needs sm_%u; .target is %s", chip, module->target);
    }
    if (module->version && module->version < need.version) {
        snprintf(hint, sizeof hint, "raise .version to %u.%u", major, minor);
        gd_validity_mend_need(&check, need.version, need.target);
        gd_validity_add(&check, GD_CODE_GD102, token, hint,
                        "griddepcontrol needs PTX ISA %u.%u; .version is %d.%d", major, minor,
                        (int)module->version / 10, (int)module->version % 10);
    }
    return check.wrong;
}

void gd_rules_check_limit(gd_rules *rules, const gd_entry_report *report)
{
    if (!report->limit)
        return;
    gd_rules_add(rules, report, GRIDDEP_SEVERITY_WARNING, GD003, report->limit_instruction, NULL,
                 "the kernel exceeds the limit %s: the check does not examine the rest of it, and "
                 "calls nothing there safe",
                 report->limit);
}

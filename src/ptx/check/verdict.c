/* Whether an entry waits is for src/ptx/flow/traits.c to say, which GRIDDEP_PDL_AUTO goes by; what
 * its wait does not cover, for the accesses. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/text.h"
#include "ptx/check/verdict.h"
#include "ptx/isa/form.h"
#include "ptx/text/source.h"

enum { SHOWN = 3 }; /* of lines, and of names */

#define SERIAL "GRIDDEP_PDL_AUTO starts it when the kernel before it has ended"

/* Lines in their order, each once. */
typedef struct lines {
    uint32_t *instructions;
    int32_t *list;
    uint32_t count;
} lines;

static int compare_numbers(const void *first, const void *second)
{
    uint32_t a = *(const uint32_t *)first, b = *(const uint32_t *)second;

    return a < b ? -1 : a > b;
}

static void free_lines(lines *of)
{
    free(of->instructions);
    free(of->list);
}

/* Numbers of instructions, in any order, to lines. false: no memory. */
static bool make_lines(lines *of, const gd_ptx_module *module, uint32_t count)
{
    int32_t column;

    of->list = malloc((count + (size_t)1) * sizeof *of->list);
    if (!of->instructions || !of->list)
        return false;
    qsort(of->instructions, count, sizeof *of->instructions, compare_numbers);
    of->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t instruction = of->instructions[i];
        int32_t line;
        gd_ptx_token_position(module, module->instructions[instruction].opcode, &line, &column);
        if (of->count && of->list[of->count - 1] == line)
            continue;
        of->instructions[of->count] = instruction;
        of->list[of->count++] = line;
    }
    return true;
}

static bool take_places(lines *of, const gd_ptx_module *module, const gd_entry_places *places)
{
    uint32_t count = places ? places->count : 0;

    of->instructions = malloc((count + (size_t)1) * sizeof *of->instructions);
    for (uint32_t i = 0; i < count && of->instructions; i++)
        of->instructions[i] = places->list[i].instruction;
    return make_lines(of, module, count);
}

/* "line 12 (a.cu:3)", "lines 12, 14 and 5 more" */
static void write_lines(gd_text *text, const gd_ptx_module *module, const lines *of)
{
    gd_text_string(text, of->count == 1 ? "line " : "lines ");
    for (uint32_t i = 0; i < of->count && i < SHOWN; i++) {
        gd_ptx_source source =
            gd_ptx_find_source(module, module->instructions[of->instructions[i]].opcode);
        bool last = i + 1 == of->count;
        gd_text_format(text, "%s%" PRId32, i == 0 ? "" : last ? " and " : ", ", of->list[i]);
        if (source.line)
            gd_text_format(text, " (%.*s:%" PRId32 ")", (int)source.file_bytes, source.file,
                           source.line);
    }
    if (of->count > SHOWN)
        gd_text_format(text, " and %" PRIu32 " more", of->count - SHOWN);
}

static bool take_exposed(lines *of, const gd_rules *rules)
{
    of->instructions = malloc((rules->exposed_count + (size_t)1) * sizeof *of->instructions);
    for (uint32_t i = 0; i < rules->exposed_count && of->instructions; i++)
        of->instructions[i] = rules->exposed[i];
    return make_lines(of, rules->module, rules->exposed_count);
}

/* "weight", "weight and bias", "a, b, c and 2 more": false: none. */
static bool write_names(gd_text *text, const gd_rules *rules, const gd_ptx_function *entry)
{
    uint32_t count = 0, shown = 0;

    for (uint32_t i = 0; i < entry->parameter_end - entry->parameter; i++)
        count += gd_parameter_set_has(&rules->relied, i);
    for (uint32_t i = 0; i < entry->parameter_end - entry->parameter && shown < SHOWN; i++) {
        if (!gd_parameter_set_has(&rules->relied, i))
            continue;
        gd_text_format(text, "%s%s",
                       shown == 0           ? ""
                       : shown + 1 == count ? " and "
                                            : ", ",
                       entry->parameter_names[i]);
        shown++;
    }
    if (count > SHOWN)
        gd_text_format(text, " and %" PRIu32 " more", count - SHOWN);
    return count;
}

/* Under which condition an entry that always waits may be launched early; empty: always. */
static bool write_condition(gd_text *text, const gd_rules *rules, const gd_entry_report *report)
{
    const gd_ptx_function *entry = &rules->module->functions[report->function];
    lines exposed = {0};
    gd_text names = {0};
    bool constant = write_names(&names, rules, entry), done = take_exposed(&exposed, rules);

    if (constant)
        gd_text_format(text, "writes the data of %s", gd_text_get(&names));
    if (exposed.count) {
        gd_text_format(text, "%stouches the data of ", constant ? ", or " : "");
        write_lines(text, rules->module, &exposed);
        gd_text_string(text, ", which its wait does not cover");
    }
    if (report->limit)
        gd_text_format(text, "%stouches what was not looked into (%s)",
                       constant || exposed.count ? ", or " : "", report->limit);
    done = done && !names.failed && !text->failed;
    gd_text_free(&names);
    free_lines(&exposed);
    return done;
}

static int32_t waits_of(uint32_t traits)
{
    if (traits & GRIDDEP_TRAIT_WAITS_ALWAYS)
        return GD_WAITS_ALWAYS;
    return traits & GRIDDEP_TRAIT_WAITS ? GD_WAITS_SOMETIMES : GD_WAITS_NEVER;
}

static void write_waits(gd_text *text, const gd_ptx_module *module, int32_t kind, const lines *of)
{
    gd_text_string(text, kind == GD_WAITS_NEVER    ? "never waits"
                         : kind == GD_WAITS_ALWAYS ? "waits on every path"
                                                   : "waits on some paths only");
    if (of->count) {
        gd_text_string(text, " (");
        write_lines(text, module, of);
        gd_text_string(text, ")");
    }
}

static void write_text(gd_text *text, const gd_rules *rules, const gd_verdict *verdict,
                       const lines *waits, const lines *triggers)
{
    const gd_ptx_module *module = rules->module;

    gd_text_string(text, "valid PTX");
    if (module->version > GD_FORMS_VERSION)
        gd_text_format(text, ", as far as PTX ISA %d.%d goes", GD_FORMS_VERSION / 10,
                       GD_FORMS_VERSION % 10);
    gd_text_string(text, "; ");
    write_waits(text, module, verdict->waits, waits);
    if (triggers->count) {
        gd_text_string(text, "; triggers at ");
        write_lines(text, module, triggers);
    } else {
        gd_text_string(text, "; triggers at its end, implicitly");
    }
    if (verdict->early == GD_EARLY_SAFE)
        gd_text_string(text, "; safe to launch early");
    else if (verdict->early == GD_EARLY_CONDITIONAL)
        gd_text_format(text, "; safe to launch early only if no kernel that still runs then %s",
                       verdict->condition);
    else
        gd_text_string(text, "; not safe to launch early: " SERIAL);
}

int32_t gd_verdict_add(const gd_rules *rules, uint32_t function, const gd_entry_report *report)
{
    const gd_ptx_module *module = rules->module;
    const gd_ptx_function *entry = &module->functions[function];
    lines waits = {0}, triggers = {0};
    gd_text text = {0}, condition = {0};
    gd_verdict verdict = {.is_valid = 1,
                          .file = module->name,
                          .entry = entry->name,
                          .waits = waits_of(entry->traits),
                          .early = GD_EARLY_UNSAFE};
    bool done = take_places(&waits, module, report ? &report->waits : NULL) &&
                take_places(&triggers, module, report ? &report->triggers : NULL);

    gd_ptx_token_position(module, entry->token_name, &verdict.line, &verdict.column);
    if (done && verdict.waits == GD_WAITS_ALWAYS && report) {
        done = write_condition(&condition, rules, report);
        verdict.early = condition.bytes ? GD_EARLY_CONDITIONAL : GD_EARLY_SAFE;
    }
    verdict.condition = gd_text_get(&condition);
    verdict.wait_count = waits.count;
    verdict.trigger_count = triggers.count;
    verdict.wait_lines = waits.list;
    verdict.trigger_lines = triggers.list;
    if (done)
        write_text(&text, rules, &verdict, &waits, &triggers);
    verdict.text = gd_text_get(&text);
    done = done && !text.failed && gd_findings_add_verdict(rules->findings, &verdict);
    gd_text_free(&text);
    gd_text_free(&condition);
    free_lines(&waits);
    free_lines(&triggers);
    return done ? GRIDDEP_OK : gd_error_memory(rules->error);
}

int32_t gd_verdict_add_invalid(griddep_findings *findings, const gd_ptx_module *module,
                               const char *name, griddep_error *error)
{
    gd_verdict verdict = {
        .file = name,
        .text = "not valid PTX; correct its errors, and the check tells how it waits and "
                "triggers",
        .condition = ""};
    bool done = true;

    if (!module || !module->entry_count) {
        verdict.text = "not valid PTX; correct its errors, and the check tells what its kernels do";
        done = gd_findings_add_verdict(findings, &verdict);
    }
    for (uint32_t i = 0; module && i < module->entry_count && done; i++) {
        const gd_ptx_function *entry = &module->functions[module->entries[i]];
        verdict.entry = entry->name;
        gd_ptx_token_position(module, entry->token_name, &verdict.line, &verdict.column);
        done = gd_findings_add_verdict(findings, &verdict);
    }
    return done ? GRIDDEP_OK : gd_error_memory(error);
}

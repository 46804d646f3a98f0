/* griddep check: what is wrong, or could be better, with the use of dependent launch in PTX and in
 * chains. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/fatbin.h"
#include "griddep.h"

#include "cli/job/chaincheck.h"
#include "cli/plan/chainfile.h"
#include "cli/job/advice.h"
#include "cli/command.h"
#include "cli/plan/constantlist.h"
#include "cli/show/finding.h"
#include "cli/io/heap.h"
#include "cli/io/hostfile.h"
#include "cli/io/message.h"
#include "cli/plan/modulefile.h"
#include "cli/io/options.h"
#include "cli/io/outputfile.h"
#include "cli/io/output.h"
#include "cli/show/sarif.h"
#include "cli/plan/plancheck.h"
#include "cli/plan/planfile.h"
#include "cli/job/textfix.h"
#include "cli/show/verdict.h"

typedef struct gd_check_state {
    const gd_option_list *constants;
    gd_constantlist known; /* which of the constants there are */
    int32_t shown;         /* least severity that is shown */
    int32_t counted;       /* least severity for which the exit code is 1 */
    gd_finding_tally tally;
    uint32_t files_checked;
    bool has_unchecked; /* CUDA C++ that could not be compiled */
    bool has_unparsed;  /* PTX whose parameters are not known */
    bool found;         /* a finding that counts */
    bool held_back;     /* a text with mistakes, of which no more is said */
    bool fix;           /* make the edits that are certain */
    const char *output; /* where to, NULL: into the file */
    const char *sarif;  /* NULL: nowhere */
    json_t *results;    /* for it; NULL */
    json_t *findings;   /* NULL without --json, as the next three */
    json_t *remarks, *verdicts, *advice, *fixes;
} gd_check_state;

static const char details[] =
    "A PTX file is checked by itself; '-' is stdin. The PTX in a fatbin is checked too, also in "
    "the fatbins that nvcc puts into programs, libraries and object files. A compressed fatbin "
    "needs libzstd.so.1 or liblz4.so.1. For machine code in fatbins and cubins, "
    "a verdict tells whether its kernels wait and trigger. A "
    "file that ends in .yaml or .yml is a chain file. Its launches are checked together: each "
    "kernel with its arguments, and each launch with those before it. Each finding has a code; "
    "'griddep explain CODE' tells more:\n\n"
    "  error    a rule of dependent launch is broken (a kernel reads data too early, for "
    "example), or the text is not valid PTX\n"
    "  warning  a rule is probably broken, or the check cannot show that it is kept\n"
    "  note     correct, but kernels overlap less than they could\n\n"
    "A parameter is constant when no kernel that may still run writes its data. A kernel may read "
    "constant data before its wait. --constant names constant parameters, and so does the head "
    "comment of a PTX file. A chain file has 'access: constant'.\n\n"
    "After the findings of a PTX file, a verdict says for each kernel whether it is valid PTX, "
    "when it waits, where it triggers, and whether an early launch is safe. A text with mistakes "
    "gets no verdict on its waits: correct the mistakes first.\n\n"
    "--fix mends mistakes that have one remedy: a misspelt word that is one letter away from "
    "exactly one other word, a missing ';', a .version that is too low. It changes the file, or "
    "writes to --output, and reports the other mistakes.\n\n"
    "Equal warnings and notes about one kernel appear once, with the number of the other places. "
    "--json lists each place.\n\n"
    "With --json each finding has its range, its edits, whether each edit is certain, and related "
    "places. At most 1000 mistakes of one text are reported (GD_CHECK_LIMIT_MISTAKES); GD003 "
    "names each limit that a text exceeds.\n\n"
    "exit codes:\n"
    "  0  no errors and no warnings; with --severity, nothing of that severity or above\n"
    "  1  findings\n"
    "  2  wrong usage, or a file that cannot be read\n"
    "  4  another failure\n";

static void show_findings(gd_check_state *state, const griddep_findings *findings,
                          const gd_plan *plan, const gd_yaml *yaml)
{
    gd_finding_list list = gd_finding_fold(findings, plan, yaml);
    for (size_t i = 0; state->results != NULL && i < list.count; i++) {
        if (list.items[i].data.severity >= state->shown)
            gd_finding_add_sarif(state->results, &list.items[i]);
    }
    if (state->findings == NULL)
        gd_finding_gather(&list);
    gd_finding_count(&state->tally, &list, state->shown);
    for (size_t i = 0; i < list.count; i++) {
        state->found |= list.items[i].data.severity >= state->counted;
        if (list.items[i].data.severity < state->shown)
            continue;
        if (state->findings != NULL)
            gd_output_append(state->findings, gd_finding_json(&list.items[i], NULL));
        else
            gd_finding_print(stdout, &list.items[i], NULL);
    }
    gd_finding_list_free(&list);
}

/* What cannot be checked, without being wrong. */
static void remark(gd_check_state *state, const char *module, const char *kind, const char *why)
{
    char *text = why != NULL
                     ? gd_heap_format("module '%s' is %s and was not checked, because it was not "
                                      "compiled: %s",
                                      module, kind, why)
                     : gd_heap_format("module '%s' is %s, which is not read: its kernels are "
                                      "checked as unknown code",
                                      module, kind);
    if (state->remarks != NULL)
        gd_output_append(state->remarks, gd_output_string(text));
    fflush(stdout);
    gd_message_note("%s", text);
    free(text);
}

static void look_for_constants(gd_check_state *state, const char *text, size_t bytes,
                               const char *name)
{
    griddep_ptx *ptx = NULL;
    if (state->constants->count == 0)
        return;
    if (griddep_ptx_parse(text, bytes, name, &ptx, NULL) == GRIDDEP_OK)
        gd_constantlist_look(&state->known, ptx, NULL);
    else
        state->has_unparsed = true;
    griddep_ptx_destroy(ptx);
}

static void show_advice(gd_check_state *state, const char *text, size_t bytes, const char *path,
                        const griddep_findings *findings)
{
    gd_advice advice = gd_advice_find(text, bytes, path, findings, state->constants);
    if (state->verdicts != NULL && advice.command != NULL)
        gd_output_append(state->advice, gd_output_string(advice.command));
    else if (advice.command != NULL)
        gd_output_print("  hint: %s writes a text in which each kernel waits on every path\n",
                        advice.command);
    else if (advice.reason != NULL && state->verdicts == NULL)
        gd_output_print("  griddep rewrite cannot make them wait: %s\n", advice.reason);
    gd_advice_free(&advice);
}

static void show_verdict(gd_check_state *state, const gd_verdict *verdict)
{
    state->held_back |= !verdict->is_valid;
    if (state->verdicts != NULL)
        gd_output_append(state->verdicts, gd_verdict_json(verdict));
    else
        gd_verdict_print(stdout, verdict);
}

static void show_verdicts(gd_check_state *state, const griddep_findings *findings)
{
    const gd_verdict *verdict;
    for (uint32_t i = 0; (verdict = gd_findings_verdict(findings, i)) != NULL; i++)
        show_verdict(state, verdict);
}

static griddep_check_options options_of(const gd_check_state *state)
{
    return (griddep_check_options){.size = sizeof(griddep_check_options),
                                   .constants = state->constants->values,
                                   .constant_count = (uint32_t)state->constants->count};
}

static int check_text(gd_check_state *state, const char *text, size_t bytes, const char *name,
                      const char *path)
{
    const griddep_check_options options = options_of(state);
    griddep_findings *findings = NULL;
    griddep_error error;
    griddep_error_init(&error);
    if (griddep_ptx_check(text, bytes, name, &options, &findings, &error) != GRIDDEP_OK)
        return gd_message_library(&error, NULL);
    show_findings(state, findings, NULL, NULL);
    show_verdicts(state, findings);
    if (path != NULL)
        show_advice(state, text, bytes, path, findings);
    griddep_findings_destroy(findings);
    return 0;
}

/* Makes the certain edits, writes the text where it belongs, and goes on with it. */
static int fix_text(gd_check_state *state, const char *path, const char *name, char **text,
                    size_t *bytes)
{
    const griddep_check_options options = options_of(state);
    gd_textfix fix = {.fixes = state->fixes};
    int code = gd_outputfile_check();
    if (code == 0)
        code = gd_textfix_run(&fix, *text, *bytes, name, &options);
    if (code == 0 && fix.text != NULL) {
        free(*text);
        *text = fix.text;
        *bytes = fix.bytes;
    }
    if (code == 0 && state->output != NULL)
        code = gd_outputfile_write(state->output, *text, *bytes);
    else if (code == 0 && fix.text != NULL)
        code = gd_outputfile_replace(path, *text, *bytes);
    return code;
}

static int refuse_kind(const char *path, gd_modulefile_kind kind)
{
    return gd_message_error_at((gd_place){path, 0, 0}, "this is %s; only PTX text can be mended",
                               gd_modulefile_kind_text(kind));
}

/* PTX is checked as any other, of machine code there are verdicts alone. */
static int check_part(gd_check_state *state, const griddep_image *image, uint32_t index,
                      const char *name)
{
    griddep_image_part part = {.size = sizeof(part)};
    griddep_image_kernel kernel = {.size = sizeof(kernel)};
    gd_verdict verdict;
    char text[GD_VERDICT_BYTES];
    int code = 0;
    if (griddep_image_get_part(image, index, &part, NULL) != GRIDDEP_OK)
        return 0;
    char suffix[2] = {(char)part.suffix, '\0'};
    char *file = gd_heap_format("%s:sm_%d%s", name, (int)part.architecture, suffix);
    if (part.kind == GRIDDEP_IMAGE_PTX)
        code = check_text(state, part.data, (size_t)part.bytes, file, NULL);
    else if (part.kind == 0)
        gd_message_note(part.packed
                            ? "%s: this part of the file cannot be decompressed: libzstd.so.1 "
                              "or liblz4.so.1 is not installed (Debian: libzstd1, "
                              "liblz4-1), or the part is damaged"
                            : "%s: this part of the file is laid out in a way that is not "
                              "known",
                        file);
    for (uint32_t i = 0; griddep_image_get_kernel(image, index, i, &kernel, NULL) == GRIDDEP_OK;
         i++) {
        gd_verdict_of_machine_code(&kernel, file, &verdict, text, sizeof(text));
        show_verdict(state, &verdict);
    }
    free(file);
    return code;
}

static int check_image(gd_check_state *state, const char *name, const char *data, size_t bytes)
{
    griddep_image *image = NULL;
    griddep_image_info info = {.size = sizeof(info)};
    griddep_error error;
    griddep_error_init(&error);
    if (griddep_image_open(data, bytes, name, &image, &error) != GRIDDEP_OK ||
        griddep_image_get_info(image, &info, &error) != GRIDDEP_OK)
        return gd_message_library(&error, NULL);
    int code = 0;
    for (uint32_t i = 0; i < info.part_count && code == 0; i++)
        code = check_part(state, image, i, name);
    griddep_image_destroy(image);
    return code;
}

/* The fatbins that nvcc puts into a section of programs, one behind the other. */
static int check_fatbins(gd_check_state *state, const char *name, gd_view all)
{
    uint64_t at = 0;
    int code = 0;
    gd_view head;
    while (code == 0 && gd_view_part(all, at, GD_FATBIN_HEAD, &head)) {
        const uint64_t length = gd_fatbin_bytes(head.bytes);
        gd_view fatbin;
        if (length == 0) {
            at += 8; /* what aligns the next one */
            continue;
        }
        if (!gd_view_part(all, at, length, &fatbin))
            return gd_message_error_at((gd_place){name, 0, 0}, "a fatbin in it is cut off");
        code = check_image(state, name, (const char *)fatbin.bytes, (size_t)length);
        at += length;
    }
    return code;
}

static int check_program(gd_check_state *state, const char *name, const char *data, size_t bytes)
{
    gd_elf elf;
    Elf64_Shdr section, strings;
    gd_view content, names;
    bool found = false;
    int code = 0;
    const char *wrong = gd_elf_open((gd_view){(const unsigned char *)data, bytes}, &elf);
    if (wrong != NULL)
        return gd_message_error_at((gd_place){name, 0, 0}, "%s", wrong);
    const bool named = gd_elf_section(&elf, elf.header.e_shstrndx, &strings, &names);
    for (uint64_t i = 1; named && i < elf.section_count && code == 0; i++) {
        if (!gd_elf_section(&elf, i, &section, &content) || section.sh_name >= names.size ||
            strcmp((const char *)names.bytes + section.sh_name, ".nv_fatbin") != 0)
            continue;
        found = true;
        code = check_fatbins(state, name, content);
    }
    return found ? code
                 : gd_message_error_at((gd_place){name, 0, 0},
                                       "there is no code for a GPU in it (no section .nv_fatbin)");
}

/* What NVRTC makes of it is checked. */
static int check_source(gd_check_state *state, const char *path)
{
    const char *options[] = {"--generate-line-info"};
    gd_plan_module module = {
        .name = (char *)path, .path = (char *)path, .options = options, .option_count = 1};
    const gd_plan plan = {.modules = &module, .module_count = 1};
    gd_modulefile_list list = {0};
    char *text = NULL;
    uint64_t bytes = 0;
    int code = gd_modulefile_load(&plan, &list);
    const gd_modulefile *loaded = list.items;
    state->has_unchecked |= code == 0 && loaded->why != NULL;
    if (code == 0 && loaded->refusal != NULL)
        code = gd_message_library(loaded->refusal, NULL);
    else if (code == 0 && loaded->ptx == NULL)
        remark(state, path, gd_modulefile_kind_text(loaded->kind), loaded->why);
    else if (code == 0 && gd_modulefile_print(loaded->ptx, &text, &bytes, NULL) == GRIDDEP_OK)
        code = check_text(state, text, bytes, path, NULL);
    free(text);
    gd_modulefile_free(&list);
    return code;
}

static int check_ptx(gd_check_state *state, const char *path)
{
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    char *text = NULL;
    size_t bytes = 0;
    int code = gd_hostfile_read_input(path, gd_modulefile_largest, &text, &bytes);
    if (code != 0)
        return code;
    gd_modulefile_kind kind = gd_modulefile_recognize(path, text, bytes);
    const bool image = kind == GD_MODULEFILE_CUBIN || kind == GD_MODULEFILE_FATBIN;
    if (kind != GD_MODULEFILE_PTX && state->fix)
        code = refuse_kind(name, kind);
    else if (state->fix)
        code = fix_text(state, path, name, &text, &bytes);
    if (code == 0 && kind == GD_MODULEFILE_CUDA)
        code = check_source(state, path);
    else if (code == 0 && kind == GD_MODULEFILE_HOST)
        code = check_program(state, name, text, bytes);
    else if (code == 0 && image)
        code = check_image(state, name, text, bytes);
    else if (code == 0)
        code = check_text(state, text, bytes, name, path);
    if (code == 0 && kind == GD_MODULEFILE_PTX)
        look_for_constants(state, text, bytes, name);
    free(text);
    return code;
}

/* What of a chain's modules is no PTX that can be read. */
static int check_modules(gd_check_state *state, const gd_plan *plan,
                         const gd_modulefile_list *modules)
{
    int code = 0;
    for (uint32_t i = 0; i < modules->count && code == 0; i++) {
        const gd_modulefile *module = &modules->items[i];
        state->has_unchecked |= module->why != NULL;
        if (module->refusal != NULL)
            code = gd_message_library(module->refusal, NULL);
        else if (module->kind != GD_MODULEFILE_PTX && module->ptx == NULL)
            remark(state, plan->modules[i].name, gd_modulefile_kind_text(module->kind),
                   module->why);
        else if (module->ptx == NULL && module->text != NULL)
            code = check_text(state, module->text, module->bytes, module->name, module->name);
    }
    return code;
}

static int check_plan(gd_check_state *state, const gd_plan *plan, const gd_yaml *yaml)
{
    gd_modulefile_list modules = {0};
    griddep_findings *findings = NULL;
    int code = gd_modulefile_load(plan, &modules);
    if (code == 0)
        code = gd_plan_check(plan, &modules);
    if (code == 0)
        code = check_modules(state, plan, &modules);
    if (code == 0)
        code = gd_chaincheck_run(plan, &modules, GRIDDEP_PDL_DEFAULT, &findings);
    if (code == 0) {
        show_findings(state, findings, plan, yaml);
        show_verdicts(state, findings);
    }
    griddep_findings_destroy(findings);
    gd_modulefile_free(&modules);
    return code;
}

static int check_chain(gd_check_state *state, const char *path)
{
    gd_yaml yaml = {0};
    gd_chainfile *chainfile = NULL;
    gd_plan plan = {0};
    int code = gd_chainfile_load(path, &yaml, &chainfile);
    if (code == 0)
        code = gd_planfile_read(chainfile, &plan);
    gd_chainfile_free(chainfile);
    if (code == 0)
        code = check_plan(state, &plan, &yaml);
    gd_plan_free(&plan);
    gd_yaml_free(&yaml);
    return code;
}

/* All files, whatever becomes of one of them. Returns the worst exit code that is no finding. */
static int check_files(gd_check_state *state, const char *const *paths, size_t count)
{
    int worst = 0;
    for (size_t i = 0; i < count; i++) {
        int code =
            gd_planfile_is(paths[i]) ? check_chain(state, paths[i]) : check_ptx(state, paths[i]);
        state->files_checked += code == 0;
        worst = code > worst ? code : worst;
        fflush(stdout);
    }
    if (worst == 0 && !state->has_unparsed)
        worst = gd_constantlist_check(&state->known);
    return worst;
}

static int check_usage(const gd_check_state *state, const char *const *paths, size_t count)
{
    size_t chains = 0, stdins = 0;
    for (size_t i = 0; i < count; i++) {
        chains += gd_planfile_is(paths[i]);
        stdins += strcmp(paths[i], "-") == 0;
    }
    if (stdins > 1)
        return gd_message_error(GD_EXIT_USAGE, "'-' is stdin, which can be read once");
    if (chains == count && state->constants->count > 0)
        return gd_message_error(
            GD_EXIT_USAGE,
            "--constant is for PTX files; in a chain file an argument has 'access: constant'");
    if (state->fix && chains > 0)
        return gd_message_error(GD_EXIT_USAGE, "--fix mends PTX files, not chain files");
    if (state->fix && stdins > 0 && state->output == NULL)
        return gd_message_error(GD_EXIT_USAGE, "--fix needs --output where the PTX is stdin");
    if (state->output != NULL && (!state->fix || count > 1))
        return gd_message_error(GD_EXIT_USAGE, "--output is for the one file of --fix");
    if (state->output != NULL && strcmp(state->output, "-") == 0)
        return gd_message_error(GD_EXIT_USAGE,
                                "--output needs a file: stdout is where the findings go");
    return 0;
}

static void write_document(const gd_check_state *state, json_t *errors, int code)
{
    json_t *document = GD_OBJECT(
        {"griddep", gd_output_string(griddep_version_text())}, {"exit_code", json_integer(code)},
        {"files_checked", json_integer(state->files_checked)},
        {"errors", json_integer(state->tally.errors)},
        {"warnings", json_integer(state->tally.warnings)},
        {"notes", json_integer(state->tally.notes)}, {"hidden", json_integer(state->tally.hidden)},
        {"findings", state->findings}, {"verdicts", state->verdicts}, {"advice", state->advice},
        {"fixes", state->fixes}, {"remarks", state->remarks}, {"failures", errors});
    gd_output_write(document);
}

static int check_all(gd_check_state *state, const char *const *paths, size_t count, bool json)
{
    json_t *failures = json ? json_array() : NULL;
    gd_message_collect(failures);
    state->findings = json ? json_array() : NULL;
    state->remarks = json ? json_array() : NULL;
    state->verdicts = json ? json_array() : NULL;
    state->advice = json ? json_array() : NULL;
    state->fixes = json ? json_array() : NULL;
    state->results = state->sarif != NULL ? json_array() : NULL;
    int code = check_usage(state, paths, count);
    if (code == 0)
        code = gd_outputfile_check();
    if (code == 0)
        code = check_files(state, paths, count);
    gd_message_collect(NULL);
    if (code == 0 && state->found)
        code = GD_EXIT_FINDINGS;
    else if (code == 0 && state->has_unchecked)
        code = GD_EXIT_UNCHECKED;
    if (json)
        write_document(state, failures, code);
    else if (state->files_checked > 0)
        gd_finding_print_tally(stdout, &state->tally, state->held_back);
    int written = 0;
    if (state->results != NULL && state->files_checked > 0)
        written = gd_sarif_write(state->sarif, state->results);
    else
        json_decref(state->results);
    return written != 0 ? written : code;
}

/* Without --severity all is shown, and warnings and errors count. */
static int choose_severity(gd_check_state *state, const char *text)
{
    size_t index = 0;
    state->shown = GRIDDEP_SEVERITY_NOTE;
    state->counted = GRIDDEP_SEVERITY_WARNING;
    if (text == NULL)
        return 0;
    int code = gd_options_choose("severity", text, gd_finding_severity_names, 3, &index);
    state->shown = state->counted = GRIDDEP_SEVERITY_NOTE + (int32_t)index;
    return code;
}

static const char examples[] =
    "A PTX file; then with x as a parameter that it may read before its wait:\n"
    "    griddep check kernel.ptx\n"
    "    griddep check kernel.ptx --constant x --severity error\n"
    "A chain, and PTX from another program:\n"
    "    griddep check chain.yaml\n"
    "    cat kernel.ptx | griddep check -\n"
    "Mend mistakes that have one remedy:\n"
    "    griddep check kernel.ptx --fix\n";

int gd_command_check(int argc, char **argv)
{
    gd_option_list constants = {0};
    const char *severity = NULL;
    bool json = false;
    gd_check_state state = {.constants = &constants};
    const gd_option options[] = {
        {GD_OPTION_LIST, "constant", "NAME",
         "parameter, or ENTRY.PARAMETER, whose data no prerequisite writes", &constants, 0, 0},
        {GD_OPTION_TEXT, "severity", "LEVEL", "ignore findings below this: note, warning or error",
         (void *)&severity, 0, 0},
        {GD_OPTION_FLAG, "fix", NULL, "mend mistakes that have one remedy", &state.fix, 0, 0},
        {GD_OPTION_FILE, "output", "FILE", "write the mended text there, or with -o FILE",
         (void *)&state.output, 0, 0},
        {GD_OPTION_FILE, "sarif", "FILE", "write the findings there too, as SARIF 2.1.0",
         (void *)&state.sarif, 0, 0},
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &json, 0, 0},
        {0}};
    const gd_usage usage = {
        .name = "check",
        .summary = "Finds mistakes in PTX, and races between the launches of a chain. Needs no "
                   "driver.",
        .synopsis = "FILE.ptx|FILE.cubin|FILE.fatbin|PROGRAM|CHAIN.yaml|-... [--constant NAME]... "
                    "[--severity LEVEL] [--fix [-o FILE]] [--sarif FILE] [--json]",
        .details = details,
        .examples = examples,
        .options = options,
        .words_least = 1,
        .words_most = (size_t)argc};
    const char **words = gd_heap_take((size_t)argc, sizeof(*words));
    size_t count = 0;
    int code = gd_options_read(&usage, argc, argv, words, &count);
    if (code < 0 && choose_severity(&state, severity) != 0)
        code = GD_EXIT_USAGE;
    if (code < 0) {
        state.known = gd_constantlist_begin(&constants);
        code = check_all(&state, words, count, json);
        gd_constantlist_free(&state.known);
    }
    free(constants.values);
    free(words);
    return code;
}

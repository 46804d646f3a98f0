/* griddep rewrite: griddepcontrol put into a kernel's PTX, moved, or taken out. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "cli/command.h"
#include "cli/plan/constantlist.h"
#include "cli/show/finding.h"
#include "cli/io/heap.h"
#include "cli/io/hostfile.h"
#include "cli/io/message.h"
#include "cli/plan/modulefile.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/io/outputfile.h"
#include "cli/io/suggest.h"

typedef struct gd_rewrite_request {
    const char *path, *output, *entry;
    const char *wait, *trigger, *prefetch; /* as given, or NULL */
    gd_option_list constants;
    bool in_place, json;
} gd_rewrite_request;

/* What the command works on: the text that was read, and what became of it. */
typedef struct gd_rewrite_state {
    const gd_rewrite_request *request;
    const char *name; /* of the input, for messages */
    char *text;
    size_t bytes;
    griddep_ptx *ptx;
    griddep_ptx *rewritten;
    griddep_findings *notes;
    char *result;
    size_t result_bytes;
    griddep_findings
        *remaining; /* what the check finds in the result; NULL where it was not asked */
    char *prefetch; /* the parameter's name */
} gd_rewrite_state;

static const char *const wait_words[] = {"insert", "move", "remove", "start", "keep"};
static const int32_t waits[] = {GRIDDEP_WAIT_INSERT, GRIDDEP_WAIT_MOVE, GRIDDEP_WAIT_REMOVE,
                                GRIDDEP_WAIT_START, GRIDDEP_WAIT_KEEP};
static const char *const trigger_words[] = {"start", "after-wait", "after-loads", "before-stores",
                                            "end",   "remove",     "keep"};
static const int32_t triggers[] = {GRIDDEP_TRIGGER_START,       GRIDDEP_TRIGGER_AFTER_WAIT,
                                   GRIDDEP_TRIGGER_AFTER_LOADS, GRIDDEP_TRIGGER_BEFORE_STORES,
                                   GRIDDEP_TRIGGER_END,         GRIDDEP_TRIGGER_REMOVE,
                                   GRIDDEP_TRIGGER_KEEP};

enum {
    WAIT_COUNT = sizeof(waits) / sizeof(waits[0]),
    TRIGGER_COUNT = sizeof(triggers) / sizeof(triggers[0])
};

static const char details[] =
    "Without --wait, --trigger and --prefetch the command prepares the kernels of a file for "
    "dependent launch: --wait insert, and --trigger start where no kernel triggers yet. With one "
    "of these options, everything else stays as it is.\n\n"
    "The wait makes a kernel correct. It goes to the latest point that is safe on every path, "
    "before the first access to global memory that is not known to be constant. The trigger lets "
    "the next kernel start early. It changes no result, because the next kernel waits. At the "
    "start it allows the most overlap. If the grid fills the device, a later trigger may be "
    "faster: 'griddep run' shows it.\n\n"
    "waits:\n"
    "  insert         at the latest safe point, where a kernel has none\n"
    "  move           remove all waits, then insert\n"
    "  remove         remove all waits\n"
    "  start          remove all waits; put one at the first instruction\n"
    "  keep           no change\n\n"
    "triggers (all but keep remove the triggers that are there):\n"
    "  start          as the first instruction\n"
    "  after-wait     after the wait\n"
    "  after-loads    after the last load from global memory that no loop repeats\n"
    "  before-stores  before the first store to global memory\n"
    "  end            before each exit\n"
    "  loop:ROUND     in that round, from 0, of the first loop that reads global memory; a "
    "register counts\n"
    "  LINE           before the first instruction on or after this line of the input\n"
    "  remove         none\n"
    "  keep           no change\n\n"
    "--prefetch PARAM=BYTES fetches the first BYTES of a parameter's data into L2 before the "
    "wait. BYTES is a multiple of 16 and may end in K or M (KiB, MiB). It helps for constant "
    "data: L2 already holds data that the kernel before has written.\n\n"
    "A report of the changes, with lines of the new text, goes to stderr.\n\n"
    "exit codes:\n"
    "  0  the text was written\n"
    "  1  it was written, and 'griddep check' finds errors in it: a wait that was there already "
    "stands too late\n"
    "  2  wrong usage, or input that is no valid PTX\n"
    "  4  no safe place exists, or another failure\n";

/* ---- options ---- */

static int choose_wait(const char *text, griddep_rewrite_options *options)
{
    size_t index = 0;
    int code = gd_options_choose("wait", text, wait_words, WAIT_COUNT, &index);
    if (code == 0)
        options->wait = waits[index];
    return code;
}

static int choose_line(const char *text, griddep_rewrite_options *options)
{
    char *end = NULL;
    errno = 0;
    long line = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || line < 1 || line > INT32_MAX)
        return gd_message_error(
            GD_EXIT_USAGE, "--trigger takes a line number from 1 to %d, not '%s'", INT32_MAX, text);
    options->trigger = GRIDDEP_TRIGGER_LINE;
    options->trigger_line = (int32_t)line;
    return 0;
}

static int choose_round(const char *text, griddep_rewrite_options *options)
{
    char *end = NULL;
    errno = 0;
    long long round = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || round < 0 || round > UINT32_MAX)
        return gd_message_error(GD_EXIT_USAGE,
                                "--trigger loop:ROUND takes a round from 0 to %lu, not '%s'",
                                (unsigned long)UINT32_MAX, text);
    options->trigger = GRIDDEP_TRIGGER_LOOP;
    options->trigger_round = (uint32_t)round;
    return 0;
}

static int choose_trigger(const char *text, griddep_rewrite_options *options)
{
    for (size_t i = 0; i < TRIGGER_COUNT; i++) {
        if (strcmp(trigger_words[i], text) == 0) {
            options->trigger = triggers[i];
            return 0;
        }
    }
    if (strncmp(text, "loop:", strlen("loop:")) == 0)
        return choose_round(text + strlen("loop:"), options);
    if ((text[0] >= '0' && text[0] <= '9') || text[0] == '-')
        return choose_line(text, options);
    char *suggestion = gd_suggest_text(text, trigger_words, TRIGGER_COUNT);
    char *list = gd_suggest_list(trigger_words, TRIGGER_COUNT);
    int code = gd_message_error(GD_EXIT_USAGE,
                                "--trigger is one of %s, loop:ROUND, or a line number, not '%s'%s",
                                list, text, suggestion);
    free(suggestion);
    free(list);
    return code;
}

/* "4096", "64K", "2M" */
static bool parse_bytes(const char *text, uint64_t *bytes)
{
    char *end = NULL;
    errno = 0;
    uint64_t value = strtoull(text, &end, 10), unit = 1;
    if (text[0] < '0' || text[0] > '9' || errno != 0)
        return false;
    if (*end == 'K' || *end == 'k')
        unit = 1U << 10;
    else if (*end == 'M' || *end == 'm')
        unit = 1U << 20;
    end += unit > 1;
    *bytes = value * unit;
    return *end == '\0' && value > 0 && value <= UINT64_MAX / unit && *bytes % 16 == 0;
}

static int choose_prefetch(gd_rewrite_state *state, griddep_rewrite_options *options)
{
    const char *text = state->request->prefetch, *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return gd_message_error(GD_EXIT_USAGE, "--prefetch is PARAMETER=BYTES, not '%s'", text);
    if (!parse_bytes(equals + 1, &options->prefetch_bytes))
        return gd_message_error(GD_EXIT_USAGE,
                                "--prefetch: the bytes are a multiple of 16 above 0, K or M after "
                                "them for KiB or MiB, "
                                "not '%s'",
                                equals + 1);
    state->prefetch = gd_heap_format("%.*s", (int)(equals - text), text);
    options->prefetch = state->prefetch;
    return 0;
}

static int check_paths(const gd_rewrite_request *request)
{
    bool from_stdin = strcmp(request->path, "-") == 0;
    if (request->in_place && request->output != NULL)
        return gd_message_error(GD_EXIT_USAGE, "--in-place and --output exclude each other");
    if (request->in_place && from_stdin)
        return gd_message_error(GD_EXIT_USAGE, "--in-place needs a file, not stdin");
    return 0;
}

/* ---- the input ---- */

static int read_input(gd_rewrite_state *state)
{
    const char *path = state->request->path;
    state->name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    int code = gd_hostfile_read_input(path, gd_modulefile_largest, &state->text, &state->bytes);
    if (code != 0)
        return code;
    gd_modulefile_kind kind = gd_modulefile_recognize(path, state->text, state->bytes);
    if (kind == GD_MODULEFILE_PTX)
        return 0;
    return gd_message_error_at((gd_place){state->name, 0, 0},
                               "this is %s; only PTX text can be rewritten",
                               gd_modulefile_kind_text(kind));
}

/* Whether it is about what PTX is, and not about dependent launch. */
static bool is_about_text(const griddep_finding *finding)
{
    return finding->severity == GRIDDEP_SEVERITY_ERROR && strncmp(finding->code, "GD0", 3) == 0;
}

/* Text that is not valid has no kernels to change: its errors are shown as 'griddep check' shows
 * them. In JSON mode the first one is the message. */
static int refuse_invalid(const gd_rewrite_state *state)
{
    griddep_findings *findings = NULL;
    griddep_error error;
    griddep_error_init(&error);
    int32_t status =
        griddep_ptx_check(state->text, state->bytes, state->name, NULL, &findings, &error);
    if (status != GRIDDEP_OK)
        return gd_message_library_as(GD_EXIT_USAGE, &error, NULL);
    gd_finding_list list = gd_finding_fold(findings, NULL, NULL);
    int code = 0;
    for (size_t i = 0; i < list.count; i++) {
        const griddep_finding *each = &list.items[i].data;
        if (!is_about_text(each))
            continue;
        if (!state->request->json)
            gd_finding_print(stderr, &list.items[i], NULL);
        else if (code == 0)
            gd_message_error_at(
                (gd_place){state->name, (uint32_t)each->line, (uint32_t)each->column}, "%s [%s]",
                each->text, each->code);
        code = GD_EXIT_USAGE;
    }
    gd_finding_list_free(&list);
    griddep_findings_destroy(findings);
    if (code != 0 && !state->request->json)
        gd_message_error(code, "%s is no valid PTX, and is not rewritten", state->name);
    return code;
}

static int parse_input(gd_rewrite_state *state)
{
    griddep_error error;
    griddep_error_init(&error);
    int32_t status = griddep_ptx_parse(state->text, state->bytes, state->name, &state->ptx, &error);
    if (status != GRIDDEP_ERROR_SYNTAX)
        return status == GRIDDEP_OK ? 0 : gd_message_library(&error, NULL);
    int code = state->request->json ? 0 : refuse_invalid(state);
    return code != 0 ? code : gd_message_library_as(GD_EXIT_USAGE, &error, NULL);
}

static int unknown_entry(const char *entry, const char *const *names, size_t count)
{
    char *suggestion = gd_suggest_text(entry, names, count);
    char *list = gd_suggest_list(names, count);
    int code =
        gd_message_error(GD_EXIT_USAGE, "--entry: the file has no entry '%s'%s%s it has: %s", entry,
                         suggestion, suggestion[0] != '\0' ? "" : ";", count > 0 ? list : "none");
    free(suggestion);
    free(list);
    return code;
}

/* Whether the entries that were asked for are there, and whether one of them triggers. */
static int look_at_entries(const gd_rewrite_state *state, bool *triggers_already)
{
    const char *wanted = state->request->entry, **names = NULL;
    size_t count = 0;
    bool is_found = false;
    griddep_ptx_entry_info entry = {.size = sizeof(entry)};
    for (uint32_t i = 0; griddep_ptx_get_entry(state->ptx, i, &entry, NULL) == GRIDDEP_OK; i++) {
        names = gd_heap_grow(names, count, count + 1, sizeof(*names));
        names[count++] = entry.name;
        if (wanted != NULL && strcmp(wanted, entry.name) != 0)
            continue;
        is_found = true;
        *triggers_already |= (entry.traits & GRIDDEP_TRAIT_TRIGGERS) != 0;
    }
    int code = 0;
    if (wanted != NULL && !is_found)
        code = unknown_entry(wanted, names, count);
    else if (count == 0)
        code = gd_message_error_at((gd_place){state->name, 0, 0},
                                   "the file has no entry, so there is nothing to rewrite");
    free(names);
    return code;
}

static int check_constants(const gd_rewrite_state *state)
{
    gd_constantlist constants = gd_constantlist_begin(&state->request->constants);
    gd_constantlist_look(&constants, state->ptx, state->request->entry);
    int code = gd_constantlist_check(&constants);
    gd_constantlist_free(&constants);
    return code;
}

/* ---- the output ---- */

static int take_result(gd_rewrite_state *state)
{
    griddep_error error;
    griddep_error_init(&error);
    uint64_t bytes = 0;
    int32_t status = gd_modulefile_print(state->rewritten, &state->result, &bytes, &error);
    state->result_bytes = bytes;
    return status == GRIDDEP_OK ? 0 : gd_message_library(&error, NULL);
}

/* The file that is written; NULL: stdout. */
static const char *target_of(const gd_rewrite_request *request)
{
    if (request->in_place)
        return request->path;
    return request->output != NULL && strcmp(request->output, "-") != 0 ? request->output : NULL;
}

static bool has_text_errors(const griddep_findings *findings)
{
    griddep_finding each = {.size = sizeof(each)};
    for (uint32_t i = 0; griddep_findings_get(findings, i, &each, NULL) == GRIDDEP_OK; i++)
        if (is_about_text(&each))
            return true;
    return false;
}

/* A version or target that is too old was raised; a text that is still not valid is refused by what
 * was read. A wait that was there and stands too late stays where it is under --wait insert, so
 * what was asked to be correct is checked. */
static int check_result(gd_rewrite_state *state, const griddep_rewrite_options *options)
{
    griddep_check_options check = {.size = sizeof(check),
                                   .constants = options->constants,
                                   .constant_count = options->constant_count};
    const char *target = target_of(state->request);
    griddep_error error;
    griddep_error_init(&error);
    int32_t status =
        griddep_ptx_check(state->result, state->result_bytes, target != NULL ? target : "<stdout>",
                          &check, &state->remaining, &error);
    if (status != GRIDDEP_OK)
        return gd_message_library(&error, NULL);
    int code = has_text_errors(state->remaining) ? refuse_invalid(state) : 0;
    if (options->wait == GRIDDEP_WAIT_KEEP || options->wait == GRIDDEP_WAIT_REMOVE) {
        griddep_findings_destroy(state->remaining);
        state->remaining = NULL;
    }
    return code;
}

static bool is_changed(const gd_rewrite_state *state)
{
    return state->result_bytes != state->bytes ||
           memcmp(state->result, state->text, state->bytes) != 0;
}

static bool is_remaining_error(const gd_rewrite_state *state, const griddep_finding *finding)
{
    const char *entry = state->request->entry;
    if (finding->severity < GRIDDEP_SEVERITY_ERROR)
        return false;
    return entry == NULL || finding->entry == NULL || strcmp(entry, finding->entry) == 0;
}

static uint32_t report_text(const gd_rewrite_state *state, const gd_finding_list *notes,
                            const gd_finding_list *remaining)
{
    const char *target = target_of(state->request);
    uint32_t errors = 0;
    for (size_t i = 0; i < notes->count; i++)
        gd_finding_print(stderr, &notes->items[i], target != NULL ? target : "<stdout>");
    if (!is_changed(state))
        gd_message_note("nothing to change in %s", state->name);
    for (size_t i = 0; i < remaining->count; i++) {
        if (!is_remaining_error(state, &remaining->items[i].data))
            continue;
        gd_finding_print(stderr, &remaining->items[i], NULL);
        errors++;
    }
    if (errors > 0)
        gd_message_note(
            "the result is not right yet; '--wait move' places waits anew that are there already");
    return errors;
}

static uint32_t report_json(const gd_rewrite_state *state, const gd_finding_list *list,
                            const gd_finding_list *remaining)
{
    const char *target = target_of(state->request);
    json_t *document = json_object(), *notes = json_array(), *errors = json_array();
    for (size_t i = 0; i < list->count; i++)
        gd_output_append(notes,
                         gd_finding_json(&list->items[i], target != NULL ? target : "<stdout>"));
    for (size_t i = 0; i < remaining->count; i++)
        if (is_remaining_error(state, &remaining->items[i].data))
            gd_output_append(errors, gd_finding_json(&remaining->items[i], NULL));
    uint32_t error_count = (uint32_t)json_array_size(errors);
    GD_SET(document, {"griddep", gd_output_string(griddep_version_text())},
           {"input", gd_output_string(state->name)}, {"output", gd_output_string(target)},
           {"changed", json_boolean(is_changed(state))}, {"notes", notes}, {"errors", errors},
           {"ptx", target == NULL ? gd_output_string(state->result) : json_null()});
    gd_output_write(document);
    return error_count;
}

/* Writes the text, then says what was done. A file that would stay the same is left alone, its time
 * of change included. */
static int write_output(const gd_rewrite_state *state)
{
    const gd_rewrite_request *request = state->request;
    const char *target = target_of(request);
    int code = 0;
    if (target != NULL && !request->in_place)
        code = gd_outputfile_write(target, state->result, state->result_bytes);
    else if (target != NULL && is_changed(state))
        code = gd_outputfile_replace(target, state->result, state->result_bytes);
    if (code != 0)
        return code;
    if (target == NULL && !request->json)
        fwrite(state->result, 1, state->result_bytes, stdout);
    gd_finding_list notes = gd_finding_fold(state->notes, NULL, NULL);
    gd_finding_list remaining = gd_finding_fold(state->remaining, NULL, NULL);
    uint32_t errors = request->json ? report_json(state, &notes, &remaining)
                                    : report_text(state, &notes, &remaining);
    gd_finding_list_free(&notes);
    gd_finding_list_free(&remaining);
    return errors > 0 ? GD_EXIT_FINDINGS : GD_EXIT_OK;
}

/* ---- in order ---- */

static int rewrite(gd_rewrite_state *state, const griddep_rewrite_options *options)
{
    griddep_error error;
    griddep_error_init(&error);
    int32_t status =
        griddep_ptx_rewrite(state->ptx, options, &state->rewritten, &state->notes, &error);
    return status == GRIDDEP_OK ? take_result(state) : gd_message_library(&error, NULL);
}

static int choose_options(gd_rewrite_state *state, griddep_rewrite_options *options)
{
    const gd_rewrite_request *request = state->request;
    int code = check_paths(request);
    if (code == 0 && request->wait != NULL)
        code = choose_wait(request->wait, options);
    if (code == 0 && request->trigger != NULL)
        code = choose_trigger(request->trigger, options);
    if (code == 0 && request->prefetch != NULL)
        code = choose_prefetch(state, options);
    return code;
}

/* A trigger that somebody placed is better than one that is placed by default. */
static void choose_defaults(const gd_rewrite_state *state, bool triggers_already,
                            griddep_rewrite_options *options)
{
    const gd_rewrite_request *request = state->request;
    if (request->wait != NULL || request->trigger != NULL || request->prefetch != NULL)
        return;
    options->wait = GRIDDEP_WAIT_INSERT;
    options->trigger = triggers_already ? GRIDDEP_TRIGGER_KEEP : GRIDDEP_TRIGGER_START;
}

static int rewrite_file(gd_rewrite_state *state)
{
    const gd_rewrite_request *request = state->request;
    griddep_rewrite_options options = {.size = sizeof(options),
                                       .entry = request->entry,
                                       .constants = request->constants.values,
                                       .constant_count = (uint32_t)request->constants.count};
    bool triggers_already = false;
    int code = choose_options(state, &options);
    if (code == 0)
        code = read_input(state);
    if (code == 0)
        code = gd_outputfile_check();
    if (code == 0)
        code = parse_input(state);
    if (code == 0)
        code = look_at_entries(state, &triggers_already);
    if (code == 0)
        code = check_constants(state);
    choose_defaults(state, triggers_already, &options);
    if (code == 0)
        code = rewrite(state, &options);
    if (code == 0)
        code = check_result(state, &options);
    return code == 0 ? write_output(state) : code;
}

static void free_state(gd_rewrite_state *state)
{
    griddep_findings_destroy(state->notes);
    griddep_findings_destroy(state->remaining);
    griddep_ptx_destroy(state->rewritten);
    griddep_ptx_destroy(state->ptx);
    free(state->result);
    free(state->text);
    free(state->prefetch);
}

static const char examples[] = "Add a wait and a trigger where there is none:\n"
                               "    griddep rewrite kernel.ptx -o new.ptx\n"
                               "Another place for the trigger:\n"
                               "    griddep rewrite kernel.ptx --trigger before-stores >new.ptx\n";

int gd_command_rewrite(int argc, char **argv)
{
    gd_rewrite_request request = {0};
    const gd_option options[] = {
        {GD_OPTION_FILE, "output", "FILE", "write there, or with -o FILE; '-' or none: stdout",
         (void *)&request.output, 0, 0},
        {GD_OPTION_FLAG, "in-place", NULL, "replace the file", &request.in_place, 0, 0},
        {GD_OPTION_TEXT, "entry", "NAME", "this kernel only", (void *)&request.entry, 0, 0},
        {GD_OPTION_TEXT, "wait", "WAIT", "insert, move, remove, start or keep",
         (void *)&request.wait, 0, 0},
        {GD_OPTION_TEXT, "trigger", "PLACE",
         "start, after-wait, after-loads, before-stores, end, loop:ROUND, LINE, remove or keep",
         (void *)&request.trigger, 0, 0},
        {GD_OPTION_LIST, "constant", "NAME",
         "parameter, or ENTRY.PARAMETER, whose data no prerequisite writes", &request.constants, 0,
         0},
        {GD_OPTION_TEXT, "prefetch", "PARAM=BYTES",
         "fetch a constant parameter's data into L2 before the wait", (void *)&request.prefetch, 0,
         0},
        {GD_OPTION_FLAG, "json", NULL,
         "print one JSON document, with the PTX unless it goes to a file", &request.json, 0, 0},
        {0}};
    const gd_usage usage = {
        .name = "rewrite",
        .summary = "Adds the wait and the trigger of dependent launch to PTX. Needs no driver.",
        .synopsis =
            "FILE.ptx|- [-o FILE | --in-place] [--entry NAME] [--wait WAIT] [--trigger PLACE] "
            "[--constant NAME]... [--prefetch PARAM=BYTES] [--json]",
        .details = details,
        .examples = examples,
        .options = options,
        .words_least = 1,
        .words_most = 1};
    size_t count = 0;
    gd_rewrite_state state = {.request = &request};
    int code = gd_options_read(&usage, argc, argv, &request.path, &count);
    if (code < 0) {
        code = rewrite_file(&state);
    }
    free_state(&state);
    free(request.constants.values);
    return code;
}

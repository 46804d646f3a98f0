/* griddep sanitize: runs a chain, or any program that uses the driver API, on the emulated driver
 * with its checks on. */
#include "cli/job/sanitize.h"

#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "cli/command.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/outputfile.h"
#include "cli/io/progress.h"
#include "cli/program/attachedprogram.h"
#include "cli/program/recordedprogram.h"

static const char details[] =
    "A chain runs on the emulated driver. The driver knows which accesses the contract of "
    "dependent launch orders, and reports pairs that nothing orders: a wait is missing or late. "
    "Each schedule and mode runs in a process of its own. Without --schedule these are eager, "
    "lazy and three random schedules. 'griddep check' finds many of these mistakes without a "
    "run.\n\n"
    "A program after '--' gets the emulated driver as its libcuda.so.1, by LD_LIBRARY_PATH. "
    "Without --schedule it runs twice, in the schedules eager and lazy. Its output is that of the "
    "first run, unchanged. Findings follow on stderr. A program that cannot run twice runs once "
    "with --schedule eager.\n\n"
    "A program of the CUDA runtime does not run there, because the runtime asks for a proof that "
    "the driver is NVIDIA's. With --recorded a program runs on this machine's driver. The command "
    "records its launches, as 'griddep audit --record' does, and checks the recorded chain. The "
    "program's code must contain PTX; fatbins may hold it.\n\n"
    "checks: all (the default), or a list of race, shared, initialized, leak. Faults are always "
    "found: accesses out of bounds, misaligned or after a free, and deadlocks.\n\n"
    "A run without a finding holds for the schedules that were tried. It is no proof for others.\n"
    "\n"
    "exit codes:\n"
    "  0    nothing was found (a program: its own exit code; 127 and 126 when it cannot be "
    "started)\n"
    "  65   a program ended well, and nothing was checked: it launched no kernel that ran, or "
    "ended without exit handlers\n"
    "  66   a mistake was found\n"
    "  1    nothing was found, but a chain's results are not as expected\n"
    "  2    wrong usage, or input that cannot be read or is not valid\n"
    "  3    no emulated driver\n"
    "  4    another failure\n";

static const char synopsis[] =
    "CHAIN.yaml [--schedule ORDER]... [--modes LIST] [--check LIST] [--report FILE] [--json]\n"
    "[--schedule ORDER]... [--check LIST] [--report FILE] [--json] -- PROGRAM [ARGUMENT]...\n"
    "--recorded [--first N] [--launches N] [--schedule ORDER]... [--modes LIST] [--check LIST] "
    "[--report FILE] [--json] -- PROGRAM [ARGUMENT]...";

static int check_schedules(const gd_sanitize *request)
{
    for (size_t i = 0; i < request->schedules.count; i++) {
        const gd_emulation one = {.schedule = request->schedules.values[i]};
        int code = gd_emulation_check(&one);
        if (code != 0)
            return code;
    }
    return gd_emulation_check(&request->emulation);
}

static int check_checks(const char *list)
{
    static const char *const names[] = {"all", "race", "shared", "initialized", "leak"};
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ","), index = 0;
        char *word = gd_heap_format("%.*s", (int)length, at);
        int code =
            gd_options_choose("check", word, names, sizeof(names) / sizeof(names[0]), &index);
        free(word);
        if (code != 0)
            return code;
        if (index == 0 && length != strlen(list))
            return gd_message_error(GD_EXIT_USAGE, "--check is all, or a list without it, not '%s'",
                                    list);
        at += length;
        if (*at == '\0')
            return 0;
    }
}

/* What goes to a file is written there at the end. */
typedef struct gd_sanitize_report {
    char *text;
    size_t bytes;
} gd_sanitize_report;

static int open_report(gd_sanitize *request, gd_sanitize_report *report, FILE *usual)
{
    request->stream =
        request->report != NULL ? open_memstream(&report->text, &report->bytes) : usual;
    if (request->stream == NULL)
        return gd_message_error(GD_EXIT_REFUSED, "there is no memory for the report");
    return gd_outputfile_check();
}

/* A run that came to no verdict leaves the file as it was, unless the verdict is that nothing was
 * checked. */
static int close_report(const gd_sanitize *request, gd_sanitize_report *report, int code)
{
    if (request->report == NULL || request->stream == NULL)
        return code;
    bool failed = ferror(request->stream) != 0;
    failed |= fclose(request->stream) != 0;
    int written = 0;
    if (failed)
        written = gd_message_error(GD_EXIT_REFUSED, "there is no memory for the report");
    else if (report->bytes > 0 || code == GD_EXIT_UNCHECKED)
        written = gd_outputfile_write(request->report, report->text, report->bytes);
    free(report->text);
    return written != 0 ? written : code;
}

/* A chain, of a file or of a program's launches. */
static int sanitize_plan(const gd_sanitize *request, const char *chain, char **program,
                         gd_recordedprogram *recorded)
{
    const gd_device_choice device = {0};
    gd_plan plan = {0};
    int code = gd_recordedprogram_load(recorded, &device, chain, program, &plan);
    if (code == 0)
        code = gd_sanitize_chain(request, program != NULL ? program[0] : chain, &plan);
    gd_spanview_free(&recorded->spans);
    gd_plan_free(&plan);
    return code;
}

/* Of chain and program one is NULL. */
static int sanitize(gd_sanitize *request, const char *chain, char **program,
                    gd_recordedprogram *recorded)
{
    gd_sanitize_report report = {0};
    bool runs_itself = program != NULL && !request->is_recorded;
    int code = check_schedules(request);
    if (code == 0)
        code = check_checks(request->checks);
    if (code == 0 && runs_itself && request->modes != NULL)
        code = gd_message_error(GD_EXIT_USAGE,
                                "--modes is for a chain; a program launches as it does");
    if (code == 0)
        code = open_report(request, &report, runs_itself ? stderr : stdout);
    if (code == 0)
        code = runs_itself ? gd_sanitize_program(request, program)
                           : sanitize_plan(request, chain, program, recorded);
    return close_report(request, &report, code);
}

static int check_words(const gd_usage *usage, const char *chain, int argc, char **argv, int marker)
{
    if (marker == argc)
        return chain == NULL ? gd_options_refuse(usage) : 0;
    if (chain != NULL)
        return gd_message_error(
            GD_EXIT_USAGE, "'%s' is one word too many: a chain, or a program after '--'", chain);
    return gd_attachedprogram_check(usage->name, argc, argv, marker);
}

static const char examples[] = "A chain in five schedules, or in one:\n"
                               "    griddep sanitize chain.yaml\n"
                               "    griddep sanitize chain.yaml --schedule lazy --modes pdl\n"
                               "A program that uses the driver API, in two schedules:\n"
                               "    griddep sanitize -- ./application\n"
                               "A program of the CUDA runtime, on a machine with a GPU:\n"
                               "    griddep sanitize --recorded -- ./application\n";

int gd_command_sanitize(int argc, char **argv)
{
    gd_sanitize request = {.checks = "all"};
    gd_recordedprogram recorded = {.launches = GD_RECORDED_LAUNCHES};
    const gd_option options[] = {
        {GD_OPTION_LIST, "schedule", "ORDER", "eager, lazy or random:SEED; once or several times",
         &request.schedules, 0, 0},
        {GD_OPTION_TEXT, "model", "MODEL", "contract (the default) or observed",
         (void *)&request.emulation.model, 0, 0},
        {GD_OPTION_TEXT, "chip", "CHIP", "sm_90 (the default), sm_100, sm_103 or sm_120",
         (void *)&request.emulation.chip, 0, 0},
        {GD_OPTION_COUNT, "multiprocessors", "N", "multiprocessors of the device (4)",
         &request.emulation.multiprocessors, 1, 1024},
        {GD_OPTION_TEXT, "check", "LIST", "what is checked (all)", (void *)&request.checks, 0, 0},
        {GD_OPTION_TEXT, "modes", "LIST",
         "a chain's modes: of serial, pdl, graph, graph-pdl (pdl,graph-pdl)",
         (void *)&request.modes, 0, 0},
        {GD_OPTION_FILE, "report", "FILE", "write the findings to a file", (void *)&request.report,
         0, 0},
        {GD_OPTION_FLAG, "recorded", NULL,
         "record a program on this machine's driver, and check a chain of its launches",
         &request.is_recorded, 0, 0},
        GD_RECORDEDPROGRAM_OPTIONS(&recorded),
        {GD_OPTION_TEXT, "driver", "PATH", "another build of the emulated driver, for a chain",
         (void *)&request.driver, 0, 0},
        {GD_OPTION_FLAG, "json", NULL, "write the findings as one JSON document", &request.json, 0,
         0},
        {0}};
    const gd_usage usage = {
        .name = "sanitize",
        .summary = "Runs a chain or a program on the emulated driver and reports races and faults.",
        .synopsis = synopsis,
        .details = details,
        .examples = examples,
        .options = options,
        .words_most = 1};
    const char *chain = NULL;
    size_t count = 0;
    int marker = gd_attachedprogram_find(argc, argv);
    int code = gd_options_read(&usage, marker, argv, &chain, &count);
    if (code < 0) {
        code = check_words(&usage, chain, argc, argv, marker);
        if (code == 0 && request.is_recorded && marker == argc)
            code = gd_message_error(GD_EXIT_USAGE, "--recorded is for a program after '--'");
        if (code == 0)
            code = sanitize(&request, chain, marker < argc ? argv + marker + 1 : NULL, &recorded);
    }
    free(request.schedules.values);
    return code;
}

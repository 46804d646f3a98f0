/* griddep run: a chain file's plan as a job. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "cli/job/chaincheck.h"
#include "cli/command.h"
#include "cli/io/device.h"
#include "cli/io/heap.h"
#include "cli/job/job.h"
#include "cli/io/message.h"
#include "cli/plan/modulefile.h"
#include "cli/io/options.h"
#include "cli/io/outputfile.h"
#include "cli/plan/plancheck.h"
#include "cli/plan/planfile.h"
#include "cli/io/progress.h"
#include "cli/job/report.h"
#include "cli/io/suggest.h"

typedef struct gd_run_request {
    const char *path;
    const char *mode, *pdl;
    gd_option_list dumps;
    uint64_t samples;
    bool json, no_check;
    gd_device_choice device;
} gd_run_request;

static const char details[] =
    "The file names modules, buffers and launches; doc/griddep-chain.md describes it. Each mode "
    "runs once from freshly written buffers. Its results are compared with the file's "
    "expectations and, bit for bit, with the serial run. Then all modes are timed. Before modes "
    "with dependent launch, the chain is checked as by 'griddep check'. Errors of the check "
    "appear as warnings (five at most), and the run continues.\n\n"
    "modes:\n"
    "  serial     in a stream, without overlap\n"
    "  pdl        in a stream, with programmatic dependent launch\n"
    "  graph      as serial, captured into a graph\n"
    "  graph-pdl  as pdl, captured into a graph\n"
    "  all        the four of them (the default)\n\n"
    "On the emulated driver (--emulate, or where there is no NVIDIA driver) times come from its "
    "model. They are the same in each run, so each mode is timed once. They say nothing about a "
    "GPU.\n";

static int read_dump(const char *text, const gd_plan *plan, gd_job_dump *dump)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL || equals == text || equals[1] == '\0')
        return gd_message_error(GD_EXIT_USAGE, "--dump is BUFFER=FILE, not '%s'", text);
    char *name = gd_heap_format("%.*s", (int)(equals - text), text);
    const char **names = gd_heap_take(plan->buffer_count, sizeof(*names));
    int code = -1;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        names[i] = plan->buffers[i].name;
        if (strcmp(names[i], name) == 0) {
            *dump = (gd_job_dump){.buffer = i, .path = equals + 1};
            code = 0;
        }
    }
    if (code < 0) {
        char *suggestion = gd_suggest_text(name, names, plan->buffer_count);
        code = gd_message_error(GD_EXIT_USAGE, "--dump: the chain has no buffer '%s'%s", name,
                                suggestion);
        free(suggestion);
    }
    free(names);
    free(name);
    return code;
}

/* Opens the driver and runs the job, once everything that can be checked before has been. */
static int run_job(const gd_run_request *request, gd_job *job)
{
    griddep_runtime *runtime = NULL;
    griddep_runtime_info info;
    int code = gd_device_open(&request->device, &runtime, &info);
    if (code != 0)
        return code;
    if (!request->json)
        gd_device_print(&info);
    code = gd_job_run(job, runtime);
    if (code == GD_EXIT_OK || code == GD_EXIT_DIFFERS) {
        if (request->json)
            gd_report_print_json(job, &info, 0.0);
        else
            gd_report_print(job, &info, 0.0);
    }
    griddep_runtime_close(runtime);
    return code;
}

static int prepare_job(const gd_run_request *request, gd_job *job, gd_job_dump *dumps)
{
    int code = gd_options_choose_modes(request->mode, &job->modes);
    size_t pdl = 0;
    if (code == 0 && request->pdl != NULL)
        code = gd_options_choose("pdl", request->pdl, gd_plan_pdl_names, 3, &pdl);
    if (request->pdl != NULL)
        job->pdl = GRIDDEP_PDL_AUTO + (int32_t)pdl;
    for (size_t i = 0; i < request->dumps.count && code == 0; i++)
        code = read_dump(request->dumps.values[i], job->plan, &dumps[i]);
    job->samples = (uint32_t)request->samples;
    job->dumps = dumps;
    job->dump_count = (uint32_t)request->dumps.count;
    return code;
}

/* Everything about the plan that can be said without a driver. What is wrong with dependent launch
 * is a warning, for the run compares each mode with the serial one, and may be meant to show just
 * that. */
static int check_plan(const gd_run_request *request, const gd_job *job)
{
    static const uint32_t dependent = 1U << GRIDDEP_MODE_PDL | 1U << GRIDDEP_MODE_GRAPH_PDL;
    gd_modulefile_list modules = {0};
    int code = gd_plan_check_files(job->plan, &modules);
    if (code == 0 && !request->no_check)
        code = gd_chaincheck_warn(job->plan, &modules, job->pdl, (job->modes & dependent) != 0);
    gd_modulefile_free(&modules);
    return code;
}

static int run_file(const gd_run_request *request)
{
    gd_plan plan = {0};
    gd_job job = {.plan = &plan};
    gd_job_dump *dumps = gd_heap_take(request->dumps.count, sizeof(*dumps));
    int code = gd_planfile_load(request->path, &plan);
    if (code == 0)
        code = prepare_job(request, &job, dumps);
    if (code == 0)
        code = check_plan(request, &job);
    if (code == 0)
        code = gd_outputfile_check();
    if (code == 0)
        code = run_job(request, &job);
    gd_job_free(&job);
    gd_plan_free(&plan);
    free(dumps);
    return code;
}

static const char examples[] = "All modes, checked and timed:\n"
                               "    griddep run examples/vector_add.yaml\n"
                               "One mode, as JSON, and a buffer's content for another program:\n"
                               "    griddep run chain.yaml --mode graph-pdl --repeat 100 --json\n"
                               "    griddep run chain.yaml --dump y=y.bin\n"
                               "Another order that the contract of dependent launch allows:\n"
                               "    griddep run chain.yaml --emulate --schedule random:7\n";

int gd_command_run(int argc, char **argv)
{
    gd_run_request request = {.mode = "all", .samples = GD_JOB_DEFAULT_SAMPLES};
    const gd_option options[] = {
        {GD_OPTION_TEXT, "mode", "MODE", "serial, pdl, graph, graph-pdl or all (the default)",
         (void *)&request.mode, 0, 0},
        {GD_OPTION_COUNT, "repeat", "N",
         "samples of each mode's timing (30, emulated 1); 0: check only", &request.samples, 0,
         100000},
        {GD_OPTION_TEXT, "pdl", "WHEN",
         "for launches without 'pdl' in the file: auto (the default), off or force",
         (void *)&request.pdl, 0, 0},
        {GD_OPTION_FILES, "dump", "BUFFER=FILE", "write what the last mode's run left in a buffer",
         &request.dumps, 0, 0},
        {GD_OPTION_FLAG, "no-check", NULL, "do not check the chain before it runs",
         &request.no_check, 0, 0},
        GD_DEVICE_OPTIONS(&request.device),
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &request.json, 0, 0},
        {0}};
    const gd_usage usage = {.name = "run",
                            .summary =
                                "Runs the chain that a file describes, checks it and times it.",
                            .synopsis = "CHAIN.yaml [--mode MODE] [--repeat N] [--pdl WHEN] "
                                        "[--dump BUFFER=FILE]... [--no-check] [--emulate]",
                            .details = details,
                            .examples = examples,
                            .options = options,
                            .words_least = 1,
                            .words_most = 1};
    size_t count = 0;
    int code = gd_options_read(&usage, argc, argv, &request.path, &count);
    if (code < 0) {
        gd_progress_begin();
        code = run_file(&request);
    }
    free(request.dumps.values);
    return code;
}

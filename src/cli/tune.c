/* griddep tune: a chain file's plan given to the library's tuner, or hops between devices timed. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "cli/job/chaincheck.h"
#include "cli/plan/chainfile.h"
#include "cli/command.h"
#include "cli/demo.h"
#include "cli/io/device.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/plan/plancheck.h"
#include "cli/plan/planfile.h"
#include "cli/io/progress.h"
#include "cli/job/hops.h"
#include "cli/job/session.h"
#include "cli/show/hopsreport.h"
#include "cli/show/tunereport.h"
#include "cli/show/tunewrite.h"
#include "cli/job/verify.h"

typedef struct gd_tune_request {
    const char *path, *mode, *gain, *output, *hops;
    uint64_t pairs;
    bool json, forget, demo;
    gd_device_choice device;
} gd_tune_request;

/* What the library is given, made of a session. */
typedef struct gd_tune_input {
    griddep_tune_offer *offers; /* one a launch */
    griddep_tune_buffer *buffers;
    uint32_t launch_count;
} gd_tune_input;

static const char details[] =
    "For launches of the library's linear layers the command tries other shapes: grid, block and "
    "shared memory. For each kernel it tries triggers at the start, after the wait, after the "
    "loads, "
    "before the stores, at the end, in rounds of a loop, and none. It tries the wait at its latest "
    "safe place, prefetches of constant data into L2, and launches without PDL. It also tries the "
    "grids and carve-outs that the file offers ('grids', 'carveouts'). A candidate must pass "
    "'griddep check', leave the serial run's bits, and gain more than the noise of this machine. "
    "It writes no file unless --output names a folder. The store remembers the result for "
    "griddep_tune_load. doc/tuning.md explains the measurement.\n\n"
    "With --hops the command tunes no chain. It times hops between two devices, by the kernels of "
    "this library and by NCCL (libnccl.so.2, or what GRIDDEP_NCCL names), in sizes from 4 KiB to "
    "64 MiB. The store remembers from which size on NCCL is faster, and groups on such devices "
    "hand it the hops from there on.\n";

/* ---- input ---- */

static int choose_mode(const gd_tune_request *request, int32_t *mode)
{
    static const char *const names[] = {"pdl", "graph-pdl"};
    static const int32_t modes[] = {GRIDDEP_MODE_PDL, GRIDDEP_MODE_GRAPH_PDL};
    size_t index = 1;
    int code =
        request->mode != NULL ? gd_options_choose("mode", request->mode, names, 2, &index) : 0;
    if (code == 0)
        *mode = modes[index];
    return code;
}

static int choose_gain(const gd_tune_request *request, double *gain)
{
    char *end = NULL;
    if (request->gain == NULL)
        return 0;
    double percent = strtod(request->gain, &end);
    if (end == request->gain || *end != '\0' || !(percent > 0.0 && percent < 100.0))
        return gd_message_error(GD_EXIT_USAGE,
                                "--gain is a number of percent above 0 and below 100, not '%s'",
                                request->gain);
    *gain = percent / 100.0;
    return 0;
}

static void make_input(const gd_session *session, gd_tune_input *input)
{
    const gd_plan *plan = session->plan;
    *input = (gd_tune_input){.offers = gd_heap_take(plan->launch_count, sizeof(*input->offers)),
                             .buffers = gd_heap_take(plan->buffer_count, sizeof(*input->buffers)),
                             .launch_count = plan->launch_count};
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const gd_experiment_buffer *buffer = &session->buffers[i];
        input->buffers[i] =
            (griddep_tune_buffer){.size = sizeof(*input->buffers),
                                  .address = buffer->address,
                                  .bytes = buffer->bytes,
                                  .initial = buffer->initial,
                                  .compared = buffer->compared ? 1U + buffer->state : 0};
    }
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        griddep_tune_offer *offer = &input->offers[i];
        *offer = (griddep_tune_offer){.size = sizeof(*offer), .launch = i};
        offer->grids =
            gd_plan_grids(&plan->launches[i], session->multiprocessors, &offer->grid_count);
        offer->carveouts = gd_plan_carveouts(&plan->launches[i], &offer->carveout_count);
    }
}

static void free_input(gd_tune_input *input)
{
    for (uint32_t i = 0; i < input->launch_count; i++) {
        free((void *)input->offers[i].grids);
        free((void *)input->offers[i].carveouts);
    }
    free(input->offers);
    free(input->buffers);
}

static int check_plan(const gd_plan *plan, const char *path)
{
    const uint32_t kernels = gd_plan_kernel_count(plan);
    if (kernels < 2)
        return gd_message_error_at((gd_place){path, 0, 0}, "a chain %s has no hop to tune",
                                   kernels == 0 ? "without a kernel" : "of one kernel");
    if (plan->buffer_count == 0)
        return gd_message_error_at((gd_place){path, 0, 0},
                                   "the chain has no buffers, and without results nothing tells "
                                   "whether what is tried is right");
    int code = gd_plan_check_whole(plan);
    if (code == 0 && plan->expectation_count == 0)
        gd_message_note("%s expects nothing: what is tried is compared with the serial run alone",
                        path);
    return code;
}

/* ---- the search ---- */

enum { BAR = 20 };

static int32_t show_progress(void *user, uint32_t done, uint32_t most, const char *text)
{
    static const char full[] = "####################", empty[] = "....................";
    int filled = most > 0 ? (int)((uint64_t)BAR * done / most) : 0;
    (void)user;
    filled = filled > BAR ? BAR : filled;
    gd_progress_show("tuning [%.*s%.*s] %u of at most %u: %s", filled, full, BAR - filled, empty,
                     (unsigned)done, (unsigned)most, text);
    return 0;
}

static int search(const gd_tune_request *request, gd_session *session, griddep_tune **tune)
{
    griddep_tune_options options = {.size = sizeof(options),
                                    .flags = request->forget ? GRIDDEP_TUNE_FLAG_FORGET : 0,
                                    .pairs = (uint32_t)request->pairs,
                                    .progress = show_progress};
    gd_tune_input input = {0};
    griddep_error error;
    griddep_error_init(&error);
    int code = choose_mode(request, &options.mode);
    if (code == 0)
        code = choose_gain(request, &options.least_gain);
    if (code != 0)
        return code;
    make_input(session, &input);
    options.offers = input.offers;
    options.offer_count = input.launch_count;
    int32_t status = griddep_tune_run(session->chain, input.buffers, session->plan->buffer_count,
                                      &options, tune, &error);
    free_input(&input);
    gd_progress_clear();
    return status == GRIDDEP_OK ? 0 : gd_message_library(&error, "tuning");
}

static int tune_plan(const gd_tune_request *request, gd_chainfile *chainfile, const gd_plan *plan,
                     griddep_runtime *runtime, const griddep_runtime_info *info)
{
    gd_session session = {0};
    griddep_tune *tune = NULL;
    griddep_tune_info result = {.size = sizeof(result)};
    int code = gd_session_open(&session, plan, runtime, GRIDDEP_PDL_DEFAULT);
    if (code == 0) /* what faults by itself is told as other commands do */
        code = gd_session_run(&session, GRIDDEP_MODE_SERIAL, NULL);
    if (code == 0)
        code = search(request, &session, &tune);
    if (code == 0)
        griddep_tune_get_info(tune, &result, NULL);
    if (code == 0 && request->output != NULL && result.changed != 0)
        code = gd_tunewrite(request->output, request->path, chainfile, plan,
                            (uint32_t)info->multiprocessors, tune);
    const gd_tunereport report = {plan, tune, info, request->output};
    if (code == 0 && request->json)
        gd_tunereport_print_json(&report);
    else if (code == 0)
        gd_tunereport_print(&report);
    griddep_tune_destroy(tune);
    gd_session_close(&session);
    return code;
}

static int read_file(const gd_tune_request *request, gd_yaml *yaml, gd_chainfile **chainfile,
                     gd_plan *plan)
{
    int code = gd_chainfile_load(request->path, yaml, chainfile);
    if (code == 0)
        code = gd_planfile_read(*chainfile, plan);
    return code == 0 ? check_plan(plan, request->path) : code;
}

/* A file is judged before a device is asked for; the demo's shapes are the device's. */
static int tune_chain(const gd_tune_request *request)
{
    gd_yaml yaml = {0};
    gd_chainfile *chainfile = NULL;
    gd_plan plan = {0};
    griddep_runtime *runtime = NULL;
    griddep_runtime_info info;
    int code = request->demo ? 0 : read_file(request, &yaml, &chainfile, &plan);
    if (code == 0 && request->output != NULL)
        code = gd_tunewrite_check(request->output, &plan);
    if (code == 0)
        code = gd_device_open(&request->device, &runtime, &info);
    if (code == 0 && request->demo)
        code = gd_demo_make_plan(&info, &plan);
    if (code == 0)
        code = tune_plan(request, chainfile, &plan, runtime, &info);
    griddep_runtime_close(runtime);
    gd_plan_free(&plan);
    gd_chainfile_free(chainfile);
    gd_yaml_free(&yaml);
    return code;
}

/* ---- hops ---- */

static int remember_hops(griddep_runtime *const *runtimes, uint64_t bytes)
{
    const griddep_group_options options = {.size = sizeof(options),
                                           .nccl = GRIDDEP_NCCL_OFF,
                                           .nccl_bytes = bytes,
                                           .flags = GRIDDEP_GROUP_REMEMBER};
    griddep_group *group = NULL;
    griddep_error error;
    griddep_error_init(&error);
    int32_t status = griddep_group_open(runtimes, 2, &options, &group, &error);
    griddep_group_close(group);
    return status == GRIDDEP_OK ? 0 : gd_message_library(&error, "remembering");
}

/* Where there is no store nobody wants one. */
static int tune_hops_on(const gd_tune_request *request, griddep_runtime *const *runtimes,
                        const griddep_runtime_info *devices)
{
    gd_hops hops = {0};
    const bool remembered = !request->forget && devices[0].store_directory[0] != '\0';
    int code = gd_hops_measure(runtimes, devices[0].emulated != 0, &hops);
    if (code == 0 && remembered)
        code = remember_hops(runtimes, hops.nccl_bytes);
    const gd_hopsreport report = {&hops, devices, remembered};
    if (code == 0 && request->json)
        gd_hopsreport_print_json(&report);
    else if (code == 0)
        gd_hopsreport_print(&report);
    return code;
}

/* "0,1": the devices of --hops, one after the other. */
static int tune_hops(const gd_tune_request *request)
{
    griddep_runtime *runtimes[2] = {NULL, NULL};
    griddep_runtime_info devices[2];
    char *words = gd_heap_format("%s", request->hops), *second = strchr(words, ',');
    int code = 0;
    if (second == NULL)
        code = gd_message_error(GD_EXIT_USAGE, "--hops takes two devices, such as 0,1, not '%s'",
                                request->hops);
    else
        *second++ = '\0';
    for (int i = 0; i < 2 && code == 0; i++) {
        gd_device_choice choice = request->device;
        choice.device = i == 0 ? words : second;
        code = gd_device_open(&choice, &runtimes[i], &devices[i]);
    }
    if (code == 0)
        code = tune_hops_on(request, runtimes, devices);
    for (int i = 0; i < 2; i++)
        griddep_runtime_close(runtimes[i]);
    free(words);
    return code;
}

/* ---- the command ---- */

static int check_hops(const gd_tune_request *request)
{
    const bool others = request->path != NULL || request->demo || request->mode != NULL ||
                        request->pairs != 0 || request->gain != NULL || request->output != NULL ||
                        request->device.device != NULL;
    return others ? gd_message_error(GD_EXIT_USAGE, "--hops tunes no chain, and names its devices "
                                                    "itself: of the other options it takes "
                                                    "--driver, --forget, --json and those of the "
                                                    "emulated driver")
                  : 0;
}

static int check_request(const gd_tune_request *request)
{
    int32_t mode = 0;
    double gain = 0.0;
    if (request->hops != NULL)
        return check_hops(request);
    if ((request->path != NULL) == request->demo)
        return gd_message_error(GD_EXIT_USAGE,
                                "griddep tune takes a chain file, --demo or --hops%s",
                                request->demo ? ", not both" : "");
    int code = choose_mode(request, &mode);
    if (code == 0)
        code = choose_gain(request, &gain);
    if (code == 0 && request->output != NULL && request->demo)
        code = gd_message_error(GD_EXIT_USAGE,
                                "--output writes a chain file from the given one; --demo has none");
    return code;
}

static const char examples[] = "Tune a chain, and write the result to a folder:\n"
                               "    griddep tune chain.yaml --emulate --forget -o tuned\n"
                               "Find out from which size on NCCL is the faster one for hops:\n"
                               "    griddep tune --hops 0,1\n";

int gd_command_tune(int argc, char **argv)
{
    gd_tune_request request = {0};
    const gd_option options[] = {
        {GD_OPTION_TEXT, "mode", "MODE", "pdl or graph-pdl (the default)", (void *)&request.mode, 0,
         0},
        {GD_OPTION_FLAG, "demo", NULL, "tune the chain of 'griddep demo'", &request.demo, 0, 0},
        {GD_OPTION_TEXT, "hops", "A,B", "time hops between these two devices, not a chain",
         (void *)&request.hops, 0, 0},
        {GD_OPTION_COUNT, "pairs", "N", "timed pairs of a trial (31, emulated 1)", &request.pairs,
         3, 10000},
        {GD_OPTION_TEXT, "gain", "PERCENT", "smallest gain that counts (0.5)",
         (void *)&request.gain, 0, 0},
        {GD_OPTION_FOLDER, "output", "FOLDER",
         "write the tuned PTX and a chain file there, or with -o FOLDER", (void *)&request.output,
         0, 0},
        {GD_OPTION_FLAG, "forget", NULL, "do not remember the result in the store", &request.forget,
         0, 0},
        GD_DEVICE_OPTIONS(&request.device),
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &request.json, 0, 0},
        {0}};
    const gd_usage usage = {
        .name = "tune",
        .summary = "Finds the fastest places for the wait and the trigger in a chain's kernels, or "
                   "the fastest carrier of hops.",
        .synopsis = "CHAIN.yaml|--demo [--mode MODE] [--pairs N] [--gain "
                    "PERCENT] [-o FOLDER] [--forget] [--emulate] [--json]\n"
                    "--hops A,B [--forget] [--emulate] [--json]",
        .details = details,
        .examples = examples,
        .options = options,
        .words_least = 0,
        .words_most = 1};
    size_t count = 0;
    int code = gd_options_read(&usage, argc, argv, &request.path, &count);
    if (code >= 0)
        return code;
    code = check_request(&request);
    if (code != 0)
        return code;
    gd_progress_begin();
    return request.hops != NULL ? tune_hops(&request) : tune_chain(&request);
}

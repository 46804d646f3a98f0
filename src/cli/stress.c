/* griddep stress: each hop of a chain against a producer that triggers first and is slow. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/private.h"

#include "griddep.h"

#include "base/text.h"

#include "cli/job/attack.h"
#include "cli/command.h"
#include "cli/io/device.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/plan/modulefile.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/plan/plancheck.h"
#include "cli/plan/planfile.h"
#include "cli/io/progress.h"

typedef struct gd_stress_request {
    const char *path, *mode;
    uint64_t microseconds, rounds;
    bool json;
    gd_device_choice device;
} gd_stress_request;

typedef struct gd_stress_hop {
    uint32_t producer, consumer;
} gd_stress_hop;

typedef struct gd_stress {
    const gd_stress_request *request;
    const gd_plan *plan;
    griddep_runtime *runtime;
    griddep_runtime_info info;
    gd_modulefile_list modules;
    gd_attacked attacked;
    gd_stress_hop *hops;
    uint32_t hop_count;
    uint32_t modes;
    json_t *attacks;
    gd_columns table;
    uint32_t differences, faults, skipped;
} gd_stress;

enum { PLACES = 2, USUAL_MICROSECONDS = 100, USUAL_EMULATED = 20, USUAL_ROUNDS = 3 };

static const char *const places[PLACES] = {"late stores", "late loads"};

static const char details[] =
    "The command delays one launch at a time: the kernel triggers at once, then sleeps before its "
    "stores or, in another run, before its loads. All other launches run at full speed with the "
    "smallest grids of the file ('grids'). Launches that race start early too, although 'griddep "
    "run' holds them back. Each run starts from poisoned buffers. If its results differ from the "
    "serial run's, the report names the delayed launch and the next one. A GPU shows only races "
    "that it lets happen; 'griddep check' and 'griddep sanitize' find the others. "
    "doc/tuning.md tells more.\n";

/* ---- hops ---- */

/* What is no kernel cannot be made late. */
static void add_hop(gd_stress *stress, uint32_t producer, uint32_t consumer)
{
    if (!gd_plan_is_kernel(&stress->plan->launches[producer]))
        return;
    stress->hops =
        gd_heap_grow(stress->hops, stress->hop_count, stress->hop_count + 1, sizeof(*stress->hops));
    stress->hops[stress->hop_count++] = (gd_stress_hop){producer, consumer};
}

static void find_hops(gd_stress *stress)
{
    for (uint32_t i = 0; i < stress->plan->launch_count; i++) {
        const gd_plan_launch *launch = &stress->plan->launches[i];
        for (uint32_t k = i; k-- > 0;) {
            if (stress->plan->launches[k].config.lane != launch->config.lane)
                continue;
            add_hop(stress, k, i);
            break;
        }
        for (uint32_t k = 0; k < launch->after_count; k++)
            add_hop(stress, launch->after[k], i);
    }
}

static int choose_modes(gd_stress *stress)
{
    static const char *const names[] = {"both", "pdl", "graph-pdl"};
    static const uint32_t modes[] = {1U << GRIDDEP_MODE_PDL | 1U << GRIDDEP_MODE_GRAPH_PDL,
                                     1U << GRIDDEP_MODE_PDL, 1U << GRIDDEP_MODE_GRAPH_PDL};
    size_t index = 0;
    const char *mode = stress->request->mode;
    int code = mode != NULL ? gd_options_choose("mode", mode, names, 3, &index) : 0;
    if (code == 0)
        stress->modes = modes[index];
    return code;
}

/* ---- attacks ---- */

static char *hop_text(const gd_stress *stress, const gd_stress_hop *hop)
{
    return gd_heap_format("%u %s -> %u %s", (unsigned)hop->producer,
                          gd_plan_launch_name(stress->plan, hop->producer), (unsigned)hop->consumer,
                          gd_plan_launch_name(stress->plan, hop->consumer));
}

static char *result_text(const gd_stress *stress, const gd_attack_result *result)
{
    if (!result->ran)
        return gd_heap_format("not run: %s", result->why);
    if (result->faulted)
        return gd_heap_format("fault: %s", result->why);
    if (!result->differs)
        return gd_heap_format("no difference%s",
                              result->own_triggers ? " (triggers where they are)" : "");
    char got[GD_OUTPUT_VALUE], wanted[GD_OUTPUT_VALUE];
    char *launch = gd_plan_launch_text(stress->plan, result->launch);
    char *text = gd_heap_format(
        "%s left something else in buffer %s: %llu %s, first %llu: %s instead of %s", launch,
        stress->plan->buffers[result->buffer].name, (unsigned long long)result->difference.unequal,
        gd_plural(result->difference.unequal, "element differs", "elements differ"),
        (unsigned long long)result->difference.first, gd_output_value(result->difference.got, got),
        gd_output_value(result->difference.wanted, wanted));
    free(launch);
    return text;
}

static void add_attack(gd_stress *stress, const gd_stress_hop *hop, const gd_attack *attack,
                       const gd_attack_result *result)
{
    json_t *object = json_object();
    char *where = hop_text(stress, hop), *what = result_text(stress, result);
    gd_columns_add(&stress->table, "%s", where);
    gd_columns_add(&stress->table, "%s", places[attack->place]);
    gd_columns_add(&stress->table, "%s", griddep_text(GRIDDEP_TEXT_MODE, attack->mode));
    gd_columns_add(&stress->table, "%s", what);
    GD_SET(object, {"producer", json_integer(hop->producer)},
           {"consumer", json_integer(hop->consumer)},
           {"attack", gd_output_string(places[attack->place])},
           {"mode", gd_output_string(griddep_text(GRIDDEP_TEXT_MODE, attack->mode))},
           {"ran", json_boolean(result->ran)}, {"own_triggers", json_boolean(result->own_triggers)},
           {"differs", json_boolean(result->differs)},
           {"fault", result->faulted ? gd_output_string(result->why) : json_null()},
           {"launch", result->differs ? json_integer(result->launch) : json_null()},
           {"text", gd_output_string(what)});
    gd_output_append(stress->attacks, object);
    stress->differences += result->differs;
    stress->faults += result->faulted;
    stress->skipped += !result->ran;
    free(where);
    free(what);
}

static int open_attacked(gd_stress *stress)
{
    const gd_stress_request *request = stress->request;
    bool emulated = stress->info.emulated != 0;
    uint64_t usual = emulated ? USUAL_EMULATED : USUAL_MICROSECONDS;
    uint64_t microseconds = request->microseconds != 0 ? request->microseconds : usual;
    return gd_attacked_open(&stress->attacked, stress->plan, &stress->modules, stress->runtime,
                            (uint32_t)(microseconds * 1000),
                            emulated ? 1 : (uint32_t)request->rounds);
}

/* After a fault: the context is lost, so all is made anew. */
static int open_again(gd_stress *stress)
{
    gd_attacked_close(&stress->attacked);
    griddep_runtime_close(stress->runtime);
    stress->runtime = NULL;
    int code = gd_device_open(&stress->request->device, &stress->runtime, &stress->info);
    return code == 0 ? open_attacked(stress) : code;
}

static int attack_hop(gd_stress *stress, const gd_stress_hop *hop)
{
    int code = 0;
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        for (int32_t place = 0; place < PLACES && (stress->modes >> mode & 1U) != 0 && code == 0;
             place++) {
            const gd_attack attack = {hop->producer, place, mode};
            gd_attack_result result = {0};
            code = gd_attack_run(&stress->attacked, &attack, &result);
            if (code == 0)
                add_attack(stress, hop, &attack, &result);
            if (code == 0 && result.faulted)
                code = open_again(stress);
            gd_attack_result_free(&result);
        }
    }
    return code;
}

static int attack_all(gd_stress *stress)
{
    int code = 0;
    for (uint32_t i = 0; i < stress->hop_count && code == 0; i++) {
        gd_progress_show("attacking hop %u of %u", (unsigned)i + 1, (unsigned)stress->hop_count);
        code = attack_hop(stress, &stress->hops[i]);
    }
    return code;
}

/* ---- report ---- */

static bool has_findings(const gd_stress *stress)
{
    return stress->differences > 0 || stress->faults > 0;
}

static void print_report(const gd_stress *stress)
{
    gd_device_print(&stress->info);
    gd_output_print("%s: %u %s, %s late by %.0f us\n", stress->plan->name,
                    (unsigned)stress->hop_count, gd_plural(stress->hop_count, "hop", "hops"),
                    gd_plural(stress->hop_count, "its producer", "producers"),
                    (double)stress->attacked.nanoseconds / 1e3);
    puts("");
    gd_columns_print(&stress->table);
    puts("");
    if (stress->faults > 0)
        gd_output_print(
            "%u %s made a kernel fault, which the serial run does not: a launch uses what it "
            "did not wait for\n",
            (unsigned)stress->faults, gd_plural(stress->faults, "attack", "attacks"));
    if (stress->differences > 0)
        gd_output_print(
            "%u %s changed the results: the launches named above do not wait for what they "
            "need\n",
            (unsigned)stress->differences, gd_plural(stress->differences, "attack", "attacks"));
    else if (stress->faults == 0)
        puts("no attack changed the results");
}

static void print_json(const gd_stress *stress)
{
    const griddep_runtime_info *info = &stress->info;
    json_t *document = GD_OBJECT(
        {"griddep", gd_output_string(griddep_version_text())},
        {"driver", gd_device_driver_json(info)}, {"device", gd_device_json(info)},
        {"chain", gd_output_string(stress->plan->name)},
        {"delay_us", json_integer(stress->attacked.nanoseconds / 1000)},
        {"differences", json_integer(stress->differences)},
        {"faults", json_integer(stress->faults)}, {"not_run", json_integer(stress->skipped)},
        {"attacks", json_incref(stress->attacks)});
    gd_output_write(document);
}

/* ---- in order ---- */

static int run_stress(gd_stress *stress)
{
    const gd_stress_request *request = stress->request;
    int code = open_attacked(stress);
    if (code == 0)
        code = attack_all(stress);
    gd_progress_clear();
    if (code == 0 && request->json)
        print_json(stress);
    else if (code == 0)
        print_report(stress);
    gd_attacked_close(&stress->attacked);
    return code == 0 && has_findings(stress) ? GD_EXIT_DIFFERS : code;
}

static int check_plan(gd_stress *stress)
{
    find_hops(stress);
    if (stress->hop_count == 0)
        return gd_message_error_at((gd_place){stress->request->path, 0, 0},
                                   "the chain has no hop: no launch stands behind a kernel");
    return gd_plan_check_files(stress->plan, &stress->modules);
}

static int stress_plan(gd_stress *stress)
{
    static const char *const titles[] = {"hop", "attack", "mode", "result"};
    stress->table = (gd_columns){.column_count = 4, .left = 15, .titled = true};
    for (size_t i = 0; i < 4; i++)
        gd_columns_add(&stress->table, "%s", titles[i]);
    stress->attacks = json_array();
    int code = run_stress(stress);
    json_decref(stress->attacks);
    gd_columns_free(&stress->table);
    return code;
}

/* A file is judged before a device is asked for. */
static int stress_chain(const gd_stress_request *request)
{
    gd_plan plan = {0};
    gd_stress stress = {.request = request, .plan = &plan};
    int code = choose_modes(&stress);
    if (code == 0)
        code = gd_planfile_load(request->path, &plan);
    if (code == 0)
        code = check_plan(&stress);
    if (code == 0)
        code = gd_device_open(&request->device, &stress.runtime, &stress.info);
    if (code == 0)
        code = stress_plan(&stress);
    griddep_runtime_close(stress.runtime);
    gd_modulefile_free(&stress.modules);
    free(stress.hops);
    gd_plan_free(&plan);
    return code;
}

static const char examples[] = "Delay each kernel in turn:\n"
                               "    griddep stress chain.yaml --emulate\n";

int gd_command_stress(int argc, char **argv)
{
    gd_stress_request request = {.rounds = USUAL_ROUNDS};
    const gd_option options[] = {
        {GD_OPTION_TEXT, "mode", "MODE", "pdl, graph-pdl or both (the default)",
         (void *)&request.mode, 0, 0},
        {GD_OPTION_COUNT, "delay", "US", "delay in microseconds (100, emulated 20)",
         &request.microseconds, 1, 1000000},
        {GD_OPTION_COUNT, "rounds", "N", "runs of each delay (3, emulated 1)", &request.rounds, 1,
         10000},
        GD_DEVICE_OPTIONS(&request.device),
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &request.json, 0, 0},
        {0}};
    const gd_usage usage = {
        .name = "stress",
        .summary =
            "Delays each kernel of a chain in turn, and compares the results with the serial run.",
        .synopsis = "CHAIN.yaml [--mode MODE] [--delay US] [--rounds N] [--emulate] [--json]",
        .details = details,
        .examples = examples,
        .options = options,
        .words_least = 1,
        .words_most = 1};
    size_t count = 0;
    int code = gd_options_read(&usage, argc, argv, &request.path, &count);
    if (code >= 0)
        return code;
    gd_progress_begin();
    return stress_chain(&request);
}

/* griddep info: driver, device, and what of programmatic dependent launch works on them. */
#include <stdbool.h>
#include <stdio.h>

#include "griddep.h"

#include "cli/command.h"
#include "cli/io/device.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"

/* What each feature needs, as griddep.h tells; 0: nothing. */
typedef struct gd_feature {
    uint32_t bit;
    const char *name;
    const char *title;
    int32_t capability;
    int32_t driver_version;
    const char *otherwise; /* why it is missing when capability and driver are new enough */
} gd_feature;

static const gd_feature features[] = {
    {GRIDDEP_FEATURE_PDL, "pdl", "programmatic dependent launch", 90, 11080,
     "the driver does not offer it"},
    {GRIDDEP_FEATURE_GRAPH, "graph", "graphs", 0, 11060,
     "the driver lacks stream capture or graph launch"},
    {GRIDDEP_FEATURE_GRAPH_EDGES, "graph_edges", "programmatic edges readable", 0, 12030,
     "the driver lacks edge data"},
    {GRIDDEP_FEATURE_PROGRAMMATIC_EVENT, "programmatic_event", "programmatic events", 90, 11080,
     "the driver does not offer it"},
    {GRIDDEP_FEATURE_LAUNCH_COMPLETION_EVENT, "launch_completion_event", "launch completion events",
     0, 12030, "the driver does not offer it"},
    {GRIDDEP_FEATURE_CLUSTER, "cluster", "thread block clusters", 90, 11080,
     "the driver does not offer them"},
    {GRIDDEP_FEATURE_PARAMETER_INFO, "parameter_info", "parameters of code without PTX", 0, 12040,
     "the driver does not tell them"},
    {GRIDDEP_FEATURE_PARTS, "parts", "runtimes on a part of a device", 0, 12040,
     "the driver does not offer them"},
};

enum { FEATURE_COUNT = sizeof(features) / sizeof(features[0]) };

static void explain_feature(const gd_feature *feature, const griddep_runtime_info *info, char *text,
                            size_t bytes)
{
    if (info->capability < feature->capability)
        snprintf(text, bytes, "needs compute capability %d.%d, the device has %d.%d",
                 feature->capability / 10, feature->capability % 10, info->capability / 10,
                 info->capability % 10);
    else if (info->driver_version < feature->driver_version)
        snprintf(text, bytes, "needs a driver for CUDA %d.%d, this one is for %d.%d",
                 feature->driver_version / 1000, feature->driver_version % 1000 / 10,
                 info->driver_version / 1000, info->driver_version % 1000 / 10);
    else
        snprintf(text, bytes, "%s", feature->otherwise);
}

/* Whether a feature can be used, and in `text` why not. */
static bool judge_feature(const gd_feature *feature, const griddep_runtime_info *info, char *text,
                          size_t bytes)
{
    text[0] = '\0';
    if ((info->features & feature->bit) == 0) {
        explain_feature(feature, info, text, bytes);
        return false;
    }
    if (feature->bit == GRIDDEP_FEATURE_PDL && info->pdl_disabled) {
        snprintf(text, bytes, "switched off by GRIDDEP_PDL");
        return false;
    }
    return true;
}

static json_t *driver_cache_json(const griddep_runtime_info *info)
{
    json_t *cache = json_object();
    bool on = info->driver_cache[0] != '\0';
    GD_SET(cache, {"directory", on ? gd_output_string(info->driver_cache) : json_null()},
           {"bytes", json_integer((json_int_t)info->driver_cache_bytes)},
           {"reason", on ? json_null() : gd_output_string(info->driver_cache_reason)});
    return cache;
}

static void print_json(const griddep_runtime_info *info)
{
    json_t *document = json_object(), *list = json_object();
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        char reason[160];
        json_t *feature = json_object();
        bool works = judge_feature(&features[i], info, reason, sizeof(reason));
        GD_SET(feature, {"works", json_boolean(works)},
               {"reason", works ? json_null() : gd_output_string(reason)});
        gd_output_set(list, features[i].name, feature);
    }
    GD_SET(document, {"griddep", gd_output_string(griddep_version_text())},
           {"driver", gd_device_driver_json(info)}, {"device", gd_device_json(info)},
           {"store_directory", info->store_directory[0] != '\0'
                                   ? gd_output_string(info->store_directory)
                                   : json_null()},
           {"driver_cache", driver_cache_json(info)},
           {"pdl_disabled", json_boolean(info->pdl_disabled)}, {"features", list});
    gd_output_write(document);
}

static void print_limits(const griddep_runtime_info *info)
{
    gd_output_print("  memory                   %.1f GiB, L2 %.1f MiB\n",
                    (double)info->memory_bytes / (1 << 30), (double)info->l2_bytes / (1 << 20));
    gd_output_print("  shared memory            %u bytes per multiprocessor, up to %u per block\n",
                    info->shared_bytes_per_multiprocessor, info->shared_bytes_per_block);
    gd_output_print("  per multiprocessor       %u threads, %u blocks, %u registers\n",
                    info->threads_per_multiprocessor, info->blocks_per_multiprocessor,
                    info->registers_per_multiprocessor);
}

/* Paths come from the environment. */
static void print_folders(const griddep_runtime_info *info)
{
    if (info->driver_cache[0] != '\0')
        gd_output_print("  driver's code cache      %s, up to %.0f MiB\n", info->driver_cache,
                        (double)info->driver_cache_bytes / (1 << 20));
    else
        gd_output_print("  driver's code cache      none: %s\n", info->driver_cache_reason);
    gd_output_print("  store                    %s\n",
                    info->store_directory[0] != '\0' ? info->store_directory : "none");
    puts("");
}

static void print_text(const griddep_runtime_info *info)
{
    gd_output_print("griddep %s\n", griddep_version_text());
    gd_device_print_emulated(info);
    if (info->fallback[0] != '\0')
        gd_output_print("It was taken because there is no NVIDIA driver with a device: %s\n",
                        info->fallback);
    gd_output_print("  driver                   %s, CUDA %d.%d\n", info->driver,
                    info->driver_version / 1000, info->driver_version % 1000 / 10);
    gd_output_print("  device %-3d               %s\n", info->device, info->device_name);
    gd_output_print("  compute capability       %d.%d\n", info->capability / 10,
                    info->capability % 10);
    gd_output_print("  multiprocessors          %d\n", info->multiprocessors);
    print_limits(info);
    print_folders(info);
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        char reason[160];
        bool works = judge_feature(&features[i], info, reason, sizeof(reason));
        gd_output_print("  %-31s %s%s%s\n", features[i].title, works ? "yes" : "no",
                        works ? "" : ": ", reason);
    }
}

static const char examples[] = "This machine's driver, and the emulated one:\n"
                               "    griddep info\n"
                               "    griddep info --emulate --json\n";

int gd_command_info(int argc, char **argv)
{
    bool json = false;
    gd_device_choice choice = {0};
    const gd_option options[] = {
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &json, 0, 0},
        GD_DEVICE_OPTIONS(&choice),
        {0}};
    const gd_usage usage = {.name = "info",
                            .summary = "Shows the driver, the device and what they support.",
                            .synopsis = "[--json] [--driver DRIVER | --emulate] [--device N]",
                            .examples = examples,
                            .options = options};
    size_t word_count = 0;
    int code = gd_options_read(&usage, argc, argv, NULL, &word_count);
    if (code >= 0)
        return code;
    griddep_runtime *runtime = NULL;
    griddep_runtime_info info;
    code = gd_device_open(&choice, &runtime, &info);
    if (code != 0)
        return code;
    if (json)
        print_json(&info);
    else
        print_text(&info);
    griddep_runtime_close(runtime);
    return GD_EXIT_OK;
}

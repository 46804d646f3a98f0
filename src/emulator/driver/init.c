/* The beginning of the driver and its end. cuInit reads the settings and makes the devices. At the
 * end of the process, or of the emulator in it (dlclose), counts of findings are written, and all
 * memory is given back, so that a program may open the emulator again and again. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/text.h"
#include "emulator/driver/call.h"
#include "emulator/driver/context.h"
#include "emulator/driver/module.h"
#include "emulator/driver/stream.h"
#include "emulator/driver/virtual.h"
#include "emulator/machine/report.h"
#include "emulator/schedule/graph.h"
#include "emulator/schedule/grid.h"
#include "emulator/schedule/host.h"
#include "emulator/schedule/ownership.h"
#include "emulator/schedule/user_object.h"

enum { MOST_MULTIPROCESSORS = 1024 };

/* ---- settings ---- */

static const gd_profile profiles[] = {
#define GD_PROFILE(capability, shared, threads, ctas)                                              \
    {"sm_" #capability, capability, shared, threads, ctas, GD_CHIP_SHARED_##capability},
#include "base/profiles.def"
#undef GD_PROFILE
};

/* The profile of that name, of `length` characters; NULL. */
static const gd_profile *find_profile(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++) {
        if (strlen(profiles[i].name) == length && !strncmp(profiles[i].name, name, length))
            return &profiles[i];
    }
    return NULL;
}

/* A program that does not ask for the reason of an error gets it on stderr: what it ran without
 * checks, it must not take for checked. Returns false. */
static bool refuse_start(char *why)
{
    gd_text_clean(why);
    gd_device_refuse(GD_CUDA_ERROR_INVALID_VALUE, "%s", why);
    fprintf(stderr, "griddep: the emulated driver does not start: %s\n", why);
    return false;
}

/* A setting that cannot be read: false. */
static bool refuse_setting(const char *name, const char *value)
{
    char text[768];

    snprintf(text, sizeof text, "%s is \"%s\"; it may be %s", name, value,
             gd_environment_values(name));
    return refuse_start(text);
}

/* A number with K, M or G behind it; the default where the variable is not set. */
static bool read_number(const char *name, uint64_t least, uint64_t most, uint64_t otherwise,
                        uint64_t *number)
{
    const char *text = gd_environment(name);
    char *end;

    *number = otherwise;
    if (!text)
        return true;
    errno = 0;
    uint64_t value = strtoull(text, &end, 0);
    unsigned shift = *end == 'K' || *end == 'k'   ? 10u
                     : *end == 'M' || *end == 'm' ? 20u
                     : *end == 'G' || *end == 'g' ? 30u
                                                  : 0u;
    if (!isdigit((unsigned char)*text) || errno || end[shift ? 1 : 0] || value > most >> shift ||
        value << shift < least)
        return refuse_setting(name, text);
    *number = value << shift;
    return true;
}

static bool read_schedule(gd_settings *settings)
{
    const char *text = gd_environment("GRIDDEP_EMULATOR_SCHEDULE");
    char *end;

    settings->schedule = GD_SCHEDULE_EAGER;
    if (!text || !strcmp(text, "eager"))
        return true;
    settings->schedule = GD_SCHEDULE_LAZY;
    if (!strcmp(text, "lazy"))
        return true;
    settings->schedule = GD_SCHEDULE_RANDOM;
    if (strncmp(text, "random:", 7) != 0 || !isdigit((unsigned char)text[7]))
        return refuse_setting("GRIDDEP_EMULATOR_SCHEDULE", text);
    errno = 0;
    settings->seed = strtoull(text + 7, &end, 0);
    return (!errno && !*end) || refuse_setting("GRIDDEP_EMULATOR_SCHEDULE", text);
}

/* A chip for each device: a list of chips, or a number of devices of the one that
 * GRIDDEP_EMULATOR_CHIP names. */
static bool read_devices(gd_settings *settings)
{
    const char *chip = gd_environment("GRIDDEP_EMULATOR_CHIP"),
               *text = gd_environment("GRIDDEP_EMULATOR_DEVICES");
    const gd_profile *profile = chip ? find_profile(chip, strlen(chip)) : profiles;
    uint64_t count;

    if (!profile)
        return refuse_setting("GRIDDEP_EMULATOR_CHIP", chip);
    if (!text || isdigit((unsigned char)*text)) {
        if (!read_number("GRIDDEP_EMULATOR_DEVICES", 1, GD_MOST_DEVICES, 1, &count))
            return false;
        for (settings->devices = 0; settings->devices < count; settings->devices++)
            settings->chips[settings->devices] = profile;
        return true;
    }
    for (const char *at = text;; at++) {
        const size_t length = strcspn(at, ",");
        profile = find_profile(at, length);
        if (!profile || settings->devices == GD_MOST_DEVICES)
            return refuse_setting("GRIDDEP_EMULATOR_DEVICES", text);
        settings->chips[settings->devices++] = profile;
        at += length;
        if (!*at)
            return true;
    }
}

static bool read_model(gd_settings *settings)
{
    const char *text = gd_environment("GRIDDEP_EMULATOR_MODEL");

    settings->model = text && !strcmp(text, "observed") ? GD_MODEL_OBSERVED : GD_MODEL_CONTRACT;
    return !text || settings->model == GD_MODEL_OBSERVED || !strcmp(text, "contract") ||
           refuse_setting("GRIDDEP_EMULATOR_MODEL", text);
}

/* "off", "all", or names with commas between them. */
static bool read_checks(gd_settings *settings)
{
    static const struct {
        const char *name;
        uint32_t checks;
    } names[] = {{"off", 0},
                 {"all", GD_CHECK_ALL},
                 {"race", GD_CHECK_RACE},
                 {"shared", GD_CHECK_SHARED},
                 {"initialized", GD_CHECK_INITIALIZED},
                 {"leak", GD_CHECK_LEAK}};
    const char *text = gd_environment("GRIDDEP_EMULATOR_CHECK");

    for (const char *at = text; at && *at; at += *at == ',') {
        size_t length = strcspn(at, ","), i = 0, count = sizeof names / sizeof *names;
        while (i < count &&
               (strlen(names[i].name) != length || strncmp(names[i].name, at, length) != 0))
            i++;
        if (i == count)
            return refuse_setting("GRIDDEP_EMULATOR_CHECK", text);
        settings->checks |= names[i].checks;
        at += length;
    }
    return true;
}

static bool read_report(gd_settings *settings)
{
    const char *path = gd_environment("GRIDDEP_EMULATOR_REPORT");

    settings->report = path ? strdup(path) : NULL;
    return !path || settings->report;
}

static bool read_log(gd_settings *settings)
{
    const char *level = gd_environment("GRIDDEP_LOG");

    settings->log.level = level ? gd_log_level_find(level) : GRIDDEP_LOG_NONE;
    settings->log.function = settings->log.level > 0 ? gd_log_stderr : NULL;
    return settings->log.level >= 0 || refuse_setting("GRIDDEP_LOG", level);
}

static bool check_names(void)
{
    char text[512];

    return gd_environment_check(text, sizeof text) || refuse_start(text);
}

static bool read_settings(gd_settings *settings)
{
    uint64_t multiprocessors;
    bool done = check_names() && read_log(settings) &&
                read_number("GRIDDEP_EMULATOR_MULTIPROCESSORS", 1, MOST_MULTIPROCESSORS, 4,
                            &multiprocessors) &&
                read_number("GRIDDEP_EMULATOR_MEMORY", 1 << 20, UINT64_C(1) << 40,
                            UINT64_C(4) << 30, &settings->memory) &&
                read_number("GRIDDEP_EMULATOR_STEPS", 0, UINT64_MAX >> 1, UINT64_C(1) << 32,
                            &settings->steps) &&
                read_devices(settings) && read_schedule(settings) && read_model(settings) &&
                read_checks(settings);

    if (done)
        settings->multiprocessors = (uint32_t)multiprocessors;
    return done;
}

static void forget_shadow(void *race, gd_shadow *shadow)
{
    gd_shadow_destroy(race, shadow);
}

/* The race detector, where something is asked of it. */
static bool make_race(gd_emulator *emulator)
{
    const uint32_t checks = emulator->settings.checks;
    const gd_race_options options = {.global = checks & GD_CHECK_RACE,
                                     .shared = checks & GD_CHECK_SHARED,
                                     .initialized = checks & GD_CHECK_INITIALIZED,
                                     .observed = emulator->settings.model == GD_MODEL_OBSERVED,
                                     .several = emulator->settings.devices > 1,
                                     .sink = gd_report_race,
                                     .fold = gd_report_fold};

    if (!(checks & (GD_CHECK_RACE | GD_CHECK_SHARED | GD_CHECK_INITIALIZED)))
        return true;
    emulator->race = gd_race_create(&options);
    if (emulator->race)
        gd_memory_on_forget(emulator->memory, forget_shadow, emulator->race);
    return emulator->race;
}

static void end_devices(gd_emulator *emulator)
{
    for (uint32_t i = 0; i < emulator->device_count; i++)
        gd_object_remove(&emulator->devices[i].default_pool);
    free(emulator->devices);
    emulator->devices = NULL;
    emulator->device_count = 0;
}

static bool make_devices(gd_emulator *emulator)
{
    const uint32_t count = emulator->settings.devices;

    emulator->devices = calloc(count, sizeof *emulator->devices);
    for (uint32_t i = 0; emulator->devices && i < count; i++) {
        gd_device *device = &emulator->devices[i];
        device->number = (gd_CUdevice)i;
        device->chip = emulator->settings.chips[i];
        device->bank = (gd_bank){.device = i, .limit = emulator->settings.memory};
        if (!gd_object_add(&device->default_pool, GD_OBJECT_POOL, NULL))
            break;
        emulator->device_count++;
    }
    return emulator->device_count == count;
}

gd_CUresult gd_cuInit(unsigned int flags)
{
    gd_emulator *emulator = &gd_the_emulator;

    if (flags)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (gd_call_is_child())
        return gd_device_refuse(
            GD_CUDA_ERROR_NOT_INITIALIZED,
            "the process was forked after cuInit, and the driver cannot be used in the child");
    if (emulator->initialized)
        return GD_CUDA_SUCCESS;
    if (!gd_call_watch_forks())
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (!read_settings(&emulator->settings)) {
        emulator->settings = (gd_settings){0};
        return GD_CUDA_ERROR_INVALID_VALUE;
    }
    emulator->process = (int)getpid();
    emulator->memory = gd_memory_create();
    if (emulator->memory && read_report(&emulator->settings) && make_race(emulator) &&
        make_devices(emulator)) {
        gd_report_begin(emulator->settings.checks, emulator->settings.report,
                        emulator->device_count > 1);
        emulator->initialized = true;
        return GD_CUDA_SUCCESS;
    }
    end_devices(emulator);
    gd_memory_destroy(emulator->memory);
    gd_race_destroy(emulator->race);
    free(emulator->settings.report);
    emulator->memory = NULL;
    emulator->race = NULL;
    emulator->settings = (gd_settings){0};
    return GD_CUDA_ERROR_OUT_OF_MEMORY;
}

/* ---- the end ---- */

/* Nothing that is still queued runs now, and what is left is no leak: the program may well rely on
 * its end. */
static void end_contexts(void)
{
    uint32_t place = 0;

    for (gd_object *object; (object = gd_object_next(&place));) {
        if (object->kind != GD_OBJECT_CONTEXT)
            continue;
        gd_context *context = (gd_context *)object;
        context->fault = GD_CUDA_ERROR_DEINITIALIZED;
        gd_schedule_cancel(context);
        gd_context_destroy(context);
    }
}

/* What belongs to no context. A graph that is a node of another goes with that one. */
static void end_others(void)
{
    uint32_t place = 0;

    gd_object *object;
    while ((object = gd_object_next(&place))) {
        if (object->kind == GD_OBJECT_GRAPH && !((gd_graph *)object)->child)
            gd_graph_destroy((gd_graph *)object);
        else if (object->kind == GD_OBJECT_LIBRARY)
            gd_library_destroy(object);
    }
    for (place = 0; (object = gd_object_next(&place));) {
        if (object->kind == GD_OBJECT_USER) {
            gd_object_remove(object);
            free(object);
        }
    }
}

static void end_emulator(gd_emulator *emulator)
{
    emulator->ends = true;
    end_contexts();
    end_others();
    gd_grid_free_machine();
    gd_ownership_free();
    gd_memory_destroy(emulator->memory);
    gd_virtual_end();
    gd_race_destroy(emulator->race);
    gd_object_free_table();
    free(emulator->settings.report);
    free(emulator->devices);
    *emulator = (gd_emulator){0};
}

static void end_report(const gd_emulator *emulator)
{
    static const char *const schedules[] = {"eager", "lazy", "random"}, *const models[] = {
                                                                            "contract", "observed"};
    const uint64_t left = gd_schedule_launches_left();

    gd_report_end(&(gd_report_run){.launches = gd_schedule_launches() - left,
                                   .left = left,
                                   .refused = *emulator->refused ? emulator->refused : NULL,
                                   .schedule = schedules[emulator->settings.schedule],
                                   .model = models[emulator->settings.model],
                                   .seed = emulator->settings.seed});
}

/* A child of fork has a copy of all this, and perhaps of a lock that nobody will give back: it
 * leaves it alone. While another thread is inside of the driver, which it may never leave, there is
 * nothing that could be taken away safely. From within a host function the driver is in use by this
 * very thread. */
__attribute__((destructor)) static void end(void)
{
    gd_emulator *emulator = &gd_the_emulator;

    if (!emulator->initialized || emulator->process != getpid())
        return;
    switch (gd_call_end_all()) {
    case GD_END_BUSY:
        return;
    case GD_END_INSIDE:
        end_report(emulator);
        return;
    default:
        gd_call_stop_hosts();
        end_report(emulator);
        end_emulator(emulator);
        pthread_mutex_unlock(&gd_call_mutex);
    }
}

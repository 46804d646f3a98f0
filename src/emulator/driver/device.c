/* The emulated devices: settings, lock, attributes, errors as words, and the entry points cuInit,
 * cuDevice*, cuGetError*. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/format.h"
#include "base/text.h"
#include "emulator/api.h"
#include "emulator/schedule/host.h"
#include "emulator/schedule/schedule.h"
#include "emulator/execute/report.h"

enum { MOST_MULTIPROCESSORS = 1024, WORDS_BYTES = 64 };

static bool has_ended;
static bool
    is_child; /* of a process that had called cuInit, by fork: its driver is not usable here */

/* Why the last call of a thread that ended with this result was refused. */
static __thread struct {
    gd_CUresult result;
    bool fresh; /* by the call that is being carried out */
    char text[768];
} refusal;

/* ---- lock ---- */

gd_CUresult gd_call_begin(gd_call_need need, gd_context **context)
{
    bool destroyed = false;

    *context = NULL;
    if (gd_call_is_inside())
        return GD_CUDA_ERROR_NOT_PERMITTED;
    pthread_mutex_lock(&gd_call_mutex);
    gd_call_count();
    if (need == GD_NEED_LIVE && gd_the_emulator.initialized && !has_ended && !is_child)
        gd_schedule_relieve();
    refusal.fresh = false;
    gd_CUresult result = GD_CUDA_SUCCESS;
    if (has_ended)
        result = GD_CUDA_ERROR_DEINITIALIZED;
    else if (need >= GD_NEED_INIT && (!gd_the_emulator.initialized || is_child))
        result = GD_CUDA_ERROR_NOT_INITIALIZED;
    if (result == GD_CUDA_SUCCESS)
        *context = gd_context_current(&destroyed);
    if (result == GD_CUDA_SUCCESS && need >= GD_NEED_CONTEXT && !*context)
        result = destroyed ? GD_CUDA_ERROR_CONTEXT_IS_DESTROYED : GD_CUDA_ERROR_INVALID_CONTEXT;
    if (result == GD_CUDA_SUCCESS && need == GD_NEED_LIVE)
        result = (*context)->fault;
    if (result != GD_CUDA_SUCCESS)
        pthread_mutex_unlock(&gd_call_mutex);
    return result;
}

void gd_call_end(void)
{
    pthread_mutex_unlock(&gd_call_mutex);
}

/* A call that only looks something up takes less than a second. */
gd_end gd_call_end_all(void)
{
    struct timespec limit;

    if (gd_call_is_inside())
        return GD_END_INSIDE;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec++;
    if (pthread_mutex_timedlock(&gd_call_mutex, &limit) != 0)
        return GD_END_BUSY;
    if (gd_call_runs_host()) {
        pthread_mutex_unlock(&gd_call_mutex);
        return GD_END_BUSY;
    }
    has_ended = true;
    return GD_END_DONE;
}

/* Here, where every program that is linked with the emulator has it. */
__attribute__((destructor)) static void end(void)
{
    gd_device_end();
}

/* ---- messages ---- */

void gd_device_log(int32_t level, const char *format, ...)
{
    char message[2048];
    va_list list;

    va_start(list, format);
    gd_format_list(message, sizeof message, format, list);
    va_end(list);
    if (!gd_the_emulator.initialized) { /* a call before cuInit */
        const char *word = gd_environment("GRIDDEP_LOG");
        const int32_t most = word ? gd_log_level_find(word) : GRIDDEP_LOG_NONE;
        gd_the_emulator.settings.log = (gd_log){most > 0 ? gd_log_stderr : NULL, NULL, most};
    }
    gd_log_write(&gd_the_emulator.settings.log, level, "emulator: %s", message);
}

void gd_device_fault(gd_context *context, gd_CUresult result, const char *text)
{
    context->fault = result;
    gd_the_emulator.last_fault = result;
    snprintf(gd_the_emulator.fault_text, sizeof gd_the_emulator.fault_text, "%s", text);
    gd_device_log(GRIDDEP_LOG_ERROR, "%s: %s", gd_device_result_name(result), text);
}

gd_CUresult gd_device_refuse(gd_CUresult result, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    gd_format_list(refusal.text, sizeof refusal.text, format, list);
    va_end(list);
    refusal.result = result;
    refusal.fresh = true;
    return result;
}

bool gd_device_has_reason(gd_CUresult result)
{
    return refusal.fresh && refusal.result == result;
}

gd_CUresult gd_device_unsupported(const char *what)
{
    return gd_device_refuse(GD_CUDA_ERROR_NOT_SUPPORTED, "%s is not emulated", what);
}

/* Whether this is the first time; what there is no room to remember counts as new. */
static bool is_new_refusal(const char *function)
{
    static uint64_t said[1024];
    static size_t count;
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (const char *at = function; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    for (const char *at = refusal.text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < count; i++) {
        if (said[i] == hash)
            return false;
    }
    if (count < sizeof said / sizeof *said)
        said[count++] = hash;
    return true;
}

void gd_call_tell(const char *function, gd_CUresult result)
{
    const bool told = gd_device_has_reason(result),
               named = !strncmp(refusal.text, function, strlen(function));
    const char *prefix = named ? "" : function, *colon = named ? "" : ": ";

    if (result == GD_CUDA_SUCCESS || result == GD_CUDA_ERROR_NOT_READY)
        return;
    if (told && !*gd_the_emulator.refused)
        snprintf(gd_the_emulator.refused, sizeof gd_the_emulator.refused, "%s%s%s", prefix, colon,
                 refusal.text);
    if (!told && refusal.result == result)
        refusal.result = GD_CUDA_SUCCESS;
    if (!told)
        gd_device_log(GRIDDEP_LOG_INFO, "%s returns %s", function, gd_device_result_name(result));
    else if (is_new_refusal(function))
        gd_device_log(GRIDDEP_LOG_WARNING, "%s%s%s: %s", prefix, colon, refusal.text,
                      gd_device_result_name(result));
}

/* ---- results as words ---- */

typedef struct result_words {
    gd_CUresult result;
    const char *name;
    char words[WORDS_BYTES]; /* made of the name */
} result_words;

static result_words results[] = {
#define GD_RESULT(name, value, status) {value, #name, ""},
#include "cuda/abi_errors.def"
#undef GD_RESULT
};

static result_words *find_result(gd_CUresult result)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        if (results[i].result == result)
            return &results[i];
    }
    return NULL;
}

const char *gd_device_result_name(gd_CUresult result)
{
    const result_words *found = find_result(result);

    return found ? found->name : NULL;
}

/* CUDA_ERROR_ILLEGAL_ADDRESS reads "illegal address"; refusals and the last fault have texts of
 * their own. The program reads them without the lock, so words are written once, and a fault's text
 * is the thread's copy. */
static const char *describe(result_words *entry)
{
    static __thread char told[sizeof gd_the_emulator.fault_text];
    const char *name = entry->name + strlen("CUDA_");

    if (entry->result != GD_CUDA_SUCCESS && entry->result == refusal.result)
        return refusal.text;
    if (entry->result != GD_CUDA_SUCCESS && entry->result == gd_the_emulator.last_fault)
        return memcpy(told, gd_the_emulator.fault_text, sizeof told);
    if (!strncmp(name, "ERROR_", 6))
        name += 6;
    for (size_t i = 0; !entry->words[i] && i < WORDS_BYTES - 1 && name[i]; i++)
        entry->words[i] = name[i] == '_' ? ' ' : (char)tolower((unsigned char)name[i]);
    return entry->words;
}

static gd_CUresult tell_result(gd_CUresult result, const char **text, bool words)
{
    result_words *found = find_result(result);

    if (!text)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *text = !found ? NULL : words ? describe(found) : found->name;
    return found ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_VALUE;
}

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

gd_device *gd_device_find(gd_CUdevice number)
{
    return number >= 0 && (uint32_t)number < gd_the_emulator.device_count
               ? &gd_the_emulator.devices[number]
               : NULL;
}

bool gd_device_is_peer(const gd_device *device, const gd_device *peer)
{
    return device != peer && device->chip == peer->chip;
}

/* A setting that cannot be read: false. */
static bool refuse_setting(const char *name, const char *text)
{
    gd_device_refuse(GD_CUDA_ERROR_INVALID_VALUE, "%s is \"%s\"; it may be %s", name, text,
                     gd_environment_values(name));
    gd_text_clean(refusal.text);
    return false;
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

    if (gd_environment_check(text, sizeof text))
        return true;
    gd_device_refuse(GD_CUDA_ERROR_INVALID_VALUE, "%s", text);
    gd_text_clean(refusal.text);
    return false;
}

/* A program that does not ask for the reason of an error gets it on stderr: what it ran without
 * checks, it must not take for checked. */
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
    else
        fprintf(stderr, "griddep: the emulated driver does not start: %s\n", refusal.text);
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

/* A child of fork has none of the other threads, one of which may have had the lock; nothing is
 * used that it guards. */
static void enter_child(void)
{
    pthread_mutex_init(&gd_call_mutex, NULL);
    gd_call_forget_hosts();
    is_child = gd_the_emulator.initialized;
}

static gd_CUresult initialize(unsigned flags)
{
    static bool prepared;
    gd_emulator *emulator = &gd_the_emulator;

    if (flags)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (is_child)
        return gd_device_refuse(
            GD_CUDA_ERROR_NOT_INITIALIZED,
            "the process was forked after cuInit, and the driver cannot be used in the child");
    if (emulator->initialized)
        return GD_CUDA_SUCCESS;
    if (!prepared && pthread_atfork(NULL, NULL, enter_child))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    prepared = true;
    if (!read_settings(&emulator->settings)) {
        emulator->settings = (gd_settings){0};
        return GD_CUDA_ERROR_INVALID_VALUE;
    }
    emulator->process = (int)getpid();
    emulator->memory = gd_memory_create();
    if (emulator->memory && read_report(&emulator->settings) && make_race(emulator) &&
        make_devices(emulator)) {
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

/* ---- attributes ---- */

/* What is a setting, or the chip's; 0 of other attributes. */
static int get_setting(const gd_device *device, gd_CUdevice_attribute attribute)
{
    const gd_profile *chip = device->chip;

    switch (attribute) {
    case GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return (int)gd_the_emulator.settings.multiprocessors;
    case GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return (int)chip->capability / 10;
    case GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return (int)chip->capability % 10;
    case GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
        return (int)chip->threads;
    case GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
        return (int)chip->ctas;
    case GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
        return (int)chip->shared_bytes;
    case GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        return (int)chip->block_shared_bytes;
    default:
        return 0;
    }
}

bool gd_device_attribute(const gd_device *device, gd_CUdevice_attribute attribute, int *value)
{
    static const struct {
        gd_CUdevice_attribute attribute;
        int value;
    } fixed[] = {
        {GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, GD_DEVICE_THREADS},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, GD_CHIP_BLOCK_X},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, GD_CHIP_BLOCK_Y},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, GD_CHIP_BLOCK_Z},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, GD_CHIP_GRID_X},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, GD_CHIP_GRID_Y},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, GD_CHIP_GRID_Z},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, GD_DEVICE_SHARED},
        {GD_CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
        {GD_CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
        {11 /* MAX_PITCH */, INT32_MAX},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, GD_DEVICE_REGISTERS},
        {GD_CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
         1000000}, /* kHz: a cycle of the model is a nanosecond */
        {14 /* TEXTURE_ALIGNMENT */, GD_DEVICE_TEXTURE_ALIGNMENT},
        {15 /* GPU_OVERLAP */, 1},
        {19 /* CAN_MAP_HOST_MEMORY */, 1},
        {21 /* MAXIMUM_TEXTURE1D_WIDTH */, GD_DEVICE_TEXTURE_1D_WIDTH},
        {22 /* MAXIMUM_TEXTURE2D_WIDTH */, GD_DEVICE_TEXTURE_2D_WIDTH},
        {23 /* MAXIMUM_TEXTURE2D_HEIGHT */, GD_DEVICE_TEXTURE_2D_HEIGHT},
        {30 /* SURFACE_ALIGNMENT */, 512},
        {GD_CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
        {GD_CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
        {GD_CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120},
        {GD_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 52428800},
        {GD_CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
        {GD_CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
        {51 /* TEXTURE_PITCH_ALIGNMENT */, GD_DEVICE_TEXTURE_PITCH_ALIGNMENT},
        {69 /* MAXIMUM_TEXTURE1D_LINEAR_WIDTH */, GD_DEVICE_TEXTURE_LINEAR_WIDTH},
        {70 /* MAXIMUM_TEXTURE2D_LINEAR_WIDTH */, GD_DEVICE_TEXTURE_PITCHED_WIDTH},
        {71 /* MAXIMUM_TEXTURE2D_LINEAR_HEIGHT */, GD_DEVICE_TEXTURE_PITCHED_HEIGHT},
        {72 /* MAXIMUM_TEXTURE2D_LINEAR_PITCH */, GD_DEVICE_TEXTURE_PITCH},
        {GD_CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
        {GD_CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
        {GD_CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, GD_DEVICE_REGISTERS},
        {GD_CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
        {GD_CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1},
        {91 /* CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM */, 1},
        {GD_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
        {99 /* HOST_REGISTER_SUPPORTED */, 1},
        {GD_CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 134213632},
        {102 /* VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED */, 1},
        {103 /* HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED */, 1},
        {GD_CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, GD_DEVICE_SHARED_RESERVED},
        {GD_CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
        {GD_CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1},
        {GD_CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 4},
    };

    if (attribute <= 0 || attribute > 147)
        return false;
    *value = get_setting(device, attribute);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        if (fixed[i].attribute == attribute)
            *value = fixed[i].value;
    }
    return true;
}

static gd_CUresult check(const void *output, gd_CUdevice device)
{
    if (!output)
        return GD_CUDA_ERROR_INVALID_VALUE;
    return gd_device_find(device) ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_DEVICE;
}

static gd_CUresult get_attribute(int *value, gd_CUdevice_attribute attribute, gd_CUdevice device)
{
    gd_CUresult result = check(value, device);
    int found;

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!gd_device_attribute(gd_device_find(device), attribute, &found))
        return GD_CUDA_ERROR_INVALID_VALUE;
    *value = found;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult get_uuid(gd_CUuuid *uuid, gd_CUdevice device)
{
    gd_CUresult result = check(uuid, device);

    if (result != GD_CUDA_SUCCESS)
        return result;
    memcpy(uuid->bytes, GD_EMULATED_UUID, sizeof uuid->bytes);
    uuid->bytes[GD_EMULATED_UUID_BYTES] = (char)(uuid->bytes[GD_EMULATED_UUID_BYTES] + device);
    return result;
}

static gd_CUresult get_text(char *text, int capacity, gd_CUdevice device, const char *value)
{
    gd_CUresult result = check(text, device);

    if (result == GD_CUDA_SUCCESS && capacity <= 0)
        result = GD_CUDA_ERROR_INVALID_VALUE;
    if (result == GD_CUDA_SUCCESS)
        snprintf(text, (size_t)capacity, "%s", value);
    return result;
}

static gd_CUresult get_name(char *name, int capacity, gd_CUdevice device)
{
    const gd_device *found = gd_device_find(device);
    char text[32];

    snprintf(text, sizeof text, "Emulated %s", found ? found->chip->name : "");
    return get_text(name, capacity, device, text);
}

/* Each device has a bus of its own. */
static gd_CUresult get_bus(char *bus, int capacity, gd_CUdevice device)
{
    char text[32];

    snprintf(text, sizeof text, "0000:%02x:00.0", (unsigned)device & 0xff);
    return get_text(bus, capacity, device, text);
}

static gd_CUresult find_bus(gd_CUdevice *device, const char *text)
{
    unsigned domain = 0, bus = 0, slot = 0;

    if (!device || !text)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (sscanf(text, "%x:%x:%x", &domain, &bus, &slot) < 2 || domain ||
        bus >= gd_the_emulator.device_count || slot)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    *device = (gd_CUdevice)bus;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult can_access_peer(int *can, gd_CUdevice device, gd_CUdevice peer)
{
    gd_CUresult result = check(can, device);

    if (result == GD_CUDA_SUCCESS)
        result = check(can, peer);
    if (result == GD_CUDA_SUCCESS)
        *can = gd_device_is_peer(gd_device_find(device), gd_device_find(peer));
    return result;
}

/* NVLink between two of one kind, with atomic operations. */
static gd_CUresult get_peer_fact(int *value, gd_CUdevice_P2PAttribute attribute, gd_CUdevice number,
                                 gd_CUdevice peer_number)
{
    enum { RANK = 1, ARRAYS = 4 }; /* between them access, and atomic operations */
    const gd_device *device = gd_device_find(number), *peer = gd_device_find(peer_number);

    if (!value || attribute < RANK || attribute > ARRAYS)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!device || !peer || device == peer)
        return GD_CUDA_ERROR_INVALID_DEVICE;
    *value = attribute == RANK || attribute == ARRAYS ? 0 : gd_device_is_peer(device, peer);
    return GD_CUDA_SUCCESS;
}

#define SET(pointer, device, value)                                                                \
    (check((pointer), (device)) ? check((pointer), (device))                                       \
                                : (*(pointer) = (value), GD_CUDA_SUCCESS))

/* ---- entry points ---- */

gd_CUresult cuInit(unsigned int flags)
{
    GD_CALL(GD_NEED_NOTHING, initialize(flags));
}

gd_CUresult cuDriverGetVersion(int *version)
{
    GD_CALL(GD_NEED_NOTHING, version ? (*version = GD_DEVICE_DRIVER_VERSION, GD_CUDA_SUCCESS)
                                     : GD_CUDA_ERROR_INVALID_VALUE);
}

gd_CUresult cuGetErrorName(gd_CUresult error, const char **name)
{
    return tell_result(error, name, false);
}

gd_CUresult cuGetErrorString(gd_CUresult error, const char **text)
{
    GD_CALL(GD_NEED_NOTHING, tell_result(error, text, true));
}

gd_CUresult cuDeviceGetCount(int *count)
{
    GD_CALL(GD_NEED_INIT, SET(count, 0, (int)gd_the_emulator.device_count));
}

gd_CUresult cuDeviceGet(gd_CUdevice *device, int ordinal)
{
    GD_CALL(GD_NEED_INIT, SET(device, ordinal, ordinal));
}

gd_CUresult cuDeviceGetName(char *name, int capacity, gd_CUdevice device)
{
    GD_CALL(GD_NEED_INIT, get_name(name, capacity, device));
}

gd_CUresult cuDeviceGetAttribute(int *value, gd_CUdevice_attribute attribute, gd_CUdevice device)
{
    GD_CALL(GD_NEED_INIT, get_attribute(value, attribute, device));
}

gd_CUresult cuDeviceTotalMem_v2(size_t *bytes, gd_CUdevice device)
{
    GD_CALL(GD_NEED_INIT, SET(bytes, device, gd_the_emulator.settings.memory));
}

gd_CUresult cuDeviceComputeCapability(int *major, int *minor, gd_CUdevice device)
{
    GD_CALL(GD_NEED_INIT, !minor ? GD_CUDA_ERROR_INVALID_VALUE
                                 : SET(major, device,
                                       (*minor = (int)gd_device_find(device)->chip->capability % 10,
                                        (int)gd_device_find(device)->chip->capability / 10)));
}

gd_CUresult cuDeviceGetUuid(gd_CUuuid *uuid, gd_CUdevice device)
{
    GD_CALL(GD_NEED_INIT, get_uuid(uuid, device));
}

gd_CUresult cuDeviceGetUuid_v2(gd_CUuuid *uuid, gd_CUdevice device)
{
    GD_CALL(GD_NEED_INIT, get_uuid(uuid, device));
}

gd_CUresult cuDeviceGetPCIBusId(char *text, int capacity, gd_CUdevice device)
{
    GD_CALL(GD_NEED_INIT, get_bus(text, capacity, device));
}

gd_CUresult cuDeviceGetByPCIBusId(gd_CUdevice *device, const char *text)
{
    GD_CALL(GD_NEED_INIT, find_bus(device, text));
}

gd_CUresult cuDeviceCanAccessPeer(int *can, gd_CUdevice device, gd_CUdevice peer)
{
    GD_CALL(GD_NEED_INIT, can_access_peer(can, device, peer));
}

gd_CUresult cuDeviceGetP2PAttribute(int *value, gd_CUdevice_P2PAttribute attribute,
                                    gd_CUdevice source, gd_CUdevice target)
{
    GD_CALL(GD_NEED_INIT, get_peer_fact(value, attribute, source, target));
}

gd_CUresult cuDeviceGetDefaultMemPool(gd_CUmemoryPool *pool, gd_CUdevice device)
{
    GD_CALL(GD_NEED_INIT, SET(pool, device, gd_device_find(device)->default_pool.handle));
}

gd_CUresult cuDeviceGetMemPool(gd_CUmemoryPool *pool, gd_CUdevice device)
{
    GD_CALL(GD_NEED_INIT, !gd_device_find(device)
                              ? GD_CUDA_ERROR_INVALID_VALUE
                              : SET(pool, device, gd_device_find(device)->default_pool.handle));
}

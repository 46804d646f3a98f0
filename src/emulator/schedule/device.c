/* The emulated devices and what they share: the state, its lock, the log, faults, attributes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/environment.h"
#include "base/format.h"
#include "emulator/schedule/device.h"

gd_emulator gd_the_emulator;
pthread_mutex_t gd_call_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Held by the one thread that takes the lock next. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static atomic_uint waiting;

void gd_call_lock(void)
{
    atomic_fetch_add_explicit(&waiting, 1, memory_order_relaxed);
    pthread_mutex_lock(&turn);
    pthread_mutex_lock(&gd_call_mutex);
    pthread_mutex_unlock(&turn);
    atomic_fetch_sub_explicit(&waiting, 1, memory_order_relaxed);
}

bool gd_call_is_wanted(void)
{
    return atomic_load_explicit(&waiting, memory_order_relaxed) != 0;
}

bool gd_call_try_lock(const struct timespec *until)
{
    if (pthread_mutex_timedlock(&turn, until) != 0)
        return false;
    const bool locked = pthread_mutex_timedlock(&gd_call_mutex, until) == 0;
    pthread_mutex_unlock(&turn);
    return locked;
}

void gd_call_let_others_in(void)
{
    pthread_mutex_unlock(&gd_call_mutex);
    gd_call_lock();
}

void gd_call_renew_lock(void)
{
    atomic_store(&waiting, 0);
    pthread_mutex_init(&turn, NULL);
    pthread_mutex_init(&gd_call_mutex, NULL);
}

static __thread bool in_callback;

bool gd_call_is_inside(void)
{
    return in_callback;
}

void gd_call_enter_callback(void)
{
    in_callback = true;
}

void gd_call_leave_callback(void)
{
    in_callback = false;
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

/* ---- log ---- */

const char *gd_device_result_name(gd_CUresult result)
{
    static const struct {
        gd_CUresult result;
        const char *name;
    } names[] = {
#define GD_RESULT(name, value, status) {value, #name},
#include "cuda/abi_errors.def"
#undef GD_RESULT
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].result == result)
            return names[i].name;
    }
    return NULL;
}

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

/* The emulated devices, and the state of the driver that they share: settings, lock, address space,
 * model time, faults. Settings are read from the environment at cuInit (base/environment.def;
 * doc/emulator.md tells what they mean).
 *
 * What belongs to a device is reached through it, and a context has its device: no code asks for
 * "the" device. One address space has the memory of all devices (unified addressing), one queue has
 * the work of all, and one race detector sees all accesses. */
#ifndef GD_EMULATOR_SCHEDULE_DEVICE_H
#define GD_EMULATOR_SCHEDULE_DEVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/chip.h"
#include "base/log.h"
#include "cuda/abi.h"
#include "emulator/machine/machine.h"
#include "emulator/schedule/object.h"
#include "emulator/race/race.h"

typedef enum gd_schedule_kind {
    GD_SCHEDULE_EAGER,
    GD_SCHEDULE_LAZY,
    GD_SCHEDULE_RANDOM
} gd_schedule_kind;
typedef enum gd_schedule_model { GD_MODEL_CONTRACT, GD_MODEL_OBSERVED } gd_schedule_model;

/* What the chips differ by. */
typedef struct gd_profile {
    const char *name; /* "sm_90" */
    uint32_t capability;
    uint32_t shared_bytes, threads, ctas; /* of a multiprocessor */
    uint32_t block_shared_bytes;          /* after opting in */
} gd_profile;

enum { GD_MOST_DEVICES = 64 };

typedef struct gd_settings {
    const gd_profile *chips[GD_MOST_DEVICES]; /* of the devices */
    uint32_t devices;
    uint32_t multiprocessors; /* of each device */
    uint64_t memory;          /* likewise, in bytes */
    gd_schedule_kind schedule;
    uint64_t seed;
    gd_schedule_model model;
    uint64_t steps;
    uint32_t checks; /* GD_CHECK_* (machine/report.h) */
    char *report;    /* owned; NULL: stderr */
    gd_log log;
} gd_settings;

/* Limits that all profiles share (CUDA programming guide, Technical Specifications per Compute
 * Capability); the driver API's of textures are an H200's. */
enum {
    GD_DEVICE_DRIVER_VERSION = 13000,
    GD_DEVICE_PTX_VERSION = 90,          /* newest .version */
    GD_DEVICE_THREADS = GD_CHIP_THREADS, /* of a CTA */
    GD_DEVICE_REGISTERS = 65536,
    GD_DEVICE_SHARED = GD_CHIP_SHARED,
    GD_DEVICE_SHARED_RESERVED = 1024,
    GD_DEVICE_TEXTURE_ALIGNMENT = 512,
    GD_DEVICE_TEXTURE_PITCH_ALIGNMENT = 32,
    GD_DEVICE_TEXTURE_1D_WIDTH = 131072, /* in texels */
    GD_DEVICE_TEXTURE_2D_WIDTH = 131072,
    GD_DEVICE_TEXTURE_2D_HEIGHT = 65536,
    GD_DEVICE_TEXTURE_LINEAR_WIDTH = 1 << 28,
    GD_DEVICE_TEXTURE_PITCHED_WIDTH = 131072,
    GD_DEVICE_TEXTURE_PITCHED_HEIGHT = 65000,
    GD_DEVICE_TEXTURE_PITCH = 2097120, /* in bytes */
    GD_DEVICE_CLUSTER = GD_CHIP_PORTABLE_CLUSTER,
    GD_DEVICE_CLUSTER_NON_PORTABLE = GD_CHIP_LARGEST_CLUSTER,
    GD_DEVICE_LOWEST_PRIORITY = 0,
    GD_DEVICE_GREATEST_PRIORITY = -5
};

typedef struct gd_context gd_context;
typedef struct gd_stream gd_stream;

/* What no device shares with another. */
typedef struct gd_device {
    gd_CUdevice number;
    const gd_profile *chip;
    gd_bank bank; /* its memory */
    struct gd_multiprocessor
        *multiprocessors; /* of settings.multiprocessors; NULL: none was used */
    gd_context *primary;
    unsigned primary_retains;
    unsigned primary_flags;
    gd_object default_pool;
} gd_device;

struct gd_context {
    gd_object object;
    gd_device *device;
    gd_owner owner; /* of what is allocated in it; whose memory its kernels reach */
    unsigned flags;
    bool primary;
    uint64_t id;
    gd_CUresult fault; /* sticky: what a kernel did ended the context's usefulness */
    gd_stream *legacy, *per_thread;
    uint64_t limits[10]; /* by CU_LIMIT_* */
    int32_t cache;       /* CUfunc_cache */
    gd_heap heap;        /* of kernels; its limit is CU_LIMIT_MALLOC_HEAP_SIZE */
};

typedef struct gd_emulator {
    bool initialized;
    bool ends;   /* the emulator ends, in a process that may have unloaded the program's code */
    int process; /* that called cuInit: a child of fork is another */
    gd_settings settings;
    gd_device *devices;
    uint32_t device_count;
    gd_memory *memory; /* the address space */
    gd_race *race;     /* NULL: accesses are not checked */
    uint64_t now;      /* model time in nanoseconds that the host has seen pass */
    uint64_t next_id;
    uint32_t modules; /* that have been loaded: their numbers in reports */
    gd_CUresult last_fault;
    char fault_text[768]; /* of last_fault */
    char refused[1024]; /* the first refusal of the process, for the report: the entry point and the
                 * reason */
} gd_emulator;

extern gd_emulator gd_the_emulator;

/* The driver's lock: each call holds it (driver/call.h). It is taken by the functions below alone
 * (and by condition variables): they take turns, so that a thread that keeps the driver busy lets
 * in who waits. gd_call_try_lock gives up at the time that it is told (of CLOCK_REALTIME). */
extern pthread_mutex_t gd_call_mutex;
void gd_call_lock(void);
bool gd_call_try_lock(const struct timespec *until);
void gd_call_let_others_in(void);
bool gd_call_is_wanted(void); /* a thread waits for it */

/* In a child of fork: who held the lock is not there any more. */
void gd_call_renew_lock(void);

/* Whether the calling thread is in a function of the program's that the emulator calls. */
bool gd_call_is_inside(void);

/* Around a function of the program that the emulator calls: it may not call the driver
 * (NOT_PERMITTED). */
void gd_call_enter_callback(void);
void gd_call_leave_callback(void);

/* The device of that number; NULL. */
gd_device *gd_device_find(gd_CUdevice number);

/* Whether kernels of a device may be let at memory of another: they are two of one kind. */
bool gd_device_is_peer(const gd_device *device, const gd_device *peer);

/* Writes to the log as GRIDDEP_LOG says. */
void gd_device_log(int32_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes that a kernel has ended a context: logs the text at level error and keeps it for
 * cuGetErrorString. */
void gd_device_fault(gd_context *context, gd_CUresult result, const char *text);

/* "CUDA_ERROR_INVALID_VALUE"; NULL for no result. */
const char *gd_device_result_name(gd_CUresult result);

bool gd_device_attribute(const gd_device *device, gd_CUdevice_attribute attribute, int *value);

#endif

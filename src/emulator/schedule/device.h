/* The emulated devices, and the state of the driver that they share: settings, lock, address space,
 * model time, faults. Settings are read from the environment at cuInit (base/environment.def;
 * doc/emulator.md tells what they mean).
 *
 * What belongs to a device is reached through it, and a context has its device: no code asks for
 * "the" device. One address space has the memory of all devices (unified addressing), one queue has
 * the work of all, and one race detector sees all accesses. */
#ifndef GD_EMULATOR_SCHEDULE_DEVICE_H
#define GD_EMULATOR_SCHEDULE_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

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
    uint32_t checks; /* GD_CHECK_* */
    char *report;    /* owned; NULL: stderr */
    gd_log log;
} gd_settings;

enum {
    GD_CHECK_RACE = 1,
    GD_CHECK_SHARED = 2,
    GD_CHECK_INITIALIZED = 4,
    GD_CHECK_LEAK = 8,
    GD_CHECK_ALL = 15
};

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

/* The device of that number; NULL. */
gd_device *gd_device_find(gd_CUdevice number);

/* Whether kernels of a device may be let at memory of another: they are two of one kind. */
bool gd_device_is_peer(const gd_device *device, const gd_device *peer);

/* What an entry point asks for before it does anything. */
typedef enum gd_call_need {
    GD_NEED_NOTHING,
    GD_NEED_INIT,
    GD_NEED_CONTEXT, /* a current context */
    GD_NEED_LIVE     /* one that no fault has ended */
} gd_call_need;

/* Takes the lock and checks what is needed; the lock is held only after CUDA_SUCCESS. *context is
 * the current one, or NULL. */
gd_CUresult gd_call_begin(gd_call_need need, gd_context **context);
void gd_call_end(void);

/* What a call ended with: the log learns of what it refused. */
void gd_call_tell(const char *function, gd_CUresult result);

/* The body of an entry point: `expression` is evaluated under the lock, with `context` in reach. */
#define GD_CALL(need, expression)                                                                  \
    do {                                                                                           \
        gd_context *context;                                                                       \
        gd_CUresult result_of_call = gd_call_begin(need, &context);                                \
        if (result_of_call == GD_CUDA_SUCCESS) {                                                   \
            (void)context;                                                                         \
            result_of_call = (expression);                                                         \
            gd_call_tell(__func__, result_of_call);                                                \
            gd_call_end();                                                                         \
        }                                                                                          \
        return result_of_call;                                                                     \
    } while (0)

/* Around a function of the program that the emulator calls: it may not call the driver
 * (NOT_PERMITTED). */
void gd_call_enter_callback(void);
void gd_call_leave_callback(void);

/* driver/host.c. Calls a host function, with the lock given back meanwhile: what was read of the
 * driver's state before is to be read anew. */
struct gd_host_work;
void gd_call_host(const struct gd_host_work *host, gd_CUresult status);

/* Whether some thread is in such a call, and waiting until one returns, likewise without the
 * lock. */
bool gd_call_runs_host(void);
void gd_call_wait_host(void);

/* A host function is due, or is to be told of a fault; false when there can be no thread for
 * that. */
bool gd_call_expect_host(void);

/* The program asks whether a host function that is due is over: it waits by asking. */
void gd_call_hurry_host(void);

/* Writes to the log as GRIDDEP_LOG says. */
void gd_device_log(int32_t level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Notes that a kernel has ended a context: logs the text at level error and keeps it for
 * cuGetErrorString. */
void gd_device_fault(gd_context *context, gd_CUresult result, const char *text);

/* The result, of which cuGetErrorString tells the reason in this thread until another call ends
 * with the same result. The log has it at level warning, once, with the name of the entry point. */
gd_CUresult gd_device_refuse(gd_CUresult result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the call that is being carried out has given a reason for this result. */
bool gd_device_has_reason(gd_CUresult result);

/* NOT_SUPPORTED: "WHAT is not emulated". */
gd_CUresult gd_device_unsupported(const char *what);

/* "CUDA_ERROR_INVALID_VALUE"; NULL for no result. */
const char *gd_device_result_name(gd_CUresult result);

bool gd_device_attribute(const gd_device *device, gd_CUdevice_attribute attribute, int *value);

/* context.c: the current context of the calling thread. *destroyed: there is one, but it was
 * destroyed. */
gd_context *gd_context_current(bool *destroyed);

/* Ends a context with all that was made in it. */
void gd_context_destroy(gd_context *context);

/* The end of the process, or of the emulator in it. */
void gd_device_end(void);

/* No entry point does anything any more (CUDA_ERROR_DEINITIALIZED). */
typedef enum gd_end {
    GD_END_DONE,   /* the lock is held */
    GD_END_INSIDE, /* this thread is in a function that the driver calls */
    GD_END_BUSY    /* another thread is, or has the lock and keeps it */
} gd_end;
gd_end gd_call_end_all(void);

#endif

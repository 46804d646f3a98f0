/* griddep.h - programmatic dependent launch (PDL) for PTX.
 *
 * The contract of libgriddep. It needs only <stdint.h> and compiles alone as C11 and as C++17.
 * LuaJIT's ffi.cdef takes what stands between the two marker lines as it is.
 *
 * Conventions, which hold for every declaration that does not say otherwise:
 *
 * Status      A function that can fail returns int32_t: GRIDDEP_OK (0) or a negative
 *             GRIDDEP_ERROR_*. Comments name, without the prefix, those that say something about
 *             the call. ARGUMENT for NULL, SIGNATURE, FAULT and DRIVER may come from any call that
 *             has such an argument or needs the driver.
 * Error       `error` may be NULL. Otherwise its `size` must be set (griddep_error_init does that),
 *             else STRUCT. It is written on failure only.
 * Outputs     are written on success only. On failure they keep the value that they had.
 * Structs     begin with `size`, which the caller sets to sizeof. A larger struct (a newer header)
 *             is accepted when the bytes that this library does not know are zero, one smaller than
 *             its first version is refused: STRUCT. `reserved`, unknown flag bits, and `flags` with
 *             no constants must be zero. Info structs are filled up to the caller's `size`.
 * Options     `options` may be NULL. All zero behind `size` means the defaults too.
 * Lists       are read by index from 0. An index past the last gives NOT_FOUND.
 * Handles     are opaque. The caller owns each object that _create, _open, _load, _compile or
 *             _parse gives, and ends it with _destroy, _close or _unload, which accept NULL: in any
 *             order, on any thread, during a capture and while work runs. An object keeps the
 *             objects that it needs: a module its runtime, a chain its modules. A captured graph
 *             keeps its kernels' modules until it and its copies have ended; the next call in the
 *             runtime unloads them, else the end of the context (before API 12.3, of the runtime).
 * Borrowed    A pointer that is returned or stands in an info struct lives as long as the object
 *             that was asked. What the caller gives is copied, or read during the call. "Static"
 *             text lives for ever.
 * CUDA        CUcontext, CUstream, CUevent and CUfunction travel as void *, device addresses as
 *             uint64_t. A stream may be NULL or CU_STREAM_LEGACY, the legacy default one, or
 *             CU_STREAM_PER_THREAD. Each call runs in the runtime's context and leaves the calling
 *             thread's current context as it was.
 * Threads     A runtime, a module, a kernel, a completion, a group and a parsed PTX module may be
 *             used by several threads at once, a chain, a graph or a timeline by one at a time.
 *             Ending an object while another thread uses that very object is the caller's error.
 * Callbacks   A host function (of a stream, a chain or a graph's node) and a notification
 *             (griddep_stream_notify) run on a thread of the driver, where a call that needs the
 *             driver fails with CALLBACK. Calls that end objects, memory, streams or events
 *             succeed, so a garbage collector may run there; the next call in the runtime completes
 *             them. A callback must not throw, nor leave by longjmp.
 * Cost        Besides its work a call may W: wait for the device, the driver's compiler or a file;
 *             A: allocate memory of the host; L: take a lock of the library's for a moment. The
 *             call's row is the first that fits its name, without griddep_; `*` is any text.
 *             -    version* status_name error_init constant_* mode_find text attribute_* *_count
 *                  shelf_get shelf_find shelf_field chain_length findings_get* explanation_get*
 *                  tune_get_* timeline_get_chain timeline_get_mark ptx_get_info ptx_get_entry
 *                  ptx_get_parameter ptx_get_requirement runtime_get_info module_get_info
 *                  kernel_get_info kernel_get_parameter group_get_info
 *                  group_status
 *             A    ptx_* shelf_suggest findings_destroy explanation_destroy
 *             L    completion_get_descriptor completion_take group_get_address
 *             WAL  runtime_* device_* module_find_kernel module_get_kernel module_* tune_*
 *                  timeline_* host_* memory_*_async memory_* stream_synchronize stream_destroy
 *                  event_synchronize event_elapsed chain_destroy chain_prepare chain_run*
 *                  chain_get_hop chain_explain graph_destroy graph_instantiate graph_launch
 *                  graph_upgrade group_* chain_add_hop
 *             AL   *
 * Process     The library never ends the process, installs no signal handler, and prints nothing
 *             unless asked to (GRIDDEP_LOG). Strings are UTF-8 and end with a zero byte.
 * Positions   `line` and `column` count from 1, columns in bytes; 0: not known. `end_line` and
 *             `end_column` are right behind the last byte.
 */
/* clang-format off: the columns of its lists are set by hand. */
#ifndef GRIDDEP_H
#define GRIDDEP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ffi.cdef begin */

/* ---------------------------------------------------------------------------------------------
 * Version */

enum {
    GRIDDEP_VERSION_MAJOR = 0,
    GRIDDEP_VERSION_MINOR = 1,
    GRIDDEP_VERSION_PATCH = 0
};

/* Of the loaded library: major * 1000000 + minor * 1000 + patch; and as static text, "0.1.0". */
int32_t griddep_version(void);
const char *griddep_version_text(void);

/* ---------------------------------------------------------------------------------------------
 * Status and errors */

enum {
    GRIDDEP_OK = 0,
    GRIDDEP_ERROR_ARGUMENT = -1,      /* NULL, out of range, or in contradiction to another one */
    GRIDDEP_ERROR_STRUCT = -2,        /* a size is wrong, or reserved bytes are not 0 */
    GRIDDEP_ERROR_MEMORY = -3,        /* the host has no memory left */
    GRIDDEP_ERROR_DEVICE_MEMORY = -4, /* the device has no memory left */
    GRIDDEP_ERROR_FILE = -5,          /* a file cannot be read or written */
    GRIDDEP_ERROR_ENVIRONMENT = -6,   /* an environment variable has a value that is not known */
    GRIDDEP_ERROR_NO_DRIVER = -7,     /* no driver can be opened, or it finds no device */
    GRIDDEP_ERROR_DRIVER_TOO_OLD = -8, /* the driver lacks an entry point that the call needs */
    GRIDDEP_ERROR_DRIVER = -9,        /* the driver refused: driver_code and text say how */
    GRIDDEP_ERROR_NO_NVRTC = -10,     /* libnvrtc cannot be opened; only CUDA C++ source needs it */
    GRIDDEP_ERROR_SYNTAX = -11,       /* PTX that cannot be parsed */
    GRIDDEP_ERROR_COMPILE = -12,      /* PTX or CUDA C++ that the compiler refuses */
    GRIDDEP_ERROR_IMAGE = -13,        /* not PTX, a cubin or a fatbin; or code for another chip */
    GRIDDEP_ERROR_NOT_FOUND = -14,    /* nothing has that name or index */
    GRIDDEP_ERROR_SIGNATURE = -15,    /* the arguments' number or sizes are not the parameters' */
    GRIDDEP_ERROR_LIMIT = -16,        /* beyond what kernel or device allow: grid, shared memory */
    GRIDDEP_ERROR_STREAM = -17,       /* of another context, or in a state that forbids the call */
    GRIDDEP_ERROR_UNSUPPORTED = -18,  /* this device or driver cannot do it */
    GRIDDEP_ERROR_FAULT = -19,        /* a kernel faulted, or the context was ended: close all */
    GRIDDEP_ERROR_REQUIREMENT = -20,  /* a condition of the kernel's head comment does not hold */
    GRIDDEP_ERROR_CALLBACK = -21,     /* made by a host function, where the driver allows none */
    GRIDDEP_ERROR_PEER = -22          /* a member of a group did not come in time, or differs */
};

/* "GRIDDEP_ERROR_SYNTAX"; "GRIDDEP_ERROR_UNKNOWN" for a value that is no status. Static. */
const char *griddep_status_name(int32_t status);

enum {
    GRIDDEP_TEXT_STATUS = 0,      /* of GRIDDEP_OK and GRIDDEP_ERROR_*: what the status means */
    GRIDDEP_TEXT_REASON = 1,      /* of GRIDDEP_REASON_*, in a sentence */
    GRIDDEP_TEXT_OVERLAP = 2,     /* of GRIDDEP_OVERLAP_*: "overlaps at the tail" */
    GRIDDEP_TEXT_MODE = 3,        /* of GRIDDEP_MODE_*: "serial", "pdl", "graph", "graph-pdl" */
    GRIDDEP_TEXT_TUNE_OUTCOME = 4 /* of GRIDDEP_TUNE_OUTCOME_*: "faster" */
};

/* A constant of an enumeration in words. Static. For what is none, words that say so, or NULL. */
const char *griddep_text(int32_t kind, int32_t value);

/* What went wrong. Strings that do not fit are cut at a character's end. */
typedef struct griddep_error {
    uint32_t size;       /* in: sizeof(griddep_error) */
    int32_t status;      /* the status that the call returned */
    int32_t driver_code; /* CUresult, or nvrtcResult with ERROR_COMPILE of CUDA C++; or 0 */
    int32_t line, column; /* position in `file` */
    char file[260];      /* name of the text: a path, or the one given when it was loaded; "" */
    char text[2048];     /* what and where, for a person, with the source line where there is one */
} griddep_error;

/* Clears *error and sets its size. NULL is ignored. */
void griddep_error_init(griddep_error *error);

/* For languages that do not read C: a constant of this header by its name; and the index-th
 * constant's static name, with its value behind `value` (may be NULL), NULL past the last. */
int32_t griddep_constant_find(const char *name, int32_t *value, griddep_error *error);
const char *griddep_constant_name(uint32_t index, int32_t *value);

/* ---------------------------------------------------------------------------------------------
 * Runtime: a driver, a device, a context, a store
 *
 * griddep_runtime_open reads the variables GRIDDEP_DRIVER, _PDL, _STORE, _LOG, _NVRTC and _NCCL:
 * doc/environment.md. Options come before them, but for the kill switch, GRIDDEP_PDL=off.
 */

typedef struct griddep_runtime griddep_runtime;
typedef struct griddep_module griddep_module;
typedef struct griddep_kernel griddep_kernel;
typedef struct griddep_chain griddep_chain;
typedef struct griddep_graph griddep_graph;
typedef struct griddep_ptx griddep_ptx;
typedef struct griddep_timeline griddep_timeline;
typedef struct griddep_completion griddep_completion;
typedef struct griddep_group griddep_group;

enum {
    GRIDDEP_LOG_NONE = 0, GRIDDEP_LOG_ERROR = 1, GRIDDEP_LOG_WARNING = 2, GRIDDEP_LOG_INFO = 3,
    GRIDDEP_LOG_DEBUG = 4
};

/* Receives one message, on any threads that call the library. It must not call the library. */
typedef void (*griddep_log_function)(void *user, int32_t level, const char *message);

/* When a launch sets attribute 6 of cuda.h, PROGRAMMATIC_STREAM_SERIALIZATION, and when an edge of
 * a graph is programmatic. Where GRIDDEP_PDL, the runtime, the chain's mode (serial, graph), the
 * launch or the node says OFF, nothing starts early, whatever the others say: no attribute 6;
 * events of attributes 7 and 12 are recorded behind the launch; edges are plain, also those of
 * adopted and upgraded graphs; a capture remembers which launches said off. */
enum {
    GRIDDEP_PDL_DEFAULT = 0, /* as the runtime says, then auto */
    GRIDDEP_PDL_AUTO = 1,    /* where every path through the kernel's code executes
                              * griddepcontrol.wait. In chains griddep_chain_check also looks at
                              * what it touches before that wait: a race holds it back */
    GRIDDEP_PDL_OFF = 2,
    GRIDDEP_PDL_FORCE = 3    /* wherever device and driver can; the caller vouches for the kernel.
                              * Behind launches of other lanes of a chain it is as AUTO */
};

enum {
    GRIDDEP_RUNTIME_DEVICE = 1, /* take `device` also where it is 0, whatever context is current */
    GRIDDEP_RUNTIME_RESET = 2,  /* likewise; cuDevicePrimaryCtxReset if a fault has ended it */
    GRIDDEP_RUNTIME_REST = 4    /* of a split device, what is left behind the parts before `part` */
};

typedef struct griddep_runtime_options {
    uint32_t size;
    uint32_t flags;              /* GRIDDEP_RUNTIME_* */
    const char *driver;          /* "nvidia" (libcuda.so.1), "emulated", a path with a slash, or
                                  * "auto": nvidia where it finds a device, else emulated. NULL or
                                  * "auto": GRIDDEP_DRIVER, else auto */
    void *context;               /* a CUcontext to adopt, a green one (cuCtxFromGreenCtx) too, and
                                  * its device; NULL: as `device` says */
    int32_t device;              /* ordinal, from 0, whose primary context is taken; 0 without
                                  * GRIDDEP_RUNTIME_DEVICE: the calling thread's current context,
                                  * else the first device's primary one */
    int32_t pdl;                 /* GRIDDEP_PDL_*: for launches that say nothing; OFF: for all */
    const char *store_directory; /* for what the tuner chose and NVRTC made; "": none. NULL:
                                  * GRIDDEP_STORE, $XDG_CACHE_HOME/griddep, $HOME/.cache/griddep */
    const char *nvrtc;           /* path of libnvrtc; NULL: GRIDDEP_NVRTC, else the newest that is
                                  * not newer than the driver, else the oldest that is */
    griddep_log_function log;    /* NULL: stderr if GRIDDEP_LOG asks for it */
    void *log_user;              /* handed to log */
    int32_t log_level;           /* most detailed one for log; 0: GRIDDEP_LOG_WARNING, or no log */
    uint32_t reserved;
    uint32_t multiprocessors;    /* 0: the whole device. Else a green context on so many of
                                  * `device`, or a few more: griddep_runtime_info tells */
    uint32_t part;               /* which part of that size, from 0; no two of them overlap */
} griddep_runtime_options;

enum {
    GRIDDEP_FEATURE_PDL = 1,           /* griddepcontrol, attribute 6: sm_90, driver API 11.8 */
    GRIDDEP_FEATURE_GRAPH = 2,         /* stream capture and graph launch */
    GRIDDEP_FEATURE_GRAPH_EDGES = 4,   /* ports and types of edges: driver API 12.3 */
    GRIDDEP_FEATURE_PROGRAMMATIC_EVENT = 8,  /* attribute 7: sm_90, driver API 11.8 */
    GRIDDEP_FEATURE_LAUNCH_COMPLETION_EVENT = 16, /* attribute 12: driver API 12.3 */
    GRIDDEP_FEATURE_PARAMETER_INFO = 32, /* parameters of code without PTX: driver API 12.4 */
    GRIDDEP_FEATURE_CLUSTER = 64,      /* thread block clusters: compute capability 9.0 */
    GRIDDEP_FEATURE_PARTS = 256        /* a runtime on a part of a device: driver API 12.4 */
};

typedef struct griddep_runtime_info {
    uint32_t size;
    uint32_t features;           /* GRIDDEP_FEATURE_* */
    const char *driver;          /* path or soname that was opened */
    const char *device_name;
    const char *store_directory; /* absolute; "" when there is no store */
    int32_t driver_version;      /* as cuDriverGetVersion: 1000 * major + 10 * minor */
    int32_t device;              /* ordinal, from 0 */
    int32_t capability;          /* compute capability: 10 * major + minor, 90 for sm_90 */
    int32_t multiprocessors;     /* of the context: a green one has a part of the device's */
    uint64_t memory_bytes, l2_bytes; /* of the device */
    uint32_t shared_bytes_per_multiprocessor;
    uint32_t shared_bytes_per_block; /* the opt-in limit: static and dynamic together */
    uint32_t registers_per_multiprocessor, threads_per_multiprocessor, blocks_per_multiprocessor;
    uint32_t pdl_disabled;       /* 1 when GRIDDEP_PDL has switched PDL off */
    void *context;               /* the CUcontext that the runtime works in */
    uint32_t emulated;           /* 1: the device is the emulated one, and times are its model's */
    uint32_t reserved;
    const char *fallback;        /* why auto did not take the NVIDIA driver; "" where it did */
    const char *driver_cache;    /* where the driver keeps code that it compiled; "": nowhere */
    const char *driver_cache_reason; /* why it keeps none; "" where it does */
    uint64_t driver_cache_bytes; /* most that it keeps */
} griddep_runtime_info;

/* Opens a driver and a device. NO_DRIVER where there is none; DRIVER_TOO_OLD, with the entry point
 * that the driver lacks (driver API 12.0 has them all); ENVIRONMENT. A store that other users own
 * or may write is not used: a warning is logged. So it is where auto takes the emulated driver:
 * libcuda.so.1 cannot be opened, finds no device, or is a toolkit's stub. Any other failure of an
 * NVIDIA driver is an error.
 *
 * On a part of a device (`multiprocessors`), kernels of the runtime's streams run there alone, and
 * room is counted on the part. NULL is the part's own stream, which waits for no other one, and
 * there is no per-thread stream. Memory, events and code are shared with all runtimes of the
 * device. One thread at a time uses such a runtime, as CUDA demands of a green context. LIMIT where
 * the device has no such part, DRIVER_TOO_OLD before driver API 12.4.
 *
 * After a fault, each call that needs the context gives FAULT with the same driver_code; objects
 * can still be ended. When all runtimes of the device, and all that came from them, have ended, a
 * new one has a new context. While others in the process hold the primary context, open gives
 * FAULT; GRIDDEP_RUNTIME_RESET takes it from them: their runtimes give FAULT from then on, and what
 * they made in it must not be used any more. A fault that stays ends with the process. */
int32_t griddep_runtime_open(const griddep_runtime_options *options, griddep_runtime **runtime,
        griddep_error *error);

/* The context is released when the last object made from it has ended. That waits for captured
 * graphs that may run, for host functions and notifications: hold no lock that these take. */
void griddep_runtime_close(griddep_runtime *runtime);

/* Waits for all work of the context (cuCtxSynchronize), host functions and notifications too.
 * Spoils captures that are open. */
int32_t griddep_runtime_synchronize(griddep_runtime *runtime, griddep_error *error);

int32_t griddep_runtime_get_info(griddep_runtime *runtime, griddep_runtime_info *info,
        griddep_error *error);

typedef struct griddep_device_info {
    uint32_t size;
    int32_t device;       /* ordinal, from 0 */
    int32_t capability;   /* this to blocks_per_multiprocessor: as griddep_runtime_info */
    uint32_t multiprocessors;
    uint64_t memory_bytes, l2_bytes;
    uint32_t shared_bytes_per_multiprocessor, shared_bytes_per_block;
    uint32_t registers_per_multiprocessor, threads_per_multiprocessor, blocks_per_multiprocessor;
    uint32_t copy_engines; /* copies that run beside kernels */
    uint32_t pools;        /* 1: it has memory in stream order */
    uint32_t integrated;   /* 1: its memory is the host's */
    uint32_t pci_domain, pci_bus, pci_device;
    uint32_t device_count; /* that the driver has */
    uint8_t uuid[16];      /* zero where the driver does not tell */
    char name[256];
} griddep_device_info;

/* A device of a driver (named as in griddep_runtime_options) before a runtime is opened on it; no
 * context is made. A process may have runtimes of several, each with modules of its own. */
int32_t griddep_device_get_info(const char *driver, int32_t device, griddep_device_info *info,
        griddep_error *error);

/* Device memory; any other address of the context serves as well. allocate refuses 0 bytes; the
 * others do nothing then. write, read and fill are ordered after the work in `stream` and return
 * when they are done; host memory may be pageable. They report faults of earlier kernels. */
int32_t griddep_memory_allocate(griddep_runtime *runtime, uint64_t bytes, uint64_t *address,
        griddep_error *error);
int32_t griddep_memory_free(griddep_runtime *runtime, uint64_t address, griddep_error *error);
int32_t griddep_memory_write(griddep_runtime *runtime, uint64_t address, const void *source,
        uint64_t bytes, void *stream, griddep_error *error);
int32_t griddep_memory_read(griddep_runtime *runtime, void *target, uint64_t address,
        uint64_t bytes, void *stream, griddep_error *error);
int32_t griddep_memory_fill(griddep_runtime *runtime, uint64_t address, uint8_t value,
        uint64_t bytes, void *stream, griddep_error *error);

/* These hand work in and return. Memory that they name must stay until the stream has come there.
 * Host memory that is not pinned makes the driver copy it during the call, or wait. copy: between
 * device addresses, or those of pinned host memory, whose ranges do not overlap. fill: `count`
 * elements of 1, 2 or 4 bytes. ARGUMENT for a value or an address that does not fit them. */
int32_t griddep_memory_write_async(griddep_runtime *runtime, uint64_t address, const void *source,
        uint64_t bytes, void *stream, griddep_error *error);
int32_t griddep_memory_read_async(griddep_runtime *runtime, void *target, uint64_t address,
        uint64_t bytes, void *stream, griddep_error *error);
int32_t griddep_memory_copy_async(griddep_runtime *runtime, uint64_t target, uint64_t source,
        uint64_t bytes, void *stream, griddep_error *error);
int32_t griddep_memory_fill_async(griddep_runtime *runtime, uint64_t address, uint32_t value,
        uint32_t element_bytes, uint64_t count, void *stream, griddep_error *error);

enum {
    GRIDDEP_HOST_PORTABLE = 1,      /* pinned for all contexts (CU_MEMHOSTALLOC_PORTABLE) */
    GRIDDEP_HOST_WRITE_COMBINED = 4 /* fast to write, slow for the host to read */
};

/* Pinned memory of the host, whose address is a device address too. free takes NULL; it waits for
 * all work of the context, which may still use the memory: hold no lock that a host function takes.
 * MEMORY where the host has none to pin; ARGUMENT for 0 bytes; DRIVER for other memory. */
int32_t griddep_host_allocate(griddep_runtime *runtime, uint64_t bytes, uint32_t flags,
        void **memory, griddep_error *error);
int32_t griddep_host_free(griddep_runtime *runtime, void *memory, griddep_error *error);

enum { GRIDDEP_STREAM_BLOCKING = 1 }; /* it and the legacy default stream wait for each other */

typedef struct griddep_stream_options {
    uint32_t size;
    uint32_t flags;    /* GRIDDEP_STREAM_* */
    int32_t priority;  /* smaller is more urgent; 0: the least */
    uint32_t reserved;
} griddep_stream_options;

typedef struct griddep_stream_info {
    uint32_t size;
    uint32_t flags;    /* GRIDDEP_STREAM_* */
    int32_t priority;
    uint32_t captured; /* 1: what it is given becomes part of a graph, or its capture is spoilt */
} griddep_stream_info;

/* Streams. By default a stream does not synchronize with the legacy default one. create gives
 * LIMIT, with the priorities that there are. synchronize blocks, without a lock of the library's;
 * query does not: *done is 1 when all work in the stream is over. Both report faults, and spoil a
 * capture that the stream is in. get_info tells about any stream. */
int32_t griddep_stream_create(griddep_runtime *runtime, const griddep_stream_options *options,
        void **stream, griddep_error *error);
int32_t griddep_stream_destroy(griddep_runtime *runtime, void *stream, griddep_error *error);
int32_t griddep_stream_synchronize(griddep_runtime *runtime, void *stream, griddep_error *error);
int32_t griddep_stream_query(griddep_runtime *runtime, void *stream, uint32_t *done,
        griddep_error *error);
int32_t griddep_stream_get_info(griddep_runtime *runtime, void *stream, griddep_stream_info *info,
        griddep_error *error);

enum {
    GRIDDEP_EVENT_TIMING = 0, /* what griddep_event_elapsed takes */
    GRIDDEP_EVENT_ORDER = 1   /* no timing: what a launch records, attributes 7 and 12 */
};

/* Events; kind is GRIDDEP_EVENT_*. synchronize waits for what the event was last recorded behind.
 * elapsed waits for `end`. An event between two kernels ends the overlap between them: put events
 * around a chain, not into it. wait_event makes later work in the stream wait, unless the event was
 * never recorded; an event of a capture takes the stream into it, or gives STREAM. */
int32_t griddep_event_create(griddep_runtime *runtime, int32_t kind, void **event,
        griddep_error *error);
int32_t griddep_event_destroy(griddep_runtime *runtime, void *event, griddep_error *error);
int32_t griddep_event_record(griddep_runtime *runtime, void *event, void *stream,
        griddep_error *error);
int32_t griddep_event_synchronize(griddep_runtime *runtime, void *event, griddep_error *error);
int32_t griddep_event_elapsed(griddep_runtime *runtime, void *start, void *end,
        double *nanoseconds, griddep_error *error);
int32_t griddep_stream_wait_event(griddep_runtime *runtime, void *stream, void *event,
        griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Completion: to learn that work is done without waiting for it; no call here blocks */

typedef void (*griddep_host_function)(void *user);

/* failure: NULL if the work before the call is done, else the error, valid during the call. */
typedef void (*griddep_notify_function)(void *user, const griddep_error *failure);

/* add_host: the stream calls the function when all work in it is done, and later work waits for its
 * return (cuLaunchHostFunc), so it must not wait for such work. Captured, it becomes a node: `user`
 * must live as long as the graph and its copies. After a fault it is not called.
 *
 * notify: calls it exactly once, when the work is done, or when a fault has ended the context
 * (cuStreamAddCallback), at the latest by the end of the runtime. It should only pass the news on;
 * until it returns, griddep_stream_query finds the stream busy. STREAM in a stream that is being
 * captured; the capture goes on. */
int32_t griddep_stream_add_host(griddep_runtime *runtime, void *stream,
        griddep_host_function function, void *user, griddep_error *error);
int32_t griddep_stream_notify(griddep_runtime *runtime, void *stream,
        griddep_notify_function function, void *user, griddep_error *error);

/* A completion has a file descriptor (eventfd, non-blocking, closed on exec) for poll, epoll and
 * event loops, which the program must not read or close.
 *
 * create:  FILE if the process has no descriptor left.
 * arm:     makes the descriptor readable when the work that is in the stream now is done, or a
 *          fault has ended the context; as often as you like, for any streams. STREAM in a stream
 *          that is being captured.
 * take:    counts the points reached since the last take, and makes the descriptor unreadable until
 *          the next one. After a fault it fails once with FAULT. A host function may call it.
 * destroy: drops the points that are still armed. */
int32_t griddep_completion_create(griddep_runtime *runtime, griddep_completion **completion,
        griddep_error *error);
void griddep_completion_destroy(griddep_completion *completion);
int32_t griddep_completion_get_descriptor(const griddep_completion *completion, int32_t *descriptor,
        griddep_error *error);
int32_t griddep_completion_arm(griddep_completion *completion, void *stream, griddep_error *error);
int32_t griddep_completion_take(griddep_completion *completion, uint64_t *reached,
        griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * PTX: parsed text, on any machine, with no driver */

/* What the text of an entry shows about PDL (PTX ISA, Parallel Synchronization and Communication
 * Instructions: griddepcontrol). */
enum {
    GRIDDEP_TRAIT_KNOWN = 1,        /* PTX or machine code was read; else the others say nothing */
    GRIDDEP_TRAIT_WAITS = 2,        /* contains griddepcontrol.wait */
    GRIDDEP_TRAIT_WAITS_ALWAYS = 4, /* each path to an exit executes a wait without a guard */
    GRIDDEP_TRAIT_TRIGGERS = 8,     /* contains griddepcontrol.launch_dependents */
    GRIDDEP_TRAIT_CALLS = 16,       /* calls a function. The bits above look into functions that PTX
                                     * calls by name or through .calltargets */
    GRIDDEP_TRAIT_STATED = 128,     /* said by the program: griddep_kernel_state_traits */
    /* Of machine code alone. */
    GRIDDEP_TRAIT_MACHINE_CODE = 32,   /* read from it, of sm_90 to sm_12x */
    GRIDDEP_TRAIT_OPEN = 64,           /* not known whether each path waits: a call or an indirect
                                        * branch stands in front, or a thread that does not wait
                                        * touches memory behind a barrier, after another's wait */
    GRIDDEP_TRAIT_TOUCHES_EARLY = 256, /* waits, and may reach other kernels' memory before that */
    GRIDDEP_TRAIT_OTHERS_WAIT = 512    /* threads end without a wait by a branch on the thread's or
                                        * CTA's number on whose other side all threads wait */
};

typedef struct griddep_ptx_info {
    uint32_t size;
    uint32_t address_bits; /* 32 or 64 */
    const char *target;    /* of .target: "sm_90" */
    int32_t version;       /* of .version: 10 * major + minor */
    int32_t capability;    /* 90 for sm_90, sm_90a, compute_90; 0 where .target has no chip */
    uint32_t entry_count;
    uint32_t function_count; /* .func with a body */
} griddep_ptx_info;

typedef struct griddep_ptx_entry_info {
    uint32_t size;
    uint32_t traits;            /* GRIDDEP_TRAIT_* */
    const char *name;
    int32_t line, column;       /* of the name */
    uint32_t parameter_count;
    uint32_t parameter_bytes;   /* of the packed parameters, without padding behind the last */
    uint32_t control_count, instruction_count; /* in its own body: griddepcontrol, and all */
    uint32_t required_block[3]; /* .reqntid; 0 where not given, as in the next two */
    uint32_t maximum_block[3];  /* .maxntid */
    uint32_t required_cluster[3]; /* .reqnctapercluster */
    uint32_t reserved;
} griddep_ptx_entry_info;

typedef struct griddep_parameter_info {
    uint32_t size;
    uint32_t offset;      /* in the packed parameters. An alignment beyond 16 depends on the chip,
                           * which griddep_ptx_get_parameter does not know */
    uint32_t bytes, alignment;
    const char *name;     /* NULL where only the driver knows the parameter */
    const char *type;     /* PTX type without the dot, "u64"; of an array the elements'; NULL */
    uint32_t is_pointer;  /* 1 when the PTX says .ptr */
    uint32_t reserved;
    const char *element;  /* what the head comment's extent tells: "bf16", "b16" (any); or NULL */
} griddep_parameter_info;

/* Parses and copies `bytes` bytes of PTX. name is for messages (NULL: "ptx"). SYNTAX, with the
 * position, what was found, what was expected, and the line. Instructions and directives that the
 * library does not know are kept as they are. A zero byte may stand at the end, nowhere else. */
int32_t griddep_ptx_parse(const char *text, uint64_t bytes, const char *name, griddep_ptx **ptx,
        griddep_error *error);
void griddep_ptx_destroy(griddep_ptx *ptx);

/* The module, its entries in the order of the text, and their parameters. */
int32_t griddep_ptx_get_info(const griddep_ptx *ptx, griddep_ptx_info *info, griddep_error *error);
int32_t griddep_ptx_get_entry(const griddep_ptx *ptx, uint32_t entry, griddep_ptx_entry_info *info,
        griddep_error *error);
int32_t griddep_ptx_get_parameter(const griddep_ptx *ptx, uint32_t entry, uint32_t index,
        griddep_parameter_info *info, griddep_error *error);

/* Writes the module as text: at most `capacity` bytes with the closing zero into buffer, which may
 * be NULL when capacity is 0, and into *bytes how long the text is without it. A capacity too small
 * is no failure: compare. An unchanged module gives the text that was parsed, to the byte. */
int32_t griddep_ptx_print(const griddep_ptx *ptx, char *buffer, uint64_t capacity, uint64_t *bytes,
        griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Findings: what is wrong, or could be better, with the use of dependent launch */

typedef struct griddep_findings griddep_findings;

enum {
    GRIDDEP_SEVERITY_NOTE = 1,    /* correct, but no overlap is gained, or less than could be */
    GRIDDEP_SEVERITY_WARNING = 2, /* the contract is likely broken, or cannot be shown to be kept */
    GRIDDEP_SEVERITY_ERROR = 3    /* the contract is broken on a path, or the text is no PTX */
};

typedef struct griddep_finding {
    uint32_t size;
    int32_t severity;    /* GRIDDEP_SEVERITY_* */
    const char *code;    /* permanent: "GD201" */
    const char *file;    /* the name that the text was given */
    const char *entry;   /* NULL where it concerns no entry */
    const char *text;    /* what is wrong, in one sentence */
    const char *hint;    /* what to do; "" where the text says it all */
    const char *quote;   /* the source line with a caret below; "" without a position */
    int32_t line, column;
    int32_t launch;      /* of a chain: index of the launch that it concerns; -1 otherwise */
    uint32_t reserved;
    int32_t end_line, end_column;
    uint32_t edit_count;    /* edits that mend it, all of them together; 0: none is known */
    uint32_t is_certain;    /* 1: the edits do what was meant; 0: they are a guess, or none */
    uint32_t related_count; /* other places to look at: where a register is declared */
    int32_t source_line;    /* where, by the text's .loc, the code comes from; 0: not told */
    const char *source_file; /* NULL: not told */
} griddep_finding;

/* A change of the text that was checked: `text` takes the place of the bytes from `offset` on, from
 * line and column to end_line and end_column. No bytes: it is put in. */
typedef struct griddep_edit {
    uint32_t size;
    uint32_t reserved;
    uint64_t offset, bytes;
    const char *text;
    int32_t line, column, end_line, end_column;
} griddep_edit;

typedef struct griddep_related {
    uint32_t size;
    uint32_t reserved;
    const char *file;
    const char *text; /* what stands there: "%r is declared here, as .u32" */
    int32_t line, column, end_line, end_column;
} griddep_related;

/* Findings are ordered by launch, then position, their edits as in the text. */
uint32_t griddep_findings_count(const griddep_findings *findings);
int32_t griddep_findings_get(const griddep_findings *findings, uint32_t index,
        griddep_finding *finding, griddep_error *error);
int32_t griddep_findings_get_edit(const griddep_findings *findings, uint32_t index, uint32_t number,
        griddep_edit *edit, griddep_error *error);
int32_t griddep_findings_get_related(const griddep_findings *findings, uint32_t index,
        uint32_t number, griddep_related *related, griddep_error *error);
void griddep_findings_destroy(griddep_findings *findings);

typedef struct griddep_check_options {
    uint32_t size;
    uint32_t flags;
    const char *const *constants; /* parameters whose data no prerequisite writes, besides those of
                                   * the head comment: "weight", or "entry.weight" for one entry */
    uint32_t constant_count;
    uint32_t reserved;
} griddep_check_options;

/* Checks PTX text by itself, without a driver. What cannot be parsed is a finding too. */
int32_t griddep_ptx_check(const char *text, uint64_t bytes, const char *name,
        const griddep_check_options *options, griddep_findings **findings, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Rewriting: dependent launch put into kernels that know nothing of it */

enum {
    GRIDDEP_WAIT_KEEP = 0,
    GRIDDEP_WAIT_INSERT = 1, /* where an entry has none: as late as is safe on every path */
    GRIDDEP_WAIT_MOVE = 2,   /* those there are go, then as INSERT */
    GRIDDEP_WAIT_REMOVE = 3,
    GRIDDEP_WAIT_START = 4   /* those there are go; one as the first instruction */
};

enum {
    GRIDDEP_TRIGGER_KEEP = 0,
    GRIDDEP_TRIGGER_REMOVE = 1,
    GRIDDEP_TRIGGER_START = 2,        /* as the first instruction; those there are go */
    GRIDDEP_TRIGGER_AFTER_WAIT = 3,
    GRIDDEP_TRIGGER_AFTER_LOADS = 4,  /* behind the last load from global memory outside of loops */
    GRIDDEP_TRIGGER_BEFORE_STORES = 5, /* before the first store to global memory on every path */
    GRIDDEP_TRIGGER_END = 6,          /* before each exit */
    GRIDDEP_TRIGGER_LINE = 7,         /* before the first instruction on or behind trigger_line */
    GRIDDEP_TRIGGER_LOOP = 8          /* in round trigger_round of the first outermost loop that
                                       * reads global memory, at the latest by its block's end */
};

typedef struct griddep_rewrite_options {
    uint32_t size;
    uint32_t flags;
    const char *entry;              /* NULL: every entry */
    int32_t wait;                   /* GRIDDEP_WAIT_* */
    int32_t trigger;                /* GRIDDEP_TRIGGER_* */
    int32_t trigger_line;           /* of the text that is rewritten */
    uint32_t constant_count;
    const char *const *constants;   /* as griddep_check_options; a wait may follow their reads */
    const char *prefetch;           /* a constant pointer parameter whose data goes to L2 early */
    uint64_t prefetch_bytes;        /* how much of it the grid fetches together; a multiple of 16 */
    uint32_t trigger_round;         /* for GRIDDEP_TRIGGER_LOOP, from 0; else 0 */
    uint32_t reserved;
} griddep_rewrite_options;

/* Rewrites a module; options must be given. What they do not name stays to the letter; .version and
 * .target are raised where griddepcontrol needs it. Rewriting twice gives the same as once. notes
 * (may be NULL): what was done, as findings of severity note, with positions in the new text.
 * ARGUMENT where an option makes no sense for an entry (no such parameter, a line outside it),
 * UNSUPPORTED where no safe place exists. */
int32_t griddep_ptx_rewrite(const griddep_ptx *ptx, const griddep_rewrite_options *options,
        griddep_ptx **rewritten, griddep_findings **notes, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Module: code on the device */

enum {
    GRIDDEP_MODULE_LINE_INFO = 1, /* keep the .loc lines (CU_JIT_GENERATE_LINE_INFO) */
    GRIDDEP_MODULE_DEBUG = 2,     /* compile for a debugger (CU_JIT_GENERATE_DEBUG_INFO) */
    GRIDDEP_MODULE_VERBOSE = 4,   /* ask the compiler for register and memory use: `log` */
    GRIDDEP_MODULE_PTX = 8,       /* load a fatbin's PTX, which can be checked, traced and tuned */
    GRIDDEP_MODULE_LIBRARY = 16,  /* for griddep_module_share (cuLibraryLoadData); no log of a
                                   * success; code that a capture keeps to the last stays */
    GRIDDEP_MODULE_PCH = 32       /* keep CUDA C++'s headers precompiled (NVRTC 12.8, --pch) */
};

/* The driver's own, which is 4; level 0. Levels 1 to 4 are given as such. */
enum { GRIDDEP_OPTIMIZATION_DEFAULT = 0, GRIDDEP_OPTIMIZATION_NONE = -1 };

typedef struct griddep_header {
    const char *name; /* as #include names it */
    const char *text;
} griddep_header;

typedef struct griddep_module_options {
    uint32_t size;
    uint32_t flags;                      /* GRIDDEP_MODULE_* */
    const char *name;                    /* for messages; NULL: the path, or the image's kind */
    int32_t optimization;                /* GRIDDEP_OPTIMIZATION_*, or 1 to 4 */
    uint32_t maximum_registers;          /* per thread; 0: no limit */
    const char *const *compile_options;  /* for NVRTC, behind the library's own */
    uint32_t compile_option_count;
    uint32_t reserved;
    const griddep_header *headers;       /* come before --include-path=DIR of the options */
    const char *const *name_expressions; /* of CUDA C++, to be made and found: "scale<float, 4>",
                                          * "&table<int>" */
    uint32_t header_count;
    uint32_t name_expression_count;
} griddep_module_options;

enum { GRIDDEP_IMAGE_PTX = 1, GRIDDEP_IMAGE_CUBIN = 2, GRIDDEP_IMAGE_FATBIN = 3 };

typedef struct griddep_image griddep_image;

typedef struct griddep_image_info {
    uint32_t size;
    int32_t kind;           /* GRIDDEP_IMAGE_* */
    uint32_t part_count;    /* of a fatbin its entries; of another image 1 */
} griddep_image_info;

typedef struct griddep_image_part {
    uint32_t size;
    int32_t kind;           /* GRIDDEP_IMAGE_PTX or _CUBIN; 0: it cannot be read */
    int32_t architecture;   /* that it is for: 90 for sm_90; 0 for PTX that stands alone */
    int32_t suffix;         /* of that: 'a', 'f', or 0 */
    uint32_t packed;        /* 1: it stands in the fatbin compressed */
    uint32_t kernel_count;  /* of a cubin; PTX is for griddep_ptx_parse */
    const void *data;       /* unpacked, with a zero byte behind it; NULL: it cannot be read */
    uint64_t bytes;
} griddep_image_part;

typedef struct griddep_image_kernel {
    uint32_t size;
    uint32_t traits;        /* GRIDDEP_TRAIT_*, from the machine code; 0: not known */
    const char *name;
} griddep_image_kernel;

/* What an image holds: PTX text, a cubin or a fatbin in memory, which is copied; without a runtime.
 * name is for messages; may be NULL. IMAGE where it is none of these, is cut off or damaged. */
int32_t griddep_image_open(const void *data, uint64_t bytes, const char *name,
        griddep_image **image, griddep_error *error);
void griddep_image_destroy(griddep_image *image);
int32_t griddep_image_get_info(const griddep_image *image, griddep_image_info *info,
        griddep_error *error);
int32_t griddep_image_get_part(const griddep_image *image, uint32_t index, griddep_image_part *part,
        griddep_error *error);
int32_t griddep_image_get_kernel(const griddep_image *image, uint32_t part, uint32_t index,
        griddep_image_kernel *kernel, griddep_error *error);

typedef struct griddep_module_info {
    uint32_t size;
    int32_t image;          /* GRIDDEP_IMAGE_*; CUDA C++ becomes PTX */
    const char *name;
    const char *log;        /* the compiler's warnings, resource use; "" from the driver's cache */
    const griddep_ptx *ptx; /* NULL where the image is not PTX or only the driver could parse it */
    uint32_t from_store;    /* 1: the store had what NVRTC makes of this CUDA C++ */
    uint32_t kernel_count;
    int32_t code;           /* GRIDDEP_IMAGE_*: what the driver was given; FATBIN: it chose */
    int32_t architecture;   /* that the fatbin has this code for: 90 for sm_90; 0 for others */
} griddep_module_info;

/* Loads PTX text (a zero byte at its end is allowed), a cubin or a fatbin, as its first bytes tell.
 * Of a fatbin, compressed or not, the library chooses like a driver: the newest cubin that runs on
 * the device, else the newest PTX. SYNTAX or COMPILE for PTX that the driver refuses, with the
 * position, the compiler's text and the PTX line; IMAGE for a cubin for another chip, for no image
 * at all, and for the structure that nvcc registers for host code, which points to a fatbin.
 *
 * load_file: from a file; a name that ends in .cu is compiled with NVRTC. load_shelf: a kernel of
 * the shelf, in the variant that serves the device. NOT_FOUND; UNSUPPORTED where the device is too
 * old for every variant. */
int32_t griddep_module_load(griddep_runtime *runtime, const void *image, uint64_t bytes,
        const griddep_module_options *options, griddep_module **module, griddep_error *error);
int32_t griddep_module_load_file(griddep_runtime *runtime, const char *path,
        const griddep_module_options *options, griddep_module **module, griddep_error *error);
int32_t griddep_module_load_shelf(griddep_runtime *runtime, const char *name,
        const griddep_module_options *options, griddep_module **module, griddep_error *error);

/* Compiles CUDA C++ for the runtime's device with NVRTC, then loads it. A prelude declares
 * griddep_wait() and griddep_launch_dependents(), both with a memory clobber; below sm_90 both are
 * empty, and an error where an option names an older architecture than compute_90. Kernels are
 * found by their plain name where they are extern "C". "--gpu-architecture=compute_90a", or a
 * family's "compute_100f", among the options replaces the device's. The store keeps what NVRTC
 * made, except where a text or an option names a file that is no header in memory, date or time.
 * PTX of an NVRTC newer than the driver is loaded as the driver's newest version. NO_NVRTC, or
 * COMPILE with NVRTC's log and the first error's position. */
int32_t griddep_module_compile(griddep_runtime *runtime, const char *source, uint64_t bytes,
        const griddep_module_options *options, griddep_module **module, griddep_error *error);

typedef struct griddep_link_input {
    const void *image; /* PTX, a relocatable cubin, a fatbin, an archive or host object of these */
    uint64_t bytes;
    const char *name;  /* for messages; NULL: "input" */
} griddep_link_input;

/* Links several inputs into one module (cuLinkCreate): one defines what another one declares
 * .extern. Kernels that are PTX have the traits and parameters of their own text, in which a
 * function of another input has no body; of others the linked machine code is read. COMPILE with
 * the linker's words, which name each symbol that is missing or there twice; SYNTAX or COMPILE with
 * the position in a PTX input; IMAGE for an input that is none. The emulated driver links PTX. */
int32_t griddep_module_link(griddep_runtime *runtime, const griddep_link_input *inputs,
        uint32_t count, const griddep_module_options *options, griddep_module **module,
        griddep_error *error);

/* The module in another runtime of the same driver, on another device or on a part of one; the
 * driver has one library for both (GRIDDEP_MODULE_LIBRARY). Kernels, and what is stated of them,
 * are each module's own. So are variables, by device; managed ones are one everywhere. ARGUMENT for
 * a module without that flag, and for runtimes of two drivers; IMAGE where the code, as it was
 * chosen for the first device, is not for the second. */
int32_t griddep_module_share(griddep_module *module, griddep_runtime *runtime,
        griddep_module **shared, griddep_error *error);

void griddep_module_unload(griddep_module *module);

int32_t griddep_module_get_info(griddep_module *module, griddep_module_info *info,
        griddep_error *error);

/* Address and size of a module-scope variable (.global or .const). From then on chains assume that
 * kernels of any module may reach the module's variables. managed: of one with
 * .attribute(.managed), memory that the host reads and writes at the address that kernels have for
 * it, after it has waited for the kernels that use it. NOT_FOUND for a variable that is not. */
int32_t griddep_module_get_global(griddep_module *module, const char *name, uint64_t *address,
        uint64_t *bytes, griddep_error *error);
int32_t griddep_module_get_managed(griddep_module *module, const char *name, void **memory,
        uint64_t *bytes, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Kernel: an entry of a module. Borrowed: it lives as long as its module. */

typedef struct griddep_kernel_info {
    uint32_t size;
    uint32_t traits;              /* GRIDDEP_TRAIT_*; 0 where the code is not known */
    const char *name;
    void *function;               /* the CUfunction */
    uint32_t parameter_count, parameter_bytes;
    uint32_t parameters_known;    /* 0: nobody tells, and griddep_launch_packed alone launches it */
    uint32_t registers;           /* per thread */
    uint32_t static_shared_bytes;
    uint32_t local_bytes;         /* per thread */
    uint32_t maximum_threads;     /* per block, for this kernel on this device */
    uint32_t maximum_dynamic_shared_bytes; /* after opting in, which a launch does by itself */
    uint32_t required_block[3];   /* .reqntid; 0 where not given or not known */
    int32_t virtual_architecture; /* CU_FUNC_ATTRIBUTE_PTX_VERSION: 90 for compute_90 */
    int32_t binary_version;       /* architecture of the code: 90 */
    uint32_t entry;               /* its number in `ptx`: griddep_ptx_get_requirement */
    const griddep_ptx *ptx;       /* the text that it comes from; NULL where the code is not PTX */
} griddep_kernel_info;

/* The kernel of that name (NULL: the only kernel of a module that has one; NOT_FOUND lists what
 * there is); and the index-th, in the order of the PTX, or as the driver lists them. */
int32_t griddep_module_find_kernel(griddep_module *module, const char *name,
        griddep_kernel **kernel, griddep_error *error);
int32_t griddep_module_get_kernel(griddep_module *module, uint32_t index, griddep_kernel **kernel,
        griddep_error *error);

int32_t griddep_kernel_get_info(griddep_kernel *kernel, griddep_kernel_info *info,
        griddep_error *error);
int32_t griddep_kernel_get_parameter(griddep_kernel *kernel, uint32_t index,
        griddep_parameter_info *info, griddep_error *error);

/* States what the library cannot read of a kernel, in place of what was stated before: a sum of
 * GRIDDEP_TRAIT_WAITS, _WAITS_ALWAYS (which says WAITS too) and _TRIGGERS, or 0. The caller vouches
 * for it: WAITS_ALWAYS promises that each thread executes griddepcontrol.wait before it ends,
 * before it touches data that an earlier launch writes, and before it writes data that one reads.
 * A wrong statement is a race, which the emulated driver's race check and griddep stress show. Say
 * it before the kernel is launched or added to a chain or a graph, and in no other thread at the
 * same time. UNSUPPORTED where PTX or machine code says otherwise; ARGUMENT for other traits. */
int32_t griddep_kernel_state_traits(griddep_kernel *kernel, uint32_t traits, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Launch */

/* One argument: `bytes` bytes at `data`, or where that is NULL the first bytes of `value` (8 at
 * most; little endian, so a u32, a device address, or a CUtexObject for a .u64 parameter can be
 * stored as it is). Read during the call only. Texture references by name are not supported. */
typedef struct griddep_argument {
    uint32_t bytes;
    uint32_t reserved;
    uint64_t value;
    const void *data;
} griddep_argument;

/* A launch attribute as cuda.h lays out CUlaunchAttribute, to be filled by griddep_attribute_set.
 * Those that the library knows are checked against device and launch; other ids are passed through.
 * No id may stand twice, nor id 6 (say `pdl`), nor id 4 next to a configuration's cluster. */
typedef struct griddep_attribute {
    int32_t id;              /* GRIDDEP_ATTRIBUTE_*, or another CUlaunchAttributeID */
    uint32_t reserved;
    uint64_t value[8];
} griddep_attribute;

typedef struct griddep_launch_config {
    uint32_t size;
    uint32_t flags;
    uint32_t grid[3];        /* in blocks; y and z: 0 means 1 */
    uint32_t block[3];       /* in threads; likewise */
    uint32_t cluster[3];     /* in blocks; all 0: none, else likewise */
    uint32_t shared_bytes;   /* dynamic; beyond 48 KiB the library opts in by itself */
    int32_t pdl;             /* GRIDDEP_PDL_* */
    uint32_t attribute_count; /* at most 32 */
    const griddep_attribute *attributes;
    void *stream;            /* NULL in a chain or graph */
    uint32_t lane;           /* of a chain; 0 elsewhere */
    uint32_t reserved;
    const char *name;        /* of the launch in a chain: griddep_chain_find; NULL: none */
} griddep_launch_config;

/* Why a kernel starts early or not, and why two kernels overlap or not: of launches, chains, edges
 * of graphs and explanations. griddep_text has the sentences. */
enum {
    /* It starts early: a launch sets attribute 6, an edge is programmatic. */
    GRIDDEP_REASON_SET = 0,             /* each path of the kernel waits */
    GRIDDEP_REASON_FORCED = 1,          /* the caller forced it */
    /* It does not. */
    GRIDDEP_REASON_OFF = 2,             /* the launch, the node, the mode or the runtime says off */
    GRIDDEP_REASON_KILL_SWITCH = 3,     /* GRIDDEP_PDL=off */
    GRIDDEP_REASON_DEVICE = 4,          /* the device is below compute capability 9.0 */
    GRIDDEP_REASON_DRIVER = 5,          /* the driver is older than API 11.8 (edges: 12.3) */
    GRIDDEP_REASON_NO_WAIT = 6,         /* it has no griddepcontrol.wait: early, it would race */
    GRIDDEP_REASON_WAIT_NOT_ALWAYS = 7, /* some path through the kernel misses the wait: likewise */
    GRIDDEP_REASON_UNKNOWN_CODE = 8,    /* the library could not read its code */
    GRIDDEP_REASON_FIRST = 9,           /* of a chain, or of a lane without a dependence */
    GRIDDEP_REASON_PLAIN = 10,          /* the edge, or event, is plain: griddep_graph_upgrade */
    GRIDDEP_REASON_OTHER_ORDER = 11,    /* another node must end before the kernel begins */
    GRIDDEP_REASON_NODE_BETWEEN = 12,   /* a node that is no kernel stands between both */
    GRIDDEP_REASON_NOT_KERNELS = 13,    /* the edge is not between two kernels */
    GRIDDEP_REASON_CONDITIONAL = 14,    /* a conditional node stands between, and waits for ends */
    GRIDDEP_REASON_WRONG_END = 15,      /* the first kernel has the wait, the second the trigger */
    GRIDDEP_REASON_BLOCKING = 16,       /* CUDA_LAUNCH_BLOCKING: each launch waits for its end */
    GRIDDEP_REASON_COOPERATIVE = 17,    /* in a stream it waits for the kernel before it */
    /* It may start early, and the two overlap less, or otherwise. */
    GRIDDEP_REASON_NO_TRIGGER = 18,     /* the first kernel never triggers: behind its last block */
    GRIDDEP_REASON_NO_ROOM = 19,        /* its blocks find no room on an SM beside the first's */
    GRIDDEP_REASON_CARVEOUT = 20,       /* the SMs change their shared memory when they are empty */
    GRIDDEP_REASON_WAVES = 21,          /* the first's trigger counts when its last wave began */
    GRIDDEP_REASON_CLUSTER = 22,        /* the second kernel's clusters need room in one GPC */
    GRIDDEP_REASON_LAUNCH_ORDER = 23,   /* from the start of the first kernel's blocks */
    GRIDDEP_REASON_WRONG_PORT = 24,     /* likewise by a plain edge: no wait helps, it races */
    /* It is not known. */
    GRIDDEP_REASON_NO_EDGE_DATA = 25,   /* the driver does not tell ports and types of edges */
    GRIDDEP_REASON_TOOLS = 26,          /* a profiler or sanitizer may run one kernel at a time */
    /* It does not start early. */
    GRIDDEP_REASON_ROUND = 27,          /* a further round's first: griddep_chain_run_many */
    GRIDDEP_REASON_NOT_PROVEN = 28,     /* machine code: a path in front of a wait is not known */
    GRIDDEP_REASON_RACE = 29            /* the check finds one, or cannot rule it out (GD112) */
};

enum {
    GRIDDEP_OVERLAP_UNKNOWN = -1,
    GRIDDEP_OVERLAP_NONE = 0,
    GRIDDEP_OVERLAP_TAIL = 1, /* blocks of the second start as those of the first leave their SMs */
    GRIDDEP_OVERLAP_FULL = 2  /* from the first's trigger on */
};

/* Launches a kernel, asynchronously. Arguments are checked against its parameters, the shape
 * against kernel and device, both against the kernel's conditions: SIGNATURE, LIMIT, REQUIREMENT.
 * STREAM for a stream of another context. reason (may be NULL) tells whether attribute 6 was set.
 *
 * packed: arguments in one block, laid out as griddep_kernel_get_parameter tells. bytes must be the
 * kernel's parameter_bytes, or that rounded up to the largest alignment (a C struct's size). */
int32_t griddep_launch(griddep_kernel *kernel, const griddep_launch_config *config,
        const griddep_argument *arguments, uint32_t argument_count, int32_t *reason,
        griddep_error *error);
int32_t griddep_launch_packed(griddep_kernel *kernel, const griddep_launch_config *config,
        const void *arguments, uint64_t bytes, int32_t *reason, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Requirement: what a kernel asks of a launch, and the library checks
 *
 * The head comment of a PTX text may state conditions on arguments and shape (requires), and how
 * far the data behind each address reaches (extent); doc/shelf.md has the language. Launches,
 * chains and graphs refuse what breaks a condition: REQUIREMENT, with the values in it. A module
 * whose conditions cannot be read is not loaded: SYNTAX.
 */

typedef struct griddep_requirement_info {
    uint32_t size;
    int32_t line, column; /* in the PTX */
    uint32_t reserved;
    const char *text;     /* "columns % 8 == 0" */
    const char *reason;   /* what stands behind "--" in the comment; NULL: nothing */
} griddep_requirement_info;

int32_t griddep_ptx_get_requirement(const griddep_ptx *ptx, uint32_t entry, uint32_t index,
        griddep_requirement_info *info, griddep_error *error);

/* Checks a launch of an entry against its conditions, without any driver. LIMIT where no device
 * that runs the text takes grid, block, cluster or shared memory, or the text's directives forbid
 * them; limits of one device are not looked at. */
int32_t griddep_ptx_check_launch(const griddep_ptx *ptx, uint32_t entry,
        const griddep_launch_config *config, const griddep_argument *arguments,
        uint32_t argument_count, griddep_error *error);

/* How many bytes a launch may touch from the address on that it has as argument `parameter`
 * (counted from 0); 0 for the address 0. NOT_FOUND where the head comment does not tell. The caller
 * compares it with its buffer. */
int32_t griddep_ptx_get_extent(const griddep_ptx *ptx, uint32_t entry,
        const griddep_launch_config *config, const griddep_argument *arguments,
        uint32_t argument_count, uint32_t parameter, uint64_t *bytes, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Launch attributes: given in griddep_launch_config.attributes */

/* As CUlaunchAttributeID. Behind each id the values that griddep_attribute_set takes for it. */
enum {
    GRIDDEP_ATTRIBUTE_IGNORE = 0,                    /* none: an entry without effect */
    GRIDDEP_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,      /* address, bytes, hit_millionths, hit, miss:
        in L2 so many millionths of the accesses to the bytes have the GRIDDEP_ACCESS_PROPERTY_* of
        `hit`, the others that of `miss` */
    GRIDDEP_ATTRIBUTE_COOPERATIVE = 2,               /* on (1 or 0): all blocks resident at once */
    GRIDDEP_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3,    /* not here: of streams alone */
    GRIDDEP_ATTRIBUTE_CLUSTER_DIMENSION = 4,         /* x, y, z: the cluster, at most 16 blocks, of
        which the grid is a multiple; beyond 8, the portable size, the launch opts in */
    GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY = 5, /* policy: GRIDDEP_CLUSTER_SCHEDULING_* */
    GRIDDEP_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6, /* say griddep_launch_config.pdl */
    GRIDDEP_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,        /* event, trigger_at_start: see below */
    GRIDDEP_ATTRIBUTE_PRIORITY = 8,                  /* priority: a lower number first; 0: last */
    GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN_MAP = 9,    /* default_domain, remote_domain: the device's
        domains (4 on sm_90) that the launch's two stand for */
    GRIDDEP_ATTRIBUTE_MEMORY_SYNC_DOMAIN = 10,       /* of its fences: GRIDDEP_MEMORY_SYNC_... */
    GRIDDEP_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11, /* x, y, z: a larger cluster where there is
        room: a multiple of the cluster's x and y, and its z */
    GRIDDEP_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12,  /* event: see below */
    GRIDDEP_ATTRIBUTE_DEVICE_UPDATABLE_NODE = 13,    /* on, node: kernels can update the graph node
        of a captured launch, whose CUgraphDeviceNode griddep_launch alone writes to the void * at
        `node` (0: nowhere) */
    GRIDDEP_ATTRIBUTE_CARVEOUT = 14,                 /* percent of the SM's memory that is to be
        shared memory, or GRIDDEP_CARVEOUT_DEFAULT. A hint. A consumer that wants another one than
        its producer waits until the SM is empty */
    GRIDDEP_ATTRIBUTE_NVLINK_CENTRIC_SCHEDULING = 16 /* on: a hint that the kernel keeps NVLink
        busy. Driver API 13.0 */
};

enum {
    GRIDDEP_CLUSTER_SCHEDULING_DEFAULT = 0,
    GRIDDEP_CLUSTER_SCHEDULING_SPREAD = 1,         /* blocks of a cluster over many SMs */
    GRIDDEP_CLUSTER_SCHEDULING_LOAD_BALANCING = 2  /* where the hardware finds room */
};

enum { GRIDDEP_MEMORY_SYNC_DOMAIN_DEFAULT = 0, GRIDDEP_MEMORY_SYNC_DOMAIN_REMOTE = 1 };

enum {
    GRIDDEP_ACCESS_PROPERTY_NORMAL = 0,
    GRIDDEP_ACCESS_PROPERTY_STREAMING = 1,  /* leaves the L2 cache first */
    GRIDDEP_ACCESS_PROPERTY_PERSISTING = 2  /* leaves it last; not for `miss` */
};

enum { GRIDDEP_CARVEOUT_DEFAULT = -1 };

/* Fills *attribute with the values of an id; addresses, events and pointers are given as numbers.
 * Needs no runtime. ARGUMENT, with the number, for another count of values, for a value that no
 * device takes, and for an id whose values the library does not know. The launch checks what
 * depends on the device: LIMIT with the device's limit, UNSUPPORTED for what it cannot do at all.
 *
 * PROGRAMMATIC_EVENT: the launch records `event` when all its blocks have executed
 * griddepcontrol.launch_dependents or ended, with trigger_at_start (0 or 1) when all have begun.
 * Work that waits for it (griddep_stream_wait_event) may then run beside the launch; a kernel must
 * execute griddepcontrol.wait before it touches what the launch writes. Captured, it becomes an
 * edge from port PROGRAMMATIC, or LAUNCH_ORDER. LAUNCH_COMPLETION_EVENT: recorded when all blocks
 * have begun; no data is visible then. Where off is said, device or driver cannot do it, or a chain
 * runs in a graph mode, either is recorded behind the launch. ARGUMENT for an event with timing. */
int32_t griddep_attribute_set(griddep_attribute *attribute, int32_t id, const int64_t *values,
        uint32_t count, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Tensor maps: what cp.async.bulk.tensor is told of a tensor in global memory */

/* CUtensorMap: opaque, without an alignment of its own. A kernel takes it by value, as
 * ".param .align 64 .b8 map[128]", with griddep_argument {.bytes = 128, .data = &map}. */
typedef struct griddep_tensor_map {
    uint64_t opaque[16];
} griddep_tensor_map;

/* The constants of cuda.h: CUtensorMapDataType, ...Interleave, ...Swizzle, ...L2promotion, and
 * ...FloatOOBfill, of which NAN is for floating point only and counts as 0 in a multiply-add. */
enum {
    GRIDDEP_TENSOR_U8 = 0, GRIDDEP_TENSOR_U16 = 1, GRIDDEP_TENSOR_U32 = 2, GRIDDEP_TENSOR_S32 = 3,
    GRIDDEP_TENSOR_U64 = 4, GRIDDEP_TENSOR_S64 = 5, GRIDDEP_TENSOR_F16 = 6, GRIDDEP_TENSOR_F32 = 7,
    GRIDDEP_TENSOR_F64 = 8, GRIDDEP_TENSOR_BF16 = 9, GRIDDEP_TENSOR_F32_FTZ = 10,
    GRIDDEP_TENSOR_TF32 = 11, GRIDDEP_TENSOR_TF32_FTZ = 12, GRIDDEP_TENSOR_16U4_ALIGN8 = 13,
    GRIDDEP_TENSOR_16U4_ALIGN16 = 14, GRIDDEP_TENSOR_16U6_ALIGN16 = 15
};
enum { GRIDDEP_INTERLEAVE_NONE = 0, GRIDDEP_INTERLEAVE_16B = 1, GRIDDEP_INTERLEAVE_32B = 2 };
enum {
    GRIDDEP_SWIZZLE_NONE = 0, GRIDDEP_SWIZZLE_32B = 1, GRIDDEP_SWIZZLE_64B = 2,
    GRIDDEP_SWIZZLE_128B = 3, GRIDDEP_SWIZZLE_128B_ATOM_32B = 4,
    GRIDDEP_SWIZZLE_128B_ATOM_32B_FLIP_8B = 5, GRIDDEP_SWIZZLE_128B_ATOM_64B = 6
};
enum {
    GRIDDEP_PROMOTION_NONE = 0, GRIDDEP_PROMOTION_64B = 1, GRIDDEP_PROMOTION_128B = 2,
    GRIDDEP_PROMOTION_256B = 3
};
enum { GRIDDEP_FILL_ZERO = 0, GRIDDEP_FILL_NAN = 1 };

/* A tensor, and how much of it one copy takes. Dimension 0 is the innermost. Fields that a map has
 * no use for must be 0. */
typedef struct griddep_tensor_options {
    uint32_t size;
    int32_t type;               /* GRIDDEP_TENSOR_* */
    uint64_t address;           /* a multiple of 16; of 32 with INTERLEAVE_32B and types ALIGN16 */
    uint32_t rank;              /* 1 to 5; 3 to 5 with an interleave, and for im2col */
    int32_t interleave;         /* GRIDDEP_INTERLEAVE_* */
    int32_t swizzle;            /* GRIDDEP_SWIZZLE_* */
    int32_t promotion;          /* into L2: GRIDDEP_PROMOTION_* */
    int32_t fill;               /* outside of the tensor: GRIDDEP_FILL_* */
    uint32_t im2col;            /* 0: for the mode .tiled; 1: for .im2col */
    uint64_t dimensions[5];     /* elements, 1 to 2^32 */
    uint64_t strides[4];        /* bytes in dimension i + 1, below 2^40: multiples of 16, or 32 */
    uint32_t steps[5];          /* every how many elements are taken, 1 to 8; all 0: 1 */
    uint32_t box[5];            /* tiled: elements that one copy spans, 1 to 256 */
    int32_t lower[3], upper[3]; /* im2col: corners of the pixels' box, in the middle dimensions */
    uint32_t channels;          /* im2col: per pixel, 1 to 256 */
    uint32_t pixels;            /* im2col: per column, 1 to 1024 */
} griddep_tensor_options;

/* Encodes a map for the mode .tile or .im2col (cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col);
 * options must be given. ARGUMENT names the field and both numbers for what the driver would
 * refuse. UNSUPPORTED below sm_90, and on a driver without the entry point. */
int32_t griddep_tensor_map_encode(griddep_runtime *runtime, const griddep_tensor_options *options,
        griddep_tensor_map *map, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Chain: launches in stream order, prepared once, changed between runs, run many times
 *
 * An entry of a chain is a launch of a kernel, a copy, a fill or a host function, numbered from 0
 * as they were added; "launch" means any of them. NOT_FOUND where there is no such launch, ARGUMENT
 * for one of another kind than the call is about.
 */

enum {
    GRIDDEP_MODE_SERIAL = 0,    /* in a stream, attribute 6 never set */
    GRIDDEP_MODE_PDL = 1,       /* in a stream, attribute 6 as each launch says, by default auto */
    GRIDDEP_MODE_GRAPH = 2,     /* as serial, captured into a graph */
    GRIDDEP_MODE_GRAPH_PDL = 3, /* as pdl, captured into a graph with programmatic edges */
    GRIDDEP_MODE_COUNT = 4
};

/* The mode by the word that griddep_text gives: "serial", ... NOT_FOUND. */
int32_t griddep_mode_find(const char *name, int32_t *mode, griddep_error *error);

typedef struct griddep_hop_info {
    uint32_t size;
    int32_t reason;     /* GRIDDEP_REASON_*: whether it may start early in this mode, by attribute
                         * 6, an event (a lane's first that depends on another lane) or an edge */
    const char *kernel; /* its name; else "copy", "fill", "host function", of NCCL "all_reduce" */
    int32_t edge;       /* graph modes: 1: the edge from the launch before (of a lane's first, the
                         * last that it depends on) is programmatic; 0: plain. Else -1, and where
                         * there is none, or the driver does not tell (FEATURE_GRAPH_EDGES) */
    uint32_t lane;
    int32_t node;       /* GRIDDEP_GRAPH_NODE_KERNEL, _COPY, _FILL, _HOST; of NCCL _CHILD */
    const char *name;   /* that its configuration gave; NULL */
} griddep_hop_info;

/* An empty chain. runtime NULL: a chain of parsed PTX, which griddep_chain_add_ptx fills and which
 * can be checked, on any machine; all that needs a device gives ARGUMENT for it. */
int32_t griddep_chain_create(griddep_runtime *runtime, griddep_chain **chain, griddep_error *error);
void griddep_chain_destroy(griddep_chain *chain);

/* Appends a launch to lane config->lane. Configuration and arguments are checked as by
 * griddep_launch. Graphs that were prepared are dropped. ARGUMENT where config->stream is not NULL
 * or the kernel belongs to another runtime.
 *
 * The launches of one lane follow each other; lanes run beside each other where nothing orders
 * them. Lane 0 is the stream that the chain is run in. Each other lane is a stream of the chain's
 * own, which begins after the earlier work in the caller's stream, and for which later work there
 * waits. In graph modes the order becomes edges. ARGUMENT where a smaller lane is still empty. */
int32_t griddep_chain_add(griddep_chain *chain, griddep_kernel *kernel,
        const griddep_launch_config *config, const griddep_argument *arguments,
        uint32_t argument_count, griddep_error *error);

/* The same for a chain without a runtime, with an entry of PTX, checked as by
 * griddep_ptx_check_launch. ptx NULL: the code is not known, and entry (may be NULL) is its name in
 * messages. arguments NULL: arguments and shape are not known, and config (may be NULL) gives only
 * lane and pdl. NOT_FOUND where the text has no such entry. */
int32_t griddep_chain_add_ptx(griddep_chain *chain, const griddep_ptx *ptx, const char *entry,
        const griddep_launch_config *config, const griddep_argument *arguments,
        uint32_t argument_count, griddep_error *error);

/* The same for copies, fills and host functions: cuMemcpyAsync, cuMemsetD8Async and
 * cuLaunchHostFunc in stream modes, nodes in graph modes. config (may be NULL: lane 0, no name)
 * gives only lane and name. Kernels do not overlap across them (REASON_NODE_BETWEEN). ARGUMENT for
 * the address 0, 0 bytes, and where config says more. Memory of the host and `user` must stay until
 * the last run is over.
 *
 * copy:  between addresses of the device or the host (unified addressing). Where the host's memory
 *        is not pinned, a run in a stream mode may wait for the copy.
 * fill:  device memory.
 * host:  under the rules of "Callbacks"; its stream waits for it. */
int32_t griddep_chain_add_copy(griddep_chain *chain, const griddep_launch_config *config,
        uint64_t target, uint64_t source, uint64_t bytes, griddep_error *error);
int32_t griddep_chain_add_fill(griddep_chain *chain, const griddep_launch_config *config,
        uint64_t address, uint8_t value, uint64_t bytes, griddep_error *error);
int32_t griddep_chain_add_host(griddep_chain *chain, const griddep_launch_config *config,
        griddep_host_function function, void *user, griddep_error *error);

/* The launch whose configuration gave it that name; else the only launch of a kernel of that name
 * that was given none. ARGUMENT where there are several. */
int32_t griddep_chain_find(const griddep_chain *chain, const char *name, uint32_t *index,
        griddep_error *error);

/* Makes launch `index` wait for the end of an earlier one, `on`, of another lane: in streams by an
 * event, in graphs by an edge. If its kernel waits on every path, mode graph-pdl has a programmatic
 * edge; if all launches that wait for `on` do so, mode pdl has a programmatic event, so `on` and
 * the next of its lane still overlap. Within a lane nothing changes. ARGUMENT for a later `on`. */
int32_t griddep_chain_depend(griddep_chain *chain, uint32_t index, uint32_t on,
        griddep_error *error);

/* Names a launch, as its configuration can, for griddep_chain_find, messages and explanations;
 * NULL: no more. ARGUMENT where another one has that name. */
int32_t griddep_chain_set_name(griddep_chain *chain, uint32_t index, const char *name,
        griddep_error *error);

/* Tells what the code of a launch does that griddep_chain_add_ptx was given without PTX: a sum of
 * GRIDDEP_TRAIT_*, from griddep_image_get_kernel or as griddep_kernel_state_traits takes them; 0:
 * nothing is known. WAITS_ALWAYS says WAITS too, and any says KNOWN. ARGUMENT for other bits. */
int32_t griddep_chain_set_traits(griddep_chain *chain, uint32_t index, uint32_t traits,
        griddep_error *error);

enum {
    GRIDDEP_ACCESS_UNKNOWN = 0,  /* found out from the PTX where it shows */
    GRIDDEP_ACCESS_READ = 1,
    GRIDDEP_ACCESS_WRITE = 2,
    GRIDDEP_ACCESS_UPDATE = 3,   /* read and written */
    GRIDDEP_ACCESS_CONSTANT = 4  /* read, and written by nothing in the chain */
};

typedef struct griddep_use {
    uint32_t size;
    uint32_t buffer;     /* that it points into, 1 to 2^31 - 1; 0: it is no pointer */
    int32_t access;      /* GRIDDEP_ACCESS_* */
    uint32_t reserved;
    uint64_t offset;     /* bytes from the buffer's start that it points to */
    uint64_t bytes;      /* that may be touched from there; 0: not known, to the buffer's end */
    const char *element; /* type of what it points to, "bf16"; NULL: not told */
} griddep_use;

/* What the check believes of memory; `griddep stress` and `sanitize` show where it is wrong.
 *
 * add_buffer: `bytes` bytes at an address hold one thing, of perhaps many in one allocation. An
 * argument that points into it, and whose extent nobody tells, reaches to its end at most (where
 * several hold the address, to the furthest end). ARGUMENT for an address or a size of 0, and for
 * what goes beyond all addresses.
 *
 * set_use: what stands behind an argument of a launch, counted from 0. A copy has the arguments
 * target (0) and source (1), a fill its target. What is not said is inferred: an argument of 8
 * bytes is an address that reaches as far as the head comment (extent) or add_buffer tells, else to
 * the end of its allocation, for which the driver is asked (without a runtime: to the next address
 * that the chain has); its use is read from the PTX. A value in no allocation is a number beside an
 * address that the kernel adds it to; alone it may lead anywhere. Addresses whose ranges overlap
 * are in one buffer.
 *
 * set_reach: what a kernel reaches at addresses that no argument gives it (pointers from a table,
 * handles, a tensor map in memory, a struct): all of it, each with an access, and a buffer's number
 * with offset and bytes, or 0 and then the address in `offset`. The last list counts; count 0:
 * nothing. Without it such an address may be any, but for what is declared constant. */
int32_t griddep_chain_add_buffer(griddep_chain *chain, uint64_t address, uint64_t bytes,
        griddep_error *error);
int32_t griddep_chain_set_use(griddep_chain *chain, uint32_t index, uint32_t argument,
        const griddep_use *use, griddep_error *error);
int32_t griddep_chain_set_reach(griddep_chain *chain, uint32_t index, const griddep_use *uses,
        uint32_t count, griddep_error *error);

/* Checks the launches in stream order as a whole: each entry in the light of its arguments, and the
 * hops between them: missing or late waits, transitive gaps, writes that a kernel still reading
 * could see, triggers that nobody uses, overlap that is lost. Each lane is looked at by itself;
 * between lanes, what nothing orders, and what may still run in the lane of a launch that another
 * one waits for. Of a text that is no valid PTX only the mistakes are told. Nothing is run. */
int32_t griddep_chain_check(const griddep_chain *chain, griddep_findings **findings,
        griddep_error *error);

/* Changes between runs, in every mode; runs that are under way keep what they had. Nodes of
 * instantiated graphs are changed (cuGraphExecKernelNodeSetParams and its like). The next run
 * instantiates anew what the driver does not change so: cluster, attributes and `pdl`, addresses of
 * another kind or device, and everything before API 12.3 in a chain with one lane. On failure
 * everything is as before. Values are checked as when they were added. A configuration holds for
 * all sets of arguments; its lane and name stay: ARGUMENT for another lane, or another name than
 * NULL and its own. What griddep_chain_set_use said stays; what is inferred is inferred anew. */
int32_t griddep_chain_set_arguments(griddep_chain *chain, uint32_t index,
        const griddep_argument *arguments, uint32_t argument_count, griddep_error *error);
int32_t griddep_chain_set_argument(griddep_chain *chain, uint32_t index, uint32_t argument,
        const griddep_argument *value, griddep_error *error);
int32_t griddep_chain_set_config(griddep_chain *chain, uint32_t index,
        const griddep_launch_config *config, griddep_error *error);
int32_t griddep_chain_set_copy(griddep_chain *chain, uint32_t index, uint64_t target,
        uint64_t source, uint64_t bytes, griddep_error *error);
int32_t griddep_chain_set_fill(griddep_chain *chain, uint32_t index, uint64_t address,
        uint8_t value, uint64_t bytes, griddep_error *error);

/* Sets of arguments, swapped at once: two buffers in turns. A chain begins with set 0, selected.
 * add copies the selected set and writes the new one's number; all other calls mean the selected
 * one: runs, changes, the check, explanations. Launches are added to all sets; lanes, order,
 * configurations and uses are common to them. Each set has graphs of its own, which its first run
 * in a mode or griddep_chain_prepare instantiates, so a run after a swap costs as much as any. */
int32_t griddep_chain_add_argument_set(griddep_chain *chain, uint32_t *set, griddep_error *error);
int32_t griddep_chain_select_argument_set(griddep_chain *chain, uint32_t set, griddep_error *error);

/* Makes ready what the first run in a mode would: in modes that overlap the check of which launches
 * would race if they started early (GRIDDEP_REASON_RACE), in milliseconds; in graph modes the
 * graph. The check is made again when a launch, an order, a configuration or a use has changed;
 * and, where arguments decide about a race, when they stand for other places of buffers. */
int32_t griddep_chain_prepare(griddep_chain *chain, int32_t mode, griddep_error *error);

/* Runs the chain in a stream, asynchronously. In a stream that is being captured the modes serial
 * and pdl become part of the capture; the graph modes give STREAM there and spoil the capture. The
 * first launch never sets attribute 6 unless forced: its kernel may read what is constant only
 * within the chain. */
int32_t griddep_chain_run(griddep_chain *chain, int32_t mode, void *stream, griddep_error *error);

/* Runs the chain so many times back to back; in modes pdl and graph-pdl the first launch of each
 * further round starts early beside the last one of the round before. That needs one lane, kernels
 * at both ends, of which the first waits on every path, and a check of two rounds that finds no
 * race more: else GRIDDEP_REASON_ROUND. The check is made once, and again as by
 * griddep_chain_prepare. Graph modes run graphs of 1, 2, 4, ... rounds, of up to 1024 nodes, which
 * are instantiated when they are first needed; rounds at their ends do not overlap. */
int32_t griddep_chain_run_many(griddep_chain *chain, int32_t mode, uint32_t rounds, void *stream,
        griddep_error *error);

/* Number of launches, and what happens at the index-th in a mode, which is prepared. The index
 * behind the last one is the first launch of a further round: griddep_chain_run_many. */
uint32_t griddep_chain_length(const griddep_chain *chain);
int32_t griddep_chain_get_hop(griddep_chain *chain, int32_t mode, uint32_t index,
        griddep_hop_info *info, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Group: several devices, memory that all of them reach, and hops between their chains
 *
 * A member of a group is a runtime on a device of its own, or on a part of one: all of one process,
 * or each of its own, of one user or on several machines. A hop is a launch of a chain like any
 * other, in every mode: each member has a chain of its own and adds the same hops in the same
 * order; the kernel sends this member's words to the others and waits for theirs. A word travels
 * with the number of its hop, so that nothing is reset between runs and a graph replays.
 *
 * A member's n-th chain, by the order of first hops, belongs to the n-th of the others. The first
 * run of each, or griddep_chain_prepare, compares them: PEER where operation, type, count or order
 * of hops differ. They run in that order too, as often on each member, one after the other: chains
 * that run at a time on a device need a group each. Hand in the runs of all members before you wait
 * for one of them. Tuning runs a chain by itself, and finds no others there.
 *
 * Devices must be peers (cuDeviceCanAccessPeer). Else, and on several machines, NCCL must be there
 * and not off: it carries out every hop, and griddep_group_allocate gives UNSUPPORTED. On several
 * machines member 0's chains are compared with those of each other one.
 */

enum { GRIDDEP_NO_MEMBER = -1 };

/* Whether NCCL (libnccl.so.2 from 2.11 on, or what GRIDDEP_NCCL names) carries out large hops. Then
 * members of one process have a device each, in its primary context, and all processes have one
 * version of it. Nothing starts early beside a hop of NCCL, timeout_ms does not hold for it, and
 * griddep_graph_from_chain refuses its chain. Of two members a sum of NCCL's has the bits of our
 * kernels; of more, NCCL chooses the order, rounds partial sums to the type, and may add in the
 * switch in an order that differs from run to run (NVLS; NCCL_NVLS_ENABLE=0 switches that off). By
 * its authors' word all members have the same bits. */
enum {
    GRIDDEP_NCCL_AUTO = 0, /* where it is there and changes no bit (sums of two members alone); not
                            * for three or more members of one process, which NCCL may block */
    GRIDDEP_NCCL_OFF = 1,
    GRIDDEP_NCCL_ON = 2    /* for all sums. UNSUPPORTED, with the reason, where it cannot serve */
};

/* The store of this process's first member keeps nccl_bytes for groups that say 0, as 'griddep tune
 * --hops' does. FILE. */
enum { GRIDDEP_GROUP_REMEMBER = 1 };

typedef struct griddep_group_options {
    uint32_t size;
    uint32_t timeout_ms; /* how long a kernel waits for another member; 0: 10000; at most 4000000 */
    uint32_t join_ms;    /* how long processes wait for each other in a call; 0: 60000 */
    int32_t nccl;        /* GRIDDEP_NCCL_* */
    uint64_t nccl_bytes; /* the same on all members: from so many bytes of a hop, or of its parts,
                          * two members use NCCL, more sooner, by what each way sends; 0: what
                          * member 0's store remembers of such devices, else 14 MiB */
    uint32_t flags;      /* GRIDDEP_GROUP_REMEMBER */
} griddep_group_options;

typedef struct griddep_group_info {
    uint32_t size;
    uint32_t count;      /* members */
    uint32_t timeout_ms;
    uint32_t rank;       /* of this process's member; 0 where all are of this process */
    uint64_t nccl_bytes; /* as the options said it; for 0 there, the one that all members have */
} griddep_group_info;

/* A group of 1 to 32 runtimes of this process, whose order is their rank. Each device reaches the
 * others' memory from then on. Two may be of one device where they are parts of it of one size
 * (griddep_runtime_options.multiprocessors): to try a group on a single GPU. ARGUMENT where two are
 * of one device otherwise, or of different drivers; UNSUPPORTED below sm_90; DRIVER where devices
 * are no peers. The group's memory stays as long as any chain or graph with its hops. */
int32_t griddep_group_open(griddep_runtime *const *runtimes, uint32_t count,
        const griddep_group_options *options, griddep_group **group, griddep_error *error);
void griddep_group_close(griddep_group *group);

/* Makes this process's runtime the member `rank`, from 0, of a group of `count` processes, which
 * wait for each other at the socket `path`: at most 107 bytes, for this group alone, in a folder
 * that others cannot write to. The memory of a member that dies stays until the others' groups end
 * (cuMemExportToShareableHandle). PEER where one does not come; ARGUMENT for a rank twice, another
 * count, two members on one device, a path that is in use; UNSUPPORTED for different chips.
 *
 * path tcp://HOST:PORT or tcp://HOST:PORT/JOB: processes of any machines. Member 0 listens there
 * until all have come, at all its addresses where HOST is a name; who says another JOB is refused.
 * Nobody is asked who he is, as by NCCL itself: let no stranger reach the port.
 *
 * path NULL, rank and count 0: as the environment of torchrun (RANK, WORLD_SIZE), Open MPI's mpirun
 * (OMPI_COMM_WORLD_RANK, _SIZE), a launcher with PMI (PMI_RANK, PMI_SIZE) or srun (SLURM_PROCID,
 * SLURM_NTASKS) says, the first of them that is there. They meet in /tmp/griddep-UID, at a name
 * that follows from MASTER_ADDR, MASTER_PORT and the launcher's job; on several machines
 * (LOCAL_WORLD_SIZE, OMPI_COMM_WORLD_LOCAL_SIZE, MPI_LOCALNRANKS, SLURM_STEP_NUM_NODES) at
 * tcp://MASTER_ADDR:MASTER_PORT, of torchrun at the port behind it. ARGUMENT with the variable's
 * name where one is missing or wrong. */
int32_t griddep_group_join(griddep_runtime *runtime, uint32_t rank, uint32_t count,
        const char *path, const griddep_group_options *options, griddep_group **group,
        griddep_error *error);

int32_t griddep_group_get_info(const griddep_group *group, griddep_group_info *info,
        griddep_error *error);

/* Memory for kernels of your own: so many bytes on each member, filled with zeros, until the group
 * ends. Writes the buffer's number, from 1; get_address gives a member's part, an address that
 * kernels of all members can use. All processes allocate together: PEER where one allocates
 * something else or does not come. NOT_FOUND for a buffer or a member that there is not. */
int32_t griddep_group_allocate(griddep_group *group, uint64_t bytes, uint32_t *buffer,
        griddep_error *error);
int32_t griddep_group_get_address(griddep_group *group, uint32_t buffer, uint32_t member,
        uint64_t *address, griddep_error *error);

/* To be asked when a run is over: PEER where a kernel of a member waited for another one in vain,
 * with both ranks and the hop. From then on hops of that member do nothing, its runs are refused
 * with the same error, and the group is to be closed. No call of the driver is made. */
int32_t griddep_group_status(const griddep_group *group, griddep_error *error);

enum {
    GRIDDEP_HOP_ALL_REDUCE = 0,     /* target = the sum of all sources */
    GRIDDEP_HOP_ALL_GATHER = 1,     /* target has each member's `count` elements, by rank */
    GRIDDEP_HOP_REDUCE_SCATTER = 2, /* likewise source; target = the sum of parts for this one */
    GRIDDEP_HOP_BROADCAST = 3,      /* what `root` has at target is written there on all others */
    GRIDDEP_HOP_EXCHANGE = 4        /* source goes to member `to`, target gets what `from` sends;
                                     * either may be GRIDDEP_NO_MEMBER, and its address 0. All
                                     * members take part: send, receive, a ring */
};

typedef struct griddep_hop {
    uint32_t size;
    int32_t operation;       /* GRIDDEP_HOP_* */
    int32_t type;            /* GRIDDEP_TENSOR_U8 to _BF16; for sums _BF16, _F16 or _F32 */
    int32_t root;            /* of a broadcast */
    int32_t to, from;        /* of an exchange */
    uint64_t source, target; /* the member's own, multiples of 4. Of a broadcast target alone */
    uint64_t count;          /* of elements */
} griddep_hop;

/* Appends a hop to the chain of the member whose runtime the chain has. config (may be NULL: lane
 * 0) tells lane, name and pdl alone; hops of a group are in one lane. Sums are made in f32 in the
 * order of ranks and rounded once: all members have the same bits, in every run. Where a hop has
 * parts, the source may be this member's part of the target or the reverse; they may not overlap
 * otherwise. ARGUMENT for that, for a field that the operation has no use for and that is not 0,
 * for bytes that are no multiple of 2 (of a part: of 4), where the runtime is no member. LIMIT
 * beyond 4 GiB less 12 bytes in all parts. griddep_chain_set_argument changes source (0) and
 * target (1) between runs; all else about a hop stays. */
int32_t griddep_chain_add_hop(griddep_chain *chain, griddep_group *group,
        const griddep_launch_config *config, const griddep_hop *hop, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Graph: nodes and edges with ports, made by hand, from a chain or a capture, or taken over
 *
 * This library keeps a graph and gives it to the driver when it is instantiated. Nodes and edges
 * are numbered in the order in which they were added: NOT_FOUND for one that is not there. What the
 * driver would refuse later, or take and ignore, is refused when it is said, with the nodes' names.
 * An added node or edge drops what was instantiated. In an adopted graph the CUgraph itself is
 * changed, at once (edges: UNSUPPORTED before API 12.3), and the driver's refusal returned.
 */

/* As CUgraphNodeType, whose other values an adopted graph may have too. */
enum {
    GRIDDEP_GRAPH_NODE_KERNEL = 0, GRIDDEP_GRAPH_NODE_COPY = 1, GRIDDEP_GRAPH_NODE_FILL = 2,
    GRIDDEP_GRAPH_NODE_HOST = 3, GRIDDEP_GRAPH_NODE_CHILD = 4, GRIDDEP_GRAPH_NODE_EMPTY = 5,
    GRIDDEP_GRAPH_NODE_EVENT_WAIT = 6, GRIDDEP_GRAPH_NODE_EVENT_RECORD = 7,
    GRIDDEP_GRAPH_NODE_CONDITIONAL = 13
};

/* Where at a node an edge begins (CU_GRAPH_KERNEL_NODE_PORT_*). Only kernels have all three. */
enum {
    GRIDDEP_PORT_DEFAULT = 0,      /* its end */
    GRIDDEP_PORT_PROGRAMMATIC = 1, /* all its blocks have triggered or ended */
    GRIDDEP_PORT_LAUNCH_ORDER = 2  /* all its blocks have begun */
};

enum {
    GRIDDEP_EDGE_DEFAULT = 0,      /* the second node begins when the port is reached */
    GRIDDEP_EDGE_PROGRAMMATIC = 1, /* likewise, between kernels, from port PROGRAMMATIC or
                                    * LAUNCH_ORDER; griddepcontrol.wait in the second waits for the
                                    * first's end. The caller vouches as for GRIDDEP_PDL_FORCE */
    GRIDDEP_EDGE_AUTO = 2          /* from port DEFAULT: programmatic from that port where both are
                                    * kernels, and device, driver and the second's `pdl` allow it */
};

int32_t griddep_graph_create(griddep_runtime *runtime, griddep_graph **graph, griddep_error *error);
void griddep_graph_destroy(griddep_graph *graph);

/* Each appends a node, and writes its number. Nothing orders it until an edge does. Memory of the
 * host and `user` must stay until the last launch is over.
 *
 * kernel:  checked as by griddep_launch. ARGUMENT where config has a stream, where the kernel
 *          belongs to another runtime, and for attributes 7 and 12, which edges say. config's `pdl`
 *          is what AUTO edges to the node go by.
 * fill:    bytes > 0; a device address. copy likewise, also of the host (unified addressing).
 * host:    under the rules of "Callbacks". */
int32_t griddep_graph_add_kernel(griddep_graph *graph, griddep_kernel *kernel,
        const griddep_launch_config *config, const griddep_argument *arguments,
        uint32_t argument_count, uint32_t *node, griddep_error *error);
int32_t griddep_graph_add_fill(griddep_graph *graph, uint64_t address, uint8_t value,
        uint64_t bytes, uint32_t *node, griddep_error *error);
int32_t griddep_graph_add_copy(griddep_graph *graph, uint64_t target, uint64_t source,
        uint64_t bytes, uint32_t *node, griddep_error *error);
int32_t griddep_graph_add_host(griddep_graph *graph, griddep_host_function function, void *user,
        uint32_t *node, griddep_error *error);

/* Adds an edge. ARGUMENT for a port that the first node does not have or that does not go with the
 * type, a programmatic edge between nodes that are not both kernels, a second edge between two
 * nodes, and a cycle. Where a switch is off (GRIDDEP_PDL_OFF, also the second node's), or device or
 * driver do not allow early starts, it becomes a plain one, and griddep_graph_get_edge says why. */
int32_t griddep_graph_add_edge(griddep_graph *graph, uint32_t from, uint32_t to, int32_t from_port,
        int32_t type, griddep_error *error);
int32_t griddep_graph_remove_edge(griddep_graph *graph, uint32_t edge, griddep_error *error);

/* A graph of a chain's launches in one of its modes; the chain is not needed afterwards. Nodes have
 * the launches' numbers; behind them are nodes that record the events of attributes 7 and 12. */
int32_t griddep_graph_from_chain(griddep_chain *chain, int32_t mode, griddep_graph **graph,
        griddep_error *error);

/* Begins to capture what a stream is given, and ends it with a graph of that (adopted, owned).
 * STREAM if the stream is a default stream, is captured already, or is not captured; also if the
 * capture was spoilt or has streams that were not joined: it ends all the same. */
int32_t griddep_graph_capture_begin(griddep_runtime *runtime, void *stream, griddep_error *error);
int32_t griddep_graph_capture_end(griddep_runtime *runtime, void *stream, griddep_graph **graph,
        griddep_error *error);

enum { GRIDDEP_GRAPH_OWN = 1 }; /* the CUgraph belongs to the griddep_graph after a success */

/* Takes a CUgraph of the runtime's context that was made elsewhere: reads its nodes and edges.
 * Without GRIDDEP_GRAPH_OWN it must outlive the griddep_graph. Kernels are known where their code
 * is a module of this runtime; griddep_graph_describe says which PTX entry another kernel node
 * runs, for the audit and griddep_graph_upgrade. Where a switch is off, edges that let a node start
 * early are reported as plain; the CUgraph is changed when it is instantiated or launched. */
int32_t griddep_graph_adopt(griddep_runtime *runtime, void *cuda_graph, uint32_t flags,
        griddep_graph **graph, griddep_error *error);
int32_t griddep_graph_describe(griddep_graph *graph, uint32_t node, const griddep_ptx *ptx,
        const char *entry, griddep_error *error);

/* Makes the graph ready to run; again, it is made anew. The driver's refusal comes with the node or
 * edge that it refused. launch does it where it has not been done, and runs the graph in a stream,
 * asynchronously; launches of one graph run one after the other. STREAM in a stream that is being
 * captured, whose capture is spoilt. */
int32_t griddep_graph_instantiate(griddep_graph *graph, griddep_error *error);
int32_t griddep_graph_launch(griddep_graph *graph, void *stream, griddep_error *error);

/* Gives a kernel node other arguments, or another configuration, without instantiating again;
 * launches that are under way keep what they had. ARGUMENT for another node. UNSUPPORTED if
 * cluster, attributes or `pdl` would change after the graph was instantiated. In an adopted graph
 * they never change; UNSUPPORTED also for a kernel of no module of this runtime, and for set_config
 * until set_arguments has given the arguments. */
int32_t griddep_graph_set_arguments(griddep_graph *graph, uint32_t node,
        const griddep_argument *arguments, uint32_t argument_count, griddep_error *error);
int32_t griddep_graph_set_config(griddep_graph *graph, uint32_t node,
        const griddep_launch_config *config, griddep_error *error);

typedef struct griddep_graph_node_info {
    uint32_t size;
    int32_t type;         /* GRIDDEP_GRAPH_NODE_*, or another CUgraphNodeType */
    const char *name;     /* of a kernel, NULL where it is not known; else what it is: "fill" */
    uint32_t traits;      /* GRIDDEP_TRAIT_* of a kernel */
    uint32_t before_count, after_count; /* edges that lead to it, and from it */
    void *handle;         /* CUgraphNode; NULL before the graph is instantiated */
} griddep_graph_node_info;

typedef struct griddep_graph_edge_info {
    uint32_t size;
    uint32_t from, to;    /* nodes */
    int32_t asked;        /* GRIDDEP_EDGE_* as it was added */
    int32_t from_port;    /* GRIDDEP_PORT_*, and */
    int32_t type;         /* GRIDDEP_EDGE_DEFAULT or _PROGRAMMATIC in the driver; -1: not told */
    int32_t overlap;      /* GRIDDEP_OVERLAP_*, as far as the graph decides it */
    int32_t reason;       /* GRIDDEP_REASON_* */
    uint32_t node;        /* with REASON_OTHER_ORDER, _NODE_BETWEEN, _CONDITIONAL; else 0 */
    uint32_t races;       /* 1: the second starts early, and the check finds a race (from a chain),
                           * or it does not wait on every path (else), or no wait helps */
} griddep_graph_edge_info;

/* The audit: what nodes and edges there are, and what becomes of the overlap. Nothing is
 * instantiated for it. Names live until the graph is changed. */
uint32_t griddep_graph_node_count(const griddep_graph *graph);
uint32_t griddep_graph_edge_count(const griddep_graph *graph);
int32_t griddep_graph_get_node(const griddep_graph *graph, uint32_t index,
        griddep_graph_node_info *info, griddep_error *error);
int32_t griddep_graph_get_edge(const griddep_graph *graph, uint32_t index,
        griddep_graph_edge_info *info, griddep_error *error);

/* Makes plain edges between kernels programmatic (those of REASON_PLAIN): where the second kernel
 * waits on every path and nothing else holds it up, all edges of a join or none.
 * griddep_graph_get_edge says of each other one why it stays; those that griddep_graph_add_edge
 * made AUTO or PROGRAMMATIC are not looked at. The graph is instantiated; where the driver refuses,
 * everything is put back. count (may be NULL) tells how many edges there were.
 *
 * Edges to a kernel that touches memory before its wait stay where griddep_chain_check, asked as
 * for a chain of the nodes, finds a race of it or one that nothing rules out (REASON_RACE); all of
 * them where arguments (the driver is asked for those of an adopted graph now) or a kernel's code
 * are not known, an edge lets a node begin early that does not wait, or the graph has more than
 * 2048 nodes. Later changes of arguments or kernels make such edges plain, or programmatic again,
 * and the graph is instantiated anew. */
int32_t griddep_graph_upgrade(griddep_graph *graph, uint32_t *count, griddep_error *error);

enum { GRIDDEP_FORMAT_DOT = 0, GRIDDEP_FORMAT_JSON = 1 };

/* Writes the audit as text, for Graphviz or as JSON, like griddep_ptx_print writes. */
int32_t griddep_graph_print(const griddep_graph *graph, int32_t format, char *buffer,
        uint64_t capacity, uint64_t *bytes, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Tune: where wait and trigger stand best, tried out on the device */

typedef struct griddep_tune griddep_tune;
/* Other configurations of a launch with which its kernel computes the same. */
typedef struct griddep_tune_offer {
    uint32_t size;             /* the same in all elements of an array: the step to the next */
    uint32_t launch;
    const uint32_t *grids;     /* first dimensions of the grid */
    const int32_t *carveouts;  /* of GRIDDEP_ATTRIBUTE_CARVEOUT */
    uint32_t grid_count, carveout_count;
} griddep_tune_offer;

typedef struct griddep_tune_buffer {
    uint32_t size;       /* likewise */
    uint32_t compared;   /* 1: its bits must be those that the serial run left; 2: and it holds
                            integers that runs change, as a position: each begins with `initial` */
    uint64_t address, bytes;
    const void *initial; /* what it holds before a run; NULL: no launch writes it */
} griddep_tune_buffer;

/* Told before each trial: how many are over, how many there are at most, what is tried. Another
 * value than 0 ends the search with what was found. */
typedef int32_t (*griddep_tune_progress)(void *user, uint32_t done, uint32_t most,
                                         const char *text);

/* Do not remember the result in the store; try shapes of the shelf's kernels, no offers. */
enum { GRIDDEP_TUNE_FLAG_FORGET = 1, GRIDDEP_TUNE_FLAG_SHAPES = 2 };

typedef struct griddep_tune_options {
    uint32_t size;
    uint32_t flags;    /* GRIDDEP_TUNE_FLAG_* */
    int32_t mode;      /* GRIDDEP_MODE_PDL or _GRAPH_PDL; 0: GRAPH_PDL */
    uint32_t pairs;    /* timed pairs of a trial, at most 10000; 0: 31. Emulated always 1 */
    double least_gain; /* what a gain must exceed whatever the noise is, below 1; 0: 0.005 */
    const griddep_tune_offer *offers;
    uint32_t offer_count;
    uint32_t reserved;
    griddep_tune_progress progress; /* may be NULL */
    void *progress_user;
} griddep_tune_options;

enum {
    GRIDDEP_TUNE_OUTCOME_BETTER = 0,     /* faster by more than the threshold */
    GRIDDEP_TUNE_OUTCOME_NOT_BETTER = 1,
    GRIDDEP_TUNE_OUTCOME_SLOWER = 2,     /* so much slower that not all pairs were timed */
    GRIDDEP_TUNE_OUTCOME_SAME = 3,       /* the same text as a trial before, or as it is */
    GRIDDEP_TUNE_OUTCOME_NO_PLACE = 4,   /* the kernel has no such place */
    GRIDDEP_TUNE_OUTCOME_ILLEGAL = 5,    /* the check of the chain finds something in it: not run */
    GRIDDEP_TUNE_OUTCOME_DIFFERENT = 6,  /* it ran, and did not leave the bits of the serial run */
    GRIDDEP_TUNE_OUTCOME_REFUSED = 7,    /* driver or device does not take it */
    GRIDDEP_TUNE_OUTCOME_UNCONFIRMED = 8 /* faster, but not when it was measured anew */
};

typedef struct griddep_tune_trial {
    uint32_t size;
    int32_t outcome;      /* GRIDDEP_TUNE_OUTCOME_* */
    uint32_t launch;      /* the first launch that it changes */
    uint32_t pairs;       /* that were timed */
    const char *kernel;   /* its name */
    const char *text;     /* what was tried: "trigger after-loads" */
    const char *detail;   /* why it was not timed; "" where it was */
    double ratio;         /* median of its time / the best's before it; 0: not timed */
    double lowest, highest; /* of the middle 80 % of the pairs */
    double again;         /* that ratio measured anew, with newly loaded code; 0: it was not */
    double needed;        /* gain that this had to show */
} griddep_tune_trial;

typedef struct griddep_tune_info {
    uint32_t size;
    uint32_t changed;      /* 0: nothing better was found, and all choices are what was given */
    int32_t mode;
    uint32_t remembered;   /* 1: written to the store, or read from it */
    uint32_t model;        /* 1: times are those of the emulated driver's model */
    uint32_t launch_count, trial_count;
    uint32_t ran_count;    /* trials that were run */
    uint32_t stopped;      /* 1: `progress` ended the search */
    uint32_t noise_pairs;  /* pairs of the chain with itself */
    double noise;          /* most that a group of these, with newly loaded code, deviates */
    double threshold;      /* gain with which a trial is measured anew: noise / 2, or least_gain */
    double baseline_ns, chosen_ns; /* medians of the last comparison */
    double ratio;          /* chosen / given: median of the pairs; 1 where nothing changed */
    double lowest, highest; /* of the groups that it was measured in */
    double last_ratio;     /* of the last comparison: all that was faster by itself with what was
                            * given; 0: nothing to compare; NaN: it left other results */
    double last_needed;    /* gain that this had to show */
    uint32_t confirmations; /* how often something was measured anew */
    uint32_t reserved;
} griddep_tune_info;

typedef struct griddep_tune_choice {
    uint32_t size;
    uint32_t changed;       /* 1: anything below differs from what was given */
    griddep_kernel *kernel; /* to launch: the given one, or one that the griddep_tune holds */
    const griddep_ptx *ptx; /* of a rewritten kernel's module; NULL: as given */
    uint32_t grid[3];
    int32_t pdl;            /* GRIDDEP_PDL_* */
    const char *text;       /* "wait move, trigger start"; "" for nothing */
    int32_t carveout;       /* takes the place of a GRIDDEP_ATTRIBUTE_CARVEOUT; _DEFAULT: none */
    uint32_t shared_bytes, block[3];
    uint32_t reserved;
} griddep_tune_choice;

/* Tries shapes of the shelf's linear layers, one for all launches of a kernel with the same sizes;
 * then, kernel by kernel, other places of trigger and wait, triggers in rounds of a loop, L2
 * prefetches of constant parameters, launches without PDL, and the grids and carve-outs that are
 * offered. Only what griddep_chain_check takes as it takes the chain itself is tried; only what
 * leaves the bits of the serial run and is faster is kept. Each candidate is timed in pairs with
 * the best so far, and again if it is faster: at most 5 % of searches keep anything wrong. At the
 * end all that was chosen is compared with the chain as given, and dropped where the gain does not
 * hold. Kernels without PTX stay; rewritten ones are compiled with default options. ARGUMENT for
 * less than two launches, for errors that the check finds, and where a launch is known to write
 * outside of the buffers, or into one without `initial`. The store remembers a result that changes
 * something, for these kernels, shapes, device and driver. */
int32_t griddep_tune_run(griddep_chain *chain, const griddep_tune_buffer *buffers,
        uint32_t buffer_count, const griddep_tune_options *options, griddep_tune **tune,
        griddep_error *error);

/* What was remembered for a chain like this; NOT_FOUND where nothing was. Addresses and offers do
 * not matter, all else does. mode as in the options. */
int32_t griddep_tune_load(griddep_chain *chain, int32_t mode, griddep_tune **tune,
        griddep_error *error);

/* The result, its trials in their order, and what was chosen for each launch. destroy ends the
 * kernels of its choices too, except where a chain holds their module. */
int32_t griddep_tune_get_info(const griddep_tune *tune, griddep_tune_info *info,
        griddep_error *error);
int32_t griddep_tune_get_trial(const griddep_tune *tune, uint32_t index, griddep_tune_trial *trial,
        griddep_error *error);
int32_t griddep_tune_get_choice(const griddep_tune *tune, uint32_t launch,
        griddep_tune_choice *choice, griddep_error *error);
void griddep_tune_destroy(griddep_tune *tune);

/* ---------------------------------------------------------------------------------------------
 * Explanation: why a hop overlaps, or does not */

typedef struct griddep_explanation griddep_explanation;

typedef struct griddep_condition {
    uint32_t size;
    int32_t reason;      /* GRIDDEP_REASON_*: why there is none, or less, if not met */
    int32_t met;         /* 1, 0, or -1: not known */
    int32_t decisive;    /* 1: without it there is no overlap; 0: it tells how much */
    const char *name;    /* "producer triggers" */
    const char *text;    /* a sentence with the numbers */
} griddep_condition;

typedef struct griddep_explanation_info {
    uint32_t size;
    int32_t overlap;      /* GRIDDEP_OVERLAP_*, predicted */
    int32_t reason;       /* GRIDDEP_REASON_* */
    int32_t unmet;        /* the decisive condition that gives the reason; -1: all are met */
    const char *producer, *consumer; /* names of the launches, else of their kernels; or NULL */
    const char *text;     /* the prediction in a sentence */
    uint32_t condition_count;
    uint32_t reserved;
} griddep_explanation_info;

/* Explains the hop to the index-th launch of a chain, as griddep_chain_get_hop counts, from the one
 * before it in its lane (for a lane's first: from the last that it waits for), in a mode, which is
 * prepared. It runs nothing, and does not know what is in the stream besides the chain. The
 * explanation holds nothing of the chain. */
int32_t griddep_chain_explain(griddep_chain *chain, int32_t mode, uint32_t index,
        griddep_explanation **explanation, griddep_error *error);
void griddep_explanation_destroy(griddep_explanation *explanation);

/* The conditions in their order, and what follows from them. */
int32_t griddep_explanation_get(const griddep_explanation *explanation, uint32_t index,
        griddep_condition *condition, griddep_error *error);
int32_t griddep_explanation_get_info(const griddep_explanation *explanation,
        griddep_explanation_info *info, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Timeline: when each block of a chain's launches began, waited, was released, triggered and ended
 *
 * A timeline has a chain of its own with the same launches, to be timed against the plain one.
 * Kernels whose PTX is known are instrumented: each block notes its points in a variable of the
 * module, by %globaltimer. Others run as they are, and their times are NaN. Results are the same,
 * and times nearly so.
 *
 * Times are nanoseconds from the earliest stamp of the run, the first block's entry. On the
 * emulated driver they are its model's. doc/timeline.md has a drawing of each figure.
 */

/* Points of a block, as columns for griddep_timeline_read. */
enum {
    GRIDDEP_STAMP_SM = 0,      /* number of the multiprocessor that it ran on */
    GRIDDEP_STAMP_ENTRY = 1,   /* its first thread begins */
    GRIDDEP_STAMP_WAIT = 2,    /* its first thread comes to a griddepcontrol.wait */
    GRIDDEP_STAMP_RELEASE = 3, /* its first thread comes out of one */
    GRIDDEP_STAMP_TRIGGER = 4, /* its first thread has executed griddepcontrol.launch_dependents */
    GRIDDEP_STAMP_EXIT = 5,    /* its last thread is about to leave */
    GRIDDEP_STAMP_MARK = 6,    /* its first thread comes to the launch's first mark, a line
                                * "//@ mark NAME" in the PTX; the next mark is 7, ... */
    GRIDDEP_STAMP_NONE = -1    /* in place of a value: the block never came there */
};

typedef struct griddep_timeline_options {
    uint32_t size;
    uint32_t flags;
    uint32_t blocks;     /* most blocks of a launch that are kept, the first ones; 0: 16384 */
    uint32_t reserved;
} griddep_timeline_options;

/* Of the last run. A double is NaN where there is nothing to tell. */
typedef struct griddep_timeline_info {
    uint32_t size;
    int32_t mode;              /* GRIDDEP_MODE_*; -1: no run yet, and the counts alone are told */
    uint32_t launch_count;
    uint32_t multiprocessors;  /* of the device */
    uint32_t emulated;         /* 1: model time */
    uint32_t backward;         /* blocks whose clock went backwards; no figure counts them */
    uint64_t blocks, blocks_kept; /* of all launches */
    uint64_t origin;           /* %globaltimer of time 0 */
    double span;               /* first entry to last exit */
    double idle;               /* sum over multiprocessors of the time in which none worked */
    double idle_share;         /* of span * multiprocessors */
    double clock_step;         /* what %globaltimer moves by: divides all times */
} griddep_timeline_info;

typedef struct griddep_timeline_launch {
    uint32_t size;
    uint32_t lane;
    const char *kernel;
    uint64_t blocks;
    uint32_t blocks_kept;      /* the first ones */
    uint32_t backward;         /* blocks whose clock went backwards */
    uint32_t mark_count;
    uint32_t reserved;
    uint32_t registers, plain_registers; /* per thread, with and without stamps */
    double first_entry, last_entry, first_trigger, last_trigger;
    double first_release, last_release, first_exit, last_exit;
    double preamble;           /* mean over blocks, entry to wait */
    double wait_least, wait_median, wait_most; /* over blocks, wait to release */
} griddep_timeline_launch;

/* From the prerequisite launch that ended last: the launch before in the lane, or one of another
 * lane. A prerequisite whose end is not known counts only where no end is known. */
typedef struct griddep_timeline_hop {
    uint32_t size;
    uint32_t from;             /* index of that prerequisite */
    double handoff_gap;        /* from's last exit to the first release, or entry */
    double launch_lead;        /* the first entry to from's last exit; negative: after it */
    double preamble_hidden;    /* mean over blocks: how much of entry to wait is before that exit */
    double overlap;            /* while blocks of both were resident */
    double overlap_ratio;      /* of the shorter one's time from first entry to last exit */
    double idle_window;        /* from's first exit to the last release; 0 where that is before */
    double idle;               /* in that window, as griddep_timeline_info.idle */
    double idle_share;         /* of idle_window * multiprocessors */
} griddep_timeline_hop;

/* Makes a timeline. UNSUPPORTED if no kernel has PTX that the library could read, if launches share
 * a module's variables (each launch has a copy of its module), and if the PTX has no room for
 * stamps. ARGUMENT for a mark that is not well formed. Later changes of the chain do not count. */
int32_t griddep_timeline_create(griddep_chain *chain, const griddep_timeline_options *options,
        griddep_timeline **timeline, griddep_error *error);
void griddep_timeline_destroy(griddep_timeline *timeline);

/* Runs the instrumented chain (get_chain) once in a mode, waits for the stream, and reads the
 * stamps. In stream modes the host may be slower than the device: run the plain chain in the same
 * stream right before, without a wait, and the launches are queued meanwhile. */
int32_t griddep_timeline_run(griddep_timeline *timeline, int32_t mode, void *stream,
        griddep_error *error);
griddep_chain *griddep_timeline_get_chain(griddep_timeline *timeline);

/* About the last run, a launch of it, and a launch with the one before it. NOT_FOUND also for a
 * launch with none before it, and, for the last two, where nothing has been run. */
int32_t griddep_timeline_get_info(griddep_timeline *timeline, griddep_timeline_info *info,
        griddep_error *error);
int32_t griddep_timeline_get_launch(griddep_timeline *timeline, uint32_t index,
        griddep_timeline_launch *launch, griddep_error *error);
int32_t griddep_timeline_get_hop(griddep_timeline *timeline, uint32_t index,
        griddep_timeline_hop *hop, griddep_error *error);

/* The name of a launch's mark, counted from 0; NULL past the last. */
const char *griddep_timeline_get_mark(griddep_timeline *timeline, uint32_t index, uint32_t mark);

/* Writes at most `capacity` values of a column of a launch, GRIDDEP_STAMP_*, by block (x first),
 * and into *count how many there are (blocks_kept). values may be NULL when capacity is 0. */
int32_t griddep_timeline_read(griddep_timeline *timeline, uint32_t index, int32_t column,
        int64_t *values, uint64_t capacity, uint64_t *count, griddep_error *error);

/* ---------------------------------------------------------------------------------------------
 * Shelf: the hand-authored kernels that the library carries */

typedef struct griddep_shelf_info {
    uint32_t size;
    int32_t capability;    /* that this variant's .target needs: 90, also of sm_90a */
    const char *name;      /* kernel and entry: "vector_add" */
    const char *family;    /* "elementwise" */
    const char *file;      /* path below the shelf: "elementwise/vector_add.ptx" */
    const char *text;      /* the PTX */
    uint64_t bytes;        /* of the PTX, without the closing zero */
} griddep_shelf_info;

/* The variants of all kernels, by family, name, and capability from high to low; and of one kernel
 * the highest that serves a compute capability (.target sm_90a serves 90 alone): NOT_FOUND,
 * UNSUPPORTED. Static. */
int32_t griddep_shelf_get(uint32_t index, griddep_shelf_info *info, griddep_error *error);
int32_t griddep_shelf_find(const char *name, int32_t capability, griddep_shelf_info *info,
        griddep_error *error);

/* The launch shape that suits a kernel of the shelf for these arguments on a device: what its head
 * comment calls best on an H200, fitted to the device. Fills block, cluster, shared_bytes and
 * grid[0] of *config, grid[1] too for attention_prefill, and attributes where it has none. What no
 * argument tells is read from config (0 is 1): grid[0], the rows of kernels with a block for each
 * (norms, softmax, embedding_gather) and the heads of attention_prefill; grid[1], the rows of
 * argmax and sample, the key heads of attention_decode; grid[2], the batch of an attention. No
 * driver is asked, and no condition checked. NOT_FOUND where no shape is known for the name. */
int32_t griddep_shelf_suggest(const char *kernel, const griddep_runtime_info *device,
        const griddep_argument *arguments, uint32_t argument_count, griddep_launch_config *config,
        griddep_error *error);

/* A field of the head comment of PTX text, as the shelf's files have it ("purpose", "parameters",
 * "launch", "requires", "extent", "constraints", "pdl", "measured", "history"): writes the value
 * with line ends kept and indentation removed, like griddep_ptx_print writes. */
int32_t griddep_shelf_field(const char *text, uint64_t text_bytes, const char *field, char *buffer,
        uint64_t capacity, uint64_t *bytes, griddep_error *error);

/* ffi.cdef end */

#ifdef __cplusplus
}
#endif

#endif

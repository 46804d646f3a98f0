/* The driver of the tests: recording and failing wrappers around the emulated driver, and what they
 * pretend. Nothing of the emulated driver's state is touched. */
#include <elf.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/abi_opaque.h"
#include "cuda/driver_rows.h"
#include "emulator/abi.h"
#include "fake_driver.h"
#include "fake_report.h"

#ifndef EMULATED_DRIVER
#define EMULATED_DRIVER "libgriddep-emulator.so.0"
#endif

enum {
    FAILURES = 32,
    KERNELS = 16,
    EVENTS = 4096,
    EXECUTABLES = 256,
    ATTRIBUTES = 160,
    DEVICES = 8,
    CONTEXTS = 16,
    JIT_OPTIONS = 64,
    ATTRIBUTE_IDS = 24 /* of launches */
};

typedef void any_function(void);

enum {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, SYMBOL_##name, )
#include "cuda/driver.def"
#undef GD_DRIVER
    SYMBOLS
};

#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, typedef gd_CUresult call_##name GD_PARAMETERS(arguments);)
#include "cuda/driver.def"
#undef GD_DRIVER

static const struct {
    const char *symbol, *name;
    int version;
} symbols[] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, {#symbol, #name, version}, )
#include "cuda/driver.def"
#undef GD_DRIVER
};

typedef enum kind {
    MODULE,
    ALLOCATION,
    HOST,
    STREAM,
    EVENT,
    GRAPH,
    EXECUTABLE,
    USER,
    CAPTURE,
    RETAIN,
    LINK,
    KINDS
} kind;

static const char *const kind_names[KINDS] = {[MODULE] = "module",
                                              [ALLOCATION] = "allocation",
                                              [STREAM] = "stream",
                                              [HOST] = "pinned range",
                                              [EVENT] = "event",
                                              [GRAPH] = "graph",
                                              [EXECUTABLE] = "executable graph",
                                              [USER] = "user object",
                                              [CAPTURE] = "open capture",
                                              [RETAIN] = "retain",
                                              [LINK] = "linker"};

/* What a call that succeeds makes, and what it ends. */
static const struct {
    int symbol;
    kind kind;
    int change;
} balances[] = {{SYMBOL_cuModuleLoadDataEx, MODULE, 1},
                {SYMBOL_cuModuleUnload, MODULE, -1},
                {SYMBOL_cuLibraryLoadData, MODULE, 1},
                {SYMBOL_cuLibraryUnload, MODULE, -1},
                {SYMBOL_cuLinkCreate, LINK, 1},
                {SYMBOL_cuLinkDestroy, LINK, -1},
                {SYMBOL_cuMemAlloc, ALLOCATION, 1},
                {SYMBOL_cuMemFree, ALLOCATION, -1},
                {SYMBOL_cuMemCreate, ALLOCATION, 1},
                {SYMBOL_cuMemImportFromShareableHandle, ALLOCATION, 1},
                {SYMBOL_cuMemRelease, ALLOCATION, -1},
                {SYMBOL_cuMemAddressReserve, ALLOCATION, 1},
                {SYMBOL_cuMemAddressFree, ALLOCATION, -1},
                {SYMBOL_cuMemMap, ALLOCATION, 1},
                {SYMBOL_cuMemUnmap, ALLOCATION, -1},
                {SYMBOL_cuMemHostAlloc, HOST, 1},
                {SYMBOL_cuMemFreeHost, HOST, -1},
                {SYMBOL_cuStreamCreateWithPriority, STREAM, 1},
                {SYMBOL_cuStreamCreate, STREAM, 1},
                {SYMBOL_cuStreamDestroy, STREAM, -1},
                {SYMBOL_cuEventCreate, EVENT, 1},
                {SYMBOL_cuEventDestroy, EVENT, -1},
                {SYMBOL_cuGraphCreate, GRAPH, 1},
                {SYMBOL_cuStreamEndCapture, GRAPH, 1},
                {SYMBOL_cuGraphDestroy, GRAPH, -1},
                {SYMBOL_cuGraphInstantiateWithFlags, EXECUTABLE, 1},
                {SYMBOL_cuGraphExecDestroy, EXECUTABLE, -1},
                {SYMBOL_cuStreamBeginCapture, CAPTURE, 1},
                {SYMBOL_cuDevicePrimaryCtxRetain, RETAIN, 1},
                {SYMBOL_cuDevicePrimaryCtxRelease, RETAIN, -1},
                {SYMBOL_cuGreenCtxCreate, RETAIN, 1},
                {SYMBOL_cuGreenCtxDestroy, RETAIN, -1}};

typedef struct noted_launch {
    fake_launch launch;
    gd_CUgraphNode node; /* that it is; NULL for a launch into a stream */
} noted_launch;

typedef struct launch_list {
    noted_launch *items;
    size_t count, capacity;
} launch_list;

/* What launches point to, until the reset. */
typedef struct kept {
    struct kept *next;
    _Alignas(max_align_t) unsigned char bytes[];
} kept;

typedef struct held_user held_user;

typedef struct failure {
    int symbol; /* -1: any */
    uint64_t left;
    gd_CUresult result;
} failure;

typedef struct held_context {
    gd_CUcontext handle;
    gd_CUdevice device;
    bool primary;
} held_context;

static struct {
    void *library;
    any_function *real[SYMBOLS], *callee[SYMBOLS];
    unsigned generation;
    int version, device_count;
    unsigned part; /* multiprocessors that contexts have; 0: all */
    int attributes[ATTRIBUTES];
    bool pretended[ATTRIBUTES];
    held_context contexts[CONTEXTS];
    bool hidden[SYMBOLS];
    failure failures[FAILURES];
    size_t failure_count;
    fake_call *calls;
    size_t call_count, call_capacity;
    uint64_t symbol_calls[SYMBOLS];
    launch_list launches, executions;
    kept *kept;
    struct {
        char name[64];
        fake_kernel function;
        void *user;
    } kernels[KERNELS];
    size_t kernel_count;
    struct {
        gd_CUgraphExec handle;
        launch_list kernels; /* its nodes that are kernels, those of child graphs included */
        size_t others;       /* nodes */
    } executables[EXECUTABLES];
    size_t executable_count;
    struct {
        gd_CUevent handle;
        uint64_t time;
    } events[EVENTS];
    size_t event_count;
    _Atomic uint64_t clock; /* ns */
    long long left[KINDS];
    bool foreign_maps, runs_nothing, drops_callbacks;
    const char *cubin_text; /* what cubins of ptxas run as */
    void *dropped[8]; /* what their functions would have been given: held, as a driver holds it */
    size_t dropped_count;
    held_user *users;
    uint64_t programmatic_edges; /* of the graph that was instantiated last */
    unsigned more_parameters;    /* of the module that was loaded last */
    bool jit_given[JIT_OPTIONS];
    uint64_t jit_values[JIT_OPTIONS];
} fake;

static _Thread_local struct {
    unsigned generation;
    uint64_t depth;
} stack;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((call_##name *)fake.real[SYMBOL_##name])

/* A function that the library does not call. */
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    typedef gd_CUresult other_##symbol GD_PARAMETERS(arguments);
#include "cuda/driver.def"
#undef GD_DRIVER
#define OTHER(symbol) ((other_##symbol *)find_other(#symbol))

static void stop(const char *what, const char *name)
{
    fprintf(stderr, "the fake driver: %s %s\n", what, name ? name : "");
    abort();
}

static any_function *find_other(const char *symbol)
{
    void *found = dlsym(fake.library, symbol);
    any_function *function;

    if (!found)
        stop("the emulated driver lacks", symbol);
    memcpy(&function, &found, sizeof function);
    return function;
}

/* Not by malloc, whose failure tests script. */
static void *grow(void *memory, size_t count, size_t bytes)
{
    void *grown = reallocarray(memory, count ? count : 1, bytes);

    if (!grown)
        stop("no memory", NULL);
    return grown;
}

/* ---- calls ---- */

static int find_symbol(const char *name)
{
    for (int i = 0; i < SYMBOLS; i++) {
        if (!strcmp(symbols[i].name, name))
            return i;
    }
    return -1;
}

/* A misspelt symbol in a test's script would make the test pass for the wrong reason. */
static int must_find_symbol(const char *name)
{
    int symbol = find_symbol(name);

    if (symbol < 0)
        stop("no symbol", name);
    return symbol;
}

static bool ends(int symbol)
{
    for (size_t i = 0; i < sizeof balances / sizeof balances[0]; i++) {
        if (balances[i].symbol == symbol && balances[i].change < 0)
            return true;
    }
    return symbol == SYMBOL_cuCtxPopCurrent || symbol == SYMBOL_cuStreamEndCapture ||
           symbol == SYMBOL_cuGraphDestroyNode || symbol == SYMBOL_cuUserObjectRelease;
}

static gd_CUresult scripted_failure(int symbol)
{
    gd_CUresult result = GD_CUDA_SUCCESS;

    for (size_t i = 0; i < fake.failure_count; i++) {
        failure *f = &fake.failures[i];
        if (f->left && (f->symbol < 0 || f->symbol == symbol) && --f->left == 0 &&
            result == GD_CUDA_SUCCESS)
            result = f->result;
    }
    while (fake.failure_count && fake.failures[fake.failure_count - 1].left == 0)
        fake.failure_count--;
    return result;
}

/* *call: what leave() takes. */
static gd_CUresult enter(int symbol, const uint64_t *arguments, size_t count, const char *text,
                         size_t *call)
{
    pthread_mutex_lock(&mutex);
    if (fake.call_count == fake.call_capacity) {
        fake.call_capacity = fake.call_capacity ? 2 * fake.call_capacity : 64;
        fake.calls = grow(fake.calls, fake.call_capacity, sizeof *fake.calls);
    }
    *call = fake.call_count++;
    fake_call *made = &fake.calls[*call];
    *made = (fake_call){.symbol = symbols[symbol].name};
    for (; made->argument_count < count; made->argument_count++)
        made->arguments[made->argument_count] = arguments[made->argument_count];
    snprintf(made->text, sizeof made->text, "%s", text ? text : "");
    fake.symbol_calls[symbol]++;
    gd_CUresult result = scripted_failure(symbol);
    pthread_mutex_unlock(&mutex);
    return result;
}

/* What a fault has taken with it is no leak. */
static bool is_lost(gd_CUresult result)
{
    return result >= GD_CUDA_ERROR_ILLEGAL_ADDRESS && result <= GD_CUDA_ERROR_LAUNCH_FAILED &&
           result != GD_CUDA_ERROR_CONTEXT_IS_DESTROYED &&
           result != GD_CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED &&
           result != GD_CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
}

static gd_CUresult leave(int symbol, size_t call, gd_CUresult done, gd_CUresult result)
{
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < sizeof balances / sizeof balances[0]; i++) {
        if (balances[i].symbol == symbol &&
            (done == GD_CUDA_SUCCESS || (is_lost(done) && balances[i].change < 0)))
            fake.left[balances[i].kind] += balances[i].change;
    }
    fake.calls[call].result = result;
    pthread_mutex_unlock(&mutex);
    return result;
}

/* One wrapper for each function. Of strings the first is kept. */
#define COUNT_A(type, name) (uint64_t)(uintptr_t)(name), COUNT_B
#define COUNT_B(type, name) (uint64_t)(uintptr_t)(name), COUNT_A
#define COUNT_A_END
#define COUNT_B_END
#define TEXT_A(type, name) _Generic((name), const char * : (name), default : NULL), TEXT_B
#define TEXT_B(type, name) _Generic((name), const char * : (name), default : NULL), TEXT_A
#define TEXT_A_END
#define TEXT_B_END
#define WRAP(of, arguments)                                                                        \
    static gd_CUresult wrapped_##of GD_PARAMETERS(arguments)                                       \
    {                                                                                              \
        const uint64_t fake_values[] = {GD_END(COUNT_A arguments) 0};                              \
        const char *const texts[] = {GD_END(TEXT_A arguments) NULL};                               \
        const char *said = NULL;                                                                   \
        size_t call;                                                                               \
        for (size_t i = 0; i < sizeof texts / sizeof texts[0] && !said; i++)                       \
            said = texts[i];                                                                       \
        gd_CUresult made = enter(SYMBOL_##of, fake_values,                                         \
                                 sizeof fake_values / sizeof fake_values[0] - 1, said, &call);     \
        gd_CUresult done = made;                                                                   \
        if (made == GD_CUDA_SUCCESS || ends(SYMBOL_##of))                                          \
            done = ((call_##of *)fake.callee[SYMBOL_##of])GD_VALUES(arguments);                    \
        return leave(SYMBOL_##of, call, done, made == GD_CUDA_SUCCESS ? done : made);              \
    }
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, WRAP(name, arguments))
#include "cuda/driver.def"
#undef GD_DRIVER

static any_function *const wrappers[] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_USED(need, (any_function *)wrapped_##name, )
#include "cuda/driver.def"
#undef GD_DRIVER
};

/* ---- what is pretended ---- */

static int capability(void)
{
    return fake.pretended[GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR]
               ? 10 * fake.attributes[GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] +
                     fake.attributes[GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR]
               : 90;
}

static gd_CUresult pretend_cuInit(unsigned int flags)
{
    const char *scripted = getenv("FAKE_DRIVER_INIT");

    if (scripted && *scripted)
        return (gd_CUresult)strtol(scripted, NULL, 10);
    return fake.device_count ? REAL(cuInit)(flags) : GD_CUDA_ERROR_NO_DEVICE;
}

static gd_CUresult pretend_cuDriverGetVersion(int *version)
{
    gd_CUresult result = REAL(cuDriverGetVersion)(version);

    if (result == GD_CUDA_SUCCESS)
        *version = fake.version;
    return result;
}

static gd_CUresult pretend_cuDeviceGetCount(int *count)
{
    gd_CUresult result = REAL(cuDeviceGetCount)(count);

    if (result == GD_CUDA_SUCCESS)
        *count = fake.device_count;
    return result;
}

static bool is_device(gd_CUdevice device)
{
    return device >= 0 && device < fake.device_count;
}

/* Each device is the emulated one. */
static gd_CUdevice real_device(gd_CUdevice device)
{
    return is_device(device) ? 0 : -1;
}

static gd_CUresult pretend_cuDeviceGet(gd_CUdevice *device, int ordinal)
{
    gd_CUresult result = REAL(cuDeviceGet)(device, real_device(ordinal));

    if (result == GD_CUDA_SUCCESS)
        *device = ordinal;
    return result;
}

static gd_CUresult pretend_cuDeviceGetName(char *name, int bytes, gd_CUdevice device)
{
    gd_CUresult result = REAL(cuDeviceGetName)(name, bytes, real_device(device));

    if (result == GD_CUDA_SUCCESS)
        snprintf(name, (size_t)bytes, "Fake device %d", device);
    return result;
}

static gd_CUresult pretend_cuDeviceGetUuid(gd_CUuuid *uuid, gd_CUdevice device)
{
    gd_CUresult result = REAL(cuDeviceGetUuid)(uuid, real_device(device));

    if (result == GD_CUDA_SUCCESS)
        memset(uuid->bytes, 'f', sizeof uuid->bytes);
    if (result == GD_CUDA_SUCCESS && fake_report_is_emulated())
        memcpy(uuid->bytes, GD_EMULATED_UUID, sizeof uuid->bytes);
    return result;
}

static gd_CUresult pretend_cuDeviceTotalMem(size_t *bytes, gd_CUdevice device)
{
    return REAL(cuDeviceTotalMem)(bytes, real_device(device));
}

static gd_CUresult pretend_cuDeviceGetAttribute(int *value, gd_CUdevice_attribute attribute,
                                                gd_CUdevice device)
{
    gd_CUresult result = REAL(cuDeviceGetAttribute)(value, attribute, real_device(device));

    if (result == GD_CUDA_SUCCESS && attribute < ATTRIBUTES && fake.pretended[attribute])
        *value = fake.attributes[attribute];
    return result;
}

static gd_CUresult pretend_cuCtxGetDevResource(gd_CUcontext context, gd_CUdevResource *resource,
                                               gd_CUdevResourceType type)
{
    gd_CUresult result = REAL(cuCtxGetDevResource)(context, resource, type);

    if (result == GD_CUDA_SUCCESS && fake.part)
        resource->sm.smCount = fake.part;
    return result;
}

static held_context *find_context(gd_CUcontext handle)
{
    for (size_t i = 0; i < CONTEXTS; i++) {
        if (fake.contexts[i].handle == handle)
            return &fake.contexts[i];
    }
    return NULL;
}

static gd_CUresult make_context(gd_CUdevice device, bool primary, gd_CUcontext *context)
{
    gd_CUcontext before = NULL, current = NULL;

    REAL(cuCtxGetCurrent)(&before);
    gd_CUresult result = OTHER(cuCtxCreate_v2)(context, 0, 0);
    if (result != GD_CUDA_SUCCESS)
        return result;
    REAL(cuCtxPopCurrent)(&current);
    *find_context(NULL) = (held_context){.handle = *context, .device = device, .primary = primary};
    return GD_CUDA_SUCCESS;
}

static gd_CUresult pretend_cuDevicePrimaryCtxRetain(gd_CUcontext *context, gd_CUdevice device)
{
    if (device == 0 || !is_device(device))
        return REAL(cuDevicePrimaryCtxRetain)(context, real_device(device));
    for (size_t i = 0; i < CONTEXTS; i++) {
        if (fake.contexts[i].primary && fake.contexts[i].device == device) {
            *context = fake.contexts[i].handle;
            return GD_CUDA_SUCCESS;
        }
    }
    return make_context(device, true, context);
}

static gd_CUresult pretend_cuDevicePrimaryCtxRelease(gd_CUdevice device)
{
    return device == 0 || !is_device(device) ? REAL(cuDevicePrimaryCtxRelease)(real_device(device))
                                             : GD_CUDA_SUCCESS;
}

static gd_CUresult pretend_cuCtxGetDevice(gd_CUdevice *device)
{
    gd_CUcontext current = NULL;
    gd_CUresult result = REAL(cuCtxGetDevice)(device);

    if (result == GD_CUDA_SUCCESS && REAL(cuCtxGetCurrent)(&current) == GD_CUDA_SUCCESS &&
        find_context(current))
        *device = find_context(current)->device;
    return result;
}

static void change_depth(int change)
{
    if (stack.generation != fake.generation) {
        stack.generation = fake.generation;
        stack.depth = 0;
    }
    stack.depth += (uint64_t)change;
}

static gd_CUresult pretend_cuCtxPushCurrent(gd_CUcontext context)
{
    gd_CUresult result = REAL(cuCtxPushCurrent)(context);

    change_depth(result == GD_CUDA_SUCCESS);
    return result;
}

static gd_CUresult pretend_cuCtxPopCurrent(gd_CUcontext *context)
{
    gd_CUresult result = REAL(cuCtxPopCurrent)(context);

    change_depth(-(result == GD_CUDA_SUCCESS));
    return result;
}

static gd_CUresult pretend_cuCtxSetCurrent(gd_CUcontext context)
{
    gd_CUcontext before = NULL;

    REAL(cuCtxGetCurrent)(&before);
    gd_CUresult result = REAL(cuCtxSetCurrent)(context);
    if (result == GD_CUDA_SUCCESS)
        change_depth((context != NULL) - (before != NULL));
    return result;
}

static bool is_capturing(gd_CUstream stream)
{
    gd_CUstreamCaptureStatus status = GD_CU_STREAM_CAPTURE_STATUS_NONE;

    return stream && REAL(cuStreamIsCapturing)(stream, &status) == GD_CUDA_SUCCESS &&
           status != GD_CU_STREAM_CAPTURE_STATUS_NONE;
}

static void count_capture_end(bool before, bool after)
{
    pthread_mutex_lock(&mutex);
    fake.left[CAPTURE] -= before && !after;
    pthread_mutex_unlock(&mutex);
}

static gd_CUresult pretend_cuStreamEndCapture(gd_CUstream stream, gd_CUgraph *graph)
{
    bool before = is_capturing(stream);
    gd_CUresult result = REAL(cuStreamEndCapture)(stream, graph);

    count_capture_end(before, is_capturing(stream));
    return result;
}

static gd_CUresult pretend_cuStreamDestroy(gd_CUstream stream)
{
    bool before = is_capturing(stream);
    gd_CUresult result = REAL(cuStreamDestroy)(stream);

    count_capture_end(before, result != GD_CUDA_SUCCESS);
    return result;
}

struct held_user {
    held_user *next;
    gd_CUhostFn *destroy;
    void *user;
};

/* Out of the list; the lock is held. */
static void forget_user(held_user *held)
{
    held_user **at = &fake.users;

    while (*at != held)
        at = &(*at)->next;
    *at = held->next;
    free(held);
}

static void end_user(void *user)
{
    held_user held = *(held_user *)user;

    pthread_mutex_lock(&mutex);
    forget_user(user);
    fake.left[USER]--;
    pthread_mutex_unlock(&mutex);
    held.destroy(held.user);
}

static gd_CUresult pretend_cuUserObjectCreate(gd_CUuserObject *object, void *user,
                                              gd_CUhostFn *destroy, unsigned int count,
                                              unsigned int flags)
{
    held_user *held = grow(NULL, 1, sizeof *held);

    pthread_mutex_lock(&mutex);
    *held = (held_user){.next = fake.users, .destroy = destroy, .user = user};
    fake.users = held;
    pthread_mutex_unlock(&mutex);
    gd_CUresult result = REAL(cuUserObjectCreate)(object, held, end_user, count, flags);
    pthread_mutex_lock(&mutex);
    fake.left[USER] += result == GD_CUDA_SUCCESS;
    if (result != GD_CUDA_SUCCESS)
        forget_user(held);
    pthread_mutex_unlock(&mutex);
    return result;
}

/* What an older driver or device does not know. */
static gd_CUresult check_attributes(const gd_CUlaunchConfig *config)
{
    for (unsigned i = 0; config && config->attrs && i < config->numAttrs; i++) {
        gd_CUlaunchAttributeID id = config->attrs[i].id;
        if ((capability() < 90 &&
             (id == GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ||
              id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT ||
              id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)) ||
            (fake.version < 12030 && id == GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT))
            return GD_CUDA_ERROR_NOT_SUPPORTED;
    }
    return GD_CUDA_SUCCESS;
}

/* Zeros. */
static void *keep(size_t bytes)
{
    kept *one = memset(grow(NULL, sizeof *one + bytes, 1), 0, sizeof *one + bytes);

    pthread_mutex_lock(&mutex);
    one->next = fake.kept;
    fake.kept = one;
    pthread_mutex_unlock(&mutex);
    return one->bytes;
}

static const unsigned char *pack(gd_CUfunction function, void **parameters, void **extra,
                                 size_t *bytes)
{
    size_t offset, size;

    *bytes = 0;
    for (size_t i = 0; REAL(cuFuncGetParamInfo)(function, i, &offset, &size) == GD_CUDA_SUCCESS;
         i++)
        *bytes = offset + size;
    if (!*bytes)
        return NULL;
    unsigned char *packed = keep(*bytes);
    for (size_t i = 0;
         parameters && REAL(cuFuncGetParamInfo)(function, i, &offset, &size) == GD_CUDA_SUCCESS;
         i++)
        memcpy(packed + offset, parameters[i], size);
    for (; extra && *extra != GD_CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == GD_CU_LAUNCH_PARAM_BUFFER_POINTER && packed)
            memcpy(packed, extra[1], *bytes);
    }
    return packed;
}

static void append(launch_list *list, const noted_launch *noted)
{
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 64;
        list->items = grow(list->items, list->capacity, sizeof *list->items);
    }
    list->items[list->count++] = *noted;
}

/* What is enqueued takes a microsecond by the events; where tests ask for samples that differ, each
 * takes longer than the ones before it. */
static void pass_time(void)
{
    fake.clock += 1000;
    if (getenv("FAKE_DRIVER_SLOWER"))
        fake.clock += fake.clock / 100000;
}

static void execute(const fake_launch *launch)
{
    pthread_mutex_lock(&mutex);
    append(&fake.executions, &(noted_launch){.launch = *launch});
    pass_time();
    pthread_mutex_unlock(&mutex);
    for (size_t i = 0; i < fake.kernel_count; i++) {
        if (!strcmp(fake.kernels[i].name, launch->kernel) && fake.kernels[i].function)
            fake.kernels[i].function(fake.kernels[i].user, launch);
    }
}

/* What a launch asks for, with all that it points to. */
static fake_launch copy_launch(const gd_CUlaunchConfig *config, gd_CUfunction function,
                               void **parameters, void **extra)
{
    fake_launch made = {.function = function, .config = *config};
    gd_CUlaunchAttribute *attributes = keep((config->numAttrs + 1) * sizeof *attributes);
    const char *name = "";

    for (unsigned i = 0; i < config->numAttrs; i++) {
        attributes[i] = config->attrs[i];
        if (attributes[i].id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            made.programmatic = attributes[i].value.programmaticStreamSerializationAllowed != 0;
    }
    made.config.attrs = attributes;
    REAL(cuFuncGetName)(&name, function);
    made.kernel = strcpy(keep(strlen(name) + 1), name);
    made.parameters = pack(function, parameters, extra, &made.parameter_bytes);
    return made;
}

static void note_launch(const gd_CUlaunchConfig *config, gd_CUfunction function, void **parameters,
                        void **extra, bool captured)
{
    fake_launch made = copy_launch(config, function, parameters, extra);

    made.captured = captured;
    pthread_mutex_lock(&mutex);
    append(&fake.launches, &(noted_launch){.launch = made});
    pthread_mutex_unlock(&mutex);
    if (!captured)
        execute(&made);
}

/* A launch with all checks that runs nothing: into a capture. Its events are recorded. */
static gd_CUresult try_launch(const gd_CUlaunchConfig *config, gd_CUfunction function,
                              void **parameters, void **extra)
{
    gd_CUlaunchConfig apart = *config;
    gd_CUgraph graph = NULL;

    REAL(cuStreamCreate)(&apart.hStream, GD_CU_STREAM_NON_BLOCKING);
    REAL(cuStreamBeginCapture)(apart.hStream, GD_CU_STREAM_CAPTURE_MODE_RELAXED);
    apart.attrs = grow(NULL, config->numAttrs + 1, sizeof *apart.attrs);
    for (unsigned i = apart.numAttrs = 0; i < config->numAttrs; i++) {
        const gd_CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
            REAL(cuEventRecord)(attribute->value.programmaticEvent.event, config->hStream);
        else if (attribute->id == GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            REAL(cuEventRecord)(attribute->value.launchCompletionEvent.event, config->hStream);
        else
            apart.attrs[apart.numAttrs++] = *attribute;
    }
    gd_CUresult result = REAL(cuLaunchKernelEx)(&apart, function, parameters, extra);
    free(apart.attrs);
    REAL(cuStreamEndCapture)(apart.hStream, &graph);
    REAL(cuGraphDestroy)(graph);
    REAL(cuStreamDestroy)(apart.hStream);
    return result;
}

/* Grids that would run for hours do not run. */
static gd_CUresult launch(const gd_CUlaunchConfig *config, gd_CUfunction function,
                          void **parameters, void **extra, bool captured)
{
    enum { MOST_CTAS = 1 << 15 };

    if (config && !captured &&
        (fake.runs_nothing ||
         (double)config->gridDimX * config->gridDimY * config->gridDimZ > MOST_CTAS))
        return try_launch(config, function, parameters, extra);
    return REAL(cuLaunchKernelEx)(config, function, parameters, extra);
}

/* Nodes that a device may update exist in captures, and their handle is written into the attribute;
 * the emulated driver has none. */
static gd_CUresult launch_updatable(const gd_CUlaunchConfig *config, unsigned updatable,
                                    gd_CUfunction function, void **parameters, void **extra,
                                    bool captured)
{
    gd_CUlaunchConfig rest = *config;

    if (!captured)
        return GD_CUDA_ERROR_INVALID_VALUE;
    rest.attrs = grow(NULL, config->numAttrs, sizeof *rest.attrs);
    memcpy(rest.attrs, config->attrs, config->numAttrs * sizeof *rest.attrs);
    rest.attrs[updatable] = rest.attrs[--rest.numAttrs];
    gd_CUresult result = REAL(cuLaunchKernelEx)(&rest, function, parameters, extra);
    free(rest.attrs);
    config->attrs[updatable].value.deviceUpdatableKernelNode.devNode = &fake;
    return result;
}

static gd_CUresult pretend_cuLaunchKernelEx(const gd_CUlaunchConfig *config, gd_CUfunction function,
                                            void **parameters, void **extra)
{
    gd_CUresult result = check_attributes(config);
    bool captured = config && is_capturing(config->hStream);
    unsigned updatable = 0;

    while (config && updatable < config->numAttrs &&
           !(config->attrs[updatable].id == GD_CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE &&
             config->attrs[updatable].value.deviceUpdatableKernelNode.deviceUpdatable))
        updatable++;
    if (result == GD_CUDA_SUCCESS)
        result = config && updatable < config->numAttrs
                     ? launch_updatable(config, updatable, function, parameters, extra, captured)
                     : launch(config, function, parameters, extra, captured);
    if (result == GD_CUDA_SUCCESS)
        note_launch(config, function, parameters, extra, captured);
    return result;
}

/* A kernel that fills an SM finds fewer SMs side by side, as GPCs have 16 to 18 of them. */
static gd_CUresult pretend_cuOccupancyMaxPotentialClusterSize(int *size, gd_CUfunction function,
                                                              const gd_CUlaunchConfig *config)
{
    gd_CUresult result = REAL(cuOccupancyMaxPotentialClusterSize)(size, function, config);
    int blocks = 0;

    if (result == GD_CUDA_SUCCESS)
        result = REAL(cuOccupancyMaxActiveBlocksPerMultiprocessor)(
            &blocks, function, (int)(config->blockDimX * config->blockDimY * config->blockDimZ),
            config->sharedMemBytes);
    if (result == GD_CUDA_SUCCESS && blocks <= 1 && *size > 8)
        *size = 8;
    return result;
}

/* Maps of later devices, in an encoding that nobody understands. */
static gd_CUresult encode_foreign(gd_CUtensorMap *map, uint32_t rank, void *address,
                                  const uint64_t *sizes, const uint32_t *steps)
{
    *map = (gd_CUtensorMap){.opaque = {(uint64_t)(uintptr_t)address, rank}};
    for (uint32_t i = 0; i < rank; i++) {
        map->opaque[2 + i] = sizes[i];
        map->opaque[7 + i] = steps[i];
    }
    return GD_CUDA_SUCCESS;
}

static gd_CUresult
pretend_cuTensorMapEncodeTiled(gd_CUtensorMap *map, gd_CUtensorMapDataType type, uint32_t rank,
                               void *address, const uint64_t *sizes, const uint64_t *strides,
                               const uint32_t *box, const uint32_t *steps,
                               gd_CUtensorMapInterleave interleave, gd_CUtensorMapSwizzle swizzle,
                               gd_CUtensorMapL2promotion promotion, gd_CUtensorMapFloatOOBfill fill)
{
    if (capability() < 90)
        return GD_CUDA_ERROR_NOT_SUPPORTED;
    return fake.foreign_maps
               ? encode_foreign(map, rank, address, sizes, steps)
               : REAL(cuTensorMapEncodeTiled)(map, type, rank, address, sizes, strides, box, steps,
                                              interleave, swizzle, promotion, fill);
}

static gd_CUresult pretend_cuTensorMapEncodeIm2col(
    gd_CUtensorMap *map, gd_CUtensorMapDataType type, uint32_t rank, void *address,
    const uint64_t *sizes, const uint64_t *strides, const int *lower, const int *upper,
    uint32_t channels, uint32_t pixels, const uint32_t *steps, gd_CUtensorMapInterleave interleave,
    gd_CUtensorMapSwizzle swizzle, gd_CUtensorMapL2promotion promotion,
    gd_CUtensorMapFloatOOBfill fill)
{
    if (capability() < 90)
        return GD_CUDA_ERROR_NOT_SUPPORTED;
    return fake.foreign_maps
               ? encode_foreign(map, rank, address, sizes, steps)
               : REAL(cuTensorMapEncodeIm2col)(map, type, rank, address, sizes, strides, lower,
                                               upper, channels, pixels, steps, interleave, swizzle,
                                               promotion, fill);
}

/* Parameters that the compiler added. */
static gd_CUresult pretend_cuFuncGetParamInfo(gd_CUfunction function, size_t index, size_t *offset,
                                              size_t *bytes)
{
    size_t count = 0, end = 0, at, size;

    while (REAL(cuFuncGetParamInfo)(function, count, &at, &size) == GD_CUDA_SUCCESS) {
        end = at + size;
        count++;
    }
    if (index < count || index >= count + fake.more_parameters)
        return REAL(cuFuncGetParamInfo)(function, index, offset, bytes);
    *offset = (end + 3) / 4 * 4 + 4 * (index - count);
    if (bytes)
        *bytes = 4;
    return GD_CUDA_SUCCESS;
}

/* ---- graphs: the kernels in them, in the order in which their nodes were made ---- */

/* The attributes that are not 0. */
static unsigned attributes_of(gd_CUgraphNode node, gd_CUlaunchAttribute *attributes)
{
    static const gd_CUlaunchAttributeValue none;
    unsigned count = 0;

    for (int id = 1; id < ATTRIBUTE_IDS; id++) {
        gd_CUlaunchAttribute one = {.id = (gd_CUlaunchAttributeID)id};
        if (REAL(cuGraphKernelNodeGetAttribute)(node, one.id, &one.value) == GD_CUDA_SUCCESS &&
            memcmp(&one.value, &none, sizeof none) != 0)
            attributes[count++] = one;
    }
    return count;
}

static fake_launch launch_of_node(gd_CUgraphNode node, const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    gd_CUlaunchAttribute attributes[ATTRIBUTE_IDS];
    const gd_CUlaunchConfig config = {.gridDimX = params->gridDimX,
                                      .gridDimY = params->gridDimY,
                                      .gridDimZ = params->gridDimZ,
                                      .blockDimX = params->blockDimX,
                                      .blockDimY = params->blockDimY,
                                      .blockDimZ = params->blockDimZ,
                                      .sharedMemBytes = params->sharedMemBytes,
                                      .attrs = attributes,
                                      .numAttrs = attributes_of(node, attributes)};
    fake_launch made = copy_launch(&config, params->func, params->kernelParams, params->extra);

    made.from_graph = 1;
    return made;
}

/* Whether an edge lets the node start early. */
static bool is_programmatic(gd_CUgraphNode node)
{
    enum { MOST = 64 };
    gd_CUgraphNode from[MOST];
    gd_CUgraphEdgeData data[MOST];
    size_t count = MOST;

    if (OTHER(cuGraphNodeGetDependencies_v2)(node, from, data, &count) != GD_CUDA_SUCCESS)
        return false;
    while (count && data[count - 1].type != GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC)
        count--;
    return count != 0;
}

static void read_nodes(gd_CUgraph graph, launch_list *kernels, size_t *others)
{
    size_t count = 0;
    REAL(cuGraphGetNodes)(graph, NULL, &count);
    gd_CUgraphNode *nodes = grow(NULL, count + 1, sizeof *nodes);
    REAL(cuGraphGetNodes)(graph, nodes, &count);

    for (size_t i = 0; i < count; i++) {
        gd_CUgraphNodeType type = GD_CU_GRAPH_NODE_TYPE_EMPTY;
        gd_CUDA_KERNEL_NODE_PARAMS kernel = {0};
        gd_CUgraph child = NULL;
        REAL(cuGraphNodeGetType)(nodes[i], &type);
        if (type == GD_CU_GRAPH_NODE_TYPE_KERNEL &&
            REAL(cuGraphKernelNodeGetParams)(nodes[i], &kernel) == GD_CUDA_SUCCESS) {
            noted_launch made = {.launch = launch_of_node(nodes[i], &kernel), .node = nodes[i]};
            made.launch.programmatic = is_programmatic(nodes[i]);
            append(kernels, &made);
        } else if (type == GD_CU_GRAPH_NODE_TYPE_GRAPH &&
                   REAL(cuGraphChildGraphNodeGetGraph)(nodes[i], &child) == GD_CUDA_SUCCESS)
            read_nodes(child, kernels, others);
        else
            ++*others;
    }
    free(nodes);
}

static size_t find_executable(gd_CUgraphExec handle)
{
    size_t at = fake.executable_count;

    while (at && fake.executables[at - 1].handle != handle)
        at--;
    return at ? at - 1 : EXECUTABLES;
}

static void read_graph(size_t at, gd_CUgraph graph)
{
    free(fake.executables[at].kernels.items);
    fake.executables[at].kernels = (launch_list){0};
    fake.executables[at].others = 0;
    read_nodes(graph, &fake.executables[at].kernels, &fake.executables[at].others);
}

static gd_CUresult pretend_cuGraphInstantiateWithFlags(gd_CUgraphExec *executable, gd_CUgraph graph,
                                                       unsigned long long flags)
{
    enum { MOST = 64 };
    gd_CUgraphNode from[MOST], to[MOST];
    gd_CUgraphEdgeData data[MOST];
    size_t count = MOST;

    fake.programmatic_edges = 0;
    if (REAL(cuGraphGetEdges)(graph, from, to, data, &count) == GD_CUDA_SUCCESS) {
        for (size_t i = 0; i < count && i < MOST; i++)
            fake.programmatic_edges += data[i].type == GD_CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    }
    gd_CUresult result = REAL(cuGraphInstantiateWithFlags)(executable, graph, flags);
    if (result == GD_CUDA_SUCCESS && fake.executable_count < EXECUTABLES) {
        fake.executables[fake.executable_count].handle = *executable;
        read_graph(fake.executable_count++, graph);
    }
    return result;
}

static gd_CUresult pretend_cuGraphExecKernelNodeSetParams(gd_CUgraphExec executable,
                                                          gd_CUgraphNode node,
                                                          const gd_CUDA_KERNEL_NODE_PARAMS *params)
{
    gd_CUresult result = REAL(cuGraphExecKernelNodeSetParams)(executable, node, params);
    size_t at = find_executable(executable);

    if (result != GD_CUDA_SUCCESS || at == EXECUTABLES)
        return result;
    for (size_t i = 0; i < fake.executables[at].kernels.count; i++) {
        noted_launch *noted = &fake.executables[at].kernels.items[i];
        if (noted->node == node) {
            const int32_t programmatic = noted->launch.programmatic;
            noted->launch = launch_of_node(node, params);
            noted->launch.programmatic = programmatic;
        }
    }
    return result;
}

static gd_CUresult pretend_cuGraphLaunch(gd_CUgraphExec executable, gd_CUstream stream)
{
    gd_CUresult result = fake.runs_nothing ? OTHER(cuGraphUpload)(executable, stream)
                                           : REAL(cuGraphLaunch)(executable, stream);
    size_t at = find_executable(executable);

    if (result != GD_CUDA_SUCCESS || at == EXECUTABLES)
        return result;
    for (size_t i = 0; i < fake.executables[at].kernels.count; i++) {
        const noted_launch noted = fake.executables[at].kernels.items[i];
        unsigned enabled = 1;
        OTHER(cuGraphNodeGetEnabled)(executable, noted.node, &enabled);
        if (enabled)
            execute(&noted.launch);
    }
    for (size_t i = 0; i < fake.executables[at].others; i++)
        pass_time();
    return result;
}

static gd_CUresult pretend_cuEventRecord(gd_CUevent event, gd_CUstream stream)
{
    gd_CUresult result = REAL(cuEventRecord)(event, stream);
    size_t at = 0;

    pthread_mutex_lock(&mutex);
    while (at < fake.event_count && fake.events[at].handle != event)
        at++;
    if (result == GD_CUDA_SUCCESS && at < EVENTS) {
        fake.event_count += at == fake.event_count;
        fake.events[at].handle = event;
        fake.events[at].time = fake.clock;
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

static uint64_t time_of(gd_CUevent event)
{
    for (size_t i = 0; i < fake.event_count; i++) {
        if (fake.events[i].handle == event)
            return fake.events[i].time;
    }
    return 0;
}

static gd_CUresult pretend_cuEventElapsedTime(float *milliseconds, gd_CUevent start, gd_CUevent end)
{
    gd_CUresult result = REAL(cuEventElapsedTime)(milliseconds, start, end);

    if (result == GD_CUDA_SUCCESS)
        *milliseconds = (float)((double)(int64_t)(time_of(end) - time_of(start)) / 1e6);
    return result;
}

static gd_CUresult pretend_cuMemAlloc(gd_CUdeviceptr *address, size_t bytes)
{
    gd_CUresult result = REAL(cuMemAlloc)(address, bytes);

    if (result == GD_CUDA_SUCCESS)
        fake_report_allocation(*address);
    return result;
}

/* What is measured fills gigabytes, for kernels that read nothing here: some of them will do. */
static gd_CUresult pretend_cuMemsetD8Async(gd_CUdeviceptr target, unsigned char value, size_t bytes,
                                           gd_CUstream stream)
{
    enum { MOST = 64 << 20 };

    pass_time();
    return REAL(cuMemsetD8Async)(target, value, bytes < MOST ? bytes : MOST, stream);
}

static gd_CUresult pretend_cuMemcpyHtoDAsync(gd_CUdeviceptr target, const void *source,
                                             size_t bytes, gd_CUstream stream)
{
    pass_time();
    return REAL(cuMemcpyHtoDAsync)(target, source, bytes, stream);
}

static gd_CUresult pretend_cuMemcpyDtoHAsync(void *target, gd_CUdeviceptr source, size_t bytes,
                                             gd_CUstream stream)
{
    pass_time();
    return REAL(cuMemcpyDtoHAsync)(target, source, bytes, stream);
}

static void write_log(unsigned int count, const gd_CUjit_option *options, void **values,
                      gd_CUjit_option buffer, gd_CUjit_option size, const char *text)
{
    for (unsigned i = 0; i < count; i++) {
        for (unsigned k = 0; options[i] == buffer && k < count; k++) {
            if (options[k] == size) {
                snprintf(values[i], (unsigned)(uintptr_t)values[k], "%s", text);
                values[k] = (void *)(uintptr_t)strlen(values[i]);
            }
        }
    }
}

/* What the comment of a text asks for, and what the pretended driver and device would say. */
static gd_CUresult refuse_text(const char *text, char *words, size_t capacity)
{
    const char *error = strstr(text, "// fake-jit-error: "), *version = strstr(text, ".version ");
    const char *target = strstr(text, ".target sm_");
    char said[256];
    int line;

    if (error && sscanf(error, "// fake-jit-error: %d %255[^\n]", &line, said) == 2) {
        snprintf(words, capacity,
                 "ptxas application ptx input, line %d; error   : %s\n"
                 "ptxas fatal   : Ptx assembly aborted due to errors",
                 line, said);
        return GD_CUDA_ERROR_INVALID_PTX;
    }
    /* PTX 8 came with driver API 12, PTX 9 with 13. */
    int newest = fake.version / 1000 - 4;
    if (version && atoi(version + 9) > newest) {
        snprintf(
            words, capacity,
            "ptxas application ptx input, line 1; fatal   : Unsupported .version %.*s; current "
            "version is '%d.0'",
            (int)strspn(version + 9, "0123456789."), version + 9, newest);
        return GD_CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    }
    if (target && atoi(target + 11) > capability()) {
        snprintf(
            words, capacity,
            "ptxas fatal   : SM version specified by .target is higher than default SM version "
            "assumed");
        return GD_CUDA_ERROR_INVALID_PTX;
    }
    if (target && target[11 + strspn(target + 11, "0123456789")] == 'a' &&
        atoi(target + 11) != capability())
        return GD_CUDA_ERROR_NO_BINARY_FOR_GPU;
    return GD_CUDA_SUCCESS;
}

/* The emulated device takes no text for a later one, and the emulated driver no syntax that the
 * library does not know: a comment may have what it is given instead. */
static char *make_readable(const char *text)
{
    char *copy = strcpy(grow(NULL, strlen(text) + 1, 1), text);
    char *instead = strstr(copy, "/* fake-jit-text:");

    if (instead) {
        memmove(copy, instead + 17, strlen(instead + 17) + 1);
        *strstr(copy, "*/") = 0;
    }
    char *target = strstr(copy, ".target sm_");
    if (target && atoi(target + 11) > 90)
        memcpy(target + 11, "90                      ", strspn(target + 11, "0123456789"));
    return copy;
}

/* Those of the emulated driver have two sections. */
static bool is_of_ptxas(const void *image)
{
    Elf64_Ehdr header;

    if (memcmp(image, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&header, image, sizeof header);
    return header.e_shnum > 2;
}

static gd_CUresult pretend_cuModuleLoadDataEx(gd_CUmodule *module, const void *image,
                                              unsigned int count, gd_CUjit_option *options,
                                              void **values)
{
    const char *more;
    char words[512] = "";

    memset(fake.jit_given, 0, sizeof fake.jit_given);
    for (unsigned i = 0; options && values && i < count; i++) {
        if (options[i] >= 0 && options[i] < JIT_OPTIONS) {
            fake.jit_given[options[i]] = true;
            fake.jit_values[options[i]] = (uint64_t)(uintptr_t)values[i];
        }
    }
    if (image && fake.cubin_text && is_of_ptxas(image))
        image = fake.cubin_text;
    if (!image || *(const char *)image == 0x7f || *(const unsigned char *)image == 0x50)
        return capability() / 10 == 9
                   ? REAL(cuModuleLoadDataEx)(module, image, count, options, values)
                   : GD_CUDA_ERROR_NO_BINARY_FOR_GPU;
    more = strstr(image, "// fake-more-parameters: ");
    fake.more_parameters = more ? (unsigned)atoi(more + 25) : 0;
    gd_CUresult result = refuse_text(image, words, sizeof words);
    if (result != GD_CUDA_SUCCESS) {
        write_log(count, options, values, GD_CU_JIT_ERROR_LOG_BUFFER,
                  GD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, words);
        return result;
    }
    char *text = make_readable(image);
    result = REAL(cuModuleLoadDataEx)(module, text, count, options, values);
    free(text);
    return result;
}

static gd_CUresult drop_callback(void *user)
{
    if (fake.dropped_count == sizeof fake.dropped / sizeof *fake.dropped)
        stop("too many dropped", NULL);
    fake.dropped[fake.dropped_count++] = user;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult pretend_cuLaunchHostFunc(gd_CUstream stream, gd_CUhostFn *function, void *user)
{
    return fake.drops_callbacks ? drop_callback(user)
                                : REAL(cuLaunchHostFunc)(stream, function, user);
}

static gd_CUresult pretend_cuStreamAddCallback(gd_CUstream stream, gd_CUstreamCallback *callback,
                                               void *user, unsigned int flags)
{
    return fake.drops_callbacks ? drop_callback(user)
                                : REAL(cuStreamAddCallback)(stream, callback, user, flags);
}

#define PRETENDED                                                                                  \
    P(cuInit)                                                                                      \
    P(cuDriverGetVersion)                                                                          \
    P(cuDeviceGetCount)                                                                            \
    P(cuDeviceGet)                                                                                 \
    P(cuDeviceGetName)                                                                             \
    P(cuDeviceGetUuid)                                                                             \
    P(cuDeviceTotalMem)                                                                            \
    P(cuDeviceGetAttribute)                                                                        \
    P(cuCtxGetDevResource)                                                                         \
    P(cuDevicePrimaryCtxRetain)                                                                    \
    P(cuDevicePrimaryCtxRelease)                                                                   \
    P(cuCtxGetDevice)                                                                              \
    P(cuCtxPushCurrent)                                                                            \
    P(cuCtxPopCurrent)                                                                             \
    P(cuCtxSetCurrent)                                                                             \
    P(cuStreamEndCapture)                                                                          \
    P(cuStreamDestroy)                                                                             \
    P(cuUserObjectCreate)                                                                          \
    P(cuLaunchHostFunc)                                                                            \
    P(cuStreamAddCallback)                                                                         \
    P(cuLaunchKernelEx)                                                                            \
    P(cuOccupancyMaxPotentialClusterSize)                                                          \
    P(cuTensorMapEncodeTiled)                                                                      \
    P(cuTensorMapEncodeIm2col)                                                                     \
    P(cuFuncGetParamInfo)                                                                          \
    P(cuGraphInstantiateWithFlags)                                                                 \
    P(cuGraphExecKernelNodeSetParams)                                                              \
    P(cuGraphLaunch)                                                                               \
    P(cuEventRecord)                                                                               \
    P(cuEventElapsedTime)                                                                          \
    P(cuMemAlloc)                                                                                  \
    P(cuMemsetD8Async)                                                                             \
    P(cuMemcpyHtoDAsync)                                                                           \
    P(cuMemcpyDtoHAsync)                                                                           \
    P(cuModuleLoadDataEx)

/* ---- opening and forgetting ---- */

static void bind_all(void)
{
    const char *path = getenv("EMULATED_DRIVER");

    setenv("GRIDDEP_EMULATOR_MULTIPROCESSORS", "132", 0);
    fake_driver_set_attribute(GD_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560);
    fake_report_begin();
    fake.library = dlopen(path && *path ? path : EMULATED_DRIVER, RTLD_NOW | RTLD_LOCAL);
    if (!fake.library)
        stop("the emulated driver cannot be opened:", dlerror());
    for (int i = 0; i < SYMBOLS; i++) {
        fake.real[i] = find_other(symbols[i].symbol);
        fake.callee[i] = fake.real[i];
    }
#define P(name) fake.callee[SYMBOL_##name] = (any_function *)pretend_##name;
    PRETENDED
#undef P
}

static void open_driver(void)
{
    pthread_mutex_lock(&mutex);
    if (!fake.library) {
        fake.version = 13000;
        fake.device_count = 1;
        bind_all();
    }
    pthread_mutex_unlock(&mutex);
}

void fake_driver_reset(void)
{
    for (kept *one = fake.kept, *next; one; one = next) {
        next = one->next;
        free(one);
    }
    for (size_t i = 0; i < fake.executable_count; i++)
        free(fake.executables[i].kernels.items);
    free(fake.launches.items);
    free(fake.executions.items);
    free(fake.calls);
    if (fake.library)
        dlclose(fake.library);
    /* What a failed call left to the driver ends with it. */
    while (fake.users)
        end_user(fake.users);
    unsigned generation = fake.generation + 1;
    memset(&fake, 0, sizeof fake);
    fake.generation = generation;
    open_driver();
}

gd_CUresult fake_driver_get_proc_address(const char *symbol, void **function, int version,
                                         uint64_t flags, int *found)
{
    int index = symbol ? find_symbol(symbol) : -1;
    int query = GD_CU_GET_PROC_ADDRESS_SUCCESS;

    if (!symbol || !function || flags > GD_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        return GD_CUDA_ERROR_INVALID_VALUE;
    open_driver();
    if (version > fake.version)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (index < 0 || fake.hidden[index] || version > symbols[index].version)
        query = GD_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    else if (version < symbols[index].version)
        query = GD_CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    *function = NULL;
    if (query == GD_CU_GET_PROC_ADDRESS_SUCCESS)
        memcpy(function, &wrappers[index], sizeof *function);
    if (found)
        *found = query;
    return GD_CUDA_SUCCESS;
}

gd_CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version, uint64_t flags,
                                int *found)
{
    /* For programs that script nothing: of their kernels only the times count. */
    if (!fake.generation)
        fake.runs_nothing = true;
    return fake_driver_get_proc_address(symbol, function, version, flags, found);
}

/* ---- script ---- */

void fake_driver_fail(const char *symbol, uint64_t nth, gd_CUresult result)
{
    int index = symbol ? must_find_symbol(symbol) : -1;

    if (nth && fake.failure_count < FAILURES)
        fake.failures[fake.failure_count++] = (failure){index, nth, result};
}

void fake_driver_set_kernel(const char *name, fake_kernel function, void *user)
{
    size_t at = fake.kernel_count++;

    if (at == KERNELS)
        stop("no room for", name);
    snprintf(fake.kernels[at].name, sizeof fake.kernels[at].name, "%s", name);
    fake.kernels[at].function = function;
    fake.kernels[at].user = user;
}

void fake_driver_spend(double microseconds)
{
    fake.clock += (uint64_t)(microseconds * 1000);
}

void fake_driver_run_nothing(void)
{
    fake.runs_nothing = true;
}

void fake_driver_run_cubins_as(const char *text)
{
    fake.cubin_text = text;
}

void fake_driver_drop_callbacks(void)
{
    fake.drops_callbacks = true;
}

void fake_driver_set_foreign_maps(void)
{
    fake.foreign_maps = true;
}

void fake_driver_hide(const char *symbol)
{
    fake.hidden[must_find_symbol(symbol)] = true;
}

void fake_driver_set_version(int version)
{
    open_driver();
    fake.version = version;
}

void fake_driver_set_device_count(int count)
{
    open_driver();
    fake.device_count = count < DEVICES ? count : DEVICES;
}

void fake_driver_set_part(unsigned multiprocessors)
{
    fake.part = multiprocessors;
}

void fake_driver_set_attribute(gd_CUdevice_attribute attribute, int value)
{
    fake.attributes[attribute] = value;
    fake.pretended[attribute] = true;
}

void fake_driver_set_capability(int value)
{
    fake_driver_set_attribute(GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, value / 10);
    fake_driver_set_attribute(GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, value % 10);
}

gd_CUcontext fake_driver_create_context(gd_CUdevice device)
{
    gd_CUcontext context = NULL;

    open_driver();
    REAL(cuInit)(0);
    if (make_context(device, false, &context) != GD_CUDA_SUCCESS)
        stop("no context", NULL);
    return context;
}

void fake_driver_destroy_context(gd_CUcontext context)
{
    *find_context(context) = (held_context){0};
    OTHER(cuCtxDestroy_v2)(context);
}

void *fake_driver_make_cubin(const char *text, size_t *bytes)
{
    gd_CUcontext context = fake_driver_create_context(0);
    gd_CUlinkState link = NULL;
    void *image = NULL, *copy = NULL;

    REAL(cuCtxPushCurrent)(context);
    OTHER(cuLinkCreate_v2)(0, NULL, NULL, &link);
    OTHER(cuLinkAddData_v2)
    (link, GD_CU_JIT_INPUT_PTX, (void *)(uintptr_t)text, strlen(text) + 1, NULL, 0, NULL, NULL);
    if (OTHER(cuLinkComplete)(link, &image, bytes) != GD_CUDA_SUCCESS)
        stop("no cubin", NULL);
    copy = memcpy(grow(NULL, *bytes, 1), image, *bytes);
    OTHER(cuLinkDestroy)(link);
    REAL(cuCtxPopCurrent)(&context);
    fake_driver_destroy_context(context);
    return copy;
}

/* ---- observe ---- */

uint64_t fake_driver_calls(const char *symbol)
{
    int index = symbol ? must_find_symbol(symbol) : -1;

    pthread_mutex_lock(&mutex);
    uint64_t count = symbol ? fake.symbol_calls[index] : fake.call_count;
    pthread_mutex_unlock(&mutex);
    return count;
}

int32_t fake_driver_call(uint64_t index, fake_call *call)
{
    pthread_mutex_lock(&mutex);
    bool is = index < fake.call_count;
    if (is)
        *call = fake.calls[index];
    pthread_mutex_unlock(&mutex);
    return is;
}

int32_t fake_driver_jit_option(gd_CUjit_option option, uint64_t *value)
{
    if (option < 0 || option >= JIT_OPTIONS || !fake.jit_given[option])
        return 0;
    *value = fake.jit_values[option];
    return 1;
}

uint64_t fake_driver_programmatic_edges(void)
{
    return fake.programmatic_edges;
}

uint64_t fake_driver_launches(void)
{
    pthread_mutex_lock(&mutex);
    uint64_t count = fake.launches.count;
    pthread_mutex_unlock(&mutex);
    return count;
}

static int32_t get_launch(const launch_list *list, uint64_t index, fake_launch *launch)
{
    pthread_mutex_lock(&mutex);
    bool is = index < list->count;
    if (is)
        *launch = list->items[index].launch;
    pthread_mutex_unlock(&mutex);
    return is;
}

int32_t fake_driver_launch(uint64_t index, fake_launch *launch)
{
    return get_launch(&fake.launches, index, launch);
}

uint64_t fake_driver_executions(void)
{
    pthread_mutex_lock(&mutex);
    uint64_t count = fake.executions.count;
    pthread_mutex_unlock(&mutex);
    return count;
}

int32_t fake_driver_execution(uint64_t index, fake_launch *launch)
{
    return get_launch(&fake.executions, index, launch);
}

int32_t fake_driver_last_launch(fake_launch *launch)
{
    return fake_driver_launch(fake_driver_launches() - 1, launch);
}

uint64_t fake_driver_leaks(char *buffer, size_t size)
{
    uint64_t total = 0;
    char text[512] = "";

    change_depth(0);
    for (size_t i = 0; i <= KINDS; i++) {
        long long count = i < KINDS ? fake.left[i] : (long long)stack.depth;
        size_t used = strlen(text);
        if (count)
            snprintf(text + used, sizeof text - used, "%s%lld %s%s", total ? ", " : "", count,
                     i < KINDS ? kind_names[i] : "current context", count > 1 ? "s" : "");
        total += (uint64_t)count;
    }
    if (buffer && size)
        snprintf(buffer, size, "%s", text);
    return total;
}

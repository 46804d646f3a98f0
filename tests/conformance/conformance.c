/* Opening the driver, counting calls, comparing results, and the context that most cases share. */
#include "conformance.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- what is counted: in memory that the processes of all cases share ---- */

enum { OP_COUNT = 512 };

typedef struct counts {
    uint32_t good[ENTRY_COUNT], bad[ENTRY_COUNT];
    uint32_t differences[DIFFERENCE_COUNT];
    unsigned char ops[OP_COUNT];
} counts;

static counts *shared;

static const struct {
    const char *symbol, *name;
    int version;
} entries[] = {
#define GD_DRIVER(symbol, name, version, need, offer, variant, arguments)                          \
    GD_WHERE_EMULATED(offer, {#symbol, #name, version}, )
#include "cuda/driver.def"
#undef GD_DRIVER
};

static const char *const op_names[] = {
#define GD_OP(identifier, name, control, memory, sync) name,
#include "ptx/text/ops.def"
#undef GD_OP
};
_Static_assert(COUNT_OF(op_names) <= OP_COUNT, "room for each instruction");

uint32_t calls_good(entry_id id)
{
    return shared->good[id];
}

uint32_t calls_bad(entry_id id)
{
    return shared->bad[id];
}

bool is_instruction_seen(int op)
{
    return shared->ops[op];
}

/* ---- results that were not expected ---- */

static char *report;
static size_t report_bytes;
static unsigned report_count;

void driver_differs(const char *text, const char *file, int line)
{
    enum { MOST = 64 * 1024 };
    const char *name = strrchr(file, '/');

    if (!report)
        report = calloc(1, MOST);
    ck_assert_ptr_nonnull(report);
    report_count++;
    int more = snprintf(report + report_bytes, MOST - report_bytes, "\n    %s:%d: %s",
                        name ? name + 1 : file, line, text);
    if (more > 0 && (size_t)more < MOST - report_bytes)
        report_bytes += (size_t)more;
}

static const char *result_name(gd_CUresult result)
{
    const char *name = NULL;

    raw(cuGetErrorName, (result, &name));
    return name ? name : "an unknown result";
}

void driver_good(entry_id id, gd_CUresult result, const char *text, const char *file, int line)
{
    if (result == GD_CUDA_SUCCESS) {
        __atomic_fetch_add(&shared->good[id], 1, __ATOMIC_RELAXED);
        return;
    }
    const char *name = strrchr(file, '/');
    ck_abort_msg("%s:%d: %s: %s%s", name ? name + 1 : file, line, text, result_name(result),
                 report ? report : "");
}

void driver_bad(entry_id id, gd_CUresult result, gd_CUresult expected, const char *text,
                const char *file, int line)
{
    char message[512];

    __atomic_fetch_add(expected == GD_CUDA_SUCCESS ? &shared->good[id] : &shared->bad[id], 1,
                       __ATOMIC_RELAXED);
    if (result == expected)
        return;
    snprintf(message, sizeof message, "%s: %s, expected %s", text, result_name(result),
             result_name(expected));
    driver_differs(message, file, line);
}

static void end_case(void)
{
    ck_assert_msg(!report_count, "%u results are not as expected:%s", report_count,
                  report ? report : "");
}

/* ---- crashes ---- */

static const char *volatile last_call = "no call", *volatile last_file = "";
static volatile int last_line;

#ifdef CONFORMANCE_SURVIVE
sigjmp_buf driver_escape;
volatile bool driver_may_escape;
#endif

static void say(const char *text)
{
    if (write(STDERR_FILENO, text, strlen(text)) < 0)
        _exit(2);
}

static void crashed(int number)
{
    char digits[16];

#ifdef CONFORMANCE_SURVIVE
    if (driver_may_escape)
        siglongjmp(driver_escape, number);
#endif
    int at = sizeof digits - 1;
    digits[at] = 0;
    for (int rest = last_line; at > 0 && rest; rest /= 10)
        digits[--at] = (char)('0' + rest % 10);
    say("crash after ");
    say(last_file);
    say(":");
    say(digits + at);
    say(": ");
    say(last_call);
    say("\n");
    signal(number, SIG_DFL);
    raise(number);
}

/* ---- the driver ---- */

bool on_emulator;
gd_CUdevice device;
gd_CUcontext context;
gd_CUstream stream;

static void *library;
static any_function *resolved[ENTRY_COUNT];

static void *open_library(void)
{
    const char *name = getenv("GRIDDEP_TEST_DRIVER");

    if (!name || !*name)
        name = EMULATED_DRIVER;
    if (!strcmp(name, "nvidia"))
        name = "libcuda.so.1";
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

any_function *driver_entry(entry_id id)
{
    call_cuGetProcAddress_v2 *find = NULL;
    gd_CUdriverProcAddressQueryResult status = -1;
    void *found = NULL;

    if (resolved[id])
        return resolved[id];
    void *symbol = dlsym(library, "cuGetProcAddress_v2");
    ck_assert_msg(symbol != NULL, "the driver has no cuGetProcAddress_v2");
    memcpy(&find, &symbol, sizeof find);
    gd_CUresult result = find(entries[id].name, &found, entries[id].version, 0, &status);
    ck_assert_msg(result == GD_CUDA_SUCCESS && status == GD_CU_GET_PROC_ADDRESS_SUCCESS && found,
                  "the driver has no %s of version %d: result %d, status %d", entries[id].name,
                  entries[id].version, result, status);
    memcpy(&resolved[id], &found, sizeof found);
    return resolved[id];
}

bool is_exported(const char *symbol)
{
    return dlsym(library, symbol) != NULL;
}

any_function *driver_before(entry_id id, const char *text, const char *file, int line)
{
    any_function *found = driver_entry(id);

    last_call = text;
    last_file = file;
    last_line = line;
    return found;
}

bool differs(difference which)
{
    enum { EMULATOR, NVIDIA, UNDEFINED };
    static const int where[] = {
#define GD_DIFFERENCE(name, where, reason) where,
#include "differences.def"
#undef GD_DIFFERENCE
    };
    bool holds = where[which] == EMULATOR ? on_emulator : !on_emulator;

    if (holds)
        __atomic_fetch_add(&shared->differences[which], 1, __ATOMIC_RELAXED);
    return holds;
}

void report_differences(void)
{
    static const char *const lines[] = {
#define GD_DIFFERENCE(name, where, reason) #name " (" #where "): " reason,
#include "differences.def"
#undef GD_DIFFERENCE
    };

    for (size_t i = 0; i < COUNT_OF(lines); i++)
        printf("%s %s\n", shared->differences[i] ? "exception" : "no exception here:", lines[i]);
}

/* ---- fixtures ---- */

void setup_driver(void)
{
    char name[128] = "";

    signal(SIGSEGV, crashed);
    signal(SIGBUS, crashed);
    good(cuInit, (0));
    good(cuDeviceGet, (&device, 0));
    good(cuDeviceGetName, (name, sizeof name, device));
    on_emulator = !strncmp(name, "Emulated", 8);
}

void teardown_driver(void)
{
    end_case();
}

void setup_context(void)
{
    setup_driver();
    good(cuDevicePrimaryCtxRetain, (&context, device));
    good(cuCtxPushCurrent_v2, (context));
    good(cuStreamCreate, (&stream, GD_CU_STREAM_NON_BLOCKING));
}

void teardown_context(void)
{
    gd_CUcontext popped = NULL;

    good(cuStreamSynchronize, (stream));
    good(cuStreamDestroy_v2, (stream));
    good(cuCtxPopCurrent_v2, (&popped));
    expect(popped == context);
    good(cuDevicePrimaryCtxRelease_v2, (device));
    end_case();
}

/* ---- helpers ---- */

/* The longest instruction name that the word begins with. */
static void note_instruction(const char *word, size_t length)
{
    size_t best = 0;
    int found = -1;

    for (size_t i = 0; i < COUNT_OF(op_names); i++) {
        size_t bytes = strlen(op_names[i]);
        if (bytes > best && bytes <= length && !memcmp(word, op_names[i], bytes) &&
            (bytes == length || word[bytes] == '.')) {
            best = bytes;
            found = (int)i;
        }
    }
    if (found >= 0)
        shared->ops[found] = 1;
}

/* Each statement begins behind ; { } or a label; a guard may stand before its instruction. */
static void note_instructions(const char *text)
{
    while (*text) {
        text += strspn(text, " \t\r\n;{}");
        size_t length = strcspn(text, " \t\r\n;{}");
        if (text[0] == '@' || (length && text[length - 1] == ':')) {
            text += length;
        } else {
            note_instruction(text, length);
            text += length;
            text += strcspn(text, ";{}\n");
        }
    }
}

gd_CUmodule load(const char *ptx)
{
    char errors[8192] = "";
    gd_CUmodule module = NULL;
    gd_CUjit_option options[] = {GD_CU_JIT_ERROR_LOG_BUFFER, GD_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {errors, (void *)(uintptr_t)sizeof errors};

    gd_CUresult result = raw(cuModuleLoadDataEx, (&module, ptx, 2, options, values));
    ck_assert_msg(result == GD_CUDA_SUCCESS, "%s: %s\n%s", result_name(result), errors, ptx);
    note_instructions(ptx);
    return module;
}

gd_CUfunction function_of(gd_CUmodule module, const char *name)
{
    gd_CUfunction function = NULL;

    good(cuModuleGetFunction, (&function, module, name));
    return function;
}

gd_CUdeviceptr allocate(size_t bytes)
{
    gd_CUdeviceptr address = 0;

    good(cuMemAlloc_v2, (&address, bytes));
    good(cuMemsetD8_v2, (address, 0, bytes));
    return address;
}

gd_CUdeviceptr allocate_with(const void *data, size_t bytes)
{
    gd_CUdeviceptr address = 0;

    good(cuMemAlloc_v2, (&address, bytes));
    good(cuMemcpyHtoD_v2, (address, data, bytes));
    good(cuCtxSynchronize, ());
    return address;
}

void read_back(void *target, gd_CUdeviceptr source, size_t bytes)
{
    good(cuMemcpyDtoH_v2, (target, source, bytes));
}

void release(gd_CUdeviceptr address)
{
    good(cuMemFree_v2, (address));
}

int device_attribute(gd_CUdevice_attribute attribute)
{
    int value = 0;

    good(cuDeviceGetAttribute, (&value, attribute, device));
    return value;
}

void run(gd_CUfunction function, unsigned grid, unsigned block, void **parameters)
{
    good(cuLaunchKernel, (function, grid, 1, 1, block, 1, 1, 0, stream, parameters, NULL));
    good(cuStreamSynchronize, (stream));
}

void run_two(gd_CUfunction function, unsigned grid, unsigned block, gd_CUdeviceptr in,
             gd_CUdeviceptr out)
{
    void *parameters[] = {&in, &out};

    good(cuCtxSynchronize, ()); /* fills of the default stream come first */
    run(function, grid, block, parameters);
}

uint64_t next_random(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9e3779b97f4a7c15);

    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

int main(void)
{
    Suite *(*const suites[])(void) = {
        module_suite,  memory_suite,      stream_suite,     launch_suite,  graph_suite,
        capture_suite, dependent_suite,   arithmetic_suite, copy_suite,    instruction_suite,
        tensor_suite,  conditional_suite, green_suite,      devices_suite, coverage_suite};
    setenv("CK_DEFAULT_TIMEOUT", "1800", 0); /* how fast a machine is, nobody knows */
    SRunner *runner = srunner_create(device_suite());

    setenv("CUDA_CACHE_DISABLE", "1", 1); /* a compiler that does not run says nothing */
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    library = open_library();
    if (shared == MAP_FAILED || !library) {
        const char *why = library ? "no memory" : dlerror();
        printf("the driver cannot be opened: %s\n", why ? why : "?");
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < COUNT_OF(suites); i++)
        srunner_add_suite(runner, suites[i]());
    srunner_run_all(runner, CK_ENV);
    report_differences();
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

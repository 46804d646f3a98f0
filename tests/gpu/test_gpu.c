/* The library on a real driver and a real GPU: what compilers and drivers say of bad input, streams
 * and contexts of others, faults, captures, CUDA C++, and that dependent launches overlap. The same
 * calls on the scripted driver are in tests/unit/test_run.c. Exits 77 without a GPU; each test runs
 * in a process of its own. */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/driver.h"
#include "griddep.h"
#include "suite.h"
#include "unit/status.h"

static griddep_error error;
static griddep_runtime *runtime;
static gd_driver *driver; /* the same library, called bare */
static char directory[64];
static char warnings[4096];

static void remember(void *user, int32_t level, const char *message)
{
    (void)user;
    (void)level;
    size_t used = strlen(warnings);
    snprintf(warnings + used, sizeof warnings - used, "%s\n", message);
}

static void setup(void)
{
    snprintf(directory, sizeof directory, "/tmp/griddep-gpu-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    const griddep_runtime_options options = {
        .size = sizeof options, .store_directory = directory, .log = remember};
    griddep_error_init(&error);
    ck_good(griddep_runtime_open(&options, &runtime, &error));
    ck_good(gd_driver_open("libcuda.so.1", &driver, &error));
}

static void teardown(void)
{
    char command[128];

    griddep_runtime_close(runtime);
    gd_driver_close(driver);
    snprintf(command, sizeof command, "rm -rf '%s'", directory);
    ck_assert_int_eq(system(command), 0);
}

/* Bare driver calls need the runtime's context to be current. */
static void enter(void)
{
    griddep_runtime_info info = {.size = sizeof info};

    ck_good(griddep_runtime_get_info(runtime, &info, &error));
    ck_assert_int_eq(driver->cuCtxPushCurrent(info.context), GD_CUDA_SUCCESS);
}

static void leave(void)
{
    gd_CUcontext popped = NULL;

    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
}

static griddep_module *load(const char *text)
{
    griddep_module *module = NULL;

    ck_good(griddep_module_load(runtime, text, strlen(text), NULL, &module, &error));
    return module;
}

static griddep_kernel *kernel_of(griddep_module *module, const char *name)
{
    griddep_kernel *kernel = NULL;

    ck_good(griddep_module_find_kernel(module, name, &kernel, &error));
    return kernel;
}

static uint64_t allocate(uint64_t bytes)
{
    uint64_t address = 0;

    ck_good(griddep_memory_allocate(runtime, bytes, &address, &error));
    ck_good(griddep_memory_fill(runtime, address, 0, bytes, NULL, &error));
    return address;
}

/* out[thread] = in[thread] + 1, the shelf's spinner. */
static griddep_module *load_spin(griddep_kernel **spin)
{
    griddep_module *module = NULL;

    ck_good(griddep_module_load_shelf(runtime, "spin", NULL, &module, &error));
    *spin = kernel_of(module, NULL);
    return module;
}

static uint32_t first_word(uint64_t address)
{
    uint32_t value = 0;

    ck_good(griddep_memory_read(runtime, &value, address, sizeof value, NULL, &error));
    return value;
}

/* ---- what is refused ---- */

TEST_GROUP(all, setup, teardown);

TEST(all, compiler_errors_have_their_line)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 p)\n{\n    mov.u32 %r9, 1;\n    ret;\n}\n";
    const griddep_module_options options = {.size = sizeof options, .name = "k.ptx"};
    griddep_module *module = NULL;

    ck_status(griddep_module_load(runtime, text, sizeof text, &options, &module, &error),
              GRIDDEP_ERROR_COMPILE);
    ck_assert_int_eq(error.line, 6);
    ck_assert_str_eq(error.file, "k.ptx");
    ck_says("%r9");
    ck_says("6 |     mov.u32 %r9, 1;");
    ck_assert_int_ne(error.driver_code, 0);
    griddep_module_unload(
        load(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{ ret; }\n"));
}

TEST(all, syntax_errors_have_their_column)
{
    static const char text[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry "
                               "k(.param .u64 p\n{\n    ret;\n}\n";
    griddep_module *module = NULL;

    ck_status(griddep_module_load(runtime, text, sizeof text, NULL, &module, &error),
              GRIDDEP_ERROR_SYNTAX);
    ck_assert_int_eq(error.line, 5);
    ck_assert_int_eq(error.column, 1);
    ck_says("^");
}

TEST(all, newer_targets_are_refused)
{
    static const char text[] =
        ".version 8.7\n.target sm_120\n.address_size 64\n.visible .entry k()\n{ ret; }\n";
    griddep_module *module = NULL;

    int32_t status = griddep_module_load(runtime, text, sizeof text, NULL, &module, &error);
    ck_assert_msg(status == GRIDDEP_ERROR_COMPILE || status == GRIDDEP_ERROR_IMAGE, "%s: %s",
                  griddep_status_name(status), error.text);
    ck_says("sm_90");
}

/* What the driver's linker, which the library has no use for, makes of PTX. Returns the bytes. */
static size_t make_cubin(char *text, char *cubin, size_t capacity)
{
    gd_CUresult (*create)(unsigned int count, int *options, void **values, void **link);
    gd_CUresult (*add)(void *link, int type, void *data, size_t bytes, const char *name,
                       unsigned int count, int *options, void **values);
    gd_CUresult (*complete)(void *link, void **made, size_t *bytes);
    gd_CUresult (*destroy)(void *link);
    const struct {
        const char *name;
        void *pointer;
    } symbols[] = {{"cuLinkCreate_v2", &create},
                   {"cuLinkAddData_v2", &add},
                   {"cuLinkComplete", &complete},
                   {"cuLinkDestroy", &destroy}};
    enum { PTX = 1 };
    void *link = NULL, *made = NULL;
    size_t bytes = 0;

    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *found = dlsym(driver->library, symbols[i].name);
        ck_assert_msg(found != NULL, "%s", symbols[i].name);
        memcpy(symbols[i].pointer, &found, sizeof found);
    }
    enter();
    ck_assert_int_eq(create(0, NULL, NULL, &link), GD_CUDA_SUCCESS);
    ck_assert_int_eq(add(link, PTX, text, strlen(text) + 1, "k", 0, NULL, NULL), GD_CUDA_SUCCESS);
    ck_assert_int_eq(complete(link, &made, &bytes), GD_CUDA_SUCCESS);
    ck_assert_uint_le(bytes, capacity);
    memcpy(cubin, made, bytes);
    ck_assert_int_eq(destroy(link), GD_CUDA_SUCCESS);
    leave();
    return bytes;
}

/* A cubin with the chip's number in its ELF flags changed. */
TEST(all, cubins_of_other_chips_are_refused)
{
    static char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{ ret; }\n";
    char cubin[65536];
    griddep_module *module = NULL;
    size_t bytes = make_cubin(text, cubin, sizeof cubin);

    ck_good(griddep_module_load(runtime, cubin, bytes, NULL, &module, &error));
    griddep_kernel *kernel = kernel_of(module, "k");
    griddep_kernel_info info = {.size = sizeof info};
    ck_good(griddep_kernel_get_info(kernel, &info, &error));
    ck_assert_uint_eq(info.parameters_known, 1);
    griddep_module_unload(module);
    int changed = 0;
    for (int i = 48; i < 52; i++) { /* e_flags */
        if ((unsigned char)cubin[i] == 90) {
            cubin[i] = 80;
            changed = 1;
        }
    }
    ck_assert_int_eq(changed, 1);
    ck_refused(griddep_module_load(runtime, cubin, bytes, NULL, &module, &error),
               GRIDDEP_ERROR_IMAGE, "sm_90");
    ck_status(griddep_module_load(runtime, cubin, bytes / 2, NULL, &module, &error),
              GRIDDEP_ERROR_IMAGE);
}

TEST(all, shapes_beyond_the_device_are_refused)
{
    griddep_kernel *spin = NULL;
    griddep_module *module = load_spin(&spin);
    const griddep_argument arguments[3] = {{.bytes = 8}, {.bytes = 8}, {.bytes = 4}};
    griddep_launch_config config = {.size = sizeof config, .grid = {1, 70000}, .block = {32}};

    ck_status(griddep_launch(spin, &config, arguments, 3, NULL, &error), GRIDDEP_ERROR_LIMIT);
    config = (griddep_launch_config){.size = sizeof config, .grid = {1}, .block = {2048}};
    ck_status(griddep_launch(spin, &config, arguments, 3, NULL, &error), GRIDDEP_ERROR_LIMIT);
    config = (griddep_launch_config){
        .size = sizeof config, .grid = {1}, .block = {32}, .shared_bytes = 300000};
    ck_status(griddep_launch(spin, &config, arguments, 3, NULL, &error), GRIDDEP_ERROR_LIMIT);
    ck_status(griddep_launch(spin, &config, arguments, 2, NULL, &error), GRIDDEP_ERROR_SIGNATURE);
    ck_good(griddep_stream_synchronize(runtime, NULL,
                                       &error)); /* nothing was launched, all is usable */
    griddep_module_unload(module);
}

/* ---- contexts and streams of others ---- */

typedef gd_CUresult (*create_context)(gd_CUcontext *context, unsigned flags, gd_CUdevice device);

static gd_CUcontext other_context(void)
{
    gd_CUcontext other = NULL, popped = NULL;
    void *create =
        dlsym(driver->library, "cuCtxCreate_v2"); /* the library itself does not use it */

    ck_assert_ptr_nonnull(create);
    create_context function;
    memcpy(&function, &create, sizeof function);
    ck_assert_int_eq(function(&other, 0, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    return other;
}

TEST(all, streams_of_other_contexts_are_named)
{
    gd_CUcontext other = other_context(), current = NULL;
    griddep_kernel *spin = NULL;
    griddep_module *module = load_spin(&spin);
    uint64_t memory = allocate(256);
    const griddep_argument arguments[3] = {POINTER(memory), POINTER(memory + 128), {.bytes = 4}};
    void *stream = NULL;

    ck_assert_int_eq(driver->cuCtxPushCurrent(other), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuStreamCreate(&stream, GD_CU_STREAM_NON_BLOCKING), GD_CUDA_SUCCESS);
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {32}, .stream = stream};
    ck_refused(griddep_launch(spin, &config, arguments, 3, NULL, &error), GRIDDEP_ERROR_STREAM,
               "another context");
    /* The caller's context is still the current one. */
    ck_assert_int_eq(driver->cuCtxGetCurrent(&current), GD_CUDA_SUCCESS);
    ck_assert_ptr_eq(current, other);
    ck_assert_int_eq(driver->cuStreamDestroy(stream), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuCtxPopCurrent(&current), GD_CUDA_SUCCESS);
    ck_good(griddep_memory_free(runtime, memory, &error));
    griddep_module_unload(module);
}

TEST(all, current_context_is_adopted)
{
    gd_CUcontext other = other_context(), popped = NULL;
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    griddep_runtime *inside = NULL;
    griddep_runtime_info info = {.size = sizeof info};

    ck_assert_int_eq(driver->cuCtxPushCurrent(other), GD_CUDA_SUCCESS);
    ck_good(griddep_runtime_open(&options, &inside, &error));
    ck_assert_int_eq(driver->cuCtxPopCurrent(&popped), GD_CUDA_SUCCESS);
    ck_good(griddep_runtime_get_info(inside, &info, &error));
    ck_assert_ptr_eq(info.context, other);
    griddep_runtime_close(inside);
}

TEST(all, launches_join_a_callers_capture)
{
    griddep_kernel *spin = NULL;
    griddep_module *module = load_spin(&spin);
    uint64_t memory = allocate(384);
    void *stream = NULL, *graph = NULL, *exec = NULL;
    size_t nodes = 0;

    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    enter();
    ck_assert_int_eq(driver->cuStreamBeginCapture(stream, GD_CU_STREAM_CAPTURE_MODE_RELAXED),
                     GD_CUDA_SUCCESS);
    const griddep_launch_config config = {
        .size = sizeof config, .grid = {1}, .block = {32}, .stream = stream};
    for (uint32_t i = 0; i < 2; i++) {
        const griddep_argument arguments[3] = {
            POINTER(memory + 128 * i), POINTER(memory + 128 * (i + 1)), {.bytes = 4}};
        ck_good(griddep_launch(spin, &config, arguments, 3, NULL, &error));
    }
    ck_assert_int_eq(driver->cuStreamEndCapture(stream, &graph), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuGraphGetNodes(graph, NULL, &nodes), GD_CUDA_SUCCESS);
    ck_assert_uint_eq(nodes, 2);
    ck_assert_int_eq(driver->cuGraphInstantiateWithFlags(&exec, graph, 0), GD_CUDA_SUCCESS);
    ck_assert_int_eq(driver->cuGraphLaunch(exec, stream), GD_CUDA_SUCCESS);
    ck_good(griddep_stream_synchronize(runtime, stream, &error));
    ck_assert_uint_eq(first_word(memory + 256), 2);
    driver->cuGraphExecDestroy(exec);
    driver->cuGraphDestroy(graph);
    leave();
    ck_good(griddep_stream_destroy(runtime, stream, &error));
    ck_good(griddep_memory_free(runtime, memory, &error));
    griddep_module_unload(module);
}

/* ---- faults ---- */

TEST(all, faults_are_reported_as_such)
{
    griddep_kernel *spin = NULL;
    griddep_module *module = load_spin(&spin);
    const griddep_argument arguments[3] = {POINTER(64), POINTER(64), {.bytes = 4}};
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};

    ck_good(griddep_launch(spin, &config, arguments, 3, NULL, &error));
    ck_refused(griddep_stream_synchronize(runtime, NULL, &error), GRIDDEP_ERROR_FAULT,
               "CUDA_ERROR_ILLEGAL_ADDRESS");
    ck_status(griddep_launch(spin, &config, arguments, 3, NULL, &error), GRIDDEP_ERROR_FAULT);
    griddep_module_unload(module);
}

/* ---- parameters, cache, CUDA C++ ---- */

TEST(all, parameter_layouts_agree_with_the_driver)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u8 a, .param .align 16 .b8 b[20], .param .u16 c, .param .f64 "
        "d, .param .align 2 .b8 e[3],\n"
        "                  .param .u64 .ptr .global .align 16 f, .param .b32 g[3])\n"
        "{\n    ret;\n}\n";
    griddep_module *module = load(text);

    kernel_of(module, "k");
    ck_assert_msg(!warnings[0], "%s", warnings);
    griddep_module_unload(module);
}

/* Beyond 16 the driver aligns addresses in the constant bank, not offsets; both ways to hand over
 * arguments must reach the kernel. */
TEST(all, large_alignments_follow_the_driver)
{
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 out, .param .u32 a, .param .align 64 .b8 h[128])\n"
        "{\n    .reg .b64 %o;\n    .reg .b32 %v, %w;\n    ld.param.u64 %o, [out];\n    "
        "ld.param.u32 %v, [h];\n"
        "    ld.param.u32 %w, [h+124];\n    st.global.u32 [%o], %v;\n    st.global.u32 [%o+4], "
        "%w;\n    ret;\n}\n";
    griddep_module *module = load(text);
    griddep_kernel *kernel = kernel_of(module, "k");
    griddep_kernel_info info = {.size = sizeof info};
    griddep_parameter_info parameter = {.size = sizeof parameter};
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};
    uint64_t memory = allocate(8);
    uint32_t h[32] = {7, [31] = 9}, seen[2] = {0};
    unsigned char packed[512] = {0};
    const griddep_argument arguments[3] = {POINTER(memory), WORD(1), {.bytes = 128, .data = h}};

    ck_good(griddep_launch(kernel, &config, arguments, 3, NULL, &error));
    ck_good(griddep_memory_read(runtime, seen, memory, 8, NULL, &error));
    ck_assert_uint_eq(seen[0], 7);
    ck_assert_uint_eq(seen[1], 9);
    ck_good(griddep_kernel_get_info(kernel, &info, &error));
    ck_good(griddep_kernel_get_parameter(kernel, 2, &parameter, &error));
    ck_assert_uint_le(info.parameter_bytes, sizeof packed);
    h[0] = 70;
    h[31] = 90;
    memcpy(packed, &memory, 8);
    memcpy(packed + parameter.offset, h, 128);
    ck_good(griddep_launch_packed(kernel, &config, packed, info.parameter_bytes, NULL, &error));
    ck_good(griddep_memory_read(runtime, seen, memory, 8, NULL, &error));
    ck_assert_uint_eq(seen[0], 70);
    ck_assert_uint_eq(seen[1], 90);
    printf("a parameter with .align 64 behind 12 bytes stands at offset %u\n", parameter.offset);
    griddep_module_unload(module);
    ck_good(griddep_memory_free(runtime, memory, &error));
}

TEST(all, source_runs)
{
    static const char source[] = "extern \"C\" __global__ void twice(const float *x, float *y)\n"
                                 "{\n    griddep_launch_dependents();\n    griddep_wait();\n"
                                 "    y[threadIdx.x] = 2.0f * x[threadIdx.x];\n}\n";
    griddep_module *module = NULL;
    griddep_chain *chain = NULL;
    uint64_t memory = allocate(512);
    float ones[32], out[32];
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};

    for (int i = 0; i < 32; i++)
        ones[i] = 1;
    int32_t status = griddep_module_compile(runtime, source, strlen(source), NULL, &module, &error);
    if (status == GRIDDEP_ERROR_NO_NVRTC) {
        printf("skipped a part: %s\n", error.text);
        return;
    }
    ck_status(status, GRIDDEP_OK);
    ck_good(griddep_memory_write(runtime, memory, ones, sizeof ones, NULL, &error));
    ck_good(griddep_chain_create(runtime, &chain, &error));
    for (uint32_t i = 0; i < 3; i++) {
        const griddep_argument arguments[2] = {POINTER(memory + 128 * i),
                                               POINTER(memory + 128 * (i + 1))};
        ck_good(
            griddep_chain_add(chain, kernel_of(module, "twice"), &config, arguments, 2, &error));
    }
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        ck_good(griddep_memory_fill(runtime, memory + 128, 0xff, 384, NULL, &error));
        ck_good(griddep_chain_run(chain, mode, NULL, &error));
        ck_good(griddep_memory_read(runtime, out, memory + 384, sizeof out, NULL, &error));
        ck_assert_float_eq(out[31], 8.0f);
    }
    griddep_chain_destroy(chain);
    griddep_module_unload(module);
    ck_good(griddep_memory_free(runtime, memory, &error));
}

/* ---- overlap ---- */

/* Eight spinners of one block and 20 us each, of which each does its preparation of 0 us in
 * advance: what overlap can take away is the launch latency. With it the chain must not be slower,
 * its result must be the same, and each hop's edge must be programmatic. */
TEST(all, dependent_launches_overlap)
{
    enum { LENGTH = 8, NANOSECONDS = 20000, ROUNDS = 15 };
    griddep_kernel *spin = NULL;
    griddep_module *module = load_spin(&spin);
    griddep_chain *chain = NULL;
    uint64_t memory = allocate(128 * (LENGTH + 1));
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    double best[GRIDDEP_MODE_COUNT];
    void *start = NULL, *end = NULL, *stream = NULL;

    ck_good(griddep_chain_create(runtime, &chain, &error));
    ck_good(griddep_stream_create(runtime, NULL, &stream, &error));
    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_TIMING, &start, &error));
    ck_good(griddep_event_create(runtime, GRIDDEP_EVENT_TIMING, &end, &error));
    for (uint32_t i = 0; i < LENGTH; i++) {
        const griddep_argument arguments[3] = {POINTER(memory + 128 * i),
                                               POINTER(memory + 128 * (i + 1)), WORD(NANOSECONDS)};
        ck_good(griddep_chain_add(chain, spin, &config, arguments, 3, &error));
    }
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++) {
        best[mode] = 1e30;
        for (int round = 0; round < ROUNDS; round++) {
            double nanoseconds = 0;
            ck_good(griddep_event_record(runtime, start, stream, &error));
            ck_good(griddep_chain_run(chain, mode, stream, &error));
            ck_good(griddep_event_record(runtime, end, stream, &error));
            ck_good(griddep_event_elapsed(runtime, start, end, &nanoseconds, &error));
            if (nanoseconds < best[mode])
                best[mode] = nanoseconds;
        }
        ck_assert_uint_eq(first_word(memory + 128 * LENGTH), LENGTH);
        for (uint32_t i = 1; i < LENGTH; i++) {
            griddep_hop_info hop = {.size = sizeof hop};
            ck_good(griddep_chain_get_hop(chain, mode, i, &hop, &error));
            ck_assert_int_eq(hop.edge, mode == GRIDDEP_MODE_GRAPH_PDL ? 1
                                       : mode == GRIDDEP_MODE_GRAPH   ? 0
                                                                      : -1);
        }
        printf("%-10s %6.2f us for %d spins of %d us\n", griddep_text(GRIDDEP_TEXT_MODE, mode),
               best[mode] / 1e3, LENGTH, NANOSECONDS / 1000);
    }
    ck_assert_double_ge(best[GRIDDEP_MODE_SERIAL], LENGTH * NANOSECONDS);
    ck_assert_double_lt(best[GRIDDEP_MODE_PDL], best[GRIDDEP_MODE_SERIAL]);
    ck_assert_double_lt(best[GRIDDEP_MODE_GRAPH_PDL], best[GRIDDEP_MODE_GRAPH]);
    griddep_event_destroy(runtime, start, NULL);
    griddep_event_destroy(runtime, end, NULL);
    griddep_chain_destroy(chain);
    ck_good(griddep_stream_destroy(runtime, stream, &error));
    ck_good(griddep_memory_free(runtime, memory, &error));
    griddep_module_unload(module);
}

/* ---- tensor maps, clusters, stamps ---- */

/* One thread brings a tile of 16 x 16 f32 into shared memory through the map, and writes it out row
 * by row. */
static const char tile_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry tile(.param .align 64 .b8 map[128], .param .u64 out)\n"
    "{\n"
    "    .shared .align 128 .b8 room[1024];\n    .shared .align 8 .b64 bar;\n"
    "    .reg .pred %p<3>;\n    .reg .b32 %r<8>;\n    .reg .b64 %rd<8>;\n"
    "    mov.b64 %rd1, map;\n    cvta.param.u64 %rd2, %rd1;\n"
    "    ld.param.u64 %rd3, [out];\n"
    "    mov.u32 %r1, bar;\n    mov.u32 %r2, room;\n"
    "    mbarrier.init.shared.b64 [%r1], 1;\n    fence.proxy.async.shared::cta;\n"
    "    mbarrier.arrive.expect_tx.shared.b64 %rd4, [%r1], 1024;\n"
    "    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], "
    "[%rd2, {16, 0}], "
    "[%r1];\n"
    "WAIT:\n"
    "    mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 0;\n    @!%p1 bra WAIT;\n"
    "    mov.u32 %r3, 0;\n"
    "COPY:\n"
    "    add.u32 %r4, %r2, %r3;\n    ld.shared.b32 %r5, [%r4];\n"
    "    cvt.u64.u32 %rd5, %r3;\n    add.u64 %rd6, %rd3, %rd5;\n    st.global.b32 [%rd6], %r5;\n"
    "    add.u32 %r3, %r3, 4;\n    setp.lt.u32 %p2, %r3, 1024;\n    @%p2 bra COPY;\n"
    "    ret;\n"
    "}\n";

TEST(all, tensor_maps_reach_kernels)
{
    enum { COLUMNS = 64, ROWS = 16, TILE = 16 };
    float values[ROWS * COLUMNS], found[TILE * TILE];
    uint64_t tensor = allocate(sizeof values), out = allocate(sizeof found);
    griddep_module *module = load(tile_ptx);
    const griddep_tensor_options options = {.size = sizeof options,
                                            .type = GRIDDEP_TENSOR_F32,
                                            .address = tensor,
                                            .rank = 2,
                                            .dimensions = {COLUMNS, ROWS},
                                            .strides = {COLUMNS * sizeof(float)},
                                            .box = {TILE, TILE}};
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};
    griddep_tensor_map map;

    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = (float)i;
    ck_good(griddep_memory_write(runtime, tensor, values, sizeof values, NULL, &error));
    ck_good(griddep_tensor_map_encode(runtime, &options, &map, &error));
    const griddep_argument arguments[2] = {{.bytes = sizeof map, .data = &map}, POINTER(out)};
    ck_good(griddep_launch(kernel_of(module, "tile"), &config, arguments, 2, NULL, &error));
    ck_good(griddep_memory_read(runtime, found, out, sizeof found, NULL, &error));
    for (int row = 0; row < TILE; row++) {
        for (int column = 0; column < TILE; column++)
            ck_assert_float_eq(found[row * TILE + column], values[row * COLUMNS + TILE + column]);
    }
    ck_good(griddep_memory_free(runtime, tensor, &error));
    ck_good(griddep_memory_free(runtime, out, &error));
    griddep_module_unload(module);
}

TEST(all, clusters_have_a_limit)
{
    griddep_kernel *spin = NULL;
    griddep_module *module = load_spin(&spin);
    const griddep_argument arguments[3] = {{.bytes = 8}, {.bytes = 8}, {.bytes = 4}};
    griddep_launch_config config = {.size = sizeof config, .grid = {16}, .block = {32}};

    config.grid[0] = 34;
    config.cluster[0] = 17;
    ck_status(griddep_launch(spin, &config, arguments, 3, NULL, &error), GRIDDEP_ERROR_LIMIT);
    griddep_module_unload(module);
}

/* Explained and measured: the two agree with and without dependent launch. */
LOOP_TEST(all, explanations_agree_with_timelines, 2)
{
    const int32_t mode = _i ? GRIDDEP_MODE_GRAPH_PDL : GRIDDEP_MODE_GRAPH;
    const griddep_launch_config config = {.size = sizeof config, .grid = {4}, .block = {32}};
    griddep_explanation_info info = {.size = sizeof info};
    griddep_timeline_hop hop = {.size = sizeof hop};
    griddep_timeline_launch first = {.size = sizeof first};
    griddep_explanation *explanation = NULL;
    griddep_timeline *timeline = NULL;
    griddep_kernel *spin = NULL;
    griddep_module *module = load_spin(&spin);
    griddep_chain *chain = NULL;
    uint64_t memory = allocate(3 * 512);

    ck_good(griddep_chain_create(runtime, &chain, &error));
    for (uint32_t i = 0; i < 2; i++) {
        const griddep_argument arguments[3] = {POINTER(memory + 512 * i),
                                               POINTER(memory + 512 * (i + 1)), WORD(50000)};
        ck_good(griddep_chain_add(chain, spin, &config, arguments, 3, &error));
    }
    ck_good(griddep_timeline_create(chain, NULL, &timeline, &error));
    for (int run = 0; run < 2; run++) /* the first one loads code */
        ck_good(griddep_timeline_run(timeline, mode, NULL, &error));
    ck_good(griddep_timeline_get_launch(timeline, 0, &first, &error));
    ck_good(griddep_timeline_get_hop(timeline, 1, &hop, &error));
    ck_assert_double_ge(first.last_exit - first.first_entry, 50000);
    ck_assert_int_eq(hop.launch_lead > 0, _i);
    ck_good(griddep_chain_explain(chain, mode, 1, &explanation, &error));
    ck_good(griddep_explanation_get_info(explanation, &info, &error));
    ck_assert_int_eq(info.overlap, _i ? GRIDDEP_OVERLAP_FULL : GRIDDEP_OVERLAP_NONE);
    griddep_explanation_destroy(explanation);
    griddep_timeline_destroy(timeline);
    griddep_chain_destroy(chain);
    griddep_module_unload(module);
    ck_good(griddep_memory_free(runtime, memory, &error));
}

/* ---- running ---- */

/* Asked in a process of its own: a driver that is initialized does not survive fork. */
static int gpu_is_there(void)
{
    pid_t child = fork();
    int status = 0;

    if (child == 0) {
        griddep_runtime *probe = NULL;
        griddep_error why;
        griddep_error_init(&why);
        if (!griddep_runtime_open(NULL, &probe, &why))
            _exit(0);
        printf("skipped: no GPU: %s\n", why.text);
        fflush(stdout);
        _exit(1);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

int main(void)
{
    const char *required = getenv("GRIDDEP_REQUIRE_GPU");

    setenv("CK_DEFAULT_TIMEOUT", "1800", 0); /* how fast a machine is, nobody knows */
    setenv("GRIDDEP_DRIVER", "nvidia", 0);   /* the emulated driver is not to take a GPU's place */
    if (!gpu_is_there())
        return required && !strcmp(required, "1") ? EXIT_FAILURE : 77;
    return run_suite(make_suite("gpu"));
}

/* The steps of random sequences that make, use and end objects. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/runtime.h"
#include "sequences.h"

/* ---- runtimes ---- */

/* An output that a failed call must leave alone. */
#define UNTOUCHED ((void *)(uintptr_t)0x5a5a)

static void *made_by(int32_t status, const void *place_of_output, const char *what)
{
    void *output;

    memcpy(&output, place_of_output, sizeof output);
    if (status && output != UNTOUCHED)
        fail("%s failed and wrote its output", what);
    if (!status && (!output || output == UNTOUCHED))
        fail("%s succeeded and wrote no output", what);
    return status ? NULL : output;
}

static griddep_runtime *any_runtime(actor *by)
{
    item *runtime = pick(by, ITEM_RUNTIME, false);

    return runtime ? runtime->handle : NULL;
}

/* Most sequences are about one runtime. */
static void open_runtime(actor *by)
{
    static const int32_t choices[] = {GRIDDEP_PDL_DEFAULT, GRIDDEP_PDL_AUTO, GRIDDEP_PDL_OFF,
                                      GRIDDEP_PDL_FORCE};
    griddep_runtime_options options = {
        .size = sizeof options, .store_directory = "", .nvrtc = "/nowhere/libnvrtc.so"};
    griddep_runtime *runtime = UNTOUCHED;
    gd_driver *driver;
    item *into = place(by, ITEM_RUNTIME);

    if (!into)
        return;
    if (any_runtime(by)) {
        if (below(by, PLACES) < 2)
            return;
        note_capture(
            by, RUNTIME_ENDS); /* one may end before a graph of the other one with its kernels */
    }
    if (one_in(by, 8)) {
        options.driver = "/nowhere/libcuda.so.1";
        made_by(CHECK(griddep_runtime_open, &options, &runtime, E), &runtime,
                "griddep_runtime_open");
        return;
    }
    options.pdl = one_in(by, 4) ? choices[below(by, 4)] : 0;
    options.multiprocessors = one_in(by, 4) ? 1 + below(by, 3) : 0;
    options.part = options.multiprocessors && one_in(by, 2) ? 1 : 0;
    note(by, CALL_griddep_runtime_open); /* the emulated driver is part of this program, and has no
                                     * path */
    if (gd_driver_create(cuGetProcAddress_v2, "emulated", &driver, NULL))
        fail("no driver");
    into->handle = made_by(check_status(by, gd_runtime_open_on(driver, &options, &runtime, E)),
                           &runtime, "opening");
}

static void close_runtime(actor *by)
{
    item *ended = pick(by, ITEM_RUNTIME, true);

    if (ended)
        end_item(by, ITEM_RUNTIME, ended);
}

/* ---- modules and kernels ---- */

static void load_module(actor *by)
{
    griddep_module_options options = {.size = sizeof options,
                                      .name = "text",
                                      .flags = one_in(by, 2) ? GRIDDEP_MODULE_LIBRARY : 0,
                                      .optimization = one_in(by, 8) ? 9 : 0};
    griddep_runtime *runtime = any_runtime(by);
    item *into = place(by, ITEM_MODULE), *shared;
    griddep_module *module = UNTOUCHED;
    const char *text = ptx_texts[one_in(by, 8) ? below(by, ptx_text_count) : below(by, 3)];
    int32_t status;

    if (!into || !runtime)
        return;
    const griddep_link_input inputs[] = {{text, strlen(text), "text"}, {"hello", 5, NULL}};

    switch (below(by, 40)) {
    case 4:
        status = CHECK(griddep_module_link, runtime, inputs, 1 + one_in(by, 4), NULL, &module, E);
        break;
    case 5:
    case 6:
    case 7:
        shared = pick(by, ITEM_MODULE, false);
        if (!shared)
            return;
        status = CHECK(griddep_module_share, shared->handle, runtime, &module, E);
        break;
    case 0:
        status = CHECK(griddep_module_load_file, runtime,
                       one_in(by, 4) ? "/nowhere/kernel.ptx" : ptx_path, NULL, &module, E);
        break;
    case 1:
        status = CHECK(griddep_module_compile, runtime, "extern \"C\" __global__ void k() {}", 34,
                       NULL, &module, E);
        break;
    case 2:
    case 3:
        status = CHECK(griddep_module_load_shelf, runtime, one_in(by, 4) ? "no_such" : "vector_add",
                       NULL, &module, E);
        break;
    default:
        status = CHECK(griddep_module_load, runtime, text, strlen(text),
                       one_in(by, 2) ? &options : NULL, &module, E);
    }
    into->handle = made_by(status, &module, "loading a module");
}

static void unload_module(actor *by)
{
    item *ended = pick(by, ITEM_MODULE, true);

    if (ended)
        end_item(by, ITEM_MODULE, ended);
}

static void get_kernel(actor *by)
{
    static const char *const names[] = {"step", "quiet", "leave", "set", "none"};
    item *module = pick(by, ITEM_MODULE, false), *into = place(by, ITEM_KERNEL);
    griddep_kernel *kernel = UNTOUCHED;

    if (!module || !into)
        return;
    int32_t status =
        one_in(by, 2) ? CHECK(griddep_module_get_kernel, module->handle, below(by, 4), &kernel, E)
                      : CHECK(griddep_module_find_kernel, module->handle,
                              one_in(by, 4) ? NULL : names[below(by, 5)], &kernel, E);
    into->handle = made_by(status, &kernel, "getting a kernel");
    into->module = index_of(by, module);
    into->module_number = module->number;
}

/* ---- launches ---- */

typedef struct launch {
    griddep_launch_config config;
    griddep_attribute attributes[4];
    griddep_argument arguments[16];
    uint32_t count;
} launch;

static void make_config(actor *by, launch *made)
{
    made->config = (griddep_launch_config){.size = sizeof made->config,
                                           .grid = {1 + below(by, 2), one_in(by, 8) ? 2 : 0},
                                           .block = {one_in(by, 2) ? 32 : 1 + below(by, 64)},
                                           .shared_bytes = one_in(by, 8) ? 1u << below(by, 19) : 0,
                                           .pdl = one_in(by, 3) ? (int32_t)below(by, 5) : 0};
    if (one_in(by, 16))
        made->config.grid[0] = 0;
    if (one_in(by, 12))
        made->config.cluster[0] = 1 + below(by, 2);
    if (one_in(by, 6)) {
        made->config.attributes = made->attributes;
        make_attributes(by, made->attributes, &made->config.attribute_count);
    }
}

/* What the kernel takes: buffers for addresses. */
static void make_arguments(actor *by, griddep_kernel *kernel, launch *made)
{
    griddep_kernel_info info = {.size = sizeof info};

    if (CHECK(griddep_kernel_get_info, kernel, &info, E))
        fail("nothing is known about a kernel");
    made->count = info.parameter_count < 16 ? info.parameter_count : 16;
    for (uint32_t i = 0; i < made->count; i++) {
        griddep_parameter_info parameter = {.size = sizeof parameter};
        if (CHECK(griddep_kernel_get_parameter, kernel, i, &parameter, E))
            fail("nothing is known about a parameter");
        made->arguments[i] = (griddep_argument){.bytes = parameter.bytes, .value = 16};
        item *memory = pick(by, ITEM_MEMORY, false);
        if (parameter.bytes == 8 && memory)
            made->arguments[i].value = memory->address;
    }
    if (one_in(by, 20))
        made->count = below(by, 4);
}

/* Without memory for its arguments, or with a handle of nothing, a kernel would only end the
 * context. */
static bool is_harmless(const griddep_kernel *kernel, const launch *made)
{
    (void)kernel;
    for (uint32_t i = 0; i < made->count; i++) {
        if (made->arguments[i].bytes == 8 && made->arguments[i].value == 16)
            return false;
    }
    return true;
}

static bool make_launch(actor *by, griddep_kernel *kernel, launch *made)
{
    make_config(by, made);
    make_arguments(by, kernel, made);
    return is_harmless(kernel, made) || one_in(by, 200);
}

static void *any_stream(actor *by)
{
    item *stream = one_in(by, 12) ? NULL : pick(by, ITEM_STREAM, false);

    return stream ? stream->handle : one_in(by, 8) ? (void *)2 : NULL;
}

static void launch_in(actor *by, void *stream)
{
    item *kernel = pick(by, ITEM_KERNEL, false);
    unsigned char packed[256] = {0};
    uint64_t bytes = 0;
    int32_t reason = 0;
    launch made;

    if (!kernel || !make_launch(by, kernel->handle, &made))
        return;
    made.config.stream = stream;
    if (!one_in(by, 4)) {
        CHECK(griddep_launch, kernel->handle, &made.config, made.arguments, made.count,
              one_in(by, 2) ? &reason : NULL, E);
        return;
    }
    for (uint32_t i = 0; i < made.count && bytes + 8 <= sizeof packed; i++, bytes += 8)
        memcpy(packed + bytes, &made.arguments[i].value, 8);
    for (uint32_t i = 0; i < made.count; i++) {
        if (made.arguments[i].reserved)
            return; /* a place of the host's is no handle */
    }
    CHECK(griddep_launch_packed, kernel->handle, &made.config, packed, bytes, &reason, E);
}

static void launch_kernel(actor *by)
{
    launch_in(by, any_stream(by));
}

/* ---- memory, streams, events ---- */

static void use_memory(actor *by)
{
    griddep_runtime *runtime = any_runtime(by);
    item *memory = pick(by, ITEM_MEMORY, true);
    unsigned char bytes[64] = {0};

    if (!runtime)
        return;
    if (!memory && (memory = place(by, ITEM_MEMORY))) {
        uint64_t address = 0;
        if (!CHECK(griddep_memory_allocate, runtime, one_in(by, 20) ? 0 : BUFFER, &address, E)) {
            memory->handle = memory;
            memory->address = address;
        }
        return;
    }
    if (!memory)
        return;
    switch (below(by, 5)) {
    case 0:
        CHECK(griddep_memory_write, runtime, memory->address, bytes, sizeof bytes, any_stream(by),
              E);
        break;
    case 1:
        CHECK(griddep_memory_read, runtime, bytes, memory->address, sizeof bytes, any_stream(by),
              E);
        break;
    default:
        CHECK(griddep_memory_fill, runtime, memory->address, (uint8_t)below(by, 3),
              one_in(by, 9) ? 0 : 256, any_stream(by), E);
    }
}

/* Kernels that are still to run would fault. */
static void free_memory(actor *by)
{
    item *memory = one_in(by, 30) ? pick(by, ITEM_MEMORY, true) : NULL;

    if (memory)
        end_item(by, ITEM_MEMORY, memory);
}

static void make_stream(actor *by)
{
    griddep_runtime *runtime = any_runtime(by);
    item *into = place(by, ITEM_STREAM);
    void *stream = UNTOUCHED;

    if (runtime && into)
        into->handle = made_by(CHECK(griddep_stream_create, runtime, NULL, &stream, E), &stream,
                               "griddep_stream_create");
}

static void make_event(actor *by)
{
    griddep_runtime *runtime = any_runtime(by);
    item *into = place(by, ITEM_EVENT);
    void *event = UNTOUCHED;

    if (!runtime || !into)
        return;
    int32_t status = CHECK(griddep_event_create, runtime, (int32_t)below(by, 3), &event, E);
    into->handle = made_by(status, &event, "making an event");
}

static void use_stream(actor *by)
{
    griddep_runtime *runtime = any_runtime(by);
    item *event = pick(by, ITEM_EVENT, false), *other = pick(by, ITEM_EVENT, false);
    double nanoseconds = 0;

    if (!runtime)
        return;
    if (!event || one_in(by, 5)) {
        CHECK(griddep_stream_synchronize, runtime, any_stream(by), E);
    } else if (one_in(by, 2)) {
        CHECK(griddep_event_record, runtime, event->handle, any_stream(by), E);
    } else if (other && one_in(by, 3)) {
        CHECK(griddep_event_elapsed, runtime, event->handle, other->handle, &nanoseconds, E);
    } else {
        CHECK(griddep_stream_wait_event, runtime, any_stream(by), event->handle, E);
    }
}

static void end_stream(actor *by)
{
    item_kind kind = one_in(by, 2) ? ITEM_STREAM : ITEM_EVENT;
    item *ended = pick(by, kind, true);

    if (ended)
        end_item(by, kind, ended);
}

/* ---- chains ---- */

static void make_chain(actor *by)
{
    griddep_runtime *runtime = any_runtime(by);
    item *into = place(by, ITEM_CHAIN);
    griddep_chain *chain = UNTOUCHED;

    if (runtime && into)
        into->handle = made_by(CHECK(griddep_chain_create, runtime, &chain, E), &chain,
                               "griddep_chain_create");
}

static void fill_chain(actor *by)
{
    item *chain = pick(by, ITEM_CHAIN, true), *kernel = pick(by, ITEM_KERNEL, false);
    launch made;

    if (!chain || !kernel || !make_launch(by, kernel->handle, &made))
        return;
    made.config.lane = one_in(by, 3) ? 0 : below(by, 3);
    CHECK(griddep_chain_add, chain->handle, kernel->handle, &made.config, made.arguments,
          made.count, E);
    uint32_t length = USE(griddep_chain_length)(chain->handle);
    if (one_in(by, 2))
        CHECK(griddep_chain_depend, chain->handle, length - 1, below(by, length + 1), E);
}

static void run_on_host(void *user)
{
    (void)user;
}

/* What is no kernel. */
static void extend_chain(actor *by)
{
    item *chain = pick(by, ITEM_CHAIN, true), *memory = pick(by, ITEM_MEMORY, false);
    const griddep_launch_config config = {.size = sizeof config,
                                          .lane = one_in(by, 3) ? below(by, 3) : 0,
                                          .name = one_in(by, 2) ? "hand over" : NULL};
    uint64_t address = memory ? memory->address : 0;

    if (!chain)
        return;
    switch (below(by, 3)) {
    case 0:
        CHECK(griddep_chain_add_copy, chain->handle, &config, address, address + 1024, 64, E);
        break;
    case 1:
        CHECK(griddep_chain_add_fill, chain->handle, one_in(by, 2) ? &config : NULL, address, 1, 64,
              E);
        break;
    default:
        CHECK(griddep_chain_add_host, chain->handle, &config, run_on_host, NULL, E);
    }
}

static griddep_group *open_group(actor *by, griddep_runtime *runtime)
{
    const griddep_group_options options = {.size = sizeof options, .timeout_ms = 1};
    const griddep_group_options *given = one_in(by, 2) ? &options : NULL;
    griddep_group *group = UNTOUCHED;
    char path[64];

    if (!one_in(by, 4))
        return made_by(CHECK(griddep_group_open, &runtime, 1, given, &group, E), &group,
                       "griddep_group_open");
    snprintf(path, sizeof path, "/tmp/griddep-sequences-%ld-%p", (long)getpid(), (void *)by);
    return made_by(CHECK(griddep_group_join, runtime, 0, 1, path, given, &group, E), &group,
                   "griddep_group_join");
}

/* A group of one: whose hops are those of a larger one, but for who sends. What is added keeps the
 * group's memory. */
static void add_hops(actor *by)
{
    item *chain = pick(by, ITEM_CHAIN, true), *memory = pick(by, ITEM_MEMORY, false);
    griddep_runtime *runtime = any_runtime(by);
    const griddep_launch_config config = {.size = sizeof config, .lane = below(by, 3)};
    griddep_group_info info = {.size = sizeof info};
    griddep_group *group = runtime && chain ? open_group(by, runtime) : NULL;
    const uint64_t at = memory ? memory->address : 0;
    uint64_t part = 0;
    uint32_t buffer = 0;

    if (!group)
        return;
    CHECK(griddep_group_get_info, group, &info, E);
    if (!CHECK(griddep_group_allocate, group, 1 + below(by, 100), &buffer, E))
        CHECK(griddep_group_get_address, group, buffer, below(by, 2), &part, E);
    for (uint32_t i = below(by, 6); i < 5; i++) {
        static const int32_t types[] = {GRIDDEP_TENSOR_BF16, GRIDDEP_TENSOR_F16, GRIDDEP_TENSOR_F32,
                                        GRIDDEP_TENSOR_U16, GRIDDEP_TENSOR_U32};
        const bool broadcast = i == GRIDDEP_HOP_BROADCAST;
        const griddep_hop hop = {.size = sizeof hop,
                                 .operation = (int32_t)i,
                                 .type = types[i],
                                 .source = broadcast ? 0 : at,
                                 .target = i == GRIDDEP_HOP_ALL_REDUCE || broadcast ? at : at + 512,
                                 .count = i == GRIDDEP_HOP_ALL_REDUCE ? 64 : 8};
        CHECK(griddep_chain_add_hop, chain->handle, group, one_in(by, 2) ? &config : NULL, &hop, E);
    }
    CHECK(griddep_group_status, group, E);
    USE(griddep_group_close)(group);
}

/* A kernel's arguments go to a launch of whatever kernel there is. */
static void change_launch(actor *by, griddep_chain *chain)
{
    item *kernel = pick(by, ITEM_KERNEL, false);
    const uint32_t index = below(by, 4);
    launch made;

    if (!kernel || !make_launch(by, kernel->handle, &made))
        return;
    switch (below(by, 3)) {
    case 0:
        CHECK(griddep_chain_set_arguments, chain, index, made.arguments, made.count, E);
        break;
    case 1:
        CHECK(griddep_chain_set_argument, chain, index, 0, &made.arguments[0], E);
        break;
    default:
        CHECK(griddep_chain_set_config, chain, index, &made.config, E);
    }
}

static void change_chain(actor *by)
{
    item *chain = pick(by, ITEM_CHAIN, true), *memory = pick(by, ITEM_MEMORY, false);
    uint32_t set = 0, index = 0;
    uint64_t address = memory ? memory->address : 0;

    if (!chain)
        return;
    switch (below(by, 8)) {
    case 0:
        CHECK(griddep_chain_add_argument_set, chain->handle, &set, E);
        break;
    case 1:
        CHECK(griddep_chain_select_argument_set, chain->handle, below(by, 3), E);
        break;
    case 2:
        CHECK(griddep_chain_set_copy, chain->handle, below(by, 4), address, address + 512, 32, E);
        break;
    case 3:
        CHECK(griddep_chain_set_fill, chain->handle, below(by, 4), address, 2, 32, E);
        break;
    case 4:
        CHECK(griddep_chain_find, chain->handle, "hand over", &index, E);
        break;
    default:
        change_launch(by, chain->handle);
    }
}

static void run_chain_in(actor *by, void *stream)
{
    item *chain = pick(by, ITEM_CHAIN, true);
    const int32_t mode = (int32_t)below(by, GRIDDEP_MODE_COUNT);

    if (chain && one_in(by, 4))
        CHECK(griddep_chain_run_many, chain->handle, mode, below(by, 6), stream, E);
    else if (chain)
        CHECK(griddep_chain_run, chain->handle, mode, stream, E);
}

static void run_chain(actor *by)
{
    run_chain_in(by, any_stream(by));
}

static void ask_chain(actor *by)
{
    item *chain = pick(by, ITEM_CHAIN, true), *into = place(by, ITEM_EXPLANATION);
    int32_t mode = (int32_t)below(by, GRIDDEP_MODE_COUNT + 1);
    griddep_hop_info hop = {.size = sizeof hop};
    griddep_explanation *explanation = UNTOUCHED;

    if (!chain)
        return;
    switch (below(by, 3)) {
    case 0:
        CHECK(griddep_chain_prepare, chain->handle, mode, E);
        break;
    case 1:
        CHECK(griddep_chain_get_hop, chain->handle, mode, below(by, 3), &hop, E);
        break;
    default:
        if (into)
            into->handle = made_by(
                CHECK(griddep_chain_explain, chain->handle, mode, below(by, 3), &explanation, E),
                &explanation, "griddep_chain_explain");
    }
}

static void end_chain(actor *by)
{
    item *ended = pick(by, ITEM_CHAIN, true);

    if (ended)
        end_item(by, ITEM_CHAIN, ended);
}

/* ---- graphs ---- */

/* A place for a graph with its number. */
static item *place_graph(actor *by)
{
    item *into = place(by, ITEM_GRAPH);

    return into && number_graph(by, into) ? into : NULL;
}

static void make_graph(actor *by)
{
    griddep_runtime *runtime = any_runtime(by);
    item *into = place_graph(by), *chain = one_in(by, 3) ? pick(by, ITEM_CHAIN, true) : NULL;
    griddep_graph *graph = UNTOUCHED;

    if (!runtime || !into)
        return;
    int32_t status =
        chain ? CHECK(griddep_graph_from_chain, chain->handle, (int32_t)below(by, 5), &graph, E)
              : CHECK(griddep_graph_create, runtime, &graph, E);
    into->handle = made_by(status, &graph, "making a graph");
}

static item *any_graph(actor *by)
{
    item *graph = pick(by, ITEM_GRAPH, true);

    return graph && take_graph(by, graph) ? graph : NULL;
}

static void add_kernel_node(actor *by, item *graph)
{
    item *kernel = pick(by, ITEM_KERNEL, false);
    uint32_t node = 0;
    launch made;

    if (kernel && make_launch(by, kernel->handle, &made))
        CHECK(griddep_graph_add_kernel, graph->handle, kernel->handle, &made.config, made.arguments,
              made.count, &node, E);
}

static void fill_graph(actor *by)
{
    item *graph = any_graph(by);
    item *memory = pick(by, ITEM_MEMORY, false);
    uint32_t node = 0;
    uint64_t address = memory ? memory->address : 0;

    if (!graph)
        return;
    switch (below(by, 7)) {
    case 0:
        CHECK(griddep_graph_add_fill, graph->handle, address, 1, 64, &node, E);
        break;
    case 1:
        CHECK(griddep_graph_add_copy, graph->handle, address, address + 1024, 64, &node, E);
        break;
    case 2:
        CHECK(griddep_graph_add_host, graph->handle, run_on_host, NULL, &node, E);
        break;
    default:
        add_kernel_node(by, graph);
    }
    uint32_t count = USE(griddep_graph_node_count)(graph->handle);
    if (count > 1 && !one_in(by, 4))
        CHECK(griddep_graph_add_edge, graph->handle, below(by, count), count - 1,
              (int32_t)below(by, 3), (int32_t)below(by, 3), E);
    else if (count > 1)
        CHECK(griddep_graph_add_edge, graph->handle, count - 2, count - 1, 0, GRIDDEP_EDGE_AUTO, E);
}

static void run_graph(actor *by)
{
    item *graph = any_graph(by);

    if (!graph)
        return;
    switch (below(by, 8)) {
    case 0:
        CHECK(griddep_graph_instantiate, graph->handle, E);
        break;
    default:
        CHECK(griddep_graph_launch, graph->handle, any_stream(by), E);
    }
}

static void change_graph(actor *by)
{
    item *graph = any_graph(by), *kernel = pick(by, ITEM_KERNEL, false);
    uint32_t count = graph ? USE(griddep_graph_node_count)(graph->handle) : 0,
             node = below(by, count + 1), changed = 0;
    item *ptx = pick(by, ITEM_PTX, false);
    launch made;

    if (!graph)
        return;
    switch (below(by, 5)) {
    case 0:
        if (kernel && make_launch(by, kernel->handle, &made))
            CHECK(griddep_graph_set_arguments, graph->handle, node, made.arguments, made.count, E);
        break;
    case 1:
        make_config(by, &made);
        CHECK(griddep_graph_set_config, graph->handle, node, &made.config, E);
        break;
    case 2: /* the first node that takes it, in any graph that there is */
        for (uint32_t i = 0; ptx && i < 4 && graph; i++, graph = pick(by, ITEM_GRAPH, false)) {
            count = USE(griddep_graph_node_count)(graph->handle);
            for (node = 0; node < count; node++) {
                if (!CHECK(griddep_graph_describe, graph->handle, node, ptx->handle,
                           node % 2 ? "step" : "quiet", E) ||
                    !CHECK(griddep_graph_describe, graph->handle, node, ptx->handle, "step", E))
                    break;
            }
        }
        break;
    case 3:
        CHECK(griddep_graph_remove_edge, graph->handle, below(by, count + 1), E);
        break;
    default:
        CHECK(griddep_graph_upgrade, graph->handle, one_in(by, 2) ? &changed : NULL, E);
    }
}

static void end_graph(actor *by)
{
    item *ended = any_graph(by);

    if (ended)
        end_item(by, ITEM_GRAPH, ended);
}

/* ---- captures ---- */

static void begin_capture_of(actor *by, const item *stream)
{
    griddep_runtime *runtime = any_runtime(by);

    note_capture(by, CAPTURE_BEGINS);
    if (runtime && one_in(by, 2)) {
        CHECK(griddep_graph_capture_begin, runtime, stream->handle, E);
        return;
    }
    enter_driver(by);
    cuStreamBeginCapture_v2(stream->handle, (gd_CUstreamCaptureMode)below(by, 3));
    leave_driver(by);
}

static void end_capture_of(actor *by, const item *stream)
{
    griddep_runtime *runtime = any_runtime(by);
    bool own = one_in(by, 2);
    item *into = own ? place_graph(by) : place(by, ITEM_CUDA_GRAPH);
    griddep_graph *graph = UNTOUCHED;
    gd_CUgraph captured = NULL;

    if (!into)
        return;
    if (own && runtime) {
        into->handle = made_by(CHECK(griddep_graph_capture_end, runtime, stream->handle, &graph, E),
                               &graph, "griddep_graph_capture_end");
    } else if (!own) {
        enter_driver(by);
        if (cuStreamEndCapture(stream->handle, &captured) == GD_CUDA_SUCCESS)
            into->handle = captured;
        leave_driver(by);
        into->held = true;
        if (into->handle)
            note_capture(by, CAPTURED_BY_PROGRAM);
    }
}

static void begin_capture(actor *by)
{
    item *stream = pick(by, ITEM_STREAM, true);

    if (stream)
        begin_capture_of(by, stream);
}

static void end_capture(actor *by)
{
    item *stream = pick(by, ITEM_STREAM, true);

    if (stream)
        end_capture_of(by, stream);
}

/* Most captures of the steps above have little in them. */
static void capture_some(actor *by)
{
    item *stream = pick(by, ITEM_STREAM, true);
    uint32_t count = 1 + below(by, 3);

    if (!stream)
        return;
    begin_capture_of(by, stream);
    for (uint32_t i = 0; i < count; i++) {
        if (one_in(by, 3))
            run_chain_in(by, stream->handle);
        else
            launch_in(by, stream->handle);
    }
    if (!one_in(by, 4))
        end_capture_of(by, stream);
}

void end_open_capture(actor *by, item *stream)
{
    gd_CUgraph graph = NULL;

    if (!stream->handle)
        return;
    enter_driver(by);
    gd_CUresult result = cuStreamEndCapture(stream->handle, &graph);
    if (result == GD_CUDA_SUCCESS)
        cuGraphDestroy(graph);
    if (result == GD_CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
        note_capture(by, CAPTURE_OPEN);
    leave_driver(by);
}

/* Another thread may close the runtime of a part of the device, with which its streams end. */
static bool has_ended(void *stream)
{
    gd_CUcontext context;

    return cuStreamGetCtx(stream, &context) == GD_CUDA_ERROR_INVALID_HANDLE;
}

/* A graph that the program captured, or that it takes over, runs whatever has ended. */
static void run_captured(actor *by)
{
    item *graph = pick(by, ITEM_CUDA_GRAPH, true);
    gd_CUgraphExec executable = NULL;
    void *stream = any_stream(by);

    if (!graph || context_is_lost())
        return;
    enter_driver(by);
    gd_CUresult result = cuGraphInstantiateWithFlags(&executable, graph->handle, 0);
    if (result == GD_CUDA_SUCCESS) {
        result = cuGraphLaunch(executable, stream);
        cuGraphExecDestroy(executable);
    }
    const bool ended = has_ended(stream);
    leave_driver(by);
    if (graph->held && !ended &&
        (result == GD_CUDA_ERROR_INVALID_HANDLE || result == GD_CUDA_ERROR_INVALID_VALUE))
        fail("a captured graph does not run: %d", result);
}

static void adopt_graph(actor *by)
{
    item *captured = pick(by, ITEM_CUDA_GRAPH, true), *into = place_graph(by);
    griddep_runtime *runtime = any_runtime(by);
    uint32_t flags = one_in(by, 2) ? GRIDDEP_GRAPH_OWN : 0;
    griddep_graph *graph = UNTOUCHED;

    if (!captured || !into || !runtime)
        return;
    into->handle = made_by(CHECK(griddep_graph_adopt, runtime, captured->handle, flags, &graph, E),
                           &graph, "griddep_graph_adopt");
    if (into->handle && flags)
        empty(captured);
    else if (into->handle)
        captured->held = false; /* it may be changed */
}

static void end_captured(actor *by)
{
    item *ended = pick(by, ITEM_CUDA_GRAPH, true);

    if (ended)
        end_item(by, ITEM_CUDA_GRAPH, ended);
}

/* ---- the others ---- */

static void use_timeline(actor *by)
{
    item *timeline = pick(by, ITEM_TIMELINE, true);
    item *chain = timeline ? NULL : pick(by, ITEM_CHAIN, true),
         *into = chain ? place(by, ITEM_TIMELINE) : NULL;
    griddep_timeline_info info = {.size = sizeof info};
    griddep_timeline_launch launched = {.size = sizeof launched};
    griddep_timeline_hop hop = {.size = sizeof hop};
    griddep_timeline *made = UNTOUCHED;
    uint64_t count = 0;

    if (into) {
        into->handle = made_by(CHECK(griddep_timeline_create, chain->handle, NULL, &made, E), &made,
                               "griddep_timeline_create");
        timeline = into->handle ? into : NULL;
    }
    if (!timeline)
        return;
    CHECK(griddep_timeline_run, timeline->handle, (int32_t)below(by, 5), any_stream(by), E);
    if (CHECK(griddep_timeline_get_info, timeline->handle, &info, E))
        fail("nothing is known about a timeline");
    uint32_t index = below(by, info.launch_count + 1);
    CHECK(griddep_timeline_get_launch, timeline->handle, index, &launched, E);
    CHECK(griddep_timeline_get_hop, timeline->handle, index, &hop, E);
    CHECK(griddep_timeline_read, timeline->handle, index, (int32_t)below(by, 8), NULL, 0, &count,
          E);
    USE(griddep_timeline_get_mark)(timeline->handle, 0, 0);
    griddep_chain *own = USE(griddep_timeline_get_chain)(timeline->handle);
    CHECK(griddep_chain_run, own, (int32_t)below(by, 4), any_stream(by), E);
    if (one_in(by, 2))
        end_item(by, ITEM_TIMELINE, timeline);
}

static int32_t stop_soon(void *user, uint32_t done, uint32_t most, const char *text)
{
    (void)user, (void)most, (void)text;
    return done > 1;
}

static void ask_tune(actor *by, griddep_tune *tune)
{
    griddep_tune_info info = {.size = sizeof info};
    griddep_tune_trial trial = {.size = sizeof trial};
    griddep_tune_choice choice = {.size = sizeof choice};

    CHECK(griddep_tune_get_info, tune, &info, E);
    CHECK(griddep_tune_get_trial, tune, below(by, 3), &trial, E);
    CHECK(griddep_tune_get_choice, tune, below(by, 3), &choice, E);
}

static void use_tune(actor *by)
{
    item *chain = pick(by, ITEM_CHAIN, true);
    item *tune = pick(by, ITEM_TUNE, true), *into = tune ? NULL : place(by, ITEM_TUNE);
    const griddep_tune_options options = {.size = sizeof options,
                                          .flags = GRIDDEP_TUNE_FLAG_FORGET,
                                          .pairs = 1,
                                          .progress = stop_soon};
    static const unsigned char zeros[BUFFER];
    griddep_tune_buffer buffers[PLACES] = {0};
    uint32_t count = 0;
    griddep_tune *made = UNTOUCHED;

    if (tune) {
        ask_tune(by, tune->handle);
        if (one_in(by, 2))
            end_item(by, ITEM_TUNE, tune);
        return;
    }
    if (!into || !chain)
        return;
    for (uint32_t i = 0; i < PLACES; i++) { /* all there is, so that what is written is covered */
        item *memory = pick(by, ITEM_MEMORY, false);
        bool known = !memory;
        for (uint32_t k = 0; k < count && !known; k++)
            known = buffers[k].address == memory->address;
        if (!known)
            buffers[count++] = (griddep_tune_buffer){.size = sizeof buffers[0],
                                                     .address = memory->address,
                                                     .bytes = BUFFER,
                                                     .initial = one_in(by, 8) ? NULL : zeros};
    }
    int32_t status =
        one_in(by, 2) ? CHECK(griddep_tune_run, chain->handle, buffers, count, &options, &made, E)
                      : CHECK(griddep_tune_load, chain->handle, 0, &made, E);
    into->handle = made_by(status, &made, "tuning");
    if (into->handle)
        ask_tune(by, into->handle);
}

/* ---- ends ---- */

void end_item(actor *by, item_kind kind, item *ended)
{
    void *handle = ended->handle;
    griddep_runtime *runtime =
        kind == ITEM_STREAM || kind == ITEM_EVENT || kind == ITEM_MEMORY ? any_runtime(by) : NULL;
    int32_t status = GRIDDEP_OK;

    if (kind == ITEM_GRAPH && !take_graph(by, ended))
        return;
    empty(ended);
    switch (kind) {
    case ITEM_RUNTIME:
        note_capture(by, RUNTIME_ENDS);
        USE(griddep_runtime_close)(handle);
        break;
    case ITEM_MODULE:
        USE(griddep_module_unload)(handle);
        break;
    case ITEM_PTX:
        USE(griddep_ptx_destroy)(handle);
        break;
    case ITEM_CHAIN:
        USE(griddep_chain_destroy)(handle);
        break;
    case ITEM_GRAPH:
        USE(griddep_graph_destroy)(handle);
        break;
    case ITEM_EXPLANATION:
        USE(griddep_explanation_destroy)(handle);
        break;
    case ITEM_FINDINGS:
        USE(griddep_findings_destroy)(handle);
        break;
    case ITEM_TIMELINE:
        USE(griddep_timeline_destroy)(handle);
        break;
    case ITEM_TUNE:
        USE(griddep_tune_destroy)(handle);
        break;
    case ITEM_STREAM:
        status =
            runtime ? CHECK(griddep_stream_destroy, runtime, handle, E) : GRIDDEP_ERROR_ARGUMENT;
        break;
    case ITEM_EVENT:
        status =
            runtime ? CHECK(griddep_event_destroy, runtime, handle, E) : GRIDDEP_ERROR_ARGUMENT;
        break;
    case ITEM_MEMORY:
        status = runtime ? CHECK(griddep_memory_free, runtime, ended->address, E)
                         : GRIDDEP_ERROR_ARGUMENT;
        break;
    case ITEM_CUDA_GRAPH:
        status = GRIDDEP_ERROR_ARGUMENT;
        break;
    default:
        break;
    }
    if (!status)
        return;
    enter_driver(by);
    if (kind == ITEM_STREAM)
        cuStreamDestroy_v2(handle);
    else if (kind == ITEM_EVENT)
        cuEventDestroy_v2(handle);
    else if (kind == ITEM_MEMORY)
        cuMemFree_v2(ended->address);
    else
        cuGraphDestroy(handle);
    leave_driver(by);
}

static void end_other(actor *by)
{
    static const item_kind kinds[] = {ITEM_PTX, ITEM_EXPLANATION, ITEM_FINDINGS, ITEM_TIMELINE,
                                      ITEM_TUNE};
    item_kind kind = kinds[below(by, 5)];
    item *ended = pick(by, kind, true);

    if (ended)
        end_item(by, kind, ended);
}

const step_kind step_kinds[] = {
    {"open a runtime", 40, open_runtime},
    {"load a module", 80, load_module},
    {"get a kernel", 130, get_kernel},
    {"use memory", 70, use_memory},
    {"make a stream", 50, make_stream},
    {"make an event", 30, make_event},
    {"make a chain", 40, make_chain},
    {"fill a chain", 120, fill_chain},
    {"extend a chain", 40, extend_chain},
    {"add hops", 20, add_hops},
    {"change a chain", 60, change_chain},
    {"run a chain", 60, run_chain},
    {"ask a chain", 40, ask_chain},
    {"make a graph", 50, make_graph},
    {"fill a graph", 150, fill_graph},
    {"run a graph", 60, run_graph},
    {"change a graph", 60, change_graph},
    {"begin a capture", 60, begin_capture},
    {"launch", 130, launch_kernel},
    {"use a stream", 60, use_stream},
    {"copy in a stream", 30, copy_in_stream},
    {"be notified by a stream", 30, notify_in_stream},
    {"ask a stream", 20, ask_streams},
    {"ask for devices", 2, ask_devices},
    {"end a capture", 50, end_capture},
    {"capture", 40, capture_some},
    {"run what was captured", 30, run_captured},
    {"adopt a graph", 40, adopt_graph},
    {"unload a module", 40, unload_module},
    {"end a chain", 20, end_chain},
    {"end a graph", 20, end_graph},
    {"end a stream or an event", 20, end_stream},
    {"end a captured graph", 12, end_captured},
    {"close a runtime", 14, close_runtime},
    {"free memory", 4, free_memory},
    {"ask", 60, ask_about},
    {"ask what is static", 3, ask_static},
    {"work on PTX", 60, work_on_ptx},
    {"use a timeline", 8, use_timeline},
    {"tune", 4, use_tune},
    {"end what is left", 10, end_other},
};
const uint32_t step_kind_count = sizeof step_kinds / sizeof *step_kinds;

const step_kind first_steps[] = {
    {"open a runtime", 0, open_runtime}, {"load a module", 0, load_module},
    {"load a module", 0, load_module},   {"load a module", 0, load_module},
    {"get a kernel", 0, get_kernel},     {"get a kernel", 0, get_kernel},
    {"get a kernel", 0, get_kernel},     {"get a kernel", 0, get_kernel},
    {"use memory", 0, use_memory},       {"use memory", 0, use_memory},
    {"make a stream", 0, make_stream},   {"make a stream", 0, make_stream},
    {"make an event", 0, make_event},    {"make a chain", 0, make_chain},
    {"make a graph", 0, make_graph},     {"make a graph", 0, make_graph},
};
const uint32_t first_step_count = sizeof first_steps / sizeof *first_steps;

/* Two devices: contexts and memory of each, access to the other's memory, copies, events and graphs
 * between them, kernels of both that wait for each other; virtual memory and its sharing. The
 * emulated driver is asked for two; a machine with one GPU leaves out what needs a second. */
#include "conformance.h"

#include <unistd.h>

static gd_CUdevice second;
static gd_CUcontext contexts[2];
static gd_CUstream streams[2];
static gd_CUmodule modules[2];
static bool lonely;

/* add: out = in + 1. send: data, then the flag. receive: waits for the flag, then reads the data;
 * its first parameter is where the data lie, behind them the flag. */
static const char kernels[] = PTX_HEAD
    ".visible .entry add(.param .u64 in, .param .u64 out)\n{\n"
    "    .reg .b64 %i, %o;\n    .reg .b32 %v;\n"
    "    ld.param.u64 %i, [in];\n    ld.param.u64 %o, [out];\n"
    "    ld.global.u32 %v, [%i];\n    add.u32 %v, %v, 1;\n    st.global.u32 [%o], %v;\n"
    "    ret;\n}\n"
    ".visible .entry send(.param .u64 in, .param .u64 out)\n{\n"
    "    .reg .b64 %i, %o;\n    .reg .b32 %v;\n"
    "    ld.param.u64 %i, [in];\n    ld.param.u64 %o, [out];\n"
    "    ld.global.u32 %v, [%i];\n    st.global.u32 [%o], %v;\n"
    "    st.release.sys.global.u32 [%o+64], 1;\n    ret;\n}\n"
    ".visible .entry receive(.param .u64 in, .param .u64 out)\n{\n"
    "    .reg .b64 %i, %o;\n    .reg .b32 %v;\n    .reg .pred %p;\n"
    "    ld.param.u64 %i, [in];\n    ld.param.u64 %o, [out];\n"
    "again:\n    ld.acquire.sys.global.u32 %v, [%i+64];\n    setp.eq.u32 %p, %v, 0;\n"
    "    @%p bra again;\n    ld.global.u32 %v, [%i];\n    st.global.u32 [%o], %v;\n    ret;\n}\n";

static void setup_devices(void)
{
    int count = 0;

    setenv("GRIDDEP_EMULATOR_DEVICES", "2", 1);
    setup_driver();
    good(cuDeviceGetCount, (&count));
    lonely = count < 2;
    for (int i = 0; i < (lonely ? 1 : 2); i++) {
        good(cuDeviceGet, (i ? &second : &device, i));
        good(cuDevicePrimaryCtxRetain, (&contexts[i], i));
        good(cuCtxSetCurrent, (contexts[i]));
        good(cuStreamCreate, (&streams[i], GD_CU_STREAM_NON_BLOCKING));
        modules[i] = load(kernels);
    }
    context = contexts[0];
    stream = streams[0];
    good(cuCtxSetCurrent, (context));
}

static void teardown_devices(void)
{
    gd_CUcontext popped = NULL;

    for (int i = lonely ? 0 : 1; i >= 0; i--) {
        good(cuCtxSetCurrent, (contexts[i]));
        good(cuStreamSynchronize, (streams[i]));
        good(cuStreamDestroy_v2, (streams[i]));
        good(cuModuleUnload, (modules[i]));
        good(cuDevicePrimaryCtxRelease_v2, (i));
    }
    good(cuCtxPopCurrent_v2, (&popped));
    teardown_driver();
}

/* What takes two devices is left out where there is one. */
static bool is_alone(void)
{
    return lonely && DIFFERS(ONE_DEVICE);
}

static gd_CUdeviceptr allocate_on(int which, size_t bytes)
{
    gd_CUcontext popped;

    good(cuCtxPushCurrent_v2, (contexts[which]));
    gd_CUdeviceptr made = allocate(bytes);
    good(cuMemsetD8_v2, (made, 0, bytes));
    good(cuCtxPopCurrent_v2, (&popped));
    return made;
}

static void release_on(int which, gd_CUdeviceptr address)
{
    gd_CUcontext popped;

    good(cuCtxPushCurrent_v2, (contexts[which]));
    release(address);
    good(cuCtxPopCurrent_v2, (&popped));
}

static void launch_on(int which, const char *name, gd_CUdeviceptr in, gd_CUdeviceptr out)
{
    void *parameters[] = {&in, &out};

    good(cuLaunchKernel, (function_of(modules[which], name), 1, 1, 1, 1, 1, 1, 0, streams[which],
                          parameters, NULL));
}

static uint32_t read_one(gd_CUdeviceptr address)
{
    uint32_t value = 0;

    good(cuMemcpyDtoH_v2, (&value, address, 4));
    return value;
}

static void enable_both(void)
{
    good(cuCtxSetCurrent, (contexts[1]));
    good(cuCtxEnablePeerAccess, (contexts[0], 0));
    good(cuCtxSetCurrent, (contexts[0]));
    good(cuCtxEnablePeerAccess, (contexts[1], 0));
}

TEST_GROUP(two_devices, setup_devices, teardown_devices);
TEST_GROUP(faults_of_two_devices, setup_devices, teardown_driver);

TEST(two_devices, devices_are_told_apart)
{
    gd_CUuuid one, other;
    char first[32], last[32];
    gd_CUdevice found = -1;

    if (is_alone())
        return;
    expect(device == 0 && second == 1);
    good(cuDeviceGetUuid_v2, (&one, device));
    good(cuDeviceGetUuid_v2, (&other, second));
    expect(memcmp(&one, &other, sizeof one) != 0);
    good(cuDeviceGetPCIBusId, (first, sizeof first, device));
    good(cuDeviceGetPCIBusId, (last, sizeof last, second));
    expect(strcmp(first, last) != 0);
    good(cuDeviceGetByPCIBusId, (&found, last));
    expect(found == second);
    good(cuCtxSetCurrent, (contexts[1]));
    good(cuCtxGetDevice, (&found));
    expect(found == second);
    good(cuStreamGetDevice, (streams[0], &found));
    expect(found == device);
    good(cuStreamGetDevice, (streams[1], &found));
    expect(found == second);
    expect(contexts[0] != contexts[1]);
}

TEST(two_devices, memory_belongs_to_a_device)
{
    int ordinal = -1;
    size_t before[2], after[2], total;

    if (is_alone())
        return;
    for (int i = 0; i < 2; i++) {
        good(cuCtxSetCurrent, (contexts[i]));
        good(cuMemGetInfo_v2, (&before[i], &total));
    }
    gd_CUdeviceptr memory = allocate_on(1, 64 << 20);
    good(cuPointerGetAttribute, (&ordinal, GD_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
    expect(ordinal == 1);
    for (int i = 0; i < 2; i++) {
        good(cuCtxSetCurrent, (contexts[i]));
        good(cuMemGetInfo_v2, (&after[i], &total));
    }
    expect(before[1] - after[1] >= 64 << 20);
    expect(before[0] - after[0] < 64 << 20);
    release_on(1, memory);
}

TEST(two_devices, access_is_enabled_and_disabled)
{
    gd_CUcontext unknown = NULL;
    int can = 0, value = -1;

    bad(ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess, (context, 0));
    bad(ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess, (unknown, 0));
    bad(ERROR_INVALID_CONTEXT, cuCtxDisablePeerAccess, (unknown));
    bad(ERROR_INVALID_VALUE, cuDeviceGetP2PAttribute, (NULL, 2, device, device));
    bad(ERROR_INVALID_DEVICE, cuDeviceGetP2PAttribute, (&value, 2, device, 1000));
    if (is_alone())
        return;
    good(cuDeviceCanAccessPeer, (&can, device, second));
    expect(can == 1);
    good(cuDeviceGetP2PAttribute, (&value, 2, device, second));
    expect(value == 1);
    bad(ERROR_INVALID_VALUE, cuCtxEnablePeerAccess, (contexts[1], 1));
    bad(ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess, (contexts[1]));
    good(cuCtxEnablePeerAccess, (contexts[1], 0));
    bad(ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess, (contexts[1], 0));
    good(cuCtxDisablePeerAccess, (contexts[1]));
    bad(ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess, (contexts[1]));
    good(cuCtxEnablePeerAccess, (contexts[1], 0));
}

/* One way alone: the second device has no access to the first one's memory by that. */
TEST(two_devices, kernels_reach_a_peer)
{
    if (is_alone())
        return;
    gd_CUdeviceptr far = allocate_on(1, 64), near = allocate_on(0, 64);
    good(cuMemsetD32_v2, (far, 41, 1));
    good(cuCtxEnablePeerAccess, (contexts[1], 0));
    launch_on(0, "add", far, near);
    launch_on(0, "add", near, far);
    good(cuStreamSynchronize, (streams[0]));
    expect(read_one(near) == 42 && read_one(far) == 43);
    release_on(1, far);
    release_on(0, near);
}

/* The last case of its process: the context is lost. */
TEST(faults_of_two_devices, access_that_was_not_enabled_is_a_fault)
{
    if (is_alone())
        return;
    gd_CUdeviceptr far = allocate_on(1, 64), near = allocate_on(0, 64);
    launch_on(0, "add", far, near);
    bad(ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize, (streams[0]));
    good(cuCtxSetCurrent, (contexts[1]));
    launch_on(1, "add", far, far);
    good(cuStreamSynchronize, (streams[1]));
    expect(read_one(far) == 1);
}

TEST(two_devices, copies_need_no_access)
{
    if (is_alone())
        return;
    gd_CUdeviceptr far = allocate_on(1, 64), near = allocate_on(0, 64);
    uint32_t from[16], to[16];
    for (uint32_t i = 0; i < 16; i++)
        from[i] = i * 3 + 1;
    good(cuMemcpyHtoD_v2, (near, from, 64));
    good(cuMemcpyPeer, (far, contexts[1], near, contexts[0], 64));
    good(cuMemcpyDtoH_v2, (to, far, 64));
    expect(!memcmp(from, to, 64));
    good(cuMemsetD32Async, (near, 7, 16, streams[0]));
    good(cuMemcpyPeerAsync, (far, contexts[1], near, contexts[0], 64, streams[0]));
    good(cuStreamSynchronize, (streams[0]));
    expect(read_one(far + 60) == 7);
    good(cuMemsetD32_v2, (near, 9, 16));
    good(cuMemcpyDtoD_v2, (far, near, 64));
    good(cuCtxSynchronize, ());
    expect(read_one(far) == 9);
    good(cuMemsetD32_v2, (far, 11, 16));
    good(cuMemcpy, (near, far, 64));
    good(cuCtxSynchronize, ());
    expect(read_one(near) == 11);
    release_on(1, far);
    release_on(0, near);
}

TEST(two_devices, streams_wait_for_another_device)
{
    gd_CUevent done = NULL, there = NULL;
    float time = 0;

    if (is_alone())
        return;
    gd_CUdeviceptr far = allocate_on(1, 64), near = allocate_on(0, 64);
    enable_both();
    good(cuEventCreate, (&done, 0));
    good(cuMemsetD32Async, (near, 5, 1, streams[0]));
    launch_on(0, "add", near, far);
    good(cuEventRecord, (done, streams[0]));
    good(cuCtxSetCurrent, (contexts[1]));
    good(cuStreamWaitEvent, (streams[1], done, 0));
    launch_on(1, "add", far, far);
    good(cuStreamSynchronize, (streams[1]));
    expect(read_one(far) == 7);
    bad(ERROR_INVALID_HANDLE, cuEventRecord, (done, streams[1]));
    good(cuEventCreate, (&there, 0));
    good(cuEventRecord, (there, streams[1]));
    good(cuEventSynchronize, (there));
    bad(ERROR_INVALID_HANDLE, cuEventElapsedTime, (&time, done, there));
    bad(ERROR_INVALID_HANDLE, cuLaunchKernel,
        (function_of(modules[0], "add"), 1, 1, 1, 1, 1, 1, 0, streams[1], (void *[]){&near, &far},
         NULL));
    good(cuEventDestroy_v2, (there));
    good(cuEventDestroy_v2, (done));
    release_on(1, far);
    release_on(0, near);
}

/* Which kernel is handed in first makes no difference: both run at a time. */
TEST(two_devices, kernels_of_two_devices_wait_for_each_other)
{
    if (is_alone())
        return;
    gd_CUdeviceptr far = allocate_on(1, 128), near = allocate_on(0, 64), out = allocate_on(1, 64);
    enable_both();
    for (uint32_t i = 0; i < 2; i++) {
        good(cuMemsetD32_v2, (near, 33 + i, 1));
        good(cuMemsetD8_v2, (far, 0, 128));
        good(cuCtxSynchronize, ());
        for (uint32_t j = 0; j < 2; j++) {
            const int which = (int)(i ^ j);
            good(cuCtxSetCurrent, (contexts[which]));
            launch_on(which, which ? "receive" : "send", which ? far : near, which ? out : far);
        }
        good(cuCtxSetCurrent, (contexts[1]));
        good(cuStreamSynchronize, (streams[1]));
        expect(read_one(out) == 33 + i);
        good(cuCtxSetCurrent, (contexts[0]));
        good(cuStreamSynchronize, (streams[0]));
    }
    release_on(1, far);
    release_on(1, out);
    release_on(0, near);
}

/* A graph of kernels of both devices, captured and built. */
TEST(two_devices, graphs_have_nodes_on_two_devices)
{
    gd_CUgraph graph = NULL;
    gd_CUgraphExec executable = NULL;
    gd_CUevent fork = NULL, join = NULL;
    gd_CUgraphNode nodes[2];

    if (is_alone())
        return;
    gd_CUdeviceptr far = allocate_on(1, 64), near = allocate_on(0, 64);
    enable_both();
    good(cuEventCreate, (&fork, GD_CU_EVENT_DISABLE_TIMING));
    good(cuCtxSetCurrent, (contexts[1]));
    good(cuEventCreate, (&join, GD_CU_EVENT_DISABLE_TIMING));
    good(cuCtxSetCurrent, (contexts[0]));
    good(cuStreamBeginCapture_v2, (streams[0], GD_CU_STREAM_CAPTURE_MODE_RELAXED));
    launch_on(0, "add", near, far);
    good(cuEventRecord, (fork, streams[0]));
    good(cuStreamWaitEvent, (streams[1], fork, 0));
    launch_on(1, "add", far, far);
    good(cuEventRecord, (join, streams[1]));
    good(cuStreamWaitEvent, (streams[0], join, 0));
    launch_on(0, "add", far, near);
    good(cuStreamEndCapture, (streams[0], &graph));
    good(cuGraphInstantiateWithFlags, (&executable, graph, 0));
    for (int i = 0; i < 3; i++)
        good(cuGraphLaunch, (executable, streams[0]));
    good(cuStreamSynchronize, (streams[0]));
    expect(read_one(near) == 9);
    good(cuGraphExecDestroy, (executable));
    good(cuGraphDestroy, (graph));

    good(cuGraphCreate, (&graph, 0));
    for (int i = 0; i < 2; i++) {
        void *parameters[] = {i ? &far : &near, i ? &near : &far};
        gd_CUDA_KERNEL_NODE_PARAMS node = {.func = function_of(modules[i], "add"),
                                           .gridDimX = 1,
                                           .gridDimY = 1,
                                           .gridDimZ = 1,
                                           .blockDimX = 1,
                                           .blockDimY = 1,
                                           .blockDimZ = 1,
                                           .kernelParams = parameters};
        good(cuGraphAddKernelNode_v2, (&nodes[i], graph, nodes, (size_t)i, &node));
    }
    good(cuGraphInstantiateWithFlags, (&executable, graph, 0));
    good(cuGraphLaunch, (executable, streams[0]));
    good(cuStreamSynchronize, (streams[0]));
    expect(read_one(near) == 11);
    good(cuGraphExecDestroy, (executable));
    good(cuGraphDestroy, (graph));
    good(cuEventDestroy_v2, (fork));
    good(cuEventDestroy_v2, (join));
    release_on(1, far);
    release_on(0, near);
}

/* A library's kernel has code, and variables, on each device. */
TEST(two_devices, libraries_have_code_on_each_device)
{
    static const char image[] = PTX_HEAD
        ".visible .global .u32 mark = 5;\n"
        ".visible .entry add(.param .u64 in, .param .u64 out)\n{\n"
        "    .reg .b64 %o;\n    .reg .b32 %v;\n    ld.param.u64 %o, [out];\n"
        "    atom.global.add.u32 %v, [mark], 1;\n    st.global.u32 [%o], %v;\n    ret;\n}\n";
    gd_CUlibrary library = NULL;
    gd_CUkernel kernel = NULL;
    gd_CUdeviceptr places[2], none = 0;

    if (is_alone())
        return;
    good(cuLibraryLoadData, (&library, image, NULL, NULL, 0, NULL, NULL, 0));
    good(cuLibraryGetKernel, (&kernel, library, "add"));
    for (int i = 0; i < 2; i++) {
        gd_CUdeviceptr out = allocate_on(i, 64);
        good(cuCtxSetCurrent, (contexts[i]));
        void *parameters[] = {&none, &out};
        good(cuLaunchKernel,
             ((gd_CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, streams[i], parameters, NULL));
        good(cuStreamSynchronize, (streams[i]));
        expect(read_one(out) == 5);
        good(cuLibraryGetGlobal, (&places[i], NULL, library, "mark"));
        release_on(i, out);
    }
    expect(places[0] != places[1]);
    good(cuLibraryUnload, (library));
}

/* ---- virtual memory ---- */

static gd_CUmemAllocationProp properties_of(gd_CUdevice where)
{
    return (gd_CUmemAllocationProp){.type = GD_CU_MEM_ALLOCATION_TYPE_PINNED,
                                    .requestedHandleTypes =
                                        GD_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                    .location = {GD_CU_MEM_LOCATION_TYPE_DEVICE, where}};
}

static size_t granularity_of(gd_CUdevice where)
{
    const gd_CUmemAllocationProp properties = properties_of(where);
    size_t bytes = 0;

    good(cuMemGetAllocationGranularity, (&bytes, &properties, 0));
    return bytes;
}

static void let(gd_CUdevice at, gd_CUdeviceptr address, size_t bytes)
{
    const gd_CUmemAccessDesc access = {.location = {GD_CU_MEM_LOCATION_TYPE_DEVICE, at},
                                       .flags = GD_CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

    good(cuMemSetAccess, (address, bytes, &access, 1));
}

TEST(two_devices, memory_is_made_and_mapped)
{
    const gd_CUmemAllocationProp properties = properties_of(device);
    const gd_CUmemLocation here = {GD_CU_MEM_LOCATION_TYPE_DEVICE, device};
    gd_CUmemAllocationProp told;
    gd_CUmemGenericAllocationHandle memory = 0, again = 0;
    gd_CUdeviceptr address = 0, other = 0;
    unsigned long long flags = 9;
    const size_t bytes = granularity_of(device);

    expect(bytes >= 4096 && !(bytes & (bytes - 1)));
    bad(ERROR_INVALID_VALUE, cuMemGetAllocationGranularity, (NULL, &properties, 0));
    good(cuMemCreate, (&memory, bytes, &properties, 0));
    bad(ERROR_INVALID_VALUE, cuMemCreate, (&again, bytes + 1, &properties, 0));
    bad(ERROR_INVALID_VALUE, cuMemCreate, (NULL, bytes, &properties, 0));
    good(cuMemGetAllocationPropertiesFromHandle, (&told, memory));
    expect(told.location.id == device && told.requestedHandleTypes == 1 && told.type == 1);
    bad(ERROR_INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle, (NULL, memory));
    good(cuMemAddressReserve, (&address, 2 * bytes, 0, 0, 0));
    expect(address % bytes == 0);
    bad(ERROR_INVALID_VALUE, cuMemAddressReserve, (&other, 0, 0, 0, 0));
    good(cuMemMap, (address, bytes, 0, memory, 0));
    bad(ERROR_INVALID_VALUE, cuMemMap, (address, bytes, 0, memory, 0));
    good(cuMemGetAccess, (&flags, &here, address));
    expect(flags == GD_CU_MEM_ACCESS_FLAGS_PROT_NONE);
    let(device, address, bytes);
    good(cuMemGetAccess, (&flags, &here, address));
    expect(flags == GD_CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    bad(ERROR_INVALID_VALUE, cuMemGetAccess, (NULL, &here, address));
    bad(ERROR_INVALID_VALUE, cuMemSetAccess, (address, bytes, NULL, 1));
    good(cuMemRetainAllocationHandle, (&again, (void *)(uintptr_t)address));
    expect(again == memory);
    bad(ERROR_INVALID_VALUE, cuMemRetainAllocationHandle, (&again, NULL));
    good(cuMemRelease, (again));
    good(cuMemRelease, (memory)); /* it is mapped still */
    good(cuMemsetD32_v2, (address, 6, 4));
    good(cuCtxSynchronize, ());
    launch_on(0, "add", address, address + 4);
    good(cuStreamSynchronize, (streams[0]));
    expect(read_one(address) == 6 && read_one(address + 4) == 7);
    good(cuMemUnmap, (address, bytes));
    bad(ERROR_INVALID_VALUE, cuMemUnmap, (address, bytes));
    bad(ERROR_INVALID_VALUE, cuMemAddressFree, (address, bytes));
    good(cuMemAddressFree, (address, 2 * bytes));
    if (!DIFFERS(FREED_HANDLE))
        bad(ERROR_INVALID_VALUE, cuMemRelease, (memory));
}

/* A second handle of the same memory, as another process gets it. */
TEST(two_devices, memory_is_shared_by_a_file)
{
    const gd_CUmemAllocationProp properties = properties_of(device);
    gd_CUmemGenericAllocationHandle memory = 0, same = 0;
    gd_CUdeviceptr here = 0, there = 0;
    const size_t bytes = granularity_of(device);
    int file = -1;

    good(cuMemCreate, (&memory, bytes, &properties, 0));
    good(cuMemExportToShareableHandle, (&file, memory, 1, 0));
    expect(file >= 0);
    bad(ERROR_INVALID_VALUE, cuMemExportToShareableHandle, (NULL, memory, 1, 0));
    good(cuMemImportFromShareableHandle, (&same, (void *)(intptr_t)file, 1));
    bad(ERROR_INVALID_VALUE, cuMemImportFromShareableHandle, (NULL, (void *)(intptr_t)file, 1));
    close(file);
    for (int i = 0; i < 2; i++) {
        good(cuMemAddressReserve, (i ? &there : &here, bytes, 0, 0, 0));
        good(cuMemMap, (i ? there : here, bytes, 0, i ? same : memory, 0));
        let(device, i ? there : here, bytes);
    }
    good(cuMemsetD32_v2, (here, 51, 1));
    good(cuCtxSynchronize, ());
    launch_on(0, "add", there, there);
    good(cuStreamSynchronize, (streams[0]));
    expect(read_one(here) == 52);
    for (int i = 0; i < 2; i++) {
        good(cuMemUnmap, (i ? there : here, bytes));
        good(cuMemAddressFree, (i ? there : here, bytes));
        good(cuMemRelease, (i ? same : memory));
    }
}

/* Memory of each device at one range of addresses, which both reach without peer access. */
TEST(two_devices, memory_of_two_devices_in_a_row)
{
    gd_CUmemGenericAllocationHandle memory[2];
    gd_CUdeviceptr address = 0;
    int ordinal = -1;

    if (is_alone())
        return;
    const size_t bytes = granularity_of(device);
    good(cuMemAddressReserve, (&address, 2 * bytes, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        const gd_CUmemAllocationProp properties = properties_of(i);
        good(cuMemCreate, (&memory[i], bytes, &properties, 0));
        good(cuMemMap, (address + (size_t)i * bytes, bytes, 0, memory[i], 0));
    }
    for (int i = 0; i < 2; i++)
        let(i, address, 2 * bytes);
    good(cuPointerGetAttribute,
         (&ordinal, GD_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address + bytes));
    expect(ordinal == 1);
    good(cuMemsetD32_v2, (address, 20, 1));
    good(cuCtxSynchronize, ());
    launch_on(0, "add", address, address + bytes);
    good(cuStreamSynchronize, (streams[0]));
    good(cuCtxSetCurrent, (contexts[1]));
    launch_on(1, "add", address + bytes, address);
    good(cuStreamSynchronize, (streams[1]));
    expect(read_one(address) == 22);
    good(cuMemUnmap, (address, 2 * bytes));
    good(cuMemAddressFree, (address, 2 * bytes));
    for (int i = 0; i < 2; i++)
        good(cuMemRelease, (memory[i]));
}

SUITE(devices, "devices")

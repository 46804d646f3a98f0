/* Versions, results as words, the device, the primary context and others. */
#include "conformance.h"

/* ---- the driver and its device ---- */

TEST_GROUP(before_cuInit, NULL, teardown_driver);
TEST_GROUP(device, setup_driver, teardown_driver);
TEST_GROUP(contexts, setup_driver, teardown_driver);
TEST_GROUP(context, setup_context, teardown_context);

TEST(before_cuInit, before_init)
{
    int count = 0;
    gd_CUcontext current = NULL;

    bad(ERROR_NOT_INITIALIZED, cuDeviceGetCount, (&count));
    bad(ERROR_NOT_INITIALIZED, cuDeviceGet, (&count, 0));
    bad(ERROR_NOT_INITIALIZED, cuCtxGetCurrent, (&current));
    bad(ERROR_INVALID_VALUE, cuInit, (1));
    good(cuInit, (0));
    good(cuInit, (0));
    good(cuDeviceGetCount, (&count));
    expect(count >= 1);
}

TEST(device, versions)
{
    int version = 0;

    good(cuDriverGetVersion, (&version));
    expect(version >= 12030);
    bad(ERROR_INVALID_VALUE, cuDriverGetVersion, (NULL));
}

TEST(device, results_have_words)
{
    const char *text = NULL;

    good(cuGetErrorName, (GD_CUDA_ERROR_INVALID_VALUE, &text));
    ck_assert_str_eq(text, "CUDA_ERROR_INVALID_VALUE");
    good(cuGetErrorName, (GD_CUDA_SUCCESS, &text));
    ck_assert_str_eq(text, "CUDA_SUCCESS");
    good(cuGetErrorString, (GD_CUDA_ERROR_OUT_OF_MEMORY, &text));
    expect(text && strstr(text, "out of memory"));
    good(cuGetErrorString, (GD_CUDA_ERROR_NOT_FOUND, &text));
    expect(text && *text);
    bad(ERROR_INVALID_VALUE, cuGetErrorName, (12345, &text));
    expect(text == NULL);
    text = "";
    bad(ERROR_INVALID_VALUE, cuGetErrorString, (12345, &text));
    expect(text == NULL);
}

/* Every CUresult of cuda.h 13.0 has its name. */
TEST(device, every_result_has_its_name)
{
    static const struct {
        gd_CUresult value;
        const char *name;
    } results[] = {
#define GD_RESULT(name, value, status) {value, #name},
#include "cuda/abi_errors.def"
#undef GD_RESULT
    };

    for (size_t i = 0; i < COUNT_OF(results); i++) {
        const char *text = NULL;
        good(cuGetErrorName, (results[i].value, &text));
        ck_assert_str_eq(text, results[i].name);
        good(cuGetErrorString, (results[i].value, &text));
        expect(text && *text);
    }
}

TEST(device, device_facts)
{
    char name[128] = "", shorter[5] = "";
    int major = 0, minor = 0, value = 0, count = 0;
    size_t bytes = 0;
    gd_CUdevice other = -1;

    good(cuDeviceGetCount, (&count));
    bad(ERROR_INVALID_VALUE, cuDeviceGetCount, (NULL));
    bad(ERROR_INVALID_DEVICE, cuDeviceGet, (&other, count));
    bad(ERROR_INVALID_DEVICE, cuDeviceGet, (&other, -1));
    bad(ERROR_INVALID_VALUE, cuDeviceGet, (NULL, 0));
    good(cuDeviceGetName, (name, sizeof name, device));
    good(cuDeviceGetName, (shorter, sizeof shorter, device));
    expect(strlen(shorter) == 4 && !strncmp(shorter, name, 4));
    bad(ERROR_INVALID_VALUE, cuDeviceGetName, (NULL, 10, device));
    bad(ERROR_INVALID_DEVICE, cuDeviceGetName, (name, sizeof name, count));
    good(cuDeviceComputeCapability, (&major, &minor, device));
    expect(major == device_attribute(GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
    expect(minor == device_attribute(GD_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
    bad(ERROR_INVALID_VALUE, cuDeviceComputeCapability, (NULL, &minor, device));
    bad(ERROR_INVALID_DEVICE, cuDeviceComputeCapability, (&major, &minor, count));
    good(cuDeviceTotalMem_v2, (&bytes, device));
    expect(bytes >= 1 << 20);
    bad(ERROR_INVALID_VALUE, cuDeviceTotalMem_v2, (NULL, device));
    bad(ERROR_INVALID_DEVICE, cuDeviceTotalMem_v2, (&bytes, count));
    bad(ERROR_INVALID_VALUE, cuDeviceGetAttribute, (NULL, 1, device));
    bad(ERROR_INVALID_VALUE, cuDeviceGetAttribute, (&value, 5000, device));
    bad(ERROR_INVALID_VALUE, cuDeviceGetAttribute, (&value, 0, device));
    bad(ERROR_INVALID_DEVICE, cuDeviceGetAttribute, (&value, 1, count));
}

/* What PTX and the programming guide fix for compute capability 9.0. */
TEST(device, limits_of_the_architecture)
{
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 32);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 1024);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) == 1024);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) == 64);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) == INT32_MAX);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) == 65535);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) == 49152);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) ==
           227 * 1024);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) ==
           228 * 1024);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) == 1024);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK) == 65536);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) == 2048);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR) == 32);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 1);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) == 1);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) == 1);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT) == 4);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY) == 65536);
    expect(device_attribute(GD_CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS) == 1);
}

TEST(device, device_identity)
{
    gd_CUuuid uuid, again;
    char bus[32] = "";
    gd_CUdevice found = -1;
    int can = -1;

    good(cuDeviceGetUuid, (&uuid, device));
    good(cuDeviceGetUuid_v2, (&again, device));
    expect(!memcmp(&uuid, &again, sizeof uuid));
    bad(ERROR_INVALID_VALUE, cuDeviceGetUuid, (NULL, device));
    bad(ERROR_INVALID_VALUE, cuDeviceGetUuid_v2, (NULL, device));
    bad(ERROR_INVALID_DEVICE, cuDeviceGetUuid_v2, (&uuid, 1000));
    good(cuDeviceGetPCIBusId, (bus, sizeof bus, device));
    good(cuDeviceGetByPCIBusId, (&found, bus));
    expect(found == device);
    bad(ERROR_INVALID_VALUE, cuDeviceGetPCIBusId, (NULL, 10, device));
    bad(ERROR_INVALID_DEVICE, cuDeviceGetPCIBusId, (bus, sizeof bus, 1000));
    bad(ERROR_INVALID_VALUE, cuDeviceGetByPCIBusId, (NULL, bus));
    bad(ERROR_INVALID_VALUE, cuDeviceGetByPCIBusId, (&found, NULL));
    bad(ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId, (&found, "0000:fe:1f.0"));
    bad(ERROR_INVALID_DEVICE, cuDeviceCanAccessPeer, (&can, device, 1000));
    bad(ERROR_INVALID_VALUE, cuDeviceCanAccessPeer, (NULL, device, device));
    good(cuDeviceCanAccessPeer, (&can, device, device));
    expect(can == 0);
}

TEST(device, names_and_versions)
{
    void *function = NULL, *other = NULL;
    int status = -1;

    good(cuGetProcAddress, ("cuMemAlloc", &function, 12000, 0));
    good(cuGetProcAddress_v2, ("cuMemAlloc", &other, 12000, 0, &status));
    expect(function && function == other && status == GD_CU_GET_PROC_ADDRESS_SUCCESS);
    good(cuGetProcAddress_v2, ("cuMemAlloc", &function, 12000, 0, NULL));
    good(cuGetProcAddress_v2, ("cuNothingOfTheKind", &other, 12000, 0, &status));
    expect(status == GD_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND && !other);
    good(cuGetProcAddress_v2, ("cuLaunchKernelEx", &other, 11000, 0, &status));
    expect(status == GD_CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT && !other);
    bad(ERROR_NOT_FOUND, cuGetProcAddress, ("cuNothingOfTheKind", &other, 12000, 0));
    bad(ERROR_NOT_FOUND, cuGetProcAddress, ("cuLaunchKernelEx", &other, 11000, 0));
    bad(ERROR_INVALID_VALUE, cuGetProcAddress_v2, ("cuInit", &other, 12000, 64, &status));
    if (DIFFERS(UNCHECKED_ARGUMENT))
        return;
    bad(ERROR_INVALID_VALUE, cuGetProcAddress, (NULL, &other, 12000, 0));
    bad(ERROR_INVALID_VALUE, cuGetProcAddress_v2, (NULL, &other, 12000, 0, &status));
    bad(ERROR_INVALID_VALUE, cuGetProcAddress_v2, ("cuInit", NULL, 12000, 0, &status));
}

/* ---- the primary context ---- */

TEST(contexts, primary_context)
{
    gd_CUcontext first = NULL, second = NULL;
    unsigned flags = 99;
    int active = 99;

    good(cuDevicePrimaryCtxGetState, (device, &flags, &active));
    expect(flags == 0 && active == 0);
    bad(ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2, (device));
    good(cuDevicePrimaryCtxRelease, (device));
    good(cuDevicePrimaryCtxRetain, (&first, device));
    good(cuDevicePrimaryCtxRetain, (&second, device));
    expect(first && first == second);
    good(cuDevicePrimaryCtxGetState, (device, &flags, &active));
    expect(active == 1);
    good(cuDevicePrimaryCtxRelease, (device));
    good(cuDevicePrimaryCtxGetState, (device, &flags, &active));
    expect(active == 1);
    good(cuDevicePrimaryCtxRelease_v2, (device));
    good(cuDevicePrimaryCtxGetState, (device, &flags, &active));
    expect(active == 0);
    bad(ERROR_INVALID_VALUE, cuDevicePrimaryCtxRetain, (NULL, device));
    bad(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain, (&first, 1000));
    bad(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRelease, (1000));
    bad(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRelease_v2, (1000));
    bad(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxGetState, (1000, &flags, &active));
}

TEST(contexts, primary_context_flags)
{
    gd_CUcontext primary = NULL;
    unsigned flags = 0;
    int active = 0;

    good(cuDevicePrimaryCtxSetFlags_v2, (device, GD_CU_CTX_SCHED_BLOCKING_SYNC));
    good(cuDevicePrimaryCtxRetain, (&primary, device));
    good(cuDevicePrimaryCtxGetState, (device, &flags, &active));
    expect(flags == GD_CU_CTX_SCHED_BLOCKING_SYNC && active == 1);
    good(cuCtxPushCurrent_v2, (primary));
    good(cuCtxGetFlags, (&flags));
    expect((flags & 7) == GD_CU_CTX_SCHED_BLOCKING_SYNC);
    bad(ERROR_PRIMARY_CONTEXT_ACTIVE, cuDevicePrimaryCtxSetFlags, (device, 0));
    good(cuDevicePrimaryCtxSetFlags_v2, (device, 0));
    good(cuDevicePrimaryCtxGetState, (device, &flags, &active));
    expect(flags == 0);
    good(cuCtxPopCurrent_v2, (&primary));
    good(cuDevicePrimaryCtxRelease_v2, (device));
    good(cuDevicePrimaryCtxSetFlags, (device, GD_CU_CTX_SCHED_BLOCKING_SYNC));
    bad(ERROR_INVALID_VALUE, cuDevicePrimaryCtxSetFlags, (device, 0x10000));
    bad(ERROR_INVALID_VALUE, cuDevicePrimaryCtxSetFlags_v2, (device, 0x10000));
    bad(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxSetFlags_v2, (1000, 0));
}

TEST(contexts, primary_context_reset)
{
    gd_CUcontext primary = NULL;
    unsigned flags = 0;
    int active = 1;

    good(cuDevicePrimaryCtxReset, (device));
    good(cuDevicePrimaryCtxRetain, (&primary, device));
    good(cuDevicePrimaryCtxReset_v2, (device));
    good(cuDevicePrimaryCtxGetState, (device, &flags, &active));
    expect(active == 0);
    bad(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxReset, (1000));
    bad(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxReset_v2, (1000));
}

/* ---- contexts ---- */

TEST(contexts, contexts_are_made_current)
{
    gd_CUcontext made = NULL, current = NULL;
    unsigned flags = 0;
    gd_CUdevice of = -1;

    good(cuCtxGetCurrent, (&current));
    expect(current == NULL);
    bad(ERROR_INVALID_CONTEXT, cuCtxGetDevice, (&of));
    bad(ERROR_INVALID_CONTEXT, cuCtxSynchronize, ());
    bad(ERROR_INVALID_CONTEXT, cuCtxPopCurrent_v2, (&current));
    good(cuCtxCreate_v2, (&made, GD_CU_CTX_SCHED_BLOCKING_SYNC, device));
    good(cuCtxGetCurrent, (&current));
    expect(current == made);
    good(cuCtxGetDevice, (&of));
    expect(of == device);
    good(cuCtxGetFlags, (&flags));
    expect((flags & 7) == GD_CU_CTX_SCHED_BLOCKING_SYNC);
    good(cuCtxSynchronize, ());
    good(cuCtxPopCurrent_v2, (&current));
    expect(current == made);
    good(cuCtxPushCurrent_v2, (made));
    good(cuCtxSetCurrent, (NULL));
    good(cuCtxGetCurrent, (&current));
    expect(current == NULL);
    good(cuCtxSetCurrent, (made));
    good(cuCtxDestroy_v2, (made));
    good(cuCtxGetCurrent, (&current));
    expect(current == NULL);
    bad(ERROR_INVALID_VALUE, cuCtxGetCurrent, (NULL));
}

TEST(contexts, contexts_of_each_version)
{
    gd_CUcontext made = NULL;

    good(cuCtxCreate_v3, (&made, NULL, 0, 0, device));
    good(cuCtxDestroy_v2, (made));
    good(cuCtxCreate_v4, (&made, NULL, 0, device));
    good(cuCtxDestroy_v2, (made));
    gd_CUctxCreateParams nothing_asked = {0};
    good(cuCtxCreate_v4, (&made, &nothing_asked, 0, device));
    good(cuCtxDestroy_v2, (made));
    bad(ERROR_INVALID_VALUE, cuCtxCreate_v2, (NULL, 0, device));
    bad(ERROR_INVALID_VALUE, cuCtxCreate_v2, (&made, 0x10000, device));
    bad(ERROR_INVALID_DEVICE, cuCtxCreate_v2, (&made, 0, 1000));
    bad(ERROR_INVALID_VALUE, cuCtxCreate_v3, (NULL, NULL, 0, 0, device));
    bad(ERROR_INVALID_DEVICE, cuCtxCreate_v3, (&made, NULL, 0, 0, 1000));
    bad(ERROR_INVALID_VALUE, cuCtxCreate_v4, (NULL, NULL, 0, device));
    bad(ERROR_INVALID_DEVICE, cuCtxCreate_v4, (&made, NULL, 0, 1000));
    bad(ERROR_INVALID_VALUE, cuCtxDestroy_v2, (NULL));
    bad(ERROR_INVALID_VALUE, cuCtxPushCurrent_v2, (NULL));
}

TEST(contexts, primary_context_is_not_destroyed)
{
    gd_CUcontext primary = NULL;

    good(cuDevicePrimaryCtxRetain, (&primary, device));
    bad(ERROR_INVALID_CONTEXT, cuCtxDestroy_v2, (primary));
    good(cuDevicePrimaryCtxRelease_v2, (device));
}

TEST(context, context_facts)
{
    unsigned version = 0, flags = 0;
    unsigned long long id = 0, again = 0;
    gd_CUdevResource resource = {0};
    int count = 0;
    gd_CUdevice of = -1;

    good(cuCtxGetApiVersion, (context, &version));
    expect(version >= 3020);
    good(cuCtxGetApiVersion, (NULL, &version));
    bad(ERROR_INVALID_VALUE, cuCtxGetApiVersion, (context, NULL));
    good(cuCtxGetId, (context, &id));
    good(cuCtxGetId, (NULL, &again));
    expect(id == again);
    bad(ERROR_INVALID_VALUE, cuCtxGetId, (context, NULL));
    good(cuDeviceGetAttribute, (&count, GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    good(cuCtxGetDevResource, (context, &resource, GD_CU_DEV_RESOURCE_TYPE_SM));
    expect(resource.type == GD_CU_DEV_RESOURCE_TYPE_SM && resource.sm.smCount == (unsigned)count);
    bad(ERROR_INVALID_VALUE, cuCtxGetDevResource, (context, NULL, GD_CU_DEV_RESOURCE_TYPE_SM));
    good(cuCtxGetFlags, (&flags));
    bad(ERROR_INVALID_VALUE, cuCtxGetFlags, (NULL));
    good(cuCtxGetDevice_v2, (&of, context));
    expect(of == device);
    good(cuCtxGetDevice_v2, (&of, NULL));
    bad(ERROR_INVALID_VALUE, cuCtxGetDevice_v2, (NULL, context));
    bad(ERROR_INVALID_VALUE, cuCtxGetDevice, (NULL));
    good(cuCtxSynchronize_v2, (context));
    good(cuCtxSynchronize_v2, (NULL));
}

TEST(context, context_limits)
{
    size_t value = 0, changed = 0;
    int least = 99, greatest = 99;
    int32_t configuration = -1;

    good(cuCtxGetLimit, (&value, GD_CU_LIMIT_STACK_SIZE));
    expect(value == 1024);
    good(cuCtxSetLimit, (GD_CU_LIMIT_STACK_SIZE, 4096));
    good(cuCtxGetLimit, (&changed, GD_CU_LIMIT_STACK_SIZE));
    expect(changed == 4096);
    good(cuCtxGetLimit, (&value, GD_CU_LIMIT_PRINTF_FIFO_SIZE));
    expect(value >= 1 << 20);
    good(cuCtxGetLimit, (&value, GD_CU_LIMIT_MALLOC_HEAP_SIZE));
    expect(value == 8 << 20);
    bad(ERROR_INVALID_VALUE, cuCtxGetLimit, (&value, 100));
    bad(ERROR_INVALID_VALUE, cuCtxGetLimit, (NULL, GD_CU_LIMIT_STACK_SIZE));
    bad(ERROR_INVALID_VALUE, cuCtxSetLimit, (100, 1));
    good(cuCtxGetStreamPriorityRange, (&least, &greatest));
    expect(least == 0 && greatest < 0);
    good(cuCtxGetStreamPriorityRange, (NULL, &greatest));
    good(cuCtxGetStreamPriorityRange, (NULL, NULL));
    good(cuCtxGetCacheConfig, (&configuration));
    expect(configuration == 0);
    bad(ERROR_INVALID_VALUE, cuCtxGetCacheConfig, (NULL));
    good(cuCtxSetCacheConfig, (1));
    good(cuCtxGetCacheConfig, (&configuration));
    expect(configuration == 1);
    good(cuCtxSetCacheConfig, (0));
    bad(ERROR_INVALID_VALUE, cuCtxSetCacheConfig, (17));
}

/* What kernels take by malloc is theirs: it lives on between launches, and no call of the driver
 * frees or copies it. */
TEST(context, kernels_have_a_heap)
{
    static const char text[] = PTX_HEAD
        ".extern .func (.param .b64 r) malloc(.param .b64 v);\n.extern .func free(.param .b64 v);\n"
        ".visible .entry take(.param .u64 out, .param .u64 bytes)\n{\n"
        "    .reg .b64 %o, %b, %p, %i;\n    .reg .b32 %t;\n    .reg .pred %c;\n"
        "    .param .b64 x, y;\n    mov.u32 %t, %tid.x;\n    mul.wide.u32 %i, %t, 8;\n"
        "    ld.param.u64 %o, [out];\n    ld.param.u64 %b, [bytes];\n    add.u64 %o, %o, %i;\n"
        "    st.param.b64 [x], %b;\n    call (y), malloc, (x);\n    ld.param.b64 %p, [y];\n"
        "    st.global.u64 [%o], %p;\n    setp.ne.u64 %c, %p, 0;\n    @%c st.u32 [%p], %t;\n"
        "    ret;\n}\n"
        ".visible .entry give(.param .u64 in)\n{\n    .reg .b64 %o, %p, %i;\n"
        "    .reg .b32 %t, %v;\n    .param .b64 x;\n    mov.u32 %t, %tid.x;\n"
        "    mul.wide.u32 %i, %t, 8;\n    ld.param.u64 %o, [in];\n    add.u64 %o, %o, %i;\n"
        "    ld.global.u64 %p, [%o];\n    ld.u32 %v, [%p];\n    cvt.u64.u32 %i, %v;\n"
        "    st.global.u64 [%o], %i;\n    st.param.b64 [x], %p;\n    call free, (x);\n"
        "    st.param.b64 [x], 0;\n    call free, (x);\n    ret;\n}\n";
    enum { THREADS = 40 };
    uint64_t bytes = 100, blocks[THREADS];
    size_t limit = 0;
    uint32_t word;

    good(cuCtxSetLimit, (GD_CU_LIMIT_MALLOC_HEAP_SIZE, 4 << 20));
    good(cuCtxGetLimit, (&limit, GD_CU_LIMIT_MALLOC_HEAP_SIZE));
    expect(limit >= 4 << 20);
    gd_CUmodule module = load(text);
    gd_CUfunction take = function_of(module, "take"), give = function_of(module, "give");
    gd_CUdeviceptr out = allocate(sizeof blocks);
    void *taken[] = {&out, &bytes}, *given[] = {&out};
    for (int round = 0; round < 3; round++) {
        run(take, 1, THREADS, taken);
        read_back(blocks, out, sizeof blocks);
        for (uint32_t i = 0; i < THREADS; i++) {
            ck_assert_msg(blocks[i] != 0 && blocks[i] % 16 == 0, "block %u is 0x%llx", (unsigned)i,
                          (unsigned long long)blocks[i]);
            for (uint32_t k = 0; k < i; k++)
                ck_assert_msg(blocks[k] + bytes <= blocks[i] || blocks[i] + bytes <= blocks[k],
                              "blocks %u and %u overlap", (unsigned)k, (unsigned)i);
        }
        bad(ERROR_INVALID_VALUE, cuMemFree_v2, (blocks[0]));
        bad(ERROR_INVALID_VALUE, cuMemcpyDtoH_v2, (&word, blocks[0], sizeof word));
        run(give, 1, THREADS, given);
        read_back(blocks, out, sizeof blocks);
        for (uint32_t i = 0; i < THREADS; i++)
            ck_assert_uint_eq(blocks[i], i);
    }
    bad(ERROR_INVALID_VALUE, cuCtxSetLimit, (GD_CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20));
    bytes = UINT64_C(1) << 40;
    run(take, 1, THREADS, taken);
    read_back(blocks, out, sizeof blocks);
    for (uint32_t i = 0; i < THREADS; i++)
        ck_assert_uint_eq(blocks[i], 0);
    bytes = 1 << 20; /* not all of 40 find room in 4 to 8 MiB */
    run(take, 1, THREADS, taken);
    read_back(blocks, out, sizeof blocks);
    uint32_t found = 0;
    for (uint32_t i = 0; i < THREADS; i++)
        found += blocks[i] != 0;
    expect(found > 0 && found < THREADS);
    release(out);
    good(cuModuleUnload, (module));
}

TEST(contexts, nothing_works_without_a_context)
{
    size_t value = 0;
    unsigned flags = 0;
    int number = 0;
    int32_t configuration = 0;
    gd_CUdeviceptr address = 0;
    gd_CUstream made = NULL;

    bad(ERROR_INVALID_CONTEXT, cuCtxGetLimit, (&value, 0));
    bad(ERROR_INVALID_CONTEXT, cuCtxSetLimit, (0, 1024));
    bad(ERROR_INVALID_CONTEXT, cuCtxGetFlags, (&flags));
    bad(ERROR_INVALID_CONTEXT, cuCtxGetStreamPriorityRange, (&number, &number));
    bad(ERROR_INVALID_CONTEXT, cuCtxGetCacheConfig, (&configuration));
    bad(ERROR_INVALID_CONTEXT, cuCtxSetCacheConfig, (0));
    bad(ERROR_INVALID_CONTEXT, cuCtxSynchronize_v2, (NULL));
    bad(ERROR_INVALID_CONTEXT, cuCtxGetDevice_v2, (&number, NULL));
    bad(ERROR_INVALID_CONTEXT, cuMemAlloc_v2, (&address, 4));
    bad(ERROR_INVALID_CONTEXT, cuStreamCreate, (&made, 0));
    bad(ERROR_INVALID_CONTEXT, cuMemGetInfo_v2, (&value, &value));
}

TEST(contexts, destroyed_contexts_are_refused)
{
    gd_CUcontext made = NULL;
    unsigned long long id = 0;

    if (DIFFERS(FREED_HANDLE))
        return;
    good(cuCtxCreate_v2, (&made, 0, device));
    good(cuCtxDestroy_v2, (made));
    bad(ERROR_INVALID_CONTEXT, cuCtxDestroy_v2, (made));
    bad(ERROR_INVALID_CONTEXT, cuCtxPushCurrent_v2, (made));
    bad(ERROR_INVALID_CONTEXT, cuCtxSetCurrent, (made));
    bad(ERROR_CONTEXT_IS_DESTROYED, cuCtxGetId, (made, &id));
}

SUITE(device, "device")

/* Launches: shapes, arguments, attributes, occupancy, faults. */
#include "conformance.h"

/* shape writes the grid and the block that it sees; halt and stray are faults. */
static const char text[] = PTX_HEAD
    ".visible .entry shape(.param .u64 out, .param .u32 tag)\n{\n"
    "    .reg .b64 %out;\n    .reg .b32 %v<8>;\n    .reg .pred %first;\n"
    "    ld.param.u64 %out, [out];\n    ld.param.u32 %v7, [tag];\n"
    "    mov.u32 %v0, %nctaid.x;\n    mov.u32 %v1, %nctaid.y;\n    mov.u32 %v2, %nctaid.z;\n"
    "    mov.u32 %v3, %ntid.x;\n    mov.u32 %v4, %ntid.y;\n    mov.u32 %v5, %ntid.z;\n"
    "    mov.u32 %v6, %dynamic_smem_size;\n"
    "    st.global.v4.u32 [%out], {%v0, %v1, %v2, %v3};\n    st.global.v4.u32 [%out+16], {%v4, "
    "%v5, %v6, %v7};\n"
    "    ret;\n}\n"
    ".visible .entry count(.param .u64 out)\n{\n    .reg .b64 %out;\n    .reg .b32 %v;\n"
    "    ld.param.u64 %out, [out];\n    atom.global.add.u32 %v, [%out], 1;\n    ret;\n}\n"
    ".visible .entry narrow()\n.maxntid 64, 1, 1\n{\n    ret;\n}\n"
    ".visible .entry exact()\n.reqntid 32, 2, 1\n{\n    ret;\n}\n"
    ".visible .entry pairs(.param .u64 out)\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{\n"
    "    .reg .b64 %out;\n    .reg .b32 %v;\n    ld.param.u64 %out, [out];\n    mov.u32 %v, "
    "%cluster_nctaid.x;\n"
    "    st.global.u32 [%out], %v;\n    ret;\n}\n"
    ".visible .entry clusters(.param .u64 out)\n{\n    .reg .b64 %out;\n    .reg .b32 %v;\n"
    "    ld.param.u64 %out, [out];\n    mov.u32 %v, %cluster_nctaid.x;\n    st.global.u32 [%out], "
    "%v;\n    ret;\n}\n"
    ".visible .entry halt()\n{\n    trap;\n}\n"
    ".visible .entry stray(.param .u64 at)\n{\n    .reg .b64 %at;\n    ld.param.u64 %at, [at];\n"
    "    st.global.u32 [%at], 1;\n    ret;\n}\n";

static gd_CUmodule module;

static void setup(void)
{
    setup_context();
    module = load(text);
}

static void teardown(void)
{
    good(cuModuleUnload, (module));
    teardown_context();
}

static gd_CUlaunchConfig config_of(unsigned grid, unsigned block)
{
    return (gd_CUlaunchConfig){.gridDimX = grid,
                               .gridDimY = 1,
                               .gridDimZ = 1,
                               .blockDimX = block,
                               .blockDimY = 1,
                               .blockDimZ = 1,
                               .hStream = stream};
}

static void check_words(gd_CUdeviceptr out, const uint32_t expected[8])
{
    uint32_t words[8];

    good(cuStreamSynchronize, (stream));
    read_back(words, out, sizeof words);
    for (int i = 0; i < 8; i++)
        ck_assert_msg(words[i] == expected[i], "word %d is %u, expected %u", i, words[i],
                      expected[i]);
}

/* ---- what is launched ---- */

TEST_GROUP(launch, setup, teardown);
TEST_GROUP(faults, setup, NULL);

TEST(launch, shapes)
{
    gd_CUfunction shape = function_of(module, "shape");
    gd_CUdeviceptr out = allocate(32);
    uint32_t tag = 7;
    void *parameters[] = {&out, &tag};
    gd_CUlaunchConfig config = config_of(3, 5);

    good(cuCtxSynchronize, ());
    good(cuLaunchKernel, (shape, 2, 3, 4, 5, 6, 7, 128, stream, parameters, NULL));
    check_words(out, (const uint32_t[]){2, 3, 4, 5, 6, 7, 128, 7});
    tag = 8;
    good(cuLaunchKernelEx, (&config, shape, parameters, NULL));
    check_words(out, (const uint32_t[]){3, 1, 1, 5, 1, 1, 0, 8});
    good(cuLaunchCooperativeKernel, (shape, 2, 1, 1, 32, 1, 1, 64, stream, parameters));
    check_words(out, (const uint32_t[]){2, 1, 1, 32, 1, 1, 64, 8});
    release(out);
}

TEST(launch, packed_arguments)
{
    gd_CUfunction shape = function_of(module, "shape");
    gd_CUdeviceptr out = allocate(32);
    struct {
        gd_CUdeviceptr out;
        uint32_t tag;
    } arguments = {out, 99};
    size_t bytes = 12;
    void *extra[] = {GD_CU_LAUNCH_PARAM_BUFFER_POINTER, &arguments, GD_CU_LAUNCH_PARAM_BUFFER_SIZE,
                     &bytes, GD_CU_LAUNCH_PARAM_END};
    gd_CUlaunchConfig config = config_of(1, 1);
    uint32_t tag = 1;
    void *parameters[] = {&out, &tag};

    good(cuCtxSynchronize, ());
    good(cuLaunchKernel, (shape, 1, 1, 1, 2, 1, 1, 0, stream, NULL, extra));
    check_words(out, (const uint32_t[]){1, 1, 1, 2, 1, 1, 0, 99});
    arguments.tag = 98;
    good(cuLaunchKernelEx, (&config, shape, NULL, extra));
    check_words(out, (const uint32_t[]){1, 1, 1, 1, 1, 1, 0, 98});
    bad(ERROR_INVALID_VALUE, cuLaunchKernel,
        (shape, 1, 1, 1, 1, 1, 1, 0, stream, parameters, extra));
    bad(ERROR_INVALID_VALUE, cuLaunchKernel, (shape, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    release(out);
}

/* Arguments are taken during the call. */
TEST(launch, arguments_are_copied)
{
    gd_CUfunction shape = function_of(module, "shape");
    gd_CUdeviceptr out = allocate(32);
    uint32_t tag = 5;
    void *parameters[] = {&out, &tag};

    good(cuCtxSynchronize, ());
    good(cuLaunchKernel, (shape, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    tag = 6;
    check_words(out, (const uint32_t[]){1, 1, 1, 1, 1, 1, 0, 5});
    release(out);
}

TEST(launch, all_ctas_run)
{
    gd_CUfunction count = function_of(module, "count");
    gd_CUdeviceptr out = allocate(4);
    void *parameters[] = {&out};
    uint32_t word = 0;

    good(cuCtxSynchronize, ());
    good(cuLaunchKernel, (count, 7, 5, 3, 9, 2, 2, 0, stream, parameters, NULL));
    good(cuStreamSynchronize, (stream));
    read_back(&word, out, 4);
    ck_assert_uint_eq(word, 7 * 5 * 3 * 9 * 2 * 2);
    release(out);
}

/* ---- what is refused ---- */

TEST(launch, shapes_are_checked)
{
    gd_CUfunction narrow = function_of(module, "narrow"), exact = function_of(module, "exact");
    gd_CUlaunchConfig config = config_of(1, 1);

    bad(ERROR_INVALID_VALUE, cuLaunchKernel, (narrow, 0, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLaunchKernel, (narrow, 1, 1, 1, 0, 1, 1, 0, stream, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLaunchKernel, (narrow, 1, 65536, 1, 1, 1, 1, 0, stream, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLaunchKernel, (narrow, 1, 1, 1, 1025, 1, 1, 0, stream, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLaunchKernel, (narrow, 1, 1, 1, 1, 1, 65, 0, stream, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLaunchKernel, (narrow, 1, 1, 1, 65, 1, 1, 0, stream, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLaunchKernel, (narrow, 1, 1, 1, 1, 1, 1, 65536, stream, NULL, NULL));
    good(cuLaunchKernel, (exact, 1, 1, 1, 32, 2, 1, 0, stream, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLaunchKernel, (exact, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLaunchKernelEx, (NULL, narrow, NULL, NULL));
    config.gridDimX = 0;
    bad(ERROR_INVALID_VALUE, cuLaunchKernelEx, (&config, narrow, NULL, NULL));
    bad(ERROR_INVALID_VALUE, cuLaunchCooperativeKernel,
        (narrow, 1, 1, 1, 65, 1, 1, 0, stream, NULL));
    bad(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, cuLaunchCooperativeKernel,
        (narrow, 1 << 20, 1, 1, 64, 1, 1, 0, stream, NULL));
    good(cuStreamSynchronize, (stream));
}

/* Every limit of a shape: what stands at it is launched, and the next one is refused. */
TEST(launch, shapes_at_their_limits)
{
    static const struct {
        unsigned grid[3], block[3], shared;
        bool fits;
    } rows[] = {{{1, 1, 1}, {1024, 1, 1}, 0, true},  {{1, 1, 1}, {1025, 1, 1}, 0, false},
                {{1, 1, 1}, {1, 1024, 1}, 0, true},  {{1, 1, 1}, {1, 1025, 1}, 0, false},
                {{1, 1, 1}, {1, 1, 64}, 0, true},    {{1, 1, 1}, {1, 1, 65}, 0, false},
                {{1, 1, 1}, {32, 32, 1}, 0, true},   {{1, 1, 1}, {32, 32, 2}, 0, false},
                {{1, 1, 1}, {16, 1, 64}, 0, true},   {{1, 1, 1}, {17, 1, 64}, 0, false},
                {{1, 1, 1}, {1, 16, 64}, 0, true},   {{1, 1, 1}, {1, 17, 64}, 0, false},
                {{1, 65535, 1}, {1, 1, 1}, 0, true}, {{1, 65536, 1}, {1, 1, 1}, 0, false},
                {{1, 1, 65535}, {1, 1, 1}, 0, true}, {{1, 1, 65536}, {1, 1, 1}, 0, false},
                {{1, 1, 1}, {1, 1, 1}, 49152, true}, {{1, 1, 1}, {1, 1, 1}, 49153, false},
                {{0, 1, 1}, {1, 1, 1}, 0, false},    {{1, 0, 1}, {1, 1, 1}, 0, false},
                {{1, 1, 0}, {1, 1, 1}, 0, false},    {{1, 1, 1}, {0, 1, 1}, 0, false},
                {{1, 1, 1}, {1, 0, 1}, 0, false},    {{1, 1, 1}, {1, 1, 0}, 0, false}};
    gd_CUfunction shape = function_of(module, "shape"), narrow = function_of(module, "narrow");
    gd_CUdeviceptr out = allocate(32);
    uint32_t tag = 7;
    void *parameters[] = {&out, &tag};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const unsigned *grid = rows[i].grid, *block = rows[i].block;
        if (!rows[i].fits) {
            bad(ERROR_INVALID_VALUE, cuLaunchKernel,
                (shape, grid[0], grid[1], grid[2], block[0], block[1], block[2], rows[i].shared,
                 stream, parameters, NULL));
            continue;
        }
        good(cuLaunchKernel, (shape, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                              rows[i].shared, stream, parameters, NULL));
        check_words(out, (uint32_t[8]){grid[0], grid[1], grid[2], block[0], block[1], block[2],
                                       rows[i].shared, tag});
    }
    good(cuLaunchKernel, (narrow, 1, 1, 1, 64, 1, 1, 0, stream, NULL, NULL));
    good(cuStreamSynchronize, (stream));
    release(out);
}

TEST(launch, null_functions)
{
    gd_CUlaunchConfig config = config_of(1, 1);
    int value = 0;
    size_t bytes = 0;

    bad(ERROR_INVALID_HANDLE, cuLaunchKernel, (NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    bad(ERROR_INVALID_HANDLE, cuLaunchKernelEx, (&config, NULL, NULL, NULL));
    bad(ERROR_INVALID_HANDLE, cuLaunchCooperativeKernel, (NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL));
    bad(ERROR_INVALID_HANDLE, cuOccupancyMaxActiveBlocksPerMultiprocessor, (&value, NULL, 32, 0));
    bad(ERROR_INVALID_HANDLE, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
        (&value, NULL, 32, 0, 0));
    bad(ERROR_INVALID_HANDLE, cuOccupancyMaxPotentialBlockSize, (&value, &value, NULL, NULL, 0, 0));
    bad(ERROR_INVALID_HANDLE, cuOccupancyMaxPotentialBlockSizeWithFlags,
        (&value, &value, NULL, NULL, 0, 0, 0));
    bad(ERROR_INVALID_HANDLE, cuOccupancyAvailableDynamicSMemPerBlock, (&bytes, NULL, 1, 32));
}

/* ---- attributes ---- */

TEST(launch, attributes)
{
    gd_CUfunction count = function_of(module, "count");
    gd_CUdeviceptr out = allocate(4);
    void *parameters[] = {&out};
    gd_CUlaunchAttribute list[] = {
        {.id = GD_CU_LAUNCH_ATTRIBUTE_IGNORE},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 0},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
         .value.programmaticStreamSerializationAllowed = 1},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -1},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, .value.memSyncDomainMap = {0, 1}},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, .value.memSyncDomain = 0},
        {.id = GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
         .value.sharedMemCarveout = 50},
    };
    gd_CUlaunchConfig config = config_of(2, 2);
    uint32_t word = 0;

    good(cuCtxSynchronize, ());
    config.attrs = list;
    config.numAttrs = COUNT_OF(list);
    good(cuLaunchKernelEx, (&config, count, parameters, NULL));
    for (unsigned i = 0; i < COUNT_OF(list); i++) {
        config.attrs = &list[i];
        config.numAttrs = 1;
        good(cuLaunchKernelEx, (&config, count, parameters, NULL));
    }
    good(cuStreamSynchronize, (stream));
    read_back(&word, out, 4);
    ck_assert_uint_eq(word, 4 * (1 + COUNT_OF(list)));
    gd_CUlaunchAttribute unknown = {.id = 1000};
    config.attrs = &unknown;
    bad(ERROR_INVALID_VALUE, cuLaunchKernelEx, (&config, count, parameters, NULL));
    release(out);
}

TEST(launch, cluster_shapes)
{
    gd_CUfunction clusters = function_of(module, "clusters"), pairs = function_of(module, "pairs");
    gd_CUdeviceptr out = allocate(4);
    void *parameters[] = {&out};
    gd_CUlaunchAttribute attribute = {.id = GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                      .value.clusterDim = {4, 1, 1}};
    gd_CUlaunchConfig config = config_of(8, 32);
    uint32_t word = 0;

    good(cuCtxSynchronize, ());
    config.attrs = &attribute;
    config.numAttrs = 1;
    good(cuLaunchKernelEx, (&config, clusters, parameters, NULL));
    good(cuStreamSynchronize, (stream));
    read_back(&word, out, 4);
    expect(word == 4);
    config.gridDimX = 7;
    bad(ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx, (&config, clusters, parameters, NULL));
    config.gridDimX = 32;
    attribute.value.clusterDim.x = 16;
    bad(ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx, (&config, clusters, parameters, NULL));
    attribute.value.clusterDim.x = 0;
    bad(ERROR_INVALID_CLUSTER_SIZE, cuLaunchKernelEx, (&config, clusters, parameters, NULL));
    config.numAttrs = 0;
    good(cuLaunchKernelEx, (&config, pairs, parameters, NULL));
    good(cuStreamSynchronize, (stream));
    read_back(&word, out, 4);
    expect(word == 2);
    good(cuLaunchKernelEx, (&config, clusters, parameters, NULL));
    good(cuStreamSynchronize, (stream));
    read_back(&word, out, 4);
    expect(word == 1);
    release(out);
}

/* ---- occupancy ---- */

static size_t shared_for(int block)
{
    return (size_t)block * 64;
}

TEST(launch, occupancy)
{
    gd_CUfunction count = function_of(module, "count"), narrow = function_of(module, "narrow");
    int blocks = 0, grid = 0, block = 0;
    size_t bytes = 0;

    good(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, count, 1024, 0));
    expect(blocks == 2);
    good(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, count, 32, 0));
    expect(blocks == 32);
    good(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, count, 128, 40000));
    expect(blocks == 5);
    good(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, (&blocks, count, 256, 0, 0));
    expect(blocks == 8);
    good(cuOccupancyMaxPotentialBlockSize, (&grid, &block, count, NULL, 0, 0));
    expect(block == 1024 &&
           grid == 2 * device_attribute(GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    good(cuOccupancyMaxPotentialBlockSize, (&grid, &block, narrow, NULL, 0, 0));
    expect(block == 64);
    good(cuOccupancyMaxPotentialBlockSizeWithFlags, (&grid, &block, count, shared_for, 0, 256, 0));
    expect(block > 0 && block <= 256);
    good(cuOccupancyAvailableDynamicSMemPerBlock, (&bytes, count, 2, 128));
    expect(bytes == 49152); /* no more than the function may ask for */
    bad(ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor, (NULL, count, 32, 0));
    bad(ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, count, 0, 0));
    bad(ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
        (&blocks, count, 32, 0, 100));
    bad(ERROR_INVALID_VALUE, cuOccupancyMaxPotentialBlockSize, (NULL, &block, count, NULL, 0, 0));
    bad(ERROR_INVALID_VALUE, cuOccupancyMaxPotentialBlockSizeWithFlags,
        (&grid, &block, count, NULL, 0, 0, 100));
    bad(ERROR_INVALID_VALUE, cuOccupancyAvailableDynamicSMemPerBlock, (&bytes, count, 0, 128));
    if (!DIFFERS(UNCHECKED_ARGUMENT))
        bad(ERROR_INVALID_VALUE, cuOccupancyAvailableDynamicSMemPerBlock, (NULL, count, 2, 128));
}

/* A function's preferred carve-out leaves CTAs what the next larger split of the SM's memory holds,
 * and always one. */
TEST(launch, carved_occupancy)
{
    static const struct carved {
        int percent;
        int blocks[4]; /* with 0, 7168, 32768 and 49152 bytes, 32 threads */
        size_t bytes;  /* for each of 8 */
    } rows[] = {{0, {8, 1, 1, 1}, 1024},     {5, {16, 2, 1, 1}, 2048},
                {10, {32, 4, 1, 1}, 4096},   {25, {32, 8, 1, 1}, 8192},
                {50, {32, 16, 4, 2}, 16896}, {75, {32, 24, 5, 4}, 25088},
                {99, {32, 28, 6, 4}, 29184}, {-1, {32, 28, 6, 4}, 29184}};
    static const size_t shared[] = {0, 7168, 32768, 49152};
    gd_CUfunction count = function_of(module, "count");
    int blocks = 0;
    size_t bytes = 0;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        good(cuFuncSetAttribute,
             (count, GD_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, rows[i].percent));
        for (size_t k = 0; k < sizeof shared / sizeof shared[0]; k++) {
            good(cuOccupancyMaxActiveBlocksPerMultiprocessor, (&blocks, count, 32, shared[k]));
            ck_assert_msg(blocks == rows[i].blocks[k], "%d %%, %zu bytes: %d", rows[i].percent,
                          shared[k], blocks);
        }
        good(cuOccupancyAvailableDynamicSMemPerBlock, (&bytes, count, 8, 32));
        ck_assert_msg(bytes == rows[i].bytes, "%d %%: %zu", rows[i].percent, bytes);
        good(cuOccupancyAvailableDynamicSMemPerBlock, (&bytes, count, 1, 32));
        expect(bytes == 49152); /* what the function may ask for; one alone has all of the memory */
    }
}

/* Clusters of up to eight CTAs are portable; a kernel has to ask for more. */
TEST(launch, cluster_occupancy)
{
    gd_CUfunction count = function_of(module, "count");
    gd_CUlaunchAttribute pair = {.id = GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {.x = 2, .y = 1, .z = 1}};
    gd_CUlaunchConfig config = {.gridDimX = 16,
                                .gridDimY = 1,
                                .gridDimZ = 1,
                                .blockDimX = 128,
                                .blockDimY = 1,
                                .blockDimZ = 1};
    int value = 0;

    good(cuOccupancyMaxPotentialClusterSize, (&value, count, &config));
    expect(value == 8);
    bad(ERROR_INVALID_VALUE, cuOccupancyMaxPotentialClusterSize, (&value, NULL, &config));
    config.attrs = &pair;
    config.numAttrs = 1;
    good(cuOccupancyMaxActiveClusters, (&value, count, &config));
    expect(value > 0 &&
           value <= 16 * device_attribute(GD_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
    bad(ERROR_INVALID_VALUE, cuOccupancyMaxActiveClusters, (&value, NULL, &config));
}

/* ---- faults end the context ---- */

static void after_fault(gd_CUresult fault)
{
    gd_CUdeviceptr address = 0;
    gd_CUstream made = NULL;
    gd_CUcontext popped = NULL;

    expect(raw(cuCtxSynchronize, ()) == fault);
    expect(raw(cuMemAlloc_v2, (&address, 4)) == fault);
    expect(raw(cuStreamCreate, (&made, 0)) == fault);
    good(cuCtxPopCurrent_v2, (&popped));
    expect(popped == context);
    teardown_driver();
}

TEST(faults, traps)
{
    good(cuLaunchKernel, (function_of(module, "halt"), 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
    expect(raw(cuStreamSynchronize, (stream)) == GD_CUDA_ERROR_LAUNCH_FAILED);
    after_fault(GD_CUDA_ERROR_LAUNCH_FAILED);
}

TEST(faults, stray_addresses)
{
    gd_CUdeviceptr nowhere = 64;
    void *parameters[] = {&nowhere};

    good(cuLaunchKernel,
         (function_of(module, "stray"), 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    expect(raw(cuStreamSynchronize, (stream)) == GD_CUDA_ERROR_ILLEGAL_ADDRESS);
    after_fault(GD_CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST(faults, skewed_addresses)
{
    gd_CUdeviceptr skewed = allocate(64) + 2;
    void *parameters[] = {&skewed};

    good(cuCtxSynchronize, ());
    good(cuLaunchKernel,
         (function_of(module, "stray"), 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
    expect(raw(cuStreamSynchronize, (stream)) == GD_CUDA_ERROR_MISALIGNED_ADDRESS);
    after_fault(GD_CUDA_ERROR_MISALIGNED_ADDRESS);
}

SUITE(launch, "launch")

/* Allocations, copies, fills and what the driver tells of a pointer. */
#include "conformance.h"

enum { ROWS = 5, WIDTH = 24, PITCH = 64, PLANE = PITCH * ROWS };

/* ---- allocation ---- */

TEST_GROUP(memory, setup_context, teardown_context);

TEST(memory, allocations)
{
    gd_CUdeviceptr address = 0, start = 0;
    size_t bytes = 0, free_bytes = 0, total = 0, pitch = 0;

    good(cuMemAlloc_v2, (&address, 1000));
    expect(address % 256 == 0);
    good(cuMemGetAddressRange_v2, (&start, &bytes, address + 999));
    expect(start == address && bytes == 1000);
    good(cuMemGetAddressRange_v2, (NULL, &bytes, address));
    good(cuMemGetAddressRange_v2, (&start, NULL, address));
    good(cuMemFree_v2, (address));
    good(cuMemFree_v2, (0));
    good(cuMemGetInfo_v2, (&free_bytes, &total));
    expect(free_bytes <= total && total >= 1 << 20);
    good(cuMemAllocPitch_v2, (&address, &pitch, 100, 7, 4));
    expect(pitch >= 100 && pitch % 512 == 0);
    good(cuMemFree_v2, (address));
    bad(ERROR_INVALID_VALUE, cuMemAlloc_v2, (&address, 0));
    bad(ERROR_INVALID_VALUE, cuMemAlloc_v2, (NULL, 4));
    bad(ERROR_OUT_OF_MEMORY, cuMemAlloc_v2, (&address, (size_t)1 << 50));
    bad(ERROR_INVALID_VALUE, cuMemAllocPitch_v2, (&address, &pitch, 100, 7, 3));
    bad(ERROR_INVALID_VALUE, cuMemAllocPitch_v2, (&address, &pitch, 0, 7, 4));
    bad(ERROR_INVALID_VALUE, cuMemAllocPitch_v2, (&address, NULL, 100, 7, 4));
    bad(ERROR_INVALID_VALUE, cuMemAllocPitch_v2, (NULL, &pitch, 100, 7, 4));
    bad(ERROR_INVALID_VALUE, cuMemFree_v2, (0x1234500));
    bad(ERROR_NOT_FOUND, cuMemGetAddressRange_v2, (&start, &bytes, 0x1234500));
}

TEST(memory, allocations_are_freed_once)
{
    gd_CUdeviceptr address = allocate(4096), start = 0;
    size_t bytes = 0;

    bad(ERROR_INVALID_VALUE, cuMemFree_v2, (address + 256));
    good(cuMemFree_v2, (address));
    bad(ERROR_INVALID_VALUE, cuMemFree_v2, (address));
    bad(ERROR_NOT_FOUND, cuMemGetAddressRange_v2, (&start, &bytes, address));
}

TEST(memory, null_results_of_queries)
{
    size_t total = 0;
    gd_CUdeviceptr address = allocate(16);

    good(cuMemGetInfo_v2, (NULL, &total));
    good(cuMemGetInfo_v2, (&total, NULL));
    good(cuMemGetAddressRange_v2, (NULL, NULL, address));
    release(address);
}

TEST(memory, managed_memory)
{
    gd_CUdeviceptr address = 0;
    unsigned managed = 0;

    good(cuMemAllocManaged, (&address, 4096, 1));
    good(cuMemsetD32_v2, (address, 7, 4));
    good(cuCtxSynchronize, ());
    expect(*(uint32_t *)(uintptr_t)address == 7);
    good(cuPointerGetAttribute, (&managed, GD_CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    expect(managed == 1);
    good(cuMemPrefetchAsync, (address, 4096, device, stream));
    good(cuStreamSynchronize, (stream));
    bad(ERROR_INVALID_VALUE, cuMemPrefetchAsync, (address, 0, device, stream));
    good(cuMemPrefetchAsync_v2, (address, 4096, (gd_CUmemLocation){1, device}, 0, stream));
    good(cuStreamSynchronize, (stream));
    bad(ERROR_INVALID_VALUE, cuMemPrefetchAsync_v2,
        (address, 0, (gd_CUmemLocation){1, device}, 0, stream));
    bad(ERROR_INVALID_VALUE, cuMemPrefetchAsync_v2,
        (address, 4096, (gd_CUmemLocation){1, device}, 7, stream));
    good(cuMemFree_v2, (address));
    bad(ERROR_INVALID_VALUE, cuMemAllocManaged, (&address, 4096, 0));
    bad(ERROR_INVALID_VALUE, cuMemAllocManaged, (&address, 0, 1));
    bad(ERROR_INVALID_VALUE, cuMemAllocManaged, (NULL, 4096, 1));
}

TEST(memory, host_memory)
{
    void *host = NULL;
    gd_CUdeviceptr address = 0;
    unsigned flags = 99;
    static _Alignas(4096) unsigned char own[8192];

    good(cuMemAllocHost_v2, (&host, 256));
    good(cuMemHostGetDevicePointer_v2, (&address, host, 0));
    good(cuMemsetD8_v2, (address, 9, 256));
    good(cuCtxSynchronize, ());
    expect(((unsigned char *)host)[255] == 9);
    good(cuMemFreeHost, (host));
    good(cuMemHostAlloc, (&host, 256, 3));
    good(cuMemHostGetFlags, (&flags, host));
    expect(flags == 3);
    good(cuMemFreeHost, (host));
    good(cuMemHostRegister_v2, (own, sizeof own, 2));
    bad(ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister_v2, (own, sizeof own, 2));
    good(cuMemHostGetDevicePointer_v2, (&address, own, 0));
    good(cuMemsetD8_v2, (address, 5, sizeof own));
    good(cuCtxSynchronize, ());
    expect(own[8191] == 5);
    good(cuMemHostUnregister, (own));
    bad(ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister, (own));
    bad(ERROR_INVALID_VALUE, cuMemHostUnregister, (NULL));
    bad(ERROR_INVALID_VALUE, cuMemHostRegister_v2, (NULL, 4096, 0));
    bad(ERROR_INVALID_VALUE, cuMemHostRegister_v2, (own, 0, 0));
    bad(ERROR_INVALID_VALUE, cuMemAllocHost_v2, (NULL, 256));
    good(cuMemAllocHost_v2, (&host, 0));
    expect(host == NULL);
    bad(ERROR_INVALID_VALUE, cuMemHostAlloc, (NULL, 256, 0));
    bad(ERROR_INVALID_VALUE, cuMemHostAlloc, (&host, 256, 0x1000));
    good(cuMemHostAlloc, (&host, 0, 0));
    good(cuMemFreeHost, (NULL));
    bad(ERROR_INVALID_VALUE, cuMemFreeHost, (own));
    bad(ERROR_INVALID_VALUE, cuMemHostGetDevicePointer_v2, (&address, own, 0));
    bad(ERROR_INVALID_VALUE, cuMemHostGetDevicePointer_v2, (NULL, own, 0));
    bad(ERROR_INVALID_VALUE, cuMemHostGetFlags, (&flags, own));
    bad(ERROR_INVALID_VALUE, cuMemHostGetFlags, (NULL, own));
}

TEST(memory, memory_in_stream_order)
{
    gd_CUdeviceptr address = 0;
    uint32_t words[8];

    good(cuMemAllocAsync, (&address, sizeof words, stream));
    good(cuMemsetD32Async, (address, 77, COUNT_OF(words), stream));
    good(cuMemcpyDtoHAsync_v2, (words, address, sizeof words, stream));
    good(cuMemFreeAsync, (address, stream));
    good(cuStreamSynchronize, (stream));
    expect(words[0] == 77 && words[7] == 77);
    bad(ERROR_INVALID_VALUE, cuMemAllocAsync, (NULL, 16, stream));
    good(cuMemAllocAsync, (&address, 16, stream));
    good(cuStreamSynchronize, (stream));
    good(cuMemFree_v2, (address));
    bad(ERROR_INVALID_VALUE, cuMemFreeAsync, (0x1234500, stream));
}

TEST(memory, pools)
{
    gd_CUmemoryPool standard = NULL, pool = NULL;
    gd_CUdeviceptr address = 0;
    uint64_t threshold = 1 << 20;
    gd_CUmemPoolProps properties = {.allocType = 1, .location = {.type = 1, .id = device}};
    uint32_t word = 0;

    good(cuDeviceGetDefaultMemPool, (&standard, device));
    good(cuDeviceGetMemPool, (&pool, device));
    expect(standard && standard == pool);
    bad(ERROR_INVALID_VALUE, cuDeviceGetDefaultMemPool, (NULL, device));
    bad(ERROR_INVALID_VALUE, cuDeviceGetMemPool, (NULL, device));
    bad(ERROR_INVALID_DEVICE, cuDeviceGetDefaultMemPool, (&pool, 1000));
    bad(ERROR_INVALID_VALUE, cuDeviceGetMemPool, (&pool, 1000));
    good(cuMemPoolCreate, (&pool, &properties));
    good(cuMemPoolSetAttribute, (pool, 4, &threshold));
    good(cuMemAllocFromPoolAsync, (&address, 64, pool, stream));
    good(cuMemsetD32Async, (address, 5, 1, stream));
    good(cuMemcpyDtoHAsync_v2, (&word, address, 4, stream));
    good(cuMemFreeAsync, (address, stream));
    good(cuStreamSynchronize, (stream));
    expect(word == 5);
    good(cuMemPoolTrimTo, (pool, 0));
    good(cuMemPoolDestroy, (pool));
    bad(ERROR_INVALID_VALUE, cuMemPoolCreate, (NULL, &properties));
    bad(ERROR_INVALID_VALUE, cuMemPoolCreate, (&pool, NULL));
    bad(ERROR_INVALID_VALUE, cuMemPoolSetAttribute, (standard, 1000, &threshold));
    if (!DIFFERS(UNCHECKED_ARGUMENT))
        bad(ERROR_INVALID_VALUE, cuMemPoolSetAttribute, (standard, 4, NULL));
    bad(ERROR_INVALID_VALUE, cuMemPoolSetAttribute, (NULL, 4, &threshold));
    bad(ERROR_INVALID_VALUE, cuMemPoolTrimTo, (NULL, 0));
    bad(ERROR_INVALID_VALUE, cuMemPoolDestroy, (NULL));
    bad(ERROR_INVALID_VALUE, cuMemPoolDestroy, (standard));
    bad(ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync, (&address, 64, NULL, stream));
    bad(ERROR_INVALID_VALUE, cuMemAllocFromPoolAsync, (NULL, 64, standard, stream));
}

/* ---- copies ---- */

TEST(memory, lines_are_copied)
{
    uint32_t from[16], to[16];
    gd_CUdeviceptr a = allocate(64), b = allocate(64);

    for (uint32_t i = 0; i < 16; i++)
        from[i] = i * 3 + 1;
    good(cuMemcpyHtoD_v2, (a, from, 64));
    good(cuMemcpyDtoD_v2, (b, a, 64));
    good(cuMemcpyDtoH_v2, (to, b, 64));
    expect(!memcmp(from, to, 64));
    memset(to, 0, sizeof to);
    good(cuMemcpy, (a, (gd_CUdeviceptr)(uintptr_t)to, 64));
    good(cuMemcpy, ((gd_CUdeviceptr)(uintptr_t)to, b, 64));
    expect(!memcmp(from, to, 64));
    good(cuCtxSynchronize, ());
    good(cuMemcpyHtoDAsync_v2, (a, from, 64, stream));
    good(cuMemcpyDtoDAsync_v2, (b, a, 64, stream));
    memset(to, 0, sizeof to);
    good(cuMemcpyDtoHAsync_v2, (to, b, 64, stream));
    good(cuStreamSynchronize, (stream));
    expect(!memcmp(from, to, 64));
    good(cuMemsetD8Async, (b, 0, 64, stream));
    good(cuMemcpyAsync, (b, a, 64, stream));
    good(cuStreamSynchronize, (stream));
    read_back(to, b, 64);
    expect(!memcmp(from, to, 64));
    good(cuMemcpyHtoD_v2, (a, from, 0));
    good(cuMemcpyDtoH_v2, (to, a, 0));
    bad(ERROR_INVALID_VALUE, cuMemcpyHtoD_v2, (0, from, 64));
    bad(ERROR_INVALID_VALUE, cuMemcpyDtoH_v2, (to, 0, 64));
    bad(ERROR_INVALID_VALUE, cuMemcpyDtoD_v2, (0, a, 64));
    bad(ERROR_INVALID_VALUE, cuMemcpyHtoDAsync_v2, (0, from, 64, stream));
    bad(ERROR_INVALID_VALUE, cuMemcpyDtoHAsync_v2, (to, 0, 64, stream));
    bad(ERROR_INVALID_VALUE, cuMemcpyDtoDAsync_v2, (0, a, 64, stream));
    bad(ERROR_INVALID_VALUE, cuMemcpy, (0, a, 64));
    bad(ERROR_INVALID_VALUE, cuMemcpyAsync, (0, a, 64, stream));
    bad(ERROR_INVALID_VALUE, cuMemcpyHtoD_v2, (a, NULL, 64));
    bad(ERROR_INVALID_VALUE, cuMemcpyDtoH_v2, (NULL, a, 64));
    release(a);
    release(b);
}

/* Between contexts: here they are one. */
TEST(memory, copies_between_contexts)
{
    gd_CUdeviceptr a = allocate(64), b = allocate(64);
    uint32_t from[16], to[16];

    for (uint32_t i = 0; i < 16; i++)
        from[i] = i * 5 + 2;
    good(cuMemcpyHtoD_v2, (a, from, 64));
    good(cuMemcpyPeer, (b, context, a, context, 64));
    read_back(to, b, 64);
    expect(!memcmp(from, to, 64));
    good(cuMemsetD8Async, (b, 0, 64, stream));
    good(cuMemcpyPeerAsync, (b, context, a, context, 64, stream));
    good(cuStreamSynchronize, (stream));
    read_back(to, b, 64);
    expect(!memcmp(from, to, 64));
    bad(ERROR_INVALID_VALUE, cuMemcpyPeer, (0, context, a, context, 64));
    bad(ERROR_INVALID_VALUE, cuMemcpyPeerAsync, (b, context, 0, context, 64, stream));
    release(a);
    release(b);
}

/* A copy that leaves its allocation by far. */
TEST(memory, copies_stay_in_their_allocation)
{
    gd_CUdeviceptr a = allocate(64);
    static unsigned char room[1 << 16];

    bad(ERROR_INVALID_VALUE, cuMemcpyHtoD_v2, (a, room, (size_t)1 << 40));
    bad(ERROR_INVALID_VALUE, cuMemsetD8_v2, (a, 0, (size_t)1 << 40));
    release(a);
}

/* WIDTH bytes of each row, from (8, 1) of one plane to (4, 0) of another. */
static gd_CUDA_MEMCPY2D plane_of(gd_CUdeviceptr from, gd_CUdeviceptr to)
{
    return (gd_CUDA_MEMCPY2D){.srcXInBytes = 8,
                              .srcY = 1,
                              .srcMemoryType = GD_CU_MEMORYTYPE_DEVICE,
                              .srcDevice = from,
                              .srcPitch = PITCH,
                              .dstXInBytes = 4,
                              .dstMemoryType = GD_CU_MEMORYTYPE_DEVICE,
                              .dstDevice = to,
                              .dstPitch = PITCH,
                              .WidthInBytes = WIDTH,
                              .Height = ROWS - 1};
}

static void check_plane(gd_CUdeviceptr from, gd_CUdeviceptr to)
{
    unsigned char source[PLANE], target[PLANE];

    read_back(source, from, PLANE);
    read_back(target, to, PLANE);
    for (int row = 0; row < ROWS; row++) {
        for (int i = 0; i < PITCH; i++) {
            bool inside = row < ROWS - 1 && i >= 4 && i < 4 + WIDTH;
            unsigned char expected = inside ? source[(row + 1) * PITCH + i + 4] : 0;
            ck_assert_msg(target[row * PITCH + i] == expected, "row %d, byte %d", row, i);
        }
    }
    good(cuMemsetD8_v2, (to, 0, PLANE));
    good(cuCtxSynchronize, ());
}

TEST(memory, planes_are_copied)
{
    unsigned char bytes[PLANE], line[WIDTH * (ROWS - 1)] = {0};

    for (int i = 0; i < PLANE; i++)
        bytes[i] = (unsigned char)(i * 7 + 1);
    gd_CUdeviceptr from = allocate_with(bytes, PLANE), to = allocate(PLANE);
    gd_CUDA_MEMCPY2D copy = plane_of(from, to);
    good(cuMemcpy2D_v2, (&copy));
    check_plane(from, to);
    good(cuMemcpy2DUnaligned_v2, (&copy));
    check_plane(from, to);
    good(cuMemcpy2DAsync_v2, (&copy, stream));
    good(cuStreamSynchronize, (stream));
    check_plane(from, to);
    gd_CUDA_MEMCPY2D out = copy;
    out.dstMemoryType = GD_CU_MEMORYTYPE_HOST;
    out.dstHost = line;
    out.dstXInBytes = 0;
    out.dstPitch = 0;
    good(cuMemcpy2D_v2, (&out));
    expect(line[0] == bytes[PITCH + 8] && line[WIDTH] == bytes[2 * PITCH + 8]);
    bad(ERROR_INVALID_VALUE, cuMemcpy2D_v2, (NULL));
    copy.srcMemoryType = 99;
    bad(ERROR_INVALID_VALUE, cuMemcpy2D_v2, (&copy));
    bad(ERROR_INVALID_VALUE, cuMemcpy2DUnaligned_v2, (&copy));
    bad(ERROR_INVALID_VALUE, cuMemcpy2DAsync_v2, (&copy, stream));
    copy = plane_of(from, to);
    copy.dstPitch = 8;
    bad(ERROR_INVALID_VALUE, cuMemcpy2D_v2, (&copy));
    release(from);
    release(to);
}

TEST(memory, boxes_are_copied)
{
    enum { DEPTH = 3 };
    unsigned char bytes[PLANE * DEPTH], result[PLANE * DEPTH];

    for (int i = 0; i < PLANE * DEPTH; i++)
        bytes[i] = (unsigned char)(i * 11 + 3);
    gd_CUdeviceptr from = allocate_with(bytes, sizeof bytes), to = allocate(sizeof bytes);
    gd_CUDA_MEMCPY3D copy = {.srcZ = 1,
                             .srcMemoryType = GD_CU_MEMORYTYPE_DEVICE,
                             .srcDevice = from,
                             .srcPitch = PITCH,
                             .srcHeight = ROWS,
                             .dstMemoryType = GD_CU_MEMORYTYPE_DEVICE,
                             .dstDevice = to,
                             .dstPitch = PITCH,
                             .dstHeight = ROWS,
                             .WidthInBytes = WIDTH,
                             .Height = 2,
                             .Depth = 2};
    for (int round = 0; round < 2; round++) {
        good(cuMemsetD8_v2, (to, 0, sizeof bytes));
        good(cuCtxSynchronize, ());
        if (round)
            good(cuMemcpy3DAsync_v2, (&copy, stream));
        else
            good(cuMemcpy3D_v2, (&copy));
        good(cuCtxSynchronize, ());
        read_back(result, to, sizeof result);
        for (int i = 0; i < PLANE * DEPTH; i++) {
            int z = i / PLANE, y = i % PLANE / PITCH, x = i % PITCH;
            bool inside = z < 2 && y < 2 && x < WIDTH;
            ck_assert_msg(result[i] == (inside ? bytes[i + PLANE] : 0), "byte %d", i);
        }
    }
    bad(ERROR_INVALID_VALUE, cuMemcpy3D_v2, (NULL));
    bad(ERROR_INVALID_VALUE, cuMemcpy3DAsync_v2, (NULL, stream));
    copy.srcMemoryType = 99;
    bad(ERROR_INVALID_VALUE, cuMemcpy3D_v2, (&copy));
    bad(ERROR_INVALID_VALUE, cuMemcpy3DAsync_v2, (&copy, stream));
    release(from);
    release(to);
}

/* ---- fills ---- */

static void check_fill(gd_CUdeviceptr address, const void *pattern, size_t size, size_t count)
{
    unsigned char bytes[256];

    good(cuCtxSynchronize, ());
    read_back(bytes, address, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        unsigned char expected = i < size * count ? ((const unsigned char *)pattern)[i % size] : 0;
        ck_assert_msg(bytes[i] == expected, "byte %zu is %u, expected %u", i, bytes[i], expected);
    }
    good(cuMemsetD8_v2, (address, 0, sizeof bytes));
    good(cuCtxSynchronize, ());
}

TEST(memory, lines_are_filled)
{
    const unsigned char one = 0xa5;
    const uint16_t two = 0x1234;
    const uint32_t four = 0xdeadbeef;
    gd_CUdeviceptr a = allocate(256);

    good(cuMemsetD8_v2, (a, one, 33));
    check_fill(a, &one, 1, 33);
    good(cuMemsetD16_v2, (a, two, 33));
    check_fill(a, &two, 2, 33);
    good(cuMemsetD32_v2, (a, four, 33));
    check_fill(a, &four, 4, 33);
    good(cuMemsetD8Async, (a, one, 7, stream));
    check_fill(a, &one, 1, 7);
    good(cuMemsetD16Async, (a, two, 7, stream));
    check_fill(a, &two, 2, 7);
    good(cuMemsetD32Async, (a, four, 7, stream));
    check_fill(a, &four, 4, 7);
    good(cuMemsetD32_v2, (a, four, 0));
    bad(ERROR_INVALID_VALUE, cuMemsetD8_v2, (0, 1, 4));
    bad(ERROR_INVALID_VALUE, cuMemsetD16_v2, (a + 1, 1, 4));
    bad(ERROR_INVALID_VALUE, cuMemsetD32_v2, (a + 2, 1, 4));
    bad(ERROR_INVALID_VALUE, cuMemsetD8Async, (0, 1, 4, stream));
    bad(ERROR_INVALID_VALUE, cuMemsetD16Async, (a + 1, 1, 4, stream));
    bad(ERROR_INVALID_VALUE, cuMemsetD32Async, (a + 2, 1, 4, stream));
    release(a);
}

/* Two rows of three elements, 64 bytes apart. */
static void check_rows(gd_CUdeviceptr address, const void *pattern, size_t size)
{
    unsigned char bytes[256];

    good(cuCtxSynchronize, ());
    read_back(bytes, address, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bool inside = i < 128 && i % 64 < 3 * size;
        unsigned char expected = inside ? ((const unsigned char *)pattern)[i % 64 % size] : 0;
        ck_assert_msg(bytes[i] == expected, "byte %zu is %u, expected %u", i, bytes[i], expected);
    }
    good(cuMemsetD8_v2, (address, 0, sizeof bytes));
    good(cuCtxSynchronize, ());
}

TEST(memory, planes_are_filled)
{
    const unsigned char one = 0xa5;
    const uint16_t two = 0x1234;
    const uint32_t four = 0xdeadbeef;
    gd_CUdeviceptr a = allocate(256);

    good(cuMemsetD2D8_v2, (a, 64, one, 3, 2));
    check_rows(a, &one, 1);
    good(cuMemsetD2D16_v2, (a, 64, two, 3, 2));
    check_rows(a, &two, 2);
    good(cuMemsetD2D32_v2, (a, 64, four, 3, 2));
    check_rows(a, &four, 4);
    good(cuMemsetD2D8Async, (a, 64, one, 3, 2, stream));
    check_rows(a, &one, 1);
    good(cuMemsetD2D16Async, (a, 64, two, 3, 2, stream));
    check_rows(a, &two, 2);
    good(cuMemsetD2D32Async, (a, 64, four, 3, 2, stream));
    check_rows(a, &four, 4);
    bad(ERROR_INVALID_VALUE, cuMemsetD2D8_v2, (0, 64, 1, 3, 2));
    bad(ERROR_INVALID_VALUE, cuMemsetD2D16_v2, (a + 1, 64, 1, 3, 2));
    bad(ERROR_INVALID_VALUE, cuMemsetD2D32_v2, (a, 2, 1, 3, 2));
    bad(ERROR_INVALID_VALUE, cuMemsetD2D8Async, (0, 64, 1, 3, 2, stream));
    bad(ERROR_INVALID_VALUE, cuMemsetD2D16Async, (a + 1, 64, 1, 3, 2, stream));
    bad(ERROR_INVALID_VALUE, cuMemsetD2D32Async, (a + 2, 64, 1, 3, 2, stream));
    release(a);
}

/* ---- pointers ---- */

TEST(memory, pointers)
{
    gd_CUdeviceptr address = allocate(1000), start = 0;
    gd_CUcontext owner = NULL;
    unsigned type = 0;
    unsigned managed = 0;
    int ordinal = -1;
    size_t bytes = 0;
    void *host = NULL;

    good(cuPointerGetAttribute, (&owner, GD_CU_POINTER_ATTRIBUTE_CONTEXT, address));
    expect(owner == context);
    good(cuPointerGetAttribute, (&type, GD_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 10));
    expect(type == GD_CU_MEMORYTYPE_DEVICE);
    good(cuPointerGetAttribute, (&ordinal, GD_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
    expect(ordinal == device);
    good(cuPointerGetAttribute, (&start, GD_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 10));
    expect(start == address);
    good(cuPointerGetAttribute, (&bytes, GD_CU_POINTER_ATTRIBUTE_RANGE_SIZE, address + 10));
    expect(bytes == 1000);
    good(cuPointerGetAttribute, (&managed, GD_CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
    expect(managed == 0);
    good(cuPointerGetAttribute, (&start, GD_CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address + 10));
    expect(start == address + 10);
    bad(ERROR_INVALID_VALUE, cuPointerGetAttribute,
        (&host, GD_CU_POINTER_ATTRIBUTE_HOST_POINTER, address));
    bad(ERROR_INVALID_VALUE, cuPointerGetAttribute,
        (NULL, GD_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
    bad(ERROR_INVALID_VALUE, cuPointerGetAttribute, (&type, 1000, address));
    bad(ERROR_INVALID_VALUE, cuPointerGetAttribute,
        (&type, GD_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0x1234500));
    good(cuMemAllocHost_v2, (&host, 64));
    good(cuPointerGetAttribute,
         (&type, GD_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (gd_CUdeviceptr)(uintptr_t)host));
    expect(type == GD_CU_MEMORYTYPE_HOST);
    good(cuMemFreeHost, (host));
    release(address);
}

TEST(memory, several_facts_of_pointers)
{
    gd_CUdeviceptr address = allocate(1000);
    int32_t names[] = {GD_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, GD_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    unsigned type = 99;
    int ordinal = 99;
    void *data[] = {&type, &ordinal};
    int local = 0;

    good(cuPointerGetAttributes, (2, names, data, address));
    expect(type == GD_CU_MEMORYTYPE_DEVICE && ordinal == device);
    good(cuPointerGetAttributes, (2, names, data, (gd_CUdeviceptr)(uintptr_t)&local));
    expect(type == 0 && ordinal == -2);
    bad(ERROR_INVALID_VALUE, cuPointerGetAttributes, (0, names, data, address));
    bad(ERROR_INVALID_VALUE, cuPointerGetAttributes, (2, NULL, data, address));
    bad(ERROR_INVALID_VALUE, cuPointerGetAttributes, (2, names, NULL, address));
    names[0] = 1000;
    bad(ERROR_INVALID_VALUE, cuPointerGetAttributes, (2, names, data, address));
    release(address);
}

SUITE(memory, "memory")

/* Arrays, copies from and to them, texture objects, and what tex reads by the rules of the CUDA
 * programming guide
 * ("Texture Fetching"). */
#include "conformance.h"

enum { WIDTH = 8, HEIGHT = 4, FETCHES = 8 };

static const char kernels[] = PTX_HEAD
    ".visible .entry at_index(.param .u64 texture, .param .u64 in, .param .u64 out)\n"
    "{\n.reg .u64 %t, %i, %o, %n;\n.reg .s32 %x;\n.reg .b32 %v<4>;\n.reg .u32 %l;\n"
    "ld.param.u64 %t, [texture];\nld.param.u64 %i, [in];\nld.param.u64 %o, [out];\n"
    "mov.u32 %l, %tid.x;\nmul.wide.u32 %n, %l, 4;\nadd.u64 %i, %i, %n;\nmul.wide.u32 %n, %l, 16;\n"
    "add.u64 %o, %o, %n;\nld.global.s32 %x, [%i];\n"
    "tex.1d.v4.u32.s32 {%v0, %v1, %v2, %v3}, [%t, {%x}];\n"
    "st.global.v4.b32 [%o], {%v0, %v1, %v2, %v3};\nret;\n}\n"
    ".visible .entry on_line(.param .u64 texture, .param .u64 in, .param .u64 out)\n"
    "{\n.reg .u64 %t, %i, %o, %n;\n.reg .f32 %x;\n.reg .b32 %v<4>;\n.reg .u32 %l;\n"
    "ld.param.u64 %t, [texture];\nld.param.u64 %i, [in];\nld.param.u64 %o, [out];\n"
    "mov.u32 %l, %tid.x;\nmul.wide.u32 %n, %l, 4;\nadd.u64 %i, %i, %n;\nmul.wide.u32 %n, %l, 16;\n"
    "add.u64 %o, %o, %n;\nld.global.f32 %x, [%i];\n"
    "tex.1d.v4.f32.f32 {%v0, %v1, %v2, %v3}, [%t, {%x}];\n"
    "st.global.v4.b32 [%o], {%v0, %v1, %v2, %v3};\nret;\n}\n"
    ".visible .entry on_plane(.param .u64 texture, .param .u64 in, .param .u64 out)\n"
    "{\n.reg .u64 %t, %i, %o, %n;\n.reg .f32 %x, %y;\n.reg .b32 %v<4>;\n.reg .u32 %l;\n"
    "ld.param.u64 %t, [texture];\nld.param.u64 %i, [in];\nld.param.u64 %o, [out];\n"
    "mov.u32 %l, %tid.x;\nmul.wide.u32 %n, %l, 8;\nadd.u64 %i, %i, %n;\nmul.wide.u32 %n, %l, 16;\n"
    "add.u64 %o, %o, %n;\nld.global.v2.f32 {%x, %y}, [%i];\n"
    "tex.2d.v4.s32.f32 {%v0, %v1, %v2, %v3}, [%t, {%x, %y}];\n"
    "st.global.v4.b32 [%o], {%v0, %v1, %v2, %v3};\nret;\n}\n";

/* Fetches at FETCHES places, whose first channels are read back. */
static void fetch(const char *kernel, gd_CUtexObject texture, const void *places,
                  size_t place_bytes, uint32_t *texels, uint32_t channels)
{
    gd_CUmodule module = load(kernels);
    gd_CUdeviceptr in = allocate_with(places, FETCHES * place_bytes),
                   out = allocate((size_t)FETCHES * 16);
    uint32_t all[FETCHES][4];

    run(function_of(module, kernel), 1, FETCHES, (void *[]){&texture, &in, &out});
    read_back(all, out, sizeof all);
    for (uint32_t i = 0; i < FETCHES; i++)
        memcpy(texels + (size_t)i * channels, all[i], channels * sizeof *texels);
    release(in);
    release(out);
    good(cuModuleUnload, (module));
}

static gd_CUarray new_array(size_t width, size_t height, int32_t format, unsigned channels)
{
    const gd_CUDA_ARRAY_DESCRIPTOR wanted = {
        .Width = width, .Height = height, .Format = format, .NumChannels = channels};
    gd_CUarray array = NULL;

    good(cuArrayCreate_v2, (&array, &wanted));
    return array;
}

static gd_CUtexObject texture_of(const gd_CUDA_RESOURCE_DESC *resource,
                                 const gd_CUDA_TEXTURE_DESC *sampling)
{
    gd_CUtexObject texture = 0;

    good(cuTexObjectCreate, (&texture, resource, sampling, NULL));
    return texture;
}

static gd_CUtexObject texture_of_array(gd_CUarray array, const gd_CUDA_TEXTURE_DESC *sampling)
{
    const gd_CUDA_RESOURCE_DESC resource = {.resType = GD_CU_RESOURCE_TYPE_ARRAY,
                                            .res.array.hArray = array};

    return texture_of(&resource, sampling);
}

static gd_CUDA_TEXTURE_DESC sampling_of(int32_t mode, int32_t filter, unsigned flags)
{
    return (gd_CUDA_TEXTURE_DESC){
        .addressMode = {mode, mode, mode}, .filterMode = filter, .flags = flags};
}

static bool are_same(const float *found, const float *wanted, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(found[i] == wanted[i]))
            return false;
    }
    return true;
}

/* ---- linear memory ---- */

START_TEST(linear_memory_is_read_by_index)
{
    static const uint32_t words[WIDTH] = {10, 11, 12, 13, 14, 15, 16, 17};
    static const int32_t places[FETCHES] = {0, 3, 7, 1, -1, 8, INT32_MAX, INT32_MIN};
    static const uint32_t wanted[FETCHES] = {10, 13, 17, 11, 0, 0, 0, 0};
    gd_CUdeviceptr memory = allocate_with(words, sizeof words);
    const gd_CUDA_RESOURCE_DESC resource = {.resType = GD_CU_RESOURCE_TYPE_LINEAR,
                                            .res.linear = {.devPtr = memory,
                                                           .format = GD_CU_AD_FORMAT_UNSIGNED_INT32,
                                                           .numChannels = 1,
                                                           .sizeInBytes = sizeof words}};
    const gd_CUDA_TEXTURE_DESC sampling = sampling_of(1, 0, GD_CU_TRSF_READ_AS_INTEGER);
    gd_CUtexObject texture = texture_of(&resource, &sampling);
    uint32_t found[FETCHES];

    fetch("at_index", texture, places, sizeof *places, found, 1);
    expect(!memcmp(found, wanted, sizeof found));
    good(cuTexObjectDestroy, (texture));
    release(memory);
}
END_TEST

/* Each format, with 1, 2 and 4 channels: texel 1 of linear memory whose bytes count up. */
START_TEST(formats)
{
    static const int32_t all[] = {GD_CU_AD_FORMAT_UNSIGNED_INT8,  GD_CU_AD_FORMAT_UNSIGNED_INT16,
                                  GD_CU_AD_FORMAT_UNSIGNED_INT32, GD_CU_AD_FORMAT_SIGNED_INT8,
                                  GD_CU_AD_FORMAT_SIGNED_INT16,   GD_CU_AD_FORMAT_SIGNED_INT32};
    static const uint32_t bytes[] = {1, 2, 4, 1, 2, 4};
    static const int32_t places[FETCHES] = {1, 1, 1, 1, 1, 1, 1, 1};
    const int32_t format = all[_i / 3];
    const uint32_t width = bytes[_i / 3], channels = 1u << _i % 3;
    unsigned char data[32];
    uint32_t found[FETCHES * 4];

    for (uint32_t i = 0; i < sizeof data; i++)
        data[i] = (unsigned char)(0xe0 + i);
    gd_CUdeviceptr memory = allocate_with(data, sizeof data);
    const gd_CUDA_RESOURCE_DESC resource = {
        .resType = GD_CU_RESOURCE_TYPE_LINEAR,
        .res.linear = {.devPtr = memory,
                       .format = format,
                       .numChannels = channels,
                       .sizeInBytes = (size_t)width * channels * 2}};
    const gd_CUDA_TEXTURE_DESC sampling = sampling_of(1, 0, GD_CU_TRSF_READ_AS_INTEGER);
    gd_CUtexObject texture = texture_of(&resource, &sampling);
    fetch("at_index", texture, places, sizeof *places, found, channels);
    for (uint32_t i = 0; i < channels; i++) {
        uint32_t wanted = 0;
        memcpy(&wanted, data + (size_t)(channels + i) * width, width);
        if (_i >= 9 && width < 4 && wanted >> (8 * width - 1))
            wanted |= UINT32_MAX << 8 * width;
        expect(found[i] == wanted);
    }
    good(cuTexObjectDestroy, (texture));
    release(memory);
}
END_TEST

/* Integers of 8 and 16 bits become [0, 1] and [-1, 1], halves become floats. */
START_TEST(numbers_that_become_floats)
{
    static const struct {
        int32_t format;
        uint16_t bits[4];
        float wanted[4];
    } rows[] = {{GD_CU_AD_FORMAT_UNSIGNED_INT8, {0, 255, 255, 0}, {0, 1, 1, 0}},
                {GD_CU_AD_FORMAT_SIGNED_INT8, {0, 127, 0x81, 0x80}, {0, 1, -1, -1}},
                {GD_CU_AD_FORMAT_UNSIGNED_INT16, {0, 0xffff, 0, 0xffff}, {0, 1, 0, 1}},
                {GD_CU_AD_FORMAT_SIGNED_INT16, {0, 0x7fff, 0x8001, 0x8000}, {0, 1, -1, -1}},
                {GD_CU_AD_FORMAT_HALF,
                 {0x3c00, 0xc000, 0x3555, 0x0001},
                 {1, -2, 0.333251953125f, 0x1p-24f}}};
    static const float places[FETCHES] = {0.5f, 1.5f, 2.5f, 3.5f, 0, 1, 2, 3};
    const bool narrow = _i < 2;
    const gd_CUDA_TEXTURE_DESC sampling = sampling_of(1, 0, 0);
    gd_CUarray array = new_array(4, 0, rows[_i].format, 1);
    unsigned char bytes[4];
    float found[FETCHES];

    for (uint32_t i = 0; i < 4; i++)
        bytes[i] = (unsigned char)rows[_i].bits[i];
    good(cuMemcpyHtoA_v2, (array, 0, narrow ? (const void *)bytes : rows[_i].bits, narrow ? 4 : 8));
    gd_CUtexObject texture = texture_of_array(array, &sampling);
    fetch("on_line", texture, places, sizeof *places, (uint32_t *)(void *)found, 1);
    expect(are_same(found, rows[_i].wanted, 4) && are_same(found + 4, rows[_i].wanted, 4));
    good(cuTexObjectDestroy, (texture));
    good(cuArrayDestroy, (array));
}
END_TEST

/* ---- addresses and filters ---- */

#define NORMALIZED GD_CU_TRSF_NORMALIZED_COORDINATES

static const struct {
    int32_t mode, filter;
    unsigned flags;
    float places[FETCHES], wanted[FETCHES]; /* the texels are 0, 256, 512, 768 */
} lines[] = {
    {1, 0, 0, {0, 0.99f, 1, 3.99f, 4, 100, -0.5f, -100}, {0, 0, 256, 768, 768, 768, 0, 0}},
    {3, 0, 0, {0, 0.99f, 1, 3.99f, 4, 100, -0.5f, -100}, {0, 0, 256, 768, 0, 0, 0, 0}},
    {1,
     0,
     NORMALIZED,
     {0, 0.25f, 0.5f, 0.75f, 1, 2, -1, 0.24f},
     {0, 256, 512, 768, 768, 768, 0, 0}},
    {0,
     0,
     NORMALIZED,
     {0, 1, 1.25f, -0.25f, -1, 10.5f, -0.75f, 3.75f},
     {0, 0, 256, 768, 0, 512, 256, 768}},
    {2,
     0,
     NORMALIZED,
     {0, 1.125f, 1.375f, 1.875f, -0.125f, -0.375f, 2.25f, 2.75f},
     {0, 768, 512, 0, 0, 256, 256, 768}},
    {1, 1, 0, {0.5f, 1, 1.5f, 1.25f, 3.5f, 9, -9, 2}, {0, 128, 256, 192, 768, 768, 0, 384}},
    {1,
     1,
     0,
     {0.5f + 1 / 256.0f, 0.5f + 255 / 256.0f, 0, 4, 0.25f, 2.5f, 3, 3.75f},
     {1, 255, 0, 768, 0, 512, 640, 768}},
    /* the border stands above the line too */
    {3, 1, 0, {3.5f, 4, 4.5f, 5, 0, 1, 0.5f, 100}, {384, 192, 0, 0, 0, 64, 0, 0}},
    {3,
     1,
     NORMALIZED,
     {0.125f, 0.375f, 0.625f, 0.875f, 1, 0.25f, -1, 2},
     {0, 128, 256, 384, 192, 64, 0, 0}},
    {0,
     1,
     NORMALIZED,
     {0.125f, 0, 1, 0.25f, -0.25f, 0.9375f, 1.125f, 0.5f},
     {0, 384, 384, 128, 640, 576, 0, 384}},
    {2,
     1,
     NORMALIZED,
     {0.125f, 0, 1, 0.25f, -0.25f, 1.25f, 1.125f, 0.5f},
     {0, 0, 768, 128, 128, 640, 768, 384}},
};

START_TEST(places_on_a_line)
{
    static const float texels[4] = {0, 256, 512, 768};
    const gd_CUDA_TEXTURE_DESC sampling =
        sampling_of(lines[_i].mode, lines[_i].filter, lines[_i].flags);
    gd_CUarray array = new_array(4, 0, GD_CU_AD_FORMAT_FLOAT, 1);
    float found[FETCHES];

    good(cuMemcpyHtoA_v2, (array, 0, texels, sizeof texels));
    gd_CUtexObject texture = texture_of_array(array, &sampling);
    fetch("on_line", texture, lines[_i].places, sizeof(float), (uint32_t *)(void *)found, 1);
    for (uint32_t i = 0; i < FETCHES; i++) {
        if (!(found[i] == lines[_i].wanted[i])) {
            char message[128];
            snprintf(message, sizeof message, "row %d at %g: %g, not %g", _i,
                     (double)lines[_i].places[i], (double)found[i], (double)lines[_i].wanted[i]);
            driver_differs(message, __FILE__, __LINE__);
        }
    }
    good(cuTexObjectDestroy, (texture));
    good(cuArrayDestroy, (array));
}
END_TEST

/* T[x, y] = 16 x + 256 y, read in an array and in pitched memory. */
static void fill_plane(float texels[HEIGHT][WIDTH])
{
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++)
            texels[y][x] = (float)(16 * x + 256 * y);
    }
}

static const float on_plane[FETCHES][2] = {{0.5f, 0.5f}, {1.5f, 2.5f}, {2, 1.5f}, {1.5f, 2},
                                           {2, 2},       {7.5f, 3.5f}, {100, -1}, {-1, 100}};

static void check_plane(gd_CUtexObject texture, bool filtered)
{
    static const float point[FETCHES] = {0, 528, 288, 528, 544, 880, 112, 768},
                       linear[FETCHES] = {0, 528, 280, 400, 408, 880, 112, 768};
    float found[FETCHES];

    fetch("on_plane", texture, on_plane, sizeof on_plane[0], (uint32_t *)(void *)found, 1);
    expect(are_same(found, filtered ? linear : point, FETCHES));
}

START_TEST(places_on_an_array)
{
    const gd_CUDA_TEXTURE_DESC sampling = sampling_of(1, _i, 0);
    gd_CUarray array = new_array(WIDTH, HEIGHT, GD_CU_AD_FORMAT_FLOAT, 1);
    float texels[HEIGHT][WIDTH];
    const gd_CUDA_MEMCPY2D copy = {.srcMemoryType = GD_CU_MEMORYTYPE_HOST,
                                   .srcHost = texels,
                                   .srcPitch = sizeof texels[0],
                                   .dstMemoryType = GD_CU_MEMORYTYPE_ARRAY,
                                   .dstArray = array,
                                   .WidthInBytes = sizeof texels[0],
                                   .Height = HEIGHT};

    fill_plane(texels);
    good(cuMemcpy2D_v2, (&copy));
    gd_CUtexObject texture = texture_of_array(array, &sampling);
    check_plane(texture, _i);
    good(cuTexObjectDestroy, (texture));
    good(cuArrayDestroy, (array));
}
END_TEST

START_TEST(places_in_pitched_memory)
{
    const gd_CUDA_TEXTURE_DESC sampling = sampling_of(1, _i, 0);
    float texels[HEIGHT][WIDTH];
    gd_CUdeviceptr memory;
    size_t pitch;

    fill_plane(texels);
    good(cuMemAllocPitch_v2, (&memory, &pitch, sizeof texels[0], HEIGHT, 4));
    const gd_CUDA_MEMCPY2D copy = {.srcMemoryType = GD_CU_MEMORYTYPE_HOST,
                                   .srcHost = texels,
                                   .srcPitch = sizeof texels[0],
                                   .dstMemoryType = GD_CU_MEMORYTYPE_DEVICE,
                                   .dstDevice = memory,
                                   .dstPitch = pitch,
                                   .WidthInBytes = sizeof texels[0],
                                   .Height = HEIGHT};
    good(cuMemcpy2D_v2, (&copy));
    const gd_CUDA_RESOURCE_DESC resource = {.resType = GD_CU_RESOURCE_TYPE_PITCH2D,
                                            .res.pitch2D = {.devPtr = memory,
                                                            .format = GD_CU_AD_FORMAT_FLOAT,
                                                            .numChannels = 1,
                                                            .width = WIDTH,
                                                            .height = HEIGHT,
                                                            .pitchInBytes = pitch}};
    gd_CUtexObject texture = texture_of(&resource, &sampling);
    check_plane(texture, _i);
    good(cuTexObjectDestroy, (texture));
    release(memory);
}
END_TEST

/* ---- copies ---- */

START_TEST(copies_of_lines)
{
    static const uint32_t words[WIDTH] = {1, 2, 3, 4, 5, 6, 7, 8},
                          wanted[WIDTH] = {1, 2, 3, 1, 2, 6, 7, 8};
    gd_CUarray array = new_array(WIDTH, 0, GD_CU_AD_FORMAT_UNSIGNED_INT32, 1);
    gd_CUdeviceptr memory = allocate(sizeof words);
    uint32_t back[WIDTH] = {0}, again[WIDTH] = {0};

    good(cuMemcpyHtoAAsync_v2, (array, 0, words, sizeof words, stream));
    good(cuStreamSynchronize, (stream));
    good(cuMemcpyAtoD_v2, (memory, array, 0, sizeof words));
    good(cuMemcpyDtoA_v2, (array, 12, memory, 8));
    good(cuMemcpyAtoH_v2, (back, array, 0, sizeof back));
    good(cuMemcpyAtoHAsync_v2, (again, array, 0, sizeof again, stream));
    good(cuStreamSynchronize, (stream));
    expect(!memcmp(back, wanted, sizeof back) && !memcmp(again, wanted, sizeof again));
    bad(ERROR_INVALID_VALUE, cuMemcpyHtoA_v2, (array, 4, words, sizeof words));
    bad(ERROR_INVALID_VALUE, cuMemcpyAtoH_v2, (back, array, sizeof words, 4));
    bad(ERROR_INVALID_VALUE, cuMemcpyDtoA_v2, (array, 28, memory, 8));
    bad(ERROR_INVALID_VALUE, cuMemcpyAtoD_v2, (memory, array, 28, 8));
    bad(ERROR_INVALID_VALUE, cuMemcpyHtoAAsync_v2, (array, 4, words, sizeof words, stream));
    bad(ERROR_INVALID_VALUE, cuMemcpyAtoHAsync_v2, (back, array, SIZE_MAX - 3, 8, stream));
    release(memory);
    good(cuArrayDestroy, (array));
}
END_TEST

START_TEST(copies_of_planes)
{
    gd_CUarray array = new_array(WIDTH, HEIGHT, GD_CU_AD_FORMAT_UNSIGNED_INT8, 2);
    unsigned char part[2][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}}, back[2][4] = {{0}};
    const gd_CUDA_MEMCPY2D in = {.srcMemoryType = GD_CU_MEMORYTYPE_HOST,
                                 .srcHost = part,
                                 .srcPitch = 4,
                                 .dstMemoryType = GD_CU_MEMORYTYPE_ARRAY,
                                 .dstArray = array,
                                 .dstXInBytes = 12,
                                 .dstY = 2,
                                 .WidthInBytes = 4,
                                 .Height = 2},
                           out = {.srcMemoryType = GD_CU_MEMORYTYPE_ARRAY,
                                  .srcArray = array,
                                  .srcXInBytes = 12,
                                  .srcY = 2,
                                  .dstMemoryType = GD_CU_MEMORYTYPE_HOST,
                                  .dstHost = back,
                                  .dstPitch = 4,
                                  .WidthInBytes = 4,
                                  .Height = 2};
    gd_CUDA_MEMCPY2D wrong = in;

    good(cuMemcpy2D_v2, (&in));
    good(cuMemcpy2DAsync_v2, (&out, stream));
    good(cuStreamSynchronize, (stream));
    expect(!memcmp(part, back, sizeof part));
    wrong.dstY = 3;
    bad(ERROR_INVALID_VALUE, cuMemcpy2D_v2, (&wrong));
    wrong = in;
    wrong.dstXInBytes = 14;
    bad(ERROR_INVALID_VALUE, cuMemcpy2DAsync_v2, (&wrong, stream));
    wrong.dstXInBytes = SIZE_MAX - 1;
    bad(ERROR_INVALID_VALUE, cuMemcpy2D_v2, (&wrong));
    if (!DIFFERS(FREED_HANDLE)) {
        wrong = in;
        wrong.dstArray = NULL;
        bad(ERROR_INVALID_VALUE, cuMemcpy2D_v2, (&wrong));
    }
    good(cuArrayDestroy, (array));
}
END_TEST

/* ---- descriptors ---- */

START_TEST(arrays_are_described)
{
    const gd_CUDA_ARRAY3D_DESCRIPTOR wanted = {
        .Width = WIDTH, .Height = HEIGHT, .Format = GD_CU_AD_FORMAT_HALF, .NumChannels = 4};
    gd_CUDA_ARRAY3D_DESCRIPTOR box;
    gd_CUDA_ARRAY_DESCRIPTOR plane;
    gd_CUarray array;

    good(cuArray3DCreate_v2, (&array, &wanted));
    good(cuArray3DGetDescriptor_v2, (&box, array));
    good(cuArrayGetDescriptor_v2, (&plane, array));
    expect(box.Width == WIDTH && box.Height == HEIGHT && box.Depth == 0 &&
           box.Format == GD_CU_AD_FORMAT_HALF && box.NumChannels == 4 && box.Flags == 0);
    expect(plane.Width == WIDTH && plane.Height == HEIGHT && plane.Format == GD_CU_AD_FORMAT_HALF &&
           plane.NumChannels == 4);
    good(cuArrayDestroy, (array));
}
END_TEST

START_TEST(arrays_are_refused)
{
    const gd_CUDA_ARRAY_DESCRIPTOR good_one = {
        .Width = WIDTH, .Height = HEIGHT, .Format = GD_CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    gd_CUDA_ARRAY3D_DESCRIPTOR box = {
        .Width = 0, .Format = GD_CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    gd_CUDA_ARRAY_DESCRIPTOR plane = good_one;
    gd_CUarray array = NULL;

    plane.Width = 0;
    bad(ERROR_INVALID_VALUE, cuArrayCreate_v2, (&array, &plane));
    plane.Width = 131073;
    bad(ERROR_INVALID_VALUE, cuArrayCreate_v2, (&array, &plane));
    plane = good_one;
    plane.NumChannels = 3;
    bad(ERROR_INVALID_VALUE, cuArrayCreate_v2, (&array, &plane));
    plane = good_one;
    plane.Format = 4;
    bad(ERROR_INVALID_VALUE, cuArrayCreate_v2, (&array, &plane));
    bad(ERROR_INVALID_VALUE, cuArray3DCreate_v2, (&array, &box));
    if (DIFFERS(UNCHECKED_ARGUMENT))
        return;
    bad(ERROR_INVALID_VALUE, cuArrayCreate_v2, (NULL, &good_one));
    bad(ERROR_INVALID_VALUE, cuArrayCreate_v2, (&array, NULL));
    bad(ERROR_INVALID_VALUE, cuArray3DCreate_v2, (&array, NULL));
    bad(ERROR_INVALID_HANDLE, cuArrayDestroy, (NULL));
    bad(ERROR_INVALID_HANDLE, cuArrayGetDescriptor_v2, (&plane, (gd_CUarray)(uintptr_t)stream));
    bad(ERROR_INVALID_HANDLE, cuArray3DGetDescriptor_v2, (&box, NULL));
    good(cuArrayCreate_v2, (&array, &good_one));
    bad(ERROR_INVALID_VALUE, cuArrayGetDescriptor_v2, (NULL, array));
    bad(ERROR_INVALID_VALUE, cuArray3DGetDescriptor_v2, (NULL, array));
    bad(ERROR_INVALID_VALUE, cuMemFree_v2, ((gd_CUdeviceptr)(uintptr_t)array));
    bad(ERROR_INVALID_VALUE, cuTexObjectDestroy, ((gd_CUtexObject)(uintptr_t)array));
    bad(ERROR_INVALID_VALUE, cuMemcpyDtoH_v2, (&plane, (gd_CUdeviceptr)(uintptr_t)array, 8));
    good(cuArrayDestroy, (array));
    bad(ERROR_INVALID_HANDLE, cuArrayDestroy, (array));
}
END_TEST

START_TEST(textures_are_described)
{
    gd_CUarray array = new_array(WIDTH, HEIGHT, GD_CU_AD_FORMAT_FLOAT, 1);
    const gd_CUDA_TEXTURE_DESC sampling = sampling_of(3, 1, GD_CU_TRSF_NORMALIZED_COORDINATES);
    gd_CUtexObject texture = texture_of_array(array, &sampling);
    gd_CUDA_RESOURCE_DESC resource;
    gd_CUDA_TEXTURE_DESC found;

    good(cuTexObjectGetResourceDesc, (&resource, texture));
    good(cuTexObjectGetTextureDesc, (&found, texture));
    expect(resource.resType == GD_CU_RESOURCE_TYPE_ARRAY && resource.res.array.hArray == array);
    expect(found.addressMode[0] == 3 && found.addressMode[1] == 3 && found.filterMode == 1 &&
           found.flags == GD_CU_TRSF_NORMALIZED_COORDINATES);
    good(cuTexObjectDestroy, (texture));
    if (!DIFFERS(FREED_HANDLE)) {
        bad(ERROR_INVALID_VALUE, cuTexObjectGetResourceDesc, (&resource, texture));
        bad(ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc, (&found, texture));
        bad(ERROR_INVALID_VALUE, cuTexObjectDestroy, (texture));
    }
    good(cuArrayDestroy, (array));
}
END_TEST

START_TEST(textures_are_refused)
{
    gd_CUdeviceptr memory = allocate(4096);
    const gd_CUDA_TEXTURE_DESC sampling = sampling_of(1, 0, 0);
    const gd_CUDA_RESOURCE_DESC line = {.resType = GD_CU_RESOURCE_TYPE_LINEAR,
                                        .res.linear = {.devPtr = memory,
                                                       .format = GD_CU_AD_FORMAT_FLOAT,
                                                       .numChannels = 1,
                                                       .sizeInBytes = 4096}};
    const gd_CUDA_RESOURCE_DESC plane = {.resType = GD_CU_RESOURCE_TYPE_PITCH2D,
                                         .res.pitch2D = {.devPtr = memory,
                                                         .format = GD_CU_AD_FORMAT_FLOAT,
                                                         .numChannels = 1,
                                                         .width = 8,
                                                         .height = 4,
                                                         .pitchInBytes = 64}};
    gd_CUDA_RESOURCE_DESC wrong = line;
    gd_CUtexObject texture;

    wrong.res.linear.devPtr = memory + 4;
    bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &wrong, &sampling, NULL));
    wrong = line;
    wrong.res.linear.numChannels = 3;
    bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &wrong, &sampling, NULL));
    wrong = line;
    wrong.resType = 4;
    bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &wrong, &sampling, NULL));
    wrong = plane;
    wrong.res.pitch2D.pitchInBytes = 40;
    bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &wrong, &sampling, NULL));
    if (!DIFFERS(UNCHECKED_ARGUMENT)) {
        gd_CUDA_TEXTURE_DESC other = sampling;
        wrong = plane;
        wrong.res.pitch2D.height = 65;
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &wrong, &sampling, NULL));
        wrong = plane;
        wrong.res.pitch2D.width = 17;
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &wrong, &sampling, NULL));
        wrong = line;
        wrong.res.linear.sizeInBytes = 4100;
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &wrong, &sampling, NULL));
        wrong = line;
        wrong.flags = 1;
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &wrong, &sampling, NULL));
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (NULL, &line, &sampling, NULL));
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, NULL, &sampling, NULL));
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &line, NULL, NULL));
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate,
            (&texture, &line, &sampling, (const void *)&line));
        wrong = (gd_CUDA_RESOURCE_DESC){.resType = GD_CU_RESOURCE_TYPE_ARRAY};
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &wrong, &sampling, NULL));
        other.filterMode = 2;
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &plane, &other, NULL));
        other = sampling;
        other.addressMode[1] = 4;
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &plane, &other, NULL));
        wrong = plane;
        wrong.res.pitch2D.format = GD_CU_AD_FORMAT_SIGNED_INT32;
        other = sampling_of(1, 1, 0);
        bad(ERROR_INVALID_VALUE, cuTexObjectCreate, (&texture, &wrong, &other, NULL));
        bad(ERROR_INVALID_VALUE, cuTexObjectGetResourceDesc, (NULL, 0));
        bad(ERROR_INVALID_VALUE, cuTexObjectGetTextureDesc, (NULL, 0));
    }
    if (on_emulator) {
        gd_CUDA_TEXTURE_DESC other = sampling_of(1, 0, GD_CU_TRSF_SRGB);
        wrong = (gd_CUDA_RESOURCE_DESC){.resType = GD_CU_RESOURCE_TYPE_MIPMAPPED_ARRAY};
        bad(ERROR_NOT_SUPPORTED, cuTexObjectCreate, (&texture, &wrong, &sampling, NULL));
        bad(ERROR_NOT_SUPPORTED, cuTexObjectCreate, (&texture, &line, &other, NULL));
    }
    release(memory);
}
END_TEST

Suite *texture_suite(void)
{
    const conformance_case fetches[] = {{linear_memory_is_read_by_index, 0},
                                        {formats, 18},
                                        {numbers_that_become_floats, 5},
                                        {places_on_a_line, COUNT_OF(lines)},
                                        {places_on_an_array, 2},
                                        {places_in_pitched_memory, 2}};
    const conformance_case objects[] = {{copies_of_lines, 0},        {copies_of_planes, 0},
                                        {arrays_are_described, 0},   {arrays_are_refused, 0},
                                        {textures_are_described, 0}, {textures_are_refused, 0}};
    Suite *suite = suite_create("texture");

    add_cases(suite, "fetches", setup_context, teardown_context, fetches, COUNT_OF(fetches));
    add_cases(suite, "objects", setup_context, teardown_context, objects, COUNT_OF(objects));
    return suite;
}

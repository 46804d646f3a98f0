/* The launch shapes that kernels of the shelf are best at. Their head comments tell the shapes that
 * were measured on an H200; here they are fitted to a device's limits. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "run/module/shape.h"

/* What a family's function is given. */
typedef struct shape_request {
    const griddep_runtime_info *device;
    const griddep_argument *arguments;
    const uint8_t *places; /* of the arguments that the family looks at */
    uint32_t unit;         /* of the table's row */
    griddep_launch_config *config;
} shape_request;

static uint64_t value(const shape_request *request, uint32_t which)
{
    const griddep_argument *argument = &request->arguments[request->places[which]];
    uint64_t bits = 0;

    memcpy(&bits, argument->data ? argument->data : (const void *)&argument->value,
           argument->bytes < 8 ? argument->bytes : 8);
    return bits;
}

static uint32_t least_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Shared memory of a block, two of which fit a multiprocessor beside what the driver keeps of each,
 * so that a dependent fits beside it: 112 KiB of the 228 of sm_90. */
static uint32_t half_shared(const griddep_runtime_info *device)
{
    uint32_t half = (device->shared_bytes_per_multiprocessor / 2 - 1024) / 2048 * 2048;

    return least_of(half, device->shared_bytes_per_block);
}

/* So many 32nds of a multiprocessor's shared memory, beside what the driver keeps. */
static uint32_t part_of(const griddep_runtime_info *device, uint32_t parts)
{
    const uint64_t bytes = (uint64_t)device->shared_bytes_per_multiprocessor * parts / 32;

    return least_of((uint32_t)((bytes - 1024) / 2048 * 2048), device->shared_bytes_per_block);
}

static void set(const shape_request *request, uint64_t blocks, uint64_t threads, uint64_t shared)
{
    griddep_launch_config *config = request->config;

    config->grid[0] = (uint32_t)(blocks < 1 ? 1 : blocks > INT32_MAX ? INT32_MAX : blocks);
    config->block[0] = (uint32_t)threads;
    config->block[1] = config->block[2] = 0;
    config->cluster[0] = config->cluster[1] = config->cluster[2] = 0;
    config->shared_bytes = (uint32_t)shared;
}

/* ---- families ---- */

/* A thread for 16 bytes of the wider operand, up to a few waves; `unit` elements a block. */
static void shape_elements(const shape_request *request)
{
    uint64_t units = value(request, 0) / request->unit + (value(request, 0) % request->unit != 0);
    uint64_t most = 64 * (uint64_t)request->device->multiprocessors;

    set(request, units < most ? units : most, request->unit == 8192 ? 512 : 256, 0);
}

static uint64_t whole_warps(uint64_t threads)
{
    uint64_t warps = (threads + 31) / 32;

    return 32 * (warps < 1 ? 1 : warps > 32 ? 32 : warps);
}

/* A block a row, as many as config tells; few rows take more threads each. `unit` bytes or elements
 * are a thread's 16 bytes. */
static void shape_rows(const shape_request *request)
{
    uint64_t rows = request->config->grid[0] ? request->config->grid[0] : 1;
    uint64_t share = rows <= (uint64_t)request->device->multiprocessors ? 1 : 2;

    set(request, rows, whole_warps(value(request, 0) / request->unit / share), 0);
}

static void shape_rotary(const shape_request *request)
{
    uint64_t threads =
        value(request, 0) * (value(request, 1) + 2 * value(request, 2)) * value(request, 3) / 16;

    set(request, (threads + 127) / 128, 128, 0);
}

/* So many blocks share a row as keep the multiprocessors busy. */
static void shape_logits(const shape_request *request)
{
    uint64_t rows = request->config->grid[1] ? request->config->grid[1] : 1;
    uint64_t splits = 16, columns = value(request, 0);

    while (splits > 1 &&
           (splits * rows > 2 * (uint64_t)request->device->multiprocessors ||
            splits * 512 > columns) &&
           columns <= 65536 * (splits / 2))
        splits /= 2;
    set(request, splits, 512, 0);
    request->config->cluster[0] = (uint32_t)splits;
}

/* Threads of a block of at most 16 warps, of which each has as many rows as any other, where that
 * can be: 3072 rows on 132 multiprocessors are 23 or 24 for each, which 12 warps take in two rounds
 * and 16 warps too, the second one half idle. A multiple of 128. */
static uint32_t even_threads(uint64_t rows, uint32_t blocks)
{
    uint64_t share = (rows + blocks - 1) / blocks, rounds = (share + 15) / 16;
    uint64_t warps = rounds > 0 ? (share + rounds - 1) / rounds : 16;

    return (uint32_t)((warps + 3) / 4 * 128);
}

/* Whether a layer is best split by columns over the warps: where each block's rows fill two or
 * three slots of eight rows of 2048 columns, so that all of W is on its way before the wait. */
static bool splits_columns(const griddep_runtime_info *device, uint64_t rows, uint64_t columns)
{
    uint64_t multiprocessors = (uint64_t)device->multiprocessors;
    uint64_t share = (rows + multiprocessors - 1) / multiprocessors;
    uint64_t slots = (share + 7) / 8 * ((columns + 2047) / 2048);
    uint64_t least = 2 * columns + 68512; /* what linear_bf16 requires of such a block */

    return rows * columns * 2 >= 8000000 && slots <= 3 && half_shared(device) >= least;
}

/* matvec and linear: rows, columns and, where there is one, the second matrix. `unit` 1: it is
 * there. A block that does not find its least room has all there is. */
static void shape_linear(const shape_request *request)
{
    const griddep_runtime_info *device = request->device;
    uint32_t multiprocessors = (uint32_t)device->multiprocessors;
    bool pair = request->unit && value(request, 2);
    uint64_t rows = value(request, 0) << pair, columns = value(request, 1);
    uint32_t shared = half_shared(device), most = device->shared_bytes_per_block;

    if (rows * columns * 2 < 14000000) {
        uint32_t threads = !pair && splits_columns(device, rows, columns)
                               ? 288
                               : even_threads(rows, multiprocessors);
        set(request, multiprocessors, threads, shared);
    } else if (pair && columns <= 2048) { /* leaves the next kernel room for a fifth of its ring */
        set(request, multiprocessors, 512, least_of(part_of(device, 25), most));
    } else if (columns <= 4096) {
        set(request, 2 * multiprocessors, 256, shared);
    } else {
        set(request, multiprocessors, !pair && 2 * columns + 68512 <= most ? 288 : 512, most);
    }
    uint64_t least = 2 * columns + 38 * (uint64_t)request->config->block[0] + 512;
    if (request->config->block[0] != 288 && shared < least)
        request->config->shared_bytes = device->shared_bytes_per_block;
}

/* skinny_* and linear_fp8*: rows, columns, in the former the rows of x, and the second matrix.
 * `unit`: bytes of an element of W. On chips of 9.0 the latter are other texts, which keep x in
 * shared memory. */
static void shape_skinny(const shape_request *request)
{
    const griddep_runtime_info *device = request->device;
    uint32_t multiprocessors = (uint32_t)device->multiprocessors;
    uint64_t columns = value(request, 1);
    uint64_t elements = (value(request, 0) << (value(request, 3) != 0)) * columns;
    uint64_t batch = request->places[2] ? value(request, 2) : 1;
    const bool keeps_x = !request->places[2] && device->capability == 90;
    bool small = elements < (request->unit == 1 ? 20000000u : 8000000u);
    bool whole = columns > (keeps_x ? 8192 : 4096) ||
                 (batch > 2 && (request->unit == 1 || elements < 30000000));
    uint32_t shared = half_shared(device), blocks = whole || small ? 1 : 2;

    if (whole || shared < (keeps_x ? 75000 + columns * 65 / 32 + 1 : 41408 + 4480 * batch))
        shared = device->shared_bytes_per_block;
    else if (keeps_x && !small) /* two blocks leave the next kernel room to begin */
        shared = part_of(device, 14);
    /* Where a multiprocessor gets its memory faster than others it takes more of many blocks. */
    if (keeps_x && !whole && elements > 200000000u)
        blocks = 8;
    set(request, (uint64_t)blocks * multiprocessors, 384, shared);
}

/* Weights in tiles: rows, columns, in skinny_int4 the rows of x, and the second matrix. Two slots
 * of 16 records of 1072 bytes at least; half of the shared memory leaves the next kernel, or a
 * second block, the other. */
static void shape_tiles(const shape_request *request)
{
    const griddep_runtime_info *device = request->device;
    uint64_t columns = value(request, 1), batch = request->places[2] ? value(request, 2) : 1;
    uint64_t pieces =
        request->places[2] ? columns / 4 + 2 * columns * batch : (columns + 2047) / 2048 * 4608;
    uint64_t least = 34608 + 2560 * batch + pieces;
    uint64_t elements = (value(request, 0) << (value(request, 3) != 0)) * columns;
    bool small = elements < 30000000u;
    uint32_t shared = small && columns > 4096 ? part_of(device, 25) : half_shared(device);

    if (shared < least)
        shared = device->shared_bytes_per_block;
    set(request,
        (uint64_t)device->multiprocessors * (small || shared > half_shared(device) ? 1 : 2), 384,
        shared);
}

static const griddep_attribute balance = {.id = GRIDDEP_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY,
                                          .value = {GRIDDEP_CLUSTER_SCHEDULING_LOAD_BALANCING}};

/* heads, head_dim, the capacity in one or two factors; key heads and batch stand in config. */
static void shape_attention(const shape_request *request)
{
    const griddep_runtime_info *device = request->device;
    griddep_launch_config *config = request->config;
    uint64_t kv_heads = config->grid[1] ? config->grid[1] : 1, head_dim = value(request, 1);
    uint64_t context = value(request, 2) * (request->unit == 2 ? value(request, 3) : 1);
    bool is_long = context * head_dim > 131072, is_longest = context > 6000;
    uint64_t splits = is_longest || !is_long ? 8 : head_dim <= 64 ? 12 : 16;
    uint64_t groups = kv_heads * (config->grid[2] ? config->grid[2] : 1);
    uint64_t room = (uint64_t)device->multiprocessors * (is_longest ? 1 : 2);

    /* A cluster that the device cannot hold is refused; short contexts all run at once. */
    while (splits > room || (!is_long && splits > 4 && splits * groups > room))
        splits /= 2;
    uint64_t threads = is_longest ? 256 : 128, group = value(request, 0) / kv_heads;
    uint64_t usual = is_longest                 ? device->shared_bytes_per_block
                     : is_long || head_dim > 64 ? half_shared(device)
                                                : least_of(65536, half_shared(device));
    uint64_t least = (22 + 6 * group + 2 * threads) * head_dim + 24 * splits + 4 * threads + 272;

    set(request, splits, threads,
        least_of((uint32_t)(usual > least ? usual : least), device->shared_bytes_per_block));
    config->cluster[0] = (uint32_t)splits;
    if (splits > 8 && !config->attribute_count) { /* few such clusters have SMs of their own */
        config->attributes = &balance;
        config->attribute_count = 1;
    }
}

/* tokens, head_dim; heads and batch stand in config. */
static void shape_prefill(const shape_request *request)
{
    griddep_launch_config *config = request->config;
    uint64_t tiles = value(request, 0) / 128 + (value(request, 0) % 128 != 0);

    set(request, config->grid[0], 128, 768 * value(request, 1));
    config->grid[1] = (uint32_t)(tiles < 1 ? 1 : tiles > 65535 ? 65535 : tiles);
}

/* m, n; `unit` columns of a tile of 128 rows. The ring has as many slots as fit. */
static void shape_gemm(const shape_request *request)
{
    uint64_t slot = request->unit == 256 ? 49168 : request->unit == 128 ? 32784 : 24592;
    uint64_t slots = (request->device->shared_bytes_per_block - 1024) / slot;

    set(request, (uint64_t)request->device->multiprocessors, 288,
        1024 + slot * (slots < 2 ? 2 : slots));
}

/* ---- the table ---- */

typedef struct family {
    const char *begin; /* of the kernel's name; the first row that fits counts */
    void (*shape)(const shape_request *request);
    uint32_t count;    /* of the kernel's arguments */
    uint8_t places[4]; /* of those that the function looks at */
    uint32_t unit;
} family;

static const family families[] = {
    {"add_", shape_elements, 4, {3}, 2048},
    {"cast_bf16_f32", shape_elements, 3, {2}, 1024},
    {"cast_e4m3_f32", shape_elements, 3, {2}, 1024},
    {"cast_f16_f32", shape_elements, 3, {2}, 1024},
    {"cast_", shape_elements, 3, {2}, 2048},
    {"scale_f32", shape_elements, 4, {2}, 1024},
    {"scale_", shape_elements, 4, {2}, 2048},
    {"silu_multiply_f32", shape_elements, 4, {3}, 1024},
    {"silu_multiply_", shape_elements, 4, {3}, 2048},
    {"vector_add", shape_elements, 4, {3}, 1024},
    {"copy_bytes", shape_elements, 3, {2}, 4096},
    {"fill_bytes", shape_elements, 3, {1}, 8192},
    {"layer_norm_residual_", shape_rows, 8, {6}, 8},
    {"layer_norm_", shape_rows, 6, {4}, 8},
    {"rms_norm_residual_", shape_rows, 7, {5}, 8},
    {"rms_norm", shape_rows, 5, {3}, 8},
    {"softmax", shape_rows, 3, {2}, 8},
    {"embedding_gather", shape_rows, 5, {4}, 16},
    {"argmax_", shape_logits, 3, {2}, 0},
    {"sample_", shape_logits, 7, {3}, 0},
    {"rotary_append_", shape_rotary, 14, {8, 9, 10, 11}, 0},
    {"matvec_bf16", shape_linear, 5, {3, 4}, 0},
    {"linear_fp8_block", shape_skinny, 13, {9, 10, 0, 1}, 1},
    {"linear_fp8", shape_skinny, 12, {9, 10, 0, 1}, 1},
    {"linear_int4", shape_tiles, 10, {7, 8, 0, 1}, 0},
    {"linear_", shape_linear, 10, {7, 8, 1}, 1},
    {"skinny_fp8_block", shape_skinny, 14, {9, 10, 11, 1}, 1},
    {"skinny_fp8", shape_skinny, 13, {9, 10, 11, 1}, 1},
    {"skinny_int4", shape_tiles, 11, {7, 8, 9, 1}, 0},
    {"skinny_", shape_skinny, 11, {7, 8, 9, 1}, 2},
    {"attention_decode_paged_", shape_attention, 12, {7, 8, 9, 10}, 2},
    {"attention_decode_", shape_attention, 10, {6, 7, 8}, 1},
    {"attention_prefill_paged_", shape_prefill, 13, {7, 9}, 0},
    {"attention_prefill_", shape_prefill, 11, {6, 8}, 0},
    {"gemm_n64_", shape_gemm, 10, {6, 7}, 64},
    {"gemm_n128_", shape_gemm, 10, {6, 7}, 128},
    {"gemm_", shape_gemm, 10, {6, 7}, 256},
};

static const family *find_family(const char *kernel)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!strncmp(kernel, families[i].begin, strlen(families[i].begin)))
            return &families[i];
    return NULL;
}

/* ---- other shapes ---- */

/* Of a kernel that takes any grid: one block a multiprocessor with so many 32nds of its shared
 * memory, or two with at most half of it. */
static bool get_room(const griddep_runtime_info *device, uint32_t index,
                     griddep_launch_config *config)
{
    static const struct {
        uint8_t blocks, parts;
    } rooms[] = {{1, 14}, {1, 16}, {1, 20}, {1, 25}, {1, 32}, {2, 14}, {2, 16}};

    if (index >= sizeof rooms / sizeof *rooms)
        return false;
    *config =
        (griddep_launch_config){.size = sizeof *config,
                                .grid = {rooms[index].blocks * (uint32_t)device->multiprocessors},
                                .shared_bytes = part_of(device, rooms[index].parts)};
    return true;
}

bool gd_shape_get(const char *kernel, const griddep_runtime_info *device, uint32_t index,
                  griddep_launch_config *config)
{
    static const uint16_t blocks[] = {256, 288, 384, 512};
    const uint32_t count = sizeof blocks / sizeof *blocks;
    const family *of = find_family(kernel);
    bool linear = of && of->shape == shape_linear, skinny = of && of->shape == shape_skinny;
    bool tiles = of && of->shape == shape_tiles;

    if ((!linear && !skinny && !tiles) || !get_room(device, linear ? index / count : index, config))
        return false;
    config->block[0] = linear ? blocks[index % count] : 384;
    return true;
}

/* ---- public ---- */

int32_t griddep_shelf_suggest(const char *kernel, const griddep_runtime_info *device,
                              const griddep_argument *arguments, uint32_t argument_count,
                              griddep_launch_config *config, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!kernel || !device || !arguments || !config)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "kernel, device, arguments or config is NULL");
    if (device->size < sizeof *device || device->multiprocessors < 1 ||
        config->size < sizeof *config)
        return gd_error_set(error, GRIDDEP_ERROR_STRUCT,
                            "device was not filled by griddep_runtime_get_info, or config has no "
                            "size");
    const family *of = find_family(kernel);
    if (!of)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "the shelf suggests no shape for \"%s\"", kernel);
    if (argument_count != of->count)
        return gd_error_set(error, GRIDDEP_ERROR_SIGNATURE,
                            "%s has %" PRIu32 " arguments, %" PRIu32 " were given", kernel,
                            of->count, argument_count);
    shape_request request = {device, arguments, of->places, of->unit, config};
    of->shape(&request);
    return GRIDDEP_OK;
}

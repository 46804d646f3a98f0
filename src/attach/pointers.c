/* Each two kernels and each two parameters are recorded once, and each row of kernels. */
#include "attach/pointers.h"

#include <string.h>

#include "attach/kernels.h"
#include "attach/map.h"
#include "attach/next.h"
#include "attach/record.h"
#include "attach/recording.h"
#include "griddep.h"
#include "ptx/require/tensor_map.h"

/* All of a program's first launches, and then some in a row now and again. */
enum { FIRST_LAUNCHES = 4096, ROW = 8, EACH = 4096 };

enum {
    LEAST_ADDRESS = 1 << 16, /* what is below is a number */
    MOST_PARAMETERS = 128    /* of a kernel whose extents are asked for */
};

static uint64_t launches;
static gd_map known, rows;

bool gd_pointers_next(void)
{
    const uint64_t number = launches++;

    return number < FIRST_LAUNCHES || number % EACH < ROW;
}

static void ask(gd_attached_parameters *of, gd_CUfunction function)
{
    const gd_CUfunction asked = gd_kernels_function(function);
    size_t offset, bytes;

    for (uint32_t i = 0; asked && i < 32 && !GD_NEXT(cuFuncGetParamInfo, asked, i, &offset, &bytes);
         i++) {
        of->addresses |= (uint32_t)(bytes == sizeof(uint64_t)) << i;
        of->large |= (uint32_t)(bytes == GD_TENSOR_MAP_BYTES) << i;
    }
    of->known = 1;
}

static uint64_t find_allocation(uint64_t address)
{
    uint64_t start = 0;

    return GD_NEXT(cuPointerGetAttribute, &start, GD_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address)
               ? 0
               : start;
}

static void add(gd_pointers *into, uint32_t parameter, uint64_t value, uint64_t bytes)
{
    if (value < LEAST_ADDRESS || into->count == GD_POINTERS_MOST)
        return;
    into->parameters[into->count] = parameter;
    into->values[into->count] = value;
    into->bytes[into->count] = bytes;
    into->allocations[into->count++] = find_allocation(value);
}

static void add_map(gd_pointers *into, gd_attached_parameters *of, uint32_t parameter,
                    const void *argument)
{
    gd_tensor_map map;

    if (!gd_tensor_map_read(argument, &map)) {
        of->structs |= 1u << parameter;
        return;
    }
    of->maps |= 1u << parameter;
    add(into, parameter, map.address, gd_tensor_map_extent(&map));
}

/* Of the addresses of which nothing else tells how far they reach: what the head comment does. */
static void take_extents(gd_pointers *into, const griddep_ptx *ptx, uint32_t entry,
                         const gd_CUlaunchConfig *from, void **arguments)
{
    griddep_parameter_info info = {.size = sizeof info};
    griddep_argument given[MOST_PARAMETERS] = {{.bytes = 0}};
    griddep_launch_config config = {.size = sizeof config,
                                    .grid = {from->gridDimX, from->gridDimY, from->gridDimZ},
                                    .block = {from->blockDimX, from->blockDimY, from->blockDimZ},
                                    .shared_bytes = from->sharedMemBytes};
    uint32_t count = 0;

    gd_recording_read_cluster(from, config.cluster);
    for (; count < MOST_PARAMETERS &&
           griddep_ptx_get_parameter(ptx, entry, count, &info, NULL) == GRIDDEP_OK;
         count++) {
        given[count].bytes = (uint32_t)info.bytes;
        given[count].data = arguments[count];
    }
    for (uint32_t i = 0; i < into->count; i++) {
        if (!into->bytes[i] &&
            griddep_ptx_get_extent(ptx, entry, &config, given, count, into->parameters[i],
                                   &into->bytes[i], NULL) != GRIDDEP_OK)
            into->bytes[i] = 0;
    }
}

/* Most kernels tell nothing, and cost nothing. */
static void read_extents(gd_pointers *into, gd_CUfunction function, const gd_CUlaunchConfig *config,
                         void **arguments)
{
    uint32_t entry;
    const griddep_ptx *ptx = into->count ? gd_kernels_extents(function, &entry) : NULL;

    if (ptx)
        take_extents(into, ptx, entry, config, arguments);
}

/* False: there are none. */
static bool unpack(gd_CUfunction function, void **extra, void *arguments[MOST_PARAMETERS])
{
    const unsigned char *packed = gd_recording_packed(extra);
    const gd_CUfunction asked = packed ? gd_kernels_function(function) : NULL;
    size_t offset, bytes;

    for (uint32_t i = 0;
         asked && i < MOST_PARAMETERS && !GD_NEXT(cuFuncGetParamInfo, asked, i, &offset, &bytes);
         i++)
        arguments[i] = (void *)(uintptr_t)(packed + offset);
    return asked;
}

void gd_pointers_read(gd_pointers *into, gd_attached_kernel *kernel, uint32_t number,
                      gd_CUfunction function, const gd_CUlaunchConfig *config, void **arguments,
                      void **extra)
{
    void *unpacked[MOST_PARAMETERS] = {NULL};
    gd_attached_parameters *of = &kernel->parameters;

    into->kernel = number;
    into->count = 0;
    if (!of->known)
        ask(of, function);
    if (!arguments && unpack(function, extra, unpacked))
        arguments = unpacked;
    for (uint32_t i = 0; arguments && i < 32; i++) {
        uint64_t value;
        if (of->large >> i & 1 && arguments[i])
            add_map(into, of, i, arguments[i]);
        if (!(of->addresses >> i & 1) || !arguments[i])
            continue;
        memcpy(&value, arguments[i], sizeof value);
        add(into, i, value, 0);
    }
    if (arguments)
        read_extents(into, function, config, arguments);
}

static void note(uint32_t first, uint32_t first_parameter, uint32_t second,
                 uint32_t second_parameter, bool assumed)
{
    const uint64_t kernels = (uint64_t)first << 32 | second;
    const uint64_t parameters =
        (uint64_t)first_parameter << 32 | (uint64_t)second_parameter << 1 | assumed;

    if (gd_map_find(&known, kernels, parameters) ||
        !gd_map_set(&known, kernels, parameters, &known))
        return;
    gd_attached_shared *record = gd_record_add(GD_ATTACHED_SHARED, sizeof *record, "", NULL);
    record->first = first;
    record->second = second;
    record->first_parameter = first_parameter;
    record->second_parameter = second_parameter;
    record->assumed = assumed;
    gd_record_commit(record, GD_ATTACHED_SHARED);
}

/* Where nothing tells how far the one reaches that begins first, it may reach to the end of its
 * allocation. */
static void compare(const gd_pointers *first, const gd_pointers *second)
{
    for (uint32_t i = 0; i < first->count; i++) {
        for (uint32_t j = 0; j < second->count; j++) {
            const uint64_t a = first->values[i], b = second->values[j];
            const uint64_t apart = a < b ? b - a : a - b;
            const uint64_t bytes = a < b ? first->bytes[i] : second->bytes[j];
            const bool together =
                first->allocations[i] && first->allocations[i] == second->allocations[j];
            if (!apart || apart < bytes || (!bytes && together))
                note(first->kernel, first->parameters[i], second->kernel, second->parameters[j],
                     apart && !bytes);
        }
    }
}

static void note_row(const gd_pointers *given, uint32_t count)
{
    uint32_t kernels[GD_ATTACHED_ROW_MOST] = {0, 0, 0, GD_ATTACHED_NONE};

    for (uint32_t i = 0; i < count; i++)
        kernels[i] = given[i].kernel;
    const uint64_t begin = (uint64_t)kernels[0] << 32 | kernels[1];
    const uint64_t end = (uint64_t)kernels[2] << 32 | kernels[3];
    gd_attached_row *row = gd_map_find(&rows, begin, end);
    if (!row) {
        row = gd_record_add(GD_ATTACHED_ROW, sizeof *row, "", NULL);
        memcpy(row->kernels, kernels, sizeof kernels);
        row->count = count;
        gd_record_commit(row, GD_ATTACHED_ROW);
        gd_map_set(&rows, begin, end, row);
    }
    row->times++;
}

void gd_pointers_follow(gd_pointers_row *row, const gd_pointers *launch, bool early)
{
    if (!early)
        row->count = 0;
    if (row->count == GD_ATTACHED_ROW_MOST)
        memmove(row->launches, row->launches + 1, --row->count * sizeof *row->launches);
    for (uint32_t i = 0; i < row->count; i++)
        compare(&row->launches[i], launch);
    row->launches[row->count++] = *launch;
    for (uint32_t i = 0; i + 3 <= row->count; i++)
        note_row(row->launches + i, row->count - i);
}

void gd_pointers_forget(void)
{
    gd_map_free(&known);
    gd_map_free(&rows);
    launches = 0;
}

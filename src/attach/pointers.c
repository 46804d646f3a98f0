/* Each two kernels and each two parameters are recorded once. */
#include "attach/pointers.h"

#include <string.h>

#include "attach/kernels.h"
#include "attach/map.h"
#include "attach/next.h"
#include "attach/record.h"
#include "ptx/require/tensor_map.h"

/* All of a program's first launches, and then some in a row now and again. */
enum { FIRST_LAUNCHES = 4096, ROW = 8, EACH = 4096 };

enum { LEAST_ADDRESS = 1 << 16 }; /* what is below is a number */

static uint64_t launches;
static gd_map known;

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

static void add(gd_pointers *into, uint32_t parameter, uint64_t value, uint64_t bytes)
{
    if (value < LEAST_ADDRESS || into->count == GD_POINTERS_MOST)
        return;
    into->parameters[into->count] = parameter;
    into->values[into->count] = value;
    into->bytes[into->count++] = bytes;
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

void gd_pointers_read(gd_pointers *into, gd_attached_kernel *kernel, uint32_t number,
                      gd_CUfunction function, void **arguments)
{
    gd_attached_parameters *of = &kernel->parameters;

    into->kernel = number;
    into->count = 0;
    if (!of->known)
        ask(of, function);
    for (uint32_t i = 0; arguments && i < 32; i++) {
        uint64_t value;
        if (of->large >> i & 1 && arguments[i])
            add_map(into, of, i, arguments[i]);
        if (!(of->addresses >> i & 1) || !arguments[i])
            continue;
        memcpy(&value, arguments[i], sizeof value);
        add(into, i, value, 1);
    }
}

static void note(const gd_pointers *first, uint32_t i, const gd_pointers *second, uint32_t j)
{
    const uint64_t kernels = (uint64_t)first->kernel << 32 | second->kernel;
    const uint64_t parameters = (uint64_t)first->parameters[i] << 32 | second->parameters[j];

    if (gd_map_find(&known, kernels, parameters) ||
        !gd_map_set(&known, kernels, parameters, &known))
        return;
    gd_attached_shared *record = gd_record_add(GD_ATTACHED_SHARED, sizeof *record, "", NULL);
    record->first = first->kernel;
    record->second = second->kernel;
    record->first_parameter = first->parameters[i];
    record->second_parameter = second->parameters[j];
    gd_record_commit(record, GD_ATTACHED_SHARED);
}

void gd_pointers_compare(const gd_pointers *first, const gd_pointers *second)
{
    for (uint32_t i = 0; i < first->count; i++) {
        for (uint32_t j = 0; j < second->count; j++) {
            if (first->values[i] - second->values[j] < second->bytes[j] ||
                second->values[j] - first->values[i] < first->bytes[i])
                note(first, i, second, j);
        }
    }
}

void gd_pointers_forget(void)
{
    gd_map_free(&known);
    launches = 0;
}

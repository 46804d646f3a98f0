/* Each two kernels and each two parameters are recorded once. */
#include "attach/pointers.h"

#include <string.h>

#include "attach/kernels.h"
#include "attach/map.h"
#include "attach/next.h"
#include "attach/record.h"

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

uint32_t gd_pointers_find(gd_CUfunction function)
{
    const gd_CUfunction asked = gd_kernels_function(function);
    size_t offset, bytes;
    uint32_t found = 0;

    for (uint32_t i = 0; asked && i < 32 && !GD_NEXT(cuFuncGetParamInfo, asked, i, &offset, &bytes);
         i++)
        found |= (uint32_t)(bytes == sizeof(uint64_t)) << i;
    return found;
}

void gd_pointers_read(gd_pointers *into, uint32_t kernel, uint32_t found, void **parameters)
{
    into->kernel = kernel;
    into->count = 0;
    for (uint32_t i = 0; parameters && i < 32 && into->count < GD_POINTERS_MOST; i++) {
        uint64_t value;
        if (!(found >> i & 1) || !parameters[i])
            continue;
        memcpy(&value, parameters[i], sizeof value);
        if (value < LEAST_ADDRESS)
            continue;
        into->parameters[into->count] = i;
        into->values[into->count++] = value;
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
            if (first->values[i] == second->values[j])
                note(first, i, second, j);
        }
    }
}

void gd_pointers_forget(void)
{
    gd_map_free(&known);
    launches = 0;
}

/* Work: copies of it, and carrying out all that is no kernel. */
#include <stdlib.h>
#include <string.h>

#include "emulator/execute/check.h"
#include "emulator/schedule/condition.h"
#include "emulator/schedule/device.h"
#include "emulator/schedule/executable.h"
#include "emulator/schedule/work.h"

/* The model's times: a fixed part, and so many bytes a nanosecond. */
enum { OPERATION_TIME = 1000, BYTES_PER_TIME = 32 };

/* ---- copies of work ---- */

static bool duplicate(void *target, const void *source, size_t bytes)
{
    void *made = bytes ? malloc(bytes) : NULL;

    if (bytes && !made)
        return false;
    if (bytes)
        memcpy(made, source, bytes);
    memcpy(target, &made, sizeof made);
    return true;
}

/* Nothing of the target is the source's, whatever fails. */
static bool copy_kernel(gd_kernel_work *target, const gd_kernel_work *source)
{
    *target = *source;
    target->parameters = NULL;
    target->attributes = NULL;
    target->pointers = NULL;
    return duplicate(&target->parameters, source->parameters,
                     (size_t)source->parameter_bytes + GD_PARAMETER_ROOM) &&
           duplicate(&target->attributes, source->attributes,
                     source->attribute_count * sizeof *source->attributes);
}

static bool copy_conditional(gd_conditional_work *target, const gd_conditional_work *source)
{
    *target = *source;
    gd_condition_hold(target->condition);
    target->bodies = NULL;
    target->handles = NULL;
    target->branches = source->branches ? calloc(source->count, sizeof(gd_executable *)) : NULL;
    for (uint32_t i = 0; target->branches && i < source->count; i++) {
        target->branches[i] = gd_executable_copy(source->branches[i]);
        if (!target->branches[i])
            return false;
    }
    return target->branches != NULL;
}

static void free_conditional(gd_conditional_work *work)
{
    for (uint32_t i = 0; i < work->count; i++) {
        if (work->bodies)
            gd_graph_destroy(work->bodies[i]);
        if (work->branches)
            gd_executable_destroy(work->branches[i]);
    }
    free(work->bodies);
    free(work->handles);
    free(work->branches);
    gd_condition_release(work->condition);
}

bool gd_work_copy(gd_work *target, const gd_work *source)
{
    bool whole = true;
    size_t bytes = source->kind == GD_WORK_COPY
                       ? source->is.copy.width * source->is.copy.height * source->is.copy.depth
                       : 0;

    *target = *source;
    if (source->kind == GD_WORK_COPY)
        target->is.copy.staged = NULL;
    if (source->kind == GD_WORK_KERNEL)
        whole = copy_kernel(&target->is.kernel, &source->is.kernel);
    else if (source->kind == GD_WORK_COPY && source->is.copy.staged)
        whole = duplicate(&target->is.copy.staged, source->is.copy.staged, bytes);
    else if (source->kind == GD_WORK_GRAPH)
        whole = (target->is.graph = gd_graph_clone(source->is.graph)) != NULL;
    else if (source->kind == GD_WORK_CONDITIONAL)
        whole = copy_conditional(&target->is.conditional, &source->is.conditional);
    else if (source->kind == GD_WORK_ASSIGN)
        gd_condition_set_hold(target->is.conditions);
    if (!whole)
        gd_work_free(target);
    return whole;
}

void gd_work_free(gd_work *work)
{
    if (work->kind == GD_WORK_KERNEL) {
        free(work->is.kernel.parameters);
        free(work->is.kernel.attributes);
        free(work->is.kernel.pointers);
    } else if (work->kind == GD_WORK_COPY) {
        free(work->is.copy.staged);
    } else if (work->kind == GD_WORK_GRAPH) {
        gd_graph_destroy(work->is.graph);
    } else if (work->kind == GD_WORK_CONDITIONAL) {
        free_conditional(&work->is.conditional);
    } else if (work->kind == GD_WORK_ASSIGN) {
        gd_condition_set_release(work->is.conditions);
    }
    *work = (gd_work){.kind = GD_WORK_EMPTY};
}

gd_CUgraphNodeType gd_work_node_type(gd_work_kind kind)
{
    static const gd_CUgraphNodeType types[] = {
        [GD_WORK_EMPTY] = GD_CU_GRAPH_NODE_TYPE_EMPTY,
        [GD_WORK_KERNEL] = GD_CU_GRAPH_NODE_TYPE_KERNEL,
        [GD_WORK_COPY] = GD_CU_GRAPH_NODE_TYPE_MEMCPY,
        [GD_WORK_FILL] = GD_CU_GRAPH_NODE_TYPE_MEMSET,
        [GD_WORK_HOST] = GD_CU_GRAPH_NODE_TYPE_HOST,
        [GD_WORK_EVENT_RECORD] = GD_CU_GRAPH_NODE_TYPE_EVENT_RECORD,
        [GD_WORK_EVENT_WAIT] = GD_CU_GRAPH_NODE_TYPE_WAIT_EVENT,
        [GD_WORK_RELEASE] = GD_CU_GRAPH_NODE_TYPE_MEM_FREE,
        [GD_WORK_GRAPH] = GD_CU_GRAPH_NODE_TYPE_GRAPH,
        [GD_WORK_CONDITIONAL] = GD_CU_GRAPH_NODE_TYPE_CONDITIONAL,
        [GD_WORK_JOIN] = GD_CU_GRAPH_NODE_TYPE_EMPTY,
        [GD_WORK_ASSIGN] = GD_CU_GRAPH_NODE_TYPE_EMPTY,
    };

    return types[kind];
}

/* ---- memory ---- */

bool gd_work_resolve(uint64_t address, uint64_t bytes, unsigned char **host)
{
    const gd_allocation *allocation = gd_memory_find(gd_the_emulator.memory, address);

    if (!allocation || !gd_memory_is_told(allocation) ||
        bytes > allocation->bytes - (address - allocation->start))
        return false;
    if (host)
        *host = allocation->host + (address - allocation->start);
    return true;
}

bool gd_copy_extent(const gd_copy_work *copy, const gd_copy_side *side, uint64_t *bytes)
{
    uint64_t planes, rows;

    if (copy->width == 0 || copy->height == 0 || copy->depth == 0) {
        *bytes = 0;
        return true;
    }
    return !__builtin_mul_overflow((uint64_t)copy->depth - 1, (uint64_t)side->slice, &planes) &&
           !__builtin_mul_overflow((uint64_t)copy->height - 1, (uint64_t)side->pitch, &rows) &&
           !__builtin_add_overflow(planes, rows, bytes) &&
           !__builtin_add_overflow(*bytes, (uint64_t)copy->width, bytes);
}

static bool find_side(const gd_copy_work *copy, const gd_copy_side *side, unsigned char **host)
{
    uint64_t bytes;

    if (!side->device) {
        *host = (unsigned char *)(uintptr_t)side->address;
        return true;
    }
    return gd_copy_extent(copy, side, &bytes) && gd_work_resolve(side->address, bytes, host);
}

static gd_CUresult copy_bytes(const gd_copy_work *copy)
{
    unsigned char *target, *source = copy->staged;
    size_t pitch = copy->staged ? copy->width : copy->source.pitch;
    size_t slice = copy->staged ? copy->width * copy->height : copy->source.slice;

    if (!find_side(copy, &copy->target, &target) ||
        (!source && !find_side(copy, &copy->source, &source)))
        return GD_CUDA_ERROR_ILLEGAL_ADDRESS;
    for (size_t z = 0; z < copy->depth; z++) {
        for (size_t y = 0; y < copy->height; y++)
            memmove(target + z * copy->target.slice + y * copy->target.pitch,
                    source + z * slice + y * pitch, copy->width);
    }
    return GD_CUDA_SUCCESS;
}

static gd_CUresult fill_bytes(const gd_fill_work *fill)
{
    unsigned char *target;
    size_t row = fill->width * fill->element_bytes;

    if (fill->width == 0 || fill->height == 0)
        return GD_CUDA_SUCCESS;
    if (!gd_work_resolve(fill->address, (fill->height - 1) * fill->pitch + row, &target))
        return GD_CUDA_ERROR_ILLEGAL_ADDRESS;
    for (size_t y = 0; y < fill->height; y++, target += fill->pitch) {
        if (fill->element_bytes == 1)
            memset(target, (int)(fill->value & 0xff), row);
        for (size_t x = 0; fill->element_bytes > 1 && x < row; x += fill->element_bytes)
            memcpy(target + x, &fill->value,
                   fill->element_bytes); /* little-endian: the low bytes */
    }
    return GD_CUDA_SUCCESS;
}

/* ---- what the race detector is told ---- */

static void note_rows(gd_race_task *race, uint64_t address, uint64_t width, uint64_t height,
                      uint64_t depth, uint64_t pitch, uint64_t slice, bool write)
{
    gd_allocation *item = gd_memory_find(gd_the_emulator.memory, address);
    gd_shadow *shadow = item ? gd_check_shadow(gd_the_emulator.race, item) : NULL;

    if (!shadow || !width)
        return;
    if (pitch == width && slice == width * height) { /* all in one */
        gd_race_range(gd_the_emulator.race, race, shadow, address - item->start,
                      width * height * depth, write);
        return;
    }
    for (uint64_t z = 0; z < depth; z++) {
        for (uint64_t y = 0; y < height; y++)
            gd_race_range(gd_the_emulator.race, race, shadow,
                          address - item->start + z * slice + y * pitch, width, write);
    }
}

static void note_side(gd_race_task *race, const gd_copy_work *copy, const gd_copy_side *side,
                      bool write)
{
    bool one_row = copy->height == 1 && copy->depth == 1, one_plane = copy->depth == 1;
    uint64_t bytes;

    if (side->device && gd_copy_extent(copy, side, &bytes) &&
        gd_work_resolve(side->address, bytes, NULL))
        note_rows(race, side->address, copy->width, copy->height, copy->depth,
                  one_row ? copy->width : side->pitch,
                  one_plane ? copy->width * copy->height : side->slice, write);
}

/* Before the work is carried out. */
static void note_accesses(const gd_work *work, gd_race_task *race)
{
    const gd_fill_work *fill = &work->is.fill;
    uint64_t width = (uint64_t)fill->width * fill->element_bytes;
    gd_allocation *item;

    switch (work->kind) {
    case GD_WORK_COPY:
        if (!work->is.copy.staged)
            note_side(race, &work->is.copy, &work->is.copy.source, false);
        note_side(race, &work->is.copy, &work->is.copy.target, true);
        break;
    case GD_WORK_FILL:
        if (width && fill->height &&
            gd_work_resolve(fill->address, (fill->height - 1) * fill->pitch + width, NULL))
            note_rows(race, fill->address, width, fill->height, 1,
                      fill->height == 1 ? width : fill->pitch, width * fill->height, true);
        break;
    case GD_WORK_RELEASE:
        item = gd_memory_find(gd_the_emulator.memory, work->is.address);
        if (item && !item->freed)
            note_rows(race, item->start, item->bytes, 1, 1, item->bytes, item->bytes, true);
        break;
    default:
        break;
    }
}

gd_CUresult gd_work_execute(gd_work *work, gd_race_task *race)
{
    if (race)
        note_accesses(work, race);
    switch (work->kind) {
    case GD_WORK_COPY:
        return copy_bytes(&work->is.copy);
    case GD_WORK_FILL:
        return fill_bytes(&work->is.fill);
    case GD_WORK_ASSIGN:
        for (uint32_t i = 0; i < work->is.conditions->count; i++)
            gd_condition_assign(work->is.conditions->list[i], race);
        return GD_CUDA_SUCCESS;
    case GD_WORK_RELEASE:
        return gd_memory_give(gd_the_emulator.memory, work->is.address)
                   ? GD_CUDA_SUCCESS
                   : GD_CUDA_ERROR_ILLEGAL_ADDRESS;
    default:
        return GD_CUDA_SUCCESS;
    }
}

uint64_t gd_work_time(const gd_work *work)
{
    const gd_copy_work *copy = &work->is.copy;
    const gd_fill_work *fill = &work->is.fill;

    if (work->kind == GD_WORK_COPY)
        return OPERATION_TIME + copy->width * copy->height * copy->depth / BYTES_PER_TIME;
    if (work->kind == GD_WORK_FILL)
        return OPERATION_TIME + fill->width * fill->height * fill->element_bytes / BYTES_PER_TIME;
    return work->kind == GD_WORK_HOST ? OPERATION_TIME : 0;
}

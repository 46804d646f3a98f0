/* Limits of a launch without a device. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/chip.h"
#include "base/error.h"
#include "ptx/handle/shape_check.h"

typedef struct shape_of {
    const gd_ptx_module *module;
    const gd_ptx_function *entry;
    const uint32_t *shape;
    griddep_error *error;
} shape_of;

static int32_t check_box(const shape_of *of, const char *what, const uint32_t given[3],
                         const uint32_t most[3])
{
    for (int i = 0; i < 3; i++) {
        if (given[i] == 0 || given[i] > most[i])
            return gd_error_set(of->error, GRIDDEP_ERROR_LIMIT,
                                "kernel %s: a %s of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                                " is outside 1 x 1 x 1 to %" PRIu32 " x %" PRIu32 " x %" PRIu32
                                ", the limits of all devices",
                                of->entry->name, what, given[0], given[1], given[2], most[0],
                                most[1], most[2]);
    }
    return GRIDDEP_OK;
}

/* A size that a directive gives; y and z that it leaves out are 1. */
static uint32_t size_of(const uint32_t given[3], int i)
{
    return given[i] ? given[i] : 1;
}

static int32_t check_required(const shape_of *of, const char *directive, const char *what,
                              const uint32_t required[3], const uint32_t given[3])
{
    for (int i = 0; i < 3 && required[0]; i++) {
        if (given[i] != size_of(required, i))
            return gd_error_set(
                of->error, GRIDDEP_ERROR_LIMIT,
                "kernel %s: its %s asks for a %s of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                ", the launch gives %" PRIu32 " x %" PRIu32 " x %" PRIu32,
                of->entry->name, directive, what, size_of(required, 0), size_of(required, 1),
                size_of(required, 2), given[0], given[1], given[2]);
    }
    return GRIDDEP_OK;
}

static int32_t check_block(const shape_of *of)
{
    static const uint32_t most[3] = {GD_CHIP_BLOCK_X, GD_CHIP_BLOCK_Y, GD_CHIP_BLOCK_Z};
    const uint32_t *block = of->shape + GD_REQUIRE_BLOCK,
                   *maximum = of->entry->limits[GD_PERFORMANCE_MAXNTID];
    int32_t status = check_box(of, "block", block, most);

    if (status)
        return status;
    const uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (threads > GD_CHIP_THREADS)
        return gd_error_set(of->error, GRIDDEP_ERROR_LIMIT,
                            "kernel %s: a block of %" PRIu64
                            " threads; no device takes more than %d",
                            of->entry->name, threads, GD_CHIP_THREADS);
    const uint64_t allowed =
        (uint64_t)size_of(maximum, 0) * size_of(maximum, 1) * size_of(maximum, 2);
    if (maximum[0] && threads > allowed)
        return gd_error_set(of->error, GRIDDEP_ERROR_LIMIT,
                            "kernel %s: a block of %" PRIu64
                            " threads; its .maxntid allows %" PRIu64,
                            of->entry->name, threads, allowed);
    return check_required(of, ".reqntid", "block", of->entry->limits[GD_PERFORMANCE_REQNTID],
                          block);
}

static int32_t check_cluster(const shape_of *of)
{
    const uint32_t *grid = of->shape + GD_REQUIRE_GRID, *cluster = of->shape + GD_REQUIRE_CLUSTER;
    const uint32_t rank = of->entry->limits[GD_PERFORMANCE_MAXCLUSTERRANK][0];
    const gd_chip chip = gd_chip_of_target(of->module->target, of->module->capability);
    const uint64_t plane = (uint64_t)cluster[0] * cluster[1], most = GD_CHIP_LARGEST_CLUSTER;
    const uint64_t blocks = plane > most ? plane : plane * cluster[2];
    int32_t status = check_required(of, ".reqnctapercluster", "cluster",
                                    of->entry->limits[GD_PERFORMANCE_REQNCTAPERCLUSTER], cluster);

    if (status)
        return status;
    if (!chip.cluster)
        return gd_error_set(of->error, GRIDDEP_ERROR_LIMIT,
                            "kernel %s: a cluster; its text is for %s, and clusters need sm_90",
                            of->entry->name, of->module->target);
    if (!blocks || blocks > chip.cluster || (rank && blocks > rank))
        return gd_error_set(of->error, GRIDDEP_ERROR_LIMIT,
                            "kernel %s: a cluster of %" PRIu32 " x %" PRIu32 " x %" PRIu32
                            "; it may have 1 to %" PRIu32 " blocks%s",
                            of->entry->name, cluster[0], cluster[1], cluster[2],
                            rank && rank < chip.cluster ? rank : chip.cluster,
                            rank && rank < chip.cluster ? ", as its .maxclusterrank says" : "");
    for (int i = 0; i < 3; i++) {
        if (grid[i] % cluster[i])
            return gd_error_set(of->error, GRIDDEP_ERROR_LIMIT,
                                "kernel %s: the grid's %c size %" PRIu32
                                " is no multiple of the cluster's %" PRIu32,
                                of->entry->name, "xyz"[i], grid[i], cluster[i]);
    }
    return GRIDDEP_OK;
}

/* Bytes of the static variables that the entry itself names: those of the functions that it calls
 * may come on top. */
static int32_t count_static(const shape_of *of, uint64_t *bytes)
{
    const gd_ptx_module *module = of->module;
    unsigned char *seen = calloc((size_t)module->symbol_count + 1, 1);

    if (!seen)
        return gd_error_memory(of->error);
    for (uint32_t at = of->entry->instruction; at < of->entry->instruction_end; at++) {
        const gd_ptx_instruction *item = &module->instructions[at];
        for (uint32_t i = item->operand; i < item->operand_end; i++) {
            const gd_ptx_operand *operand = &module->operands[i];
            if (operand->kind != GD_OPERAND_SYMBOL || operand->symbol == GD_PTX_NONE ||
                seen[operand->symbol])
                continue;
            const gd_ptx_symbol *symbol = &module->symbols[operand->symbol];
            seen[operand->symbol] = 1;
            if (symbol->kind == GD_SYMBOL_VARIABLE && symbol->space == GD_SPACE_SHARED &&
                !(symbol->flags & GD_SYMBOL_UNSIZED) && !(symbol->link & GD_LINK_EXTERN))
                *bytes += symbol->bytes;
        }
    }
    free(seen);
    return GRIDDEP_OK;
}

static int32_t check_shared(const shape_of *of)
{
    const gd_chip chip = gd_chip_of_target(of->module->target, of->module->capability);
    const uint32_t dynamic = of->shape[GD_REQUIRE_SHARED];
    uint64_t fixed = 0;
    int32_t status = count_static(of, &fixed);

    if (status || fixed + dynamic <= chip.shared_bytes)
        return status;
    return gd_error_set(of->error, GRIDDEP_ERROR_LIMIT,
                        "kernel %s: %" PRIu32 " bytes of dynamic and %" PRIu64
                        " of static shared memory; of the devices that run code for %s none gives "
                        "a block more than "
                        "%" PRIu32,
                        of->entry->name, dynamic, fixed, of->module->target, chip.shared_bytes);
}

int32_t gd_shape_check(const gd_ptx_module *module, const gd_ptx_function *entry,
                       const uint32_t shape[GD_REQUIRE_SHAPE], bool has_cluster,
                       griddep_error *error)
{
    static const uint32_t most[3] = {GD_CHIP_GRID_X, GD_CHIP_GRID_Y, GD_CHIP_GRID_Z};
    const shape_of of = {.module = module, .entry = entry, .shape = shape, .error = error};
    int32_t status = check_box(&of, "grid", shape + GD_REQUIRE_GRID, most);

    if (!status)
        status = check_block(&of);
    if (!status && has_cluster)
        status = check_cluster(&of);
    return status ? status : check_shared(&of);
}

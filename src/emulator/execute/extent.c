/* Extents of launches, read where something checks accesses. */
#include "emulator/execute/extent.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/flow/provenance.h"
#include "ptx/require/require.h"

/* ---- the text ---- */

/* What cannot be read is an error of the text for those who load it, and tells nothing here. */
static const gd_requires *find_terms(gd_program *program, const gd_image *image)
{
    gd_ptx_diagnostics *wrong = program->terms ? NULL : calloc(1, sizeof *wrong);

    if (wrong)
        gd_requires_read(program->module, &program->terms, wrong);
    if (wrong && wrong->count && program->terms) {
        gd_requires_free(program->terms, program->module->entry_count);
        program->terms = calloc((size_t)program->module->entry_count + 1, sizeof *program->terms);
    }
    free(wrong);
    return program->terms ? &program->terms[image - program->images] : NULL;
}

/* 1 + the parameter that the address of an instruction points into, for certain; 0: none, or who
 * knows. */
static uint16_t find_root(const gd_ptx_module *module, const gd_origins *origins,
                          const gd_ptx_instruction *item)
{
    const uint32_t doubts = GD_ORIGIN_UNKNOWN | GD_ORIGIN_SHARED | GD_ORIGIN_LOCAL |
                            GD_ORIGIN_GLOBAL | GD_ORIGIN_WIDE | GD_ORIGIN_DISTANCE;
    uint32_t root = 0, count = 0;

    for (uint32_t i = item->operand; i < item->operand_end; i = module->operands[i].end) {
        if (module->operands[i].kind != GD_OPERAND_MEMORY)
            continue;
        const gd_origin origin = gd_origins_of(origins, i);
        const uint32_t found = gd_origins_set_count(origins, origin.parameters);
        count += found;
        if (found == 1 && !(origin.flags & doubts) && !origin.scaled)
            root = 1 + gd_origins_set_at(origins, origin.parameters, 0);
    }
    return count == 1 && root <= UINT16_MAX ? (uint16_t)root : 0;
}

/* By instruction of the entry. */
static bool find_roots(gd_image *image)
{
    const gd_ptx_module *module = image->entry.program->module;
    const gd_ptx_function *function = &module->functions[image->entry.function];
    const uint32_t count = function->instruction_end - function->instruction;
    gd_origins *origins = NULL;

    if (image->roots)
        return true;
    if (gd_origins_create(module, image->entry.function, &origins, NULL) != GRIDDEP_OK)
        return false;
    image->roots = calloc((size_t)count + 1, sizeof *image->roots);
    for (uint32_t i = 0; i < count && image->roots; i++)
        image->roots[i] =
            find_root(module, origins, &module->instructions[function->instruction + i]);
    gd_origins_destroy(origins);
    return image->roots != NULL;
}

void gd_extents_free(gd_program *program)
{
    for (uint32_t i = 0; program->images && i < program->module->entry_count; i++)
        free(program->images[i].roots);
    if (program->terms)
        gd_requires_free(program->terms, program->module->entry_count);
}

/* ---- a launch ---- */

static void add_reach(struct gd_reach *reaches, const gd_requires *terms,
                      const gd_require_extent *extent, gd_require_launch *launch)
{
    const gd_require_name *name = &terms->names[extent->name];
    uint64_t bytes;

    if (!(extent->maps & ~launch->understood) &&
        gd_require_extent_evaluate(terms, extent, launch, &bytes) == GD_REQUIRE_DONE &&
        bytes <= UINT64_MAX - launch->values[extent->name])
        reaches[name->index] = (struct gd_reach){.start = launch->values[extent->name],
                                                 .end = launch->values[extent->name] + bytes,
                                                 .name = name->name,
                                                 .text = extent->text};
}

struct gd_reach *gd_extents_of(const gd_grid_view *view)
{
    /* What is filled in changes nothing that other readers of the entry see. */
    gd_image *image = (gd_image *)(uintptr_t)view->entry;
    gd_program *program = (gd_program *)(uintptr_t)view->entry->program;
    const gd_requires *terms = find_terms(program, image);
    const uint32_t count = view->entry->parameter_count;
    const gd_ptx_symbol *symbols =
        &program->module->symbols[program->module->functions[view->entry->function].parameter];
    uint32_t shape[GD_REQUIRE_SHAPE] = {[GD_REQUIRE_SHARED] = view->dynamic_shared_bytes};

    if (!terms || !terms->extent_count || !find_roots(image))
        return NULL;
    struct gd_reach *reaches = calloc((size_t)count + 1, sizeof *reaches);
    void **arguments = calloc((size_t)count + 1, sizeof *arguments);
    gd_require_launch *launch = calloc(1, sizeof *launch);
    memcpy(shape + GD_REQUIRE_GRID, view->grid, sizeof view->grid);
    memcpy(shape + GD_REQUIRE_BLOCK, view->block, sizeof view->block);
    memcpy(shape + GD_REQUIRE_CLUSTER, view->cluster, sizeof view->cluster);
    for (uint32_t i = 0; arguments && i < count; i++)
        arguments[i] = (void *)(uintptr_t)(view->parameters + symbols[i].offset);
    if (reaches && arguments && launch)
        gd_requires_load(terms, shape, arguments, true, launch);
    for (uint32_t i = 0; reaches && arguments && launch && i < terms->extent_count; i++)
        add_reach(reaches, terms, &terms->extents[i], launch);
    free(arguments);
    free(launch);
    return reaches;
}

const struct gd_reach *gd_extent_left(const gd_grid_view *view, const gd_image *image,
                                      const gd_code *code, uint64_t address, uint64_t bytes)
{
    const gd_ptx_function *function =
        &view->entry->program->module->functions[view->entry->function];
    const uint32_t at = code->instruction - function->instruction;
    const uint32_t root =
        view->reaches && code->instruction < function->instruction_end && image->roots
            ? image->roots[at]
            : 0;
    const struct gd_reach *reach = root ? &view->reaches[root - 1] : NULL;

    return reach && reach->text && (address < reach->start || address + bytes > reach->end) ? reach
                                                                                            : NULL;
}

/* The plan as data: building, deriving, freeing. */
#include "cli/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"

#define ADD(array, count)                                                                          \
    (array = gd_heap_grow(array, count, (size_t)(count) + 1, sizeof(*(array))), &(array)[(count)++])

gd_plan_module *gd_plan_add_module(gd_plan *plan)
{
    return ADD(plan->modules, plan->module_count);
}

gd_plan_buffer *gd_plan_add_buffer(gd_plan *plan)
{
    return ADD(plan->buffers, plan->buffer_count);
}

gd_plan_launch *gd_plan_add_launch(gd_plan *plan)
{
    gd_plan_launch *launch = ADD(plan->launches, plan->launch_count);
    launch->config.size = sizeof(launch->config);
    return launch;
}

gd_plan_argument *gd_plan_add_argument(gd_plan_launch *launch)
{
    return ADD(launch->arguments, launch->argument_count);
}

const char *const gd_plan_pdl_names[3] = {[GRIDDEP_PDL_AUTO - 1] = "auto",
                                          [GRIDDEP_PDL_OFF - 1] = "off",
                                          [GRIDDEP_PDL_FORCE - 1] = "force"};

const char *gd_plan_launch_name(const gd_plan *plan, uint32_t launch)
{
    const gd_plan_launch *of = &plan->launches[launch];
    return of->name != NULL ? of->name : of->kernel;
}

char *gd_plan_launch_text(const gd_plan *plan, uint32_t launch)
{
    return gd_heap_format("launch %u (%s)", (unsigned)launch, gd_plan_launch_name(plan, launch));
}

gd_plan_expectation *gd_plan_add_expectation(gd_plan *plan)
{
    return ADD(plan->expectations, plan->expectation_count);
}

uint32_t gd_plan_lane(gd_plan *plan, const char *name)
{
    const char *wanted = name != NULL ? name : "main";
    for (uint32_t i = 0; i < plan->lane_count; i++)
        if (strcmp(plan->lanes[i], wanted) == 0)
            return i;
    ADD(plan->lanes, plan->lane_count)[0] = gd_heap_string(wanted);
    return plan->lane_count - 1;
}

uint32_t gd_plan_shelf_module(gd_plan *plan, const char *kernel, gd_place place)
{
    for (uint32_t i = 0; i < plan->module_count; i++)
        if (plan->modules[i].shelf != NULL && strcmp(plan->modules[i].shelf, kernel) == 0)
            return i;
    gd_plan_module *module = gd_plan_add_module(plan);
    module->name = gd_heap_string(kernel);
    module->shelf = gd_heap_string(kernel);
    module->place = place;
    return plan->module_count - 1;
}

static void add_grid(const gd_plan_launch *launch, uint32_t own, uint32_t grid, uint32_t *grids,
                     uint32_t *count)
{
    bool fits = grid > 0 && grid <= INT32_MAX &&
                (launch->config.cluster[0] == 0 || grid % launch->config.cluster[0] == 0);
    for (uint32_t i = 0; i < *count; i++)
        fits &= grids[i] != grid;
    if (fits && grid != own)
        grids[(*count)++] = grid;
}

uint32_t *gd_plan_grids(const gd_plan_launch *launch, uint32_t multiprocessors, uint32_t *count)
{
    uint32_t own = launch->grid_is_multiprocessors ? multiprocessors : launch->config.grid[0];
    uint32_t *grids = gd_heap_take(3 * (size_t)launch->grid_count + 1, sizeof(*grids));
    *count = 0;
    for (uint32_t i = 0; i < launch->grid_count; i++) {
        uint32_t grid = launch->grids[i];
        if (grid == (uint32_t)GD_GRID_MULTIPROCESSORS)
            add_grid(launch, own, multiprocessors, grids, count);
        else if (grid != GD_GRID_ANY)
            add_grid(launch, own, grid, grids, count);
        else
            for (uint32_t twice = 1; twice <= 4; twice *= 2) /* of half the multiprocessors */
                add_grid(launch, own, (multiprocessors * twice + 1) / 2, grids, count);
    }
    return grids;
}

static void add_carveout(int32_t percent, int32_t *carveouts, uint32_t *count)
{
    for (uint32_t i = 0; i < *count; i++)
        if (carveouts[i] == percent)
            return;
    carveouts[(*count)++] = percent;
}

int32_t *gd_plan_carveouts(const gd_plan_launch *launch, uint32_t *count)
{
    int32_t *carveouts = gd_heap_take(5 * (size_t)launch->carveout_count + 1, sizeof(*carveouts));
    /* The one that it has stands before the list while that is made. */
    carveouts[0] = launch->has_carveout ? launch->carveout_percent : GRIDDEP_CARVEOUT_DEFAULT;
    *count = 1;
    for (uint32_t i = 0; i < launch->carveout_count; i++) {
        if (launch->carveouts[i] != GD_CARVEOUT_ANY)
            add_carveout(launch->carveouts[i], carveouts, count);
        else
            for (int32_t percent = 0; percent <= 100; percent += 25)
                add_carveout(percent, carveouts, count);
    }
    (*count)--;
    memmove(carveouts, carveouts + 1, *count * sizeof(*carveouts));
    return carveouts;
}

uint32_t gd_plan_argument_bytes(const gd_plan_argument *argument)
{
    if (argument->tensor != NULL)
        return sizeof(griddep_tensor_map);
    if (argument->data != NULL)
        return argument->data_bytes;
    return argument->is_buffer ? 8 : gd_type_bytes(argument->type);
}

uint64_t gd_plan_buffer_bytes(const gd_plan_buffer *buffer)
{
    return buffer->count * gd_type_bytes(buffer->type);
}

uint64_t gd_plan_reach(const gd_plan *plan, const gd_plan_argument *argument)
{
    const gd_plan_buffer *buffer = &plan->buffers[argument->buffer];
    uint64_t count = argument->count > 0 ? argument->count : buffer->count - argument->offset;
    return count * gd_type_bytes(buffer->type);
}

bool gd_plan_writes(const gd_plan_argument *argument)
{
    return argument->access != GRIDDEP_ACCESS_READ && argument->access != GRIDDEP_ACCESS_CONSTANT;
}

bool gd_plan_is_kernel(const gd_plan_launch *launch)
{
    return launch->node == GRIDDEP_GRAPH_NODE_KERNEL;
}

uint32_t gd_plan_kernel_count(const gd_plan *plan)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->launch_count; i++)
        count += gd_plan_is_kernel(&plan->launches[i]);
    return count;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool uses_before(const gd_plan_launch *launch, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (launch->arguments[i].is_buffer &&
            launch->arguments[i].buffer == launch->arguments[index].buffer)
            return true;
    return false;
}

static bool says_access(const gd_plan_launch *launch)
{
    bool says = true;
    for (uint32_t i = 0; i < launch->argument_count; i++)
        says &= !launch->arguments[i].is_buffer ||
                launch->arguments[i].access != GRIDDEP_ACCESS_UNKNOWN;
    return says;
}

/* Bytes that one launch moves: what it reads of each buffer counts once, and so does what it
 * writes. */
static uint64_t launch_bytes(const gd_plan *plan, const gd_plan_launch *launch)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        if (!launch->arguments[i].is_buffer || uses_before(launch, i))
            continue;
        uint64_t read = 0, written = 0;
        for (uint32_t k = i; k < launch->argument_count; k++) {
            const gd_plan_argument *argument = &launch->arguments[k];
            if (!argument->is_buffer || argument->buffer != launch->arguments[i].buffer)
                continue;
            uint64_t bytes = gd_plan_reach(plan, argument);
            if (argument->access != GRIDDEP_ACCESS_WRITE)
                read = larger(read, bytes);
            if (gd_plan_writes(argument))
                written = larger(written, bytes);
        }
        sum += read + written;
    }
    return sum;
}

/* A buffer that one launch both writes and uses otherwise is not written first: the kernel may read
 * what stood in it. Nor is one that a copy or fill writes in part. */
static bool launch_writes_only(const gd_plan *plan, const gd_plan_launch *launch, uint32_t buffer)
{
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const gd_plan_argument *argument = &launch->arguments[i];
        if (argument->is_buffer && argument->buffer == buffer &&
            (argument->access != GRIDDEP_ACCESS_WRITE || argument->offset > 0 ||
             gd_plan_reach(plan, argument) < gd_plan_buffer_bytes(&plan->buffers[buffer])))
            return false;
    }
    return true;
}

static void note_uses(gd_plan *plan, const gd_plan_launch *launch, bool *used)
{
    for (uint32_t i = 0; i < launch->reach_count; i++)
        used[launch->reaches[i].buffer] = true;
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const gd_plan_argument *argument = &launch->arguments[i];
        for (uint32_t k = 0; k < argument->address_count; k++)
            used[argument->addresses[k].buffer] = true;
        if (!argument->is_buffer)
            continue;
        if (!used[argument->buffer])
            plan->buffers[argument->buffer].written_first =
                launch_writes_only(plan, launch, argument->buffer);
        used[argument->buffer] = true;
    }
}

void gd_plan_find_writers(const gd_plan *plan, const bool *writes, uint32_t *writers)
{
    for (uint32_t i = 0, place = 0; i < plan->launch_count; i++) {
        const gd_plan_launch *launch = &plan->launches[i];
        for (uint32_t k = 0; k < launch->reach_count; k++)
            if (gd_plan_writes(&launch->reaches[k]))
                writers[launch->reaches[k].buffer] = i + 1;
        for (uint32_t k = 0; k < launch->argument_count; k++, place++) {
            const gd_plan_argument *argument = &launch->arguments[k];
            const bool may = writes == NULL || writes[place];
            if (argument->is_buffer &&
                (argument->access == GRIDDEP_ACCESS_UNKNOWN ? may : gd_plan_writes(argument)))
                writers[argument->buffer] = i + 1;
            for (uint32_t n = 0; n < argument->address_count && may; n++)
                writers[argument->addresses[n].buffer] = i + 1;
        }
    }
}

/* NVRTC is asked for the instances of templates, and what is not extern "C", by their C++ names. */
static void note_expression(gd_plan_module *module, const char *kernel)
{
    const char *dot = module->path != NULL ? strrchr(module->path, '.') : NULL;
    if (dot == NULL || strcmp(dot, ".cu") != 0 || strpbrk(kernel, "<:(") == NULL)
        return;
    for (uint32_t i = 0; i < module->expression_count; i++)
        if (strcmp(module->expressions[i], kernel) == 0)
            return;
    module->expressions = gd_heap_grow(module->expressions, module->expression_count,
                                       module->expression_count + 1, sizeof(*module->expressions));
    module->expressions[module->expression_count++] = kernel;
}

void gd_plan_finish(gd_plan *plan)
{
    bool *used = gd_heap_take(plan->buffer_count, sizeof(bool));
    uint32_t *writers = gd_heap_take(plan->buffer_count, sizeof(*writers));
    uint64_t bytes = 0;
    bool known = true;
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        note_uses(plan, &plan->launches[i], used);
        bytes += launch_bytes(plan, &plan->launches[i]);
        known &= says_access(&plan->launches[i]);
        if (gd_plan_is_kernel(&plan->launches[i]))
            note_expression(&plan->modules[plan->launches[i].module], plan->launches[i].kernel);
    }
    gd_plan_find_writers(plan, NULL, writers);
    for (uint32_t i = 0; i < plan->buffer_count; i++)
        plan->buffers[i].written = writers[i] != 0;
    if (plan->step_bytes == 0)
        plan->step_bytes = known ? bytes : 0;
    free(writers);
    free(used);
}

bool gd_plan_may_deviate(const gd_plan *plan, uint32_t buffer)
{
    for (uint32_t i = 0; i < plan->expectation_count; i++) {
        const gd_plan_expectation *expectation = &plan->expectations[i];
        if (expectation->buffer == buffer && expectation->from == GD_EXPECTED_SERIAL &&
            (expectation->tolerance >= 0 || expectation->absolute >= 0))
            return true;
    }
    return false;
}

bool gd_plan_is_expected(const gd_plan *plan, uint32_t buffer)
{
    for (uint32_t i = 0; i < plan->expectation_count; i++)
        if (plan->expectations[i].buffer == buffer)
            return true;
    return false;
}

void gd_plan_free(gd_plan *plan)
{
    for (uint32_t i = 0; i < plan->module_count; i++) {
        free(plan->modules[i].name);
        free(plan->modules[i].path);
        free(plan->modules[i].shelf);
        free(plan->modules[i].code);
        for (uint32_t k = 0; k < plan->modules[i].option_count; k++)
            free((char *)plan->modules[i].options[k]);
        free(plan->modules[i].options);
        free(plan->modules[i].expressions);
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        free(plan->buffers[i].name);
        free(plan->buffers[i].fill.path);
        free(plan->buffers[i].fill.data);
    }
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        for (uint32_t k = 0; k < plan->launches[i].argument_count; k++) {
            free(plan->launches[i].arguments[k].tensor);
            free(plan->launches[i].arguments[k].data);
            free(plan->launches[i].arguments[k].addresses);
        }
        free(plan->launches[i].kernel);
        free(plan->launches[i].name);
        free(plan->launches[i].after);
        free(plan->launches[i].grids);
        free(plan->launches[i].carveouts);
        free(plan->launches[i].arguments);
        free(plan->launches[i].reaches);
    }
    for (uint32_t i = 0; i < plan->expectation_count; i++) {
        free(plan->expectations[i].file.path);
        free(plan->expectations[i].file.data);
    }
    for (uint32_t i = 0; i < plan->lane_count; i++)
        free(plan->lanes[i]);
    free(plan->lanes);
    free(plan->modules);
    free(plan->buffers);
    free(plan->launches);
    free(plan->expectations);
    free(plan->name);
    *plan = (gd_plan){0};
}

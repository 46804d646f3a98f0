/* From a launch of a plan to the library's structs, and the checks that these allow. */
#include "cli/plan/planlaunch.h"

#include <stdlib.h>
#include <string.h>

#include "run/private.h"

#include "cli/io/heap.h"

static const uint64_t made_up_start = (uint64_t)1 << 32, made_up_step = (uint64_t)1 << 21;

static void fill_struct(const gd_plan *plan, const gd_plan_argument *argument,
                        const uint64_t *addresses, unsigned char *data)
{
    memcpy(data, argument->data, argument->data_bytes);
    for (uint32_t i = 0; i < argument->address_count; i++) {
        const gd_plan_address *each = &argument->addresses[i];
        uint64_t element = gd_type_bytes(plan->buffers[each->buffer].type);
        uint64_t address = addresses[each->buffer] + each->offset * element;
        memcpy(data + each->at, &address, sizeof(address));
    }
}

griddep_argument *gd_planlaunch_arguments(const gd_plan *plan, const gd_plan_launch *launch,
                                          const uint64_t *addresses, const griddep_tensor_map *maps)
{
    static const griddep_tensor_map none;
    size_t room = launch->argument_count * sizeof(griddep_argument);
    for (uint32_t i = 0; i < launch->argument_count; i++)
        room += launch->arguments[i].data_bytes;
    griddep_argument *arguments = gd_heap_take(room, 1);
    unsigned char *data = (unsigned char *)&arguments[launch->argument_count];
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const gd_plan_argument *argument = &launch->arguments[i];
        arguments[i].bytes = gd_plan_argument_bytes(argument);
        if (argument->tensor != NULL) {
            arguments[i].data = maps != NULL ? &maps[i] : &none;
        } else if (argument->data != NULL) {
            fill_struct(plan, argument, addresses, data);
            arguments[i].data = data;
            data += argument->data_bytes;
        } else if (argument->is_buffer) {
            uint64_t element = gd_type_bytes(plan->buffers[argument->buffer].type);
            arguments[i].value = addresses[argument->buffer] + argument->offset * element;
        } else {
            arguments[i].value = argument->value;
        }
    }
    return arguments;
}

griddep_launch_config gd_planlaunch_config(const gd_plan_launch *launch, int32_t pdl,
                                           uint32_t multiprocessors)
{
    griddep_launch_config config = launch->config;
    config.attributes = launch->attributes;
    if (config.pdl == GRIDDEP_PDL_DEFAULT)
        config.pdl = pdl;
    if (launch->grid_is_multiprocessors)
        config.grid[0] = multiprocessors;
    return config;
}

int32_t gd_planlaunch_expose(const gd_plan *plan, uint32_t multiprocessors, const uint32_t *grids,
                             griddep_chain *chain, griddep_error *error)
{
    bool *held = gd_heap_take(plan->launch_count, sizeof(*held));
    int32_t status = GRIDDEP_OK;
    for (uint32_t i = 0; i < plan->launch_count && status == GRIDDEP_OK; i++) {
        griddep_hop_info hop = {.size = sizeof(hop)};
        status = griddep_chain_get_hop(chain, GRIDDEP_MODE_PDL, i, &hop, error);
        held[i] = hop.reason == GRIDDEP_REASON_RACE;
    }
    for (uint32_t i = 0; i < plan->launch_count && status == GRIDDEP_OK; i++) {
        griddep_launch_config config =
            gd_planlaunch_config(&plan->launches[i], GRIDDEP_PDL_DEFAULT, multiprocessors);
        config.pdl = GRIDDEP_PDL_FORCE;
        if (grids != NULL)
            config.grid[0] = grids[i];
        if (held[i])
            status = griddep_chain_set_config(chain, i, &config, error);
    }
    free(held);
    return status;
}

/* How far an argument of a kernel reaches, by a tensor map or the head comment; 0: not told. */
static uint64_t reach_of(const gd_plan *plan, const gd_plan_launch *launch, uint32_t index,
                         const gd_planlaunch_made *made)
{
    uint64_t start = 0, bytes = 0;
    if (launch->arguments[index].tensor != NULL)
        return gd_tensor_map_range(made->arguments[index].data, &start, &bytes)
                   ? bytes
                   : gd_plan_reach(plan, &launch->arguments[index]);
    return made->ptx != NULL &&
                   griddep_ptx_get_extent(made->ptx, made->entry, made->config, made->arguments,
                                          launch->argument_count, index, &bytes, NULL) == GRIDDEP_OK
               ? bytes
               : 0;
}

/* A struct that is one address, or a tensor map, whose address it begins with. */
static void find_in_struct(const gd_plan *plan, const gd_plan_argument *argument,
                           const griddep_argument *given, griddep_use *use)
{
    const gd_plan_address *first = argument->address_count > 0 ? &argument->addresses[0] : NULL;
    uint64_t start = 0;
    if (first == NULL || first->at != 0 ||
        (argument->data_bytes != sizeof(uint64_t) &&
         (argument->data_bytes != sizeof(griddep_tensor_map) ||
          !gd_tensor_map_range(given->data, &start, &use->bytes))))
        return;
    use->buffer = first->buffer + 1;
    use->offset = first->offset * gd_type_bytes(plan->buffers[first->buffer].type);
}

static griddep_use use_of(const gd_plan *plan, const gd_plan_argument *argument)
{
    griddep_use use = {.size = sizeof(use)};
    if (!argument->is_buffer)
        return use;
    const gd_plan_buffer *buffer = &plan->buffers[argument->buffer];
    use.buffer = argument->buffer + 1;
    use.access = argument->access;
    use.offset = argument->offset * gd_type_bytes(buffer->type);
    use.bytes = gd_plan_reach(plan, argument);
    use.element = gd_type_name(argument->viewed ? argument->type : buffer->type);
    return use;
}

int32_t gd_planlaunch_kernel(const gd_plan_launch *launch, griddep_module *module, const char *name,
                             griddep_kernel **kernel, griddep_error *error)
{
    int32_t status = griddep_module_find_kernel(module, name, kernel, error);
    if (status == GRIDDEP_OK && launch->states != 0)
        status = griddep_kernel_state_traits(*kernel, launch->states, error);
    return status;
}

int32_t gd_planlaunch_add_move(const gd_plan *plan, const gd_plan_launch *launch,
                               const uint64_t *addresses, griddep_chain *chain,
                               griddep_error *error)
{
    const uint64_t bytes = gd_plan_reach(plan, &launch->arguments[0]);
    uint64_t at[2] = {made_up_start, made_up_start};
    for (uint32_t i = 0; i < launch->argument_count && addresses != NULL; i++) {
        const gd_plan_argument *argument = &launch->arguments[i];
        at[i] = addresses[argument->buffer] +
                argument->offset * gd_type_bytes(plan->buffers[argument->buffer].type);
    }
    return launch->node == GRIDDEP_GRAPH_NODE_COPY
               ? griddep_chain_add_copy(chain, &launch->config, at[0], at[1], bytes, error)
               : griddep_chain_add_fill(chain, &launch->config, at[0], launch->value, bytes, error);
}

int32_t gd_planlaunch_describe(const gd_plan *plan, const gd_plan_launch *launch,
                               const gd_planlaunch_made *made, griddep_chain *chain,
                               griddep_error *error)
{
    const uint32_t index = griddep_chain_length(chain) - 1;
    const bool instance = launch->kernel != NULL && strpbrk(launch->kernel, "<:(") != NULL;
    int32_t status = griddep_chain_set_name(chain, index,
                                            launch->name != NULL ? launch->name
                                            : instance           ? launch->kernel
                                                                 : NULL,
                                            error);
    for (uint32_t i = 0; i < launch->after_count && status == GRIDDEP_OK; i++)
        status = griddep_chain_depend(chain, index, launch->after[i], error);
    for (uint32_t i = 0; i < launch->argument_count && status == GRIDDEP_OK; i++) {
        griddep_use use = use_of(plan, &launch->arguments[i]);
        if (gd_plan_is_kernel(launch) && use.buffer != 0)
            use.bytes = reach_of(plan, launch, i, made);
        else if (launch->arguments[i].data != NULL)
            find_in_struct(plan, &launch->arguments[i], &made->arguments[i], &use);
        /* To say nothing of a struct with addresses is not to say that it has none. */
        if (use.buffer != 0 || launch->arguments[i].address_count == 0)
            status = griddep_chain_set_use(chain, index, i, &use, error);
    }
    if (status != GRIDDEP_OK || launch->reaches == NULL)
        return status;
    griddep_use *reaches = gd_heap_take(launch->reach_count, sizeof(*reaches));
    for (uint32_t i = 0; i < launch->reach_count; i++)
        reaches[i] = use_of(plan, &launch->reaches[i]);
    status = griddep_chain_set_reach(chain, index, reaches, launch->reach_count, error);
    free(reaches);
    return status;
}

bool gd_planlaunch_entry(const char *kernel, const griddep_ptx *ptx, uint32_t *entry)
{
    griddep_ptx_entry_info info = {.size = sizeof(info)};
    for (*entry = 0; griddep_ptx_get_entry(ptx, *entry, &info, NULL) == GRIDDEP_OK; (*entry)++)
        if (strcmp(info.name, kernel) == 0)
            return true;
    return false;
}

/* What the head comment does not tell is not compared. */
static int check_buffer(const gd_plan *plan, const gd_plan_launch *launch, uint32_t index,
                        int32_t status, uint64_t touched, const griddep_error *error)
{
    const gd_plan_argument *argument = &launch->arguments[index];
    const gd_plan_buffer *buffer = &plan->buffers[argument->buffer];
    uint64_t bytes = (buffer->count - argument->offset) * gd_type_bytes(buffer->type);
    if (status == GRIDDEP_ERROR_NOT_FOUND)
        return 0;
    if (status != GRIDDEP_OK)
        return gd_message_library_at(argument->place, error, NULL);
    if (touched <= bytes)
        return 0;
    return gd_message_error_at(
        argument->place,
        "%s may touch %llu bytes of buffer '%s' from element %llu on; there are %llu",
        launch->kernel, (unsigned long long)touched, buffer->name,
        (unsigned long long)argument->offset, (unsigned long long)bytes);
}

/* Where a launch stands that is beyond a limit: the field without which it is not, else the
 * launch. */
static gd_place find_limit(const gd_plan_launch *launch, const griddep_ptx *ptx, uint32_t entry,
                           const griddep_launch_config *config, const griddep_argument *arguments)
{
    for (uint32_t i = 0; i < GD_PLAN_SHAPES; i++) {
        griddep_launch_config other = *config;
        uint32_t *const shapes[] = {other.grid, other.block, other.cluster};
        for (uint32_t k = 0; i < 3 && k < 3; k++)
            shapes[i][k] = i < 2;
        if (i == 3)
            other.shared_bytes = 0;
        if (griddep_ptx_check_launch(ptx, entry, &other, arguments, launch->argument_count, NULL) !=
            GRIDDEP_ERROR_LIMIT)
            return launch->shape_places[i];
    }
    return launch->place;
}

int gd_planlaunch_check(const gd_plan *plan, const gd_plan_launch *launch, const griddep_ptx *ptx,
                        uint32_t entry, const griddep_launch_config *config,
                        const griddep_argument *arguments)
{
    int code = 0;
    griddep_error error;
    griddep_error_init(&error);
    const int32_t checked =
        griddep_ptx_check_launch(ptx, entry, config, arguments, launch->argument_count, &error);
    if (checked != GRIDDEP_OK)
        return gd_message_library_at(checked == GRIDDEP_ERROR_LIMIT
                                         ? find_limit(launch, ptx, entry, config, arguments)
                                         : launch->place,
                                     &error, NULL);
    for (uint32_t i = 0; i < launch->argument_count && code == 0; i++) {
        uint64_t touched = 0;
        if (!launch->arguments[i].is_buffer)
            continue;
        int32_t status = griddep_ptx_get_extent(ptx, entry, config, arguments,
                                                launch->argument_count, i, &touched, &error);
        code = check_buffer(plan, launch, i, status, touched, &error);
    }
    return code;
}

/* The maps that a driver would make; one that it alone knows remains zero. *wrong: the argument
 * whose map is refused. */
static int32_t make_maps(const gd_plan *plan, const gd_plan_launch *launch,
                         const uint64_t *addresses, griddep_tensor_map *maps, uint32_t *wrong,
                         griddep_error *error)
{
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const gd_plan_argument *argument = &launch->arguments[i];
        if (argument->tensor == NULL)
            continue;
        griddep_tensor_options options = *argument->tensor;
        options.address = addresses[argument->buffer] +
                          argument->offset * gd_type_bytes(plan->buffers[argument->buffer].type);
        int32_t status = gd_tensor_map_offline(&options, &maps[i], error);
        *wrong = i;
        if (status != GRIDDEP_OK && status != GRIDDEP_ERROR_UNSUPPORTED)
            return status;
    }
    return GRIDDEP_OK;
}

/* Of a grid that the device decides, only what no device takes can be told: one cluster stands for
 * the grid. */
static int check_limits(const gd_plan_launch *launch, const griddep_ptx *ptx, uint32_t entry,
                        const griddep_launch_config *given, const griddep_argument *arguments)
{
    griddep_launch_config config = *given;
    griddep_error error;
    griddep_error_init(&error);
    config.grid[0] = config.cluster[0] > 0 ? config.cluster[0] : 1;
    int32_t status =
        griddep_ptx_check_launch(ptx, entry, &config, arguments, launch->argument_count, &error);
    return status == GRIDDEP_ERROR_LIMIT
               ? gd_message_library_at(find_limit(launch, ptx, entry, &config, arguments), &error,
                                       NULL)
               : 0;
}

uint64_t *gd_planlaunch_made_up(const gd_plan *plan)
{
    uint64_t *addresses = gd_heap_take(plan->buffer_count, sizeof(*addresses));
    uint64_t next = made_up_start;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        addresses[i] = next;
        next += (gd_plan_buffer_bytes(&plan->buffers[i]) / made_up_step + 1) * made_up_step;
    }
    return addresses;
}

int32_t gd_planlaunch_describe_early(const gd_plan *plan, const gd_plan_launch *launch,
                                     const griddep_ptx *ptx, const char *entry,
                                     const uint64_t *addresses, griddep_chain *chain,
                                     griddep_error *error)
{
    griddep_tensor_map *maps = gd_heap_take(launch->argument_count, sizeof(*maps));
    uint32_t wrong = 0;
    int32_t status = make_maps(plan, launch, addresses, maps, &wrong, error);
    griddep_argument *arguments = gd_planlaunch_arguments(plan, launch, addresses, maps);
    const griddep_launch_config config = gd_planlaunch_config(launch, GRIDDEP_PDL_DEFAULT, 0);
    gd_planlaunch_made made = {.config = &config, .arguments = arguments};
    if (ptx != NULL && !launch->grid_is_multiprocessors &&
        gd_planlaunch_entry(entry, ptx, &made.entry))
        made.ptx = ptx;
    if (status == GRIDDEP_OK)
        status = gd_planlaunch_describe(plan, launch, &made, chain, error);
    free(arguments);
    free(maps);
    return status;
}

int gd_planlaunch_check_early(const gd_plan *plan, const gd_plan_launch *launch,
                              const griddep_ptx *ptx, uint32_t entry, const uint64_t *addresses)
{
    griddep_tensor_map *maps = gd_heap_take(launch->argument_count, sizeof(*maps));
    uint32_t wrong = 0;
    griddep_error error;
    griddep_error_init(&error);
    int code = 0;
    if (make_maps(plan, launch, addresses, maps, &wrong, &error) != GRIDDEP_OK)
        code = gd_message_library_at(launch->arguments[wrong].place, &error, NULL);
    griddep_argument *arguments = gd_planlaunch_arguments(plan, launch, addresses, maps);
    const griddep_launch_config config = gd_planlaunch_config(launch, GRIDDEP_PDL_DEFAULT, 0);
    if (code == 0 && launch->grid_is_multiprocessors)
        code = check_limits(launch, ptx, entry, &config, arguments);
    else if (code == 0)
        code = gd_planlaunch_check(plan, launch, ptx, entry, &config, arguments);
    free(arguments);
    free(maps);
    return code;
}

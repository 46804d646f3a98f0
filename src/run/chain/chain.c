/* A chain: launches, copies, fills and host functions, checked and packed when they are added.
 *
 * A launch is kept in the driver's own terms, so that running it is one driver call. decide.c
 * tells what starts early, ready.c makes the modes ready and runs them, change.c changes what is
 * there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/launches.h"
#include "ptx/handle/ptx.h"
#include "run/chain/chain.h"
#include "run/graph/graph.h"
#include "run/host.h"
#include "run/module/module.h"

enum { GD_CHAIN_MOST_ARGUMENTS = 4096 };

const gd_call_owner gd_chain_owner = {"chain", "griddep_chain_run", true};

/* ---- launches ---- */

static void free_uses(griddep_use *uses, uint32_t count)
{
    for (uint32_t i = 0; i < count && uses; i++)
        free((char *)(uintptr_t)uses[i].element);
    free(uses);
}

void gd_chain_forget_uses(gd_chain_launch *launch)
{
    free_uses(launch->given.uses, launch->given.use_count);
    launch->given.uses = NULL;
    free_uses(launch->given.reaches, launch->given.reach_count);
    launch->given.reaches = NULL;
    launch->given.reach_count = 0;
    launch->given.reach_stated = false;
}

static void free_large(gd_chain_large *large)
{
    if (large)
        gd_module_release(large->module);
    free(large);
}

/* NULL: there is nothing to copy, or no memory. */
static gd_chain_large *copy_large(const gd_chain_large *from)
{
    gd_chain_large *large = from ? malloc(sizeof *large) : NULL;

    if (large) {
        *large = *from;
        gd_module_hold(large->module);
    }
    return large;
}

bool gd_chain_has_large(const griddep_chain *chain)
{
    bool found = false;

    for (uint32_t i = 0; i < chain->count && !found; i++)
        found = chain->launches[i].large != NULL;
    return found;
}

static void destroy_launch(gd_chain_launch *launch)
{
    griddep_ptx_destroy((griddep_ptx *)(uintptr_t)launch->given.ptx);
    free((char *)(uintptr_t)launch->given.entry);
    free((char *)(uintptr_t)launch->given.name);
    free(launch->given.after);
    gd_chain_forget_uses(launch);
    free(launch->addresses);
    free_large(launch->large);
}

const char *gd_chain_kernel_name(const gd_chain_launch *launch)
{
    const int32_t node = launch->given.node;
    const griddep_kernel *kernel = gd_chain_kernel(launch);
    const char *name = kernel                              ? kernel->name
                       : node == GRIDDEP_GRAPH_NODE_KERNEL ? launch->given.entry
                       : launch->large ? gd_group_hop_name(launch->large->step.operation)
                                       : gd_graph_type_name(node);

    return name ? name : "the kernel";
}

const char *gd_chain_name(const gd_chain_launch *launch)
{
    return launch->given.name ? launch->given.name : gd_chain_kernel_name(launch);
}

static int32_t grow(griddep_chain *chain, uint32_t lane, griddep_error *error)
{
    if (chain->count == chain->capacity) {
        uint32_t capacity = chain->capacity ? chain->capacity * 2 : 16;
        gd_chain_launch *more =
            capacity > chain->capacity ? realloc(chain->launches, capacity * sizeof *more) : NULL;
        if (more)
            chain->launches = more;
        if (!more || !gd_chain_grow_sets(chain, capacity))
            return gd_error_memory(error);
        chain->capacity = capacity;
    }
    if (lane == chain->lane_count) {
        uint32_t *more = realloc(chain->last, ((size_t)lane + 1) * sizeof *more);
        if (!more)
            return gd_error_memory(error);
        chain->last = more;
        chain->last[chain->lane_count++] = GD_CHAIN_NONE;
    }
    return GRIDDEP_OK;
}

/* Where a copy, a fill or a host function stands beside a kernel. */
static void note_neighbours(griddep_chain *chain, uint32_t from, uint32_t to)
{
    const bool first = gd_chain_is_kernel(chain, from), second = gd_chain_is_kernel(chain, to);

    chain->launches[from].before_kernel |= !first && second;
    chain->launches[to].behind_kernel |= first && !second;
}

/* Whether no launch but `own` has a name. */
static int32_t check_name(const griddep_chain *chain, const char *name, uint32_t own,
                          griddep_error *error)
{
    for (uint32_t i = 0; i < chain->count && name; i++) {
        if (i != own && chain->launches[i].given.name &&
            !strcmp(chain->launches[i].given.name, name))
            return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                                "launch %" PRIu32 " (%s) is named \"%s\" already", i,
                                gd_chain_kernel_name(&chain->launches[i]), name);
    }
    return GRIDDEP_OK;
}

/* On success what the item has is taken over, but for its name, which is copied, and so is the call
 * of a kernel. `move` is NULL there. */
static int32_t append(griddep_chain *chain, const gd_chain_launch *item, gd_call *call,
                      const gd_chain_move *move, griddep_error *error)
{
    static const gd_chain_move none;
    char *name = NULL;

    if (item->given.lane > chain->lane_count)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "lane %" PRIu32 " of a chain that has %" PRIu32
                            "; lanes are numbered without gaps",
                            item->given.lane, chain->lane_count);
    int32_t status = check_name(chain, item->given.name, chain->count, error);
    if (!status && item->given.name && !(name = strdup(item->given.name)))
        status = gd_error_memory(error);
    if (!status)
        status = grow(chain, item->given.lane, error);
    if (status) {
        free(name);
        return status;
    }
    gd_chain_launch *launch = &chain->launches[chain->count];
    *launch = *item;
    launch->of = chain;
    launch->given.name = name;
    launch->previous = chain->last[item->given.lane];
    chain->last[item->given.lane] = chain->count++;
    gd_chain_fill_sets(chain, call, move ? move : &none);
    gd_chain_decide_trigger(chain, launch);
    if (launch->previous != GD_CHAIN_NONE)
        note_neighbours(chain, launch->previous, chain->count - 1);
    chain->lanes_ready = false;
    gd_chain_drop_graphs(chain);
    return GRIDDEP_OK;
}

/* NULL: there is nothing to copy, or no memory. */
static griddep_use *copy_uses(const griddep_use *from, uint32_t count)
{
    griddep_use *uses = from ? calloc((size_t)count + 1, sizeof *uses) : NULL;
    bool whole = true;

    for (uint32_t i = 0; uses && i < count; i++) {
        const char *element = from[i].element;
        uses[i] = from[i];
        uses[i].element = element && whole ? strdup(element) : NULL;
        whole = whole && (!element || uses[i].element);
    }
    if (!whole)
        free_uses(uses, count);
    return whole ? uses : NULL;
}

int32_t gd_chain_append_like(griddep_chain *chain, const gd_chain_launch *like, gd_call *call,
                             const gd_chain_move *move, griddep_error *error)
{
    const gd_check_launch *from = &like->given;
    gd_chain_launch item = {.given = *from, .large = copy_large(like->large), .held = like->held};

    item.given.after = NULL;
    item.given.after_count = 0;
    item.given.uses = copy_uses(from->uses, from->use_count);
    item.given.reaches = copy_uses(from->reaches, from->reach_count);
    int32_t status = (from->uses && !item.given.uses) || (from->reaches && !item.given.reaches) ||
                             (like->large && !item.large)
                         ? gd_error_memory(error)
                         : append(chain, &item, call, move, error);

    if (status) {
        gd_chain_forget_uses(&item);
        free_large(item.large);
    }
    return status;
}

static int32_t launch_move(const griddep_chain *chain, const gd_chain_launch *launch,
                           gd_CUstream stream, griddep_error *error)
{
    const gd_driver *driver = chain->runtime->driver;
    const gd_chain_move *move = gd_chain_move_of(launch);

    if (launch->given.node == GRIDDEP_GRAPH_NODE_HOST)
        return gd_host_add(chain->runtime, stream, move->function, move->user, error);
    gd_CUresult result =
        launch->given.node == GRIDDEP_GRAPH_NODE_COPY
            ? driver->cuMemcpyAsync(move->target, move->source, (size_t)move->bytes, stream)
            : driver->cuMemsetD8Async(move->target, move->value, (size_t)move->bytes, stream);

    if (result == GD_CUDA_SUCCESS)
        return GRIDDEP_OK;
    int32_t status = gd_driver_fail(driver, result, error, "a %s of %" PRIu64 " bytes",
                                    gd_chain_kernel_name(launch), move->bytes);
    return gd_runtime_blame_stream(chain->runtime, stream, status, error);
}

int32_t gd_chain_launch_one(const griddep_chain *chain, int32_t mode, uint32_t index,
                            int32_t reason, gd_CUstream stream, gd_CUevent event,
                            griddep_error *error)
{
    const gd_chain_launch *launch = &chain->launches[index];
    const gd_call *call = gd_chain_call(launch);
    const bool by_event = gd_chain_previous(launch) != launch->previous;
    gd_launch_given given;
    int32_t status;

    if (call) {
        gd_launch_give(chain->runtime, &call->launch, gd_chain_pdl(chain, mode, index),
                       !by_event && reason <= GRIDDEP_REASON_FORCED, stream, event, &given);
        status = gd_launch_submit(call->kernel, &call->launch, &given, call->pointers, NULL, error);
    } else if (launch->large) {
        const gd_chain_large *large = launch->large;
        status = gd_group_call_nccl(large->group, large->member, &large->step, large->bytes,
                                    gd_chain_move_of(launch)->source,
                                    gd_chain_move_of(launch)->target, stream, error);
    } else {
        status = launch_move(chain, launch, stream, error);
    }
    if (status)
        gd_error_append(error, " (launch %" PRIu32 " of the chain)", index);
    return status;
}

/* ---- public ---- */

static int32_t check_given(const griddep_chain *chain, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    return status || chain ? status : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "chain is NULL");
}

int32_t gd_chain_can_run(const griddep_chain *chain, int32_t mode, griddep_error *error)
{
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (!chain->runtime)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "the chain was made without a runtime: it can be checked, not run");
    if (mode < 0 || mode >= GRIDDEP_MODE_COUNT)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "mode is %" PRId32 ", which is no GRIDDEP_MODE_*", mode);
    return GRIDDEP_OK;
}

int32_t gd_chain_no_launch(const griddep_chain *chain, uint32_t index, griddep_error *error)
{
    return gd_error_no_number(error, "the chain", "", chain->count, "launch", "launches", index);
}

int32_t griddep_chain_create(griddep_runtime *runtime, griddep_chain **chain, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!chain)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "chain is NULL");
    griddep_chain *created = calloc(1, sizeof *created);
    if (!created)
        return gd_error_memory(error);
    created->sets = calloc(1, sizeof(gd_chain_set *));
    if (!created->sets || !(created->sets[0] = gd_chain_make_set(created))) {
        free(created->sets);
        free(created);
        return gd_error_memory(error);
    }
    created->set_count = 1;
    created->now = created->sets[0];
    created->runtime = runtime ? gd_runtime_hold(runtime) : NULL;
    *chain = created;
    return GRIDDEP_OK;
}

static void end_later(griddep_runtime *runtime, void *chain)
{
    (void)runtime;
    griddep_chain_destroy(chain);
}

void griddep_chain_destroy(griddep_chain *chain)
{
    if (!chain || (chain->runtime && gd_host_put_off(chain->runtime, end_later, chain, NULL)))
        return;
    gd_chain_forget_found(chain);
    gd_check_facts_destroy(chain->facts); /* of texts that the calls hold */
    for (uint32_t i = 0; i < chain->set_count; i++)
        gd_chain_free_set(chain, chain->sets[i]);
    free(chain->sets);
    if (chain->runtime)
        gd_chain_end_lanes(chain->runtime, chain->lanes);
    free(chain->buffers);
    for (uint32_t i = 0; i < chain->count; i++)
        destroy_launch(&chain->launches[i]);
    free(chain->launches);
    free(chain->last);
    gd_group_end_programs(chain->programs);
    if (chain->runtime)
        gd_runtime_release(chain->runtime);
    free(chain);
}

int32_t griddep_chain_add(griddep_chain *chain, griddep_kernel *kernel,
                          const griddep_launch_config *config, const griddep_argument *arguments,
                          uint32_t argument_count, griddep_error *error)
{
    griddep_launch_config own;
    gd_chain_launch item = {.given.use_count = argument_count};
    gd_call *call;
    int32_t status = gd_chain_can_run(chain, GRIDDEP_MODE_SERIAL, error);

    if (status)
        return status;
    if (!kernel || !config)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            kernel ? "config" : "kernel");
    if (kernel->runtime != chain->runtime)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "kernel %s belongs to another runtime than the chain", kernel->name);
    status = gd_launch_read_config(&own, config, error);
    if (!status)
        status =
            gd_call_create(kernel, &own, arguments, argument_count, &gd_chain_owner, &call, error);
    if (status)
        return status;
    item.given.lane = own.lane;
    item.given.name = own.name;
    status = append(chain, &item, call, NULL, error);
    if (status)
        gd_call_release(call);
    return status;
}

/* ---- what is no kernel */

static int32_t check_range(uint64_t address, uint64_t bytes, const char *what, griddep_error *error)
{
    if (!address || !bytes || address > UINT64_MAX - bytes)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "the %s is %" PRIu64 " bytes at address 0x%" PRIx64, what, bytes,
                            address);
    return GRIDDEP_OK;
}

int32_t gd_chain_check_move(int32_t node, const gd_chain_move *move, griddep_error *error)
{
    if (node == GRIDDEP_GRAPH_NODE_HOST)
        return move->function ? GRIDDEP_OK
                              : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "function is NULL");
    int32_t status = check_range(move->target, move->bytes, "target", error);

    return status || node != GRIDDEP_GRAPH_NODE_COPY
               ? status
               : check_range(move->source, move->bytes, "source", error);
}

/* Its configuration tells lane and name alone. */
static int32_t read_place(const griddep_launch_config *config, gd_chain_launch *item,
                          griddep_error *error)
{
    griddep_launch_config own = {.size = sizeof own};

    if (!config)
        return GRIDDEP_OK;
    int32_t status = gd_launch_read_config(&own, config, error);
    if (status)
        return status;
    item->given.lane = own.lane;
    item->given.name = own.name;
    const griddep_launch_config allowed = {.size = own.size, .lane = own.lane, .name = own.name};
    if (memcmp(&own, &allowed, sizeof own))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "config tells the lane and the name of a %s, and nothing else",
                            gd_graph_type_name(item->given.node));
    return GRIDDEP_OK;
}

/* `addresses`: how many it has. */
static int32_t add_move(griddep_chain *chain, const griddep_launch_config *config, int32_t node,
                        uint32_t addresses, const gd_chain_move *move, griddep_error *error)
{
    gd_chain_launch item = {.given = {.node = node, .use_count = addresses}};
    int32_t status = check_given(chain, error);

    if (!status)
        status = gd_chain_check_move(node, move, error);
    if (!status)
        status = read_place(config, &item, error);
    return status ? status : append(chain, &item, NULL, move, error);
}

int32_t griddep_chain_add_copy(griddep_chain *chain, const griddep_launch_config *config,
                               uint64_t target, uint64_t source, uint64_t bytes,
                               griddep_error *error)
{
    const gd_chain_move move = {.target = target, .source = source, .bytes = bytes};

    return add_move(chain, config, GRIDDEP_GRAPH_NODE_COPY, 2, &move, error);
}

int32_t griddep_chain_add_fill(griddep_chain *chain, const griddep_launch_config *config,
                               uint64_t address, uint8_t value, uint64_t bytes,
                               griddep_error *error)
{
    const gd_chain_move move = {.target = address, .value = value, .bytes = bytes};

    return add_move(chain, config, GRIDDEP_GRAPH_NODE_FILL, 1, &move, error);
}

int32_t griddep_chain_add_host(griddep_chain *chain, const griddep_launch_config *config,
                               griddep_host_function function, void *user, griddep_error *error)
{
    const gd_chain_move move = {.function = function, .user = user};

    return add_move(chain, config, GRIDDEP_GRAPH_NODE_HOST, 0, &move, error);
}

int32_t gd_chain_append_large(griddep_chain *chain, const griddep_launch_config *config,
                              const gd_chain_large *large, uint64_t source, uint64_t target,
                              griddep_error *error)
{
    gd_chain_launch item = {.given = {.node = GRIDDEP_GRAPH_NODE_CHILD,
                                      .lane = config->lane,
                                      .name = config->name,
                                      .use_count = 2},
                            .large = copy_large(large),
                            .hop = true};
    const gd_chain_move move = {.target = target, .source = source};
    int32_t status = item.large ? append(chain, &item, NULL, &move, error) : gd_error_memory(error);

    if (status)
        free_large(item.large);
    return status;
}

/* ---- entries of PTX */

/* An argument of 8 bytes may be an address; how far it reaches, the head comment may tell. */
static int32_t read_address(const griddep_ptx *ptx, uint32_t entry,
                            const griddep_launch_config *config, const griddep_argument *arguments,
                            uint32_t count, uint32_t index, gd_chain_address *address)
{
    const griddep_argument *argument = &arguments[index];

    if (argument->bytes != sizeof address->at)
        return GRIDDEP_OK;
    memcpy(&address->at, gd_launch_argument_data(argument), sizeof address->at);
    int32_t status = ptx ? griddep_ptx_get_extent(ptx, entry, config, arguments, count, index,
                                                  &address->bytes, NULL)
                         : GRIDDEP_ERROR_NOT_FOUND;
    if (status)
        address->bytes = 0;
    return status == GRIDDEP_ERROR_MEMORY ? status : GRIDDEP_OK;
}

static int32_t read_entry(gd_chain_launch *made, const griddep_launch_config *config,
                          const griddep_argument *arguments, griddep_error *error)
{
    const griddep_ptx *ptx = made->given.ptx;
    const uint32_t count = made->given.use_count;
    int32_t status = GRIDDEP_OK;
    uint32_t entry = 0;

    if (ptx && !gd_ptx_find_entry(ptx, made->given.entry, &entry))
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "%s has no entry \"%s\"",
                            ptx->module.name, made->given.entry);
    if (!arguments)
        return GRIDDEP_OK;
    if (ptx)
        status = griddep_ptx_check_launch(ptx, entry, config, arguments, count, error);
    made->addresses = calloc((size_t)count + 1, sizeof *made->addresses);
    if (!status && !made->addresses)
        status = gd_error_memory(error);
    for (uint32_t i = 0; i < count && !status; i++)
        status = read_address(ptx, entry, config, arguments, count, i, &made->addresses[i]);
    return status == GRIDDEP_ERROR_MEMORY ? gd_error_memory(error) : status;
}

int32_t griddep_chain_add_ptx(griddep_chain *chain, const griddep_ptx *ptx, const char *entry,
                              const griddep_launch_config *config,
                              const griddep_argument *arguments, uint32_t argument_count,
                              griddep_error *error)
{
    griddep_launch_config own = {.size = sizeof own};
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (chain->runtime || (ptx && !entry) || (arguments && !config))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            chain->runtime ? "the chain has a runtime; griddep_chain_add adds to it"
                            : ptx && !entry ? "entry is NULL"
                                            : "config is NULL");
    if (config)
        status = gd_launch_read_config(&own, config, error);
    if (!status && own.stream)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "a launch in a chain has no stream of its own");
    if (status)
        return status;
    if (argument_count > GD_CHAIN_MOST_ARGUMENTS)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%" PRIu32 " arguments; a launch has at most %d", argument_count,
                            GD_CHAIN_MOST_ARGUMENTS);
    gd_chain_launch item = {.given = {.ptx = ptx ? gd_ptx_hold(ptx) : NULL,
                                      .entry = entry ? strdup(entry) : NULL,
                                      .use_count = argument_count,
                                      .pdl = own.pdl,
                                      .lane = own.lane}};
    status = entry && !item.given.entry ? gd_error_memory(error)
                                        : read_entry(&item, &own, arguments, error);
    item.given.name = own.name;
    if (!status)
        status = append(chain, &item, NULL, NULL, error);
    item.given.name = NULL; /* the configuration's */
    if (status)
        destroy_launch(&item);
    return status;
}

int32_t griddep_chain_set_traits(griddep_chain *chain, uint32_t index, uint32_t traits,
                                 griddep_error *error)
{
    const uint32_t all = GRIDDEP_TRAIT_OTHERS_WAIT * 2 - 1;
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (index >= chain->count)
        return gd_chain_no_launch(chain, index, error);
    gd_check_launch *given = &chain->launches[index].given;
    if (chain->runtime || given->node != GRIDDEP_GRAPH_NODE_KERNEL || given->ptx || traits & ~all)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            traits & ~all ? "traits has bits that are no GRIDDEP_TRAIT_*"
                                          : "the code of launch %" PRIu32 " is known",
                            index);
    given->traits = traits | (traits & GRIDDEP_TRAIT_WAITS_ALWAYS ? GRIDDEP_TRAIT_WAITS : 0) |
                    (traits ? GRIDDEP_TRAIT_KNOWN : 0);
    return GRIDDEP_OK;
}

int32_t griddep_chain_depend(griddep_chain *chain, uint32_t index, uint32_t on,
                             griddep_error *error)
{
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (index >= chain->count || on >= chain->count)
        return gd_chain_no_launch(chain, index >= chain->count ? index : on, error);
    gd_chain_launch *launch = &chain->launches[index];
    if (on >= index)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "launch %" PRIu32 " (%s) cannot wait for launch %" PRIu32
                            " (%s), which is not before it",
                            index, gd_chain_name(launch), on, gd_chain_name(&chain->launches[on]));
    if (chain->launches[on].given.lane == launch->given.lane)
        return GRIDDEP_OK;
    for (uint32_t i = 0; i < launch->given.after_count; i++) {
        if (launch->given.after[i] == on)
            return GRIDDEP_OK;
    }
    uint32_t *more =
        realloc(launch->given.after, ((size_t)launch->given.after_count + 1) * sizeof *more);
    if (!more)
        return gd_error_memory(error);
    launch->given.after = more;
    launch->given.after[launch->given.after_count++] = on;
    chain->launches[on].watched = true;
    note_neighbours(chain, on, index);
    gd_chain_follow_trigger(chain, launch);
    chain->lanes_ready = false;
    gd_chain_drop_graphs(chain);
    return GRIDDEP_OK;
}

int32_t griddep_chain_set_name(griddep_chain *chain, uint32_t index, const char *name,
                               griddep_error *error)
{
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (index >= chain->count)
        return gd_chain_no_launch(chain, index, error);
    status = check_name(chain, name, index, error);
    if (status)
        return status;
    char *copy = name ? strdup(name) : NULL;
    if (name && !copy)
        return gd_error_memory(error);
    free((char *)(uintptr_t)chain->launches[index].given.name);
    chain->launches[index].given.name = copy;
    return GRIDDEP_OK;
}

/* The launch, where it has such an argument. Of code that is not known, a use tells that it does.
 * */
static int32_t find_argument(const griddep_chain *chain, uint32_t index, uint32_t argument,
                             griddep_error *error)
{
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (index >= chain->count)
        return gd_chain_no_launch(chain, index, error);
    const gd_chain_launch *launch = &chain->launches[index];
    bool open = !chain->runtime && gd_chain_is_kernel(chain, index) && !launch->addresses &&
                argument < GD_CHAIN_MOST_ARGUMENTS;
    if (argument >= launch->given.use_count && !open)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "launch %" PRIu32 " (%s) has %" PRIu32
                            " arguments; there is no number %" PRIu32,
                            index, gd_chain_name(launch), launch->given.use_count, argument);
    return GRIDDEP_OK;
}

static int32_t make_room(gd_chain_launch *launch, uint32_t argument, griddep_error *error)
{
    uint32_t count = argument < launch->given.use_count ? launch->given.use_count : argument + 1;

    if (launch->given.uses && count == launch->given.use_count)
        return GRIDDEP_OK;
    griddep_use *more = realloc(launch->given.uses, count * sizeof *more);
    if (!more)
        return gd_error_memory(error);
    uint32_t there = launch->given.uses ? launch->given.use_count : 0;
    memset(more + there, 0, (count - there) * sizeof *more);
    launch->given.uses = more;
    launch->given.use_count = count;
    return GRIDDEP_OK;
}

static bool has_buffer(const griddep_chain *chain, gd_chain_address buffer)
{
    bool found = false;

    for (uint32_t i = 0; i < chain->buffer_count && !found; i++)
        found = chain->buffers[i].at == buffer.at && chain->buffers[i].bytes == buffer.bytes;
    return found;
}

static int32_t add_buffer(griddep_chain *chain, gd_chain_address buffer, griddep_error *error)
{
    if (has_buffer(chain, buffer))
        return GRIDDEP_OK;
    if (chain->buffer_count == chain->buffer_capacity) {
        const uint32_t capacity = chain->buffer_capacity ? chain->buffer_capacity * 2 : 16;
        gd_chain_address *more = capacity > chain->buffer_capacity
                                     ? realloc(chain->buffers, capacity * sizeof *more)
                                     : NULL;
        if (!more)
            return gd_error_memory(error);
        chain->buffers = more;
        chain->buffer_capacity = capacity;
    }
    chain->buffers[chain->buffer_count++] = buffer;
    gd_chain_forget_all_held(chain);
    return GRIDDEP_OK;
}

int32_t gd_chain_add_buffers_of(griddep_chain *chain, const griddep_chain *other,
                                griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < other->buffer_count && !status; i++)
        status = add_buffer(chain, other->buffers[i], error);
    return status;
}

int32_t griddep_chain_add_buffer(griddep_chain *chain, uint64_t address, uint64_t bytes,
                                 griddep_error *error)
{
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (!address || !bytes || bytes > UINT64_MAX - address)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "a buffer of %" PRIu64 " bytes at address 0x%" PRIx64, bytes, address);
    return add_buffer(chain, (gd_chain_address){address, bytes}, error);
}

static int32_t read_use(griddep_use *own, const griddep_use *use, griddep_error *error)
{
    int32_t status = use ? gd_struct_read(own, sizeof *own, sizeof *own, use, "griddep_use", error)
                         : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "use is NULL");

    if (status)
        return status;
    if (own->access < GRIDDEP_ACCESS_UNKNOWN || own->access > GRIDDEP_ACCESS_CONSTANT ||
        own->reserved)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "access is %" PRId32
                            ", which is no GRIDDEP_ACCESS_*, or reserved is not zero",
                            own->access);
    if (own->buffer > INT32_MAX)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "buffer is %" PRIu32 "; numbers end at %" PRId32, own->buffer,
                            INT32_MAX);
    return GRIDDEP_OK;
}

/* What a launch reaches: a buffer by its number, or memory by its address in `offset`. */
static int32_t read_reach(griddep_use *own, const griddep_use *use, griddep_error *error)
{
    int32_t status = read_use(own, use, error);

    if (!status && (own->access == GRIDDEP_ACCESS_UNKNOWN || (!own->buffer && !own->offset)))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "what a launch reaches has an access, and a buffer or an address");
    if (!status && !own->buffer && (!own->bytes || own->bytes > UINT64_MAX - own->offset))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%" PRIu64 " bytes at address 0x%" PRIx64, own->bytes, own->offset);
    return status;
}

int32_t griddep_chain_set_reach(griddep_chain *chain, uint32_t index, const griddep_use *uses,
                                uint32_t count, griddep_error *error)
{
    int32_t status = check_given(chain, error);

    if (!status && index >= chain->count)
        status = gd_chain_no_launch(chain, index, error);
    if (!status && (chain->launches[index].given.node != GRIDDEP_GRAPH_NODE_KERNEL ||
                    (count && !uses) || count > GD_CHAIN_MOST_ARGUMENTS))
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "launch %" PRIu32 " is no kernel, uses is NULL, or %" PRIu32
                              " are more than %d",
                              index, count, GD_CHAIN_MOST_ARGUMENTS);
    if (status)
        return status;
    griddep_use *given = calloc((size_t)count + 1, sizeof *given);
    if (!given)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < count && !status; i++)
        status = read_reach(&given[i], &uses[i], error);
    griddep_use *reaches = status ? NULL : copy_uses(given, count);
    free(given);
    if (!reaches)
        return status ? status : gd_error_memory(error);
    gd_chain_launch *launch = &chain->launches[index];
    free_uses(launch->given.reaches, launch->given.reach_count);
    launch->given.reaches = reaches;
    launch->given.reach_count = count;
    launch->given.reach_stated = true;
    gd_chain_forget_all_held(chain);
    return GRIDDEP_OK;
}

int32_t griddep_chain_set_use(griddep_chain *chain, uint32_t index, uint32_t argument,
                              const griddep_use *use, griddep_error *error)
{
    griddep_use own;
    char *element = NULL;
    int32_t status = find_argument(chain, index, argument, error);

    if (!status)
        status = read_use(&own, use, error);
    if (status)
        return status;
    gd_chain_launch *launch = &chain->launches[index];
    status = make_room(launch, argument, error);
    if (status)
        return status;
    if (own.element && !(element = strdup(own.element)))
        return gd_error_memory(error);
    free((char *)(uintptr_t)launch->given.uses[argument].element);
    own.element = element;
    launch->given.uses[argument] = own;
    gd_chain_forget_all_held(chain);
    return GRIDDEP_OK;
}

uint32_t griddep_chain_length(const griddep_chain *chain)
{
    return chain ? chain->count : 0;
}

int32_t griddep_chain_find(const griddep_chain *chain, const char *name, uint32_t *index,
                           griddep_error *error)
{
    uint32_t found = GD_CHAIN_NONE, kernels = 0;
    int32_t status = check_given(chain, error);

    if (status)
        return status;
    if (!name || !index)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", name ? "index" : "name");
    for (uint32_t i = 0; i < chain->count; i++) {
        const gd_chain_launch *launch = &chain->launches[i];
        if (launch->given.name && !strcmp(launch->given.name, name)) {
            *index = i;
            return GRIDDEP_OK;
        }
        if (!launch->given.name && gd_chain_is_kernel(chain, i) &&
            !strcmp(gd_chain_kernel_name(launch), name)) {
            found = i;
            kernels++;
        }
    }
    if (!kernels)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "the chain has no launch \"%s\"", name);
    if (kernels > 1)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%" PRIu32 " launches of kernel %s have no name of their own", kernels,
                            name);
    *index = found;
    return GRIDDEP_OK;
}

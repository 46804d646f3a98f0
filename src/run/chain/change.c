/* What changes in a chain between runs: arguments, addresses and configurations of its launches,
 * one by one or a whole set at once.
 *
 * Stream modes read the launches anew in each run. The graphs that graph modes made are changed
 * node by node; what the driver does not change so, it is given anew by the next run. Each set
 * has graphs of its own, so that another set costs a run nothing: an update of each node would. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/chain/chain.h"
#include "run/graph/graph.h"

/* ---- sets ---- */

gd_chain_set *gd_chain_make_set(const griddep_chain *chain)
{
    gd_chain_set *set = calloc(1, sizeof *set);

    if (!set)
        return NULL;
    set->proof = -1;
    set->calls = calloc((size_t)chain->capacity + 1, sizeof(gd_call *));
    set->moves = calloc((size_t)chain->capacity + 1, sizeof *set->moves);
    if (!set->calls || !set->moves) {
        gd_chain_free_set(chain, set);
        return NULL;
    }
    for (uint32_t i = 0; i < chain->count; i++) {
        set->calls[i] = chain->now->calls[i] ? gd_call_hold(chain->now->calls[i]) : NULL;
        set->moves[i] = chain->now->moves[i];
    }
    return set;
}

void gd_chain_free_set(const griddep_chain *chain, gd_chain_set *set)
{
    gd_chain_drop_set_graphs(chain, set);
    for (uint32_t i = 0; i < chain->count && set->calls; i++)
        gd_call_release(set->calls[i]);
    free(set->calls);
    free(set->moves);
    free(set->uses);
    free(set->held);
    free(set->hop_uses);
    free(set);
}

bool gd_chain_grow_sets(griddep_chain *chain, uint32_t capacity)
{
    for (uint32_t i = 0; i < chain->set_count; i++) {
        gd_chain_set *set = chain->sets[i];
        gd_call **calls = realloc(set->calls, ((size_t)capacity + 1) * sizeof(gd_call *));
        if (!calls)
            return false;
        set->calls = calls;
        gd_chain_move *moves = realloc(set->moves, ((size_t)capacity + 1) * sizeof *moves);
        if (!moves)
            return false;
        set->moves = moves;
    }
    return true;
}

void gd_chain_fill_sets(griddep_chain *chain, gd_call *call, const gd_chain_move *move)
{
    for (uint32_t i = 0; i < chain->set_count; i++) {
        chain->sets[i]->calls[chain->count - 1] = i && call ? gd_call_hold(call) : call;
        chain->sets[i]->moves[chain->count - 1] = *move;
    }
}

void gd_chain_set_call(griddep_chain *chain, uint32_t index, gd_call *call)
{
    gd_call_release(chain->now->calls[index]);
    chain->now->calls[index] = call;
}

/* Whether the same launches are held in two sets, as far as is known. */
static bool hold_the_same(const griddep_chain *chain, const gd_chain_set *a, const gd_chain_set *b)
{
    return chain->always_safe ||
           (a->held_known && b->held_known && !memcmp(a->held, b->held, chain->count));
}

static void select_set(griddep_chain *chain, gd_chain_set *set)
{
    chain->hops_known = chain->hops_known && hold_the_same(chain, chain->now, set);
    chain->now = set;
}

/* ---- one launch ---- */

/* Changes the nodes of a launch in all graphs of a set, in each of their rounds: its call, or where
 * that is NULL what it moves. What was captured cannot be changed. */
static inline void change_nodes(const griddep_chain *chain, gd_chain_set *set, uint32_t index,
                                gd_call *call, const gd_graph_node *move)
{
    int32_t status = GRIDDEP_OK;

    for (uint64_t left = set->made; left && !status; left &= left - 1) {
        const gd_chain_graph *graph = &set->graphs[__builtin_ctzll(left)];
        const uint32_t end = graph->rounds * chain->count;
        status = graph->exec ? GRIDDEP_ERROR_UNSUPPORTED : GRIDDEP_OK;
        for (uint32_t node = index; node < end && !status; node += chain->count)
            status = call ? gd_graph_set_call(graph->graph, node, call, NULL)
                          : gd_graph_set_move(graph->graph, node, move, NULL);
    }
    if (status)
        gd_chain_drop_set_graphs(chain, set);
}

static bool is_hop(const griddep_chain *chain, uint32_t index)
{
    return chain->programs && chain->launches[index].hop;
}

/* What a hop of a group does is the same on all members: its addresses alone are this one's. */
static int32_t refuse_hop(const griddep_chain *chain, uint32_t index, griddep_error *error)
{
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "launch %" PRIu32
                        " (%s) is a hop of a group; arguments 0 and 1, its source and its target, "
                        "are all that can be changed",
                        index, gd_chain_name(&chain->launches[index]));
}

static int32_t refuse_kernel(const griddep_chain *chain, uint32_t index, griddep_error *error)
{
    int32_t status = gd_chain_can_run(chain, GRIDDEP_MODE_SERIAL, error);

    if (status)
        return status;
    if (index >= chain->count)
        return gd_chain_no_launch(chain, index, error);
    return chain->launches[index].large
               ? refuse_hop(chain, index, error)
               : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "launch %" PRIu32 " is a %s", index,
                              gd_chain_kernel_name(&chain->launches[index]));
}

/* Whether the launch is a kernel's in a chain that can be run, and the error one to write to. */
static inline bool has_kernel(const griddep_chain *chain, uint32_t index,
                              const griddep_error *error)
{
    return chain && chain->runtime && index < chain->count && chain->now->calls[index] &&
           !gd_error_check(error);
}

static int32_t find_kernel(const griddep_chain *chain, uint32_t index, griddep_error *error)
{
    return has_kernel(chain, index, error) ? GRIDDEP_OK : refuse_kernel(chain, index, error);
}

/* Nobody but the chain and the set's own graphs holds the launch's call. */
static bool is_own(const gd_chain_set *set, const gd_call *call)
{
    return atomic_load_explicit(&call->references, memory_order_acquire) == 1 + set->nodes;
}

/* A call of which somebody else counts on its arguments is left to him. */
static int32_t set_other_call(griddep_chain *chain, uint32_t index,
                              const griddep_argument *arguments, uint32_t count,
                              griddep_error *error)
{
    gd_call *call = NULL;
    int32_t status =
        gd_call_with_arguments(chain->now->calls[index], arguments, count, &call, error);

    if (status)
        return status;
    change_nodes(chain, chain->now, index, call, NULL);
    gd_chain_set_call(chain, index, call);
    gd_chain_forget_held(chain);
    return GRIDDEP_OK;
}

__attribute__((always_inline)) static inline int32_t
set_arguments(griddep_chain *chain, uint32_t index, const griddep_argument *arguments,
              uint32_t count, griddep_error *error)
{
    gd_chain_set *set = chain->now;
    gd_call *call = set->calls[index];
    bool changed;

    if (!is_own(set, call))
        return set_other_call(chain, index, arguments, count, error);
    int32_t status = gd_call_change(call, arguments, count, &changed, error);
    if (status || !changed)
        return status;
    change_nodes(chain, set, index, call, NULL);
    gd_chain_forget_held(chain);
    return GRIDDEP_OK;
}

/* The driver changes neither in an executable graph. */
static bool keeps_nodes(const gd_call *a, const gd_call *b)
{
    return gd_call_same_attributes(a, b) && a->launch.pdl == b->launch.pdl;
}

/* A call in the new configuration for each set, or none. */
static int32_t make_calls(griddep_chain *chain, uint32_t index, const griddep_launch_config *config,
                          gd_call **calls, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (uint32_t set = 0; set < chain->set_count && !status; set++)
        status = gd_call_with_config(chain->sets[set]->calls[index], config, &gd_chain_owner,
                                     &calls[set], error);
    for (uint32_t set = 0; set < chain->set_count && status; set++)
        gd_call_release(calls[set]);
    return status;
}

static void set_calls(griddep_chain *chain, uint32_t index, gd_call **calls)
{
    for (uint32_t set = 0; set < chain->set_count; set++) {
        gd_call **place = &chain->sets[set]->calls[index];
        if (keeps_nodes(*place, calls[set]))
            change_nodes(chain, chain->sets[set], index, calls[set], NULL);
        else
            gd_chain_drop_set_graphs(chain, chain->sets[set]);
        gd_call_release(*place);
        *place = calls[set];
    }
    gd_chain_decide_triggers(chain);
    gd_chain_forget_all_held(chain);
}

static int32_t check_config(const griddep_chain *chain, uint32_t index,
                            const griddep_launch_config *config, griddep_error *error)
{
    const gd_chain_launch *launch = &chain->launches[index];

    if (config->lane != launch->given.lane)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "launch %" PRIu32 " (%s) stays in lane %" PRIu32
                            "; the configuration says %" PRIu32,
                            index, gd_chain_name(launch), launch->given.lane, config->lane);
    if (config->name && (!launch->given.name || strcmp(config->name, launch->given.name) != 0))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "launch %" PRIu32 " (%s) keeps its name, \"%s\"", index,
                            gd_chain_name(launch), launch->given.name ? launch->given.name : "");
    return GRIDDEP_OK;
}

/* Of the launch, which is one of these. */
static int32_t set_move(griddep_chain *chain, uint32_t index, int32_t node,
                        const gd_chain_move *move, griddep_error *error)
{
    const gd_graph_node changed = {
        .target = move->target, .source = move->source, .bytes = move->bytes, .value = move->value};
    int32_t status = gd_chain_can_run(chain, GRIDDEP_MODE_SERIAL, error);

    if (status)
        return status;
    if (index >= chain->count)
        return gd_chain_no_launch(chain, index, error);
    gd_chain_launch *launch = &chain->launches[index];
    if (launch->given.node != node)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "launch %" PRIu32 " (%s) is no %s",
                            index, gd_chain_name(launch), gd_graph_type_name(node));
    status = gd_chain_check_move(node, move, error);
    if (status)
        return status;
    change_nodes(chain, chain->now, index, NULL, &changed);
    chain->now->moves[index] = *move;
    gd_chain_forget_held(chain);
    return GRIDDEP_OK;
}

/* The source (0) or the target (1) of a hop of NCCL. */
static int32_t set_address(griddep_chain *chain, uint32_t index, uint32_t argument,
                           const griddep_argument *value, griddep_error *error)
{
    gd_chain_move *move = &chain->now->moves[index];
    uint64_t address;

    if (argument > 1)
        return refuse_hop(chain, index, error);
    if (value->bytes != sizeof address)
        return gd_error_set(
            error, GRIDDEP_ERROR_SIGNATURE,
            "launch %" PRIu32 " (%s): argument %" PRIu32 " has %zu bytes; an address has 8", index,
            gd_chain_name(&chain->launches[index]), argument, (size_t)value->bytes);
    memcpy(&address, gd_launch_argument_data(value), sizeof address);
    *(argument ? &move->target : &move->source) = address;
    gd_chain_drop_set_graphs(chain, chain->now);
    gd_chain_forget_held(chain);
    return GRIDDEP_OK;
}

/* ---- public ---- */

static int32_t refuse_arguments(griddep_chain *chain, uint32_t index, griddep_error *error)
{
    int32_t status = find_kernel(chain, index, error);

    return status ? status : refuse_hop(chain, index, error);
}

int32_t griddep_chain_set_arguments(griddep_chain *chain, uint32_t index,
                                    const griddep_argument *arguments, uint32_t argument_count,
                                    griddep_error *error)
{
    return has_kernel(chain, index, error) && !is_hop(chain, index)
               ? set_arguments(chain, index, arguments, argument_count, error)
               : refuse_arguments(chain, index, error);
}

int32_t griddep_chain_set_argument(griddep_chain *chain, uint32_t index, uint32_t argument,
                                   const griddep_argument *value, griddep_error *error)
{
    const bool large = chain && index < chain->count && chain->launches[index].large;
    int32_t status = large ? gd_chain_can_run(chain, GRIDDEP_MODE_SERIAL, error)
                           : find_kernel(chain, index, error);

    if (status)
        return status;
    if (!value)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "value is NULL");
    if (large)
        return set_address(chain, index, argument, value, error);
    if (is_hop(chain, index) && argument > 1)
        return refuse_hop(chain, index, error);
    const gd_call *call = chain->now->calls[index];
    const uint32_t count = call->kernel->info.parameter_count;
    if (argument >= count)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "launch %" PRIu32 " (%s) has %" PRIu32
                            " arguments; there is no number %" PRIu32,
                            index, call->kernel->name, count, argument);
    griddep_argument *arguments = calloc(count, sizeof *arguments);
    if (!arguments)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < count; i++)
        arguments[i] = (griddep_argument){.bytes = call->kernel->parameters[i].bytes,
                                          .data = call->pointers[i]};
    arguments[argument] = *value;
    status = set_arguments(chain, index, arguments, count, error);
    free(arguments);
    return status;
}

int32_t griddep_chain_set_config(griddep_chain *chain, uint32_t index,
                                 const griddep_launch_config *config, griddep_error *error)
{
    griddep_launch_config own;
    int32_t status = find_kernel(chain, index, error);

    if (!status && is_hop(chain, index))
        status = refuse_hop(chain, index, error);
    if (!status)
        status = config ? gd_launch_read_config(&own, config, error)
                        : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "config is NULL");
    if (!status)
        status = check_config(chain, index, &own, error);
    if (status)
        return status;
    gd_call **calls = calloc(chain->set_count, sizeof(gd_call *));
    if (!calls)
        return gd_error_memory(error);
    status = make_calls(chain, index, &own, calls, error);
    if (!status)
        set_calls(chain, index, calls);
    free(calls);
    return status;
}

int32_t griddep_chain_set_copy(griddep_chain *chain, uint32_t index, uint64_t target,
                               uint64_t source, uint64_t bytes, griddep_error *error)
{
    const gd_chain_move move = {.target = target, .source = source, .bytes = bytes};

    return set_move(chain, index, GRIDDEP_GRAPH_NODE_COPY, &move, error);
}

int32_t griddep_chain_set_fill(griddep_chain *chain, uint32_t index, uint64_t address,
                               uint8_t value, uint64_t bytes, griddep_error *error)
{
    const gd_chain_move move = {.target = address, .value = value, .bytes = bytes};

    return set_move(chain, index, GRIDDEP_GRAPH_NODE_FILL, &move, error);
}

int32_t griddep_chain_add_argument_set(griddep_chain *chain, uint32_t *set, griddep_error *error)
{
    int32_t status = gd_chain_can_run(chain, GRIDDEP_MODE_SERIAL, error);

    if (status)
        return status;
    if (!set)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "set is NULL");
    gd_chain_set **more = realloc(chain->sets, ((size_t)chain->set_count + 1) * sizeof *more);
    if (!more)
        return gd_error_memory(error);
    chain->sets = more;
    more[chain->set_count] = gd_chain_make_set(chain);
    if (!more[chain->set_count])
        return gd_error_memory(error);
    *set = chain->set_count++;
    return GRIDDEP_OK;
}

int32_t griddep_chain_select_argument_set(griddep_chain *chain, uint32_t set, griddep_error *error)
{
    int32_t status = gd_chain_can_run(chain, GRIDDEP_MODE_SERIAL, error);

    if (status)
        return status;
    if (set >= chain->set_count)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "the chain has %" PRIu32
                            " sets of arguments; there is no number %" PRIu32,
                            chain->set_count, set);
    select_set(chain, chain->sets[set]);
    return GRIDDEP_OK;
}

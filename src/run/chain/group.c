/* Hops of a group as launches of a chain. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "run/chain/chain.h"
#include "run/group/group.h"

enum { ARGUMENTS = 14, HOP_MINIMUM = sizeof(griddep_hop) };

/* A hop as its kernel sees it. */
typedef struct hop {
    gd_group_step step;
    uint32_t kernel;
    uint64_t source, target;
    uint64_t bytes, source_bytes, target_bytes; /* of one part, and of all */
    uint32_t to, from;                          /* sets of members */
} hop;

/* ---- checks ---- */

static uint32_t bytes_of(int32_t type)
{
    static const uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2};

    return type >= 0 && type < (int32_t)sizeof bytes ? bytes[type] : 0;
}

static int32_t find_sum(int32_t type, uint32_t *kernel, griddep_error *error)
{
    switch (type) {
    case GRIDDEP_TENSOR_BF16:
        *kernel = GD_KERNEL_BF16;
        return GRIDDEP_OK;
    case GRIDDEP_TENSOR_F16:
        *kernel = GD_KERNEL_F16;
        return GRIDDEP_OK;
    case GRIDDEP_TENSOR_F32:
        *kernel = GD_KERNEL_F32;
        return GRIDDEP_OK;
    default:
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "type is %" PRId32 "; sums are of GRIDDEP_TENSOR_BF16, _F16 and _F32",
                            type);
    }
}

/* The member whose runtime the chain has. */
static int32_t find_member(const griddep_chain *chain, const griddep_group *group, uint32_t *member,
                           griddep_error *error)
{
    int32_t status = gd_chain_can_run(chain, GRIDDEP_MODE_SERIAL, error);

    if (status)
        return status;
    if (!group)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "group is NULL");
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->members[i].runtime == chain->runtime) {
            *member = i;
            return GRIDDEP_OK;
        }
    }
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "the chain's runtime is no member of the group");
}

/* Bytes of one part, and of so many. */
static int32_t check_count(hop *it, uint32_t parts, griddep_error *error)
{
    const uint32_t element = bytes_of(it->step.type);
    const uint64_t count = it->step.count;

    if (!element)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "type is %" PRId32 "; it may be GRIDDEP_TENSOR_U8 to _BF16",
                            it->step.type);
    /* kernels count whole packets in 32 bits */
    if (!count || count > (UINT32_MAX - GD_GROUP_PACKET + 1) / element / parts)
        return gd_error_set(error, count ? GRIDDEP_ERROR_LIMIT : GRIDDEP_ERROR_ARGUMENT,
                            "count is %" PRIu64
                            "; a hop has 1 byte to 4 GiB less %d bytes in all its parts",
                            count, GD_GROUP_PACKET);
    it->bytes = count * element;
    const uint32_t unit = parts > 1 ? 4 : 2;
    if (it->bytes % unit)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "%" PRIu64 " bytes%s; they must be a multiple of %" PRIu32, it->bytes,
                            parts > 1 ? " a part" : "", unit);
    return GRIDDEP_OK;
}

static int32_t check_address(uint64_t address, const char *name, griddep_error *error)
{
    return address && address % 4 == 0
               ? GRIDDEP_OK
               : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "%s is 0x%" PRIx64 "; it must be a multiple of 4, and not 0", name,
                              address);
}

/* The target may be the source, or hold it as this member's part, or be its part. */
static int32_t check_apart(const hop *it, uint32_t member, griddep_error *error)
{
    const uint64_t in_target = it->target_bytes > it->bytes ? member * it->bytes : 0,
                   in_source = it->source_bytes > it->bytes ? member * it->bytes : 0;

    if (it->source + in_source == it->target + in_target ||
        it->source + it->source_bytes <= it->target || it->target + it->target_bytes <= it->source)
        return GRIDDEP_OK;
    return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                        "the source, %" PRIu64 " bytes at 0x%" PRIx64 ", and the target, %" PRIu64
                        " bytes at 0x%" PRIx64
                        ", overlap where one is not this member's part of the other",
                        it->source_bytes, it->source, it->target_bytes, it->target);
}

static int32_t check_peer(int32_t member, uint32_t count, const char *name, griddep_error *error)
{
    return member >= 0 && (uint32_t)member < count
               ? GRIDDEP_OK
               : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                              "%s is %" PRId32 "; the group has members 0 to %" PRIu32, name,
                              member, count - 1);
}

/* Lane, name and pdl are the caller's. */
static int32_t make_config(const griddep_launch_config *given, griddep_launch_config *config,
                           griddep_error *error)
{
    griddep_launch_config own = {.size = sizeof own};
    int32_t status = given ? gd_launch_read_config(&own, given, error) : GRIDDEP_OK;

    if (status)
        return status;
    const griddep_launch_config allowed = {
        .size = own.size, .lane = own.lane, .name = own.name, .pdl = own.pdl};
    if (memcmp(&own, &allowed, sizeof own) != 0)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "config tells lane, name and pdl of a hop, and nothing else");
    *config = own;
    return GRIDDEP_OK;
}

/* Bytes of a part; the shape is the group's. */
static void set_shape(const griddep_group *group, uint64_t bytes, griddep_launch_config *config)
{
    const uint64_t packets = (bytes + GD_GROUP_PACKET - 1) / GD_GROUP_PACKET;
    /* few packets: small blocks, which begin sooner (2 % at 4 KB on an H200) */
    const uint32_t threads =
        packets > GD_GROUP_THREADS / 2 * GD_GROUP_BLOCKS ? GD_GROUP_THREADS : GD_GROUP_THREADS / 2;
    const uint64_t blocks = (packets + threads - 1) / threads;
    const uint32_t most =
        group->multiprocessors < GD_GROUP_BLOCKS ? group->multiprocessors : GD_GROUP_BLOCKS;
    config->grid[0] = blocks < most ? (uint32_t)blocks : most;
    config->block[0] = threads;
}

/* ---- adding ---- */

static int32_t append(griddep_chain *chain, griddep_group *group, uint32_t member,
                      const griddep_launch_config *config, const hop *it, uint32_t number,
                      griddep_error *error)
{
    const gd_group_member *own = &group->members[member];
    const uint64_t record = (uint64_t)(uintptr_t)own->record;
    uint64_t inboxes[GD_GROUP_MOST];
    const uint32_t scalars[] = {(uint32_t)it->bytes,
                                (uint32_t)it->source_bytes,
                                (uint32_t)it->target_bytes,
                                member,
                                group->count,
                                it->to,
                                it->from,
                                group->timeout_ms * 1000,
                                number & 0xffffff};
    griddep_argument arguments[ARGUMENTS] = {
        {.bytes = 8, .data = &it->source},
        {.bytes = 8, .data = &it->target},
        {.bytes = 8, .data = &own->state},
        {.bytes = 8, .data = &record},
        [ARGUMENTS - 1] = {.bytes = sizeof inboxes, .data = inboxes}};
    griddep_kernel *kernel = NULL;

    for (uint32_t i = 0; i < sizeof scalars / sizeof *scalars; i++)
        arguments[4 + i] = (griddep_argument){.bytes = 4, .data = &scalars[i]};
    gd_group_get_inboxes(group, inboxes);
    int32_t status = gd_group_get_kernel(group, member, it->kernel, &kernel, error);
    if (!status)
        status = griddep_chain_add(chain, kernel, config, arguments, ARGUMENTS, error);
    if (!status)
        chain->launches[chain->count - 1].hop = true;
    if (!status) /* the inboxes are no launch's but the hops' */
        status = griddep_chain_set_reach(chain, chain->count - 1, NULL, 0, error);
    return status;
}

/* The module that holds the group is loaded before a capture may ask for it. */
static int32_t append_large(griddep_chain *chain, griddep_group *group, uint32_t member,
                            const griddep_launch_config *config, const hop *it,
                            griddep_error *error)
{
    griddep_kernel *kernel = NULL;
    int32_t status = gd_group_get_kernel(group, member, GD_KERNEL_MOVE, &kernel, error);

    if (status)
        return status;
    return gd_chain_append_large(chain, config,
                                 &(gd_chain_large){.module = kernel->module,
                                                   .group = group,
                                                   .member = member,
                                                   .step = it->step,
                                                   .bytes = it->bytes,
                                                   .source_bytes = it->source_bytes,
                                                   .target_bytes = it->target_bytes},
                                 it->source, it->target, error);
}

/* Bytes that a member adds in two steps, in whole packets; of the last one perhaps fewer. */
static uint64_t part_of(uint64_t bytes, uint32_t members)
{
    const uint64_t packets = (bytes + GD_GROUP_PACKET - 1) / GD_GROUP_PACKET;

    return (packets + members - 1) / members * GD_GROUP_PACKET;
}

static int32_t add(griddep_chain *chain, griddep_group *group, const griddep_launch_config *given,
                   const hop *it, uint32_t member, griddep_error *error)
{
    griddep_launch_config config;
    gd_group_program *program;
    uint32_t number;
    int32_t carrier = GD_CARRIER_ONE_STEP;
    hop parted = *it;
    int32_t status = make_config(given, &config, error);

    if (!status)
        status = gd_group_choose(group, &it->step, it->bytes, &carrier, error);
    if (carrier == GD_CARRIER_TWO_STEPS)
        parted.bytes = part_of(it->bytes, group->count);
    set_shape(group, parted.bytes, &config);
    if (!status)
        status =
            gd_group_find_program(&chain->programs, group, member, config.lane, &program, error);
    if (!status)
        status = gd_group_add_step(program, &it->step, &number, error);
    if (status)
        return status;
    status = carrier == GD_CARRIER_NCCL
                 ? append_large(chain, group, member, &config, it, error)
                 : append(chain, group, member, &config, &parted, number, error);
    if (status)
        gd_group_drop_step(program);
    return status;
}

static uint32_t all_of(const griddep_group *group)
{
    return UINT32_MAX >> (GD_GROUP_MOST - group->count);
}

static hop make_hop(const griddep_hop *given)
{
    const bool broadcast = given->operation == GRIDDEP_HOP_BROADCAST,
               exchange = given->operation == GRIDDEP_HOP_EXCHANGE;

    return (hop){.step = {.operation = given->operation,
                          .type = given->type,
                          .count = given->count,
                          .root = broadcast ? given->root : GRIDDEP_NO_MEMBER,
                          .to = exchange ? given->to : GRIDDEP_NO_MEMBER,
                          .from = exchange ? given->from : GRIDDEP_NO_MEMBER},
                 .kernel = GD_KERNEL_MOVE,
                 .source = broadcast ? given->target : given->source,
                 .target = given->target};
}

/* What all hops with a source and a target share; source_parts and target_parts are 1 or the
 * members. */
static int32_t add_parts(griddep_chain *chain, griddep_group *group,
                         const griddep_launch_config *config, hop *it, bool sums, bool source_parts,
                         bool target_parts, griddep_error *error)
{
    uint32_t member;
    int32_t status = find_member(chain, group, &member, error);

    if (!status && sums)
        status = find_sum(it->step.type, &it->kernel, error);
    if (!status)
        status = check_count(it, source_parts || target_parts ? group->count : 1, error);
    if (!status)
        status = check_address(it->source, "source", error);
    if (!status)
        status = check_address(it->target, "target", error);
    if (status)
        return status;
    it->source_bytes = it->bytes * (source_parts ? group->count : 1);
    it->target_bytes = it->bytes * (target_parts ? group->count : 1);
    it->to = it->from = all_of(group);
    status = check_apart(it, member, error);
    return status ? status : add(chain, group, config, it, member, error);
}

static int32_t add_broadcast(griddep_chain *chain, griddep_group *group,
                             const griddep_launch_config *config, hop *it, griddep_error *error)
{
    const int32_t root = it->step.root;
    uint32_t member;
    int32_t status = find_member(chain, group, &member, error);

    if (!status)
        status = check_peer(root, group->count, "root", error);
    if (!status)
        status = check_count(it, 1, error);
    if (!status)
        status = check_address(it->target, "target", error);
    if (status)
        return status;
    it->source_bytes = it->target_bytes = it->bytes;
    it->to = (uint32_t)root == member ? all_of(group) & ~(UINT32_C(1) << root) : 0;
    it->from = (uint32_t)root == member ? 0 : UINT32_C(1) << root;
    return add(chain, group, config, it, member, error);
}

static int32_t check_end(int32_t peer, uint64_t address, const griddep_group *group,
                         const char *name, const char *place, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    if (peer != GRIDDEP_NO_MEMBER)
        status = check_peer(peer, group->count, name, error);
    if (!status && peer != GRIDDEP_NO_MEMBER)
        status = check_address(address, place, error);
    return status;
}

static int32_t add_exchange(griddep_chain *chain, griddep_group *group,
                            const griddep_launch_config *config, hop *it, griddep_error *error)
{
    const int32_t to = it->step.to, from = it->step.from;
    uint32_t member;
    int32_t status = find_member(chain, group, &member, error);

    if (!status)
        status = check_count(it, 1, error);
    if (!status)
        status = check_end(to, it->source, group, "to", "source", error);
    if (!status)
        status = check_end(from, it->target, group, "from", "target", error);
    if (status)
        return status;
    it->source_bytes = it->target_bytes = it->bytes;
    it->to = to == GRIDDEP_NO_MEMBER ? 0 : UINT32_C(1) << to;
    it->from = from == GRIDDEP_NO_MEMBER ? 0 : UINT32_C(1) << from;
    if (it->to && it->from)
        status = check_apart(it, member, error);
    return status ? status : add(chain, group, config, it, member, error);
}

static int32_t read_hop(griddep_hop *read, const griddep_hop *given, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (!status && !given)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "hop is NULL");
    if (!status)
        status = gd_struct_read(read, sizeof *read, HOP_MINIMUM, given, "griddep_hop", error);
    if (status)
        return status;
    const bool broadcast = read->operation == GRIDDEP_HOP_BROADCAST,
               exchange = read->operation == GRIDDEP_HOP_EXCHANGE;
    if ((read->root && !broadcast) || ((read->to || read->from) && !exchange) ||
        (read->source && broadcast))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "root is of a broadcast, to and from are of an exchange, and a "
                            "broadcast has no source");
    return GRIDDEP_OK;
}

/* ---- public ---- */

int32_t griddep_chain_add_hop(griddep_chain *chain, griddep_group *group,
                              const griddep_launch_config *config, const griddep_hop *given,
                              griddep_error *error)
{
    griddep_hop read;
    int32_t status = read_hop(&read, given, error);

    if (status)
        return status;
    hop it = make_hop(&read);
    switch (read.operation) {
    case GRIDDEP_HOP_ALL_REDUCE:
        return add_parts(chain, group, config, &it, true, false, false, error);
    case GRIDDEP_HOP_ALL_GATHER:
        return add_parts(chain, group, config, &it, false, false, true, error);
    case GRIDDEP_HOP_REDUCE_SCATTER:
        return add_parts(chain, group, config, &it, true, true, false, error);
    case GRIDDEP_HOP_BROADCAST:
        return add_broadcast(chain, group, config, &it, error);
    case GRIDDEP_HOP_EXCHANGE:
        return add_exchange(chain, group, config, &it, error);
    default:
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "operation is %" PRId32 ", which is no GRIDDEP_HOP_*", read.operation);
    }
}

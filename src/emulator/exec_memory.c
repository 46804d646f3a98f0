/* Addresses to host memory, with the checks that a device would make and those that it would not; loads and stores. */
#include <inttypes.h>

#include "emulator/exec_cluster.h"
#include "emulator/exec_memory.h"
#include "emulator/program.h"

#define WINDOW_BYTES (UINT64_C(1) << 32)

void gd_address_lanes(const gd_warp *warp, const gd_code *code, uint64_t *addresses)
{
    const uint64_t offset = code->value;

    if (code->kind == GD_ADDRESS_WIDE) {
        const gd_u64 *base = gd_lanes(warp, code->address);
        for (uint32_t lane = 0; lane < GD_LANES; lane++)
            addresses[lane] = base[lane] + offset;
    } else if (code->kind == GD_ADDRESS_NARROW) {
        const gd_u32 *base = gd_lanes(warp, code->address);
        for (uint32_t lane = 0; lane < GD_LANES; lane++)
            addresses[lane] = (uint32_t)(base[lane] + (uint32_t)offset);
    } else {
        for (uint32_t lane = 0; lane < GD_LANES; lane++)
            addresses[lane] = warp->local[lane] + offset;
    }
}

static const char *verb(bool write)
{
    return write ? "write to" : "read of";
}

static unsigned char *global_place(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address, uint32_t bytes,
                                   bool write)
{
    gd_cta *cta = warp->cta;
    gd_allocation *item = cta->last;

    if (!item || address - item->start >= item->bytes)
        item = gd_memory_find(cta->view->memory, address);
    if (!item || item->freed || item->bytes - (address - item->start) < bytes) {
        bool over = item && !item->freed;
        gd_cta_fail(warp, code, lane, GD_FAULT_ADDRESS, address, bytes, write,
                    over ? "%s %u bytes at 0x%" PRIx64 ", which goes past the end"
                         : "%s %u bytes at 0x%" PRIx64 " outside of every allocation",
                    verb(write), bytes, address);
        return NULL;
    }
    cta->last = item;
    if (write && item->kind == GD_MEMORY_CONSTANT) {
        gd_cta_fail(warp, code, lane, GD_FAULT_READ_ONLY, address, bytes, write, "write to constant memory at 0x%" PRIx64,
                    address);
        return NULL;
    }
    return item->host + (address - item->start);
}

static unsigned char *window_place(gd_warp *warp, const gd_code *code, uint32_t lane, const char *space,
                                   unsigned char *host, uint64_t start, uint64_t size, uint64_t address, uint32_t bytes,
                                   bool write)
{
    if (address >= start && address - start < size && size - (address - start) >= bytes)
        return host + (address - start);
    gd_cta_fail(warp, code, lane, GD_FAULT_ADDRESS, address, bytes, write,
                "%s %u bytes of %s memory at 0x%" PRIx64 "; it has %" PRIu64 " bytes from 0x%" PRIx64, verb(write),
                bytes, space, address, size, start);
    return NULL;
}

static unsigned char *parameter_place(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address,
                                      uint32_t bytes, bool write)
{
    const gd_grid_view *view = warp->cta->view;

    if (write) {
        gd_cta_fail(warp, code, lane, GD_FAULT_READ_ONLY, address, bytes, write, "write to a kernel's parameter");
        return NULL;
    }
    return window_place(warp, code, lane, "parameter", (unsigned char *)(uintptr_t)view->parameters, 0,
                        view->entry->parameter_bytes, address, bytes, write);
}

/* The space and the offset in it that a generic address means. */
static gd_space resolve_generic(uint64_t *address)
{
    if (*address - GD_SHARED_WINDOW < WINDOW_BYTES) {
        *address -= GD_SHARED_WINDOW;
        return GD_AT_CLUSTER;
    }
    if (*address - GD_LOCAL_WINDOW < WINDOW_BYTES) {
        *address -= GD_LOCAL_WINDOW;
        return GD_AT_LOCAL;
    }
    if (*address - GD_PARAMETER_WINDOW < WINDOW_BYTES) {
        *address -= GD_PARAMETER_WINDOW;
        return GD_AT_PARAMETER;
    }
    return GD_AT_GLOBAL;
}

unsigned char *gd_access(gd_warp *warp, const gd_code *code, uint32_t lane, gd_space space, uint64_t address,
                         uint32_t bytes, uint32_t alignment, bool write)
{
    gd_cta *cta = warp->cta;

    if (address & (alignment - 1)) {
        gd_cta_fail(warp, code, lane, GD_FAULT_ALIGNMENT, address, bytes, write,
                    "%s %u bytes at 0x%" PRIx64 ", which is no multiple of %u", verb(write), bytes, address, alignment);
        return NULL;
    }
    if (space == GD_AT_GENERIC || (space == GD_AT_PARAMETER && address >= WINDOW_BYTES))
        space = resolve_generic(&address);
    switch (space) {
    case GD_AT_SHARED:
        if (address >> GD_RANK_SHIFT != cta->rank && address < WINDOW_BYTES) {
            gd_cta_fail(warp, code, lane, GD_FAULT_WINDOW, address, bytes, write,
                        "%s %u bytes of .shared::cta at 0x%" PRIx64 ", an address of CTA rank %u; this is rank %u",
                        verb(write), bytes, address, (uint32_t)(address >> GD_RANK_SHIFT), cta->rank);
            return NULL;
        }
        return window_place(warp, code, lane, "shared", cta->shared, cta->shared_start, cta->shared_bytes, address, bytes,
                            write);
    case GD_AT_CLUSTER:
        return gd_cluster_access(warp, code, lane, address, bytes, write);
    case GD_AT_LOCAL:
        return window_place(warp, code, lane, "local",
                            cta->local + (size_t)(warp->index * GD_LANES + lane) * cta->local_bytes, 0,
                            cta->local_bytes, address, bytes, write);
    case GD_AT_PARAMETER:
        return parameter_place(warp, code, lane, address, bytes, write);
    default:
        return global_place(warp, code, lane, address, bytes, write);
    }
}

/* Where the lanes' accesses lie, when all are in one allocation or in shared memory, aligned: the distance from an address to the host's;
 * false when it takes a closer look. */
static bool find_all(const gd_warp *warp, const gd_code *code, uint32_t mask, const uint64_t *addresses, uint32_t bytes,
                     bool write, unsigned char **host, uint64_t *start)
{
    const gd_cta *cta = warp->cta;
    uint64_t low = UINT64_MAX, high = 0, all = 0, size;

    GD_EACH_LANE(lane, mask)
    {
        uint64_t address = addresses[lane];
        low = address < low ? address : low;
        high = address > high ? address : high;
        all |= address;
    }
    if (all & (bytes - 1))
        return false;
    if (code->space == GD_AT_SHARED) {
        *host = cta->shared;
        *start = cta->shared_start;
        size = cta->shared_bytes;
    } else if (code->space <= GD_AT_GLOBAL && cta->last && !(write && cta->last->kind == GD_MEMORY_CONSTANT)) {
        *host = cta->last->host;
        *start = cta->last->start;
        size = cta->last->bytes;
    } else {
        return false;
    }
    return low >= *start && high - *start < size && size - (high - *start) >= bytes;
}

/* The host address of each lane's access; false after a fault. */
static bool find_places(gd_warp *warp, const gd_code *code, uint32_t mask, bool write, unsigned char **places)
{
    uint32_t bytes = (uint32_t)code->bytes * code->count;
    uint64_t addresses[GD_LANES], start;
    unsigned char *host;

    gd_address_lanes(warp, code, addresses);
    if (find_all(warp, code, mask, addresses, bytes, write, &host, &start)) {
        GD_EACH_LANE(lane, mask)
        {
            places[lane] = host + (addresses[lane] - start);
        }
        return true;
    }
    GD_EACH_LANE(lane, mask)
    {
        places[lane] = gd_access(warp, code, lane, (gd_space)code->space, addresses[lane], bytes, bytes, write);
        if (!places[lane])
            return false;
    }
    return true;
}

static uint64_t read_bits(const unsigned char *place, uint32_t bytes)
{
    uint64_t value = 0;

    switch (bytes) {
    case 1:
        return *place;
    case 2:
        memcpy(&value, place, 2);
        return value;
    case 4:
        memcpy(&value, place, 4);
        return value;
    default:
        memcpy(&value, place, 8);
        return value;
    }
}

static uint64_t extend(uint64_t value, uint32_t bytes, uint32_t target)
{
    uint32_t shift = 64 - 8 * bytes;
    uint64_t wide = (uint64_t)((int64_t)(value << shift) >> shift);

    return target < 8 ? wide & ((UINT64_C(1) << (8 * target)) - 1) : wide;
}

static void load_element(const gd_warp *warp, const gd_code *code, uint32_t mask, gd_slot slot,
                         unsigned char *const *places, uint32_t offset)
{
    if (code->bytes == 16) {
        unsigned char *lanes = gd_lanes(warp, slot);
        GD_EACH_LANE(lane, mask)
        {
            memcpy(lanes + (size_t)lane * 16, places[lane] + offset, 16);
        }
        return;
    }
    if (code->bytes == 4 && code->x == 4) {
        gd_u32 *lanes = gd_lanes(warp, slot);
        GD_EACH_LANE(lane, mask)
        {
            memcpy(&lanes[lane], places[lane] + offset, 4);
        }
        return;
    }
    GD_EACH_LANE(lane, mask)
    {
        uint64_t value = read_bits(places[lane] + offset, code->bytes);
        if (code->flags & GD_ACCESS_SIGNED)
            value = extend(value, code->bytes, code->y);
        gd_lane_put(warp, slot, lane, code->x, value);
    }
}

void gd_run_load(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    unsigned char *places[GD_LANES];
    const uint32_t *slots = warp->cta->image->list + code->list;

    if (!find_places(warp, code, mask, false, places))
        return;
    for (uint32_t i = 0; i < code->count; i++)
        load_element(warp, code, mask, slots[i], places, i * code->bytes);
    if (code->flags & GD_ACCESS_STRONG)
        warp->cta->polls++;
}

static void store_element(const gd_warp *warp, const gd_code *code, uint32_t mask, gd_slot slot,
                          unsigned char *const *places, uint32_t offset)
{
    const unsigned char *lanes = gd_lanes(warp, slot);

    GD_EACH_LANE(lane, mask)
    {
        const unsigned char *from = lanes + (size_t)lane * code->x; /* little-endian: the low bytes stand first */
        switch (code->bytes) {
        case 1:
            places[lane][offset] = *from;
            break;
        case 2:
            memcpy(places[lane] + offset, from, 2);
            break;
        case 4:
            memcpy(places[lane] + offset, from, 4);
            break;
        case 8:
            memcpy(places[lane] + offset, from, 8);
            break;
        default:
            memcpy(places[lane] + offset, from, 16);
            break;
        }
    }
}

void gd_run_store(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    unsigned char *places[GD_LANES];
    const uint32_t *slots = warp->cta->image->list + code->list;

    if (!find_places(warp, code, mask, true, places))
        return;
    for (uint32_t i = 0; i < code->count; i++)
        store_element(warp, code, mask, slots[i], places, i * code->bytes);
    warp->cta->work++;
}

void gd_run_touch(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint64_t addresses[GD_LANES];

    gd_address_lanes(warp, code, addresses);
    GD_EACH_LANE(lane, mask)
    {
        if (!gd_access(warp, code, lane, (gd_space)code->space, addresses[lane], code->bytes, code->bytes, true))
            return;
    }
}

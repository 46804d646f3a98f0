/* Addresses to host memory, with the checks that a device would make and those that it would not;
 * loads and stores. */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "emulator/execute/check.h"
#include "emulator/execute/cluster.h"
#include "emulator/execute/memory.h"
#include "emulator/execute/sweep.h"
#include "emulator/execute/program.h"

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

/* The allocation that holds an address, freed or not; NULL: none, or none that the kernel reaches.
 * An instruction mostly stays within one. */
gd_allocation *gd_allocation_find(gd_cta *cta, const gd_code *code, uint64_t address)
{
    gd_allocation **recent = &cta->recent[code->instruction % GD_RECENT];

    if (!*recent || address - (*recent)->start >= (*recent)->bytes) {
        *recent = gd_memory_find(cta->view->memory, address);
        if (*recent && !gd_memory_reaches(cta->view->owner, *recent))
            *recent = NULL;
    }
    return *recent;
}

/* A .const variable is memory like any other for who has its address; PTX has no .const stores. */
static unsigned char *global_place(gd_warp *warp, const gd_code *code, uint32_t lane,
                                   uint64_t address, uint32_t bytes, bool write)
{
    gd_allocation *item = gd_allocation_find(warp->cta, code, address);

    if (!item || item->freed || gd_memory_is_hidden(item) ||
        item->bytes - (address - item->start) < bytes) {
        bool over = item && !item->freed && !gd_memory_is_hidden(item);
        item = gd_memory_find(warp->cta->view->memory, address);
        bool far = item && !gd_memory_reaches(warp->cta->view->owner, item);
        gd_cta_fail(warp, code, lane, GD_FAULT_ADDRESS, address, bytes, write,
                    over  ? "%s %u %s at 0x%" PRIx64 ", which goes past the end"
                    : far ? "%s %u %s at 0x%" PRIx64 " without peer access"
                          : "%s %u %s at 0x%" PRIx64 " outside of every allocation",
                    verb(write), bytes, gd_plural(bytes, "byte", "bytes"), address);
        return NULL;
    }
    return item->host + (address - item->start);
}

static unsigned char *window_place(gd_warp *warp, const gd_code *code, uint32_t lane,
                                   const char *space, unsigned char *host, uint64_t start,
                                   uint64_t size, uint64_t address, uint32_t bytes, bool write)
{
    if (address >= start && address - start < size && size - (address - start) >= bytes)
        return host + (address - start);
    gd_cta_fail(warp, code, lane, GD_FAULT_ADDRESS, address, bytes, write,
                "%s %u %s of %s memory at 0x%" PRIx64 "; it has %" PRIu64 " bytes from 0x%" PRIx64,
                verb(write), bytes, gd_plural(bytes, "byte", "bytes"), space, address, size, start);
    return NULL;
}

static unsigned char *parameter_place(gd_warp *warp, const gd_code *code, uint32_t lane,
                                      uint64_t address, uint32_t bytes, bool write)
{
    const gd_grid_view *view = warp->cta->view;

    if (write) {
        gd_cta_fail(warp, code, lane, GD_FAULT_READ_ONLY, address, bytes, write,
                    "write to a kernel's parameter");
        return NULL;
    }
    return window_place(warp, code, lane, "parameter", (unsigned char *)(uintptr_t)view->parameters,
                        0, view->entry->parameter_bytes, address, bytes, write);
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

gd_space gd_resolve(gd_space space, uint64_t *address)
{
    return space == GD_AT_GENERIC || (space == GD_AT_PARAMETER && *address >= WINDOW_BYTES)
               ? resolve_generic(address)
               : space;
}

void gd_note_poll(gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address)
{
    warp->polled = code;
    warp->polled_lane = lane;
    warp->polled_address = address;
    if (warp->cta->outside || gd_resolve((gd_space)code->space, &address) != GD_AT_GLOBAL)
        return;
    const gd_allocation *item = gd_allocation_find(warp->cta, code, address);
    warp->cta->outside = item && (item->kind == GD_MEMORY_HOST || item->kind == GD_MEMORY_MANAGED ||
                                  item->kind == GD_MEMORY_MAPPED);
}

const gd_shared_variable *gd_shared_find(const gd_image *image, uint64_t address)
{
    const uint64_t place = address & ((UINT64_C(1) << GD_RANK_SHIFT) - 1);

    for (uint32_t i = 0; i < image->shared_count; i++) {
        if (place - image->shared[i].start < image->shared[i].bytes)
            return &image->shared[i];
    }
    return NULL;
}

void gd_shared_name(const gd_image *image, uint64_t address, char *text, size_t bytes)
{
    const gd_ptx_module *module = image->entry.program->module;
    const gd_shared_variable *in = gd_shared_find(image, address);
    uint32_t length = 0;
    const char *name =
        in ? gd_ptx_name_text(module, module->symbols[in->symbol].name, &length) : NULL;
    const uint64_t offset = in ? (address & ((UINT64_C(1) << GD_RANK_SHIFT) - 1)) - in->start : 0;

    if (!in)
        snprintf(text, bytes, "at 0x%" PRIx64, address);
    else if (!offset)
        snprintf(text, bytes, "%.*s", (int)length, name);
    else
        snprintf(text, bytes, "%.*s+%" PRIu64 " (0x%" PRIx64 ")", (int)length, name, offset,
                 address);
}

/* Whether a variable's own alignment is to blame, and not the place within it. */
static void blame_variable(gd_cta *cta, gd_space space, uint64_t address, uint32_t alignment)
{
    const gd_ptx_module *module = cta->image->entry.program->module;
    const gd_allocation *item;
    const gd_shared_variable *variable = NULL;

    space = gd_resolve(space, &address);
    if (space == GD_AT_SHARED || space == GD_AT_CLUSTER)
        variable = gd_shared_find(cta->image, address);
    if (variable && !((address - variable->start) & (alignment - 1))) {
        char name[96];
        gd_shared_name(cta->image, variable->start, name, sizeof name);
        gd_cta_miss(cta, ".align %u in the declaration of %s, which has .align %u", alignment, name,
                    (uint32_t)module->symbols[variable->symbol].alignment);
    }
    if (space != GD_AT_GLOBAL && space != GD_AT_CONSTANT)
        return;
    item = gd_memory_find(cta->view->memory, address);
    if (item && item->name && item->start & (alignment - 1) &&
        !((address - item->start) & (alignment - 1)))
        gd_cta_miss(cta, ".align %u in the declaration of %s, which has .align %u", alignment,
                    item->name, 1u << __builtin_ctzll(item->start));
}

unsigned char *gd_access(gd_warp *warp, const gd_code *code, uint32_t lane, gd_space space,
                         uint64_t address, uint32_t bytes, uint32_t alignment, bool write)
{
    gd_cta *cta = warp->cta;

    if (address & (alignment - 1)) {
        gd_cta_fail(warp, code, lane, GD_FAULT_ALIGNMENT, address, bytes, write,
                    "%s %u %s at 0x%" PRIx64 ", which is no multiple of %u", verb(write), bytes,
                    gd_plural(bytes, "byte", "bytes"), address, alignment);
        blame_variable(cta, space, address, alignment);
        return NULL;
    }
    switch (gd_resolve(space, &address)) {
    case GD_AT_SHARED:
        if (address >> GD_RANK_SHIFT != cta->rank && address < WINDOW_BYTES) {
            gd_cta_fail(warp, code, lane, GD_FAULT_WINDOW, address, bytes, write,
                        "%s %u %s of .shared::cta at 0x%" PRIx64
                        ", an address of CTA rank %u; this is rank %u",
                        verb(write), bytes, gd_plural(bytes, "byte", "bytes"), address,
                        (uint32_t)(address >> GD_RANK_SHIFT), cta->rank);
            return NULL;
        }
        return window_place(warp, code, lane, "shared", cta->shared, cta->shared_start,
                            cta->shared_bytes, address, bytes, write);
    case GD_AT_CLUSTER:
        return gd_cluster_access(warp, code, lane, address, bytes, write);
    case GD_AT_LOCAL:
        return window_place(warp, code, lane, "local",
                            cta->local + (size_t)(warp->index * GD_LANES + lane) * cta->local_bytes,
                            0, cta->local_bytes, address, bytes, write);
    case GD_AT_PARAMETER:
        return parameter_place(warp, code, lane, address, bytes, write);
    default:
        return global_place(warp, code, lane, address, bytes, write);
    }
}

/* A part of memory that is one piece on the host as well. */
typedef struct piece {
    const unsigned char *host;
    uint64_t start, bytes;
} piece;

/* The piece that holds the lowest of the accesses; false when it takes a closer look. */
static bool find_piece(gd_cta *cta, const gd_code *code, const gd_places *places, bool write,
                       piece *into)
{
    bool generic = code->space == GD_AT_GENERIC;

    if (code->space == GD_AT_SHARED || (generic && places->low - GD_SHARED_WINDOW < WINDOW_BYTES)) {
        *into = (piece){cta->shared, cta->shared_start + (generic ? GD_SHARED_WINDOW : 0),
                        cta->shared_bytes};
        return true;
    }
    if (code->space == GD_AT_PARAMETER) {
        *into = (piece){cta->view->parameters, 0, cta->view->entry->parameter_bytes};
        return !write;
    }
    if (code->space == GD_AT_LOCAL)
        return false;
    const gd_allocation *item = gd_allocation_find(cta, code, places->low);
    if (!item || item->freed || gd_memory_is_hidden(item))
        return false;
    *into = (piece){item->host, item->start, item->bytes};
    return true;
}

/* All lanes at once, when all accesses are aligned and lie in one piece of memory; false when it
 * takes a closer look. */
static bool find_all(gd_warp *warp, const gd_code *code, bool write, uint32_t bytes,
                     gd_places *places)
{
    piece in;

    if (places->bits & (bytes - 1) || !find_piece(warp->cta, code, places, write, &in))
        return false;
    uint64_t low = places->low - in.start, high = places->high - in.start,
             distance = (uint64_t)(uintptr_t)in.host - in.start;
    if (low >= in.bytes || high >= in.bytes || in.bytes - high < bytes)
        return false;
    if (places->layout == GD_LAYOUT_APART)
        warp->cta->sweeps->shift(places, distance);
    else
        places->first += distance;
    return true;
}

static bool find_each(gd_warp *warp, const gd_code *code, uint32_t mask, bool write, uint32_t bytes,
                      gd_places *places)
{
    places->layout = GD_LAYOUT_APART;
    GD_EACH_LANE(lane, mask)
    {
        const unsigned char *place = gd_access(warp, code, lane, (gd_space)code->space,
                                               places->addresses[lane], bytes, bytes, write);
        if (!place)
            return false;
        places->hosts[lane] = (uint64_t)(uintptr_t)place;
    }
    return true;
}

/* A store, as `same` of its check is told. */
typedef struct store_context {
    const gd_warp *warp;
    const gd_code *code;
    const gd_places *places;
} store_context;

static bool is_same(const void *context, uint32_t lane)
{
    const store_context *store = context;
    const gd_code *code = store->code;
    const gd_places *places = store->places;
    const gd_slot *slots = store->warp->cta->image->list + code->list;
    uint64_t step = places->layout == GD_LAYOUT_TOGETHER ? (uint64_t)code->bytes * code->count : 0;
    uint64_t place =
        places->layout == GD_LAYOUT_APART ? places->hosts[lane] : places->first + lane * step;

    for (uint32_t i = 0; i < code->count; i++) {
        const unsigned char *from =
            (const unsigned char *)gd_lanes(store->warp, slots[i]) + (size_t)lane * code->x;
        if (memcmp((const unsigned char *)(uintptr_t)place + i * code->bytes, from, code->bytes) !=
            0)
            return false;
    }
    return true;
}

/* Whether two lanes that write at the same place write the same. */
static bool is_equal(const void *context, uint32_t lane, uint32_t other)
{
    const store_context *store = context;
    const gd_code *code = store->code;
    const gd_slot *slots = store->warp->cta->image->list + code->list;

    if (store->places->addresses[lane] != store->places->addresses[other])
        return false;
    for (uint32_t i = 0; i < code->count; i++) {
        const unsigned char *lanes = gd_lanes(store->warp, slots[i]);
        if (memcmp(lanes + (size_t)lane * code->x, lanes + (size_t)other * code->x, code->bytes) !=
            0)
            return false;
    }
    return true;
}

/* Tells the race detector of a load or store that is about to be done. */
static void check_places(gd_warp *warp, const gd_code *code, uint32_t mask, bool write,
                         const gd_places *places)
{
    const store_context context = {.warp = warp, .code = code, .places = places};
    const gd_check check = {.space = (gd_space)code->space,
                            .bytes = (uint32_t)code->bytes * code->count,
                            .action = write ? GD_ACTION_WRITE : GD_ACTION_READ,
                            .order = code->order,
                            .addresses = places->addresses,
                            .same = write ? is_same : NULL,
                            .equal = write ? is_equal : NULL,
                            .context = &context};

    gd_check_access(warp, code, mask, &check);
}

/* Where the accesses of all lanes lie on the host; false after a fault. Every load and store comes
 * through here. */
static bool find_places(gd_warp *warp, const gd_code *code, uint32_t mask, bool write,
                        gd_places *places)
{
    uint32_t bytes = (uint32_t)code->bytes * code->count;

    warp->cta->sweeps->survey(warp, code, mask, bytes, places);
    if (!find_all(warp, code, write, bytes, places) &&
        !find_each(warp, code, mask, write, bytes, places))
        return false;
    if (warp->cta->race)
        check_places(warp, code, mask, write, places);
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

static unsigned char *place_of(const gd_places *places, uint32_t lane, uint32_t offset)
{
    return (unsigned char *)(uintptr_t)(places->hosts[lane] + offset);
}

/* 16 bytes in one access of the host's where they are aligned, as those that another process shares
 * are: a strong access of 128 bits is seen as a whole. */
static void copy_wide(void *to, const void *from)
{
    typedef uint64_t whole __attribute__((vector_size(16), may_alias));

    if (((uintptr_t)to | (uintptr_t)from) % 16 == 0)
        *(volatile whole *)to = *(const volatile whole *)from;
    else
        memcpy(to, from, 16);
}

static void load_element(const gd_warp *warp, const gd_code *code, uint32_t mask, gd_slot slot,
                         const gd_places *places, uint32_t offset)
{
    if (code->bytes == 16) {
        unsigned char *lanes = gd_lanes(warp, slot);
        GD_EACH_LANE(lane, mask)
        {
            copy_wide(lanes + (size_t)lane * 16, place_of(places, lane, offset));
        }
        return;
    }
    if (code->bytes == 4 && code->x == 4) {
        gd_u32 *lanes = gd_lanes(warp, slot);
        GD_EACH_LANE(lane, mask)
        {
            memcpy(&lanes[lane], place_of(places, lane, offset), 4);
        }
        return;
    }
    GD_EACH_LANE(lane, mask)
    {
        uint64_t value = read_bits(place_of(places, lane, offset), code->bytes);
        if (code->flags & GD_ACCESS_SIGNED)
            value = extend(value, code->bytes, code->y);
        gd_lane_put(warp, slot, lane, code->x, value);
    }
}

/* Gives each lane its own place again. */
static void spread(const gd_code *code, uint32_t mask, gd_places *places)
{
    uint64_t step = places->layout == GD_LAYOUT_TOGETHER ? (uint64_t)code->bytes * code->count : 0;

    if (places->layout == GD_LAYOUT_APART)
        return;
    GD_EACH_LANE(lane, mask)
    {
        places->hosts[lane] = places->first + lane * step;
    }
}

/* Other processes may have the memory too, and a host's processor may carry out accesses in another
 * order; an x86 does not. */
static inline void order_for_others(const gd_code *code, uint32_t order)
{
#ifdef __x86_64__
    (void)code;
    (void)order;
#else
    if (code->order & order)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

void gd_run_load(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_places places;
    const gd_slot *slots = warp->cta->image->list + code->list;

    if (!find_places(warp, code, mask, false, &places))
        return;
    if (code->flags & GD_ACCESS_STRONG) {
        warp->cta->polls++;
        gd_note_poll(warp, code, gd_lowest(mask), places.addresses[gd_lowest(mask)]);
    }
    if (code->flags & GD_ACCESS_STRONG || mask != UINT32_MAX ||
        places.layout != GD_LAYOUT_TOGETHER ||
        !warp->cta->sweeps->load(warp, code, slots,
                                 (const unsigned char *)(uintptr_t)places.first)) {
        spread(code, mask, &places);
        for (uint32_t i = 0; i < code->count; i++)
            load_element(warp, code, mask, slots[i], &places, i * code->bytes);
    }
    order_for_others(code, GD_ORDER_ACQUIRE);
}

static void store_element(const gd_warp *warp, const gd_code *code, uint32_t mask, gd_slot slot,
                          const gd_places *places, uint32_t offset)
{
    const unsigned char *lanes = gd_lanes(warp, slot);

    GD_EACH_LANE(lane, mask)
    {
        const unsigned char *from =
            lanes + (size_t)lane * code->x; /* little-endian: the low bytes stand first */
        unsigned char *to = place_of(places, lane, offset);
        switch (code->bytes) {
        case 1:
            *to = *from;
            break;
        case 2:
            memcpy(to, from, 2);
            break;
        case 4:
            memcpy(to, from, 4);
            break;
        case 8:
            memcpy(to, from, 8);
            break;
        default:
            copy_wide(to, from);
            break;
        }
    }
}

void gd_run_store(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    gd_places places;
    const gd_slot *slots = warp->cta->image->list + code->list;

    if (!find_places(warp, code, mask, true, &places))
        return;
    warp->cta->work++;
    order_for_others(code, GD_ORDER_RELEASE);
    if (!(code->flags & GD_ACCESS_STRONG) && mask == UINT32_MAX &&
        places.layout == GD_LAYOUT_TOGETHER &&
        warp->cta->sweeps->store(warp, code, slots, (unsigned char *)(uintptr_t)places.first))
        return;
    spread(code, mask, &places);
    for (uint32_t i = 0; i < code->count; i++)
        store_element(warp, code, mask, slots[i], &places, i * code->bytes);
}

void gd_run_touch(gd_warp *warp, const gd_code *code, uint32_t mask)
{
    uint64_t addresses[GD_LANES];

    gd_address_lanes(warp, code, addresses);
    GD_EACH_LANE(lane, mask)
    {
        if (!gd_access(warp, code, lane, (gd_space)code->space, addresses[lane], code->bytes,
                       code->bytes, true))
            return;
    }
}

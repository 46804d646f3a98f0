/* Allocations of the emulated devices: an array ordered by address, searched by halves. Freed ones
 * stay in it without their bytes; when there are many of them, those at the lowest addresses, which
 * are the oldest, are forgotten. */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "emulator/machine/memory.h"

enum { MOST_FREED = 4096, HEAP_ALIGNMENT = 16 };

typedef struct record {
    gd_allocation allocation; /* first: it is handed out as a pointer to it */
    void *owned;              /* the block that the bytes lie in; NULL: they are another's */
} record;

struct gd_memory {
    record **list; /* by start */
    size_t count, capacity, freed;
    uint64_t next;
    bool shared;
    gd_memory_forget *forget; /* NULL */
    void *context;
};

gd_memory *gd_memory_create(void)
{
    gd_memory *memory = calloc(1, sizeof *memory);

    if (!memory)
        return NULL;
    memory->next = GD_MEMORY_BASE;
    return memory;
}

static void drop_bytes(const gd_memory *memory, record *item)
{
    if (item->allocation.shadow && memory->forget)
        memory->forget(memory->context, item->allocation.shadow);
    item->allocation.shadow = NULL;
    free(item->owned);
    item->owned = NULL;
    item->allocation.host = NULL;
    if (item->allocation.bank && item->allocation.kind != GD_MEMORY_MAPPED)
        item->allocation.bank->used -= item->allocation.bytes;
    item->allocation.bank = NULL;
    item->allocation.owner = NULL;
}

void gd_memory_destroy(gd_memory *memory)
{
    if (!memory)
        return;
    for (size_t i = 0; i < memory->count; i++) {
        drop_bytes(memory, memory->list[i]);
        free(memory->list[i]);
    }
    free(memory->list);
    free(memory);
}

/* The number of allocations that start at or below an address. */
static size_t count_below(const gd_memory *memory, uint64_t address)
{
    size_t count;

    GD_COUNT_FIRST(count, memory->count, i, memory->list[i]->allocation.start <= address);
    return count;
}

static void remove_at(gd_memory *memory, size_t index)
{
    const gd_allocation *item = &memory->list[index]->allocation;

    memory->freed -= item->freed && !item->heap;
    free(memory->list[index]);
    memory->count--;
    memmove(memory->list + index, memory->list + index + 1,
            (memory->count - index) * sizeof *memory->list);
}

/* Forgets freed ranges that [start, end) overlaps; false when a live one is among them. */
static bool clear_range(gd_memory *memory, uint64_t start, uint64_t end)
{
    size_t index = count_below(memory, start);

    if (index > 0)
        index--;
    while (index < memory->count && memory->list[index]->allocation.start < end) {
        const gd_allocation *item = &memory->list[index]->allocation;
        if (item->start + (item->bytes ? item->bytes : 1) <= start)
            index++;
        else if (item->freed)
            remove_at(memory, index);
        else
            return false;
    }
    return true;
}

/* Forgets the older half of what was freed, but for what kernels gave back: one that runs may have
 * it at hand. */
static void forget(gd_memory *memory)
{
    size_t kept = 0, dropped = 0;

    for (size_t i = 0; i < memory->count; i++) {
        const gd_allocation *item = &memory->list[i]->allocation;
        if (item->freed && !item->heap && dropped < MOST_FREED / 2) {
            free(memory->list[i]);
            dropped++;
        } else {
            memory->list[kept++] = memory->list[i];
        }
    }
    memory->count = kept;
    memory->freed -= dropped;
}

/* A place in the device's address space, from `next` on and once around; 0: none. */
static uint64_t find_place(gd_memory *memory, uint64_t bytes)
{
    uint64_t needed =
        (bytes + GD_MEMORY_GUARD + GD_MEMORY_ALIGNMENT - 1) & ~(GD_MEMORY_ALIGNMENT - 1);

    for (size_t tries = 0; tries <= memory->count + 1; tries++) {
        if (needed > GD_VIRTUAL_BASE - GD_MEMORY_BASE)
            return 0;
        if (memory->next > GD_VIRTUAL_BASE - needed)
            memory->next = GD_MEMORY_BASE;
        uint64_t start = memory->next;
        if (clear_range(memory, start, start + needed)) {
            memory->next = start + needed;
            return start;
        }
        const gd_allocation *item =
            &memory->list[count_below(memory, start + needed - 1) - 1]->allocation;
        memory->next = (item->start + item->bytes + GD_MEMORY_GUARD + GD_MEMORY_ALIGNMENT - 1) &
                       ~(GD_MEMORY_ALIGNMENT - 1);
    }
    return 0;
}

static unsigned char *take_bytes(uint64_t bytes, bool aligned)
{
    size_t wanted = bytes ? (size_t)bytes : 1;
    void *host = NULL;

    if (!aligned)
        return calloc(1, wanted);
    if (posix_memalign(&host, GD_MEMORY_ALIGNMENT, wanted))
        return NULL;
    memset(host, 0, wanted);
    return host;
}

static bool insert(gd_memory *memory, record *item)
{
    if (memory->count == memory->capacity) {
        size_t capacity = memory->capacity ? memory->capacity * 2 : 64;
        record **list = realloc(memory->list, capacity * sizeof *list);
        if (!list)
            return false;
        memory->list = list;
        memory->capacity = capacity;
    }
    size_t index = count_below(memory, item->allocation.start);
    memmove(memory->list + index + 1, memory->list + index,
            (memory->count - index) * sizeof *memory->list);
    memory->list[index] = item;
    memory->count++;
    return true;
}

/* Gives a record its bytes and its address, `skew` behind one that is aligned. */
static bool place(gd_memory *memory, record *item, void *host, uint64_t skew)
{
    gd_allocation *allocation = &item->allocation;
    bool is_host = allocation->kind == GD_MEMORY_HOST || allocation->kind == GD_MEMORY_MANAGED;

    allocation->host = host;
    if (!host) {
        item->owned = take_bytes(allocation->bytes + skew, is_host);
        if (!item->owned)
            return false;
        allocation->host = (unsigned char *)item->owned + skew;
    }
    if (!is_host) {
        const uint64_t start = find_place(memory, allocation->bytes + skew);
        allocation->start = start + skew;
        return start != 0;
    }
    allocation->start = (uint64_t)(uintptr_t)allocation->host;
    return clear_range(memory, allocation->start,
                       allocation->start + (allocation->bytes ? allocation->bytes : 1));
}

static gd_allocation *take(gd_memory *memory, const gd_owner *owner, uint64_t bytes,
                           gd_memory_kind kind, void *host, const char *name, uint64_t skew)
{
    gd_bank *bank = owner ? owner->bank : NULL;

    if ((bank && bytes > bank->limit - bank->used) || bytes > SIZE_MAX / 2)
        return NULL;
    if (memory->freed > MOST_FREED && kind != GD_MEMORY_HEAP)
        forget(memory);
    record *item = calloc(1, sizeof *item);
    if (!item)
        return NULL;
    item->allocation =
        (gd_allocation){.bytes = bytes, .kind = kind, .name = name, .owner = owner, .bank = bank};
    if (bank)
        bank->used += bytes;
    if (!place(memory, item, host, skew) || !insert(memory, item)) {
        drop_bytes(memory, item);
        free(item);
        return NULL;
    }
    return &item->allocation;
}

gd_allocation *gd_memory_take(gd_memory *memory, const gd_owner *owner, uint64_t bytes,
                              gd_memory_kind kind, void *host, const char *name)
{
    return take(memory, owner, bytes, kind, host, name, 0);
}

gd_allocation *gd_memory_take_variable(gd_memory *memory, const gd_owner *owner, uint64_t bytes,
                                       uint64_t alignment, gd_memory_kind kind, const char *name)
{
    return take(memory, owner, bytes, kind, NULL, name, gd_memory_skew(alignment));
}

gd_allocation *gd_memory_map(gd_memory *memory, gd_bank *bank, uint64_t start, uint64_t bytes,
                             unsigned char *host)
{
    record *item = calloc(1, sizeof *item);

    if (!item)
        return NULL;
    item->allocation = (gd_allocation){
        .start = start, .bytes = bytes, .host = host, .kind = GD_MEMORY_MAPPED, .bank = bank};
    if (!clear_range(memory, start, start + bytes) || !insert(memory, item)) {
        free(item);
        return NULL;
    }
    return &item->allocation;
}

void gd_memory_share(gd_memory *memory)
{
    memory->shared = true;
}

bool gd_memory_is_shared(const gd_memory *memory)
{
    return memory->shared;
}

bool gd_memory_give(gd_memory *memory, uint64_t start)
{
    size_t index = count_below(memory, start);
    record *item = index ? memory->list[index - 1] : NULL;

    if (!item || item->allocation.start != start || item->allocation.freed)
        return false;
    drop_bytes(memory, item);
    item->allocation.freed = true;
    item->allocation.name = NULL; /* it may belong to a module that goes as well */
    memory->freed += !item->allocation.heap;
    return true;
}

gd_allocation *gd_memory_find(gd_memory *memory, uint64_t address)
{
    size_t index = count_below(memory, address);

    if (!index)
        return NULL;
    gd_allocation *item = &memory->list[index - 1]->allocation;
    return address - item->start < item->bytes ? item : NULL;
}

static uint64_t heap_bytes(uint64_t bytes)
{
    return (bytes + HEAP_ALIGNMENT - 1) & ~(uint64_t)(HEAP_ALIGNMENT - 1);
}

uint64_t gd_heap_take(gd_heap *heap, uint64_t bytes)
{
    heap->began = true;
    if (bytes > heap->limit || heap_bytes(bytes) > heap->limit - heap->used)
        return 0;
    gd_allocation *made =
        gd_memory_take(heap->memory, heap->owner, bytes, GD_MEMORY_HEAP, NULL, NULL);
    if (!made)
        return 0;
    made->heap = heap;
    heap->used += heap_bytes(bytes);
    return made->start;
}

bool gd_heap_give(gd_heap *heap, uint64_t start)
{
    const gd_allocation *item = gd_memory_find(heap->memory, start);

    if (!item || item->heap != heap || !gd_memory_give(heap->memory, start))
        return false;
    heap->used -= heap_bytes(item->bytes);
    return true;
}

void gd_heap_end(gd_heap *heap, void (*left)(uint64_t start, uint64_t bytes))
{
    gd_memory *memory = heap->memory;
    size_t kept = 0;

    for (size_t i = 0; i < memory->count; i++) {
        record *item = memory->list[i];
        if (item->allocation.heap != heap) {
            memory->list[kept++] = item;
            continue;
        }
        if (!item->allocation.freed) {
            if (left)
                left(item->allocation.start, item->allocation.bytes);
            drop_bytes(memory, item);
        }
        free(item);
    }
    memory->count = kept;
    heap->used = 0;
}

void gd_memory_on_forget(gd_memory *memory, gd_memory_forget *call, void *context)
{
    memory->forget = call;
    memory->context = context;
}

/* ---- who reaches what ---- */

bool gd_owner_is_peer(const gd_owner *who, const gd_owner *peer)
{
    for (uint32_t i = 0; i < who->peer_count; i++) {
        if (who->peers[i] == peer)
            return true;
    }
    return false;
}

bool gd_owner_add_peer(gd_owner *who, const gd_owner *peer)
{
    const gd_owner **more = realloc(who->peers, (who->peer_count + 1) * sizeof *more);

    if (!more)
        return false;
    who->peers = more;
    more[who->peer_count++] = peer;
    return true;
}

bool gd_owner_remove_peer(gd_owner *who, const gd_owner *peer)
{
    for (uint32_t i = 0; i < who->peer_count; i++) {
        if (who->peers[i] != peer)
            continue;
        who->peers[i] = who->peers[--who->peer_count];
        return true;
    }
    return false;
}

bool gd_memory_reaches(const gd_owner *who, const gd_allocation *what)
{
    if (what->kind == GD_MEMORY_MAPPED)
        return !who || what->freed || what->reached_by >> who->bank->device & 1;
    return !who || !what->bank || what->bank == who->bank || what->kind == GD_MEMORY_HOST ||
           what->kind == GD_MEMORY_MANAGED || gd_owner_is_peer(who, what->owner);
}

/* Global memory of the emulated devices: allocations at device addresses that are not host
 * addresses, so that a stray access is noticed. All devices have one address space; each allocation
 * belongs to somebody, and not everybody reaches it.
 *
 * Addresses begin at GD_MEMORY_BASE; between two allocations lies a gap of at least GD_MEMORY_GUARD
 * bytes that belongs to none. A freed range is not given out again before the address space wraps,
 * so that a use after free is noticed too. */
#ifndef GD_EMULATOR_MACHINE_MEMORY_H
#define GD_EMULATOR_MACHINE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GD_MEMORY_BASE UINT64_C(0x700000000000)
#define GD_MEMORY_GUARD UINT64_C(65536)
#define GD_MEMORY_ALIGNMENT UINT64_C(512)

/* Addresses that programs reserve and map (cuMemAddressReserve) lie behind those, and the host's
 * own beyond. */
#define GD_VIRTUAL_BASE UINT64_C(0x7a0000000000)
#define GD_VIRTUAL_END UINT64_C(0x7e0000000000)

/* Windows of the generic address space (cvta): a CTA's shared memory, a thread's local memory.
 * Global addresses are generic ones as they are. Both lie below GD_MEMORY_BASE; each window is 2^32
 * bytes. */
#define GD_SHARED_WINDOW UINT64_C(0x100000000)
#define GD_LOCAL_WINDOW UINT64_C(0x200000000)

typedef enum gd_memory_kind {
    GD_MEMORY_DEVICE,   /* cuMemAlloc and its kin, module variables */
    GD_MEMORY_HOST,     /* cuMemHostAlloc: the device address is the host address */
    GD_MEMORY_MANAGED,  /* likewise */
    GD_MEMORY_CONSTANT, /* .const variables: read only for kernels */
    GD_MEMORY_MAPPED,   /* cuMemMap: physical memory, which others may map too */
    GD_MEMORY_HEAP,     /* malloc of a kernel: no call of the driver reaches it */
    GD_MEMORY_CONDITION /* of a conditional node: kernels set it by cudaGraphSetConditional alone */
} gd_memory_kind;

/* The memory of one device. */
typedef struct gd_bank {
    uint32_t device; /* its number */
    uint64_t limit, used;
} gd_bank;

/* Who allocates, and whose kernels access: a context. */
typedef struct gd_owner gd_owner;
struct gd_owner {
    gd_bank *bank;
    const gd_owner **peers; /* whose allocations it reaches too */
    uint32_t peer_count;
};

typedef struct gd_allocation {
    uint64_t start; /* device address, aligned to 512, but for variables */
    uint64_t bytes;
    unsigned char *host; /* where the bytes are */
    gd_memory_kind kind;
    bool freed;               /* kept for a while, to name a use after free */
    const char *name;         /* of a module variable; NULL */
    const gd_owner *owner;    /* NULL: freed, or nobody's. It may have ended, where a free is due */
    gd_bank *bank;            /* that it takes its bytes from; NULL: none */
    uint64_t reached_by;      /* devices by bit, of GD_MEMORY_MAPPED */
    struct gd_heap *heap;     /* that it was taken from; NULL */
    struct gd_shadow *shadow; /* of the race detector; NULL */
} gd_allocation;

/* Whether it is behind a handle, so that no program reaches it by an address. */
static inline bool gd_memory_is_hidden(const gd_allocation *allocation)
{
    return allocation->kind == GD_MEMORY_CONDITION;
}

/* Whether calls of the driver tell of it and reach it by an address. */
static inline bool gd_memory_is_told(const gd_allocation *allocation)
{
    return !allocation->freed && !gd_memory_is_hidden(allocation) &&
           allocation->kind != GD_MEMORY_HEAP;
}

/* Called for each allocation with a shadow whose memory goes. */
typedef void gd_memory_forget(void *context, struct gd_shadow *shadow);

typedef struct gd_memory gd_memory;

gd_memory *gd_memory_create(void);
void gd_memory_destroy(gd_memory *memory);

/* A new allocation; NULL when the limit of the owner's bank or the host's memory is passed. `owner`
 * is NULL for what is nobody's, has no limit and is reached by all, `host` for memory that the
 * object takes itself. */
gd_allocation *gd_memory_take(gd_memory *memory, const gd_owner *owner, uint64_t bytes,
                              gd_memory_kind kind, void *host, const char *name);

/* The same for a variable of a module, which lies as badly as its alignment (a power of two) lets
 * it: no linker has to do better. */
gd_allocation *gd_memory_take_variable(gd_memory *memory, const gd_owner *owner, uint64_t bytes,
                                       uint64_t alignment, gd_memory_kind kind, const char *name);

/* How far behind a multiple of twice its alignment a variable lies: an access that needs a better
 * alignment than the variable has is a mistake, which a GPU punishes or not, by chance. */
static inline uint64_t gd_memory_skew(uint64_t alignment)
{
    return alignment < GD_MEMORY_ALIGNMENT ? (alignment ? alignment : 1) : 0;
}

/* Whether kernels of `who` reach an allocation: memory of their own device, of the host, what a
 * peer of theirs owns, and what is mapped for their device. NULL reaches all. */
bool gd_memory_reaches(const gd_owner *who, const gd_allocation *what);

/* Lets `who` reach what `peer` owns, and ends that; false: no memory, it did not. */
bool gd_owner_is_peer(const gd_owner *who, const gd_owner *peer);
bool gd_owner_add_peer(gd_owner *who, const gd_owner *peer);
bool gd_owner_remove_peer(gd_owner *who, const gd_owner *peer);

/* Physical memory of a bank, whose bytes are the caller's, at an address of GD_VIRTUAL_BASE and up
 * where nothing is; nobody reaches it yet. It is ended by gd_memory_give. */
gd_allocation *gd_memory_map(gd_memory *memory, gd_bank *bank, uint64_t start, uint64_t bytes,
                             unsigned char *host);

/* From now on other processes may have some of the memory too: whether atomic operations, and
 * waiting, have to mind them. */
void gd_memory_share(gd_memory *memory);
bool gd_memory_is_shared(const gd_memory *memory);

/* Ends the allocation that starts at this address; false when none does (or it was freed). */
bool gd_memory_give(gd_memory *memory, uint64_t start);

/* The allocation, freed ones included, that holds an address; NULL. Logarithmic; callers keep the
 * last answer at hand. */
gd_allocation *gd_memory_find(gd_memory *memory, uint64_t address);

/* A context's heap: what malloc and free of its kernels take from and give to. */
typedef struct gd_heap {
    gd_memory *memory;
    const gd_owner *owner;
    uint64_t limit, used;
    bool began; /* a kernel has taken from it: its limit is fixed */
} gd_heap;

/* Memory of so many bytes, more than 0; its address, 0: the heap has not so many left. */
uint64_t gd_heap_take(gd_heap *heap, uint64_t bytes);

/* Ends what was taken and starts at this address; false when nothing does. */
bool gd_heap_give(gd_heap *heap, uint64_t start);

/* Ends all that was taken, and forgets what was given back: no kernel may run. `left` (may be NULL)
 * is told of each that was not given back. */
void gd_heap_end(gd_heap *heap, void (*left)(uint64_t start, uint64_t bytes));

void gd_memory_on_forget(gd_memory *memory, gd_memory_forget *call, void *context);

#endif

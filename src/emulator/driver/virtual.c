/* Virtual memory: physical memory of a device (cuMemCreate), addresses (cuMemAddressReserve), the
 * one mapped at the other for the devices that are let at it (cuMemMap, cuMemSetAccess), and file
 * descriptors by which processes share it (cuMemExportToShareableHandle).
 *
 * Memory that may be shared is a file in memory, whose last page tells what it is; each process
 * maps it, so that kernels of all see each other's stores as they are made. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emulator/driver/call.h"
#include "emulator/driver/virtual.h"
#include "emulator/schedule/device.h"

enum { LAST_PAGE = 4096, MAGIC_BYTES = 16 };

#define GRANULARITY (UINT64_C(2) << 20)

static const char magic[MAGIC_BYTES] = "griddep shared";

/* What the last page of a shared file tells. */
typedef struct last_page {
    char magic[MAGIC_BYTES];
    uint64_t bytes;
    gd_CUdevice device; /* its number, in every process */
    char chip[16];
} last_page;

/* Lives while somebody has its handle, or maps it. */
typedef struct gd_physical gd_physical;
struct gd_physical {
    gd_object object; /* without a handle: it is mapped, and was released */
    gd_physical *next;
    gd_device *device;
    uint64_t bytes;
    int32_t type; /* CUmemAllocationHandleType, as asked for */
    int file;     /* -1: it cannot be shared */
    bool counts;  /* towards the device's memory; imported memory counts where it was made */
    unsigned char *host;
    uint32_t handles, mappings;
};

typedef struct range {
    uint64_t start, bytes;
    gd_physical *physical; /* of a mapping; NULL: of a reservation */
} range;

typedef struct range_list {
    range *list; /* by start */
    size_t count, capacity;
} range_list;

static struct {
    gd_physical *first;
    range_list reserved, mapped;
    uint64_t next; /* where to look for addresses */
} virtual;

/* ---- ranges ---- */

/* The first range that ends behind an address; the number of ranges where none does. */
static size_t find_range(const range_list *ranges, uint64_t address)
{
    size_t i = 0;

    while (i < ranges->count && ranges->list[i].start + ranges->list[i].bytes <= address)
        i++;
    return i;
}

static bool overlaps(const range_list *ranges, uint64_t start, uint64_t bytes)
{
    const size_t i = find_range(ranges, start);

    return i < ranges->count && ranges->list[i].start < start + bytes;
}

static bool add_range(range_list *ranges, range made)
{
    const size_t index = find_range(ranges, made.start);

    if (ranges->count == ranges->capacity) {
        const size_t capacity = ranges->capacity ? ranges->capacity * 2 : 16;
        range *more = realloc(ranges->list, capacity * sizeof *more);
        if (!more)
            return false;
        ranges->list = more;
        ranges->capacity = capacity;
    }
    memmove(ranges->list + index + 1, ranges->list + index,
            (ranges->count - index) * sizeof *ranges->list);
    ranges->list[index] = made;
    ranges->count++;
    return true;
}

static void remove_range(range_list *ranges, size_t index)
{
    ranges->count--;
    memmove(ranges->list + index, ranges->list + index + 1,
            (ranges->count - index) * sizeof *ranges->list);
}

/* Mappings that begin at `start` and follow each other without a gap up to the end: the first one's
 * index and their number; false where there are none, or one goes past the end. */
static bool find_mappings(uint64_t start, uint64_t bytes, size_t *first, size_t *count)
{
    uint64_t at = start;

    *first = find_range(&virtual.mapped, start);
    for (*count = 0; *first + *count < virtual.mapped.count && at < start + bytes; ++*count) {
        const range *mapping = &virtual.mapped.list[*first + *count];
        if (mapping->start != at || mapping->bytes > start + bytes - at)
            return false;
        at += mapping->bytes;
    }
    return *count && at == start + bytes;
}

/* ---- physical memory ---- */

static gd_physical *find_physical(gd_CUmemGenericAllocationHandle handle)
{
    return gd_object_find((const void *)(uintptr_t)handle, GD_OBJECT_PHYSICAL);
}

static void free_physical(gd_physical *physical)
{
    gd_physical **at = &virtual.first;

    while (*at != physical)
        at = &(*at)->next;
    *at = physical->next;
    gd_object_remove(&physical->object);
    if (physical->host)
        munmap(physical->host, physical->bytes);
    if (physical->file >= 0)
        close(physical->file);
    if (physical->counts)
        physical->device->bank.used -= physical->bytes;
    free(physical);
}

static void drop_physical(gd_physical *physical)
{
    if (!physical->handles && !physical->mappings)
        free_physical(physical);
}

/* With a handle, and without bytes yet; NULL: no memory. */
static gd_physical *add_physical(gd_device *device, uint64_t bytes, int32_t type)
{
    gd_physical *made = calloc(1, sizeof *made);

    if (!made || !gd_object_add(&made->object, GD_OBJECT_PHYSICAL, NULL)) {
        free(made);
        return NULL;
    }
    *made = (gd_physical){.object = made->object,
                          .next = virtual.first,
                          .device = device,
                          .bytes = bytes,
                          .type = type,
                          .file = -1,
                          .handles = 1};
    virtual.first = made;
    return made;
}

/* Maps the bytes into this process, of its file where it has one. */
static bool map_bytes(gd_physical *physical)
{
    const bool shared = physical->file >= 0;
    void *host =
        mmap(NULL, physical->bytes, PROT_READ | PROT_WRITE,
             shared ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, physical->file, 0);

    physical->host = host == MAP_FAILED ? NULL : host;
    if (shared && physical->host)
        gd_memory_share(gd_the_emulator.memory);
    return physical->host;
}

static bool make_file(gd_physical *physical)
{
    last_page page = {.bytes = physical->bytes, .device = physical->device->number};

    memcpy(page.magic, magic, sizeof page.magic);
    strncpy(page.chip, physical->device->chip->name, sizeof page.chip - 1);
    physical->file = memfd_create("griddep", MFD_CLOEXEC);
    return physical->file >= 0 &&
           ftruncate(physical->file, (off_t)(physical->bytes + LAST_PAGE)) == 0 &&
           pwrite(physical->file, &page, sizeof page, (off_t)physical->bytes) == sizeof page;
}

/* What of the properties is emulated: memory of a device, without a handle or with a file's. */
static gd_CUresult check_properties(const gd_CUmemAllocationProp *properties)
{
    if (!properties || properties->type != GD_CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->win32HandleMetaData)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (properties->location.type != GD_CU_MEM_LOCATION_TYPE_DEVICE)
        return gd_device_unsupported("physical memory of the host");
    if (!gd_device_find(properties->location.id))
        return GD_CUDA_ERROR_INVALID_DEVICE;
    if (properties->requestedHandleTypes & ~GD_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return gd_device_unsupported("memory that is shared otherwise than by file descriptors");
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuMemCreate(gd_CUmemGenericAllocationHandle *handle, size_t bytes,
                           const gd_CUmemAllocationProp *properties, unsigned long long flags)
{
    gd_CUresult result = check_properties(properties);

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!handle || flags || !bytes || bytes % GRANULARITY)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_device *device = gd_device_find(properties->location.id);
    if (bytes > device->bank.limit - device->bank.used)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    gd_physical *made = add_physical(device, bytes, properties->requestedHandleTypes);
    if (!made)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    made->counts = true;
    device->bank.used += bytes;
    if ((made->type && !make_file(made)) || !map_bytes(made)) {
        free_physical(made);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = (uint64_t)(uintptr_t)made->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuMemRelease(gd_CUmemGenericAllocationHandle handle)
{
    gd_physical *physical = find_physical(handle);

    if (!physical)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (--physical->handles == 0)
        gd_object_remove(&physical->object);
    drop_physical(physical);
    return GD_CUDA_SUCCESS;
}

/* The handle of what is mapped at an address. */
gd_CUresult gd_cuMemRetainAllocationHandle(gd_CUmemGenericAllocationHandle *handle, void *pointer)
{
    const uint64_t address = (uint64_t)(uintptr_t)pointer;
    const size_t index = find_range(&virtual.mapped, address);
    const range *mapping = index < virtual.mapped.count ? &virtual.mapped.list[index] : NULL;

    if (!handle || !mapping || address < mapping->start)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_physical *physical = mapping->physical;
    if (!physical->handles && !gd_object_add(&physical->object, GD_OBJECT_PHYSICAL, NULL))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    physical->handles++;
    *handle = (uint64_t)(uintptr_t)physical->object.handle;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuMemGetAllocationPropertiesFromHandle(gd_CUmemAllocationProp *properties,
                                                      gd_CUmemGenericAllocationHandle handle)
{
    const gd_physical *physical = find_physical(handle);

    if (!properties || !physical)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *properties = (gd_CUmemAllocationProp){
        .type = GD_CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = physical->type,
        .location = {GD_CU_MEM_LOCATION_TYPE_DEVICE, physical->device->number}};
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuMemGetAllocationGranularity(size_t *bytes,
                                             const gd_CUmemAllocationProp *properties,
                                             gd_CUmemAllocationGranularity_flags option)
{
    gd_CUresult result = check_properties(properties);

    if (result != GD_CUDA_SUCCESS)
        return result;
    if (!bytes || option < 0 || option > 1)
        return GD_CUDA_ERROR_INVALID_VALUE;
    *bytes = GRANULARITY;
    return GD_CUDA_SUCCESS;
}

/* ---- addresses ---- */

/* A place for so many bytes, from where the last one was found on, and once around; 0: none. */
static uint64_t find_place(uint64_t bytes, uint64_t alignment)
{
    for (int round = 0; round < 2; round++) {
        if (virtual.next < GD_VIRTUAL_BASE || round)
            virtual.next = GD_VIRTUAL_BASE;
        for (;;) {
            const uint64_t start = (virtual.next + alignment - 1) & ~(alignment - 1);
            if (start < virtual.next || start >= GD_VIRTUAL_END || bytes > GD_VIRTUAL_END - start)
                break;
            const size_t i = find_range(&virtual.reserved, start);
            if (i == virtual.reserved.count || virtual.reserved.list[i].start >= start + bytes) {
                virtual.next = start + bytes + GRANULARITY; /* a gap, for what goes past the end */
                return start;
            }
            virtual.next = virtual.reserved.list[i].start + virtual.reserved.list[i].bytes;
        }
    }
    return 0;
}

/* The hint is taken where there is nothing. */
gd_CUresult gd_cuMemAddressReserve(gd_CUdeviceptr *address, size_t bytes, size_t alignment,
                                   gd_CUdeviceptr hint, unsigned long long flags)
{
    if (!address || !bytes || bytes % GRANULARITY || alignment & (alignment - 1) || flags)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (alignment < GRANULARITY)
        alignment = GRANULARITY;
    const bool taken = hint < GD_VIRTUAL_BASE || hint >= GD_VIRTUAL_END || hint & (alignment - 1) ||
                       bytes > GD_VIRTUAL_END - hint || overlaps(&virtual.reserved, hint, bytes);
    const uint64_t start = taken ? find_place(bytes, alignment) : hint;
    if (!start || !add_range(&virtual.reserved, (range){.start = start, .bytes = bytes}))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    *address = start;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuMemAddressFree(gd_CUdeviceptr address, size_t bytes)
{
    const size_t i = find_range(&virtual.reserved, address);

    if (i == virtual.reserved.count || virtual.reserved.list[i].start != address ||
        virtual.reserved.list[i].bytes != bytes || overlaps(&virtual.mapped, address, bytes))
        return GD_CUDA_ERROR_INVALID_VALUE;
    remove_range(&virtual.reserved, i);
    return GD_CUDA_SUCCESS;
}

/* ---- mapping ---- */

gd_CUresult gd_cuMemMap(gd_CUdeviceptr address, size_t bytes, size_t offset,
                        gd_CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    gd_physical *physical = find_physical(handle);
    const size_t i = find_range(&virtual.reserved, address);
    const range *place = i < virtual.reserved.count ? &virtual.reserved.list[i] : NULL;

    if (!physical || flags || offset || !bytes || bytes % GRANULARITY || address % GRANULARITY ||
        bytes > physical->bytes || !place || address < place->start ||
        bytes > place->start + place->bytes - address || overlaps(&virtual.mapped, address, bytes))
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!add_range(&virtual.mapped, (range){address, bytes, physical}))
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (!gd_memory_map(gd_the_emulator.memory, &physical->device->bank, address, bytes,
                       physical->host)) {
        remove_range(&virtual.mapped, find_range(&virtual.mapped, address));
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    physical->mappings++;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuMemUnmap(gd_CUdeviceptr address, size_t bytes)
{
    size_t first, count;

    if (!find_mappings(address, bytes, &first, &count))
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (; count; count--) {
        const range mapping = virtual.mapped.list[first];
        gd_memory_give(gd_the_emulator.memory, mapping.start);
        remove_range(&virtual.mapped, first);
        mapping.physical->mappings--;
        drop_physical(mapping.physical);
    }
    return GD_CUDA_SUCCESS;
}

static gd_CUresult check_access(const gd_CUmemAccessDesc *wanted)
{
    if (wanted->location.type != GD_CU_MEM_LOCATION_TYPE_DEVICE)
        return gd_device_unsupported("access of the host to physical memory");
    if (!gd_device_find(wanted->location.id))
        return GD_CUDA_ERROR_INVALID_DEVICE;
    if (wanted->flags == GD_CU_MEM_ACCESS_FLAGS_PROT_READ)
        return gd_device_unsupported("CU_MEM_ACCESS_FLAGS_PROT_READ in cuMemSetAccess");
    return wanted->flags == GD_CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                   wanted->flags == GD_CU_MEM_ACCESS_FLAGS_PROT_READWRITE
               ? GD_CUDA_SUCCESS
               : GD_CUDA_ERROR_INVALID_VALUE;
}

/* A device reaches memory of its own and of its peers. */
gd_CUresult gd_cuMemSetAccess(gd_CUdeviceptr address, size_t bytes,
                              const gd_CUmemAccessDesc *wanted, size_t wanted_count)
{
    gd_CUresult result = wanted && wanted_count ? GD_CUDA_SUCCESS : GD_CUDA_ERROR_INVALID_VALUE;
    size_t first, count;

    if (result == GD_CUDA_SUCCESS && !find_mappings(address, bytes, &first, &count))
        return GD_CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; result == GD_CUDA_SUCCESS && i < wanted_count; i++) {
        result = check_access(&wanted[i]);
        for (size_t j = first; result == GD_CUDA_SUCCESS && j < first + count; j++) {
            const gd_device *device = gd_device_find(wanted[i].location.id),
                            *owner = virtual.mapped.list[j].physical->device;
            if (device != owner && !gd_device_is_peer(device, owner))
                result = GD_CUDA_ERROR_INVALID_DEVICE;
        }
    }
    for (size_t i = 0; result == GD_CUDA_SUCCESS && i < wanted_count; i++) {
        const uint64_t bit = UINT64_C(1) << wanted[i].location.id;
        for (size_t j = first; j < first + count; j++) {
            gd_allocation *item =
                gd_memory_find(gd_the_emulator.memory, virtual.mapped.list[j].start);
            item->reached_by = wanted[i].flags ? item->reached_by | bit : item->reached_by & ~bit;
        }
    }
    return result;
}

gd_CUresult gd_cuMemGetAccess(unsigned long long *flags, const gd_CUmemLocation *location,
                              gd_CUdeviceptr address)
{
    const gd_allocation *item = gd_memory_find(gd_the_emulator.memory, address);

    if (!flags || !location || location->type != GD_CU_MEM_LOCATION_TYPE_DEVICE || !item ||
        item->freed || item->kind != GD_MEMORY_MAPPED)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (!gd_device_find(location->id))
        return GD_CUDA_ERROR_INVALID_DEVICE;
    *flags = item->reached_by >> location->id & 1 ? GD_CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                  : GD_CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return GD_CUDA_SUCCESS;
}

/* ---- sharing ---- */

gd_CUresult gd_cuMemExportToShareableHandle(void *shareable, gd_CUmemGenericAllocationHandle handle,
                                            gd_CUmemAllocationHandleType type,
                                            unsigned long long flags)
{
    const gd_physical *physical = find_physical(handle);

    if (!shareable || !physical || flags || !type || type != physical->type)
        return GD_CUDA_ERROR_INVALID_VALUE;
    const int file = fcntl(physical->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(shareable, &file, sizeof file);
    return GD_CUDA_SUCCESS;
}

/* Whether a descriptor is of memory that an emulated driver has exported. */
static bool read_last_page(int file, last_page *page)
{
    struct stat about;

    return fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > LAST_PAGE &&
           pread(file, page, sizeof *page, about.st_size - LAST_PAGE) == sizeof *page &&
           !memcmp(page->magic, magic, sizeof magic) &&
           page->bytes == (uint64_t)about.st_size - LAST_PAGE && page->bytes % GRANULARITY == 0;
}

gd_CUresult gd_cuMemImportFromShareableHandle(gd_CUmemGenericAllocationHandle *handle,
                                              void *shareable, gd_CUmemAllocationHandleType type)
{
    const int file = (int)(intptr_t)shareable;
    last_page page;

    if (!handle || type != GD_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
        !read_last_page(file, &page))
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_device *device = gd_device_find(page.device);
    page.chip[sizeof page.chip - 1] = 0;
    if (!device || strcmp(page.chip, device->chip->name) != 0)
        return gd_device_refuse(GD_CUDA_ERROR_INVALID_DEVICE,
                                "the memory is of device %d, an emulated %s, and this process has "
                                "no such device",
                                page.device, page.chip);
    gd_physical *made =
        add_physical(device, page.bytes, GD_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (!made)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    made->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (made->file < 0 || !map_bytes(made)) {
        free_physical(made);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = (uint64_t)(uintptr_t)made->object.handle;
    return GD_CUDA_SUCCESS;
}

void gd_virtual_end(void)
{
    while (virtual.first)
        free_physical(virtual.first);
    free(virtual.reserved.list);
    free(virtual.mapped.list);
    memset(&virtual, 0, sizeof virtual);
}

/* ---- entry points ---- */

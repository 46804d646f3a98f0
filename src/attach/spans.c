/* CUPTI, NVIDIA's library of activity records, hands buffers of them to a thread of its own; they
 * are put on a list, and become records of this library in a thread of the program. It is opened
 * where it is installed, and nothing of it is needed to build this. */
#include "attach/spans.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/cupti.h"
#include "attach/map.h"
#include "attach/next.h"
#include "attach/process.h"
#include "attach/record.h"
#include "base/environment.h"

enum {
    BUFFER_BYTES = 1 << 19,
    MOST_BUFFERS = 256, /* that wait to be taken */
    MOST_SPANS = 1 << 18
};

/* What CUPTI fills; in front of it this. */
typedef struct buffer {
    struct buffer *next;
    size_t filled;
    unsigned char bytes[] __attribute__((aligned(16)));
} buffer;

typedef void request_function(uint8_t **bytes, size_t *size, size_t *most_records);
typedef void complete_function(void *context, uint32_t stream, uint8_t *bytes, size_t size,
                               size_t filled);

static struct {
    int (*cuptiActivityRegisterCallbacks)(request_function *, complete_function *);
    int (*cuptiActivityEnable)(uint32_t kind);
    int (*cuptiActivityGetNextRecord)(uint8_t *bytes, size_t filled, void **record);
    int (*cuptiActivityFlushAll)(uint32_t flag);
} cupti;

static const struct {
    const char *name;
    void *pointer;
} symbols[] = {{"cuptiActivityRegisterCallbacks", &cupti.cuptiActivityRegisterCallbacks},
               {"cuptiActivityEnable", &cupti.cuptiActivityEnable},
               {"cuptiActivityGetNextRecord", &cupti.cuptiActivityGetNextRecord},
               {"cuptiActivityFlushAll", &cupti.cuptiActivityFlushAll}};

static struct {
    bool begun, told;
    uint32_t count;
    gd_map lanes;     /* stream and owner -> its number + 1 */
    buffer *filled;   /* atomic: the newest first */
    uint32_t waiting; /* atomic */
} spans;

/* ---- CUPTI ---- */

static bool open_at(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; library && i < sizeof symbols / sizeof *symbols; i++) {
        void *function = dlsym(library, symbols[i].name);
        if (!function)
            return false;
        memcpy(symbols[i].pointer, &function, sizeof function);
    }
    return library != NULL;
}

static bool open_below(const char *home)
{
    static const char *const folders[] = {"extras/CUPTI/lib64", "lib64"};
    char path[4096];

    for (size_t i = 0; home && *home && i < sizeof folders / sizeof *folders; i++) {
        const int length = snprintf(path, sizeof path, "%s/%s/libcupti.so", home, folders[i]);
        if (length > 0 && (size_t)length < sizeof path && open_at(path))
            return true;
    }
    return false;
}

/* It looks into a driver's inside, and NVIDIA's alone has that one. */
static bool is_emulated(void)
{
    gd_CUuuid uuid = {{0}};

    return !GD_NEXT(cuDeviceGetUuid, &uuid, 0) &&
           !memcmp(uuid.bytes, GD_EMULATED_UUID, sizeof uuid.bytes);
}

static bool open_cupti(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
    const char *given = gd_environment("GRIDDEP_CUPTI");

    if (given)
        return strcmp(given, "off") && open_at(given);
    for (size_t i = 0; !is_emulated() && i < sizeof names / sizeof *names; i++) {
        if (open_at(names[i]))
            return true;
    }
    return !is_emulated() &&
           (open_below(secure_getenv("CUDA_HOME")) || open_below(secure_getenv("CUDA_PATH")) ||
            open_below("/usr/local/cuda"));
}

static void give_buffer(uint8_t **bytes, size_t *size, size_t *most_records)
{
    buffer *made = NULL;

    *most_records = 0; /* as many as fit */
    if (__atomic_load_n(&spans.waiting, __ATOMIC_RELAXED) < MOST_BUFFERS)
        made = aligned_alloc(16, sizeof *made + BUFFER_BYTES);
    *bytes = made ? made->bytes : NULL;
    *size = made ? BUFFER_BYTES : 0;
}

static void take_buffer(void *context, uint32_t stream, uint8_t *bytes, size_t size, size_t filled)
{
    (void)context, (void)stream, (void)size;
    buffer *given = (buffer *)(void *)(bytes - offsetof(buffer, bytes));

    given->filled = filled;
    given->next = __atomic_load_n(&spans.filled, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&spans.filled, &given->next, given, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
    __atomic_add_fetch(&spans.waiting, 1, __ATOMIC_RELAXED);
}

/* Behind CUPTI's own handler in the order of registration, so that it runs before that. */
static void take_last(void)
{
    int kept;

    if (!gd_process_enter())
        return;
    gd_spans_flush();
    if (gd_process_lock(&kept)) {
        gd_spans_take();
        gd_process_unlock(kept);
    }
    gd_process_leave();
}

void gd_spans_begin(void)
{
    int kept;

    if (!gd_process_settings()->times || __atomic_exchange_n(&spans.begun, true, __ATOMIC_RELAXED))
        return;
    const bool told = open_cupti() &&
                      !cupti.cuptiActivityRegisterCallbacks(give_buffer, take_buffer) &&
                      !cupti.cuptiActivityEnable(GD_CUPTI_KERNEL) && atexit(take_last) == 0;
    __atomic_store_n(&spans.told, told, __ATOMIC_RELEASE);
    if (gd_process_lock(&kept)) {
        gd_record_clock(told ? GD_ATTACHED_CLOCK_CUPTI : GD_ATTACHED_CLOCK_EVENTS);
        gd_process_unlock(kept);
    }
}

bool gd_spans_are_told(void)
{
    return __atomic_load_n(&spans.told, __ATOMIC_ACQUIRE);
}

void gd_spans_flush(void)
{
    if (gd_spans_are_told())
        cupti.cuptiActivityFlushAll(1);
}

/* ---- records ---- */

static uint32_t lane_of(uint64_t stream, uint64_t owner)
{
    const uintptr_t known = (uintptr_t)gd_map_find(&spans.lanes, stream, owner);
    const uintptr_t made = known ? known : spans.lanes.count + 1;

    if (!known)
        gd_map_set(&spans.lanes, stream, owner, (void *)made);
    return (uint32_t)(made - 1);
}

void gd_spans_add(const char *kernel, uint64_t stream, uint64_t owner, uint64_t begin, uint64_t end,
                  bool graph)
{
    if (spans.count == MOST_SPANS)
        gd_process_say("more launches ended than are kept: nothing tells when those after the "
                       "first 262144 ran");
    if (spans.count++ >= MOST_SPANS)
        return;
    gd_attached_span *record = gd_record_add(GD_ATTACHED_SPAN, sizeof *record, kernel, NULL);
    record->lane = lane_of(stream, owner);
    record->graph = graph;
    record->begin = begin;
    record->end = end;
    gd_record_commit(record, GD_ATTACHED_SPAN);
}

static void take_records(buffer *from)
{
    void *record = NULL;

    while (!cupti.cuptiActivityGetNextRecord(from->bytes, from->filled, &record)) {
        const gd_cupti_kernel *kernel = record;
        if (kernel->kind == GD_CUPTI_KERNEL && kernel->end && kernel->name)
            gd_spans_add(kernel->name, kernel->stream, (uint64_t)kernel->context + 1, kernel->start,
                         kernel->end, kernel->graph_node != 0);
    }
}

void gd_spans_take(void)
{
    buffer *list = __atomic_exchange_n(&spans.filled, NULL, __ATOMIC_ACQUIRE);

    while (list) {
        buffer *next = list->next;
        take_records(list);
        __atomic_sub_fetch(&spans.waiting, 1, __ATOMIC_RELAXED);
        free(list);
        list = next;
    }
}

/* CUPTI's thread is not there, nor are its records. */
void gd_spans_forget(void)
{
    gd_map_free(&spans.lanes);
    spans.begun = spans.told = false;
    spans.count = spans.waiting = 0;
    spans.filled = NULL;
}

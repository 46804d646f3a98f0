/* The bytes of an allocation are kept when a recorded launch is first given it; again before a
 * launch, where something that is no launch may have written to it since; and when the recording
 * ends, as what is expected of a repetition. */
#include "attach/recording.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/kernels.h"
#include "attach/lanes.h"
#include "attach/next.h"
#include "attach/process.h"
#include "attach/record.h"

enum { MOST_ARGUMENTS = 1024, MOST_PARAMETER_BYTES = 1 << 16 };

static const char too_much[] = "the memory that was written between launches is more than is kept "
                               "(audit --record --memory)";

typedef struct allocation {
    uint64_t address, bytes;
    uint32_t number; /* of its record */
    bool shared;     /* the host writes to it, and nobody sees when */
    bool written;    /* by something that is no launch */
    bool freed;
} allocation;

static struct {
    allocation *list;
    uint32_t count;
    uint64_t kept, seen;     /* bytes; launches, those that are passed over too */
    uint32_t recorded, open; /* open: that the driver has not answered yet */
    bool over, at_exit;
    bool settled; /* memory is as it was looked at */
    bool full;    /* what the host has written since is not kept */
} recording;

/* ---- memory ---- */

static bool synchronize(void)
{
    return gd_next_driver.cuCtxSynchronize && gd_next_driver.cuCtxSynchronize() == GD_CUDA_SUCCESS;
}

/* The value of all bytes; -1: they differ. */
static int32_t find_value(const unsigned char *bytes, uint64_t count)
{
    return count && !memcmp(bytes, bytes + 1, (size_t)count - 1) ? bytes[0] : -1;
}

static void keep(const allocation *of, const unsigned char *bytes, bool expected)
{
    const int32_t value = find_value(bytes, of->bytes);
    char name[64] = "";

    if (value < 0 && !gd_record_image(bytes, (size_t)of->bytes, name))
        return;
    recording.kept += of->bytes;
    gd_attached_data *record = gd_record_add(GD_ATTACHED_DATA, sizeof *record, name, NULL);
    record->allocation = of->number;
    record->launch = recording.recorded;
    record->expected = expected;
    record->value = value;
    gd_record_commit(record, GD_ATTACHED_DATA);
}

/* False: it is more than is kept. */
static bool read_memory(allocation *of, bool expected)
{
    unsigned char *bytes = NULL;

    of->written = of->freed = false;
    if (recording.kept + of->bytes <= (uint64_t)gd_process_settings()->memory << 20)
        bytes = malloc((size_t)of->bytes);
    const bool read = bytes && !GD_NEXT(cuMemcpyDtoH_v2, bytes, of->address, (size_t)of->bytes);
    if (read)
        keep(of, bytes, expected);
    free(bytes);
    return read;
}

static bool find_range(uint64_t address, uint64_t *start, uint64_t *bytes)
{
    gd_CUdeviceptr first = 0;
    size_t count = 0;

    if (GD_NEXT(cuMemGetAddressRange_v2, &first, &count, address) || !count)
        return false;
    *start = first;
    *bytes = count;
    return true;
}

/* Memory of the host, or that the host reaches. */
static bool is_shared(uint64_t address)
{
    unsigned int type = 0;
    bool managed = false;

    GD_NEXT(cuPointerGetAttribute, &type, GD_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    GD_NEXT(cuPointerGetAttribute, &managed, GD_CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    return type == GD_CU_MEMORYTYPE_HOST || managed;
}

static allocation *add_allocation(uint64_t start, uint64_t bytes)
{
    allocation *grown = realloc(recording.list, (recording.count + 1) * sizeof *grown);

    if (!grown)
        return NULL;
    recording.list = grown;
    allocation *made = &grown[recording.count++];
    *made =
        (allocation){.address = start, .bytes = bytes, .shared = is_shared(start), .written = true};
    gd_attached_allocation *record =
        gd_record_add(GD_ATTACHED_ALLOCATION, sizeof *record, "", &made->number);
    record->address = start;
    record->bytes = bytes;
    gd_record_commit(record, GD_ATTACHED_ALLOCATION);
    return made;
}

/* That an address points into, with the bytes of its memory as the next launch finds them; NULL:
 * none. */
static allocation *use_allocation(uint64_t address)
{
    uint64_t start, bytes;
    allocation *found = NULL;

    if (!find_range(address, &start, &bytes))
        return NULL;
    for (uint32_t i = 0; i < recording.count && !found; i++) {
        if (recording.list[i].address == start && recording.list[i].bytes == bytes)
            found = &recording.list[i];
    }
    const bool is_new = !found;
    if (is_new)
        found = add_allocation(start, bytes);
    if (!found || recording.settled || !(found->written || found->shared || found->freed) ||
        !synchronize())
        return found;
    if (!read_memory(found, false) && !is_new)
        recording.full = true;
    if (!is_new)
        gd_lanes_all(); /* what was written is so behind all that was launched */
    return found;
}

/* ---- arguments ---- */

typedef struct parameter {
    size_t offset, bytes;
} parameter;

static uint32_t read_parameters(gd_CUfunction function, parameter *list)
{
    uint32_t count = 0;

    while (count < MOST_ARGUMENTS &&
           !GD_NEXT(cuFuncGetParamInfo, function, count, &list[count].offset, &list[count].bytes))
        count++;
    return count;
}

static void note_write(uint64_t address)
{
    for (uint32_t i = 0; i < recording.count; i++) {
        allocation *each = &recording.list[i];
        each->written |= address == GD_RECORDING_ANYWHERE ||
                         (address >= each->address && address - each->address < each->bytes);
    }
}

void gd_recording_read_cluster(const gd_CUlaunchConfig *config, uint32_t cluster[3])
{
    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        const gd_CUlaunchAttributeValue *value = &config->attrs[i].value;
        if (config->attrs[i].id != GD_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            continue;
        cluster[0] = value->clusterDim.x;
        cluster[1] = value->clusterDim.y;
        cluster[2] = value->clusterDim.z;
    }
}

const unsigned char *gd_recording_packed(void **extra)
{
    const unsigned char *packed = NULL;

    for (uint32_t i = 0; extra && i < 8 && extra[i] != GD_CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == GD_CU_LAUNCH_PARAM_BUFFER_POINTER)
            packed = extra[i + 1];
    }
    return packed;
}

/* What a launch is given, and the addresses in it. */
typedef struct given {
    parameter list[MOST_ARGUMENTS];
    uint32_t count;
    void **parameters;
    const unsigned char *packed; /* where there are no parameters */
    gd_attached_address *addresses;
    uint32_t address_count;
} given;

static const unsigned char *value_of(const given *of, uint32_t index)
{
    return of->parameters ? of->parameters[index] : of->packed + of->list[index].offset;
}

/* Whether so many bytes may be an address of a device's memory: of the user's half. */
static bool read_address(const unsigned char *bytes, uint64_t *address)
{
    memcpy(address, bytes, sizeof *address);
    return *address > 4095 && *address < (uint64_t)1 << 48;
}

static void add_address(given *to, uint32_t argument, uint32_t at, uint64_t address)
{
    const allocation *in = use_allocation(address);
    gd_attached_address *grown =
        in ? realloc(to->addresses, (to->address_count + 1) * sizeof *grown) : NULL;

    if (!grown)
        return;
    to->addresses = grown;
    grown[to->address_count++] = (gd_attached_address){
        .argument = argument, .at = at, .allocation = in->number, .offset = address - in->address};
}

/* In structs addresses stand where they are aligned. Memory is read here, before anything of the
 * launch is written down. */
static void find_addresses(given *to)
{
    uint64_t address;

    for (uint32_t i = 0; i < to->count; i++) {
        const parameter *each = &to->list[i];
        const size_t first = (8 - each->offset % 8) % 8;
        for (size_t at = first; at + sizeof address <= each->bytes; at += sizeof address) {
            if (read_address(value_of(to, i) + at, &address))
                add_address(to, i, (uint32_t)at, address);
        }
    }
}

static gd_attached_launch *add_record(const given *of)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < of->count; i++)
        bytes += (of->list[i].bytes + 7) / 8 * 8;
    if (bytes > MOST_PARAMETER_BYTES)
        return NULL;
    bytes += of->address_count * sizeof *of->addresses;
    gd_attached_launch *record = gd_record_add(
        GD_ATTACHED_LAUNCH, sizeof *record + of->count * sizeof *record->arguments + (size_t)bytes,
        "", NULL);
    if (!record->head.bytes)
        return NULL; /* there was no room */
    record->argument_count = of->count;
    record->address_count = of->address_count;
    return record;
}

static void fill_arguments(gd_attached_launch *record, const given *of)
{
    gd_attached_address *addresses =
        (gd_attached_address *)&record->arguments[record->argument_count];
    unsigned char *values = (unsigned char *)&addresses[of->address_count];
    uint64_t used = 0;
    uint32_t next = 0;

    if (of->address_count)
        memcpy(addresses, of->addresses, of->address_count * sizeof *addresses);
    for (uint32_t i = 0; i < of->count; i++) {
        const size_t bytes = of->list[i].bytes;
        gd_attached_argument *argument = &record->arguments[i];
        memcpy(values + used, value_of(of, i), bytes);
        *argument = (gd_attached_argument){
            .bytes = (uint32_t)bytes, .allocation = GD_ATTACHED_NONE, .offset = used};
        while (next < of->address_count && of->addresses[next].argument < i)
            next++;
        if (bytes == 8 && next < of->address_count && of->addresses[next].argument == i) {
            argument->allocation = of->addresses[next].allocation;
            argument->offset = of->addresses[next].offset;
        }
        used += (bytes + 7) / 8 * 8;
    }
}

static void fill_shape(gd_attached_launch *record, const gd_seen_launch *launch)
{
    const gd_CUlaunchConfig *config = launch->config;

    record->grid[0] = config->gridDimX;
    record->grid[1] = config->gridDimY;
    record->grid[2] = config->gridDimZ;
    record->block[0] = config->blockDimX;
    record->block[1] = config->blockDimY;
    record->block[2] = config->blockDimZ;
    record->shared = config->sharedMemBytes;
    record->early = launch->early;
    record->cooperative = launch->cooperative;
    gd_recording_read_cluster(config, record->cluster);
}

/* ---- launches ---- */

static void finish_at_exit(void)
{
    int kept;

    if (!gd_process_enter())
        return;
    if (gd_process_lock(&kept)) {
        gd_recording_finish();
        gd_process_unlock(kept);
    }
    gd_process_leave();
}

/* Events that the launch records by itself. */
static void note_events(const gd_seen_launch *launch)
{
    const gd_CUlaunchConfig *config = launch->config;
    const gd_CUstream stream = gd_streams_name(config->hStream, launch->per_thread);

    for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
        const gd_CUlaunchAttributeValue *value = &config->attrs[i].value;
        if (config->attrs[i].id == GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
            gd_lanes_work(stream, GD_ATTACHED_RECORD, value->programmaticEvent.event);
        else if (config->attrs[i].id == GD_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            gd_lanes_work(stream, GD_ATTACHED_RECORD, value->launchCompletionEvent.event);
    }
}

/* Whether there is something to be recorded now; a launch that is passed over is counted. */
static bool is_wanted(void)
{
    const gd_attach_settings *settings = gd_process_settings();

    if (recording.over)
        return false;
    if (recording.recorded >= settings->launches) { /* and a thread is still at its last one */
        note_write(GD_RECORDING_ANYWHERE);
        return false;
    }
    if (recording.seen < settings->first_launch) {
        recording.seen++;
        return false;
    }
    return true;
}

static void begin_record(gd_attached_launch *record, const gd_seen_launch *launch)
{
    if (!recording.at_exit)
        recording.at_exit = atexit(finish_at_exit) == 0;
    record->lane = gd_lanes_launch(launch, recording.recorded);
    recording.recorded++;
    recording.open++;
    recording.seen++;
}

void gd_recording_look(const gd_seen_launch *launch, void **parameters, void **extra)
{
    given of = {.parameters = parameters, .packed = gd_recording_packed(extra)};
    const gd_CUfunction function = gd_kernels_function(launch->function);

    if (function && gd_next_driver.cuFuncGetParamInfo && (parameters || of.packed))
        of.count = read_parameters(function, of.list);
    find_addresses(&of);
    free(of.addresses);
}

bool gd_recording_look_at(const gd_recorded_move *move)
{
    return use_allocation(move->to) && (!move->from || use_allocation(move->from));
}

void gd_recording_settle(bool settled)
{
    recording.settled = settled;
}

static void point_at(gd_attached_argument *argument, const allocation *in, uint64_t address,
                     uint64_t bytes)
{
    *argument = (gd_attached_argument){
        .bytes = (uint32_t)bytes, .allocation = in->number, .offset = address - in->address};
}

gd_attached_launch *gd_recording_make_move(const gd_seen_launch *in, const gd_recorded_move *move)
{
    char name[64] = "";

    if (!is_wanted())
        return NULL;
    const allocation *to = use_allocation(move->to);
    const uint32_t number = to ? to->number : GD_ATTACHED_NONE;
    const uint64_t start = to ? to->address : 0;
    const allocation *from = move->from ? use_allocation(move->from) : NULL;
    const uint32_t count = from ? 2 : 1;
    gd_attached_launch *record = NULL;
    if (recording.full) {
        gd_recording_miss(too_much);
        return NULL;
    }
    if (to && move->bytes <= UINT32_MAX && (move->is_fill || from || move->host) &&
        (!move->host || gd_record_image(move->host, (size_t)move->bytes, name)))
        record = gd_record_add(GD_ATTACHED_LAUNCH,
                               sizeof *record + count * sizeof *record->arguments, name, NULL);
    if (!record || !record->head.bytes) {
        gd_recording_miss("there was no room for a copy, or its memory is not known");
        return NULL;
    }
    record->kernel = GD_ATTACHED_NONE;
    record->argument_count = count;
    record->value = move->is_fill ? move->value : GD_ATTACHED_NONE;
    point_at(&record->arguments[0], &(allocation){.number = number, .address = start}, move->to,
             move->bytes);
    if (from)
        point_at(&record->arguments[1], from, move->from, move->bytes);
    begin_record(record, in);
    return record;
}

gd_attached_launch *gd_recording_make(const gd_seen_launch *launch, void **parameters, void **extra)
{
    uint32_t kernel = GD_ATTACHED_NONE;

    if (!is_wanted())
        return NULL;
    gd_kernels_find(launch->function, launch->config, &kernel);
    const gd_CUfunction function = gd_kernels_function(launch->function);
    if (kernel == GD_ATTACHED_NONE || !function || !gd_next_driver.cuFuncGetParamInfo) {
        gd_recording_miss("the driver is older than API 12.4, and does not tell parameters");
        return NULL;
    }
    given of = {.parameters = parameters, .packed = gd_recording_packed(extra)};
    if (parameters || of.packed)
        of.count = read_parameters(function, of.list);
    find_addresses(&of);
    gd_attached_launch *record = recording.full ? NULL : add_record(&of);
    if (record)
        fill_arguments(record, &of);
    free(of.addresses);
    if (!record) {
        gd_recording_miss(recording.full ? too_much : "there was no room for its arguments");
        return NULL;
    }
    record->kernel = kernel;
    fill_shape(record, launch);
    begin_record(record, launch);
    note_events(launch);
    return record;
}

bool gd_recording_has_room(uint32_t launches)
{
    const gd_attach_settings *settings = gd_process_settings();

    if (recording.over)
        return false;
    if (recording.seen < settings->first_launch) {
        recording.seen += launches;
        return false;
    }
    if (recording.recorded + launches <= settings->launches)
        return true;
    gd_recording_miss("its graph makes more launches than are asked for");
    return false;
}

unsigned char *gd_recording_pack(gd_CUfunction handle, void **parameters, void **extra)
{
    parameter list[MOST_ARGUMENTS];
    const gd_CUfunction function = gd_kernels_function(handle);
    const unsigned char *packed = gd_recording_packed(extra);
    const uint32_t count = function ? read_parameters(function, list) : 0;
    const size_t bytes = count ? list[count - 1].offset + list[count - 1].bytes : 0;
    unsigned char *made = function && (parameters || packed || !count) ? malloc(bytes + 1) : NULL;

    for (uint32_t i = 0; made && i < count; i++)
        memcpy(made + list[i].offset, parameters ? parameters[i] : packed + list[i].offset,
               list[i].bytes);
    return made;
}

/* All launches are there that were asked for, and another thread is still in the last one. What
 * was launched now would show in what the recording leaves. */
static bool is_ending(void)
{
    return !recording.over && recording.open &&
           recording.recorded >= gd_process_settings()->launches;
}

gd_attached_launch *gd_recording_begin(const gd_seen_launch *launch, void **parameters,
                                       void **extra)
{
    gd_attached_launch *record;
    int kept;

    if (!gd_process_settings()->launches || gd_streams_is_captured(launch) ||
        !gd_process_lock(&kept))
        return NULL;
    while (is_ending()) {
        gd_process_unlock(kept);
        sched_yield();
        if (!gd_process_lock(&kept))
            return NULL;
    }
    record = gd_recording_make(launch, parameters, extra);
    gd_process_unlock(kept);
    return record;
}

void gd_recording_end(gd_attached_launch *record, gd_CUresult result)
{
    int kept;

    if (!record || !gd_process_lock(&kept))
        return;
    record->taken = result == GD_CUDA_SUCCESS;
    if (!record->taken)
        gd_lanes_all(); /* what it followed is followed by others */
    gd_record_commit(record, GD_ATTACHED_LAUNCH);
    if (!--recording.open && recording.recorded >= gd_process_settings()->launches)
        gd_recording_finish();
    gd_process_unlock(kept);
}

void gd_recording_write(uint64_t address)
{
    int kept;

    if (!gd_process_settings()->launches || address == GD_RECORDING_NOWHERE ||
        !gd_process_lock(&kept))
        return;
    note_write(address);
    gd_process_unlock(kept);
}

void gd_recording_miss(const char *why)
{
    char text[256];

    if (recording.over || recording.seen < gd_process_settings()->first_launch)
        return;
    snprintf(text, sizeof text, "the recording ends before launch %llu: %s",
             (unsigned long long)recording.seen, why);
    gd_process_say(text);
    gd_recording_finish();
}

/* What is expected of it, where launches alone have written to it. */
static void expect(allocation *of)
{
    uint64_t start, bytes;

    if (!of->written && !of->shared && !of->freed && find_range(of->address, &start, &bytes) &&
        start == of->address && bytes == of->bytes)
        read_memory(of, true);
}

static void expect_last(allocation *of)
{
    if (!synchronize())
        return;
    expect(of);
    of->freed = true;
}

void gd_recording_free(uint64_t address)
{
    for (uint32_t i = 0; i < recording.count && !recording.over; i++) {
        if (recording.list[i].address == address)
            expect_last(&recording.list[i]);
    }
}

void gd_recording_end_context(void)
{
    for (uint32_t i = 0; i < recording.count && !recording.over; i++)
        expect_last(&recording.list[i]);
}

void gd_recording_finish(void)
{
    const bool was_over = recording.over;

    recording.over = true;
    if (was_over || !recording.recorded || gd_streams_have_capture() || !synchronize())
        return;
    for (uint32_t i = 0; i < recording.count; i++)
        expect(&recording.list[i]);
}

void gd_recording_forget(void)
{
    free(recording.list);
    memset(&recording, 0, sizeof recording);
}

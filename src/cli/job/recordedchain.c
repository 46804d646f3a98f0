/* Each launch becomes one of the chain, each allocation a buffer of bytes. What something else than
 * a launch wrote between two of them is a fill, or a copy from a buffer that holds it. */
#include "cli/job/recordedchain.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/fatbin.h"
#include "griddep.h"

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/outputfile.h"
#include "cli/io/type.h"
#include "cli/job/attachedcode.h"
#include "cli/plan/chainfile.h"
#include "cli/plan/modulefile.h"

enum { MOST_LANES = 1 << 16 };

/* A copy or a fill of the chain, and the lane that it stands in. */
typedef struct written {
    uint32_t place, lane;
} written;

typedef struct recorded {
    const gd_attached_file *file;
    const char *folder;
    gd_chainfile *chain;
    uint32_t next_data; /* that no launch was behind yet */
    bool *begun;        /* by allocation: its first bytes are there */
    uint32_t *last_use; /* by allocation: the launch behind the last one that has it; 0: none */
    uint32_t *places;   /* by launch: its place in the chain; GD_ATTACHED_NONE: none */
    uint32_t lanes;     /* their numbers end before */
    bool parallel;      /* there are several */
    uint32_t next_after;
    written *writes; /* between launches */
    uint32_t write_count;
    uint32_t *seen; /* by lane: how many of these its launches stand behind */
} recorded;

/* ---- files ---- */

static int stage(const recorded *into, const char *name, const void *data, size_t bytes)
{
    char *path = gd_heap_format("%s/%s", into->folder, name);
    int code = gd_outputfile_stage(path, data, bytes);
    free(path);
    return code;
}

/* The bytes that a record tells of. */
static int stage_data(const recorded *into, const char *name, uint32_t number)
{
    const gd_attached_data *data = gd_attached_get(into->file, GD_ATTACHED_DATA, number);
    const gd_attached_allocation *of =
        gd_attached_get(into->file, GD_ATTACHED_ALLOCATION, data->allocation);
    const gd_attached_image *image = &into->file->contents[number];
    if (data->value < 0)
        return stage(into, name, image->data, image->bytes);
    char *bytes = gd_heap_take(of->bytes, 1);
    memset(bytes, data->value, of->bytes);
    int code = stage(into, name, bytes, of->bytes);
    free(bytes);
    return code;
}

/* ---- modules ---- */

static const char *kind_of(const gd_attached_image *image)
{
    uint32_t magic = 0;
    if (image->bytes >= sizeof(magic))
        memcpy(&magic, image->data, sizeof(magic));
    if (magic == GD_FATBIN_MAGIC)
        return "fatbin";
    return memcmp(&magic, ELFMAG, SELFMAG) == 0 ? "cubin" : "ptx";
}

static int stage_text(const recorded *into, const char *name, const griddep_ptx *ptx)
{
    uint64_t bytes = 0;
    char *text = NULL;
    griddep_error error;
    griddep_error_init(&error);
    if (gd_modulefile_print(ptx, &text, &bytes, &error) != GRIDDEP_OK)
        return gd_message_library(&error, NULL);
    int code = stage(into, name, text, bytes);
    free(text);
    return code;
}

/* A module's name in the chain file, to free; it is added by its first kernel. PTX goes before
 * machine code: it can be checked, and stamped. */
static int find_module(recorded *into, const gd_attached_kernel *kernel, const griddep_ptx *ptx,
                       char **name)
{
    gd_chainfile *chain = into->chain;
    const gd_attached_image *image = &into->file->images[kernel->module];
    *name = gd_heap_format("module_%u", (unsigned)kernel->module);
    for (uint32_t i = 0; i < chain->modules_count; i++)
        if (strcmp(chain->modules[i].name, *name) == 0)
            return 0;
    if (image->bytes == 0)
        return gd_message_error(GD_EXIT_REFUSED,
                                "no chain was written: the code of kernel %s is not known",
                                kernel->name);
    char *file = gd_heap_format("%s.%s", *name, ptx != NULL ? "ptx" : kind_of(image));
    uint32_t count = chain->modules_count++;
    chain->modules = gd_heap_grow(chain->modules, count, count + 1, sizeof(*chain->modules));
    chain->modules[count] = (gd_chainfile_module){.name = gd_heap_string(*name), .file = file};
    if (ptx != NULL)
        return stage_text(into, file, ptx);
    bool is_text = strcmp(kind_of(image), "ptx") == 0; /* that cannot be read */
    return stage(into, file, image->data, is_text ? strlen(image->data) : image->bytes);
}

/* ---- buffers ---- */

static gd_chainfile_buffer *add_buffer(recorded *into, char *name, uint64_t bytes)
{
    gd_chainfile *chain = into->chain;
    uint32_t count = chain->buffers_count++;
    chain->buffers = gd_heap_grow(chain->buffers, count, count + 1, sizeof(*chain->buffers));
    chain->buffers[count] =
        (gd_chainfile_buffer){.name = name,
                              .type = gd_heap_string("u8"),
                              .count = gd_heap_format("%llu", (unsigned long long)bytes)};
    return &chain->buffers[count];
}

static char *buffer_name(uint32_t allocation)
{
    return gd_heap_format("buffer_%u", (unsigned)allocation);
}

static int hold(recorded *into, gd_chainfile_buffer *buffer, uint32_t number)
{
    const gd_attached_data *data = gd_attached_get(into->file, GD_ATTACHED_DATA, number);
    if (data->value == 0)
        return 0;
    if (data->value > 0) {
        buffer->constant = gd_heap_format("%d", data->value);
        return 0;
    }
    buffer->file = gd_heap_format("%s.bin", buffer->name);
    return stage_data(into, buffer->file, number);
}

/* Zeros, until it is known better. */
static void add_allocations(recorded *into)
{
    for (uint32_t i = 0; i < into->file->counts[GD_ATTACHED_ALLOCATION]; i++) {
        const gd_attached_allocation *each = gd_attached_get(into->file, GD_ATTACHED_ALLOCATION, i);
        add_buffer(into, buffer_name(i), each->bytes);
    }
}

static gd_chainfile_launch *add_launch(gd_chainfile *chain)
{
    uint32_t count = chain->launches_count++;
    chain->launches = gd_heap_grow(chain->launches, count, count + 1, sizeof(*chain->launches));
    return &chain->launches[count];
}

/* A name by which others can say that they stand behind. */
static const char *name_of(recorded *into, uint32_t place)
{
    gd_chainfile_launch *launch = &into->chain->launches[place];
    if (launch->name == NULL)
        launch->name = gd_heap_format("%.48s_%u",
                                      launch->kernel != NULL ? launch->kernel
                                      : launch->copy != NULL ? "copy"
                                                             : "fill",
                                      (unsigned)place);
    return launch->name;
}

static void follow(recorded *into, uint32_t place, uint32_t before)
{
    const char *name = name_of(into, before);
    gd_chainfile_launch *launch = &into->chain->launches[place];
    for (uint32_t i = 0; i < launch->after_count; i++)
        if (strcmp(launch->after[i], name) == 0)
            return;
    launch->after = gd_heap_grow(launch->after, launch->after_count, launch->after_count + 1,
                                 sizeof(*launch->after));
    launch->after[launch->after_count++] = gd_heap_string(name);
}

/* Puts the chain's last launch into a lane, behind what a recorded one follows. */
static void place_last(recorded *into, const gd_attached_launch *from, uint32_t number)
{
    uint32_t place = into->chain->launches_count - 1;
    if (!into->parallel)
        return;
    into->chain->launches[place].lane = gd_heap_format("stream_%u", (unsigned)from->lane);
    for (uint32_t i = into->next_after; i < into->file->counts[GD_ATTACHED_AFTER]; i++) {
        const gd_attached_after *after = gd_attached_get(into->file, GD_ATTACHED_AFTER, i);
        if (after->launch != number)
            break;
        if (after->before < number && into->places[after->before] != GD_ATTACHED_NONE)
            follow(into, place, into->places[after->before]);
    }
    for (uint32_t i = into->seen[from->lane]; i < into->write_count; i++)
        if (into->writes[i].lane != from->lane)
            follow(into, place, into->writes[i].place);
    into->seen[from->lane] = into->write_count;
}

/* What was written between two launches. */
static int add_write(recorded *into, uint32_t number)
{
    const gd_attached_data *data = gd_attached_get(into->file, GD_ATTACHED_DATA, number);
    const gd_attached_allocation *of =
        gd_attached_get(into->file, GD_ATTACHED_ALLOCATION, data->allocation);
    if (data->value >= 0) {
        gd_chainfile_fill *fill = gd_heap_take(1, sizeof(*fill));
        fill->buffer = buffer_name(data->allocation);
        fill->value = gd_heap_format("%d", data->value);
        add_launch(into->chain)->fill = fill;
        return 0;
    }
    char *from =
        gd_heap_format("buffer_%u_before_%u", (unsigned)data->allocation, (unsigned)data->launch);
    gd_chainfile_copy *copy = gd_heap_take(1, sizeof(*copy));
    copy->from = gd_heap_string(from);
    copy->to = buffer_name(data->allocation);
    add_launch(into->chain)->copy = copy;
    return hold(into, add_buffer(into, from, of->bytes), number);
}

static bool is_good(const recorded *into, uint32_t number)
{
    const gd_attached_data *data = gd_attached_get(into->file, GD_ATTACHED_DATA, number);
    const gd_attached_allocation *of =
        gd_attached_get(into->file, GD_ATTACHED_ALLOCATION, data->allocation);
    return of != NULL && of->bytes > 0 && data->value <= 255 &&
           (data->value >= 0 || into->file->contents[number].bytes == of->bytes);
}

/* It stands in the lane of the launch that it stands before. */
static void note_write(recorded *into, const gd_attached_launch *from, uint32_t number)
{
    place_last(into, from, number);
    into->writes =
        gd_heap_grow(into->writes, into->write_count, into->write_count + 1, sizeof(*into->writes));
    into->writes[into->write_count++] = (written){into->chain->launches_count - 1, from->lane};
}

/* Those that stand before a launch. */
static int take_data(recorded *into, const gd_attached_launch *from, uint32_t launch)
{
    int code = 0;
    for (; into->next_data < into->file->counts[GD_ATTACHED_DATA] && code == 0; into->next_data++) {
        const gd_attached_data *data =
            gd_attached_get(into->file, GD_ATTACHED_DATA, into->next_data);
        if (data->launch > launch)
            break;
        if (data->expected != 0 || !is_good(into, into->next_data))
            continue;
        if (!into->begun[data->allocation]) {
            code = hold(into, &into->chain->buffers[data->allocation], into->next_data);
        } else {
            code = add_write(into, into->next_data);
            note_write(into, from, launch);
        }
        into->begun[data->allocation] = true;
    }
    return code;
}

/* ---- arguments ---- */

static char *format_real(double value)
{
    if (isnan(value))
        return gd_heap_string("nan");
    if (isinf(value))
        return gd_heap_string(value < 0 ? "-inf" : "inf");
    return gd_heap_format("%.17g", value);
}

static char **field_of(gd_chainfile_argument *argument, gd_type type)
{
    switch (type) {
#define CASE(name)                                                                                 \
    case GD_TYPE_##name:                                                                           \
        return &argument->name;
        GD_TYPES(CASE)
#undef CASE
    default:
        return NULL;
    }
}

/* The type of a chain file for one of PTX, or for so many bytes where that is not known;
 * GD_TYPE_NAMES: none. */
static gd_type find_type(const char *ptx_type, uint32_t bytes)
{
    char plain[8];
    snprintf(plain, sizeof(plain), "u%u", (unsigned)bytes * 8);
    if (ptx_type != NULL && ptx_type[0] != 'b')
        snprintf(plain, sizeof(plain), "%.7s", ptx_type);
    for (int i = 0; i < GD_TYPE_NAMES; i++)
        if (strcmp(gd_type_name((gd_type)i), plain) == 0 && gd_type_bytes((gd_type)i) == bytes)
            return (gd_type)i;
    return GD_TYPE_NAMES;
}

static void set_value(gd_chainfile_argument *argument, gd_type type, const void *value,
                      uint32_t bytes)
{
    unsigned long long bits = 0;
    memcpy(&bits, value, bytes);
    if (!gd_type_is_integer(type))
        *field_of(argument, type) = format_real(gd_type_load(type, value, 0));
    else if (gd_type_is_signed(type))
        *field_of(argument, type) =
            gd_heap_format("%lld", (long long)(bits << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    else
        *field_of(argument, type) = gd_heap_format("%llu", bits);
}

/* The values of a launch's arguments; NULL: a record is damaged. */
static const char *values_of(const gd_attached_launch *launch, uint64_t *room)
{
    uint64_t bytes = launch->head.bytes - sizeof(*launch);
    uint64_t before = launch->argument_count * sizeof(gd_attached_argument) +
                      launch->address_count * sizeof(gd_attached_address);
    if (before > bytes)
        return NULL;
    *room = bytes - before;
    return (const char *)launch->arguments + before;
}

/* A parameter that is no number, with the addresses in it. */
static void set_struct(recorded *into, const gd_attached_launch *launch, uint32_t index,
                       gd_chainfile_argument *argument, const char *value, uint32_t bytes)
{
    const gd_attached_address *addresses = (const void *)&launch->arguments[launch->argument_count];
    argument->bytes = gd_heap_take(2 * (size_t)bytes + 1, 1);
    for (uint32_t i = 0; i < bytes; i++)
        snprintf(argument->bytes + 2 * (size_t)i, 3, "%02x", (unsigned)(unsigned char)value[i]);
    for (uint32_t i = 0; i < launch->address_count; i++) {
        const gd_attached_address *each = &addresses[i];
        if (each->argument != index || (uint64_t)each->at + 8 > bytes ||
            each->allocation >= into->file->counts[GD_ATTACHED_ALLOCATION])
            continue;
        memset(argument->bytes + 2 * (size_t)each->at, '0', 16);
        uint32_t count = argument->addresses_count++;
        argument->addresses =
            gd_heap_grow(argument->addresses, count, count + 1, sizeof(*argument->addresses));
        argument->addresses[count] = (gd_chainfile_address){
            .at = gd_heap_format("%u", (unsigned)each->at),
            .buffer = buffer_name(each->allocation),
            .offset = gd_heap_format("%llu", (unsigned long long)each->offset)};
        into->last_use[each->allocation] = into->next_data;
    }
}

/* For a kernel that tells the elements it takes. */
static char *element_name(const char *element)
{
    if (element == NULL)
        return NULL;
    gd_type type = find_type(
        element, (uint32_t)strtoul(element + strcspn(element, "0123456789"), NULL, 10) / 8);
    return type != GD_TYPE_NAMES ? gd_heap_string(gd_type_name(type)) : NULL;
}

static int set_argument(recorded *into, const gd_attached_launch *launch,
                        const gd_kernel_code *code, uint32_t index, gd_chainfile_argument *argument)
{
    const gd_attached_argument *given = &launch->arguments[index];
    uint64_t room = 0;
    const char *values = values_of(launch, &room);
    griddep_parameter_info info = {.size = sizeof(info)};
    if (code->ptx != NULL)
        griddep_ptx_get_parameter(code->ptx, code->entry, index, &info, NULL);
    if (given->allocation < into->file->counts[GD_ATTACHED_ALLOCATION]) {
        argument->buffer = buffer_name(given->allocation);
        argument->offset = gd_heap_format("%llu", (unsigned long long)given->offset);
        argument->as = element_name(info.element);
        into->last_use[given->allocation] = into->next_data;
        return 0;
    }
    if (values == NULL || given->offset > room || room - given->offset < given->bytes)
        return gd_message_error(GD_EXIT_REFUSED, "no chain was written: a record is damaged");
    gd_type type = find_type(info.type, given->bytes);
    if (type != GD_TYPE_NAMES)
        set_value(argument, type, values + given->offset, given->bytes);
    else
        set_struct(into, launch, index, argument, values + given->offset, given->bytes);
    return 0;
}

/* ---- launches ---- */

static void set_shape(char ***list, uint32_t *count, const uint32_t values[3])
{
    *count = values[2] != 1 ? 3 : values[1] != 1 ? 2 : 1;
    *list = gd_heap_take(*count, sizeof(**list));
    for (uint32_t i = 0; i < *count; i++)
        (*list)[i] = gd_heap_format("%u", (unsigned)values[i]);
}

/* An allocation that a copy or a fill has; NULL: the record is damaged. */
static const gd_attached_allocation *find_part(recorded *into, const gd_attached_argument *part)
{
    const gd_attached_allocation *of =
        gd_attached_get(into->file, GD_ATTACHED_ALLOCATION, part->allocation);
    if (of == NULL || part->bytes == 0 || part->offset > of->bytes ||
        part->bytes > of->bytes - part->offset)
        return NULL;
    into->last_use[part->allocation] = into->next_data;
    return of;
}

/* A copy from the host: a buffer holds what it copied. */
static int hold_copied(recorded *into, uint32_t number, char *name)
{
    const gd_attached_image *image = &into->file->copied[number];
    gd_chainfile_buffer *buffer = add_buffer(into, gd_heap_string(name), image->bytes);
    buffer->file = gd_heap_format("%s.bin", name);
    return stage(into, buffer->file, image->data, image->bytes);
}

/* A copy or a fill of a graph. */
static int add_move(recorded *into, const gd_attached_launch *from, uint32_t number)
{
    const gd_attached_argument *to = &from->arguments[0], *source = &from->arguments[1];
    bool is_copy = from->argument_count == 2, is_fill = from->value <= 255;
    const gd_attached_image *copied = &into->file->copied[number];
    if (from->argument_count < 1 || from->argument_count > 2 || find_part(into, to) == NULL ||
        (is_copy && find_part(into, source) == NULL) ||
        (!is_copy && !is_fill && copied->bytes != to->bytes))
        return gd_message_error(GD_EXIT_REFUSED, "no chain was written: a record is damaged");
    char *at = gd_heap_format("%llu", (unsigned long long)to->offset);
    char *count = gd_heap_format("%u", (unsigned)to->bytes);
    if (is_fill) {
        gd_chainfile_fill *fill = gd_heap_take(1, sizeof(*fill));
        *fill = (gd_chainfile_fill){.buffer = buffer_name(to->allocation),
                                    .offset = at,
                                    .count = count,
                                    .value = gd_heap_format("%u", (unsigned)from->value)};
        add_launch(into->chain)->fill = fill;
        return 0;
    }
    gd_chainfile_copy *copy = gd_heap_take(1, sizeof(*copy));
    *copy = (gd_chainfile_copy){.to = buffer_name(to->allocation), .to_offset = at, .count = count};
    copy->from =
        is_copy ? buffer_name(source->allocation) : gd_heap_format("copied_%u", (unsigned)number);
    if (is_copy)
        copy->from_offset = gd_heap_format("%llu", (unsigned long long)source->offset);
    add_launch(into->chain)->copy = copy;
    return is_copy ? 0 : hold_copied(into, number, copy->from);
}

static int fill_launch(recorded *into, const gd_attached_launch *from)
{
    const gd_attached_kernel *kernel =
        gd_attached_get(into->file, GD_ATTACHED_KERNEL, from->kernel);
    if (kernel == NULL || gd_attached_get(into->file, GD_ATTACHED_MODULE, kernel->module) == NULL)
        return gd_message_error(GD_EXIT_REFUSED, "no chain was written: a record is damaged");
    if (from->cooperative != 0)
        return gd_message_error(GD_EXIT_REFUSED,
                                "no chain was written: the launch of kernel %s is cooperative, "
                                "which a chain file cannot say",
                                kernel->name);
    gd_chainfile_launch *launch = add_launch(into->chain);
    launch->kernel = gd_heap_string(kernel->name);
    launch->shared = gd_heap_format("%u", (unsigned)from->shared);
    launch->pdl = gd_heap_string(from->early != 0 ? "force" : "off");
    set_shape(&launch->grid, &launch->grid_count, from->grid);
    set_shape(&launch->block, &launch->block_count, from->block);
    if (from->cluster[0] != 0)
        set_shape(&launch->cluster, &launch->cluster_count, from->cluster);
    launch->arguments = gd_heap_take(from->argument_count, sizeof(*launch->arguments));
    launch->arguments_count = from->argument_count;
    gd_kernel_code found = gd_attachedcode_find_text(&into->file->images[kernel->module],
                                                     kernel->name, kernel->binary);
    int code = find_module(into, kernel, found.ptx, &launch->module);
    for (uint32_t i = 0; i < from->argument_count && code == 0; i++)
        code = set_argument(into, from, &found, i, &launch->arguments[i]);
    return code;
}

static int add_launches(recorded *into)
{
    int code = 0;
    for (uint32_t i = 0; i < into->file->counts[GD_ATTACHED_LAUNCH] && code == 0; i++) {
        const gd_attached_launch *launch = gd_attached_get(into->file, GD_ATTACHED_LAUNCH, i);
        if (launch->lane >= into->lanes ||
            launch->argument_count >
                (launch->head.bytes - sizeof(*launch)) / sizeof(*launch->arguments))
            return gd_message_error(GD_EXIT_REFUSED, "no chain was written: a record is damaged");
        into->places[i] = GD_ATTACHED_NONE;
        code = take_data(into, launch, i);
        if (code == 0 && launch->taken != 0) {
            code = launch->kernel == GD_ATTACHED_NONE ? add_move(into, launch, i)
                                                      : fill_launch(into, launch);
            into->places[i] = into->chain->launches_count - 1;
            place_last(into, launch, i);
        }
        while (into->next_after < into->file->counts[GD_ATTACHED_AFTER] &&
               ((const gd_attached_after *)gd_attached_get(into->file, GD_ATTACHED_AFTER,
                                                           into->next_after))
                       ->launch <= i)
            into->next_after++;
    }
    return code;
}

/* Of each allocation what was kept last, where no launch has it since. */
static int add_expectations(recorded *into)
{
    gd_chainfile *chain = into->chain;
    int code = 0;
    for (uint32_t i = 0; i < into->file->counts[GD_ATTACHED_DATA] && code == 0; i++) {
        const gd_attached_data *data = gd_attached_get(into->file, GD_ATTACHED_DATA, i);
        if (data->expected == 0 || !is_good(into, i) || into->last_use[data->allocation] > i)
            continue;
        uint32_t count = chain->expect_count++;
        chain->expect = gd_heap_grow(chain->expect, count, count + 1, sizeof(*chain->expect));
        gd_chainfile_expectation *made = &chain->expect[count];
        made->buffer = buffer_name(data->allocation);
        made->file = gd_heap_format("%s.expected.bin", made->buffer);
        code = stage_data(into, made->file, i);
    }
    return code;
}

static int write_chain(const recorded *into)
{
    char *text = gd_chainfile_print(
        into->chain, "# Recorded by griddep: the launches of a program, in the order in which it "
                     "made them.\n");
    int code = text != NULL ? stage(into, "chain.yaml", text, strlen(text)) : GD_EXIT_REFUSED;
    free(text);
    return code == 0 ? gd_outputfile_commit() : code;
}

/* No more than launches, however damaged the records are. */
static uint32_t count_lanes(const gd_attached_file *file, bool *several)
{
    uint32_t lanes = 1, first = 0;
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_LAUNCH]; i++) {
        const gd_attached_launch *launch = gd_attached_get(file, GD_ATTACHED_LAUNCH, i);
        if (i == 0)
            first = launch->lane;
        *several |= launch->lane != first;
        if (launch->lane < MOST_LANES && launch->lane >= lanes)
            lanes = launch->lane + 1;
    }
    return lanes;
}

static int write_file(const gd_attached_file *file, const char *program, const char *folder)
{
    recorded into = {.file = file, .folder = folder};
    uint32_t allocations = file->counts[GD_ATTACHED_ALLOCATION];
    bool made = mkdir(folder, 0777) == 0;
    if (!made && errno != EEXIST)
        return gd_message_error(GD_EXIT_REFUSED, "%s cannot be made: %s", folder, strerror(errno));
    into.begun = gd_heap_take(allocations, sizeof(*into.begun));
    into.last_use = gd_heap_take(allocations, sizeof(*into.last_use));
    into.places = gd_heap_take(file->counts[GD_ATTACHED_LAUNCH], sizeof(*into.places));
    into.lanes = count_lanes(file, &into.parallel);
    into.seen = gd_heap_take(into.lanes, sizeof(*into.seen));
    into.chain = gd_heap_take(1, sizeof(*into.chain));
    into.chain->name = gd_heap_string(gd_recordedchain_name(program));
    add_allocations(&into);
    int code = add_launches(&into);
    if (code == 0)
        code = add_expectations(&into);
    if (code == 0)
        code = write_chain(&into);
    if (code != 0 && made)
        rmdir(folder);
    gd_chainfile_free(into.chain);
    free(into.writes);
    free(into.seen);
    free(into.places);
    free(into.last_use);
    free(into.begun);
    return code;
}

const char *gd_recordedchain_name(const char *program)
{
    const char *slash = strrchr(program, '/');
    return slash != NULL ? slash + 1 : program;
}

int gd_recordedchain_check(const char *folder)
{
    char *path = gd_heap_format("%s/chain.yaml", folder);
    int code =
        access(path, F_OK) != 0
            ? 0
            : gd_message_error(GD_EXIT_USAGE, "--record: %s has a chain.yaml already", folder);
    free(path);
    return code;
}

int gd_recordedchain_write(const gd_attached_set *set, const char *program, const char *folder)
{
    const gd_attached_file *first = NULL;
    for (size_t i = 0; i < set->count; i++) {
        if (set->files[i].counts[GD_ATTACHED_LAUNCH] == 0)
            continue;
        if (first == NULL)
            first = &set->files[i];
        else
            gd_message_warning("process %d has launches too, which are not in the chain",
                               (int)set->files[i].process->pid);
    }
    if (first == NULL)
        return gd_message_error(GD_EXIT_REFUSED,
                                "no chain was written: no launch was seen to be recorded");
    return write_file(first, program, folder);
}

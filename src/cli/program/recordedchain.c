/* Each launch becomes one of the plan, each allocation a buffer of bytes. What something else than
 * a launch wrote between two of them is a fill, or a copy from a buffer that holds it. */
#include "cli/program/recordedchain.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/fatbin.h"
#include "griddep.h"

#include "run/private.h"

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/type.h"
#include "cli/plan/modulefile.h"
#include "cli/program/attachedcode.h"

enum { MOST_LANES = 1 << 16, LARGEST_SHAPE = INT32_MAX };

/* A copy or a fill of the plan, and the lane that it stands in. */
typedef struct written {
    uint32_t place, lane;
} written;

typedef struct code_of_module {
    const gd_attached_image *image;
    const griddep_ptx *ptx; /* in it; NULL: none that can be read */
} code_of_module;

typedef struct recorded {
    const gd_attached_file *file;
    gd_plan *plan;
    uint32_t next_data;    /* that no launch was behind yet */
    bool *begun;           /* by allocation: its first bytes are there */
    uint32_t *last_use;    /* by allocation: the launch behind the last one that has it; 0: none */
    uint32_t *modules;     /* by module: its place in the plan; GD_ATTACHED_NONE: none */
    code_of_module *codes; /* by module of the plan */
    uint32_t *places;      /* by launch: its place in the plan; GD_ATTACHED_NONE: none */
    uint32_t lanes;        /* their numbers end before */
    bool parallel;         /* there are several */
    uint32_t next_after;
    written *writes; /* between launches */
    uint32_t write_count;
    uint32_t *seen; /* by lane: how many of these its launches stand behind */
} recorded;

static int refuse_damage(void)
{
    return gd_message_error(GD_EXIT_REFUSED, "no chain was written: a record is damaged");
}

static uint32_t *take_numbers(uint32_t count)
{
    uint32_t *numbers = gd_heap_take(count, sizeof(*numbers));
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = GD_ATTACHED_NONE;
    return numbers;
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

/* A module is added by its first kernel. */
static int find_module(recorded *into, const gd_attached_kernel *kernel, const griddep_ptx *ptx,
                       uint32_t *index)
{
    const gd_attached_image *image = &into->file->images[kernel->module];
    *index = into->modules[kernel->module];
    if (*index != GD_ATTACHED_NONE)
        return 0;
    if (image->bytes == 0)
        return gd_message_error(GD_EXIT_REFUSED,
                                "no chain was written: the code of kernel %s is not known",
                                kernel->name);
    *index = into->modules[kernel->module] = into->plan->module_count;
    gd_plan_module *module = gd_plan_add_module(into->plan);
    module->name = gd_heap_format("module_%u", (unsigned)kernel->module);
    module->path = gd_heap_format("%s.%s", module->name, ptx != NULL ? "ptx" : kind_of(image));
    into->codes = gd_heap_grow(into->codes, *index, *index + 1, sizeof(*into->codes));
    into->codes[*index] = (code_of_module){image, ptx};
    return 0;
}

/* Names of the kernels that launches have of a module; to free, but not the names. */
static const char **kernels_of(const gd_plan *plan, uint32_t module, uint32_t *count)
{
    const char **names = gd_heap_take(plan->launch_count, sizeof(*names));
    *count = 0;
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        const gd_plan_launch *launch = &plan->launches[i];
        if (gd_plan_is_kernel(launch) && launch->module == module)
            names[(*count)++] = launch->kernel;
    }
    return names;
}

/* PTX goes before machine code: it can be checked, and stamped. A driver compiles it, so kernels
 * that no launch has are left out: a library's module may have hundreds. */
static int hold_text(gd_plan *plan, uint32_t index, const griddep_ptx *ptx)
{
    gd_plan_module *module = &plan->modules[index];
    griddep_ptx *kept = NULL;
    griddep_error error;
    griddep_error_init(&error);
    uint32_t count;
    const char **names = kernels_of(plan, index, &count);
    int32_t status = gd_ptx_keep(ptx, names, count, &kept, &error);
    if (status == GRIDDEP_OK)
        status = gd_modulefile_print(kept, &module->code, &module->code_bytes, &error);
    griddep_ptx_destroy(kept);
    free(names);
    return status == GRIDDEP_OK ? 0 : gd_message_library(&error, NULL);
}

static int hold_codes(const recorded *into)
{
    int code = 0;
    for (uint32_t i = 0; i < into->plan->module_count && code == 0; i++) {
        gd_plan_module *module = &into->plan->modules[i];
        const gd_attached_image *image = into->codes[i].image;
        if (into->codes[i].ptx != NULL) {
            code = hold_text(into->plan, i, into->codes[i].ptx);
            continue;
        }
        bool is_text = strcmp(kind_of(image), "ptx") == 0; /* that cannot be read */
        module->code_bytes = is_text ? strlen(image->data) : image->bytes;
        module->code = gd_heap_take(module->code_bytes + 1, 1);
        memcpy(module->code, image->data, module->code_bytes);
    }
    return code;
}

/* ---- buffers ---- */

/* The name is taken over. */
static uint32_t add_buffer(recorded *into, char *name, uint64_t bytes)
{
    gd_plan_buffer *buffer = gd_plan_add_buffer(into->plan);
    buffer->name = name;
    buffer->type = GD_TYPE_u8;
    buffer->count = bytes;
    return into->plan->buffer_count - 1;
}

/* The image's bytes, which are the plan's from here on. */
static gd_fill take_bytes(gd_attached_image *image)
{
    const gd_fill fill = {.kind = GD_FILL_FILE, .data = image->data};
    image->data = NULL;
    return fill;
}

/* What a record of data tells of. */
static gd_fill take_content(const recorded *into, uint32_t number)
{
    const gd_attached_data *data = gd_attached_get(into->file, GD_ATTACHED_DATA, number);
    return data->value < 0 ? take_bytes(&into->file->contents[number])
                           : (gd_fill){.kind = GD_FILL_CONSTANT, .a = data->value};
}

/* Zeros, until it is known better. The buffers' numbers are the allocations'. */
static int add_allocations(recorded *into)
{
    for (uint32_t i = 0; i < into->file->counts[GD_ATTACHED_ALLOCATION]; i++) {
        const gd_attached_allocation *each = gd_attached_get(into->file, GD_ATTACHED_ALLOCATION, i);
        if (each->bytes == 0)
            return refuse_damage();
        add_buffer(into, gd_heap_format("buffer_%u", (unsigned)i), each->bytes);
    }
    return 0;
}

/* ---- order ---- */

/* Launches have a name where others stand behind them. */
static void follow(recorded *into, uint32_t place, uint32_t before)
{
    gd_plan_launch *launch = &into->plan->launches[place], *on = &into->plan->launches[before];
    if (on->name == NULL)
        on->name = gd_heap_format("%.48s_%u", on->kernel, (unsigned)before);
    for (uint32_t i = 0; i < launch->after_count; i++)
        if (launch->after[i] == before)
            return;
    launch->after = gd_heap_grow(launch->after, launch->after_count, launch->after_count + 1,
                                 sizeof(*launch->after));
    launch->after[launch->after_count++] = before;
}

/* Puts the plan's last launch into a lane, behind what a recorded one follows. */
static void place_last(recorded *into, const gd_attached_launch *from, uint32_t number)
{
    uint32_t place = into->plan->launch_count - 1;
    char *lane = into->parallel ? gd_heap_format("stream_%u", (unsigned)from->lane) : NULL;
    into->plan->launches[place].config.lane = gd_plan_lane(into->plan, lane);
    free(lane);
    if (!into->parallel)
        return;
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

/* ---- copies and fills ---- */

static gd_plan_launch *add_move(recorded *into, int32_t node)
{
    gd_plan_launch *launch = gd_plan_add_launch(into->plan);
    launch->node = node;
    launch->kernel = gd_heap_string(node == GRIDDEP_GRAPH_NODE_COPY ? "copy" : "fill");
    return launch;
}

static void add_stretch(gd_plan_launch *launch, int32_t access, uint32_t buffer, uint64_t offset,
                        uint64_t count)
{
    *gd_plan_add_argument(launch) = (gd_plan_argument){
        .is_buffer = true, .buffer = buffer, .offset = offset, .count = count, .access = access};
}

/* What was written between two launches. */
static void add_write(recorded *into, uint32_t number)
{
    const gd_attached_data *data = gd_attached_get(into->file, GD_ATTACHED_DATA, number);
    uint64_t bytes = into->plan->buffers[data->allocation].count;
    bool is_fill = data->value >= 0;
    gd_plan_launch *launch =
        add_move(into, is_fill ? GRIDDEP_GRAPH_NODE_FILL : GRIDDEP_GRAPH_NODE_COPY);
    add_stretch(launch, GRIDDEP_ACCESS_WRITE, data->allocation, 0, bytes);
    if (is_fill) {
        launch->value = (uint8_t)data->value;
        return;
    }
    uint32_t from = add_buffer(
        into,
        gd_heap_format("buffer_%u_before_%u", (unsigned)data->allocation, (unsigned)data->launch),
        bytes);
    into->plan->buffers[from].fill = take_content(into, number);
    add_stretch(launch, GRIDDEP_ACCESS_READ, from, 0, bytes);
}

static bool is_good(const recorded *into, uint32_t number)
{
    const gd_attached_data *data = gd_attached_get(into->file, GD_ATTACHED_DATA, number);
    const gd_attached_allocation *of =
        gd_attached_get(into->file, GD_ATTACHED_ALLOCATION, data->allocation);
    return of != NULL && data->value <= 255 &&
           (data->value >= 0 || into->file->contents[number].bytes == of->bytes);
}

/* It stands in the lane of the launch that it stands before. */
static void note_write(recorded *into, const gd_attached_launch *from, uint32_t number)
{
    place_last(into, from, number);
    into->writes =
        gd_heap_grow(into->writes, into->write_count, into->write_count + 1, sizeof(*into->writes));
    into->writes[into->write_count++] = (written){into->plan->launch_count - 1, from->lane};
}

/* Those that stand before a launch. */
static void take_data(recorded *into, const gd_attached_launch *from, uint32_t launch)
{
    for (; into->next_data < into->file->counts[GD_ATTACHED_DATA]; into->next_data++) {
        const gd_attached_data *data =
            gd_attached_get(into->file, GD_ATTACHED_DATA, into->next_data);
        if (data->launch > launch)
            break;
        if (data->expected != 0 || !is_good(into, into->next_data))
            continue;
        if (into->begun[data->allocation]) {
            add_write(into, into->next_data);
            note_write(into, from, launch);
        } else {
            into->plan->buffers[data->allocation].fill = take_content(into, into->next_data);
        }
        into->begun[data->allocation] = true;
    }
}

/* Whether a copy or a fill has a part of an allocation. */
static bool has_part(recorded *into, const gd_attached_argument *part)
{
    const gd_attached_allocation *of =
        gd_attached_get(into->file, GD_ATTACHED_ALLOCATION, part->allocation);
    if (of == NULL || part->bytes == 0 || part->offset > of->bytes ||
        part->bytes > of->bytes - part->offset)
        return false;
    into->last_use[part->allocation] = into->next_data;
    return true;
}

/* A copy or a fill of a graph. Of a copy from the host, a buffer holds what it copied. */
static int take_move(recorded *into, const gd_attached_launch *from, uint32_t number)
{
    const gd_attached_argument *to = &from->arguments[0], *source = &from->arguments[1];
    bool is_copy = from->argument_count == 2, is_fill = from->value <= 255;
    gd_attached_image *copied = &into->file->copied[number];
    if (from->argument_count < 1 || from->argument_count > 2 || !has_part(into, to) ||
        (is_copy && (!has_part(into, source) || source->bytes != to->bytes)) ||
        (!is_copy && !is_fill && copied->bytes != to->bytes))
        return refuse_damage();
    gd_plan_launch *launch =
        add_move(into, is_fill ? GRIDDEP_GRAPH_NODE_FILL : GRIDDEP_GRAPH_NODE_COPY);
    add_stretch(launch, GRIDDEP_ACCESS_WRITE, to->allocation, to->offset, to->bytes);
    if (is_fill) {
        launch->value = (uint8_t)from->value;
        return 0;
    }
    uint32_t buffer = source->allocation;
    if (!is_copy) {
        buffer = add_buffer(into, gd_heap_format("copied_%u", (unsigned)number), copied->bytes);
        into->plan->buffers[buffer].fill = take_bytes(copied);
    }
    add_stretch(launch, GRIDDEP_ACCESS_READ, buffer, is_copy ? source->offset : 0, to->bytes);
    return 0;
}

/* ---- arguments ---- */

/* The type of a chain file for one of PTX, of bits an unsigned one; GD_TYPE_NAMES: none. */
static gd_type find_named(const char *ptx_type)
{
    const bool bits = ptx_type[0] == 'b' && strspn(ptx_type + 1, "0123456789") > 0;
    char plain[8];
    snprintf(plain, sizeof(plain), "%s%.6s", bits ? "u" : "", ptx_type + bits);
    for (int i = 0; i < GD_TYPE_NAMES; i++)
        if (strcmp(gd_type_name((gd_type)i), plain) == 0)
            return (gd_type)i;
    return GD_TYPE_NAMES;
}

/* The same of a parameter of so many bytes, whose PTX type may not be known. */
static gd_type find_type(const char *ptx_type, uint32_t bytes)
{
    char bits[8];
    snprintf(bits, sizeof(bits), "b%u", (unsigned)bytes * 8);
    gd_type type = find_named(ptx_type != NULL ? ptx_type : bits);
    return type != GD_TYPE_NAMES && gd_type_bytes(type) == bytes ? type : GD_TYPE_NAMES;
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

/* An address that lies in an allocation. */
static bool is_inside(const recorded *into, uint32_t allocation, uint64_t offset)
{
    const gd_attached_allocation *of =
        gd_attached_get(into->file, GD_ATTACHED_ALLOCATION, allocation);
    return of != NULL && offset < of->bytes;
}

/* A parameter that is no number, with the addresses in it. */
static void set_struct(recorded *into, const gd_attached_launch *launch, uint32_t index,
                       gd_plan_argument *argument, const char *value, uint32_t bytes)
{
    const gd_attached_address *addresses = (const void *)&launch->arguments[launch->argument_count];
    argument->data = gd_heap_take(bytes, 1);
    argument->data_bytes = bytes;
    memcpy(argument->data, value, bytes);
    for (uint32_t i = 0; i < launch->address_count; i++) {
        const gd_attached_address *each = &addresses[i];
        if (each->argument != index || (uint64_t)each->at + 8 > bytes ||
            !is_inside(into, each->allocation, each->offset))
            continue;
        memset(argument->data + each->at, 0, 8);
        uint32_t count = argument->address_count++;
        argument->addresses =
            gd_heap_grow(argument->addresses, count, count + 1, sizeof(*argument->addresses));
        argument->addresses[count] = (gd_plan_address){each->at, each->allocation, each->offset};
        into->last_use[each->allocation] = into->next_data;
    }
}

/* For a kernel that tells the elements it takes. */
static void view_as(const char *element, gd_plan_argument *argument)
{
    if (element == NULL)
        return;
    gd_type type = find_named(element);
    argument->viewed = type != GD_TYPE_NAMES;
    argument->type = argument->viewed ? type : GD_TYPE_u8;
}

static int set_argument(recorded *into, const gd_attached_launch *launch,
                        const gd_kernel_code *code, uint32_t index, gd_plan_argument *argument)
{
    const gd_attached_argument *given = &launch->arguments[index];
    uint64_t room = 0;
    const char *values = values_of(launch, &room);
    griddep_parameter_info info = {.size = sizeof(info)};
    if (code->ptx != NULL)
        griddep_ptx_get_parameter(code->ptx, code->entry, index, &info, NULL);
    if (is_inside(into, given->allocation, given->offset)) {
        argument->is_buffer = true;
        argument->buffer = given->allocation;
        argument->offset = given->offset;
        view_as(info.element, argument);
        into->last_use[given->allocation] = into->next_data;
        return 0;
    }
    if (values == NULL || given->bytes == 0 || given->offset > room ||
        room - given->offset < given->bytes)
        return refuse_damage();
    gd_type type = find_type(info.type, given->bytes);
    if (type == GD_TYPE_NAMES) {
        set_struct(into, launch, index, argument, values + given->offset, given->bytes);
        return 0;
    }
    argument->type = type;
    memcpy(&argument->value, values + given->offset, given->bytes);
    return 0;
}

/* ---- launches ---- */

static bool take_shape(const uint32_t from[3], uint32_t shape[3])
{
    memcpy(shape, from, 3 * sizeof(*shape));
    for (size_t i = 0; i < 3; i++)
        if (from[i] == 0 || from[i] > LARGEST_SHAPE)
            return false;
    return true;
}

static int take_launch(recorded *into, const gd_attached_launch *from)
{
    const gd_attached_kernel *kernel =
        gd_attached_get(into->file, GD_ATTACHED_KERNEL, from->kernel);
    if (kernel == NULL || gd_attached_get(into->file, GD_ATTACHED_MODULE, kernel->module) == NULL)
        return refuse_damage();
    if (from->cooperative != 0)
        return gd_message_error(GD_EXIT_REFUSED,
                                "no chain was written: the launch of kernel %s is cooperative, "
                                "which a chain file cannot say",
                                kernel->name);
    gd_plan_launch *launch = gd_plan_add_launch(into->plan);
    launch->kernel = gd_heap_string(kernel->name);
    launch->config.shared_bytes = from->shared;
    launch->config.pdl = from->early != 0 ? GRIDDEP_PDL_FORCE : GRIDDEP_PDL_OFF;
    if (!take_shape(from->grid, launch->config.grid) ||
        !take_shape(from->block, launch->config.block) ||
        (from->cluster[0] != 0 && !take_shape(from->cluster, launch->config.cluster)))
        return refuse_damage();
    gd_kernel_code found = gd_attachedcode_find_text(&into->file->images[kernel->module],
                                                     kernel->name, kernel->binary);
    int code = find_module(into, kernel, found.ptx, &launch->module);
    for (uint32_t i = 0; i < from->argument_count && code == 0; i++)
        code = set_argument(into, from, &found, i, gd_plan_add_argument(launch));
    return code;
}

static int take_launches(recorded *into)
{
    int code = 0;
    for (uint32_t i = 0; i < into->file->counts[GD_ATTACHED_LAUNCH] && code == 0; i++) {
        const gd_attached_launch *launch = gd_attached_get(into->file, GD_ATTACHED_LAUNCH, i);
        if (launch->lane >= into->lanes ||
            launch->argument_count >
                (launch->head.bytes - sizeof(*launch)) / sizeof(*launch->arguments))
            return refuse_damage();
        take_data(into, launch, i);
        if (launch->taken != 0) {
            code = launch->kernel == GD_ATTACHED_NONE ? take_move(into, launch, i)
                                                      : take_launch(into, launch);
            if (code != 0)
                return code;
            into->places[i] = into->plan->launch_count - 1;
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
static void add_expectations(recorded *into)
{
    for (uint32_t i = 0; i < into->file->counts[GD_ATTACHED_DATA]; i++) {
        const gd_attached_data *data = gd_attached_get(into->file, GD_ATTACHED_DATA, i);
        if (data->expected == 0 || !is_good(into, i) || into->last_use[data->allocation] > i)
            continue;
        *gd_plan_add_expectation(into->plan) = (gd_plan_expectation){.buffer = data->allocation,
                                                                     .from = GD_EXPECTED_FILE,
                                                                     .file = take_content(into, i),
                                                                     .tolerance = -1.0,
                                                                     .absolute = -1.0};
    }
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

static int take_file(const gd_attached_file *file, gd_plan *plan)
{
    recorded into = {.file = file, .plan = plan};
    uint32_t allocations = file->counts[GD_ATTACHED_ALLOCATION];
    into.begun = gd_heap_take(allocations, sizeof(*into.begun));
    into.last_use = gd_heap_take(allocations, sizeof(*into.last_use));
    into.modules = take_numbers(file->counts[GD_ATTACHED_MODULE]);
    into.places = take_numbers(file->counts[GD_ATTACHED_LAUNCH]);
    into.lanes = count_lanes(file, &into.parallel);
    into.seen = gd_heap_take(into.lanes, sizeof(*into.seen));
    int code = add_allocations(&into);
    if (code == 0)
        code = take_launches(&into);
    if (code == 0)
        code = hold_codes(&into);
    if (code == 0)
        add_expectations(&into);
    if (code == 0)
        gd_plan_finish(plan);
    free(into.writes);
    free(into.seen);
    free(into.places);
    free(into.codes);
    free(into.modules);
    free(into.last_use);
    free(into.begun);
    return code;
}

const char *gd_recordedchain_name(const char *program)
{
    const char *slash = strrchr(program, '/');
    return slash != NULL ? slash + 1 : program;
}

int gd_recordedchain_make(const gd_attached_set *set, const char *program, gd_plan *plan)
{
    const gd_attached_file *first = NULL;
    for (size_t i = 0; i < set->count; i++) {
        if (set->files[i].images == NULL || set->files[i].counts[GD_ATTACHED_LAUNCH] == 0)
            continue; /* it could not be read, or there is nothing in it */
        if (first == NULL)
            first = &set->files[i];
        else
            gd_message_warning("process %d has launches too, which are not in the chain",
                               (int)set->files[i].process->pid);
    }
    if (first == NULL)
        return gd_message_error(GD_EXIT_REFUSED,
                                "no chain was written: no launch was seen to be recorded");
    plan->name = gd_output_clean(gd_recordedchain_name(program));
    return take_file(first, plan);
}

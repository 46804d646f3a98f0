/* What recorded plans have is written, no more: their buffers are bytes, each copy, fill and launch
 * tells all that it has. */
#include "cli/program/recordedfile.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/io/heap.h"
#include "cli/io/outputfile.h"
#include "cli/plan/chainfile.h"
#include "cli/plan/fill.h"

static char *print_whole(uint64_t value)
{
    return gd_heap_format("%llu", (unsigned long long)value);
}

static int stage(const char *folder, const char *name, const void *data, size_t bytes)
{
    char *path = gd_heap_format("%s/%s", folder, name);
    int code = gd_outputfile_stage(path, data, bytes);
    free(path);
    return code;
}

static int stage_fill(const char *folder, const char *name, const gd_fill *fill,
                      const gd_plan_buffer *buffer)
{
    uint64_t bytes = gd_plan_buffer_bytes(buffer);
    void *data = gd_heap_take(bytes, 1);
    int code = gd_fill_write(fill, buffer->type, data, buffer->count);
    if (code == 0)
        code = stage(folder, name, data, bytes);
    free(data);
    return code;
}

static int write_buffer(const gd_plan_buffer *buffer, const char *folder, gd_chainfile_buffer *made)
{
    *made = (gd_chainfile_buffer){.name = gd_heap_string(buffer->name),
                                  .type = gd_heap_string(gd_type_name(buffer->type)),
                                  .count = print_whole(buffer->count)};
    if (buffer->fill.kind == GD_FILL_FILE) {
        made->file = gd_heap_format("%s.bin", buffer->name);
        return stage_fill(folder, made->file, &buffer->fill, buffer);
    }
    if (buffer->fill.a != 0)
        made->constant = print_whole((uint64_t)buffer->fill.a);
    return 0;
}

/* ---- arguments ---- */

static char *print_real(double value)
{
    return isnan(value) ? gd_heap_string("nan") : gd_heap_format("%.17g", value);
}

static char *print_value(const gd_plan_argument *argument)
{
    uint32_t unused = 64 - 8 * gd_type_bytes(argument->type);
    if (!gd_type_is_integer(argument->type))
        return print_real(gd_type_load(argument->type, &argument->value, 0));
    if (gd_type_is_signed(argument->type))
        return gd_heap_format("%lld", (long long)(argument->value << unused) >> unused);
    return print_whole(argument->value);
}

static char **field_of(gd_chainfile_argument *made, gd_type type)
{
    switch (type) {
#define CASE(name)                                                                                 \
    case GD_TYPE_##name:                                                                           \
        return &made->name;
        GD_TYPES(CASE)
#undef CASE
    default:
        return NULL;
    }
}

static void write_struct(const gd_plan *plan, const gd_plan_argument *argument,
                         gd_chainfile_argument *made)
{
    made->bytes = gd_heap_take(2 * (size_t)argument->data_bytes + 1, 1);
    for (uint32_t i = 0; i < argument->data_bytes; i++)
        snprintf(made->bytes + 2 * (size_t)i, 3, "%02x", (unsigned)argument->data[i]);
    if (argument->address_count > 0)
        made->addresses = gd_heap_take(argument->address_count, sizeof(*made->addresses));
    for (; made->addresses_count < argument->address_count; made->addresses_count++) {
        const gd_plan_address *each = &argument->addresses[made->addresses_count];
        made->addresses[made->addresses_count] =
            (gd_chainfile_address){.at = print_whole(each->at),
                                   .buffer = gd_heap_string(plan->buffers[each->buffer].name),
                                   .offset = print_whole(each->offset)};
    }
}

static void write_argument(const gd_plan *plan, const gd_plan_argument *argument,
                           gd_chainfile_argument *made)
{
    if (argument->data != NULL) {
        write_struct(plan, argument, made);
    } else if (argument->is_buffer) {
        made->buffer = gd_heap_string(plan->buffers[argument->buffer].name);
        made->offset = print_whole(argument->offset);
        if (argument->viewed)
            made->as = gd_heap_string(gd_type_name(argument->type));
    } else {
        *field_of(made, argument->type) = print_value(argument);
    }
}

/* ---- launches ---- */

static void write_shape(const uint32_t shape[3], char ***list, uint32_t *count)
{
    *count = shape[2] != 1 ? 3 : shape[1] != 1 ? 2 : 1;
    *list = gd_heap_take(*count, sizeof(**list));
    for (uint32_t i = 0; i < *count; i++)
        (*list)[i] = print_whole(shape[i]);
}

static void write_kernel(const gd_plan *plan, const gd_plan_launch *launch,
                         gd_chainfile_launch *made)
{
    made->kernel = gd_heap_string(launch->kernel);
    made->module = gd_heap_string(plan->modules[launch->module].name);
    made->shared = print_whole(launch->config.shared_bytes);
    made->pdl = gd_heap_string(gd_plan_pdl_names[launch->config.pdl - GRIDDEP_PDL_AUTO]);
    write_shape(launch->config.grid, &made->grid, &made->grid_count);
    write_shape(launch->config.block, &made->block, &made->block_count);
    if (launch->config.cluster[0] != 0)
        write_shape(launch->config.cluster, &made->cluster, &made->cluster_count);
    made->arguments = gd_heap_take(launch->argument_count, sizeof(*made->arguments));
    made->arguments_count = launch->argument_count;
    for (uint32_t i = 0; i < launch->argument_count; i++)
        write_argument(plan, &launch->arguments[i], &made->arguments[i]);
}

static void write_move(const gd_plan *plan, const gd_plan_launch *launch, gd_chainfile_launch *made)
{
    const gd_plan_argument *to = &launch->arguments[0], *from = &launch->arguments[1];
    char *name = gd_heap_string(plan->buffers[to->buffer].name);
    char *at = print_whole(to->offset), *count = print_whole(to->count);
    if (launch->node == GRIDDEP_GRAPH_NODE_FILL) {
        made->fill = gd_heap_take(1, sizeof(*made->fill));
        *made->fill = (gd_chainfile_fill){
            .buffer = name, .offset = at, .count = count, .value = print_whole(launch->value)};
        return;
    }
    made->copy = gd_heap_take(1, sizeof(*made->copy));
    *made->copy = (gd_chainfile_copy){.from = gd_heap_string(plan->buffers[from->buffer].name),
                                      .from_offset = print_whole(from->offset),
                                      .to = name,
                                      .to_offset = at,
                                      .count = count};
}

static void write_launch(const gd_plan *plan, const gd_plan_launch *launch,
                         gd_chainfile_launch *made)
{
    if (gd_plan_is_kernel(launch))
        write_kernel(plan, launch, made);
    else
        write_move(plan, launch, made);
    if (launch->name != NULL)
        made->name = gd_heap_string(launch->name);
    if (plan->lane_count > 1)
        made->lane = gd_heap_string(plan->lanes[launch->config.lane]);
    if (launch->after_count > 0)
        made->after = gd_heap_take(launch->after_count, sizeof(*made->after));
    for (; made->after_count < launch->after_count; made->after_count++)
        made->after[made->after_count] =
            gd_heap_string(plan->launches[launch->after[made->after_count]].name);
}

/* ---- the whole ---- */

static int write_lists(const gd_plan *plan, const char *folder, gd_chainfile *made)
{
    int code = 0;
    made->name = gd_heap_string(plan->name);
    made->modules = gd_heap_take(plan->module_count, sizeof(*made->modules));
    made->buffers = gd_heap_take(plan->buffer_count, sizeof(*made->buffers));
    made->launches = gd_heap_take(plan->launch_count, sizeof(*made->launches));
    if (plan->expectation_count > 0)
        made->expect = gd_heap_take(plan->expectation_count, sizeof(*made->expect));
    for (uint32_t i = 0; i < plan->module_count && code == 0; i++) {
        const gd_plan_module *module = &plan->modules[i];
        made->modules[made->modules_count++] = (gd_chainfile_module){
            .name = gd_heap_string(module->name), .file = gd_heap_string(module->path)};
        code = stage(folder, module->path, module->code, module->code_bytes);
    }
    for (uint32_t i = 0; i < plan->buffer_count && code == 0; i++)
        code = write_buffer(&plan->buffers[i], folder, &made->buffers[made->buffers_count++]);
    for (uint32_t i = 0; i < plan->launch_count && code == 0; i++)
        write_launch(plan, &plan->launches[i], &made->launches[made->launches_count++]);
    for (uint32_t i = 0; i < plan->expectation_count && code == 0; i++) {
        const gd_plan_buffer *buffer = &plan->buffers[plan->expectations[i].buffer];
        gd_chainfile_expectation *each = &made->expect[made->expect_count++];
        each->buffer = gd_heap_string(buffer->name);
        each->file = gd_heap_format("%s.expected.bin", buffer->name);
        code = stage_fill(folder, each->file, &plan->expectations[i].file, buffer);
    }
    return code;
}

static int write_chain(const gd_chainfile *made, const char *folder)
{
    char *text = gd_chainfile_print(
        made, "# Recorded by griddep: the launches of a program, in the order in which it "
              "made them.\n");
    int code = text != NULL ? stage(folder, "chain.yaml", text, strlen(text)) : GD_EXIT_REFUSED;
    free(text);
    return code == 0 ? gd_outputfile_commit() : code;
}

int gd_recordedfile_check(const char *folder)
{
    char *path = gd_heap_format("%s/chain.yaml", folder);
    int code =
        access(path, F_OK) != 0
            ? 0
            : gd_message_error(GD_EXIT_USAGE, "--record: %s has a chain.yaml already", folder);
    free(path);
    return code;
}

int gd_recordedfile_write(const gd_plan *plan, const char *folder)
{
    bool is_new = mkdir(folder, 0777) == 0;
    if (!is_new && errno != EEXIST)
        return gd_message_error(GD_EXIT_REFUSED, "%s cannot be made: %s", folder, strerror(errno));
    gd_chainfile *made = gd_heap_take(1, sizeof(*made));
    int code = write_lists(plan, folder, made);
    if (code == 0)
        code = write_chain(made, folder);
    if (code != 0 && is_new)
        rmdir(folder);
    gd_chainfile_free(made);
    return code;
}

/* Checks of a plan that need no driver: this machine's memory, the entries and parameters of PTX,
 * references that are asked for. */
#include "cli/plan/plancheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

#include "cli/io/heap.h"
#include "cli/plan/planlaunch.h"
#include "cli/io/suggest.h"

static int unknown_entry(const gd_plan *plan, const gd_plan_launch *launch, const griddep_ptx *ptx,
                         uint32_t count)
{
    const char **names = gd_heap_take(count, sizeof(*names));
    for (uint32_t i = 0; i < count; i++) {
        griddep_ptx_entry_info entry = {.size = sizeof(entry)};
        griddep_ptx_get_entry(ptx, i, &entry, NULL);
        names[i] = entry.name != NULL ? entry.name : "";
    }
    char *list = gd_suggest_list(names, count);
    char *suggestion = gd_suggest_text(launch->kernel, names, count);
    int code = gd_message_error_at(launch->place, "module '%s' has no kernel '%s'%s%s it has: %s",
                                   plan->modules[launch->module].name, launch->kernel, suggestion,
                                   suggestion[0] != '\0' ? "" : ";", count > 0 ? list : "none");
    free(list);
    free(suggestion);
    free(names);
    return code;
}

/* Whether an integer is given where the kernel takes a floating-point number, or the other way
 * round: its bits would be taken for quite another number. Nothing is known of a .b32. */
static bool is_other_kind(const gd_plan_argument *argument, const char *parameter)
{
    if (argument->is_buffer || argument->data != NULL || parameter[0] == 'b')
        return false;
    return gd_type_is_integer(argument->type) == (parameter[0] == 'f');
}

static int check_argument(const gd_plan_launch *launch, uint32_t index,
                          const griddep_parameter_info *parameter)
{
    const gd_plan_argument *argument = &launch->arguments[index];
    uint32_t bytes = gd_plan_argument_bytes(argument);
    if (bytes == parameter->bytes && is_other_kind(argument, parameter->type))
        return gd_message_error_at(
            argument->place, "argument %u of %s: parameter '%s' is a .%s; write %s in place of %s",
            (unsigned)index, launch->kernel, parameter->name, parameter->type, parameter->type,
            gd_type_name(argument->type));
    if (bytes == parameter->bytes)
        return 0;
    return gd_message_error_at(argument->place,
                               "argument %u of %s: parameter '%s' (.%s) has %u bytes; %s has %u",
                               (unsigned)index, launch->kernel, parameter->name, parameter->type,
                               (unsigned)parameter->bytes,
                               argument->tensor != NULL ? "a tensor map"
                               : argument->is_buffer    ? "a buffer's address"
                               : argument->data != NULL ? "'bytes'"
                                                        : gd_type_name(argument->type),
                               (unsigned)bytes);
}

static int check_arguments(const gd_plan_launch *launch, const griddep_ptx *ptx, uint32_t entry,
                           uint32_t count)
{
    if (launch->argument_count != count)
        return gd_message_error_at(launch->place, "%s takes %u %s, %u %s given", launch->kernel,
                                   (unsigned)count, gd_plural(count, "argument", "arguments"),
                                   (unsigned)launch->argument_count,
                                   gd_plural(launch->argument_count, "is", "are"));
    for (uint32_t i = 0; i < count; i++) {
        griddep_parameter_info parameter = {.size = sizeof(parameter)};
        if (griddep_ptx_get_parameter(ptx, entry, i, &parameter, NULL) != GRIDDEP_OK)
            return 0;
        int code = check_argument(launch, i, &parameter);
        if (code != 0)
            return code;
    }
    return 0;
}

static int check_entry(const gd_plan *plan, const gd_plan_launch *launch,
                       const gd_modulefile *module, const uint64_t *addresses)
{
    const griddep_ptx *ptx = module->ptx;
    griddep_ptx_info info = {.size = sizeof(info)};
    if (ptx == NULL || griddep_ptx_get_info(ptx, &info, NULL) != GRIDDEP_OK)
        return 0;
    for (uint32_t i = 0; i < info.entry_count; i++) {
        griddep_ptx_entry_info entry = {.size = sizeof(entry)};
        if (griddep_ptx_get_entry(ptx, i, &entry, NULL) != GRIDDEP_OK ||
            strcmp(entry.name, gd_modulefile_entry(module, launch)) != 0)
            continue;
        int code = check_arguments(launch, ptx, i, entry.parameter_count);
        return code == 0 ? gd_planlaunch_check_early(plan, launch, ptx, i, addresses) : code;
    }
    return unknown_entry(plan, launch, ptx, info.entry_count);
}

/* A module without PTX that can be read is for the driver to judge. */
static int check_launches(const gd_plan *plan, const gd_modulefile_list *modules)
{
    uint64_t *addresses = gd_planlaunch_made_up(plan);
    int code = 0;
    for (uint32_t i = 0; i < plan->launch_count && code == 0; i++)
        code = check_entry(plan, &plan->launches[i], gd_modulefile_of(modules, &plan->launches[i]),
                           addresses);
    free(addresses);
    return code;
}

/* References compute the whole chain, so every launch needs one. */
static int check_references(const gd_plan *plan)
{
    const gd_plan_expectation *asked = NULL;
    for (uint32_t i = 0; i < plan->expectation_count && asked == NULL; i++)
        if (plan->expectations[i].from == GD_EXPECTED_REFERENCE)
            asked = &plan->expectations[i];
    for (uint32_t i = 0; i < plan->launch_count && asked != NULL; i++)
        if (gd_plan_is_kernel(&plan->launches[i]) && plan->launches[i].reference == NULL)
            return gd_message_error_at(
                asked->place,
                "'from: reference' needs a CPU reference for every launch; launch %u (%s) has none",
                (unsigned)i, gd_plan_launch_name(plan, i));
    return 0;
}

/* What stands behind a constant access may be read before the wait, so nothing in the chain may
 * write it. */
static int check_constants(const gd_plan *plan)
{
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        for (uint32_t k = 0; k < plan->launches[i].argument_count; k++) {
            const gd_plan_argument *argument = &plan->launches[i].arguments[k];
            if (argument->is_buffer && argument->access == GRIDDEP_ACCESS_CONSTANT &&
                plan->buffers[argument->buffer].written)
                return gd_message_error_at(
                    argument->place,
                    "buffer '%s' is constant here, but a launch of the chain writes it",
                    plan->buffers[argument->buffer].name);
        }
    }
    return 0;
}

int gd_plan_check(const gd_plan *plan, const gd_modulefile_list *modules)
{
    int code = check_references(plan);
    if (code == 0)
        code = check_constants(plan);
    return code == 0 ? check_launches(plan, modules) : code;
}

int gd_plan_check_memory(const gd_plan *plan)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t memory = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const gd_plan_buffer *buffer = &plan->buffers[i];
        uint64_t bytes = gd_plan_buffer_bytes(buffer);
        if (bytes > memory - sum)
            return gd_message_error_at(buffer->place,
                                       "buffer '%s' of %.4g GB is too much: with it the buffers "
                                       "exceed this machine's %.4g GB",
                                       buffer->name, (double)bytes / 1e9, (double)memory / 1e9);
        sum += bytes;
    }
    return 0;
}

int gd_plan_check_files(const gd_plan *plan, gd_modulefile_list *modules)
{
    int code = gd_plan_check_memory(plan);
    if (code == 0)
        code = gd_modulefile_load(plan, modules);
    return code == 0 ? gd_plan_check(plan, modules) : code;
}

int gd_plan_check_whole(const gd_plan *plan)
{
    gd_modulefile_list modules = {0};
    int code = gd_plan_check_files(plan, &modules);
    gd_modulefile_free(&modules);
    return code;
}

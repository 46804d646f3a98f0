/* From a plan to griddep_chain_check. */
#include "cli/job/chaincheck.h"

#include <stdlib.h>
#include <string.h>

#include "cli/show/finding.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/progress.h"

enum { MOST_WARNINGS = 5 }; /* that a run prints; the rest is for the check */

/* An access that the plan does not tell is found out from the PTX. */
static int32_t access_of(const gd_plan_argument *argument)
{
    static const int32_t accesses[] = {[GD_ACCESS_UPDATE] = GRIDDEP_ACCESS_UPDATE,
                                       [GD_ACCESS_READ] = GRIDDEP_ACCESS_READ,
                                       [GD_ACCESS_WRITE] = GRIDDEP_ACCESS_WRITE,
                                       [GD_ACCESS_CONSTANT] = GRIDDEP_ACCESS_CONSTANT};
    return argument->access_given ? accesses[argument->access] : GRIDDEP_ACCESS_UNKNOWN;
}

griddep_check_argument *gd_chaincheck_arguments(const gd_plan *plan, const gd_plan_launch *launch)
{
    griddep_check_argument *arguments = gd_heap_take(launch->argument_count, sizeof(*arguments));
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const gd_plan_argument *argument = &launch->arguments[i];
        if (!argument->is_buffer)
            continue;
        const gd_plan_buffer *buffer = &plan->buffers[argument->buffer];
        uint64_t element = gd_type_bytes(buffer->type);
        arguments[i] =
            (griddep_check_argument){.buffer = argument->buffer + 1,
                                     .access = access_of(argument),
                                     .offset = argument->offset * element,
                                     .bytes = (buffer->count - argument->offset) * element};
    }
    return arguments;
}

static const char **element_types(const gd_plan *plan, const gd_plan_launch *launch)
{
    const char **elements = gd_heap_take(launch->argument_count, sizeof(*elements));
    for (uint32_t i = 0; i < launch->argument_count; i++) {
        const gd_plan_argument *argument = &launch->arguments[i];
        if (argument->is_buffer)
            elements[i] = gd_type_name(argument->viewed ? argument->type
                                                        : plan->buffers[argument->buffer].type);
    }
    return elements;
}

static void print_errors(const gd_finding_list *list)
{
    uint32_t errors = 0;
    gd_progress_clear();
    for (size_t i = 0; i < list->count; i++) {
        gd_finding finding = list->items[i];
        if (finding.data.severity < GRIDDEP_SEVERITY_ERROR)
            continue;
        finding.data.severity = GRIDDEP_SEVERITY_WARNING;
        if (errors++ < MOST_WARNINGS)
            gd_finding_print(stderr, &finding, NULL);
    }
    if (errors > 0)
        gd_message_note("the check of the chain has %u error%s; results of modes with dependent "
                        "launch may be wrong "
                        "('griddep check' prints all, --no-check leaves this out)",
                        (unsigned)errors, errors == 1 ? "" : "s");
}

int gd_chaincheck_run(const gd_plan *plan, const gd_modulefile_list *modules, int32_t pdl,
                      griddep_findings **findings)
{
    griddep_check_launch *launches = gd_heap_take(plan->launch_count, sizeof(*launches));
    griddep_check_argument **arguments = gd_heap_take(plan->launch_count, sizeof(*arguments));
    const char ***elements = gd_heap_take(plan->launch_count, sizeof(*elements));
    griddep_error error;
    griddep_error_init(&error);
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        const gd_plan_launch *launch = &plan->launches[i];
        arguments[i] = gd_chaincheck_arguments(plan, launch);
        elements[i] = element_types(plan, launch);
        launches[i] =
            (griddep_check_launch){.size = sizeof(launches[i]),
                                   .node = GRIDDEP_NODE_KERNEL,
                                   .ptx = modules->items[launch->module].ptx,
                                   .entry = launch->kernel,
                                   .arguments = arguments[i],
                                   .argument_count = launch->argument_count,
                                   .pdl = launch->pdl != GRIDDEP_PDL_DEFAULT ? launch->pdl : pdl,
                                   .lane = launch->lane,
                                   .after_count = launch->after_count,
                                   .after = launch->after,
                                   .elements = elements[i]};
    }
    int32_t status = griddep_chain_check(launches, plan->launch_count, findings, &error);
    for (uint32_t i = 0; i < plan->launch_count; i++)
        free(arguments[i]);
    for (uint32_t i = 0; i < plan->launch_count; i++)
        free(elements[i]);
    free(elements);
    free(arguments);
    free(launches);
    return status == GRIDDEP_OK ? 0 : gd_message_library(&error, "checking the chain");
}

/* Whatever the mode, a kernel computes nothing of use from elements of another type. */
static int refuse_elements(const gd_plan *plan, const gd_finding_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const griddep_finding *finding = &list->items[i].data;
        if (strcmp(finding->code, "GD213") == 0)
            return gd_message_error_at(
                plan->launches[finding->launch].place,
                "%s: %s (GD213; 'as' in the argument says that this is meant)",
                plan->launches[finding->launch].kernel, finding->text);
    }
    return 0;
}

int gd_chaincheck_warn(const gd_plan *plan, const gd_modulefile_list *modules, int32_t pdl,
                       bool dependent)
{
    griddep_findings *findings = NULL;
    int code = gd_chaincheck_run(plan, modules, pdl, &findings);
    if (code != 0)
        return code;
    gd_finding_list list = gd_finding_fold(findings, plan, NULL);
    code = refuse_elements(plan, &list);
    if (code == 0 && dependent)
        print_errors(&list);
    gd_finding_list_free(&list);
    griddep_findings_destroy(findings);
    return code;
}

/* From a plan to griddep_chain_check. */
#include "cli/job/chaincheck.h"

#include <stdlib.h>
#include <string.h>

#include "cli/show/finding.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/progress.h"
#include "cli/plan/planlaunch.h"

enum { MOST_ERRORS = 5 }; /* that a run prints; the rest is for the check */

static void print_errors(const gd_finding_list *list)
{
    uint32_t errors = 0;
    gd_progress_clear();
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].data.severity < GRIDDEP_SEVERITY_ERROR)
            continue;
        if (errors++ < MOST_ERRORS)
            gd_finding_print(stderr, &list->items[i], NULL);
    }
    if (errors > 0)
        gd_message_note("the check of the chain finds %u error%s: launches that would race do not "
                        "start early, unless they are forced "
                        "('griddep check' prints all, --no-check leaves this out)",
                        (unsigned)errors, errors == 1 ? "" : "s");
}

int32_t gd_chaincheck_texts(const gd_plan *plan, const gd_modulefile_list *modules,
                            const griddep_ptx *const *texts, const int32_t *pdl,
                            griddep_findings **findings, griddep_error *error)
{
    griddep_chain *chain = NULL;
    uint64_t *addresses = gd_planlaunch_made_up(plan);
    int32_t status = griddep_chain_create(NULL, &chain, error);
    for (uint32_t i = 0; i < plan->launch_count && status == GRIDDEP_OK; i++) {
        const gd_plan_launch *launch = &plan->launches[i];
        const griddep_launch_config config = {
            .size = sizeof(config), .pdl = pdl[i], .lane = launch->config.lane};
        const char *entry = gd_modulefile_entry(gd_modulefile_of(modules, launch), launch);
        status = gd_plan_is_kernel(launch)
                     ? griddep_chain_add_ptx(chain, texts[i], entry, &config, NULL,
                                             launch->argument_count, error)
                     : gd_planlaunch_add_move(plan, launch, NULL, chain, error);
        if (status == GRIDDEP_OK && gd_plan_is_kernel(launch) && texts[i] == NULL)
            status =
                griddep_chain_set_traits(chain, i, gd_modulefile_traits(modules, launch), error);
        if (status == GRIDDEP_OK)
            status = gd_planlaunch_describe_early(plan, launch, texts[i], entry, addresses, chain,
                                                  error);
    }
    if (status == GRIDDEP_OK)
        status = griddep_chain_check(chain, findings, error);
    griddep_chain_destroy(chain);
    free(addresses);
    return status;
}

int gd_chaincheck_run(const gd_plan *plan, const gd_modulefile_list *modules, int32_t pdl,
                      griddep_findings **findings)
{
    const griddep_ptx **texts = gd_heap_take(plan->launch_count, sizeof(*texts));
    int32_t *each = gd_heap_take(plan->launch_count, sizeof(*each));
    griddep_error error;
    griddep_error_init(&error);
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        const gd_plan_launch *launch = &plan->launches[i];
        texts[i] = gd_modulefile_of(modules, launch)->ptx;
        each[i] = launch->config.pdl != GRIDDEP_PDL_DEFAULT ? launch->config.pdl : pdl;
    }
    int32_t status = gd_chaincheck_texts(plan, modules, texts, each, findings, &error);
    free(each);
    free(texts);
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
                "%s: %s [GD213]; if you mean this, say so with 'as' in the argument",
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

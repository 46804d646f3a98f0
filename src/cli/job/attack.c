/* Attacks: each launch gets a text of its own making, all are put into a chain, and the chain runs
 * from poisoned buffers. */
#include "cli/job/attack.h"

#include <stdlib.h>
#include <string.h>

#include "run/private.h"

#include "cli/job/chaincheck.h"
#include "cli/plan/planlaunch.h"
#include "cli/io/heap.h"
#include "cli/io/progress.h"

/* Code that was loaded, by its text. */
typedef struct gd_attack_code {
    char *text;
    griddep_module *module;
} gd_attack_code;

/* Which triggers are moved to the start. */
enum { EAGER_NONE, EAGER_PRODUCER, EAGER_ALL };

static int report_attack_error(const griddep_error *error)
{
    return gd_message_library(error, "attacking the chain");
}

/* ---- texts ---- */

/* Puts `made` in place of *ptx where a step succeeded. */
static int32_t replace(griddep_ptx **ptx, griddep_ptx *made, int32_t status)
{
    if (status != GRIDDEP_OK)
        return status;
    griddep_ptx_destroy(*ptx);
    *ptx = made;
    return GRIDDEP_OK;
}

/* A kernel that has no place for a trigger keeps what it has. */
static int32_t move_trigger(griddep_ptx **ptx, const char *entry, griddep_error *error)
{
    const griddep_rewrite_options options = {
        .size = sizeof(options), .entry = entry, .trigger = GRIDDEP_TRIGGER_START};
    griddep_ptx *made = NULL;
    int32_t status = griddep_ptx_rewrite(*ptx, &options, &made, NULL, error);
    return status == GRIDDEP_ERROR_UNSUPPORTED ? GRIDDEP_OK : replace(ptx, made, status);
}

/* The text of a launch under attack; *ptx is NULL where the code is no PTX. */
static int32_t make_text(const gd_attacked *attacked, const gd_attack *attack, uint32_t launch,
                         int32_t eager, griddep_ptx **ptx, griddep_error *error)
{
    const gd_plan_launch *planned = &attacked->plan->launches[launch];
    const gd_modulefile *file = gd_modulefile_of(attacked->modules, planned);
    const char *entry = gd_modulefile_entry(file, planned);
    bool moves = eager == EAGER_ALL || (eager == EAGER_PRODUCER && launch == attack->producer);
    griddep_ptx *made = NULL;
    *ptx = NULL;
    if (file->ptx == NULL)
        return GRIDDEP_OK;
    char *text = NULL;
    uint64_t bytes = 0;
    int32_t status = gd_modulefile_print(file->ptx, &text, &bytes, error);
    if (status == GRIDDEP_OK)
        status = griddep_ptx_parse(text, bytes, file->name, ptx, error);
    free(text);
    if (status == GRIDDEP_OK && moves)
        status = move_trigger(ptx, entry, error);
    if (status == GRIDDEP_OK && launch == attack->producer) {
        status = gd_ptx_delay(*ptx, entry, attack->place, attacked->nanoseconds, &made, error);
        status = replace(ptx, made, status);
    }
    return status;
}

static void free_texts(griddep_ptx **texts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        griddep_ptx_destroy(texts[i]);
    free(texts);
}

static int32_t make_texts(const gd_attacked *attacked, const gd_attack *attack, int32_t eager,
                          griddep_ptx **texts, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;
    for (uint32_t i = 0; i < attacked->plan->launch_count && status == GRIDDEP_OK; i++)
        status = make_text(attacked, attack, i, eager, &texts[i], error);
    return status;
}

/* ---- which triggers may be moved ---- */

/* Errors and warnings of the chain with these texts (NULL: as it is). GD207 says of a producer what
 * GD205 says of its dependent. */
static int count_findings(const gd_attacked *attacked, griddep_ptx *const *texts, uint32_t *count)
{
    const gd_plan *plan = attacked->plan;
    const griddep_ptx **given = gd_heap_take(plan->launch_count, sizeof(*given));
    int32_t *pdl = gd_heap_take(plan->launch_count, sizeof(*pdl));
    griddep_findings *findings = NULL;
    griddep_error error;
    griddep_error_init(&error);
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        const gd_plan_launch *launch = &plan->launches[i];
        given[i] = texts != NULL ? texts[i] : gd_modulefile_of(attacked->modules, launch)->ptx;
        pdl[i] = launch->config.pdl;
    }
    int32_t status = gd_chaincheck_texts(plan, attacked->modules, given, pdl, &findings, &error);
    free(pdl);
    free(given);
    *count = 0;
    for (uint32_t i = 0; status == GRIDDEP_OK && i < griddep_findings_count(findings); i++) {
        griddep_finding finding = {.size = sizeof(finding)};
        if (griddep_findings_get(findings, i, &finding, NULL) == GRIDDEP_OK &&
            finding.severity > GRIDDEP_SEVERITY_NOTE && strcmp(finding.code, "GD207") != 0)
            ++*count;
    }
    griddep_findings_destroy(findings);
    return status == GRIDDEP_OK ? 0 : report_attack_error(&error);
}

/* A trigger at the start is right wherever every later kernel waits for what it needs. A chain may
 * count on a trigger that stands behind a wait, though: then the check finds more in it than
 * before, and the triggers stay. */
static int find_eager(gd_attacked *attacked, uint32_t producer, int32_t *eager)
{
    const gd_attack attack = {.producer = producer};
    uint32_t own = 0, found = 0;
    int code = count_findings(attacked, NULL, &own);
    for (*eager = EAGER_ALL; *eager > EAGER_NONE && code == 0; (*eager)--) {
        griddep_ptx **texts = gd_heap_take(attacked->plan->launch_count, sizeof(*texts));
        bool made = make_texts(attacked, &attack, *eager, texts, NULL) == GRIDDEP_OK;
        code = made ? count_findings(attacked, texts, &found) : 0;
        free_texts(texts, attacked->plan->launch_count);
        if (made && found <= own)
            break;
    }
    return code;
}

/* ---- the chain under attack ---- */

static int32_t load_code(gd_attacked *attacked, const griddep_ptx *ptx, griddep_module **module,
                         griddep_error *error)
{
    uint64_t bytes = 0;
    char *text = NULL;
    int32_t status = gd_modulefile_print(ptx, &text, &bytes, error);
    if (status != GRIDDEP_OK)
        return status;
    for (uint32_t i = 0; i < attacked->code_count; i++) {
        if (strcmp(attacked->codes[i].text, text) != 0)
            continue;
        free(text);
        *module = attacked->codes[i].module;
        return GRIDDEP_OK;
    }
    status = griddep_module_load(attacked->session.runtime, text, bytes, NULL, module, error);
    if (status != GRIDDEP_OK) {
        free(text);
        return status;
    }
    attacked->codes = gd_heap_grow(attacked->codes, attacked->code_count, attacked->code_count + 1,
                                   sizeof(*attacked->codes));
    attacked->codes[attacked->code_count++] = (gd_attack_code){text, *module};
    return GRIDDEP_OK;
}

static int32_t add_launch(gd_attacked *attacked, griddep_chain *chain, uint32_t index,
                          const griddep_ptx *text, griddep_error *error)
{
    const gd_plan_launch *planned = &attacked->plan->launches[index];
    if (!gd_plan_is_kernel(planned))
        return gd_session_add(&attacked->session, planned, NULL, NULL, chain, error);
    griddep_launch_config config =
        gd_planlaunch_config(planned, GRIDDEP_PDL_DEFAULT, attacked->session.multiprocessors);
    griddep_module *module = attacked->session.modules[planned->module];
    griddep_kernel *kernel = NULL;
    int32_t status = text != NULL ? load_code(attacked, text, &module, error) : GRIDDEP_OK;
    if (status == GRIDDEP_OK && text != NULL)
        status = griddep_module_find_kernel(
            module, gd_modulefile_entry(gd_modulefile_of(attacked->modules, planned), planned),
            &kernel, error);
    else if (status == GRIDDEP_OK)
        status = gd_planlaunch_kernel(planned, module, planned->kernel, &kernel, error);
    if (status != GRIDDEP_OK)
        return status;
    config.grid[0] = attacked->grids[index];
    return gd_session_add(&attacked->session, planned, kernel, &config, chain, error);
}

static int32_t make_chain(gd_attacked *attacked, griddep_ptx *const *texts, griddep_chain **chain,
                          griddep_error *error)
{
    int32_t status = griddep_chain_create(attacked->session.runtime, chain, error);
    for (uint32_t i = 0; i < attacked->plan->launch_count && status == GRIDDEP_OK; i++)
        status = add_launch(attacked, *chain, i, texts != NULL ? texts[i] : NULL, error);
    return status == GRIDDEP_OK
               ? gd_planlaunch_expose(attacked->plan, attacked->session.multiprocessors,
                                      attacked->grids, *chain, error)
               : status;
}

/* A fault goes to `result`, unless that is NULL. */
static int run_chain(gd_attacked *attacked, griddep_chain *chain, int32_t mode,
                     gd_attack_result *result)
{
    gd_experiment *experiment = &attacked->session.experiment;
    griddep_error error;
    griddep_error_init(&error);
    int32_t status = gd_experiment_run(experiment, chain, mode, experiment->got, &error);
    if (status == GRIDDEP_OK)
        return 0;
    if (experiment->step != GD_EXPERIMENT_RUNS)
        return gd_session_report_error(&attacked->session, mode, &error);
    if (status != GRIDDEP_ERROR_FAULT || result == NULL)
        return report_attack_error(&error);
    result->faulted = true;
    result->why = gd_heap_string(error.text);
    return 0;
}

/* ---- results ---- */

/* Of the buffers that differ, the one whose last writer stands first in the chain. */
static void find_first_difference(const gd_attacked *attacked, gd_attack_result *result)
{
    const gd_experiment *experiment = &attacked->session.experiment;
    for (uint32_t i = gd_experiment_find_difference(experiment, 0); i < experiment->buffer_count;
         i = gd_experiment_find_difference(experiment, i + 1)) {
        const uint32_t writer = attacked->session.writers[i] - 1;
        if (result->differs && writer >= result->launch)
            continue;
        result->differs = true;
        result->launch = writer;
        result->buffer = i;
    }
    if (!result->differs)
        return;
    const gd_plan_buffer *buffer = &attacked->plan->buffers[result->buffer];
    gd_verify_compare(buffer->type, experiment->got[result->buffer],
                      experiment->serial[result->buffer], buffer->count, &result->difference);
}

/* What the chain file says of its grids is checked before anything is laid to a race's account. */
static int check_grids(gd_attacked *attacked)
{
    griddep_chain *chain = NULL;
    gd_attack_result result = {0};
    griddep_error error;
    griddep_error_init(&error);
    int32_t status = make_chain(attacked, NULL, &chain, &error);
    int code = status == GRIDDEP_OK ? run_chain(attacked, chain, GRIDDEP_MODE_SERIAL, NULL)
                                    : report_attack_error(&error);
    if (code == 0)
        find_first_difference(attacked, &result);
    griddep_chain_destroy(chain);
    if (code == 0 && result.differs)
        code = gd_message_error(GD_EXIT_USAGE,
                                "with the smallest of the grids that the file offers, buffer %s "
                                "differs already when the "
                                "chain runs serially: 'grids' is not right",
                                attacked->plan->buffers[result.buffer].name);
    return code;
}

static uint32_t smallest_grid(const gd_attacked *attacked, uint32_t launch)
{
    const gd_plan_launch *planned = &attacked->plan->launches[launch];
    uint32_t count = 0, *grids = gd_plan_grids(planned, attacked->session.multiprocessors, &count);
    uint32_t smallest =
        gd_planlaunch_config(planned, GRIDDEP_PDL_DEFAULT, attacked->session.multiprocessors)
            .grid[0];
    for (uint32_t i = 0; i < count; i++)
        smallest = grids[i] < smallest ? grids[i] : smallest;
    free(grids);
    return smallest;
}

int gd_attacked_open(gd_attacked *attacked, const gd_plan *plan, const gd_modulefile_list *modules,
                     griddep_runtime *runtime, uint32_t nanoseconds, uint32_t rounds)
{
    *attacked = (gd_attacked){.plan = plan,
                              .modules = modules,
                              .grids = gd_heap_take(plan->launch_count, sizeof(uint32_t)),
                              .eager = gd_heap_take(plan->launch_count, sizeof(int32_t)),
                              .nanoseconds = nanoseconds,
                              .rounds = rounds};
    for (uint32_t i = 0; i < plan->launch_count; i++)
        attacked->eager[i] = -1;
    int code = gd_session_open(&attacked->session, plan, runtime, GRIDDEP_PDL_DEFAULT);
    if (code != 0)
        return code;
    for (uint32_t i = 0; i < plan->launch_count; i++)
        attacked->grids[i] = smallest_grid(attacked, i);
    code = gd_session_run(&attacked->session, GRIDDEP_MODE_SERIAL,
                          attacked->session.experiment.serial);
    return code == 0 ? check_grids(attacked) : code;
}

void gd_attacked_close(gd_attacked *attacked)
{
    for (uint32_t i = 0; i < attacked->code_count; i++) {
        griddep_module_unload(attacked->codes[i].module);
        free(attacked->codes[i].text);
    }
    free(attacked->codes);
    free(attacked->grids);
    free(attacked->eager);
    gd_session_close(&attacked->session);
    *attacked = (gd_attacked){0};
}

/* ---- one attack ---- */

static int run_rounds(gd_attacked *attacked, const gd_attack *attack, griddep_ptx *const *texts,
                      gd_attack_result *result)
{
    griddep_chain *chain = NULL;
    griddep_error error;
    griddep_error_init(&error);
    int32_t status = make_chain(attacked, texts, &chain, &error);
    int code = status == GRIDDEP_OK ? 0 : report_attack_error(&error);
    for (uint32_t i = 0; i < attacked->rounds && code == 0 && !result->differs && !result->faulted;
         i++) {
        code = run_chain(attacked, chain, attack->mode, result);
        if (code == 0 && !result->faulted)
            find_first_difference(attacked, result);
    }
    result->ran = code == 0;
    griddep_chain_destroy(chain);
    return code;
}

int gd_attack_run(gd_attacked *attacked, const gd_attack *attack, gd_attack_result *result)
{
    griddep_ptx **texts = gd_heap_take(attacked->plan->launch_count, sizeof(*texts));
    int32_t *eager = &attacked->eager[attack->producer];
    griddep_error error;
    griddep_error_init(&error);
    *result = (gd_attack_result){0};
    int code = *eager < 0 ? find_eager(attacked, attack->producer, eager) : 0;
    int32_t status = code == 0 ? make_texts(attacked, attack, *eager, texts, &error) : GRIDDEP_OK;
    result->own_triggers = *eager == EAGER_NONE;
    if (code == 0 && texts[attack->producer] == NULL && status == GRIDDEP_OK)
        result->why = gd_heap_string("the producer's code is not PTX");
    else if (status == GRIDDEP_ERROR_NOT_FOUND)
        result->why = gd_heap_string(error.text);
    else if (status != GRIDDEP_OK)
        code = report_attack_error(&error);
    else if (code == 0)
        code = run_rounds(attacked, attack, texts, result);
    free_texts(texts, attacked->plan->launch_count);
    return code;
}

void gd_attack_result_free(gd_attack_result *result)
{
    free(result->why);
    *result = (gd_attack_result){0};
}

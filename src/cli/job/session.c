/* The session: what a plan needs on the device, made in order and ended in order. */
#include "cli/job/session.h"

#include <stdlib.h>
#include <string.h>

#include "cli/plan/fill.h"
#include "cli/io/heap.h"
#include "cli/plan/planlaunch.h"
#include "cli/io/progress.h"
#include "cli/show/racelist.h"
#include "run/private.h"

/* The number behind a word; 0. */
static uint64_t number_behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    return at != NULL ? strtoull(at + strlen(word), NULL, 10) : 0;
}

int gd_session_report(const gd_session *session, const griddep_error *error, const char *doing)
{
    const uint64_t line = number_behind(error->text, ", line ");
    uint32_t index = 0;
    if (session->beside != NULL)
        return gd_message_library_at((gd_place){session->beside, 0, 0}, error, doing);
    const gd_plan_launch *launch =
        session->emulated && line > 0
            ? gd_racelist_find_launch(session->plan, number_behind(error->text, " (launch "),
                                      &index)
            : NULL;
    if (launch == NULL)
        return gd_message_library(error, doing);
    const gd_plan_module *module = &session->plan->modules[launch->module];
    const char *file = module->path != NULL ? module->path : module->shelf;
    const char *end = strrchr(file, '.');
    const bool is_ptx = module->path == NULL || (end != NULL && strcmp(end, ".ptx") == 0);
    const bool is_cuda = end != NULL && strcmp(end, ".cu") == 0;
    const uint32_t own =
        is_ptx    ? (uint32_t)line
        : is_cuda ? gd_module_source_line(session->modules[launch->module], (uint32_t)line)
                  : 0;
    griddep_error told = *error;
    /* "... kernel NAME (launch 2), CTA ...": the chain's name instead. */
    const char *from = strstr(error->text, " (launch "), *to = strchr(from, ')');
    while (from > error->text && from[-1] != ' ')
        from--;
    if (to != NULL && from - error->text >= 7 && strncmp(from - 7, "kernel ", 7) == 0) {
        char *name = gd_plan_launch_text(session->plan, index);
        snprintf(told.text, sizeof(told.text), "%.*s%s%s", (int)(from - 7 - error->text),
                 error->text, name, to + 1);
        free(name);
    }
    return gd_message_fault((gd_place){file, own, 0}, index, &told, doing);
}

static int report_error_of(const gd_session *session, const griddep_error *error, const char *verb,
                           const char *name)
{
    char *doing = gd_heap_format("%s '%s'", verb, name);
    int code = gd_session_report(session, error, doing);
    free(doing);
    return code;
}

static int load_module(gd_session *session, uint32_t index)
{
    const gd_plan_module *module = &session->plan->modules[index];
    griddep_module_options options = {.size = sizeof(options),
                                      .name = module->path,
                                      .compile_options = module->options,
                                      .compile_option_count = module->option_count,
                                      .name_expressions = module->expressions,
                                      .name_expression_count = module->expression_count};
    griddep_error error;
    griddep_error_init(&error);
    gd_progress_show("loading module %s", module->name);
    int32_t status = module->code != NULL
                         ? griddep_module_load(session->runtime, module->code, module->code_bytes,
                                               &options, &session->modules[index], &error)
                     : module->path != NULL
                         ? griddep_module_load_file(session->runtime, module->path, &options,
                                                    &session->modules[index], &error)
                         : griddep_module_load_shelf(session->runtime, module->shelf, NULL,
                                                     &session->modules[index], &error);
    if (status == GRIDDEP_OK)
        return 0;
    if (module->path != NULL)
        return report_error_of(session, &error, "loading module", module->name);
    /* The shelf is not the user's input: a driver that does not take it refuses. */
    char *doing = gd_heap_format("loading the shelf's '%s'", module->shelf);
    int code = gd_message_library_as(GD_EXIT_REFUSED, &error, doing);
    free(doing);
    return code;
}

static int make_buffer(gd_session *session, uint32_t index)
{
    const gd_plan_buffer *buffer = &session->plan->buffers[index];
    uint64_t bytes = gd_plan_buffer_bytes(buffer);
    griddep_error error;
    griddep_error_init(&error);
    gd_progress_show("filling buffer %s, %.1f MB", buffer->name, (double)bytes / 1e6);
    session->images[index] = gd_heap_take(bytes, 1);
    int code = 0;
    if (buffer
            ->written_first) /* what a run before left there cannot pass for a result of this one */
        memset(session->images[index], 0xff, bytes);
    else
        code = gd_fill_write(&buffer->fill, buffer->type, session->images[index], buffer->count);
    if (code != 0)
        return code;
    if (griddep_memory_allocate(session->runtime, bytes, &session->addresses[index], &error) !=
        GRIDDEP_OK)
        return report_error_of(session, &error, "allocating buffer", buffer->name);
    if (griddep_memory_write(session->runtime, session->addresses[index], session->images[index],
                             bytes, session->stream, &error) != GRIDDEP_OK)
        return report_error_of(session, &error, "writing buffer", buffer->name);
    return 0;
}

static int make_map(gd_session *session, const gd_plan_argument *argument, griddep_tensor_map *map)
{
    const gd_plan_buffer *buffer = &session->plan->buffers[argument->buffer];
    griddep_tensor_options options = *argument->tensor;
    griddep_error error;
    griddep_error_init(&error);
    options.address =
        session->addresses[argument->buffer] + argument->offset * gd_type_bytes(buffer->type);
    if (griddep_tensor_map_encode(session->runtime, &options, map, &error) == GRIDDEP_OK)
        return 0;
    char *doing = gd_heap_format("mapping buffer '%s'", buffer->name);
    int code = gd_message_library_at(argument->place, &error, doing);
    free(doing);
    return code;
}

/* The buffers have their addresses. */
static int make_maps(gd_session *session, uint32_t index)
{
    const gd_plan_launch *launch = &session->plan->launches[index];
    int code = 0;
    for (uint32_t i = 0; i < launch->argument_count && code == 0; i++) {
        if (launch->arguments[i].tensor == NULL)
            continue;
        if (session->maps[index] == NULL)
            session->maps[index] = gd_heap_take(launch->argument_count, sizeof(**session->maps));
        code = make_map(session, &launch->arguments[i], &session->maps[index][i]);
    }
    return code;
}

static griddep_argument *make_arguments(const gd_session *session, const gd_plan_launch *launch)
{
    return gd_planlaunch_arguments(session->plan, launch, session->addresses,
                                   session->maps[launch - session->plan->launches]);
}

/* By the PTX of the plan's module, where it has some. */
static gd_planlaunch_made made_of(const gd_session *session, const gd_plan_launch *launch,
                                  griddep_kernel *kernel, const griddep_launch_config *config,
                                  const griddep_argument *arguments)
{
    gd_planlaunch_made made = {.config = config, .arguments = arguments};
    griddep_module_info info = {.size = sizeof(info)};
    griddep_kernel_info known = {.size = sizeof(known)};
    if (kernel != NULL &&
        griddep_module_get_info(session->modules[launch->module], &info, NULL) == GRIDDEP_OK &&
        griddep_kernel_get_info(kernel, &known, NULL) == GRIDDEP_OK && info.ptx != NULL &&
        gd_planlaunch_entry(known.name, info.ptx, &made.entry))
        made.ptx = info.ptx;
    return made;
}

int32_t gd_session_add(const gd_session *session, const gd_plan_launch *launch,
                       griddep_kernel *kernel, const griddep_launch_config *config,
                       griddep_chain *chain, griddep_error *error)
{
    griddep_argument *arguments = kernel != NULL ? make_arguments(session, launch) : NULL;
    const gd_planlaunch_made made = made_of(session, launch, kernel, config, arguments);
    int32_t status =
        kernel != NULL
            ? griddep_chain_add(chain, kernel, config, arguments, launch->argument_count, error)
            : gd_planlaunch_add_move(session->plan, launch, session->addresses, chain, error);
    if (status == GRIDDEP_OK)
        status = gd_planlaunch_describe(session->plan, launch, &made, chain, error);
    free(arguments);
    return status;
}

/* By the module's PTX, where it has some. */
static int check_launch(const gd_session *session, const gd_plan_launch *launch,
                        griddep_kernel *kernel, const griddep_launch_config *config)
{
    griddep_argument *arguments = make_arguments(session, launch);
    const gd_planlaunch_made made = made_of(session, launch, kernel, config, arguments);
    int code = made.ptx != NULL ? gd_planlaunch_check(session->plan, launch, made.ptx, made.entry,
                                                      config, arguments)
                                : 0;
    free(arguments);
    return code;
}

static int add_launch(gd_session *session, uint32_t index, int32_t pdl)
{
    const gd_plan_launch *launch = &session->plan->launches[index];
    griddep_launch_config config = gd_planlaunch_config(launch, pdl, session->multiprocessors);
    griddep_kernel *kernel = NULL;
    griddep_error error;
    griddep_error_init(&error);
    if (!gd_plan_is_kernel(launch))
        return gd_session_add(session, launch, NULL, NULL, session->chain, &error) == GRIDDEP_OK
                   ? 0
                   : gd_message_library_at(launch->place, &error, launch->kernel);
    griddep_module *module = session->modules[launch->module];
    int32_t status = gd_planlaunch_kernel(launch, module, launch->kernel, &kernel, &error);
    int code = status == GRIDDEP_OK ? check_launch(session, launch, kernel, &config) : 0;
    if (code != 0)
        return code;
    if (status == GRIDDEP_OK)
        status = gd_session_add(session, launch, kernel, &config, session->chain, &error);
    if (status == GRIDDEP_OK)
        return 0;
    char *doing = gd_heap_format("launch of '%s'", launch->kernel);
    code = gd_message_library_at(launch->place, &error, doing);
    free(doing);
    return code;
}

static int make_chain(gd_session *session, int32_t pdl)
{
    griddep_error error;
    griddep_error_init(&error);
    if (griddep_chain_create(session->runtime, &session->chain, &error) != GRIDDEP_OK)
        return gd_message_library(&error, NULL);
    for (uint32_t i = 0; i < session->plan->launch_count; i++) {
        int code = add_launch(session, i, pdl);
        if (code != 0)
            return code;
    }
    return 0;
}

/* Which launches write the buffers, or may: where the plan does not say it, as the PTX shows. One
 * that may write anywhere is the last to write a buffer only where none is known to. */
static int find_writers(gd_session *session)
{
    const gd_plan *plan = session->plan;
    uint64_t count = 0;
    bool anywhere = false;
    griddep_error error;
    griddep_error_init(&error);
    for (uint32_t i = 0; i < plan->launch_count; i++)
        count += plan->launches[i].argument_count;
    bool *writes = gd_heap_take(count, sizeof(*writes));
    int32_t status = gd_chain_find_writes(session->chain, writes, count, &anywhere, &error);
    if (status == GRIDDEP_OK && anywhere)
        gd_plan_find_writers(plan, NULL, session->writers);
    if (status == GRIDDEP_OK)
        gd_plan_find_writers(plan, writes, session->writers);
    free(writes);
    return status == GRIDDEP_OK ? 0 : gd_message_library(&error, NULL);
}

static int open_experiment(gd_session *session)
{
    const gd_plan *plan = session->plan;
    int code = find_writers(session);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const bool written = session->writers[i] != 0;
        const gd_plan_buffer *buffer = &plan->buffers[i];
        session->buffers[i] = (gd_experiment_buffer){
            .address = session->addresses[i],
            .bytes = gd_plan_buffer_bytes(buffer),
            .initial = written ? session->images[i] : NULL,
            .compared = written && !gd_plan_may_deviate(plan, i),
            .read = written || gd_plan_is_expected(plan, i),
            .state = written && !buffer->written_first && gd_type_is_integer(buffer->type)};
    }
    session->experiment = (gd_experiment){.runtime = session->runtime,
                                          .stream = session->stream,
                                          .buffers = session->buffers,
                                          .buffer_count = plan->buffer_count};
    if (!gd_experiment_allocate(&session->experiment))
        gd_heap_end();
    return code;
}

int gd_session_open(gd_session *session, const gd_plan *plan, griddep_runtime *runtime, int32_t pdl)
{
    *session = (gd_session){.plan = plan, .runtime = runtime};
    session->modules = gd_heap_take(plan->module_count, sizeof(*session->modules));
    session->addresses = gd_heap_take(plan->buffer_count, sizeof(*session->addresses));
    session->images = gd_heap_take(plan->buffer_count, sizeof(*session->images));
    session->buffers = gd_heap_take(plan->buffer_count, sizeof(*session->buffers));
    session->writers = gd_heap_take(plan->buffer_count, sizeof(*session->writers));
    griddep_error error;
    griddep_error_init(&error);
    griddep_runtime_info info = {.size = sizeof(info)};
    if (griddep_runtime_get_info(runtime, &info, &error) != GRIDDEP_OK)
        return gd_message_library(&error, NULL);
    session->multiprocessors = (uint32_t)info.multiprocessors;
    session->emulated = info.emulated != 0;
    if (griddep_stream_create(runtime, NULL, &session->stream, &error) != GRIDDEP_OK)
        return gd_message_library(&error, "creating a stream");
    for (uint32_t i = 0; i < plan->module_count; i++) {
        int code = load_module(session, i);
        if (code != 0)
            return code;
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        int code = make_buffer(session, i);
        if (code != 0)
            return code;
    }
    session->maps = gd_heap_take(plan->launch_count, sizeof(*session->maps));
    for (uint32_t i = 0; i < plan->launch_count; i++) {
        int code = make_maps(session, i);
        if (code != 0)
            return code;
    }
    int code = make_chain(session, pdl);
    return code != 0 ? code : open_experiment(session);
}

int gd_session_report_error(const gd_session *session, int32_t mode, const griddep_error *error)
{
    const gd_experiment *experiment = &session->experiment;
    const char *buffer = session->plan->buffers[experiment->buffer].name;
    switch (experiment->step) {
    case GD_EXPERIMENT_WRITES:
        return report_error_of(session, error, "writing buffer", buffer);
    case GD_EXPERIMENT_READS:
        return report_error_of(session, error, "reading buffer", buffer);
    case GD_EXPERIMENT_RUNS:
        break;
    }
    return report_error_of(session, error, "running in mode",
                           griddep_text(GRIDDEP_TEXT_MODE, mode));
}

int gd_session_reset(gd_session *session)
{
    griddep_error error;
    griddep_error_init(&error);
    return gd_experiment_restore(&session->experiment, &error) == GRIDDEP_OK
               ? 0
               : gd_session_report_error(session, GRIDDEP_MODE_SERIAL, &error);
}

int gd_session_find_state(gd_session *session)
{
    griddep_error error;
    griddep_error_init(&error);
    return gd_experiment_find_state(&session->experiment, &error) == GRIDDEP_OK
               ? 0
               : gd_session_report_error(session, GRIDDEP_MODE_SERIAL, &error);
}

int gd_session_run(gd_session *session, int32_t mode, void **results)
{
    griddep_error error;
    griddep_error_init(&error);
    return gd_experiment_run(&session->experiment, session->chain, mode, results, &error) ==
                   GRIDDEP_OK
               ? 0
               : gd_session_report_error(session, mode, &error);
}

void gd_session_close(gd_session *session)
{
    if (session->plan == NULL)
        return;
    griddep_chain_destroy(session->chain);
    for (uint32_t i = 0; i < session->plan->buffer_count; i++) {
        if (session->addresses[i] != 0)
            griddep_memory_free(session->runtime, session->addresses[i], NULL);
        free(session->images[i]);
    }
    for (uint32_t i = 0; i < session->plan->module_count; i++)
        griddep_module_unload(session->modules[i]);
    for (uint32_t i = 0; i < session->plan->launch_count && session->maps != NULL; i++)
        free(session->maps[i]);
    if (session->stream != NULL)
        griddep_stream_destroy(session->runtime, session->stream, NULL);
    free(session->modules);
    free(session->maps);
    free(session->addresses);
    free(session->images);
    gd_experiment_free(&session->experiment);
    free(session->writers);
    free(session->buffers);
    *session = (gd_session){0};
}

/* Runs the program, and reads what its processes noted of their launches. */
#include "cli/program/recordedprogram.h"

#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/outputfile.h"
#include "cli/plan/planfile.h"
#include "cli/program/attach.h"
#include "cli/program/recordedchain.h"
#include "cli/io/name.h"

/* ---- begin and end of what processes launched ----
 *
 * Processes have streams of their own: each one's numbers stand behind those of the one before. */

/* As people write it; each once. */
static const char *name_of(gd_spanview *view, char ***known, const char *kernel)
{
    size_t at = 0;
    while (at < view->name_count && strcmp((*known)[at], kernel) != 0)
        at++;
    if (at == view->name_count) {
        *known = gd_heap_grow(*known, at, at + 1, sizeof(**known));
        view->names = gd_heap_grow(view->names, at, at + 1, sizeof(*view->names));
        (*known)[at] = gd_heap_string(kernel);
        view->names[at] = kernel[0] != '\0' ? gd_name_demangle(kernel) : gd_heap_string("a graph");
        view->name_count++;
    }
    return view->names[at];
}

static void add_file(gd_spanview *view, char ***known, const gd_attached_file *file)
{
    uint32_t before = view->streams, count = file->counts[GD_ATTACHED_SPAN];
    view->list = gd_heap_grow(view->list, view->count, view->count + count, sizeof(*view->list));
    for (uint32_t i = 0; i < count; i++) {
        const gd_attached_span *span = gd_attached_get(file, GD_ATTACHED_SPAN, i);
        if (span->end < span->begin || span->lane >= count)
            continue;
        if (before + span->lane >= view->streams)
            view->streams = before + span->lane + 1;
        view->list[view->count++] = (gd_span){.kernel = name_of(view, known, span->kernel),
                                              .stream = before + span->lane,
                                              .graph = span->graph != 0,
                                              .begin = (int64_t)span->begin,
                                              .end = (int64_t)span->end};
    }
    if (count > 0) {
        view->apart = file->process->clock != GD_ATTACHED_CLOCK_CUPTI;
        view->clock = view->apart ? "events, which keep launches apart" : "CUPTI";
    }
}

/* All that there is, not yet made; the records may end. */
static gd_spanview read_spans(const gd_attached_set *set, const char *program)
{
    gd_spanview view = {.program = program, .clock = ""};
    char **known = NULL;
    for (size_t i = 0; i < set->count; i++)
        if (set->files[i].process != NULL)
            add_file(&view, &known, &set->files[i]);
    for (size_t i = 0; i < view.name_count; i++)
        free(known[i]);
    free(known);
    return view;
}

/* ---- the run ---- */

static void tell_messages(const gd_attached_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const gd_attached_file *file = &set->files[i];
        for (uint32_t j = 0; j < file->counts[GD_ATTACHED_MESSAGE]; j++) {
            const gd_attached_message *message = gd_attached_get(file, GD_ATTACHED_MESSAGE, j);
            gd_message_warning("%s", message->text);
        }
    }
}

int gd_recordedprogram_load(gd_recordedprogram *request, const gd_device_choice *device,
                            const char *path, char **program, gd_plan *plan)
{
    if (path != NULL)
        return gd_planfile_load(path, plan);
    gd_attach attach = {.driver = device->driver,
                        .first = request->first,
                        .launches = request->plain ? 0 : request->launches,
                        .times = request->times || request->plain ? "each" : NULL,
                        .speaks_on_stderr = true};
    gd_attached_set set = {0};
    int ended = 0;
    int code = gd_emulation_apply(&device->emulation, &attach.driver);
    if (code == 0)
        code = gd_outputfile_check();
    if (code == 0)
        code = gd_attach_run(&attach, program, &set, &ended);
    if (code == 0) {
        tell_messages(&set);
        if (ended != 0)
            gd_message_warning("the program ended with exit code %d", ended);
        request->spans = read_spans(&set, gd_recordedchain_name(program[0]));
    }
    if (code == 0 && !request->plain)
        code = gd_recordedchain_make(&set, program[0], plan);
    gd_attached_free(&set);
    return code;
}

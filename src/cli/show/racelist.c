/* Folding and printing what the emulated driver found. */
#include "cli/show/racelist.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/quote.h"
#include "run/private.h"

static bool is_same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* ---- the chain's names ---- */

/* The buffer that begins at a hexadecimal address; NULL. */
static const gd_plan_buffer *find_buffer(const gd_race_chain *chain, const char *start)
{
    const uint64_t address = start != NULL ? strtoull(start, NULL, 16) : 0;
    uint32_t count = chain->plan != NULL && address != 0 ? chain->plan->buffer_count : 0;
    for (uint32_t i = 0; i < count; i++)
        if (chain->addresses[i] == address)
            return &chain->plan->buffers[i];
    return NULL;
}

/* Each run of the chain counts its kernels on from the one before it. */
const gd_plan_launch *gd_racelist_find_launch(const gd_plan *plan, uint64_t launch, uint32_t *index)
{
    if (plan == NULL || launch == 0)
        return NULL;
    const uint32_t kernels = gd_plan_kernel_count(plan);
    uint64_t left = kernels > 0 ? (launch - 1) % kernels : 0;
    for (*index = 0; *index < plan->launch_count; ++*index)
        if (gd_plan_is_kernel(&plan->launches[*index]) && left-- == 0)
            return &plan->launches[*index];
    return NULL;
}

/* The chain's words for what has a name. To free; NULL: it has none. */
static char *name_in_chain(const gd_race_chain *chain, const gd_emulator_name *name)
{
    const gd_plan_buffer *buffer = find_buffer(chain, name->start);
    uint32_t index = 0;
    if (buffer != NULL)
        return gd_heap_format("buffer %s", buffer->name);
    return gd_racelist_find_launch(chain->plan, name->launch, &index) != NULL
               ? gd_plan_launch_text(chain->plan, index)
               : NULL;
}

static void set_text(char **text, char *value)
{
    free(*text);
    *text = value;
}

static void replace(char **text, const char *words, const char *by)
{
    for (char *at = *text; at != NULL && words[0] != '\0' && (at = strstr(at, words)) != NULL;) {
        const size_t before = (size_t)(at - *text);
        set_text(text, gd_heap_format("%.*s%s%s", (int)before, *text, by, at + strlen(words)));
        at = *text + before + strlen(by);
    }
}

static void translate_texts(const gd_race_chain *chain, gd_emulator_finding *finding)
{
    for (size_t i = 0; i < finding->name_count; i++) {
        const gd_emulator_name *name = &finding->names[i];
        char *by = name->text != NULL ? name_in_chain(chain, name) : NULL;
        if (by != NULL) {
            replace(&finding->text, name->text, by);
            replace(&finding->missing, name->text, by);
        }
        free(by);
    }
    if (is_same_text(finding->missing, ""))
        set_text(&finding->missing, NULL);
}

/* Whether the line holds the instruction that the report names: a text that was rewritten on its
 * way does not. */
static bool is_line_of(const char *line, size_t length, const char *instruction)
{
    size_t word = strcspn(instruction, " \t;");
    return instruction[0] == '\0' || memmem(line, length, instruction, word) != NULL;
}

/* The instruction's line in its file, or what the report says of it. To free; NULL where nothing
 * is known. */
static char *quote_access(const gd_modulefile *module, const gd_emulator_access *access)
{
    const uint32_t line = (uint32_t)access->line, column = (uint32_t)access->column;
    const char *instruction = access->instruction != NULL ? access->instruction : "";
    size_t length = 0;
    const char *text = module != NULL ? module->text : NULL;
    const char *found = text != NULL ? gd_quote_find(text, module->bytes, line, &length) : NULL;
    if (found != NULL && is_line_of(found, length, instruction))
        return gd_quote_line(text, module->bytes, line, column);
    if (instruction[0] == '\0' || (module != NULL && module->made != NULL)) /* the PTX's line */
        return NULL;
    return gd_heap_format("%4u | %s\n", (unsigned)line, instruction);
}

/* A kernel that was refused has no launch of the process: the first one in the chain. */
static const gd_plan_launch *find_kernel(const gd_race_chain *chain, const char *kernel,
                                         uint32_t *index)
{
    uint32_t count = chain->plan != NULL ? chain->plan->launch_count : 0;
    for (*index = 0; *index < count; ++*index)
        if (is_same_text(chain->plan->launches[*index].kernel, kernel))
            return &chain->plan->launches[*index];
    return NULL;
}

static void translate_access(const gd_race_chain *chain, gd_emulator_access *access)
{
    uint32_t index = 0;
    const gd_plan_launch *launch =
        access->launch > 0 ? gd_racelist_find_launch(chain->plan, access->launch, &index)
                           : find_kernel(chain, access->kernel, &index);
    const gd_modulefile *module = launch != NULL ? gd_modulefile_of(chain->modules, launch) : NULL;
    if (!access->is_there)
        return;
    set_text(&access->quote, quote_access(module, access));
    if (module != NULL && module->made != NULL && module->ptx != NULL) {
        access->line = gd_ptx_source_line(module->ptx, (uint32_t)access->line);
        access->column = 0;
    }
    if (module != NULL && access->line > 0)
        set_text(&access->file, gd_heap_string(module->name));
    if (launch == NULL)
        return;
    set_text(&access->kernel, gd_heap_string(launch->kernel));
    access->chain_launch = index;
    if (launch->name != NULL)
        set_text(&access->name, gd_heap_string(launch->name));
}

static void translate_finding(const gd_race_chain *chain, gd_emulator_finding *finding)
{
    gd_emulator_memory *memory = &finding->memory;
    const gd_plan_buffer *buffer = find_buffer(chain, memory->start);
    translate_texts(chain, finding);
    translate_access(chain, &finding->first);
    translate_access(chain, &finding->second);
    translate_access(chain, &finding->culprit);
    if (buffer != NULL) {
        set_text(&memory->buffer, gd_heap_string(buffer->name));
        memory->element = (int64_t)(memory->offset / gd_type_bytes(buffer->type));
    }
}

/* ---- folding ---- */

static bool is_same_access(const gd_emulator_access *a, const gd_emulator_access *b)
{
    return a->is_there == b->is_there && is_same_text(a->file, b->file) &&
           (a->file != NULL || a->module == b->module) && a->line == b->line &&
           a->column == b->column && is_same_text(a->kernel, b->kernel) &&
           is_same_text(a->action, b->action);
}

/* Which of two accesses comes first depends on the schedule. */
static bool is_same(const gd_emulator_finding *a, const gd_emulator_finding *b)
{
    const bool has_access = a->first.is_there || a->second.is_there;
    return is_same_text(a->kind, b->kind) && (has_access || is_same_text(a->text, b->text)) &&
           ((is_same_access(&a->first, &b->first) && is_same_access(&a->second, &b->second)) ||
            (is_same_access(&a->first, &b->second) && is_same_access(&a->second, &b->first)));
}

/* A run is noted once, however often it met the finding. */
static void note_run(gd_emulator_finding *finding, uint64_t times, const char *schedule,
                     const char *mode)
{
    const size_t count = finding->run_count;
    gd_emulator_run *last = count > 0 ? &finding->runs[count - 1] : NULL;
    if (last == NULL || !is_same_text(last->schedule, schedule) ||
        !is_same_text(last->mode, mode)) {
        finding->runs = gd_heap_grow(finding->runs, count, count + 1, sizeof(*last));
        last = &finding->runs[finding->run_count++];
        last->schedule = gd_heap_string(schedule);
        last->mode = mode != NULL ? gd_heap_string(mode) : NULL;
    }
    last->times += times;
}

/* ---- whose mistake it is ---- */

static bool is_same_launch(const gd_emulator_access *a, const gd_emulator_access *b)
{
    const bool same = a->chain_launch >= 0 && b->chain_launch >= 0
                          ? a->chain_launch == b->chain_launch
                          : a->launch == b->launch;
    return same && is_same_text(a->kernel, b->kernel);
}

/* Whether a finding follows from the mistake of a kernel of which another one tells itself. */
static bool follows(const gd_racelist *list, const gd_emulator_finding *finding)
{
    bool found = false;
    for (size_t i = 0; i < list->count && !found; i++) {
        const gd_emulator_finding *other = &list->findings[i];
        found = !other->culprit.is_there && is_same_text(other->kind, finding->kind) &&
                (is_same_launch(&other->first, &finding->culprit) ||
                 is_same_launch(&other->second, &finding->culprit));
    }
    return found;
}

/* What follows from another finding is left out, and what a third kernel is to blame for comes
 * last. */
static void settle(gd_racelist *list)
{
    gd_emulator_finding *kept = gd_heap_take(list->count, sizeof(*kept));
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (!list->findings[i].culprit.is_there)
            kept[count++] = list->findings[i];
    for (size_t i = 0; i < list->count; i++) {
        gd_emulator_finding *finding = &list->findings[i];
        if (finding->culprit.is_there && follows(list, finding))
            gd_emulator_finding_free(finding);
        else if (finding->culprit.is_there)
            kept[count++] = *finding;
    }
    free(list->findings);
    *list = (gd_racelist){kept, count};
}

void gd_racelist_free(gd_racelist *list)
{
    for (size_t i = 0; i < list->count; i++)
        gd_emulator_finding_free(&list->findings[i]);
    free(list->findings);
    *list = (gd_racelist){0};
}

void gd_racelist_add(gd_racelist *list, gd_emulator_report *report, const gd_race_chain *chain,
                     const char *schedule, const char *mode)
{
    for (size_t i = 0; i < report->finding_count; i++) {
        gd_emulator_finding *finding = &report->findings[i];
        const uint64_t times = finding->times;
        size_t at = 0;
        translate_finding(chain, finding);
        while (at < list->count && !is_same(&list->findings[at], finding))
            at++;
        if (at < list->count) {
            list->findings[at].times += times;
        } else {
            list->findings = gd_heap_grow(list->findings, at, at + 1, sizeof(*finding));
            list->findings[list->count++] = *finding;
            *finding = (gd_emulator_finding){0};
        }
        note_run(&list->findings[at], times, schedule, mode);
    }
    settle(list);
}

json_t *gd_racelist_json(const gd_racelist *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++)
        gd_output_append(array, gd_emulator_finding_json(&list->findings[i]));
    return array;
}

/* ---- text ---- */

/* Words around a text; nothing where there is none. */
static void print_words(FILE *stream, const char *before, const char *text, const char *behind)
{
    if (text == NULL || text[0] == '\0')
        return;
    fputs(before, stream);
    gd_output_tell(stream, text);
    fputs(behind, stream);
}

/* The access to point at: of two launches the later one, which is the one that has to wait, else
 * the one that has a line. */
static const gd_emulator_access *leading(const gd_emulator_finding *finding)
{
    const gd_emulator_access *first = &finding->first, *second = &finding->second;
    bool later = first->line > 0 && first->launch > second->launch;
    return second->line == 0 || later ? first : second;
}

/* "late.ptx:25:5", "module 2:25:5" where the file is not known, "" without a line. To free. */
static char *position_of(const gd_emulator_access *access)
{
    unsigned line = (unsigned)access->line, column = (unsigned)access->column;
    if (line == 0)
        return gd_heap_string("");
    char *module = access->file != NULL ? gd_heap_string(access->file)
                                        : gd_heap_format("module %u", (unsigned)access->module);
    char *position = column > 0 ? gd_heap_format("%s:%u:%u", module, line, column)
                                : gd_heap_format("%s:%u", module, line);
    free(module);
    return position;
}

static void print_quote(FILE *stream, const gd_emulator_access *access)
{
    gd_output_put(stream, access->quote != NULL ? access->quote : "");
}

/* "  read of 4 bytes by late, launch 1, CTA 0,0,0, thread 5,0,0". */
static void print_access(FILE *stream, const gd_emulator_access *access, const char *position)
{
    const unsigned long long bytes = access->bytes, launch = access->launch;
    if (!access->is_there)
        return;
    fputs("  ", stream);
    print_words(stream, "", position, ": ");
    if (bytes > 0 || access->kernel == NULL)
        gd_output_tell(stream, access->action != NULL ? access->action : "access");
    if (bytes > 0)
        fprintf(stream, " of %llu byte%s", bytes, bytes == 1 ? "" : "s");
    print_words(stream, bytes > 0 ? " by " : "in ", access->kernel, "");
    if (access->chain_launch >= 0)
        fprintf(stream, ", launch %lld", (long long)access->chain_launch);
    print_words(stream, " (", access->name, ")");
    if (access->chain_launch < 0 && launch > 0)
        fprintf(stream, ", launch %llu", launch);
    if (access->kernel != NULL && launch > 0)
        fprintf(stream, ", CTA %u,%u,%u, thread %u,%u,%u", (unsigned)access->cta[0],
                (unsigned)access->cta[1], (unsigned)access->cta[2], (unsigned)access->thread[0],
                (unsigned)access->thread[1], (unsigned)access->thread[2]);
    putc('\n', stream);
}

static void print_memory(FILE *stream, const gd_emulator_memory *memory)
{
    if (!memory->is_there)
        return;
    fputs("  in ", stream);
    if (memory->buffer != NULL)
        print_words(stream, "buffer ", memory->buffer, "");
    else if (memory->name != NULL)
        print_words(stream, "variable ", memory->name, "");
    else if (is_same_text(memory->space, "shared"))
        fputs("shared memory", stream);
    else
        print_words(stream, "allocation ", memory->start, "");
    fprintf(stream, ", byte %llu of %llu", (unsigned long long)memory->offset,
            (unsigned long long)memory->bytes);
    if (memory->element >= 0)
        fprintf(stream, ", element %lld", (long long)memory->element);
    putc('\n', stream);
}

/* "  seen 17 times: eager (pdl, graph-pdl), random:1 (pdl)"; the runs come schedule by schedule. */
static void print_runs(FILE *stream, const gd_emulator_finding *finding)
{
    const unsigned long long times = finding->times;
    const char *before = NULL;
    fprintf(stream, "  seen %llu time%s: ", times, times == 1 ? "" : "s");
    for (size_t i = 0; i < finding->run_count; i++) {
        const gd_emulator_run *run = &finding->runs[i];
        const char *mode = run->mode != NULL ? run->mode : "";
        const bool goes_on =
            i + 1 < finding->run_count && is_same_text(run[1].schedule, run->schedule);
        fputs(i == 0 ? "" : ", ", stream);
        if (!is_same_text(before, run->schedule)) {
            gd_output_tell(stream, run->schedule);
            fputs(mode[0] != '\0' ? " (" : "", stream);
        }
        fprintf(stream, "%s%s", mode, mode[0] != '\0' && !goes_on ? ")" : "");
        before = run->schedule;
    }
    putc('\n', stream);
}

/* Where a third kernel is to blame, the first line points at neither access. */
static void print_finding(FILE *to, const gd_emulator_finding *finding)
{
    gd_page page;
    FILE *stream = gd_page_begin(&page, to);
    const gd_emulator_access *shown = leading(finding);
    const gd_emulator_access *other = shown == &finding->first ? &finding->second : &finding->first;
    const bool third = finding->culprit.is_there;
    char *position = position_of(shown), *elsewhere = position_of(other);
    if (!third)
        print_words(stream, "", position, ": ");
    print_words(stream, "", finding->kind, ": ");
    print_words(stream, "", finding->text, "");
    putc('\n', stream);
    if (!third)
        print_quote(stream, shown);
    print_access(stream, shown, third ? position : "");
    if (third)
        print_quote(stream, shown);
    print_access(stream, other, elsewhere);
    print_quote(stream, other);
    print_memory(stream, &finding->memory);
    print_words(stream, "  missing: ", finding->missing, "\n");
    print_runs(stream, finding);
    gd_page_end(&page);
    free(elsewhere);
    free(position);
}

void gd_racelist_print(FILE *stream, const gd_racelist *list)
{
    for (size_t i = 0; i < list->count; i++)
        print_finding(stream, &list->findings[i]);
}

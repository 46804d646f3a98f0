/* Folding and printing what the emulated driver found. */
#include "cli/show/racelist.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/quote.h"
#include "run/private.h"

static const char *const sides[] = {"first", "second"};

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static uint64_t number_of(const json_t *object, const char *key)
{
    json_int_t value = json_integer_value(json_object_get(object, key));
    return value > 0 ? (uint64_t)value : 0;
}

/* ---- the chain's names ---- */

/* The buffer that begins at an address; its count where none does. */
static uint32_t find_buffer(const gd_race_chain *chain, uint64_t address)
{
    uint32_t count = chain->plan != NULL ? chain->plan->buffer_count : 0;
    for (uint32_t i = 0; i < count; i++)
        if (address != 0 && chain->addresses[i] == address)
            return i;
    return count;
}

/* Each run of the chain counts its kernels on from the one before it. */
const gd_plan_launch *gd_racelist_find_launch(const gd_race_chain *chain, uint64_t launch,
                                              uint32_t *index)
{
    if (chain->plan == NULL || launch == 0)
        return NULL;
    const gd_plan *plan = chain->plan;
    uint32_t kernels = 0;
    for (uint32_t i = 0; i < plan->launch_count; i++)
        kernels += gd_plan_is_kernel(&plan->launches[i]);
    uint64_t left = kernels > 0 ? (launch - 1) % kernels : 0;
    for (*index = 0; *index < plan->launch_count; ++*index)
        if (gd_plan_is_kernel(&plan->launches[*index]) && left-- == 0)
            return &plan->launches[*index];
    return NULL;
}

/* Replaces "allocation 0x..." by "buffer NAME" at *at. */
static char *replace_allocation(const gd_race_chain *chain, const char **at)
{
    static const char word[] = "allocation 0x";
    char *end = NULL;
    if (strncmp(*at, word, strlen(word)) != 0)
        return NULL;
    uint64_t address = strtoull(*at + strlen("allocation "), &end, 16);
    uint32_t buffer = find_buffer(chain, address);
    if (chain->plan == NULL || buffer == chain->plan->buffer_count)
        return NULL;
    *at = end;
    return gd_heap_format("buffer %s", chain->plan->buffers[buffer].name);
}

/* Replaces "launch N" of the process by the launch in the chain. */
static char *replace_launch(const gd_race_chain *chain, const char **at)
{
    static const char word[] = "launch ";
    uint32_t index = 0;
    char *end = NULL;
    if (strncmp(*at, word, strlen(word)) != 0 || !isdigit((unsigned char)(*at)[strlen(word)]))
        return NULL;
    uint64_t launch = strtoull(*at + strlen(word), &end, 10);
    if (gd_racelist_find_launch(chain, launch, &index) == NULL)
        return NULL;
    *at = end;
    return gd_plan_launch_text(chain->plan, index);
}

/* Replaces "kernel NAME (launch N)" likewise: the launch's name says which kernel it is, or the
 * access does. */
static char *replace_kernel(const gd_race_chain *chain, const char **at)
{
    static const char word[] = "kernel ";
    const char *from = *at;
    if (strncmp(from, word, strlen(word)) != 0)
        return NULL;
    from += strlen(word);
    from += strcspn(from, " ");
    if (strncmp(from, " (", 2) != 0)
        return NULL;
    from += 2;
    char *text = replace_launch(chain, &from);
    if (text == NULL || *from != ')') {
        free(text);
        return NULL;
    }
    *at = from + 1;
    return text;
}

/* A text of the report in the words of the chain. To free. */
char *gd_racelist_translate(const gd_race_chain *chain, const char *text)
{
    char *result = gd_heap_string("");
    for (const char *at = text; *at != '\0';) {
        bool begins_word = at == text || !isalnum((unsigned char)at[-1]);
        char *part = begins_word ? replace_allocation(chain, &at) : NULL;
        if (part == NULL && begins_word)
            part = replace_kernel(chain, &at);
        if (part == NULL && begins_word)
            part = replace_launch(chain, &at);
        if (part == NULL)
            part = gd_heap_format("%c", *at++);
        char *longer = gd_heap_format("%s%s", result, part);
        free(part);
        free(result);
        result = longer;
    }
    return result;
}

static void translate_text(const gd_race_chain *chain, json_t *finding, const char *key)
{
    char *text = gd_racelist_translate(chain, text_of(finding, key));
    gd_output_set(finding, key, text[0] != '\0' ? gd_output_string(text) : json_null());
    free(text);
}

/* Whether the line holds the instruction that the report names: a text that was rewritten on its
 * way does not. */
static bool is_line_of(const char *line, size_t length, const char *instruction)
{
    size_t word = strcspn(instruction, " \t;");
    return instruction[0] == '\0' || memmem(line, length, instruction, word) != NULL;
}

/* The instruction's line in its file, or what the report says of it. To free; "" where nothing is
 * known. */
static char *quote_access(const gd_modulefile *module, const json_t *access)
{
    uint32_t line = (uint32_t)number_of(access, "line"),
             column = (uint32_t)number_of(access, "column");
    const char *instruction = text_of(access, "instruction");
    size_t length = 0;
    const char *text = module != NULL ? module->text : NULL;
    const char *found = text != NULL ? gd_quote_find(text, module->bytes, line, &length) : NULL;
    if (found != NULL && is_line_of(found, length, instruction))
        return gd_quote_line(text, module->bytes, line, column);
    if (module != NULL && module->made != NULL) /* the line is the PTX's */
        return gd_heap_string("");
    return instruction[0] != '\0' ? gd_heap_format("%4u | %s\n", (unsigned)line, instruction)
                                  : gd_heap_string("");
}

/* A kernel that was refused has no launch of the process: the first one in the chain. */
static const gd_plan_launch *find_kernel(const gd_race_chain *chain, const char *kernel,
                                         uint32_t *index)
{
    uint32_t count = chain->plan != NULL ? chain->plan->launch_count : 0;
    for (*index = 0; *index < count; ++*index)
        if (strcmp(chain->plan->launches[*index].kernel, kernel) == 0)
            return &chain->plan->launches[*index];
    return NULL;
}

static void translate_access(const gd_race_chain *chain, json_t *access)
{
    uint32_t index = 0;
    if (!json_is_object(access))
        return;
    uint64_t number = number_of(access, "launch");
    const gd_plan_launch *launch = number > 0
                                       ? gd_racelist_find_launch(chain, number, &index)
                                       : find_kernel(chain, text_of(access, "kernel"), &index);
    const gd_modulefile *module = launch != NULL ? gd_modulefile_of(chain->modules, launch) : NULL;
    char *quote = quote_access(module, access);
    if (module != NULL && module->made != NULL && module->ptx != NULL) {
        gd_output_set(
            access, "line",
            json_integer(gd_ptx_source_line(module->ptx, (uint32_t)number_of(access, "line"))));
        gd_output_set(access, "column", json_integer(0));
    }
    bool has_line = number_of(access, "line") > 0;
    if (launch != NULL)
        gd_output_set(access, "kernel", gd_output_string(launch->kernel));
    gd_output_set(access, "chain_launch", launch != NULL ? json_integer(index) : json_null());
    gd_output_set(access, "name",
                  launch != NULL && launch->name != NULL ? gd_output_string(launch->name)
                                                         : json_null());
    gd_output_set(access, "file",
                  module != NULL && has_line ? gd_output_string(module->name) : json_null());
    gd_output_set(access, "quote", quote[0] != '\0' ? gd_output_string(quote) : json_null());
    free(quote);
}

static void translate_memory(const gd_race_chain *chain, json_t *memory)
{
    if (!json_is_object(memory))
        return;
    uint32_t buffer = find_buffer(chain, strtoull(text_of(memory, "start"), NULL, 16));
    bool known = chain->plan != NULL && buffer < chain->plan->buffer_count;
    gd_output_set(memory, "buffer",
                  known ? gd_output_string(chain->plan->buffers[buffer].name) : json_null());
    if (known)
        gd_output_set(memory, "element",
                      json_integer((json_int_t)(number_of(memory, "offset") /
                                                gd_type_bytes(chain->plan->buffers[buffer].type))));
}

static void translate_finding(const gd_race_chain *chain, json_t *finding)
{
    translate_text(chain, finding, "text");
    translate_text(chain, finding, "missing");
    for (size_t i = 0; i < 2; i++)
        translate_access(chain, json_object_get(finding, sides[i]));
    translate_access(chain, json_object_get(finding, "culprit"));
    translate_memory(chain, json_object_get(finding, "memory"));
    json_object_del(finding, "finding");
}

/* ---- folding ---- */

static bool is_same_access(const json_t *a, const json_t *b)
{
    if (!json_is_object(a) || !json_is_object(b))
        return !json_is_object(a) && !json_is_object(b);
    bool known = strcmp(text_of(a, "file"), text_of(b, "file")) == 0;
    return known &&
           (text_of(a, "file")[0] != '\0' || number_of(a, "module") == number_of(b, "module")) &&
           number_of(a, "line") == number_of(b, "line") &&
           number_of(a, "column") == number_of(b, "column") &&
           strcmp(text_of(a, "kernel"), text_of(b, "kernel")) == 0 &&
           strcmp(text_of(a, "action"), text_of(b, "action")) == 0;
}

/* Which of two accesses comes first depends on the schedule. */
static bool is_same(const json_t *a, const json_t *b)
{
    const json_t *a1 = json_object_get(a, "first"), *a2 = json_object_get(a, "second");
    const json_t *b1 = json_object_get(b, "first"), *b2 = json_object_get(b, "second");
    if (strcmp(text_of(a, "kind"), text_of(b, "kind")) != 0)
        return false;
    if (!json_is_object(a1) && !json_is_object(a2))
        return !json_is_object(b1) && !json_is_object(b2) &&
               strcmp(text_of(a, "text"), text_of(b, "text")) == 0;
    return (is_same_access(a1, b1) && is_same_access(a2, b2)) ||
           (is_same_access(a1, b2) && is_same_access(a2, b1));
}

static json_t *find_same(const gd_racelist *list, const json_t *finding)
{
    for (size_t i = 0; i < json_array_size(list->findings); i++)
        if (is_same(json_array_get(list->findings, i), finding))
            return json_array_get(list->findings, i);
    return NULL;
}

/* A run is noted once, however often it met the finding. */
static void note_run(json_t *finding, uint64_t times, const char *schedule, const char *mode)
{
    json_t *runs = json_object_get(finding, "runs");
    json_t *last = json_array_get(runs, json_array_size(runs) - 1);
    if (last != NULL && strcmp(text_of(last, "schedule"), schedule) == 0 &&
        strcmp(text_of(last, "mode"), mode != NULL ? mode : "") == 0) {
        gd_output_set(last, "times", json_integer((json_int_t)(number_of(last, "times") + times)));
        return;
    }
    json_t *run = json_object();
    gd_output_set(run, "schedule", gd_output_string(schedule));
    gd_output_set(run, "mode", gd_output_string(mode));
    gd_output_set(run, "times", json_integer((json_int_t)times));
    gd_output_append(runs, run);
}

/* ---- whose mistake it is ---- */

static bool is_same_launch(const json_t *a, const json_t *b)
{
    const bool chain = json_is_integer(json_object_get(a, "chain_launch")) &&
                       json_is_integer(json_object_get(b, "chain_launch"));
    const char *number = chain ? "chain_launch" : "launch";
    return number_of(a, number) == number_of(b, number) &&
           strcmp(text_of(a, "kernel"), text_of(b, "kernel")) == 0;
}

/* Whether a finding follows from the mistake of a kernel of which another one tells itself. */
static bool follows(const gd_racelist *list, const json_t *finding)
{
    const json_t *culprit = json_object_get(finding, "culprit");
    bool found = false;
    for (size_t i = 0; i < json_array_size(list->findings) && !found; i++) {
        const json_t *other = json_array_get(list->findings, i);
        if (json_is_object(json_object_get(other, "culprit")) ||
            strcmp(text_of(other, "kind"), text_of(finding, "kind")) != 0)
            continue;
        for (size_t k = 0; k < 2 && !found; k++)
            found = is_same_launch(json_object_get(other, sides[k]), culprit);
    }
    return found;
}

/* What follows from another finding is left out, and what a third kernel is to blame for comes
 * last. */
static void settle(gd_racelist *list)
{
    json_t *kept = json_array(), *behind = json_array();
    for (size_t i = 0; i < json_array_size(list->findings); i++) {
        json_t *finding = json_array_get(list->findings, i);
        if (!json_is_object(json_object_get(finding, "culprit")))
            gd_output_append(kept, json_incref(finding));
        else if (!follows(list, finding))
            gd_output_append(behind, json_incref(finding));
    }
    for (size_t i = 0; i < json_array_size(behind); i++)
        gd_output_append(kept, json_incref(json_array_get(behind, i)));
    json_decref(behind);
    json_decref(list->findings);
    list->findings = kept;
}

gd_racelist gd_racelist_begin(void)
{
    return (gd_racelist){.findings = json_array()};
}

void gd_racelist_free(gd_racelist *list)
{
    json_decref(list->findings);
    list->findings = NULL;
}

void gd_racelist_add(gd_racelist *list, const gd_emulator_report *report,
                     const gd_race_chain *chain, const char *schedule, const char *mode)
{
    for (size_t i = 0; i < json_array_size(report->findings); i++) {
        json_t *finding = json_deep_copy(json_array_get(report->findings, i));
        uint64_t times = number_of(finding, "times");
        translate_finding(chain, finding);
        json_t *known = find_same(list, finding);
        if (known == NULL) {
            gd_output_set(finding, "times", json_integer((json_int_t)times));
            gd_output_set(finding, "runs", json_array());
            gd_output_append(list->findings, json_incref(finding));
            known = finding;
        } else {
            gd_output_set(known, "times",
                          json_integer((json_int_t)(number_of(known, "times") + times)));
        }
        note_run(known, times, schedule, mode);
        json_decref(finding);
    }
    settle(list);
}

size_t gd_racelist_count(const gd_racelist *list)
{
    return json_array_size(list->findings);
}

/* ---- text ---- */

/* On one line, whatever the report holds. */
static void print_clean(FILE *stream, const char *text)
{
    char *clean = gd_output_clean(text);
    fputs(clean, stream);
    free(clean);
}

/* The access to point at: of two launches the later one, which is the one that has to wait, else
 * the one that has a line. */
static const json_t *leading(const json_t *finding)
{
    const json_t *first = json_object_get(finding, "first"),
                 *second = json_object_get(finding, "second");
    if (number_of(second, "line") == 0)
        return first;
    bool later =
        number_of(first, "line") > 0 && number_of(first, "launch") > number_of(second, "launch");
    return later ? first : second;
}

/* "late.ptx:25:5", "module 2:25:5" where the file is not known, "" without a line. To free. */
static char *position_of(const json_t *access)
{
    const char *file = text_of(access, "file");
    unsigned line = (unsigned)number_of(access, "line"),
             column = (unsigned)number_of(access, "column");
    if (line == 0)
        return gd_heap_string("");
    char *module = file[0] != '\0'
                       ? gd_heap_string(file)
                       : gd_heap_format("module %u", (unsigned)number_of(access, "module"));
    char *position = column > 0 ? gd_heap_format("%s:%u:%u", module, line, column)
                                : gd_heap_format("%s:%u", module, line);
    free(module);
    return position;
}

static void print_quote(FILE *stream, const json_t *access)
{
    gd_output_put(stream, text_of(access, "quote"));
}

static void print_triple(FILE *stream, const char *name, const json_t *triple)
{
    if (json_array_size(triple) == 3)
        fprintf(stream, ", %s %lld,%lld,%lld", name,
                (long long)json_integer_value(json_array_get(triple, 0)),
                (long long)json_integer_value(json_array_get(triple, 1)),
                (long long)json_integer_value(json_array_get(triple, 2)));
}

/* "  read of 4 bytes by late, launch 1, CTA 0,0,0, thread 5,0,0". */
static void print_access(FILE *stream, const json_t *access, const char *position)
{
    const json_t *chain_launch = json_object_get(access, "chain_launch");
    const char *kernel = text_of(access, "kernel");
    uint64_t bytes = number_of(access, "bytes");
    if (!json_is_object(access))
        return;
    fputs("  ", stream);
    if (position[0] != '\0') {
        print_clean(stream, position);
        fputs(": ", stream);
    }
    if (bytes > 0 || kernel[0] == '\0')
        print_clean(stream,
                    text_of(access, "action")[0] != '\0' ? text_of(access, "action") : "access");
    if (bytes > 0)
        fprintf(stream, " of %llu byte%s", (unsigned long long)bytes, bytes == 1 ? "" : "s");
    if (kernel[0] != '\0') {
        fputs(bytes > 0 ? " by " : "in ", stream);
        print_clean(stream, kernel);
    }
    if (json_is_integer(chain_launch))
        fprintf(stream, ", launch %lld", (long long)json_integer_value(chain_launch));
    if (text_of(access, "name")[0] != '\0') {
        fputs(" (", stream);
        print_clean(stream, text_of(access, "name"));
        fputs(")", stream);
    }
    if (!json_is_integer(chain_launch) && number_of(access, "launch") > 0)
        fprintf(stream, ", launch %llu", (unsigned long long)number_of(access, "launch"));
    if (kernel[0] != '\0' && number_of(access, "launch") > 0) {
        print_triple(stream, "CTA", json_object_get(access, "cta"));
        print_triple(stream, "thread", json_object_get(access, "thread"));
    }
    putc('\n', stream);
}

static void print_memory(FILE *stream, const json_t *memory)
{
    const char *buffer = text_of(memory, "buffer"), *name = text_of(memory, "name");
    if (!json_is_object(memory))
        return;
    fputs("  in ", stream);
    if (buffer[0] != '\0' || name[0] != '\0') {
        fputs(buffer[0] != '\0' ? "buffer " : "variable ", stream);
        print_clean(stream, buffer[0] != '\0' ? buffer : name);
    } else if (strcmp(text_of(memory, "space"), "shared") == 0) {
        fputs("shared memory", stream);
    } else {
        fputs("allocation ", stream);
        print_clean(stream, text_of(memory, "start"));
    }
    fprintf(stream, ", byte %llu of %llu", (unsigned long long)number_of(memory, "offset"),
            (unsigned long long)number_of(memory, "bytes"));
    if (json_is_integer(json_object_get(memory, "element")))
        fprintf(stream, ", element %llu", (unsigned long long)number_of(memory, "element"));
    putc('\n', stream);
}

/* "  seen 17 times: eager (pdl, graph-pdl), random:1 (pdl)"; the runs come schedule by schedule. */
static void print_runs(FILE *stream, const json_t *finding)
{
    const json_t *runs = json_object_get(finding, "runs");
    uint64_t times = number_of(finding, "times");
    const char *before = NULL;
    fprintf(stream, "  seen %llu time%s: ", (unsigned long long)times, times == 1 ? "" : "s");
    for (size_t i = 0; i < json_array_size(runs); i++) {
        const json_t *run = json_array_get(runs, i);
        const char *schedule = text_of(run, "schedule"), *mode = text_of(run, "mode");
        bool same = before != NULL && strcmp(before, schedule) == 0;
        bool goes_on = strcmp(text_of(json_array_get(runs, i + 1), "schedule"), schedule) == 0;
        fputs(i == 0 ? "" : ", ", stream);
        if (!same)
            print_clean(stream, schedule);
        if (!same && mode[0] != '\0')
            fputs(" (", stream);
        fprintf(stream, "%s%s", mode, mode[0] != '\0' && !goes_on ? ")" : "");
        before = schedule;
    }
    putc('\n', stream);
}

/* Where a third kernel is to blame, the first line points at neither access. */
static void print_finding(FILE *to, const json_t *finding)
{
    gd_page page;
    FILE *stream = gd_page_begin(&page, to);
    const json_t *shown = leading(finding), *first = json_object_get(finding, "first");
    const json_t *other = shown == first ? json_object_get(finding, "second") : first;
    const bool third = json_is_object(json_object_get(finding, "culprit"));
    char *position = position_of(shown), *elsewhere = position_of(other);
    const char *missing = text_of(finding, "missing");
    if (!third && position[0] != '\0') {
        print_clean(stream, position);
        fputs(": ", stream);
    }
    print_clean(stream, text_of(finding, "kind"));
    fputs(": ", stream);
    print_clean(stream, text_of(finding, "text"));
    putc('\n', stream);
    if (!third)
        print_quote(stream, shown);
    print_access(stream, shown, third ? position : "");
    if (third)
        print_quote(stream, shown);
    print_access(stream, other, elsewhere);
    print_quote(stream, other);
    print_memory(stream, json_object_get(finding, "memory"));
    if (missing[0] != '\0') {
        fputs("  missing: ", stream);
        print_clean(stream, missing);
        putc('\n', stream);
    }
    print_runs(stream, finding);
    gd_page_end(&page);
    free(elsewhere);
    free(position);
}

void gd_racelist_print(FILE *stream, const gd_racelist *list)
{
    for (size_t i = 0; i < json_array_size(list->findings); i++)
        print_finding(stream, json_array_get(list->findings, i));
}

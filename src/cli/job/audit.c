/* Kernels of all processes, once each; what followed what; and what comes of both by the library's
 * own decision about early starts. */
#include "cli/job/audit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "base/statistics.h"
#include "griddep.h"
#include "run/private.h"

#include "cli/io/heap.h"
#include "cli/io/output.h"
#include "cli/job/attachedcode.h"
#include "cli/show/finding.h"
#include "cli/show/place.h"

enum { LONGEST_TOLD = 90 };

typedef struct audited_kernel {
    const char *name;
    char *module, *plain;      /* to free; plain: as people write it */
    char *told;                /* that, shortened: templates have names of pages */
    gd_kernel_code code, text; /* text: its PTX, also where a driver takes machine code */
    bool touches_early;        /* memory before its wait, by its PTX or its machine code */
    bool ordered;              /* threads that leave before the wait do no harm, likewise */
    char target[24];
    gd_attached_counts sum;               /* counters */
    uint64_t launches, early;             /* in streams; of these: with attribute 6 */
    uint64_t graph_launches, graph_early; /* by graphs that were launched */
    uint64_t early_behind; /* launches with attribute 6, and programmatic edges, behind a kernel */
    uint64_t late_behind;  /* launches without, directly behind a kernel */
    gd_attached_shape shape;
    uint64_t timed;       /* launches */
    double total_us, *us; /* of all, and some of them; to free */
    size_t us_count;
    const gd_attached_file *file;      /* of the first process that has it */
    uint32_t first_plain, first_early; /* places */
} audited_kernel;

/* Two kernels, by their places in the list. */
typedef struct audited_pair {
    uint32_t first, second;
    uint32_t between, early, type;
    uint64_t count, runs; /* an edge that is counted once runs as often as its graph */
    uint64_t timed;
    double between_us; /* of those that were timed */
    bool is_edge;
    char *race;   /* what the check says of the second beside the first; NULL: nothing. To free */
    bool certain; /* that it is one */
} audited_pair;

/* A parameter of the second kernel that was given what one of the first was. */
typedef struct audited_shared {
    uint32_t first, second, first_parameter, second_parameter;
} audited_shared;

/* One kernel behind another in a stream, as CUPTI saw them. */
typedef struct audited_follow {
    uint32_t first, second;
    bool is_edge; /* in a graph */
    uint64_t count;
    double between_us;
} audited_follow;

typedef struct auditing {
    audited_kernel *kernels;
    uint32_t kernel_count;
    audited_pair *pairs;
    uint32_t pair_count;
    audited_shared *shared;
    size_t shared_count;
    audited_follow *follows;
    size_t follow_count;
    gd_place_files files;
    json_t *findings;
    uint64_t could, early; /* launches, as gd_audit has them */
    json_t *gaps;          /* as gd_audit has them, like the next one */
    double gap_us;
} auditing;

/* ---- kernels ---- */

static char *module_name(const gd_attached_module *module)
{
    if (module == NULL || module->path[0] == '\0')
        return gd_heap_string("-");
    const char *slash = strrchr(module->path, '/');
    return gd_heap_string(slash != NULL ? slash + 1 : "memory");
}

static bool is_same(const audited_kernel *a, const audited_kernel *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->module, b->module) == 0 &&
           a->code.source == b->code.source && a->code.traits == b->code.traits &&
           strcmp(a->target, b->target) == 0;
}

static void add_counts(gd_attached_counts *into, const gd_attached_counts *from)
{
    into->captured += from->captured;
    into->trigger_events += from->trigger_events;
    into->begin_events += from->begin_events;
    into->cooperative += from->cooperative;
    into->changed += from->changed;
    into->left += from->left;
}

static void read_order(audited_kernel *kernel)
{
    const uint32_t traits = kernel->code.traits;
    if (!(traits & GRIDDEP_TRAIT_WAITS))
        return;
    gd_ptx_early(traits, kernel->text.ptx, kernel->name, &kernel->touches_early, &kernel->ordered);
    if (traits & GRIDDEP_TRAIT_OPEN && kernel->text.traits & GRIDDEP_TRAIT_WAITS)
        kernel->code.traits = (traits & ~(uint32_t)GRIDDEP_TRAIT_OPEN) | /* PTX can be followed */
                              (kernel->text.traits & GRIDDEP_TRAIT_WAITS_ALWAYS);
}

/* Its place in the list. */
static uint32_t add_kernel(auditing *all, const gd_attached_file *file,
                           const gd_attached_kernel *kernel)
{
    const gd_attached_module *module = gd_attached_get(file, GD_ATTACHED_MODULE, kernel->module);
    audited_kernel made = {.name = kernel->name,
                           .module = module_name(module),
                           .shape = kernel->shape,
                           .file = file,
                           .first_plain = kernel->first_plain,
                           .first_early = kernel->first_early};
    if (module != NULL) {
        gd_attached_image *image = &file->images[kernel->module];
        made.code = gd_attachedcode_find(image, kernel->name, kernel->binary);
        made.text = gd_attachedcode_find_text(image, kernel->name, kernel->binary);
    }
    if (made.code.target[0] != '\0')
        strcpy(made.target, made.code.target);
    else if (kernel->binary > 0)
        snprintf(made.target, sizeof(made.target), "sm_%u", kernel->binary);
    uint32_t at = 0;
    while (at < all->kernel_count && !is_same(&all->kernels[at], &made))
        at++;
    if (at < all->kernel_count) {
        free(made.module);
    } else {
        made.plain = gd_place_demangle(kernel->name);
        made.told = gd_place_shorten(made.plain, LONGEST_TOLD);
        read_order(&made);
        all->kernels = gd_heap_grow(all->kernels, at, at + 1, sizeof(made));
        all->kernels[all->kernel_count++] = made;
    }
    add_counts(&all->kernels[at].sum, &kernel->counts);
    return at;
}

/* ---- what follows what ---- */

static void add_pair(auditing *all, const audited_pair *pair)
{
    for (uint32_t i = 0; i < all->pair_count; i++) {
        audited_pair *each = &all->pairs[i];
        if (each->first == pair->first && each->second == pair->second &&
            each->between == pair->between && each->early == pair->early &&
            each->type == pair->type && each->is_edge == pair->is_edge) {
            each->count += pair->count;
            each->runs += pair->runs;
            each->timed += pair->timed;
            each->between_us += pair->between_us;
            return;
        }
    }
    all->pairs = gd_heap_grow(all->pairs, all->pair_count, all->pair_count + 1, sizeof(*pair));
    all->pairs[all->pair_count++] = *pair;
}

static void add_pairs(auditing *all, const gd_attached_file *file, const uint32_t *places)
{
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_PAIR]; i++) {
        const gd_attached_pair *pair = gd_attached_get(file, GD_ATTACHED_PAIR, i);
        if (pair->second >= file->counts[GD_ATTACHED_KERNEL])
            continue;
        all->kernels[places[pair->second]].launches += pair->count;
        all->kernels[places[pair->second]].early += pair->early != 0 ? pair->count : 0;
        if (pair->first >= file->counts[GD_ATTACHED_KERNEL])
            continue;
        add_pair(all, &(audited_pair){.first = places[pair->first],
                                      .second = places[pair->second],
                                      .between = pair->between,
                                      .early = pair->early,
                                      .count = pair->count,
                                      .runs = pair->count,
                                      .timed = pair->timed,
                                      .between_us = pair->between_us});
    }
}

static void add_graphs(auditing *all, const gd_attached_file *file, const uint32_t *places)
{
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_NODE]; i++) {
        const gd_attached_node *node = gd_attached_get(file, GD_ATTACHED_NODE, i);
        const gd_attached_graph *graph = gd_attached_get(file, GD_ATTACHED_GRAPH, node->graph);
        if (graph != NULL && node->kernel < file->counts[GD_ATTACHED_KERNEL]) {
            all->kernels[places[node->kernel]].graph_launches += node->count * graph->launches;
            all->kernels[places[node->kernel]].graph_early += node->early * graph->launches;
        }
    }
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_EDGE]; i++) {
        const gd_attached_edge *edge = gd_attached_get(file, GD_ATTACHED_EDGE, i);
        const gd_attached_graph *graph = gd_attached_get(file, GD_ATTACHED_GRAPH, edge->graph);
        if (edge->first >= file->counts[GD_ATTACHED_KERNEL] ||
            edge->second >= file->counts[GD_ATTACHED_KERNEL])
            continue;
        add_pair(all, &(audited_pair){.first = places[edge->first],
                                      .second = places[edge->second],
                                      .between = edge->between,
                                      .early = edge->type != 0 || edge->port != 0,
                                      .type = edge->type,
                                      .count = edge->count,
                                      .runs = graph != NULL ? edge->count * graph->launches : 0,
                                      .is_edge = true});
    }
}

static void add_shared(auditing *all, const gd_attached_file *file, const uint32_t *places)
{
    uint32_t kernels = file->counts[GD_ATTACHED_KERNEL];
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_SHARED]; i++) {
        const gd_attached_shared *shared = gd_attached_get(file, GD_ATTACHED_SHARED, i);
        if (shared->first >= kernels || shared->second >= kernels)
            continue;
        all->shared = gd_heap_grow(all->shared, all->shared_count, all->shared_count + 1,
                                   sizeof(*all->shared));
        all->shared[all->shared_count++] =
            (audited_shared){places[shared->first], places[shared->second], shared->first_parameter,
                             shared->second_parameter};
    }
}

static void add_times(auditing *all, const gd_attached_file *file, const uint32_t *places)
{
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_TIMES]; i++) {
        const gd_attached_times *times = gd_attached_get(file, GD_ATTACHED_TIMES, i);
        if (times->kernel >= file->counts[GD_ATTACHED_KERNEL] || times->kept > GD_ATTACHED_SAMPLES)
            continue;
        audited_kernel *kernel = &all->kernels[places[times->kernel]];
        kernel->timed += times->count;
        kernel->total_us += times->total_us;
        kernel->us = gd_heap_grow(kernel->us, kernel->us_count, kernel->us_count + times->kept,
                                  sizeof(*kernel->us));
        for (uint32_t j = 0; j < times->kept; j++)
            kernel->us[kernel->us_count++] = (double)times->us[j];
    }
}

/* ---- times by CUPTI ---- */

typedef struct audited_span {
    uint32_t lane, kernel;
    bool graph;
    uint64_t begin, end; /* nanoseconds */
} audited_span;

static int compare_spans(const void *a, const void *b)
{
    const audited_span *first = a, *second = b;
    if (first->lane != second->lane)
        return (first->lane > second->lane) - (first->lane < second->lane);
    return (first->begin > second->begin) - (first->begin < second->begin);
}

/* Its kernel's place in the list; UINT32_MAX: nobody saw it launched. */
static uint32_t kernel_of_span(const gd_attached_file *file, const gd_attached_span *span,
                               const uint32_t *places)
{
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_KERNEL]; i++) {
        const gd_attached_kernel *kernel = gd_attached_get(file, GD_ATTACHED_KERNEL, i);
        if (strcmp(kernel->name, span->kernel) == 0)
            return places[i];
    }
    return UINT32_MAX;
}

static void add_follow(auditing *all, const audited_span *first, const audited_span *second)
{
    size_t at = 0;
    while (at < all->follow_count &&
           (all->follows[at].first != first->kernel || all->follows[at].second != second->kernel ||
            all->follows[at].is_edge != second->graph))
        at++;
    if (at == all->follow_count) {
        all->follows = gd_heap_grow(all->follows, at, at + 1, sizeof(*all->follows));
        all->follows[all->follow_count++] = (audited_follow){
            .first = first->kernel, .second = second->kernel, .is_edge = second->graph};
    }
    all->follows[at].count++;
    if (second->begin > first->end)
        all->follows[at].between_us += 1e-3 * (double)(second->begin - first->end);
}

static void add_spans(auditing *all, const gd_attached_file *file, const uint32_t *places)
{
    uint32_t all_count = file->counts[GD_ATTACHED_SPAN], count = 0;
    audited_span *spans = gd_heap_take(all_count, sizeof(*spans));
    for (uint32_t i = 0; i < all_count; i++) {
        const gd_attached_span *span = gd_attached_get(file, GD_ATTACHED_SPAN, i);
        uint32_t kernel = kernel_of_span(file, span, places);
        if (kernel == UINT32_MAX || span->end < span->begin)
            continue;
        spans[count++] =
            (audited_span){span->lane, kernel, span->graph != 0, span->begin, span->end};
    }
    qsort(spans, count, sizeof(*spans), compare_spans);
    for (uint32_t i = 0; i < count; i++) {
        audited_kernel *kernel = &all->kernels[spans[i].kernel];
        double us = 1e-3 * (double)(spans[i].end - spans[i].begin);
        kernel->us =
            gd_heap_grow(kernel->us, kernel->us_count, kernel->us_count + 1, sizeof(*kernel->us));
        kernel->us[kernel->us_count++] = us;
        kernel->timed++;
        kernel->total_us += us;
        if (i > 0 && spans[i - 1].lane == spans[i].lane && spans[i - 1].graph == spans[i].graph)
            add_follow(all, &spans[i - 1], &spans[i]);
    }
    free(spans);
}

/* CUPTI does not tell what stood between two kernels: where they follow each other in several ways,
 * each way has its part of the time. */
static void share_follow(auditing *all, const audited_follow *follow)
{
    uint64_t runs = 0;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < all->pair_count; i++) {
            audited_pair *pair = &all->pairs[i];
            if (pair->first != follow->first || pair->second != follow->second ||
                pair->is_edge != follow->is_edge)
                continue;
            if (round == 0) {
                runs += pair->runs;
                continue;
            }
            double part = runs > 0 ? (double)pair->runs / (double)runs : 0;
            pair->timed += (uint64_t)(part * (double)follow->count + 0.5);
            pair->between_us += part * follow->between_us;
        }
    }
}

static void add_file(auditing *all, const gd_attached_file *file)
{
    uint32_t count = file->counts[GD_ATTACHED_KERNEL];
    uint32_t *places = gd_heap_take(count, sizeof(*places));
    for (uint32_t i = 0; i < count; i++)
        places[i] = add_kernel(all, file, gd_attached_get(file, GD_ATTACHED_KERNEL, i));
    add_pairs(all, file, places);
    add_graphs(all, file, places);
    add_shared(all, file, places);
    add_times(all, file, places);
    add_spans(all, file, places);
    free(places);
}

/* ---- findings ---- */

/* Lines that CPython writes: File "step.py", line 3 in step. Others are passed over. */
static void add_script(json_t *frames, const char *text)
{
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at != '\0') {
        int name = 0, name_end = 0, function = 0, end = 0;
        long long line = 0;
        if (sscanf(at, " File \"%n%*[^\"\n]%n\", line %lld in %n%*[^\n]%n", &name, &name_end, &line,
                   &function, &end) < 1 ||
            end == 0)
            continue;
        char *path = gd_heap_format("%.*s", name_end - name, at + name);
        char *in = gd_heap_format("%.*s", end - function, at + function);
        gd_output_append(frames,
                         GD_OBJECT({"function", gd_output_string(in)}, {"offset", json_null()},
                                   {"line", json_integer(line)}, {"file", gd_output_string(path)}));
        free(path);
        free(in);
    }
}

static json_t *place_of(auditing *all, const gd_attached_file *file, uint32_t number)
{
    const gd_attached_place *place = gd_attached_get(file, GD_ATTACHED_PLACE, number);
    json_t *frames = json_array();
    for (uint32_t i = 0; place != NULL && i < place->count; i++) {
        for (uint32_t j = 0; j < file->counts[GD_ATTACHED_OBJECT]; j++) {
            const gd_attached_object *object = gd_attached_get(file, GD_ATTACHED_OBJECT, j);
            uint64_t address = place->addresses[i];
            if (address < object->begin || address >= object->end)
                continue;
            gd_output_append(frames,
                             gd_place_json(&all->files, object->path, address - object->bias));
            break;
        }
    }
    if (place != NULL)
        add_script(frames, (const char *)&place->addresses[place->count]);
    return frames;
}

/* first: NULL where a finding is about one kernel. The text is freed. */
static void find(auditing *all, const char *code, const audited_kernel *kernel,
                 const audited_kernel *first, int32_t reason, uint64_t count, char *text)
{
    griddep_code_info info = {.size = sizeof(info)};
    uint32_t index = 0;
    griddep_code_find(code, &index, NULL);
    griddep_code_get(index, &info, NULL);
    bool is_plain = reason == GRIDDEP_REASON_OFF || kernel->first_early == GD_ATTACHED_NONE;
    uint32_t place = is_plain ? kernel->first_plain : kernel->first_early;
    gd_output_append(
        all->findings,
        GD_OBJECT({"code", gd_output_string(code)},
                  {"severity", gd_output_string(gd_finding_severity_name(info.severity))},
                  {"text", gd_output_string(text)}, {"kernel", gd_output_string(kernel->plain)},
                  {"before", gd_output_string(first != NULL ? first->plain : NULL)},
                  {"reason", gd_output_string(griddep_text(GRIDDEP_TEXT_REASON, reason))},
                  {"count", json_integer((json_int_t)count)},
                  {"place", place_of(all, kernel->file, place)}));
    free(text);
}

/* "a copy and an event's record". To free. */
static char *name_between(uint32_t between)
{
    static const struct {
        uint32_t bit;
        const char *name;
    } names[] = {{GD_ATTACHED_COPY, "a copy"},
                 {GD_ATTACHED_FILL, "a memset"},
                 {GD_ATTACHED_HOST, "a host function"},
                 {GD_ATTACHED_RECORD, "an event's record"},
                 {GD_ATTACHED_WAIT, "a wait for an event"},
                 {GD_ATTACHED_MEMORY, "an allocation or a free in stream order"},
                 {GD_ATTACHED_GRAPH_RUN, "a graph"},
                 {GD_ATTACHED_OTHER, "other work"},
                 {GD_ATTACHED_DEFAULT_STREAM, "work in the default stream"}};
    char *text = gd_heap_string("");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if ((between & names[i].bit) == 0)
            continue;
        char *longer =
            gd_heap_format("%s%s%s", text, text[0] != '\0' ? " and " : "", names[i].name);
        free(text);
        text = longer;
    }
    return text;
}

/* The buffer of a parameter: each has its own, but for addresses that both kernels were given. */
static uint32_t buffer_of(const auditing *all, const audited_pair *pair, uint32_t index,
                          uint32_t parameter)
{
    for (size_t i = 0; index == 1 && i < all->shared_count; i++) {
        const audited_shared *each = &all->shared[i];
        if (each->first == pair->first && each->second == pair->second &&
            each->second_parameter == parameter)
            return 1 + each->first_parameter * 2;
    }
    return 1 + parameter * 2 + index;
}

/* Appends a kernel of a pair to a chain. What else arguments point to the program alone knows. */
static int32_t add_launch(const auditing *all, const audited_pair *pair, griddep_chain *chain,
                          uint32_t index)
{
    const audited_kernel *kernel = &all->kernels[index == 0 ? pair->first : pair->second];
    const griddep_launch_config config = {
        .size = sizeof(config), .name = index == 0 ? kernel->told : NULL}; /* none twice */
    griddep_ptx_entry_info entry = {.size = sizeof(entry)};
    int32_t status = griddep_ptx_get_entry(kernel->text.ptx, kernel->text.entry, &entry, NULL);
    if (status == GRIDDEP_OK)
        status = griddep_chain_add_ptx(chain, kernel->text.ptx, kernel->name, &config, NULL,
                                       entry.parameter_count, NULL);
    for (uint32_t i = 0; i < entry.parameter_count && status == GRIDDEP_OK; i++) {
        griddep_parameter_info parameter = {.size = sizeof(parameter)};
        status =
            griddep_ptx_get_parameter(kernel->text.ptx, kernel->text.entry, i, &parameter, NULL);
        const griddep_use use = {.size = sizeof(use), .buffer = buffer_of(all, pair, index, i)};
        if (status == GRIDDEP_OK && parameter.bytes == sizeof(uint64_t))
            status = griddep_chain_set_use(chain, index, i, &use, NULL);
    }
    return status;
}

/* What the check says of the second kernel beside the first one, also where nothing rules it out.
 * To free; NULL: nothing. */
static char *find_race(const auditing *all, const audited_pair *pair, bool *certain)
{
    const audited_kernel *first = &all->kernels[pair->first];
    const audited_kernel *second = &all->kernels[pair->second];
    griddep_chain *chain = NULL;
    griddep_findings *findings = NULL;
    griddep_finding finding = {.size = sizeof(finding)};
    char *race = NULL;
    if (!second->touches_early || first->text.ptx == NULL ||
        griddep_chain_create(NULL, &chain, NULL) != GRIDDEP_OK)
        return NULL;
    if (add_launch(all, pair, chain, 0) == GRIDDEP_OK &&
        add_launch(all, pair, chain, 1) == GRIDDEP_OK)
        griddep_chain_check(chain, &findings, NULL);
    for (uint32_t i = 0; race == NULL && findings != NULL &&
                         griddep_findings_get(findings, i, &finding, NULL) == GRIDDEP_OK;
         i++) {
        if (finding.launch == 1 && finding.severity >= GRIDDEP_SEVERITY_WARNING &&
            (finding.code[2] == '1' || finding.code[2] == '2')) {
            const size_t name = strlen(second->name);
            const bool is_own =
                strncmp(finding.text, second->name, name) == 0 && finding.text[name] == ' ';
            race = gd_heap_format("%s%s (%s)", is_own ? "it" : "", finding.text + is_own * name,
                                  finding.code);
            *certain = finding.severity == GRIDDEP_SEVERITY_ERROR;
        }
    }
    griddep_findings_destroy(findings);
    griddep_chain_destroy(chain);
    return race;
}

static bool waits_in_time(const audited_kernel *kernel)
{
    int32_t reason = gd_early_kernel(kernel->code.traits);
    return reason == GRIDDEP_REASON_SET ||
           (reason == GRIDDEP_REASON_WAIT_NOT_ALWAYS && kernel->ordered && !kernel->touches_early);
}

/* What an early start of the second kernel could save at most. */
static void add_gap(auditing *all, const audited_pair *pair)
{
    all->gap_us += pair->between_us;
    gd_output_append(all->gaps,
                     GD_OBJECT({"before", gd_output_string(all->kernels[pair->first].plain)},
                               {"kernel", gd_output_string(all->kernels[pair->second].plain)},
                               {"count", json_integer((json_int_t)pair->timed)},
                               {"total_us", gd_output_real(pair->between_us)},
                               {"launches", json_integer((json_int_t)pair->runs)}));
}

static void count_behind(auditing *all)
{
    for (uint32_t i = 0; i < all->pair_count; i++) {
        audited_pair *pair = &all->pairs[i];
        audited_kernel *second = &all->kernels[pair->second];
        if (pair->between != 0)
            continue;
        pair->race = find_race(all, pair, &pair->certain);
        const bool hidden = second->touches_early && second->text.ptx == NULL;
        if (pair->race == NULL && !hidden && waits_in_time(second)) {
            all->could += pair->runs;
            all->early += pair->early != 0 ? pair->runs : 0;
            if (pair->early == 0 && pair->timed > 0)
                add_gap(all, pair);
        }
        if ((pair->race != NULL || hidden) && pair->early == 0)
            continue; /* as it should be */
        if (pair->early != 0)
            second->early_behind += pair->runs;
        else if (!pair->is_edge)
            second->late_behind += pair->count;
    }
}

static void judge_kernel(auditing *all, const audited_kernel *kernel)
{
    int32_t reason = gd_early_kernel(kernel->code.traits);
    uint64_t early = kernel->early_behind;
    const char *times = gd_plural(early, "time", "times");
    if (early > 0 && reason == GRIDDEP_REASON_NO_WAIT)
        find(all, "GD401", kernel, NULL, reason, early,
             gd_heap_format("kernel %s may start beside the kernel before it, %llu %s, and never "
                            "waits for it: they race where they share memory",
                            kernel->told, (unsigned long long)early, times));
    else if (early > 0 && reason == GRIDDEP_REASON_WAIT_NOT_ALWAYS && kernel->ordered &&
             !kernel->touches_early)
        find(all, "GD405", kernel, NULL, reason, early,
             gd_heap_format("kernel %s may start beside the kernel before it, %llu %s: some of its "
                            "threads leave before the wait while others wait, so the order holds",
                            kernel->told, (unsigned long long)early, times));
    else if (early > 0 && reason == GRIDDEP_REASON_WAIT_NOT_ALWAYS && !kernel->touches_early)
        find(
            all, "GD407", kernel, NULL, reason, early,
            gd_heap_format("kernel %s may start beside the kernel before it, %llu %s: where all of "
                           "its threads leave before the wait it ends before that kernel does, "
                           "and who waits for it does not wait for both",
                           kernel->told, (unsigned long long)early, times));
    else if (early > 0 && reason == GRIDDEP_REASON_WAIT_NOT_ALWAYS)
        find(all, "GD402", kernel, NULL, reason, early,
             gd_heap_format("kernel %s may start beside the kernel before it, %llu %s, and a path "
                            "through it misses the wait: they race where they share memory",
                            kernel->told, (unsigned long long)early, times));
    else if (early > 0 &&
             (reason == GRIDDEP_REASON_UNKNOWN_CODE || reason == GRIDDEP_REASON_NOT_PROVEN))
        find(all, "GD403", kernel, NULL, reason, early,
             gd_heap_format(
                 "kernel %s may start beside the kernel before it, %llu %s, and %s", kernel->told,
                 (unsigned long long)early, times,
                 reason == GRIDDEP_REASON_NOT_PROVEN
                     ? "it waits; whether on every path cannot be followed in its machine code"
                     : "nobody can tell whether it waits: its code is not known"));
    if (kernel->late_behind > 0 && reason == GRIDDEP_REASON_SET)
        find(all, "GD410", kernel, NULL, GRIDDEP_REASON_OFF, kernel->late_behind,
             gd_heap_format("kernel %s waits on every path, and %llu of its launches after a "
                            "kernel %s no attribute that would let it start early: no overlap",
                            kernel->told, (unsigned long long)kernel->late_behind,
                            gd_plural(kernel->late_behind, "has", "have")));
}

static gd_room_launch room_of(const gd_attached_shape *shape)
{
    return (gd_room_launch){.grid = shape->grid,
                            .threads = shape->threads,
                            .registers = shape->registers,
                            .shared = shape->shared,
                            .carveout = shape->carveout};
}

/* Whether blocks of the second find room beside those of the first, as they were launched first. */
static void judge_room(auditing *all, const audited_pair *pair)
{
    const audited_kernel *first = &all->kernels[pair->first], *second = &all->kernels[pair->second];
    const gd_attached_shape *shape = &second->shape;
    gd_room_launch before = room_of(&first->shape), after = room_of(shape);
    const gd_room_device device = {.multiprocessors = shape->multiprocessors,
                                   .blocks = shape->most_blocks,
                                   .threads = shape->most_threads,
                                   .registers = shape->most_registers,
                                   .shared = shape->most_shared};
    int32_t reason = GRIDDEP_REASON_SET;
    if (device.multiprocessors == 0 || device.blocks == 0 || device.threads == 0 ||
        device.registers == 0 || device.shared == 0 ||
        gd_room_beside(&device, &before, &after, &reason) == GRIDDEP_OVERLAP_FULL)
        return;
    find(all, "GD414", second, first, reason, pair->runs,
         gd_heap_format(
             "kernel %s may start early after kernel %s, %llu %s, and overlaps at its tail "
             "alone: %s",
             second->told, first->told, (unsigned long long)pair->runs,
             gd_plural(pair->runs, "time", "times"), griddep_text(GRIDDEP_TEXT_REASON, reason)));
}

static void judge_pair(auditing *all, const audited_pair *pair)
{
    const audited_kernel *first = &all->kernels[pair->first], *second = &all->kernels[pair->second];
    int32_t reason = gd_early_pair(first->code.traits, second->code.traits);
    uint32_t between = pair->between & ~(uint32_t)GD_ATTACHED_SYNCHRONIZED;
    unsigned long long count = pair->early != 0 ? pair->runs : pair->count;
    if (reason != GRIDDEP_REASON_SET || between != pair->between)
        return;
    if (pair->race != NULL) {
        if (pair->early != 0)
            find(all, pair->certain ? "GD406" : "GD404", second, first, GRIDDEP_REASON_RACE, count,
                 gd_heap_format("kernel %s may start beside kernel %s, %llu %s: %s", second->told,
                                first->told, count, gd_plural(count, "time", "times"), pair->race));
        return;
    }
    char *what = name_between(between);
    if (between != 0 && (pair->early != 0 || pair->is_edge))
        find(all, "GD411", second, first, GRIDDEP_REASON_NODE_BETWEEN, count,
             gd_heap_format("%s between kernels %s and %s%s, %llu %s: they do not overlap", what,
                            first->told, second->told, pair->is_edge ? " of a graph" : "", count,
                            gd_plural(count, "time", "times")));
    else if (pair->is_edge && pair->early == 0)
        find(
            all, "GD412", second, first, GRIDDEP_REASON_PLAIN, count,
            gd_heap_format("%llu %s from kernel %s to kernel %s %s plain, and the second one waits "
                           "on every path: they do not overlap",
                           count, gd_plural(count, "edge of a graph", "edges of graphs"),
                           first->told, second->told, gd_plural(count, "is", "are")));
    else if (pair->early != 0 && (first->code.traits & GRIDDEP_TRAIT_KNOWN) != 0 &&
             (first->code.traits & GRIDDEP_TRAIT_TRIGGERS) == 0)
        find(all, "GD413", second, first, GRIDDEP_REASON_NO_TRIGGER, count,
             gd_heap_format("kernel %s may start early after kernel %s, %llu %s, which never "
                            "triggers: it starts after its last block",
                            second->told, first->told, count, gd_plural(count, "time", "times")));
    else if (pair->early != 0)
        judge_room(all, pair);
    free(what);
}

/* ---- the results ---- */

static json_t *told(bool known, bool value)
{
    return known ? json_boolean(value) : json_null();
}

/* Sorts its times. */
static json_t *kernel_json(auditing *all, const audited_kernel *kernel)
{
    uint32_t traits = kernel->code.traits;
    bool known = (traits & GRIDDEP_TRAIT_KNOWN) != 0,
         followed = known && (traits & GRIDDEP_TRAIT_OPEN) == 0;
    const gd_attached_counts *sum = &kernel->sum;
    uint32_t place =
        kernel->first_plain != GD_ATTACHED_NONE ? kernel->first_plain : kernel->first_early;
    return GD_OBJECT(
        {"kernel", gd_output_string(kernel->plain)}, {"symbol", gd_output_string(kernel->name)},
        {"module", gd_output_string(kernel->module)},
        {"target", gd_output_string(kernel->target[0] != '\0' ? kernel->target : NULL)},
        {"code", gd_output_string(kernel->code.source)},
        {"waits", told(known, (traits & GRIDDEP_TRAIT_WAITS) != 0)},
        {"waits_always", told(followed, (traits & GRIDDEP_TRAIT_WAITS_ALWAYS) != 0)},
        {"triggers", told(known, (traits & GRIDDEP_TRAIT_TRIGGERS) != 0)},
        {"launches", json_integer((json_int_t)(kernel->launches + kernel->graph_launches))},
        {"in_graphs", json_integer((json_int_t)kernel->graph_launches)},
        {"captured", json_integer((json_int_t)sum->captured)},
        {"early", json_integer((json_int_t)(kernel->early + kernel->graph_early))},
        {"trigger_events", json_integer((json_int_t)sum->trigger_events)},
        {"begin_events", json_integer((json_int_t)sum->begin_events)},
        {"cooperative", json_integer((json_int_t)sum->cooperative)},
        {"changed", json_integer((json_int_t)sum->changed)},
        {"left", json_integer((json_int_t)sum->left)},
        {"timed", json_integer((json_int_t)kernel->timed)},
        {"total_us", gd_output_real(kernel->timed > 0 ? kernel->total_us : (double)NAN)},
        {"median_us", gd_output_real(gd_statistics_median(kernel->us, kernel->us_count))},
        {"place", place_of(all, kernel->file, place)});
}

static int compare_kernels(const void *a, const void *b)
{
    const json_t *const *first = a, *const *second = b;
    double p = json_number_value(json_object_get(*first, "total_us"));
    double q = json_number_value(json_object_get(*second, "total_us"));
    if (p != q)
        return (p < q) - (p > q);
    json_int_t x = json_integer_value(json_object_get(*first, "launches"));
    json_int_t y = json_integer_value(json_object_get(*second, "launches"));
    return (x < y) - (x > y);
}

static int32_t severity_of(const json_t *finding)
{
    const char *name = json_string_value(json_object_get(finding, "severity"));
    int32_t severity = GRIDDEP_SEVERITY_NOTE;
    while (strcmp(gd_finding_severity_name(severity), name) != 0)
        severity++;
    return severity;
}

static int compare_findings(const void *a, const void *b)
{
    const json_t *const *first = a, *const *second = b;
    int32_t x = severity_of(*first), y = severity_of(*second);
    if (x != y)
        return (x < y) - (x > y);
    json_int_t m = json_integer_value(json_object_get(*first, "count"));
    json_int_t n = json_integer_value(json_object_get(*second, "count"));
    return (m < n) - (m > n);
}

static void sort(json_t *array, int (*compare)(const void *, const void *))
{
    size_t count = json_array_size(array);
    json_t **items = gd_heap_take(count, sizeof(json_t *));
    for (size_t i = 0; i < count; i++)
        items[i] = json_incref(json_array_get(array, i));
    qsort(items, count, sizeof(json_t *), compare);
    json_array_clear(array);
    for (size_t i = 0; i < count; i++)
        gd_output_append(array, items[i]);
    free(items);
}

/* Of a template's instances, "void scale" of "void scale<float>(float *)". */
static size_t base_length(const char *name)
{
    return strcspn(name, "<(");
}

/* Of one code, about one kernel or instances of one template. */
static bool is_alike(const json_t *a, const json_t *b)
{
    const char *p = json_string_value(json_object_get(a, "kernel"));
    const char *q = json_string_value(json_object_get(b, "kernel"));
    return json_equal(json_object_get(a, "code"), json_object_get(b, "code")) &&
           base_length(p) == base_length(q) && strncmp(p, q, base_length(p)) == 0;
}

/* The first of those that are alike, which is seen most often, keeps the texts of the others. */
static json_t *fold(const json_t *all)
{
    json_t *findings = json_copy((json_t *)all);
    for (size_t i = 0; i < json_array_size(findings); i++) {
        json_t *kept = json_array_get(findings, i), *alike = json_array();
        json_object_set_new(kept, "alike", alike);
        for (size_t j = i + 1; j < json_array_size(findings);) {
            const json_t *other = json_array_get(findings, j);
            if (!is_alike(kept, other)) {
                j++;
                continue;
            }
            if (!json_equal(json_object_get(kept, "text"), json_object_get(other, "text")))
                gd_output_append(alike, json_incref(json_object_get(other, "text")));
            json_array_remove(findings, j);
        }
    }
    return findings;
}

static void add_messages(gd_audit *audit, const gd_attached_set *set)
{
    for (size_t i = 0; i < set->count; i++) {
        const gd_attached_file *file = &set->files[i];
        audit->lost += file->process != NULL ? file->process->lost : 0;
        if (file->process != NULL && file->process->clock != GD_ATTACHED_CLOCK_NONE)
            audit->clock = file->process->clock == GD_ATTACHED_CLOCK_CUPTI ? "CUPTI" : "events";
        for (uint32_t j = 0; j < file->counts[GD_ATTACHED_MESSAGE]; j++) {
            const gd_attached_message *message = gd_attached_get(file, GD_ATTACHED_MESSAGE, j);
            gd_output_append(audit->messages, gd_output_string(message->text));
        }
        for (uint32_t j = 0; j < file->counts[GD_ATTACHED_MODULE]; j++) {
            const gd_attached_module *module = gd_attached_get(file, GD_ATTACHED_MODULE, j);
            audit->rewritten += module->rewritten;
        }
        for (uint32_t j = 0; j < file->counts[GD_ATTACHED_GRAPH]; j++) {
            const gd_attached_graph *graph = gd_attached_get(file, GD_ATTACHED_GRAPH, j);
            audit->changed_edges += graph->changed;
        }
    }
}

gd_audit gd_audit_make(const gd_attached_set *set)
{
    gd_audit audit = {.kernels = json_array(), .unfolded = json_array(), .messages = json_array()};
    audit.gaps = json_array();
    auditing all = {.findings = audit.unfolded, .gaps = audit.gaps};
    for (size_t i = 0; i < set->count; i++)
        if (set->files[i].images != NULL)
            add_file(&all, &set->files[i]);
    for (size_t i = 0; i < all.follow_count; i++)
        share_follow(&all, &all.follows[i]);
    count_behind(&all);
    for (uint32_t i = 0; i < all.kernel_count; i++) {
        const audited_kernel *kernel = &all.kernels[i];
        audit.launches += kernel->launches + kernel->graph_launches;
        audit.captured += kernel->sum.captured;
        audit.changed += kernel->sum.changed;
        audit.left += kernel->sum.left;
        gd_output_append(audit.kernels, kernel_json(&all, kernel));
        judge_kernel(&all, kernel);
    }
    for (uint32_t i = 0; i < all.pair_count; i++)
        judge_pair(&all, &all.pairs[i]);
    sort(audit.kernels, compare_kernels);
    audit.could = all.could;
    audit.early = all.early;
    audit.gap_us = all.gap_us;
    sort(audit.gaps, compare_kernels);
    sort(audit.unfolded, compare_findings);
    audit.findings = fold(audit.unfolded);
    for (size_t i = 0; i < json_array_size(audit.findings); i++) {
        const json_t *finding = json_array_get(audit.findings, i);
        const char *code = json_string_value(json_object_get(finding, "code"));
        size_t count = 1 + json_array_size(json_object_get(finding, "alike"));
        audit.races += severity_of(finding) == GRIDDEP_SEVERITY_ERROR ? count : 0;
        audit.doubts +=
            strcmp(code, "GD403") == 0 || strcmp(code, "GD404") == 0 || strcmp(code, "GD407") == 0
                ? count
                : 0;
        audit.finding_count += count;
    }
    add_messages(&audit, set);
    for (uint32_t i = 0; i < all.kernel_count; i++) {
        free(all.kernels[i].module);
        free(all.kernels[i].plain);
        free(all.kernels[i].told);
        free(all.kernels[i].us);
    }
    free(all.kernels);
    for (uint32_t i = 0; i < all.pair_count; i++)
        free(all.pairs[i].race);
    free(all.pairs);
    free(all.shared);
    free(all.follows);
    gd_place_end(&all.files);
    return audit;
}

void gd_audit_free(gd_audit *audit)
{
    json_decref(audit->kernels);
    json_decref(audit->findings);
    json_decref(audit->unfolded);
    json_decref(audit->messages);
    json_decref(audit->gaps);
    *audit = (gd_audit){0};
}

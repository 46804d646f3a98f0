/* Kernels of all processes, once each, what followed what, and the times of both. */
#include "cli/program/auditmerge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"
#include "run/private.h"

#include "cli/io/heap.h"
#include "cli/io/name.h"

enum { LONGEST_TOLD = 90 };

/* One kernel behind another in a stream, as CUPTI saw them. */
typedef struct audited_follow {
    uint32_t first, second;
    bool is_edge; /* in a graph */
    uint64_t count;
    double between_us;
} audited_follow;

typedef struct merging {
    gd_auditmerge seen;
    audited_follow *follows;
    size_t follow_count;
} merging;

/* ---- kernels ---- */

static char *module_name(const gd_attached_module *module)
{
    if (module == NULL || module->path[0] == '\0')
        return gd_heap_string("-");
    const char *slash = strrchr(module->path, '/');
    return gd_heap_string(slash != NULL ? slash + 1 : "memory");
}

static bool is_same(const gd_audit_kernel *a, const gd_audit_kernel *b)
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

static void read_order(gd_audit_kernel *kernel)
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
static uint32_t add_kernel(gd_auditmerge *seen, const gd_attached_file *file,
                           const gd_attached_kernel *kernel)
{
    const gd_attached_module *module = gd_attached_get(file, GD_ATTACHED_MODULE, kernel->module);
    gd_audit_kernel made = {.name = kernel->name,
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
    while (at < seen->kernel_count && !is_same(&seen->kernels[at], &made))
        at++;
    if (at < seen->kernel_count) {
        free(made.module);
    } else {
        made.plain = gd_name_demangle(kernel->name);
        made.told = gd_name_shorten(made.plain, LONGEST_TOLD);
        read_order(&made);
        seen->kernels = gd_heap_grow(seen->kernels, at, at + 1, sizeof(made));
        seen->kernels[seen->kernel_count++] = made;
    }
    add_counts(&seen->kernels[at].sum, &kernel->counts);
    seen->kernels[at].maps |= kernel->parameters.maps;
    seen->kernels[at].structs |= kernel->parameters.structs;
    return at;
}

/* ---- what follows what ---- */

static void add_pair(gd_auditmerge *seen, const gd_audit_pair *pair)
{
    for (uint32_t i = 0; i < seen->pair_count; i++) {
        gd_audit_pair *each = &seen->pairs[i];
        if (each->first == pair->first && each->second == pair->second &&
            each->between == pair->between && each->early == pair->early &&
            each->type == pair->type && each->is_edge == pair->is_edge) {
            each->compared |= pair->compared;
            each->count += pair->count;
            each->runs += pair->runs;
            each->timed += pair->timed;
            each->between_us += pair->between_us;
            return;
        }
    }
    seen->pairs = gd_heap_grow(seen->pairs, seen->pair_count, seen->pair_count + 1, sizeof(*pair));
    seen->pairs[seen->pair_count++] = *pair;
}

static void add_pairs(gd_auditmerge *seen, const gd_attached_file *file, const uint32_t *places)
{
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_PAIR]; i++) {
        const gd_attached_pair *pair = gd_attached_get(file, GD_ATTACHED_PAIR, i);
        if (pair->second >= file->counts[GD_ATTACHED_KERNEL])
            continue;
        seen->kernels[places[pair->second]].launches += pair->count;
        seen->kernels[places[pair->second]].early += pair->early != 0 ? pair->count : 0;
        if (pair->first >= file->counts[GD_ATTACHED_KERNEL])
            continue;
        add_pair(seen, &(gd_audit_pair){.first = places[pair->first],
                                        .second = places[pair->second],
                                        .between = pair->between,
                                        .early = pair->early,
                                        .compared = pair->compared != 0,
                                        .count = pair->count,
                                        .runs = pair->count,
                                        .timed = pair->timed,
                                        .between_us = pair->between_us});
    }
}

static void add_graphs(gd_auditmerge *seen, const gd_attached_file *file, const uint32_t *places)
{
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_NODE]; i++) {
        const gd_attached_node *node = gd_attached_get(file, GD_ATTACHED_NODE, i);
        const gd_attached_graph *graph = gd_attached_get(file, GD_ATTACHED_GRAPH, node->graph);
        if (graph != NULL && node->kernel < file->counts[GD_ATTACHED_KERNEL]) {
            seen->kernels[places[node->kernel]].graph_launches += node->count * graph->launches;
            seen->kernels[places[node->kernel]].graph_early += node->early * graph->launches;
        }
    }
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_EDGE]; i++) {
        const gd_attached_edge *edge = gd_attached_get(file, GD_ATTACHED_EDGE, i);
        const gd_attached_graph *graph = gd_attached_get(file, GD_ATTACHED_GRAPH, edge->graph);
        if (edge->first >= file->counts[GD_ATTACHED_KERNEL] ||
            edge->second >= file->counts[GD_ATTACHED_KERNEL])
            continue;
        add_pair(seen, &(gd_audit_pair){.first = places[edge->first],
                                        .second = places[edge->second],
                                        .between = edge->between,
                                        .early = edge->type != 0 || edge->port != 0,
                                        .type = edge->type,
                                        .count = edge->count,
                                        .runs = graph != NULL ? edge->count * graph->launches : 0,
                                        .is_edge = true});
    }
}

static void add_shared(gd_auditmerge *seen, const gd_attached_file *file, const uint32_t *places)
{
    uint32_t kernels = file->counts[GD_ATTACHED_KERNEL];
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_SHARED]; i++) {
        const gd_attached_shared *shared = gd_attached_get(file, GD_ATTACHED_SHARED, i);
        if (shared->first >= kernels || shared->second >= kernels)
            continue;
        seen->shared = gd_heap_grow(seen->shared, seen->shared_count, seen->shared_count + 1,
                                    sizeof(*seen->shared));
        seen->shared[seen->shared_count++] = (gd_audit_shared){
            places[shared->first], places[shared->second], shared->first_parameter,
            shared->second_parameter, shared->assumed != 0};
    }
}

static void add_rows(gd_auditmerge *seen, const gd_attached_file *file, const uint32_t *places)
{
    const uint32_t kernels = file->counts[GD_ATTACHED_KERNEL];
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_ROW]; i++) {
        const gd_attached_row *row = gd_attached_get(file, GD_ATTACHED_ROW, i);
        gd_audit_row made = {.count = row->count, .times = row->times};
        bool known = row->count >= 3 && row->count <= GD_ATTACHED_ROW_MOST;
        for (uint32_t k = 0; known && k < row->count; k++) {
            known = row->kernels[k] < kernels;
            made.kernels[k] = known ? places[row->kernels[k]] : 0;
        }
        if (!known)
            continue;
        seen->rows = gd_heap_grow(seen->rows, seen->row_count, seen->row_count + 1, sizeof(made));
        seen->rows[seen->row_count++] = made;
    }
}

static void add_times(gd_auditmerge *seen, const gd_attached_file *file, const uint32_t *places)
{
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_TIMES]; i++) {
        const gd_attached_times *times = gd_attached_get(file, GD_ATTACHED_TIMES, i);
        if (times->kernel >= file->counts[GD_ATTACHED_KERNEL] || times->kept > GD_ATTACHED_SAMPLES)
            continue;
        gd_audit_kernel *kernel = &seen->kernels[places[times->kernel]];
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

static void add_follow(merging *all, const audited_span *first, const audited_span *second)
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

static void add_spans(merging *all, const gd_attached_file *file, const uint32_t *places)
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
        gd_audit_kernel *kernel = &all->seen.kernels[spans[i].kernel];
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
static void share_follow(merging *all, const audited_follow *follow)
{
    uint64_t runs = 0;
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < all->seen.pair_count; i++) {
            gd_audit_pair *pair = &all->seen.pairs[i];
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

static void add_file(merging *all, const gd_attached_file *file)
{
    uint32_t count = file->counts[GD_ATTACHED_KERNEL];
    uint32_t *places = gd_heap_take(count, sizeof(*places));
    for (uint32_t i = 0; i < count; i++)
        places[i] = add_kernel(&all->seen, file, gd_attached_get(file, GD_ATTACHED_KERNEL, i));
    add_pairs(&all->seen, file, places);
    add_graphs(&all->seen, file, places);
    add_shared(&all->seen, file, places);
    add_rows(&all->seen, file, places);
    add_times(&all->seen, file, places);
    add_spans(all, file, places);
    free(places);
}

gd_auditmerge gd_auditmerge_make(const gd_attached_set *set)
{
    merging all = {0};
    for (size_t i = 0; i < set->count; i++)
        if (set->files[i].images != NULL)
            add_file(&all, &set->files[i]);
    for (size_t i = 0; i < all.follow_count; i++)
        share_follow(&all, &all.follows[i]);
    free(all.follows);
    return all.seen;
}

void gd_auditmerge_free(gd_auditmerge *seen)
{
    for (uint32_t i = 0; i < seen->kernel_count; i++) {
        free(seen->kernels[i].module);
        free(seen->kernels[i].plain);
        free(seen->kernels[i].told);
        free(seen->kernels[i].us);
    }
    for (uint32_t i = 0; i < seen->pair_count; i++)
        free(seen->pairs[i].race);
    free(seen->kernels);
    free(seen->pairs);
    free(seen->shared);
    free(seen->rows);
    *seen = (gd_auditmerge){0};
}

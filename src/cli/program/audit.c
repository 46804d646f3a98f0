/* What is wrong with a program's launches and what is lost, by the library's own decision about
 * early starts. */
#include "cli/program/audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "griddep.h"
#include "run/private.h"

#include "cli/io/heap.h"

typedef struct judging {
    gd_audit *audit;
    gd_place_files files;
} judging;

/* ---- findings ---- */

static void add_frame(gd_frames *frames, gd_frame frame)
{
    frames->list =
        gd_heap_grow(frames->list, frames->count, frames->count + 1, sizeof(*frames->list));
    frames->list[frames->count++] = frame;
}

/* Lines that CPython writes: File "step.py", line 3 in step. Others are passed over. */
static void add_script(gd_frames *frames, const char *text)
{
    for (const char *at = text; *at != '\0'; at += strcspn(at, "\n"), at += *at != '\0') {
        int name = 0, name_end = 0, function = 0, end = 0;
        long long line = 0;
        if (sscanf(at, " File \"%n%*[^\"\n]%n\", line %lld in %n%*[^\n]%n", &name, &name_end, &line,
                   &function, &end) < 1 ||
            end == 0)
            continue;
        add_frame(frames,
                  (gd_frame){.is_script = true,
                             .line = line,
                             .file = gd_heap_format("%.*s", name_end - name, at + name),
                             .function = gd_heap_format("%.*s", end - function, at + function)});
    }
}

static gd_frames place_of(gd_place_files *files, const gd_attached_file *file, uint32_t number)
{
    const gd_attached_place *place = gd_attached_get(file, GD_ATTACHED_PLACE, number);
    gd_frames frames = {0};
    for (uint32_t i = 0; place != NULL && i < place->count; i++) {
        for (uint32_t j = 0; j < file->counts[GD_ATTACHED_OBJECT]; j++) {
            const gd_attached_object *object = gd_attached_get(file, GD_ATTACHED_OBJECT, j);
            uint64_t address = place->addresses[i];
            if (address < object->begin || address >= object->end)
                continue;
            add_frame(&frames, gd_place_find(files, object->path, address - object->bias));
            break;
        }
    }
    if (place != NULL)
        add_script(&frames, (const char *)&place->addresses[place->count]);
    return frames;
}

/* before: NULL where a finding is about one kernel. Takes the text over. */
static void find(judging *all, const char *code, const gd_audit_kernel *kernel,
                 const gd_audit_kernel *before, int32_t reason, uint64_t count, char *text)
{
    gd_audit *audit = all->audit;
    bool is_plain = reason == GRIDDEP_REASON_OFF || kernel->first_early == GD_ATTACHED_NONE;
    uint32_t place = is_plain ? kernel->first_plain : kernel->first_early;
    audit->findings = gd_heap_grow(audit->findings, audit->finding_count, audit->finding_count + 1,
                                   sizeof(*audit->findings));
    audit->findings[audit->finding_count++] =
        (gd_audit_finding){.code = code,
                           .severity = gd_code_find(code)->severity,
                           .text = text,
                           .kernel = kernel->plain,
                           .before = before != NULL ? before->plain : NULL,
                           .reason = reason,
                           .count = count,
                           .place = place_of(&all->files, kernel->file, place)};
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

/* Which parameters of a row share memory. */
typedef enum row_joins { JOINS_NONE, JOINS_ONE, JOINS_ALL } row_joins;

/* Kernels that follow each other, as a chain. The last one is what is asked about. */
typedef struct row_chain {
    const gd_auditmerge *seen;
    const uint32_t *kernels;
    uint32_t count;
    row_joins joins;
    const gd_audit_shared *one;                                            /* JOINS_ONE */
    uint32_t *buffers[GD_ATTACHED_ROW_MOST], counts[GD_ATTACHED_ROW_MOST]; /* of parameters */
    griddep_chain *chain;
} row_chain;

static const gd_audit_kernel *kernel_of(const row_chain *row, uint32_t index)
{
    return &row->seen->kernels[row->kernels[index]];
}

/* Each parameter has a buffer of its own at first. */
static void count_parameters(row_chain *row)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < row->count; i++) {
        const gd_kernel_code *text = &kernel_of(row, i)->text;
        griddep_ptx_entry_info entry = {.size = sizeof(entry)};
        if (griddep_ptx_get_entry(text->ptx, text->entry, &entry, NULL) == GRIDDEP_OK)
            row->counts[i] = entry.parameter_count;
        row->buffers[i] = gd_heap_take(row->counts[i], sizeof(uint32_t));
        for (uint32_t k = 0; k < row->counts[i]; k++)
            row->buffers[i][k] = ++last;
    }
}

static void join(row_chain *row, uint32_t buffer, uint32_t into)
{
    for (uint32_t i = 0; i < row->count; i++)
        for (uint32_t k = 0; k < row->counts[i]; k++)
            if (row->buffers[i][k] == buffer)
                row->buffers[i][k] = into;
}

/* Whether it is about the last kernel of a row and the one at `first`. */
static bool is_about(const gd_audit_shared *shared, const uint32_t *kernels, uint32_t count,
                     uint32_t first)
{
    return shared->first == kernels[first] && shared->second == kernels[count - 1];
}

/* Parameters of the last one that were given memory of one of a kernel before have its buffer. */
static void join_shared(row_chain *row, uint32_t first)
{
    const uint32_t last = row->count - 1;
    const gd_auditmerge *seen = row->seen;
    for (size_t i = 0; i < seen->shared_count; i++) {
        const gd_audit_shared *each = &seen->shared[i];
        if ((row->joins == JOINS_ALL || each == row->one) &&
            is_about(each, row->kernels, row->count, first) &&
            each->first_parameter < row->counts[first] &&
            each->second_parameter < row->counts[last])
            join(row, row->buffers[last][each->second_parameter],
                 row->buffers[first][each->first_parameter]);
    }
}

/* What else arguments point to the program alone knows. */
static int32_t set_uses(const row_chain *row, uint32_t index)
{
    const gd_audit_kernel *kernel = kernel_of(row, index);
    int32_t status = GRIDDEP_OK;
    for (uint32_t i = 0; i < row->counts[index] && status == GRIDDEP_OK; i++) {
        griddep_parameter_info parameter = {.size = sizeof(parameter)};
        const bool behind = row->joins == JOINS_ONE && row->one->assumed &&
                            index == row->count - 1 && i == row->one->second_parameter;
        const griddep_use use = {
            .size = sizeof(use), .buffer = row->buffers[index][i], .offset = behind};
        const bool is_map = i < 32 && (kernel->maps & ~kernel->structs) >> i & 1;
        status =
            griddep_ptx_get_parameter(kernel->text.ptx, kernel->text.entry, i, &parameter, NULL);
        if (status == GRIDDEP_OK && (parameter.bytes == sizeof(uint64_t) || is_map))
            status = griddep_chain_set_use(row->chain, index, i, &use, NULL);
    }
    return status;
}

static int32_t add_launches(row_chain *row)
{
    int32_t status = griddep_chain_create(NULL, &row->chain, NULL);
    for (uint32_t i = 0; i < row->count && status == GRIDDEP_OK; i++) {
        const gd_audit_kernel *kernel = kernel_of(row, i);
        const griddep_launch_config config = {.size = sizeof(config),
                                              .name = i == 0 ? kernel->told : NULL, /* none twice */
                                              .pdl = i == 0 ? GRIDDEP_PDL_OFF : GRIDDEP_PDL_FORCE};
        status = griddep_chain_add_ptx(row->chain, kernel->text.ptx, kernel->name, &config, NULL,
                                       row->counts[i], NULL);
    }
    for (uint32_t first = 0; first + 1 < row->count && row->joins != JOINS_NONE; first++)
        join_shared(row, first);
    for (uint32_t i = 0; i < row->count && status == GRIDDEP_OK; i++)
        status = set_uses(row, i);
    return status;
}

/* A finding in words about a kernel, "it" where its text begins with the kernel's name. */
static char *told_finding(const griddep_finding *finding, const char *name)
{
    const size_t length = strlen(name);
    const bool is_own = strncmp(finding->text, name, length) == 0 && finding->text[length] == ' ';
    return gd_heap_format("%s%s (%s)", is_own ? "it" : "", finding->text + is_own * length,
                          finding->code);
}

/* What a check says of a launch, an error before a warning. To free; NULL: nothing. */
static char *read_race(griddep_findings *findings, uint32_t launch, const char *name, bool *certain)
{
    griddep_finding finding = {.size = sizeof(finding)};
    const uint32_t count = findings != NULL ? griddep_findings_count(findings) : 0;
    for (uint32_t i = 0; i < 2 * count; i++) {
        const int32_t severity = i < count ? GRIDDEP_SEVERITY_ERROR : GRIDDEP_SEVERITY_WARNING;
        if (griddep_findings_get(findings, i % count, &finding, NULL) != GRIDDEP_OK ||
            finding.launch != (int32_t)launch || finding.severity != severity ||
            (finding.code[2] != '1' && finding.code[2] != '2'))
            continue;
        *certain = finding.severity == GRIDDEP_SEVERITY_ERROR;
        return told_finding(&finding, name);
    }
    return NULL;
}

static bool has_texts(const gd_auditmerge *seen, const uint32_t *kernels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (seen->kernels[kernels[i]].text.ptx == NULL)
            return false;
    return true;
}

/* Whether what find_race says of launches of the pair is an answer, also where it says nothing. */
static bool is_compared(const gd_auditmerge *seen, const gd_audit_pair *pair)
{
    return pair->compared && has_texts(seen, (const uint32_t[]){pair->first, pair->second}, 2);
}

static char *check_row(const gd_auditmerge *seen, const uint32_t *kernels, uint32_t count,
                       row_joins joins, const gd_audit_shared *one, bool *certain)
{
    row_chain row = {.seen = seen, .kernels = kernels, .count = count, .joins = joins, .one = one};
    griddep_findings *findings = NULL;
    count_parameters(&row);
    if (add_launches(&row) == GRIDDEP_OK)
        griddep_chain_check(row.chain, &findings, NULL);
    char *race = read_race(findings, count - 1, kernel_of(&row, count - 1)->name, certain);
    for (uint32_t i = 0; i < count; i++)
        free(row.buffers[i]);
    griddep_findings_destroy(findings);
    griddep_chain_destroy(row.chain);
    return race;
}

/* By two parameters alone that share memory; assumed: of those whose sharing is. */
static char *find_race_of_two(const gd_auditmerge *seen, const uint32_t *kernels, uint32_t count,
                              bool assumed, bool *certain)
{
    char *found = NULL;
    *certain = false;
    for (size_t i = 0; i < seen->shared_count && !*certain; i++) {
        const gd_audit_shared *each = &seen->shared[i];
        bool about = false, sure = false;
        for (uint32_t first = 0; first + 1 < count; first++)
            about |= is_about(each, kernels, count, first);
        if (!about || each->assumed != assumed || (assumed && found != NULL))
            continue;
        char *race = check_row(seen, kernels, count, JOINS_ONE, each, &sure);
        *certain = race != NULL && sure;
        char *kept = race != NULL && (sure || found == NULL) ? race : found;
        free(kept == race ? found : race);
        found = kept;
    }
    return found;
}

/* What the check says of the last kernel of a row beside those before it, also where nothing rules
 * it out. To free; NULL: nothing. That A shares memory with B, and B with C, does not say that A
 * and C do: what all together show is looked for in each two. */
static char *find_race(const gd_auditmerge *seen, const uint32_t *kernels, uint32_t count,
                       bool *certain)
{
    if (!has_texts(seen, kernels, count))
        return NULL;
    char *race = check_row(seen, kernels, count, JOINS_ALL, NULL, certain);
    if (race == NULL)
        return NULL;
    free(race);
    race = find_race_of_two(seen, kernels, count, false, certain);
    if (race == NULL)
        race = check_row(seen, kernels, count, JOINS_NONE, NULL, certain);
    return race != NULL ? race : find_race_of_two(seen, kernels, count, true, certain);
}

static bool never_waits(const gd_audit_kernel *kernel)
{
    return gd_early_kernel(kernel->code.traits) == GRIDDEP_REASON_NO_WAIT;
}

static bool misses_wait(const gd_audit_kernel *kernel)
{
    return never_waits(kernel) ||
           gd_early_kernel(kernel->code.traits) == GRIDDEP_REASON_WAIT_NOT_ALWAYS;
}

/* Of a kernel that may miss its wait: a race that nothing but a doubt speaks for, which the pair
 * tells; and no race. */
static bool is_doubtful(const gd_audit_kernel *second, const gd_audit_pair *pair)
{
    return misses_wait(second) && pair->race != NULL && !pair->certain;
}

static bool is_harmless(const gd_auditmerge *seen, const gd_audit_pair *pair)
{
    const gd_audit_kernel *second = &seen->kernels[pair->second];
    return misses_wait(second) && pair->race == NULL &&
           (is_compared(seen, pair) || (!never_waits(second) && !second->touches_early));
}

/* Whether it starts early and may end before what stands before it has ended. */
static bool is_loose(const gd_audit_kernel *kernel)
{
    return kernel->early + kernel->graph_early > 0 && !kernel->ordered;
}

static bool waits_in_time(const gd_audit_kernel *kernel)
{
    int32_t reason = gd_early_kernel(kernel->code.traits);
    return reason == GRIDDEP_REASON_SET ||
           (reason == GRIDDEP_REASON_WAIT_NOT_ALWAYS && kernel->ordered && !kernel->touches_early);
}

/* What an early start of the second kernel could save at most. */
static void add_gap(gd_audit *audit, const gd_audit_pair *pair)
{
    audit->gap_us += pair->between_us;
    audit->gaps =
        gd_heap_grow(audit->gaps, audit->gap_count, audit->gap_count + 1, sizeof(*audit->gaps));
    audit->gaps[audit->gap_count++] =
        (gd_audit_gap){.before = audit->seen.kernels[pair->first].plain,
                       .kernel = audit->seen.kernels[pair->second].plain,
                       .timed = pair->timed,
                       .launches = pair->runs,
                       .us = pair->between_us};
}

static void count_behind(gd_audit *audit)
{
    for (uint32_t i = 0; i < audit->seen.pair_count; i++) {
        gd_audit_pair *pair = &audit->seen.pairs[i];
        gd_audit_kernel *second = &audit->seen.kernels[pair->second];
        if (pair->between != 0)
            continue;
        const gd_audit_kernel *first = &audit->seen.kernels[pair->first];
        const uint32_t kernels[] = {pair->first, pair->second};
        if (second->touches_early || never_waits(second))
            pair->race = find_race(&audit->seen, kernels, 2, &pair->certain);
        const bool hidden = second->touches_early && second->text.ptx == NULL;
        if (pair->early == 0 && is_loose(first))
            continue; /* likewise: who waits for it does not wait for what came before */
        if (pair->race == NULL && !hidden &&
            (waits_in_time(second) ||
             (is_harmless(&audit->seen, pair) && !never_waits(second) && second->ordered))) {
            audit->could += pair->runs;
            audit->early += pair->early != 0 ? pair->runs : 0;
            if (pair->early == 0 && pair->timed > 0)
                add_gap(audit, pair);
        }
        if ((pair->race != NULL || hidden) && pair->early == 0)
            continue; /* as it should be */
        if (pair->early != 0 && is_harmless(&audit->seen, pair))
            second->alone_behind += pair->runs;
        else if (pair->early != 0 && !is_doubtful(second, pair))
            second->early_behind += pair->runs;
        else if (pair->early == 0 && !pair->is_edge)
            second->late_behind += pair->count;
    }
}

static void judge_kernel(judging *all, const gd_audit_kernel *kernel)
{
    int32_t reason = gd_early_kernel(kernel->code.traits);
    uint64_t early = kernel->early_behind, alone = kernel->alone_behind;
    const char *times = gd_plural(early, "time", "times");
    if (alone > 0)
        find(all, never_waits(kernel) || !kernel->ordered ? "GD407" : "GD405", kernel, NULL, reason,
             alone,
             gd_heap_format("kernel %s may start beside the kernel before it, %llu %s%s",
                            kernel->told, (unsigned long long)alone,
                            gd_plural(alone, "time", "times"),
                            never_waits(kernel)
                                ? ", and never waits: nothing shows that they race, but who waits "
                                  "for it does not wait for both"
                            : kernel->ordered
                                ? ": some of its threads leave before the wait while others wait, "
                                  "so the order holds"
                                : ": where all of its threads leave before the wait it ends before "
                                  "that kernel does, and who waits for it does not wait for both"));
    if (early > 0 && reason == GRIDDEP_REASON_NO_WAIT)
        find(all, "GD401", kernel, NULL, reason, early,
             gd_heap_format("kernel %s may start beside the kernel before it, %llu %s, and never "
                            "waits for it: they race where they share memory",
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
static void judge_room(judging *all, const gd_audit_pair *pair)
{
    const gd_audit_kernel *kernels = all->audit->seen.kernels;
    const gd_audit_kernel *first = &kernels[pair->first], *second = &kernels[pair->second];
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

static void judge_pair(judging *all, const gd_audit_pair *pair)
{
    const gd_audit_kernel *kernels = all->audit->seen.kernels;
    const gd_audit_kernel *first = &kernels[pair->first], *second = &kernels[pair->second];
    int32_t reason = gd_early_pair(first->code.traits, second->code.traits);
    uint32_t between = pair->between & ~(uint32_t)GD_ATTACHED_SYNCHRONIZED;
    unsigned long long count = pair->early != 0 ? pair->runs : pair->count;
    if ((reason != GRIDDEP_REASON_SET && !is_doubtful(second, pair)) || between != pair->between)
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

/* Whether the last kernel of a row may meet one that is not directly before it: it touches memory
 * before its wait, or what it waits for has not waited. */
static bool reaches_back(const gd_auditmerge *seen, const gd_audit_row *row)
{
    const gd_audit_kernel *last = &seen->kernels[row->kernels[row->count - 1]];
    bool reaches = last->touches_early || never_waits(last);
    for (uint32_t i = 1; i + 1 < row->count; i++)
        reaches |= is_loose(&seen->kernels[row->kernels[i]]);
    return reaches;
}

/* What shorter rows show is said of them, and what a kernel does that misses its wait may be said
 * of it already. */
static void judge_row(judging *all, const gd_audit_row *row)
{
    const gd_auditmerge *seen = &all->audit->seen;
    const gd_audit_kernel *first = &seen->kernels[row->kernels[0]];
    const gd_audit_kernel *last = &seen->kernels[row->kernels[row->count - 1]];
    bool certain = false, told = false;
    if ((misses_wait(last) && last->early_behind > 0) || !reaches_back(seen, row))
        return;
    for (uint32_t count = 2; count <= row->count && !certain; count++) {
        char *race = find_race(seen, row->kernels + row->count - count, count, &certain);
        if (race != NULL && count == row->count && (certain || !told))
            find(all, certain ? "GD406" : "GD404", last, first, GRIDDEP_REASON_RACE, row->times,
                 gd_heap_format("kernel %s may start beside kernel %s, %llu %s: %s", last->told,
                                first->told, (unsigned long long)row->times,
                                gd_plural(row->times, "time", "times"), race));
        told = told || race != NULL;
        free(race);
    }
}

/* ---- what was recorded ---- */

static bool is_doubt(const gd_audit_finding *finding)
{
    return strcmp(finding->code, "GD403") == 0 || strcmp(finding->code, "GD404") == 0 ||
           strcmp(finding->code, "GD407") == 0;
}

/* Of two streams that nothing orders. */
static bool is_of_streams(const griddep_finding *finding)
{
    return strcmp(finding->code, "GD212") == 0;
}

static bool is_told(const gd_audit *audit, const gd_audit_kernel *kernel, int32_t severity)
{
    for (size_t i = 0; i < audit->finding_count; i++)
        if (audit->findings[i].kernel == kernel->plain && audit->findings[i].severity >= severity &&
            (audit->findings[i].severity == GRIDDEP_SEVERITY_ERROR ||
             is_doubt(&audit->findings[i])))
            return true;
    return false;
}

/* Rows are short, and pairs are summed up over all launches: the check of the launches themselves
 * may show more. Of each kernel one race is told, or one doubt. */
static void judge_recorded(judging *all, griddep_findings *recorded, int32_t severity)
{
    const gd_auditmerge *seen = &all->audit->seen;
    griddep_finding finding = {.size = sizeof(finding)};
    for (uint32_t i = 0; griddep_findings_get(recorded, i, &finding, NULL) == GRIDDEP_OK; i++) {
        if ((!gd_code_is_race(finding.code) && !is_of_streams(&finding)) || finding.launch < 0 ||
            finding.severity != severity || finding.entry == NULL)
            continue;
        uint32_t k = 0;
        while (k < seen->kernel_count && strcmp(seen->kernels[k].name, finding.entry) != 0)
            k++;
        if (k == seen->kernel_count || is_told(all->audit, &seen->kernels[k], severity))
            continue;
        char *told = told_finding(&finding, finding.entry);
        find(all,
             severity != GRIDDEP_SEVERITY_ERROR ? "GD404"
             : is_of_streams(&finding)          ? "GD408"
                                                : "GD406",
             &seen->kernels[k], NULL, GRIDDEP_REASON_RACE, 1,
             gd_heap_format("kernel %s may %s, as recorded launch %d does: %s",
                            seen->kernels[k].told,
                            is_of_streams(&finding) ? "run beside one of another stream"
                                                    : "start beside one before it",
                            (int)finding.launch, told));
        free(told);
    }
}

/* ---- the results ---- */

static int compare_numbers(double a, double b)
{
    return (a < b) - (a > b);
}

static int compare_kernels(const void *a, const void *b)
{
    const gd_audit_kernel *first = a, *second = b;
    int order = compare_numbers(first->total_us, second->total_us);
    return order != 0 ? order
                      : compare_numbers((double)(first->launches + first->graph_launches),
                                        (double)(second->launches + second->graph_launches));
}

static int compare_gaps(const void *a, const void *b)
{
    const gd_audit_gap *first = a, *second = b;
    int order = compare_numbers(first->us, second->us);
    return order != 0 ? order : compare_numbers((double)first->launches, (double)second->launches);
}

static int compare_findings(const void *a, const void *b)
{
    const gd_audit_finding *first = a, *second = b;
    int order = compare_numbers(first->severity, second->severity);
    return order != 0 ? order : compare_numbers((double)first->count, (double)second->count);
}

/* A list without items is NULL, which qsort does not take. */
static void sort(void *items, size_t count, size_t bytes,
                 int (*compare)(const void *, const void *))
{
    if (count > 1)
        qsort(items, count, bytes, compare);
}

/* Of a template's instances, "void scale" of "void scale<float>(float *)". */
static size_t base_length(const char *name)
{
    return strcspn(name, "<(");
}

static bool is_alike(const gd_audit_finding *a, const gd_audit_finding *b)
{
    const size_t length = base_length(a->kernel);
    return strcmp(a->code, b->code) == 0 && length == base_length(b->kernel) &&
           strncmp(a->kernel, b->kernel, length) == 0;
}

static void fold(gd_audit *audit)
{
    for (size_t i = 0; i < audit->finding_count; i++) {
        size_t first = 0;
        while (first < i && (audit->findings[first].first != first ||
                             !is_alike(&audit->findings[first], &audit->findings[i])))
            first++;
        audit->findings[i].first = first;
    }
}

size_t gd_audit_next_alike(const gd_audit *audit, size_t first, size_t at)
{
    while (at < audit->finding_count &&
           (at == first || audit->findings[at].first != first ||
            strcmp(audit->findings[at].text, audit->findings[first].text) == 0))
        at++;
    return at;
}

/* Each text once. */
static void count_findings(gd_audit *audit)
{
    for (size_t i = 0; i < audit->finding_count; i++) {
        const gd_audit_finding *finding = &audit->findings[i];
        if (finding->first != i && gd_audit_next_alike(audit, finding->first, i) != i)
            continue;
        audit->told++;
        audit->races += finding->severity == GRIDDEP_SEVERITY_ERROR;
        audit->doubts += is_doubt(finding);
    }
}

static void add_process(gd_audit *audit, const gd_attached_file *file)
{
    if (file->process != NULL)
        audit->lost += file->process->lost;
    if (file->process != NULL && file->process->clock != GD_ATTACHED_CLOCK_NONE)
        audit->clock = file->process->clock == GD_ATTACHED_CLOCK_CUPTI ? "CUPTI" : "events";
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_MODULE]; i++) {
        const gd_attached_module *module = gd_attached_get(file, GD_ATTACHED_MODULE, i);
        audit->rewritten += module->rewritten;
    }
    for (uint32_t i = 0; i < file->counts[GD_ATTACHED_GRAPH]; i++) {
        const gd_attached_graph *graph = gd_attached_get(file, GD_ATTACHED_GRAPH, i);
        audit->changed_edges += graph->changed;
    }
}

static void add_kernels(gd_audit *audit, gd_place_files *files)
{
    sort(audit->seen.kernels, audit->seen.kernel_count, sizeof(*audit->seen.kernels),
         compare_kernels);
    audit->places = gd_heap_take(audit->seen.kernel_count, sizeof(*audit->places));
    for (uint32_t i = 0; i < audit->seen.kernel_count; i++) {
        const gd_audit_kernel *kernel = &audit->seen.kernels[i];
        audit->launches += kernel->launches + kernel->graph_launches;
        audit->given += kernel->launches + kernel->sum.captured;
        audit->changed += kernel->sum.changed;
        audit->left += kernel->sum.left;
        audit->places[i] = place_of(files, kernel->file,
                                    kernel->first_plain != GD_ATTACHED_NONE ? kernel->first_plain
                                                                            : kernel->first_early);
    }
}

gd_audit gd_audit_make(const gd_attached_set *set, griddep_findings *recorded)
{
    gd_audit audit = {.seen = gd_auditmerge_make(set)};
    judging all = {.audit = &audit};
    count_behind(&audit);
    for (uint32_t i = 0; i < audit.seen.kernel_count; i++)
        judge_kernel(&all, &audit.seen.kernels[i]);
    for (uint32_t i = 0; i < audit.seen.pair_count; i++)
        judge_pair(&all, &audit.seen.pairs[i]);
    for (size_t i = 0; i < audit.seen.row_count; i++)
        judge_row(&all, &audit.seen.rows[i]);
    for (int32_t severity = GRIDDEP_SEVERITY_ERROR;
         recorded != NULL && severity >= GRIDDEP_SEVERITY_WARNING; severity--)
        judge_recorded(&all, recorded, severity);
    add_kernels(&audit, &all.files); /* in another order: pairs count them as they were */
    sort(audit.gaps, audit.gap_count, sizeof(*audit.gaps), compare_gaps);
    sort(audit.findings, audit.finding_count, sizeof(*audit.findings), compare_findings);
    fold(&audit);
    count_findings(&audit);
    for (size_t i = 0; i < set->count; i++)
        add_process(&audit, &set->files[i]);
    gd_place_end(&all.files);
    return audit;
}

void gd_audit_free(gd_audit *audit)
{
    for (uint32_t i = 0; i < audit->seen.kernel_count; i++)
        gd_frames_free(&audit->places[i]);
    for (size_t i = 0; i < audit->finding_count; i++) {
        free(audit->findings[i].text);
        gd_frames_free(&audit->findings[i].place);
    }
    free(audit->places);
    free(audit->findings);
    free(audit->gaps);
    gd_auditmerge_free(&audit->seen);
    *audit = (gd_audit){0};
}

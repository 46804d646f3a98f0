/* Reading a timeline out, and what several pictures need of it. */
#include "cli/show/traceview.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/name.h"

static int report_timeline_error(const griddep_error *error)
{
    return gd_message_library(error, "reading the timeline");
}

static int read_column(gd_traceview_launch *launch, griddep_timeline *timeline, uint32_t index,
                       int32_t column)
{
    griddep_error error;
    uint64_t count = 0;
    griddep_error_init(&error);
    launch->columns[column] = gd_heap_take(launch->blocks, sizeof(int64_t));
    if (griddep_timeline_read(timeline, index, column, launch->columns[column], launch->blocks,
                              &count, &error) != GRIDDEP_OK)
        return report_timeline_error(&error);
    return 0;
}

/* ---- why a launch began no earlier ---- */

static bool is_early(int32_t reason)
{
    return reason == GRIDDEP_REASON_SET || reason == GRIDDEP_REASON_FORCED;
}

/* What an SM has too little of: "no room: threads, registers". */
static void read_lacking(gd_traceview_launch *launch, griddep_chain *chain, int32_t mode,
                         uint32_t index)
{
    griddep_explanation *explanation = NULL;
    griddep_condition condition = {.size = sizeof(condition)};
    char *names = NULL;
    if (griddep_chain_explain(chain, mode, index, &explanation, NULL) != GRIDDEP_OK)
        return;
    for (uint32_t i = 0; griddep_explanation_get(explanation, i, &condition, NULL) == GRIDDEP_OK;
         i++) {
        bool is_carved = condition.reason == GRIDDEP_REASON_CARVEOUT;
        if (condition.met != 0 || (condition.reason != GRIDDEP_REASON_NO_ROOM && !is_carved))
            continue;
        if (launch->why_late == NULL)
            launch->why_late = gd_heap_format("%s", condition.text);
        if (strcmp(condition.name, "room beside") == 0)
            continue;
        char *more = gd_heap_format("%s%s%s", names == NULL ? "" : names, names == NULL ? "" : ", ",
                                    condition.name);
        free(names);
        names = more;
    }
    if (names != NULL)
        launch->late = gd_heap_format("no room: %s", names);
    free(names);
    griddep_explanation_destroy(explanation);
}

/* A launch that may start early and has room begins soon after the trigger. One that begins after
 * blocks of the launch before have ended has waited for their room. */
static void read_late(gd_traceview *view, griddep_timeline *timeline, uint32_t index)
{
    gd_traceview_launch *launch = &view->launches[index];
    griddep_timeline_launch from = {.size = sizeof(from)};
    if ((view->info.mode != GRIDDEP_MODE_PDL && view->info.mode != GRIDDEP_MODE_GRAPH_PDL) ||
        !launch->has_hop)
        return;
    if (!is_early(launch->reason)) {
        launch->why_late = gd_heap_format("%s", griddep_text(GRIDDEP_TEXT_REASON, launch->reason));
        launch->late =
            gd_heap_format("%.*s", (int)strcspn(launch->why_late, ":"), launch->why_late);
    } else if (griddep_timeline_get_launch(timeline, launch->hop.from, &from, NULL) == GRIDDEP_OK &&
               from.lane == launch->figures.lane &&
               launch->figures.first_entry >= from.first_exit) {
        read_lacking(launch, griddep_timeline_get_chain(timeline), view->info.mode, index);
    }
}

static int read_launch(gd_traceview *view, griddep_timeline *timeline, uint32_t index)
{
    gd_traceview_launch *launch = &view->launches[index];
    griddep_hop_info decision = {.size = sizeof(decision)};
    griddep_error error;
    griddep_error_init(&error);
    launch->figures.size = sizeof(launch->figures);
    launch->hop.size = sizeof(launch->hop);
    if (griddep_timeline_get_launch(timeline, index, &launch->figures, &error) != GRIDDEP_OK)
        return report_timeline_error(&error);
    if (griddep_chain_get_hop(griddep_timeline_get_chain(timeline), view->info.mode, index,
                              &decision, &error) != GRIDDEP_OK)
        return report_timeline_error(&error);
    launch->reason = decision.reason;
    launch->has_hop = griddep_timeline_get_hop(timeline, index, &launch->hop, &error) == GRIDDEP_OK;
    read_late(view, timeline, index);
    launch->blocks = launch->figures.blocks_kept;
    int code = 0;
    for (int32_t column = 0;
         column < GRIDDEP_STAMP_MARK + (int32_t)launch->figures.mark_count && code == 0; column++)
        code = read_column(launch, timeline, index, column);
    for (uint32_t mark = 0; mark < launch->figures.mark_count; mark++)
        launch->marks[mark] = griddep_timeline_get_mark(timeline, index, mark);
    return code;
}

gd_traceview gd_traceview_of(const gd_plan *plan, const griddep_runtime_info *device)
{
    return (gd_traceview){
        .chain = plan->name, .device = device, .plan = plan, .step_bytes = plan->step_bytes};
}

int gd_traceview_read(gd_traceview *view, griddep_timeline *timeline)
{
    griddep_error error;
    griddep_error_init(&error);
    view->info.size = sizeof(view->info);
    if (griddep_timeline_get_info(timeline, &view->info, &error) != GRIDDEP_OK)
        return report_timeline_error(&error);
    view->count = view->info.launch_count;
    view->launches = gd_heap_take(view->count, sizeof(*view->launches));
    int code = 0;
    for (uint32_t i = 0; i < view->count && code == 0; i++)
        code = read_launch(view, timeline, i);
    return code;
}

void gd_traceview_free(gd_traceview *view)
{
    for (uint32_t i = 0; i < view->count; i++) {
        for (int32_t column = 0; column < GD_TRACEVIEW_COLUMNS; column++)
            free(view->launches[i].columns[column]);
        free(view->launches[i].late);
        free(view->launches[i].why_late);
    }
    free(view->launches);
    view->launches = NULL;
    view->count = 0;
}

/* ---- names ---- */

const char *gd_traceview_name(const gd_traceview *view, uint32_t launch)
{
    return view->plan != NULL ? gd_plan_launch_name(view->plan, launch)
                              : view->launches[launch].figures.kernel;
}

/* Bytes of the first `columns` characters of UTF-8. */
static size_t prefix(const char *text, size_t columns)
{
    size_t at = 0;
    while (text[at] != '\0' && columns > 0) {
        do
            at++;
        while (((unsigned char)text[at] & 0xc0) == 0x80);
        columns--;
    }
    return at;
}

size_t gd_traceview_columns(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

char *gd_traceview_short(const gd_traceview *view, uint32_t launch, uint32_t width, const char *gap)
{
    const char *kernel = gd_traceview_name(view, launch);
    char *name = gd_output_told(kernel), *made = NULL;
    if ((view->plan == NULL || strncmp(kernel, "_Z", 2) == 0) &&
        gd_traceview_columns(name) > width) {
        char *whole = name;
        name = gd_name_own(whole);
        free(whole);
    }
    size_t length = gd_traceview_columns(name), hole = gd_traceview_columns(gap);
    if (length <= width || width <= hole) {
        made = gd_heap_format("%.*s", (int)prefix(name, width), name);
    } else {
        size_t behind = (width - hole) / 2, before = width - hole - behind;
        made = gd_heap_format("%.*s%s%s", (int)prefix(name, before), name, gap,
                              name + prefix(name, length - behind));
    }
    free(name);
    return made;
}

char *gd_traceview_label(const gd_traceview *view, uint32_t launch, uint32_t width, const char *gap)
{
    char number[16];
    uint32_t used = (uint32_t)snprintf(number, sizeof(number), "%u ", (unsigned)launch);
    char *name = gd_traceview_short(view, launch, width > used ? width - used : 0, gap);
    char *label = gd_heap_format("%s%s", number, name);
    free(name);
    return label;
}

/* ---- order ---- */

uint32_t *gd_traceview_producers(const gd_traceview *view, uint32_t launch, uint32_t *count)
{
    const gd_traceview_launch *of = &view->launches[launch];
    const gd_plan_launch *planned = view->plan != NULL ? &view->plan->launches[launch] : NULL;
    uint32_t others = planned != NULL ? planned->after_count : 0;
    uint32_t *list = gd_heap_take((size_t)others + 1, sizeof(*list));
    uint32_t before = launch;
    *count = 0;
    if (of->has_hop)
        list[(*count)++] = of->hop.from;
    for (uint32_t i = 0; i < others; i++)
        if (planned->after[i] != of->hop.from)
            list[(*count)++] = planned->after[i];
    while (before > 0 && view->launches[before - 1].figures.lane != of->figures.lane)
        before--;
    if (before > 0 && of->has_hop && before - 1 != of->hop.from)
        list[(*count)++] = before - 1;
    return list;
}

/* ---- blocks ---- */

const char *const gd_traceview_parts[GD_PARTS] = {"at work", "before its wait", "waiting"};

bool gd_traceview_get_block(const gd_traceview_launch *launch, uint32_t block,
                            gd_traceview_block *made)
{
    int64_t entry = launch->columns[GRIDDEP_STAMP_ENTRY][block];
    int64_t wait = launch->columns[GRIDDEP_STAMP_WAIT][block];
    int64_t release = launch->columns[GRIDDEP_STAMP_RELEASE][block];
    int64_t leaves = launch->columns[GRIDDEP_STAMP_EXIT][block];
    if (entry == GRIDDEP_STAMP_NONE || leaves == GRIDDEP_STAMP_NONE)
        return false;
    if (wait == GRIDDEP_STAMP_NONE || release == GRIDDEP_STAMP_NONE)
        wait = release = entry;
    *made =
        (gd_traceview_block){entry, leaves, {{release, leaves}, {entry, wait}, {wait, release}}};
    return entry <= wait && wait <= release && release <= leaves;
}

/* ---- load ---- */

/* Adds the stretch from start to end, in parts of the span, to each part that it meets. */
static void add_stretch(gd_traceview_load *load, uint32_t count, int part, double start, double end)
{
    for (uint32_t i = start > 0 ? (uint32_t)start : 0; i < count && i < end; i++) {
        double from = fmax(start, i), to = fmin(end, i + 1.0);
        if (from < to)
            load[i].parts[part] += to - from;
    }
}

static double sum_of(const gd_traceview_load *load)
{
    return load->parts[GD_PART_PREAMBLE] + load->parts[GD_PART_WAIT] + load->parts[GD_PART_WORK];
}

gd_traceview_load *gd_traceview_load_of(const gd_traceview *view, uint32_t index, uint32_t count)
{
    const gd_traceview_launch *launch = &view->launches[index];
    gd_traceview_load *load = gd_heap_take(count, sizeof(*load));
    double scale = view->info.span > 0 ? count / view->info.span : 0, most = 0;
    for (uint32_t block = 0; block < launch->blocks; block++) {
        gd_traceview_block made;
        if (!gd_traceview_get_block(launch, block, &made))
            continue;
        for (int part = 0; part < GD_PARTS; part++)
            add_stretch(load, count, part, (double)made.parts[part].start * scale,
                        (double)made.parts[part].end * scale);
    }
    for (uint32_t i = 0; i < count; i++)
        most = fmax(most, sum_of(&load[i]));
    for (uint32_t i = 0; i < count && most > 0; i++)
        for (int part = 0; part < GD_PARTS; part++)
            load[i].parts[part] /= most;
    return load;
}

/* ---- places ---- */

typedef struct placed {
    int64_t sm, entry, exit;
    uint32_t launch, block;
} placed;

static int compare_placed(const void *first, const void *second)
{
    const placed *a = first, *b = second;
    if (a->sm != b->sm)
        return a->sm < b->sm ? -1 : 1;
    if (a->entry != b->entry)
        return a->entry < b->entry ? -1 : 1;
    if (a->launch != b->launch)
        return a->launch < b->launch ? -1 : 1;
    return (a->block > b->block) - (a->block < b->block);
}

enum { MOST_PLACES = 256 };

static uint32_t find_place(int64_t *busy_until, const placed *item)
{
    uint32_t place = 0;
    while (place < MOST_PLACES - 1 && busy_until[place] > item->entry)
        place++;
    busy_until[place] = item->exit;
    return place;
}

uint32_t **gd_traceview_make_places(const gd_traceview *view, uint32_t *most)
{
    placed *list = gd_heap_take(view->info.blocks_kept, sizeof(*list));
    uint32_t **places = gd_heap_take(view->count, sizeof(*places));
    int64_t busy_until[MOST_PLACES] = {0};
    size_t count = 0;
    *most = 1;
    for (uint32_t i = 0; i < view->count; i++) {
        const gd_traceview_launch *launch = &view->launches[i];
        places[i] = gd_heap_take(launch->blocks, sizeof(uint32_t));
        for (uint32_t block = 0; block < launch->blocks; block++) {
            gd_traceview_block parts;
            if (gd_traceview_get_block(launch, block, &parts))
                list[count++] = (placed){launch->columns[GRIDDEP_STAMP_SM][block], parts.entry,
                                         parts.exit, i, block};
        }
    }
    if (count > 0)
        qsort(list, count, sizeof(*list), compare_placed);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t place = 0; place < MOST_PLACES && (i == 0 || list[i - 1].sm != list[i].sm);
             place++)
            busy_until[place] = 0;
        uint32_t place = find_place(busy_until, &list[i]);
        places[list[i].launch][list[i].block] = place;
        *most = place + 1 > *most ? place + 1 : *most;
    }
    free(list);
    return places;
}

void gd_traceview_free_places(const gd_traceview *view, uint32_t **places)
{
    for (uint32_t i = 0; i < view->count; i++)
        free(places[i]);
    free(places);
}

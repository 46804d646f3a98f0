/* A traced run in the Chrome trace format, which Perfetto (ui.perfetto.dev) and chrome://tracing
 * open: a track for each multiprocessor, and more where blocks ran side by side on it; a track for
 * launches; arrows from the last trigger (the last exit, where nothing triggers) of a launch to the
 * first release of the next. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/outputfile.h"
#include "cli/show/traceview.h"

enum { SM_PROCESS = 1, LAUNCH_PROCESS = 2, TRACKS = 256 };

typedef struct gd_perfetto {
    const gd_traceview *view;
    json_t *events;
    uint32_t **places;
    uint32_t most;
    bool *named; /* tracks of multiprocessors */
} gd_perfetto;

/* An event at a time in nanoseconds; the format has microseconds. */
static json_t *add_event(gd_perfetto *perfetto, const char *phase, const char *name, int process,
                         int64_t track, double time)
{
    json_t *event =
        GD_OBJECT({"ph", gd_output_string(phase)}, {"name", gd_output_string(name)},
                  {"pid", json_integer(process)}, {"tid", json_integer((json_int_t)track)},
                  {"ts", gd_output_real(time * 1e-3)});
    gd_output_append(perfetto->events, event);
    return event;
}

static json_t *add_slice(gd_perfetto *perfetto, const char *name, int process, int64_t track,
                         double start, double end)
{
    json_t *event = add_event(perfetto, "X", name, process, track, start);
    gd_output_set(event, "dur", gd_output_real((end - start) * 1e-3));
    return event;
}

static void name_thing(gd_perfetto *perfetto, const char *what, int process, int64_t track,
                       const char *name)
{
    json_t *event = add_event(perfetto, "M", what, process, track, 0), *arguments = json_object();
    gd_output_set(arguments, "name", gd_output_string(name));
    gd_output_set(event, "args", arguments);
    if (strcmp(what, "thread_name") != 0)
        return;
    event = add_event(perfetto, "M", "thread_sort_index", process, track, 0);
    arguments = json_object();
    gd_output_set(arguments, "sort_index", json_integer((json_int_t)track));
    gd_output_set(event, "args", arguments);
}

static int64_t track_of(const gd_perfetto *perfetto, uint32_t launch, uint32_t block)
{
    return perfetto->view->launches[launch].columns[GRIDDEP_STAMP_SM][block] * TRACKS +
           perfetto->places[launch][block];
}

static void name_track(gd_perfetto *perfetto, uint32_t launch, uint32_t block)
{
    int64_t track = track_of(perfetto, launch, block), sm = track / TRACKS;
    if (sm < 0 || sm >= perfetto->view->info.multiprocessors || perfetto->named[track])
        return;
    perfetto->named[track] = true;
    const char *what = perfetto->view->clock != NULL ? "stream" : "SM";
    char *name = track % TRACKS == 0 ? gd_heap_format("%s %u", what, (unsigned)sm)
                                     : gd_heap_format("%s %u, beside %u", what, (unsigned)sm,
                                                      (unsigned)(track % TRACKS));
    name_thing(perfetto, "thread_name", SM_PROCESS, track, name);
    free(name);
}

static void add_block(gd_perfetto *perfetto, uint32_t index, uint32_t block)
{
    const gd_traceview_launch *launch = &perfetto->view->launches[index];
    gd_traceview_block made;
    if (!gd_traceview_get_block(launch, block, &made))
        return;
    int64_t track = track_of(perfetto, index, block);
    name_track(perfetto, index, block);
    json_t *event = add_slice(perfetto, gd_traceview_name(perfetto->view, index), SM_PROCESS, track,
                              (double)made.entry, (double)made.exit);
    json_t *arguments = perfetto->view->clock != NULL
                            ? GD_OBJECT({"launch", json_integer(block)})
                            : GD_OBJECT({"launch", json_integer(index)},
                                        {"kernel", gd_output_string(launch->figures.kernel)},
                                        {"block", json_integer(block)});
    gd_output_set(event, "args", arguments);
    for (int part = 0; part < GD_PARTS && made.parts[GD_PART_WORK].start > made.entry; part++)
        if (made.parts[part].end > made.parts[part].start || part == GD_PART_WORK)
            add_slice(perfetto, gd_traceview_parts[part], SM_PROCESS, track,
                      (double)made.parts[part].start, (double)made.parts[part].end);
    if (launch->columns[GRIDDEP_STAMP_TRIGGER][block] != GRIDDEP_STAMP_NONE)
        gd_output_set(add_event(perfetto, "i", "trigger", SM_PROCESS, track,
                                (double)launch->columns[GRIDDEP_STAMP_TRIGGER][block]),
                      "s", gd_output_string("t"));
    for (uint32_t mark = 0; mark < launch->figures.mark_count; mark++) {
        int64_t time = launch->columns[GRIDDEP_STAMP_MARK + mark][block];
        if (time != GRIDDEP_STAMP_NONE)
            gd_output_set(
                add_event(perfetto, "i", launch->marks[mark], SM_PROCESS, track, (double)time), "s",
                gd_output_string("t"));
    }
}

/* The block with the first or the last time in a column; false: there is none. */
static bool find_extreme(const gd_traceview_launch *launch, int32_t column, bool last,
                         uint32_t *found)
{
    const int64_t *times = launch->columns[column];
    bool any = false;
    for (uint32_t block = 0; block < launch->blocks; block++) {
        gd_traceview_block parts;
        if (times[block] == GRIDDEP_STAMP_NONE || !gd_traceview_get_block(launch, block, &parts))
            continue;
        if (!any || (last ? times[block] > times[*found] : times[block] < times[*found]))
            *found = block;
        any = true;
    }
    return any;
}

static void add_arrow(gd_perfetto *perfetto, uint32_t index)
{
    const gd_traceview_launch *launch = &perfetto->view->launches[index];
    if (!launch->has_hop)
        return;
    const gd_traceview_launch *from = &perfetto->view->launches[launch->hop.from];
    uint32_t start = 0, end = 0;
    int32_t leaves = GRIDDEP_STAMP_TRIGGER, arrives = GRIDDEP_STAMP_RELEASE;
    bool is_there = find_extreme(from, leaves, true, &start);
    if (!is_there)
        is_there = find_extreme(from, leaves = GRIDDEP_STAMP_EXIT, true, &start);
    bool releases = find_extreme(launch, arrives, false, &end);
    if (!releases)
        releases = find_extreme(launch, arrives = GRIDDEP_STAMP_ENTRY, false, &end);
    if (!is_there || !releases)
        return;
    json_t *event =
        add_event(perfetto, "s", "hop", SM_PROCESS, track_of(perfetto, launch->hop.from, start),
                  (double)from->columns[leaves][start]);
    GD_SET(event, {"id", json_integer(index)}, {"cat", gd_output_string("hop")});
    event = add_event(perfetto, "f", "hop", SM_PROCESS, track_of(perfetto, index, end),
                      (double)launch->columns[arrives][end]);
    GD_SET(event, {"id", json_integer(index)}, {"cat", gd_output_string("hop")},
           {"bp", gd_output_string("e")});
}

/* Launches overlap, so each has a track. */
static void add_launch(gd_perfetto *perfetto, uint32_t index)
{
    const gd_traceview_launch *launch = &perfetto->view->launches[index];
    char *name = gd_heap_format("%u %s", (unsigned)index, gd_traceview_name(perfetto->view, index));
    name_thing(perfetto, "thread_name", LAUNCH_PROCESS, index, name);
    if (launch->figures.last_exit >= launch->figures.first_entry)
        add_slice(perfetto, gd_traceview_name(perfetto->view, index), LAUNCH_PROCESS, index,
                  launch->figures.first_entry, launch->figures.last_exit);
    free(name);
}

int gd_traceperfetto_write(const gd_traceview *view, const char *path)
{
    gd_perfetto perfetto = {.view = view, .events = json_array()};
    json_t *document = json_object();
    perfetto.named = gd_heap_take((size_t)view->info.multiprocessors * TRACKS, sizeof(bool));
    perfetto.places = gd_traceview_make_places(view, &perfetto.most);
    name_thing(&perfetto, "process_name", SM_PROCESS, 0,
               view->clock != NULL   ? "streams"
               : view->info.emulated ? "multiprocessors (model time)"
                                     : "multiprocessors");
    if (view->clock == NULL)
        name_thing(&perfetto, "process_name", LAUNCH_PROCESS, 0, "launches");
    for (uint32_t i = 0; i < view->count; i++) {
        if (view->clock == NULL)
            add_launch(&perfetto, i);
        for (uint32_t block = 0; block < view->launches[i].blocks; block++)
            add_block(&perfetto, i, block);
        add_arrow(&perfetto, i);
    }
    GD_SET(document, {"traceEvents", perfetto.events}, {"displayTimeUnit", gd_output_string("ns")});
    char *text = json_dumps(document, JSON_COMPACT);
    int code = text != NULL ? gd_outputfile_write(path, text, strlen(text))
                            : gd_message_error(GD_EXIT_REFUSED, "there is no memory for the trace");
    free(text);
    json_decref(document);
    gd_traceview_free_places(view, perfetto.places);
    free(perfetto.named);
    return code;
}

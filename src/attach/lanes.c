/* Of each stream the last launch, and what its next one follows besides. What the host knows of
 * holds for all that is launched behind. */
#include "attach/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "attach/map.h"
#include "attach/process.h"
#include "attach/record.h"

typedef struct marks {
    uint32_t *list; /* launches */
    uint32_t count;
} marks;

typedef struct lane {
    uint32_t number, last; /* last: GD_ATTACHED_NONE where there is none */
    bool blocking;
    marks after;
} lane;

static struct {
    lane **list;
    uint32_t count;
    gd_map streams, events; /* to lanes and marks */
    marks floor;            /* what a new stream's first launch follows */
    uint32_t *lanes;        /* by launch */
    uint32_t launches;
} all;

static void add(marks *to, uint32_t launch)
{
    uint32_t *grown;

    for (uint32_t i = 0; i < to->count; i++) {
        if (to->list[i] == launch)
            return;
    }
    if (launch == GD_ATTACHED_NONE || !(grown = realloc(to->list, (to->count + 1) * sizeof *grown)))
        return;
    to->list = grown;
    grown[to->count++] = launch;
}

static void add_all(marks *to, const marks *from)
{
    for (uint32_t i = 0; i < from->count; i++)
        add(to, from->list[i]);
}

static void clear(marks *of)
{
    free(of->list);
    *of = (marks){0};
}

static lane *lane_of(gd_CUstream stream)
{
    const uint64_t key = (uint64_t)(uintptr_t)stream, owner = gd_streams_owner(stream);
    lane *made = gd_map_find(&all.streams, key, owner);
    lane **grown;

    if (made || !(grown = realloc(all.list, (all.count + 1) * sizeof *grown)))
        return made;
    all.list = grown;
    made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    if (!gd_map_set(&all.streams, key, owner, made)) {
        free(made);
        return NULL;
    }
    *made = (lane){
        .number = all.count, .last = GD_ATTACHED_NONE, .blocking = gd_streams_is_blocking(stream)};
    add_all(&made->after, &all.floor);
    grown[all.count++] = made;
    return made;
}

/* What was launched before is followed by all that will be. */
static void follow_by_all(const marks *of)
{
    add_all(&all.floor, of);
    for (uint32_t i = 0; i < all.count; i++)
        add_all(&all.list[i]->after, of);
}

static void note_lane(uint32_t launch, uint32_t number)
{
    uint32_t *grown = realloc(all.lanes, ((size_t)launch + 1) * sizeof *grown);

    if (!grown)
        return;
    all.lanes = grown;
    for (; all.launches < launch; all.launches++)
        grown[all.launches] = GD_ATTACHED_NONE;
    grown[launch] = number;
    all.launches = launch + 1;
}

static void write_after(const lane *in, uint32_t launch)
{
    for (uint32_t i = 0; i < in->after.count; i++) {
        const uint32_t before = in->after.list[i];
        if (before < all.launches && all.lanes[before] == in->number)
            continue; /* the stream itself orders them */
        gd_attached_after *record = gd_record_add(GD_ATTACHED_AFTER, sizeof *record, "", NULL);
        record->launch = launch;
        record->before = before;
        gd_record_commit(record, GD_ATTACHED_AFTER);
    }
}

uint32_t gd_lanes_launch(const gd_seen_launch *launch, uint32_t number)
{
    const gd_CUstream stream = gd_streams_name(launch->config->hStream, launch->per_thread);
    const bool legacy = stream == GD_CU_STREAM_LEGACY;
    lane *in = lane_of(stream);

    if (!in)
        return 0;
    for (uint32_t i = 0; i < all.count && legacy; i++) {
        if (all.list[i]->blocking)
            add(&in->after, all.list[i]->last);
    }
    write_after(in, number);
    note_lane(number, in->number);
    clear(&in->after);
    in->last = number;
    for (uint32_t i = 0; i < all.count && legacy; i++) {
        if (all.list[i]->blocking)
            add(&all.list[i]->after, number);
    }
    return in->number;
}

static marks *marks_of(gd_CUevent event)
{
    const uint64_t key = (uint64_t)(uintptr_t)event;
    marks *found = gd_map_find(&all.events, key, 0);

    if (found || !(found = calloc(1, sizeof *found)))
        return found;
    if (!gd_map_set(&all.events, key, 0, found)) {
        free(found);
        return NULL;
    }
    return found;
}

static void record(const lane *in, gd_CUevent event)
{
    marks *of = marks_of(event);

    if (!of)
        return;
    clear(of);
    add_all(of, &in->after);
    add(of, in->last);
}

void gd_lanes_work(gd_CUstream stream, uint32_t bit, gd_CUevent event)
{
    lane *in = gd_process_settings()->launches ? lane_of(stream) : NULL;

    if (!in)
        return;
    if (bit == GD_ATTACHED_RECORD)
        record(in, event);
    else if (bit == GD_ATTACHED_WAIT && marks_of(event))
        add_all(&in->after, marks_of(event));
    else if (bit == GD_ATTACHED_SYNCHRONIZED)
        gd_lanes_stream(stream);
    if (stream == GD_CU_STREAM_LEGACY)
        gd_lanes_all();
}

void gd_lanes_event(gd_CUevent event)
{
    const marks *of = gd_process_settings()->launches ? marks_of(event) : NULL;

    if (of)
        follow_by_all(of);
}

void gd_lanes_stream(gd_CUstream stream)
{
    const lane *in = gd_process_settings()->launches ? lane_of(stream) : NULL;
    marks of = {0};

    if (!in)
        return;
    add_all(&of, &in->after);
    add(&of, in->last);
    follow_by_all(&of);
    clear(&of);
}

void gd_lanes_all(void)
{
    marks of = {0};

    for (uint32_t i = 0; i < all.count; i++)
        add(&of, all.list[i]->last);
    clear(&all.floor);
    follow_by_all(&of);
    clear(&of);
}

void gd_lanes_forget(void)
{
    for (uint32_t i = 0; i < all.count; i++) {
        clear(&all.list[i]->after);
        free(all.list[i]);
    }
    for (size_t i = 0; i < all.events.capacity; i++) {
        marks *of = all.events.slots[i].value;
        if (of)
            clear(of);
        free(of);
    }
    gd_map_free(&all.streams);
    gd_map_free(&all.events);
    clear(&all.floor);
    free(all.list);
    free(all.lanes);
    memset(&all, 0, sizeof all);
}

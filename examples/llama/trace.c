/* A step's timeline as text, a line a launch. The library instruments copies of the kernels.
 * Several devices run their timelines at once, a thread each, since they wait for each other's
 * hops; their lines stand on one axis. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "generate.h"

enum { WIDTH = 64, MOST_BLOCKS = 128 /* of a hop that are compared */ };

/* One device's. */
typedef struct lane {
    const model *of;
    griddep_timeline *timeline;
    void *stream;
    int32_t mode, status;
    griddep_error error;
    griddep_timeline_info info;
    double ahead_least, ahead_most; /* its clock before the first device's, as far as hops tell */
    double correction, shift;       /* nanoseconds: of its clock, and of its times on the axis */
} lane;

typedef struct picture {
    lane lanes[MOST_DEVICES];
    uint32_t count;
    double span;
} picture;

/* ---- running ---- */

static void prepare(picture *of, const model *first, int32_t mode, void *const *streams)
{
    for (const model *each = first; each; each = each->next) {
        lane *at = &of->lanes[of->count++];
        *at = (lane){.of = each,
                     .stream = streams[each->index],
                     .mode = mode,
                     .error = {.size = sizeof at->error},
                     .info = {.size = sizeof at->info}};
        check(griddep_timeline_create(each->step, NULL, &at->timeline, &error), "the picture");
        check(griddep_chain_prepare(griddep_timeline_get_chain(at->timeline), mode, &error),
              "the picture");
    }
}

static void *run_lane(void *user)
{
    lane *at = user;

    at->status = griddep_timeline_run(at->timeline, at->mode, at->stream, &at->error);
    return NULL;
}

/* Behind a plain step, during which the traced one is queued. */
static void run(picture *of)
{
    pthread_t threads[MOST_DEVICES];

    for (uint32_t i = 0; i < of->count; i++)
        check(griddep_chain_run(of->lanes[i].of->step, of->lanes[i].mode, of->lanes[i].stream,
                                &error),
              "a step");
    for (uint32_t i = 1; i < of->count; i++)
        if (pthread_create(&threads[i], NULL, run_lane, &of->lanes[i]))
            fail("the picture: a device's thread could not be started");
    run_lane(&of->lanes[0]);
    for (uint32_t i = 1; i < of->count; i++)
        pthread_join(threads[i], NULL);
    model_check(of->lanes[0].of);
    for (uint32_t i = 0; i < of->count; i++) {
        lane *at = &of->lanes[i];
        error = at->error;
        check(at->status, "the picture");
        check(griddep_timeline_get_info(at->timeline, &at->info, &error), "the picture");
    }
}

/* ---- one axis ---- */

/* The library's kernels that devices meet in. */
static bool is_hop(const lane *at, uint32_t index)
{
    griddep_timeline_launch launch = {.size = sizeof launch};

    check(griddep_timeline_get_launch(at->timeline, index, &launch, &error), "the picture");
    return !strncmp(launch.kernel, "sum_", 4) || !strcmp(launch.kernel, "move");
}

static uint64_t read_column(const lane *at, uint32_t index, int32_t column, int64_t *values)
{
    uint64_t count = 0;

    check(griddep_timeline_read(at->timeline, index, column, values, MOST_BLOCKS, &count, &error),
          "the picture");
    return count < MOST_BLOCKS ? count : MOST_BLOCKS;
}

/* The least time from a block's release on one device to the same block's exit on the other. A
 * block sends behind its release, and ends behind what the other one has sent: in true time this
 * is more than 0. */
static double least_way(const lane *from, const lane *to)
{
    const double apart = (double)(int64_t)(to->info.origin - from->info.origin);
    int64_t releases[MOST_BLOCKS], exits[MOST_BLOCKS];
    double least = INFINITY;

    for (uint32_t i = 0; i < from->info.launch_count && i < to->info.launch_count; i++) {
        if (!is_hop(from, i) || !is_hop(to, i))
            continue;
        uint64_t count = read_column(from, i, GRIDDEP_STAMP_RELEASE, releases);
        uint64_t other = read_column(to, i, GRIDDEP_STAMP_EXIT, exits);
        for (uint64_t k = 0; k < count && k < other; k++)
            if (releases[k] != GRIDDEP_STAMP_NONE && exits[k] != GRIDDEP_STAMP_NONE)
                least = fmin(least, (double)(exits[k] - releases[k]) + apart);
    }
    return least;
}

/* Clocks that hops allow to be equal are taken to be so. */
static void compare_clocks(const lane *first, lane *at)
{
    at->ahead_most = least_way(first, at);
    at->ahead_least = -least_way(at, first);
    if (at->ahead_least > 0 || at->ahead_most < 0)
        at->correction = -(at->ahead_least + at->ahead_most) / 2;
}

static void align(picture *of)
{
    double begin = 0;

    for (uint32_t i = 0; i < of->count; i++) {
        lane *at = &of->lanes[i];
        if (i)
            compare_clocks(&of->lanes[0], at);
        at->shift = (double)(int64_t)(at->info.origin - of->lanes[0].info.origin) + at->correction;
        begin = fmin(begin, at->shift);
    }
    for (uint32_t i = 0; i < of->count; i++) {
        of->lanes[i].shift -= begin;
        of->span = fmax(of->span, of->lanes[i].shift + of->lanes[i].info.span);
    }
}

/* ---- drawing ---- */

static void draw_between(char *bar, double span, double from, double to, char with)
{
    if (isnan(from) || isnan(to))
        return;
    int first = (int)(from / span * WIDTH), last = (int)ceil(to / span * WIDTH);
    for (int i = first < 0 ? 0 : first; i < WIDTH && (i < last || i == first); i++)
        bar[i] = with;
}

static void print_launch(FILE *out, const picture *of, const lane *at, uint32_t index)
{
    griddep_timeline_launch launch = {.size = sizeof launch};
    griddep_timeline_hop hop = {.size = sizeof hop};
    char bar[WIDTH + 1];

    check(griddep_timeline_get_launch(at->timeline, index, &launch, &error), "the picture");
    bool follows = griddep_timeline_get_hop(at->timeline, index, &hop, NULL) == GRIDDEP_OK;
    double released = isnan(launch.first_release) ? launch.first_entry : launch.first_release;
    memset(bar, ' ', WIDTH);
    bar[WIDTH] = 0;
    draw_between(bar, of->span, launch.first_entry + at->shift, released + at->shift, '.');
    draw_between(bar, of->span, released + at->shift, launch.last_exit + at->shift, '#');
    if (of->count > 1)
        fprintf(out, "%-2d", at->of->device.device);
    fprintf(out, "%-26s|%s| %9.2f %8.2f", launch.kernel, bar,
            (launch.first_entry + at->shift) / 1e3, (launch.last_exit - released) / 1e3);
    if (follows && !isnan(hop.handoff_gap))
        fprintf(out, " %8.2f", hop.handoff_gap / 1e3);
    fputc('\n', out);
}

static void print_clock(FILE *out, const lane *first, const lane *at)
{
    const int own = at->of->device.device, other = first->of->device.device;

    if (isinf(at->ahead_least) || isinf(at->ahead_most)) {
        fprintf(out, "no hop tells how well the clocks of devices %d and %d agree\n", other, own);
        return;
    }
    fprintf(out, "device %d's clock minus device %d's is %.2f to %.2f us, by what hops show: ", own,
            other, at->ahead_least / 1e3, at->ahead_most / 1e3);
    if (at->correction != 0)
        fprintf(out, "its times here are %.2f us %s\n", fabs(at->correction) / 1e3,
                at->correction < 0 ? "earlier" : "later");
    else
        fprintf(out, "both count as one\n");
}

static void print_devices(FILE *out, const picture *of)
{
    fprintf(out, "one step in mode %s on %u devices, %.2f us%s\n",
            griddep_text(GRIDDEP_TEXT_MODE, of->lanes[0].mode), of->count, of->span / 1e3,
            of->lanes[0].info.emulated ? " (the emulated driver's model)" : "");
    for (uint32_t i = 0; i < of->count; i++) {
        const lane *at = &of->lanes[i];
        fprintf(out, "device %d: %u launches, %.2f us, %.1f %% of it idle\n", at->of->device.device,
                at->info.launch_count, at->info.span / 1e3, 100 * at->info.idle_share);
    }
    for (uint32_t i = 1; i < of->count; i++)
        print_clock(out, &of->lanes[0], &of->lanes[i]);
}

static void print_step(FILE *out, const picture *of)
{
    const griddep_timeline_info *info = &of->lanes[0].info;
    uint32_t most = 0;

    if (of->count > 1)
        print_devices(out, of);
    else
        fprintf(out, "one step in mode %s: %u launches, %.2f us, %.1f %% of it idle%s\n",
                griddep_text(GRIDDEP_TEXT_MODE, info->mode), info->launch_count, info->span / 1e3,
                100 * info->idle_share, info->emulated ? " (the emulated driver's model)" : "");
    fprintf(
        out,
        "a dot: blocks are there and wait; #: they work; times in us: the first block's begin,\n"
        "the work, and from the launch before to this one's release\n");
    fprintf(out, "%-26s %*s %9s %8s %8s\n", "", WIDTH + (of->count > 1 ? 3 : 1), "", "begin",
            "work", "gap");
    for (uint32_t i = 0; i < of->count; i++)
        most = of->lanes[i].info.launch_count > most ? of->lanes[i].info.launch_count : most;
    for (uint32_t i = 0; i < most; i++)
        for (uint32_t k = 0; k < of->count; k++)
            if (i < of->lanes[k].info.launch_count)
                print_launch(out, of, &of->lanes[k], i);
}

/* A FIFO without a reader is refused, for which fopen would wait. */
static FILE *open_to_write(const char *path)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0666);
    FILE *out = NULL;

    if (descriptor >= 0 && !fcntl(descriptor, F_SETFL, 0))
        out = fdopen(descriptor, "w");
    if (!out)
        fail("%s: %s", path,
             errno == ENXIO ? "this is a pipe from which no program reads" : strerror(errno));
    return out;
}

void trace_step(model *of, const token_list *prompts, const sampling *draw, int32_t mode,
                const char *path)
{
    picture drawn = {.count = 0};
    void *streams[MOST_DEVICES];
    uint32_t from[MOST_SEQUENCES] = {0};

    if (of->group && of->devices > 1 && !of->next)
        fail("--trace draws the devices of one process, and here each process has one");
    for (const model *each = of; each; each = each->next)
        check(griddep_stream_create(each->runtime, NULL, &streams[each->index], &error),
              "a stream");
    generate_start(of, prompts, draw, mode, streams, from);
    for (uint32_t i = 0; i < of->sequences; i++)
        if (from[i] + 2 > of->capacity)
            fail("--trace runs two steps behind the prompt, and the context is %u", of->capacity);
    prepare(&drawn, of, mode, streams);
    run(&drawn);
    align(&drawn);
    FILE *out = strcmp(path, "-") ? open_to_write(path) : stdout;
    print_step(out, &drawn);
    bool written = !ferror(out) && !fflush(out);
    if ((out != stdout && fclose(out)) || !written)
        fail("%s could not be written: %s", path, strerror(errno));
    for (uint32_t i = 0; i < drawn.count; i++) {
        griddep_timeline_destroy(drawn.lanes[i].timeline);
        griddep_stream_destroy(drawn.lanes[i].of->runtime, drawn.lanes[i].stream, NULL);
    }
}

/* A step's timeline as text, a line a launch. The library instruments copies of the kernels. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "generate.h"
#include "trace.h"

enum { WIDTH = 64 };

static griddep_error error = {.size = sizeof error};

static void draw_between(char *bar, double span, double from, double to, char with)
{
    if (isnan(from) || isnan(to))
        return;
    int first = (int)(from / span * WIDTH), last = (int)ceil(to / span * WIDTH);
    for (int i = first < 0 ? 0 : first; i < WIDTH && (i < last || i == first); i++)
        bar[i] = with;
}

static void print_launch(FILE *out, griddep_timeline *timeline, uint32_t index, double span)
{
    griddep_timeline_launch launch = {.size = sizeof launch};
    griddep_timeline_hop hop = {.size = sizeof hop};
    char bar[WIDTH + 1];

    check(griddep_timeline_get_launch(timeline, index, &launch, &error), &error, "the picture");
    bool follows = griddep_timeline_get_hop(timeline, index, &hop, NULL) == GRIDDEP_OK;
    double released = isnan(launch.first_release) ? launch.first_entry : launch.first_release;
    memset(bar, ' ', WIDTH);
    bar[WIDTH] = 0;
    draw_between(bar, span, launch.first_entry, released, '.');
    draw_between(bar, span, released, launch.last_exit, '#');
    fprintf(out, "%-26s|%s| %9.2f %8.2f", launch.kernel, bar, launch.first_entry / 1e3,
            (launch.last_exit - released) / 1e3);
    if (follows && !isnan(hop.handoff_gap))
        fprintf(out, " %8.2f", hop.handoff_gap / 1e3);
    fputc('\n', out);
}

static void print_step(FILE *out, griddep_timeline *timeline, const griddep_timeline_info *info)
{
    fprintf(
        out,
        "one step in mode %s: %u launches, %.2f us, %.1f %% of it idle%s\n"
        "a dot: blocks are there and wait; #: they work; times in us: the first block's begin,\n"
        "the work, and from the launch before to this one's release\n",
        griddep_text(GRIDDEP_TEXT_MODE, info->mode), info->launch_count, info->span / 1e3,
        100 * info->idle_share, info->emulated ? " (the emulated driver's model)" : "");
    fprintf(out, "%-26s %*s %9s %8s %8s\n", "", WIDTH + 1, "", "begin", "work", "gap");
    for (uint32_t i = 0; i < info->launch_count; i++)
        print_launch(out, timeline, i, info->span);
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
    griddep_timeline_info info = {.size = sizeof info};
    griddep_timeline *timeline = NULL;
    void *stream = NULL;
    uint32_t from[MOST_SEQUENCES] = {0};

    check(griddep_stream_create(of->runtime, NULL, &stream, &error), &error, "a stream");
    if (of->group)
        fail("--trace draws one device: a step by itself would wait for the others");
    generate_start(of, prompts, draw, mode, &stream, from);
    for (uint32_t i = 0; i < of->sequences; i++)
        if (from[i] + 2 > of->capacity)
            fail("--trace runs two steps behind the prompt, and the context is %u", of->capacity);
    check(griddep_timeline_create(of->step, NULL, &timeline, &error), &error, "the picture");
    check(griddep_chain_run(of->step, mode, stream, &error), &error, "a step");
    check(griddep_timeline_run(timeline, mode, stream, &error), &error, "the picture");
    check(griddep_timeline_get_info(timeline, &info, &error), &error, "the picture");
    FILE *out = strcmp(path, "-") ? open_to_write(path) : stdout;
    print_step(out, timeline, &info);
    bool written = !ferror(out) && !fflush(out);
    if ((out != stdout && fclose(out)) || !written)
        fail("%s could not be written: %s", path, strerror(errno));
    griddep_timeline_destroy(timeline);
    griddep_stream_destroy(of->runtime, stream, NULL);
}

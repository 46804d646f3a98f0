/* A traced run as a picture, one SVG that needs nothing else: above a lane for each launch, whose
 * height is how many of its blocks are at work, before their wait, or waiting; below a row for each
 * multiprocessor. The colours are Okabe and Ito's, which tell apart with any kind of colour vision;
 * neighbouring launches differ in lightness too. The viewer's preference chooses between a light
 * and a dark ground. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/outputfile.h"
#include "cli/io/xml.h"
#include "cli/show/traceview.h"

enum {
    WIDTH = 1000,
    MARGIN = 24, /* beside the widest name */
    LETTER = 6,  /* of a name, at most on average */
    RIGHT = 108,
    TOP = 84,
    LANE = 30,
    LANE_GAP = 6,
    SM_HEIGHT = 396,
    PALETTE = 6,
    LEAST_LABEL = 18,
    MOST_LABEL = 34,
    FAR = 2
};

static const double unseen = 0.3; /* picture units */

/* Classes of the parts of a block's life, behind that of its colour. */
static const char *const shades[GD_PARTS] = {"", " p", " w"};

typedef struct gd_svg {
    const gd_traceview *view;
    FILE *stream;   /* into memory */
    double scale;   /* picture units in a nanosecond */
    double longest; /* span of all pictures in the file */
    uint32_t label; /* letters of the widest name that is shown, in all pictures too */
    int left, plot; /* where time begins, and the width it has */
    uint32_t parts; /* columns that the span of this one takes */
    uint32_t **places;
    uint32_t most_places, sms; /* the numbers of multiprocessors end before */
} gd_svg;

/* Shades are colours of their own, not transparent: nothing shines through them. */
static const char style[] =
    "<style>\n"
    "svg{font:12px system-ui,'DejaVu Sans',sans-serif}\n"
    ".b{fill:#fff}text{fill:#222}.s{fill:#666;font-size:11px}.n{font-size:11px}.t{font-size:15px;"
    "font-weight:600}\n"
    ".g{stroke:#000;stroke-opacity:.12}.a{stroke:#555;fill:none}.f{stroke-opacity:.35}"
    ".d{stroke-dasharray:3 2}"
    ".l{fill:#000;fill-opacity:.04}.m{fill:#222}\n"
    ".c0{fill:#0072b2}.c0.p{fill:#80b8d8}.c0.w{fill:#d1e6f1}\n"
    ".c1{fill:#e69f00}.c1.p{fill:#f2cf80}.c1.w{fill:#fbeed1}\n"
    ".c2{fill:#009e73}.c2.p{fill:#80ceb9}.c2.w{fill:#d1eee6}\n"
    ".c3{fill:#cc79a7}.c3.p{fill:#e6bcd3}.c3.w{fill:#f6e7ef}\n"
    ".c4{fill:#56b4e9}.c4.p{fill:#aadaf4}.c4.w{fill:#e1f2fb}\n"
    ".c5{fill:#d55e00}.c5.p{fill:#eaae80}.c5.w{fill:#f7e2d1}\n"
    ".k{fill:#777777}.k.p{fill:#bbbbbb}.k.w{fill:#e7e7e7}\n"
    "@media (prefers-color-scheme:dark){\n"
    ".b{fill:#14171a}text{fill:#e6e6e6}.s{fill:#a0a6ac}.m{fill:#e6e6e6}\n"
    ".g{stroke:#fff;stroke-opacity:.16}.a{stroke:#b8bec4}.l{fill:#fff;fill-opacity:.06}\n"
    ".c0{fill:#3a9ad9}.c0.p{fill:#27587a}.c0.w{fill:#1f3c4f}\n"
    ".c1{fill:#e69f00}.c1.p{fill:#7d5b0d}.c1.w{fill:#4f3d13}\n"
    ".c2{fill:#1fbf91}.c2.p{fill:#1a6b56}.c2.w{fill:#17463b}\n"
    ".c3{fill:#cc79a7}.c3.p{fill:#704860}.c3.w{fill:#483241}\n"
    ".c4{fill:#56b4e9}.c4.p{fill:#356682}.c4.w{fill:#264354}\n"
    ".c5{fill:#f07b2e}.c5.p{fill:#824924}.c5.w{fill:#523320}\n"
    ".k{fill:#999999}.k.p{fill:#56585a}.k.w{fill:#393b3e}\n"
    "}\n"
    "</style>\n";

static double x_of(const gd_svg *svg, double nanoseconds)
{
    return svg->left + nanoseconds * svg->scale;
}

static void put_text(const gd_svg *svg, const char *text)
{
    gd_xml_put(svg->stream, text);
}

static void put_words(const gd_svg *svg, double x, double y, const char *kind, const char *anchor,
                      const char *format, ...) __attribute__((format(printf, 6, 7)));

static void put_words(const gd_svg *svg, double x, double y, const char *kind, const char *anchor,
                      const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *text = gd_heap_vformat(format, list);
    va_end(list);
    fprintf(svg->stream, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", kind, x, y,
            anchor);
    put_text(svg, text);
    fputs("</text>\n", svg->stream);
    free(text);
}

static void put_rectangle(const gd_svg *svg, const char *kind, double x, double y, double width,
                          double height)
{
    fprintf(svg->stream,
            "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n", kind, x,
            y, width, height);
}

/* ---- frame ---- */

/* From where a launch could have begun to where it began. */
static void put_late_arrow(const gd_svg *svg, double from, double to, double y)
{
    fprintf(svg->stream, "<path class=\"d a\" marker-end=\"url(#e)\" d=\"M%.1f %.1fH%.1f\"/>\n",
            from, y, to);
}

/* A colour of each launch, as far as there are, and the shades without a colour. */
static void put_legend(const gd_svg *svg, double y)
{
    double x = svg->left;
    char kind[16];
    for (uint32_t i = 0; i < PALETTE && i < svg->view->count; i++, x += 8) {
        snprintf(kind, sizeof(kind), "c%u", (unsigned)i);
        put_rectangle(svg, kind, x, y - 10, 8, 12);
    }
    put_words(svg, x + 5, y, "s", "start", "colours are launches, shades:");
    x += 180;
    for (size_t i = 0; i < GD_PARTS; i++) {
        snprintf(kind, sizeof(kind), "k%s", shades[i]);
        put_rectangle(svg, kind, x, y - 10, 12, 12);
        put_words(svg, x + 17, y, "s", "start", "%s", gd_traceview_parts[i]);
        x += 32 + 6.2 * (double)strlen(gd_traceview_parts[i]);
    }
    fprintf(svg->stream, "<path class=\"m\" d=\"M%.1f %.1fh8l-4 7z\"/>\n", x, y - 8);
    put_words(svg, x + 13, y, "s", "start", "last block has triggered");
    x += 20 + 6.2 * (double)strlen("last block has triggered");
    for (uint32_t i = 0; i < svg->view->count; i++)
        if (svg->view->launches[i].late != NULL) {
            put_late_arrow(svg, x, x + 18, y - 4);
            put_words(svg, x + 23, y, "s", "start", "held back");
            break;
        }
    put_words(svg, svg->left + svg->plot + 12, y, "s", "start", "hand-off gap");
}

static void put_title(const gd_svg *svg)
{
    const gd_traceview *view = svg->view;
    put_words(svg, svg->left, 24, "t", "start", "%s", view->chain);
    if (view->clock != NULL) {
        put_words(svg, svg->left, 43, "s", "start",
                  "%llu %s in %.2f us, as the program made them, %s; begin and end by %s",
                  (unsigned long long)view->info.blocks,
                  gd_plural(view->info.blocks, "launch", "launches"), view->info.span * 1e-3,
                  view->device->device_name, view->clock);
        return;
    }
    put_words(svg, svg->left, 43, "s", "start",
              "mode %s, %u %s, %.2f us from first entry to last exit, %s%s",
              griddep_text(GRIDDEP_TEXT_MODE, view->info.mode), (unsigned)view->count,
              gd_plural(view->count, "launch", "launches"), view->info.span * 1e-3,
              view->device->device_name,
              view->info.emulated ? " (model time of the emulated driver)" : "");
    put_legend(svg, 66);
}

/* A step of 1, 2 or 5 times a power of ten, so that there are 5 to 20, and numbers of five digits
 * stay apart. */
static double grid_step(double span)
{
    double step = pow(10, floor(log10(span / 10)));
    return span / step > 25 ? step * 5 : span / step > 12 ? step * 2 : step;
}

static void put_grid(const gd_svg *svg, double top, double bottom)
{
    double span = svg->view->info.span, step = grid_step(svg->longest);
    for (double time = 0; time <= span * 1.0001; time += step) {
        double x = x_of(svg, time);
        fprintf(svg->stream, "<path class=\"g\" d=\"M%.2f %.1fV%.1f\"/>\n", x, top, bottom);
        put_words(svg, x, bottom + 15, "s", "middle", "%g", round(time) * 1e-3);
    }
    put_words(svg, svg->left - 10, bottom + 15, "s", "end", "us");
}

/* ---- lanes by launch ---- */

/* The band of a lane between two heights, which are shares of its blocks. */
static void put_band(const gd_svg *svg, const char *kind, const double *low, const double *high,
                     double base)
{
    bool open = false;
    fprintf(svg->stream, "<path class=\"%s\" d=\"", kind);
    for (int i = 0; i <= svg->plot; i++) {
        bool is_there = i < svg->plot && high[i] > low[i] + 1e-6;
        if (is_there && !open) {
            int end = i;
            fprintf(svg->stream, "M%d %.1f", svg->left + i, base - low[i] * LANE);
            for (; end < svg->plot && high[end] > low[end] + 1e-6; end++)
                fprintf(svg->stream, "V%.1fh1", base - high[end] * LANE);
            for (int back = end - 1; back >= i; back--)
                fprintf(svg->stream, "V%.1fh-1", base - low[back] * LANE);
            fputs("z", svg->stream);
        }
        open = is_there;
    }
    fputs("\"/>\n", svg->stream);
}

static void put_lane_load(const gd_svg *svg, uint32_t index, double base)
{
    gd_traceview_load *load = gd_traceview_load_of(svg->view, index, svg->parts);
    size_t width = (size_t)svg->plot;
    double *edges = gd_heap_take(width * 4, sizeof(double));
    for (size_t part = 0; part < GD_PARTS; part++) {
        char kind[16];
        for (size_t i = 0; i < svg->parts; i++)
            edges[(part + 1) * width + i] = fmin(1, edges[part * width + i] + load[i].parts[part]);
        snprintf(kind, sizeof(kind), "c%u%s", (unsigned)(index % PALETTE), shades[part]);
        put_band(svg, kind, edges + part * width, edges + (part + 1) * width, base);
    }
    free(edges);
    free(load);
}

static double lane_base(uint32_t index)
{
    return TOP + LANE + (double)index * (LANE + LANE_GAP);
}

/* The whole name is what a viewer shows at the pointer. */
static void put_label(const gd_svg *svg, uint32_t index, double y)
{
    const gd_traceview_launch *launch = &svg->view->launches[index];
    const char *name = gd_traceview_name(svg->view, index);
    char *label = gd_traceview_label(svg->view, index, svg->label, "\u2026");
    bool is_named = strcmp(name, launch->figures.kernel) != 0;
    fputs("<g><title>", svg->stream);
    put_text(svg, name);
    if (is_named) {
        fputs(": ", svg->stream);
        put_text(svg, launch->figures.kernel);
    }
    fputs("</title>", svg->stream);
    put_words(svg, svg->left - 10, y, "n", "end", "%s", label);
    fputs("</g>\n", svg->stream);
    free(label);
}

static double release_of(const gd_svg *svg, uint32_t index)
{
    const griddep_timeline_launch *figures = &svg->view->launches[index].figures;
    return isnan(figures->first_release) ? figures->first_entry : figures->first_release;
}

/* From all that the launch waits for, and how long after the last of them ended it was released:
 * of a join it is told which that is. */
static void put_arrows(const gd_svg *svg, uint32_t index)
{
    double release = release_of(svg, index);
    uint32_t count = 0, *from = gd_traceview_producers(svg->view, index, &count);
    for (uint32_t i = 0; i < count && !isnan(release); i++) {
        double end = svg->view->launches[from[i]].figures.last_exit;
        if (isnan(end))
            continue;
        fprintf(svg->stream,
                "<path class=\"a%s\" marker-end=\"url(#e)\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                i > 0 || index - from[i] > FAR ? " f" : "", x_of(svg, end), lane_base(from[i]) - 4,
                x_of(svg, release), lane_base(index) - LANE / 2.0);
        if (i == 0)
            put_words(svg, svg->left + svg->plot + 12, lane_base(index) - LANE / 2.0 + 4, "n",
                      "start", count > 1 ? "%.2f us after %u" : "%.2f us", (release - end) * 1e-3,
                      (unsigned)from[i]);
    }
    free(from);
}

/* Why the launch began no earlier: from the trigger that would have let it begin to its entry. */
static void put_late(const gd_svg *svg, uint32_t index)
{
    const gd_traceview_launch *launch = &svg->view->launches[index];
    double entry = x_of(svg, launch->figures.first_entry), y = lane_base(index) - 4;
    double trigger = x_of(svg, svg->view->launches[launch->hop.from].figures.last_trigger);
    if (launch->late == NULL || isnan(entry))
        return;
    fputs("<g><title>", svg->stream);
    put_text(svg, launch->why_late);
    fputs("</title>", svg->stream);
    if (trigger < entry - 4)
        put_late_arrow(svg, trigger, entry, y - 3);
    if (entry - svg->left > LETTER * (double)strlen(launch->late) + 8)
        put_words(svg, entry - 8, y - 8, "s", "end", "%s", launch->late);
    fputs("</g>\n", svg->stream);
}

static void put_lane(const gd_svg *svg, uint32_t index)
{
    const gd_traceview_launch *launch = &svg->view->launches[index];
    double base = lane_base(index);
    put_rectangle(svg, "l", svg->left, base - LANE, svg->plot, LANE);
    put_label(svg, index, base - LANE / 2.0 - 2);
    uint64_t blocks = launch->figures.blocks;
    if (blocks > 0) /* a copy has none */
        put_words(svg, svg->left - 10, base - 3, "s", "end", "%llu %s", (unsigned long long)blocks,
                  svg->view->clock != NULL ? gd_plural(blocks, "launch", "launches")
                                           : gd_plural(blocks, "block", "blocks"));
    put_lane_load(svg, index, base);
    if (!isnan(launch->figures.last_trigger))
        fprintf(svg->stream, "<path class=\"m\" d=\"M%.1f %.1fh8l-4 7z\"/>\n",
                x_of(svg, launch->figures.last_trigger) - 4, base - LANE - 4);
    put_late(svg, index);
    put_arrows(svg, index);
}

/* ---- rows by multiprocessor ---- */

static double row_height(const gd_svg *svg)
{
    double height = (double)SM_HEIGHT / svg->sms;
    return height > 24 ? 24 : height;
}

/* Blocks side by side share a row's height where that leaves something to see; else each has the
 * whole of it. */
static bool is_shared(const gd_svg *svg)
{
    return row_height(svg) / svg->most_places >= 3;
}

/* A stretch of a row. */
typedef struct gd_stretch {
    uint32_t sm, place;
    int64_t start, end;
} gd_stretch;

static int compare_stretches(const void *first, const void *second)
{
    const gd_stretch *a = first, *b = second;
    if (a->sm != b->sm)
        return a->sm < b->sm ? -1 : 1;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->start > b->start) - (a->start < b->start);
}

static void put_stretch(const gd_svg *svg, const gd_stretch *stretch, double top)
{
    double row = row_height(svg), place = is_shared(svg) ? row / svg->most_places : row;
    double y = top + stretch->sm * row + stretch->place * place;
    fprintf(svg->stream, "M%.2f %.2fh%.2fv%.2fh%.2fz", x_of(svg, (double)stretch->start), y,
            (double)(stretch->end - stretch->start) * svg->scale, place,
            -(double)(stretch->end - stretch->start) * svg->scale);
}

/* Stretches that are no further apart than can be seen are one: a grid of thousands of blocks is a
 * few shapes a row. */
static void put_stretches(const gd_svg *svg, gd_stretch *list, size_t count, double top)
{
    if (count > 0)
        qsort(list, count, sizeof(*list), compare_stretches);
    for (size_t i = 0; i < count;) {
        gd_stretch whole = list[i++];
        while (i < count && list[i].sm == whole.sm && list[i].place == whole.place &&
               (double)(list[i].start - whole.end) * svg->scale < unseen) {
            whole.end = list[i].end > whole.end ? list[i].end : whole.end;
            i++;
        }
        put_stretch(svg, &whole, top);
    }
}

static void put_rows_part(const gd_svg *svg, uint32_t index, int part, double top)
{
    const gd_traceview_launch *launch = &svg->view->launches[index];
    gd_stretch *list = gd_heap_take(launch->blocks, sizeof(*list));
    size_t count = 0;
    for (uint32_t block = 0; block < launch->blocks; block++) {
        gd_traceview_block made;
        if (!gd_traceview_get_block(launch, block, &made))
            continue;
        gd_stretch stretch = {.sm = (uint32_t)launch->columns[GRIDDEP_STAMP_SM][block],
                              .place = is_shared(svg) ? svg->places[index][block] : 0,
                              .start = made.parts[part].start,
                              .end = made.parts[part].end};
        if (stretch.end > stretch.start)
            list[count++] = stretch;
    }
    fprintf(svg->stream, "<path class=\"c%u%s\" d=\"", (unsigned)(index % PALETTE), shades[part]);
    put_stretches(svg, list, count, top);
    fputs("\"/>\n", svg->stream);
    free(list);
}

static void put_rows(const gd_svg *svg, double top)
{
    double row = row_height(svg);
    uint32_t step = row >= 12 ? 1 : (uint32_t)ceil(12 / row / 4) * 4;
    put_rectangle(svg, "l", svg->left, top, svg->plot, row * svg->sms);
    for (uint32_t sm = 0; sm < svg->sms; sm += step)
        put_words(svg, svg->left - 10, top + sm * row + fmin(row, 12) / 2 + 4, "s", "end", "%s%u",
                  sm > 0                     ? ""
                  : svg->view->clock != NULL ? "stream "
                                             : "SM ",
                  (unsigned)sm);
    for (int part = GD_PARTS - 1; part >= 0; part--) /* what is at work lies on top */
        for (uint32_t i = 0; i < svg->view->count; i++)
            put_rows_part(svg, i, part, top);
}

/* ---- the picture ---- */

static void measure(gd_svg *svg)
{
    const gd_traceview *view = svg->view;
    svg->scale = svg->longest > 0 ? svg->plot / svg->longest : 0;
    svg->parts = (uint32_t)fmax(1, round(svg->plot * view->info.span / svg->longest));
    svg->sms = 1;
    for (uint32_t i = 0; i < view->count; i++)
        for (uint32_t block = 0; block < view->launches[i].blocks; block++) {
            int64_t sm = view->launches[i].columns[GRIDDEP_STAMP_SM][block];
            if (sm >= svg->sms && sm < view->info.multiprocessors)
                svg->sms = (uint32_t)sm + 1;
        }
}

static double rows_top(const gd_svg *svg)
{
    return lane_base(svg->view->count) - LANE + 14;
}

static double height_of(const gd_svg *svg)
{
    return rows_top(svg) + row_height(svg) * svg->sms + 32;
}

static void begin_picture(FILE *stream, double y, double height)
{
    double width = WIDTH;
    fputs("<svg xmlns=\"http://www.w3.org/2000/svg\"", stream);
    if (y > 0)
        fprintf(stream, " y=\"%g\"", y);
    fprintf(stream, " viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" role=\"img\">\n", width,
            height, width, height);
}

/* Below others that take so much of the height. */
static void put_picture(const gd_svg *svg, double y)
{
    double rows = rows_top(svg), height = height_of(svg), bottom = height - 32;
    begin_picture(svg->stream, y, height);
    fputs("<title>", svg->stream);
    put_text(svg, svg->view->chain);
    fputs("</title>\n", svg->stream);
    fputs(style, svg->stream);
    fputs("<defs><marker id=\"e\" viewBox=\"0 0 6 6\" refX=\"5\" refY=\"3\" markerWidth=\"6\" "
          "markerHeight=\"6\" "
          "orient=\"auto\"><path class=\"m\" d=\"M0 0L6 3L0 6z\"/></marker></defs>\n",
          svg->stream);
    put_rectangle(svg, "b", 0, 0, WIDTH, height);
    put_title(svg);
    put_grid(svg, TOP - 4, bottom);
    put_rows(svg, rows);
    for (uint32_t i = 0; i < svg->view->count; i++)
        put_lane(svg, i);
    fputs("</svg>\n", svg->stream);
}

/* Letters of the widest name, as far as it is shown; `least` at least. */
static uint32_t widest_label(const gd_traceview *view, uint32_t least)
{
    uint32_t widest = least;
    for (uint32_t i = 0; i < view->count; i++) {
        char *label = gd_traceview_label(view, i, MOST_LABEL, "\u2026");
        uint32_t own = (uint32_t)gd_traceview_columns(label);
        widest = own > widest ? own : widest;
        free(label);
    }
    return widest;
}

/* All pictures of a file, one above the other and in one scale. */
static void put_all(FILE *stream, const gd_traceview *views, size_t count)
{
    gd_svg *pictures = gd_heap_take(count, sizeof(*pictures));
    double longest = 0, height = 0, y = 0;
    uint32_t label = LEAST_LABEL;
    for (size_t i = 0; i < count; i++) {
        longest = fmax(longest, views[i].info.span);
        label = widest_label(&views[i], label);
    }
    for (size_t i = 0; i < count; i++) {
        pictures[i] =
            (gd_svg){.view = &views[i], .stream = stream, .longest = longest, .label = label};
        pictures[i].left = MARGIN + LETTER * (int)label;
        pictures[i].plot = WIDTH - RIGHT - pictures[i].left;
        pictures[i].places = gd_traceview_make_places(&views[i], &pictures[i].most_places);
        measure(&pictures[i]);
        height += height_of(&pictures[i]);
    }
    if (count > 1)
        begin_picture(stream, 0, height);
    for (size_t i = 0; i < count; i++) {
        put_picture(&pictures[i], y);
        y += height_of(&pictures[i]);
        gd_traceview_free_places(&views[i], pictures[i].places);
    }
    if (count > 1)
        fputs("</svg>\n", stream);
    free(pictures);
}

int gd_tracesvg_write(const gd_traceview *views, size_t count, const char *path)
{
    char *text = NULL;
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        if (!(views[i].info.span > 0))
            return gd_message_error(GD_EXIT_REFUSED,
                                    "there is nothing to draw: the run has no stamps");
    FILE *stream = open_memstream(&text, &bytes);
    if (stream == NULL)
        return gd_message_error(GD_EXIT_REFUSED, "there is no memory for the picture");
    put_all(stream, views, count);
    bool failed = ferror(stream) != 0;
    failed |= fclose(stream) != 0;
    int code = failed ? gd_message_error(GD_EXIT_REFUSED, "there is no memory for the picture")
                      : gd_outputfile_write(path, text, bytes);
    free(text);
    return code;
}

/* A traced run drawn with characters: a line for each launch, from left to right the time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#include "cli/io/heap.h"
#include "cli/io/output.h"
#include "cli/show/traceview.h"

enum { LEAST_LABEL = 17, LEAST = 40, MOST_ROWS = 64 };

typedef struct gd_glyphs {
    const char *work[8]; /* from few blocks to all */
    const char *preamble, *wait, *none, *tick, *rule, *gap;
} gd_glyphs;

static const gd_glyphs unicode = {
    {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "░", "·", " ", "┬", "─", "…"};
static const gd_glyphs plain = {
    {"_", "_", "=", "=", "=", "#", "#", "#"}, ":", ".", " ", "+", "-", "~"};

static const char *glyph_of(const gd_glyphs *glyphs, const gd_traceview_load *load)
{
    double work = load->parts[GD_PART_WORK], preamble = load->parts[GD_PART_PREAMBLE];
    double wait = load->parts[GD_PART_WAIT], all = work + preamble + wait;
    if (all < 0.02)
        return glyphs->none;
    if (work >= 0.05 || work >= all / 2) {
        int level = (int)(work * 8.0);
        return glyphs->work[level > 7 ? 7 : level];
    }
    return preamble >= wait ? glyphs->preamble : glyphs->wait;
}

typedef struct gd_drawing {
    const gd_traceview *view;
    const gd_glyphs *glyphs;
    uint32_t label, width; /* columns of names, and of time */
} gd_drawing;

static void print_row(const gd_drawing *drawing, uint32_t index)
{
    const gd_traceview *view = drawing->view;
    const gd_glyphs *glyphs = drawing->glyphs;
    uint32_t width = drawing->width;
    gd_traceview_load *load = gd_traceview_load_of(view, index, width);
    int indent = index < 10 ? 2 : index < 100 ? 1 : 0;
    char *label =
        gd_traceview_label(view, index, drawing->label - 1 - (uint32_t)indent, glyphs->gap);
    printf("%*s%s%*s", indent, "", label,
           (int)drawing->label - indent - (int)gd_traceview_columns(label), "");
    uint32_t last = width;
    while (last > 0 && glyph_of(glyphs, &load[last - 1]) == glyphs->none)
        last--;
    for (uint32_t i = 0; i < last; i++)
        fputs(glyph_of(glyphs, &load[i]), stdout);
    putchar('\n');
    free(label);
    free(load);
}

/* The largest of 1, 2, 5 times a power of ten that is at least `least`. */
static double round_step(double least)
{
    double step = 1e-3;
    for (int i = 0; step < least; i++)
        step *= i % 3 == 1 ? 2.5 : 2.0;
    return step;
}

static void print_axis(const gd_drawing *drawing)
{
    const gd_traceview *view = drawing->view;
    const gd_glyphs *glyphs = drawing->glyphs;
    uint32_t width = drawing->width;
    double span = view->info.span * 1e-3, step = round_step(span * 9.0 / width);
    char *numbers = gd_heap_take((size_t)width + 32, 1);
    memset(numbers, ' ', (size_t)width + 16);
    printf("%*s", (int)drawing->label, "");
    for (uint32_t i = 0; i < width; i++) {
        double from = i * span / width, to = (i + 1) * span / width;
        double tick = step * (double)(int64_t)(to / step);
        bool is_tick = i == 0 || (tick > from && tick <= to && i + 1 < width);
        fputs(is_tick ? glyphs->tick : glyphs->rule, stdout);
        if (!is_tick)
            continue;
        char text[32];
        int length = snprintf(text, sizeof(text), "%g", i == 0 ? 0.0 : tick);
        if (i + (uint32_t)length + 3 <= width) /* " us" follows */
            memcpy(numbers + i, text, (size_t)length);
    }
    size_t end = width;
    while (end > 0 && numbers[end - 1] == ' ')
        end--;
    printf("\n%*s%.*s us\n", (int)drawing->label, "", (int)end, numbers);
    free(numbers);
}

/* As wide as the longest name, with its number and a space, but no more than a quarter of the
 * drawing. */
static uint32_t choose_label(const gd_traceview *view, uint32_t width)
{
    uint32_t widest = LEAST_LABEL, most = width / 4 > LEAST_LABEL ? width / 4 : LEAST_LABEL;
    for (uint32_t i = 0; i < view->count && i < MOST_ROWS; i++) {
        uint32_t own = (uint32_t)gd_traceview_columns(gd_traceview_name(view, i)) + 5;
        widest = own > widest ? own : widest;
    }
    return widest < most ? widest : most;
}

void gd_tracedraw_print(const gd_traceview *view, uint32_t width, bool ascii)
{
    uint32_t whole = width < LEAST ? LEAST : width, label = choose_label(view, whole);
    const gd_drawing drawing = {view, ascii ? &plain : &unicode, label, whole - label};
    const gd_glyphs *glyphs = drawing.glyphs;
    if (view->count == 0 || !(view->info.span > 0))
        return;
    putchar('\n');
    for (uint32_t i = 0; i < view->count && i < MOST_ROWS; i++)
        print_row(&drawing, i);
    if (view->count > MOST_ROWS)
        gd_output_print("%*s%u more %s; --svg and --perfetto show all\n", (int)label, "",
                        (unsigned)(view->count - MOST_ROWS),
                        view->clock != NULL
                            ? gd_plural(view->count - MOST_ROWS, "kernel", "kernels")
                            : gd_plural(view->count - MOST_ROWS, "launch", "launches"));
    print_axis(&drawing);
    if (view->clock == NULL)
        gd_output_print("%*s%s before its wait  %s waiting  %s few  %s all blocks at work\n",
                        (int)label, "", glyphs->preamble, glyphs->wait, glyphs->work[0],
                        glyphs->work[7]);
    putchar('\n');
}

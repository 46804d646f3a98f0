/* A traced run drawn with characters: a line for each launch, from left to right the time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/heap.h"
#include "cli/output.h"
#include "cli/traceview.h"

enum { LABEL = 17, LEAST = 40, MOST_ROWS = 64 };

typedef struct gd_glyphs {
    const char *work[8]; /* from few blocks to all */
    const char *preamble, *wait, *none, *tick, *rule;
} gd_glyphs;

static const gd_glyphs unicode = {{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, "░", "·", " ", "┬", "─"};
static const gd_glyphs plain = {{"_", "_", "=", "=", "=", "#", "#", "#"}, ":", ".", " ", "+", "-"};

static const char *glyph_of(const gd_glyphs *glyphs, const gd_traceview_load *load)
{
    double all = load->work + load->preamble + load->wait;
    if (all < 0.02)
        return glyphs->none;
    if (load->work >= 0.05 || load->work >= all / 2) {
        int level = (int)(load->work * 8.0);
        return glyphs->work[level > 7 ? 7 : level];
    }
    return load->preamble >= load->wait ? glyphs->preamble : glyphs->wait;
}

static void print_row(const gd_traceview *view, uint32_t index, uint32_t width, const gd_glyphs *glyphs)
{
    gd_traceview_load *load = gd_traceview_load_of(view, index, width);
    char *label = gd_heap_format("%3u %s", (unsigned)index, view->launches[index].figures.kernel);
    char *clean = gd_output_clean(label);
    printf("%-*.*s ", LABEL - 1, LABEL - 1, clean);
    uint32_t last = width;
    while (last > 0 && glyph_of(glyphs, &load[last - 1]) == glyphs->none)
        last--;
    for (uint32_t i = 0; i < last; i++)
        fputs(glyph_of(glyphs, &load[i]), stdout);
    putchar('\n');
    free(clean);
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

static void print_axis(const gd_traceview *view, uint32_t width, const gd_glyphs *glyphs)
{
    double span = view->info.span * 1e-3, step = round_step(span * 9.0 / width);
    char *numbers = gd_heap_take((size_t)width + 32, 1);
    memset(numbers, ' ', (size_t)width + 16);
    printf("%*s", LABEL, "");
    for (uint32_t i = 0; i < width; i++) {
        double from = i * span / width, to = (i + 1) * span / width;
        double tick = step * (double)(int64_t)(to / step);
        bool is_tick = i == 0 || (tick > from && tick <= to && i + 1 < width);
        fputs(is_tick ? glyphs->tick : glyphs->rule, stdout);
        if (!is_tick)
            continue;
        char text[32];
        int length = snprintf(text, sizeof(text), "%g", i == 0 ? 0.0 : tick);
        if (i + (uint32_t)length < width) /* " us" follows */
            memcpy(numbers + i, text, (size_t)length);
    }
    size_t end = width;
    while (end > 0 && numbers[end - 1] == ' ')
        end--;
    printf("\n%*s%.*s us\n", LABEL, "", (int)end, numbers);
    free(numbers);
}

void gd_tracedraw_print(const gd_traceview *view, uint32_t width, bool ascii)
{
    const gd_glyphs *glyphs = ascii ? &plain : &unicode;
    uint32_t columns = (width < LEAST ? LEAST : width) - LABEL;
    if (view->count == 0 || !(view->info.span > 0))
        return;
    putchar('\n');
    for (uint32_t i = 0; i < view->count && i < MOST_ROWS; i++)
        print_row(view, i, columns, glyphs);
    if (view->count > MOST_ROWS)
        printf("%*s%u launches more; --svg and --perfetto show all\n", LABEL, "", (unsigned)(view->count - MOST_ROWS));
    print_axis(view, columns, glyphs);
    printf("%*s%s before its wait  %s waiting  %s few  %s all blocks at work\n\n", LABEL, "", glyphs->preamble,
           glyphs->wait, glyphs->work[0], glyphs->work[7]);
}

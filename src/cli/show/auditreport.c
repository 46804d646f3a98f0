/* Text of an audit, from its JSON objects. */
#include "cli/show/auditreport.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/output.h"
#include "cli/show/place.h"

/* A terminal is no place for the names that templates have. */
enum { LONGEST_NAME = 60, LONGEST_FRAME = 90, MOST_FRAMES = 5, MOST_GAPS = 10 };

static const char *text_of(const json_t *object, const char *member)
{
    const char *text = json_string_value(json_object_get(object, member));
    return text != NULL ? text : "-";
}

static long long number_of(const json_t *object, const char *member)
{
    return (long long)json_integer_value(json_object_get(object, member));
}

static const char *waits_of(const json_t *kernel)
{
    const json_t *waits = json_object_get(kernel, "waits");
    const json_t *always = json_object_get(kernel, "waits_always");
    if (json_is_null(waits))
        return "not known";
    if (!json_is_true(waits))
        return "no";
    return json_is_null(always) ? "yes" : json_is_true(always) ? "every path" : "not every path";
}

static const char *triggers_of(const json_t *kernel)
{
    const json_t *triggers = json_object_get(kernel, "triggers");
    return json_is_null(triggers) ? "not known" : json_is_true(triggers) ? "yes" : "no";
}

static bool is_timed(const json_t *kernels)
{
    for (size_t i = 0; i < json_array_size(kernels); i++)
        if (number_of(json_array_get(kernels, i), "timed") > 0)
            return true;
    return false;
}

static void add_time(gd_columns *table, const json_t *kernel, const char *member)
{
    const json_t *us = json_object_get(kernel, member);
    if (json_is_null(us))
        gd_columns_add(table, "-");
    else
        gd_columns_add(table, "%.2f", json_number_value(us));
}

static void add_name(gd_columns *table, const char *name)
{
    char *told = gd_place_shorten(name, LONGEST_NAME);
    gd_columns_add(table, "%s", told);
    free(told);
}

void gd_auditreport_print_kernels(FILE *stream, const json_t *kernels)
{
    static const char *const titles[] = {"kernel", "module", "target",   "launches", "graphs",
                                         "early",  "waits",  "triggers", "total us", "median us"};
    bool timed = is_timed(kernels);
    gd_columns table = {.column_count = sizeof(titles) / sizeof(titles[0]) - (timed ? 0 : 2),
                        .left = 0xc7,
                        .titled = true,
                        .stream = stream};
    for (size_t i = 0; i < table.column_count; i++)
        gd_columns_add(&table, "%s", titles[i]);
    for (size_t i = 0; i < json_array_size(kernels); i++) {
        const json_t *kernel = json_array_get(kernels, i);
        add_name(&table, text_of(kernel, "kernel"));
        gd_columns_add(&table, "%s", text_of(kernel, "module"));
        gd_columns_add(&table, "%s", text_of(kernel, "target"));
        gd_columns_add(&table, "%lld", number_of(kernel, "launches"));
        gd_columns_add(&table, "%lld", number_of(kernel, "in_graphs"));
        gd_columns_add(&table, "%lld", number_of(kernel, "early"));
        gd_columns_add(&table, "%s", waits_of(kernel));
        gd_columns_add(&table, "%s", triggers_of(kernel));
        if (timed) {
            add_time(&table, kernel, "total_us");
            add_time(&table, kernel, "median_us");
        }
    }
    gd_columns_print(&table);
    gd_columns_free(&table);
}

void gd_auditreport_print_gaps(FILE *stream, const json_t *gaps)
{
    static const char *const titles[] = {"kernel", "could start early behind", "times",
                                         "us between"};
    gd_columns table = {.column_count = sizeof(titles) / sizeof(titles[0]),
                        .left = 3,
                        .titled = true,
                        .stream = stream};
    for (size_t i = 0; i < table.column_count; i++)
        gd_columns_add(&table, "%s", titles[i]);
    for (size_t i = 0; i < json_array_size(gaps) && i < MOST_GAPS; i++) {
        const json_t *gap = json_array_get(gaps, i);
        add_name(&table, text_of(gap, "kernel"));
        add_name(&table, text_of(gap, "before"));
        gd_columns_add(&table, "%lld", number_of(gap, "count"));
        add_time(&table, gap, "total_us");
    }
    if (json_array_size(gaps) > 0)
        gd_columns_print(&table);
    gd_columns_free(&table);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_script(const json_t *frame)
{
    return json_is_integer(json_object_get(frame, "line"));
}

/* Packages that are installed, Python's own library, and what a compiler of Python has made. */
static bool is_of_framework(const json_t *frame)
{
    static const char *const parts[] = {"/site-packages/", "/dist-packages/", "/lib/python",
                                        "/lib64/python",   "/torchinductor_", "<frozen ",
                                        "<string>"};
    const char *file = text_of(frame, "file");
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(file, parts[i]) != NULL)
            return true;
    return false;
}

/* The next frame that is shown: of a script those of its author, of its interpreter none. */
static size_t next_frame(const json_t *frames, size_t at, bool own)
{
    while (at < json_array_size(frames) && own &&
           (!is_script(json_array_get(frames, at)) || is_of_framework(json_array_get(frames, at))))
        at++;
    return at;
}

/* Returns whether it is where a program begins. */
static bool print_frame(FILE *stream, const json_t *frame, const char *how)
{
    const char *function = json_string_value(json_object_get(frame, "function"));
    bool script = is_script(frame);
    char *told = gd_place_shorten(function != NULL ? function : "", LONGEST_FRAME);
    char *clean = gd_output_clean(told);
    char *file =
        gd_output_clean(script ? text_of(frame, "file") : file_name(text_of(frame, "file")));
    fprintf(stream, "    %s %s%s%s", how, clean, function != NULL ? " in " : "", file);
    if (script)
        fprintf(stream, ":%lld\n", number_of(frame, "line"));
    else
        fprintf(stream, "+0x%llx\n", (unsigned long long)number_of(frame, "offset"));
    bool is_main = strcmp(clean, "main") == 0;
    free(clean);
    free(told);
    free(file);
    return is_main;
}

/* Of a script's interpreter the caller alone is shown. A script whose frames all lie in frameworks
 * shows those. */
static void print_place(FILE *stream, const json_t *frames)
{
    const size_t count = json_array_size(frames);
    bool own = next_frame(frames, 0, true) < count;
    size_t at = 0, scripts = 0;
    while (scripts < count && !is_script(json_array_get(frames, scripts)))
        scripts++;
    for (size_t shown = 0; shown < MOST_FRAMES && at < count; shown++) {
        if (print_frame(stream, json_array_get(frames, at), shown == 0 ? "at" : "by"))
            break;
        at = next_frame(frames, at == 0 && scripts < count ? scripts : at + 1, own);
    }
}

const json_t *gd_auditreport_find_script(const json_t *frames)
{
    return json_array_get(frames, next_frame(frames, 0, true));
}

/* As compilers do. */
static void print_position(FILE *stream, const json_t *frames)
{
    const json_t *frame = gd_auditreport_find_script(frames);
    if (frame == NULL)
        return;
    char *file = gd_output_clean(text_of(frame, "file"));
    fprintf(stream, "%s:%lld: ", file, number_of(frame, "line"));
    free(file);
}

static void print_alike(FILE *stream, size_t count)
{
    if (count > 0)
        fprintf(stream, "    and %zu more like this; --json lists %s\n", count,
                count == 1 ? "it" : "them");
}

void gd_auditreport_print_findings(FILE *to, const json_t *findings)
{
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        char *text = gd_output_clean(text_of(finding, "text"));
        gd_page page;
        FILE *stream = gd_page_begin(&page, to);
        print_position(stream, json_object_get(finding, "place"));
        fprintf(stream, "%s: %s [%s]\n", text_of(finding, "severity"), text,
                text_of(finding, "code"));
        print_place(stream, json_object_get(finding, "place"));
        print_alike(stream, json_array_size(json_object_get(finding, "alike")));
        gd_page_end(&page);
        free(text);
    }
}

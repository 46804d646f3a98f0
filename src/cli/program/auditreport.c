/* Text of an audit. */
#include "cli/program/auditreport.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/statistics.h"
#include "griddep.h"

#include "cli/io/name.h"
#include "cli/io/output.h"
#include "cli/show/finding.h"
#include "cli/show/place.h"

/* A terminal is no place for the names that templates have. */
enum { LONGEST_NAME = 60, LONGEST_FRAME = 90, MOST_FRAMES = 5, MOST_GAPS = 10 };

static const char *waits_of(uint32_t traits)
{
    if ((traits & GRIDDEP_TRAIT_KNOWN) == 0)
        return "not known";
    if ((traits & GRIDDEP_TRAIT_WAITS) == 0)
        return "no";
    if ((traits & GRIDDEP_TRAIT_OPEN) != 0)
        return "yes";
    return (traits & GRIDDEP_TRAIT_WAITS_ALWAYS) != 0 ? "every path" : "not every path";
}

static const char *triggers_of(uint32_t traits)
{
    if ((traits & GRIDDEP_TRAIT_KNOWN) == 0)
        return "not known";
    return (traits & GRIDDEP_TRAIT_TRIGGERS) != 0 ? "yes" : "no";
}

static bool is_timed(const gd_audit *audit)
{
    bool timed = false;
    for (uint32_t i = 0; i < audit->seen.kernel_count; i++)
        timed |= audit->seen.kernels[i].timed > 0;
    return timed;
}

static void add_name(gd_columns *table, const char *name)
{
    char *told = gd_name_shorten(name, LONGEST_NAME);
    gd_columns_add(table, "%s", told);
    free(told);
}

/* Sorts its times. */
static void add_times(gd_columns *table, const gd_audit_kernel *kernel)
{
    if (kernel->timed == 0) {
        gd_columns_add(table, "-");
        gd_columns_add(table, "-");
        return;
    }
    gd_columns_add(table, "%.2f", kernel->total_us);
    gd_columns_add(table, "%.2f", gd_statistics_median(kernel->us, kernel->us_count));
}

void gd_auditreport_print_kernels(FILE *stream, const gd_audit *audit)
{
    static const char *const titles[] = {"kernel", "module", "target",   "launches", "graphs",
                                         "early",  "waits",  "triggers", "total us", "median us"};
    bool timed = is_timed(audit);
    gd_columns table = {.column_count = sizeof(titles) / sizeof(titles[0]) - (timed ? 0 : 2),
                        .left = 0xc7,
                        .titled = true,
                        .stream = stream};
    for (size_t i = 0; i < table.column_count; i++)
        gd_columns_add(&table, "%s", titles[i]);
    for (uint32_t i = 0; i < audit->seen.kernel_count; i++) {
        const gd_audit_kernel *kernel = &audit->seen.kernels[i];
        add_name(&table, kernel->plain);
        gd_columns_add(&table, "%s", kernel->module);
        gd_columns_add(&table, "%s", kernel->target[0] != '\0' ? kernel->target : "-");
        gd_columns_add(&table, "%llu",
                       (unsigned long long)(kernel->launches + kernel->graph_launches));
        gd_columns_add(&table, "%llu", (unsigned long long)kernel->graph_launches);
        gd_columns_add(&table, "%llu", (unsigned long long)(kernel->early + kernel->graph_early));
        gd_columns_add(&table, "%s", waits_of(kernel->code.traits));
        gd_columns_add(&table, "%s", triggers_of(kernel->code.traits));
        if (timed)
            add_times(&table, kernel);
    }
    gd_columns_print(&table);
    gd_columns_free(&table);
}

void gd_auditreport_print_gaps(FILE *stream, const gd_audit *audit)
{
    static const char *const titles[] = {"kernel", "could start early behind", "times",
                                         "us between"};
    gd_columns table = {.column_count = sizeof(titles) / sizeof(titles[0]),
                        .left = 3,
                        .titled = true,
                        .stream = stream};
    for (size_t i = 0; i < table.column_count; i++)
        gd_columns_add(&table, "%s", titles[i]);
    for (size_t i = 0; i < audit->gap_count && i < MOST_GAPS; i++) {
        const gd_audit_gap *gap = &audit->gaps[i];
        add_name(&table, gap->kernel);
        add_name(&table, gap->before);
        gd_columns_add(&table, "%llu", (unsigned long long)gap->timed);
        gd_columns_add(&table, "%.2f", gap->us);
    }
    if (audit->gap_count > 0)
        gd_columns_print(&table);
    gd_columns_free(&table);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* Packages that are installed, Python's own library, and what a compiler of Python has made. */
static bool is_of_framework(const gd_frame *frame)
{
    static const char *const parts[] = {"/site-packages/", "/dist-packages/", "/lib/python",
                                        "/lib64/python",   "/torchinductor_", "<frozen ",
                                        "<string>"};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (strstr(frame->file, parts[i]) != NULL)
            return true;
    return false;
}

/* The next frame that is shown: of a script those of its author, of its interpreter none. */
static size_t next_frame(const gd_frames *frames, size_t at, bool own)
{
    while (at < frames->count && own &&
           (!frames->list[at].is_script || is_of_framework(&frames->list[at])))
        at++;
    return at;
}

/* Returns whether it is where a program begins. */
static bool print_frame(FILE *stream, const gd_frame *frame, const char *how)
{
    char *told = gd_name_shorten(frame->function != NULL ? frame->function : "", LONGEST_FRAME);
    char *clean = gd_output_clean(told);
    char *file = gd_output_clean(frame->is_script ? frame->file : file_name(frame->file));
    fprintf(stream, "    %s %s%s%s", how, clean, frame->function != NULL ? " in " : "", file);
    if (frame->is_script)
        fprintf(stream, ":%lld\n", (long long)frame->line);
    else
        fprintf(stream, "+0x%llx\n", (unsigned long long)frame->offset);
    bool is_main = strcmp(clean, "main") == 0;
    free(clean);
    free(told);
    free(file);
    return is_main;
}

/* Of a script's interpreter the caller alone is shown. A script whose frames all lie in frameworks
 * shows those. */
static void print_place(FILE *stream, const gd_frames *frames)
{
    bool own = next_frame(frames, 0, true) < frames->count;
    size_t at = 0, scripts = 0;
    while (scripts < frames->count && !frames->list[scripts].is_script)
        scripts++;
    for (size_t shown = 0; shown < MOST_FRAMES && at < frames->count; shown++) {
        if (print_frame(stream, &frames->list[at], shown == 0 ? "at" : "by"))
            break;
        at = next_frame(frames, at == 0 && scripts < frames->count ? scripts : at + 1, own);
    }
}

const gd_frame *gd_auditreport_find_script(const gd_frames *frames)
{
    const size_t at = next_frame(frames, 0, true);
    return at < frames->count ? &frames->list[at] : NULL;
}

/* As compilers do. */
static void print_position(FILE *stream, const gd_frames *frames)
{
    const gd_frame *frame = gd_auditreport_find_script(frames);
    if (frame == NULL)
        return;
    char *file = gd_output_clean(frame->file);
    fprintf(stream, "%s:%lld: ", file, (long long)frame->line);
    free(file);
}

static void print_alike(FILE *stream, const gd_audit *audit, size_t first)
{
    size_t count = 0;
    for (size_t i = 0; (i = gd_audit_next_alike(audit, first, i)) < audit->finding_count; i++)
        count++;
    if (count > 0)
        fprintf(stream, "    and %zu more like this; --json lists %s\n", count,
                count == 1 ? "it" : "them");
}

void gd_auditreport_print_findings(FILE *to, const gd_audit *audit)
{
    for (size_t i = 0; i < audit->finding_count; i++) {
        const gd_audit_finding *finding = &audit->findings[i];
        if (finding->first != i)
            continue;
        char *text = gd_output_told(finding->text);
        gd_page page;
        FILE *stream = gd_page_begin(&page, to);
        print_position(stream, &finding->place);
        fprintf(stream, "%s: %s [%s]\n", gd_finding_severity_name(finding->severity), text,
                finding->code);
        print_place(stream, &finding->place);
        print_alike(stream, audit, i);
        gd_page_end(&page);
        free(text);
    }
}

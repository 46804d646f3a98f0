/* griddep audit, off and on: the run, and its report as text or JSON. */
#include "cli/program/attachedprogram.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "griddep.h"

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/outputfile.h"
#include "cli/io/temporary.h"
#include "cli/job/chaincheck.h"
#include "cli/plan/modulefile.h"
#include "cli/program/audit.h"
#include "cli/program/auditjson.h"
#include "cli/program/auditreport.h"
#include "cli/program/recordedchain.h"
#include "cli/program/recordedfile.h"
#include "cli/show/finding.h"
#include "cli/show/sarif.h"

int gd_attachedprogram_find(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--") == 0)
            return i;
    return argc;
}

int gd_attachedprogram_check(const char *command, int argc, char **argv, int marker)
{
    if (marker >= argc)
        return gd_message_error(GD_EXIT_USAGE,
                                "'griddep %s' takes a program after '--': griddep %s -- PROGRAM",
                                command, command);
    if (argv[marker + 1] == NULL)
        return gd_message_error(GD_EXIT_USAGE, "there is no program after '--'");
    if (argv[marker + 1][0] == '\0')
        return gd_message_error(GD_EXIT_USAGE, "the program after '--' has an empty name");
    return 0;
}

int gd_attachedprogram_read(const gd_usage *usage, int argc, char **argv, char ***program)
{
    size_t count = 0;
    int marker = gd_attachedprogram_find(argc, argv);
    int code = gd_options_read(usage, marker, argv, NULL, &count);
    if (code >= 0)
        return code;
    code = gd_attachedprogram_check(usage->name, argc, argv, marker);
    *program = argv + marker + 1;
    return code != 0 ? code : -1;
}

/* How many of the launches that could start early do; to free. */
static char *count_words(const gd_audit *audit)
{
    unsigned long long could = audit->could, early = audit->early;
    const char *launches = gd_plural(could, "launch", "launches");
    if (could == 0)
        return gd_heap_string(
            "no launch could start early: no kernel that directly follows another one waits");
    if (early != 0 && early != could)
        return gd_heap_format("%llu of %llu launches that could start early %s", early, could,
                              gd_plural(early, "does", "do"));
    return gd_heap_format("%s %llu %s that could start early %s%s", early == 0 ? "the" : "all",
                          could, launches, gd_plural(could, "does", "do"),
                          early == 0 ? " not" : "");
}

/* The first line; to free. */
static char *audit_summary(const gd_audit *audit)
{
    unsigned long long races = audit->races, doubts = audit->doubts;
    char *safe = NULL, *summary = NULL;
    if (audit->launches == 0)
        return gd_heap_string("nothing was seen: no kernel was launched");
    if (races > 0)
        safe = gd_heap_format("not safe: %llu %s", races,
                              gd_plural(races, "race between a kernel and one before it",
                                        "races between kernels and those before them"));
    else if (doubts > 0)
        safe = gd_heap_format("perhaps not safe: of %llu %s early nobody can tell that %s in time",
                              doubts, gd_plural(doubts, "kernel that starts", "kernels that start"),
                              gd_plural(doubts, "it waits", "they wait"));
    else
        safe = gd_heap_string(audit->early > 0 ? "safe: each kernel that starts early waits in time"
                                               : "safe: no kernel starts early");
    char *count = count_words(audit);
    summary = gd_heap_format("%s; %s", safe, count);
    free(count);
    free(safe);
    if (audit->gap_count > 0) {
        safe = summary;
        summary =
            gd_heap_format("%s; early starts could save at most %.1f us", safe, audit->gap_us);
        free(safe);
    }
    return summary;
}

/* To free. */
static char *audit_verdict(const gd_audit *audit)
{
    unsigned long long findings = audit->told, kernels = audit->seen.kernel_count;
    return gd_heap_format(
        "%llu %s, %llu %s (%llu %s of %llu %s%s%s)", (unsigned long long)audit->races,
        gd_plural(audit->races, "race", "races"), findings,
        gd_plural(findings, "finding", "findings"), (unsigned long long)audit->launches,
        gd_plural(audit->launches, "launch", "launches"), kernels,
        gd_plural(kernels, "kernel", "kernels"), audit->clock != NULL ? "; times by " : "",
        audit->clock != NULL ? audit->clock : "");
}

/* Why 'on' left launches as they are; to free. */
static char *left_words(const gd_audit *audit)
{
    if (audit->left == 0)
        return gd_heap_string("");
    return gd_heap_format("; %llu %s or made plain: an earlier kernel may still run that %s",
                          (unsigned long long)audit->left,
                          gd_plural(audit->left, "was left as it is", "were left as they are"),
                          gd_plural(audit->left, "it does not wait for", "they do not wait for"));
}

static char *change_verdict(const gd_audit *audit, const char *early)
{
    unsigned long long changed = audit->changed, launches = audit->given;
    unsigned long long edges = audit->changed_edges, rewritten = audit->rewritten;
    const char *each = gd_plural(launches, "launch", "launches");
    if (strcmp(early, "off") == 0)
        return gd_heap_format("off: %llu of %llu %s and %llu %s of graphs were made plain", changed,
                              launches, each, edges, gd_plural(edges, "edge", "edges"));
    char *left = left_words(audit), *modules = gd_heap_string("");
    if (strcmp(early, "on") != 0) {
        free(modules);
        modules = gd_heap_format("; %llu %s rewritten", rewritten,
                                 gd_plural(rewritten, "module was", "modules were"));
    }
    char *count = count_words(audit);
    char *verdict = gd_heap_format(
        "on: %llu of %llu %s may start early that could not before%s%s%s%s", changed, launches,
        each, audit->could > 0 ? "; " : "", audit->could > 0 ? count : "", modules, left);
    free(count);
    free(left);
    free(modules);
    return verdict;
}

static bool is_attached(const gd_attached_set *set)
{
    return set->count > set->unreadable;
}

static void warn(const gd_attached_set *set, const gd_audit *audit)
{
    for (size_t i = 0; i < set->count; i++) {
        const gd_attached_file *file = &set->files[i];
        for (uint32_t j = 0; j < file->counts[GD_ATTACHED_MESSAGE]; j++) {
            const gd_attached_message *message = gd_attached_get(file, GD_ATTACHED_MESSAGE, j);
            gd_message_warning("%s", message->text);
        }
    }
    if (set->unreadable > 0)
        gd_message_warning(
            "what %zu %s did could not be written down: there was no room for it in %s, "
            "or a limit on the size of files",
            set->unreadable, gd_plural(set->unreadable, "process", "processes"),
            gd_temporary_place());
    if (audit->lost > 0)
        gd_message_warning("there was no room for all that was seen: some is missing");
    if (is_attached(set) || set->unreadable > 0)
        return;
    if (set->privileged)
        gd_message_warning(
            "nothing was attached: the program gets rights by being started, and the "
            "loader takes no library from LD_LIBRARY_PATH for it");
    else
        gd_message_warning("nothing was attached: no process opened libcuda.so.1 by that name and "
                           "launched or loaded anything");
}

/* A program that ended well and launched nothing must not look like one that is right. */
static int exit_code_of(const gd_attachedprogram *request, const gd_audit *audit,
                        const gd_attached_set *set, int ended)
{
    if (request->audits && audit->races > 0)
        return GD_EXIT_SANITIZE;
    bool seen = request->audits ? audit->launches > 0 : is_attached(set);
    return ended == GD_EXIT_OK && !seen ? GD_EXIT_UNCHECKED : ended;
}

static void print_line(const gd_attachedprogram *request, FILE *stream, const char *text)
{
    gd_page page;
    FILE *lines = gd_page_begin(&page, stream);
    fprintf(lines, "%s%s\n", request->report == NULL ? "griddep: " : "", text);
    gd_page_end(&page);
}

static void write_report(const gd_attachedprogram *request, FILE *stream,
                         const gd_attached_set *set, const gd_audit *audit, const char *program,
                         int code, const char *verdict)
{
    if (request->json) {
        gd_output_write_to(
            stream,
            GD_OBJECT({"griddep", gd_output_string(griddep_version_text())},
                      {"exit_code", json_integer(code)}, {"program", gd_output_string(program)},
                      {"driver", gd_output_string(set->driver)},
                      {"processes", json_integer((json_int_t)(set->count - set->unreadable))},
                      {"complete", json_boolean(set->unreadable == 0 && audit->lost == 0)},
                      {"launches", json_integer((json_int_t)audit->launches)},
                      {"changed_launches", json_integer((json_int_t)audit->changed)},
                      {"left_launches", json_integer((json_int_t)audit->left)},
                      {"rewritten_modules", json_integer((json_int_t)audit->rewritten)},
                      {"changed_edges", json_integer((json_int_t)audit->changed_edges)},
                      {"safe", audit->races == 0 && audit->doubts > 0
                                   ? json_null()
                                   : json_boolean(audit->races == 0)},
                      {"could_start_early", json_integer((json_int_t)audit->could)},
                      {"start_early", json_integer((json_int_t)audit->early)},
                      {"clock", gd_output_string(audit->clock)}, {"gaps", gd_auditjson_gaps(audit)},
                      {"kernels", gd_auditjson_kernels(audit)},
                      {"findings", gd_auditjson_findings(audit)},
                      {"verdict", gd_output_string(verdict)}));
        return;
    }
    if (!is_attached(set)) {
        fputs(request->report != NULL ? "nothing was seen\n" : "", stream);
        return;
    }
    if (request->audits) {
        char *summary = audit_summary(audit);
        print_line(request, stream, summary);
        free(summary);
        gd_auditreport_print_kernels(stream, audit);
        gd_auditreport_print_gaps(stream, audit);
        gd_auditreport_print_findings(stream, audit);
    }
    print_line(request, stream, verdict);
}

/* Where the text has it, else in the file whose code made the launch. */
static json_t *sarif_results(const gd_audit *audit)
{
    json_t *results = json_array();
    for (size_t i = 0; i < audit->finding_count; i++) {
        const gd_audit_finding *finding = &audit->findings[i];
        const gd_frame *at = gd_auditreport_find_script(&finding->place);
        if (at == NULL && finding->place.count > 0)
            at = &finding->place.list[0];
        gd_sarif_add(results, finding->code, gd_finding_severity_name(finding->severity),
                     finding->text, "",
                     (gd_sarif_place){.file = at != NULL ? at->file : NULL,
                                      .line = at != NULL ? at->line : 0,
                                      .kernel = finding->kernel});
    }
    return results;
}

/* What the check says of the launches that were recorded; NULL: nothing. */
static griddep_findings *check_recorded(const gd_plan *plan)
{
    gd_modulefile_list modules = {0};
    griddep_findings *findings = NULL;
    if (gd_modulefile_load(plan, &modules) == 0)
        gd_chaincheck_run(plan, &modules, GRIDDEP_PDL_DEFAULT, &findings);
    gd_modulefile_free(&modules);
    return findings;
}

/* plan: of the launches that were recorded; NULL: none were. */
static int report(const gd_attachedprogram *request, const gd_attached_set *set,
                  const gd_plan *plan, const char *program, int ended)
{
    griddep_findings *recorded = plan != NULL ? check_recorded(plan) : NULL;
    gd_audit audit = gd_audit_make(set, recorded);
    griddep_findings_destroy(recorded);
    char *verdict =
        request->audits ? audit_verdict(&audit) : change_verdict(&audit, request->attach.early);
    int code = exit_code_of(request, &audit, set, ended);
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = request->report != NULL ? open_memstream(&text, &bytes) : stderr;
    if (stream == NULL)
        gd_heap_end();
    write_report(request, stream, set, &audit, program, code, verdict);
    if (request->report != NULL && fclose(stream) != 0)
        gd_heap_end();
    warn(set, &audit);
    int written = 0;
    if (request->report != NULL)
        written = gd_outputfile_write(request->report, text, bytes);
    if (written == 0 && request->sarif != NULL)
        written = gd_sarif_write(request->sarif, sarif_results(&audit));
    free(text);
    free(verdict);
    gd_audit_free(&audit);
    return written != 0 && code != GD_EXIT_SANITIZE ? written : code;
}

int gd_attachedprogram_run(gd_attachedprogram *request, char **program)
{
    gd_attached_set set;
    int ended = 0;
    int code = gd_outputfile_check();
    if (code != 0)
        return code;
    if (request->record == NULL)
        request->attach.launches = 0;
    else
        code = gd_recordedfile_check(request->record);
    if (code != 0)
        return code;
    code = gd_attach_run(&request->attach, program, &set, &ended);
    gd_plan plan = {0};
    const int made =
        code == 0 && request->record != NULL ? gd_recordedchain_make(&set, program[0], &plan) : -1;
    if (code == 0)
        code = report(request, &set, made == 0 ? &plan : NULL, program[0], ended);
    if (made >= 0 && (code == ended || code == GD_EXIT_SANITIZE)) {
        const int written = made == 0 ? gd_recordedfile_write(&plan, request->record) : made;
        code = written != 0 && code != GD_EXIT_SANITIZE ? written : code;
    }
    gd_plan_free(&plan);
    gd_attached_free(&set);
    return code;
}

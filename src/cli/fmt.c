/* griddep fmt: lays PTX out. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "griddep.h"

#include "cli/command.h"
#include "cli/io/heap.h"
#include "cli/io/hostfile.h"
#include "cli/io/message.h"
#include "cli/plan/modulefile.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/io/outputfile.h"

typedef struct gd_fmt_request {
    const char **paths;
    size_t count;
    const char *output; /* NULL: stdout, unless in_place */
    bool in_place, check, json;
    json_t *files; /* with json: what became of each */
} gd_fmt_request;

static const char details[] =
    "Each statement gets a line of its own. The operands of a function share a column, and labels "
    "stand at the margin. A line of more than 100 characters is broken after a comma. Comments "
    "stay; several blank lines become one. The tokens are the same, and a second run changes "
    "nothing. A text that cannot be read stays as it is. '-' is stdin.\n\n"
    "exit codes:\n"
    "  0  done; with --check, no file would change\n"
    "  1  with --check, a file would change\n"
    "  2  wrong usage, or a file that cannot be read or is no PTX\n"
    "  4  an output cannot be written, or another failure\n";

static int print_ptx(const griddep_ptx *ptx, char **text, uint64_t *bytes)
{
    griddep_error error;
    griddep_error_init(&error);
    return gd_modulefile_print(ptx, text, bytes, &error) == GRIDDEP_OK
               ? 0
               : gd_message_library(&error, NULL);
}

/* The text laid out, to free. */
static int lay_out(const char *text, size_t bytes, const char *name, char **laid,
                   uint64_t *laid_bytes)
{
    griddep_ptx *ptx = NULL, *formatted = NULL;
    griddep_error error;
    griddep_error_init(&error);
    int code = 0;
    if (griddep_ptx_parse(text, bytes, name, &ptx, &error) != GRIDDEP_OK ||
        griddep_ptx_format(ptx, &formatted, &error) != GRIDDEP_OK)
        code = gd_message_library(&error, NULL);
    if (code == 0)
        code = print_ptx(formatted, laid, laid_bytes);
    griddep_ptx_destroy(formatted);
    griddep_ptx_destroy(ptx);
    return code;
}

/* The file that is written; NULL: none. */
static const char *target_of(const gd_fmt_request *request, const char *path)
{
    if (request->in_place)
        return path;
    return request->output != NULL && strcmp(request->output, "-") != 0 ? request->output : NULL;
}

static void tell_file(const gd_fmt_request *request, const char *path, const char *laid,
                      bool changed)
{
    const char *target = target_of(request, path);
    bool shown = target == NULL && !request->check;
    gd_output_append(request->files,
                     GD_OBJECT({"file", gd_output_string(path)}, {"changed", json_boolean(changed)},
                               {"output", gd_output_string(target)},
                               {"ptx", gd_output_string(shown ? laid : NULL)}));
}

/* Puts the text where it belongs. A file that would stay the same is left alone. */
static int write_laid(const gd_fmt_request *request, const char *path, const char *laid,
                      size_t bytes, bool changed)
{
    const char *target = target_of(request, path);
    if (request->json)
        tell_file(request, path, laid, changed);
    if (request->check) {
        if (changed && !request->json)
            gd_output_print("%s would change\n", path);
        return changed ? GD_EXIT_FINDINGS : GD_EXIT_OK;
    }
    if (request->in_place)
        return changed ? gd_outputfile_replace(path, laid, bytes) : GD_EXIT_OK;
    if (target != NULL)
        return gd_outputfile_write(target, laid, bytes);
    if (!request->json)
        fwrite(laid, 1, bytes, stdout);
    return GD_EXIT_OK;
}

static int format_file(const gd_fmt_request *request, const char *path)
{
    const char *name = strcmp(path, "-") == 0 ? "<stdin>" : path;
    char *text = NULL, *laid = NULL;
    size_t bytes = 0;
    uint64_t laid_bytes = 0;
    int code = gd_hostfile_read_input(path, gd_modulefile_largest, &text, &bytes);
    if (code == 0)
        code = gd_outputfile_check();
    if (code == 0)
        code = lay_out(text, bytes, name, &laid, &laid_bytes);
    if (code == 0)
        code = write_laid(request, name, laid, (size_t)laid_bytes,
                          laid_bytes != bytes || memcmp(laid, text, bytes) != 0);
    free(laid);
    free(text);
    return code;
}

static int check_usage(const gd_fmt_request *request)
{
    size_t stdins = 0;
    for (size_t i = 0; i < request->count; i++)
        stdins += strcmp(request->paths[i], "-") == 0;
    if (request->in_place + request->check + (request->output != NULL) > 1)
        return gd_message_error(GD_EXIT_USAGE,
                                "--in-place, --check and --output exclude one another");
    if (request->in_place && stdins > 0)
        return gd_message_error(GD_EXIT_USAGE, "--in-place needs a file, not stdin");
    if (stdins > 1)
        return gd_message_error(GD_EXIT_USAGE, "'-' is stdin, which can be read once");
    if (request->count > 1 && !request->in_place && !request->check)
        return gd_message_error(GD_EXIT_USAGE,
                                "several files need --in-place or --check: each is a text of its "
                                "own");
    return 0;
}

/* All files, whatever becomes of one of them. */
static int format_files(const gd_fmt_request *request)
{
    int worst = 0;
    for (size_t i = 0; i < request->count; i++) {
        int code = format_file(request, request->paths[i]);
        worst = code > worst ? code : worst;
    }
    return worst;
}

/* The same, told in one document. */
static int format_json(gd_fmt_request *request)
{
    json_t *failures = json_array();
    request->files = json_array();
    gd_message_collect(failures);
    int code = format_files(request);
    gd_message_collect(NULL);
    gd_output_write(GD_OBJECT({"griddep", gd_output_string(griddep_version_text())},
                              {"exit_code", json_integer(code)}, {"files", request->files},
                              {"failures", failures}));
    return code;
}

static const char examples[] = "Lay a file out, or ask whether it is laid out:\n"
                               "    griddep fmt kernel.ptx --in-place\n"
                               "    griddep fmt kernel.ptx --check\n"
                               "    cat kernel.ptx | griddep fmt - >laid.ptx\n";

int gd_command_fmt(int argc, char **argv)
{
    gd_fmt_request request = {0};
    const gd_option options[] = {
        {GD_OPTION_FILE, "output", "FILE", "write there, or with -o FILE; '-' or none: stdout",
         (void *)&request.output, 0, 0},
        {GD_OPTION_FLAG, "in-place", NULL, "replace the files", &request.in_place, 0, 0},
        {GD_OPTION_FLAG, "check", NULL, "name the files that would change, and write nothing",
         &request.check, 0, 0},
        {GD_OPTION_FLAG, "json", NULL,
         "print one JSON document, with the PTX unless it goes to a file", &request.json, 0, 0},
        {0}};
    const gd_usage usage = {.name = "fmt",
                            .summary = "Lays PTX out. Needs no driver.",
                            .synopsis = "FILE.ptx|-... [-o FILE | --in-place | --check] [--json]",
                            .details = details,
                            .examples = examples,
                            .options = options,
                            .words_least = 1,
                            .words_most = (size_t)argc};
    request.paths = gd_heap_take((size_t)argc, sizeof(*request.paths));
    int code = gd_options_read(&usage, argc, argv, request.paths, &request.count);
    if (code < 0 && (code = check_usage(&request)) == 0)
        code = request.json ? format_json(&request) : format_files(&request);
    free(request.paths);
    return code;
}

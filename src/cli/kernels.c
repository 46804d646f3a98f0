/* griddep kernels: the shelf, as a list or one kernel in full. Needs no driver. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "cli/plan/catalog.h"
#include "cli/command.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/io/suggest.h"

/* The fields of a head comment: those that tell how to use a kernel come first. */
static const char *const fields[] = {"purpose", "parameters",  "launch",   "pdl",    "requires",
                                     "extent",  "constraints", "measured", "history"};

enum { USE_COUNT = 4, FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

typedef struct show_request {
    uint64_t capability; /* 0: the newest variant */
    bool ptx, json;
} show_request;

static void print_indented(const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        gd_output_print("    %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static bool matches(const griddep_shelf_info *info, const char *purpose, const char *word)
{
    return strcasestr(info->name, word) != NULL || strcasestr(info->family, word) != NULL ||
           (purpose != NULL && strcasestr(purpose, word) != NULL);
}

static json_t *variant_json(const griddep_shelf_info *info)
{
    return GD_OBJECT(
        {"name", gd_output_string(info->name)}, {"family", gd_output_string(info->family)},
        {"capability", json_integer(info->capability)}, {"file", gd_output_string(info->file)});
}

/* Those that have a word in name, family or purpose. */
static int list(const char *word, bool json)
{
    static const gd_record_column columns[] = {{.member = "name"},
                                               {.member = "family"},
                                               {.member = "capability", .before = "sm_"},
                                               {.member = "purpose", .otherwise = ""},
                                               {0}};
    json_t *kernels = json_array();
    griddep_shelf_info info = {.size = sizeof(info)};
    for (uint32_t i = 0; griddep_shelf_get(i, &info, NULL) == GRIDDEP_OK; i++) {
        char *purpose = gd_catalog_field(&info, "purpose");
        if (matches(&info, purpose, word)) {
            json_t *variant = variant_json(&info);
            gd_output_set(variant, "purpose", gd_output_string(purpose));
            gd_output_append(kernels, variant);
        }
        free(purpose);
    }
    int code = GD_EXIT_OK;
    if (json_array_size(kernels) == 0) {
        json_decref(kernels);
        code = gd_message_error(
            GD_EXIT_USAGE, "no kernel of the shelf has '%s' in its name, family or purpose", word);
    } else if (json) {
        gd_output_write(GD_OBJECT({"kernels", kernels}));
    } else {
        gd_output_table(kernels, columns);
    }
    return code;
}

static void show_text(const griddep_shelf_info *shelf)
{
    gd_output_print("%s (%s) for sm_%d\n", shelf->name, shelf->file, (int)shelf->capability);
    for (size_t i = 0; i < USE_COUNT; i++) {
        char *text = gd_catalog_field(shelf, fields[i]);
        if (text != NULL) {
            puts("");
            gd_output_print("  %s\n", fields[i]);
            print_indented(text);
        }
        free(text);
    }
    puts("");
    gd_output_print(
        "  --ptx prints the text, whose head comment also has the conditions of a launch, "
        "figures, and what was tried\n");
}

static void show_json(const griddep_shelf_info *shelf)
{
    json_t *document = variant_json(shelf);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        char *text = gd_catalog_field(shelf, fields[i]);
        gd_output_set(document, fields[i], gd_output_string(text));
        free(text);
    }
    gd_output_set(document, "ptx", gd_output_string(shelf->text));
    gd_output_write(document);
}

static int unknown_kernel(const char *name)
{
    char *suggestion = gd_catalog_suggest(name);
    int code = gd_message_error(GD_EXIT_USAGE, "the shelf has no kernel '%s'%s", name,
                                suggestion[0] != '\0' ? suggestion
                                                      : "; 'griddep kernels list' names them");
    free(suggestion);
    return code;
}

static int find_variant(const char *name, uint64_t capability, griddep_shelf_info *shelf)
{
    if (!gd_catalog_find(name, shelf))
        return unknown_kernel(name);
    if (capability == 0)
        return 0;
    griddep_error error;
    griddep_error_init(&error);
    if (griddep_shelf_find(name, (int32_t)capability, shelf, &error) != GRIDDEP_OK)
        return gd_message_error(GD_EXIT_USAGE, "%s", error.text);
    return 0;
}

static int show_kernel(const char *name, const show_request *request)
{
    griddep_shelf_info shelf = {.size = sizeof(shelf)};
    int code = find_variant(name, request->capability, &shelf);
    if (code != 0)
        return code;
    if (request->json)
        show_json(&shelf);
    else if (request->ptx)
        fwrite(shelf.text, 1, shelf.bytes, stdout);
    else
        show_text(&shelf);
    return GD_EXIT_OK;
}

static int act(const char *const *words, size_t count, const show_request *request)
{
    static const char *const actions[] = {"list", "show"};
    const char *action = count > 0 ? words[0] : "list";
    if (strcmp(action, "list") == 0)
        return list(count == 2 ? words[1] : "", request->json);
    if (strcmp(action, "show") == 0 && count == 2)
        return show_kernel(words[1], request);
    if (strcmp(action, "show") == 0)
        return gd_message_error(GD_EXIT_USAGE, "usage: griddep kernels show NAME");
    char *suggestion = gd_suggest_text(action, actions, 2);
    int code = gd_message_error(GD_EXIT_USAGE, "kernels has no action '%s'%s", action,
                                suggestion[0] != '\0' ? suggestion : "; there are list and show");
    free(suggestion);
    return code;
}

static const char examples[] =
    "All kernels, kernels with a word in their names, and one kernel in full:\n"
    "    griddep kernels list\n"
    "    griddep kernels list matvec\n"
    "    griddep kernels show matvec_bf16\n"
    "    griddep kernels show vector_add --ptx >vector_add.ptx\n";

int gd_command_kernels(int argc, char **argv)
{
    show_request request = {0};
    const gd_option options[] = {
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &request.json, 0, 0},
        {GD_OPTION_FLAG, "ptx", NULL, "show: print the PTX", &request.ptx, 0, 0},
        {GD_OPTION_COUNT, "capability", "NN",
         "show: the variant for this compute capability, such as 90", &request.capability, 10, 999},
        {0}};
    const gd_usage usage = {
        .name = "kernels",
        .summary = "Lists the library's own kernels, or shows one. Needs no driver.",
        .synopsis = "[list [WORD] | show NAME] [--ptx] [--capability NN] [--json]",
        .examples = examples,
        .options = options,
        .words_most = 2};
    const char *words[2] = {NULL, NULL};
    size_t count = 0;
    int code = gd_options_read(&usage, argc, argv, words, &count);
    if (code >= 0)
        return code;
    return act(words, count, &request);
}

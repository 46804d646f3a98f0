/* griddep kernels: the shelf, as a list or one kernel in full. Needs no driver. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "base/text.h"

#include "cli/plan/catalog.h"
#include "cli/command.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/io/suggest.h"

/* The fields of a head comment, and with which option `show` shows them. */
typedef enum part { PART_USE, PART_CONDITIONS, PART_MEASURED, PART_HISTORY, PARTS } part;

static const struct {
    const char *name;
    part part;
} fields[] = {{"purpose", PART_USE},
              {"parameters", PART_USE},
              {"launch", PART_USE},
              {"pdl", PART_USE},
              {"requires", PART_CONDITIONS},
              {"extent", PART_CONDITIONS},
              {"constraints", PART_CONDITIONS},
              {"measured", PART_MEASURED},
              {"history", PART_HISTORY}};

enum { FIELD_COUNT = sizeof(fields) / sizeof(fields[0]) };

/* What `show` shows: how to use a kernel, or the parts that are asked for. */
typedef struct show_request {
    uint64_t capability; /* 0: the newest variant */
    bool parts[PARTS];
    bool ptx, json;
} show_request;

static const struct {
    uint32_t bit;
    const char *name;
} traits[] = {{GRIDDEP_TRAIT_WAITS, "waits"},
              {GRIDDEP_TRAIT_WAITS_ALWAYS, "waits_always"},
              {GRIDDEP_TRAIT_TRIGGERS, "triggers"},
              {GRIDDEP_TRAIT_CALLS, "calls"}};

enum { TRAIT_COUNT = sizeof(traits) / sizeof(traits[0]) };

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
        if (matches(&info, purpose, word))
            gd_output_append(kernels, GD_OBJECT({"name", gd_output_string(info.name)},
                                                {"family", gd_output_string(info.family)},
                                                {"capability", json_integer(info.capability)},
                                                {"file", gd_output_string(info.file)},
                                                {"purpose", gd_output_string(purpose)}));
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

static int parse_ptx(const griddep_shelf_info *shelf, griddep_ptx **ptx, griddep_ptx_info *info)
{
    griddep_error error;
    griddep_error_init(&error);
    if (griddep_ptx_parse(shelf->text, shelf->bytes, shelf->file, ptx, &error) != GRIDDEP_OK)
        return gd_message_library(&error, NULL);
    *info = (griddep_ptx_info){.size = sizeof(*info)};
    if (griddep_ptx_get_info(*ptx, info, &error) != GRIDDEP_OK)
        return gd_message_library(&error, NULL);
    return 0;
}

static void print_traits(uint32_t bits)
{
    const char *waits = bits & GRIDDEP_TRAIT_WAITS_ALWAYS ? "each path executes griddepcontrol.wait"
                        : bits & GRIDDEP_TRAIT_WAITS      ? "some path misses griddepcontrol.wait"
                                                          : "never executes griddepcontrol.wait";
    const char *triggers = bits & GRIDDEP_TRAIT_TRIGGERS
                               ? "executes griddepcontrol.launch_dependents"
                               : "triggers implicitly, when its blocks exit";
    if ((bits & GRIDDEP_TRAIT_KNOWN) == 0)
        gd_output_print("  dependent launch: the code could not be read\n");
    else
        gd_output_print("  dependent launch: %s; %s\n", waits, triggers);
}

static void print_controls(const griddep_ptx *ptx, uint32_t entry, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        griddep_control_info control = {.size = sizeof(control)};
        if (griddep_ptx_get_control(ptx, entry, i, &control, NULL) != GRIDDEP_OK)
            break;
        gd_output_print("    line %d: griddepcontrol.%s%s\n", control.line,
                        control.kind == GRIDDEP_CONTROL_WAIT ? "wait" : "launch_dependents",
                        control.predicated ? ", under a predicate" : "");
    }
}

static void print_entry(const griddep_ptx *ptx, uint32_t index)
{
    griddep_ptx_entry_info entry = {.size = sizeof(entry)};
    if (griddep_ptx_get_entry(ptx, index, &entry, NULL) != GRIDDEP_OK)
        return;
    puts("");
    gd_output_print("entry %s, line %d: %u %s, %u %s of parameters", entry.name, entry.line,
                    (unsigned)entry.instruction_count,
                    gd_plural(entry.instruction_count, "instruction", "instructions"),
                    (unsigned)entry.parameter_bytes,
                    gd_plural(entry.parameter_bytes, "byte", "bytes"));
    if (entry.required_block[0] > 0)
        gd_output_print(", blocks of %u x %u x %u threads", (unsigned)entry.required_block[0],
                        (unsigned)entry.required_block[1], (unsigned)entry.required_block[2]);
    else if (entry.maximum_block[0] > 0)
        gd_output_print(", blocks of at most %u x %u x %u threads",
                        (unsigned)entry.maximum_block[0], (unsigned)entry.maximum_block[1],
                        (unsigned)entry.maximum_block[2]);
    gd_output_print("\n");
    print_traits(entry.traits);
    print_controls(ptx, index, entry.control_count);
}

/* The options that show more, where there is more. */
static void print_rest(const griddep_shelf_info *shelf, const bool shown[PARTS])
{
    static const char *const texts[PARTS] = {
        [PART_CONDITIONS] = "--conditions: conditions of a launch, and promises of the kernel",
        [PART_MEASURED] = "--measured: how fast the kernel is",
        [PART_HISTORY] = "--history: what was tried to make it faster"};
    bool there[PARTS] = {false};
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        char *text = gd_catalog_field(shelf, fields[i].name);
        there[fields[i].part] |= text != NULL;
        free(text);
    }
    puts("");
    for (int i = PART_CONDITIONS; i < PARTS; i++) {
        if (there[i] && !shown[i])
            gd_output_print("  %s\n", texts[i]);
    }
}

static void show_text(const griddep_shelf_info *shelf, const griddep_ptx *ptx,
                      const griddep_ptx_info *info, const show_request *request)
{
    bool shown[PARTS] = {false}, any = false;
    for (int i = 0; i < PARTS; i++)
        any |= shown[i] = request->parts[i];
    shown[PART_USE] = !any;
    gd_output_print("%s (%s): PTX %d.%d for %s\n", shelf->name, shelf->file, info->version / 10,
                    info->version % 10, info->target);
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        char *text = shown[fields[i].part] ? gd_catalog_field(shelf, fields[i].name) : NULL;
        if (text != NULL) {
            puts("");
            gd_output_print("  %s\n", fields[i].name);
            print_indented(text);
        }
        free(text);
    }
    for (uint32_t i = 0; i < info->entry_count && !any; i++)
        print_entry(ptx, i);
    print_rest(shelf, shown);
}

static json_t *block_json(const uint32_t block[3])
{
    if (block[0] == 0)
        return json_null();
    json_t *array = json_array();
    for (size_t i = 0; i < 3; i++)
        gd_output_append(array, json_integer(block[i]));
    return array;
}

static json_t *parameters_json(const griddep_ptx *ptx, uint32_t entry, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        griddep_parameter_info parameter = {.size = sizeof(parameter)};
        if (griddep_ptx_get_parameter(ptx, entry, i, &parameter, NULL) != GRIDDEP_OK)
            break;
        gd_output_append(list, GD_OBJECT({"name", gd_output_string(parameter.name)},
                                         {"type", gd_output_string(parameter.type)},
                                         {"offset", json_integer(parameter.offset)},
                                         {"bytes", json_integer(parameter.bytes)},
                                         {"alignment", json_integer(parameter.alignment)},
                                         {"pointer", json_boolean(parameter.is_pointer)}));
    }
    return list;
}

static json_t *controls_json(const griddep_ptx *ptx, uint32_t entry, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++) {
        griddep_control_info control = {.size = sizeof(control)};
        if (griddep_ptx_get_control(ptx, entry, i, &control, NULL) != GRIDDEP_OK)
            break;
        gd_output_append(list,
                         GD_OBJECT({"kind", gd_output_string(control.kind == GRIDDEP_CONTROL_WAIT
                                                                 ? "wait"
                                                                 : "launch_dependents")},
                                   {"line", json_integer(control.line)},
                                   {"column", json_integer(control.column)},
                                   {"predicated", json_boolean(control.predicated)}));
    }
    return list;
}

static json_t *entry_json(const griddep_ptx *ptx, uint32_t index)
{
    griddep_ptx_entry_info entry = {.size = sizeof(entry)};
    json_t *object = json_object(), *bits = json_object();
    if (griddep_ptx_get_entry(ptx, index, &entry, NULL) != GRIDDEP_OK)
        return object;
    for (size_t i = 0; i < TRAIT_COUNT; i++)
        gd_output_set(bits, traits[i].name, json_boolean(entry.traits & traits[i].bit));
    GD_SET(object, {"name", gd_output_string(entry.name)}, {"line", json_integer(entry.line)},
           {"instructions", json_integer(entry.instruction_count)},
           {"parameter_bytes", json_integer(entry.parameter_bytes)},
           {"required_block", block_json(entry.required_block)},
           {"maximum_block", block_json(entry.maximum_block)}, {"traits", bits},
           {"parameters", parameters_json(ptx, index, entry.parameter_count)},
           {"griddepcontrol", controls_json(ptx, index, entry.control_count)});
    return object;
}

static void show_json(const griddep_shelf_info *shelf, const griddep_ptx *ptx,
                      const griddep_ptx_info *info, const show_request *request)
{
    json_t *document = json_object(), *entries = json_array();
    GD_SET(document, {"name", gd_output_string(shelf->name)},
           {"family", gd_output_string(shelf->family)}, {"file", gd_output_string(shelf->file)},
           {"capability", json_integer(shelf->capability)},
           {"target", gd_output_string(info->target)},
           {"ptx_version", json_integer(info->version)});
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        char *text = gd_catalog_field(shelf, fields[i].name);
        gd_output_set(document, fields[i].name, gd_output_string(text));
        free(text);
    }
    for (uint32_t i = 0; i < info->entry_count; i++)
        gd_output_append(entries, entry_json(ptx, i));
    gd_output_set(document, "entries", entries);
    if (request->ptx)
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
    if (request->ptx && !request->json) {
        fwrite(shelf.text, 1, shelf.bytes, stdout);
        return GD_EXIT_OK;
    }
    griddep_ptx *ptx = NULL;
    griddep_ptx_info info;
    code = parse_ptx(&shelf, &ptx, &info);
    if (code == 0 && request->json)
        show_json(&shelf, ptx, &info, request);
    else if (code == 0)
        show_text(&shelf, ptx, &info, request);
    griddep_ptx_destroy(ptx);
    return code;
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
        {GD_OPTION_FLAG, "conditions", NULL,
         "show: conditions of a launch, and promises of the kernel",
         &request.parts[PART_CONDITIONS], 0, 0},
        {GD_OPTION_FLAG, "measured", NULL, "show: how fast the kernel is",
         &request.parts[PART_MEASURED], 0, 0},
        {GD_OPTION_FLAG, "history", NULL, "show: attempts to make it faster",
         &request.parts[PART_HISTORY], 0, 0},
        {GD_OPTION_COUNT, "capability", "NN",
         "show: the variant for this compute capability, such as 90", &request.capability, 10, 999},
        {0}};
    const gd_usage usage = {
        .name = "kernels",
        .summary = "Lists the library's own kernels, or shows one. Needs no driver.",
        .synopsis = "[list [WORD] | show NAME] [--conditions] [--measured] [--history] [--ptx] "
                    "[--capability NN] [--json]",
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

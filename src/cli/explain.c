/* griddep explain: the pages of the codes that findings have; and, for a chain file, why its hops
 * overlap or do not. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"

#include "cli/command.h"
#include "cli/io/heap.h"
#include "cli/io/help.h"
#include "cli/io/hostfile.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/io/suggest.h"
#include "cli/job/chainexplain.h"
#include "cli/plan/planfile.h"
#include "cli/program/attachedprogram.h"
#include "cli/program/recordedprogram.h"
#include "cli/show/finding.h"
#include "run/private.h"

static json_t *code_json(const gd_code_info *info)
{
    return GD_OBJECT({"code", gd_output_string(info->name)},
                     {"severity", gd_output_string(gd_finding_severity_name(info->severity))},
                     {"title", gd_output_string(info->title)},
                     {"page", gd_output_string(info->page)});
}

static void print_page(const gd_code_info *info)
{
    gd_output_print("%s, %s: %s\n", info->name, gd_finding_severity_name(info->severity),
                    info->title);
    puts("");
    gd_help_print_text(info->page);
}

static int unknown_code(const char *word)
{
    const char **codes = NULL;
    size_t count = 0;
    const gd_code_info *info;
    if (gd_hostfile_has_ending(word, ".ptx"))
        return gd_message_error(
            GD_EXIT_USAGE,
            "explain takes a chain file or the codes of findings, and '%s' is PTX; "
            "'griddep check %s' prints its findings",
            word, word);
    if (gd_planfile_is(word))
        return gd_message_error(GD_EXIT_USAGE,
                                "explain takes one chain file, and nothing beside it");
    if (strpbrk(word, "/.") != NULL)
        return gd_message_error(
            GD_EXIT_USAGE,
            "explain takes a chain file, whose name ends in .yaml, or the codes "
            "of findings, and '%s' is neither",
            word);
    while ((info = gd_code_at((uint32_t)count)) != NULL) {
        codes = gd_heap_grow(codes, count, count + 1, sizeof(*codes));
        codes[count++] = info->name;
    }
    char *suggestion = gd_suggest_text(word, codes, count);
    int code =
        gd_message_error(GD_EXIT_USAGE, "there is no code '%s'%s", word,
                         suggestion[0] != '\0' ? suggestion : "; 'griddep explain' lists them");
    free(suggestion);
    free(codes);
    return code;
}

/* The codes that the words name, all of them known. */
static int find_codes(const char *const *words, size_t count, const gd_code_info **infos)
{
    for (size_t i = 0; i < count; i++) {
        infos[i] = gd_code_find(words[i]);
        if (infos[i] == NULL)
            return unknown_code(words[i]);
    }
    return 0;
}

static json_t *all_codes(void)
{
    json_t *codes = json_array();
    const gd_code_info *info;
    for (uint32_t i = 0; (info = gd_code_at(i)) != NULL; i++)
        gd_output_append(codes, code_json(info));
    return codes;
}

static void print_json(const gd_code_info *const *infos, size_t count)
{
    json_t *codes = count == 0 ? all_codes() : json_array();
    for (size_t i = 0; i < count; i++)
        gd_output_append(codes, code_json(infos[i]));
    gd_output_write(GD_OBJECT({"codes", codes}));
}

static int explain(const char *const *words, size_t count, bool json)
{
    static const gd_record_column columns[] = {
        {.member = "code"}, {.member = "severity"}, {.member = "title"}, {0}};
    const gd_code_info **infos = gd_heap_take(count, sizeof(*infos));
    int code = find_codes(words, count, infos);
    if (code == 0 && json) {
        print_json(infos, count);
    } else if (code == 0 && count == 0) {
        gd_output_table(all_codes(), columns);
    } else if (code == 0) {
        for (size_t i = 0; i < count; i++) {
            fputs(i > 0 ? "\n" : "", stdout);
            print_page(infos[i]);
        }
    }
    free(infos);
    return code;
}

static int explain_chain(gd_chainexplain_request *request, gd_recordedprogram *recorded,
                         const char *path, char **program)
{
    gd_plan plan = {0};
    int code = gd_recordedprogram_load(recorded, &request->device, path, program, &plan);
    if (request->mode == NULL && program != NULL)
        request->mode = griddep_text(GRIDDEP_TEXT_MODE, GRIDDEP_MODE_PDL);
    if (code == 0)
        code = gd_chainexplain_run(request, &plan);
    gd_spanview_free(&recorded->spans);
    gd_plan_free(&plan);
    return code;
}

static const char examples[] = "All codes, and one in full:\n"
                               "    griddep explain\n"
                               "    griddep explain GD110\n"
                               "Why a chain's launches overlap, or do not:\n"
                               "    griddep explain chain.yaml\n"
                               "A chain's graph, for Graphviz:\n"
                               "    griddep explain examples/fork_join.yaml --dot >graph.dot\n"
                               "Why a program's launches overlap, or do not:\n"
                               "    griddep explain -- ./application\n";

int gd_command_explain(int argc, char **argv)
{
    bool json = false;
    gd_chainexplain_request request = {0};
    gd_recordedprogram recorded = {.launches = GD_RECORDED_LAUNCHES};
    const gd_option options[] = {
        {GD_OPTION_TEXT, "mode", "MODE",
         "of a chain: serial, pdl, graph or graph-pdl (the default)", (void *)&request.mode, 0, 0},
        {GD_OPTION_FLAG, "no-measure", NULL, "of a chain: predict, and run nothing",
         &request.no_measure, 0, 0},
        {GD_OPTION_FLAG, "all", NULL, "of a chain: show all launches, and conditions that are met",
         &request.all, 0, 0},
        {GD_OPTION_FLAG, "rounds", NULL,
         "of a chain: also from its last launch to the first of the next run", &request.rounds, 0,
         0},
        {GD_OPTION_FLAG, "dot", NULL, "of a chain: print its graph for Graphviz, and nothing else",
         &request.dot, 0, 0},
        GD_RECORDEDPROGRAM_OPTIONS(&recorded),
        GD_DEVICE_OPTIONS(&request.device),
        {GD_OPTION_FLAG, "json", NULL, "print one JSON document", &json, 0, 0},
        {0}};
    const gd_usage usage = {
        .name = "explain",
        .summary =
            "Tells why the launches of a chain overlap or do not, or what a finding's code means.",
        .synopsis = "CHAIN.yaml [--mode MODE] [--no-measure] [--all] [--rounds] "
                    "[--json | --dot]\n"
                    "[--first N] [--launches N] [--mode MODE] [--no-measure] [--all] "
                    "[--json | --dot] -- "
                    "PROGRAM [ARGUMENT]...\n"
                    "[CODE]... [--json]",
        .details =
            "For a chain the command predicts which launches overlap, then measures it by "
            "code that it adds to the kernels. It lists the conditions that are not met, "
            "with their numbers, for 40 launches at most; --all lists all. It says where "
            "prediction and measurement differ. In the graph modes it also tells each edge of a "
            "launch that several edges lead to. For a code it tells the meaning and the remedy. "
            "Without a word it lists all codes. Codes need no "
            "driver.\n\n" GD_RECORDEDPROGRAM_DETAILS " The default mode of a program is pdl.\n",
        .examples = examples,
        .options = options,
        .words_most = (size_t)argc};
    const char **words = gd_heap_take((size_t)argc, sizeof(*words));
    size_t count = 0;
    int marker = gd_attachedprogram_find(argc, argv);
    int code = gd_options_read(&usage, marker, argv, words, &count);
    if (code < 0 && marker < argc && count > 0)
        code = gd_message_error(GD_EXIT_USAGE,
                                "a program after '--' goes with neither codes nor a chain");
    request.json = json;
    if (code < 0 && request.dot && json)
        code =
            gd_message_error(GD_EXIT_USAGE, "--dot and --json are two forms of the same; give one");
    if (code < 0 && marker < argc) {
        code = gd_attachedprogram_check("explain", argc, argv, marker);
        if (code == 0)
            code = explain_chain(&request, &recorded, NULL, argv + marker + 1);
    }
    if (code < 0 && count == 1 && gd_planfile_is(words[0]))
        code = explain_chain(&request, &recorded, words[0], NULL);
    if (code < 0 && (request.mode != NULL || request.no_measure || request.all || request.rounds ||
                     request.dot || gd_device_is_chosen(&request.device)))
        code = gd_message_error(GD_EXIT_USAGE,
                                "--mode, --no-measure, --all, --rounds, --dot and options "
                                "of the driver go with a chain file, which "
                                "ends in .yaml or .yml");
    if (code < 0)
        code = explain(words, count, json);
    free(words);
    return code;
}

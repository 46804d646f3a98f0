/* Reading a subcommand's options. */
#include "cli/io/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/help.h"
#include "cli/io/message.h"
#include "cli/io/outputfile.h"
#include "cli/io/suggest.h"

bool gd_option_is_list(const gd_option *option)
{
    return option->kind == GD_OPTION_LIST || option->kind == GD_OPTION_FILES;
}

static int unknown_option(const gd_usage *usage, const char *given, size_t length)
{
    const char *names[32] = {"help"};
    size_t count = 1;
    for (const gd_option *option = usage->options; option->kind != GD_OPTION_END && count < 32;
         option++)
        names[count++] = option->name;
    char *word = gd_heap_format("%.*s", (int)length, given);
    const char *nearest = gd_suggest_nearest(word, names, count);
    int code =
        nearest != NULL
            ? gd_message_error(GD_EXIT_USAGE, "%s has no option --%s; did you mean --%s?",
                               usage->name, word, nearest)
            : gd_message_error(GD_EXIT_USAGE, "%s has no option --%s; '%s%s --help' lists them",
                               usage->name, word, gd_help_caller(usage), usage->name);
    free(word);
    return code;
}

static int read_count(const gd_option *option, const char *text)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    bool is_number = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
    if (!is_number || value < option->minimum || value > option->maximum)
        return gd_message_error(
            GD_EXIT_USAGE, "--%s takes a whole number from %llu to %llu, not '%s'", option->name,
            (unsigned long long)option->minimum, (unsigned long long)option->maximum, text);
    *(uint64_t *)option->target = value;
    return -1;
}

/* Notes what the command is to write. */
static int claim(const gd_option *option, const char *text)
{
    const char *equals = strchr(text, '=');
    int code = 0;
    if (option->kind == GD_OPTION_FILE)
        code = gd_outputfile_claim(option->name, text);
    else if (option->kind == GD_OPTION_FOLDER)
        code = gd_outputfile_claim_folder(option->name, text);
    else if (option->kind == GD_OPTION_FILES && equals != NULL && equals[1] != '\0')
        code = gd_outputfile_claim(option->name, equals + 1);
    return code == 0 ? -1 : code;
}

static int set_option(const gd_option *option, const char *text)
{
    gd_option_list *list = option->target;
    switch (option->kind) {
    case GD_OPTION_FLAG:
        *(bool *)option->target = true;
        return -1;
    case GD_OPTION_TEXT:
        *(const char **)option->target = text;
        return -1;
    case GD_OPTION_FILE:
    case GD_OPTION_FOLDER:
        *(const char **)option->target = text;
        return claim(option, text);
    case GD_OPTION_LIST:
    case GD_OPTION_FILES:
        list->values = gd_heap_grow(list->values, list->count, list->count + 1, sizeof(char *));
        list->values[list->count++] = text;
        return claim(option, text);
    case GD_OPTION_COUNT:
    case GD_OPTION_END:
        break;
    }
    return read_count(option, text);
}

static const gd_option *find_option(const gd_usage *usage, const char *name, size_t length)
{
    for (const gd_option *option = usage->options; option->kind != GD_OPTION_END; option++)
        if (strlen(option->name) == length && strncmp(option->name, name, length) == 0)
            return option;
    return NULL;
}

/* Of two values one would be lost. `seen` has a bit per option of the table. */
static int check_once(const gd_usage *usage, const gd_option *option, uint32_t *seen)
{
    uint32_t bit = 1U << (option - usage->options);
    bool again = (*seen & bit) != 0;
    *seen |= bit;
    if (again && option->kind != GD_OPTION_FLAG && !gd_option_is_list(option))
        return gd_message_error(GD_EXIT_USAGE, "--%s is given twice", option->name);
    return -1;
}

/* The option's value is `text`, or where that is NULL the next word, over which it steps. */
static int take_value(const gd_option *option, const char *text, int argc, char **argv, int *index)
{
    if (option->kind == GD_OPTION_FLAG && text != NULL)
        return gd_message_error(GD_EXIT_USAGE, "--%s takes no value", option->name);
    if (option->kind != GD_OPTION_FLAG && text == NULL) {
        if (*index + 1 >= argc)
            return gd_message_error(GD_EXIT_USAGE, "--%s needs a value: --%s %s", option->name,
                                    option->name, option->value);
        text = argv[++*index];
    }
    return set_option(option, text);
}

/* One option at argv[*index], --name or --name=value. */
static int read_option(const gd_usage *usage, int argc, char **argv, int *index, uint32_t *seen)
{
    const char *name = argv[*index] + 2;
    size_t length = strcspn(name, "=");
    const char *text = name[length] == '=' ? name + length + 1 : NULL;
    const gd_option *option = find_option(usage, name, length);
    if (option == NULL)
        return unknown_option(usage, name, length);
    int code = check_once(usage, option, seen);
    return code < 0 ? take_value(option, text, argc, argv, index) : code;
}

/* One option of a single dash, -o FILE or -oFILE. */
static int read_short_option(const gd_usage *usage, int argc, char **argv, int *index,
                             uint32_t *seen)
{
    const char *word = argv[*index];
    const gd_option *output = find_option(usage, "output", strlen("output")),
                    *processes = find_option(usage, "processes", strlen("processes")),
                    *option = word[1] == 'o'   ? output
                              : word[1] == 'n' ? processes
                                               : NULL;
    if (option == NULL)
        return gd_message_error(GD_EXIT_USAGE,
                                "%s has no option %s; options begin with two dashes%s", usage->name,
                                word,
                                output != NULL      ? ", -o alone with one"
                                : processes != NULL ? ", -n alone with one"
                                                    : "");
    int code = check_once(usage, option, seen);
    return code < 0 ? take_value(option, word[2] != '\0' ? word + 2 : NULL, argc, argv, index)
                    : code;
}

/* To free. The forms of a synopsis, each with the name, on lines of their own. */
static char *describe_call(const gd_usage *usage)
{
    const char *caller = gd_help_caller(usage), *form = usage->synopsis;
    char *text = gd_heap_string("");
    for (const char *before = ""; form != NULL; before = "\n   or: ") {
        const char *end = strchr(form, '\n');
        int length = end != NULL ? (int)(end - form) : (int)strlen(form);
        char *more =
            gd_heap_format("%s%s%s%s %.*s", text, before, caller, usage->name, length, form);
        free(text);
        text = more;
        form = end != NULL ? end + 1 : NULL;
    }
    return text;
}

int gd_options_refuse(const gd_usage *usage)
{
    char *call = describe_call(usage);
    int code = gd_message_usage(call, "a word is missing");
    free(call);
    return code;
}

static int refuse_word(const gd_usage *usage, const char *word)
{
    char *call = describe_call(usage);
    int code = gd_message_usage(
        call, "'%s' is one word too many%s", word,
        strstr(usage->synopsis, "-- PROGRAM") != NULL ? "; a program stands after '--'" : "");
    free(call);
    return code;
}

int gd_options_choose(const char *option, const char *text, const char *const *words, size_t count,
                      size_t *index)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) != 0)
            continue;
        *index = i;
        return 0;
    }
    char *suggestion = gd_suggest_text(text, words, count);
    char *list = gd_suggest_list(words, count);
    int code = gd_message_error(GD_EXIT_USAGE, "--%s is one of %s, not '%s'%s", option, list, text,
                                suggestion);
    free(suggestion);
    free(list);
    return code;
}

int gd_options_choose_named(const char *option, const char *text, const void *items, size_t count,
                            size_t item_bytes, size_t *index)
{
    if (text == NULL)
        return 0;
    const char **names = gd_heap_take(count, sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = *(const char *const *)((const char *)items + i * item_bytes);
    int code = gd_options_choose(option, text, names, count, index);
    free(names);
    return code;
}

int gd_options_choose_mode(const char *text, int32_t *mode)
{
    const char *names[GRIDDEP_MODE_COUNT];
    size_t index = 0;
    for (int32_t i = 0; i < GRIDDEP_MODE_COUNT; i++)
        names[i] = griddep_text(GRIDDEP_TEXT_MODE, i);
    int code = gd_options_choose("mode", text, names, GRIDDEP_MODE_COUNT, &index);
    if (code == 0)
        *mode = (int32_t)index;
    return code;
}

int gd_options_choose_modes(const char *text, uint32_t *modes)
{
    const char *names[GRIDDEP_MODE_COUNT + 1];
    size_t index = 0;
    for (int32_t i = 0; i < GRIDDEP_MODE_COUNT; i++)
        names[i] = griddep_text(GRIDDEP_TEXT_MODE, i);
    names[GRIDDEP_MODE_COUNT] = "all";
    int code = gd_options_choose("mode", text, names, GRIDDEP_MODE_COUNT + 1, &index);
    if (code == 0)
        *modes = index == GRIDDEP_MODE_COUNT ? (1U << GRIDDEP_MODE_COUNT) - 1 : 1U << index;
    return code;
}

int gd_options_read(const gd_usage *usage, int argc, char **argv, const char **words,
                    size_t *word_count)
{
    bool only_words = false;
    uint32_t seen = 0;
    size_t count = 0;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (!only_words && strcmp(word, "--") == 0) {
            only_words = true;
        } else if (!only_words && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
            gd_help_print(usage);
            return GD_EXIT_OK;
        } else if (!only_words && strncmp(word, "--", 2) == 0) {
            int code = read_option(usage, argc, argv, &i, &seen);
            if (code >= 0)
                return code;
        } else if (!only_words && word[0] == '-' && word[1] != '\0') {
            int code = read_short_option(usage, argc, argv, &i, &seen);
            if (code >= 0)
                return code;
        } else if (count == usage->words_most) {
            return refuse_word(usage, word);
        } else {
            words[count++] = word;
        }
    }
    *word_count = count;
    return count < usage->words_least ? gd_options_refuse(usage) : -1;
}

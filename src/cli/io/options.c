/* Reading a subcommand's options. */
#include "cli/io/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/outputfile.h"
#include "cli/io/suggest.h"

static bool table_wanted;

/* Each line of a text behind the name of its kind. */
static void print_lines(const char *kind, const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        printf("%s\t%.*s\n", kind, (int)length, line);
        line += length + (line[length] == '\n');
    }
}

static bool is_list(const gd_option *option)
{
    return option->kind == GD_OPTION_LIST || option->kind == GD_OPTION_FILES;
}

static bool is_output(const gd_option *option)
{
    return option->kind == GD_OPTION_FILE || option->kind == GD_OPTION_FOLDER ||
           option->kind == GD_OPTION_FILES;
}

static int print_table(const gd_usage *usage)
{
    print_lines("summary", usage->summary);
    print_lines("synopsis", usage->synopsis);
    printf("words\t%s\n", usage->words_most > 0 ? "files" : "none");
    for (const gd_option *option = usage->options; option->kind != GD_OPTION_END; option++)
        printf("option\t%s\t%s\t%s\t%s%s\n", option->name,
               option->value != NULL ? option->value : "", is_list(option) ? "several" : "once",
               option->help, is_output(option) ? "\toutput" : "");
    printf("option\thelp\t\tonce\tprint this text\n");
    print_lines("detail", usage->details != NULL ? usage->details : "");
    return GD_EXIT_OK;
}

static void print_option(const char *name, const char *value, const char *help)
{
    char left[64];
    snprintf(left, sizeof(left), "--%s%s%s", name, value != NULL ? " " : "",
             value != NULL ? value : "");
    printf("  %-24s %s\n", left, help);
}

/* What stands in front of the name where it is called. */
static const char *caller_of(const gd_usage *usage)
{
    return usage->is_program ? "" : "griddep ";
}

static int print_help(const gd_usage *usage)
{
    if (table_wanted)
        return print_table(usage);
    printf("usage: %s%s%s%s\n\n%s\n\noptions:\n", caller_of(usage), usage->name,
           usage->synopsis[0] != '\0' ? " " : "", usage->synopsis, usage->summary);
    for (const gd_option *option = usage->options; option->kind != GD_OPTION_END; option++)
        print_option(option->name, option->value, option->help);
    print_option("help", NULL, "print this text");
    if (usage->details != NULL)
        printf("\n%s", usage->details);
    return GD_EXIT_OK;
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
                               usage->name, word, caller_of(usage), usage->name);
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
    if (again && option->kind != GD_OPTION_FLAG && !is_list(option))
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
    const gd_option *output = find_option(usage, "output", strlen("output"));
    if (word[1] != 'o' || output == NULL)
        return gd_message_error(GD_EXIT_USAGE,
                                "%s has no option %s; options begin with two dashes%s", usage->name,
                                word, output != NULL ? ", -o alone with one" : "");
    int code = check_once(usage, output, seen);
    return code < 0 ? take_value(output, word[2] != '\0' ? word + 2 : NULL, argc, argv, index)
                    : code;
}

int gd_options_refuse(const gd_usage *usage)
{
    const char *end = strchr(usage->synopsis, '\n');
    size_t first = end != NULL ? (size_t)(end - usage->synopsis) : strlen(usage->synopsis);
    const char *rest = end != NULL ? end + strspn(end, "\n ") : "";
    bool other = strncmp(rest, "griddep ", strlen("griddep ")) == 0;
    return gd_message_error(GD_EXIT_USAGE, "usage: %s%s %.*s%s%s", caller_of(usage), usage->name,
                            (int)first, usage->synopsis,
                            other           ? ", or: "
                            : *rest != '\0' ? " "
                                            : "",
                            rest);
}

static int check_words(const gd_usage *usage, size_t count)
{
    return count < usage->words_least ? gd_options_refuse(usage) : -1;
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

int gd_options_choose_mode(const char *text, int32_t *mode)
{
    const char *names[GRIDDEP_MODE_COUNT];
    size_t index = 0;
    for (int32_t i = 0; i < GRIDDEP_MODE_COUNT; i++)
        names[i] = griddep_mode_name(i);
    int code = gd_options_choose("mode", text, names, GRIDDEP_MODE_COUNT, &index);
    if (code == 0)
        *mode = (int32_t)index;
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
            return print_help(usage);
        } else if (!only_words && strncmp(word, "--", 2) == 0) {
            int code = read_option(usage, argc, argv, &i, &seen);
            if (code >= 0)
                return code;
        } else if (!only_words && word[0] == '-' && word[1] != '\0') {
            int code = read_short_option(usage, argc, argv, &i, &seen);
            if (code >= 0)
                return code;
        } else if (count == usage->words_most) {
            return gd_message_error(GD_EXIT_USAGE, "'%s' is one word too many; usage: %s%s %s",
                                    word, caller_of(usage), usage->name, usage->synopsis);
        } else {
            words[count++] = word;
        }
    }
    *word_count = count;
    return check_words(usage, count);
}

void gd_options_want_table(void)
{
    table_wanted = true;
}

/* The command line of a subcommand: long options from a table, positional words, help. -o is short
 * for --output, and -n for --processes, where there is such an option. */
#ifndef GD_CLI_OPTIONS_H
#define GD_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum gd_option_kind {
    GD_OPTION_END = 0,
    GD_OPTION_FLAG,   /* target: bool */
    GD_OPTION_TEXT,   /* target: const char * */
    GD_OPTION_FILE,   /* likewise; the command writes this file */
    GD_OPTION_FOLDER, /* likewise; files in this folder */
    GD_OPTION_LIST,   /* target: gd_option_list; may be given several times */
    GD_OPTION_FILES,  /* likewise, NAME=FILE; the command writes these files */
    GD_OPTION_COUNT   /* target: uint64_t, from minimum to maximum */
} gd_option_kind;

typedef struct gd_option_list {
    const char **values; /* to free; the strings are argv's */
    size_t count;
} gd_option_list;

typedef struct gd_option {
    gd_option_kind kind;
    const char *name;  /* without dashes */
    const char *value; /* what stands for the value in the help; NULL for a flag */
    const char *help;  /* words to choose from stand in it as "a, b or c": completions offer them */
    void *target;
    uint64_t minimum, maximum;
} gd_option;

typedef struct gd_usage {
    const char *name;         /* "run" */
    const char *summary;      /* one line */
    const char *synopsis;     /* behind "griddep run"; a line a form */
    const char *details;      /* as gd_help_print_text takes them, or NULL */
    const char *examples;     /* lines of text, each followed by commands behind four spaces */
    const gd_option *options; /* ends with GD_OPTION_END; at most 31 */
    size_t words_least, words_most;
    bool is_program; /* of its own, called by its name: not a subcommand of griddep */
} gd_usage;

/* Whether it may be given several times. */
bool gd_option_is_list(const gd_option *option);

/* Which of several words an option's value is. Returns 0, or GD_EXIT_USAGE after a message that
 * lists them; *index is then as it was. */
int gd_options_choose(const char *option, const char *text, const char *const *words, size_t count,
                      size_t *index);

/* Which of the items of a table, each of which begins with its name, is named; NULL: *index stays
 * as it is. */
int gd_options_choose_named(const char *option, const char *text, const void *items, size_t count,
                            size_t item_bytes, size_t *index);

/* The same for --mode and the names of all modes. */
int gd_options_choose_mode(const char *text, int32_t *mode);

/* The same for commands that take several: a bit for each; "all" has every one. */
int gd_options_choose_modes(const char *text, uint32_t *modes);

/* Says on one line how the command is called, for callers that miss a word: GD_EXIT_USAGE. */
int gd_options_refuse(const gd_usage *usage);

/* Reads argv[1...]: options into their targets (one with a value that is no list at most once),
 * positional words into words[0...] (room for words_most). Returns -1 to go on, otherwise the exit
 * code: 0 after --help has been printed, GD_EXIT_USAGE after a message. */
int gd_options_read(const gd_usage *usage, int argc, char **argv, const char **words,
                    size_t *word_count);

#endif

/* griddep: the command. Chooses the subcommand. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "griddep.h"

#include "cli/command.h"
#include "cli/io/help.h"
#include "cli/io/message.h"
#include "cli/io/suggest.h"
#include "cli/io/temporary.h"

typedef struct gd_command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} gd_command;

static const gd_command commands[] = {
#define GD_COMMAND(name, summary) {#name, (summary), gd_command_##name},
#include "cli/commands.def"
#undef GD_COMMAND
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const struct {
    int code;
    const char *meaning;
} exits[] = {
#define EXIT(code, meaning) {code, meaning},
#include "cli/io/exitcodes.def"
#undef EXIT
};

enum { EXIT_COUNT = sizeof(exits) / sizeof(exits[0]) };

static const char examples[] =
    "What this machine supports; and a chain, run in all modes, checked and timed:\n"
    "    griddep info\n"
    "    griddep run examples/vector_add.yaml\n"
    "Mistakes, found without a GPU; and the meaning of one of them:\n"
    "    griddep check kernel.ptx chain.yaml\n"
    "    griddep explain GD110\n";

static void print_help(void)
{
    gd_help_print_text("usage: griddep COMMAND [OPTION]... [WORD]...\n\n"
                       "griddep is for people who launch many short CUDA kernels, one after the "
                       "other. It lets kernels overlap where that is safe (programmatic dependent "
                       "launch), shows the time saved, and says why other kernels do not overlap. "
                       "It finds races and invalid PTX without a GPU. Begin with 'griddep "
                       "demo'.\n\ncommands:\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        gd_help_print_item(commands[i].name, 13, commands[i].summary);
    gd_help_print_text("  help       print a command's help\n\n"
                       "options:\n"
                       "  --help     print this text\n"
                       "  --version  print the version\n\n"
                       "exit codes:\n");
    for (size_t i = 0; i < EXIT_COUNT; i++) {
        char number[8];
        snprintf(number, sizeof(number), "%d", exits[i].code);
        gd_help_print_item(number, 5, exits[i].meaning);
    }
    gd_help_print_text(
        "\n"
        "Without an NVIDIA driver, griddep uses an emulated driver, which runs PTX on the CPU. "
        "--driver nvidia prevents that.\n\n"
        "doc/environment.md (man griddep-environment) lists the environment variables.\n");
    gd_help_print_examples(examples);
}

/* What man pages and completions are made of: a fact a line, its fields separated by tabs. */
static int print_table(void)
{
    for (size_t i = 0; i < EXIT_COUNT; i++)
        printf("exit\t%d\t%s\n", exits[i].code, exits[i].meaning);
    gd_help_want_table();
    gd_help_print_examples(examples);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        printf("command\t%s\t%s\n", commands[i].name, commands[i].summary);
        char help[] = "--help";
        char *arguments[] = {(char *)commands[i].name, help, NULL};
        commands[i].run(2, arguments);
    }
    return GD_EXIT_OK;
}

static const gd_command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT + 1] = {"help"};
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i + 1] = commands[i].name;
    const char *nearest = gd_suggest_nearest(name, names, COMMAND_COUNT + 1);
    if (nearest != NULL)
        return gd_message_error(GD_EXIT_USAGE, "there is no command '%s'; did you mean '%s'?", name,
                                nearest);
    return gd_message_error(GD_EXIT_USAGE, "there is no command '%s'; 'griddep --help' lists them",
                            name);
}

/* --json is for errors, as everywhere. */
static int help_about(int argc, char **argv)
{
    const char *name = NULL;
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            continue;
        if (name != NULL)
            return gd_message_error(GD_EXIT_USAGE, "usage: griddep help [COMMAND]");
        name = argv[i];
    }
    if (name == NULL || strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 ||
        strcmp(name, "-h") == 0) {
        print_help();
        return GD_EXIT_OK;
    }
    if (strcmp(name, "--table") == 0)
        return print_table();
    const gd_command *command = find_command(name);
    if (command == NULL)
        return unknown_command(name);
    char help[] = "--help";
    char *arguments[] = {(char *)command->name, help, NULL};
    return command->run(2, arguments);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help();
        return GD_EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "help") == 0)
        return help_about(argc, argv);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        print_help();
        return GD_EXIT_OK;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        printf("griddep %s\n", griddep_version_text());
        return GD_EXIT_OK;
    }
    if (name[0] == '-')
        return gd_message_error(
            GD_EXIT_USAGE, "griddep has no option %s; 'griddep --help' lists options and commands",
            name);
    const gd_command *command = find_command(name);
    return command != NULL ? command->run(argc - 1, argv + 1) : unknown_command(name);
}

/* A stream that is closed must not become the first file that is opened. Reading from it, or
 * writing to it, fails. */
static void open_streams(void)
{
    for (int descriptor = 0; descriptor < 3; descriptor++)
        if (fcntl(descriptor, F_GETFD) < 0)
            open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Each command that prints a document has --json for it. Errors of the command line are told as all
 * others are, so this is asked before anything is read. */
static bool wants_json(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--json") == 0 || strncmp(argv[i], "--json=", 7) == 0)
            return true;
    return false;
}

/* The exit code. Where a write failed before, errno may be of something later: one more byte asks
 * for the reason anew. */
static int finish_output(int code)
{
    bool failed = ferror(stdout) != 0;
    bool fails = (failed && putchar('\n') == EOF) || fflush(stdout) != 0;
    if (fails ? errno == EPIPE : !failed)
        return code;
    return gd_message_error(GD_EXIT_REFUSED, "cannot write the output: %s",
                            fails ? strerror(errno) : "a part of it is lost");
}

int main(int argc, char **argv)
{
    open_streams();
    gd_temporary_begin();
    if (wants_json(argc, argv))
        gd_message_want_json();
    return finish_output(dispatch(argc, argv));
}

/* The subcommands. Each takes its own argv (argv[0] is its name) and returns the exit code. */
#ifndef GD_CLI_COMMAND_H
#define GD_CLI_COMMAND_H

#define GD_COMMAND(name, summary) int gd_command_##name(int argc, char **argv);
#include "cli/commands.def"
#undef GD_COMMAND

#endif

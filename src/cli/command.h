/* The subcommands. Each takes its own argv (argv[0] is its name) and returns the exit code. */
#ifndef GD_CLI_COMMAND_H
#define GD_CLI_COMMAND_H

int gd_command_bench(int argc, char **argv);
int gd_command_info(int argc, char **argv);
int gd_command_kernels(int argc, char **argv);
int gd_command_run(int argc, char **argv);
int gd_command_demo(int argc, char **argv);
int gd_command_check(int argc, char **argv);
int gd_command_graph(int argc, char **argv);
int gd_command_explain(int argc, char **argv);
int gd_command_trace(int argc, char **argv);
int gd_command_sanitize(int argc, char **argv);
int gd_command_rewrite(int argc, char **argv);
int gd_command_stress(int argc, char **argv);
int gd_command_tune(int argc, char **argv);

#endif

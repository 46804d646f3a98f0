/* The subcommands that run a program attached: what they have in common. */
#ifndef GD_CLI_ATTACHEDPROGRAM_H
#define GD_CLI_ATTACHEDPROGRAM_H

#include <stdbool.h>

#include "cli/job/attach.h"

typedef struct gd_attachedprogram {
    gd_attach attach;
    const char *report; /* NULL: stderr */
    bool json;
    bool audits; /* judges; else tells what was changed */
} gd_attachedprogram;

/* Runs the program and writes the report. Returns the exit code. */
int gd_attachedprogram_run(gd_attachedprogram *request, char **program);

/* Where the options end and the program begins: at the word "--"; argc: nowhere. */
int gd_attachedprogram_find(int argc, char **argv);

/* Whether there is a program, and nothing in front of it. Returns 0, or GD_EXIT_USAGE after a
 * message. */
int gd_attachedprogram_check(const char *command, int argc, char **argv, int marker);

#endif

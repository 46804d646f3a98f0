/* The subcommands that run a program attached: what they have in common. */
#ifndef GD_CLI_ATTACHEDPROGRAM_H
#define GD_CLI_ATTACHEDPROGRAM_H

#include <stdbool.h>

#include "cli/io/options.h"
#include "cli/program/attach.h"

typedef struct gd_attachedprogram {
    gd_attach attach;
    const char *report; /* NULL: stderr */
    const char *record; /* a folder that the launches are written into; NULL: none */
    const char *sarif;  /* a file for the findings; NULL: none */
    bool json;
    bool audits; /* judges; else tells what was changed */
} gd_attachedprogram;

/* The options that all of them have, for a table of options. */
#define GD_ATTACHEDPROGRAM_OPTIONS(request)                                                        \
    {GD_OPTION_FILE,                                                                               \
     "report",                                                                                     \
     "FILE",                                                                                       \
     "write the report to a file",                                                                 \
     (void *)&(request)->report,                                                                   \
     0,                                                                                            \
     0},                                                                                           \
        {GD_OPTION_TEXT,                                                                           \
         "driver",                                                                                 \
         "DRIVER",                                                                                 \
         "auto, nvidia, emulated, or the path of a driver library",                                \
         (void *)&(request)->attach.driver,                                                        \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        GD_OPTION_FLAG, "json", NULL, "write the report as one JSON document", &(request)->json,   \
            0, 0                                                                                   \
    }

/* Reads the options; *program is then what stands behind them: its name and its arguments. Returns
 * -1 to go on, otherwise the exit code. */
int gd_attachedprogram_read(const gd_usage *usage, int argc, char **argv, char ***program);

/* Runs the program and writes the report. Returns the exit code. */
int gd_attachedprogram_run(gd_attachedprogram *request, char **program);

/* Where the options end and the program begins: at the word "--"; argc: nowhere. */
int gd_attachedprogram_find(int argc, char **argv);

/* Whether a program is there. Returns 0, or GD_EXIT_USAGE after a
 * message. */
int gd_attachedprogram_check(const char *command, int argc, char **argv, int marker);

#endif

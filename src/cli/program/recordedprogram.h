/* What a program launched, for the subcommands that take a chain: it runs, and its launches become
 * a plan. */
#ifndef GD_CLI_RECORDEDPROGRAM_H
#define GD_CLI_RECORDEDPROGRAM_H

#include <stdint.h>

#include "cli/io/device.h"
#include "cli/io/options.h"
#include "cli/plan/plan.h"
#include "cli/show/spanview.h"

enum { GD_RECORDED_LAUNCHES = 256 };

typedef struct gd_recordedprogram {
    uint64_t first, launches; /* how many, from that one on */
    bool times;               /* begin and end of each launch are asked for */
    bool plain;               /* they alone are: there is no chain */
    gd_spanview spans;        /* not yet made; to be freed */
} gd_recordedprogram;

/* Which launches of a program, for a table of options. */
#define GD_RECORDEDPROGRAM_OPTIONS(request)                                                        \
    {GD_OPTION_COUNT,   "first", "N",       "of a program: skip this many launches (0)",           \
     &(request)->first, 0,       UINT32_MAX},                                                      \
    {                                                                                              \
        GD_OPTION_COUNT, "launches", "N", "of a program: at most this many launches (256)",        \
            &(request)->launches, 1, 16384                                                         \
    }

/* What a help says about programs. */
#define GD_RECORDEDPROGRAM_DETAILS                                                                 \
    "A program after '--' runs first; its stdout goes to stderr. The command records its "         \
    "launches as a chain, as 'griddep audit --record' does: their order, code and arguments, and " \
    "the memory that the arguments point to. Streams become lanes. Other work of the program is "  \
    "left out. A launch may start early where the program allowed it. The report is about this "   \
    "chain."

/* The plan of a chain file or, where the path is NULL, of a program, which runs. Returns 0, or an
 * exit code after a message; spans are there in both cases, and so is a plan to be freed. */
int gd_recordedprogram_load(gd_recordedprogram *request, const gd_device_choice *device,
                            const char *path, char **program, gd_plan *plan);

#endif

/* Running a program with libgriddep-attach in front of its driver. */
#ifndef GD_CLI_ATTACH_H
#define GD_CLI_ATTACH_H

#include "cli/program/attached.h"

typedef struct gd_attach {
    const char *driver;       /* NULL: as the environment says */
    const char *early;        /* "off", "on", "rewrite"; NULL: as the program says */
    const char *times;        /* GRIDDEP_ATTACH_TIMES; NULL: off */
    bool speaks_on_stderr;    /* what it writes to stdout goes to stderr */
    uint64_t first, launches; /* how many are recorded whole, from that one on; 0: none */
    uint64_t memory;          /* MiB of what they reach that are kept at most; 0: 1024 */
} gd_attach;

/* Runs a program. *ended is its exit code, and *set what it did, to free. Returns 0, or an exit
 * code after a message: of the program that could not be started too. */
int gd_attach_run(const gd_attach *request, char **arguments, gd_attached_set *set, int *ended);

#endif

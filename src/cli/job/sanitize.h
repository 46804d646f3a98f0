/* griddep sanitize: what its two halves, chains and programs, have in common. */
#ifndef GD_CLI_SANITIZE_H
#define GD_CLI_SANITIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "cli/io/emulation.h"
#include "cli/io/options.h"
#include "cli/plan/plan.h"
#include "cli/show/racelist.h"

typedef struct gd_sanitize {
    gd_option_list schedules; /* as given; empty: the usual ones */
    const char *checks;
    const char *modes;  /* NULL: pdl and graph-pdl */
    const char *driver; /* NULL: the emulated driver of this installation */
    const char *report; /* NULL: stdout for a chain, stderr for a program */
    bool json;
    bool is_recorded; /* the chain is of a program's launches: there is no file */
    gd_emulation emulation;
    FILE *stream; /* where findings go */
} gd_sanitize;

/* Each returns the exit code: GD_EXIT_SANITIZE where something was found. path: of the chain file,
 * or the program whose launches the plan has. */
int gd_sanitize_chain(const gd_sanitize *request, const char *path, const gd_plan *plan);
int gd_sanitize_program(const gd_sanitize *request, char **arguments);

/* Puts what the emulated driver is to do into the environment: checks, report file, schedule (NULL:
 * as it is), model, multiprocessors. Returns 0, or an exit code after a message. */
int gd_sanitize_set_environment(const gd_sanitize *request, const char *report,
                                const char *schedule);

/* "no race in this execution (3 launches; schedule eager, model contract)" or "2 findings (...)":
 * what was found, of which `found` is the number, by these checks in so many launches. To free. */
char *gd_sanitize_verdict(const gd_sanitize *request, size_t found, uint64_t launches,
                          const char *schedules, bool several, const char *model);

#endif

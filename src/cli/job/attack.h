/* Attacks on a chain: producers that trigger first and are slow, one at a time, and what they do to
 * the results. */
#ifndef GD_CLI_ATTACK_H
#define GD_CLI_ATTACK_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

#include "cli/plan/modulefile.h"
#include "cli/job/session.h"
#include "cli/job/verify.h"

/* One attack: `producer` is slow. */
typedef struct gd_attack {
    uint32_t producer;
    int32_t place; /* GRIDDEP_DELAY_* */
    int32_t mode;  /* GRIDDEP_MODE_* */
} gd_attack;

typedef struct gd_attack_result {
    bool ran;     /* false: `why` says why it was not run */
    bool faulted; /* a kernel faulted, as `why` tells; the plan is to be closed, and its runtime
                  * too */
    char *why;    /* or NULL */
    bool own_triggers; /* triggers stay where they are: moved to the start they would make the chain
                       * wrong */
    bool differs;
    uint32_t
        launch; /* of those that wrote a buffer which differs last, the first one: there it began */
    uint32_t buffer; /* that it wrote */
    gd_difference difference;
} gd_attack_result;

/* A plan that is attacked: realised, its experiment with the serial run's results. */
typedef struct gd_attacked {
    const gd_plan *plan;
    const gd_modulefile_list *modules;
    gd_session session;
    uint32_t *grids; /* by launch: the first dimension that attacks use */
    uint32_t nanoseconds;
    uint32_t rounds;
    int32_t
        *eager; /* by launch as producer: how many triggers may stand at the start; -1: not known
                * yet */
    struct gd_attack_code *codes; /* modules that were loaded for attacks */
    uint32_t code_count;
} gd_attacked;

/* Realises the plan and runs it serially, also with the grids that attacks use. modules must
 * outlive it. Returns 0, or an exit code after a message; to be closed either way. */
int gd_attacked_open(gd_attacked *attacked, const gd_plan *plan, const gd_modulefile_list *modules,
                     griddep_runtime *runtime, uint32_t nanoseconds, uint32_t rounds);
void gd_attacked_close(gd_attacked *attacked);

/* Runs an attack. The result is to be freed with gd_attack_result_free. Returns 0, or an exit code
 * after a message. */
int gd_attack_run(gd_attacked *attacked, const gd_attack *attack, gd_attack_result *result);
void gd_attack_result_free(gd_attack_result *result);

#endif

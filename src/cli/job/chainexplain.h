/* griddep explain of a chain. */
#ifndef GD_CLI_CHAINEXPLAIN_H
#define GD_CLI_CHAINEXPLAIN_H

#include <stdbool.h>

#include "cli/io/device.h"
#include "cli/plan/plan.h"

typedef struct gd_chainexplain_request {
    const char *mode; /* NULL: graph-pdl */
    bool no_measure, json;
    bool dot;    /* the chain's graph for Graphviz, and nothing else */
    bool all;    /* conditions: those that are met too */
    bool rounds; /* also the first launch of a further round */
    gd_device_choice device;
} gd_chainexplain_request;

/* Returns an exit code. */
int gd_chainexplain_run(const gd_chainexplain_request *request, const gd_plan *plan);

#endif

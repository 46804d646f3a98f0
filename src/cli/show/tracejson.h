/* A traced run as a JSON object. */
#ifndef GD_CLI_TRACEJSON_H
#define GD_CLI_TRACEJSON_H

#include <jansson.h>

#include "cli/show/traceview.h"

/* Times in nanoseconds; `blocks`: with the points of each block. */
json_t *gd_tracejson_make(const gd_traceview *view, bool blocks);

#endif

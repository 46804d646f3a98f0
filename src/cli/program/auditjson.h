/* An audit as JSON. */
#ifndef GD_CLI_AUDITJSON_H
#define GD_CLI_AUDITJSON_H

#include <jansson.h>

#include "cli/program/audit.h"

/* Arrays of objects. Of findings that are alike one is in it, with the texts of the others. */
json_t *gd_auditjson_kernels(const gd_audit *audit);
json_t *gd_auditjson_gaps(const gd_audit *audit);
json_t *gd_auditjson_findings(const gd_audit *audit);

#endif

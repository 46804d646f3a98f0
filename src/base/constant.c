/* Every constant of griddep.h by name, and the version of the loaded library. constants.inc is made
 * from the header at build time, so the two cannot drift. */
#include "config.h"

#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "griddep.h"

typedef struct constant_entry {
    const char *name;
    int32_t value;
} constant_entry;

static const constant_entry entries[] = {
#include "base/constants.inc"
};

const char *griddep_constant_name(uint32_t index, int32_t *value)
{
    if (index >= sizeof entries / sizeof entries[0])
        return NULL;
    if (value)
        *value = entries[index].value;
    return entries[index].name;
}

int32_t griddep_constant_find(const char *name, int32_t *value, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!name || !value)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", name ? "value" : "name");
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++) {
        if (!strcmp(entries[i].name, name)) {
            *value = entries[i].value;
            return GRIDDEP_OK;
        }
    }
    return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND, "griddep.h has no constant %s", name);
}

/* ---- the version, whose numbers configure.ac reads for PACKAGE_VERSION ---- */

_Static_assert(GRIDDEP_VERSION_MINOR < 1000 && GRIDDEP_VERSION_PATCH < 1000,
               "the version does not fit its number");

int32_t griddep_version(void)
{
    return GRIDDEP_VERSION_MAJOR * 1000000 + GRIDDEP_VERSION_MINOR * 1000 + GRIDDEP_VERSION_PATCH;
}

const char *griddep_version_text(void)
{
    return PACKAGE_VERSION;
}

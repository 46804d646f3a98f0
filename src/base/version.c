/* The version of the loaded library, from the numbers in griddep.h; configure.ac reads them for
 * PACKAGE_VERSION. */
#include "config.h"

#include "griddep.h"

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

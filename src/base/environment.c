/* Environment variables. */
#include <stdlib.h>

#include "base/environment.h"

const char *gd_environment(const char *name)
{
    const char *value = secure_getenv(name);

    return value && *value ? value : NULL;
}

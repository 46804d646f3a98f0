/* "1 launch", "2 launches". */
#ifndef GD_BASE_PLURAL_H
#define GD_BASE_PLURAL_H

#include <stdint.h>

static inline const char *gd_plural(uint64_t count, const char *one, const char *several)
{
    return count == 1 ? one : several;
}

#endif

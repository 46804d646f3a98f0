/* Bytes that somebody else wrote, read within their bounds. */
#ifndef GD_BASE_VIEW_H
#define GD_BASE_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef struct gd_view {
    const unsigned char *bytes;
    uint64_t size;
} gd_view;

/* False, and nothing is written, where a part does not lie inside. */
static inline bool gd_view_part(gd_view whole, uint64_t offset, uint64_t size, gd_view *part)
{
    if (offset > whole.size || size > whole.size - offset)
        return false;
    *part = (gd_view){offset ? whole.bytes + offset : whole.bytes, size}; /* bytes may be NULL */
    return true;
}

static inline bool gd_view_copy(gd_view whole, uint64_t offset, void *into, uint64_t size)
{
    gd_view part;

    if (!gd_view_part(whole, offset, size, &part))
        return false;
    if (size)
        memcpy(into, part.bytes, (size_t)size);
    return true;
}

#endif

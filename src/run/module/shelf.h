/* What build-tools/shelf.sh makes of a kernel's file. */
#ifndef GD_RUN_SHELF_H
#define GD_RUN_SHELF_H

#include <stdbool.h>
#include <stdint.h>

typedef struct shelf_entry {
    const char *name;
    const char *family;
    const char *file;
    int32_t capability;
    bool exact; /* the target is that capability's own, such as sm_90a: newer devices do not take
                 * it */
    const char *text;
    uint64_t bytes;
} shelf_entry;

#endif

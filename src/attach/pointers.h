/* Addresses that a launch is given as those which the launch before it was given: what a kernel
 * reads before its wait may be what that one writes. A sample of the launches is looked at. The
 * caller holds the lock. */
#ifndef GD_ATTACH_POINTERS_H
#define GD_ATTACH_POINTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/abi.h"

enum { GD_POINTERS_MOST = 16 };

/* A launch's arguments that may be addresses. */
typedef struct gd_pointers {
    uint32_t kernel; /* its number in the records */
    uint32_t count;  /* 0: it is not in the sample */
    uint32_t parameters[GD_POINTERS_MOST];
    uint64_t values[GD_POINTERS_MOST];
} gd_pointers;

/* Counts a launch; whether it is in the sample. */
bool gd_pointers_next(void);

/* A bit for each of a kernel's first 32 parameters that may be an address. Asks the driver. */
uint32_t gd_pointers_find(gd_CUfunction function);

/* found: as gd_pointers_find; parameters: as the driver is given them; NULL: none. */
void gd_pointers_read(gd_pointers *into, uint32_t kernel, uint32_t found, void **parameters);

/* Records what the second launch has of the first. */
void gd_pointers_compare(const gd_pointers *first, const gd_pointers *second);

/* In a child process. */
void gd_pointers_forget(void);

#endif

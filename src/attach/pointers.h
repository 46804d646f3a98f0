/* Addresses that a launch is given as those which launches before it were given, by themselves or
 * in tensor maps: what a kernel reads before its wait may be what one of them writes. A sample of
 * the launches is looked at. The caller holds the lock. */
#ifndef GD_ATTACH_POINTERS_H
#define GD_ATTACH_POINTERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/attached.h"
#include "emulator/abi.h"

enum { GD_POINTERS_MOST = 32 };

/* A launch's arguments that may be addresses. */
typedef struct gd_pointers {
    uint32_t kernel; /* its number in the records */
    uint32_t count;  /* 0: it is not in the sample */
    uint32_t parameters[GD_POINTERS_MOST];
    uint64_t values[GD_POINTERS_MOST];
    uint64_t bytes[GD_POINTERS_MOST];       /* that may be touched from there, by a tensor map or
                                             * the head comment; 0: not known */
    uint64_t allocations[GD_POINTERS_MOST]; /* where they begin; 0: not known */
} gd_pointers;

/* Counts a launch; whether it is in the sample. */
bool gd_pointers_next(void);

/* number: of the kernel's record, in which its parameters are noted; arguments or, where that is
 * NULL, extra: as the driver is given them. */
void gd_pointers_read(gd_pointers *into, gd_attached_kernel *kernel, uint32_t number,
                      gd_CUfunction function, const gd_CUlaunchConfig *config, void **arguments,
                      void **extra);

/* Launches in a row, the oldest first, of which all but the first started early. */
typedef struct gd_pointers_row {
    gd_pointers launches[GD_ATTACHED_ROW_MOST];
    uint32_t count;
} gd_pointers_row;

/* Appends a launch, and records what it has of those before it, and the row. early: it started
 * early, directly behind the one before. */
void gd_pointers_follow(gd_pointers_row *row, const gd_pointers *launch, bool early);

/* In a child process. */
void gd_pointers_forget(void);

#endif

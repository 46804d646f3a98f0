/* Whether CTAs of a kernel find room beside those of the kernel before it: explain and the audit of
 * graphs ask here. */
#ifndef GD_RUN_ROOM_H
#define GD_RUN_ROOM_H

#include "run/launch/footprint.h"

typedef struct gd_room {
    gd_footprint before, after; /* of the first kernel and of the second one */
    gd_residence residence;     /* of the first one */
    uint32_t beside_full, beside_tail;
    /* What the carve-outs of both mean on an SM. */
    int percents[2];      /* -1: the driver's choice */
    uint32_t settings[2]; /* 0: not known, or the driver's choice */
    uint64_t needed;      /* by the first kernel's CTAs of an SM and one of the second's */
    int carved; /* 0: they keep the second kernel off the first one's SMs; 1: they do not; -1: not
                 * known */
} gd_room;

/* The context is current. */
void gd_room_measure(const griddep_kernel *first, const gd_launch *first_launch,
                     const griddep_kernel *second, const gd_launch *second_launch, gd_room *room);

/* How much a kernel that may start early overlaps with the first one: GRIDDEP_OVERLAP_TAIL, with
 * why it is no more, or _FULL, which leaves *reason alone. */
int32_t gd_room_overlap(const gd_room *room, int32_t *reason);

/* Whether a kernel of these traits never triggers. */
bool gd_room_lacks_trigger(uint32_t traits);

/* Whether nobody can tell: the code is not known, or is machine code that calls a function. */
bool gd_room_may_trigger(uint32_t traits);

#endif

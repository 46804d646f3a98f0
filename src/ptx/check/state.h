/* How far a thread is with waiting: a set of GD_STATE_* bits, one for each kind of path that may
 * have led to a point.
 *
 * A dry path is one on which this thread has not executed griddepcontrol.wait. On some dry paths it
 * is known that other threads wait: those that took another side of a branch. How near those are
 * says which barrier can order this thread behind them. */
#ifndef GD_PTX_CHECK_STATE_H
#define GD_PTX_CHECK_STATE_H

#include <stdint.h>

enum {
    GD_STATE_DRY = 1,      /* nobody is known to wait */
    GD_STATE_DRY_GRID = 2, /* threads of other CTAs wait */
    GD_STATE_DRY_MIXED =
        4, /* the branch depends on thread and CTA at once: threads of this CTA wait, or of
            * others */
    GD_STATE_DRY_CTA = 8,   /* threads of this CTA wait */
    GD_STATE_DRY_WARP = 16, /* threads of this warp wait */
    GD_STATE_HOPED =
        32, /* something was passed that may order this thread behind one that waited */
    GD_STATE_ORDERED = 64, /* a barrier has ordered this thread behind one that waited */
    GD_STATE_WAITED = 128,
    GD_STATE_TRIGGERED = 256, /* on some path the thread has triggered; independent of the others */

    GD_STATE_BITS = 9,
    GD_STATE_ALONE = GD_STATE_DRY,
    GD_STATE_ACCOMPANIED =
        GD_STATE_DRY_GRID | GD_STATE_DRY_MIXED | GD_STATE_DRY_CTA | GD_STATE_DRY_WARP,
    GD_STATE_ALL_DRY = GD_STATE_ALONE | GD_STATE_ACCOMPANIED,
    GD_STATE_UNSAFE = GD_STATE_ALL_DRY | GD_STATE_HOPED,
    GD_STATE_SAFE = GD_STATE_ORDERED | GD_STATE_WAITED
};

/* How far the two sides of a branch may be apart. Ordered: what is nearer says more. */
typedef enum gd_scope {
    GD_SCOPE_NONE, /* all threads of the grid go the same way, or it cannot be told */
    GD_SCOPE_GRID, /* CTAs differ */
    GD_SCOPE_MIXED,
    GD_SCOPE_CTA, /* threads of each CTA differ */
    GD_SCOPE_WARP /* threads of each warp differ */
} gd_scope;

/* Dry paths that turn away, at a branch of that scope, from a side on which all paths wait. */
static inline uint32_t gd_state_leave_company(uint32_t state, gd_scope scope)
{
    uint32_t dry = state & GD_STATE_ALL_DRY;
    uint32_t nearer = dry & ~((1u << scope) - 1); /* bit n of the dry ones belongs to scope n */

    return (state & ~(uint32_t)GD_STATE_ALL_DRY) | nearer | (dry & ~nearer ? 1u << scope : 0);
}

/* A griddepcontrol.wait that every thread that gets here executes. */
static inline uint32_t gd_state_wait(uint32_t state)
{
    return (state & GD_STATE_TRIGGERED) |
           (state & ~(uint32_t)GD_STATE_TRIGGERED ? GD_STATE_WAITED : 0);
}

#endif

/* What the lanes of a warp tell one another. The lanes of the mask, the last source, wait for one
 * another first; an operation without .sync has GD_AREA_SINK there. */
#ifndef GD_EMULATOR_EXECUTE_WARP_H
#define GD_EMULATOR_EXECUTE_WARP_H

#include "emulator/execute/execute.h"

enum { GD_VOTE_ALL, GD_VOTE_ANY, GD_VOTE_UNI, GD_VOTE_BALLOT };
enum { GD_SHFL_UP, GD_SHFL_DOWN, GD_SHFL_BFLY, GD_SHFL_IDX };
enum { GD_REDUX_ADD, GD_REDUX_MIN, GD_REDUX_MAX, GD_REDUX_AND, GD_REDUX_OR, GD_REDUX_XOR };

gd_run gd_run_vote; /* x: GD_VOTE_*, a: predicate, flags: 1 it is negated, b: masks, d: result */
gd_run gd_run_shfl; /* x: GD_SHFL_*, d, a, b, c, e: masks; target predicate in address */
gd_run
    gd_run_match; /* x: all instead of any; d, a of `bytes`, b: masks; address: predicate of all */
gd_run gd_run_redux; /* x: GD_REDUX_*, y: type; d, a, b: masks */
gd_run gd_run_activemask;
gd_run gd_run_elect; /* d: lane, address: predicate, a: masks */

#endif

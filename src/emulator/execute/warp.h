/* What the lanes of a warp tell one another. With GD_WARP_SYNC the lanes of the mask in slot e wait
 * for one another first. */
#ifndef GD_EMULATOR_EXECUTE_WARP_H
#define GD_EMULATOR_EXECUTE_WARP_H

#include "emulator/execute/execute.h"

enum { GD_WARP_SYNC = 1, GD_WARP_NEGATED = 2 };
enum { GD_VOTE_ALL, GD_VOTE_ANY, GD_VOTE_UNI, GD_VOTE_BALLOT };
enum { GD_SHFL_UP, GD_SHFL_DOWN, GD_SHFL_BFLY, GD_SHFL_IDX };
enum { GD_REDUX_ADD, GD_REDUX_MIN, GD_REDUX_MAX, GD_REDUX_AND, GD_REDUX_OR, GD_REDUX_XOR };

gd_run gd_run_vote;  /* x: GD_VOTE_*, a: predicate, d: result */
gd_run gd_run_shfl;  /* x: GD_SHFL_*, d, a, b, c; target predicate in address */
gd_run gd_run_match; /* x: all instead of any, y: bytes; d, a; address: predicate of all */
gd_run gd_run_redux; /* x: GD_REDUX_*, y: signed; d, a */
gd_run gd_run_activemask;
gd_run gd_run_elect; /* d: lane, a: predicate */

#endif

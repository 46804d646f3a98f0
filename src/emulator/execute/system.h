/* What the system gives to each module: functions that are called by name and have no body in the
 * PTX. */
#ifndef GD_EMULATOR_EXECUTE_SYSTEM_H
#define GD_EMULATOR_EXECUTE_SYSTEM_H

#include "emulator/execute/execute.h"

/* list: copies of `count` arguments as of a call; target: of `x` results. */
gd_run gd_run_printf;
gd_run gd_run_malloc;
gd_run gd_run_free;
gd_run gd_run_assert;
gd_run gd_run_set_condition;

#endif

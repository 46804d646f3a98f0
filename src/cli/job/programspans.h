/* Begin and end of what attached processes launched, out of their records. */
#ifndef GD_CLI_PROGRAMSPANS_H
#define GD_CLI_PROGRAMSPANS_H

#include "cli/job/attached.h"
#include "cli/show/spanview.h"

/* All that there is, not yet made; the records may end. */
gd_spanview gd_programspans_read(const gd_attached_set *set, const char *program);

#endif

/* Words for the constants of griddep.h. */
#ifndef GD_RUN_LAUNCH_WORDS_H
#define GD_RUN_LAUNCH_WORDS_H

#include <stdint.h>

#include "griddep.h"

/* "unknown", "none", "tail", "full"; NULL for another value. */
const char *gd_overlap_name(int32_t overlap);

#endif

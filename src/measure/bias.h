/* What a stamp costs, measured on the device. */
#ifndef GD_MEASURE_BIAS_H
#define GD_MEASURE_BIAS_H

#include "griddep.h"

typedef struct gd_bias {
    double clock_rate;  /* cycles of %clock64 in a nanosecond */
    double nanoseconds; /* from one stamp to the next with nothing in between */
} gd_bias;

int32_t gd_bias_measure(griddep_runtime *runtime, gd_bias *bias, griddep_error *error);

#endif

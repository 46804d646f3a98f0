/* Opening a runtime for a subcommand, and telling about it. */
#ifndef GD_CLI_DEVICE_H
#define GD_CLI_DEVICE_H

#include <stdint.h>

#include <jansson.h>

#include "griddep.h"

/* What --driver and --device say. */
typedef struct gd_device_choice {
    const char *driver; /* NULL: as the environment says */
    const char *device; /* the number as it was given; NULL: the first */
    int32_t pdl;        /* GRIDDEP_PDL_* */
} gd_device_choice;

/* Opens the runtime and fills info. Returns 0, or an exit code after a message. */
int gd_device_open(const gd_device_choice *choice, griddep_runtime **runtime, griddep_runtime_info *info);

/* {"driver": ..., "driver_version": "13.0", "device": {...}}'s inner objects. */
json_t *gd_device_driver_json(const griddep_runtime_info *info);
json_t *gd_device_json(const griddep_runtime_info *info);

/* "NVIDIA H200 (device 0, sm_90, 132 multiprocessors), driver libcuda.so.1, CUDA 13.0": a line on stdout. */
void gd_device_print(const griddep_runtime_info *info);

#endif

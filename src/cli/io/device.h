/* Opening a runtime for a subcommand, and telling about it. */
#ifndef GD_CLI_DEVICE_H
#define GD_CLI_DEVICE_H

#include <stdint.h>

#include <jansson.h>

#include "griddep.h"

#include "cli/io/emulation.h"

/* What --driver and --device say, and the options of the emulated driver. */
typedef struct gd_device_choice {
    const char *driver; /* NULL: as the environment says */
    const char *device; /* the number as it was given; NULL: the first */
    int32_t pdl;        /* GRIDDEP_PDL_* */
    gd_emulation emulation;
} gd_device_choice;

/* The options that go into it. */
#define GD_DEVICE_OPTIONS(choice)                                                                  \
    {GD_OPTION_TEXT,                                                                               \
     "driver",                                                                                     \
     "DRIVER",                                                                                     \
     "auto, nvidia, emulated, or the path of a driver library",                                    \
     (void *)&(choice)->driver,                                                                    \
     0,                                                                                            \
     0},                                                                                           \
        GD_DEVICE_OPTION(choice), GD_EMULATION_OPTIONS(&(choice)->emulation)

/* Those of commands that measure, which refuse the emulated driver. */
#define GD_GPU_OPTIONS(choice)                                                                     \
    {GD_OPTION_TEXT,                                                                               \
     "driver",                                                                                     \
     "DRIVER",                                                                                     \
     "auto, nvidia, or the path of a driver library",                                              \
     (void *)&(choice)->driver,                                                                    \
     0,                                                                                            \
     0},                                                                                           \
        GD_DEVICE_OPTION(choice)

#define GD_DEVICE_OPTION(choice)                                                                   \
    {                                                                                              \
        GD_OPTION_TEXT, "device", "N", "device number, from 0", (void *)&(choice)->device, 0, 0    \
    }

/* Whether one of them was given. */
bool gd_device_is_chosen(const gd_device_choice *choice);

/* Opens the runtime and fills info. Returns 0, or an exit code after a message. */
int gd_device_open(const gd_device_choice *choice, griddep_runtime **runtime,
                   griddep_runtime_info *info);

/* {"driver": ..., "driver_version": "13.0", "device": {...}}'s inner objects. */
json_t *gd_device_driver_json(const griddep_runtime_info *info);
json_t *gd_device_json(const griddep_runtime_info *info);

/* "NVIDIA H200 (device 0, sm_90, 132 multiprocessors), driver libcuda.so.1, CUDA 13.0": a line on
 * stdout. Before it, where the driver is the emulated one, a line that says so, and why. */
void gd_device_print(const griddep_runtime_info *info);

/* Those lines alone. */
void gd_device_print_emulated(const griddep_runtime_info *info);

#endif

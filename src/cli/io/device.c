/* Driver and device, for every subcommand that needs them. */
#include "cli/io/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

#include "cli/io/message.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"

static int read_ordinal(const char *text, int32_t *ordinal)
{
    char *end = NULL;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value > 1023)
        return gd_message_error(GD_EXIT_USAGE,
                                "--device takes a device number from 0 to 1023, not '%s'", text);
    *ordinal = (int32_t)value;
    return 0;
}

bool gd_device_is_chosen(const gd_device_choice *choice)
{
    return choice->driver != NULL || choice->device != NULL || choice->emulation.wanted ||
           gd_emulation_setting(&choice->emulation) != NULL;
}

int gd_device_open(const gd_device_choice *choice, griddep_runtime **runtime,
                   griddep_runtime_info *info)
{
    griddep_runtime_options options = {
        .size = sizeof(options), .driver = choice->driver, .pdl = choice->pdl};
    int code = gd_emulation_apply(&choice->emulation, &options.driver);
    if (code != 0)
        return code;
    if (choice->device != NULL) {
        options.flags = GRIDDEP_RUNTIME_DEVICE;
        code = read_ordinal(choice->device, &options.device);
        if (code != 0)
            return code;
    }
    griddep_error error;
    griddep_error_init(&error);
    griddep_runtime *opened = NULL;
    int32_t status = griddep_runtime_open(&options, &opened, &error);
    if (status != GRIDDEP_OK)
        return gd_message_library(&error, status == GRIDDEP_ERROR_NO_DRIVER
                                              ? "no driver or device can be used here"
                                              : "opening the driver");
    *info = (griddep_runtime_info){.size = sizeof(*info)};
    status = griddep_runtime_get_info(opened, info, &error);
    if (status != GRIDDEP_OK) {
        griddep_runtime_close(opened);
        return gd_message_library(&error, "asking the device");
    }
    code = gd_emulation_check_opened(&choice->emulation, info);
    if (code != 0)
        griddep_runtime_close(opened);
    else
        *runtime = opened;
    return code;
}

json_t *gd_device_driver_json(const griddep_runtime_info *info)
{
    json_t *driver = json_object();
    char version[32];
    snprintf(version, sizeof(version), "%d.%d", info->driver_version / 1000,
             info->driver_version % 1000 / 10);
    GD_SET(
        driver, {"library", gd_output_string(info->driver)},
        {"cuda_version", gd_output_string(version)}, {"emulated", json_boolean(info->emulated)},
        {"fallback", info->fallback[0] != '\0' ? gd_output_string(info->fallback) : json_null()});
    return driver;
}

json_t *gd_device_json(const griddep_runtime_info *info)
{
    json_t *device = json_object();
    char capability[32];
    snprintf(capability, sizeof(capability), "%d.%d", info->capability / 10, info->capability % 10);
    GD_SET(device, {"ordinal", json_integer(info->device)},
           {"name", gd_output_string(info->device_name)},
           {"compute_capability", gd_output_string(capability)},
           {"multiprocessors", json_integer(info->multiprocessors)},
           {"memory_bytes", json_integer((json_int_t)info->memory_bytes)},
           {"l2_bytes", json_integer((json_int_t)info->l2_bytes)},
           {"shared_bytes_per_multiprocessor", json_integer(info->shared_bytes_per_multiprocessor)},
           {"shared_bytes_per_block", json_integer(info->shared_bytes_per_block)},
           {"registers_per_multiprocessor", json_integer(info->registers_per_multiprocessor)},
           {"threads_per_multiprocessor", json_integer(info->threads_per_multiprocessor)},
           {"blocks_per_multiprocessor", json_integer(info->blocks_per_multiprocessor)});
    return device;
}

void gd_device_print_emulated(const griddep_runtime_info *info)
{
    if (info->emulated)
        gd_output_print("This is the emulated driver: times come from a model.\n");
}

void gd_device_print(const griddep_runtime_info *info)
{
    gd_progress_clear();
    gd_device_print_emulated(info);
    gd_output_print("%s (device %d, sm_%d, %d %s), driver %s, CUDA %d.%d\n", info->device_name,
                    info->device, info->capability, info->multiprocessors,
                    gd_plural((uint64_t)info->multiprocessors, "multiprocessor", "multiprocessors"),
                    info->driver, info->driver_version / 1000, info->driver_version % 1000 / 10);
    if (info->pdl_disabled)
        gd_output_print("GRIDDEP_PDL=off: programmatic dependent launch is switched off\n");
    fflush(stdout); /* before work that may take long, and before what stderr says of it */
}

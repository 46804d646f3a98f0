/* Settings of the emulated driver, from the command line to its environment. */
#include "cli/io/emulation.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/io/message.h"
#include "cli/io/options.h"

const char *gd_emulation_setting(const gd_emulation *emulation)
{
    return emulation->schedule != NULL       ? "schedule"
           : emulation->model != NULL        ? "model"
           : emulation->chip != NULL         ? "chip"
           : emulation->multiprocessors != 0 ? "multiprocessors"
                                             : NULL;
}

bool gd_emulation_is_schedule(const char *text)
{
    static const char random[] = "random:";
    char *end = NULL;
    if (strcmp(text, "eager") == 0 || strcmp(text, "lazy") == 0)
        return true;
    if (strncmp(text, random, strlen(random)) != 0 || !isdigit((unsigned char)text[strlen(random)]))
        return false;
    errno = 0;
    strtoull(text + strlen(random), &end, 0);
    return errno == 0 && *end == '\0';
}

int gd_emulation_check(const gd_emulation *emulation)
{
    static const char *const models[] = {"contract", "observed"};
    static const char *const chips[] = {
#define GD_PROFILE(capability, shared, threads, ctas) "sm_" #capability,
#include "base/profiles.def"
#undef GD_PROFILE
    };
    size_t index = 0;
    if (emulation->schedule != NULL && !gd_emulation_is_schedule(emulation->schedule))
        return gd_message_error(
            GD_EXIT_USAGE,
            "--schedule is eager, lazy, or random: with a number after it (random:7), not '%s'",
            emulation->schedule);
    int code = emulation->model != NULL
                   ? gd_options_choose("model", emulation->model, models, 2, &index)
                   : 0;
    return code == 0 && emulation->chip != NULL
               ? gd_options_choose("chip", emulation->chip, chips, sizeof chips / sizeof *chips,
                                   &index)
               : code;
}

int gd_emulation_set(const char *variable, const char *value)
{
    if (setenv(variable, value, 1) == 0)
        return 0;
    return gd_message_error(GD_EXIT_REFUSED, "%s cannot be set: %s", variable, strerror(errno));
}

static int set_variables(const gd_emulation *emulation)
{
    char number[32];
    int code = 0;
    if (emulation->schedule != NULL)
        code = gd_emulation_set("GRIDDEP_EMULATOR_SCHEDULE", emulation->schedule);
    if (code == 0 && emulation->model != NULL)
        code = gd_emulation_set("GRIDDEP_EMULATOR_MODEL", emulation->model);
    if (code == 0 && emulation->chip != NULL)
        code = gd_emulation_set("GRIDDEP_EMULATOR_CHIP", emulation->chip);
    if (code != 0 || emulation->multiprocessors == 0)
        return code;
    snprintf(number, sizeof(number), "%llu", (unsigned long long)emulation->multiprocessors);
    return gd_emulation_set("GRIDDEP_EMULATOR_MULTIPROCESSORS", number);
}

int gd_emulation_apply(const gd_emulation *emulation, const char **driver)
{
    const char *setting = gd_emulation_setting(emulation);
    if (emulation->wanted && *driver != NULL && strcmp(*driver, "emulated") != 0)
        return gd_message_error(
            GD_EXIT_USAGE, "--emulate is the same as --driver emulated; --driver is '%s'", *driver);
    if (setting != NULL && *driver != NULL && strcmp(*driver, "nvidia") == 0)
        return gd_message_error(
            GD_EXIT_USAGE, "--%s is for the emulated driver, not for --driver nvidia", setting);
    if (emulation->wanted)
        *driver = "emulated";
    int code = gd_emulation_check(emulation);
    return code != 0 ? code : set_variables(emulation);
}

int gd_emulation_check_opened(const gd_emulation *emulation, const griddep_runtime_info *info)
{
    const char *setting = gd_emulation_setting(emulation);
    if (setting == NULL || info->emulated)
        return 0;
    return gd_message_error(
        GD_EXIT_USAGE, "--%s is for the emulated driver, and %s was opened; --emulate takes it",
        setting, info->driver);
}

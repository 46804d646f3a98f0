/* What the command line says about the emulated driver: the settings that it reads from the
 * environment. */
#ifndef GD_CLI_EMULATION_H
#define GD_CLI_EMULATION_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"

typedef struct gd_emulation {
    bool wanted;          /* --emulate */
    const char *schedule; /* NULL: not given, as for the others */
    const char *model, *chip;
    uint64_t multiprocessors; /* 0 */
} gd_emulation;

/* The options of every subcommand that may use the emulated driver, into a gd_emulation. */
#define GD_EMULATION_OPTIONS(emulation)                                                            \
    {                                                                                              \
        GD_OPTION_FLAG,       "emulate", NULL, "the same as --driver emulated",                    \
        &(emulation)->wanted, 0,         0},                                                       \
        GD_EMULATION_SETTINGS(emulation)

/* Those that tell the emulated driver how to run. */
#define GD_EMULATION_SETTINGS(emulation)                                                           \
    {GD_OPTION_TEXT,                                                                               \
     "schedule",                                                                                   \
     "ORDER",                                                                                      \
     "emulated driver: eager, lazy or random:SEED",                                                \
     (void *)&(emulation)->schedule,                                                               \
     0,                                                                                            \
     0},                                                                                           \
        {GD_OPTION_TEXT,                                                                           \
         "model",                                                                                  \
         "MODEL",                                                                                  \
         "emulated driver: contract or observed",                                                  \
         (void *)&(emulation)->model,                                                              \
         0,                                                                                        \
         0},                                                                                       \
        {GD_OPTION_TEXT,                                                                           \
         "chip",                                                                                   \
         "CHIP",                                                                                   \
         "emulated driver: sm_90, sm_100, sm_103 or sm_120",                                       \
         (void *)&(emulation)->chip,                                                               \
         0,                                                                                        \
         0},                                                                                       \
    {                                                                                              \
        GD_OPTION_COUNT, "multiprocessors", "N", "emulated driver: how many its device has",       \
            &(emulation)->multiprocessors, 1, 1024                                                 \
    }

/* Whether a word is a schedule: eager, lazy, random:SEED. */
bool gd_emulation_is_schedule(const char *text);

/* The name of a setting that was given; NULL: none was. */
const char *gd_emulation_setting(const gd_emulation *emulation);

/* Checks the settings. Returns 0, or GD_EXIT_USAGE after a message. */
int gd_emulation_check(const gd_emulation *emulation);

/* Sets one of the emulator's variables for this process and those that it starts. Returns 0, or an
 * exit code after a message. */
int gd_emulation_set(const char *variable, const char *value);

/* Checks what is given with the driver that is asked for (NULL: none), and sets the variables.
 * *driver becomes "emulated" with --emulate. To be called before a driver is opened. Returns 0, or
 * an exit code after a message. */
int gd_emulation_apply(const gd_emulation *emulation, const char **driver);

/* Refuses settings for a driver that was opened and is not the emulated one. Returns 0, or
 * GD_EXIT_USAGE after a message. */
int gd_emulation_check_opened(const gd_emulation *emulation, const griddep_runtime_info *info);

#endif

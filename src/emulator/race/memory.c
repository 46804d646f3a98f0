/* The detector's memory, and its end where there is none. */
#include <stdlib.h>

#include "emulator/race/core.h"

void gd_race_stop(gd_race *race)
{
    static const gd_race_finding exhausted = {
        .kind = GD_RACE_EXHAUSTED,
        .text = "the race detector has no memory left and records no more",
        .missing = "memory of the host"};

    if (race->stopped)
        return;
    race->stopped = true;
    if (race->options.sink)
        race->options.sink(race->options.context, &exhausted);
}

void *gd_race_take(gd_race *race, size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (!memory)
        gd_race_stop(race);
    else
        race->bytes += bytes;
    return memory;
}

void gd_race_give(gd_race *race, void *memory, size_t bytes)
{
    if (!memory)
        return;
    race->bytes -= bytes;
    free(memory);
}

bool gd_race_grow(gd_race *race, void **array, uint32_t count, uint32_t *capacity, size_t item)
{
    if (count < *capacity)
        return true;
    uint32_t wanted = *capacity ? *capacity * 2 : 8;
    void *grown = wanted > *capacity ? realloc(*array, wanted * item) : NULL;
    if (!grown) {
        gd_race_stop(race);
        return false;
    }
    race->bytes += (wanted - *capacity) * item;
    *array = grown;
    *capacity = wanted;
    return true;
}

/* The table of architectures. */
#include <stddef.h>
#include <string.h>

#include "base/chip.h"

typedef struct row {
    int32_t capability;
    gd_chip chip;
} row;

static const row rows[] = {
#define CHIP(capability, shared, cluster) {capability, {shared, cluster}},
#include "base/chip.def"
#undef CHIP
};

bool gd_chip_runs(int32_t chip, int32_t capability, char suffix)
{
    if (suffix == 'a')
        return chip == capability;
    if (suffix == 'f')
        return chip >= capability && chip / 10 == capability / 10;
    return chip >= capability;
}

gd_chip gd_chip_of_target(const char *target, int32_t capability)
{
    const size_t length = target ? strlen(target) : 0;
    const char suffix = length ? target[length - 1] : 0;
    gd_chip most = {0};
    bool known = false;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!gd_chip_runs(rows[i].capability, capability, suffix))
            continue;
        known = true;
        if (rows[i].chip.shared_bytes > most.shared_bytes)
            most.shared_bytes = rows[i].chip.shared_bytes;
        if (rows[i].chip.cluster > most.cluster)
            most.cluster = rows[i].chip.cluster;
    }
    return known && capability > 0 ? most : (gd_chip){UINT32_MAX, GD_CHIP_LARGEST_CLUSTER};
}

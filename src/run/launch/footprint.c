/* Room on an SM. Allocation units of compute capability 9.0 (CUDA programming guide and occupancy
 * calculator): whole warps, 256 registers a warp, 128 bytes of shared memory. */
#include "run/launch/footprint.h"

#include "base/chip.h"

enum { WARP = 32, REGISTER_UNIT = 256, SHARED_UNIT = 128 };

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

void gd_footprint_make(const griddep_runtime_info *device, const gd_room_launch *launch,
                       gd_footprint *footprint)
{
    const uint64_t warps = round_up(launch->threads, WARP) / WARP;
    const gd_footprint nothing = {0};

    *footprint =
        (gd_footprint){.threads = warps * WARP,
                       .registers = warps * round_up(launch->registers * WARP, REGISTER_UNIT),
                       .shared = round_up(launch->shared, SHARED_UNIT),
                       .grid = launch->grid};
    footprint->alone = gd_footprint_fits(device, &nothing, 0, footprint, NULL);
}

void gd_footprint_read(const griddep_kernel *kernel, const gd_launch *launch, uint32_t reserved,
                       gd_footprint *footprint)
{
    const gd_CUlaunchConfig *config = &launch->config;
    const gd_room_launch known = {
        .grid = (uint64_t)config->gridDimX * config->gridDimY * config->gridDimZ,
        .threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ,
        .registers = kernel->info.registers,
        .shared = (uint64_t)kernel->info.static_shared_bytes + config->sharedMemBytes + reserved};

    gd_footprint_make(&kernel->runtime->info, &known, footprint);
}

void gd_footprint_spread(const gd_footprint *footprint, int32_t multiprocessors,
                         gd_residence *residence)
{
    uint64_t sms = multiprocessors > 0 ? (uint64_t)multiprocessors : 1;
    uint64_t wave = sms * (footprint->alone ? footprint->alone : 1);
    uint64_t waves = (footprint->grid + wave - 1) / wave;
    uint64_t last = footprint->grid - (waves ? waves - 1 : 0) * wave;

    *residence = (gd_residence){
        .waves = waves,
        .full = waves > 1 ? footprint->alone : (uint32_t)((last + sms - 1) / sms),
        .most = (uint32_t)((last + sms - 1) / sms),
        .least = (uint32_t)(last / sms),
    };
}

typedef struct room {
    const char *what;
    uint64_t limit, each, other;
} room;

uint32_t gd_footprint_fits(const griddep_runtime_info *device, const gd_footprint *resident,
                           uint32_t count, const gd_footprint *other, const char **what)
{
    const room rooms[] = {
        {"CTA slots", device->blocks_per_multiprocessor, 1, 1},
        {"threads", device->threads_per_multiprocessor, resident->threads, other->threads},
        {"registers", device->registers_per_multiprocessor, resident->registers, other->registers},
        {"shared memory", device->shared_bytes_per_multiprocessor, resident->shared, other->shared},
    };
    uint64_t fits = UINT32_MAX;

    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        uint64_t used = rooms[i].each * count;
        uint64_t left = used < rooms[i].limit ? rooms[i].limit - used : 0;
        uint64_t here = rooms[i].other ? left / rooms[i].other : fits;
        if (here >= fits)
            continue;
        fits = here;
        if (what)
            *what = rooms[i].what;
    }
    return (uint32_t)fits;
}

uint32_t gd_footprint_setting(const griddep_runtime_info *device, const gd_footprint *kernel,
                              int32_t percent)
{
    if (device->shared_bytes_per_multiprocessor != GD_CARVEOUT_LARGEST)
        return 0;
    return percent < 0 ? gd_carveout_setting(0, kernel->alone * kernel->shared)
                       : gd_carveout_setting((uint32_t)percent, kernel->shared);
}

/* Two kernels on one SM: what both take of it, and what their carve-outs leave. */
#include "run/launch/room.h"

/* In percent; -1: the driver's choice. */
static int read_carveout(const griddep_kernel *kernel, const gd_launch *launch)
{
    const gd_CUlaunchAttributeValue *value =
        gd_launch_find_attribute(launch, GD_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    int percent = -1;

    if (value)
        return (int)value->sharedMemCarveout;
    if (kernel->runtime->driver->cuFuncGetAttribute(
            &percent, GD_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, kernel->function) !=
        GD_CUDA_SUCCESS)
        percent = -1;
    return percent;
}

/* An SM changes its setting only when it is empty. Seen on an H200 with CTAs on every SM
 * (doc/questions.md): both kernels' CTAs must fit into what the first one has set, and a second one
 * that asks for less than that waits. What the driver chooses it does not tell; a second kernel
 * whose CTAs take no more than the first one's was never seen to wait.
 */
static int judge_carveouts(const gd_room *room)
{
    const bool chosen = room->percents[1] < 0; /* by the driver */

    if (room->percents[0] < 0)
        return chosen && room->after.shared <= room->before.shared ? 1 : -1;
    if (!room->settings[0])
        return room->percents[0] == room->percents[1] ? 1 : -1;
    return room->needed <= room->settings[0] && (chosen || room->settings[1] >= room->settings[0]);
}

/* From what both take and their percents. */
static void place(const griddep_runtime_info *device, gd_room *room)
{
    gd_footprint_spread(&room->before, device->multiprocessors, &room->residence);
    room->beside_full =
        gd_footprint_fits(device, &room->before, room->residence.full, &room->after, NULL);
    room->beside_tail =
        gd_footprint_fits(device, &room->before, room->residence.least, &room->after, NULL);
    room->needed = room->residence.full * room->before.shared + room->after.shared;
    for (int i = 0; i < 2; i++) {
        if (room->percents[i] >= 0)
            room->settings[i] =
                gd_footprint_setting(device, i ? &room->after : &room->before, room->percents[i]);
    }
    room->carved = judge_carveouts(room);
}

void gd_room_measure(const griddep_kernel *first, const gd_launch *first_launch,
                     const griddep_kernel *second, const gd_launch *second_launch, gd_room *room)
{
    const griddep_runtime *runtime = first->runtime;

    *room = (gd_room){
        .percents = {read_carveout(first, first_launch), read_carveout(second, second_launch)}};
    gd_footprint_read(first, first_launch, runtime->limits.reserved_shared, &room->before);
    gd_footprint_read(second, second_launch, runtime->limits.reserved_shared, &room->after);
    place(&runtime->info, room);
}

int32_t gd_room_overlap(const gd_room *room, int32_t *reason)
{
    if (!room->carved && room->residence.least)
        *reason = GRIDDEP_REASON_CARVEOUT;
    else if (room->beside_full || room->beside_tail)
        return GRIDDEP_OVERLAP_FULL;
    else
        *reason = GRIDDEP_REASON_NO_ROOM;
    return GRIDDEP_OVERLAP_TAIL;
}

int32_t gd_room_beside(const gd_room_device *device, const gd_room_launch *first,
                       const gd_room_launch *second, int32_t *reason)
{
    const griddep_runtime_info info = {.multiprocessors = (int32_t)device->multiprocessors,
                                       .blocks_per_multiprocessor = device->blocks,
                                       .threads_per_multiprocessor = device->threads,
                                       .registers_per_multiprocessor = device->registers,
                                       .shared_bytes_per_multiprocessor = device->shared};
    gd_room room = {.percents = {first->carveout, second->carveout}};

    gd_footprint_make(&info, first, &room.before);
    gd_footprint_make(&info, second, &room.after);
    place(&info, &room);
    return gd_room_overlap(&room, reason);
}

bool gd_room_may_trigger(uint32_t traits)
{
    const uint32_t elsewhere = GRIDDEP_TRAIT_MACHINE_CODE | GRIDDEP_TRAIT_CALLS;

    return !(traits & GRIDDEP_TRAIT_KNOWN) ||
           (!(traits & GRIDDEP_TRAIT_TRIGGERS) && (traits & elsewhere) == elsewhere);
}

bool gd_room_lacks_trigger(uint32_t traits)
{
    return !(traits & GRIDDEP_TRAIT_TRIGGERS) && !gd_room_may_trigger(traits);
}

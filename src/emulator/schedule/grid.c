/* CTAs on SMs: room, placing, turns, faults. Owns the resident CTAs and the list of grids that
 * run, of all devices, and the room on each device's multiprocessors. */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/chip.h"
#include "base/text.h"
#include "emulator/schedule/condition.h"
#include "emulator/schedule/grid.h"
#include "emulator/machine/report.h"

/* A turn's length in warp-instructions, and the share after which a young grid lets older ones go
 * on. */
enum { TURN = 2048, SHARE = 1 << 20, REGISTER_UNIT = 256 };

enum { SLOTS = 32 };

struct gd_multiprocessor {
    uint32_t threads, registers, ctas;
    uint64_t shared;
    uint32_t slots;          /* bits of those that are taken */
    uint64_t vacated[SLOTS]; /* time at which a CTA last left the slot */
};
typedef struct gd_multiprocessor multiprocessor;

typedef struct resident {
    gd_cta *cta;
    gd_grid *grid;
    multiprocessor *on;
    uint32_t slot;
    uint64_t clock;  /* time that it has reached */
    uint64_t cycles; /* of the CTA, when clock was set */
    uint64_t used;   /* of its share */
    uint64_t work;   /* of the CTA likewise */
    uint32_t recurs; /* the epoch in which it was found to go round in a circle */
    gd_cta_state state;
    bool triggered;
    bool deferred;
} resident;

/* What a CTA takes of an SM. */
typedef struct needs {
    uint32_t threads, registers;
    uint64_t shared;
} needs;

static struct {
    resident *residents;
    uint32_t count, capacity;
    gd_grid *grids; /* by the number of their task */
    uint64_t random;
    bool seeded;
    const gd_device *leader; /* a random schedule lets it run ahead for so many turns */
    uint64_t lead;
    gd_grid_fault fault;
    bool postponed; /* there is room, but other CTAs are behind the time since when */
    /* Turns since anything was done that another CTA could see; when there are many, CTAs are
     * looked at, in an epoch that ends when something is done. */
    uint64_t idle;
    bool looks;
    uint32_t epoch;
} machine;

/* ---- room ---- */

/* The interpreter's number is an estimate, ptxas's is made to fit: it is held down to what lets a
 * CTA of the size that the kernel allows run, so that no launch is refused for an estimate. */
uint32_t gd_schedule_registers(const gd_entry *entry)
{
    uint32_t threads =
        entry->maximum_threads ? (entry->maximum_threads + 31) / 32 * 32 : GD_DEVICE_THREADS;
    uint32_t most = GD_DEVICE_REGISTERS / threads / 8 * 8;

    return entry->registers < most ? entry->registers : most;
}

static needs get_needs(const gd_entry *entry, uint32_t threads, uint64_t dynamic_shared_bytes)
{
    uint32_t warps = (threads + 31) / 32;
    uint32_t registers =
        (gd_schedule_registers(entry) * 32 + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT;

    return (needs){.threads = warps * 32,
                   .registers = warps * registers,
                   .shared = entry->static_shared_bytes + dynamic_shared_bytes +
                             GD_DEVICE_SHARED_RESERVED};
}

static uint32_t smaller(uint32_t a, uint64_t b)
{
    return b < a ? (uint32_t)b : a;
}

/* CTAs of these needs that there is room for beside what runs. */
static uint32_t count_room(const gd_profile *chip, const multiprocessor *at, const needs *cta)
{
    uint32_t room = chip->ctas - at->ctas;

    room = smaller(room, (chip->threads - at->threads) / cta->threads);
    room = smaller(room, (GD_DEVICE_REGISTERS - at->registers) / cta->registers);
    return smaller(room, (chip->shared_bytes - at->shared) / cta->shared);
}

uint32_t gd_schedule_occupancy(const gd_profile *chip, const gd_entry *entry, uint32_t threads,
                               uint64_t dynamic_shared_bytes)
{
    const multiprocessor empty = {0};
    const needs cta = get_needs(entry, threads, dynamic_shared_bytes);

    return threads ? count_room(chip, &empty, &cta) : 0;
}

uint32_t gd_schedule_carved_occupancy(const gd_profile *chip, const gd_entry *entry,
                                      uint32_t threads, uint64_t dynamic_shared_bytes, int percent)
{
    const needs cta = get_needs(entry, threads, dynamic_shared_bytes);
    uint32_t room = gd_schedule_occupancy(chip, entry, threads, dynamic_shared_bytes);

    /* How other memories than 228 KB are split is not known. */
    return percent < 0 || chip->shared_bytes != GD_CARVEOUT_LARGEST
               ? room
               : smaller(room, gd_carveout_setting((uint32_t)percent, cta.shared) / cta.shared);
}

static needs needs_of(const gd_grid *grid)
{
    const gd_grid_view *view = &grid->view;

    return get_needs(view->entry, view->block[0] * view->block[1] * view->block[2],
                     view->dynamic_shared_bytes);
}

static const gd_device *device_of(const gd_grid *grid)
{
    return grid->task->device;
}

/* Since when an SM has had room for a CTA. As many of the CTAs that have left have made that room
 * as leave places behind: of these places the next one takes the one that became free first. */
static uint64_t room_since(const gd_device *device, const multiprocessor *at, const needs *cta)
{
    uint32_t room = count_room(device->chip, at, cta), later_ones, count = 0;
    uint64_t since = 0;

    for (uint32_t slot = 0; slot < SLOTS && room; slot++) {
        if (at->slots >> slot & 1 || !at->vacated[slot])
            continue;
        later_ones = 0;
        for (uint32_t other = 0; other < SLOTS; other++)
            later_ones += !(at->slots >> other & 1) && at->vacated[other] > at->vacated[slot];
        if (later_ones < room && (!count || at->vacated[slot] < since))
            since = at->vacated[slot];
        count++;
    }
    return count < room ? 0 : since;
}

/* Whether a CTA goes better to the one SM than to the other: where fewer run, and for a grid that
 * has had to wait, where there is room first. */
static bool is_better(const gd_grid *grid, const needs *cta, const multiprocessor *one,
                      const multiprocessor *other)
{
    const gd_device *device = device_of(grid);

    if (grid->crowded) {
        const uint64_t first = room_since(device, one, cta),
                       second = room_since(device, other, cta);
        if (first != second)
            return first < second;
    }
    return one->ctas < other->ctas;
}

/* The SM with room to take; the end of the part when there is none. */
static uint32_t choose_multiprocessor(const gd_grid *grid, const needs *cta)
{
    const gd_device *device = device_of(grid);
    const gd_part part = grid->task->work.is.kernel.part;
    uint32_t end = part.first + part.count, best = end;

    for (uint32_t i = part.first; i < end; i++) {
        const multiprocessor *at = &device->multiprocessors[i];
        if (count_room(device->chip, at, cta) &&
            (best == end || is_better(grid, cta, at, &device->multiprocessors[best])))
            best = i;
    }
    return best;
}

/* ---- placing ---- */

/* The multiprocessors of a device that is used for the first time, and places for what may run on
 * them. */
static bool make_multiprocessors(gd_device *device)
{
    uint32_t count = gd_the_emulator.settings.multiprocessors,
             capacity = machine.capacity + count * device->chip->ctas;
    resident *more;

    if (device->multiprocessors)
        return true;
    more = realloc(machine.residents, capacity * sizeof *more);
    if (!more)
        return false;
    machine.residents = more;
    device->multiprocessors = calloc(count, sizeof *device->multiprocessors);
    if (device->multiprocessors)
        machine.capacity = capacity;
    return device->multiprocessors;
}

void gd_grid_free_machine(void)
{
    for (uint32_t i = 0; i < gd_the_emulator.device_count; i++)
        free(gd_the_emulator.devices[i].multiprocessors);
    free(machine.residents);
    gd_cta_free_spares();
    memset(&machine, 0, sizeof machine);
}

/* The place in the grid of the nth CTA to begin: cluster after cluster, x first in both. */
static void locate(const gd_grid_view *view, uint64_t nth, uint32_t cta[3])
{
    uint64_t size = (uint64_t)view->cluster[0] * view->cluster[1] * view->cluster[2];
    uint64_t cluster = nth / size, inside = nth % size;

    for (int i = 0; i < 3; i++) {
        uint32_t clusters = view->grid[i] / view->cluster[i];
        cta[i] = (uint32_t)(cluster % clusters * view->cluster[i] + inside % view->cluster[i]);
        cluster /= clusters;
        inside /= view->cluster[i];
    }
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool place_one(gd_grid *grid, const needs *cta)
{
    const gd_device *device = device_of(grid);
    uint32_t index = choose_multiprocessor(grid, cta);
    multiprocessor *at = &device->multiprocessors[index];
    const uint64_t since = grid->crowded ? room_since(device, at, cta) : 0;
    uint32_t slot = (uint32_t)__builtin_ctz(~at->slots);
    resident *made = &machine.residents[machine.count];
    uint32_t position[3];

    locate(&grid->view, grid->begun, position);
    *made = (resident){.grid = grid, .on = at, .slot = slot, .clock = grid->ready};
    made->cta = gd_cta_create(&grid->view, position, index, slot);
    if (!made->cta)
        return false;
    made->clock = later(made->clock, since);
    if (grid->is_released)
        gd_cta_release(made->cta, grid->released);
    at->threads += cta->threads;
    at->registers += cta->registers;
    at->shared += cta->shared;
    at->slots |= 1u << slot;
    at->ctas++;
    machine.count++;
    machine.idle = 0;
    grid->begun++;
    grid->latest = later(grid->latest, made->clock);
    return true;
}

/* Whether a whole cluster fits; a CTA alone is a cluster of one. */
static bool has_room(const gd_grid *grid, const needs *cta)
{
    uint64_t size = (uint64_t)grid->view.cluster[0] * grid->view.cluster[1] * grid->view.cluster[2],
             room = 0;

    const gd_part part = grid->task->work.is.kernel.part;
    const gd_device *device = device_of(grid);

    for (uint32_t i = 0; i < part.count && room < size; i++)
        room += count_room(device->chip, &device->multiprocessors[part.first + i], cta);
    return room >= size;
}

/* Whether a CTA of the device that goes on is behind the time at which there is room: it may leave
 * before that time, and so make room first. */
static bool comes_too_soon(const gd_grid *grid, const needs *cta)
{
    const gd_device *device = device_of(grid);
    const uint32_t index = choose_multiprocessor(grid, cta);
    const uint64_t since = room_since(device, &device->multiprocessors[index], cta);

    for (uint32_t i = 0; i < machine.count; i++) {
        const resident *item = &machine.residents[i];
        if (item->state == GD_CTA_READY && device_of(item->grid) == device && item->clock < since)
            return true;
    }
    return false;
}

/* The last CTAs that were placed are a cluster. */
static bool join_cluster(uint64_t size)
{
    gd_cta *ctas[GD_DEVICE_CLUSTER_NON_PORTABLE];

    for (uint64_t i = 0; i < size; i++)
        ctas[i] = machine.residents[machine.count - size + i].cta;
    return gd_cluster_join(ctas, (uint32_t)size);
}

static bool place_grid(gd_grid *grid)
{
    const needs cta = needs_of(grid);
    uint64_t size = (uint64_t)grid->view.cluster[0] * grid->view.cluster[1] * grid->view.cluster[2];

    while (grid->begun < grid->total) {
        if (!has_room(grid, &cta)) {
            grid->crowded = true;
            return true;
        }
        if (grid->crowded && comes_too_soon(grid, &cta)) {
            machine.postponed = true;
            return true;
        }
        for (uint64_t i = 0; i < size; i++) {
            if (!place_one(grid, &cta))
                return false;
        }
        if (!join_cluster(size))
            return false;
    }
    if (!grid->task->is_launched) {
        grid->task->is_launched = true;
        grid->task->launched = grid->latest;
    }
    return true;
}

static void leave(uint32_t index)
{
    resident *going = &machine.residents[index];
    multiprocessor *at = going->on;
    const needs cta = needs_of(going->grid);

    gd_cta_destroy(going->cta);
    at->threads -= cta.threads;
    at->registers -= cta.registers;
    at->shared -= cta.shared;
    at->slots &= ~(1u << going->slot);
    at->ctas--;
    at->vacated[going->slot] = going->clock;
    machine.residents[index] = machine.residents[--machine.count];
}

static void note_fault(gd_task *task, gd_CUresult result, const char *text)
{
    machine.fault = (gd_grid_fault){.task = task, .result = result};
    snprintf(machine.fault.text, sizeof machine.fault.text, "%s", text);
}

bool gd_grid_place(void)
{
    machine.postponed = false;
    for (gd_grid *grid = machine.grids; grid; grid = grid->next) {
        if (grid->begun < grid->total && !place_grid(grid)) {
            note_fault(grid->task, GD_CUDA_ERROR_LAUNCH_FAILED, "the host has no memory for a CTA");
            return false;
        }
    }
    return true;
}

/* ---- turns ---- */

/* xorshift64* (Vigna 2016) */
static uint64_t draw(void)
{
    if (!machine.seeded) {
        machine.random = (gd_the_emulator.settings.seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
        machine.random += machine.random == 0;
        machine.seeded = true;
    }
    machine.random ^= machine.random >> 12;
    machine.random ^= machine.random << 25;
    machine.random ^= machine.random >> 27;
    return machine.random * UINT64_C(0x2545f4914f6cdd1d) >> 16;
}

static bool runs(const resident *item)
{
    return (item->state == GD_CTA_READY || item->state == GD_CTA_POLLING) && !item->deferred;
}

/* Whether a goes before b. */
static bool goes_first(const resident *a, const resident *b)
{
    uint64_t first = a->grid->task->number, second = b->grid->task->number;

    if (first != second)
        return (first > second) == (gd_the_emulator.settings.schedule == GD_SCHEDULE_EAGER);
    return a->clock < b->clock;
}

enum { LEAD_BITS = 13 };

/* How many of a device's CTAs can go on; of all for NULL. */
static uint32_t count_candidates(const gd_device *device)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < machine.count; i++)
        count += runs(&machine.residents[i]) &&
                 (!device || device_of(machine.residents[i].grid) == device);
    return count;
}

/* Of several devices one is ahead for a while, so that the others are found far behind; of one, or
 * where the others cannot go on, none. */
static const gd_device *choose_leader(uint32_t candidates)
{
    if (gd_the_emulator.device_count == 1)
        return NULL;
    if (!machine.lead || !count_candidates(machine.leader)) {
        uint64_t nth = draw() % candidates;
        uint32_t i = 0;
        while (!runs(&machine.residents[i]) || nth--)
            i++;
        machine.leader = device_of(machine.residents[i].grid);
        const uint64_t most = 1 + draw() % LEAD_BITS;
        machine.lead = UINT64_C(1) << draw() % most; /* short ones more often */
    }
    machine.lead--;
    return machine.leader;
}

static resident *choose_random(uint32_t candidates)
{
    const gd_device *leader = choose_leader(candidates);
    uint64_t nth = draw() % (leader ? count_candidates(leader) : candidates);

    for (uint32_t i = 0;; i++) {
        resident *item = &machine.residents[i];
        if (runs(item) && (!leader || device_of(item->grid) == leader) && nth-- == 0)
            return item;
    }
}

static resident *choose(void)
{
    resident *best = NULL;
    uint32_t candidates = 0;

    for (uint32_t i = 0; i < machine.count; i++) {
        resident *item = &machine.residents[i];
        if (!runs(item))
            continue;
        candidates++;
        if (!best || goes_first(item, best))
            best = item;
    }
    return candidates > 1 && gd_the_emulator.settings.schedule == GD_SCHEDULE_RANDOM
               ? choose_random(candidates)
               : best;
}

/* All that could go on have let the others go first: begin anew. */
static resident *choose_anew(void)
{
    if (gd_memory_is_shared(gd_the_emulator.memory))
        sched_yield(); /* what is waited for may be another process's turn */
    for (uint32_t i = 0; i < machine.count; i++) {
        machine.residents[i].deferred = false;
        machine.residents[i].used = 0;
    }
    return choose();
}

static uint64_t get_turn(void)
{
    return gd_the_emulator.settings.schedule == GD_SCHEDULE_RANDOM ? 1 + draw() % TURN : TURN;
}

static gd_CUresult fault_result(gd_fault_kind kind)
{
    switch (kind) {
    case GD_FAULT_ADDRESS:
    case GD_FAULT_READ_ONLY:
        return GD_CUDA_ERROR_ILLEGAL_ADDRESS;
    case GD_FAULT_ALIGNMENT:
        return GD_CUDA_ERROR_MISALIGNED_ADDRESS;
    case GD_FAULT_UNSUPPORTED:
    case GD_FAULT_WINDOW: /* as an H200 does; GD_FAULT_PEER is a launch failure there */
        return GD_CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case GD_FAULT_DEADLOCK:
    case GD_FAULT_STEPS:
        return GD_CUDA_ERROR_LAUNCH_TIMEOUT;
    case GD_FAULT_ASSERT:
        return GD_CUDA_ERROR_ASSERT;
    default:
        return GD_CUDA_ERROR_LAUNCH_FAILED;
    }
}

/* The kinds of findings as reports name them. */
static const char *fault_name(const gd_fault *fault, const gd_allocation *memory)
{
    switch (fault->kind) {
    case GD_FAULT_ADDRESS:
        return memory && memory->freed ? "use-after-free" : "out-of-bounds";
    case GD_FAULT_PEER:
    case GD_FAULT_WINDOW:
        return "out-of-bounds";
    case GD_FAULT_ALIGNMENT:
        return "misaligned";
    case GD_FAULT_READ_ONLY:
        return "read-only";
    case GD_FAULT_TRAP:
    case GD_FAULT_ASSERT:
        return "trap";
    case GD_FAULT_DEADLOCK:
        return "deadlock";
    case GD_FAULT_STEPS:
        return "step-limit";
    case GD_FAULT_UNSUPPORTED:
        return "unsupported";
    default:
        return "fault";
    }
}

static void report_fault(const resident *item, const char *name, const char *text)
{
    const gd_fault *fault = gd_cta_get_fault(item->cta);
    const gd_entry *entry = item->grid->view.entry;
    const gd_allocation *memory =
        fault->bytes ? gd_memory_find(gd_the_emulator.memory, fault->address) : NULL;
    char instruction[160];
    gd_race_access access = {.kernel = entry->name,
                             .launch = item->grid->task->launch,
                             .device = (uint32_t)item->grid->task->device->number,
                             .line = fault->line,
                             .column = fault->column,
                             .instruction = instruction,
                             .action = fault->write ? GD_ACTION_WRITE : GD_ACTION_READ,
                             .writes = fault->write,
                             .bytes = fault->bytes};

    memcpy(access.cta, fault->cta, sizeof access.cta);
    memcpy(access.thread, fault->thread, sizeof access.thread);
    gd_entry_instruction(entry, fault->instruction, instruction, sizeof instruction,
                         &access.module);
    gd_report_fault(fault_name(fault, memory), &access, memory, fault->address, name, text,
                    *fault->missing ? fault->missing : NULL);
}

static void describe_fault(const resident *item)
{
    const gd_fault *fault = gd_cta_get_fault(item->cta);
    char name[512], text[640], where[32] = "";

    if (gd_the_emulator.device_count > 1)
        snprintf(where, sizeof where, " on device %d", (int)item->grid->task->device->number);
    snprintf(name, sizeof name, "kernel %s (launch %" PRIu64 ")", item->grid->view.entry->name,
             item->grid->task->launch);
    int used = snprintf(text, sizeof text,
                        "%s%s, CTA (%" PRIu32 ", %" PRIu32 ", %" PRIu32 "), thread (%" PRIu32
                        ", %" PRIu32 ", %" PRIu32 "), line %" PRId32 ": %s",
                        name, where, fault->cta[0], fault->cta[1], fault->cta[2], fault->thread[0],
                        fault->thread[1], fault->thread[2], fault->line, fault->text);
    if (fault->bytes && !strstr(fault->text, " bytes at 0x") && used > 0 &&
        (size_t)used < sizeof text)
        snprintf(text + used, sizeof text - (size_t)used,
                 " (%s of %" PRIu32 " bytes at 0x%" PRIx64 ")", fault->write ? "write" : "read",
                 fault->bytes, fault->address);
    report_fault(item, name, text);
    note_fault(item->grid->task, fault_result(fault->kind), text);
}

static bool note_trigger(resident *item)
{
    gd_grid *grid = item->grid;

    if (item->triggered)
        return false;
    item->triggered = true;
    grid->latest = later(grid->latest, item->clock);
    if (++grid->triggered < grid->total)
        return false;
    grid->task->is_triggered = true;
    grid->task->triggered = grid->latest;
    return true;
}

/* The CTA has exited: its grid may have completed. */
static void note_exit(resident *item)
{
    gd_grid *grid = item->grid;
    gd_task *task = grid->task;

    note_trigger(item);
    grid->latest = later(grid->latest, item->clock);
    leave((uint32_t)(item - machine.residents));
    if (++grid->done < grid->total)
        return;
    task->completed = grid->latest;
    task->state = GD_TASK_COMPLETE;
    if (task->race)
        gd_race_task_complete(gd_the_emulator.race, task->race);
    gd_grid_end(grid);
}

/* While the grid's trigger is waited for, a turn ends with the CTA's, so that what depends on it
 * starts when it may. */
static void run_turn(resident *item)
{
    bool watched = item->grid->watched && !item->triggered;

    item->state = watched ? gd_cta_run_to_trigger(item->cta, get_turn(), item->clock)
                          : gd_cta_run(item->cta, get_turn(), item->clock);
    uint64_t cycles = gd_cta_cycles(item->cta), passed = cycles - item->cycles;
    item->cycles = cycles;
    item->clock = gd_cta_time(item->cta);
    item->used += passed;
    if (item->state == GD_CTA_POLLING)
        item->clock += passed == 0; /* a CTA that polls must not keep its place in time for ever */
    item->deferred = item->state == GD_CTA_POLLING || item->used > SHARE;
    machine.idle++;
    if (item->state != GD_CTA_POLLING || item->work != gd_cta_work(item->cta))
        machine.idle = 0;
    item->work = gd_cta_work(item->cta);
}

/* ---- deadlocks ---- */

enum { IDLE_TURNS = 4 }; /* of each CTA, before it is looked at */

/* Whether all that could go on only polls, and will for ever. */
static bool is_stuck(resident *item)
{
    if (machine.idle < (uint64_t)IDLE_TURNS * machine.count ||
        gd_memory_is_shared(gd_the_emulator.memory)) {
        machine.looks = false;
        return false;
    }
    machine.epoch += !machine.looks;
    machine.looks = true;
    if (gd_cta_recurs(item->cta, machine.epoch))
        item->recurs = machine.epoch;
    for (uint32_t i = 0; i < machine.count; i++) {
        const resident *each = &machine.residents[i];
        if ((each->state == GD_CTA_READY || each->state == GD_CTA_POLLING) &&
            each->recurs != machine.epoch)
            return false;
    }
    return true;
}

/* Of a grid that has not begun as a whole: how many CTAs are there. */
static const gd_grid *find_crowded(void)
{
    for (const gd_grid *grid = machine.grids; grid; grid = grid->next) {
        if (grid->begun < grid->total)
            return grid;
    }
    return NULL;
}

/* A CTA to tell of: one that waits for an mbarrier, where there is one, else one of a grid that has
 * not begun as a whole, else the oldest one. */
static resident *choose_stuck(const gd_grid *crowded)
{
    resident *best = NULL;

    for (uint32_t i = 0; i < machine.count; i++) {
        resident *item = &machine.residents[i];
        if (item->recurs != machine.epoch)
            continue;
        if (gd_cta_polls_mbarrier(item->cta))
            return item;
        if (!best || (item->grid == crowded && best->grid != crowded))
            best = item;
    }
    return best;
}

static resident *fail_stuck(void)
{
    const gd_grid *crowded = find_crowded();
    resident *item = choose_stuck(crowded);
    char cause[128] = "", missing[192] = "";

    if (crowded && item->grid == crowded) {
        const uint64_t left = crowded->total - crowded->begun,
                       here = crowded->begun - crowded->done;
        snprintf(cause, sizeof cause,
                 "; %" PRIu64 " of %" PRIu64 " %s of the grid %s not started, for %" PRIu64 " %s",
                 left, crowded->total, gd_plural(crowded->total, "CTA", "CTAs"),
                 gd_plural(left, "has", "have"), here,
                 gd_plural(here, "fits on the device at a time", "fit on the device at a time"));
        snprintf(missing, sizeof missing,
                 "a cooperative launch of no more than %" PRIu64
                 " %s: CTAs that wait for one another have to be on the device together",
                 here, gd_plural(here, "CTA", "CTAs"));
    }
    gd_cta_fail_polling(item->cta, cause, missing);
    item->state = GD_CTA_FAULT;
    return item;
}

static bool was_woken(const resident *item, const gd_grid *grid)
{
    return (item->state == GD_CTA_BLOCKED || item->state == GD_CTA_WAITING) && item->grid == grid &&
           gd_cta_can_go_on(item->cta);
}

/* A cluster's barrier is complete: CTAs that waited at it go on, at the time at which the last one
 * came. */
static void wake_cluster(resident *item)
{
    uint64_t time = item->clock;

    for (uint32_t i = 0; i < machine.count; i++) {
        if (was_woken(&machine.residents[i], item->grid))
            time = later(time, machine.residents[i].clock);
    }
    item->clock = time;
    for (uint32_t i = 0; i < machine.count; i++) {
        resident *other = &machine.residents[i];
        if (!was_woken(other, item->grid))
            continue;
        other->state = GD_CTA_READY;
        other->clock = time;
    }
}

void gd_grid_fail_stuck(void)
{
    describe_fault(fail_stuck());
}

gd_turn gd_grid_run(bool final)
{
    resident *item = choose();

    if (!item)
        item = choose_anew();
    if (!item)
        return GD_TURN_NONE;
    run_turn(item);
    if (gd_cta_woke_others(item->cta))
        wake_cluster(item);
    if (final && item->state == GD_CTA_POLLING && is_stuck(item))
        return GD_TURN_STUCK;
    if (item->state == GD_CTA_FAULT) {
        describe_fault(item);
        return GD_TURN_FAULT;
    }
    if (item->state == GD_CTA_DONE) {
        note_exit(item);
        return GD_TURN_CHANGED;
    }
    const bool triggered = gd_cta_triggered(item->cta) && note_trigger(item);
    return triggered || machine.postponed ? GD_TURN_CHANGED : GD_TURN_RAN;
}

const gd_grid_fault *gd_grid_get_fault(void)
{
    return &machine.fault;
}

/* ---- grids ---- */

static void make_view(gd_grid_view *view, const gd_task *task)
{
    const gd_kernel_work *kernel = &task->work.is.kernel;

    *view = (gd_grid_view){.entry = kernel->entry,
                           .dynamic_shared_bytes = kernel->dynamic_shared_bytes,
                           .parameters = kernel->parameters,
                           .grid_number = task->number,
                           .explicit_cluster = kernel->explicit_cluster,
                           .multiprocessors = gd_the_emulator.settings.multiprocessors,
                           .memory = gd_the_emulator.memory,
                           .owner = &task->context->owner,
                           .heap = &task->context->heap,
                           .step_limit = gd_the_emulator.settings.steps,
                           .race = task->race ? gd_the_emulator.race : NULL,
                           .race_task = task->race};
    view->conditions = task->conditions ? task->conditions->addresses : NULL;
    view->condition_count = task->conditions ? task->conditions->count : 0;
    memcpy(view->grid, kernel->grid, sizeof view->grid);
    memcpy(view->block, kernel->block, sizeof view->block);
    memcpy(view->cluster, kernel->cluster, sizeof view->cluster);
    view->reaches = view->race ? gd_extents_of(view) : NULL;
}

/* The words of a cooperative grid's workspace, as the device code of cooperative groups uses
 * them. */
enum { WORKSPACE_BYTES = 64 };

/* Cooperative groups find their grid's barrier, 0 at first, in the second word of the memory that
 * %envreg1 (upper half) and %envreg2 name; the first is the memory's size. */
static bool take_workspace(gd_grid *grid)
{
    if (!grid->task->work.is.kernel.cooperative)
        return true;
    gd_allocation *made =
        gd_memory_take(gd_the_emulator.memory, &grid->task->context->owner, WORKSPACE_BYTES,
                       GD_MEMORY_DEVICE, NULL, "cooperative grid's workspace");
    if (!made)
        return false;
    memcpy(made->host, &(const uint32_t){WORKSPACE_BYTES}, sizeof(uint32_t));
    grid->view.workspace = made->start;
    return true;
}

gd_CUresult gd_grid_start(gd_task *task, uint64_t ready)
{
    gd_grid *grid = calloc(1, sizeof *grid);
    gd_grid **at = &machine.grids;

    if (!grid || !make_multiprocessors(task->context->device)) {
        free(grid);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    grid->task = task;
    grid->ready = grid->latest = ready;
    make_view(&grid->view, task);
    if (!take_workspace(grid)) {
        free(grid->view.reaches);
        free(grid);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    grid->total = (uint64_t)grid->view.grid[0] * grid->view.grid[1] * grid->view.grid[2];
    while (*at && (*at)->task->number < task->number)
        at = &(*at)->next;
    grid->next = *at;
    *at = grid;
    task->grid = grid;
    task->state = GD_TASK_RUNNING;
    return GD_CUDA_SUCCESS;
}

void gd_grid_release(gd_grid *grid, uint64_t time)
{
    machine.idle = 0;
    grid->is_released = true;
    grid->released = time;
    for (uint32_t i = 0; i < machine.count; i++) {
        resident *item = &machine.residents[i];
        if (item->grid != grid)
            continue;
        gd_cta_release(item->cta, time);
        if (item->state == GD_CTA_WAITING) {
            item->state = GD_CTA_READY;
            item->clock = later(item->clock, time);
        }
    }
}

void gd_grid_end(gd_grid *grid)
{
    gd_grid **at = &machine.grids;

    for (uint32_t i = machine.count; i-- > 0;) {
        if (machine.residents[i].grid == grid)
            leave(i);
    }
    while (*at && *at != grid)
        at = &(*at)->next;
    if (*at)
        *at = grid->next;
    grid->task->grid = NULL;
    if (grid->view.workspace)
        gd_memory_give(gd_the_emulator.memory, grid->view.workspace);
    free(grid->view.reaches);
    free(grid);
}

/* A device for one PTX text, and launches whose CTAs take turns, for tests of the interpreter
 * without a driver. */
#ifndef GD_TESTS_EMULATOR_MACHINE_TEST_H
#define GD_TESTS_EMULATOR_MACHINE_TEST_H

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/machine/machine.h"
#include "ptx/text/parser.h"

#define HEAD ".version 8.3\n.target sm_90\n.address_size 64\n"

enum { MOST_CTAS = 64 };

typedef struct device {
    char *text;
    gd_ptx_module module;
    gd_memory *memory;
    gd_program *program;
    gd_fault fault;
} device;

/* `cluster`: all 0: none; `turn`: warp-instructions of a CTA before the next one's; `backwards`:
 * the last CTA goes first. */
typedef struct shape {
    uint32_t grid[3], block, cluster[3], shared, turn;
    bool backwards;
} shape;

static inline void device_open(device *dev, const char *text)
{
    gd_program_error error;

    *dev = (device){0};
    dev->text = strdup(text);
    ck_assert_int_eq(gd_ptx_module_parse(&dev->module, dev->text, (uint32_t)strlen(text), "test"),
                     0);
    ck_assert_msg(dev->module.diagnostics->count == 0, "%s\n%s",
                  dev->module.diagnostics->list[0].text, text);
    dev->memory = gd_memory_create();
    dev->program = gd_program_create(&dev->module, dev->memory, NULL, &error);
    ck_assert_msg(dev->program != NULL, "%d: %s\n%s", error.line, error.text, text);
}

static inline void device_close(device *dev)
{
    gd_program_destroy(dev->program);
    gd_memory_destroy(dev->memory);
    gd_ptx_module_free(&dev->module);
    free(dev->text);
}

static inline uint64_t device_take(device *dev, const void *bytes, size_t count)
{
    gd_allocation *item = gd_memory_take(dev->memory, NULL, count, GD_MEMORY_DEVICE, NULL, NULL);

    ck_assert_ptr_nonnull(item);
    if (bytes)
        memcpy(item->host, bytes, count);
    return item->start;
}

static inline void *device_bytes(device *dev, uint64_t address)
{
    return gd_memory_find(dev->memory, address)->host;
}

/* Whether a CTA still has something to do; one that waits for its grid is released at once. */
static inline bool take_turn(gd_cta *cta, gd_cta_state *state, uint32_t turn, uint64_t *time)
{
    if (*state == GD_CTA_DONE || *state == GD_CTA_FAULT ||
        (*state == GD_CTA_BLOCKED && !gd_cta_can_go_on(cta)))
        return false;
    *state = gd_cta_run(cta, turn, *time);
    *time += turn;
    if (*state == GD_CTA_WAITING)
        gd_cta_release(cta, 0);
    return true;
}

static inline void run_cluster(device *dev, shape form, gd_cta **ctas, uint32_t count,
                               gd_cta_state *result)
{
    gd_cta_state states[MOST_CTAS] = {GD_CTA_READY};
    uint64_t time = 0;
    bool going = true;

    ck_assert(gd_cluster_join(ctas, count));
    *result = GD_CTA_DONE;
    while (going && *result == GD_CTA_DONE) {
        going = false;
        for (uint32_t n = 0; n < count && *result == GD_CTA_DONE; n++) {
            uint32_t i = form.backwards ? count - 1 - n : n;
            if (!ctas[i])
                continue;
            going |= take_turn(ctas[i], &states[i], form.turn, &time);
            if (states[i] == GD_CTA_FAULT) {
                dev->fault = *gd_cta_get_fault(ctas[i]);
                *result = GD_CTA_FAULT;
            }
            if (states[i] == GD_CTA_DONE) { /* as the scheduler does */
                gd_cta_destroy(ctas[i]);
                ctas[i] = NULL;
            }
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_msg(*result != GD_CTA_DONE || !ctas[i], "CTA %u of the cluster waits for ever",
                      i);
        gd_cta_destroy(ctas[i]);
    }
}

/* Runs a grid, cluster after cluster. */
static inline gd_cta_state run_grid(device *dev, const char *name, shape form,
                                    const void *parameters)
{
    const gd_entry *entry = gd_program_entry(dev->program, name);
    gd_program_error refusal;
    gd_cta_state state = GD_CTA_DONE;
    bool clustered = form.cluster[0] || form.cluster[1] || form.cluster[2];

    ck_assert_ptr_nonnull(entry);
    gd_entry_refusal(entry, &refusal);
    ck_assert_msg(!entry->refused, "%d: %s\n%.2000s", refusal.line, refusal.text, dev->text);
    for (int i = 0; i < 3; i++) {
        form.grid[i] = form.grid[i] ? form.grid[i] : 1;
        form.cluster[i] = form.cluster[i] ? form.cluster[i] : 1;
    }
    form.turn = form.turn ? form.turn : 1000;
    gd_grid_view view = {.entry = entry,
                         .grid = {form.grid[0], form.grid[1], form.grid[2]},
                         .block = {form.block, 1, 1},
                         .cluster = {form.cluster[0], form.cluster[1], form.cluster[2]},
                         .explicit_cluster = clustered,
                         .multiprocessors = 4,
                         .dynamic_shared_bytes = form.shared,
                         .parameters = parameters,
                         .memory = dev->memory,
                         .step_limit = 10000000};
    uint32_t clusters[3], size = form.cluster[0] * form.cluster[1] * form.cluster[2];
    for (int i = 0; i < 3; i++)
        clusters[i] = form.grid[i] / form.cluster[i];
    for (uint32_t n = 0; n < clusters[0] * clusters[1] * clusters[2] && state == GD_CTA_DONE; n++) {
        gd_cta *ctas[MOST_CTAS];
        uint32_t origin[3] = {n % clusters[0], n / clusters[0] % clusters[1],
                              n / clusters[0] / clusters[1]};
        for (uint32_t r = 0; r < size; r++) {
            const uint32_t inside[3] = {r % form.cluster[0], r / form.cluster[0] % form.cluster[1],
                                        r / form.cluster[0] / form.cluster[1]};
            uint32_t position[3];
            for (int i = 0; i < 3; i++)
                position[i] = origin[i] * form.cluster[i] + inside[i];
            ctas[r] = gd_cta_create(&view, position, r % 4, 0);
            ck_assert_ptr_nonnull(ctas[r]);
        }
        run_cluster(dev, form, ctas, size, &state);
    }
    return state;
}

#endif

/* Shadows of allocations: a table of pages. A page begins as one cell in the table itself; the
 * first access of a part of it gives it cells, as coarse as that access lets them be, and smaller
 * ones make them finer. */
#include <stdlib.h>
#include <string.h>

#include "emulator/race/core.h"

enum { MOST_FREE_PAGES = 256 };

/* ---- pages ---- */

static size_t page_bytes(uint32_t count)
{
    return sizeof(gd_page) + count * sizeof(gd_cell);
}

/* Cells are not cleared. Whole pages are kept for the next that needs one: shared memory comes and
 * goes with each CTA. */
static gd_page *page_take(gd_race *race, uint32_t shift, uint32_t bytes)
{
    uint32_t count = (bytes + (UINT32_C(1) << shift) - 1) >> shift;
    gd_page *page = bytes == GD_PAGE_BYTES ? race->free_pages[shift] : NULL;

    if (page) {
        memcpy(&race->free_pages[shift], page->cells, sizeof(gd_page *));
        race->free_page_count[shift]--;
    } else {
        page = malloc(page_bytes(count));
        if (!page) {
            gd_race_stop(race);
            return NULL;
        }
    }
    page->shift = shift;
    page->count = count;
    race->bytes += page_bytes(count);
    race->cell_bytes += count * sizeof(gd_cell);
    return page;
}

static void page_give(gd_race *race, gd_page *page)
{
    const uint32_t shift = page->shift;

    race->bytes -= page_bytes(page->count);
    race->cell_bytes -= page->count * sizeof(gd_cell);
    if (page->count << shift != GD_PAGE_BYTES || race->free_page_count[shift] >= MOST_FREE_PAGES) {
        free(page);
        return;
    }
    memcpy(page->cells, &race->free_pages[shift], sizeof(gd_page *));
    race->free_pages[shift] = page;
    race->free_page_count[shift]++;
}

void gd_pages_free(gd_race *race)
{
    for (uint32_t i = 0; i < GD_GRANULES; i++) {
        for (gd_page *page = race->free_pages[i], *next; page; page = next) {
            memcpy(&next, page->cells, sizeof next);
            free(page);
        }
        race->free_pages[i] = NULL;
    }
}

/* ---- the table ---- */

gd_cell gd_shadow_uniform(const gd_shadow *shadow, uint64_t page)
{
    uint64_t item = shadow->table[page];

    if (!item)
        return (gd_cell){shadow->written ? GD_REF_INITIAL : GD_REF_NONE, GD_REF_NONE};
    return (gd_cell){(uint32_t)item >> 1, (uint32_t)(item >> 32)};
}

void gd_shadow_put(gd_race *race, gd_shadow *shadow, uint64_t page, gd_cell cell)
{
    gd_page *old = gd_shadow_page(shadow, page);

    if (old)
        page_give(race, old);
    shadow->table[page] = (uint64_t)cell.reader << 32 | (uint64_t)cell.writer << 1 | 1;
}

static gd_page *split(gd_race *race, const gd_page *old, uint32_t shift, uint32_t bytes)
{
    gd_page *page = page_take(race, shift, bytes);

    for (uint32_t i = 0; page && i < page->count; i++)
        page->cells[i] = old->cells[i >> (old->shift - shift)];
    return page;
}

static gd_page *spread(gd_race *race, gd_cell cell, uint32_t shift, uint32_t bytes)
{
    gd_page *page = page_take(race, shift, bytes);

    for (uint32_t i = 0; page && i < page->count; i++)
        page->cells[i] = cell;
    return page;
}

gd_page *gd_shadow_refine(gd_race *race, gd_shadow *shadow, uint64_t number, uint32_t shift)
{
    gd_page *old = gd_shadow_page(shadow, number);

    if (old && old->shift <= shift)
        return old;
    uint64_t left = shadow->bytes - (number << GD_PAGE_SHIFT);
    uint32_t bytes = left < GD_PAGE_BYTES ? (uint32_t)left : GD_PAGE_BYTES;
    gd_page *page = old ? split(race, old, shift, bytes)
                        : spread(race, gd_shadow_uniform(shadow, number), shift, bytes);
    if (!page)
        return NULL;
    if (old)
        page_give(race, old);
    shadow->table[number] = (uint64_t)(uintptr_t)page;
    return page;
}

/* ---- life ---- */

static void link_shadow(gd_race *race, gd_shadow *shadow)
{
    shadow->next = race->shadows;
    if (race->shadows)
        race->shadows->previous = shadow;
    race->shadows = shadow;
}

static void unlink_shadow(gd_race *race, gd_shadow *shadow)
{
    if (shadow->previous)
        shadow->previous->next = shadow->next;
    else
        race->shadows = shadow->next;
    if (shadow->next)
        shadow->next->previous = shadow->previous;
}

gd_shadow *gd_shadow_make(gd_race *race, uint64_t start, uint64_t bytes, bool written, bool shared)
{
    gd_shadow *shadow = gd_race_take(race, sizeof *shadow);

    if (!shadow)
        return NULL;
    shadow->start = start;
    shadow->bytes = bytes;
    shadow->pages = (bytes + GD_PAGE_BYTES - 1) >> GD_PAGE_SHIFT;
    shadow->written = written;
    shadow->shared = shared;
    shadow->table = gd_race_take(race, (size_t)(shadow->pages + 1) * sizeof *shadow->table);
    link_shadow(race, shadow);
    if (!shadow->table) {
        gd_shadow_free(race, shadow);
        return NULL;
    }
    return shadow;
}

void gd_shadow_free(gd_race *race, gd_shadow *shadow)
{
    if (shadow->syncs)
        gd_sync_forget(race, shadow, 0, shadow->bytes);
    for (uint64_t i = 0; shadow->table && i < shadow->pages; i++) {
        gd_page *page = gd_shadow_page(shadow, i);
        if (page)
            page_give(race, page);
    }
    gd_race_give(race, shadow->table, (size_t)(shadow->pages + 1) * sizeof *shadow->table);
    unlink_shadow(race, shadow);
    free(shadow->name);
    gd_race_give(race, shadow, sizeof *shadow);
}

gd_shadow *gd_shadow_create(gd_race *race, uint64_t start, uint64_t bytes, const char *name,
                            bool written)
{
    if (!race || race->stopped)
        return NULL;
    gd_shadow *shadow = gd_shadow_make(race, start, bytes, written, false);
    if (!shadow || !name)
        return shadow;
    shadow->name = strdup(name);
    if (shadow->name)
        return shadow;
    gd_race_stop(race);
    gd_shadow_free(race, shadow);
    return NULL;
}

void gd_shadow_allocate(gd_race *race, gd_shadow *shadow, gd_race_task *task)
{
    if (!race || !shadow || !task || race->stopped)
        return;
    shadow->allocated = task->number;
    task->desc->info.action = GD_ACTION_ALLOCATE;
    task->desc->used = true;
}

void gd_shadow_destroy(gd_race *race, gd_shadow *shadow)
{
    if (shadow)
        gd_shadow_free(race, shadow);
}

/* The detector itself: its memory, instructions' sites, the tables of entries and of sets of
 * readers, and their collection. */
#include <stdlib.h>
#include <string.h>

#include "emulator/race/core.h"

enum { FIRST_LIMIT = 1 << 16, MOST_ENTRIES = 1 << GD_ENTRY_BITS };

const char *gd_race_name(gd_race *race, const char *text)
{
    uint32_t hash = 2166136261u;

    if (!text)
        return NULL;
    for (const char *at = text; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    gd_name **bucket = &race->names[hash % GD_NAME_BUCKETS];
    for (gd_name *name = *bucket; name; name = name->next) {
        if (!strcmp(name->text, text))
            return name->text;
    }
    size_t bytes = strlen(text) + 1;
    gd_name *name = gd_race_take(race, sizeof *name + bytes);
    if (!name)
        return NULL;
    memcpy(name->text, text, bytes);
    name->next = *bucket;
    *bucket = name;
    return name->text;
}

static void free_names(gd_race *race)
{
    for (uint32_t i = 0; i < GD_NAME_BUCKETS; i++) {
        for (gd_name *name = race->names[i], *next; name; name = next) {
            next = name->next;
            free(name);
        }
    }
}

/* ---- sites ---- */

uint32_t gd_race_site_add(gd_race *race, const gd_race_site *site)
{
    if (!race || race->stopped ||
        !gd_race_grow(race, (void **)&race->sites, race->site_count + 1, &race->site_capacity,
                      sizeof *race->sites))
        return 0;
    uint32_t number = race->site_count ? race->site_count : 1;
    gd_site_record *record = &race->sites[number];
    *record = (gd_site_record){.site = *site};
    record->site.kernel = gd_race_name(race, site->kernel);
    record->site.instruction = gd_race_name(race, site->instruction);
    if (race->stopped)
        return 0;
    race->site_count = number + 1;
    return number;
}

/* ---- entries ---- */

uint32_t gd_entry_add(gd_race *race, const gd_entry_record *record)
{
    uint32_t number = race->entry_free;

    if (number) {
        race->entry_free = race->entries[number].task;
    } else {
        if (race->entry_count >= MOST_ENTRIES) {
            gd_race_stop(race);
            return 0;
        }
        if (!gd_race_grow(race, (void **)&race->entries, race->entry_count + 1,
                          &race->entry_capacity, sizeof *race->entries))
            return 0;
        number = race->entry_count ? race->entry_count : 1;
        race->entry_count = number + 1;
    }
    race->entries[number] = *record;
    race->entries[number].live = 1;
    race->entries_live++;
    return number;
}

/* ---- sets of readers ---- */

static uint32_t hash_set(const uint32_t *refs)
{
    uint64_t hash = 0;

    for (uint32_t i = 0; i < GD_RACE_READERS; i++)
        hash = (hash ^ refs[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static void rehash_sets(gd_race *race)
{
    memset(race->set_buckets, 0, race->set_bucket_count * sizeof *race->set_buckets);
    for (uint32_t i = 1; i < race->set_count; i++) {
        gd_reader_set *set = &race->sets[i];
        if (!set->count)
            continue;
        uint32_t *bucket = &race->set_buckets[hash_set(set->refs) & (race->set_bucket_count - 1)];
        set->next = *bucket;
        *bucket = i;
    }
}

static bool grow_buckets(gd_race *race)
{
    uint32_t count = race->set_bucket_count ? race->set_bucket_count * 2 : 1024;
    uint32_t *buckets = gd_race_take(race, count * sizeof *buckets);

    if (!buckets)
        return false;
    gd_race_give(race, race->set_buckets, race->set_bucket_count * sizeof *buckets);
    race->set_buckets = buckets;
    race->set_bucket_count = count;
    rehash_sets(race);
    return true;
}

static uint32_t take_set(gd_race *race)
{
    uint32_t number = race->set_free;

    if (number) {
        race->set_free = race->sets[number].next;
        return number;
    }
    if (!gd_race_grow(race, (void **)&race->sets, race->set_count + 1, &race->set_capacity,
                      sizeof *race->sets))
        return 0;
    number = race->set_count ? race->set_count : 1;
    race->set_count = number + 1;
    return number;
}

static void sort(uint32_t *refs, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        for (uint32_t j = i; j && refs[j - 1] > refs[j]; j--) {
            uint32_t other = refs[j];
            refs[j] = refs[j - 1];
            refs[j - 1] = other;
        }
    }
}

uint32_t gd_set_add(gd_race *race, uint32_t *refs, uint32_t count)
{
    uint32_t padded[GD_RACE_READERS] = {0};

    if (count <= 1)
        return count ? refs[0] : GD_REF_NONE;
    sort(refs, count);
    memcpy(padded, refs, count * sizeof *refs);
    if (race->sets_live >= race->set_bucket_count && !grow_buckets(race))
        return refs[0];
    uint32_t hash = hash_set(padded) & (race->set_bucket_count - 1);
    for (uint32_t i = race->set_buckets[hash]; i; i = race->sets[i].next) {
        if (!memcmp(race->sets[i].refs, padded, sizeof padded))
            return GD_REF_SET | i;
    }
    uint32_t number = take_set(race);
    if (!number)
        return refs[0];
    gd_reader_set *set = &race->sets[number];
    memcpy(set->refs, padded, sizeof padded);
    set->count = (uint8_t)count;
    set->marked = set->writes = 0;
    for (uint32_t i = 0; i < count; i++)
        set->writes |= race->entries[refs[i] >> 5].writes;
    set->next = race->set_buckets[hash];
    race->set_buckets[hash] = number;
    race->sets_live++;
    return GD_REF_SET | number;
}

/* ---- collection ---- */

static void mark_entry(gd_race *race, uint32_t ref)
{
    race->entries[ref >> 5].marked = 1;
}

static void mark_cell(gd_race *race, gd_cell cell)
{
    mark_entry(race, cell.writer);
    if (!(cell.reader & GD_REF_SET)) {
        mark_entry(race, cell.reader);
        return;
    }
    gd_reader_set *set = &race->sets[cell.reader & ~GD_REF_SET];
    if (set->marked)
        return;
    set->marked = 1;
    for (uint32_t i = 0; i < set->count; i++)
        mark_entry(race, set->refs[i]);
}

static void mark_shadow(gd_race *race, const gd_shadow *shadow)
{
    for (uint64_t i = 0; shadow->table && i < shadow->pages; i++) {
        const gd_page *page = gd_shadow_page(shadow, i);
        if (!page) {
            mark_cell(race, gd_shadow_uniform(shadow, i));
            continue;
        }
        for (uint32_t j = 0; j < page->count; j++)
            mark_cell(race, page->cells[j]);
    }
}

/* Caches of sites are roots of nothing: they are emptied. Copies whose completion is not known yet
 * are. */
static void mark_all(gd_race *race)
{
    for (gd_shadow *shadow = race->shadows; shadow; shadow = shadow->next)
        mark_shadow(race, shadow);
    for (gd_race_cta *cta = race->ctas; cta; cta = cta->next) {
        for (uint32_t i = 0; i < cta->warp_count; i++)
            memset(cta->warps[i].cache, 0, sizeof cta->warps[i].cache);
        for (uint32_t i = 0; i < cta->issued_count; i++)
            mark_entry(race, cta->issued[i].entry << 5);
    }
}

static void sweep_entries(gd_race *race)
{
    race->entries_live = 0;
    race->entry_free = 0;
    for (uint32_t i = race->entry_count; i-- > 1;) {
        gd_entry_record *entry = &race->entries[i];
        if (entry->live && entry->marked) {
            gd_desc *desc = gd_desc_find(race, entry->task);
            if (desc)
                desc->marked = true;
            entry->marked = 0;
            race->entries_live++;
        } else {
            *entry = (gd_entry_record){.task = race->entry_free};
            race->entry_free = i;
        }
    }
}

static void sweep_sets(gd_race *race)
{
    race->sets_live = 0;
    race->set_free = 0;
    for (uint32_t i = race->set_count; i-- > 1;) {
        gd_reader_set *set = &race->sets[i];
        if (set->marked) {
            set->marked = 0;
            race->sets_live++;
        } else {
            *set = (gd_reader_set){.next = race->set_free};
            race->set_free = i;
        }
    }
    if (race->set_bucket_count)
        rehash_sets(race);
}

static uint32_t next_limit(const gd_race *race, uint32_t live)
{
    uint64_t limit = (uint64_t)live * 2 + FIRST_LIMIT + race->cell_bytes / sizeof(gd_cell) / 16;

    return limit < MOST_ENTRIES ? (uint32_t)limit : MOST_ENTRIES - 1;
}

void gd_race_collect(gd_race *race)
{
    if (race->entries_live <= race->entries_limit && race->sets_live <= race->sets_limit &&
        race->desc_count <= race->descs_limit)
        return;
    mark_all(race);
    sweep_entries(race);
    sweep_sets(race);
    race->collections++;
    gd_descs_sweep(race, false);
    race->entries_limit = next_limit(race, race->entries_live);
    race->sets_limit = next_limit(race, race->sets_live);
    race->descs_limit = next_limit(race, race->desc_count);
}

/* ---- creation ---- */

gd_race *gd_race_create(const gd_race_options *options)
{
    gd_race *race = calloc(1, sizeof *race);

    if (!race)
        return NULL;
    race->options = *options;
    race->bytes = sizeof *race;
    race->entries_limit = race->sets_limit = race->descs_limit = FIRST_LIMIT;
    race->entries = gd_race_take(race, 8 * sizeof *race->entries);
    race->sets = gd_race_take(race, 8 * sizeof *race->sets);
    race->entry_capacity = race->set_capacity = 8;
    race->entry_count = race->set_count = 1;
    if (!race->entries || !race->sets) {
        race->options.sink = NULL;
        gd_race_destroy(race);
        return NULL;
    }
    return race;
}

void gd_race_destroy(gd_race *race)
{
    if (!race)
        return;
    race->stopped = true;
    while (race->ctas)
        gd_race_cta_destroy(race, race->ctas);
    while (race->shadows)
        gd_shadow_free(race, race->shadows);
    gd_sync_clear(race);
    gd_descs_sweep(race, true);
    gd_pages_free(race);
    gd_outside_drop(race, race->host);
    gd_outside_drop(race, race->ended);
    free_names(race);
    free(race->descs);
    free(race->syncs);
    free(race->streams);
    free(race->sites);
    free(race->entries);
    free(race->sets);
    free(race->set_buckets);
    free(race);
}

uint64_t gd_race_bytes(const gd_race *race, uint64_t *cells)
{
    if (cells)
        *cells = race ? race->cell_bytes : 0;
    return race ? race->bytes : 0;
}

bool gd_race_seeks_uninitialized(const gd_race *race)
{
    return race && race->options.initialized && !race->stopped;
}

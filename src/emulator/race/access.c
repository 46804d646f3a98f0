/* Accesses: each is compared with who wrote its bytes last and who has accessed them since, and
 * takes its place among them.
 *
 * A cell keeps the last writer, and in its reader word the other accesses that a later one may
 * still race with: readers, and writers that a strong write came after. An old access may go when
 * all that races with it races with the new one too: when it is ordered before the new one, and no
 * strong access that the new one gets on with would have raced with the old one.
 *
 * An access of a warp is one entry. What has been found out about an entry of the past often holds
 * for all lanes at once, and neighbouring cells mostly name the same entries: the last answers are
 * remembered for the length of an operation. */
#include <string.h>

#include "emulator/race/core.h"

typedef enum verdict {
    AFTER_NOBODY,
    AFTER_NOT,
    AFTER_THIS,
    AFTER_ALL
} verdict; /* not, or so, for all lanes or for this one */

typedef struct actor {
    gd_race *race;
    gd_race_cta *cta; /* NULL: a task that is no kernel */
    const gd_race_operation *operation;
    const gd_clock *clock;
    const gd_outside *outside;
    const gd_stamps *stamps;
    gd_shadow *shadow;
    uint32_t task, uid, warp, synced, lane;
    uint32_t entry, ref;
    gd_entry_record self;
    uint32_t fine;    /* an entry that is before all lanes */
    uint32_t covered; /* and may go when one of them comes */
    uint32_t full[GD_RACE_READERS],
        full_own;    /* entries of a set that a further reader of the warp does not change; those of
                   * the warp */
    uint32_t writer; /* the last one of the cell */
    uint32_t done;   /* lanes of this operation that have had their turn */
    uint64_t page_number;
    gd_page *page;
    bool bulk;          /* a bulk copy of shared memory */
    uint32_t unproxied; /* a store without a fence that it needs before this; 0 */
    uint64_t unproxied_offset;
    uint32_t conflict, conflict_lane; /* the first one found; 0 */
    uint64_t conflict_offset, offset;
    bool uninitialized;
    uint64_t uninitialized_offset;
    uint32_t uninitialized_lane;
} actor;

/* ---- order ---- */

static verdict compare_agent(const actor *a, const gd_entry_record *e, uint32_t thread,
                             const gd_stamps *stamps)
{
    if (e->agent == GD_AGENT_NONE)
        return AFTER_NOBODY;
    uint32_t agent = e->agent == GD_AGENT_GROUP ? thread : e->agent;
    if (e->stamp <= gd_stamps_agent(stamps, agent))
        return AFTER_THIS;
    bool own = e->uid == a->uid && e->agent == GD_AGENT_GROUP &&
               thread == a->warp * GD_RACE_LANES + a->lane;
    return own && e->stamp <= a->cta->thread[thread].done ? AFTER_THIS : AFTER_NOT;
}

static verdict compare_thread(const actor *a, const gd_entry_record *e, uint32_t lane,
                              const gd_stamps *stamps)
{
    const uint32_t thread = e->warp * GD_RACE_LANES + lane;
    const bool same_warp = e->uid == a->uid && e->warp == a->warp;

    if (e->async)
        return compare_agent(a, e, thread, stamps);
    if (same_warp && lane == a->lane)
        return AFTER_THIS;
    if (same_warp && e->stamp <= a->synced)
        return AFTER_ALL;
    if (stamps && e->stamp <= stamps->base)
        return AFTER_ALL;
    if (!stamps || !stamps->count)
        return same_warp ? AFTER_NOT : AFTER_NOBODY;
    return e->stamp <= gd_stamps_of(stamps, thread) ? AFTER_THIS : AFTER_NOT;
}

/* Whether what a reference names happened before the actor. */
static verdict compare(const actor *a, uint32_t ref)
{
    const gd_entry_record *e = &a->race->entries[ref >> 5];

    if (ref <= GD_REF_INITIAL)
        return AFTER_ALL;
    if (e->uid && e->uid == a->uid)
        return compare_thread(a, e, ref & 31, a->stamps);
    if (!e->uid && e->task == a->task)
        return AFTER_ALL;
    if (gd_known_has(a->race, a->outside ? a->outside->known : NULL, e->task))
        return AFTER_ALL;
    const gd_parts *part = e->uid ? gd_outside_find(a->outside, e->uid) : NULL;
    return part ? compare_thread(a, e, ref & 31, part->stamps) : AFTER_NOBODY;
}

/* ---- strong accesses ---- */

static bool includes(const actor *a, uint32_t scope, const gd_entry_record *e)
{
    if (scope == GD_SCOPE_SYS || e->uid == a->uid)
        return true;
    if (scope == GD_SCOPE_GPU)
        return e->device == a->self.device;
    if (scope == GD_SCOPE_CTA || e->task != a->task || !a->cta)
        return false;
    const gd_desc *desc = a->cta->task->desc;
    const uint32_t x = desc->info.grid[0] ? desc->info.grid[0] : 1,
                   y = desc->info.grid[1] ? desc->info.grid[1] : 1;
    const uint32_t cta[3] = {e->cta % x, e->cta / x % y, e->cta / x / y};
    return gd_desc_cluster(desc, cta) == a->cta->cluster;
}

/* Morally strong: they do not race whatever their order. */
static bool gets_on(const actor *a, const gd_entry_record *e)
{
    return a->self.strong && e->strong && includes(a, a->self.scope, e) && includes(a, e->scope, e);
}

/* An atomic operation that the actor is behind has read what earlier ones left of these bytes, so
 * they precede the actor in causality order, they alone and nothing else of their threads (PTX ISA
 * 8.9.2, 8.9.5: observation order). */
static bool observed(const actor *a, uint32_t ref)
{
    const gd_entry_record *e = &a->race->entries[ref >> 5],
                          *last = &a->race->entries[a->writer >> 5];

    return a->writer > GD_REF_INITIAL && ref != a->writer && e->action == GD_ACTION_ATOMIC &&
           e->writes && last->action == GD_ACTION_ATOMIC && compare(a, a->writer) >= AFTER_THIS;
}

/* The old access may go: it is ordered before the actor, and what gets on with the actor would have
 * got on with it. */
static bool covers(const actor *a, const gd_entry_record *e, verdict order)
{
    if (e->task <= a->race->floor)
        return true;
    if (order < AFTER_THIS || (e->writes && !a->self.writes))
        return false;
    if (!a->self.strong)
        return true;
    return e->strong && e->scope >= a->self.scope &&
           (a->self.scope >= GD_SCOPE_GPU ? e->device == a->self.device : e->uid == a->uid);
}

/* ---- what is found ---- */

static bool overlaps(const gd_race_operation *operation, uint32_t a, uint32_t b)
{
    uint64_t first = operation->addresses[a], second = operation->addresses[b];

    return first < second + operation->bytes && second < first + operation->bytes;
}

/* Whether a write does not change what another of its grid wrote. */
static bool writes_same(const actor *a, uint32_t ref, const gd_entry_record *e)
{
    const gd_race_operation *operation = a->operation;
    const uint32_t lane = ref & 31;

    if (!operation || !e->writes || e->task != a->task || operation->action != GD_ACTION_WRITE ||
        e->action != GD_ACTION_WRITE)
        return false;
    if (ref >> 5 != a->entry || !(a->done >> lane & 1) || !operation->addresses ||
        !overlaps(operation, lane, a->lane))
        return operation->same && operation->same(operation->context, a->lane);
    if (operation->equal)
        return operation->equal(operation->context, lane, a->lane);
    return operation->same && operation->same(operation->context, lane) &&
           operation->same(operation->context, a->lane);
}

static void note(actor *a, uint32_t ref, const gd_entry_record *e)
{
    if (a->conflict || writes_same(a, ref, e))
        return;
    a->conflict = ref;
    a->conflict_lane = a->lane;
    a->conflict_offset = a->offset;
}

static void note_uninitialized(actor *a)
{
    if (a->uninitialized)
        return;
    a->uninitialized = true;
    a->uninitialized_lane = a->lane;
    a->uninitialized_offset = a->offset;
}

/* ---- the reader word ---- */

/* How alike two accesses are, for which of too many to keep. */
static uint32_t likeness(const gd_race *race, uint32_t a, uint32_t b)
{
    const gd_entry_record *first = &race->entries[a >> 5], *second = &race->entries[b >> 5];

    if (first->task != second->task)
        return 0;
    if (first->uid != second->uid)
        return 1;
    return first->warp != second->warp ? 2 : 3;
}

/* One of too many references, the last of which is new, is dropped: one of two that are most alike,
 * the new one when it is among them, a reader before a writer. */
static void drop_one(const gd_race *race, uint32_t *refs, uint32_t *count)
{
    const uint32_t newest = *count - 1;
    uint32_t victim = newest, most = 0;

    for (uint32_t i = 0; i < newest; i++) {
        uint32_t like = likeness(race, refs[i], refs[newest]);
        most = like > most ? like : most;
    }
    for (uint32_t i = 0; i < newest; i++) {
        for (uint32_t j = i + 1; j < newest; j++) {
            uint32_t like = likeness(race, refs[i], refs[j]);
            if (like <= most)
                continue;
            bool first = !race->entries[refs[i] >> 5].writes,
                 second = !race->entries[refs[j] >> 5].writes;
            if (!first && !second && !race->entries[refs[newest] >> 5].writes)
                continue;
            most = like;
            victim = first || !second ? i : j;
        }
    }
    refs[victim] = refs[newest];
    --*count;
}

typedef struct others {
    uint32_t refs[GD_RACE_READERS + 2], count;
    bool for_all; /* what was found holds for every lane of the warp but for entries of the warp
                  * itself */
    bool kept_all;
} others;

/* Looks at one of the accesses of a cell. */
static void look(actor *a, others *list, uint32_t ref)
{
    const gd_entry_record *e = &a->race->entries[ref >> 5];
    verdict order = compare(a, ref);

    if (ref <= GD_REF_INITIAL)
        return;
    if ((order == AFTER_NOT || order == AFTER_THIS) &&
        (e->uid != a->uid || e->warp != a->warp || e->async))
        list->for_all = false;
    if (order < AFTER_THIS && (e->writes || a->self.writes) && !gets_on(a, e) && !observed(a, ref))
        note(a, ref, e);
    if (covers(a, e, order) || (a->self.writes && !a->self.strong)) {
        list->kept_all = false;
        return;
    }
    list->refs[list->count++] = ref;
    if (list->count > GD_RACE_READERS)
        drop_one(a->race, list->refs, &list->count);
}

static void look_at_word(actor *a, others *list, uint32_t word)
{
    if (!(word & GD_REF_SET)) {
        if (word)
            look(a, list, word);
        return;
    }
    const gd_reader_set *set = &a->race->sets[word & ~GD_REF_SET];
    for (uint32_t i = 0; i < set->count; i++)
        look(a, list, set->refs[i]);
}

/* Whether the readers of a set are those that the last reader of this warp found and left as they
 * were. */
static bool is_full(const actor *a, uint32_t word)
{
    const gd_reader_set *set = &a->race->sets[word & ~GD_REF_SET];

    for (uint32_t i = 0; i < GD_RACE_READERS; i++) {
        if (set->refs[i] >> 5 != a->full[i] ||
            ((a->full_own >> i & 1) && (set->refs[i] & 31) == a->lane))
            return false;
    }
    return true;
}

/* Whether the thread is among the readers of a set already, with this very entry. */
static bool has_read(const actor *a, uint32_t word)
{
    const gd_reader_set *set = &a->race->sets[word & ~GD_REF_SET];

    for (uint32_t i = 0; i < GD_RACE_READERS; i++) {
        if (set->refs[i] == a->ref)
            return !set->writes;
    }
    return false;
}

static void remember_full(actor *a, uint32_t word)
{
    const gd_reader_set *set = &a->race->sets[word & ~GD_REF_SET];

    a->full_own = 0;
    for (uint32_t i = 0; i < GD_RACE_READERS; i++) {
        const gd_entry_record *e = &a->race->entries[set->refs[i] >> 5];
        a->full[i] = set->refs[i] >> 5;
        a->full_own |= (uint32_t)(e->uid == a->uid && e->warp == a->warp) << i;
    }
}

static uint32_t add_reader(actor *a, uint32_t word)
{
    others list = {.for_all = true, .kept_all = true};

    look_at_word(a, &list, word);
    if (!list.count) {
        if (!(word & GD_REF_SET) && compare(a, word) == AFTER_ALL)
            a->covered = word >> 5;
        return a->ref;
    }
    list.refs[list.count++] = a->ref;
    if (list.count > GD_RACE_READERS)
        drop_one(a->race, list.refs, &list.count);
    uint32_t result = gd_set_add(a->race, list.refs, list.count);
    if (result == word && (word & GD_REF_SET) && list.for_all && list.kept_all)
        remember_full(a, word);
    return result;
}

/* ---- cells ---- */

static void check_writer(actor *a, uint32_t ref)
{
    const gd_entry_record *e = &a->race->entries[ref >> 5];
    verdict order = compare(a, ref);

    if (order == AFTER_ALL)
        a->fine = ref >> 5;
    else if (order < AFTER_THIS && !gets_on(a, e))
        note(a, ref, e);
}

/* A bulk copy reads what a thread of the CTA has stored: by another proxy, so that the thread needs
 * a fence behind its store. */
static void check_proxy(actor *a, uint32_t writer)
{
    const gd_entry_record *e = &a->race->entries[writer >> 5];

    if (a->unproxied || a->conflict || e->async || e->uid != a->uid ||
        e->action == GD_ACTION_ATOMIC)
        return;
    const gd_thread *thread = gd_thread_of(a->cta, e->warp, writer & 31);
    if (e->stamp <= thread->proxied)
        return;
    a->unproxied = writer;
    a->unproxied_offset = a->offset;
}

static inline void read_cell(actor *a, gd_cell *cell)
{
    const uint32_t writer = cell->writer, reader = cell->reader;

    if (a->self.async && a->bulk && writer > GD_REF_INITIAL)
        check_proxy(a, writer);

    if (writer <= GD_REF_INITIAL) {
        if (!writer && a->race->options.initialized) {
            note_uninitialized(a);
            cell->writer = GD_REF_INITIAL;
        }
    } else if (writer >> 5 != a->fine) {
        check_writer(a, writer);
    }
    if (reader == a->ref)
        return;
    if (!reader || reader >> 5 == a->covered)
        cell->reader = a->ref;
    else if (!(reader & GD_REF_SET) || (!has_read(a, reader) && !is_full(a, reader))) {
        a->writer = writer;
        cell->reader = add_reader(a, reader);
    }
}

/* What a strong write leaves of the accesses before it. */
static void write_strongly(actor *a, gd_cell *cell)
{
    others list = {0};

    a->writer = cell->writer;
    look_at_word(a, &list, cell->reader);
    if (cell->writer > GD_REF_INITIAL && cell->writer != a->ref)
        look(a, &list, cell->writer);
    cell->writer = a->ref;
    cell->reader = gd_set_add(a->race, list.refs, list.count);
}

static inline void write_cell(actor *a, gd_cell *cell)
{
    const uint32_t writer = cell->writer, reader = cell->reader;

    if (writer == a->ref && !reader && !a->self.async)
        return;
    if (!writer && a->self.action == GD_ACTION_ATOMIC && a->race->options.initialized)
        note_uninitialized(a);
    if (a->self.strong) {
        write_strongly(a, cell);
        return;
    }
    if (writer > GD_REF_INITIAL && writer >> 5 != a->fine)
        check_writer(a, writer);
    if (reader && reader >> 5 != a->covered) {
        others list = {0};
        a->writer = writer;
        look_at_word(a, &list, reader);
        if (!(reader & GD_REF_SET) && compare(a, reader) == AFTER_ALL)
            a->covered = reader >> 5;
    }
    cell->writer = a->ref;
    cell->reader = GD_REF_NONE;
}

static void visit_cells(actor *a, gd_cell *cells, uint32_t count, uint32_t bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        if (a->self.writes)
            write_cell(a, &cells[i]);
        else
            read_cell(a, &cells[i]);
        a->offset += bytes;
    }
}

static gd_page *find_page(actor *a, uint64_t number, uint32_t shift)
{
    gd_page *page =
        a->page && a->page_number == number ? a->page : gd_shadow_page(a->shadow, number);

    if (!page || page->shift > shift)
        page = gd_shadow_refine(a->race, a->shadow, number, shift);
    a->page = page;
    a->page_number = number;
    return page;
}

/* Part of a page. */
static void visit_part(actor *a, uint64_t offset, uint32_t bytes)
{
    const uint32_t in = offset & (GD_PAGE_BYTES - 1);
    gd_page *page = find_page(a, offset >> GD_PAGE_SHIFT, (uint32_t)__builtin_ctz(in | bytes | 16));

    if (!page)
        return;
    const uint32_t first = in >> page->shift, last = (in + bytes - 1) >> page->shift;
    a->offset = offset;
    visit_cells(a, page->cells + first, last - first + 1, UINT32_C(1) << page->shift);
}

/* A single cell of the page that was visited last: what most accesses are. */
static inline bool visit_cell(actor *a, uint64_t offset, uint32_t bytes)
{
    const gd_page *page = a->page;

    if (!page || offset >> GD_PAGE_SHIFT != a->page_number || bytes != UINT32_C(1) << page->shift ||
        (offset & (bytes - 1)))
        return false;
    gd_cell *cell = &a->page->cells[(offset & (GD_PAGE_BYTES - 1)) >> page->shift];
    a->offset = offset;
    if (a->self.writes)
        write_cell(a, cell);
    else
        read_cell(a, cell);
    return true;
}

static void visit(actor *a, uint64_t offset, uint32_t bytes)
{
    while (bytes && !a->race->stopped) {
        uint32_t left = GD_PAGE_BYTES - (uint32_t)(offset & (GD_PAGE_BYTES - 1));
        uint32_t part = bytes < left ? bytes : left;
        visit_part(a, offset, part);
        offset += part;
        bytes -= part;
    }
}

/* A page from end to end stays, or becomes, one cell where all of it is alike. */
static void visit_page(actor *a, uint64_t number)
{
    gd_page *page = gd_shadow_page(a->shadow, number);
    gd_cell cell;

    a->offset = number << GD_PAGE_SHIFT;
    if (page) {
        visit_cells(a, page->cells, page->count, UINT32_C(1) << page->shift);
        if (!a->self.writes || a->self.strong)
            return;
        cell = (gd_cell){a->ref, GD_REF_NONE};
    } else {
        cell = gd_shadow_uniform(a->shadow, number);
        visit_cells(a, &cell, 1, GD_PAGE_BYTES);
    }
    gd_shadow_put(a->race, a->shadow, number, cell);
}

static void visit_range(actor *a, uint64_t offset, uint64_t bytes)
{
    const uint64_t end = offset + bytes;

    while (offset < end && !a->race->stopped) {
        uint64_t number = offset >> GD_PAGE_SHIFT, next = (number + 1) << GD_PAGE_SHIFT;
        uint64_t limit = next < a->shadow->bytes ? next : a->shadow->bytes;
        uint64_t stop = limit < end ? limit : end;
        if (offset == number << GD_PAGE_SHIFT && stop == limit)
            visit_page(a, number);
        else
            visit_part(a, offset, (uint32_t)(stop - offset));
        offset = stop;
    }
}

/* ---- reports ---- */

static void report(actor *a)
{
    gd_race *race = a->race;
    gd_conflict conflict = {.shadow = a->shadow};

    if (a->conflict && !race->stopped) {
        conflict.kind = a->shadow->shared ? GD_RACE_SHARED : GD_RACE_GLOBAL;
        conflict.offset = a->conflict_offset;
        conflict.first = a->conflict;
        conflict.second = a->entry << 5 | a->conflict_lane;
        gd_race_tell(race, &conflict);
    }
    if (a->unproxied && !a->conflict && !race->stopped) {
        conflict.kind = GD_RACE_SHARED;
        conflict.offset = a->unproxied_offset;
        conflict.first = a->unproxied;
        conflict.second = a->ref;
        conflict.proxy = true;
        gd_race_tell(race, &conflict);
        conflict.proxy = false;
    }
    if (!a->uninitialized || race->stopped)
        return;
    gd_site_record *site = a->self.site < race->site_count ? &race->sites[a->self.site] : NULL;
    if (site && a->self.site && site->uninitialized)
        return;
    if (site && a->self.site)
        site->uninitialized = true;
    conflict.kind = GD_RACE_UNINITIALIZED;
    conflict.offset = a->uninitialized_offset;
    conflict.first = GD_REF_NONE;
    conflict.second = a->entry << 5 | a->uninitialized_lane;
    gd_race_tell(race, &conflict);
}

/* ---- who acts ---- */

static void take_lane(actor *a, uint32_t lane)
{
    gd_clock *clock = a->cta->thread[a->warp * GD_RACE_LANES + lane].clock;

    a->lane = lane;
    a->ref = a->entry << 5 | lane;
    if (clock == a->clock)
        return;
    a->clock = clock;
    a->outside = clock ? clock->outside : NULL;
    a->stamps = clock ? clock->stamps : NULL;
    a->fine = a->covered = 0;
    memset(a->full, 0, sizeof a->full);
}

static bool find_entry(actor *a, gd_warp_record *warp, bool alone)
{
    const gd_race_operation *operation = a->operation;
    const uint32_t flags = (uint32_t)operation->action | (uint32_t)operation->scope << 3 |
                           (uint32_t)operation->strong << 5 | (uint32_t)operation->async << 6 |
                           (uint32_t)a->self.waited << 7 | 256;
    gd_site_cache *cached = &warp->cache[operation->site % GD_RACE_SITES_CACHED];

    if (!alone && cached->flags == flags && cached->site == operation->site &&
        cached->stamp == warp->stamp && cached->bytes == operation->bytes) {
        a->entry = cached->entry;
        return true;
    }
    a->entry = gd_entry_add(a->race, &a->self);
    if (!a->entry)
        return false;
    a->cta->task->desc->used = true;
    if (!alone)
        *cached = (gd_site_cache){operation->site, warp->stamp, flags, operation->bytes, a->entry};
    return true;
}

/* `alone`: the entry is not shared with other accesses. */
static bool begin(actor *a, gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation,
                  bool alone)
{
    gd_warp_record *warp = &cta->warps[operation->warp];

    gd_race_collect(cta->race);
    *a = (actor){.race = cta->race,
                 .cta = cta,
                 .operation = operation,
                 .shadow = shadow,
                 .task = cta->task->number,
                 .uid = cta->uid,
                 .warp = operation->warp,
                 .synced = warp->synced};
    a->self =
        (gd_entry_record){.task = a->task,
                          .uid = a->uid,
                          .cta = cta->number,
                          .stamp = warp->stamp,
                          .site = operation->site,
                          .bytes = operation->bytes,
                          .agent = operation->warpgroup ? gd_warpgroup_agent(cta, operation->warp)
                                   : alone              ? GD_AGENT_NONE
                                                        : GD_AGENT_GROUP,
                          .warp = operation->warp & 31,
                          .action = operation->action & 15,
                          .scope = operation->scope & 3,
                          .strong = operation->strong,
                          .async = operation->async,
                          .writes = operation->action != GD_ACTION_READ,
                          .waited = (warp->waited & operation->mask) == operation->mask,
                          .device = cta->device & 63};
    return find_entry(a, warp, alone);
}

/* Lanes from `lane` on whose accesses change nothing and find nothing, since the same entry has
 * been there and nobody after it: what a loop over the same memory mostly does. They are neighbours
 * in one page and know the same. Returns their number. */
static uint32_t count_settled(const actor *a, const gd_thread *threads, uint32_t mask,
                              uint32_t lane)
{
    const gd_race_operation *operation = a->operation;
    const gd_page *page = a->page;
    const uint32_t bytes = operation->bytes, entry = a->entry << 5, first = lane;

    if (!page || bytes != UINT32_C(1) << page->shift || a->self.strong || a->self.async)
        return 0;
    for (; lane < GD_RACE_LANES && (mask >> lane & 1) && threads[lane].clock == a->clock; lane++) {
        const uint64_t offset = operation->addresses[lane] - a->shadow->start;
        if (offset >> GD_PAGE_SHIFT != a->page_number || (offset & (bytes - 1)))
            break;
        const gd_cell cell = page->cells[(offset & (GD_PAGE_BYTES - 1)) >> page->shift];
        const uint32_t ref = entry | lane;
        if (a->self.writes ? cell.writer != ref || cell.reader
                           : cell.reader != ref || cell.writer >> 5 != a->fine || !cell.writer)
            break;
    }
    return lane - first;
}

/* Tells, once, of a use of memory that is not ordered behind its allocation. */
static void check_allocated(actor *a)
{
    gd_race *race = a->race;
    gd_shadow *shadow = a->shadow;

    if (gd_known_has(race, a->outside ? a->outside->known : NULL, shadow->allocated)) {
        shadow->checked = a->task;
        return;
    }
    const gd_entry_record record = {.task = shadow->allocated,
                                    .bytes = shadow->bytes < UINT32_MAX ? (uint32_t)shadow->bytes
                                                                        : UINT32_MAX,
                                    .agent = GD_AGENT_NONE,
                                    .action = GD_ACTION_ALLOCATE,
                                    .device = a->self.device};
    const uint32_t entry = gd_entry_add(race, &record);
    const gd_conflict conflict = {.kind = GD_RACE_GLOBAL,
                                  .shadow = shadow,
                                  .first = entry << 5,
                                  .second = a->entry << 5 | a->lane};
    shadow->allocated = 0;
    if (entry)
        gd_race_tell(race, &conflict);
}

static bool is_unchecked(const gd_race *race, const gd_shadow *shadow, uint32_t task)
{
    return shadow->allocated > race->floor && shadow->checked != task;
}

static void access_lanes(gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation)
{
    actor a;

    if (!begin(&a, cta, shadow, operation, false))
        return;
    if (is_unchecked(a.race, shadow, a.task)) {
        take_lane(&a, (uint32_t)__builtin_ctz(operation->mask));
        check_allocated(&a);
    }
    const gd_thread *threads = gd_thread_of(cta, operation->warp, 0);
    uint32_t tries = 2; /* the first lane finds the page */
    for (uint32_t mask = operation->mask; mask;) {
        const uint32_t lane = (uint32_t)__builtin_ctz(mask);
        const uint32_t settled = tries ? count_settled(&a, threads, mask, lane) : 0;
        uint32_t done =
            settled < GD_RACE_LANES ? ((UINT32_C(1) << settled) - 1) << lane : UINT32_MAX;
        if (!settled) {
            tries -= tries != 0;
            const uint64_t offset = operation->addresses[lane] - shadow->start;
            take_lane(&a, lane);
            if (!visit_cell(&a, offset, operation->bytes))
                visit(&a, offset, operation->bytes);
            done = UINT32_C(1) << lane;
        }
        a.done |= done;
        mask &= ~done;
    }
    if (a.conflict || a.uninitialized)
        report(&a);
}

static bool takes_part(const gd_race_cta *cta, const gd_shadow *shadow,
                       const gd_race_operation *operation)
{
    return operation->strong ||
           (shadow->syncs && operation->action != GD_ACTION_READ && !cta->race->stopped);
}

void gd_race_global(gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation)
{
    if (!cta || !shadow || cta->race->stopped || !operation->mask)
        return;
    if (cta->race->options.global)
        access_lanes(cta, shadow, operation);
    if (takes_part(cta, shadow, operation))
        gd_sync_access(cta, shadow, operation);
}

void gd_race_shared(gd_race_cta *cta, gd_race_cta *owner, const gd_race_operation *operation)
{
    if (!cta || !owner || cta->race->stopped || !operation->mask)
        return;
    if (cta->race->options.shared)
        access_lanes(cta, owner->shared, operation);
    if (takes_part(cta, owner->shared, operation))
        gd_sync_access(cta, owner->shared, operation);
}

/* An mbarrier's orders are its own (race/barrier.c), and no pattern of strong accesses. */
/* Bulk copies are carried out by the async proxy, other asynchronous copies by the generic one. */
static bool is_bulk(const gd_race *race, uint32_t site)
{
    const char *text = site < race->site_count ? race->sites[site].site.instruction : NULL;

    return text && strstr(text, "async.bulk");
}

/* A bulk copy completes on an mbarrier: the async proxy has to see that it was initialized. */
static void check_shown(gd_race_cta *cta, gd_race_cta *owner, const gd_race_operation *operation)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(operation->mask);
    const gd_race_mbarrier *item = gd_mbarrier_find(owner, operation->addresses[lane]);
    gd_conflict conflict = {
        .kind = GD_RACE_SHARED, .shadow = owner->shared, .proxy = true, .initialization = true};
    actor a;

    if (!item || !item->site || item->stamp <= gd_thread_of(owner, item->warp, item->lane)->shown ||
        !begin(&a, cta, owner->shared, operation, true))
        return;
    const gd_entry_record init = {.task = owner->task->number,
                                  .uid = owner->uid,
                                  .cta = owner->number,
                                  .stamp = item->stamp,
                                  .site = item->site,
                                  .bytes = operation->bytes,
                                  .agent = GD_AGENT_NONE,
                                  .warp = item->warp & 31,
                                  .action = GD_ACTION_WRITE,
                                  .writes = true,
                                  .device = owner->device & 63};
    conflict.first = gd_entry_add(cta->race, &init) << 5 | item->lane;
    conflict.second = a.entry << 5 | lane;
    conflict.offset = operation->addresses[lane] - owner->shared->start;
    if (conflict.first >> 5)
        gd_race_tell(cta->race, &conflict);
}

void gd_race_mbarrier_access(gd_race_cta *cta, gd_race_cta *owner,
                             const gd_race_operation *operation)
{
    if (!cta || !owner || cta->race->stopped || !cta->race->options.shared)
        return;
    access_lanes(cta, owner->shared, operation);
    if (operation->action == GD_ACTION_ATOMIC && is_bulk(cta->race, operation->site))
        check_shown(cta, owner, operation);
}

/* An asynchronous copy waits for the word on what it completes. */
static void note_issued(const actor *a)
{
    gd_race_cta *cta = a->cta;

    if (!gd_race_grow(a->race, (void **)&cta->issued, cta->issued_count, &cta->issued_capacity,
                      sizeof *cta->issued))
        return;
    cta->issued[cta->issued_count++] = (gd_issued){a->entry, a->warp * GD_RACE_LANES + a->lane};
}

static void access_pieces(gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation,
                          const gd_race_piece *pieces, uint32_t count)
{
    gd_race_operation single = *operation;
    uint64_t bytes = 0;
    actor a;

    for (uint32_t i = 0; i < count; i++)
        bytes += pieces[i].bytes;
    single.addresses = NULL;
    single.bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    if (!bytes || !begin(&a, cta, shadow, &single, operation->async))
        return;
    take_lane(&a, (uint32_t)__builtin_ctz(operation->mask));
    if (is_unchecked(a.race, shadow, a.task))
        check_allocated(&a);
    a.bulk = operation->async && !operation->warpgroup && shadow == cta->shared &&
             is_bulk(cta->race, operation->site);
    if (operation->async && !operation->warpgroup)
        note_issued(&a);
    for (uint32_t i = 0; i < count; i++) {
        visit_range(&a, pieces[i].address - shadow->start, pieces[i].bytes);
        if (shadow->syncs && a.self.writes)
            gd_sync_forget(a.race, shadow, pieces[i].address - shadow->start, pieces[i].bytes);
    }
    if (a.conflict || a.uninitialized || a.unproxied)
        report(&a);
}

void gd_race_global_pieces(gd_race_cta *cta, gd_shadow *shadow, const gd_race_operation *operation,
                           const gd_race_piece *pieces, uint32_t count)
{
    if (cta && shadow && !cta->race->stopped && operation->mask && cta->race->options.global)
        access_pieces(cta, shadow, operation, pieces, count);
}

void gd_race_shared_pieces(gd_race_cta *cta, gd_race_cta *owner, const gd_race_operation *operation,
                           const gd_race_piece *pieces, uint32_t count)
{
    if (cta && owner && !cta->race->stopped && operation->mask && cta->race->options.shared)
        access_pieces(cta, owner->shared, operation, pieces, count);
}

static bool find_task_entry(actor *a, gd_race_task *task, uint64_t bytes, bool write)
{
    gd_race *race = a->race;

    if (task->collection != race->collections)
        task->entries[0] = task->entries[1] = 0;
    task->collection = race->collections;
    if (!task->entries[write]) {
        const gd_entry_record record = {.task = task->number,
                                        .bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX,
                                        .agent = GD_AGENT_NONE,
                                        .action = task->desc->info.action & 15,
                                        .writes = write,
                                        .device = task->desc->info.device & 63};
        task->entries[write] = gd_entry_add(race, &record);
        task->desc->used = true;
    }
    a->entry = task->entries[write];
    a->ref = a->entry << 5;
    a->self = race->entries[a->entry];
    return a->entry != 0;
}

void gd_race_range(gd_race *race, gd_race_task *task, gd_shadow *shadow, uint64_t offset,
                   uint64_t bytes, bool write)
{
    if (!race || !task || !shadow || race->stopped || !bytes || !race->options.global)
        return;
    gd_race_collect(race);
    actor a = {.race = race, .shadow = shadow, .outside = task->start, .task = task->number};
    if (!find_task_entry(&a, task, bytes, write))
        return;
    if (is_unchecked(race, shadow, a.task))
        check_allocated(&a);
    visit_range(&a, offset, bytes);
    if (a.conflict || a.uninitialized)
        report(&a);
    if (write && shadow->syncs)
        gd_sync_forget(race, shadow, offset, bytes);
}

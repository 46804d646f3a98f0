/* Accesses as the race detector wants them: by allocation, or by the CTA whose shared memory it is.
 * Local memory, which nobody else can reach, is checked here for reads of what has not been
 * written. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "emulator/execute/check.h"
#include "emulator/execute/cluster.h"
#include "emulator/execute/extent.h"
#include "emulator/execute/memory.h"
#include "emulator/execute/program.h"
#include "emulator/machine/report.h"

/* ---- instructions as reports name them ---- */

/* The instruction's text from its guard to its semicolon, white space as single blanks, cut where
 * it is longer than the buffer. */
static void put_instruction(const gd_ptx_module *module, uint32_t instruction, char *text,
                            size_t bytes)
{
    const gd_ptx_instruction *item = &module->instructions[instruction];
    uint32_t length;
    const char *at = gd_ptx_token_text(module, item->token, &length);
    const char *last = gd_ptx_token_text(module, item->token_end - 1, &length);
    const char *end = last + length;
    size_t used = 0;
    bool blank = false;

    for (; at < end && used + 2 < bytes; at++) {
        if (isspace((unsigned char)*at)) {
            blank = used > 0;
            continue;
        }
        if (blank)
            text[used++] = ' ';
        text[used++] = *at;
        blank = false;
    }
    text[used] = 0;
}

static uint32_t make_site(gd_race *race, const gd_image *image, const gd_code *code)
{
    const gd_program *program = image->entry.program;
    gd_race_site site = {.kernel = image->entry.name, .module = program->number};
    char text[160];

    put_instruction(program->module, code->instruction, text, sizeof text);
    gd_ptx_token_position(program->module, program->module->instructions[code->instruction].opcode,
                          &site.line, &site.column);
    site.instruction = text;
    return gd_race_site_add(race, &site);
}

/* The number of an operation's instruction; 0: no memory. */
static uint32_t find_site(gd_race *race, const gd_image *image, const gd_code *code)
{
    uint32_t index = (uint32_t)(code - image->code);

    /* The table is a cache of what the image says; filling it changes nothing that its readers
     * see. */
    uint32_t **sites = (uint32_t **)(uintptr_t)&image->sites;
    if (!*sites && !(*sites = calloc(image->code_count, sizeof **sites)))
        return 0;
    if (!(*sites)[index])
        (*sites)[index] = make_site(race, image, code);
    return (*sites)[index];
}

void gd_entry_instruction(const gd_entry *entry, uint32_t instruction, char *text, size_t bytes,
                          uint32_t *module)
{
    put_instruction(entry->program->module, instruction, text, bytes);
    *module = entry->program->number;
}

/* ---- memory ---- */

/* Bytes that the host may write without the driver's knowledge, or that were there from the start,
 * count as written. */
gd_shadow *gd_check_shadow(gd_race *race, gd_allocation *item)
{
    if (!item->shadow)
        item->shadow = gd_shadow_create(
            race, item->start, item->bytes, item->name,
            (item->kind != GD_MEMORY_DEVICE && item->kind != GD_MEMORY_HEAP) || item->name);
    return item->shadow;
}

gd_race_cta *gd_check_owner(const gd_warp *warp, gd_space space, uint64_t *address)
{
    const gd_cluster *cluster = warp->cta->cluster;

    space = gd_resolve(space, address);
    uint32_t rank = (uint32_t)(*address >> GD_RANK_SHIFT);
    if (space == GD_AT_SHARED || rank == warp->cta->rank)
        return warp->cta->race;
    return rank < cluster->size && cluster->members[rank] ? cluster->members[rank]->race : NULL;
}

static gd_race_operation describe(gd_warp *warp, const gd_code *code, uint32_t mask,
                                  const gd_check *check)
{
    return (gd_race_operation){.warp = warp->index,
                               .mask = mask,
                               .site = find_site(warp->cta->view->race, warp->cta->image, code),
                               .bytes = check->bytes,
                               .action = check->action,
                               .strong = check->order & GD_ORDER_STRONG,
                               .acquire = check->order & GD_ORDER_ACQUIRE,
                               .release = check->order & GD_ORDER_RELEASE,
                               .async = check->async,
                               .scope = (gd_scope)(check->order >> GD_ORDER_SCOPE_SHIFT),
                               .addresses = check->addresses,
                               .same = check->same,
                               .equal = check->equal,
                               .context = check->context};
}

/* A finding about what a lane does, in words that follow "kernel k (launch 1)". What has been told
 * is told once. */
static void report(const gd_warp *warp, const gd_code *code, uint32_t lane,
                   const gd_race_access *of, const char *kind, const gd_allocation *memory,
                   uint64_t address, const char *words, const char *missing)
{
    const gd_cta *cta = warp->cta;
    const gd_grid_view *view = cta->view;
    const gd_ptx_module *module = cta->image->entry.program->module;
    const uint32_t thread = warp->index * GD_LANES + lane;
    char instruction[160], name[128], text[384];
    gd_race_access access = *of;

    access.kernel = view->entry->name;
    access.launch = gd_race_task_launch(view->race_task);
    access.device = view->owner ? view->owner->bank->device : 0;
    access.thread[0] = thread % view->block[0];
    access.thread[1] = thread / view->block[0] % view->block[1];
    access.thread[2] = thread / view->block[0] / view->block[1];
    access.instruction = instruction;
    memcpy(access.cta, cta->position, sizeof access.cta);
    gd_entry_instruction(view->entry, code->instruction, instruction, sizeof instruction,
                         &access.module);
    gd_ptx_token_position(module, module->instructions[code->instruction].opcode, &access.line,
                          &access.column);
    snprintf(name, sizeof name, "kernel %.80s (launch %" PRIu64 ")", access.kernel, access.launch);
    snprintf(text, sizeof text, "%s %s", name, words);
    gd_report_fault(kind, &access, memory, address, name, text, missing);
}

/* A device takes a store to the address of a .const variable, but its constant caches may keep what
 * was there before. */
static void check_constant(const gd_warp *warp, const gd_code *code, uint32_t lane,
                           const gd_allocation *item, uint64_t address,
                           const gd_race_operation *operation)
{
    const gd_race_access access = {
        .action = operation->action, .writes = true, .bytes = operation->bytes};
    char text[256];

    if (item->kind != GD_MEMORY_CONSTANT || operation->action == GD_ACTION_READ)
        return;
    snprintf(text, sizeof text,
             "writes to .const variable %.80s: what ld.const reads before the next launch may be "
             "the value from before",
             item->name ? item->name : "");
    report(warp, code, lane, &access, "read-only", item, address, text, NULL);
}

/* The head comment says less than the kernel does: who goes by it (the check, AUTO) lets launches
 * meet. Told of one access. */
static bool check_extent(const gd_warp *warp, const gd_code *code, uint32_t lane,
                         const gd_allocation *item, uint64_t address, uint64_t bytes,
                         const gd_race_operation *operation)
{
    const struct gd_reach *left =
        gd_extent_left(warp->cta->view, warp->cta->image, code, address, bytes);
    const gd_race_access access = {.action = operation->action,
                                   .writes = operation->action != GD_ACTION_READ,
                                   .bytes = operation->bytes};
    char text[256];

    if (!left)
        return false;
    const bool before = address < left->start;
    snprintf(text, sizeof text,
             "%s at %.60s %c %" PRIu64 "; its head comment says that it touches %" PRIu64
             " bytes from %.60s on: %.60s",
             access.writes ? "writes" : "reads", left->name, before ? '-' : '+',
             before ? left->start - address : address - left->start, left->end - left->start,
             left->name, left->text);
    report(warp, code, lane, &access, "beyond-extent", item, address, text,
           "a line of 'extent' that tells how far the kernel goes, or an access within it");
    return true;
}

/* The lanes of a mask whose addresses lie in one allocation with the lowest of them. */
static uint32_t find_group(gd_warp *warp, const gd_code *code, uint32_t mask,
                           const uint64_t *addresses, gd_allocation **item)
{
    gd_allocation *found = gd_allocation_find(warp->cta, code, addresses[gd_lowest(mask)]);
    uint32_t group = 0;

    *item = found;
    if (!found)
        return mask & -mask;
    GD_EACH_LANE(lane, mask)
    {
        group |= addresses[lane] - found->start < found->bytes ? UINT32_C(1) << lane : 0;
    }
    return group;
}

static void check_global(gd_warp *warp, const gd_code *code, uint32_t mask,
                         gd_race_operation *operation)
{
    while (mask) {
        gd_allocation *item;
        operation->mask = find_group(warp, code, mask, operation->addresses, &item);
        gd_shadow *shadow = item ? gd_check_shadow(warp->cta->view->race, item) : NULL;
        uint32_t lane = gd_lowest(operation->mask);
        if (item)
            check_constant(warp, code, lane, item, operation->addresses[lane], operation);
        bool told = !warp->cta->view->reaches;
        GD_EACH_LANE(each, told ? 0 : operation->mask)
        {
            told = told || check_extent(warp, code, each, item, operation->addresses[each],
                                        operation->bytes, operation);
        }
        if (shadow)
            gd_race_global(warp->cta->race, shadow, operation);
        mask &= ~operation->mask;
    }
}

/* A CTA may not touch the shared memory of another one before that has started (CUDA C++
 * Programming Guide, Distributed Shared Memory). */
static void check_start(const gd_warp *warp, const gd_code *code, uint32_t lane,
                        const gd_race_cta *owner, gd_action action, uint32_t bytes)
{
    const gd_race_access access = {
        .action = action, .writes = action != GD_ACTION_READ, .bytes = bytes};
    const gd_cta *cta = warp->cta;

    if (owner == cta->race || cta->met || gd_race_knows_start(cta->race, warp->index, lane, owner))
        return;
    report(warp, code, lane, &access, "shared-race", NULL, 0,
           action == GD_ACTION_READ
               ? "reads shared memory of another CTA of its cluster, which may not have started"
               : "writes shared memory of another CTA of its cluster, which may not have started",
           "a barrier of the cluster (barrier.cluster.arrive, barrier.cluster.wait) before this "
           "access");
}

/* Lanes may reach into the shared memory of several CTAs of the cluster. */
static void check_shared(gd_warp *warp, const gd_code *code, uint32_t mask,
                         gd_race_operation *operation)
{
    while (mask) {
        uint64_t first = operation->addresses[gd_lowest(mask)], address = first;
        uint32_t group = 0;
        GD_EACH_LANE(lane, mask)
        {
            group |=
                (operation->addresses[lane] ^ first) >> GD_RANK_SHIFT ? 0 : UINT32_C(1) << lane;
        }
        gd_race_cta *owner = gd_check_owner(warp, GD_AT_CLUSTER, &address);
        operation->mask = group;
        if (owner)
            check_start(warp, code, gd_lowest(group), owner, operation->action, operation->bytes);
        if (owner)
            gd_race_shared(warp->cta->race, owner, operation);
        mask &= ~group;
    }
}

/* ---- local memory ---- */

static void set_written(const gd_cta *cta, uint32_t thread, uint64_t start, uint64_t bytes,
                        bool written)
{
    for (uint64_t bit = (uint64_t)thread * cta->local_bytes + start, end = bit + bytes; bit < end;
         bit++) {
        const unsigned char mask = (unsigned char)(1u << (bit & 7));
        if (written)
            cta->local_written[bit >> 3] |= mask;
        else
            cta->local_written[bit >> 3] &= (unsigned char)~mask;
    }
}

static bool is_written(const gd_cta *cta, uint32_t thread, uint64_t start, uint64_t bytes)
{
    for (uint64_t bit = (uint64_t)thread * cta->local_bytes + start, end = bit + bytes; bit < end;
         bit++) {
        if (cta->local_written[bit >> 3] >> (bit & 7) & 1)
            return true;
    }
    return false;
}

void gd_check_frame(const gd_warp *warp, uint32_t lane, uint64_t start, uint32_t bytes)
{
    if (warp->cta->local_written)
        set_written(warp->cta, warp->index * GD_LANES + lane, start, bytes, false);
}

void gd_check_argument(const gd_warp *warp, uint32_t lane, uint64_t start, uint32_t bytes)
{
    if (warp->cta->local_written)
        set_written(warp->cta, warp->index * GD_LANES + lane, start, bytes, true);
}

static void report_local(const gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address,
                         uint32_t bytes)
{
    const gd_race_access access = {.bytes = bytes};
    char text[128];

    snprintf(text, sizeof text,
             "reads local memory, byte %" PRIu64 ", where nothing has been written", address);
    report(warp, code, lane, &access, "uninitialized", NULL, 0, text, NULL);
}

/* A read of which some bytes have been written is let pass: structures have padding. */
static void check_local(const gd_warp *warp, const gd_code *code, uint32_t lane, uint64_t address,
                        const gd_check *check)
{
    const gd_cta *cta = warp->cta;
    const uint32_t thread = warp->index * GD_LANES + lane;

    if (check->action == GD_ACTION_READ && !is_written(cta, thread, address, check->bytes))
        report_local(warp, code, lane, address, check->bytes);
    else if (check->action == GD_ACTION_READ)
        return;
    set_written(cta, thread, address, check->bytes, true);
}

static void check_locals(const gd_warp *warp, const gd_code *code, uint32_t mask,
                         const gd_check *check, const uint64_t *addresses)
{
    GD_EACH_LANE(lane, warp->cta->local_written ? mask : 0)
    {
        check_local(warp, code, lane, addresses[lane], check);
    }
}

/* ---- accesses ---- */

void gd_check_access(gd_warp *warp, const gd_code *code, uint32_t mask, const gd_check *check)
{
    gd_race_operation operation;
    uint64_t addresses[GD_LANES];
    uint32_t shared = 0, global = 0, local = 0;

    if (check->space == GD_AT_LOCAL)
        check_locals(warp, code, mask, check, check->addresses);
    if (check->space == GD_AT_LOCAL || check->space == GD_AT_CONSTANT)
        return;
    operation = describe(warp, code, mask, check);
    if (check->space == GD_AT_GLOBAL) {
        check_global(warp, code, mask, &operation);
        return;
    }
    if (check->space == GD_AT_SHARED || check->space == GD_AT_CLUSTER) {
        check_shared(warp, code, mask, &operation);
        return;
    }
    GD_EACH_LANE(lane, mask)
    {
        addresses[lane] = check->addresses[lane];
        gd_space space = gd_resolve(check->space, &addresses[lane]);
        shared |= space == GD_AT_SHARED || space == GD_AT_CLUSTER ? UINT32_C(1) << lane : 0;
        global |= space == GD_AT_GLOBAL ? UINT32_C(1) << lane : 0;
        local |= space == GD_AT_LOCAL ? UINT32_C(1) << lane : 0;
    }
    check_locals(warp, code, local, check, addresses);
    operation.addresses = addresses;
    if (global)
        check_global(warp, code, global, &operation);
    if (shared)
        check_shared(warp, code, shared, &operation);
}

/* The pieces from the first on that lie in the same allocation, or in the shared memory of the same
 * CTA. */
static uint32_t count_alike(gd_warp *warp, const gd_code *code, gd_space space,
                            const gd_race_piece *pieces, uint32_t count)
{
    const gd_allocation *item =
        space == GD_AT_GLOBAL ? gd_allocation_find(warp->cta, code, pieces->address) : NULL;
    uint32_t alike = 1;

    while (alike < count &&
           (item ? pieces[alike].address - item->start < item->bytes
                 : pieces[alike].address >> GD_RANK_SHIFT == pieces->address >> GD_RANK_SHIFT))
        alike++;
    return alike;
}

static void check_alike(gd_warp *warp, const gd_code *code, uint32_t lane, gd_space space,
                        const gd_race_operation *operation, const gd_race_piece *pieces,
                        uint32_t count)
{
    uint64_t address = pieces->address;

    if (space == GD_AT_GLOBAL) {
        gd_allocation *item = gd_allocation_find(warp->cta, code, address);
        gd_shadow *shadow = item ? gd_check_shadow(warp->cta->view->race, item) : NULL;
        if (item)
            check_constant(warp, code, lane, item, address, operation);
        bool told = false;
        for (uint32_t i = 0; i < count && warp->cta->view->reaches && !told; i++)
            told =
                check_extent(warp, code, lane, item, pieces[i].address, pieces[i].bytes, operation);
        if (shadow)
            gd_race_global_pieces(warp->cta->race, shadow, operation, pieces, count);
    } else if (space == GD_AT_SHARED || space == GD_AT_CLUSTER) {
        gd_race_cta *owner = gd_check_owner(warp, space, &address);
        if (owner)
            check_start(warp, code, lane, owner, operation->action, (uint32_t)pieces->bytes);
        if (owner)
            gd_race_shared_pieces(warp->cta->race, owner, operation, pieces, count);
    }
}

void gd_check_pieces(gd_warp *warp, const gd_code *code, uint32_t lane, const gd_check_kind *kind,
                     const gd_race_piece *pieces, uint32_t count)
{
    /* Each element of a bulk reduction is a relaxed operation of scope gpu (PTX ISA,
     * cp.reduce.async.bulk). */
    const uint8_t relaxed = GD_ORDER_STRONG | GD_SCOPE_GPU << GD_ORDER_SCOPE_SHIFT;
    const gd_check check = {.action = kind->action,
                            .async = kind->async,
                            .order = kind->action == GD_ACTION_ATOMIC ? relaxed : 0};
    gd_race_operation operation = describe(warp, code, UINT32_C(1) << lane, &check);

    operation.warpgroup = kind->warpgroup;
    for (uint32_t done = 0; done < count;) {
        uint32_t alike = count_alike(warp, code, kind->space, pieces + done, count - done);
        check_alike(warp, code, lane, kind->space, &operation, pieces + done, alike);
        done += alike;
    }
}

void gd_check_mbarrier(gd_warp *warp, const gd_code *code, uint32_t lane, gd_space space,
                       uint64_t address, bool arrives)
{
    uint64_t addresses[GD_LANES];
    const gd_check check = {.bytes = 8,
                            .action = arrives ? GD_ACTION_ATOMIC : GD_ACTION_READ,
                            .order = GD_ORDER_STRONG | GD_SCOPE_CLUSTER << GD_ORDER_SCOPE_SHIFT,
                            .addresses = addresses};
    gd_race_cta *owner = gd_check_owner(warp, space, &address);
    const gd_race_operation operation = describe(warp, code, UINT32_C(1) << lane, &check);

    addresses[lane] = address;
    if (owner)
        check_start(warp, code, lane, owner, check.action, check.bytes);
    gd_race_mbarrier_access(warp->cta->race, owner, &operation);
}

void gd_check_init(gd_warp *warp, const gd_code *code, uint32_t lane, gd_space space,
                   uint64_t address)
{
    gd_race_cta *owner = gd_check_owner(warp, space, &address);

    gd_race_mbarrier_init(owner, warp->index, lane,
                          find_site(warp->cta->view->race, warp->cta->image, code), address);
}

void gd_check_range(gd_warp *warp, const gd_code *code, uint32_t lane, gd_space space,
                    uint64_t address, uint64_t bytes, gd_action action, bool async)
{
    const gd_check_kind kind = {
        .space = gd_resolve(space, &address), .action = action, .async = async};
    const gd_race_piece piece = {address, bytes};

    if (bytes)
        gd_check_pieces(warp, code, lane, &kind, &piece, 1);
}

/* The check of a chain: what stands behind each argument, and the launches as ptx/check wants
 * them. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/launches.h"
#include "run/chain.h"
#include "run/module.h"
#include "run/require.h"

/* ---- addresses ---- */

/* An argument as a stretch of memory. */
typedef struct gd_chain_stretch {
    uint64_t start, end;
    uint32_t place; /* among all the chain's arguments */
    bool said;
} gd_chain_stretch;

static void read_address(const gd_chain_launch *launch, uint32_t argument,
                         gd_chain_address *address)
{
    *address = (gd_chain_address){0};
    if (launch->entry) {
        if (launch->entry->addresses)
            *address = launch->entry->addresses[argument];
        return;
    }
    const gd_call *call = launch->call;
    if (call->kernel->parameters[argument].bytes != sizeof address->at)
        return;
    memcpy(&address->at, call->pointers[argument], sizeof address->at);
    if (gd_require_reach(call->kernel, &call->launch, call->pointers, argument, &address->bytes,
                         NULL))
        address->bytes = 0;
}

static int compare_starts(const void *left, const void *right)
{
    const gd_chain_stretch *a = left, *b = right;

    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* A stretch whose length is not known ends where the next one begins. */
static void close_stretches(gd_chain_stretch *list, uint32_t count)
{
    uint64_t next = UINT64_MAX;

    for (uint32_t i = count; i-- > 0;) {
        if (i + 1 < count && list[i + 1].start != list[i].start)
            next = list[i + 1].start;
        if (list[i].end == list[i].start)
            list[i].end = next;
    }
}

/* The uses of [first, end), whose stretches overlap, are of one buffer: the one that a caller named,
 * or one that goes by the first of their places until
 * number_buffers. */
static void join(const gd_chain_stretch *list, uint32_t first, uint32_t end, griddep_use *uses)
{
    const gd_chain_stretch *named = NULL;
    uint32_t lowest = UINT32_MAX;

    for (uint32_t i = first; i < end; i++) {
        if (list[i].said && !named)
            named = &list[i];
        lowest = list[i].place < lowest ? list[i].place : lowest;
    }
    uint64_t base = named ? named->start - uses[named->place].offset : list[first].start;
    for (uint32_t i = first; i < end; i++) {
        griddep_use *use = &uses[list[i].place];
        if (list[i].said)
            continue;
        use->buffer = named ? uses[named->place].buffer : lowest + 1;
        use->reserved = !named;
        use->offset = list[i].start - base;
        use->bytes = list[i].end == UINT64_MAX ? 0 : list[i].end - list[i].start;
    }
}

static void infer(gd_chain_stretch *list, uint32_t count, griddep_use *uses)
{
    uint32_t first = 0;
    uint64_t reach = 0;

    qsort(list, count, sizeof *list, compare_starts);
    close_stretches(list, count);
    for (uint32_t i = 0; i < count; i++) {
        if (i > first && list[i].start >= reach) {
            join(list, first, i, uses);
            first = i;
        }
        reach = i == first || list[i].end > reach ? list[i].end : reach;
    }
    if (count)
        join(list, first, count, uses);
}

/* ---- uses ---- */

static bool is_said(const gd_chain_launch *launch, uint32_t argument)
{
    return launch->uses && launch->uses[argument].size;
}

/* Arguments that are no addresses have no stretch. */
static bool make_stretch(const gd_chain_launch *launch, uint32_t argument, const griddep_use *use,
                         gd_chain_stretch *stretch)
{
    gd_chain_address address;

    read_address(launch, argument, &address);
    if (!address.at || (is_said(launch, argument) && !use->buffer))
        return false;
    uint64_t bytes = is_said(launch, argument) ? use->bytes : address.bytes;
    uint64_t most = UINT64_MAX - address.at;
    stretch->start = address.at;
    stretch->end = address.at + (bytes < most ? bytes : most);
    stretch->said = is_said(launch, argument);
    return true;
}

/* Buffers that nobody named are numbered behind those that somebody did, as they are met. */
static void number_buffers(griddep_use *uses, uint32_t count)
{
    uint32_t last = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!uses[i].reserved && uses[i].buffer > last)
            last = uses[i].buffer;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (uses[i].reserved)
            uses[i].buffer = uses[i].buffer == i + 1 ? ++last : uses[uses[i].buffer - 1].buffer;
        uses[i].reserved = 0;
    }
}

int32_t gd_chain_read_uses(const griddep_chain *chain, griddep_use **uses, griddep_error *error)
{
    uint64_t total = 0;
    uint32_t place = 0, count = 0;

    for (uint32_t i = 0; i < chain->count; i++)
        total += chain->launches[i].argument_count;
    if (total > INT32_MAX)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "the launches have too many arguments");
    griddep_use *made = calloc(total + 1, sizeof *made);
    gd_chain_stretch *list = calloc(total + 1, sizeof *list);
    if (!made || !list) {
        free(made);
        free(list);
        return gd_error_memory(error);
    }
    for (uint32_t i = 0; i < chain->count; i++) {
        const gd_chain_launch *launch = &chain->launches[i];
        for (uint32_t k = 0; k < launch->argument_count; k++, place++) {
            made[place] =
                is_said(launch, k) ? launch->uses[k] : (griddep_use){.size = sizeof(griddep_use)};
            list[count].place = place;
            count += make_stretch(launch, k, &made[place], &list[count]);
        }
    }
    infer(list, count, made);
    number_buffers(made, place);
    free(list);
    *uses = made;
    return GRIDDEP_OK;
}

/* ---- the check ---- */

static gd_check_launch describe(const griddep_chain *chain, uint32_t index, const griddep_use *uses)
{
    const gd_chain_launch *launch = &chain->launches[index];
    const gd_chain_entry *entry = launch->entry;

    return (gd_check_launch){.node = GD_CHECK_KERNEL,
                             .ptx = entry ? entry->ptx : launch->call->kernel->module->ptx,
                             .entry = entry ? entry->name : launch->call->kernel->name,
                             .uses = uses,
                             .use_count = launch->argument_count,
                             .pdl = entry ? entry->pdl : launch->call->launch.pdl,
                             .lane = launch->lane,
                             .after_count = launch->on_count,
                             .after = launch->on};
}

int32_t gd_chain_check_as(const griddep_chain *chain, const griddep_ptx *const *texts,
                          const int32_t *pdl, griddep_findings **findings, griddep_error *error)
{
    gd_check_launch *launches = calloc((size_t)chain->count + 1, sizeof *launches);
    griddep_use *uses = NULL;
    uint32_t place = 0;

    if (!launches)
        return gd_error_memory(error);
    int32_t status = gd_chain_read_uses(chain, &uses, error);
    for (uint32_t i = 0; i < chain->count && !status; i++) {
        launches[i] = describe(chain, i, uses + place);
        if (texts && texts[i])
            launches[i].ptx = texts[i];
        if (pdl)
            launches[i].pdl = pdl[i];
        place += chain->launches[i].argument_count;
    }
    if (!status)
        status = gd_check_launches(launches, chain->count, findings, error);
    free(uses);
    free(launches);
    return status;
}

int32_t griddep_chain_check(const griddep_chain *chain, griddep_findings **findings,
                            griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!chain || !findings)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL",
                            chain ? "findings" : "chain");
    return gd_chain_check_as(chain, NULL, NULL, findings, error);
}

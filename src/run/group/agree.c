/* What the chains of a group's members do in it: each member's n-th chain with hops is compared
 * with the n-th of each other one, hop by hop, before it runs.
 *
 * Nobody waits here: who comes first tells and finds nothing to compare with, who comes later
 * compares. A member that never comes is told by the kernels, after their time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/error.h"
#include "run/group/group.h"

/* ---- programs ---- */

static gd_group_program *make_program(griddep_group *group, uint32_t member, uint32_t lane)
{
    gd_group_program *made = calloc(1, sizeof *made);

    if (!made)
        return NULL;
    made->group = gd_group_hold(group);
    made->member = member;
    made->lane = lane;
    pthread_mutex_lock(&group->mutex);
    made->number = ++group->members[member].programs;
    pthread_mutex_unlock(&group->mutex);
    return made;
}

int32_t gd_group_find_program(gd_group_program **programs, griddep_group *group, uint32_t member,
                              uint32_t lane, gd_group_program **found, griddep_error *error)
{
    gd_group_program **at = programs;

    while (*at && (*at)->group != group)
        at = &(*at)->next;
    if (!*at)
        *at = make_program(group, member, lane);
    if (!*at)
        return gd_error_memory(error);
    if ((*at)->lane != lane)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "a hop in lane %" PRIu32 " of a chain whose first hop of this group is "
                            "in lane %" PRIu32 "; hops of a group follow each other in one lane",
                            lane, (*at)->lane);
    *found = *at;
    return GRIDDEP_OK;
}

int32_t gd_group_add_step(gd_group_program *program, const gd_group_step *step, uint32_t *number,
                          griddep_error *error)
{
    griddep_group *group = program->group;
    int32_t status = GRIDDEP_OK;

    if (program->count == program->capacity) {
        const uint32_t capacity = program->capacity ? program->capacity * 2 : 16;
        gd_group_step *more = realloc(program->steps, capacity * sizeof *more);
        if (!more)
            return gd_error_memory(error);
        program->steps = more;
        program->capacity = capacity;
    }
    pthread_mutex_lock(&group->mutex);
    if (group->step_count == group->step_capacity) {
        const uint32_t capacity = group->step_capacity ? group->step_capacity * 2 : 16;
        gd_group_step *more = realloc(group->steps, capacity * sizeof *more);
        if (more) {
            group->steps = more;
            group->step_capacity = capacity;
        } else {
            status = gd_error_memory(error);
        }
    }
    if (!status) {
        *number = group->step_count;
        group->steps[group->step_count++] = *step;
    }
    pthread_mutex_unlock(&group->mutex);
    if (status)
        return status;
    program->steps[program->count++] = *step;
    program->told = false;
    return GRIDDEP_OK;
}

void gd_group_drop_step(gd_group_program *program)
{
    program->count--;
}

void gd_group_end_programs(gd_group_program *programs)
{
    for (gd_group_program *program = programs, *next; program; program = next) {
        next = program->next;
        gd_group_release(program->group);
        free(program->steps);
        free(program);
    }
}

/* ---- pages ---- */

static gd_group_page *page_of(const griddep_group *group, uint32_t member, uint32_t number)
{
    return &group->members[member].pages[number % GD_GROUP_PROGRAMS];
}

/* Of all that must be the same on all members. */
static void digest_steps(const gd_group_program *program, uint8_t result[32])
{
    gd_digest digest;

    gd_digest_begin(&digest);
    for (uint32_t i = 0; i < program->count; i++) {
        const gd_group_step *step = &program->steps[i];
        gd_digest_add(&digest, &step->operation, sizeof step->operation);
        gd_digest_add(&digest, &step->type, sizeof step->type);
        gd_digest_add(&digest, &step->count, sizeof step->count);
        gd_digest_add(&digest, &step->root, sizeof step->root);
    }
    gd_digest_end(&digest, result);
}

static void tell(const gd_group_program *program)
{
    gd_group_page *page = page_of(program->group, program->member, program->number);

    atomic_store_explicit(&page->number, 0, memory_order_seq_cst);
    page->count = program->count;
    page->known = program->count < GD_GROUP_STEPS ? program->count : GD_GROUP_STEPS;
    digest_steps(program, page->digest);
    memcpy(page->steps, program->steps, page->known * sizeof *page->steps);
    atomic_store_explicit(&page->number, program->number, memory_order_seq_cst);
}

/* ---- pages of other machines ---- */

/* A word has the digest and the first hops, as many as it has room for. */
enum { WORD_STEPS = (sizeof((gd_meeting_word *)NULL)->note - 32) / sizeof(gd_group_step) };

static void tell_hosts(const gd_group_program *program)
{
    griddep_group *group = program->group;
    const gd_group_page *page = page_of(group, program->member, program->number);
    gd_meeting_word word = {.values = {program->number, page->count}};

    memcpy(word.note, page->digest, sizeof page->digest);
    memcpy(word.note + sizeof page->digest, page->steps, WORD_STEPS * sizeof *page->steps);
    pthread_mutex_lock(&group->mutex);
    gd_meeting_tell(group->meeting, &word);
    pthread_mutex_unlock(&group->mutex);
}

static void hear_hosts(griddep_group *group)
{
    pthread_mutex_lock(&group->mutex);
    gd_meeting_tell(group->meeting, NULL);
    pthread_mutex_unlock(&group->mutex);
}

static bool is_remote(const griddep_group *group)
{
    return group->meeting && gd_meeting_is_remote(group->meeting);
}

/* Nothing is taken for right that came by the wire: a step that is none is not kept. */
void gd_group_hear(void *user, uint32_t rank, const gd_meeting_word *word)
{
    griddep_group *group = user;
    const uint32_t number = (uint32_t)word->values[0];

    if (!group->board || !number || rank == group->rank)
        return;
    gd_group_page *page = page_of(group, rank, number), *own = page_of(group, group->rank, number);
    atomic_store_explicit(&page->number, 0, memory_order_seq_cst);
    page->count = (uint32_t)word->values[1];
    memcpy(page->digest, word->note, sizeof page->digest);
    memcpy(page->steps, word->note + sizeof page->digest, WORD_STEPS * sizeof *page->steps);
    page->known = 0;
    while (page->known < WORD_STEPS && page->known < page->count &&
           page->steps[page->known].operation >= GRIDDEP_HOP_ALL_REDUCE &&
           page->steps[page->known].operation <= GRIDDEP_HOP_EXCHANGE &&
           page->steps[page->known].type >= GRIDDEP_TENSOR_U8 &&
           page->steps[page->known].type <= GRIDDEP_TENSOR_BF16)
        page->known++;
    atomic_store_explicit(&page->number, number, memory_order_seq_cst);
    if (atomic_load(&own->number) == number)
        atomic_store(&own->disputed, true); /* it is compared once more */
}

/* ---- comparing ---- */

/* What two members say of the same hop; NULL: they agree. */
static const char *find_difference(const gd_group_step *own, uint32_t member,
                                   const gd_group_step *its, uint32_t other)
{
    const int32_t self = (int32_t)member, peer = (int32_t)other;

    if (own->operation != its->operation || own->type != its->type || own->count != its->count)
        return "what they do differs";
    if (own->root != its->root)
        return "their roots differ";
    if (own->operation == GRIDDEP_HOP_EXCHANGE &&
        ((own->to == peer) != (its->from == self) || (own->from == peer) != (its->to == self)))
        return "one of them sends what the other does not receive";
    return NULL;
}

static int32_t compare(const gd_group_program *program, uint32_t other, const gd_group_page *page,
                       griddep_error *error)
{
    const uint32_t shorter = program->count < page->count ? program->count : page->count;
    uint8_t digest[32];
    char own[64], its[64];

    for (uint32_t i = 0; i < shorter && i < page->known; i++) {
        const char *why =
            find_difference(&program->steps[i], program->member, &page->steps[i], other);
        if (why)
            return gd_error_set(error, GRIDDEP_ERROR_PEER,
                                "chain %" PRIu32 " of the group: hop %" PRIu32 " of member %" PRIu32
                                " is %s, of member %" PRIu32 " %s: %s",
                                program->number - 1, i, program->member,
                                gd_group_step_text(&program->steps[i], own), other,
                                gd_group_step_text(&page->steps[i], its), why);
    }
    if (program->count != page->count)
        return gd_error_set(error, GRIDDEP_ERROR_PEER,
                            "chain %" PRIu32 " of the group: member %" PRIu32 " has %" PRIu32
                            " hops, member %" PRIu32 " %" PRIu32,
                            program->number - 1, program->member, program->count, other,
                            page->count);
    digest_steps(program, digest);
    if (memcmp(digest, page->digest, sizeof digest) != 0)
        return gd_error_set(error, GRIDDEP_ERROR_PEER,
                            "chain %" PRIu32 " of the group: hops of members %" PRIu32
                            " and %" PRIu32 " differ behind the first %" PRIu32,
                            program->number - 1, program->member, other, page->known);
    return GRIDDEP_OK;
}

static int32_t agree(gd_group_program *program, griddep_error *error)
{
    const griddep_group *group = program->group;
    int32_t status = GRIDDEP_OK;

    atomic_store(&page_of(group, program->member, program->number)->disputed, false);
    tell(program);
    if (is_remote(group))
        tell_hosts(program);
    for (uint32_t i = 0; i < group->count && !status; i++) {
        gd_group_page *page = page_of(group, i, program->number);
        if (i == program->member ||
            atomic_load_explicit(&page->number, memory_order_seq_cst) != program->number)
            continue;
        status = compare(program, i, page, error);
        if (status)
            atomic_store(&page->disputed, true); /* who has run in vain is told by its next run */
    }
    program->told = !status;
    return status;
}

int32_t gd_group_agree(gd_group_program *programs, griddep_error *error)
{
    int32_t status = GRIDDEP_OK;

    for (gd_group_program *program = programs; program && !status; program = program->next) {
        status = gd_group_read_records(program->group, error);
        if (!status && is_remote(program->group))
            hear_hosts(program->group);
        if (!status &&
            (!program->told ||
             atomic_load(&page_of(program->group, program->member, program->number)->disputed)))
            status = agree(program, error);
    }
    return status;
}

/* The check of a chain: what stands behind each argument, and the launches as ptx/check wants
 * them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "ptx/check/launches.h"
#include "ptx/require/tensor_map.h"
#include "run/chain/chain.h"
#include "run/private.h"
#include "run/module/module.h"
#include "run/launch/require.h"

/* ---- addresses ---- */

/* An argument as a stretch of memory. */
typedef struct gd_chain_stretch {
    uint64_t start, end;
    uint32_t place; /* among all the chain's arguments */
    bool said;
    bool open;  /* nobody tells where it ends */
    bool stray; /* it is in no memory that the driver knows or somebody told of */
} gd_chain_stretch;

static void read_address(const gd_chain_launch *launch, uint32_t argument,
                         gd_chain_address *address)
{
    *address = (gd_chain_address){0};
    if (argument >= launch->given.use_count) {
        const griddep_use *reach = &launch->given.reaches[argument - launch->given.use_count];
        if (!reach->buffer)
            *address = (gd_chain_address){reach->offset, reach->bytes};
        return;
    }
    if (launch->large) {
        *address =
            argument
                ? (gd_chain_address){gd_chain_move_of(launch)->target, launch->large->target_bytes}
                : (gd_chain_address){gd_chain_move_of(launch)->source, launch->large->source_bytes};
        return;
    }
    if (launch->given.node != GRIDDEP_GRAPH_NODE_KERNEL) {
        *address = (gd_chain_address){argument ? gd_chain_move_of(launch)->source
                                               : gd_chain_move_of(launch)->target,
                                      gd_chain_move_of(launch)->bytes};
        return;
    }
    const gd_call *call = gd_chain_call(launch);
    if (!call) {
        if (launch->addresses)
            *address = launch->addresses[argument];
        return;
    }
    gd_tensor_map map;
    if (call->kernel->parameters[argument].bytes == GD_TENSOR_MAP_BYTES &&
        gd_tensor_map_read(call->pointers[argument], &map)) {
        *address = (gd_chain_address){map.address, gd_tensor_map_extent(&map)};
        return;
    }
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

/* Where the allocation that an address is in ends; 0 where the driver does not know it. The context
 * is current. */
static uint64_t find_end(const gd_driver *driver, uint64_t address)
{
    uint64_t start = 0, bytes = 0;

    if (driver->cuPointerGetAttribute(&start, GD_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) !=
            GD_CUDA_SUCCESS ||
        driver->cuPointerGetAttribute(&bytes, GD_CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) !=
            GD_CUDA_SUCCESS)
        return 0;
    return start <= address && address - start < bytes ? start + bytes : 0;
}

/* Where the buffers that the caller told of end which an address is in; 0: there is none. */
static uint64_t find_told_end(const griddep_chain *chain, uint64_t address)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < chain->buffer_count; i++) {
        const gd_chain_address *buffer = &chain->buffers[i];
        if (address >= buffer->at && address - buffer->at < buffer->bytes &&
            buffer->at + buffer->bytes > end)
            end = buffer->at + buffer->bytes;
    }
    return end;
}

/* An open stretch may reach to the end of its allocation. In a chain without a runtime nobody knows
 * that, and it ends where the next one begins. What a driver does not know is no address, but may
 * lead to one. */
static int32_t close_stretches(const griddep_chain *chain, gd_chain_stretch *list, uint32_t count,
                               griddep_error *error)
{
    uint64_t next = UINT64_MAX;
    bool entered = false, pushed;

    for (uint32_t i = count; i-- > 0;) {
        if (i + 1 < count && list[i + 1].start != list[i].start)
            next = list[i + 1].start;
        if (list[i].open && (list[i].end = find_told_end(chain, list[i].start)))
            list[i].open = false;
        if (!list[i].open)
            continue;
        if (chain->runtime && !entered) {
            int32_t status = gd_runtime_enter(chain->runtime, &pushed, error);
            if (status)
                return status;
            entered = true;
        }
        const uint64_t end = entered ? find_end(chain->runtime->driver, list[i].start) : 0;
        list[i].end = end ? end : next;
        list[i].stray = entered && !end && !list[i].said;
    }
    if (entered)
        gd_runtime_leave(chain->runtime, pushed);
    return GRIDDEP_OK;
}

/* The uses of [first, end), whose stretches overlap, are of one buffer: the one that a caller
 * named, or one that goes by the first of their places until
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
        /* What begins before the buffer of a name reaches into it from its start on. */
        const uint64_t start = list[i].start > base ? list[i].start : base;
        use->offset = start - base;
        use->bytes = list[i].open ? 0 : list[i].end > start ? list[i].end - start : 1;
    }
}

static uint32_t drop_strays(gd_chain_stretch *list, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        if (!list[i].stray)
            list[kept++] = list[i];
    }
    return kept;
}

static int32_t infer(const griddep_chain *chain, gd_chain_stretch *list, uint32_t count,
                     griddep_use *uses, griddep_error *error)
{
    uint32_t first = 0;
    uint64_t reach = 0;

    qsort(list, count, sizeof *list, compare_starts);
    int32_t status = close_stretches(chain, list, count, error);
    if (status)
        return status;
    count = drop_strays(list, count);
    for (uint32_t i = 0; i < count; i++) {
        if (i > first && list[i].start >= reach) {
            join(list, first, i, uses);
            first = i;
        }
        reach = i == first || list[i].end > reach ? list[i].end : reach;
    }
    if (count)
        join(list, first, count, uses);
    return GRIDDEP_OK;
}

/* ---- uses ---- */

static bool is_said(const gd_chain_launch *launch, uint32_t argument)
{
    return argument < launch->given.use_count && launch->given.uses &&
           launch->given.uses[argument].size;
}

/* What is known of an argument that nobody said anything about: a copy or fill writes its target,
 * argument 0, and a copy reads its source; a hop of NCCL has them as its kernels do. */
static griddep_use default_use(const gd_chain_launch *launch, uint32_t argument)
{
    const bool kernel = launch->given.node == GRIDDEP_GRAPH_NODE_KERNEL;
    const uint32_t target = launch->large != NULL;

    return (griddep_use){.size = sizeof(griddep_use),
                         .access = kernel               ? GRIDDEP_ACCESS_UNKNOWN
                                   : argument != target ? GRIDDEP_ACCESS_READ
                                                        : GRIDDEP_ACCESS_WRITE};
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
    stretch->open = !bytes;
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

/* Whether an argument is NULL, or no pointer by what was said of it. */
static bool is_null(const gd_chain_launch *launch, uint32_t argument)
{
    if (is_said(launch, argument) || launch->given.node != GRIDDEP_GRAPH_NODE_KERNEL)
        return true;
    if (!gd_chain_call(launch))
        return launch->addresses && !launch->addresses[argument].at &&
               !launch->addresses[argument].bytes;
    const unsigned char *value = gd_chain_call(launch)->pointers[argument];
    const uint32_t bytes = gd_chain_call(launch)->kernel->parameters[argument].bytes;
    return !bytes || (!value[0] && !memcmp(value, value + 1, bytes - 1));
}

/* Of an argument, or of what the launch is said to reach: there by its address, the buffer is
 * inferred. */
static griddep_use use_of(const gd_chain_launch *launch, uint32_t argument)
{
    const gd_check_launch *given = &launch->given;

    if (argument < given->use_count)
        return is_said(launch, argument) ? given->uses[argument] : default_use(launch, argument);
    griddep_use use = given->reaches[argument - given->use_count];
    if (!use.buffer)
        use.offset = 0;
    return use;
}

static uint32_t count_of(const gd_chain_launch *launch)
{
    return launch->given.use_count + launch->given.reach_count;
}

static uint64_t count_uses(const griddep_chain *chain)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < chain->count; i++)
        count += count_of(&chain->launches[i]);
    return count;
}

int32_t gd_chain_read_uses(const griddep_chain *chain, griddep_use **uses, griddep_error *error)
{
    const uint64_t total = count_uses(chain);
    uint32_t place = 0, count = 0;

    if (total > INT32_MAX)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "the launches have too many arguments");
    griddep_use *made = calloc(total + 1, sizeof *made);
    gd_chain_stretch *list = calloc(total + 1, sizeof *list);
    int32_t status = made && list ? GRIDDEP_OK : gd_error_memory(error);
    for (uint32_t i = 0; i < chain->count && !status; i++) {
        const gd_chain_launch *launch = &chain->launches[i];
        for (uint32_t k = 0; k < count_of(launch); k++, place++) {
            made[place] = use_of(launch, k);
            list[count].place = place;
            count += make_stretch(launch, k, &made[place], &list[count]);
        }
    }
    if (!status)
        status = infer(chain, list, count, made, error);
    free(list);
    if (status) {
        free(made);
        return status;
    }
    number_buffers(made, place);
    place = 0;
    for (uint32_t i = 0; i < chain->count; i++) {
        const gd_chain_launch *launch = &chain->launches[i];
        for (uint32_t k = 0; k < launch->given.use_count; k++)
            made[place + k].reserved =
                !made[place + k].buffer && is_null(launch, k) ? GD_USE_NULL : 0;
        place += count_of(launch);
    }
    *uses = made;
    return GRIDDEP_OK;
}

/* ---- launches ---- */

/* Adds what the call of a launch tells now. */
static void ask_call(const gd_chain_launch *launch, gd_check_launch *given)
{
    const griddep_kernel *kernel = gd_chain_kernel(launch);

    given->entry = gd_chain_kernel_name(launch);
    if (!kernel)
        return;
    given->ptx = kernel->module->ptx;
    given->variables_exposed = atomic_load(&kernel->module->variables_known);
    given->pdl = gd_chain_call(launch)->launch.pdl;
    given->traits = kernel->info.traits;
}

/* All launches, with room for as many more. */
static gd_check_launch *describe_all(const griddep_chain *chain, griddep_use *uses)
{
    gd_check_launch *launches = calloc((size_t)chain->count * 2 + 1, sizeof *launches);

    for (uint32_t i = 0; i < chain->count && launches; i++) {
        launches[i] = chain->launches[i].given;
        ask_call(&chain->launches[i], &launches[i]);
        launches[i].uses = uses;
        launches[i].reaches = uses + launches[i].use_count;
        uses += count_of(&chain->launches[i]);
    }
    return launches;
}

/* ---- what is written ---- */

/* The bytes behind an argument that are told. */
static uint64_t told_bytes(const gd_chain_launch *launch, uint32_t argument)
{
    gd_chain_address address;

    if (is_said(launch, argument))
        return launch->given.uses[argument].bytes;
    read_address(launch, argument, &address);
    return address.bytes;
}

static int32_t look_at_writes(const griddep_chain *chain, griddep_use *uses, bool *writes,
                              bool *anywhere, griddep_error *error)
{
    gd_check_launch *launches = describe_all(chain, uses);
    int32_t status = launches ? gd_check_writes(launches, chain->count, writes, anywhere, error)
                              : gd_error_memory(error);

    free(launches);
    return status;
}

int32_t gd_chain_read_writes(const griddep_chain *chain, griddep_use *uses, uint64_t *bytes,
                             griddep_error *error)
{
    uint32_t place = 0;
    bool *writes = calloc(count_uses(chain) + 1, sizeof *writes);
    int32_t status =
        writes ? look_at_writes(chain, uses, writes, NULL, error) : gd_error_memory(error);
    for (uint32_t i = 0; i < chain->count && !status; i++) {
        const gd_chain_launch *launch = &chain->launches[i];
        for (uint32_t k = 0; k < launch->given.use_count; k++, place++) {
            const bool written = writes[place] && uses[k].buffer;
            const uint64_t told = written ? told_bytes(launch, k) : 0;
            bytes[place] = told ? told : written;
        }
        uses += count_of(launch);
    }
    free(writes);
    return status;
}

int32_t gd_chain_find_writes(const griddep_chain *chain, bool *writes, uint64_t count,
                             bool *anywhere, griddep_error *error)
{
    griddep_use *uses = NULL;
    uint64_t own = 0;

    for (uint32_t i = 0; i < chain->count; i++)
        own += chain->launches[i].given.use_count;
    if (own != count)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "the launches have %" PRIu64 " arguments, not %" PRIu64, own, count);
    int32_t status = gd_chain_read_uses(chain, &uses, error);
    if (!status)
        status = look_at_writes(chain, uses, writes, anywhere, error);
    free(uses);
    return status;
}

int32_t gd_chain_find_sharing(const griddep_chain *chain, uint32_t *first, uint32_t *second,
                              griddep_error *error)
{
    griddep_use *uses = NULL;
    int32_t status = gd_chain_read_uses(chain, &uses, error);
    gd_check_launch *launches = status ? NULL : describe_all(chain, uses);

    if (!status)
        status = launches ? gd_check_sharing(launches, chain->count, first, second, error)
                          : gd_error_memory(error);
    free(launches);
    free(uses);
    return status;
}

/* ---- the check ---- */

int32_t gd_chain_check_as(const griddep_chain *chain, const griddep_ptx *const *texts,
                          const int32_t *pdl, griddep_findings **findings, griddep_error *error)
{
    griddep_use *uses = NULL;
    int32_t status = gd_chain_read_uses(chain, &uses, error);
    gd_check_launch *launches = status ? NULL : describe_all(chain, uses);

    if (!status && !launches)
        status = gd_error_memory(error);
    for (uint32_t i = 0; i < chain->count && !status; i++) {
        if (texts && texts[i])
            launches[i].ptx = texts[i];
        if (pdl)
            launches[i].pdl = pdl[i];
    }
    if (!status)
        status = gd_check_launches(launches, chain->count, findings, error);
    free(uses);
    free(launches);
    return status;
}

/* ---- races alone ---- */

/* Again and again, while arguments change: what is known of the kernels is kept. */
static int32_t look(griddep_chain *chain, const gd_check_launch *launches, uint32_t count,
                    griddep_findings **findings, griddep_error *error)
{
    if (!chain->facts && !(chain->facts = gd_check_facts_create()))
        return gd_error_memory(error);
    return gd_check_hazards(chain->facts, launches, count, findings, error);
}

/* ---- round after round ---- */

/* Of a chain with one lane that begins with a kernel: two rounds, of which the second begins early
 * or not. */
static int32_t check_rounds(griddep_chain *chain, griddep_use *uses, bool early,
                            griddep_findings **findings, griddep_error *error)
{
    const uint32_t count = chain->count;
    gd_check_launch *launches = describe_all(chain, uses);

    if (!launches)
        return gd_error_memory(error);
    memcpy(launches + count, launches, count * sizeof *launches);
    if (!early)
        launches[count].pdl = GRIDDEP_PDL_OFF;
    int32_t status = look(chain, launches, count * 2, findings, error);
    free(launches);
    return status;
}

static bool has_finding(const griddep_findings *findings, const griddep_finding *wanted)
{
    griddep_finding finding = {.size = sizeof finding};
    bool found = false;

    for (uint32_t i = 0; !found && !griddep_findings_get(findings, i, &finding, NULL); i++)
        found = finding.launch == wanted->launch && !strcmp(finding.code, wanted->code) &&
                !strcmp(finding.text, wanted->text);
    return found;
}

/* Whether the list had to leave some out that may be hazards. */
static bool leaves_out(const griddep_finding *finding)
{
    return !strcmp(finding->code, "GD004") && finding->severity >= GRIDDEP_SEVERITY_WARNING;
}

/* The first hazard that is in one list and not in the other one. */
static bool find_new_hazard(const griddep_findings *beside, const griddep_findings *behind,
                            griddep_finding *finding)
{
    for (uint32_t i = 0; !griddep_findings_get(beside, i, finding, NULL); i++) {
        if (leaves_out(finding) ||
            (gd_code_is_race(finding->code) && !has_finding(behind, finding)))
            return true;
    }
    return false;
}

static int32_t prove(griddep_chain *chain, griddep_use *uses, bool *safe, gd_text *text,
                     griddep_error *error)
{
    griddep_findings *behind = NULL, *beside = NULL;
    griddep_finding finding = {.size = sizeof finding};
    int32_t status = check_rounds(chain, uses, false, &behind, error);

    if (!status)
        status = check_rounds(chain, uses, true, &beside, error);
    *safe = !status && !find_new_hazard(beside, behind, &finding);
    if (!status && !*safe && text)
        gd_text_format(text, "%s: %s", finding.code, finding.text);
    griddep_findings_destroy(behind);
    griddep_findings_destroy(beside);
    return status;
}

/* Since the last look somebody may have asked for the address of a variable. */
static void look_for_exposures(griddep_chain *chain)
{
    const uint32_t now = chain->runtime ? atomic_load(&chain->runtime->exposures) : 0;

    if (chain->exposures == now)
        return;
    chain->exposures = now;
    for (uint32_t i = 0; i < chain->set_count; i++) {
        free(chain->sets[i]->uses);
        chain->sets[i]->uses = NULL;
    }
    gd_chain_forget_all_held(chain);
}

int32_t gd_chain_prove_round(griddep_chain *chain, gd_text *text, griddep_error *error)
{
    gd_chain_set *set = chain->now;
    const uint64_t count = count_uses(chain);
    griddep_use *uses;
    bool safe = false;

    look_for_exposures(chain);
    if (!text && set->proof >= 0 && set->proof_known)
        return GRIDDEP_OK;
    int32_t status = gd_chain_read_uses(chain, &uses, error);
    if (status)
        return status;
    set->proof_known = true;
    /* Other addresses in the same places of the same buffers change nothing. */
    if (!text && set->proof >= 0 && set->uses && !memcmp(set->uses, uses, count * sizeof *uses)) {
        free(uses);
        return GRIDDEP_OK;
    }
    status = prove(chain, uses, &safe, text, error);
    if (status) {
        set->proof_known = false;
        free(uses);
        return status;
    }
    if (set->proof >= 0 && set->proof != safe)
        gd_chain_drop_set_graphs(chain, set);
    free(set->uses);
    set->uses = uses;
    set->proof = safe;
    return GRIDDEP_OK;
}

/* ---- launch after launch ---- */

void gd_chain_forget_held(griddep_chain *chain)
{
    chain->now->proof_known = false;
    if (chain->always_safe)
        return;
    chain->now->held_known = false;
    chain->hops_known = false;
}

void gd_chain_forget_found(griddep_chain *chain)
{
    griddep_findings_destroy(chain->found);
    free(chain->found_uses);
    chain->found = NULL;
    chain->found_uses = NULL;
}

void gd_chain_forget_all_held(griddep_chain *chain)
{
    for (uint32_t i = 0; i < chain->set_count; i++) {
        gd_chain_set *set = chain->sets[i];
        free(set->hop_uses);
        set->hop_uses = NULL;
        set->held_known = set->proof_known = false;
    }
    chain->always_known = chain->always_safe = chain->hops_known = false;
    gd_chain_forget_found(chain);
}

/* The first race of a launch, from `*at` on: one that is sure, or one that nothing rules out. Or
 * that races were left out, of any launch (-1). */
static bool find_race(const griddep_findings *findings, uint32_t *at, griddep_finding *finding)
{
    while (!griddep_findings_get(findings, (*at)++, finding, NULL)) {
        if (leaves_out(finding) || (finding->severity >= GRIDDEP_SEVERITY_WARNING &&
                                    finding->launch >= 0 && gd_code_is_race(finding->code)))
            return true;
    }
    return false;
}

static void hold(const griddep_chain *chain, uint32_t index, bool *held)
{
    const gd_call *call = chain->now->calls[index];

    if (call && call->launch.pdl != GRIDDEP_PDL_FORCE)
        held[index] = true;
}

/* Marks the launches that race if they begin early and are not forced to. */
static int32_t find_held(griddep_chain *chain, griddep_use *uses, bool any, bool *held,
                         griddep_error *error)
{
    griddep_findings *findings = NULL;
    griddep_finding finding = {.size = sizeof finding};
    gd_check_launch *launches = describe_all(chain, uses);
    uint32_t at = 0;

    for (uint32_t i = 0; i < chain->count && launches; i++)
        launches[i].any_arguments = any;
    int32_t status =
        launches ? look(chain, launches, chain->count, &findings, error) : gd_error_memory(error);

    while (!status && find_race(findings, &at, &finding)) {
        if (finding.launch >= 0)
            hold(chain, (uint32_t)finding.launch, held);
        for (uint32_t i = 0; i < chain->count && finding.launch < 0; i++)
            hold(chain, i, held);
    }
    griddep_findings_destroy(findings);
    free(launches);
    return status;
}

/* As if each argument that is an address pointed to one buffer, which the kernel read and wrote
 * where that cannot be seen. */
static int32_t look_at_any_arguments(griddep_chain *chain, bool *held, griddep_error *error)
{
    griddep_use *uses = calloc(count_uses(chain) + 1, sizeof *uses);
    uint32_t place = 0;

    if (!uses)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < chain->count; i++) {
        const gd_chain_launch *launch = &chain->launches[i];
        for (uint32_t k = 0; k < count_of(launch); k++, place++) {
            const bool reached = k >= launch->given.use_count;
            uses[place] = reached ? use_of(launch, k) : default_use(launch, k);
            uses[place].offset = uses[place].bytes = 0;
            if (uses[place].access == GRIDDEP_ACCESS_UNKNOWN)
                uses[place].access = GRIDDEP_ACCESS_UPDATE;
            if (reached || !gd_chain_call(launch) ||
                gd_chain_call(launch)->kernel->parameters[k].bytes >= sizeof(uint64_t))
                uses[place].buffer = 1;
        }
    }
    int32_t status = find_held(chain, uses, true, held, error);
    free(uses);
    chain->always_known = !status;
    chain->always_safe = !status && !memchr(held, true, chain->count);
    memset(held, 0, chain->count);
    return status;
}

/* What is held with the arguments as they are. */
static int32_t look_at_arguments(griddep_chain *chain, gd_chain_set *set, bool *held,
                                 griddep_error *error)
{
    griddep_use *uses;
    int32_t status = gd_chain_read_uses(chain, &uses, error);

    if (status)
        return status;
    /* Other addresses in the same places of the same buffers change nothing. */
    if (set->held && set->hop_uses &&
        !memcmp(set->hop_uses, uses, count_uses(chain) * sizeof *uses))
        memcpy(held, set->held, chain->count);
    else
        status = find_held(chain, uses, false, held, error);
    if (status) {
        free(uses);
        return status;
    }
    free(set->hop_uses);
    set->hop_uses = uses;
    return GRIDDEP_OK;
}

/* The set's graphs were made with what was held in it before. */
static void keep_held(const griddep_chain *chain, gd_chain_set *set, bool *held)
{
    if (set->held && memcmp(set->held, held, chain->count) != 0)
        gd_chain_drop_set_graphs(chain, set);
    free(set->held);
    set->held = held;
    set->held_known = true;
}

/* The launches and their triggers go by the selected set. */
static void hold_back(griddep_chain *chain, const bool *held)
{
    bool differs = false;

    for (uint32_t i = 0; i < chain->count; i++) {
        differs |= chain->launches[i].held != held[i];
        chain->launches[i].held = held[i];
    }
    if (differs)
        gd_chain_decide_triggers(chain);
    chain->hops_known = true;
}

static int32_t prove_set(griddep_chain *chain, gd_chain_set *set, griddep_error *error)
{
    bool *held = calloc((size_t)chain->count + 1, sizeof *held);
    int32_t status = held ? GRIDDEP_OK : gd_error_memory(error);

    if (!status && !chain->always_known)
        status = look_at_any_arguments(chain, held, error);
    if (!status && !chain->always_safe)
        status = look_at_arguments(chain, set, held, error);
    if (status)
        free(held);
    else
        keep_held(chain, set, held);
    return status;
}

int32_t gd_chain_prove_hops(griddep_chain *chain, int32_t mode, griddep_error *error)
{
    gd_chain_set *set = chain->now;

    look_for_exposures(chain);
    if (!gd_chain_overlaps(mode) || chain->hops_known || chain->held_given || chain->count < 2)
        return GRIDDEP_OK;
    int32_t status = set->held_known ? GRIDDEP_OK : prove_set(chain, set, error);
    if (!status)
        hold_back(chain, set->held);
    return status;
}

/* What the check finds with the arguments as they are: the chain's own. Who explains each launch
 * asks as often. */
static int32_t look_now(griddep_chain *chain, griddep_findings **findings, griddep_error *error)
{
    griddep_use *uses = NULL;
    int32_t status = gd_chain_read_uses(chain, &uses, error);
    const bool same = !status && chain->found &&
                      !memcmp(chain->found_uses, uses, count_uses(chain) * sizeof *uses);

    if (status || same) {
        free(uses);
        *findings = chain->found;
        return status;
    }
    gd_chain_forget_found(chain);
    gd_check_launch *launches = describe_all(chain, uses);
    status = launches ? look(chain, launches, chain->count, &chain->found, error)
                      : gd_error_memory(error);
    free(launches);
    chain->found_uses = uses;
    if (status)
        gd_chain_forget_found(chain);
    *findings = chain->found;
    return status;
}

int32_t gd_chain_tell_hazard(griddep_chain *chain, uint32_t index, gd_text *text, bool *sure,
                             griddep_error *error)
{
    griddep_findings *findings = NULL;
    griddep_finding finding = {.size = sizeof finding}, told = {0};
    uint32_t at = 0;
    int32_t status = look_now(chain, &findings, error);

    *sure = false;
    while (!status && !*sure && find_race(findings, &at, &finding)) {
        if (finding.launch >= 0 && (uint32_t)finding.launch != index)
            continue;
        *sure = finding.severity == GRIDDEP_SEVERITY_ERROR;
        told = *sure || !told.size ? finding : told;
    }
    if (told.size)
        gd_text_format(text, "%s: %s", told.code, told.text);
    return status;
}

int32_t gd_chain_find_races(griddep_chain *chain, bool *races, griddep_error *error)
{
    griddep_findings *findings = NULL;
    griddep_finding finding = {.size = sizeof finding};
    uint32_t at = 0;
    int32_t status = look_now(chain, &findings, error);

    memset(races, 0, chain->count * sizeof *races);
    while (!status && find_race(findings, &at, &finding)) {
        for (uint32_t i = 0; i < chain->count; i++)
            races[i] |= finding.launch < 0 || (uint32_t)finding.launch == i;
    }
    return status;
}

/* ---- public ---- */

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

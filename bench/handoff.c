/* Steps that need each other's data. */
#include "bench/handoff.h"

#include <stdlib.h>
#include <string.h>

#include "cli/io/heap.h"

enum {
    THREADS = 128,
    TURNS_AT = 128 /* bytes from a counter to the words in which each block counts its runs */
};

/* ---- the kernels ---- */

/* %own and %other: this thread's word of an output, and the one that it reads. */
#define PLACE                                                                                      \
    "    .reg .pred %far;\n"                                                                       \
    "    .reg .b32 %cta, %ctas, %thread, %threads, %other_cta, %distance, %value;\n"               \
    "    .reg .b64 %in, %out, %own, %other, %from, %to;\n"                                         \
    "    ld.param.u64 %in, [in];\n"                                                                \
    "    ld.param.u64 %out, [out];\n"                                                              \
    "    ld.param.u32 %distance, [distance];\n"                                                    \
    "    mov.u32 %cta, %ctaid.x;\n"                                                                \
    "    mov.u32 %ctas, %nctaid.x;\n"                                                              \
    "    mov.u32 %thread, %tid.x;\n"                                                               \
    "    mov.u32 %threads, %ntid.x;\n"                                                             \
    "    add.u32 %other_cta, %cta, %distance;\n"                                                   \
    "    setp.ge.u32 %far, %other_cta, %ctas;\n"                                                   \
    "    @%far sub.u32 %other_cta, %other_cta, %ctas;\n"                                           \
    "    mad.lo.u32 %other_cta, %other_cta, %threads, %thread;\n"                                  \
    "    mul.wide.u32 %other, %other_cta, 4;\n"                                                    \
    "    mad.lo.u32 %other_cta, %cta, %threads, %thread;\n"                                        \
    "    mul.wide.u32 %own, %other_cta, 4;\n"                                                      \
    "    add.u64 %from, %in, %other;\n"                                                            \
    "    add.u64 %to, %out, %own;\n"

#define STEP                                                                                       \
    "    ld.global.u32 %value, [%from];\n"                                                         \
    "    add.u32 %value, %value, 1;\n"                                                             \
    "    st.global.u32 [%to], %value;\n"

/* One thread looks at a counter until it has come to %target, and gives up loudly rather than
 * never. */
#define POLL(counter)                                                                              \
    "    mov.u32 %tries, 0;\n"                                                                     \
    "poll:\n"                                                                                      \
    "    ld.acquire.gpu.global.u32 %seen, [" counter "];\n"                                        \
    "    sub.s32 %seen, %seen, %target;\n"                                                         \
    "    setp.ge.s32 %there, %seen, 0;\n"                                                          \
    "    @%there bra released;\n"                                                                  \
    "    add.u32 %tries, %tries, 1;\n"                                                             \
    "    setp.gt.u32 %lost, %tries, 4194304;\n"                                                    \
    "    @%lost trap;\n"                                                                           \
    "    setp.eq.u32 %restless, %pause, 0;\n"                                                      \
    "    @%restless bra poll;\n"                                                                   \
    "    nanosleep.u32 %pause;\n"                                                                  \
    "    bra poll;\n"                                                                              \
    "released:\n"                                                                                  \
    "    bar.sync 0;\n"

/* Counters are never set back, so that a graph's parameters stay as they are. A block of the
 * persistent kernel counts its runs in a word of its own, at %turn_at. */
#define TURN                                                                                       \
    "    ld.global.u32 %turn, [%turn_at];\n"                                                       \
    "    add.u32 %next, %turn, 1;\n"                                                               \
    "    st.global.u32 [%turn_at], %next;\n"

static const char head[] = ".version 8.0\n"
                           ".target sm_90\n"
                           ".address_size 64\n";

static const char hold_text[] = ".visible .entry hold(.param .u64 nanoseconds)\n"
                                "{\n"
                                "    .reg .pred %more;\n"
                                "    .reg .b64 %begin, %now, %time;\n"
                                "    ld.param.u64 %time, [nanoseconds];\n"
                                "    mov.u64 %begin, %globaltimer;\n"
                                "again:\n"
                                "    nanosleep.u32 200;\n"
                                "    mov.u64 %now, %globaltimer;\n"
                                "    sub.u64 %now, %now, %begin;\n"
                                "    setp.lt.u64 %more, %now, %time;\n"
                                "    @%more bra again;\n"
                                "    ret;\n"
                                "}\n";

static const char step_text[] =
    ".visible .entry step(.param .u64 in, .param .u64 out, .param .u32 distance)\n"
    "{\n"
    "    griddepcontrol.launch_dependents;\n" PLACE "    griddepcontrol.wait;\n" STEP "    ret;\n"
    "}\n";

static const char quiet_text[] =
    ".visible .entry quiet_step(.param .u64 in, .param .u64 out, .param .u32 distance)\n"
    "{\n" PLACE "    griddepcontrol.wait;\n" STEP "    ret;\n"
    "}\n";

static const char persistent_text[] =
    ".visible .entry persistent(.param .u64 in, .param .u64 out, .param .u32 distance, .param .u64 "
    "counter,\n"
    "    .param .u32 steps, .param .u32 pause)\n"
    "{\n"
    "    .reg .pred %leader, %last, %there, %lost, %restless;\n"
    "    .reg .b32 %steps, %pause, %turn, %next, %target, %seen, %tries;\n"
    "    .reg .b64 %counter, %turn_at, %next_from, %next_to;\n" PLACE
    "    ld.param.u64 %counter, [counter];\n"
    "    ld.param.u32 %steps, [steps];\n"
    "    ld.param.u32 %pause, [pause];\n"
    "    add.u64 %next_from, %out, %other;\n"
    "    add.u64 %next_to, %in, %own;\n"
    "    mul.wide.u32 %turn_at, %cta, 4;\n"
    "    add.u64 %turn_at, %turn_at, %counter;\n"
    "    add.u64 %turn_at, %turn_at, 128;\n"
    "    setp.eq.u32 %leader, %thread, 0;\n"
    "    mov.u32 %target, 0;\n"
    "    @!%leader bra take;\n" TURN "    sub.u32 %target, %steps, 1;\n"
    "    mul.lo.u32 %target, %target, %ctas;\n"
    "    mul.lo.u32 %target, %target, %turn;\n"
    "take:\n" STEP "    sub.u32 %steps, %steps, 1;\n"
    "    setp.eq.u32 %last, %steps, 0;\n"
    "    @%last bra done;\n"
    "    add.u32 %target, %target, %ctas;\n"
    "    bar.sync 0;\n"
    "    @!%leader bra released;\n"
    "    red.release.gpu.global.add.u32 [%counter], 1;\n" POLL(
        "%counter") "    mov.u64 %turn_at, %from;\n"
                    "    mov.u64 %from, %next_from;\n"
                    "    mov.u64 %next_from, %turn_at;\n"
                    "    mov.u64 %turn_at, %to;\n"
                    "    mov.u64 %to, %next_to;\n"
                    "    mov.u64 %next_to, %turn_at;\n"
                    "    bra take;\n"
                    "done:\n"
                    "    ret;\n"
                    "}\n";

/* A dependent starts when all blocks of this grid have: what it waits for is running, and needs no
 * place. The runs so far are the whole part of this step's own counter by the blocks, of which none
 * has counted this run before it has passed the poll; a word of each block's own would be a race
 * with the run before, whose kernels but the last nothing here waits for. */
static const char flagged_text[] =
    ".visible .entry flagged_step(.param .u64 in, .param .u64 out, .param .u32 distance, .param "
    ".u64 before,\n"
    "    .param .u64 counter, .param .u32 pause)\n"
    "{\n"
    "    .reg .pred %leader, %first, %there, %lost, %restless;\n"
    "    .reg .b32 %pause, %target, %seen, %tries;\n"
    "    .reg .b64 %before, %counter;\n"
    "    griddepcontrol.launch_dependents;\n" PLACE "    ld.param.u64 %before, [before];\n"
    "    ld.param.u64 %counter, [counter];\n"
    "    ld.param.u32 %pause, [pause];\n"
    "    setp.eq.u32 %leader, %thread, 0;\n"
    "    @!%leader bra released;\n"
    "    setp.eq.u64 %first, %before, 0;\n"
    "    @%first bra released;\n"
    "    ld.relaxed.gpu.global.u32 %target, [%counter];\n"
    "    div.u32 %target, %target, %ctas;\n"
    "    mad.lo.u32 %target, %target, %ctas, %ctas;\n" POLL("%before") STEP
    "    bar.sync 0;\n"
    "    @%leader red.release.gpu.global.add.u32 [%counter], 1;\n"
    "    ret;\n"
    "}\n";

int32_t gd_handoff_load(griddep_runtime *runtime, griddep_module **module, griddep_error *error)
{
    char *text = gd_heap_format("%s%s%s%s%s%s", head, hold_text, step_text, quiet_text,
                                persistent_text, flagged_text);
    int32_t status = griddep_module_load(runtime, text, strlen(text), NULL, module, error);
    free(text);
    return status;
}

/* ---- memory: for each lane two outputs, then a counter for each step of a lane ---- */

static uint64_t output_bytes(const gd_handoff *handoff)
{
    return (4 * handoff->words + 255) / 256 * 256;
}

static uint64_t counter_bytes(const gd_handoff *handoff)
{
    return (TURNS_AT + 4 * (uint64_t)handoff->way.blocks + 127) / 128 * 128;
}

static uint64_t output_at(const gd_handoff *handoff, uint32_t lane, uint32_t which)
{
    return handoff->memory + (2 * (uint64_t)lane + which) * output_bytes(handoff);
}

static uint64_t counter_at(const gd_handoff *handoff, uint32_t step)
{
    return output_at(handoff, handoff->way.lanes, 0) + step * counter_bytes(handoff);
}

/* ---- the chain ---- */

static uint32_t distance_of(uint32_t blocks)
{
    return blocks > 1 ? blocks / 2 + blocks % 2 : 0;
}

static int32_t add_step(gd_handoff *handoff, griddep_kernel *kernel, uint32_t lane, uint32_t step,
                        griddep_error *error)
{
    const gd_handoff_way *way = &handoff->way;
    bool flags = way->kind == GD_HANDOFF_FLAGS;
    const griddep_argument arguments[] = {
        {.bytes = 8, .value = output_at(handoff, lane, step % 2)},
        {.bytes = 8, .value = output_at(handoff, lane, 1 - step % 2)},
        {.bytes = 4, .value = distance_of(way->blocks)},
        {.bytes = 8, .value = step > 0 ? counter_at(handoff, step - 1) : 0},
        {.bytes = 8, .value = counter_at(handoff, step)},
        {.bytes = 4, .value = way->pause},
    };
    const griddep_launch_config config = {.size = sizeof(config),
                                          .grid = {way->blocks},
                                          .block = {THREADS},
                                          .pdl = flags && step > 0 ? GRIDDEP_PDL_FORCE
                                                                   : GRIDDEP_PDL_DEFAULT,
                                          .lane = lane};
    return griddep_chain_add(handoff->chain, kernel, &config, arguments, flags ? 6 : 3, error);
}

static int32_t add_persistent(gd_handoff *handoff, griddep_kernel *kernel, griddep_error *error)
{
    const gd_handoff_way *way = &handoff->way;
    const griddep_argument arguments[] = {{.bytes = 8, .value = output_at(handoff, 0, 0)},
                                          {.bytes = 8, .value = output_at(handoff, 0, 1)},
                                          {.bytes = 4, .value = distance_of(way->blocks)},
                                          {.bytes = 8, .value = counter_at(handoff, 0)},
                                          {.bytes = 4, .value = way->steps},
                                          {.bytes = 4, .value = way->pause}};
    griddep_attribute cooperative;
    if (griddep_attribute_set(&cooperative, GRIDDEP_ATTRIBUTE_COOPERATIVE, (const int64_t[]){1}, 1,
                              error) != GRIDDEP_OK)
        return error->status;
    const griddep_launch_config config = {.size = sizeof(config),
                                          .grid = {way->blocks},
                                          .block = {THREADS},
                                          .attribute_count = 1,
                                          .attributes = &cooperative};
    return griddep_chain_add(handoff->chain, kernel, &config, arguments, 6, error);
}

static int32_t add_launches(gd_handoff *handoff, griddep_module *module, griddep_error *error)
{
    static const char *const names[] = {"step", "quiet_step", "persistent", "flagged_step"};
    const gd_handoff_way *way = &handoff->way;
    griddep_kernel *kernel = NULL;
    int32_t status = griddep_module_find_kernel(module, names[way->kind], &kernel, error);
    if (status != GRIDDEP_OK || way->kind == GD_HANDOFF_PERSISTENT)
        return status == GRIDDEP_OK ? add_persistent(handoff, kernel, error) : status;
    for (uint32_t step = 0; step < way->steps; step++)
        for (uint32_t lane = 0; lane < way->lanes && status == GRIDDEP_OK; lane++)
            status = add_step(handoff, kernel, lane, step, error);
    return status;
}

int32_t gd_handoff_open(griddep_runtime *runtime, griddep_module *module, const gd_handoff_way *way,
                        gd_handoff *handoff, griddep_error *error)
{
    *handoff =
        (gd_handoff){.way = *way, .runtime = runtime, .words = (uint64_t)way->blocks * THREADS};
    uint64_t bytes = counter_at(handoff, way->steps);
    int32_t status = griddep_memory_allocate(runtime, bytes, &handoff->memory, error);
    if (status == GRIDDEP_OK)
        status = griddep_memory_fill(runtime, handoff->memory, 0, bytes, NULL, error);
    if (status == GRIDDEP_OK)
        status = griddep_chain_create(runtime, &handoff->chain, error);
    return status == GRIDDEP_OK ? add_launches(handoff, module, error) : status;
}

int32_t gd_handoff_run(gd_handoff *handoff, void *stream, griddep_error *error)
{
    handoff->runs++;
    return griddep_chain_run(handoff->chain, handoff->way.mode, stream, error);
}

/* A lane of one step writes the same each time; longer ones end in the output that they begin
 * with. */
static bool words_are(const uint32_t *words, uint64_t count, uint32_t wanted)
{
    for (uint64_t i = 0; i < count; i++)
        if (words[i] != wanted)
            return false;
    return true;
}

int32_t gd_handoff_check(const gd_handoff *handoff, void *stream, bool *right, griddep_error *error)
{
    const gd_handoff_way *way = &handoff->way;
    uint32_t *words = gd_heap_take(handoff->words, sizeof(*words));
    uint32_t wanted = way->steps > 1 ? handoff->runs * way->steps : handoff->runs > 0;
    int32_t status = GRIDDEP_OK;
    *right = true;
    for (uint32_t lane = 0; lane < way->lanes && status == GRIDDEP_OK; lane++) {
        status =
            griddep_memory_read(handoff->runtime, words, output_at(handoff, lane, way->steps == 1),
                                4 * handoff->words, stream, error);
        *right &= status == GRIDDEP_OK && words_are(words, handoff->words, wanted);
    }
    free(words);
    return status;
}

int32_t gd_handoff_hold(griddep_module *module, void *stream, uint64_t nanoseconds,
                        griddep_error *error)
{
    const griddep_argument argument = {.bytes = 8, .value = nanoseconds};
    const griddep_launch_config config = {
        .size = sizeof(config), .grid = {1}, .block = {1}, .stream = stream};
    griddep_kernel *kernel = NULL;
    int32_t status = griddep_module_find_kernel(module, "hold", &kernel, error);
    return status == GRIDDEP_OK ? griddep_launch(kernel, &config, &argument, 1, NULL, error)
                                : status;
}

void gd_handoff_close(gd_handoff *handoff)
{
    griddep_chain_destroy(handoff->chain);
    if (handoff->memory != 0)
        griddep_memory_free(handoff->runtime, handoff->memory, NULL);
    *handoff = (gd_handoff){0};
}

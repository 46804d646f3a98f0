/* The read ceiling, by a kernel of its own: 16-byte loads, four under way in each thread, folded
 * into a value that is stored only if it equals one that the memory does not hold, so that no load
 * can be left out and nothing is written.
 */
#include "cli/job/ceiling.h"

#include <string.h>

#include "cli/job/measure.h"
#include "cli/io/message.h"
#include "cli/io/progress.h"

enum {
    BLOCK = 512,
    BYTES_PER_ROUND = 64 /* that a thread reads in one turn of the loop */
};

static const uint64_t most_bytes = (uint64_t)4 << 30;

/* A thread reads 16 bytes at its own place in each of four strides of the whole grid, `count`
 * times. */
static const char read_ptx[] =
    ".version 7.8\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .entry read_memory(.param .u64 memory, .param .u64 count)\n"
    "{\n"
    "    .reg .pred %more, %hit;\n"
    "    .reg .b32 %cta, %ctas, %size, %lane, %threads, %fold;\n"
    "    .reg .b32 %a0, %a1, %a2, %a3, %b0, %b1, %b2, %b3, %c0, %c1, %c2, %c3, %d0, %d1, %d2, "
    "%d3;\n"
    "    .reg .b64 %memory, %at0, %at1, %at2, %at3, %stride, %step, %left, %thread, %offset;\n"
    "    ld.param.u64 %memory, [memory];\n"
    "    ld.param.u64 %left, [count];\n"
    "    mov.u32 %cta, %ctaid.x;\n"
    "    mov.u32 %ctas, %nctaid.x;\n"
    "    mov.u32 %size, %ntid.x;\n"
    "    mov.u32 %lane, %tid.x;\n"
    "    mul.lo.u32 %threads, %ctas, %size;\n"
    "    mul.wide.u32 %stride, %threads, 16;\n"
    "    shl.b64 %step, %stride, 2;\n"
    "    cvt.u64.u32 %thread, %lane;\n"
    "    mad.wide.u32 %thread, %cta, %size, %thread;\n"
    "    shl.b64 %offset, %thread, 4;\n"
    "    add.u64 %at0, %memory, %offset;\n"
    "    mov.b32 %fold, 0;\n"
    "loop:\n"
    "    add.u64 %at1, %at0, %stride;\n"
    "    add.u64 %at2, %at1, %stride;\n"
    "    add.u64 %at3, %at2, %stride;\n"
    "    ld.global.v4.b32 {%a0, %a1, %a2, %a3}, [%at0];\n"
    "    ld.global.v4.b32 {%b0, %b1, %b2, %b3}, [%at1];\n"
    "    ld.global.v4.b32 {%c0, %c1, %c2, %c3}, [%at2];\n"
    "    ld.global.v4.b32 {%d0, %d1, %d2, %d3}, [%at3];\n"
    "    or.b32 %a0, %a0, %a1;\n"
    "    or.b32 %a2, %a2, %a3;\n"
    "    or.b32 %b0, %b0, %b1;\n"
    "    or.b32 %b2, %b2, %b3;\n"
    "    or.b32 %c0, %c0, %c1;\n"
    "    or.b32 %c2, %c2, %c3;\n"
    "    or.b32 %d0, %d0, %d1;\n"
    "    or.b32 %d2, %d2, %d3;\n"
    "    or.b32 %a0, %a0, %a2;\n"
    "    or.b32 %b0, %b0, %b2;\n"
    "    or.b32 %c0, %c0, %c2;\n"
    "    or.b32 %d0, %d0, %d2;\n"
    "    or.b32 %a0, %a0, %b0;\n"
    "    or.b32 %c0, %c0, %d0;\n"
    "    or.b32 %fold, %fold, %a0;\n"
    "    or.b32 %fold, %fold, %c0;\n"
    "    add.u64 %at0, %at0, %step;\n"
    "    sub.u64 %left, %left, 1;\n"
    "    setp.ne.u64 %more, %left, 0;\n"
    "    @%more bra loop;\n"
    "    setp.eq.u32 %hit, %fold, 0xffffffff;\n"
    "    @%hit st.global.b32 [%memory], %fold;\n"
    "    ret;\n"
    "}\n";

typedef struct gd_ceiling {
    griddep_runtime *runtime;
    griddep_module *module;
    griddep_chain *chain;
    void *stream;
    uint64_t memory, bytes;
} gd_ceiling;

static int32_t make_chain(gd_ceiling *ceiling, const griddep_runtime_info *info,
                          griddep_error *error)
{
    griddep_kernel *kernel = NULL;
    uint32_t grid = (uint32_t)info->multiprocessors * (info->threads_per_multiprocessor / BLOCK);
    uint64_t round = (uint64_t)grid * BLOCK * BYTES_PER_ROUND;
    uint64_t wanted = info->memory_bytes / 4 < most_bytes ? info->memory_bytes / 4 : most_bytes;
    uint64_t rounds = wanted / round > 0 ? wanted / round : 1;
    ceiling->bytes = rounds * round;
    int32_t status =
        griddep_memory_allocate(ceiling->runtime, ceiling->bytes, &ceiling->memory, error);
    if (status == GRIDDEP_OK)
        status = griddep_memory_fill(ceiling->runtime, ceiling->memory, 0x5a, ceiling->bytes,
                                     ceiling->stream, error);
    if (status == GRIDDEP_OK)
        status = griddep_module_load(ceiling->runtime, read_ptx, strlen(read_ptx), NULL,
                                     &ceiling->module, error);
    if (status == GRIDDEP_OK)
        status = griddep_module_find_kernel(ceiling->module, "read_memory", &kernel, error);
    if (status == GRIDDEP_OK)
        status = griddep_chain_create(ceiling->runtime, &ceiling->chain, error);
    const griddep_argument arguments[] = {{.bytes = 8, .value = ceiling->memory},
                                          {.bytes = 8, .value = rounds}};
    const griddep_launch_config config = {
        .size = sizeof(config), .grid = {grid, 1, 1}, .block = {BLOCK, 1, 1}};
    return status == GRIDDEP_OK
               ? griddep_chain_add(ceiling->chain, kernel, &config, arguments, 2, error)
               : status;
}

static void end_ceiling(gd_ceiling *ceiling)
{
    griddep_chain_destroy(ceiling->chain);
    griddep_module_unload(ceiling->module);
    if (ceiling->memory != 0)
        griddep_memory_free(ceiling->runtime, ceiling->memory, NULL);
    if (ceiling->stream != NULL)
        griddep_stream_destroy(ceiling->runtime, ceiling->stream, NULL);
}

int gd_ceiling_measure(griddep_runtime *runtime, uint32_t samples, double *bytes_per_second)
{
    gd_ceiling ceiling = {.runtime = runtime};
    gd_timing timings[GRIDDEP_MODE_COUNT] = {{0}};
    griddep_runtime_info info = {.size = sizeof(info)};
    griddep_error error;
    griddep_error_init(&error);
    gd_progress_show("measuring the read ceiling");
    int32_t status = griddep_runtime_get_info(runtime, &info, &error);
    if (status == GRIDDEP_OK)
        status = griddep_stream_create(runtime, NULL, &ceiling.stream, &error);
    if (status == GRIDDEP_OK)
        status = make_chain(&ceiling, &info, &error);
    const gd_experiment experiment = {.runtime = runtime, .stream = ceiling.stream};
    int code = status == GRIDDEP_OK
                   ? gd_measure_modes(ceiling.chain, &experiment, 1U << GRIDDEP_MODE_GRAPH, samples,
                                      timings)
                   : gd_message_library_as(GD_EXIT_REFUSED, &error, "measuring the read ceiling");
    end_ceiling(&ceiling);
    gd_progress_clear();
    if (code == 0 && timings[GRIDDEP_MODE_GRAPH].us.median > 0.0)
        *bytes_per_second = (double)ceiling.bytes / (timings[GRIDDEP_MODE_GRAPH].us.median * 1e-6);
    return code;
}

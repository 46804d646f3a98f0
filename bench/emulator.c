/* How fast the emulated driver executes: thread-instructions a second on one core, for kernels of
 * known length and for two of the shelf.
 *
 * Kernels run through the driver's ABI, in a library that is opened by its path, so that what is
 * timed is what a user has, checks included (--check LIST sets GRIDDEP_EMULATOR_CHECK). A turn is a
 * launch and the wait for its end; each figure is the median over the turns, with the lower and
 * upper quartiles; the time of an empty launch is printed beside them, and subtracted from none.
 *
 * Thread-instructions of a launch are counted by the interpreter (gd_cta_instructions), which runs
 * the same PTX with the same shape once in this program. Where a kernel's length can be written
 * down from its text, it is, and the two must agree: an instruction counts once for each thread
 * that comes to it, whether or not its guard lets it act. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/statistics.h"
#include "cuda/driver.h"
#include "emulator/machine/machine.h"
#include "griddep.h"
#include "ptx/text/parser.h"

#ifndef EMULATED_DRIVER
#define EMULATED_DRIVER "libgriddep-emulator.so.0"
#endif

enum { MOST_TURNS = 1001, TURN_STEPS = 2048 };

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* ---- kernels ---- */

static const char empty_text[] = HEAD ".visible .entry empty()\n"
                                      "{\n"
                                      "    ret;\n"
                                      "}\n";

/* 3 instructions, 16 in the loop, 8 behind it. */
static const char alu_text[] = HEAD ".visible .entry alu(.param .u64 out, .param .u32 laps)\n"
                                    "{\n"
                                    "    .reg .pred %p;\n"
                                    "    .reg .b32 %i, %laps, %a, %b, %c, %d;\n"
                                    "    .reg .f32 %w, %x, %y, %z;\n"
                                    "    .reg .b64 %out, %at;\n"
                                    "    ld.param.u32 %laps, [laps];\n"
                                    "    mov.u32 %i, 0;\n"
                                    "    mov.u32 %a, %tid.x;\n"
                                    "loop:\n"
                                    "    mad.lo.u32 %b, %a, 5, %i;\n"
                                    "    fma.rn.f32 %w, %x, 0f3f000000, %y;\n"
                                    "    xor.b32 %c, %b, %a;\n"
                                    "    fma.rn.f32 %x, %y, 0f3f000000, %z;\n"
                                    "    shl.b32 %d, %c, 3;\n"
                                    "    fma.rn.f32 %y, %z, 0f3f000000, %w;\n"
                                    "    add.u32 %a, %d, %b;\n"
                                    "    fma.rn.f32 %z, %w, 0f3f000000, 0f3f800000;\n"
                                    "    and.b32 %c, %a, 0xffff;\n"
                                    "    add.f32 %w, %w, %x;\n"
                                    "    shr.u32 %d, %a, 7;\n"
                                    "    mul.f32 %x, %x, 0f3f000000;\n"
                                    "    sub.u32 %a, %d, %c;\n"
                                    "    add.u32 %i, %i, 1;\n"
                                    "    setp.lt.u32 %p, %i, %laps;\n"
                                    "    @%p bra loop;\n"
                                    "    add.f32 %w, %w, %z;\n"
                                    "    mov.b32 %b, %w;\n"
                                    "    xor.b32 %a, %a, %b;\n"
                                    "    mov.u32 %b, %tid.x;\n"
                                    "    ld.param.u64 %out, [out];\n"
                                    "    mad.wide.u32 %at, %b, 4, %out;\n"
                                    "    st.global.u32 [%at], %a;\n"
                                    "    ret;\n"
                                    "}\n";

/* A thread takes elements n, n + threads, ...: 9 instructions, 10 in the loop, 1 behind it. */
#define STREAM(name, access, shift, registers, arithmetic)                                         \
    HEAD ".visible .entry " name "(.param .u64 from, .param .u64 to, .param .u32 count)\n"         \
         "{\n"                                                                                     \
         "    .reg .pred %p;\n"                                                                    \
         "    .reg .b32 %i, %step, %count, %block;\n"                                              \
         "    .reg .f32 %a, %b, %c, %d;\n"                                                         \
         "    .reg .b64 %from, %to, %offset, %at, %out;\n"                                         \
         "    ld.param.u64 %from, [from];\n"                                                       \
         "    ld.param.u64 %to, [to];\n"                                                           \
         "    ld.param.u32 %count, [count];\n"                                                     \
         "    mov.u32 %block, %ctaid.x;\n"                                                         \
         "    mov.u32 %step, %ntid.x;\n"                                                           \
         "    mov.u32 %i, %tid.x;\n"                                                               \
         "    mad.lo.u32 %i, %block, %step, %i;\n"                                                 \
         "    mov.u32 %block, %nctaid.x;\n"                                                        \
         "    mul.lo.u32 %step, %step, %block;\n"                                                  \
         "loop:\n"                                                                                 \
         "    cvt.u64.u32 %offset, %i;\n"                                                          \
         "    shl.b64 %offset, %offset, " shift ";\n"                                              \
         "    add.u64 %at, %from, %offset;\n"                                                      \
         "    ld.global" access " " registers ", [%at];\n" arithmetic                              \
         "    add.u64 %out, %to, %offset;\n"                                                       \
         "    st.global" access " [%out], " registers ";\n"                                        \
         "    add.u32 %i, %i, %step;\n"                                                            \
         "    setp.lt.u32 %p, %i, %count;\n"                                                       \
         "    @%p bra loop;\n"                                                                     \
         "    ret;\n"                                                                              \
         "}\n"

static const char words_text[] =
    STREAM("words", ".f32", "2", "%a", "    fma.rn.f32 %a, %a, 0f40000000, 0f3f800000;\n");
static const char vectors_text[] = STREAM("vectors", ".v4.f32", "4", "{%a, %b, %c, %d}",
                                          "    fma.rn.f32 %a, %a, 0f40000000, 0f3f800000;\n"
                                          "    fma.rn.f32 %b, %b, 0f40000000, 0f3f800000;\n"
                                          "    fma.rn.f32 %c, %c, 0f40000000, 0f3f800000;\n"
                                          "    fma.rn.f32 %d, %d, 0f40000000, 0f3f800000;\n");

/* The sum of a CTA's 256 numbers, over and over: 7 instructions; a lap of 3 and eight rounds of 9
 * and 3 more; 4 behind them. */
static const char reduce_text[] =
    HEAD ".visible .entry reduce(.param .u64 out, .param .u32 laps)\n"
         "{\n"
         "    .reg .pred %p, %q;\n"
         "    .reg .b32 %i, %laps, %thread, %half, %place, %at, %other;\n"
         "    .reg .f32 %a, %b;\n"
         "    .reg .b64 %out;\n"
         "    .shared .align 16 .f32 sums[256];\n"
         "    ld.param.u32 %laps, [laps];\n"
         "    mov.u32 %thread, %tid.x;\n"
         "    mov.u32 %at, sums;\n"
         "    shl.b32 %place, %thread, 2;\n"
         "    add.u32 %at, %at, %place;\n"
         "    mov.u32 %i, 0;\n"
         "    cvt.rn.f32.u32 %a, %thread;\n"
         "lap:\n"
         "    st.shared.f32 [%at], %a;\n"
         "    mov.u32 %half, 512;\n"
         "    bar.sync 0;\n"
         "round:\n"
         "    add.u32 %other, %at, %half;\n"
         "    setp.lt.u32 %p, %place, %half;\n"
         "    @%p ld.shared.f32 %b, [%other];\n"
         "    @%p add.f32 %a, %a, %b;\n"
         "    @%p st.shared.f32 [%at], %a;\n"
         "    bar.sync 0;\n"
         "    shr.u32 %half, %half, 1;\n"
         "    setp.ge.u32 %q, %half, 4;\n"
         "    @%q bra round;\n"
         "    add.u32 %i, %i, 1;\n"
         "    setp.lt.u32 %p, %i, %laps;\n"
         "    @%p bra lap;\n"
         "    ld.param.u64 %out, [out];\n"
         "    setp.eq.u32 %p, %thread, 0;\n"
         "    @%p st.global.f32 [%out], %a;\n"
         "    ret;\n"
         "}\n";

/* Lane l goes l mod 8 + 1 times around an inner loop, whose two ways are chosen by its parity: 4
 * instructions; a lap of 1, inner laps of 7 for even lanes and of 6 for odd ones, and 3 more; 4
 * behind them. */
static const char diverge_text[] =
    HEAD ".visible .entry diverge(.param .u64 out, .param .u32 laps)\n"
         "{\n"
         "    .reg .pred %p, %odd;\n"
         "    .reg .b32 %i, %j, %laps, %thread, %a, %b;\n"
         "    .reg .b64 %out, %at;\n"
         "    ld.param.u32 %laps, [laps];\n"
         "    mov.u32 %thread, %tid.x;\n"
         "    and.b32 %b, %thread, 1;\n"
         "    setp.eq.u32 %odd, %b, 1;\n"
         "    mov.u32 %i, 0;\n"
         "lap:\n"
         "    and.b32 %j, %thread, 7;\n"
         "inner:\n"
         "    @%odd bra other;\n"
         "    mad.lo.u32 %a, %a, 5, %i;\n"
         "    bra together;\n"
         "other:\n"
         "    xor.b32 %a, %a, %j;\n"
         "together:\n"
         "    setp.gt.u32 %p, %j, 0;\n"
         "    sub.u32 %j, %j, 1;\n"
         "    @%p bra inner;\n"
         "    add.u32 %i, %i, 1;\n"
         "    setp.lt.u32 %p, %i, %laps;\n"
         "    @%p bra lap;\n"
         "    ld.param.u64 %out, [out];\n"
         "    mad.wide.u32 %at, %thread, 4, %out;\n"
         "    st.global.u32 [%at], %a;\n"
         "    ret;\n"
         "}\n";

/* ---- cases ---- */

/* A parameter: an array of so many bytes, or a number. */
typedef struct parameter {
    uint64_t array;
    uint64_t value;
    uint32_t bytes;
} parameter;

#define ARRAY(count)                                                                               \
    {                                                                                              \
        .array = (count), .bytes = 8                                                               \
    }
#define NUMBER(number)                                                                             \
    {                                                                                              \
        .value = (number), .bytes = 4                                                              \
    }

enum { MOST_PARAMETERS = 5 };

typedef struct test {
    const char *name, *what;
    const char *text; /* NULL: of the shelf */
    uint32_t grid, block, shared;
    uint32_t parameter_count;
    parameter parameters[MOST_PARAMETERS];
    uint64_t (*length)(
        const struct test
            *item); /* thread-instructions by the text; NULL: too many paths for a formula */
} test;

static uint64_t threads_of(const test *item)
{
    return (uint64_t)item->grid * item->block;
}

static uint64_t alu_length(const test *item)
{
    return threads_of(item) * (3 + 16 * item->parameters[1].value + 8);
}

static uint64_t words_length(const test *item)
{
    return threads_of(item) * 10 + item->parameters[2].value * 10;
}

static uint64_t vectors_length(const test *item)
{
    return threads_of(item) * 10 + item->parameters[2].value * 13;
}

/* The address of a shared variable takes two operations more, since the CTA's rank in its cluster
 * is part of it. */
static uint64_t reduce_length(const test *item)
{
    return threads_of(item) * (9 + item->parameters[1].value * (3 + 8 * 9 + 3) + 4);
}

static uint64_t diverge_length(const test *item)
{
    uint64_t inner = 0;

    for (uint64_t lane = 0; lane < 32; lane++)
        inner += (lane % 8 + 1) * (lane % 2 ? 5 : 6);
    return threads_of(item) * 9 +
           item->parameters[1].value * (threads_of(item) * 4 + threads_of(item) / 32 * inner);
}

static const test tests[] = {
    {.name = "alu",
     .what = "integer and f32 arithmetic, no divergence",
     .text = alu_text,
     .grid = 4,
     .block = 256,
     .parameter_count = 2,
     .parameters = {ARRAY(1024), NUMBER(4000)},
     .length = alu_length},
    {.name = "words",
     .what = "load, fma, store of 4 bytes a thread",
     .text = words_text,
     .grid = 16,
     .block = 256,
     .parameter_count = 3,
     .parameters = {ARRAY(1 << 22), ARRAY(1 << 22), NUMBER(1 << 20)},
     .length = words_length},
    {.name = "vectors",
     .what = "load, fma, store of 16 bytes a thread",
     .text = vectors_text,
     .grid = 16,
     .block = 256,
     .parameter_count = 3,
     .parameters = {ARRAY(1 << 23), ARRAY(1 << 23), NUMBER(1 << 19)},
     .length = vectors_length},
    {.name = "reduce",
     .what = "sum in shared memory, a barrier every 9 instructions",
     .text = reduce_text,
     .grid = 4,
     .block = 256,
     .parameter_count = 2,
     .parameters = {ARRAY(1024), NUMBER(200)},
     .length = reduce_length},
    {.name = "diverge",
     .what = "loops of several lengths, both sides of a branch",
     .text = diverge_text,
     .grid = 4,
     .block = 256,
     .parameter_count = 2,
     .parameters = {ARRAY(1024), NUMBER(200)},
     .length = diverge_length},
    {.name = "matvec_bf16",
     .what = "shelf: 128 x 4096",
     .grid = 4,
     .block = 256,
     .shared = 114688,
     .parameter_count = 5,
     .parameters = {ARRAY(128 * 4096 * 2), ARRAY(4096 * 2), ARRAY(128 * 2), NUMBER(128),
                    NUMBER(4096)}},
    {.name = "rms_norm",
     .what = "shelf: 256 x 4096",
     .grid = 256,
     .block = 256,
     .parameter_count = 5,
     .parameters = {ARRAY(256 * 4096 * 2), ARRAY(4096 * 2), ARRAY(256 * 4096 * 2), NUMBER(4096),
                    NUMBER(0x358637bd)}},
};

enum { TEST_COUNT = sizeof tests / sizeof tests[0] };

static griddep_error error;

static const char *text_of(const test *item)
{
    griddep_shelf_info info = {.size = sizeof info};

    if (item->text)
        return item->text;
    return griddep_shelf_find(item->name, 90, &info, &error) ? NULL : info.text;
}

/* ---- counting ---- */

/* Packs parameters as the kernel's declarations have them: each at a multiple of its size. */
static size_t pack(const test *item, const uint64_t *values, unsigned char *packed)
{
    size_t at = 0;

    for (uint32_t i = 0; i < item->parameter_count; i++) {
        size_t bytes = item->parameters[i].bytes;
        at = (at + bytes - 1) / bytes * bytes;
        memcpy(packed + at, &values[i], bytes);
        at += bytes;
    }
    return at;
}

static bool run_cta(const gd_grid_view *view, uint32_t index, uint64_t *count)
{
    const uint32_t position[3] = {index, 0, 0};
    gd_cta *cta = gd_cta_create(view, position, index, 0);
    gd_cta_state state;

    if (!cta)
        return false;
    gd_cta_release(cta, 0);
    do
        state = gd_cta_run(cta, TURN_STEPS, gd_cta_cycles(cta));
    while (state == GD_CTA_READY || state == GD_CTA_POLLING);
    *count += gd_cta_instructions(cta);
    if (state != GD_CTA_DONE)
        fprintf(stderr, "bench/emulator: %s\n", gd_cta_get_fault(cta)->text);
    gd_cta_destroy(cta);
    return state == GD_CTA_DONE;
}

static bool count_in(const test *item, gd_program *program, gd_memory *memory, uint64_t *count)
{
    uint64_t values[MOST_PARAMETERS] = {0};
    unsigned char packed[MOST_PARAMETERS * 8] = {0};

    for (uint32_t i = 0; i < item->parameter_count; i++) {
        const parameter *at = &item->parameters[i];
        gd_allocation *array =
            at->array ? gd_memory_take(memory, NULL, at->array, GD_MEMORY_DEVICE, NULL, NULL)
                      : NULL;
        if (at->array && !array)
            return false;
        if (array)
            memset(array->host, 0x3c, at->array);
        values[i] = array ? array->start : at->value;
    }
    pack(item, values, packed);
    const gd_grid_view view = {.entry = gd_program_entry(program, item->name),
                               .grid = {item->grid, 1, 1},
                               .block = {item->block, 1, 1},
                               .cluster = {1, 1, 1},
                               .dynamic_shared_bytes = item->shared,
                               .parameters = packed,
                               .memory = memory};
    *count = 0;
    for (uint32_t i = 0; i < item->grid; i++) {
        if (!run_cta(&view, i, count))
            return false;
    }
    return true;
}

static bool count_instructions(const test *item, const char *text, uint64_t *count)
{
    gd_ptx_module module = {0};
    gd_program_error refusal = {0};
    gd_memory *memory = gd_memory_create();
    gd_program *program = NULL;
    bool good =
        memory && gd_ptx_module_parse(&module, text, (uint32_t)strlen(text), item->name) == 0;

    if (good && (program = gd_program_create(&module, memory, NULL, &refusal)) != NULL)
        good = count_in(item, program, memory, count);
    if (!program || !good)
        fprintf(stderr, "bench/emulator: %s cannot be counted: %s\n", item->name, refusal.text);
    good = good && program;
    gd_program_destroy(program);
    gd_ptx_module_free(&module);
    if (memory)
        gd_memory_destroy(memory);
    if (good && item->length && item->length(item) != *count) {
        fprintf(stderr,
                "bench/emulator: %s has %" PRIu64 " thread-instructions by its text, %" PRIu64
                " were executed\n",
                item->name, item->length(item), *count);
        return false;
    }
    return good;
}

/* ---- timing ---- */

typedef struct result {
    double low, middle, high; /* seconds: quartiles and median of the turns */
    uint64_t instructions;
} result;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Turns after the first, which warms up. */
static bool time_turns(const gd_driver *driver, const gd_CUlaunchConfig *config,
                       gd_CUfunction function, void **parameters, uint32_t turns, result *into)
{
    static double times[MOST_TURNS];

    for (uint32_t i = 0; i <= turns; i++) {
        double start = now();
        if (driver->cuLaunchKernelEx(config, function, parameters, NULL) ||
            driver->cuCtxSynchronize())
            return false;
        if (i)
            times[i - 1] = now() - start;
    }
    into->middle = gd_statistics_median(times, turns);
    into->low = gd_statistics_percentile(times, turns, 0.25);
    into->high = gd_statistics_percentile(times, turns, 0.75);
    return true;
}

static bool give_parameters(const gd_driver *driver, const test *item, uint64_t *values,
                            void **pointers)
{
    for (uint32_t i = 0; i < item->parameter_count; i++) {
        const parameter *at = &item->parameters[i];
        values[i] = at->value;
        pointers[i] = &values[i];
        if (at->array && (driver->cuMemAlloc(&values[i], at->array) ||
                          driver->cuMemsetD8Async(values[i], 0x3c, at->array, NULL)))
            return false;
    }
    return true;
}

static void take_parameters(const gd_driver *driver, const test *item, const uint64_t *values)
{
    for (uint32_t i = 0; i < item->parameter_count; i++) {
        if (item->parameters[i].array && values[i])
            driver->cuMemFree(values[i]);
    }
}

static bool time_test(const gd_driver *driver, const test *item, const char *text, uint32_t turns,
                      result *into)
{
    gd_CUmodule module = NULL;
    gd_CUfunction function = NULL;
    uint64_t values[MOST_PARAMETERS] = {0};
    void *pointers[MOST_PARAMETERS] = {0};
    const gd_CUlaunchConfig config = {.gridDimX = item->grid,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = item->block,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .sharedMemBytes = item->shared};
    bool good = driver->cuModuleLoadDataEx(&module, text, 0, NULL, NULL) == GD_CUDA_SUCCESS &&
                driver->cuModuleGetFunction(&function, module, item->name) == GD_CUDA_SUCCESS &&
                (!item->shared || driver->cuFuncSetAttribute(
                                      function, GD_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      (int)item->shared) == GD_CUDA_SUCCESS) &&
                give_parameters(driver, item, values, pointers) &&
                time_turns(driver, &config, function, pointers, turns, into);

    take_parameters(driver, item, values);
    if (module)
        driver->cuModuleUnload(module);
    if (!good)
        fprintf(stderr, "bench/emulator: %s failed in the driver\n", item->name);
    return good;
}

/* ---- output ---- */

typedef struct options {
    const char *driver, *check, *only;
    uint32_t turns;
    bool json;
} options;

static void print_result(const options *with, const test *item, const result *got)
{
    double count = (double)got->instructions;

    if (with->json)
        printf("{\"bench\":\"%s\",\"check\":\"%s\",\"thread_instructions\":%" PRIu64
               ",\"seconds\":%.9f,\"lower_quartile\":%.9f,\"upper_quartile\":%.9f,\"per_second\":%."
               "0f}\n",
               item->name, with->check, got->instructions, got->middle, got->low, got->high,
               count / got->middle);
    else
        printf("%-12s %12" PRIu64 " %9.3f ms %8.1f M/s  %7.1f to %7.1f   %s\n", item->name,
               got->instructions, got->middle * 1e3, count / got->middle * 1e-6,
               count / got->high * 1e-6, count / got->low * 1e-6, item->what);
    fflush(stdout);
}

static bool measure(const gd_driver *driver, const options *with, const test *item)
{
    const char *text = text_of(item);
    result got = {0};

    if (!text || !count_instructions(item, text, &got.instructions) ||
        !time_test(driver, item, text, with->turns, &got))
        return false;
    print_result(with, item, &got);
    return true;
}

static bool measure_all(const gd_driver *driver, const options *with)
{
    static const test empty = {.name = "empty",
                               .what = "a launch of one thread",
                               .text = empty_text,
                               .grid = 1,
                               .block = 1};

    if (!with->json)
        printf("%-12s %12s %12s %12s  %s (checks: %s, %" PRIu32 " turns)\n", "kernel",
               "instructions", "a launch", "speed", "quartiles of the speed", with->check,
               with->turns);
    if (!with->only && !measure(driver, with, &empty))
        return false;
    for (uint32_t i = 0; i < TEST_COUNT; i++) {
        if ((!with->only || !strcmp(with->only, tests[i].name)) &&
            !measure(driver, with, &tests[i]))
            return false;
    }
    return true;
}

static bool read_options(options *into, int argc, char **argv)
{
    *into = (options){.driver = EMULATED_DRIVER, .check = "off", .turns = 21};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(argv[i], "--json")) {
            into->json = true;
            continue;
        }
        if (!value)
            return false;
        if (!strcmp(argv[i], "--check"))
            into->check = value;
        else if (!strcmp(argv[i], "--driver"))
            into->driver = value;
        else if (!strcmp(argv[i], "--only"))
            into->only = value;
        else if (!strcmp(argv[i], "--turns"))
            into->turns = (uint32_t)strtoul(value, NULL, 10);
        else
            return false;
        i++;
    }
    return into->turns > 0 && into->turns <= MOST_TURNS;
}

int main(int argc, char **argv)
{
    options with;
    gd_driver *driver = NULL;
    gd_CUcontext context = NULL;

    if (!read_options(&with, argc, argv)) {
        fprintf(stderr, "usage: bench/emulator [--check LIST] [--driver FILE] [--only KERNEL] "
                        "[--turns N] [--json]\n");
        return 2;
    }
    griddep_error_init(&error);
    if (setenv("GRIDDEP_EMULATOR_CHECK", with.check, 1))
        return 1;
    if (gd_driver_open(with.driver, &driver, &error)) {
        fprintf(stderr, "bench/emulator: %s\n", error.text);
        return 1;
    }
    bool good = driver->cuDevicePrimaryCtxRetain(&context, 0) == GD_CUDA_SUCCESS &&
                driver->cuCtxSetCurrent(context) == GD_CUDA_SUCCESS && measure_all(driver, &with);
    if (context)
        driver->cuDevicePrimaryCtxRelease(0);
    gd_driver_close(driver);
    return good ? 0 : 1;
}

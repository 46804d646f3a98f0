/* Loads modules of random programs into a driver that is opened by its path, launches each program
 * as one CTA and reads its results. */
#include "differential_run.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/abi.h"

#define ENTRIES(entry)                                                                             \
    entry(cuInit, (unsigned flags)) entry(cuDeviceGet, (gd_CUdevice * device, int ordinal))        \
        entry(cuDevicePrimaryCtxRetain, (gd_CUcontext * context, gd_CUdevice device))              \
            entry(cuCtxSetCurrent, (gd_CUcontext context)) entry(cuCtxSynchronize, (void))         \
                entry(cuModuleLoadDataEx,                                                          \
                      (gd_CUmodule * module, const void *image, unsigned count, int *options,      \
                       void **values)) entry(cuModuleUnload, (gd_CUmodule module))                 \
                    entry(cuModuleGetFunction,                                                     \
                          (gd_CUfunction * function, gd_CUmodule module, const char *name))        \
                        entry(cuMemAlloc_v2, (uint64_t * address, size_t bytes))                   \
                            entry(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes))  \
                                entry(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes))    \
                                    entry(cuMemsetD8_v2,                                           \
                                          (uint64_t to, unsigned char value, size_t bytes))        \
                                        entry(cuLaunchKernel,                                      \
                                              (gd_CUfunction function, unsigned gx, unsigned gy,   \
                                               unsigned gz, unsigned bx, unsigned by, unsigned bz, \
                                               unsigned shared, gd_CUstream stream,                \
                                               void **parameters, void **extra))

typedef struct driver {
#define DECLARE(name, arguments) gd_CUresult(*name) arguments;
    ENTRIES(DECLARE)
#undef DECLARE
    uint64_t inputs, outputs, scratch;
    int optimize;
} driver;

enum { MOST_SLOTS = 2048, RESULT_BYTES = MOST_SLOTS * DIFF_MOST_THREADS * 8 };

static bool check(gd_CUresult result, const char *what)
{
    if (result != GD_CUDA_SUCCESS)
        fprintf(stderr, "%s: driver error %d\n", what, (int)result);
    return result == GD_CUDA_SUCCESS;
}

static bool find_entries(driver *to, const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
#define FIND(name, arguments)                                                                      \
    *(void **)&to->name = dlsym(library, #name);                                                   \
    if (!to->name) {                                                                               \
        fprintf(stderr, "%s lacks %s\n", path, #name);                                             \
        return false;                                                                              \
    }
    ENTRIES(FIND)
#undef FIND
    return true;
}

static bool open_driver(driver *to, const char *path)
{
    gd_CUdevice device;
    gd_CUcontext context;

    return find_entries(to, path) && check(to->cuInit(0), "cuInit") &&
           check(to->cuDeviceGet(&device, 0), "cuDeviceGet") &&
           check(to->cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain") &&
           check(to->cuCtxSetCurrent(context), "cuCtxSetCurrent") &&
           check(to->cuMemAlloc_v2(&to->inputs, DIFF_INPUTS * DIFF_MOST_THREADS * 8),
                 "cuMemAlloc") &&
           check(to->cuMemAlloc_v2(&to->outputs, RESULT_BYTES), "cuMemAlloc") &&
           check(to->cuMemAlloc_v2(&to->scratch, DIFF_SCRATCH * DIFF_MOST_THREADS), "cuMemAlloc");
}

bool diff_range_make(const diff_range *range, uint64_t number, diff_program *program)
{
    if (range->forms)
        return diff_program_form(program, (uint32_t)number, number);
    return diff_program_make(program, number, range->variant);
}

/* NULL when the driver refuses the text, whose log is told when `loud`. */
static gd_CUmodule load(const driver *from, const gd_text *text, bool loud)
{
    static char log[4096];
    int options[] = {5, 6, 7}; /* CU_JIT_ERROR_LOG_BUFFER and its size, CU_JIT_OPTIMIZATION_LEVEL */
    void *values[] = {log, (void *)(uintptr_t)sizeof log, (void *)(uintptr_t)from->optimize};
    gd_CUmodule module = NULL;

    log[0] = 0;
    gd_CUresult result = from->cuModuleLoadDataEx(&module, gd_text_get(text), 3, options, values);
    if (result != GD_CUDA_SUCCESS && loud)
        fprintf(stderr, "refused (%d): %s\n", (int)result, log);
    return result == GD_CUDA_SUCCESS ? module : NULL;
}

/* FNV-1a, eight bytes at a time, of the results that are compared bit for bit. */
static uint64_t digest_of(const diff_program *program, const uint64_t *results)
{
    uint64_t digest = UINT64_C(0xcbf29ce484222325);

    for (uint32_t slot = 0; slot < program->slot_count; slot++) {
        if (program->slots[slot].tolerance > DIFF_LAST)
            continue;
        for (uint32_t thread = 0; thread < program->threads; thread++) {
            digest = (digest ^ results[slot * program->threads + thread]) * UINT64_C(0x100000001b3);
            digest ^= digest >> 29;
        }
    }
    return digest;
}

static bool launch(const driver *on, gd_CUmodule module, uint32_t index,
                   const diff_program *program, uint64_t *results)
{
    static uint64_t inputs[DIFF_INPUTS * DIFF_MOST_THREADS];
    uint64_t in = on->inputs, out = on->outputs, scratch = on->scratch;
    void *parameters[] = {&in, &out, &scratch};
    size_t bytes = (size_t)program->slot_count * program->threads * 8;
    gd_CUfunction function;
    char name[16];

    snprintf(name, sizeof name, "p%" PRIu32, index);
    diff_program_inputs(program, inputs);
    return check(on->cuModuleGetFunction(&function, module, name), name) &&
           check(on->cuMemcpyHtoD_v2(in, inputs, (size_t)program->threads * DIFF_INPUTS * 8),
                 "cuMemcpyHtoD") &&
           check(on->cuMemsetD8_v2(out, DIFF_UNWRITTEN, bytes), "cuMemsetD8") &&
           check(on->cuMemsetD8_v2(scratch, 0, (size_t)program->threads * DIFF_SCRATCH),
                 "cuMemsetD8") &&
           check(on->cuLaunchKernel(function, 1, 1, 1, program->threads, 1, 1, 0, NULL, parameters,
                                    NULL),
                 "cuLaunchKernel") &&
           check(on->cuCtxSynchronize(), "cuCtxSynchronize") &&
           check(on->cuMemcpyDtoH_v2(results, out, bytes), "cuMemcpyDtoH");
}

static bool write_record(FILE *file, const diff_program *program, uint64_t number, diff_state state,
                         bool full, const uint64_t *results)
{
    diff_record record = {.number = number,
                          .slots = program->slot_count,
                          .threads = program->threads,
                          .state = state};

    if (state == DIFF_RAN) {
        record.digest = digest_of(program, results);
        record.bytes = full ? program->slot_count * program->threads * 8 : 0;
    }
    return fwrite(&record, sizeof record, 1, file) == 1 &&
           fwrite(results, 1, record.bytes, file) == record.bytes;
}

/* Programs one by one when the driver refuses their module; a single one that it refuses is
 * recorded so. */
static bool run_batch(const driver *on, const diff_range *range, uint64_t first, uint32_t count,
                      bool full, uint64_t *results, FILE *file)
{
    diff_program *programs = calloc(count, sizeof *programs);
    gd_text text = {0};
    uint32_t made = 0;
    bool done = programs;

    diff_program_head(&text);
    for (; done && made < count && diff_range_make(range, first + made, &programs[made]); made++)
        diff_program_print(&programs[made], made, &text);
    done = done && made && !text.failed;
    gd_CUmodule module = done ? load(on, &text, made == 1) : NULL;
    if (done && !module && made > 1) {
        for (uint32_t i = 0; i < made && done; i++)
            done = run_batch(on, range, first + i, 1, full, results, file);
    } else if (done && !module) {
        fprintf(stderr, "program %" PRIu64 " was refused\n", first);
        done = write_record(file, &programs[0], first, DIFF_REFUSED, full, results);
    }
    for (uint32_t i = 0; i < made && module && done; i++) {
        bool ran =
            programs[i].slot_count <= MOST_SLOTS && launch(on, module, i, &programs[i], results);
        done = write_record(file, &programs[i], first + i, ran ? DIFF_RAN : DIFF_FAULT, full,
                            results) &&
               ran;
        if (!ran)
            fprintf(stderr, "program %" PRIu64 " failed\n", first + i);
    }
    if (module)
        on->cuModuleUnload(module);
    for (uint32_t i = 0; programs && i < count; i++)
        diff_program_free(&programs[i]);
    free(programs);
    gd_text_free(&text);
    return done;
}

bool diff_run(const diff_target *target, const diff_range *range, FILE *file)
{
    driver on = {.optimize = target->optimize};
    uint64_t *results = malloc(RESULT_BYTES);
    bool done = results && open_driver(&on, target->driver);

    for (uint64_t at = 0; at < range->count && done; at += target->batch) {
        uint64_t left = range->count - at;
        done = run_batch(&on, range, range->from + at,
                         left < target->batch ? (uint32_t)left : target->batch,
                         !target->digests_only, results, file);
    }
    free(results);
    return done;
}

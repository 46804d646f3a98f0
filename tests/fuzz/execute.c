/* Mutated PTX, loaded into the emulated driver and executed with all checks: kernels of the shelf,
 * forms of tests/emulator/forms.txt, other texts, the differential fuzzer's programs, and programs
 * of execute_program.c. The driver may refuse each of them, and each launch may fail; nothing may
 * crash, go on for ever, leak, or do what is undefined in C.
 *
 *   execute [--from N] [--count N] [--seconds S] [--jobs J] [FILE...]    (harness.h; *.txt is a
 *   list of forms) execute --print N FILE...                                            the text of
 *   a case
 *
 * In a build with clang and --enable-sanitizers (HACKING.md) it is tests/fuzz/execute. For
 * libFuzzer, whose inputs are texts:
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
 *   -DFUZZ_LIBFUZZER -D_GNU_SOURCE
 *       -I include -I src -I tests -I BUILD -I BUILD/src tests/fuzz/execute*.c tests/fuzz/mutate.c
 *       tests/fuzz/harness.c tests/fuzz/differential_program.c tests/fuzz/differential_statement.c
 *       BUILD/.libs/libgriddep-machine.a BUILD/.libs/libgriddep-core.a -lm -ldl -lpthread -o
 *       fuzz_execute
 *   fuzz_execute -max_len=65536 -rss_limit_mb=4096 -timeout=60 CORPUS */
#include <stdlib.h>
#include <string.h>

#include "differential_program.h"
#include "emulator/api.h"
#include "emulator/forms.h"
#include "execute.h"
#include "griddep.h"
#include "harness.h"
#include "mutate.h"
#include "unfold.h"

enum { LOADED, LAUNCHED, ENDED };

enum { BUFFER_BYTES = 65536, MOST_PARAMETER_BYTES = 32768, MOST_LAUNCHES = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

/* ---- texts ---- */

/* The texts and the forms of files, held until the program ends. */
static struct {
    char **texts, **forms;
    uint32_t text_count, form_count;
} files;

static bool add(char ***list, uint32_t *count, char *item)
{
    char **more = realloc(*list, (*count + 1) * sizeof *more);

    if (!more)
        return false;
    more[(*count)++] = item;
    *list = more;
    return true;
}

/* "! form", "+ form" or "form<tab>what it changes" (tests/emulator/test_forms.c). */
static bool add_forms(char *list)
{
    gd_text unfolded = {0};
    bool done = true;

    unfold(list, &unfolded);
    free(list);
    for (char *line = strtok(unfolded.data, "\n"); line && done; line = strtok(NULL, "\n")) {
        line[strcspn(line, "\t")] = 0;
        if (*line != '#')
            done = add(&files.forms, &files.form_count, line);
    }
    return done;
}

static bool read_files(char **paths, int count)
{
    for (int i = 0; i < count; i++) {
        size_t bytes, length = strlen(paths[i]);
        char *data = fuzz_read_file(paths[i], &bytes);
        bool list = length > 4 && strcmp(paths[i] + length - 4, ".txt") == 0;
        if (!data || !(list ? add_forms(data) : add(&files.texts, &files.text_count, data)))
            return false;
    }
    return true;
}

static void take_shelf(gd_text *text)
{
    griddep_shelf_info info = {.size = sizeof info};
    uint32_t count = 0;

    while (griddep_shelf_get(count, &info, NULL) == GRIDDEP_OK)
        count++;
    if (griddep_shelf_get(fuzz_draw(count), &info, NULL) == GRIDDEP_OK)
        gd_text_append(text, info.text, info.bytes);
}

static void take_forms(gd_text *text)
{
    gd_text_format(text, "%s.visible .entry k%s", form_head, form_prologue);
    for (uint32_t count = 1 + fuzz_draw(6); count; count--) {
        const char *form = files.forms[fuzz_draw(files.form_count)];
        if (*form != '!' ||
            fuzz_draw(16) == 0) /* one that is refused has its whole kernel refused */
            gd_text_format(text, "%s\n", strchr("!+", *form) ? form + 2 : form);
    }
    gd_text_string(text, form_epilogue);
}

static void take_differential(gd_text *text)
{
    diff_program program;

    diff_program_head(text);
    if (diff_program_make(&program, fuzz_bits(), DIFF_ANY))
        diff_program_print(&program, 0, text);
    diff_program_free(&program);
}

static void take_text(gd_text *text)
{
    uint32_t dice = fuzz_draw(10);

    if (dice < 2)
        take_shelf(text);
    else if (dice < 5 && files.form_count)
        take_forms(text);
    else if (dice < 6 && files.text_count)
        gd_text_string(text, files.texts[fuzz_draw(files.text_count)]);
    else if (dice < 7)
        take_differential(text);
    else
        execute_program(text);
}

static void make_case(uint64_t number, gd_text *text)
{
    gd_text other = {0};

    fuzz_seed(number);
    take_text(&other);
    take_text(text);
    for (uint32_t count = fuzz_draw(8) ? 1 + fuzz_draw(1 + fuzz_draw(6)) : 0; count; count--)
        fuzz_mutate(text, &other);
    gd_text_free(&other);
}

/* ---- executing ---- */

static void set(const char *name, const char *value)
{
    setenv(name, value, 1);
}

static void begin(uint64_t chunk)
{
    static const char *const schedules[] = {"eager", "random:1", "lazy", "random:7"};

    set("GRIDDEP_EMULATOR_STEPS", "20000");
    set("GRIDDEP_EMULATOR_CHECK", chunk % 8 == 7 ? "off" : "all");
    set("GRIDDEP_EMULATOR_SCHEDULE", schedules[chunk % 4]);
    set("GRIDDEP_EMULATOR_REPORT", "/dev/null");
    if (cuInit(0) != GD_CUDA_SUCCESS)
        abort();
}

/* A context without anything in it. */
static uint64_t renew(void)
{
    void *context = NULL;
    uint64_t buffer = 0;

    if (cuDevicePrimaryCtxReset_v2(0) != GD_CUDA_SUCCESS ||
        cuDevicePrimaryCtxRetain(&context, 0) != GD_CUDA_SUCCESS ||
        cuCtxSetCurrent(context) != GD_CUDA_SUCCESS ||
        cuMemAlloc_v2(&buffer, BUFFER_BYTES) != GD_CUDA_SUCCESS)
        abort();
    return buffer;
}

/* Addresses in the buffer, and small numbers. */
static void fill_parameters(unsigned char *bytes, uint64_t buffer)
{
    for (uint32_t i = 0; i < MOST_PARAMETER_BYTES; i += 8) {
        uint64_t word = i < 32 || fuzz_draw(2) ? buffer + 4096 * fuzz_draw(16) : fuzz_draw(256);
        memcpy(bytes + i, &word, 8);
    }
}

static size_t parameter_bytes(gd_CUfunction function)
{
    size_t offset = 0, bytes = 0;

    for (size_t i = 0; cuFuncGetParamInfo(function, i, &offset, &bytes) == GD_CUDA_SUCCESS; i++) {
    }
    return offset + bytes;
}

static bool launch(gd_CUfunction function, uint64_t buffer)
{
    static unsigned char parameters[MOST_PARAMETER_BYTES];
    static const unsigned grids[] = {1, 1, 2, 3}, blocks[] = {1, 32, 32, 33, 64, 128},
                          shared[] = {0, 1024, 16384};
    size_t bytes = parameter_bytes(function);
    void *extra[] = {(void *)1, parameters, (void *)2, &bytes,
                     NULL}; /* CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE */
    gd_CUlaunchAttribute early = {.id = GD_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION};
    gd_CUlaunchConfig config = {.gridDimX = grids[fuzz_draw(4)],
                                .gridDimY = grids[fuzz_draw(4)],
                                .gridDimZ = 1,
                                .blockDimX = blocks[fuzz_draw(6)],
                                .blockDimY = 1,
                                .blockDimZ = 1,
                                .sharedMemBytes = shared[fuzz_draw(3)],
                                .attrs = &early,
                                .numAttrs = fuzz_draw(2)};

    early.value.programmaticStreamSerializationAllowed = 1;
    if (bytes > sizeof parameters)
        return false;
    fill_parameters(parameters, buffer);
    return cuLaunchKernelEx(&config, function, NULL, bytes ? extra : NULL) == GD_CUDA_SUCCESS;
}

static void execute(const char *text)
{
    uint64_t buffer = renew();
    gd_CUfunction functions[MOST_LAUNCHES];
    gd_CUmodule module = NULL;
    unsigned count = 0;

    if (cuModuleLoadData(&module, text) != GD_CUDA_SUCCESS ||
        cuModuleGetFunctionCount(&count, module) != GD_CUDA_SUCCESS)
        return;
    fuzz_count(LOADED);
    count = count < MOST_LAUNCHES ? count : MOST_LAUNCHES;
    if (!count || cuModuleEnumerateFunctions(functions, count, module) != GD_CUDA_SUCCESS)
        return;
    bool launched = false;
    for (unsigned i = 0; i < MOST_LAUNCHES; i++)
        launched |= launch(functions[i % count], buffer);
    if (launched)
        fuzz_count(LAUNCHED);
    if (cuCtxSynchronize() == GD_CUDA_SUCCESS && launched)
        fuzz_count(ENDED);
    cuModuleUnload(module);
}

/* ---- as a program, and for libFuzzer ---- */

static void one(uint64_t number)
{
    gd_text text = {0};

    make_case(number, &text);
    execute(gd_text_get(&text));
    gd_text_free(&text);
    renew();
}

static void print(uint64_t number, FILE *out)
{
    gd_text text = {0};

    make_case(number, &text);
    fwrite(gd_text_get(&text), 1, text.bytes, out);
    gd_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;
    gd_text text = {0};

    if (!begun)
        begin(0);
    begun = true;
    fuzz_seed(size);
    gd_text_append(&text, (const char *)data, size);
    execute(gd_text_get(&text));
    gd_text_free(&text);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    gd_text text = {0}, other = {0};

    fuzz_seed(seed);
    gd_text_append(&text, (const char *)data, size);
    take_text(&other);
    if (size < 16)
        gd_text_append(&text, gd_text_get(&other), other.bytes);
    fuzz_mutate(&text, &other);
    size = text.bytes < most ? text.bytes : most;
    memcpy(data, gd_text_get(&text), size);
    gd_text_free(&text);
    gd_text_free(&other);
    return size;
}

#ifndef FUZZ_LIBFUZZER
int main(int count, char **arguments)
{
    static const fuzz_target target = {.name = "execute",
                                       .counters = {"loaded", "launched", "ended without a fault"},
                                       .read_files = read_files,
                                       .begin = begin,
                                       .one = one,
                                       .print = print};

    return fuzz_main(count, arguments, &target);
}
#endif

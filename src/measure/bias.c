/* A kernel of one warp that has marks in a row, and a pause before them to compare the two clocks
 * over. It runs several times, the last time counts: the code is in the device's caches then. */
#include "measure/bias.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "measure/instrument.h"
#include "ptx/handle/ptx.h"
#include "run/module/module.h"

enum { STAMPS = 8, WORDS = 1 + 2 * (GD_POINT_MARK + STAMPS), RUNS = 4 };

static const char kernel_text[] = ".version 6.2\n"
                                  ".target sm_52\n"
                                  ".address_size 64\n"
                                  ".visible .entry pause()\n"
                                  "{\n"
                                  ".reg .pred %early;\n"
                                  ".reg .b32 %one;\n"
                                  ".reg .b64 %start, %now;\n"
                                  "mov.u64 %start, %globaltimer;\n"
                                  "again:\n"
                                  "mov.u64 %now, %globaltimer;\n"
                                  "sub.u64 %now, %now, %start;\n"
                                  "setp.lt.u64 %early, %now, 20000;\n"
                                  "@%early bra again;\n"
                                  "//@ mark 0\nmov.u32 %one, 0;\n"
                                  "//@ mark 1\nmov.u32 %one, 1;\n"
                                  "//@ mark 2\nmov.u32 %one, 2;\n"
                                  "//@ mark 3\nmov.u32 %one, 3;\n"
                                  "//@ mark 4\nmov.u32 %one, 4;\n"
                                  "//@ mark 5\nmov.u32 %one, 5;\n"
                                  "//@ mark 6\nmov.u32 %one, 6;\n"
                                  "//@ mark 7\nmov.u32 %one, 7;\n"
                                  "ret;\n"
                                  "}\n";

static uint64_t word_of(const uint64_t *record, uint32_t point, uint32_t clock)
{
    return record[1 + 2 * point + clock];
}

static gd_bias judge(const uint64_t *record)
{
    gd_bias bias = {NAN, NAN};
    uint32_t first = GD_POINT_MARK, last = GD_POINT_MARK + STAMPS - 1;
    double pause = (double)(word_of(record, first, 0) - word_of(record, GD_POINT_ENTRY, 0));
    double cycles = (double)(word_of(record, last, 1) - word_of(record, first, 1)) / (STAMPS - 1);

    if (pause > 0)
        bias.clock_rate =
            (double)(word_of(record, first, 1) - word_of(record, GD_POINT_ENTRY, 1)) / pause;
    if (bias.clock_rate > 0)
        bias.nanoseconds = cycles / bias.clock_rate;
    return bias;
}

static int32_t run(griddep_runtime *runtime, griddep_kernel *kernel, uint64_t address, void *stream,
                   gd_bias *bias, griddep_error *error)
{
    const griddep_launch_config config = {.size = sizeof config,
                                          .grid = {1, 1, 1},
                                          .block = {32, 1, 1},
                                          .pdl = GRIDDEP_PDL_OFF,
                                          .stream = stream};
    uint64_t record[WORDS];
    int32_t status = GRIDDEP_OK;

    for (uint32_t i = 0; i < RUNS && !status; i++) {
        status = griddep_memory_fill(runtime, address, 0xff, sizeof record, stream, error);
        if (!status)
            status = griddep_launch(kernel, &config, NULL, 0, NULL, error);
        if (!status)
            status = griddep_memory_read(runtime, record, address, sizeof record, stream, error);
    }
    if (!status)
        *bias = judge(record);
    return status;
}

static int32_t load_and_run(griddep_runtime *runtime, const gd_instrumented *made, gd_bias *bias,
                            griddep_error *error)
{
    const griddep_module_options options = {.size = sizeof options,
                                            .name = "the stamps' measurement"};
    griddep_module *module = NULL;
    griddep_kernel *kernel = NULL;
    void *stream = NULL;
    uint64_t address = 0, bytes = 0;
    int32_t status = griddep_module_load(runtime, gd_text_get(&made->text), made->text.bytes,
                                         &options, &module, error);

    if (!status)
        status = griddep_module_find_kernel(module, "pause", &kernel, error);
    if (!status)
        status = gd_module_find_variable(module, GD_INSTRUMENT_VARIABLE, &address, &bytes, error);
    if (!status)
        status = griddep_stream_create(runtime, NULL, &stream, error);
    if (!status)
        status = run(runtime, kernel, address, stream, bias, error);
    if (stream)
        griddep_stream_destroy(runtime, stream, NULL);
    griddep_module_unload(module);
    return status;
}

int32_t gd_bias_measure(griddep_runtime *runtime, gd_bias *bias, griddep_error *error)
{
    gd_instrumented made = {0};
    griddep_ptx *ptx = NULL;
    int32_t status = griddep_ptx_parse(kernel_text, sizeof kernel_text - 1,
                                       "the stamps' measurement", &ptx, error);

    if (!status)
        status = gd_instrument(ptx, "pause", (gd_instrument_grid){{1, 1, 1}, 1}, &made, error);
    if (!status)
        status = load_and_run(runtime, &made, bias, error);
    gd_instrumented_free(&made);
    griddep_ptx_destroy(ptx);
    return status;
}

/* bench/suites transformer-block: a decoder layer at batch 1 as a chain of five kernels, in the
 * shapes of two models and for a short and a long context; one layer, checked against float64, and
 * many in one graph. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/suites.h"
#include "bench/decoder.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/io/progress.h"

/* The first is no model's: it fits the L2 cache, so that its time is that of handing on. */
static const gd_decoder models[] = {
    {"small", 256, 4, 2, 64, 512, 0, 0},
    {"Llama-3.2-1B", 2048, 32, 8, 64, 8192, 0, 0},
    {"Llama-3.1-8B", 4096, 32, 8, 128, 14336, 0, 0},
};

static const uint32_t contexts[] = {512, 4096};

enum {
    MODELS = sizeof(models) / sizeof(models[0]),
    CONTEXTS = sizeof(contexts) / sizeof(contexts[0]),
    LENGTHS = 2, /* one layer, and many */
    BLOCKS = CONTEXTS * LENGTHS
};

typedef struct block {
    gd_decoder decoder;
    gd_bench_modes modes;
} block;

typedef struct blocks {
    uint32_t count;
    block items[];
} blocks;

/* ---- the suite ---- */

static int measure_block(const gd_bench *bench, block *item)
{
    gd_plan plan = {0};
    gd_progress_show("%s, context %u, %u layers", item->decoder.name,
                     (unsigned)item->decoder.context, (unsigned)item->decoder.layers);
    gd_decoder_build(&item->decoder, bench->info, item->decoder.layers == 1, &plan);
    int code = gd_bench_run_plan(bench, &plan, &item->modes);
    gd_plan_free(&plan);
    return code;
}

static int measure(const gd_bench *bench, void **results)
{
    const suites_request *request = bench->request;
    bool as_expected = true;
    size_t first = 1; /* all that are a model's */
    uint32_t count = request->decoder != NULL ? 1 : MODELS - 1;
    int code = gd_options_choose_named("decoder", request->decoder, models, MODELS, sizeof(*models),
                                       &first);
    if (code != 0)
        return code;
    blocks *all = *results = gd_heap_take(1, sizeof(*all) + count * BLOCKS * sizeof(all->items[0]));
    all->count = count * BLOCKS;
    for (uint32_t i = 0; i < all->count && code == 0; i++) {
        block *item = &all->items[i];
        item->decoder = models[first + i / BLOCKS];
        item->decoder.context = contexts[i / LENGTHS % CONTEXTS];
        item->decoder.layers = i % LENGTHS == 0 ? 1 : request->layers;
        code = measure_block(bench, item);
        as_expected &= item->modes.as_expected;
    }
    return code != 0 || as_expected ? code : GD_EXIT_DIFFERS;
}

/* ---- telling ---- */

static void print_block(const gd_bench *bench, gd_columns *columns, const block *item)
{
    const gd_decoder *decoder = &item->decoder;
    double floor = bench->read_ceiling > 0.0
                       ? (double)gd_decoder_layer_bytes(decoder) / bench->read_ceiling
                       : 0.0;
    gd_columns_add(columns, "%s%s", decoder->name, item->modes.as_expected ? "" : ", WRONG");
    gd_columns_add(columns, "%u", (unsigned)decoder->context);
    gd_columns_add(columns, "%u", (unsigned)decoder->layers);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        gd_columns_add(columns, "%.2f", item->modes.timings[mode].us.median / decoder->layers);
    gd_columns_add(columns, "%.2f", floor * 1e6);
    gd_columns_add(columns, "%.1f %%",
                   gd_bench_of_ceiling(bench, &item->modes, GRIDDEP_MODE_GRAPH_PDL) * 100.0);
}

static void print(const gd_bench *bench, const void *results)
{
    const blocks *all = results;
    static const char *const titles[] = {"transformer-block", "context", "layers"};
    gd_columns columns = {.column_count = 9, .left = 1, .titled = true};
    for (size_t i = 0; i < 3; i++)
        gd_columns_add(&columns, "%s", titles[i]);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        gd_columns_add(&columns, "%s", griddep_text(GRIDDEP_TEXT_MODE, mode));
    gd_columns_add(&columns, "bytes/ceiling");
    gd_columns_add(&columns, "of the ceiling");
    for (uint32_t i = 0; i < all->count; i++)
        print_block(bench, &columns, &all->items[i]);
    puts("\nus a layer; bytes/ceiling is what its weights and cache take at the read ceiling");
    gd_columns_print(&columns);
    gd_columns_free(&columns);
}

static json_t *make_json(const gd_bench *bench, const void *results)
{
    const blocks *all = results;
    json_t *list = json_array();
    for (uint32_t i = 0; i < all->count; i++) {
        const block *item = &all->items[i];
        const gd_decoder *decoder = &item->decoder;
        json_t *object = json_object();
        gd_output_set(object, "model", gd_output_string(decoder->name));
        gd_output_set(object, "hidden", json_integer(decoder->hidden));
        gd_output_set(object, "heads", json_integer(decoder->heads));
        gd_output_set(object, "kv_heads", json_integer(decoder->kv_heads));
        gd_output_set(object, "head_dim", json_integer(decoder->head_dim));
        gd_output_set(object, "feed_forward", json_integer(decoder->feed_forward));
        gd_output_set(object, "context", json_integer(decoder->context));
        gd_output_set(object, "layers", json_integer(decoder->layers));
        gd_output_set(object, "as_expected", json_boolean(item->modes.as_expected));
        gd_output_set(object, "bytes_per_layer",
                      json_integer((json_int_t)gd_decoder_layer_bytes(decoder)));
        gd_output_set(object, "modes", gd_bench_modes_json(bench, &item->modes, decoder->layers));
        gd_output_append(list, object);
    }
    return list;
}

const gd_bench_suite suite_transformer_block = {
    "transformer-block", "transformer_block", measure, print, make_json, free};

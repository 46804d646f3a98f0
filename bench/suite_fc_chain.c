/* bench/suites fc-chain: chains of matrix times vector layers of one shape, each with weights of
 * its own, more of them than the L2 cache holds, in the four modes. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/suites.h"
#include "bench/fc_chain.h"
#include "cli/io/heap.h"
#include "cli/io/message.h"
#include "cli/io/options.h"
#include "cli/io/output.h"
#include "cli/plan/planbuild.h"
#include "cli/io/progress.h"

enum { LEAST_LAYERS = 16, MOST_LAYERS = 64 };

typedef struct chain {
    gd_fc_chain made;
    gd_bench_modes modes;
} chain;

typedef struct chains {
    uint32_t count;
    chain items[];
} chains;

static const struct {
    uint64_t rows, columns;
} usual_shapes[] = {{2048, 2048}, {3072, 2048}, {8192, 2048},  {16384, 2048},
                    {2048, 8192}, {4096, 4096}, {14336, 4096}, {4096, 14336}};

enum { USUAL_SHAPES = sizeof(usual_shapes) / sizeof(usual_shapes[0]) };

/* Four times what the L2 cache holds, so that a repeated chain finds nothing of its first layers
 * there. */
static uint32_t choose_layers(const gd_bench *bench, uint64_t layer_bytes)
{
    uint64_t wanted = bench->info->l2_bytes > (64 << 20) ? 4 * bench->info->l2_bytes : 256 << 20;
    uint64_t layers = (wanted + layer_bytes - 1) / layer_bytes;
    layers = layers < LEAST_LAYERS ? LEAST_LAYERS : layers;
    return (uint32_t)(layers > MOST_LAYERS ? MOST_LAYERS : layers);
}

/* ---- the suite ---- */

static int measure_chain(const gd_bench *bench, chain *item)
{
    gd_plan plan = {0};
    item->made.layers = choose_layers(bench, gd_fc_chain_layer_bytes(&item->made));
    item->made.shape =
        item->made.kernel->scaled
            ? gd_build_linear_fp8_shape(bench->info, item->made.rows, item->made.columns)
            : gd_build_matvec_shape(bench->info, item->made.rows, item->made.columns);
    gd_fc_chain_build(&item->made, &plan);
    int code = gd_bench_run_plan(bench, &plan, &item->modes);
    gd_plan_free(&plan);
    return code;
}

static int measure(const gd_bench *bench, void **results)
{
    const suites_request *request = bench->request;
    uint32_t count = request->rows != 0 ? 1 : USUAL_SHAPES;
    size_t kernel = 0;
    int code = gd_options_choose_named("kernel", request->kernel, gd_fc_kernels, GD_FC_KERNELS,
                                       sizeof(*gd_fc_kernels), &kernel);
    if (code != 0)
        return code;
    chains *all = *results = gd_heap_take(1, sizeof(*all) + count * sizeof(all->items[0]));
    bool as_expected = true;
    all->count = count;
    for (uint32_t i = 0; i < count && code == 0; i++) {
        all->items[i].made.kernel = &gd_fc_kernels[kernel];
        all->items[i].made.rows = request->rows != 0 ? request->rows : usual_shapes[i].rows;
        all->items[i].made.columns =
            request->rows != 0 ? request->columns : usual_shapes[i].columns;
        code = measure_chain(bench, &all->items[i]);
        as_expected &= all->items[i].modes.as_expected;
    }
    return code != 0 || as_expected ? code : GD_EXIT_DIFFERS;
}

static void print(const gd_bench *bench, const void *results)
{
    const chains *all = results;
    gd_columns columns = {.column_count = 8, .left = 1, .titled = true};
    static const char *const titles[] = {"fc-chain", "layers", "TB/s", "of the ceiling"};
    gd_columns_add(&columns, "%s", titles[0]);
    gd_columns_add(&columns, "%s", titles[1]);
    for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
        gd_columns_add(&columns, "%s", griddep_text(GRIDDEP_TEXT_MODE, mode));
    gd_columns_add(&columns, "%s", titles[2]);
    gd_columns_add(&columns, "%s", titles[3]);
    for (uint32_t i = 0; i < all->count; i++) {
        const chain *item = &all->items[i];
        gd_columns_add(&columns, "%llu x %llu%s", (unsigned long long)item->made.rows,
                       (unsigned long long)item->made.columns,
                       item->modes.as_expected ? "" : ", WRONG");
        gd_columns_add(&columns, "%u", (unsigned)item->made.layers);
        for (int32_t mode = 0; mode < GRIDDEP_MODE_COUNT; mode++)
            gd_columns_add(&columns, "%.2f",
                           item->modes.timings[mode].us.median / item->made.layers);
        gd_columns_add(&columns, "%.3f",
                       gd_bench_rate(&item->modes, GRIDDEP_MODE_GRAPH_PDL) * 1e-12);
        gd_columns_add(&columns, "%.1f %%",
                       gd_bench_of_ceiling(bench, &item->modes, GRIDDEP_MODE_GRAPH_PDL) * 100.0);
    }
    printf("\nus a layer of %s; bandwidth in mode graph-pdl\n", all->items[0].made.kernel->name);
    gd_columns_print(&columns);
    gd_columns_free(&columns);
}

static json_t *make_json(const gd_bench *bench, const void *results)
{
    const chains *all = results;
    json_t *list = json_array();
    for (uint32_t i = 0; i < all->count; i++) {
        const chain *item = &all->items[i];
        json_t *object = json_object();
        gd_output_set(object, "kernel", gd_output_string(item->made.kernel->name));
        gd_output_set(object, "rows", json_integer((json_int_t)item->made.rows));
        gd_output_set(object, "columns", json_integer((json_int_t)item->made.columns));
        gd_output_set(object, "layers", json_integer(item->made.layers));
        gd_output_set(object, "blocks", json_integer(item->made.shape.blocks));
        gd_output_set(object, "threads", json_integer(item->made.shape.threads));
        gd_output_set(object, "shared_bytes", json_integer(item->made.shape.shared_bytes));
        gd_output_set(object, "as_expected", json_boolean(item->modes.as_expected));
        gd_output_set(object, "bytes_per_layer",
                      json_integer((json_int_t)(item->modes.bytes / item->made.layers)));
        gd_output_set(object, "modes", gd_bench_modes_json(bench, &item->modes, item->made.layers));
        gd_output_append(list, object);
    }
    return list;
}

const gd_bench_suite suite_fc_chain = {"fc-chain", "fc_chain", measure, print, make_json, free};

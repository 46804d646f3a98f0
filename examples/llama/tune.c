/* Launch shapes of a step. What is tuned is the step without its end, which moves positions on, and
 * without hops: each run of it does the same, and no other device has to take part. */
#include <stdio.h>
#include <stdlib.h>

#include "build.h"

/* ---- what a step writes ---- */

typedef struct written {
    griddep_tune_buffer *list;
    uint32_t count;
    void *zeros; /* what all of them hold before a run */
} written;

static uint64_t bytes_at(const model *of, uint64_t address)
{
    for (uint32_t i = 0; i < of->stretch_count; i++)
        if (of->stretches[i].at == address)
            return of->stretches[i].bytes;
    return 0;
}

static void add_written(const model *of, uint64_t address, bool compared, written *all)
{
    const uint64_t bytes = bytes_at(of, address);

    for (uint32_t i = 0; i < all->count; i++)
        if (all->list[i].address == address)
            return;
    if (bytes)
        all->list[all->count++] = (griddep_tune_buffer){
            .size = sizeof *all->list, .compared = compared, .address = address, .bytes = bytes};
}

/* The logits tell whether all before them was right. */
static written list_written(const model *of)
{
    const places *at = &of->at;
    written all = {.list = allocate(of->stretch_count, sizeof *all.list)};
    uint64_t most = 0;

    for (uint32_t i = 0; i < of->config.layers; i++) {
        const layer *each = &at->layers[i];
        const uint64_t parts[] = {
            each->k_cache,    each->v_cache, each->qkv_out, each->attention_out,
            each->output_out, each->f,       each->h};
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            add_written(of, parts[k], false, &all);
    }
    add_written(of, at->own_logits, true, &all);
    add_written(of, at->logits, true, &all);
    add_written(of, at->wide_logits, true, &all);
    add_written(of, at->h, false, &all);
    add_written(of, at->sampled, false, &all);
    for (uint32_t i = 0; i < all.count; i++)
        most = all.list[i].bytes > most ? all.list[i].bytes : most;
    all.zeros = allocate(1, most);
    for (uint32_t i = 0; i < all.count; i++)
        all.list[i].initial = all.zeros;
    return all;
}

/* ---- the search ---- */

/* The last position of the cache, so that the attention reads all of it. */
static void set_position(const model *of)
{
    const uint32_t last = of->capacity - 1, token = 0;

    for (uint32_t i = 0; i < of->sequences; i++) {
        check(griddep_memory_write(of->runtime, of->at.position + 4 * i, &last, 4, NULL, &error),
              "a position");
        check(griddep_memory_write(of->runtime, of->at.token + 4 * i, &token, 4, NULL, &error),
              "a token");
    }
}

static griddep_tune *search_shapes(const model *of, griddep_chain *chain, int32_t mode)
{
    const griddep_tune_options options = {
        .size = sizeof options, .flags = GRIDDEP_TUNE_FLAG_SHAPES, .mode = mode};
    griddep_tune_info info = {.size = sizeof info};
    griddep_tune *tune = NULL;
    written all = list_written(of);

    set_position(of);
    check(griddep_tune_run(chain, all.list, all.count, &options, &tune, &error), "launch shapes");
    free(all.zeros);
    free(all.list);
    check(griddep_tune_get_info(tune, &info, &error), "launch shapes");
    fprintf(stderr, "llama: %s: %u launch shapes tried, a step takes %.1f us",
            of->device.device_name, (unsigned)info.trial_count, info.chosen_ns / 1e3);
    if (info.changed)
        fprintf(stderr, " in place of %.1f", info.baseline_ns / 1e3);
    fprintf(stderr,
            info.changed && !info.remembered ? "; there is no store to remember it\n" : "\n");
    return tune;
}

static void take_shapes(model *of, const griddep_tune *tune, uint32_t launches)
{
    of->shapes = allocate(launches, sizeof *of->shapes);
    of->shape_count = launches;
    for (uint32_t i = 0; i < launches; i++) {
        griddep_tune_choice choice = {.size = sizeof choice};
        check(griddep_tune_get_choice(tune, i, &choice, &error), "launch shapes");
        of->shapes[i] = (griddep_launch_config){.grid = {choice.grid[0]},
                                                .block = {choice.block[0]},
                                                .shared_bytes = choice.shared_bytes};
    }
}

void tune_step(model *of, const sampling *draw, int32_t mode, bool search)
{
    griddep_chain *chain = NULL;
    griddep_tune *tune = NULL;

    if (mode != GRIDDEP_MODE_PDL && mode != GRIDDEP_MODE_GRAPH_PDL)
        return;
    uint32_t launches = decode_make_part(of, draw, &chain);
    if (search)
        tune = search_shapes(of, chain, mode);
    else if (griddep_tune_load(chain, mode, &tune, &error))
        tune = NULL; /* nothing is remembered */
    if (tune)
        take_shapes(of, tune, launches);
    griddep_tune_destroy(tune);
    griddep_chain_destroy(chain);
}

/* Each process tells the others digests of what it has, by a hop of their group. Without that,
 * processes with different weights give text that means nothing. */
#include <stdlib.h>

#include "agree.h"

enum { KINDS = sizeof(belongings) / sizeof(uint64_t) };

static uint64_t digest_options(const model_options *of)
{
    const double numbers[] = {of->type,       of->bits,
                              of->capacity,   of->sequences,
                              of->rows,       of->draw.temperature,
                              of->draw.top_p, of->draw.repetition_penalty,
                              of->draw.top_k};

    return digest_add(digest_add(DIGEST_BEGIN, numbers, sizeof numbers), &of->draw.seed,
                      sizeof of->draw.seed);
}

belongings agree_begin(const char *folder, const weight_files *files, const model_options *options,
                       const token_list *prompts)
{
    belongings own = {.options = digest_options(options), .prompts = DIGEST_BEGIN};
    mapped_file config;

    file_map(folder, "config.json", &config);
    own.model = weights_digest(files, digest_add(DIGEST_BEGIN, config.data, config.bytes));
    file_unmap(&config);
    for (uint32_t i = 0; i < options->sequences; i++) {
        own.prompts = digest_add(own.prompts, &prompts[i].count, sizeof prompts[i].count);
        own.prompts = digest_add(own.prompts, prompts[i].list, 4 * prompts[i].count);
    }
    return own;
}

/* Writes what all have, by rank. */
static void gather(const belongings *own, const device_group *with, belongings *all)
{
    griddep_runtime *runtime = with->runtimes[0];
    griddep_chain *chain = NULL;
    uint64_t memory = 0;

    check(griddep_memory_allocate(runtime, with->devices * sizeof *own, &memory, &error),
          "the other processes");
    const uint64_t place = memory + with->rank * sizeof *own;
    const griddep_hop hop = {.size = sizeof hop,
                             .operation = GRIDDEP_HOP_ALL_GATHER,
                             .type = GRIDDEP_TENSOR_U64,
                             .source = place,
                             .target = memory,
                             .count = KINDS};
    check(griddep_memory_write(runtime, place, own, sizeof *own, NULL, &error),
          "the other processes");
    check(griddep_chain_create(runtime, &chain, &error), "the other processes");
    check(griddep_chain_add_hop(chain, with->group, NULL, &hop, &error), "the other processes");
    check(griddep_chain_run(chain, GRIDDEP_MODE_SERIAL, NULL, &error), "the other processes");
    check(griddep_memory_read(runtime, all, memory, with->devices * sizeof *own, NULL, &error),
          "the other processes");
    check(griddep_group_status(with->group, &error), "the other processes");
    griddep_chain_destroy(chain);
    griddep_memory_free(runtime, memory, NULL);
}

void agree(const belongings *own, const device_group *with)
{
    belongings *all = allocate(with->devices, sizeof *all);

    gather(own, with, all);
    for (uint32_t i = 0; i < with->devices; i++) {
        const char *what = all[i].model != own->model       ? "models"
                           : all[i].options != own->options ? "options"
                           : all[i].prompts != own->prompts ? "prompts"
                                                            : NULL;
        if (what)
            fail("processes %u and %u have different %s", i < with->rank ? i : with->rank,
                 i < with->rank ? with->rank : i, what);
    }
    free(all);
}

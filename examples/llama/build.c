/* Kernels, and launches of them in a chain. */
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "kernels.h"

enum { MOST_MODULES = 16 };

struct model_modules {
    griddep_module *list[MOST_MODULES];
    char *names[MOST_MODULES];
    uint32_t count;
};

static griddep_error error = {.size = sizeof error};

/* ---- kernels ---- */

/* A kernel of the shelf is a module of its own; those of the program are one. */
static griddep_kernel *find_kernel(model *of, const char *name, bool own)
{
    const char *module = own ? "" : name;
    griddep_kernel *kernel = NULL;
    uint32_t i = 0;

    if (!of->modules)
        of->modules = allocate(1, sizeof *of->modules);
    struct model_modules *modules = of->modules;
    while (i < modules->count && strcmp(modules->names[i], module))
        i++;
    if (i == MOST_MODULES)
        fail("there is no room for %s", name);
    if (i == modules->count) {
        if (own)
            check(griddep_module_load(of->runtime, kernels_ptx, strlen(kernels_ptx), NULL,
                                      &modules->list[i], &error),
                  &error, name);
        else
            check(griddep_module_load_shelf(of->runtime, name, NULL, &modules->list[i], &error),
                  &error, name);
        modules->names[i] = format_text("%s", module);
        modules->count++;
    }
    check(griddep_module_find_kernel(modules->list[i], name, &kernel, &error), &error, name);
    return kernel;
}

builder build_begin(model *of, griddep_chain **chain)
{
    check(griddep_chain_create(of->runtime, chain, &error), &error, "a chain");
    for (uint32_t i = 0; i < of->stretch_count; i++)
        check(griddep_chain_add_buffer(*chain, of->stretches[i].at, of->stretches[i].bytes, &error),
              &error, "a chain");
    return (builder){.of = of, .chain = *chain, .type = of->type == ELEMENT_F16 ? "f16" : "bf16"};
}

void build_end(model *of)
{
    if (!of->modules)
        return;
    for (uint32_t i = 0; i < of->modules->count; i++) {
        griddep_module_unload(of->modules->list[i]);
        free(of->modules->names[i]);
    }
    free(of->modules);
    of->modules = NULL;
}

/* ---- arguments ---- */

static void give(builder *with, griddep_argument argument)
{
    with->arguments[with->count++] = argument;
}

void give_address(builder *with, uint64_t address)
{
    give(with, (griddep_argument){.bytes = 8, .value = address});
}

void give_u32(builder *with, uint64_t value)
{
    give(with, (griddep_argument){.bytes = 4, .value = value});
}

void give_u64(builder *with, uint64_t value)
{
    give(with, (griddep_argument){.bytes = 8, .value = value});
}

void give_f32(builder *with, double value)
{
    float narrow = (float)value;
    uint32_t bits;

    memcpy(&bits, &narrow, sizeof bits);
    give_u32(with, bits);
}

void give_map(builder *with, const griddep_tensor_map *map)
{
    give(with, (griddep_argument){.bytes = sizeof *map, .data = map});
}

/* ---- launches ---- */

static void add(builder *with, const char *name, bool own, griddep_launch_config config)
{
    config.size = sizeof config;
    if (with->kernels < with->shape_count) {
        const griddep_launch_config *shape = &with->shapes[with->kernels];
        config.grid[0] = shape->grid[0];
        config.block[0] = shape->block[0];
        config.shared_bytes = shape->shared_bytes;
    }
    with->kernels++;
    check(griddep_chain_add(with->chain, find_kernel(with->of, name, own), &config, with->arguments,
                            with->count, &error),
          &error, name);
    with->count = 0;
    with->launches++;
    with->last = config;
}

void add_own(builder *with, const char *name, griddep_launch_config config)
{
    add(with, name, true, config);
}

void add_shelf(builder *with, const char *family, const char *type, griddep_launch_config config)
{
    char *name = type ? format_text("%s_%s", family, type) : format_text("%s", family);

    config.size = sizeof config;
    check(griddep_shelf_suggest(name, &with->of->device, with->arguments, with->count, &config,
                                &error),
          &error, name);
    add(with, name, false, config);
    free(name);
}

static void add_hop(builder *with, int32_t operation, uint64_t from, uint64_t to, uint64_t count)
{
    const griddep_hop hop = {.size = sizeof hop,
                             .operation = operation,
                             .type = with->of->type == ELEMENT_F16 ? GRIDDEP_TENSOR_F16
                                                                   : GRIDDEP_TENSOR_BF16,
                             .source = from,
                             .target = to,
                             .count = count};

    if (!with->of->group || with->alone)
        return;
    check(griddep_chain_add_hop(with->chain, with->of->group, NULL, &hop, &error), &error, "a hop");
    with->launches++;
}

void add_sum(builder *with, uint64_t at, uint64_t count)
{
    add_hop(with, GRIDDEP_HOP_ALL_REDUCE, at, at, count);
}

void add_gather(builder *with, uint64_t from, uint64_t to, uint64_t count)
{
    add_hop(with, GRIDDEP_HOP_ALL_GATHER, from, to, count);
}

uint64_t once(const builder *with, uint64_t address)
{
    return with->of->rank ? 0 : address;
}

void add_head_norms(builder *with, const layer *at, uint64_t qkv, uint32_t rows)
{
    enum { WARPS = 8 };
    const model_config *config = &with->of->config;
    uint32_t heads = config->heads + config->kv_heads;
    char *name = format_text("norm_heads_%s", with->type);

    give_address(with, qkv);
    give_address(with, at->q_norm);
    give_address(with, at->k_norm);
    give_u32(with, config->heads);
    give_u32(with, config->kv_heads);
    give_u32(with, config->head_dim);
    give_f32(with, config->epsilon);
    add_own(with, name,
            (griddep_launch_config){.grid = {(heads + WARPS - 1) / WARPS, rows},
                                    .block = {32 * WARPS}});
    free(name);
}

void build_launch(model *of, const char *name, griddep_launch_config config,
                  const griddep_argument *arguments, uint32_t count)
{
    config.size = sizeof config;
    check(griddep_launch(find_kernel(of, name, true), &config, arguments, count, NULL, &error),
          &error, name);
}

/* Kernels, and launches of them in a chain. */
#include <stdlib.h>
#include <string.h>

#include "build.h"

/* An application carries its PTX as text, and no compiler. */
__asm__(".section .rodata\n"
        ".global kernels_ptx\n"
        "kernels_ptx:\n"
        ".incbin \"kernels.ptx\"\n"
        ".byte 0\n"
        ".previous\n");
extern const char kernels_ptx[];

/* ---- kernels ---- */

/* A kernel of the shelf is a module of its own; those of the program are one. */
static griddep_kernel *find_kernel(model *of, const char *name, bool own)
{
    const char *module = own ? "" : name;
    griddep_kernel *kernel = NULL;
    uint32_t i = 0;

    while (i < of->module_count && strcmp(of->module_names[i], module))
        i++;
    if (i == MOST_MODULES)
        fail("there is no room for %s", name);
    griddep_module **at = &of->modules[i];
    if (i == of->module_count) {
        check(own ? griddep_module_load(of->runtime, kernels_ptx, strlen(kernels_ptx), NULL, at,
                                        &error)
                  : griddep_module_load_shelf(of->runtime, name, NULL, at, &error),
              name);
        of->module_names[of->module_count++] = format_text("%s", module);
    }
    check(griddep_module_find_kernel(*at, name, &kernel, &error), name);
    return kernel;
}

builder build_begin(model *of, griddep_chain **chain)
{
    check(griddep_chain_create(of->runtime, chain, &error), "a chain");
    for (uint32_t i = 0; i < of->stretch_count; i++)
        check(griddep_chain_add_buffer(*chain, of->stretches[i].at, of->stretches[i].bytes, &error),
              "a chain");
    return (builder){.of = of, .chain = *chain, .type = of->type == ELEMENT_F16 ? "f16" : "bf16"};
}

void build_end(model *of)
{
    for (uint32_t i = 0; i < of->module_count; i++) {
        griddep_module_unload(of->modules[i]);
        free(of->module_names[i]);
    }
}

/* ---- arguments ---- */

void give(builder *with, const griddep_argument *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        with->arguments[with->count++] = list[i];
}

griddep_argument address(uint64_t value)
{
    return (griddep_argument){.bytes = 8, .value = value};
}

griddep_argument u32(uint64_t value)
{
    return (griddep_argument){.bytes = 4, .value = value};
}

griddep_argument f32(double value)
{
    float narrow = (float)value;
    uint32_t bits;

    memcpy(&bits, &narrow, sizeof bits);
    return u32(bits);
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
          name);
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
          name);
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
    check(griddep_chain_add_hop(with->chain, with->of->group, NULL, &hop, &error), "a hop");
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

    GIVE(with, address(qkv), address(at->q_norm), address(at->k_norm), u32(config->heads),
         u32(config->kv_heads), u32(config->head_dim), f32(config->epsilon),
         u32(with->of->type == ELEMENT_F16));
    add_own(with, "norm_heads",
            (griddep_launch_config){.grid = {(heads + WARPS - 1) / WARPS, rows},
                                    .block = {32 * WARPS}});
}

void build_launch(model *of, const char *name, griddep_launch_config config,
                  const griddep_argument *arguments, uint32_t count)
{
    config.size = sizeof config;
    check(griddep_launch(find_kernel(of, name, true), &config, arguments, count, NULL, &error),
          name);
}

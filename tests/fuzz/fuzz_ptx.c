/* libFuzzer target for the PTX front end. The first bytes of an input choose the options of a
 * rewrite, the rest is the text. What must hold for any bytes: nothing crashes or hangs; a parsed
 * text prints as it was; every function has a flow and origins, or passes a named limit; a check
 * comes to an end; a rewritten text parses, and rewriting it again changes nothing; the conditions
 * of its head comment can be evaluated.
 *
 *   make_corpus.py SOURCE OUTPUT
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -D_GNU_SOURCE
 *       -I include -I src -I BUILD -I BUILD/src tests/fuzz/fuzz_ptx.c
 *       $(find src/base src/ptx -name '*.c') -lm -o fuzz_ptx
 *   fuzz_ptx -dict=OUTPUT/ptx.dict -max_len=16384 -rss_limit_mb=2048 -timeout=10 OUTPUT/corpus */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "griddep.h"
#include "ptx/flow/flow.h"
#include "ptx/flow/provenance.h"
#include "ptx/handle/ptx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHOICES = 4, VALUES = 12 };

static void require(bool holds, const char *what, const griddep_error *error)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n%s\n", what, error->text);
    abort();
}

static void check_print(const griddep_ptx *ptx, const char *text, uint64_t size,
                        griddep_error *error)
{
    uint64_t bytes = 0;
    char *printed = malloc(size + 1);

    if (!printed)
        return;
    require(!griddep_ptx_print(ptx, printed, size + 1, &bytes, error), "print works", error);
    require(bytes == size && !memcmp(printed, text, size), "print gives the text", error);
    free(printed);
}

static void check_flow(const gd_flow *flow, const gd_ptx_function *function,
                       const griddep_error *error)
{
    for (uint32_t i = function->instruction; i < function->instruction_end; i++) {
        const gd_flow_block *block = &flow->blocks[gd_flow_block_of(flow, i)];
        require(block->instruction <= i && i < block->instruction_end,
                "a block holds its instructions", error);
        require(gd_flow_dominates(flow, i, i) && gd_flow_postdominates(flow, i, i),
                "dominance is reflexive", error);
    }
}

static void check_functions(const griddep_ptx *ptx, griddep_error *error)
{
    const gd_ptx_module *module = &ptx->module;

    for (uint32_t i = 0; i < module->function_count; i++) {
        const gd_ptx_function *function = &module->functions[i];
        gd_flow *flow = NULL;
        gd_origins *origins = NULL;
        if (!(function->flags & GD_FUNCTION_BODY))
            continue;
        int32_t status = gd_flow_create(module, i, &flow, error);
        require(!status || status == GRIDDEP_ERROR_LIMIT, "a function has a flow", error);
        if (flow)
            check_flow(flow, function, error);
        require(!gd_origins_create(module, i, &origins, error), "a function has origins", error);
        for (uint32_t operand = 0; operand < module->operand_count && operand < 4096; operand++)
            gd_origins_of(origins, operand);
        gd_origins_destroy(origins);
        gd_flow_destroy(flow);
    }
}

static void read_findings(const griddep_findings *findings, griddep_error *error)
{
    for (uint32_t i = 0; i < griddep_findings_count(findings); i++) {
        griddep_finding finding = {.size = sizeof finding};
        require(!griddep_findings_get(findings, i, &finding, error), "a finding can be read",
                error);
    }
}

/* An entry that a wait was put into waits on every path. */
static void check_waits(const griddep_ptx *ptx, const griddep_rewrite_options *options,
                        const griddep_error *error)
{
    if (options->wait != GRIDDEP_WAIT_MOVE && options->wait != GRIDDEP_WAIT_START)
        return;
    for (uint32_t i = 0; i < ptx->module.entry_count; i++) {
        const gd_ptx_function *entry = gd_ptx_get_function(ptx, i);
        require((options->entry && strcmp(options->entry, entry->name)) ||
                    entry->traits & GRIDDEP_TRAIT_WAITS_ALWAYS,
                "a rewritten entry waits on every path", error);
    }
}

static void check_rewrite(const griddep_ptx *ptx, const griddep_rewrite_options *options,
                          griddep_error *error)
{
    griddep_ptx *once = NULL, *twice = NULL;
    griddep_findings *notes = NULL;
    int32_t status = griddep_ptx_rewrite(ptx, options, &once, &notes, error);

    require(status != GRIDDEP_ERROR_SYNTAX && status != GRIDDEP_ERROR_MEMORY,
            "what was rewritten parses", error);
    if (status)
        return;
    read_findings(notes, error);
    griddep_findings_destroy(notes);
    check_waits(once, options, error);
    bool settled = options->trigger != GRIDDEP_TRIGGER_LINE;
    status = griddep_ptx_rewrite(once, options, &twice, NULL, error);
    require(!status || !settled, "what was rewritten can be rewritten", error);
    if (!status && settled)
        check_print(twice, once->module.text, once->module.bytes, error);
    griddep_ptx_destroy(once);
    griddep_ptx_destroy(twice);
}

/* Conditions and extents come to an end with any values, and the check of a launch finds the
 * condition that the conditions one by one do. */
static void check_requirements(const griddep_ptx *ptx, const uint8_t *choices,
                               const griddep_error *error)
{
    /* A tensor map's bytes may begin at each of the first ones. */
    static const uint64_t values[VALUES + GD_TENSOR_MAP_BYTES / 8] = {0,
                                                                      1,
                                                                      16,
                                                                      UINT64_MAX,
                                                                      (uint64_t)1 << 63,
                                                                      4096,
                                                                      UINT32_MAX,
                                                                      31,
                                                                      (uint64_t)7 << 40,
                                                                      255,
                                                                      0x3ff0000000000000,
                                                                      0x3f800000};
    gd_require_launch loaded;
    uint32_t shape[GD_REQUIRE_SHAPE];
    void *arguments[256];

    for (uint32_t i = 0; i < GD_REQUIRE_SHAPE; i++)
        shape[i] = 1u + choices[i % CHOICES] % (i + 2);
    for (uint32_t i = 0; i < 256; i++)
        arguments[i] = (void *)(uintptr_t)&values[(choices[i % CHOICES] + i) % VALUES];
    for (uint32_t i = 0; i < ptx->module.entry_count && ptx->terms; i++) {
        const gd_requires *terms = &ptx->terms[i];
        const gd_ptx_function *entry = gd_ptx_get_function(ptx, i);
        gd_require_outcome outcome;
        uint32_t first = 0;
        uint64_t bytes;
        if (entry->parameter_end - entry->parameter > 256)
            continue;
        gd_requires_load(terms, shape, arguments, true, &loaded);
        for (uint32_t k = 0; k < terms->extent_count; k++)
            gd_require_extent_evaluate(terms, &terms->extents[k], &loaded, &bytes);
        while (first < terms->count &&
               gd_requirement_evaluate(terms, &terms->list[first], &loaded) == GD_REQUIRE_DONE)
            first++;
        require(gd_requires_check(terms, &loaded, &outcome) == first,
                "the whole check finds the same", error);
        const uint32_t plain[GD_REQUIRE_PLAIN_SHAPE] = {
            shape[0], shape[1], shape[2], shape[3], shape[4], shape[5], shape[GD_REQUIRE_SHARED]};
        const bool passes = gd_requires_pass(terms, plain, arguments);
        require(terms->ranges ? passes == (first == terms->count) : !passes,
                "a glance finds the same", error);
    }
}

/* A parameter of the first entry, for options. */
static const char *choose_parameter(const griddep_ptx *ptx, uint8_t choice)
{
    const gd_ptx_function *entry = gd_ptx_get_function(ptx, 0);
    uint32_t count = entry ? entry->parameter_end - entry->parameter : 0;

    return count ? entry->parameter_names[choice % count] : NULL;
}

static void rewrite(const griddep_ptx *ptx, const uint8_t *choices, griddep_error *error)
{
    const char *constant = choose_parameter(ptx, choices[2]);
    griddep_rewrite_options options = {
        .size = sizeof options,
        .wait = choices[0] % 5,
        .trigger = choices[1] % 8,
        .entry = choices[0] & 128              ? NULL
                 : gd_ptx_get_function(ptx, 0) ? gd_ptx_get_function(ptx, 0)->name
                                               : NULL,
    };

    if (options.trigger == GRIDDEP_TRIGGER_LINE)
        options.trigger_line = choices[3] + 1;
    if (constant && choices[2] & 128) {
        options.constants = &constant;
        options.constant_count = 1;
    }
    if (choices[3] & 128) {
        options.prefetch = constant;
        options.prefetch_bytes = constant ? 16 * (uint64_t)(choices[1] + 1) : 0;
    }
    check_rewrite(ptx, &options, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    griddep_error error;
    griddep_ptx *ptx = NULL;
    griddep_findings *findings = NULL;
    static const uint8_t none[CHOICES];
    const uint8_t *choices = size < CHOICES ? none : data;
    const char *text = (const char *)data + (size < CHOICES ? 0 : CHOICES);
    uint64_t bytes = size < CHOICES ? size : size - CHOICES;

    griddep_error_init(&error);
    require(!griddep_ptx_check(text, bytes, "fuzz", NULL, &findings, &error), "a check works",
            &error);
    read_findings(findings, &error);
    griddep_findings_destroy(findings);
    int32_t status = griddep_ptx_parse(text, bytes, "fuzz", &ptx, &error);
    require(!status || status == GRIDDEP_ERROR_SYNTAX, "a text is right or wrong", &error);
    if (status)
        return 0;
    check_print(ptx, text, bytes && !text[bytes - 1] ? bytes - 1 : bytes, &error);
    check_functions(ptx, &error);
    check_requirements(ptx, choices, &error);
    rewrite(ptx, choices, &error);
    griddep_ptx_destroy(ptx);
    return 0;
}

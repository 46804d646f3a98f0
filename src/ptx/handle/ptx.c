/* The public functions griddep_ptx_*: parse, inspect, print. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "base/text.h"
#include "ptx/text/parser.h"
#include "ptx/require/lost_field.h"
#include "ptx/handle/ptx.h"
#include "ptx/flow/traits.h"

/* Where the first version of each info struct ends. */
enum {
    PTX_INFO_MINIMUM = sizeof(griddep_ptx_info),
    ENTRY_INFO_MINIMUM = sizeof(griddep_ptx_entry_info),
    PARAMETER_INFO_MINIMUM = offsetof(griddep_parameter_info, element)
};

static int32_t check(const griddep_ptx *ptx, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    return ptx ? GRIDDEP_OK : gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "ptx is NULL");
}

static int32_t find_entry(const griddep_ptx *ptx, uint32_t entry, const gd_ptx_function **function,
                          griddep_error *error)
{
    int32_t status = check(ptx, error);

    if (status)
        return status;
    *function = gd_ptx_get_function(ptx, entry);
    if (!*function)
        return gd_error_no_number(error, "", ptx->module.name, ptx->module.entry_count, "entry",
                                  "entries", entry);
    return GRIDDEP_OK;
}

static uint32_t count_functions(const gd_ptx_module *module)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < module->function_count; i++)
        count += (module->functions[i].flags & (GD_FUNCTION_BODY | GD_FUNCTION_ENTRY)) ==
                 GD_FUNCTION_BODY;
    return count;
}

static int32_t parse_checked(const char *text, uint64_t bytes, const char *name, griddep_ptx **ptx,
                             griddep_error *error)
{
    if (!text)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "text is NULL");
    if (!ptx)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "ptx is NULL");
    if (bytes > GD_PTX_LIMIT_BYTES)
        return gd_error_set_at(error, GRIDDEP_ERROR_SYNTAX, name, 0, 0,
                               "found %" PRIu64
                               " bytes of PTX, expected at most %d (GD_PTX_LIMIT_BYTES)",
                               bytes, GD_PTX_LIMIT_BYTES);
    if (bytes && !text[bytes - 1])
        bytes--;
    griddep_ptx *made = calloc(1, sizeof *made);
    if (!made)
        return gd_error_memory(error);
    atomic_init(&made->references, 1u);
    if (gd_ptx_module_parse(&made->module, text, (uint32_t)bytes, name) ||
        !gd_ptx_traits_compute(&made->module) ||
        !gd_requires_read(&made->module, &made->terms, &made->requires_wrong)) {
        griddep_ptx_destroy(made);
        return gd_error_memory(error);
    }
    if (made->module.entry_count)
        gd_head_find_lost(&made->module, &made->requires_wrong);
    *ptx = made;
    return GRIDDEP_OK;
}

int32_t gd_ptx_parse_tolerant(const char *text, uint64_t bytes, const char *name, griddep_ptx **ptx,
                              griddep_error *error)
{
    int32_t status = gd_error_check(error);

    return status ? status : parse_checked(text, bytes, name ? name : "ptx", ptx, error);
}

int32_t gd_ptx_report(const griddep_ptx *ptx, const gd_ptx_diagnostic *diagnostic,
                      griddep_error *error)
{
    const gd_ptx_module *module = &ptx->module;
    gd_text quote = {0};
    int32_t line, column;

    gd_ptx_tokens_position(&module->tokens, diagnostic->offset, &line, &column);
    gd_text_quote(&quote, module->text, module->bytes, line, column);
    gd_error_set_at(error, GRIDDEP_ERROR_SYNTAX, module->name, line, column,
                    "%s:%" PRId32 ":%" PRId32 ": %s\n%s", module->name, line, column,
                    diagnostic->text, gd_text_get(&quote));
    gd_text_free(&quote);
    return GRIDDEP_ERROR_SYNTAX;
}

bool gd_ptx_find_entry(const griddep_ptx *ptx, const char *name, uint32_t *index)
{
    const gd_ptx_module *module = &ptx->module;
    size_t length = strlen(name);
    uint32_t found = length > module->bytes
                         ? GD_PTX_NONE
                         : gd_ptx_name_find(&module->names, module->text, name, (uint32_t)length);
    uint32_t symbol = found == GD_PTX_NONE ? GD_PTX_NONE : module->names.list[found].symbol;

    if (symbol == GD_PTX_NONE || module->symbols[symbol].kind != GD_SYMBOL_FUNCTION)
        return false;
    const uint32_t target = module->symbols[symbol].target;
    uint32_t place;
    GD_COUNT_FIRST(place, module->entry_count, i, module->entries[i] < target);
    if (place == module->entry_count || module->entries[place] != target)
        return false;
    *index = place;
    return true;
}

const gd_ptx_function *gd_ptx_get_function(const griddep_ptx *ptx, uint32_t entry)
{
    return entry < ptx->module.entry_count ? &ptx->module.functions[ptx->module.entries[entry]]
                                           : NULL;
}

int32_t griddep_ptx_parse(const char *text, uint64_t bytes, const char *name, griddep_ptx **ptx,
                          griddep_error *error)
{
    griddep_ptx *made = NULL;

    if (!ptx && !gd_error_check(error))
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "ptx is NULL");
    int32_t status = gd_ptx_parse_tolerant(text, bytes, name, &made, error);
    if (status)
        return status;
    if (made->module.diagnostics->count) {
        status = gd_ptx_report(made, &made->module.diagnostics->list[0], error);
        griddep_ptx_destroy(made);
        return status;
    }
    *ptx = made;
    return GRIDDEP_OK;
}

/* Holds are no part of what callers are promised not to be written. */
const griddep_ptx *gd_ptx_hold(const griddep_ptx *ptx)
{
    griddep_ptx *held = (griddep_ptx *)(uintptr_t)ptx;

    atomic_fetch_add_explicit(&held->references, 1u, memory_order_relaxed);
    return ptx;
}

void griddep_ptx_destroy(griddep_ptx *ptx)
{
    if (!ptx || atomic_fetch_sub_explicit(&ptx->references, 1u, memory_order_acq_rel) != 1)
        return;
    gd_requires_free(ptx->terms, ptx->module.entry_count);
    gd_ptx_module_free(&ptx->module);
    free(ptx);
}

int32_t griddep_ptx_get_info(const griddep_ptx *ptx, griddep_ptx_info *info, griddep_error *error)
{
    int32_t status = check(ptx, error);

    if (status)
        return status;
    const gd_ptx_module *module = &ptx->module;
    griddep_ptx_info known = {
        .address_bits = module->address_bits,
        .target = module->target,
        .version = module->version,
        .capability = module->capability,
        .entry_count = module->entry_count,
        .function_count = count_functions(module),
    };
    return gd_struct_write(info, &known, sizeof known, PTX_INFO_MINIMUM, "griddep_ptx_info", error);
}

int32_t griddep_ptx_get_entry(const griddep_ptx *ptx, uint32_t entry, griddep_ptx_entry_info *info,
                              griddep_error *error)
{
    const gd_ptx_function *function;
    int32_t status = find_entry(ptx, entry, &function, error);

    if (status)
        return status;
    griddep_ptx_entry_info known = {
        .traits = function->traits,
        .name = function->name,
        .parameter_count = function->parameter_end - function->parameter,
        .parameter_bytes = function->parameter_bytes,
        .control_count = function->control_end - function->control,
        .instruction_count = function->instruction_end - function->instruction,
    };
    gd_ptx_token_position(&ptx->module, function->token_name, &known.line, &known.column);
    memcpy(known.required_block, function->limits[GD_PERFORMANCE_REQNTID],
           sizeof known.required_block);
    memcpy(known.maximum_block, function->limits[GD_PERFORMANCE_MAXNTID],
           sizeof known.maximum_block);
    memcpy(known.required_cluster, function->limits[GD_PERFORMANCE_REQNCTAPERCLUSTER],
           sizeof known.required_cluster);
    return gd_struct_write(info, &known, sizeof known, ENTRY_INFO_MINIMUM, "griddep_ptx_entry_info",
                           error);
}

int32_t griddep_ptx_get_parameter(const griddep_ptx *ptx, uint32_t entry, uint32_t index,
                                  griddep_parameter_info *info, griddep_error *error)
{
    const gd_ptx_function *function;
    int32_t status = find_entry(ptx, entry, &function, error);

    if (status)
        return status;
    uint32_t count = function->parameter_end - function->parameter;
    if (index >= count)
        return gd_error_no_number(error, "", function->name, count, "parameter", "parameters",
                                  index);
    const gd_ptx_symbol *symbol = &ptx->module.symbols[function->parameter + index];
    griddep_parameter_info known = {
        .offset = symbol->offset,
        .bytes = (uint32_t)symbol->bytes,
        .alignment = symbol->alignment,
        .name = function->parameter_names[index],
        .type = gd_ptx_types[symbol->type].name,
        .is_pointer = symbol->flags & GD_SYMBOL_POINTER ? 1 : 0,
        .element = gd_requires_element(ptx->terms ? &ptx->terms[entry] : NULL, index),
    };
    return gd_struct_write(info, &known, sizeof known, PARAMETER_INFO_MINIMUM,
                           "griddep_parameter_info", error);
}

int32_t griddep_ptx_print(const griddep_ptx *ptx, char *buffer, uint64_t capacity, uint64_t *bytes,
                          griddep_error *error)
{
    int32_t status = check(ptx, error);

    return status ? status
                  : gd_text_export(ptx->module.text, ptx->module.bytes, buffer, capacity, bytes,
                                   error);
}

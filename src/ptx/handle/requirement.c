/* Conditions and extents as the public header has them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "ptx/handle/ptx.h"
#include "ptx/handle/requirement.h"
#include "ptx/handle/shape_check.h"

enum {
    INFO_MINIMUM = sizeof(griddep_requirement_info),
    CONFIG_MINIMUM = sizeof(griddep_launch_config)
};

/* ---- in words ---- */

/* What a condition names, each once, in the order in which it does. */
typedef struct mentioned {
    const gd_requires *terms;
    gd_require_launch *launch;
    gd_text *text;
    bool seen[GD_REQUIRE_LIMIT_NAMES];
    bool some;
} mentioned;

static void write_value(gd_text *text, const gd_require_name *name, uint64_t value)
{
    const char *const *words = name->kind == GD_REQUIRE_KIND_FIELD
                                   ? gd_require_field_words((gd_require_field)name->field)
                                   : NULL;

    if (words)
        gd_text_string(text, words[value]);
    else if (name->kind == GD_REQUIRE_KIND_REAL)
        gd_text_format(text, "%.9g", gd_require_real(value));
    else
        gd_text_format(text, value >> 32 ? "0x%" PRIx64 : "%" PRIu64, value);
}

static void mention(mentioned *list, uint8_t operand, bool with_extent)
{
    const gd_require_name *name = &list->terms->names[operand];
    uint64_t bytes;

    if (operand >= GD_REQUIRE_CONSTANTS || list->seen[operand] ||
        (name->kind == GD_REQUIRE_KIND_FIELD && !(list->launch->understood >> name->map & 1)))
        return;
    list->seen[operand] = true;
    gd_text_format(list->text, "%s%s is ", list->some ? ", " : " (", name->name);
    list->some = true;
    write_value(list->text, name, list->launch->values[operand]);
    if (with_extent && gd_require_extent_evaluate(list->terms, &list->terms->extents[name->extent],
                                                  list->launch, &bytes) == GD_REQUIRE_DONE)
        gd_text_format(list->text, " with %" PRIu64 " bytes", bytes);
}

/* Appends "kernel matvec needs columns % 8 == 0: a row must be whole vectors (columns is 2052)". */
static void explain(const gd_requires *terms, const gd_requirement *requirement, const char *kernel,
                    gd_require_launch *launch, gd_require_outcome outcome, gd_text *text)
{
    mentioned list = {.terms = terms, .launch = launch, .text = text};

    gd_text_format(text, "kernel %s needs %s", kernel, requirement->text);
    if (outcome == GD_REQUIRE_OVERFLOWS)
        gd_text_string(text, ", which is beyond 64 bits");
    else if (outcome == GD_REQUIRE_DIVIDES_BY_ZERO)
        gd_text_string(text, ", which divides by zero");
    if (requirement->reason)
        gd_text_format(text, ": %s", requirement->reason);
    for (uint32_t i = requirement->step; i < requirement->step_end; i++) {
        const gd_require_step *step = &terms->steps[i];
        if (step->op == GD_REQUIRE_UNDERSTOOD)
            continue;
        mention(&list, step->left, step->op == GD_REQUIRE_APART);
        mention(&list, step->right, step->op == GD_REQUIRE_APART);
    }
    gd_text_string(text, ")");
}

/* ---- for a kernel, with or without a driver ---- */

int32_t gd_requirement_check(const gd_requires *terms, gd_require_launch *launch,
                             const char *kernel, griddep_error *error)
{
    gd_require_outcome outcome = GD_REQUIRE_DONE;
    gd_text text = {0};
    uint32_t index = terms ? gd_requires_check(terms, launch, &outcome) : 0;

    if (!terms || index == terms->count)
        return GRIDDEP_OK;
    explain(terms, &terms->list[index], kernel, launch, outcome, &text);
    gd_error_set(error, GRIDDEP_ERROR_REQUIREMENT, "%s", gd_text_get(&text));
    gd_text_free(&text);
    return GRIDDEP_ERROR_REQUIREMENT;
}

int32_t gd_requirement_write(const gd_requires *terms, uint32_t index, const char *kernel,
                             griddep_requirement_info *info, griddep_error *error)
{
    uint32_t count = terms ? terms->count : 0;

    if (index >= count)
        return gd_error_no_number(error, "kernel ", kernel, count, "condition", "conditions",
                                  index);
    const gd_requirement *found = &terms->list[index];
    const griddep_requirement_info known = {.size = sizeof known,
                                            .line = found->line,
                                            .column = found->column,
                                            .text = found->text,
                                            .reason = found->reason};
    return gd_struct_write(info, &known, sizeof known, INFO_MINIMUM, "griddep_requirement_info",
                           error);
}

int32_t gd_requirement_extent(const gd_requires *terms, gd_require_launch *launch,
                              const char *kernel, uint32_t parameter, uint64_t *bytes,
                              griddep_error *error)
{
    const gd_require_extent *found = NULL;
    uint64_t known = 0;

    for (uint32_t i = 0; terms && i < terms->extent_count; i++) {
        if (terms->names[terms->extents[i].name].index == parameter)
            found = &terms->extents[i];
    }
    if (found && found->maps & ~launch->understood)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "kernel %s: the extent of parameter %" PRIu32
                            " depends on a tensor map that is not understood",
                            kernel, parameter);
    if (!found)
        return gd_error_set(error, GRIDDEP_ERROR_NOT_FOUND,
                            "kernel %s: the extent of parameter %" PRIu32 " is not told", kernel,
                            parameter);
    if (gd_require_extent_evaluate(terms, found, launch, &known) != GD_REQUIRE_DONE)
        return gd_error_set(
            error, GRIDDEP_ERROR_REQUIREMENT,
            "kernel %s: the extent of %s, %s, is no number of bytes for this launch", kernel,
            terms->names[found->name].name, found->text);
    *bytes = known;
    return GRIDDEP_OK;
}

/* ---- launches of a parsed text ---- */

static int32_t find_entry(const griddep_ptx *ptx, uint32_t entry, const gd_ptx_function **function,
                          const gd_requires **terms, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!ptx)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "ptx is NULL");
    *function = gd_ptx_get_function(ptx, entry);
    if (!*function)
        return gd_error_no_number(error, "", ptx->module.name, ptx->module.entry_count, "entry",
                                  "entries", entry);
    *terms = ptx->terms ? &ptx->terms[entry] : NULL;
    return GRIDDEP_OK;
}

static int32_t read_shape(const gd_ptx_function *function, const griddep_launch_config *given,
                          uint32_t shape[GD_REQUIRE_SHAPE], bool *has_cluster, griddep_error *error)
{
    griddep_launch_config config;
    const uint32_t *cluster = function->limits[GD_PERFORMANCE_REQNCTAPERCLUSTER];
    int32_t status = gd_struct_read(&config, sizeof config, CONFIG_MINIMUM, given,
                                    "griddep_launch_config", error);

    if (status)
        return status;
    if (config.cluster[0] || config.cluster[1] || config.cluster[2])
        cluster = config.cluster;
    *has_cluster = cluster[0] || cluster[1] || cluster[2];
    for (int i = 0; i < 3; i++) {
        shape[GD_REQUIRE_GRID + i] = i && !config.grid[i] ? 1 : config.grid[i];
        shape[GD_REQUIRE_BLOCK + i] = i && !config.block[i] ? 1 : config.block[i];
        shape[GD_REQUIRE_CLUSTER + i] = cluster[i] ? cluster[i] : 1;
    }
    shape[GD_REQUIRE_SHARED] = config.shared_bytes;
    return GRIDDEP_OK;
}

static int32_t check_argument(const griddep_ptx *ptx, const gd_ptx_function *function,
                              uint32_t index, const griddep_argument *argument,
                              griddep_error *error)
{
    uint64_t bytes = ptx->module.symbols[function->parameter + index].bytes;

    if (argument->bytes == bytes && !argument->reserved && (argument->data || bytes <= 8))
        return GRIDDEP_OK;
    return gd_error_set(
        error, GRIDDEP_ERROR_SIGNATURE,
        "kernel %s: argument %" PRIu32 " (%s) has %" PRIu32 " bytes, the parameter has %" PRIu64,
        function->name, index, function->parameter_names[index], argument->bytes, bytes);
}

/* The values of a launch; `terms` is not NULL. */
static int32_t load(const griddep_ptx *ptx, const gd_ptx_function *function,
                    const gd_requires *terms, const griddep_launch_config *config,
                    const griddep_argument *arguments, uint32_t count, gd_require_launch *launch,
                    griddep_error *error)
{
    uint32_t shape[GD_REQUIRE_SHAPE], wanted = function->parameter_end - function->parameter;
    bool has_cluster;
    int32_t status = read_shape(function, config, shape, &has_cluster, error);

    if (status)
        return status;
    const uint32_t given = arguments ? count : 0;
    if (given != wanted)
        return gd_error_set(error, GRIDDEP_ERROR_SIGNATURE,
                            "kernel %s takes %" PRIu32 " %s, %" PRIu32 " %s given", function->name,
                            wanted, gd_plural(wanted, "argument", "arguments"), given,
                            gd_plural(given, "is", "are"));
    void **pointers = calloc((size_t)count + 1, sizeof *pointers);
    if (!pointers)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < count && !status; i++) {
        status = check_argument(ptx, function, i, &arguments[i], error);
        pointers[i] =
            (void *)(uintptr_t)(arguments[i].data ? arguments[i].data : &arguments[i].value);
    }
    if (!status)
        gd_requires_load(terms, shape, pointers, true, launch);
    free(pointers);
    return status;
}

/* ---- public ---- */

int32_t griddep_ptx_get_requirement(const griddep_ptx *ptx, uint32_t entry, uint32_t index,
                                    griddep_requirement_info *info, griddep_error *error)
{
    const gd_ptx_function *function;
    const gd_requires *terms;
    int32_t status = find_entry(ptx, entry, &function, &terms, error);

    return status ? status : gd_requirement_write(terms, index, function->name, info, error);
}

int32_t griddep_ptx_check_launch(const griddep_ptx *ptx, uint32_t entry,
                                 const griddep_launch_config *config,
                                 const griddep_argument *arguments, uint32_t argument_count,
                                 griddep_error *error)
{
    gd_require_launch launch;
    const gd_requires none = {0}, *terms;
    const gd_ptx_function *function;
    uint32_t shape[GD_REQUIRE_SHAPE];
    bool has_cluster;
    int32_t status = find_entry(ptx, entry, &function, &terms, error);

    if (!status)
        status = load(ptx, function, terms ? terms : &none, config, arguments, argument_count,
                      &launch, error);
    if (!status)
        status = gd_requirement_check(terms, &launch, function->name, error);
    if (!status)
        status = read_shape(function, config, shape, &has_cluster, error);
    return status ? status : gd_shape_check(&ptx->module, function, shape, has_cluster, error);
}

int32_t griddep_ptx_get_extent(const griddep_ptx *ptx, uint32_t entry,
                               const griddep_launch_config *config,
                               const griddep_argument *arguments, uint32_t argument_count,
                               uint32_t parameter, uint64_t *bytes, griddep_error *error)
{
    gd_require_launch launch;
    const gd_requires none = {0}, *terms;
    const gd_ptx_function *function;
    int32_t status = find_entry(ptx, entry, &function, &terms, error);

    if (!status && !bytes)
        status = gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "bytes is NULL");
    if (!status)
        status = load(ptx, function, terms ? terms : &none, config, arguments, argument_count,
                      &launch, error);
    return status ? status
                  : gd_requirement_extent(terms, &launch, function->name, parameter, bytes, error);
}

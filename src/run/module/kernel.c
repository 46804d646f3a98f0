/* Reading a kernel: resources from the driver, parameters and traits from the PTX, the one checked
 * against the other. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "ptx/handle/ptx.h"
#include "run/module/kernel.h"
#include "run/module/module.h"
#include "run/tensor_map.h"

enum {
    INFO_MINIMUM = sizeof(griddep_kernel_info),
    PARAMETER_MINIMUM = offsetof(griddep_parameter_info, element),
    PARAMETER_SPACE = 65536, /* more than any device has for parameters */
    PORTABLE_SHARED_BYTES =
        48 * 1024 /* what every function may use without opting in (CUDA programming guide) */
};

/* ---- resources ---- */

typedef struct function_query {
    int attribute;
    uint32_t *value;
} function_query;

static int32_t query_function(griddep_kernel *kernel, griddep_error *error)
{
    const gd_driver *driver = kernel->runtime->driver;
    griddep_kernel_info *info = &kernel->info;
    uint32_t virtual_architecture = 0, binary_version = 0,
             shared_limit = kernel->runtime->info.shared_bytes_per_block;
    const function_query queries[] = {
        {GD_CU_FUNC_ATTRIBUTE_NUM_REGS, &info->registers},
        {GD_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &info->static_shared_bytes},
        {GD_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &info->local_bytes},
        {GD_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &info->maximum_threads},
        {GD_CU_FUNC_ATTRIBUTE_PTX_VERSION, &virtual_architecture},
        {GD_CU_FUNC_ATTRIBUTE_BINARY_VERSION, &binary_version},
    };

    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        int value = 0;
        gd_CUresult result =
            driver->cuFuncGetAttribute(&value, queries[i].attribute, kernel->function);
        if (result != GD_CUDA_SUCCESS)
            return gd_driver_fail(driver, result, error, "attribute %d of kernel %s cannot be read",
                                  queries[i].attribute, kernel->name);
        *queries[i].value = value < 0 ? 0 : (uint32_t)value;
    }
    info->virtual_architecture = (int32_t)virtual_architecture;
    info->binary_version = (int32_t)binary_version;
    info->maximum_dynamic_shared_bytes =
        info->static_shared_bytes < shared_limit ? shared_limit - info->static_shared_bytes : 0;
    uint32_t portable = info->static_shared_bytes < PORTABLE_SHARED_BYTES
                            ? PORTABLE_SHARED_BYTES - info->static_shared_bytes
                            : 0;
    atomic_init(&kernel->opted_in, portable);
    atomic_init(&kernel->large_clusters, 0u);
    return GRIDDEP_OK;
}

/* ---- parameters ---- */

static int32_t read_code(griddep_kernel *kernel, const griddep_ptx *ptx, griddep_error *error)
{
    griddep_ptx_entry_info entry = {.size = sizeof entry};
    uint32_t index = 0;

    if (!ptx)
        kernel->info.traits = gd_image_traits_of(&kernel->module->machine, kernel->name);
    kernel->read_traits = kernel->info.traits;
    if (!ptx || !gd_ptx_find_entry(ptx, kernel->name, &index))
        return GRIDDEP_OK;
    int32_t status = griddep_ptx_get_entry(ptx, index, &entry, error);
    if (status)
        return status;
    kernel->parameters = calloc((size_t)entry.parameter_count + 1, sizeof *kernel->parameters);
    if (!kernel->parameters)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < entry.parameter_count && !status; i++) {
        kernel->parameters[i].size = sizeof kernel->parameters[i];
        status = griddep_ptx_get_parameter(ptx, index, i, &kernel->parameters[i], error);
    }
    kernel->info.traits = kernel->read_traits = entry.traits;
    kernel->info.ptx = ptx;
    kernel->info.entry = index;
    kernel->info.parameter_count = entry.parameter_count;
    kernel->info.parameters_known = 1;
    kernel->terms = ptx->terms ? &ptx->terms[index] : NULL;
    memcpy(kernel->required_cluster, entry.required_cluster, sizeof entry.required_cluster);
    memcpy(kernel->info.required_block, entry.required_block, sizeof entry.required_block);
    return status;
}

/* One parameter as the driver lays it out; false past the last, which it answers with
 * CUDA_ERROR_INVALID_VALUE, and for what cannot be. */
static bool ask_parameter(const griddep_kernel *kernel, uint32_t index, uint32_t *offset,
                          uint32_t *bytes)
{
    size_t at = 0, size = 0;

    if (kernel->runtime->driver->cuFuncGetParamInfo(kernel->function, index, &at, &size) !=
            GD_CUDA_SUCCESS ||
        at > PARAMETER_SPACE || size > PARAMETER_SPACE)
        return false;
    *offset = (uint32_t)at;
    *bytes = (uint32_t)size;
    return true;
}

/* What the driver says of the parameters: how many there are, and at most `most` of them
 * written. */
static uint32_t ask_driver(const griddep_kernel *kernel, griddep_parameter_info *parameters,
                           uint32_t most)
{
    uint32_t count = 0, offset, bytes;

    while (count < PARAMETER_SPACE && ask_parameter(kernel, count, &offset, &bytes)) {
        if (count < most)
            parameters[count] = (griddep_parameter_info){
                .size = sizeof *parameters, .offset = offset, .bytes = bytes};
        count++;
    }
    return count;
}

/* The alignment that an offset and a size allow; the driver does not tell the declared one. */
static uint32_t alignment_of(uint32_t offset, uint32_t bytes)
{
    uint32_t alignment = 16;

    while (alignment > 1 && (offset % alignment || bytes % alignment))
        alignment /= 2;
    return alignment;
}

/* Where the driver knows more, it has the PTX's first: those keep what the PTX tells about them. */
static int32_t adopt_driver_parameters(griddep_kernel *kernel, uint32_t count, griddep_error *error)
{
    griddep_parameter_info *parameters = calloc((size_t)count + 1, sizeof *parameters);

    if (!parameters)
        return gd_error_memory(error);
    ask_driver(kernel, parameters, count);
    for (uint32_t i = 0; i < count; i++)
        parameters[i].alignment = alignment_of(parameters[i].offset, parameters[i].bytes);
    if (kernel->info.parameters_known && count > kernel->info.parameter_count)
        memcpy(parameters, kernel->parameters, kernel->info.parameter_count * sizeof *parameters);
    free(kernel->parameters);
    kernel->parameters = parameters;
    kernel->info.parameter_count = count;
    kernel->info.parameters_known = 1;
    return GRIDDEP_OK;
}

/* Takes the driver's offsets and sizes for the parameters that the PTX names; false where the
 * driver knows fewer, or more. They differ where an alignment is beyond 16: the driver aligns the
 * address in the constant bank, whose parameters begin at an offset of the chip's own (528 on
 * sm_90). */
static bool follow_driver(griddep_kernel *kernel)
{
    for (uint32_t i = 0; i < kernel->info.parameter_count; i++) {
        griddep_parameter_info *parameter = &kernel->parameters[i];
        uint32_t offset, bytes;
        if (!ask_parameter(kernel, i, &offset, &bytes))
            return false;
        if (offset != parameter->offset || bytes != parameter->bytes)
            gd_log_write(&kernel->runtime->log,
                         bytes == parameter->bytes ? GRIDDEP_LOG_INFO : GRIDDEP_LOG_WARNING,
                         "kernel %s: parameter %" PRIu32 " (%s) is %" PRIu32
                         " bytes at offset %" PRIu32 " by its PTX, %" PRIu32 " at %" PRIu32
                         " by the driver, which is followed",
                         kernel->name, i, parameter->name, parameter->bytes, parameter->offset,
                         bytes, offset);
        parameter->offset = offset;
        parameter->bytes = bytes;
    }
    uint32_t offset, bytes;
    return !ask_parameter(kernel, kernel->info.parameter_count, &offset, &bytes);
}

/* The driver's word on the layout wins: it is the one that unpacks the arguments. */
static int32_t check_parameters(griddep_kernel *kernel, griddep_error *error)
{
    if (!kernel->runtime->driver->cuFuncGetParamInfo ||
        (kernel->info.parameters_known && follow_driver(kernel)))
        return GRIDDEP_OK;
    uint32_t count = ask_driver(kernel, NULL, 0);
    if (kernel->info.parameters_known)
        gd_log_write(&kernel->runtime->log, GRIDDEP_LOG_WARNING,
                     "kernel %s: its PTX declares %" PRIu32 " parameters, the driver knows %" PRIu32
                     "; the driver is followed",
                     kernel->name, kernel->info.parameter_count, count);
    return adopt_driver_parameters(kernel, count, error);
}

static int32_t measure_parameters(griddep_kernel *kernel, griddep_error *error)
{
    kernel->parameter_alignment = 1;
    kernel->argument_bytes = calloc((size_t)kernel->info.parameter_count + 1, sizeof(uint64_t));
    kernel->few = kernel->info.parameters_known && kernel->info.parameter_count <= GD_KERNEL_FEW
                      ? kernel->info.parameter_count
                      : UINT64_MAX;
    if (!kernel->argument_bytes)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < kernel->info.parameter_count; i++) {
        const griddep_parameter_info *parameter = &kernel->parameters[i];
        kernel->argument_bytes[i] = parameter->bytes;
        if (parameter->offset + parameter->bytes > kernel->info.parameter_bytes)
            kernel->info.parameter_bytes = parameter->offset + parameter->bytes;
        if (parameter->alignment > kernel->parameter_alignment)
            kernel->parameter_alignment = parameter->alignment;
    }
    return GRIDDEP_OK;
}

/* ---- create and destroy ---- */

/* Whether the conditions and the driver speak of the same parameters, and whether tensor maps can
 * be read. */
static int32_t bind_terms(griddep_kernel *kernel, griddep_error *error)
{
    const gd_requires *terms = kernel->terms;

    for (uint32_t i = 0; terms && i < terms->name_count; i++) {
        const gd_require_name *name = &terms->names[i];
        const uint32_t bytes =
            name->kind == GD_REQUIRE_KIND_FIELD ? GD_TENSOR_MAP_BYTES : name->bytes;
        if (bytes && (name->index >= kernel->info.parameter_count ||
                      kernel->parameters[name->index].bytes != bytes))
            return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                                "kernel %s: its conditions speak of %s, which is another parameter "
                                "to the driver than "
                                "to the PTX",
                                kernel->name, name->name);
    }
    kernel->maps_understood =
        terms && terms->map_count && gd_tensor_map_is_understood(kernel->runtime);
    if (terms && terms->map_count && !kernel->maps_understood)
        gd_log_write(&kernel->runtime->log, GRIDDEP_LOG_WARNING,
                     "kernel %s: this driver encodes tensor maps in a way that is not known; what "
                     "the kernel requires "
                     "of them is not checked",
                     kernel->name);
    return GRIDDEP_OK;
}

int32_t gd_kernel_create(griddep_module *module, griddep_runtime *runtime, const griddep_ptx *ptx,
                         const char *name, gd_CUfunction function, griddep_kernel **kernel,
                         griddep_error *error)
{
    griddep_kernel *created = calloc(1, sizeof *created);

    if (!created || !(created->name = strdup(name))) {
        gd_kernel_destroy(created);
        return gd_error_memory(error);
    }
    created->module = module;
    created->runtime = runtime;
    created->function = function;
    created->info.size = sizeof created->info;
    created->info.name = created->name;
    created->info.function = function;
    int32_t status = query_function(created, error);
    if (!status)
        status = read_code(created, ptx, error);
    if (!status)
        status = check_parameters(created, error);
    if (!status)
        status = bind_terms(created, error);
    if (!status)
        status = measure_parameters(created, error);
    if (status) {
        gd_kernel_destroy(created);
        return status;
    }
    *kernel = created;
    return GRIDDEP_OK;
}

void gd_kernel_destroy(griddep_kernel *kernel)
{
    if (!kernel)
        return;
    free(kernel->parameters);
    free(kernel->argument_bytes);
    free(kernel->name);
    free(kernel);
}

int32_t griddep_kernel_get_info(griddep_kernel *kernel, griddep_kernel_info *info,
                                griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!kernel)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "kernel is NULL");
    return gd_struct_write(info, &kernel->info, sizeof kernel->info, INFO_MINIMUM,
                           "griddep_kernel_info", error);
}

int32_t griddep_kernel_get_parameter(griddep_kernel *kernel, uint32_t index,
                                     griddep_parameter_info *info, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!kernel)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "kernel is NULL");
    if (!kernel->info.parameters_known)
        return gd_error_set(error, GRIDDEP_ERROR_UNSUPPORTED,
                            "neither PTX nor driver tell the parameters of kernel %s",
                            kernel->name);
    if (index >= kernel->info.parameter_count)
        return gd_error_no_number(error, "kernel ", kernel->name, kernel->info.parameter_count,
                                  "parameter", "parameters", index);
    return gd_struct_write(info, &kernel->parameters[index], sizeof *info, PARAMETER_MINIMUM,
                           "griddep_parameter_info", error);
}

enum {
    WAITS = GRIDDEP_TRAIT_WAITS | GRIDDEP_TRAIT_WAITS_ALWAYS,
    STATEABLE = WAITS | GRIDDEP_TRAIT_TRIGGERS
};

/* The traits among those that may be stated of which the code was read; of machine code that calls
 * a function it is not known that nothing triggers. */
static uint32_t decided_by_code(uint32_t read)
{
    const uint32_t calls = GRIDDEP_TRAIT_MACHINE_CODE | GRIDDEP_TRAIT_CALLS;
    const bool triggers_known = read & GRIDDEP_TRAIT_TRIGGERS || (read & calls) != calls;

    if (!(read & GRIDDEP_TRAIT_KNOWN))
        return 0;
    return (read & GRIDDEP_TRAIT_OPEN ? 0u : (uint32_t)WAITS) |
           (triggers_known ? (uint32_t)GRIDDEP_TRAIT_TRIGGERS : 0u);
}

int32_t griddep_kernel_state_traits(griddep_kernel *kernel, uint32_t traits, griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!kernel)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "kernel is NULL");
    if (traits & ~(uint32_t)STATEABLE)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT,
                            "traits may be GRIDDEP_TRAIT_WAITS, _WAITS_ALWAYS and _TRIGGERS");
    if (traits & GRIDDEP_TRAIT_WAITS_ALWAYS)
        traits |= GRIDDEP_TRAIT_WAITS;
    const uint32_t read = kernel->read_traits, decided = decided_by_code(read),
                   differs = (traits ^ read) & decided;
    if (differs)
        return gd_error_set(
            error, GRIDDEP_ERROR_UNSUPPORTED, "kernel %s: its %s was read, and says otherwise: %s",
            kernel->name, read & GRIDDEP_TRAIT_MACHINE_CODE ? "machine code" : "PTX",
            differs & GRIDDEP_TRAIT_TRIGGERS
                ? read & GRIDDEP_TRAIT_TRIGGERS ? "it triggers" : "it never triggers"
            : read & GRIDDEP_TRAIT_WAITS_ALWAYS ? "it waits on each path"
            : read & GRIDDEP_TRAIT_WAITS        ? "a path misses the wait"
                                                : "it never waits");
    if (decided != STATEABLE)
        kernel->info.traits =
            (read & decided) | (traits & ~decided) | GRIDDEP_TRAIT_KNOWN | GRIDDEP_TRAIT_STATED;
    return GRIDDEP_OK;
}

/* The linker, for PTX texts: cuLink*. What comes out is an image in the emulator's own format. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "emulator/driver/call.h"
#include "emulator/driver/merge.h"
#include "emulator/driver/module.h"

typedef struct gd_link {
    gd_object object;
    gd_jit jit; /* its logs grow from call to call */
    gd_merge_input *inputs;
    uint32_t input_count, input_capacity;
    void *image;
} gd_link;

void gd_link_destroy(gd_object *object)
{
    gd_link *link = (gd_link *)object;

    gd_object_remove(&link->object);
    for (uint32_t i = 0; i < link->input_count; i++) {
        griddep_ptx_destroy(link->inputs[i].ptx);
        free(link->inputs[i].name);
    }
    free(link->inputs);
    free(link->image);
    free(link);
}

gd_CUresult gd_cuLinkCreate_v2(unsigned int count, gd_CUjit_option *options, void **values,
                               gd_CUlinkState *handle)
{
    gd_context *context = gd_call_context();

    if (!handle || (count && (!options || !values)))
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_link *link = calloc(1, sizeof *link);
    gd_CUresult result =
        link ? gd_jit_read(&link->jit, context->device->chip, count, options, values)
             : GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (result == GD_CUDA_SUCCESS && !gd_object_add(&link->object, GD_OBJECT_LINK, context))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    if (result != GD_CUDA_SUCCESS) {
        free(link);
        return result;
    }
    *handle = link->object.handle;
    return GD_CUDA_SUCCESS;
}

static bool has_extern_variable(const gd_ptx_module *module)
{
    for (uint32_t i = 0; i < module->symbol_count; i++) {
        if (module->symbols[i].kind == GD_SYMBOL_VARIABLE &&
            module->symbols[i].link & GD_LINK_EXTERN)
            return true;
    }
    return false;
}

/* What is wrong with a text is told now, unless it depends on others. */
static gd_CUresult check_program(gd_link *link, const griddep_ptx *ptx)
{
    gd_program_error error = {0};

    if (has_extern_variable(&ptx->module))
        return GD_CUDA_SUCCESS;
    gd_program *program = gd_program_create(&ptx->module, gd_the_emulator.memory,
                                            &link->object.context->owner, &error);

    if (program) {
        gd_program_destroy(program);
        return GD_CUDA_SUCCESS;
    }
    gd_jit_write(&link->jit.errors, "ptxas application ptx input, line %" PRId32 "; error   : %s",
                 error.line, error.text);
    return error.out_of_memory ? GD_CUDA_ERROR_OUT_OF_MEMORY : GD_CUDA_ERROR_INVALID_PTX;
}

static gd_CUresult keep(gd_link *link, griddep_ptx *ptx, const char *name)
{
    if (link->input_count == link->input_capacity) {
        const uint32_t capacity = link->input_capacity ? link->input_capacity * 2 : 4;
        gd_merge_input *more = realloc(link->inputs, capacity * sizeof *more);
        if (!more)
            return GD_CUDA_ERROR_OUT_OF_MEMORY;
        link->inputs = more;
        link->input_capacity = capacity;
    }
    char *kept = strdup(name && *name ? name : "ptx");
    if (!kept)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    link->inputs[link->input_count++] = (gd_merge_input){ptx, kept};
    return GD_CUDA_SUCCESS;
}

static gd_CUresult add_text(gd_link *link, const char *text, size_t bytes, const char *name)
{
    griddep_ptx *ptx = NULL;
    gd_CUresult result = gd_jit_parse_text(&link->jit, text, bytes, GD_JIT_PART, &ptx);

    if (result == GD_CUDA_SUCCESS)
        result = check_program(link, ptx);
    if (result == GD_CUDA_SUCCESS)
        result = keep(link, ptx, name);
    if (result != GD_CUDA_SUCCESS)
        griddep_ptx_destroy(ptx);
    return gd_jit_close(&link->jit, result);
}

static gd_CUresult add_fatbin(gd_link *link, gd_view fatbin, const char *name)
{
    char *text = NULL;
    uint64_t bytes = 0;
    gd_CUresult result = gd_jit_unpack(&link->jit, fatbin, &text, &bytes);

    result = result == GD_CUDA_SUCCESS ? add_text(link, text, bytes, name)
                                       : gd_jit_close(&link->jit, result);
    free(text);
    return result;
}

static gd_CUresult add(gd_CUlinkState handle, gd_CUjitInputType type, const char *data,
                       size_t bytes, const char *name)
{
    gd_link *link = gd_object_find(handle, GD_OBJECT_LINK);

    if (!link)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (!data || !bytes || link->image || type < GD_CU_JIT_INPUT_CUBIN ||
        type > GD_CU_JIT_INPUT_NVVM)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (type == GD_CU_JIT_INPUT_FATBINARY)
        return add_fatbin(link, (gd_view){(const unsigned char *)data, bytes}, name);
    if (type != GD_CU_JIT_INPUT_PTX)
        return gd_device_unsupported("linking anything but PTX");
    return add_text(link, data, strnlen(data, bytes), name);
}

static gd_CUresult add_file(gd_CUlinkState handle, gd_CUjitInputType type, const char *path)
{
    griddep_error error;
    char *data = NULL;
    size_t bytes;

    if (!path)
        return GD_CUDA_ERROR_INVALID_VALUE;
    griddep_error_init(&error);
    int32_t status = gd_file_read(path, &data, &bytes, &error);
    if (status)
        return status == GRIDDEP_ERROR_MEMORY ? GD_CUDA_ERROR_OUT_OF_MEMORY
                                              : GD_CUDA_ERROR_FILE_NOT_FOUND;
    gd_CUresult result = add(handle, type, data, bytes, path);
    free(data);
    return result;
}

/* One text stays as it is, so that its lines keep their numbers. */
static gd_CUresult join(gd_link *link, gd_text *joined)
{
    const gd_ptx_module *first = &link->inputs[0].ptx->module;

    if (link->input_count > 1)
        return gd_merge(link->inputs, link->input_count, &link->jit, joined);
    gd_text_append(joined, first->text, first->bytes);
    return joined->failed ? GD_CUDA_ERROR_OUT_OF_MEMORY : GD_CUDA_SUCCESS;
}

static gd_CUresult make_image(gd_link *link, size_t *made)
{
    griddep_ptx *ptx = NULL;
    gd_text joined = {0};
    gd_CUresult result = join(link, &joined);

    if (result == GD_CUDA_SUCCESS)
        result = gd_jit_parse_text(&link->jit, joined.data, joined.bytes, GD_JIT_LINKED, &ptx);
    if (result == GD_CUDA_SUCCESS &&
        !(link->image =
              gd_jit_make_image(link->jit.chip->capability, joined.data, joined.bytes, made)))
        result = GD_CUDA_ERROR_OUT_OF_MEMORY;
    griddep_ptx_destroy(ptx);
    gd_text_free(&joined);
    return gd_jit_close(&link->jit, result);
}

gd_CUresult gd_cuLinkComplete(gd_CUlinkState handle, void **image, size_t *bytes)
{
    gd_link *link = gd_object_find(handle, GD_OBJECT_LINK);
    size_t made = 0;

    if (!link)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (!image || !link->input_count || link->image)
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_CUresult result = make_image(link, &made);
    if (result != GD_CUDA_SUCCESS)
        return result;
    *image = link->image;
    if (bytes)
        *bytes = made;
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuLinkDestroy(gd_CUlinkState handle)
{
    gd_object *link = gd_object_find(handle, GD_OBJECT_LINK);

    if (!link)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    gd_link_destroy(link);
    return GD_CUDA_SUCCESS;
}

gd_CUresult gd_cuLinkAddData_v2(gd_CUlinkState link, gd_CUjitInputType type, void *data,
                                size_t bytes, const char *name, unsigned int count,
                                gd_CUjit_option *options, void **values)
{
    (void)options;
    (void)values;
    return count && !options ? GD_CUDA_ERROR_INVALID_VALUE : add(link, type, data, bytes, name);
}

gd_CUresult gd_cuLinkAddFile_v2(gd_CUlinkState link, gd_CUjitInputType type, const char *path,
                                unsigned int count, gd_CUjit_option *options, void **values)
{
    (void)options;
    (void)values;
    return count && !options ? GD_CUDA_ERROR_INVALID_VALUE : add_file(link, type, path);
}

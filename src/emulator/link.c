/* The linker, for one PTX text: cuLink*. What comes out is an image in the emulator's own format. */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "emulator/api.h"
#include "emulator/module.h"

typedef struct gd_link {
    gd_object object;
    gd_CUjit_option *options;
    void **values; /* the program's: log sizes are written into it */
    unsigned count;
    char *text;
    size_t bytes;
    void *image;
} gd_link;

void gd_link_destroy(gd_object *object)
{
    gd_link *link = (gd_link *)object;

    gd_object_remove(&link->object);
    free(link->options);
    free(link->text);
    free(link->image);
    free(link);
}

static gd_CUresult create(gd_context *context, unsigned count, const gd_CUjit_option *options, void **values,
                          gd_CUlinkState *handle)
{
    if (!handle || (count && (!options || !values)))
        return GD_CUDA_ERROR_INVALID_VALUE;
    gd_link *link = calloc(1, sizeof *link);
    gd_CUjit_option *copy = calloc((size_t)count + 1, sizeof *copy);
    if (!link || !copy || !gd_object_add(&link->object, GD_OBJECT_LINK, context)) {
        free(link);
        free(copy);
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (count)
        memcpy(copy, options, count * sizeof *copy);
    link->options = copy;
    link->values = values;
    link->count = count;
    *handle = link->object.handle;
    return GD_CUDA_SUCCESS;
}

/* Reads the text once, so that what is wrong with it is told now. */
static gd_CUresult check_text(gd_link *link, const char *text, size_t bytes)
{
    griddep_ptx *ptx = NULL;
    gd_program_error error = {0};
    gd_jit jit;
    gd_CUresult result = gd_jit_read(&jit, link->count, link->options, link->values);

    if (result == GD_CUDA_SUCCESS)
        result = gd_jit_parse_text(&jit, text, bytes, &ptx);
    if (result == GD_CUDA_SUCCESS) {
        gd_program *program = gd_program_create(&ptx->module, gd_the_device.memory, &error);
        if (!program) {
            gd_jit_write(&jit.errors, "ptxas application ptx input, line %d; error   : %s", (int)error.line,
                         error.text);
            result = error.out_of_memory ? GD_CUDA_ERROR_OUT_OF_MEMORY : GD_CUDA_ERROR_INVALID_PTX;
        }
        gd_program_destroy(program);
    }
    gd_jit_close(&jit);
    griddep_ptx_destroy(ptx);
    return result;
}

static gd_CUresult add(gd_CUlinkState handle, gd_CUjitInputType type, const char *data, size_t bytes)
{
    gd_link *link = gd_object_find(handle, GD_OBJECT_LINK);

    if (!link)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (!data || !bytes || link->image || type < GD_CU_JIT_INPUT_CUBIN || type > GD_CU_JIT_INPUT_NVVM)
        return GD_CUDA_ERROR_INVALID_VALUE;
    if (type != GD_CU_JIT_INPUT_PTX)
        return gd_device_unsupported("linking anything but PTX");
    if (link->text)
        return gd_device_unsupported("linking several PTX texts");
    size_t length = strnlen(data, bytes);
    gd_CUresult result = check_text(link, data, length);
    if (result != GD_CUDA_SUCCESS)
        return result;
    link->text = malloc(length + 1);
    if (!link->text)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(link->text, data, length);
    link->text[length] = 0;
    link->bytes = length;
    return GD_CUDA_SUCCESS;
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
        return status == GRIDDEP_ERROR_MEMORY ? GD_CUDA_ERROR_OUT_OF_MEMORY : GD_CUDA_ERROR_FILE_NOT_FOUND;
    gd_CUresult result = add(handle, type, data, bytes);
    free(data);
    return result;
}

static gd_CUresult complete(gd_CUlinkState handle, void **image, size_t *bytes)
{
    gd_link *link = gd_object_find(handle, GD_OBJECT_LINK);
    size_t made = 0;

    if (!link)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    if (!image || !link->text || link->image)
        return GD_CUDA_ERROR_INVALID_VALUE;
    link->image = gd_jit_make_image(link->text, link->bytes, &made);
    if (!link->image)
        return GD_CUDA_ERROR_OUT_OF_MEMORY;
    *image = link->image;
    if (bytes)
        *bytes = made;
    return GD_CUDA_SUCCESS;
}

static gd_CUresult destroy(gd_CUlinkState handle)
{
    gd_object *link = gd_object_find(handle, GD_OBJECT_LINK);

    if (!link)
        return GD_CUDA_ERROR_INVALID_HANDLE;
    gd_link_destroy(link);
    return GD_CUDA_SUCCESS;
}

gd_CUresult cuLinkCreate_v2(unsigned int count, gd_CUjit_option *options, void **values, gd_CUlinkState *link)
{
    GD_CALL(GD_NEED_LIVE, create(context, count, options, values, link));
}

gd_CUresult cuLinkAddData_v2(gd_CUlinkState link, gd_CUjitInputType type, void *data, size_t bytes, const char *name,
                             unsigned int count, gd_CUjit_option *options, void **values)
{
    (void)name;
    (void)options;
    (void)values;
    GD_CALL(GD_NEED_LIVE, count && !options ? GD_CUDA_ERROR_INVALID_VALUE : add(link, type, data, bytes));
}

gd_CUresult cuLinkAddFile_v2(gd_CUlinkState link, gd_CUjitInputType type, const char *path, unsigned int count,
                             gd_CUjit_option *options, void **values)
{
    (void)options;
    (void)values;
    GD_CALL(GD_NEED_LIVE, count && !options ? GD_CUDA_ERROR_INVALID_VALUE : add_file(link, type, path));
}

gd_CUresult cuLinkComplete(gd_CUlinkState link, void **image, size_t *bytes)
{
    GD_CALL(GD_NEED_LIVE, complete(link, image, bytes));
}

gd_CUresult cuLinkDestroy(gd_CUlinkState link)
{
    GD_CALL(GD_NEED_INIT, destroy(link));
}

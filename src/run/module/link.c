#include "run/module/link.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/error.h"
#include "ptx/handle/ptx.h"
#include "run/module/compile.h"
#include "run/module/image.h"

/* ---- PTX among the inputs ---- */

static bool is_text(const griddep_link_input *input)
{
    int32_t kind = 0;

    return !gd_image_examine(input->image, input->bytes, "input", &kind, NULL) &&
           kind == GRIDDEP_IMAGE_PTX;
}

int32_t gd_link_read_texts(const griddep_link_input *inputs, uint32_t count, gd_link_texts *texts,
                           griddep_error *error)
{
    texts->items = calloc((size_t)count + 1, sizeof(griddep_ptx *));
    if (!texts->items)
        return gd_error_memory(error);
    for (uint32_t i = 0; i < count; i++) {
        const char *text = inputs[i].image;
        const size_t bytes = strnlen(text, (size_t)inputs[i].bytes);
        if (!is_text(&inputs[i]))
            continue;
        int32_t status = griddep_ptx_parse(text, bytes, inputs[i].name ? inputs[i].name : "input",
                                           &texts->items[texts->count], NULL);
        if (status == GRIDDEP_ERROR_MEMORY)
            return gd_error_memory(error);
        texts->count += !status;
    }
    return GRIDDEP_OK;
}

void gd_link_free_texts(gd_link_texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++)
        griddep_ptx_destroy(texts->items[i]);
    free(texts->items);
    *texts = (gd_link_texts){0};
}

const griddep_ptx *gd_link_text_of(const gd_link_texts *texts, const char *entry)
{
    uint32_t index;

    for (uint32_t i = 0; i < texts->count; i++) {
        if (gd_ptx_find_entry(texts->items[i], entry, &index))
            return texts->items[i];
    }
    return NULL;
}

/* ---- the driver's linker ---- */

/* What the driver calls an input; archives begin as all archives do, and an ELF file for another
 * machine is a host object with device code in it. */
static int32_t find_type(const griddep_link_input *input, const char *name, gd_CUjitInputType *type,
                         griddep_error *error)
{
    static const gd_CUjitInputType types[] = {[GRIDDEP_IMAGE_PTX] = GD_CU_JIT_INPUT_PTX,
                                              [GRIDDEP_IMAGE_CUBIN] = GD_CU_JIT_INPUT_CUBIN,
                                              [GRIDDEP_IMAGE_FATBIN] = GD_CU_JIT_INPUT_FATBINARY};
    const gd_view view = {input->image, input->bytes};
    char magic[8] = "";
    int32_t kind = 0;
    gd_elf elf;

    gd_view_copy(view, 0, magic, sizeof magic);
    if (!memcmp(magic, "!<arch>\n", 8)) {
        *type = GD_CU_JIT_INPUT_LIBRARY;
        return GRIDDEP_OK;
    }
    if (!memcmp(magic, ELFMAG, SELFMAG) && !gd_elf_open(view, &elf) &&
        elf.header.e_machine != GD_ELF_CUDA) {
        *type = GD_CU_JIT_INPUT_OBJECT;
        return GRIDDEP_OK;
    }
    int32_t status = gd_image_examine(input->image, input->bytes, name, &kind, error);
    if (!status)
        *type = types[kind];
    return status;
}

/* PTX is given with a zero byte behind it. */
static int32_t add_input(griddep_runtime *runtime, gd_CUlinkState link,
                         const griddep_link_input *input, uint32_t index, gd_jit_options *jit,
                         griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    const char *name = input->name ? input->name : "input";
    gd_CUjitInputType type = 0;
    int32_t status = find_type(input, name, &type, error);

    if (status) {
        gd_error_append(error, "; inputs[%" PRIu32 "] cannot be linked", index);
        return status;
    }
    size_t bytes = (size_t)input->bytes;
    char *copy = malloc(bytes + 1);
    if (!copy)
        return gd_error_memory(error);
    memcpy(copy, input->image, bytes);
    copy[bytes] = 0;
    if (type == GD_CU_JIT_INPUT_PTX)
        bytes = strlen(copy) + 1;
    gd_CUresult result = driver->cuLinkAddData(link, type, copy, bytes, name, 0, NULL, NULL);
    if (result != GD_CUDA_SUCCESS)
        status = gd_jit_options_fail(jit, runtime, result, name,
                                     type == GD_CU_JIT_INPUT_PTX ? copy : NULL, bytes, error);
    free(copy);
    return status;
}

static int32_t complete(griddep_runtime *runtime, gd_CUlinkState link, const char *name,
                        gd_jit_options *jit, void **image, size_t *bytes, griddep_error *error)
{
    void *linked = NULL;
    size_t size = 0;
    gd_CUresult result = runtime->driver->cuLinkComplete(link, &linked, &size);

    if (result != GD_CUDA_SUCCESS) {
        int32_t status = gd_jit_options_fail(jit, runtime, result, name, NULL, 0, error);
        if (status == GRIDDEP_ERROR_IMAGE && error)
            error->status = GRIDDEP_ERROR_COMPILE;
        return status == GRIDDEP_ERROR_IMAGE ? GRIDDEP_ERROR_COMPILE : status;
    }
    *image = malloc(size);
    if (!*image)
        return gd_error_memory(error);
    memcpy(*image, linked, size);
    *bytes = size;
    return GRIDDEP_OK;
}

int32_t gd_link(griddep_runtime *runtime, const griddep_link_input *inputs, uint32_t count,
                const griddep_module_options *options, void **image, size_t *bytes, char **log,
                griddep_error *error)
{
    const gd_driver *driver = runtime->driver;
    gd_CUlinkState link = NULL;
    gd_jit_options jit;
    int32_t status = GRIDDEP_OK;

    if (!gd_jit_options_make(&jit, options)) {
        gd_jit_options_free(&jit);
        return gd_error_memory(error);
    }
    gd_CUresult result = driver->cuLinkCreate(jit.count, jit.names, jit.values, &link);
    if (result != GD_CUDA_SUCCESS)
        status = gd_driver_fail(driver, result, error, "%s cannot be linked", options->name);
    for (uint32_t i = 0; i < count && !status; i++)
        status = add_input(runtime, link, &inputs[i], i, &jit, error);
    if (!status)
        status = complete(runtime, link, options->name, &jit, image, bytes, error);
    if (link)
        driver->cuLinkDestroy(link);
    if (!status) {
        *log = jit.information;
        jit.information = NULL;
    }
    gd_jit_options_free(&jit);
    return status;
}

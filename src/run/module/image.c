/* Recognizing images by their first bytes: ELF for a cubin, the fatbin's magic number, text for
 * PTX. And what is in them: parts, kernels. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cubin.h"
#include "base/error.h"
#include "base/fatbin.h"
#include "base/unpack.h"
#include "run/module/image.h"

static int32_t reject(griddep_error *error, const char *name, const char *what)
{
    return gd_error_set_at(error, GRIDDEP_ERROR_IMAGE, name, 0, 0, "%s", what);
}

static int32_t examine_cubin(gd_view image, const char *name, griddep_error *error)
{
    gd_cubin cubin;
    const char *wrong = gd_cubin_open(image, &cubin);

    return wrong ? reject(error, name, wrong) : GRIDDEP_OK;
}

static int32_t examine_fatbin(gd_view image, const char *name, griddep_error *error)
{
    const char *wrong = gd_fatbin_check(image);
    int32_t status = GRIDDEP_OK;
    gd_fatbin_entry entry;

    if (wrong)
        return reject(error, name, wrong);
    for (uint64_t at = 0; !status && gd_fatbin_next(image, &at, &entry);) {
        if (entry.kind == GD_FATBIN_CUBIN && !entry.packed)
            status = examine_cubin(entry.stored, name, error);
    }
    return status;
}

/* PTX is text: no zero byte but at the end, and a ".version" in it (PTX ISA, Module-Level
 * Directives: each module begins with it). */
static int32_t examine_text(const char *text, uint64_t bytes, const char *name,
                            griddep_error *error)
{
    while (bytes && text[bytes - 1] == 0)
        bytes--;
    if (bytes == 0)
        return reject(error, name, "the image is empty");
    if (memchr(text, 0, (size_t)bytes) || !memmem(text, (size_t)bytes, ".version", 8))
        return reject(error, name,
                      "neither PTX text (no .version directive), nor a cubin, nor a fatbin");
    return GRIDDEP_OK;
}

int32_t gd_image_examine(const void *image, uint64_t bytes, const char *name, int32_t *kind,
                         griddep_error *error)
{
    const gd_view view = {image, bytes};
    uint32_t magic = 0;

    gd_view_copy(view, 0, &magic, sizeof magic);
    if (!memcmp(&magic, ELFMAG, SELFMAG)) {
        *kind = GRIDDEP_IMAGE_CUBIN;
        return examine_cubin(view, name, error);
    }
    if (magic == GD_FATBIN_MAGIC) {
        *kind = GRIDDEP_IMAGE_FATBIN;
        return examine_fatbin(view, name, error);
    }
    if (magic == GD_FATBIN_WRAPPER_MAGIC)
        return reject(
            error, name,
            "this is a fatbin wrapper with a pointer in it; give the fatbin that it points to");
    *kind = GRIDDEP_IMAGE_PTX;
    return examine_text(image, bytes, name, error);
}

const char *gd_image_kind_name(int32_t kind)
{
    return kind == GRIDDEP_IMAGE_CUBIN ? "cubin" : kind == GRIDDEP_IMAGE_FATBIN ? "fatbin" : "PTX";
}

/* ---- kernels of machine code ---- */

int32_t gd_image_list_kernels(const void *data, uint64_t bytes, gd_image_kernels *list,
                              griddep_error *error)
{
    uint32_t capacity = 0;
    gd_cubin cubin;
    const char *name;

    if (gd_cubin_open((gd_view){data, bytes}, &cubin))
        return GRIDDEP_OK;
    for (uint64_t at = 0; (name = gd_cubin_next(&cubin, &at));) {
        if (list->count == capacity) {
            capacity = capacity ? 2 * capacity : 8;
            griddep_image_kernel *more = realloc(list->items, capacity * sizeof *more);
            if (!more)
                return gd_error_memory(error);
            list->items = more;
        }
        griddep_image_kernel *kernel = &list->items[list->count];
        *kernel = (griddep_image_kernel){.size = sizeof *kernel, .name = strdup(name)};
        if (!kernel->name || gd_cubin_traits(&cubin, name, &kernel->traits)) {
            free((char *)(uintptr_t)kernel->name);
            return gd_error_memory(error);
        }
        list->count++;
    }
    return GRIDDEP_OK;
}

void gd_image_free_kernels(gd_image_kernels *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        free((char *)(uintptr_t)list->items[i].name);
    free(list->items);
    *list = (gd_image_kernels){0};
}

uint32_t gd_image_traits_of(const gd_image_kernels *list, const char *name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (!strcmp(list->items[i].name, name))
            return list->items[i].traits;
    }
    return 0;
}

/* ---- images as objects ---- */

typedef struct part {
    griddep_image_part info; /* its data are the part's, or the image's */
    char *owned;             /* what was unpacked or copied; NULL */
    gd_image_kernels kernels;
} part;

struct griddep_image {
    int32_t kind;
    part *parts;
    uint32_t part_count;
};

enum {
    IMAGE_MINIMUM = sizeof(griddep_image_info),
    PART_MINIMUM = sizeof(griddep_image_part),
    KERNEL_MINIMUM = sizeof(griddep_image_kernel)
};

static int32_t add_part(griddep_image *image, int32_t kind, char *owned, uint64_t bytes,
                        part **added, griddep_error *error)
{
    part *more = realloc(image->parts, (image->part_count + 1) * sizeof *more);

    if (!more) {
        free(owned);
        return gd_error_memory(error);
    }
    image->parts = more;
    part *made = *added = &more[image->part_count++];
    *made = (part){.owned = owned};
    made->info = (griddep_image_part){
        .size = sizeof made->info, .kind = kind, .bytes = bytes, .data = owned};
    if (kind != GRIDDEP_IMAGE_CUBIN)
        return GRIDDEP_OK;
    int32_t status = gd_image_list_kernels(owned, bytes, &made->kernels, error);
    made->info.kernel_count = made->kernels.count;
    return status;
}

static int32_t add_entry(griddep_image *image, const gd_fatbin_entry *entry, const char *name,
                         griddep_error *error)
{
    char *data = NULL;
    uint64_t bytes = 0;
    int32_t kind = 0;
    part *made;
    griddep_error ignored;

    griddep_error_init(&ignored);
    const char *wrong = gd_fatbin_unpack(entry, &data, &bytes);
    if (wrong == gd_unpack_no_memory)
        return gd_error_memory(error);
    if (wrong || gd_image_examine(data, bytes, name, &kind, &ignored))
        kind = 0; /* it is there, and cannot be read */
    int32_t status = add_part(image, kind, data, wrong ? 0 : bytes, &made, error);
    if (status)
        return status;
    made->info.architecture = entry->chip;
    made->info.suffix = entry->flags & GD_FATBIN_SPECIFIC ? 'a'
                        : entry->flags & GD_FATBIN_FAMILY ? 'f'
                                                          : 0;
    made->info.packed = entry->packed;
    return GRIDDEP_OK;
}

static int32_t add_whole(griddep_image *image, const void *data, uint64_t bytes,
                         griddep_error *error)
{
    char *copy = malloc((size_t)bytes + 1);
    gd_cubin cubin;
    part *made;

    if (!copy)
        return gd_error_memory(error);
    memcpy(copy, data, (size_t)bytes);
    copy[bytes] = 0;
    if (image->kind == GRIDDEP_IMAGE_PTX)
        bytes = strlen(copy);
    int32_t status = add_part(image, image->kind, copy, bytes, &made, error);
    if (!status && image->kind == GRIDDEP_IMAGE_CUBIN &&
        !gd_cubin_open((gd_view){(unsigned char *)copy, bytes}, &cubin))
        made->info.architecture = cubin.chip;
    return status;
}

int32_t griddep_image_open(const void *data, uint64_t bytes, const char *name,
                           griddep_image **image, griddep_error *error)
{
    const gd_view view = {data, bytes};
    int32_t kind = 0, status = gd_error_check(error);
    gd_fatbin_entry entry;

    if (status)
        return status;
    if (!data || !image)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "%s is NULL", data ? "image" : "data");
    name = name ? name : "image";
    status = gd_image_examine(data, bytes, name, &kind, error);
    if (status)
        return status;
    griddep_image *made = calloc(1, sizeof *made);
    if (!made)
        return gd_error_memory(error);
    made->kind = kind;
    if (kind != GRIDDEP_IMAGE_FATBIN)
        status = add_whole(made, data, bytes, error);
    for (uint64_t at = 0;
         kind == GRIDDEP_IMAGE_FATBIN && !status && gd_fatbin_next(view, &at, &entry);)
        status = add_entry(made, &entry, name, error);
    if (status) {
        griddep_image_destroy(made);
        return status;
    }
    *image = made;
    return GRIDDEP_OK;
}

void griddep_image_destroy(griddep_image *image)
{
    if (!image)
        return;
    for (uint32_t i = 0; i < image->part_count; i++) {
        gd_image_free_kernels(&image->parts[i].kernels);
        free(image->parts[i].owned);
    }
    free(image->parts);
    free(image);
}

int32_t griddep_image_get_info(const griddep_image *image, griddep_image_info *info,
                               griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!image)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "image is NULL");
    const griddep_image_info known = {
        .size = sizeof known, .kind = image->kind, .part_count = image->part_count};
    return gd_struct_write(info, &known, sizeof known, IMAGE_MINIMUM, "griddep_image_info", error);
}

static int32_t find_part(const griddep_image *image, uint32_t index, const part **found,
                         griddep_error *error)
{
    int32_t status = gd_error_check(error);

    if (status)
        return status;
    if (!image)
        return gd_error_set(error, GRIDDEP_ERROR_ARGUMENT, "image is NULL");
    if (index >= image->part_count)
        return gd_error_no_number(error, "", "the image", image->part_count, "part", "parts",
                                  index);
    *found = &image->parts[index];
    return GRIDDEP_OK;
}

int32_t griddep_image_get_part(const griddep_image *image, uint32_t index, griddep_image_part *info,
                               griddep_error *error)
{
    const part *found = NULL;
    int32_t status = find_part(image, index, &found, error);

    return status ? status
                  : gd_struct_write(info, &found->info, sizeof found->info, PART_MINIMUM,
                                    "griddep_image_part", error);
}

int32_t griddep_image_get_kernel(const griddep_image *image, uint32_t index, uint32_t kernel,
                                 griddep_image_kernel *info, griddep_error *error)
{
    const part *found = NULL;
    int32_t status = find_part(image, index, &found, error);

    if (status)
        return status;
    if (kernel >= found->kernels.count)
        return gd_error_no_number(error, "", "this part", found->kernels.count, "kernel", "kernels",
                                  kernel);
    return gd_struct_write(info, &found->kernels.items[kernel], sizeof *info, KERNEL_MINIMUM,
                           "griddep_image_kernel", error);
}

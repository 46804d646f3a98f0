/* Images are read by the library, which knows the traits of both PTX and machine code. */
#include "cli/program/attachedcode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "griddep.h"

#include "cli/io/heap.h"

struct gd_attached_code {
    griddep_image *image; /* NULL: it cannot be read */
    griddep_ptx **texts;  /* of its parts; NULL: none, or one that cannot be read */
    uint32_t part_count;
};

static struct gd_attached_code *open_image(const gd_attached_image *image)
{
    struct gd_attached_code *code = gd_heap_take(1, sizeof(*code));
    griddep_image_info info = {.size = sizeof(info)};
    size_t bytes = image->bytes;
    if (bytes > 0 && image->data[bytes - 1] == '\0' && memchr(image->data, '\0', bytes) != NULL &&
        strlen(image->data) == bytes - 1)
        bytes--; /* a text's zero */
    gd_emulated_head head;
    gd_view given = {(const unsigned char *)image->data, bytes};
    gd_emulated_text(given, &head, &given); /* what the emulated driver links is PTX */
    if (griddep_image_open(given.bytes, given.size, NULL, &code->image, NULL) != GRIDDEP_OK)
        return code;
    griddep_image_get_info(code->image, &info, NULL);
    code->part_count = info.part_count;
    code->texts = gd_heap_take(info.part_count, sizeof(griddep_ptx *));
    for (uint32_t i = 0; i < info.part_count; i++) {
        griddep_image_part part = {.size = sizeof(part)};
        if (griddep_image_get_part(code->image, i, &part, NULL) == GRIDDEP_OK &&
            part.kind == GRIDDEP_IMAGE_PTX && part.data != NULL)
            griddep_ptx_parse(part.data, part.bytes, NULL, &code->texts[i], NULL);
    }
    return code;
}

static void name_target(gd_kernel_code *code, const griddep_image_part *part)
{
    char suffix[2] = {(char)part->suffix, '\0'};
    if (part->architecture > 0)
        snprintf(code->target, sizeof(code->target), "sm_%d%s", part->architecture, suffix);
}

static bool find_in_text(const griddep_ptx *ptx, const griddep_image_part *part, const char *kernel,
                         gd_kernel_code *code)
{
    griddep_ptx_entry_info entry = {.size = sizeof(entry)};
    griddep_ptx_info info = {.size = sizeof(info)};
    for (uint32_t i = 0; ptx != NULL && griddep_ptx_get_entry(ptx, i, &entry, NULL) == GRIDDEP_OK;
         i++) {
        if (strcmp(entry.name, kernel) != 0)
            continue;
        *code = (gd_kernel_code){.source = "PTX", .traits = entry.traits, .ptx = ptx, .entry = i};
        name_target(code, part);
        if (griddep_ptx_get_info(ptx, &info, NULL) == GRIDDEP_OK)
            snprintf(code->target, sizeof(code->target), "%s", info.target);
        return true;
    }
    return false;
}

static bool find_in_cubin(const griddep_image *image, uint32_t index,
                          const griddep_image_part *part, const char *kernel, gd_kernel_code *code)
{
    griddep_image_kernel each = {.size = sizeof(each)};
    for (uint32_t i = 0; i < part->kernel_count; i++) {
        if (griddep_image_get_kernel(image, index, i, &each, NULL) != GRIDDEP_OK ||
            strcmp(each.name, kernel) != 0)
            continue;
        *code = (gd_kernel_code){.source = each.traits != 0 ? "machine code" : NULL,
                                 .traits = each.traits};
        name_target(code, part);
        return true;
    }
    return false;
}

/* Of a kind, the part for the newest chip that is not beyond `most`. */
static bool find_in_parts(const struct gd_attached_code *from, int32_t kind, uint32_t least,
                          uint32_t most, const char *kernel, gd_kernel_code *code)
{
    int32_t newest = -1;
    for (uint32_t i = 0; i < from->part_count; i++) {
        griddep_image_part part = {.size = sizeof(part)};
        if (griddep_image_get_part(from->image, i, &part, NULL) != GRIDDEP_OK ||
            part.kind != kind || part.architecture < newest ||
            (part.architecture > 0 &&
             ((uint32_t)part.architecture < least || (uint32_t)part.architecture > most)))
            continue;
        bool found = kind == GRIDDEP_IMAGE_PTX ? find_in_text(from->texts[i], &part, kernel, code)
                                               : find_in_cubin(from->image, i, &part, kernel, code);
        if (found)
            newest = part.architecture;
    }
    return newest >= 0;
}

static bool is_open(gd_attached_image *image)
{
    if (image->data != NULL && image->code == NULL)
        image->code = open_image(image);
    return image->code != NULL && image->code->image != NULL;
}

gd_kernel_code gd_attachedcode_find_text(gd_attached_image *image, const char *kernel,
                                         uint32_t binary)
{
    gd_kernel_code code = {0};
    if (is_open(image))
        find_in_parts(image->code, GRIDDEP_IMAGE_PTX, 0, binary > 0 ? binary : UINT32_MAX, kernel,
                      &code);
    return code;
}

gd_kernel_code gd_attachedcode_find(gd_attached_image *image, const char *kernel, uint32_t binary)
{
    gd_kernel_code code = {0};
    if (is_open(image) && find_in_parts(image->code, GRIDDEP_IMAGE_CUBIN, binary,
                                        binary > 0 ? binary : UINT32_MAX, kernel, &code))
        return code;
    return gd_attachedcode_find_text(image, kernel, binary);
}

void gd_attachedcode_end(gd_attached_image *image)
{
    if (image->code == NULL)
        return;
    for (uint32_t i = 0; i < image->code->part_count; i++)
        griddep_ptx_destroy(image->code->texts[i]);
    griddep_image_destroy(image->code->image);
    free(image->code->texts);
    free(image->code);
    image->code = NULL;
}

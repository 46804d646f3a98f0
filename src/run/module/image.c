/* Recognizing images by their first bytes: ELF for a cubin, the fatbin's magic number, text for
 * PTX. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/elf.h"
#include "base/error.h"
#include "base/fatbin.h"
#include "run/module/image.h"

static int32_t reject(griddep_error *error, const char *name, const char *what)
{
    return gd_error_set_at(error, GRIDDEP_ERROR_IMAGE, name, 0, 0, "%s: %s", name, what);
}

static int32_t examine_cubin(gd_view image, const char *name, griddep_error *error)
{
    gd_elf elf;
    const char *wrong = gd_elf_open(image, &elf);

    if (!wrong && elf.header.e_machine != GD_ELF_CUDA)
        return reject(error, name,
                      "this ELF file is no cubin: it holds code for another kind of machine");
    if (!wrong)
        return GRIDDEP_OK;
    reject(error, name, wrong);
    gd_error_append(error, "; the file is cut off or damaged");
    return GRIDDEP_ERROR_IMAGE;
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

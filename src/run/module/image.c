/* Recognizing images by their first bytes: ELF for a cubin, the fatbin's magic number, text for
 * PTX. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/elf.h"
#include "base/error.h"
#include "run/module/image.h"

static const uint32_t fatbin_magic = 0xba55ed50u;
static const uint32_t fatbin_wrapper_magic = 0x466243b1u;

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t bytes; /* of its entries */
} fatbin_header;

/* The beginning of an entry of a fatbin, as nvcc (CUDA 12.0 to 13.0) writes it. */
typedef struct fatbin_entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t bytes;            /* behind its header */
    uint32_t compressed_bytes; /* of these; 0: they are not compressed */
    uint32_t options;          /* offset in the header */
} fatbin_entry;

enum { FATBIN_CUBIN = 2 };

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

/* Entries follow one another up to the end of the fatbin. */
static int32_t examine_entries(gd_view entries, const char *name, griddep_error *error)
{
    gd_view header, bytes;
    fatbin_entry entry;

    for (uint64_t at = 0; at < entries.size; at += entry.header_bytes + entry.bytes) {
        if (!gd_view_copy(entries, at, &entry, sizeof entry) || entry.header_bytes < sizeof entry ||
            entry.options > entry.header_bytes ||
            !gd_view_part(entries, at, entry.header_bytes, &header) ||
            !gd_view_part(entries, at + entry.header_bytes, entry.bytes, &bytes) ||
            entry.compressed_bytes > entry.bytes)
            return reject(error, name,
                          "an entry of this fatbin lies beyond the end of the data; the file is "
                          "cut off or damaged");
        int32_t status = entry.kind == FATBIN_CUBIN && !entry.compressed_bytes
                             ? examine_cubin(bytes, name, error)
                             : GRIDDEP_OK;
        if (status)
            return status;
    }
    return GRIDDEP_OK;
}

static int32_t examine_fatbin(gd_view image, const char *name, griddep_error *error)
{
    fatbin_header header;
    gd_view entries;

    if (!gd_view_copy(image, 0, &header, sizeof header))
        return reject(error, name, "this fatbin ends inside its header");
    if (header.header_bytes < sizeof header ||
        !gd_view_part(image, header.header_bytes, header.bytes, &entries))
        return reject(
            error, name,
            "this fatbin says that it is longer than the data; the file is cut off or damaged");
    return examine_entries(entries, name, error);
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
    if (magic == fatbin_magic) {
        *kind = GRIDDEP_IMAGE_FATBIN;
        return examine_fatbin(view, name, error);
    }
    if (magic == fatbin_wrapper_magic)
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

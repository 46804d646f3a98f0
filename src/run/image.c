/* Recognizing images by their first bytes: ELF for a cubin, the fatbin's magic number, text for PTX. */
#include <elf.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/error.h"
#include "run/image.h"

enum { MACHINE_CUDA = 190 }; /* e_machine of cubins, as the ELF registry assigns it */

static const uint32_t fatbin_magic = 0xba55ed50u;
static const uint32_t fatbin_wrapper_magic = 0x466243b1u;

typedef struct fatbin_header {
    uint32_t magic;
    uint16_t version;
    uint16_t header_bytes;
    uint64_t bytes; /* behind the header */
} fatbin_header;

static int32_t reject(griddep_error *error, const char *name, const char *what)
{
    return gd_error_set_at(error, GRIDDEP_ERROR_IMAGE, name, 0, 0, "%s: %s", name, what);
}

static bool inside(uint64_t offset, uint64_t length, uint64_t bytes)
{
    return offset <= bytes && length <= bytes - offset;
}

static int32_t examine_sections(const unsigned char *image, uint64_t bytes, const Elf64_Ehdr *header, const char *name,
                                griddep_error *error)
{
    for (uint32_t i = 0; i < header->e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, image + header->e_shoff + (uint64_t)i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS && !inside(section.sh_offset, section.sh_size, bytes))
            return reject(error, name,
                          "a section of this cubin lies beyond the end of the data; the file is cut off or damaged");
    }
    return GRIDDEP_OK;
}

static int32_t examine_cubin(const unsigned char *image, uint64_t bytes, const char *name, griddep_error *error)
{
    Elf64_Ehdr header;

    if (bytes < sizeof header)
        return reject(error, name, "this ELF file ends inside its header");
    memcpy(&header, image, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != MACHINE_CUDA)
        return reject(error, name, "this ELF file is no cubin: it holds code for another kind of machine");
    if (header.e_shnum && (header.e_shentsize != sizeof(Elf64_Shdr) ||
                           !inside(header.e_shoff, (uint64_t)header.e_shnum * sizeof(Elf64_Shdr), bytes)))
        return reject(
            error, name,
            "the section table of this cubin lies beyond the end of the data; the file is cut off or damaged");
    if (header.e_phnum && (header.e_phentsize != sizeof(Elf64_Phdr) ||
                           !inside(header.e_phoff, (uint64_t)header.e_phnum * sizeof(Elf64_Phdr), bytes)))
        return reject(
            error, name,
            "the program headers of this cubin lie beyond the end of the data; the file is cut off or damaged");
    return examine_sections(image, bytes, &header, name, error);
}

static int32_t examine_fatbin(const unsigned char *image, uint64_t bytes, const char *name, griddep_error *error)
{
    fatbin_header header;

    if (bytes < sizeof header)
        return reject(error, name, "this fatbin ends inside its header");
    memcpy(&header, image, sizeof header);
    if (header.header_bytes < sizeof header || !inside(header.header_bytes, header.bytes, bytes))
        return reject(error, name, "this fatbin says that it is longer than the data; the file is cut off or damaged");
    return GRIDDEP_OK;
}

/* PTX is text: no zero byte but at the end, and a ".version" in it (PTX ISA, Module-Level Directives: each module
 * begins with it). */
static int32_t examine_text(const char *text, uint64_t bytes, const char *name, griddep_error *error)
{
    while (bytes && text[bytes - 1] == 0)
        bytes--;
    if (bytes == 0)
        return reject(error, name, "the image is empty");
    if (memchr(text, 0, (size_t)bytes) || !memmem(text, (size_t)bytes, ".version", 8))
        return reject(error, name, "neither PTX text (no .version directive), nor a cubin, nor a fatbin");
    return GRIDDEP_OK;
}

int32_t gd_image_examine(const void *image, uint64_t bytes, const char *name, int32_t *kind, griddep_error *error)
{
    uint32_t magic = 0;

    if (bytes >= sizeof magic)
        memcpy(&magic, image, sizeof magic);
    if (bytes >= SELFMAG && !memcmp(image, ELFMAG, SELFMAG)) {
        *kind = GRIDDEP_IMAGE_CUBIN;
        return examine_cubin(image, bytes, name, error);
    }
    if (magic == fatbin_magic) {
        *kind = GRIDDEP_IMAGE_FATBIN;
        return examine_fatbin(image, bytes, name, error);
    }
    if (magic == fatbin_wrapper_magic)
        return reject(error, name, "this is a fatbin wrapper with a pointer in it; give the fatbin that it points to");
    *kind = GRIDDEP_IMAGE_PTX;
    return examine_text(image, bytes, name, error);
}

const char *gd_image_kind_name(int32_t kind)
{
    return kind == GRIDDEP_IMAGE_CUBIN ? "cubin" : kind == GRIDDEP_IMAGE_FATBIN ? "fatbin" : "PTX";
}

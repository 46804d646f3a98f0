/* Texts of PTX, cubins, fatbins. */
#include "attach/image.h"

#include <elf.h>
#include <string.h>

static const uint32_t fatbin_magic = 0xba55ed50u, wrapper_magic = 0x466243b1u;

typedef struct fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *more;
} fatbin_wrapper;

typedef struct fatbin_head {
    uint32_t magic;
    uint16_t version, head_bytes;
    uint64_t bytes; /* behind the head */
} fatbin_head;

static uint64_t later(uint64_t end, uint64_t offset, uint64_t bytes)
{
    return offset + bytes > end ? offset + bytes : end;
}

/* To the end of what its tables name. */
static uint64_t measure_elf(const unsigned char *image)
{
    Elf64_Ehdr head;
    uint64_t end = sizeof head;

    memcpy(&head, image, sizeof head);
    if (head.e_ident[EI_CLASS] != ELFCLASS64)
        return 0;
    end = later(end, head.e_shoff, (uint64_t)head.e_shnum * head.e_shentsize);
    end = later(end, head.e_phoff, (uint64_t)head.e_phnum * head.e_phentsize);
    for (uint32_t i = 0; head.e_shentsize == sizeof(Elf64_Shdr) && i < head.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, image + head.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS)
            end = later(end, section.sh_offset, section.sh_size);
    }
    return end;
}

const void *gd_image_measure(const void *image, uint64_t *bytes)
{
    const unsigned char *at = image;
    uint32_t magic = 0;
    fatbin_head head;

    /* a text may be shorter */
    for (uint32_t i = 0; i < sizeof magic && (i == 0 || at[i - 1]); i++)
        magic |= (uint32_t)at[i] << 8 * i;
    if (magic == wrapper_magic) {
        fatbin_wrapper wrapper;
        memcpy(&wrapper, at, sizeof wrapper);
        at = wrapper.data;
        *bytes = 0;
        if (!at)
            return at;
        memcpy(&magic, at, sizeof magic);
    }
    if (magic == fatbin_magic) {
        memcpy(&head, at, sizeof head);
        *bytes = head.head_bytes + head.bytes;
    } else if (!memcmp(&magic, ELFMAG, SELFMAG)) {
        *bytes = measure_elf(at);
    } else {
        *bytes = strlen((const char *)at) + 1;
    }
    return at;
}

const char *gd_image_text(const void *image, uint64_t *bytes)
{
    const char *begins = gd_image_measure(image, bytes);

    if (!*bytes || begins != image || (unsigned char)begins[0] == ELFMAG0 ||
        begins[0] == (char)(fatbin_magic & 0xff))
        return NULL;
    *bytes -= 1; /* its zero */
    return begins;
}

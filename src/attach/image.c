/* Texts of PTX, cubins, fatbins. */
#include "attach/image.h"

#include <elf.h>
#include <string.h>

#include "base/fatbin.h"

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

    /* a text may be shorter */
    for (uint32_t i = 0; i < sizeof magic && (i == 0 || at[i - 1]); i++)
        magic |= (uint32_t)at[i] << 8 * i;
    if (magic == GD_FATBIN_WRAPPER_MAGIC) {
        gd_fatbin_wrapper wrapper;
        memcpy(&wrapper, at, sizeof wrapper);
        at = wrapper.fatbin;
        *bytes = at ? gd_fatbin_bytes(at) : 0;
    } else if (magic == GD_FATBIN_MAGIC) {
        *bytes = gd_fatbin_bytes(at);
    } else if (!memcmp(&magic, ELFMAG, SELFMAG)) {
        *bytes = measure_elf(at);
    } else {
        *bytes = strlen((const char *)at) + 1;
    }
    return at;
}

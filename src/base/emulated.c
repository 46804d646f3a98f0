/* Reading images of the emulated driver's linker. */
#include "base/emulated.h"

#include <string.h>

#include "base/elf.h"

const char gd_emulated_magic[16] = "griddep emulate";

bool gd_emulated_text(gd_view image, gd_emulated_head *head, gd_view *text)
{
    Elf64_Shdr section;
    gd_elf elf;
    gd_view part;

    return !gd_elf_open(image, &elf) && gd_elf_section(&elf, 1, &section, &part) &&
           gd_view_copy(part, 0, head, sizeof *head) &&
           !memcmp(head->magic, gd_emulated_magic, sizeof gd_emulated_magic) &&
           head->bytes < part.size && part.size - head->bytes == sizeof *head + 1 &&
           !part.bytes[part.size - 1] && gd_view_part(part, sizeof *head, head->bytes, text);
}

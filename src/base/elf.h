/* ELF files of 64 bits, least significant byte first: cubins, and the images of the emulated
 * driver. */
#ifndef GD_BASE_ELF_H
#define GD_BASE_ELF_H

#include <elf.h>

#include "base/view.h"

enum { GD_ELF_CUDA = 190 }; /* e_machine of cubins, as the ELF registry assigns it */

typedef struct gd_elf {
    gd_view file;
    Elf64_Ehdr header;
    gd_view sections; /* the table of their headers */
    uint64_t section_count;
} gd_elf;

/* Reads the header, and checks that all that it and its tables name lies inside the file: sections
 * with their names, segments. NULL, or what is wrong: "the section table of this file lies beyond
 * the end of the data". A file without sections is good. */
const char *gd_elf_open(gd_view file, gd_elf *elf);

/* Section `index` and its bytes, of which it has none where its type says so. */
bool gd_elf_section(const gd_elf *elf, uint64_t index, Elf64_Shdr *section, gd_view *bytes);

/* What the emulated driver's linker makes: a file that a cubin's reader takes for a whole one, and
 * whose first section has PTX behind a head. */
enum { GD_EMULATED_DIGEST = 32 };

typedef struct gd_emulated_head {
    char magic[16];
    uint64_t bytes;
    uint8_t digest[GD_EMULATED_DIGEST]; /* of the text and the driver's version */
} gd_emulated_head;

extern const char gd_emulated_magic[16];

/* The text of such an image, with a zero byte behind it, and its head; false: it is none, or
 * damaged. The digest is not looked at. */
bool gd_emulated_text(gd_view image, gd_emulated_head *head, gd_view *text);

#endif

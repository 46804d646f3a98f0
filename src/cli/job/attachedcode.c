/* PTX is parsed by the library, machine code looked through for two instructions. */
#include "cli/job/attachedcode.h"

#include <stdio.h>
#include <string.h>

#include "base/elf.h"
#include "griddep.h"

/* Instructions of 16 bytes; the low 12 bits of the first half are the operation. As ptxas 13.0
 * writes griddepcontrol for sm_90, sm_100 and sm_120. */
enum { INSTRUCTION = 16, OPERATION = 0xfff, WAIT = 0x82e, TRIGGER = 0x82d };

static void find_entry(const griddep_ptx *ptx, const char *kernel, gd_kernel_code *code)
{
    griddep_ptx_entry_info entry = {.size = sizeof(entry)};
    griddep_ptx_info info = {.size = sizeof(info)};
    for (uint32_t i = 0; griddep_ptx_get_entry(ptx, i, &entry, NULL) == GRIDDEP_OK; i++) {
        if (strcmp(entry.name, kernel) != 0)
            continue;
        code->source = GD_CODE_PTX;
        code->traits = entry.traits;
        if (griddep_ptx_get_info(ptx, &info, NULL) == GRIDDEP_OK)
            snprintf(code->target, sizeof(code->target), "%s", info.target);
        return;
    }
}

static void look_into_text(gd_attached_image *image, const char *kernel, gd_kernel_code *code)
{
    if (!image->parsed)
        griddep_ptx_parse(image->data, strlen(image->data), NULL, &image->ptx, NULL);
    image->parsed = true;
    if (image->ptx != NULL)
        find_entry(image->ptx, kernel, code);
}

static uint32_t look_through(gd_view section)
{
    uint32_t traits = 0;
    for (uint64_t at = 0; at + INSTRUCTION <= section.size; at += INSTRUCTION) {
        uint16_t first = 0;
        gd_view_copy(section, at, &first, sizeof(first));
        traits |= (first & OPERATION) == WAIT ? GRIDDEP_TRAIT_WAITS : 0;
        traits |= (first & OPERATION) == TRIGGER ? GRIDDEP_TRAIT_TRIGGERS : 0;
    }
    return (traits & GRIDDEP_TRAIT_WAITS) != 0 ? traits : traits | GRIDDEP_TRAIT_KNOWN;
}

/* Section ".text.KERNEL"; the table of names is checked to end. */
static void look_into_cubin(const gd_attached_image *image, const char *kernel,
                            gd_kernel_code *code)
{
    gd_view file = {(const unsigned char *)image->data, image->bytes}, bytes, names;
    Elf64_Shdr section;
    gd_elf elf;
    if (gd_elf_open(file, &elf) != NULL || elf.header.e_machine != GD_ELF_CUDA ||
        !gd_elf_section(&elf, elf.header.e_shstrndx, &section, &names))
        return;
    for (uint64_t i = 1; i < elf.section_count; i++) {
        if (!gd_elf_section(&elf, i, &section, &bytes) || section.sh_name >= names.size)
            continue;
        const char *name = (const char *)names.bytes + section.sh_name;
        if (strncmp(name, ".text.", 6) != 0 || strcmp(name + 6, kernel) != 0)
            continue;
        code->source = GD_CODE_MACHINE;
        code->traits = look_through(bytes);
        return;
    }
}

gd_kernel_code gd_attachedcode_find(gd_attached_image *image, const char *kernel)
{
    gd_kernel_code code = {0};
    if (image->data == NULL || image->bytes < SELFMAG)
        return code;
    if (memcmp(image->data, ELFMAG, SELFMAG) == 0)
        look_into_cubin(image, kernel, &code);
    else
        look_into_text(image, kernel, &code);
    return code;
}

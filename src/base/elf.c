#include "base/elf.h"

/* Where there are more sections or segments than the header can count, or it says so, the first
 * section's header tells how many (ELF, extended numbering). */
typedef struct counts {
    uint64_t sections, segments, names;
} counts;

static bool read_counts(const gd_elf *elf, counts *into)
{
    const Elf64_Ehdr *header = &elf->header;
    Elf64_Shdr first;

    *into = (counts){header->e_shnum, header->e_phnum, header->e_shstrndx};
    if (!header->e_shoff)
        return !header->e_shnum && header->e_phnum != PN_XNUM;
    if (header->e_shnum && header->e_phnum != PN_XNUM && header->e_shstrndx != SHN_XINDEX)
        return true;
    if (!gd_view_copy(elf->file, header->e_shoff, &first, sizeof first))
        return false;
    into->sections = header->e_shnum ? header->e_shnum : first.sh_size;
    into->segments = header->e_phnum == PN_XNUM ? first.sh_info : header->e_phnum;
    into->names = header->e_shstrndx == SHN_XINDEX ? first.sh_link : header->e_shstrndx;
    return true;
}

static bool table(gd_view file, uint64_t offset, uint64_t count, uint64_t bytes, uint64_t each,
                  gd_view *part)
{
    return !count || (each == bytes && count <= file.size / each &&
                      gd_view_part(file, offset, count * each, part));
}

bool gd_elf_section(const gd_elf *elf, uint64_t index, Elf64_Shdr *section, gd_view *bytes)
{
    *bytes = (gd_view){0};
    if (index >= elf->section_count ||
        !gd_view_copy(elf->sections, index * sizeof *section, section, sizeof *section))
        return false;
    return index == 0 || section->sh_type == SHT_NULL || section->sh_type == SHT_NOBITS ||
           gd_view_part(elf->file, section->sh_offset, section->sh_size, bytes);
}

static const char *check_sections(const gd_elf *elf, uint64_t name_index)
{
    Elf64_Shdr section;
    gd_view bytes, names = {0};

    if (name_index &&
        (!gd_elf_section(elf, name_index, &section, &names) || section.sh_type != SHT_STRTAB))
        return "the names of this file's sections lie beyond the end of the data, or are none";
    for (uint64_t i = 0; i < elf->section_count; i++) {
        if (!gd_elf_section(elf, i, &section, &bytes))
            return "a section of this file lies beyond the end of the data";
        if (section.sh_type == SHT_STRTAB && bytes.size && bytes.bytes[bytes.size - 1])
            return "a table of names of this file has no end";
        if (name_index && section.sh_name >= names.size && i)
            return "the name of a section of this file lies beyond the end of the names";
    }
    return NULL;
}

static const char *check_segments(gd_view file, gd_view segments)
{
    for (uint64_t at = 0; at < segments.size; at += sizeof(Elf64_Phdr)) {
        Elf64_Phdr segment;
        gd_view bytes;
        if (!gd_view_copy(segments, at, &segment, sizeof segment) ||
            !gd_view_part(file, segment.p_offset, segment.p_filesz, &bytes))
            return "a segment of this file lies beyond the end of the data";
    }
    return NULL;
}

const char *gd_elf_open(gd_view file, gd_elf *elf)
{
    gd_view segments = {0};
    counts count;

    *elf = (gd_elf){.file = file};
    if (!gd_view_copy(file, 0, &elf->header, sizeof elf->header))
        return "this ELF file ends inside its header";
    if (elf->header.e_ident[EI_CLASS] != ELFCLASS64 || elf->header.e_ident[EI_DATA] != ELFDATA2LSB)
        return "this ELF file is not of 64 bits, least significant byte first";
    if (!read_counts(elf, &count) ||
        !table(file, elf->header.e_shoff, count.sections, sizeof(Elf64_Shdr),
               elf->header.e_shentsize, &elf->sections))
        return "the section table of this file lies beyond the end of the data";
    if (!table(file, elf->header.e_phoff, count.segments, sizeof(Elf64_Phdr),
               elf->header.e_phentsize, &segments))
        return "the program headers of this file lie beyond the end of the data";
    elf->section_count = count.sections;
    const char *wrong = check_sections(elf, count.names);
    return wrong ? wrong : check_segments(file, segments);
}

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

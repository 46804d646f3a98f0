/* Cubins as ELF files; what their machine code says is read by base/sass. */
#include "base/cubin.h"

#include "base/sass/traits.h"

enum {
    ENTRY = 0x10,     /* st_other of kernels */
    OLDEST = 90,      /* older chips have no griddepcontrol */
    NEWEST = 129,     /* of the generation known last */
    ABI_OF_FLAGS = 8, /* from this ABI version on e_flags tell the chip in their second byte */
};

const char *gd_cubin_open(gd_view file, gd_cubin *cubin)
{
    const char *wrong = gd_elf_open(file, &cubin->elf);
    const Elf64_Ehdr *header = &cubin->elf.header;
    Elf64_Shdr section, strings;

    cubin->symbols = cubin->names = (gd_view){0};
    if (wrong)
        return wrong;
    if (header->e_machine != GD_ELF_CUDA)
        return "this ELF file is no cubin: it holds code for another kind of machine";
    cubin->chip = header->e_flags >> (header->e_ident[EI_ABIVERSION] >= ABI_OF_FLAGS ? 8 : 0) & 255;
    for (uint64_t i = 1; i < cubin->elf.section_count; i++) {
        gd_view symbols, names;
        if (gd_elf_section(&cubin->elf, i, &section, &symbols) && section.sh_type == SHT_SYMTAB &&
            gd_elf_section(&cubin->elf, section.sh_link, &strings, &names) &&
            strings.sh_type == SHT_STRTAB) {
            cubin->symbols = symbols;
            cubin->names = names;
        }
    }
    return NULL;
}

/* A symbol that is a kernel; its name ends, since each table of names does. */
static const char *kernel_name(const gd_cubin *cubin, const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || !(symbol->st_other & ENTRY) ||
        symbol->st_shndx == SHN_UNDEF || symbol->st_name >= cubin->names.size)
        return NULL;
    return (const char *)cubin->names.bytes + symbol->st_name;
}

const char *gd_cubin_next(const gd_cubin *cubin, uint64_t *at)
{
    Elf64_Sym symbol;

    while (gd_view_copy(cubin->symbols, *at, &symbol, sizeof symbol)) {
        const char *name = kernel_name(cubin, &symbol);
        *at += sizeof symbol;
        if (name)
            return name;
    }
    return NULL;
}

int32_t gd_cubin_traits(const gd_cubin *cubin, const char *kernel, uint32_t *traits)
{
    Elf64_Shdr section;
    Elf64_Sym symbol;
    gd_view code;

    *traits = 0;
    if (cubin->chip > NEWEST || cubin->elf.header.e_type != ET_EXEC)
        return GRIDDEP_OK;
    for (uint64_t at = 0; gd_view_copy(cubin->symbols, at, &symbol, sizeof symbol);
         at += sizeof symbol) {
        const char *name = kernel_name(cubin, &symbol);
        if (name && !strcmp(name, kernel) &&
            gd_elf_section(&cubin->elf, symbol.st_shndx, &section, &code) &&
            gd_view_part(code, symbol.st_value, symbol.st_size, &code)) {
            *traits = GRIDDEP_TRAIT_KNOWN | GRIDDEP_TRAIT_MACHINE_CODE;
            return cubin->chip < OLDEST ? GRIDDEP_OK : gd_sass_traits(code, traits);
        }
    }
    return GRIDDEP_OK;
}

/* Symbol tables of ELF files. */
#include "cli/show/place.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/elf.h"

#include "cli/io/heap.h"
#include "cli/io/name.h"

struct gd_place_file {
    char *path;
    gd_view view; /* size 0: cannot be read */
    gd_elf elf;
    bool good;
};

static struct gd_place_file *open_file(gd_place_files *files, const char *path)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->list[i].path, path) == 0)
            return &files->list[i];
    files->list = gd_heap_grow(files->list, files->count, files->count + 1, sizeof(*files->list));
    struct gd_place_file *made = &files->list[files->count++];
    made->path = gd_heap_string(path);
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return made;
    if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED)
            made->view = (gd_view){bytes, (uint64_t)status.st_size};
    }
    close(file);
    made->good = made->view.size > 0 && gd_elf_open(made->view, &made->elf) == NULL;
    return made;
}

/* The function of a table of symbols that an address lies in; its name points into the file. */
static const char *look_up(const gd_elf *elf, uint64_t table, uint64_t address, uint64_t *begin)
{
    Elf64_Shdr section, strings;
    gd_view symbols, names;
    if (!gd_elf_section(elf, table, &section, &symbols) ||
        !gd_elf_section(elf, section.sh_link, &strings, &names) || strings.sh_type != SHT_STRTAB)
        return NULL;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        gd_view_copy(symbols, at, &symbol, sizeof(symbol));
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
            address < symbol.st_value || address - symbol.st_value >= symbol.st_size ||
            symbol.st_name >= names.size)
            continue;
        *begin = symbol.st_value;
        return (const char *)names.bytes + symbol.st_name;
    }
    return NULL;
}

static const char *find_function(const gd_elf *elf, uint64_t address, uint64_t *begin)
{
    static const uint32_t tables[] = {SHT_SYMTAB, SHT_DYNSYM};
    for (size_t kind = 0; kind < sizeof(tables) / sizeof(tables[0]); kind++) {
        for (uint64_t i = 1; i < elf->section_count; i++) {
            Elf64_Shdr section;
            gd_view bytes;
            if (!gd_elf_section(elf, i, &section, &bytes) || section.sh_type != tables[kind])
                continue;
            const char *name = look_up(elf, i, address, begin);
            if (name != NULL)
                return name;
        }
    }
    return NULL;
}

gd_frame gd_place_find(gd_place_files *files, const char *path, uint64_t address)
{
    struct gd_place_file *file = open_file(files, path);
    uint64_t begin = 0, call = address > 0 ? address - 1 : 0;
    const char *name = file->good ? find_function(&file->elf, call, &begin) : NULL;
    return (gd_frame){.function = name != NULL ? gd_name_demangle(name) : NULL,
                      .file = gd_heap_string(path),
                      .offset = name != NULL ? address - begin : address};
}

void gd_frames_free(gd_frames *frames)
{
    for (size_t i = 0; i < frames->count; i++) {
        free(frames->list[i].function);
        free(frames->list[i].file);
    }
    free(frames->list);
    *frames = (gd_frames){0};
}

void gd_place_end(gd_place_files *files)
{
    for (size_t i = 0; i < files->count; i++) {
        if (files->list[i].view.size > 0)
            munmap((void *)(uintptr_t)files->list[i].view.bytes, files->list[i].view.size);
        free(files->list[i].path);
    }
    free(files->list);
    *files = (gd_place_files){0};
}

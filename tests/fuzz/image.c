/* Crafted images: cubins, fatbins and images of the emulated driver with sizes, offsets and counts
 * that are wrong, or cut off. What gd_image_examine lets through, a driver reads without being told
 * a length: here one that believes each number, and the emulated one. The image ends where no more
 * memory is, so that a byte read beyond it is a crash.
 *
 *   image [--from N] [--count N] [--seconds S] [--jobs J] [FILE...]    (harness.h; files are
 *   further images) image --print N FILE... > IMAGE
 *
 * For libFuzzer, whose inputs are images:
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
 *   -DFUZZ_LIBFUZZER -D_GNU_SOURCE
 *       -I include -I src -I BUILD -I BUILD/src tests/fuzz/image.c tests/fuzz/harness.c
 *       BUILD/.libs/libgriddep-machine.a BUILD/.libs/libgriddep-core.a -lm -ldl -lpthread -o
 *       fuzz_image
 *   fuzz_image -max_len=65536 CORPUS */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fatbin.h"
#include "base/text.h"
#include "emulator/api.h"
#include "emulator/driver/module.h"
#include "harness.h"
#include "run/module/image.h"

enum { ACCEPTED, READ, LOADED, UNPACKED };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- images ---- */

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n";

enum { MOST_IMAGES = 64 };

static gd_text images[MOST_IMAGES];
static uint32_t image_count;

static bool keep(const void *data, size_t bytes)
{
    if (image_count == MOST_IMAGES)
        return false;
    gd_text_append(&images[image_count], data, bytes);
    return !images[image_count++].failed;
}

static bool keep_own(void)
{
    size_t bytes = 0;
    void *made = gd_jit_make_image(90, ptx, sizeof ptx - 1, &bytes);
    bool done = made && keep(made, bytes);

    free(made);
    return done;
}

/* Six sections: none, their names, code, memory without bits, symbols, names of symbols; and two
 * segments. */
static void make_elf(gd_text *text)
{
    static const char names[] = "\0.shstrtab\0.text.k\0.nv.shared.k\0.symtab\0.strtab";
    static const unsigned char code[160], symbols[48];
    struct {
        Elf64_Ehdr header;
        Elf64_Shdr sections[6];
        Elf64_Phdr segments[2];
    } head = {.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                         .e_type = ET_EXEC,
                         .e_machine = 190,
                         .e_version = EV_CURRENT,
                         .e_flags = 90,
                         .e_ehsize = sizeof(Elf64_Ehdr),
                         .e_shoff = sizeof(Elf64_Ehdr),
                         .e_shentsize = sizeof(Elf64_Shdr),
                         .e_shnum = 6,
                         .e_shstrndx = 1,
                         .e_phoff = sizeof(Elf64_Ehdr) + 6 * sizeof(Elf64_Shdr),
                         .e_phentsize = sizeof(Elf64_Phdr),
                         .e_phnum = 2}};
    const uint64_t at = sizeof head;

    head.sections[1] =
        (Elf64_Shdr){.sh_name = 1, .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = sizeof names};
    head.sections[2] = (Elf64_Shdr){.sh_name = 11,
                                    .sh_type = SHT_PROGBITS,
                                    .sh_offset = at + sizeof names,
                                    .sh_size = sizeof code};
    head.sections[3] =
        (Elf64_Shdr){.sh_name = 19, .sh_type = SHT_NOBITS, .sh_offset = at, .sh_size = 1 << 20};
    head.sections[4] = (Elf64_Shdr){.sh_name = 32,
                                    .sh_type = SHT_SYMTAB,
                                    .sh_offset = at + sizeof names + sizeof code,
                                    .sh_size = sizeof symbols,
                                    .sh_link = 5,
                                    .sh_entsize = 24};
    head.sections[5] =
        (Elf64_Shdr){.sh_name = 40, .sh_type = SHT_STRTAB, .sh_offset = at, .sh_size = 1};
    head.segments[0] =
        (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = at + sizeof names, .p_filesz = sizeof code};
    head.segments[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_offset = 0, .p_filesz = sizeof head};
    gd_text_append(text, (const char *)&head, sizeof head);
    gd_text_append(text, names, sizeof names);
    gd_text_append(text, (const char *)code, sizeof code);
    gd_text_append(text, (const char *)symbols, sizeof symbols);
}

static void put(gd_text *text, uint64_t value, uint32_t bytes)
{
    gd_text_append(text, (const char *)&value, bytes);
}

static void put_entry(gd_text *text, uint16_t kind, const char *data, size_t bytes)
{
    const uint64_t padded = (bytes + 7) / 8 * 8;

    put(text, kind, 2);
    put(text, 0x101, 2);
    put(text, 64, 4);
    put(text, padded, 8);
    for (uint32_t i = 0; i < 6; i++)
        put(text, i == 1 ? UINT64_C(0x5a00080000) : 0, 8);
    gd_text_append(text, data, bytes);
    put(text, 0, (uint32_t)(padded - bytes));
}

static bool keep_made(void)
{
    gd_text elf = {0}, entries = {0}, fatbin = {0};

    make_elf(&elf);
    put_entry(&entries, 1, ptx, sizeof ptx);
    put_entry(&entries, 2, gd_text_get(&elf), elf.bytes);
    put(&fatbin, 0xba55ed50, 4);
    put(&fatbin, 1, 2);
    put(&fatbin, 16, 2);
    put(&fatbin, entries.bytes, 8);
    gd_text_append(&fatbin, gd_text_get(&entries), entries.bytes);
    bool done = keep(gd_text_get(&elf), elf.bytes) && keep(gd_text_get(&fatbin), fatbin.bytes) &&
                keep(ptx, sizeof ptx);
    gd_text_free(&elf);
    gd_text_free(&entries);
    gd_text_free(&fatbin);
    return done;
}

static bool read_files(char **paths, int count)
{
    bool done = keep_own() && keep_made();

    for (int i = 0; i < count && done; i++) {
        size_t bytes;
        char *data = fuzz_read_file(paths[i], &bytes);
        done = data && keep(data, bytes);
        free(data);
    }
    return done;
}

/* ---- cases ---- */

/* A number of any size, mostly in a header, becomes another one. */
static void change_number(gd_text *image)
{
    const uint64_t size = image->bytes;
    const uint64_t values[] = {0,
                               1,
                               2,
                               7,
                               16,
                               64,
                               0xff,
                               0xffff,
                               0xfff1,
                               0x7fffffff,
                               UINT32_MAX,
                               INT64_MAX,
                               (uint64_t)INT64_MAX + 1,
                               UINT64_MAX,
                               UINT64_MAX - 15,
                               UINT64_MAX - 63,
                               size,
                               size - 1,
                               size + 1,
                               size - 64,
                               size / 2,
                               size / 64,
                               UINT64_MAX / 64,
                               UINT64_MAX - size,
                               fuzz_bits()};
    uint32_t bytes = 1u << fuzz_draw(4), within = fuzz_draw(3) ? 512 : UINT32_MAX;
    uint64_t value = values[fuzz_draw(sizeof values / sizeof *values)], old = 0;

    if (size < 8)
        return;
    uint64_t at = fuzz_bits() % (size - 7 < within ? size - 7 : within);
    at = fuzz_draw(4) ? at / bytes * bytes : at;
    memcpy(&old, image->data + at, bytes);
    if (fuzz_draw(4) == 0)
        value = old + (fuzz_draw(2) ? 1 : UINT64_MAX);
    memcpy(image->data + at, &value, bytes);
}

static void change(gd_text *image)
{
    uint32_t dice = fuzz_draw(10);

    if (!image->bytes)
        return;
    if (dice == 0)
        image->bytes = fuzz_bits() % image->bytes;
    else if (dice == 1)
        image->bytes -= fuzz_draw(64) < image->bytes ? fuzz_draw(64) % image->bytes : 0;
    else if (dice == 2)
        put(image, fuzz_bits(), 1 + fuzz_draw(8));
    else if (dice == 3) /* of what is packed any byte counts */
        image->data[fuzz_bits() % image->bytes] ^= (char)(1u << fuzz_draw(8));
    else
        change_number(image);
}

static void make_case(uint64_t number, gd_text *image)
{
    fuzz_seed(number);
    const gd_text *from = &images[fuzz_draw(image_count)];
    gd_text_append(image, gd_text_get(from), from->bytes);
    for (uint32_t count = fuzz_draw(8) ? 1 + fuzz_draw(1 + fuzz_draw(5)) : 0; count; count--)
        change(image);
}

/* ---- a driver that believes each number ---- */

static volatile unsigned char last;

static void touch(const unsigned char *bytes, uint64_t size)
{
    for (uint64_t i = 0; i < size; i += i + 64 < size || i + 1 == size ? 64 : size - 1 - i)
        last = bytes[i];
}

static void believe_elf(const unsigned char *bytes)
{
    Elf64_Ehdr header;
    Elf64_Shdr first = {0}, section, names;

    memcpy(&header, bytes, sizeof header);
    if (header.e_shoff)
        memcpy(&first, bytes + header.e_shoff, header.e_shnum ? 0 : sizeof first);
    const uint64_t sections = header.e_shnum ? header.e_shnum : first.sh_size;
    if (header.e_phnum == PN_XNUM || header.e_shstrndx == SHN_XINDEX)
        memcpy(&first, bytes + header.e_shoff, sizeof first);
    const uint64_t segments = header.e_phnum == PN_XNUM ? first.sh_info : header.e_phnum;
    const uint64_t name_index = header.e_shstrndx == SHN_XINDEX ? first.sh_link : header.e_shstrndx;
    if (name_index)
        memcpy(&names, bytes + header.e_shoff + name_index * sizeof names, sizeof names);
    for (uint64_t i = 1; i < sections; i++) {
        memcpy(&section, bytes + header.e_shoff + i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL)
            touch(bytes + section.sh_offset, section.sh_size);
        if (name_index)
            last = (unsigned char)strlen((const char *)bytes + names.sh_offset + section.sh_name);
    }
    for (uint64_t i = 0; i < segments; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, bytes + header.e_phoff + i * sizeof segment, sizeof segment);
        touch(bytes + segment.p_offset, segment.p_filesz);
    }
}

static void believe_fatbin(const unsigned char *bytes)
{
    uint16_t head_bytes, kind;
    uint32_t entry_bytes, compressed, options;
    uint64_t size, data;

    memcpy(&head_bytes, bytes + 6, 2);
    memcpy(&size, bytes + 8, 8);
    for (uint64_t at = head_bytes; at < head_bytes + size; at += entry_bytes + data) {
        memcpy(&kind, bytes + at, 2);
        memcpy(&entry_bytes, bytes + at + 4, 4);
        memcpy(&data, bytes + at + 8, 8);
        memcpy(&compressed, bytes + at + 16, 4);
        memcpy(&options, bytes + at + 20, 4);
        touch(bytes + at, options);
        touch(bytes + at + entry_bytes, compressed ? compressed : data);
        if (kind == 2 && !compressed)
            believe_elf(bytes + at + entry_bytes);
    }
}

/* ---- running ---- */

/* What is told of an image: its parts, and the machine code of its kernels. */
static void tell(const unsigned char *bytes, size_t size)
{
    griddep_image *image = NULL;
    griddep_error error;

    griddep_error_init(&error);
    if (griddep_image_open(bytes, size, "image", &image, &error) != GRIDDEP_OK)
        abort(); /* it has been let through */
    griddep_image_destroy(image);
}

/* What the library does with each entry. */
static void unpack(const unsigned char *bytes, size_t size)
{
    const gd_view fatbin = {bytes, size};
    gd_fatbin_entry entry;
    griddep_error error;

    griddep_error_init(&error);
    for (uint64_t at = 0; gd_fatbin_next(fatbin, &at, &entry);) {
        char *data = NULL;
        uint64_t made = 0;
        int32_t kind = 0;
        if (gd_fatbin_unpack(&entry, &data, &made))
            continue;
        if (entry.packed)
            fuzz_count(UNPACKED);
        if (gd_image_examine(data, made, "entry", &kind, &error) == GRIDDEP_OK &&
            kind == GRIDDEP_IMAGE_CUBIN)
            believe_elf((const unsigned char *)data);
        free(data);
    }
}

static void begin(uint64_t chunk)
{
    void *context = NULL;

    (void)chunk;
    if (cuInit(0) != GD_CUDA_SUCCESS || cuDevicePrimaryCtxRetain(&context, 0) != GD_CUDA_SUCCESS ||
        cuCtxSetCurrent(context) != GD_CUDA_SUCCESS)
        abort();
}

/* PTX is given to a driver with a zero byte behind it. */
static void load(const unsigned char *bytes, size_t size, int32_t kind)
{
    gd_CUmodule module = NULL;
    gd_text text = {0};

    gd_text_append(&text, (const char *)bytes, kind == GRIDDEP_IMAGE_PTX ? size : 0);
    const void *image = kind == GRIDDEP_IMAGE_PTX ? (const void *)gd_text_get(&text) : bytes;
    if (cuModuleLoadData(&module, image) == GD_CUDA_SUCCESS) {
        fuzz_count(LOADED);
        if (cuModuleUnload(module) != GD_CUDA_SUCCESS)
            abort();
    }
    gd_text_free(&text);
}

static void examine(const unsigned char *bytes, size_t size)
{
    griddep_error error;
    int32_t kind = 0;

    griddep_error_init(&error);
    if (gd_image_examine(bytes, size, "image", &kind, &error) != GRIDDEP_OK)
        return;
    fuzz_count(ACCEPTED);
    if (kind == GRIDDEP_IMAGE_CUBIN) {
        believe_elf(bytes);
    } else if (kind == GRIDDEP_IMAGE_FATBIN) {
        believe_fatbin(bytes);
        unpack(bytes, size);
    }
    tell(bytes, size);
    if (kind != GRIDDEP_IMAGE_PTX)
        fuzz_count(READ);
    load(bytes, size, kind);
}

/* At the end of memory that can be read. */
static void run(const void *data, size_t size)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page * page;
    unsigned char *memory =
        mmap(NULL, pages + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED || mprotect(memory + pages, page, PROT_NONE) != 0)
        abort();
    if (size)
        memcpy(memory + pages - size, data, size);
    examine(memory + pages - size, size);
    munmap(memory, pages + page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool begun;

    if (!begun)
        begin(0);
    begun = true;
    run(data, size);
    return 0;
}

#ifndef FUZZ_LIBFUZZER
static void one(uint64_t number)
{
    gd_text image = {0};

    make_case(number, &image);
    run(gd_text_get(&image), image.bytes);
    gd_text_free(&image);
}

static void print(uint64_t number, FILE *out)
{
    gd_text image = {0};

    make_case(number, &image);
    fwrite(gd_text_get(&image), 1, image.bytes, out);
    gd_text_free(&image);
}

int main(int count, char **arguments)
{
    static const fuzz_target target = {
        .name = "image",
        .counters = {"accepted", "cubins or fatbins", "loaded", "unpacked"},
        .read_files = read_files,
        .begin = begin,
        .one = one,
        .print = print};

    return fuzz_main(count, arguments, &target);
}
#endif

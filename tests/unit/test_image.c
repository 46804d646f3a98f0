/* Images: what fatbins hold, packed or not, which of it is loaded, and data that are cut off or
 * crafted. tests/golden/image has fatbins of nvcc and their source, and frames that zstd made of a
 * text of words. */
#include <check.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fatbin.h"
#include "base/file.h"
#include "base/text.h"
#include "base/unpack.h"
#include "fake/fake_driver.h"
#include "griddep.h"
#include "run/runtime.h"
#include "sanitized.h"
#include "suite.h"
#include "unit/fail_alloc.h"
#include "unit/status.h"

static griddep_error error;

static gd_view read_golden(const char *name)
{
    char path[512], *data = NULL;
    size_t bytes = 0;

    griddep_error_init(&error);
    snprintf(path, sizeof path, "%s/tests/golden/image/%s", SOURCE_DIRECTORY, name);
    ck_good(gd_file_read(path, &data, &bytes, &error));
    return (gd_view){(unsigned char *)data, bytes};
}

static void release(gd_view view)
{
    free((void *)(uintptr_t)view.bytes);
}

/* ---- Zstandard ---- */

/* The text that words.*.zst are made of. */
static gd_text make_words(void)
{
    gd_text text = {0};
    uint32_t state = 1;

    for (int i = 0; i < 40000; i++) {
        state = (state * 1103515245u + 12345u) & 0x7fffffffu;
        gd_text_string(&text, (state >> 16) % 2 ? "mul" : "add");
        gd_text_string(&text, (state >> 20) % 7 ? " " : "\n");
    }
    ck_assert(!text.failed);
    return text;
}

TEST_GROUP(packed, NULL, NULL);
TEST_GROUP(fatbin, NULL, NULL);
TEST_GROUP(loading, NULL, NULL);
TEST_GROUP(machine, NULL, NULL);
TEST_GROUP(stated, NULL, NULL);
TEST_GROUP(linked, NULL, NULL);
TEST_GROUP(compiled, NULL, NULL);

LOOP_TEST(packed, frames_of_zstd_are_decoded, 2)
{
    const char *names[] = {"words.1.zst", "words.19.zst"};
    gd_text words = make_words();
    gd_view packed = read_golden(names[_i]);
    unsigned char *into = calloc(1, words.bytes);

    ck_assert_ptr_nonnull(into);
    ck_assert_pstr_eq(gd_unpack_zstd(packed, into, words.bytes), NULL);
    ck_assert_mem_eq(into, words.data, words.bytes);
    ck_assert_pstr_ne(gd_unpack_zstd(packed, into, words.bytes - 1), NULL);
    free(into);
    release(packed);
    gd_text_free(&words);
}

/* The frame has a checksum: whatever a change makes, it is not taken for the text. */
TEST(packed, damaged_frames_are_refused)
{
    gd_text words = make_words();
    gd_view packed = read_golden("words.19.zst");
    unsigned char *into = calloc(1, words.bytes), *copy = malloc(packed.size);
    uint32_t taken = 0, other = 0;

    ck_assert(into && copy);
    for (uint64_t at = 0; at < packed.size; at += SANITIZED ? 97 : 7) {
        gd_view cut = {packed.bytes, at};
        taken += !gd_unpack_zstd(cut, into, words.bytes);
        memcpy(copy, packed.bytes, packed.size);
        copy[at] ^= (unsigned char)(1u << at % 8);
        if (!gd_unpack_zstd((gd_view){copy, packed.size}, into, words.bytes))
            other += memcmp(into, words.data, words.bytes) != 0;
    }
    ck_assert_uint_eq(taken, 0);
    ck_assert_uint_eq(other, 0);
    free(copy);
    free(into);
    release(packed);
    gd_text_free(&words);
}

#define FRAME "\x28\xb5\x2f\xfd"

static const struct {
    const char *packed;
    uint64_t size;
    const char *text;  /* that it makes */
    const char *wrong; /* or what is told */
} frames[] = {
    {FRAME "\x20\x03\x19\0\0abc", 12, "abc", NULL},             /* one segment, a raw block */
    {FRAME "\0\0\x19\0\0abc", 12, "abc", NULL},                 /* a window, no size */
    {FRAME "\x20\x06\x18\0\0abc\x1b\0\0z", 16, "abczzz", NULL}, /* two blocks */
    {"\x52\x2a\x4d\x18\2\0\0\0.." FRAME "\x20\x03\x19\0\0abc", 22, "abc", NULL}, /* skipped */
    {FRAME "\x20\x01\x0b\0\0a" FRAME "\x20\x01\x0b\0\0b", 20, "ab", NULL},       /* two frames */
    {FRAME "\x24\x03\x19\0\0abc\x99\x9c\xef\xd0", 16, NULL, "damaged"},          /* a checksum */
    {FRAME "\x21\x07\x03\x19\0\0abc", 13, NULL, "damaged"},                      /* a dictionary */
    {FRAME "\x20\x04\x19\0\0abc", 12, NULL, "damaged"}, /* more than were asked for: 3 */
    {FRAME "\x20\x02\x11\0\0ab", 11, NULL, "damaged"},  /* fewer */
    {FRAME "\0\xff\x19\0\0ab", 11, NULL, "damaged"},    /* a window of 2^41 bytes, cut off */
    {FRAME, 4, NULL, "damaged"},
    {"abcd", 4, NULL, "damaged"},
};

LOOP_TEST(packed, frames_say_what_is_wrong, sizeof frames / sizeof *frames)
{
    unsigned char into[8] = "";
    const char *text = frames[_i].text ? frames[_i].text : "???";
    const gd_view packed = {(const unsigned char *)frames[_i].packed, frames[_i].size};
    const char *wrong = gd_unpack_zstd(packed, into, strlen(text));

    if (frames[_i].wrong) {
        ck_assert_ptr_nonnull(wrong);
        ck_assert_msg(strstr(wrong, frames[_i].wrong), "%d: %s", _i, wrong);
    } else {
        ck_assert_pstr_eq(wrong, NULL);
        ck_assert_str_eq((char *)into, text);
    }
}

/* ---- LZ4 ---- */

static const struct {
    const char *packed;
    uint64_t size;
    const char *text, *wrong;
} blocks[] = {
    {"\x30"
     "abc",
     4, "abc", NULL},
    {"\x10"
     "a\1\0\x80"
     "bcdefghi",
     13, "aaaaabcdefghi", NULL}, /* a match that reads what it writes */
    {"\x40"
     "abc",
     4, "???", "damaged"},
    {"\xf0\xff", 2, "???", "damaged"},
    {"\x10"
     "a\2\0\x80"
     "bcdefghi",
     13, "?????????????", "damaged"}, /* a match before the begin */
    {"\x50"
     "abcde",
     6, "???", "damaged"}, /* more bytes than asked for */
    {"\x10"
     "a",
     2, "??", "damaged"}, /* fewer */
};

LOOP_TEST(packed, blocks_of_lz4_are_decoded_or_refused, sizeof blocks / sizeof *blocks)
{
    unsigned char into[16] = "";
    const gd_view packed = {(const unsigned char *)blocks[_i].packed, blocks[_i].size};
    const uint64_t bytes = strlen(blocks[_i].text);
    const char *wrong = gd_unpack_lz4(packed, into, bytes);

    if (blocks[_i].wrong) {
        ck_assert_ptr_nonnull(wrong);
        ck_assert_msg(strstr(wrong, blocks[_i].wrong), "%d: %s", _i, wrong);
    } else {
        ck_assert_pstr_eq(wrong, NULL);
        ck_assert_str_eq((char *)into, blocks[_i].text);
    }
}

/* ---- what is in a fatbin ---- */

static const char *const fatbins[] = {"kernels.plain.fatbin", "kernels.lz4.fatbin",
                                      "kernels.zstd.fatbin"};

LOOP_TEST(fatbin, entries_are_the_same_however_they_are_packed, 3)
{
    gd_view fatbin = read_golden(fatbins[_i]), plain = read_golden(fatbins[0]);
    gd_fatbin_entry entry, as;
    uint64_t at = 0, plain_at = 0, bytes, as_bytes;
    uint32_t count = 0, packed = 0;
    char *data, *as_data;

    ck_assert_pstr_eq(gd_fatbin_check(fatbin), NULL);
    for (; gd_fatbin_next(fatbin, &at, &entry); count++) {
        ck_assert(gd_fatbin_next(plain, &plain_at, &as));
        ck_assert_uint_eq(entry.kind, as.kind);
        ck_assert_int_eq(entry.chip, as.chip);
        packed += entry.packed;
        ck_assert_pstr_eq(gd_fatbin_unpack(&entry, &data, &bytes), NULL);
        ck_assert_pstr_eq(gd_fatbin_unpack(&as, &as_data, &as_bytes), NULL);
        ck_assert_uint_eq(bytes, as_bytes);
        ck_assert_mem_eq(data, as_data, bytes + 1);
        free(data);
        free(as_data);
    }
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(packed, _i == 0 ? 0 : _i == 1 ? 2 : 3);
    release(fatbin);
    release(plain);
}

static const struct {
    const char *file;
    uint16_t kind;
    int32_t chip, found; /* 0: nothing runs */
    uint64_t alone;
} choices[] = {
    {"kernels.zstd.fatbin", GD_FATBIN_PTX, 75, 0, 0},
    {"kernels.zstd.fatbin", GD_FATBIN_PTX, 80, 80, 0},
    {"kernels.zstd.fatbin", GD_FATBIN_PTX, 89, 80, 0},
    {"kernels.zstd.fatbin", GD_FATBIN_PTX, 90, 90, 0},
    {"kernels.zstd.fatbin", GD_FATBIN_PTX, 120, 90, 0},
    {"kernels.zstd.fatbin", GD_FATBIN_CUBIN, 89, 0, 0},
    {"kernels.zstd.fatbin", GD_FATBIN_CUBIN, 90, 90, 0},
    {"kernels.zstd.fatbin", GD_FATBIN_CUBIN, 100, 0, 0},
    {"kernels.targets.fatbin", GD_FATBIN_CUBIN, 90, 90, GD_FATBIN_SPECIFIC},
    {"kernels.targets.fatbin", GD_FATBIN_PTX, 90, 90, GD_FATBIN_SPECIFIC},
    {"kernels.targets.fatbin", GD_FATBIN_PTX, 100, 100, GD_FATBIN_FAMILY},
    {"kernels.targets.fatbin", GD_FATBIN_PTX, 103, 100, GD_FATBIN_FAMILY},
    {"kernels.targets.fatbin", GD_FATBIN_CUBIN, 103, 100, GD_FATBIN_FAMILY},
    {"kernels.targets.fatbin", GD_FATBIN_PTX, 120, 0, 0},
};

LOOP_TEST(fatbin, what_a_chip_runs_is_chosen, sizeof choices / sizeof *choices)
{
    gd_view fatbin = read_golden(choices[_i].file);
    gd_fatbin_entry entry = {0};
    const uint64_t alone = GD_FATBIN_SPECIFIC | GD_FATBIN_FAMILY;

    ck_assert_int_eq(gd_fatbin_choose(fatbin, choices[_i].kind, choices[_i].chip, &entry),
                     choices[_i].found != 0);
    ck_assert_int_eq(entry.chip, choices[_i].found);
    if (choices[_i].found)
        ck_assert_uint_eq(entry.flags & alone, choices[_i].alone);
    release(fatbin);
}

/* Each number of each header becomes several wrong ones: nothing is read beyond the end, which a
 * sanitizer watches, and no more memory is taken than the data can fill. */
LOOP_TEST(fatbin, crafted_headers_are_survived, 3)
{
    static const uint64_t values[] = {
        0, 1, 63, 65, 0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX, UINT64_MAX - 63};
    gd_view fatbin = read_golden(fatbins[_i]);
    unsigned char *copy = malloc(fatbin.size);
    gd_fatbin_entry entry;

    ck_assert_ptr_nonnull(copy);
    for (uint32_t at = 4; at < 16 + 64; at += 2) {
        for (uint32_t i = 0; i < 3 * sizeof values / sizeof *values; i++) {
            const uint32_t bytes = 2u << i % 3;
            memcpy(copy, fatbin.bytes, fatbin.size);
            memcpy(copy + at, &values[i / 3], bytes);
            const gd_view crafted = {copy, fatbin.size};
            if (gd_fatbin_check(crafted))
                continue;
            for (uint64_t next = 0; gd_fatbin_next(crafted, &next, &entry);) {
                char *data = NULL;
                uint64_t size = 0;
                if (!gd_fatbin_unpack(&entry, &data, &size))
                    ck_assert(data[size] == 0 && size <= entry.bytes);
                free(data);
            }
        }
    }
    free(copy);
    release(fatbin);
}

TEST(fatbin, sizes_beyond_what_data_can_hold_are_refused)
{
    const unsigned char data[16] = {0};
    gd_fatbin_entry entry = {.kind = GD_FATBIN_PTX,
                             .packed = true,
                             .flags = 0x8000,
                             .stored = {data, 16},
                             .bytes = UINT64_C(1) << 40};
    char *made = NULL;
    uint64_t bytes = 0;

    ck_assert_str_eq(gd_fatbin_unpack(&entry, &made, &bytes),
                     "it says that it unpacks to more bytes than it can");
    entry.flags = 0x2000;
    entry.bytes = 1 << 20;
    ck_assert_str_eq(gd_fatbin_unpack(&entry, &made, &bytes),
                     "it says that it unpacks to more bytes than it can");
    entry.flags = 0x4000;
    ck_assert_str_eq(gd_fatbin_unpack(&entry, &made, &bytes),
                     "it is packed in a way that is not known");
    entry.flags = 0x8000;
    entry.stored.size = (UINT64_C(1) << 30) + 1; /* not read: the size is refused first */
    ck_assert_str_eq(gd_fatbin_unpack(&entry, &made, &bytes), "it is longer than 1 GiB");
    entry.stored.size = UINT64_C(1) << 20;
    entry.bytes = (UINT64_C(1) << 30) + 1;
    ck_assert_str_eq(gd_fatbin_unpack(&entry, &made, &bytes), "it unpacks to more than 1 GiB");
    ck_assert_ptr_null(made);
}

/* ---- loading ---- */

static griddep_runtime *runtime;

static void open_runtime(int capability)
{
    const griddep_runtime_options options = {.size = sizeof options, .store_directory = ""};
    gd_driver *driver = NULL;

    griddep_error_init(&error);
    fake_driver_reset();
    fake_driver_set_capability(capability);
    ck_good(gd_driver_create(fake_driver_get_proc_address, "fake", &driver, &error));
    ck_good(gd_runtime_open_on(driver, &options, &runtime, &error));
}

static void close_runtime(void)
{
    char left[256] = "";

    griddep_runtime_close(runtime);
    ck_assert_msg(fake_driver_leaks(left, sizeof left) == 0, "left: %s", left);
}

static uint32_t traits_of(griddep_module *module, const char *name)
{
    griddep_kernel *kernel = NULL;
    griddep_kernel_info info = {.size = sizeof info};

    ck_good(griddep_module_find_kernel(module, name, &kernel, &error));
    ck_good(griddep_kernel_get_info(kernel, &info, &error));
    return info.traits;
}

/* The emulated driver runs no cubin: of these fatbins the PTX is loaded. */
LOOP_TEST(loading, kernels_of_a_fatbin_have_traits, 3)
{
    gd_view fatbin = read_golden(fatbins[_i]);
    griddep_module *module = NULL;
    griddep_module_info info = {.size = sizeof info};
    griddep_kernel *kernel = NULL;
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    float data[32] = {1.5F, 2}, value = 3;
    uint64_t memory = 0;
    int32_t reason = -1;

    open_runtime(90);
    ck_good(griddep_module_load(runtime, fatbin.bytes, fatbin.size, NULL, &module, &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_assert_int_eq(info.image, GRIDDEP_IMAGE_FATBIN);
    ck_assert_int_eq(info.code, GRIDDEP_IMAGE_PTX);
    ck_assert_int_eq(info.architecture, 90);
    ck_assert_ptr_nonnull(info.ptx);
    ck_assert_uint_eq(info.kernel_count, 3);
    ck_assert(traits_of(module, "scale") & GRIDDEP_TRAIT_WAITS_ALWAYS);
    ck_assert(traits_of(module, "partly") & GRIDDEP_TRAIT_WAITS);
    ck_assert(!(traits_of(module, "partly") & GRIDDEP_TRAIT_WAITS_ALWAYS));
    ck_assert(traits_of(module, "fill") & GRIDDEP_TRAIT_TRIGGERS);
    ck_good(griddep_memory_allocate(runtime, sizeof data, &memory, &error));
    ck_good(griddep_memory_write(runtime, memory, data, sizeof data, NULL, &error));
    const griddep_argument arguments[] = {POINTER(memory), {.bytes = 4, .data = &value}, WORD(32)};
    ck_good(griddep_module_find_kernel(module, "scale", &kernel, &error));
    ck_good(griddep_launch(kernel, &config, arguments, 3, &reason, &error));
    ck_assert_int_eq(reason, GRIDDEP_REASON_SET);
    ck_good(griddep_memory_read(runtime, data, memory, sizeof data, NULL, &error));
    ck_assert(data[0] > 4.4F && data[0] < 4.6F);
    ck_good(griddep_memory_free(runtime, memory, &error));
    griddep_module_unload(module);
    close_runtime();
    release(fatbin);
}

TEST(loading, an_older_device_gets_its_own_ptx)
{
    gd_view fatbin = read_golden("kernels.zstd.fatbin");
    griddep_module *module = NULL;
    griddep_module_info info = {.size = sizeof info};

    open_runtime(86);
    ck_good(griddep_module_load(runtime, fatbin.bytes, fatbin.size, NULL, &module, &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_assert_int_eq(info.architecture, 80);
    ck_assert_uint_eq(traits_of(module, "scale"), GRIDDEP_TRAIT_KNOWN);
    griddep_module_unload(module);
    close_runtime();
    release(fatbin);
}

static void put(gd_text *text, uint64_t value, size_t bytes)
{
    gd_text_append(text, (const char *)&value, bytes);
}

static void put_entry(gd_text *text, uint16_t kind, uint64_t flags, const char *data, size_t bytes,
                      uint64_t unpacked)
{
    const uint64_t padded = (bytes + 7) / 8 * 8;

    put(text, kind, 2);
    put(text, 0x101, 2);
    put(text, 64, 4);
    put(text, padded, 8);
    put(text, unpacked ? bytes : 0, 4);
    put(text, 0, 4);
    put(text, 0x90000, 4);
    put(text, 90, 4);
    put(text, 0, 8);
    put(text, flags, 8);
    put(text, 0, 8);
    put(text, unpacked, 8);
    gd_text_append(text, data, bytes);
    put(text, 0, padded - bytes);
}

static gd_text close_fatbin(gd_text *entries)
{
    gd_text fatbin = {0};

    put(&fatbin, GD_FATBIN_MAGIC, 4);
    put(&fatbin, 1, 2);
    put(&fatbin, 16, 2);
    put(&fatbin, entries->bytes, 8);
    gd_text_append(&fatbin, gd_text_get(entries), entries->bytes);
    gd_text_free(entries);
    ck_assert(!fatbin.failed);
    return fatbin;
}

static const char waits[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                            ".visible .entry k()\n{\n    griddepcontrol.wait;\n    ret;\n}\n";

/* A cubin that the device runs comes first, unless the caller wants PTX. */
LOOP_TEST(loading, a_cubin_comes_first, 2)
{
    const griddep_module_options wanted = {.size = sizeof wanted, .flags = GRIDDEP_MODULE_PTX};
    griddep_module *module = NULL;
    griddep_module_info info = {.size = sizeof info};
    gd_text entries = {0};
    size_t bytes = 0;

    open_runtime(90);
    char *cubin = fake_driver_make_cubin(waits, &bytes);
    put_entry(&entries, GD_FATBIN_PTX, 0x11, waits, strlen(waits), 0);
    put_entry(&entries, GD_FATBIN_CUBIN, 0x11, cubin, bytes, 0);
    gd_text fatbin = close_fatbin(&entries);
    ck_good(griddep_module_load(runtime, fatbin.data, fatbin.bytes, _i ? &wanted : NULL, &module,
                                &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_assert_int_eq(info.code, _i ? GRIDDEP_IMAGE_PTX : GRIDDEP_IMAGE_CUBIN);
    ck_assert_int_eq(info.architecture, 90);
    ck_assert_int_eq(info.ptx != NULL, _i);
    griddep_module_unload(module);
    close_runtime();
    gd_text_free(&fatbin);
    free(cubin);
}

/* Entries that lie inside, and are not what they say. The driver has the last word, and refuses. */
TEST(loading, entries_that_are_not_what_they_say_are_refused)
{
    static const struct {
        uint16_t kind;
        uint64_t flags, unpacked;
        const char *data;
        size_t bytes;
        int32_t status;
    } cases[] = {
        {GD_FATBIN_PTX, 0x8011, 100, "no frame at all.", 16, GRIDDEP_ERROR_IMAGE},
        {GD_FATBIN_PTX, 0x8011, UINT64_MAX, FRAME "\x20\x03\x19\0\0abc", 12, GRIDDEP_ERROR_IMAGE},
        {GD_FATBIN_PTX, 0x2011, 100, "\xf0\xff\xff\xff", 4, GRIDDEP_ERROR_IMAGE},
        {GD_FATBIN_PTX, 0x40011, 100, "abcd", 4, GRIDDEP_ERROR_IMAGE},
        {GD_FATBIN_PTX, 0x11, 0, "hello", 5, GRIDDEP_ERROR_IMAGE},
        {GD_FATBIN_PTX, 0x8011, 3, FRAME "\x20\x03\x19\0\0abc", 12, GRIDDEP_ERROR_IMAGE},
        {GD_FATBIN_CUBIN, 0x8011, 3, FRAME "\x20\x03\x19\0\0abc", 12, GRIDDEP_ERROR_IMAGE},
        {GD_FATBIN_CUBIN, 0x11, 0, "\177ELF", 4, GRIDDEP_ERROR_IMAGE},
        {7, 0x11, 0, "what is this?", 13, GRIDDEP_ERROR_IMAGE},
        {GD_FATBIN_PTX, 0x11, 0, ".version 8.0\n.target sm_90\nerror\n", 33, GRIDDEP_ERROR_SYNTAX},
    };
    griddep_module *module = NULL;
    gd_text entries = {0};

    open_runtime(90);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        put_entry(&entries, cases[i].kind, cases[i].flags, cases[i].data, cases[i].bytes,
                  cases[i].unpacked);
        gd_text fatbin = close_fatbin(&entries);
        entries = (gd_text){0};
        ck_status(griddep_module_load(runtime, fatbin.data, fatbin.bytes, NULL, &module, &error),
                  cases[i].status);
        ck_assert_ptr_null(module);
        gd_text_free(&fatbin);
    }
    close_runtime();
}

TEST(loading, memory_may_end_at_each_allocation)
{
    gd_view fatbin = read_golden("kernels.zstd.fatbin");
    griddep_module *module = NULL;
    long failures = 0;
    bool hit = true;

    open_runtime(90);
    for (long n = 0; hit; n++) {
        fail_alloc_after(n);
        int32_t status =
            griddep_module_load(runtime, fatbin.bytes, fatbin.size, NULL, &module, &error);
        hit = fail_alloc_hit();
        fail_alloc_after(-1);
        /* The words about the cubin, which the emulated driver refuses, are nobody's. */
        const bool quiet = hit && fail_alloc_within((void (*)(void))gd_driver_fail);
        ck_assert_msg(quiet || status == (hit ? GRIDDEP_ERROR_MEMORY : GRIDDEP_OK),
                      "allocation %ld: %s: %s", n, griddep_status_name(status), error.text);
        if (hit && !status)
            griddep_module_unload(module);
        failures += hit;
    }
    griddep_module_unload(module);
    ck_assert_int_gt(failures, 10);
    close_runtime();
    release(fatbin);
}

/* ---- machine code ---- */

/* Instructions as ptxas writes them; what is for scheduling may be anything. */
#define PLAIN(low)                                                                                 \
    {                                                                                              \
        (low), 0x000fea0003800000                                                                  \
    }
#define WAIT                                                                                       \
    {                                                                                              \
        0x782e, 0x000fe20000000000                                                                 \
    }
#define TRIGGER                                                                                    \
    {                                                                                              \
        0x782d, 0x000fe20000000000                                                                 \
    }
#define EXIT PLAIN(0x794d)
#define BRANCH(words) PLAIN(0x7947 | (uint64_t)(words) << 16)
#define BRANCH_IF(words) PLAIN(0x0947 | (uint64_t)(words) << 16)
#define BACK(words)                                                                                \
    {                                                                                              \
        0x7947 | (256 - (words)) << 16 | 0xfffffffc00000000, 0x000fea000383ffff                    \
    }
#define MOVE                                                                                       \
    {                                                                                              \
        0x7918, 0x000fc00000000000                                                                 \
    }
#define BSSY(bytes) PLAIN(0x7945 | (uint64_t)(bytes) << 32)
#define BSYNC PLAIN(0x7941)
/* By a multiple of 16 bytes below 1024. */
#define CALL(bytes)                                                                                \
    {                                                                                              \
        0x7944 | (uint64_t)(bytes) / 4 << 16, 0x000fea0003c00000                                   \
    }
#define RETURN PLAIN(0x7950)
/* R0 by S2R, P0 or P1 by a comparison of R0 with a number. */
#define SPECIAL(number)                                                                            \
    {                                                                                              \
        0x7919, 0x000e220000000000 | (uint64_t)(number) << 8                                       \
    }
#define THREAD_NUMBER SPECIAL(0x21)
#define BLOCK_NUMBER SPECIAL(0x25)
#define CLOCK SPECIAL(0x50)
#define CONSTANT                                                                                   \
    {                                                                                              \
        0xff007b82, 0x000e240000000800                                                             \
    }
#define COMPARE(predicate)                                                                         \
    {                                                                                              \
        0x50000780c, 0x000fe20003f06270 | (uint64_t)(predicate) << 17                              \
    }
#define EXIT_IF(predicate)                                                                         \
    {                                                                                              \
        0x094d | (predicate) << 12, 0x000fea0003800000                                             \
    }

enum {
    MACHINE = GRIDDEP_TRAIT_KNOWN | GRIDDEP_TRAIT_MACHINE_CODE,
    WAITS = MACHINE | GRIDDEP_TRAIT_WAITS,
    ALWAYS = WAITS | GRIDDEP_TRAIT_WAITS_ALWAYS,
    OPEN = GRIDDEP_TRAIT_OPEN,
    CALLS = GRIDDEP_TRAIT_CALLS,
    TRIGGERS = GRIDDEP_TRAIT_TRIGGERS,
    TOUCHES = GRIDDEP_TRAIT_TOUCHES_EARLY,
    OTHERS = WAITS | GRIDDEP_TRAIT_OTHERS_WAIT
};

static const struct {
    uint64_t code[8][2];
    uint32_t traits;
} walks[] = {
    {{MOVE, WAIT, EXIT}, ALWAYS},
    {{MOVE, EXIT}, MACHINE},
    {{TRIGGER, WAIT, EXIT}, ALWAYS | TRIGGERS},
    {{WAIT, TRIGGER, EXIT}, ALWAYS | TRIGGERS},
    {{{0x082e, 0x000fe20000000000}, EXIT}, WAITS}, /* under a predicate */
    {{{0x782e, 0x000fe20000000001}, EXIT}, WAITS}, /* not quite a wait */
    {{{0x1782e, 0x000fe20000000000}, EXIT}, WAITS},
    {{PLAIN(0x094d), WAIT, EXIT}, WAITS},                       /* some threads leave */
    {{{0x794d, 0x000fea0000800000}, WAIT, EXIT}, WAITS},        /* by the second one */
    {{BRANCH_IF(4), WAIT, EXIT}, WAITS},                        /* past the wait */
    {{BRANCH_IF(8), WAIT, EXIT, WAIT, EXIT}, ALWAYS},           /* on both sides */
    {{BRANCH(4), EXIT, WAIT, EXIT}, ALWAYS},                    /* what is never reached */
    {{{0x47947, 0x000fea0002800000}, EXIT, WAIT, EXIT}, WAITS}, /* conditional all the same */
    {{{0x47547, 0x000fea000b800000}, EXIT, WAIT, EXIT}, WAITS}, /* by a uniform one */
    {{MOVE, WAIT, BACK(12)}, ALWAYS},                           /* has no end */
    {{MOVE, BACK(8)}, MACHINE},
    {{PLAIN(0x7947 | UINT64_C(1) << 34), WAIT, EXIT}, WAITS | OPEN}, /* out of the kernel */
    {{BRANCH(2), WAIT, EXIT}, WAITS | OPEN},                         /* into an instruction */
    {{BACK(64), WAIT, EXIT}, WAITS | OPEN},
    {{MOVE, MOVE}, MACHINE},                             /* falls off its end, and has no wait */
    {{MOVE, BRANCH_IF(4), WAIT}, WAITS | OPEN},          /* falls off its end */
    {{PLAIN(0x7343), WAIT, EXIT}, WAITS | CALLS | OPEN}, /* a call of another function */
    {{PLAIN(0x7343), EXIT}, MACHINE | CALLS | OPEN},     /* which may wait */
    {{WAIT, PLAIN(0x7343), EXIT}, ALWAYS | CALLS},       /* behind the wait */
    {{CALL(32), WAIT, EXIT, MOVE, RETURN}, ALWAYS},      /* a call in the kernel */
    {{CALL(32), WAIT, EXIT, PLAIN(0x7981), RETURN}, ALWAYS | TOUCHES},
    {{CALL(32), MOVE, EXIT, WAIT, RETURN}, ALWAYS},
    {{CALL(48), CALL(32), WAIT, EXIT, MOVE, RETURN}, ALWAYS}, /* and another one */
    {{CALL(48), WAIT, CALL(16), EXIT, MOVE, RETURN}, ALWAYS}, /* not from behind the wait */
    {{CALL(992), WAIT, EXIT}, WAITS | CALLS | OPEN},
    {{BLOCK_NUMBER, COMPARE(0), EXIT_IF(0), WAIT, EXIT}, OTHERS},
    {{THREAD_NUMBER, COMPARE(0), BRANCH_IF(4), WAIT, EXIT}, OTHERS},
    {{THREAD_NUMBER, COMPARE(1), EXIT_IF(0), WAIT, EXIT}, WAITS},           /* by another one */
    {{THREAD_NUMBER, CONSTANT, COMPARE(0), EXIT_IF(0), WAIT, EXIT}, WAITS}, /* overwritten */
    {{THREAD_NUMBER, COMPARE(0), EXIT_IF(1), EXIT_IF(0), WAIT, EXIT}, WAITS},
    {{THREAD_NUMBER, COMPARE(0), EXIT_IF(0), EXIT_IF(0), WAIT, EXIT}, WAITS}, /* twice: no side */
    {{CLOCK, COMPARE(0), EXIT_IF(0), WAIT, EXIT}, WAITS},
    {{PLAIN(0x7949), WAIT, EXIT}, WAITS | OPEN}, /* an indirect branch */
    {{PLAIN(0x795f), WAIT, EXIT}, WAITS | OPEN}, /* not known */
    {{BSSY(48), BRANCH_IF(4), MOVE, BSYNC, WAIT, EXIT}, ALWAYS},
    {{BSSY(64), BRANCH_IF(4), MOVE, BSYNC, WAIT, EXIT}, WAITS}, /* meets behind the wait */
    {{BSSY(4096), MOVE, BSYNC, WAIT, EXIT}, WAITS | OPEN},
    {{{0x87348, 0x001fea0003c00000}, WAIT, EXIT, WAIT, EXIT}, ALWAYS},
    {{PLAIN(0x795c), WAIT, EXIT}, ALWAYS},                               /* a trap ends the grid */
    {{PLAIN(0x7981), WAIT, EXIT}, ALWAYS | TOUCHES},                     /* LDG */
    {{PLAIN(0x7980), WAIT, EXIT}, ALWAYS | TOUCHES},                     /* LD, of any memory */
    {{WAIT, PLAIN(0x7981), EXIT}, ALWAYS},                               /* behind the wait */
    {{PLAIN(0x7984), PLAIN(0x7b82), WAIT, EXIT}, ALWAYS},                /* LDS, LDC */
    {{PLAIN(0x71ff), WAIT, EXIT}, ALWAYS | TOUCHES},                     /* not known */
    {{BRANCH_IF(4), PLAIN(0x7986), MOVE, WAIT, EXIT}, ALWAYS | TOUCHES}, /* STG, on a path */
    {{PLAIN(0x73ba), WAIT, EXIT}, ALWAYS | TOUCHES},                     /* a bulk copy */
    {{PLAIN(0x7983), PLAIN(0x7387), PLAIN(0x75b2), WAIT, EXIT}, ALWAYS}, /* local, a barrier's */
    {{PLAIN(0x094d), WAIT, PLAIN(0x7981), EXIT}, WAITS},                 /* some threads leave */
    {{BRANCH_IF(4), WAIT, PLAIN(0x7986), EXIT}, WAITS | TOUCHES},        /* past the wait */
    {{PLAIN(0x7b1d), BRANCH_IF(4), WAIT, PLAIN(0x7986), EXIT},
     WAITS | TOUCHES | OPEN}, /* behind a barrier */
    {{PLAIN(0x7986), PLAIN(0x7b1d), BRANCH_IF(4), WAIT, PLAIN(0x7986), EXIT}, WAITS | TOUCHES},
    {{PLAIN(0x7981), EXIT}, MACHINE}, /* and no wait */
};

/* A cubin with one kernel, k. */
static gd_text make_cubin(const uint64_t (*code)[2], uint32_t count, uint32_t flags, uint16_t type)
{
    static const char names[] = "\0k\0.text.k";
    const Elf64_Sym symbols[2] = {{0},
                                  {.st_name = 1,
                                   .st_info = STT_FUNC,
                                   .st_other = 0x10,
                                   .st_shndx = 1,
                                   .st_size = (uint64_t)count * 16}};
    struct {
        Elf64_Ehdr header;
        Elf64_Shdr sections[4];
    } head = {
        .header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT, 0x41, 8},
                   .e_type = type,
                   .e_machine = 190,
                   .e_flags = flags,
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_shoff = sizeof(Elf64_Ehdr),
                   .e_shentsize = sizeof(Elf64_Shdr),
                   .e_shnum = 4,
                   .e_shstrndx = 3}};
    const uint64_t at = sizeof head, symbols_at = at + (uint64_t)count * 16;
    gd_text made = {0};

    head.sections[1] = (Elf64_Shdr){
        .sh_name = 3, .sh_type = SHT_PROGBITS, .sh_offset = at, .sh_size = (uint64_t)count * 16};
    head.sections[2] = (Elf64_Shdr){
        .sh_type = SHT_SYMTAB, .sh_offset = symbols_at, .sh_size = sizeof symbols, .sh_link = 3};
    head.sections[3] = (Elf64_Shdr){
        .sh_type = SHT_STRTAB, .sh_offset = symbols_at + sizeof symbols, .sh_size = sizeof names};
    gd_text_append(&made, (const char *)&head, sizeof head);
    gd_text_append(&made, (const char *)code, (size_t)count * 16);
    gd_text_append(&made, (const char *)symbols, sizeof symbols);
    gd_text_append(&made, names, sizeof names);
    ck_assert(!made.failed);
    return made;
}

static uint32_t traits_of_cubin(gd_text *cubin)
{
    griddep_image *image = NULL;
    griddep_image_kernel kernel = {.size = sizeof kernel};

    griddep_error_init(&error);
    ck_good(griddep_image_open(cubin->data, cubin->bytes, NULL, &image, &error));
    ck_good(griddep_image_get_kernel(image, 0, 0, &kernel, &error));
    ck_assert_str_eq(kernel.name, "k");
    griddep_image_destroy(image);
    gd_text_free(cubin);
    return kernel.traits;
}

LOOP_TEST(machine, paths_of_machine_code_are_followed, sizeof walks / sizeof *walks)
{
    uint32_t count = 0;

    while (count < 8 && walks[_i].code[count][0])
        count++;
    gd_text cubin = make_cubin(walks[_i].code, count, 0x6005a04, ET_EXEC);
    ck_assert_uint_eq(traits_of_cubin(&cubin), walks[_i].traits);
}

/* For which chips, and of which files. */
TEST(machine, machine_code_that_is_not_known_says_nothing)
{
    static const struct {
        uint32_t flags;
        uint16_t type;
        uint32_t traits;
    } cases[] = {{0x6005a04, ET_EXEC, ALWAYS}, {0x6006402, ET_EXEC, ALWAYS},
                 {0x6007802, ET_EXEC, ALWAYS}, {0x6008204, ET_EXEC, 0},
                 {0x6005a04, ET_REL, 0},       {0x6005002, ET_EXEC, MACHINE}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gd_text cubin = make_cubin(walks[0].code, 3, cases[i].flags, cases[i].type);
        ck_assert_uint_eq(traits_of_cubin(&cubin), cases[i].traits);
    }
}

TEST(machine, images_tell_what_is_in_them)
{
    gd_view fatbin = read_golden("kernels.zstd.fatbin");
    griddep_image *image = NULL;
    griddep_image_info info = {.size = sizeof info};
    griddep_image_part part = {.size = sizeof part};
    griddep_image_kernel kernel = {.size = sizeof kernel};
    uint32_t scale = 0;

    ck_good(griddep_image_open(fatbin.bytes, fatbin.size, NULL, &image, &error));
    release(fatbin);
    ck_good(griddep_image_get_info(image, &info, &error));
    ck_assert_int_eq(info.kind, GRIDDEP_IMAGE_FATBIN);
    ck_assert_uint_eq(info.part_count, 3);
    ck_good(griddep_image_get_part(image, 0, &part, &error));
    ck_assert_int_eq(part.kind, GRIDDEP_IMAGE_PTX);
    ck_assert_int_eq(part.architecture, 80);
    ck_assert_ptr_nonnull(strstr(part.data, ".target sm_80"));
    ck_assert_uint_eq(part.kernel_count, 0);
    ck_good(griddep_image_get_part(image, 1, &part, &error));
    ck_assert_int_eq(part.kind, GRIDDEP_IMAGE_CUBIN);
    ck_assert_uint_eq(part.packed, 1);
    ck_assert_uint_eq(part.kernel_count, 3);
    for (uint32_t i = 0; i < 3; i++) {
        ck_good(griddep_image_get_kernel(image, 1, i, &kernel, &error));
        scale = strcmp(kernel.name, "scale") ? scale : kernel.traits;
    }
    ck_assert_uint_eq(scale, ALWAYS);
    ck_status(griddep_image_get_part(image, 3, &part, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_image_get_kernel(image, 1, 3, &kernel, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_image_get_kernel(image, 0, 0, &kernel, &error), GRIDDEP_ERROR_NOT_FOUND);
    ck_status(griddep_image_get_info(NULL, &info, &error), GRIDDEP_ERROR_ARGUMENT);
    griddep_image_destroy(image);
    griddep_image_destroy(NULL);
    ck_status(griddep_image_open("no code", 7, "x", &image, &error), GRIDDEP_ERROR_IMAGE);
    ck_status(griddep_image_open(NULL, 7, "x", &image, &error), GRIDDEP_ERROR_ARGUMENT);
}

/* Three kernels as of the golden fatbin, for the driver that takes its cubin. */
static const char same[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry scale(.param .u64 d, .param .f32 f, .param .u32 n)\n{\nret;\n}\n"
    ".visible .entry partly(.param .u64 d, .param .f32 f, .param .u32 n)\n{\nret;\n}\n"
    ".visible .entry fill(.param .u64 d, .param .f32 f, .param .u32 n)\n{\nret;\n}\n";

TEST(machine, kernels_of_machine_code_start_early_when_they_wait)
{
    static const struct {
        const char *name;
        int32_t reason;
    } cases[] = {{"scale", GRIDDEP_REASON_SET},
                 {"partly", GRIDDEP_REASON_WAIT_NOT_ALWAYS},
                 {"fill", GRIDDEP_REASON_NO_WAIT}};
    gd_view fatbin = read_golden("kernels.zstd.fatbin");
    griddep_module *module = NULL;
    griddep_module_info info = {.size = sizeof info};
    griddep_kernel *kernel = NULL;
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    const griddep_argument arguments[] = {{.bytes = 8}, {.bytes = 4}, {.bytes = 4}};
    int32_t reason = -1;

    open_runtime(90);
    fake_driver_run_cubins_as(same);
    ck_good(griddep_module_load(runtime, fatbin.bytes, fatbin.size, NULL, &module, &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_assert_int_eq(info.code, GRIDDEP_IMAGE_CUBIN);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_good(griddep_module_find_kernel(module, cases[i].name, &kernel, &error));
        ck_good(griddep_launch(kernel, &config, arguments, 3, &reason, &error));
        ck_assert_int_eq(reason, cases[i].reason);
    }
    griddep_module_unload(module);
    close_runtime();
    release(fatbin);
}

/* From one place to each of many, which lead on to the next one: nothing looks at all of them again
 * and again. */
TEST(machine, many_branches_are_followed)
{
    enum { MANY = 100000 };
    uint64_t(*code)[2] = calloc(2 * MANY + 3, sizeof *code);

    ck_assert_ptr_nonnull(code);
    for (uint64_t i = 0; i < 2 * MANY + 3; i++) {
        const uint64_t words = 4 * (i < MANY ? MANY + 1 : 0); /* to its partner, or the next one */
        code[i][0] = (i < MANY ? 0x0947u : 0x7947u) | (words & 0xff) << 16 | words >> 8 << 34;
        code[i][1] = 0x000fea0003800000;
    }
    code[MANY][0] = 0x782e;
    code[MANY][1] = 0x000fe20000000000;
    code[2 * MANY + 2][0] = 0x794d;
    gd_text cubin = make_cubin((const uint64_t(*)[2])code, 2 * MANY + 3, 0x6005a04, ET_EXEC);
    ck_assert_uint_eq(traits_of_cubin(&cubin), WAITS);
    free(code);
}

/* A path that cannot be followed is told as such. */
TEST(machine, a_call_in_front_of_the_wait_is_not_proven)
{
    static const uint64_t code[][2] = {PLAIN(0x7343), WAIT, EXIT};
    gd_text cubin = make_cubin(code, 3, 0x6005a04, ET_EXEC);
    griddep_module *module = NULL;
    griddep_kernel *kernel = NULL;
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {32}};
    int32_t reason = -1;

    open_runtime(90);
    fake_driver_run_cubins_as(waits);
    ck_good(griddep_module_load(runtime, cubin.data, cubin.bytes, NULL, &module, &error));
    ck_good(griddep_module_find_kernel(module, "k", &kernel, &error));
    ck_good(griddep_launch(kernel, &config, NULL, 0, &reason, &error));
    ck_assert_int_eq(reason, GRIDDEP_REASON_NOT_PROVEN);
    griddep_module_unload(module);
    close_runtime();
    gd_text_free(&cubin);
}

/* ---- traits that the program states ---- */

#define HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

/* Triggers first and writes last. */
static const char writer[] =
    HEAD ".visible .entry writer(.param .u64 out)\n{\n    .reg .b64 %o;\n"
         "    griddepcontrol.launch_dependents;\n    griddepcontrol.wait;\n"
         "    ld.param.u64 %o, [out];\n    st.global.u32 [%o], 7;\n    ret;\n}\n";
/* Reads without waiting, and reads behind its wait. */
#define READER(wait)                                                                               \
    HEAD ".visible .entry reader(.param .u64 in, .param .u64 out)\n{\n"                            \
         "    .reg .b64 %i, %o;\n    .reg .b32 %v;\n    ld.param.u64 %i, [in];\n"                  \
         "    ld.param.u64 %o, [out];\n" wait "    ld.global.u32 %v, [%i];\n"                      \
         "    st.global.u32 [%o], %v;\n    ret;\n}\n"

static griddep_kernel *load_kernel(const void *image, size_t bytes, griddep_module **module)
{
    griddep_kernel *kernel = NULL;

    ck_good(griddep_module_load(runtime, image, bytes, NULL, module, &error));
    ck_good(griddep_module_find_kernel(*module, NULL, &kernel, &error));
    return kernel;
}

/* Whether the emulated driver's race check found one. */
static bool read_report(const char *path)
{
    char *data = NULL;
    size_t bytes = 0;

    if (gd_file_read(path, &data, &bytes, NULL))
        return false;
    const bool found = strstr(data, "\"kind\":\"race\"") != NULL;
    free(data);
    return found;
}

LOOP_TEST(stated, a_wrong_statement_is_a_race_that_the_emulator_shows, 2)
{
    static const char *const texts[] = {READER("    griddepcontrol.wait;\n"), READER("")};
    char path[] = "/tmp/griddep-report.XXXXXX";
    griddep_module *first = NULL, *second = NULL;
    uint64_t memory = 0;
    size_t bytes = 0;
    int32_t reason = -1;
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};

    const int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
    setenv("GRIDDEP_EMULATOR_CHECK", "race", 1);
    setenv("GRIDDEP_EMULATOR_REPORT", path, 1);
    open_runtime(90);
    char *cubin = fake_driver_make_cubin(texts[_i], &bytes);
    griddep_kernel *writes = load_kernel(writer, strlen(writer), &first);
    griddep_kernel *reads = load_kernel(cubin, bytes, &second);
    ck_good(griddep_memory_allocate(runtime, 64, &memory, &error));
    const griddep_argument arguments[] = {POINTER(memory), POINTER(memory + 32)};
    ck_good(griddep_launch(writes, &config, arguments, 1, NULL, &error));
    ck_good(griddep_launch(reads, &config, arguments, 2, &reason, &error));
    ck_assert_int_eq(reason, GRIDDEP_REASON_UNKNOWN_CODE);
    ck_good(griddep_kernel_state_traits(reads, GRIDDEP_TRAIT_WAITS_ALWAYS, &error));
    ck_good(griddep_launch(writes, &config, arguments, 1, NULL, &error));
    ck_good(griddep_launch(reads, &config, arguments, 2, &reason, &error));
    ck_assert_int_eq(reason, GRIDDEP_REASON_SET);
    ck_good(griddep_runtime_synchronize(runtime, &error));
    ck_good(griddep_memory_free(runtime, memory, &error));
    griddep_module_unload(first);
    griddep_module_unload(second);
    close_runtime();
    ck_assert_int_eq(read_report(path), _i);
    unlink(path);
    free(cubin);
}

TEST(stated, what_was_read_is_not_taken_back)
{
    static const char partly[] =
        HEAD ".visible .entry k()\n{\n    griddepcontrol.launch_dependents;\n    ret;\n}\n";
    static const uint64_t code[][2] = {PLAIN(0x7343), WAIT, EXIT};
    gd_text cubin = make_cubin(code, 3, 0x6005a04, ET_EXEC);
    griddep_module *module = NULL;
    griddep_kernel_info info = {.size = sizeof info};

    open_runtime(90);
    griddep_kernel *kernel = load_kernel(partly, strlen(partly), &module);
    ck_refused(griddep_kernel_state_traits(
                   kernel, GRIDDEP_TRAIT_WAITS_ALWAYS | GRIDDEP_TRAIT_TRIGGERS, &error),
               GRIDDEP_ERROR_UNSUPPORTED, "its PTX was read, and says otherwise: it never waits");
    ck_refused(griddep_kernel_state_traits(kernel, 0, &error), GRIDDEP_ERROR_UNSUPPORTED,
               "it triggers");
    ck_status(griddep_kernel_state_traits(kernel, GRIDDEP_TRAIT_CALLS, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_kernel_state_traits(NULL, 0, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_good(griddep_kernel_state_traits(kernel, GRIDDEP_TRAIT_TRIGGERS, &error));
    ck_good(griddep_kernel_get_info(kernel, &info, &error));
    ck_assert(!(info.traits & GRIDDEP_TRAIT_STATED));
    griddep_module_unload(module);
    /* Of machine code that calls a function neither is known. */
    fake_driver_run_cubins_as(waits);
    kernel = load_kernel(cubin.data, cubin.bytes, &module);
    ck_good(griddep_kernel_state_traits(kernel, GRIDDEP_TRAIT_WAITS_ALWAYS, &error));
    ck_good(griddep_kernel_get_info(kernel, &info, &error));
    ck_assert_uint_eq(info.traits, GRIDDEP_TRAIT_KNOWN | GRIDDEP_TRAIT_STATED |
                                       GRIDDEP_TRAIT_WAITS | GRIDDEP_TRAIT_WAITS_ALWAYS);
    ck_good(griddep_kernel_state_traits(kernel, GRIDDEP_TRAIT_TRIGGERS, &error)); /* another one */
    ck_good(griddep_kernel_get_info(kernel, &info, &error));
    ck_assert_uint_eq(info.traits,
                      GRIDDEP_TRAIT_KNOWN | GRIDDEP_TRAIT_STATED | GRIDDEP_TRAIT_TRIGGERS);
    griddep_module_unload(module);
    close_runtime();
    gd_text_free(&cubin);
}

/* ---- links ---- */

static const char caller[] =
    HEAD ".extern .func (.param .u32 r) twice(.param .u32 v);\n"
         ".visible .entry k(.param .u64 out)\n{\n    .reg .b64 %o;\n    .reg .b32 %v;\n"
         "    griddepcontrol.wait;\n    ld.param.u64 %o, [out];\n    ld.global.u32 %v, [%o];\n"
         "    {\n    .param .u32 a;\n    .param .u32 b;\n    st.param.u32 [a], %v;\n"
         "    call (b), twice, (a);\n    ld.param.u32 %v, [b];\n    }\n"
         "    st.global.u32 [%o], %v;\n    ret;\n}\n";
static const char callee[] =
    HEAD ".visible .func (.param .u32 r) twice(.param .u32 v)\n{\n    .reg .b32 %x;\n"
         "    ld.param.u32 %x, [v];\n    add.u32 %x, %x, %x;\n    st.param.u32 [r], %x;\n"
         "    ret;\n}\n"
         ".visible .entry other()\n{\n    ret;\n}\n";

LOOP_TEST(linked, several_texts_become_one_module, 2)
{
    gd_text entries = {0};
    griddep_module *module = NULL;
    griddep_module_info info = {.size = sizeof info};
    griddep_kernel *kernel = NULL;
    const griddep_launch_config config = {.size = sizeof config, .grid = {1}, .block = {1}};
    uint64_t memory = 0;
    uint32_t value = 21;
    int32_t reason = -1;

    open_runtime(90);
    put_entry(&entries, GD_FATBIN_PTX, 0x11, callee, strlen(callee), 0);
    gd_text fatbin = close_fatbin(&entries);
    const griddep_link_input inputs[] = {
        {caller, strlen(caller), "caller.ptx"},
        {_i ? fatbin.data : callee, _i ? fatbin.bytes : strlen(callee), "callee"}};
    ck_good(griddep_module_link(runtime, inputs, 2, NULL, &module, &error));
    ck_good(griddep_module_get_info(module, &info, &error));
    ck_assert_uint_eq(info.kernel_count, 2);
    ck_good(griddep_module_find_kernel(module, "k", &kernel, &error));
    ck_good(griddep_memory_allocate(runtime, 4, &memory, &error));
    ck_good(griddep_memory_write(runtime, memory, &value, 4, NULL, &error));
    const griddep_argument argument = POINTER(memory);
    ck_good(griddep_launch(kernel, &config, &argument, 1, &reason, &error));
    ck_assert_int_eq(reason, GRIDDEP_REASON_SET); /* its own text waits */
    ck_good(griddep_memory_read(runtime, &value, memory, 4, NULL, &error));
    ck_assert_uint_eq(value, 42);
    ck_good(griddep_memory_free(runtime, memory, &error));
    griddep_module_unload(module);
    close_runtime();
    gd_text_free(&fatbin);
}

TEST(linked, links_that_do_not_fit_name_the_symbol)
{
    const griddep_link_input missing[] = {{caller, strlen(caller), "caller.ptx"}};
    const griddep_link_input twice[] = {{callee, strlen(callee), "one.ptx"},
                                        {callee, strlen(callee), "two.ptx"}};
    const griddep_link_input broken[] = {{callee, strlen(callee), "one.ptx"},
                                         {HEAD "junk", strlen(HEAD) + 4, "two.ptx"}};
    const griddep_link_input nothing[] = {{"hello", 5, "five.ptx"}}, empty[] = {{NULL, 5, NULL}};
    griddep_module *module = NULL;

    open_runtime(90);
    ck_refused(griddep_module_link(runtime, missing, 1, NULL, &module, &error),
               GRIDDEP_ERROR_COMPILE, "Undefined reference to 'twice'");
    ck_refused(griddep_module_link(runtime, twice, 2, NULL, &module, &error), GRIDDEP_ERROR_COMPILE,
               "Multiple definition of ");
    ck_says("in 'two.ptx', first defined in 'one.ptx'");
    ck_status(griddep_module_link(runtime, broken, 2, NULL, &module, &error),
              GRIDDEP_ERROR_COMPILE);
    ck_assert_str_eq(error.file, "two.ptx");
    ck_assert_int_eq(error.line, 4);
    ck_refused(griddep_module_link(runtime, nothing, 1, NULL, &module, &error), GRIDDEP_ERROR_IMAGE,
               "inputs[0]");
    ck_status(griddep_module_link(runtime, empty, 1, NULL, &module, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_module_link(runtime, empty, 0, NULL, &module, &error),
              GRIDDEP_ERROR_ARGUMENT);
    ck_status(griddep_module_link(runtime, NULL, 1, NULL, &module, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_ptr_null(module);
    close_runtime();
}

static int32_t link_both(griddep_module **module)
{
    const griddep_link_input inputs[] = {{caller, strlen(caller), NULL},
                                         {callee, strlen(callee), NULL}};

    return griddep_module_link(runtime, inputs, 2, NULL, module, &error);
}

/* A driver call, or an allocation, that fails gives back all that is held. */
TEST(linked, links_may_fail_at_each_step)
{
    static const char *const calls[] = {"cuLinkCreate", "cuLinkAddData", "cuLinkComplete",
                                        "cuModuleLoadDataEx"};
    griddep_module *module = NULL;
    bool hit = true;

    open_runtime(90);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        fake_driver_fail(calls[i], 1, GD_CUDA_ERROR_OUT_OF_MEMORY);
        ck_assert_int_ne(link_both(&module), GRIDDEP_OK);
    }
    for (long n = 0; hit; n++) {
        fail_alloc_after(n);
        int32_t status = link_both(&module);
        hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_msg(status == (hit ? GRIDDEP_ERROR_MEMORY : GRIDDEP_OK), "allocation %ld: %s: %s",
                      n, griddep_status_name(status), error.text);
    }
    griddep_module_unload(module);
    close_runtime();
}

/* ---- CUDA C++, where there is an NVRTC ---- */

TEST(compiled, templates_are_found_by_their_names)
{
    static const char source[] = "#include \"scale.h\"\n"
                                 "__constant__ int table[4];\n"
                                 "template __global__ void scale<3>(float *);\n";
    const griddep_header header = {"scale.h",
                                   "template <int N> __global__ void scale(float *data)\n"
                                   "{\n    griddep_wait();\n    data[threadIdx.x] *= N;\n}\n"};
    const griddep_header broken = {"scale.h",
                                   "template <int N>\n__global__ void scale(flaot *d);\n"};
    const char *const names[] = {"scale<3>", "&table"}, *const target =
                                                            "--gpu-architecture=compute_90a";
    griddep_module_options options = {.size = sizeof options,
                                      .headers = &header,
                                      .header_count = 1,
                                      .name_expressions = names,
                                      .name_expression_count = 2,
                                      .compile_options = &target,
                                      .compile_option_count = 1};
    griddep_module *module = NULL;
    griddep_module_info info = {.size = sizeof info};
    griddep_ptx_info ptx = {.size = sizeof ptx};
    uint64_t address = 0, bytes = 0;

    open_runtime(90);
    int32_t status =
        griddep_module_compile(runtime, source, sizeof source, &options, &module, &error);
    if (status != GRIDDEP_ERROR_NO_NVRTC) {
        ck_assert_msg(status == GRIDDEP_OK, "%s", error.text);
        ck_assert(traits_of(module, "scale<3>") & GRIDDEP_TRAIT_WAITS_ALWAYS);
        ck_good(griddep_module_get_global(module, "&table", &address, &bytes, &error));
        ck_assert_uint_eq(bytes, 16);
        ck_good(griddep_module_get_info(module, &info, &error));
        ck_good(griddep_ptx_get_info(info.ptx, &ptx, &error));
        ck_assert_str_eq(ptx.target, "sm_90a");
        griddep_module_unload(module);
        options.headers = &broken;
        ck_status(griddep_module_compile(runtime, source, sizeof source, &options, &module, &error),
                  GRIDDEP_ERROR_COMPILE);
        ck_assert_str_eq(error.file, "scale.h");
        ck_assert_int_eq(error.line, 2);
    }
    close_runtime();
}

MAIN_OF_SUITE("image")

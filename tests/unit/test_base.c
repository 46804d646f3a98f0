/* Tests of src/base: arena, text, table, digest, file, error, structs, status, constants, version,
 * log. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "griddep.h"
#include "run/private.h"

#include "base/arena.h"
#include "base/chip.h"
#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/table.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/view.h"
#include "suite.h"
#include "unit/fail_alloc.h"

/* ---- Help */

/* Whether a text is well-formed UTF-8: lead bytes are followed by as many continuation bytes as
 * they say. */
static bool is_utf8(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    while (*at) {
        int more = *at < 0x80             ? 0
                   : (*at & 0xE0) == 0xC0 ? 1
                   : (*at & 0xF0) == 0xE0 ? 2
                   : (*at & 0xF8) == 0xF0 ? 3
                                          : -1;
        at++;
        if (more < 0)
            return false;
        for (; more > 0; more--, at++) {
            if ((*at & 0xC0) != 0x80)
                return false;
        }
    }
    return true;
}

static size_t characters(const char *text, size_t bytes)
{
    size_t count = 0;

    for (size_t i = 0; i < bytes; i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

static bool starts_with(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

/* ---- Arena */

TEST_GROUP(arena, NULL, NULL);

TEST(arena, arena_gives_aligned_zeroed_memory)
{
    gd_arena arena = {0};

    for (size_t bytes = 0; bytes < 3000; bytes += 7) {
        unsigned char *memory = gd_arena_take(&arena, bytes);
        ck_assert_ptr_nonnull(memory);
        ck_assert_uint_eq((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < bytes; i++) {
            if (memory[i])
                ck_abort_msg("byte %zu of %zu is not zero", i, bytes);
        }
        if (bytes)
            memset(memory, 0xA5, bytes);
    }
    ck_assert_uint_ge(arena.total, 3000u * 3000u / 14u);
    gd_arena_free(&arena);
    ck_assert_ptr_null(arena.block);
    ck_assert_uint_eq(arena.total, 0);
}

TEST(arena, arena_memory_does_not_overlap)
{
    enum { COUNT = 5000 };
    gd_arena arena = {0};
    size_t *values[COUNT];

    for (size_t i = 0; i < COUNT; i++) {
        values[i] = gd_arena_array(&arena, 1 + i % 5, sizeof **values);
        ck_assert_ptr_nonnull(values[i]);
        for (size_t k = 0; k < 1 + i % 5; k++)
            values[i][k] = i;
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < 1 + i % 5; k++)
            ck_assert_uint_eq(values[i][k], i);
    }
    gd_arena_free(&arena);
}

TEST(arena, arena_takes_what_is_larger_than_its_blocks)
{
    gd_arena arena = {0};
    enum { LARGE = 9 * 1024 * 1024 };
    char *small = gd_arena_take(&arena, 3);
    char *large = gd_arena_take(&arena, LARGE);
    char *after = gd_arena_take(&arena, 3);

    ck_assert(small && large && after);
    memset(large, 1, LARGE);
    ck_assert_int_eq(small[0], 0);
    ck_assert_int_eq(after[0], 0);
    gd_arena_free(&arena);
}

TEST(arena, arena_refuses_sizes_that_overflow)
{
    gd_arena arena = {0};

    ck_assert_ptr_null(gd_arena_take(&arena, SIZE_MAX));
    ck_assert_ptr_null(gd_arena_take(&arena, SIZE_MAX - 14));
    ck_assert_ptr_null(gd_arena_take(&arena, SIZE_MAX - 15));
    ck_assert_ptr_null(gd_arena_take(&arena, SIZE_MAX - 16));
    ck_assert_ptr_null(gd_arena_array(&arena, SIZE_MAX / 2, 3));
    ck_assert_ptr_null(gd_arena_array(&arena, 3, SIZE_MAX / 2));
    ck_assert_ptr_null(gd_arena_string(&arena, "x", SIZE_MAX));
    ck_assert_ptr_nonnull(gd_arena_array(&arena, 0, 8));
    ck_assert_ptr_nonnull(gd_arena_array(&arena, 8, 0));
    gd_arena_free(&arena);
}

TEST(arena, arena_copies_strings_with_a_closing_zero)
{
    gd_arena arena = {0};
    const char source[] = "griddepcontrol.wait";
    char *part = gd_arena_string(&arena, source, 7);
    char *empty = gd_arena_string(&arena, NULL, 0);
    char *inner = gd_arena_string(&arena, "a\0b", 3);

    ck_assert_str_eq(part, "griddep");
    ck_assert_str_eq(empty, "");
    ck_assert_mem_eq(inner, "a\0b", 4);
    gd_arena_free(&arena);
}

/* ---- Text */

TEST_GROUP(text, NULL, NULL);

TEST(text, text_grows_and_ends_with_a_zero)
{
    gd_text text = {0};

    ck_assert_str_eq(gd_text_get(&text), "");
    for (int i = 0; i < 10000; i++) {
        gd_text_format(&text, "%d,", i % 10);
        ck_assert_uint_eq(text.bytes, 2u * ((unsigned)i + 1u));
        ck_assert_int_eq(text.data[text.bytes], 0);
    }
    gd_text_string(&text, "");
    gd_text_append(&text, "a\0b", 3);
    ck_assert_uint_eq(text.bytes, 20003);
    ck_assert(starts_with(gd_text_get(&text), "0,1,2,"));
    ck_assert_mem_eq(text.data + 20000, "a\0b", 4);
    ck_assert(!text.failed);
    gd_text_free(&text);
    ck_assert_ptr_null(text.data);
    ck_assert_str_eq(gd_text_get(&text), "");
}

TEST(text, text_formats_what_is_longer_than_its_buffer)
{
    gd_text text = {0};
    char word[5000];

    memset(word, 'w', sizeof word - 1);
    word[sizeof word - 1] = 0;
    gd_text_format(&text, "<%s>", word);
    ck_assert_uint_eq(text.bytes, sizeof word + 1);
    ck_assert_int_eq(text.data[text.bytes - 1], '>');
    gd_text_free(&text);
}

TEST(text, text_remembers_a_failed_allocation)
{
    gd_text text = {0};

    gd_text_string(&text, "kept");
    gd_text_append(&text, "x", SIZE_MAX - 100);
    ck_assert(text.failed);
    gd_text_string(&text, "lost");
    gd_text_format(&text, "%d", 1);
    ck_assert(text.failed);
    ck_assert_str_eq(gd_text_get(&text), "kept");
    gd_text_free(&text);
    ck_assert(!text.failed);
}

TEST(text, text_is_exported_to_the_callers_buffer)
{
    char buffer[8];
    uint64_t needed = 99;

    memset(buffer, '#', sizeof buffer);
    ck_assert_int_eq(gd_text_export("hello", 5, buffer, sizeof buffer, &needed, NULL), GRIDDEP_OK);
    ck_assert_str_eq(buffer, "hello");
    ck_assert_int_eq(buffer[6], '#');
    ck_assert_uint_eq(needed, 5);

    ck_assert_int_eq(gd_text_export("hello", 5, buffer, 6, &needed, NULL), GRIDDEP_OK);
    ck_assert_str_eq(buffer, "hello");
    ck_assert_int_eq(gd_text_export("hello", 5, buffer, 5, &needed, NULL), GRIDDEP_OK);
    ck_assert_str_eq(buffer, "hell");
    ck_assert_uint_eq(needed, 5);
    ck_assert_int_eq(gd_text_export("hello", 5, buffer, 1, &needed, NULL), GRIDDEP_OK);
    ck_assert_str_eq(buffer, "");

    needed = 99;
    ck_assert_int_eq(gd_text_export("hello", 5, NULL, 0, &needed, NULL), GRIDDEP_OK);
    ck_assert_uint_eq(needed, 5);
    ck_assert_int_eq(gd_text_export(NULL, 0, buffer, sizeof buffer, &needed, NULL), GRIDDEP_OK);
    ck_assert_str_eq(buffer, "");
    ck_assert_uint_eq(needed, 0);
}

TEST(text, text_export_refuses_what_cannot_be)
{
    griddep_error error;
    char buffer[8] = "same";
    uint64_t needed = 99;

    griddep_error_init(&error);
    ck_assert_int_eq(gd_text_export("hello", 5, buffer, sizeof buffer, NULL, &error),
                     GRIDDEP_ERROR_ARGUMENT);
    ck_assert_str_eq(error.text, "bytes is NULL");
    ck_assert_str_eq(buffer, "same");
    ck_assert_int_eq(gd_text_export("hello", 5, NULL, 8, &needed, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_uint_eq(needed, 99);
}

/* Quotes one line of a source and compares. */
static void check_quote(const char *source, int32_t line, int32_t column, const char *expected)
{
    gd_text text = {0};

    gd_text_quote(&text, source, strlen(source), line, column);
    ck_assert(!text.failed);
    ck_assert_str_eq(gd_text_get(&text), expected);
    gd_text_free(&text);
}

TEST(text, nearest_counts_slips_up_to_the_best_name_so_far)
{
    static const struct {
        const char *word, *name;
        size_t slips; /* SIZE_MAX: too many for the word */
    } cases[] = {
        {"global", "global", 0},
        {"GLOBAL", "global", 0},
        {"globl", "global", 1},
        {"golbal", "global", 1},
        {"lgoabl", "global", 2},
        {"globally", "global", 2},
        {"gl", "global", SIZE_MAX},
        {"xyzzyx", "global", SIZE_MAX},
        {"ab", "ba", 1},
        {"purpsoe", "purpose", 1},
        {"upprose", "purpose", 2},
        {"launch", "lunches", 3},
        {"x", "y", SIZE_MAX},
        {"wiat", "wait", 1},
        {"requrires", "requires", 1},
        {"tnatsnoc", "constant", SIZE_MAX},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *word = cases[i].word, *name = cases[i].name;
        const size_t slips = cases[i].slips;
        gd_nearest alone = {.word = word, .bytes = strlen(word)};
        gd_nearest_look(&alone, name);
        ck_assert_msg((alone.name != NULL) == (slips != SIZE_MAX), "%s, %s", word, name);
        if (slips == SIZE_MAX)
            continue;
        ck_assert_msg(alone.distance == slips, "%s, %s: %zu", word, name, alone.distance);
        for (size_t kept = 0; kept < 6; kept++) { /* beside a name with so many slips */
            gd_nearest beside = {
                .word = word, .bytes = strlen(word), .name = "other", .distance = kept};
            gd_nearest_look(&beside, name);
            ck_assert_msg((beside.name == name) == (slips < kept), "%s, %s, %zu", word, name, kept);
            ck_assert_uint_eq(beside.distance, slips < kept ? slips : kept);
        }
    }
}

TEST(text, quote_shows_the_line_and_a_caret)
{
    static const char source[] = "first\n  ret;\nlast";

    check_quote(source, 1, 1, "     1 | first\n       | ^\n");
    check_quote(source, 2, 3, "     2 |   ret;\n       |   ^\n");
    check_quote(source, 3, 4, "     3 | last\n       |    ^\n");
    check_quote(source, 2, 0, "     2 |   ret;\n");
}

TEST(text, quote_says_nothing_about_a_line_that_is_not_there)
{
    check_quote("one\ntwo\n", 4, 1, "");
    check_quote("one\ntwo\n", 0, 1, "");
    check_quote("one\ntwo\n", -1, 1, "");
    check_quote("", 1, 1, "");
    gd_text text = {0};
    gd_text_quote(&text, NULL, 0, 1, 1);
    ck_assert_str_eq(gd_text_get(&text), "");
    gd_text_free(&text);
}

TEST(text, quote_puts_the_caret_behind_a_line_that_ends_too_early)
{
    check_quote("ret\nnext", 1, 4, "     1 | ret\n       |    ^\n");
    check_quote("ret\nnext", 1, 1000, "     1 | ret\n       |    ^\n");
    check_quote("a\n\nb", 2, 1, "     2 | \n       | ^\n");
}

TEST(text, quote_leaves_carriage_returns_out)
{
    check_quote("one\r\ntwo\r\n", 1, 2, "     1 | one\n       |  ^\n");
    check_quote("\r\ntwo\r\n", 1, 1, "     1 | \n       | ^\n");
}

TEST(text, quote_keeps_tabs_under_tabs)
{
    check_quote("\t\tmov x, y;", 1, 7, "     1 | \t\tmov x, y;\n       | \t\t    ^\n");
    check_quote("a\tb", 1, 3, "     1 | a\tb\n       |  \t^\n");
}

TEST(text, quote_counts_characters_not_bytes)
{
    check_quote("// \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 !", 1, 14,
                "     1 | // \xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 !\n       |        ^\n");
}

TEST(text, quote_cuts_a_long_line_around_the_column)
{
    char source[1001];
    gd_text text = {0};

    for (size_t i = 0; i < sizeof source - 1; i++)
        source[i] = (char)('a' + i % 26);
    source[500] = '!';
    source[sizeof source - 1] = 0;
    for (int32_t column = 1; column <= 1001; column += 50) {
        gd_text_quote(&text, source, sizeof source - 1, 1, column);
        const char *first = gd_text_get(&text);
        const char *second = strchr(first, '\n') + 1;
        ck_assert_uint_le((size_t)(second - first), 120);
        size_t caret = strcspn(second, "^");
        if (column <= 1000)
            ck_assert_int_eq(first[caret], source[column - 1]);
        gd_text_free(&text);
    }
}

/* Of a longer line 100 bytes are shown, 60 of them before the column, and "..." for what is missing
 * on each side. */
TEST(text, quote_shows_a_hundred_bytes)
{
    for (int length = 99; length <= 261; length += 54) {
        char source[262] = "", expected[400];
        for (int i = 0; i < length; i++)
            source[i] = (char)('!' + i % 90);
        for (int column = 1; column <= length + 2; column++) {
            int at = column - 1 < length ? column - 1 : length,
                skip = length > 100 && at > 60 ? at - 60 : 0;
            int shown = length - skip < 100 ? length - skip : 100;
            snprintf(expected, sizeof expected, "    12 | %s%.*s%s\n       | %s%*s^\n",
                     skip ? "..." : "", shown, source + skip, skip + shown < length ? "..." : "",
                     skip ? "   " : "", at - skip, "");
            gd_text lines = {0};
            gd_text_string(&lines, "\n\n\n\n\n\n\n\n\n\n\n");
            gd_text_string(&lines, source);
            check_quote(gd_text_get(&lines), 12, column, expected);
            gd_text_free(&lines);
        }
    }
}

TEST(text, quote_never_cuts_a_character_in_two)
{
    /* The cuts come at different bytes of a character: 2-byte characters behind a prefix of either
     * parity, then 3 and 4. */
    static const char *const units[] = {"\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    gd_text source = {0}, quote = {0};

    for (size_t unit = 0; unit < 3; unit++) {
        for (size_t prefix = 0; prefix < 4; prefix++) {
            gd_text_append(&source, "xxxx", prefix);
            for (int i = 0; i < 200; i++)
                gd_text_string(&source, units[unit]);
            size_t width = strlen(units[unit]);
            for (size_t at = prefix; at < source.bytes; at += 13 * width) {
                gd_text_quote(&quote, source.data, source.bytes, 1, (int32_t)at + 1);
                const char *second = strchr(gd_text_get(&quote), '\n') + 1;
                ck_assert_msg(is_utf8(gd_text_get(&quote)), "unit %zu, prefix %zu, byte %zu:\n%s",
                              unit, prefix, at, gd_text_get(&quote));
                /* As many characters stand before the caret as before what it points to. */
                size_t before = strcspn(second, "^");
                size_t shown = 0;
                const char *first = gd_text_get(&quote);
                for (size_t seen = 0; seen < before || ((unsigned char)first[shown] & 0xC0) == 0x80;
                     shown++)
                    seen += ((unsigned char)first[shown] & 0xC0) != 0x80;
                ck_assert_mem_eq(first + shown, units[unit], width);
                gd_text_free(&quote);
            }
            gd_text_free(&source);
        }
    }
}

/* ---- Table */

TEST_GROUP(table, NULL, NULL);

TEST(table, table_that_is_empty_finds_nothing)
{
    gd_table table = {0};

    ck_assert_ptr_null(gd_table_find(&table, "x", 1));
    ck_assert_ptr_null(gd_table_find(&table, "", 0));
    gd_table_free(&table);
}

TEST(table, table_holds_ten_thousand_keys)
{
    enum { COUNT = 10000, WIDTH = 12 };
    gd_table table = {0};
    char(*keys)[WIDTH] = calloc(COUNT, sizeof *keys);
    char missing[WIDTH];

    ck_assert_ptr_nonnull(keys);
    for (int i = 0; i < COUNT; i++) {
        int bytes = snprintf(keys[i], WIDTH, "%%r%d", i);
        ck_assert_ptr_null(gd_table_find(&table, keys[i], (size_t)bytes));
        ck_assert(gd_table_set(&table, keys[i], (size_t)bytes, keys[i]));
        ck_assert_uint_eq(table.count, (unsigned)i + 1u);
        ck_assert_uint_lt(table.count, table.capacity);
    }
    for (int i = 0; i < COUNT; i++) {
        /* The same text at another place: it is the bytes that count. */
        int bytes = snprintf(missing, sizeof missing, "%%r%d", i);
        ck_assert_ptr_eq(gd_table_find(&table, missing, (size_t)bytes), keys[i]);
        bytes = snprintf(missing, sizeof missing, "%%s%d", i);
        ck_assert_ptr_null(gd_table_find(&table, missing, (size_t)bytes));
    }
    gd_table_free(&table);
    ck_assert_uint_eq(table.count, 0);
    free(keys);
}

TEST(table, table_tells_keys_by_all_their_bytes)
{
    gd_table table = {0};
    int a, b, c, d;

    ck_assert(gd_table_set(&table, "ab", 2, &a));
    ck_assert(gd_table_set(&table, "ab\0", 3, &b));
    ck_assert(gd_table_set(&table, "a", 1, &c));
    ck_assert(gd_table_set(&table, "", 0, &d));
    ck_assert_ptr_eq(gd_table_find(&table, "ab", 2), &a);
    ck_assert_ptr_eq(gd_table_find(&table, "ab\0", 3), &b);
    ck_assert_ptr_eq(gd_table_find(&table, "abc", 1), &c);
    ck_assert_ptr_eq(gd_table_find(&table, "abc", 0), &d);
    ck_assert_uint_eq(table.count, 4);
    gd_table_free(&table);
}

TEST(table, table_replaces_a_value)
{
    gd_table table = {0};
    int old, new;

    ck_assert(gd_table_set(&table, "key", 3, &old));
    ck_assert(gd_table_set(&table, "key", 3, &new));
    ck_assert_ptr_eq(gd_table_find(&table, "key", 3), &new);
    ck_assert_uint_eq(table.count, 1);
    gd_table_free(&table);
}

/* ---- Digest: the examples of FIPS 180-4's SHA-256, and of NIST's test vectors */

static void finish(gd_digest *digest, char hex[65])
{
    uint8_t result[32];

    gd_digest_end(digest, result);
    gd_digest_hex(result, hex);
}

static const struct {
    const char *text;
    const char *hex;
} digest_examples[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnop"
     "qrsmnopqrstnopqrstu",
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

TEST_GROUP(digest, NULL, NULL);

LOOP_TEST(digest, digest_of_the_examples, sizeof digest_examples / sizeof digest_examples[0])
{
    gd_digest digest;
    char hex[65];

    gd_digest_begin(&digest);
    gd_digest_add(&digest, digest_examples[_i].text, strlen(digest_examples[_i].text));
    finish(&digest, hex);
    ck_assert_str_eq(hex, digest_examples[_i].hex);
}

TEST(digest, digest_of_a_million_a)
{
    gd_digest digest;
    char part[1000], hex[65];

    memset(part, 'a', sizeof part);
    gd_digest_begin(&digest);
    for (int i = 0; i < 1000; i++)
        gd_digest_add(&digest, part, sizeof part);
    finish(&digest, hex);
    ck_assert_str_eq(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(digest, digest_does_not_depend_on_how_data_is_cut)
{
    char data[300], whole[65], parts[65];
    gd_digest digest;

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    for (size_t bytes = 0; bytes <= sizeof data; bytes++) {
        gd_digest_begin(&digest);
        gd_digest_add(&digest, data, bytes);
        finish(&digest, whole);
        for (size_t step = 1; step < 130; step += 21) {
            gd_digest_begin(&digest);
            for (size_t at = 0; at < bytes; at += step)
                gd_digest_add(&digest, data + at, bytes - at < step ? bytes - at : step);
            finish(&digest, parts);
            ck_assert_str_eq(parts, whole);
        }
    }
}

TEST(digest, digest_keeps_neighbouring_strings_apart)
{
    gd_digest digest;
    char first[65], second[65];

    gd_digest_begin(&digest);
    gd_digest_add_string(&digest, "ab");
    gd_digest_add_string(&digest, "c");
    finish(&digest, first);
    gd_digest_begin(&digest);
    gd_digest_add_string(&digest, "a");
    gd_digest_add_string(&digest, "bc");
    finish(&digest, second);
    ck_assert_str_ne(first, second);
    gd_digest_begin(&digest);
    gd_digest_add_string(&digest, "ab");
    gd_digest_add_string(&digest, "c");
    finish(&digest, second);
    ck_assert_str_eq(first, second);
}

/* ---- File. Each test works in a directory of its own and leaves it empty. */

static char directory[64];

static void make_directory(void)
{
    strcpy(directory, "/tmp/griddep-test-base-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
}

static void remove_directory(void)
{
    if (rmdir(directory))
        ck_abort_msg("%s: %s", directory, strerror(errno));
}

/* A path below the directory; one at a time. */
static const char *below(const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int entries_of(const char *path)
{
    DIR *listing = opendir(path);
    int count = 0;

    ck_assert_ptr_nonnull(listing);
    for (struct dirent *entry; (entry = readdir(listing));)
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
    closedir(listing);
    return count;
}

TEST_GROUP(file, make_directory, remove_directory);

LOOP_TEST(file, file_comes_back_as_it_was_written, 6)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 300000};
    size_t size = sizes[_i], bytes = 1;
    char *written = malloc(size + 1), *data = NULL;

    ck_assert_ptr_nonnull(written);
    for (size_t i = 0; i < size; i++)
        written[i] = (char)(i * 31 % 251);
    ck_assert_int_eq(gd_file_write(below("file"), written, size, NULL), GRIDDEP_OK);
    ck_assert_int_eq(gd_file_read(below("file"), &data, &bytes, NULL), GRIDDEP_OK);
    ck_assert_uint_eq(bytes, size);
    if (size)
        ck_assert_mem_eq(data, written, size);
    ck_assert_int_eq(data[size], 0);
    ck_assert_int_eq(entries_of(directory), 1);
    free(data);
    free(written);
    unlink(below("file"));
}

TEST(file, file_of_proc_is_read_whole)
{
    char *data = NULL;
    size_t bytes = 0;

    ck_assert_int_eq(gd_file_read("/proc/self/status", &data, &bytes, NULL), GRIDDEP_OK);
    ck_assert_uint_gt(bytes, 0);
    ck_assert(starts_with(data, "Name:"));
    free(data);
}

/* What a target's code may run on, and so the most shared memory and the largest cluster of any of
 * these. */
TEST(file, chips_of_a_target)
{
    static const struct {
        const char *target;
        int32_t capability;
        uint32_t shared, cluster;
    } cases[] = {
        {"sm_50", 50, 232448, 16},        {"sm_75", 75, 232448, 16},
        {"sm_90", 90, 232448, 16},        {"sm_90a", 90, 232448, 16},
        {"sm_100f", 100, 232448, 16},     {"sm_103f", 103, 232448, 16},
        {"sm_104", 104, 232448, 16},      {"sm_111", 111, 101376, 16},
        {"sm_110f", 110, 232448, 16},     {"sm_120", 120, 101376, 16},
        {"sm_120f", 120, 101376, 16},     {"sm_121a", 121, 101376, 16},
        {"sm_121", 121, 101376, 16},      {"sm_80f", 80, 166912, 0},
        {"sm_81f", 81, 166912, 0},        {"sm_88f", 88, 101376, 0},
        {"sm_70a", 70, 98304, 0},         {"sm_75a", 75, 65536, 0},
        {"sm_75f", 75, 65536, 0},         {"sm_89a", 89, 101376, 0},
        {"sm_62f", 62, 49152, 0},         {"sm_85a", 85, UINT32_MAX, 16},
        {"sm_122", 122, UINT32_MAX, 16},  {"sm_0", 0, UINT32_MAX, 16},
        {NULL, 120, 101376, 16},          {"", 80, 232448, 16},
        {"sm_130f", 130, UINT32_MAX, 16},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const gd_chip chip = gd_chip_of_target(cases[i].target, cases[i].capability);
        ck_assert_msg(chip.shared_bytes == cases[i].shared && chip.cluster == cases[i].cluster,
                      "%s: %u bytes, %u CTAs", cases[i].target ? cases[i].target : "no target",
                      chip.shared_bytes, chip.cluster);
    }
}

/* Reading fails with FILE, the path and the system's words, and leaves the outputs alone. */
static void check_unreadable(const char *path, int number)
{
    griddep_error error;
    char kept, *data = &kept;
    size_t bytes = 99;

    griddep_error_init(&error);
    ck_assert_int_eq(gd_file_read(path, &data, &bytes, &error), GRIDDEP_ERROR_FILE);
    ck_assert_ptr_eq(data, &kept);
    ck_assert_uint_eq(bytes, 99);
    ck_assert_int_eq(error.status, GRIDDEP_ERROR_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, path));
    ck_assert_ptr_nonnull(strstr(error.text, strerror(number)));
}

TEST(file, file_that_cannot_be_read_says_why)
{
    check_unreadable(below("missing"), ENOENT);
    check_unreadable(below("missing/file"), ENOENT);
    check_unreadable(directory, EISDIR);
    check_unreadable("", ENOENT);
    check_unreadable("/proc/self/mem", EIO); /* it opens, and nothing can be read at its start */
}

TEST(file, file_is_replaced_as_a_whole)
{
    char *data = NULL;
    size_t bytes = 0;
    struct stat before, after;

    ck_assert_int_eq(gd_file_write(below("file"), "the old text", 12, NULL), GRIDDEP_OK);
    int held = open(below("file"), O_RDONLY);
    ck_assert_int_ge(held, 0);
    ck_assert_int_eq(fstat(held, &before), 0);
    ck_assert_int_eq(gd_file_write(below("file"), "new", 3, NULL), GRIDDEP_OK);
    ck_assert_int_eq(stat(below("file"), &after), 0);

    /* A reader that had it open goes on with the old text: the name points to another file now. */
    char old[16] = "";
    ck_assert_int_eq(read(held, old, sizeof old - 1), 12);
    ck_assert_str_eq(old, "the old text");
    close(held);
    ck_assert(before.st_ino != after.st_ino);
    ck_assert_int_eq(gd_file_read(below("file"), &data, &bytes, NULL), GRIDDEP_OK);
    ck_assert_str_eq(data, "new");
    ck_assert_int_eq(entries_of(directory), 1);
    free(data);
    unlink(below("file"));
}

TEST(file, file_that_cannot_be_written_says_why_and_leaves_nothing)
{
    griddep_error error;

    griddep_error_init(&error);
    ck_assert_int_eq(gd_file_write(below("missing/file"), "x", 1, &error), GRIDDEP_ERROR_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, below("missing/file")));
    ck_assert_ptr_nonnull(strstr(error.text, strerror(ENOENT)));

    /* A directory stands where the file should. */
    ck_assert_int_eq(mkdir(below("taken"), 0700), 0);
    griddep_error_init(&error);
    ck_assert_int_eq(gd_file_write(below("taken"), "x", 1, &error), GRIDDEP_ERROR_FILE);
    ck_assert_ptr_nonnull(strstr(error.text, below("taken")));
    ck_assert_int_eq(entries_of(directory), 1);
    rmdir(below("taken"));
    ck_assert_int_eq(gd_file_write("", "x", 1, NULL), GRIDDEP_ERROR_FILE);
}

typedef struct writer {
    const char *path;
    char letter;
    int32_t status;
} writer;

static void *write_many(void *value)
{
    writer *self = value;
    char text[4096];

    memset(text, self->letter, sizeof text);
    for (int i = 0; i < 50 && !self->status; i++)
        self->status = gd_file_write(self->path, text, sizeof text, NULL);
    return NULL;
}

TEST(file, file_written_by_many_threads_is_one_of_theirs)
{
    enum { COUNT = 4 };
    const char *path = below("shared");
    writer writers[COUNT];
    pthread_t threads[COUNT];
    size_t bytes;
    char *data;

    for (int i = 0; i < COUNT; i++) {
        writers[i] = (writer){.path = path, .letter = (char)('a' + i)};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, write_many, &writers[i]), 0);
    }
    for (int i = 0; i < COUNT; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_int_eq(writers[i].status, GRIDDEP_OK);
    }
    ck_assert_int_eq(gd_file_read(path, &data, &bytes, NULL), GRIDDEP_OK);
    ck_assert_uint_eq(bytes, 4096);
    for (size_t i = 0; i < bytes; i++)
        ck_assert_int_eq(data[i], data[0]);
    ck_assert_int_eq(entries_of(directory), 1);
    free(data);
    unlink(below("shared"));
}

/* What is no regular file may never end, or never begin. */
TEST(file, file_that_is_none)
{
    char path[64], *data = NULL;
    size_t bytes = 0;
    griddep_error error;

    griddep_error_init(&error);
    snprintf(path, sizeof path, "/tmp/griddep-fifo-%ld", (long)getpid());
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(gd_file_read(path, &data, &bytes, &error), GRIDDEP_ERROR_FILE);
    ck_assert_str_eq(error.file, path);
    ck_assert_int_eq(gd_file_read("/dev/zero", &data, &bytes, &error), GRIDDEP_ERROR_FILE);
    unlink(path);
}

/* Another process of the same number left its temporaries behind. */
TEST(file, file_written_beside_leftovers)
{
    char path[64], leftover[128], *data = NULL;
    size_t bytes = 0;

    snprintf(path, sizeof path, "/tmp/griddep-write-%ld", (long)getpid());
    for (int i = 0; i < 50; i++) {
        snprintf(leftover, sizeof leftover, "%s.%ld.%d.new", path, (long)getpid(), i);
        FILE *file = fopen(leftover, "w");
        ck_assert_ptr_nonnull(file);
        fclose(file);
    }
    ck_assert_int_eq(gd_file_write(path, "text", 4, NULL), GRIDDEP_OK);
    ck_assert_int_eq(gd_file_read(path, &data, &bytes, NULL), GRIDDEP_OK);
    ck_assert_uint_eq(bytes, 4);
    free(data);
    unlink(path);
    for (int i = 0; i < 50; i++) {
        snprintf(leftover, sizeof leftover, "%s.%ld.%d.new", path, (long)getpid(), i);
        unlink(leftover);
    }
}

/* ---- Error */

TEST_GROUP(error, NULL, NULL);

TEST(error, error_init_clears_and_sizes)
{
    griddep_error error;

    memset(&error, 0xA5, sizeof error);
    griddep_error_init(&error);
    ck_assert_uint_eq(error.size, sizeof error);
    ck_assert_int_eq(error.status, GRIDDEP_OK);
    ck_assert_int_eq(error.line, 0);
    ck_assert_str_eq(error.file, "");
    ck_assert_str_eq(error.text, "");
    griddep_error_init(NULL);
}

TEST(error, error_of_a_wrong_size_is_refused)
{
    griddep_error error;

    griddep_error_init(&error);
    ck_assert_int_eq(gd_error_check(NULL), GRIDDEP_OK);
    ck_assert_int_eq(gd_error_check(&error), GRIDDEP_OK);
    error.size = 0;
    ck_assert_int_eq(gd_error_check(&error), GRIDDEP_ERROR_STRUCT);
    error.size = sizeof error - 1;
    ck_assert_int_eq(gd_error_check(&error), GRIDDEP_ERROR_STRUCT);
    error.size = UINT32_MAX;
    ck_assert_int_eq(gd_error_check(&error), GRIDDEP_ERROR_STRUCT);
}

TEST(error, error_is_set_in_full)
{
    griddep_error error;

    griddep_error_init(&error);
    error.driver_code = 719;
    ck_assert_int_eq(
        gd_error_set_at(&error, GRIDDEP_ERROR_SYNTAX, "a.ptx", 12, 7, "found '%s'", "}"),
        GRIDDEP_ERROR_SYNTAX);
    ck_assert_int_eq(error.status, GRIDDEP_ERROR_SYNTAX);
    ck_assert_int_eq(error.driver_code, 0);
    ck_assert_int_eq(error.line, 12);
    ck_assert_int_eq(error.column, 7);
    ck_assert_str_eq(error.file, "a.ptx");
    ck_assert_str_eq(error.text, "found '}'");

    /* The next one leaves nothing of it. */
    ck_assert_int_eq(gd_error_set(&error, GRIDDEP_ERROR_LIMIT, "grid of %u blocks", 7u),
                     GRIDDEP_ERROR_LIMIT);
    ck_assert_int_eq(error.status, GRIDDEP_ERROR_LIMIT);
    ck_assert_int_eq(error.line, 0);
    ck_assert_int_eq(error.column, 0);
    ck_assert_str_eq(error.file, "");
    ck_assert_str_eq(error.text, "grid of 7 blocks");
    ck_assert_uint_eq(error.size, sizeof error);

    ck_assert_int_eq(gd_error_set_at(&error, GRIDDEP_ERROR_SYNTAX, NULL, 1, 0, "x"),
                     GRIDDEP_ERROR_SYNTAX);
    ck_assert_str_eq(error.file, "");
    ck_assert_int_eq(gd_error_memory(&error), GRIDDEP_ERROR_MEMORY);
    ck_assert_int_eq(error.status, GRIDDEP_ERROR_MEMORY);
    ck_assert_str_ne(error.text, "");
}

TEST(error, error_may_be_absent)
{
    ck_assert_int_eq(gd_error_set(NULL, GRIDDEP_ERROR_LIMIT, "%d", 1), GRIDDEP_ERROR_LIMIT);
    ck_assert_int_eq(gd_error_set_at(NULL, GRIDDEP_ERROR_SYNTAX, "f", 1, 1, "%d", 1),
                     GRIDDEP_ERROR_SYNTAX);
    ck_assert_int_eq(gd_error_memory(NULL), GRIDDEP_ERROR_MEMORY);
    gd_error_append(NULL, "%d", 1);
}

TEST(error, error_text_is_appended_to)
{
    griddep_error error;

    griddep_error_init(&error);
    gd_error_set(&error, GRIDDEP_ERROR_COMPILE, "refused");
    gd_error_append(&error, ": %d %s", 2, "times");
    ck_assert_str_eq(error.text, "refused: 2 times");
    ck_assert_int_eq(error.status, GRIDDEP_ERROR_COMPILE);
}

/* Makes prefix times 'x', then the unit until more than `least` bytes stand there. The caller frees
 * it. */
static char *repeated(size_t prefix, const char *unit, size_t least)
{
    gd_text text = {0};

    gd_text_append(&text, "xxxx", prefix);
    while (text.bytes <= least)
        gd_text_string(&text, unit);
    ck_assert(!text.failed);
    return text.data;
}

/* What was cut is the start of the whole, loses less than one character, and is UTF-8. */
static void check_cut(const char *cut, const char *whole, size_t room)
{
    ck_assert(is_utf8(cut));
    ck_assert_mem_eq(cut, whole, strlen(cut));
    ck_assert_uint_lt(strlen(cut), room);
    ck_assert_uint_ge(strlen(cut) + 4, room);
    ck_assert_uint_eq(characters(cut, strlen(cut)), characters(whole, strlen(cut)));
}

LOOP_TEST(error, error_strings_are_cut_at_a_characters_end, 4)
{
    static const char *const units[] = {"y", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    griddep_error error;

    for (size_t prefix = 0; prefix < 4; prefix++) {
        char *whole = repeated(prefix, units[_i], sizeof error.text);

        griddep_error_init(&error);
        gd_error_set_at(&error, GRIDDEP_ERROR_SYNTAX, whole, 1, 1, "%s", whole);
        check_cut(error.text, whole, sizeof error.text);
        check_cut(error.file, whole, sizeof error.file);

        griddep_error_init(&error);
        gd_error_set(&error, GRIDDEP_ERROR_SYNTAX, "%.*s", 3, "xxx");
        gd_error_append(&error, "%s", whole);
        check_cut(error.text + 3, whole, sizeof error.text - 3);
        char *before = strdup(error.text);
        ck_assert_ptr_nonnull(before);
        gd_error_append(&error, "%s", "\xE2\x82\xAC");
        ck_assert(is_utf8(error.text));
        ck_assert(starts_with(error.text, before));
        free(before);
        free(whole);
    }
}

TEST(error, error_strings_that_just_fit_are_whole)
{
    griddep_error error;
    char *whole = repeated(1, "\xE2\x82\xAC", sizeof error.text - 3);

    ck_assert_uint_eq(strlen(whole), sizeof error.text - 1);
    griddep_error_init(&error);
    gd_error_set(&error, GRIDDEP_ERROR_SYNTAX, "%s", whole);
    ck_assert_str_eq(error.text, whole);
    free(whole);
}

TEST(error, error_strings_that_are_no_utf8_do_no_harm)
{
    griddep_error error;
    char whole[3000];

    memset(whole, 0x80, sizeof whole - 1);
    whole[sizeof whole - 1] = 0;
    griddep_error_init(&error);
    gd_error_set_at(&error, GRIDDEP_ERROR_SYNTAX, whole, 1, 1, "%s", whole);
    ck_assert_uint_lt(strlen(error.text), sizeof error.text);
    memset(whole, 0xF0, sizeof whole - 1);
    gd_error_set_at(&error, GRIDDEP_ERROR_SYNTAX, whole, 1, 1, "%s", whole);
    ck_assert_uint_lt(strlen(error.text), sizeof error.text);
}

/* ---- Structs. `options` is the library's version of a struct; its first version ended behind
 * `second`. */

typedef struct options {
    uint32_t size;
    uint32_t first;
    uint32_t second;
    uint32_t third;
} options;

enum { OPTIONS_FIRST_VERSION = offsetof(options, third) };

/* A caller whose header is newer than the library. */
typedef struct newer_options {
    options known;
    uint32_t fourth[4];
} newer_options;

static int32_t read_options(options *target, const void *source, griddep_error *error)
{
    return gd_struct_read(target, sizeof *target, OPTIONS_FIRST_VERSION, source, "options", error);
}

TEST_GROUP(struct, NULL, NULL);

TEST(struct, struct_of_each_version_is_read)
{
    options source = {sizeof source, 1, 2, 3}, target;
    newer_options newer = {{sizeof newer, 4, 5, 6}, {0}};

    ck_assert_int_eq(read_options(&target, &source, NULL), GRIDDEP_OK);
    ck_assert(target.first == 1 && target.second == 2 && target.third == 3);

    /* What the first version lacks is zero, whatever stands behind it. */
    source.size = OPTIONS_FIRST_VERSION;
    memset(&target, 0xA5, sizeof target);
    ck_assert_int_eq(read_options(&target, &source, NULL), GRIDDEP_OK);
    ck_assert(target.first == 1 && target.second == 2 && target.third == 0);

    ck_assert_int_eq(read_options(&target, &newer, NULL), GRIDDEP_OK);
    ck_assert(target.first == 4 && target.second == 5 && target.third == 6);
}

TEST(struct, struct_that_cannot_be_read_is_refused)
{
    options source = {sizeof source, 1, 2, 3}, target;
    newer_options newer = {{sizeof newer, 4, 5, 6}, {0, 0, 0, 1u << 24}};
    griddep_error error;

    memset(&target, 0xA5, sizeof target);
    options kept = target;
    griddep_error_init(&error);
    ck_assert_int_eq(read_options(&target, NULL, &error), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_str_eq(error.text, "options is NULL");

    static const uint32_t wrong[] = {0, 1, OPTIONS_FIRST_VERSION - 1, 65537, UINT32_MAX};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        source.size = wrong[i];
        griddep_error_init(&error);
        ck_assert_int_eq(read_options(&target, &source, &error), GRIDDEP_ERROR_STRUCT);
        ck_assert_ptr_nonnull(strstr(error.text, "options.size"));
    }

    /* The last byte of what the library does not know. */
    griddep_error_init(&error);
    ck_assert_int_eq(read_options(&target, &newer, &error), GRIDDEP_ERROR_STRUCT);
    ck_assert_ptr_nonnull(strstr(error.text, "byte 31"));
    ck_assert_mem_eq(&target, &kept, sizeof target);
}

TEST(struct, struct_is_written_as_far_as_the_caller_has_room)
{
    const options source = {0, 1, 2, 3};
    options target = {OPTIONS_FIRST_VERSION, 9, 9, 9};
    newer_options newer = {{sizeof newer, 9, 9, 9}, {9, 9, 9, 9}};

    ck_assert_int_eq(
        gd_struct_write(&target, &source, sizeof source, OPTIONS_FIRST_VERSION, "info", NULL),
        GRIDDEP_OK);
    ck_assert_uint_eq(target.size, OPTIONS_FIRST_VERSION);
    ck_assert(target.first == 1 && target.second == 2 && target.third == 9);

    ck_assert_int_eq(
        gd_struct_write(&newer, &source, sizeof source, OPTIONS_FIRST_VERSION, "info", NULL),
        GRIDDEP_OK);
    ck_assert_uint_eq(newer.known.size, sizeof newer);
    ck_assert(newer.known.first == 1 && newer.known.third == 3);
    ck_assert(newer.fourth[0] == 9 && newer.fourth[3] == 9);
}

TEST(struct, struct_that_cannot_be_written_is_left_alone)
{
    const options source = {0, 1, 2, 3};
    static const uint32_t wrong[] = {0, OPTIONS_FIRST_VERSION - 1, UINT32_MAX};
    griddep_error error;

    griddep_error_init(&error);
    ck_assert_int_eq(
        gd_struct_write(NULL, &source, sizeof source, OPTIONS_FIRST_VERSION, "info", &error),
        GRIDDEP_ERROR_ARGUMENT);
    ck_assert_str_eq(error.text, "info is NULL");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options target = {wrong[i], 9, 9, 9};
        ck_assert_int_eq(
            gd_struct_write(&target, &source, sizeof source, OPTIONS_FIRST_VERSION, "info", &error),
            GRIDDEP_ERROR_STRUCT);
        ck_assert(target.size == wrong[i] && target.first == 9 && target.second == 9 &&
                  target.third == 9);
    }
}

/* ---- Status, constants, version */

TEST_GROUP(status_and_constants, NULL, NULL);

TEST(status_and_constants, status_names_are_those_of_the_header)
{
    int32_t value;
    int found = 0;

    for (uint32_t i = 0; griddep_constant_name(i, &value); i++) {
        const char *name = griddep_constant_name(i, NULL);
        if (!starts_with(name, "GRIDDEP_ERROR_") && strcmp(name, "GRIDDEP_OK") != 0)
            continue;
        ck_assert_str_eq(griddep_status_name(value), name);
        ck_assert_str_ne(griddep_text(GRIDDEP_TEXT_STATUS, value),
                         griddep_text(GRIDDEP_TEXT_STATUS, 1));
        ck_assert_uint_gt(strlen(griddep_text(GRIDDEP_TEXT_STATUS, value)), 4);
        found++;
    }
    ck_assert_int_eq(found, 1 - GRIDDEP_ERROR_PEER);
}

TEST(status_and_constants, status_that_is_none_has_a_name_too)
{
    static const int32_t none[] = {1, 2, GRIDDEP_ERROR_PEER - 1, -1000, INT32_MAX, INT32_MIN};

    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        ck_assert_str_eq(griddep_status_name(none[i]), "GRIDDEP_ERROR_UNKNOWN");
        ck_assert_str_eq(griddep_text(GRIDDEP_TEXT_STATUS, none[i]),
                         griddep_text(GRIDDEP_TEXT_STATUS, 1));
    }
}

/* Each member of these enumerations has words of its own, and what is none has the words of none,
 * or no words. */
TEST(status_and_constants, every_member_has_its_words)
{
    static const struct {
        const char *prefix;
        int32_t kind;
    } enumerations[] = {{"GRIDDEP_ERROR_", GRIDDEP_TEXT_STATUS},
                        {"GRIDDEP_REASON_", GRIDDEP_TEXT_REASON},
                        {"GRIDDEP_MODE_", GRIDDEP_TEXT_MODE},
                        {"GRIDDEP_OVERLAP_", GRIDDEP_TEXT_OVERLAP},
                        {"GRIDDEP_TUNE_OUTCOME_", GRIDDEP_TEXT_TUNE_OUTCOME}};

    for (size_t i = 0; i < sizeof enumerations / sizeof *enumerations; i++) {
        const char *seen[128], *none = griddep_text(enumerations[i].kind, INT32_MAX), *name;
        int32_t value, greatest = 0, found = 0;
        for (uint32_t k = 0; (name = griddep_constant_name(k, &value)); k++) {
            if (!starts_with(name, enumerations[i].prefix) || strstr(name, "_COUNT"))
                continue;
            const char *words = griddep_text(enumerations[i].kind, value);
            ck_assert_msg(words && (!none || strcmp(words, none) != 0), "%s has no words", name);
            for (int32_t other = 0; other < found; other++)
                ck_assert_msg(strcmp(words, seen[other]) != 0, "%s has the words of another: %s",
                              name, words);
            ck_assert_int_lt(found, 128);
            seen[found++] = words;
            greatest = value > greatest ? value : greatest;
        }
        ck_assert_msg(found > 2, "%s", enumerations[i].prefix);
        for (int32_t beyond = greatest + 1; beyond < greatest + 3; beyond++)
            ck_assert_pstr_eq(griddep_text(enumerations[i].kind, beyond), none);
        ck_assert_pstr_eq(griddep_text(enumerations[i].kind, INT32_MIN), none);
    }
}

TEST(status_and_constants, percentiles_lie_between_neighbours)
{
    double values[] = {4, NAN, 1, 3, 2, NAN}, one[] = {7}, none[] = {NAN};

    ck_assert_double_eq(gd_statistics_median(values, 6), 2.5);
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(values[i], i + 1);
    ck_assert(isnan(values[4]) && isnan(values[5]));
    ck_assert_double_eq(gd_statistics_percentile(values, 6, 0), 1);
    ck_assert_double_eq(gd_statistics_percentile(values, 6, 1), 4);
    ck_assert_double_eq_tol(gd_statistics_percentile(values, 6, 0.1), 1.3, 1e-12);
    ck_assert_double_eq(gd_statistics_median(one, 1), 7);
    ck_assert(isnan(gd_statistics_median(none, 1)) && isnan(gd_statistics_median(none, 0)));
}

TEST(status_and_constants, modes_are_found_by_name)
{
    static const char *const names[GRIDDEP_MODE_COUNT] = {"serial", "pdl", "graph", "graph-pdl"};
    int32_t mode = 77;

    for (int32_t i = 0; i < GRIDDEP_MODE_COUNT; i++) {
        ck_assert_str_eq(griddep_text(GRIDDEP_TEXT_MODE, i), names[i]);
        ck_assert_int_eq(griddep_mode_find(names[i], &mode, NULL), GRIDDEP_OK);
        ck_assert_int_eq(mode, i);
    }
}

TEST(status_and_constants, constants_are_found_by_name)
{
    static const struct {
        const char *name;
        int32_t value;
    } some[] = {
#define SOME(name) {#name, name}
        SOME(GRIDDEP_VERSION_MAJOR),
        SOME(GRIDDEP_OK),
        SOME(GRIDDEP_ERROR_FAULT),
        SOME(GRIDDEP_LOG_DEBUG),
        SOME(GRIDDEP_PDL_FORCE),
        SOME(GRIDDEP_FEATURE_CLUSTER),
        SOME(GRIDDEP_TRAIT_WAITS_ALWAYS),
        SOME(GRIDDEP_IMAGE_FATBIN),
        SOME(GRIDDEP_OPTIMIZATION_NONE),
        SOME(GRIDDEP_MODULE_VERBOSE),
        SOME(GRIDDEP_REASON_FIRST),
        SOME(GRIDDEP_MODE_COUNT),
        SOME(GRIDDEP_ERROR_DRIVER_TOO_OLD),
        SOME(GRIDDEP_RUNTIME_DEVICE),
#undef SOME
    };

    for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
        int32_t value = 12345;
        ck_assert_int_eq(griddep_constant_find(some[i].name, &value, NULL), GRIDDEP_OK);
        ck_assert_msg(value == some[i].value, "%s is %d", some[i].name, value);
    }
}

TEST(status_and_constants, constants_are_listed_once)
{
    gd_table seen = {0};
    uint32_t count = 0;
    int32_t listed, found;

    for (const char *name; (name = griddep_constant_name(count, &listed)); count++) {
        ck_assert_msg(!gd_table_find(&seen, name, strlen(name)), "%s stands there twice", name);
        ck_assert(gd_table_set(&seen, name, strlen(name), &seen));
        ck_assert_int_eq(griddep_constant_find(name, &found, NULL), GRIDDEP_OK);
        ck_assert_int_eq(found, listed);
    }
    ck_assert_uint_gt(count, 70);
    ck_assert_str_eq(griddep_constant_name(0, NULL), "GRIDDEP_VERSION_MAJOR");
    listed = 12345;
    ck_assert_ptr_null(griddep_constant_name(count, &listed));
    ck_assert_ptr_null(griddep_constant_name(UINT32_MAX, &listed));
    ck_assert_int_eq(listed, 12345);
    gd_table_free(&seen);
}

TEST(status_and_constants, constants_that_do_not_exist)
{
    static const char *const none[] = {
        "", "GRIDDEP", "GRIDDEP_PDL", "griddep_pdl_auto", "GRIDDEP_PDL_AUTO ", "CUDA_SUCCESS"};
    int32_t value = 12345;

    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        ck_assert_int_eq(griddep_constant_find(none[i], &value, NULL), GRIDDEP_ERROR_NOT_FOUND);
    ck_assert_int_eq(griddep_constant_find(NULL, &value, NULL), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(griddep_constant_find("GRIDDEP_OK", NULL, NULL), GRIDDEP_ERROR_ARGUMENT);
    ck_assert_int_eq(value, 12345);
}

TEST(status_and_constants, version_is_that_of_the_header)
{
    char text[32];

    ck_assert_int_eq(griddep_version(), GRIDDEP_VERSION_MAJOR * 1000000 +
                                            GRIDDEP_VERSION_MINOR * 1000 + GRIDDEP_VERSION_PATCH);
    snprintf(text, sizeof text, "%d.%d.%d", (int)GRIDDEP_VERSION_MAJOR, (int)GRIDDEP_VERSION_MINOR,
             (int)GRIDDEP_VERSION_PATCH);
    ck_assert_str_eq(griddep_version_text(), text);
}

/* ---- Log */

typedef struct heard {
    int count;
    int32_t level;
    char message[8192];
} heard;

static void hear(void *user, int32_t level, const char *message)
{
    heard *ear = user;

    ear->count++;
    ear->level = level;
    snprintf(ear->message, sizeof ear->message, "%s", message);
}

TEST_GROUP(log, NULL, NULL);

TEST(log, log_hands_on_what_its_level_lets_through)
{
    heard ear = {0};
    gd_log log = {hear, &ear, GRIDDEP_LOG_WARNING};

    gd_log_write(&log, GRIDDEP_LOG_ERROR, "%s %d", "number", 7);
    ck_assert_int_eq(ear.count, 1);
    ck_assert_int_eq(ear.level, GRIDDEP_LOG_ERROR);
    ck_assert_str_eq(ear.message, "number 7");
    gd_log_write(&log, GRIDDEP_LOG_WARNING, "w");
    ck_assert_int_eq(ear.count, 2);
    gd_log_write(&log, GRIDDEP_LOG_INFO, "i");
    gd_log_write(&log, GRIDDEP_LOG_DEBUG, "d");
    ck_assert_int_eq(ear.count, 2);
    log.level = GRIDDEP_LOG_NONE;
    gd_log_write(&log, GRIDDEP_LOG_ERROR, "e");
    ck_assert_int_eq(ear.count, 2);
}

TEST(log, log_without_a_listener_is_silent)
{
    gd_log log = {NULL, NULL, GRIDDEP_LOG_DEBUG};

    gd_log_write(&log, GRIDDEP_LOG_ERROR, "%d", 1);
    gd_log_write(NULL, GRIDDEP_LOG_ERROR, "%d", 1);
}

TEST(log, log_cuts_a_long_message_at_a_characters_end)
{
    heard ear = {0};
    gd_log log = {hear, &ear, GRIDDEP_LOG_DEBUG};

    for (size_t prefix = 0; prefix < 4; prefix++) {
        char *whole = repeated(prefix, "\xF0\x9F\x98\x80", 6000);
        gd_log_write(&log, GRIDDEP_LOG_INFO, "%s", whole);
        check_cut(ear.message, whole, 4096);
        free(whole);
    }
}

TEST(log, log_levels_have_names)
{
    ck_assert_int_eq(gd_log_level_find("off"), GRIDDEP_LOG_NONE);
    ck_assert_int_eq(gd_log_level_find("error"), GRIDDEP_LOG_ERROR);
    ck_assert_int_eq(gd_log_level_find("warning"), GRIDDEP_LOG_WARNING);
    ck_assert_int_eq(gd_log_level_find("info"), GRIDDEP_LOG_INFO);
    ck_assert_int_eq(gd_log_level_find("debug"), GRIDDEP_LOG_DEBUG);
    ck_assert_int_eq(gd_log_level_find(""), -1);
    ck_assert_int_eq(gd_log_level_find("Error"), -1);
    ck_assert_int_eq(gd_log_level_find("errors"), -1);
}

TEST(log, log_on_stderr_tells_who_speaks)
{
    int ends[2], kept = dup(STDERR_FILENO);
    char text[256] = "";

    ck_assert_int_eq(pipe(ends), 0);
    fflush(stderr);
    dup2(ends[1], STDERR_FILENO);
    gd_log_stderr(NULL, GRIDDEP_LOG_WARNING, "cache: no space");
    gd_log_stderr(NULL, 99, "strange");
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 0);
    ck_assert_str_eq(text, "griddep: warning: cache: no space\ngriddep: message: strange\n");
    close(ends[0]);
    close(ends[1]);
    close(kept);
}

/* ---- Memory that runs out: a scene is played again and again, each time with the next allocation
 * failing. A scene asserts nothing itself, since check would allocate for that. */

typedef enum outcome { FINE, RAN_OUT, WRONG } outcome;
typedef outcome (*scene_function)(void);

static void play_until_nothing_fails(scene_function scene)
{
    long failures = 0;

    for (long n = 0;; n++) {
        fail_alloc_after(n);
        outcome seen = scene();
        int hit = fail_alloc_hit();
        fail_alloc_after(-1);
        ck_assert_msg(seen == (hit ? RAN_OUT : FINE), "allocation %ld %s, and the scene says %d", n,
                      hit ? "failed" : "did not fail", (int)seen);
        if (!hit)
            break;
        failures++;
        ck_assert_int_lt(n, 1000);
    }
    ck_assert_int_gt(failures, 0);
}

static outcome use_arena(void)
{
    gd_arena arena = {0};
    bool ran_out = false;

    for (size_t i = 0; i < 100; i++)
        ran_out |= !gd_arena_take(&arena, 1000);
    ran_out |= !gd_arena_string(&arena, "text", 4);
    gd_arena_free(&arena);
    return ran_out ? RAN_OUT : FINE;
}

/* What was appended before the failure stays, and nothing comes after it. */
static outcome use_text(void)
{
    gd_text text = {0};
    bool right = true;

    for (int i = 0; i < 1000; i++)
        gd_text_format(&text, "%d", i % 10);
    for (size_t i = 0; i < text.bytes; i++)
        right &= text.data[i] == '0' + (int)(i % 10);
    outcome seen = !right ? WRONG : text.failed ? RAN_OUT : text.bytes == 1000 ? FINE : WRONG;
    gd_text_free(&text);
    return seen;
}

/* Keys that were set are found whatever fails later. */
static outcome use_table(void)
{
    enum { COUNT = 200 };
    static const char keys[COUNT + 1] = {0};
    bool set[COUNT + 1] = {false}, ran_out = false, right = true;
    gd_table table = {0};

    for (size_t bytes = 0; bytes <= COUNT; bytes++) {
        set[bytes] = gd_table_set(&table, keys, bytes, &set[bytes]);
        ran_out |= !set[bytes];
    }
    for (size_t bytes = 0; bytes <= COUNT; bytes++)
        right &= gd_table_find(&table, keys, bytes) == (set[bytes] ? &set[bytes] : NULL);
    gd_table_free(&table);
    return !right ? WRONG : ran_out ? RAN_OUT : FINE;
}

static outcome use_file(void)
{
    static const char written[70000];
    griddep_error error;
    char *data = NULL;
    size_t bytes = 0;

    griddep_error_init(&error);
    int32_t status = gd_file_write(below("file"), written, sizeof written, &error);
    if (!status)
        status = gd_file_read(below("file"), &data, &bytes, &error);
    bool right = error.status == status && (data != NULL) == (status == GRIDDEP_OK);
    free(data);
    unlink(below("file"));
    return !right                           ? WRONG
           : status == GRIDDEP_ERROR_MEMORY ? RAN_OUT
           : status == GRIDDEP_OK           ? FINE
                                            : WRONG;
}

TEST_GROUP(memory, make_directory, remove_directory);

TEST(memory, memory_runs_out_in_an_arena)
{
    play_until_nothing_fails(use_arena);
}

TEST(memory, memory_runs_out_in_a_text)
{
    play_until_nothing_fails(use_text);
}

TEST(memory, memory_runs_out_in_a_table)
{
    play_until_nothing_fails(use_table);
}

TEST(memory, memory_runs_out_around_a_file)
{
    play_until_nothing_fails(use_file);
}

/* Of no bytes too, where sanitizers look at each pointer. */
TEST(memory, parts_lie_inside)
{
    const unsigned char bytes[4] = {1, 2, 3, 4};
    const gd_view whole = {bytes, sizeof bytes}, none = {NULL, 0};
    gd_view part = {bytes, 99};

    ck_assert(gd_view_part(none, 0, 0, &part));
    ck_assert_ptr_null(part.bytes);
    ck_assert(!gd_view_part(none, 0, 1, &part));
    ck_assert(gd_view_part(whole, 4, 0, &part));
    ck_assert(gd_view_part(whole, 1, 3, &part));
    ck_assert_int_eq(part.bytes[0], 2);
    ck_assert(!gd_view_part(whole, 2, UINT64_MAX, &part));
    ck_assert_uint_eq(part.size, 3);
}

MAIN_OF_SUITE("base")

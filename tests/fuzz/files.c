/* Mutated files that this project reads back: chain files, and entries of the store. A chain file
 * that is read is the same chain again after it was written; a damaged entry is no entry, whatever
 * its header says.
 *
 *   files [--from N] [--count N] [--seconds S] [--jobs J] CHAIN.yaml...    (harness.h)
 *   files --print N CHAIN.yaml... > CASE.yaml
 *
 * Even cases are chain files, odd ones entries. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/plan/chainfile.h"
#include "cli/plan/planfile.h"
#include "harness.h"
#include "run/store.h"

enum { READ, PLANNED, REFUSED_ENTRY, KEPT_ENTRY, MOST_SEEDS = 256, ROOM = 1 << 16 };

typedef struct sample {
    char data[ROOM];
    size_t bytes;
} sample;

static char *seeds[MOST_SEEDS];
static size_t seed_bytes[MOST_SEEDS];
static uint32_t seed_count;

static bool read_files(char **paths, int count)
{
    for (int i = 0; i < count && i < MOST_SEEDS; i++) {
        seeds[seed_count] = fuzz_read_file(paths[i], &seed_bytes[seed_count]);
        if (!seeds[seed_count] || seed_bytes[seed_count] >= ROOM / 2)
            return false;
        if (seed_bytes[seed_count] == 0)
            free(seeds[seed_count]);
        else
            seed_count++;
    }
    return seed_count > 0;
}

/* ---- mutations ---- */

/* Replaces `old` bytes at `at`; what does not fit is left out. */
static void replace(sample *text, size_t at, size_t old, const char *with, size_t bytes)
{
    if (text->bytes - old + bytes >= ROOM)
        return;
    memmove(text->data + at + bytes, text->data + at + old, text->bytes - at - old);
    memcpy(text->data + at, with, bytes);
    text->bytes += bytes - old;
}

/* A line with its end, of any seed or of the text itself. */
static size_t line_at(const char *data, size_t bytes, size_t near, size_t *length)
{
    size_t start = near, end = near;

    while (start > 0 && data[start - 1] != '\n')
        start--;
    while (end < bytes && data[end++] != '\n')
        ;
    *length = end - start;
    return start;
}

static void change_lines(sample *text, size_t at)
{
    uint32_t other = fuzz_draw(seed_count);
    size_t length, taken, start = line_at(text->data, text->bytes, at, &length);
    size_t from = line_at(seeds[other], seed_bytes[other], fuzz_bits() % seed_bytes[other], &taken);

    switch (fuzz_draw(4)) {
    case 0:
        replace(text, start, length, "", 0);
        break;
    case 1:
        replace(text, start, 0, seeds[other] + from, taken);
        break;
    case 2:
        replace(text, start, 0, "  ", 1 + fuzz_draw(2));
        break;
    default:
        replace(text, start, length, seeds[other] + from, taken);
    }
}

static void change_word(sample *text, size_t at)
{
    static const char *const words[] = {"",
                                        "0",
                                        "-1",
                                        "1e400",
                                        ".nan",
                                        "-.inf",
                                        "0x",
                                        "18446744073709551616",
                                        "9e-400",
                                        "4294967296",
                                        "name",
                                        "file",
                                        "launches",
                                        "buffers",
                                        "x",
                                        "f32",
                                        "u8",
                                        "bf16",
                                        "constant",
                                        "update",
                                        "[",
                                        "]",
                                        "{",
                                        "}",
                                        "- ",
                                        ": ",
                                        "'",
                                        "\"",
                                        "&a ",
                                        "*a",
                                        "|\n",
                                        ">\n",
                                        "# ",
                                        "\t",
                                        "---\n",
                                        "...\n",
                                        "\"\\0\"",
                                        "\xff",
                                        "\xc3\xa9",
                                        "any",
                                        "multiprocessors",
                                        "random: {seed: 1}",
                                        "sequence: {step: -1}",
                                        "tensor_map: {dimensions: [1], box: [1]}",
                                        "!!int ",
                                        "? ",
                                        "after",
                                        "serial"};
    static const char ends[] = " \n:,[]{}";
    const char *word = words[fuzz_draw(sizeof words / sizeof *words)];
    size_t start = at, end = at;

    while (start > 0 && !strchr(ends, text->data[start - 1]))
        start--;
    while (end < text->bytes && !strchr(ends, text->data[end]))
        end++;
    replace(text, start, fuzz_draw(4) ? end - start : 0, word, strlen(word));
}

static void change_byte(sample *text, size_t at)
{
    const char byte = (char)fuzz_bits();

    replace(text, at, fuzz_draw(2), &byte, fuzz_draw(2));
}

static void make_chain(uint64_t number, sample *text)
{
    fuzz_seed(number);
    uint32_t seed = fuzz_draw(seed_count);
    memcpy(text->data, seeds[seed], text->bytes = seed_bytes[seed]);
    for (uint32_t count = fuzz_draw(16) ? 1 + fuzz_draw(1 + fuzz_draw(6)) : 0; count && text->bytes;
         count--) {
        const size_t at = fuzz_bits() % text->bytes;
        const uint32_t dice = fuzz_draw(8);
        if (dice == 0)
            change_byte(text, at);
        else if (dice < 5)
            change_word(text, at);
        else
            change_lines(text, at);
    }
}

/* ---- chain files ---- */

static void fill_file(int file, const char *data, size_t bytes)
{
    if (ftruncate(file, 0) || pwrite(file, data, bytes, 0) != (ssize_t)bytes)
        abort();
}

/* Reads the file, and writes what was read; NULL where it is no chain file. */
static char *read_and_write(const char *path, bool plan)
{
    gd_yaml yaml = {0};
    gd_chainfile *chainfile = NULL;
    gd_plan planned = {0};
    char *written = NULL;

    if (gd_chainfile_load(path, &yaml, &chainfile) == 0) {
        if (plan && gd_planfile_read(chainfile, &planned) == 0)
            fuzz_count(PLANNED);
        written = gd_chainfile_print(chainfile, "# written\n");
        if (!written)
            abort();
    }
    gd_plan_free(&planned);
    gd_chainfile_free(chainfile);
    gd_yaml_free(&yaml);
    return written;
}

static void run_chain(uint64_t number)
{
    sample text = {.bytes = 0};
    char path[32];
    const int file = memfd_create("chain", 0), errors = dup(STDERR_FILENO),
              nowhere = open("/dev/null", O_WRONLY);

    make_chain(number, &text);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    fill_file(file, text.data, text.bytes);
    fflush(stderr);
    dup2(nowhere, STDERR_FILENO); /* each file that is wrong is told of */
    char *first = read_and_write(path, true), *second = NULL;
    if (first) {
        fill_file(file, first, strlen(first));
        second = read_and_write(path, false);
    }
    fflush(stderr);
    dup2(errors, STDERR_FILENO);
    close(errors);
    close(nowhere);
    close(file);
    if (first) {
        fuzz_count(READ);
        if (!second || strcmp(first, second) != 0) {
            fprintf(stderr, "written, read and written again:\n%s\ninstead of:\n%s\n",
                    second ? second : "nothing", first);
            abort();
        }
    }
    free(first);
    free(second);
}

/* ---- entries ---- */

static char folder[] = "/tmp/griddep-files-XXXXXX";
static const gd_store_key key = {{7, 7, 7}};

static void run_entry(uint64_t number)
{
    static const gd_log quiet = {NULL, NULL, GRIDDEP_LOG_ERROR};
    static const char content[] = "what took time to find";
    char path[160] = "", *data = NULL;
    unsigned char bytes[256];
    size_t size = 0;
    griddep_error error;
    gd_store *store = NULL;

    griddep_error_init(&error);
    if (gd_store_open(folder, &quiet, &store, &error) != GRIDDEP_OK || !store ||
        !gd_store_save(store, &key, content, sizeof content))
        abort();
    snprintf(path, sizeof path, "%s/", folder);
    for (size_t i = 0; i < sizeof key.digest; i++)
        snprintf(path + strlen(path), sizeof path - strlen(path), "%02x", key.digest[i]);
    snprintf(path + strlen(path), sizeof path - strlen(path), ".gdstore");
    const int file = open(path, O_RDWR);
    const ssize_t whole = file < 0 ? -1 : pread(file, bytes, sizeof bytes, 0);
    if (whole < (ssize_t)sizeof content)
        abort();
    fuzz_seed(number);
    const uint32_t changes = fuzz_draw(8) ? 1 + fuzz_draw(4) : 0;
    bool same = true;
    for (uint32_t i = 0; i < changes; i++) {
        const size_t at = fuzz_bits() % (size_t)whole, width = (size_t)1 << fuzz_draw(4);
        const uint64_t values[] = {
            0,          1, 8, 22, 23, 24, 255, 0x7fffffff, UINT32_MAX, UINT64_MAX, UINT64_MAX - 88,
            fuzz_bits()};
        const uint64_t value = values[fuzz_draw(sizeof values / sizeof *values)];
        for (size_t k = 0; k < width && at + k < (size_t)whole; k++) {
            const unsigned char byte = (unsigned char)(value >> 8 * k);
            same = same && bytes[at + k] == byte;
            bytes[at + k] = byte;
        }
    }
    off_t length = whole;
    if (fuzz_draw(4) == 0)
        length =
            fuzz_draw(2) ? (off_t)fuzz_draw((uint32_t)whole) : whole + (off_t)fuzz_draw(1 << 20);
    if (pwrite(file, bytes, (size_t)whole, 0) != whole || ftruncate(file, length))
        abort();
    close(file);
    const bool found = gd_store_load(store, &key, &data, &size);
    fuzz_count(found ? KEPT_ENTRY : REFUSED_ENTRY);
    if (found && (size != sizeof content || memcmp(data, content, size) != 0))
        abort(); /* something else than what was saved */
    if (!found && same && length == whole)
        abort(); /* nothing was changed */
    free(data);
    unlink(path);
    gd_store_close(store);
}

/* ---- harness ---- */

static void leave(void)
{
    rmdir(folder);
}

static void begin(uint64_t chunk)
{
    (void)chunk;
    if (!mkdtemp(folder))
        abort();
    atexit(leave);
}

static void one(uint64_t number)
{
    if (number % 2)
        run_entry(number);
    else
        run_chain(number);
}

static void print(uint64_t number, FILE *out)
{
    sample text = {.bytes = 0};

    make_chain(number, &text);
    fwrite(text.data, 1, text.bytes, out);
}

int main(int count, char **arguments)
{
    static const fuzz_target target = {
        .name = "files",
        .counters = {"read as chains", "planned", "entries refused", "entries kept"},
        .read_files = read_files,
        .begin = begin,
        .one = one,
        .print = print};

    return fuzz_main(count, arguments, &target);
}

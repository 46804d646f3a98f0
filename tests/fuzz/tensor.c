/* Tensor copies and warpgroup matrix products on the emulated driver and on a real one: random
 * cases, the same on both, whose results are compared by digests.
 *
 *   tensor copy|product|encode --driver PATH [--from N] [--count N] [--words] [--dump] [--ptx]
 *
 * prints a line for each case: its number and the digest of its results (of encode: the driver's
 * result); with --words what it is, too. --dump adds the results word by word, --ptx prints the
 * kernel and runs nothing.
 *
 * Against a GPU, whose results are the truth, and which tests/fuzz/tensor.gpu is made of:
 *   for kind in copy product; do tensor $kind --driver libcuda.so.1 --count COUNT |
 *       split -l 10 --filter='sha256sum | cut -c 1-16' | sed "s/^/$kind /"; done
 *   echo encodings 4000 $(tensor encode --driver libcuda.so.1 --count 4000 | sha256sum | cut -d' '
 *   -f1)
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tensor_driver.h"

typedef struct options {
    const char *kind, *driver;
    uint64_t from, count;
    bool words, dump, ptx;
} options;

static int usage(void)
{
    fputs("usage: tensor copy|product|encode --driver PATH [--from N] [--count N] [--words] "
          "[--dump] [--ptx]\n",
          stderr);
    return 64;
}

static bool read_options(int count, char **arguments, options *into)
{
    static const struct option known[] = {{"driver", 1, NULL, 'd'},
                                          {"from", 1, NULL, 'f'},
                                          {"count", 1, NULL, 'c'},
                                          {"words", 0, NULL, 'w'},
                                          {"dump", 0, NULL, 'D'},
                                          {"ptx", 0, NULL, 'p'},
                                          {0}};
    int letter;

    *into = (options){.from = 1, .count = 1};
    while ((letter = getopt_long(count, arguments, "", known, NULL)) != -1) {
        into->driver = letter == 'd' ? optarg : into->driver;
        into->from = letter == 'f' ? strtoull(optarg, NULL, 0) : into->from;
        into->count = letter == 'c' ? strtoull(optarg, NULL, 0) : into->count;
        into->words |= letter == 'w';
        into->dump |= letter == 'D';
        into->ptx |= letter == 'p';
        if (letter == '?')
            return false;
    }
    into->kind = optind + 1 == count ? arguments[optind] : "";
    return into->driver && (!strcmp(into->kind, "copy") || !strcmp(into->kind, "product") ||
                            !strcmp(into->kind, "encode"));
}

static void dump(const char *what, const uint32_t *words, const uint32_t *before, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (words[i] != before[i])
            printf("  %s %zu: %08" PRIx32 "\n", what, i * 4, words[i]);
    }
}

static bool run_case(const tensor_driver *driver, const options *from, tensor_case *item,
                     uint64_t *digest)
{
    static uint32_t unwritten[RESULT_BYTES / 4];

    if (!strcmp(from->kind, "encode")) {
        *digest = tensor_encode(driver, item);
        return true;
    }
    bool copies = !strcmp(from->kind, "copy");
    if (!(copies ? tensor_make_copy(driver, item) : tensor_make_product(item)))
        return false;
    if (from->ptx) {
        fputs(gd_text_get(&item->ptx), stdout);
        return true;
    }
    if (!tensor_run(driver, item))
        return false;
    *digest = tensor_digest(UINT64_C(0xcbf29ce484222325), item->result, RESULT_BYTES / 4);
    *digest = tensor_digest(*digest, item->memory_after, MEMORY_BYTES / 4);
    memset(unwritten, 0x5a, sizeof unwritten);
    if (from->dump) {
        dump("shared", item->result, copies ? item->input : unwritten,
             copies ? SHARED_BYTES / 4 : RESULT_BYTES / 4);
        dump("memory", item->memory_after, item->memory, MEMORY_BYTES / 4);
        printf("  completed: %u\n", item->result[SHARED_BYTES / 4]);
    }
    return true;
}

/* Runs cases from `first` on; returns how many. A fault ends the process' use of a driver, and the
 * case with it. */
static uint64_t run_cases(const options *from, uint64_t first)
{
    static tensor_case item;
    static tensor_driver driver;
    uint64_t i = first;
    bool done = tensor_open(&driver, from->driver);

    for (; done && i < from->from + from->count; i++) {
        uint64_t digest = 0;
        memset(&item, 0, sizeof item);
        item.random = i * UINT64_C(0xd1342543de82ef95);
        done = run_case(&driver, from, &item, &digest);
        if (!done)
            printf("%" PRIu64 " failed %s\n", i, gd_text_get(&item.says));
        else if (!from->ptx)
            printf("%" PRIu64 " %016" PRIx64 "%s%s\n", i, digest, from->words ? " " : "",
                   from->words ? gd_text_get(&item.says) : "");
        gd_text_free(&item.ptx);
        gd_text_free(&item.says);
    }
    fflush(stdout);
    return i - first;
}

/* Drivers do not survive a fork, so each process opens its own. */
int main(int count, char **arguments)
{
    options from;
    bool failed = false;

    if (!read_options(count, arguments, &from))
        return usage();
    for (uint64_t next = from.from, ran = 1; next < from.from + from.count && ran; next += ran) {
        int ends[2], state;
        if (pipe(ends))
            return 1;
        pid_t child = fork();
        if (child == 0) {
            ran = run_cases(&from, next);
            exit(write(ends[1], &ran, sizeof ran) == sizeof ran &&
                         next + ran == from.from + from.count
                     ? 0
                     : 1);
        }
        close(ends[1]);
        if (child < 0 || read(ends[0], &ran, sizeof ran) != sizeof ran)
            ran = 0;
        close(ends[0]);
        failed |= child < 0 || waitpid(child, &state, 0) != child || !ran || state != 0;
    }
    return failed;
}

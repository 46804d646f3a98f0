/* Differential fuzzing of the emulated driver against a real one: random PTX programs, run on both,
 * compared bit for bit.
 *
 *   differential generate SEED                               prints the program of a seed as a
 *   module differential run --driver PATH --from SEED --count N --out FILE
 *   differential compare A B                                 of two result files
 *   differential digests FILE                                a line for each program: seed and
 *   digest differential coverage                                    checks that each instruction of
 *   ops.def comes up
 *
 * Options: --variant any|straight|split|carries (chains that mix additions and
 * subtractions with carry); --forms: instead of seeds, every alternative of every form by its
 * number;
 * --jobs N processes;
 * --batch N programs a module; --digests-only: run keeps no results; --optimize 0..4 is the level
 * of the driver's compiler. generate takes --count too. Where programs come from is told by the
 * same options in every command.
 *
 * Against a GPU, whose results are the truth:
 *   differential run --driver libcuda.so.1 --optimize 0 --from 1 --count 10000 --jobs 16 --out gpu
 *   differential run --driver .libs/libgriddep-emulator.so.0 --from 1 --count 10000 --jobs 16 --out
 *   emulator differential compare gpu emulator
 *
 * Without optimization an H200 (driver 580.159.04) and the emulator agree on all of 20,000 programs
 * (87 million results) but for the choice between two NaNs in a shared f64 atomic, which is now
 * left open. With --optimize 4, the driver's default, 2 in 100 programs differ, since its compiler
 * does not keep to what it does without optimization, among others: bfe and bfi with constant
 * positions and lengths beyond 31; saturating conversions behind other conversions, whose
 * saturation it drops; 16-bit integers behind abs and neg, which it takes for positive though
 * 0x8000 is not; NaNs through .sat. A difference that goes away with --optimize 0 is the
 * compiler's.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "differential_compare.h"
#include "differential_coverage.h"

typedef struct options {
    diff_range range;
    diff_target target;
    const char *out;
    uint32_t jobs;
} options;

static int usage(void)
{
    fputs("usage: differential generate SEED | run --driver PATH --from SEED --count N --out FILE "
          "| compare A B | "
          "digests FILE\n",
          stderr);
    return 64;
}

static bool set_option(options *into, int letter, const char *value)
{
    switch (letter) {
    case 'd':
        into->target.driver = value;
        return true;
    case 'f':
        into->range.from = strtoull(value, NULL, 0);
        return true;
    case 'c':
        into->range.count = strtoull(value, NULL, 0);
        return true;
    case 'o':
        into->out = value;
        return true;
    case 'j':
        into->jobs = (uint32_t)strtoul(value, NULL, 0);
        return into->jobs > 0;
    case 'b':
        into->target.batch = (uint32_t)strtoul(value, NULL, 0);
        return into->target.batch > 0;
    case 'O':
        into->target.optimize = (int)strtol(value, NULL, 0);
        return into->target.optimize >= 0 && into->target.optimize <= 4;
    case 'F':
        into->range.forms = true;
        return true;
    case 'D':
        into->target.digests_only = true;
        return true;
    case 'v':
        into->range.variant = strcmp(value, "straight") == 0  ? DIFF_STRAIGHT
                              : strcmp(value, "split") == 0   ? DIFF_SPLIT
                              : strcmp(value, "carries") == 0 ? DIFF_CARRIES
                                                              : DIFF_ANY;
        return into->range.variant != DIFF_ANY || strcmp(value, "any") == 0;
    default:
        return false;
    }
}

static bool read_options(int count, char **arguments, options *into)
{
    static const struct option known[] = {{"driver", 1, NULL, 'd'},
                                          {"from", 1, NULL, 'f'},
                                          {"count", 1, NULL, 'c'},
                                          {"out", 1, NULL, 'o'},
                                          {"jobs", 1, NULL, 'j'},
                                          {"batch", 1, NULL, 'b'},
                                          {"forms", 0, NULL, 'F'},
                                          {"variant", 1, NULL, 'v'},
                                          {"digests-only", 0, NULL, 'D'},
                                          {"optimize", 1, NULL, 'O'},
                                          {0}};
    int letter;

    *into = (options){.range = {.count = 1}, .target = {.batch = 50, .optimize = 4}, .jobs = 1};
    while ((letter = getopt_long(count, arguments, "", known, NULL)) != -1) {
        if (!set_option(into, letter, optarg))
            return false;
    }
    return true;
}

static int generate(const options *from, const char *seed)
{
    uint64_t first = strtoull(seed, NULL, 0);
    gd_text text = {0};
    bool done = true;

    diff_program_head(&text);
    for (uint64_t i = 0; i < from->range.count && done; i++) {
        diff_program program;
        done = diff_range_make(&from->range, first + i, &program);
        if (done)
            diff_program_print(&program, (uint32_t)i, &text);
        diff_program_free(&program);
    }
    done = done && !text.failed && fputs(gd_text_get(&text), stdout) >= 0;
    gd_text_free(&text);
    return done ? 0 : 1;
}

/* ---- run ---- */

static bool run_part(const options *from, uint32_t job, const char *path)
{
    uint64_t each = from->range.count / from->jobs, more = from->range.count % from->jobs;
    diff_range part = from->range;
    FILE *file = fopen(path, "wb");

    part.from += job * each + (job < more ? job : more);
    part.count = each + (job < more);
    bool done = file && diff_run(&from->target, &part, file);
    return (!file || fclose(file) == 0) && done;
}

static bool append(FILE *to, const char *path)
{
    static char buffer[1 << 16];
    FILE *from = fopen(path, "rb");
    size_t bytes;
    bool done = from;

    while (done && (bytes = fread(buffer, 1, sizeof buffer, from)) > 0)
        done = fwrite(buffer, 1, bytes, to) == bytes;
    if (from)
        fclose(from);
    return done;
}

/* A process for each part of the range; drivers do not survive a fork, so each opens its own. */
static int run_all(const options *from)
{
    FILE *whole = fopen(from->out, "wb");
    bool done = whole;
    char path[4096];

    for (uint32_t job = 0; done && job < from->jobs; job++) {
        snprintf(path, sizeof path, "%s.%u", from->out, job);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0)
            _exit(run_part(from, job, path) ? 0 : 1);
        done = child > 0;
    }
    for (int state; wait(&state) > 0;)
        done = done && WIFEXITED(state) && WEXITSTATUS(state) == 0;
    for (uint32_t job = 0; whole && job < from->jobs; job++) {
        snprintf(path, sizeof path, "%s.%u", from->out, job);
        done = append(whole, path) && done;
        unlink(path);
    }
    return (!whole || fclose(whole) == 0) && done ? 0 : 1;
}

static int tell_digests(const char *path)
{
    FILE *file = fopen(path, "rb");
    diff_record record;

    while (file && fread(&record, sizeof record, 1, file) == 1 &&
           fseek(file, (long)record.bytes, SEEK_CUR) == 0)
        printf("%" PRIu64 " %016" PRIx64 "\n", record.number, record.digest);
    return file && fclose(file) == 0 ? 0 : 1;
}

int main(int count, char **arguments)
{
    options from;

    if (!read_options(count, arguments, &from) || optind == count)
        return usage();
    const char *command = arguments[optind], *first = arguments[optind + 1];
    int rest = count - optind - 1;
    if (strcmp(command, "generate") == 0 && rest == 1)
        return generate(&from, first);
    if (strcmp(command, "run") == 0 && rest == 0 && from.target.driver && from.out)
        return run_all(&from);
    if (strcmp(command, "coverage") == 0 && rest == 0)
        return diff_coverage() == 0 ? 0 : 1;
    if (strcmp(command, "digests") == 0 && rest == 1)
        return tell_digests(first);
    if (strcmp(command, "compare") != 0 || rest != 2)
        return usage();
    int64_t differing = diff_compare(first, arguments[optind + 2], &from.range);
    return differing == 0 ? 0 : differing > 0 ? 1 : 2;
}

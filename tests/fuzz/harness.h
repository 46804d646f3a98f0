/* Runs numbered cases of a fuzzer in processes of their own, so that a crash, a leak or a case that
 * does not end is told with its number, and the rest go on.
 *
 *   PROGRAM [--from N] [--count N] [--seconds S] [--jobs J] [FILE...]
 *   PROGRAM --print N [FILE...]        shows case N
 *
 * With --seconds it begins chunks of 1000 cases until the time is over. It exits with 1 when it
 * found something. */
#ifndef GD_TESTS_FUZZ_HARNESS_H
#define GD_TESTS_FUZZ_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { FUZZ_CHUNK = 1000, FUZZ_COUNTERS = 4 };

typedef struct fuzz_target {
    const char *name;
    const char *counters
        [FUZZ_COUNTERS]; /* what fuzz_count counts, NULL behind the last; the first must come up in
                                            a case out of 20 */
    bool (*read_files)(char **paths, int count);
    void (*begin)(uint64_t chunk); /* in the process of a chunk */
    void (*one)(uint64_t number);
    void (*print)(uint64_t number, FILE *out);
} fuzz_target;

int fuzz_main(int count, char **arguments, const fuzz_target *target);

void fuzz_count(uint32_t counter);

/* Random numbers, the same for each case: xorshift64* (Vigna 2016). */
void fuzz_seed(uint64_t number);
uint64_t fuzz_bits(void);
uint32_t fuzz_draw(uint32_t below);

/* The whole of a file, with a zero byte behind it; NULL. */
char *fuzz_read_file(const char *path, size_t *bytes);

#endif

/* Whether the compiler puts in a sanitizer that makes everything several times as slow, and whether
 * a test leaves out rounds. */
#ifndef TESTS_SANITIZED_H
#define TESTS_SANITIZED_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* All rounds take place with GRIDDEP_SLOW_TESTS=1 (./bootstrap check --all) and without
 * sanitizers. */
static inline bool runs_all_rounds(void)
{
    const char *slow = getenv("GRIDDEP_SLOW_TESTS");

    return !SANITIZED && slow && !strcmp(slow, "1");
}

/* Whether the nth of the rounds takes place: of those that are left out every `plain`th does, and
 * with sanitizers every `sanitized`th. */
static inline bool round_takes_place(int nth, int plain, int sanitized)
{
    return runs_all_rounds() || nth % (SANITIZED ? sanitized : plain) == 0;
}

#endif

/* Makes one memory allocation of a test program fail. The program is linked with
 * -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=strndup. */
#ifndef GD_TESTS_FAIL_ALLOC_H
#define GD_TESTS_FAIL_ALLOC_H

#include <stdbool.h>

/* The next n allocations succeed, the one after them fails, all later ones succeed. n < 0: none
 * fails. */
void fail_alloc_after(long n);

/* Whether an allocation has failed since the last fail_alloc_after. */
bool fail_alloc_hit(void);

/* Whether the one that failed last was made by this function, or by what it called. To name those
 * that may fail quietly. */
bool fail_alloc_within(void (*function)(void));

#endif

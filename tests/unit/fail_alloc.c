/* The allocation functions that the linker puts in the place of the C library's. Counting is
 * atomic, so that libraries with threads can be tested too. */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unwind.h>

#include "fail_alloc.h"

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
int __real_posix_memalign(void **memory, size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t most);

static atomic_long remaining =
    -1; /* allocations that will succeed before one fails; negative: none fails */
static atomic_bool hit;

/* Where functions begin that were at work when the allocation failed, innermost first. */
enum { DEEPEST = 64 };
static void *callers[DEEPEST];
static int caller_count;

static _Unwind_Reason_Code note_caller(struct _Unwind_Context *context, void *user)
{
    (void)user;
    if (caller_count == DEEPEST)
        return _URC_END_OF_STACK;
    callers[caller_count++] = _Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context));
    return _URC_NO_REASON;
}

static bool fails(void)
{
    if (atomic_load(&remaining) < 0 || atomic_fetch_sub(&remaining, 1) != 0)
        return false;
    _Unwind_Backtrace(note_caller, NULL);
    atomic_store(&hit, true);
    return true;
}

void *__wrap_malloc(size_t bytes)
{
    return fails() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails() ? NULL : __real_realloc(memory, bytes);
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    return fails() ? ENOMEM : __real_posix_memalign(memory, alignment, bytes);
}

char *__wrap_strndup(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    char *copy = __wrap_malloc(length + 1);

    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

char *__wrap_strdup(const char *text)
{
    return __wrap_strndup(text, strlen(text));
}

void fail_alloc_after(long n)
{
    if (n >= 0)
        caller_count = 0;
    atomic_store(&hit, false);
    atomic_store(&remaining, n);
}

bool fail_alloc_hit(void)
{
    return atomic_load(&hit);
}

bool fail_alloc_within(void (*function)(void))
{
    for (int i = 0; i < caller_count; i++) {
        if ((uintptr_t)callers[i] == (uintptr_t)function)
            return true;
    }
    return false;
}

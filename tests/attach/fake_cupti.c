/* A CUPTI that tells of four kernels, whatever runs: two in each of two streams. In the first
 * stream the second begins before the first ends. They come when the rest is asked for. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "attach/cupti.h"

enum { COUNT = 4, BYTES = 256 }; /* a record is longer than what is read of it */

static void (*request)(uint8_t **bytes, size_t *size, size_t *most);
static void (*complete)(void *context, uint32_t stream, uint8_t *bytes, size_t size, size_t filled);

int cuptiActivityRegisterCallbacks(void (*first)(uint8_t **, size_t *, size_t *),
                                   void (*second)(void *, uint32_t, uint8_t *, size_t, size_t))
{
    request = first;
    complete = second;
    return 0;
}

/* A driver that refuses records is named by the environment. */
int cuptiActivityEnable(uint32_t kind)
{
    return getenv("FAKE_CUPTI_REFUSES") ? 35 : kind != GD_CUPTI_KERNEL;
}

int cuptiActivityFlushAll(uint32_t flag)
{
    static const gd_cupti_kernel list[COUNT] = {
        {.kind = GD_CUPTI_KERNEL, .start = 11000, .end = 15000, .stream = 13, .name = "second"},
        {.kind = GD_CUPTI_KERNEL, .start = 10000, .end = 12000, .stream = 13, .name = "_Z5firstPi"},
        {.kind = GD_CUPTI_KERNEL, .start = 12000, .end = 13000, .stream = 14, .name = "second"},
        {.kind = GD_CUPTI_KERNEL,
         .start = 14000,
         .end = 16000,
         .stream = 14,
         .name = "second",
         .graph_node = 7}};
    static int told;
    const char *late = getenv("FAKE_CUPTI_LATE");     /* the last two begin so much later */
    const char *kernel = getenv("FAKE_CUPTI_KERNEL"); /* all are of this one, in one stream */
    uint8_t *bytes = NULL;
    size_t size = 0, most = 0;

    (void)flag;
    if (told++ || !request)
        return 0;
    request(&bytes, &size, &most);
    if (size < (size_t)COUNT * BYTES)
        return 1;
    memset(bytes, 0, (size_t)COUNT * BYTES);
    for (size_t i = 0; i < COUNT; i++) {
        gd_cupti_kernel each = list[i];
        each.start += late && i > 1 ? strtoull(late, NULL, 10) : 0;
        each.end += late && i > 1 ? strtoull(late, NULL, 10) : 0;
        if (kernel) {
            each.name = kernel;
            each.stream = 13;
            each.graph_node = 0;
        }
        memcpy(bytes + i * BYTES, &each, sizeof each);
    }
    complete(NULL, 0, bytes, size, (size_t)COUNT * BYTES);
    return 0;
}

int cuptiActivityGetNextRecord(uint8_t *bytes, size_t filled, void **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + BYTES : bytes;

    if (next >= bytes + filled)
        return 1;
    *record = next;
    return 0;
}

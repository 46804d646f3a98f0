/* Levenshtein's distance, in one row of the table. */
#include <stdint.h>
#include <string.h>

#include "base/nearest.h"

enum { LONGEST = 64 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    size_t row[LONGEST + 1];

    for (size_t j = 0; j <= b_bytes; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_bytes; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_bytes; j++) {
            size_t changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = smaller(smaller(row[j], row[j - 1]) + 1, changed);
        }
    }
    return row[b_bytes];
}

void gd_nearest_look(gd_nearest *nearest, const char *name)
{
    size_t bytes = strlen(name);

    if (nearest->bytes > LONGEST || bytes > LONGEST)
        return;
    size_t found = distance(nearest->word, nearest->bytes, name, bytes);
    size_t most = nearest->name ? nearest->distance : nearest->bytes / 3 + 2;
    if (found < most && found < bytes) {
        nearest->name = name;
        nearest->distance = found;
    }
}

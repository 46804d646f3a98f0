/* Optimal string alignment: as Levenshtein's distance, and two swapped letters count as one
 * slip. A letter in the other case counts as none. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/nearest.h"

enum { LONGEST = 128 };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static char lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

static bool is_same(char a, char b)
{
    return lower(a) == lower(b);
}

/* As far as it is below `most`. */
static size_t distance(const char *a, size_t a_bytes, const char *b, size_t b_bytes, size_t most)
{
    size_t rows[3][LONGEST + 1], *before = rows[0], *above = rows[1], *row = rows[2];
    size_t least = 0, least_above;

    for (size_t j = 0; j <= b_bytes; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_bytes; i++) {
        size_t *oldest = before;
        before = above;
        above = row;
        row = oldest;
        least_above = least;
        least = row[0] = i;
        for (size_t j = 1; j <= b_bytes; j++) {
            row[j] = smaller(smaller(above[j], row[j - 1]) + 1,
                             above[j - 1] + !is_same(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
                row[j] = smaller(row[j], before[j - 2] + 1);
            least = smaller(least, row[j]);
        }
        if (least >= most && least_above >= most)
            return most;
    }
    return row[b_bytes];
}

void gd_nearest_look(gd_nearest *nearest, const char *name)
{
    const size_t bytes = strlen(name);
    const size_t most = smaller(nearest->name ? nearest->distance : nearest->bytes / 3 + 2, bytes);
    const size_t longer = bytes > nearest->bytes ? bytes - nearest->bytes : nearest->bytes - bytes;

    if (nearest->bytes > LONGEST || bytes > LONGEST || longer >= most)
        return;
    const size_t found = distance(nearest->word, nearest->bytes, name, bytes, most);
    if (found < most) {
        nearest->name = name;
        nearest->distance = found;
    }
}

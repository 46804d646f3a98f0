/* Searching by halves. */
#ifndef GD_BASE_SEARCH_H
#define GD_BASE_SEARCH_H

#include <stddef.h>

/* Sets `found` to how many of the `count` items from the first one on meet a condition on `index`,
 * where none does behind one that does not. */
#define GD_COUNT_FIRST(found, count, index, condition)                                             \
    do {                                                                                           \
        size_t gd_search_end = (count);                                                            \
        (found) = 0;                                                                               \
        while ((found) < gd_search_end) {                                                          \
            const size_t index = (found) + (gd_search_end - (found)) / 2;                          \
            if (condition)                                                                         \
                (found) = (__typeof__(found))(index + 1);                                          \
            else                                                                                   \
                gd_search_end = index;                                                             \
        }                                                                                          \
    } while (0)

#endif

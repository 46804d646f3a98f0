/* The 128 bytes of a tensor map, as 32 words of 32 bits. The first 19 hold everything, the others
 * are 0:
 *
 *   0, 1    address
 *   2       rank - 1 at bit 4, type at 7 (and 16), interleave at 11, swizzle at 13, fill at 15,
 *   promotion at 17; bit 0:
 *           im2col
 *   3 to 6  strides of dimensions 1 to 4, in 16 bytes; four more bits of each in word 7
 *   8 to 12 sizes - 1
 *   13      steps - 1, three bits each; in the highest byte box[0] - 1, or channels - 1
 *   14      box[1] - 1 to box[4] - 1, a byte each; im2col: the corners, lower and upper, of 16 bits
 *   each 15      im2col: pixels - 1
 *   16      bytes that a copy writes, where the steps divide the box
 *   18      the alignment that the swizzle wants of shared memory
 */
#include "ptx/require/tensor_map.h"

#include <string.h>

enum { WORDS = GD_TENSOR_MAP_BYTES / 4, USED = 19, STEP_BITS = 3, HIGH_BITS = 4, CORNER_BITS = 16 };

/* How the types of CU_TENSOR_MAP_DATA_TYPE_* are numbered: in word 2, bits 7 to 10 and 16. */
enum { TF32 = 16 };
static const uint8_t codes[GD_TENSOR_TYPES] = {0, 1, 2,  3, 4,        5,       6,
                                               7, 9, 10, 8, 7 | TF32, 8 | TF32};

uint32_t gd_tensor_element(uint8_t type)
{
    static const uint8_t bytes[GD_TENSOR_TYPES] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};

    return bytes[type];
}

uint32_t gd_tensor_span(uint8_t swizzle)
{
    static const uint8_t spans[] = {0, 32, 64, 128};

    return spans[swizzle];
}

uint64_t gd_tensor_map_extent(const gd_tensor_map *map)
{
    uint64_t bytes = gd_tensor_element(map->type), more;

    for (uint32_t i = 0; i < map->rank; i++) {
        if (__builtin_mul_overflow(map->sizes[i] - 1, map->strides[i], &more) ||
            __builtin_add_overflow(bytes, more, &bytes))
            return UINT64_MAX;
    }
    return bytes;
}

/* ---- writing ---- */

/* What follows from the other values, in a form that is one with them where the map is right. */
static uint32_t copied_bytes(const gd_tensor_map *map)
{
    uint32_t bytes = gd_tensor_element(map->type);

    if (map->im2col)
        return bytes * map->channels * map->pixels;
    for (uint32_t i = 0; i < map->rank; i++)
        bytes *= map->box[i] / map->steps[i];
    return bytes;
}

static uint32_t alignment(const gd_tensor_map *map)
{
    const uint32_t span = gd_tensor_span(map->swizzle);

    return span ? span * 8 : 16;
}

static uint32_t write_kind(const gd_tensor_map *map)
{
    const uint32_t code = codes[map->type];

    return (uint32_t)map->im2col | (map->rank - 1u) << 4 | (code & 15) << 7 |
           (uint32_t)map->interleave << 11 | (uint32_t)map->swizzle << 13 |
           (uint32_t)map->fill << 15 | (code >> 4) << 16 | (uint32_t)map->promotion << 17;
}

/* The corners' dimensions share 16 bits. */
static uint32_t write_corner(const gd_tensor_map *map, const int32_t *corner)
{
    const uint32_t dimensions = map->rank - 2u, bits = CORNER_BITS / dimensions;
    uint32_t word = 0;

    for (uint32_t i = 0; i < dimensions; i++)
        word |= ((uint32_t)corner[i] & ((1u << bits) - 1)) << (i * bits);
    return word;
}

static void write_words(uint32_t *words, const gd_tensor_map *map)
{
    memset(words, 0, USED * sizeof *words);
    words[0] = (uint32_t)map->address;
    words[1] = (uint32_t)(map->address >> 32);
    words[2] = write_kind(map);
    for (uint32_t i = 0; i < map->rank; i++) {
        words[8 + i] = (uint32_t)(map->sizes[i] - 1);
        words[13] |= (map->steps[i] - 1) << (STEP_BITS * i);
        if (!i)
            continue;
        words[2 + i] = (uint32_t)(map->strides[i] >> 4);
        words[7] |= (uint32_t)(map->strides[i] >> 36) << (HIGH_BITS * (i - 1));
    }
    if (map->im2col) {
        words[13] |= (map->channels - 1) << 24;
        words[14] = write_corner(map, map->lower) | write_corner(map, map->upper) << CORNER_BITS;
        words[15] = map->pixels - 1;
    } else {
        words[13] |= (map->box[0] - 1) << 24;
        for (uint32_t i = 1; i < map->rank; i++)
            words[14] |= (map->box[i] - 1) << (8 * (i - 1));
    }
    words[16] = copied_bytes(map);
    words[18] = alignment(map);
}

void gd_tensor_map_write(void *bytes, const gd_tensor_map *map)
{
    uint32_t words[WORDS] = {0};

    write_words(words, map);
    memcpy(bytes, words, sizeof words);
}

/* ---- reading ---- */

static uint8_t bits_of(uint32_t word, uint32_t shift, uint32_t count)
{
    return (uint8_t)(word >> shift & ((1u << count) - 1));
}

static bool read_kind(uint32_t word, gd_tensor_map *map)
{
    const uint32_t code = bits_of(word, 7, 4) | (uint32_t)bits_of(word, 16, 1) << 4;

    *map = (gd_tensor_map){.rank = (uint8_t)(bits_of(word, 4, 3) + 1),
                           .type = GD_TENSOR_TYPES,
                           .interleave = bits_of(word, 11, 2),
                           .swizzle = bits_of(word, 13, 2),
                           .promotion = bits_of(word, 17, 2),
                           .fill = bits_of(word, 15, 1),
                           .im2col = word & 1};
    for (uint8_t i = 0; i < GD_TENSOR_TYPES; i++) {
        if (codes[i] == code)
            map->type = i;
    }
    return map->type < GD_TENSOR_TYPES && map->rank <= GD_TENSOR_RANK &&
           (!map->im2col || map->rank > 2);
}

static void read_corner(const gd_tensor_map *map, uint32_t word, int32_t *corner)
{
    const uint32_t dimensions = map->rank - 2u, bits = CORNER_BITS / dimensions;

    for (uint32_t i = 0; i < dimensions; i++) {
        const uint32_t value = word >> (i * bits) & ((1u << bits) - 1);
        corner[i] = (int32_t)value - (value >> (bits - 1) ? (int32_t)(1u << bits) : 0);
    }
}

bool gd_tensor_map_read(const void *bytes, gd_tensor_map *map)
{
    uint32_t words[WORDS], again[WORDS], rest = 0;

    memcpy(words, bytes, sizeof words);
    for (uint32_t i = USED; i < WORDS; i++)
        rest |= words[i];
    if (rest || !read_kind(words[2], map))
        return false;
    map->address = words[0] | (uint64_t)words[1] << 32;
    map->strides[0] = gd_tensor_element(map->type);
    for (uint32_t i = 0; i < map->rank; i++) {
        map->sizes[i] = (uint64_t)words[8 + i] + 1;
        map->steps[i] = bits_of(words[13], STEP_BITS * i, STEP_BITS) + 1u;
        if (i)
            map->strides[i] = (uint64_t)words[2 + i] << 4 |
                              (uint64_t)bits_of(words[7], HIGH_BITS * (i - 1), HIGH_BITS) << 36;
    }
    if (map->im2col) {
        map->channels = (words[13] >> 24) + 1;
        map->pixels = words[15] + 1;
        read_corner(map, words[14], map->lower);
        read_corner(map, words[14] >> CORNER_BITS, map->upper);
    } else {
        map->box[0] = (words[13] >> 24) + 1;
        for (uint32_t i = 1; i < map->rank; i++)
            map->box[i] = bits_of(words[14], 8 * (i - 1), 8) + 1u;
    }
    write_words(again, map);
    return memcmp(words, again, USED * sizeof *words) == 0;
}

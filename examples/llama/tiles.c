/* Matrices of 4 bits of files, as tiles. GPTQ packs eight neighbours of a row into a word, AWQ
 * eight rows of a column; both have their words, scales and zeros by columns first. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tiles.h"

enum { WORD = 8, SCALES = 1024, ZEROS = 1056 };

/* Where a matrix's share begins in the file's, and how many rows that has. */
typedef struct source {
    tensor words, zeros;
    uint16_t *scales; /* f16 */
    bool by_rows;     /* AWQ: a word has eight rows */
    uint32_t more;    /* what a stored zero lacks */
    uint64_t all_rows, all_columns, first_row, first_column;
} source;

uint64_t tiles_bytes(uint64_t rows, uint64_t columns)
{
    return rows / TILE_ROWS * (columns / TILE_COLUMNS) * TILE_BYTES;
}

/* "....weight" with another ending. */
static char *part_name(const char *name, const char *ending)
{
    const size_t stem = strlen(name) - strlen("weight");

    return format_text("%.*s%s", (int)stem, name, ending);
}

bool tiles_have(const weight_files *files, const char *name)
{
    char *part = part_name(name, "qweight");
    bool there = weights_have(files, part);

    free(part);
    return there;
}

static tensor find_part(const weight_files *files, const char *name, const char *ending,
                        element type, uint64_t rows, uint64_t columns)
{
    char *part = part_name(name, ending);
    tensor found = weights_find(files, part, rows, columns);

    if ((found.type == ELEMENT_I32) != (type == ELEMENT_I32) || found.type == ELEMENT_E4M3)
        fail("%s: tensor %s is of type %s", found.file, part, found.type_name);
    free(part);
    return found;
}

static uint32_t word_at(const tensor *of, uint64_t index)
{
    uint32_t word;

    memcpy(&word, of->data + 4 * index, sizeof word);
    return word;
}

/* Columns that were sorted by their activations have groups that do not follow each other. */
static void check_order(const weight_files *files, const model_config *config, const char *name,
                        uint64_t columns)
{
    char *part = part_name(name, "g_idx");

    if (weights_have(files, part)) {
        tensor order = weights_find(files, part, 0, columns);
        for (uint64_t i = 0; i < columns; i++)
            if (order.type != ELEMENT_I32 || word_at(&order, i) != i / TILE_COLUMNS)
                fail("%s: the groups of tensor %s do not follow each other (desc_act); such files "
                     "are not read",
                     order.file, part);
    } else if (config->sorted) {
        fail("there is no tensor %s, and config.json says desc_act", part);
    }
    free(part);
}

/* Four bits of a word: number `index` of what it packs. */
static uint32_t bits_at(const source *from, uint32_t word, uint64_t index)
{
    uint64_t place = from->by_rows ? index / 2 + index % 2 * 4 : index;

    return word >> 4 * place & 15;
}

/* The word of eight columns of a row, in a tile's order: 0, 2, 4, 6, 1, 3, 5, 7. */
static uint32_t tile_word(const source *from, uint64_t row, uint64_t column)
{
    uint32_t out = 0;

    for (uint32_t i = 0; i < WORD; i++) {
        uint32_t bits =
            from->by_rows
                ? bits_at(
                      from,
                      word_at(&from->words, (column + i) * (from->all_rows / WORD) + row / WORD),
                      row % WORD)
                : bits_at(from, word_at(&from->words, column / WORD * from->all_rows + row), i);
        out |= bits << 4 * (i / 2 + i % 2 * 4);
    }
    return out;
}

static void make_int4(const source *from, uint64_t row, uint64_t column, unsigned char *tile)
{
    const uint64_t group = column / TILE_COLUMNS;

    for (uint64_t r = 0; r < TILE_ROWS; r++) {
        const uint64_t pair = r % 8 * 2 + r / 8, all = row + r;
        for (uint64_t c = 0; c < TILE_COLUMNS; c += WORD) {
            uint32_t word = tile_word(from, row + r, column + c);
            memcpy(tile + r * 64 + c % 32 / 8 * 16 + c / 32 * 4, &word, sizeof word);
        }
        memcpy(tile + SCALES + 2 * pair, &from->scales[group * from->all_rows + all], 2);
        uint32_t word = word_at(&from->zeros, group * (from->all_rows / WORD) + all / WORD);
        tile[ZEROS + pair] = (unsigned char)(bits_at(from, word, all % WORD) + from->more);
    }
}

static void open_int4(source *from, const weight_files *files, const model_config *config,
                      const char *name)
{
    const uint64_t all = from->all_rows, wide = from->all_columns, groups = wide / TILE_COLUMNS;

    if (!config->four_bits)
        fail("tensor %s has 4 bits, and config.json has no quantization_config of gptq or awq",
             name);
    from->by_rows = config->four_bits == FOUR_BITS_AWQ;
    from->more = config->four_bits == FOUR_BITS_GPTQ;
    from->words = find_part(files, name, "qweight", ELEMENT_I32, from->by_rows ? wide : wide / WORD,
                            from->by_rows ? all / WORD : all);
    from->zeros = find_part(files, name, "qzeros", ELEMENT_I32, groups, all / WORD);
    tensor scales = find_part(files, name, "scales", ELEMENT_F16, groups, all);
    check_order(files, config, name, wide);
    from->scales = allocate(groups * all, sizeof *from->scales);
    tensor_convert(&scales, ELEMENT_F16, from->scales);
}

unsigned char *tiles_read(const weight_files *files, const model_config *config, const char *name,
                          uint64_t rows, uint64_t columns, cut_by by, uint32_t rank, uint32_t count)
{
    const uint64_t all = by == CUT_ROWS ? rows * count : rows;
    const uint64_t wide = by == CUT_COLUMNS ? columns * count : columns;
    source from = {.all_rows = all,
                   .all_columns = wide,
                   .first_row = by == CUT_ROWS ? rows * rank : 0,
                   .first_column = by == CUT_COLUMNS ? columns * rank : 0};

    open_int4(&from, files, config, name);
    unsigned char *tiles = allocate(tiles_bytes(rows, columns), 1), *tile = tiles;
    for (uint64_t row = 0; row < rows; row += TILE_ROWS)
        for (uint64_t column = 0; column < columns; column += TILE_COLUMNS, tile += TILE_BYTES)
            make_int4(&from, from.first_row + row, from.first_column + column, tile);
    free(from.scales);
    return tiles;
}

/* Weights of 4 bits in tiles of 16 rows and 128 columns, with a scale and a zero for each row, as
 * linear_int4 takes them (its head comment), of what GPTQ and AWQ write. */
#ifndef LLAMA_TILES_H
#define LLAMA_TILES_H

#include "config.h"
#include "weights.h"

enum { TILE_ROWS = 16, TILE_COLUMNS = 128, TILE_BYTES = 1072 };

/* Bytes of a matrix in tiles. */
uint64_t tiles_bytes(uint64_t rows, uint64_t columns);

/* Whether the files have a matrix, "....weight", in 4 bits, as "....qweight". */
bool tiles_have(const weight_files *files, const char *name);

/* Such a matrix of the files, of which it is share `rank` of `count`; rows and columns are the
 * share's. The caller frees the tiles. The program ends where the tensors do not fit, where scales
 * are of other groups, and where groups do not follow each other. */
unsigned char *tiles_read(const weight_files *files, const model_config *config, const char *name,
                          uint64_t rows, uint64_t columns, cut_by by, uint32_t rank,
                          uint32_t count);

#endif

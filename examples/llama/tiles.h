/* Weights in tiles of 16 rows and 128 columns: of 4 bits with a scale and a zero for each row, as
 * linear_int4 takes what GPTQ and AWQ write; of 8 with a scale for each block of 128 x 128, as
 * linear_fp8_block takes what DeepSeek and Qwen write (those kernels' head comments). */
#ifndef LLAMA_TILES_H
#define LLAMA_TILES_H

#include "config.h"
#include "weights.h"

enum { TILE_ROWS = 16, TILE_COLUMNS = 128, TILE_INT4 = 1072, TILE_BLOCKS = 2064 };

/* Bytes of a matrix whose tiles have so many. */
uint64_t tiles_bytes(uint32_t tile, uint64_t rows, uint64_t columns);

/* A tile's bytes of a matrix, "....weight", that the files have in 4 bits, as "....qweight", or in
 * 8 with scales of blocks; 0 where it becomes no tiles. */
uint32_t tiles_of(const weight_files *files, const model_config *config, const char *name);

/* Such a matrix of the files, of which it is share `rank` of `count`; rows and columns are the
 * share's. The caller frees the tiles. The program ends where the tensors do not fit, where scales
 * are of other groups, where groups do not follow each other, and where 8 bits are NaN. */
unsigned char *tiles_read(const weight_files *files, const model_config *config, const char *name,
                          uint64_t rows, uint64_t columns, cut_by by, uint32_t rank,
                          uint32_t count);

#endif

/* Decoding of what fatbins hold compressed: an LZ4 block, and frames of Zstandard (RFC 8878). The
 * input may be anything. Decoders need no more memory than is told here, whatever the input says:
 * the output is the caller's, and beside it Zstandard has tables of 150 KiB. */
#ifndef GD_BASE_UNPACK_H
#define GD_BASE_UNPACK_H

#include "base/view.h"

/* Decodes all of `packed` into exactly `bytes` bytes. NULL, or what is wrong: "its LZ4 data end
 * inside a sequence". Part of the output may have been written then. */
const char *gd_unpack_lz4(gd_view packed, unsigned char *into, uint64_t bytes);
const char *gd_unpack_zstd(gd_view packed, unsigned char *into, uint64_t bytes);

/* The most that decoders can make of so many bytes: what says that it has more is wrong. */
uint64_t gd_unpack_lz4_most(uint64_t packed);
uint64_t gd_unpack_zstd_most(uint64_t packed);

/* Said where there is no memory for the tables; the pointer can be compared. */
extern const char *const gd_unpack_no_memory;

#endif

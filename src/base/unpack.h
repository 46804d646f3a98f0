/* Decoding of what fatbins hold compressed: an LZ4 block, or frames of Zstandard. libzstd and
 * liblz4 decode. They are opened for each entry, so that the library depends on libc alone. */
#ifndef GD_BASE_UNPACK_H
#define GD_BASE_UNPACK_H

#include "base/view.h"

enum { GD_UNPACK_MOST = 1 << 30 }; /* bytes of an entry: neither library takes longer ones */

/* Decodes all of `packed` into exactly `bytes` bytes; neither is more than GD_UNPACK_MOST. NULL, or
 * what is wrong: "its LZ4 data are damaged". Part of the output may have been written then. */
const char *gd_unpack_lz4(gd_view packed, unsigned char *into, uint64_t bytes);
const char *gd_unpack_zstd(gd_view packed, unsigned char *into, uint64_t bytes);

/* Said where there is no memory; the pointer can be compared. */
extern const char *const gd_unpack_no_memory;

#endif

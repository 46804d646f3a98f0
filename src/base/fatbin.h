/* Fatbins: PTX texts and cubins for several chips, one behind the other, some of them compressed,
 * as nvcc (CUDA 12.0 to 13.0) writes them. */
#ifndef GD_BASE_FATBIN_H
#define GD_BASE_FATBIN_H

#include "base/view.h"

#define GD_FATBIN_MAGIC 0xba55ed50u
#define GD_FATBIN_WRAPPER_MAGIC 0x466243b1u /* of a gd_fatbin_wrapper */

enum {
    GD_FATBIN_PTX = 1,
    GD_FATBIN_CUBIN = 2,
    GD_FATBIN_HEAD = 16,           /* bytes that tell how long a fatbin is */
    GD_FATBIN_SPECIFIC = 0x100000, /* for this chip alone: sm_90a */
    GD_FATBIN_FAMILY = 0x200000    /* for this chip's family alone: sm_100f */
};

/* What nvcc registers for host code: the fatbin is elsewhere in the process's memory. */
typedef struct gd_fatbin_wrapper {
    uint32_t magic, version;
    const void *fatbin;
    void *file;
} gd_fatbin_wrapper;

typedef struct gd_fatbin_entry {
    uint16_t kind;  /* GD_FATBIN_PTX, GD_FATBIN_CUBIN, or another */
    int32_t chip;   /* 90 for sm_90 */
    uint64_t flags; /* GD_FATBIN_*, and others */
    bool packed;
    gd_view stored; /* as it stands there */
    uint64_t bytes; /* once unpacked */
} gd_fatbin_entry;

typedef struct gd_fatbin_head {
    uint32_t magic;
    uint16_t version, head_bytes;
    uint64_t bytes; /* of its entries */
} gd_fatbin_head;

/* The bytes of a fatbin by its head, of which GD_FATBIN_HEAD can be read; 0: it is none. Here, so
 * that the command has it too. */
static inline uint64_t gd_fatbin_bytes(const void *head)
{
    gd_fatbin_head at;

    memcpy(&at, head, sizeof at);
    if (at.magic != GD_FATBIN_MAGIC || at.head_bytes < sizeof at ||
        at.bytes > UINT64_MAX - at.head_bytes)
        return 0;
    return at.head_bytes + at.bytes;
}

/* Checks that all entries lie inside; the data may be longer. NULL, or what is wrong: "this fatbin
 * ends inside its header". */
const char *gd_fatbin_check(gd_view fatbin);

/* The entry at *at, which is 0 for the first, and goes on to the next; false behind the last. The
 * fatbin has been checked. */
bool gd_fatbin_next(gd_view fatbin, uint64_t *at, gd_fatbin_entry *entry);

/* An entry's bytes, with a zero byte behind them, to be freed; of PTX they end at its first zero
 * byte. NULL, or what is wrong: "it is packed in a way that is not known". */
const char *gd_fatbin_unpack(const gd_fatbin_entry *entry, char **data, uint64_t *bytes);

/* Whether a chip runs an entry: PTX for this chip or an older one; a cubin for this chip or one of
 * its generation before it. What is for one chip, or for one family, runs there alone. */
bool gd_fatbin_runs(const gd_fatbin_entry *entry, int32_t chip);

/* The entry that a driver takes for a chip among those of a kind: the newest that runs, before
 * others of that chip what is for it alone. False: none runs. The fatbin has been checked. */
bool gd_fatbin_choose(gd_view fatbin, uint16_t kind, int32_t chip, gd_fatbin_entry *entry);

#endif

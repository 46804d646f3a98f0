#include "base/fatbin.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/chip.h"
#include "base/unpack.h"

enum { LZ4 = 0x2000, ZSTD = 0x8000, ZSTD_BLOCK = 128 * 1024 };

typedef struct entry_head {
    uint16_t kind, version;
    uint32_t head_bytes;
    uint64_t bytes;            /* behind its header, with what pads them */
    uint32_t compressed_bytes; /* of these; 0: they are not compressed */
    uint32_t options;          /* offset in the header; 0: there are none */
    uint16_t minor, major;     /* of the PTX ISA, or of the cubin's format */
    uint32_t chip;
    uint32_t name, name_bytes; /* offset in the header */
    uint64_t flags;
    uint64_t reserved;
    uint64_t unpacked_bytes; /* 0: they are not compressed */
} entry_head;

/* Sizes of an entry that are inside the fatbin, and agree. */
static bool read_entry(gd_view fatbin, uint64_t at, entry_head *of, gd_view *bytes)
{
    gd_view header;

    return gd_view_copy(fatbin, at, of, sizeof *of) && of->head_bytes >= sizeof *of &&
           of->options <= of->head_bytes && of->name <= of->head_bytes &&
           of->name_bytes <= of->head_bytes - of->name &&
           gd_view_part(fatbin, at, of->head_bytes, &header) &&
           gd_view_part(fatbin, at + of->head_bytes, of->bytes, bytes) &&
           of->compressed_bytes <= of->bytes;
}

const char *gd_fatbin_check(gd_view data)
{
    entry_head entry;
    gd_view bytes, fatbin;

    if (data.size < GD_FATBIN_HEAD)
        return "this fatbin ends inside its header";
    const uint64_t size = gd_fatbin_bytes(data.bytes);
    if (!size || !gd_view_part(data, 0, size, &fatbin))
        return "this fatbin says that it is longer than the data; the file is cut off or damaged";
    uint16_t first;
    memcpy(&first, data.bytes + offsetof(gd_fatbin_head, head_bytes), sizeof first);
    for (uint64_t at = first; at < size; at += entry.head_bytes + entry.bytes) {
        if (!read_entry(fatbin, at, &entry, &bytes))
            return "an entry of this fatbin lies beyond the end of the data; the file is cut off "
                   "or damaged";
    }
    return NULL;
}

bool gd_fatbin_next(gd_view data, uint64_t *at, gd_fatbin_entry *entry)
{
    gd_view fatbin, bytes;
    entry_head of;
    gd_fatbin_head first;

    if (!gd_view_copy(data, 0, &first, sizeof first) ||
        !gd_view_part(data, 0, first.head_bytes + first.bytes, &fatbin))
        return false;
    *at = *at ? *at : first.head_bytes;
    if (*at >= fatbin.size || !read_entry(fatbin, *at, &of, &bytes))
        return false;
    *at += of.head_bytes + of.bytes;
    if (of.compressed_bytes)
        bytes.size = of.compressed_bytes;
    *entry = (gd_fatbin_entry){.kind = of.kind,
                               .chip = of.chip <= INT32_MAX ? (int32_t)of.chip : INT32_MAX,
                               .flags = of.flags,
                               .packed = of.compressed_bytes > 0,
                               .stored = bytes,
                               .bytes = of.compressed_bytes ? of.unpacked_bytes : bytes.size};
    return true;
}

/* The flag of how it is packed; 0: it is not. */
static uint64_t packing(const gd_fatbin_entry *entry)
{
    return !entry->packed ? 0 : entry->flags & ZSTD ? ZSTD : entry->flags & LZ4;
}

/* The most that its bytes can make: a block of Zstandard repeats one byte in four, a byte of LZ4 is
 * a length of up to 255. */
static uint64_t most_of(const gd_fatbin_entry *entry)
{
    const uint64_t size = entry->stored.size;

    return packing(entry) == ZSTD ? (size / 4 + 1) * ZSTD_BLOCK
           : packing(entry)       ? size * 256
                                  : size;
}

static const char *check_size(const gd_fatbin_entry *entry)
{

    if (entry->packed && !packing(entry))
        return "it is packed in a way that is not known";
    if (entry->stored.size > GD_UNPACK_MOST)
        return "it is longer than 1 GiB";
    if (entry->bytes > most_of(entry))
        return "it says that it unpacks to more bytes than it can";
    return entry->bytes > GD_UNPACK_MOST ? "it unpacks to more than 1 GiB" : NULL;
}

static const char *unpack(const gd_fatbin_entry *entry, unsigned char *into)
{
    if (packing(entry) == ZSTD)
        return gd_unpack_zstd(entry->stored, into, entry->bytes);
    if (packing(entry) == LZ4)
        return gd_unpack_lz4(entry->stored, into, entry->bytes);
    gd_view_copy(entry->stored, 0, into, entry->bytes);
    return NULL;
}

const char *gd_fatbin_unpack(const gd_fatbin_entry *entry, char **data, uint64_t *bytes)
{
    const char *wrong = check_size(entry);
    unsigned char *made = wrong ? NULL : malloc((size_t)entry->bytes + 1);

    if (!wrong)
        wrong = made ? unpack(entry, made) : gd_unpack_no_memory;
    if (wrong) {
        free(made);
        return wrong;
    }
    made[entry->bytes] = 0;
    *bytes = entry->kind == GD_FATBIN_PTX ? strlen((const char *)made) : entry->bytes;
    *data = (char *)made;
    return NULL;
}

bool gd_fatbin_runs(const gd_fatbin_entry *entry, int32_t chip)
{
    const char suffix = entry->flags & GD_FATBIN_SPECIFIC ? 'a'
                        : entry->flags & GD_FATBIN_FAMILY ? 'f'
                                                          : 0;

    return gd_chip_runs(chip, entry->chip, suffix) &&
           (entry->kind != GD_FATBIN_CUBIN || chip / 10 == entry->chip / 10);
}

static bool is_better(const gd_fatbin_entry *entry, const gd_fatbin_entry *best)
{
    const uint64_t alone = GD_FATBIN_SPECIFIC | GD_FATBIN_FAMILY;

    return entry->chip != best->chip ? entry->chip > best->chip
                                     : (entry->flags & alone) && !(best->flags & alone);
}

bool gd_fatbin_choose(gd_view fatbin, uint16_t kind, int32_t chip, gd_fatbin_entry *best)
{
    gd_fatbin_entry entry;
    bool found = false;

    for (uint64_t at = 0; gd_fatbin_next(fatbin, &at, &entry);) {
        if (entry.kind != kind || !gd_fatbin_runs(&entry, chip) ||
            (found && !is_better(&entry, best)))
            continue;
        *best = entry;
        found = true;
    }
    return found;
}

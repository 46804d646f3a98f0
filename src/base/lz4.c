/* LZ4 blocks: sequences of literals, each with a match behind it but the last. */
#include "base/unpack.h"

static const char cut[] = "its LZ4 data end inside a sequence";
static const char wrong[] = "its LZ4 data make more bytes than it says, or refer to some before it";

enum { LONG = 15, LEAST_MATCH = 4 };

/* Lengths of 15 and more go on in further bytes, up to one that is not 255. */
static bool read_length(gd_view packed, uint64_t *at, uint64_t *length)
{
    unsigned char byte = 255;

    if (*length < LONG)
        return true;
    while (byte == 255) {
        if (!gd_view_copy(packed, (*at)++, &byte, 1))
            return false;
        *length += byte;
    }
    return true;
}

const char *gd_unpack_lz4(gd_view packed, unsigned char *into, uint64_t bytes)
{
    uint64_t at = 0, made = 0;

    while (at < packed.size) {
        const unsigned char token = packed.bytes[at++];
        uint64_t literals = token >> 4, match = token & 15;
        unsigned char offset[2];
        gd_view part;
        if (!read_length(packed, &at, &literals) || !gd_view_part(packed, at, literals, &part))
            return cut;
        if (literals > bytes - made)
            return wrong;
        gd_view_copy(part, 0, into + made, literals);
        at += literals;
        made += literals;
        if (at == packed.size)
            break;
        if (!gd_view_copy(packed, at, offset, sizeof offset))
            return cut;
        at += sizeof offset;
        const uint64_t back = (uint64_t)(offset[0] | offset[1] << 8);
        if (!read_length(packed, &at, &match))
            return cut;
        match += LEAST_MATCH;
        if (back == 0 || back > made || match > bytes - made)
            return wrong;
        for (; match; match--, made++)
            into[made] = into[made - back];
    }
    return made == bytes ? NULL : "its LZ4 data make fewer bytes than it says";
}

uint64_t gd_unpack_lz4_most(uint64_t packed)
{
    return packed > UINT64_MAX / 256 ? UINT64_MAX : packed * 256;
}

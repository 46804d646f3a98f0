/* Zstandard (RFC 8878): frames of blocks; a compressed block has literals, which a Huffman code may
 * have packed, and sequences, which say how literals and earlier output follow one another. */
#include <endian.h>
#include <stdlib.h>

#include "base/unpack.h"

enum {
    BLOCK_MOST = 128 * 1024,
    FSE_LOG_MOST = 9,
    FSE_SYMBOLS = 53, /* codes of match lengths, which are the most; weights have fewer */
    HUFFMAN_LOG_MOST = 11,
    WEIGHT_LOG_MOST = 6,
    WEIGHTS_MOST = 255
};

const char *const gd_unpack_no_memory = "there is no memory to decode it";
static const char cut[] = "its Zstandard data end inside a frame";
static const char damaged[] = "its Zstandard data are damaged";

/* ---- bits ---- */

static uint32_t highest_bit(uint64_t value)
{
    uint32_t bit = 0;

    while (value >>= 1)
        bit++;
    return bit;
}

static uint64_t little(const unsigned char *bytes, uint64_t count)
{
    uint64_t value = 0;

    for (uint64_t i = 0; i < count; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

/* `count` bits, at most 32, from bit `at` on; what lies behind the end is zero. */
static uint64_t bits_at(gd_view in, uint64_t at, uint32_t count)
{
    const uint64_t byte = at / 8, left = byte < in.size ? in.size - byte : 0;
    uint64_t word = 0;

    if (left)
        memcpy(&word, in.bytes + byte, left < sizeof word ? (size_t)left : sizeof word);
    return le64toh(word) >> at % 8 & ((UINT64_C(1) << count) - 1);
}

/* A stream that is read from its end: the highest bit that is set marks where. Reading on in front
 * of its begin gives zeros, and makes `left` negative. */
typedef struct stream {
    gd_view in;
    int64_t left; /* bits that have not been read */
} stream;

static bool open_stream(gd_view in, stream *bits)
{
    if (!in.size || !in.bytes[in.size - 1])
        return false;
    *bits = (stream){in, (int64_t)((in.size - 1) * 8 + highest_bit(in.bytes[in.size - 1]))};
    return true;
}

static uint32_t peek(const stream *bits, uint32_t count)
{
    if (bits->left >= (int64_t)count)
        return (uint32_t)bits_at(bits->in, (uint64_t)bits->left - count, count);
    if (bits->left <= 0)
        return 0;
    return (uint32_t)(bits_at(bits->in, 0, (uint32_t)bits->left) << (count - (uint32_t)bits->left));
}

static uint32_t take(stream *bits, uint32_t count)
{
    const uint32_t value = peek(bits, count);

    bits->left -= count;
    return value;
}

/* ---- finite state entropy ---- */

typedef struct fse {
    uint32_t log;
    struct {
        uint16_t base;
        uint8_t symbol, bits;
    } states[1 << FSE_LOG_MOST];
} fse;

/* Probabilities add up to 1 << log; -1 is less than one. */
static bool build_fse(fse *table, const int16_t *chances, uint32_t count, uint32_t log)
{
    const uint32_t size = 1u << log, step = (size >> 1) + (size >> 3) + 3;
    uint32_t next[FSE_SYMBOLS] = {0}, high = size, at = 0;

    table->log = log;
    for (uint32_t i = 0; i < count; i++) {
        next[i] = chances[i] < 0 ? 1 : (uint32_t)chances[i];
        if (chances[i] < 0)
            table->states[--high].symbol = (uint8_t)i;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (int16_t k = 0; k < chances[i]; k++) {
            table->states[at].symbol = (uint8_t)i;
            do
                at = (at + step) & (size - 1);
            while (at >= high);
        }
    }
    for (uint32_t i = 0; i < size; i++) {
        const uint32_t state = next[table->states[i].symbol]++;
        table->states[i].bits = (uint8_t)(log - highest_bit(state));
        table->states[i].base = (uint16_t)((state << table->states[i].bits) - size);
    }
    return at == 0;
}

static void repeat_fse(fse *table, uint8_t symbol)
{
    table->log = 0;
    table->states[0].symbol = symbol;
    table->states[0].bits = 0;
    table->states[0].base = 0;
}

/* One probability: values are of two lengths, since not all that the bits could say may follow. */
static int32_t read_chance(gd_view in, uint64_t *at, uint32_t remaining)
{
    const uint32_t bits = highest_bit(remaining + 1) + 1, lower = (1u << (bits - 1)) - 1;
    const uint32_t threshold = (1u << bits) - 1 - (remaining + 1);
    uint32_t value = (uint32_t)bits_at(in, *at, bits);

    *at += bits;
    if ((value & lower) < threshold) {
        *at -= 1;
        value &= lower;
    } else if (value > lower) {
        value -= threshold;
    }
    return (int32_t)value - 1;
}

/* Reads the description of a table; its bytes are taken off `in`. */
static bool read_fse(fse *table, gd_view *in, uint32_t log_most, uint32_t symbols)
{
    int16_t chances[FSE_SYMBOLS] = {0};
    const uint32_t log = (uint32_t)bits_at(*in, 0, 4) + 5;
    uint32_t remaining = 1u << log, count = 0;
    uint64_t at = 4;

    if (log > log_most)
        return false;
    while (remaining) {
        if (count == symbols || at > in->size * 8)
            return false;
        const int32_t chance = read_chance(*in, &at, remaining);
        const uint32_t weight = chance < 0 ? 1 : (uint32_t)chance;
        if (weight > remaining)
            return false;
        remaining -= weight;
        chances[count++] = (int16_t)chance;
        for (uint64_t zeros = chance ? 0 : 3; zeros == 3;) {
            zeros = bits_at(*in, at, 2);
            at += 2;
            count += (uint32_t)zeros;
            if (count > symbols || at > in->size * 8)
                return false;
        }
    }
    const uint64_t used = (at + 7) / 8;
    if (used > in->size)
        return false;
    *in = (gd_view){in->bytes + used, in->size - used};
    return build_fse(table, chances, count, log);
}

static void step_fse(const fse *table, uint32_t *state, stream *bits)
{
    *state = table->states[*state].base + take(bits, table->states[*state].bits);
}

/* ---- Huffman codes ---- */

typedef struct huffman {
    uint32_t log; /* 0: there is none */
    struct {
        uint8_t symbol, bits;
    } codes[1 << HUFFMAN_LOG_MOST];
} huffman;

/* Two states take turns until the bits are used up; what the other one stands for ends them. */
static bool read_packed_weights(gd_view in, fse *table, uint8_t *weights, uint32_t *count)
{
    uint32_t states[2], turn = 0;
    stream bits;

    if (!read_fse(table, &in, WEIGHT_LOG_MOST, HUFFMAN_LOG_MOST + 2) || !open_stream(in, &bits))
        return false;
    states[0] = take(&bits, table->log);
    states[1] = take(&bits, table->log);
    if (bits.left < 0)
        return false;
    for (*count = 0; *count < WEIGHTS_MOST; turn ^= 1) {
        weights[(*count)++] = table->states[states[turn]].symbol;
        step_fse(table, &states[turn], &bits);
        if (bits.left >= 0)
            continue;
        if (*count == WEIGHTS_MOST)
            return false;
        weights[(*count)++] = table->states[states[turn ^ 1]].symbol;
        return true;
    }
    return false;
}

/* The last weight is what is missing to a power of two. */
static bool complete_weights(uint8_t *weights, uint32_t *count, uint32_t *log)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < *count; i++) {
        if (weights[i] > HUFFMAN_LOG_MOST)
            return false;
        sum += weights[i] ? 1u << (weights[i] - 1) : 0;
    }
    if (!sum)
        return false;
    *log = highest_bit(sum) + 1;
    const uint32_t missing = (1u << *log) - sum;
    if (*log > HUFFMAN_LOG_MOST || (missing & (missing - 1)))
        return false;
    weights[(*count)++] = (uint8_t)(highest_bit(missing) + 1);
    return true;
}

/* Longer codes come first, and codes of a length are in the order of their symbols. */
static void build_huffman(huffman *code, const uint8_t *weights, uint32_t count, uint32_t log)
{
    uint32_t at = 0;

    code->log = log;
    for (uint32_t weight = 1; weight <= log; weight++) {
        for (uint32_t i = 0; i < count; i++) {
            for (uint32_t k = 0; weights[i] == weight && k < 1u << (weight - 1); k++, at++) {
                code->codes[at].symbol = (uint8_t)i;
                code->codes[at].bits = (uint8_t)(log + 1 - weight);
            }
        }
    }
}

/* Reads the code; its bytes are taken off `in`. */
static bool read_huffman(huffman *code, fse *scratch, gd_view *in)
{
    uint8_t weights[WEIGHTS_MOST + 1];
    uint32_t count = 0, log;
    gd_view part;

    if (!in->size)
        return false;
    const uint32_t head = in->bytes[0];
    const uint64_t bytes = head < 128 ? head : (head - 126) / 2;
    if (!gd_view_part(*in, 1, bytes, &part))
        return false;
    if (head < 128 && !read_packed_weights(part, scratch, weights, &count))
        return false;
    for (; head >= 128 && count < head - 127; count++)
        weights[count] = part.bytes[count / 2] >> (count % 2 ? 0 : 4) & 15;
    if (!complete_weights(weights, &count, &log))
        return false;
    build_huffman(code, weights, count, log);
    return gd_view_part(*in, 1 + bytes, in->size - 1 - bytes, in);
}

/* A stream makes so many bytes, neither more nor fewer. */
static bool decode_stream(const huffman *code, gd_view in, unsigned char *into, uint64_t bytes)
{
    stream bits;

    if (!open_stream(in, &bits))
        return false;
    for (uint64_t i = 0; i < bytes && bits.left >= 0; i++) {
        const uint32_t index = peek(&bits, code->log);
        into[i] = code->codes[index].symbol;
        bits.left -= code->codes[index].bits;
    }
    return bits.left == 0;
}

static bool decode_four_streams(const huffman *code, gd_view in, unsigned char *into,
                                uint64_t bytes)
{
    const uint64_t each = (bytes + 3) / 4;
    uint64_t at = 6;

    if (in.size < at || bytes < each * 3)
        return false;
    for (uint32_t i = 0; i < 4; i++) {
        const uint64_t size =
            i < 3 ? little(in.bytes + 2 * (uint64_t)i, 2) : in.size - (at < in.size ? at : in.size);
        gd_view part;
        if (!gd_view_part(in, at, size, &part) ||
            !decode_stream(code, part, into + i * each, i < 3 ? each : bytes - 3 * each))
            return false;
        at += size;
    }
    return true;
}

/* ---- blocks ---- */

typedef enum code_kind { LITERAL_LENGTH, OFFSET, MATCH_LENGTH, CODES } code_kind;

/* What one block leaves to the next of its frame. */
typedef struct frame {
    unsigned char *into;
    uint64_t made, bytes; /* of all frames */
    uint64_t begin;       /* of this frame's output */
    uint64_t block_most;
    huffman literals;
    fse codes[CODES], scratch;
    bool known[CODES];
    uint64_t offsets[3];
    unsigned char buffer[BLOCK_MOST]; /* a block's literals */
} frame;

/* Literals of the block; the section's bytes are taken off `in`. */
static bool read_literals(frame *at, gd_view *in, gd_view *literals)
{
    const uint32_t type = in->size ? in->bytes[0] & 3 : 0,
                   format = in->size ? in->bytes[0] >> 2 & 3 : 0;
    const bool packed = type >= 2;
    static const uint8_t heads[2][4] = {{1, 2, 1, 3}, {3, 3, 4, 5}},
                         sizes[2][4] = {{5, 12, 5, 20}, {10, 10, 14, 18}};
    const uint32_t head = heads[packed][format], size = sizes[packed][format];
    gd_view part;

    if (in->size < head)
        return false;
    const uint64_t bits = little(in->bytes, head), one = (UINT64_C(1) << size) - 1;
    const uint64_t bytes = bits >> (packed || format & 1 ? 4 : 3) & one;
    const uint64_t stored = packed ? bits >> (4 + size) & one : type == 1 ? 1 : bytes;
    if (bytes > at->block_most || !gd_view_part(*in, head, stored, &part))
        return false;
    *in = (gd_view){in->bytes + head + stored, in->size - head - stored};
    *literals = (gd_view){at->buffer, bytes};
    if (type == 0)
        *literals = part;
    else if (type == 1)
        memset(at->buffer, part.bytes[0], (size_t)bytes);
    if (!packed)
        return true;
    if (type == 2 && !read_huffman(&at->literals, &at->scratch, &part))
        return false;
    if (!at->literals.log)
        return false;
    return format ? decode_four_streams(&at->literals, part, at->buffer, bytes)
                  : decode_stream(&at->literals, part, at->buffer, bytes);
}

static const int16_t usual_literals[] = {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
                                         2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
static const int16_t usual_offsets[] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                        1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};
static const int16_t usual_matches[] = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};

static const struct {
    const int16_t *usual;
    uint8_t usual_count, usual_log, log_most, symbols;
} code_kinds[CODES] = {
    [LITERAL_LENGTH] = {usual_literals, 36, 6, 9, 36},
    [OFFSET] = {usual_offsets, 29, 5, 8, 32},
    [MATCH_LENGTH] = {usual_matches, 53, 6, 9, 53},
};

static bool read_code(frame *at, code_kind kind, uint32_t mode, gd_view *in)
{
    fse *table = &at->codes[kind];
    bool good = true;

    if (mode == 0) {
        good = build_fse(table, code_kinds[kind].usual, code_kinds[kind].usual_count,
                         code_kinds[kind].usual_log);
    } else if (mode == 1) {
        good = in->size && in->bytes[0] < code_kinds[kind].symbols;
        if (good) {
            repeat_fse(table, in->bytes[0]);
            *in = (gd_view){in->bytes + 1, in->size - 1};
        }
    } else if (mode == 2) {
        good = read_fse(table, in, code_kinds[kind].log_most, code_kinds[kind].symbols);
    } else {
        good = at->known[kind];
    }
    at->known[kind] = good;
    return good;
}

/* Lengths beyond those that have a code each are a base and bits to add. */
static uint64_t read_literal_length(uint32_t code, stream *bits)
{
    static const uint8_t extra[] = {1, 1, 1, 1,  2,  2,  3,  3,  4,  6,
                                    7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const uint32_t base[] = {16,  18,  20,  22,   24,   28,   32,   40,    48,    64,
                                    128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536};

    return code < 16 ? code : base[code - 16] + take(bits, extra[code - 16]);
}

static uint64_t read_match_length(uint32_t code, stream *bits)
{
    static const uint8_t extra[] = {1, 1, 1, 1,  2,  2,  3,  3,  4,  4, 5,
                                    7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    static const uint32_t base[] = {35,  37,  39,  41,   43,   47,   51,   59,    67,    83,   99,
                                    131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539};

    return code < 32 ? code + 3 : base[code - 32] + take(bits, extra[code - 32]);
}

/* Values up to 3 name one of the last three offsets; 0: there is no such offset. */
static uint64_t find_offset(uint64_t *last, uint64_t value, bool no_literals)
{
    const uint64_t index = value > 3 ? 3 : value - 1 + no_literals;
    const uint64_t found = value > 3 ? value - 3 : index == 3 ? last[0] - 1 : last[index];

    if (index > 1)
        last[2] = last[1];
    if (index > 0)
        last[1] = last[0];
    last[0] = found;
    return found;
}

static bool copy_literals(frame *at, gd_view *literals, uint64_t count)
{
    if (count > literals->size || count > at->bytes - at->made)
        return false;
    gd_view_copy(*literals, 0, at->into + at->made, count);
    *literals = (gd_view){literals->bytes + count, literals->size - count};
    at->made += count;
    return true;
}

static bool copy_match(frame *at, uint64_t offset, uint64_t count)
{
    if (!offset || offset > at->made - at->begin || count > at->bytes - at->made)
        return false;
    for (; count; count--, at->made++)
        at->into[at->made] = at->into[at->made - offset];
    return true;
}

static bool run_sequences(frame *at, gd_view in, uint32_t count, gd_view *literals)
{
    uint32_t states[CODES];
    stream bits;

    if (!open_stream(in, &bits))
        return false;
    for (uint32_t i = 0; i < CODES; i++)
        states[i] = take(&bits, at->codes[i].log);
    for (; count && bits.left >= 0; count--) {
        uint32_t codes[CODES];
        for (uint32_t i = 0; i < CODES; i++)
            codes[i] = at->codes[i].states[states[i]].symbol;
        const uint64_t value = (UINT64_C(1) << codes[OFFSET]) + take(&bits, codes[OFFSET]);
        const uint64_t match = read_match_length(codes[MATCH_LENGTH], &bits);
        const uint64_t length = read_literal_length(codes[LITERAL_LENGTH], &bits);
        if (!copy_literals(at, literals, length) ||
            !copy_match(at, find_offset(at->offsets, value, !length), match))
            return false;
        if (count == 1)
            break;
        step_fse(&at->codes[LITERAL_LENGTH], &states[LITERAL_LENGTH], &bits);
        step_fse(&at->codes[MATCH_LENGTH], &states[MATCH_LENGTH], &bits);
        step_fse(&at->codes[OFFSET], &states[OFFSET], &bits);
    }
    return bits.left == 0;
}

/* How many sequences there are; the number's bytes are taken off `in`. */
static bool read_count(gd_view *in, uint32_t *count)
{
    const uint32_t first = in->size ? in->bytes[0] : 0, head = first < 128   ? 1
                                                               : first < 255 ? 2
                                                                             : 3;

    if (in->size < head)
        return false;
    *count = first < 128   ? first
             : first < 255 ? ((first - 128) << 8) + in->bytes[1]
                           : (uint32_t)little(in->bytes + 1, 2) + 0x7f00;
    *in = (gd_view){in->bytes + head, in->size - head};
    return true;
}

static bool decode_block(frame *at, gd_view in)
{
    const uint64_t before = at->made;
    uint32_t count;
    gd_view literals;

    if (!read_literals(at, &in, &literals) || !read_count(&in, &count))
        return false;
    if (!count)
        return !in.size && copy_literals(at, &literals, literals.size);
    if (!in.size || in.bytes[0] & 3)
        return false;
    const uint32_t modes = in.bytes[0];
    in = (gd_view){in.bytes + 1, in.size - 1};
    return read_code(at, LITERAL_LENGTH, modes >> 6, &in) &&
           read_code(at, OFFSET, modes >> 4 & 3, &in) &&
           read_code(at, MATCH_LENGTH, modes >> 2 & 3, &in) &&
           run_sequences(at, in, count, &literals) && copy_literals(at, &literals, literals.size) &&
           at->made - before <= at->block_most;
}

/* ---- the checksum: XXH64, seed 0 ---- */

enum { LANES = 4 };

static const uint64_t primes[] = {0x9e3779b185ebca87, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9,
                                  0x85ebca77c2b2ae63, 0x27d4eb2f165667c5};

static uint64_t rotate(uint64_t value, uint32_t by)
{
    return value << by | value >> (64 - by);
}

static uint64_t mix(uint64_t lane, uint64_t word)
{
    return rotate(lane + word * primes[1], 31) * primes[0];
}

static uint64_t checksum(const unsigned char *bytes, uint64_t size)
{
    uint64_t lanes[LANES] = {primes[0] + primes[1], primes[1], 0, 0 - primes[0]}, at = 0;
    uint64_t sum = primes[4];

    if (size >= 32) {
        for (; size - at >= 32; at += 32) {
            for (uint32_t i = 0; i < LANES; i++)
                lanes[i] = mix(lanes[i], little(bytes + at + 8 * (uint64_t)i, 8));
        }
        sum =
            rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
        for (uint32_t i = 0; i < LANES; i++)
            sum = (sum ^ mix(0, lanes[i])) * primes[0] + primes[3];
    }
    sum += size;
    for (; size - at >= 8; at += 8)
        sum = rotate(sum ^ mix(0, little(bytes + at, 8)), 27) * primes[0] + primes[3];
    if (size - at >= 4) {
        sum = rotate(sum ^ little(bytes + at, 4) * primes[0], 23) * primes[1] + primes[2];
        at += 4;
    }
    for (; at < size; at++)
        sum = rotate(sum ^ bytes[at] * primes[4], 11) * primes[0];
    sum = (sum ^ sum >> 33) * primes[1];
    sum = (sum ^ sum >> 29) * primes[2];
    return sum ^ sum >> 32;
}

/* ---- frames ---- */

static const char *read_blocks(frame *to, gd_view packed, uint64_t *at)
{
    for (bool last = false; !last;) {
        gd_view part;
        if (!gd_view_part(packed, *at, 3, &part))
            return cut;
        const uint64_t head = little(part.bytes, 3), size = head >> 3;
        const uint32_t type = head >> 1 & 3;
        last = head & 1;
        *at += 3;
        if (type == 3 || size > to->block_most)
            return damaged;
        if (!gd_view_part(packed, *at, type == 1 ? 1 : size, &part))
            return cut;
        *at += part.size;
        if (type < 2 && size > to->bytes - to->made)
            return "its Zstandard data make more bytes than it says";
        if (type == 0)
            gd_view_copy(part, 0, to->into + to->made, size);
        else if (type == 1)
            memset(to->into + to->made, part.bytes[0], (size_t)size);
        else if (!decode_block(to, part))
            return damaged;
        to->made += type < 2 ? size : 0;
    }
    return NULL;
}

/* What precedes a frame's blocks; sizes of windows beyond a block's are the output's matter, which
 * is all there. */
static const char *read_head(frame *to, gd_view packed, uint64_t *at, bool *summed)
{
    static const uint8_t dictionaries[] = {0, 1, 2, 4}, contents[] = {0, 2, 4, 8};
    unsigned char head, window = 0;
    gd_view part;

    if (!gd_view_copy(packed, (*at)++, &head, 1))
        return cut;
    const bool single = head & 0x20;
    const uint64_t dictionary = dictionaries[head & 3],
                   content = head >> 6 ? contents[head >> 6] : single;
    if (head & 8)
        return damaged;
    if (!single && !gd_view_copy(packed, (*at)++, &window, 1))
        return cut;
    if (!gd_view_part(packed, *at, dictionary + content, &part))
        return cut;
    *at += part.size;
    if (little(part.bytes, dictionary))
        return "its Zstandard data need a dictionary, which fatbins do not have";
    const uint64_t size = little(part.bytes + dictionary, content) + (content == 2 ? 256 : 0);
    if (content && size > to->bytes - to->made)
        return "its Zstandard data make more bytes than it says";
    const uint64_t base = window >> 3 > 20 ? BLOCK_MOST : UINT64_C(1) << (10 + (window >> 3));
    const uint64_t most = single ? size : base + base / 8 * (window & 7);
    to->block_most = most < BLOCK_MOST ? most : BLOCK_MOST;
    *summed = head & 4;
    return NULL;
}

static const char *read_frame(frame *to, gd_view packed, uint64_t *at)
{
    bool summed = false;
    gd_view part;

    const char *wrong = read_head(to, packed, at, &summed);
    to->begin = to->made;
    to->literals.log = 0;
    memset(to->known, 0, sizeof to->known);
    to->offsets[0] = 1;
    to->offsets[1] = 4;
    to->offsets[2] = 8;
    if (!wrong)
        wrong = read_blocks(to, packed, at);
    if (wrong || !summed)
        return wrong;
    if (!gd_view_part(packed, *at, 4, &part))
        return cut;
    *at += 4;
    return little(part.bytes, 4) == (uint32_t)checksum(to->into + to->begin, to->made - to->begin)
               ? NULL
               : "its Zstandard data do not have the checksum that they name";
}

const char *gd_unpack_zstd(gd_view packed, unsigned char *into, uint64_t bytes)
{
    frame *to = malloc(sizeof *to);
    const char *wrong = to ? NULL : gd_unpack_no_memory;
    uint64_t at = 0;
    gd_view part;

    if (to) {
        to->into = into;
        to->made = 0;
        to->bytes = bytes;
    }
    while (!wrong && at < packed.size) {
        const uint64_t magic = gd_view_part(packed, at, 4, &part) ? little(part.bytes, 4) : 0;
        at += 4;
        if (magic == 0xfd2fb528)
            wrong = read_frame(to, packed, &at);
        else if (magic >> 4 == 0x184d2a5 && gd_view_part(packed, at, 4, &part) &&
                 gd_view_part(packed, at + 4, little(part.bytes, 4), &part))
            at += 4 + part.size;
        else
            wrong = "its Zstandard data are no frame";
    }
    if (!wrong && to->made != bytes)
        wrong = "its Zstandard data make fewer bytes than it says";
    free(to);
    return wrong;
}

/* A block of four bytes can repeat one byte over its whole size. */
uint64_t gd_unpack_zstd_most(uint64_t packed)
{
    return packed > UINT64_MAX / BLOCK_MOST ? UINT64_MAX : (packed / 4 + 1) * BLOCK_MOST;
}

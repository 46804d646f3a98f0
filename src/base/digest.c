/* SHA-256 (FIPS 180-4). */
#include <string.h>

#include "base/digest.h"

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned count)
{
    return x >> count | x << (32 - count);
}

static void compress(gd_digest *digest, const uint8_t *block)
{
    uint32_t w[64], s[8];

    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t low = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t high = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    memcpy(s, digest->state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t high = rotate(s[4], 6) ^ rotate(s[4], 11) ^ rotate(s[4], 25);
        uint32_t first = s[7] + high + ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[i] + w[i];
        uint32_t low = rotate(s[0], 2) ^ rotate(s[0], 13) ^ rotate(s[0], 22);
        uint32_t second = low + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += first;
        s[0] = first + second;
    }
    for (int i = 0; i < 8; i++)
        digest->state[i] += s[i];
}

void gd_digest_begin(gd_digest *digest)
{
    *digest = (gd_digest){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                    0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void gd_digest_add(gd_digest *digest, const void *data, size_t bytes)
{
    const uint8_t *from = data;
    size_t held = (size_t)(digest->bytes % 64);

    digest->bytes += bytes;
    if (held) {
        size_t part = bytes < 64 - held ? bytes : 64 - held;
        memcpy(digest->block + held, from, part);
        from += part;
        bytes -= part;
        if (held + part < 64)
            return;
        compress(digest, digest->block);
    }
    for (; bytes >= 64; bytes -= 64, from += 64)
        compress(digest, from);
    if (bytes)
        memcpy(digest->block, from, bytes);
}

void gd_digest_end(gd_digest *digest, uint8_t result[32])
{
    static const uint8_t padding[64] = {0x80};
    uint64_t bits = digest->bytes * 8;
    uint8_t length[8];

    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)(bits >> (56 - 8 * i));
    gd_digest_add(digest, padding, 1 + (size_t)((119 - digest->bytes % 64) % 64));
    gd_digest_add(digest, length, sizeof length);
    for (int i = 0; i < 32; i++)
        result[i] = (uint8_t)(digest->state[i / 4] >> (24 - 8 * (i % 4)));
}

void gd_digest_add_string(gd_digest *digest, const char *string)
{
    uint64_t bytes = strlen(string);

    gd_digest_add(digest, &bytes, sizeof bytes);
    gd_digest_add(digest, string, (size_t)bytes);
}

void gd_digest_hex(const uint8_t result[32], char hex[65])
{
    static const char digits[] = "0123456789abcdef";

    for (int i = 0; i < 32; i++) {
        hex[2 * i] = digits[result[i] >> 4];
        hex[2 * i + 1] = digits[result[i] & 15];
    }
    hex[64] = 0;
}

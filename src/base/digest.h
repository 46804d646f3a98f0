/* SHA-256 (FIPS 180-4), for keys of the store and for checking its entries. */
#ifndef GD_BASE_DIGEST_H
#define GD_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct gd_digest {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
} gd_digest;

void gd_digest_begin(gd_digest *digest);
void gd_digest_add(gd_digest *digest, const void *data, size_t bytes);
void gd_digest_end(gd_digest *digest, uint8_t result[32]);

/* Adds a string with its length, so that neighbours cannot be mistaken for one another. */
void gd_digest_add_string(gd_digest *digest, const char *string);

/* 64 lower-case digits and a closing zero. */
void gd_digest_hex(const uint8_t result[32], char hex[65]);

#endif

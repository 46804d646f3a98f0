/* The element types of buffers and arguments. */
#ifndef GD_CLI_TYPE_H
#define GD_CLI_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#define GD_TYPES(X)                                                                                \
    X(u8)                                                                                          \
    X(u16) X(u32) X(u64) X(s8) X(s16) X(s32) X(s64) X(e4m3) X(e5m2) X(f16) X(bf16) X(f32) X(f64)

typedef enum gd_type {
#define GD_TYPE_MEMBER(name) GD_TYPE_##name,
    GD_TYPES(GD_TYPE_MEMBER)
#undef GD_TYPE_MEMBER
        GD_TYPE_NAMES
} gd_type;

/* "bf16". Static. */
const char *gd_type_name(gd_type type);

uint32_t gd_type_bytes(gd_type type);
bool gd_type_is_integer(gd_type type);
bool gd_type_is_signed(gd_type type);

/* Stores the nearest value of a floating-point type. */
void gd_type_store(gd_type type, void *array, uint64_t index, double value);

/* Stores the low bits of an integer in an integer type. */
void gd_type_store_bits(gd_type type, void *array, uint64_t index, uint64_t bits);

/* The element as a double; integers beyond 2^53 are rounded. */
double gd_type_load(gd_type type, const void *array, uint64_t index);

#endif

/* Numbers of PTX's storage types as doubles: rounding to the short floats, and elements of typed
 * arrays. */
#ifndef GD_CLI_NUMBER_H
#define GD_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Rounds to nearest, ties to even, with subnormals; too large becomes an infinity, NaN the
 * canonical 0x7fff of PTX's cvt. */
uint16_t gd_bf16_from_double(double value);
uint16_t gd_f16_from_double(double value);

/* Exact. */
double gd_bf16_to_double(uint16_t bits);
double gd_f16_to_double(uint16_t bits);

/* Bytes of an element of u8 s8 u16 s16 u32 s32 u64 s64 e4m3 e5m2 f16 bf16 f32 f64; 0 for another
 * name, NULL included. */
uint32_t gd_element_bytes(const char *type);

/* Whether the type is one of e4m3 e5m2 f16 bf16 f32 f64. */
bool gd_element_is_float(const char *type);

/* The index-th element of an array of that type, which must be one of the above. 64-bit integers
 * beyond 2^53 are rounded. The array need not be aligned. */
double gd_element_load(const char *type, const void *array, uint64_t index);

/* Stores the nearest value of the type: short floats as above, but e4m3 and e5m2 end at their
 * largest finite value, as PTX's cvt.satfinite does; f32 by conversion; for integers the fraction
 * is rounded to even, what lies outside the type becomes its nearest end, and NaN becomes 0. */
void gd_element_store(const char *type, void *array, uint64_t index, double value);

#endif

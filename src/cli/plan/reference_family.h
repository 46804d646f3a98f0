/* What the files of references, one for each family of the shelf, share: tests of arguments, and
 * the families' tables. */
#ifndef GD_CLI_REFERENCE_FAMILY_H
#define GD_CLI_REFERENCE_FAMILY_H

#include <stdbool.h>

#include "cli/plan/reference.h"

/* Whether the argument is an array of that type with at least `count` elements. */
bool gd_reference_is_array(const gd_reference_argument *argument, const char *type, uint64_t count);

/* Whether the argument is an array with at least `bytes` bytes, whatever its type. */
bool gd_reference_is_memory(const gd_reference_argument *argument, uint64_t bytes);

/* Whether the argument is a scalar of that type; u32 must hold a whole number. */
bool gd_reference_is_u32(const gd_reference_argument *argument);
bool gd_reference_is_f32(const gd_reference_argument *argument);

/* Whether the argument is an address that is 0: an optional operand that a launch leaves out. */
bool gd_reference_is_none(const gd_reference_argument *argument);

/* The references of a family; the last has no name. */
extern const gd_reference gd_reference_attention[];
extern const gd_reference gd_reference_elementwise[];
extern const gd_reference gd_reference_embedding[];
extern const gd_reference gd_reference_gemm[];
extern const gd_reference gd_reference_linear[];
extern const gd_reference gd_reference_norm[];
extern const gd_reference gd_reference_sampling[];
extern const gd_reference gd_reference_softmax[];

/* Bytes of 16 rows of 128 columns of W as linear_int4 and skinny_int4 take it; an element of it. */
enum { GD_INT4_RECORD = 1072 };
double gd_int4_value(const unsigned char *tiles, uint64_t columns, uint64_t row, uint64_t column);

#endif

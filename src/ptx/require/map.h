/* Fields of tensor maps in conditions: "a_map.box.x == 64", "a_map.type == bf16". */
#ifndef GD_PTX_REQUIRE_MAP_H
#define GD_PTX_REQUIRE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/text/module.h"
#include "ptx/require/tensor_map.h"

typedef enum gd_require_field {
    GD_REQUIRE_FIELD_RANK,
    GD_REQUIRE_FIELD_DIMENSION,
    GD_REQUIRE_FIELD_BOX,
    GD_REQUIRE_FIELD_STEP,
    GD_REQUIRE_FIELD_TYPE,
    GD_REQUIRE_FIELD_SWIZZLE,
    GD_REQUIRE_FIELD_FILL,
    /* No text names these: where the tensor begins, and how many bytes from there on it ends. */
    GD_REQUIRE_FIELD_ADDRESS,
    GD_REQUIRE_FIELD_BYTES,
    GD_REQUIRE_FIELD_COUNT
} gd_require_field;

/* Whether a parameter may be a tensor map: 128 bytes by value, aligned to 64. */
bool gd_require_is_map(const gd_ptx_symbol *symbol);

/* The field that a name without its map is, and its dimension where it has one: "box.x". COUNT
 * where there is no such.
 */
gd_require_field gd_require_field_find(const char *name, size_t bytes, uint8_t *dimension);

uint64_t gd_require_field_value(const gd_tensor_map *map, gd_require_field field,
                                uint8_t dimension);

/* The words that a field is compared with, ended by a NULL, whose places are its values; NULL: it
 * is a number. */
const char *const *gd_require_field_words(gd_require_field field);

#endif

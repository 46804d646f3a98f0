/* Fields of tensor maps in conditions: "a_map.box.x == 64", "a_map.type == bf16". */
#ifndef GD_PTX_REQUIRE_MAP_H
#define GD_PTX_REQUIRE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/module.h"
#include "ptx/tensor_map.h"

typedef enum gd_require_field_kind {
    GD_REQUIRE_FIELD_NUMBER,
    GD_REQUIRE_FIELD_EACH,
    GD_REQUIRE_FIELD_WORDS
} gd_require_field_kind;

typedef enum gd_require_field {
    GD_REQUIRE_FIELD_NONE,
#define REQUIRE_FIELD(identifier, name, kind) GD_REQUIRE_FIELD_##identifier,
#include "ptx/require_fields.def"
#undef REQUIRE_FIELD
    GD_REQUIRE_FIELD_KNOWN, /* whether the map's bytes are understood; no text names it */
    GD_REQUIRE_FIELD_COUNT
} gd_require_field;

/* Whether a parameter may be a tensor map: 128 bytes by value, aligned to 64. */
bool gd_require_is_map(const gd_ptx_symbol *symbol);

gd_require_field_kind gd_require_field_kind_of(gd_require_field field);

/* The field that a name without its map is, and for EACH the dimension: "box.x". NONE where there is no such; then
 * `nearest`, if it is not NULL, is the one that was meant, or NULL. */
gd_require_field gd_require_field_find(const char *name, size_t bytes, uint8_t *dimension, const char **nearest);

uint64_t gd_require_field_value(const gd_tensor_map *map, gd_require_field field, uint8_t dimension);

/* The words of a field of WORDS, ended by a NULL; their places are its values. */
const char *const *gd_require_field_words(gd_require_field field);

#endif

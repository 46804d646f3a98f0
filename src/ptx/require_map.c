/* Names, values and words of a tensor map's fields. The words are those of chain files. */
#include "ptx/require_map.h"

#include <string.h>

#include "base/nearest.h"

static const char dimensions[] = "xyzwv"; /* 0, the innermost one, to 4 */

static const char *const names[GD_REQUIRE_FIELD_COUNT] = {
#define REQUIRE_FIELD(identifier, name, kind) [GD_REQUIRE_FIELD_##identifier] = name,
#include "ptx/require_fields.def"
#undef REQUIRE_FIELD
};

gd_require_field_kind gd_require_field_kind_of(gd_require_field field)
{
    static const gd_require_field_kind kinds[GD_REQUIRE_FIELD_COUNT] = {
#define REQUIRE_FIELD(identifier, name, kind) [GD_REQUIRE_FIELD_##identifier] = GD_REQUIRE_FIELD_##kind,
#include "ptx/require_fields.def"
#undef REQUIRE_FIELD
    };

    return kinds[field];
}

bool gd_require_is_map(const gd_ptx_symbol *symbol)
{
    return symbol->flags & GD_SYMBOL_ARRAY && symbol->bytes == GD_TENSOR_MAP_BYTES &&
           symbol->alignment >= GD_TENSOR_MAP_ALIGNMENT;
}

gd_require_field gd_require_field_find(const char *name, size_t bytes, uint8_t *dimension, const char **nearest)
{
    const char *dot = memchr(name, '.', bytes);
    const size_t word = dot ? (size_t)(dot - name) : bytes;
    gd_nearest look = {.word = name, .bytes = word};

    *dimension = 0;
    for (int i = GD_REQUIRE_FIELD_NONE + 1; i < GD_REQUIRE_FIELD_KNOWN; i++) {
        const gd_require_field field = (gd_require_field)i;
        const bool each = gd_require_field_kind_of(field) == GD_REQUIRE_FIELD_EACH;
        gd_nearest_look(&look, names[i]);
        if (strlen(names[i]) != word || memcmp(names[i], name, word) != 0 || each != (dot != NULL))
            continue;
        const char *letter = each && bytes == word + 2 ? strchr(dimensions, dot[1]) : NULL;
        if (each && (!letter || !*letter))
            continue;
        *dimension = each ? (uint8_t)(letter - dimensions) : 0;
        return field;
    }
    if (nearest)
        *nearest = look.name;
    return GD_REQUIRE_FIELD_NONE;
}

uint64_t gd_require_field_value(const gd_tensor_map *map, gd_require_field field, uint8_t dimension)
{
    switch (field) {
    case GD_REQUIRE_FIELD_ADDRESS:
        return map->address;
    case GD_REQUIRE_FIELD_BYTES:
        return gd_tensor_map_extent(map);
    case GD_REQUIRE_FIELD_RANK:
        return map->rank;
    case GD_REQUIRE_FIELD_DIMENSION:
        return map->sizes[dimension];
    case GD_REQUIRE_FIELD_STRIDE:
        return map->strides[dimension];
    case GD_REQUIRE_FIELD_BOX:
        return map->box[dimension];
    case GD_REQUIRE_FIELD_STEP:
        return map->steps[dimension];
    case GD_REQUIRE_FIELD_MODE:
        return map->im2col;
    case GD_REQUIRE_FIELD_TYPE:
        return map->type;
    case GD_REQUIRE_FIELD_SWIZZLE:
        return map->swizzle;
    case GD_REQUIRE_FIELD_INTERLEAVE:
        return map->interleave;
    case GD_REQUIRE_FIELD_FILL:
        return map->fill;
    default:
        return 0;
    }
}

const char *const *gd_require_field_words(gd_require_field field)
{
    static const char *const modes[] = {"tiled", "im2col", NULL};
    static const char *const types[] = {"u8",  "u16", "u32",  "s32",     "u64",  "s64",      "f16",
                                        "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz", NULL};
    static const char *const swizzles[] = {"none", "32B", "64B", "128B", NULL};
    static const char *const interleaves[] = {"none", "16B", "32B", NULL};
    static const char *const fills[] = {"zero", "nan", NULL};

    switch (field) {
    case GD_REQUIRE_FIELD_MODE:
        return modes;
    case GD_REQUIRE_FIELD_TYPE:
        return types;
    case GD_REQUIRE_FIELD_SWIZZLE:
        return swizzles;
    case GD_REQUIRE_FIELD_INTERLEAVE:
        return interleaves;
    default:
        return fills;
    }
}

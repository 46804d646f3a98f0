/* Names, values and words of a tensor map's fields. The words are those of chain files. */
#include "ptx/require/map.h"

#include <string.h>

static const char dimensions[] = "xyzwv"; /* 0, the innermost one, to 4 */

static const char *const types[] = {"u8",  "u16", "u32",  "s32",     "u64",  "s64",      "f16",
                                    "f32", "f64", "bf16", "f32_ftz", "tf32", "tf32_ftz", NULL};
static const char *const swizzles[] = {"none", "32B", "64B", "128B", NULL};
static const char *const fills[] = {"zero", "nan", NULL};

static const struct {
    const char *name;
    bool has_dimension;
    const char *const *words;
} fields[GD_REQUIRE_FIELD_ADDRESS] = {
    [GD_REQUIRE_FIELD_RANK] = {"rank", false, NULL},
    [GD_REQUIRE_FIELD_DIMENSION] = {"dim", true, NULL},
    [GD_REQUIRE_FIELD_BOX] = {"box", true, NULL},
    [GD_REQUIRE_FIELD_STEP] = {"step", true, NULL},
    [GD_REQUIRE_FIELD_TYPE] = {"type", false, types},
    [GD_REQUIRE_FIELD_SWIZZLE] = {"swizzle", false, swizzles},
    [GD_REQUIRE_FIELD_FILL] = {"fill", false, fills},
};

bool gd_require_is_map(const gd_ptx_symbol *symbol)
{
    return symbol->flags & GD_SYMBOL_ARRAY && symbol->bytes == GD_TENSOR_MAP_BYTES &&
           symbol->alignment >= GD_TENSOR_MAP_ALIGNMENT;
}

gd_require_field gd_require_field_find(const char *name, size_t bytes, uint8_t *dimension)
{
    const char *dot = memchr(name, '.', bytes);
    const size_t word = dot ? (size_t)(dot - name) : bytes;
    const char *letter =
        dot && bytes == word + 2 ? memchr(dimensions, dot[1], sizeof dimensions - 1) : NULL;
    int i = 0;

    *dimension = letter ? (uint8_t)(letter - dimensions) : 0;
    while (i < GD_REQUIRE_FIELD_ADDRESS &&
           (strlen(fields[i].name) != word || memcmp(fields[i].name, name, word) != 0 ||
            (fields[i].has_dimension ? !letter : dot != NULL)))
        i++;
    return i < GD_REQUIRE_FIELD_ADDRESS ? (gd_require_field)i : GD_REQUIRE_FIELD_COUNT;
}

uint64_t gd_require_field_value(const gd_tensor_map *map, gd_require_field field, uint8_t dimension)
{
    switch (field) {
    case GD_REQUIRE_FIELD_RANK:
        return map->rank;
    case GD_REQUIRE_FIELD_DIMENSION:
        return map->sizes[dimension];
    case GD_REQUIRE_FIELD_BOX:
        return map->box[dimension];
    case GD_REQUIRE_FIELD_STEP:
        return map->steps[dimension];
    case GD_REQUIRE_FIELD_TYPE:
        return map->type;
    case GD_REQUIRE_FIELD_SWIZZLE:
        return map->swizzle;
    case GD_REQUIRE_FIELD_FILL:
        return map->fill;
    case GD_REQUIRE_FIELD_ADDRESS:
        return map->address;
    default:
        return gd_tensor_map_extent(map);
    }
}

const char *const *gd_require_field_words(gd_require_field field)
{
    return field < GD_REQUIRE_FIELD_ADDRESS ? fields[field].words : NULL;
}

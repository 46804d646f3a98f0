/* From the text of a condition or an extent to its steps. Between require.c, which finds the texts,
 * and require/parse.c, which reads them. */
#ifndef GD_PTX_REQUIRE_PARSE_H
#define GD_PTX_REQUIRE_PARSE_H

#include "ptx/require/require.h"

typedef enum gd_require_token {
    GD_REQUIRE_TOKEN_END, /* of the text, or of reading it: what is wrong has been told */
    GD_REQUIRE_TOKEN_WORD,
    GD_REQUIRE_TOKEN_SIGN
} gd_require_token;

/* An entry whose conditions are being read. */
typedef struct gd_require_reader {
    const gd_ptx_module *module;
    const gd_ptx_function *entry;
    gd_ptx_diagnostics *diagnostics;
    gd_arena *arena;
    bool no_memory;

    gd_require_name names[GD_REQUIRE_LIMIT_NAMES];
    uint64_t constants[GD_REQUIRE_LIMIT_CONSTANTS];
    gd_require_step steps[GD_REQUIRE_LIMIT_STEPS];
    gd_requirement list[GD_REQUIRE_LIMIT_CONDITIONS];
    gd_require_extent extents[GD_REQUIRE_LIMIT_EXTENTS];
    uint16_t maps[GD_REQUIRE_LIMIT_MAPS];
    uint32_t name_count, constant_count, step_count, count, extent_count, map_count;

    /* The one that is read now. */
    const char *at, *end; /* of the module's text: what has not been read */
    bool failed;          /* what is wrong has been told */
    uint32_t depth;
    bool is_extent;
    uint32_t results; /* of the comparison */
    uint8_t known; /* maps that the steps of an alternative, or an extent, depend on, a bit each of
                      `maps` */
    bool names_something;
    gd_require_token token;
    const char *start; /* of the token, and its length */
    uint32_t bytes;
} gd_require_reader;

/* What is left of `text` to `end` becomes another condition, or an extent, of the reader's lists,
 * unless something is wrong with it; their texts are the caller's to fill in. NULL: nothing was
 * added. */
gd_requirement *gd_require_parse_condition(gd_require_reader *reader, const char *text,
                                           const char *end);
gd_require_extent *gd_require_parse_extent(gd_require_reader *reader, const char *text,
                                           const char *end);

#endif

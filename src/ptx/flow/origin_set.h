/* Sets of parameter numbers, each kept once, so that equal sets have equal numbers. For
 * provenance.c alone. */
#ifndef GD_PTX_FLOW_ORIGIN_SET_H
#define GD_PTX_FLOW_ORIGIN_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx/text/limit.h"

typedef struct gd_origin_set {
    uint32_t first; /* of members */
    uint32_t count;
} gd_origin_set;

typedef struct gd_origin_sets {
    gd_origin_set *list; /* [0] is the empty set */
    uint32_t count, capacity;
    uint32_t *members; /* ascending within a set */
    uint32_t member_count, member_capacity;
    uint32_t *slots; /* a hash table of set numbers; 0: empty */
    uint32_t slot_count;
    bool failed; /* memory has run out */
} gd_origin_sets;

#define GD_ORIGIN_SET_NONE UINT32_MAX

/* false: no memory. What is half made can be freed. */
bool gd_origin_sets_create(gd_origin_sets *sets);
void gd_origin_sets_free(gd_origin_sets *sets);

/* The set of one number, and the union of two. GD_ORIGIN_SET_NONE where it would have more than
 * GD_PTX_LIMIT_ORIGINS members or there is no memory. */
uint32_t gd_origin_set_single(gd_origin_sets *sets, uint32_t member);
uint32_t gd_origin_set_union(gd_origin_sets *sets, uint32_t a, uint32_t b);

#endif

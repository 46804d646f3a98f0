/* Parameters that are declared constant: by the caller's options, and by the "constant" field of
 * the comment at the top of the text ("// constant: weight, entry.bias", continued by "//
 * more"). */
#ifndef GD_PTX_CHECK_CONSTANT_H
#define GD_PTX_CHECK_CONSTANT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "ptx/check/entry.h"

typedef struct gd_constant {
    const char *name; /* borrowed, not ended by a zero */
    size_t bytes;
    size_t offset; /* of the name in the text; SIZE_MAX: from the options */
    bool used;     /* names a parameter of an entry that was asked for */
} gd_constant;

typedef struct gd_constants {
    gd_constant *list;
    uint32_t count, capacity;
    gd_table table; /* by name */
} gd_constants;

/* All zero is none. Names may be NULL when count is 0. What text and names point to must live as
 * long. */
int32_t gd_constants_create(gd_constants *constants, const char *const *names, uint32_t count,
                            const char *text, size_t bytes, griddep_error *error);
void gd_constants_free(gd_constants *constants);

/* The constant parameters of an entry; marks the names as used. false: no memory. */
bool gd_constants_of(gd_constants *constants, const gd_ptx_function *entry, gd_parameter_set *set);

#endif

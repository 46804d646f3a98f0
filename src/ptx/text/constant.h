/* Constant expressions (PTX ISA 4.5.5). */
#ifndef GD_PTX_TEXT_CONSTANT_H
#define GD_PTX_TEXT_CONSTANT_H

#include "ptx/text/module.h"

/* The value of the expression of integers that the tokens [token, token_end) are; false: they are
 * none. */
bool gd_constant_evaluate(const gd_ptx_module *module, uint32_t token, uint32_t token_end,
                          uint64_t *value);

typedef enum gd_constant_class {
    GD_CONSTANT_NONE, /* no expression, or one that mixes integers and fractions */
    GD_CONSTANT_INTEGER,
    GD_CONSTANT_FRACTION
} gd_constant_class;

/* What an expression of numbers is. */
gd_constant_class gd_constant_classify(const gd_ptx_module *module, uint32_t token,
                                       uint32_t token_end);

#endif

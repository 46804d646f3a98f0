/* Constant expressions of integers (PTX ISA 4.5.5). */
#ifndef GD_PTX_TEXT_CONSTANT_H
#define GD_PTX_TEXT_CONSTANT_H

#include "ptx/text/module.h"

/* The value of the expression that the tokens [token, token_end) are; false: they are none. */
bool gd_constant_evaluate(const gd_ptx_module *module, uint32_t token, uint32_t token_end,
                          uint64_t *value);

#endif

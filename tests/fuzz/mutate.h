/* Changes to a PTX text, made where they leave most of it a text: in an instruction's name,
 * modifiers, operands and numbers, in lines, and in letters anywhere. */
#ifndef GD_TESTS_FUZZ_MUTATE_H
#define GD_TESTS_FUZZ_MUTATE_H

#include "base/text.h"

/* One change, drawn with fuzz_draw; `other` is a text that lines may come from. */
void fuzz_mutate(gd_text *text, const gd_text *other);

#endif

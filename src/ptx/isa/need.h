/* What the head of a text must say: versions of the PTX ISA, chips, and what words and instructions
 * need of both. */
#ifndef GD_PTX_ISA_NEED_H
#define GD_PTX_ISA_NEED_H

#include "ptx/isa/form.h"

enum { GD_NEED_TEXT = 96 };

/* What a word of a declaration or directive needs; NULL: nothing. */
const gd_need *gd_need_of_word(const char *word, uint32_t length);

/* What an instruction with these modifiers needs, "global.min.u64". */
gd_need gd_need_of(gd_op op, const char *modifiers);

/* What both need. */
gd_need gd_need_of_both(gd_need one, gd_need other);

/* Whether a text's .version and .target have what is needed. A text for no sm_NN has each chip. */
bool gd_need_is_met(gd_need need, const gd_ptx_module *module);

/* "needs .version 8.0; the text says 7.8", where it is not met. */
void gd_need_describe(gd_need need, const gd_ptx_module *module, char text[GD_NEED_TEXT]);

/* The target that is needed, "sm_90a"; false where none has it any more. */
bool gd_need_name_target(gd_need need, const gd_ptx_module *module, char name[GD_NEED_TEXT]);

/* The version that has a chip, "sm_90a"; 0: there is no such chip. */
int32_t gd_need_of_chip(const char *name, uint32_t length);

/* The chip with this number; NULL: no more. */
const char *gd_need_chip_at(uint32_t index);

/* Whether there is such a version, up to GD_FORMS_VERSION. */
bool gd_is_version(int32_t version);

#endif

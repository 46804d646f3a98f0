/* Instructions' names with their modifiers, as they are written, against the forms. Each is looked
 * up once: modules have few different ones. */
#ifndef GD_PTX_ISA_SPELLING_H
#define GD_PTX_ISA_SPELLING_H

#include "base/arena.h"
#include "base/table.h"
#include "ptx/isa/form.h"

enum { GD_SPELLING_MODIFIERS = 24 };

typedef struct gd_spelling {
    struct gd_spelling_fit *first, *last; /* the forms that fit, as far as was looked */
    const gd_ptx_instruction *instruction;
    const gd_form *forms;
    uint32_t form_count; /* 0: the instruction is not described */
    uint32_t looked_at;  /* of the forms */
    void *reading;       /* what the user of the spellings keeps with it */
} gd_spelling;

/* All zero: none yet. */
typedef struct gd_spellings {
    gd_table table;
    gd_arena arena;
    bool out_of_memory;
} gd_spellings;

/* The modifiers that an instruction's name in ops.def does not hold already; *first is the token of
 * the first one. Returns how many. */
uint32_t gd_spelling_list(const gd_ptx_module *module, const gd_ptx_instruction *instruction,
                          gd_modifier list[GD_SPELLING_MODIFIERS], uint32_t *first);

/* The spelling of an instruction of the module, whose text must live as long as the spellings; NULL
 * when there is no memory. */
gd_spelling *gd_spelling_find(gd_spellings *spellings, const gd_ptx_module *module,
                              const gd_ptx_instruction *instruction);

/* The form behind `before`, or with NULL the first one, that the modifiers fit, its operands read;
 * NULL: no more, or no memory, which the spellings keep in mind. */
const gd_form_match *gd_spelling_next(gd_spellings *spellings, const gd_ptx_module *module,
                                      gd_spelling *spelling, const gd_form_match *before);

void gd_spellings_free(gd_spellings *spellings);

#endif

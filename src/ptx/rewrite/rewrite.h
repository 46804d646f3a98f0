/* The rewriter: griddep_ptx_rewrite in griddep.h. It works in two steps, each on parsed text: first
 * what is to go is taken out, then what is to stand is put in. So a text that was rewritten before
 * comes to the same in between, and then to the same again. This header is for rewrite.c,
 * rewrite/again.c and rewrite/step.c. */
#ifndef GD_PTX_REWRITE_REWRITE_H
#define GD_PTX_REWRITE_REWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "griddep.h"
#include "ptx/check/constant.h"
#include "ptx/text/edit.h"
#include "ptx/text/findings.h"
#include "ptx/handle/ptx.h"

#define GD_REWRITE_WAIT "griddepcontrol.wait;\n"

/* Something that was done, for the notes. */
typedef struct gd_rewrite_note {
    gd_code code;
    uint32_t entry; /* index of entries; GD_PTX_NONE: the module */
    uint32_t edit;  /* its number; then `offset` is filled in */
    uint32_t offset;
} gd_rewrite_note;

/* One step: the text it reads and what it does to it. */
typedef struct gd_rewrite_step {
    const griddep_ptx *ptx;
    gd_edits edits;
    gd_rewrite_note *notes;
    uint32_t note_count, note_capacity;
} gd_rewrite_step;

typedef struct gd_rewrite {
    griddep_rewrite_options options;
    uint32_t entry, entry_end; /* those that are rewritten */
    gd_constants constants;
    uint32_t line_entry;       /* the entry that has options.trigger_line; GD_PTX_NONE: none */
    uint32_t line_instruction; /* counted from the entry's first, those that go left out */
    bool *
        again; /* by entry: the wait that it has stands where it would be inserted, and is taken out
                * and put back */
    gd_rewrite_step taking, retaking, putting;
} gd_rewrite;

/* Finds what is to go. */
int32_t gd_rewrite_take(gd_rewrite *rewrite, griddep_error *error);

/* Finds what is to stand, and raises .version and .target for it. */
int32_t gd_rewrite_put(gd_rewrite *rewrite, griddep_error *error);

/* GRIDDEP_WAIT_INSERT must come to the same whether the wait was there before or not, and so must
 * what else is placed beside it. So a wait that stands where one would be inserted is taken out
 * first: *made is the text without those, NULL where there are none. Between the two steps. */
int32_t gd_rewrite_retake(gd_rewrite *rewrite, const griddep_ptx *ptx, griddep_ptx **made,
                          griddep_error *error);

void gd_rewrite_begin_step(gd_rewrite_step *step, const griddep_ptx *ptx);
void gd_rewrite_free_step(gd_rewrite_step *step);

/* The text that a step makes, parsed. */
int32_t gd_rewrite_finish_step(gd_rewrite_step *step, griddep_ptx **ptx, griddep_error *error);

/* What the options want of one entry's trigger: GRIDDEP_TRIGGER_*. */
int32_t gd_rewrite_trigger_of(const gd_rewrite *rewrite, uint32_t entry);

/* The parameter (symbol) to be prefetched for an entry; GD_PTX_NONE: none is, or it has no such. */
uint32_t gd_rewrite_prefetch_of(const gd_rewrite *rewrite, const griddep_ptx *ptx, uint32_t entry);

#endif

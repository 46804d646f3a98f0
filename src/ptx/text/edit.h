/* Edits of a module's text: insertions and removals at tokens, done all at once. Everything else
 * stays to the letter. What is inserted beside a statement that has a line of its own gets lines of
 * its own, with that line's indentation and line end, and is taken away with them. */
#ifndef GD_PTX_TEXT_EDIT_H
#define GD_PTX_TEXT_EDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/text.h"
#include "ptx/text/module.h"

typedef struct gd_edit {
    uint32_t offset;
    uint32_t removed; /* bytes */
    uint32_t rank;    /* order of insertions at one place; then that in which they were made */
    uint32_t number;
    const char *text;
    uint32_t bytes;
    uint32_t start;  /* of its statement within the inserted text, behind the indentation */
    uint32_t placed; /* offset in the new text, of the statement or of what follows a removal */
    int64_t shift;   /* by which what follows has moved */
} gd_edit;

typedef struct gd_edits {
    const gd_ptx_module *module;
    gd_edit *list;
    gd_edit **sorted; /* by place, after gd_edits_apply */
    uint32_t count, capacity;
    gd_arena arena;
} gd_edits;

/* All zero but for `module` is none. Each gives the edit's number, GD_PTX_NONE: no memory. `lines`
 * are statements that end with \n each, without indentation. */
uint32_t gd_edits_insert_before(gd_edits *edits, uint32_t token, const char *lines, uint32_t rank);
uint32_t gd_edits_insert_behind(gd_edits *edits, uint32_t token, const char *lines, uint32_t rank);

/* Whether a statement may be inserted before a token: what stands there must not take it for its
 * own part, as a directive does that is not known and not ended. */
bool gd_edits_has_room(const gd_edits *edits, uint32_t token);

uint32_t gd_edits_remove(gd_edits *edits, uint32_t token, uint32_t token_end);
uint32_t gd_edits_replace(gd_edits *edits, uint32_t token, const char *text);
void gd_edits_free(gd_edits *edits);

/* Writes the new text, and fills `placed` and `shift`. A failed allocation shows in
 * text->failed. */
void gd_edits_apply(gd_edits *edits, gd_text *text);

/* Where something in the old text, that no edit has touched, stands in the new one. After
 * gd_edits_apply. */
uint32_t gd_edits_map(const gd_edits *edits, uint32_t offset);

#endif

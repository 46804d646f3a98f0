/* Findings: what the checks and the rewriter have to say about a text, each with a permanent code
 * (codes.def). A list of them is ordered by launch, then position, as it grows. */
#ifndef GD_PTX_TEXT_FINDINGS_H
#define GD_PTX_TEXT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "griddep.h"
#include "ptx/text/module.h"
#include "ptx/text/offered.h"

/* More findings than this are not kept: the least severe and furthest down the text give way, and
 * one more finding (GD004) says so at the end. */
enum { GD_FINDINGS_LIMIT = 1000 };

typedef enum gd_code {
#define GD_CODE(identifier, severity, title, page) GD_CODE_##identifier,
#include "ptx/text/codes.def"
#undef GD_CODE
    GD_CODE_COUNT
} gd_code;

/* Indexed with gd_code. */
extern const gd_code_info gd_codes[GD_CODE_COUNT];

/* A change of the module's text. */
typedef struct gd_finding_edit {
    uint32_t offset;
    uint32_t removed; /* bytes */
    const char *text;
} gd_finding_edit;

/* Another place of the module that helps to understand a finding, and what stands there. */
typedef struct gd_finding_relation {
    uint32_t token;
    const char *text;
} gd_finding_relation;

/* What a finding is made of; all of it is copied. The position is a token of a module, or a line
 * and column of a source; neither: none. It reaches to the end of the token, of an opcode to that
 * of its modifiers, and without a token to the end of the word. */
typedef struct gd_finding_draft {
    gd_code code;
    int32_t severity;            /* 0: the code's own */
    int32_t launch;              /* index in a chain; -1: none. Mind that 0 is the first launch */
    const gd_ptx_module *module; /* gives file and source; NULL: those below */
    uint32_t token;              /* of module; GD_PTX_NONE: no position, or line and column */
    int32_t line, column;        /* from 1; 0: none */
    const char *file;            /* NULL: the module's name, else "" */
    const char *source;          /* text for the quote; NULL: the module's, else no quote */
    size_t source_bytes;
    const char *entry; /* NULL: it concerns none */
    const char *hint;  /* NULL: none */

    /* Of module, and none where it is NULL. The edits mend the finding when all of them are made;
     * `certain`: they are what was meant, and no guess. */
    const gd_finding_edit *edits;
    uint32_t edit_count;
    bool certain;
    const gd_finding_relation *relations;
    uint32_t relation_count;
} gd_finding_draft;

/* An empty list; NULL: no memory. It is ended with griddep_findings_destroy. */
griddep_findings *gd_findings_create(void);

/* Adds a finding, whose text is printed. Of two findings of one code at one position of one launch
 * the first is kept, or the more severe one; likewise of two without a position that say the same.
 * A failed allocation is remembered. */
void gd_findings_add(griddep_findings *findings, const gd_finding_draft *draft, const char *format,
                     ...) __attribute__((format(printf, 3, 4)));

/* Adds the verdict on an entry, which is copied. false: no memory. */
bool gd_findings_add_verdict(griddep_findings *findings, const gd_verdict *verdict);

/* GRIDDEP_ERROR_MEMORY when an allocation failed while findings were added. */
int32_t gd_findings_check(const griddep_findings *findings, griddep_error *error);

#endif

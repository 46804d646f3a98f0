/* Whether ptxas would take a text: GD010 to GD017. The part that its files share. */
#ifndef GD_PTX_CHECK_VALIDITY_H
#define GD_PTX_CHECK_VALIDITY_H

#include "base/nearest.h"
#include "ptx/text/findings.h"

enum { GD_GUESS_BYTES = 64 };

typedef struct gd_validity {
    griddep_findings *findings;
    const gd_ptx_module *module;
    bool newer; /* the text is of a later PTX ISA than the tables, which may have more: warnings */
    bool wrong; /* an error was found */
} gd_validity;

/* Adds a finding at a token. `hint` may be NULL or empty. */
__attribute__((format(printf, 5, 6))) void gd_validity_add(gd_validity *check, gd_code code,
                                                           uint32_t token, const char *hint,
                                                           const char *format, ...);

/* "did you mean add?", of names that are shown one after the other. */
typedef struct gd_guess {
    gd_nearest nearest; /* .word and .bytes: the name that is wrong */
    size_t distance;
    char name[GD_GUESS_BYTES]; /* "": none */
} gd_guess;

void gd_guess_look(gd_guess *best, const char *name, size_t length);

/* Adds what ptxas would refuse in a text that parses. *wrong: there is such an error. */
int32_t gd_check_validity(griddep_findings *findings, const gd_ptx_module *module, bool *wrong,
                          griddep_error *error);

/* Its parts. Instructions against their forms, operands, and names that nothing declares. */
int32_t gd_check_instructions(gd_validity *check, griddep_error *error);

/* Declarations and directives: GD015 to GD017. */
void gd_check_declarations(gd_validity *check);

#endif

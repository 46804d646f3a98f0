/* The forms of instructions as forms.def has them, and which of them an instruction's modifiers
 * fit. */
#ifndef GD_PTX_ISA_FORM_H
#define GD_PTX_ISA_FORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/text/module.h"

/* The lowest .version and .target that have a thing. */
typedef struct gd_need {
    uint16_t version; /* 10 * major + minor */
    uint16_t target;  /* 10 * sm_NN, and what forms.def adds */
} gd_need;

typedef struct gd_form {
    const char *modifiers; /* groups, as forms.def writes them */
    const char *operands;
    uint16_t op;
    gd_need need; /* of the form; a modifier may need more */
} gd_form;

enum {
    GD_FORM_TYPES = 6,
    GD_FORM_ROLES = 10,
    GD_FORMS_VERSION = 90 /* 10 times that of the PTX ISA that forms.def describes */
};

/* A modifier of an instruction, without its dot. */
typedef struct gd_modifier {
    const char *text;
    uint32_t length;
} gd_modifier;

/* A type that an operand's value has. */
typedef struct gd_value_type {
    const char *name;
    uint8_t class; /* gd_value_class of role.h */
    uint8_t bytes;
    uint8_t type;     /* gd_ptx_type; GD_TYPE_NONE: no register is declared with it */
    bool never_wider; /* also where the role allows a wider register */
} gd_value_type;

/* What a form's operand is for. */
typedef struct gd_form_role {
    char kind;          /* the letter in forms.def */
    char pair;          /* '|' or '&': a predicate may, or must, follow; else 0 */
    bool sink;          /* may be '_' */
    bool optional;      /* may be left out */
    uint8_t vector;     /* elements; 0: no vector */
    uint8_t needed;     /* operands that the roles behind it need at least */
    uint32_t low, high; /* of integer constants */
    uint32_t high_rest; /* ... that are elements of a vector behind its first */
    bool ranged;        /* ... which lie there */
    bool powers;        /* ... and are powers of two */
    uint8_t multiple;   /* ... or multiples of this; 0: any */
    bool positive;      /* ... and not 0 */
    bool wide;          /* ... all bits of which count, not the lowest 32 alone */
    bool single;        /* of fractions only those of the 0f form */
    bool alone;         /* one element may stand for all of a vector */
    bool loose;         /* integers of their size go for floats */
    bool exact;         /* no register of floats goes for integers or bits, nor the reverse */
    bool bits;          /* no register but one of bits */
    bool braces;        /* no register of several elements */
    bool whole;         /* no element may be '_' */
    uint8_t selectors;  /* of a video instruction's operand: 1, 2 or 4 of its parts; 0: none */
    gd_value_type type;
} gd_form_role;

/* How a form's modifiers fit an instruction's. */
typedef struct gd_form_match {
    const gd_form *form;
    gd_need need;                     /* of the form with these modifiers */
    gd_modifier types[GD_FORM_TYPES]; /* those that the form numbers; length 0: none */
    gd_modifier spaces[2];            /* state spaces in their order; length 0: none */
    uint32_t matched;                 /* of the instruction's modifiers */
    uint32_t unmatched;  /* the first modifier that fits no group; UINT32_MAX: all fit */
    const char *missing; /* a group that must be there and is not; NULL: none */
    uint8_t vector;      /* .v2, .v4, .v8, .v16: the number; 1 without */
    uint8_t repeats;     /* .x1, .x2, .x4, ... .x128: the number; 0 without */
    uint8_t dimensions;  /* .1d to .5d: the number; 0 without */
    uint16_t columns;    /* N of .mMnNkK; 0 without */
    uint8_t coordinates; /* that .1d to .a2dms has at least: 1, 2 or 4; 0 without */
    bool array;          /* .a1d, .a2d, .acube or .a2dms is there */
    bool cube;           /* .cube or .acube */
    bool hint;           /* .L2::cache_hint is there */
    bool multicast;      /* .multicast::cluster is there */
    uint8_t role_count;
    gd_form_role roles[GD_FORM_ROLES]; /* of the operands that there are: gd_roles_read */
} gd_form_match;

/* The forms of an instruction, in the order of the table; *count 0: it is not described. */
const gd_form *gd_forms_of(gd_op op, uint32_t *count);

/* Fits one form to the modifiers that follow the instruction's name. true: it takes them all and
 * lacks none. */
bool gd_form_fit(const gd_form *form, const gd_modifier *modifiers, uint32_t count,
                 gd_form_match *match);

/* The same, faster; where it is false, nothing is in *match. */
bool gd_form_takes(const gd_form *form, const gd_modifier *modifiers, uint32_t count,
                   gd_form_match *match);

/* Walks over the alternatives of a form's groups, or of one group: at first *from is the group's
 * text. false: no more. */
typedef struct gd_alternatives {
    const char *at;     /* in the form's text */
    const char *within; /* in a set's text; NULL: in no set */
} gd_alternatives;

bool gd_alternatives_next(gd_alternatives *from, gd_modifier *alternative);

/* Whether one of a form's groups has a modifier. */
bool gd_form_has(const gd_form *form, const gd_modifier *modifier);

/* Whether the form's first group belongs to the instruction's name. */
bool gd_form_is_bound(const gd_form *form);

/* The group behind this one; NULL: there is none. `group` may be a form's whole list. */
const char *gd_form_next_group(const char *group);

#endif

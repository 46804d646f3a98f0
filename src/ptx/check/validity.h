/* Whether ptxas would take a text: GD010 to GD017. The part that its files share. */
#ifndef GD_PTX_CHECK_VALIDITY_H
#define GD_PTX_CHECK_VALIDITY_H

#include "base/arena.h"
#include "base/nearest.h"
#include "base/table.h"
#include "ptx/text/findings.h"

enum { GD_GUESS_BYTES = 64 };

/* Findings that may come from one mistake, told together in the end. */
typedef enum gd_mistake_kind {
    GD_MISTAKE_NAME,    /* a name that nothing declares; id: of the names, without its number */
    GD_MISTAKE_SYMBOL,  /* operands of a symbol's type; when most are wrong, its declaration is */
    GD_MISTAKE_AGAIN,   /* names of one declaration that are declared already; id: the first */
    GD_MISTAKE_VERSION, /* what .version lacks; id: 0 for instructions, 1 for declarations */
    GD_MISTAKE_TARGET,  /* what .target lacks; likewise */
    GD_MISTAKE_ADDRESS  /* addresses of 32 bits in a text that does not say how many they have */
} gd_mistake_kind;

typedef struct gd_mistake_key {
    uint32_t kind, id; /* gd_mistake_kind */
    uint32_t function; /* of a name; else 0 */
} gd_mistake_key;

typedef struct gd_validity {
    griddep_findings *findings;
    const gd_ptx_module *module;
    int32_t launch; /* of a chain, for the findings; -1: none */
    gd_arena arena;
    gd_table groups;            /* of mistakes */
    gd_table files;             /* numbers that .file has given */
    gd_table positions, labels; /* of .loc, and of sections */
    uint32_t noted, labelled;   /* directives that are in them */
    struct gd_mistake_group *first, *last;
    bool *spoilt; /* by name: a statement that was told of declares it; NULL: none */
    uint32_t told;
    bool debug;  /* .target says so */
    bool newer;  /* the text is of a later PTX ISA than the tables, which may have more: warnings */
    bool wrong;  /* an error was found */
    bool failed; /* no memory */

    /* What the next finding that is added or collected gets beside its words. */
    gd_finding_edit edit; /* text NULL: none */
    bool certain;
    gd_finding_relation relation; /* text NULL: none */
    char edit_text[2 * GD_GUESS_BYTES], relation_text[160];
    uint32_t looks, distances; /* that meant.c may still take */
} gd_validity;

/* Adds a finding at a token. `hint` may be NULL or empty. */
__attribute__((format(printf, 5, 6))) void gd_validity_add(gd_validity *check, gd_code code,
                                                           uint32_t token, const char *hint,
                                                           const char *format, ...);

/* Adds a finding to those of one key; `hint` likewise. */
__attribute__((format(printf, 6, 7))) void gd_validity_collect(gd_validity *check, gd_code code,
                                                               uint32_t token, gd_mistake_key key,
                                                               const char *hint, const char *format,
                                                               ...);

/* The first symbol of the declaration that a symbol stands in: an id for GD_MISTAKE_SYMBOL. */
uint32_t gd_validity_declared(const gd_ptx_module *module, uint32_t symbol);

/* Nothing more is told about names between these tokens. */
void gd_validity_spoil(gd_validity *check, uint32_t token, uint32_t token_end);

/* "did you mean add?", of names that are shown one after the other. */
typedef struct gd_guess {
    gd_nearest nearest; /* .word and .bytes: the name that is wrong */
    size_t distance;
    bool tied;                 /* another name is as near */
    char name[GD_GUESS_BYTES]; /* "": none */
} gd_guess;

void gd_guess_look(gd_guess *best, const char *name, size_t length);

/* The next finding is mended by this text in the place of the tokens [token, token_end); `certain`:
 * nothing else can be meant. */
void gd_validity_mend(gd_validity *check, uint32_t token, uint32_t token_end, bool certain,
                      const char *text);

/* The same with a name that was guessed, behind `before`; nothing where there is none. One slip of
 * the pen away from one name alone is certain. */
void gd_validity_mend_name(gd_validity *check, uint32_t token, const char *before,
                           const gd_guess *meant);

/* The next finding is mended by a higher .version, or by the target that is needed and not met;
 * whether a text may do without older chips is its author's to say, but for griddepcontrol: such a
 * text is for none of them. */
void gd_validity_mend_version(gd_validity *check, int32_t version);
void gd_validity_mend_need(gd_validity *check, uint16_t version, uint16_t target);

/* The next finding is better understood with the place of another token. */
__attribute__((format(printf, 3, 4))) void gd_validity_relate(gd_validity *check, uint32_t token,
                                                              const char *format, ...);

/* How PTX says a word of CUDA C++; NULL: it is none. */
const char *gd_validity_of_cuda(const char *name, uint32_t length);

/* Of a name that nothing declares in a scope: the next finding has what was meant, and where that
 * is declared; `hint` says it, or is empty. */
void gd_validity_mean_name(gd_validity *check, uint32_t token, uint32_t scope, char *hint,
                           size_t capacity);

/* The next finding has the first declaration of what a symbol declares again; that of the register
 * that is an operand's token. */
void gd_validity_relate_first(gd_validity *check, const gd_ptx_symbol *symbol);
void gd_validity_relate_register(gd_validity *check, const gd_ptx_instruction *instruction,
                                 uint32_t token);

/* Before the first of these. */
void gd_validity_start_looking(gd_validity *check);

/* Adds what ptxas would refuse in a text that parses. *wrong: there is such an error. */
int32_t gd_check_validity(griddep_findings *findings, const gd_ptx_module *module, bool *wrong,
                          griddep_error *error);

/* Its parts. Instructions against their forms, operands, and names that nothing declares. */
int32_t gd_check_instructions(gd_validity *check, griddep_error *error);

/* Static shared memory: GD016. */
void gd_check_shared(gd_validity *check);

/* Calls against declarations and prototypes: GD011, GD012. */
void gd_check_calls(gd_validity *check);

/* Declarations and directives: GD015 to GD017. */
void gd_check_declarations(gd_validity *check);

#endif

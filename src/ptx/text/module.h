/* A parsed PTX module: flat arrays whose items point at one another with 32-bit indices
 * (GD_PTX_NONE: none) and at the text with token indices. Every statement knows the tokens [token,
 * token_end) that it is made of, so that text can be cut and put in between; what no statement
 * covers is white space and comments. Immutable once parsed. */
#ifndef GD_PTX_TEXT_MODULE_H
#define GD_PTX_TEXT_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "ptx/text/diagnostic.h"
#include "ptx/text/lexer.h"
#include "ptx/text/name.h"
#include "ptx/text/ops.h"

typedef enum gd_ptx_type {
    GD_TYPE_NONE = 0, /* not given, or one that types.def lacks */
#define GD_TYPE(identifier, name, bytes, class) GD_TYPE_##identifier,
#include "ptx/text/types.def"
#undef GD_TYPE
    GD_TYPE_COUNT
} gd_ptx_type;

typedef struct gd_ptx_type_info {
    const char *name; /* without the dot; "" for GD_TYPE_NONE */
    uint8_t bytes;    /* 0: it has no size */
} gd_ptx_type_info;

extern const gd_ptx_type_info gd_ptx_types[GD_TYPE_COUNT];

typedef enum gd_ptx_space {
    GD_SPACE_NONE,
    GD_SPACE_REG,
    GD_SPACE_SREG,
    GD_SPACE_CONST,
    GD_SPACE_GLOBAL,
    GD_SPACE_LOCAL,
    GD_SPACE_PARAM,
    GD_SPACE_SHARED,
    GD_SPACE_TEX
} gd_ptx_space;

enum { GD_LINK_EXTERN = 1, GD_LINK_VISIBLE = 2, GD_LINK_WEAK = 4, GD_LINK_COMMON = 8 };

typedef enum gd_ptx_symbol_kind {
    GD_SYMBOL_VARIABLE, /* registers included: space is GD_SPACE_REG */
    GD_SYMBOL_PARAMETER,
    GD_SYMBOL_FUNCTION,
    GD_SYMBOL_LABEL
} gd_ptx_symbol_kind;

enum {
    GD_SYMBOL_POINTER = 1, /* .ptr */
    GD_SYMBOL_ARRAY = 2,   /* has dimensions */
    GD_SYMBOL_UNSIZED = 4, /* its first dimension is empty: bytes counts one element of it */
    GD_SYMBOL_INITIALISED = 8,
    GD_SYMBOL_RANGE = 16,  /* name<N> */
    GD_SYMBOL_AGAIN = 32,  /* its scope declares the name already */
    GD_SYMBOL_MANAGED = 64 /* .attribute(.managed) */
};

typedef struct gd_ptx_symbol {
    uint32_t name; /* index of names */
    uint32_t scope;
    uint32_t token;        /* of the name */
    uint8_t kind;          /* gd_ptx_symbol_kind */
    uint8_t space;         /* gd_ptx_space */
    uint8_t type;          /* gd_ptx_type */
    uint8_t vector;        /* elements: 1, 2, 4, 8 */
    uint8_t link;          /* GD_LINK_* */
    uint8_t flags;         /* GD_SYMBOL_* */
    uint8_t pointer_space; /* of .ptr, gd_ptx_space */
    uint8_t reserved;
    uint32_t pointer_alignment; /* of .ptr; 0: not given */
    uint32_t alignment;         /* .align, or the natural one */
    uint32_t count;             /* registers of a range, else 1 */
    uint32_t
        target; /* register: number of the first within its function. label: the instruction that
                           follows. function: index of functions, the definition where there is
                           one */
    uint32_t directive; /* label: the .branchtargets or the like that it names. variable: its
                    * declaration */
    uint32_t
        hidden; /* range: the one of the same name in a scope around this one; their numbers beyond
                           `count` stay visible. name7, not a label: the last one before it with
                           the same name but for its number */
    uint32_t offset; /* parameter: bytes from the start of the packed parameters */
    uint64_t bytes;
} gd_ptx_symbol;

typedef struct gd_ptx_scope {
    uint32_t parent;
    uint32_t function;  /* GD_PTX_NONE: the module's */
    uint32_t token;     /* its '{', or the first parameter's for a function's outermost scope */
    uint32_t token_end; /* its '}' */
} gd_ptx_scope;

typedef enum gd_ptx_operand_kind {
    GD_OPERAND_REGISTER, /* symbol; index: which of its range */
    GD_OPERAND_SYMBOL,  /* symbol, GD_PTX_NONE when nothing of that name is declared; index: name */
    GD_OPERAND_SPECIAL, /* an undeclared name with %: a special register; index: name */
    GD_OPERAND_SINK,    /* _ */
    GD_OPERAND_INTEGER, /* value, the sign applied */
    GD_OPERAND_SINGLE,  /* value: the bits of a float */
    GD_OPERAND_DOUBLE, /* value: the bits of a double; a decimal one takes the instruction's type */
    GD_OPERAND_EXPRESSION, /* a constant expression, kept as text */
    GD_OPERAND_MEMORY,     /* [ ]: children, address first */
    GD_OPERAND_VECTOR,     /* { }: children */
    GD_OPERAND_LIST,       /* ( ) of a call: children */
    GD_OPERAND_PAIR        /* p|q: two children, of tex {a, b, c, d}|p the first is a vector */
} gd_ptx_operand_kind;

enum {
    GD_OPERAND_NOT = 1,     /* !p */
    GD_OPERAND_MINUS = 2,   /* -r; in front of a literal the sign is applied */
    GD_OPERAND_OFFSET = 4,  /* name+value, value signed */
    GD_OPERAND_NUMBERED = 8 /* of a list: name and value behind it are the name, B<2> */
};

/* Operands of an instruction stand one after the other, each before its children. The next one at
 * the same depth is at `end`. */
typedef struct gd_ptx_operand {
    uint8_t kind;  /* gd_ptx_operand_kind */
    uint8_t flags; /* GD_OPERAND_* flags */
    uint8_t
        component; /* .x to .w (or .r to .a) 1 to 4, .b0 to .b3 5 to 8, .h0 and .h1 9 and 10; 255
                    * another; 0 none */
    uint8_t reserved;
    uint32_t token;
    uint32_t token_end;
    uint32_t end;
    uint32_t symbol;
    uint32_t index;
    uint64_t value;
} gd_ptx_operand;

enum { GD_INSTRUCTION_GUARDED = 1, GD_INSTRUCTION_GUARD_NOT = 2 };

typedef struct gd_ptx_instruction {
    uint32_t token;     /* of the guard, or of the opcode; labels stand before it */
    uint32_t token_end; /* behind the ';' */
    uint32_t opcode;    /* token; its modifiers are the `modifiers` tokens behind it */
    uint16_t op;        /* gd_op */
    uint8_t modifiers;
    uint8_t flags;    /* GD_INSTRUCTION_* */
    uint32_t operand; /* the guard is operand - 1 */
    uint32_t operand_end;
    uint32_t scope;
} gd_ptx_instruction;

typedef enum gd_ptx_directive_kind {
    GD_DIRECTIVE_UNKNOWN,
    GD_DIRECTIVE_VARIABLE, /* symbols [symbol, symbol_end) */
    GD_DIRECTIVE_VERSION,
    GD_DIRECTIVE_TARGET,
    GD_DIRECTIVE_ADDRESS_SIZE,
    GD_DIRECTIVE_FILE,
    GD_DIRECTIVE_LOC,
    GD_DIRECTIVE_SECTION,
    GD_DIRECTIVE_PRAGMA,
    GD_DIRECTIVE_ALIAS,         /* operands: alias, aliased */
    GD_DIRECTIVE_BRANCHTARGETS, /* operands: labels */
    GD_DIRECTIVE_CALLTARGETS,   /* operands: functions */
    GD_DIRECTIVE_CALLPROTOTYPE,
    GD_DIRECTIVE_PERFORMANCE /* of a function's header, known and unknown ones */
} gd_ptx_directive_kind;

enum { GD_DIRECTIVE_NORETURN = 1 }; /* a prototype with .noreturn */

typedef struct gd_ptx_directive {
    uint32_t token;
    uint32_t token_end;
    uint32_t scope;
    uint32_t instruction; /* the one that follows */
    uint32_t symbol, symbol_end;
    uint32_t operand, operand_end;
    uint8_t kind;     /* gd_ptx_directive_kind */
    uint8_t flags;    /* GD_DIRECTIVE_NORETURN */
    uint16_t results; /* of a prototype: the first of its symbols; its parameters follow */
} gd_ptx_directive;

enum {
    GD_FUNCTION_ENTRY = 1,
    GD_FUNCTION_BODY = 2, /* a definition; else a declaration */
    GD_FUNCTION_NORETURN = 4,
    GD_FUNCTION_EXPLICITCLUSTER = 8,
    GD_FUNCTION_BLOCKSARECLUSTERS = 16
};

typedef enum gd_ptx_performance {
    GD_PERFORMANCE_MAXNTID,
    GD_PERFORMANCE_REQNTID,
    GD_PERFORMANCE_REQNCTAPERCLUSTER,
    GD_PERFORMANCE_MAXNREG,
    GD_PERFORMANCE_MINNCTAPERSM,
    GD_PERFORMANCE_MAXNCTAPERSM,
    GD_PERFORMANCE_MAXCLUSTERRANK,
    GD_PERFORMANCE_COUNT
} gd_ptx_performance;

typedef struct gd_ptx_function {
    uint32_t symbol;
    uint32_t token; /* the first, linking directives included */
    uint32_t token_end;
    uint32_t token_name;
    uint32_t token_body;               /* its '{'; GD_PTX_NONE for a declaration */
    uint32_t scope;                    /* that holds parameters and body */
    uint32_t flags;                    /* GD_FUNCTION_* */
    uint32_t link;                     /* GD_LINK_* */
    uint32_t parameter, parameter_end; /* symbols */
    uint32_t result, result_end;       /* symbols: a .func's return parameters */
    uint32_t parameter_bytes;
    uint32_t instruction, instruction_end;
    uint32_t directive, directive_end; /* all of header and body */
    uint32_t register_count;
    uint32_t control, control_end;
    uint32_t limits[GD_PERFORMANCE_COUNT][3]; /* 0: not given; y and z are 1 when only x is */
    uint32_t traits;                          /* GRIDDEP_TRAIT_* */
    const char *name;
    const char **parameter_names; /* of an entry with a body */
} gd_ptx_function;

enum { GD_PTX_CONTROL_WAIT, GD_PTX_CONTROL_LAUNCH_DEPENDENTS };

/* A griddepcontrol instruction. */
typedef struct gd_ptx_control {
    uint32_t instruction;
    int32_t kind; /* GD_PTX_CONTROL_* */
    bool predicated;
} gd_ptx_control;

typedef struct gd_ptx_module {
    char *text; /* a copy, padded with zeros */
    uint32_t bytes;
    const char *name; /* for messages */
    gd_arena arena;   /* strings that are handed out */
    gd_ptx_tokens tokens;
    gd_ptx_names names;
    gd_ptx_diagnostics *diagnostics;

    gd_ptx_scope *scopes; /* [0] is the module's */
    gd_ptx_symbol *symbols;
    gd_ptx_operand *operands;
    gd_ptx_instruction *instructions;
    gd_ptx_directive *directives;
    gd_ptx_function *functions;
    gd_ptx_control *controls;
    uint32_t *entries; /* indices of functions, of those with a body, in the order of the text */
    uint32_t scope_count, scope_capacity;
    uint32_t symbol_count, symbol_capacity;
    uint32_t operand_count, operand_capacity;
    uint32_t instruction_count, instruction_capacity;
    uint32_t directive_count, directive_capacity;
    uint32_t function_count, function_capacity;
    uint32_t control_count, control_capacity;
    uint32_t entry_count, entry_capacity;

    const char *target; /* "sm_90a" */
    int32_t version;    /* 10 * major + minor */
    int32_t capability; /* 90; 0 where the target is no sm_NN */
    bool independent;   /* .target has texmode_independent: samplers stand apart from textures */
    uint32_t address_bits;
    uint32_t mended; /* diagnostics of a lost ';', behind which the statement is whole */
} gd_ptx_module;

/* All zero is an empty module. Takes half-built ones. */
void gd_ptx_module_free(gd_ptx_module *module);

/* A token's or a name's text, without a closing zero. */
const char *gd_ptx_token_text(const gd_ptx_module *module, uint32_t token, uint32_t *length);
const char *gd_ptx_name_text(const gd_ptx_module *module, uint32_t name, uint32_t *length);

/* Line and column of a token, from 1. */
void gd_ptx_token_position(const gd_ptx_module *module, uint32_t token, int32_t *line,
                           int32_t *column);

/* Whether a token is exactly this text. */
bool gd_ptx_token_is(const gd_ptx_module *module, uint32_t token, const char *text);

/* The operand that names the callee of a call, GD_PTX_NONE when there is none; the function (index)
 * that is called, aliases resolved, GD_PTX_NONE when it is not called by the name of a function of
 * this module. */
uint32_t gd_ptx_call_operand(const gd_ptx_module *module, const gd_ptx_instruction *call);
uint32_t gd_ptx_call_function(const gd_ptx_module *module, const gd_ptx_instruction *call);

/* Where a call may lead: to the function that it names; of a call through a register, to each
 * function of its .calltargets. Each may be one that has no body here. A call through a register
 * without such a list may lead to any function at all, also of other modules (the address may come
 * from memory): to one that is not known. */
typedef struct gd_call_targets {
    const gd_ptx_module *module;
    uint32_t named;                /* the callee, or GD_PTX_NONE; used where there is no list */
    uint32_t operand, operand_end; /* of the list that are still to come */
    bool listed, over;
} gd_call_targets;

gd_call_targets gd_ptx_call_targets(const gd_ptx_module *module, const gd_ptx_instruction *call);

/* The next one: *function has a body, or is GD_PTX_NONE for code that cannot be looked into. false:
 * there are no more; each call has at least one. */
bool gd_call_targets_next(gd_call_targets *targets, uint32_t *function);

/* The .calltargets of a call through a register, NULL where it has none; whether a call says that
 * it never returns: the function that it names does, or its prototype. */
const gd_ptx_directive *gd_ptx_call_list(const gd_ptx_module *module,
                                         const gd_ptx_instruction *call);
bool gd_ptx_call_never_returns(const gd_ptx_module *module, const gd_ptx_instruction *call);

/* Whether a call names a function of the device runtime whose behaviour is known though it has no
 * body: printf, the allocator, the assertion. None touches the program's memory, and none leaves
 * the kernel but by an error, which the assertion alone has: another one that is declared .noreturn
 * is not that function. */
bool gd_ptx_is_system_call(const gd_ptx_module *module, const gd_ptx_instruction *call);

/* The directive (.branchtargets, .calltargets or .callprototype) that an operand names; NULL when
 * it names none. */
const gd_ptx_directive *gd_ptx_operand_directive(const gd_ptx_module *module, uint32_t operand);

#endif

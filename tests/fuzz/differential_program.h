/* Random PTX programs for the comparison of two drivers. A program is an entry that reads inputs of
 * each thread, computes, and stores its results as raw bits, eight bytes a thread and slot.
 * Everything follows from a seed. */
#ifndef GD_DIFFERENTIAL_PROGRAM_H
#define GD_DIFFERENTIAL_PROGRAM_H

#include "base/text.h"

enum {
    DIFF_INPUTS = 21, /* words of 8 bytes that each thread reads */
    DIFF_MOST_THREADS = 128,
    DIFF_SCRATCH = 16,    /* bytes of global memory of each thread's own */
    DIFF_UNWRITTEN = 0xa5 /* what every byte of the results is before the program runs */
};

#define DIFF_NONE UINT32_MAX

/* How results are compared: bit for bit, or as the ISA bounds them. */
typedef enum diff_tolerance {
    DIFF_EXACT,
    DIFF_LAST, /* exact, but nothing reads it */
    DIFF_NAN, /* exact, but one NaN is as good as another: which operand's it is, or whether it is
                 made canonical, is up to ptxas */
    DIFF_RCP,
    DIFF_DIV,
    DIFF_SQRT,
    DIFF_RSQRT,
    DIFF_SIN,
    DIFF_LG2,
    DIFF_EX2,
    DIFF_TANH,
    DIFF_EX2_F16,
    DIFF_EX2_F16X2,
    DIFF_EX2_BF16,
    DIFF_EX2_BF16X2,
    DIFF_TANH_F16,
    DIFF_TANH_F16X2,
    DIFF_TANH_BF16,
    DIFF_TANH_BF16X2,
    DIFF_RCP_F64,
    DIFF_RSQRT_F64,
    DIFF_MMA_F32,
    DIFF_MMA_F16X2
} diff_tolerance;

/* A register: where its value is known from. */
typedef struct diff_value {
    char hint;       /* the letter of its content: h k b, w f x y, d e, p */
    uint32_t number; /* in its name */
    uint32_t slot;   /* of the results; DIFF_NONE */
    uint32_t input;  /* of the thread; DIFF_NONE */
} diff_value;

/* A statement with one or more results: its text is [text, end) of the program's body. */
typedef struct diff_statement {
    size_t text, end;
    uint32_t uses[16], slots[16], use_count; /* values, and where each was stored then */
    bool loops;   /* executed more than once: the values in memory are the last ones */
    bool crosses; /* reads what other threads have */
} diff_statement;

typedef struct diff_slot {
    uint32_t statement;
    uint32_t value;
    char hint;
    diff_tolerance tolerance;
} diff_slot;

/* STRAIGHT has no branches, barriers or warp operations. SPLIT executes a straight program's text
 * in two copies, one for lanes of odd value of an input and one for the others: its results must be
 * those of the straight one. */
typedef enum diff_variant { DIFF_ANY, DIFF_STRAIGHT, DIFF_SPLIT, DIFF_CARRIES } diff_variant;

typedef struct diff_program {
    uint64_t seed, random;
    diff_variant variant;
    uint32_t threads;
    gd_text functions, body;
    bool in_function;
    diff_value *values;
    uint32_t value_count, value_capacity;
    uint32_t *visible; /* values that may be read here */
    uint32_t visible_count, visible_capacity;
    diff_statement *statements;
    uint32_t statement_count, statement_capacity;
    diff_slot *slots;
    uint32_t slot_count, slot_capacity;
    uint32_t registers[6]; /* b16, b32, b64, pred, f32, f64 */
    uint32_t labels, calls;
    uint32_t mask; /* value of the lanes that are here; DIFF_NONE: all, unless `mask_unknown` */
    bool mask_unknown, looping, sparse, strict; /* strict: operands of the right kind only */
    uint32_t depth;
    bool failed; /* no memory */
} diff_program;

/* The program of a seed; false when there is no memory. */
bool diff_program_make(diff_program *program, uint64_t seed, diff_variant variant);
/* One instruction of every alternative of every form, each of them a program; false behind the last
 * one. */
bool diff_program_form(diff_program *program, uint32_t index, uint64_t seed);
void diff_program_free(diff_program *program);

/* The head of a module, then each of its programs under the name p<index>. */
void diff_program_head(gd_text *text);
void diff_program_print(const diff_program *program, uint32_t index, gd_text *text);

/* Fills DIFF_INPUTS words for each thread. */
void diff_program_inputs(const diff_program *program, uint64_t *inputs);

typedef struct diff_name {
    char text[24];
} diff_name;

/* The register of a value. */
diff_name diff_program_name(const diff_program *program, uint32_t value);

/* 8, 4, 2 bytes by a letter; a predicate is stored in 4. */
uint32_t diff_hint_bytes(char hint);

/* "mul.rn.ftz.f32": the instruction of a statement without its operands. */
void diff_program_opcode(const diff_program *program, uint32_t statement, char *into,
                         size_t capacity);

#endif

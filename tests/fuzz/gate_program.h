/* Random kernels for tests/fuzz/gate.c: how they are made, printed as PTX, and executed by a model
 * that knows their lines alone. */
#ifndef GATE_PROGRAM_H
#define GATE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum { GATE_FUNCTIONS = 5, GATE_LINES = 17, GATE_PREDICATES = 4, GATE_TARGETS = 2, GATE_TAPE = 64 };

/* What a line of a program does, besides what its guard says. */
typedef enum gate_kind {
    GATE_WORK,
    GATE_DECIDE,  /* the predicate is the next bit of the thread's tape */
    GATE_INVERT,  /* the predicate is the opposite of another */
    GATE_THREAD,  /* the predicate holds in thread 0 */
    GATE_BARRIER, /* of the CTA */
    GATE_WAIT,
    GATE_TRIGGER,
    GATE_BRANCH,
    GATE_BRANCH_INDEXED, /* brx.idx; a predicate chooses the target, here and below */
    GATE_CALL,
    GATE_CALL_LISTED, /* through a register, with .calltargets */
    GATE_CALL_ANY,    /* through a register, with .callprototype */
    GATE_RETURN,
    GATE_EXIT,
    GATE_TRAP,
    GATE_KINDS
} gate_kind;

typedef struct gate_line {
    gate_kind kind;
    int32_t guard; /* predicate; -1: none */
    bool negated;
    uint32_t predicate, other;      /* that it sets or chooses by; that it inverts */
    uint32_t targets[GATE_TARGETS]; /* lines (the number of lines: the end), or functions */
    int32_t position;               /* in the text, from 1 */
} gate_line;

typedef struct gate_function {
    gate_line lines[GATE_LINES];
    uint32_t count;
    bool noreturn;
} gate_function;

typedef struct gate_program {
    uint64_t seed;
    gate_function functions[GATE_FUNCTIONS]; /* the first is the entry */
    uint32_t count;
    uint32_t threads;
} gate_program;

void gate_make(gate_program *program, uint64_t seed);

/* Appends the entry "k<number>" and its functions; *line is the text's current one. Notes the
 * lines' positions. */
void gate_print(gate_program *program, uint32_t number, gd_text *text, int32_t *line);

/* The lines that a line branches to, GATE_TARGETS at most. */
uint32_t gate_targets(const gate_line *line, uint32_t *targets);
bool gate_goes_on(
    const gate_line *line); /* the line behind it is among them, leaving calls aside */

typedef enum gate_outcome {
    GATE_WAITED,
    GATE_DRY,  /* left without a wait */
    GATE_FAILS /* traps, or does what has no meaning, or takes too long */
} gate_outcome;

/* What a thread does with a tape; *used is how many bits it has read. */
gate_outcome gate_run(const gate_program *program, uint64_t tape, uint32_t thread, uint32_t *used);

/* The tape of a thread of a launch. */
uint64_t gate_tape(uint64_t tape, uint32_t thread);

/* What the threads of a launch do together: WAITED when one did. */
gate_outcome gate_run_all(const gate_program *program, uint64_t tape, uint32_t threads);

/* Looks through tapes, up to a limit, for one on which a single thread leaves without a wait. */
bool gate_find_dry(const gate_program *program, uint64_t *tape);

uint64_t gate_draw(uint64_t *state);

#endif

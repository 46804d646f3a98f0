/* What the parts of the generator share: chance, registers, statements. */
#ifndef GD_DIFFERENTIAL_MAKE_H
#define GD_DIFFERENTIAL_MAKE_H

#include "differential_program.h"

#define DIFF_PICK(table, random) (table)[(random) % (sizeof(table) / sizeof(table)[0])]

/* ---- chance ---- */

uint32_t diff_below(diff_program *program, uint32_t limit);
bool diff_chance(diff_program *program, uint32_t percent);

/* ---- text and registers ---- */

void diff_say(diff_program *program, const char *format, ...) __attribute__((format(printf, 2, 3)));
uint32_t diff_new_register(diff_program *program, char hint);
uint32_t diff_new_value(diff_program *program, char hint);

/* ---- statements ---- */

/* Begins a statement; then says that it reads what other threads have. */
void diff_begin(diff_program *program);
void diff_crosses(diff_program *program);
/* Chooses an operand of a kind, which the statement reads. */
uint32_t diff_take(diff_program *program, char hint);
/* Makes a value part of what is stored; diff_finish lets later statements read it, too. */
void diff_store(diff_program *program, uint32_t value, diff_tolerance tolerance);
void diff_finish(diff_program *program, uint32_t value);
/* Lets later statements read a copy whose NaN is always the same one. */
void diff_show_canonical(diff_program *program, uint32_t value);
/* The statement reads a value that was chosen before it began. */
void diff_use(diff_program *program, uint32_t value);

typedef struct diff_results {
    uint32_t values[4], count;
} diff_results;

void diff_add_result(diff_program *program, diff_results *into, char hint);
/* As an operand: a vector for letters that begin with <, a pair for P and j. */
void diff_say_results(diff_program *program, const char *letters, const diff_results *made);

/* ---- differential_statement.c ---- */

typedef void diff_make(diff_program *program);

void diff_choose_from(diff_program *program, diff_make *const *list, uint32_t count);
diff_make diff_make_carries, diff_make_mixed_carries, diff_make_memory, diff_make_lanes,
    diff_make_warp, diff_make_together;
/* The last operand of a warp's instruction: the lanes that are here. */
void diff_say_mask(diff_program *program);

#endif

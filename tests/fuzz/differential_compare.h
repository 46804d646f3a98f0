/* Compares what two drivers made of the same programs. */
#ifndef GD_DIFFERENTIAL_COMPARE_H
#define GD_DIFFERENTIAL_COMPARE_H

#include "differential_run.h"

/* Compares two result files of a range and tells on stdout, for each instruction that differs, how
 * often and one example with the values of its operands. Only instructions whose operands were the
 * same are told: what follows from them is not. Returns the number of programs that differ; -1 when
 * the files cannot be read or do not belong together.
 */
int64_t diff_compare(const char *first, const char *second, const diff_range *range);

/* Whether two results of a slot agree. */
bool diff_agree(diff_tolerance tolerance, char hint, uint64_t a, uint64_t b);

#endif

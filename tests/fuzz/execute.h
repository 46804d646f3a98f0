/* What the execution fuzzer's texts are made of. */
#ifndef GD_TESTS_FUZZ_EXECUTE_H
#define GD_TESTS_FUZZ_EXECUTE_H

#include "base/text.h"

/* A program of instructions that read and write memory, wait for one another and fail, with
 * operands drawn anyhow. */
void execute_program(gd_text *text);

#endif

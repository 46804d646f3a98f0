/* What is asked of the suites of bench/suites. */
#ifndef GD_BENCH_SUITES_H
#define GD_BENCH_SUITES_H

#include <stdint.h>

#include "bench/bench.h"

typedef struct suites_request {
    const char *kernel;     /* of an fc-chain; NULL: matvec_bf16 */
    uint64_t rows, columns; /* the only shape of an fc-chain; 0: all */
    const char *decoder;    /* the only one that is asked for; NULL: all */
    uint32_t layers;        /* of a long transformer chain */
} suites_request;

extern const gd_bench_suite suite_launch, suite_rounds, suite_handoff, suite_fc_chain,
    suite_transformer_block;

#endif

#!/bin/sh
# The shelf's kernels against their references, and in chains, on the emulated driver.
set -u
program=${builddir:-.}/tests/kernels/test_kernels

if [ -z "${EMULATED_DRIVER:-}" ] || [ ! -x "$program" ]; then
    echo "skipped: EMULATED_DRIVER names none, or $program is not built"
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
fi
GRIDDEP_DRIVER=$EMULATED_DRIVER exec "$program"

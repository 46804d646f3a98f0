#!/bin/sh
# Asks the questions of tests/gpu/test_questions.c of the emulated driver: what is documented must hold there too.
set -u
program=${builddir:-.}/tests/gpu/test_questions

if [ -z "${EMULATED_DRIVER:-}" ] || [ ! -x "$program" ]; then
    echo "skipped: EMULATED_DRIVER names none, or $program is not built"
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
fi
output=$(GRIDDEP_DRIVER=$EMULATED_DRIVER GRIDDEP_EMULATOR_MULTIPROCESSORS=2 GRIDDEP_LOG=error "$program" 2>&1)
code=$?
answers=$(printf '%s\n' "$output" | grep -c ': ')
if [ "$code" -eq 0 ] && [ "$answers" -gt 80 ]; then
    echo "1 passed, 0 failed, 0 skipped"
    exit 0
fi
printf '%s\n' "$output"
echo "failed: exit status $code, $answers answers"
echo "0 passed, 1 failed, 0 skipped"
exit 1

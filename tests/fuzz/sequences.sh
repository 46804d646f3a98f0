#!/bin/sh
# Random sequences of public calls, by one thread and by several: every public function is called, and
# succeeds. Longer runs are made by hand: tests/fuzz/sequences.c.
set -u
sequences=${builddir:-.}/tests/fuzz/sequences
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/cases.sh"

# all_called: each is called.
all_called() {
    awk '$2 == 0 { print $1 " is never called"; missing++ } END { exit missing || !NR }' "$work/counts"
}

# all_succeed: each that returns a status succeeds, but for those that cannot in these sequences: there
# is no NVRTC to compile with, no store that could remember what was tuned, and one device.
all_succeed() {
    awk '$3 == 0 && $4 > 0 && $1 != "griddep_module_compile" && $1 != "griddep_tune_load" {
             print $1 " never succeeds"
             missing++
         }
         END { exit missing || !NR }' "$work/counts"
}

# With sanitizers, which take three times as long, few enough still call each.
[ "${SANITIZED-}" = 1 ] && alone=2000 together=100 || alone=4500 together=300
run_alone() { "$sequences" --seed 1 --count $alone --counts >"$work/counts"; }

check "one thread" run_alone
check "they call every public function" all_called
check "each succeeds" all_succeed
check "threads" "$sequences" --seed 1 --count $together --threads 4

finish

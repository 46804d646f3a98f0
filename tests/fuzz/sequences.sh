#!/bin/sh
# Random sequences of public calls: every public function is called, by one thread. Longer runs, and runs with several threads,
# are made by hand (tests/fuzz/sequences.c): the program's own handles race there (get_kernel), so that a failure is not yet the library's.
set -u
sequences=${builddir:-.}/tests/fuzz/sequences
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/cases.sh"

# all_listed: the functions are those of libgriddep.map.
all_listed() {
    "$sequences" --list | LC_ALL=C sort >"$work/listed"
    sed -n 's/^ *\(griddep_[a-z0-9_]*\);$/\1/p' "${srcdir:-.}/libgriddep.map" | LC_ALL=C sort | diff - "$work/listed"
}

# all_called: each is called.
all_called() {
    awk '$2 == 0 { print $1 " is never called"; missing++ } END { exit missing || !NR }' "$work/counts"
}

run_alone() { "$sequences" --seed 1 --count 2000 --counts >"$work/counts"; }

check "the sequences know every public function" all_listed
check "one thread" run_alone
check "they call every public function" all_called

finish

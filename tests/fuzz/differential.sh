#!/bin/sh
# Random programs on the emulated driver: no program is refused or fails, the same seed gives the same results, a straight program gives the
# same results when its lanes take two paths, and results are those of a GPU (differential.gpu, measured on one).
#
#   differential.sh [measured]       all, or what was measured on a GPU alone
set -u
differential=${DIFFERENTIAL:-${builddir:-.}/tests/fuzz/differential}
emulator=${EMULATED_DRIVER:?}
measured=${srcdir:-.}/tests/fuzz/differential.gpu
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/cases.sh"

# run OUT OPTION...: programs on the emulated driver.
run() {
    out=$1
    shift
    "$differential" run --driver "$emulator" --out "$work/$out" "$@"
}

# same_digests OUT: those of the measured seeds, of which each ten have one.
same_digests() {
    "$differential" digests "$work/$1" | grep -v "^$left_out " | split -l 10 --filter='sha256sum | cut -c 1-16' - >"$work/found"
    sed -n 's/^programs //p' "$measured" | diff - "$work/found"
}

# same_sum OUT: one sum for the digests of all forms.
same_sum() {
    expected=$(sed -n 's/^forms //p' "$measured")
    found=$("$differential" digests "$work/$1" | sha256sum | cut -d' ' -f1)
    echo "expected $expected, found $found"
    [ -n "$expected" ] && [ "$expected" = "$found" ]
}

count=$(sed -n 's/^program-count //p' "$measured")
left_out=$(sed -n 's/^left-out //p' "$measured")
forms=$(sed -n 's/^form-count //p' "$measured")

check "programs run" run once --from 1 --count "$count"
check "results are those of a GPU" same_digests once
check "every form runs" run forms --forms --from 0 --count "$forms"
check "results of every form are those of a GPU" same_sum forms
[ "${1-}" != measured ] || finish
check "every instruction comes up" "$differential" coverage
check "programs run again, in other modules" run twice --from 1 --count "$count" --batch 7
check "the same seeds give the same results" "$differential" compare "$work/once" "$work/twice"
check "straight programs run" run straight --variant straight --from 1 --count 150
check "straight programs run on two paths" run split --variant split --from 1 --count 150
check "chains of carries run" run carries --variant carries --from 1 --count 100
check "paths change nothing" "$differential" compare --variant straight "$work/straight" "$work/split"

finish

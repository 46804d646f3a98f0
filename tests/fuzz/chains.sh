#!/bin/sh
# Random chains whose kernels make their addresses in many ways: AUTO gives the serial run's results in each order, and launches do begin early
# (chains.c).
set -u
chains=${CHAINS:-${builddir:-.}/tests/fuzz/chains}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/cases.sh"

begins_early() {
    "$chains" "$@" >"$work/out" || { cat "$work/out"; return 1; }
    cat "$work/out"
    # Of some two thousand launches more than a fifth; a gate that holds all back would be right, and of no use.
    awk '{ exit !($5 * 5 > $7) }' "$work/out"
}
check eager begins_early --count 400
for schedule in lazy random:1 random:2; do
    check $schedule env GRIDDEP_EMULATOR_SCHEDULE=$schedule "$chains" --from 1001 --count 200
done
finish

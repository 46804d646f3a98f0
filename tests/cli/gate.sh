#!/bin/sh
# What an earlier launch reaches at addresses that cannot be traced (tests/cli/gate): with AUTO the dependent of a bad_ chain is held back, and the
# check says so, also where it is forced; that of a good_ chain begins early, and the check is silent. All give the serial run's results.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

source_root=${srcdir:-$(dirname "$0")/../..}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$source_root/tests/cases.sh"
unset GRIDDEP_PDL
export GRIDDEP_STORE=off
cp "$source_root"/tests/cli/gate/*.ptx "$work"
awk -v folder="$work" -f "$source_root/tests/cli/gate/chains.awk" "$source_root/tests/cli/gate/chains.txt" || exit 99

gives_serial_results() {
    for schedule in eager lazy random:1; do
        "$GRIDDEP" run "$work/$1.yaml" --emulate --repeat 0 --schedule $schedule >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
        [ "$(grep -c '^[a-z-]* *equal' "$work/out")" -eq 4 ] || { cat "$work/out"; return 1; }
    done
}
# What the check says of the dependent, at auto and forced.
check_of() {
    sed "/name: dependent/s/pdl: [a-z]*/pdl: $2/" "$work/$1.yaml" >"$work/$1_$2.yaml"
    "$GRIDDEP" check "$work/$1_$2.yaml" >"$work/out" 2>&1
    cat "$work/out"
    grep -q '^0 errors, 0 warnings' "$work/out"
}
is_held() {
    for mode in pdl graph-pdl; do
        "$GRIDDEP" explain "$work/$1.yaml" --emulate --no-measure --mode $mode >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
        cat "$work/out"
        grep -q 'started early, it would race' "$work/out" || return 1
    done
    for pdl in auto force; do
        ! check_of "$1" $pdl || return 1
        grep -q '(dependent) of\|in launch [0-9]* (dependent)' "$work/out" || return 1
    done
}
is_early() {
    for mode in pdl graph-pdl; do
        "$GRIDDEP" explain "$work/$1.yaml" --emulate --no-measure --mode $mode --json >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
        cat "$work/out"
        ! grep -q 'would race' "$work/out" || return 1
        grep -q '"text": "overlaps: CTAs of dependent\|"text": "overlaps.*dependent' "$work/out" || return 1
    done
    check_of "$1" auto && check_of "$1" force
}
for file in "$work"/bad_*.yaml; do
    chain=$(basename "$file" .yaml)
    check "$chain: the dependent is held back" is_held "$chain"
    check "$chain: results" gives_serial_results "$chain"
done
for file in "$work"/good_*.yaml; do
    chain=$(basename "$file" .yaml)
    check "$chain: the dependent begins early" is_early "$chain"
    check "$chain: results" gives_serial_results "$chain"
done
# None of the examples loses its overlap.
is_free() {
    "$GRIDDEP" explain "$1" --emulate --no-measure --mode pdl >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    ! grep 'would race' "$work/out"
}
for file in "$source_root"/examples/*.yaml; do
    check "$(basename "$file"): nothing is held back" is_free "$file"
done
finish

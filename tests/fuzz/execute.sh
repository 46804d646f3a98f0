#!/bin/sh
# A fixed share of what the execution fuzzer can do; its head comment tells how to run more.
set -u
execute=${EXECUTE_FUZZER:-${builddir:-.}/tests/fuzz/execute}
top=${srcdir:-.}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$top/tests/cases.sh"

count=500
all_rounds && count=2000

golden_texts "$work"
check "mutated programs crash nothing" "$execute" --count "$count" "$top/tests/emulator/forms.txt" \
    "$work"/*.ptx

finish

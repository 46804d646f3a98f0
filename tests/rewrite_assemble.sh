#!/bin/sh
# Assembles what the rewriter's golden tests put in and what comes out of them, each for the target that its text names.
# Where the input assembles, the output must; and every input must. Exits 77 where there is no ptxas, unless
# GRIDDEP_REQUIRE_PTXAS=1.
set -u

srcdir=${srcdir:-.}
. "$srcdir/tests/cases.sh"

need_ptxas

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# changed FILE: what came out, of NAME.CASE.changes and NAME.ptx (tests/unit/test_rewrite.c), or of
# what came out of another case, NAME.CASE.out.
changed() {
    input=${1%.*.changes}.ptx
    [ -f "$input" ] || input=$work/$(basename "$input" .out.ptx).ptx
    awk 'FNR == NR && /^[0-9]+\+/ { put[$0 + 0] = put[$0 + 0] substr($0, index($0, " ") + 1) "\n" }
         FNR == NR { if (!/^[0-9]+\+/) gone[$0 + 0] = 1; next }
         { printf "%s", put[FNR] }
         !(FNR in gone)
         END { printf "%s", put[FNR + 1] }' "$1" "$input"
}

for file in "$srcdir"/tests/golden/rewrite/*.changes; do
    changed "$file" >"$work/$(basename "$file" .changes).ptx"
done
count=0
failures=0
for file in "$srcdir"/tests/golden/rewrite/*.ptx "$work"/*.ptx; do
    target=$(sed -n 's/^[[:space:]]*\.target[[:space:]]*\(sm_[0-9a-z]*\).*/\1/p' "$file" | head -n 1)
    count=$((count + 1))
    if log=$("$ptxas" -arch="${target:-sm_90}" "$file" -o /dev/null 2>&1); then
        echo "ok   $file for $target"
    else
        echo "FAIL $file for $target"
        echo "$log"
        failures=$((failures + 1))
    fi
done

echo "rewrite_assemble: $count files, $failures failures"
[ "$count" -gt 1 ] && [ "$failures" -eq 0 ]

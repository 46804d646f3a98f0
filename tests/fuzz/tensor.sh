#!/bin/sh
# Tensor copies, warpgroup products and encodings of tensor maps on the emulated driver give what a GPU gave (tensor.gpu: kind, number and
# digest of each case; for encodings, how many and one sum of their results).
set -u
tensor=${TENSOR:-${builddir:-.}/tests/fuzz/tensor}
emulator=${EMULATED_DRIVER:?}
measured=${srcdir:-.}/tests/fuzz/tensor.gpu
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/cases.sh"

# same KIND: the digests of all its cases.
same() {
    count=$(grep -c "^$1 " "$measured")
    [ "$count" -gt 0 ] || return 1
    "$tensor" "$1" --driver "$emulator" --count "$count" >"$work/found" || return 1
    sed -n "s/^$1 //p" "$measured" | diff - "$work/found"
}

# same_sum: one sum for the results of all encodings.
same_sum() {
    count=$(sed -n 's/^encodings \([0-9]*\) .*/\1/p' "$measured")
    expected=$(sed -n 's/^encodings [0-9]* //p' "$measured")
    found=$("$tensor" encode --driver "$emulator" --count "$count" | sha256sum | cut -d' ' -f1)
    echo "expected $expected, found $found"
    [ -n "$expected" ] && [ "$expected" = "$found" ]
}

check "copies are those of a GPU" same copy
check "products are those of a GPU" same product
check "encodings are those of a GPU" same_sum

finish

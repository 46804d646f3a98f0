#!/bin/sh
# Tensor copies, warpgroup products and encodings of tensor maps on the emulated driver give what a
# GPU gave (tensor.gpu: how many of each kind, and a digest of each ten; of encodings, one sum).
set -u
tensor=${TENSOR:-${builddir:-.}/tests/fuzz/tensor}
emulator=${EMULATED_DRIVER:?}
measured=${srcdir:-.}/tests/fuzz/tensor.gpu
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/cases.sh"

# same KIND: the digests of all its cases, of which each ten have one.
same() {
    count=$(sed -n "s/^$1-count //p" "$measured")
    [ "$count" -gt 0 ] || return 1
    "$tensor" "$1" --driver "$emulator" --count "$count" >"$work/cases" || return 1
    split -l 10 --filter='sha256sum | cut -c 1-16' "$work/cases" >"$work/found"
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

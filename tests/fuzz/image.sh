#!/bin/sh
# A fixed share of what the image fuzzer can do; its head comment tells how to run more.
set -u
image=${IMAGE_FUZZER:-${builddir:-.}/tests/fuzz/image}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/cases.sh"

check "crafted images are read within their bounds" "$image" --count 20000 \
    "${srcdir:-.}"/tests/golden/image/*.fatbin

finish

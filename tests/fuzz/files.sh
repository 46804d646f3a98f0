#!/bin/sh
# A fixed share of what the fuzzer of chain files and of the store's entries can do; its head comment tells how to run more.
set -u
files=${builddir:-.}/tests/fuzz/files
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/cases.sh"

count=4000
all_rounds && count=40000

cli=${srcdir:-.}/tests/cli
awk -v folder="$work" -f "$cli/bad.awk" "$cli/bad.txt" || exit 99
check "mutated chain files and entries are read or refused" "$files" --count "$count" "${srcdir:-.}"/examples/*.yaml "$cli"/bad_*.yaml "$work"/bad_*.yaml

finish

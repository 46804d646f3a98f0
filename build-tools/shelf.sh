#!/bin/sh
# Makes shelf.inc: the files named (relative to the working directory, which is ptx/) as byte arrays, and a table of them ordered
# by family, name, and capability from high to low. Run by make.
set -eu

capability() { sed -n 's/^[[:space:]]*\.target[[:space:]]*sm_\([0-9]*\).*/\1/p' "$1" | head -n 1; }

list=$(for file in "$@"; do
    family=${file%%/*}
    base=${file##*/}
    printf '%s %s %s %s\n' "$family" "${base%%.*}" "$(capability "$file")" "$file"
done | LC_ALL=C sort -k1,1 -k2,2 -k3,3nr)

number=0
echo "$list" | while read -r family name capability file; do
    echo "static const char shelf_text_$number[] = {"
    od -v -An -tx1 "$file" | sed 's/ \(..\)/0x\1,/g'
    echo "0};"
    number=$((number + 1))
done
echo "static const shelf_entry entries[] = {"
number=0
echo "$list" | while read -r family name capability file; do
    echo "    {\"$name\", \"$family\", \"$file\", $capability, shelf_text_$number, sizeof shelf_text_$number - 1},"
    number=$((number + 1))
done
echo "};"

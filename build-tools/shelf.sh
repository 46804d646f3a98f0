#!/bin/sh
# shelf.sh SOURCE FILE...: makes shelf.inc, which has the files named as strings, and a table of them ordered by family, name, and
# capability from high to low; of the same capability the text for that chip alone comes first. A file is ptx/FAMILY/NAME in the folder SOURCE or, where it is made, in the working one. Run by make.
set -eu

source=$1
shift

path() { if [ -e "$1" ]; then echo "$1"; else echo "$source/$1"; fi; }

capability() { sed -n 's/^[[:space:]]*\.target[[:space:]]*sm_\([0-9]*\).*/\1/p' "$(path "$1")" | head -n 1; }

# sm_90a is code for that capability alone.
exact() { grep -q '^[[:space:]]*\.target[[:space:]]*sm_[0-9]*a' "$(path "ptx/$1")" && echo true || echo false; }

list=$(for file in "$@"; do
    below=${file#ptx/}
    base=${file##*/}
    printf '%s %s %s %s %s\n' "${below%%/*}" "${base%%.*}" "$(capability "$file")" "$(exact "$below")" "$below"
done | LC_ALL=C sort -k1,1 -k2,2 -k3,3nr -k4,4r)

echo '#pragma GCC diagnostic push'
echo '#pragma GCC diagnostic ignored "-Woverlength-strings"'
number=0
echo "$list" | while read -r family name capability exact file; do
    echo "static const char shelf_text_$number[] ="
    sed 's/[\\"?]/\\&/g; s/.*/"&\\n"/' "$(path "ptx/$file")"
    echo ";"
    number=$((number + 1))
done
echo '#pragma GCC diagnostic pop'
echo "static const shelf_entry entries[] = {"
number=0
echo "$list" | while read -r family name capability exact file; do
    echo "    {\"$name\", \"$family\", \"$file\", $capability, $exact, shelf_text_$number, sizeof shelf_text_$number - 1},"
    number=$((number + 1))
done
echo "};"

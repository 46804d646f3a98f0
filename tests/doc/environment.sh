#!/bin/sh
# Compares the table of environment variables that the sources read (src/base/environment.def) with doc/environment.md and with what the
# sources ask for, both ways.
set -u

srcdir=${srcdir:-.}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/cases.sh"
LC_ALL=C
export LC_ALL

table=$srcdir/src/base/environment.def
sed -n 's/^GD_VARIABLE(\(GRIDDEP_[A-Z_]*\), .*/\1/p' "$table" | sort >"$work/table"
grep -o '^| `GRIDDEP_[A-Z_]*`' "$srcdir/doc/environment.md" | tr -d '|` ' | sort >"$work/documented"
grep -r -h -o 'gd_environment("GRIDDEP_[A-Z_]*")\|read_number("GRIDDEP_[A-Z_]*"' "$srcdir/src" | grep -o 'GRIDDEP_[A-Z_]*' | sort -u >"$work/read"

check "there are variables" test -s "$work/table"
check "each has a row in doc/environment.md" diff "$work/table" "$work/documented"
check "each is read, and nothing else" diff "$work/table" "$work/read"

# words NAME: those of its values that are to be taken as they are.
words() { sed -n "s/^GD_VARIABLE($1, \"\(.*\)\")/\1/p" "$table" | tr -c 'a-z:A-Z\n' ' '; }
has_words() {
    for word in $(words "$1"); do
        case $word in
        auto | nvidia | emulated | on | off | error | warning | info | debug | all | race | shared | initialized | leak | contract | observed | eager | lazy | random:SEED) ;;
        *) continue ;;
        esac
        grep "^| \`$1\`" "$srcdir/doc/environment.md" | grep -q "\`$word\`" || { echo "$1: the row lacks $word"; return 1; }
    done
}
while read -r name; do
    check "the values of $name" has_words "$name"
done <"$work/table"
finish

#!/bin/sh
# Compares the library's ABI with what tests/package/abi-0.1 keeps of it: symbols with their versions, sizes of structs, places of fields, values of
# constants. What stands there must stay; structs may grow at their end, and new lines may come. After a change that adds: tests/package/abi.sh --write.
# Where abidiff is installed and GRIDDEP_ABI_BASELINE names the last release's libgriddep.so, abidiff compares too (abi.suppr: structs may grow).
#
# CC, NM; srcdir: the top of the source tree; builddir: that of the build; SANITIZED=1: built with sanitizers.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
build=${builddir:-.}
table=$top/tests/package/abi-0.1
LC_ALL=C
export LC_ALL
passed=0 failed=0 skipped=0

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

flags=
[ "${SANITIZED-}" != 1 ] || flags=$(sed -n 's/^SANITIZER_CFLAGS = *//p' "$build/Makefile")
awk -f "$here/abi.awk" "$top/include/griddep.h" >"$work/abi.c"
# shellcheck disable=SC2086 # lists of words
if ! ${CC:-cc} $flags -std=gnu11 -I"$top/include" -o "$work/abi" "$work/abi.c" -L"$build/.libs" -lgriddep ||
    ! LD_LIBRARY_PATH=$build/.libs "$work/abi" | grep -v '^constant GRIDDEP_VERSION_' >"$work/now"; then
    echo "failed: the program that prints the ABI"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
# shellcheck disable=SC2086
${NM:-nm} -D --defined-only "$build/.libs/libgriddep.so" | awk '$2 == "T" && $3 !~ /GRIDDEP_PRIVATE/ { print "symbol " $3 }' >>"$work/now"
sort -o "$work/now" "$work/now"
if [ "${1:-}" = --write ]; then
    cp "$work/now" "$table"
    exit
fi
# compare TABLE: what became of each line of it; prints what broke.
compare() {
    awk '
        { key = $1 " " $2; rest = $3 " " $4 }
        FNR == NR { now[key] = rest; next }
        !(key in now) { print key " is gone"; next }
        $1 == "struct" && now[key] + 0 >= $3 + 0 { next }
        now[key] != rest { print key " was " rest ", is " now[key] }' "$work/now" "$1"
}

compare "$table" >"$work/broken"
lines=$(wc -l <"$table")
if [ "$lines" -gt 300 ] && [ ! -s "$work/broken" ]; then
    passed=$lines
else
    failed=1
    echo "failed: the ABI is not what $table keeps"
    head -n 30 "$work/broken"
fi

# The comparison must see what breaks.
for change in 's/^\(field griddep_error.line\) .*/\1 99 4/' 's/^\(constant GRIDDEP_PDL_OFF\) .*/\1 9/' 's/^\(struct griddep_error\) .*/\1 99999/' \
    's/^symbol griddep_launch@@.*/symbol griddep_launched@@GRIDDEP_0.1/'; do
    sed "$change" "$table" >"$work/changed"
    if [ "$(compare "$work/changed" | wc -l)" -eq 1 ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: the comparison does not see $change"
    fi
done

library_in() { if [ -d "$1" ]; then echo "$1/library.so"; else echo "$1"; fi; }

# differs OLD NEW: as abidiff sees two libraries, or two folders of a library and its header.
differs() {
    old=$top/include new=$top/include
    [ ! -d "$1" ] || old=$1
    [ ! -d "$2" ] || new=$2
    ! abidiff --suppressions "$here/abi.suppr" --headers-dir1 "$old" --headers-dir2 "$new" --drop-private-types --no-added-syms \
        "$(library_in "$1")" "$(library_in "$2")" \
        >"$work/abidiff" 2>&1
}

# A library of one struct and one function, which takes it.
tiny() {
    mkdir "$work/$1"
    printf '#include <stdint.h>\ntypedef struct griddep_tiny { uint32_t size; %s } griddep_tiny;\nuint32_t griddep_take(const griddep_tiny *tiny);\n' "$2" >"$work/$1/tiny.h"
    printf '#include "tiny.h"\nuint32_t griddep_take(const griddep_tiny *tiny) { return tiny->size; }\n' >"$work/$1/tiny.c"
    ${CC:-cc} -g -shared -fPIC -o "$work/$1/library.so" "$work/$1/tiny.c"
}

# expect NAME COMMAND...
expect() {
    name=$1
    shift
    if "$@"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: abidiff: $name"
        head -n 40 "$work/abidiff"
    fi
}
same() { ! differs "$@"; }

if ! command -v abidiff >/dev/null; then
    skipped=1
    echo "skipped: abidiff is not installed"
elif [ "${SANITIZED-}" = 1 ]; then
    skipped=1
    echo "skipped: abidiff is for libraries without sanitizers"
else
    tiny kept "uint32_t flags; uint64_t bytes;"
    tiny grown "uint32_t flags; uint64_t bytes; uint64_t more;"
    tiny moved "uint32_t flags; uint64_t more; uint64_t bytes;"
    tiny narrow "uint32_t flags; uint32_t bytes;"
    expect "a struct may grow at its end" same "$work/kept" "$work/grown"
    expect "no field may come before another" differs "$work/kept" "$work/moved"
    expect "fields may not change" differs "$work/kept" "$work/narrow"
    expect "the library agrees with itself" same "$build/.libs/libgriddep.so.0.0.0" "$build/.libs/libgriddep.so.0.0.0"
    expect "another library is seen" differs "$build/.libs/libgriddep.so.0.0.0" "$work/kept"
    if [ -n "${GRIDDEP_ABI_BASELINE-}" ]; then
        expect "the last release" same "$GRIDDEP_ABI_BASELINE" "$build/.libs/libgriddep.so.0.0.0"
    else
        skipped=1
        echo "skipped: abidiff with a release: GRIDDEP_ABI_BASELINE names none"
    fi
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

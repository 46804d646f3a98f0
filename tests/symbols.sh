#!/bin/sh
# Compares three lists of names: the functions that include/griddep.h and src/run/private.h with
# what it includes declare, the symbols and versions of libgriddep.map, and what the built
# libgriddep.so exports. Checks too what that library needs to be loaded. builddir is the build's
# root, NM the lister of symbols.
set -u

source_root=${srcdir:-$(dirname "$0")/..}
library=${builddir:-build}/.libs/libgriddep.so
passed=0
failed=0
skipped=0
LC_ALL=C
export LC_ALL

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

pass() { passed=$((passed + 1)); }

fail() {
    failed=$((failed + 1))
    echo "failed: $1"
}

# Names that stand before a parenthesis in declarations, comments and inline functions left out.
declared() {
    {
        sed -n '/ffi\.cdef begin/,/ffi\.cdef end/p' "$source_root/include/griddep.h"
        cat "$source_root/src/run/private.h" "$source_root/src/ptx/flow/early.h" \
            "$source_root/src/ptx/rewrite/keep.h" "$source_root/src/ptx/text/offered.h"
    } | tr '\n' ' ' | sed 's|/\*|\n&|g; s|\*/|&\n|g' | sed 's|^/\*.*\*/$||' |
        sed -E 's/static inline [a-z0-9_]+ [a-z0-9_]+ *\(/(/g' |
        grep -o -E '\b(griddep|gd)_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u
}

# name@@version for each symbol of each section.
mapped() {
    awk '
        { sub(/#.*/, "") }
        /^[A-Z0-9_.]+ *\{/ { version = $1; global = 0; next }
        /^ *global:/ { global = 1; next }
        /^ *local:/ || /^\}/ { global = 0; next }
        global && /;/ { gsub(/[ \t;]/, ""); print $0 "@@" version }' "$source_root/libgriddep.map" | sort
}

# The same for the built library; its versions themselves are absolute symbols.
exported() {
    # shellcheck disable=SC2086 # NM may carry options
    ${NM:-nm} -D --defined-only "$library" | awk '$(NF - 1) != "A" { print $NF }' | sort
}

# same TITLE FIRST SECOND NAME-OF-FIRST NAME-OF-SECOND: one case; tells what only one of the two has.
same() {
    if cmp -s "$work/$2" "$work/$3"; then
        pass
        return
    fi
    fail "$1"
    comm -23 "$work/$2" "$work/$3" | sed "s/^/    only in $4: /"
    comm -13 "$work/$2" "$work/$3" | sed "s/^/    only in $5: /"
}

if [ ! -f "$library" ]; then
    echo "failed: $library is not built"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi

declared >"$work/declared"
mapped >"$work/mapped"
exported >"$work/exported"
sed 's/@@.*//' "$work/mapped" >"$work/mapped-names"

if [ "$(wc -l <"$work/declared")" -gt 0 ] && [ "$(uniq -d "$work/mapped-names" | wc -l)" -eq 0 ]; then
    pass
else
    fail "the header declares nothing, or the map has a name twice"
fi
same "header and map" declared mapped-names griddep.h libgriddep.map
same "map and library" mapped exported libgriddep.map libgriddep.so

# Exported data would become part of the ABI with its size.
# shellcheck disable=SC2086
data=$(${NM:-nm} -D --defined-only "$library" | awk '$(NF - 1) !~ /^[TA]$/ { print "    " $0 }')
if [ -z "$data" ]; then
    pass
else
    fail "something besides functions is exported"
    echo "$data"
fi

readelf -d -W "$library" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' >"$work/needed"
others=$(grep -v -x -E 'lib(c|dl|pthread)\.so\.[0-9]+|ld-linux.*' "$work/needed")
if [ -s "$work/needed" ] && [ -z "$others" ]; then
    pass
else
    fail "libgriddep.so needs more than libc: $(echo "$others" | tr '\n' ' ')"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

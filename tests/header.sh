#!/bin/sh
# Checks the form of include/griddep.h: compiles alone as C11 and as C++17, and is plain enough between the ffi.cdef
# markers for a parser that knows no preprocessor. CC and CXX name the compilers.
set -u

source_root=${srcdir:-$(dirname "$0")/..}
header=$source_root/include/griddep.h
warnings="-Wall -Wextra -Wpedantic -Werror"

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/cases.sh
. "$source_root/tests/cases.sh"

# compile COMPILER FLAGS FILE
compile() {
    # shellcheck disable=SC2086 # compiler and flags are lists of words
    $1 $2 $warnings -I"$source_root/include" -c "$3" -o "$work/out.o"
}

# Comments become nothing; lines keep their numbers.
strip_comments() {
    awk '{
        out = ""
        line = $0
        while (line != "") {
            if (inside) {
                at = index(line, "*/")
                line = at ? substr(line, at + 2) : ""
                inside = !at
            } else {
                at = index(line, "/*")
                out = out (at ? substr(line, 1, at - 1) " " : line)
                line = at ? substr(line, at + 2) : ""
                inside = at > 0
            }
        }
        print out
    }' "$1"
}

# lacks PATTERN: no line of the declarations matches; matching lines are printed.
lacks() {
    ! grep -n -E -e "$1" "$work/declarations"
}

markers_in_order() {
    [ "$(grep -o -E '/\* ffi\.cdef (begin|end) \*/' "$header")" = "/* ffi.cdef begin */
/* ffi.cdef end */" ]
}

# Nothing but the guard, <stdint.h> and extern "C" stands outside the markers.
outside_is_plain() {
    sed '/ffi\.cdef begin/,/ffi\.cdef end/d' "$header" >"$work/outside.h"
    strip_comments "$work/outside.h" | grep -v '^ *$' >"$work/outside"
    cat "$work/outside"
    [ "$(cat "$work/outside")" = '#ifndef GRIDDEP_H
#define GRIDDEP_H
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
#ifdef __cplusplus
}
#endif
#endif' ]
}

luajit_takes() { "${LUAJIT:-luajit}" -e 'require("ffi").cdef(io.read("*a"))' <"$work/marked.h"; }

# Every struct begins with its size, but for elements of arrays and what the driver lays out, whose size must not vary.
structs_begin_with_size() {
    awk '
        /^typedef struct griddep_[a-z_]+ \{/ { name = $3; next }
        name != "" {
            if ($1 " " $2 != "uint32_t size;" && name !~ /(argument|attribute|header|link_input|tensor_map)$/) {
                print name " begins with " $0
                bad = 1
            }
            name = ""
            seen++
        }
        END { exit bad || seen < 5 }' "$work/declarations"
}

printf '#include "griddep.h"\n' >"$work/once.c"
printf '#include "griddep.h"\n#include "griddep.h"\nint unused_value;\n' >"$work/twice.c"
cp "$work/once.c" "$work/once.cc"
cp "$work/twice.c" "$work/twice.cc"
sed -n '/ffi\.cdef begin/,/ffi\.cdef end/p' "$header" >"$work/marked.h"
strip_comments "$work/marked.h" >"$work/declarations"
printf '#include <stdint.h>\n' | cat - "$work/marked.h" >"$work/marked.c"

for file in once twice; do
    check "$file, C11" compile "${CC:-cc}" -std=c11 "$work/$file.c"
    check "$file, C++17" compile "${CXX:-c++}" -std=c++17 "$work/$file.cc"
done
printf '#include "griddep_values.h"\n#include "griddep_values.h"\nint unused_value;\n' >"$work/values.c"
check "griddep_values.h, C11" compile "${CC:-cc}" -std=c11 "$work/values.c"
check "the marked text alone, C11" compile "${CC:-cc}" -std=c11 "$work/marked.c"
if command -v "${LUAJIT:-luajit}" >/dev/null; then
    check "LuaJIT takes the marked text" luajit_takes
fi
check "the markers stand once, in order" markers_in_order
check "only the guard stands outside the markers" outside_is_plain
check "no preprocessor line between the markers" lacks '^[[:space:]]*#'
check "no line comment" lacks '//'
check "no bit-field" lacks '[A-Za-z0-9_][[:space:]]*:[[:space:]]*[0-9A-Za-z_]'
check "no bool" lacks '\b(bool|_Bool)\b'
check "no inline or static function" lacks '\b(inline|static|__inline__)\b'
check "no variable arguments" lacks '\.\.\.'
check "no exported data" lacks '\bextern\b'
check "no type whose size differs between platforms" lacks '\b(int|short|long|unsigned|size_t|float|_Complex|enum [a-z_]+)\b'
structs=$(sed -n 's/^typedef struct \(griddep_[a-z_]*\).*/\1/p' "$work/declarations" | sort -u | paste -s -d '|' -)
check "no struct passed or returned by value" lacks \
    "^(struct )?($structs) griddep_[a-z_]+\(|([(,]|^ ) *(const )?(struct )?($structs) [a-z_]+[,)]"
check "structs begin with their size" structs_begin_with_size

finish

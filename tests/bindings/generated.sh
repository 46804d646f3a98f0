#!/bin/sh
# Checks that the bindings declare what include/griddep.h does: the generated parts are as build-tools/bindings.py makes them, and the
# layout that it computes is the compiler's. PYTHON3 names the interpreter, CC the compiler.
set -u

source_root=${srcdir:-$(dirname "$0")/../..}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/cases.sh
. "$source_root/tests/cases.sh"

python=${PYTHON3:-python3}
command -v "$python" >/dev/null || {
    echo "there is no python3"
    exit 77
}
generate() { "$python" -B "$work/tree/build-tools/bindings.py" "$@"; }

compiler_agrees() {
    generate --layout >"$work/layout.c" || return 1
    # shellcheck disable=SC2086 # CC may carry options
    ${CC:-cc} -I"$source_root/include" -o "$work/layout" "$work/layout.c" && "$work/layout"
}

# A header with one more field, constant or function is noticed in each file.
notices() {
    sed "$1" "$source_root/include/griddep.h" >"$work/tree/include/griddep.h"
    generate --check >"$work/differs"
    [ "$?" -eq 1 ] && [ "$(grep -c '^bindings/' "$work/differs")" -eq "$(find "$work/tree/bindings" -name "[gG]riddep.*" ! -name "*.hpp" | wc -l)" ]
}

mkdir -p "$work/tree/build-tools" "$work/tree/include" || exit 99
cp "$source_root/build-tools/bindings.py" "$work/tree/build-tools/"
cp "$source_root/include/griddep.h" "$work/tree/include/"
cp -R "$source_root/bindings" "$work/tree/"
chmod -R u+w "$work/tree" # a distribution that is being checked is read-only
check "the bindings are as griddep.h is" generate --check
check "sizes and offsets are the compiler's" compiler_agrees
check "a new constant is noticed" notices 's/^    GRIDDEP_OK = 0,/&\n    GRIDDEP_NEW = 7,/'
check "a new field is noticed" notices 's/^    int32_t driver_code;/    int32_t other;\n&/'
check "a new function is noticed" notices 's/^int32_t griddep_version(void);/&\nint32_t griddep_new(void);/'
left_out() { "$python" -B "$source_root/tests/bindings/left_out.py" "$1"; }
check "functions that a binding's objects leave out are listed" left_out "$source_root"
# A function that a binding calls no more, and a new one, are noticed.
lacks() {
    cp -R "$source_root/bindings" "$work/tree/" && mkdir -p "$work/tree/tests/bindings" &&
        cp "$source_root/tests/bindings/left_out.txt" "$work/tree/tests/bindings/" || return
    chmod -R u+w "$work/tree"
    sed "$1" "$source_root/include/griddep.h" >"$work/tree/include/griddep.h"
    sed "$2" "$source_root/bindings/node/griddep.js" >"$work/tree/bindings/node/griddep.js"
    ! left_out "$work/tree"
}
check "a new function is not listed" lacks \
    's/^int32_t griddep_version(void);/&\nint32_t griddep_new(void);/' ''
check "a function that is called no more is not listed" lacks '' "s/'module_load_file', this/this/"
finish

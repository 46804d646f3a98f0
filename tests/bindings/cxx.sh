#!/bin/sh
# The C++ binding: its example and its test. CXX names the compiler.
set -u
# shellcheck source=tests/bindings/setup.sh
. "$(dirname "$0")/setup.sh"

command -v "${CXX%% *}" >/dev/null || skip "there is no C++ compiler"
sanitizer_flags=
[ "${SANITIZED-}" != 1 ] || sanitizer_flags=$(sed -n 's/^SANITIZER_CFLAGS = *//p' "$build_root/Makefile")

compile() {
    # shellcheck disable=SC2086 # compiler and flags are lists of words
    $CXX -std=c++17 $sanitizer_flags -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -I"$source_root/include" \
        -I"$bindings/cxx" -o "$2" "$1" -L"$build_root/.libs" -lgriddep -pthread
}

if ! compile "$bindings/cxx/example.cc" "$work/example" || ! compile "$tests/test_cxx.cc" "$work/test"; then
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
# The programs carry the sanitizers themselves.
preload=
linked=1
export LD_LIBRARY_PATH="$build_root/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
example_then_test "$work/example" -- "$work/test"

# Sourced by the tests that load the library into another language's process: sets `library`, `fake_driver` and `header`,
# and `preload`, which holds what `env` has to set first. A library with sanitizers needs their runtime there before
# anything else; where it cannot be had, the test is skipped. What the interpreter itself never frees is no leak of ours.

# shellcheck shell=sh disable=SC2034 # the variables are for the sourcing script
source_root=${srcdir:-$(dirname "$0")/../..}
build_root=${builddir:-$source_root/build}
library=$build_root/.libs/libgriddep.so
fake_driver=${FAKE_DRIVER:-$build_root/.libs/libfake-cuda.so}
header=$source_root/include/griddep.h
preload=

skip() {
    echo "$1"
    exit 77
}

if [ "${SANITIZED-}" = 1 ]; then
    reason="the sanitizer runtime cannot be loaded into another language's process"
    ${NM:-nm} -D "$library" | grep -q ' __asan_init' || skip "$reason"
    for name in "libclang_rt.asan-$(uname -m).so" libclang_rt.asan.so libasan.so; do
        # shellcheck disable=SC2086 # CC may carry options
        runtime=$(${CC:-cc} -print-file-name="$name")
        [ ! -f "$runtime" ] || break
    done
    [ -f "$runtime" ] || skip "$reason"
    preload="LD_PRELOAD=$runtime ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
fi

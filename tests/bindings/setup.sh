# Sourced by the tests of the bindings: the library to load, the emulated driver, and how an example and a test program are run.

# shellcheck shell=sh
# shellcheck source=tests/preload.sh
. "$(dirname "$0")/../preload.sh"

bindings=$source_root/bindings
tests=$source_root/tests/bindings
GRIDDEP_LIBRARY=$build_root/.libs/libgriddep.so.0
GRIDDEP_DRIVER=emulated
GRIDDEP_STORE=off
PTX=$tests/chain.ptx
PYTHONDONTWRITEBYTECODE=1
export GRIDDEP_LIBRARY GRIDDEP_DRIVER GRIDDEP_STORE PTX PYTHONDONTWRITEBYTECODE
unset GRIDDEP_PDL GRIDDEP_LOG

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# run [NAME=VALUE]... COMMAND...: with what the sanitizers need.
run() {
    # shellcheck disable=SC2086,SC2154 # a list of assignments, set by preload.sh
    env $preload "$@"
}

example_runs() {
    eval "run GRIDDEP_EMULATOR_CHECK=all GRIDDEP_EMULATOR_REPORT='$work/findings' $example" >"$work/said" &&
        diff "$tests/example.expect" "$work/said" && grep -q '"findings":0,' "$work/findings"
}

# A program that is linked with the library does not come that far.
tells_where_the_library_may_be() {
    [ "${linked-}" = 1 ] && return
    ! eval "run GRIDDEP_LIBRARY=/nonexistent/library.so $example" >"$work/said" 2>&1 && grep "/nonexistent/library.so.*GRIDDEP_LIBRARY may name" "$work/said" >/dev/null
}

# example_then_test EXAMPLE-COMMAND -- TEST-COMMAND: every language's example prints the same, and neither races nor leaks; without the library it tells
# how to name it.
example_then_test() {
    example=
    while [ "$1" != -- ]; do
        example="$example '$1'"
        shift
    done
    shift
    for check in example_runs tells_where_the_library_may_be; do
        $check && continue
        echo "failed: $check"
        cat "$work/said"
        echo "0 passed, 1 failed, 0 skipped"
        return 1
    done
    echo "2 passed, 0 failed, 0 skipped"
    run "$@"
}

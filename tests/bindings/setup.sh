# Sourced by the tests of the bindings: the library to load, the emulated driver, and how an example and a test program are run.

# shellcheck shell=sh
# shellcheck source=tests/ffi/preload.sh
. "$(dirname "$0")/../ffi/preload.sh"

bindings=$source_root/bindings
tests=$source_root/tests/bindings
GRIDDEP_LIBRARY=$build_root/.libs/libgriddep.so.0
GRIDDEP_DRIVER=emulated
GRIDDEP_CACHE=off
PTX=$tests/chain.ptx
PYTHONDONTWRITEBYTECODE=1
export GRIDDEP_LIBRARY GRIDDEP_DRIVER GRIDDEP_CACHE PTX PYTHONDONTWRITEBYTECODE
unset GRIDDEP_PDL GRIDDEP_LOG

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

# run COMMAND...: with what the sanitizers need.
run() {
    # shellcheck disable=SC2086,SC2154 # a list of assignments, set by preload.sh
    env $preload "$@"
}

# example_then_test EXAMPLE-COMMAND -- TEST-COMMAND: every language's example prints the same.
example_then_test() {
    example=
    while [ "$1" != -- ]; do
        example="$example '$1'"
        shift
    done
    shift
    if eval "run $example" >"$work/said" && diff "$tests/example.expect" "$work/said"; then
        echo "1 passed, 0 failed, 0 skipped"
    else
        echo "failed: the example"
        echo "0 passed, 1 failed, 0 skipped"
        return 1
    fi
    run "$@"
}

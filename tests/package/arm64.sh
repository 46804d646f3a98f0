#!/bin/sh
# Builds everything for arm64 with a cross compiler and runs tests and the command under qemu-user (a quarter of an hour). Runs with GRIDDEP_SLOW_TESTS=1 only, and needs
# gcc-aarch64-linux-gnu, qemu-user, and in GRIDDEP_ARM64_ROOT what the build links, unpacked. On Debian:
#     dpkg --add-architecture arm64 && apt-get update && apt-get download check:arm64 libsubunit-dev:arm64 libjansson-dev:arm64 libyaml-dev:arm64
#     for package in *.deb; do dpkg-deb -x "$package" "$GRIDDEP_ARM64_ROOT"; done
# srcdir: the top of the source tree.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
if [ "${GRIDDEP_SLOW_TESTS-}" != 1 ]; then
    echo "skipped: a full build; GRIDDEP_SLOW_TESTS=1 runs it"
    exit 77
elif ! command -v aarch64-linux-gnu-gcc >/dev/null || ! command -v qemu-aarch64 >/dev/null; then
    echo "skipped: no aarch64-linux-gnu-gcc or no qemu-aarch64"
    exit 77
elif [ ! -f "${GRIDDEP_ARM64_ROOT:-/nonexistent}/usr/lib/aarch64-linux-gnu/libcheck.a" ]; then
    echo "skipped: GRIDDEP_ARM64_ROOT has no libraries for arm64"
    exit 77
fi
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR
include=$GRIDDEP_ARM64_ROOT/usr/include
libraries=$GRIDDEP_ARM64_ROOT/usr/lib/aarch64-linux-gnu
passed=0 failed=0

cd "$work" || exit 99
if ! { "$top/configure" --quiet --enable-werror --host=aarch64-linux-gnu CC=aarch64-linux-gnu-gcc \
    CHECK_CFLAGS="-I$include" CHECK_LIBS="$libraries/libcheck.a $libraries/libsubunit.a -lm -lrt -lpthread" \
    YAML_CFLAGS="-I$include" YAML_LIBS="$libraries/libyaml.a" \
    JANSSON_CFLAGS="-I$include" JANSSON_LIBS="$libraries/libjansson.a" && make -j2 && make -j2 check TESTS=; } >build.log 2>&1; then
    tail -n 20 build.log
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi

QEMU_LD_PREFIX=/usr/aarch64-linux-gnu QEMU_SET_ENV=LD_LIBRARY_PATH=$work/.libs
srcdir=$top builddir=$work FAKE_DRIVER=$work/.libs/libfake-cuda.so EMULATED_DRIVER=$work/.libs/libgriddep-emulator.so.0
GRIDDEP_STORE=off CK_VERBOSITY=normal CK_DEFAULT_TIMEOUT=1800
export QEMU_LD_PREFIX QEMU_SET_ENV srcdir builddir FAKE_DRIVER EMULATED_DRIVER GRIDDEP_STORE CK_VERBOSITY CK_DEFAULT_TIMEOUT
# The ten million launches are for the machine itself.
unset GRIDDEP_SLOW_TESTS
# Left out of the test programs are those of a GPU, emulator/test_lanes (the lanes of an x86 processor), unit/test_load (starts itself anew, which needs
# qemu-user to be registered with the kernel), and emulator/test_exhaustion, emulator/test_mutations, emulator/test_race_random, emulator/test_stress and most of
# kernels/test_kernels, which take long and lean on nothing of the processor that the others do not. GRIDDEP_ARM64_TESTS names others.
tests=${GRIDDEP_ARM64_TESTS-conformance/test_conformance cli/test_bench measure/test_timeline
    kernels/test_kernels:rms_norm
    emulator/test_cluster emulator/test_driver emulator/test_findings emulator/test_forms emulator/test_graph emulator/test_hostile
    emulator/test_interpreter emulator/test_race emulator/test_sweep emulator/test_tensor emulator/test_tune
    unit/test_attribute unit/test_base unit/test_check unit/test_context unit/test_cuda unit/test_explain unit/test_flow unit/test_graph unit/test_ptx
    unit/test_require unit/test_rewrite unit/test_run unit/test_shelf}
skipped=0
for test in $tests; do
    program=${test%%:*} argument=${test#"${test%%:*}"}
    # Where libtool made a script, the program lies behind it.
    [ ! -f "tests/${program%/*}/.libs/${program##*/}" ] || program=${program%/*}/.libs/${program##*/}
    start=$(date +%s)
    # shellcheck disable=SC2086 # no word, or one
    env ${argument:+GRIDDEP_DRIVER=emulated} qemu-aarch64 "tests/$program" ${argument#:} >test.log 2>&1
    status=$?
    cases=$(sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: 0, Errors: 0$/\1/p' test.log)
    if [ "$status" -eq 77 ]; then
        skipped=$((skipped + 1))
        echo "skipped: $test: $(head -n 1 test.log)"
    elif [ "$status" -eq 0 ] && [ -n "$cases" ]; then
        passed=$((passed + cases))
        echo "$test: $cases cases, $(($(date +%s) - start)) s"
    else
        failed=$((failed + 1))
        echo "failed: $test, exit code $status"
        grep ':[FE]:' test.log | head -n 10
        tail -n 5 test.log
    fi
done
for example in vector_add fork_join; do
    if qemu-aarch64 .libs/griddep run "$top/examples/$example.yaml" --emulate --repeat 0 >test.log 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: $example"
        tail -n 10 test.log
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

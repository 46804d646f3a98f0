#!/bin/sh
# Builds the library, the emulated driver and programs of tests/fuzz for arm64 with a cross compiler, and
# runs them under qemu-user: the program of doc/guide.md, every instruction against the results of a GPU,
# some random chains and kernels. What needs other libraries for arm64 is left out. Runs with
# GRIDDEP_SLOW_TESTS=1 only, and needs gcc-aarch64-linux-gnu and qemu-user.
# srcdir: the top of the source tree.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
# shellcheck source=tests/cases.sh
. "$top/tests/cases.sh"
# shellcheck source=tests/package/guide.sh
. "$here/guide.sh"
own_build "a build of the libraries"
for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    command -v $tool >/dev/null && continue
    echo "skipped: no $tool"
    exit 77
done
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR GRIDDEP_SLOW_TESTS
programs="tests/fuzz/differential tests/fuzz/tensor tests/fuzz/chains tests/fuzz/gate"
# Only what computes floating point is optimized: products and sums that an optimizer fuses have
# another result. The lanes fuse nothing, and take longest to optimize.
computing=$(cd "$top" && find src/emulator/execute -name '*.c' ! -name 'lanes_*.c' |
    sed 's,\(.*\)/\(.*\)\.c,\1/libgriddep_machine_la-\2.lo,')

cd "$work" || exit 99
check "configure" "$top/configure" --quiet --enable-werror --host=aarch64-linux-gnu CFLAGS=-O0 \
    CC="${cache}aarch64-linux-gnu-gcc" CHECK_CFLAGS=" " CHECK_LIBS=" " \
    YAML_CFLAGS=" " YAML_LIBS=" " JANSSON_CFLAGS=" " JANSSON_LIBS=" "
# shellcheck disable=SC2086 # a list of words
check "build what computes" make -j2 CFLAGS=-O1 $computing
# shellcheck disable=SC2086 # a list of words
check "build" make -j2 libgriddep.la libgriddep-emulator.la $programs
guide_sources
check "a program" aarch64-linux-gnu-gcc -Wall -Werror -o app app.c -I"$top/include" -L.libs -lgriddep
QEMU_LD_PREFIX=/usr/aarch64-linux-gnu QEMU_SET_ENV=LD_LIBRARY_PATH=$work/.libs
export QEMU_LD_PREFIX QEMU_SET_ENV
check "the program runs on the emulated driver" guide_runs qemu-aarch64

# by_qemu PROGRAM: a script that runs the program for arm64.
by_qemu() {
    name=${1##*/}
    program=$1
    # Where libtool made a script, the program lies behind it.
    [ ! -f "${1%/*}/.libs/$name" ] || program=${1%/*}/.libs/$name
    printf '#!/bin/sh\nexec qemu-aarch64 "%s/%s" "$@"\n' "$work" "$program" >"$name" &&
        chmod +x "$name"
}
EMULATED_DRIVER=$work/.libs/libgriddep-emulator.so.0 srcdir=$top builddir=$work
DIFFERENTIAL=$work/differential TENSOR=$work/tensor
export EMULATED_DRIVER srcdir builddir DIFFERENTIAL TENSOR
for program in $programs; do check "${program##*/}" by_qemu "$program"; done
check "programs have a GPU's results" sh "$top/tests/fuzz/differential.sh" measured
check "tensors have a GPU's results" sh "$top/tests/fuzz/tensor.sh"
check "chains" ./chains --count 60
check "kernels" ./gate --count 150
finish

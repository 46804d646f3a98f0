#!/bin/sh
# Builds the library and the emulated driver with musl-gcc, and runs the program of doc/guide.md with
# them. The command is left out: its libraries would be needed for musl too. Runs with
# GRIDDEP_SLOW_TESTS=1 only. srcdir: the top of the source tree.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
# shellcheck source=tests/cases.sh
. "$top/tests/cases.sh"
# shellcheck source=tests/package/guide.sh
. "$here/guide.sh"
own_build "a build of the libraries"
command -v musl-gcc >/dev/null || {
    echo "skipped: no musl-gcc"
    exit 77
}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR
only_libc() {
    ! readelf -d -W "$1" | grep NEEDED | grep -v 'libgriddep\|\[libc.so\]'
}

cd "$work" || exit 99
# musl-gcc links against its own headers alone, so nothing here takes glibc's.
check "configure" "$top/configure" --quiet CC="${cache}musl-gcc" CFLAGS=-O0
check "build" make -j2 libgriddep.la libgriddep-emulator.la
guide_sources
check "a program" musl-gcc -Wall -Werror -o app app.c -I"$top/include" -L.libs -lgriddep
check "libgriddep.so needs libc alone" only_libc .libs/libgriddep.so
check "libgriddep-emulator.so needs libc alone" only_libc .libs/libgriddep-emulator.so
check "the program runs on the emulated driver" guide_runs
finish

#!/bin/sh
# Builds the library and the emulated driver with musl-gcc, and runs the program of doc/guide.md with them. The command is left out: its libraries would be
# needed for musl too. Runs with GRIDDEP_SLOW_TESTS=1 only (a full build of the libraries). srcdir: the top of the source tree.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
if [ "${GRIDDEP_SLOW_TESTS-}" != 1 ]; then
    echo "skipped: a build of the libraries; GRIDDEP_SLOW_TESTS=1 runs it"
    exit 77
elif ! command -v musl-gcc >/dev/null; then
    echo "skipped: no musl-gcc"
    exit 77
fi
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR
# shellcheck source=tests/cases.sh
. "$top/tests/cases.sh"
# guide NAME: the file of that name in the guide.
guide() { awk -v mark="<!-- file: $1 -->" '$0 == mark { here = 1; next } here && /^```/ { if (++fence == 2) exit; next } here' "$top/doc/guide.md"; }
only_libc() { readelf -d -W "$1" | grep NEEDED | grep -v 'libgriddep\|\[libc.so\]' && return 1 || return 0; }
runs() { GRIDDEP_STORE=off GRIDDEP_DRIVER=emulated LD_LIBRARY_PATH=.libs ./app | grep '^quarter of 4095: 1023.75$'; }

cd "$work" || exit 99
# musl-gcc links against its own headers alone, so nothing here takes glibc's.
check "configure" "$top/configure" --quiet CC=musl-gcc CFLAGS=-O1
check "build" make -j2 libgriddep.la libgriddep-emulator.la
guide app.c >app.c
guide scale.ptx | sed 's/^    mov.u32 %i, %tid.x;/    griddepcontrol.wait;\n&/' >scale-pdl.ptx
check "a program" musl-gcc -Wall -Werror -o app app.c -I"$top/include" -L.libs -lgriddep
check "libgriddep.so needs libc alone" only_libc .libs/libgriddep.so
check "libgriddep-emulator.so needs libc alone" only_libc .libs/libgriddep-emulator.so
check "the program runs on the emulated driver" runs
finish

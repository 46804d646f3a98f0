#!/bin/sh
# Compares what the emulated driver exports with the driver API of an installed toolkit: the names of its stub library, and those that its
# headers declare for OpenGL, EGL and VDPAU, which only a driver's library has. Exits 77 where there is no toolkit.
set -u

srcdir=${srcdir:-.}
builddir=${builddir:-build}
LC_ALL=C
export LC_ALL
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/cases.sh"

toolkit=
for directory in "${CUDA_HOME:-/usr/local/cuda}" /usr/local/cuda; do
    [ -n "$toolkit" ] || [ ! -f "$directory/include/cuda.h" ] || toolkit=$directory
done
if [ -z "$toolkit" ]; then
    echo "skipped: no toolkit in \$CUDA_HOME or /usr/local/cuda"
    exit 77
fi

# exported LIBRARY: names of functions.
# shellcheck disable=SC2086 # NM may carry options
exported() { ${NM:-nm} -D --defined-only "$1" | awk '$(NF - 1) != "A" { print $NF }' | sed 's/@.*//' | sort -u; }

# missing FILE: tells names of the file that the emulated driver lacks.
missing() { comm -23 "$1" "$work/ours" | sed "s/^/not exported: /" | { ! grep . >&2; }; }

exported "$builddir/.libs/libgriddep-emulator.so.0" >"$work/ours"
check "it exports functions" test -s "$work/ours"

stub=$toolkit/lib64/stubs/libcuda.so
if [ -f "$stub" ]; then
    exported "$stub" | grep '^cu' >"$work/stub"
    check "the stub has names" test -s "$work/stub"
    check "the names of $stub" missing "$work/stub"
else
    skipped=$((skipped + 1))
fi

# Names behind CUDAAPI; cuWGL is for Windows.
for header in cuda.h cudaGL.h cudaEGL.h cudaVDPAU.h cudaProfiler.h; do
    [ -f "$toolkit/include/$header" ] || continue
    grep -o -E 'CUDAAPI +cu[A-Z][A-Za-z0-9_]* *\(' "$toolkit/include/$header" | grep -o -E 'cu[A-Z][A-Za-z0-9_]*' |
        grep -v '^cuWGL' | sort -u >"$work/declared"
    check "$header declares functions" test -s "$work/declared"
    check "the names of $header" missing "$work/declared"
done
finish

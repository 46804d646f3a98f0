#!/bin/sh
# Builds the programs of examples/embed against a temporary installation, each by the command that its head comment gives, and runs them on the
# emulated driver. builddir is the build's root, CC the compiler; SANITIZED=1 says that the library was built with sanitizers.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

builddir=${builddir:-build}
source_root=${srcdir:-$(dirname "$0")/..}
examples=$source_root/examples/embed

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "${srcdir:-$(dirname "$0")/..}/tests/cases.sh"
# The makefile that runs this test is another one's parent, not that of the one run here.
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR GRIDDEP_PDL GRIDDEP_LOG GRIDDEP_LIBRARY

# The command that stands in the head comment, with the compiler and sanitizers of this build.
build() {
    flags=
    [ "${SANITIZED-}" != 1 ] || flags=$(make_value SANITIZER_CFLAGS)
    command=$(sed -n 's/^ \* *cc /cc /p' "$examples/$1.c")
    [ "$(printf '%s\n' "$command" | wc -l)" -eq 1 ] || return 1
    (cd "$work" && cp "$examples/$1.c" . && eval "${CC:-cc} $flags -Wall -Wextra -Werror ${command#cc }")
}

# says EXPECTED COMMAND...
says() {
    expected=$1
    shift
    said=$(LD_LIBRARY_PATH=$libdir "$@") || return 1
    echo "$said"
    [ "$said" = "$expected" ]
}

# calls_before_result MOST PROGRAM: in main, up to the first line that prints. A macro or a helper would hide calls: there are none.
calls_before_result() {
    sed -n '/^int main/,/printf/p' "$examples/$2.c" >"$work/main.c"
    calls=$(grep -o 'try(griddep_[a-z_]*(' "$work/main.c" | wc -l)
    echo "$calls calls"
    [ "$calls" -gt 4 ] && [ "$calls" -le "$1" ] &&
        [ "$(grep -c 'try(' "$work/main.c")" -eq "$calls" ] &&
        [ "$(grep -o 'griddep_[a-z_]*(' "$work/main.c" | grep -cv griddep_config_for)" -eq "$calls" ]
}

needs() { readelf -d -W "$work/$1" | grep -q 'NEEDED.*\[libgriddep\.so'; }
needs_not() { ! needs "$1"; }

check "make install" "${MAKE:-make}" -C "$builddir" install DESTDIR="$work/root"
[ "$failed" -eq 0 ] || finish
PKG_CONFIG_PATH=$(dirname "$(find "$work/root" -name griddep.pc)")
PKG_CONFIG_SYSROOT_DIR=$work/root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
libdir=$(dirname "$(find "$work/root" -name libgriddep.so)")
export GRIDDEP_DRIVER=emulated GRIDDEP_STORE=off
# Without --enable-static: the same objects, from the archive that the shared library is linked from.
[ -f "$libdir/libgriddep.a" ] || cp "$builddir/.libs/libgriddep-core.a" "$libdir/libgriddep.a"

set_text="each path of the kernel executes griddepcontrol.wait"
check "dynamic builds" build dynamic
check "dynamic is linked with the library" needs dynamic
check "dynamic runs" says "$set_text; 999 * 0.25 = 249.75" "$work/dynamic"
check "static builds" build static
check "static is not linked with the shared library" needs_not static
check "static runs" says "griddep $(make_value PACKAGE_VERSION) inside; 1023 + 1023 = 2046" "$work/static"
check "plugin builds" build plugin
check "plugin is not linked with the library" needs_not plugin
check "plugin runs" says "with griddep; 1023 + 1023 = 2046" "$work/plugin"
check "plugin does without" says "without griddep; 1023 + 1023 = 2046" env GRIDDEP_LIBRARY="$work/none.so" "$work/plugin"
check "two_kernels builds" build two_kernels
check "two_kernels runs" says "1023 * 2 + 0.5 = 2046.5" "$work/two_kernels"
check "two_kernels needs ten calls to the result" calls_before_result 10 two_kernels
check "two_devices builds" build two_devices
check "two_devices runs" says "device 0: (1023 + 2046) / 2 = 1534.5
device 1: (1023 + 2046) / 2 = 1534.5" env GRIDDEP_EMULATOR_DEVICES=2 "$work/two_devices"
check "shared_context builds" build shared_context
# The application opens libcuda.so.1: the folder that holds the emulated driver under this name comes first.
libdir=$libdir/griddep/driver:$libdir
check "shared_context runs" says "$set_text; 4 * 1023 = 4092" env GRIDDEP_DRIVER=nvidia "$work/shared_context"
check "upgrade_graph builds" build upgrade_graph
plain="no overlap: the edge (between lanes: the event) is plain; it could be programmatic, because the kernel waits"
overlaps="overlaps: each path of the kernel executes griddepcontrol.wait"
check "upgrade_graph runs" says "edge 0 -> 1: $plain
edge 1 -> 2: $plain
upgraded: 2
edge 0 -> 1: $overlaps
edge 1 -> 2: $overlaps
8 * 1023 = 8184" "$work/upgrade_graph"
finish

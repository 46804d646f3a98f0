#!/bin/sh
# Installs the build into a temporary directory and uses what stands there as a user of the library would: by
# pkg-config, header and shared library. builddir is the build's root, CC the compiler.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

builddir=${builddir:-build}

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "${srcdir:-$(dirname "$0")/..}/tests/cases.sh"
# The makefile that runs this test is another one's parent, not that of the one run here.
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR

pkg() { PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_PATH=$pkgconfigdir pkg-config "$@"; }

# The path of an installed file that pkg-config tells, below the temporary root whether or not pkg-config put it there.
installed_path() {
    path=$(pkg --variable="$1" griddep) || return 1
    echo "$work/root${path#"$work/root"}"
}

same_version() { [ "$(pkg --modversion griddep)" = "$(make_value PACKAGE_VERSION)" ]; }

shelf_is_installed() {
    shelf=$(installed_path shelf) || return 1
    for root in "$source_root" "$builddir"; do
        [ ! -d "$root/ptx" ] || (cd "$root/ptx" && find . -name '*.ptx')
    done | sort -u >"$work/expected"
    (cd "$shelf" && find . -name '*.ptx') | sort >"$work/shelf"
    [ -s "$work/expected" ] && diff "$work/expected" "$work/shelf"
}

write_program() {
    cat >"$work/user.c" <<'TEXT'
#include <griddep.h>
#include <stdio.h>

int main(void)
{
    int32_t value = 0;

    if (griddep_constant_find("GRIDDEP_VERSION_MINOR", &value, NULL) || value != GRIDDEP_VERSION_MINOR)
        return 1;
    return puts(griddep_version_text()) < 0;
}
TEXT
}

compile_user() {
    # shellcheck disable=SC2046 # a list of words
    ${CC:-cc} -Wall -Werror -o "$work/user" "$work/user.c" $(pkg --cflags --libs griddep)
}

prints_version() {
    said=$(LD_LIBRARY_PATH=$libdir "$@") || return 1
    echo "$said"
    case $said in
    "$version" | *" $version" | *" $version "*) ;;
    *) return 1 ;;
    esac
}

needs_soname() { readelf -d -W "$work/user" | grep 'NEEDED.*\[libgriddep\.so\.[0-9][0-9]*\]'; }

# info_of DIRECTORY ARGUMENT...: what the installed command tells with the directory ahead of others.
info_of() {
    path=$1
    shift
    LD_LIBRARY_PATH=$path:$libdir GRIDDEP_STORE=off "$griddep" info "$@"
}

is_emulated() {
    [ -L "$1/libcuda.so.1" ] && info_of "$1" --driver nvidia | grep "This is the emulated driver"
}

# The command finds that folder by itself, for a program that opens libcuda.so.1.
lends_emulated() {
    LD_LIBRARY_PATH=$libdir GRIDDEP_STORE=off "$griddep" sanitize -- "$griddep" info --driver nvidia |
        grep "This is the emulated driver"
}

finds_emulated() { info_of "$libdir" "$@" | grep "driver  *$libdir/libgriddep-emulator"; }

# Nothing tells the loader where the library is, but in an installation whose library folder is another one.
runs_by_itself() {
    if [ -n "$(make_value BESIDE_LDFLAGS)" ]; then
        env -u LD_LIBRARY_PATH GRIDDEP_STORE=off "$griddep" info --driver emulated | grep "driver  *$work/moved/"
    else
        echo "the library folder is $libdir"
    fi
}

# In a moved tree pkg-config tells where it is now, when it is asked to (--define-prefix).
moved_pkg_config() {
    PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --define-prefix --cflags --libs griddep >"$work/flags" && cat "$work/flags" &&
        grep -q -e "-I$(dirname "$libdir")/include .*-L$libdir " "$work/flags"
}

# Each page has a name line, from which man's index is made.
pages_are_installed() {
    for page in man1/griddep.1 man1/griddep-run.1 man3/libgriddep.3 man3/griddep_chain.3 man5/griddep-chain.5 man7/griddep-environment.7; do
        grep -A 1 '^.SH NAME' "$work/root$(make_value mandir | sed "s|.{datarootdir}|$(make_value datarootdir)|; s|.{prefix}|$(make_value prefix)|")/$page" | grep ' \\- ' || return
    done
}

nothing_is_left() { [ -z "$(find "$work/root" ! -type d)" ] && [ ! -d "$work/root$(make_value pkglibdir | sed 's/.*(libdir)//')/driver" ]; }

source_root=${srcdir:-$(dirname "$0")/..}
version=$(make_value PACKAGE_VERSION)
check "make install" "${MAKE:-make}" -C "$builddir" install DESTDIR="$work/root"
[ "$failed" -eq 0 ] || finish

pkgconfigdir=$(dirname "$(find "$work/root" -name griddep.pc)")
check "griddep.pc tells the version" same_version
libdir=$(installed_path libdir)
check "griddep.h" test -f "$(installed_path includedir)/griddep.h"
check "griddep_values.h" test -f "$(installed_path includedir)/griddep_values.h"
check "libgriddep.so" test -e "$libdir/libgriddep.so"
if grep -m 1 '^build_old_libs=' "$builddir/libtool" | grep -q yes; then
    check "the static library" test -e "$libdir/libgriddep.a"
else
    check "no static or libtool leftovers" test ! -e "$libdir/libgriddep.a"
fi
check "the shelf's files" shelf_is_installed
write_program
check "a program compiles with pkg-config's flags" compile_user
check "that program runs and prints the version" prints_version "$work/user"
check "that program needs the soname" needs_soname
griddep=$(installed_path exec_prefix)/bin/griddep
check "man pages" pages_are_installed
check "the command runs and prints the version" prints_version "$griddep" --version
check "libcuda.so.1 for programs that are to run on the emulated driver" is_emulated "$(installed_path emulated_driver)"
mv "$work/root" "$work/moved"
libdir=$work/moved${libdir#"$work/root"}
griddep=$work/moved${griddep#"$work/root"}
check "sanitize finds the emulated driver in a moved tree" lends_emulated
check "the command in a moved tree finds its library" runs_by_itself
check "a moved tree has its emulated driver beside it" finds_emulated --driver emulated
check "pkg-config in a moved tree" moved_pkg_config
mv "$work/moved" "$work/root"
check "make uninstall" "${MAKE:-make}" -C "$builddir" uninstall DESTDIR="$work/root"
check "nothing is left after it" nothing_is_left
finish

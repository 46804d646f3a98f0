#!/bin/sh
# Makes the Debian packages of the files in the source tree, without running the tests again, and has lintian look at them. Each installed file must
# belong to a package; lintian may say that the upload closes no bug, and nothing else. Runs with GRIDDEP_SLOW_TESTS=1 only (a full build).
# srcdir: the top of the source tree, a git checkout.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
if [ "${GRIDDEP_SLOW_TESTS-}" != 1 ]; then
    echo "skipped: a full build; GRIDDEP_SLOW_TESTS=1 runs it"
    exit 77
elif ! command -v dpkg-buildpackage >/dev/null || ! command -v dh >/dev/null || ! command -v dh_python3 >/dev/null; then
    echo "skipped: no dpkg-buildpackage, no debhelper or no dh-python"
    exit 77
elif ! git -C "$top" rev-parse --git-dir >/dev/null 2>&1; then
    echo "skipped: not a git checkout, so what belongs to the source is not known"
    exit 77
fi
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR srcdir builddir
# shellcheck source=tests/cases.sh
. "$top/tests/cases.sh"
build() { cd "$work/griddep" && DEB_BUILD_OPTIONS="nocheck parallel=2" dpkg-buildpackage -b -us -uc -d; }
# run COMMAND...: on the libraries of the packages.
run() { LD_LIBRARY_PATH=$libdir GRIDDEP_STORE=off GRIDDEP_DRIVER=emulated "$@"; }
command_runs() { run "$work/root/usr/bin/griddep" sanitize "$work/root/usr/share/griddep/examples/vector_add.yaml" --schedule eager --modes pdl; }
module_runs() {
    PYTHONPATH=$work/root/usr/lib/python3/dist-packages run python3 "$work/root/usr/share/griddep/bindings/python/example.py" >"$work/module" &&
        diff "$top/tests/bindings/example.expect" "$work/module"
}
program_runs() {
    PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags --libs griddep >"$work/flags" &&
        eval "cc -o $work/dynamic $work/root/usr/share/griddep/examples/embed/dynamic.c $(cat "$work/flags")" && run "$work/dynamic"
}
mkdir "$work/griddep"
(cd "$top" && git ls-files -co --exclude-standard | tar cf - -T -) | tar xf - -C "$work/griddep"
check "dpkg-buildpackage" build
for package in libgriddep0 libgriddep-dev griddep libgriddep-emulator0 python3-griddep; do
    check "$package" test -f "$(echo "$work/${package}"_*.deb)"
    dpkg-deb -x "$work/${package}"_*.deb "$work/root"
done
libdir=$(dirname "$(find "$work/root" -name libgriddep.so.0)")
check "the packages' command runs on the packages' emulated driver" command_runs
check "the packages' Python module runs the packages' example" module_runs
check "an example in C is built from the packages alone" program_runs
for page in "$top"/man/*.1; do check "the man page $(basename "$page")" test -f "$work/root/usr/share/man/man1/$(basename "$page").gz"; done
check "griddep-chain(5)" test -f "$work/root/usr/share/man/man5/griddep-chain.5.gz"
check "man pages of the library" test "$(find "$work/root/usr/share/man/man3" -name '*.3.gz' | wc -l)" -gt 10
for shell in bash-completion/completions/griddep zsh/vendor-completions/_griddep fish/vendor_completions.d/griddep.fish; do
    check "the completion $shell" test -f "$work/root/usr/share/$shell"
done
if command -v lintian >/dev/null; then
    lintian -I "$work"/*.changes 2>/dev/null | grep -E '^[EWI]:' | grep -v -E ' initial-upload-closes-no-bugs | copyright-without-copyright-notice' >"$work/lintian"
    check "lintian: $(cat "$work/lintian")" test ! -s "$work/lintian"
else
    skipped=1
    echo "skipped: no lintian"
fi
finish

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
elif ! command -v dpkg-buildpackage >/dev/null || ! command -v dh >/dev/null; then
    echo "skipped: no dpkg-buildpackage or no debhelper"
    exit 77
elif ! git -C "$top" rev-parse --git-dir >/dev/null 2>&1; then
    echo "skipped: not a git checkout, so what belongs to the source is not known"
    exit 77
fi
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR srcdir builddir
passed=0 failed=0 skipped=0
check() {
    name=$1
    shift
    if "$@" >"$work/said" 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: $name"
        tail -n 20 "$work/said"
    fi
}
build() { cd "$work/griddep" && DEB_BUILD_OPTIONS="nocheck parallel=2" dpkg-buildpackage -b -us -uc -d; }
command_runs() {
    for package in "$work"/griddep_*.deb "$work"/libgriddep0_*.deb "$work"/libgriddep-emulator0_*.deb; do dpkg-deb -x "$package" "$work/root"; done
    LD_LIBRARY_PATH=$(echo "$work"/root/usr/lib/*) GRIDDEP_CACHE=off "$work/root/usr/bin/griddep" sanitize "$work/root/usr/share/griddep/examples/vector_add.yaml" --schedule eager --modes pdl
}
mkdir "$work/griddep"
(cd "$top" && git ls-files -co --exclude-standard | tar cf - -T -) | tar xf - -C "$work/griddep"
check "dpkg-buildpackage" build
for package in libgriddep0 libgriddep-dev griddep libgriddep-emulator0; do check "$package" test -f "$(echo "$work/${package}"_*.deb)"; done
check "the packages' command runs on the packages' emulated driver" command_runs
if command -v lintian >/dev/null; then
    lintian -I "$work"/*.changes 2>/dev/null | grep -E '^[EWI]:' | grep -v -E ' initial-upload-closes-no-bugs | copyright-without-copyright-notice' >"$work/lintian"
    check "lintian: $(cat "$work/lintian")" test ! -s "$work/lintian"
else
    skipped=1
    echo "skipped: no lintian"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

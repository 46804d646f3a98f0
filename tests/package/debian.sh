#!/bin/sh
# Makes the Debian packages of the files in the source tree, without running the tests again and
# without optimization, which takes less time. Each installed file must belong to a package; what
# the packages bring must run. Lintian may say that the upload closes no bug, and nothing else. A
# second build, in a folder of another name and with another number of jobs, must give each package
# the same bytes.
# srcdir: the top of the source tree, a git checkout.
# Runs with GRIDDEP_SLOW_TESTS=1 only.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
# shellcheck source=tests/cases.sh
. "$top/tests/cases.sh"
own_build "a full build"
if ! [ -e "$top/.git" ] || ! command -v git >/dev/null; then
    echo "skipped: no git checkout tells which files are of the source"
    exit 77
fi
for tool in dpkg-buildpackage dh dh_python3; do
    command -v "$tool" >/dev/null && continue
    echo "skipped: no $tool"
    exit 77
done
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
build=${builddir:-.} python=${PYTHON3:-python3} cc=${CC:-cc}
# A package build has flags of its own, and no home folder.
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR srcdir builddir CC CXX CFLAGS CXXFLAGS LDFLAGS CONFIG_SITE
# build FOLDER JOBS
build() {
    mkdir -p "$work/$1" && cp -a "$work/source" "$work/$1/griddep" && cd "$work/$1/griddep" &&
        DEB_BUILD_PROFILES=nocheck DEB_BUILD_OPTIONS="nocheck noopt parallel=$2" CCACHE_DISABLE=1 \
            dpkg-buildpackage -b -us -uc -d
}
# run COMMAND...: on the libraries of the packages.
run() { LD_LIBRARY_PATH=$libdir GRIDDEP_STORE=off GRIDDEP_DRIVER=emulated "$@"; }
command_runs() { run "$work/root/usr/bin/griddep" sanitize "$work/root/usr/share/griddep/examples/vector_add.yaml" --schedule eager --modes pdl; }
module_runs() {
    PYTHONPATH=$work/root/usr/lib/python3/dist-packages run "$python" "$work/root/usr/share/griddep/bindings/python/example.py" >"$work/module" &&
        diff "$top/tests/bindings/example.expect" "$work/module"
}
# rustup's rustc without a home folder: the binding's test skips.
toolchain_is_missing() {
    printf '#!/bin/sh\necho "error: no default toolchain" >&2\nexit 1\n' >"$work/rustc" &&
        chmod +x "$work/rustc" || return
    RUSTC=$work/rustc srcdir=$top builddir=$work/one/griddep sh "$top/tests/bindings/rust.sh"
    [ $? -eq 77 ]
}
program_runs() {
    PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_PATH=$libdir/pkgconfig pkg-config --cflags --libs griddep >"$work/flags" &&
        eval "$cc -o $work/dynamic $work/root/usr/share/griddep/examples/embed/dynamic.c $(cat "$work/flags")" && run "$work/dynamic"
}
mkdir "$work/source"
(cd "$top" && git ls-files -co --exclude-standard | tar cf - -T -) | tar xf - -C "$work/source"
check "dpkg-buildpackage" build one 2
check "dpkg-buildpackage, in another folder" build another/folder 1
for package in libgriddep0 libgriddep-dev griddep libgriddep-emulator0 python3-griddep; do
    file=$(basename "$work/one/$package"_*.deb)
    check "$package" test -f "$work/one/$file"
    check "$package has the same bytes again" cmp "$work/one/$file" "$work/another/folder/$file"
    dpkg-deb -x "$work/one/$file" "$work/root"
done
libdir=$(dirname "$(find "$work/root" -name libgriddep.so.0)")
check "the packages' command runs on the packages' emulated driver" command_runs
check "the packages' Python module runs the packages' example" module_runs
check "the test of the Rust binding skips without a toolchain" toolchain_is_missing
check "an example in C is built from the packages alone" program_runs
for page in "$build"/man/*.1; do check "the man page $(basename "$page")" test -f "$work/root/usr/share/man/man1/$(basename "$page").gz"; done
check "griddep-chain(5)" test -f "$work/root/usr/share/man/man5/griddep-chain.5.gz"
check "man pages of the library" test "$(find "$work/root/usr/share/man/man3" -name '*.3.gz' | wc -l)" -gt 10
for shell in bash-completion/completions/griddep zsh/vendor-completions/_griddep fish/vendor_completions.d/griddep.fish; do
    check "the completion $shell" test -f "$work/root/usr/share/$shell"
done
if command -v lintian >/dev/null; then
    lintian "$work"/one/*.changes 2>/dev/null | grep -E '^[EW]:' | grep -v -E ' initial-upload-closes-no-bugs | copyright-without-copyright-notice' >"$work/lintian"
    check "lintian: $(cat "$work/lintian")" test ! -s "$work/lintian"
else
    skipped=1
    echo "skipped: no lintian"
fi
finish

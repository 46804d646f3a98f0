#!/bin/sh
# Makes the Debian packages of the files in the source tree, without running the tests again,
# without optimization and without debug information, which takes less time. Each installed file
# must belong to a package; what the packages bring must run. Lintian may say that the upload closes
# no bug, and nothing else. Packages that are built elsewhere must have the same bytes: nothing in
# them may name the folder or the time of the build, and they have what the build in builddir made.
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
export DPKG_DEB_COMPRESSOR_TYPE=gzip DPKG_DEB_COMPRESSOR_LEVEL=1
[ -z "$cache" ] || export CC="${cache}gcc" CXX="${cache}g++"
build() {
    cd "$work/one/griddep" &&
        DEB_BUILD_PROFILES=nocheck DEB_BUILD_OPTIONS="nocheck noopt noautodbgsym parallel=2" \
            DEB_CFLAGS_APPEND=-g0 dpkg-buildpackage -b -us -uc -d >"$work/log" 2>&1 && return
    cat "$work/log"
    return 1
}
tells_of_no_build() {
    grep -q ' -Wdate-time ' "$work/log" && ! grep -F '[-Wdate-time]' "$work/log" &&
        ! grep -rlF "$work" "$work/root"
}
# same FILE IN_PACKAGE: a file of the build, and that of a package, which may be compressed.
same() { zcat -f "$work/root/usr/share/$2" | cmp "$build/$1" -; }
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
mkdir -p "$work/one/griddep"
(cd "$top" && git ls-files -co --exclude-standard | tar cf - -T -) |
    tar xf - -C "$work/one/griddep"
check "dpkg-buildpackage" build
for package in libgriddep0 libgriddep-dev griddep libgriddep-emulator0 python3-griddep; do
    file=$(basename "$work/one/$package"_*.deb)
    check "$package" test -f "$work/one/$file"
    dpkg-deb -x "$work/one/$file" "$work/root"
done
check "nothing tells where or when it was built" tells_of_no_build
libdir=$(dirname "$(find "$work/root" -name libgriddep.so.0)")
check "the packages' command runs on the packages' emulated driver" command_runs
check "the packages' Python module runs the packages' example" module_runs
check "the test of the Rust binding skips without a toolchain" toolchain_is_missing
check "an example in C is built from the packages alone" program_runs
for page in "$build"/man/*.[1-8]; do
    page=man/${page##*/}
    check "$page" same "$page" "man/man${page##*.}/${page##*/}.gz"
done
for page in diagnostics instructions; do
    check "$page.md" same "doc/$page.md" "doc/griddep/$page.md.gz"
done
for kernel in "$build"/ptx/*/*.ptx; do
    kernel=${kernel#"$build"/}
    check "$kernel" same "$kernel" "griddep/$kernel"
done
for shell in bash-completion/completions/griddep zsh/vendor-completions/_griddep \
    fish/vendor_completions.d/griddep.fish; do
    check "the completion $shell" same "completions/${shell##*/}" "$shell"
done
if command -v lintian >/dev/null; then
    lintian "$work"/one/*.changes 2>/dev/null | grep -E '^[EW]:' | grep -v -E ' initial-upload-closes-no-bugs | copyright-without-copyright-notice' >"$work/lintian"
    check "lintian: $(cat "$work/lintian")" test ! -s "$work/lintian"
else
    skipped=1
    echo "skipped: no lintian"
fi
finish

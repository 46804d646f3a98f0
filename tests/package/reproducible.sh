#!/bin/sh
# Builds the library, the emulated driver, the command and the man pages twice, in folders of different names and with a different number of jobs: every
# file must have the same bytes. Runs with GRIDDEP_SLOW_TESTS=1 only (two full builds, which the compiler does not optimize). srcdir: the top of the source tree; CC.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
# shellcheck source=tests/cases.sh
. "$top/tests/cases.sh"
own_build "two full builds"
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS DESTDIR
CCACHE_DISABLE=1
export CCACHE_DISABLE

# build FOLDER JOBS
build() {
    mkdir -p "$work/$1"
    (cd "$work/$1" && "$top/configure" --quiet --enable-static CC="${CC:-gcc}" CFLAGS="-g -ffile-prefix-map=$work/$1=. -ffile-prefix-map=$top=." &&
        make -j"$2" && make install DESTDIR="$work/$1/root") >"$work/$1.log" 2>&1
}
if ! build one 1 || ! build another/folder 2; then
    tail -n 20 "$work"/*.log "$work"/another/*.log
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
passed=0 failed=0
(cd "$work/one/root" && find . -type f ! -name '*.la' | LC_ALL=C sort) >"$work/files"
while read -r file; do
    if cmp -s "$work/one/root/$file" "$work/another/folder/root/$file"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: $file differs"
    fi
done <"$work/files"
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 20 ]

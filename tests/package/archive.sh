#!/bin/sh
# Whether `make dist` packs each file that git tracks, but for what is not for the archive: a test's data that were forgotten would be missed only by who
# runs that test from the archive. Skips outside a git checkout. srcdir: the top of the source tree; builddir: that of the build; MAKE.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
build=$(cd "${builddir:-.}" && pwd)
if ! [ -e "$top/.git" ] || ! command -v git >/dev/null 2>&1; then
    echo "skipped: no git checkout tells which files there are"
    exit 77
fi
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MAKELEVEL MFLAGS

# not_packed LIST: tracked files that neither stand in the list nor lie in a folder of it.
not_packed() {
    git -C "$top" ls-files | awk -v list="$1" '
        BEGIN { while ((getline name < list) > 0) packed[name] = 1 }
        {
            for (path = $0; path != ""; path = sub(/\/[^\/]*$/, "", path) ? path : "")
                if (path in packed) next
            if ($0 !~ /^(\.gitignore$|debian\/)/) print
        }'
}

printf 'include Makefile\nlist-archive:\n\t@printf "%%s\\n" $(DISTFILES)\n' >"$work/list.mk"
if ! (cd "$build" && "${MAKE:-make}" -s -f "$work/list.mk" list-archive) >"$work/out"; then
    echo "failed: make does not tell what it packs"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
sed "s|^$top/||; s|^\(\.\./\)*||; s|^\./||" "$work/out" >"$work/packed"

failed=0
not_packed "$work/packed" >"$work/missing"
if [ -s "$work/missing" ]; then
    echo "failed: the archive lacks"
    sed 's/^/    /' "$work/missing"
    failed=1
fi
# The comparison must see a file that was forgotten.
grep -v -x include/griddep.h "$work/packed" >"$work/less"
if [ "$(not_packed "$work/less" | grep -c -x include/griddep.h)" -ne 1 ]; then
    echo "failed: a file that is not packed goes unnoticed"
    failed=1
fi
echo "$((failed == 0)) passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

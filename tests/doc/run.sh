#!/bin/sh
# Runs the commands and snippets of the documentation on the emulated driver; run.py tells how. PYTHON3 runs it, CC compiles.
#
# GRIDDEP: the command; srcdir: the top of the source tree; builddir: that of the build; SANITIZED=1: built with sanitizers.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
build=$(cd "${builddir:-.}" && pwd)
griddep=${GRIDDEP:-./griddep}
case $griddep in /*) ;; *) griddep=$(pwd)/$griddep ;; esac
python=${PYTHON3:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    echo "skipped: no Python to run it"
    exit 77
fi

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$griddep" >"$work/bin/griddep"
printf '#!/bin/sh\nexec %s "$@"\n' "${CC:-gcc}" >"$work/bin/cc"
chmod +x "$work/bin/griddep" "$work/bin/cc"
flags=
[ "${SANITIZED-}" != 1 ] || flags=$(sed -n 's/^SANITIZER_CFLAGS = *//p' "$build/Makefile")
cat >"$work/griddep.pc" <<TEXT
Name: griddep
Description: the build tree
Version: 0
Libs: -L$build/.libs -lgriddep $flags
Cflags: -I$top/include $flags
TEXT

PATH=$work/bin:$PATH PKG_CONFIG_PATH=$work LD_LIBRARY_PATH=$build/.libs GRIDDEP_DRIVER=${GRIDDEP_DRIVER:-auto} GRIDDEP_CACHE=off NO_COLOR=1 PYTHONDONTWRITEBYTECODE=1
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH GRIDDEP_DRIVER GRIDDEP_CACHE NO_COLOR PYTHONDONTWRITEBYTECODE
"$python" "$here/run.py" "$top" "$work"

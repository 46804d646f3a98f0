#!/bin/sh
# Runs the commands and snippets of the documentation on the emulated driver; run.py tells how. PYTHON3 runs it, CC and CXX compile.
#
# GRIDDEP: the command; srcdir: the top of the source tree; builddir: that of the build.
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
printf '#!/bin/sh\nexec %s "$@"\n' "${CXX:-g++}" >"$work/bin/c++"
printf '#!/bin/sh\nexec "%s" "$@"\n' "$(command -v "$python")" >"$work/bin/python3"
chmod +x "$work/bin/griddep" "$work/bin/cc" "$work/bin/c++" "$work/bin/python3"

PATH=$work/bin:$PATH PKG_CONFIG_PATH=$build GRIDDEP_DRIVER=${GRIDDEP_DRIVER:-auto} GRIDDEP_STORE=off NO_COLOR=1 PYTHONDONTWRITEBYTECODE=1
PYTHONPATH=$top/bindings/python GRIDDEP_LIBRARY=$build/.libs/libgriddep.so.0
export PATH PKG_CONFIG_PATH GRIDDEP_DRIVER GRIDDEP_STORE NO_COLOR PYTHONDONTWRITEBYTECODE PYTHONPATH GRIDDEP_LIBRARY
"$python" "$here/run.py" "$top" "$build" "$work"

#!/bin/sh
# Checks that doc/instructions.md is what build-tools/instructions.py makes of the tables. That program without arguments renews the page.
#
# srcdir: the top of the source tree (the folder two above this file).
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
python=${PYTHON3:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    echo "skipped: no Python to read the tables"
    exit 77
fi

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
if "$python" "$top/build-tools/instructions.py" --check >"$work/difference" 2>&1; then
    echo "1 passed, 0 failed, 0 skipped"
    exit 0
fi
echo "failed: doc/instructions.md is not what build-tools/instructions.py makes; that program renews it"
head -n 30 "$work/difference"
echo "0 passed, 1 failed, 0 skipped"
exit 1

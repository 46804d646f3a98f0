#!/bin/sh
# Checks that doc/diagnostics.md is what 'griddep explain --markdown' prints. To bring it up to date after a page of src/ptx/text/codes.def
# has changed: tests/cli/diagnostics.sh --write.
#
# GRIDDEP: the command (./griddep); srcdir: the top of the source tree (the folder two above this file).
set -u

here=$(cd "$(dirname "$0")" && pwd)
document=$(cd "${srcdir:-$here/../..}" && pwd)/doc/diagnostics.md
griddep=${GRIDDEP:-./griddep}

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
if ! "$griddep" explain --markdown >"$work/printed"; then
    echo "failed: griddep explain --markdown"
elif [ "${1:-}" = --write ]; then
    cp "$work/printed" "$document"
    exit
elif ! diff -u "$document" "$work/printed" >"$work/difference"; then
    echo "failed: doc/diagnostics.md is not what griddep explain --markdown prints; 'tests/cli/diagnostics.sh --write' renews it"
    head -n 30 "$work/difference"
else
    echo "1 passed, 0 failed, 0 skipped"
    exit 0
fi
echo "0 passed, 1 failed, 0 skipped"
exit 1

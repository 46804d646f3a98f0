#!/bin/sh
# Makes the documentation's site and checks it: links, nothing from a network, and in headless Chromium width, contrast and search.
# Skips without Python or cmark-gfm, and the part in a browser without Chromium. srcdir: the top of the source tree; GRIDDEP: the
# command; PYTHON3.
set -u

srcdir=${srcdir:-.}
python=${PYTHON3:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    echo "skipped: no python3"
    exit 77
fi
if ! command -v cmark-gfm >/dev/null 2>&1; then
    echo "skipped: no cmark-gfm (Debian: apt-get install cmark-gfm)"
    exit 77
fi
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

if ! "$python" "$srcdir/build-tools/site.py" --source "$srcdir" --made "${builddir:-.}" --command "${GRIDDEP:-./griddep}" --output "$work/site"; then
    echo "failed: make site"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[ -n "$browser" ] || echo "skipped: no Chromium (Debian: apt-get install chromium): width, contrast and search"
"$python" "$srcdir/tests/doc/site_check.py" "$work/site" ${browser:+"$browser"}

#!/bin/sh
# One chain, one set of facts: what check, run, graph, explain, trace, stress, sanitize, audit and
# compare say of the same chain is held side by side. PYTHON3 runs it.
#
# GRIDDEP: the command; EMULATED_DRIVER: the emulated driver; srcdir: the top of the source tree.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
python=${PYTHON3:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    echo "skipped: no Python to run this test"
    exit 77
fi
if [ -z "${EMULATED_DRIVER:-}" ]; then
    echo "skipped: no emulated driver, on which chains run"
    exit 77
fi
exec "$python" "$top/tests/cli/facts.py" "$(realpath "${GRIDDEP:-./griddep}")" "$top" "$EMULATED_DRIVER"

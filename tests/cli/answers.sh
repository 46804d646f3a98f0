#!/bin/sh
# One question, one answer: the same mistake in a chain gets the same verdict from each subcommand
# that reads chains, and the same failure the same exit code from every subcommand. Subcommands and
# options are those of 'griddep help --table'. PYTHON3 runs it.
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
exec "$python" "$top/tests/cli/answers.py" "$(realpath "${GRIDDEP:-./griddep}")" "$top" "$EMULATED_DRIVER"

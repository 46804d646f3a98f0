#!/bin/sh
# What the command does with files and streams: no output is written over an input or another
# output, each is written whole or not at all, and a failure to write is told, with the same exit
# code everywhere. Nothing is left behind by a command that a signal ends. No control character that
# stands in a name or in the environment reaches the terminal, and numbers do not follow the locale.
# The options that name outputs, and the subcommands, are those of 'griddep help --table'. PYTHON3
# runs it.
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
exec "$python" "$top/tests/cli/outputs.py" "$(realpath "${GRIDDEP:-./griddep}")" "$top" "$EMULATED_DRIVER"

#!/bin/sh
# What the command prints, whole and with its values: transcripts.py has the cases, transcripts.txt
# what is expected. PYTHON3 runs it. GRIDDEP_UPDATE_GOLDEN=1 writes transcripts.txt anew.
#
# GRIDDEP: the command; EMULATED_DRIVER, FAKE_DRIVER: drivers whose times are the same in each run;
# srcdir: the top of the source tree.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
# shellcheck source=tests/cases.sh
. "$top/tests/cases.sh"
python=${PYTHON3:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    echo "skipped: no Python to run this test"
    exit 77
fi
if [ -z "${EMULATED_DRIVER:-}" ] || [ -z "${FAKE_DRIVER:-}" ]; then
    echo "skipped: no emulated driver, or no fake one"
    exit 77
fi
griddep=$(realpath "${GRIDDEP:-./griddep}")
exec "$python" "$top/tests/cli/transcripts.py" "$griddep" "$top" "$EMULATED_DRIVER" "$FAKE_DRIVER"

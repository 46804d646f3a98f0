#!/bin/sh
# Runs test_ctypes.py. PYTHON3 names the interpreter.
set -u
here=$(dirname "$0")
# shellcheck source=tests/ffi/preload.sh
. "$here/preload.sh"

python=${PYTHON3:-python3}
command -v "$python" >/dev/null || skip "there is no python3"
"$python" -c 'import ctypes' 2>/dev/null || skip "this python3 has no ctypes"
# shellcheck disable=SC2086 # a list of assignments
exec env $preload PYTHONDONTWRITEBYTECODE=1 LIBRARY="$library" FAKE_DRIVER="$fake_driver" HEADER="$header" KERNELS="$here/kernels.ptx" \
    "$python" "$here/test_ctypes.py"

#!/bin/sh
# The Python binding with PyTorch's tensors, streams and graphs, on a GPU. PYTHON3 names the interpreter.
set -u
# shellcheck source=tests/bindings/setup.sh
. "$(dirname "$0")/setup.sh"

python=${PYTHON3:-python3}
command -v "$python" >/dev/null || skip "there is no python3"
"$python" -c 'import ctypes' 2>/dev/null || skip "this python3 has no ctypes"
export PYTHONPATH="$bindings/python"
run "$python" "$tests/test_python_torch.py"

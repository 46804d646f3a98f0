#!/bin/sh
# The peers' scripts of bench/peers where they cannot run: each says what is missing and ends with 77, for a skip. A stand-in for PyTorch tells them so.
set -u
top=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
python=${PYTHON3:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
    echo "skipped: no Python"
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
fi
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
passed=0 failed=0
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# is_skipped NAME REASON TORCH [TRITON]: with modules of that text, each script is skipped for that reason.
is_skipped() {
    mkdir -p "$work/$1"
    printf '%s\n' "$3" >"$work/$1/torch.py"
    printf '%s\n' "${4:-raise ImportError('not here')}" >"$work/$1/triton.py"
    for script in ${5:-fc_chain transformer_block}; do
        PYTHONPATH=$work/$1 "$python" "$top/bench/peers/$script.py" --suites false >"$work/out" 2>&1 </dev/null
        code=$?
        if [ "$code" -eq 77 ] && grep -q "^skipped: $2" "$work/out"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            echo "failed: $script, $1: exit code $code"
            sed 's/^/    /' "$work/out"
        fi
    done
}

gpu='class cuda:
    is_available = staticmethod(lambda: %s)
    get_device_capability = staticmethod(lambda: (%s, 0))
    get_device_name = staticmethod(lambda: "a chip")'
# shellcheck disable=SC2059
{
    is_skipped none "no PyTorch: not here" "raise ImportError('not here')"
    is_skipped blind "PyTorch sees no GPU" "$(printf "$gpu" False 9)"
    is_skipped old "a chip has no dependent launch" "$(printf "$gpu" True 8)"
    is_skipped plain "no Triton: not here" "$(printf "$gpu" True 9)" "" fc_chain
}
for script in fc_chain transformer_block; do
    if "$python" "$top/bench/peers/$script.py" --unknown >/dev/null 2>&1; then
        failed=$((failed + 1))
        echo "failed: $script takes an option that it does not have"
    else
        passed=$((passed + 1))
    fi
done
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

#!/bin/sh
# The peers' scripts of bench/peers where they cannot run: each says what is missing and ends with
# 77, for a skip. A stand-in for PyTorch tells them so. The language model's script also runs, with
# a stand-in for each program that it starts.
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

# ends WHAT CODE LINE...: the last program ended so, and wrote a line that each basic regular
# expression matches from its start.
ends() {
    what=$1 right=1
    [ "$code" -eq "$2" ] || right=0
    shift 2
    for line; do
        grep -q "^$line" "$work/out" || { right=0 && echo "no line: $line"; }
    done
    if [ "$right" -eq 1 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $what: exit code $code"
        sed 's/^/    /' "$work/out"
    fi
}

# peer MODULES SCRIPT ARGUMENT...: with the modules of that folder.
peer() {
    modules=$1 script=$2
    shift 2
    PYTHONPATH=$work/$modules PATH=$work/bin:$PATH "$python" "$top/bench/peers/$script.py" "$@" \
        >"$work/out" 2>&1 </dev/null
    code=$?
}

# is_skipped NAME REASON TORCH [SCRIPT]...: each script is skipped for that reason.
is_skipped() {
    name=$1 reason=$2
    mkdir -p "$work/$name"
    printf '%s\n' "$3" >"$work/$name/torch.py"
    echo "raise ImportError('not here')" >"$work/$name/triton.py"
    cp "$work/$name/triton.py" "$work/$name/transformers.py"
    shift 3
    [ $# -gt 0 ] || set -- fc_chain transformer_block language_model
    for each; do
        case $each in
        language_model) peer "$name" "$each" false ;;
        *) peer "$name" "$each" --suites false ;;
        esac
        ends "$each, $name" 77 "skipped: $reason"
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
    is_skipped triton "no Triton: not here" "$(printf "$gpu" True 9)" fc_chain
    is_skipped plain "no Transformers: not here" "$(printf "$gpu" True 9)" language_model
}
for script in fc_chain transformer_block language_model; do
    peer plain "$script" --unknown
    ends "$script, an option that it does not have" 2
done

# program FILE: a Python program of stdin. `of` is the number behind an option.
program() {
    {
        echo "#!/usr/bin/env $python"
        echo 'import json, sys'
        echo 'of = lambda option: int(sys.argv[sys.argv.index(option) + 1])'
        cat
    } >"$1"
    chmod +x "$1"
}

# The language model in graph-pdl takes 2 us, in other modes 4, for 6 MB; llama.cpp 3 and vLLM 5.
# Transformers has nothing that the script wants.
mkdir -p "$work/model" "$work/bin" "$work/checkout/build/bin"
echo '{"vocab_size": 100}' >"$work/model/config.json"
cp -r "$work/plain" "$work/run"
printf '%s\n' '__version__ = "1"' 'bfloat16 = None' >>"$work/run/torch.py"
echo '__version__ = "2"' >"$work/run/transformers.py"
program "$work/llama" <<'END'
told = {"token_us": 2 if "graph-pdl" in sys.argv else 4, "token_bytes": 6e6, "first_us": 7000}
print(json.dumps(told))
END
program "$work/checkout/convert_hf_to_gguf.py" <<'END'
open(sys.argv[sys.argv.index("--outfile") + 1], "w").close()
END
program "$work/checkout/build/bin/llama-bench" <<'END'
open(sys.argv[sys.argv.index("-m") + 1]).close()
print(json.dumps([{"samples_ns": [of("-n") * ns for ns in (1000, 9000, 3000)]}]))
END
program "$work/bin/vllm" <<'END'
with open(sys.argv[sys.argv.index("--output-json") + 1], "w") as file:
    json.dump({"latencies": [1 + 5e-6 * of("--output-len")]}, file)
END
peer run language_model "$work/llama" --model "$work/model" --llama-cpp "$work/checkout" --vllm \
    --sequences 1 --sequences 2 --prompt 600 --json "$work/document"
ends "language_model" 0 "us a step on a chip, PyTorch 1, Transformers 2" \
    "model *bf16 *512 *1 *4.0 *4.0 *4.0 *2.0 *3.00 *- *- *3.0 *5.0 *1.50$" \
    "model *bf16 *512 *2 *4.0 *4.0 *4.0 *2.0 *3.00 *- *- *- *5.0 *2.50$" \
    "model *fp8 *512 *1 *4.0 *4.0 *4.0 *2.0 *3.00 *- *- *- *- *-$" \
    "600 *512 *7.00 *-$" "600 *600 *7.00 *-$" "compiled: AttributeError: "
"$python" -m json.tool "$work/document" >"$work/out"
code=$?
ends "language_model --json" 0 ' *"vLLM": [45]'
rm "$work/checkout/convert_hf_to_gguf.py"
echo 'sys.exit("no memory")' | program "$work/bin/vllm"
peer run language_model "$work/llama" --model "$work/model" --llama-cpp "$work/checkout" --vllm
ends "language_model without peers" 0 "llama.cpp: RuntimeError: " "vLLM: RuntimeError: no memory" \
    "model *bf16 *512 *1 *4.0 *4.0 *4.0 *2.0 *3.00 *- *- *- *-$"
peer run language_model "$work/llama" --model "$work/model" --no-peers --weights fp8
ends "language_model --no-peers" 0 "model *fp8 *512 *1 *4.0 *4.0 *4.0 *2.0 *3.00 *-$"
peer run language_model false --model "$work/model" --no-peers
ends "language_model, a program that fails" 1 "false: "
echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

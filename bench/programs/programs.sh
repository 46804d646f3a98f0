#!/bin/sh
# What audit, on, off and trace say of programs of others, on a GPU: doc/programs.md is made of it.
#
#     bench/programs/programs.sh FOLDER
#
# FOLDER: where the reports and pictures go. GRIDDEP: the command (build/griddep); PYTHON3; ROUNDS (7);
# GPT2: a command that runs ggml's gpt-2-backend, which prints its time a token; without it that program
# is left out, as are others that the machine lacks (nvcc, PyTorch, Triton). ONLY: names of programs. Each round runs all ways in
# turns; the figures are medians.
set -u

griddep=${GRIDDEP:-build/griddep}
python=${PYTHON3:-python3}
here=$(dirname "$0")
out=${1:?a folder for the results}
mkdir -p "$out" || exit 1

# The number that a program prints last behind a colon or a slash: its time.
figure() { grep -oE "(us a [a-z]+: |/ +)[0-9.]+" | tail -1 | grep -oE "[0-9.]+$"; }
median() { sort -n | awk '{ value[NR] = $1 } END { print NR ? value[int((NR + 1) / 2)] : "-" }'; }

# measure NAME ON OFF: shell commands, of the program with dependent launch and without.
measure() {
    name=$1 with=$2 without=$3
    case " ${ONLY:-$name} " in *" $name "*) ;; *) return ;; esac
    rm -f "$out/$name".*.times
    for _ in $(seq "${ROUNDS:-7}"); do
        sh -c "exec env $with" 2>&1 | figure >>"$out/$name.with.times"
        sh -c "exec env $without" 2>&1 | figure >>"$out/$name.without.times"
        "$griddep" audit --report "$out/$name.audit.txt" -- sh -c "exec env $with" 2>&1 | figure >>"$out/$name.audit.times"
        "$griddep" off --report "$out/$name.off.txt" -- sh -c "exec env $with" 2>&1 | figure >>"$out/$name.off.times"
        "$griddep" on --report "$out/$name.on.txt" -- sh -c "exec env $without" 2>&1 | figure >>"$out/$name.on.times"
    done
    "$griddep" audit --times --report "$out/$name.without.txt" -- sh -c "exec env $without" >"$out/$name.log" 2>&1
    "$griddep" trace --as-run --first "${FIRST:-2000}" --launches 24 --svg "$out/$name.svg" -- sh -c "exec env $with" >>"$out/$name.log" 2>&1
    printf '## %s\n\n' "$name"
    for way in with without off on audit; do
        [ -s "$out/$name.$way.times" ] && printf '%-8s %s\n' "$way" "$(median <"$out/$name.$way.times")"
    done
    for way in audit without off on; do
        printf '%-8s %s (%s bytes)\n' "$way" "$(head -1 "$out/$name.$way.txt")" "$(wc -c <"$out/$name.$way.txt")"
    done
    echo
}

[ -n "${GPT2-}" ] && measure ggml "GGML_CUDA_PDL=1 $GPT2" "GGML_CUDA_PDL=0 $GPT2"
if "$python" -c "import torch" 2>/dev/null; then
    "$python" -c 'import torch, triton; print("PyTorch", torch.__version__, "Triton", triton.__version__)'
    measure pytorch "$python $here/layers.py" "$python $here/layers.py"
    measure pytorch-graph "$python $here/layers.py graph" "$python $here/layers.py graph"
    measure triton "$python $here/dependent.py" "$python $here/dependent.py plain"
fi
if command -v nvcc >/dev/null && nvcc -arch="${ARCH:-sm_90}" -std=c++17 --extended-lambda -O2 -o "$out/sort" "$here/sort.cu"; then
    measure cccl "$out/sort" "$out/sort"
fi

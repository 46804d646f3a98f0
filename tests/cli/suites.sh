#!/bin/sh
# bench/suites on the scripted driver, whose kernels do nothing and take a microsecond each: options,
# the tables, and the figures that follow from such kernels.
#
# FAKE_DRIVER: the scripted driver; builddir: where bench/suites is; PYTHON3 reads the documents.
set -u
top=${srcdir:-$(cd "$(dirname "$0")/../.." && pwd)}
builddir=${builddir:-.}
fake=${FAKE_DRIVER:-}
if [ -z "$fake" ] || [ ! -f "$fake" ]; then
    echo "skipped: no fake driver"
    echo "0 passed, 0 failed, 1 skipped"
    exit 77
fi
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
# shellcheck source=tests/cases.sh
. "$top/tests/cases.sh"
python=${PYTHON3:-python3}

# measures CODE ARGUMENTS...: the exit code of a run of three samples, whose output stays in $work/out.
measures() {
    wanted=$1
    shift
    "$builddir/bench/suites" "$@" --driver "$fake" --repeat 3 >"$work/out" 2>"$work/err" </dev/null
    code=$?
    cat "$work/err"
    [ "$code" -eq "$wanted" ]
}

# shows TEXT: the last run printed it. complains TEXT: likewise of its messages.
shows() { grep -qF -e "$1" "$work/out"; }
complains() { grep -qF -e "$1" "$work/err"; }

# holds CONDITION: of the last run's document d.
holds() {
    "$python" -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($1))" \
        "$work/out"
}

check "no such suite" measures 2 lunch
check "no such suite: the nearest" complains "launch"
check "no such kernel" measures 2 fc-chain --kernel softmax
check "no such kernel: those that there are" complains "--kernel is one of matvec_bf16"
check "no such decoder" measures 2 transformer-block --decoder large
check "no such decoder: those that there are" complains "--decoder is one of small"
for shape in 32 32x 0x16 16x12 16x32x8 x16 16x32768; do
    check "--shape $shape" measures 2 fc-chain --shape "$shape"
    check "--shape $shape: what it is" complains "--shape is ROWSxCOLUMNS"
done
check "launch" measures 0 launch
for text in "ceilings: memory read" griddep_launch_packed "8 conditions" "one on overlap" \
    "a graph of 64, graph-pdl" "arguments of a launch of it" "another set, and its run" ratio; do
    check "launch: $text" shows "$text"
done
check "rounds" measures 0 rounds
for text in "512 rounds of 4 kernels of 132 blocks, which overlap" "graph-pdl, rounds overlap"; do
    check "rounds: $text" shows "$text"
done
check "fc-chain of kernels that do not run" measures 1 fc-chain --shape 16x32
check "fc-chain: its row" shows "16 x 32, WRONG"
check "transformer-block of kernels that do not run" \
    measures 1 transformer-block --decoder small --layers 2
check "transformer-block: its row" shows "small, WRONG"
if ! command -v "$python" >/dev/null 2>&1; then
    echo "skipped: the documents: no Python"
    skipped=$((skipped + 1))
    finish
fi
check "handoff of kernels that do not run" measures 1 handoff --json
check "handoff: the document" holds "d['launch'] is None and len(d['handoff']) == 27 and
    d['ceilings']['read_bytes_per_second'] > 0"
check "handoff: nothing was handed on" holds "not any(h['as_expected'] for h in d['handoff'])"
check "handoff: a step takes a microsecond" holds "all(
    abs(h['chain_us']['median'] - (h['pause_ns'] is None or 'graph' in h['way'])) < 1e-6
    for h in d['handoff'])"
check "handoff: spreads" holds "all(
    h['chain_us']['percentile_10'] <= h['chain_us']['median'] <= h['chain_us']['percentile_90']
    for h in d['handoff'])"
check "fc-chain --json" measures 1 fc-chain --shape 32x16 --json
check "fc-chain: the document" holds "[
    (c['rows'], c['columns'], c['bytes_per_layer'], c['as_expected'], len(c['modes']))
    for c in d['fc_chain']] == [(32, 16, 1024, False, 4)]"
finish

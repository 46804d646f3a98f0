#!/bin/sh
# Runs the example chains and a small demo on the emulated driver, in all modes, against the float64 references, and explains the chains. GRIDDEP names the command.
set -u
srcdir=${srcdir:-.}
griddep=${GRIDDEP:-./griddep}
# shellcheck source=tests/cases.sh
. "$srcdir/tests/cases.sh"

attempt() {
    if output=$("$griddep" "$@" --driver emulated 2>&1); then
        passed=$((passed + 1))
    else
        echo "failed: griddep $*"
        printf '%s\n' "$output"
        failed=$((failed + 1))
    fi
}

for chain in "$srcdir"/examples/*.yaml; do
    attempt run "$chain" --repeat 0
done
# Explained hops: what was measured is told, and the serial mode never overlaps. Each chain is
# explained in one mode, another than the chain before; tests/cli/facts.py compares modes. More
# elements than a few blocks have say nothing more.
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
cp "$srcdir"/examples/*.yaml "$srcdir"/examples/*.ptx "$work" 2>/dev/null
rm -f "$work/softmax.yaml" "$work/vector_add.yaml"
sed 's/2097152/131072/; s/\[512\]/[32]/' "$srcdir/examples/softmax.yaml" >"$work/softmax.yaml"
sed 's/1048576/65536/; s/\[1024\]/[64]/' "$srcdir/examples/vector_add.yaml" >"$work/vector_add.yaml"
modes="serial pdl graph graph-pdl"
for chain in "$work"/*.yaml; do
    mode=${modes%% *}
    modes="${modes#* } $mode"
    attempt explain "$chain" --mode "$mode"
    case $output in
    *"measured: "*) ;;
    *) echo "failed: griddep explain $chain --mode $mode measured nothing" && failed=$((failed + 1)) ;;
    esac
done
attempt explain "$srcdir/examples/feed_forward.yaml" --mode serial
case $output in
*"measured: it overlaps"* | *"differ"*) echo "failed: overlap in mode serial" && failed=$((failed + 1)) ;;
esac
attempt explain "$srcdir/examples/feed_forward.yaml" --mode graph-pdl
case $output in
*"measured: it overlaps"*) ;;
*) echo "failed: no overlap in mode graph-pdl" && failed=$((failed + 1)) ;;
esac
attempt info
attempt demo --layers 2 --rows 256 --columns 256 --repeat 1

finish

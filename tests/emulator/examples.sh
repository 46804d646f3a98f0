#!/bin/sh
# Runs the example chains and a small demo on the emulated driver: in all modes, against the float64 references. GRIDDEP names the command.
set -u
srcdir=${srcdir:-.}
griddep=${GRIDDEP:-./griddep}
passed=0
failed=0

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
attempt info
attempt demo --layers 2 --rows 256 --columns 256 --repeat 1

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" -eq 0 ]

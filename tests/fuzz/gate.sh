#!/bin/sh
# Random kernels between two others on the emulated driver: where GRIDDEP_PDL_AUTO launches one early nothing is read too early, where it
# does not there is a path that misses the wait (gate.c), in the schedule that is worst for it and in a random one.
set -u
gate=${GATE:-${builddir:-.}/tests/fuzz/gate}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/cases.sh"

check eager "$gate" --count 1200
check random env GRIDDEP_EMULATOR_SCHEDULE=random:1 "$gate" --from 100001 --count 600
finish

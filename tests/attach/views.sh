#!/bin/sh
# A program that keeps everything in one allocation: whether launches meet in it, griddep audit says
# of the program, and griddep check and explain say of what audit recorded; all say the same. GRIDDEP:
# the command; builddir: the build's root.
set -u

srcdir=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
build=$(cd "${builddir:-.}" && pwd)
griddep=${GRIDDEP:-$build/griddep}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/cases.sh"
GRIDDEP_DRIVER=emulated GRIDDEP_STORE=off
export GRIDDEP_DRIVER GRIDDEP_STORE

# Both take n u32: store writes x + 1 to y behind its wait, ahead reads w in front of it and writes
# w + x to y. The second text does not tell how far they reach.
kernels() {
    cat <<'TEXT'
.version 8.0
.target sm_90
.address_size 64
.visible .entry store(.param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %off;
    .reg .u64 %x, %y, %at;
    .reg .u32 %i, %n, %a;
    griddepcontrol.launch_dependents;
    griddepcontrol.wait;
    mov.u32 %i, %tid.x;
    ld.param.u32 %n, [n];
    setp.ge.u32 %off, %i, %n;
    @%off ret;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    mul.wide.u32 %at, %i, 4;
    add.u64 %x, %x, %at;
    add.u64 %y, %y, %at;
    ld.global.u32 %a, [%x];
    add.u32 %a, %a, 1;
    st.global.u32 [%y], %a;
    ret;
}
.visible .entry ahead(.param .u64 w, .param .u64 x, .param .u64 y, .param .u32 n)
{
    .reg .pred %off;
    .reg .u64 %w, %x, %y, %at;
    .reg .u32 %i, %n, %a, %b;
    griddepcontrol.launch_dependents;
    mov.u32 %i, %tid.x;
    ld.param.u32 %n, [n];
    setp.ge.u32 %off, %i, %n;
    mul.wide.u32 %at, %i, 4;
    ld.param.u64 %w, [w];
    add.u64 %w, %w, %at;
    mov.u32 %a, 0;
    @!%off ld.global.u32 %a, [%w];
    griddepcontrol.wait;
    @%off ret;
    ld.param.u64 %x, [x];
    ld.param.u64 %y, [y];
    add.u64 %x, %x, %at;
    add.u64 %y, %y, %at;
    ld.global.u32 %b, [%x];
    add.u32 %a, %a, %b;
    st.global.u32 [%y], %a;
    ret;
}
TEXT
}
{
    printf '// kernel: store, ahead\n// extent store:\n//   x: u32[n]\n//   y: u32[n]\n'
    printf '// extent ahead:\n//   w: u32[n]\n//   x: u32[n]\n//   y: u32[n]\n'
    kernels
} >"$work/told.ptx"
kernels >"$work/silent.ptx"

# arena FIRST X Y SECOND W X Y...: launches of one allocation, store and ahead in turn, of 64 elements
# each, at these elements; FIRST and SECOND are told or silent.
launches() {
    while [ $# -gt 0 ]; do
        echo "- {kernel: store, module: $1, grid: [1], block: [64], pdl: force, arguments: [{buffer: all, offset: $2}, {buffer: all, offset: $3}, {u32: 64}]}"
        echo "- {kernel: ahead, module: $4, grid: [1], block: [64], pdl: force, arguments: [{buffer: all, offset: $5}, {buffer: all, offset: $6}, {buffer: all, offset: $7}, {u32: 64}]}"
        shift 7
    done
}
arena() {
    echo 'name: arena'
    echo 'modules: [{name: told, file: told.ptx}, {name: silent, file: silent.ptx}]'
    echo 'buffers: [{name: all, type: u32, count: 8192, sequence: {start: 1, step: 3}}]'
    echo 'launches:'
    launches "$@"
}

# Its words about a launch that reads early what another one may write.
words='nothing tells how far the one that begins first reaches'

audited() { # audited VERDICT
    "$griddep" audit --record "$work/chain" --first "$launches" --launches 16384 -- \
        "$griddep" run "$work/arena.yaml" --no-check --repeat 0 --mode pdl --driver nvidia >"$work/out" 2>"$work/err"
    cat "$work/out" "$work/err"
    case $1 in
    safe) grep -q '^griddep: safe: ' "$work/err" && ! grep -q 'GD40' "$work/err" ;;
    doubt) grep -q '^griddep: perhaps not safe' "$work/err" && grep -q "$words (GD206) \[GD404\]" "$work/err" ;;
    race) grep -q '^griddep: not safe: ' "$work/err" && grep -q '(GD206) \[GD406\]' "$work/err" ;;
    esac
}
checked() { # checked VERDICT FILE
    "$griddep" check "$2" >"$work/told" 2>&1
    code=$?
    cat "$work/told"
    case $1 in
    safe) [ "$code" -eq 0 ] && ! grep -q 'GD112\|GD20[1256]' "$work/told" ;;
    doubt) [ "$code" -eq 1 ] && grep -q "warning: ahead reads w .*$words \[GD206\]" "$work/told" && ! grep -q 'error: ' "$work/told" ;;
    race) [ "$code" -eq 1 ] && grep -q 'error: ahead reads w .* \[GD206\]' "$work/told" ;;
    esac
}
# Launches that are forced run as the program's did; where they are not, a doubt holds them back.
explained() { # explained VERDICT
    sed 's/pdl: force/pdl: auto/' "$work/chain/chain.yaml" >"$work/chain/auto.yaml"
    "$griddep" explain "$work/chain/auto.yaml" >"$work/told" 2>&1 || return 1
    cat "$work/told"
    case $1 in
    safe) ! grep -q 'GD206' "$work/told" ;;
    *) grep -q 'GD206' "$work/told" ;;
    esac
}
same_bits() { # of what was recorded, however it runs
    "$griddep" run "$work/chain/auto.yaml" --repeat 0 >"$work/told" 2>&1
    code=$?
    cat "$work/told"
    [ "$code" -eq 0 ] && grep -q 'every bit equal' "$work/told"
}
# views VERDICT FIRST X Y SECOND W X Y
views() {
    verdict=$1
    shift
    launches=$(($# / 7 * 2)) # the program runs them twice, first in mode serial
    rm -rf "$work/chain"
    arena "$@" >"$work/arena.yaml"
    audited "$verdict" && checked "$verdict" "$work/chain/chain.yaml" && checked "$verdict" "$work/arena.yaml" &&
        explained "$verdict" && { [ "$verdict" = race ] || same_bits; }
}

check "views that lie apart" views safe told 0 1024 told 64 1024 2048
check "views that touch, from below" views safe told 0 1024 told 960 1024 2048
check "views that touch, from above" views safe told 0 1024 told 1088 1024 2048
check "in place" views safe told 1024 1024 told 0 1024 1024
check "one view" views race told 0 1024 told 1024 2048 3072
check "a view that crosses another from below" views race told 0 1024 told 961 2048 3072
check "a view that crosses another from above" views race told 0 1024 told 1087 2048 3072
check "a kernel that does not tell how far it writes" views doubt silent 0 1024 told 2048 1024 4096
check "the same, behind what is read" views safe silent 0 1024 told 960 1024 4096
check "a kernel that does not tell how far it reads" views doubt told 0 1024 silent 64 1024 4096
check "the same, behind what is written" views safe told 0 1024 silent 1088 1024 4096
check "one view, of kernels that do not tell" views race silent 0 1024 silent 1024 2048 3072
# Further back than the audit of pairs and rows sees: the check of what was recorded does.
check "a view of a launch far before" views race told 0 1024 told 64 2048 3072 told 0 4096 told 64 2048 3072 \
    told 0 4160 told 64 2048 3072 told 0 4224 told 1024 2048 3072
# Two hundred steps of a network, each with weights of its own, that take turns with two results.
steps() {
    i=0
    set --
    while [ $i -lt 200 ]; do
        set -- "$@" told 0 $((64 + i % 2 * 64)) told $((256 + i * 32)) $((64 + i % 2 * 64)) 0
        i=$((i + 1))
    done
    views safe "$@"
}
check "many launches" steps
finish

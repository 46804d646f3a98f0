#!/bin/sh
# griddep rewrite on its own result changes nothing, and text that is not valid PTX is refused, and
# not written. GRIDDEP: the command; srcdir: the top of the source tree.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

srcdir=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
griddep=${GRIDDEP:-./griddep}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/cases.sh"

# twice OPTION... FILES: code 1 is text with a wait that stands too late.
twice() {
    count=0
    # shellcheck disable=SC2086 # options are words
    for file in $files; do
        rm -f "$work/once" "$work/again"
        "$griddep" rewrite "$@" "$file" -o "$work/once" 2>"$work/err"
        [ $? -le 1 ] || continue
        "$griddep" rewrite "$@" "$work/once" -o "$work/again" 2>"$work/err"
        [ $? -le 1 ] && cmp "$work/once" "$work/again" || { echo "$file"; return 1; }
        count=$((count + 1))
    done
    echo "$count files"
    [ "$count" -gt 20 ]
}
mkdir "$work/golden"
golden_texts "$work/golden"
files="$srcdir/ptx/*/*.ptx $work/golden/*.ptx"
check "twice" twice
files="$work/golden/GD1*.ptx $work/golden/GD2*.ptx"
check "twice, waits moved, triggers at the end" twice --wait move --trigger end

head='.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .u32 %r;
'
refused() { # refused CODE TEXT: exit code 2, the code of the finding, no output
    printf '%s%s\n}\n' "$head" "$2" >"$work/bad.ptx"
    cp "$work/bad.ptx" "$work/before.ptx"
    for option in "" --json --in-place "--wait remove" "--trigger end"; do
        # shellcheck disable=SC2086 # words
        "$griddep" rewrite $option "$work/bad.ptx" >"$work/out" 2>"$work/err"
        code=$?
        cat "$work/out" "$work/err"
        [ "$code" -eq 2 ] && cmp "$work/bad.ptx" "$work/before.ptx" || return 1
        [ "$option" = --json ] || [ ! -s "$work/out" ] || return 1
        grep -q "$1" "$work/out" "$work/err" || return 1
    done
}
check "a name that is not declared" refused GD013 'mov.u32 %r, %nope;
ret;'
check "another type" refused GD012 'add.f32 %r, %r, %r;
ret;'
check "a label that is not there" refused 'GD0' 'bra nowhere;'
check "an instruction that is none" refused 'GD0\|SYNTAX\|error' 'frob.u32 %r, %r;
ret;'
finish

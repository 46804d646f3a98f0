#!/bin/sh
# griddep compare on the emulated driver, whose time is a model's and the same each time. GRIDDEP;
# srcdir.
set -u

srcdir=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
griddep=${GRIDDEP:-./griddep}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/cases.sh"
GRIDDEP_DRIVER=emulated
export GRIDDEP_DRIVER
short=$work/short.yaml long=$work/long.yaml
sed 's/1048576/4096/; s/grid: \[1024\]/grid: [4]/' "$srcdir/examples/vector_add.yaml" >"$short"
sed 's/1048576/65536/; s/grid: \[1024\]/grid: [64]/' "$srcdir/examples/vector_add.yaml" >"$long"

# says CODE TEXT ARGUMENT...
says() {
    expected=$1 text=$2
    shift 2
    "$griddep" compare "$@" >"$work/out" 2>&1 </dev/null
    code=$?
    cat "$work/out"
    [ "$code" -eq "$expected" ] && grep -qF -- "$text" "$work/out"
}
check "itself" says 0 "B is no different: it takes 100.00 % of A's time" "$short" "$short"
check "a longer one" says 0 "B is slower: it takes 277.59 %" "$short" "$long"
check "a shorter one" says 0 "B is faster: it takes " "$long" "$short"
check "another mode" says 0 "mode serial)" "$short" "$long" --mode serial
check "one word" says 2 "usage: griddep compare A.yaml B.yaml" "$short"
check "a mode that is none" says 2 "--mode is one of" "$short" "$long" --mode fast
check "a file that is not there" says 2 "No such file" "$short" "$work/nowhere.yaml"
check "a file that is no chain" says 2 "bad_key.yaml" "$short" "$srcdir/tests/cli/bad_key.yaml"
finish

#!/bin/sh
# Compares what each subcommand prints with --json with doc/json.md: each member is documented with its type, each documented member is there,
# and no row tells of what no document has. The exit codes' table must be the command's. PYTHON3 reads JSON.
#
# GRIDDEP: the command; FAKE_DRIVER: a scripted driver library; srcdir: the top of the source tree.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
griddep=${GRIDDEP:-./griddep}
python=${PYTHON3:-python3}
fake=${FAKE_DRIVER:-}
document=$top/doc/json.md
if ! command -v "$python" >/dev/null 2>&1; then
    echo "skipped: no Python to read JSON"
    exit 77
fi
. "$top/tests/cases.sh"
GRIDDEP_STORE=off
export GRIDDEP_STORE
unset GRIDDEP_DRIVER GRIDDEP_PDL GRIDDEP_LOG

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
passed=0 failed=0 skipped=0
: >"$work/seen"

# The example with fewer elements: how many there are is not in question here.
small=$work/vector_add.yaml
sed 's/1048576/4096/; s/grid: \[1024\]/grid: [4]/' "$top/examples/vector_add.yaml" >"$small"

# compare SECTION ARGUMENT...: one case; the document that the command prints.
compare() {
    section=$1
    shift
    [ -n "${from_file:-}" ] || "$griddep" "$@" --json >"$work/document" 2>/dev/null </dev/null
    if "$python" "$here/json_check.py" "$document" "$section" "$work/document" >>"$work/seen" 2>"$work/wrong"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $section: griddep $* --json"
        sed 's/^/    /' "$work/wrong" | tail -n 20
    fi
}

compare info info --emulate
compare info info
GRIDDEP_STORE=$work/cache compare info info --emulate
compare "kernels list" kernels list
for kernel in vector_add rms_norm matvec_bf16 softmax spin; do compare "kernels show" kernels show "$kernel"; done
compare run run "$small" --emulate
compare run run "$top/examples/fork_join.yaml" --emulate --repeat 0 --mode graph-pdl
compare run run "$top/tests/cli/forced.yaml" --emulate
compare run demo --emulate --layers 1 --rows 64 --columns 64
compare check check "$top"/tests/golden/check/GD1*_fires.ptx "$top/tests/cli/late.yaml"
compare check check "$top/tests/cli/broken.ptx" "$work/missing.ptx"
compare check check "$top"/tests/golden/check/GD01*_fires.ptx "$top"/tests/golden/check/GD10*_fires.ptx
printf '.version 8.0\n.target sm_90\n.file 1 "a.cu"\n.entry k()\n{\n.reg .u32 %%r;\n.loc 1 3 1\nmvo.u32 %%r, 1;\nret;\n}\n' >"$work/fix.ptx"
compare check check "$work/fix.ptx"
compare check check "$work/fix.ptx" --fix
compare explain explain
compare explain explain GD110
compare "explain chain" explain "$top/examples/fork_join.yaml"
compare "explain chain" explain "$top/examples/vector_add.yaml" --no-measure
compare trace trace "$small" --emulate
compare trace trace "$top/examples/fork_join.yaml" --emulate --mode all --points
compare tune tune "$small" --emulate
compare tune tune "$small" --emulate -o "$work/tuned"
compare tune tune "$top/tests/cli/preamble.yaml" --emulate
if [ -n "${EMULATED_DRIVER:-}" ]; then
    GRIDDEP_EMULATOR_DEVICES=2 GRIDDEP_NCCL=${EMULATED_DRIVER%/*}/libfake-nccl.so
    export GRIDDEP_EMULATOR_DEVICES GRIDDEP_NCCL
    compare "tune hops" tune --hops 0,1 --driver "$EMULATED_DRIVER"
    unset GRIDDEP_EMULATOR_DEVICES GRIDDEP_NCCL
fi
compare compare compare "$small" "$small" --emulate
compare stress stress "$small" --emulate
compare stress stress "$small" --emulate
compare stress stress "$top/tests/cli/late.yaml" --emulate
compare rewrite rewrite "$top/tests/golden/rewrite/saxpy.ptx"
compare rewrite rewrite "$top/tests/golden/rewrite/saxpy.ptx" -o "$work/new.ptx"
compare sanitize sanitize "$top/tests/cli/late.yaml" --schedule eager
compare sanitize sanitize "$top/examples/fork_join.yaml" --schedule lazy
compare error run "$top/tests/cli/bad_key.yaml"
compare error run "$top/tests/cli/unlike.yaml" --driver emulated
compare error run "$top/examples/vector_add.yaml" --mode unknown
compare error info --driver /nonexistent/libcuda.so.1
PLAIN=1 FATBIN=$top/tests/golden/image/shapes.fatbin KERNELS="_Z9ggml_gemvILb1ELi8EEvPKfPfi _Z9ggml_gemvILb1ELi32EEvPKfPfi" \
    "$griddep" audit --times --driver emulated --json --report "$work/document" -- "${builddir:-.}/tests/attach/program" racy graph shapes >"$work/out" 2>&1
from_file=1 compare audit audit
"$griddep" trace --as-run --driver emulated --json -- "${builddir:-.}/tests/attach/program" racy >"$work/document" 2>"$work/out"
from_file=1 compare "trace program" "trace -- PROGRAM"
"$griddep" sanitize --json --report "$work/document" -- "$griddep" run "$top/tests/cli/forced.yaml" --driver nvidia >"$work/out" 2>&1
from_file=1 compare "sanitize program" "sanitize -- PROGRAM"
if [ -n "$fake" ] && [ -f "$fake" ]; then
    compare run run "$top/examples/vector_add.yaml" --driver "$fake"
    "$python" "$here/json_check.py" "$document" --seen "$work/seen" >"$work/unseen"
    if [ -s "$work/unseen" ]; then
        failed=$((failed + 1))
        echo "failed: doc/json.md has members that no document has"
        sed 's/^/    /' "$work/unseen"
    else
        passed=$((passed + 1))
    fi
else
    skipped=$((skipped + 1))
    echo "skipped: documents of a driver with a device clock: the fake driver is not built"
fi

# The checker must see what is wrong: a member too many, one too few, another type.
for change in 'd["unknown"] = 1' 'd.pop("codes")' 'd["codes"] = 1' 'd["codes"][0]["code"] = None'; do
    "$griddep" explain --json | "$python" -c "import json, sys; d = json.load(sys.stdin); $change; print(json.dumps(d))" >"$work/document"
    if "$python" "$here/json_check.py" "$document" explain "$work/document" >/dev/null 2>&1; then
        failed=$((failed + 1))
        echo "failed: the checker takes a document with $change"
    else
        passed=$((passed + 1))
    fi
done

"$griddep" help --table | awk -F '\t' '$1 == "exit" { print "| " $2 " | " $3 " |" }' >"$work/exits"
while read -r line; do
    if grep -q -F -x "$line" "$document"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "failed: doc/json.md lacks '$line'"
    fi
done <"$work/exits"

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

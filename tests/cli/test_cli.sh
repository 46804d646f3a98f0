#!/bin/sh
# Tests of the griddep command, as a user sees it: what it prints, where, and its exit code. Needs no GPU.
#
# GRIDDEP: the command (./griddep); srcdir: the top of the source tree (the folder two above this file); FAKE_DRIVER: a scripted driver
# library, without which the runs on it are skipped; PYTHON3: reads JSON and tells numbers.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
griddep=${GRIDDEP:-./griddep}
case $griddep in /*) ;; *) griddep=$(pwd)/$griddep ;; esac
fake=${FAKE_DRIVER:-}
python=${PYTHON3:-python3}
command -v "$python" >/dev/null 2>&1 || python=
nowhere=/nonexistent/libcuda.so.1

GRIDDEP_CACHE=off
NO_COLOR=1
export GRIDDEP_CACHE NO_COLOR
unset GRIDDEP_DRIVER GRIDDEP_PDL GRIDDEP_LOG GRIDDEP_NVRTC

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
passed=0 failed=0 skipped=0

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "failed: $1"
    echo "    exit code $code"
    sed 's/^/    stdout: /' "$work/out" | head -n 20
    sed 's/^/    stderr: /' "$work/err" | head -n 20
}
skip() {
    skipped=$((skipped + 1))
    echo "skipped: $1"
}

# run ARGUMENT...: the command; its outcome is in $code, $work/out and $work/err.
run() {
    "$griddep" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}

# check NAME CODE [out|err TEXT]...: the last run's exit code, and texts that a stream holds.
check() {
    name=$1
    if [ "$code" -ne "$2" ]; then
        fail "$name: exit code $2 expected"
        return
    fi
    shift 2
    while [ $# -ge 2 ]; do
        if ! grep -F -q -e "$2" "$work/$1"; then
            fail "$name: std$1 lacks '$2'"
            return
        fi
        shift 2
    done
    pass
}

# silent NAME out|err: a stream of the last run is empty.
silent() {
    if [ -s "$work/$2" ]; then fail "$1: std$2 should be empty"; else pass; fi
}

# json NAME EXPRESSION: stdout is one JSON document d, of which a Python expression holds.
json() {
    if [ -z "$python" ]; then
        skip "$1: no Python to read JSON"
    elif "$python" -c 'import json, sys
d = json.load(sys.stdin)
assert eval(sys.argv[1]), d' "$2" <"$work/out" 2>>"$work/err"; then
        pass
    else
        fail "$1: not JSON with $2"
    fi
}

# ---- help, version, and what is not known

run --help
check "--help" 0 out "usage: griddep COMMAND" out "exit codes:"
silent "--help" err
run
check "no command" 2 out "usage: griddep COMMAND"
run help
check "help" 0 out "usage: griddep COMMAND"
for command in info kernels run demo; do
    run help $command
    check "help $command" 0 out "usage: griddep $command"
    cp "$work/out" "$work/help"
    run $command --help
    if cmp -s "$work/out" "$work/help"; then pass; else fail "help $command is not $command --help"; fi
done
run --version
check "--version" 0 out "griddep "
run demoo
check "unknown command" 2 err "there is no command 'demoo'; did you mean 'demo'?"
silent "unknown command" out
run krenels
check "swapped letters" 2 err "did you mean 'kernels'?"
run xyzzy
check "nothing near" 2 err "there is no command 'xyzzy'; 'griddep --help' lists them"
run help xyzzy
check "help about nothing" 2 err "there is no command 'xyzzy'"
run --versoin
check "unknown global option" 2 err "griddep has no option --versoin"
run run --repaet 3 x.yaml
check "unknown option" 2 err "run has no option --repaet; did you mean --repeat?"
run run --repeat many x.yaml
check "option's number" 2 err "--repeat takes a whole number from 0 to 100000, not 'many'"
run run --repeat=-1 x.yaml
check "option's negative number" 2 err "--repeat takes a whole number from 0 to 100000, not '-1'"
run run x.yaml --repeat
check "option's value" 2 err "--repeat needs a value"
run run --json=yes x.yaml
check "flag with a value" 2 err "--json takes no value"
run run
check "no chain file" 2 err "usage: griddep run CHAIN.yaml"
run run a.yaml b.yaml
check "two chain files" 2 err "'b.yaml' is one word too many"
run demo --rows 12
check "demo's rows" 2 err "--rows and --columns are multiples of 8"
run demo --layers 0
check "demo's layers" 2 err "--layers takes a whole number from 1 to 1024, not '0'"
run info --device one --driver "$nowhere"
check "device's number" 2 err "--device takes a device number from 0 to 1023, not 'one'"
if [ -w /dev/full ]; then
    "$griddep" kernels list >/dev/full 2>"$work/err"
    code=$?
    : >"$work/out"
    check "full output" 4 err "cannot write the output"
else
    skip "full output: no /dev/full here"
fi

# ---- the shelf

run kernels list
check "kernels list" 0 out "vector_add" out "rms_norm" out "softmax" out "matvec_bf16"
cp "$work/out" "$work/list"
run kernels
if cmp -s "$work/out" "$work/list"; then pass; else fail "kernels is not kernels list"; fi
run kernels list --json
check "kernels list --json" 0
json "kernels list --json" '"vector_add" in [k["name"] for k in d["kernels"]] and all(k["purpose"] for k in d["kernels"])'
run kernels show vector_add
check "kernels show" 0 out "purpose" out "entry vector_add" out "griddepcontrol.wait" out "offset 24" \
    out "each path executes griddepcontrol.wait"
run kernels show vector_add --json
check "kernels show --json" 0
json "kernels show --json" 'd["entries"][0]["traits"]["waits_always"] and len(d["entries"][0]["parameters"]) == 4'
json "griddepcontrol lines" '{c["kind"] for c in d["entries"][0]["griddepcontrol"]} == {"wait", "launch_dependents"}'
run kernels show vector_add --ptx
check "kernels show --ptx" 0 out ".visible .entry vector_add"
run kernels show vector_add --capability 80
check "variant for sm_80" 0 out "for sm_80" out "never executes griddepcontrol.wait"
run kernels show matvec_bf16 --capability 70
check "no variant" 2
run kernels show vectoradd
check "unknown kernel" 2 err "the shelf has no kernel 'vectoradd'; did you mean 'vector_add'?"
run kernels shwo vector_add
check "unknown action" 2 err "kernels has no action 'shwo'; did you mean 'show'?"
run kernels show
check "show what" 2 err "usage: griddep kernels list"

# ---- chain files that are not right: each bad_*.yaml with the message in its .expect

cd "$here" || exit 99
for file in bad_*.yaml; do
    run run "$file" --driver "$nowhere"
    check "$file" 2 err "griddep: $(cat "${file%.yaml}.expect")"
    if [ "$(wc -l <"$work/err")" -eq 1 ]; then pass; else fail "$file: more than one line of message"; fi
done
run run nowhere.yaml
check "no such file" 2 err "griddep: nowhere.yaml: No such file or directory"
run run .
check "a folder as chain file" 2 err "griddep: .: is a directory"
run run /dev/null
check "a device as chain file" 2 err "griddep: /dev/null: is not a regular file"
printf 'name: \0x\n' >"$work/zero.yaml"
run run "$work/zero.yaml"
check "a zero byte" 2 err "zero.yaml:1: not valid YAML"
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "["; }' >"$work/deep.yaml"
run run "$work/deep.yaml"
check "deep nesting" 2 err "deep.yaml"
run run bad_type.yaml --json
check "bad file, JSON" 2 err "bad_type.yaml"
json "bad file, JSON" 'd["error"]["exit_code"] == 2 and d["error"]["line"] == 3 and d["error"]["file"] == "bad_type.yaml"'

# ---- no driver

no_driver() {
    run info $1
    check "info without a driver ($1)" 3 err "no NVIDIA driver or device"
    silent "info without a driver ($1)" out
    run info $1 --json
    check "info --json without a driver ($1)" 3
    json "info --json without a driver ($1)" 'd["driver"] is None and d["error"]["name"] == "GRIDDEP_ERROR_NO_DRIVER"'
    run demo $1
    check "demo without a driver ($1)" 3 err "no NVIDIA driver or device"
    run run copy.yaml $1
    check "run without a driver ($1)" 3 err "no NVIDIA driver or device"
    run run copy.yaml $1 --json
    check "run --json without a driver ($1)" 3
    json "run --json without a driver ($1)" 'd["driver"] is None'
    for example in "$top"/examples/*.yaml; do
        run run "$example" $1
        check "$(basename "$example") is valid" 3 err "no NVIDIA driver or device"
    done
}
no_driver "--driver $nowhere"
if ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then
    skip "no libcuda.so.1: there is one here"
else
    no_driver ""
fi

# ---- a scripted driver, whose kernels do nothing

if [ -z "$fake" ] || [ ! -e "$fake" ]; then
    skip "runs on the scripted driver: FAKE_DRIVER names none"
else
    run info --driver "$fake"
    check "info" 0 out "compute capability       9.0" out "programmatic dependent launch"
    run info --driver "$fake" --json
    check "info --json" 0
    json "info --json" 'd["device"]["compute_capability"] == "9.0" and d["features"]["pdl"]["works"]'
    GRIDDEP_PDL=off
    export GRIDDEP_PDL
    run info --driver "$fake" --json
    json "kill switch" 'd["pdl_disabled"] and not d["features"]["pdl"]["works"] and "GRIDDEP_PDL" in d["features"]["pdl"]["reason"]'
    run run copy.yaml --driver "$fake" --repeat 0 --mode pdl --json
    json "kill switch in a run" 'all(not l["pdl"] for l in d["modes"][0]["launches"])'
    GRIDDEP_PDL=perhaps
    run info --driver "$fake"
    check "bad GRIDDEP_PDL" 2 err "GRIDDEP_PDL"
    unset GRIDDEP_PDL
    run info --driver "$fake" --device 99
    check "no such device" 4 err "99"

    run run copy.yaml --driver "$fake" --repeat 3
    check "run" 0 out "serial" out "pdl" out "graph-pdl" out "copy, 2 launches from 0 on: not set"
    silent "run" err
    if [ "$(grep -c 'launches from 0 on: not set' "$work/out")" -eq 2 ]; then pass; else fail "run: one reason for each PDL mode"; fi
    run run copy.yaml --driver "$fake" --repeat 3 --json
    check "run --json" 0
    json "modes" '[m["mode"] for m in d["modes"]] == ["serial", "pdl", "graph", "graph-pdl"]'
    json "results" 'd["as_expected"] and all(m["equal_to_serial"] for m in d["modes"])'
    json "hops" '[l["pdl"] for l in d["modes"][1]["launches"]] == [False, True, False]'
    json "edges" '[l["programmatic_edge"] for l in d["modes"][3]["launches"]] == [None, True, False]'
    json "timings" 'all(m["timing"]["samples"] == 3 and m["timing"]["median_us"] > 0 for m in d["modes"])'
    json "bytes of a step" 'd["bytes_per_step"] == 128 + 128 + 192'
    run run copy.yaml --driver "$fake" --mode graph --repeat 0 --json
    json "one mode" '[m["mode"] for m in d["modes"]] == ["graph"] and d["modes"][0]["timing"] is None'
    run run copy.yaml --driver "$fake" --mode pdl --repeat 0 --pdl off --json
    json "--pdl off" 'all(not l["pdl"] for l in d["modes"][0]["launches"])'
    run run copy.yaml --driver "$fake" --mode pdl --repeat 0 --pdl force --json
    json "--pdl force" 'all(l["pdl"] for l in d["modes"][0]["launches"])'
    run run copy.yaml --driver "$fake" --mode grpah
    check "unknown mode" 2 err "--mode is one of all, serial, pdl, graph, graph-pdl, not 'grpah'; did you mean 'graph'?"
    run run copy.yaml --driver "$fake" --pdl on
    check "unknown --pdl" 2 err "--pdl is auto, off or force, not 'on'"
    run run copy.yaml --driver "$fake" --dump z=z
    check "dump of nothing" 2 err "the chain has no buffer 'z'"
    run run copy.yaml --driver "$fake" --dump x
    check "dump to nowhere" 2 err "--dump is BUFFER=FILE, not 'x'"
    run run copy.yaml --driver "$fake" --repeat 0 --dump "x=$work/none/x"
    check "dump that cannot be written" 2 err "No such file or directory"
    run run unlike.yaml --driver "$fake" --repeat 0
    check "results that differ" 1 out "buffer x is not as expected (file): 5 elements differ in some bit, first element 0: 1, expected 115"
    run run unlike.yaml --driver "$fake" --repeat 0 --json
    check "results that differ, JSON" 1
    json "results that differ, JSON" 'not d["as_expected"] and d["modes"][0]["expectations"][0]["difference"]["unequal_elements"] == 5'
    run demo --driver "$fake" --layers 2 --rows 64 --columns 32 --repeat 1
    check "demo whose kernels do nothing" 1 out "Fake device" out "is not as expected (reference)"

    set --
    for type in u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64 zero poison file; do
        set -- "$@" --dump "b_$type=$work/b_$type"
    done
    run run types.yaml --driver "$fake" --repeat 0 "$@"
    check "types" 0
    if [ -z "$python" ]; then
        skip "contents of buffers: no Python to read them"
    elif "$python" - "$work" 2>>"$work/err" <<'PYTHON'; then
import struct, sys
def read(name, form):
    data = open(sys.argv[1] + "/b_" + name, "rb").read()
    return list(struct.unpack("<%d%s" % (len(data) // struct.calcsize(form), form), data))
assert read("u8", "B") == [254, 255, 0, 1, 2]
assert read("u16", "H") == [65535] * 3
assert set(read("u32", "I")) == {3, 4, 5}
assert read("u64", "Q") == [2**64 - 1] * 2
assert read("s8", "b") == [1, 0, -1, -2]
assert read("s16", "h") == [-32768] * 2
assert read("s32", "i") == [-1] * 2
assert read("s64", "q") == [-2**63] * 2
assert read("f16", "H") == [0x3e00] * 2
assert read("bf16", "H") == [0xc000] * 2
assert read("f64", "d") == [float("inf")] * 2
assert read("zero", "f") == [0.0] * 16
assert read("poison", "H") == [0xffff] * 32
assert read("file", "B") == list(b"short")
normal = read("f32", "f")
mean = sum(normal) / len(normal)
deviation = (sum((x - mean) ** 2 for x in normal) / len(normal)) ** 0.5
assert abs(mean - 10) < 0.15 and abs(deviation - 2) < 0.1, (mean, deviation)
assert len(set(normal)) > 4000
PYTHON
        pass
    else
        fail "contents of buffers"
    fi
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

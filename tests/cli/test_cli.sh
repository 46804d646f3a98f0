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

GRIDDEP_STORE=off
NO_COLOR=1
export GRIDDEP_STORE NO_COLOR
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

# run_from ARGUMENT...: the same with the file $input as stdin.
run_from() {
    "$griddep" "$@" >"$work/out" 2>"$work/err" <"$input"
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
for word in help --help -h; do
    run help $word
    check "help $word" 0 out "usage: griddep COMMAND"
done
for command in info kernels run demo check sanitize explain rewrite tune stress; do
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
run -V
check "-V" 0 out "griddep"
long=$(head -c 100000 /dev/zero | tr '\0' x)
run kernels show "$long"
check "an argument of 100 KB" 2 err "bytes more) ..." err "'griddep kernels list' names them"
if [ "$(wc -c <"$work/err")" -lt 2000 ]; then passed=$((passed + 1)); else fail "an argument of 100 KB is repeated whole"; fi
run kernels show "$long" --json
json "an argument of 100 KB in JSON" 'len(d["error"]["text"]) > 100000'
run check ""
check "an empty path" 2 err "the path of a file is empty"
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
run run x.yaml --mode pdl --mode=graph
check "option given twice" 2 err "--mode is given twice"
run run x.yaml --repeat 1 --repeat 1
check "count given twice" 2 err "--repeat is given twice"
run rewrite x.ptx -o a -oa
check "-o given twice" 2 err "--output is given twice"
run run nowhere.yaml --json --json --dump a=a --dump b=b
check "flags and lists may be given twice" 2 err "nowhere.yaml: No such file"
run run
check "no chain file" 2 err "griddep: a word is missing" err "usage: griddep run CHAIN.yaml"
if grep -q "^usage: griddep run" "$work/err"; then pass; else fail "the usage stands on a line of its own"; fi
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
    check "full output" 4 err "cannot write the output: No space left on device"
    # Written at once, and stderr is asked whether it is a terminal before the end.
    "$griddep" rewrite "$top/ptx/softmax/softmax.ptx" >/dev/full 2>"$work/err"
    code=$?
    check "full output, and a note after it" 4 err "cannot write the output: No space left on device"
else
    skip "full output: no /dev/full here"
fi
"$griddep" rewrite "$top/ptx/softmax/softmax.ptx" >&- 2>"$work/err"
code=$?
check "closed output, and a note after it" 4 err "cannot write the output: Bad file descriptor"

# ---- processes with ranks

run spawn -n 3 -- sh -c 'echo "$RANK$LOCAL_RANK of $WORLD_SIZE$LOCAL_WORLD_SIZE"; exit 0'
[ "$code" -eq 0 ] && [ "$(sort "$work/out" | tr '\n' ,)" = "00 of 33,11 of 33,22 of 33," ] && pass || fail "spawn tells ranks"
run spawn -n 2 -- sh -c 'echo "$MASTER_ADDR:$MASTER_PORT"'
[ "$(sort -u "$work/out" | grep -c '^127.0.0.1:[1-9]')" -eq 1 ] && pass || fail "one place for all processes of spawn"
# Who fails ends the others, also those that do not want to.
run spawn --processes=2 -- sh -c '[ "$RANK" = 0 ] && { sleep 0.3; exit 7; }; exec sleep 600'
check "spawn ends the others" 7
run spawn -n 2 -- sh -c '[ "$RANK" = 1 ] && { sleep 0.3; kill -9 $$; }; trap "" TERM; while :; do sleep 0.2; done'
check "spawn kills who does not end" 137
run spawn -n2 -- ./nothing
check "spawn of no program" 127 err "./nothing cannot be started"
run spawn -- true
check "spawn without a number" 2 err "spawn needs the number of processes: -n N"
run spawn -n 2
check "spawn without a program" 2 err "griddep spawn -- PROGRAM"
run spawn -n 65 -- true
check "spawn of too many" 2 err "64"
run spawn -x 2 -- true
check "spawn with another option" 2 err "-n alone with one"

# ---- the shelf

run kernels list
check "kernels list" 0 out "vector_add" out "rms_norm" out "softmax" out "matvec_bf16"
cp "$work/out" "$work/list"
run kernels
if cmp -s "$work/out" "$work/list"; then pass; else fail "kernels is not kernels list"; fi
run kernels list SoftMax
check "kernels list WORD" 0 out "softmax"
if grep -q vector_add "$work/out"; then fail "kernels list WORD lists others"; else pass; fi
run kernels list zebra
check "kernels list of nothing" 2 err "no kernel of the shelf has 'zebra'"
run kernels show attention
check "the beginning of a name" 2 err "did you mean one of attention_decode_bf16"
run kernels list --json
check "kernels list --json" 0
json "kernels list --json" '"vector_add" in [k["name"] for k in d["kernels"]] and all(k["purpose"] for k in d["kernels"])'
run kernels show vector_add
check "kernels show" 0 out "purpose" out "pdl" out "--ptx"
# How to use a kernel fits a screen; the rest is asked for.
for kernel in gemm_bf16 matvec_bf16 linear_bf16 attention_decode_paged_bf16; do
    run kernels show $kernel
    check "kernels show $kernel" 0 out "parameters"
    if [ "$(wc -l <"$work/out")" -le 45 ] && ! grep -q "Best shape\|rejected" "$work/out"; then
        pass
    else
        fail "kernels show $kernel is more than a screen"
    fi
done
run kernels show vector_add --ptx
check "kernels show --ptx" 0 out ".visible .entry vector_add"
run kernels show vector_add --capability 80
check "variant for sm_80" 0 out "for sm_80"
run kernels show matvec_bf16 --capability 70
check "no variant" 2
run kernels show vectoradd
check "unknown kernel" 2 err "the shelf has no kernel 'vectoradd'; did you mean 'vector_add'?"
run kernels shwo vector_add
check "unknown action" 2 err "kernels has no action 'shwo'; did you mean 'show'?"
run kernels show
check "show what" 2 err "usage: griddep kernels show NAME"

# ---- chain files that are not right (bad.txt): each bad_*.yaml with the message in its .expect

mkdir "$work/bad" && cp "$here"/bad_*.* "$here/copy.ptx" "$here/short.bin" "$work/bad" && awk -v folder="$work/bad" -f "$here/bad.awk" "$here/bad.txt" && cd "$work/bad" || exit 99
for file in bad_*.yaml; do
    run run "$file" --driver "$nowhere"
    check "$file" 2 err "griddep: $(cat "${file%.yaml}.expect")"
    if [ "$(wc -l <"$work/err")" -eq 1 ]; then pass; else fail "$file: more than one line of message"; fi
done
cd "$here" || exit 99
run run late_extent.yaml --driver emulated --multiprocessors 2
check "a buffer that is too small for the device's grid" 2 err \
    "late_extent.yaml:9:17: softmax may touch 800 bytes of buffer 'x' from element 0 on; there are 400"
run run nowhere.yaml
check "no such file" 2 err "griddep: nowhere.yaml: No such file or directory"
run run .
check "a folder as chain file" 2 err "griddep: .: is a directory"
run run /dev/null
check "a device as chain file" 2 err "griddep: /dev/null: is not a regular file"
awk '{ print } /ld.global.nc/ { print; print }' "$here/../golden/check/GD130_fires.ptx" >"$work/places.ptx"
run check "$work/places.ptx"
check "one cause in three places" 1 out "; and 2 more places [GD130]" out "0 errors, 1 warning, 0 notes"
run check --json "$work/places.ptx"
check "each place in JSON" 1 out '"line": 20'
run run "$here/../bindings/chain.ptx"
check "PTX in place of a chain file" 2 err "chain.ptx is PTX, and a chain file is wanted, which names it"
run trace "$(command -v env)"
check "a program in place of a chain file" 2 err "is a program, a library or a cubin, and a chain file is wanted" err "after '--'"
run off env
check "a program without its --" 2 err "'env' is one word too many; a program stands after '--'"
printf 'name: \0x\n' >"$work/zero.yaml"
run run "$work/zero.yaml"
check "a zero byte" 2 err "zero.yaml:1:7: not valid YAML"
awk 'BEGIN { for (i = 0; i < 200000; i++) printf "["; }' >"$work/deep.yaml"
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "- "; }' >"$work/deep_block.yaml"
awk 'BEGIN { printf "["; for (i = 0; i < 100000; i++) printf "&a%d x,\n", i; }' >"$work/anchors.yaml"
quickly() { # a file that must be refused at once, not after minutes of the processor's time
    (ulimit -t 60 && exec "$griddep" run "$1") >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
quickly "$work/deep.yaml"
check "deep nesting" 2 err "deep.yaml:1:33: lists and maps are nested more than 32 deep"
quickly "$work/deep_block.yaml"
check "deep nesting of lines" 2 err "deep_block.yaml:1:65: lists and maps are nested more than 32 deep"
quickly "$work/anchors.yaml"
check "many anchors" 2 err "anchors.yaml:1:2: YAML anchors and aliases (&name, *name) are not accepted"
number_file() { # number_file TYPE FIELDS [ARGUMENT]: a chain with a buffer of the type that holds what the fields say
    cat >"$work/number.yaml" <<YAML
name: number
buffers:
  - {name: x, type: $1, count: 4, $2}
  - {name: y, type: f32, count: 16}
launches:
  - kernel: vector_add
    grid: [1]
    block: [32]
    arguments: [{buffer: y, access: read}, {buffer: y, access: read}, {buffer: y, access: update}, {${3:-u32: 16}}]
YAML
}
refused() { # refused TYPE FIELDS MESSAGE
    number_file "$1" "$2"
    run run "$work/number.yaml" --driver "$nowhere"
    check "$1 with $2" 2 err "number.yaml:3:" err "$3"
}
taken() { # taken TYPE FIELDS
    number_file "$1" "$2"
    run run "$work/number.yaml" --driver "$nowhere"
    check "$1 with $2" 3 err "no driver or device"
}
refused f32 "constant: 1e39" ":46: 1e39 does not fit f32"
refused f32 "constant: 3.4028236e38" "3.4028236e38 does not fit f32"
refused f32 "constant: -1e39" "-1e39 does not fit f32"
refused f16 "constant: 1e5" "1e5 does not fit f16"
refused f16 "constant: 65520" "65520 does not fit f16"
refused bf16 "constant: 3.4e38" "3.4e38 does not fit bf16"
refused f64 "constant: 1e309" "1e309 does not fit f64"
refused f64 "constant: 1e99999" "1e99999 does not fit f64"
refused f32 "random: {high: 1e39}" "1e39 does not fit f32"
refused f64 "random: {low: -1e308, high: 1e308}" "high minus low does not fit f64"
refused f16 "random: {distribution: normal, mean: 1e5}" "1e5 does not fit f16"
refused f16 "random: {distribution: normal, deviation: 60000}" "mean and 4.3 deviations do not fit f16"
refused f16 "sequence: {start: 60000, step: 5000}" "the sequence's last element, 75000, does not fit f16"
refused u32 "constant: 4294967296" "4294967296 does not fit u32"
refused s8 "constant: -129" "-129 does not fit s8"
refused u8 "constant: 1e99999" "1e99999"
for word in infinity INF +inf "nan(123)" nan0x1 0x1p3 0x10 "\"\\t1\"" "\" 1\"" 1e 1e+ . -. +-1 1.2.3 1_000 ""; do
    refused f32 "constant: ${word:-\"\"}" ""
done
for word in inf -inf nan .inf -.inf .nan 1 -1. +.5 1e5 1.5E-3 3.4028235e38 1e-60; do
    taken f32 "constant: $word"
done
taken f16 "constant: 65519"
taken u64 "constant: 0xffffffffffffffff"
taken s64 "constant: -9223372036854775808"
taken f16 "random: {distribution: normal, deviation: 15000}"
number_file f32 "constant: 1" "f32: 1e99"
run run "$work/number.yaml" --driver "$nowhere"
check "an argument too large" 2 err "number.yaml:9:" err "1e99 does not fit f32"

run run bad_type.yaml --json
check "bad file, JSON" 2 err "bad_type.yaml"
json "bad file, JSON" 'd["error"]["exit_code"] == 2 and d["error"]["line"] == 3 and d["error"]["file"] == "bad_type.yaml"'

# ---- explain

run explain
check "explain" 0 out "GD110  error    global memory is read before the wait"
cp "$work/out" "$work/codes"
if [ "$(grep -c '^GD[0-9][0-9][0-9]  \(error  \|warning\|note   \)  .' "$work/codes")" -eq "$(wc -l <"$work/codes")" ]; then
    pass
else
    fail "explain: each line is a code, a severity and a title"
fi
for word in $(sed 's/ .*//' "$work/codes"); do
    run explain "$word"
    check "explain $word" 0 out "$(grep "^$word " "$work/codes" | sed 's/^[^ ]*  [a-z]*  *//')"
done
run explain gd110 GD111
check "explain two codes, one in lower case" 0 out "GD110, error: " out "GD111, error: "
run explain GD110 GD11O
check "misspelt code" 2 err "there is no code 'GD11O'; did you mean 'GD110'?"
silent "misspelt code" out
run explain xyzzy
check "no code" 2 err "there is no code 'xyzzy'; 'griddep explain' lists them"
run explain /dev/null
check "neither a chain nor a code" 2 err "explain takes a chain file, whose name ends in .yaml, or the codes of findings, and '/dev/null' is neither"
run explain late.ptx
check "explain PTX" 2 err "'griddep check late.ptx' prints its findings"
run explain late.yaml --driver "$nowhere"
check "explain a chain without a driver" 3 err "driver or device can be used here"
run explain late.yaml GD110
check "explain a chain and a code" 2 err "explain takes one chain file"
run explain late.yaml --mode graph-pld --driver "$nowhere"
check "explain in no mode" 2 err "graph-pdl"
run explain bad_type.yaml --json
check "explain a bad chain" 2 err "bad_type.yaml"
json "explain a bad chain" 'd["error"]["file"] == "bad_type.yaml"'
run explain GD110 --mode pdl
check "explain a code in a mode" 2 err "go with a chain file"
run explain --json
check "explain --json" 0
json "explain --json" 'len(d["codes"]) == len({c["code"] for c in d["codes"]}) > 9 and all(c["page"] and c["title"] for c in d["codes"])'
run explain GD110 --json
json "explain CODE --json" '[c["severity"] for c in d["codes"]] == ["error"]'

# ---- check

cd "$here" || exit 99
run check late.ptx
check "check" 1 out "late.ptx:25:" out ": error: " out "[GD110]" out "25 | " out "ld.global.f32 %value, [%x];" out "^" out "hint: " \
    out "1 error, 0 warnings, 0 notes"
silent "check" err
input=late.ptx
run_from check -
check "check stdin" 1 out "<stdin>:25:" out "[GD110]"
run_from check - -
check "stdin twice" 2 err "'-' is stdin, which can be read once"
run check late.ptx --constant x
check "check --constant" 0 out "0 errors, 0 warnings, 0 notes"
run check late.ptx --constant late.x
check "check --constant ENTRY.PARAMETER" 0
run check late.ptx --constant y --constant scale
check "another constant" 1 out "[GD110]"
run check late.ptx --constant scael
check "constant of nothing" 2 err "--constant: no entry has a parameter 'scael'; did you mean 'scale'?"
run check late.ptx copy.ptx --constant x --constant late.scale
check "constant of one file among two" 0
run check late.ptx --constant late.z
check "constant of nothing in the entry" 2 err "no entry has a parameter 'late.z'"
run check late.yaml --constant x
check "--constant for a chain" 2 err "in a chain file an argument has 'access: constant'"
for constant in x y; do
    run check broken.ptx --constant "$constant"
    check "a constant of a text that cannot be parsed" 1
done
cat >"$work/unwaiting.ptx" <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x)
{
    .reg .b64 %x;
    ld.param.u64 %x, [x];
    griddepcontrol.launch_dependents;
    st.global.u32 [%x], 7;
    ret;
}
END
run check "$work/unwaiting.ptx"
check "a kernel that triggers and never waits fails the check" 1 out "[GD140]"
run check late.ptx --severity error
check "--severity error" 1 out "[GD110]"
run check late.ptx --constant x --severity note
check "--severity note on what is clean" 0
sed '/launch_dependents/d' late.ptx >"$work/untriggered.ptx"
run check "$work/untriggered.ptx" --constant x
check "notes are clean" 0 out ": note: " out "[GD145]" out "0 errors, 0 warnings, 1 note"
run check "$work/untriggered.ptx" --constant x --severity note
check "--severity note counts notes" 1 out "[GD145]"
run check "$work/untriggered.ptx" --constant x --severity error
check "--severity error hides notes" 0 out "0 errors, 0 warnings, 1 note (1 not shown)"
if grep -q GD145 "$work/out"; then fail "--severity error shows a note"; else pass; fi
run check late.ptx --severity fatal
check "unknown severity" 2 err "--severity is one of note, warning, error, not 'fatal'"
run check late.ptx --severity erorr
check "misspelt severity" 2 err "did you mean 'error'?"
run check
check "check what" 2 err "usage: griddep check"

run check broken.ptx
check "syntax errors are findings" 1 out "broken.ptx:9:" out "broken.ptx:11:" out "[GD002]"
run check nowhere.ptx
check "check what is not there" 2 err "griddep: nowhere.ptx: No such file or directory"
silent "check what is not there" out
run check nowhere.ptx late.ptx .
check "all files are looked at" 2 err "nowhere.ptx: No such file" err ".: is a directory" out "late.ptx:25:"
: >"$work/empty.ptx"
run check "$work/empty.ptx"
check "an empty file is no PTX" 1 out "empty.ptx" out ": error: "
head -c 4096 /bin/true >"$work/elf.ptx"
run check "$work/elf.ptx"
check "ELF" 2 err "elf.ptx: the section table of this file lies beyond the end of the data"
cat >"$work/elf.yaml" <<'END'
name: image
modules: [{name: m, file: elf.ptx}]
buffers: [{name: a, type: f32, count: 16}]
launches:
  - {kernel: k, module: m, pdl: force, grid: [1], block: [32], arguments: [{buffer: a}]}
END
run check "$work/elf.yaml"
check "a finding about code without a text is at its launch" 0 \
    out "elf.yaml:5:5: note: k is forced" \
    out "   5 |   - {kernel: k, module: m, pdl: force," out "     |     ^"
printf '\120\355\125\272\001\000\020\000' >"$work/fat.ptx"
run check "$work/fat.ptx"
check "a fatbin that is cut off" 2 err "this fatbin ends inside its header"
images=$srcdir/tests/golden/image
run check "$images/kernels.zstd.fatbin"
check "a fatbin" 1 out "kernels.zstd.fatbin:sm_90:85:1" \
    out "kernels.zstd.fatbin:sm_90: kernel scale: machine code; waits on every path; triggers at its end, implicitly; safe to launch early" \
    out "kernel partly: machine code; some threads leave before the wait while others wait" \
    out "kernel fill: machine code; never waits; triggers; not safe"
printf '.section .nv_fatbin,"a"\n.incbin "%s"\n.balign 8\n.incbin "%s"\n' "$images/kernels.plain.fatbin" "$images/shapes.fatbin" >"$work/program.s"
if ${CC:-cc} -c "$work/program.s" -o "$work/program.o"; then
    run check --severity error "$work/program.o"
    check "the fatbins of a program" 1 out "program.o:sm_90: kernel scale: machine code" out "program.o:sm_90a: kernel triton_add: machine code" out "in threads that do not wait, and no barrier orders them behind those that do [GD120]"
    echo >"$work/nothing.s" && ${CC:-cc} -c "$work/nothing.s" -o "$work/nothing.o"
    run check "$work/nothing.o"
    check "a program without code for a GPU" 2 err "nothing.o: there is no code for a GPU in it (no section .nv_fatbin)"
fi
mkdir "$work/without"
for library in libzstd.so.1 liblz4.so.1; do : >"$work/without/$library"; done
for packed in zstd lz4; do
    LD_LIBRARY_PATH=$work/without run check "$images/kernels.$packed.fatbin"
    check "a fatbin without the library for $packed" 0 err "libzstd.so.1 or liblz4.so.1 is not installed (Debian: libzstd1, liblz4-1)"
done
run check "$images/kernels.targets.fatbin" --json
json "a fatbin for several targets" 'sum(v["file"].endswith(":sm_100f") for v in d["verdicts"]) == 6 and {v["waits"] for v in d["verdicts"] if v["entry"] == "scale"} == {"always"}'
run check "$images/kernels.zstd.fatbin" --fix
check "a fatbin cannot be mended" 2 err "this is a fatbin; only PTX text can be mended"
awk 'BEGIN { for (i = 1; i < 6000; i++) printf "%c", (i * i * 7 + i * 31) % 255 + 1; }' >"$work/garbage.ptx"
run check "$work/garbage.ptx"
check "garbage" 1 out ": error: "
printf '.version 7.8 \033[31m\n' >"$work/escape.ptx"
run check "$work/escape.ptx"
check "control characters" 1
if grep -q "$(printf '\033')" "$work/out"; then fail "control characters reach the terminal"; else pass; fi
echo '__global__ void k() {}' >"$work/k.cu"
run check --fix "$work/k.cu"
check "CUDA C++ cannot be mended" 2 err "this is CUDA C++; only PTX text can be mended"
if mkfifo "$work/pipe" 2>/dev/null; then
    cat late.ptx >"$work/pipe" &
    writer=$!
    run check "$work/pipe"
    check "a pipe" 1 out "[GD110]"
    kill $writer 2>/dev/null
    wait $writer
    for command in check rewrite; do
        run $command "$work/pipe"
        check "$command: a pipe without a writer" 2 err "this is a pipe into which no program writes"
    done
    run info --driver "$work/pipe"
    check "a driver that is a pipe" 3 err "the driver cannot be opened: $work/pipe is a pipe"
    run audit --driver "$work/pipe" -- true
    check "a driver to watch that is a pipe" 3 err "the driver cannot be opened: $work/pipe: is not a regular file"
    GRIDDEP_NVRTC=$work/pipe "$griddep" check "$work/k.cu" >"$work/out" 2>"$work/err"
    code=$?
    check "an NVRTC that is a pipe" 65 err "$work/pipe: is a pipe"
    run rewrite copy.ptx -o "$work/pipe"
    check "a pipe without a reader" 4 err "--output: $work/pipe: this is a pipe from which no program reads"
else
    skip "a pipe: mkfifo does not work here"
fi

run check late.ptx broken.ptx nowhere.ptx late.yaml --json
check "check --json" 2 err "nowhere.ptx"
json "check --json: findings" '{f["code"] for f in d["findings"] if f["file"] == "late.ptx" and not f["launches"]} == {"GD110"}'
json "check --json: position" '[(f["line"], f["severity"], f["entry"]) for f in d["findings"] if f["code"] == "GD110"][0] == (25, "error", "late")'
json "check --json: quote" 'all(f["quote"] and f["quote"].endswith("^\n") for f in d["findings"] if f["code"] == "GD110")'
json "check --json: counts" 'd["errors"] == sum(f["severity"] == "error" for f in d["findings"]) >= 4 and d["exit_code"] == 2 and d["files_checked"] == 3'
json "check --json: failures" '[(f["file"], f["exit_code"]) for f in d["failures"]] == [("nowhere.ptx", 2)]'
run check late.ptx --constant x --json
check "check --json, clean" 0
json "check --json, clean" 'd["findings"] == [] and d["failures"] == [] and d["exit_code"] == 0'
run check late.ptx --severity fatal --json
json "unknown severity, JSON" 'd["error"]["exit_code"] == 2'

run check late.yaml
check "check a chain" 1 out "late.ptx:25:" out "[GD206]" out "in launch 1 (late) of late.yaml, line 16" \
    out "in launch 2 (late) of late.yaml, line 21" out " 0 notes"
silent "check a chain" err
run check late.yaml --json
json "check a chain, JSON" '[f["launches"] for f in d["findings"] if f["code"] == "GD206"] == [[1], [2]]'
for example in "$top"/examples/*.yaml; do
    run check "$example"
    check "$(basename "$example") is clean" 0 out "0 errors, 0 warnings"
    silent "$(basename "$example") is clean" err
done
sed 's/constant: 300/constant: 512/; /^expect/,$d' "$top/examples/decode_attention.yaml" >"$work/beyond.yaml"
run run "$work/beyond.yaml" --emulate --repeat 0
check "a position behind the cache ends the run" 4 err "trap"

sed 's/cluster: \[4, 1, 1\]/&\n    cluster_scheduling: balance/' "$top/examples/decode_attention.yaml" >"$work/balanced.yaml"
run run "$work/balanced.yaml" --emulate --repeat 0
check "a cluster that goes where there is room" 0

# append PAGE_TABLE PITCH START STEP: two tokens at positions START and START + STEP of a cache of 16 rows, or of two pages of 16 where there
# is a table; four threads, so that the second token has its turn in a loop's second round.
append() {
    cat >"$work/append.yaml" <<YAML
name: append
buffers:
  - {name: qkv, type: bf16, count: 128, random: {seed: 1}}
  - {name: y, type: bf16, count: 64}
  - {name: k, type: bf16, count: 2048, random: {seed: 2}}
  - {name: v, type: bf16, count: 2048, random: {seed: 3}}
  - {name: table, type: u32, count: 4, sequence: {}}
  - {name: angles, type: f32, count: 512, constant: 0.70710678}
  - {name: positions, type: u32, count: 2, sequence: {start: $3, step: $4}}
launches:
  - kernel: rotary_append_bf16
    grid: [1]
    block: [4]
    arguments: [{buffer: qkv, access: read}, {buffer: y, access: write}, {buffer: k, access: update}, {buffer: v, access: update},
      $1, {buffer: angles, access: constant}, {buffer: positions, access: constant}, {u64: 0}, {u32: 2}, {u32: 2}, {u32: 1}, {u32: 16},
      {u32: 16}, {u32: $2}]
YAML
    run run "$work/append.yaml" --emulate --repeat 0
}
append "{u64: 0}" 0 14 1
check "rows appended to a cache's end" 0
append "{u64: 0}" 0 16 -1
check "the first token behind the cache" 4 err "trap"
append "{u64: 0}" 0 15 1
check "a later token behind the cache" 4 err "trap"
append "{buffer: table, access: constant}" 2 30 1
check "rows appended to the last page" 0
append "{buffer: table, access: constant}" 4 30 1
check "angles of fewer positions than the pages have" 2 err "may touch 4096 bytes of buffer 'angles' from element 0 on; there are 2048"
append "{buffer: table, access: constant}" 2 32 -1
check "the first token behind its pages" 4 err "trap"
append "{buffer: table, access: constant}" 2 31 1
check "a later token behind its pages" 4 err "trap"
append "{buffer: table, access: constant}" 0 0 1
check "a table without entries" 2 err "page_table == 0 || table_pitch >= 1"
for shelf in "$top"/ptx/*/*.ptx "${builddir:-.}"/ptx/*/*.ptx; do
    [ -e "$shelf" ] || continue
    run check "$shelf"
    check "$(basename "$shelf") of the shelf is clean" 0
done
run check bad_type.yaml
check "check a bad chain file" 2 err "griddep: $(cat bad_type.expect)"
sed 's/late.ptx/broken.ptx/; s/kernel: late/kernel: broken/; s/, {buffer: scale, access: constant}, {buffer: ., access: write}\]/]/' \
    late.yaml >"$work/broken.yaml"
cp broken.ptx "$work"
run check "$work/broken.yaml"
check "a chain with broken PTX" 1 out "broken.ptx:9:" out "[GD002]"
cp "$work/fat.ptx" "$work/late.fatbin"
sed 's/late.ptx/late.fatbin/' late.yaml >"$work/fat.yaml"
run check "$work/fat.yaml"
check "a chain with a fatbin" "$code" err "note: module 'mine' is a fatbin, which is not read: its kernels are checked as unknown code" out " errors, "
run check "$work/fat.yaml" --json
json "a chain with a fatbin, JSON" 'len(d["remarks"]) == 1 and "fatbin" in d["remarks"][0]'
sed 's/count: 32/count: 900000000000000/; s/{u32: 32}/{u32: 5}/' late.yaml >"$work/large.yaml"
cp late.ptx "$work"
run check "$work/large.yaml"
check "buffers that this machine cannot hold" 1 out "[GD206]"

# ---- tune

cat >"$work/tune.yaml" <<'END'
name: tuned
buffers:
  - {name: a, type: f32, count: 2048, random: {seed: 1}}
  - {name: b, type: f32, count: 2048}
  - {name: c, type: f32, count: 2048}
launches:
  - kernel: vector_add
    grid: [8]
    grids: [4, any]
    carveout: 25
    carveouts: [any, default]
    block: [256]
    arguments: [{buffer: a, access: read}, {buffer: a, access: read}, {buffer: b, access: write}, {u32: 2048}]
  - kernel: vector_add
    grid: [8]
    block: [256]
    arguments: [{buffer: b, access: read}, {buffer: a, access: read}, {buffer: c, access: write}, {u32: 2048}]
expect:
  - {buffer: c, from: reference}
END
if [ -z "${EMULATED_DRIVER:-}" ]; then
    skip "tune: no emulated driver"
else
    sed '/grids/d; /carveout/d; s/block: .*/&\n    pdl: "off"/' "$work/tune.yaml" >"$work/tune_off.yaml"
    run tune "$work/tune_off.yaml" --driver "$EMULATED_DRIVER"
    check "tune without a store" 0 out "not remembered: there is no store"
    run tune "$work/tune.yaml" --driver "$EMULATED_DRIVER" --gain 0.0001 -o "$work/tuned" --json
    check "tune --json" 0
    json "tune --json" "d['clock'] == 'model' and d['trials'] and d['remembered'] is False"
    json "tune offers grids" "any(t['tried'].startswith('grid ') for t in d['trials'])"
    json "tune offers carve-outs, and not the one there is" "sorted(t['tried'][9:-22] for t in d['trials'] if t['tried'].endswith('for all that offer it')) == ['0', '100', '50', '75', 'default']"
    json "tune tells the shapes of its choice" "[(c['block'], c['shared_bytes']) for c in d['choices']] == [(256, 0)] * 2"
    json "tune tells the carve-outs of its choice" "[c['carveout'] for c in d['choices']] == [25, None]"
    if [ -e "$work/tuned/chain.yaml" ]; then
        run run "$work/tuned/chain.yaml" --driver "$EMULATED_DRIVER" --repeat 0
        check "run what tune wrote" 0
        run check "$work/tuned/chain.yaml"
        check "check what tune wrote" 0
    else
        json "tune writes what it changed" "not d['changed']"
    fi
    sed -e 's/^modules:/&\n  - {name: mine_tuned, file: preamble.ptx}/' \
        -e '/buffer: a/s/module: mine/&_tuned/' preamble.yaml >"$work/taken.yaml"
    cp preamble.ptx "$work"
    run tune "$work/taken.yaml" --driver "$EMULATED_DRIVER" -o "$work/taken"
    check "tune of a chain that has a module of the new name" 0 out "written to $work/taken: chain.yaml"
    run run "$work/taken/chain.yaml" --driver "$EMULATED_DRIVER" --repeat 0
    check "run what tune wrote beside it" 0
    names=$(sed -n 's/.*name: \(mine[a-z_]*\)$/\1/p' "$work/taken/chain.yaml" | LC_ALL=C sort)
    case $(echo $names) in
    "mine mine_tuned mine_tuned_") pass ;;
    *) fail "names of modules that tune writes: $names" ;;
    esac
    run tune preamble.yaml --driver "$EMULATED_DRIVER" --forget
    check "tune tells why" 0 out "why: microseconds of a hop" out "  all  what was chosen" out "a hop takes 20."
    run tune preamble.yaml --driver "$EMULATED_DRIVER" --forget --json
    json "tune tells why in JSON" "d['why']['hops'] == 1 and d['why']['before']['launch_lead_ns'] < 0 < d['why']['after']['launch_lead_ns']"
    json "trials of note tell why" "any(t['why'] for t in d['trials'] if t['outcome'] == 'faster') and any(t['why'] for t in d['trials'] if t['tried'].startswith('pdl off'))"
    run tune "$work/tune.yaml" --driver "$EMULATED_DRIVER" --gain 99 -o "$work/untuned"
    check "tune finds nothing" 0 out "nothing better was found" out "nothing is changed" out "model time" out "nothing is written to $work/untuned"
    if [ -e "$work/untuned" ]; then fail "tune that changes nothing writes"; else pass; fi
    sed '/^expect:/,$d' "$work/tune.yaml" >"$work/tune_free.yaml"
    run tune "$work/tune_free.yaml" --driver "$EMULATED_DRIVER" --gain 99
    check "tune without expect" 0 err "compared with the serial run alone"
    if [ "${GRIDDEP_SLOW_TESTS:-0}" = 1 ]; then
        run tune --demo --driver "$EMULATED_DRIVER" --forget --json --gain 99
        check "tune --demo" 0
        json "tune --demo tunes the demo" "d['chain'].startswith('demo, 8 layers') and len(d['choices']) == 15"
    fi
fi
sed '/^  - kernel/,$d' "$work/tune.yaml" >"$work/tune_one.yaml"
sed -n '/^  - kernel/,/^    arguments/p' "$work/tune.yaml" | sed -n 1,7p >>"$work/tune_one.yaml"
run tune "$work/tune_one.yaml"
check "tune one launch" 2 err "a chain of one kernel has no hop to tune"
if [ -n "${EMULATED_DRIVER:-}" ]; then
    store_before=$GRIDDEP_STORE
    GRIDDEP_EMULATOR_DEVICES=2 GRIDDEP_STORE=$work/hops GRIDDEP_NCCL=${EMULATED_DRIVER%/*}/libfake-nccl.so
    export GRIDDEP_EMULATOR_DEVICES GRIDDEP_STORE GRIDDEP_NCCL
    run tune --hops 0,1 --driver "$EMULATED_DRIVER" --forget
    check "tune --hops --forget" 0 out "  4096 " out "NCCL us  chosen" out "model times" out "not remembered"
    if [ -e "$work/hops" ]; then fail "tune --hops --forget remembers"; else pass; fi
    run tune --hops 1,0 --driver "$EMULATED_DRIVER"
    check "tune --hops" 0 out "a hop between devices 1 and 0" out "remembered for groups on such devices"
    if [ "$(ls "$work/hops" | wc -l)" = 1 ]; then pass; else fail "tune --hops remembers one thing"; fi
    run tune --hops 0,1 --driver "$EMULATED_DRIVER" --json
    check "tune --hops --json" 0
    json "tune --hops tells sizes" "d['remembered'] and [s['bytes'] for s in d['sizes']] == [4096 << i for i in range(6)] and all(s['inbox_us'] > 0 and s['nccl_us'] > 0 for s in d['sizes'])"
    json "tune --hops tells carriers" "all((s['chosen'] == 'NCCL') == (d['nccl_bytes'] is not None and s['bytes'] >= d['nccl_bytes']) for s in d['sizes'])"
    run tune --hops 0,2 --driver "$EMULATED_DRIVER"
    check "tune --hops without the second device" 2 err "device 2 does not exist; there are 2"
    run tune --hops 1,1 --driver "$EMULATED_DRIVER"
    check "tune --hops of one device" 2 err "members 0 and 1 are both of device 1"
    GRIDDEP_STORE=/proc/griddep
    run tune --hops 0,1 --driver "$EMULATED_DRIVER"
    check "tune --hops with a store that cannot be written" 2 err "nccl_bytes is not remembered: the store cannot be written"
    GRIDDEP_NCCL=/nowhere/libnccl.so.2
    run tune --hops 0,1 --driver "$EMULATED_DRIVER"
    check "tune --hops without NCCL" 4 err "NCCL cannot be opened: /nowhere/libnccl"
    unset GRIDDEP_EMULATOR_DEVICES GRIDDEP_NCCL
    GRIDDEP_STORE=$store_before
fi
run tune --hops 0
check "tune --hops of one word" 2 err "--hops takes two devices, such as 0,1, not '0'"
run tune --hops 0,x
check "tune --hops of no number" 2 err "not 'x'"
run tune "$work/tune.yaml" --hops 0,1
check "tune of a chain and hops" 2 err "--hops tunes no chain"
run tune --hops 0,1 --device 1
check "tune --hops --device" 2 err "names its devices itself"
run tune "$work/tune.yaml" --mode serial
check "tune --mode serial" 2 err "serial"
run tune
check "tune of nothing" 2 err "griddep tune takes a chain file, --demo or --hops"
run tune --demo "$work/tune.yaml"
check "tune of two chains" 2 err "not both"
run stress
check "stress of nothing" 2 err "a word is missing"
run tune --demo -o "$work/demo"
check "tune --demo -o" 2 err "--demo has none"
run stress "$work/tune.yaml" --mode serial
check "stress --mode serial" 2 err "--mode is one of both, pdl, graph-pdl, not 'serial'"
run tune "$work/tune.yaml" --gain 0
check "tune --gain 0" 2 err "--gain is a number of percent"
sed 's/grids: .*/grids: [4, none]/' "$work/tune.yaml" >"$work/tune_grids.yaml"
run tune "$work/tune_grids.yaml"
check "bad grids" 2 err "grids is a list of whole numbers"

# ---- stress

cat >"$work/transitive.ptx" <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry add_one(.param .u64 in, .param .u64 out)
{
    .reg .b32 %t, %v;
    .reg .b64 %in, %out, %i;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %i, %t, 4;
    add.u64 %in, %in, %i;
    add.u64 %out, %out, %i;
    griddepcontrol.wait;
    griddepcontrol.launch_dependents;
    ld.global.u32 %v, [%in];
    add.u32 %v, %v, 1;
    st.global.u32 [%out], %v;
    ret;
}
.visible .entry early(.param .u64 in, .param .u64 out)
{
    .reg .b32 %t, %v;
    .reg .b64 %in, %out, %i;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x;
    mul.wide.u32 %i, %t, 4;
    add.u64 %in, %in, %i;
    add.u64 %out, %out, %i;
    ld.global.u32 %v, [%in];
    griddepcontrol.wait;
    add.u32 %v, %v, 1;
    st.global.u32 [%out], %v;
    ret;
}
END
# stress_chain KERNEL INPUT: add_one twice, then a kernel that reads a buffer.
stress_chain() {
    cat <<END
name: $1 of $2
modules: [{name: m, file: transitive.ptx}]
buffers:
  - {name: a, type: u32, count: 64}
  - {name: b, type: u32, count: 64}
  - {name: c, type: u32, count: 64}
  - {name: d, type: u32, count: 64}
launches:
  - {kernel: add_one, module: m, grid: [1], block: [64], arguments: [{buffer: a, access: read}, {buffer: b, access: write}]}
  - {kernel: add_one, module: m, grid: [1], block: [64], arguments: [{buffer: b, access: read}, {buffer: c, access: write}]}
  - {kernel: $1, module: m, grid: [1], block: [64], arguments: [{buffer: $2, access: read}, {buffer: d, access: write}]}
END
}
if [ -z "${EMULATED_DRIVER:-}" ]; then
    skip "stress: no emulated driver"
else
    stress_chain add_one c >"$work/stress.yaml"
    run stress "$work/stress.yaml" --driver "$EMULATED_DRIVER"
    check "stress" 0 out "no attack changed the results"
    run stress "$work/stress.yaml" --driver "$EMULATED_DRIVER" --json
    check "stress --json" 0
    json "stress --json" "d['differences'] == 0 and len(d['attacks']) == 8 and all(a['ran'] for a in d['attacks'])"
    # The read before the wait is ordered by the trigger behind the wait of the kernel before: triggers must not be moved.
    stress_chain early b >"$work/stress.yaml"
    run check "$work/stress.yaml"
    transitive=$code
    run stress "$work/stress.yaml" --driver "$EMULATED_DRIVER"
    if [ "$transitive" -eq 0 ]; then
        check "stress leaves triggers that count" 0 out "no attack changed the results" out "triggers where they are"
        run stress "$work/stress.yaml" --driver "$EMULATED_DRIVER" --json
        json "stress moves the triggers that do not count" \
            "all(a['own_triggers'] == (a['producer'] == 1) for a in d['attacks'])"
    else
        check "stress of a chain that is not right" 1 out "changed the results"
    fi
    stress_chain early c >"$work/stress.yaml"
    run stress "$work/stress.yaml" --driver "$EMULATED_DRIVER"
    check "stress finds a late wait" 1 out "launch 2 (early) left something else in buffer d" out "attacks changed the results"
    { cat "$work/stress.yaml" && echo '  - {kernel: add_one, module: m, grid: [1], block: [64], arguments: [{buffer: d}, {buffer: b}]}'; } |
        sed 's/, access: [a-z]*//g' >"$work/unsaid.yaml"
    run stress "$work/unsaid.yaml" --driver "$EMULATED_DRIVER"
    check "stress blames no launch that only reads" 1 out "launch 2 (early) left something else in buffer d"
fi
stress_chain add_one c | sed '$d' | sed '$d' >"$work/stress.yaml"
run stress "$work/stress.yaml"
check "stress one launch" 2 err "has no hop"
printf 'name: moves\nbuffers: [{name: a, type: f32, count: 4}, {name: b, type: f32, count: 4}]\nlaunches:\n  - {copy: {from: a, to: b}}\n  - {fill: {buffer: a, value: 1}}\n' >"$work/moves.yaml"
for case in "stress 2 err the chain has no hop: no launch stands behind a kernel" "tune 2 err a chain without a kernel has no hop to tune" \
    "trace 4 err the chain has no kernel, and nothing else tells when it runs" "explain 0 out measured: nothing: the chain has no kernel" "sanitize 0 out (no kernel; schedules"; do
    IFS=' ' read -r command code where text <<END
$case
END
    [ -n "${EMULATED_DRIVER:-}" ] && run "$command" "$work/moves.yaml" --driver "$EMULATED_DRIVER" && check "$command without kernels" "$code" "$where" "$text"
done

# ---- rewrite

run rewrite copy.ptx
check "rewrite" 0 out ".target sm_90" out "griddepcontrol.wait;" out "griddepcontrol.launch_dependents;" \
    out "// A kernel without griddepcontrol" err "<stdout>:" err "[GD301]" err "[GD303]" err "[GD307]"
cp "$work/out" "$work/ready.ptx"
run check "$work/ready.ptx"
check "what was rewritten is right" 0
run rewrite "$work/ready.ptx"
check "rewritten twice" 0 err "nothing to change"
if cmp -s "$work/out" "$work/ready.ptx"; then pass; else fail "rewriting twice is not rewriting once"; fi
input=copy.ptx
run_from rewrite -
check "rewrite stdin" 0
if cmp -s "$work/out" "$work/ready.ptx"; then pass; else fail "stdin is rewritten in another way than the file"; fi
run rewrite copy.ptx -o "$work/made.ptx"
check "rewrite -o" 0 err "$work/made.ptx:"
silent "rewrite -o" out
if cmp -s "$work/made.ptx" "$work/ready.ptx"; then pass; else fail "rewrite -o writes another text"; fi
for form in "-o$work/made2.ptx" "--output=$work/made2.ptx"; do
    rm -f "$work/made2.ptx"
    run rewrite copy.ptx "$form"
    check "rewrite $form" 0
    if cmp -s "$work/made2.ptx" "$work/ready.ptx"; then pass; else fail "rewrite $form writes another text"; fi
done
run rewrite copy.ptx -o -
check "rewrite -o -" 0 out "griddepcontrol.wait;"
run rewrite copy.ptx -o /dev/null
check "rewrite -o /dev/null" 0
if [ -c /dev/null ]; then pass; else fail "/dev/null was replaced"; fi
run rewrite "$here/../golden/rewrite/matmul.ptx" --wait insert --trigger loop:0
check "the first round of a loop" 0 out "launch_dependents"
run rewrite copy.ptx --trigger loop:-1
check "a round before the first" 2 err "takes a round from 0 to 4294967295, not '-1'"
run rewrite copy.ptx --json
check "rewrite --json" 0
json "rewrite --json" 'd["changed"] and d["output"] is None and "griddepcontrol.wait" in d["ptx"] and {"GD301", "GD303"} <= {n["code"] for n in d["notes"]}'
json "positions of notes" 'all("griddepcontrol." in d["ptx"].split("\n")[n["line"] - 1] for n in d["notes"] if n["code"] in ("GD301", "GD303"))'
run rewrite copy.ptx -o "$work/made.ptx" --json
json "rewrite -o --json" 'd["output"].endswith("/made.ptx") and d["ptx"] is None and d["errors"] == []'

cp copy.ptx "$work/mine.ptx"
chmod 640 "$work/mine.ptx"
ln -s mine.ptx "$work/link.ptx"
run rewrite "$work/mine.ptx" -o "$work/mine.ptx"
check "over the input" 2 err "--output: $work/mine.ptx: this is an input"
run rewrite "$work/mine.ptx" -o "$work/link.ptx"
check "over the input, by a link" 2 err "this is an input"
if cmp -s copy.ptx "$work/mine.ptx"; then pass; else fail "the input was written over"; fi
run rewrite "$work/link.ptx" --in-place
check "rewrite --in-place" 0
if cmp -s "$work/mine.ptx" "$work/ready.ptx" && [ -L "$work/link.ptx" ]; then pass; else fail "--in-place through a link"; fi
case $(ls -l "$work/mine.ptx") in -rw-r-----*) pass ;; *) fail "--in-place keeps the mode" ;; esac
if ls "$work"/.griddep* >/dev/null 2>&1; then fail "a file was left beside the output"; else pass; fi
run rewrite copy.ptx --in-place -o "$work/x.ptx"
check "--in-place and -o" 2 err "--in-place and --output exclude each other"
run rewrite - --in-place
check "--in-place of stdin" 2 err "--in-place needs a file"
run rewrite copy.ptx -o "$work"
check "-o to a folder" 4 err "is a directory"
run rewrite copy.ptx -o "$work/none/x.ptx"
check "-o into no folder" 4 err "No such file or directory"
run rewrite copy.ptx -o
check "-o without a file" 2 err "--output needs a value"
run rewrite copy.ptx -o ""
check "-o and nothing" 2 err "--output is empty"
run explain copy.ptx -o x
check "-o where there is none" 2 err "explain has no option -o"
run rewrite copy.ptx -x
check "unknown short option" 2 err "rewrite has no option -x"

run rewrite late.ptx
check "a wait that is too late already" 1 out "griddepcontrol.wait;" err "[GD110]" err "'--wait move' places waits anew"
run rewrite late.ptx --json
check "a wait that is too late already, JSON" 1
json "a wait that is too late already, JSON" '[e["code"] for e in d["errors"]] == ["GD110"]'
run rewrite late.ptx --constant x
check "a wait in time for all but constants" 0
sed 's/ld\.global/ld.globl/' late.ptx >"$work/misspelt.ptx"
run rewrite "$work/misspelt.ptx" --wait move
check "a text that is wrong otherwise" 2 err "did you mean .global?" err "misspelt.ptx is no valid PTX, and is not rewritten"
if grep -q "places waits anew" "$work/err"; then fail "the note about a wait, of another error"; else pass; fi
run rewrite late.ptx --wait move -o "$work/moved.ptx"
check "--wait move" 0 err "[GD301]" err "[GD302]"
run check "$work/moved.ptx"
check "what was moved is right" 0
run rewrite late.ptx --wait remove --trigger remove
check "--wait remove --trigger remove" 0 err "[GD302]" err "[GD304]"
if grep -q griddepcontrol "$work/out"; then fail "--wait remove leaves griddepcontrol"; else pass; fi
run rewrite late.ptx --wait keep
check "nothing asked for" 0 err "nothing to change"
if cmp -s "$work/out" late.ptx; then pass; else fail "--wait keep changes the text"; fi
for place in start after-wait after-loads before-stores end 24; do
    run rewrite "$work/moved.ptx" --trigger $place
    check "--trigger $place" 0 out "griddepcontrol.launch_dependents;" out "griddepcontrol.wait;"
    cp "$work/out" "$work/placed.ptx"
    run check "$work/placed.ptx"
    check "--trigger $place is right" 0
done
run rewrite late.ptx --wait start
check "--wait start" 0 err "[GD301]"
run rewrite copy.ptx --entry copy
check "--entry" 0 out "griddepcontrol.wait;"
run rewrite copy.ptx --entry coyp
check "unknown entry" 2 err "--entry: the file has no entry 'coyp'; did you mean 'copy'? it has: copy"
run rewrite copy.ptx --wait inster
check "unknown wait" 2 err "--wait is one of insert, move, remove, start, keep, not 'inster'; did you mean 'insert'?"
run rewrite copy.ptx --trigger after-load
check "unknown trigger" 2 err "or a line number, not 'after-load'; did you mean 'after-loads'?"
for line in 0 -3 12x 99999999999; do
    run rewrite copy.ptx --trigger=$line
    check "trigger's line $line" 2 err "--trigger takes a line number from 1 to 2147483647, not '$line'"
done
run rewrite copy.ptx --trigger 4000
check "a line outside the kernel" 2
silent "a line outside the kernel" out
run rewrite copy.ptx --constant z
check "constant of nothing" 2 err "--constant: no entry has a parameter 'z'"
run rewrite late.ptx --wait move --constant scale --prefetch scale=128
check "--prefetch" 0 out "prefetch" err "[GD305]"
run rewrite late.ptx --wait move --constant scale --prefetch scale=1K
check "--prefetch with K" 0 out "prefetch"
run rewrite late.ptx --wait move --prefetch x=128 -o "$work/fetched.ptx"
check "prefetch of what is not constant" 0 err "[GD305]"
run check "$work/fetched.ptx"
check "a prefetch does not make a parameter constant" 0
run rewrite "$top/ptx/elementwise/vector_add.ptx" --prefetch count=128
check "prefetch of what is no pointer" 2
silent "prefetch of what is no pointer" out
run rewrite late.ptx --constant scale --prefetch scael=128
check "prefetch of nothing" 2
for bytes in 0 24 -16 K 16KB 1x 99999999999999999999 18446744073709551615M; do
    run rewrite late.ptx --constant scale --prefetch "scale=$bytes"
    check "prefetch of $bytes bytes" 2 err "--prefetch: the bytes are a multiple of 16 above 0" err "not '$bytes'"
done
for form in scale =16 scale=; do
    run rewrite late.ptx --prefetch "$form"
    check "--prefetch $form" 2 err "--prefetch is PARAMETER=BYTES, not '$form'"
done

run rewrite broken.ptx
check "rewrite what is no PTX" 2 err "broken.ptx:9:" err "broken.ptx:11:" err "broken.ptx is no valid PTX, and is not rewritten"
silent "rewrite what is no PTX" out
run rewrite broken.ptx --json
check "rewrite what is no PTX, JSON" 2
json "rewrite what is no PTX, JSON" 'd["error"]["line"] == 9 and d["error"]["name"] == "GRIDDEP_ERROR_SYNTAX"'
run rewrite broken.ptx -o "$work/none.ptx"
if [ -e "$work/none.ptx" ]; then fail "a file was written for what is no PTX"; else pass; fi
run rewrite nowhere.ptx
check "rewrite what is not there" 2 err "griddep: nowhere.ptx: No such file or directory"
run rewrite .
check "rewrite a folder" 2 err "griddep: .: is a directory"
run rewrite "$work/empty.ptx"
check "rewrite an empty file" 2
run rewrite "$work/garbage.ptx"
check "rewrite garbage" 2
run rewrite "$work/elf.ptx"
check "rewrite ELF" 2 err "this is a program; only PTX text can be rewritten"
printf '.version 7.8\n.target sm_80\n.address_size 64\n' >"$work/none.ptx"
run rewrite "$work/none.ptx"
check "rewrite a file without entries" 2 err "none.ptx: the file has no entry"
run rewrite
check "rewrite what" 2 err "usage: griddep rewrite"

# ---- no driver

no_driver() {
    run info $1
    check "info without a driver ($1)" 3 err "no driver or device"
    silent "info without a driver ($1)" out
    run info $1 --json
    check "info --json without a driver ($1)" 3
    json "info --json without a driver ($1)" 'd["driver"] is None and d["error"]["name"] == "GRIDDEP_ERROR_NO_DRIVER"'
    run demo $1
    check "demo without a driver ($1)" 3 err "no driver or device"
    run run copy.yaml $1
    check "run without a driver ($1)" 3 err "no driver or device"
    run run copy.yaml $1 --json
    check "run --json without a driver ($1)" 3
    json "run --json without a driver ($1)" 'd["driver"] is None'
    for example in "$top"/examples/*.yaml; do
        run run "$example" $1
        check "$(basename "$example") is valid" 3 err "no driver or device"
    done
}
no_driver "--driver $nowhere"
# has_nvidia: libcuda.so.1 is one that the loader finds; what is said about machines without it cannot be tried then.
has_nvidia() { ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; }
if has_nvidia; then
    skip "--driver nvidia without libcuda.so.1: there is one here"
    skip "the emulated driver in place of none: there is libcuda.so.1 here"
else
    no_driver "--driver nvidia"
    GRIDDEP_DRIVER=nvidia
    export GRIDDEP_DRIVER
    run info
    check "GRIDDEP_DRIVER=nvidia" 3 err "libcuda.so.1"
    unset GRIDDEP_DRIVER
    run info
    check "no driver: the emulated one" 0 out "This is the emulated driver" out "times come from a model" out "no NVIDIA driver" out "libcuda.so.1"
    run info --driver auto --json
    json "no driver: the emulated one, JSON" 'd["driver"]["emulated"] and "libcuda.so.1" in d["driver"]["fallback"]'
    run run copy.yaml --repeat 0
    check "a run without a driver" 0 out "This is the emulated driver"
    if grep -q "It was taken because" "$work/out"; then fail "a run tells it in one line"; else pass; fi
    GRIDDEP_LOG=warning
    export GRIDDEP_LOG
    run info
    check "no driver: a warning" 0 err "griddep: warning: the emulated driver is used, and no GPU: "
    unset GRIDDEP_LOG
fi

# ---- the emulated driver

run info --emulate
check "info --emulate" 0 out "This is the emulated driver" out "multiprocessors          4"
head -n 2 "$work/out" >"$work/first"
if grep -q "This is the emulated driver" "$work/first"; then pass; else fail "info says it in its first lines"; fi
if grep -q "It was taken because" "$work/out"; then fail "who asked for the emulated driver needs no reason"; else pass; fi
run info --emulate --json
json "info --emulate --json" 'd["driver"]["emulated"] is True and d["driver"]["fallback"] is None'
json "info tells that nothing is kept" 'd["store_directory"] is None and d["driver_cache"] == {"directory": None, "bytes": 0, "reason": "the emulated driver keeps no code"}'
if [ -n "${FAKE_DRIVER-}" ]; then
    CUDA_CACHE_PATH=$work/code GRIDDEP_STORE=$work/store
    export CUDA_CACHE_PATH
    run info --driver "$FAKE_DRIVER"
    check "info tells where code is kept" 0 out "driver's code cache      $work/code, up to 1024 MiB" out "store                    $work/store"
    run info --driver "$FAKE_DRIVER" --json
    json "info --json tells where code is kept" 'd["driver_cache"]["directory"].endswith("/code") and d["driver_cache"]["bytes"] == 1 << 30 and d["driver_cache"]["reason"] is None and d["store_directory"].endswith("/store")'
    CUDA_CACHE_DISABLE=1
    export CUDA_CACHE_DISABLE
    run info --driver "$FAKE_DRIVER"
    check "info tells why no code is kept" 0 out "driver's code cache      none: CUDA_CACHE_DISABLE is 1"
    unset CUDA_CACHE_PATH CUDA_CACHE_DISABLE
    GRIDDEP_STORE=off
fi
run info --emulate --multiprocessors 7 --json
json "--multiprocessors" 'd["device"]["multiprocessors"] == 7'
run info --driver emulated --multiprocessors 0
check "--multiprocessors 0" 2 err "--multiprocessors takes a whole number from 1 to 1024"
for setting in "--schedule lazy" "--model observed" "--multiprocessors 8"; do
    run info --driver nvidia $setting
    check "--driver nvidia $setting" 2 err "$(echo "$setting" | sed 's/ .*//') is for the emulated driver, not for --driver nvidia"
done
run info --driver nvidia --emulate
check "--emulate --driver nvidia" 2 err "--emulate is the same as --driver emulated; --driver is 'nvidia'"
run info --emulate --driver emulated
check "--emulate --driver emulated" 0
for schedule in "" lzay random random: random:x random:1x random:-1 random:99999999999999999999 "eager "; do
    run info --emulate "--schedule=$schedule"
    check "--schedule '$schedule'" 2 err "--schedule is eager, lazy, or random:"
done
run info --emulate --model observd
check "--model observd" 2 err "--model is one of contract, observed, not 'observd'; did you mean 'observed'?"
for settings in "--schedule eager" "--schedule lazy" "--schedule random:7" "--schedule random:0xffff" "--model observed" "--schedule lazy --model contract --multiprocessors 2"; do
    run run copy.yaml --emulate --repeat 0 $settings
    check "run --emulate $settings" 0 out "buffer y is as expected" out "graph-pdl"
done
run run unnamed.yaml --emulate --repeat 0
check "a chain file without a name is called as the file" 0 out "chain unnamed: 1 launch,"
run run copy.yaml --emulate
check "run --emulate" 0 out "This is the emulated driver" out "model time of a step" out "over serial"
if grep -q 'B/s' "$work/out"; then fail "run --emulate: a bandwidth of model time"; else pass; fi
run run copy.yaml --emulate --json
json "run --emulate --json" 'd["driver"]["emulated"] and all(m["timing"]["clock"] == "model" and m["timing"]["bytes_per_second"] is None and m["timing"]["samples"] == 1 for m in d["modes"])'
run run copy.yaml --emulate --repeat 3 --json
json "run --emulate --repeat 3" 'all(m["timing"]["samples"] == 3 for m in d["modes"])'
run run copy.yaml --emulate --schedule eager --mode pdl --json
cp "$work/out" "$work/eager"
run run copy.yaml --emulate --schedule eager --mode pdl --json
if cmp -s "$work/out" "$work/eager"; then pass; else fail "model time is the same in each run"; fi
run demo --emulate --ceiling
check "demo --emulate --ceiling" 2 err "--ceiling measures a GPU's memory"
run demo --emulate --layers 2 --rows 256 --columns 128
check "demo --emulate" 0 out "This is the emulated driver" out "demo, 2 layers of 256 x 128 bf16" out "is as expected (reference)" out "model time of a step"
run demo --emulate --layers 1 --columns 64 --json
check "demo --emulate --json" 0
json "demo's size on the emulated driver" 'd["chain"] == "demo, 1 layer of 1024 x 64 bf16" and d["driver"]["emulated"]'

# ---- sanitize

run sanitize
check "sanitize what" 2 err "usage: griddep sanitize CHAIN.yaml"
run sanitize --
check "sanitize --" 2 err "there is no program after '--'"
run sanitize -- ""
check "sanitize -- ''" 2 err "the program after '--' has an empty name"
run sanitize copy.yaml -- true
check "a chain and a program" 2 err "'copy.yaml' is one word too many"
run sanitize copy.yaml late.yaml
check "two chains" 2 err "'late.yaml' is one word too many"
run sanitize --scedule lazy copy.yaml
check "sanitize --scedule" 2 err "sanitize has no option --scedule; did you mean --schedule?"
run sanitize copy.yaml --schedule lazy --schedule soon
check "sanitize --schedule soon" 2 err "--schedule is eager, lazy, or random:" err "not 'soon'"
run sanitize --modes pdl -- true
check "modes of a program" 2 err "--modes is for a chain"
run sanitize --driver "$nowhere" -- true
check "another driver for a program" 2 err "--driver is for a chain"
run sanitize copy.yaml --modes pdl,grpah
check "sanitize --modes pdl,grpah" 2 err "--modes is one of serial, pdl, graph, graph-pdl, not 'grpah'; did you mean 'graph'?"
run sanitize copy.yaml --modes pdl,
check "sanitize --modes pdl," 2 err "not ''"
run sanitize copy.yaml --check rac
check "sanitize --check rac" 2 err "--check is one of all, race, shared, initialized, leak, not 'rac'; did you mean 'race'?"
run sanitize copy.yaml --check all,leak
check "sanitize --check all,leak" 2 err "--check is all, or a list without it"
run sanitize copy.yaml --model contarct
check "sanitize --model contarct" 2 err "did you mean 'contract'?"
run sanitize nowhere.yaml
check "sanitize what is not there" 2 err "griddep: nowhere.yaml: No such file"
run sanitize bad_type.yaml
check "sanitize a bad chain file" 2 err "griddep: $(cat bad_type.expect)"
run sanitize bad_type.yaml --json
json "sanitize a bad chain file, JSON" 'd["error"]["line"] == 3'
for report in "$work" "$work/none/report"; do
    run sanitize copy.yaml --report "$report"
    check "report to '$report'" 4 err "--report: $report: "
    run sanitize --report "$report" -- touch "$work/started"
    check "report to '$report' of a program" 4 err "--report: $report: "
done
run sanitize --report "" -- touch "$work/started"
check "report to nowhere" 2 err "--report is empty"
if [ -e "$work/started" ]; then fail "a program was started whose report cannot be written"; else pass; fi
run sanitize copy.yaml --driver "$nowhere"
check "sanitize without a driver" 3 err "no driver or device"
silent "sanitize without a driver" out
if [ -n "$fake" ] && [ -e "$fake" ]; then
    run sanitize copy.yaml --driver "$fake"
    check "sanitize on another driver" 2 err "$fake is not the emulated driver"
fi

# Programs: this one writes what the emulated driver would.
cat >"$work/racy" <<'PROGRAM'
#!/bin/sh
printf '%s|' "$GRIDDEP_EMULATOR_CHECK" "$GRIDDEP_EMULATOR_SCHEDULE" "$GRIDDEP_EMULATOR_MODEL" "$GRIDDEP_EMULATOR_MULTIPROCESSORS" "$@"
cat
access() { printf '{"kernel":"%s","launch":%s,"cta":[1,0,0],"thread":[5,0,0],"module":2,"line":%s,"column":5,"instruction":"%s","action":"%s","bytes":4}' "$@"; }
{
    printf '{"finding":1,"kind":"race","text":"kernel down (launch 3) reads allocation 0x700000000000","missing":"a wait","first":%s,"second":%s,"memory":{"space":"global","start":"0x700000000000","bytes":4096,"offset":64,"name":null}}\n' \
        "$(access down 3 41 'ld.global.f32 %f1, [%rd1];' read)" "$(access up 2 11 'st.global.f32 [%rd1], %f1;' write)"
    printf '{"finding":2,"kind":"leak","text":"4096 bytes are left","missing":null,"first":null,"second":null,"memory":null}\n'
    printf '{"count":1,"times":17}\n'
    [ -n "$UNFINISHED" ] || printf '{"summary":true,"findings":2,"reports":18,"launches":12,"schedule":"lazy","model":"contract"}\n'
} >>"$GRIDDEP_EMULATOR_REPORT"
exit 5
PROGRAM
cat >"$work/clean" <<'PROGRAM'
#!/bin/sh
printf '{"summary":true,"findings":0,"reports":0,"launches":12,"schedule":"%s","seed":7,"model":"observed"}\n' "${2:-eager}" >>"$GRIDDEP_EMULATOR_REPORT"
exit "$1"
PROGRAM
printf 'no program\n' >"$work/plain"
chmod +x "$work/racy" "$work/clean"
echo input >"$work/input"
TMPDIR=$work/tmp
mkdir "$TMPDIR"
export TMPDIR
input=$work/input
run_from sanitize --schedule lazy --multiprocessors 3 -- "$work/racy" --json "a  b" ""
check "a program with a race" 66 out "all|lazy||3|--json|a  b||input" err "module 2:41:5: race: kernel down (launch 3) reads" \
    err "  41 | ld.global.f32 %f1, [%rd1];" err "read of 4 bytes by down, launch 3, CTA 1,0,0, thread 5,0,0" \
    err "module 2:11:5: write of 4 bytes by up" err "in allocation 0x700000000000, byte 64 of 4096" err "missing: a wait" \
    err "seen 17 times: lazy" err "leak: 4096 bytes are left" err "griddep: 2 findings in this execution (12 launches; schedule lazy, model contract)"
run sanitize --check race,leak --model observed --report "$work/report" -- "$work/racy"
check "a program's report" 66 out "race,leak|eager|observed||"
silent "a program's report" err
if grep -q "^2 findings in these executions (24 launches; schedules lazy, lazy; model contract)" "$work/report"; then pass; else fail "a program's report is in its file"; fi
run sanitize --report "$work/report" --json -- "$work/racy"
check "a program's report, JSON" 66
cp "$work/report" "$work/out"
json "a program's report, JSON" 'd["exit_code"] == 66 and d["complete"] and [(f["kind"], f["times"]) for f in d["findings"]] == [("race", 34), ("leak", 2)] and d["launches"] == 24 and [r["exit_code"] for r in d["runs"]] == [5, 5]'
UNFINISHED=1
export UNFINISHED
run sanitize -- "$work/racy"
check "a program that did not sum up" 66 err "race: " err "there may be more findings"
unset UNFINISHED
for status in 0 5 255; do
    run sanitize --schedule eager -- "$work/clean" $status
    check "a program's exit code $status" $status err "griddep: no race in this execution (" err "; schedule eager, model observed)"
    silent "a program's exit code $status" out
    if [ "$(wc -l <"$work/err")" -eq 1 ]; then
        pass
    else
        fail "a program's exit code $status: the verdict alone is told"
    fi
done
run sanitize --schedule random:7 -- "$work/clean" 0 random
check "a random schedule has its seed" 0 err "no race in this execution (" err "; schedule random:7, model observed)"
run sanitize --check leak --schedule eager -- "$work/clean" 0
check "who does not look for races does not speak of them" 0 err "nothing found in this execution (" err "; schedule eager, model observed; check leak)"
nothing='{"summary":true,"findings":0,"reports":0,"launches":0,"refused":%s,"schedule":"eager","seed":0,"model":"contract"}\n'
export nothing
run sanitize -- sh -c 'printf "$nothing" null >>"$GRIDDEP_EMULATOR_REPORT"'
check "a program in which no kernel ran" 65 err "nothing was checked: the program called the driver, and no kernel ran"
run sanitize -- sh -c 'printf "$nothing" "\"cuThis: that\"" >>"$GRIDDEP_EMULATOR_REPORT"'
check "a program whose call was refused" 65 err "nothing was checked: no kernel ran. The emulated driver refused cuThis: that"
run sanitize --report "$work/report" --json -- sh -c 'printf "$nothing" "\"cuThis: that\"" >>"$GRIDDEP_EMULATOR_REPORT"'
cp "$work/report" "$work/out"
json "a program whose call was refused" 'd["exit_code"] == 65 and d["launches"] == 0 and d["refused"] == "cuThis: that" and d["verdict"] is None'
run sanitize -- sh -c 'printf "$nothing" null >>"$GRIDDEP_EMULATOR_REPORT"; exit 3'
check "a program that failed, and in which no kernel ran" 3 err "nothing was checked"
unset nothing
run sanitize -- sh -c 'echo "garbage" >>"$GRIDDEP_EMULATOR_REPORT"'
check "a damaged report" 65 err "1 line of the emulated driver's report cannot be read" err "nothing was checked"
cat >"$work/odd" <<'PROGRAM'
#!/bin/sh
cat >>"$GRIDDEP_EMULATOR_REPORT" <<'LINES'
{"finding":1,"kind":"race\u001b[31m","text":"a\u001b[31m\nforged: line","missing":7,"first":"nobody","second":{"kernel":["x"],"launch":-4,"cta":[0,0],"thread":{},"line":1e99,"instruction":"\u001b[1m"},"memory":[]}
{"count":1,"times":"many"}
{"count":9,"times":2}
{"finding":2,"kind":null,"text":"no kind"}
{"summary":true,"launches":null,"schedule":"\u001b[1mlazy","model":"m\n"}
[1,2]
{"finding":
LINES
PROGRAM
chmod +x "$work/odd"
run sanitize --schedule eager -- "$work/odd"
check "an odd report" 66 err "race?[31m: a?[31m?forged: line" err "seen 1 time: ?[1mlazy" err "1 finding in this execution (" err "; schedule ?[1mlazy, model m?)" \
    err "4 lines of the emulated driver's report cannot be read"
if grep -q "$(printf '\033')" "$work/err"; then fail "an odd report reaches the terminal"; else pass; fi
# Once for each schedule; the output comes once, the input is there each time.
cat >"$work/twice" <<'PROGRAM'
#!/bin/sh
echo "$GRIDDEP_EMULATOR_SCHEDULE $(cat)" | tee -a "$1"
echo "error of $GRIDDEP_EMULATOR_SCHEDULE" >&2
printf '{"summary":true,"findings":0,"reports":0,"launches":3,"schedule":"%s","seed":7,"model":"contract"}\n' "$GRIDDEP_EMULATOR_SCHEDULE" >>"$GRIDDEP_EMULATOR_REPORT"
[ "$GRIDDEP_EMULATOR_SCHEDULE" = "$2" ] && exit 4
exit 0
PROGRAM
chmod +x "$work/twice"
run_from sanitize -- "$work/twice" "$work/runs"
check "a program runs twice" 0 err "no race in these executions (6 launches; schedules eager, lazy; model contract)" err "error of eager"
if [ "$(cat "$work/out")" = "eager input" ] && [ "$(cat "$work/runs")" = "eager input
lazy input" ] && ! grep -q "error of lazy" "$work/err"; then pass; else fail "a program's output comes once"; fi
run sanitize -- "$work/twice" /dev/null lazy
check "a program that fails in a later schedule" 4 err "in schedule lazy the program ended with 4, before with 0; '--schedule lazy' shows"
run sanitize --schedule lazy --schedule random:1 --schedule eager -- "$work/twice" /dev/null
check "a program in three schedules" 0 out "lazy" err "schedules lazy, random:1, eager"
GRIDDEP_EMULATOR_SCHEDULE=lazy
export GRIDDEP_EMULATOR_SCHEDULE
run sanitize -- "$work/twice" /dev/null
check "a program in the schedule of the environment" 0 out "lazy" err "this execution (3 launches; schedule lazy"
unset GRIDDEP_EMULATOR_SCHEDULE
run sanitize -- true
check "a program without the driver" 65 err "warning: nothing was checked: the program did not use the emulated driver"
if grep -q "no race" "$work/err"; then fail "nothing was checked, and yet no race"; else pass; fi
run sanitize -- sh -c 'kill -KILL $$'
check "a program that a signal ends" 137
run sanitize -- "$work/nowhere"
check "no such program" 127 err "$work/nowhere cannot be started: No such file or directory"
run sanitize -- griddep-no-such-program
check "no such program on the path" 127 err "griddep-no-such-program cannot be started"
run sanitize -- "$work/plain"
check "a program that cannot be run" 126 err "cannot be started: Permission denied"
run sanitize -- "$work"
check "a folder as program" 126 err "cannot be started"
run sanitize -- sh -c 'IFS=:; for folder in $LD_LIBRARY_PATH; do [ ! -e "$folder/libcuda.so.1" ] || exit 7; done; exit 1'
check "libcuda.so.1 is on the program's library path" 7
for signal in TERM USR1; do
    rm -f "$work/ready"
    "$griddep" sanitize -- sh -c "trap 'exit 9' $signal; : >'$work/ready'; while :; do sleep 0.05; done" >"$work/out" 2>"$work/err" </dev/null &
    sanitizer=$!
    while [ ! -e "$work/ready" ] && kill -0 $sanitizer 2>/dev/null; do sleep 0.05; done
    kill -$signal $sanitizer
    wait $sanitizer
    code=$?
    check "SIG$signal is passed on" 9
done
if [ -z "$(ls "$TMPDIR")" ]; then pass; else fail "temporary files are left: $(ls "$TMPDIR")"; fi

# A chain that goes on from where its last run left its position: a second run in a row would leave the buffer.
cp step.yaml step.ptx "$work"
for command in run trace tune stress explain "compare $work/step.yaml"; do
    # shellcheck disable=SC2086 # some have an argument
    run $command "$work/step.yaml" --emulate
    check "$command of a chain that changes its state" 0
done
run sanitize "$work/step.yaml"
check "sanitize of a chain that changes its state" 0 out "no race"
# One in floating point is not known for a state, and a launch that faults is not taken for one of another chain.
sed 's/type: u32/type: f32/' step.yaml | sed '/name: cache/s/count: 4/count: 3/' >"$work/step_f32.yaml"
run run "$work/step_f32.yaml" --emulate
check "run of a chain whose state is no integer" 4 err "timing, where a step begins with what the one before it left: the time"
sed 's/count: 4/count: 2/' step.yaml >"$work/step_short.yaml"
run compare "$work/step.yaml" "$work/step_short.yaml" --emulate
check "compare with a chain that faults" 4 err "step_short.yaml: running in mode 'graph-pdl'" err "kernel step (launch "
run tune "$work/step_short.yaml" --emulate
check "tune of a chain that faults" 4 err "step.ptx:" err "running in mode 'serial'" err ": launch 1 (step), CTA"

# The emulated driver itself, by a program and by chains.
run sanitize -- "$griddep" run copy.yaml --driver nvidia --repeat 0
check "griddep itself as the program" 0 out "This is the emulated driver"
if grep -q "nothing was checked" "$work/err"; then
    skip "races of chains: the emulated driver of this build writes no report"
else
    check "griddep itself as the program, checked" 0 err "no race in these executions (" err "; schedules eager, lazy; model contract)"
    run sanitize copy.yaml
    check "a chain without a race" 0 out "no race in these executions (" out "; schedules eager, lazy, random:1, random:2, random:3; model contract)"
    run sanitize bulk_reduce.yaml
    check "bulk reductions into one row need no order" 0 out "no race in these executions"
    run sanitize copy.yaml --schedule lazy --model observed
    check "a chain without a race in one schedule" 0 out "no race in this execution (" out "; schedule lazy, model observed)"
    run sanitize late.yaml
    check "a chain with a race" 66 out "late.ptx:25:" out "race: " out "buffer b" out "25 | " out "ld.global.f32 %value, [%x];" \
        out "in buffer b, byte " out "seen " out "hint: 'griddep check late.yaml' finds 2 errors"
    if grep -q 'allocation 0x' "$work/out"; then fail "a buffer without its name"; else pass; fi
    export GRIDDEP_EMULATOR_CHECK=race GRIDDEP_EMULATOR_REPORT="$work/pipe"
    run run forced.yaml --driver emulated --repeat 0 --mode pdl
    check "findings, and a pipe without a reader" "$code" err "cannot write findings to $work/pipe: No such device or address"
    GRIDDEP_EMULATOR_REPORT=/dev/full
    run run forced.yaml --driver emulated --repeat 0 --mode pdl
    check "a report that cannot be written" "$code" err "cannot write findings to /dev/full" err '{"finding":1,"kind":"race"'
    unset GRIDDEP_EMULATOR_CHECK GRIDDEP_EMULATOR_REPORT
    while read -r setting says; do
        env "$setting" "$griddep" run copy.yaml --driver emulated --repeat 0 --mode pdl >"$work/out" 2>"$work/err" </dev/null
        code=$?
        check "a wrong $setting" "$code" err "$says"
        if [ "$code" -ne 0 ]; then pass; else fail "$setting is taken"; fi
    done <<'SETTINGS'
GRIDDEP_EMULATOR_CHECK=race,blah GRIDDEP_EMULATOR_CHECK is "race,blah"; it may be off, all, or a list of race
GRIDDEP_EMULATOR_SCHEDULE=bad GRIDDEP_EMULATOR_SCHEDULE is "bad"; it may be eager, lazy, or random:SEED
GRIDDEP_EMULATOR_SCHEDULE=random:-1 GRIDDEP_EMULATOR_SCHEDULE is "random:-1"; it may be
GRIDDEP_EMULATOR_MODEL=strict GRIDDEP_EMULATOR_MODEL is "strict"; it may be contract or observed
GRIDDEP_EMULATOR_STEPS=-1 GRIDDEP_EMULATOR_STEPS is "-1"; it may be a number
GRIDDEP_EMULATOR_MULTIPROCESSORS=0 GRIDDEP_EMULATOR_MULTIPROCESSORS is "0"; it may be a number from 1 to 1024
GRIDDEP_EMULATOR_CHIP=sm_80 GRIDDEP_EMULATOR_CHIP is "sm_80"; it may be sm_90, sm_100, sm_103 or sm_120
GRIDDEP_EMULATOR_MEMORY=4GB GRIDDEP_EMULATOR_MEMORY is "4GB"; it may be bytes
GRIDDEP_EMULATOR_DEVICES=sm_80 GRIDDEP_EMULATOR_DEVICES is "sm_80"; it may be a number from 1 to 64
GRIDDEP_EMULATOR_CHEK=race GRIDDEP_EMULATOR_CHEK is no variable that is read; did you mean GRIDDEP_EMULATOR_CHECK?
GRIDDEP_EMULATOR_NONSENSE=1 GRIDDEP_EMULATOR_NONSENSE is no variable that is read
GRIDDEP_PLD=off GRIDDEP_PLD is no variable that is read; did you mean GRIDDEP_PDL?
GRIDDEP_PDL=of! GRIDDEP_PDL is "of!"; it may be on or off
GRIDDEP_LOG=loud GRIDDEP_LOG is "loud"; it may be error, warning, info, debug or off
SETTINGS
    if [ -n "$python" ] && [ "${SANITIZED:-0}" != 1 ]; then
        cat >"$work/unwaited.py" <<'PROGRAM'
import ctypes, sys
cu = ctypes.CDLL(sys.argv[1])
context, module, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
source = b".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"
assert cu.cuInit(0) == 0 and cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cu.cuCtxSetCurrent(context) == 0 and cu.cuModuleLoadData(ctypes.byref(module), source) == 0
assert cu.cuModuleGetFunction(ctypes.byref(kernel), module, b"k") == 0
for _ in range(int(sys.argv[2])):
    assert cu.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, None, None) == 0
assert sys.argv[3] != "waits" or cu.cuCtxSynchronize() == 0
PROGRAM
        GRIDDEP_EMULATOR_CHECK=race "$python" "$work/unwaited.py" "$EMULATED_DRIVER" 2 leaves >"$work/out" 2>"$work/err"
        code=$?
        check "launches that nobody waited for" 0 err "2 launches were handed in and never ran"
        for launches in "2 waits" "0 leaves" "0 waits"; do
            # shellcheck disable=SC2086 # two words
            GRIDDEP_EMULATOR_CHECK=race "$python" "$work/unwaited.py" "$EMULATED_DRIVER" $launches >"$work/out" 2>"$work/err"
            code=$?
            check "no launch is left: $launches" 0
            silent "no launch is left: $launches" err
        done
    fi
    run sanitize late.yaml --json
    check "a chain with a race, JSON" 66
    json "a chain with a race, JSON" 'any(f["kind"] == "race" and f["first"]["kernel"] and {f["first"]["file"], f["second"]["file"]} & {"late.ptx"} and f["memory"]["buffer"] == "b" for f in d["findings"])'
    sed 's/%x, %x, %offset/%x, %x, 1048576/' late.ptx >"$work/late.ptx"
    cp late.yaml "$work/outside.yaml"
    run sanitize "$work/outside.yaml" --modes graph-pdl
    check "a chain with a fault" 66 out "out-of-bounds: " out "seen "
    # Each command tells it with the same place and launch.
    where=$(sed -n 's/^\(.*late.ptx:[0-9]*\):[0-9]*: out-of-bounds: \(launch [0-9]* ([a-z_]*)\).*/\1 \2/p' "$work/out")
    for command in "run --repeat 0" stress "trace --mode pdl" "explain --mode pdl"; do
        run $command "$work/outside.yaml" --emulate
        check "a fault, by $command" 4 err "griddep: ${where% launch*}: " err "launch ${where#* launch }, CTA (0, 0, 0)"
    done
    run trace "$work/outside.yaml" --emulate --json
    json "a fault, JSON" 'd["error"]["file"].endswith("late.ptx") and d["error"]["line"] == 25 and "column" not in d["error"] and d["error"]["launch"] == 1'
fi
unset TMPDIR

# ---- a scripted driver, whose kernels do nothing

if [ -z "$fake" ] || [ ! -e "$fake" ]; then
    skip "runs on the scripted driver: FAKE_DRIVER names none"
else
    run explain copy.yaml --driver "$fake" --mode graph --no-measure --json
    json "edges of a graph" '[[e["reason"] for e in h["edges"]] for h in d["hops"]] == [[], [2], [2]]'
    run explain copy.yaml --driver "$fake" --dot
    check "explain --dot" 0 out "digraph {" out "n0 -> n1 [color=gray40, style=bold"
    run explain copy.yaml --dot --json
    check "explain in two forms" 2 err "--dot and --json"
    run explain copy.yaml --mode fast
    check "explain in no mode" 2 err "graph-pdl"
    run explain copy.yaml --driver "$nowhere" --json
    json "explain without a driver" 'd["driver"] is None and d["error"]["exit_code"] == 3'
    run info --driver "$fake"
    check "info" 0 out "compute capability       9.0" out "programmatic dependent launch"
    run info --driver "$fake" --json
    check "info --json" 0
    json "info --json" 'd["device"]["compute_capability"] == "9.0" and d["features"]["pdl"]["works"]'
    json "not the emulated driver" 'd["driver"]["emulated"] is False and d["driver"]["fallback"] is None'
    run info --driver "$fake" --schedule lazy
    check "a setting of the emulated driver for another one" 2 err "--schedule is for the emulated driver, and $fake was opened"

    # The same library in the place of NVIDIA's, and what auto makes of it.
    mkdir "$work/nvidia"
    ln -s "$fake" "$work/nvidia/libcuda.so.1"
    as_nvidia() { # as_nvidia RESULT ARGUMENT...: cuInit returns RESULT
        result=$1
        shift
        FAKE_DRIVER_INIT=$result LD_LIBRARY_PATH=$work/nvidia${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$griddep" "$@" >"$work/out" 2>"$work/err" </dev/null
        code=$?
    }
    as_nvidia "" info
    check "auto takes the NVIDIA driver" 0 out "libcuda.so.1" out "Fake device"
    as_nvidia 100 info
    check "an NVIDIA driver without a device" 0 out "This is the emulated driver" out "CUDA_ERROR_NO_DEVICE"
    as_nvidia 34 info
    check "a toolkit's stub" 0 out "This is the emulated driver" out "CUDA_ERROR_STUB_LIBRARY"
    as_nvidia 803 info
    check "an NVIDIA driver that does not fit its kernel module" 3 err "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"
    silent "an NVIDIA driver that does not fit its kernel module" out
    as_nvidia 999 info
    check "an NVIDIA driver that fails" 4 err "CUDA_ERROR_UNKNOWN"
    for result in 34 100; do
        as_nvidia $result info --driver nvidia
        check "--driver nvidia never falls back ($result)" 3 err "libcuda.so.1"
        silent "--driver nvidia never falls back ($result)" out
    done
    : >"$work/nvidia/empty"
    ln -sf empty "$work/nvidia/libcuda.so.1"
    as_nvidia "" info --driver nvidia
    check "a libcuda.so.1 that is no library" 3 err "libcuda.so.1"
    rm "$work/nvidia/libcuda.so.1"
    GRIDDEP_PDL=off
    export GRIDDEP_PDL
    run info --driver "$fake" --json
    json "kill switch" 'd["pdl_disabled"] and not d["features"]["pdl"]["works"] and "GRIDDEP_PDL" in d["features"]["pdl"]["reason"]'
    run explain copy.yaml --driver "$fake"
    check "explain on the scripted driver" 0 out "chain " out "first launch of the chain"
    run explain late.yaml --driver "$fake" --mode graph-pdl
    check "explain a hop on the scripted driver" 0 out "measured: nothing"
    run explain late.yaml --driver "$fake" --no-measure --json
    check "explain without measuring" 0
    json "explain without measuring" 'len(d["hops"]) > 1 and all(h["measured"] is None for h in d["hops"]) and d["mode"] == "graph-pdl"'
    run run copy.yaml --driver "$fake" --repeat 0 --mode pdl --json
    json "kill switch in a run" 'all(not l["pdl"] for l in d["modes"][0]["launches"])'
    GRIDDEP_PDL=perhaps
    run info --driver "$fake"
    check "bad GRIDDEP_PDL" 2 err "GRIDDEP_PDL"
    unset GRIDDEP_PDL
    run info --driver "$fake" --device 99
    check "no such device" 2 err "99"

    run run copy.yaml --driver "$fake" --repeat 3
    check "run" 0 out "serial" out "pdl" out "graph-pdl" out "launch 2 (copy): no overlap"
    silent "run" err
    if [ "$(grep -c 'launch 2 (copy): no overlap' "$work/out")" -eq 2 ]; then pass; else fail "run: one reason for each PDL mode"; fi
    run run copy.yaml --driver "$fake" --repeat 3 --json
    check "run --json" 0
    json "modes" '[m["mode"] for m in d["modes"]] == ["serial", "pdl", "graph", "graph-pdl"]'
    json "results" 'd["as_expected"] and all(m["equal_to_serial"] for m in d["modes"])'
    json "hops" '[l["pdl"] for l in d["modes"][1]["launches"]] == [False, True, False]'
    json "edges" '[l["programmatic_edge"] for l in d["modes"][3]["launches"]] == [None, True, False]'
    json "timings" 'all(m["timing"]["samples"] == 3 and m["timing"]["median_us"] > 0 for m in d["modes"])'
    json "bytes of a step are not known: arguments without access" 'd["bytes_per_step"] is None and all(m["timing"]["bytes_per_second"] is None for m in d["modes"])'
    run run copy.yaml --driver "$fake" --mode graph --repeat 0 --json
    json "one mode" '[m["mode"] for m in d["modes"]] == ["graph"] and d["modes"][0]["timing"] is None'
    run run copy.yaml --driver "$fake" --mode pdl --repeat 0 --pdl off --json
    json "--pdl off" 'all(not l["pdl"] for l in d["modes"][0]["launches"])'
    run run copy.yaml --driver "$fake" --mode pdl --repeat 0 --pdl force --json
    json "--pdl force" 'all(l["pdl"] for l in d["modes"][0]["launches"])'
    sed 's/block: \[32\]/block: [4096]/' copy.yaml >"$work/block.yaml"
    cp copy.ptx "$work"
    run run "$work/block.yaml" --driver "$fake"
    check "a block beyond the device" 2 err "block.yaml:14:12: kernel copy: a block of "
    run run "$work/block.yaml" --driver "$fake" --json
    json "a block beyond the device, JSON" 'd["error"]["exit_code"] == 2 and d["error"]["name"] == "GRIDDEP_ERROR_LIMIT"'
    long=$work
    for folder in 1 2 3 4; do
        long=$long/x$(awk 'BEGIN { for (i = 0; i < 60; i++) printf "\303\251"; }')
    done
    mkdir -p "$long"
    cp "$work/block.yaml" copy.ptx "$long"
    run run "$long/block.yaml" --driver "$fake"
    check "a long path" 2 err "griddep: $long/block.yaml:14:12: kernel copy: a block of "
    echo '// fake-jit-error: 9 Parsing error near .b32' | cat - broken.ptx >"$work/refused.ptx"
    sed 's/copy.ptx/refused.ptx/' copy.yaml >"$work/refused.yaml"
    run run "$work/refused.yaml" --driver "$fake"
    check "PTX that does not compile" 2 err "griddep: $work/refused.ptx:10:" err ": loading module 'mine': " err "Parsing error"
    if [ "$(grep -c 'refused.ptx:10:' "$work/err")" -eq 1 ] && [ "$(grep -o 'refused.ptx:10:' "$work/err" | wc -l)" -eq 1 ]; then
        pass
    else
        fail "PTX that does not compile: its position is printed once"
    fi

    escape=$(printf '\033')
    sed 's/^name: copy/name: "e\\e[31m\\nforged\\u009b1m"/; s/name: y,/name: "y\\e[1m",/; s/buffer: y/buffer: "y\\e[1m"/; s/name: mine/name: "m\\e[1m"/; s/module: mine/module: "m\\e[1m"/' \
        copy.yaml >"$work/names.yaml"
    run run "$work/names.yaml" --driver "$fake" --repeat 0
    check "names with control characters" 2 err "a text has the control character 0x1B in it"
    if grep -q "$escape" "$work/out" "$work/err"; then fail "names with control characters reach the terminal"; else pass; fi
    sed 's/kernel: vector_add/kernel: "vector\\e[1m\\nadd"/' copy.yaml >"$work/names_kernel.yaml"
    run run "$work/names_kernel.yaml" --driver "$fake"
    check "kernel's name with control characters" 2 err "names_kernel.yaml:16:13: a text has the control character 0x1B in it"
    run run copy.yaml --driver "$fake" --mode grpah
    check "unknown mode" 2 err "--mode is one of serial, pdl, graph, graph-pdl, all, not 'grpah'; did you mean 'graph'?"
    run run copy.yaml --driver "$fake" --pdl on
    check "unknown --pdl" 2 err "--pdl is one of auto, off, force, not 'on'"
    run run copy.yaml --driver "$fake" --dump z=z
    check "dump of nothing" 2 err "the chain has no buffer 'z'"
    run run copy.yaml --driver "$fake" --dump x
    check "dump to nowhere" 2 err "--dump is BUFFER=FILE, not 'x'"
    run run copy.yaml --driver "$fake" --repeat 0 --dump "x=$work/none/x"
    check "dump that cannot be written" 4 err "No such file or directory"
    run run unlike.yaml --driver "$fake" --repeat 0
    check "results that differ" 1 out "buffer x is not as expected (file): 5 elements differ in some bit, first element 0: 1, expected 115"
    run run unlike.yaml --driver "$fake" --repeat 0 --json
    check "results that differ, JSON" 1
    json "results that differ, JSON" 'not d["as_expected"] and d["modes"][0]["expectations"][0]["difference"]["unequal_elements"] == 5'
    run run late.yaml --driver "$fake" --repeat 0
    check "a chain with errors runs" 1 err "late.ptx:25:" err "error: " err "[GD206]" err "note: the check of the chain finds 2 errors"
    run run late.yaml --driver "$fake" --repeat 0 --json
    check "a chain with errors runs, JSON" 1 err "[GD206]"
    json "a chain with errors runs, JSON" 'all(m["equal_to_serial"] for m in d["modes"])'
    json "buffers that no kernel wrote, JSON" 'd["unwritten_buffers"] == ["b", "c", "d"] and not d["as_expected"] and not any(m["as_expected"] for m in d["modes"])'
    run run late.yaml --driver "$fake" --repeat 0 --no-check
    silent "run --no-check" err
    run run late.yaml --driver "$fake" --repeat 0 --mode graph
    silent "a run without dependent launch" err
    run run late.yaml --driver "$fake" --repeat 0 --pdl off
    silent "run --pdl off" err
    run demo --driver "$fake" --layers 2 --rows 64 --columns 32 --repeat 1
    check "demo whose kernels do nothing" 1 out "Fake device" out "is not as expected (reference)"

    # The scripted driver in the place of the emulated one, with a report for each of the schedules. Its report is written as a forked
    # process ends, where LeakSanitizer, that looks first, now and then crashes itself ("Tracer caught signal 11").
    sanitize() {
        ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 FAKE_DRIVER_REPORT=$work/script "$griddep" sanitize --driver "$fake" "$@" >"$work/out" 2>"$work/err" </dev/null
        code=$?
    }
    summary='{"summary":true,"findings":1,"reports":17,"launches":6,"schedule":"@SCHEDULE@","model":"contract"}'
    access() { printf '{"kernel":"%s","launch":%s,"cta":[0,0,0],"thread":[5,0,0],"module":2,"line":%s,"column":5,"instruction":"%s","action":"%s","bytes":4}' "$@"; }
    early=$(access late 5 25 'ld.global.f32 %value, [%x];' read)
    late=$(access late 6 25 'ld.global.f32 %value, [%x];' read)
    write=$(access vector_add 4 1 'st.global.f32 [%other], %x0;' write)
    finding() { printf '{"finding":%s,"kind":"race","text":"kernel late (launch 5) reads allocation @1@ before its griddepcontrol.wait; kernel vector_add (launch 4) writes it, launch 4 of kernel other (launch 4)","missing":"a wait of kernel late (launch 5)","names":[{"text":"kernel late (launch 5)","kernel":"late","launch":5},{"text":"kernel vector_add (launch 4)","kernel":"vector_add","launch":4},{"text":"allocation @1@","start":"@1@"}],"first":%s,"second":%s,"memory":{"space":"global","start":"@1@","bytes":128,"offset":20,"name":null}}\n' "$@"; }
    finding 1 "$early" "$write" >"$work/script"
    printf '{"count":1,"times":17}\n%s\n' "$summary" >>"$work/script"
    printf '%s\n' "$summary" >"$work/script.lazy"
    finding 1 "$write" "$early" >"$work/script.random:2"
    finding 2 "$late" "$write" | sed 's/"line":1/"line":2/' >>"$work/script.random:2"
    printf '%s\n' "$summary" >>"$work/script.random:2"
    sanitize late.yaml
    check "findings of a chain" 66 out "late.ptx:25:5: race: launch 1 (late) reads buffer b before its griddepcontrol.wait; launch 0 (vector_add) writes it, launch 4 of kernel other (launch 4)" \
        out "  25 |     ld.global.f32 %value, [%x];" out "     |     ^" out "  read of 4 bytes by late, launch 1, CTA 0,0,0, thread 5,0,0" \
        out "elementwise/vector_add.ptx:1:5: write of 4 bytes by vector_add, launch 0" out "   1 | st.global.f32 [%other], %x0;" \
        out "  in buffer b, byte 20 of 128, element 5" out "missing: a wait of launch 1" \
        out "seen 104 times: eager (pdl, graph-pdl), random:1 (pdl, graph-pdl), random:2 (pdl, graph-pdl), random:3 (pdl, graph-pdl)" \
        out "seen 2 times: random:2 (pdl, graph-pdl)" out "late.yaml' finds 2 errors in this chain without running it"
    if tail -n 1 "$work/out" | grep -q '^2 findings in these executions ([0-9]* launches; schedules eager, lazy, random:1, random:2, random:3; model contract)$'; then pass; else fail "findings of a chain: the last line"; fi
    silent "findings of a chain" err
    sed 's/kernel: late$/&\n    name: later/;t;s/kernel: vector_add$/&\n    name: adder/' late.yaml >"$work/named.yaml"
    cp late.ptx "$work/"
    sed '0,/name: later/!s/name: later/name: last/' "$work/named.yaml" >"$work/names.yaml"
    sanitize "$work/names.yaml"
    check "findings of a chain with names" 66 out "race: launch 1 (later) reads buffer b before its griddepcontrol.wait; launch 0 (adder) writes it, launch 4 of kernel other (launch 4)" \
        out "  read of 4 bytes by late, launch 1 (later), CTA" out "missing: a wait of launch 1 (later)"
    run check "$work/names.yaml"
    check "a check of a chain with names" 1 out "reads x before its wait, and nothing orders it after launch 0 (adder), which writes it" out "  in launch 1 (later) of "
    sanitize late.yaml --json --schedule lazy --schedule eager --modes pdl
    check "findings of a chain, JSON" 66
    json "findings of a chain, JSON" '[f["runs"] for f in d["findings"]] == [[{"schedule": "eager", "mode": "pdl", "times": 17}]] and [r["findings"] for r in d["runs"]] == [0, 1] and d["static_errors"] == 2'
    json "names in a chain's findings, JSON" '[(f["first"]["file"], f["first"]["chain_launch"], f["memory"]["buffer"], f["memory"]["element"], f["times"]) for f in d["findings"]] == [("late.ptx", 1, "b", 5, 17)]'
    sanitize late.yaml --schedule eager --report "$work/report" --json
    check "a chain's report" 66
    silent "a chain's report" out
    cp "$work/report" "$work/out"
    json "a chain's report" 'd["verdict"].startswith("1 finding in this execution (") and d["verdict"].endswith(" launches; schedule eager, model contract)") and d["launches"] == sum(r["launches"] for r in d["runs"]) and len(d["runs"]) == 2 and all(r["launches"] > 0 for r in d["runs"])'
    cp "$work/script.lazy" "$work/script"
    rm "$work"/script.*
    sanitize copy.yaml
    check "a chain without findings" 0 out "copy, 3 launches, 10 runs"
    if tail -n 1 "$work/out" | grep -q '^no race in these executions ([0-9]* launches; schedules eager, lazy, random:1, random:2, random:3; model contract)$'; then pass; else fail "a chain without findings: the last line"; fi
    sanitize copy.yaml --schedule random:9 --modes graph-pdl
    check "a chain without findings in one schedule" 0 out "1 run" out "no race in this execution (" out "; schedule random:9, model contract)"
    sanitize late.yaml --schedule lazy
    check "a chain whose results are wrong" 1 out "results: they are not as the chain file expects" out "no race in this execution"
    : >"$work/script"
    sanitize copy.yaml
    check "a driver that does not sum up" 4 err "the emulated driver did not sum up what it checked"
    silent "a driver that does not sum up" out
    FAKE_DRIVER_INIT=999
    export FAKE_DRIVER_INIT
    sanitize copy.yaml
    check "a driver that fails" 4 err "CUDA_ERROR_UNKNOWN"
    unset FAKE_DRIVER_INIT

    # unwritten CODE TYPE COUNT: a run whose kernel does not write the one buffer that it should
    unwritten() {
        cp copy.ptx "$work"
        cat >"$work/unwritten.yaml" <<YAML
name: unwritten
modules: [{name: mine, file: copy.ptx}]
buffers:
  - {name: x, type: u32, count: 16}
  - {name: y, type: $2, count: $3}
launches:
  - {kernel: copy, module: mine, grid: [1], block: [32], arguments: [{buffer: x, access: read}, {buffer: y, access: write}]}
expect: [{buffer: y, from: serial}]
YAML
        run run "$work/unwritten.yaml" --driver "$fake" --repeat 0
        check "$2 x $3 that no kernel wrote" "$1"
    }
    never="buffer y was not written: it still holds the 0xff bytes it was filled with"
    perhaps="griddep: warning: buffer y may not have been written: it holds the 0xff bytes it was filled with"
    unwritten 1 u32 16
    check "unwritten u32" 1 out "$never" out "not as expected"
    unwritten 1 u8 9
    check "unwritten u8" 1 out "$never"
    unwritten 1 f32 1
    check "unwritten f32" 1 out "$never"
    unwritten 0 u32 2
    check "two u32 that may be so" 0 err "$perhaps"
    unwritten 0 s8 1
    check "one s8 that may be so" 0 err "$perhaps"

    set --
    for type in u8 u16 u32 u64 s8 s16 s32 s64 f16 bf16 f32 f64 zero poison file; do
        set -- "$@" --dump "b_$type=$work/b_$type"
    done
    run run types.yaml --driver "$fake" --repeat 0 "$@"
    check "types" 1 out "buffer b_poison was not written: it still holds the 0xff bytes it was filled with"
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

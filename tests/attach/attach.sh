#!/bin/sh
# griddep audit and off, on programs that know nothing of this project (program.c). GRIDDEP: the
# command; builddir: the build's root; EMULATED_DRIVER; CC; SANITIZED=1: built with sanitizers.
set -u

srcdir=$(cd "${srcdir:-$(dirname "$0")/../..}" && pwd)
build=$(cd "${builddir:-.}" && pwd)
griddep=${GRIDDEP:-$build/griddep}
program=$build/tests/attach/program
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/cases.sh"
GRIDDEP_DRIVER=emulated
TMPDIR=$work/tmp
export GRIDDEP_DRIVER TMPDIR
mkdir "$TMPDIR"
sed 's/1048576/4096/; s/grid: \[1024\]/grid: [4]/' "$srcdir/examples/vector_add.yaml" >"$work/small.yaml"

# runs CODE SUBCOMMAND ACTION...: the program attached; out and err are what it and the command say.
runs() {
    expected=$1 subcommand=$2
    shift 2
    # shellcheck disable=SC2086 # words
    "$griddep" $subcommand -- "$program" "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
    cat "$work/out" "$work/err"
    [ "$code" -eq "$expected" ] || { echo "exit code $code"; return 1; }
    [ -z "$(ls -A "$TMPDIR")" ] || { echo "$TMPDIR is not empty"; return 1; }
}
out() { [ "$(cat "$work/out")" = "$1" ]; }
err() { grep -qF -- "$1" "$work/err"; }
no_err() { ! grep -qF -- "$1" "$work/err"; }

# same CODE ACTION...: alone, on the emulated driver, and attached a program says the same and ends
# with that code.
same() {
    expected=$1
    shift
    LD_LIBRARY_PATH=$build/driver "$program" "$@" >"$work/alone" 2>"$work/alone.err" </dev/null
    code=$?
    [ "$code" -eq "$expected" ] || { echo "alone: exit code $code"; return 1; }
    runs "$expected" off "$@" && diff "$work/alone" "$work/out"
}

# ---- what an audit says

right() {
    runs 0 audit right tell && out "counter 4" && [ "$(head -n 1 "$work/err")" = "griddep: safe: each kernel that starts early waits in time; all 3 launches that could start early do" ] && err "waits  " && err "every path" &&
        err "griddep: 0 races, 0 findings (4 launches of 1 kernel)"
}
racy() {
    runs 66 audit racy tell && out "counter 2" && err "griddep: not safe: 1 race between a kernel and one before it; no launch could start early: no kernel that directly follows another one waits" &&
        err "never(unsigned long, unsigned int*)" &&
        err "error: kernel never(unsigned long, unsigned int*) may start beside the kernel before it, 1 time, and never waits for it: they race where they share memory [GD401]" &&
        err "at launch in program+0x"
}
racy_file() {
    runs 66 "audit --report $work/report" racy tell && [ ! -s "$work/err" ] &&
        grep -q '^1 race, 1 finding (2 launches of 2 kernels)$' "$work/report"
}
guarded() { runs 0 audit guarded && err "note: kernel guarded may start beside the kernel before it, 1 time: some of its threads leave before the wait while others wait, so the order holds [GD405]"; }
path() { runs 0 audit path && err "where all of its threads leave before the wait it ends before that kernel does, and who waits for it does not wait for both [GD407]"; }
# A program of this library finds the library in front, though GRIDDEP_DRIVER names another driver.
of_this_library() {
    for GRIDDEP_DRIVER in emulated nvidia "$EMULATED_DRIVER"; do
        for subcommand in audit off on; do
            "$griddep" $subcommand --driver emulated --report "$work/report" -- "$griddep" run "$work/small.yaml" --repeat 0 --mode pdl >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
            grep -q "launches" "$work/report" || { cat "$work/report"; return 1; }
        done
        "$griddep" trace --as-run --driver emulated -- "$griddep" run "$work/small.yaml" --repeat 0 --mode pdl >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    done
    GRIDDEP_DRIVER=emulated
}
# What a kernel touches before its wait counts where the one before writes nobody knows where.
# A kernel may meet one further back: it reads before its wait and the one between triggers early, or that one does not wait.
far() {
    for action in far far-graph farther; do
        runs 66 audit $action && err "error: kernel eager may start beside kernel never(unsigned long, unsigned int*), 1 time: it reads p before its wait" && err "[GD406]" || return 1
    done
    runs 66 audit far-loose && err "error: kernel waits may start beside kernel never(unsigned long, unsigned int*), 1 time" && err "[GD406]" &&
        runs 0 audit far-ordered && err "griddep: safe: "
}
alone() { runs 0 audit loose && err "perhaps not safe" && err "and never waits: nothing shows that they race, but who waits for it does not wait for both [GD407]" && no_err GD410; }
# Of a tensor map it is known where it leads, of an address in a struct it is not.
mapped() { runs 0 audit mapped && err "safe: each kernel that starts early waits in time" && err "0 races, 0 findings"; }
mapped_shared() { runs 66 audit mapped-shared && err "kernel mapped may start beside kernel waits, 1 time: it reads m before its wait" && err "[GD406]"; }
boxed() { runs 0 audit boxed && err "it touches memory before its wait that m leads to" && err "[GD404]"; }
scatter_early() {
    runs 0 audit scatter-early &&
        err "warning: kernel eager may start beside kernel scatter, 1 time: it touches p before its wait, and launch 0 (scatter) may still write it: the address in its line" &&
        err "cannot be traced" && err "[GD404]"
}
again() { runs 0 audit again && err "warning: kernel again may start beside kernel again, 1 time: it " && err "[GD404]"; }
scatter_plain() { runs 0 audit scatter tell && out "counter 8" && no_err "GD4"; }
eager_early() { runs 66 audit "$@" eager-early && err "error: kernel eager may start beside kernel waits, 1 time: it reads p before its wait, and nothing orders it after launch 0 (waits), which writes it" && err "[GD406]" && no_err "GD410"; }
lost() { runs 0 audit lost && err "griddep: safe: no kernel starts early; the 1 launch that could start early does not" && err "warning: kernel waits waits on every path, and 1 of its launches after a kernel has no attribute" && err "[GD410]"; }
# Each launch in a stream is timed, by events that do not show in what the program does.
timed() {
    runs 66 "audit --times" racy right tell && err "total us  median us" && grep -q "^waits .*  yes  *[1-9][0-9.]*  *[1-9][0-9.]*$" "$work/err" &&
        out "counter 6" && err "share memory [GD401]"
}
# The time between kernels of which the second could start early and does not.
gaps() {
    runs 0 "audit --times" lost lost right tell && err "3 of 7 launches that could start early do; early starts could save at most " &&
        grep -q "^kernel  could start early behind  times  us between$" "$work/err" && grep -q "^waits   waits  *4  *[0-9.]*$" "$work/err" &&
        runs 0 "audit --times" right && no_err "could save"
}
timed_json() {
    for case in "contexts 4" "graph 0" "right 4" "threads 1600" "unload 3"; do
        # shellcheck disable=SC2086 # words
        set -- $case
        "$griddep" audit --times --json --report "$work/report" -- "$program" "$1" tell >"$work/out" 2>&1
        "$PYTHON3" -c '
import json, sys
document = json.load(open(sys.argv[1]))
timed = sum(each["timed"] for each in document["kernels"])
assert timed == int(sys.argv[2]), timed
for each in document["kernels"]:
    assert (each["median_us"] is None) == (each["timed"] == 0)
    assert not each["timed"] or each["total_us"] > 0 and each["median_us"] <= each["total_us"]' "$work/report" "$2" || { echo "$case"; return 1; }
    done
}
full() { runs 0 audit full && err "note: kernel waits may start early after kernel waits, 1 time, and overlaps at its tail alone: blocks of the second kernel find no room on an SM beside those of the first [GD414]"; }
between() { runs 0 audit between && err "warning: a memset between kernels waits and waits, 1 time: they do not overlap [GD411]"; }
graph() { runs 0 audit graph && out "programmatic edges 1" && grep -q "^waits  *program  *sm_90  *6  *6  *3 " "$work/err" && err "0 races, 0 findings (6 launches of 1 kernel)"; }
plain_graph() { runs 0 audit plain-graph && err "1 edge of a graph from kernel waits to kernel waits is plain, and the second one waits on every path: they do not overlap [GD412]"; }
graph_between() { runs 0 audit graph-between && err "warning: a memset between kernels waits and waits of a graph, 1 time: they do not overlap [GD411]"; }
# What an executable graph launches counts, whatever it was made of.
exchanges() {
    runs 66 audit exchanges && out "exchanged 3 of 3 times" && err "may start beside the kernel before it, 3 times, and never waits for it" &&
        grep -q "^waits  *program  *sm_90  *14  *14  *5 " "$work/err" && grep -q "^never(.*  program  *sm_90  *3  *3  *3 " "$work/err"
}
off_graphs() { # counts the edges as they were made
    for action in edges exchanges; do
        runs 0 "off --json --report $work/report" $action && ! grep -q '"changed_edges": 0,' "$work/report" && grep -q '"start_early": 0,' "$work/report" &&
            ! grep -q '"early": [1-9]' "$work/report" || { cat "$work/report"; return 1; }
    done
}
many_graphs() { runs 0 audit many-graphs && out small && grep -q "^waits  *program  *sm_90  *3000  *3000  *1000 " "$work/err"; }
# What the emulated driver links is PTX.
linked() { runs 0 audit linked tell && out "counter 2" && grep -q "^waits .*  every path  yes$" "$work/err"; }
long_name() { runs 0 audit long && grep -q "^warning: kernel firstn*\.\.\.n*last may start beside" "$work/err" && [ "$(grep -c "^warning: .\{200,290\}$" "$work/err")" -eq 1 ]; }
# Of a template, the kernel's name stays, and both ends of its arguments.
template_name() {
    NAME=_ZN3cub6detail11MergeKernelINS_10PolicyHub1IjEELi128ELb1ENS_26AnotherRatherLongNameOfOneENS_10PolicyHub1IfEEEEvPKT_PT_jbPj
    export NAME
    runs 0 audit long && err "warning: kernel cub::detail::MergeKernel<cub::PolicyHub1<unsigned int...ne, cub::PolicyHub1<float> >(...) may start beside" &&
        err "cub::detail::MergeKernel<cub::PolicyHu...Hub1<float> >(...)  memory"
}
library_graph() { runs 0 audit library-graph && grep -q "^waits  *program  *sm_90  *1  *1  *0  *every path  *yes$" "$work/err"; }
library() { runs 0 audit library && err "0 races, 0 findings (2 launches of 1 kernel)"; }
# The report's lines of a kernel and of findings, for each way in which nvcc packs.
fatbin() {
    for packed in plain zstd lz4; do
        FATBIN=$srcdir/tests/golden/image/kernels.$packed.fatbin
        export FATBIN
        runs 66 audit fatbin && err "note: kernel partly may start beside the kernel before it, 1 time: some of its threads leave before the wait while others wait, so the order holds [GD405]" &&
            err "kernel fill may start beside the kernel before it, 1 time, and never waits for it: they race where they share memory [GD401]" &&
            grep -q "^scale  *memory  *sm_90  *1  *0  *1  *every path  *no$" "$work/err" || { echo "$packed"; return 1; }
    done
}
# What decompresses is missing: the emulated driver names it.
no_decompressor() {
    mkdir -p "$work/without"
    : >"$work/without/libzstd.so.1"
    FATBIN=$srcdir/tests/golden/image/kernels.zstd.fatbin
    export FATBIN
    (LD_LIBRARY_PATH=$work/without GRIDDEP_LOG=warning && export LD_LIBRARY_PATH GRIDDEP_LOG && ! runs 0 audit fatbin)
    err "libzstd.so.1 cannot be opened: install it (Debian: libzstd1)"
}
unload() { runs 0 audit unload && err "(3 launches of 1 kernel)" && no_err GD410; }
contexts() { runs 66 audit contexts && err "kernel before it, 2 times" && err "(4 launches of 2 kernels)"; }
threads() { runs 0 audit threads && err "0 races, 0 findings (1600 launches of 1 kernel)"; }
fork_child() { runs 66 audit fork right tell && err "share memory [GD401]" && err "(6 launches of 2 kernels)"; }
crash() { runs 139 audit right crash && err "(4 launches of 1 kernel)"; }
aborts() { runs 134 audit right abort && err "(4 launches of 1 kernel)"; }
capture_exit() { same 0 right capture-exit && for with in on audit "audit --times"; do runs 0 "$with" right capture-exit || return 1; done; err "(4 launches of 1 kernel; times by events)"; }
closes() { same 0 right close right tell && runs 0 audit right close right tell && err "(8 launches of 1 kernel)"; }
many_modules() { { [ "${SANITIZED-}" = 1 ] || same 0 modules tell; } && runs 0 audit modules tell && grep -q "^waits  *program  *sm_90  *2000  *0  *1000 " "$work/err"; }
kill_() { runs 66 audit racy kill && err "share memory [GD401]"; }
exits() { runs 66 audit racy exit && err "share memory [GD401]"; }
nothing() { runs 65 audit fork-idle && err "nothing was attached"; }
started() { runs 66 audit "$program" racy tell && out "counter 2"; }
json() {
    runs 66 "audit --json" racy && "${PYTHON3:-python3}" -c '
import json, sys
document = json.load(open(sys.argv[1]))
assert [each["code"] for each in document["findings"]] == ["GD401"]
assert {each["kernel"]: each["waits"] for each in document["kernels"]} == {"waits": True, "never(unsigned long, unsigned int*)": False}
assert document["exit_code"] == 66 and document["complete"]' "$work/err"
}
# A limit on files ends neither the program nor the command.
no_room() { (ulimit -f 10 && runs 65 audit racy tell) && out "counter 2" && err "what 1 process did could not be written down: there was no room for it"; }
check "no room" no_room
check "right" right
check "a race" racy
check "a program of this library" of_this_library
check "a race, in a file" racy_file
check "threads that leave before the wait" guarded
check "a path without a wait" path
check "a wait, and no attribute" lost
check "races with a kernel that is not directly before" far
check "an early kernel that never waits, and has memory of its own" alone
check "a tensor map that is read before the wait" mapped
check "one of memory that the kernel before writes" mapped_shared
check "a struct of a tensor map's size" boxed
check "a kernel that is early behind one that writes nobody knows where" scatter_early
check "the same, not early" scatter_plain
check "a kernel that is early behind itself" again
check "a kernel that is early behind one that writes what it reads before its wait" eager_early
check "the same, with packed arguments" eager_early pack
check "a memset between" between
check "no room side by side" full
check "times" timed
check "times between kernels" gaps
[ -n "${PYTHON3-}" ] && check "times, JSON" timed_json
check "a graph" graph
check "a graph whose edge is plain" plain_graph
check "a memset in a graph" graph_between
check "kernels of an executable graph that are exchanged" exchanges
check "off, and graphs whose edges it makes plain" off_graphs
check "graphs that are instantiated again and again" many_graphs
check "a long name" long_name
check "the name of a template" template_name
check "a library" library
check "a library's kernel in a graph" library_graph
check "a linked image" linked
check "fatbins" fatbin
check "a fatbin without the library that decompresses it" no_decompressor
# What other projects' kernels look like (shapes.cu), launched as the CUDA runtime does: no false
# alarm, and each mistake is told. GUARDED: threads may leave before the wait.
GUARDED="ggml_unary ggml_block ggml_rows cutlass_gemm"
SOUND="_Z9ggml_gemvILb1ELi32EEvPKfPfi triton_add cccl_reduce flashinfer_norm"
shapes() { # shapes CODE FATBIN SUBCOMMAND KERNEL...
    expected=$1 FATBIN=$srcdir/tests/golden/image/$2 subcommand=$3
    shift 3
    KERNELS=$*
    export FATBIN KERNELS
    runs "$expected" "$subcommand" shapes
}
shapes_sound() { # shapes_sound FATBIN SUBCOMMAND CODES: all that is told are these findings.
    # shellcheck disable=SC2086 # words
    shapes 0 "$1" "$2" $SOUND $GUARDED && err "0 races" && err "griddep: ${4:-safe: each kernel that starts early waits in time}; " &&
        [ "$(sed -n 's/^[a-z]*: .*\[\(GD...\)\]$/\1/p' "$work/err" | sort | tr '\n' ' ')" = "$3 " ]
}
shapes_wrong() { # shapes_wrong FATBIN SUBCOMMAND CASE...
    given=$1 subcommand_=$2
    shift 2
    for case in "$@" "GD401 _Z9ggml_gemvILb0ELi32EEvPKfPfi" "GD402 wrong_early_load" "GD402 wrong_branch" \
        "GD402 wrong_one_thread" "GD402 wrong_guard" "GD401 wrong_gemm"; do
        shapes 66 "$given" "$subcommand_" triton_add "${case#* }" && err "[${case% *}]" || { echo "$case"; return 1; }
    done
}
check "sound kernels of other projects" shapes_sound shapes.fatbin audit "GD405 GD405 GD405 GD405"
check "kernels of other projects with a mistake" shapes_wrong shapes.fatbin audit "GD406 wrong_first" "GD406 wrong_early_store"
# Findings about instances of one template, and one kernel behind several, are one finding, but in
# SARIF, where each has its place.
alike() {
    PLAIN=1 shapes 0 shapes.fatbin "audit --sarif $work/alike.sarif" _Z9ggml_gemvILb1ELi8EEvPKfPfi _Z9ggml_gemvILb1ELi32EEvPKfPfi triton_add &&
        [ "$(grep -c "\[GD410\]$" "$work/err")" -eq 2 ] && [ "$(grep -c "^    and 1 more like this; --json lists it$" "$work/err")" -eq 1 ] &&
        err "griddep: 0 races, 3 findings (6 launches of 3 kernels)" && [ "$(grep -o '"ruleId"' "$work/alike.sarif" | wc -l)" -eq 3 ]
}
check "findings that are alike" alike
# A driver that takes machine code: it runs $RUNS in its place.
cat >"$work/machine.c" <<'TEXT'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int cuLibraryLoadData(void *library, const void *image, void *a, void *b, unsigned c, void *d, void *e, unsigned f)
{
    static char bytes[1 << 17];
    FILE *file = fopen(getenv("RUNS"), "rb");
    int (*next)(void *, const void *, void *, void *, unsigned, void *, void *, unsigned);
    *(void **)&next = dlsym(RTLD_NEXT, "cuLibraryLoadData");
    return !file || !fread(bytes, 1, sizeof bytes, file) ? 999 : next(library, bytes, a, b, c, d, e, f);
}
TEXT
RUNS=$srcdir/tests/golden/image/shapes.fatbin
export RUNS
if [ "${SANITIZED-}" != 1 ]; then
    check "a driver that takes machine code" ${CC:-cc} -shared -fPIC -o "$work/machine.so" "$work/machine.c" -Wl,--no-as-needed \
        "$EMULATED_DRIVER" -Wl,-rpath,"$(dirname "$EMULATED_DRIVER")" -ldl
    check "sound machine code" shapes_sound shapes.machine.fatbin "audit --driver $work/machine.so" "GD403 GD405 GD405 GD405" "perhaps not safe: of 1 kernel that starts early nobody can tell that it waits in time"
    check "machine code with a mistake" shapes_wrong shapes.machine.fatbin "audit --driver $work/machine.so"
fi
check "modules that are unloaded" unload
check "contexts" contexts
# The program runs attached, or not at all, wherever temporary files are.
placed() { # placed TMPDIR COMMAND...
    place=$1
    shift
    (cd "$work" && mkdir -p "$place") || return
    (cd "$work" && TMPDIR=$place "$griddep" "$@" -- "$program" root right tell) >"$work/out" 2>"$work/err"
    [ $? -eq 0 ] && out "counter 4"
}
not_placed() { # not_placed WORDS TMPDIR: the program does not run
    (cd "$work" && TMPDIR=$2 "$griddep" off -- "$program" right tell) >"$work/out" 2>"$work/err"
    [ $? -eq 4 ] && [ ! -s "$work/out" ] && err "$1"
}
for place in "$work/with space" "$work/quote'" relative ./relative/../relative; do
    check "off, TMPDIR=$place" placed "$place" off && check "audit, TMPDIR=$place" placed "$place" audit
done
for place in "$work/a:b" "$work/a;b" "$work/\$ORIGIN"; do
    mkdir "$place"
    check "TMPDIR=$place" not_placed "LD_LIBRARY_PATH cannot name" "$place"
done
check "TMPDIR that is not there" not_placed "no folder can be made" "$work/nowhere"
check "TMPDIR that is a file" not_placed "no folder can be made" "$program"
# What was kept of a context's modules is freed with it. Sanitizers have a heap of their own.
endings() { runs 0 "$1" endings && out steady; }
[ "${SANITIZED-}" = 1 ] || for command in on "on --rewrite"; do
    check "griddep $command: contexts that end" endings "$command"
done
check "threads" threads
check "fork" fork_child
check "a crash" crash
check "SIGABRT" aborts
check "a program that ends while it captures" capture_exit
check "a program that closes the driver and goes on" closes
check "2,000 modules" many_modules
check "SIGKILL" kill_
check "no exit handlers" exits
check "a child that does nothing" nothing
check "a program that starts another one" started
[ -n "${PYTHON3-}" ] && check "JSON" json

# A Python program that calls the driver: the report names its functions and lines.
cat >"$work/script.py" <<'TEXT'
import ctypes, sys
text = b""".version 7.8
.target sm_90
.address_size 64
.visible .entry never(.param .u64 p)
{
    .reg .u64 %a; ld.param.u64 %a, [p]; st.global.u32 [%a], 1; ret;
}
"""
cuda = ctypes.CDLL("libcuda.so.1")
class Config(ctypes.Structure):
    _fields_ = [("shape", ctypes.c_uint * 7), ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("count", ctypes.c_uint)]
def launch(function, early):
    attribute = (ctypes.c_uint * 18)(6, 0, 1)
    argument = memory
    config = Config((ctypes.c_uint * 7)(1, 1, 1, 1, 1, 1, 0), None, ctypes.addressof(attribute), early)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
    assert cuda.cuLaunchKernelEx(ctypes.byref(config), function, arguments, None) == 0
def step(function):
    for early in range(2):
        launch(function, early)
context, module, function, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
assert cuda.cuInit(0) == 0
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and cuda.cuCtxSetCurrent(context) == 0
assert cuda.cuModuleLoadData(ctypes.byref(module), text) == 0
assert cuda.cuModuleGetFunction(ctypes.byref(function), module, b"never") == 0 and cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(4)) == 0
step(function)
cuda.cuCtxSynchronize()
TEXT
python() {
    "$griddep" audit --sarif "$work/script.sarif" -- "$PYTHON3" "$work/script.py" >"$work/out" 2>"$work/err"
    [ $? -eq 66 ] || { cat "$work/out" "$work/err"; return 1; }
    grep -q "^$work/script.py:18: error: kernel never .* share memory \[GD401\]$" "$work/err" && err "by launch in $work/script.py:18" && err "by step in $work/script.py:21" && err "by <module> in $work/script.py:27" &&
        "$PYTHON3" -c '
import json, sys
result = json.load(open(sys.argv[1]))["runs"][0]["results"][0]
place = result["locations"][0]
assert result["ruleId"] == "GD401" and result["level"] == "error" and "share memory" in result["message"]["text"]
assert place["physicalLocation"] == {"artifactLocation": {"uri": "file://" + sys.argv[2]}, "region": {"startLine": 18}}, place
assert place["logicalLocations"][0]["name"].startswith("never")' "$work/script.sarif" "$work/script.py"
}
# A framework's frames are passed over, however deep.
python_framework() {
    mkdir -p "$work/site-packages" && cp "$work/script.py" "$work/site-packages/framework.py" && sed -i '/^step(function)$/,$d; s/^def step/def deep(function, depth):\n    deep(function, depth - 1) if depth else step(function)\ndef step/' "$work/site-packages/framework.py" || return 1
    printf 'import sys\nsys.path.insert(0, "%s")\nimport framework\ndef model():\n    framework.deep(framework.function, 12)\nmodel()\nframework.cuda.cuCtxSynchronize()\n' "$work/site-packages" >"$work/user.py"
    "$griddep" audit -- "$PYTHON3" "$work/user.py" >"$work/out" 2>"$work/err"
    [ $? -eq 66 ] || { cat "$work/out" "$work/err"; return 1; }
    cat "$work/err"
    grep -q "^$work/user.py:5: error: " "$work/err" && err "by model in $work/user.py:5" && err "by <module> in $work/user.py:6" && no_err framework.py
}
# The sanitizers come first in programs that are built with them alone.
if [ "${SANITIZED-}" = 1 ]; then
    :
elif [ -z "${PYTHON3-}" ] || ! "$PYTHON3" -c 'import ctypes; ctypes.pythonapi._Py_DumpTraceback'; then
    skipped=$((skipped + 1))
    echo "skipped: a Python program: there is no Python 3 that exports its dump of frames"
else
    check "a Python program" python
    check "a Python program with a framework" python_framework
fi

# ---- what was launched, as a chain file

# records CODE LAUNCHES ACTION...: the chain has so many launches, and run again it leaves what the program left, in each mode.
records() {
    expected=$1 launches=$2
    shift 2
    rm -rf "$work/chain"
    runs "$expected" "audit --record $work/chain --report $work/report" "$@" || return 1
    [ "$(grep -c '^- kernel: ' "$work/chain/chain.yaml")" -eq "$launches" ] || { cat "$work/chain/chain.yaml"; return 1; }
    "$griddep" run "$work/chain/chain.yaml" --repeat 0 --no-check >"$work/again" 2>&1 || { cat "$work/again"; return 1; }
    grep -q "is as expected (file): every bit equal" "$work/again"
}
# Of a module the kernels alone that were launched: a driver compiles its PTX.
recorded_alone() { records 0 4 right tell && [ "$(cat "$work"/chain/*.ptx | grep -c '\.entry')" -eq 1 ]; }
check "recorded: no other kernels" recorded_alone
for case in "0 4 right tell" "0 2 lost tell" "0 6 graph tell" "0 6 plain-graph tell" "0 2 library tell" "0 2 linked tell" "0 2 between tell" "0 2 struct tell" "0 3 unload tell" "0 2 event tell" "0 2 graph-between tell" "0 4 graph-copies tell" \
    "66 4 contexts tell" "66 4 fork right tell"; do
    # shellcheck disable=SC2086 # words
    check "recorded: $case" records $case
done
# Streams are lanes, and what ordered them orders the launches: nothing races, by any schedule. What the host writes between launches is
# a fill and a copy, behind which launches of other streams stand.
recorded_streams() {
    records 0 15 streams tell && out "counter 12" && [ "$(grep -o 'lane: stream_[0-9]*' "$work/chain/chain.yaml" | sort -u | wc -l)" -eq 4 ] || return 1
    [ "$(grep -c '^  after: .*fill_8' "$work/chain/chain.yaml")" -eq 3 ] && [ "$(grep -c '^  after: .*copy_14' "$work/chain/chain.yaml")" -eq 1 ] || { cat "$work/chain/chain.yaml"; return 1; }
    "$griddep" sanitize "$work/chain/chain.yaml" --schedule eager --schedule lazy --schedule random:1 >"$work/again" 2>&1 || { cat "$work/again"; return 1; }
    "$griddep" check "$work/chain/chain.yaml" >"$work/again" 2>&1 || { cat "$work/again"; return 1; }
}
check "recorded: streams" recorded_streams
# A part of them; the rest of the program goes on.
recorded_part() {
    rm -rf "$work/chain"
    runs 0 "audit --record $work/chain --first 1 --launches 2" right tell && out "counter 4" &&
        [ "$(grep -c '^- kernel: ' "$work/chain/chain.yaml")" -eq 2 ] && grep -q "constant: \|file: buffer_0.bin" "$work/chain/chain.yaml" &&
        "$griddep" run "$work/chain/chain.yaml" --repeat 0 --mode serial >"$work/again" 2>&1 && grep -q "every bit equal" "$work/again"
}
# What was wrong in the program is wrong in the chain.
recorded_race() {
    rm -rf "$work/chain"
    runs 66 "audit --record $work/chain" racy tell
    "$griddep" sanitize "$work/chain/chain.yaml" --schedule eager >"$work/again" 2>&1
    [ $? -eq 66 ] && ! "$griddep" check "$work/chain/chain.yaml" >"$work/again" 2>&1
}
# Of a kernel of the shelf the elements are those that its head comment tells; what the host writes before the second launch is a copy.
recorded_shelf() {
    for chain in "$work/small.yaml" "$srcdir/examples/skinny.yaml"; do
        rm -rf "$work/chain"
        "$griddep" audit --record "$work/chain" -- "$griddep" run "$chain" --repeat 0 --mode pdl --driver nvidia >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
        "$griddep" run "$work/chain/chain.yaml" --repeat 0 >"$work/again" 2>&1 && grep -q "every bit equal" "$work/again" && "$griddep" check "$work/chain/chain.yaml" >>"$work/again" || { cat "$work/again"; return 1; }
    done
}
# A chain of two lanes, in its four modes, one behind the other.
# Names that YAML would take for something else, and no buffers.
recorded_names() {
    rm -rf "$work/chain"
    printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry null()\n{\n    ret;\n}\n' >"$work/null.ptx"
    launch='{kernel: "null", module: m, grid: [1], block: [32]}'
    printf 'name: n\nmodules: [{name: m, file: null.ptx}]\nlaunches: [%s, %s]\n' "$launch" "$launch" >"$work/null.yaml"
    odd=$work/$(printf 'od\033d')
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$griddep" >"$odd" && chmod +x "$odd" || return 1
    "$griddep" audit --record "$work/chain" -- "$odd" run "$work/null.yaml" --repeat 0 --mode pdl --driver nvidia >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    "$griddep" check "$work/chain/chain.yaml" >"$work/again" 2>&1 || { cat "$work/again"; return 1; }
    "$griddep" tune "$work/chain/chain.yaml" >"$work/again" 2>&1
    [ $? -eq 2 ] && grep -q "the chain has no buffers" "$work/again" || { cat "$work/again"; return 1; }
}
check "recorded: odd names" recorded_names
# Where no folder can be made the program does not run.
recorded_nowhere() {
    rm -f "$work/link"
    ln -s "$work/nothing/there" "$work/link"
    for folder in "$work/link" "/proc/x" "$work/$(printf '%0300d' 0)"; do
        runs 4 "audit --record $folder" right tell && out "" || { echo "$folder"; return 1; }
    done
}
check "recorded: nowhere" recorded_nowhere
# A race is told though no chain can be.
recorded_race_alone() { runs 66 "audit --record $work/none" graph-host racy tell && err "no chain was written" && [ ! -e "$work/none" ]; }
check "recorded: a race alone" recorded_race_alone
recorded_lanes() {
    rm -rf "$work/chain"
    sed 's/65536/4096/; s/grid: \[64\]/grid: [4]/' "$srcdir/examples/fork_join.yaml" >"$work/lanes.yaml"
    "$griddep" audit --record "$work/chain" -- "$griddep" run "$work/lanes.yaml" --repeat 0 --driver nvidia >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    [ "$(grep -o 'lane: stream_[0-9]*' "$work/chain/chain.yaml" | sort -u | wc -l)" -eq 2 ] &&
        "$griddep" run "$work/chain/chain.yaml" --repeat 0 >"$work/again" 2>&1 && grep -q "every bit equal" "$work/again" || { cat "$work/again"; return 1; }
    "$griddep" sanitize "$work/chain/chain.yaml" --schedule eager --schedule lazy >"$work/again" 2>&1 || { cat "$work/again"; return 1; }
}
check "recorded: a chain of two lanes" recorded_lanes
unsaid() {
    rm -rf "$work/chain"
    runs "$@" && [ ! -e "$work/chain" ]
}
recorded_other() {
    unsaid 4 "audit --record $work/chain" graph-host tell && out "counter 1" && err "the recording ends before launch 0: it is by a graph that has nodes of other kinds too" && err "no chain was written" &&
        unsaid 65 "audit --record $work/chain" fork-idle
}
# Nothing is expected of a program that did not end in order.
recorded_crash() { ! records 139 4 right tell crash && grep -q "^graph-pdl  equal" "$work/again" && ! grep -q "^expect:" "$work/chain/chain.yaml"; }
check "recorded: a crash" recorded_crash
# Of several threads that go on nothing can be expected; the launches are as many as were asked for. They race where those of two are recorded.
recorded_threads() {
    for launches in 256 100; do
        rm -rf "$work/chain"
        "$griddep" audit --record "$work/chain" --launches "$launches" -- "$program" threads tell >"$work/out" 2>"$work/err"
        [ $? -eq "$(grep -q GD408 "$work/err" && echo 66 || echo 0)" ] && [ "$(grep -c '^- kernel: ' "$work/chain/chain.yaml")" -eq "$launches" ] || return 1
        "$griddep" run "$work/chain/chain.yaml" --repeat 0 --mode serial >"$work/again" 2>&1 || { cat "$work/again"; return 1; }
    done
}
check "recorded: threads" recorded_threads
# The PTX of a fatbin is what is written.
recorded_fatbin() {
    FATBIN=$srcdir/tests/golden/image/kernels.zstd.fatbin
    export FATBIN
    records 66 3 fatbin tell && [ -f "$work/chain/module_1.ptx" ]
}
check "recorded: a fatbin" recorded_fatbin
# What the host writes anew is kept anew, as long as there is room; then the recording ends.
recorded_full() {
    records 0 3 rewritten && rm -r "$work/chain" && runs 0 "audit --record $work/chain --memory 2" rewritten &&
        err "the recording ends before launch 2: the memory that was written between launches is more than is kept (audit --record --memory)" &&
        [ "$(grep -c '^- kernel: ' "$work/chain/chain.yaml")" -eq 2 ] && "$griddep" run "$work/chain/chain.yaml" >"$work/out" 2>&1
}
check "recorded: more memory than is kept" recorded_full
check "recorded: a part" recorded_part
check "recorded: a race" recorded_race
check "recorded: a kernel of the shelf" recorded_shelf
check "recorded: what a chain file cannot say" recorded_other

# ---- subcommands that take a chain, of what a program launched

# of SUBCOMMAND OPTION... -- ACTION...: stdout is the subcommand's, the program's goes to stderr.
of() {
    "$griddep" "$@" >"$work/out" 2>"$work/err"
    code=$?
    cat "$work/out" "$work/err"
    [ "$code" -eq 0 ] && [ -z "$(ls -A "$TMPDIR")" ]
}
traced() {
    of trace --launches 3 --svg "$work/picture.svg" --perfetto "$work/trace.json" -- "$program" right tell && err "counter 4" &&
        grep -q "^chain program, mode pdl: 3 launches" "$work/out" && grep -q "^results: as the plain serial run leaves them" "$work/out" &&
        grep -q "<svg" "$work/picture.svg" && grep -q traceEvents "$work/trace.json"
}
traced_graph() { of trace --mode graph-pdl -- "$program" graph tell && grep -q "mode graph-pdl: 6 launches" "$work/out" && err "programmatic edges 1"; }
explained() { of explain -- "$program" right lost && grep -q "^launch 1: waits after waits" "$work/out" && grep -q "switches dependent launch off" "$work/out"; }
ends_badly() { of trace -- "$program" right crash && err "the program ended with exit code 139" && grep -q "4 launches" "$work/out"; }
launches_nothing() { "$griddep" explain -- true >"$work/out" 2>"$work/err"; [ $? -eq 4 ] && err "no launch was seen to be recorded" && [ -z "$(ls -A "$TMPDIR")" ]; }
both() { for command in trace explain; do "$griddep" $command "$srcdir/examples/vector_add.yaml" -- true >"$work/out" 2>"$work/err"; [ $? -eq 2 ] || { echo "$command"; return 1; }; done; }
# Two programs; the pictures stand one above the other.
compared() {
    "$griddep" compare --svg "$work/both.svg" -- "$program" right tell -- "$program" lost lost tell >"$work/out" 2>"$work/err" || { cat "$work/out" "$work/err"; return 1; }
    err "counter 4" && grep -q "^B is slower: " "$work/out" && [ "$(grep -c "^<title>[AB]: " "$work/both.svg")" -eq 2 ] && [ "$(grep -c "<svg " "$work/both.svg")" -eq 3 ] && [ -z "$(ls -A "$TMPDIR")" ]
}
compared_badly() {
    for words in "-- a" "x.yaml -- a -- b" "-- a --" "-- -- a"; do
        # shellcheck disable=SC2086 # words
        "$griddep" compare $words >"$work/out" 2>"$work/err"
        [ $? -eq 2 ] || { echo "$words"; return 1; }
    done
}
# A program as it ran: by events, which show a graph as a whole, and by CUPTI.
ran() {
    of trace --as-run --svg "$work/ran.svg" --perfetto "$work/ran.json" -- "$program" right graph event tell && err "counter 12" &&
        grep -q "^program program: 9 launches in 3 streams, on the emulated driver; times by events, which keep launches apart$" "$work/out" &&
        grep -q "^a graph  *0  *3 " "$work/out" && grep -q "stream 0" "$work/ran.svg" && grep -q '"name":"stream 2"' "$work/ran.json"
}
ran_chosen() {
    of trace --as-run --kernel wait --first 1 --launches 2 -- "$program" right racy tell && grep -q "^waits  *0  *2 " "$work/out" && ! grep -q "^never" "$work/out" &&
        grep -q "^4 more launches are not shown$" "$work/out"
}
ran_machine_code() {
    FATBIN=$srcdir/tests/golden/image/kernels.plain.fatbin
    export FATBIN
    of trace --as-run -- "$program" fatbin && grep -q "^partly  *0  *1 " "$work/out"
}
ran_threads() { of trace --as-run --json -- "$program" threads contexts && [ "$(grep -c '"begin_ns"' "$work/out")" -eq 1604 ]; }
ran_badly() {
    for words in "--window 3 -- a" "--window 5:3 -- a" "--window 1: -- a" "--mode pdl -- a" "x.yaml"; do
        # shellcheck disable=SC2086 # words
        "$griddep" trace --as-run $words >"$work/out" 2>"$work/err"
        [ $? -eq 2 ] || { echo "$words"; return 1; }
    done
    "$griddep" trace --kernel k -- a >"$work/out" 2>"$work/err"
    [ $? -eq 2 ] && ! "$griddep" trace --as-run -- true >"$work/out" 2>"$work/err" && err "the command saw no launch" &&
        ! "$griddep" trace --as-run --kernel nothing -- "$program" right >"$work/out" 2>"$work/err" && err "no launch fits --kernel, --window and --first"
}
ran_cupti() {
    ${CC:-cc} -shared -fPIC -I"$srcdir/src" -o "$work/libcupti.so" "$srcdir/tests/attach/fake_cupti.c" || return 1
    GRIDDEP_CUPTI=$work/libcupti.so
    export GRIDDEP_CUPTI
    of trace --as-run -- "$program" right tell && err "counter 4" && grep -q "4 launches in 2 streams, .*; times by CUPTI$" "$work/out" &&
        grep -q "^first(int\*)  *0  *1  *2.00  *2.00  *-  *0$" "$work/out" && grep -q "^second  *0  *1  *4.00  *4.00  *-1.00  *1$" "$work/out" &&
        grep -q "^second  *1  *2  *3.00  *1.50  *1.00  *0$" "$work/out" && grep -q "^first begin to last end: 6.00 us$" "$work/out" &&
        of trace --as-run --window 2.5:3.5 -- "$program" right && grep -q "2 launches in 2 streams" "$work/out" || return 1
    FAKE_CUPTI_LATE=9000000 "$griddep" trace --as-run -- "$program" right >"$work/out" 2>"$work/err" && grep -q "^hint: .* --window 0:1000 shows the busiest millisecond, with 2 launches$" "$work/out" || return 1
    FAKE_CUPTI_LATE=9000000 "$griddep" trace --as-run --window 0:1000 -- "$program" right >"$work/out" 2>"$work/err" && ! grep -q "^hint: " "$work/out" || return 1
    FAKE_CUPTI_REFUSES=1 "$griddep" trace --as-run -- "$program" right >"$work/out" 2>"$work/err" && grep -q "times by events" "$work/out" || return 1
    GRIDDEP_CUPTI=off "$griddep" trace --as-run -- "$program" right >"$work/out" 2>"$work/err" && grep -q "times by events" "$work/out" || return 1
    FAKE_CUPTI_KERNEL=waits "$griddep" audit --times -- "$program" lost >"$work/out" 2>"$work/err" || return 1
    grep -q "^waits .*  yes  *9.00  *2.00$" "$work/err" && grep -q "^waits   waits  *3  *1.00$" "$work/err" &&
        err "early starts could save at most 1.0 us" && err "(2 launches of 1 kernel; times by CUPTI)"
}
# Launches that nobody waited for, in a context that ends.
ran_unfinished() {
    of trace --as-run -- "$program" right release && grep -q "^waits  *0  *4 " "$work/out" &&
        runs 0 "audit --times" right release && grep -q "^waits .* 4  *0 .*[0-9][.][0-9][0-9]$" "$work/err"
}
check "trace, as a program ran" ran
ran_crash() { of trace --as-run -- "$program" right tell right crash && grep -q "^waits  *0  *[4-8] " "$work/out" && err "the program ended with exit code 139"; }
check "trace, as a program ran that crashed" ran_crash
check "trace, of launches that the program does not wait for" ran_unfinished
# What no chain file can say is shown as it ran.
ran_refused() {
    of trace --svg "$work/ran.svg" -- "$program" graph-host tell && err "no chain was written" && err "while they were recorded" && grep -q "^a graph  *0  *1 " "$work/out" && [ -s "$work/ran.svg" ]
}
check "trace, of what cannot be recorded" ran_refused
ran_json() { of trace --json -- "$program" graph-host tell && err "no chain was written" && "${PYTHON3:-python3}" -m json.tool "$work/out" >/dev/null && grep -q '"begin_ns"' "$work/out"; }
check "in one document" ran_json
ran_not() {
    for words in "--mode graph-pdl -- $program graph-host" "--json --mode pdl -- $program graph-host" "--first 100 -- $program right" "--json --first 100 -- $program right"; do
        # shellcheck disable=SC2086 # words
        "$griddep" trace $words tell >"$work/out" 2>"$work/err"
        [ $? -eq 4 ] && [ "$(grep -c "no chain was written" "$work/err")" -eq 1 ] && ! grep -q "begin" "$work/out" || { echo "$words"; return 1; }
    done
    "${PYTHON3:-python3}" -m json.tool "$work/out" >/dev/null
}
check "but not where a mode is asked for, or nothing is left" ran_not
check "trace, some of what ran" ran_chosen
check "trace, as a program of a fatbin ran" ran_machine_code
check "trace, as threads and contexts ran" ran_threads
check "trace, and words that are missing" ran_badly
check "trace, by CUPTI" ran_cupti
# What a program launched, checked as a chain.
sanitized() {
    "$griddep" sanitize --recorded --schedule eager -- "$program" racy tell >"$work/out" 2>"$work/err"
    [ $? -eq 66 ] && err "counter 2" && grep -q "^2 findings in this execution" "$work/out" || return 1
    of sanitize --recorded --launches 3 --schedule lazy -- "$program" right streams tell && grep -q "^no race in this execution" "$work/out" || return 1
    for words in "--recorded $work/x.yaml" "--recorded" "--recorded --first x -- a"; do
        # shellcheck disable=SC2086 # words
        "$griddep" sanitize $words >"$work/out" 2>"$work/err"
        [ $? -eq 2 ] || { echo "$words"; return 1; }
    done
    "$griddep" sanitize --recorded -- true >"$work/out" 2>"$work/err"
    [ $? -eq 4 ] && [ -z "$(ls -A "$TMPDIR")" ]
}
check "sanitize, of what was recorded" sanitized
check "compare" compared
check "compare, and words that are missing" compared_badly
check "trace" traced
check "trace, of a graph" traced_graph
check "explain" explained
check "trace, of a program that crashes" ends_badly
check "explain, of a program that launches nothing" launches_nothing
check "a chain and a program" both

# ---- a program does the same, errors included

for actions in "right tell" "racy tell" "edges tell" "graph-between tell" "plain-graph tell" "event tell" "library tell" "unload tell" \
    "contexts tell" "threads tell" "error tell" "descriptors right tell" "dlclose right tell" "fork right tell"; do
    # shellcheck disable=SC2086 # words
    check "the same: $actions" same 0 $actions
done
same_on() { sed 's/\(programmatic edges\) .*/\1/' "$work/alone" >"$work/alone.plain"; runs 0 "on --rewrite" "$@" && sed 's/\(programmatic edges\) .*/\1/' "$work/out" | diff "$work/alone.plain" -; }
for actions in "right tell" "edges tell" "event tell" "library tell" "unload tell" "contexts tell" "threads tell" "error tell" "fork right tell"; do
    # shellcheck disable=SC2086 # words
    same 0 $actions >/dev/null && check "the same, on: $actions" same_on $actions
done
same_timed() { runs 0 "audit --times" "$@" && diff "$work/alone" "$work/out"; }
for actions in "right tell" "graph-between tell" "plain-graph tell" "library tell" "unload tell" "threads tell" "error tell" "descriptors right tell"; do
    # shellcheck disable=SC2086 # words
    same 0 $actions >/dev/null && check "the same, timed: $actions" same_timed $actions
done
check "the same: exit" same 9 right exit

# ---- off

off_right() { runs 0 off right tell && out "counter 4" && err "griddep: off: 3 of 4 launches and 0 edges of graphs were made plain"; }
# What the program sees of its graphs is as it was; a capture has no attribute to make edges of.
off_edges() { runs 0 off edges && out "programmatic edges 1" && err "griddep: off: 0 of 0 launches and 1 edge of graphs"; }
off_graph() { runs 0 off graph && out "programmatic edges 0" && err "griddep: off: 1 of 2 launches and 0 edges of graphs"; }
# The emulated driver's own checks are the judge: a race without, none with it.
races() {
    : >"$work/races"
    GRIDDEP_EMULATOR_CHECK=race GRIDDEP_EMULATOR_REPORT=$work/races "$griddep" "$@" >/dev/null 2>&1
    cat "$work/races"
    grep -q '"kind":"race"' "$work/races"
}
off_ends_races() {
    for actions in racy edges; do
        races audit -- "$program" $actions tell || { echo "$actions: no race to end"; return 1; }
        ! races off -- "$program" $actions tell || { echo "$actions"; return 1; }
    done
}
off_event() { runs 0 off event && err "griddep: off: 1 of 2 launches"; }
check "off" off_right
check "off: an event of a launch" off_event
check "off: a graph made by hand" off_edges
check "off: a graph that was captured" off_graph
check "off ends races" off_ends_races

# ---- on

on_lost() { runs 0 on lost tell && out "counter 2" && err "griddep: on: 2 of 2 launches may start early that could not before"; }
on_right() { runs 0 on right tell && out "counter 4" && err "on: 1 of 4 launches"; }
on_exchanges() { runs 0 on exchanges && out "exchanged 1 of 3 times" && err "a kernel of an executable graph was not exchanged for one that may not start early"; }
on_graph() { runs 0 on plain-graph tell && err "on: 2 of 2 launches" && grep -q "programmatic edges 1" "$work/out"; }
# Of what was made the emulated driver's checks find no race; kernels that never wait are left alone.
on_never() { runs 0 on never tell && out "counter 3" && err "on: 0 of 3 launches"; }
on_eager() {
    runs 0 on eager tell && out "counter 2" &&
        err "on: 1 of 2 launches may start early that could not before; the 1 launch that could start early does not; 1 was left as it is or made plain: an earlier kernel may still run that it does not wait for" &&
        runs 0 on scatter tell && out "counter 8"
}
on_rewrite() { runs 0 "on --rewrite" never tell && out "counter 3" && err "on: 3 of 3 launches may start early that could not before; all 2 launches that could start early do; 1 module was rewritten"; }
on_is_safe() {
    for how in "on" "on --rewrite"; do
        for actions in lost never eager scatter plain-graph; do
            # shellcheck disable=SC2086 # words
            ! races $how -- "$program" $actions tell || return 1
        done
    done
}
# Of other projects' kernels in fatbins: by machine code, and by PTX where that does not tell.
on_shapes() { # on_shapes LAUNCHES FATBIN SUBCOMMAND KERNEL...: of so many launches, all but the first.
    launches=$1
    shift
    PLAIN=1 shapes 0 "$@" && err "on: $launches of 2 launches may start early" || { echo "$*"; return 1; }
}
on_fatbins() {
    for kernel in $SOUND $GUARDED; do
        on_shapes 2 shapes.fatbin on "$kernel" || return 1
    done
    for kernel in _Z9ggml_gemvILb0ELi32EEvPKfPfi wrong_first wrong_early_store wrong_early_load wrong_branch wrong_one_thread wrong_guard wrong_gemm; do
        on_shapes 0 shapes.fatbin on "$kernel" || return 1
    done
    on_shapes 0 shapes.fatbin on wrong_first && err "2 were left as they are" || return 1
    on_shapes 2 shapes.fatbin "on --rewrite" wrong_gemm && err "; 2 modules were rewritten"
}
on_machine_code() {
    for kernel in $SOUND ggml_unary ggml_block ggml_rows; do
        on_shapes 2 shapes.machine.fatbin "on --driver $work/machine.so" "$kernel" || return 1
    done
    for kernel in cutlass_gemm _Z9ggml_gemvILb0ELi32EEvPKfPfi wrong_first wrong_early_store wrong_branch wrong_one_thread wrong_guard; do
        on_shapes 0 shapes.machine.fatbin "on --driver $work/machine.so" "$kernel" || return 1
    done
}
# A kernel that waits is not made early where what it waits for does not wait, nor is what it follows where an early one relies on that.
on_rows() {
    for actions in "loose 0 3" "relying 2 3"; do
        set -- $actions
        for way in "" -graph; do
            for schedule in eager lazy random:1 random:2 random:3 random:4; do
                GRIDDEP_EMULATOR_SCHEDULE=$schedule runs 0 on "$1$way" tell && out "counter 2" &&
                    err "on: $2 of $3 launches may start early" && err "; 1 was left as it is or made plain" || { echo "$1$way"; return 1; }
            done
        done
    done
}
check "on, and what an early launch relies on" on_rows
check "on, and fatbins" on_fatbins
[ "${SANITIZED-}" = 1 ] || check "on, and machine code" on_machine_code
check "on" on_lost
check "on, with launches that are early already" on_right
check "on, in a graph that is captured" on_graph
check "on, where another kernel would start early in an executable graph" on_exchanges
check "on, and no wait" on_never
check "on --rewrite" on_rewrite
check "on makes no race" on_is_safe
check "on, and a kernel that touches memory before its wait" on_eager

# ---- usage

usage() { "$griddep" "$@" >"$work/out" 2>"$work/err"; [ $? -eq 2 ]; }
no_program() { usage audit && err "takes a program after '--'" && usage off -- && err "there is no program after '--'"; }
help() { "$griddep" audit --help >"$work/out" && tr -s " \n" " " <"$work/out" | grep -q "usage: griddep audit .* -- PROGRAM" && "$griddep" off --help >/dev/null; }
no_driver() { usage audit --driver nowhere -- true && err "not 'nowhere'"; }
# The emulated driver refuses such a program; another driver would not.
misspelt() {
    GRIDDEP_ATTACH_ERLY=off
    export GRIDDEP_ATTACH_ERLY
    runs 3 off right
    unset GRIDDEP_ATTACH_ERLY
    err "did you mean GRIDDEP_ATTACH_EARLY?"
}
absent() { "$griddep" audit -- "$work/nowhere" >"$work/out" 2>"$work/err"; [ $? -eq 127 ] && err "cannot be started"; }
twice() { "$griddep" audit -- env GRIDDEP_DRIVER=nvidia "$griddep" audit -- true >"$work/out" 2>"$work/err"; err "runs attached already"; }
check "help" help
check "no program" no_program
check "no such driver" no_driver
check "no such program" absent
check "a variable that is misspelt" misspelt
check "attached twice" twice

# ---- drivers that are older and newer

# A driver that lacks a function, and has one that nobody has heard of.
cat >"$work/driver.c" <<'TEXT'
int cuInit(unsigned flags) { return flags ? 1 : 0; }
int cuDriverGetVersion(int *version) { *version = 99990; return 0; }
int cuDeviceGetCount(int *count) { *count = 7; return 0; }
int cuSomethingNew(int a, double b, int c, int d, int e, int f, int g, int h) { return b == 0.5 ? a + c + d + e + f + g + h : -1; }
TEXT
cat >"$work/user.c" <<'TEXT'
#include <dlfcn.h>
#include <stdio.h>
int cuSomethingNew(int, double, int, int, int, int, int, int);
int cuDeviceGetCount(int *);
int cuDeviceGet(int *, int);
int main(void)
{
    int count = 0, device = 0;
    int (*found)(int, double, int, int, int, int, int, int) = 0;
    *(void **)&found = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuSomethingNew");
    cuDeviceGetCount(&count);
    printf("%d %d %d %d\n", cuSomethingNew(1, 0.5, 2, 3, 4, 5, 6, 7), found ? found(1, 0.5, 1, 1, 1, 1, 1, 1) : -1, count, cuDeviceGet(&device, 0));
    return 0;
}
TEXT
other_driver() {
    # shellcheck disable=SC2086 # words
    ${CC:-cc} -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$work/libcuda.so.1" "$work/driver.c" || return 1
    for binding in now lazy; do
        echo 'int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }' |
            cat "$work/driver.c" - >"$work/whole.c"
        ${CC:-cc} -shared -fPIC -Wl,-soname,libcuda.so.1 -o "$work/whole.so" "$work/whole.c" || return 1
        ${CC:-cc} -o "$work/user" "$work/user.c" "$work/whole.so" -Wl,-z,$binding -ldl || return 1
        "$griddep" audit --driver "$work/libcuda.so.1" -- "$work/user" >"$work/out" 2>"$work/err"
        cat "$work/out" "$work/err"
        out "28 7 7 801" || return 1
    done
}
[ "${SANITIZED-}" = 1 ] || check "a driver with other functions" other_driver

# ---- a program with more rights

privileged() {
    cp "$program" "$work/privileged" && chmod 755 "$work" && chown daemon "$work/privileged" && chmod 4755 "$work/privileged" || return 1
    "$griddep" audit -- "$work/privileged" fork-idle >"$work/out" 2>"$work/err"
    err "gets rights by being started"
}
if [ "$(id -u)" -ne 0 ] || ! id daemon >/dev/null 2>&1; then
    skipped=$((skipped + 1))
    echo "skipped: only root can make a set-uid program of another user"
elif [ "${SANITIZED-}" != 1 ]; then
    check "a set-uid program" privileged
fi

# ---- all that the conformance suite asks a driver for

conforms() {
    "$griddep" audit --report "$work/report" -- env GRIDDEP_TEST_DRIVER=libcuda.so.1 CK_RUN_SUITE="$1" "$build/tests/conformance/test_conformance" >"$work/out" 2>"$work/err"
    cat "$work/out" "$work/err"
    grep -q "Failures: 0, Errors: 0" "$work/out" && grep -q "launches" "$work/report"
}
for suite in module launch stream graph capture; do
    check "conformance: $suite" conforms "$suite"
done
finish

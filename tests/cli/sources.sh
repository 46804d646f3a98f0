#!/bin/sh
# CUDA C++ in chains: what NVRTC makes of it is checked, attacked and told of by the source's lines; where there is no NVRTC, the exit code says so.
# The compiler is the tests' own.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

source_root=${srcdir:-$(dirname "$0")/../..}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$source_root/tests/cases.sh"
unset GRIDDEP_PDL
export GRIDDEP_STORE=off GRIDDEP_NVRTC="$FAKE_NVRTC"

address='// fake-body: .reg .b32 %v, %i; .reg .b64 %x, %at; ld.param.u64 %x, [p]; mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 4; add.u64 %x, %x, %at;'
cat >"$work/produce.cu" <<END
$address
// fake-body: griddepcontrol.launch_dependents; griddepcontrol.wait;
// fake-body: .loc 1 41 5
// fake-body: mov.u32 %v, 7; st.global.u32 [%x], %v;
END
cat >"$work/consume.cu" <<END
$address
// fake-body: .loc 1 42 5
// fake-body: ld.global.u32 %v, [%x]; add.u32 %v, %v, 1; st.global.u32 [%x+128], %v;
END
sed 's|^// fake-body: .loc 1 42 5|// fake-body: griddepcontrol.wait;|' "$work/consume.cu" >"$work/waits.cu"
for kernel in consume waits; do
    cat >"$work/$kernel.yaml" <<END
name: $kernel
modules: [{name: produce, file: produce.cu}, {name: consume, file: $kernel.cu}]
buffers: [{name: x, type: u32, count: 64}]
launches:
  - {kernel: k, module: produce, grid: [1], block: [32], arguments: [{buffer: x}]}
  - {kernel: k, name: second, module: consume, pdl: force, grid: [1], block: [32], arguments: [{buffer: x}]}
expect: [{buffer: x, from: serial}]
END
done
# says STATUS WORDS COMMAND...
says() {
    expected=$1
    words=$2
    shift 2
    "$GRIDDEP" "$@" >"$work/out" 2>&1
    status=$?
    cat "$work/out"
    [ "$status" -eq "$expected" ] && grep -q "$words" "$work/out"
}
check "check names the line of the source" says 1 'consume.cu:42: error: .*GD205' check "$work/consume.yaml"
check "run says the same" says 1 'consume.cu:42: error: .*GD205' run "$work/consume.yaml" --emulate --repeat 0 --schedule eager
check "sanitize names it too" says 66 'consume.cu:42: race' sanitize "$work/consume.yaml"
check "stress attacks it" says 1 'late stores' stress "$work/consume.yaml" --emulate
check "a kernel that waits is right" says 0 '0 errors, 0 warnings' check "$work/waits.yaml"
check "a source alone" says 0 'kernel k: valid PTX; waits on every path' check "$work/waits.cu"
cat >"$work/fault.cu" <<END
$address
// fake-body: .loc 1 43 5
// fake-body: .loc 2 7 1, function_name \$L__info_string0, inlined_at 1 43 5
// fake-body: st.global.u32 [%x+65536], %i;
END
cat >"$work/fault.yaml" <<END
name: fault
modules: [{name: fault, file: fault.cu}]
buffers: [{name: x, type: u32, count: 64}]
launches: [{kernel: k, module: fault, grid: [1], block: [32], arguments: [{buffer: x}]}]
END
check "a fault has the line of the source" says 4 'fault.cu:43: ' run "$work/fault.yaml" --emulate --repeat 0
check "and in trace" says 4 'fault.cu:43: ' trace "$work/fault.yaml" --emulate --repeat 0
check "and in sanitize" says 66 'fault.cu:43: out-of-bounds' sanitize "$work/fault.yaml" --schedule eager
echo '#error' >"$work/broken.cu"
check "what does not compile" says 2 'NVRTC refuses' check "$work/broken.cu"
cat >"$work/runtime.cu" <<'END'
// fake-log: error: identifier "cudaGridDependencySynchronize" is undefined
#error
END
check "a name of the CUDA runtime" says 2 'hint: griddep_wait() is declared' check "$work/runtime.cu"
for kernel in waits consume; do
    sed 's/kernel: k, name: second/kernel: "k<2>"/' "$work/$kernel.yaml" >"$work/instance_$kernel.yaml"
done
check "an instance of a template" says 0 '0 errors, 0 warnings' check "$work/instance_waits.yaml"
check "which runs" says 0 'graph-pdl *equal' run "$work/instance_waits.yaml" --emulate --repeat 0
check "and is attacked" says 0 'no attack changed' stress "$work/instance_waits.yaml" --emulate
check "one that does not wait" says 1 'k<2>.*GD205\|GD205' check "$work/instance_consume.yaml"
check "and races by its C++ name" says 66 'by k<2>, launch 1' sanitize "$work/instance_consume.yaml"
check "explain calls it so" says 0 'launch 1: k<2>' explain "$work/instance_consume.yaml" --emulate
export GRIDDEP_NVRTC="$work/none.so"
check "without NVRTC" says 65 'was not checked, because it was not compiled' check "$work/waits.cu"
check "without NVRTC, in a chain" says 1 "module 'consume' is CUDA C++ and was not checked" check "$work/consume.yaml"
finish

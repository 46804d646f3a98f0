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
# PTX that a C++ compiler made has symbols; people read names. What errors quote and JSON has stay symbols.
symbol=_Z7consumeILi2EEvPjN3gpu5BlockE
cat >"$work/symbols.ptx" <<END
.version 8.0
.target sm_90
.address_size 64
.global .u32 _ZN3gpu6ignoreE;
.visible .entry _Z7producePj(.param .u64 _Z7producePj_param_0)
{
    .reg .b64 %x;
    ld.param.u64 %x, [_Z7producePj_param_0];
    griddepcontrol.launch_dependents;
    griddepcontrol.wait;
    st.global.u32 [%x], 7;
    ret;
}
.visible .entry $symbol(.param .u64 ${symbol}_param_0)
{
    .reg .b32 %v;
    .reg .b64 %x;
    ld.param.u64 %x, [${symbol}_param_0];
    ld.global.u32 %v, [%x];
    st.global.u32 [%x+128], %v;
    ret;
}
END
sed "s/kernel: k, module: produce/kernel: _Z7producePj, module: produce/; s/kernel: k, name: second/kernel: $symbol/; s/produce.cu/symbols.ptx/; s/consume.cu/symbols.ptx/" "$work/consume.yaml" >"$work/symbols.yaml"
without_symbols() { says "$@" && ! grep "^[^|]*_Z" "$work/out"; }
told='consume<2>(unsigned int\*, gpu::Block)'
check "check tells names of symbols" without_symbols 1 "in launch 1 ($told)" check "$work/symbols.yaml"
check "run too" without_symbols 1 "$told" run "$work/symbols.yaml" --emulate --schedule eager
check "sanitize too" without_symbols 66 "by $told, launch 1" sanitize "$work/symbols.yaml"
check "explain too" without_symbols 0 "launch 1: $told after produce(unsigned int\*)" explain "$work/symbols.yaml" --emulate
check "trace too" without_symbols 1 "^1  consume " trace "$work/symbols.yaml" --emulate
sed "s/kernel: $symbol/kernel: _Z7producePj/" "$work/symbols.yaml" >"$work/twice.yaml"
check "tune too" without_symbols 0 " produce(unsigned int\*) " tune "$work/twice.yaml" --emulate --forget
check "a kernel alone too" says 0 "kernel $told: valid PTX" check "$work/symbols.ptx"
check "JSON has symbols" says 0 "\"consumer\": \"$symbol\"" explain "$work/symbols.yaml" --emulate --json
sed "s/kernel: $symbol/kernel: _Z7consumePj/" "$work/symbols.yaml" >"$work/unknown.yaml"
check "an error quotes the symbol" says 2 "_Z7consumePj" run "$work/unknown.yaml" --emulate
# A symbol may say in a line a name that no memory holds.
many=_Z4manyPj bomb=_Z1f1AIii
for at in 0 1 2 3 4 5 6 7 8 9 A B C D E F G H I J K L M N O P Q R S T; do
    many=${many}S_ bomb=${bomb}ES_IS${at}_S${at}_
done
sed "s/_Z7producePj/$many/g" "$work/symbols.ptx" >"$work/many.ptx"
check "a symbol with many references has its name" says 0 "kernel many(\.\.\.): valid" check "$work/many.ptx"
sed "s/_Z7producePj/${bomb}E/g" "$work/symbols.ptx" >"$work/bomb.ptx"
check "one whose name is huge stays a symbol" says 0 "kernel ${bomb}E: valid" check "$work/bomb.ptx"
export GRIDDEP_NVRTC="$work/none.so"
check "without NVRTC" says 65 'was not checked, because it was not compiled' check "$work/waits.cu"
check "without NVRTC, in a chain" says 1 "module 'consume' is CUDA C++ and was not checked" check "$work/consume.yaml"
finish

#!/bin/sh
# A chain file that vouches for traits of machine code ('states'): rightly, and wrongly, which run, sanitize and stress show. The machine code is
# what the emulated driver's linker makes, which the library cannot read.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

builddir=${builddir:-build}
source_root=${srcdir:-$(dirname "$0")/../..}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$source_root/tests/cases.sh"
. "$source_root/tests/preload.sh"
python=$(make_value PYTHON3)
command -v "$python" >/dev/null && [ -n "${EMULATED_DRIVER:-}" ] || {
    echo "skipped: there is no python3, or EMULATED_DRIVER names no driver"
    exit 77
}
unset GRIDDEP_PDL
GRIDDEP_STORE=off
export GRIDDEP_STORE

kernel() {
    printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry %s(.param .u64 in, .param .u64 out)\n{\n' "$1"
    printf '    .reg .b64 %%y, %%z, %%i;\n    .reg .b32 %%t;\n    %s\n    ld.param.u64 %%y, [in];\n    ld.param.u64 %%z, [out];\n' "$2"
    printf '    mov.u32 %%t, %%tid.x;\n    mul.wide.u32 %%i, %%t, 4;\n    add.u64 %%y, %%y, %%i;\n    add.u64 %%z, %%z, %%i;\n'
    printf '    ld.global.u32 %%t, [%%y];\n    add.u32 %%t, %%t, 1;\n    st.global.u32 [%%z], %%t;\n    ret;\n}\n'
}

# machine_code TEXT FILE: what the driver's linker makes of PTX.
machine_code() {
    # shellcheck disable=SC2086 # preload is several words
    env $preload "$python" - "$EMULATED_DRIVER" "$1" "$2" <<'END'
import ctypes
import sys

driver = ctypes.CDLL(sys.argv[1])
text = open(sys.argv[2], "rb").read() + b"\0"
link, image, size, context = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_void_p()
for result in (driver.cuInit(0),
               driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0),
               driver.cuCtxSetCurrent(context),
               driver.cuLinkCreate_v2(0, None, None, ctypes.byref(link)),
               driver.cuLinkAddData_v2(link, 1, text, ctypes.c_size_t(len(text)), b"text", 0, None, None),
               driver.cuLinkComplete(link, ctypes.byref(image), ctypes.byref(size))):
    if result:
        sys.exit(f"CUresult {result}")
with open(sys.argv[3], "wb") as file:
    file.write(ctypes.string_at(image, size.value))
END
}

chain() {
    cat <<END
name: states
modules:
  - {name: one, file: first.ptx}
  - {name: two, file: $1.cubin}
buffers:
  - {name: x, type: u32, count: 64, constant: 5}
  - {name: y, type: u32, count: 64}
  - {name: z, type: u32, count: 64}
launches:
  - {kernel: first, module: one, grid: [1], block: [64], arguments: [{buffer: x, access: read}, {buffer: y, access: write}]}
  - {kernel: second, module: two, grid: [1], block: [64], states: [$2], arguments: [{buffer: y, access: read}, {buffer: z, access: write}]}
expect:
  - {buffer: z, from: serial}
END
}

# says STATUS TEXT COMMAND...: the exit status, and a text in what the command prints.
says() {
    status=$1 text=$2
    shift 2
    "$@" >"$work/out" 2>&1
    code=$?
    cat "$work/out"
    echo "exit status $code"
    [ "$code" -eq "$status" ] && grep -qF -e "$text" "$work/out"
}

kernel first 'griddepcontrol.wait; griddepcontrol.launch_dependents;' >"$work/first.ptx"
kernel second 'griddepcontrol.wait;' >"$work/right.ptx"
kernel second '' >"$work/wrong.ptx"
for name in right wrong; do
    machine_code "$work/$name.ptx" "$work/$name.cubin" || exit 99
    chain "$name" waits_always >"$work/$name.yaml"
done
chain right waits >"$work/less.yaml"
chain right waits_always | sed 's/right.cubin/wrong.ptx/' >"$work/read.yaml"

check "what is stated of machine code decides" says 0 "overlaps: second can start when all CTAs of first have triggered" "$GRIDDEP" explain "$work/right.yaml" --driver emulated --no-measure
check "waits on some path is not enough" says 0 "a path through the kernel misses griddepcontrol.wait, as the program states" "$GRIDDEP" explain "$work/less.yaml" --driver emulated --no-measure
check "what has been read is not taken back" says 4 "its PTX was read, and says otherwise" "$GRIDDEP" run "$work/read.yaml" --driver emulated
check "a right statement runs" says 0 "equal" "$GRIDDEP" run "$work/right.yaml" --driver emulated
check "a right statement survives stress" says 0 "no attack changed the results" "$GRIDDEP" stress "$work/right.yaml" --driver emulated
check "a right statement is no race" says 0 "no race" "$GRIDDEP" sanitize "$work/right.yaml"
check "run shows a wrong statement" says 1 "differ from serial" "$GRIDDEP" run "$work/wrong.yaml" --driver emulated
check "stress shows it" says 1 "left something else in buffer z" "$GRIDDEP" stress "$work/wrong.yaml" --driver emulated
check "the race check shows it" says 66 "missing: griddepcontrol.wait in launch 1 (second)" "$GRIDDEP" sanitize "$work/wrong.yaml"
# What the machine code in the middle lets begin, by its trigger, may meet what stands before it.
kernel second 'griddepcontrol.launch_dependents; griddepcontrol.wait;' >"$work/middle.ptx"
kernel third '' | sed 's/st.global/griddepcontrol.wait; &/' >"$work/third.ptx"
kernel first 'griddepcontrol.launch_dependents; griddepcontrol.wait;' >"$work/first.ptx"
machine_code "$work/middle.ptx" "$work/middle.cubin" || exit 99
chain middle "waits_always, triggers" | sed -e '/^buffers/i\  - {name: three, file: third.ptx}' -e '/{name: z/a\  - {name: v, type: u32, count: 64}' \
    -e '/^expect/i\  - {kernel: third, module: three, grid: [1], block: [64], arguments: [{buffer: y, access: read}, {buffer: v, access: write}]}' >"$work/middle.yaml"
check "what is behind machine code is held back" says 0 "it would race with an earlier launch" "$GRIDDEP" explain "$work/middle.yaml" --driver emulated --no-measure
check "as the check says without a driver" says 1 "third reads in before its wait, and nothing orders it after launch 0 (first)" "$GRIDDEP" check "$work/middle.yaml"
check "so that results are equal" says 0 "equal" "$GRIDDEP" run "$work/middle.yaml" --driver emulated --schedule eager
finish

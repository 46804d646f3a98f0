#!/bin/sh
# One verdict on one chain, whichever subcommand is asked: check, graph, explain, sanitize and stress.
set -u
griddep=${GRIDDEP:-./griddep}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "${srcdir:-.}/tests/cases.sh"

# says CODE WORDS COMMAND...: the command exits with the code and prints the words.
says() {
    expected=$1 words=$2
    shift 2
    "$@" >"$work/printed" 2>&1
    found=$?
    cat "$work/printed"
    echo "exit code $found, expected $expected, with: $words"
    [ "$found" = "$expected" ] && grep -qF "$words" "$work/printed"
}

# PTX for a chip without griddepcontrol, which runs on newer ones and cannot wait there.
cat >"$work/old.ptx" <<'END'
.version 7.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to)
{
    .reg .b64 %f, %t, %at;
    .reg .b32 %i, %v;
    ld.param.u64 %f, [from];
    ld.param.u64 %t, [to];
    mov.u32 %i, %tid.x;
    mul.wide.u32 %at, %i, 4;
    add.u64 %f, %f, %at;
    add.u64 %t, %t, %at;
    ld.global.u32 %v, [%f];
    st.global.u32 [%t], %v;
    ret;
}
END
cat >"$work/old.yaml" <<'END'
name: old code, forced
modules:
  - {name: old, file: old.ptx}
buffers:
  - {name: a, type: f32, count: 128, sequence: {start: 1, step: 1}}
  - {name: b, type: f32, count: 128}
  - {name: c, type: f32, count: 128}
launches:
  - {kernel: copy, module: old, grid: [1], block: [128], arguments: [{buffer: a, access: read}, {buffer: b, access: write}]}
  - {kernel: copy, module: old, grid: [1], block: [128], pdl: force, arguments: [{buffer: b, access: read}, {buffer: c, access: write}]}
END
check "check: old PTX, forced" says 1 "[GD205]" "$griddep" check "$work/old.yaml"
if [ -z "${EMULATED_DRIVER:-}" ]; then
    skipped=$((skipped + 1))
    echo "skipped: no emulated driver"
else
    check "graph: old PTX, forced" says 0 "races: " "$griddep" graph "$work/old.yaml" --driver "$EMULATED_DRIVER"
    check "explain: old PTX, forced" says 0 "it races with the launch before it" \
        "$griddep" explain "$work/old.yaml" --driver "$EMULATED_DRIVER"
    check "sanitize: old PTX, forced" says 66 "race: launch 1 (copy)" \
        "$griddep" sanitize "$work/old.yaml" --driver "$EMULATED_DRIVER"
    check "stress: old PTX, forced" says 1 "left something else in buffer c" \
        "$griddep" stress "$work/old.yaml" --driver "$EMULATED_DRIVER"
fi
finish

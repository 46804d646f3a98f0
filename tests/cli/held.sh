#!/bin/sh
# AUTO in chains: a kernel that touches before its wait what a launch that may still run writes begins behind that launch, however its address gets
# there. Each chain gives the serial run's results in the schedule that is worst for it, explain knows no overlap of its last launch, and
# sanitize, which forces it, shows the race.
# shellcheck disable=SC2317 # functions are called by way of check
set -u

source_root=${srcdir:-$(dirname "$0")/../..}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$source_root/tests/cases.sh"
unset GRIDDEP_PDL
export GRIDDEP_STORE=off

head='.version 8.3
.target sm_90
.address_size 64'
here='mov.u32 %i, %tid.x; mul.wide.u32 %at, %i, 4;'
registers='.reg .b32 %i, %v, %k; .reg .b64 %x, %y, %z, %at, %f; .reg .pred %p;'

# w: triggers, is slow, waits, and writes y = x + 1. mid: triggers before it waits. unfenced, fenced: trigger behind their wait; quiet never does. r: reads k before
# its wait.
cat >"$work/usual.ptx" <<END
$head
.visible .entry w(.param .u64 x, .param .u64 y)
{
    $registers
    griddepcontrol.launch_dependents;
    mov.u32 %k, 300;
loop: sub.u32 %k, %k, 1; setp.ne.u32 %p, %k, 0; @%p bra loop;
    griddepcontrol.wait;
    $here ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; add.u64 %x, %x, %at; add.u64 %y, %y, %at;
    ld.global.u32 %v, [%x]; add.u32 %v, %v, 1; st.global.u32 [%y], %v; ret;
}
.visible .entry mid(.param .u64 x, .param .u64 y)
{
    $registers
    griddepcontrol.launch_dependents;
    griddepcontrol.wait;
    $here ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; add.u64 %x, %x, %at; add.u64 %y, %y, %at;
    ld.global.u32 %v, [%x]; st.global.u32 [%y], %v; ret;
}
$(for fence in '' 'fence.acq_rel.gpu;'; do
    [ -z "$fence" ] && name=unfenced || name=fenced
    cat <<MIDDLE
.visible .entry $name(.param .u64 x, .param .u64 y)
{
    $registers
    griddepcontrol.wait;
    $fence
    griddepcontrol.launch_dependents;
    $here ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; add.u64 %x, %x, %at; add.u64 %y, %y, %at;
    ld.global.u32 %v, [%x]; st.global.u32 [%y], %v; ret;
}
MIDDLE
done)
.visible .entry quiet(.param .u64 x, .param .u64 y)
{
    $registers
    griddepcontrol.wait;
    $here ld.param.u64 %x, [x]; ld.param.u64 %y, [y]; add.u64 %x, %x, %at; add.u64 %y, %y, %at;
    ld.global.u32 %v, [%x]; st.global.u32 [%y], %v; ret;
}
.visible .entry r(.param .u64 k, .param .u64 y)
{
    $registers
    $here ld.param.u64 %x, [k]; ld.param.u64 %y, [y]; add.u64 %x, %x, %at; add.u64 %y, %y, %at;
    ld.global.u32 %v, [%x];
    griddepcontrol.wait;
    st.global.u32 [%y], %v; ret;
}
END
# by addresses in a struct; by a tensor map; by a function whose address is in a register; by an address that was kept in shared memory
cat >"$work/ways.ptx" <<END
$head
.visible .entry struct(.param .align 8 .b8 s[16])
{
    $registers
    $here ld.param.u64 %x, [s]; ld.param.u64 %y, [s+8]; add.u64 %x, %x, %at; add.u64 %y, %y, %at;
    ld.global.u32 %v, [%x];
    griddepcontrol.wait;
    st.global.u32 [%y], %v; ret;
}
.visible .entry writes_struct(.param .align 8 .b8 s[16])
{
    $registers
    griddepcontrol.launch_dependents;
    mov.u32 %k, 300;
loop: sub.u32 %k, %k, 1; setp.ne.u32 %p, %k, 0; @%p bra loop;
    griddepcontrol.wait;
    $here ld.param.u64 %x, [s]; ld.param.u64 %y, [s+8]; add.u64 %x, %x, %at; add.u64 %y, %y, %at;
    ld.global.u32 %v, [%x]; add.u32 %v, %v, 1; st.global.u32 [%y], %v; ret;
}
.visible .entry cached(.param .u64 k, .param .u64 y)
{
    $registers
    $here ld.param.u64 %x, [k]; ld.param.u64 %y, [y]; add.u64 %x, %x, %at; add.u64 %y, %y, %at;
    griddepcontrol.wait;
    ld.global.nc.u32 %v, [%x]; st.global.u32 [%y], %v; ret;
}
.visible .entry sampled(.param .u64 texture, .param .u64 y)
{
    $registers
    .reg .b32 %g, %h, %l;
    $here ld.param.u64 %x, [texture]; ld.param.u64 %y, [y]; add.u64 %y, %y, %at;
    tex.1d.v4.u32.s32 {%v, %g, %h, %l}, [%x, {%i}];
    griddepcontrol.wait;
    st.global.u32 [%y], %v; ret;
}
.visible .entry map(.param .align 64 .b8 map[128], .param .u64 y)
{
    $registers
    .reg .b32 %z0; .reg .pred %q;
    .shared .align 128 .b8 tile[256];
    .shared .align 8 .b64 full;
    mov.u32 %i, %tid.x; setp.eq.u32 %q, %i, 0; mov.u32 %z0, 0;
    mov.u64 %f, map; cvta.param.u64 %f, %f;
    @%q mbarrier.init.shared.b64 [full], 1;
    bar.sync 0;
    @!%q bra poll;
    mbarrier.arrive.expect_tx.shared.b64 _, [full], 256;
    cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%f, {%z0}], [full];
poll: mbarrier.try_wait.parity.shared.b64 %p, [full], 0;
    @!%p bra poll;
    griddepcontrol.wait;
    mul.wide.u32 %at, %i, 4; ld.param.u64 %y, [y]; add.u64 %y, %y, %at;
    mov.u32 %v, tile; mad.lo.u32 %v, %i, 4, %v; ld.shared.u32 %v, [%v];
    st.global.u32 [%y], %v; ret;
}
.func (.param .b32 v) fetch(.param .b64 from)
{
    .reg .b32 %v; .reg .b64 %x;
    ld.param.b64 %x, [from]; ld.global.u32 %v, [%x]; st.param.b32 [v], %v; ret;
}
.visible .entry called(.param .u64 k, .param .u64 y)
{
    $registers
    $here ld.param.u64 %x, [k]; ld.param.u64 %y, [y]; add.u64 %x, %x, %at; add.u64 %y, %y, %at;
    mov.u64 %f, fetch;
    { .param .b64 a; .param .b32 b; st.param.b64 [a], %x;
    targets: .calltargets fetch;
    call (b), %f, (a), targets; ld.param.b32 %v, [b]; }
    griddepcontrol.wait;
    st.global.u32 [%y], %v; ret;
}
.visible .entry kept(.param .u64 k, .param .u64 y)
{
    $registers
    .shared .align 8 .b64 place[64];
    $here ld.param.u64 %x, [k]; ld.param.u64 %y, [y]; add.u64 %x, %x, %at; add.u64 %y, %y, %at;
    mov.u64 %f, place; add.u64 %f, %f, %at; add.u64 %f, %f, %at;
    st.shared.u64 [%f], %x; ld.shared.u64 %z, [%f]; ld.global.u32 %v, [%z];
    griddepcontrol.wait;
    st.global.u32 [%y], %v; ret;
}
END

# chain NAME: the launches come from standard input.
chain() {
    cat >"$work/$1.yaml" <<END
name: $1
modules: [{name: usual, file: usual.ptx}, {name: ways, file: ways.ptx}]
buffers:
  - {name: a, type: u32, count: 64, sequence: {start: 5, step: 2}}
  - {name: b, type: u32, count: 64}
  - {name: c, type: u32, count: 64}
  - {name: d, type: u32, count: 64}
launches:
$(cat)
expect: [{buffer: c, from: serial}]
END
}
shape='grid: [1], block: [64]'
writer="  - {kernel: w, module: usual, $shape, arguments: [{buffer: a, access: read}, {buffer: b, access: write}]}"

is_right() {
    "$GRIDDEP" run "$work/$1.yaml" --emulate --schedule eager --repeat 0 >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    cat "$work/out"
    [ "$(grep -c '^pdl .*equal\|^graph-pdl .*equal' "$work/out")" -eq 2 ]
}
is_held() {
    is_right "$1" || return 1
    "$GRIDDEP" explain "$work/$1.yaml" --emulate --no-measure >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    cat "$work/out"
    grep -q 'started early, it would race' "$work/out"
}
races() {
    "$GRIDDEP" sanitize "$work/$1.yaml" >"$work/out" 2>&1
    code=$?
    cat "$work/out"
    [ "$code" -eq 66 ]
}
held() {
    check "$1: the launch is held back" is_held "$1"
    check "$1: it would race" races "$1"
}

chain struct <<END
$writer
  - {kernel: struct, module: ways, $shape, arguments: [{bytes: "00000000000000000000000000000000", addresses: [{at: 0, buffer: b}, {at: 8, buffer: c}]}]}
END
held struct
chain writer <<END
  - {kernel: writes_struct, module: ways, $shape, arguments: [{bytes: "00000000000000000000000000000000", addresses: [{at: 0, buffer: a}, {at: 8, buffer: b}]}]}
  - {kernel: r, module: usual, $shape, arguments: [{buffer: b, access: read}, {buffer: c, access: write}]}
END
held writer
# What is a warning may race, and an error races.
says_doubt() { "$GRIDDEP" explain "$work/$1.yaml" --emulate --no-measure >"$work/out" 2>&1; cat "$work/out"; grep -q "$2" "$work/out"; }
for kernel in cached r; do
    chain "forced_$kernel" <<END
$writer
  - {kernel: $kernel, module: $([ $kernel = r ] && echo usual || echo ways), pdl: force, $shape, arguments: [{buffer: b, access: read}, {buffer: c, access: write}]}
END
done
check "a load of doubt, forced" says_doubt forced_cached 'forced to start early, it may race: GD130'
check "an early load, forced" says_doubt forced_r 'forced to start early, it races: GD206'
sed 's/pdl: force, //' "$work/forced_cached.yaml" >"$work/doubt.yaml"
check "a load of doubt, held back" says_doubt doubt 'it might race: GD130'
# What a texture is of no argument says. (A chain file has none: the check alone.)
chain sampled <<END
$writer
  - {kernel: sampled, module: ways, $shape, arguments: [{buffer: d, access: read}, {buffer: c, access: write}]}
END
told() { "$GRIDDEP" check "$work/sampled.yaml" >"$work/out" 2>&1; cat "$work/out"; grep -q "memory before its wait that texture leads to.*GD112" "$work/out"; }
check "a texture's memory is not known" told
chain map <<END
$writer
  - {kernel: map, module: ways, $shape, arguments: [{buffer: b, access: read, tensor_map: {dimensions: [64], box: [64]}}, {buffer: c, access: write}]}
END
held map
for way in called kept; do
    chain $way <<END
$writer
  - {kernel: $way, module: ways, $shape, arguments: [{buffer: b, access: read}, {buffer: c, access: write}]}
END
    held $way
done
# A launch behind one that another lane's trigger let begin: the other lane's writer may still run.
chain lanes <<END
  - {kernel: w, name: p, module: usual, $shape, arguments: [{buffer: a, access: read}, {buffer: b, access: write}]}
  - {kernel: mid, name: q, module: usual, lane: side, after: [p], $shape, arguments: [{buffer: a, access: read}, {buffer: d, access: write}]}
  - {kernel: r, module: usual, lane: side, $shape, arguments: [{buffer: b, access: read}, {buffer: c, access: write}]}
END
held lanes
# Behind a launch that waits, then triggers or ends, the writer has ended; what it wrote is there for those that begin then only where a release
# fence stands between wait and trigger. Check and sanitize say the same of all three.
for middle in quiet unfenced fenced; do
    chain $middle <<END
$writer
  - {kernel: $middle, module: usual, $shape, arguments: [{buffer: a, access: read}, {buffer: d, access: write}]}
  - {kernel: r, module: usual, $shape, arguments: [{buffer: b, access: read}, {buffer: c, access: write}]}
END
done
held quiet
held unfenced
is_clean() {
    "$GRIDDEP" check "$work/$1.yaml" >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    "$GRIDDEP" explain "$work/$1.yaml" --emulate --no-measure >>"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    "$GRIDDEP" sanitize "$work/$1.yaml" >>"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    cat "$work/out"
    ! grep -q 'would race\|GD206' "$work/out"
}
check "fenced: nothing is held back, and nothing races" is_clean fenced
# More races than the check tells: those that are left out count. (explain asks for each launch.)
chain many <<END
$(i=0; while [ $i -lt 1040 ]; do
    echo "  - {kernel: r, module: usual, $shape, arguments: [{buffer: b}, {buffer: d, access: write}]}"
    echo "  - {kernel: r, module: usual, $shape, arguments: [{buffer: d}, {buffer: b, access: update}]}"
    i=$((i + 2))
done)
$writer
  - {kernel: r, module: usual, $shape, arguments: [{buffer: b, access: read}, {buffer: c, access: write}]}
END
is_told() { is_right "$1" && grep -q "^ *pdl  *launch 1040 (w): .*it would race" "$work/out"; }
check "many: the launch is held back" is_told many
finish

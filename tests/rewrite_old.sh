#!/bin/sh
# Old-style PTX through the rewriter, with ptxas as the judge: what it hands out assembles for sm_90, and what it refuses, with a line, does not
# assemble when its .version and .target are raised by hand. Exits 77 where there is no ptxas, unless GRIDDEP_REQUIRE_PTXAS=1.
set -u

srcdir=${srcdir:-.}
griddep=${GRIDDEP:-./griddep}
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$srcdir/tests/cases.sh"

need_ptxas

# write FILE VERSION TARGET: $declaration in front of an entry with $body.
write() {
    {
        echo ".version $2"
        echo ".target $3"
        case $2 in 1.* | 2.[0-2]) ;; *) [ -n "$plain" ] || echo ".address_size 64" ;; esac
        printf '%s\n' "$declaration"
        printf '%s\n{\n' ".visible .entry k(.param .u64 p)$limits"
        echo "    .reg .pred %q<4>; .reg .b16 %h<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<4>; $doubles"
        echo "    ld.param.u64 %rd0, [p];"
        printf '    %s\n' "$body"
        echo "    ld.global.u32 %r7, [%rd0]; st.global.u32 [%rd0], %r7; ret;"
        echo "}"
    } >"$1"
}

assembles() { "$ptxas" -arch=sm_90 "$1" -o /dev/null; }

agrees() {
    write "$work/old.ptx" "$version" "$target"
    write "$work/new.ptx" 7.8 "$(echo "$target" | sed 's/sm_[0-9]*/sm_90/; s/, map_f64_to_f32//')"
    if "$griddep" rewrite "$work/old.ptx" -o "$work/out.ptx" 2>"$work/why"; then
        grep -q 'griddepcontrol.wait' "$work/out.ptx" && assembles "$work/out.ptx"
        return
    fi
    cat "$work/why"
    grep -q 'old.ptx:[0-9]*:[0-9]*: .*\(PTX ISA 7.8 and sm_90\|expected\)' "$work/why" || return 1
    case $target in *map_f64*) return 0 ;; esac # whose meaning is lost
    ! assembles "$work/new.ptx" >/dev/null 2>&1
}

taken=0
while IFS='|' read -r version target declaration body; do
    limits='' plain='' doubles='.reg .f64 %d<4>;'
    case $body in *LIMITS*) limits=' .maxntid 64, 1, 1 .maxnctapersm 2' body='' ;; esac
    case $body in *UNTOLD*) plain=1 body='' ;; esac
    case $body in *SINGLE*) doubles='' body=${body#*SINGLE} ;; esac
    check "$version $target $declaration $body" agrees
    [ ! -s "$work/out.ptx" ] || taken=$((taken + 1))
    rm -f "$work/out.ptx"
done <<'TEXTS'
1.4|sm_10, map_f64_to_f32||SINGLE add.f32 %f1, %f2, %f3;
1.4|sm_12, map_f64_to_f32||add.f64 %d1, %d2, %d3;
1.4|sm_13||add.f32 %f1, %f2, %f3; mul.f32 %f1, %f2, %f3;
1.4|sm_13||add.f64 %d1, %d2, %d3; mul.f64 %d1, %d2, %d3;
1.3|sm_13||div.f32 %f1, %f2, %f3;
1.4|sm_13||div.approx.f32 %f1, %f2, %f3; div.full.f32 %f1, %f2, %f3;
1.3|sm_13||div.f64 %d1, %d2, %d3;
1.4|sm_13||div.rn.f64 %d1, %d2, %d3;
1.4|sm_13||div.s32 %r1, %r2, %r3; rem.u32 %r1, %r2, %r3;
1.3|sm_13||rcp.f32 %f1, %f2;
1.4|sm_13||rcp.rn.f64 %d1, %d2;
1.4|sm_13||rcp.approx.f32 %f1, %f2;
1.3|sm_13||sqrt.f32 %f1, %f2;
1.4|sm_13||sqrt.approx.f32 %f1, %f2;
1.3|sm_13||sin.f32 %f1, %f2;
1.3|sm_13||cos.f32 %f1, %f2;
1.3|sm_13||lg2.f32 %f1, %f2;
1.3|sm_13||ex2.f32 %f1, %f2;
1.3|sm_13||rsqrt.f32 %f1, %f2;
1.3|sm_13||rsqrt.f64 %d1, %d2;
1.4|sm_13||sin.approx.f32 %f1, %f2; cos.approx.f32 %f1, %f2; lg2.approx.f32 %f1, %f2; ex2.approx.f32 %f1, %f2;
1.4|sm_13||mad.f32 %f1, %f2, %f3, %f0;
1.3|sm_13||mad.f64 %d1, %d2, %d3, %d0;
2.3|sm_20||mad.f32 %f1, %f2, %f3, %f0;
2.3|sm_20||mad.rn.f32 %f1, %f2, %f3, %f0; fma.rn.f64 %d1, %d2, %d3, %d0;
1.4|sm_13||mad.lo.s32 %r1, %r2, %r3, %r4; mad24.lo.u32 %r1, %r2, %r3, %r4; mul24.lo.s32 %r1, %r2, %r3;
1.4|sm_13||cvt.rn.f32.f64 %f1, %d1; cvt.f64.f32 %d1, %f1;
1.4|sm_13||cvt.rzi.s32.f32 %r1, %f1; cvt.rn.f32.u32 %f1, %r1;
1.4|sm_13||cvt.u32.u16 %r1, %h1; cvt.s64.s32 %rd1, %r1; cvt.u16.u32 %h1, %r1;
1.4|sm_13||cvt.rpi.f32.f32 %f1, %f2; cvt.sat.f32.f32 %f1, %f2;
1.4|sm_13|.const[1] .u32 c;|ld.const[1].u32 %r1, [c];
1.4|sm_13|.const .u32 c;|ld.const.u32 %r1, [c];
1.4|sm_13|.tex .u32 t;|tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [t, {%r0}];
2.3|sm_20|.global .texref t;|tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [t, {%r0}];
2.3|sm_20|.global .surfref s;|suld.b.1d.b32.trap {%r1}, [s, {%r0}];
2.3|sm_20|.local .u32 l;|st.local.u32 [l], %r1;
2.3|sm_20||.local .u32 l; st.local.u32 [l], %r1;
2.3|sm_20|.reg .u32 g;|mov.u32 g, %r1;
2.3|sm_20|.shared .align 4 .b8 s[64];|ld.shared.u32 %r1, [s];
2.3|sm_20|.extern .shared .b8 s[];|mov.u32 %r1, s;
3.1|sm_20||setp.eq.u32 %q0, %r1, 0; vote.all.pred %q1, %q0;
3.1|sm_20||setp.eq.u32 %q0, %r1, 0; vote.ballot.b32 %r2, %q0;
6.0|sm_70||setp.eq.u32 %q0, %r1, 0; vote.sync.any.pred %q1, %q0, -1;
3.1|sm_30||shfl.up.b32 %r1, %r2, 1, 0;
6.0|sm_70||shfl.sync.up.b32 %r1|%q1, %r2, 1, 0, -1;
2.0|sm_20||LIMITS
2.2|sm_20||UNTOLD
2.3|sm_20, texmode_independent||mov.u32 %r1, %tid.x;
1.4|sm_13|.func (.reg .u32 r) f(.reg .u32 a) { mov.u32 r, a; ret; }|call (%r1), f, (%r2);
1.4|sm_13||mov.u16 %h1, %tid.x; mov.u16 %h2, %nctaid.y; mov.u32 %r1, %gridid; mov.u32 %r2, %clock;
1.4|sm_13||bar.sync 0; membar.gl; membar.cta; brkpt;
2.0|sm_20||bar.red.popc.u32 %r1, 0, %q0; bar.arrive 1, 64; prmt.b32 %r1, %r2, %r3, %r4; bfind.u32 %r1, %r2;
1.4|sm_13||red.global.add.u32 [%rd0], %r1; atom.global.cas.b32 %r1, [%rd0], %r2, %r3;
1.4|sm_13||ld.volatile.global.u32 %r1, [%rd0]; st.volatile.global.u32 [%rd0], %r1;
2.0|sm_20||ldu.global.u32 %r1, [%rd0]; isspacep.global %q0, %rd0; prefetch.global.L2 [%rd0];
2.0|sm_20||vadd.u32.u32.u32 %r1, %r2.b0, %r3.b1; vmad.u32.u32.u32 %r1, %r2.b0, %r3.b1, %r4;
1.4|sm_13||sad.s32 %r1, %r2, %r3, %r4; slct.f32.s32 %f1, %f2, %f3, %r1; set.gt.u32.f32 %r1, %f1, %f2;
4.2|sm_53||add.f16 %h0, %h1, %h2; fma.rn.f16x2 %r0, %r1, %r2, %r3;
3.0|sm_30||pmevent 1; .pragma "nounroll";
5.0|sm_52||lop3.b32 %r1, %r2, %r3, %r4, 0xE8; dp4a.u32.u32 %r1, %r2, %r3, %r4;
6.0|sm_70||match.any.sync.b32 %r1, %r2, -1; activemask.b32 %r1;
TEXTS
# 32-bit addresses, told and not.
for size in '.address_size 32' ''; do
    printf '.version 2.3\n.target sm_20\n%s\n.visible .entry k(.param .u32 p)\n{\n    .reg .b32 %%r<4>;\n    ld.param.u32 %%r0, [p];\n    ld.global.u32 %%r1, [%%r0];\n    st.global.u32 [%%r0], %%r1;\n    ret;\n}\n' "$size" >"$work/old.ptx"
    check "32-bit addresses are refused: $size" sh -c '! "$1" rewrite "$2" -o "$3"' sh "$griddep" "$work/old.ptx" "$work/out.ptx"
done
check "some are refused, and most are not" [ "$taken" -gt 30 ]
finish

#!/bin/sh
# griddep fmt: where the text comes from and goes to, and what ptxas makes of it.
set -u
griddep=${GRIDDEP:-./griddep}
top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
. "$top/tests/cases.sh"

# says CODE WORDS COMMAND...: the command exits with the code and prints the words.
says() {
    expected=$1 words=$2
    shift 2
    "$@" >"$work/printed" 2>&1
    found=$?
    cat "$work/printed"
    echo "exit code $found, expected $expected, with: $words"
    [ "$found" = "$expected" ] && { [ -z "$words" ] || grep -qF -e "$words" "$work/printed"; }
}

cat >"$work/given.ptx" <<'END'
// twice
.version 8.0
.target sm_90
.address_size 64
.visible .entry twice(.param .u64 x) {
.reg .b64 %rd<3>; .reg .f32 %f<2>;
ld.param.u64 %rd1,[x];  griddepcontrol.wait;
ld.global.f32 %f1,[%rd1]; // the value


add.f32 %f1,%f1,%f1; st.global.f32 [%rd1],%f1; ret; }
END
cat >"$work/wanted.ptx" <<'END'
// twice
.version 8.0
.target sm_90
.address_size 64
.visible .entry twice(.param .u64 x)
{
    .reg .b64 %rd<3>;
    .reg .f32 %f<2>;
    ld.param.u64  %rd1, [x];
    griddepcontrol.wait;
    ld.global.f32 %f1, [%rd1];  // the value

    add.f32       %f1, %f1, %f1;
    st.global.f32 [%rd1], %f1;
    ret;
}
END
printf '.version 8.0\n.target sm_90\n.entry k() { add.u32 %%r1 ; mov = }\n' >"$work/broken.ptx"
cp "$work/broken.ptx" "$work/kept.ptx"

wanted() { "$@" >"$work/out.ptx" && diff "$work/wanted.ptx" "$work/out.ptx"; }
from_stdin() { "$griddep" fmt - <"$work/given.ptx"; }
check "to stdout" wanted "$griddep" fmt "$work/given.ptx"
check "from stdin" wanted from_stdin
check "again" wanted "$griddep" fmt "$work/wanted.ptx"
check "-o" says 0 "" "$griddep" fmt "$work/given.ptx" -o "$work/made.ptx"
check "-o: the file" cmp "$work/made.ptx" "$work/wanted.ptx"
check "--check: would change" says 1 "$work/given.ptx would change" "$griddep" fmt --check "$work/wanted.ptx" "$work/given.ptx"
check "--check: would not" says 0 "" "$griddep" fmt --check "$work/wanted.ptx"
check "--check writes nothing" grep -q 'ret; }' "$work/given.ptx"
touch -d '2001-02-03' "$work/made.ptx"
check "--in-place" says 0 "" "$griddep" fmt --in-place "$work/given.ptx" "$work/made.ptx"
check "--in-place: the file" cmp "$work/given.ptx" "$work/wanted.ptx"
check "--in-place: what stays is not written" test -z "$(find "$work/made.ptx" -newermt 2002-01-01)"
check "no PTX" says 2 "broken.ptx:3:" "$griddep" fmt --in-place "$work/broken.ptx" "$work/wanted.ptx"
check "no PTX: the file stays" cmp "$work/broken.ptx" "$work/kept.ptx"
check "no file" says 2 "No such file" "$griddep" fmt "$work/nowhere.ptx"
check "two files" says 2 "several files need --in-place or --check" "$griddep" fmt "$work/given.ptx" "$work/made.ptx"
check "two places" says 2 "exclude one another" "$griddep" fmt "$work/given.ptx" --in-place -o "$work/made.ptx"
check "stdin in place" says 2 "needs a file" "$griddep" fmt - --in-place

# ptxas makes the same code of a text and of the text laid out.
assemble() { (cd "$work" && cp "$1" same.ptx && "$ptxas" -arch="$2" -o "$3" same.ptx); }
same_code() {
    target=$(sed -n 's/^\.target *\([a-z0-9_]*\).*/\1/p' "$1")
    "$griddep" fmt "$1" -o "$work/laid.ptx" && assemble "$1" "$target" before.cubin && assemble "$work/laid.ptx" "$target" after.cubin &&
        cmp "$work/before.cubin" "$work/after.cubin"
}
if (need_ptxas) >/dev/null 2>&1; then
    need_ptxas
    for name in elementwise/vector_add norm/rms_norm.sm_80 softmax/softmax; do
        check "the same code: $name" same_code "$top/ptx/$name.ptx"
    done
else
    skipped=$((skipped + 1))
    echo "skipped: no ptxas to compare code"
fi
finish

#!/bin/sh
# griddep check on texts as people write them: verdicts, --fix.
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
    [ "$found" = "$expected" ] && grep -qF -e "$words" "$work/printed"
}

# kernel LINE...: a text whose kernel copies a word, with these lines behind the address.
kernel() {
    printf '%s\n' '.version 8.0' '.target sm_90' '.address_size 64' '.visible .entry copy(.param .u64 from, .param .u64 to)' '{' \
        '    .reg .pred %p<2>;' '    .reg .b32 %r<4>;' '    .reg .b64 %rd<4>;' '    ld.param.u64 %rd1, [from];' \
        '    ld.param.u64 %rd2, [to];' '    mov.u32 %r1, %tid.x;' '    setp.gt.u32 %p1, %r1, 7;' "$@" '    ret;' '}'
}

work_lines='    ld.global.u32 %r2, [%rd1];
    st.global.u32 [%rd2], %r2;'
wait_line='    griddepcontrol.wait;'

# ---- verdicts ----

kernel "$wait_line" '    griddepcontrol.launch_dependents;' "$work_lines" >"$work/good.ptx"
check "waits, triggers" says 0 'kernel copy: valid PTX; waits on every path (line 13); triggers at line 14; safe to launch early' \
    "$griddep" check "$work/good.ptx"
kernel "$wait_line" "$work_lines" >"$work/no_trigger.ptx"
check "no trigger" says 0 'triggers at its end, implicitly; safe to launch early' "$griddep" check "$work/no_trigger.ptx"
kernel "$work_lines" "$wait_line" >"$work/late.ptx"
check "late wait" says 1 'safe to launch early only if no kernel that still runs then touches the data of lines 13 and 14' \
    "$griddep" check "$work/late.ptx"
kernel '    ld.global.u32 %r2, [%rd1];' "$wait_line" '    st.global.u32 [%rd2], %r2;' >"$work/constant.ptx"
check "constant" says 0 'safe to launch early only if no kernel that still runs then writes the data of from' \
    "$griddep" check "$work/constant.ptx" --constant from
kernel '    @%p1 bra done;' "$wait_line" 'done:' >"$work/some.ptx"
check "some paths" says 0 'waits on some paths only (line 14); triggers at its end, implicitly; not safe to launch early' \
    "$griddep" check "$work/some.ptx"
kernel "$work_lines" >"$work/never.ptx"
check "never" says 0 'never waits; triggers at its end, implicitly; not safe to launch early' "$griddep" check "$work/never.ptx"
kernel '    ld.globl.u32 %r2, [%rd1];' "$work_lines" "$wait_line" >"$work/broken.ptx"
check "broken: mistakes only" says 1 '1 error, 0 warnings, 0 notes; waits and triggers are checked when the text is valid PTX' \
    "$griddep" check "$work/broken.ptx"
check "broken: its verdict" says 1 'kernel copy: not valid PTX' "$griddep" check "$work/broken.ptx"
sed 's/sm_90/sm_80/' "$work/good.ptx" >"$work/old.ptx"
check "a chip without griddepcontrol" says 1 'kernel copy: not valid PTX' "$griddep" check "$work/old.ptx"
printf '.version 8.0\n.target sm_90\n.entry {\n' >"$work/unread.ptx"
cat >"$work/chain.yaml" <<'END'
name: copy
modules:
  - {name: mine, file: broken.ptx}
buffers:
  - {name: a, type: u32, count: 32, sequence: {start: 1, step: 1}}
  - {name: b, type: u32, count: 32}
launches:
  - {kernel: copy, module: mine, grid: [1], block: [32], arguments: [{buffer: a}, {buffer: b}]}
  - {kernel: copy, module: mine, grid: [1], block: [32], arguments: [{buffer: b}, {buffer: a}]}
END
check "a chain of a broken text" says 1 '1 error, 0 warnings, 0 notes; waits and triggers are checked when the text is valid PTX' \
    "$griddep" check "$work/chain.yaml"
check "no kernel can be read" says 1 'unread.ptx: not valid PTX' "$griddep" check "$work/unread.ptx"
{
    kernel '    .loc 1 42 7' "$wait_line" '    .loc 1 43 7' '    griddepcontrol.launch_dependents;' "$work_lines"
    echo '.file 1 "copy.cu"'
} >"$work/lines.ptx"
check "source lines" says 0 'waits on every path (line 14 (copy.cu:42)); triggers at line 16 (copy.cu:43)' "$griddep" check "$work/lines.ptx"

# The command that is named is run, and what it writes waits.
advice() {
    command=$("$griddep" check "$1" | sed -n 's/^  hint: griddep \(.*\) writes a text in which.*/\1/p')
    [ -n "$command" ] || return 1
    (cd "$work" && eval "$griddep_path $command") || return 1
    says "${2:-0}" "waits on every path" "$griddep" check "$work/NEW.ptx"
}
griddep_path=$(cd "$(dirname "$griddep")" && pwd)/$(basename "$griddep")
for name in never some; do check "advice: $name" advice "$work/$name.ptx"; done
check "advice: old target" advice "$top/tests/cli/old_copy.ptx"
check "no advice" eval '! "$griddep" check "$work/good.ptx" | grep -q "hint: griddep rewrite"'

# ---- --fix ----

fixed() { cmp "$work/fixed.ptx" "$work/good.ptx"; }
for change in 's/ld.global/ld.globl/' 's/mov.u32/mvo.u32/' 's/%tid/%tdi/' 's/u32 %r1, %tid.x;/u32 %r1, %tid.x/' 's/\[from\]/[form]/' \
    's/griddepcontrol.wait/griddepcontrol.wiat/' 's/^    ret/    rett/; s/ld.global.u32/ld.globla.u32/; s/st.global/st.gobal/'; do
    sed "$change" "$work/good.ptx" >"$work/wrong.ptx"
    check "wrong: $change" says 1 'error' "$griddep" check "$work/wrong.ptx"
    check "fix: $change" says 0 'fixed:' "$griddep" check "$work/wrong.ptx" --fix -o "$work/fixed.ptx"
    check "fixed: $change" fixed
done
sed 's/^.version.*/.version 7.0/' "$work/good.ptx" >"$work/wrong.ptx"
check "in place" says 0 "fixed: '7.0' is '7.8' now" "$griddep" check "$work/wrong.ptx" --fix
check "in place: the file" grep -q '^.version 7.8' "$work/wrong.ptx"
sed 's/^.target.*/.target sm_86/' "$work/good.ptx" >"$work/wrong.ptx"
check "old target: rewrite" says 0 '[GD307]' "$griddep" rewrite "$work/wrong.ptx" -o "$work/fixed.ptx"
check "old target: rewritten" says 0 'waits on every path' "$griddep" check "$work/fixed.ptx"
check "old target: --json" says 0 '"changed": true' "$griddep" rewrite --json "$work/wrong.ptx"
check "old target: --fix" says 0 "fixed: 'sm_86' is 'sm_90' now [GD101]" "$griddep" check "$work/wrong.ptx" --fix
check "old target: the file" grep -q '^.target sm_90' "$work/wrong.ptx"
sed 's/%r2/%r9/' "$work/good.ptx" >"$work/wrong.ptx"
cp "$work/wrong.ptx" "$work/before.ptx"
check "a guess is no fix" says 1 'is not declared here' "$griddep" check "$work/wrong.ptx" --fix
check "a guess is no fix: the file" cmp "$work/wrong.ptx" "$work/before.ptx"
check "--fix of stdin" says 2 'needs --output' "$griddep" check --fix -
check "--output alone" says 2 'for the one file of --fix' "$griddep" check "$work/good.ptx" -o "$work/x.ptx"
check "--fix of a chain" says 2 'not chain files' "$griddep" check --fix "$top/examples/vector_add.yaml"

# ---- SARIF: what services read, held against the JSON document of the same run

sarif() { # sarif FINDINGS.json FILE.sarif: one result a finding, and the rules that they name.
    "${PYTHON3:-python3}" - "$@" <<'END'
import json, sys, urllib.parse
found, sarif = json.load(open(sys.argv[1]))["findings"], json.load(open(sys.argv[2]))
assert sarif["version"] == "2.1.0" and len(sarif["runs"]) == 1
run = sarif["runs"][0]
driver, results = run["tool"]["driver"], run["results"]
assert driver["name"] == "griddep" and found and len(found) == len(results)
assert [rule["id"] for rule in driver["rules"]] == sorted({each["code"] for each in found})
assert all(rule["shortDescription"]["text"] and rule["help"]["text"] for rule in driver["rules"])
for each, result in zip(found, results):
    place = result["locations"][0]["physicalLocation"]
    assert (result["ruleId"], result["level"]) == (each["code"], each["severity"]) and each["text"] in result["message"]["text"]
    assert urllib.parse.unquote(place["artifactLocation"]["uri"]).replace("file://", "") == each["file"], place
    assert urllib.parse.urlparse(place["artifactLocation"]["uri"]).scheme in ("", "file")
    assert place["region"] == {"startLine": each["line"], "startColumn": each["column"]}
    assert result["locations"][0]["logicalLocations"][0]["name"] == each["entry"]
END
}
check_sarif() {
    cp "$top/tests/golden/check/GD110_leaving_callee_fires.ptx" "$work/a b:%ü.ptx"
    "$griddep" check "$work/a b:%ü.ptx" --json --sarif "$work/both.sarif" >"$work/both.json"
    [ $? -eq 1 ] && sarif "$work/both.json" "$work/both.sarif" || return 1
    (cd "$work" && "$griddep" check "a b:%ü.ptx" --json --sarif relative.sarif >relative.json)
    sarif "$work/relative.json" "$work/relative.sarif" && grep -q '"uri": "a%20b%3A%25%C3%BC.ptx"' "$work/relative.sarif"
}
if command -v "${PYTHON3:-python3}" >/dev/null; then
    check "SARIF" check_sarif
fi
no_sarif() { ! "$griddep" check "$work/missing.ptx" --sarif "$work/none.sarif" 2>/dev/null && [ ! -e "$work/none.sarif" ]; }
check "no SARIF where nothing was checked" no_sarif

# Where ptxas is there, it takes what was fixed.
if (need_ptxas) >/dev/null 2>&1; then
    need_ptxas
    sed 's/mov.u32/mvo.u32/; s/ld.global/ld.globl/' "$work/good.ptx" >"$work/wrong.ptx"
    check "fix for ptxas" says 0 'fixed:' "$griddep" check "$work/wrong.ptx" --fix
    check "ptxas takes it" "$ptxas" -arch=sm_90 -o /dev/null "$work/wrong.ptx"
else
    skipped=$((skipped + 1))
    echo "skipped: no ptxas to judge what was fixed"
fi

finish

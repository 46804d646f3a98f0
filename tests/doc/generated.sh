#!/bin/sh
# Checks the man pages and completions that the build made: each subcommand and each noun of the header
# has its page in man/local.mk, and what reads pages and completions accepts them.
#
# GRIDDEP: the command (./griddep); srcdir: the top of the source tree (two folders above this file); builddir: that of the build.
set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "${srcdir:-$here/../..}" && pwd)
build=$(cd "${builddir:-.}" && pwd)
griddep=${GRIDDEP:-./griddep}
tools=$top/build-tools
passed=0 failed=0 skipped=0
LC_ALL=C
export LC_ALL

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT

pass() { passed=$((passed + 1)); }
fail() {
    failed=$((failed + 1))
    echo "failed: $1"
}
skip() {
    skipped=$((skipped + 1))
    echo "skipped: $1"
}
# accept NAME COMMAND...: one case.
accept() {
    name=$1
    shift
    if "$@" >"$work/said" 2>&1; then pass; else
        fail "$name"
        head -n 20 "$work/said"
    fi
}

if ! "$griddep" help --table >"$work/table"; then
    echo "failed: griddep help --table"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
commands=$(awk -F '\t' '$1 == "command" { print $2 }' "$work/table")
completions=$build/completions

# Each subcommand has its page, and nothing is left of one that is gone.
for command in $commands; do
    accept "man/local.mk installs no griddep-$command.1" test -f "$build/man/griddep-$command.1"
    accept "src/cli/commands.def has '$command', and so must the table" grep -q "^GD_COMMAND($command," "$top/src/cli/commands.def"
    accept "'$command' has no example" grep -q "^example	    griddep $command\b" "$work/table"
done
accept "man/local.mk has as many pages" test "$(grep -o '%D%/griddep-[a-z]*\.1' "$top/man/local.mk" | wc -l)" -eq "$(echo "$commands" | wc -l)"
accept "the table has each subcommand of src/cli/commands.def" test "$(grep -c '^GD_COMMAND(' "$top/src/cli/commands.def")" -eq "$(echo "$commands" | wc -l)"
for page in $(awk -f "$tools/roff.awk" -f "$tools/man-header.awk" -v list=1 "$top/include/griddep.h"); do
    accept "man/local.mk makes no $page.3" grep -q "/$page\.3" "$top/man/local.mk"
done
declared=$(grep -o -E '\bgriddep_[a-z0-9_]+\(' "$top/include/griddep.h" | grep -v -x 'griddep_\(wait\|launch_dependents\)(' | tr -d '(' | sort -u)
sed 's/\\://g' "$build"/man/*.3 >"$work/pages"
for function in $declared; do accept "no page tells of $function" grep -q "$function" "$work/pages"; done

# Each page names the functions that its section of the header declares, and no others.
awk '
    /^\/\* -----/ { getline; page = tolower($2); sub(/[^a-z].*/, "", page); next }
    / \*\/$/ && !/\/\*/ { inside = 0; next }
    /^ *\/\*/ { inside = !/\*\/ *$/; next }
    !inside && /^[a-z].*griddep_[a-z0-9_]+\(/ && page != "" {
        match($0, /griddep_[a-z0-9_]+\(/)
        print substr($0, RSTART, RLENGTH - 1)
    }' "$top/include/griddep.h" | sort -u >"$work/declared"
for page in "$build"/man/*.3; do
    sed -n '/^\.SH NAME/,/^\.SH SYNOPSIS/p' "$page" | sed 's/ \\- .*//; s/\\://g' | grep -o -E '\bgriddep_[a-z0-9_]+'
done | sort >"$work/named"
accept "the pages name other functions than the header" diff -u "$work/declared" "$work/named"
accept "few functions were found" test "$(wc -l <"$work/declared")" -gt 150

# The tables of chain files: each field has its row, in the same order, and a row says "required" where the field is.
awk -F '[(, )]+' '
    BEGIN { split("tensor Tensor_maps argument Arguments launch Launches buffer Buffers module Modules expectation Expectations chain The_top_level", pairs)
            for (i = 1; i in pairs; i += 2) section[pairs[i]] = pairs[i + 1] }
    /^(TEXT|TEXTS|INNER|INNERS)\(/ && $2 in section { print section[$2], $3, ($4 == "NEEDED" ? "required" : "optional") }' \
    "$top/src/cli/plan/chainfile.def" | sort -s -k 1,1 >"$work/fields"
awk -F '[|`]' '
    /^##/ { gsub(/^#+ /, ""); gsub(/ /, "_"); section = $0 }
    /^\| `/ && section ~ /^(The_top_level|Modules|Buffers|Launches|Arguments|Tensor_maps|Expectations)$/ {
        print section, $3, ($0 ~ /^[^:]*[ ,]required/ ? "required" : "optional") }' \
    "$top/doc/griddep-chain.md" | sort -s -k 1,1 >"$work/rows"
accept "doc/griddep-chain.md has other fields than src/cli/plan/chainfile.def" diff -u "$work/fields" "$work/rows"
accept "no fields were found" test "$(wc -l <"$work/fields")" -gt 40
for field in $(sed -n 's/^TEXT(\(random\|sequence\), \([a-z]*\),.*/\2/p' "$top/src/cli/plan/chainfile.def"); do
    accept "doc/griddep-chain.md says nothing of a fill's $field" grep -q "^| .*map: .*\`$field\`" "$top/doc/griddep-chain.md"
done

accept "a synopsis goes on in a line of its own" test "$(grep -c "^synopsis	 " "$work/table")" -eq 0 -a "$(grep -c "^synopsis	" "$work/table")" -gt 20
if command -v groff >/dev/null; then
    groff -man -Tutf8 -rLL=80n -P-cbou "$build/man/libgriddep.3" | grep "^ *WAL  runtime_" >"$work/row"
    accept "libgriddep(3) runs the rows of a table together" test -s "$work/row"
fi

for page in "$build"/man/*.[0-9]; do
    if command -v mandoc >/dev/null; then
        mandoc -T lint -W warning "$page" | grep -v 'missing date' >"$work/lint"
        accept "mandoc: $(head -n 1 "$work/lint")" test ! -s "$work/lint"
    elif command -v groff >/dev/null; then
        groff -man -ww -z -Tutf8 -K utf8 "$page" 2>"$work/lint"
        accept "groff: $(head -n 1 "$work/lint")" test ! -s "$work/lint"
    else
        skip "man page $page: neither mandoc nor groff is here"
    fi
    command -v groff >/dev/null || continue
    for width in 60 80; do
        # In the C locale awk counts bytes: those that continue a character do not count.
        groff -man -Tutf8 -K utf8 -rLL=${width}n -P-cbou "$page" 2>&1 | awk -v width=$width '
            { text = $0; gsub(/[\200-\277]/, "", text) }
            length(text) > width { print; wide = 1 }
            END { exit wide || NR < 20 }' >"$work/wide"
        accept "$(basename "$page") is wider than $width columns" test $? -eq 0 -a ! -s "$work/wide"
    done
done

# completes SHELL-WORDS... : what bash offers for the last of the words, one a line.
completes() {
    bash -c '
        . "$0"
        griddep() { "$GRIDDEP_COMMAND" "$@"; }
        COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
        _griddep "$GRIDDEP_COMMAND" && printf "%s\n" "${COMPREPLY[@]}"' "$completions/griddep" "$@"
}
# offers EXPECTED WORDS...: one case; EXPECTED is the list of what is offered, blanks between.
offers() {
    expected=$1
    shift
    got=$(completes "$@" 2>&1 | sort | tr '\n' ' ')
    if [ "$got" = "$expected " ]; then pass; else fail "completion of '$*': '$got', expected '$expected'"; fi
}
GRIDDEP_COMMAND=$griddep
export GRIDDEP_COMMAND
if command -v bash >/dev/null; then
    accept "bash -n" bash -n "$completions/griddep"
    offers "rewrite run" griddep r
    offers "sanitize" griddep sa
    offers "all graph graph-pdl pdl serial" griddep run --mode ""
    offers "graph graph-pdl" griddep run x.yaml --mode g
    offers "force" griddep run --pdl f
    offers "auto emulated nvidia" griddep info --driver ""
    offers "eager lazy random:" griddep sanitize --schedule ""
    offers "error note warning" griddep check --severity ""
    offers "after-loads after-wait" griddep rewrite --trigger a
    offers "--repeat" griddep run --rep
    offers "--in-place" griddep rewrite --in
    offers "list show" griddep kernels ""
    offers "vector_add" griddep kernels show vec
    offers "GD110 GD111 GD112" griddep explain GD11
    offers "matvec_bf16" griddep kernels show m
    cd "$work" && : >"a chain.yaml" && mkdir inner
    offers "a chain.yaml" griddep run a
    offers "inner" griddep check in
    cd - >/dev/null || exit 99
else
    skip "completion in bash: no bash"
fi
# zsh completes on a terminal alone: a shell on a pseudo-terminal is sent a line and two tabs, and what it lists is read.
cat >"$work/complete.zsh" <<'TEXT'
zmodload zsh/zpty || exit 77
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D; print REA''DY"
zpty -r shell out '*READY*' || exit 1
zpty -w -n shell "$2"$'\t\t'
for ((i = 0; i < $3; i++)) {
    while zpty -r -t shell more; do all+=$more; done
    [[ $all == *graph-pdl* ]] && break
    sleep 0.1
}
zpty -d shell
[[ $all == *"graph "*graph-pdl* ]] || { print -r -- "$all"; exit 1 }
TEXT
if command -v zsh >/dev/null; then
    accept "zsh -n" zsh -n "$completions/_griddep"
    accept "zsh completes the modes" env HOME="$work" zsh -f "$work/complete.zsh" "$completions" "griddep run --mode gr" 6000
    if env HOME="$work" zsh -f "$work/complete.zsh" "$completions" "griddep run --mode se" 20 >/dev/null 2>&1; then fail "zsh: the test sees nothing"; else pass; fi
else
    skip "completion in zsh: no zsh"
fi
if command -v fish >/dev/null; then
    accept "fish -n" fish -n "$completions/griddep.fish"
    HOME=$work XDG_CONFIG_HOME=$work fish -c "source '$completions/griddep.fish'; complete -C 'griddep run --mode gr'" >"$work/fish" 2>&1
    accept "fish completes the modes: $(cat "$work/fish")" test "$(cut -f 1 "$work/fish" | sort | tr '\n' ' ')" = "graph graph-pdl "
else
    skip "completion in fish: no fish"
fi

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]

#!/bin/sh
# Assembles every kernel of the shelf with ptxas, for the target that its text names and for newer chips; a target such
# as sm_90a takes no other, and then another text of the same kernel must serve these chips. Prints one line a file and
# target. Exits 77 where there is no ptxas, unless GRIDDEP_REQUIRE_PTXAS=1.
set -u

srcdir=${srcdir:-.}
. "$srcdir/tests/cases.sh"
targets="sm_80 sm_90 sm_100 sm_103 sm_120"

# most_stack TARGET: bytes of stack that a kernel may have there. ptxas keeps more values at once for sm_120 than for
# others; a few words of kernels of many threads lie in L1 then.
most_stack() { [ "$1" = sm_120 ] && echo 64 || echo 0; }

# assemble FILE TARGET: prints the line, false when ptxas refuses the file or spills registers.
assemble() {
    if ! log=$("$ptxas" -arch="$2" -v "$1" -o /dev/null 2>&1); then
        echo "FAIL $1 for $2"
        echo "$log"
        return 1
    fi
    registers=$(echo "$log" | sed -n 's/.*Used \([0-9]*\) registers.*/\1/p')
    stack=$(echo "$log" | sed -n 's/^ *\([0-9]*\) bytes stack frame.*/\1/p')
    if [ "${stack:-1}" -gt "$(most_stack "$2")" ]; then
        echo "FAIL $1 for $2: $registers registers, and a stack of $stack bytes"
        return 1
    fi
    echo "ok   $1 for $2: $registers registers"
}

need_ptxas

count=0
failures=0
for file in "$srcdir"/ptx/*/*.ptx "${builddir:-.}"/ptx/*/*.ptx; do
    [ -e "$file" ] || continue
    own=$(sed -n 's/^[[:space:]]*\.target[[:space:]]*\(sm_[0-9]*a*\).*/\1/p' "$file" | head -n 1)
    if [ -z "$own" ]; then
        echo "FAIL $file names no target"
        failures=$((failures + 1))
        continue
    fi
    case $own in
    *a)
        takers=$own
        [ -e "${file%.ptx}.${own%a}.ptx" ] || {
            echo "FAIL $file is for $own alone, and newer chips have no ${file%.ptx}.${own%a}.ptx"
            failures=$((failures + 1))
        } ;;
    *) takers=$targets ;;
    esac
    all_rounds || takers=$own
    for target in $takers; do
        [ "${target#sm_}" = "${own#sm_}" ] || [ "${target#sm_}" -ge "${own#sm_}" ] || continue
        count=$((count + 1))
        assemble "$file" "$target" || failures=$((failures + 1))
    done
done

if [ "$count" -eq 0 ]; then
    echo "assemble: no kernel below $srcdir/ptx"
    exit 1
fi
echo "$count assembled, $failures failed"
[ "$failures" -eq 0 ]

# What test scripts share: counting cases, and finding ptxas. To be read with `. "$srcdir/tests/cases.sh"` from a shell script that has `work`, a folder
# of its own.

passed=0 failed=0 skipped=0

# check NAME COMMAND...: one case; what the command printed is shown when it fails.
check() {
    name=$1
    shift
    if "$@" >"$work/said" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "failed: $name"
        tail -n 50 "$work/said"
    fi
}

# The last line, and the exit status.
finish() {
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

# make_value NAME: a variable of the build's makefile.
make_value() { sed -n "s/^$1 = *//p" "$builddir/Makefile" | head -n 1; }

# need_ptxas: sets ptxas; ends the test where there is none, with 77 unless GRIDDEP_REQUIRE_PTXAS=1.
need_ptxas() {
    ptxas=$(command -v ptxas)
    for directory in "${CUDA_HOME:-/usr/local/cuda}/bin" /usr/local/cuda/bin; do
        [ -n "$ptxas" ] || [ ! -x "$directory/ptxas" ] || ptxas=$directory/ptxas
    done
    [ -z "$ptxas" ] || return 0
    echo "skipped: no ptxas in PATH, \$CUDA_HOME/bin or /usr/local/cuda/bin"
    [ "${GRIDDEP_REQUIRE_PTXAS:-0}" = 1 ] && exit 1
    exit 77
}

# all_rounds: whether no round is to be left out (./bootstrap check --all); with sanitizers some always are.
all_rounds() { [ "${GRIDDEP_SLOW_TESTS-}" = 1 ] && [ "${SANITIZED-}" != 1 ]; }

# golden_texts FOLDER: puts the texts of tests/golden/check there; test_check.c tells what the changes mean.
golden_texts() {
    golden=${srcdir:-.}/tests/golden/check
    cp "$golden"/*.ptx "$1"
    for changes in "$golden"/*_fires.changes "$golden"/*_quiet.changes; do
        name=$(basename "$changes" .changes)
        case $name in
        *_quiet) base=${name%_quiet}_fires ;;
        *) base=${name%%_*}_fires ;;
        esac
        awk 'NR == FNR { at = $0 + 0; text = substr($0, length(at) + 3) }
NR == FNR && substr($0, length(at) + 1, 1) == "-" { gone[at]; next }
NR == FNR { added[at] = added[at] text "\n"; next }
{ printf "%s", added[FNR] }
!(FNR in gone)
END { printf "%s", added[FNR + 1] }' "$changes" "$1/$base.ptx" >"$1/$name.ptx"
    done
}

# own_build WHAT: ends a test that builds everything anew, but for ./bootstrap check --all.
# Sets cache to what stands before the name of its compiler: ccache, where the build has it.
cache=''
own_build() {
    case ${CC-} in
    ccache\ *) cache='ccache ' ;;
    esac
    [ "${GRIDDEP_SLOW_TESTS-}" = 1 ] && return 0
    echo "skipped: $1; ./bootstrap check --all runs it"
    exit 77
}
